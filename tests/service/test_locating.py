"""From a place to a city: what intake flags and names, what the API tells, and what a list of cities served leaves out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deadlines import Places
from service import wiring
from service.access import add_account
from service.errors import BadInput
from service.locating import read_place
from service.parties import add_contact, people_for_triage
from service.settings import Settings, read_settings
from service.tables import Contact
from service.transaction import reading, transaction
from tests.houses import Household, a_household, shipped_law
from tests.service.small_law import cities_alone
from tests.spills import IN_CHINO, IN_ONTARIO, NOWHERE_NEAR, a_report

BY_THE_LINE = {"lat": 34.0102, "lon": -117.651}
IN_CHINO_HILLS = {"lat": 33.990, "lon": -117.727}


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Household]:
    """Chino and Ontario, and nothing but their own packs."""
    async with a_household(tmp_path, law=cities_alone("chino", "ontario")) as household:
        yield household


async def location(home: Household, reference: str) -> dict[str, Any]:
    async with home.client(await home.token("viewer", email=f"{reference}@city.example")) as client:
        answer = await client.get(f"/api/v1/spills/{reference}")
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()["location"]
    return told


# -- flags, with the candidates named


async def test_a_point_near_an_edge_is_flagged_with_the_city_it_might_be_instead(two: Household) -> None:
    reference = await two.report(a_report(location=BY_THE_LINE), staff=False)
    assert (await two.spill(reference)).flags == [
        "location: 29 m from the edge of chino; a person should confirm the city; also possible: ontario (29 m away)"
    ]


async def test_a_point_just_outside_is_flagged_with_the_cities_that_may_be_meant(two: Household) -> None:
    reference = await two.report(a_report(location=just_outside(two)), staff=False)
    [flag] = (await two.spill(reference)).flags
    assert flag.startswith("location: outside every city served here; nearest is chino, 0.")
    assert "; within 1 km: chino (" in flag


def just_outside(home: Household) -> dict[str, Any]:
    """A point in no city, some hundred metres from Chino."""
    for step in range(400):
        lon = -117.70 - step * 0.0005
        place = home.house.places.locate(34.0, lon)
        if place.city is None and 200 < place.metres_to_edge < 900:
            return {"lat": 34.0, "lon": lon}
    raise AssertionError("Chino ends somewhere")


async def test_a_point_that_two_cities_claim_is_flagged_however_deep_it_lies(home: Household) -> None:
    box = ((-118.0, 34.0), (-117.0, 34.0), (-117.0, 35.0), (-118.0, 35.0), (-118.0, 34.0))
    other = ((-117.6, 34.0), (-116.0, 34.0), (-116.0, 35.0), (-117.6, 35.0), (-117.6, 34.0))
    house = home.with_house(places=Places({"chino": [[box]], "ontario": [[other]]})).house
    read = read_place(house, {"lat": 34.5, "lon": -117.2})
    assert read.city == "ontario"
    [flag] = read.flags
    assert flag.startswith(
        "location: inside more than one city, deepest in ontario; a person should confirm the city; also possible: chino (ins"
    )


async def test_the_api_tells_the_city_of_the_point_its_edge_and_the_candidates(two: Household) -> None:
    reference = await two.report(a_report(location={**BY_THE_LINE, "address": "the ditch"}))
    told = await location(two, reference)
    assert {key: told[key] for key in ("lat", "lon", "address", "city")} == {**BY_THE_LINE, "address": "the ditch", "city": "chino"}
    assert [(one["city"], one["inside"], round(one["metres"])) for one in told["candidates"]] == [
        ("chino", True, 29),
        ("ontario", False, 29),
    ]
    assert told["metres_to_edge"] == pytest.approx(29, abs=0.5)


async def test_the_api_tells_no_city_where_there_is_no_point_or_none_near_it(two: Household) -> None:
    nowhere = await location(two, await two.report(a_report(location={"address": "5th St"})))
    assert nowhere == {"lat": None, "lon": None, "address": "5th St", "city": None, "metres_to_edge": None, "candidates": []}
    desert = await location(two, await two.report(a_report(location=NOWHERE_NEAR)))
    assert (desert["city"], desert["candidates"]) == (None, [])
    assert desert["metres_to_edge"] > 100_000


# -- a city named in an address


@pytest.mark.parametrize(
    ("address", "city"),
    [
        ("Euclid Ave at Riverside Dr, Ontario, CA", "ontario"), ("Ontario, OR 97914", None), ("Ontario 97914", None),
        ("5800 W Glenn Dr, Glendale, AZ 85301", "glendale-az"), ("Glendale, CA 91201", None), ("100 N Main St, Lowell", "lowell-in"),
        ("Lowell, MA", None), ("Chino Ave", None),
    ],
)  # fmt: skip
async def test_words_name_a_city_only_in_its_own_state_and_a_person_confirms_it(home: Household, address: str, city: str | None) -> None:
    read = read_place(home.house, {"address": address})
    assert read.city == city
    flags = [f"location: no point; {city} is taken from the words of the address, a person should confirm it"] if city else []
    assert read.flags == flags


def without_boundary(home: Household, *cities: str) -> Household:
    """The same household, where these cities have no boundary."""
    return home.with_house(places=home.house.places.only(home.house.places.cities - set(cities)))


async def test_a_point_outside_every_boundary_leaves_a_city_without_one_to_the_words(home: Household) -> None:
    in_baltimore = {"lat": 39.29, "lon": -76.61}
    house = without_boundary(home, "baltimore").house
    read = read_place(house, {**in_baltimore, "address": "100 Holliday St, Baltimore, MD 21202"})
    assert read.city == "baltimore"
    assert read.flags == ["location: baltimore has no boundary here; it is taken from the words of the address, a person should confirm it"]
    assert read_place(house, in_baltimore).city is None


async def test_words_do_not_put_a_point_into_a_city_whose_boundary_leaves_it_out(home: Household) -> None:
    """Postal addresses name a city far beyond its limits."""
    read = read_place(home.house, {**IN_CHINO_HILLS, "address": "14000 City Center Dr, Chino, CA"})
    assert read.city is None
    assert read.flags[0].startswith("location: outside every city served here; nearest is chino")


async def test_a_point_beats_the_words_beside_it(home: Household) -> None:
    assert read_place(home.house, {**IN_CHINO, "address": "Ontario, CA"}).city == "chino"


# -- the cities served


def a_settings(folder: Path, **given: Any) -> Settings:
    return Settings(home_dir=folder, secret_key="made up for tests, long enough", **given)


async def test_without_the_setting_every_city_is_served_and_the_example_city_lends_its_zone(home: Household) -> None:
    assert home.house.cities == tuple(shipped_law().cities)
    assert len(home.house.cities) > 5
    assert home.house.first_city == "chino"


async def test_a_time_told_without_city_is_read_in_the_zone_of_the_example_city_or_the_first_one_served(tmp_path: Path) -> None:
    for cities, hour in {"": 21, "baltimore,chino": 18, "glendale-az": 20}.items():
        folder = tmp_path / (cities or "all")
        folder.mkdir()
        async with a_household(folder, cities=cities) as home:
            reference = await home.report(a_report(location=None, seen_at="2026-12-01T13:30"), staff=False)
            assert (await home.spill(reference)).facts["discharged_at"] == f"2026-12-01T{hour}:30:00Z"


async def test_a_city_that_is_not_served_is_found_neither_by_point_nor_by_name(tmp_path: Path) -> None:
    async with a_household(tmp_path, cities=" chino , soledad ") as home:
        assert home.house.cities == ("chino", "soledad")
        read = read_place(home.house, IN_ONTARIO)
        assert read.city is None
        assert read.flags[0].startswith("location: outside every city served here; nearest is chino")
        assert read_place(home.house, {"address": "Ontario, CA"}).city is None
        assert read_place(home.house, IN_CHINO).city == "chino"


async def test_where_no_city_served_has_a_boundary_a_point_is_kept_and_a_person_asked(tmp_path: Path) -> None:
    officer = Contact(city="baltimore", role="duty_officer", name="Ada", email="ada@baltimore.example")
    async with a_household(tmp_path, cities="baltimore", people=[officer]) as household:
        home = without_boundary(household, "baltimore")
        reference = await home.report(a_report(), staff=False)
        spill = await home.spill(reference)
        assert (spill.city, spill.lat) == (None, 34.01)
        assert spill.flags == ["location: outside every city served here, as far as can be told: none of them has a boundary here"]
        assert (await location(home, reference))["metres_to_edge"] is None
        async with reading(home.house) as tx:
            assert [person.name for person in await people_for_triage(tx, spill)] == ["Ada"]


async def test_accounts_and_contacts_are_for_cities_served(tmp_path: Path) -> None:
    async with a_household(tmp_path, cities="chino") as home, transaction(home.house, "test") as tx:
        await add_account(tx, "a@chino.example", "officer", "chino")
        with pytest.raises(BadInput) as refused:
            await add_account(tx, "a@ontario.example", "officer", "ontario")
        assert refused.value.faults == ["--city: 'ontario' is not a known city; right would be: one of chino"]
        with pytest.raises(BadInput) as refused:
            await add_contact(tx, "ontario", "director", "Ada", "ada@ontario.example", "")
        assert refused.value.faults == ["CITY: 'ontario' is not a known city; right would be: one of chino"]


def test_an_unknown_city_in_the_setting_stops_the_start_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        wiring.build_house(a_settings(tmp_path, cities="chino,gotham"))
    [fault] = refused.value.faults
    assert fault.startswith("SPILLCLOCK_CITIES: 'gotham' is no city with a pack; right would be: a list of some of ")
    assert "chino" in fault


def test_the_setting_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPILLCLOCK_CITIES", "ontario,, chino,ontario,")
    assert read_settings().served == ("ontario", "chino")


async def test_at_the_very_first_start_the_first_city_served_gets_the_example_people(tmp_path: Path) -> None:
    async with a_household(tmp_path, cities="ontario,chino", people=[]) as home:
        assert await wiring.fill_example_city(home.house)
        async with reading(home.house) as tx:
            spill = await home.spill(await home.report(a_report(location=IN_ONTARIO)))
            assert [person.addresses["email"] for person in await people_for_triage(tx, spill)] == ["duty@ontario.example"]


# -- cities, for anybody


async def test_anybody_may_ask_which_cities_are_served(tmp_path: Path) -> None:
    async with (
        a_household(tmp_path, cities="ontario,chino,baltimore") as home,
        without_boundary(home, "baltimore").client() as client,
    ):
        found = (await client.get("/api/v1/cities")).json()["cities"]
    assert [(one["city"], one["title"], one["state"], one["zone"], one["has_boundary"]) for one in found] == [
        ("ontario", "City of Ontario, California", "CA", "America/Los_Angeles", True),
        ("chino", "City of Chino, California", "CA", "America/Los_Angeles", True),
        ("baltimore", "City of Baltimore, Maryland", "MD", "America/New_York", False),
    ]


async def test_anybody_may_ask_who_is_who_in_a_city_and_which_law_is_there(home: Household) -> None:
    async with home.client() as client:
        told = (await client.get("/api/v1/cities/chino")).json()
    assert (told["title"], told["state"], told["zone"]) == ("City of Chino, California", "CA", "America/Los_Angeles")
    agencies = {one["role"]: one for one in told["agencies"]}
    assert agencies["cal-oes"]["telephone"] == ["800-852-7550", "916-845-8911"]
    assert agencies["national-response-center"]["telephone"] == ["800-424-8802"]
    assert agencies["npdes-authority"]["name"].startswith("Santa Ana Regional Water Quality Control Board")
    assert agencies["cupa"]["telephone"] == []
    assert [one["pack"] for one in told["packs"]] == ["chino", "california", "federal", "sewer-order"]
    assert all(one["version"].startswith("20") for one in told["packs"])


async def test_a_city_that_is_not_served_is_not_told_about(tmp_path: Path) -> None:
    async with a_household(tmp_path, cities="chino") as home, home.client() as client:
        answer = await client.get("/api/v1/cities/ontario")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "no city ontario is served here; right would be: one of chino"
