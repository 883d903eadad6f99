"""The replies that nobody could make sense of, in front of staff until a person has looked at each."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import replies
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import read_fields
from service.pages.rendering import house_of, staff_page, zone_of
from service.tables import Reply, Spill
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff/replies", include_in_schema=False, route_class=StaffRoute)


@router.get("")
async def replies_page(request: Request) -> Response:
    """Every reply that waits for a person, the oldest first; what one sender wrote about one spill stands together."""
    staff = await signed_in(request)
    house = house_of(request)
    async with reading(house) as tx:
        found = await replies.unsettled(tx, staff)
    together: dict[tuple[str, int | None], list[tuple[Reply, Spill | None]]] = {}
    for reply, spill in found:
        together.setdefault((reply.sender, reply.spill_id), []).append((reply, spill))
    told = []
    for same in together.values():
        spill = same[0][1]
        told.append(([reply for reply, _ in same], spill, zone_of(house, spill.city if spill else None)))
    return staff_page(
        request, "replies.html", staff=staff, found=told,
        may_settle=staff.may("officer", None), done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/settle")
async def settle_together(request: Request) -> Response:
    """Say that all the replies that one button stood under were read. One that came since still waits."""
    staff = await signed_in(request)
    numbers = [int(number) for number in (await read_fields(request)).all("reply") if number.isdigit()]
    async with transaction(house_of(request), staff.email) as tx:
        for number in numbers:
            await replies.settle(tx, staff, number)
    return RedirectResponse("/staff/replies?done=settled", 303)


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
