"""Wake-ups between processes on PostgreSQL: heard at once, lost without harm, and listened for again after the server was away."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from service import wakeups, wiring
from service.settings import Settings
from service.transaction import House, transaction
from tests.e2e.database_server import a_server
from tests.houses import Clock, a_house


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_server() as url:
        yield url


async def heard(ear: asyncio.Event, seconds: float = 5.0) -> float:
    """How long until the bell rang."""
    began = time.perf_counter()
    async with asyncio.timeout(seconds):
        await ear.wait()
    ear.clear()
    return time.perf_counter() - began


async def commit(house: House, *, wakes: bool = True) -> None:
    async with transaction(house, "another process") as tx:
        tx.wakes_worker = wakes


async def undone(house: House) -> None:
    async with transaction(house, "another process") as tx:
        tx.wakes_worker = True
        raise RuntimeError


@pytest.fixture
async def two(server: str, tmp_path: Path) -> AsyncIterator[tuple[House, House]]:
    mine, other = (a_house(tmp_path / name, Clock(), database_url=server) for name in ("mine", "other"))
    await wiring.migrate(mine)
    yield mine, other
    for house in (mine, other):
        await house.engine.dispose()


async def test_a_commit_of_another_process_rings_our_bell_at_once(two: tuple[House, House]) -> None:
    mine, other = two
    ear = mine.bell.listen()
    listening = asyncio.create_task(wakeups.listen(mine))
    await heard(ear)  # once when the line stands
    await commit(other)
    assert await heard(ear) < 1
    await commit(other, wakes=False)
    with pytest.raises(TimeoutError):
        await heard(ear, 0.3)
    listening.cancel()


async def test_a_commit_that_is_undone_rings_nowhere(two: tuple[House, House]) -> None:
    mine, other = two
    ear = mine.bell.listen()
    listening = asyncio.create_task(wakeups.listen(mine))
    await heard(ear)
    with pytest.raises(RuntimeError):
        await undone(other)
    with pytest.raises(TimeoutError):
        await heard(ear, 0.3)
    listening.cancel()


async def test_a_line_that_is_cut_is_made_again_and_rings_for_what_was_missed(
    two: tuple[House, House], server: str, caplog: pytest.LogCaptureFixture
) -> None:
    mine, other = two
    ear = mine.bell.listen()
    listening = asyncio.create_task(wakeups.listen(mine))
    await heard(ear)
    with psycopg.connect(server, autocommit=True) as hand:
        hand.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'spillclock wake-ups'")
    await commit(other)  # while nobody listens
    await heard(ear)
    assert "wake-ups are not heard" in caplog.text
    await commit(other)
    assert await heard(ear) < 1
    listening.cancel()


async def test_an_embedded_database_has_no_line_to_listen_on(tmp_path: Path) -> None:
    house = a_house(tmp_path, Clock(), database_url="")
    await wakeups.listen(house)
    await house.engine.dispose()


def test_a_pool_of_no_connections_is_refused() -> None:
    with pytest.raises(ValueError, match="database_pool"):
        Settings(database_pool=0)


async def test_statements_and_locks_have_a_limit(two: tuple[House, House]) -> None:
    mine, _ = two
    async with mine.engine.connect() as connection:
        limits = [await connection.scalar(text(f"SHOW {name}")) for name in ("statement_timeout", "lock_timeout")]
    assert limits == ["1min", "15s"]
