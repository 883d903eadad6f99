"""Bundles: what waits for one address about one spill goes out as one message. One row carries, the others go with it.

A bundle that may have gone out keeps its rows and its key for every further try; only a duty that was closed falls out of it. One that
surely did not go out is made anew at the next try, with whatever waits by then.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from deadlines import PlannedRung, next_rung
from notifiers import Outcome
from service.city_texts import own_texts
from service.events import AcknowledgementExpired, ChannelChanged, ObligationMoved
from service.ladders import PUNCTUAL, Step, planned, steps_of
from service.parties import Person, link_for
from service.tables import Attempt, EventRow, MessageRow, Obligation, Spill
from service.transaction import Transaction
from service.wording import Alert, Words, alerts

# Alerts to one address within so long go out together.
TOGETHER_WITHIN = timedelta(seconds=60)
# What is due so soon never waits for company.
_TOO_SOON_TO_WAIT = timedelta(minutes=10)
_UNDER_WAY = ("waiting", "sending")
_SAID = (ObligationMoved, AcknowledgementExpired, ChannelChanged)
_HAD_HAPPENED = select(EventRow).where(
    col(EventRow.spill_id) == bindparam("spill_id"), col(EventRow.kind).in_([event.kind for event in _SAID]),
    col(EventRow.recorded_at).in_(bindparam("moments", expanding=True)),
)  # fmt: skip
_TO = func.lower(col(MessageRow.address))
_LATELY = select(col(MessageRow.channel), _TO, func.min(col(MessageRow.promised_at))).where(
    col(MessageRow.spill_id) == bindparam("spill_id"), col(MessageRow.promised_at) > bindparam("since"),
    col(MessageRow.promised_at) < bindparam("until"), col(MessageRow.state) != "cancelled", col(MessageRow.obligation_id).is_not(None),
).group_by(col(MessageRow.channel), _TO)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """What an alert says beside the clock itself: the rungs it stands for, since when they are late, whether the due time has moved."""

    step: Step
    late_since: datetime | None
    changed: bool


async def alert_about(tx: Transaction, spill: Spill, obligation: Obligation, told: Told, role: str, language: str, code: str = "") -> Alert:
    """Everything an alert about a duty is worded from, for somebody in this role."""
    law = tx.house.rulebook.law_of(spill.city or "")
    return Alert(
        spill, obligation.clock, law.recipients.get(obligation.clock["recipient"] or ""), law.zone, tx.now, told.step.steps,
        told.late_since, told.changed, link_for(tx.house, spill, role), language, code, await own_texts(tx, spill.city), law.city.title,
        told.step.seen,
    )  # fmt: skip


def carried_elsewhere() -> ColumnElement[bool]:
    """Whether a message goes with another that is still to go out: it is claimed with that one, never by itself."""
    carrier = aliased(MessageRow)
    return exists(select(col(carrier.id)).where(col(carrier.id) == col(MessageRow.carried_by), col(carrier.state).in_(_UNDER_WAY)))


async def went_with(tx: Transaction, row: MessageRow) -> list[MessageRow]:
    """What went out with a message of which it is doubtful whether it did; what was taken back since is among them."""
    if not _may_have_company(row):
        return []
    mine = (col(MessageRow.id) != row.id, col(MessageRow.carried_by) == (row.carried_by or row.id))
    return list((await tx.session.execute(select(MessageRow).where(*mine).with_for_update(skip_locked=True))).scalars())


async def company(tx: Transaction, rows: Sequence[MessageRow]) -> dict[str, list[MessageRow]]:
    """What goes out together with each of these messages of one channel, by their keys; each was not sent yet, or surely not."""
    mine = [row for row in rows if _may_have_company(row)]
    if not mine:
        return {}
    waiting = select(MessageRow).where(
        col(MessageRow.spill_id).in_({row.spill_id for row in mine}), col(MessageRow.channel) == mine[0].channel,
        col(MessageRow.state) == "waiting", func.lower(col(MessageRow.address)).in_({row.address.lower() for row in mine}),
        col(MessageRow.obligation_id).is_not(None), col(MessageRow.subscription_id).is_(None), col(MessageRow.carried_by).is_(None),
        or_(
            col(MessageRow.next_at) <= tx.now, and_(col(MessageRow.tries) == 0, col(MessageRow.next_at) <= tx.now + TOGETHER_WITHIN)
        ),
        or_(col(MessageRow.tries) == 0, ~_perhaps_sent()),
    ).with_for_update(skip_locked=True)  # fmt: skip
    alike: dict[Hashable, list[MessageRow]] = {}
    for row in (await tx.session.execute(waiting)).scalars():
        alike.setdefault(_recipient(row), []).append(row)
    return {row.id: [one for one in alike.get(_recipient(row), []) if one.id != row.id] for row in mine}


def _may_have_company(row: MessageRow) -> bool:
    return row.spill_id is not None and row.obligation_id is not None and row.subscription_id is None


def _recipient(row: MessageRow) -> Hashable:
    """Who is told of what: only messages that are alike in this go together. The discharger has a link of their own."""
    return row.spill_id, row.address.lower(), row.language, row.role == "discharger"


def _perhaps_sent() -> ColumnElement[bool]:
    unknown = or_(col(Attempt.outcome) == Outcome.UNKNOWN.value, col(Attempt.outcome).is_(None), col(Attempt.may_be_double))
    return exists(select(col(Attempt.id)).where(col(Attempt.message_id) == col(MessageRow.id), unknown))


def order_of(row: MessageRow) -> tuple[int, datetime, datetime, int, str]:
    """Where a message stands among others: what can still be done in time before all, the nearest due first."""
    return row.rank, row.sort_at, row.promised_at, row.obligation_id or 0, row.once


def is_stale(row: MessageRow, now: datetime) -> bool:
    """Whether a message waited so long that what it says of the time left no longer holds."""
    return row.obligation_id is not None and now - row.promised_at > PUNCTUAL


async def words_of(tx: Transaction, spill: Spill, rows: Sequence[tuple[MessageRow, Obligation]]) -> Words | None:
    """The words of one message for all of these, as things stand now; None where none is of a ladder. Rungs of one duty are told as one."""
    events = await _said_at(tx, spill, rows)
    about: dict[int, Alert] = {}
    for row, obligation in sorted(rows, key=lambda pair: pair[0].promised_at):
        told = _told(spill, row, obligation, _ladder_of(tx, obligation), events)
        if told is not None:
            code = rows[0][0].code
            about[obligation.id or 0] = await alert_about(tx, spill, obligation, told, row.role, row.language, code)
    return alerts(list(about.values()), rows[0][0].channel) if about else None


def _ladder_of(tx: Transaction, obligation: Obligation) -> list[PlannedRung]:
    """The ladder of an obligation as planned now, worked out once for all whom it is told to."""
    key = ("ladder", obligation.id, obligation.plan_no)
    found: list[PlannedRung] | None = tx.memo.get(key)
    if found is None:
        found = tx.memo[key] = planned(obligation)
    return found


def _told(
    spill: Spill,
    row: MessageRow,
    obligation: Obligation,
    ladder: Sequence[PlannedRung],
    events: Mapping[tuple[str, int, datetime], EventRow],
) -> Told | None:
    """What the message was promised for; None where its rungs are no longer on the ladder."""
    names = steps_of(row.climb)
    rungs = [rung for rung in ladder if rung.step in names]
    if not rungs:
        return None
    expired = events.get((AcknowledgementExpired.kind, obligation.id or 0, row.promised_at))
    seen = None
    if expired is not None and set(expired.payload["steps"]) >= set(names):
        seen = (expired.payload["person"], datetime.fromisoformat(expired.payload["acknowledged_at"]))
    step = Step(rungs, at_once=row.climb.count(":") > 2, seen=seen)
    changed, again = ((event.kind, obligation.id or 0, row.promised_at) in events for event in (ObligationMoved, ChannelChanged))
    return Told(step, None if again else step.late_since(row.promised_at, spill.received_at), changed)


async def _said_at(
    tx: Transaction, spill: Spill, rows: Sequence[tuple[MessageRow, Obligation]]
) -> dict[tuple[str, int, datetime], EventRow]:
    """What had just happened when these were promised, by kind, obligation and moment: their due time moved, an acknowledgement expired."""
    moments = frozenset(row.promised_at for row, _ in rows)
    found: dict[tuple[str, int, datetime], EventRow] | None = tx.memo.get(("said at", spill.id, moments))
    if found is None:
        events = (await tx.ask(_HAD_HAPPENED, spill_id=spill.id, moments=list(moments))).scalars()
        told = {(row.kind, row.opened["obligation"], row.recorded_at): row for row in events if row.opened.get("replanned", True)}
        found = tx.memo[("said at", spill.id, moments)] = told
    return found


async def waits_for_company(tx: Transaction, spill: Spill, obligation: Obligation, person: Person, channel: str) -> datetime | None:
    """Until when a new alert waits, so that it joins what else is promised to this address within a minute; None where it goes at once.

    That is where something was promised to the address less than a minute ago. What is due within ten minutes, overdue, or has its next
    rung within the minute never waits.
    """
    recent = await _promised_lately(tx, spill)
    first = recent.get((channel, person.addresses[channel].lower()))
    if first is None or obligation.due_at is None or obligation.due_at - tx.now < _TOO_SOON_TO_WAIT:
        return None
    until = first + TOGETHER_WITHIN
    following = next_rung(planned(obligation), tx.now)
    return until if following is None or following.at > until else None


async def _promised_lately(tx: Transaction, spill: Spill) -> dict[tuple[str, str], datetime]:
    """When the first alert of the last minute was promised, by channel and address; before this moment, and looked up once."""
    found: dict[tuple[str, str], datetime] | None = tx.memo.get(("promised lately", spill.id))
    if found is None:
        rows = await tx.ask(_LATELY, spill_id=spill.id, since=tx.now - TOGETHER_WITHIN, until=tx.now)
        found = tx.memo[("promised lately", spill.id)] = {(channel, to): at for channel, to, at in rows}
    return found
