"""Areas that people choose on a map: circles and polygons, read with a cure for each fault, edges inside."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadlines.areas import Circle, metres_between, read_area, read_circle
from tests.houses import shipped_places

CHINO = (34.01, -117.69)
SQUARE = {"type": "Polygon", "coordinates": [[[-117.7, 34.0], [-117.6, 34.0], [-117.6, 34.1], [-117.7, 34.1], [-117.7, 34.0]]]}


def test_a_circle_holds_what_is_within_its_metres() -> None:
    circle = Circle(*CHINO, 1000)
    assert circle.holds(*CHINO)
    assert circle.holds(34.01 + 999 / 111_320, -117.69)
    assert not circle.holds(34.01 + 1001 / 111_320, -117.69)


def test_a_mile_is_a_mile_to_the_north_and_to_the_east() -> None:
    assert metres_between(34, -117, 34 + 1609.344 / 111_320, -117) == pytest.approx(1609.344, rel=1e-6)
    assert metres_between(34, -117, 34, -117 + 1609.344 / 111_320 / 0.8290375) == pytest.approx(1609.344, rel=1e-4)


@given(st.floats(-80, 80), st.floats(-179, 179), st.floats(50, 50_000), st.floats(50, 50_000), st.floats(-0.4, 0.4))
def test_circles_that_meet_do_so_either_way_but_for_the_bend_of_the_earth(
    lat: float, lon: float, one: float, other: float, off: float
) -> None:
    first, second = Circle(lat, lon, one), Circle(lat + off, lon, other)
    if abs(abs(off) * 111_320 - one - other) > 1:
        assert first.meets(second) == second.meets(first) == (abs(off) * 111_320 < one + other)


def test_a_polygon_holds_its_inside_and_its_edge_but_not_its_hole() -> None:
    area = read_area(SQUARE)
    assert area.holds(34.05, -117.65)
    assert area.holds(34.0, -117.65)
    assert not area.holds(34.05, -117.5)
    hole = [[-117.66, 34.04], [-117.64, 34.04], [-117.64, 34.06], [-117.66, 34.06], [-117.66, 34.04]]
    assert not read_area({**SQUARE, "coordinates": [SQUARE["coordinates"][0], hole]}).holds(34.05, -117.65)  # type: ignore[index]


@pytest.mark.parametrize(
    "given",
    [
        None, [], "chino", {}, {"lat": 34, "lon": -117}, {"lat": "34", "lon": -117, "metres": 500}, {"lat": True, "lon": 0, "metres": 500},
        {"lat": 91, "lon": 0, "metres": 500}, {"lat": 34, "lon": -181, "metres": 500}, {"lat": 34, "lon": -117, "metres": 49},
        {"lat": 34, "lon": -117, "metres": 60_000}, {"lat": float("nan"), "lon": 0, "metres": 500},
        {"lat": 34, "lon": -117, "metres": 500, "miles": 3}, {"type": "Point", "coordinates": [1, 2]},
        {"type": "Polygon", "coordinates": []}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], "x"]]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 91], [2, 2]]]},
        {"type": "Polygon", "coordinates": [[[0.001 * n, 0.002 * n * n] for n in range(201)]]},
    ],
)  # fmt: skip
def test_what_is_no_area_is_refused_with_what_would_be_right(given: Any) -> None:
    with pytest.raises(ValueError, match="right would be"):
        read_area(given)


def test_a_circle_is_read_as_it_was_told() -> None:
    assert read_circle({"lat": 34, "lon": -117.5, "metres": 800}) == Circle(34.0, -117.5, 800.0)


def test_a_point_is_as_far_from_a_city_as_from_its_edge() -> None:
    places = shipped_places()
    assert places.metres_to("chino", *CHINO) == 0
    assert places.metres_to("atlantis", *CHINO) is None
    away = places.metres_to("chino", 35.6, -115.4)
    assert away is not None
    assert 200_000 < away < 300_000
