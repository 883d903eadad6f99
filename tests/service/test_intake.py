"""A report comes in: stored before anything else can fail, never refused for being odd, and answered the same however often it is sent."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from deadlines import CityLaw, Place, Places, Rulebook
from service import intake
from service.errors import BadInput
from service.events import AssessmentFailed, FactsRecorded, ObligationOpened, ReportReceived, TriageAsked
from service.intake import Arrival, take_in
from service.parties import spill_of_token
from service.transaction import reading
from tests.houses import TUESDAY, Household, a_household, shipped_law
from tests.spills import IN_CHINO, IN_ONTARIO, NOWHERE_NEAR, a_report, gallons

FAILED = "the law could not be applied; a person must look"


async def posted(home: Household, body: Any, token: str | None = None, **headers: str | bytes) -> httpx.Response:
    """Post a report as JSON, with everything JSON can hold, half surrogates and NaN included."""
    async with home.client(token) as client:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await client.post("/api/v1/spills", content=content, headers=headers)


async def kept(home: Household, body: Any, token: str | None = None) -> tuple[list[str], dict[str, Any]]:
    """Post a report that must be kept. Returns its warnings and facts."""
    answer = await posted(home, body, token)
    assert answer.status_code == 201, answer.text
    return answer.json()["warnings"], (await home.spill(answer.json()["reference"])).facts


# -- a plain report


async def test_a_plain_report_is_answered_with_reference_link_city_and_warnings(small: Household) -> None:
    answer = await posted(small, a_report(volume=None))
    assert answer.status_code == 201
    body = answer.json()
    assert set(body) == {"reference", "status_url", "jurisdiction", "warnings"}
    assert body["reference"] == "SP-2026-00001"
    assert answer.headers["location"] == "/api/v1/spills/SP-2026-00001"
    assert body["jurisdiction"] == "chino"
    assert body["warnings"] == ["no volume that can be used; a person should estimate it"]
    token = body["status_url"].removeprefix("https://spills.example.gov/status/")
    async with reading(small.house) as tx:
        assert (await spill_of_token(tx, "status", token)).reference == body["reference"]


async def test_the_raw_report_is_kept_just_as_it_came(small: Household) -> None:
    body = a_report(colour="brown", reached="nonsense", contact={"name": "A. Neighbour", "phone": "555"}, deep={"a": [1, {"b": None}]})
    reference = (await posted(small, body)).json()["reference"]
    [received] = await small.events(reference, ReportReceived)
    assert (received.raw, received.by_way_of) == (body, "api")
    assert (await small.history(reference))[0][0].actor == "public"
    assert (await small.spill(reference)).reporter == {"name": "A. Neighbour", "phone": "555"}


async def test_a_report_of_the_public_is_known_when_it_reaches_us(small: Household) -> None:
    _, facts = await kept(small, a_report(seen_at="2026-12-01T13:30:00-08:00"))
    assert (facts["known_at"], facts["discharged_at"]) == ("2026-12-01T22:05:00Z", "2026-12-01T21:30:00Z")


async def test_a_time_without_an_offset_is_read_in_the_zone_of_the_city(small: Household) -> None:
    _, facts = await kept(small, a_report(seen_at="2026-12-01T13:30"))
    assert facts["discharged_at"] == "2026-12-01T21:30:00Z"


async def test_the_city_is_found_from_the_point(home: Household) -> None:
    for place, city in ((IN_CHINO, "chino"), (IN_ONTARIO, "ontario"), (NOWHERE_NEAR, None)):
        assert (await posted(home, a_report(location=place))).json()["jurisdiction"] == city


# -- the failure of what comes after


class NoLaw(Rulebook):
    """A rulebook that has its cities but falls over when it is asked for their law."""

    def __init__(self) -> None:
        shipped = shipped_law()
        super().__init__(shipped.packs, shipped.quantities)

    def law_of(self, city: str) -> CityLaw:
        """Fall over."""
        raise RuntimeError(f"the pack of {city} is on fire")


class NoPlaces(Places):
    """Boundaries that cannot be asked."""

    def __init__(self) -> None:
        super().__init__({})

    def locate(self, lat: float, lon: float) -> Place:
        """Fall over."""
        raise ValueError("no map")


@pytest.mark.parametrize("broken", [{"rulebook": NoLaw()}, {"places": NoPlaces()}], ids=["the law fails", "the map fails"])
async def test_a_report_that_cannot_be_assessed_is_kept_flagged_told_and_tried_again(home: Household, broken: dict[str, Any]) -> None:
    ill = home.with_house(**broken)
    answer = await posted(ill, a_report())
    assert answer.status_code == 201
    reference = answer.json()["reference"]
    assert answer.json()["warnings"] == [FAILED]
    assert answer.json()["jurisdiction"] is None
    [received] = await home.events(reference, ReportReceived)
    assert received.raw == a_report()
    [failed] = await home.events(reference, AssessmentFailed)
    assert failed.problem in ("RuntimeError: the pack of chino is on fire", "ValueError: no map")
    assert await home.events(reference, FactsRecorded) == []  # half of an assessment is none
    assert len(await home.events(reference, TriageAsked)) == 1

    await ill.live(minutes=6)  # tried again after half a minute and after five, in vain
    assert len(await home.events(reference, AssessmentFailed)) == 3
    assert len(await home.events(reference, TriageAsked)) == 1
    told = [line for line in home.outbox() if line["step"] == "triage"]
    assert sorted(line["channel"] for line in told) == ["email", "sms"]
    assert "the law could not be applied" in told[0]["subject"] + told[0]["text"]

    home.clock.jump(minutes=31)
    await home.work()  # by a worker for which the law is whole again
    spill = await home.spill(reference)
    assert (spill.city, spill.flags, spill.assess_at) == ("chino", [], None)
    row = await home.clock_of(reference, "chino/rwqcb-2-hours")
    assert row.starts_at == TUESDAY  # the clocks count from the report, not from the cure
    assert home.told("chino/rwqcb-2-hours")


async def test_one_report_that_cannot_be_read_holds_up_no_other(home: Household) -> None:
    ill = home.with_house(rulebook=NoLaw())
    first = (await posted(ill, a_report())).json()["reference"]
    home.clock.jump(minutes=1)
    second = await home.report(a_report(location=IN_ONTARIO))
    await ill.work()
    assert len(await home.events(first, AssessmentFailed)) == 2
    assert await home.clocks(second)


async def test_what_a_killed_process_had_stored_is_read_by_the_worker(home: Household) -> None:
    arrival = Arrival(a_report(), "api")
    async with intake.transaction(home.house, "public") as tx:
        reference = (await intake._store(tx, arrival)).reference  # and here the process ends
    assert await home.clocks(reference) == []
    await home.live(seconds=30)
    assert (await home.spill(reference)).facts["material"] == "sewage"
    assert await home.events(reference, ObligationOpened)
    assert await home.told_of("chino/rwqcb-2-hours", "start")


async def test_a_stopped_process_leaves_unread_reports_to_the_next_one_at_once(home: Household) -> None:
    async with intake.transaction(home.house, "public") as tx:
        reference = (await intake._store(tx, Arrival(a_report(), "api"))).reference
    await intake.take_up_unread(home.house, home.clock.at)
    await home.work()
    assert await home.events(reference, ObligationOpened)


# -- the same report again


async def test_the_same_key_and_body_give_the_same_answer_and_one_spill(small: Household) -> None:
    first = await posted(small, a_report(), **{"Idempotency-Key": "k-1"})
    small.clock.jump(hours=1)
    reordered = dict(reversed(a_report().items()))
    again = await posted(small, reordered, **{"Idempotency-Key": "k-1"})
    assert (again.status_code, again.json()) == (201, first.json())
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    other = await posted(small, a_report(), **{"Idempotency-Key": "k-2"})
    none = await posted(small, a_report())
    assert len({answer.json()["reference"] for answer in (first, other, none)}) == 3
    assert len(await small.events(first.json()["reference"], ReportReceived)) == 1


async def test_the_same_key_with_another_body_is_refused_with_the_cure(small: Household) -> None:
    await posted(small, a_report(), **{"Idempotency-Key": "k-1"})
    answer = await posted(small, a_report(volume=gallons(2)), **{"Idempotency-Key": "k-1"})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"] == ["Idempotency-Key: used; right would be: a new key for a new report"]


async def test_keys_of_two_senders_do_not_meet(small: Household) -> None:
    token = await small.token("officer", "chino")
    public = await posted(small, a_report(), **{"Idempotency-Key": "k-1"})
    staff = await posted(small, a_report(volume=gallons(7)), token, **{"Idempotency-Key": "k-1"})
    assert (public.status_code, staff.status_code) == (201, 201)
    assert public.json()["reference"] != staff.json()["reference"]


async def test_the_same_key_sent_many_times_at_once_is_one_spill(small: Household) -> None:
    answers = await asyncio.gather(*(posted(small, a_report(), **{"Idempotency-Key": "k-1"}) for _ in range(12)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["reference"] for answer in answers}) == 1
    assert sum("idempotency-replayed" in answer.headers for answer in answers) == 11


async def test_a_report_that_failed_once_is_replayed_under_its_key(home: Household) -> None:
    ill = home.with_house(rulebook=NoLaw())
    first = await posted(ill, a_report(), **{"Idempotency-Key": "k-1"})
    again = await posted(ill, a_report(), **{"Idempotency-Key": "k-1"})
    assert (again.json()["reference"], again.json()["warnings"]) == (first.json()["reference"], [FAILED])


async def test_a_key_may_be_any_text_of_any_length(small: Household) -> None:
    for key in ("", " ", "x" * 400, "ключ".encode(), b"\xff"):
        answer = await posted(small, a_report(location=None), **{"Idempotency-Key": key})
        assert answer.status_code == 201


# -- what the public may not say


async def test_the_public_cannot_state_what_only_staff_may(small: Household) -> None:
    said = {"known_at": "2026-11-01T00:00:00Z", "jurisdiction": "soledad", "threat": False, "kind": "enforcement", "enrollee": True}
    warnings, facts = await kept(small, a_report(**said, events=[{"type": "cleanup_done", "at": "2026-12-01T22:00:00Z"}]))
    assert warnings == ["only staff may state: enrollee, events, jurisdiction, kind, known_at, threat; kept in the record, not used"]
    assert set(facts) == {"known_at", "jurisdiction", "material", "volume"}
    assert (facts["known_at"], facts["jurisdiction"]) == ("2026-12-01T22:05:00Z", "chino")


async def test_facts_in_a_box_of_their_own_are_not_used_either_and_flagged(small: Household) -> None:
    warnings, facts = await kept(small, a_report(facts={"threat": False}))
    assert warnings == ["not understood: facts; kept in the record"]
    assert "threat" not in facts


async def test_staff_may_state_any_fact_beside_the_report_or_in_a_box(small: Household) -> None:
    token = await small.token("officer", "chino")
    warnings, facts = await kept(small, a_report(threat=True, facts={"known_at": "2026-12-01T12:00:00-08:00", "accidental": True}), token)
    assert warnings == []
    assert (facts["threat"], facts["accidental"], facts["known_at"]) == (True, True, "2026-12-01T12:00:00-08:00")


async def test_a_viewer_states_no_more_than_anybody(small: Household) -> None:
    warnings, _ = await kept(small, a_report(threat=True), await small.token("viewer", "chino"))
    assert warnings == ["only staff may state: threat; kept in the record, not used"]


async def test_a_token_that_is_not_valid_is_no_silent_public_report(small: Household) -> None:
    answer = await posted(small, a_report(), "sc_api_wrong")
    assert answer.status_code == 401


# -- odd times


@pytest.mark.parametrize(
    ("said", "flag"),
    [
        ({"known_at": "2026-12-03T00:00:00Z"}, "known_at: lies in the future (left out)"),
        ({"discharged_at": "2026-12-03T00:00:00Z"}, "discharged_at: lies in the future (left out)"),
        ({"ended_at": "2027-01-01T00:00:00Z"}, "ended_at: lies in the future (left out)"),
        ({"known_at": "2026-02-30T10:00"}, "known_at: '2026-02-30T10:00' is not a real moment"),
        ({"discharged_at": "yesterday"}, "discharged_at: 'yesterday' is not a date with a time of day"),
        ({"ended_at": 5}, "ended_at: the number 5 is not a time"),
        ({"reported_at": "9999-12-31T23:59:59Z"}, "reported_at: '9999-12-31T23:59:59Z' lies outside the years 1970 to 2199"),
        (
            {"discharged_at": "2026-12-01T12:00:00Z", "ended_at": "2026-12-01T11:00:00Z"},
            "ended_at: ends before it begins (kept as told)",
        ),
        (
            {"discharged_at": "2026-12-01T12:00:00Z", "known_at": "2026-12-01T11:00:00Z"},
            "known_at: known before it began (kept as told; the earlier counts)",
        ),
    ],
)
async def test_an_impossible_time_is_flagged_and_never_refused(small: Household, said: dict[str, Any], flag: str) -> None:
    warnings, facts = await kept(small, a_report(**said), await small.token("officer"))
    assert len(warnings) == 1
    assert warnings[0].startswith(flag)
    for key, value in said.items():
        assert facts.get(key) == (value if "kept as told" in flag else "2026-12-01T22:05:00Z" if key == "known_at" else None)


async def test_a_clock_a_few_minutes_fast_is_no_oddity(small: Household) -> None:
    soon = (TUESDAY + timedelta(minutes=4)).isoformat()
    warnings, facts = await kept(small, a_report(seen_at=soon))
    assert warnings == []
    assert facts["discharged_at"] == "2026-12-01T22:05:00Z"


# -- odd places


@pytest.mark.parametrize(
    ("lat", "lon", "city", "flag"),
    [
        (34.01, 117.69, "chino", "location: a minus sign seems lost; read as 34.01, -117.69"),
        (-34.01, 117.69, "chino", "location: a minus sign seems lost; read as 34.01, -117.69"),
        (-117.69, 34.01, "chino", "location: latitude and longitude seem swapped; read as 34.01, -117.69"),
        (117.69, 34.01, "chino", "location: latitude and longitude seem swapped and a minus sign seems lost; read as 34.01, -117.69"),
        (48.1, 11.6, None, "location: outside every city served here; nearest is "),
        (95.0, -117.69, None, "location: 95.0, -117.69 is nowhere on earth"),
        (34.01, 1e9, None, "location: 34.01, 1000000000.0 is nowhere on earth"),
        ("34.01N", "-117.69", None, "location: lat and lon are not both numbers"),
        (True, False, None, "location: lat and lon are not both numbers"),
        (float("nan"), float("inf"), None, "location: lat and lon are not both numbers"),
        (10**400, 1, None, "location: lat and lon are not both numbers"),
        (34.0102, -117.651, "chino", "location: 29 m from the edge of chino; a person should confirm the city"),
    ],
)
async def test_an_odd_place_is_flagged_and_read_where_one_slip_explains_it(
    small: Household, lat: Any, lon: Any, city: str | None, flag: str
) -> None:
    answer = await posted(small, a_report(location={"lat": lat, "lon": lon}))
    assert answer.status_code == 201
    assert answer.json()["jurisdiction"] == city
    [warning] = answer.json()["warnings"]
    assert warning.startswith(flag)


# -- odd volumes


@pytest.mark.parametrize(
    ("volume", "read"),
    [
        ({"quantity": "1,500", "unit": "gallons"}, gallons(1500)),
        ({"quantity": " 12.5 ", "unit": " GAL "}, gallons(12.5)),
        ({"low": "200", "high": "1,200", "unit": "Gals"}, {"low": 200, "high": 1200, "unit": "gal"}),
        ({"quantity": 3, "unit": "barrels"}, {"quantity": 3, "unit": "bbl"}),
        ({"quantity": 0, "unit": "l"}, {"quantity": 0, "unit": "L"}),
        ({"quantity": 1.5, "unit": "cubic meters"}, {"quantity": 1.5, "unit": "m3"}),
    ],
)
async def test_a_volume_in_words_of_people_is_read(small: Household, volume: Any, read: dict[str, Any]) -> None:
    warnings, facts = await kept(small, a_report(volume=volume))
    assert warnings == []
    assert facts["volume"] == read
    assert {type(value) for value in facts["volume"].values()} == {type(value) for value in read.values()}


@pytest.mark.parametrize(
    "volume",
    [
        -5, "a lot", [1500], True, {}, {"quantity": -1, "unit": "gal"}, {"quantity": "many", "unit": "gal"}, {"quantity": 5},
        {"unit": "gal"}, {"quantity": 5, "unit": "puddles"}, {"quantity": 5, "unit": 7}, {"quantity": None, "unit": "gal"},
        {"quantity": True, "unit": "gal"}, {"quantity": "sNaN", "unit": "gal"}, {"quantity": "1e99999999", "unit": "gal"},
        {"quantity": "Infinity", "unit": "gal"}, {"quantity": 1e400, "unit": "gal"}, {"quantity": float("nan"), "unit": "gal"},
        {"quantity": 10**300, "unit": "gal"}, {"low": 5, "unit": "gal"}, {"low": 9, "high": 2, "unit": "gal"},
        {"quantity": 5, "unit": "gal", "about": True}, {"quantity": {"quantity": 5}, "unit": {"unit": "gal"}},
    ],
    ids=str,
)  # fmt: skip
async def test_a_volume_that_cannot_be_used_is_left_out_and_flagged(small: Household, volume: Any) -> None:
    warnings, facts = await kept(small, a_report(volume=volume))
    assert warnings[-1] == "no volume that can be used; a person should estimate it"
    assert len(warnings) > 1
    assert all(warning.startswith("volume") for warning in warnings[:-1])
    assert "volume" not in facts
    assert facts["material"] == "sewage"


# -- odd shapes


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "", "text", [], [None], {}, {"a": [{}]}, [[[]]]], ids=repr)
async def test_any_value_under_any_key_is_kept(small: Household, value: Any) -> None:
    everything = dict.fromkeys((*intake.PUBLIC_KEYS, *intake.FACT_KEYS, "facts", "photos", "reason", "", "unknown"), value)
    for token in (None, await small.token("officer")):
        warnings, facts = await kept(small, everything, token)
        assert "no volume that can be used; a person should estimate it" in warnings
        assert facts["known_at"]
        assert "jurisdiction" not in facts


async def test_texts_that_no_database_can_hold_are_kept_readable(small: Household) -> None:
    nasty = "a\x00b\ud800c\udfffd\x07e\u202e\u2028"
    answer = await posted(
        small,
        {
            nasty: {nasty: [nasty]}, "description": nasty, "location": {**IN_CHINO, "address": nasty}, "material": nasty,
            "contact": {"name": nasty, nasty: nasty, "privacy": nasty}, "language": nasty, "reached": [nasty], "seen_at": nasty,
            "volume": {nasty: nasty},
        },
    )  # fmt: skip
    assert answer.status_code == 201
    reference = answer.json()["reference"]
    spill = await small.spill(reference)
    for text in (spill.description, spill.address, *spill.flags, *spill.reporter, *spill.reporter.values()):
        assert not {"\x00", "\x07"} & set(text)
        text.encode()  # no half of a surrogate is left
    async with small.client(await small.token("officer")) as client:
        shown = await client.get(f"/api/v1/spills/{reference}")
    assert shown.status_code == 200
    assert shown.json()["timeline"][0]["raw"]["description"].startswith("a\N{REPLACEMENT CHARACTER}b?c?d")


async def test_an_empty_object_is_a_report(small: Household) -> None:
    warnings, facts = await kept(small, {})
    assert warnings == ["no place", "no volume that can be used; a person should estimate it", "no description"]
    assert facts == {"known_at": "2026-12-01T22:05:00Z"}


@pytest.mark.parametrize("body", [b"", b"not json", b"[]", b"null", b'"text"', b"5", b'{"a": ', b"\xff\xfe\x00", b"[" * 100_000])
async def test_what_is_no_json_object_is_answered_with_400(small: Household, body: bytes) -> None:
    answer = await posted(small, body)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert "right would be" in answer.json()["errors"][0]


@pytest.mark.parametrize("depth", [10, 49, 200, 600])
async def test_a_deeply_nested_report_is_kept_as_deep_as_it_can_be(small: Household, depth: int) -> None:
    nested: Any = "bottom"
    for _ in range(depth):
        nested = [nested]
    body = json.dumps(a_report()).encode()[:-1] + b', "deep": ' + b"[" * depth + b'"bottom"' + b"]" * depth + b"}"
    answer = await posted(small, body, **{"Idempotency-Key": "deep"})
    assert answer.status_code == 201
    again = await posted(small, body, **{"Idempotency-Key": "deep"})
    assert again.json() == answer.json()
    [received] = await small.events(answer.json()["reference"], ReportReceived)
    assert (received.raw["deep"] == nested) == (depth < 50)


async def test_a_body_of_a_megabyte_is_too_large(small: Household) -> None:
    answer = await posted(small, a_report(description="x" * 1_000_001))
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["title"] == "Too large"
    async with small.client(await small.token("viewer")) as client:
        assert (await client.get("/api/v1/spills")).json()["spills"] == []


async def test_a_body_that_hides_its_length_is_too_large_all_the_same(small: Household) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b" " * 50_000

    async with small.client() as client:
        answer = await client.post("/api/v1/spills", content=pieces())
    assert answer.status_code == 413


async def test_a_long_description_is_kept_whole_in_the_record(small: Household) -> None:
    answer = await posted(small, a_report(description="sewage " * 100_000))
    assert answer.status_code == 201
    reference = answer.json()["reference"]
    assert len((await small.spill(reference)).description) == 20_000
    assert len((await small.events(reference, ReportReceived))[0].raw["description"]) == 700_000


async def test_who_reports_may_be_anything(small: Household) -> None:
    for contact in ("call me", ["A"], 5, {"privacy": "nobody's business"}):
        warnings, _ = await kept(small, a_report(contact=contact))
        assert len(warnings) == 1
        assert warnings[0].startswith("contact: ")
    for contact in ({}, {"privacy": "anonymous"}, {"name": "A", "email": None, "phone": 5}):
        warnings, _ = await kept(small, a_report(contact=contact))
        assert warnings == []


async def test_who_stays_anonymous_is_kept_nowhere_by_the_api_either(small: Household) -> None:
    body = a_report(contact={"privacy": "anonymous", "name": "Ana Olvidada", "phone": "909 555 0155", "email": ""})
    answer = await posted(small, body, **{"Idempotency-Key": "one"})
    reference = answer.json()["reference"]
    assert answer.json()["warnings"] == ["contact: name, phone not kept, because the reporter stays anonymous"]
    [received] = await small.events(reference, ReportReceived)
    assert received.raw["contact"] == {"privacy": "anonymous", "left_out": ["name", "phone"]}
    assert (await small.spill(reference)).reporter == {"privacy": "anonymous"}
    again = await posted(small, body, **{"Idempotency-Key": "one"})
    assert again.json()["reference"] == reference


async def test_reports_at_the_same_moment_get_references_of_their_own(small: Household) -> None:
    answers = await asyncio.gather(*(posted(small, a_report(location=None)) for _ in range(25)))
    assert len({answer.json()["reference"] for answer in answers}) == 25


async def test_a_used_key_is_told_to_any_caller_of_intake(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        await take_in(home.house, Arrival(a_report(), "form", key="k"))
        with pytest.raises(BadInput, match="another body"):
            await take_in(home.house, Arrival(a_report(volume=None), "form", key="k"))
