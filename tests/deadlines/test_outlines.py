"""Boundaries for people to look at: fewer points, never far from the true line; and the parts of a city by their direction."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadlines.outlines import outline_of, part_of, simplified
from deadlines.places import METRES_PER_DEGREE, Places, Ring
from tests.houses import shipped_places

SQUARE: Ring = ((-117.0, 34.0), (-116.0, 34.0), (-116.0, 35.0), (-117.0, 35.0), (-117.0, 34.0))


def off(ring: Ring, point: tuple[float, float]) -> float:
    """How far a point is off a ring, in metres."""
    scale = math.cos(math.radians(ring[0][1]))
    x, y = point[0] * scale, point[1]
    best = math.inf
    for (lon1, lat1), (lon2, lat2) in pairwise(ring):
        x1, y1, dx, dy = lon1 * scale, lat1, (lon2 - lon1) * scale, lat2 - lat1
        length = dx * dx + dy * dy
        along = 0.0 if length == 0 else max(0.0, min(1.0, ((x - x1) * dx + (y - y1) * dy) / length))
        best = min(best, math.hypot(x1 + along * dx - x, y1 + along * dy - y))
    return best * METRES_PER_DEGREE


@pytest.mark.parametrize("city", sorted(shipped_places().cities))
def test_no_outline_of_a_city_is_further_off_than_it_may_be(city: str) -> None:
    true = shipped_places().polygons_of(city)
    drawn = outline_of(shipped_places(), city, 20.0)
    assert drawn
    outer = tuple(drawn[0][0])
    assert outer[0] == outer[-1]
    assert max(off(outer, point) for point in true[0][0]) < 22.0  # and a metre or so for the decimals that were cut
    assert len(outer) < len(true[0][0])


@given(st.lists(st.tuples(st.floats(-0.01, 0.01), st.floats(-0.01, 0.01)), min_size=3, max_size=40), st.floats(1, 500))
def test_every_ring_keeps_its_points_near_and_its_ends_closed(points: list[tuple[float, float]], metres: float) -> None:
    ring = tuple((lon - 117, lat + 34) for lon, lat in [*points, points[0]])
    thin = simplified(ring, metres)
    assert thin[0] == thin[-1] == ring[0]
    assert set(thin) <= set(ring)
    assert all(off(thin, point) <= metres + 0.01 for point in ring)


def test_points_on_a_straight_line_and_specks_are_left_out() -> None:
    dotted = tuple(point for a, b in pairwise(SQUARE) for point in (a, ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)))
    assert simplified((*dotted, dotted[0]), 1.0) == SQUARE
    speck = tuple((lon / 1e6, lat / 1e6) for lon, lat in SQUARE)
    places = Places({"a": [[SQUARE], [(*speck[:2], *speck[1:])]]})
    assert outline_of(places, "a", 5.0) == [[list(SQUARE)]]
    assert outline_of(places, "elsewhere", 5.0) == []


@pytest.mark.parametrize(
    ("lat", "lon", "part"),
    [
        (34.1, -116.9, "southwest"), (34.1, -116.5, "south"), (34.5, -116.5, "middle"), (34.5, -116.1, "east"), (34.9, -116.9, "northwest"),
        (35.0, -116.0, "northeast"), (34.0, -117.0, "southwest"), (35.1, -116.5, None), (34.5, -115.9, None),
    ],
)  # fmt: skip
def test_the_part_of_a_city_is_told_by_its_ninth(lat: float, lon: float, part: str | None) -> None:
    places = Places({"a": [[SQUARE]]})
    assert part_of(places, "a", lat, lon) == part
    assert part_of(places, "elsewhere", lat, lon) is None
