"""From the queue to the wire and back into the record: claimed and committed before the network call, every try recorded.

A worker that dies between sending and recording leaves an attempt without an end. Its message is sent again, and that attempt is marked
as possibly double: for a legal notice twice is better than never.

What waits for one address about one spill is claimed, sent and settled together (`bundles`). Messages are claimed and settled by the
batch, with a fixed number of statements for each: a burst must drain faster than the mail server takes it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, bindparam, or_, select, update
from sqlmodel import col

from notifiers import Channel, Message, Outcome, Receipt
from notifiers.twilio import is_public_https
from service.claims import AT_REST, Claim, claim, given_up, record_end, spill_of
from service.events import MessageAccepted
from service.leases import Leases
from service.links import bounce_address, letter_of, unsubscribe_url
from service.logbook import about, hide
from service.outbox import PATIENCE
from service.tables import Attempt, MessageRow
from service.tracing import span
from service.transaction import House, Transaction, transaction

log = logging.getLogger(__name__)

BATCH = 16
# A database that has not answered by then is taken for one that never will: those behind it do not wait for it.
_SETTLED_WITHIN_SECONDS = 60.0
# The answer to a claimed message that was not handed over: it goes back into the queue, and surely did not go out.
HANDED_BACK = Receipt(Outcome.TRY_AGAIN, None, "not handed over: it is sent with the next round")
# What tells whether it arrived, what ends the waiting for it, and how long it takes a provider to tell at the very least.
_WITH_RECEIPTS = ("sms", "voice")
_SETTLED = ("delivered", "read", "undelivered", "bounced")
_SHORTEST_SILENCE = timedelta(seconds=30)
_WAITS_SECONDS = (5, 15, 60, 180, 600, 1800)
_MESSAGE = MessageRow.__table__  # type: ignore[attr-defined]
# What the record needs to know of a message that was sent; the whole row, with its letter, costs twice as much.
_Sent = Row[Any]
_AS_SENT = select(
    *(
        getattr(MessageRow, name)
        for name in ("id", "once", "spill_id", "obligation_id", "person", "channel", "step", "tries", "carried_by", "receipt")
    )
)


async def deliver(house: House, channels: Mapping[str, Channel], worker: str) -> int:
    """Claim and send the messages that are due, each recorded as soon as its answer is there. Returns how many were tried."""
    claimed = [one for name in channels for one in await claim(house, worker, name, BATCH)]
    answers, leases = Answers(house, worker), Leases(house, worker)
    await asyncio.gather(*(send(house, channels[one.row.channel], one, answers, leases) for one in claimed))
    return len(claimed)


# -- sending


async def send(house: House, channel: Channel, claimed: Claim, answers: Answers, leases: Leases) -> None:
    """Hand one claimed message to its channel and record the answer."""
    await answers.record(claimed, await hand_over(house, channel, claimed, leases))


async def hand_over(house: House, channel: Channel, claimed: Claim, leases: Leases) -> Receipt:
    """Hand one claimed message to its channel and return the answer."""
    with about(claimed.reference), span("send", channel=channel.name) as told:
        hide(claimed.row.person)
        receipt = await _hand_over(house, channel, claimed, leases)
        told.set_attribute("outcome", receipt.outcome.value)
        return receipt


async def _hand_over(house: House, channel: Channel, claimed: Claim, leases: Leases) -> Receipt:
    row = claimed.row
    if problem := channel.problem_with(row.address):
        return Receipt(Outcome.REFUSED, None, problem)
    if claimed.number == 1:
        whom = "duty" if row.obligation_id is not None else "subscriber" if row.subscription_id is not None else "other"
        late = (house.now() - (row.give_up_at - PATIENCE)).total_seconds()
        house.measures.lateness.observe(max(0.0, late), channel=row.channel, whom=whom)
    letter, html = letter_of(house, row)
    message = Message(
        key=row.id, channel=row.channel, to=row.address, subject=row.subject, text=letter, spill=claimed.reference,
        duty=claimed.duty, step=row.step, at=house.now(), language=row.language, html=html, unsubscribe=unsubscribe_url(house, row),
        return_path=bounce_address(house, row.id) if row.channel == "email" else "",
    )  # fmt: skip
    try:
        async with leases.held(claimed):
            return await channel.send(message)
    except Exception as error:  # a channel that fails in an unforeseen way has perhaps sent; the message is tried again, marked
        log.exception("channel %s failed on message %s", channel.name, row.id)
        return Receipt(Outcome.UNKNOWN, None, f"{type(error).__name__}: {error}")


# -- settling


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
        with about(*(claimed.reference for claimed, _ in batch)):
            await self._settle_at_once(batch)

    async def _settle_at_once(self, batch: list[tuple[Claim, Receipt]]) -> None:
        try:
            async with asyncio.timeout(_SETTLED_WITHIN_SECONDS), transaction(self._house, self._worker) as tx:
                await _settle(tx, self._worker, batch)
        except Exception:  # one answer that cannot be recorded must not take the others with it
            log.exception("%d answers could not be recorded; a message without one is sent again, marked as possibly double", len(batch))
            for one in batch if len(batch) > 1 else ():
                await self._settle([one])


async def _settle(tx: Transaction, worker: str, batch: Sequence[tuple[Claim, Receipt]]) -> None:
    """Note the answers to tries. Each message, and each that it carries, moves on only while it is still ours."""
    ended = update(Attempt.__table__).where(  # type: ignore[attr-defined]
        col(Attempt.message_id) == bindparam("of_message"), col(Attempt.number) == bindparam("of_number")
    )
    tries = [
        {
            "of_message": claimed.row.id, "of_number": claimed.number, "ended_at": tx.now, "outcome": receipt.outcome.value,
            "provider_id": receipt.provider_id, "detail": receipt.detail[:2048],
        }
        for claimed, receipt in batch
    ]  # fmt: skip
    await (await tx.session.connection()).execute(ended, tries)
    for claimed, receipt in batch:
        tx.house.tries[claimed.row.channel, receipt.outcome.value] += 1
    ours = await _still_ours(tx, worker, batch)
    sent = [(claimed, receipt, _together(claimed, ours)) for claimed, receipt in batch]
    await _accept(tx, [(claimed, rows) for claimed, receipt, rows in sent if receipt.outcome is Outcome.ACCEPTED])
    await _put_back(tx, [one for one in sent if one[1].outcome in (Outcome.TRY_AGAIN, Outcome.UNKNOWN)])
    for _, receipt, rows in sent:
        if receipt.outcome is Outcome.REFUSED:
            await _refuse(tx, receipt, rows)


async def _still_ours(tx: Transaction, worker: str, batch: Sequence[tuple[Claim, Receipt]]) -> dict[str, _Sent]:
    """What was sent and nobody else has claimed since, by its key."""
    numbers = {key: number for claimed, _ in batch for key, number in ((claimed.row.id, claimed.number), *claimed.carried)}
    mine = _AS_SENT.where(col(MessageRow.id).in_(numbers), col(MessageRow.claimed_by) == worker)
    # Past its lease it is back in the queue, and ours while nobody has taken it from there.
    mine = mine.where(or_(col(MessageRow.state) == "sending", col(MessageRow.queued)))
    rows = (await tx.session.execute(mine.with_for_update())).all()
    return {row.id: row for row in rows if row.tries == numbers[row.id]}


def _together(claimed: Claim, ours: Mapping[str, _Sent]) -> list[_Sent]:
    """A message and what it carried, the carrier first."""
    carried = [ours[key] for key, _ in claimed.carried if key in ours]
    carried.sort(key=lambda row: (row.obligation_id or 0, row.once))
    return [*([ours[claimed.row.id]] if claimed.row.id in ours else []), *carried]


async def _accept(tx: Transaction, sent: Sequence[tuple[Claim, list[_Sent]]]) -> None:
    """The provider took these: that is recorded, and a sign awaited that they arrived."""
    connection, everything = await tx.session.connection(), [row for _, rows in sent for row in rows]
    if not everything:
        return
    await connection.execute(update(_MESSAGE).where(_MESSAGE.c.id.in_([row.id for row in everything])).values(state="accepted", **AT_REST))
    if awaited := [{"key": row.id, "until": until} for row in everything if (until := await _silent_until(tx, row))]:
        await connection.execute(update(_MESSAGE).where(_MESSAGE.c.id == bindparam("key")).values(silent_until=bindparam("until")), awaited)
    await tx.record_all(
        [
            (await spill_of(tx, row.spill_id), _accepted(row, may_be_double=claimed.may_be_double))
            for claimed, rows in sent for row in rows if row.spill_id is not None
        ]
    )  # fmt: skip


async def _put_back(tx: Transaction, sent: Sequence[tuple[Claim, Receipt, list[_Sent]]]) -> None:
    """These are tried again, later with every try."""
    again = [
        {
            "key": row.id, "at": tx.now + timedelta(seconds=_wait_seconds(claimed.number, receipt)),
            # What surely did not go out may go with others next time, or alone.
            "with": row.carried_by if receipt.outcome is Outcome.UNKNOWN else None,
        }
        for claimed, receipt, rows in sent for row in rows
    ]  # fmt: skip
    if again:
        waiting = update(_MESSAGE).where(_MESSAGE.c.id == bindparam("key")).values(state="waiting", queued=False, lease_until=None)
        later = waiting.values(next_at=bindparam("at"), carried_by=bindparam("with"))
        await (await tx.session.connection()).execute(later, again)
        tx.wakes_worker = True


async def _refuse(tx: Transaction, receipt: Receipt, rows: Sequence[_Sent]) -> None:
    """These get nowhere. One message after the other: what follows asks how the others of a rung stand."""
    if rows:
        refused = update(_MESSAGE).where(_MESSAGE.c.id.in_([row.id for row in rows])).values(state="refused", **AT_REST)
        await (await tx.session.connection()).execute(refused)
    for row in rows:
        await record_end(tx, row, given_up(row, receipt.detail))


def _accepted(row: _Sent, *, may_be_double: bool) -> MessageAccepted:
    return MessageAccepted(
        message=row.id, obligation=row.obligation_id, person=row.person, channel=row.channel, step=row.step, may_be_double=may_be_double,
        carried_by=row.carried_by or "",
    )  # fmt: skip


async def _silent_until(tx: Transaction, row: _Sent) -> datetime | None:
    """Until when a sign is awaited that a message of a duty arrived: the set time, or half of the time left; None where none can come."""
    settings = tx.house.settings
    hears = bool(settings.twilio_account_sid) and is_public_https(settings.public_url)
    if row.obligation_id is None or row.carried_by or row.channel not in _WITH_RECEIPTS or row.receipt in _SETTLED or not hears:
        return None
    due_at = (await tx.obligation(row.obligation_id)).due_at
    wait = timedelta(minutes=settings.silent_minutes)
    if due_at is not None and due_at > tx.now:
        wait = min(wait, max((due_at - tx.now) / 2, _SHORTEST_SILENCE))
    tx.wakes_worker = True
    return tx.now + wait


def _wait_seconds(tries: int, receipt: Receipt) -> float:
    """How long until the next try: longer with every one, and no less than the provider asked for, within reason. No try, no wait."""
    if receipt is HANDED_BACK:
        return 0
    wait = _WAITS_SECONDS[min(tries, len(_WAITS_SECONDS)) - 1]
    return max(wait, min(receipt.retry_after_seconds or 0, _WAITS_SECONDS[-1]))
