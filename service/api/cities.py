"""The cities served: who is who there, and which law stands over them. Public, as the law is."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from deadlines import agencies_of, packs_over
from service.api.callers import house_of
from service.errors import NotKnown
from service.transaction import House

router = APIRouter(prefix="/cities", tags=["cities"])


@router.get("")
async def list_cities(request: Request) -> dict[str, Any]:
    """The cities served."""
    house = house_of(request)
    return {"cities": [_summary(house, city) for city in house.cities]}


@router.get("/{city}")
async def one_city(request: Request, city: str) -> dict[str, Any]:
    """A city served: its agencies with their public telephone numbers, none where the packs give none, and the packs over it."""
    house = house_of(request)
    if city not in house.cities:
        raise NotKnown(f"no city {city} is served here; right would be: one of {', '.join(house.cities)}")
    law = house.rulebook.law_of(city)
    return {
        **_summary(house, city),
        "agencies": [
            {"role": agency.role, "says": agency.says, "id": agency.id, "name": agency.name, "telephone": list(agency.telephone)}
            for agency in agencies_of(law)
        ],
        "packs": [{"pack": pack.id, "title": pack.title, "version": pack.version, "covers": str(pack.covers)} for pack in packs_over(law)],
    }


def _summary(house: House, city: str) -> dict[str, Any]:
    law = house.rulebook.law_of(city)
    return {
        "city": city, "title": law.city.title, "state": law.city.state, "zone": law.zone.key, "has_boundary": city in house.places.cities,
    }  # fmt: skip
