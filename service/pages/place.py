"""Where a spill is, for staff: the cities it may lie in, a button for each one's law, the form that moves the pin, who is who."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deadlines import Agency, Candidate, agencies_of
from service.access import Staff, spill_for
from service.errors import BadInput
from service.locating import place_of
from service.pages.entrance import StaffRoute, signed_in, working_on
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page
from service.relocation import Move, WhichCity, assign_city, move_pin
from service.tables import Spill
from service.transaction import House, reading

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)


@dataclass(frozen=True)
class Choice:
    """A city whose law may apply: its name, how the point lies to it, and whether its law applies now."""

    city: str
    name: str
    lies: str
    stands: bool


@dataclass(frozen=True)
class PlaceShown:
    """The place of a spill as its page shows it. `says` tells how the point lies; `lat` and `lon` are texts, empty without a point.

    `open` says whether a person has something to decide: the point lies near an edge, or in or near a city whose law does not apply.
    """

    says: str
    choices: Sequence[Choice]
    open: bool
    lat: str
    lon: str
    address: str
    agencies: Sequence[Agency]


def place_shown(house: House, spill: Spill) -> PlaceShown:
    """The place of a spill, the cities it may be meant for, and the agencies of its city."""
    place = place_of(house, spill)
    choices = (
        [Choice(one.city, city_name(house, one.city), _lies(one), one.city == spill.city) for one in place.candidates] if place else []
    )
    if place is None:
        says = "No point is known; the city was not read from a map."
    elif place.city is not None:
        says = f"The point lies in {city_name(house, place.city)}, {_metres(place.metres_to_edge)} from its edge."
    elif place.nearest is not None:
        says = f"The point lies outside every city served here; {city_name(house, place.nearest)} is {_metres(place.metres_to_edge)} away."
    else:
        says = "No city served here has a boundary, so the point tells no city."
    agencies = agencies_of(house.rulebook.law_of(spill.city)) if spill.city else ()
    is_open = place is not None and (place.near_edge or not all(choice.stands for choice in choices))
    return PlaceShown(says, choices, is_open, *place_point(spill), spill.address, agencies)


def _lies(candidate: Candidate) -> str:
    return f"{_metres(candidate.metres)} inside its edge" if candidate.inside else f"{_metres(candidate.metres)} outside its edge"


def _metres(metres: float) -> str:
    return f"{metres:,.0f} m" if metres < 1000 else f"{metres / 1000:,.1f} km"


@router.get("/{reference}/location")
async def place_page(request: Request, reference: str) -> Response:
    """The page of a spill's place alone."""
    return await _place_page(request, await signed_in(request), reference)


async def _place_page(
    request: Request, staff: Staff, reference: str, typed: Fields | None = None, faults: Sequence[str] = (), asked: WhichCity | None = None
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
    staff.require("officer", spill.city)
    status = 409 if asked else 422 if faults else 200
    answers = [(city, city_name(house, city)) for city in (asked.found, asked.standing) if city] if asked else []
    shown = place_shown(house, spill)
    return staff_page(
        request, "place.html", status, staff=staff, spill=spill, place=shown, typed=typed, faults=faults, asked=asked, answers=answers,
        may={"officer": True},
    )  # fmt: skip


@router.post("/{reference}/location")
async def move(request: Request, reference: str) -> Response:
    """Move the pin. Where a person has to say which city it is, the page asks."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            moved = await move_pin(tx, spill, _move_of(fields, spill))
            city = spill.city
    except WhichCity as asked:
        return await _place_page(request, staff, reference, fields, asked=asked)
    except BadInput as error:
        return await _place_page(request, staff, reference, fields, error.faults or [str(error)])
    return _back(staff, reference, city, "moved" if moved else "unchanged")


def _move_of(fields: Fields, spill: Spill) -> Move:
    """The move a form asks for. A point that both fields leave empty stays as it is, with a point on record or without."""
    typed = fields.text("lat").replace("\N{MINUS SIGN}", "-"), fields.text("lon").replace("\N{MINUS SIGN}", "-")
    lat, lon = typed if any(typed) and typed != place_point(spill) else (None, None)
    return Move(lat, lon, fields.text("address"), fields.text("reason"), fields.text("city") or None, "city" in fields)


def place_point(spill: Spill) -> tuple[str, str]:
    """The point of a spill as its form shows it; a form that sends this back moves nothing."""
    lat, lon = ("" if number is None else f"{number:.10g}" for number in (spill.lat, spill.lon))
    return lat, lon


@router.post("/{reference}/city")
async def assign(request: Request, reference: str) -> Response:
    """Say which city's law applies, with the reason."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            await assign_city(tx, spill, fields.text("city"), fields.text("reason"))
            city = spill.city
    except BadInput as error:
        return await _place_page(request, staff, reference, faults=error.faults or [str(error)])
    return _back(staff, reference, city, "assigned")


def _back(staff: Staff, reference: str, city: str | None, done: str) -> Response:
    """Back to the spill; to the board where it now belongs to a city that is not this person's."""
    return RedirectResponse(f"/staff/spills/{reference}?done={done}#place" if staff.may_see(city) else "/staff", 303)
