"""Who is calling: staff by bearer token, a discharger by the token of a private link, or anyone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ValidationError

from service.access import Staff, spill_for, staff_now, staff_of
from service.errors import BadInput, NotAllowed, NotKnown, NotSignedIn
from service.parties import LinkNoLongerWorks, respondent_of_token
from service.spills import storable
from service.tables import DischargerLink, Spill
from service.transaction import House, Transaction, reading

# Only says in the OpenAPI document how calls show who makes them; `bearer` reads it.
KEY = HTTPBearer(
    scheme_name="key", auto_error=False, bearerFormat="sc_api_...",
    description=(
        "`Authorization: Bearer KEY`. Staff make keys under *Account* in the console, each for some of these scopes and perhaps for one"
        " city:\n\n"
        "- `read`: spills, clocks, reports and calendars (GET)\n"
        "- `report`: `POST /api/v1/spills`, and nothing else\n"
        "- `act`: what an officer does, and `read`\n"
        "- `manage`: what a manager does, and `act`\n\n"
        "A key is worth what its scopes allow, and never more than the role that its owner holds in the city of the spill: viewer, officer,"
        " manager or administrator. `spillclock user token EMAIL` makes one for everything its owner may do. Whoever answers for a spill"
        " shows the token of their private link instead: it opens that spill alone. 401: no key, or one that does not count any more."
        " 403: a key without the scope, or an owner without the role. 404: a spill of a city that is not the owner's."
    ),
)  # fmt: skip
_LONGEST_NUMBER = 300
Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls about one spill: a member of staff, or the discharger of that spill. `name` goes into the record.

    `link` is the discharger's link of a named person, where one was used.
    """

    name: str
    staff: Staff | None
    link: DischargerLink | None = None

    def require(self, role: str, city: str | None) -> None:
        """Raise NotAllowed unless this is staff with the role, or the discharger where `role` is "discharger"."""
        if self.staff is not None:
            self.staff.require("officer" if role == "discharger" else role, city)
        elif role != "discharger":
            raise NotAllowed(f"this needs a member of staff with the role {role}")


def house_of(request: Request) -> House:
    """The house this application stands over."""
    house: House = request.app.state.house
    return house


def bearer(request: Request) -> str | None:
    """The bearer token of a call, or None where it has no Authorization header. Raises NotSignedIn for another scheme."""
    header = request.headers.get("authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotSignedIn("the Authorization header must be: Bearer TOKEN")
    return token.strip()


async def signed_in(request: Request) -> Staff:
    """The member of staff who calls. Raises NotSignedIn; NotAllowed for a key that is not for reading, or here for changing anything."""
    token = bearer(request)
    if token is None:
        raise NotSignedIn("this call needs a staff token: Authorization: Bearer TOKEN")
    staff = await staff_now(house_of(request), token, "api")
    staff.require_scope("read" if request.method in ("GET", "HEAD") else "act")
    return staff


async def caller_about(tx: Transaction, token: str | None, reference: str) -> tuple[Caller, Spill]:
    """Who calls about a spill, and the spill. Raises NotSignedIn without a token; a stranger's spill is NotKnown."""
    if token is None:
        raise NotSignedIn("this call needs a staff token, or the token of the discharger's private link")
    if token.startswith("sc_"):
        staff = await staff_of(tx, token, "api")
        staff.require_scope("read")
        return Caller(staff.email, staff), await spill_for(tx, staff, reference)
    try:
        respondent = await respondent_of_token(tx, token)
    except NotKnown:
        raise NotSignedIn("this token is not valid") from None
    except LinkNoLongerWorks as error:
        raise NotSignedIn(str(error)) from None
    if respondent.spill.reference != reference:
        raise NotKnown(f"there is no spill {reference}")
    return Caller(respondent.actor, None, respondent.link), respondent.spill


async def known_caller(request: Request, reference: str) -> Caller:
    """Who calls about a spill, found out before their body is read. Raises as `caller_about`."""
    token = bearer(request)
    if token is not None and token.startswith("sc_"):
        await staff_now(house_of(request), token, "api")  # which keeps that the key was used
    async with reading(house_of(request)) as tx:
        caller, _ = await caller_about(tx, token, reference)
        return caller


async def json_object(request: Request, *, keep_repeats: bool = False) -> dict[str, Any]:
    """The JSON object of a request body, without what no database can hold. Raises BadInput where it is not one.

    A key that is given twice is a fault, or with `keep_repeats` kept under a name of its own: a report loses nothing.
    """

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, value in found:
            if key in kept and not keep_repeats:
                raise ValueError(f"the key {key[:60]!r} is given twice")
            name = key
            while name in kept:
                name += " (given again)"
            kept[name] = value
        return kept

    body = await request.body()
    try:
        given = json.loads(body or b"null", object_pairs_hook=pairs, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        problem = BadInput("the body is not JSON", [f"body: {str(error)[:200]}; right would be: a JSON object"])
        problem.status = 400
        raise problem from None
    if not isinstance(given, dict):
        problem = BadInput("the body is not a JSON object", ['body: right would be: {"description": "..."}'])
        problem.status = 400
        raise problem
    kept: dict[str, Any] = storable(given)
    return kept


def _whole(digits: str) -> int | str:
    """A whole number; one that no amount of anything needs is kept as the text it came as."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


async def read_body(request: Request, shape: type[Shape]) -> Shape:
    """The request body in the given shape. Raises BadInput with one line a fault."""
    given = await json_object(request)
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors()]
        raise BadInput("the body has faults", faults) from None
