"""The days a city adds to its calendar: closed, or open, by its own word and source, laid over the calendar that ships with its pack.

Every count for a stored spill goes by both. Entries are marked as removed, never deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from deadlines import Calendar, CalendarGap, CityLaw, Rulebook, as_z, read_moment
from deadlines.calendars import WEEKDAYS
from deadlines.limits import Limit, count
from service import staff_log
from service.errors import BadInput, NotKnown
from service.spills import stated
from service.tables import Closure, Contact, Obligation, Spill
from service.transaction import House, Transaction

_Laid = tuple[tuple[str, date, str | None], ...]
_MEMO = "the rulebook with the days of the cities"
_LONGEST_NAME, _LONGEST_TEXT = 200, 1000
_STANDING = (
    select(col(Closure.city), col(Closure.day), col(Closure.kind), col(Closure.name), col(Closure.source))
    .where(col(Closure.removed_at).is_(None))
    .order_by(col(Closure.city), col(Closure.day))
)


async def rulebook_of(tx: Transaction) -> Rulebook:
    """The law as it is counted now: on the shipped calendars with what the cities have added. The same object until that changes."""
    laid: Rulebook | None = tx.memo.get(_MEMO)
    if laid is None:
        rows = await tx.session.execute(_STANDING)
        entries = tuple((city, day, f"{name} ({source})" if kind == "closed" else None) for city, day, kind, name, source in rows)
        laid = tx.memo[_MEMO] = _laid_over(tx.house.rulebook, entries) if entries else tx.house.rulebook
    return laid


@lru_cache(maxsize=8)
def _laid_over(shipped: Rulebook, entries: _Laid) -> Rulebook:
    days: dict[str, dict[date, str | None]] = {}
    for city, day, why in entries:
        days.setdefault(city, {})[day] = why
    return shipped.with_closures(days)


def city_law(house: House, city: str) -> CityLaw:
    """The law of a city with its calendar as shipped. Raises NotKnown."""
    try:
        return house.rulebook.law_of(city)
    except KeyError:
        known = ", ".join(house.cities)
        raise NotKnown(f"{city[:60]!r} is not a known city; right would be: one of {known}") from None


async def entries_of(tx: Transaction, city: str) -> list[Closure]:
    """Everything the city ever entered, by day; what was removed stands before what took its place."""
    query = select(Closure).where(col(Closure.city) == city).order_by(col(Closure.day), col(Closure.id))
    return list((await tx.session.execute(query)).scalars())


async def _in_effect(tx: Transaction, city: str, day: date) -> Closure | None:
    query = select(Closure).where(col(Closure.city) == city, col(Closure.day) == day, col(Closure.removed_at).is_(None))
    found: Closure | None = (await tx.session.execute(query)).scalar_one_or_none()
    return found


async def add_entry(tx: Transaction, city: str, day: date, name: str, source: str, *, is_open: bool = False) -> Closure:
    """Enter a day as closed, or open. Recounts nothing: `replanning` does. Raises NotKnown for an unknown city, and BadInput."""
    calendar = city_law(tx.house, city).calendar
    name, source = stated(name), stated(source)
    standing = await _in_effect(tx, city, day)
    faults = [fault] if (fault := _fault_of_day(calendar, day, standing, is_open=is_open)) else []
    if not name or len(name) > _LONGEST_NAME:
        faults.append(f"name: {'too long' if name else 'missing'}; right would be: what the day is called, such as Day after Thanksgiving")
    if not source or len(source) > _LONGEST_TEXT:
        faults.append(f"source: {'too long' if source else 'missing'}; right would be: what says so, such as Resolution 2026-14")
    if faults:
        raise BadInput("the day cannot be entered", faults)
    entry = Closure(city=city, day=day, kind="open" if is_open else "closed", name=name, source=source, added_by=tx.actor, added_at=tx.now)
    tx.session.add(entry)
    try:
        await tx.session.flush()
    except IntegrityError:  # another process was a moment quicker
        raise BadInput("the day cannot be entered", [f"date: {day} was entered just now by somebody else; look at the calendar"]) from None
    tx.memo.pop(_MEMO, None)
    await staff_log.note(tx, "calendar:added", city=city, day=str(day), says=told(entry))
    return entry


def _fault_of_day(calendar: Calendar, day: date, standing: Closure | None, *, is_open: bool) -> str | None:
    """What is wrong with entering a day, with what would be right; None where nothing is."""
    try:
        why = calendar.why_closed(day)
    except CalendarGap:
        right = f"a day from {calendar.first_day} to {calendar.last_day}"
        return f"date: {day} lies outside the days that calendar {calendar.name} covers; right would be: {right}"
    if standing is not None:
        return f"date: {day} is entered already, {told(standing)}; right would be: remove that entry first"
    if is_open and not why:
        return f"date: {day} is open already; right would be: a day that the calendar has as closed"
    if not is_open and why in WEEKDAYS:
        return f"date: {day} is a {why}, and counts as closed already; right would be: another day, or nothing"
    if not is_open and why:
        return f"date: {day} is closed already, {why}; right would be: another day, or nothing"
    return None


async def remove_entry(tx: Transaction, city: str, day: date, reason: str) -> Closure:
    """Mark the entry of a day as removed. Recounts nothing: `replanning` does. Raises NotKnown, and BadInput without a reason."""
    calendar = city_law(tx.house, city).calendar
    entry = await _in_effect(tx, city, day)
    if entry is None:
        ships = calendar.first_day <= day <= calendar.last_day and calendar.why_closed(day)
        cure = f"it ships as closed, {ships}; to say otherwise, enter it as open" if ships else "nothing was entered for that day"
        raise NotKnown(f"{city} has no entry for {day}: {cure}")
    reason = stated(reason)
    if not reason or len(reason) > _LONGEST_TEXT:
        fault = f"reason: {'too long' if reason else 'missing'}; right would be: why the entry is taken out, in a few words"
        raise BadInput("the entry cannot be removed", [fault])
    entry.removed_by, entry.removed_at, entry.reason = tx.actor, tx.now, reason
    await tx.session.flush()
    tx.memo.pop(_MEMO, None)
    await staff_log.note(tx, "calendar:removed", city=city, day=str(day), reason=reason)
    return entry


def told(entry: Closure) -> str:
    """An entry in words: closed, Day after Thanksgiving (Resolution 2026-14)."""
    return f"{entry.kind}, {entry.name} ({entry.source})"


def added(entry: Closure) -> str:
    """Why clocks move when an entry is added, with calendar, day and source."""
    return f"calendar of {entry.city}: {_day(entry.day)} is {told(entry)}"


def removed(entry: Closure) -> str:
    """Why clocks move when an entry is removed, with calendar, day, source and the reason given."""
    return f"calendar of {entry.city}: {_day(entry.day)} is no longer {told(entry)}: {entry.reason}"


def _day(day: date) -> str:
    return f"{WEEKDAYS[day.weekday()]} {day}"


async def cities_in_use(tx: Transaction) -> list[str]:
    """The cities that have contacts or spills, by id."""
    contacts = (await tx.session.execute(select(col(Contact.city)).distinct())).scalars()
    spills = (await tx.session.execute(select(col(Spill.city)).distinct())).scalars()
    return sorted({city for city in (*contacts, *spills) if city in tx.house.rulebook.cities})


def left_of(law: CityLaw, now: datetime) -> Literal["years", "months", "nothing"]:
    """How much of a city's calendar lies ahead: more than twelve months, less, or nothing at all."""
    today = now.astimezone(law.zone).date()
    if law.calendar.last_day < today:
        return "nothing"
    try:
        in_a_year = today.replace(year=today.year + 1)
    except ValueError:  # 29 February
        in_a_year = today.replace(year=today.year + 1, day=28)
    return "years" if law.calendar.last_day >= in_a_year else "months"


async def count_gaps_anew(tx: Transaction) -> int:
    """Have every clock that left its calendar counted again: a newer release may cover its days. Returns for how many spills."""
    mine = select(col(Obligation.spill_id)).where(col(Obligation.state) == "waiting", col(Obligation.reason) != "")
    spills = (await tx.session.execute(select(Spill).where(col(Spill.id).in_(mine)))).scalars().all()
    for spill in spills:
        spill.assess_at = min(spill.assess_at or tx.now, tx.now)
    tx.wakes_worker = tx.wakes_worker or bool(spills)
    return len(spills)


def hangs_on(row: Obligation, day: date, zone: ZoneInfo) -> bool:
    """Whether another count of `day` could move a clock: a day count that passes it, or one that has left its calendar."""
    limit = _day_limit(row)
    if limit is None:
        return False
    if row.due_at is None:
        return bool(row.reason)
    clock = row.clock
    texts = (clock["starts_at"], clock["due_at"], clock["extended_due_at"], *(other["due_at"] for other in clock["other_readings"]))
    days = [_moment(text).astimezone(zone).date() for text in texts if text]
    return min(days) <= day <= max(days)


def _day_limit(row: Obligation) -> Limit | None:
    """The limit of a clock where it counts days, as its own pack stated it."""
    try:
        limit = Limit.parse(row.clock["limit"])
    except ValueError:  # words of another release
        return None
    if limit.shape == "recurring":
        return limit.nth(row.occurrence)
    return limit if limit.shape in ("calendar days", "open days") else None


def recounted(row: Obligation, law: CityLaw, comply_by: datetime | None) -> Mapping[str, Any]:
    """A clock of an earlier version of its pack, which it keeps, counted on today's calendar with the closing hour it was decided by.

    Raises CalendarGap.
    """
    limit = _day_limit(row)
    if limit is None or row.starts_at is None or row.due_at is None:
        return row.clock
    if limit.shape == "open days":
        limit = replace(limit, by=row.due_at.astimezone(law.zone).time())
    counted = count(limit, row.starts_at, law.zone, law.calendar, comply_by)
    if counted is None:
        return row.clock
    anew = {other.reading: as_z(other.due_at) for other in counted.other_readings}
    others = [{**other, "due_at": anew.get(other["reading"], other["due_at"])} for other in row.clock["other_readings"]]
    due = {"due_at": as_z(counted.due_at), "extended_due_at": as_z(counted.extended_due_at)}
    return {**row.clock, **due, "counting": counted.steps(), "other_readings": others}


def _moment(text: str) -> datetime:
    return read_moment(text, ZoneInfo("UTC"))
