"""The messages about a spill, each with its whole history: promised, every try, every receipt, what was answered and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlmodel import col

from service.events import ChannelChanged, MessageFailed, SpillEvent
from service.pages import words
from service.tables import Attempt, DeliveryReceipt, EventRow, MessageRow, Reply, Spill
from service.transaction import Transaction

_STATES = {
    "waiting": "waiting to go out", "sending": "being sent", "accepted": "handed over", "refused": "refused by the provider",
    "gave_up": "given up", "cancelled": "taken back",
}  # fmt: skip
_RECEIPTS = {
    "queued": "handed over", "sent": "sent on", "delivered": "delivered", "read": "read", "undelivered": "not delivered",
    "bounced": "bounced",
}  # fmt: skip
_OUTCOMES = {
    "accepted": "handed over", "try_again": "not sent, tried again", "refused": "refused", "unknown": "no answer, may have gone out",
}  # fmt: skip
_SOURCES = {"twilio": "Twilio", "dsn": "a mail server", "reply": "an answer", "page": "the page of the message"}
_FAILED_RECEIPTS = ("undelivered", "bounced")


@dataclass(frozen=True)
class Passage:
    """One thing that happened to a message."""

    at: datetime
    says: str
    is_bad: bool = False


@dataclass(frozen=True)
class Delivery:
    """One message to one address, with everything that happened to it."""

    row: MessageRow
    state: str
    failed: bool
    tries: Sequence[tuple[Attempt, str]]
    history: Sequence[Passage]

    @property
    def may_be_double(self) -> bool:
        """Whether a crash may have sent it twice."""
        return any(attempt.may_be_double for attempt, _ in self.tries)

    @property
    def channel(self) -> str:
        """How it goes, in words."""
        return words.CHANNELS.get(self.row.channel, self.row.channel)


async def deliveries_of(tx: Transaction, spill: Spill, events: Sequence[tuple[EventRow, SpillEvent]] = ()) -> list[Delivery]:
    """Every message about a spill, newest first. `events` are those of the spill."""
    rows = (
        await tx.session.execute(
            select(MessageRow).where(col(MessageRow.spill_id) == spill.id).order_by(col(MessageRow.promised_at).desc(), col(MessageRow.id))
        )
    ).scalars().all()  # fmt: skip
    mine = select(col(MessageRow.id)).where(col(MessageRow.spill_id) == spill.id)
    attempts = await tx.session.execute(select(Attempt).where(col(Attempt.message_id).in_(mine)).order_by(col(Attempt.number)))
    tries: dict[str, list[tuple[Attempt, str]]] = {}
    for attempt in attempts.scalars():
        outcome = _OUTCOMES.get(attempt.outcome or "", attempt.outcome or "under way, or cut off")
        tries.setdefault(attempt.message_id, []).append((attempt, outcome))
    after = await _afterwards(tx, spill, events)
    return [_delivery(row, tries, after) for row in rows]


def _delivery(row: MessageRow, tries: Mapping[str, list[tuple[Attempt, str]]], after: Mapping[str, list[Passage]]) -> Delivery:
    # What went out as part of another message has its tries and receipts there.
    whole = row.carried_by if row.carried_by and row.id not in tries else row.id
    mine = tries.get(whole, [])
    history = [Passage(row.promised_at, f"promised: {row.reason}"), *(_try(*one) for one in mine), *after.get(whole, ())]
    if whole != row.id:
        history[1:1] = [Passage(row.promised_at, "goes out together with other duties, as one message"), *after.get(row.id, ())]
    failed = row.state in ("refused", "gave_up") or (row.state == "accepted" and row.receipt in _FAILED_RECEIPTS)
    state = _RECEIPTS.get(row.receipt, "") if row.state == "accepted" else ""
    return Delivery(row, state or _STATES.get(row.state, row.state), failed, mine, sorted(history, key=lambda one: one.at))


def _try(attempt: Attempt, outcome: str) -> Passage:
    detail = f" ({attempt.detail})" if attempt.detail else ""
    double = ", may be a double" if attempt.may_be_double else ""
    return Passage(attempt.started_at, f"try {attempt.number}: {outcome}{detail}{double}", attempt.outcome in ("refused", "unknown"))


async def _afterwards(tx: Transaction, spill: Spill, events: Sequence[tuple[EventRow, SpillEvent]]) -> dict[str, list[Passage]]:
    """What happened to each message after it was handed over: receipts, replies, and the next channel used because of it."""
    found: dict[str, list[Passage]] = {}
    mine = select(col(MessageRow.id)).where(col(MessageRow.spill_id) == spill.id)
    receipts = select(DeliveryReceipt).where(col(DeliveryReceipt.message_id).in_(mine)).order_by(col(DeliveryReceipt.id))
    for receipt in (await tx.session.execute(receipts)).scalars():
        source = _SOURCES.get(receipt.source, receipt.source)
        says = f"{_RECEIPTS.get(receipt.status, receipt.status)}, says {source}{f' ({receipt.detail})' if receipt.detail else ''}"
        found.setdefault(receipt.message_id, []).append(Passage(receipt.received_at, says, receipt.status in _FAILED_RECEIPTS))
    replies = select(Reply).where(col(Reply.message_id).in_(mine)).order_by(col(Reply.id))
    for reply in (await tx.session.execute(replies)).scalars():
        answered = f"; answered: {reply.answer}" if reply.answer else ""
        found.setdefault(reply.message_id or "", []).append(Passage(reply.received_at, f"answer ({reply.meaning}): {reply.text}{answered}"))
    for row, event in events:
        if isinstance(event, MessageFailed) and event.silent:
            found.setdefault(event.message, []).append(Passage(row.recorded_at, "no sign came that it arrived", is_bad=True))
        elif isinstance(event, ChannelChanged):
            says = f"{event.person} is told by {words.CHANNELS.get(event.after, event.after)} instead"
            found.setdefault(event.message, []).append(Passage(row.recorded_at, says))
    return found


def tally(found: Iterable[Delivery]) -> str:
    """How many messages stand how, in one line: 12 handed over, 2 waiting to go out."""
    counted = Counter(delivery.state for delivery in found)
    return ", ".join(f"{number} {state}" for state, number in counted.most_common())
