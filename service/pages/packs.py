"""The packs over an administrator's cities: version, since when, what changed, who compared them; and rules switched off for a city."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deadlines import packs_over
from service import packs_seen, switches
from service.access import Staff
from service.accounts import require_administrator
from service.errors import BadInput, NotKnown
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.transaction import House, reading, transaction

router = APIRouter(prefix="/staff/packs", include_in_schema=False, route_class=StaffRoute)


@router.get("")
async def packs_page(request: Request) -> Response:
    """The packs that lie over the cities of an administrator."""
    staff = await signed_in(request)
    require_administrator(staff)
    return await _page(request, staff)


async def _page(request: Request, staff: Staff, error: BadInput | None = None, typed: Fields | None = None, at: str = "") -> Response:
    house = house_of(request)
    cities = {city: city_name(house, city) for city in _cities(house, staff)}
    packs = {pack.id: pack for city in cities for pack in packs_over(house.rulebook.law_of(city))}
    async with reading(house) as tx:
        seen, clocks = await packs_seen.seen(tx), await packs_seen.open_clocks(tx)
        entries = await switches.entries(tx, cities)
    found = [
        {
            "pack": pack, "seen": seen.get(pack.id, []), "clocks": clocks.get(pack.id, {}),
            "unread": sum(not rule.verified for rule in pack.rules),
            "changes": [
                (after, before, packs_seen.changes(before, after))
                for after, before in zip(seen.get(pack.id, []), seen.get(pack.id, [])[1:], strict=False)
            ],
        }
        for pack in packs.values()
    ]  # fmt: skip
    choices = {city: [(pack, pack.rules) for pack in packs_over(house.rulebook.law_of(city))] for city in cities}
    return staff_page(
        request, "packs.html", error.status if error else 200, staff=staff, zone=zone_of(house, staff.city), found=found, cities=cities,
        choices=choices, off=[one for one in entries if one.ended_at is None], past=[one for one in entries if one.ended_at is not None],
        faults=error.faults if error else (), typed=typed or Fields(), at=at, done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/{city}/off")
async def switch_off(request: Request, city: str) -> Response:
    """Switch a rule or a pack off for a city."""
    staff, fields = await _administrator(request, city), await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await switches.switch_off(tx, city, fields.text("rule"), fields.text("reason"))
    except BadInput as error:
        return await _page(request, staff, error, fields, city)
    return RedirectResponse("/staff/packs?done=off", 303)


@router.post("/{city}/on/{number}")
async def switch_on(request: Request, city: str, number: int) -> Response:
    """Switch it on again."""
    staff, fields = await _administrator(request, city), await read_fields(request)
    async with transaction(house_of(request), staff.email) as tx:
        await switches.switch_on(tx, city, min(number, 2**31 - 1), fields.text("reason"))
    return RedirectResponse("/staff/packs?done=on", 303)


def _cities(house: House, staff: Staff) -> list[str]:
    return [city for city in house.cities if staff.administers is None or city in staff.administers]


async def _administrator(request: Request, city: str) -> Staff:
    staff = await signed_in(request)
    if city not in house_of(request).cities or not staff.may_see(city):
        raise NotKnown(f"there is no city {city[:60]}")
    staff.require("administrator", city)
    return staff
