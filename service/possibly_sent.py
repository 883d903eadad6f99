"""After a backup was put back: what is due in it may have gone out since it was made, and nobody can know.

It is treated as what a worker claimed and did not answer for: claimed as it would go out now, its try closed as unknown, and sent again
with the mark that it may be a double. Or, where the operator says so, what stood in the backup and was due by a moment is not sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, insert, or_, select, update
from sqlmodel import col

from notifiers import Outcome
from service.bundles import TOGETHER_WITHIN
from service.claims import AT_REST, claim
from service.outbox import PATIENCE
from service.tables import Attempt, MessageRow
from service.transaction import House, Transaction, transaction
from service.worker import Worker

_NAME = "restore"
_AT_ONCE = 500
_AGAIN = "a backup was put back: it may have gone out before"
_LEFT = "a backup was put back, and the operator said that it went out before: it is not sent"
_WAITS, _UNDER_WAY = col(MessageRow.state) == "waiting", col(MessageRow.state) == "sending"


@dataclass(frozen=True, slots=True)
class Found:
    """How many messages may have gone out: those that are sent again, marked, and those that are left unsent."""

    again: int
    left: int


async def settle(house: House, leave_until: datetime | None) -> Found:
    """Let everything that is due by now be sent again as possibly double; without what stood there and was due by `leave_until` (UTC).

    Only while nothing else works on this database. Ladders are climbed and subscribers told as after any time without a worker.
    """
    async with transaction(house, _NAME) as tx:
        began_at, left = tx.now, await _leave(tx, leave_until) if leave_until is not None else 0
        await tx.session.execute(update(MessageRow).where(_UNDER_WAY).values(lease_until=tx.now))  # its worker is gone
    worker = Worker(house, {}, _NAME)
    while await worker.prepare():
        pass
    async with transaction(house, _NAME) as tx:
        soon = and_(col(MessageRow.promised_at) >= began_at, col(MessageRow.next_at) <= tx.now + TOGETHER_WITHIN)
        await tx.session.execute(update(MessageRow).where(_WAITS, soon).values(next_at=tx.now))  # their company is complete
        # The time for trying begins anew: what was due for longer would be given up after this try, which is none.
        due = and_(_WAITS, col(MessageRow.next_at) <= tx.now)
        await tx.session.execute(update(MessageRow).where(or_(due, _UNDER_WAY)).values(give_up_at=tx.now + PATIENCE))
        channels = (await tx.session.execute(select(col(MessageRow.channel)).distinct())).scalars().all()
    again = 0
    for channel in channels:
        while claimed := await claim(house, _NAME, channel, _AT_ONCE):
            again += sum(1 + len(one.carried) for one in claimed)
    async with transaction(house, _NAME) as tx:
        await _close_tries(tx, _AGAIN, col(Attempt.worker) == _NAME)
        await tx.session.execute(update(MessageRow).where(_UNDER_WAY).values(lease_until=tx.now))
    return Found(again, left)


async def _leave(tx: Transaction, until: datetime) -> int:
    """Take back what was due by then, and note with each that it counts as sent. Returns how many that were."""
    due = or_(_UNDER_WAY, and_(_WAITS, col(MessageRow.next_at) <= until))
    rows = (await tx.session.execute(select(col(MessageRow.id), col(MessageRow.tries), col(MessageRow.state)).where(due))).all()
    await _close_tries(tx, _LEFT)
    if untried := [row for row in rows if row.state == "waiting"]:
        tried = [
            {
                "message_id": row.id, "number": row.tries + 1, "worker": _NAME, "started_at": tx.now, "ended_at": tx.now,
                "outcome": Outcome.UNKNOWN.value, "detail": _LEFT, "may_be_double": False,
            }
            for row in untried
        ]  # fmt: skip
        await tx.session.execute(insert(Attempt), tried)
    await tx.session.execute(update(MessageRow).where(due).values(state="cancelled", **AT_REST))
    return len(rows)


async def _close_tries(tx: Transaction, detail: str, *mine: ColumnElement[bool]) -> None:
    ended = update(Attempt).where(col(Attempt.ended_at).is_(None), *mine)
    await tx.session.execute(ended.values(ended_at=tx.now, outcome=Outcome.UNKNOWN.value, detail=detail))
