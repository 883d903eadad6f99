"""Rungs that are kept back for a while: because somebody acknowledged, or because those who could have are still asleep.

An acknowledgement rests a person, never a duty. It holds until the next rung, or for as long as its ladder says; with the duty undone then,
the rungs that it kept back are climbed after all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlmodel import col

from deadlines import PlannedRung, next_rung
from service.events import AcknowledgementExpired, ObligationAcknowledged, RungHeld, RungReached, RungReachedNobody, RungRested
from service.ladders import Step, acknowledgement_lasts, climbing
from service.personal import rejoined
from service.quiet_hours import WAITS_WITH_MORE_THAN
from service.tables import EventRow, MessageRow, Obligation, Spill
from service.transaction import Transaction

# A rung that was kept back is not climbed so shortly before one that tells the same people the same way.
_SHORTLY = timedelta(minutes=15)
_Acknowledged = tuple[str, datetime]


@dataclass(frozen=True, slots=True)
class Kept:
    """A rung that is kept back until a moment, by somebody's acknowledgement (`seen`) or without one, for those who are asleep."""

    rung: PlannedRung
    until: datetime
    seen: _Acknowledged | None


def can_rest(rungs: Sequence[PlannedRung], now: datetime) -> bool:
    """Whether a ladder has come to a rung that can be kept back."""
    return any(rung.unless_acknowledged and rung.at <= now for rung in rungs)


async def acknowledgements(tx: Transaction, spill: Spill, obligation: Obligation) -> list[_Acknowledged]:
    """Who has seen an alert about this duty, and when, the first first."""
    rows = await tx.session.execute(
        select(EventRow)
        .where(col(EventRow.spill_id) == spill.id, col(EventRow.kind) == ObligationAcknowledged.kind)
        .order_by(col(EventRow.id))
    )
    return [(row.payload["person"], row.recorded_at) for row in rows.scalars() if row.opened["obligation"] == obligation.id]


async def kept_back(tx: Transaction, spill: Spill, obligation: Obligation, rungs: Sequence[PlannedRung]) -> list[Kept]:
    """The rungs of the present plan that are kept back and not climbed yet."""
    kinds = (RungRested.kind, RungHeld.kind, RungReached.kind, RungReachedNobody.kind)
    columns = (col(EventRow.kind), col(EventRow.opened), col(EventRow.sealed))
    query = select(*columns).where(col(EventRow.spill_id) == spill.id, col(EventRow.kind).in_(kinds)).order_by(col(EventRow.id))
    by_step = {rung.step: rung for rung in rungs}
    kept: dict[str, Kept] = {}
    for kind, opened, sealed in await tx.session.execute(query):
        if opened["obligation"] != obligation.id:
            continue
        payload = rejoined(kind, opened, sealed, destroyed=True)
        until = payload.get("until") if payload.get("plan") == obligation.plan_no else None  # a plan before this one keeps nothing back
        for step in payload["steps"]:
            kept.pop(step, None)
            if until and step in by_step:
                seen = (payload["person"], datetime.fromisoformat(payload["acknowledged_at"])) if kind == RungRested.kind else None
                kept[step] = Kept(by_step[step], datetime.fromisoformat(until), seen)
    return sorted(kept.values(), key=lambda one: one.rung.at)


async def wanted(
    tx: Transaction, spill: Spill, obligation: Obligation, rungs: Sequence[PlannedRung], due: Sequence[PlannedRung]
) -> list[PlannedRung]:
    """The due rungs less those that are kept back: by an acknowledgement since the rung before, or by quiet hours.

    The latter where a rung is to be climbed unless somebody acknowledges, and all who were told so far hear of it in the morning only.
    """
    if not any(rung.unless_acknowledged for rung in due):
        return list(due)
    acknowledged = await acknowledgements(tx, spill, obligation)
    asleep_until = await _asleep_until(tx, obligation)
    found = []
    for rung in due:
        if not rung.unless_acknowledged:
            found.append(rung)
        elif seen := _holding(tx, obligation, rungs, rung, acknowledged):
            await _rest(tx, spill, obligation, rungs, rung, seen)
        elif until := _woken_at(tx, obligation, rungs, rung, asleep_until):
            held = RungHeld(
                obligation=obligation.id or 0, duty=obligation.duty, steps=[rung.step], until=until.isoformat(), plan=obligation.plan_no
            )
            await tx.record(spill, held)
        else:
            found.append(rung)
    return found


async def run_out(tx: Transaction, spill: Spill, obligation: Obligation, rungs: Sequence[PlannedRung], kept: Sequence[Kept]) -> list[Step]:
    """The steps to climb because what kept them back has run out. Somebody may have acknowledged anew: then it goes on."""
    over = [one for one in kept if one.until <= tx.now]
    acknowledged = await acknowledgements(tx, spill, obligation) if over else []
    steps: dict[_Acknowledged | None, list[PlannedRung]] = {}
    for one in over:
        seen = _holding(tx, obligation, rungs, one.rung, acknowledged)
        if seen is not None and seen != one.seen:
            await _rest(tx, spill, obligation, rungs, one.rung, seen)
        else:
            steps.setdefault(one.seen, []).append(one.rung)
    for by, left_out in steps.items():
        if by is not None:
            expired = AcknowledgementExpired(
                obligation=obligation.id or 0, duty=obligation.duty, person=by[0], acknowledged_at=by[1].isoformat(),
                steps=[rung.step for rung in left_out],
            )  # fmt: skip
            await tx.record(spill, expired)
    return [Step(left_out, seen=by) for by, left_out in steps.items()]


def _before(rungs: Sequence[PlannedRung], rung: PlannedRung) -> datetime:
    return max((other.at for other in rungs if other.at < rung.at), default=rung.at)


def _holding(
    tx: Transaction, obligation: Obligation, rungs: Sequence[PlannedRung], rung: PlannedRung, acknowledged: Sequence[_Acknowledged]
) -> _Acknowledged | None:
    """The last acknowledgement since the rung before that still holds."""
    lasts, since = acknowledgement_lasts(obligation, rung), _before(rungs, rung)
    return next((one for one in reversed(acknowledged) if one[1] >= since and one[1] + lasts > tx.now), None)


async def _rest(
    tx: Transaction, spill: Spill, obligation: Obligation, rungs: Sequence[PlannedRung], rung: PlannedRung, seen: _Acknowledged
) -> None:
    expires = seen[1] + acknowledgement_lasts(obligation, rung)
    following = next_rung(list(rungs), max(rung.at, tx.now))
    until: datetime | None = expires
    if following is not None and following.at <= expires + _SHORTLY and _tells_as_much(following, rung):
        until = None  # that one stands for it
    elif following is not None:
        until = min(expires, following.at)
    rested = RungRested(
        obligation=obligation.id or 0, duty=obligation.duty, steps=[rung.step], person=seen[0], acknowledged_at=seen[1].isoformat(),
        until=until.isoformat() if until else "", plan=obligation.plan_no,
    )  # fmt: skip
    await tx.record(spill, rested)


def _tells_as_much(following: PlannedRung, rung: PlannedRung) -> bool:
    return set(following.tell) >= set(rung.tell) and set(following.by) >= set(rung.by)


async def _asleep_until(tx: Transaction, obligation: Obligation) -> datetime | None:
    """Until when everything told about this duty so far waits for the end of quiet hours; None where somebody has it or will soon."""
    columns = (col(MessageRow.state), col(MessageRow.next_at), col(MessageRow.tries))
    mine = select(*columns).where(
        col(MessageRow.obligation_id) == obligation.id, col(MessageRow.climb).startswith(climbing(obligation), autoescape=True)
    )
    found = (await tx.session.execute(mine)).all()
    asleep = [next_at for state, next_at, tries in found if state == "waiting" and next_at and next_at > tx.now and not tries]
    return max(asleep) if asleep and len(asleep) == sum(state != "cancelled" for state, _, _ in found) else None


def _woken_at(
    tx: Transaction, obligation: Obligation, rungs: Sequence[PlannedRung], rung: PlannedRung, asleep_until: datetime | None
) -> datetime | None:
    """When a rung is climbed that waits for others to wake and acknowledge: as long after they do as it was to be after their rung."""
    if asleep_until is None or obligation.due_at is None:
        return None
    until = min(asleep_until + (rung.at - _before(rungs, rung)), obligation.due_at - WAITS_WITH_MORE_THAN)
    return until if until > tx.now else None
