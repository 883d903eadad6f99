"""The pin is moved, or a person names the city: both places are kept, the clocks follow, and what a person set is not silently undone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.events import FactsRecorded, ObligationMoved, ObligationWithdrawn, PlaceMoved, TriageAsked
from service.parties import link_token
from service.relocation import Move, WhichCity, assign_city, move_pin
from service.spills import facts_from
from service.transaction import transaction
from tests.houses import OFFICER, Household, a_household
from tests.service.small_law import cities_alone
from tests.spills import IN_CHINO, IN_ONTARIO, NOWHERE_NEAR, a_report, gallons

ELSEWHERE_IN_CHINO = {"lat": 34.012, "lon": -117.68}
IN_CHICO = {"lat": 39.7299, "lon": -121.8375}
CHINO_2, ONTARIO_24 = "chino/rwqcb-2-hours", "ontario/rwqcb-24-hours"
BOARD = "rwqcb-santa-ana"


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Household]:
    """Chino and Ontario, and nothing but their own packs."""
    async with a_household(tmp_path, law=cities_alone("chino", "ontario")) as household:
        yield household


def a_spill(**facts: Any) -> dict[str, Any]:
    return a_report(threat=True, reached=["storm_drain"], **facts)


async def moved(home: Household, reference: str, reason: str = "the crew is there", **place: Any) -> bool:
    """Move the pin as an officer."""
    answers = "city" in place
    async with transaction(home.house, OFFICER) as tx:
        return await move_pin(tx, await tx.spill(reference), Move(**place, reason=reason, answers=answers))


async def assigned(home: Household, reference: str, city: str, reason: str = "the map says so") -> None:
    async with transaction(home.house, OFFICER) as tx:
        await assign_city(tx, await tx.spill(reference), city, reason)


async def states(home: Household, reference: str) -> dict[str, str]:
    return {row.duty: row.state for row in await home.clocks(reference)}


# -- the law follows the pin


async def test_a_pin_moved_into_another_city_withdraws_the_old_clocks_and_starts_the_new_ones(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    known = two.clock.at
    two.clock.jump(hours=1)
    assert await moved(two, reference, **IN_ONTARIO)
    spill = await two.spill(reference)
    assert (spill.city, spill.lat, spill.lon, spill.address) == ("ontario", 34.05, -117.60, "13220 Central Ave")
    assert spill.facts["jurisdiction"] == "ontario"
    found = await states(two, reference)
    assert {state for duty, state in found.items() if duty.startswith("chino/")} == {"withdrawn"}
    assert {event.reason for event in await two.events(reference, ObligationWithdrawn)} == {"the crew is there"}
    row = await two.clock_of(reference, ONTARIO_24)
    assert (row.state, row.starts_at) == ("running", known), "it starts when the spill was known, not when the pin was moved"


async def test_a_clock_of_the_new_city_that_should_have_been_met_by_now_is_overdue_at_once(two: Household) -> None:
    reference = await two.report(a_spill(location=IN_ONTARIO), staff=False)
    two.clock.jump(hours=5)
    await moved(two, reference, **IN_CHINO)
    row = await two.clock_of(reference, CHINO_2)
    assert (row.state, row.due_at is not None and row.due_at < two.clock.at) == ("overdue", True)


async def test_both_places_stay_on_record_with_who_and_why(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    await moved(two, reference, address="Euclid Ave, Ontario", **IN_ONTARIO)
    [event] = await two.events(reference, PlaceMoved)
    assert event.before == {**IN_CHINO, "address": "13220 Central Ave"}
    assert event.after == {**IN_ONTARIO, "address": "Euclid Ave, Ontario"}
    assert (event.reason, event.city, event.flags) == ("the crew is there", "ontario", [])
    history = await two.history(reference)
    [row] = [row for row, event in history if isinstance(event, PlaceMoved)]
    assert row.actor == OFFICER
    assert facts_from([event for _, event in history]) == (await two.spill(reference)).facts
    follows = [event for _, event in history if isinstance(event, FactsRecorded)][-1]
    assert follows.changes == {"jurisdiction": ("chino", "ontario")}


async def test_a_pin_that_stays_in_its_city_changes_the_place_and_no_clock(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    before = [(row.id, row.state, row.due_at, row.plan_no, row.clock) for row in await two.clocks(reference)]
    events = len(await two.history(reference))
    await two.work()
    sent = len(two.outbox())
    two.clock.jump(minutes=1)
    assert await moved(two, reference, **ELSEWHERE_IN_CHINO)
    assert (await two.spill(reference)).lat == 34.012
    assert [(row.id, row.state, row.due_at, row.plan_no, row.clock) for row in await two.clocks(reference)] == before
    new = (await two.history(reference))[events:]
    assert [type(event) for _, event in new if not event.kind.startswith(("message", "rung"))] == [PlaceMoved]
    await two.work()
    assert len(two.outbox()) == sent


async def test_a_place_that_is_the_one_on_record_records_nothing(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    events = len(await two.history(reference))
    assert not await moved(two, reference, **IN_CHINO)
    assert not await moved(two, reference, address="13220 Central Ave")
    assert len(await two.history(reference)) == events


async def test_an_address_alone_leaves_the_point_and_the_city(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    await moved(two, reference, address="behind Ontario Mills, Ontario, CA")
    spill = await two.spill(reference)
    assert (spill.city, spill.lat, spill.address) == ("chino", 34.01, "behind Ontario Mills, Ontario, CA")


async def test_a_report_without_a_city_gets_its_clocks_once_the_pin_is_set(two: Household) -> None:
    reference = await two.report(a_spill(location={"address": "by the wash"}), staff=False)
    assert await two.clocks(reference) == []
    await moved(two, reference, **IN_CHINO)
    spill = await two.spill(reference)
    assert (spill.city, spill.address, spill.flags) == (
        "chino",
        "by the wash",
        ["only staff may state: threat; kept in the record, not used"],
    )
    assert (await two.clock_of(reference, CHINO_2)).state == "running"


async def test_the_flags_of_the_old_place_give_way_to_those_of_the_new_one(two: Household) -> None:
    reference = await two.report(a_spill(location={"lat": 34.0102, "lon": -117.651}, volume=None), staff=True)
    assert [flag[:9] for flag in (await two.spill(reference)).flags] == ["location:", "no volume"]
    await moved(two, reference, **IN_CHINO)
    assert [flag[:9] for flag in (await two.spill(reference)).flags] == ["no volume"]
    await moved(two, reference, lat=34.0102, lon=117.651)
    assert [flag.partition(";")[0] for flag in (await two.spill(reference)).flags] == [
        "no volume that can be used", "location: a minus sign seems lost", "location: 29 m from the edge of chino",
    ]  # fmt: skip


# -- what was done already


async def test_a_notice_to_whom_both_laws_name_still_counts(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    await two.amend(reference, threat=True)
    two.clock.jump(minutes=30)
    await two.happened(reference, "notice_given", recipient=BOARD, method="telephone")
    assert (await two.clock_of(reference, CHINO_2)).state == "met"
    two.clock.jump(minutes=30)
    await moved(two, reference, **IN_ONTARIO)
    row = await two.clock_of(reference, ONTARIO_24)
    assert (row.state, row.met_at) == ("met", two.clock.at.replace(minute=35, hour=22))
    assert (await two.clock_of(reference, CHINO_2)).state == "met", "what was done stays done"


async def test_a_duty_of_the_state_owed_to_another_office_there_is_owed_anew(home: Household) -> None:
    """The county's agency is another one in Chico: a call to San Bernardino's does not tell it."""
    oil = a_report(material="hazardous_material", volume=gallons(500), hazardous=True, threat=True)
    reference = await home.report({key: value for key, value in oil.items() if key != "threat"}, staff=True)
    [duty] = {row.duty for row in await home.clocks(reference) if row.clock["recipient"] == "san-bernardino-county-fire"}
    await home.happened(reference, "notice_given", recipient="san-bernardino-county-fire", method="telephone")
    await home.happened(reference, "notice_given", recipient="cal-oes", method="telephone")
    assert (await home.clock_of(reference, duty)).state == "met"
    told = [row.duty for row in await home.clocks(reference) if row.clock["recipient"] == "cal-oes" and row.state == "met"]
    home.clock.jump(minutes=10)
    await moved(home, reference, **IN_CHICO)
    row = await home.clock_of(reference, duty)
    assert (row.clock["recipient"], row.met_at) == ("butte-county-environmental-health", None)
    assert row.state in ("running", "overdue")
    event = next(one for one in await home.events(reference, ObligationMoved) if one.obligation == row.id)
    assert (event.before["recipient"], event.before["state"], event.replanned) == ("san-bernardino-county-fire", "met", True)
    assert told
    for kept in told:
        assert (await home.clock_of(reference, kept)).state == "met", "the state was told, wherever it is"
    await home.happened(reference, "notice_given", recipient="butte-county-environmental-health", method="telephone")
    assert (await home.clock_of(reference, duty)).state in ("met", "met_late")


async def test_an_open_duty_owed_to_another_office_there_says_so_and_people_are_told_again(home: Household) -> None:
    reference = await home.report(a_report(material="hazardous_material", volume=gallons(500), hazardous=True))
    [duty] = {row.duty for row in await home.clocks(reference) if row.clock["recipient"] == "san-bernardino-county-fire"}
    await moved(home, reference, **IN_ONTARIO)
    assert (await home.clock_of(reference, duty)).plan_no == 1, "the same office in Ontario: nothing new to tell"
    await moved(home, reference, **IN_CHICO)
    row = await home.clock_of(reference, duty)
    assert (row.clock["recipient"], row.plan_no) == ("butte-county-environmental-health", 2)


# -- what is asked, not done


async def test_a_city_set_by_hand_is_not_overridden_by_a_point_but_asked_about(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    await two.amend(reference, "the sewer is theirs", jurisdiction="ontario")
    events = len(await two.history(reference))
    with pytest.raises(WhichCity) as asked:
        await moved(two, reference, **ELSEWHERE_IN_CHINO)
    assert (asked.value.standing, asked.value.found) == ("ontario", "chino")
    assert str(asked.value) == (
        "the new place lies in chino, but officer@chino.example set ontario by hand (the sewer is theirs); nothing was changed"
    )
    assert len(await two.history(reference)) == events
    assert (await two.spill(reference)).lat == 34.01


@pytest.mark.parametrize("city", ["chino", "ontario"])
async def test_the_answer_names_one_of_both_cities_and_the_pin_moves(two: Household, city: str) -> None:
    reference = await two.report(a_spill(), staff=False)
    await two.amend(reference, "the sewer is theirs", jurisdiction="ontario")
    await moved(two, reference, **ELSEWHERE_IN_CHINO, city=city)
    spill = await two.spill(reference)
    assert (spill.city, spill.lat) == (city, 34.012)


async def test_a_city_kept_by_hand_is_asked_about_again_and_one_found_by_the_place_is_not(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    await two.amend(reference, "the sewer is theirs", jurisdiction="ontario")
    await moved(two, reference, **ELSEWHERE_IN_CHINO, city="ontario")
    with pytest.raises(WhichCity):
        await moved(two, reference, **IN_CHINO)
    await moved(two, reference, **IN_CHINO, city="chino")
    await moved(two, reference, **IN_ONTARIO)
    assert (await two.spill(reference)).city == "ontario"


async def test_a_city_that_staff_stated_with_their_report_was_set_by_hand(two: Household) -> None:
    for body in (a_spill(jurisdiction="ontario"), a_spill(facts={"jurisdiction": "ontario"})):
        reference = await two.report(body)
        assert (await two.spill(reference)).city == "ontario"
        with pytest.raises(WhichCity):
            await moved(two, reference, **ELSEWHERE_IN_CHINO)


async def test_a_city_confirmed_by_a_person_was_set_by_hand(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    await assigned(two, reference, "chino")
    with pytest.raises(WhichCity):
        await moved(two, reference, **IN_ONTARIO)


async def test_an_answer_that_is_neither_city_changes_nothing(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    for city in ("gotham", None):
        with pytest.raises(Exception, match="cannot be changed so") as refused:
            await moved(two, reference, **IN_ONTARIO, city=city)
        assert refused.value.faults == [f'city: {city!r} is neither; right would be: "ontario" or "chino", or left out']  # type: ignore[attr-defined]


async def test_a_point_outside_every_city_does_not_end_the_clocks_without_a_word(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    with pytest.raises(WhichCity) as asked:
        await moved(two, reference, **NOWHERE_NEAR)
    assert 'right would be: "city": null to follow the place, or "city": "chino" to keep' in asked.value.faults[0]
    await moved(two, reference, **NOWHERE_NEAR, city=None)
    assert (await two.spill(reference)).city is None
    assert set((await states(two, reference)).values()) == {"withdrawn"}
    assert len(await two.events(reference, TriageAsked)) == 2, "once for the odd report, once for the place"


async def test_a_city_without_a_boundary_stays_where_a_point_lies_in_no_other(home: Household) -> None:
    places = home.house.places
    home = home.with_house(places=places.only(places.cities - {"baltimore"}))
    reference = await home.report(a_spill(location={"address": "100 Holliday St, Baltimore, MD"}), staff=False)
    assert (await home.spill(reference)).city == "baltimore"
    await moved(home, reference, lat=39.29, lon=-76.61)
    spill = await home.spill(reference)
    assert (spill.city, spill.lat) == ("baltimore", 39.29)
    await moved(home, reference, **IN_CHINO)
    assert (await home.spill(reference)).city == "chino", "found by words alone, it gives way to a point"


# -- faults


@pytest.mark.parametrize(
    ("place", "reason", "faults"),
    [
        ({"lat": 34.0}, "x", ["lat, lon: not both numbers; right would be: degrees, 34.0122 and -117.6889"]),
        ({"lat": 95.0, "lon": -117.0}, "x", ["lat, lon: 95.0, -117.0 is nowhere on earth; right would be: latitude -90 to 90, longitude"]),
        ({"lat": float("nan"), "lon": 1.0}, "x", ["lat, lon: not both numbers"]),
        ({"lat": "here", "lon": "there"}, "x", ["lat, lon: not both numbers"]),
        ({}, "x", ["lat, lon, address: none is given"]),
        ({**IN_ONTARIO}, " \x00 ", ["reason: missing; right would be: how the place is known"]),
        ({}, "", ["reason: missing", "lat, lon, address: none is given"]),
    ],
)
async def test_what_is_no_place_or_has_no_reason_is_refused_by_name(
    two: Household, place: dict[str, Any], reason: str, faults: list[str]
) -> None:
    reference = await two.report(a_spill(), staff=False)
    with pytest.raises(Exception, match="cannot be changed so") as refused:
        await moved(two, reference, reason, **place)
    told: list[str] = refused.value.faults  # type: ignore[attr-defined]
    assert [fault[: len(expected)] for fault, expected in zip(told, faults, strict=True)] == faults
    assert await two.events(reference, PlaceMoved) == []


# -- a person says which city's law applies


async def test_a_person_sets_the_city_and_its_law_applies(two: Household) -> None:
    reference = await two.report(a_spill(location={"lat": 34.0102, "lon": -117.651}), staff=True)
    await assigned(two, reference, "ontario")
    spill = await two.spill(reference)
    assert (spill.city, spill.flags) == ("ontario", [])
    assert (await two.clock_of(reference, CHINO_2)).state == "withdrawn"
    assert (await two.clock_of(reference, ONTARIO_24)).state == "running"


async def test_confirming_the_city_is_on_record_answers_the_doubt_and_changes_no_clock(two: Household) -> None:
    reference = await two.report(a_spill(location={"lat": 34.0102, "lon": -117.651}), staff=True)
    before = await states(two, reference)
    await assigned(two, reference, "chino", "seen on the parcel map")
    assert (await two.spill(reference)).flags == []
    assert await states(two, reference) == before
    confirmed = (await two.events(reference, FactsRecorded))[-1]
    assert (confirmed.changes, confirmed.reason) == ({"jurisdiction": ("chino", "chino")}, "seen on the parcel map")


async def test_a_city_nobody_knows_or_without_a_reason_is_refused(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    with pytest.raises(Exception, match="cannot be set so") as refused:
        await assigned(two, reference, "gotham", " ")
    assert [fault.partition(":")[0] for fault in refused.value.faults] == ["reason", "city"]  # type: ignore[attr-defined]


# -- the API


async def patched(home: Household, reference: str, token: str | None, **body: Any) -> httpx.Response:
    async with home.client(token) as client:
        return await client.patch(f"/api/v1/spills/{reference}/location", content=json.dumps(body).encode())


async def test_an_officer_moves_the_pin_by_the_api_and_gets_place_and_clocks(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    token = await two.token("officer")
    answer = await patched(two, reference, token, **IN_ONTARIO, address="Euclid Ave", reason="the crew is there")
    assert answer.status_code == 200
    body = answer.json()
    assert body["facts"]["jurisdiction"] == "ontario"
    assert (body["location"]["city"], body["location"]["address"]) == ("ontario", "Euclid Ave")
    assert {clock["state"] for clock in body["clocks"] if clock["duty"].startswith("chino/")} == {"withdrawn"}
    async with two.client(token) as client:
        timeline = (await client.get(f"/api/v1/spills/{reference}")).json()["timeline"]
    [told] = [entry for entry in timeline if entry["kind"] == "place:moved"]
    assert (told["actor"], told["before"]["lat"], told["after"]["lat"]) == ("officer@every-city.example", 34.01, 34.05)


async def test_the_api_asks_which_city_with_409_and_takes_the_answer(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    token = await two.token("officer")
    answer = await patched(two, reference, token, **NOWHERE_NEAR, reason="a drone saw it")
    assert (answer.status_code, answer.json()["title"]) == (409, "Which city is it?")
    assert answer.json()["errors"][0].startswith("city: the new place lies outside every city served here, but the clocks of chino run")
    assert (await patched(two, reference, token, **NOWHERE_NEAR, reason="a drone saw it", city="chino")).status_code == 200
    assert (await patched(two, reference, token, **IN_CHINO, reason="back", city=None)).status_code == 422
    assert (await patched(two, reference, token, **NOWHERE_NEAR, reason="not ours", city=None)).json()["facts"].get("jurisdiction") is None


async def test_only_an_officer_of_the_city_moves_a_pin(two: Household) -> None:
    reference = await two.report(a_spill(), staff=False)
    given = {**IN_ONTARIO, "reason": "x"}
    discharger = link_token(two.house, "respond", await two.spill(reference))
    for token, status in (
        (None, 401), (discharger, 403), (await two.token("viewer"), 403), (await two.token("officer", "ontario"), 404),
        (await two.token("officer", "chino"), 200),
    ):  # fmt: skip
        assert (await patched(two, reference, token, **given)).status_code == status
