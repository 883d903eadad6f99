"""How fast the board answers with 100,000 spills: `.venv/bin/python -m tests.benchmarks.bench_board [SPILLS OPEN [FOLDER]]`.

Fills SQLite and a PostgreSQL server of its own (tests/benchmarks/many_spills.py), then asks for the board, filters, searches, one spill,
the map, the wall and the API, one request after another through the whole application, and prints p50 and p95 of each in
milliseconds. With FOLDER the filled SQLite database is kept there and used again. A measure to compare by; no test.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import quantiles
from time import perf_counter

import httpx
from sqlalchemy import func, select
from sqlmodel import col

from service import access
from service.board_tables import BoardLine
from service.transaction import reading, transaction
from tests.benchmarks.many_spills import OFFICERS, RARE_WORDS, STREETS, fill
from tests.e2e.database_server import a_server
from tests.houses import Household, a_household

TIMES, WARM = 60, 5
LIMIT_MS = 300


def asked(dice: random.Random, references: list[str], places: list[str]) -> dict[str, Callable[[], str]]:
    """What is asked for, each time a little differently."""
    street = [name.lower() for name in STREETS]
    return {
        "board": lambda: "/staff",
        "board, further on": lambda: f"/staff?after={dice.choice(places)}",
        "filter: city and state": lambda: f"/staff?city={dice.choice(['chino', 'ontario'])}&state={dice.choice(['overdue', 'open'])}",
        "filter: due, material": lambda: f"/staff?due={dice.choice(['2h', '24h', '7d'])}&material={dice.choice(['sewage', 'paint'])}",
        "filter: in charge": lambda: f"/staff?officer=officer{dice.randrange(OFFICERS)}@chino.example&show=all",
        "filter: closed": lambda: f"/staff?show=closed&material={dice.choice(['pool_water', 'sediment'])}",
        "search: a rare word": lambda: f"/staff?q=w{dice.randrange(RARE_WORDS)}",
        "search: common words": lambda: f"/staff?q={dice.choice(street)}+{dice.choice(['gutter', 'water', 'school'])}",
        "search: a word of every spill": lambda: f"/staff?q={dice.choice(['the', 'gutter', 'wash', 's'])}",
        "search: a number": lambda: f"/staff?q={dice.choice(references)}",
        "search: nothing there": lambda: f"/staff?q=nothing+{dice.choice(street)}",
        "one spill": lambda: f"/staff/spills/{dice.choice(references)}",
        "map": lambda: "/staff/map",
        "wall": lambda: "/staff/wall",
        "numbers: three months": lambda: "/staff/numbers",
        "numbers: one city": lambda: f"/staff/numbers?city={dice.choice(['chino', 'ontario'])}",
        "numbers: a year": lambda: "/staff/numbers?from=2025-12-02",
        "API: list": lambda: f"/api/v1/spills?limit=50&state={dice.choice(['open', 'overdue'])}",
    }


async def measure(home: Household) -> None:
    """Ask and print."""
    async with transaction(home.house, "benchmark") as tx:
        account = await access.find_account(tx, "bench@chino.example") or await access.add_account(
            tx, "bench@chino.example", "manager", None
        )
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
        token = await access.issue(tx, account, "api")
    async with reading(home.house) as tx:
        query = select(col(BoardLine.stands), func.count()).group_by(col(BoardLine.stands))
        counts = {stands: number for stands, number in await tx.session.execute(query)}
        some = select(col(BoardLine.reference), col(BoardLine.sort_at), col(BoardLine.spill_id)).where(col(BoardLine.stands) == "open")
        rows = list(await tx.session.execute(some.limit(2_000)))
    print(f"spills: {counts}; load {os.getloadavg()[0]:.1f}", flush=True)  # noqa: T201 - a benchmark prints
    places = [f"{int(at.timestamp() * 1e6)}.{number}" for _, at, number in rows]
    home.client(token)
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(app=home.app), base_url="https://spills.example.gov", cookies={"spillclock_session": session},
        headers={"accept": "text/html", "authorization": f"Bearer {token}"}, timeout=60,
    )  # fmt: skip
    async with client:
        for name, address in asked(random.Random(7), [reference for reference, *_ in rows], places).items():
            spent = [await _ask(client, address()) for _ in range(WARM + TIMES)][WARM:]
            p95 = quantiles(spent, n=20)[-1]
            said = f"{name:32} p50 {quantiles(spent, n=2)[0]:7.1f} ms   p95 {p95:7.1f} ms"
            print(said + ("   OVER" if p95 > LIMIT_MS else ""), flush=True)  # noqa: T201 - as above


async def _ask(client: httpx.AsyncClient, address: str) -> float:
    begun = perf_counter()
    answer = await client.get(address)
    spent = (perf_counter() - begun) * 1000
    answer.raise_for_status()
    return spent


@contextmanager
def _folder(given: str | None) -> Iterator[Path]:
    if given is not None:
        Path(given).mkdir(parents=True, exist_ok=True)
        yield Path(given)
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


async def run(folder: Path, url: str, many: int, still_open: int) -> None:
    """Fill one database, unless it is filled already, and measure."""
    async with a_household(folder, database_url=url) as home:
        begun = perf_counter()
        async with reading(home.house) as tx:
            is_filled = (await tx.session.scalar(select(func.count()).select_from(BoardLine)) or 0) >= many
        if not is_filled:
            await fill(home, many, still_open)
        spent = perf_counter() - begun
        print(f"\n{'PostgreSQL' if url else 'SQLite'}: {'filled in' if not is_filled else 'was filled;'} {spent:.0f} s")  # noqa: T201 - as above
        await measure(home)


def main() -> None:
    """Measure on both databases."""
    many, still_open = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (100_000, 5_000)
    kept = sys.argv[3] if len(sys.argv) > 3 else None
    only = os.environ.get("ONLY", "")
    with ExitStack() as stack:
        if only != "postgresql":
            asyncio.run(run(stack.enter_context(_folder(kept)), "", many, still_open))
        if only != "sqlite":
            asyncio.run(run(stack.enter_context(_folder(None)), stack.enter_context(a_server()), many, still_open))


if __name__ == "__main__":
    main()
