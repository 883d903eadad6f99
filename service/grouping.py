"""Reports that were merged: which tell of the same spill, and what the law counts of all of them.

The spill that is worked on stands at the top; the others keep everything that is on record of them, and no clock of theirs runs. What
counts at the top is worked out anew each time, so that nothing has to be put back when reports are taken apart:

- its own facts, with the earliest moment at which any of the reports was known, reached the city, or says that it began;
- its own acts and those on record of the others: a call made about a report was made about the spill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlmodel import col

from deadlines import Clock, as_z, read_moment
from service.events import ActRecorded, SpillEvent, SpillMerged
from service.tables import EventRow, Spill
from service.transaction import Transaction

# The moments of which the earliest in any of the reports counts (counting.md: the earliest moment the city knew, or it is believed to
# have begun).
EARLIEST = ("known_at", "reported_at", "discharged_at")


_MERGED = select(Spill).where(col(Spill.merged_into).in_(bindparam("ids", expanding=True))).order_by(col(Spill.id))


@dataclass(frozen=True, slots=True)
class Counted:
    """What the law counts of a spill: its `facts` with the events of merged reports behind its own.

    `numbers`: by which number its clocks know each event: its own by their places, others by -1 less the number of their record, which
    stays the same whatever is recorded later. `told_by`: the report that each other event is on record of.
    """

    facts: dict[str, Any]
    numbers: Sequence[int] = ()
    told_by: Mapping[int, str] = field(default_factory=dict)

    def number_of(self, event: int | None) -> int:
        """The number under which a clock is kept that this event of `facts` started; -1 where none did."""
        return -1 if event is None else self.numbers[event]

    def clock_json(self, clock: Clock) -> dict[str, Any]:
        """A clock as it is kept. One that an act of a merged report started says which, for it is no event of this spill."""
        told = clock.as_json()
        number = self.number_of(clock.event)
        if clock.event is None or number not in self.told_by:
            return told
        return {**told, "event": None, "started_by": {"spill": self.told_by[number], "act": self.facts["events"][clock.event]}}


async def head_of(tx: Transaction, spill: Spill) -> Spill:
    """The spill that is worked on: this one, or where it was merged the one it was merged into, held by a writing transaction."""
    while spill.merged_into is not None:
        above = tx.held(select(Spill).where(col(Spill.id) == spill.merged_into))
        spill = (await tx.session.execute(above.execution_options(populate_existing=True))).scalar_one()
    return spill


async def merged_here(tx: Transaction, spill: Spill) -> list[Spill]:
    """The reports that were merged into this very spill, the oldest first."""
    return await _merged_into(tx, [spill.id or 0])


async def members_of(tx: Transaction, spill: Spill) -> list[Spill]:
    """All reports that count for a spill: those merged into it, and into those; the oldest first within each layer."""
    found: list[Spill] = []
    layer = await merged_here(tx, spill)
    while layer:
        found += layer
        layer = await _merged_into(tx, [one.id or 0 for one in layer])
    return found


async def _merged_into(tx: Transaction, ids: Sequence[int]) -> list[Spill]:
    return list((await tx.session.execute(_MERGED, {"ids": ids})).scalars())


async def counted(tx: Transaction, spill: Spill) -> Counted:
    """What the law counts of a spill. Of one that was itself merged, what it would count by itself."""
    own = spill.facts.get("events", [])
    others = await members_of(tx, spill)
    if not others:
        return Counted(spill.facts, range(len(own)))
    acts = await _acts_of(tx, others)
    facts = {**spill.facts, **_earliest(tx, [spill, *others])}
    if acts:
        facts["events"] = [*own, *(row.opened["act"] for row in acts)]
    names = {one.id: one.reference for one in others}
    numbers = [*range(len(own)), *(_number(row) for row in acts)]
    return Counted(facts, numbers, {_number(row): names[row.spill_id] for row in acts})


def _number(row: EventRow) -> int:
    return -1 - (row.id or 0)


async def _acts_of(tx: Transaction, spills: Sequence[Spill]) -> list[EventRow]:
    ids = [one.id for one in spills]
    query = select(EventRow).where(col(EventRow.spill_id).in_(ids), col(EventRow.kind) == ActRecorded.kind).order_by(col(EventRow.id))
    return list((await tx.session.execute(query)).scalars())


async def acts_by_place(tx: Transaction, spill: Spill) -> dict[int, int]:
    """The number of each act that is on record of a report, by its place among the events of that report."""
    return {place: _number(row) for place, row in enumerate(await _acts_of(tx, [spill]))}


async def acts_since(
    tx: Transaction, spill: Spill, head: Spill, history: Sequence[tuple[EventRow, SpillEvent]]
) -> list[tuple[EventRow, SpillEvent]]:
    """What was done at the spill that a report was merged into since it was; nothing of one that stands by itself."""
    merged = [row.recorded_at for row, event in history if isinstance(event, SpillMerged)]
    if spill.id == head.id or not merged:
        return []
    return [(row, event) for row, event in await tx.history(head) if isinstance(event, ActRecorded) and row.recorded_at >= merged[-1]]


def _earliest(tx: Transaction, spills: Sequence[Spill]) -> dict[str, str]:
    """The earliest of each moment that any report knows. A report that does not say when it reached the city did so when it was known."""
    found: dict[str, str] = {}
    for key in EARLIEST:
        told = [moment for one in spills if (moment := _moment(tx, one, key))]
        if told and any(one.facts.get(key) for one in spills):
            found[key] = as_z(min(told)) or ""
    return found


def _moment(tx: Transaction, spill: Spill, key: str) -> datetime | None:
    said = spill.facts.get(key) or (spill.facts.get("known_at") if key == "reported_at" else None)
    return read_moment(said, tx.house.rulebook.zones[spill.city or tx.house.first_city]) if said else None
