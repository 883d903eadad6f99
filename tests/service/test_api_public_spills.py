"""The open data: filtered, paged, cacheable, told in two languages, as its document says, and quick with thousands of spills."""

from __future__ import annotations

from datetime import timedelta
from time import perf_counter
from typing import Any

import jsonschema
import pytest
from sqlalchemy import insert

from service.tables import PublicSpill, Spill
from service.transaction import transaction
from tests.houses import Household
from tests.service.test_advisories import tell
from tests.service.test_public_record import confirmed
from tests.spills import IN_ONTARIO

PATH = "/api/v1/public/spills"
MANY = 5000


async def get(home: Household, query: str = "", status: int = 200) -> dict[str, Any]:
    async with home.client() as http:
        answer = await http.get(f"{PATH}?{query}")
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def references(home: Household, query: str = "") -> list[str]:
    return [feature["id"] for feature in (await get(home, query))["features"]]


@pytest.fixture
async def four(home: Household) -> list[str]:
    """A sewage spill with an advisory; paint in Ontario a day later; oil that is cleaned up; and a spill at a home."""
    first = await confirmed(home)
    await tell(home, first)
    home.clock.jump(days=1)
    second = await confirmed(home, material="paint", location=IN_ONTARIO)
    third = await confirmed(home, material="petroleum", location={"lat": 33.98, "lon": -117.66})
    await home.happened(third, "cleanup_done")
    return [first, second, third, await confirmed(home, premises="residential", material="wash_water")]


FOUND: dict[str, list[int]] = {
    "": [3, 2, 1, 0], "city=chino": [3, 2, 0], "city=ontario": [1], "city=soledad": [], "material=paint": [1], "state=cleaned_up": [2],
    "advisory=in_force": [0], "since=2026-12-02": [3, 2, 1], "since=2026-12-03": [], "since=2026-12-01T14:30:00-08:00": [3, 2, 1, 0],
    "since=2026-12-01T15:30:00-08:00": [3, 2, 1], "bbox=-117.70,34.0,-117.65,34.02": [0], "bbox=-117.70,33.9,-117.5,34.06": [2, 1, 0],
    "bbox=170,30,-117.65,40": [2, 0], "city=chino&since=2026-12-02&material=petroleum&state=cleaned_up": [2],
    "city=&material=": [3, 2, 1, 0],
}  # fmt: skip


async def test_filters_find_what_they_say(home: Household, four: list[str]) -> None:
    for query, found in FOUND.items():
        assert await references(home, query) == [four[index] for index in found], query


async def test_a_feature_tells_what_the_public_may_know(home: Household, four: list[str]) -> None:
    body = await get(home)
    assert {key: body[key] for key in ("type", "numberMatched", "numberReturned", "links")} == {
        "type": "FeatureCollection", "numberMatched": 4, "numberReturned": 4, "links": [],
    }  # fmt: skip
    by_id = {feature["id"]: feature for feature in body["features"]}
    assert by_id[four[3]]["geometry"] is None
    assert by_id[four[0]] == {
        "type": "Feature", "id": four[0], "geometry": {"type": "Point", "coordinates": [-117.69, 34.01]},
        "properties": {
            "reference": four[0], "city": "chino", "material": "sewage", "amount": "1000_to_10000_gal", "reached": [],
            "received_at": "2026-12-01T22:00:00Z", "state": "looked_at", "advisory": "in_force",
            "advisory_url": "https://spills.example.gov/advisories/1", "changed_at": "2026-12-01T22:05:00Z",
            "words": {
                "title": "Sewage", "place": "City of Chino, California, in the north", "received": "Dec 1, 2026, 2:00 PM PST",
                "amount": "1,000 to 10,000 gallons", "reached": "", "state": "Being looked at", "advisory": "Advisory in force",
            },
        },
    }  # fmt: skip


async def test_the_words_come_in_the_language_asked_for_and_no_other(home: Household, four: list[str]) -> None:
    async with home.client() as http:
        english = await http.get(PATH, headers={"Accept-Language": "es"})
        spanish = await http.get(f"{PATH}?lang=es", headers={"Accept-Language": "en"})
    assert english.json()["features"][-1]["properties"]["words"]["state"] == "Being looked at"
    assert spanish.json()["features"][-1]["properties"]["words"]["state"] == "En revisión"


async def test_pages_follow_each_other_without_a_gap_or_a_double(home: Household) -> None:
    made = [await confirmed(home) for _ in range(7)]
    query, found = "limit=3&city=chino&lang=es", []
    while query:
        body = await get(home, query)
        assert body["numberMatched"] == 7
        found += [feature["id"] for feature in body["features"]]
        [query] = [link["href"].partition("?")[2] for link in body["links"]] or [""]
        assert not query or ("city=chino" in query and "lang=es" in query)
    assert found == made[::-1]
    gone = await get(home, "after=SP-2026-99999", 422)
    assert gone["errors"] == ["after: it is not on the list (any more); right would be: begin without it"]


REFUSED = {
    "city=atlantis": "city: 'atlantis' is none of the choices", "material=soup": "right would be: sewage, petroleum",
    "state=open": "right would be: looked_at, cleaning, cleaned_up, closed", "advisory=yes": "right would be: in_force",
    "since=yesterday": "right would be: 2026-12-01", "since=2026-02-30": "since: '2026-02-30' is no time",
    "since=0001-01-01T00:00:00%2B14:00": "since: ", "bbox=1,2,3": "right would be: west,south,east,north",
    "bbox=-117,35,-116,34": "bbox: ", "bbox=nan,nan,nan,nan": "bbox: ", "bbox=-400,1,2,3": "bbox: ",
    "limit=0": "query.limit: ", "limit=100000": "query.limit: ", "limit=x": "query.limit: ", "lang=fr": "query.lang: ",
    "citty=chino": "citty: there is no such filter; right would be: some of city, since", f"city={'x' * 101}": "query.city: ",
}  # fmt: skip


async def test_what_cannot_be_asked_is_refused_with_what_would_be_right(home: Household) -> None:
    for query, told in REFUSED.items():
        body = await get(home, query, 422)
        assert body["status"] == 422
        assert any(told in error for error in body["errors"]), (query, body["errors"])


async def test_an_answer_may_be_kept_and_is_known_by_its_mark(home: Household) -> None:
    reference = await confirmed(home)
    async with home.client() as http:
        first = await http.get(PATH)
        assert first.headers["content-type"] == "application/geo+json"
        assert first.headers["cache-control"] == "public, max-age=60"
        same = await http.get(PATH, headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", first.headers["etag"])
        home.clock.jump(hours=1)
        await home.amend(reference, material="paint")
        changed = await http.get(PATH, headers={"If-None-Match": first.headers["etag"]})
        assert changed.status_code == 200
        assert changed.headers["etag"] != first.headers["etag"]


async def test_pages_of_other_sites_may_read_this_and_nothing_else(home: Household) -> None:
    elsewhere = {"Origin": "https://newspaper.example"}
    async with home.client() as http:
        for path in (PATH, f"{PATH}?city=atlantis"):
            answer = await http.get(path, headers=elsewhere)
            assert answer.headers["access-control-allow-origin"] == "*"
        for path in ("/api/v1/cities", "/api/v1/spills", "/map", "/openapi.json"):
            assert "access-control-allow-origin" not in (await http.get(path, headers=elsewhere)).headers


async def test_the_answer_is_what_its_document_says(home: Household, four: list[str]) -> None:
    async with home.client() as http:
        document = (await http.get("/openapi.json")).json()
    described = document["paths"][PATH]["get"]
    schema = described["responses"]["200"]["content"]["application/geo+json"]["schema"]
    jsonschema.validate(await get(home), {**schema, "components": document["components"]})
    properties = document["components"]["schemas"]["Properties"]["properties"]
    assert all(one.get("description") or "$ref" in one for one in properties.values())
    assert {parameter["name"] for parameter in described["parameters"]} == {
        "city", "since", "material", "state", "advisory", "bbox", "limit", "after", "lang",
    }  # fmt: skip


# -- thousands


QUICK = (
    PATH, f"{PATH}?bbox=-117.63,34.01,-117.62,34.02", f"{PATH}?city=ontario&material=paint&lang=es", "/map", "/map?page=250",
    "/map?city=chino&material=sewage&since=2026-01-01&lang=es",
)  # fmt: skip


async def fill(home: Household) -> None:
    """Five thousand public spills among as many that are not."""
    materials = ("sewage", "paint", "petroleum", "wash_water")
    rows, shown = [], []
    for number in range(1, 2 * MANY + 1):
        at, reference = home.clock.at - timedelta(hours=number), f"SP-2026-{number:05d}"
        rows.append({
            "id": number, "reference": reference, "city": "chino", "received_at": at, "description": "x" * 200, "facts": {}, "flags": [],
            "reporter": {}, "discharger": {}, "address": "",
        })  # fmt: skip
        shown.append({
            "spill_id": number, "reference": reference, "city": ("chino", "ontario")[number % 3 == 0], "amount": "unknown",
            "material": materials[number // 2 % 4], "reached": ["street"], "received_at": at.replace(minute=0),
            "lat": 34.0 + number % 97 / 1000, "lon": -117.6 - number % 89 / 1000, "state": "looked_at",
            "advisory": "none", "changed_at": at,
        })  # fmt: skip
    async with transaction(home.house, "test") as tx:
        await tx.session.execute(insert(Spill), rows)
        await tx.session.execute(insert(PublicSpill), shown[::2])


async def test_five_thousand_spills_are_listed_in_a_moment(home: Household) -> None:
    await fill(home)
    async with home.client() as http:
        for path in QUICK:
            spent = []
            for _ in range(6):  # the first time reads templates, words and boundaries
                before = perf_counter()
                answer = await http.get(path)
                spent.append(perf_counter() - before)
                assert answer.status_code == 200, path
            assert min(spent[1:]) < 0.3, (path, spent)
