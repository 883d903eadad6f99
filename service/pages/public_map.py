"""The public list of spills by city and time, whole without a script; where scripts run, a map of the same stands beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from deadlines import Places
from deadlines.outlines import outline_of
from service import public_record
from service.errors import BadInput
from service.pages.rendering import city_name, house_of, page, spoken
from service.pages.speech import marked
from service.public_filters import Wanted, read_wanted
from service.public_words import ADVISORIES, MATERIALS, STATES
from service.transaction import House, reading

router = APIRouter(include_in_schema=False)
KEYS = ("city", "since", "material", "state", "advisory")
A_PAGE = 20
_SOURCE = "/api/v1/public/spills"
_MOST_NOTICES = 5
_CLEARED_SHOWN = timedelta(days=7)
# A line on a screen hides twenty metres at the scale of a city.
_OUTLINE_METRES = 20.0
_OUTLINES_KEPT_SECONDS = 3600
_FAULTS = {
    "since": marked("Write the day as year, month and day: 2026-12-01."),
    "page": marked("There is no such page of the list."),
}  # fmt: skip
_OTHER_FAULT = marked("Choose one of the list.")


@router.get("/map")
async def public_map(request: Request) -> Response:
    """The list of spills that the public sees, filtered by what the address asks for."""
    house, speech = house_of(request), spoken(request)
    asked = {key: request.query_params.get(key, "").strip()[:100] for key in KEYS}
    wanted, faults = _wanted(house, asked)
    number = request.query_params.get("page", "1")
    at_page = int(number) if number.isdecimal() and 0 < len(number) < 8 else 0
    async with reading(house) as tx:
        matched = await public_record.count(tx, wanted) if not faults else 0
        last_page = max(1, -(-matched // A_PAGE))
        if not 0 < at_page <= last_page:
            faults, at_page = {**faults, "page": _FAULTS["page"]}, 1
        rows = await public_record.found(tx, wanted, A_PAGE, offset=(at_page - 1) * A_PAGE) if not faults else []
        notices = await public_record.notices(tx, wanted.city, tx.now - _CLEARED_SHOWN, _MOST_NOTICES + 1)
    hours: public_record.Hours = {}
    kept = {key: text for key, text in asked.items() if text}
    return page(
        request, "public_map.html", 422 if faults else 200, asked=asked,
        faults=_Faults({key: speech.say(one) for key, one in faults.items()}),
        heading=speech.count("%(number)s spill", "%(number)s spills", matched), at_page=at_page, last_page=last_page,
        spills=[{"row": row, "words": public_record.in_words(house, row, speech, hours)} for row in rows],
        notices=notices[:_MOST_NOTICES], more_notices=len(notices) > _MOST_NOTICES, advisories=ADVISORIES, materials=MATERIALS,
        states=STATES, cities={city: city_name(house, city) for city in house.cities}, source=_SOURCE,
        query=urlencode({**({} if faults else kept), "limit": 1000, "lang": speech.language}),
        kept=f"{urlencode(kept)}&" if kept else "",
    )  # fmt: skip


class _Faults(dict[str, str]):
    """What is wrong, by the name of the field; nothing for a field that is right."""

    def __missing__(self, key: str) -> str:
        return ""


def _wanted(house: House, asked: Mapping[str, str]) -> tuple[Wanted, Mapping[str, str]]:
    """What is asked for, and what cannot be, by field; with a fault nothing is found."""
    try:
        return read_wanted(house, asked), {}
    except BadInput as error:
        keys = [fault.partition(":")[0] for fault in error.faults]
        return Wanted(), {key: _FAULTS.get(key, _OTHER_FAULT) for key in keys}


@router.get("/map/cities.geojson")
async def cities(request: Request) -> Response:
    """The boundaries of the cities served, for maps: with fewer points than the law is read by. It may be kept for an hour."""
    house = house_of(request)
    content = _outlines(house.places, tuple((city, city_name(house, city)) for city in house.cities))
    mark = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": mark, "Cache-Control": f"public, max-age={_OUTLINES_KEPT_SECONDS}"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="application/geo+json", headers=headers)


@lru_cache(maxsize=4)
def _outlines(places: Places, names: tuple[tuple[str, str], ...]) -> bytes:
    features = [
        {
            "type": "Feature", "properties": {"city": city, "name": name},
            "geometry": {"type": "MultiPolygon", "coordinates": outline_of(places, city, _OUTLINE_METRES)},
        }
        for city, name in names
        if city in places.cities
    ]  # fmt: skip
    return json.dumps({"type": "FeatureCollection", "features": features}, separators=(",", ":")).encode()
