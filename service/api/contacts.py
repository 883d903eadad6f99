"""Who fills the roles of a city, as /staff/contacts has it: listed, entered, changed and taken out. For managers of the city."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from service import contacts
from service.access import Staff
from service.api.callers import house_of, read_body, signed_in
from service.office_days import city_law
from service.reach import warnings_of
from service.tables import Contact
from service.transaction import Transaction, reading, transaction

router = APIRouter(prefix="/cities/{city}/contacts", tags=["contacts"])
City = Annotated[str, Path(max_length=60, description="the id of a city, such as chino")]
Number = Annotated[int, Path(ge=1, description="the number of a contact of the city")]
Confirmed = Annotated[bool, Query(description="do it although rungs of ladders would reach nobody")]
_LONGEST_ADDRESS = 2000
_LONGEST_KEY = 200
_Text = Annotated[str, Field(max_length=_LONGEST_ADDRESS)]


class ContactIn(BaseModel):
    """A person or a desk that fills a role; at least one address.

    `phone` gets texts, with `voice` calls too. `quiet` is 22:00-06:00 in local time, or empty: alerts with more than 24 hours left wait
    until it is over. `apprise` holds a login and is never shown: left out of a change it stays, empty takes it out.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {
        "role": "duty_officer", "name": "Kim Vu", "email": "kim@chino.example", "phone": "(909) 555-0142", "voice": True,
        "quiet": "22:00-06:00",
    }})  # fmt: skip
    role: Literal["discharger", "duty_officer", "supervisor", "director"]
    name: str = Field(max_length=200)
    email: _Text = ""
    phone: _Text = ""
    voice: bool = False
    webhook: _Text = ""
    apprise: _Text | None = None
    language: Literal["en", "es"] = "en"
    quiet: _Text = ""


class ContactOut(BaseModel):
    """A contact. `apprise` names the service of its Apprise address and nothing else of it; null where there is none."""

    number: int
    role: str
    name: str
    email: str
    phone: str
    voice: bool
    webhook: str
    apprise: str | None
    language: str
    quiet: str


class ContactsOut(BaseModel):
    """The contacts of a city. `warnings`: rungs that reach nobody, people whom no rung tells, times at which nobody is on call."""

    contacts: list[ContactOut]
    warnings: list[str]


class ChangedOut(BaseModel):
    """The contact as it is after a change, or was when it was taken out. `warnings` as for the list."""

    contact: ContactOut
    warnings: list[str]


_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": ContactIn.model_json_schema()}}},
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no staff token"},
    403: {"description": "not a manager of this city, or a key without the scope `manage`"},
    404: {"description": "no such city, or no contact of it with this number"},
    409: {"description": "rungs of ladders would reach nobody: `errors` says which; `confirmed=true` does it all the same"},
    422: {"description": "it cannot be kept so; `errors` says for each key what would be right"},
}


@router.get("", responses={code: _PROBLEMS[code] for code in (401, 403, 404)})
async def list_contacts(request: Request, city: City) -> ContactsOut:
    """Who fills the roles of a city."""
    await _manager(request, city)
    async with reading(house_of(request)) as tx:
        found = [_out(one) for one in await contacts.of_city(tx, city)]
        return ContactsOut(contacts=found, warnings=await warnings_of(tx, city))


@router.post("", status_code=201, openapi_extra=_BODY, responses={**_PROBLEMS, 409: {"description": "the contact was taken out since"}})
async def add_contact(
    request: Request,
    response: Response,
    city: City,
    idempotency_key: Annotated[str, Header(max_length=_LONGEST_KEY, description="the same key with the same body enters one contact")] = "",
) -> ChangedOut:
    """Have a person fill a role from now on. `Idempotency-Key` is honoured."""
    staff = await _manager(request, city)
    given = _given(await read_body(request, ContactIn))
    async with transaction(house_of(request), staff.email) as tx:
        if not idempotency_key:
            return await _changed(tx, await contacts.add(tx, city, given))
        contact, replayed = await contacts.add_once(tx, city, given, idempotency_key)
        if replayed:
            response.headers["Idempotency-Replayed"] = "true"
        return await _changed(tx, contact)


@router.put("/{number}", openapi_extra=_BODY, responses=_PROBLEMS)
async def change_contact(request: Request, city: City, number: Number, confirmed: Confirmed = False) -> ChangedOut:
    """Replace what is known of a contact. Who changes roles is taken off the rotas of the one before. /staff/contacts undoes it."""
    staff = await _manager(request, city)
    given = _given(await read_body(request, ContactIn))
    async with transaction(house_of(request), staff.email) as tx:
        return await _changed(tx, await contacts.change(tx, city, number, given, confirmed=confirmed))


@router.delete("/{number}", responses={code: _PROBLEMS[code] for code in (401, 403, 404, 409)})
async def remove_contact(request: Request, city: City, number: Number, confirmed: Confirmed = False) -> ChangedOut:
    """Take a contact out, and off every rota; what was sent to them stays on record. /staff/contacts brings them back for 90 days."""
    staff = await _manager(request, city)
    async with transaction(house_of(request), staff.email) as tx:
        return await _changed(tx, await contacts.remove(tx, city, number, confirmed=confirmed))


async def _manager(request: Request, city: str) -> Staff:
    """The caller, who may change who fills the roles of this city; found out before their body is read. Raises NotKnown, NotAllowed."""
    staff = await signed_in(request)
    city_law(house_of(request), city)
    staff.require("manager", city)
    return staff


def _given(given: ContactIn) -> dict[str, Any]:
    """All that is given of contacts.KEYS; an Apprise address that is left out is not."""
    return given.model_dump(exclude={"apprise"} if given.apprise is None else set())


async def _changed(tx: Transaction, contact: Contact) -> ChangedOut:
    return ChangedOut(contact=_out(contact), warnings=await warnings_of(tx, contact.city))


def _out(contact: Contact) -> ContactOut:
    given = contacts.as_given(contact)
    return ContactOut(number=contact.id or 0, **{**given, "apprise": contact.apprise.partition("://")[0] or None})
