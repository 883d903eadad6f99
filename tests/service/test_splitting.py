"""One report that tells of two spills: what becomes of each, where both came from, and what is done only once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.errors import BadInput, Conflict
from service.events import FactsRecorded, ReportReceived, SpillSplit, SplitOff
from service.splitting import Part, split
from service.transaction import transaction
from tests.houses import OFFICER, Household, a_household
from tests.service.test_merging import WATER_BOARD, merge, unmerge
from tests.spills import IN_ONTARIO, a_report, gallons

ANA = {"name": "Ana Ruiz", "email": "ana@example.com", "privacy": "confidential"}


async def parted(home: Household, reference: str, **part: Any) -> str:
    async with transaction(home.house, OFFICER) as tx:
        given = {"reason": "two streams", "description": "Oil by the bus stop", **part}
        return (await split(tx, await tx.spill(reference), Part(**given))).reference


async def test_the_second_spill_has_its_own_facts_and_clocks_from_the_same_knowledge(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        origin = await home.report(a_report())
        await home.live(hours=3)
        second = await parted(home, origin, facts={"volume": gallons(2000)}, keep={"volume": gallons(300)})
        assert (await home.clock_of(origin, WATER_BOARD)).state == "withdrawn"
        clock = await home.clock_of(second, WATER_BOARD)
        assert (clock.starts_at, clock.state) == ((await home.clock_of(origin, WATER_BOARD)).starts_at, "overdue")
        spills = [await home.spill(one) for one in (origin, second)]
        assert [spill.facts["volume"] for spill in spills] == [gallons(300), gallons(2000)]
        assert spills[0].facts["known_at"] == spills[1].facts["known_at"]
        assert spills[0].received_at == spills[1].received_at
        await home.work()
        assert home.told(WATER_BOARD)


async def test_both_spills_keep_where_they_came_from(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        origin = await home.report(a_report(contact=ANA))
        second = await parted(home, origin)
        assert [event.part for event in await home.events(origin, SpillSplit)] == [second]
        assert [event.origin for event in await home.events(second, SplitOff)] == [origin]
        [received] = await home.events(second, ReportReceived)
        assert received.raw["description"] == a_report()["description"]
        assert "contact" not in received.raw  # who sent it stands in no second event
        assert (await home.spill(second)).reporter["name"] == "Ana Ruiz"
        [facts] = await home.events(second, FactsRecorded)
        assert facts.sources["material"] == "staff"


async def test_an_act_that_was_about_both_counts_for_both(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        origin = await home.report(a_report())
        await home.happened(origin, "notice_given", recipient="rwqcb-santa-ana", method="telephone")
        await home.happened(origin, "responded")
        second = await parted(home, origin, acts=[0])
        assert (await home.clock_of(second, WATER_BOARD)).state == "met"
        assert [act["type"] for act in (await home.spill(second)).facts["events"]] == ["notice_given"]


async def test_the_second_spill_may_lie_elsewhere(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        origin = await home.report(a_report())
        second = await parted(home, origin, location={**IN_ONTARIO, "address": "1 Mission Blvd"}, facts={"jurisdiction": "ontario"})
        spill = await home.spill(second)
        assert (spill.city, spill.lat, spill.address) == ("ontario", IN_ONTARIO["lat"], "1 Mission Blvd")
        assert {row.duty.split("/")[0] for row in await home.clocks(second)} >= {"ontario"}


async def test_a_split_is_undone_by_merging_the_second_back(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        origin = await home.report(a_report())
        second = await parted(home, origin)
        await merge(home, origin, second, "it was one after all")
        assert {row.state for row in await home.clocks(second)} == {"withdrawn"}
        await unmerge(home, second)
        assert (await home.clock_of(second, WATER_BOARD)).state == "running"


async def test_the_same_request_splits_once(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        origin = await home.report(a_report())
        first = await parted(home, origin, once="key-1")
        assert await parted(home, origin, once="key-1") == first
        with pytest.raises(BadInput, match="came before with another body"):
            await parted(home, origin, once="key-1", description="Another")
        assert await parted(home, origin, once="key-2") != first


async def test_every_fault_of_a_split_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        origin = await home.report(a_report())
        with pytest.raises(BadInput) as refused:
            await parted(home, origin, reason=" ", facts={"colour": "red", "volume": "much"}, acts=[7], source="rumour")
        assert [fault.split(":")[0] for fault in refused.value.faults] == ["reason", "facts.colour", "acts", "source", "facts.volume"]
        with pytest.raises(BadInput, match="cannot be amended"):
            await parted(home, origin, keep={"volume": "much"})
        async with transaction(home.house, OFFICER) as tx:
            with pytest.raises(BadInput):
                await split(tx, await tx.spill(origin), Part(reason="two"))
        other = await home.report(a_report())
        await merge(home, origin, other)
        with pytest.raises(Conflict, match="take it apart first"):
            await parted(home, other)
        assert await home.events(origin, SpillSplit) == []
