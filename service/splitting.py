"""One report tells of two spills: the second becomes a spill of its own, with facts chosen for each; both keep where they came from.

The report itself stays with the first, and so do its photos and links. Its reporter is told of both. The second is known since when the
report was: its clocks begin there, and what is overdue by now is so at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deadlines import FactFaults, as_z, read_moment
from deadlines.facts import FACT_KEYS, MOMENTS
from service.closing import closed_in
from service.errors import BadInput, Conflict
from service.events import ActRecorded, FactsRecorded, ReportReceived, SpillSplit, SplitOff
from service.fact_sources import SOURCES, STAFF, sources_of
from service.locating import read_place
from service.spills import SPLIT_FROM, amend_facts, checked_changes, checked_facts, clean, open_spill, stated
from service.tables import EventRow, IdempotencyKey, Spill
from service.transaction import Transaction

LONGEST_DESCRIPTION = 20_000


@dataclass(frozen=True, slots=True)
class Part:
    """The second spill of a report, and what then holds of the first.

    `facts`: what is otherwise for the second, null where it is not known of it; all other facts are those of the first. `keep`: what is
    to be amended of the first. `acts`: places of those events of the first that were about the second, too. `location` {lat, lon,
    address}, empty: the same place. `once`: a key under which the same request is done once.
    """

    reason: str
    description: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    keep: Mapping[str, Any] = field(default_factory=dict)
    acts: Collection[int] = ()
    location: Mapping[str, Any] = field(default_factory=dict)
    source: str = STAFF
    once: str = ""


async def split(tx: Transaction, origin: Spill, part: Part) -> Spill:
    """Make the second spill of a report one of its own, and return it. Raises BadInput with one line a fault, Conflict for a report that
    is closed, merged or not yet read; nothing is then recorded."""
    if (made := await _made_before(tx, origin, part)) is not None:
        return made
    history = await tx.history(origin)
    _check_state(origin, history)
    events = origin.facts.get("events", [])
    facts = _facts_of(tx, origin, part, len(events))
    if part.keep:  # its faults are named before anything is made
        checked_changes(tx, origin, part.keep, part.reason, part.source)
    second = await _open(tx, origin, history, part)
    reason = stated(part.reason)
    await tx.record(second, SplitOff(origin=origin.reference, reason=reason, acts=sorted(part.acts)))
    await tx.record(origin, SpillSplit(part=second.reference, reason=reason))
    known = sources_of(history)
    sources = {key: part.source if key in part.facts else known[key].source for key in facts if key in part.facts or key in known}
    changes: dict[str, tuple[Any, Any]] = {key: (None, value) for key, value in facts.items()}
    await tx.record(second, FactsRecorded(changes=changes, reason=f"{SPLIT_FROM}{origin.reference}: {reason}", sources=sources))
    notes = [(row, event) for row, event in history if isinstance(event, ActRecorded)]
    for place in sorted(part.acts):
        row, told = notes[place]
        note = "; ".join(filter(None, (told.note, f"as on record of {origin.reference}")))
        await tx.record(second, ActRecorded(act=told.act, note=note), row.happened_at)
    if part.keep:
        await amend_facts(tx, origin, part.keep, f"split: {reason}", part.source)
    if part.once:
        tx.session.add(IdempotencyKey(key=_key(tx, origin, part), request_digest=_digest(part), spill_id=second.id or 0, created_at=tx.now))
    return second


def _key(tx: Transaction, origin: Spill, part: Part) -> str:
    return hashlib.sha256(f"{tx.actor}|split {origin.reference}|{part.once}".encode()).hexdigest()


def _digest(part: Part) -> str:
    said = (part.reason, part.description, sorted(map(str, part.facts.items())), sorted(map(str, part.keep.items())), sorted(part.acts))
    return hashlib.sha256(repr((said, sorted(map(str, part.location.items())), part.source)).encode("utf-8", "replace")).hexdigest()


async def _made_before(tx: Transaction, origin: Spill, part: Part) -> Spill | None:
    row = await tx.session.get(IdempotencyKey, _key(tx, origin, part)) if part.once else None
    if row is None:
        return None
    if row.request_digest != _digest(part):
        raise BadInput(
            "this Idempotency-Key came before with another body", ["Idempotency-Key: used; right would be: a new key for a new split"]
        )
    return await tx.session.get_one(Spill, row.spill_id)


def _check_state(origin: Spill, history: Sequence[tuple[EventRow, Any]]) -> None:
    if not origin.facts:
        raise Conflict(f"{origin.reference} has not been put to the law yet; right would be: judge it, or try again in a minute")
    if origin.merged_into is not None:
        raise Conflict(f"{origin.reference} was merged into another spill; right would be: take it apart first")
    if closed_in(history) is not None:
        raise Conflict(f"{origin.reference} is closed; right would be: open it again first")


def _facts_of(tx: Transaction, origin: Spill, part: Part, acts: int) -> dict[str, Any]:
    """The facts of the second spill. Raises BadInput naming every fault."""
    faults = [] if stated(part.reason) else ["reason: missing; right would be: how it is known that there are two"]
    if not stated(part.description) and not part.facts and not part.location:
        faults.append("description, facts, location: none is given; right would be: what is different about the second spill")
    if len(part.description) > LONGEST_DESCRIPTION:
        faults.append(f"description: over {LONGEST_DESCRIPTION:,} characters; right would be: fewer")
    wrong = [key for key in part.facts if key not in FACT_KEYS or key == "events"]
    faults += [f"facts.{key}: it cannot be chosen; right would be: one of {', '.join(FACT_KEYS)}" for key in wrong]
    faults += [
        f"acts: {place} is no event of {origin.reference}; right would be: 0 to {acts - 1}" for place in part.acts if not 0 <= place < acts
    ]
    if part.source not in SOURCES:
        faults.append(f"source: {clean(part.source)[:40]!r} is not a source; right would be: one of {', '.join(SOURCES)}")
    chosen = {**{key: value for key, value in origin.facts.items() if key != "events"}, **part.facts}
    facts = {key: value for key, value in chosen.items() if value is not None and key not in wrong}
    try:
        checked_facts(tx.house.rulebook, facts, tx.house.first_city)
    except FactFaults as error:
        faults += [f"facts.{fault}" for fault in error.faults]
    if faults:
        raise BadInput("the report cannot be split so", faults)
    zone = tx.house.rulebook.zones[facts.get("jurisdiction") or tx.house.first_city]
    return {key: as_z(read_moment(value, zone)) if key in MOMENTS else value for key, value in facts.items()}


async def _open(tx: Transaction, origin: Spill, history: Sequence[tuple[EventRow, Any]], part: Part) -> Spill:
    """The second spill, which begins with the report of the first as it came; who sent that stands in no event of it."""
    place = read_place(tx.house, part.location) if part.location else None
    second = await open_spill(tx, description=clean(part.description) or origin.description, language=origin.language)
    second.received_at, second.reporter = origin.received_at, dict(origin.reporter)
    second.lat, second.lon, second.address = (place.lat, place.lon, place.address) if place else (origin.lat, origin.lon, origin.address)
    second.flags = list(place.flags) if place else [flag for flag in origin.flags if flag.startswith("location")]
    received = next((event for _, event in history if isinstance(event, ReportReceived)), None)
    if received is not None:
        raw = {key: value for key, value in received.raw.items() if key != "contact"} if isinstance(received.raw, dict) else received.raw
        await tx.record(second, ReportReceived(raw=raw, by_way_of=received.by_way_of), history[0][0].happened_at)
    return second
