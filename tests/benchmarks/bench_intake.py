"""What a report costs: `.venv/bin/python -m tests.benchmarks.bench_intake [REPORTS]` (default 200), on SQLite and on PostgreSQL.

Sixteen senders at once post a report of sewage in Chino to the API, with the worker draining what it promises. In the same run sixteen post
to a bare FastAPI endpoint that commits the same rows, written out, by SQLAlchemy Core. Prints reports a second, the ratio, how long one
took, and the processor time of a report and of the worker's round for it. A measure to compare by; no test.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any

import httpx
from fastapi import FastAPI, Request
from sqlalchemy import Table, insert, select
from sqlmodel import SQLModel

from service import tables, wiring
from service.board_tables import BoardLine, SpillWords
from service.columns import table
from service.parties import example_contacts
from service.worker import working
from tests.benchmarks.real_home import a_home
from tests.e2e.database_server import a_server
from tests.houses import Household, a_household
from tests.spills import a_report

AT_ONCE = 16
BATCH = 20
# What a report becomes, in an order that refers to nothing before it is there.
MODELS: tuple[type[SQLModel], ...] = (
    tables.Spill, tables.Obligation, tables.EventRow, tables.MessageRow, tables.ChainRecord, BoardLine, SpillWords,
)  # fmt: skip
Post = Callable[[], Awaitable[httpx.Response]]
Rows = list[tuple[Table, list[dict[str, Any]]]]


async def _at_once(post: Post, many: int) -> list[float]:
    """So many posts, sixteen at a time: how long each took. Last comes how long all of them took."""
    numbers, took = iter(range(many)), []

    async def send() -> None:
        for _ in numbers:
            start = perf_counter()
            (await post()).raise_for_status()
            took.append(perf_counter() - start)

    begun = perf_counter()
    await asyncio.gather(*(send() for _ in range(AT_ONCE)))
    return [*took, perf_counter() - begun]


async def _ours(home: Household, many: int) -> list[float]:
    client = home.client()

    async def post() -> httpx.Response:
        return await client.post("/api/v1/spills", json=a_report())

    await _at_once(post, AT_ONCE)
    async with working(home.worker):
        return await _at_once(post, many)


async def _rows_of_one(home: Household) -> Rows:
    """Everything that the last report became."""
    async with home.house.engine.connect() as connection:
        last = (await connection.execute(select(table(tables.Spill)).order_by(table(tables.Spill).c.id.desc()).limit(1))).one().id
        mine = select(table(tables.EventRow).c.id).where(table(tables.EventRow).c.spill_id == last)
        found: Rows = []
        for one in map(table, MODELS):
            theirs = (
                one.c.id == last if one.name == "spill" else one.c.event_id.in_(mine) if "event_id" in one.c else one.c.spill_id == last
            )
            found.append((one, [dict(row) for row in (await connection.execute(select(one).where(theirs))).mappings()]))
    return found


def _bare(home: Household, rows: Rows) -> FastAPI:
    """An endpoint that commits the rows of a report, as they were written out."""
    app, numbers = FastAPI(), count(1_000_000)

    @app.post("/spills", status_code=201)
    async def take(request: Request) -> dict[str, str]:
        await request.json()
        number = next(numbers)
        anew = {"spill": {"reference": f"SP-{number}"}, "board_line": {"reference": f"SP-{number}"}}
        async with home.house.engine.begin() as connection:
            for one, written in rows:
                await connection.execute(
                    insert(one), [_again(one.name, row, at, number) | anew.get(one.name, {}) for at, row in enumerate(written)]
                )
        return {"reference": f"SP-{number}"}

    return app


def _again(name: str, row: dict[str, Any], at: int, number: int) -> dict[str, Any]:
    """A row under new numbers."""
    again = {key: number for key in ("spill_id",) if key in row}
    match name:
        case "spill":
            again["id"] = number
        case "event" | "obligation":
            again["id"] = number * 100 + at
        case "message":
            again |= {"id": uuid.uuid4().hex, "once": f"{number} {at}", "obligation_id": None}
        case "chain_record":
            again |= {"event_id": number * 100 + at, "number": number * 100 + at}
    return {**row, **again}


@asynccontextmanager
async def _fresh(url: str) -> AsyncIterator[Household]:
    with tempfile.TemporaryDirectory() as name:
        home = a_home(Path(name), url)
        try:
            await wiring.migrate(home.house)
            await home.people(*example_contacts("chino"))
            yield home
        finally:
            await home.close()


async def _compare(database: str, urls: tuple[str, str], many: int) -> None:
    async with _fresh(urls[0]) as home:
        *ours, our_time = await _ours(home, many)
        rows = await _rows_of_one(home)
    async with _fresh(urls[1]) as home:
        transport = httpx.ASGITransport(app=_bare(home, rows))
        async with httpx.AsyncClient(transport=transport, base_url="http://bare") as client:
            *_, bare_time = await _at_once(lambda: client.post("/spills", json=a_report()), many)
    p50, p99 = median(ours), quantiles(ours, n=100)[98]
    sys.stdout.write(
        f"intake on {database}, {AT_ONCE} at once, {sum(len(written) for _, written in rows)} rows each: {many / our_time:,.0f}/s,"
        f" bare endpoint {many / bare_time:,.0f}/s, ratio {bare_time / our_time:.2f} (must 0.7, goal 1);"
        f" p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, {p99 / p50:.1f} times (must 2)\n"
    )


async def _processor_time(many: int) -> None:
    taking_in: list[float] = []
    worked: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with a_household(Path(folder)) as home:
            for _ in range(2):  # imports, caches
                await home.report(a_report(), staff=False)
            await home.work()
            for _ in range(max(1, many // BATCH)):
                start = process_time()
                for _ in range(BATCH):
                    await home.report(a_report(), staff=False)
                told = process_time()
                await home.work()
                taking_in.append((told - start) / BATCH * 1000)
                worked.append((process_time() - told) / BATCH * 1000)
                home.clock.jump(minutes=5)
    sys.stdout.write(
        f"{many} reports: intake {median(taking_in):.2f} ms (least {min(taking_in):.2f}),"
        f" worker {median(worked):.2f} ms (least {min(worked):.2f}) of processor time each\n"
    )


async def main() -> None:
    """Measure and print."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    await _processor_time(many)
    await _compare("SQLite", ("", ""), many)
    with a_server(durable=True) as server:
        import psycopg

        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE ours")
            connection.execute("CREATE DATABASE bare")
        place = server.rpartition("/")[0]
        await _compare("PostgreSQL", (f"{place}/ours", f"{place}/bare"), many)


if __name__ == "__main__":
    asyncio.run(main())
