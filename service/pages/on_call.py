"""Who is on call in a city: now, in the next four weeks, and forms for rotas, overrides and holidays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deadlines import read_moment
from deadlines.ladder import ROLES
from service import rotas
from service.access import Staff
from service.errors import BadInput, NotKnown
from service.on_call import roster_of
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page
from service.parties import ROLE_NAMES, secret_of
from service.reach import AHEAD, warnings_of
from service.transaction import Transaction, reading, transaction

# For so long after its end a rota is offered to count again.
_CAN_RESUME = timedelta(days=90)

router = APIRouter(prefix="/staff/on-call", include_in_schema=False, route_class=StaffRoute)


@router.get("")
async def on_call_pages(request: Request) -> Response:
    """The city of whoever is signed in; a list where they work for several."""
    staff = await signed_in(request)
    house = house_of(request)
    cities = [city for city in house.cities if staff.may_see(city)]
    if len(cities) == 1:
        return RedirectResponse(f"/staff/on-call/{cities[0]}", 303)
    return staff_page(request, "on_call_cities.html", staff=staff, cities=[(city, city_name(house, city)) for city in cities])


@router.get("/{city}")
async def on_call_page(request: Request, city: str) -> Response:
    """Who is on call in a city."""
    return await _page(request, await signed_in(request), city)


async def _page(request: Request, staff: Staff, city: str, faults: Sequence[str] = (), typed: Fields | None = None) -> Response:
    house = house_of(request)
    zone = _zone(request, staff, city)
    async with reading(house) as tx:
        roles = [await _role(tx, city, role) for role in ROLES]
        ended = [one for one in await rotas.rotas_of(tx, city, ended=True) if one.ended_at and one.ended_at > tx.now - _CAN_RESUME]
        warnings = await warnings_of(tx, city)
    may_change = staff.may("manager", city)
    return staff_page(
        request, "on_call.html", 422 if faults else 200, staff=staff, city=city, title=city_name(house, city), zone=zone, roles=roles,
        warnings=warnings, ended=ended, role_names=ROLE_NAMES,
        faults=faults, typed=typed or Fields({}), may_change=may_change, done=request.query_params.get("done", ""),
    )  # fmt: skip


def _zone(request: Request, staff: Staff, city: str) -> ZoneInfo:
    house = house_of(request)
    if city not in house.cities or not staff.may_see(city):
        raise NotKnown(f"there is no city {city[:60]}")
    return house.rulebook.zones[city]


async def _role(tx: Transaction, city: str, role: str) -> dict[str, Any]:
    """A role with its people, its rotas and its next four weeks."""
    roster = await roster_of(tx, city, role)
    names = {contact.id: contact.name for contact in roster.contacts}
    return {
        "id": role, "name": ROLE_NAMES[role], "people": roster.contacts, "now": roster.told(tx.now), "nobody": not roster.called(tx.now),
        "webhooks": [(contact, secret_of(tx.house, contact)) for contact in roster.contacts if contact.webhook],
        "spans": roster.spans(tx.now, tx.now + AHEAD) if roster.watches else [],
        "rotas": [
            {
                "row": watch.rota, "members": [names[one] for one in watch.rota.members if one in names],
                "shifts": [(one, names.get(one.contact_id, "somebody who was removed")) for one in await rotas.shifts_of(tx, watch.rota)],
            }
            for watch in roster.watches
        ],
    }  # fmt: skip


@router.post("/{city}/rotas")
async def enter_rota(request: Request, city: str) -> Response:
    """Enter a rota."""
    staff = await _manager(request, city)
    fields = await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await rotas.add_rota(tx, _new_rota(city, fields))
    except BadInput as error:
        return await _page(request, staff, city, error.faults or [str(error)], fields)
    return _back(city, "rota")


def _new_rota(city: str, fields: Fields) -> rotas.NewRota:
    """A rota as it was typed: everybody in the role with a number takes turns in the order of the numbers."""
    role = fields.text("role")
    begins = fields.text("starts_on")
    try:
        places = [(int(place), int(name.removeprefix("turn."))) for name, place in _places(fields)]
        days = int(fields.text("turn_days") or 7)
    except ValueError:
        raise BadInput("no such number", ["turn: something in it is no number; right would be: 1, 2, 3 ..."]) from None
    try:
        starts_on = date.fromisoformat(begins) if begins else None
    except ValueError:
        raise BadInput("no such day", [f"starts_on: {begins[:40]!r} is not a day; right would be: 2026-12-07"]) from None
    members = [contact for _, contact in sorted(places)]
    return rotas.NewRota(city, role, fields.text("name"), members, starts_on, days, fields.text("handover") or "08:00", fields.text("ics"))


def _places(fields: Fields) -> list[tuple[str, str]]:
    return [(name, fields.text(name)) for name in fields.values if name.startswith("turn.") and fields.text(name)]


@router.post("/{city}/rotas/{number}/end")
async def end(request: Request, city: str, number: int) -> Response:
    """End a rota."""
    staff = await _manager(request, city)
    async with transaction(house_of(request), staff.email) as tx:
        await _mine(tx, city, number)
        await rotas.end_rota(tx, number)
    return _back(city, "ended")


@router.post("/{city}/rotas/{number}/resume")
async def resume(request: Request, city: str, number: int) -> Response:
    """Let a rota that was ended count again."""
    staff = await _manager(request, city)
    async with transaction(house_of(request), staff.email) as tx:
        await rotas.rota_of(tx, number, lambda of: of == city, ended=True)
        await rotas.resume_rota(tx, number)
    return _back(city, "resumed")


@router.post("/{city}/rotas/{number}/shifts")
async def enter_shift(request: Request, city: str, number: int) -> Response:
    """Enter an override or a holiday."""
    staff = await _manager(request, city)
    fields = await read_fields(request)
    zone = _zone(request, staff, city)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await _mine(tx, city, number)
            since, until = (_moment(name, fields.text(name), zone) for name in ("since", "until"))
            contact = int(fields.text("contact")) if fields.text("contact").isdigit() else 0
            await rotas.add_shift(tx, number, contact, since, until, fields.text("reason"), holiday=fields.text("kind") == "holiday")
    except BadInput as error:
        return await _page(request, staff, city, error.faults or [str(error)])
    return _back(city, "override")


@router.post("/{city}/rotas/{number}/shifts/{shift}/remove")
async def take_out_shift(request: Request, city: str, number: int, shift: int) -> Response:
    """Take an override or a holiday out."""
    staff = await _manager(request, city)
    async with transaction(house_of(request), staff.email) as tx:
        await _mine(tx, city, number)
        await rotas.remove_shift(tx, number, shift)
    return _back(city, "removed")


async def _mine(tx: Transaction, city: str, number: int) -> None:
    await rotas.rota_of(tx, number, lambda of: of == city)


def _moment(name: str, text: str, zone: ZoneInfo) -> datetime:
    try:
        return read_moment(text, zone)
    except ValueError as error:
        raise BadInput("no such moment", [f"{name}: {error}; right would be: 2026-12-24T08:00"]) from None


async def _manager(request: Request, city: str) -> Staff:
    staff = await signed_in(request)
    _zone(request, staff, city)
    staff.require("manager", city)
    return staff


def _back(city: str, done: str) -> Response:
    return RedirectResponse(f"/staff/on-call/{city}?done={done}", 303)
