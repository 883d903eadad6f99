"""Open reports near a place: a hint on the form, and on the reporter's page the question whether it is the same spill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from service import turnstile
from service.closing import History, closed_in
from service.errors import BadInput
from service.events import SaidToBeSame
from service.locating import degrees, is_on_earth
from service.nearby import BLOCK_METRES, Near, like_report, near_place, pick_of, say_same
from service.pages.fields import read_fields
from service.pages.rendering import house_of, spoken
from service.pages.speech import Speech
from service.parties import spill_of_token
from service.public_words import MATERIALS
from service.tables import Spill
from service.transaction import Transaction, reading, transaction

router = APIRouter(include_in_schema=False)
_HOUR = timedelta(hours=1)
NONE_OF_THEM = "none"


@dataclass(frozen=True, slots=True)
class Offered:
    """An earlier report as the page offers it: the value of its button, and what the public may know of it."""

    pick: str
    says: str


def in_words(speech: Speech, near: Near, now: datetime) -> str:
    """A report in public terms: sewage, within a block, about 2 hours ago."""
    # The public knows the hour it came in: half of it is over on the average.
    hours = max(1, round((now - near.received_at - _HOUR / 2) / _HOUR))
    when = speech.count("about %(number)s hour ago", "about %(number)s hours ago", hours)
    where = speech.say("within a block") if near.metres <= BLOCK_METRES else speech.say("within three blocks")
    return speech.say("%(material)s, %(where)s, %(when)s", material=speech.say(MATERIALS[near.material]), where=where, when=when)


@router.get("/report/nearby", dependencies=[Depends(turnstile.at("hint"))])
async def nearby(request: Request) -> Response:
    """`found`: the open reports near the point `lat`, `lon`, in words. Raises BadInput where that is no point."""
    lat, lon = (degrees(request.query_params.get(name)) for name in ("lat", "lon"))
    if lat is None or lon is None or not is_on_earth(lat, lon):
        raise BadInput("this is no place", ["lat, lon: right would be: degrees, 34.0122 and -117.6889"])
    async with reading(house_of(request)) as tx:
        found = await near_place(tx, lat, lon, until=tx.now)
    speech = spoken(request)
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Language, Cookie", "Content-Language": speech.language}
    return JSONResponse({"found": [in_words(speech, one, tx.now) for one in found]}, headers=headers)


async def offered(tx: Transaction, speech: Speech, spill: Spill, history: History) -> Sequence[Offered]:
    """The earlier reports that the reporter is asked about; nothing once they have answered, or the report is closed."""
    if closed_in(history) is not None or any(isinstance(event, SaidToBeSame) for _, event in history):
        return ()
    return [Offered(pick_of(tx, spill, near), in_words(speech, near, tx.now)) for near in await like_report(tx, spill)]


@router.post("/status/{token}/same", dependencies=[Depends(turnstile.at("addition"))])
async def same(request: Request, token: str) -> Response:
    """Note which earlier report the reporter says theirs is the same as. An answer that was not offered changes nothing."""
    house, fields = house_of(request), await read_fields(request)
    async with reading(house) as tx:
        reference = (await spill_of_token(tx, "status", token)).reference
    pick = fields.text("same")
    noted = False
    if pick:
        async with transaction(house, f"reporter of {reference}") as tx:
            noted = await say_same(tx, await tx.spill(reference), "" if pick == NONE_OF_THEM else pick)
    return RedirectResponse(f"/status/{token}?done=same#same" if noted else f"/status/{token}", 303)
