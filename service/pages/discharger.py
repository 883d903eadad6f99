"""The discharger's private page: every duty with its clock, a form to log each call, and a form for each written report."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.errors import BadInput, NotKnown
from service.events import FollowUpFiled, SpillEvent
from service.followups import file_report, save_draft
from service.obligations import obligation_and_spill
from service.pages.duties import Duty, duties_of, duty_of, record_done
from service.pages.fields import Fields, read_fields
from service.pages.rendering import house_of, page, spoken, zone_of
from service.pages.reporter_news import understood
from service.pages.speech import Speech, marked
from service.parties import spill_of_token
from service.tables import EventRow, Spill
from service.transaction import Transaction, reading, transaction

router = APIRouter(include_in_schema=False)

_FAULT_WORDS: Sequence[tuple[str, str]] = (
    (r"^by:", marked("Write the name and title of the person who answers for this report.")),
    (r"^at:.*future", marked("The time lies in the future. Give the time it happened, or leave the field empty for now.")),
    (r"^at:", marked("The time could not be read. Give a date and a time of day, or leave the field empty for now.")),
    (r"", marked("This could not be recorded. Check what you entered, or call the city.")),
)


@dataclass(frozen=True)
class Failed:
    """A form that could not be taken: of which clock, what was typed, and what is wrong with it."""

    duty: int
    fields: Fields
    faults: Sequence[str]


@dataclass(frozen=True)
class Stamp:
    """What filing a report came to."""

    version: int
    by: str
    says: str
    on_time: bool
    missing: Sequence[str]
    content: dict[str, str]


@router.get("/respond/{token}")
async def respond(request: Request, token: str) -> Response:
    """The duties of whoever answers for the spill."""
    return await _duties_page(request, token)


async def _duties_page(request: Request, token: str, failed: Failed | None = None) -> Response:
    house, speech = house_of(request), spoken(request)
    async with reading(house) as tx:
        spill = await spill_of_token(tx, "respond", token)
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
        done=request.query_params.get("done", ""), understood=understood(speech, house, spill, zone),
    )  # fmt: skip


@router.post("/respond/{token}/duties/{duty_id}")
async def act(request: Request, token: str, duty_id: int) -> Response:
    """The discharger says that a call was made or an act was done."""
    fields = await read_fields(request)
    try:
        async with _writing(request, token) as (tx, spill):
            await record_done(tx, spill, await _own_duty(tx, spill, duty_id), fields)
    except BadInput as error:
        return await _duties_page(request, token, Failed(duty_id, fields, plain_faults(spoken(request), error)))
    return RedirectResponse(f"/respond/{token}?done=act#duty-{duty_id}", 303)


@router.get("/respond/{token}/duties/{duty_id}/report")
async def report_page(request: Request, token: str, duty_id: int) -> Response:
    """The written report of one duty: the form, what was filed, and how that stands."""
    return await _report_page(request, token, duty_id)


async def _report_page(request: Request, token: str, duty_id: int, typed: Fields | None = None, faults: Sequence[str] = ()) -> Response:
    house, speech = house_of(request), spoken(request)
    async with reading(house) as tx:
        spill = await spill_of_token(tx, "respond", token)
        duty = await _own_duty(tx, spill, duty_id)
        stamps = stamps_of(speech, duty, await tx.history(spill))
    if not duty.wants_report:
        raise NotKnown("this duty is not done by a report")
    return page(
        request, "respond_report.html", 422 if faults else 200, spill=spill, token=token, duty=duty, zone=duty.zone, stamps=stamps,
        typed=typed, faults=faults, done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/respond/{token}/duties/{duty_id}/report")
async def write_report(request: Request, token: str, duty_id: int) -> Response:
    """Keep the report as a draft, or file it: stamped, and on record for good."""
    fields = await read_fields(request)
    files = fields.text("do") == "file"
    try:
        async with _writing(request, token) as (tx, spill):
            duty = await _own_duty(tx, spill, duty_id)
            content = {item: fields.text(f"item.{item}") for item in duty.items}
            if files:
                await file_report(tx, spill, duty.row, content, fields.text("by"))
            else:
                await save_draft(tx, spill, duty.row, content, fields.text("by"))
    except BadInput as error:
        return await _report_page(request, token, duty_id, fields, plain_faults(spoken(request), error))
    return RedirectResponse(f"/respond/{token}/duties/{duty_id}/report?done={'filed' if files else 'draft'}", 303)


@asynccontextmanager
async def _writing(request: Request, token: str) -> AsyncIterator[tuple[Transaction, Spill]]:
    """A transaction in the discharger's name, with the spill their link leads to."""
    house = house_of(request)
    async with reading(house) as tx:
        reference = (await spill_of_token(tx, "respond", token)).reference
    async with transaction(house, f"discharger of {reference}") as tx:
        yield tx, await tx.spill(reference)


async def _own_duty(tx: Transaction, spill: Spill, duty_id: int) -> Duty:
    """A clock of this spill that the discharger owes. Raises NotKnown for any other."""
    row, its_spill = await obligation_and_spill(tx, duty_id)
    if its_spill.id != spill.id or row.clock["owed_by"] != "discharger":
        raise NotKnown("there is no such duty here")
    return await duty_of(tx, spill, row)


def stamps_of(speech: Speech, duty: Duty, history: Sequence[tuple[EventRow, SpillEvent]]) -> list[Stamp]:
    """What each filed version of a report came to, newest first: when, on time or late by how much, and what it lacks."""
    found = []
    for row, event in history:
        if isinstance(event, FollowUpFiled) and event.obligation == duty.id:
            when = speech.stamp(row.recorded_at, duty.zone)
            if event.on_time:
                says = speech.say("Filed %(when)s, on time", when=when)
            else:
                says = speech.say("Filed %(when)s, late by %(span)s", when=when, span=speech.span(timedelta(seconds=event.late_by_s or 0)))
            found.append(Stamp(event.version, event.by, says, event.on_time, event.missing, event.content))
    return found[::-1]


def plain_faults(speech: Speech, error: BadInput) -> list[str]:
    """What is wrong with a form, in plain words."""
    said = [next(text for pattern, text in _FAULT_WORDS if re.search(pattern, fault)) for fault in error.faults or [str(error)]]
    return [speech.say(text) for text in dict.fromkeys(said)]
