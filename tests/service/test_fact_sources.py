"""By whom a fact is known: as whoever amends says, and where nobody said so as it can honestly be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import BadInput
from service.fact_sources import sources_of
from service.relocation import Move, move_pin
from service.spills import amend_facts
from service.transaction import transaction
from tests.houses import OFFICER, Household, a_household
from tests.spills import IN_ONTARIO, a_report, gallons


async def known(home: Household, reference: str) -> dict[str, str]:
    return {key: one.source for key, one in sources_of(await home.history(reference)).items()}


async def test_what_a_report_says_is_what_its_caller_said(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report(seen_at="2026-12-01T13:00"), staff=False)
        assert await known(home, reference) == {
            "material": "caller", "volume": "caller", "jurisdiction": "computed", "known_at": "computed", "discharged_at": "caller"
        }  # fmt: skip


async def test_what_staff_enter_or_amend_staff_know_unless_they_say_otherwise(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report(known_at="2026-12-01T13:00"))
        assert (await known(home, reference))["known_at"] == "staff"
        async with transaction(home.house, OFFICER) as tx:
            await amend_facts(tx, await tx.spill(reference), {"volume": gallons(70)}, "sample 4", "laboratory")
            with pytest.raises(BadInput, match="cannot be amended"):
                await amend_facts(tx, await tx.spill(reference), {"volume": gallons(80)}, "heard", "rumour")
        found = sources_of(await home.history(reference))["volume"]
        assert (found.source, found.certainty, found.actor) == ("laboratory", "measured", OFFICER)


async def test_a_city_that_follows_from_the_place_is_worked_out(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report(jurisdiction="chino"))
        assert (await known(home, reference))["jurisdiction"] == "staff"
        async with transaction(home.house, OFFICER) as tx:
            move = Move(lat=IN_ONTARIO["lat"], lon=IN_ONTARIO["lon"], reason="walked there", city="ontario", answers=True)
            await move_pin(tx, await tx.spill(reference), move)
        assert (await known(home, reference))["jurisdiction"] == "computed"
