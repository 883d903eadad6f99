"""The numbers of a city, against spills that can be counted by hand."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access import Staff
from service.causes import find_cause
from service.errors import BadInput
from service.numbers import Kept, Numbers, Stretch, count, read_stretch
from service.spreadsheet import csv_of
from service.transaction import reading, transaction
from tests.houses import OFFICER, TUESDAY, Household
from tests.spills import a_report

DUTY = "chino/two-hours"
EVERYWHERE = Staff("clerk@chino.example", "viewer", None)
DECEMBER = Stretch(date(2026, 12, 1), date(2026, 12, 31))


async def counted(home: Household, stretch: Stretch = DECEMBER, city: str | None = None, staff: Staff = EVERYWHERE) -> Numbers:
    async with reading(home.house) as tx:
        return await count(tx, staff, stretch, city)


async def told(home: Household, reference: str) -> None:
    await home.happened(reference, "notice_given", recipient="board", method="telephone")


async def a_month(home: Household) -> list[str]:
    """Five spills: told after an hour, after three, never, waived, and one that is not due yet."""
    found = [await home.report(a_report()) for _ in range(4)]
    home.clock.jump(hours=1)
    await told(home, found[0])
    await home.waive(found[3], DUTY, "a training")
    home.clock.jump(hours=2)
    await told(home, found[1])
    found.append(await home.report(a_report()))
    await home.work()
    return found


async def test_each_duty_is_counted_once_as_it_was_kept(small: Household) -> None:
    await a_month(small)
    numbers = await counted(small)
    assert numbers.kept == {("chino", DUTY): Kept(on_time=1, late=1, missed=1, ahead=1, waived=1)}
    assert numbers.all_kept.rate == pytest.approx(1 / 3)
    assert numbers.spills == {"chino": 5}
    assert [(one.duty, one.open, one.overdue, one.oldest) for one in numbers.open_now] == [(DUTY, 2, 1, TUESDAY + timedelta(hours=2))]


async def test_the_first_notice_is_timed_from_when_the_spill_was_known(small: Household) -> None:
    await a_month(small)
    notice = (await counted(small)).notice["chino"]
    assert (notice.spills, notice.median, notice.slowest_tenth) == (2, timedelta(hours=2), timedelta(hours=3))
    assert notice.none_yet == 3


async def test_materials_and_causes_have_their_amounts_and_how_many_have_none(small: Household) -> None:
    found = await a_month(small)
    async with transaction(small.house, OFFICER) as tx:
        await find_cause(tx, await tx.spill(found[0]), "roots")
    await small.amend(found[1], volume={"low": 1100, "high": 1200, "unit": "gal"})
    await small.report(a_report(material="paint", volume={"quantity": 2, "unit": "ft3"}))
    await small.report(a_report(material=None, volume=None))
    numbers = await counted(small)
    assert {key: (one.spills, round(one.gallons, 1), one.without_amount) for key, one in numbers.materials.items()} == {
        "sewage": (5, 7200, 0), "paint": (1, 15, 0), "unknown": (1, 0, 1),
    }  # fmt: skip
    assert {key: one.spills for key, one in numbers.causes.items()} == {"unknown": 6, "roots": 1}


async def test_places_and_parties_that_come_again_are_named_with_their_spills(small: Household) -> None:
    here, there = {"lat": 34.01, "lon": -117.69}, {"lat": 34.0105, "lon": -117.69}  # 56 meters
    away = {"lat": 34.02, "lon": -117.69}
    found = [await small.report(a_report(location={**place, "address": ""})) for place in (here, there, away)]
    worded = [await small.report(a_report(location={"address": address})) for address in ("9 Oak St, Chino", "9  oak st, chino")]
    for reference, name in ((found[0], "Golden Wok LLC"), (found[2], "golden wok LLC"), (found[1], "Diner 24")):
        await small.name_discharger(reference, name, "", "")
    numbers = await counted(small)
    assert sorted(one.references for one in numbers.places) == [(found[1], found[0]), (worded[1], worded[0])]
    assert [(one.name, one.references) for one in numbers.parties] == [("golden wok LLC", (found[2], found[0]))]


async def test_days_are_those_of_the_city_and_months_are_cut_to_them(small: Household) -> None:
    small.clock.at = datetime(2026, 12, 1, 7, 30, tzinfo=UTC)  # 11:30 p.m. of November 30 in Chino
    await small.report(a_report())
    small.clock.jump(hours=1)
    await small.report(a_report())
    numbers = await counted(small, Stretch(date(2026, 11, 15), date(2026, 12, 1)))
    assert {month: spills for month, (spills, _) in numbers.months.items()} == {date(2026, 11, 15): 1, date(2026, 12, 1): 1}
    assert (await counted(small, Stretch(date(2026, 12, 1), date(2026, 12, 1)))).spills == {"chino": 1}


async def test_what_was_merged_counts_with_the_spill_it_belongs_to(small: Household) -> None:
    first, second = await small.report(a_report()), await small.report(a_report())
    async with small.client(await small.token("manager")) as client:
        answer = await client.post(f"/api/v1/spills/{second}/merge", json={"into": first, "reason": "one manhole"})
        assert answer.status_code == 200, answer.text
    numbers = await counted(small)
    assert numbers.spills == {"chino": 1}
    assert numbers.kept == {("chino", DUTY): Kept(ahead=1)}


async def test_nobody_counts_the_spills_of_a_city_that_is_not_theirs(small: Household) -> None:
    await a_month(small)
    numbers = await counted(small, staff=Staff("x@ontario.example", "manager", "ontario"))
    assert (numbers.spills, numbers.kept, numbers.open_now) == ({}, {}, [])
    assert numbers.all_kept.rate is None


async def test_the_api_says_the_same_and_refuses_what_cannot_be_counted(small: Household) -> None:
    await a_month(small)
    async with small.client(await small.token("viewer")) as client:
        answer = (await client.get("/api/v1/numbers", params={"from": "2026-12-01", "to": "2026-12-31", "city": "chino"})).json()
        assert answer["duties"] == [
            {"city": "chino", "duty": DUTY, "rate": pytest.approx(1 / 3), "on_time": 1, "late": 1, "missed": 1, "ahead": 1, "waived": 1}
        ]
        assert answer["first_notice"][0]["median_seconds"] == 7200
        for wrong in ({"from": "December"}, {"from": "2026-12-02", "to": "2026-12-01"}, {"from": "2000-01-01"}, {"city": "atlantis"}):
            assert (await client.get("/api/v1/numbers", params=wrong)).status_code == 422


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20), min_size=1, max_size=4))
def test_no_cell_of_a_file_is_a_formula_and_none_is_lost(cells: list[str]) -> None:
    [row] = csv.reader(io.StringIO(csv_of([cells]).decode("utf-8-sig"), newline=""))
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in row)
    assert [
        cell.removeprefix("'") if not given_cell.startswith("'") else cell for cell, given_cell in zip(row, cells, strict=True)
    ] == cells


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 800))
def test_months_cover_every_day_once(first: date, days: int) -> None:
    stretch = Stretch(first, first + timedelta(days=days))
    covered: list[date] = []
    for month in stretch.months():
        assert (month.first.year, month.first.month) == (month.last.year, month.last.month)
        covered += [month.first + timedelta(days=n) for n in range((month.last - month.first).days + 1)]
    assert covered == [first + timedelta(days=n) for n in range(days + 1)]


def test_a_day_on_which_clocks_change_has_its_own_length() -> None:
    begins, over = Stretch(date(2026, 11, 1), date(2026, 11, 1)).bounds(ZoneInfo("America/Los_Angeles"))
    assert over - begins == timedelta(hours=25)


@pytest.mark.parametrize(("first", "last", "fault"), [
    ("soon", "", "from: 'soon' is no day"), ("", "2026-02-30", "to: '2026-02-30' is no day"),
    ("0001-01-01", "", "from: '0001-01-01' is no day"),
    ("2026-12-02", "2026-12-01", "from: 2026-12-02 lies after"), ("2020-01-01", "2026-12-01", "from: more than five years"),
])  # fmt: skip
def test_days_that_cannot_be_counted_are_refused_with_what_would_be_right(first: str, last: str, fault: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_stretch(first, last, date(2026, 12, 1))
    assert refused.value.faults[0].startswith(fault)
    assert "right would be" in refused.value.faults[0]


def test_left_out_days_are_the_last_three_months() -> None:
    assert read_stretch("", "", date(2026, 2, 14)) == Stretch(date(2025, 12, 1), date(2026, 2, 14))
