"""What commands read from files and options, with clear errors."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import read_moment
from service.errors import BadInput


def read_json(path: str) -> Any:
    """The JSON of a file, or of standard input for `-`; numbers with a point are Decimal. Raises BadInput."""
    try:
        text = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise BadInput("no fact file", [f"{path}: {error.strerror}; right would be: a JSON file, or - for standard input"]) from None
    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=_no_key_twice)
    except (ValueError, RecursionError) as error:
        raise BadInput("not JSON", [f"{path}: not JSON ({error}); right would be: a fact object, or an array of them"]) from None


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is given twice")
        found[key] = value
    return found


def moment(option: str, text: str | None) -> datetime | None:
    """The instant an option names, in UTC. Raises BadInput where it is no time with an offset."""
    if text is None:
        return None
    try:
        if datetime.fromisoformat(text).tzinfo is None:
            raise ValueError(f"{text!r} has no offset")
        return read_moment(text, ZoneInfo("UTC"))
    except ValueError as error:
        raise BadInput("not a time", [f"{option}: {error}; right would be: 2026-12-01T15:00:00-08:00"]) from None
