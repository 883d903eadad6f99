"""Promised messages: written with the state change that asks for them, claimed and committed before the network call, every try recorded.

A worker that dies between sending and recording leaves an attempt without an end. Its message is sent again, and that attempt is marked
as possibly double: for a legal notice twice is better than never.

What waits for one address about one spill is claimed, sent and settled together (`bundles`).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, func, not_, or_, select, text, update
from sqlmodel import col

from notifiers import Channel, Message, Outcome, Receipt
from notifiers.twilio import is_public_https
from service import bundles
from service.dead_addresses import suppress_for
from service.events import MessageAccepted, MessageGaveUp
from service.ladders import OPEN_STATES as OPEN_STATES
from service.ladders import climbing as climbing
from service.links import bounce_address, letter_of, unsubscribe_url
from service.parties import Person
from service.quiet_hours import waits_until
from service.sending_cap import hold_what_can_wait, note_tries
from service.suppressions import why_not
from service.tables import Attempt, MessageRow, Obligation, Spill, Subscription
from service.transaction import House, Transaction, transaction
from service.wording import Words

log = logging.getLogger(__name__)

# A message that cannot be handed over is tried for so long after its promise, however often.
PATIENCE = timedelta(hours=24)
# A due alert goes out at the due moment or a breath after it: it is among those in time.
_JUST_DUE = timedelta(seconds=30)
BATCH = 16
_SEND_PART_OF_LEASE = 0.8
# What tells whether it arrived, what ends the waiting for it, and how long it takes a provider to tell at the very least.
_WITH_RECEIPTS = ("sms", "voice")
_SETTLED = ("delivered", "read", "undelivered", "bounced")
_SHORTEST_SILENCE = timedelta(seconds=30)
_UNDER_WAY = ("waiting", "sending")
_WAITS_SECONDS = (5, 15, 60, 180, 600, 1800)


# What can still be done in time goes first, the nearest due before all; then what is overdue, the earliest promise first.
_IN_ORDER = (
    col(MessageRow.rank), col(MessageRow.sort_at), col(MessageRow.promised_at), col(MessageRow.obligation_id), col(MessageRow.once),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Promise:
    """What a message is about: the spill, the duty's obligation (None for triage), the rung and why it goes out."""

    spill: Spill
    obligation: Obligation | None
    step: str
    reason: str
    climb: str


async def promise(tx: Transaction, about: Promise, person: Person, channel: str, words: Words, code: str = "") -> MessageRow:
    """Promise one message to one address, in the running transaction. Promising the same rung to the same address again adds nothing.

    `code` is what a reply names it by, as the words say it.
    """
    address = person.addresses[channel]
    once = f"{about.climb}|{channel}|{address}"
    promised = await _promised(tx, about.climb)
    if once in promised:
        return promised[once]
    due_at = about.obligation.due_at if about.obligation else None
    in_time = due_at is not None and due_at > tx.now - _JUST_DUE
    next_at, why_later = await _goes_out_at(tx, about, person, channel)
    row = MessageRow(
        rank=0 if in_time else 1, sort_at=due_at if in_time and due_at else tx.now,
        id=uuid.uuid4().hex, once=once, spill_id=about.spill.id or 0, obligation_id=about.obligation.id if about.obligation else None,
        climb=about.climb, person=person.name, role=person.role, channel=channel, address=address, subject=words.subject,
        text=words.body(channel), html=words.html if channel == "email" else "", language=person.language, step=about.step,
        reason="; ".join(filter(None, (about.reason, words.note, why_later))), promised_at=tx.now, next_at=next_at,
        give_up_at=next_at + PATIENCE,
        code=code,
    )  # fmt: skip
    tx.session.add(row)
    promised[once] = row
    tx.wakes_worker = True
    return row


async def _goes_out_at(tx: Transaction, about: Promise, person: Person, channel: str) -> tuple[datetime, str]:
    """When a message goes out, and why that is not at once: quiet hours, or the next minute's company."""
    if about.obligation is None:
        return tx.now, ""
    zone = tx.house.rulebook.law_of(about.spill.city or "").zone
    brought_forward = about.climb.endswith(":at once")
    if not brought_forward and (morning := waits_until(tx.now, person.quiet, zone, about.obligation)):
        return morning, f"waits for the end of their quiet hours, {'-'.join(person.quiet or ())}"
    return await bundles.waits_for_company(tx, about.spill, about.obligation, person, channel) or tx.now, ""


async def _promised(tx: Transaction, climb: str) -> dict[str, MessageRow]:
    """What is promised for a climb already, by what keeps it from being promised twice; looked up once in a transaction."""
    promised: dict[str, MessageRow] | None = tx.memo.get(("promised", climb))
    if promised is None:
        rows = (await tx.session.execute(select(MessageRow).where(col(MessageRow.climb) == climb))).scalars()
        promised = tx.memo[("promised", climb)] = {row.once: row for row in rows}
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
    taken_back = update(MessageRow).where(*mine).values(state="cancelled", next_at=None)
    await tx.session.execute(taken_back, execution_options={"synchronize_session": False})
    if person is not None:  # who has seen one message need not be found by another channel for those before
        heard = update(MessageRow).where(about, *mine[2:], col(MessageRow.silent_until).is_not(None)).values(silent_until=None)
        await tx.session.execute(heard, execution_options={"synchronize_session": False})


async def next_message_at(tx: Transaction) -> datetime | None:
    """When the next message is to be tried, or a dead worker's message comes free."""
    waiting = await tx.session.scalar(select(func.min(col(MessageRow.next_at))).where(col(MessageRow.state) == "waiting"))
    leased = await tx.session.scalar(select(func.min(col(MessageRow.lease_until))).where(col(MessageRow.state) == "sending"))
    return min((moment for moment in (waiting, leased) if moment), default=None)


async def waits_since(tx: Transaction) -> datetime | None:
    """Since when the longest waiting alert could have been tried and was not; None where none waits. What is for subscribers can wait."""
    waiting = (col(MessageRow.state) == "waiting", col(MessageRow.next_at) <= tx.now, col(MessageRow.subscription_id).is_(None))
    return await tx.session.scalar(select(func.min(col(MessageRow.next_at))).where(*waiting))


async def release_orphans(house: House, now: datetime) -> None:
    """Free every message that was being sent. Only for a worker that knows itself to be alone on this database."""
    async with transaction(house, "worker", now) as tx:
        await tx.session.execute(update(MessageRow).where(col(MessageRow.state) == "sending").values(lease_until=now))
        tx.wakes_worker = True


@dataclass(frozen=True, slots=True)
class Claim:
    """A message this worker has claimed, and which try it is; with those that it carries, and which try it is of each."""

    row: MessageRow
    reference: str | None
    duty: str | None
    number: int
    carried: tuple[tuple[str, int], ...] = ()


class Answers:
    """Answers of channels, on their way into the record. Those that come in while one transaction commits share the next one."""

    def __init__(self, house: House, worker: str) -> None:
        self._house = house
        self._worker = worker
        self._waiting: list[tuple[Claim, Receipt]] = []
        self._turn = asyncio.Lock()

    async def record(self, claimed: Claim, receipt: Receipt) -> None:
        """Record one answer; returns once it is committed."""
        self._waiting.append((claimed, receipt))
        async with self._turn:
            batch, self._waiting = self._waiting, []
            if batch:
                await self._settle(batch)

    async def _settle(self, batch: list[tuple[Claim, Receipt]]) -> None:
        try:
            async with transaction(self._house, self._worker) as tx:
                for claimed, receipt in batch:
                    await _settle(tx, claimed, self._worker, receipt)
        except Exception:  # one answer that cannot be recorded must not take the others with it
            log.exception("%d answers could not be recorded; a message without one is sent again, marked as possibly double", len(batch))
            for one in batch if len(batch) > 1 else ():
                await self._settle([one])


async def deliver(house: House, channels: Mapping[str, Channel], worker: str) -> int:
    """Claim and send the messages that are due, each recorded as soon as its answer is there. Returns how many were tried."""
    claimed = [one for name in channels for one in await claim(house, worker, name, BATCH)]
    answers = Answers(house, worker)
    await asyncio.gather(*(send(house, channels[one.row.channel], one, answers) for one in claimed))
    return len(claimed)


async def claim(house: House, worker: str, channel: str, most: int) -> list[Claim]:
    """Claim up to `most` due messages of a channel, earliest promise first, each with what goes out with it; committed before sending.

    A message whose duty is closed by now is cancelled instead; one that was tried for too long is given up.
    """
    async with transaction(house, worker) as tx:
        if not house.settings.is_embedded:  # two workers at once might each take half of what belongs together
            await tx.session.execute(text("SELECT pg_advisory_xact_lock(hashtext(:of))"), {"of": f"spillclock claims {channel}"})
        await hold_what_can_wait(tx, channel)
        due = or_(
            and_(col(MessageRow.state) == "waiting", col(MessageRow.next_at) <= tx.now),
            and_(col(MessageRow.state) == "sending", col(MessageRow.lease_until) <= tx.now),
        )
        by_itself = (due, col(MessageRow.channel) == channel, not_(bundles.carried_elsewhere()))
        chosen = select(MessageRow).where(*by_itself).order_by(*_IN_ORDER).limit(most)
        claimed: list[Claim] = []
        seen: set[str] = set()
        # Where none of them is wanted any more, those behind them are looked at: a sender that gets nothing waits for the next ring.
        while not claimed and (rows := (await tx.session.execute(chosen.with_for_update(skip_locked=True))).scalars().all()):
            for row in rows:
                if row.id not in seen and (one := await _claim_one(tx, worker, row, seen)):
                    claimed.append(one)
        note_tries(house, channel, len(claimed))
        return claimed


async def _claim_one(tx: Transaction, worker: str, row: MessageRow, seen: set[str]) -> Claim | None:
    """Claim a message with what goes out with it, less what is no longer wanted; None where nothing is left. `seen` gets all of them."""
    spill = await _spill_of(tx, row)
    # A message that was never tried, by itself or with another, has no tries to look through.
    doubtful = bool(row.tries or row.carried_by) and await _close_cut_off(tx, row)
    group = [row, *await bundles.companions(tx, row, doubtful=doubtful)]
    seen.update(one.id for one in group)
    about = select(Obligation).where(col(Obligation.id).in_({one.obligation_id for one in group if one.obligation_id}))
    obligations = {one.id: one for one in (await tx.session.execute(about)).scalars()}
    wanted: list[tuple[MessageRow, Obligation | None]] = []
    for one in group:
        obligation = obligations[one.obligation_id] if one.obligation_id else None
        if one.state in _UNDER_WAY and await _still_wanted(tx, one, obligation):
            wanted.append((one, obligation))
    if not wanted:
        return None
    if not doubtful:
        wanted.sort(key=lambda pair: bundles.order_of(pair[0]))
    # The same words under the same key: it may have gone out.
    as_before = doubtful and len(wanted) == len(group) and row.carried_by is None
    if not as_before and not await _reword(tx, spill, wanted):
        seen.difference_update(one.id for one, _ in wanted[1:])
        del wanted[1:]
    carrier, obligation = wanted[0]
    for one, _ in wanted:
        one.state, one.claimed_by, one.next_at = "sending", worker, None
        one.lease_until = tx.now + timedelta(seconds=tx.house.settings.lease_seconds)
        one.tries += 1
        one.carried_by = None if one is carrier else carrier.id
    tx.session.add(Attempt(message_id=carrier.id, number=carrier.tries, worker=worker, started_at=tx.now, may_be_double=doubtful))
    carried = tuple((one.id, one.tries) for one, _ in wanted[1:])
    return Claim(carrier, spill.reference if spill else None, obligation.duty if obligation else None, carrier.tries, carried)


async def _spill_of(tx: Transaction, row: MessageRow) -> Spill | None:
    """The spill of a message, looked up once for all that are claimed together."""
    if row.spill_id is None:
        return None
    known: dict[int, Spill] = tx.memo.setdefault("spills of messages", {})
    if row.spill_id not in known:
        known[row.spill_id] = await tx.session.get_one(Spill, row.spill_id)
    return known[row.spill_id]


async def _reword(tx: Transaction, spill: Spill | None, wanted: list[tuple[MessageRow, Obligation | None]]) -> bool:
    """Have the first of these say what all of them are about, as it stands now. Returns False where that fails: it goes out alone then."""
    carrier = wanted[0][0]
    about = [(row, obligation) for row, obligation in wanted if obligation is not None]
    if spill is None or not about or (len(about) == 1 and not carrier.tries and not bundles.is_stale(carrier, tx.now)):
        return True
    try:
        words = await bundles.words_of(tx, spill, about)
    except Exception:  # what was promised is better than nothing
        log.exception("message %s could not be worded together with %d others", carrier.id, len(about) - 1)
        return False
    if words is not None:
        carrier.subject, carrier.text = words.subject, words.body(carrier.channel)
        carrier.html = words.html if carrier.channel == "email" else ""
    return True


async def _close_cut_off(tx: Transaction, row: MessageRow) -> bool:
    """Whether an earlier try may have gone out, of itself or of what carried it then; one that was cut off is closed as unknown."""
    mine = col(Attempt.message_id).in_([row.id, *([row.carried_by] if row.carried_by else [])])
    attempts = (await tx.session.execute(select(Attempt).where(mine).order_by(col(Attempt.number)))).scalars().all()
    for attempt in attempts:
        if attempt.ended_at is None:
            attempt.ended_at, attempt.outcome = tx.now, Outcome.UNKNOWN.value
            attempt.detail = "the worker stopped before the answer was recorded"
    return any(attempt.outcome == Outcome.UNKNOWN.value or attempt.may_be_double for attempt in attempts)


async def _still_wanted(tx: Transaction, row: MessageRow, obligation: Obligation | None) -> bool:
    """Checked at the moment of sending: the duty is still open and due when it says, and there is still sense in trying."""
    if obligation is not None and (obligation.state not in OPEN_STATES or not row.climb.startswith(climbing(obligation))):
        row.state, row.next_at, row.lease_until = "cancelled", None, None
        return False
    if row.subscription_id is not None and await _was_ended(tx, row):
        row.state, row.next_at, row.lease_until = "cancelled", None, None
        return False
    if row.receipt in ("sent", "delivered", "read"):  # a try whose answer was lost went out all the same
        row.state, row.next_at, row.lease_until = "accepted", None, None
        return False
    if reason := await why_not(tx, row.channel, row.address):
        row.state, row.next_at, row.lease_until = "refused", None, None
        await _record(tx, row, _given_up(row, reason))
        return False
    if tx.now >= row.give_up_at and row.tries:
        row.state, row.next_at, row.lease_until = "gave_up", None, None
        await _record(tx, row, _given_up(row, f"tried {row.tries} times in {PATIENCE}"))
        return False
    return True


async def _was_ended(tx: Transaction, row: MessageRow) -> bool:
    """Whether a subscriber wants no more: their subscription ended, and no newer one of the public stands for the same address."""
    mine = await tx.session.get_one(Subscription, row.subscription_id)
    if mine.ended_at is None:
        return False
    others = select(func.count()).select_from(Subscription).where(
        col(Subscription.kind) == "public", col(Subscription.channel) == row.channel, col(Subscription.address) == row.address,
        col(Subscription.confirmed_at).is_not(None), col(Subscription.ended_at).is_(None),
    )  # fmt: skip
    return mine.kind != "public" or not await tx.session.scalar(others)


async def _record(tx: Transaction, row: MessageRow, event: MessageAccepted | MessageGaveUp) -> None:
    """Record what became of a message with its spill. One for a subscriber is part of no story; a dead address is noted all the same."""
    if row.spill_id is not None:
        await tx.record(await tx.session.get_one(Spill, row.spill_id), event)
    elif isinstance(event, MessageGaveUp):
        await suppress_for(tx, row, event.reason)


def _given_up(row: MessageRow, reason: str) -> MessageGaveUp:
    return MessageGaveUp(
        message=row.id, obligation=row.obligation_id, person=row.person, channel=row.channel, step=row.step, reason=reason[:500],
        carried_by=row.carried_by or "",
    )  # fmt: skip


async def send(house: House, channel: Channel, claimed: Claim, answers: Answers) -> None:
    """Hand one claimed message to its channel and record the answer."""
    row = claimed.row
    problem = channel.problem_with(row.address)
    if problem:
        receipt = Receipt(Outcome.REFUSED, None, problem)
    else:
        letter, html = letter_of(house, row)
        message = Message(
            key=row.id, channel=row.channel, to=row.address, subject=row.subject, text=letter, spill=claimed.reference,
            duty=claimed.duty, step=row.step, at=house.now(), language=row.language, html=html, unsubscribe=unsubscribe_url(house, row),
            return_path=bounce_address(house, row.id) if row.channel == "email" else "",
        )  # fmt: skip
        try:
            # Within the lease: after it, another worker takes the message for orphaned and sends it too.
            async with asyncio.timeout(house.settings.lease_seconds * _SEND_PART_OF_LEASE):
                receipt = await channel.send(message)
        except Exception as error:  # a channel that fails in an unforeseen way has perhaps sent; the message is tried again, marked
            log.exception("channel %s failed on message %s", channel.name, row.id)
            receipt = Receipt(Outcome.UNKNOWN, None, f"{type(error).__name__}: {error}")
    await answers.record(claimed, receipt)


async def _settle(tx: Transaction, claimed: Claim, worker: str, receipt: Receipt) -> None:
    """Note the answer to one try. The message, and each that it carries, moves on only while it is still ours."""
    mine = select(Attempt).where(col(Attempt.message_id) == claimed.row.id, col(Attempt.number) == claimed.number)
    attempt = (await tx.session.execute(mine)).scalar_one()
    row = await tx.session.get_one(MessageRow, claimed.row.id)
    attempt.ended_at, attempt.outcome = tx.now, receipt.outcome.value
    tx.house.tries[row.channel, receipt.outcome.value] += 1
    attempt.provider_id, attempt.detail = receipt.provider_id, receipt.detail[:2048]
    tries = {row.id: claimed.number, **dict(claimed.carried)}
    together = (await tx.session.execute(select(MessageRow).where(col(MessageRow.id).in_(tries)))).scalars()
    ours = [one for one in together if one.state == "sending" and one.claimed_by == worker and one.tries == tries[one.id]]
    ours.sort(key=lambda one: (one is not row, one.obligation_id or 0, one.once))
    state = {Outcome.ACCEPTED: "accepted", Outcome.REFUSED: "refused"}.get(receipt.outcome, "waiting")
    for one in ours:  # all of them before what follows asks how the others of a rung stand
        one.state, one.lease_until = state, None
        if state == "waiting":
            one.next_at = tx.now + timedelta(seconds=_wait_seconds(claimed.number, receipt))
            # What surely did not go out may go with others next time, or alone.
            one.carried_by = one.carried_by if receipt.outcome is Outcome.UNKNOWN else None
            tx.wakes_worker = True
    for one in ours if state != "waiting" else ():
        if state == "accepted":
            one.silent_until = await _silent_until(tx, one)
            await _record(tx, one, _accepted(one, may_be_double=attempt.may_be_double))
        else:
            await _record(tx, one, _given_up(one, receipt.detail))


def _accepted(row: MessageRow, *, may_be_double: bool) -> MessageAccepted:
    return MessageAccepted(
        message=row.id, obligation=row.obligation_id, person=row.person, channel=row.channel, step=row.step, may_be_double=may_be_double,
        carried_by=row.carried_by or "",
    )  # fmt: skip


async def _silent_until(tx: Transaction, row: MessageRow) -> datetime | None:
    """Until when a sign is awaited that a message of a duty arrived: the set time, or half of the time left; None where none can come."""
    settings = tx.house.settings
    hears = bool(settings.twilio_account_sid) and is_public_https(settings.public_url)
    if row.obligation_id is None or row.carried_by or row.channel not in _WITH_RECEIPTS or row.receipt in _SETTLED or not hears:
        return None
    due_at = (await tx.session.get_one(Obligation, row.obligation_id)).due_at
    wait = timedelta(minutes=settings.silent_minutes)
    if due_at is not None and due_at > tx.now:
        wait = min(wait, max((due_at - tx.now) / 2, _SHORTEST_SILENCE))
    tx.wakes_worker = True
    return tx.now + wait


def _wait_seconds(tries: int, receipt: Receipt) -> float:
    """How long until the next try: longer with every one, and no less than the provider asked for, within reason."""
    wait = _WAITS_SECONDS[min(tries, len(_WAITS_SECONDS)) - 1]
    return max(wait, min(receipt.retry_after_seconds or 0, _WAITS_SECONDS[-1]))
