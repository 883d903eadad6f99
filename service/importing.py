"""The city's spills of before, from its own sheet: each row becomes a spill, dirty ones too, none twice, and nobody is alerted by the past.

What a row says is stored as staff stated it. A clock that was due long ago, or of a row that tells no day, is waived with that reason: it
stands on record and wakes nobody. A dry run does all of it, and undoes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import read_moment
from deadlines.facts import CHOICES
from service import staff_log
from service.errors import BadInput
from service.intake import IMPORTED, Arrival, take_in_past
from service.obligations import of_spill, waive
from service.outbox import OPEN_STATES
from service.quiet_hours import instant
from service.sheets import Sheet
from service.spills import name_discharger
from service.tables import Spill
from service.transaction import House, Transaction, transaction

# A clock that was due before that is the past: nobody can still do anything about it in time.
LONG_PAST = timedelta(days=1)
_ALL_OF_THEM = datetime.max.replace(tzinfo=UTC)
_PAST = "from the city's earlier records: it was due before they came into Spillclock, and is not followed up here"
_DAY_FORMS = ("%m/%d/%Y", "%m/%d/%y", "%m-%d-%Y", "%Y/%m/%d", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%B %d, %Y")
_CLOCK_FORMS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I %p", "%H%M")
# Words of sheets for what the law calls a material, looked for in this order.
_MATERIALS = {
    "sewage": "sewage", "sewer": "sewage", "sso": "sewage", "wastewater": "sewage", "petroleum": "petroleum", "diesel": "petroleum",
    "gasoline": "petroleum", "motor oil": "petroleum", "hydraulic": "petroleum", "fuel": "petroleum", "cooking": "food_waste",
    "grease": "food_waste", "paint": "paint", "concrete": "concrete", "cement": "concrete", "mortar": "concrete", "sediment": "sediment",
    "mud": "sediment", "wash": "wash_water", "pool": "pool_water", "potable": "potable_water", "recycled": "recycled_water",
    "oil": "petroleum",
}  # fmt: skip
_REACHED = {
    "storm": "storm_drain", "catch basin": "storm_drain", "gutter": "gutter", "street": "street", "channel": "channel",
    "creek": "surface_water", "river": "surface_water", "lake": "surface_water", "ocean": "surface_water", "groundwater": "groundwater",
    "soil": "land", "land": "land", "contained": "contained",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a row: its number in the sheet (headings are 1), `outcome`, the spill, and what is odd about it.

    `outcome`: imported, there already, double, changed since, cannot be kept.
    """

    number: int
    outcome: str
    reference: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Import:
    """A sheet with what its columns are, for a city. `alerts`: clocks of the past are left running, and alert as any."""

    city: str
    name: str
    sheet: Sheet
    mapping: Mapping[str, str]
    alerts: bool = False


class _Undone(Exception):
    """What a dry run did is undone."""


async def take_in_rows(house: House, wanted: Import, actor: str, *, dry: bool) -> AsyncIterator[Row]:
    """Take in the rows, each in a transaction of its own, and say what became of each. `dry`: nothing is kept.

    Raises BadInput for a city that is not served, or without a column that tells anything.
    """
    if wanted.city not in house.cities:
        right = f"right would be: one of {', '.join(house.cities)}"
        raise BadInput("there is no such city", [f"city: {wanted.city[:60]!r} is none; {right}"])
    if not {"description", "address", "material", "known_at"} & set(wanted.mapping):
        raise BadInput("no column tells anything", ["columns: right would be: at least one of description, address, material, known_at"])
    seen: dict[str, int] = {}
    for number, cells in enumerate(wanted.sheet.rows, 2):
        key = _key(wanted, cells)
        if key in seen:
            yield Row(number, "double", remarks=(f"the same as row {seen[key]}",))
            continue
        seen[key] = number
        yield await _take_in(house, wanted, number, cells, key, actor, dry=dry)
    if not dry:
        async with transaction(house, actor) as tx:
            await staff_log.note(tx, "sheet:imported", city=wanted.city, name=wanted.name[:200], rows=len(wanted.sheet.rows))


def _key(wanted: Import, cells: Sequence[str]) -> str:
    """What a row is known by when it comes again: the sheet's own number, else all that it says."""
    said = _said(wanted, cells)
    whole = said["id"] if said.get("id") else "\x1f".join(" ".join(cell.split()) for cell in cells)
    return hashlib.sha256(f"import|{wanted.city}|{whole}".encode()).hexdigest()


def _said(wanted: Import, cells: Sequence[str]) -> dict[str, str]:
    """The cells by field, without empty ones."""
    by_heading = dict(zip(wanted.sheet.headings, cells, strict=True))
    return {field: by_heading[heading].strip() for field, heading in wanted.mapping.items() if by_heading[heading].strip()}


async def _take_in(house: House, wanted: Import, number: int, cells: Sequence[str], key: str, actor: str, *, dry: bool) -> Row:
    body, remarks = body_of(house, wanted, cells)
    arrival = Arrival(body, "staff", "import", is_staff=True, key=key)
    row = Row(number, "cannot be kept")
    try:
        async with transaction(house, actor) as tx:
            rests_before = _rests_before(tx, wanted, _said(wanted, cells))
            spill, was_there = await take_in_past(tx, arrival, rests_before)
            if not was_there:
                await _settle(tx, spill, _said(wanted, cells), rests_before)
            odd = tuple(dict.fromkeys([*remarks, *spill.flags]))
            row = Row(number, "there already" if was_there else "imported", "" if dry and not was_there else spill.reference, odd)
            if dry:
                raise _Undone
    except _Undone:
        return row
    except BadInput as error:
        changed = "Idempotency-Key" in str(error)
        told = "its number came before with other words; change that spill by hand" if changed else "; ".join(error.faults or [str(error)])
        return Row(number, "changed since" if changed else "cannot be kept", remarks=(told,))
    return row


def _rests_before(tx: Transaction, wanted: Import, said: Mapping[str, str]) -> datetime | None:
    """Clocks due before this moment are the past; all of them where the row tells no day, and none where alerts are wanted."""
    if wanted.alerts:
        return None
    has_day = "known_at" in said and _moment(said, "known_at", tx.house.rulebook.zones[wanted.city]) is not None
    return tx.now - LONG_PAST if has_day else _ALL_OF_THEM


async def _settle(tx: Transaction, spill: Spill, said: Mapping[str, str], rests_before: datetime | None) -> None:
    """Name who spilled it, and waive the clocks of the past, so that they do not stand as overdue for ever."""
    if said.get("discharger"):
        await name_discharger(tx, spill, said["discharger"][:200], "", "")
    for row in await of_spill(tx, spill):
        is_past = rests_before is not None and row.due_at is not None and row.due_at < rests_before
        if row.state in OPEN_STATES and is_past and row.act != "retention":
            await waive(tx, row, spill, _PAST)


# -- reading a row


def body_of(house: House, wanted: Import, cells: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """A row as a report that staff state, and what about it could not be read. The whole row is kept beside what was made of it."""
    said, remarks, zone = _said(wanted, cells), [], house.rulebook.zones[wanted.city]
    kept = {heading: cell for heading, cell in zip(wanted.sheet.headings, cells, strict=True) if cell}
    body: dict[str, Any] = {IMPORTED: {"file": wanted.name[:200], "cells": kept}, "jurisdiction": wanted.city}
    body["description"] = said.get("description", "")
    place = {"address": said["address"]} if "address" in said else {}
    point = {key: _number(said[key]) for key in ("lat", "lon") if key in said}
    if place or point:
        body["location"] = {**place, **point}
    for field in ("known_at", "discharged_at", "ended_at"):
        if field in said and (moment := _moment(said, field, zone)) is not None:
            body[field] = moment.isoformat()
        elif field in said:
            remarks.append(f"{field}: {said[field][:60]!r} is no day that can be read (kept in the record)")
    if "known_at" not in said:
        remarks.append("known_at: no day; its clocks count from the import, and rest")
    if "volume" in said:
        body["volume"] = {"quantity": said["volume"], "unit": said.get("unit") or _unit_of(wanted.mapping["volume"])}
    body |= _words_of(said, remarks)
    return body, remarks


def _words_of(said: Mapping[str, str], remarks: list[str]) -> dict[str, Any]:
    """Material, what it reached and the premises, as the law calls them."""
    found: dict[str, Any] = {}
    if "material" in said:
        plain = said["material"].lower()
        word = plain.replace(" ", "_").replace("-", "_")
        known = word if word in CHOICES["material"] else next((each for part, each in _MATERIALS.items() if part in plain), None)
        found["material"] = known or "other"
        if known is None:
            remarks.append(f"material: {said['material'][:60]!r} is taken as another material (kept in the record)")
    if "reached" in said:
        places = list(dict.fromkeys(each for part, each in _REACHED.items() if part in said["reached"].lower()))
        if places:
            found["reached"] = places
        else:
            remarks.append(f"reached: {said['reached'][:60]!r} could not be read (kept in the record)")
    if "premises" in said:
        found["premises"] = said["premises"].lower().replace(" ", "_")
    return found


def _unit_of(heading: str) -> str:
    """The unit that a heading names, as in Volume (L); gallons where it names none."""
    return "L" if re.search(r"\(l\)|lit(?:er|re)s?", heading, re.IGNORECASE) else "gal"


def _number(text: str) -> float | str:
    try:
        return float(text.replace(",", ".") if text.count(",") == 1 and "." not in text else text)
    except ValueError:
        return text


def _moment(said: Mapping[str, str], field: str, zone: ZoneInfo) -> datetime | None:
    """A moment of the sheet, local to the city: a day, a day and a time, or a day whose time stands in a column of its own."""
    text = " ".join(said.get(field, "").split())
    at = _clock(said["known_time"]) if field == "known_at" and "known_time" in said else None
    try:
        if re.match(r"\d{4}-\d{2}-\d{2}[T ]\d", text):
            return read_moment(text.replace(" ", "T", 1), zone)
        head, _, tail = text.partition(" ")
        day = _day(text) or _day(head)
        if day is None:
            return None
        clock = at or (_clock(tail) if _day(text) is None else None) or time()
        return instant(day, clock, zone)
    except (ValueError, OverflowError):
        return None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        for form in _DAY_FORMS:
            try:
                return datetime.strptime(text, form).date()  # noqa: DTZ007 - a day has no zone
            except ValueError:
                continue
    return None


def _clock(text: str) -> time | None:
    for form in _CLOCK_FORMS:
        try:
            return datetime.strptime(" ".join(text.upper().split()), form).time()  # noqa: DTZ007 - nor has a time of day
        except ValueError:
            continue
    return None
