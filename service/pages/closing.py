"""The end of a spill, for staff: what the reporter added and asks, the answer to that, closing with a reason, and opening again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.access import Staff, spill_for
from service.closing import History, close, closed_in, duties_in_the_way, reopen
from service.errors import BadInput, Conflict
from service.events import ReporterAdded
from service.following import answer, reporter_of, waits_for_answer
from service.masking import masking, of_words
from service.pages.entrance import StaffRoute, signed_in, working_on
from service.pages.fields import Fields, read_fields
from service.pages.personal_words import personal_in
from service.pages.rendering import house_of, staff_page, zone_of
from service.tables import Obligation, Spill
from service.transaction import Transaction, reading

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)
# Whoever leaves open duties behind decides what else only a manager waives.
ROLE_TO_CLOSE, ROLE_TO_LEAVE_OPEN = "officer", "manager"


@dataclass(frozen=True)
class ClosingShown:
    """What the page of a spill shows of its reporter and its end.

    `closed`: when, by whom and in which words, None while it is open; `in_the_way`: duties still to be done; `hears`: how the reporter is
    told, empty where they cannot be; `language`: the one they read.
    """

    closed: tuple[datetime, str, str] | None
    in_the_way: Sequence[Obligation]
    added: Sequence[tuple[datetime, str]]
    asked: bool
    hears: str
    language: str


async def closing_shown(tx: Transaction, spill: Spill, history: History) -> ClosingShown:
    """How a spill stands with its reporter and its end."""
    standing = closed_in(history)
    closed = (standing[0].recorded_at, standing[0].actor, standing[1].words["en"]) if standing else None
    channels = reporter_of(tx, spill).addresses
    hears = next((name for channel, name in (("email", "e-mail"), ("sms", "text message")) if channel in channels), "")
    added = [(row.recorded_at, event.text) for row, event in history if isinstance(event, ReporterAdded) and event.text]
    return ClosingShown(closed, await duties_in_the_way(tx, spill), added, waits_for_answer(history), hears, spill.language)


@router.get("/{reference}/close")
async def close_page(request: Request, reference: str) -> Response:
    """The form that closes a spill, or opens it again."""
    return await _close_page(request, await signed_in(request), reference)


async def _close_page(
    request: Request,
    staff: Staff,
    reference: str,
    typed: Fields | None = None,
    error: BadInput | Conflict | None = None,
    personal: Sequence[str] = (),
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        shown = await closing_shown(tx, spill, await tx.history(spill))
    staff.require(ROLE_TO_CLOSE, spill.city)
    return staff_page(
        request, "close.html", error.status if error else 422 if personal else 200, staff=staff, spill=spill, closing=shown,
        zone=zone_of(house, spill.city), personal=personal, masked=masking(of_words(personal)), typed=typed or Fields(),
        faults=(error.faults or [str(error)]) if error else (), may={"officer": True},
        may_leave_open=staff.may(ROLE_TO_LEAVE_OPEN, spill.city),
    )  # fmt: skip


async def _unseen(request: Request, staff: Staff, reference: str, fields: Fields) -> Response | None:
    """The form again where its words look as if they told of a person, and nobody has said what to do; None where all is well."""
    if fields.text("personal_seen") == "yes" or fields.text("do") == "mask":
        return None
    async with reading(house_of(request)) as tx:
        personal = await personal_in(tx, await spill_for(tx, staff, reference), _words(fields).values())
    return await _close_page(request, staff, reference, fields, personal=personal) if personal else None


def _words(fields: Fields) -> dict[str, str]:
    """The words by language; with what was shown to tell of people masked, where that was asked for."""
    mask = masking(of_words(fields.all("mask")) if fields.text("do") == "mask" else ())
    return {"en": mask(fields.text("reason")), "es": mask(fields.text("reason_es"))}


@router.post("/{reference}/close")
async def close_spill(request: Request, reference: str) -> Response:
    """Close a spill with the reason; open duties must each be confirmed."""
    staff, fields = await signed_in(request), await read_fields(request)
    if (personal := await _unseen(request, staff, reference, fields)) is not None:
        return personal
    left_open = {int(number) for number in fields.all("left_open") if number.isdecimal()}
    try:
        async with working_on(request, staff, reference, ROLE_TO_CLOSE) as (tx, spill):
            if left_open:
                staff.require(ROLE_TO_LEAVE_OPEN, spill.city)
            await close(tx, spill, _words(fields), staff.office(spill.city), left_open)
    except (BadInput, Conflict) as error:
        return await _close_page(request, staff, reference, fields, error)
    return RedirectResponse(f"/staff/spills/{reference}?done=closed", 303)


@router.post("/{reference}/reopen")
async def reopen_spill(request: Request, reference: str) -> Response:
    """Open a closed spill again with the reason."""
    staff, fields = await signed_in(request), await read_fields(request)
    if (personal := await _unseen(request, staff, reference, fields)) is not None:
        return personal
    try:
        async with working_on(request, staff, reference, ROLE_TO_CLOSE) as (tx, spill):
            await reopen(tx, spill, _words(fields), staff.office(spill.city))
    except (BadInput, Conflict) as error:
        return await _close_page(request, staff, reference, fields, error)
    return RedirectResponse(f"/staff/spills/{reference}?done=reopened", 303)


@router.post("/{reference}/answer")
async def answer_reporter(request: Request, reference: str) -> Response:
    """Tell the reporter what action was taken."""
    staff, fields = await signed_in(request), await read_fields(request)
    if (personal := await _unseen(request, staff, reference, fields)) is not None:
        return personal
    try:
        async with working_on(request, staff, reference, ROLE_TO_CLOSE) as (tx, spill):
            await answer(tx, spill, _words(fields), staff.office(spill.city))
    except BadInput as error:
        return await _close_page(request, staff, reference, fields, error)
    return RedirectResponse(f"/staff/spills/{reference}?done=answered", 303)
