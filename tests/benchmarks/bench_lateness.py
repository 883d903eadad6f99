"""How late messages go out: `.venv/bin/python -m tests.benchmarks.bench_lateness [PENDING ...]` (default 0 100000 1000000).

With so many messages that wait for a moment far off, 500 fall due over ten seconds; each is late by the time from its moment to the call of
its channel, which does nothing. Prints the 50th and 99th percentile, and by how much the memory of the worker grew. A measure to compare
by; no test.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median, quantiles

from sqlalchemy import insert, text

from notifiers import Message, Receipt
from service import wiring
from service.clock import real_now
from service.columns import table
from service.tables import MessageRow
from service.worker import Worker, working
from tests.benchmarks.real_home import Nowhere, a_home
from tests.e2e.database_server import a_server
from tests.houses import Household

DUE, OVER_SECONDS, LEAD_SECONDS = 500, 10.0, 3.0
AT_A_TIME = 50_000
_COLUMNS = (
    "id", "once", "climb", "person", "role", "channel", "address", "subject", "text", "html", "step", "reason", "rank", "sort_at", "state",
    "queued", "promised_at", "next_at", "give_up_at", "tries", "language", "code", "receipt",
)  # fmt: skip


class _Late(Nowhere):
    """Notes how late each message is."""

    def __init__(self) -> None:
        super().__init__("email")
        self.due: dict[str, datetime] = {}
        self.late: list[float] = []

    async def send(self, message: Message) -> Receipt:
        """Accepted at once."""
        if message.key in self.due:
            self.late.append((real_now() - self.due[message.key]).total_seconds())
        return await super().send(message)


def _row(number: int, at: datetime) -> dict[str, object]:
    now = real_now()
    values = (
        f"{number:032x}", f"late {number}", f"late {number}", "somebody", "duty_officer", "email", f"person{number}@city.example", "Alert",
        "A spill was reported.", "", "late", "a benchmark", 1, now, "waiting", False, now, at, at + timedelta(hours=24), 0, "en", "", "",
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


async def _pend(home: Household, many: int) -> None:
    """Have so many messages wait for tomorrow and later."""
    tomorrow = real_now() + timedelta(days=1)
    for start in range(0, many, AT_A_TIME):
        numbers = range(start, min(start + AT_A_TIME, many))
        rows = [_row(1_000_000_000 + number, tomorrow + timedelta(seconds=number)) for number in numbers]
        async with home.house.engine.begin() as connection:
            await connection.execute(insert(table(MessageRow)), rows)
    async with home.house.engine.begin() as connection:
        await connection.execute(text("ANALYZE"))


def _resident() -> float:
    """The memory of this process, in MB."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


async def _measure(home: Household) -> tuple[float, float, float]:
    channel = _Late()
    begins = real_now() + timedelta(seconds=LEAD_SECONDS)
    moments = [begins + timedelta(seconds=OVER_SECONDS * number / DUE) for number in range(DUE)]
    rows = [_row(number, at) for number, at in enumerate(moments)]
    channel.due = {str(row["id"]): at for row, at in zip(rows, moments, strict=True)}
    async with home.house.engine.begin() as connection:
        await connection.execute(insert(table(MessageRow)), rows)
    before = _resident()
    async with working(Worker(home.house, {"email": channel}, "benchmark")):
        while len(channel.late) < DUE:  # noqa: ASYNC110 - the worker tells nobody
            await asyncio.sleep(0.2)
    return median(channel.late), quantiles(channel.late, n=100)[98], _resident() - before


@asynccontextmanager
async def _fresh(url: str) -> AsyncIterator[Household]:
    with tempfile.TemporaryDirectory() as name:
        home = a_home(Path(name), url)
        try:
            await wiring.migrate(home.house)
            yield home
        finally:
            await home.close()


async def _compare(database: str, urls: list[str], pending: list[int], most: float) -> None:
    first: float | None = None
    for many, url in zip(pending, urls, strict=True):
        async with _fresh(url) as home:
            await _pend(home, many)
            p50, p99, grown = await _measure(home)
        first = p99 if first is None else first
        sys.stdout.write(
            f"lateness on {database}, {many:,} pending: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms (must {most:.0f}),"
            f" {p99 / first:.2f} times that of {pending[0]:,} (must 2); worker {grown:+.0f} MB (must 20)\n"
        )


async def main() -> None:
    """Measure and print."""
    pending = [int(one) for one in sys.argv[1:]] or [0, 100_000, 1_000_000]
    await _compare("SQLite", [""] * len(pending), pending, 20)
    with a_server(durable=True) as server:
        import psycopg

        with psycopg.connect(server, autocommit=True) as connection:
            for number in range(len(pending)):
                connection.execute(f"CREATE DATABASE late_{number}")
        place = server.rpartition("/")[0]
        await _compare("PostgreSQL", [f"{place}/late_{number}" for number in range(len(pending))], pending, 40)


if __name__ == "__main__":
    asyncio.run(main())
