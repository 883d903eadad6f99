"""Who fills the roles of a city: the list, forms to add, change and remove people, and what was changed, with a button to undo it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import contacts, former_contacts, staff_log
from service.access import Staff
from service.errors import BadInput, Conflict, NotKnown
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page
from service.parties import ROLE_NAMES, how_else
from service.reach import warnings_of
from service.speech import LANGUAGES
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff/contacts", include_in_schema=False, route_class=StaffRoute)
_KINDS = ("contact:added", "contact:changed", "contact:removed", "contact:restored", "contact:quiet")
_NONE = "none"  # typed for an Apprise address, which is not shown: there shall be none any more


@dataclass(frozen=True)
class Trouble:
    """Why a form was not done: its faults, what was typed, in the form of which contact (0: a new one), where it would go if confirmed."""

    status: int
    faults: Sequence[str]
    typed: Fields
    number: int = 0
    action: str = ""


@router.get("")
async def cities_page(request: Request) -> Response:
    """The city of whoever is signed in; a list where they manage several."""
    staff, house = await signed_in(request), house_of(request)
    cities = [city for city in house.cities if staff.may("manager", city)]
    if not cities:
        staff.require("manager", staff.city)
    if len(cities) == 1:
        return RedirectResponse(f"/staff/contacts/{cities[0]}", 303)
    return staff_page(request, "contacts_cities.html", staff=staff, cities=[(city, city_name(house, city)) for city in cities])


@router.get("/{city}")
async def contacts_page(request: Request, city: str) -> Response:
    """Who fills the roles of a city."""
    return await _page(request, await _manager(request, city), city)


async def _page(request: Request, staff: Staff, city: str, trouble: Trouble | None = None) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        found = await contacts.of_city(tx, city)
        warnings = await warnings_of(tx, city)
        done = [one for one, _ in await staff_log.actions(tx, cities=[city], accounts=(), most=200) if one.kind in _KINDS][:20]
        undoable = await former_contacts.undoable(tx, [one.id or 0 for one in done])
    roles: list[dict[str, Any]] = [
        {
            "id": role,
            "name": name,
            "people": [(one, contacts.as_given(one), how_else(one)) for one in found if one.role == role],
        }
        for role, name in ROLE_NAMES.items()
    ]
    return staff_page(
        request, "contacts.html", trouble.status if trouble else 200, staff=staff, city=city, title=city_name(house, city), roles=roles,
        zone=house.rulebook.zones[city], warnings=warnings, trouble=trouble, languages_spoken=LANGUAGES.items(),
        actions=done, undoable=undoable, kinds=staff_log.KINDS, role_names=ROLE_NAMES, done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/{city}")
async def add(request: Request, city: str) -> Response:
    """Have a person fill a role."""
    staff, fields = await _manager(request, city), await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await contacts.add(tx, city, _given(fields))
    except BadInput as error:
        return await _page(request, staff, city, Trouble(error.status, error.faults, fields))
    return _back(city, "added")


@router.post("/{city}/{number}")
async def change(request: Request, city: str, number: int) -> Response:
    """Change what is known of a person."""
    staff, fields = await _manager(request, city), await read_fields(request)
    given = _given(fields)
    if not given["apprise"]:
        del given["apprise"]  # it is not shown, so an empty field says nothing
    elif given["apprise"] == _NONE:
        given["apprise"] = ""
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await contacts.change(tx, city, number, given, confirmed=fields.text("confirmed") == "yes")
    except BadInput as error:
        return await _page(request, staff, city, Trouble(error.status, error.faults, fields, number))
    except contacts.LeavesNobody as error:
        here = f"/staff/contacts/{city}/{number}"
        return await _page(request, staff, city, Trouble(error.status, error.faults, fields, number, here))
    return _back(city, "changed")


@router.post("/{city}/{number}/remove")
async def remove(request: Request, city: str, number: int) -> Response:
    """Take a person out."""
    staff, fields = await _manager(request, city), await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await contacts.remove(tx, city, number, confirmed=fields.text("confirmed") == "yes")
    except contacts.LeavesNobody as error:
        here = f"/staff/contacts/{city}/{number}/remove"
        return await _page(request, staff, city, Trouble(error.status, error.faults, Fields(), number, here))
    return _back(city, "removed")


@router.post("/{city}/undo/{action}")
async def undo(request: Request, city: str, action: int) -> Response:
    """Undo what an entry of the log tells of."""
    staff = await _manager(request, city)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await contacts.undo(tx, city, action)
    except Conflict as error:
        return await _page(request, staff, city, Trouble(error.status, [str(error)], Fields()))
    return _back(city, "undone")


def _given(fields: Fields) -> dict[str, Any]:
    given: dict[str, Any] = {key: fields.text(key)[:2000] for key in contacts.KEYS if key != "voice"}
    return {**given, "voice": fields.text("voice") == "yes", "language": given["language"] or "en"}


async def _manager(request: Request, city: str) -> Staff:
    staff = await signed_in(request)
    if city not in house_of(request).cities or not staff.may_see(city):
        raise NotKnown(f"there is no city {city[:60]}")
    staff.require("manager", city)
    return staff


def _back(city: str, done: str) -> Response:
    return RedirectResponse(f"/staff/contacts/{city}?done={done}", 303)
