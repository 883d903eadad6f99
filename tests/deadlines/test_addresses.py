"""Which city an address names: where a city stands in an address, and never a namesake in another state."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from deadlines import Gazetteer, State, read_states
from deadlines.addresses import name_of
from service.library import open_rulebook, shipped_states

EVERY_CITY = (
    "chino", "ontario", "chico", "diamond-bar", "soledad", "baltimore", "brownsburg", "glendale-az", "loveland-oh", "lowell-in", "monterey",
)  # fmt: skip


@cache
def gazetteer() -> Gazetteer:
    packs = [pack for pack in open_rulebook().packs.values() if pack.is_city]
    return Gazetteer(packs, shipped_states())


@cache
def with_namesakes() -> Gazetteer:
    """Glendale in Arizona and in California."""
    arizona = open_rulebook().packs["glendale-az"]
    california = replace(arizona, id="glendale-ca", title="City of Glendale, California", state="CA")
    return Gazetteer([arizona, california], shipped_states())


@pytest.mark.parametrize(
    ("address", "city"),
    [
        # where a city stands in an address
        ("13220 Central Ave, Chino, CA 91710", "chino"), ("13220 Central Ave, Chino CA 91710", "chino"), ("5th St Chino", "chino"),
        ("5th St, Chino", "chino"), ("chino, california", "chino"), ("CHINO CALIF. 91710-1234", "chino"), ("Chino Ca.", "chino"),
        ("Chino 91710", "chino"), ("Chino, 91710", "chino"), ("Chino, San Bernardino County, CA 91710, USA", "chino"),
        ("Euclid Ave at Riverside Dr, Ontario, CA", "ontario"), ("Chino Ave, Ontario, CA", "ontario"), ("Diamond Bar, CA", "diamond-bar"),
        ("Diamond  bar\nCA", "diamond-bar"), ("Chino CA by the river", "chino"), ("Chino (behind the school)", "chino"),
        ("5800 W Glenn Dr, Glendale, AZ 85301", "glendale-az"), ("Glendale, Arizona", "glendale-az"),
        ("Glendale Ariz. 85301", "glendale-az"),
        ("City of Loveland, Ohio", "loveland-oh"), ("Lowell, IN 46356", "lowell-in"), ("lowell in", "lowell-in"),
        ("100 Holliday St, Baltimore, MD 21202", "baltimore"), ("Brownsburg 46112", "brownsburg"),
        # without a state, where only one city here has the name
        ("Glendale", "glendale-az"), ("Main St, Lowell", "lowell-in"), ("Ontario", "ontario"),
        # a name that is part of another name, a street or a sentence
        ("Chino Ave", None), ("Chino Hills, CA 91709", None), ("Rancho-Chino, CA", None), ("Chino Valley, AZ 86323", None),
        ("Ontario Mills Pkwy", None), ("Chino in the morning", None), ("Monterey Park, CA 91754", None), ("Baltimore St, Hanover", None),
        ("near Chinos", None), ("", None),
        # another state, by code, name or ZIP code
        ("Ontario, OR 97914", None), ("Ontario, Oregon", None), ("Ontario OR", None), ("ontario, or", None), ("Ontario 97914", None),
        ("Ontario, N.Y. 14519", None), ("Ontario, Canada", None), ("Glendale, CA 91201", None), ("Glendale, California", None),
        ("Glendale 91201", None), ("Glendale, Los Angeles County, California", None), ("Lowell, MA 01852", None), ("Lowell, Mass.", None),
        ("Loveland, CO", None), ("Loveland, Colorado 80537", None), ("Monterey, Mexico", None), ("Monterey, Va. 24465", None),
        ("New Baltimore, OH 45030", None), ("Chino, CA 85301", None), ("Soledad, Texas, USA", None),
        # two cities are none
        ("between Chino, CA and Ontario, CA", None), ("Chino, Ontario, CA", None),
    ],
)  # fmt: skip
def test_a_city_is_read_where_one_stands_in_an_address_and_in_its_own_state(address: str, city: str | None) -> None:
    assert gazetteer().city_in(address, EVERY_CITY) == city


def test_namesakes_are_told_apart_by_state_or_zip_code_and_are_nobody_without() -> None:
    both = ["glendale-az", "glendale-ca"]
    told = {
        "Glendale, AZ": "glendale-az", "Glendale, CA 91201": "glendale-ca", "Glendale 91201": "glendale-ca",
        "Glendale 85301": "glendale-az",
        "Glendale": None, "W Glendale Ave, Glendale": None,
    }  # fmt: skip
    assert {address: with_namesakes().city_in(address, both) for address in told} == told
    assert with_namesakes().city_in("Glendale", ["glendale-ca"]) == "glendale-ca", "only one is served"


def test_a_city_that_is_not_served_is_not_named() -> None:
    assert gazetteer().city_in("Ontario, CA 91764", ["chino", "soledad"]) is None


def test_names_come_from_the_titles_of_packs_and_else_from_their_ids() -> None:
    packs = open_rulebook().packs
    names = {city: name_of(packs[city], shipped_states()) for city in ("chino", "diamond-bar", "glendale-az", "lowell-in", "baltimore")}
    assert names == {
        "chino": "Chino", "diamond-bar": "Diamond Bar", "glendale-az": "Glendale", "lowell-in": "Lowell", "baltimore": "Baltimore",
    }  # fmt: skip
    assert name_of(replace(packs["glendale-az"], title="Glendale stormwater code"), shipped_states()) == "glendale"
    assert name_of(replace(packs["diamond-bar"], title="Our town, wherever"), shipped_states()) == "diamond bar"


def test_every_state_that_has_a_pack_has_its_zip_codes() -> None:
    states = {state.code: state for state in shipped_states()}
    packed = {pack.state for pack in open_rulebook().packs.values() if pack.is_city}
    assert {code for code in packed if not states[code or ""].zips} == set()
    spans = sorted(span for state in shipped_states() for span in state.zips)
    assert all(first <= last for first, last in spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans)), "no prefix is in two states"
    assert len(states) == 52, "fifty states, the District of Columbia and Puerto Rico"


@pytest.mark.parametrize(
    ("zip_code", "state"),
    [
        ("91710", "CA"),
        ("96150", "CA"),
        ("85301", "AZ"),
        ("86556", "AZ"),
        ("46112", "IN"),
        ("47997", "IN"),
        ("21202", "MD"),
        ("45140", "OH"),
    ],
)
def test_a_zip_code_lies_in_its_state(zip_code: str, state: str) -> None:
    prefix = int(zip_code[:3])
    assert [found.code for found in shipped_states() if any(first <= prefix <= last for first, last in found.zips)] == [state]


def test_rows_of_states_are_read_with_one_span_or_several() -> None:
    rows = [{"code": "XY", "name": "Xylo", "also": "Xyl Xy.", "zip_prefixes": "001-003 010"}]
    assert read_states(rows) == (State("XY", "Xylo", ("Xyl", "Xy."), ((1, 3), (10, 10))),)
    with pytest.raises(ValueError, match="invalid literal"):
        read_states([{**rows[0], "zip_prefixes": "many"}])
