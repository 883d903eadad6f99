"""The addresses that nothing is sent to, whose they are and why, and the form that lets messages go to one again."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import suppressions
from service.errors import BadInput
from service.pages import words
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import read_fields
from service.pages.rendering import house_of, staff_page, zone_of
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff/suppressions", include_in_schema=False, route_class=StaffRoute)


@router.get("")
async def suppressions_page(request: Request) -> Response:
    """The addresses, those in force first."""
    return await _page(request)


async def _page(request: Request, faults: Sequence[str] = ()) -> Response:
    staff = await signed_in(request)
    house = house_of(request)
    async with reading(house) as tx:
        found = await suppressions.listed(tx, staff, lifted=True)
    return staff_page(
        request, "suppressions.html", 422 if faults else 200, staff=staff, zone=zone_of(house, staff.city), faults=faults,
        standing=[one for one in found if one[0].lifted_at is None], lifted=[one for one in found if one[0].lifted_at is not None],
        may_lift=staff.may("manager", None), reason_words=suppressions.reason_words, channels=words.CHANNELS,
        done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/{number}/lift")
async def lift(request: Request, number: int) -> Response:
    """Let messages go to an address again, with the reason."""
    staff = await signed_in(request)
    fields = await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await suppressions.lift(tx, staff, number, fields.text("reason"))
    except BadInput as error:
        return await _page(request, error.faults)
    return RedirectResponse("/staff/suppressions?done=lifted", 303)
