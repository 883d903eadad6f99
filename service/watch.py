"""Spillclock watches itself: whether all is well, a sign of that to the outside, and providers that take nothing.

The sign (`DEADMAN_URL`) is given only while all is well. Who gets it raises the alarm when it stays away, also where this machine is off.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx
from sqlalchemy import func, select, text
from sqlmodel import col

from notifiers import Outcome
from service.clock_check import MOST_OFF, off_by, said
from service.escalation import next_climb_at
from service.outbox import EVENT_HOOK, waits_since
from service.tables import Attempt, Heartbeat, MessageRow, Meta
from service.transaction import House, Transaction, reading, transaction

log = logging.getLogger(__name__)

# A worker that has not finished a round for so long is late: the page for operators turns red.
LATE_AFTER = timedelta(seconds=90)
# So does an alert that could go out, or a rung that could be climbed, and has not for so long.
ALERTS_LATE_AFTER = timedelta(seconds=60)
# A provider is down where at least so many tries in a row failed, so many of them within so long.
_TRIES, _WITHIN = 3, timedelta(minutes=10)
# A worker that stopped because of its clock is spoken of for so long.
_STOPPED_WITHIN = timedelta(days=1)
# Whoever asks whether we are ready waits no longer for the database.
_ANSWERS_WITHIN_SECONDS = 5.0
_FAILED = (Outcome.TRY_AGAIN.value, Outcome.UNKNOWN.value)
_PING_TIMEOUT_SECONDS = 10.0
_WELL = "all was well"
CHANNEL_NAMES = {"email": "E-mail", "sms": "SMS", "voice": "Calls", "webhook": "Webhooks", "apprise": "Apprise"}


async def checks(house: House) -> dict[str, str]:
    """Whether the database answers, a worker finished a round lately, no alert or rung waits for long, and, where machines share a
    database, this one's clock is right: `ok`, or what is wrong.
    """
    found = {"database": "unreachable", "worker": "unknown", "alerts": "unknown"}
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN_SECONDS), reading(house) as tx:
            await tx.session.execute(text("SELECT 1"))
            found["database"] = "ok"
            last = await last_round(tx)
            late = last is None or tx.now - last > LATE_AFTER
            waiting = min((moment for moment in (await waits_since(tx), await next_climb_at(tx)) if moment), default=tx.now)
            found["alerts"] = f"late, the oldest waits since {waiting.isoformat()}" if tx.now - waiting > ALERTS_LATE_AFTER else "ok"
            found["worker"] = ("never seen" if last is None else f"late, last round {last.isoformat()}") if late else "ok"
            if late:
                found["worker"] = "; ".join([found["worker"], *(one.says for one in await stopped_by_clock(tx))])
            if house.watches_clock:
                off = await off_by(tx)
                found["clock"] = f"wrong, {said(off.total_seconds())} the database's" if abs(off) > MOST_OFF else "ok"
    except Exception as error:  # whatever the database says, the answer is that it is not ready
        found["database"] = f"unreachable: {type(error).__name__}"
    return found


async def provider_checks(house: House) -> dict[str, str]:
    """The providers that take nothing while something waits for them, with since when (UTC) and how many wait; empty while all is well.

    Not among those of `checks`: pages that answer are not to be taken off the network because a mail server is down.
    """
    async with reading(house) as tx:
        down = await providers_down(tx)
    return {f"provider of {one.name}": f"takes nothing since {one.since.isoformat()}; {one.waiting} wait" for one in down}


async def last_round(tx: Transaction) -> datetime | None:
    """When a worker last finished a round."""
    moment: datetime | None = await tx.session.scalar(select(func.max(col(Heartbeat.at))).where(col(Heartbeat.clock_off_seconds).is_(None)))
    return moment


@dataclass(frozen=True, slots=True)
class Stopped:
    """A worker that stopped because its machine's clock was wrong: when (UTC), and how many seconds it was ahead."""

    worker: str
    at: datetime
    seconds: float

    @property
    def says(self) -> str:
        """That it stopped, when and why."""
        return f"worker {self.worker} stopped at {self.at:%Y-%m-%d %H:%M} UTC: its clock was {said(self.seconds)} the database's"


async def stopped_by_clock(tx: Transaction) -> list[Stopped]:
    """The workers that stopped so within a day and were not started again since with a right clock."""
    query = select(Heartbeat).where(col(Heartbeat.clock_off_seconds).is_not(None), col(Heartbeat.at) > tx.now - _STOPPED_WITHIN)
    rows = (await tx.session.execute(query.order_by(col(Heartbeat.at)))).scalars()
    return [Stopped(row.worker, row.at, row.clock_off_seconds or 0.0) for row in rows]


def is_well(found: Mapping[str, str]) -> bool:
    """Whether every check says ok."""
    return all(value == "ok" for value in found.values())


# -- the sign to the outside


async def signal_while_well(house: House, http: httpx.AsyncClient) -> bool:
    """Ping `DEADMAN_URL` if all is well, the database can be written included. Whatever fails disturbs nothing. Returns whether it went."""
    url = house.settings.deadman_url.get_secret_value()
    if not url:
        return False
    found = await checks(house)
    if is_well(found):
        found = await provider_checks(house)
    if not is_well(found):
        log.error("the dead-man signal is not given: %s", "; ".join(f"{name} {says}" for name, says in found.items() if says != "ok"))
        return False
    try:
        async with transaction(house, "spillclock") as tx:
            await tx.session.merge(Meta(key=_WELL, value=tx.now.isoformat()))
    except Exception:  # a full disk, a locked file: the outside is to hear of it by the silence
        log.exception("the dead-man signal is not given: the database cannot be written")
        return False
    try:
        answer = await http.get(url, timeout=_PING_TIMEOUT_SECONDS, follow_redirects=True)
        answer.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        # Not the address: whoever has it could give the signal for us.
        log.warning("the dead-man signal could not be given: %s", type(error).__name__)
        return False
    return True


async def last_well(tx: Transaction) -> datetime | None:
    """When all was well for the last time that a signal was to be given."""
    mark = await tx.session.get(Meta, _WELL)
    return datetime.fromisoformat(mark.value) if mark else None


# -- providers


@dataclass(frozen=True, slots=True)
class Down:
    """A channel whose provider takes nothing: since when, and how many alerts wait for it."""

    channel: str
    since: datetime
    waiting: int

    @property
    def name(self) -> str:
        """What the channel is called."""
        return CHANNEL_NAMES.get(self.channel, self.channel)


async def providers_down(tx: Transaction) -> list[Down]:
    """The channels whose tries have all failed lately while something still waits for them. It ends with the first that succeeds."""
    # Only what waits after a try is looked at, so that it costs nothing while all is well.
    query = (
        select(col(MessageRow.channel), col(Attempt.id), col(Attempt.started_at))
        .join(Attempt, col(Attempt.message_id) == col(MessageRow.id))
        .where(col(MessageRow.state).in_(("waiting", "sending")), col(MessageRow.tries) > 0, col(Attempt.outcome).in_(_FAILED))
        .where(col(MessageRow.channel) != EVENT_HOOK)  # each receiver there is somebody else's, and has an alarm of its own
        .order_by(col(Attempt.id))
    )
    failed: dict[str, list[tuple[int, datetime]]] = {}
    for channel, number, at in await tx.session.execute(query):
        failed.setdefault(channel, []).append((number or 0, at))
    found = []
    for channel, tries in sorted(failed.items()):
        answered = await _last_answer(tx, channel, tries[0][0])
        streak = [at for number, at in tries if number > answered]
        if _is_down(streak):
            found.append(Down(channel, streak[0], await _alerts_waiting(tx, channel)))
    return found


def _is_down(streak: Sequence[datetime]) -> bool:
    return any(streak[at + _TRIES - 1] - streak[at] <= _WITHIN for at in range(len(streak) - _TRIES + 1))


async def _last_answer(tx: Transaction, channel: str, since: int) -> int:
    """The newest try of a channel, after one of this number, that the provider answered by taking or refusing it; 0 where none."""
    query = (
        select(func.max(col(Attempt.id)))
        .join(MessageRow, col(MessageRow.id) == col(Attempt.message_id))
        .where(col(Attempt.id) > since, col(MessageRow.channel) == channel)
        .where(col(Attempt.outcome).in_((Outcome.ACCEPTED.value, Outcome.REFUSED.value)))
    )
    return await tx.session.scalar(query) or 0


async def _alerts_waiting(tx: Transaction, channel: str) -> int:
    waiting = select(func.count()).select_from(MessageRow).where(
        col(MessageRow.state).in_(("waiting", "sending")), col(MessageRow.channel) == channel, col(MessageRow.subscription_id).is_(None)
    )  # fmt: skip
    return await tx.session.scalar(waiting) or 0
