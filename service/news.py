"""What happens becomes items of the subscriptions of staff that ask for it, in the transaction that records it.

Nobody subscribed costs one query a transaction. What is to be told at once makes its subscription's digest due now; `digests` promises it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col

from deadlines.areas import read_area
from deadlines.quantities import GALLONS
from service.access import Staff, staff_by_account
from service.events import (
    FactsRecorded,
    ObligationMet,
    ObligationMoved,
    ObligationOpened,
    ObligationOverdue,
    ObligationWaived,
    ObligationWithdrawn,
    PlaceMoved,
    SpillEvent,
)
from service.spills import AS_IT_CAME, SPLIT_FROM
from service.tables import Account, Obligation, Spill, Subscription, SubscriptionItem
from service.transaction import Recorded, Transaction
from service.wording import due_facts, has_begun

_MEMO = "subscriptions of staff"
_STILL_OPEN = ("running", "overdue", "waiting")
_HOUR = timedelta(hours=1)
_AT_A_TIME = 400
_ASKING = (
    select(Subscription, Account)
    .join(Account, col(Account.id) == col(Subscription.account_id))
    .where(col(Subscription.kind) == "staff", col(Subscription.ended_at).is_(None))
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A subscription as far as it decides what is told to it."""

    id: int
    wants: Mapping[str, Any]
    staff: Staff

    def wants_stage(self, stage: str) -> bool:
        """Whether it asks for a stage; without any named it asks for all."""
        return not self.wants.get("paused") and (not self.wants.get("stages") or stage in self.wants["stages"])

    def wants_spill(self, spill: Spill) -> bool:
        """Whether it asks for a spill, and its owner may see it. An unknown amount may be large enough; an unknown point is in no area."""
        wants = self.wants
        if not self.staff.may_see(spill.city) or (wants.get("cities") and spill.city not in wants["cities"]):
            return False
        if wants.get("materials") and spill.facts.get("material") not in wants["materials"]:
            return False
        size = _gallons(spill.facts.get("volume"))
        if size is not None and size < wants.get("at_least_gallons", 0):
            return False
        if "area" not in wants:
            return True
        return spill.lat is not None and spill.lon is not None and read_area(wants["area"]).holds(spill.lat, spill.lon)


def _gallons(volume: Any) -> float | None:
    """The amount in US gallons, of a range its upper end; None where it is not known."""
    amount = volume.get("quantity", volume.get("high")) if isinstance(volume, Mapping) else None
    unit = GALLONS.get(volume.get("unit", "")) if isinstance(volume, Mapping) else None
    return float(amount) * float(unit) if unit is not None and isinstance(amount, int | float) else None


@dataclass(frozen=True, slots=True)
class _New:
    """Something that happened: its stage, what keeps it from being told twice, and what is kept of it."""

    stage: str
    once: str
    said: Mapping[str, Any]
    happened_at: datetime


async def _standing(tx: Transaction) -> Sequence[_Asked]:
    found: Sequence[_Asked] | None = tx.memo.get(_MEMO)
    if found is None:
        rows = [(row, account) for row, account in await tx.session.execute(_ASKING)]
        members = await staff_by_account(tx, [account for _, account in rows])
        found = tx.memo[_MEMO] = [
            _Asked(row.id or 0, row.wants, members[account.id or 0]) for row, account in rows if account.id in members
        ]
    return found


async def note(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to what subscribers may ask for: an item for each subscription that asks for it."""
    standing = await _standing(tx)
    if not standing or tx.quietly:
        return
    for new in await _news(tx, recorded.spill, recorded.event, recorded.happened_at):
        asking = [one.id for one in standing if one.wants_stage(new.stage) and one.wants_spill(recorded.spill)]
        await _keep(tx, recorded.spill.id or 0, new, asking)


async def _news(tx: Transaction, spill: Spill, event: SpillEvent, at: datetime) -> list[_New]:
    match event:
        case FactsRecorded(reason=reason) if reason == AS_IT_CAME or reason.startswith(SPLIT_FROM):
            return [_New("new", f"new:{spill.id}", {}, at)]
        case FactsRecorded(reason=reason) | PlaceMoved(reason=reason):
            return [_New("amended", f"amended:{spill.id}:{tx.now.isoformat()}", {"reason": reason or "more is known"}, at)]
        case ObligationOpened(obligation=number, clock=clock) | ObligationMoved(obligation=number, clock=clock):
            before = event.before if isinstance(event, ObligationMoved) else {}
            if has_begun(clock) and not has_begun(before):
                return [_New("clock_started", f"clock_started:{number}", due_facts(clock), at)]
            return []
        case ObligationOverdue(obligation=number, due_at=due_at):
            clock = (await tx.obligation(number)).clock
            return [_New("overdue", f"overdue:{number}:{due_at}", due_facts(clock), at)]
        case ObligationMet(obligation=number):
            clock = (await tx.obligation(number)).clock
            said = {**due_facts(clock), "late_by_s": event.late_by_s}
            return [_New("met", f"met:{number}:{event.met_at}", said, at), *await _closing(tx, spill, at)]
        case ObligationWaived() | ObligationWithdrawn():
            return await _closing(tx, spill, at)
    return []


async def _closing(tx: Transaction, spill: Spill, at: datetime) -> list[_New]:
    """That nothing of a spill is open any more, where that is so now."""
    if not any(one.wants_stage("closed") for one in await _standing(tx)):
        return []
    left = select(func.count()).select_from(Obligation).where(
        col(Obligation.spill_id) == spill.id, col(Obligation.state).in_(_STILL_OPEN)
    )  # fmt: skip
    return [] if await tx.session.scalar(left) else [_New("closed", f"closed:{spill.id}:{tx.now.isoformat()}", {}, at)]


async def _keep(tx: Transaction, spill_id: int, new: _New, asking: Sequence[int]) -> None:
    """One item for each subscription; one that has it already is passed over. What is told at once is due now."""
    for start in range(0, len(asking), _AT_A_TIME):
        some = asking[start : start + _AT_A_TIME]
        rows = [
            {
                "subscription_id": number, "spill_id": spill_id, "stage": new.stage, "once": new.once, "said": dict(new.said),
                "happened_at": new.happened_at,
            }
            for number in some
        ]  # fmt: skip
        insert = sqlite.insert if tx.house.settings.is_embedded else postgresql.insert
        await tx.session.execute(insert(SubscriptionItem).values(rows).on_conflict_do_nothing())
        at_once = update(Subscription).where(
            col(Subscription.id).in_(some), col(Subscription.pace) == "at_once", col(Subscription.next_digest_at).is_(None)
        )  # fmt: skip
        await tx.session.execute(at_once.values(next_digest_at=tx.now), execution_options={"synchronize_session": False})
        tx.wakes_worker = True


# -- due soon: nothing happens then, so the worker looks


def soon_at(starts_at: datetime | None, due_at: datetime) -> datetime:
    """When a duty is due soon: an hour before it is due, or a tenth of its time limit where that is longer, but never before half of it."""
    if starts_at is None or starts_at >= due_at:
        return due_at - _HOUR
    limit = due_at - starts_at
    return due_at - min(max(_HOUR, limit / 10), limit / 2)


async def note_due_soon(tx: Transaction) -> int:
    """Items for what is due soon by now. Returns how many were made."""
    made = 0
    for spill, new, lacking in await lacking_due_soon(tx):
        await _keep(tx, spill.id or 0, new, lacking)
        made += len(lacking)
    return made


async def lacking_due_soon(tx: Transaction) -> list[tuple[Spill, _New, list[int]]]:
    """What is due soon by now and not noted yet, with the subscriptions that ask for it."""
    asking = [one for one in await _standing(tx) if one.wants_stage("due_soon")]
    numbers = [number for number, moment in await _open_duties(tx) if moment <= tx.now] if asking else []
    found: list[tuple[Spill, _New]] = []
    for start in range(0, len(numbers), _AT_A_TIME):
        some = col(Obligation.id).in_(numbers[start : start + _AT_A_TIME])
        query = select(Obligation, Spill).join(Spill, col(Spill.id) == col(Obligation.spill_id)).where(some)
        for row, spill in await tx.session.execute(query):
            found.append((spill, _New("due_soon", f"due_soon:{row.id}:{row.clock['due_at']}", due_facts(row.clock), tx.now)))
    spills = {spill.id for spill, _ in found}
    known = select(col(SubscriptionItem.subscription_id), col(SubscriptionItem.once)).where(
        col(SubscriptionItem.stage) == "due_soon", col(SubscriptionItem.spill_id).in_(spills)
    )
    told = {(number, once) for number, once in await tx.session.execute(known)} if spills else set()
    lacking = [
        (spill, new, [one.id for one in asking if (one.id, new.once) not in told and one.wants_spill(spill)]) for spill, new in found
    ]
    return [one for one in lacking if one[2]]


async def next_due_soon_at(tx: Transaction) -> datetime | None:
    """When the next duty is due soon; None where nobody asks."""
    if not any(one.wants_stage("due_soon") for one in await _standing(tx)):
        return None
    return min((moment for _, moment in await _open_duties(tx) if moment > tx.now), default=None)


async def _open_duties(tx: Transaction) -> list[tuple[int, datetime]]:
    """The running duties that are not due yet, each with the moment from which it is due soon."""
    query = select(col(Obligation.id), col(Obligation.starts_at), col(Obligation.due_at)).where(
        col(Obligation.state) == "running", col(Obligation.due_at) > tx.now
    )
    rows = await tx.session.execute(query)
    return [(number or 0, soon_at(starts_at, due_at)) for number, starts_at, due_at in rows if due_at is not None]
