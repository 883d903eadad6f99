"""Two reports tell of one spill: the one is merged into the other, and taken apart again where that was wrong.

Nothing moves and nothing is overwritten. The merged report keeps its private link, photos, reporter and messages; its clocks stop with the
reason, and the law counts its knowledge and its acts for the spill it was merged into (service/grouping.py). Whoever reported it goes on
being told. No clock stops without its name being put to whoever merges.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from service.closing import closed_in
from service.errors import BadInput, Conflict
from service.events import (
    DuplicateGivenBack,
    DuplicateTaken,
    FactsRecorded,
    ReporterAnswered,
    SpillClosed,
    SpillMerged,
    SpillReopened,
    SpillUnmerged,
)
from service.fact_sources import sources_of
from service.grouping import EARLIEST, acts_by_place, head_of, members_of, merged_here
from service.obligations import apply_law, of_spill, standing_of
from service.outbox import OPEN_STATES
from service.spills import checked_changes, stated
from service.tables import Obligation, Spill
from service.transaction import Recorded, Transaction

_STANDS = (*OPEN_STATES, "waiting")
# What a report says of itself and not of the spill.
_NOT_TAKEN = ("jurisdiction", "kind", "events", *EARLIEST)


class ClocksWouldStop(Conflict):
    """Clocks of the report would stop although the other spill, by its facts, does not have them. Nothing was merged."""

    title = "Clocks would stop"

    def __init__(self, other: Spill, kept: Spill, clocks: Sequence[Obligation]) -> None:
        cure = f"take over the fact it hangs on, or confirm that it is not owed by the facts of {kept.reference}"
        super().__init__(
            f"clocks of {other.reference} would stop",
            [f"{row.id}: {row.clock['title']} is not owed by the facts of {kept.reference}; right would be: {cure}" for row in clocks],
        )
        self.clocks = list(clocks)


def takeable(kept: Spill, other: Spill) -> dict[str, tuple[Any, Any]]:
    """What the two say differently of the spill: {key: (kept says, other says)}, of facts that the other knows."""
    return {
        key: (kept.facts.get(key), said)
        for key, said in other.facts.items()
        if key not in _NOT_TAKEN and said is not None and said != kept.facts.get(key)
    }


async def merge(tx: Transaction, kept: Spill, other: Spill, reason: str, *, take: Collection[str] = (), drop: Collection[int] = ()) -> bool:
    """Record that `other` tells of the same spill as `kept`, which is worked on from now on.

    `take` are the facts to be amended to what the other says; `drop` the numbers of clocks of the other that whoever merges has seen to
    stop. Returns False, and does nothing, where it is so already. Raises BadInput without a reason or for a fact that cannot be taken,
    Conflict where the two cannot be merged, ClocksWouldStop.
    """
    await tx.alone_with("merging")
    if other.merged_into is not None and other.merged_into == kept.id:
        return False
    _check(kept, other, reason, take)
    for spill in (kept, other):
        if closed_in(await tx.history(spill)) is not None:
            raise Conflict(f"{spill.reference} is closed; right would be: open it again first")
    why = f"it is the same spill as {kept.reference}, where its clocks go on: {stated(reason)}"
    took = await _take_over(tx, kept, other, take)
    stood = await standing_of(tx, kept)
    other.merged_into = kept.id
    await tx.session.flush()
    await apply_law(tx, kept, why, stood=stood)
    lost = await _lost(tx, kept, other)
    if unseen := [row for row in lost if row.id not in drop]:
        raise ClocksWouldStop(other, kept, unseen)
    await tx.record(kept, DuplicateTaken(other=other.reference, reason=stated(reason), took=took))
    await tx.record(other, SpillMerged(into=kept.reference, reason=stated(reason), dropped=[row.id or 0 for row in lost]))
    await apply_law(tx, other, why)
    return True


def _check(kept: Spill, other: Spill, reason: str, take: Collection[str]) -> None:
    differing = takeable(kept, other)
    faults = [] if stated(reason) else ["reason: missing; right would be: how it is known that it is the same spill"]
    faults += [
        f"take: {key!r} is nothing that {other.reference} says otherwise; right would be: {', '.join(differing) or 'nothing'}"
        for key in take
        if key not in differing
    ]
    if faults:
        raise BadInput("the reports cannot be merged so", faults)
    if kept.id == other.id:
        raise Conflict(f"{kept.reference} cannot be merged into itself")
    for spill in (kept, other):
        if not spill.facts:
            raise Conflict(f"{spill.reference} has not been put to the law yet; right would be: judge it, or try again in a minute")
        if spill.merged_into is not None:
            raise Conflict(f"{spill.reference} was merged into another spill; right would be: merge with that one, or take it apart first")
    if other.city is not None and kept.city != other.city:
        raise Conflict(
            f"{other.reference} lies in {other.city}, {kept.reference} in {kept.city or 'no city yet'}: each has its own law; right would "
            "be: set the city first, or keep both"
        )


async def _take_over(tx: Transaction, kept: Spill, other: Spill, take: Collection[str]) -> dict[str, tuple[Any, Any]]:
    """Amend facts to what the other report says, each with the source that it has there."""
    if not take:
        return {}
    reason = f"as {other.reference} says, which is the same spill"
    changed = checked_changes(tx, kept, {key: other.facts[key] for key in take}, reason)
    known = sources_of(await tx.history(other))
    await tx.record(
        kept, FactsRecorded(changes=changed, reason=reason, sources={key: known[key].source for key in changed if key in known})
    )
    return changed


async def _lost(tx: Transaction, kept: Spill, other: Spill) -> list[Obligation]:
    """The clocks of the other that the kept spill has no counterpart of, in whatever state but withdrawn."""
    there = [row for row in await of_spill(tx, kept) if row.state != "withdrawn"]
    duties, started = {row.duty for row in there if row.event_no == -1}, {(row.duty, row.event_no) for row in there}
    numbers = await acts_by_place(tx, other)
    lost = []
    for row in await of_spill(tx, other):
        number = numbers.get(row.event_no, row.event_no)
        if row.state in _STANDS and not (row.duty in duties if number == -1 else (row.duty, number) in started):
            lost.append(row)
    return lost


async def would_stop(tx: Transaction, kept: Spill, other: Spill) -> list[Obligation]:
    """The open clocks of `other` that `kept` has no counterpart of as both stand, for people to see before they merge."""
    duties = {row.duty for row in await of_spill(tx, kept) if row.state != "withdrawn"}
    return [row for row in await of_spill(tx, other) if row.state in _STANDS and row.event_no == -1 and row.duty not in duties]


async def unmerge(tx: Transaction, other: Spill, reason: str) -> bool:
    """Record that a merged report tells of a spill of its own after all. Its clocks run on from where they began.

    Facts that were taken over from it are put back where nobody has amended them since. Returns False, and does nothing, where it stands
    by itself. Raises BadInput without a reason, Conflict where the spill that it was merged into is closed.
    """
    await tx.alone_with("merging")
    if other.merged_into is None:
        return False
    if not stated(reason):
        raise BadInput("the reports cannot be taken apart so", ["reason: missing; right would be: how it is known to be another spill"])
    # From the report up, as whoever records an act about it holds them.
    above = tx.held(select(Spill).where(col(Spill.id) == other.merged_into)).execution_options(populate_existing=True)
    kept = (await tx.session.execute(above)).scalar_one()
    head = await head_of(tx, kept)
    if closed_in(await tx.history(head)) is not None:
        raise Conflict(f"{head.reference} is closed; right would be: open it again first")
    stood = await standing_of(tx, head)
    other.merged_into = None
    await tx.session.flush()
    why = f"{other.reference} was another spill: {stated(reason)}"
    await apply_law(tx, head, why, stood=stood)
    returned, stays = await _give_back(tx, kept, other)
    await tx.record(kept, DuplicateGivenBack(other=other.reference, reason=stated(reason), returned=returned, stays=stays))
    await tx.record(other, SpillUnmerged(parted_from=kept.reference, reason=stated(reason)))
    await apply_law(tx, other, why, stood={})
    return True


async def _give_back(tx: Transaction, kept: Spill, other: Spill) -> tuple[list[str], list[str]]:
    """Put back the facts that were taken over from a report; those that were amended since stay. Returns the keys of both."""
    history = await tx.history(kept)
    taken = [event for _, event in history if isinstance(event, DuplicateTaken) and event.other == other.reference]
    took = taken[-1].took if taken else {}
    back = {key: before for key, (before, after) in took.items() if kept.facts.get(key) == after}
    if back:
        reason = f"{other.reference}, which said so, is another spill"
        changed = checked_changes(tx, kept, back, reason)
        before_merging = sources_of(history[: _place_of_taking(history, other)])
        sources = {key: before_merging[key].source for key in changed if key in before_merging}
        await tx.record(kept, FactsRecorded(changes=changed, reason=reason, sources=sources))
    return list(back), [key for key in took if key not in back]


def _place_of_taking(history: Sequence[Any], other: Spill) -> int:
    """The place in a history of the amendment by which facts of another report were taken over, last."""
    reason = f"as {other.reference} says, which is the same spill"
    places = [n for n, (_, event) in enumerate(history) if isinstance(event, FactsRecorded) and event.reason == reason]
    return places[-1] if places else len(history)


async def merged_reports(tx: Transaction, spill: Spill) -> list[Spill]:
    """All reports that were merged into a spill, by way of others too, the oldest first."""
    return sorted(await members_of(tx, spill), key=lambda one: one.id or 0)


async def pass_on(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to an answer, a closing or a re-opening: what the reporter of a spill is told, those of merged reports are told as well."""
    event = recorded.event
    if not isinstance(event, ReporterAnswered | SpillClosed | SpillReopened):
        return
    passed = event.model_copy(update={"left_open": []}) if isinstance(event, SpillClosed) else event
    for report in await merged_here(tx, recorded.spill):
        await tx.record(report, passed)
