"""The ladders of a city as the people of today: who is told when, by which ways, and which rungs tell nobody. Nothing is changed here."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.errors import NotKnown
from service.ladders_today import ladders_today, roles_today
from service.pages import law_told
from service.pages.entrance import StaffRoute, signed_in
from service.pages.rendering import city_name, house_of, staff_page
from service.parties import ROLE_NAMES
from service.reach import warnings_of
from service.suppressions import unreachable
from service.transaction import reading

router = APIRouter(prefix="/staff/ladders", include_in_schema=False, route_class=StaffRoute)
CHANNEL_NAMES = {"sms": "SMS", "email": "e-mail", "voice": "call", "webhook": "webhook", "apprise": "chat or pager"}


@router.get("")
async def cities_page(request: Request) -> Response:
    """The city of whoever is signed in; a list where they manage several."""
    staff, house = await signed_in(request), house_of(request)
    cities = [city for city in house.cities if staff.may("manager", city)]
    if not cities:
        staff.require("manager", staff.city)
    if len(cities) == 1:
        return RedirectResponse(f"/staff/ladders/{cities[0]}", 303)
    return staff_page(request, "ladders_cities.html", staff=staff, cities=[(city, city_name(house, city)) for city in cities])


@router.get("/{city}")
async def ladders_page(request: Request, city: str) -> Response:
    """The ladders of a city."""
    staff, house = await signed_in(request), house_of(request)
    if city not in house.cities or not staff.may_see(city):
        raise NotKnown(f"there is no city {city[:60]}")
    staff.require("manager", city)
    async with reading(house) as tx:
        ladders, roles = await ladders_today(tx, city), await roles_today(tx, city)
        gaps, dead = await warnings_of(tx, city), [one.says for one in await unreachable(tx, [city])]
    return staff_page(
        request, "ladders.html", staff=staff, city=city, title=city_name(house, city), zone=house.rulebook.zones[city], ladders=ladders,
        roles=roles, gaps=gaps, dead=dead, role_names=ROLE_NAMES, channel_names=CHANNEL_NAMES, told=law_told,
        unclimbed=[one.rule for one in house.rulebook.law_of(city).rules if not one.rule.ladder],
    )  # fmt: skip
