"""How long records are kept, for staff: what is past its time, what keeps one record, legal holds, destruction, certificates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.access import Staff, spill_for
from service.accounts import require_administrator
from service.destruction import KINDS, certificate_of, destroy_record, would_go
from service.errors import BadInput, Conflict, NotKnown
from service.pages.entrance import StaffRoute, signed_in, working_on
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.retention import destroyed, holds_of, kept_until, lift_hold, listed, place_hold
from service.tables import Spill
from service.transaction import reading

router = APIRouter(prefix="/staff", include_in_schema=False, route_class=StaffRoute)
# Whoever keeps a record longer harms nobody; whoever lets one go decides what an administrator decides.
ROLE_TO_HOLD, ROLE_TO_LET_GO = "manager", "administrator"


@router.get("/retention")
async def retention_page(request: Request) -> Response:
    """The records of an administrator's cities that are past their time, soon will be, or are held; and what was destroyed."""
    staff = await signed_in(request)
    require_administrator(staff)
    house = house_of(request)
    cities = administered(staff)
    async with reading(house) as tx:
        found = await listed(tx, cities)
        gone = await destroyed(tx, cities)
    return staff_page(
        request, "retention.html", staff=staff, zone=zone_of(house, staff.city), gone=gone, years=house.settings.keep_years,
        past=[one for one in found if not one.still(house.now())], held=[one for one in found if one.is_held],
        soon=[one for one in found if one.still(house.now()) and not one.is_held],
        names={one.spill.city: city_name(house, one.spill.city) for one in found if one.spill.city},
    )  # fmt: skip


def administered(staff: Staff) -> Collection[str] | None:
    """The cities whose records are this person's to let go; None is every city."""
    return staff.administers


@router.get("/spills/{reference}/retention")
async def record_page(request: Request, reference: str) -> Response:
    """What keeps the record of one spill, and until when; for an administrator also what would be destroyed."""
    return await _record_page(request, await signed_in(request), reference)


async def _record_page(
    request: Request, staff: Staff, reference: str, error: BadInput | Conflict | None = None, typed: Fields | None = None
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        kept = await kept_until(tx, spill)
        members = [kept.spill, *kept.members]
        holds = await holds_of(tx, [one.id or 0 for one in members])
        lets_go = staff.may(ROLE_TO_LET_GO, spill.city)
        going = await would_go(tx, kept) if lets_go and spill.destroyed_at is None else []
    return staff_page(
        request, "spill_retention.html", error.status if error else 200, staff=staff, spill=spill, zone=zone_of(house, spill.city),
        kept=kept, still=kept.still(house.now()), holds=holds, names={one.id: one.reference for one in members}, going=going, kinds=KINDS,
        may_hold=staff.may(ROLE_TO_HOLD, spill.city), may_let_go=lets_go, faults=_faults(error), typed=typed or Fields(),
        done=request.query_params.get("done", ""),
    )  # fmt: skip


def _faults(error: BadInput | Conflict | None) -> Sequence[str]:
    return (error.faults or [str(error)]) if error else ()


@router.post("/spills/{reference}/holds")
async def place(request: Request, reference: str) -> Response:
    """Place a legal hold."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, ROLE_TO_HOLD) as (tx, spill):
            await place_hold(tx, spill, fields.text("reason"))
    except (BadInput, Conflict) as error:
        return await _record_page(request, staff, reference, error, fields)
    return RedirectResponse(f"/staff/spills/{reference}/retention?done=held#holds", 303)


@router.post("/spills/{reference}/holds/{number}/lift")
async def lift(request: Request, reference: str, number: int) -> Response:
    """Lift a legal hold."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, ROLE_TO_LET_GO) as (tx, spill):
            await lift_hold(tx, spill, min(number, 2**31 - 1), fields.text("reason"))
    except (BadInput, Conflict) as error:
        return await _record_page(request, staff, reference, error, fields)
    return RedirectResponse(f"/staff/spills/{reference}/retention?done=lifted#holds", 303)


@router.post("/spills/{reference}/destroy")
async def destroy(request: Request, reference: str) -> Response:
    """Destroy the record, where nothing keeps it and whoever asks has said that they saw what goes."""
    staff, fields = await signed_in(request), await read_fields(request)

    def check(spill: Spill) -> None:
        if not staff.may_see(spill.city):
            raise NotKnown(f"there is no spill {reference}")
        staff.require(ROLE_TO_LET_GO, spill.city)
        if fields.text("seen") != "yes":
            raise BadInput("it was not confirmed", ["confirmation: missing; right would be: a tick that you have seen what goes"])

    try:
        await destroy_record(house_of(request), staff.email, reference, fields.text("reason"), check)
    except (BadInput, Conflict) as error:
        return await _record_page(request, staff, reference, error, fields)
    return RedirectResponse(f"/staff/spills/{reference}/certificate", 303)


@router.get("/spills/{reference}/certificate")
async def certificate_page(request: Request, reference: str) -> Response:
    """The certificate of a record that was destroyed, for printing."""
    staff, house = await signed_in(request), house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        certificate = await certificate_of(tx, spill)
    if certificate is None:
        raise NotKnown(f"the record of {reference} was not destroyed")
    return staff_page(
        request, "certificate.html", staff=staff, spill=spill, zone=zone_of(house, spill.city), certificate=certificate, kinds=KINDS,
        city=city_name(house, spill.city) if spill.city else "", moment=datetime.fromisoformat,
    )  # fmt: skip
