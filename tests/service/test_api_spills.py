"""The API about spills: the list, one spill, amendments, events; who may do what; and every refusal as RFC 9457."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from service import access
from service.events import FactsRecorded
from service.transaction import transaction
from tests.houses import TUESDAY, Household
from tests.service.small_law import TWO_HOURS
from tests.spills import IN_ONTARIO, a_report, gallons

CALL = {"type": "notice_given", "at": "2026-12-01T14:05:00-08:00", "recipient": "board", "method": "telephone"}


def is_problem(answer: httpx.Response, status: int, *said: str) -> bool:
    """Whether an answer is a problem of this status, saying these things in its errors."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    body = answer.json()
    assert (body["type"], body["status"]) == ("about:blank", status)
    assert body["title"]
    assert body["detail"]
    lines = body.get("errors", [])
    assert [word for word in said if not any(word in line for line in lines)] == []
    return True


async def discharger_token(home: Household, reference: str) -> str:
    """The token of the discharger's private link, as staff pass it on."""
    async with home.client(await home.token("officer", email=f"{reference}@officer.example")) as client:
        url = (await client.get(f"/api/v1/spills/{reference}")).json()["respond_url"]
    return str(url.removeprefix("https://spills.example.gov/respond/"))


# -- who is calling


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/v1/spills", None), ("GET", "/api/v1/spills/{}", None), ("GET", "/api/v1/spills/{}/clocks", None),
        ("PATCH", "/api/v1/spills/{}/facts", {"reason": "x", "threat": True}), ("POST", "/api/v1/spills/{}/events", CALL),
        ("POST", "/api/v1/spills/{}/reports", {"duty": TWO_HOURS}), ("PUT", "/api/v1/spills/{}/discharger", {"name": "x"}),
        ("POST", "/api/v1/clocks/1/acknowledge", None), ("POST", "/api/v1/clocks/1/waive", {"reason": "x"}),
    ],
)  # fmt: skip
async def test_without_a_good_token_nothing_is_told_or_done(small: Household, method: str, path: str, body: Any) -> None:
    reference = await small.report(a_report())
    before = len(await small.history(reference))
    async with small.client() as nobody:
        tokens = (None, "Bearer ", "Basic b2ZmaWNlcjp4", "Bearer sc_api_wrong", f"Bearer {reference}.1.wrong", "Bearer \xff")
        for header in tokens:
            headers = {} if header is None else {"Authorization": header.encode("latin-1")}
            answer = await nobody.request(method, path.format(reference), json=body, headers=headers)
            assert is_problem(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
    assert len(await small.history(reference)) == before


async def test_a_link_or_session_token_is_no_api_token(small: Household) -> None:
    async with transaction(small.house, "test") as tx:
        account = await access.add_account(tx, "ann@chino.example", "administrator", None)
        link = await access.issue(tx, account, "link", timedelta(minutes=30))
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    for token in (link, session):
        async with small.client(token) as client:
            assert is_problem(await client.get("/api/v1/spills"), 401)


RIGHTS = {
    "viewer": {"see"}, "officer": {"see", "amend", "record", "acknowledge", "name", "follow up"},
    "manager": {"see", "amend", "record", "acknowledge", "name", "follow up", "waive"},
    "administrator": {"see", "amend", "record", "acknowledge", "name", "follow up", "waive"},
}  # fmt: skip


@pytest.mark.parametrize("role", RIGHTS)
async def test_each_role_may_do_its_own_and_no_more(small: Household, role: str) -> None:
    reference = await small.report(a_report(threat=True))
    clock = (await small.clock_of(reference, TWO_HOURS)).id
    async with small.client(await small.token(role, "chino")) as client:
        tries = {
            "see": await client.get(f"/api/v1/spills/{reference}"),
            "amend": await client.patch(f"/api/v1/spills/{reference}/facts", json={"reason": "seen", "accidental": True}),
            "name": await client.put(f"/api/v1/spills/{reference}/discharger", json={"name": "Hillside Dairy"}),
            "acknowledge": await client.post(f"/api/v1/clocks/{clock}/acknowledge"),
            "waive": await client.post(f"/api/v1/clocks/{clock}/waive", json={"reason": "not ours"}),
            "record": await client.post(f"/api/v1/spills/{reference}/events", json=CALL),
        }
    assert {what for what, answer in tries.items() if answer.is_success} == RIGHTS[role] & set(tries)
    for answer in tries.values():
        assert answer.is_success or is_problem(answer, 403)


async def test_the_spill_of_another_city_does_not_exist_for_its_staff(home: Household) -> None:
    reference = await home.report(a_report())
    clock = (await home.clocks(reference))[0].id
    async with home.client(await home.token("manager", "ontario")) as client:
        assert (await client.get("/api/v1/spills")).json()["spills"] == []
        for method, path, body in (
            ("GET", f"/api/v1/spills/{reference}", None), ("GET", f"/api/v1/spills/{reference}/clocks", None),
            ("POST", f"/api/v1/spills/{reference}/events", CALL), ("POST", f"/api/v1/spills/{reference}/reports", {}),
            ("PATCH", f"/api/v1/spills/{reference}/facts", {"reason": "x", "threat": True}),
            ("PUT", f"/api/v1/spills/{reference}/discharger", {"name": "x"}), ("POST", f"/api/v1/clocks/{clock}/acknowledge", None),
            ("POST", f"/api/v1/clocks/{clock}/waive", {"reason": "x"}),
        ):  # fmt: skip
            assert is_problem(await client.request(method, path, json=body), 404), path


async def test_a_report_without_a_city_is_everybodys_until_it_has_one(home: Household) -> None:
    reference = await home.report(a_report(location=None))
    async with home.client(await home.token("viewer", "ontario")) as client:
        assert (await client.get(f"/api/v1/spills/{reference}")).status_code == 200
        await home.amend(reference, jurisdiction="chino")
        assert is_problem(await client.get(f"/api/v1/spills/{reference}"), 404)


async def test_the_discharger_of_one_spill_reaches_no_other(small: Household) -> None:
    mine, other = await small.report(a_report()), await small.report(a_report())
    async with small.client(await discharger_token(small, mine)) as client:
        [clock] = (await client.get(f"/api/v1/spills/{mine}/clocks")).json()
        assert clock["duty"] == TWO_HOURS
        for path in (f"/api/v1/spills/{other}/clocks", "/api/v1/spills/SP-2026-99999/clocks"):
            assert is_problem(await client.get(path), 404)
        assert is_problem(await client.post(f"/api/v1/spills/{other}/events", json=CALL), 404)
        assert is_problem(await client.post(f"/api/v1/spills/{other}/reports", json={}), 404)


async def test_the_discharger_may_record_what_was_done_but_not_decide(small: Household) -> None:
    reference = await small.report(a_report())
    async with small.client(await discharger_token(small, reference)) as client:
        for answer in (
            await client.get("/api/v1/spills"), await client.get(f"/api/v1/spills/{reference}"),
            await client.post(f"/api/v1/clocks/{(await small.clock_of(reference, TWO_HOURS)).id}/waive", json={"reason": "x"}),
        ):  # fmt: skip
            assert is_problem(answer, 401)
        assert is_problem(await client.patch(f"/api/v1/spills/{reference}/facts", json={"reason": "x", "volume": gallons(1)}), 403)
        assert is_problem(await client.put(f"/api/v1/spills/{reference}/discharger", json={"name": "somebody else"}), 403)
        answer = await client.post(f"/api/v1/spills/{reference}/events", json={**CALL, "note": "spoke to D. Ortiz"})
    assert answer.status_code == 201
    assert answer.json()["clocks"][0]["state"] == "met"
    row, event = next((row, event) for row, event in await small.history(reference) if event.kind == "act:recorded")
    assert (row.actor, event.note) == (f"discharger of {reference}", "spoke to D. Ortiz")  # type: ignore[attr-defined]


# -- the list


async def some_spills(home: Household) -> dict[str, str]:
    """Spills by what they are: overdue, running, met, without a clock, unassigned."""
    found = {"unassigned": await home.report(a_report(location=None, description="foam in the wash"))}
    found["quiet"] = await home.report(a_report(volume=gallons(2), description="a bucket"))
    found["overdue"] = await home.report(a_report(known_at=(TUESDAY - timedelta(hours=3)).isoformat()))
    found["running"] = await home.report(a_report(location={"lat": 34.01, "lon": -117.69, "address": "100% Foam Ave"}))
    found["met"] = await home.report(a_report())
    await home.happened(found["met"], "notice_given", recipient="board", method="telephone")
    return found


async def listed(home: Household, **query: Any) -> list[str]:
    if not hasattr(home, "lister"):
        home.lister = home.client(await home.token("viewer"))  # type: ignore[attr-defined]
    answer = await home.lister.get("/api/v1/spills", params=query)  # type: ignore[attr-defined]
    assert answer.status_code == 200
    return [spill["reference"] for spill in answer.json()["spills"]]


async def test_the_list_begins_with_what_is_due_next(small: Household) -> None:
    found = await some_spills(small)
    order = await listed(small)
    assert order[:2] == [found["overdue"], found["running"]]
    assert order[2:] == sorted((found["met"], found["quiet"], found["unassigned"]), reverse=True)


async def test_the_list_is_narrowed_by_state_city_and_words(small: Household) -> None:
    found = await some_spills(small)
    assert await listed(small, state="overdue") == [found["overdue"]]
    assert await listed(small, state="open") == [found["overdue"], found["running"]]
    assert await listed(small, state="unassigned") == [found["unassigned"]]
    assert set(await listed(small, city="chino")) == set(found.values()) - {found["unassigned"]}
    assert await listed(small, city="ontario") == []
    assert set(await listed(small, q="FOAM")) == {found["unassigned"], found["running"]}
    assert await listed(small, q="100%") == [found["running"]]
    assert await listed(small, q="%") == []
    assert await listed(small, q=found["quiet"].lower()) == [found["quiet"]]
    assert await listed(small, q="foam", state="open", city="chino") == [found["running"]]
    assert await listed(small, q="no such words") == []


async def test_the_list_comes_in_pages_without_gap_or_repeat(small: Household) -> None:
    for _ in range(7):
        await small.report(a_report(volume=gallons(2)))
    pages = [await listed(small, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert [reference for page in pages for reference in page] == await listed(small)


async def test_each_entry_of_the_list_says_how_it_stands(small: Household) -> None:
    found = await some_spills(small)
    async with small.client(await small.token("viewer")) as client:
        by_reference = {spill["reference"]: spill for spill in (await client.get("/api/v1/spills")).json()["spills"]}
    entry = by_reference[found["overdue"]]
    assert (entry["open"], entry["overdue"], entry["next_duty"], entry["next_due_at"]) == (1, 1, TWO_HOURS, "2026-12-01T21:05:00Z")
    assert (entry["jurisdiction"], entry["material"], entry["volume"]) == ("chino", "sewage", gallons(1500))
    entry = by_reference[found["met"]]
    assert (entry["open"], entry["overdue"], entry["next_due_at"], entry["alarms"]) == (0, 0, None, 0)


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "201"}, {"limit": "many"}, {"offset": "-1"}, {"state": "lost"}])
async def test_a_question_that_makes_no_sense_is_a_problem_with_its_cure(small: Household, query: dict[str, str]) -> None:
    async with small.client(await small.token("viewer")) as client:
        answer = await client.get("/api/v1/spills", params=query)
    assert is_problem(answer, 422, f"query.{next(iter(query))}: ")


# -- one spill


async def test_one_spill_shows_facts_clocks_questions_and_all_that_happened(home: Household) -> None:
    reference = await home.report(a_report(volume=None, contact={"name": "A. Neighbour", "privacy": "named"}))
    await home.name_discharger(reference, "Hillside Dairy", email="office@dairy.example")
    async with home.client(await home.token("viewer")) as client:
        body = (await client.get(f"/api/v1/spills/{reference}")).json()
    assert (body["reference"], body["jurisdiction"], body["received_at"]) == (reference, "chino", "2026-12-01T22:05:00Z")
    place = {"lat": 34.01, "lon": -117.69, "address": "13220 Central Ave", "city": "chino"}
    assert {key: body["location"][key] for key in place} == place
    assert body["facts"]["material"] == "sewage"
    assert body["reporter"] == {"name": "A. Neighbour", "privacy": "named"}
    assert body["discharger"] == {"name": "Hillside Dairy", "email": "office@dairy.example", "phone": ""}
    assert body["questions"][0].keys() == {"fact", "asks", "presumed", "held_back", "settles", "removes", "starts"}
    assert [clock["due_at"] for clock in body["clocks"]] == sorted(clock["due_at"] for clock in body["clocks"])
    told = body["timeline"]
    assert [entry["kind"] for entry in told[:2]] == ["report:received", "facts:recorded"]
    assert all({"id", "kind", "actor", "happened_at", "recorded_at"} <= entry.keys() for entry in told)
    assert [entry["id"] for entry in told] == sorted(entry["id"] for entry in told)


async def test_a_spill_that_does_not_exist_is_not_found(small: Household) -> None:
    async with small.client(await small.token("viewer")) as client:
        for reference in ("SP-2026-99999", "x", "%00", "SP-2026-00001'--"):
            assert is_problem(await client.get(f"/api/v1/spills/{reference}"), 404)


CLOCK_KEYS = {
    "duty", "title", "citation", "pack", "pack_version", "applies", "unsettled", "recipient", "methods", "owed_by", "limit", "starts_from",
    "event", "occurrence", "starts_at", "due_at", "extended_due_at", "state", "met_at", "late_by_s", "content", "counting", "reading",
    "other_readings", "verified",
}  # fmt: skip


async def test_clocks_have_every_key_of_the_contract_and_an_id(home: Household) -> None:
    reference = await home.report(a_report(threat=True, reached=["storm_drain"]))
    async with home.client(await home.token("viewer")) as client:
        clocks = (await client.get(f"/api/v1/spills/{reference}/clocks")).json()
    assert len(clocks) > 5
    assert all(clock.keys() >= CLOCK_KEYS | {"id"} for clock in clocks)
    assert len({clock["id"] for clock in clocks}) == len(clocks)


# -- amending


async def test_an_amendment_gives_back_facts_and_clocks_as_they_then_stand(small: Household) -> None:
    reference = await small.report(a_report(volume=gallons(800)))
    small.clock.jump(hours=3)
    async with small.client(await small.token("officer", "chino")) as client:
        answer = await client.patch(f"/api/v1/spills/{reference}/facts", json={"reason": "pump log", "volume": gallons(1500)})
    assert answer.status_code == 200
    assert answer.json()["facts"]["volume"] == gallons(1500)
    [clock] = answer.json()["clocks"]
    assert (clock["duty"], clock["state"], clock["late_by_s"]) == (TWO_HOURS, "overdue", 3600)
    row = (await small.history(reference))[2][0]
    assert (row.kind, row.actor) == ("facts:recorded", "officer@chino.example")


async def test_facts_may_stand_in_a_box_or_beside_the_reason(small: Household) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token("officer")) as client:
        answer = await client.patch(
            f"/api/v1/spills/{reference}/facts", json={"reason": "x", "facts": {"threat": True}, "accidental": True}
        )
    assert (answer.json()["facts"]["threat"], answer.json()["facts"]["accidental"]) == (True, True)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"reason": "", "threat": True}, ["reason: missing"]),
        ({"threat": True}, ["reason: missing"]),
        ({"reason": 5, "threat": True}, ["reason: "]),
        ({"reason": "x", "facts": [1]}, ["facts: "]),
        ({"reason": "x", "colour": "brown", "events": []}, ["colour: unknown key", "events: it cannot be amended"]),
        (
            {"reason": "x", "threat": "maybe", "volume": {"quantity": -1, "unit": "pint"}},
            ["threat: ", "volume.quantity: ", "volume.unit: "],
        ),
        ({"reason": "x", "known_at": None}, ["known_at: missing"]),
        ({"reason": "x", "known_at": "soon"}, ["known_at: "]),
        ({"reason": "x", "jurisdiction": "gotham"}, ["jurisdiction: 'gotham' is not a known city"]),
        ({"reason": "x", "jurisdiction": ""}, ["jurisdiction: "]),
        ({"reason": "x", "reached": "storm_drain"}, ["reached: "]),
        ({"reason": "x", "volume": gallons(1e400)}, ["volume.quantity: "]),
        ({"reason": "x", "material": "\ud800"}, ["material"]),
    ],
    ids=str,
)
async def test_faults_of_an_amendment_come_one_a_line_and_change_nothing(small: Household, body: dict[str, Any], said: list[str]) -> None:
    reference = await small.report(a_report())
    before = (await small.spill(reference)).facts, len(await small.history(reference))
    async with small.client(await small.token("officer")) as client:
        answer = await client.patch(f"/api/v1/spills/{reference}/facts", content=json.dumps(body))
    assert is_problem(answer, 422, *said)
    assert len(answer.json()["errors"]) == len(said)
    assert ((await small.spill(reference)).facts, len(await small.history(reference))) == before


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"5"])
async def test_an_amendment_that_is_no_object_is_a_bad_request(small: Household, body: bytes) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token("officer")) as client:
        assert is_problem(await client.patch(f"/api/v1/spills/{reference}/facts", content=body), 400)


async def test_an_officer_cannot_hand_a_spill_of_nobody_to_another_city_unseen(small: Household) -> None:
    reference = await small.report(a_report(location=None))
    async with small.client(await small.token("officer", "chino")) as client:
        answer = await client.patch(f"/api/v1/spills/{reference}/facts", json={"reason": "ours", "jurisdiction": "chino"})
    assert answer.status_code == 200
    assert answer.json()["facts"]["jurisdiction"] == "chino"


# -- events


async def test_an_event_is_recorded_with_its_note_and_meets_its_clock(small: Household) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token("officer", "chino")) as client:
        answer = await client.post(f"/api/v1/spills/{reference}/events", json={**CALL, "note": "control no. 26-1201"})
    assert answer.status_code == 201
    [clock] = answer.json()["clocks"]
    assert (clock["state"], clock["met_at"]) == ("met", "2026-12-01T22:05:00Z")
    event = next(event for _, event in await small.history(reference) if event.kind == "act:recorded")
    assert event.note == "control no. 26-1201"  # type: ignore[attr-defined]
    assert event.act == {**CALL, "at": "2026-12-01T22:05:00Z"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ({}, ["type: missing"]),
        ({"type": "party_held", "at": "2026-12-01T14:00"}, ["type: 'party_held' is not a type of event"]),
        ({"type": "paid"}, ["at: missing"]),
        ({"type": "paid", "at": "noon"}, ["at: "]),
        ({"type": "paid", "at": "2026-12-24T14:00"}, ["at: 2026-12-24T22:00:00Z lies in the future"]),
        ({"type": "paid", "at": "2026-12-01T14:00", "amount": 5}, ["amount: unknown key"]),
        ({"type": "notice_given", "at": "2026-12-01T14:00"}, ["recipient: missing", "method: missing"]),
        ({**CALL, "recipient": "mother", "method": "smoke"}, ["recipient: 'mother' is nobody", "method: 'smoke' is not a word"]),
        ({"type": "order_served", "at": "2026-12-01T14:00", "order": "notice_to_clean", "comply_by": 5}, ["comply_by: "]),
        ({**CALL, "note": 5}, ["note: "]),
        ({"type": ["paid"], "at": {}}, ["type: "]),
    ],
    ids=str,
)
async def test_faults_of_an_event_come_one_a_line_and_change_nothing(small: Household, act: dict[str, Any], said: list[str]) -> None:
    reference = await small.report(a_report())
    before = len(await small.history(reference))
    async with small.client(await small.token("officer")) as client:
        answer = await client.post(f"/api/v1/spills/{reference}/events", json=act)
    assert is_problem(answer, 422, *said)
    assert not any(line.startswith("events[") for line in answer.json()["errors"])
    assert len(await small.history(reference)) == before


@pytest.mark.parametrize(
    "act",
    [
        {**CALL, "note": "half a pair \ud800, a NUL \x00"},
        {"type": "report_submitted", "at": "2026-12-01T14:00", "recipient": "works", "content": ["\ud800"], "complete": True},
    ],
    ids=["note", "content"],
)
async def test_no_text_of_an_event_can_make_a_spill_unreadable(small: Household, act: dict[str, Any]) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token("officer")) as client:
        answer = await client.post(f"/api/v1/spills/{reference}/events", content=json.dumps(act))
        assert answer.status_code == 201
        assert (await client.get(f"/api/v1/spills/{reference}")).status_code == 200
    assert await small.events(reference, FactsRecorded)


# -- the discharger


async def test_a_named_discharger_is_on_record_and_told_from_then_on(small: Household) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token("officer")) as client:
        body = {"name": " Hillside Dairy ", "email": "office@dairy.example", "phone": "(909) 555-0155"}
        answer = await client.put(f"/api/v1/spills/{reference}/discharger", json=body)
        assert answer.status_code == 200
        shown = (await client.get(f"/api/v1/spills/{reference}")).json()["discharger"]
    assert shown == {"name": "Hillside Dairy", "email": "office@dairy.example", "phone": "+19095550155"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, ["name: "]), ({"name": " "}, ["name: missing"]), ({"name": "x", "fax": "1"}, ["fax: "]),
        ({"name": "x", "email": "at home", "phone": "12"}, ["email: ", "phone: "]),
    ],
)  # fmt: skip
async def test_a_discharger_who_cannot_be_reached_so_is_refused(small: Household, body: dict[str, Any], said: list[str]) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token("officer")) as client:
        assert is_problem(await client.put(f"/api/v1/spills/{reference}/discharger", json=body), 422, *said)
    assert (await small.spill(reference)).discharger == {}


# -- clocks


async def test_an_acknowledgement_may_name_the_person_and_changes_no_state(small: Household) -> None:
    reference = await small.report(a_report())
    clock = (await small.clock_of(reference, TWO_HOURS)).id
    async with small.client(await small.token("officer")) as client:
        answer = await client.post(f"/api/v1/clocks/{clock}/acknowledge", json={"person": "Omar Reyes"})
        assert (answer.status_code, answer.json()["state"], answer.json()["id"]) == (200, "running", clock)
        assert (await client.post(f"/api/v1/clocks/{clock}/acknowledge")).status_code == 200
        assert is_problem(await client.post(f"/api/v1/clocks/{clock}/acknowledge", json={"who": "x"}), 422, "who: ")
        assert is_problem(await client.post("/api/v1/clocks/999/acknowledge"), 404)
        assert is_problem(await client.post("/api/v1/clocks/first/acknowledge"), 422)
    people = [event.person for _, event in await small.history(reference) if event.kind == "obligation:acknowledged"]  # type: ignore[attr-defined]
    assert people == ["Omar Reyes", "officer@every-city.example"]


async def test_a_waiver_needs_a_manager_and_a_reason_and_is_final(small: Household) -> None:
    reference = await small.report(a_report())
    clock = (await small.clock_of(reference, TWO_HOURS)).id
    async with small.client(await small.token("manager", "chino")) as client:
        for body in ({}, {"reason": " "}):
            assert is_problem(await client.post(f"/api/v1/clocks/{clock}/waive", json=body), 422, "reason: missing")
        assert is_problem(await client.post(f"/api/v1/clocks/{clock}/waive"), 422, "reason: missing")
        answer = await client.post(f"/api/v1/clocks/{clock}/waive", json={"reason": "the county took it over"})
        assert (answer.status_code, answer.json()["state"], answer.json()["reason"]) == (200, "waived", "the county took it over")
        assert is_problem(await client.post(f"/api/v1/clocks/{clock}/waive", json={"reason": "again"}), 409)
        assert is_problem(await client.post(f"/api/v1/clocks/{clock}/acknowledge"), 409)


# -- elsewhere


async def test_paths_and_methods_that_do_not_exist_are_problems(small: Household) -> None:
    async with small.client() as client:
        assert is_problem(await client.get("/api/v1/nothing"), 404)
        assert is_problem(await client.delete("/api/v1/spills"), 405)


async def test_staff_of_ontario_see_what_is_reported_in_ontario(home: Household) -> None:
    reference = await home.report(a_report(location=IN_ONTARIO))
    async with home.client(await home.token("viewer", "ontario")) as client:
        assert [spill["reference"] for spill in (await client.get("/api/v1/spills")).json()["spills"]] == [reference]
