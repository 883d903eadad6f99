"""Masking words in the record of a spill, for staff: which, where they stand, what would be shown, and who masked what before."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.access import Staff, spill_for
from service.errors import BadInput, Conflict, NotKnown
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import house_of, staff_page, zone_of
from service.redaction import Place, checked_words, preview, redact_record, redactions_in
from service.tables import Spill
from service.transaction import reading

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)
ROLE = "manager"


@router.get("/{reference}/redact")
async def redact_page(request: Request, reference: str) -> Response:
    """The form, and what was masked before."""
    return await _page(request, await signed_in(request), reference)


async def _page(
    request: Request, staff: Staff, reference: str, typed: Fields | None = None, error: BadInput | Conflict | None = None
) -> Response:
    house = house_of(request)
    places: Sequence[Place] = ()
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        staff.require(ROLE, spill.city)
        before = redactions_in(await tx.history(spill))
        if typed is not None and error is None:
            try:
                places = await preview(tx, spill, checked_words(typed.text("words")))
            except BadInput as fault:
                error = fault
    faults = (error.faults or [str(error)]) if error else ()
    return staff_page(
        request, "redact.html", error.status if error else 200, staff=staff, spill=spill, zone=zone_of(house, spill.city), faults=faults,
        typed=typed or Fields(), looked=typed is not None and not faults, places=places, before=before,
        done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/{reference}/redact")
async def redact(request: Request, reference: str) -> Response:
    """Show what would be masked, or mask it."""
    staff, typed = await signed_in(request), await read_fields(request)
    if typed.text("do") != "mask":
        return await _page(request, staff, reference, typed)

    def check(spill: Spill) -> None:
        if not staff.may_see(spill.city):
            raise NotKnown(f"there is no spill {reference}")
        staff.require(ROLE, spill.city)

    try:
        words = checked_words(typed.text("words"))
        await redact_record(house_of(request), staff.email, reference, words, typed.text("reason"), check)
    except (BadInput, Conflict) as error:
        return await _page(request, staff, reference, typed, error)
    return RedirectResponse(f"/staff/spills/{reference}/redact?done=masked", 303)
