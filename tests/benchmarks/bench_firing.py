"""How fast what is due at once goes out: `.venv/bin/python -m tests.benchmarks.bench_firing [MESSAGES]` (default 5,000).

Messages about open duties, each to an address of its own, through a channel that does nothing; every try and answer is recorded, and what
is committed outlives a power cut (fsync on). In the same run: on SQLite, APScheduler with its job store; on PostgreSQL, procrastinate, and
two workers against one; on both, a bare table of due rows of which each is committed by itself. procrastinate is installed into a
virtual environment that is thrown away. Prints messages a second and the ratios. A measure to compare by; no test.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import subprocess
import sys
import tempfile
import uuid
import venv
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

from sqlalchemy import func, insert, select
from sqlmodel import col

from service import wiring
from service.obligations import of_spill
from service.tables import Attempt, MessageRow
from service.transaction import reading, transaction
from tests.benchmarks.real_home import a_home
from tests.e2e.database_server import a_server
from tests.houses import Household
from tests.spills import a_report

BATCH = 500
PROCRASTINATE = "procrastinate>=3.10,<4"


async def _fill(home: Household, many: int) -> None:
    """Promise so many messages that are due now, about the duties of one spill."""
    reference = await home.report(a_report())
    async with transaction(home.house, "benchmark") as tx:
        spill = await tx.spill(reference)
        duties = [row for row in await of_spill(tx, spill) if row.due_at is not None]
        rows = []
        for number in range(many):
            duty = duties[number % len(duties)]
            rows.append({
                "rank": 0, "sort_at": duty.due_at, "id": uuid.uuid4().hex, "once": f"firing {number}", "spill_id": spill.id,
                "obligation_id": duty.id, "climb": f"{duty.id}:{duty.plan_no}:start", "person": "somebody", "role": "duty_officer",
                "channel": "email", "address": f"person{number}@city.example", "subject": f"Alert {number}",
                "text": "A spill was reported, and something is due.\n" * 20, "html": "", "step": "start", "reason": "a burst",
                "promised_at": tx.now, "next_at": tx.now, "queued": True, "give_up_at": tx.now + timedelta(hours=24),
                "state": "waiting", "tries": 0, "language": "en", "code": "", "receipt": "",
            })  # fmt: skip
        for start in range(0, many, BATCH):
            await tx.session.execute(insert(MessageRow), rows[start : start + BATCH])


async def _work(folder: Path, url: str) -> None:
    """A worker as a process of its own: ready, then at work from the line that it is given until it is stopped."""
    home = a_home(folder, url)
    await home.messages(state="nothing")  # imports, the first connection
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    await home.worker.run()


async def _settled(home: Household) -> tuple[int, datetime | None]:
    done = select(func.count(), func.max(col(Attempt.ended_at))).where(col(Attempt.outcome) == "accepted")
    done = done.join(MessageRow, col(MessageRow.id) == col(Attempt.message_id)).where(col(MessageRow.reason) == "a burst")
    async with reading(home.house) as tx:
        number, last = (await tx.session.execute(done)).one()
        return number, last


async def _ours(url: str, many: int, workers: int) -> float:
    """Messages a second by so many workers, each a process."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as processes:
        folder = Path(name)
        home = a_home(folder, url)
        await wiring.migrate(home.house)
        await home.people()
        await _fill(home, many)
        line = [sys.executable, "-m", "tests.benchmarks.bench_firing", "work", str(folder), url]
        started = [
            processes.enter_context(subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            for _ in range(workers)
        ]
        for one in started:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        begun = datetime.now(UTC)
        for one in started:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        try:
            last: datetime | None = None
            number = 0
            while number < many:
                await asyncio.sleep(0.5)
                number, last = await _settled(home)
        finally:
            for one in started:
                one.kill()
        await home.close()
        assert last is not None
        return many / (last - begun).total_seconds()


# -- others


def _apscheduler(many: int) -> float:
    with tempfile.TemporaryDirectory() as name:
        return float(_printed([sys.executable, "-m", "tests.benchmarks.bench_firing", "apscheduler", f"{name}/jobs.db", str(many)]))


fired = 0


async def fire() -> None:
    """What APScheduler calls."""
    global fired
    fired += 1


async def _run_apscheduler(path: str, many: int) -> None:
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
    from apscheduler.schedulers.asyncio import AsyncIOScheduler
    from apscheduler.triggers.date import DateTrigger

    from tests.benchmarks import bench_firing

    scheduler = AsyncIOScheduler(timezone=UTC, jobstores={"default": SQLAlchemyJobStore(url=f"sqlite:///{path}")})
    scheduler.start(paused=True)
    now = datetime.now(UTC)
    for number in range(many):
        scheduler.add_job(bench_firing.fire, DateTrigger(now), id=str(number), misfire_grace_time=None)
    start = perf_counter()
    scheduler.resume()
    while bench_firing.fired < many:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.05)
    sys.stdout.write(f"{many / (perf_counter() - start)}\n")
    scheduler.shutdown(wait=False)


def _procrastinate(url: str, many: int) -> float:
    script = Path(__file__).with_name("run_procrastinate.py")
    with tempfile.TemporaryDirectory() as name:
        venv.create(name, with_pip=True)
        python = f"{name}/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", PROCRASTINATE, "psycopg[binary]"], check=True, capture_output=True)
        return float(_printed([python, str(script), url, str(many)]))


def _printed(line: Sequence[str]) -> str:
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip().splitlines()[-1]


_TABLE = "CREATE TABLE due (id INTEGER PRIMARY KEY, at DOUBLE PRECISION, done INTEGER)"


def _bare_on_sqlite(many: int) -> float:
    with tempfile.TemporaryDirectory() as name:
        connection = sqlite3.connect(f"{name}/due.db", isolation_level=None)
        for line in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", _TABLE, "BEGIN"):
            connection.execute(line)
        connection.executemany("INSERT INTO due VALUES (?, 0, 0)", [(number,) for number in range(many)])
        connection.execute("COMMIT")
        start = perf_counter()
        for (number,) in connection.execute("SELECT id FROM due WHERE done = 0 ORDER BY at").fetchall():
            connection.execute("UPDATE due SET done = 1 WHERE id = ?", (number,))
        return many / (perf_counter() - start)


def _bare_on_postgresql(url: str, many: int) -> float:
    import psycopg

    take = "UPDATE due SET done = 1 WHERE id = (SELECT id FROM due WHERE done = 0 ORDER BY at LIMIT 1 FOR UPDATE SKIP LOCKED)"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_TABLE)
        connection.execute("INSERT INTO due SELECT number, 0, 0 FROM generate_series(1, %s) AS number", (many,))
        connection.execute("CREATE INDEX ON due (at) WHERE done = 0")
        start = perf_counter()
        for _ in range(many):
            connection.execute(take)
        spent = perf_counter() - start
        connection.execute("DROP TABLE due")
        return many / spent


def _databases(server: str) -> Iterator[str]:
    import psycopg

    for number in range(10):
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE firing_{number}")  # type: ignore[arg-type]
        yield f"{server.rpartition('/')[0]}/firing_{number}"


async def main() -> None:
    """Measure and print."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    one, others, bare = await _ours("", many, 1), _apscheduler(many), _bare_on_sqlite(many)
    _tell(many, "SQLite", one, "APScheduler's job store", others, bare, "must 0.2, goal 1")
    with a_server(durable=True) as server:
        urls = _databases(server)
        one, two = await _ours(next(urls), many, 1), await _ours(next(urls), many, 2)
        others, bare = _procrastinate(next(urls), many), _bare_on_postgresql(next(urls), many)
    _tell(many, "PostgreSQL", one, "procrastinate", others, bare, "must 1")
    sys.stdout.write(f"two workers against one on PostgreSQL: {two / one:.2f} (must 1.3, goal 1.6)\n")


def _tell(many: int, database: str, ours: float, other: str, theirs: float, bare: float, wanted: str) -> None:
    sys.stdout.write(
        f"firing {many:,} on {database}: {ours:,.0f}/s, {other} {theirs:,.0f}/s, bare due table {bare:,.0f}/s;"
        f" against {other} {ours / theirs:.2f} ({wanted}), against a bare due table {ours / bare:.2f}\n"
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["work", folder, *url]:
            asyncio.run(_work(Path(folder), url[0] if url else ""))
        case ["apscheduler", path, many]:
            asyncio.run(_run_apscheduler(path, int(many)))
        case _:
            asyncio.run(main())
