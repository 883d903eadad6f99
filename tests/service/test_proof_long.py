"""What takes long to prove: processes that are killed while they write, and damage to a log of 100,000 events. On both databases."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path
from time import perf_counter

import pytest
from sqlalchemy import text

from service import access
from service.destroying import RETENTION, destroy_sealed
from service.events import MessageAccepted
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.service.both_databases import home as home
from tests.service.both_databases import server as server
from tests.service.damage import DAMAGES, Scene, found_in, triggers_off, walked
from tests.service.lived import PLANTED, live
from tests.service.planted import STAFF, Output, Searched

ROOT = Path(__file__).parents[2]
MANY, AT_A_TIME = 100_000, 500


async def test_processes_that_write_at_once_and_are_killed_leave_whole_chains(home: Household) -> None:
    command = [sys.executable, "-m", "tests.service.appending", home.house.settings.home_dir, home.house.settings.database_url]
    before = {one.chain: one.number for one in (await walked(home)).values()}
    processes = [subprocess.Popen([*command, seed], stdout=subprocess.PIPE, cwd=ROOT) for seed in ("one", "two")]
    try:
        for process, lines in zip(processes, (10, 20), strict=True):
            assert process.stdout is not None
            for _ in range(lines):
                assert await asyncio.to_thread(process.stdout.readline) == b"committed\n"
            process.kill()  # wherever it is just now
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    found = await walked(home)
    assert [str(one.broken) for one in found.values() if one.broken] == []
    # Each commit adds two or three to each chain.
    assert all(one.number >= before.get(one.chain, 0) + 2 * 30 for one in found.values())
    for reference in ("SP-2026-00001", "SP-2026-00002"):
        await home.amend(reference, threat=True)
    assert [str(one.broken) for one in (await walked(home)).values() if one.broken] == []


@pytest.mark.timeout(1200)
async def test_any_damage_to_a_log_of_a_hundred_thousand_events_is_found_and_named(home: Household) -> None:
    for batch in range(MANY // AT_A_TIME):
        async with transaction(home.house, "worker:1") as tx:
            spills = [await tx.spill(reference) for reference in ("SP-2026-00001", "SP-2026-00002")]
            told = [
                MessageAccepted(
                    message=f"{batch}-{number}", obligation=1, person="Dana Cruz", channel="email", step="start", may_be_double=False
                )
                for number in range(AT_A_TIME)
            ]
            await tx.record_all([(spills[number % 2], one) for number, one in enumerate(told)])
    tracemalloc.start()
    begun = perf_counter()
    whole = await walked(home)
    took, (_, most) = perf_counter() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert {one.broken for one in whole.values()} == {None}
    assert sum(one.number for one in whole.values()) > MANY
    sys.stdout.write(f"{MANY} events verified in {took:.1f} s with {most / 1e6:.0f} MB\n")
    assert most < 60_000_000
    chance = random.Random(8)
    async with triggers_off(home.house) as connection:
        for name in chance.sample(sorted(DAMAGES), 8):
            chain = chance.choice(sorted(whole))
            number = chance.randint(2, whole[chain].number)
            async with connection.begin_nested() as undone:
                wrong, named = await DAMAGES[name](Scene(connection, chance, chain, whole[chain].number), number)
                found = {key: one.broken for key, one in (await found_in(home.house, connection)).items() if one.broken}
                await undone.rollback()
            broken = found.pop(chain, None) or found.pop("(in no chain)")
            assert (broken.wrong, broken.number or -(broken.event or 0)) == (wrong, named), f"{name}: {broken}"


# What may stand in the open part: a substance is a fact of the law, and staff act in office, by the address of their account.
_OPENLY = ("substance", "author of the advisory")


async def test_a_whole_life_is_sealed_and_can_go_from_the_record_while_all_that_is_left_can_be_read(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        lived = await live(home)
        events = Output(STAFF, "open parts of events", await the_record(home, "payload, actor"))
        assert [one.what for one in PLANTED if one.what not in _OPENLY and one.is_in(Searched(events.says))] == []
        whole = await the_record(home, "payload, actor, sealed")
        not_in_events = [one.what for one in PLANTED if not one.is_in(Searched(whole))]
        async with transaction(home.house, "clerk@chino.example") as tx:
            spill = await tx.spill(lived.reference)
            numbers = [row.id or 0 for row, _ in await tx.history(spill)]
            assert await destroy_sealed(tx, spill, numbers, RETENTION, "five years are over") > 30
        left = Searched(await the_record(home, "payload, actor, sealed"))
        assert [one.what for one in PLANTED if one.what not in _OPENLY and one.is_in(left)] == []
        assert {"reporter's name", "certifier", "note of an act", "words added later"} & set(not_in_events) == set()
        assert {one.broken for one in (await walked(home)).values()} == {None}
        manager = home.client(await home.token("manager", "chino"))
        for path in ("", "/clocks", "/reports"):
            answer = await manager.get(f"/api/v1/spills/{lived.reference}{path}")
            assert answer.status_code == 200, f"{path}: {answer.text}"
        async with transaction(home.house, "test") as tx:
            account = await access.add_account(tx, "officer@chino.example", "officer", "chino")
            session = await access.issue(tx, account, "session", access.SESSION_LASTS)
        browser = home.client()
        browser.cookies.set("spillclock_session", session)
        private = (f"/status/{lived.status}", f"/status/{lived.status}/record.pdf", f"/respond/{lived.respond}")
        for path in (f"/staff/spills/{lived.reference}", "/staff", "/map", *private):
            answer = await browser.get(path)
            assert answer.status_code == 200, f"{path}: {answer.text[:300]}"
        await home.live(hours=30)
        assert {one.broken for one in (await walked(home)).values()} == {None}


async def the_record(home: Household, columns: str) -> str:
    """What these columns of all events hold."""
    async with reading(home.house) as tx:
        return json.dumps([list(row) for row in await tx.session.execute(text(f"SELECT {columns} FROM event"))])  # noqa: S608
