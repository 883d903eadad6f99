"""What `spillclock simulate` does: fills an empty database with a believable history, and says what it costs."""

from __future__ import annotations

import argparse
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
from sqlalchemy import inspect, text

from service import access, simulation
from service.app import build_app
from service.errors import BadInput
from service.measures import Stopwatch
from service.programs import open_house
from service.settings import Settings
from service.transaction import House, transaction
from service.wiring import has_provider
from service.worker import Worker

_MB = 1_000_000
_TIMES = {"board": 40, "intake": 40, "tick": 40}
_REPORT = {"description": "Brown water from a manhole", "material": "sewage", "volume": {"quantity": 1500, "unit": "gal"}}


async def simulate(settings: Settings, given: argparse.Namespace) -> AsyncIterator[str]:
    """Fill and measure; a line for each thing. Raises BadInput for a database that is not empty or numbers that make no sense."""
    if not (0 < given.cities <= 10_000 and 0 < given.years <= 50):
        raise BadInput(
            "no such history", ["--cities, --years: right would be: up to 10,000 cities and 50 years, as in --cities 482 --years 5"]
        )
    if has_provider(settings):
        right = "right would be: no SMTP_URL and no Twilio settings, on a machine of its own"
        raise BadInput("messages of a made-up history could leave this machine", [f"a provider is set; {right}"])
    logging.getLogger("httpx").setLevel(logging.WARNING)
    async with open_house(settings) as house:
        watch, many = Stopwatch(), 0
        async for many in simulation.fill(house, given.cities, given.years, given.seed):
            if many % 10_000 == 0:
                yield f"{many} spills, {watch.seconds():.0f} s"
        yield f"{many} spills of {given.cities} cities and {given.years:g} years, in {watch.seconds():.0f} s"
        for line in await cost(house):
            yield line
        for line in await speed(house):
            yield line


async def cost(house: House) -> list[str]:
    """Rows of each table that has any, the largest first, and the disk that all take."""
    async with house.engine.connect() as connection:
        names = await connection.run_sync(lambda plain: inspect(plain).get_table_names())
        names = [name for name in names if not name.startswith("spill_words_")]
        rows = {name: await connection.scalar(text(f'SELECT count(*) FROM "{name}"')) or 0 for name in names}  # noqa: S608 - tables of ours
        sizes: dict[str, int] = {}
        if house.settings.is_embedded:
            total = int(await connection.scalar(text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")) or 0)
        else:
            total = int(await connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)
            for name in names:
                sizes[name] = int(
                    await connection.scalar(text("SELECT pg_total_relation_size(CAST(:name AS regclass))"), {"name": name}) or 0
                )
    spills, every = max(1, rows.get("spill", 0)), sum(rows.values())
    lines = [f"{every} rows, {total / _MB:.0f} MB on the disk: {every / spills:.0f} rows and {total / spills / 1000:.0f} kB a spill"]
    for name in sorted(rows, key=lambda one: -rows[one])[:10]:
        if rows[name]:
            lines.append(f"  {name}: {rows[name]} rows" + (f", {sizes[name] / _MB:.0f} MB with indexes" if name in sizes else ""))
    return lines


async def speed(house: House) -> list[str]:
    """How long the board, taking a report in, and a round of the worker take at this size: half within, and 95 of 100 within."""
    async with transaction(house, "simulation") as tx:
        account = await access.add_account(tx, "simulation@city.example", "administrator", None)
        token = await access.issue(tx, account, "api")
    worker = Worker(house, {}, "simulation")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=build_app(house)), base_url=house.settings.public_url) as client:
        headers = {"Authorization": f"Bearer {token}"}

        async def board() -> Any:
            return await client.get("/api/v1/spills", headers=headers)

        async def take_in() -> Any:
            return await client.post("/api/v1/spills", json=_REPORT, headers=headers)

        acts: dict[str, Callable[[], Awaitable[Any]]] = {"board": board, "tick": worker.round, "intake": take_in}
        return [f"{name}: {await _measured(act, _TIMES[name])}" for name, act in acts.items()]


async def _measured(act: Callable[[], Awaitable[Any]], times: int) -> str:
    await act()
    taken = []
    for _ in range(times):
        watch = Stopwatch()
        answer = await act()
        taken.append(watch.seconds())
        if isinstance(answer, httpx.Response) and answer.is_error:
            raise BadInput("it could not be measured", [answer.text[:300]])
    taken.sort()
    return f"p50 {taken[times // 2] * 1000:.1f} ms, p95 {taken[int(times * 0.95)] * 1000:.1f} ms"
