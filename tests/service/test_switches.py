"""Rules switched off for a city: nothing new starts there, what runs goes on, and switched on again the law has its way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from deadlines import Rulebook
from service import packs_seen, switches
from service.errors import BadInput, NotKnown
from service.events import ObligationOpened, ObligationWithdrawn
from service.transaction import reading, transaction
from tests.houses import Household
from tests.service.people import ROOT
from tests.service.test_staff_log import seen_by
from tests.spills import a_report

DUTY = "chino/rwqcb-2-hours"
RUTH = "ruth@chino.example"
WHY = "The board released the city from it by letter of 2026-11-30"


async def switch_off(home: Household, duty: str = DUTY, city: str = "chino", reason: str = WHY) -> int:
    async with transaction(home.house, RUTH) as tx:
        return (await switches.switch_off(tx, city, duty, reason)).id or 0


async def switch_on(home: Household, number: int) -> None:
    async with transaction(home.house, RUTH) as tx:
        await switches.switch_on(tx, "chino", number, "the letter was withdrawn")


def a_big_one(**more: Any) -> dict[str, Any]:
    return a_report(volume={"quantity": 1500, "unit": "gal"}, reached=["storm_drain"], **more)


async def test_a_rule_that_is_off_starts_no_clock_and_the_record_says_why(home: Household) -> None:
    await switch_off(home)
    reference = await home.report(a_big_one())
    await home.work()
    row = await home.clock_of(reference, DUTY)
    assert row.state == "withdrawn"
    assert row.reason == (
        f"not started: its rule is switched off; the rule was switched off in chino on 2026-12-01T22:05:00Z by {RUTH}: {WHY}"
    )
    assert await home.events(reference, ObligationOpened, DUTY) == []
    assert len(await home.events(reference, ObligationWithdrawn, DUTY)) == 1
    await home.live(hours=3)
    assert home.told(DUTY) == []
    others = [one for one in await home.clocks(reference) if one.duty != DUTY]
    assert "overdue" in {one.state for one in others}


async def test_it_is_said_once_however_often_the_facts_change(home: Household) -> None:
    await switch_off(home)
    reference = await home.report(a_big_one())
    await home.amend(reference, volume={"quantity": 1800, "unit": "gal"})
    assert len(await home.events(reference, ObligationWithdrawn, DUTY)) == 1


async def test_a_clock_that_runs_goes_on(home: Household) -> None:
    reference = await home.report(a_big_one())
    due = (await home.clock_of(reference, DUTY)).due_at
    await switch_off(home)
    await home.amend(reference, volume={"quantity": 1800, "unit": "gal"})
    row = await home.clock_of(reference, DUTY)
    assert (row.state, row.due_at) == ("running", due)


async def test_switched_on_again_the_law_has_its_way_for_what_was_held_back(home: Household) -> None:
    number = await switch_off(home)
    reference = await home.report(a_big_one())
    home.clock.jump(minutes=30)
    await switch_on(home, number)
    await home.work()
    row = await home.clock_of(reference, DUTY)
    assert (row.state, row.reason) == ("running", "")
    assert row.due_at is not None
    assert row.due_at > home.clock()
    assert home.told(DUTY)


async def test_another_city_is_not_touched_and_a_pack_is_switched_off_whole(home: Household) -> None:
    await switch_off(home, "chino")
    reference = await home.report(a_big_one())
    own = {row.state for row in await home.clocks(reference) if row.duty.startswith("chino/")}
    over_it = {row.state for row in await home.clocks(reference) if not row.duty.startswith("chino/")}
    assert own == {"withdrawn"}
    assert "withdrawn" not in over_it
    async with reading(home.house) as tx:
        assert await switches.switched_off(tx, "ontario") == {}


@pytest.mark.parametrize(("duty", "reason", "fault"), [
    ("chino/none-such", WHY, "does not stand over chino"), ("soledad", WHY, "does not stand over chino"), (DUTY, " ", "reason: missing"),
])  # fmt: skip
async def test_a_bad_switch_is_refused_with_what_would_be_right(home: Household, duty: str, reason: str, fault: str) -> None:
    with pytest.raises(BadInput) as refused:
        await switch_off(home, duty, reason=reason)
    assert fault in refused.value.faults[0]


async def test_nothing_is_switched_twice(home: Household) -> None:
    number = await switch_off(home)
    with pytest.raises(BadInput):
        await switch_off(home)
    await switch_on(home, number)
    with pytest.raises(NotKnown):
        await switch_on(home, number)
    assert await switch_off(home) != number
    assert [kind for kind, _, _ in await seen_by(home, ROOT)] == ["rule:off", "rule:on", "rule:off"]


async def test_the_versions_of_packs_are_noted_once_with_what_changed(home: Household) -> None:
    async with transaction(home.house, "spillclock") as tx:
        assert await packs_seen.take_note(tx) == len(home.house.rulebook.packs)
        await tx.session.flush()
        assert await packs_seen.take_note(tx) == 0
    home.clock.jump(days=3)
    chino = home.house.rulebook.packs["chino"]
    gone, first, *rest = chino.rules
    altered = replace(chino, version="2026-12-04+abc", rules=(replace(first, title="Another title"), *rest))
    law = Rulebook({**home.house.rulebook.packs, "chino": altered}, home.house.rulebook.quantities)
    async with transaction(home.with_house(rulebook=law).house, "spillclock") as tx:
        assert await packs_seen.take_note(tx) == 1
        await tx.session.flush()
        after, before = (await packs_seen.seen(tx))["chino"]
        found = packs_seen.changes(before, after)
    assert (after.version, before.version) == ("2026-12-04+abc", chino.version)
    assert found.added == []
    assert [gone.duty in line for line in found.removed] == [True]
    assert [first.duty in line for line in found.changed] == [True]


async def test_open_clocks_are_counted_by_the_version_they_run_by(home: Household) -> None:
    await home.report(a_big_one())
    async with reading(home.house) as tx:
        found = await packs_seen.open_clocks(tx)
    chino = home.house.rulebook.packs["chino"]
    assert list(found["chino"]) == [chino.version]
    assert found["chino"][chino.version] > 3
