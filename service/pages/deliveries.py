"""The messages about a spill, each with every try at sending it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import col

from service.tables import Attempt, MessageRow, Spill
from service.transaction import Transaction

_STATES = {
    "waiting": "waiting to go out", "sending": "being sent", "accepted": "handed over", "refused": "refused by the provider",
    "gave_up": "given up", "cancelled": "taken back",
}  # fmt: skip
_OUTCOMES = {
    "accepted": "handed over", "try_again": "not sent, tried again", "refused": "refused", "unknown": "no answer, may have gone out",
}  # fmt: skip


@dataclass(frozen=True)
class Delivery:
    """One message to one address, with its tries."""

    row: MessageRow
    state: str
    failed: bool
    tries: Sequence[tuple[Attempt, str]]

    @property
    def may_be_double(self) -> bool:
        """Whether a crash may have sent it twice."""
        return any(attempt.may_be_double for attempt, _ in self.tries)


async def deliveries_of(tx: Transaction, spill: Spill) -> list[Delivery]:
    """Every message about a spill, newest first."""
    rows = (
        await tx.session.execute(
            select(MessageRow).where(col(MessageRow.spill_id) == spill.id).order_by(col(MessageRow.promised_at).desc(), col(MessageRow.id))
        )
    ).scalars().all()  # fmt: skip
    tries: dict[str, list[tuple[Attempt, str]]] = {}
    mine = select(col(MessageRow.id)).where(col(MessageRow.spill_id) == spill.id)
    attempts = await tx.session.execute(select(Attempt).where(col(Attempt.message_id).in_(mine)).order_by(col(Attempt.number)))
    for attempt in attempts.scalars():
        outcome = _OUTCOMES.get(attempt.outcome or "", attempt.outcome or "under way, or cut off")
        tries.setdefault(attempt.message_id, []).append((attempt, outcome))
    return [Delivery(row, _STATES.get(row.state, row.state), row.state in ("refused", "gave_up"), tries.get(row.id, [])) for row in rows]


def tally(found: Sequence[Delivery]) -> str:
    """How many messages stand how, in one line: 12 handed over, 2 waiting to go out."""
    counted = Counter(delivery.state for delivery in found)
    return ", ".join(f"{number} {state}" for state, number in counted.most_common())
