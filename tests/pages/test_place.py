"""The place of a spill on its page: how it lies, whose law may apply, the pin that is moved without JavaScript, and who is who."""

from __future__ import annotations

from pathlib import Path

from service.events import FactsRecorded, PlaceMoved
from tests.houses import a_household
from tests.pages.conftest import Site
from tests.spills import IN_ONTARIO, NOWHERE_NEAR, a_report

BY_THE_LINE = {"lat": 34.0102, "lon": -117.651}


async def test_the_page_tells_how_the_point_lies_and_which_cities_it_may_be_in(site: Site) -> None:
    reference = await site.home.report(a_report(location=BY_THE_LINE))
    page = await (await site.staff()).get(f"/staff/spills/{reference}")
    assert "The point lies in City of Chino, California, 29 m from its edge." in page.text
    assert "City of Chino, California: 29 m inside its edge. Its law applies" in page.text
    assert "City of Ontario, California: 29 m outside its edge" in page.text
    [form] = page.forms(f"/staff/spills/{reference}/city")
    assert [button.text for button in form.all("button")] == [
        "Confirm the law of City of Chino, California", "Use the law of City of Ontario, California",
    ]  # fmt: skip


async def test_where_nothing_is_open_there_is_no_button(site: Site) -> None:
    reference = await site.home.report(a_report())
    page = await (await site.staff()).get(f"/staff/spills/{reference}")
    assert page.forms(f"/staff/spills/{reference}/city") == []
    assert len(page.forms(f"/staff/spills/{reference}/location")) == 1


async def test_one_button_and_a_reason_put_the_spill_under_another_citys_law(site: Site) -> None:
    reference = await site.home.report(a_report(location=BY_THE_LINE))
    visitor = await site.staff(city=None)
    page = await visitor.get(f"/staff/spills/{reference}")
    page = await visitor.send(page, f"/staff/spills/{reference}/city", "ontario", reason="seen on the parcel map")
    assert "The city is set, and its law applies." in page.text
    assert "City of Ontario, California: 29 m outside its edge. Its law applies" in page.text
    assert (await site.home.spill(reference)).city == "ontario"
    recorded = (await site.home.events(reference, FactsRecorded))[-1]
    assert (recorded.changes, recorded.reason) == ({"jurisdiction": ("chino", "ontario")}, "seen on the parcel map")
    assert "a person should confirm the city" not in page.text.replace("A person was asked to look", "").partition("Story")[0]


async def test_a_button_without_a_reason_sets_nothing_and_says_so(site: Site) -> None:
    reference = await site.home.report(a_report(location=BY_THE_LINE))
    visitor = await site.staff(city=None)
    page = await visitor.post(f"/staff/spills/{reference}/city", {"city": "ontario", "reason": " "})
    assert page.status == 422
    assert "Reason: missing" in page.text
    assert (await site.home.spill(reference)).city == "chino"


async def test_an_officer_who_gives_a_spill_away_is_led_to_the_board(site: Site) -> None:
    reference = await site.home.report(a_report(location=BY_THE_LINE))
    visitor = await site.staff(city="chino")
    page = await visitor.post(f"/staff/spills/{reference}/city", {"city": "ontario", "reason": "theirs"})
    assert (page.status, page.response.url.path) == (200, "/staff")


async def test_a_pin_is_moved_by_the_form_and_the_story_tells_it(site: Site) -> None:
    reference = await site.home.report(a_report())
    visitor = await site.staff(city=None)
    page = await visitor.get(f"/staff/spills/{reference}")
    page = await visitor.send(
        page,
        f"/staff/spills/{reference}/location",
        lat="34.05",
        lon="\N{MINUS SIGN}117.60",
        address="Euclid Ave",
        reason="the crew is there",
    )
    assert "The pin is moved, and the clocks follow the law of its place." in page.text
    story = page.text.partition("Story")[2]
    assert "The pin was moved: the crew is there." in story
    assert "Before: 13220 Central Ave; 34.01000, -117.69000." in story
    assert "Now: Euclid Ave; 34.05000, -117.60000." in story
    assert "The new place lies in City of Ontario, California." in story
    assert "legal clocks were withdrawn" in story
    spill = await site.home.spill(reference)
    assert (spill.city, spill.lat, spill.lon) == ("ontario", 34.05, -117.60)


async def test_the_form_sent_as_it_stands_moves_nothing(site: Site) -> None:
    reference = await site.home.report(a_report())
    visitor = await site.staff()
    page = await visitor.get(f"/staff/spills/{reference}")
    page = await visitor.send(page, f"/staff/spills/{reference}/location", reason="just looking")
    assert "Nothing was changed." in page.text
    assert await site.home.events(reference, PlaceMoved) == []


async def test_a_faulty_place_comes_back_with_what_was_typed(site: Site) -> None:
    reference = await site.home.report(a_report())
    visitor = await site.staff()
    page = await visitor.get(f"/staff/spills/{reference}/location")
    page = await visitor.send(page, f"/staff/spills/{reference}/location", lat="north", lon="-117.60", reason="the crew is there")
    assert page.status == 422
    assert "lat, lon: not both numbers" in page.text
    assert (page.one("lat")["value"], page.one("move-reason")["value"]) == ("north", "the crew is there")


async def test_where_a_person_set_the_city_the_page_asks_and_takes_the_answer(site: Site) -> None:
    reference = await site.home.report(a_report())
    await site.home.amend(reference, "the sewer is theirs", jurisdiction="ontario")
    visitor = await site.staff(city=None)
    address = f"/staff/spills/{reference}/location"
    page = await visitor.get(f"/staff/spills/{reference}")
    page = await visitor.send(page, address, lat="34.012", lon="-117.68", reason="the crew is there")
    assert page.status == 409
    assert "officer@chino.example set ontario by hand (the sewer is theirs); nothing was changed." in page.text
    [form] = page.forms(address)
    assert [radio["value"] for radio in form.all("input") if radio["type"] == "radio"] == ["chino", "ontario"]
    page = await visitor.send(page, form, city="ontario")
    assert "The pin is moved" in page.text
    spill = await site.home.spill(reference)
    assert (spill.city, spill.lat) == ("ontario", 34.012)


async def test_a_point_outside_every_city_is_asked_about_before_the_clocks_end(site: Site) -> None:
    reference = await site.home.report(a_report())
    visitor = await site.staff(city=None)
    address = f"/staff/spills/{reference}/location"
    page = await visitor.get(address)
    page = await visitor.send(page, address, lat=str(NOWHERE_NEAR["lat"]), lon=str(NOWHERE_NEAR["lon"]), reason="a drone saw it")
    assert page.status == 409
    page = await visitor.send(page, address, city="")
    assert "No clock runs: which city is it?" in page.text
    assert (await site.home.spill(reference)).city is None


async def test_a_viewer_sees_the_place_and_no_form(site: Site) -> None:
    reference = await site.home.report(a_report(location=BY_THE_LINE))
    visitor = await site.staff("viewer")
    page = await visitor.get(f"/staff/spills/{reference}")
    assert "The point lies in City of Chino, California" in page.text
    assert page.forms(f"/staff/spills/{reference}/location") == page.forms(f"/staff/spills/{reference}/city") == []
    for path in ("location", "city"):
        assert (await visitor.post(f"/staff/spills/{reference}/{path}", {"reason": "x", "city": "ontario"})).status == 403
    assert (await visitor.get(f"/staff/spills/{reference}/location")).status == 403


async def test_a_stranger_sees_no_place_at_all(site: Site) -> None:
    reference = await site.home.report(a_report())
    assert (await (await site.staff(city="soledad")).get(f"/staff/spills/{reference}/location")).status == 404
    page = await site.visitor().get(f"/staff/spills/{reference}/location")
    assert page.response.url.path == "/staff/sign-in"


async def test_without_a_point_the_page_says_so_and_offers_the_form(site: Site) -> None:
    reference = await site.home.report(a_report(location={"address": "5th St"}))
    visitor = await site.staff()
    page = await visitor.get(f"/staff/spills/{reference}")
    assert "No point is known; the city was not read from a map." in page.text
    page = await visitor.send(page, f"/staff/spills/{reference}/location", lat="34.01", lon="-117.69", reason="found")
    assert (await site.home.spill(reference)).city == "chino"
    desert = await site.home.report(a_report(location=NOWHERE_NEAR))
    assert "The point lies outside every city served here; City of" in (await visitor.get(f"/staff/spills/{desert}")).text


async def test_who_is_who_tells_agencies_and_the_numbers_that_are_known(site: Site) -> None:
    reference = await site.home.report(a_report(location=IN_ONTARIO))
    page = await (await site.staff(city=None)).get(f"/staff/spills/{reference}")
    who = page.text.partition("Who is who here")[2]
    assert "Cal OES State Warning Center 800-852-7550 or 916-845-8911" in who
    assert "National Response Center 800-424-8802" in who
    assert "San Bernardino County Fire, Hazardous Materials Division (CUPA) number not in our records: enter it" in who
    nowhere = await site.home.report(a_report(location=NOWHERE_NEAR))
    assert "Who is who here" not in (await (await site.staff("manager", None)).get(f"/staff/spills/{nowhere}")).text


async def test_the_first_page_the_board_and_the_forms_name_only_the_cities_served(tmp_path: Path) -> None:
    async with a_household(tmp_path, cities="ontario,chino") as home:
        token = await home.token("officer")
        reference = await home.report(a_report(location=None))
        async with home.client() as client:
            first = (await client.get("/")).text
            await client.post("/staff/sign-in", data={"token": token})
            board = (await client.get("/staff")).text
            spill = (await client.get(f"/staff/spills/{reference}")).text
    for text in (first, board, spill):
        assert "City of Ontario, California" in text
        assert "Baltimore" not in text
        assert "Soledad" not in text
    assert first.index("Ontario") < first.index("Chino"), "in the order of the setting"
