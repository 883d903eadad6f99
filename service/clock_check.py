"""Whether this machine's clock agrees with the database's: with a wrong one alerts would go out early, late or twice.

On PostgreSQL machines share one database, and its time is what they have in common. An embedded database is on the machine itself.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from sqlalchemy import text

from service.errors import SpillclockError
from service.transaction import House, Transaction, reading

# Less than what a lease leaves between the end of a send and the moment at which another worker takes it for lost.
MOST_OFF = timedelta(seconds=10)
_ASK_EVERY_SECONDS = 60.0
# A clock that is set anew shows itself at once against the time since the start, which no setting touches.
_STEP_SECONDS = 1.0


class ClockIsWrong(SpillclockError):
    """This machine's clock is too far from the database's. `seconds`: by how much, positive where it is fast; `right`: what time it is."""

    def __init__(self, seconds: float, right: datetime) -> None:
        super().__init__(
            f"this machine's clock is {said(seconds)} the database's; alerts would go out at the wrong time."
            " Set it right (NTP: timedatectl, chronyc tracking), then start again"
        )
        self.seconds = seconds
        self.right = right


def said(seconds: float) -> str:
    """How far off a clock is, in words: `3600 s ahead of`."""
    return f"{abs(seconds):.0f} s {'ahead of' if seconds > 0 else 'behind'}"


async def off_by(tx: Transaction) -> timedelta:
    """How far the house's clock is ahead of the database's, to the time that the question takes; none on an embedded database."""
    return (await _compared(tx))[0]


async def _compared(tx: Transaction) -> tuple[timedelta, datetime]:
    if not tx.house.watches_clock:
        return timedelta(), tx.now
    before = tx.house.now()
    right: datetime | None = await tx.session.scalar(text("SELECT clock_timestamp()"))
    after = tx.house.now()
    if right is None or before <= right <= after:
        return timedelta(), before
    return (before - right if right < before else after - right), right


class ClockCheck:
    """Keeps a worker from acting by a wrong clock: asks the database once a minute, and whenever the clock was set meanwhile."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._agreed_at: float | None = None
        self._since_start = 0.0

    async def agree(self) -> None:
        """Return while the clock is right. Raises ClockIsWrong."""
        if not self._house.watches_clock:
            return
        lasted = asyncio.get_running_loop().time()
        since_start = self._house.now().timestamp() - lasted
        is_fresh = self._agreed_at is not None and lasted - self._agreed_at < _ASK_EVERY_SECONDS
        if is_fresh and abs(since_start - self._since_start) < _STEP_SECONDS:
            return
        async with reading(self._house) as tx:
            off, right = await _compared(tx)
        if abs(off) > MOST_OFF:
            raise ClockIsWrong(off.total_seconds(), right)
        self._agreed_at, self._since_start = lasted, since_start
