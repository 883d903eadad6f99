"""Feeds: advisories as CAP 1.2 that its schema accepts, spills and advisories as Atom and CSV, 304 where nothing changed, and no person."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from lxml import etree

from service.access import Staff
from service.disclosure import public_circle
from service.feeds.cap import moment
from service.tables import Spill
from service.unchanged import FRESH_SECONDS
from tests.houses import Household, a_household
from tests.service.test_advisories import tell
from tests.service.test_public_record import confirmed
from tests.spills import IN_ONTARIO

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "standards" / "CAP-v1.2.xsd"))
CAP, ATOM = {"cap": "urn:oasis:names:tc:emergency:cap:1.2"}, {"a": "http://www.w3.org/2005/Atom"}
EVERYWHERE = Staff("una@everywhere.example", "officer", None)
FEEDS = ("/feeds/cap", "/feeds/advisories.atom", "/feeds/spills.atom", "/api/v1/public/spills.csv", "/api/v1/public/spills")


async def get(home: Household, path: str, **headers: str) -> httpx.Response:
    async with home.client() as http:
        return await http.get(path, headers=headers)


async def message(home: Household, number: int) -> Any:
    """A CAP message, held to the schema of the standard."""
    answer = await get(home, f"/feeds/cap/{number}.xml")
    assert answer.headers["content-type"] == "application/cap+xml"
    alert = etree.fromstring(answer.content)
    SCHEMA.assertValid(alert)
    return alert


def said(alert: Any, name: str) -> list[str]:
    return [one.text for one in alert.iterfind(f".//cap:{name}", CAP)]


async def test_an_advisory_its_update_and_its_all_clear_are_alert_update_and_cancel_that_name_what_came_before(home: Household) -> None:
    reference = await confirmed(home)
    await tell(home, reference, metres=1609.0)
    home.clock.jump(hours=1)
    await tell(home, reference, "update", metres=1609.0, what_en="More & <worse>\x0b than thought")
    home.clock.jump(hours=1)
    await tell(home, reference, "all_clear")
    alert, update, cancel = [await message(home, number) for number in (1, 2, 3)]
    assert [said(one, "msgType") for one in (alert, update, cancel)] == [["Alert"], ["Update"], ["Cancel"]]
    assert said(alert, "sent") == ["2026-12-01T14:05:00-08:00"]
    assert said(alert, "references") == []
    first = "spills.example.gov,spills.example.gov-advisory-1,2026-12-01T14:05:00-08:00"
    assert said(update, "references") == [first]
    assert said(cancel, "references") == [f"{first} spills.example.gov,spills.example.gov-advisory-2,2026-12-01T15:05:00-08:00"]
    assert said(alert, "language") == ["en-US", "es-US"]
    assert said(alert, "event") == ["Spill: Sewage", "Derrame: Aguas residuales"]
    assert said(alert, "senderName")[0] == "City of Chino, California"
    assert said(update, "description")[0] == "More & <worse>  than thought"
    assert said(cancel, "responseType") == ["AllClear", "AllClear"]
    assert said(alert, "web") == said(cancel, "web") == ["https://spills.example.gov/advisories/1"] * 2


async def test_the_index_lists_every_message_and_holds_each_whole(home: Household) -> None:
    await tell(home, await confirmed(home))
    other = await confirmed(home, location=IN_ONTARIO)
    await tell(home, other, staff=EVERYWHERE)
    home.clock.jump(minutes=5)
    await tell(home, other, "all_clear", staff=EVERYWHERE)
    feed = etree.fromstring((await get(home, "/feeds/cap")).content)
    alerts = feed.findall(".//a:content/cap:alert", {**ATOM, **CAP})
    assert [said(one, "msgType")[0] for one in alerts] == ["Cancel", "Alert", "Alert"]
    for one in alerts:
        SCHEMA.assertValid(etree.fromstring(etree.tostring(one)))
    links = feed.xpath("a:entry/a:link/@href", namespaces=ATOM)
    assert links == [f"https://spills.example.gov/feeds/cap/{number}.xml" for number in (3, 2, 1)]
    ontario = etree.fromstring((await get(home, "/feeds/cap?city=ontario")).content)
    assert len(ontario.findall("a:entry", ATOM)) == 2
    home.clock.jump(days=31)
    assert len(etree.fromstring((await get(home, "/feeds/cap")).content).findall("a:entry", ATOM)) == 1
    assert said(await message(home, 3), "msgType") == ["Cancel"]  # who has its address still reads it


async def test_a_whole_city_is_drawn_as_closed_polygons_and_a_circle_in_kilometres(home: Household) -> None:
    await tell(home, await confirmed(home))
    await tell(home, await confirmed(home, location={"lat": 34.01234, "lon": -117.68765}), metres=805.0)
    for polygon in said(await message(home, 1), "polygon"):
        points = polygon.split()
        assert points[0] == points[-1]
        assert len(points) > 4
        assert all(33 < float(point.split(",")[0]) < 35 and -118 < float(point.split(",")[1]) < -117 for point in points)
    assert said(await message(home, 2), "circle") == ["34.012,-117.688 0.885"] * 2


def test_the_circle_that_the_public_sees_holds_what_it_held_and_tells_no_home() -> None:
    area = {"city": "chino", "lat": 34.01234, "lon": -117.68765, "metres": 805.0}
    spill = Spill(reference="SP-2026-00001", received_at=datetime(2026, 12, 1, tzinfo=UTC), facts={}, flags=[], reporter={}, discharger={})
    assert public_circle(spill, area) == (34.012, -117.688, 885.0)
    spill.facts = {"premises": "residential"}
    assert public_circle(spill, area) == (34.01, -117.69, 1605.0)
    assert public_circle(spill, {"city": "chino", "lat": 34.01234, "lon": -117.68765}) is None


@pytest.mark.parametrize(
    ("at", "zone", "written"),
    [
        (datetime(2026, 11, 1, 8, 30, tzinfo=UTC), "America/Los_Angeles", "2026-11-01T01:30:00-07:00"),
        (datetime(2026, 11, 1, 9, 30, tzinfo=UTC), "America/Los_Angeles", "2026-11-01T01:30:00-08:00"),
        (datetime(2026, 1, 1, 0, 0, 0, 7, tzinfo=UTC), "UTC", "2026-01-01T00:00:00-00:00"),
    ],
)
def test_times_are_local_with_an_offset_also_in_the_hour_that_comes_twice(at: datetime, zone: str, written: str) -> None:
    assert moment(at, ZoneInfo(zone)) == written


async def test_feeds_of_spills_and_advisories_are_atom_in_both_languages(home: Household) -> None:
    first = await confirmed(home)
    await tell(home, first)
    await confirmed(home, material="paint", premises="residential")
    english, spanish = [etree.fromstring((await get(home, f"/feeds/spills.atom?lang={one}")).content) for one in ("en", "es")]
    for feed in (english, spanish):
        for required in ("id", "title", "updated"):
            assert all(one.find(f"a:{required}", ATOM) is not None for one in (feed, *feed.findall("a:entry", ATOM)))
    assert [one.text for one in english.iterfind("a:entry/a:title", ATOM)] == [
        "Paint, City of Chino, California (SP-2026-00002)", f"Sewage, City of Chino, California, in the north ({first})",
    ]  # fmt: skip
    assert spanish.findtext("a:entry/a:title", namespaces=ATOM).startswith("Pintura")
    assert [one.text for one in english.iter("{http://www.georss.org/georss}point")] == ["34.01 -117.69"]
    told = etree.fromstring((await get(home, "/feeds/advisories.atom?lang=es")).content)
    assert told.findtext("a:entry/a:title", namespaces=ATOM).startswith("Aviso")
    assert told.get("{http://www.w3.org/XML/1998/namespace}lang") == "es"


async def test_the_sheet_has_stable_columns_numbers_as_numbers_and_no_formula(home: Household) -> None:
    reference = await confirmed(home, reached=["storm_drain", "street"])
    answer = await get(home, "/api/v1/public/spills.csv?city=chino")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    heads, row = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert heads == [
        "reference", "city", "material", "amount", "reached", "received_at", "lat", "lon", "state", "advisory", "advisory_url",
        "changed_at",
    ]  # fmt: skip
    assert row == [
        reference, "chino", "sewage", "1000_to_10000_gal", "storm_drain;street", "2026-12-01T22:00:00Z", "34.01", "-117.69", "looked_at",
        "none", "", "2026-12-01T22:05:00Z",
    ]  # fmt: skip
    refused = await get(home, "/api/v1/public/spills.csv?citty=chino")
    assert refused.status_code == 422
    assert "there is no such filter" in refused.json()["errors"][0]


@pytest.mark.parametrize("path", FEEDS)
async def test_whoever_has_it_as_it_is_gets_304_by_its_mark_or_its_time_until_something_changes(home: Household, path: str) -> None:
    reference = await confirmed(home)
    await tell(home, reference)
    fresh = await get(home, path)
    assert "last-modified" not in fresh.headers, "the second of the change is not over"
    home.clock.jump(seconds=5)
    answer = await get(home, path)
    mark, since = answer.headers["etag"], answer.headers["last-modified"]
    assert parsedate_to_datetime(since) == home.clock.at - timedelta(seconds=5)
    assert answer.headers["cache-control"] == f"public, max-age={FRESH_SECONDS}"
    assert answer.headers["access-control-allow-origin"] == "*"
    for known in ({"if-none-match": mark}, {"if-none-match": f'"x", W/{mark}'}, {"if-modified-since": since}):
        unchanged = await get(home, path, **known)
        assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", mark)
    assert (await get(home, path, **{"if-none-match": '"x"', "if-modified-since": since})).status_code == 200
    assert (await get(home, path, **{"if-modified-since": "yesterday"})).status_code == 200
    home.clock.jump(minutes=1)
    await tell(home, reference, "all_clear")
    home.clock.jump(minutes=1)
    for known in ({"if-none-match": mark}, {"if-modified-since": since}):
        assert (await get(home, path, **known)).status_code == 200


async def test_what_left_the_public_record_is_a_change_too(home: Household) -> None:
    reference = await confirmed(home)
    home.clock.jump(minutes=1)
    since = (await get(home, "/feeds/spills.atom")).headers["last-modified"]
    await home.amend(reference, release="suspected")
    home.clock.jump(minutes=1)
    answer = await get(home, "/feeds/spills.atom", **{"if-modified-since": since})
    assert answer.status_code == 200
    assert reference not in answer.text


@pytest.mark.parametrize("path", ["/feeds/cap/9.xml", "/feeds/cap/0.xml", "/feeds/cap/99999999999999.xml"])
async def test_a_message_that_does_not_exist_is_not_found(home: Household, path: str) -> None:
    assert (await get(home, path)).status_code == 404


@pytest.mark.parametrize(
    "path", ["/feeds/cap?city=atlantis", "/feeds/spills.atom?city=x", "/feeds/advisories.atom?lang=fr", "/feeds/cap/x.xml"]
)
async def test_what_cannot_be_asked_for_is_refused(home: Household, path: str) -> None:
    answer = await get(home, path)
    assert answer.status_code == 422
    assert answer.json()["errors"]


async def test_an_empty_record_gives_empty_feeds_that_stay_the_same(home: Household) -> None:
    before = [(await get(home, path)).headers["etag"] for path in FEEDS]
    home.clock.jump(days=2)
    assert [(await get(home, path)).headers["etag"] for path in FEEDS] == before


async def test_advisories_of_a_city_that_is_not_served_are_in_no_feed(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        await tell(home, await confirmed(home))
        async with a_household(tmp_path, cities="ontario") as other:
            assert "<entry>" not in (await get(other, "/feeds/cap")).text
            assert (await get(other, "/feeds/cap/1.xml")).status_code == 404
