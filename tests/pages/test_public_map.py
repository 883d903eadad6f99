"""The public list: whole without a script, filtered by its address, in both languages, with the advisories at its top."""

from __future__ import annotations

import pytest

from service.settings import Settings
from tests.pages.conftest import Site
from tests.service.test_advisories import tell
from tests.service.test_public_record import confirmed
from tests.spills import IN_ONTARIO, a_report


async def test_an_empty_list_says_when_a_report_appears_on_it(site: Site) -> None:
    await site.home.report(a_report())
    page = await site.visitor().get("/map")
    assert "0 spills" in page.text
    assert "A report appears here once the city has confirmed it." in page.text


async def test_the_list_tells_of_each_spill_in_words(site: Site) -> None:
    reference = await confirmed(site.home, reached=["storm_drain", "surface_water"])
    page = await site.visitor().get("/map")
    card = page.one(reference).text
    for words in (
        "Sewage, City of Chino, California, in the north", "Being looked at", "about Dec 1, 2026, 2:00 PM PST", "1,000 to 10,000 gallons",
        "a storm drain, a creek, river, lake or the ocean", "34.010, -117.690", reference,
    ):  # fmt: skip
        assert words in card
    assert "13220" not in page.response.text
    assert "manhole" not in page.response.text


async def test_the_list_speaks_spanish_and_keeps_its_filters_in_the_other_language(site: Site) -> None:
    await confirmed(site.home)
    page = await site.visitor(accept_language="es-MX").get("/map?city=chino&state=looked_at")
    assert "Aguas residuales, City of Chino, California, al norte" in page.text
    assert "En revisión" in page.text
    [other] = [link["href"] for link in page.root.all("a") if link["hreflang"] == "en"]
    assert other == "/map?city=chino&state=looked_at&lang=en"


async def test_a_filter_is_sent_by_the_form_and_stays_in_it(site: Site) -> None:
    await confirmed(site.home)
    paint = await confirmed(site.home, material="paint", location=IN_ONTARIO)
    visitor = site.visitor()
    page = await visitor.send(await visitor.get("/map"), "/map", city="ontario", since="2026-12-01", material="paint")
    assert "1 spill" in page.text
    assert [item["id"] for item in page.root.all("li") if item["id"]] == [paint]
    [form] = page.forms("/map")
    assert {option["value"] for option in form.all("option") if "selected" in option.attributes} == {"ontario", "paint"}
    assert page.one("since")["value"] == "2026-12-01"
    assert (await visitor.get("/map?advisory=in_force")).text.count("SP-2026") == 0


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("since=yesterday", "Write the day as year, month and day: 2026-12-01."), ("city=atlantis", "Choose one of the list."),
        ("state=open&material=soup", "Choose one of the list."), ("page=0", "There is no such page of the list."),
        ("page=9", "There is no such page of the list."), ("page=x", "There is no such page of the list."),
        ("page=99999999999999999999", "There is no such page of the list."), ("since=%00&city=%3Cscript%3E", "Choose one of the list."),
    ],
)  # fmt: skip
async def test_what_cannot_be_asked_is_told_beside_its_field(site: Site, query: str, said: str) -> None:
    page = await site.visitor().get(f"/map?{query}")
    assert page.status == 422
    assert said in page.one("faults").text or any(said in part.text for part in page.root.all("section") if part["role"] == "alert")
    assert "<script>" not in page.response.text.replace("<script src", "")


async def test_twenty_spills_make_a_page_and_older_ones_the_next(site: Site) -> None:
    for _ in range(21):
        await confirmed(site.home)
    visitor = site.visitor()
    first = await visitor.get("/map?city=chino")
    assert "21 spills" in first.text
    [older] = [link["href"] for link in first.root.all("a") if link["rel"] == "next"]
    assert older == "/map?city=chino&page=2"
    second = await visitor.get(older)
    assert [item["id"] for item in second.root.all("li") if item["id"]] == ["SP-2026-00001"]
    assert "Page 2 of 2" in second.text
    assert [link["href"] for link in second.root.all("a") if link["rel"] == "prev"] == ["/map?city=chino&page=1"]


async def test_advisories_stand_at_the_top_and_an_all_clear_for_a_week(site: Site) -> None:
    first, second = await confirmed(site.home), await confirmed(site.home)
    await tell(site.home, first, where_en="Along Chino Creek", where_es="A lo largo del arroyo Chino")
    await tell(site.home, second, where_en="Central Avenue", where_es="Central Avenue")
    site.home.clock.jump(hours=1)
    await tell(site.home, second, "all_clear", where_en="Central Avenue", where_es="Central Avenue")
    visitor = site.visitor()
    page = await visitor.get("/map")
    links = {link["href"]: link.text for link in page.root.all("a") if link["href"].startswith("/advisories/")}
    assert "Advisory in force: Along Chino Creek" in page.text
    assert "All clear: Central Avenue" in page.text
    assert set(links) == {"/advisories/1", "/advisories/2"}
    assert "A lo largo del arroyo Chino" in (await visitor.get("/map?lang=es")).text
    assert "Along Chino Creek" not in (await site.visitor().get("/map?city=ontario")).text
    site.home.clock.jump(days=8)
    later = await site.visitor().get("/map")
    assert "Along Chino Creek" in later.text
    assert "All clear: Central Avenue" not in later.text


async def test_the_boundaries_of_the_cities_served_are_there_for_maps(site: Site) -> None:
    http = site.visitor().http
    answer = await http.get("/map/cities.geojson")
    assert answer.headers["content-type"] == "application/geo+json"
    assert len(answer.content) < 60_000
    named = {feature["properties"]["city"]: feature["properties"]["name"] for feature in answer.json()["features"]}
    assert named["chino"] == "City of Chino, California"
    assert "clearlake" not in named  # its boundary is not known
    again = await http.get("/map/cities.geojson", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


async def test_no_page_lets_pictures_in_from_elsewhere_unless_tiles_are_set(site: Site) -> None:
    http = site.visitor().http
    assert "img-src 'self' data:;" in (await http.get("/map")).headers["content-security-policy"]
    tiles = "https://tiles.example.gov:8443/{z}/{x}/{y}.png © County & GIS"
    settings = Settings(home_dir=site.home.house.settings.home_dir, map_tiles=tiles)
    tiled = site.home.with_house(settings=settings)
    async with tiled.client() as other:
        answer = await other.get("/map")
    assert "img-src 'self' data: https://tiles.example.gov:8443;" in answer.headers["content-security-policy"]
    assert 'data-tiles="https://tiles.example.gov:8443/{z}/{x}/{y}.png" data-credit="© County &amp; GIS"' in answer.text


async def test_the_place_of_a_spill_can_be_chosen_on_a_map_by_staff(site: Site) -> None:
    reference = await site.home.report(a_report())
    page = await (await site.staff()).get(f"/staff/spills/{reference}/location")
    [part] = [element for element in page.root.all("div") if "data-pin-map" in element.attributes]
    assert (part["data-lat"], part["data-lon"], part["data-city"]) == ("lat", "lon", "chino")
    assert "hidden" in part.attributes
