"""The amount and the time of a report, as facts where people's words can be read, and as flags that say how they were read.

Whatever was typed stays in the raw record. A flag that begins with one of `IN_WORDS` tells of words and nothing odd: no alarm goes out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import read_moment
from deadlines.quantities import GALLONS
from service.said_amounts import read_amount
from service.said_numbers import plain_number
from service.said_times import falls_on_clock_change, read_said_time
from service.speech import local
from service.spills import clean

IN_WORDS = ("volume: in words, ", "seen_at: in words, ")
_LARGEST_COUNT = 10**12
_FUTURE_SLACK = timedelta(minutes=5)
_LONG_AGO = timedelta(days=30)
_SHOWN = 60
_UNIT_WORDS = {
    **{unit.lower(): unit for unit in GALLONS}, "gallon": "gal", "gallons": "gal", "gals": "gal", "liter": "L", "liters": "L", "litre": "L",
    "litres": "L", "barrel": "bbl", "barrels": "bbl", "cubic feet": "ft3", "cf": "ft3", "cubic meters": "m3",
}  # fmt: skip


def volume_of(value: Any, flags: list[str]) -> Any:
    """A volume as facts hold it, or as near to it as it came: what is still no volume is for the engine to name. None where it is left out.

    Numbers that came as texts are read, and so are words ("two buckets"). `flags` gets a line for whatever was assumed or left out.
    """
    if isinstance(value, str):
        value = {"quantity": value, "unit": ""}
    if not isinstance(value, Mapping):
        flags.append(f"volume: {clean(str(value))[:_SHOWN]!r} is not an amount with a unit (left out)")
        return None
    unit = value.get("unit")
    unit = _UNIT_WORDS.get(unit.strip().lower(), unit) if isinstance(unit, str) else unit
    if isinstance(unit, str) and (words := _words_of(value, unit)) is not None:
        return _volume_in_words(words, unit if unit in GALLONS else "", flags)
    return {key: unit if key == "unit" else _number(part) for key, part in value.items()}


def _words_of(value: Mapping[str, Any], unit: str) -> str | None:
    """What was said, where it takes reading: a text that is no plain number, or a unit that is a thing of everyday life."""
    quantity = value.get("quantity")
    if set(value) != {"quantity", "unit"} or isinstance(quantity, bool) or not isinstance(quantity, (int, float, str)):
        return None
    if unit in GALLONS:
        return quantity if isinstance(quantity, str) and _number(quantity) is quantity else None
    return f"{quantity} {unit}".strip() if isinstance(quantity, str) or read_amount(f"{quantity} {unit}") is not None else None


def _volume_in_words(words: str, unit: str, flags: list[str]) -> dict[str, Any] | None:
    shown = f"{clean(words)[:_SHOWN]!r}"
    found = read_amount(words, unit)
    if found is None:
        is_words = re.search(r"[^\W\d_]{3}", words) is not None
        flags.append(
            f"{IN_WORDS[0]}{shown} says no amount that can be read (left out)" if is_words else f"volume: {shown} is no amount (left out)"
        )
        return None
    if found.volume is None:
        flags.append(f"{IN_WORDS[0]}{shown} says {found.told}, and not how much at most (left out)")
    elif found.rests_on:
        flags.append(f"{IN_WORDS[0]}{shown} was read as {found.told} ({found.rests_on})")
    elif unit not in ("", "gal", found.unit):
        flags.append(f"{IN_WORDS[0]}{shown} was read as {found.told}, though the unit beside it is {unit}")
    return found.volume


def _number(part: Any) -> Any:
    """A text such as "1,500" as a number; anything else as it is."""
    if not isinstance(part, str):
        return part
    number = plain_number(part.strip())
    if number is None or number >= _LARGEST_COUNT:
        return part
    return int(number) if number.denominator == 1 else float(number)


def seen_at_of(
    raw: Mapping[str, Any], received_at: datetime, zone: ZoneInfo, flags: list[str], *, is_staff: bool = False
) -> datetime | None:
    """When it was seen, in UTC and not after the report came; the earliest where words say a span of time. None where it is not known.

    A day long ago is a slip of the pen more often than it is one: what the public says of it waits until a person confirms it, or one
    mistyped year tells the whole ladder of duties overdue for years.
    """
    value = raw.get("seen_at")
    if value is None:
        return None
    try:
        seen_at = read_moment(value, zone)
    except ValueError as error:
        said = read_said_time(value, received_at, zone, "es" if raw.get("language") == "es" else "en") if isinstance(value, str) else None
        if said is None:
            letters = [letter for letter in str(value) if letter.isalnum()]  # a date of another program is mostly figures
            is_words = isinstance(value, str) and 2 * sum(letter.isalpha() for letter in letters) > len(letters)
            shown = f"the words {clean(str(value))[:_SHOWN]!r} tell no time that can be read; they are kept, and a person should ask"
            flags.append(f"seen_at: {shown}" if is_words else f"seen_at: {clean(str(error))[:200]} (left out)")
            return None
        seen_at, twice = said.earliest, said.on_clock_change
        until = f" to {local(said.latest.replace(microsecond=0), zone)}; the earlier counts" if said.is_span else ""
        flags.append(f"{IN_WORDS[1]}{clean(str(value))[:_SHOWN]!r} was read as {local(seen_at.replace(microsecond=0), zone)}{until}")
    else:
        twice = _is_on_clock_change(str(value), zone)
    if twice:
        flags.append("seen_at: the clocks are changed in that hour; the earlier reading counts")
    if seen_at > received_at + _FUTURE_SLACK:
        flags.append("seen_at: lies in the future (left out)")
        return None
    if received_at - seen_at > _LONG_AGO:
        flags.append(f"seen_at: over 30 days ago; a person should confirm it{'' if is_staff else ' (left out until then)'}")
        if not is_staff:
            return None
    return min(seen_at, received_at)


def is_local(value: Any) -> bool:
    """Whether a time is told by a clock and a calendar of some place, without its zone."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value.strip()).tzinfo is None
    except ValueError:
        return False


def _is_on_clock_change(value: str, zone: ZoneInfo) -> bool:
    moment = datetime.fromisoformat(value.strip())
    return moment.tzinfo is None and falls_on_clock_change(moment, zone)
