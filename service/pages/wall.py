"""The board on a wall: large, dark, and by itself. It asks nothing of anybody, and stops when the session it was opened in ends."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request
from fastapi.responses import Response

from service.board import conditions, count, found
from service.pages import board_query
from service.pages.board_rows import row_of
from service.pages.entrance import StaffRoute, watching
from service.pages.rendering import house_of, staff_page, zone_of
from service.transaction import reading

router = APIRouter(prefix="/staff", include_in_schema=False, route_class=StaffRoute)
# As many as can be read from across a room.
MOST_LINES = 12
REFRESH_SECONDS = 60


@router.get("/wall")
async def wall_page(request: Request) -> Response:
    """The nearest due of what is asked for, and how much there is in all."""
    staff = await watching(request)
    house = house_of(request)
    asked = board_query.read(house, staff, request.query_params)
    async with reading(house) as tx:
        narrowed = conditions(tx, staff, asked.wanted)
        part = await found(tx, narrowed, MOST_LINES)
        counts = {
            name: await count(tx, conditions(tx, staff, replace(asked.wanted, state=name)))
            for name in ("overdue", "open", "alarm", "unassigned")
        }
        now = tx.now
    zone = zone_of(house, asked.wanted.city or (staff.cities[0] if staff.cities else None))
    return staff_page(
        request, "wall.html", staff=staff, asked=asked, rows=[row_of(house, line, now) for line in part.lines], counts=counts, zone=zone,
        refresh=REFRESH_SECONDS,
    )  # fmt: skip
