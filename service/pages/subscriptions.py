"""What a member of staff wants to hear of: the list, the form to add, and the buttons to pause and to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import subscriptions
from service.access import Staff
from service.errors import BadInput
from service.pages import words
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.pages.speech import ENGLISH
from service.tables import Account, Subscription
from service.transaction import House, reading, transaction

router = APIRouter(prefix="/staff/subscriptions", include_in_schema=False, route_class=StaffRoute)
STAGES = {
    "new": "New reports", "clock_started": "A legal clock started", "due_soon": "A duty is due soon", "overdue": "A duty is overdue",
    "met": "A duty is done", "amended": "Facts were amended", "closed": "Nothing is open any more",
}  # fmt: skip
PACES = {"at_once": "At once", "hourly": "Every hour, if there is something", "daily": "Once a day, also when there is nothing"}
_METRES_PER_MILE = 1609.344


@router.get("")
async def subscriptions_page(request: Request) -> Response:
    """Your subscriptions; an administrator sees those of the whole city."""
    return await _page(request, await signed_in(request), Fields())


async def _page(request: Request, staff: Staff, typed: Fields, faults: Sequence[str] = ()) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        found = await subscriptions.listed(tx, staff, everyones=True)
    cities = {city: city_name(house, city) for city in house.cities if staff.may_see(city)}
    return staff_page(
        request, "subscriptions.html", 422 if faults else 200, staff=staff, typed=typed, faults=faults, cities=cities,
        zone=zone_of(house, staff.city), stages=STAGES, paces=PACES, done=request.query_params.get("done", ""),
        mine=[_shown(house, row, account) for row, account in found if account.email == staff.email],
        others=[_shown(house, row, account) for row, account in found if account.email != staff.email],
    )  # fmt: skip


def _shown(house: House, row: Subscription, account: Account) -> dict[str, Any]:
    """A subscription as its lines in the list."""
    wants = row.wants
    area = wants.get("area")
    place = "everywhere"
    if area is not None:
        place = "inside a polygon" if "type" in area else f"within {_miles(area['metres'])} of {area['lat']:.4f}, {area['lon']:.4f}"
    what = [
        ", ".join(STAGES[stage] for stage in wants.get("stages", [])) or "Everything that happens",
        ", ".join(words.MATERIALS[material] for material in wants.get("materials", [])) or "any material",
        f"{wants['at_least_gallons']:,.12g} gallons or more" if "at_least_gallons" in wants else "any amount",
        ", ".join(city_name(house, city) for city in wants.get("cities", [])) or "every city you work for",
        place,
    ]
    when = PACES[row.pace] + (f", at {wants.get('at', subscriptions.DAILY_AT)} ({row.zone})" if row.pace == "daily" else "")
    return {"row": row, "account": account, "what": "; ".join(what), "when": when, "paused": bool(wants.get("paused"))}


def _miles(metres: float) -> str:
    miles = round(metres / _METRES_PER_MILE, 1)
    return f"{ENGLISH.number(miles)} {'mile' if miles == 1 else 'miles'}"


@router.post("")
async def subscribe(request: Request) -> Response:
    """Add a subscription."""
    staff = await signed_in(request)
    fields = await read_fields(request)
    try:
        given = _given(fields)
        async with transaction(house_of(request), staff.email) as tx:
            await subscriptions.add(tx, staff, given)
    except BadInput as error:
        return await _page(request, staff, fields, error.faults)
    return RedirectResponse("/staff/subscriptions?done=added", 303)


def _given(fields: Fields) -> dict[str, Any]:
    """The form in the shape of the API. Raises BadInput for numbers that are none."""
    given: dict[str, Any] = {key: fields.text(key) for key in ("channel", "address", "pace", "at", "language") if fields.text(key)}
    given |= {key: fields.all(key) for key in ("cities", "materials", "stages")}
    if fields.text("at_least_gallons"):
        given["at_least_gallons"] = _number(fields, "at_least_gallons")
    if fields.text("lat") or fields.text("lon"):
        metres = round(_number(fields, "miles") * _METRES_PER_MILE)
        given["area"] = {"lat": _number(fields, "lat"), "lon": _number(fields, "lon"), "metres": metres}
    return given


def _number(fields: Fields, key: str) -> float:
    try:
        return float(fields.text(key).replace(",", ""))
    except ValueError:
        right = {"lat": "34.0122", "lon": "-117.6889", "miles": "2"}.get(key, "1000")
        raise BadInput("it is no number", [f"{key}: {fields.text(key)[:60]!r} is no number; right would be: {right}"]) from None


@router.post("/{number}/pause")
async def pause(request: Request, number: int) -> Response:
    """Hold a subscription, or let it go on."""
    staff = await signed_in(request)
    paused = (await read_fields(request)).text("paused") == "yes"
    async with transaction(house_of(request), staff.email) as tx:
        await subscriptions.change(tx, staff, number, {"paused": paused})
    return RedirectResponse(f"/staff/subscriptions?done={'paused' if paused else 'resumed'}", 303)


@router.post("/{number}/end")
async def end(request: Request, number: int) -> Response:
    """End a subscription."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await subscriptions.end(tx, staff, number)
    return RedirectResponse("/staff/subscriptions?done=ended", 303)
