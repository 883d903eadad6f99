"""Open311 GeoReport v2: services, posting and reading back in JSON and XML, keys, errors as the standard has them, and who sees what.

tests/service/test_open311_clients.py does the same with clients that others wrote.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from lxml import etree

from service import api_keys, closing, obligations
from service.access import Staff
from service.public_words import MATERIALS
from service.transaction import transaction
from tests.houses import OFFICER, Household
from tests.pictures import photo
from tests.service.people import an_account
from tests.service.test_public_record import confirmed
from tests.spills import IN_ONTARIO

V2 = "/open311/v2"
SEWAGE = {"service_code": "sewage", "lat": "34.01", "long": "-117.69", "description": "A manhole overflows."}
# The fields of a request, in the order of the standard.
FIELDS = [
    "service_request_id", "status", "status_notes", "service_name", "service_code", "description", "agency_responsible", "service_notice",
    "requested_datetime", "updated_datetime", "expected_datetime", "address", "address_id", "zipcode", "lat", "long", "media_url",
]  # fmt: skip


async def get(home: Household, path: str, status: int = 200, **query: str) -> Any:
    async with home.client() as http:
        answer = await http.get(f"{V2}/{path}", params=query)
    assert answer.status_code == status, answer.text
    return etree.fromstring(answer.content) if "xml" in path else answer.json()


async def post(home: Household, status: int = 201, form: str = "json", **given: Any) -> httpx.Response:
    async with home.client() as http:
        answer = await http.post(f"{V2}/requests.{form}", **given)
    assert answer.status_code == status, answer.text
    return answer


async def sent(home: Household, **fields: str) -> str:
    reference: str = (await post(home, data={**SEWAGE, **fields})).json()[0]["service_request_id"]
    return reference


# -- services


async def test_there_is_a_service_for_each_material_the_same_in_json_and_xml(home: Household) -> None:
    as_json, as_xml = await get(home, "services.json"), await get(home, "services.xml")
    assert [one["service_code"] for one in as_json] == list(MATERIALS) == [one.text for one in as_xml.iter("service_code")]
    assert list(as_json[0]) == ["service_code", "service_name", "description", "metadata", "type", "keywords", "group"]
    assert as_xml.tag == "services"
    assert (as_xml.findtext("service/metadata"), as_json[0]["metadata"]) == ("true", True)
    assert (await get(home, "services.json", lang="es"))[0]["service_name"] == "Derrame: Aguas residuales"
    assert await get(home, "services.json", jurisdiction_id="ontario") == as_json


async def test_a_definition_says_what_else_can_be_told_and_asks_for_nothing(home: Household) -> None:
    told = await get(home, "services/sewage.json")
    assert [(one["code"], one["datatype"], one["required"]) for one in told["attributes"]] == [
        ("volume", "string", False), ("reached", "multivaluelist", False), ("seen_at", "datetime", False),
        ("language", "singlevaluelist", False),
    ]  # fmt: skip
    xml = await get(home, "services/sewage.xml")
    assert xml.findtext("attributes/attribute[2]/values/value/key") == "storm_drain"


async def test_discovery_names_the_endpoint_and_both_formats(home: Household) -> None:
    async with home.client() as http:
        told = (await http.get("/open311/discovery.json")).json()
    assert told["endpoints"][0]["url"] == "https://spills.example.gov/open311/v2"
    assert [one.text for one in (await get(home, "discovery.xml")).iter("format")] == ["text/xml", "application/json"]


# -- posting


async def test_a_request_is_a_report_with_all_that_was_said(home: Household) -> None:
    answer = await post(home, data={
        **SEWAGE, "address_string": "13220 Central Ave", "first_name": "Ann", "last_name": "Lee", "email": "ann@example.org",
        "media_url": "https://pictures.example.org/1.jpg", "attribute[volume]": "1500 gal",
        "attribute[reached][]": ["street", "storm_drain"],
        "attribute[language]": "es", "device_id": "tt222111",
    })  # fmt: skip
    [told] = answer.json()
    assert list(told) == ["service_request_id", "account_id", "service_notice"]
    spill = await home.spill(told["service_request_id"])
    assert told["service_notice"].startswith("Siga su reporte en su página privada: https://spills.example.gov/status/")
    assert spill.description == "A manhole overflows.\n\nMedia: https://pictures.example.org/1.jpg"
    assert (spill.city, spill.address, spill.lat, spill.language) == ("chino", "13220 Central Ave", 34.01, "es")
    assert spill.reporter == {"name": "Ann Lee", "email": "ann@example.org", "privacy": "confidential"}
    assert (spill.facts["material"], sorted(spill.facts["reached"])) == ("sewage", ["storm_drain", "street"])
    assert spill.facts["volume"] == {"quantity": 1500, "unit": "gal"}
    assert await home.clock_of(spill.reference, "chino/rwqcb-2-hours")
    assert "tt222111" not in str([row.payload for row, _ in await home.history(spill.reference)])


async def test_a_request_in_xml_is_answered_in_xml(home: Household) -> None:
    answer = await post(home, form="xml", data=SEWAGE)
    assert answer.headers["content-type"] == "text/xml; charset=utf-8"
    root = etree.fromstring(answer.content)
    assert (root.tag, root.findtext("request/service_request_id")) == ("service_requests", "SP-2026-00001")


async def test_pictures_that_are_sent_along_are_kept(home: Household) -> None:
    reference = (await post(home, data=SEWAGE, files={"media": ("x.jpg", photo(), "image/jpeg")})).json()[0]["service_request_id"]
    assert [event.kind for _, event in await home.history(reference)].count("file:kept") == 1


async def test_an_address_without_a_point_is_looked_for_in_the_jurisdiction(home: Household) -> None:
    fields = {"service_code": "paint", "address_string": "13220 Central Ave", "jurisdiction_id": "chino"}
    spill = await home.spill((await post(home, data=fields)).json()[0]["service_request_id"])
    assert (spill.city, spill.address) == ("chino", "13220 Central Ave, Chino, California")


async def test_the_same_key_with_the_same_fields_is_one_report(home: Household) -> None:
    answers = [await post(home, data=SEWAGE, headers={"Idempotency-Key": "k1"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()


WRONG: dict[str, tuple[dict[str, str], int, str]] = {
    "no service": ({"lat": "34", "long": "-117"}, 400, "service_code: missing"),
    "an unknown service": ({**SEWAGE, "service_code": "potholes"}, 404, "service_code: 'potholes' was not found"),
    "no place": ({"service_code": "sewage"}, 400, "lat, long or address_string: missing"),
    "half a point": ({"service_code": "sewage", "lat": "34"}, 400, "both of lat and long"),
    "an unknown jurisdiction": ({**SEWAGE, "jurisdiction_id": "atlantis"}, 404, "jurisdiction_id: 'atlantis' was not found"),
    "a made-up key": ({**SEWAGE, "api_key": "sc_api_no"}, 403, "the api_key does not count"),
}


@pytest.mark.parametrize("what", WRONG)
async def test_what_cannot_be_taken_is_told_as_the_standard_has_it_in_both_formats(home: Household, what: str) -> None:
    fields, status, told = WRONG[what]
    [error] = (await post(home, status, data=fields)).json()
    assert error["code"] == status
    assert told in error["description"]
    root = etree.fromstring((await post(home, status, form="xml", data=fields)).content)
    assert (root.tag, root.findtext("error/code")) == ("errors", str(status))
    assert told in (root.findtext("error/description") or "")


async def test_odd_numbers_are_kept_and_flagged_and_a_format_that_does_not_exist_is_told_before(home: Household) -> None:
    spill = await home.spill(await sent(home, lat="up the hill", **{"attribute[volume]": "a bathtub or so"}))
    assert any("lat and lon are not both numbers" in flag for flag in spill.flags)
    await post(home, 404, form="yaml", data=SEWAGE)
    assert (await get(home, "requests/SP-2026-00002.json", 404))[0]["code"] == 404
    assert (await get(home, "services.yaml", 404))[0]["description"].endswith("right would be: json or xml")


# -- keys


async def test_a_key_is_of_use_as_far_as_its_scope_goes(home: Household) -> None:
    await an_account(home)
    async with transaction(home.house, "test") as tx:
        ann = Staff("ann@chino.example", "officer", "chino")
        report, _ = await api_keys.make(tx, ann, "311", ["report"], None, 90)
        only_read, _ = await api_keys.make(tx, ann, "board", ["read"], None, 90)
    reference = await sent(home, api_key=report)
    assert (await home.history(reference))[0][0].actor == "ann@chino.example"
    await post(home, 403, data={**SEWAGE, "api_key": only_read})
    strangers, own, staffs = [
        (await get(home, f"requests/{reference}.json", **({"api_key": key} if key else {})))[0] for key in ("", report, only_read)
    ]
    assert (strangers["description"], own["description"]) == (None, "A manhole overflows.")
    assert own == staffs
    another = await sent(home)
    assert (await get(home, f"requests/{another}.json", api_key=report))[0]["description"] is None


# -- reading back


async def test_what_was_posted_is_read_back_by_anybody_without_words_or_place_until_the_city_confirms_it(home: Household) -> None:
    home.clock.jump(minutes=7)
    reference = await sent(home)
    [told] = await get(home, f"requests/{reference}.json")
    assert list(told) == FIELDS
    assert (told["status"], told["service_code"], told["status_notes"]) == (
        "open",
        "sewage",
        "Received. The city has not confirmed it yet.",
    )
    assert (told["requested_datetime"], told["description"], told["lat"], told["address"]) == ("2026-12-01T22:00:00Z", None, None, None)
    assert told["expected_datetime"] == "2026-12-01T22:00:00Z"  # immediately: within the quarter of an hour, and told to the hour
    assert await get(home, "requests.json") == []
    await home.amend(reference, release="confirmed")
    [listed] = await get(home, "requests.json")
    assert [listed] == await get(home, f"requests/{reference}.json")
    assert (listed["lat"], listed["address"], listed["agency_responsible"]) == (
        34.01, "City of Chino, California, in the north", "City of Chino, California",
    )  # fmt: skip
    assert "overflows" not in str(listed)


async def test_whoever_holds_the_private_page_reads_their_own_words_and_the_exact_deadline(home: Household) -> None:
    notice = (await post(home, data={**SEWAGE, "attribute[volume]": "1500 gal"})).json()[0]["service_notice"]
    token = notice.rpartition("/")[2]
    [told] = await get(home, f"requests/{token}.json")
    assert (told["description"], told["lat"]) == ("A manhole overflows.", 34.01)
    first = min(row.due_at for row in await home.clocks(told["service_request_id"]) if row.due_at and row.act != "retention")
    assert told["expected_datetime"] == first.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert await get(home, f"tokens/{token}.json") == [{"service_request_id": told["service_request_id"], "token": token}]
    assert (await get(home, f"tokens/{token[:-1]}x.json", 404))[0]["code"] == 404
    assert (await get(home, f"requests/{token[:-1]}x.json", 404))[0]["code"] == 404


async def test_lists_are_filtered_by_kind_status_time_number_and_place(home: Household) -> None:
    first = await confirmed(home)
    home.clock.jump(days=40)
    second = await confirmed(home, material="paint", location=IN_ONTARIO)
    async with transaction(home.house, OFFICER) as tx:
        spill = await tx.spill(first)
        owed = [row.id or 0 for row in await obligations.of_spill(tx, spill)]
        await closing.close(tx, spill, {"en": "It was cleaned up.", "es": "Se limpió."}, "manager", owed)
    home.clock.jump(hours=1)

    async def found(**query: str) -> list[str]:
        return [one["service_request_id"] for one in await get(home, "requests.json", **query)]

    assert await found() == [second, first]
    assert await found(service_code="paint,concrete") == [second]
    assert (await found(status="closed"), await found(status="open"), await found(status="open,closed")) == (
        [first],
        [second],
        [second, first],
    )
    assert await found(start_date="2026-12-20T00:00:00Z") == [second]
    assert await found(end_date="2026-12-20T00:00:00Z") == [first]
    assert await found(start_date="2026-11-01T00:00:00-08:00", end_date="2026-12-20T00:00:00Z") == [first]
    assert await found(jurisdiction_id="ontario") == [second]
    assert await found(service_request_id=f"{first},SP-2026-99999,{second}", status="closed") == [first, second]
    assert (await found(page_size="1"), await found(page_size="1", page="2")) == ([second], [first])
    home.clock.jump(days=60)
    assert await found() == [second]
    for wrong in (
        {"status": "odd"},
        {"start_date": "x"},
        {"page": "0"},
        {"start_date": "2020-01-01T00:00:00Z", "end_date": "2026-12-01T00:00:00Z"},
    ):
        assert (await get(home, "requests.json", 400, **wrong))[0]["code"] == 400
    xml = await get(home, "requests.xml")
    assert [child.tag for child in xml.find("request")] == FIELDS


async def test_a_list_is_304_to_whoever_has_it(home: Household) -> None:
    await confirmed(home)
    async with home.client() as http:
        mark = (await http.get(f"{V2}/requests.json")).headers["etag"]
        again = await http.get(f"{V2}/requests.json", headers={"if-none-match": mark})
    assert (again.status_code, again.content) == (304, b"")


async def test_anybody_without_a_key_is_held_to_the_limits_for_anybody(home: Household) -> None:
    small = home.with_house(settings=home.house.settings.model_copy(update={"limit_factor": 0.02}))
    statuses = []
    async with small.client() as http:
        for _ in range(4):
            answer = await http.post(f"{V2}/requests.json", data=SEWAGE)
            statuses.append(answer.status_code)
    assert statuses[0] == 201
    assert statuses[-1] == 429
    assert answer.json()[0]["code"] == 429
    assert int(answer.headers["retry-after"]) > 0
    assert timedelta(seconds=int(answer.headers["retry-after"])) <= timedelta(hours=1)
