"""City boundaries for people to look at: with fewer points than the law is read by, and the parts of a city by their direction."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deadlines.places import METRES_PER_DEGREE, Places, Ring

# The five decimals that are left are good to a metre.
_DECIMALS = 5
_COMPASS = (("southwest", "south", "southeast"), ("west", "middle", "east"), ("northwest", "north", "northeast"))


def outline_of(places: Places, city: str, metres: float) -> list[list[list[tuple[float, float]]]]:
    """The boundary of a city as the coordinates of a GeoJSON MultiPolygon, no line more than `metres` off; empty where none is known.

    Parts and holes that are smaller than that are left out.
    """
    parts = [[ring for ring in (simplified(ring, metres) for ring in part) if len(ring) > 3] for part in places.polygons_of(city)]
    return [[[(round(lon, _DECIMALS), round(lat, _DECIMALS)) for lon, lat in ring] for ring in part] for part in parts if part]


def simplified(ring: Ring, metres: float) -> Ring:
    """A ring without the points that lie within `metres` of the line left without them (Douglas and Peucker), closed as it was."""
    if len(ring) < 5:
        return ring
    scale = math.cos(math.radians(ring[0][1]))
    points = [(lon * scale * METRES_PER_DEGREE, lat * METRES_PER_DEGREE) for lon, lat in ring]
    # A closed ring begins where it ends: the point farthest from there is kept first, and each half is thinned by itself.
    far = max(range(len(points)), key=lambda index: math.dist(points[0], points[index]))
    kept = {0, far, len(points) - 1}
    halves = [(0, far), (far, len(points) - 1)]
    while halves:
        first, last = halves.pop()
        off, index = _farthest(points, first, last)
        if off > metres:
            kept.add(index)
            halves += [(first, index), (index, last)]
    return tuple(ring[index] for index in sorted(kept))


def _farthest(points: Sequence[tuple[float, float]], first: int, last: int) -> tuple[float, int]:
    """How far the points between two are off the line between them, and which is the farthest."""
    (x1, y1), (x2, y2) = points[first], points[last]
    dx, dy = x2 - x1, y2 - y1
    length = dx * dx + dy * dy
    best = (0.0, first)
    for index in range(first + 1, last):
        x, y = points[index]
        along = 0.0 if length == 0 else max(0.0, min(1.0, ((x - x1) * dx + (y - y1) * dy) / length))
        best = max(best, (math.hypot(x1 + along * dx - x, y1 + along * dy - y), index))
    return best


def part_of(places: Places, city: str, lat: float, lon: float) -> str | None:
    """In which ninth of the box around a city a point lies: north, northeast ... or middle. None outside it, or without a boundary."""
    box = places.box_of(city)
    if box is None:
        return None
    west, east, south, north = box
    if not (west <= lon <= east and south <= lat <= north):
        return None
    row, column = min(2, int(3 * (lat - south) / (north - south))), min(2, int(3 * (lon - west) / (east - west)))
    return _COMPASS[row][column]
