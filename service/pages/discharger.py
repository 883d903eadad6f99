"""The discharger's private page: every duty with its clock and what to do about it, a call sheet for each call, and a form to log it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.errors import BadInput, NotKnown
from service.pages.call_sheet import call_sheet, in_english
from service.pages.duties import duties_of, record_done
from service.pages.fields import Fields, read_fields
from service.pages.known_answers import Known
from service.pages.rendering import house_of, page, spoken, zone_of
from service.pages.reporter_news import understood
from service.pages.respondents import DischargerRoute, opened, own_duty, writing
from service.pages.speech import ENGLISH, Speech, marked

router = APIRouter(include_in_schema=False, route_class=DischargerRoute)

_FAULT_WORDS: Sequence[tuple[str, str]] = (
    (r"^at:.*future", marked("The time lies in the future. Give the time it happened, or leave the field empty for now.")),
    (r"^at:.*before the spill", marked("The time lies more than a day before the spill was known. Check the date.")),
    (r"^at:", marked("The time could not be read. Give a date and a time of day, or leave the field empty for now.")),
    (r"", marked("This could not be recorded. Check what you entered, or call the city.")),
)


@dataclass(frozen=True)
class Failed:
    """A form that could not be taken: of which clock, what was typed, and what is wrong with it."""

    duty: int
    fields: Fields
    faults: Sequence[str]


@router.get("/respond/{token}")
async def respond(request: Request, token: str) -> Response:
    """The duties of whoever answers for the spill."""
    return await _duties_page(request, token)


async def _duties_page(request: Request, token: str, failed: Failed | None = None) -> Response:
    house, speech = house_of(request), spoken(request)
    async with opened(request, token) as (tx, respondent):
        spill = respondent.spill
        duties = await duties_of(tx, spill, "discharger")
    zone = zone_of(house, spill.city)
    groups = {
        "open": [duty for duty in duties if duty.is_open],
        "waiting": [duty for duty in duties if duty.state == "waiting"],
        "done": [duty for duty in duties if duty.state in ("met", "met_late")],
        "closed": [duty for duty in duties if duty.state in ("withdrawn", "waived")],
    }
    return page(
        request, "respond.html", 422 if failed else 200, spill=spill, token=token, zone=zone, groups=groups, failed=failed,
        person=respondent.link, done=request.query_params.get("done", ""), understood=understood(speech, house, spill, zone),
    )  # fmt: skip


@router.post("/respond/{token}/duties/{duty_id}")
async def act(request: Request, token: str, duty_id: int) -> Response:
    """The discharger says that a call was made or an act was done."""
    fields = await read_fields(request)
    try:
        async with writing(request, token) as (tx, spill):
            await record_done(tx, spill, await own_duty(tx, spill, duty_id), fields)
    except BadInput as error:
        failed = Failed(duty_id, fields, plain_faults(spoken(request), error))
        if fields.text("from") == "call":
            return await _call_page(request, token, duty_id, failed)
        return await _duties_page(request, token, failed)
    return RedirectResponse(f"/respond/{token}?done=act#duty-{duty_id}", 303)


@router.get("/respond/{token}/duties/{duty_id}/call")
async def call_page(request: Request, token: str, duty_id: int) -> Response:
    """The call sheet of a telephone duty, to be read from or printed, with the form that logs the call."""
    return await _call_page(request, token, duty_id)


async def _call_page(request: Request, token: str, duty_id: int, failed: Failed | None = None) -> Response:
    house, speech = house_of(request), spoken(request)
    async with opened(request, token) as (tx, respondent):
        spill = respondent.spill
        duty = await own_duty(tx, spill, duty_id)
        history = await tx.history(spill)
    if not duty.is_call:
        raise NotKnown("this duty is not done by a call")
    known = Known(speech, house, spill, history, respondent)
    english = call_sheet(Known(ENGLISH, house, spill, history, respondent), duty) if in_english(speech) else None
    return page(
        request, "respond_call.html", 422 if failed else 200, spill=spill, token=token, duty=duty, zone=duty.zone, failed=failed,
        sheet=call_sheet(known, duty), english=english,
    )  # fmt: skip


def plain_faults(speech: Speech, error: BadInput) -> list[str]:
    """What is wrong with a form, in plain words."""
    said = [next(text for pattern, text in _FAULT_WORDS if re.search(pattern, fault)) for fault in error.faults or [str(error)]]
    return [speech.say(text) for text in dict.fromkeys(said)]
