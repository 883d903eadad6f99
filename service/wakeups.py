"""Wakes the workers of other processes after a commit that gave them something to do, by LISTEN and NOTIFY of PostgreSQL.

A notice that is lost loses nothing: the worker looks by itself every few seconds, and once whenever the line is restored.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from service.transaction import CHANNEL_OF_WAKEUPS, QUIET_LINE, House

log = logging.getLogger(__name__)

_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 30.0
# How often a quiet line is asked whether it still stands: a router that forgot it says nothing by itself.
_ASK_EVERY_SECONDS = 60.0
_ANSWERS_WITHIN_SECONDS = 10.0


async def listen(house: House) -> None:
    """Ring the bell of this process at every notice of another, until cancelled. Returns at once on an embedded database."""
    if house.settings.is_embedded:
        return
    pause_seconds = _SHORTEST_PAUSE_SECONDS
    while True:
        try:
            async with await _connected(house) as connection:
                await connection.execute(f"LISTEN {CHANNEL_OF_WAKEUPS}")
                pause_seconds = _SHORTEST_PAUSE_SECONDS
                house.bell.ring()  # whatever came while nobody listened
                while True:
                    async for _ in connection.notifies(timeout=_ASK_EVERY_SECONDS):
                        house.bell.ring()
                    async with asyncio.timeout(_ANSWERS_WITHIN_SECONDS):
                        await connection.execute("SELECT 1")
        except Exception as error:  # a database that is away comes back; meanwhile the worker looks by itself
            log.warning("wake-ups are not heard (%s); trying again in %.1f s", type(error).__name__, pause_seconds)
        await asyncio.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)


async def _connected(house: House) -> Any:
    from psycopg import AsyncConnection  # only there with the extra postgres

    url = house.settings.async_database_url.replace("postgresql+psycopg://", "postgresql://", 1)
    return await AsyncConnection.connect(url, autocommit=True, application_name="spillclock wake-ups", connect_timeout=10, **QUIET_LINE)
