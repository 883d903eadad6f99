"""The calls of GeoReport v2: services, definitions, requests in and out, tokens; and the discovery that says where they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from functools import wraps
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from sqlmodel import col

from deadlines import read_moment
from service import public_record, turnstile
from service.access import Staff, staff_now
from service.errors import BadInput, NotAllowed, NotKnown, NotSignedIn, SpillclockError
from service.incoming_bodies import read_form
from service.intake import Arrival, take_in
from service.kept_files import PHOTO, Belonging, take_in_files
from service.open311 import shown
from service.open311.answers import MEDIA_TYPES, content_of, fault, written
from service.open311.catalogue import definition, services
from service.parties import spill_of_token
from service.public_filters import Wanted
from service.public_words import MATERIALS
from service.speech import Speech, speech
from service.tables import EventRow, PublicSpill, Spill
from service.transaction import House, Transaction, reading
from service.unchanged import answer

router = APIRouter(prefix="/open311", tags=["Open311"])
BASE = "/open311/v2"
STANDARD = "http://wiki.open311.org/GeoReport_v2"
# "Default query limit is a span of 90 days or first 1000 requests returned, whichever is smallest."
LONGEST_SPAN = timedelta(days=90)
MOST = 1000
_CHANGESET = "2026-12-01T00:00:00Z"
_Handler = Callable[..., Awaitable[Response]]
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in MEDIA_TYPES.values()}},
    400: {"description": "Something is missing or cannot be read; a code and a sentence for each fault."},
    403: {"description": "The api_key does not count, or is not for this."},
    404: {"description": "No such service, request, jurisdiction or format."},
}


def _as_the_standard_has_it(handler: _Handler) -> _Handler:
    """Errors as the standard has them, in the format that was asked for."""

    @wraps(handler)
    async def wrapped(request: Request, **given: Any) -> Response:
        try:
            return await handler(request, **given)
        except SpillclockError as error:
            return fault(request, error, str(given.get("form", "")))

    return wrapped


@router.get("/discovery.{form}", responses=_ANSWERS, response_class=Response)
@router.get("/v2/discovery.{form}", responses=_ANSWERS, response_class=Response)
@_as_the_standard_has_it
async def discovery(request: Request, form: str) -> Response:
    """Where GeoReport v2 is served, and in which formats."""
    house = _house(request)
    told = {
        "changeset": _CHANGESET, "contact": f"{house.settings.public_url}/", "key_service": f"{house.settings.public_url}/staff/account",
        "endpoints": [{
            "specification": STANDARD, "url": f"{house.settings.public_url}{BASE}", "changeset": _CHANGESET, "type": "production",
            "formats": ["text/xml", "application/json"],
        }],
    }  # fmt: skip
    return written("discovery", told, form)


@router.get("/v2/services.{form}", responses=_ANSWERS, response_class=Response)
@_as_the_standard_has_it
async def list_services(request: Request, form: str) -> Response:
    """The kinds of spills that can be reported: one for each material. `jurisdiction_id`: a city's id, or none. `lang`: en or es."""
    _jurisdiction(request, request.query_params)
    return written("services", services(_said(request.query_params)), form)


@router.get("/v2/services/{code}.{form}", responses=_ANSWERS, response_class=Response)
@_as_the_standard_has_it
async def one_service(request: Request, code: str, form: str) -> Response:
    """What may be said of a spill of this kind beside its place and a description."""
    _jurisdiction(request, request.query_params)
    _service(code)
    return written("service_definition", definition(code, _said(request.query_params)), form)


@router.post("/v2/requests.{form}", responses=_ANSWERS, response_class=Response, status_code=201)
@_as_the_standard_has_it
async def post_request(request: Request, form: str) -> Response:
    """Report a spill, as a form. A place is needed: `lat` and `long`, or `address_string`. Files of the field `media` are kept as photos.

    `api_key`: a key with the scope report; without one the limits for anybody hold. The answer's `service_notice` has the private page of
    the report. The same `Idempotency-Key` with the same fields gives the same answer.
    """
    content_of("errors", [], form)  # a format that does not exist is told before anything is kept
    house = _house(request)
    texts, files = await read_form(request)
    fields = {name: values[-1] for name, values in texts.items() if values[-1].strip()}
    staff = await _holder(request, fields, "report")
    if staff is None:
        await turnstile.check(request, turnstile.API_REPORT)
    city = _jurisdiction(request, fields)
    said = _said(fields)
    body = _body(house, texts, fields, city)
    sender = staff.email if staff else "public"
    taken = await take_in(house, Arrival(body, "open311", sender, key=request.headers.get("idempotency-key", "")))
    media = [one for name in ("media", "media[]") for one in files.get(name, [])]
    if media and not taken.replayed:
        actor = f"reporter of {taken.reference}"
        await take_in_files(house, media, Belonging(taken.reference, PHOTO, actor, "the reporter"))
    told = {
        "service_request_id": taken.reference, "account_id": None,
        "service_notice": said.say("Follow your report on its private page: %(link)s", link=taken.status_url),
    }  # fmt: skip
    return written("service_requests", [told], form, 201)


def _body(house: House, texts: Mapping[str, list[str]], fields: Mapping[str, str], city: str | None) -> dict[str, Any]:
    """The report as our API takes it. Raises BadInput without a service or a place, NotKnown for a service that does not exist."""
    code = _service(fields.get("service_code", ""))
    address = ", ".join(fields[key].strip() for key in ("address_string", "address_id") if key in fields)
    has_point = "lat" in fields and "long" in fields
    if not has_point and not address:
        raise BadInput("there is no place", ["lat, long or address_string: missing; right would be: both of lat and long, or an address"])
    if city is not None and address and not has_point:
        name = house.rulebook.law_of(city).city.title.removeprefix("City of ")
        address = address if name.partition(",")[0].casefold() in address.casefold() else f"{address}, {name}"
    words = [fields.get("description", "").strip()]
    words += [f"Media: {fields['media_url'].strip()}"] if "media_url" in fields else []
    contact = {
        "name": " ".join(fields[key].strip() for key in ("first_name", "last_name") if key in fields),
        "email": fields.get("email", "").strip(), "phone": fields.get("phone", "").strip(),
    }  # fmt: skip
    point = {"lat": _number(fields["lat"]), "lon": _number(fields["long"])} if has_point else {}
    body: dict[str, Any] = {"description": "\n\n".join(filter(None, words)), "material": code, "location": {**point, "address": address}}
    if any(contact.values()):
        body["contact"] = {**{key: value for key, value in contact.items() if value}, "privacy": "confidential"}
    return {**body, **_attributes(texts)}


def _attributes(texts: Mapping[str, list[str]]) -> dict[str, Any]:
    """What was said of the attributes of the service: attribute[reached][]=street."""
    found: dict[str, Any] = {}
    for name, values in texts.items():
        given = [value.strip() for value in values if value.strip()]
        if not name.startswith("attribute[") or not given:
            continue
        code = name.removeprefix("attribute[").partition("]")[0]
        found[code] = given if code == "reached" else given[-1]
    return found


def _number(text: str) -> float | str:
    """A number; text that is none is kept as it came, and flagged at intake."""
    try:
        return float(text)
    except ValueError:
        return text


@router.get("/v2/tokens/{token}.{form}", responses=_ANSWERS, response_class=Response)
@_as_the_standard_has_it
async def one_token(request: Request, token: str, form: str) -> Response:
    """The request of a token: the last part of its private page. Requests are made at once here, so nobody needs it."""
    _jurisdiction(request, request.query_params)
    async with reading(_house(request)) as tx:
        spill = await spill_of_token(tx, "status", token)
    return written("service_requests", [{"service_request_id": spill.reference, "token": token}], form)


@router.get("/v2/requests.{form}", responses=_ANSWERS, response_class=Response)
@_as_the_standard_has_it
async def list_requests(request: Request, form: str) -> Response:
    """Spills that the city confirmed or told the public of, the newest first, of 90 days at most and 1,000 at most.

    `service_request_id` (several with commas) overrides all else. `service_code`, `status` (open, closed), `start_date`, `end_date`,
    `page`, `page_size`, `lang`.
    """
    house, asked = _house(request), request.query_params
    city, said = _jurisdiction(request, asked), _said(asked)
    async with reading(house) as tx:
        named = [one.strip() for one in asked.get("service_request_id", "").split(",") if one.strip()]
        rows = await _named(tx, named[:MOST], city) if named else await _found(tx, asked, city)
        due = await shown.deadlines_of(tx, [row.spill_id for row in rows])
    hours = public_record.Hours()
    told = [shown.publicly(house, row, due.get(row.spill_id), said, hours) for row in rows]
    # A deadline moves without a change of the public record: only the mark of the content tells whether it is the same.
    content = content_of("service_requests", told, form)
    return answer(request, content, MEDIA_TYPES[form], changed_at=None, now=house.now())


async def _named(tx: Transaction, references: list[str], city: str | None) -> list[PublicSpill]:
    query = select(PublicSpill).where(col(PublicSpill.reference).in_([one.replace("\0", "") for one in references]))
    served = tx.house.cities if city is None else (city,)
    rows = (await tx.session.execute(query.where(col(PublicSpill.city).in_(served)))).scalars().all()
    return sorted(rows, key=lambda row: references.index(row.reference))


async def _found(tx: Transaction, asked: Mapping[str, str], city: str | None) -> list[PublicSpill]:
    codes = [_service(one.strip()) for one in asked.get("service_code", "").split(",") if one.strip()]
    states = [one.strip() for one in asked.get("status", "").split(",") if one.strip()]
    if wrong := [one for one in states if one not in ("open", "closed")]:
        raise BadInput("no such status", [f"status: {wrong[0][:40]!r} is none; right would be: open, closed"])
    begins, ends = _stretch(asked, tx.now)
    size, page = _whole(asked, "page_size", MOST, MOST), _whole(asked, "page", 1, 10_000)
    # Filtered here: one city has a few hundred in 90 days, and the public record is asked as by everybody else.
    rows = await public_record.found(tx, Wanted(city=city, since=begins), 20_000)
    kept = [
        row
        for row in rows
        if row.received_at <= ends and (not codes or row.material in codes)
        and (not states or ("closed" if row.state == "closed" else "open") in states)
    ]  # fmt: skip
    return kept[(page - 1) * size : page * size]


def _stretch(asked: Mapping[str, str], now: datetime) -> tuple[datetime, datetime]:
    """From when to when: the last 90 days, or 90 from the beginning or up to the end that is given. Raises BadInput."""
    given = {key: _moment(key, asked[key]) for key in ("start_date", "end_date") if asked.get(key, "").strip()}
    ends = given.get("end_date") or min(given["start_date"] + LONGEST_SPAN if "start_date" in given else now, now)
    begins = given.get("start_date") or ends - LONGEST_SPAN
    if ends - begins > LONGEST_SPAN + timedelta(days=1):
        raise BadInput("the span is too long", ["start_date, end_date: more than 90 days; right would be: at most 90 at a time"])
    return begins, ends


def _moment(key: str, text: str) -> datetime:
    try:
        return read_moment(text.strip().replace(" ", "+"), ZoneInfo("UTC"))  # a + that was not encoded came as a blank
    except (ValueError, OverflowError):
        raise BadInput("no such time", [f"{key}: {text[:40]!r} is no time; right would be: 2026-12-01T00:00:00Z"]) from None


def _whole(asked: Mapping[str, str], key: str, default: int, most: int) -> int:
    text = asked.get(key, "").strip()
    if not text:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise BadInput("no such page", [f"{key}: {text[:40]!r} is no number; right would be: 1 to {most}"])
    return min(int(text), most)


@router.get("/v2/requests/{name}.{form}", responses=_ANSWERS, response_class=Response)
@_as_the_standard_has_it
async def one_request(request: Request, name: str, form: str) -> Response:
    """One request: as the public sees it; whole with an `api_key` of its sender or of staff, or by the token of its private page.

    One that the city has not confirmed shows others that it was received, its kind and the hour. `expected_datetime` is the first legal
    deadline; to strangers the full hour before it.
    """
    house, asked = _house(request), request.query_params
    city, said = _jurisdiction(request, asked), _said(asked)
    staff = await _holder(request, asked, None)
    async with reading(house) as tx:
        is_token = "." in name
        spill = await spill_of_token(tx, "status", name) if is_token else await _spill(tx, name, city)
        due = (await shown.deadlines_of(tx, [spill.id or 0])).get(spill.id or 0)
        row = await tx.session.get(PublicSpill, spill.id)
        if is_token or (staff is not None and await _may_see_all(tx, staff, spill)):
            told = await shown.wholly(tx, spill, due, said)
        elif row is not None:
            told = shown.publicly(house, row, due, said, public_record.Hours())
        else:
            told = shown.received(spill, due, said)
    return written("service_requests", [told], form, headers={"Cache-Control": "no-store"})


async def _spill(tx: Transaction, reference: str, city: str | None) -> Spill:
    spill = await tx.spill(reference)
    served = spill.city is None or spill.city in tx.house.cities
    if not served or (city is not None and spill.city not in (None, city)):
        raise NotKnown(f"there is no spill {reference}")
    return spill


async def _may_see_all(tx: Transaction, staff: Staff, spill: Spill) -> bool:
    if staff.may_see(spill.city):
        return True
    query = select(EventRow).where(col(EventRow.spill_id) == spill.id).order_by(col(EventRow.id)).limit(1)
    first = (await tx.session.execute(query)).scalar_one()
    return first.actor == staff.email and staff.has_scope("report")


# -- what every call has


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


async def _holder(request: Request, given: Mapping[str, str], scope: str | None) -> Staff | None:
    """Whose api_key it is; None without one. Raises NotAllowed for one that does not count, or is not for this."""
    key = (given.get("api_key") or request.query_params.get("api_key", "")).strip()
    if not key:
        return None
    try:
        staff = await staff_now(_house(request), key, "api")
    except NotSignedIn:
        raise NotAllowed("the api_key does not count; right would be: a key with the scope report, made under Account") from None
    if scope is not None:
        staff.require_scope(scope)
    return staff


def _jurisdiction(request: Request, given: Mapping[str, str]) -> str | None:
    """The city that is asked for; None for all. Raises NotKnown."""
    wanted = (given.get("jurisdiction_id") or request.query_params.get("jurisdiction_id", "")).strip()
    cities = _house(request).cities
    if wanted and wanted not in cities:
        raise NotKnown(f"jurisdiction_id: {wanted[:60]!r} was not found; right would be: one of {', '.join(cities)}, or none")
    return wanted or None


def _service(code: str) -> str:
    if not code.strip():
        raise BadInput("no service", ["service_code: missing; right would be: one of GET services"])
    if code.strip() not in MATERIALS:
        raise NotKnown(f"service_code: {code[:60]!r} was not found; right would be: one of {', '.join(MATERIALS)}")
    return code.strip()


def _said(given: Mapping[str, str]) -> Speech:
    return speech("es" if (given.get("lang") or given.get("attribute[language]")) == "es" else "en")
