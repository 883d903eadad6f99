"""What somebody asks the public record for, as its page and its API read it from an address."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from deadlines import read_moment
from service.errors import BadInput
from service.public_words import MATERIALS, STATES
from service.transaction import House

Box = tuple[float, float, float, float]  # west, south, east, north
KEYS = ("city", "since", "material", "state", "advisory", "bbox")
IN_FORCE = "in_force"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for; what is left out is not. `box`: west, south, east, north in degrees; west above east spans the date line."""

    city: str | None = None
    since: datetime | None = None
    material: str | None = None
    state: str | None = None
    advisory_only: bool = False
    box: Box | None = None


def read_wanted(house: House, given: Mapping[str, str]) -> Wanted:
    """Read filters as they stand in an address; an empty one is left out. Raises BadInput with one line a fault, its key first."""
    asked = {key: text.strip() for key in KEYS if (text := given.get(key, "")).strip()}
    faults: list[str] = []
    city = _choice(asked, "city", house.cities, faults)
    zones = [house.rulebook.zones[one] for one in ([city] if city in house.cities else house.cities)]
    wanted = Wanted(
        city, _since(asked, zones, faults), _choice(asked, "material", MATERIALS, faults), _choice(asked, "state", STATES, faults),
        _choice(asked, "advisory", (IN_FORCE,), faults) is not None, _box(asked, faults),
    )  # fmt: skip
    if faults:
        raise BadInput("the list cannot be filtered so", faults)
    return wanted


def _choice(asked: Mapping[str, str], key: str, choices: Collection[str], faults: list[str]) -> str | None:
    given = asked.get(key)
    if given is not None and given not in choices:
        faults.append(f"{key}: {given[:60]!r} is none of the choices; right would be: {', '.join(choices)}")
    return given


def _since(asked: Mapping[str, str], zones: Sequence[ZoneInfo], faults: list[str]) -> datetime | None:
    """A moment, or the beginning of a day in the city's zone; of several cities, where the day begins first."""
    given = asked.get("since")
    if given is None:
        return None
    try:
        if _DAY.fullmatch(given):
            return min(datetime.combine(date.fromisoformat(given), time(), zone) for zone in zones)
        return min(read_moment(given, zone) for zone in zones)
    except (ValueError, OverflowError):
        faults.append(f"since: {given[:60]!r} is no time; right would be: 2026-12-01, or 2026-12-01T08:00:00-08:00")
        return None


def _box(asked: Mapping[str, str], faults: list[str]) -> Box | None:
    given = asked.get("bbox")
    if given is None:
        return None
    try:
        west, south, east, north = (float(part) for part in given.split(","))
    except ValueError:
        west = south = east = north = math.nan
    if not (abs(west) <= 180 and abs(east) <= 180 and -90 <= south <= north <= 90):
        right = "west,south,east,north in degrees, as in -117.75,33.95,-117.60,34.05"
        faults.append(f"bbox: {given[:60]!r} is no box; right would be: {right}")
        return None
    return west, south, east, north
