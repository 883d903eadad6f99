"""The address at which calendar programs read due times."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from service import due_calendars
from service.transaction import House, reading
from service.unchanged import answer

router = APIRouter(prefix="/calendar", tags=["feeds"])
# Calendar programs come by themselves, the quick ones every few minutes; the copy is its owner's alone.
_PRIVATE = {"Cache-Control": "private, max-age=300", "X-Robots-Tag": "noindex"}


@router.get(
    "/{token}.ics", response_class=Response,
    responses={200: {"content": {"text/calendar": {}}}, 304: {"description": "Unchanged."}, 404: {"description": "No such calendar."}},
)  # fmt: skip
async def calendar(
    request: Request, token: str, kind: Annotated[Literal["events", "tasks"], Query(description="VEVENT or VTODO.")] = "events"
) -> Response:
    """Due times of a city, a role or one's own spills (RFC 5545), for whoever has the address. Staff make one under *Account*."""
    house: House = request.app.state.house
    async with reading(house) as tx:
        link, staff = await due_calendars.of_secret(tx, token)
        found = await due_calendars.due_of(tx, link, staff)
    content = due_calendars.written(house, link, found, as_tasks=kind == "tasks")
    return answer(request, content, due_calendars.MEDIA_TYPE, changed_at=None, now=house.now(), headers=_PRIVATE)
