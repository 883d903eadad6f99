"""The private addresses at which one's own calendar program reads due times: made, replaced and ended."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import due_calendars
from service.access import Staff, account_of
from service.errors import BadInput
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.parties import ROLE_NAMES
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff/account/calendars", include_in_schema=False, route_class=StaffRoute)
_HERE = "/staff/account/calendars"


@router.get("")
async def due_times_page(request: Request) -> Response:
    """One's own calendars, without their addresses, which are shown once."""
    return await _page(request, await signed_in(request))


async def _page(request: Request, staff: Staff, error: BadInput | None = None, typed: Fields | None = None, secret: str = "") -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        links = await due_calendars.of_account(tx, await account_of(tx, staff.email))
    address = f"{house.settings.public_url}/calendar/{secret}.ics" if secret else ""
    return staff_page(
        request, "due_times.html", error.status if error else 200, staff=staff, zone=zone_of(house, staff.city),
        links=[(link, due_calendars.title_of(house, link)) for link in links], faults=error.faults if error else (),
        cities={city: city_name(house, city) for city in house.cities if staff.may_see(city)}, roles=ROLE_NAMES, typed=typed or Fields(),
        address=address, done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("")
async def make(request: Request) -> Response:
    """Make one; its address is shown this once."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            mine = fields.text("mine") == "yes"
            secret = await due_calendars.make(tx, staff, fields.text("city") or None, fields.text("role"), mine=mine)
    except BadInput as error:
        return await _page(request, staff, error, fields)
    return await _page(request, staff, secret=secret)


@router.post("/{number}/replace")
async def replace(request: Request, number: int) -> Response:
    """Give it another address; the one before leads nowhere from now on."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        secret = await due_calendars.replace(tx, staff, number)
    return await _page(request, staff, secret=secret)


@router.post("/{number}/end")
async def end(request: Request, number: int) -> Response:
    """End it."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await due_calendars.end(tx, staff, number)
    return RedirectResponse(f"{_HERE}?done=ended", 303)
