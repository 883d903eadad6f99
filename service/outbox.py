"""Promised messages: written with the state change that asks for them, taken back with the one that ends it. `sending` takes them out."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Table, bindparam, func, insert, or_, select, update
from sqlmodel import col

from service import bundles
from service.ladders import OPEN_STATES as OPEN_STATES
from service.ladders import climbing as climbing
from service.parties import Person
from service.quiet_hours import waits_until
from service.tables import MessageRow, Obligation, Spill
from service.transaction import House, Transaction, transaction
from service.wording import Words

# A message that cannot be handed over is tried for so long after its promise, however often.
PATIENCE = timedelta(hours=24)
# The channel of events for other systems: late ones there are no late alerts.
EVENT_HOOK = "event_hook"
# A due alert goes out at the due moment or a breath after it: it is among those in time.
_JUST_DUE = timedelta(seconds=30)
# A call rings for half a minute, and is listened to for as long. In a storm of reports so many of them wait for one another.
_A_CALL = timedelta(minutes=1)
_CALLS_IN_A_ROW = 3
_MESSAGE: Table = MessageRow.metadata.tables["message"]
_ADD = insert(_MESSAGE)
_EARLIEST = select(func.min(_MESSAGE.c.next_at)).where(_MESSAGE.c.state == "waiting")
# When messages are to be tried, in the queue and not yet, each from the end of its part of the index, however much waits; and when the
# message of a dead worker comes free.
NEXT = (
    _EARLIEST.where(_MESSAGE.c.queued.is_(True)).scalar_subquery(),
    _EARLIEST.where(_MESSAGE.c.queued.is_(False)).scalar_subquery(),
    select(func.min(_MESSAGE.c.lease_until)).where(_MESSAGE.c.state == "sending").scalar_subquery(),
)
# When the next message comes that is not due at the moment `now`.
COMING = _EARLIEST.where(_MESSAGE.c.queued.is_(False), _MESSAGE.c.next_at > bindparam("now")).scalar_subquery()
_NEXT = select(*NEXT)


@dataclass(frozen=True, slots=True)
class Promise:
    """What a message is about: the spill, the duty's obligation (None for triage), the rung and why it goes out."""

    spill: Spill
    obligation: Obligation | None
    step: str
    reason: str
    climb: str


@dataclass(frozen=True, slots=True)
class Promised:
    """A message that was promised: its key, and when it is tried next; None once it has gone out or was taken back."""

    id: str
    next_at: datetime | None


async def promise(
    tx: Transaction, about: Promise, person: Person, channel: str, words: Words, code: str = "", at: datetime | None = None
) -> Promised:
    """Promise one message to one address, in the running transaction. Promising the same rung to the same address again adds nothing.

    `code` is what a reply names it by, as the words say it; `at` when it goes out, where that is not for this module to say.
    """
    address = person.addresses[channel]
    once = f"{about.climb}|{channel}|{address}"
    promised = await _promised(tx, about)
    if once in promised:
        return promised[once]
    due_at = about.obligation.due_at if about.obligation else None
    in_time = due_at is not None and due_at > tx.now - _JUST_DUE
    next_at, why_later = (at, "") if at is not None else await _goes_out_at(tx, about, person, channel)
    key = uuid.uuid4().hex
    row = {
        "rank": 0 if in_time else 1, "sort_at": due_at if in_time and due_at else at or tx.now,
        "id": key, "once": once, "queued": next_at <= tx.now, "spill_id": about.spill.id,
        "obligation_id": about.obligation.id if about.obligation else None,
        "climb": about.climb, "person": person.name, "role": person.role, "channel": channel, "address": address,
        "subject": words.subject, "text": words.body(channel), "html": words.html if channel == "email" else "",
        "language": person.language, "step": about.step, "reason": "; ".join(filter(None, (about.reason, words.note, why_later))),
        "promised_at": tx.now, "next_at": next_at, "give_up_at": next_at + PATIENCE, "code": code, "state": "waiting", "tries": 0,
        "city": about.spill.city or "",
    }  # fmt: skip
    tx.set_aside(_ADD, row)
    promised[once] = Promised(key, next_at)
    tx.wakes_worker = True
    return promised[once]


async def _goes_out_at(tx: Transaction, about: Promise, person: Person, channel: str) -> tuple[datetime, str]:
    """When a message goes out, and why that is not at once: quiet hours, the next minute's company; a call also waits for a free line."""
    at, why = await _may_go_out_at(tx, about, person, channel)
    if channel == "voice" and at <= tx.now + bundles.TOGETHER_WITHIN:
        return max(at, await _line_is_free_at(tx, about, person.addresses[channel])), why
    return at, why


async def _line_is_free_at(tx: Transaction, about: Promise, number: str) -> datetime:
    """When a telephone can be called about this: a minute after any call to it that will not be part of the same one.

    Two calls at one moment find the line busy.
    """
    others = [col(MessageRow.channel) == "voice", col(MessageRow.address) == number, col(MessageRow.state) != "cancelled"]
    if about.obligation is not None:  # calls about duties of one spill are one call
        others.append(or_(col(MessageRow.spill_id) != about.spill.id, col(MessageRow.obligation_id).is_(None)))
    begins = func.coalesce(col(MessageRow.next_at), col(MessageRow.promised_at))
    others.append(begins.between(tx.now - _A_CALL, tx.now + _CALLS_IN_A_ROW * _A_CALL))
    last: datetime | None = await tx.session.scalar(select(func.max(begins)).where(*others))
    return last + _A_CALL if last else tx.now


async def _may_go_out_at(tx: Transaction, about: Promise, person: Person, channel: str) -> tuple[datetime, str]:
    if about.obligation is None:
        return tx.now, ""
    zone = tx.house.rulebook.law_of(about.spill.city or "").zone
    brought_forward = about.climb.endswith(":at once")
    if not brought_forward and (morning := waits_until(tx.now, person.quiet, zone, about.obligation)):
        return morning, f"waits for the end of their quiet hours, {'-'.join(person.quiet or ())}"
    return await bundles.waits_for_company(tx, about.spill, about.obligation, person, channel) or tx.now, ""


def plan_anew(tx: Transaction, obligation: Obligation) -> None:
    """Count up the plan of an obligation: what is promised from now on is of a new one, of which nothing is promised yet."""
    obligation.plan_no += 1
    tx.memo[("planned anew", obligation.id)] = obligation.plan_no


async def _promised(tx: Transaction, about: Promise) -> dict[str, Promised]:
    """What is promised for a climb already, by what keeps it from being promised twice; looked up once in a transaction."""
    promised: dict[str, Promised] | None = tx.memo.get(("promised", about.climb))
    if promised is None:
        promised = tx.memo[("promised", about.climb)] = {}
        if about.obligation is None or tx.memo.get(("planned anew", about.obligation.id)) != about.obligation.plan_no:
            columns = (col(MessageRow.once), col(MessageRow.id), col(MessageRow.next_at))
            for once, key, next_at in await tx.session.execute(select(*columns).where(col(MessageRow.climb) == about.climb)):
                promised[once] = Promised(key, next_at)
    return promised


async def cancel(tx: Transaction, obligation: Obligation, person: str | None = None) -> None:
    """Take back what is promised about an obligation and not yet under way; of one person only, where named by name or any address."""
    about = col(MessageRow.obligation_id) == obligation.id
    mine = [about, col(MessageRow.state) == "waiting"]
    if person is not None:
        theirs = or_(col(MessageRow.person) == person, func.lower(col(MessageRow.address)) == person.lower())
        # Who acknowledges by e-mail is not to be woken by SMS.
        names = (await tx.session.execute(select(col(MessageRow.person)).where(about, theirs).distinct())).scalars().all()
        mine.append(or_(theirs, col(MessageRow.person).in_(names)))
    # Rows that this session holds are not looked through: none of them is read again, and a change of a calendar holds thousands.
    taken_back = update(MessageRow).where(*mine).values(state="cancelled", queued=False, next_at=None)
    await tx.session.execute(taken_back, execution_options={"synchronize_session": False})
    if person is not None:  # who has seen one message need not be found by another channel for those before
        heard = update(MessageRow).where(about, *mine[2:], col(MessageRow.silent_until).is_not(None)).values(silent_until=None)
        await tx.session.execute(heard, execution_options={"synchronize_session": False})


async def next_message_at(tx: Transaction) -> datetime | None:
    """When the next message is to be tried, or a dead worker's message comes free."""
    moments = (await tx.session.execute(_NEXT)).one()
    return min((moment for moment in moments if moment), default=None)


async def waits_since(tx: Transaction) -> datetime | None:
    """Since when the longest waiting alert could have been tried and was not; None where none waits. What is for subscribers can wait."""
    waiting = (
        col(MessageRow.state) == "waiting", col(MessageRow.next_at) <= tx.now, col(MessageRow.subscription_id).is_(None),
        col(MessageRow.channel) != EVENT_HOOK,
    )  # fmt: skip
    return await tx.session.scalar(select(func.min(col(MessageRow.next_at))).where(*waiting))


async def release_orphans(house: House, now: datetime) -> None:
    """Free every message that was being sent. Only for a worker that knows itself to be alone on this database."""
    async with transaction(house, "worker", now) as tx:
        await tx.session.execute(update(MessageRow).where(col(MessageRow.state) == "sending").values(lease_until=now))
        tx.wakes_worker = True
