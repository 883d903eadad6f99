"""What is told in every message: what happened where, and when a duty is due and how that stands, in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from service.speech import ENGLISH, Speech, is_immediate, marked, moment_of
from service.tables import Spill

METHOD_WORDS: Mapping[str, str] = {
    "telephone": marked("by telephone"), "email": marked("by e-mail"), "in_person": marked("in person"), "mail": marked("by mail"),
    "online": marked("online"), "written": marked("in writing"), "any": marked("in any way that can be proved"),
    "cleanup": marked("by cleaning up"), "repair": marked("by repairing"), "sampling": marked("by sampling"),
    "response": marked("by responding on site"), "payment": marked("by paying"), "filing": marked("by filing"),
    "hearing": marked("by holding the hearing"), "retention": marked("by keeping it"),
}  # fmt: skip
# The words of the contract, in small: as they are written in English, and for the catalogue.
_MATERIALS = (
    marked("sewage"), marked("petroleum"), marked("hazardous material"), marked("hazardous waste"), marked("paint"), marked("concrete"),
    marked("sediment"), marked("wash water"), marked("pool water"), marked("potable water"), marked("recycled water"),
    marked("food waste"), marked("animal waste"), marked("yard waste"), marked("other"), marked("unknown"), marked("unknown material"),
)  # fmt: skip
_REACHED = (
    marked("storm drain"), marked("street"), marked("gutter"), marked("channel"), marked("surface water"), marked("groundwater"),
    marked("land"), marked("contained"),
)  # fmt: skip
_FACTS: Mapping[str, str] = {
    "accidental": marked("whether it was an accident"), "captured": marked("whether all of it was captured and returned"),
    "discharged_at": marked("when it began"), "ended_at": marked("when it ended"), "known_at": marked("when it became known"),
    "planned_at": marked("when it is planned"), "reported_at": marked("when it was reported to the city"),
    "enrollee": marked("whether the sewer belongs to an enrollee of the state sewer order"),
    "hazardous": marked("whether the material is hazardous"), "high_risk": marked("whether it is of high risk"),
    "kind": marked("what kind of matter it is"), "material": marked("what was spilled"),
    "npdes_permittee": marked("whether the discharger holds an NPDES permit"), "premises": marked("what kind of place it is"),
    "reached": marked("what it reached"), "release": marked("whether it is confirmed"),
    "reportable_quantity": marked("whether a federal reportable quantity was reached"),
    "sheen": marked("whether there is an oil sheen on water"),
    "spcc_facility": marked("whether the facility is under the federal oil rule"), "substances": marked("which substances it held"),
    "threat": marked("whether people or the environment are threatened"), "volume": marked("how much it was"),
}  # fmt: skip
# Why a report needs a person: the reasons that intake gives in fixed words.
_REASONS = (
    marked("its place is in no city served here"), marked("its city is not known"), marked("its place is in no city served here any more"),
    marked("the law could not be applied to it"),
)  # fmt: skip
# How a flag of intake begins, by the name a person knows the field by.
_FIELDS: Mapping[str, str] = {
    "seen_at": "the time it was seen", "known_at": "the time it became known", "reported_at": "the time it was reported",
    "discharged_at": "the time it began", "ended_at": "the time it ended", "volume": "the amount", "material": "what was spilled",
    "reached": "what it reached", "location": "the place", "contact": "the contact",
}  # fmt: skip
_FIELD = re.compile(rf"(?:^|(?<=; ))({'|'.join(_FIELDS)})(?:\.\w+)*(?=: )")
# Nearer than this, the hours that are left say it better than "today".
_SOON = timedelta(hours=3)
# Farther than this, a day without its year could be taken for another.
_NEEDS_YEAR = timedelta(days=180)


def when(moment: datetime, zone: ZoneInfo, speech: Speech = ENGLISH) -> str:
    """Local time with the zone's abbreviation, by which the hour that a night has twice is told apart: Sun Nov 1, 1:30 AM PDT."""
    return speech.when(moment.replace(microsecond=0), zone).replace("\u00a0", " ").replace("\u202f", " ")


def in_full(moment: datetime, zone: ZoneInfo, speech: Speech = ENGLISH) -> str:
    """Local time with its year: Nov 30, 2026, 4:05 PM PST."""
    return speech.stamp(moment.replace(microsecond=0), zone).replace("\u00a0", " ").replace("\u202f", " ")


def asked_why(reason: str, speech: Speech = ENGLISH) -> str:
    """Why a report needs a person. What intake says of a field names it as people do."""
    return speech.say(_FIELD.sub(lambda found: _FIELDS[found[1]], reason))


def day_word(moment: datetime, zone: ZoneInfo, now: datetime, speech: Speech = ENGLISH) -> str:
    """Today or tomorrow, where that helps; nothing for the next three hours or any other day."""
    days = (moment.astimezone(zone).date() - now.astimezone(zone).date()).days
    if days == 1:
        return speech.say("tomorrow")
    return speech.say("today") if days == 0 and moment - now > _SOON else ""


def span(length: timedelta, speech: Speech = ENGLISH) -> str:
    """A length of time in its two largest parts: 2 days 3 hours, 10 seconds."""
    return speech.span(length)


def due_words(clock: Mapping[str, Any], zone: ZoneInfo, now: datetime, speech: Speech = ENGLISH) -> tuple[str, str]:
    """When it is due and how that stands: ("Mon Nov 30, 4:05 PM PST", "10 seconds left"). Immediate duties are never told as a time."""
    starts_at, due_at = moment_of(clock["starts_at"]), moment_of(clock["due_at"])
    if due_at is None:
        return speech.say("no due time yet"), speech.say("waiting")
    left = due_at - now
    if starts_at is not None and is_immediate(clock):
        known = now - starts_at
        since = speech.say("known %(span)s ago", span=speech.span(known)) if known >= timedelta(minutes=1) else speech.say("known just now")
        return speech.say("immediately"), speech.say("OVERDUE, %(since)s", since=since) if left < timedelta() else since
    told = when(due_at, zone, speech) if abs(left) < _NEEDS_YEAR else in_full(due_at, zone, speech)
    if abs(left) < timedelta(seconds=1):
        return told, speech.say("due now")
    if left < timedelta():
        return told, speech.say("OVERDUE by %(span)s", span=speech.span(left))
    span_left = speech.say("%(span)s left", span=speech.span(left))
    return told, span_left[:1].lower() + span_left[1:]  # it stands in the middle of a sentence, other than on pages


def due_told(clock: Mapping[str, Any], zone: ZoneInfo, now: datetime, speech: Speech = ENGLISH) -> tuple[str, str]:
    """The same, the day also named as today or tomorrow where that helps."""
    due, standing = due_words(clock, zone, now, speech)
    due_at = moment_of(clock["due_at"])
    day = day_word(due_at, zone, now, speech) if due_at is not None and not is_immediate(clock) else ""
    return (f"{day}, {due}" if day else due), standing


def happened(spill: Spill, speech: Speech = ENGLISH) -> str:
    """What happened where, in one line: `sewage, 1,500 gal, at 13220 Central Ave; reached: storm drain`."""
    facts = spill.facts
    volume = facts.get("volume") or {}
    unit = volume.get("unit", "")
    if "quantity" in volume:
        amount = f"{_number(volume['quantity'])} {unit}"
    elif "high" in volume:
        low, high = _number(volume["low"]), f"{_number(volume['high'])} {unit}"
        amount = speech.say("%(low)s to %(high)s", low=low, high=high)
    else:
        amount = speech.say("amount unknown")
    what = speech.say(str(facts.get("material") or "unknown material").replace("_", " "))
    reached = ", ".join(speech.say(str(place).replace("_", " ")) for place in facts.get("reached") or []) or speech.say("not known")
    what += f", {amount}"
    return speech.say("%(what)s, at %(where)s; reached: %(reached)s", what=what, where=where(spill, speech), reached=reached)


def where(spill: Spill, speech: Speech = ENGLISH) -> str:
    """The place of a spill."""
    if spill.address:
        return spill.address
    return f"{spill.lat:.5f}, {spill.lon:.5f}" if spill.lat is not None and spill.lon is not None else speech.say("place not given")


def unsettled(clock: Mapping[str, Any], speech: Speech = ENGLISH) -> str:
    """What has to be known before a presumed duty is sure to be owed."""
    return ", ".join(speech.say(_FACTS.get(fact, str(fact).replace("_", " "))) for fact in clock["unsettled"])


def how(clock: Mapping[str, Any], speech: Speech = ENGLISH) -> str:
    """The ways in which a duty may be done."""
    return speech.say(" or ").join(speech.say(METHOD_WORDS[method]) for method in clock["methods"])


def _number(number: Any) -> str:
    return f"{number:,}" if isinstance(number, int | float) else str(number)
