"""What one sender may do is counted exactly, by any number of tasks and processes on both databases, without keeping an address."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlmodel import col

from service import turnstile, wiring
from service.errors import BadInput
from service.programs import examine
from service.settings import read_settings
from service.tables import Passage
from service.transaction import House, reading
from service.turnstile import GATES, Limit, is_first_use, network_of, pass_through, sweep, would_need_proof
from tests.e2e.database_server import a_server
from tests.houses import Clock, a_house

SOMEBODY = "203.0.113.7"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    """A house with the limits as they are, on either database."""
    given = {"database_url": request.getfixturevalue("server")} if request.param == "postgresql" else {"database_url": ""}
    made = a_house(tmp_path, Clock(), limit_factor=1, **given)
    try:
        await wiring.migrate(made)
        yield made
        if request.param == "postgresql":
            async with made.engine.begin() as connection:
                await connection.execute(text("TRUNCATE passage"))
    finally:
        await made.engine.dispose()


def clock_of(house: House) -> Clock:
    assert isinstance(house.now, Clock)
    return house.now


async def passages(house: House, gate: str, times: int, sender: str = SOMEBODY) -> list[int]:
    """Pass so often at once. Returns the seconds that each was told to wait, 0 for one that was let through."""
    return [one.retry_after for one in await asyncio.gather(*(pass_through(house, gate, sender) for _ in range(times)))]


async def counted(house: House) -> list[Passage]:
    async with reading(house) as tx:
        return list((await tx.session.execute(select(Passage))).scalars())


# -- counting


async def test_of_many_at_once_exactly_as_many_pass_as_the_limit_says(house: House) -> None:
    waits = await passages(house, "alerts sign-up", 60)
    assert waits.count(0) == 20
    assert all(0 < wait <= 3601 for wait in waits if wait)


PROCESS = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from service import wiring
from service.settings import Settings
from service.turnstile import pass_through

async def main() -> None:
    settings = Settings(home_dir=Path(sys.argv[1]), database_url=sys.argv[2], secret_key="made up for tests, long enough")
    house = wiring.build_house(settings, lambda: datetime(2026, 12, 1, 22, 5, tzinfo=UTC))
    sys.stdin.read()  # all have started before the first one goes on
    passed = 0
    for _ in range(40):
        passed += not (await pass_through(house, "link", "203.0.113.7")).retry_after
    print(passed)
    await house.engine.dispose()

asyncio.run(main())
"""


async def test_several_processes_count_together_and_lose_nothing(house: House) -> None:
    line = [sys.executable, "-c", PROCESS, str(house.settings.home_dir), house.settings.database_url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": ROOT, "text": True}
    started = [subprocess.Popen(line, **pipes) for _ in range(4)]  # type: ignore[call-overload]
    for process in started:
        process.stdin.close()
    said = [int(process.stdout.read()) for process in started]
    assert [process.wait() for process in started] == [0] * 4
    for process in started:
        process.stdout.close()
    assert sum(said) == 60  # of 160
    assert max(row.n for row in await counted(house)) >= 61


async def test_a_limit_ends_with_its_stretch_and_says_when(house: House) -> None:
    assert (await passages(house, "photos", 61)).count(0) == 60
    [wait] = await passages(house, "photos", 1)
    assert wait == 5 * 60 + 1  # it is five past, and the stretch ends at ten past
    clock_of(house).jump(seconds=wait)
    assert await passages(house, "photos", 1) == [0]
    clock_of(house).jump(minutes=20)
    assert (await passages(house, "photos", 60)).count(0) == 60
    assert await passages(house, "photos", 1) != [0]


async def test_the_longer_stretch_counts_over_several_short_ones(house: House) -> None:
    passed = 0
    for _ in range(4):
        passed += (await passages(house, "photos", 60)).count(0)
        clock_of(house).jump(minutes=10)
    assert passed == 150


async def test_another_sender_and_another_gate_are_counted_by_themselves(house: House) -> None:
    await passages(house, "alerts sign-up", 40)
    assert await passages(house, "alerts sign-up", 1, "203.0.113.8") == [0]
    assert await passages(house, "sign-in", 1) == [0]


async def test_a_proof_is_asked_for_above_a_rate_and_nothing_is_refused_for_it(house: House) -> None:
    asked = [(await pass_through(house, turnstile.REPORT, SOMEBODY)).needs_proof for _ in range(9)]
    assert asked == [False] * 6 + [True] * 3
    assert not (await pass_through(house, turnstile.REPORT, "203.0.113.8")).needs_proof


async def test_two_hundred_reports_an_hour_are_taken_and_then_no_more(house: House) -> None:
    waits = await passages(house, turnstile.REPORT, 203)
    assert waits.count(0) == 200
    assert {wait for wait in waits if wait} == {55 * 60 + 1}


async def test_a_crowd_of_senders_is_asked_for_proofs_all_together(house: House) -> None:
    for number in range(120):
        assert not (await pass_through(house, turnstile.REPORT, f"198.51.100.{number}")).needs_proof
    standing = await pass_through(house, turnstile.REPORT, "203.0.113.99")
    assert standing.needs_proof
    assert not standing.retry_after


async def test_whoever_asks_beforehand_is_told_and_not_counted(house: House) -> None:
    for _ in range(3):
        assert not await would_need_proof(house, turnstile.REPORT, SOMEBODY)
    for _ in range(4):
        await pass_through(house, turnstile.REPORT, SOMEBODY)
    before = [(row.key, row.n) for row in await counted(house)]
    assert await would_need_proof(house, turnstile.REPORT, SOMEBODY)
    assert [(row.key, row.n) for row in await counted(house)] == before


async def test_something_good_for_once_is_used_once_by_many_at_once(house: House) -> None:
    until = house.now() + timedelta(hours=1)
    uses = await asyncio.gather(*(is_first_use(house, "proof", "abc", until) for _ in range(20)))
    assert Counter(uses) == {True: 1, False: 19}


async def test_a_flood_costs_the_database_nothing_once_it_is_known(house: House) -> None:
    await passages(house, "alerts sign-up", 25)
    before = max(row.n for row in await counted(house))
    assert all(await passages(house, "alerts sign-up", 50))
    assert max(row.n for row in await counted(house)) == before


async def test_nobody_is_turned_away_where_the_database_cannot_count(house: House, caplog: pytest.LogCaptureFixture) -> None:
    async with house.engine.begin() as connection:
        await connection.execute(text("ALTER TABLE passage RENAME TO elsewhere"))
    try:
        assert await passages(house, turnstile.REPORT, 1) == [0]
        assert "it is let through" in caplog.text
        assert SOMEBODY not in caplog.text
    finally:
        async with house.engine.begin() as connection:
            await connection.execute(text("ALTER TABLE elsewhere RENAME TO passage"))


async def test_what_stretches_that_are_over_left_is_swept_and_nothing_else(house: House) -> None:
    await passages(house, "photos", 3)
    clock_of(house).jump(minutes=30)
    assert await sweep(house) == 1  # that of ten minutes; the hour still runs
    clock_of(house).jump(hours=2)
    await passages(house, "photos", 1, "203.0.113.8")
    assert await sweep(house) == 1
    async with reading(house) as tx:
        assert await tx.session.scalar(select(func.count()).select_from(Passage)) == 2
        assert (await tx.session.scalar(select(func.min(col(Passage.ends_at)))) or tx.now) > tx.now


# -- privacy


async def test_no_address_is_kept_and_the_same_one_looks_different_each_day(house: House) -> None:
    await passages(house, "photos", 1)
    first = {row.key for row in await counted(house)}
    clock_of(house).jump(days=1)
    await passages(house, "photos", 1)
    keys = [row.key for row in await counted(house)]
    assert len(set(keys)) == 4
    assert first < set(keys)
    assert all(len(key) == 64 and SOMEBODY not in key for key in keys)


# -- settings and addresses


async def test_the_factor_raises_every_limit_or_switches_them_off(tmp_path: Path) -> None:
    for factor, passed, rows in ((2, 40, 2), (0, 60, 0)):
        folder = tmp_path / str(factor)
        folder.mkdir()
        house = a_house(folder, Clock(), limit_factor=factor, database_url="")
        try:
            await wiring.migrate(house)
            assert (await passages(house, "alerts sign-up", 60)).count(0) == passed
            assert len(await counted(house)) == rows
            assert await would_need_proof(house, turnstile.REPORT, SOMEBODY) is False
        finally:
            await house.engine.dispose()


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("not-an-address", "unknown"),
        ("203.0.113.7\x00", "unknown"),
        ("٢٠٣.0.113.7", "unknown"),
        ("9" * 5000, "unknown"),
    ],
)
def test_an_address_counts_as_the_network_of_one_household(host: str, network: str) -> None:
    assert network_of(host) == network


def test_every_stretch_divides_a_day_so_that_none_spans_two_dates() -> None:
    limits: list[Limit] = [limit for gate in GATES.values() for limit in gate]
    assert all(timedelta(days=1) % limit.every == timedelta() for limit in limits)
    assert all(limit.free is None or limit.free < limit.most for limit in limits)


# -- what doctor says


async def said_by_doctor(folder: Path, **given: Any) -> str:
    made = a_house(folder, Clock(), **given)
    await wiring.migrate(made)
    await made.engine.dispose()
    return "\n".join(await examine(made.settings, Clock()))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "ok     limits a sender, as told by the proxies: 127.0.0.1,::1"),
        ({"limit_factor": 0}, "WARN   no limits: one sender may send any number of reports; unset SPILLCLOCK_LIMIT_FACTOR"),
        ({"trusted_proxies": ""}, "WARN   all senders count as one, the proxy that speaks https for us"),
        ({"trusted_proxies": "", "base_url": "http://127.0.0.1:8000"}, "ok     limits a sender, as told by the proxies: none"),
    ],
)
async def test_doctor_says_whether_senders_can_be_told_apart(tmp_path: Path, given: dict[str, object], says: str) -> None:
    assert says in await said_by_doctor(tmp_path, database_url="", **{"limit_factor": 1, **given})


@pytest.mark.parametrize("value", ["proxy.example", "10.0.0.0/33", "0.0.0.0/0", "::/0", "127.0.0.1;10.0.0.1", "10.0.0.1/8"])
def test_a_proxy_that_is_no_network_is_named_with_the_cure(value: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        read_settings(home_dir=tmp_path, trusted_proxies=value)
    [fault] = error.value.faults
    assert fault.startswith("SPILLCLOCK_TRUSTED_PROXIES: ")
    assert "right would be: addresses and networks separated by commas, as in 127.0.0.1,10.0.0.0/8, or nothing" in fault


def test_proxies_are_listed_with_any_space_around_them(tmp_path: Path) -> None:
    assert read_settings(home_dir=tmp_path, trusted_proxies=" 10.0.0.5 , 2001:db8::/32,").trusted_proxies == "10.0.0.5,2001:db8::/32"
