"""Which city a point lies in: ray casting over the boundary polygons, the boundary itself counting as inside, holes as outside."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_METRES_PER_DEGREE = 111_320.0
# Boundaries of 2019 taken as WGS84 are good to about a metre; nearer than this to an edge a person should look.
NEAR_EDGE_METRES = 100.0

Ring = tuple[tuple[float, float], ...]
Box = tuple[float, float, float, float]  # west, east, south, north


@dataclass(frozen=True, slots=True)
class Place:
    """Where a point lies: the city (None outside all), metres to that city's edge or to the nearest city, and the nearest city's id."""

    city: str | None
    nearest: str
    metres_to_edge: float

    @property
    def near_edge(self) -> bool:
        """Whether a person should confirm the city."""
        return self.metres_to_edge < NEAR_EDGE_METRES


class Places:
    """The boundaries of all cities, as rings of (longitude, latitude) in degrees, WGS84."""

    def __init__(self, polygons: Mapping[str, Sequence[Sequence[Ring]]]) -> None:
        self._polygons = polygons
        self._boxes = {city: _box_of([point for part in parts for ring in part for point in ring]) for city, parts in polygons.items()}

    def may_hold(self, lat: float, lon: float) -> bool:
        """Whether a point lies in the box around some city: False, at little cost, for one that is surely in none."""
        return any(_degrees_off(box, lat, lon, 1.0) == 0 for box in self._boxes.values())

    def locate(self, lat: float, lon: float) -> Place:
        """The city around a point in degrees. Two cities that both hold it (a sliver of overlap): the one it lies deeper in."""
        scale = math.cos(math.radians(lat))
        off = {city: _degrees_off(box, lat, lon, scale) * _METRES_PER_DEGREE for city, box in self._boxes.items()}
        inside = [city for city, parts in self._polygons.items() if off[city] == 0 and any(_inside(part, lat, lon) for part in parts)]
        edges: dict[str, float] = {}
        for city in inside or sorted(off, key=lambda one: off[one]):
            # A city is nowhere nearer than its box, so one whose box is farther than an edge already found need not be measured.
            if inside or off[city] <= min(edges.values(), default=math.inf):
                edges[city] = self._metres_to_edge(self._polygons[city], lat, lon)
        if inside:
            city = max(inside, key=lambda one: edges[one])
            return Place(city, city, edges[city])
        nearest = min(edges, key=lambda one: edges[one])
        return Place(None, nearest, edges[nearest])

    def _metres_to_edge(self, polygons: Sequence[Sequence[Ring]], lat: float, lon: float) -> float:
        scale = math.cos(math.radians(lat))
        return min(_ring_distance(ring, lat, lon, scale) for polygon in polygons for ring in polygon) * _METRES_PER_DEGREE


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


def _inside(polygon: Sequence[Ring], lat: float, lon: float) -> bool:
    outer, *holes = polygon
    if _on_ring(outer, lat, lon):
        return True
    return _winds_around(outer, lat, lon) and not any(_winds_around(hole, lat, lon) and not _on_ring(hole, lat, lon) for hole in holes)


def _winds_around(ring: Ring, lat: float, lon: float) -> bool:
    inside = False
    x1, y1 = ring[-1]
    for x2, y2 in ring:
        if (y1 > lat) != (y2 > lat) and lon < (x2 - x1) * (lat - y1) / (y2 - y1) + x1:
            inside = not inside
        x1, y1 = x2, y2
    return inside


def _on_ring(ring: Ring, lat: float, lon: float) -> bool:
    return _ring_distance(ring, lat, lon, math.cos(math.radians(lat))) < 1e-12


def _ring_distance(ring: Ring, lat: float, lon: float, scale: float) -> float:
    """The least distance from a point to the ring, in degrees of latitude, on a plane that is right near the point."""
    best = math.inf
    x1, y1 = (ring[-1][0] - lon) * scale, ring[-1][1] - lat
    for x, y in ring:
        x2, y2 = (x - lon) * scale, y - lat
        dx, dy = x2 - x1, y2 - y1
        length = dx * dx + dy * dy
        along = 0.0 if length == 0 else max(0.0, min(1.0, -(x1 * dx + y1 * dy) / length))
        best = min(best, math.hypot(x1 + along * dx, y1 + along * dy))
        x1, y1 = x2, y2
    return best
