"""The calendar of a city on its page: closed days with who says so, a day entered and taken out, and the clocks that moved by it."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.pages.conftest import Site
from tests.spills import a_report

HERE = "/staff/calendars/chico"
FRIDAY = {"date": "2026-12-04", "kind": "closed", "name": "Tree planting day", "source": "Resolution 2026-31"}


async def a_running_clock(site: Site) -> str:
    """A spill in Chico with a clock of five business days from today, Tuesday, December 1: due on Tuesday, December 8."""
    reference = await site.home.report(a_report(location={"lat": 39.7285, "lon": -121.8375}, jurisdiction="chico"))
    await site.home.happened(reference, "timeframe_revision_determined")
    return reference


async def test_a_closed_day_moves_the_clocks_that_count_it_and_the_page_says_which(site: Site) -> None:
    reference = await a_running_clock(site)
    visitor = await site.staff("manager", city="chico")
    page = await visitor.post(f"{HERE}/days", FRIDAY)
    assert page.status == 200
    assert "is entered as closed" in page.text
    assert "One clock moved." in page.text
    assert reference in page.text
    assert "Was due Tue, Dec 8" in page.text or "Was due Tue Dec 8" in page.text
    row = next(row for row in await site.home.clocks(reference) if row.duty == "chico/rwqcb-timeframe-5-business-days")
    assert row.clock["due_at"] == "2026-12-10T01:00:00Z"
    assert any("Tree planting day (Resolution 2026-31)" in step for step in row.clock["counting"])


async def test_a_day_is_taken_out_with_a_reason_and_stays_on_record(site: Site) -> None:
    reference = await a_running_clock(site)
    visitor = await site.staff("manager", city="chico")
    await visitor.post(f"{HERE}/days", FRIDAY)
    page = await visitor.post(f"{HERE}/days/2026-12-04/remove", {"reason": "put off to January"})
    assert "is no longer entered as closed" in page.text
    assert "put off to January" in page.text
    row = next(row for row in await site.home.clocks(reference) if row.duty == "chico/rwqcb-timeframe-5-business-days")
    assert row.clock["due_at"] == "2026-12-09T01:00:00Z"


async def test_a_day_without_a_source_is_not_entered_and_the_page_says_what_is_missing(site: Site) -> None:
    visitor = await site.staff("manager", city="chico")
    page = await visitor.post(f"{HERE}/days", {**FRIDAY, "source": ""})
    assert page.status == 422
    assert "source: missing" in page.text
    assert 'value="Tree planting day"' in page.response.text


async def test_an_officer_sees_the_calendar_and_has_no_form(site: Site) -> None:
    visitor = await site.staff("officer", city="chico")
    page = await visitor.get(HERE)
    assert "A manager of the city enters and takes out days." in page.text
    assert page.forms(f"{HERE}/days") == []
    assert (await visitor.post(f"{HERE}/days", FRIDAY)).status == 403


async def test_the_calendar_of_another_city_is_not_shown(site: Site) -> None:
    visitor = await site.staff("manager", city="chino")
    assert (await visitor.get(HERE)).status == 404


async def test_whoever_is_not_signed_in_is_led_back_to_the_calendar(site: Site) -> None:
    page = await site.visitor().get(HERE)
    assert page.response.url.path == "/staff/sign-in"
    assert page.response.url.params["next"] == HERE


async def test_the_menu_leads_to_the_calendar_of_ones_city_or_to_all_of_them(site: Site) -> None:
    officer = await site.staff("officer", city="chino")
    page = await officer.get("/staff/calendars")
    assert page.response.url.path == "/staff/calendars/chino"
    assert "Thu, Nov 26 Thanksgiving Day (5 USC 6103(a); Gov. Code 6700(a))" in page.text
    everybody = await site.staff("administrator", city=None)
    page = await everybody.get("/staff/calendars")
    assert "City of Chico" in page.text
    assert "Covers the days up to December 31, 2031" in page.text


async def test_another_year_is_a_link_away_and_an_odd_one_is_the_nearest(site: Site) -> None:
    visitor = await site.staff("officer", city="chino")
    assert "Closed days in 2027" in (await visitor.get("/staff/calendars/chino?year=2027")).text
    assert "Closed days in 2031" in (await visitor.get("/staff/calendars/chino?year=9999")).text
    assert "Closed days in 2026" in (await visitor.get("/staff/calendars/chino?year=x&entry=x")).text


@pytest.mark.parametrize(
    ("now", "says"),
    [
        ("2026-12-01", ""),
        ("2031-03-01", "ends on December 31, 2031, in less than 12 months."),
        ("2032-01-02", "ended on December 31, 2031. Days can no longer be counted"),
    ],
)
async def test_the_board_and_the_calendar_say_that_it_ends(site: Site, now: str, says: str) -> None:
    site.home.clock.at = datetime.fromisoformat(f"{now}T12:00:00-08:00")
    visitor = await site.staff("officer", city="chino")
    for address in ("/staff", "/staff/calendars/chino"):
        text = (await visitor.get(address)).text
        assert says in text
        assert says or "Days can no longer" not in text
        assert says or "12 months" not in text


async def test_a_day_is_taken_out_by_the_form_beside_it(site: Site) -> None:
    visitor = await site.staff("manager", city="chico")
    page = await visitor.get(HERE)
    page = await visitor.send(page, f"{HERE}/days", date="2026-12-24", name="Christmas Eve", source="Municipal Code 2.52")
    assert "No running clock counts this day; nothing moved." in page.text
    page = await visitor.send(page, f"{HERE}/days/2026-12-24/remove", reason="the offices are open after all")
    assert "Taken out (1)" in page.text
    assert page.forms(f"{HERE}/days/2026-12-24/remove") == []
    assert (await visitor.post(f"{HERE}/days/2026-12-24/remove", {"reason": "again"})).status == 404
    assert (await visitor.post(f"{HERE}/days/tomorrow/remove", {"reason": "x"})).status == 422
