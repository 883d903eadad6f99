"""What papers ask for that no clock hangs on: the water's name, amounts recovered, who was hurt. Amended as facts are, never overwritten.

The facts of the contract decide which clocks run; these fill call sheets, reports and exports. Nothing is guessed: what nobody has told
is unknown, and unknown is neither no nor zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from deadlines import as_z, read_moment
from service.errors import BadInput
from service.events import ParticularsRecorded, SpillEvent
from service.fact_sources import SOURCES, STAFF
from service.speech import marked
from service.spills import FUTURE_SLACK, clean, stated
from service.tables import EventRow, Spill
from service.transaction import Transaction

LONGEST = {"line": 200, "text": 4000}
MOST_POINTS = 40
_MOST = 10**12
_A_POINT = re.compile(r"\s*(-?\d{1,3}(?:\.\d+)?)\s*[,; ]\s*(-?\d{1,3}(?:\.\d+)?)\s*(?:[,;:]\s*(.*))?")
History = Sequence[tuple[EventRow, SpillEvent]]
Form = Literal["line", "text", "amount", "count", "truth", "moment", "choice", "points"]

STRUCTURES: Mapping[str, str] = {
    "manhole": marked("Manhole"), "main": marked("Gravity main"), "force_main": marked("Force main"),
    "pump_station": marked("Pump station"), "lateral_public": marked("Lateral (public)"), "lateral_private": marked("Lateral (private)"),
    "cleanout": marked("Lateral cleanout"), "building": marked("Inside a building or structure"),
    "treatment_plant": marked("Treatment plant"), "other": marked("Other sewer system structure"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Particular:
    """One thing that papers ask for. `form`: how it is told; `unit`: of a number; `hint`: what to write, where that is not plain."""

    label: str
    form: Form
    group: str
    choices: Mapping[str, str] | None = None
    unit: str = ""
    hint: str = ""


_HAPPENED, _WATER, _AMOUNTS, _PEOPLE, _PLACE, _SEWER, _AFTER = (
    marked("What happened"), marked("Water"), marked("Amounts"), marked("People and roads"), marked("Place"), marked("The sewer"),
    marked("Afterwards"),
)  # fmt: skip
_GALLONS = marked("gallons")

# fmt: off
PARTICULARS: Mapping[str, Particular] = {
    "containment": Particular(marked("What stops or holds it"), "text", _HAPPENED),
    "rate": Particular(marked("How fast it runs or ran"), "amount", _HAPPENED, unit=marked("gallons a minute")),
    "wet_weather": Particular(marked("A storm had to do with it"), "truth", _HAPPENED),
    "weather": Particular(marked("Weather at the place"), "line", _HAPPENED),
    "impact": Particular(marked("Harm seen, to people, animals or plants"), "text", _HAPPENED),
    "water_name": Particular(marked("Name of the water it reached or may reach"), "line", _WATER),
    "water_description": Particular(marked("The water: its kind, what was seen in it, closures"), "text", _WATER),
    "drinking_water": Particular(marked("Drinking water is affected or at risk"), "truth", _WATER),
    "intake_near": Particular(marked("Within 1,000 feet of a city's drinking water intake"), "truth", _WATER),
    "water_gallons": Particular(marked("Amount that reached surface water"), "amount", _AMOUNTS, unit=_GALLONS),
    "recovered_gallons": Particular(marked("Amount recovered in all"), "amount", _AMOUNTS, unit=_GALLONS),
    "drain_recovered_gallons": Particular(marked("Amount recovered inside the drainage system"), "amount", _AMOUNTS, unit=_GALLONS),
    "drain_left_gallons": Particular(marked("Amount left inside the drainage system"), "amount", _AMOUNTS, unit=_GALLONS),
    "basin_gallons": Particular(marked("Amount that went to a groundwater basin"), "amount", _AMOUNTS, unit=_GALLONS),
    "volume_method": Particular(marked("How the amounts were estimated"), "text", _AMOUNTS),
    "injured": Particular(marked("People hurt or sick"), "count", _PEOPLE),
    "dead": Particular(marked("People killed"), "count", _PEOPLE),
    "evacuation": Particular(marked("People had to leave"), "truth", _PEOPLE),
    "fire": Particular(marked("There is or was fire"), "truth", _PEOPLE),
    "road_closed": Particular(marked("A road is or was closed"), "truth", _PEOPLE),
    "on_scene": Particular(marked("Who is there, with a telephone"), "line", _PEOPLE),
    "cleanup_by": Particular(marked("Who cleans up"), "line", _PEOPLE),
    "responsible_address": Particular(marked("Postal address of whoever is responsible"), "text", _PEOPLE),
    "location_name": Particular(
        marked("Short name of the place"), "line", _PLACE, hint=marked("As the crew calls it: Central Ave at D Street.")),
    "cross_streets": Particular(marked("Nearest cross streets or landmark"), "line", _PLACE),
    "county": Particular(marked("County"), "line", _PLACE),
    "zip": Particular(marked("ZIP code"), "line", _PLACE),
    "extent": Particular(marked("How far it spread, and where it ended up"), "text", _PLACE),
    "points": Particular(marked("Where it came out of the sewer"), "points", _PLACE, hint=marked(
        "One place a line, the one nearest to the failure first: latitude, longitude, and what it is. 34.0123, -117.6889, manhole 12.")),
    "drain_description": Particular(marked("The drainage system it ran into, and where"), "text", _PLACE),
    "contact_name": Particular(marked("Contact of the sewer's owner for questions"), "line", _SEWER),
    "contact_phone": Particular(marked("Telephone of that contact"), "line", _SEWER),
    "system_name": Particular(marked("Name of the sewer system"), "line", _SEWER),
    "system_id": Particular(marked("WDID of the sewer system"), "line", _SEWER),
    "permit_id": Particular(marked("NPDES permit number"), "line", _SEWER),
    "structure": Particular(marked("Part of the sewer it came out of"), "choice", _SEWER, STRUCTURES),
    "failure_location": Particular(marked("Part of the sewer that failed"), "choice", _SEWER, STRUCTURES),
    "pipe_material": Particular(marked("Material of the pipe that failed"), "line", _SEWER),
    "pipe_width": Particular(marked("Width of the pipe that failed"), "amount", _SEWER, unit=marked("inches")),
    "pipe_age": Particular(marked("Age of the pipe that failed"), "amount", _SEWER, unit=marked("years")),
    "arrived": Particular(marked("The crew arrived"), "moment", _SEWER),
    "response": Particular(marked("What was done at once to hold it and clean up"), "text", _AFTER),
    "response_ended": Particular(marked("The response ended"), "moment", _AFTER),
    "prevention": Particular(marked("Steps so that it does not happen again, with dates"), "text", _AFTER),
    "investigation": Particular(marked("What the investigation found, or when it will be done"), "text", _AFTER),
    "samples": Particular(marked("Samples: where and for what"), "text", _AFTER),
}
# fmt: on


@dataclass(frozen=True, slots=True)
class Told:
    """A particular as it stands: its value, by whom it is known (a key of fact_sources.SOURCES), who recorded it and when."""

    value: Any
    source: str
    actor: str
    at: datetime


def particulars_of(history: History) -> dict[str, Told]:
    """What is known, by key; what is unknown, or became so again, is not there."""
    found: dict[str, Told] = {}
    for row, event in history:
        if isinstance(event, ParticularsRecorded):
            for key, (_, after) in event.changes.items():
                found.pop(key, None)
                if after is not None:
                    found[key] = Told(after, event.source, row.actor, row.recorded_at)
    return found


async def amend_particulars(tx: Transaction, spill: Spill, changes: Mapping[str, Any], reason: str = "", source: str = STAFF) -> list[str]:
    """Record particulars, null for unknown, and return the keys of those that changed. A reason is needed only to change what was known.

    Raises BadInput with one line a fault; nothing is then recorded.
    """
    known = particulars_of(await tx.history(spill))
    faults = [f"{key}: unknown key; right would be: one of {', '.join(PARTICULARS)}" for key in changes if key not in PARTICULARS]
    if source not in SOURCES:
        faults.append(f"source: {clean(source)[:40]!r} is not a source; right would be: one of {', '.join(SOURCES)}")
    zone = tx.house.rulebook.zones[spill.city or tx.house.first_city]
    read: dict[str, Any] = {}
    for key, value in changes.items():
        if key in PARTICULARS:
            try:
                read[key] = _read(PARTICULARS[key], value, zone, tx.now)
            except ValueError as error:
                faults.append(f"{key}: {error}")
    before = {key: known[key].value if key in known else None for key in read}
    changed = {key: (before[key], value) for key, value in read.items() if value != before[key]}
    if any(was is not None for was, _ in changed.values()) and not stated(reason):
        faults.append("reason: missing; right would be: why what was known is changed, in a few words")
    if faults:
        raise BadInput("the particulars cannot be recorded so", faults)
    if changed:
        await tx.record(spill, ParticularsRecorded(changes=changed, source=source, reason=stated(reason)[:2000]))
    return list(changed)


def _read(one: Particular, value: Any, zone: ZoneInfo, now: datetime) -> Any:
    """A value as it is kept; None for unknown. Raises ValueError saying what is wrong and what would be right."""
    if value is None or (isinstance(value, str) and not stated(value)):
        return None
    match one.form:
        case "line" | "text":
            return _text(value, LONGEST[one.form])
        case "amount" | "count":
            return _number(value, whole=one.form == "count")
        case "truth":
            if isinstance(value, bool):
                return value
            raise ValueError(f"{value!r:.40} is neither yes nor no; right would be: true, false or null")
        case "choice":
            if isinstance(value, str) and value in (one.choices or {}):
                return value
            raise ValueError(f"{value!r:.40} is no choice; right would be: one of {', '.join(one.choices or {})}")
        case "moment":
            return _moment(value, zone, now)
        case "points":
            return _points(value)


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise ValueError("it is no text; right would be: words")
    text = clean(value).replace("\r\n", "\n")
    if len(text) > most:
        raise ValueError(f"it has {len(text):,} characters; right would be: at most {most:,}")
    return text


def _number(value: Any, *, whole: bool) -> float | int:
    right = "a whole number, 0 or more" if whole else "a number, 0 or more"
    typed = value.replace(",", "").strip() if isinstance(value, str) else value
    try:
        number = float(typed) if not isinstance(typed, bool) and isinstance(typed, str | int | float) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not 0 <= number <= _MOST or (whole and not number.is_integer()):
        raise ValueError(f"{str(value)[:40]!r} does not do; right would be: {right}")
    return int(number) if number.is_integer() else number


def _moment(value: Any, zone: ZoneInfo, now: datetime) -> str:
    try:
        moment = read_moment(value, zone)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{str(error)[:120]}; right would be: a time, 2026-12-01T14:05") from None
    if moment > now + FUTURE_SLACK:
        raise ValueError("it lies in the future; right would be: a time that has passed")
    return as_z(moment) or ""


def _points(value: Any) -> list[dict[str, Any]]:
    """Places: as typed, one a line, or as a list of {lat, lon, says}."""
    found = [_typed_point(line) for line in value.splitlines() if line.strip()] if isinstance(value, str) else value
    if not isinstance(found, list) or len(found) > MOST_POINTS:
        raise ValueError(f"right would be: at most {MOST_POINTS} places, each a latitude, a longitude and what it is")
    return [_point(one) for one in found]


def _typed_point(line: str) -> dict[str, Any]:
    read = _A_POINT.fullmatch(line)
    if read is None:
        raise ValueError(f"{line.strip()[:60]!r} is no place; right would be: 34.0123, -117.6889, manhole 12")
    return {"lat": float(read[1]), "lon": float(read[2]), "says": read[3] or ""}


def _point(one: Any) -> dict[str, Any]:
    lat, lon = (one.get("lat"), one.get("lon")) if isinstance(one, Mapping) else (None, None)
    good = all(isinstance(part, int | float) and not isinstance(part, bool) for part in (lat, lon))
    if not good or not (-90 <= float(lat or 0) <= 90 and -180 <= float(lon or 0) <= 180):
        raise ValueError("a place lies nowhere; right would be: a latitude of -90 to 90 and a longitude of -180 to 180, in degrees")
    return {"lat": float(lat or 0), "lon": float(lon or 0), "says": _text(one.get("says") or "", LONGEST["line"])}
