"""The row of days is frozen with the decision it shows, moves with it, and is never that of another count."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from deadlines import assess, read_facts
from deadlines.strip import strip_as_json
from service.replanning import add_day
from service.transaction import transaction
from tests.houses import TUESDAY, Household, a_household, shipped_law
from tests.service.small_law import CALL, COUNTED, WORKING_DAYS, small_law
from tests.spills import a_report

LAW = small_law(COUNTED)


@pytest.fixture
async def counted(tmp_path: Path) -> AsyncIterator[Household]:
    async with a_household(tmp_path, law=LAW) as home:
        yield home


async def days_of(home: Household, reference: str) -> list[str]:
    """The kinds of the cells of the clock that counts working days."""
    return [cell["kind"] for cell in (await home.clock_of(reference, WORKING_DAYS)).strip]


async def close_friday(home: Household) -> None:
    async with transaction(home.house, "manager@chino.example") as tx:
        await add_day(tx, "chino", date(2026, 12, 4), "Furlough", "Resolution 2026-14")


async def test_every_clock_of_a_spill_keeps_the_days_of_its_count(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report(reached=["storm_drain"]))
        facts = read_facts((await home.spill(reference)).facts, shipped_law().zones)
        engine = {clock.duty: strip_as_json(clock.counted) for clock in assess(facts, shipped_law(), TUESDAY).clocks}
        kept = {row.duty: row.strip for row in await home.clocks(reference)}
    assert kept == engine
    assert all(kept.values())


async def test_the_days_move_with_the_facts_and_with_the_calendar(counted: Household) -> None:
    reference = await counted.report(a_report(threat=True))
    assert await days_of(counted, reference) == ["start", "counted", "counted", "due"]
    await close_friday(counted)
    assert await days_of(counted, reference) == ["start", "counted", "counted", "skipped", "skipped", "skipped", "due"]
    row = await counted.clock_of(reference, WORKING_DAYS)
    assert row.strip[3]["note"] == "Furlough (Resolution 2026-14)"
    await counted.amend(reference, discharged_at="2026-11-30T09:00:00-08:00")
    row = await counted.clock_of(reference, WORKING_DAYS)
    assert row.strip[0]["day"] == "2026-11-30"


async def test_a_new_pack_alone_leaves_the_days_as_they_were(counted: Household) -> None:
    reference = await counted.report(a_report(threat=True))
    before = (await counted.clock_of(reference, WORKING_DAYS)).strip
    stricter = counted.with_house(rulebook=small_law(COUNTED.replace("3 working", "1 working"), version="2026-06-01"))
    await stricter.happened(reference, "repaired")
    assert (await counted.clock_of(reference, WORKING_DAYS)).strip == before


async def test_a_clock_that_keeps_an_older_count_never_shows_the_days_of_a_newer_one(counted: Household) -> None:
    reference = await counted.report(a_report(threat=True))
    await close_friday(counted.with_house(rulebook=small_law(COUNTED.replace("3 working", "1 working"), version="2026-06-01")))
    row = await counted.clock_of(reference, WORKING_DAYS)
    assert row.clock["limit"] == "3 working days"
    assert row.strip == []


async def test_a_clock_that_waits_has_no_days(tmp_path: Path) -> None:
    law = small_law(CALL.replace("starts: known_at", "starts: ended_at only"))
    async with a_household(tmp_path, law=law) as home:
        reference = await home.report(a_report())
        assert {(row.state, len(row.strip)) for row in await home.clocks(reference)} == {("waiting", 0)}
