"""What a worker has under way on one channel: so many at once, the others in turn, alerts never behind news; and faults that repeat."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Iterable
from functools import partial

from notifiers import Channel, Outcome
from service import sending
from service.claims import Claim, is_news
from service.leases import Leases
from service.transaction import House

log = logging.getLogger(__name__)

# How many messages of one channel are handed over at once. A stalled provider holds up its own channel only.
SLOTS = 8
# How many of them may be for subscribers: an alert always finds one free.
SLOTS_FOR_NEWS = 6
# How many are claimed ahead of that at most: one claim for many costs little more than for one. Only while a provider is so quick that
# what is claimed is out within two seconds: whoever's message comes next does not wait for more.
_MOST_CLAIMED = 128
_QUICK_SECONDS = 2.0 * SLOTS / _MOST_CLAIMED
_TOLD_AGAIN_SECONDS = 600.0
_LAST_SENDS_SECONDS = 3.0
# What has waited so long for its turn could not be sent within its lease.
_WAITS_PART_OF_LEASE = 0.2


class Faults:
    """Says in the log what fails again and again: whole the first time and every ten minutes, else nothing. A full disk fails each second,
    and the log may lie on it."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[float, int]] = {}

    def tell(self, what: str) -> None:
        """Note the exception that is being handled."""
        now = asyncio.get_running_loop().time()
        key = f"{what}: {type(sys.exception()).__name__}"
        last, unsaid = self._told.get(key, (-_TOLD_AGAIN_SECONDS, 0))
        if now - last < _TOLD_AGAIN_SECONDS:
            self._told[key] = (last, unsaid + 1)
            return
        log.exception("%s%s", what, f" ({unsaid} times more since this was last told)" if unsaid else "")
        self._told[key] = (now, 0)


class Lane:
    """What one channel has under way: some are handed over at once, the others wait for their turn. `most`: how many may be claimed.

    `ear` is set whenever there is room for more.
    """

    def __init__(self, house: House, channel: Channel, answers: sending.Answers, leases: Leases, ear: asyncio.Event) -> None:
        self._house = house
        self._channel = channel
        self._answers = answers
        self._leases = leases
        self._ear = ear
        self._turns = asyncio.Semaphore(SLOTS)
        self._turns_of_news = asyncio.Semaphore(SLOTS_FOR_NEWS)
        self._alerts: set[asyncio.Task[None]] = set()
        self._news: set[asyncio.Task[None]] = set()
        self.most = SLOTS
        self._is_closed = False

    def room(self) -> tuple[int, int] | None:
        """For how many alerts there is room, and for how many messages to subscribers; None where more than half of it is taken.

        Several at once or none: a claim costs the same for one as for many.
        """
        alerts, news = (self.most - len(taken) if len(taken) <= self.most // 2 else 0 for taken in (self._alerts, self._news))
        return (alerts, news) if alerts else None

    def take(self, claimed: Iterable[Claim]) -> None:
        """Send these, each when its turn comes."""
        for one in claimed:
            taken = self._news if is_news(one.row) else self._alerts
            task = asyncio.create_task(self.send(one))
            taken.add(task)
            task.add_done_callback(partial(self._done, taken))

    def _done(self, taken: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
        taken.discard(task)
        if len(taken) <= self.most // 2:
            self._ear.set()

    async def send(self, claimed: Claim) -> None:
        """Hand over one claimed message when its turn comes, and record the answer."""
        loop = asyncio.get_running_loop()
        claimed_at = loop.time()
        async with self._turns_of_news if is_news(claimed.row) else contextlib.nullcontext(), self._turns:
            began_at = loop.time()
            if self._is_closed or began_at - claimed_at > self._house.settings.lease_seconds * _WAITS_PART_OF_LEASE:
                receipt = sending.HANDED_BACK
            else:
                receipt = await sending.hand_over(self._house, self._channel, claimed, self._leases)
            is_quick = receipt.outcome in (Outcome.ACCEPTED, Outcome.REFUSED) and loop.time() - began_at < _QUICK_SECONDS
            self.most = min(self.most + 1, _MOST_CLAIMED) if is_quick else SLOTS
        await self._answers.record(claimed, receipt)

    async def close(self) -> None:
        """Begin nothing more, and let what is under way finish within a few seconds; what does not is cut off."""
        self._is_closed = True
        if under_way := self._alerts | self._news:
            _, late = await asyncio.wait(under_way, timeout=_LAST_SENDS_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
