"""Webhooks on the web: which systems are sent the events of a city, what came of each message, and what an administrator does about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deadlines import read_moment
from service import event_hooks
from service.access import Staff
from service.accounts import require_administrator
from service.errors import BadInput, Conflict
from service.events import EVENT_TYPES
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff/settings/webhooks", include_in_schema=False, route_class=StaffRoute)
_HERE = "/staff/settings/webhooks"
DONE = {
    "paused": "Nothing is sent any more until you resume it.", "resumed": "It is sent events again, from where it stopped.",
    "ended": "It is sent nothing any more.", "changed": "The change is kept.", "test": "A test is on its way. Look below.",
    "again": "That stretch is being sent again.",
}  # fmt: skip


@router.get("")
async def hooks_page(request: Request) -> Response:
    """The webhooks of the cities of an administrator."""
    return await _list(request, await _administrator(request))


async def _list(request: Request, staff: Staff, error: BadInput | None = None, typed: Fields | None = None) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        found = [(hook, await event_hooks.waits(tx, hook)) for hook in await event_hooks.of_city(tx, staff)]
    return staff_page(
        request, "event_hooks.html", error.status if error else 200, staff=staff, zone=zone_of(house, staff.city), found=found,
        cities={city: city_name(house, city) for city in house.cities if staff.may("administrator", city)}, kinds=list(EVENT_TYPES),
        faults=error.faults if error else (), typed=typed or Fields(), told=DONE.get(request.query_params.get("done", ""), ""),
    )  # fmt: skip


@router.post("")
async def add(request: Request) -> Response:
    """Add one; its secret is shown this once."""
    staff, fields = await _administrator(request), await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            wanted = fields.text("city"), fields.text("name"), fields.text("address"), fields.all("kinds")
            hook, secret = await event_hooks.add(tx, staff, *wanted)
    except BadInput as error:
        return await _list(request, staff, error, fields)
    return await _one(request, staff, hook.id or 0, secret=secret)


@router.get("/{number}")
async def hook_page(request: Request, number: int) -> Response:
    """One, with what came of its messages."""
    return await _one(request, await _administrator(request), number)


async def _one(request: Request, staff: Staff, number: int, *, secret: str = "", faults: Sequence[str] = (), status: int = 200) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        hook = await event_hooks.one_of(tx, staff, number)
        found, waiting = await event_hooks.deliveries(tx, hook), await event_hooks.waits(tx, hook)
    return staff_page(
        request, "event_hook.html", status, staff=staff, zone=house.rulebook.zones[hook.city], hook=hook, title=city_name(house, hook.city),
        secret=secret, deliveries=found, waiting=waiting, kinds=list(EVENT_TYPES), faults=faults,
        told=DONE.get(request.query_params.get("done", ""), ""),
    )  # fmt: skip


@router.post("/{number}")
async def change(request: Request, number: int) -> Response:
    """Do what the pressed button says."""
    staff, fields = await _administrator(request), await read_fields(request)
    house, doing = house_of(request), fields.text("do")
    try:
        async with transaction(house, staff.email) as tx:
            hook, secret = await event_hooks.one_of(tx, staff, number), ""
            match doing:
                case "pause":
                    await event_hooks.pause(tx, hook, f"by {staff.email}")
                case "resume":
                    await event_hooks.resume(tx, hook)
                case "renew":
                    secret = await event_hooks.renew(tx, hook)
                case "end":
                    await event_hooks.end(tx, hook)
                case "test":
                    await event_hooks.send_test(tx, hook)
                case "again":
                    zone = house.rulebook.zones[hook.city]
                    await event_hooks.send_again(tx, hook, _moment(fields, "since", zone), _moment(fields, "until", zone))
                case _:
                    await event_hooks.change(tx, hook, fields.text("name"), fields.text("address"), fields.all("kinds"))
    except (BadInput, Conflict) as error:
        return await _one(request, staff, number, faults=error.faults or [str(error)], status=error.status)
    if secret:
        return await _one(request, staff, number, secret=secret)
    done = {"pause": "paused", "resume": "resumed", "end": "ended", "test": "test", "again": "again"}.get(doing, "changed")
    return RedirectResponse(f"{_HERE}?done=ended" if done == "ended" else f"{_HERE}/{number}?done={done}", 303)


def _moment(fields: Fields, key: str, zone: ZoneInfo) -> datetime:
    try:
        return read_moment(fields.text(key), zone)
    except (ValueError, OverflowError):
        raise BadInput("no such time", [f"{key.capitalize()}: this is no time; right would be: a day and a time of day"]) from None


async def _administrator(request: Request) -> Staff:
    staff = await signed_in(request)
    require_administrator(staff)
    return staff
