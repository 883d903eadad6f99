"""How many texts and calls go out a day. Beyond the cap only what a duty needs is sent; the rest waits, and the operator hears of it."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from sqlalchemy import and_, func, or_, select, update
from sqlmodel import col

from service.tables import Attempt, MessageRow
from service.transaction import House, SentToday, Transaction

log = logging.getLogger(__name__)

CAPPED = ("sms", "voice")
_COUNT_EVERY = timedelta(minutes=1)
# What waits is looked at again so often: a cap that was raised meanwhile then lets it go.
_HOLD_FOR = timedelta(minutes=15)


async def tries_today(tx: Transaction) -> int:
    """How many texts and calls were tried since midnight UTC, refused and failed ones included."""
    return (await _count(tx, SentToday(day=_midnight(tx.now)))).tries


async def hold_what_can_wait(tx: Transaction, channel: str) -> None:
    """Where the cap of the day is reached, put off the channel's due messages that are about no duty. Counts once a minute."""
    cap = tx.house.settings.daily_cap
    if not cap or channel not in CAPPED:
        return
    today = await _up_to_date(tx)
    if today.tries < cap:
        return
    midnight = _midnight(tx.now) + timedelta(days=1)
    if not today.told:
        today.told = True
        log.error(
            "the cap of %d texts and calls a day is reached; until %s only messages about a duty go out (SPILLCLOCK_DAILY_CAP)",
            cap, midnight.isoformat(),
        )  # fmt: skip
    # A report that a person must look at has no duty yet: it may hold the most urgent of all.
    about_no_duty = or_(
        and_(col(MessageRow.obligation_id).is_(None), col(MessageRow.step) != "triage"), col(MessageRow.subscription_id).is_not(None)
    )
    due = (col(MessageRow.state) == "waiting", col(MessageRow.next_at) <= tx.now)
    put_off = update(MessageRow).where(col(MessageRow.channel) == channel, about_no_duty, *due)
    held = put_off.values(next_at=min(midnight, tx.now + _HOLD_FOR), queued=False)
    await tx.session.execute(held, execution_options={"synchronize_session": False})


def note_tries(house: House, channel: str, tries: int) -> None:
    """Count what was just claimed, until it is counted in the table."""
    if channel in CAPPED:
        house.sent_today.tries += tries


async def _up_to_date(tx: Transaction) -> SentToday:
    today = tx.house.sent_today
    midnight = _midnight(tx.now)
    if today.day != midnight:
        today.day, today.tries, today.counted_at, today.told = midnight, 0, None, False
        today.counted = 0
    if today.counted_at is None or not timedelta() <= tx.now - today.counted_at < _COUNT_EVERY:
        await _count(tx, today)
        today.counted_at = tx.now
    return today


async def _count(tx: Transaction, today: SentToday) -> SentToday:
    """Count the tries that came since the last count: a table of years is not read through every minute."""
    newest = await tx.session.scalar(select(func.max(col(Attempt.id)))) or 0
    query = (
        select(func.count())
        .select_from(Attempt)
        .join(MessageRow, col(MessageRow.id) == col(Attempt.message_id))
        .where(col(Attempt.id) > today.last_id, col(Attempt.id) <= newest, col(Attempt.started_at) >= _midnight(tx.now))
        .where(col(MessageRow.channel).in_(CAPPED))
    )
    today.counted += await tx.session.scalar(query) or 0
    today.last_id, today.tries = newest, today.counted
    return today


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
