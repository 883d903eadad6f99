"""Reports in, spills out: intake, the list, one spill, amendments, events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, JsonValue

from deadlines import as_z
from service import board, obligations, spills, turnstile
from service.access import spill_for, staff_now
from service.api.callers import bearer, caller_about, house_of, json_object, known_caller, read_body, signed_in
from service.api.whole_spills import sources_json, whole_json
from service.errors import BadInput, NotAllowed
from service.events import SpillEvent
from service.fact_sources import STAFF
from service.grouping import members_of
from service.intake import Arrival, take_in
from service.locating import location_json
from service.parties import respond_url
from service.recorded_substances import recorded_json
from service.relocation import Move, move_pin
from service.tables import EventRow, Spill
from service.transaction import House, Transaction, reading, transaction
from service.withholding import events_without, spill_without, withheld_from

router = APIRouter(tags=["spills"])

# What the discharger does. Orders, hearings and decisions are the city's acts.
_DISCHARGERS_ACTS = (
    "notice_given", "report_submitted", "cleanup_done", "repaired", "sampling_done", "responded", "paid", "filed", "order_complied",
    "appeal_filed", "petition_filed", "record_made",
)  # fmt: skip

_REPORT_SCHEMA: dict[str, Any] = {
    "security": [{}],  # a key, or none
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "description": "Kept however odd it is; what cannot be used is flagged in `warnings`. Staff may add any fact.",
                    "properties": {
                        "description": {"type": "string"},
                        "location": {
                            "type": "object",
                            "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}, "address": {"type": "string"}},
                        },
                        "seen_at": {"type": "string", "format": "date-time"},
                        "material": {"type": "string"},
                        "volume": {"type": "object", "example": {"quantity": 1500, "unit": "gal"}},
                        "reached": {"type": "array", "items": {"type": "string"}},
                        "contact": {
                            "type": "object",
                            "example": {"name": "A. Neighbour", "phone": "+19095550110", "privacy": "confidential"},
                        },
                        "language": {"type": "string", "enum": ["en", "es"]},
                    },
                }
            }
        },
    },
}


class Received(BaseModel):
    """The answer to a report."""

    reference: str
    status_url: str
    jurisdiction: str | None
    warnings: list[str]


class Amendment(BaseModel):
    """Amended facts: keys of the fact object with their new values, null for unknown, and the reason.

    `source` says by whom they are known: staff, laboratory, discharger, caller or computed.
    """

    model_config = ConfigDict(extra="allow")
    reason: str = ""
    source: str = STAFF
    facts: dict[str, JsonValue] | None = None

    def changes(self) -> dict[str, Any]:
        """The facts to amend, given under `facts` or beside the reason."""
        return {**(self.facts or {}), **(self.model_extra or {})}


class NewPlace(BaseModel):
    """A new place: a point, an address, or both, and the reason. `city`, null for none, answers a 409 that asks which city it is."""

    model_config = ConfigDict(extra="forbid")
    lat: float | None = None
    lon: float | None = None
    address: str | None = None
    reason: str = ""
    city: str | None = None


class DischargerIn(BaseModel):
    """Who is responsible for the spill."""

    model_config = ConfigDict(extra="forbid")
    name: str
    email: str = ""
    phone: str = ""


@router.post("/spills", status_code=201, openapi_extra=_REPORT_SCHEMA, responses=dict(turnstile.DOCUMENTED))
async def report_spill(request: Request, response: Response) -> Received:
    """Report a spill. Public; a staff token may add any fact. The same `Idempotency-Key` with the same body gives the same answer."""
    house = house_of(request)
    token = bearer(request)
    staff = None
    if token is None:
        await turnstile.check(request, turnstile.API_REPORT)
    else:
        staff = await staff_now(house, token, "api")
        staff.require_scope("report")
        if staff.highest() == "viewer":  # a viewer may report like anybody, and states no more than anybody
            staff = None
    body = await json_object(request, keep_repeats=True)
    key = request.headers.get("idempotency-key", "")
    arrival = Arrival(body, "staff" if staff else "api", staff.email if staff else "public", staff is not None, key)
    taken = await take_in(house, arrival)
    if taken.replayed:
        response.headers["Idempotency-Replayed"] = "true"
    response.headers["Location"] = f"/api/v1/spills/{taken.reference}"
    return Received(reference=taken.reference, status_url=taken.status_url, jurisdiction=taken.jurisdiction, warnings=taken.warnings)


@router.get("/spills")
async def list_spills(
    request: Request,
    city: str | None = None,
    state: Annotated[str | None, Query(pattern="^(open|overdue|unassigned)$")] = None,
    q: str | None = None,
    after: Annotated[str, Query(max_length=40, description="`next` of the page before; quicker than `offset`")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> dict[str, Any]:
    """The spills of the caller's cities, the one with the next due time first. `state`: open, overdue, unassigned.

    `q` is searched for as words, each whole or by its beginning. `next` is the `after` of the next page, null on the last.
    """
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        # What looks automatic has a list of its own, and what was merged stands with the spill it belongs to, unless it is searched for.
        stands = board.STANDS if (q or "").strip() else ("open", "closed")
        wanted = board.Wanted(stands, city, state, text=(q or "").strip())
        part = await board.found(tx, board.conditions(tx, staff, wanted), limit, after=after, offset=offset)
        spills_found = [
            {
                **_summary(spill), "next_due_at": as_z(line.due_at), "next_duty": line.duties[0]["duty"] if line.duties else None,
                "open": len(line.duties), "overdue": len(board.late(line, tx.now)), "alarms": line.alarms,
            }
            for line, spill in await board.with_spills(tx, part.lines)
        ]  # fmt: skip
        return {"spills": spills_found, "limit": limit, "offset": offset, "next": part.later or None}


@router.get("/spills/{reference}")
async def one_spill(request: Request, reference: str) -> dict[str, Any]:
    """One spill: its facts, clocks, what is asked of people, and everything that happened."""
    staff = await signed_in(request)
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        rows, history = await obligations.of_spill(tx, spill), await tx.history(spill)
        whole, respond = await whole_json(tx, spill, history), respond_url(house, spill)
        questions = await obligations.open_questions(tx, spill)
        kept_out = withheld_from(staff.office(spill.city), spill, await members_of(tx, spill), [history])
        if kept_out is not None:  # nor are they given the link by which the discharger acts
            spill, history, whole = spill_without(kept_out, spill), events_without(kept_out, history), kept_out.value(whole)
            respond = ""
        return {
            **_summary(spill), **whole, "description": spill.description,
            "location": location_json(house, spill), "facts": spill.facts, "sources": sources_json(history), "reporter": spill.reporter,
            "discharger": spill.discharger, "respond_url": respond or None,
            "clocks": [obligations.clock_json(row, tx.now) for row in rows],
            "questions": questions,
            "reportable_quantity": recorded_json(house.rulebook.quantities, spill.facts),
            "timeline": [_told(row, event) for row, event in history],
        }  # fmt: skip


@router.patch("/spills/{reference}/facts")
async def amend_facts(request: Request, reference: str) -> dict[str, Any]:
    """Amend facts, with a reason. Both values are kept; clocks and alerts are planned anew in the same transaction."""
    await known_caller(request, reference)
    amendment = await read_body(request, Amendment)
    changes = amendment.changes()
    return await _changed(
        request, reference, "officer", lambda tx, spill: spills.amend_facts(tx, spill, changes, amendment.reason, amendment.source)
    )


@router.patch("/spills/{reference}/location")
async def move_place(request: Request, reference: str) -> dict[str, Any]:
    """Move the pin, with a reason. The city is found anew and its clocks follow in the same transaction; both places are kept.

    409 where a person has to say which city it is: one set by hand is not overridden, and a point outside all does not end the clocks.
    """
    await known_caller(request, reference)
    given = await read_body(request, NewPlace)
    move = Move(given.lat, given.lon, given.address, given.reason, given.city, "city" in given.model_fields_set)
    return await _changed(request, reference, "officer", lambda tx, spill: move_pin(tx, spill, move))


@router.put("/spills/{reference}/discharger")
async def name_discharger(request: Request, reference: str) -> dict[str, Any]:
    """Name who is responsible; they are then told in the role of the discharger."""
    await known_caller(request, reference)
    given = await read_body(request, DischargerIn)
    return await _changed(
        request, reference, "officer", lambda tx, spill: spills.name_discharger(tx, spill, given.name, given.email, given.phone)
    )


@router.get("/spills/{reference}/clocks")
async def clocks_of(request: Request, reference: str) -> list[dict[str, Any]]:
    """The clocks of a spill as in section 2 of the contract, each with its `id`; for staff and the discharger."""
    async with reading(house_of(request)) as tx:
        _, spill = await caller_about(tx, bearer(request), reference)
        return [obligations.clock_json(row, tx.now) for row in await obligations.of_spill(tx, spill)]


@router.post("/spills/{reference}/events", status_code=201)
async def record_event(request: Request, reference: str) -> dict[str, Any]:
    """Record an event of section 1 of the contract; for staff and the discharger. `note` may say more: whom, what control number."""
    caller = await known_caller(request, reference)
    act = await json_object(request)
    note = act.pop("note", "")
    if not isinstance(note, str):
        raise BadInput("the event has faults", ["note: it is not a text"])
    if caller.staff is None and act.get("type") not in _DISCHARGERS_ACTS:
        raise NotAllowed(f"a discharger records one of: {', '.join(_DISCHARGERS_ACTS)}; other events are for staff to record")
    return await _changed(request, reference, "discharger", lambda tx, spill: spills.record_act(tx, spill, act, note))


async def _changed(request: Request, reference: str, role: str, change: Any) -> dict[str, Any]:
    """Do one change to a spill as the caller, and give back its facts and clocks as they stand after it."""
    house: House = house_of(request)
    token = bearer(request)
    async with reading(house) as tx:
        caller, _ = await caller_about(tx, token, reference)
    async with transaction(house, caller.name) as tx:
        spill = await tx.spill(reference)
        caller.require(role, spill.city)
        await change(tx, spill)
        return await _standing(tx, spill)


async def _standing(tx: Transaction, spill: Spill) -> dict[str, Any]:
    rows = await obligations.of_spill(tx, spill)
    return {
        "reference": spill.reference, "facts": spill.facts, "location": location_json(tx.house, spill),
        "clocks": [obligations.clock_json(row, tx.now) for row in rows],
    }  # fmt: skip


def _summary(spill: Spill) -> dict[str, Any]:
    return {
        "reference": spill.reference, "jurisdiction": spill.city, "received_at": as_z(spill.received_at), "flags": spill.flags,
        "material": spill.facts.get("material"), "volume": spill.facts.get("volume"),
    }  # fmt: skip


def _told(row: EventRow, event: SpillEvent) -> dict[str, Any]:
    return {
        "id": row.id, "kind": row.kind, "actor": row.actor, "happened_at": as_z(row.happened_at), "recorded_at": as_z(row.recorded_at),
        **event.model_dump(mode="json"),
    }  # fmt: skip
