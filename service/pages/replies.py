"""The replies that nobody could make sense of, in front of staff until a person has looked at each."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import replies
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import read_fields
from service.pages.rendering import house_of, staff_page, zone_of
from service.tables import Spill
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff/replies", include_in_schema=False, route_class=StaffRoute)


@router.get("")
async def replies_page(request: Request) -> Response:
    """Every reply that waits for a person, the oldest first."""
    staff = await signed_in(request)
    house = house_of(request)
    async with reading(house) as tx:
        found = await replies.unsettled(tx, staff)
    told = [(reply, spill, zone_of(house, spill.city if spill else None)) for reply, spill in found]
    return staff_page(
        request, "replies.html", staff=staff, found=told,
        may_settle=staff.may("officer", None), done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/{number}/settle")
async def settle(request: Request, number: int) -> Response:
    """Say that a reply was read and what it needs is done; then back to where it was shown."""
    staff = await signed_in(request)
    fields = await read_fields(request)
    house = house_of(request)
    async with transaction(house, staff.email) as tx:
        reply = await replies.settle(tx, staff, number)
        spill = await tx.session.get(Spill, reply.spill_id) if reply.spill_id and fields.text("from") == "spill" else None
    return RedirectResponse(f"/staff/spills/{spill.reference}?done=settled#replies" if spill else "/staff/replies?done=settled", 303)
