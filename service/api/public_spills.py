"""Open data: the spills that the public sees, as GeoJSON. Anybody may read them, also a page of another site."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from deadlines import as_z
from service import public_record, public_words
from service.api.callers import house_of
from service.disclosure import FIELDS
from service.errors import BadInput
from service.public_filters import KEYS, read_wanted
from service.speech import Speech, speech
from service.spreadsheet import MEDIA_TYPE, Cell, csv_of
from service.tables import PublicSpill
from service.transaction import House, reading
from service.unchanged import answer

router = APIRouter(prefix="/public", tags=["open data"])
PATH = "/api/v1/public/spills"
DEFAULT_LIMIT, MOST = 500, 1000
MOST_ROWS = 10_000
_PAGING = ("limit", "after", "lang")
_Text = Annotated[str, Query(max_length=100)]


class GeoJson(JSONResponse):
    """An answer in GeoJSON (RFC 7946), given as the bytes that its mark was made of."""

    media_type = "application/geo+json"

    def render(self, content: bytes) -> bytes:
        """The bytes as they are."""
        return content


class Words(BaseModel):
    """The same in words, in the language that was asked for."""

    title: str = Field(description="The material.")
    place: str = Field(description="The part of the city, or the city alone where no point is shown.")
    received: str = Field(description="When the report came in, to the hour, in the city's local time.")
    amount: str
    reached: str
    state: str
    advisory: str


class Properties(BaseModel):
    """What the public sees of a spill."""

    reference: str = Field(description=FIELDS["reference"].says)
    city: str = Field(description=FIELDS["city"].says)
    material: str = Field(description=f"{FIELDS['material'].says} One of: {', '.join(public_words.MATERIALS)}.")
    amount: str = Field(description=f"{FIELDS['amount'].says} One of: {', '.join(public_words.AMOUNTS)}.")
    reached: list[str] = Field(description=f"{FIELDS['reached'].says} Any of: {', '.join(public_words.REACHED)}.")
    received_at: datetime = Field(description=FIELDS["received_at"].says)
    state: Literal["looked_at", "cleaning", "cleaned_up", "closed"] = Field(description=FIELDS["state"].says)
    advisory: Literal["none", "in_force", "ended"] = Field(description=FIELDS["advisory"].says)
    advisory_url: str | None = Field(description="The page of its advisory, where there is one.")
    changed_at: datetime = Field(description="When something here last changed.")
    words: Words


class Point(BaseModel):
    """A point, rounded to three decimals of a degree: about a city block."""

    type: Literal["Point"] = "Point"
    coordinates: tuple[float, float] = Field(description="Longitude and latitude, WGS84.")


class Spill(BaseModel):
    """One spill; its geometry is null at a home and where no point is known."""

    type: Literal["Feature"] = "Feature"
    id: str = Field(description="Its reference.")
    geometry: Point | None
    properties: Properties


class Link(BaseModel):
    """Where the list goes on."""

    rel: Literal["next"] = "next"
    type: str = "application/geo+json"
    href: str


class Spills(BaseModel):
    """The spills found, the newest first. `numberMatched` counts all that were found, `numberReturned` those of this answer."""

    type: Literal["FeatureCollection"] = "FeatureCollection"
    numberMatched: int  # noqa: N815 - the name of OGC API - Features
    numberReturned: int  # noqa: N815 - the same
    links: list[Link]
    features: list[Spill]


@router.get("/spills", response_model=Spills, response_class=GeoJson, responses={304: {"description": "Unchanged since the ETag given."}})
async def public_spills(
    request: Request,
    city: Annotated[_Text, Query(description="One city, by the id of its pack.")] = "",
    since: Annotated[_Text, Query(description="Received since: a day (2026-12-01) or a time with its offset.")] = "",
    material: Annotated[_Text, Query(description="One kind of material.")] = "",
    state: Annotated[_Text, Query(description="How far it is.")] = "",
    advisory: Annotated[_Text, Query(description="in_force: only where an advisory stands.")] = "",
    bbox: Annotated[_Text, Query(description="west,south,east,north in degrees. Spills without a point are in no box.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST, description="At most so many.")] = DEFAULT_LIMIT,
    after: Annotated[_Text, Query(description="Go on after this reference; `links` has the address.")] = "",
    lang: Annotated[Literal["en", "es"], Query(description="The language of the words.")] = "en",
) -> Response:
    """Spills that the city confirmed or told the public of, without anything that leads to a person.

    Positions are rounded to a city block and left out at homes; times are those of the full hour. It may be kept for a minute.
    """
    _only(request, (*KEYS, *_PAGING))
    house = house_of(request)
    given = {"city": city, "since": since, "material": material, "state": state, "advisory": advisory, "bbox": bbox}
    wanted = read_wanted(house, given)
    async with reading(house) as tx:
        matched = await public_record.count(tx, wanted)
        rows = await public_record.found(tx, wanted, limit + 1, after=after or None)
        changed = await public_record.changed_at(tx)
    body = _collection(house, rows[:limit], matched, speech(lang))
    if len(rows) > limit:
        kept = {key: text for key, text in (*given.items(), ("lang", lang)) if text}
        query = urlencode({**kept, "limit": limit, "after": rows[limit - 1].reference})
        body["links"] = [{"rel": "next", "type": GeoJson.media_type, "href": f"{house.settings.public_url}{PATH}?{query}"}]
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return answer(request, content, GeoJson.media_type, changed_at=changed, now=house.now())


COLUMNS = (
    "reference", "city", "material", "amount", "reached", "received_at", "lat", "lon", "state", "advisory", "advisory_url", "changed_at",
)  # fmt: skip


@router.get(
    "/spills.csv", response_class=Response,
    responses={200: {"content": {"text/csv": {}}, "description": "The rows, headings first."}, 304: {"description": "Unchanged."}},
)  # fmt: skip
async def public_spills_as_csv(
    request: Request,
    city: Annotated[_Text, Query(description="One city, by the id of its pack.")] = "",
    since: Annotated[_Text, Query(description="Received since: a day (2026-12-01) or a time with its offset.")] = "",
    material: Annotated[_Text, Query(description="One kind of material.")] = "",
    state: Annotated[_Text, Query(description="How far it is.")] = "",
    advisory: Annotated[_Text, Query(description="in_force: only where an advisory stands.")] = "",
    bbox: Annotated[_Text, Query(description="west,south,east,north in degrees. Spills without a point are in no box.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="At most so many, the newest.")] = MOST_ROWS,
) -> Response:
    """The same spills for a spreadsheet, the newest first: one row each, words by their codes, times in UTC.

    The columns keep their names and order; new ones come at the end. `reached` holds its words with a semicolon between them.
    """
    _only(request, (*KEYS, "limit"))
    house = house_of(request)
    given = {"city": city, "since": since, "material": material, "state": state, "advisory": advisory, "bbox": bbox}
    async with reading(house) as tx:
        rows = await public_record.found(tx, read_wanted(house, given), limit)
        changed = await public_record.changed_at(tx)
    content = csv_of([COLUMNS, *(_row(house, row) for row in rows)])
    headers = {"Content-Disposition": 'attachment; filename="spills.csv"'}
    return answer(request, content, MEDIA_TYPE, changed_at=changed, now=house.now(), headers=headers)


def _row(house: House, row: PublicSpill) -> list[Cell]:
    return [
        row.reference, row.city, row.material, row.amount, ";".join(row.reached), as_z(row.received_at.astimezone(UTC)), row.lat, row.lon,
        row.state, row.advisory, _advisory_url(house, row), as_z(row.changed_at),
    ]  # fmt: skip


def _only(request: Request, keys: Sequence[str]) -> None:
    """Raise BadInput where something else is asked for: a filter that is passed over shows what was not asked for."""
    if unknown := sorted(set(request.query_params) - set(keys)):
        right = f"right would be: some of {', '.join(keys)}"
        raise BadInput("the list cannot be filtered so", [f"{key[:60]}: there is no such filter; {right}" for key in unknown])


def _advisory_url(house: House, row: PublicSpill) -> str | None:
    return f"{house.settings.public_url}/advisories/{row.advisory_id}" if row.advisory_id else None


def _collection(house: House, rows: Sequence[PublicSpill], matched: int, said: Speech) -> dict[str, Any]:
    hours: public_record.Hours = {}
    return {
        "type": "FeatureCollection", "numberMatched": matched, "numberReturned": len(rows), "links": [],
        "features": [_feature(house, row, said, hours) for row in rows],
    }  # fmt: skip


def _feature(house: House, row: PublicSpill, said: Speech, hours: public_record.Hours) -> dict[str, Any]:
    has_point = row.lat is not None and row.lon is not None
    return {
        "type": "Feature", "id": row.reference,
        "geometry": {"type": "Point", "coordinates": [row.lon, row.lat]} if has_point else None,
        "properties": {
            "reference": row.reference, "city": row.city, "material": row.material, "amount": row.amount, "reached": row.reached,
            "received_at": as_z(row.received_at.astimezone(UTC)), "state": row.state, "advisory": row.advisory,
            "advisory_url": _advisory_url(house, row),
            "changed_at": as_z(row.changed_at), "words": public_record.in_words(house, row, said, hours),
        },
    }  # fmt: skip
