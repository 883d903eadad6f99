"""A city's calendar: its covered days, what ships as closed, what the city entered; and entering and removing days."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from deadlines.calendars import WEEKDAYS
from service.access import Staff
from service.api.callers import house_of, read_body, signed_in
from service.office_days import city_law, entries_of
from service.replanning import Change, Moved, add_day, remove_day
from service.tables import Closure
from service.transaction import reading, transaction

router = APIRouter(prefix="/calendars", tags=["calendars"])

City = Annotated[str, Path(max_length=60, description="the id of a city, such as chino")]


class DayIn(BaseModel):
    """A day to enter: closed, or with `open` a day on which the offices are open although the shipped calendar has it as closed."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {
        "date": "2026-11-27", "name": "Day after Thanksgiving", "source": "Resolution 2026-14", "open": False,
    }})  # fmt: skip
    date: dt.date
    name: str = ""
    source: str = ""
    open: bool = False


class ShippedDay(BaseModel):
    """A day that the shipped calendar has as closed, with the reason and source in words. `in_effect`: no entry of the city opens it."""

    date: dt.date
    closed: str
    in_effect: bool


class Entry(BaseModel):
    """A day that the city entered. Removed entries stay, with who removed them and why."""

    date: dt.date
    kind: Literal["closed", "open"]
    name: str
    source: str
    added_by: str
    added_at: dt.datetime
    removed_by: str | None = None
    removed_at: dt.datetime | None = None
    reason: str | None = None


class CalendarOut(BaseModel):
    """The calendar by which the clocks of a city are counted. Weekend days are closed besides the days listed."""

    city: str
    calendar: str
    zone: str
    first_day: dt.date
    last_day: dt.date
    closes_at: dt.time
    weekend: list[str]
    shipped: list[ShippedDay]
    entries: list[Entry]


class MovedOut(BaseModel):
    """A clock that a change moved; no due time where its count left the calendar."""

    reference: str
    duty: str
    title: str
    state: str
    due_before: dt.datetime | None
    due_after: dt.datetime | None
    extended_before: dt.datetime | None
    extended_after: dt.datetime | None


class ChangeOut(BaseModel):
    """The entry that was added or removed, and the clocks that this moved."""

    entry: Entry
    moved: list[MovedOut]


_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": DayIn.model_json_schema()}}},
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no staff token"},
    403: {"description": "not a manager of this city"},
    404: {"description": "no such city, or no entry for that day"},
    422: {"description": "the day cannot be entered or removed; `errors` says what would be right"},
}


@router.get("/{city}", responses={code: _PROBLEMS[code] for code in (401, 403, 404)})
async def calendar_of(request: Request, city: City) -> CalendarOut:
    """The calendar of a city. For its staff."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        law = city_law(tx.house, city)
        staff.require("viewer", city)
        entries = await entries_of(tx, city)
    opened = {entry.day for entry in entries if entry.kind == "open" and entry.removed_at is None}
    calendar = law.calendar
    return CalendarOut(
        city=city, calendar=calendar.name, zone=law.zone.key, first_day=calendar.first_day, last_day=calendar.last_day,
        closes_at=calendar.closes_at, weekend=[WEEKDAYS[number].lower() for number in sorted(calendar.weekend)],
        shipped=[ShippedDay(date=day, closed=why, in_effect=day not in opened) for day, why in sorted(calendar.closures.items()) if why],
        entries=[_entry(entry) for entry in entries],
    )  # fmt: skip


@router.post("/{city}/days", status_code=201, openapi_extra=_BODY, responses=_PROBLEMS)
async def enter_day(request: Request, city: City) -> ChangeOut:
    """Enter a day as closed, or open. Running clocks that count it move at once. For managers of the city."""
    staff = await _manager(request, city)
    given = await read_body(request, DayIn)
    async with transaction(house_of(request), staff.email) as tx:
        return _change(await add_day(tx, city, given.date, given.name, given.source, is_open=given.open))


@router.delete("/{city}/days/{date}", responses=_PROBLEMS)
async def take_out_day(
    request: Request, city: City, date: dt.date, reason: Annotated[str, Query(description="why it is taken out; stays on record")] = ""
) -> ChangeOut:
    """Mark the entry of a day as removed. Running clocks that count it move at once. For managers of the city."""
    staff = await _manager(request, city)
    async with transaction(house_of(request), staff.email) as tx:
        return _change(await remove_day(tx, city, date, reason))


async def _manager(request: Request, city: str) -> Staff:
    """The caller, who may change the calendar of this city; found out before their body is read. Raises NotKnown, NotAllowed."""
    staff = await signed_in(request)
    city_law(house_of(request), city)
    staff.require("manager", city)
    return staff


def _change(change: Change) -> ChangeOut:
    return ChangeOut(entry=_entry(change.entry), moved=[_moved(one) for one in change.moved])


def _entry(entry: Closure) -> Entry:
    return Entry(
        date=entry.day, kind="open" if entry.kind == "open" else "closed", name=entry.name, source=entry.source, added_by=entry.added_by,
        added_at=entry.added_at, removed_by=entry.removed_by, removed_at=entry.removed_at, reason=entry.reason or None,
    )  # fmt: skip


def _moved(one: Moved) -> MovedOut:
    return MovedOut(
        reference=one.reference, duty=one.duty, title=one.title, state=one.state, due_before=one.due_before, due_after=one.due_after,
        extended_before=one.extended_before, extended_after=one.extended_after,
    )  # fmt: skip
