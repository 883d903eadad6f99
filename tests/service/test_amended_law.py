"""The law is amended in the middle of a spill: clocks that run keep their version, clocks that start later run by the new one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deadlines import Rulebook, read_calendars, read_rulebook
from service.events import ObligationMoved
from service.library import shipped_shelf
from tests.houses import Household, a_household, shipped_law
from tests.service.small_law import pack

VERSIONS = """
  - id: written
    title: Write within seven days
    provisions: [T-1]
    citation: Test Code 1
    says: It is written.
    starts: known_at
    limit: 7 calendar days
    to: works
    how: [written]
    owed_by: discharger
    ladder: main
    reading: Read for tests.
    in_force: {until: 2026-12-31}
  - id: written
    title: Write within two days
    provisions: [T-1]
    citation: Test Code 1, as amended
    says: It is written sooner.
    starts: known_at
    limit: 2 calendar days
    to: works
    how: [written]
    owed_by: discharger
    ladder: main
    reading: Read for tests.
    in_force: {from: 2027-01-01}
  - id: order
    title: Obey
    provisions: [T-2]
    citation: Test Code 2
    says: It is obeyed.
    on: order_served
    limit: 30 calendar days
    to: works
    how: [any]
    act: order
    owed_by: discharger
    ladder: main
    reading: Read for tests.
    in_force: {until: 2026-12-31}
  - id: order
    title: Obey sooner
    provisions: [T-2]
    citation: Test Code 2, as amended
    says: It is obeyed sooner.
    on: order_served
    limit: 10 calendar days
    to: works
    how: [any]
    act: order
    owed_by: discharger
    ladder: main
    reading: Read for tests.
    in_force: {from: 2027-01-01}
"""
NEW_YEARS_EVE = datetime(2026, 12, 31, 20, tzinfo=UTC)  # noon in Chino


def amended_law() -> Rulebook:
    """A Chino whose two rules change at the turn of the year."""
    return read_rulebook({"packs/chino.yaml": pack(VERSIONS)}, read_calendars(shipped_shelf().calendars), shipped_law().quantities)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with a_household(tmp_path, at=NEW_YEARS_EVE, law=amended_law()) as made:
        yield made


async def test_a_spill_of_new_years_eve_keeps_its_seven_days_whatever_is_learned_later(home: Household) -> None:
    reference = await home.report({"material": "paint", "jurisdiction": "chino"})
    before = await home.clock_of(reference, "chino/written")
    assert (before.clock["limit"], before.clock["due_at"]) == ("7 calendar days", "2027-01-08T07:59:59Z")
    await home.live(days=2)
    await home.amend(reference, material="sewage", threat=True)
    after = await home.clock_of(reference, "chino/written")
    assert (after.clock["limit"], after.clock["due_at"], after.clock["citation"]) == (
        "7 calendar days",
        "2027-01-08T07:59:59Z",
        "Test Code 1",
    )
    assert await home.events(reference, ObligationMoved) == []


async def test_orders_on_both_sides_of_the_amendment_run_by_the_text_of_their_day(home: Household) -> None:
    reference = await home.report({"material": "paint", "jurisdiction": "chino"})
    await home.happened(reference, "order_served", order="compliance_order")
    await home.live(days=2)
    await home.happened(reference, "order_served", order="compliance_order")
    rows = [row for row in await home.clocks(reference) if row.duty == "chino/order"]
    assert sorted((row.event_no, row.clock["limit"]) for row in rows) == [(0, "30 calendar days"), (1, "10 calendar days")]


async def test_a_start_that_moves_over_the_turn_of_the_year_brings_the_text_of_its_day(home: Household) -> None:
    await home.live(days=1)
    reference = await home.report({"material": "paint", "jurisdiction": "chino"})
    assert (await home.clock_of(reference, "chino/written")).clock["limit"] == "2 calendar days"
    await home.amend(reference, known_at="2026-12-31T22:00:00-08:00")
    moved = await home.clock_of(reference, "chino/written")
    assert (moved.clock["limit"], moved.clock["due_at"]) == ("7 calendar days", "2027-01-08T07:59:59Z")
    (event,) = await home.events(reference, ObligationMoved)
    assert event.before["due_at"] == "2027-01-04T07:59:59Z"
