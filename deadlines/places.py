"""Which city a point lies in: ray casting over the boundary polygons, the boundary itself counting as inside, holes as outside."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

METRES_PER_DEGREE = 111_320.0
# Boundaries of 2019 taken as WGS84 are good to about a metre; nearer than this to an edge a person should look.
NEAR_EDGE_METRES = 100.0
# A place told by an address or a telephone's position may be this far off: every city so near might be the one that was meant.
CANDIDATE_METRES = 1000.0
# Nearer than a ten thousandth of a millimetre to a line is on it: a double tells no finer.
_ON_THE_LINE = 1e-12

Ring = tuple[tuple[float, float], ...]
Box = tuple[float, float, float, float]  # west, east, south, north


@dataclass(frozen=True, slots=True)
class Candidate:
    """A city that a point may be meant for: whether it holds the point, and how many metres the point is from that city's edge."""

    city: str
    metres: float
    inside: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where a point lies: the city (None outside all), metres to that city's edge or to the nearest city, and the nearest city's id.

    `candidates` are the cities that hold the point, the one it lies deepest in first, then every other city whose edge is within
    CANDIDATE_METRES, nearest first. Where no boundary is known at all, `nearest` is None and the edge infinitely far.
    """

    city: str | None
    nearest: str | None
    metres_to_edge: float
    candidates: tuple[Candidate, ...] = ()

    @property
    def near_edge(self) -> bool:
        """Whether a person should confirm the city."""
        return self.metres_to_edge < NEAR_EDGE_METRES

    @property
    def others(self) -> tuple[Candidate, ...]:
        """The candidates besides the city itself."""
        return tuple(candidate for candidate in self.candidates if candidate.city != self.city)


class Places:
    """The boundaries of cities, as rings of (longitude, latitude) in degrees, WGS84. No boundary may cross the antimeridian."""

    def __init__(self, polygons: Mapping[str, Sequence[Sequence[Ring]]]) -> None:
        self._polygons = polygons
        self._boxes = {city: _box_of([point for part in parts for ring in part for point in ring]) for city, parts in polygons.items()}

    @property
    def cities(self) -> frozenset[str]:
        """The ids of the cities whose boundary is known."""
        return frozenset(self._polygons)

    def only(self, cities: Collection[str]) -> Places:
        """The boundaries of these cities alone; one without a boundary stays without."""
        return Places({city: parts for city, parts in self._polygons.items() if city in cities})

    def polygons_of(self, city: str) -> Sequence[Sequence[Ring]]:
        """The boundary of a city as it was read: its parts, each an outer ring and its holes; empty where none is known."""
        return self._polygons.get(city, ())

    def box_of(self, city: str) -> Box | None:
        """West, east, south and north of a city; None where its boundary is not known."""
        return self._boxes.get(city)

    def may_hold(self, lat: float, lon: float) -> bool:
        """Whether a point lies in the box around some city: False, at little cost, for one that is surely in none."""
        return any(_degrees_off(box, lat, lon, 1.0) == 0 for box in self._boxes.values())

    def metres_to(self, city: str, lat: float, lon: float) -> float | None:
        """How far a point lies from a city, in metres: 0 within it; None where the boundary is not known."""
        box = self._boxes.get(city)
        if box is None:
            return None
        found = self._measured(city, lat, lon, math.cos(math.radians(lat)), in_box=_degrees_off(box, lat, lon, 1.0) == 0)
        return 0.0 if found.inside else found.metres

    def locate(self, lat: float, lon: float) -> Place:
        """The city around a point in degrees, and every city it may be meant for.

        Two cities that both hold it (a sliver of overlap): the one it lies deeper in.
        """
        scale = math.cos(math.radians(lat))
        off = {city: _degrees_off(box, lat, lon, scale) * METRES_PER_DEGREE for city, box in self._boxes.items()}
        found: list[Candidate] = []
        nearest: Candidate | None = None
        for city in sorted(off, key=lambda one: off[one]):
            # A city is nowhere nearer than its box: one whose box is neither near nor nearer than a city already found is not measured.
            if off[city] > CANDIDATE_METRES and nearest is not None and (nearest.inside or off[city] > nearest.metres):
                break
            candidate = self._measured(city, lat, lon, scale, in_box=off[city] == 0)
            if candidate.inside or candidate.metres <= CANDIDATE_METRES:
                found.append(candidate)
            if nearest is None or _order(candidate) < _order(nearest):
                nearest = candidate
        if nearest is None:
            return Place(None, None, math.inf)
        return Place(nearest.city if nearest.inside else None, nearest.city, nearest.metres, tuple(sorted(found, key=_order)))

    def _measured(self, city: str, lat: float, lon: float, scale: float, *, in_box: bool) -> Candidate:
        parts = self._polygons[city]
        off = [[_ring_distance(ring, lat, lon, scale) for ring in part] for part in parts]
        edge = min(distance for part in off for distance in part)
        inside = edge < _ON_THE_LINE or (in_box and any(_holds(part, lat, lon) for part in parts))
        return Candidate(city, edge * METRES_PER_DEGREE, inside)


def _order(candidate: Candidate) -> tuple[bool, float]:
    """Cities that hold the point before those that do not; among the first the deepest, among the others the nearest."""
    return not candidate.inside, -candidate.metres if candidate.inside else candidate.metres


def read_places(texts: Mapping[str, str]) -> Places:
    """Read GeoJSON features or collections, given as {city: text}. Raises KeyError or ValueError for what is not a polygon."""
    return Places({city: _polygons(json.loads(text)) for city, text in texts.items()})


def _polygons(geojson: Mapping[str, object]) -> list[list[Ring]]:
    if geojson["type"] == "FeatureCollection":
        features = geojson["features"]
        if not isinstance(features, list):
            raise ValueError("features is not a list")
        return [polygon for feature in features for polygon in _polygons(feature)]
    if geojson["type"] == "Feature":
        geometry = geojson["geometry"]
        if not isinstance(geometry, dict):
            raise ValueError("geometry is not an object")
        return _polygons(geometry)
    coordinates = geojson["coordinates"]
    if not isinstance(coordinates, list) or geojson["type"] not in ("Polygon", "MultiPolygon"):
        raise ValueError(f"{geojson['type']} is not a polygon")
    parts = [coordinates] if geojson["type"] == "Polygon" else coordinates
    return [[tuple((float(point[0]), float(point[1])) for point in ring) for ring in part] for part in parts]


def _box_of(points: Sequence[tuple[float, float]]) -> Box:
    lons, lats = [lon for lon, _ in points], [lat for _, lat in points]
    return min(lons), max(lons), min(lats), max(lats)


def _degrees_off(box: Box, lat: float, lon: float, scale: float) -> float:
    """The distance from a point to a box, in degrees of latitude; zero within it."""
    west, east, south, north = box
    return math.hypot(max(west - lon, 0.0, lon - east) * scale, max(south - lat, 0.0, lat - north))


def _holds(part: Sequence[Ring], lat: float, lon: float) -> bool:
    """Whether a part holds a point that lies on none of its lines."""
    outer, *holes = part
    return _winds_around(outer, lat, lon) and not any(_winds_around(hole, lat, lon) for hole in holes)


def _winds_around(ring: Ring, lat: float, lon: float) -> bool:
    inside = False
    x1, y1 = ring[-1]
    for x2, y2 in ring:
        if (y1 > lat) != (y2 > lat) and lon < (x2 - x1) * (lat - y1) / (y2 - y1) + x1:
            inside = not inside
        x1, y1 = x2, y2
    return inside


def _ring_distance(ring: Ring, lat: float, lon: float, scale: float) -> float:
    """The least distance from a point to the ring, in degrees of latitude, on a plane that is right near the point."""
    best = math.inf
    x1, y1 = (ring[-1][0] - lon) * scale, ring[-1][1] - lat
    for x, y in ring:
        x2, y2 = (x - lon) * scale, y - lat
        # A line that lies wholly beyond the nearest so far, to one side, is not measured.
        if (x1 > best and x2 > best) or (y1 > best and y2 > best) or (x1 < -best and x2 < -best) or (y1 < -best and y2 < -best):
            x1, y1 = x2, y2
            continue
        dx, dy = x2 - x1, y2 - y1
        length = dx * dx + dy * dy
        along = 0.0 if length == 0 else max(0.0, min(1.0, -(x1 * dx + y1 * dy) / length))
        best = min(best, math.hypot(x1 + along * dx, y1 + along * dy))
        x1, y1 = x2, y2
    return best
