"""Areas on the map that people choose: a circle around a point, or a polygon. Degrees are WGS84, as the rest of `places` has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deadlines.places import METRES_PER_DEGREE, Places, Ring

LEAST_METRES, MOST_METRES = 50.0, 50_000.0
_MOST_POINTS = 200
_RIGHT_CIRCLE = f'right would be: {{"lat": 34.01, "lon": -117.69, "metres": 2000}}, with {LEAST_METRES:.0f} to {MOST_METRES:,.0f} metres'
_RIGHT_POLYGON = 'right would be a GeoJSON polygon: {"type": "Polygon", "coordinates": [[[-117.7, 34.0], ...]]}'


def metres_between(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """The distance of two points in metres, on a plane that is right near the first; good to a percent within 100 km."""
    scale = math.cos(math.radians(lat))
    return math.hypot((other_lon - lon) * scale, other_lat - lat) * METRES_PER_DEGREE


@dataclass(frozen=True, slots=True)
class Circle:
    """Everything within so many metres of a point."""

    lat: float
    lon: float
    metres: float

    def holds(self, lat: float, lon: float) -> bool:
        """Whether a point lies in it; its edge is inside."""
        return metres_between(self.lat, self.lon, lat, lon) <= self.metres

    def meets(self, other: Circle) -> bool:
        """Whether two circles share a point."""
        return metres_between(self.lat, self.lon, other.lat, other.lon) <= self.metres + other.metres


@dataclass(frozen=True, slots=True)
class Polygon:
    """A polygon with its holes, as it was drawn."""

    places: Places

    def holds(self, lat: float, lon: float) -> bool:
        """Whether a point lies in it; its edge is inside."""
        return self.places.locate(lat, lon).city is not None


Area = Circle | Polygon


def read_area(given: object) -> Area:
    """Read {lat, lon, metres} or a GeoJSON polygon. Raises ValueError saying what would be right."""
    if not isinstance(given, Mapping):
        raise ValueError(f"it is no circle and no polygon; {_RIGHT_CIRCLE}")
    if "type" in given or "coordinates" in given:
        return _polygon(given)
    return read_circle(given)


def read_circle(given: Mapping[str, Any]) -> Circle:
    """Read {lat, lon, metres}. Raises ValueError saying what would be right."""
    lat, lon, metres = (_number(given.get(key)) for key in ("lat", "lon", "metres"))
    if lat is None or lon is None or metres is None or set(given) - {"lat", "lon", "metres"}:
        raise ValueError(f"it is no circle; {_RIGHT_CIRCLE}")
    if abs(lat) > 90 or abs(lon) > 180:
        raise ValueError(f"{lat}, {lon} is nowhere on earth; {_RIGHT_CIRCLE}")
    if not LEAST_METRES <= metres <= MOST_METRES:
        raise ValueError(f"{metres:g} metres cannot be used; {_RIGHT_CIRCLE}")
    return Circle(lat, lon, metres)


def _polygon(given: Mapping[str, Any]) -> Polygon:
    rings = given.get("coordinates")
    if given.get("type") != "Polygon" or not isinstance(rings, list) or not rings:
        raise ValueError(f"it is no polygon; {_RIGHT_POLYGON}")
    read = [_ring(ring) for ring in rings]
    if sum(map(len, read)) > _MOST_POINTS:
        raise ValueError(f"it has {sum(map(len, read))} points; right would be at most {_MOST_POINTS}")
    return Polygon(Places({"area": [read]}))


def _ring(ring: object) -> Ring:
    points = []
    for point in ring if isinstance(ring, list) else ():
        numbers = [_number(part) for part in point[:2]] if isinstance(point, list) else []
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or abs(numbers[0]) > 180 or abs(numbers[1]) > 90:
            raise ValueError(f"{str(point)[:40]} is no point of longitude and latitude; {_RIGHT_POLYGON}")
        points.append((numbers[0], numbers[1]))
    if len(set(points)) < 3:
        raise ValueError(f"a ring needs three points; {_RIGHT_POLYGON}")
    return tuple(points)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
