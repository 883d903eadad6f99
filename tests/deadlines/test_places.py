"""Which city a point lies in: the boundaries that ship, and the cases that boundaries have in general."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadlines import Places, read_places
from deadlines.places import CANDIDATE_METRES
from service.library import open_places, shipped_shelf


@cache
def shipped() -> Places:
    return open_places()


def square(west: float, south: float, east: float, north: float) -> list[list[float]]:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def places(**cities: object) -> Places:
    """Cities as GeoJSON coordinates: a list of rings, or a list of such lists."""
    made = {}
    for city, coordinates in cities.items():
        is_multi = isinstance(coordinates[0][0][0], list)  # type: ignore[index]
        geometry = {"type": "MultiPolygon" if is_multi else "Polygon", "coordinates": coordinates}
        made[city] = json.dumps({"type": "Feature", "properties": {}, "geometry": geometry})
    return read_places(made)


# City halls, from their street addresses, good to some 200 metres.
CITY_HALLS = {
    "chino": (34.0122, -117.6889), "ontario": (34.0653, -117.6484), "chico": (39.7299, -121.8375), "diamond-bar": (34.0013, -117.8304),
    "soledad": (36.4248, -121.3262),
}  # fmt: skip


@pytest.mark.parametrize("city", CITY_HALLS)
def test_a_city_hall_lies_well_inside_its_own_city(city: str) -> None:
    place = shipped().locate(*CITY_HALLS[city])
    assert (place.city, place.nearest, place.near_edge) == (city, city, False)
    assert place.metres_to_edge > 100


@pytest.mark.parametrize(
    ("name", "point", "nearest", "kilometres"),
    [
        ("Los Angeles City Hall", (34.0537, -118.2428), "diamond-bar", (30, 40)), ("Chino Hills", (33.9690, -117.7560), "chino", (0.2, 5)),
        ("Gonzales", (36.5066, -121.4444), "soledad", (5, 15)), ("Oroville", (39.5138, -121.5564), "chico", (15, 35)),
    ],
)  # fmt: skip
def test_a_point_outside_every_city_knows_the_nearest_and_how_far(
    name: str, point: tuple[float, float], nearest: str, kilometres: tuple[float, float]
) -> None:
    place = shipped().locate(*point)
    assert (place.city, place.nearest) == (None, nearest), name
    assert kilometres[0] * 1000 < place.metres_to_edge < kilometres[1] * 1000


@pytest.mark.parametrize("point", [(0, 0), (-34, 117), (90, 0), (-90, 180), (34.0122, 117.6889)])
def test_a_point_far_away_is_in_no_city_and_in_no_box(point: tuple[float, float]) -> None:
    assert shipped().locate(*point).city is None
    assert not shipped().may_hold(*point)


@pytest.mark.parametrize("point", [(39.7714, -121.85888), (39.77799, -121.85436), (39.72888, -121.8209), (39.74343, -121.80036)])
def test_a_hole_in_chico_is_county_land_and_not_the_city(point: tuple[float, float]) -> None:
    place = shipped().locate(*point)
    assert (place.city, place.nearest) == (None, "chico")
    assert shipped().may_hold(*point)


@pytest.mark.parametrize(
    ("city", "point"),
    [
        ("soledad", (36.402915, -121.319076)), ("soledad", (36.468621, -121.332601)), ("soledad", (36.434973, -121.312923)),
        ("soledad", (36.41969, -121.35262)), ("soledad", (36.472032, -121.381609)), ("chico", (39.81021, -121.718989)),
        ("chico", (39.688468, -121.91145)),
    ],
)  # fmt: skip
def test_every_part_of_a_city_in_several_parts_is_the_city(city: str, point: tuple[float, float]) -> None:
    assert shipped().locate(*point).city == city


@pytest.mark.parametrize("point", [(34.030264, -117.670492), (34.0301, -117.6705), (34.0304, -117.6705), (34.048356, -117.680765)])
def test_where_chino_and_ontario_touch_one_of_them_is_named_and_a_person_asked(point: tuple[float, float]) -> None:
    place = shipped().locate(*point)
    assert place.city in ("chino", "ontario")
    assert place.near_edge


@pytest.mark.parametrize("latitude", [34.028, 34.035, 34.0425])
def test_along_the_common_line_there_is_no_strip_that_belongs_to_nobody(latitude: float) -> None:
    found = [shipped().locate(latitude, -117.69 + step * 0.002).city for step in range(14)]
    assert set(found) <= {"chino", "ontario"}
    assert found == sorted(found), "Chino lies west of Ontario"


def test_every_corner_of_every_boundary_lies_on_an_edge_inside() -> None:
    ring = json.loads(json.dumps(square(-122, 39, -121, 40)))
    one = places(town=[ring])
    for lon, lat in ring:
        assert (one.locate(lat, lon).city, one.locate(lat, lon).metres_to_edge) == ("town", 0)
    assert one.locate(39.5, -122).city == "town"
    assert one.locate(40, -121.5).city == "town"
    assert one.locate(40.0000001, -121.5).city is None


def test_the_edge_of_a_hole_still_belongs_to_the_city() -> None:
    town = places(town=[square(0, 0, 10, 10), square(4, 4, 6, 6)])
    assert town.locate(5, 5).city is None
    assert town.locate(4, 5).city == "town"
    assert town.locate(5, 3.9).city == "town"
    assert town.locate(5, 5).metres_to_edge == pytest.approx(111_320, rel=0.01)


def test_a_city_inside_the_hole_of_another_is_found() -> None:
    both = places(outer=[square(0, 0, 10, 10), square(4, 4, 6, 6)], inner=[square(4.5, 4.5, 5.5, 5.5)])
    assert (both.locate(5, 5).city, both.locate(4.2, 5).city, both.locate(1, 1).city) == ("inner", None, "outer")


def test_in_a_sliver_that_two_cities_claim_the_deeper_one_holds() -> None:
    both = places(west=[square(0, 0, 5.1, 10)], east=[square(5, 0, 10, 10)])
    assert both.locate(5, 5.02).city == "west"
    assert both.locate(5, 5.08).city == "east"
    assert both.locate(5, 5.02).near_edge is False


def test_a_city_in_two_parts_has_nothing_between_them() -> None:
    town = places(town=[[square(0, 0, 1, 1)], [square(3, 0, 4, 1)]])
    assert [town.locate(0.5, lon).city for lon in (0.5, 2, 3.5)] == ["town", None, "town"]
    assert town.locate(0.5, 2).metres_to_edge == pytest.approx(111_320, rel=0.01)


def test_metres_shrink_with_the_latitude_from_east_to_west() -> None:
    town = places(town=[square(0, 59, 1, 61)])
    assert town.locate(60, 0.25).metres_to_edge == pytest.approx(0.25 * 111_320 / 2, rel=0.01)
    assert town.locate(60, -0.001).near_edge
    assert not town.locate(60, -0.01).near_edge


def test_a_collection_is_read_like_its_features() -> None:
    feature = {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [square(0, 0, 1, 1)]}}
    collection = read_places({"town": json.dumps({"type": "FeatureCollection", "features": [feature]})})
    assert collection.locate(0.5, 0.5).city == "town"


@pytest.mark.parametrize(
    "text",
    [
        "{}", "[1]", '{"type": "Point", "coordinates": [1, 2]}', '{"type": "FeatureCollection", "features": {}}',
        '{"type": "Feature", "geometry": null}', '{"type": "Polygon"}', "not json",
    ],
)  # fmt: skip
def test_what_is_no_polygon_is_refused_with_an_error(text: str) -> None:
    with pytest.raises((KeyError, ValueError, TypeError)):
        read_places({"town": text})


@given(st.floats(-0.5, 1.5), st.floats(-0.5, 1.5))
def test_a_point_is_inside_a_square_exactly_where_its_numbers_say(lat: float, lon: float) -> None:
    town = places(town=[square(0, 0, 1, 1)])
    inside = 0 <= lat <= 1 and 0 <= lon <= 1
    place = town.locate(lat, lon)
    on_the_very_edge = place.metres_to_edge < 1e-3  # closer than a double can tell apart
    assert on_the_very_edge or (place.city == "town") is inside
    assert not inside or town.may_hold(lat, lon)


# -- every city that a point may be meant for


def candidates(known: Places, lat: float, lon: float) -> list[tuple[str, int, bool]]:
    return [(one.city, round(one.metres), one.inside) for one in known.locate(lat, lon).candidates]


def test_deep_inside_a_city_it_is_the_only_candidate_however_far_its_edge() -> None:
    assert candidates(shipped(), *CITY_HALLS["ontario"]) == [("ontario", 2466, True)]


def test_near_an_edge_the_neighbour_is_a_candidate_with_its_distance() -> None:
    assert candidates(shipped(), 34.0102, -117.651) == [("chino", 29, True), ("ontario", 29, False)]
    assert shipped().locate(34.0102, -117.651).others[0].city == "ontario"


def test_outside_all_every_city_within_the_stated_distance_is_a_candidate_nearest_first() -> None:
    towns = places(west=[square(0, 0, 1, 1)], east=[square(1.01, 0, 2, 1)], far=[square(1.03, 2, 2, 3)])
    assert candidates(towns, 0.5, 1.004) == [("west", 445, False), ("east", 668, False)]
    assert candidates(towns, 0.5, 1.007) == [("east", 334, False), ("west", 779, False)]
    assert candidates(towns, 1.4, 1.5) == []
    assert (towns.locate(1.4, 1.5).city, towns.locate(1.4, 1.5).nearest) == (None, "east")


def test_a_candidate_lies_within_the_stated_distance_and_no_metre_farther() -> None:
    town = places(town=[square(0, 0, 1, 1)])
    metre = 1 / 111_320
    assert len(town.locate(1 + (CANDIDATE_METRES - 1) * metre, 0.5).candidates) == 1
    assert town.locate(1 + (CANDIDATE_METRES + 1) * metre, 0.5).candidates == ()


def test_in_a_sliver_both_cities_are_candidates_the_deeper_one_first() -> None:
    both = places(west=[square(0, 0, 5.1, 10)], east=[square(5, 0, 10, 10)])
    assert [(one.city, one.inside) for one in both.locate(5, 5.02).candidates] == [("west", True), ("east", True)]
    assert [(one.city, one.inside) for one in both.locate(5, 5.08).candidates] == [("east", True), ("west", True)]


def corners_in_common() -> list[tuple[float, float]]:
    """Points that both Chino's boundary and Ontario's name to the last digit, as (latitude, longitude)."""
    rings = [
        {tuple(point) for part in json.loads(shipped_text(city))["features"][0]["geometry"]["coordinates"] for point in flat(part)}
        for city in ("chino", "ontario")
    ]
    return sorted((lat, lon) for lon, lat in rings[0] & rings[1])


def shipped_text(city: str) -> str:
    return shipped_shelf().places[city]


def flat(part: list[Any]) -> list[list[float]]:
    return part if isinstance(part[0][0], float) else [point for ring in part for point in ring]


def test_on_the_line_that_chino_and_ontario_share_both_hold_the_point() -> None:
    shared = corners_in_common()
    assert len(shared) > 20
    for point in shared:
        place = shipped().locate(*point)
        assert sorted((one.city, one.inside) for one in place.candidates) == [("chino", True), ("ontario", True)]
        assert place.near_edge


def test_the_shipped_lines_of_chino_and_ontario_are_the_full_ones() -> None:
    """The simplified ones give another city for one in eight points within a metre of the common line, and some to both or to nobody."""
    points = {
        city: sum(len(flat(part)) for part in json.loads(shipped_text(city))["features"][0]["geometry"]["coordinates"])
        for city in ("chino", "ontario")
    }
    assert points == {"chino": 1113, "ontario": 804}


def test_on_the_edge_of_a_hole_the_city_is_a_candidate_that_holds_the_point() -> None:
    town = places(town=[square(0, 0, 10, 10), square(4, 4, 6, 6)])
    for lat, lon in ((5, 4), (5, 6), (4, 5), (6, 5), (4, 4), (6, 6)):
        assert candidates(town, lat, lon) == [("town", 0, True)]
    assert candidates(town, 4.005, 5) == [("town", 557, False)]


def test_an_island_in_the_hole_of_its_own_city_belongs_to_it() -> None:
    town = places(town=[[square(0, 0, 10, 10), square(4, 4, 6, 6)], [square(4.9, 4.9, 5.1, 5.1)]])
    assert [town.locate(lat, 5).city for lat in (1, 4.5, 5, 5.1, 5.5)] == ["town", None, "town", "town", None]
    assert candidates(town, 5.105, 5) == [("town", 557, False)]


def test_a_polygon_that_spans_most_of_the_earth_is_told_from_what_it_leaves_out() -> None:
    world = places(world=[square(-179, -85, 179, 85), square(-10, -10, 10, 10)], island=[square(-1, -1, 1, 1)])
    found = {point: world.locate(*point).city for point in ((80, 170), (-80, -170), (0, 0), (5, 5), (0, 179.5), (86, 0), (0, -179))}
    assert found == {
        (80, 170): "world", (-80, -170): "world", (0, 0): "island", (5, 5): None, (0, 179.5): None, (86, 0): None, (0, -179): "world",
    }  # fmt: skip


def test_without_any_boundary_a_point_lies_nowhere_and_nothing_breaks() -> None:
    place = shipped().only(["gotham"]).locate(39.29, -76.61)
    assert (place.city, place.nearest, place.candidates, place.near_edge) == (None, None, (), False)
    assert not shipped().only([]).may_hold(39.29, -76.61)


def test_only_the_chosen_cities_are_found() -> None:
    alone = shipped().only(["chino"])
    assert alone.cities == {"chino"}
    assert (alone.locate(*CITY_HALLS["ontario"]).city, alone.locate(*CITY_HALLS["ontario"]).nearest) == (None, "chino")


def test_finding_the_city_takes_less_than_five_milliseconds() -> None:
    grid = [(33.95 + row * 0.01, -117.75 + column * 0.015) for row in range(12) for column in range(12)]
    took = []
    for point in [*CITY_HALLS.values(), *grid]:
        best = 1.0
        for _ in range(3):  # the least of three: what another program on this machine took is not ours
            begun = time.perf_counter()
            shipped().locate(*point)
            best = min(best, time.perf_counter() - begun)
        took.append(best)
    assert sorted(took)[len(took) // 2] < 0.005
