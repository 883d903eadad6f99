"""Open reports near a place, in terms that the public may know, and what a reporter says about them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from service import closing, spills
from service.events import SaidToBeSame
from service.held_reports import TRAP
from service.nearby import Near, like_report, near_place, pick_of, say_same
from service.transaction import reading, transaction
from tests.houses import OFFICER, TUESDAY, Household
from tests.spills import a_report

LAT, LON = 34.0100, -117.6900
A_DEGREE = 111_200.0


async def reported(home: Household, metres_north: float = 0, *, staff: bool = True, doubts: tuple[str, ...] = (), **said: Any) -> str:
    place = {"lat": LAT + metres_north / A_DEGREE, "lon": LON, "address": "13220 Central Ave"}
    return await home.report(a_report(**{"location": place, **said}), staff=staff, **({"doubts": doubts} if doubts else {}))


async def near(home: Household, lat: float = LAT, lon: float = LON, until: datetime | None = None) -> list[Near]:
    async with reading(home.house) as tx:
        return await near_place(tx, lat, lon, until=until or tx.now)


async def numbers(home: Household, *references: str) -> list[int | None]:
    return [(await home.spill(reference)).id for reference in references]


async def test_an_open_report_close_by_is_found_with_what_the_public_may_know(home: Household) -> None:
    reference = await reported(home, 60)
    [found] = await near(home)
    assert [found.spill_id] == await numbers(home, reference)
    assert (found.material, found.received_at) == ("sewage", TUESDAY.replace(minute=0))
    assert found.metres <= 150


@pytest.mark.parametrize(("metres", "count"), [(0, 1), (150, 1), (240, 1), (420, 0), (5000, 0)])
async def test_what_is_within_three_hundred_metres_is_near(home: Household, metres: float, count: int) -> None:
    await reported(home, metres)
    assert len(await near(home)) == count


async def test_what_is_older_than_two_days_is_not_offered(home: Household) -> None:
    await reported(home)
    home.clock.jump(hours=47, minutes=59)
    assert len(await near(home)) == 1
    home.clock.jump(minutes=1)
    assert await near(home) == []


async def test_a_closed_report_is_not_offered_until_it_is_opened_again(home: Household) -> None:
    reference = await reported(home)
    async with transaction(home.house, OFFICER) as tx:
        spill = await tx.spill(reference)
        opened = [row.id or 0 for row in await closing.duties_in_the_way(tx, spill)]
        await closing.close(tx, spill, {"en": "It was rain water."}, "officer", opened)
    assert await near(home) == []
    async with transaction(home.house, OFFICER) as tx:
        await closing.reopen(tx, await tx.spill(reference), {"en": "It came back."}, "officer")
    assert len(await near(home)) == 1


async def test_what_was_reported_at_a_home_is_told_to_nobody(home: Household) -> None:
    await reported(home, premises="residential")
    assert await near(home) == []


async def test_reports_that_look_automatic_and_other_matters_are_not_offered(home: Household) -> None:
    await reported(home, staff=False, doubts=(TRAP,))
    await reported(home, kind="dye_test", planned_at="2026-12-05T10:00:00-08:00")
    assert await near(home) == []


async def test_three_are_offered_at_most_those_close_by_and_late_first(home: Household) -> None:
    far = await reported(home, 250)
    old = [await reported(home, 10) for _ in range(3)]
    home.clock.jump(hours=2)
    new = await reported(home, 30)
    found = [one.spill_id for one in await near(home)]
    assert found == await numbers(home, new, old[2], old[1])
    assert (await numbers(home, far))[0] not in found


async def test_outside_every_city_nothing_is_near(home: Household) -> None:
    await reported(home, location={"lat": 35.6, "lon": -115.4})
    assert await near(home, 35.6, -115.4) == []


async def test_however_often_somebody_asks_they_learn_no_more_than_the_block(home: Household) -> None:
    await reported(home, 17.3)
    told = {
        round(found.metres, 6)
        for step in range(-40, 41)
        for found in await near(home, LAT + step * 1e-5, LON)  # a metre at a time
    }
    assert len(told) <= 2  # the asker's own block, and the next one


@pytest.mark.parametrize(("lat", "lon"), [(90.0, 0.0), (-90.0, 180.0), (0.0, -180.0), (89.9999, 179.9999)])
async def test_the_ends_of_the_earth_are_near_nothing(home: Household, lat: float, lon: float) -> None:
    assert await near(home, lat, lon) == []


# -- said to be the same


async def offered(home: Household, reference: str) -> list[tuple[str, int]]:
    async with reading(home.house) as tx:
        spill = await tx.spill(reference)
        return [(pick_of(tx, spill, one), one.spill_id) for one in await like_report(tx, spill)]


async def say(home: Household, reference: str, pick: str) -> bool:
    async with transaction(home.house, f"reporter of {reference}") as tx:
        return await say_same(tx, await tx.spill(reference), pick)


async def test_a_reporter_says_once_which_earlier_report_theirs_is_the_same_as(home: Household) -> None:
    earlier, later = await reported(home), await reported(home, 40)
    assert await offered(home, earlier) == []  # the first one is like nothing before it
    [(pick, number)] = await offered(home, later)
    assert [number] == await numbers(home, earlier)
    assert earlier not in pick
    assert await say(home, later, pick)
    assert not await say(home, later, pick)
    assert not await say(home, later, "")
    assert [event.other for event in await home.events(later, SaidToBeSame)] == [earlier]
    assert await home.events(earlier, SaidToBeSame) == []


async def test_none_of_them_is_an_answer_too(home: Household) -> None:
    await reported(home)
    later = await reported(home, 40)
    assert await say(home, later, "")
    assert [event.other for event in await home.events(later, SaidToBeSame)] == [""]


@pytest.mark.parametrize("pick", ["0" * 16, "x", "\x00", "SP-2026-00001", "' OR 1=1 --", "🙂" * 1000])
async def test_a_pick_that_was_not_offered_changes_nothing(home: Household, pick: str) -> None:
    await reported(home)
    later = await reported(home, 40)
    assert not await say(home, later, pick)
    assert await home.events(later, SaidToBeSame) == []


async def test_the_pick_of_one_report_is_none_for_another(home: Household) -> None:
    await reported(home)
    second, third = await reported(home, 20), await reported(home, 40)
    [(pick, _)] = await offered(home, second)
    assert not await say(home, third, pick)


async def test_where_nothing_was_offered_no_answer_is_taken(home: Household) -> None:
    alone = await reported(home)
    assert not await say(home, alone, "")
    assert await home.events(alone, SaidToBeSame) == []


async def test_the_same_question_stands_when_the_page_is_opened_later(home: Household) -> None:
    await reported(home)
    later = await reported(home, 40)
    before = await offered(home, later)
    home.clock.jump(days=3)
    await reported(home, 50)
    assert await offered(home, later) == before
    async with transaction(home.house, OFFICER) as tx:
        await spills.amend_facts(tx, await tx.spill(later), {"material": "petroleum"}, "seen")
    assert await offered(home, later) == before
