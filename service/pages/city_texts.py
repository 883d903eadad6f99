"""The texts of a city's messages: which are its own, a form for each with a preview, and the way back to ours."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.access import Staff
from service.city_texts import Slot, faults_in, own_texts, previews, save_text, texts_of, withdraw_text, zone_and_name
from service.errors import BadInput, NotKnown
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page
from service.pages.speech import LANGUAGES
from service.transaction import reading, transaction
from service.wording.kinds import CHANNELS, KINDS, needed

router = APIRouter(prefix="/staff/templates", include_in_schema=False, route_class=StaffRoute)


@router.get("")
async def cities_page(request: Request) -> Response:
    """The cities whose texts a person may see; the one city's at once."""
    staff = await signed_in(request)
    house = house_of(request)
    cities = [city for city in house.cities if staff.may_see(city)]
    if staff.city is not None and len(cities) == 1:
        return RedirectResponse(f"/staff/templates/{staff.city}", 303)
    return staff_page(request, "city_texts.html", staff=staff, cities={city: city_name(house, city) for city in cities}, city="")


@router.get("/{city}")
async def texts_page(request: Request, city: str) -> Response:
    """Every kind of message of a city, and which texts are its own."""
    staff = await _staff(request, city, "viewer")
    async with reading(house_of(request)) as tx:
        own = await own_texts(tx, city)
    return staff_page(
        request, "city_texts.html", staff=staff, cities={}, city=city, title=city_name(house_of(request), city), kinds=KINDS,
        channels=CHANNELS, own=own,
    )  # fmt: skip


@router.get("/{city}/{kind}/{channel}/{language}")
async def text_page(request: Request, city: str, kind: str, channel: str, language: str) -> Response:
    """One text with its preview."""
    return await _text_page(request, await _staff(request, city, "viewer"), city, Slot(kind, channel, language))


async def _text_page(
    request: Request, staff: Staff, city: str, slot: Slot, faults: Sequence[str] = (), typed: Fields | None = None
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        own = (await own_texts(tx, city)).get((slot.kind, slot.channel, slot.language))
        kept = [
            row for row in await texts_of(tx, city) if (row.kind, row.channel, row.language) == (slot.kind, slot.channel, slot.language)
        ]
        now = tx.now
    counts = own or slot.ours
    subject, text = (_subject(typed, slot), _text(typed)) if typed else (counts.subject, counts.text)
    zone, name = zone_and_name(house, city)
    return staff_page(
        request, "city_text.html", 422 if faults else 200, staff=staff, city=city, title=name, zone=zone, slot=slot, kind=KINDS[slot.kind],
        channel=CHANNELS[slot.channel], in_language=LANGUAGES[slot.language], own=own, ours=slot.ours, versions=kept, subject=subject,
        text=text, faults={field: _of(field, faults) for field in ("subject", "text")}, all_faults=faults,
        previews=() if faults else previews(house, city, slot, subject, text, now), musts=needed(slot.kind, slot.channel),
        may_change=staff.may("manager", city), is_draft=typed is not None and not faults,
        saved=request.query_params.get("saved", "") if typed is None else "",
    )  # fmt: skip


@router.post("/{city}/{kind}/{channel}/{language}")
async def keep_or_try(request: Request, city: str, kind: str, channel: str, language: str) -> Response:
    """Keep a text, or only show what it would look like."""
    staff = await _staff(request, city, "manager")
    slot, fields, house = Slot(kind, channel, language), await read_fields(request), house_of(request)
    if fields.text("act") != "save":
        faults = faults_in(house, city, slot, _subject(fields, slot), _text(fields), house.now())
        return await _text_page(request, staff, city, slot, faults, fields)
    try:
        async with transaction(house, staff.email) as tx:
            await save_text(tx, city, slot, _subject(fields, slot), _text(fields), staff.email)
    except BadInput as error:
        return await _text_page(request, staff, city, slot, error.faults, fields)
    return RedirectResponse(f"/staff/templates/{city}/{kind}/{channel}/{language}?saved=kept", 303)


@router.post("/{city}/{kind}/{channel}/{language}/withdraw")
async def withdraw(request: Request, city: str, kind: str, channel: str, language: str) -> Response:
    """Go back to our own text."""
    staff = await _staff(request, city, "manager")
    async with transaction(house_of(request), staff.email) as tx:
        await withdraw_text(tx, city, Slot(kind, channel, language))
    return RedirectResponse(f"/staff/templates/{city}/{kind}/{channel}/{language}?saved=withdrawn", 303)


async def _staff(request: Request, city: str, role: str) -> Staff:
    """The person who is signed in, with a role in this city. Raises NotKnown for a city that is not theirs, NotAllowed."""
    staff = await signed_in(request)
    if not staff.may_see(city):
        raise NotKnown(f"there are no texts of {city[:60]}")
    zone_and_name(house_of(request), city)
    staff.require(role, city)
    return staff


def _subject(fields: Fields, slot: Slot) -> str:
    return fields.text("subject") if slot.channel == "email" else ""


def _text(fields: Fields) -> str:
    return fields.text("text").replace("\r\n", "\n")


def _of(field: str, faults: Sequence[str]) -> list[str]:
    return [fault.removeprefix(f"{field}: ") for fault in faults if fault.startswith(f"{field}: ")]
