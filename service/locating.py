"""Where a spill is: a place as it was told, read as far as it can be read; the city around it; and every city it may be meant for.

A point decides by the boundaries of the cities served. Words decide only where no point does: where there is none, or where it lies outside
every boundary and the city named has no boundary here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from deadlines import Candidate, Gazetteer, Place, Rulebook
from deadlines.places import CANDIDATE_METRES
from service.library import shipped_states
from service.spills import clean
from service.tables import Spill
from service.transaction import House

LONGEST_ADDRESS = 500
NO_PLACE = "no place"
# How every flag about a place begins.
_ABOUT = "location: "


@dataclass(slots=True)
class Whereabouts:
    """A place as it could be read: point and address, the city it lies in (None where that is open), and what is odd about it.

    `settles` says whether the city was found by the point: in it, or outside every boundary. Words alone settle nothing.
    """

    lat: float | None = None
    lon: float | None = None
    address: str = ""
    city: str | None = None
    settles: bool = False
    flags: list[str] = field(default_factory=list)


def read_place(house: House, location: object) -> Whereabouts:
    """Read a place as a report tells it, {lat, lon, address}. Nothing is refused: what is odd is flagged."""
    read = Whereabouts()
    if not isinstance(location, Mapping):
        read.flags.append(NO_PLACE if location is None else f"{_ABOUT}not a place with lat, lon or address (kept in the record)")
        return read
    read.address = clean(location.get("address"))[:LONGEST_ADDRESS]
    lat, lon = degrees(location.get("lat")), degrees(location.get("lon"))
    if lat is not None and lon is not None:
        if _read_point(house, lat, lon, read):
            return read
        read.flags.append(f"{_ABOUT}{lat}, {lon} is nowhere on earth")
    elif location.get("lat") is not None or location.get("lon") is not None:
        read.flags.append(f"{_ABOUT}lat and lon are not both numbers")
    elif not read.address:
        read.flags.append(NO_PLACE)
    read.city = city_named(house, read.address)
    if read.city is not None:
        read.flags.append(f"{_ABOUT}no point; {read.city} is taken from the words of the address, a person should confirm it")
    return read


def _read_point(house: House, lat: float, lon: float, read: Whereabouts) -> bool:
    """Read a point, also one whose numbers slipped. Returns False where it is nowhere on earth."""
    place = house.places.locate(lat, lon) if is_on_earth(lat, lon) else None
    if place is None or place.city is None:
        for slip, turned_lat, turned_lon in _turned(lat, lon):
            if house.places.may_hold(turned_lat, turned_lon) and house.places.locate(turned_lat, turned_lon).city is not None:
                lat, lon, place = turned_lat, turned_lon, house.places.locate(turned_lat, turned_lon)
                read.flags.append(f"{_ABOUT}{slip}; read as {lat}, {lon}")
                break
    if place is None:
        return False
    read.lat, read.lon = lat, lon
    read.city, read.settles = place.city, True
    if place.city is None:
        _look_outside(house, place, read)
    else:
        read.flags += _doubts(place, place.city)
    return True


def _look_outside(house: House, place: Place, read: Whereabouts) -> None:
    """A point outside every boundary: the city that the address names, where it is one that has no boundary here."""
    named = city_named(house, read.address)
    if named is not None and named not in house.places.cities:
        read.city, read.settles = named, False
        read.flags.append(f"{_ABOUT}{named} has no boundary here; it is taken from the words of the address, a person should confirm it")
    elif place.nearest is None:
        read.flags.append(f"{_ABOUT}outside every city served here, as far as can be told: none of them has a boundary here")
    else:
        away = f"nearest is {place.nearest}, {place.metres_to_edge / 1000:,.1f} km away"
        near = f"; within {CANDIDATE_METRES / 1000:.0f} km: {_told(place.candidates)}" if place.candidates else ""
        read.flags.append(f"{_ABOUT}outside every city served here; {away}{near}")


def _doubts(place: Place, city: str) -> list[str]:
    """What a person should look at though the point lies in a city: an edge close by, or another city that claims the point too."""
    also = f"; also possible: {_told(place.others)}" if place.others else ""
    if place.near_edge:
        return [f"{_ABOUT}{place.metres_to_edge:.0f} m from the edge of {city}; a person should confirm the city{also}"]
    if any(other.inside for other in place.others):
        return [f"{_ABOUT}inside more than one city, deepest in {city}; a person should confirm the city{also}"]
    return []


def _told(candidates: Sequence[Candidate]) -> str:
    return ", ".join(
        f"{one.city} ({f'inside, {one.metres:,.0f} m from its edge' if one.inside else f'{one.metres:,.0f} m away'})" for one in candidates
    )


def city_named(house: House, address: str) -> str | None:
    """The one city served that an address names, see `deadlines.addresses`."""
    return _gazetteer(house.rulebook).city_in(address, house.cities)


@lru_cache(maxsize=8)
def _gazetteer(rulebook: Rulebook) -> Gazetteer:
    return Gazetteer([pack for pack in rulebook.packs.values() if pack.is_city], shipped_states())


def without_doubts(flags: Sequence[str]) -> list[str]:
    """Flags without those that a person answers by saying where it is."""
    return [flag for flag in flags if not flag.startswith(_ABOUT) and flag != NO_PLACE]


def place_of(house: House, spill: Spill) -> Place | None:
    """Where the point of a spill lies by the boundaries; None without a point."""
    return None if spill.lat is None or spill.lon is None else house.places.locate(spill.lat, spill.lon)


def location_json(house: House, spill: Spill) -> dict[str, Any]:
    """The place of a spill: point, address, the city its point lies in, metres to that city's edge or the nearest one, and candidates."""
    place = place_of(house, spill)
    candidates = place.candidates if place else ()
    return {
        "lat": spill.lat, "lon": spill.lon, "address": spill.address, "city": place.city if place else None,
        "metres_to_edge": round(place.metres_to_edge, 1) if place and place.nearest else None,
        "candidates": [{"city": one.city, "metres": round(one.metres, 1), "inside": one.inside} for one in candidates],
    }  # fmt: skip


def is_on_earth(lat: float, lon: float) -> bool:
    """Whether a point has a latitude and a longitude that exist."""
    return -90 <= lat <= 90 and -180 <= lon <= 180


def _turned(lat: float, lon: float) -> list[tuple[str, float, float]]:
    """The points that may be meant, each with the slip that led to the one told; it counts only where that puts the point into a city."""
    lost, swapped = "a minus sign seems lost", "latitude and longitude seem swapped"
    return [
        (lost, lat, -lon), (lost, -lat, lon), (lost, -lat, -lon), (swapped, lon, lat), (f"{swapped} and {lost}", abs(lon), -abs(lat)),
    ]  # fmt: skip


def degrees(value: object) -> float | None:
    """A number as people and programs tell it; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
