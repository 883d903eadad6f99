"""The board: the spills a member of staff may see, the one with the nearest due time first; what needs a person on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import or_
from sqlmodel import col

from service import saved_views
from service.access import Staff
from service.board import UNKNOWN, Stretch, Wanted, conditions, count, found, in_charge, is_alarm
from service.board_tables import BoardLine
from service.errors import BadInput
from service.held_reports import how_many
from service.office_days import cities_in_use
from service.pages import board_query
from service.pages.board_rows import row_of
from service.pages.calendars import ending
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import read_fields
from service.pages.rendering import city_name, house_of, staff_page
from service.pages.words import MATERIALS
from service.replies import unsettled
from service.suppressions import unreachable
from service.transaction import House, Transaction, reading, transaction

router = APIRouter(prefix="/staff", include_in_schema=False, route_class=StaffRoute)
_PAGE = 50
# Of what needs a person first: the rest is behind a link.
_MOST_ON_TOP = 20


@router.get("")
async def board_page(request: Request) -> Response:
    """The list, filtered as the address says."""
    return await _page(request, await signed_in(request), request.query_params)


async def _page(request: Request, staff: Staff, given: Mapping[str, str], faults: Sequence[str] = (), name: str = "") -> Response:
    """The board as asked for; with the faults of a view that could not be kept, and the name it was given."""
    house = house_of(request)
    asked = board_query.read(house, staff, given)
    async with reading(house) as tx:
        top = await _on_top(tx, staff, asked)
        part = await _part(tx, staff, asked, apart=asked.is_everything)
        counts = await _counts(tx, staff)
        officers = await in_charge(tx, staff)
        notes = await _notes(tx, staff)
        views = await saved_views.views_of(tx, staff)
    now = tx.now
    return staff_page(
        request, "board.html", 422 if faults else 200, staff=staff, asked=asked, fields=asked.fields, counts=counts, officers=officers,
        notes=notes, views=views, faults=faults, name=name, done=given.get("done", ""), choices=choices(house, staff),
        shared_with=[city for city in house.cities if staff.may("officer", city)], rows=[row_of(house, line, now) for line in part.lines],
        top={name: ([row_of(house, line, now) for line in lines], number) for name, (lines, number) in top.items()},
        earlier=asked.at("/staff", before=part.earlier) if part.earlier else "",
        later=asked.at("/staff", after=part.later) if part.later else "",
    )  # fmt: skip


async def _part(tx: Transaction, staff: Staff, asked: board_query.Asked, *, apart: bool) -> Stretch:
    """The part of the list that is asked for. `apart`: without what stands above it on its own."""
    narrowed = conditions(tx, staff, asked.wanted)
    if apart:
        narrowed += [col(BoardLine.city).is_not(None), or_(col(BoardLine.alarms) == 0, ~is_alarm())]
    return await found(tx, narrowed, _PAGE, after=asked.places["after"], before=asked.places["before"])


async def _on_top(tx: Transaction, staff: Staff, asked: board_query.Asked) -> dict[str, tuple[list[BoardLine], int]]:
    """What needs a person first, by its state: the lines, and how many there are. Nothing but at the beginning of the whole board."""
    top: dict[str, tuple[list[BoardLine], int]] = {"unassigned": ([], 0), "alarm": ([], 0)}
    for state in top if asked.is_everything and not any(asked.places.values()) else ():
        narrowed = conditions(tx, staff, Wanted(("open",), state=state))
        if state == "alarm":
            narrowed.append(col(BoardLine.city).is_not(None))
        part = await found(tx, narrowed, _MOST_ON_TOP)
        number = await count(tx, narrowed) if part.later else len(part.lines)
        top[state] = (list(part.lines), number)
    return top


async def _counts(tx: Transaction, staff: Staff) -> dict[str, int]:
    """How many spills are open, and how many of them overdue."""
    return {
        name: await count(tx, conditions(tx, staff, Wanted(("open",), state=state)))
        for name, state in (("open", None), ("overdue", "overdue"))
    }


async def _notes(tx: Transaction, staff: Staff) -> dict[str, Any]:
    """What staff should know beside the list: calendars that end, people who cannot be told, what waits to be read or judged."""
    house = tx.house
    served = [each for each in await cities_in_use(tx) if staff.may_see(each)]
    barred = await unreachable(tx, [each for each in house.cities if staff.may_see(each)])
    return {
        "calendars": ending(house, served, tx.now), "unreachable": [one.says for one in barred],
        "waiting": len(await unsettled(tx, staff)), "held": await how_many(tx),
    }  # fmt: skip


def choices(house: House, staff: Staff) -> dict[str, dict[str, str]]:
    """The choices of the form, by its fields, each by what stands in the address."""
    return {
        "city": {each: city_name(house, each) for each in house.cities if staff.may_see(each)},
        "state": dict(board_query.STATE_WORDS),
        "due": {key: words for key, (words, _) in board_query.DUE_WITHIN.items()},
        "material": {**MATERIALS, UNKNOWN: "Unknown"},
        "show": {key: words for key, (words, _) in board_query.SHOWN.items() if key},
    }


@router.post("/views")
async def keep_view(request: Request) -> Response:
    """Keep the filters of the page under a name, for oneself or shared with a city."""
    staff = await signed_in(request)
    fields = await read_fields(request)
    given = dict(parse_qsl(fields.text("query")[:2_000]))
    asked = board_query.read(house_of(request), staff, given)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await saved_views.keep(tx, staff, fields.text("name"), asked.query, fields.text("shared") or None)
    except BadInput as error:
        return await _page(request, staff, given, error.faults, fields.text("name"))
    return RedirectResponse(asked.at("/staff", done="kept"), 303)


@router.post("/views/{number}/remove")
async def remove_view(request: Request, number: int) -> Response:
    """Remove a view."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await saved_views.remove(tx, staff, number)
    return RedirectResponse("/staff?done=removed", 303)
