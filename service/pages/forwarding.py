"""The staff page on which a spill is handed on to the Open311 system of its city, and which shows what became of it there."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import forwarding
from service.access import Staff, spill_for
from service.errors import BadInput, Conflict
from service.pages.entrance import StaffRoute, signed_in, working_on
from service.pages.fields import Fields, read_fields
from service.pages.rendering import house_of, staff_page, zone_of
from service.transaction import reading

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)


@router.get("/{reference}/forward")
async def forward_page(request: Request, reference: str) -> Response:
    """The words that would go out, and what was sent before."""
    return await _page(request, await signed_in(request), reference)


async def _page(
    request: Request, staff: Staff, reference: str, error: BadInput | Conflict | None = None, typed: Fields | None = None
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        sent = await forwarding.of_spill(tx, spill)
    to = forwarding.goes_to(house, spill)
    return staff_page(
        request, "forward.html", error.status if error else 200, staff=staff, spill=spill, zone=zone_of(house, spill.city), sent=sent,
        where=to.host if to else "", states=forwarding.STATES, longest=forwarding.LONGEST, done=request.query_params.get("done", ""),
        faults=(error.faults or [str(error)]) if error else (),
        said=typed.text("description") if typed else forwarding.first_words(spill),
        under_way=any(one.state in ("waiting", "sent") for one in sent),
    )  # fmt: skip


@router.post("/{reference}/forward")
async def forward(request: Request, reference: str) -> Response:
    """Promise it to the 311."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            await forwarding.forward(tx, spill, fields.text("description"))
    except (BadInput, Conflict) as error:
        return await _page(request, staff, reference, error, fields)
    return RedirectResponse(f"/staff/spills/{reference}/forward?done=sent", 303)
