"""The worker: puts waiting facts to the law, climbs due ladders, sends due messages.

APScheduler only wakes it; due times live in tables.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger
from sqlalchemy import func, select
from sqlmodel import col

from notifiers import Channel
from service import (
    chores,
    escalation,
    intake,
    obligations,
    outbox,
    receipts,
    sending,
    telling,
    wakeups,
    watch,
)
from service.claims import Claim, claim
from service.clock_check import ClockCheck, ClockIsWrong
from service.events import AssessmentFailed
from service.lanes import Faults, Lane
from service.leases import Leases, hand_back
from service.logbook import about
from service.tables import Heartbeat, MessageRow, Obligation, Spill
from service.transaction import House, reading, transaction

log = logging.getLogger(__name__)

SAFETY_SECONDS = 30
# Where other processes write to the database too, their commits ring our bell by wake-ups, which may be lost: look so often.
LOOK_SECONDS = 5
_PAUSE_AFTER_FAULT_SECONDS = 1.0
_LOOK_AT_WHAT_IS_LEFT = timedelta(seconds=1)
# When something is due next, in one question.
_NEXT = select(
    *outbox.NEXT,
    outbox.COMING,
    *(select(func.min(col(moment))).scalar_subquery() for moment in (Obligation.next_at, Spill.assess_at, MessageRow.silent_until)),
)
_TRY_CLIMB_AGAIN = timedelta(minutes=1)
_TRY_TELLING_AGAIN = timedelta(minutes=1)
_HAND_BACK_SECONDS = 3.0
# A step of work that has not ended by then hangs on a line that says nothing any more: it is given up and done anew.
_LONGEST_STEP_SECONDS = 90.0


class Worker:
    """One worker of a process. Any number may run on one PostgreSQL database; an embedded database has one."""

    def __init__(self, house: House, channels: Mapping[str, Channel], name: str | None = None) -> None:
        self.house = house
        self.channels = channels
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._answers = sending.Answers(house, self.name)
        self._leases = Leases(house, self.name)
        self._clock = ClockCheck(house)
        # Until when a step of telling subscribers that failed is left alone.
        self._held: dict[str, datetime] = {}
        self._faults = Faults()
        # When there will be more to do than now.
        self._rings_at: datetime | None = None
        self._last_round: datetime | None = None

    def works_at(self, now: datetime) -> bool:
        """Whether this worker finished a round lately."""
        return self._last_round is not None and now - self._last_round <= watch.LATE_AFTER

    async def round(self) -> datetime | None:
        """Do everything that is due now, sending included. Returns when something is due next, or None."""
        while await self.prepare() or await sending.deliver(self.house, self.channels, self.name):
            pass
        return await self._note_round()

    async def prepare(self) -> bool:
        """Do what is due and is not sending. Returns whether there may be more of it. Raises ClockIsWrong."""
        await self._clock.agree()
        for step in (self._assess, self._climb, self._miss, self._tell_subscribers):
            async with asyncio.timeout(_LONGEST_STEP_SECONDS):
                if await step():
                    return True
        return False

    async def _note_round(self) -> datetime | None:
        async with transaction(self.house, self.name) as tx:
            found: list[datetime | None] = list((await tx.session.execute(_NEXT, {"now": tx.now})).one())
            if (subscribers := await telling.next_at(tx)) is not None:
                found.append(max([subscribers, *self._held.values()]))
            moments = [moment for moment in found if moment]
            following = min(moments, default=None)
            await tx.session.merge(Heartbeat(worker=self.name, at=tx.now, next_wake_at=following))
            # What is due and was left is for the senders, who come back to it by themselves; it is looked at again soon, and not at once.
            left = [tx.now + _LOOK_AT_WHAT_IS_LEFT] if any(moment <= tx.now for moment in moments) else []
            self._rings_at = min([*left, *(moment for moment in moments if moment > tx.now)], default=None)
        self._last_round = tx.now
        return following

    async def _assess(self) -> int:
        async with reading(self.house) as tx:
            references = [spill.reference for spill in await obligations.due_assessments(tx)]
        for reference in references:
            with about(reference):
                await self._assess_one(reference)
        return len(references)

    async def _assess_one(self, reference: str) -> None:
        try:
            async with transaction(self.house, "spillclock") as tx:
                await intake.assess_again(tx, await tx.spill(reference))
        except Exception as error:  # one report that cannot be put to the law must not hold up the others
            log.exception("%s could not be put to the law", reference)
            async with transaction(self.house, "spillclock") as tx:
                await intake.note_failure(tx, await tx.spill(reference), error)

    async def _miss(self) -> int:
        """Use the next channel for messages of which no sign came."""
        async with reading(self.house) as tx:
            keys = await receipts.silent_messages(tx)
        for key in keys:
            with about():
                await self._miss_one(key)
        return len(keys)

    async def _miss_one(self, key: str) -> None:
        try:
            async with transaction(self.house, "spillclock") as tx:
                await receipts.give_up_waiting(tx, key)
        except Exception:  # one that cannot be followed up must not hold up the others
            log.exception("nothing was heard of message %s, and what should follow could not be done", key)
            async with transaction(self.house, "spillclock") as tx:
                await receipts.stop_waiting(tx, key)

    async def _tell_subscribers(self) -> int:
        """What subscribers are told, a batch at a time, each kind in a transaction of its own: one that fails holds up no other."""
        done = 0
        async with reading(self.house) as tx:
            steps = await telling.due(tx)
        for step in steps:
            if step.__name__ in self._held and self._held[step.__name__] > self.house.now():
                continue
            try:
                async with transaction(self.house, "spillclock") as tx:
                    done += await step(tx)
            except Exception:
                log.exception("subscribers could not be told (%s); trying again in a minute", step.__name__)
                self._held[step.__name__] = self.house.now() + _TRY_TELLING_AGAIN
        return done

    async def _climb(self) -> int:
        with about():
            return await self._climb_at_once()

    async def _climb_at_once(self) -> int:
        try:
            async with transaction(self.house, "spillclock") as tx:
                due = await escalation.due_obligations(tx)
                for obligation in due:
                    await escalation.climb(tx, await tx.session.get_one(Spill, obligation.spill_id), obligation)
                return len(due)
        except Exception:
            log.exception("a batch of ladders could not be climbed; climbing them one by one")
            return await self._climb_one_by_one()

    async def _climb_one_by_one(self) -> int:
        """Climb each due ladder in a transaction of its own, so that one that cannot be climbed holds up no other."""
        async with reading(self.house) as tx:
            ids = [obligation.id for obligation in await escalation.due_obligations(tx)]
        for obligation_id in ids:
            with about():
                await self._climb_one(obligation_id)
        return len(ids)

    async def _climb_one(self, obligation_id: int | None) -> None:
        try:
            async with transaction(self.house, "spillclock") as tx:
                obligation = await tx.session.get_one(Obligation, obligation_id)
                await escalation.climb(tx, await tx.session.get_one(Spill, obligation.spill_id), obligation)
        except Exception as error:  # recorded as an alarm of its spill, and tried again
            log.exception("the ladder of obligation %s could not be climbed", obligation_id)
            async with transaction(self.house, "spillclock") as tx:
                obligation = await tx.session.get_one(Obligation, obligation_id)
                obligation.next_at = tx.now + _TRY_CLIMB_AGAIN
                spill = await tx.session.get_one(Spill, obligation.spill_id)
                await tx.record(spill, AssessmentFailed(problem=f"{obligation.duty}: its ladder could not be climbed: {error}"[:1000]))

    async def run(self) -> None:
        """Work until cancelled: woken at the next due time, by a commit of this process, and every 30 seconds for safety.

        Raises ClockIsWrong once this machine's clock is found to be. However it ends, what was claimed and is not settled is handed back.
        """
        scheduler = AsyncIOScheduler(timezone=UTC)
        scheduler.start()
        wrong: ClockIsWrong | None = None
        try:
            async with asyncio.TaskGroup() as loops:
                loops.create_task(self._keep_leases())
                loops.create_task(self._climb_when_due(scheduler))
                loops.create_task(wakeups.listen(self.house))
                chores.start(self.house, self.name, self._faults.tell, loops)
                for channel in self.channels.values():
                    loops.create_task(self._send_when_due(channel))
        except* ClockIsWrong as found:
            wrong = next(one for one in found.exceptions if isinstance(one, ClockIsWrong))
        finally:
            scheduler.shutdown(wait=False)
            await self._hand_back()
        if wrong is not None:
            await self._note_wrong_clock(wrong)
            raise wrong

    async def _keep_leases(self) -> None:
        while True:
            try:
                await self._leases.keep()
            except Exception:  # a blip of the database: what is not renewed in time ends by itself
                self._faults.tell(f"worker {self.name} failed while renewing leases; trying again")
                await asyncio.sleep(_PAUSE_AFTER_FAULT_SECONDS)

    async def _hand_back(self) -> None:
        try:
            async with asyncio.timeout(_HAND_BACK_SECONDS):
                if unsettled := await hand_back(self.house, self.name):
                    log.warning("%d messages had no answer yet: another worker takes them, marked as possibly double", unsettled)
        except Exception:  # the database is away: they are free when their leases end
            self._faults.tell(f"worker {self.name} could not hand back what it had claimed; its leases end by themselves")

    async def _note_wrong_clock(self, wrong: ClockIsWrong) -> None:
        """Leave word for whoever reads the console of another machine; by the time that is right."""
        log.critical("worker %s stops: %s", self.name, wrong)
        try:
            async with transaction(self.house, self.name) as tx:
                await tx.session.merge(Heartbeat(worker=self.name, at=wrong.right, clock_off_seconds=wrong.seconds))
        except Exception:  # it stops all the same, and the log says why
            log.exception("worker %s could not leave word of its wrong clock in the database", self.name)

    async def _climb_when_due(self, scheduler: AsyncIOScheduler) -> None:
        ear = self.house.bell.listen()

        async def ring() -> None:
            self.house.bell.ring()

        seconds = SAFETY_SECONDS if self.house.settings.is_embedded else LOOK_SECONDS
        scheduler.add_job(ring, "interval", seconds=seconds, id="safety", coalesce=True, max_instances=1, misfire_grace_time=None)
        ear.set()
        while True:
            await ear.wait()
            ear.clear()  # before the work: a ring during it is kept
            try:
                while await self.prepare():
                    pass
                await self._note_round()
            except ClockIsWrong:
                raise
            except Exception:  # a blip of the database ends nothing
                await self._pause(ear, "climbing")
            else:
                if self._rings_at is not None:
                    at = DateTrigger(self._rings_at)
                    scheduler.add_job(ring, at, id="next", replace_existing=True, misfire_grace_time=None, coalesce=True, max_instances=1)

    async def _send_when_due(self, channel: Channel) -> None:
        ear = self.house.bell.listen()
        lane = Lane(self.house, channel, self._answers, self._leases, ear)
        ear.set()
        try:
            while True:
                await ear.wait()
                ear.clear()
                try:
                    while (room := lane.room()) and (claimed := await self._claim(channel, *room)):
                        lane.take(claimed)
                except ClockIsWrong:
                    raise
                except Exception:  # a blip of the database ends nothing
                    await self._pause(ear, f"claiming for {channel.name}")
        finally:
            await lane.close()

    async def _claim(self, channel: Channel, most: int, most_news: int) -> list[Claim]:
        async with asyncio.timeout(_LONGEST_STEP_SECONDS):
            await self._clock.agree()
            return await claim(self.house, self.name, channel.name, most, most_news)

    async def _pause(self, ear: asyncio.Event, doing: str) -> None:
        self._faults.tell(f"worker {self.name} failed while {doing}; trying again")
        await asyncio.sleep(_PAUSE_AFTER_FAULT_SECONDS)
        ear.set()


@contextlib.asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[asyncio.Task[None]]:
    """Run a worker beside the block, which is given its task: one that ends by itself is a fault, raised at the end of the block.

    When the block ends the worker is stopped; what it was sending is marked and sent again later.
    """
    task = asyncio.create_task(worker.run(), name="worker")
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
