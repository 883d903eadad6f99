"""How a page speaks: in the language that its reader asked for. The languages themselves are in service/speech.py."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from fastapi import Request

from service.speech import ENGLISH, LANGUAGES, Speech, catalogue, is_immediate, marked, moment_of, speech

__all__ = [
    "COOKIE", "ENGLISH", "LANGUAGES", "Speech", "catalogue", "chosen_language", "is_immediate", "local_input", "marked", "moment_of",
    "speech", "utc_mark",
]  # fmt: skip
COOKIE = "spillclock_lang"


def chosen_language(request: Request) -> str:
    """The language of a request: asked for in the address, else chosen before, else what the browser prefers."""
    for choice in (request.query_params.get("lang", ""), request.cookies.get(COOKIE, "")):
        if choice in LANGUAGES:
            return choice
    return _preferred(request.headers.get("accept-language", ""))


def _preferred(header: str) -> str:
    best, weight = "en", 0.0
    for part in header.split(",")[:20]:
        tag, _, quality = part.strip().partition(";q=")
        language = tag.split("-")[0].lower()
        try:
            wanted = float(quality) if quality else 1.0
        except ValueError:
            continue
        if language in LANGUAGES and wanted > weight:
            best, weight = language, wanted
    return best


def local_input(moment: datetime, zone: ZoneInfo) -> str:
    """A moment as a date-and-time field of a form holds it: local, to the minute, without offset."""
    return moment.astimezone(zone).strftime("%Y-%m-%dT%H:%M")


def utc_mark(moment: datetime) -> str:
    """An instant for machines, as the datetime attribute of a time element."""
    return moment.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
