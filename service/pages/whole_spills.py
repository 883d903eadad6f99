"""What is decided about a spill as a whole: two reports are one, one report is two, another agency is asked, somebody is in charge."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deadlines import agencies_of, read_moment
from deadlines.facts import CHOICES, METHODS
from service import causes
from service.access import Staff, spill_for
from service.assigning import assign
from service.errors import BadInput, Conflict, NotKnown
from service.fact_sources import SOURCES, STAFF
from service.grouping import EARLIEST
from service.likely_same import likely_same
from service.merging import ClocksWouldStop, merge, takeable, unmerge, would_stop
from service.pages import words
from service.pages.amendments import changes_from, told, typed_facts
from service.pages.entrance import StaffRoute, signed_in, working_on
from service.pages.fields import Fields, read_fields
from service.pages.rendering import house_of, staff_page, zone_of
from service.pages.speech import ENGLISH, local_input
from service.pages.spill import refused
from service.referrals import Referral, refer
from service.splitting import Part, split
from service.tables import Obligation, Spill
from service.transaction import House, Transaction, reading

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)


# -- merging


@dataclass(frozen=True)
class Compared:
    """A fact of two reports side by side: the words for it, what each says, and whether what the other says may be taken over.

    `earliest`: of this fact the earlier of both counts whatever is chosen.
    """

    key: str
    label: str
    here: str
    there: str
    may_take: bool
    earliest: bool
    unknown_here: bool


def compared(house: House, kept: Spill, other: Spill) -> list[Compared]:
    """What two reports say of a spill."""
    taken = takeable(kept, other)
    keys = [key for key in words.FACTS if key in kept.facts or key in other.facts]
    return [
        Compared(
            key, words.FACTS[key], told(house, kept, key, kept.facts.get(key)), told(house, other, key, other.facts.get(key)),
            key in taken, key in EARLIEST, kept.facts.get(key) is None,
        )
        for key in keys
    ]  # fmt: skip


@router.get("/{reference}/merge")
async def merge_page(request: Request, reference: str) -> Response:
    """The form that merges another report into this spill: which one, then both side by side."""
    return await _merge_page(request, await signed_in(request), reference, Fields({"other": [request.query_params.get("with", "")]}))


async def _merge_page(
    request: Request, staff: Staff, reference: str, typed: Fields, error: BadInput | Conflict | NotKnown | None = None
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        staff.require("officer", spill.city)
        other, error = await _other(tx, staff, typed, error)
        likely = await likely_same(tx, staff, spill)
        stopping: Sequence[Obligation] = await would_stop(tx, spill, other) if other and other.id != spill.id else ()
    if isinstance(error, ClocksWouldStop):
        stopping = error.clocks
    return staff_page(
        request, "merge.html", error.status if error else 200, staff=staff, spill=spill, zone=zone_of(house, spill.city), other=other,
        likely=likely, rows=compared(house, spill, other) if other else (), stopping=stopping, typed=typed,
        sent="reason" in typed, faults=(error.faults or [str(error)]) if error else (),
    )  # fmt: skip


async def _other(
    tx: Transaction, staff: Staff, typed: Fields, error: BadInput | Conflict | NotKnown | None
) -> tuple[Spill | None, BadInput | Conflict | NotKnown | None]:
    wanted = typed.text("other").upper()
    if not wanted:
        return None, error
    try:
        return await spill_for(tx, staff, wanted), error
    except NotKnown as unknown:
        return None, error or unknown


@router.post("/{reference}/merge")
async def merge_spill(request: Request, reference: str) -> Response:
    """Merge another report into this spill. Clocks that would stop are named first, and each has to be confirmed."""
    staff, fields = await signed_in(request), await read_fields(request)
    drop = {int(number) for number in fields.all("drop") if number.isdecimal()}
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            other = await spill_for(tx, staff, fields.text("other").upper(), "officer")
            await merge(tx, spill, other, fields.text("reason"), take=fields.all("take"), drop=drop)
    except (BadInput, Conflict, NotKnown) as error:
        return await _merge_page(request, staff, reference, fields, error)
    return _back(reference, "merged", "#merged")


@router.post("/{reference}/unmerge")
async def unmerge_spill(request: Request, reference: str) -> Response:
    """Take a merged report apart again, with the reason. The address is that of the report."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            await unmerge(tx, spill, fields.text("reason"))
    except (BadInput, Conflict) as error:
        return await refused(request, reference, error)
    return _back(reference, "unmerged")


# -- splitting

_SPLIT_FACTS = ("material", "low", "high", "unit", "discharged_at", "ended_at", "premises")


@router.get("/{reference}/split")
async def split_page(request: Request, reference: str) -> Response:
    """The form that makes the second spill of a report one of its own."""
    return await _split_page(request, await signed_in(request), reference)


async def _split_page(
    request: Request, staff: Staff, reference: str, typed: Fields | None = None, error: BadInput | Conflict | None = None
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
    staff.require("officer", spill.city)
    zone = zone_of(house, spill.city)
    shown = typed_facts(spill, zone)
    values = {f"{part}.{key}": typed.text(f"{part}.{key}", shown[key]) if typed else shown[key] for part in "ab" for key in _SPLIT_FACTS}
    reached = {part: typed.all(f"{part}.reached") if typed else shown["reached"].split() for part in "ab"}
    acts = [(place, _act_in_words(house, act, zone)) for place, act in enumerate(spill.facts.get("events", []))]
    return staff_page(
        request, "split.html", error.status if error else 200, staff=staff, spill=spill, zone=zone, shown=shown, values=values,
        reached=reached, acts=acts, typed=typed or Fields(), faults=(error.faults or [str(error)]) if error else (),
        premises=[(word, words.plain(word).capitalize()) for word in CHOICES["premises"]],
        once=typed.text("once") if typed else secrets.token_hex(12), sources=_sources(),
    )  # fmt: skip


@router.post("/{reference}/split")
async def split_spill(request: Request, reference: str) -> Response:
    """Split a report, and go on to its second spill."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            second = await split(tx, spill, _part(tx.house, spill, fields))
    except (BadInput, Conflict) as error:
        return await _split_page(request, staff, reference, fields, error)
    return _back(second.reference, "split")


def _act_in_words(house: House, act: Mapping[str, Any], zone: ZoneInfo) -> str:
    """What was done, about whom or what, and when: Notice given, California Office of Emergency Services, Tue Dec 1, 2:25 PM PST."""
    recipient = house.rulebook.recipients.get(str(act.get("recipient")))
    what = [words.plain(act["type"]).capitalize(), recipient.name if recipient else "", words.plain(act.get("order", ""))]
    return ", ".join([*filter(None, what), ENGLISH.stamp(read_moment(act["at"], zone), zone)])


def _part(house: House, spill: Spill, fields: Fields) -> Part:
    zone = zone_of(house, spill.city)
    shown = typed_facts(spill, zone)
    place = {key: fields.text(f"b.{key}") for key in ("lat", "lon", "address") if fields.text(f"b.{key}")}
    return Part(
        reason=fields.text("reason"), description=fields.text("description"), facts=_changes(house, spill, fields, "b", shown),
        keep=_changes(house, spill, fields, "a", shown), acts=[int(one) for one in fields.all("act") if one.isdecimal()],
        location={} if place.get("address", spill.address) == spill.address and len(place) < 2 else place,
        source=fields.text("source", STAFF), once=fields.text("once"),
    )  # fmt: skip


def _changes(house: House, spill: Spill, fields: Fields, part: str, shown: Mapping[str, str]) -> dict[str, Any]:
    """What the form says of one part otherwise than the report."""
    said = {key: [fields.text(f"{part}.{key}")] for key in _SPLIT_FACTS if f"{part}.{key}" in fields}
    said |= {f"was.{key}": [shown[key]] for key in _SPLIT_FACTS}
    mine = Fields({**said, "reached": fields.all(f"{part}.reached"), "was.reached": [shown["reached"]]})
    return changes_from(house, spill, mine, zone_of(house, spill.city))


# -- referring, and who is in charge


@router.get("/{reference}/refer")
async def refer_page(request: Request, reference: str) -> Response:
    """The form that records a referral to another agency."""
    return await _refer_page(request, await signed_in(request), reference)


async def _refer_page(
    request: Request, staff: Staff, reference: str, typed: Fields | None = None, error: BadInput | None = None
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        now = tx.now
    staff.require("officer", spill.city)
    zone = zone_of(house, spill.city)
    return staff_page(
        request, "refer.html", error.status if error else 200, staff=staff, spill=spill, zone=zone, typed=typed or Fields(),
        agencies=agencies_of(house.rulebook.law_of(spill.city)) if spill.city else (), ways=[(way, words.WAYS[way]) for way in METHODS],
        faults=(error.faults or [str(error)]) if error else (), latest=local_input(now, zone),
    )  # fmt: skip


@router.post("/{reference}/refer")
async def refer_spill(request: Request, reference: str) -> Response:
    """Record a referral. The duties of the city go on."""
    staff, fields = await signed_in(request), await read_fields(request)
    said = {key: fields.text(key) for key in ("agency", "contact", "how", "sent", "because", "at")}
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            await refer(tx, spill, Referral(**said))
    except BadInput as error:
        return await _refer_page(request, staff, reference, fields, error)
    return _back(reference, "referred", "#referrals")


@router.post("/{reference}/officer")
async def put_in_charge(request: Request, reference: str) -> Response:
    """Put a member of staff in charge, or nobody."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            await assign(tx, spill, fields.text("officer"))
    except BadInput as error:
        return await refused(request, reference, error)
    return _back(reference, "assigned-officer", "#people")


@router.post("/{reference}/cause")
async def find_cause(request: Request, reference: str) -> Response:
    """Record why it came to the spill."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with working_on(request, staff, reference, "officer") as (tx, spill):
            changed = await causes.find_cause(tx, spill, fields.text("cause"), fields.text("note"), fields.text("source", STAFF))
    except BadInput as error:
        return await refused(request, reference, error)
    return _back(reference, "cause" if changed else "unchanged", "#facts-title")


def _back(reference: str, done: str, place: str = "") -> Response:
    return RedirectResponse(f"/staff/spills/{reference}?done={done}{place}", 303)


def _sources() -> list[tuple[str, str]]:
    return [(key, says) for key, (says, _) in SOURCES.items()]
