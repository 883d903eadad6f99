"""Two reports of one spill, merged and taken apart again: what counts, what stops, who is told, and what comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service import acting, merging
from service.errors import BadInput, Conflict
from service.events import (
    DuplicateGivenBack,
    DuplicateTaken,
    FactsRecorded,
    ObligationAcknowledged,
    ObligationWithdrawn,
    ReporterAnswered,
    SpillClosed,
    SpillMerged,
    SpillUnmerged,
)
from service.following import answer
from service.grouping import counted, head_of, members_of
from service.transaction import reading, transaction
from tests.houses import OFFICER, Household, a_household
from tests.spills import IN_ONTARIO, a_report, gallons

WATER_BOARD = "chino/rwqcb-2-hours"
ANA = {"name": "Ana Ruiz", "email": "ana@example.com", "privacy": "confidential"}
WHY = "the same manhole"


async def merge(home: Household, kept: str, other: str, reason: str = WHY, **chosen: Any) -> bool:
    async with transaction(home.house, OFFICER) as tx:
        return await merging.merge(tx, await tx.spill(kept), await tx.spill(other), reason, **chosen)


async def unmerge(home: Household, other: str, reason: str = "it is the next manhole") -> bool:
    async with transaction(home.house, OFFICER) as tx:
        return await merging.unmerge(tx, await tx.spill(other), reason)


async def decided(home: Household, reference: str) -> dict[tuple[str, int], tuple[Any, ...]]:
    """How each clock of a spill stands, as the law decided it."""
    return {(row.duty, row.occurrence): (row.state, row.starts_at, row.due_at, row.met_at) for row in await home.clocks(reference)}


async def two_reports(home: Household, **second: Any) -> tuple[str, str]:
    """An earlier report, and twenty minutes later one of the same spill."""
    first = await home.report(a_report())
    await home.live(minutes=20)
    return first, await home.report(a_report(description="Water on the street.", **second))


async def test_the_earliest_knowledge_drives_the_clocks_whichever_report_is_kept(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        before = await home.clock_of(first, WATER_BOARD)
        assert await merge(home, second, first)
        kept = await home.clock_of(second, WATER_BOARD)
        assert (kept.starts_at, kept.due_at) == (before.starts_at, before.due_at)
        assert (await home.spill(second)).facts["known_at"] == "2026-12-01T22:25:00Z"  # its own knowledge stays as it was told
        async with reading(home.house) as tx:
            assert (await counted(tx, await tx.spill(second))).facts["known_at"] == "2026-12-01T22:05:00Z"


async def test_the_clocks_of_the_duplicate_stop_with_the_reason_on_record(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        await merge(home, first, second)
        rows = await home.clocks(second)
        assert {row.state for row in rows} == {"withdrawn"}
        assert all(f"the same spill as {first}" in row.reason and WHY in row.reason for row in rows)
        assert all(row.next_at is None for row in rows)
        withdrawn = await home.events(second, ObligationWithdrawn)
        assert len(withdrawn) == len(rows)
        told = len(home.outbox())
        await home.live(hours=3)
        assert {line["spill"] for line in home.outbox()[told:]} == {first}


async def test_a_call_made_about_the_duplicate_counts_for_the_spill(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        await home.happened(second, "notice_given", recipient="rwqcb-santa-ana", method="telephone")
        await merge(home, first, second)
        assert (await home.clock_of(first, WATER_BOARD)).state == "met"
        await unmerge(home, second)
        assert (await home.clock_of(first, WATER_BOARD)).state == "running"
        assert (await home.clock_of(second, WATER_BOARD)).state == "met"


async def test_an_act_recorded_on_a_merged_report_counts_at_once(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        await merge(home, first, second)
        await home.happened(second, "notice_given", actor=f"discharger of {second}", recipient="rwqcb-santa-ana", method="telephone")
        assert (await home.clock_of(first, WATER_BOARD)).state == "met"
        assert (await home.clock_of(second, WATER_BOARD)).state == "withdrawn"


async def test_an_order_served_on_the_duplicate_keeps_its_clock(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        await home.happened(second, "order_served", order="stop_work_order")
        [order] = [row for row in await home.clocks(second) if row.event_no == 0]
        await merge(home, first, second)
        [goes_on] = [row for row in await home.clocks(first) if row.event_no < -1]
        assert (goes_on.duty, goes_on.due_at, goes_on.state) == (order.duty, order.due_at, "running")
        assert goes_on.clock["event"] is None
        assert goes_on.clock["started_by"]["spill"] == second
        await home.happened(first, "order_served", order="notice_of_correction")
        assert goes_on.id in {row.id for row in await home.clocks(first) if row.state == "running"}
        await home.happened(first, "order_complied", order="stop_work_order")
        assert {row.state for row in await home.clocks(first) if row.id == goes_on.id} == {"met"}


async def test_taken_apart_again_the_clocks_are_as_they_were(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        await home.happened(first, "notice_given", recipient="cal-oes", method="telephone")
        await home.work()
        before = await decided(home, first), await decided(home, second)
        told = len(home.outbox())
        assert await merge(home, second, first, "one call")
        await home.work()
        assert await unmerge(home, first)
        await home.work()
        assert (await decided(home, first), await decided(home, second)) == before
        again = [line for line in home.outbox()[told:] if line["spill"] == first]
        assert again == []  # whoever was told of the clocks that stand as they stood is not told again


async def test_no_clock_stops_before_its_name_was_put_to_somebody(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        kept = await home.report(a_report(volume=gallons(500)))
        other = await home.report(a_report(volume=gallons(1500)))
        with pytest.raises(merging.ClocksWouldStop) as refused:
            await merge(home, kept, other)
        assert any("water board within two hours" in fault for fault in refused.value.faults)
        assert (await home.clock_of(other, WATER_BOARD)).state == "running"
        await merge(home, kept, other, take=["volume"])
        assert (await home.clock_of(kept, WATER_BOARD)).state == "running"
        await unmerge(home, other)
        assert (await home.spill(kept)).facts["volume"] == gallons(500)
        await merge(home, kept, other, drop=[row.id for row in refused.value.clocks])
        [first, last] = await home.events(other, SpillMerged)
        assert (first.dropped, last.dropped) == ([], [row.id for row in refused.value.clocks])


async def test_a_fact_amended_since_it_was_taken_over_stays(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        kept = await home.report(a_report(volume=None))
        other = await home.report(a_report())
        await merge(home, kept, other, take=["volume"])
        assert (await home.events(kept, FactsRecorded))[-1].sources == {"volume": "staff"}
        await home.amend(kept, volume=gallons(1200))
        await unmerge(home, other)
        assert (await home.spill(kept)).facts["volume"] == gallons(1200)
        [back] = await home.events(kept, DuplicateGivenBack)
        assert (back.returned, back.stays) == ([], ["volume"])


async def test_each_report_keeps_its_record_and_its_reporter_goes_on_being_told(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home, contact=ANA)
        await merge(home, first, second)
        async with transaction(home.house, OFFICER) as tx:
            await answer(tx, await tx.spill(first), {"en": "The street was washed."}, "officer")
        await home.work()
        [line] = [line for line in home.outbox() if line["to"] == "ana@example.com"]
        assert (line["spill"], "The street was washed." in line["text"]) == (second, True)
        assert await home.events(second, ReporterAnswered)
        assert (await home.spill(second)).reporter["name"] == "Ana Ruiz"
        assert await home.events(first, DuplicateTaken)


async def test_a_merged_report_is_closed_and_opened_with_its_spill(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home, contact=ANA)
        await merge(home, first, second)
        caller = home.client(await home.token("manager", "chino"))
        refused = await caller.post(f"/api/v1/spills/{second}/close", json={"reason": "done"})
        assert (refused.status_code, "closed with that one" in refused.json()["detail"]) == (409, True)
        opened = [row.id for row in await home.clocks(first) if row.state in ("running", "overdue") and row.act != "retention"]
        answered = await caller.post(f"/api/v1/spills/{first}/close", json={"reason": "done", "left_open": opened})
        assert answered.status_code == 200
        assert await home.events(second, SpillClosed)
        with pytest.raises(Conflict, match="open it again first"):
            await unmerge(home, second)


async def test_a_chain_of_merged_reports_counts_for_the_one_at_the_top(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        await home.live(minutes=5)
        third = await home.report(a_report())
        await merge(home, second, first)
        await merge(home, third, second)
        async with reading(home.house) as tx:
            assert (await head_of(tx, await tx.spill(first))).reference == third
            assert [one.reference for one in await members_of(tx, await tx.spill(third))] == [second, first]
        assert (await home.clock_of(third, WATER_BOARD)).starts_at == (await home.clock_of(first, WATER_BOARD)).starts_at
        await unmerge(home, second)
        assert (await home.clock_of(second, WATER_BOARD)).state == "running"
        assert (await home.clock_of(first, WATER_BOARD)).state == "withdrawn"
        assert await home.events(second, SpillUnmerged)


async def test_reports_that_cannot_be_one_spill_are_not_merged(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        elsewhere = await home.report(a_report(location=IN_ONTARIO))
        with pytest.raises(Conflict, match="itself"):
            await merge(home, first, first)
        with pytest.raises(Conflict, match="each has its own law"):
            await merge(home, first, elsewhere)
        with pytest.raises(BadInput) as refused:
            await merge(home, first, second, " ", take=["volume"])
        assert [fault.split(":")[0] for fault in refused.value.faults] == ["reason", "take"]
        assert await merge(home, first, second)
        assert not await merge(home, first, second)  # said again, nothing more is recorded
        with pytest.raises(Conflict, match="merged into another"):
            await merge(home, second, elsewhere)
        assert len(await home.events(second, SpillMerged)) == 1
        assert await unmerge(home, second)
        assert not await unmerge(home, second)


async def test_an_answer_to_an_alert_of_the_duplicate_does_the_duty_of_the_spill(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        first, second = await two_reports(home)
        await home.work()
        theirs = [row for row in await home.messages(WATER_BOARD) if row.spill_id == int(second[-5:])]
        await merge(home, first, second)
        async with transaction(home.house, theirs[0].person) as tx:
            spill = await tx.spill(second)
            await acting.see(tx, spill, theirs[0])
            [duty, *_] = [row for row in await acting.open_duties_of(tx, theirs[0]) if row.duty == WATER_BOARD]
            await acting.finish(tx, spill, duty, theirs[0].role, "said so by text message")
        assert (await home.clock_of(first, WATER_BOARD)).state == "met"
        assert await home.events(first, ObligationAcknowledged)
