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

from notifiers import Channel
from service import escalation, intake, obligations, outbox
from service.tables import Heartbeat, Spill
from service.transaction import House, reading, transaction

log = logging.getLogger(__name__)

SAFETY_SECONDS = 30
# A worker that has not finished a round for so long is late: the page for operators turns red.
LATE_AFTER = timedelta(seconds=90)
_PAUSE_AFTER_FAULT_SECONDS = 1.0


class Worker:
    """One worker of a process. Any number may run on one PostgreSQL database; an embedded database has one."""

    def __init__(self, house: House, channels: Mapping[str, Channel], name: str | None = None) -> None:
        self.house = house
        self.channels = channels
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"

    async def round(self) -> datetime | None:
        """Do everything that is due now. Returns when something is due next, or None."""
        while await self._assess() or await self._climb() or await outbox.deliver(self.house, self.channels, self.name):
            pass
        async with transaction(self.house, self.name) as tx:
            moments = [await outbox.next_message_at(tx), await escalation.next_climb_at(tx), await obligations.next_assessment_at(tx)]
            following = min((moment for moment in moments if moment), default=None)
            await tx.session.merge(Heartbeat(worker=self.name, at=tx.now, next_wake_at=following))
        return following

    async def _assess(self) -> int:
        async with reading(self.house) as tx:
            references = [spill.reference for spill in await obligations.due_assessments(tx)]
        for reference in references:
            try:
                async with transaction(self.house, "spillclock") as tx:
                    await intake.assess_again(tx, await tx.spill(reference))
            except (
                Exception
            ) as error:  # one report that cannot be put to the law must not hold up the others; it is flagged and tried again
                log.exception("%s could not be put to the law", reference)
                async with transaction(self.house, "spillclock") as tx:
                    await intake.note_failure(tx, await tx.spill(reference), error)
        return len(references)

    async def _climb(self) -> int:
        async with transaction(self.house, "spillclock") as tx:
            due = await escalation.due_obligations(tx)
            for obligation in due:
                await escalation.climb(tx, await tx.session.get_one(Spill, obligation.spill_id), obligation)
            return len(due)

    async def run(self) -> None:
        """Work until cancelled: woken at the next due time, by a commit of this process, and every 30 seconds for safety."""
        scheduler = AsyncIOScheduler(timezone=UTC)

        async def wake() -> None:
            self.house.woken.set()

        scheduler.add_job(wake, "interval", seconds=SAFETY_SECONDS, id="safety", coalesce=True, max_instances=1, misfire_grace_time=None)
        scheduler.start()
        self.house.woken.set()
        try:
            while True:
                await self.house.woken.wait()
                self.house.woken.clear()  # before the work: a wake-up during it is kept
                following = await self._round_or_pause()
                if following is not None:
                    scheduler.add_job(
                        wake,
                        DateTrigger(following),
                        id="next",
                        replace_existing=True,
                        misfire_grace_time=None,
                        coalesce=True,
                        max_instances=1,
                    )
        finally:
            scheduler.shutdown(wait=False)

    async def _round_or_pause(self) -> datetime | None:
        """A round; where the database fails it, a pause and another try, so that a blip of the database ends nothing."""
        try:
            return await self.round()
        except Exception:
            log.exception("a round of worker %s failed; trying again", self.name)
            await asyncio.sleep(_PAUSE_AFTER_FAULT_SECONDS)
            self.house.woken.set()
            return None


@contextlib.asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[None]:
    """Run a worker beside the block. When the block ends the worker is stopped; what it was sending is marked and sent again later."""
    task = asyncio.create_task(worker.run(), name="worker")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
