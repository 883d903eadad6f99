"""One spill for the people who work on it: its clocks, facts, open questions, story and messages, and a form for everything they do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deadlines import as_z
from deadlines.facts import CHOICES, EVENT_KEYS, FLAGS
from deadlines.quantities import GALLONS
from service import obligations, replies
from service.access import ROLES, Staff, spill_for
from service.causes import CAUSES, causes_in
from service.errors import BadInput, Conflict, NotKnown
from service.events import ObligationAcknowledged, SpillEvent
from service.fact_sources import SOURCES, STAFF
from service.grouping import counted
from service.pages.amendments import changes_from, fact_lines, instant_of, typed_facts
from service.pages.closing import closing_shown
from service.pages.deliveries import deliveries_of, tally
from service.pages.discharger_links import links_shown
from service.pages.duties import Duty, duties_of, duty_of, record_done
from service.pages.entrance import StaffRoute, signed_in, working_on
from service.pages.event_fields import inputs_of
from service.pages.fields import Fields, read_fields
from service.pages.involved import involved_in
from service.pages.open_questions import open_questions
from service.pages.photos import files_of
from service.pages.place import place_shown
from service.pages.planned import ladders_of, planned_tellings
from service.pages.quantity_rows import UNIT_LABELS, checked_rows, padded, rows_of, typed_rows
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.pages.reporter_news import words_of_reporter
from service.pages.speech import ENGLISH, local_input
from service.pages.story import story
from service.pages.whole_shown import whole_shown
from service.pages.without_reporter import shown_to
from service.pages.written_report import stamps_of
from service.recorded_substances import finding_of
from service.redaction import redactions_in
from service.spills import amend_facts, name_discharger, record_act
from service.switches import over, switched_off
from service.tables import EventRow, Spill
from service.transaction import House, Transaction, reading

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)


@router.get("/{reference}")
async def spill_page(request: Request, reference: str) -> Response:
    """The page of one spill."""
    return await spill_page_with(request, await signed_in(request), reference)


async def spill_page_with(request: Request, staff: Staff, reference: str, faults: Sequence[str] = (), status: int = 200) -> Response:
    """The page of a spill, saying what was wrong with a form on it where something was."""
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        everything = await tx.history(spill)
        shown = await shown_to(tx, staff, spill, everything)
        history = shown.history
        duties = await duties_of(tx, spill)
        messages = shown.messages(await deliveries_of(tx, spill, everything))
        answers = shown.replies(await replies.of_spill(tx, spill))
        inquired = await obligations.open_questions(tx, spill)
        closing = await closing_shown(tx, spill, history)
        links = await links_shown(tx, spill)
        photos, papers = map(shown.files, await files_of(tx, spill))
        counts = (await counted(tx, spill)).facts
        whole = await whole_shown(tx, spill, history)
        planned = await planned_tellings(tx, spill, duties)
        people = await involved_in(tx, spill, staff)
        ladders = await ladders_of(tx, spill, duties)
        off = await switched_off(tx, spill.city)
        spill = shown.spill
    zone = zone_of(house, spill.city)
    return staff_page(
        request, "spill.html", status, staff=staff, spill=spill, zone=zone, faults=faults, may=_may(staff, spill), groups=_groups(duties),
        ladders=ladders, switched_off={duty.id: entry for duty in duties if duty.is_open and (entry := over(off, duty.clock["duty"]))},
        planned=planned, seen=_seen(history), messages=messages, facts=fact_lines(house, spill, history, counts),
        stamps={duty.id: stamps_of(ENGLISH, duty, history) for duty in duties if duty.filed},
        questions=open_questions(house, spill, inquired, duties), days=story(house, spill, zone, history), tally=tally(messages),
        cities=_cities(house, spill), people=people, links=links, whole=whole, sources=[(key, says) for key, (says, _) in SOURCES.items()],
        event_types=list(EVENT_KEYS), said=words_of_reporter(history), done=request.query_params.get("done", ""), units=list(GALLONS),
        rq=finding_of(house.rulebook.quantities, spill.facts), amount=typed_facts(spill, zone),
        place=place_shown(house, spill), causes=causes_in(history), cause_words=CAUSES,
        closing=closing, replies=answers, typed=None, asked=None, answers=(), photos=photos, papers=papers,
        masked=redactions_in(history),
    )  # fmt: skip


def _may(staff: Staff, spill: Spill) -> dict[str, bool]:
    """What this person may do here, by role."""
    return {role: staff.may(role, spill.city) for role in ROLES}


def _groups(duties: Sequence[Duty]) -> dict[str, list[Duty]]:
    return {
        "open": [duty for duty in duties if duty.is_open],
        "waiting": [duty for duty in duties if duty.state == "waiting"],
        "done": [duty for duty in duties if duty.state in ("met", "met_late")],
        "closed": [duty for duty in duties if duty.state in ("withdrawn", "waived")],
    }


def _seen(history: Sequence[tuple[EventRow, SpillEvent]]) -> dict[int, tuple[str, datetime]]:
    """Who saw the alert about a clock last, and when."""
    return {event.obligation: (event.person, row.recorded_at) for row, event in history if isinstance(event, ObligationAcknowledged)}


def _cities(house: House, spill: Spill) -> dict[str, str]:
    """The cities to choose from: those served, and the spill's own where it is none of them."""
    return {city: city_name(house, city) for city in (*house.cities, *([spill.city] if spill.city else []))}


async def refused(request: Request, reference: str, error: BadInput | Conflict) -> Response:
    """The page of the spill again, saying what was wrong with a form on it."""
    return await spill_page_with(request, await signed_in(request), reference, error.faults or [str(error)], error.status)


def _back(reference: str, done: str, place: str = "") -> Response:
    return RedirectResponse(f"/staff/spills/{reference}?done={done}{place}", 303)


async def _clock(tx: Transaction, spill: Spill, clock_id: int) -> Duty:
    row, its_spill = await obligations.obligation_and_spill(tx, clock_id)
    if its_spill.id != spill.id:
        raise NotKnown(f"there is no clock {clock_id}")
    return await duty_of(tx, spill, row)


@router.post("/{reference}/clocks/{clock_id}/done")
async def clock_done(request: Request, reference: str, clock_id: int) -> Response:
    """Log a call, or say that what a clock asks was done."""
    fields = await read_fields(request)
    try:
        async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
            await record_done(tx, spill, await _clock(tx, spill, clock_id), fields)
    except BadInput as error:
        return await refused(request, reference, error)
    return _back(reference, "act", f"#clock-{clock_id}")


@router.post("/{reference}/clocks/{clock_id}/acknowledge")
async def acknowledge(request: Request, reference: str, clock_id: int) -> Response:
    """Say "I have seen it"."""
    async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
        await obligations.acknowledge(tx, (await _clock(tx, spill, clock_id)).row, spill, tx.actor)
    return _back(reference, "acknowledged", f"#clock-{clock_id}")


@router.post("/{reference}/clocks/{clock_id}/waive")
async def waive(request: Request, reference: str, clock_id: int) -> Response:
    """Decide that a duty need not be done, with the reason."""
    fields = await read_fields(request)
    try:
        async with working_on(request, await signed_in(request), reference, "manager") as (tx, spill):
            await obligations.waive(tx, (await _clock(tx, spill, clock_id)).row, spill, fields.text("reason"))
    except BadInput as error:
        return await refused(request, reference, error)
    return _back(reference, "waived", f"#clock-{clock_id}")


@router.post("/{reference}/discharger")
async def discharger(request: Request, reference: str) -> Response:
    """Name who is responsible."""
    fields = await read_fields(request)
    try:
        async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
            await name_discharger(tx, spill, fields.text("name"), fields.text("email"), fields.text("phone"))
    except BadInput as error:
        return await refused(request, reference, error)
    return _back(reference, "discharger", "#people")


@router.get("/{reference}/amend")
async def amend_page(request: Request, reference: str) -> Response:
    """The form that amends facts."""
    return await _amend_page(request, await signed_in(request), reference)


async def _amend_page(request: Request, staff: Staff, reference: str, typed: Fields | None = None, faults: Sequence[str] = ()) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
    staff.require("officer", spill.city)
    zone = zone_of(house, spill.city)
    shown = typed_facts(spill, zone)
    was = {key: typed.text(f"was.{key}", text) for key, text in shown.items()} if typed else shown
    values = {key: typed.text(key, text) for key, text in shown.items()} if typed else shown
    # A small form of another page that comes back with a fault holds neither places nor substances.
    reached = typed.all("reached") if typed and "was.reached" in typed else shown["reached"].split()
    rows = typed_rows(typed) if typed and "was.substances" in typed else rows_of(spill.facts.get("substances"))
    answer = None
    if typed and not faults:  # the check
        try:
            answer = checked_rows(rows, house.rulebook.quantities)
        except BadInput as error:
            faults = error.faults
    return staff_page(
        request, "amend.html", 422 if faults else 200, staff=staff, spill=spill, zone=zone, was=was, values=values, reached=reached,
        reason=typed.text("reason") if typed else "", source=typed.text("source", STAFF) if typed else STAFF,
        sources=[(key, says) for key, (says, _) in SOURCES.items()], faults=faults, choices=CHOICES, flag_facts=FLAGS, units=list(GALLONS),
        cities=_cities(house, spill), rows=padded(rows), row_units=UNIT_LABELS, answer=answer,
    )  # fmt: skip


@router.post("/{reference}/amend")
async def amend(request: Request, reference: str) -> Response:
    """Amend what was changed in the form; everything that follows happens at once. A check of its substances changes nothing."""
    fields = await read_fields(request)
    if fields.text("do") == "check":
        return await _amend_page(request, await signed_in(request), reference, fields)
    changes: dict[str, Any] = {}
    try:
        async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
            changes = changes_from(tx.house, spill, fields, zone_of(tx.house, spill.city))
            if changes:
                await amend_facts(tx, spill, changes, fields.text("reason"), fields.text("source", STAFF))
    except BadInput as error:
        return await _amend_page(request, await signed_in(request), reference, fields, error.faults or [str(error)])
    return _back(reference, "amended" if changes else "unchanged")


@router.get("/{reference}/event")
async def event_page(request: Request, reference: str) -> Response:
    """The form for one type of event, with the fields this type has."""
    staff, kind = await signed_in(request), request.query_params.get("type", "")
    if kind not in EVENT_KEYS:
        return RedirectResponse(f"/staff/spills/{reference}#record", 303)
    return await _event_page(request, staff, reference, Fields({"type": [kind]}))


async def _event_page(request: Request, staff: Staff, reference: str, typed: Fields, faults: Sequence[str] = ()) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        now = tx.now
    staff.require("officer", spill.city)
    zone = zone_of(house, spill.city)
    recipients = house.rulebook.law_of(spill.city).recipients if spill.city else house.rulebook.recipients
    names = sorted(((key, recipient.name) for key, recipient in recipients.items()), key=lambda pair: pair[1])
    kind = typed.text("type")
    return staff_page(
        request, "event.html", 422 if faults else 200, staff=staff, spill=spill, zone=zone, kind=kind, inputs=inputs_of(kind), typed=typed,
        recipients=names, faults=faults, latest=local_input(now, zone),
    )  # fmt: skip


def _said(typed: str, form: str, zone: ZoneInfo) -> Any:
    match form:
        case "truth":
            return typed == "yes"
        case "moment":
            return instant_of(typed, zone)
        case _:
            return typed


@router.post("/{reference}/events")
async def record(request: Request, reference: str) -> Response:
    """Record an event of any type."""
    fields = await read_fields(request)
    kind = fields.text("type")
    try:
        async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
            act: dict[str, Any] = {"type": kind, "at": fields.text("at") or as_z(tx.now)}
            for key, form, _ in inputs_of(kind):
                if fields.text(key):
                    act[key] = _said(fields.text(key), form, zone_of(tx.house, spill.city))
            await record_act(tx, spill, act, fields.text("note")[:2000])
    except BadInput as error:
        if kind not in EVENT_KEYS:
            return await refused(request, reference, error)
        return await _event_page(request, await signed_in(request), reference, fields, error.faults or [str(error)])
    return _back(reference, "act")
