"""For anybody: subscribe to advisories, say yes by the link that comes, and read the advisories that stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from service import advisories, public_alerts, turnstile
from service.errors import BadInput, NotKnown
from service.locating import LONGEST_ADDRESS, city_named
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, page, spoken, zone_of
from service.pages.speech import marked
from service.public_words import ISSUED
from service.spills import clean
from service.tables import Advisory, Spill
from service.transaction import House, Transaction, reading, transaction

router = APIRouter(include_in_schema=False)
# How far around a point, in metres, as it is chosen on the form.
DISTANCES = {
    "805": marked("half a mile"), "1609": marked("1 mile"), "3219": marked("2 miles"), "8047": marked("5 miles"),
    "16093": marked("10 miles"),
}  # fmt: skip
KINDS = ISSUED
_STILL_SHOWN = timedelta(days=30)
_FAULTS = {
    "area": marked("Choose at least one city, or give a point with a distance."),
    "where": marked("Your words name no city that is served here. Choose a city, or put a pin on the map."),
    "address": marked("We cannot send to this address. An e-mail address looks like ann@example.org, a number like (909) 555-0100."),
}  # fmt: skip
_OTHER_FAULT = marked("Something in the form cannot be used.")


@router.get("/alerts")
async def alerts_form(request: Request) -> Response:
    """The form to subscribe, and what stands now."""
    return await _alerts(request, Fields())


async def _alerts(
    request: Request, typed: Fields, faults: Mapping[str, str] = MappingProxyType({}), status: int = 200, *, asked: bool = False
) -> Response:
    """The page; `faults` has what is wrong under the id of the field, or under nothing."""
    house = house_of(request)
    async with reading(house) as tx:
        standing = [one for one in await _shown(tx) if not one["ended"]]
    cities = {city: city_name(house, city) for city in house.cities}
    return page(
        request, "alerts.html", status, typed=typed, faults=faults, asked=asked, cities=cities, distances=DISTANCES, standing=standing,
        kinds=KINDS, wanted_language=typed.text("language") or spoken(request).language,
    )  # fmt: skip


@router.post("/alerts", dependencies=[Depends(turnstile.at("alerts sign-up"))])
async def alerts(request: Request) -> Response:
    """Take the request. The answer is the same whether or not the address is known, or a message went to it."""
    fields = await read_fields(request)
    speech = spoken(request)
    try:
        asked = _asked(house_of(request), fields)
        async with transaction(house_of(request), "public") as tx:
            await public_alerts.ask(tx, asked)
    except BadInput as error:
        first_city = f"city-{next(iter(house_of(request).cities))}"
        places = {"area": first_city, "cities": first_city, "address": "address"}
        keys = [fault.partition(":")[0] for fault in error.faults]
        faults = {places.get(key, ""): speech.say(_FAULTS.get({"cities": "area"}.get(key, key), _OTHER_FAULT)) for key in keys}
        return await _alerts(request, fields, faults, 422)
    except public_alerts.TooMany:
        busy = speech.say("Too many people subscribe at the moment. Try again in an hour.")
        return await _alerts(request, fields, {"": busy}, 429)
    return await _alerts(request, Fields(), asked=True)


def _asked(house: House, fields: Fields) -> public_alerts.Request:
    """What was asked for. Without a point, words about a place choose the city that they name. Raises BadInput where they name none."""
    circle: dict[str, Any] | None = None
    if fields.text("lat") or fields.text("lon"):
        circle = {"lat": _number(fields, "lat"), "lon": _number(fields, "lon"), "metres": _number(fields, "metres")}
    cities, where = fields.all("cities"), clean(fields.text("where"))[:LONGEST_ADDRESS]
    if where and circle is None:
        named = city_named(house, where)
        if named is None and not cities:
            raise BadInput("no city served here is named", ["where: right would be: an address with its city"])
        cities = list(dict.fromkeys([*cities, *([named] if named else [])]))
    channel, language = fields.text("channel", "email"), fields.text("language", "en")
    return public_alerts.Request(channel, fields.text("address")[:320], language, cities, circle)


def _number(fields: Fields, key: str) -> float | None:
    try:
        return float(fields.text(key))
    except ValueError:
        return None


@router.api_route("/alerts/yes/{token}", methods=["GET", "HEAD"])
async def confirm_page(request: Request, token: str) -> Response:
    """One button that says yes; opening the page does not: programs that follow links in mails confirm nothing."""
    async with reading(house_of(request)) as tx:
        row = await public_alerts.of_token(tx, token)
        what = public_alerts.said_of(tx, row, row.language)
    state = "ended" if row.ended_at else "confirmed" if row.confirmed_at else "asked"
    return page(request, "alert_confirm.html", language=row.language, token=token, row=row, what=what, state=state)


@router.post("/alerts/yes/{token}", dependencies=[Depends(turnstile.at("link"))])
async def confirm(request: Request, token: str) -> Response:
    """Say yes. Pressed twice it is said once."""
    async with transaction(house_of(request), "public") as tx:
        row = await public_alerts.confirm(tx, token)
        what = public_alerts.said_of(tx, row, row.language)
    state = "ended" if row.ended_at else "confirmed"
    return page(request, "alert_confirm.html", language=row.language, token=token, row=row, what=what, state=state)


@router.get("/advisories")
async def advisories_page(request: Request) -> Response:
    """The advisories that stand, and those that ended in the last 30 days."""
    async with reading(house_of(request)) as tx:
        found = await _shown(tx)
    return page(request, "advisories.html", found=found, kinds=KINDS)


@router.get("/advisories/{number}")
async def advisory_page(request: Request, number: int) -> Response:
    """One advisory with everything that followed it."""
    async with reading(house_of(request)) as tx:
        chain = await advisories.public_one(tx, number) if number < 2**31 else []
        if not chain:
            raise NotKnown(f"there is no advisory {number}")
        one = await _of_chain(tx, chain)
    return page(request, "advisory.html", one=one, kinds=KINDS)


async def _shown(tx: Transaction) -> list[dict[str, Any]]:
    return [await _of_chain(tx, chain) for chain in await advisories.public_ones(tx, _STILL_SHOWN)]


async def _of_chain(tx: Transaction, chain: Sequence[Advisory]) -> dict[str, Any]:
    """An advisory and what followed it, the newest first."""
    spill = await tx.session.get_one(Spill, chain[0].spill_id)
    return {
        "id": chain[0].id, "reference": spill.reference, "city": city_name(tx.house, spill.city or tx.house.first_city),
        "zone": zone_of(tx.house, spill.city), "ended": chain[-1].kind == "all_clear", "newest": chain[-1], "all": list(reversed(chain)),
    }  # fmt: skip
