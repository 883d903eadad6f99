"""The driver of the embedded database: what it answers, and that nothing long is done on the event loop."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine

from service.settings import Settings
from service.transaction import open_engine

COUNT_FAR = "SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n)"
PUT_MANY = (
    "INSERT INTO paint WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < :last) SELECT i, CAST(i AS TEXT), 1 FROM n"
)
MANY = 3_000_000


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    made = open_engine(Settings(home_dir=tmp_path))
    async with made.begin() as connection:
        await connection.execute(text("CREATE TABLE paint (id INTEGER PRIMARY KEY, colour TEXT UNIQUE, litres REAL)"))
        await connection.execute(text("INSERT INTO paint VALUES (1, 'red', 2.5), (2, 'blue', NULL)"))
    yield made
    await made.dispose()


async def longest_pause(task: asyncio.Task[object]) -> float:
    """Seconds for which the event loop did nothing else, at worst, until the task was done."""
    worst, last = 0.0, monotonic()
    while not task.done():
        await asyncio.sleep(0)
        worst, last = max(worst, monotonic() - last), monotonic()
    await task
    return worst


async def ask(engine: AsyncEngine, statement: str) -> list[tuple[object, ...]]:
    async with engine.connect() as connection:
        return [tuple(row) for row in await connection.execute(text(statement))]


async def test_a_short_question_and_a_long_one_are_answered_alike(engine: AsyncEngine) -> None:
    assert await ask(engine, "SELECT id, colour, litres FROM paint ORDER BY id") == [(1, "red", 2.5), (2, "blue", None)]
    assert await ask(engine, COUNT_FAR.format(10)) == [(10,)]
    assert await ask(engine, COUNT_FAR.format(MANY)) == [(MANY,)]


async def test_a_long_question_does_not_hold_up_the_event_loop(engine: AsyncEngine) -> None:
    began = monotonic()
    pause = await longest_pause(asyncio.create_task(ask(engine, COUNT_FAR.format(MANY))))
    assert pause < (monotonic() - began) / 2


async def test_a_statement_over_a_whole_table_does_not_hold_up_the_event_loop(engine: AsyncEngine) -> None:
    async def put_many() -> None:
        async with engine.begin() as connection:
            await connection.execute(text(PUT_MANY), {"last": MANY // 6})
            await connection.execute(text("UPDATE paint SET litres = litres + 1"))

    began = monotonic()
    pause = await longest_pause(asyncio.create_task(put_many()))
    assert pause < (monotonic() - began) / 2
    assert await ask(engine, "SELECT count(*) FROM paint WHERE litres = 2") == [(MANY // 6 - 9,)]


async def test_how_many_rows_were_changed_and_which_number_was_given_is_told(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        assert (await connection.execute(text("UPDATE paint SET litres = 1 WHERE paint.id = 2"))).rowcount == 1
        assert (await connection.execute(text("UPDATE paint SET litres = 1 WHERE litres > 0"))).rowcount == 2
        put = await connection.execute(text("INSERT INTO paint (colour) VALUES ('green') RETURNING id, colour"))
        assert put.all() == [(3, "green")]
        await connection.execute(text("INSERT INTO paint (colour) VALUES (:colour)"), [{"colour": str(n)} for n in range(2_000)])
        assert (await connection.execute(text("DELETE FROM paint WHERE paint.id = 1"))).rowcount == 1
    assert await ask(engine, "SELECT count(*) FROM paint") == [(2_002,)]


async def test_an_error_is_one_of_sqlalchemys_and_the_transaction_can_go_on_or_be_undone(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        await connection.execute(text("INSERT INTO paint (colour) VALUES ('green')"))
        with pytest.raises(IntegrityError):
            await connection.execute(text("INSERT INTO paint (colour) VALUES ('red')"))
        with pytest.raises(OperationalError):
            await connection.execute(text("SELECT nothing FROM nowhere"))
        assert (await connection.execute(text("SELECT count(*) FROM paint"))).scalar() == 3
        await connection.rollback()
    assert await ask(engine, "SELECT count(*) FROM paint") == [(2,)]


async def test_what_only_reads_sees_one_state_and_holds_nobody_up(engine: AsyncEngine) -> None:
    async with engine.connect() as reader:
        await reader.execution_options(reading=True)
        assert (await reader.execute(text("SELECT count(*) FROM paint"))).scalar() == 2
        async with engine.begin() as writer:
            await writer.execute(text("INSERT INTO paint (colour) VALUES ('green')"))
        assert (await reader.execute(text("SELECT count(*) FROM paint"))).scalar() == 2
    assert await ask(engine, "SELECT count(*) FROM paint") == [(3,)]


async def test_the_event_loop_goes_on_while_a_writer_waits_for_another_process(engine: AsyncEngine, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "spillclock.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def put() -> None:
        async with engine.begin() as connection:
            await connection.execute(text("INSERT INTO paint (colour) VALUES ('green')"))

    waiting = asyncio.create_task(put())
    await asyncio.sleep(0.1)
    assert not waiting.done()
    other.execute("COMMIT")
    other.close()
    await waiting
    assert await ask(engine, "SELECT count(*) FROM paint") == [(3,)]


async def test_a_task_that_is_cancelled_in_the_middle_of_a_long_statement_leaves_everything_usable(engine: AsyncEngine) -> None:
    async def put_then_ask_long() -> None:
        async with engine.begin() as connection:
            await connection.execute(text("INSERT INTO paint (colour) VALUES ('green')"))
            await connection.execute(text(COUNT_FAR.format(MANY)))

    task = asyncio.create_task(put_then_ask_long())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await ask(engine, "SELECT count(*) FROM paint") == [(2,)]
    async with engine.begin() as connection:
        await connection.execute(text("INSERT INTO paint (colour) VALUES ('green')"))
    assert await ask(engine, "SELECT count(*) FROM paint") == [(3,)]
