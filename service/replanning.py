"""A change of a city's calendar, and what it moves: every running clock that counts the day is counted again, in the same transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlmodel import col

from deadlines import read_moment
from service.events import ObligationMoved, read_event
from service.obligations import apply_law
from service.office_days import add_entry, added, city_law, hangs_on, remove_entry, removed
from service.outbox import OPEN_STATES
from service.tables import Closure, EventRow, Obligation, Spill
from service.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Moved:
    """A clock that a change of a calendar moved. No due time: its count left the calendar."""

    reference: str
    duty: str
    title: str
    state: str
    due_before: datetime | None
    due_after: datetime | None
    extended_before: datetime | None
    extended_after: datetime | None


@dataclass(frozen=True, slots=True)
class Change:
    """An entry that was added or removed, with the clocks that this moved."""

    entry: Closure
    moved: list[Moved]


async def add_day(tx: Transaction, city: str, day: date, name: str, source: str, *, is_open: bool = False) -> Change:
    """Enter a day as closed, or open, and count again what hangs on it. Raises NotKnown, BadInput."""
    entry = await add_entry(tx, city, day, name, source, is_open=is_open)
    return await _count_again(tx, entry, added(entry))


async def remove_day(tx: Transaction, city: str, day: date, reason: str) -> Change:
    """Mark the entry of a day as removed and count again what hangs on it. Raises NotKnown, BadInput."""
    entry = await remove_entry(tx, city, day, reason)
    return await _count_again(tx, entry, removed(entry))


async def _count_again(tx: Transaction, entry: Closure, why: str) -> Change:
    zone = city_law(tx.house, entry.city).zone
    open_clocks = (
        select(Obligation)
        .join(Spill, col(Spill.id) == col(Obligation.spill_id))
        .where(col(Spill.city) == entry.city, col(Obligation.state).in_((*OPEN_STATES, "waiting")))
    )
    clocks = (await tx.session.execute(open_clocks)).scalars()
    touched = {clock.spill_id for clock in clocks if hangs_on(clock, entry.day, zone)}
    spills = select(Spill).where(col(Spill.id).in_(touched)).order_by(col(Spill.id)).with_for_update()
    for spill in (await tx.session.execute(spills)).scalars().all():
        await apply_law(tx, spill, why, calendar=why)
    return Change(entry, await moved_by(tx, entry))


async def moved_by(tx: Transaction, entry: Closure) -> list[Moved]:
    """The clocks that an entry moved: when it was removed, where it was, else when it was added. As the record has it, also later."""
    why, at = (removed(entry), entry.removed_at) if entry.removed_at else (added(entry), entry.added_at)
    query = (
        select(EventRow, col(Spill.reference))
        .join(Spill, col(Spill.id) == col(EventRow.spill_id))
        .where(col(EventRow.kind) == ObligationMoved.kind, col(EventRow.recorded_at) == at)
        .order_by(col(EventRow.id))
    )
    events = [(reference, read_event(row.kind, row.payload)) for row, reference in (await tx.session.execute(query)).all()]
    return [_moved(reference, event) for reference, event in events if isinstance(event, ObligationMoved) and event.calendar == why]


def _moved(reference: str, event: ObligationMoved) -> Moved:
    before: dict[str, Any] = event.before
    clock: dict[str, Any] = event.clock
    return Moved(
        reference, clock["duty"], clock["title"], clock["state"], _moment(before["due_at"]), _moment(clock["due_at"]),
        _moment(before["extended_due_at"]), _moment(clock["extended_due_at"]),
    )  # fmt: skip


def _moment(text: str | None) -> datetime | None:
    return None if text is None else read_moment(text, ZoneInfo("UTC"))
