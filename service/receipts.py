"""What is heard of a message after it was handed over: receipts, which only ever move it forward, and silence."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlmodel import col

from notifiers import Outcome
from service.escalation import has_seen
from service.events import MessageArrived, MessageFailed
from service.fallback import suppress_by_code
from service.outbox import OPEN_STATES
from service.tables import Attempt, DeliveryReceipt, MessageRow, Obligation, Spill
from service.transaction import Transaction

log = logging.getLogger(__name__)

# How far each word brings a message. What failed is failed for good, unless it turns out to have arrived.
_RANKS = {"queued": 1, "sent": 2, "undelivered": 3, "bounced": 3, "delivered": 4, "read": 5}
FAILED = ("undelivered", "bounced")
_ARRIVED = ("delivered", "read")
_MESSAGE_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("accepted", "scheduled", "queued", "sending"), "queued"), "sent": "sent", "delivered": "delivered", "read": "read",
    **dict.fromkeys(("undelivered", "failed", "canceled"), "undelivered"),
}  # fmt: skip
# A completed call was answered by somebody or something: by whom, says AnsweredBy.
_CALL_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("queued", "initiated", "ringing"), "queued"), **dict.fromkeys(("in-progress", "completed"), "sent"),
    **dict.fromkeys(("busy", "no-answer", "failed", "canceled"), "undelivered"),
}  # fmt: skip
BATCH = 20


@dataclass(frozen=True, slots=True)
class Heard:
    """One thing that was said of a message: our word for it, by whom (twilio, dsn, reply, page), and what exactly."""

    status: str
    source: str
    detail: str
    happened_at: datetime | None = None


async def message_of(tx: Transaction, key: str) -> MessageRow | None:
    """The message of a key, None where there is none. In a writing transaction it is held with its spill, which everybody holds first."""
    query = select(MessageRow).where(col(MessageRow.id) == key)
    found: MessageRow | None = (await tx.session.execute(query)).scalar_one_or_none()
    if found is None or not tx.writes:
        return found
    if found.spill_id is not None:
        spill = select(Spill).where(col(Spill.id) == found.spill_id)
        (await tx.session.execute(tx.held(spill), execution_options={"populate_existing": True})).scalars().all()
    return (await tx.session.execute(tx.held(query), execution_options={"populate_existing": True})).scalar_one_or_none()


async def note(tx: Transaction, message: MessageRow, heard: Heard) -> bool:
    """Keep what was said of a message, and do what follows. Returns False for what was said before, word for word."""
    mine = (
        col(DeliveryReceipt.message_id) == message.id, col(DeliveryReceipt.status) == heard.status,
        col(DeliveryReceipt.source) == heard.source, col(DeliveryReceipt.detail) == heard.detail[:1000],
    )  # fmt: skip
    if await tx.session.scalar(select(func.count()).select_from(DeliveryReceipt).where(*mine)):
        return False
    tx.session.add(DeliveryReceipt(
        message_id=message.id, status=heard.status, source=heard.source, detail=heard.detail[:1000],
        happened_at=heard.happened_at or tx.now, received_at=tx.now,
    ))  # fmt: skip
    if _RANKS.get(heard.status, 0) <= _RANKS.get(message.receipt, 0):
        return True
    together = [message, *await _carried(tx, message)]
    for row in together:
        row.receipt, row.receipt_at = heard.status, tx.now
        if heard.status in (*_ARRIVED, *FAILED):
            row.silent_until = None
    await tx.session.flush()  # what follows asks the table how the other messages of the rung stand
    if message.spill_id is not None:
        await _record(tx, await tx.session.get_one(Spill, message.spill_id), together, heard)
    return True


async def _carried(tx: Transaction, message: MessageRow) -> list[MessageRow]:
    """The messages that went out as part of this one."""
    query = select(MessageRow).where(col(MessageRow.carried_by) == message.id, col(MessageRow.id) != message.id)
    return list((await tx.session.execute(query.order_by(col(MessageRow.id)))).scalars())


async def _record(tx: Transaction, spill: Spill, together: Sequence[MessageRow], heard: Heard) -> None:
    message = together[0]
    if heard.status in _ARRIVED:
        arrived = MessageArrived(
            message=message.id, obligation=message.obligation_id, person=message.person, channel=message.channel, step=message.step,
            status=heard.status,
        )  # fmt: skip
        await tx.record(spill, arrived)
    elif heard.status in FAILED:
        for row in together:  # each is about a duty of its own, and may have been the last hope of its rung
            await tx.record(spill, _failed(row, heard.detail))


def _failed(message: MessageRow, reason: str, *, silent: bool = False) -> MessageFailed:
    return MessageFailed(
        message=message.id, obligation=message.obligation_id, person=message.person, channel=message.channel, step=message.step,
        reason=reason[:500], silent=silent,
    )  # fmt: skip


def heard_from_twilio(form: Mapping[str, str]) -> Heard | None:
    """What a status callback of Twilio says, about a message or a call; None where it says nothing that is known here."""
    code, sid = form.get("ErrorCode", ""), form.get("MessageSid") or form.get("CallSid", "")
    word = form.get("MessageStatus") or form.get("SmsStatus") or form.get("CallStatus", "")
    answered_by = form.get("AnsweredBy", "")
    status = (_MESSAGE_WORDS if form.get("MessageSid") or form.get("SmsSid") else _CALL_WORDS).get(word, "")
    if answered_by == "human":
        status = "delivered"
    elif answered_by.startswith(("machine", "fax")):
        status = "undelivered"  # a voice mail box is nobody
    elif answered_by and not status:
        status = "sent"
    said = [word, f"answered by {answered_by}" if answered_by else "", f"Twilio error {code}" if code.isdigit() and code != "0" else ""]
    detail = ", ".join(part for part in said if part)
    return Heard(status, "twilio", f"{detail} ({sid})"[:300]) if status else None


async def note_from_twilio(tx: Transaction, message: MessageRow, form: Mapping[str, str]) -> None:
    """Take in a status callback of Twilio."""
    heard = heard_from_twilio(form)
    if heard is None:
        return
    sid = form.get("MessageSid") or form.get("SmsSid") or form.get("CallSid", "")
    if not await _is_of(tx, message, sid):
        log.warning("a status of %s is not taken for message %s: no try of it has that id", sid[:64], message.id)
        return
    if heard.status in FAILED:  # before what follows, which must not choose a dead address
        await suppress_by_code(tx, message, form.get("ErrorCode", ""))
    await note(tx, message, heard)


async def _is_of(tx: Transaction, message: MessageRow, sid: str) -> bool:
    """Whether a provider's id is that of a try of this message; one whose answer is not recorded yet, or was lost, may have any."""
    tries = (await tx.session.execute(select(Attempt).where(col(Attempt.message_id) == message.id))).scalars().all()
    return any(one.provider_id == sid or (one.provider_id is None and one.outcome in (None, Outcome.UNKNOWN.value)) for one in tries)


async def silent_messages(tx: Transaction) -> list[str]:
    """The keys of the messages of which a sign is overdue, a batch at a time."""
    query = select(col(MessageRow.id)).where(col(MessageRow.silent_until) <= tx.now).order_by(col(MessageRow.silent_until)).limit(BATCH)
    return list((await tx.session.execute(query)).scalars())


async def give_up_waiting(tx: Transaction, key: str) -> None:
    """Nothing was heard of a message for too long: record it, and what follows. Done once, and not for what was acknowledged or done."""
    message = await message_of(tx, key)
    if message is None or message.silent_until is None or message.silent_until > tx.now:
        return
    message.silent_until = None
    if message.spill_id is None or message.obligation_id is None or message.receipt in (*_ARRIVED, *FAILED):
        return
    spill = await tx.session.get_one(Spill, message.spill_id)
    for row in (message, *await _carried(tx, message)):
        obligation = await tx.session.get(Obligation, row.obligation_id) if row.obligation_id else None
        if obligation and obligation.state in OPEN_STATES and not await has_seen(tx, spill, obligation, row):
            await tx.record(spill, _failed(row, "no sign that it arrived", silent=True))


async def stop_waiting(tx: Transaction, key: str) -> None:
    """Await no sign of a message any longer, and do nothing about it."""
    if message := await message_of(tx, key):
        message.silent_until = None
