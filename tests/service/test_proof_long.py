"""What takes long to prove: processes that are killed while they write, and damage to a log of 100,000 events. On both databases."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path
from time import perf_counter

import pytest

from service.events import MessageAccepted
from service.transaction import transaction
from tests.houses import Household
from tests.service.both_databases import home as home
from tests.service.both_databases import server as server
from tests.service.damage import DAMAGES, Scene, found_in, triggers_off, walked

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
