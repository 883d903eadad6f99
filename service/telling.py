"""What the worker does for subscribers: which steps are due now, and when the next one is. Looking costs no writer anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from service.advisories import is_under_way, send_batch
from service.digests import next_digest_at, promise_due
from service.event_hooks import are_behind, hand_on
from service.news import lacking_due_soon, next_due_soon_at, note_due_soon
from service.public_alerts import forget_unconfirmed, next_forgetting_at
from service.transaction import Transaction

# A worker does what there is without a pause; one that comes to it while another is in the middle looks again so much later.
_ANOTHER_IS_AT_IT = timedelta(seconds=1)
# Does a batch in the given transaction, and returns how much that was: none where nothing is left.
Step = Callable[[Transaction], Awaitable[int]]


async def due(tx: Transaction) -> list[Step]:
    """The steps that have something to do at `tx.now`."""
    steps: list[Step] = [note_due_soon] if await lacking_due_soon(tx) else []
    if (digest := await next_digest_at(tx)) is not None and digest <= tx.now:
        steps.append(promise_due)
    if await is_under_way(tx):
        steps.append(send_batch)
    if await are_behind(tx):
        steps.append(hand_on)
    if (forgetting := await next_forgetting_at(tx)) is not None and forgetting <= tx.now:
        steps.append(forget_unconfirmed)
    return steps


async def next_at(tx: Transaction) -> datetime | None:
    """When the next step is due."""
    moments = [await next_due_soon_at(tx), await next_digest_at(tx), await next_forgetting_at(tx)]
    if await is_under_way(tx) or await are_behind(tx):
        moments.append(tx.now + _ANOTHER_IS_AT_IT)
    return min((moment for moment in moments if moment), default=None)
