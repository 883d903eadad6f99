"""The reports that look automatic, for staff: one look tells which are real. Many are judged at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import held_reports
from service.errors import Conflict, NotKnown
from service.judging import call_real, set_aside
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import read_fields
from service.pages.rendering import house_of, staff_page, where_of, zone_of
from service.spills import clean
from service.tables import Spill
from service.transaction import House, reading, transaction

router = APIRouter(prefix="/staff/held", include_in_schema=False, route_class=StaffRoute)
_PAGE = 50
_LONGEST_SHOWN = 400
_MOST_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class HeldLine:
    """A held report as staff see it: why it is held, what it says in short, and when it is let go by itself."""

    reference: str
    zone: ZoneInfo
    received_at: datetime
    let_go_at: datetime | None
    why: Sequence[str]
    where: str
    says: str
    is_cut: bool


@router.get("")
async def held_page(request: Request) -> Response:
    """Every report that waits to be judged, the oldest first."""
    staff = await signed_in(request)
    house = house_of(request)
    async with reading(house) as tx:
        found, count = await held_reports.waiting(tx, _PAGE), await held_reports.how_many(tx)
    return staff_page(
        request, "held.html", staff=staff, lines=[_line(house, spill) for spill in found], count=count,
        may_judge=staff.may("officer", None), done=request.query_params.get("done", ""),
    )  # fmt: skip


def _line(house: House, spill: Spill) -> HeldLine:
    mark = held_reports.SUSPICIOUS
    return HeldLine(
        spill.reference, zone_of(house, spill.city), spill.received_at, spill.assess_at,
        [flag.removeprefix(mark) for flag in spill.flags if flag.startswith(mark)], where_of(spill),
        spill.description[:_LONGEST_SHOWN], len(spill.description) > _LONGEST_SHOWN,
    )  # fmt: skip


@router.post("")
async def judge(request: Request) -> Response:
    """Say of the ticked reports that they are real, or that they are none. What somebody else has judged meanwhile stays as they said."""
    staff, house = await signed_in(request), house_of(request)
    staff.require("officer", None)
    fields = await read_fields(request)
    wanted = fields.text("do")
    chosen = list(dict.fromkeys(clean(one) for one in fields.all("report")))[:_MOST_AT_ONCE] if wanted in ("real", "none") else []
    for reference in chosen:
        try:
            async with transaction(house, staff.email) as tx:  # each by itself: one that cannot be judged holds up no other
                spill = await tx.spill(reference)
                await (call_real(tx, spill) if wanted == "real" else set_aside(tx, spill, staff.office(spill.city)))
        except (Conflict, NotKnown):
            continue
    return RedirectResponse(f"/staff/held?done={wanted}" if chosen else "/staff/held", 303)
