"""Digests: what is new for a subscription goes out at its pace. The message and the moment of the next one are one transaction."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import delete, func, select, update
from sqlmodel import col

from service.access import Staff, staff_by_account
from service.outbox import PATIENCE
from service.speech import notice_speech
from service.subscriptions import next_of
from service.tables import Account, MessageRow, Spill, Subscription, SubscriptionItem
from service.transaction import Transaction
from service.wording import News, digest, stop_words

log = logging.getLogger(__name__)

# Duties go first (0 and 1), then staff who asked to be told, then the public.
RANK_OF_STAFF, RANK_OF_PUBLIC = 2, 3
BATCH = 50
_TRY_AGAIN = timedelta(minutes=15)
_Found = list[tuple[SubscriptionItem, Spill]]


async def promise_due(tx: Transaction) -> int:
    """Promise the digests that are due, a batch at a time. Returns how many subscriptions were looked at."""
    query = (
        select(Subscription, Account)
        .outerjoin(Account, col(Account.id) == col(Subscription.account_id))
        .where(col(Subscription.next_digest_at) <= tx.now, col(Subscription.ended_at).is_(None))
        .order_by(col(Subscription.next_digest_at), col(Subscription.id))
        .limit(BATCH)
    )
    due = [(row, account) for row, account in await tx.session.execute(query.with_for_update(skip_locked=True, of=Subscription))]
    items = await _items(tx, [row.id or 0 for row, _ in due])
    last = await _last_digests(tx, [row.id or 0 for row, _ in due])
    members = await staff_by_account(tx, [account for _, account in due if account is not None])
    for row, account in due:
        staff = members.get(account.id or 0) if account is not None else None
        if staff is None:
            row.ended_at, row.ended_why, row.next_digest_at = tx.now, "its account is gone", None
            continue
        try:
            async with tx.session.begin_nested():
                await _promise(tx, row, staff, items.get(row.id or 0, []), last.get(row.id or 0, row.created_at))
        except Exception:  # one that cannot be worded must not hold up the others
            log.exception("the digest of subscription %s could not be promised; trying again", row.id)
            row.next_digest_at = tx.now + _TRY_AGAIN
    return len(due)


async def _items(tx: Transaction, numbers: Sequence[int]) -> dict[int, _Found]:
    """What waits to be told to each of these subscriptions, in the order in which it happened."""
    query = (
        select(SubscriptionItem, Spill)
        .join(Spill, col(Spill.id) == col(SubscriptionItem.spill_id))
        .where(col(SubscriptionItem.subscription_id).in_(numbers), col(SubscriptionItem.message_id).is_(None))
        .order_by(col(SubscriptionItem.id))
    )
    found: dict[int, _Found] = {}
    for item, spill in await tx.session.execute(query):
        found.setdefault(item.subscription_id, []).append((item, spill))
    return found


async def _last_digests(tx: Transaction, numbers: Sequence[int]) -> dict[int, datetime]:
    query = (
        select(col(MessageRow.subscription_id), func.max(col(MessageRow.promised_at)))
        .where(col(MessageRow.subscription_id).in_(numbers))
        .group_by(col(MessageRow.subscription_id))
    )
    return {number or 0: at for number, at in await tx.session.execute(query)}


async def _promise(tx: Transaction, row: Subscription, staff: Staff, found: _Found, since: datetime) -> None:
    due_at = row.next_digest_at
    row.next_digest_at = next_of(row, tx.now)
    hidden = [item.id for item, spill in found if not staff.may_see(spill.city)]
    if hidden:  # the account's city changed since: it may no longer be told
        await tx.session.execute(delete(SubscriptionItem).where(col(SubscriptionItem.id).in_(hidden)))
    seen = [(item, spill) for item, spill in found if staff.may_see(spill.city)]
    if not seen and row.pace != "daily":
        return
    speech = notice_speech(row.language)
    rulebook = tx.house.rulebook
    news = [
        News(item.stage, spill, item.said, rulebook.zones[spill.city] if spill.city in rulebook.zones else ZoneInfo(row.zone))
        for item, spill in seen
    ]
    link = f"{tx.house.settings.public_url}/staff"
    if len({spill.id for _, spill in seen}) == 1:
        link += f"/spills/{seen[0][1].reference}"
    begins = None if row.pace == "at_once" else since
    words = digest(news, link, begins, tx.now, ZoneInfo(row.zone), speech, stop_words(row.channel, speech))
    told_by = f"item {seen[-1][0].id}" if row.pace == "at_once" else due_at.isoformat() if due_at else ""
    message = MessageRow(
        id=uuid.uuid4().hex, once=f"digest:{row.id}:{told_by}", subscription_id=row.id, person=staff.email, role="subscriber",
        channel=row.channel, address=row.address, subject=words.subject, text=words.body(row.channel), step="digest",
        html=words.html if row.channel == "email" else "", language=row.language, reason=f"subscription {row.id}, {row.pace}",
        rank=RANK_OF_STAFF, sort_at=tx.now, promised_at=tx.now, queued=True, next_at=tx.now, give_up_at=tx.now + PATIENCE,
    )  # fmt: skip
    tx.session.add(message)
    await tx.session.flush()
    told = update(SubscriptionItem).where(col(SubscriptionItem.id).in_([item.id for item, _ in seen]))
    await tx.session.execute(told.values(message_id=message.id), execution_options={"synchronize_session": False})
    tx.wakes_worker = True


async def next_digest_at(tx: Transaction) -> datetime | None:
    """When the next digest is due."""
    return await tx.session.scalar(select(func.min(col(Subscription.next_digest_at))).where(col(Subscription.ended_at).is_(None)))
