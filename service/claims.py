"""Taking messages from the queue: claimed and committed before the network call, each with what goes out with it.

Messages are claimed by the batch, with a fixed number of statements: a burst must drain faster than the mail server takes it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy import Row, bindparam, func, insert, not_, or_, select, union_all, update
from sqlmodel import col

from notifiers import Outcome
from service import account_letters, bundles
from service.columns import table
from service.dead_addresses import suppress_for
from service.events import MessageGaveUp
from service.ladders import OPEN_STATES, climbing
from service.outbox import PATIENCE
from service.sending_cap import hold_what_can_wait, note_tries
from service.suppressions import why_not
from service.tables import Attempt, MessageRow, Obligation, Spill, Subscription
from service.transaction import House, Transaction, transaction
from service.turns import cities_waiting, in_turn

log = logging.getLogger(__name__)

_UNDER_WAY = ("waiting", "sending")
_WENT_OUT = ("sent", "delivered", "read")
_CUT_OFF = "the worker stopped before the answer was recorded"
# Rows that a session holds are not looked through after a statement that changes many: none of them is read again.
_BLINDLY = {"synchronize_session": False}
# What a message that is at its end no longer has.
AT_REST: Mapping[str, Any] = {"queued": False, "next_at": None, "lease_until": None}

_MESSAGE = table(MessageRow)
_CLAIM = (
    update(_MESSAGE)
    .where(_MESSAGE.c.id == bindparam("key"))
    .values(
        state="sending", queued=False, next_at=None, tries=_MESSAGE.c.tries + 1, claimed_by=bindparam("worker"),
        lease_until=bindparam("until"), carried_by=bindparam("by"),
    )
)  # fmt: skip
_TRY = insert(table(Attempt))

# From this rank on messages are for subscribers.
_RANK_OF_NEWS = 2
# In each city what can still be done in time goes first, the nearest due before all; then what is overdue, the earliest promise first.
_IN_ORDER = (
    col(MessageRow.rank), col(MessageRow.sort_at), col(MessageRow.promised_at), col(MessageRow.obligation_id), col(MessageRow.once),
)  # fmt: skip

_PLACE = (col(MessageRow.id), col(MessageRow.city), col(MessageRow.rank))

_Row = TypeVar("_Row", Obligation, Spill, Subscription)


@dataclass(frozen=True, slots=True)
class Claim:
    """A message this worker has claimed, and which try it is; with those that it carries, and which try it is of each.

    `may_be_double`: an earlier try may have gone out.
    """

    row: MessageRow
    reference: str | None
    duty: str | None
    number: int
    may_be_double: bool = False
    carried: tuple[tuple[str, int], ...] = ()


@dataclass
class _Group:
    """What goes out as one message: the first carries the others. `doubtful`: an earlier try may have gone out."""

    rows: list[MessageRow]
    doubtful: bool


async def claim(house: House, worker: str, channel: str, most: int, most_news: int | None = None) -> list[Claim]:
    """Claim up to `most` due messages of a channel, each with what goes out with it; committed before sending.

    Alerts come before what is for subscribers, of which up to `most_news` are claimed (by default as many). Cities take turns, each with
    its most urgent first. A message whose duty is closed by now is cancelled instead; one that was tried for too long is given up.
    """
    async with transaction(house, worker) as tx:
        await tx.alone_with(f"claims {channel}")  # two workers at once might each take half of what belongs together
        await hold_what_can_wait(tx, channel)
        await _free_cut_off(tx, channel)
        await _queue_what_is_due(tx, channel)
        claimed: list[Claim] = []
        # Where none of them is wanted any more, those behind them are looked at: a sender that gets nothing waits for the next ring.
        while not claimed and (rows := await _next_in_turn(tx, channel, most, most if most_news is None else most_news)):
            claimed = await _claim_these(tx, worker, rows)
        note_tries(house, channel, len(claimed))
        return claimed


def is_news(row: MessageRow) -> bool:
    """Whether a message is for subscribers: no alert ever waits for it."""
    return row.rank >= _RANK_OF_NEWS


async def _next_in_turn(tx: Transaction, channel: str, most: int, most_news: int) -> Sequence[MessageRow]:
    """The messages to claim next, held until the end; those that another transaction holds are passed over."""
    queued = (col(MessageRow.queued), col(MessageRow.channel) == channel)
    alerts, news = col(MessageRow.rank) < _RANK_OF_NEWS, col(MessageRow.rank) >= _RANK_OF_NEWS
    kinds = [(kind, many) for kind, many in ((alerts, most), (news, min(most, most_news))) if many > 0]
    wanted = (*queued, not_(bundles.carried_elsewhere()))
    heads = [
        select(*_PLACE).where(*wanted, col(MessageRow.city) == city, kind).order_by(*_IN_ORDER).limit(many)
        for city in (await cities_waiting(tx, MessageRow, *queued) if kinds else ()) for kind, many in kinds
    ]  # fmt: skip
    if not heads:
        return []
    # Each head is a part of one statement: SQLite knows no LATERAL.
    waiting = (await tx.session.execute(union_all(*(select(head.subquery()) for head in heads)))).all()
    chosen = in_turn(waiting, most, lambda row: row.city, lambda row: max(row.rank, _RANK_OF_NEWS - 1))
    allowed = [row.id for row in chosen if row.rank < _RANK_OF_NEWS] + [row.id for row in chosen if row.rank >= _RANK_OF_NEWS][:most_news]
    held = select(MessageRow).where(col(MessageRow.id).in_(allowed)).with_for_update(skip_locked=True)
    rows = {row.id: row for row in (await tx.session.execute(held)).scalars()}
    return [rows[key] for key in allowed if key in rows]


async def _free_cut_off(tx: Transaction, channel: str) -> None:
    """Put back in the queue what a worker claimed and did not settle within its lease; its tries are closed as unknown."""
    lost = select(col(MessageRow.id)).where(
        col(MessageRow.state) == "sending", col(MessageRow.lease_until) <= tx.now, col(MessageRow.channel) == channel
    )
    keys = (await tx.session.execute(lost.with_for_update(skip_locked=True))).scalars().all()
    if not keys:
        return
    tries = update(Attempt).where(col(Attempt.message_id).in_(keys), col(Attempt.ended_at).is_(None))
    closed = tries.values(ended_at=tx.now, outcome=Outcome.UNKNOWN.value, detail=_CUT_OFF)
    await tx.session.execute(closed, execution_options=_BLINDLY)
    freed = update(MessageRow).where(col(MessageRow.id).in_(keys)).values(state="waiting", queued=True, next_at=tx.now, lease_until=None)
    await tx.session.execute(freed, execution_options=_BLINDLY)


async def _queue_what_is_due(tx: Transaction, channel: str) -> None:
    """Put in the queue what waited for its moment: the next try, the end of quiet hours."""
    due = (col(MessageRow.state) == "waiting", not_(col(MessageRow.queued)), col(MessageRow.next_at) <= tx.now)
    queue = update(MessageRow).where(*due, col(MessageRow.channel) == channel).values(queued=True)
    await tx.session.execute(queue, execution_options=_BLINDLY)


async def _claim_these(tx: Transaction, worker: str, rows: Sequence[MessageRow]) -> list[Claim]:
    """Claim messages with what goes out with them, less what is no longer wanted."""
    groups = await _grouped(tx, rows)
    everything = [row for group in groups for row in group.rows]
    obligations = await _known(tx, Obligation, (row.obligation_id for row in everything))
    spills = await _known(tx, Spill, (row.spill_id for row in everything))
    subscriptions = await _known(tx, Subscription, (row.subscription_id for row in everything))
    claims: list[Claim] = []
    for group in groups:
        wanted: list[tuple[MessageRow, Obligation | None]] = []
        for row in group.rows:
            obligation = obligations.get(row.obligation_id or 0)
            subscription = subscriptions.get(row.subscription_id or 0)
            if row.state in _UNDER_WAY and await _still_wanted(tx, row, obligation, subscription):
                wanted.append((row, obligation))
        if wanted:
            claims.append(await _claim_group(tx, group, wanted, spills.get(group.rows[0].spill_id or 0)))
    if claims:
        await _note_claims(tx, worker, claims)
    return claims


async def _note_claims(tx: Transaction, worker: str, claims: Sequence[Claim]) -> None:
    """Mark what is claimed as under way, and begin its tries."""
    lease_until = tx.now + timedelta(seconds=tx.house.settings.lease_seconds)
    under_way = {"worker": worker, "until": lease_until}
    mine = [{"key": one.row.id, "by": None, **under_way} for one in claims]
    mine += [{"key": key, "by": one.row.id, **under_way} for one in claims for key, _ in one.carried]
    await tx.write(_CLAIM, mine)
    tries = [
        {
            "message_id": one.row.id, "number": one.number, "worker": worker, "started_at": tx.now, "may_be_double": one.may_be_double,
            "detail": "",
        }
        for one in claims
    ]  # fmt: skip
    await tx.write(_TRY, tries)


async def _known(tx: Transaction, table: type[_Row], ids: Iterable[int | None]) -> dict[int, _Row]:
    """Rows by their ids, in one question; none where nothing is asked for."""
    wanted = {one for one in ids if one is not None}
    if not wanted:
        return {}
    found = await tx.session.execute(select(table).where(col(table.id).in_(wanted)))
    return {row.id or 0: row for row in found.scalars()}


async def _grouped(tx: Transaction, rows: Sequence[MessageRow]) -> list[_Group]:
    """The messages to claim, each with what goes out with it; what goes with one before it is not a group of its own."""
    doubtful = await _perhaps_out(tx, rows)
    company = await bundles.company(tx, [row for row in rows if row.id not in doubtful])
    seen: set[str] = set()
    groups: list[_Group] = []
    for row in rows:
        if row.id in seen:
            continue
        others = await bundles.went_with(tx, row) if row.id in doubtful else company.get(row.id, [])
        group = _Group([row, *(one for one in others if one.id not in seen)], row.id in doubtful)
        seen.update(one.id for one in group.rows)
        groups.append(group)
    return groups


async def _perhaps_out(tx: Transaction, rows: Sequence[MessageRow]) -> set[str]:
    """Those of which an earlier try may have gone out, by themselves or with what carried them then."""
    # A message that was never tried, by itself or with another, has no tries to look through.
    tried = [row for row in rows if row.tries or row.carried_by]
    if not tried:
        return set()
    keys = {row.id for row in tried} | {row.carried_by for row in tried if row.carried_by}
    unknown = or_(col(Attempt.outcome) == Outcome.UNKNOWN.value, col(Attempt.may_be_double))
    query = select(col(Attempt.message_id)).where(col(Attempt.message_id).in_(keys), unknown)
    found = set((await tx.session.execute(query)).scalars())
    return {row.id for row in tried if row.id in found or row.carried_by in found}


async def _claim_group(tx: Transaction, group: _Group, wanted: list[tuple[MessageRow, Obligation | None]], spill: Spill | None) -> Claim:
    """What is wanted of a group, as it goes out: worded anew where it does not go out as before."""
    if not group.doubtful:
        wanted.sort(key=lambda pair: bundles.order_of(pair[0]))
    # The same words under the same key: it may have gone out.
    as_before = group.doubtful and len(wanted) == len(group.rows) and group.rows[0].carried_by is None
    if not as_before and not await _reword(tx, spill, wanted):
        del wanted[1:]  # the others stay in the queue
    carrier, obligation = wanted[0]
    carried = tuple((row.id, row.tries + 1) for row, _ in wanted[1:])
    reference, duty = spill.reference if spill else None, obligation.duty if obligation else None
    return Claim(carrier, reference, duty, carrier.tries + 1, group.doubtful, carried)


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


async def _still_wanted(tx: Transaction, row: MessageRow, obligation: Obligation | None, subscription: Subscription | None) -> bool:
    """Checked at the moment of sending: the duty is still open and due when it says, and there is still sense in trying."""
    if obligation is not None and (obligation.state not in OPEN_STATES or not row.climb.startswith(climbing(obligation))):
        _leave(row, "cancelled")
        return False
    if subscription is not None and await _was_ended(tx, row, subscription):
        _leave(row, "cancelled")
        return False
    if row.receipt in _WENT_OUT:  # a try whose answer was lost went out all the same
        _leave(row, "accepted")
        return False
    if row.account_id is not None and not await account_letters.is_wanted(tx, row):
        _leave(row, "cancelled")
        return False
    # A letter about an account is asked for by whoever reads that mailbox: it is tried whatever became of others.
    if row.account_id is None and (reason := await why_not(tx, row.channel, row.address)):
        _leave(row, "refused")
        await record_end(tx, row, given_up(row, reason))
        return False
    if tx.now >= row.give_up_at and row.tries:
        _leave(row, "gave_up")
        await record_end(tx, row, given_up(row, f"tried {row.tries} times in {PATIENCE}"))
        return False
    return True


def _leave(row: MessageRow, state: str) -> None:
    row.state = state
    for name, value in AT_REST.items():
        setattr(row, name, value)


async def _was_ended(tx: Transaction, row: MessageRow, mine: Subscription) -> bool:
    """Whether a subscriber wants no more: their subscription ended, and no newer one of the public stands for the same address."""
    if mine.ended_at is None:
        return False
    others = select(func.count()).select_from(Subscription).where(
        col(Subscription.kind) == "public", col(Subscription.channel) == row.channel, col(Subscription.address) == row.address,
        col(Subscription.confirmed_at).is_not(None), col(Subscription.ended_at).is_(None),
    )  # fmt: skip
    return mine.kind != "public" or not await tx.session.scalar(others)


async def record_end(tx: Transaction, row: MessageRow | Row[Any], event: MessageGaveUp) -> None:
    """Record with its spill that a message got nowhere. One for a subscriber is part of no story; a dead address is noted all the same."""
    if row.spill_id is not None:
        await tx.record(await spill_of(tx, row.spill_id), event)
    else:
        await suppress_for(tx, await tx.session.get_one(MessageRow, row.id), event.reason)


async def spill_of(tx: Transaction, spill_id: int) -> Spill:
    """A spill, asked for once in a transaction."""
    known: dict[int, Spill] = tx.memo.setdefault("spills of messages", {})
    if spill_id not in known:
        known[spill_id] = await tx.session.get_one(Spill, spill_id)
    return known[spill_id]


def given_up(row: MessageRow | Row[Any], reason: str) -> MessageGaveUp:
    """That a message got nowhere, and why."""
    return MessageGaveUp(
        message=row.id, obligation=row.obligation_id, person=row.person, channel=row.channel, step=row.step, reason=reason[:500],
        carried_by=row.carried_by or "",
    )  # fmt: skip
