"""A machine whose clock is wrong: found by the database's time, and no worker of it sends anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy import text

from service import settings_check, watch, wiring
from service.clock import real_now
from service.clock_check import MOST_OFF, ClockCheck, ClockIsWrong, off_by
from service.settings import Settings
from service.transaction import House, open_engine, reading
from service.worker import Worker, working
from tests.e2e.database_server import a_server
from tests.houses import Household, a_house
from tests.service.channels import Post
from tests.service.small_law import small_law
from tests.service.test_outbox import QUIET, a_promise

HOUR = timedelta(hours=1)


class Wall:
    """The real clock, set wrong by `off`."""

    def __init__(self, off: timedelta = timedelta()) -> None:
        self.off = off

    def __call__(self) -> datetime:
        return real_now() + self.off


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_server() as url:
        yield url


@asynccontextmanager
async def a_machine(folder: Path, url: str, wall: Wall) -> AsyncIterator[tuple[House, Post, Worker]]:
    """One of several on a database, with one channel."""
    house = replace(a_house(folder, wall, QUIET, database_url=url), watches_clock=True)  # type: ignore[arg-type]
    post = Post("email")
    try:
        await wiring.migrate(house)
        yield house, post, Worker(house, {"email": post}, f"worker {wall.off}")
    finally:
        await house.engine.dispose()


@pytest.mark.parametrize("off", [HOUR, -HOUR, MOST_OFF + timedelta(seconds=2)], ids=["fast", "slow", "a little fast"])
async def test_a_worker_with_a_wrong_clock_sends_nothing_stops_and_leaves_word(
    server: str, tmp_path: Path, off: timedelta, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_machine(tmp_path, server, Wall()) as (right, _, _), a_machine(tmp_path, server, Wall(off)) as (_, post, worker):
        await a_promise(Household(right, Wall(), {}, worker))  # type: ignore[arg-type]
        with pytest.raises(ClockIsWrong, match=r"ahead of|behind"):
            async with asyncio.timeout(20):
                await worker.run()
        assert post.got == []
        assert f"worker {worker.name} stops: this machine's clock is" in caplog.text
        said = f"{abs(off.total_seconds()):.0f} s {'ahead of' if off > timedelta() else 'behind'} the database's"
        assert said in caplog.text
        lines = await settings_check.examine(right)
        assert [line for line in lines if line.startswith(f"WARN   worker {worker.name} stopped at") and said in line]
        assert [line for line in lines if line.startswith("ok     this machine's clock agrees with the database's")]
        assert (await watch.checks(right))["clock"] == "ok"
        assert said in (await watch.checks(right))["worker"]


async def test_a_clock_that_is_set_wrong_while_the_worker_runs_stops_it_before_the_next_message(server: str, tmp_path: Path) -> None:
    wall = Wall()
    async with a_machine(tmp_path, server, wall) as (house, post, worker):
        home = Household(house, wall, {}, worker)  # type: ignore[arg-type]
        running = asyncio.create_task(worker.run())
        await a_promise(home, 1)
        async with asyncio.timeout(20):
            while len(post.got) < 1:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        wall.off = HOUR
        house.bell.ring()
        with pytest.raises(ClockIsWrong):
            async with asyncio.timeout(20):
                await running
        assert len(post.got) == 1


async def test_the_pages_of_a_machine_with_a_wrong_clock_are_not_ready(server: str, tmp_path: Path) -> None:
    async with a_machine(tmp_path, server, Wall(-HOUR)) as (house, _, worker):
        assert (await watch.checks(house))["clock"] == "wrong, 3600 s behind the database's"
        client = Household(house, Wall(), {}, worker).client()  # type: ignore[arg-type]
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["checks"]["clock"]) == (503, "wrong, 3600 s behind the database's")
        await client.aclose()
        [line] = [line for line in await settings_check.examine(house) if "this machine's clock" in line and "stopped" not in line]
        assert line.startswith("WRONG  this machine's clock is 3600 s behind the database's; no worker runs here")


async def test_the_database_is_asked_once_a_minute_and_whenever_the_clock_was_set(server: str, tmp_path: Path) -> None:
    wall = Wall()
    async with a_machine(tmp_path, server, wall) as (house, _, _):
        asked = []

        @sqlalchemy_event.listens_for(house.engine.sync_engine, "before_cursor_execute")
        def _note(connection: object, cursor: object, statement: str, *rest: object) -> None:
            asked.append("clock_timestamp" in statement)

        check = ClockCheck(house)
        for off, times in ((0, 1), (0, 1), (3, 2), (3, 2), (-3, 3)):
            wall.off = timedelta(seconds=off)
            await check.agree()
            assert asked.count(True) == times


async def test_a_worker_that_starts_again_with_a_right_clock_is_no_longer_spoken_of(server: str, tmp_path: Path) -> None:
    wall = Wall(HOUR)
    async with a_machine(tmp_path, server, wall) as (house, _, worker):
        with pytest.raises(ClockIsWrong):
            await worker.run()
        wall.off = timedelta()
        async with reading(house) as tx:
            assert worker.name in [one.worker for one in await watch.stopped_by_clock(tx)]
        async with working(worker), asyncio.timeout(20):
            while (await watch.checks(house))["worker"] != "ok":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        async with reading(house) as tx:
            assert worker.name not in [one.worker for one in await watch.stopped_by_clock(tx)]


async def test_an_embedded_database_has_no_other_clock_to_agree_with(tmp_path: Path) -> None:
    house = a_house(tmp_path, Wall(HOUR), small_law(), database_url="")  # type: ignore[arg-type]
    await wiring.migrate(house)
    async with reading(house) as tx:
        assert await off_by(tx) == timedelta()
    assert "clock" not in await watch.checks(house)
    assert not wiring.build_house(house.settings).watches_clock
    await house.engine.dispose()


async def test_a_house_on_postgresql_watches_its_clock_unless_it_has_a_time_of_its_own(server: str, tmp_path: Path) -> None:
    settings = Settings(home_dir=tmp_path, database_url=server)
    assert wiring.build_house(settings).watches_clock
    assert not wiring.build_house(settings, Wall(HOUR)).watches_clock
    engine = open_engine(settings)
    async with engine.connect() as connection:
        assert abs(real_now() - await connection.scalar(text("SELECT clock_timestamp()"))) < MOST_OFF
    await engine.dispose()
