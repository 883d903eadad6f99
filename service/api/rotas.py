"""Rotas: who of the people in a role is on call; overrides and holidays. For managers of the city."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from service import rotas
from service.access import Staff
from service.api.callers import house_of, read_body, signed_in
from service.errors import BadInput
from service.office_days import city_law
from service.on_call import HOLIDAY, roster_of
from service.reach import AHEAD, warnings_of
from service.tables import Rota
from service.transaction import Transaction, reading, transaction

router = APIRouter(prefix="/rotas", tags=["rotas"])
Number = Annotated[int, Path(ge=1, description="the number of a rota")]


class RotaIn(BaseModel):
    """A rota to enter: members take turns of so many days, or the calendar at `ics` says who is on call."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {
        "city": "chino", "role": "duty_officer", "name": "Sewer desk", "members": [3, 5], "starts_on": "2026-12-07", "turn_days": 7,
        "handover": "08:00", "ics": "",
    }})  # fmt: skip
    city: str
    role: str
    name: str
    members: list[int] = []
    starts_on: dt.date | None = None
    turn_days: int = 7
    handover: str = "08:00"
    ics: str = ""


class ShiftIn(BaseModel):
    """A time for which a rota says otherwise: the contact is on call, or away (`holiday`)."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {
        "contact": 5, "starts_at": "2026-12-24T08:00:00-08:00", "ends_at": "2026-12-26T08:00:00-08:00", "reason": "swap",
    }})  # fmt: skip
    contact: int
    starts_at: dt.datetime
    ends_at: dt.datetime
    kind: Literal["override", "holiday"] = "override"
    reason: str = ""


class PersonOut(BaseModel):
    """A contact in the role."""

    number: int
    name: str


class ShiftOut(BaseModel):
    """An override or a holiday that is not over."""

    number: int
    contact: PersonOut | None
    starts_at: dt.datetime
    ends_at: dt.datetime
    kind: str
    reason: str
    added_by: str


class SpanOut(BaseModel):
    """From when to when whom alerts to the role go to; `nobody_on_call`: then they go to everybody in it."""

    starts_at: dt.datetime
    ends_at: dt.datetime
    people: list[PersonOut]
    nobody_on_call: bool


class RotaOut(BaseModel):
    """A rota. `on_call` is the role's next four weeks, with all rotas of the role."""

    number: int
    city: str
    role: str
    name: str
    members: list[PersonOut]
    starts_on: dt.date
    turn_days: int
    handover: str
    ics: str
    ics_read_at: dt.datetime | None
    ics_problem: str
    shifts: list[ShiftOut]
    on_call: list[SpanOut]


class RotasOut(BaseModel):
    """The rotas of the cities that the caller works for. `warnings`: rungs that reach nobody, times at which nobody is on call."""

    rotas: list[RotaOut]
    warnings: list[str]


class ChangedOut(BaseModel):
    """The rota as it is after a change; None once it has ended. `warnings` as for the list, of its role."""

    rota: RotaOut | None
    warnings: list[str]


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no staff token"},
    403: {"description": "not a manager of this city"},
    404: {"description": "no such city, rota or override"},
    422: {"description": "it cannot be entered; `errors` says what would be right"},
}


def _body(shape: type[BaseModel]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": shape.model_json_schema()}}}}


@router.get("", responses={code: _PROBLEMS[code] for code in (401, 403, 404)})
async def list_rotas(request: Request, city: Annotated[str, Query(max_length=60)] = "") -> RotasOut:
    """The rotas, of one city where it is named. For managers."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        if city:
            city_law(tx.house, city)
        staff.require("manager", city or None)
        cities = [one for one in tx.house.cities if staff.may("manager", one) and city in ("", one)]
        found = [rota for one in cities for rota in await rotas.rotas_of(tx, one)]
        warnings = [f"{one}: {line}" for one in dict.fromkeys(rota.city for rota in found) for line in await warnings_of(tx, one)]
        return RotasOut(rotas=[await _rota(tx, rota) for rota in found], warnings=warnings)


@router.post("", status_code=201, openapi_extra=_body(RotaIn), responses=_PROBLEMS)
async def add_rota(request: Request) -> ChangedOut:
    """Enter a rota; it counts at once."""
    staff = await signed_in(request)
    given = await read_body(request, RotaIn)
    async with transaction(house_of(request), staff.email) as tx:
        city_law(tx.house, given.city)
        staff.require("manager", given.city)
        new = rotas.NewRota(given.city, given.role, given.name, given.members, given.starts_on, given.turn_days, given.handover, given.ics)
        return await _changed(tx, await rotas.add_rota(tx, new))


@router.delete("/{number}", responses=_PROBLEMS)
async def end_rota(request: Request, number: Number) -> ChangedOut:
    """End a rota: everybody in the role is told again. It stays on record."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await _allowed(tx, staff, number)
        return await _changed(tx, await rotas.end_rota(tx, number))


@router.post("/{number}/shifts", status_code=201, openapi_extra=_body(ShiftIn), responses=_PROBLEMS)
async def add_shift(request: Request, number: Number) -> ChangedOut:
    """Enter an override or a holiday."""
    staff = await signed_in(request)
    given = await read_body(request, ShiftIn)
    if given.starts_at.tzinfo is None or given.ends_at.tzinfo is None:
        raise BadInput("a time has no offset", ["starts_at, ends_at: right would be: 2026-12-24T08:00:00-08:00"])
    async with transaction(house_of(request), staff.email) as tx:
        rota = await _allowed(tx, staff, number)
        starts_at, ends_at = given.starts_at.astimezone(dt.UTC), given.ends_at.astimezone(dt.UTC)
        await rotas.add_shift(tx, number, given.contact, starts_at, ends_at, given.reason, holiday=given.kind == HOLIDAY)
        return await _changed(tx, rota)


@router.delete("/{number}/shifts/{shift}", responses=_PROBLEMS)
async def remove_shift(request: Request, number: Number, shift: Annotated[int, Path(ge=1)]) -> ChangedOut:
    """Take an override or a holiday out. It stays on record."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await _allowed(tx, staff, number)
        return await _changed(tx, await rotas.remove_shift(tx, number, shift))


async def _allowed(tx: Transaction, staff: Staff, number: int) -> Rota:
    """The rota, where the caller may change it. Raises NotKnown, NotAllowed."""
    rota = await rotas.rota_of(tx, number, staff.may_see)
    staff.require("manager", rota.city)
    return rota


async def _changed(tx: Transaction, rota: Rota) -> ChangedOut:
    shown = None if rota.ended_at else await _rota(tx, rota)
    return ChangedOut(rota=shown, warnings=await warnings_of(tx, rota.city, rota.role))


async def _rota(tx: Transaction, rota: Rota) -> RotaOut:
    roster = await roster_of(tx, rota.city, rota.role)
    people = {contact.id: PersonOut(number=contact.id or 0, name=contact.name) for contact in roster.contacts}
    shifts = [
        ShiftOut(
            number=shift.id or 0, contact=people.get(shift.contact_id), starts_at=shift.starts_at, ends_at=shift.ends_at, kind=shift.kind,
            reason=shift.reason, added_by=shift.added_by,
        )
        for shift in await rotas.shifts_of(tx, rota)
    ]  # fmt: skip
    spans = [
        SpanOut(starts_at=begins, ends_at=ends, people=[people[one.id] for one in told], nobody_on_call=nobody)
        for begins, ends, told, nobody in roster.spans(tx.now, tx.now + AHEAD)
    ]
    return RotaOut(
        number=rota.id or 0, city=rota.city, role=rota.role, name=rota.name, members=[people[one] for one in rota.members if one in people],
        starts_on=rota.starts_on, turn_days=rota.turn_days, handover=rota.handover, ics=rota.ics_url, ics_read_at=rota.ics_read_at,
        ics_problem=rota.ics_problem, shifts=shifts, on_call=spans,
    )  # fmt: skip
