"""A report comes in: stored as it came before anything else can fail, then read as far as it can be read, located, and put to the law.

A public report is never refused for being odd. What cannot be used is kept in the raw record and flagged, and a person is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from deadlines import FactFaults, as_z
from deadlines.facts import CHOICES, FACT_KEYS, PLACES_REACHED, read_moment
from service.errors import BadInput
from service.events import AssessmentFailed, FactsRecorded, ReportReceived, ReportReleased, TriageAsked
from service.held_reports import SUSPICIOUS, doubts_of, end_holding, hold, is_held
from service.locating import read_place
from service.obligations import apply_law
from service.parties import NO_MESSAGE, status_url, unreachable
from service.said_facts import IN_WORDS, is_local, seen_at_of, volume_of
from service.speech import ENGLISH
from service.spills import AS_IT_CAME, checked_facts, clean, open_spill, storable
from service.tables import IdempotencyKey, Spill
from service.transaction import House, Transaction, transaction

_NO_VOLUME = "no volume that can be used; a person should estimate it"
_NO_DESCRIPTION = "no description"
# Most neighbours cannot say how much, or say it in words: the clocks presumed for it tell people already, more would be noise. An address
# that no message can reach is told to the reporter, who can put it right.
_ROUTINE_FLAGS = (_NO_VOLUME, _NO_DESCRIPTION, NO_MESSAGE, *IN_WORDS)
PUBLIC_KEYS = ("description", "location", "seen_at", "material", "volume", "reached", "contact", "language", "said")
# Where the raw record of a report from a sheet keeps the row as it came.
IMPORTED = "imported"
# And where that of one by mail keeps its subject, and what of it was not kept.
MAILED = "mail"
PRIVACIES = ("anonymous", "confidential", "named")
_LONGEST_TEXT = 20_000
_FUTURE_SLACK = timedelta(minutes=5)
_RETRY_WAITS = (timedelta(seconds=30), timedelta(minutes=5), timedelta(minutes=30))


@dataclass(frozen=True, slots=True)
class Intake:
    """What the sender of a report is told."""

    reference: str
    status_url: str
    jurisdiction: str | None
    warnings: list[str]
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """A report as it arrived: its body, the way it came, who sent it (an account's e-mail for staff), and its idempotency key.

    With `doubts` it looks automatic: it is kept, and held until it is judged (service/held_reports.py).
    """

    body: Mapping[str, Any]
    by_way_of: str
    sender: str = "public"
    is_staff: bool = False
    key: str = ""
    doubts: Sequence[str] = ()


@dataclass(slots=True)
class _Reading:
    """What could be read from a report, and what is odd about it."""

    facts: dict[str, Any] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    lat: float | None = None
    lon: float | None = None
    address: str = ""


async def take_in(house: House, arrival: Arrival) -> Intake:
    """Store a report and put it to the law. Returns its reference, private status link, city and warnings.

    Stored first, in a transaction of its own; should anything after that fail, the report is kept, a person is told, and the worker tries
    again.
    Raises BadInput only where the same idempotency key came with another body.
    """
    async with transaction(house, arrival.sender) as tx:
        kept = await _kept_answer(tx, arrival)
        if kept is not None:
            return kept
        spill = await _store(tx, arrival)
        reference = spill.reference
    try:
        return await _put_to_the_law(house, reference, arrival.sender)
    except Exception as error:  # house-skip: swallowed - the report is safe; the failure becomes an event, an alarm and a retry
        return await _keep_and_flag(house, reference, error)


async def take_in_past(tx: Transaction, arrival: Arrival, rests_before: datetime | None) -> tuple[Spill, bool]:
    """Take in a report of the city's own past, from its sheets, in the running transaction: the spill, and whether it was there before.

    Nobody is asked to look at it, and subscribers hear nothing of it. Clocks due before `rests_before` alert nobody; None: all do.
    Raises BadInput where its key came with another body.
    """
    kept = await _kept_answer(tx, arrival)
    if kept is not None:
        return await tx.spill(kept.reference), True
    tx.quietly, tx.rests_before = True, rests_before
    spill = await _store(tx, arrival)
    await read_and_assess(tx, spill)
    return spill, False


async def _kept_answer(tx: Transaction, arrival: Arrival) -> Intake | None:
    if not arrival.key:
        return None
    row = await tx.session.get(IdempotencyKey, _digest(f"{arrival.sender}|{arrival.key}"))
    if row is None:
        return None
    if row.request_digest != _digest(repr(_sorted(storable(arrival.body)))):
        raise BadInput(
            "this Idempotency-Key came before with another body", ["Idempotency-Key: used; right would be: a new key for a new report"]
        )
    spill = await tx.session.get_one(Spill, row.spill_id)
    return Intake(spill.reference, status_url(tx.house, spill), spill.city, list(spill.flags), replayed=True)


async def _store(tx: Transaction, arrival: Arrival) -> Spill:
    sent = storable(arrival.body)
    body = {**sent, **_anonymous(sent.get("contact"))}
    contact = body.get("contact")
    reporter = (
        {clean(key): clean(value) for key, value in contact.items() if isinstance(value, str)} if isinstance(contact, Mapping) else {}
    )
    spill = await open_spill(
        tx,
        description=clean(body.get("description"))[:_LONGEST_TEXT],
        language="es" if body.get("language") == "es" else "en",
        assess_at=tx.now + _RETRY_WAITS[0],
        reporter=reporter,
    )
    await tx.record(spill, ReportReceived(raw=body, by_way_of=arrival.by_way_of, flags=list(arrival.doubts)))
    if arrival.key:
        digest = _digest(repr(_sorted(sent)))
        key = IdempotencyKey(
            key=_digest(f"{arrival.sender}|{arrival.key}"), request_digest=digest, spill_id=spill.id or 0, created_at=tx.now
        )
        tx.session.add(key)
    return spill


async def _put_to_the_law(house: House, reference: str, sender: str) -> Intake:
    async with transaction(house, sender) as tx:
        spill = await tx.spill(reference)
        if not spill.facts and spill.held_at is None:  # the worker may have been first
            await read_and_assess(tx, spill)
        return Intake(spill.reference, status_url(house, spill), spill.city, list(spill.flags))


async def _keep_and_flag(house: House, reference: str, error: Exception) -> Intake:
    """A report that cannot be put to the law is kept with its failure on record; the worker tries again with growing waits."""
    async with transaction(house, "spillclock") as tx:
        spill = await tx.spill(reference)
        await note_failure(tx, spill, error)
        return Intake(spill.reference, status_url(house, spill), spill.city, list(spill.flags))


async def note_failure(tx: Transaction, spill: Spill, error: Exception) -> None:
    """Record that a spill could not be put to the law, tell a person once, and plan the next try."""
    wait = _RETRY_WAITS[min(spill.assess_tries, len(_RETRY_WAITS) - 1)]
    spill.assess_tries += 1
    spill.assess_at = tx.now + wait
    problem = f"{type(error).__name__}: {error}"[:1000]
    await tx.record(spill, AssessmentFailed(problem=problem))
    if "the law could not be applied; a person must look" not in spill.flags:
        spill.flags = [*spill.flags, "the law could not be applied; a person must look"]
        await tx.record(spill, TriageAsked(reason="the law could not be applied to it"))
    tx.wakes_worker = True


async def take_up_unread(house: House, now: datetime) -> None:
    """Have the worker read at once what a stopped process had stored and not yet read. Only where no other process takes reports in."""
    async with transaction(house, "worker", now) as tx:
        waiting = select(Spill).where(col(Spill.assess_at) <= now + _RETRY_WAITS[0], col(Spill.assess_tries) == 0)
        for spill in (await tx.session.execute(waiting)).scalars():
            if not spill.facts:
                spill.assess_at = now
        tx.wakes_worker = True


async def assess_again(tx: Transaction, spill: Spill) -> None:
    """Put a spill to the law whose time for it has come: a report not yet read, or a duty that recurs by itself."""
    if spill.facts:
        spill.assess_at = None
        await apply_law(tx, spill, "time passed")
    elif is_held(spill):
        await release(tx, spill, "nobody has judged it")
    else:
        await read_and_assess(tx, spill)


async def release(tx: Transaction, spill: Spill, reason: str) -> None:
    """Put a report to the law that was held because it looked automatic. What it says counts from when it came."""
    await tx.record(spill, ReportReleased(reason=reason))
    await end_holding(tx, spill, is_real=True)
    await read_and_assess(tx, spill)


async def read_and_assess(tx: Transaction, spill: Spill) -> None:
    """Read the raw report into facts, flag what is odd, find the city; the reactions to the recorded facts run the clocks."""
    history = await tx.history(spill)
    row, received = history[0]
    if not isinstance(received, ReportReceived) or not isinstance(received.raw, dict):
        raise BadInput(f"{spill.reference} does not begin with a report")
    reading = _read(tx, received.raw, is_staff=received.by_way_of == "staff", received_at=row.recorded_at)
    spill.lat, spill.lon, spill.address = reading.lat, reading.lon, reading.address
    spill.flags = [*reading.flags, *(NO_MESSAGE + way for way in unreachable(tx.house, spill.reporter))]
    spill.assess_at = None
    if doubts := doubts_of(history):
        spill.flags = [*(SUSPICIOUS + doubt for doubt in doubts), *spill.flags]
        await hold(tx, spill, doubts)
        return
    changes: dict[str, tuple[Any, Any]] = {key: (None, value) for key, value in reading.facts.items()}
    await tx.record(spill, FactsRecorded(changes=changes, reason=AS_IT_CAME))
    if tx.quietly:
        return
    if spill.city is None:
        await tx.record(
            spill, TriageAsked(reason="its place is in no city served here" if reading.lat is not None else "its city is not known")
        )
    elif odd := [flag for flag in reading.flags if not flag.startswith(_ROUTINE_FLAGS)]:
        await tx.record(spill, TriageAsked(reason="; ".join(odd)[:300]))


def _read(tx: Transaction, raw: Mapping[str, Any], *, is_staff: bool, received_at: datetime) -> _Reading:
    reading = _Reading()
    _read_place(tx, raw, reading)
    given = dict(raw)
    if is_staff and isinstance(given.get("facts"), Mapping):
        given.update(given.pop("facts"))
    known = {key: value for key, value in given.items() if key in FACT_KEYS and value is not None}
    staff_only = sorted(set(known) - set(PUBLIC_KEYS))
    if not is_staff and staff_only:
        reading.flags.append(f"only staff may state: {', '.join(staff_only)}; kept in the record, not used")
        known = {key: value for key, value in known.items() if key in PUBLIC_KEYS}
    unknown = sorted(clean(key)[:60] for key in set(given) - set(PUBLIC_KEYS) - set(FACT_KEYS) - {IMPORTED, MAILED})
    if unknown:
        reading.flags.append(f"not understood: {', '.join(unknown[:20])}; kept in the record")
    if "jurisdiction" not in known and reading.facts.get("jurisdiction"):
        known["jurisdiction"] = reading.facts["jurisdiction"]
    reading.facts = _usable(tx, known, received_at, reading.flags)
    _read_moments(tx, raw, reading, received_at, is_staff=is_staff)
    _look_at_contact(raw.get("contact"), reading.flags)
    if "volume" not in reading.facts:
        reading.flags.append(_NO_VOLUME)
    if not clean(raw.get("description")):
        reading.flags.append(_NO_DESCRIPTION)
    return reading


def _anonymous(contact: Any) -> dict[str, Any]:
    """What is kept of the contact of somebody who wants to be anonymous: that, and the names of what was left out. Else nothing changes."""
    if not isinstance(contact, Mapping) or contact.get("privacy") != "anonymous":
        return {}
    left_out = sorted(clean(key)[:60] for key, value in contact.items() if key != "privacy" and value not in (None, ""))
    return {"contact": {"privacy": "anonymous", **({"left_out": left_out[:20]} if left_out else {})}}


def _look_at_contact(contact: Any, flags: list[str]) -> None:
    if contact is None:
        return
    if not isinstance(contact, Mapping):
        flags.append("contact: not an object with name, email, phone or privacy (kept in the record)")
    elif contact.get("privacy") not in (None, *PRIVACIES):
        flags.append(f"contact: {clean(str(contact['privacy']))[:60]!r} is no choice of privacy; right would be: {', '.join(PRIVACIES)}")
    elif isinstance(left_out := contact.get("left_out"), list) and contact.get("privacy") == "anonymous":
        flags.append(f"contact: {', '.join(map(str, left_out))} not kept, because the reporter stays anonymous")


def _usable(tx: Transaction, known: dict[str, Any], received_at: datetime, flags: list[str]) -> dict[str, Any]:
    """The facts that the engine can read. Each one it cannot is left out, and flagged with what would be right."""
    if "volume" in known:
        known["volume"] = volume_of(known["volume"], flags)
    for key, words in (*CHOICES.items(), ("reached", PLACES_REACHED)):
        if isinstance(known.get(key), str) and key != "reached":
            word = known[key].strip().lower().replace(" ", "_").replace("-", "_")
            known[key] = word if word in words else known[key]
    known = {key: value for key, value in known.items() if value is not None}
    known.setdefault("known_at", as_z(received_at))
    while True:
        try:
            checked_facts(tx.house.rulebook, known, tx.house.first_city)
            return known
        except FactFaults as error:
            faulty = {fault.key.split(".")[0].split("[")[0] for fault in error.faults} & set(known)
            if not faulty:
                raise
            flags.extend(f"{clean(str(fault))[:300]} (left out)" for fault in error.faults)
            known = {key: value for key, value in known.items() if key not in faulty}
            known.setdefault("known_at", as_z(received_at))


def _read_place(tx: Transaction, raw: Mapping[str, Any], reading: _Reading) -> None:
    place = read_place(tx.house, raw.get("location"))
    reading.lat, reading.lon, reading.address = place.lat, place.lon, place.address
    reading.flags += place.flags
    if place.city is not None:
        reading.facts["jurisdiction"] = place.city


def _read_moments(tx: Transaction, raw: Mapping[str, Any], reading: _Reading, received_at: datetime, *, is_staff: bool) -> None:
    """When it was seen tells that it had begun by then; times that cannot be are flagged and left out, never corrected."""
    facts, flags = reading.facts, reading.flags
    zones, city = tx.house.rulebook.zones, facts.get("jurisdiction")
    zone = zones[city or tx.house.first_city]
    offsets = {received_at.astimezone(zones[one]).utcoffset() for one in tx.house.cities}
    if city is None and len(offsets) > 1 and is_local(raw.get("seen_at")):
        flags.append(f"seen_at: a local time, read as {ENGLISH.zone_name(zone)} because the city is not known; a person should confirm it")
    if (seen_at := seen_at_of(raw, received_at, zone, flags, is_staff=is_staff)) is not None:
        facts.setdefault("discharged_at", as_z(seen_at))
    for key in ("known_at", "reported_at", "discharged_at", "ended_at"):
        if key in facts and read_moment(facts[key], zone) > received_at + _FUTURE_SLACK:
            flags.append(f"{key}: lies in the future (left out)")
            del facts[key]
    facts.setdefault("known_at", as_z(received_at))
    moments = {key: read_moment(facts[key], zone) for key in ("known_at", "discharged_at", "ended_at") if key in facts}
    if "ended_at" in moments and moments["ended_at"] < moments.get("discharged_at", moments["ended_at"]):
        flags.append("ended_at: ends before it begins (kept as told)")
    if moments.get("discharged_at", moments["known_at"]) > moments["known_at"]:
        flags.append("known_at: known before it began (kept as told; the earlier counts)")


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return sorted((str(key), _sorted(part)) for key, part in value.items())
    return [_sorted(part) for part in value] if isinstance(value, list) else value


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
