"""A spill is its events. Facts are what the events say so far; amending them adds an event that keeps both values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select, text
from sqlmodel import col

from deadlines import FactFaults, Facts, Rulebook, as_z, read_facts
from deadlines.facts import FACT_KEYS, MOMENTS, Event
from notifiers.addresses import e164, problem_with_email
from service.errors import BadInput
from service.events import ActRecorded, DischargerNamed, FactsRecorded, PlaceMoved, SpillEvent
from service.fact_sources import SOURCES, STAFF
from service.tables import Meta, Spill
from service.transaction import Recorded, Transaction

# Keys of the fact object that an amendment may not touch: what happened since is recorded as an act, never rewritten.
_NOT_AMENDED = ("events",)
# Moments that lie in the past by their nature. A clock of another hand may be a little ahead of ours.
_PAST = ("known_at", "reported_at", "discharged_at", "ended_at")
FUTURE_SLACK = timedelta(minutes=5)
_BEFORE_KNOWN = timedelta(days=1)
_DEEPEST = 50
# The reason on record for the facts that a report came with.
AS_IT_CAME = "the report as it came"
# How the reason begins for the facts of a second spill that a report told of (service/splitting.py).
SPLIT_FROM = "told of by the report "
_GO_ON_FROM = "spills are numbered from here on"


def clean(value: Any) -> str:
    """Text that every database and page can hold: a string without control characters or broken surrogates; empty for anything else."""
    if not isinstance(value, str):
        return ""
    text = value.encode("utf-8", "replace").decode("utf-8")
    return "".join(
        letter if letter in "\n\t" or letter.isprintable() or letter.isspace() else "\N{REPLACEMENT CHARACTER}" for letter in text
    ).strip()


def stated(text: str) -> str:
    """Clean text, or nothing where it says nothing: blanks and what stands for control characters are no reason."""
    cleaned = clean(text)
    return cleaned if cleaned.strip("\N{REPLACEMENT CHARACTER} \n\t") else ""


def storable(value: Any, depth: int = 0) -> Any:
    """A JSON value with only such texts, numbers and nesting as a database and a page can hold; nothing else is changed."""
    if depth > _DEEPEST:
        return "(nested too deeply to be kept)"
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(part, depth + 1) for key, part in value.items()}
    return [storable(part, depth + 1) for part in value] if isinstance(value, list) else value


async def open_spill(tx: Transaction, **fields: Any) -> Spill:
    """Store a new spill and give it its reference, SP-YEAR-NUMBER. `fields` are columns of the table."""
    [number] = await tx.numbers("spill", 1)
    if tx.house.settings.is_embedded:  # PostgreSQL counts by itself, from where it was told to
        number = await _number_after_a_backup(tx) or number
    reference = f"SP-{tx.now.year}-{number:05d}"
    spill = Spill(id=number, reference=reference, received_at=tx.now, facts={}, flags=[], discharger={}, **{"reporter": {}, **fields})
    tx.session.add(spill)
    tx.new_spills.add(number)
    await tx.session.flush()
    return spill


async def go_on_from(tx: Transaction, number: int) -> None:
    """Let new spills be numbered from here on: those before may have been given already, in letters and links that are out."""
    if tx.house.settings.is_embedded:
        await tx.session.merge(Meta(key=_GO_ON_FROM, value=str(number)))
    else:
        await tx.session.execute(text("SELECT setval(pg_get_serial_sequence('spill', 'id'), :number, false)"), {"number": number})


async def last_number(tx: Transaction) -> int:
    """The number of the newest spill; 0 where there is none."""
    return await tx.session.scalar(select(func.max(col(Spill.id)))) or 0


async def _number_after_a_backup(tx: Transaction) -> int | None:
    """The number of the first spill after a backup was put back; None where the database goes on by itself."""
    mark = await tx.session.scalar(select(col(Meta.value)).where(col(Meta.key) == _GO_ON_FROM))
    return int(mark) if mark is not None and int(mark) > await last_number(tx) else None


def checked_facts(rulebook: Rulebook, given: Mapping[str, Any], stand_in: str | None = None) -> Facts:
    """The facts as the law engine reads them. Raises FactFaults. Without a city they are checked as if for the city `stand_in`."""
    city = stand_in if given.get("jurisdiction") is None else given["jurisdiction"]
    return read_facts({**given, "jurisdiction": city}, rulebook.zones, frozenset(rulebook.recipients))


async def amend_facts(tx: Transaction, spill: Spill, changes: Mapping[str, Any], reason: str, source: str = STAFF) -> None:
    """Record amended facts; everything that follows happens in the same transaction.

    `changes` maps fact keys to new values, null for unknown; `source` says by whom they are known, a key of fact_sources.SOURCES.
    Raises BadInput with one line a fault; nothing is then recorded.
    """
    if changed := checked_changes(tx, spill, changes, reason, source):
        await tx.record(spill, FactsRecorded(changes=changed, reason=stated(reason), sources=dict.fromkeys(changed, source)))


def checked_changes(
    tx: Transaction, spill: Spill, changes: Mapping[str, Any], reason: str, source: str = STAFF
) -> dict[str, tuple[Any, Any]]:
    """What an amendment changes: {key: (before, after)} of the facts that are not so already. Raises BadInput with one line a fault."""
    faults = [f"{key}: it cannot be amended; record an event instead" for key in changes if key in _NOT_AMENDED]
    faults += [f"{key}: unknown key; right would be: one of {', '.join(FACT_KEYS)}" for key in changes if key not in FACT_KEYS]
    if not stated(reason):
        faults.append("reason: missing; right would be: why the facts are amended, in a few words")
    if source not in SOURCES:
        faults.append(f"source: {clean(source)[:40]!r} is not a source; right would be: one of {', '.join(SOURCES)}")
    if faults:
        raise BadInput("the facts cannot be amended so", faults)
    after = {key: value for key, value in {**spill.facts, **changes}.items() if value is not None}
    try:
        facts = checked_facts(tx.house.rulebook, after, tx.house.first_city)
    except FactFaults as error:
        raise BadInput("the facts cannot be amended so", [str(fault) for fault in error.faults]) from None
    ahead = [key for key in _PAST if changes.get(key) is not None and getattr(facts, key) > tx.now + FUTURE_SLACK]
    if ahead:
        lies = "lies in the future; right would be: a time that has passed, or null where it is unknown"
        raise BadInput("the facts cannot be amended so", [f"{key}: {changes[key]} {lies}" for key in ahead])
    # A local time is kept as the instant it meant when it was told, whatever city the spill is moved to later.
    told = {**changes, **{key: as_z(getattr(facts, key)) for key in MOMENTS if changes.get(key) is not None}}
    return {key: (spill.facts.get(key), value) for key, value in told.items() if spill.facts.get(key) != value}


async def record_act(tx: Transaction, spill: Spill, act: Mapping[str, Any], note: str = "") -> None:
    """Record something that happened (an event of the contract, section 1). Raises BadInput with one line a fault."""
    try:
        told = {**spill.facts, "events": [*spill.facts.get("events", []), dict(act)]}
        facts = checked_facts(tx.house.rulebook, told, tx.house.first_city)
    except FactFaults as error:
        raise BadInput(
            "the event has faults", [str(fault).replace(f"events[{len(spill.facts.get('events', []))}].", "") for fault in error.faults]
        ) from None
    read = facts.events[-1]
    happened_at = read.at
    moments = {key: as_z(value) for key, value in read.said.items() if isinstance(value, datetime)}
    if fault := _improbable(tx, spill, facts, read):
        raise BadInput("the event has faults", [fault])
    await tx.record(spill, ActRecorded(act={**act, **moments, "at": as_z(happened_at)}, note=note), happened_at)


def _improbable(tx: Transaction, spill: Spill, facts: Facts, act: Event) -> str | None:
    """Why an event cannot have been then, or None. One mistyped year would else meet a duty, on time, and end its alerts."""
    if act.at > tx.now + FUTURE_SLACK:
        return f"at: {as_z(act.at)} lies in the future; right would be: a time that has passed"
    comply_by = act.said.get("comply_by")
    if isinstance(comply_by, datetime) and comply_by < act.at:
        return f"comply_by: {as_z(comply_by)} lies before the order was served; right would be: a time after {as_z(act.at)}"
    if facts.known_at is not None and facts.planned_at is None:
        began = min(moment for moment in (facts.known_at, facts.discharged_at, spill.received_at) if moment)
        if act.at < began - _BEFORE_KNOWN:
            cure = "the time it happened; where the spill was known earlier, amend known_at first"
            return f"at: {as_z(act.at)} lies over a day before the spill began or was known ({as_z(began)}); right would be: {cure}"
    return None


async def name_discharger(tx: Transaction, spill: Spill, name: str, email: str, phone: str) -> None:
    """Record who is responsible for the spill."""
    name, email, number = clean(name), clean(email), e164(phone) or ""
    faults = [] if name else ["name: missing; right would be: a person or firm"]
    if email and (problem := problem_with_email(email)):
        faults.append(f"email: {problem}")
    if clean(phone) and not number:
        faults.append(f"phone: {clean(phone)!r} is not a telephone number; right would be: (909) 555-0100 or +19095550100")
    if faults:
        raise BadInput("the discharger cannot be named so", faults)
    await tx.record(spill, DischargerNamed(name=name[:200], email=email, phone=number))


async def take_facts(_: Transaction, recorded: Recorded) -> None:
    """Reaction: the spill's facts become what the event says."""
    _fold(recorded.spill, recorded.event)


def _fold(spill: Spill, event: SpillEvent) -> None:
    if isinstance(event, FactsRecorded):
        # A new object each time: a JSON column does not see a change inside the old one.
        merged = {**spill.facts, **{key: after for key, (_, after) in event.changes.items()}}
        spill.facts = {key: value for key, value in merged.items() if value is not None}
        spill.city = spill.facts.get("jurisdiction")
    elif isinstance(event, PlaceMoved):
        spill.lat, spill.lon = _number(event.after["lat"]), _number(event.after["lon"])
        spill.address = str(event.after["address"])
    elif isinstance(event, ActRecorded):
        spill.facts = {**spill.facts, "events": [*spill.facts.get("events", []), event.act]}
    elif isinstance(event, DischargerNamed):
        spill.discharger = {"name": event.name, "email": event.email, "phone": event.phone}


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def facts_from(events: list[SpillEvent]) -> dict[str, Any]:
    """What a list of events comes to: the facts, folded anew from nothing."""
    blank = Spill(reference="", received_at=datetime.min.replace(tzinfo=UTC), facts={}, flags=[], reporter={}, discharger={})
    for event in events:
        _fold(blank, event)
    return blank.facts
