"""What a worker is sending is its own for the length of a lease, and the lease is made longer while the send lasts.

A send whose lease could not be made longer, because the database is away or another worker has taken the message meanwhile, is cut off
before the lease ends: two workers never send one message at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select, update
from sqlmodel import col

from service.claims import Claim
from service.tables import MessageRow
from service.transaction import House, transaction

# A send begins within a fifth of the lease. It may last so much of it, and again as much from every time that the lease is made longer.
_SEND_PART_OF_LEASE = 0.7
_RENEW_PART_OF_LEASE = 0.2
# However slow a provider is: a message that was not taken by then is tried again.
_LONGEST_SEND_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class _Send:
    """A send under way: the messages that go out with it, when it has to end, and when it must have ended at the latest (loop's time)."""

    keys: tuple[str, ...]
    ends: asyncio.Timeout
    last: float


class Leases:
    """The sends of one worker, and the leases of what they send."""

    def __init__(self, house: House, worker: str) -> None:
        self._house = house
        self._worker = worker
        self._sends: set[_Send] = set()

    @property
    def _seconds(self) -> float:
        return self._house.settings.lease_seconds

    @asynccontextmanager
    async def held(self, claimed: Claim) -> AsyncIterator[None]:
        """Hold the leases of what is sent in this block. Raises TimeoutError inside it where they cannot be held."""
        now = asyncio.get_running_loop().time()
        async with asyncio.timeout(self._seconds * _SEND_PART_OF_LEASE) as ends:
            send = _Send((claimed.row.id, *(key for key, _ in claimed.carried)), ends, now + _LONGEST_SEND_SECONDS)
            self._sends.add(send)
            try:
                yield
            finally:
                self._sends.discard(send)

    async def renew(self) -> None:
        """Make the leases of every send under way longer, in one transaction; what another worker has by now is no longer sent."""
        sends = list(self._sends)
        if not sends:
            return
        keys = [key for send in sends for key in send.keys]
        mine = (col(MessageRow.id).in_(keys), col(MessageRow.claimed_by) == self._worker, col(MessageRow.state) == "sending")
        began = asyncio.get_running_loop().time()
        async with transaction(self._house, self._worker) as tx:
            # Held first, in one order: whoever settles or frees some of them at this moment waits, or is waited for.
            held = select(col(MessageRow.id)).where(*mine).order_by(col(MessageRow.id)).with_for_update()
            ours = set((await tx.session.execute(held)).scalars())
            longer = update(MessageRow).where(col(MessageRow.id).in_(ours)).values(lease_until=tx.now + timedelta(seconds=self._seconds))
            await tx.session.execute(longer, execution_options={"synchronize_session": False})
        for send in sends:
            if send in self._sends and not send.ends.expired():
                is_ours = send.keys[0] in ours
                send.ends.reschedule(min(began + self._seconds * _SEND_PART_OF_LEASE, send.last) if is_ours else began)

    async def keep(self) -> None:
        """Renew for as long as this runs. Where the database is away, sends end by themselves before their leases do."""
        while True:
            await asyncio.sleep(self._seconds * _RENEW_PART_OF_LEASE)
            await self.renew()


async def hand_back(house: House, worker: str) -> int:
    """Let go of what a worker that stops had under way and did not settle: another takes it at once. Returns how many messages."""
    async with transaction(house, worker) as tx:
        mine = (col(MessageRow.claimed_by) == worker, col(MessageRow.state) == "sending")
        held = await tx.session.execute(select(col(MessageRow.id)).where(*mine).order_by(col(MessageRow.id)).with_for_update())
        if keys := list(held.scalars()):
            free = update(MessageRow).where(col(MessageRow.id).in_(keys)).values(lease_until=tx.now)
            await tx.session.execute(free, execution_options={"synchronize_session": False})
            tx.wakes_worker = True
        return len(keys)
