"""Whatever is done to one record of the log, changed, deleted, moved or inserted, is found, and that record is named. On both databases."""

from __future__ import annotations

import itertools
import os
import random

import pytest

from service.destroying import RETENTION, destroy_sealed
from service.events import FactsRecorded
from service.transaction import transaction
from tests.houses import Household
from tests.service.both_databases import home as home
from tests.service.both_databases import server as server
from tests.service.damage import DAMAGES, Scene, found_in, triggers_off
from tests.spills import a_report, gallons

# How often each damage is done, on each database.
TIMES = 20 if os.environ.get("SPILLCLOCK_TESTS_LONG") else 2


async def live(home: Household) -> None:
    """A small log: a third report, an amendment, alerts, an act; and something of it destroyed."""
    reference = "SP-2026-00001"
    await home.report(a_report(), staff=False)
    await home.amend(reference, "Quillon said so", volume=gallons(1500))
    await home.live(hours=3)
    await home.happened(reference, "repaired")
    amended = [row.id or 0 for row, event in await home.history(reference) if isinstance(event, FactsRecorded)]
    async with transaction(home.house, "clerk@chino.example") as tx:
        await destroy_sealed(tx, await tx.spill(reference), amended[-1:], RETENTION, "its time was over")


@pytest.mark.timeout(600)
async def test_any_damage_to_one_record_is_found_and_the_record_is_named(home: Household) -> None:
    await live(home)
    async with triggers_off(home.house) as connection:
        whole = await found_in(home.house, connection)
        assert len(whole) == 2
        assert {one.broken for one in whole.values()} == {None}
        assert sum(len(one.destroyed) for one in whole.values()) == 1
        for name, time in itertools.product(DAMAGES, range(TIMES)):
            chance = random.Random(f"{name} {time}")
            chain = chance.choice(sorted(whole))
            number = chance.choice([1, whole[chain].number, chance.randint(1, whole[chain].number)])
            async with connection.begin_nested() as undone:
                wrong, named = await DAMAGES[name](Scene(connection, chance, chain, whole[chain].number), number)
                found = {key: one.broken for key, one in (await found_in(home.house, connection)).items() if one.broken}
                await undone.rollback()
            said = f"{name}, time {time}, {chain} {number}: {[str(one) for one in found.values()]}"
            broken = found.pop(chain, None) or found.pop("(in no chain)")
            assert (broken.wrong, broken.number or -(broken.event or 0)) == (wrong, named), said
            # The event of a deleted place lies about; nothing else is wrong.
            assert set(found) <= {"(in no chain)"}, said
        assert await found_in(home.house, connection) == whole
