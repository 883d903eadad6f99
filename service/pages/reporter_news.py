"""What may be told of a spill to whoever reported it: what was understood, what happened, what the city says. Nobody's name is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import read_moment
from service.closing import History
from service.events import (
    ActionAsked,
    ActRecorded,
    ContactCorrected,
    CopyAsked,
    DischargerNamed,
    FactsRecorded,
    ObligationAcknowledged,
    ReporterAdded,
    ReporterAnswered,
    RungReached,
    SpillClosed,
    SpillEvent,
    SpillReopened,
    TriageAsked,
)
from service.pages import words
from service.pages.rendering import city_name, where_of
from service.pages.speech import Speech, marked
from service.parties import NO_MESSAGE
from service.tables import EventRow, Spill
from service.transaction import House

# What a flag of intake says to the person who reported. The last line catches whatever has no words of its own.
_FLAG_WORDS: Sequence[tuple[str, str]] = (
    (r"^volume: in words, .* was read as", marked("We read the amount from your words. Staff will check it.")),
    (r"^volume: in words, .* not how much at most", marked("You told us how much at least. Staff will estimate the rest.")),
    (r"no volume|^volume", marked("We could not tell how much was spilled. Staff will estimate it.")),
    (r"no description", marked("You did not describe it in words. That is fine; staff may look for themselves.")),
    (r"no place", marked("You did not say where it is. If you can, send another report with the place.")),
    (r"outside every city", marked("The place seems to be outside the cities served here. Staff will decide who should get the report.")),
    (r"minus sign|swapped", marked("The map position looked wrong. We read it in the way that makes sense, and staff will check it.")),
    (r"from the edge|more than one city", marked("The place is close to a city border. Staff will confirm which city it is.")),
    (r"^location: .*words of the address", marked("We took the city from the words of the address. Staff will confirm it.")),
    (r"^location", marked("The map position could not be used. Staff will find the place from your words.")),
    (r"^seen_at: over 30 days", marked("You saw it more than 30 days ago. Staff will confirm the date.")),
    (r"^seen_at: lies in the future", marked("The time you gave lies in the future, so we left it out.")),
    (r"^seen_at: in words", marked("We read the time from your words. Staff will check it.")),
    (r"^seen_at: the clocks are changed", marked("The clocks were changed in that hour. We took the earlier reading.")),
    (r"^seen_at: a local time", marked("We do not know yet in which city it is, so a person will check the time you gave.")),
    (r"^location: a photo was taken", marked("A photo was taken in another place than you told. Staff will find out which is right.")),
    (
        r"^seen_at: the words",
        marked("Your words about the time are kept as you wrote them. A person reads them, and asks you if more is needed."),
    ),
    (r"^(seen|known|reported|discharged|ended)_at", marked("The time you gave could not be used. What you wrote is kept.")),
    (r"^suspicious", marked("A person looks at this report first.")),
    (r"could not be applied", marked("Our automatic check had a problem. Your report is safe, and a person has been told to look at it.")),
    (r"", marked("Part of what was sent could not be used automatically. It is kept, and staff can read it.")),
)

ACT_NEWS = {
    "notice_given": marked("An authority was told about the spill."),
    "report_submitted": marked("A written report about the spill was handed in."),
    "cleanup_done": marked("The cleanup was recorded as done."),
    "repaired": marked("The repair was recorded as done."),
    "sampling_done": marked("Samples were taken."),
    "responded": marked("Staff went to the place."),
    "order_served": marked("The city served an order about the spill."),
}


# What the reporter did, and what the city told them; told each time it happens.
_EACH_NEWS: Sequence[tuple[type[SpillEvent], str]] = (
    (ReporterAdded, marked("You told us more.")),
    (ContactCorrected, marked("You corrected how you can be reached.")),
    (ActionAsked, marked("You asked what action was taken.")),
    (CopyAsked, marked("You took a copy of the record.")),
    (ReporterAnswered, marked("The city told you what was done.")),
    (SpillClosed, marked("The report was closed.")),
    (SpillReopened, marked("The report was opened again.")),
)
# Who speaks for a city, by the role of the account. Nobody is named: the office answers.
_OFFICES = {
    "officer": marked("an officer of the %(city)s"),
    "manager": marked("a manager of the %(city)s"),
    "administrator": marked("the office of the %(city)s"),
}


@dataclass(frozen=True, slots=True)
class Said:
    """What the city told the reporter: when, by which office, in which words and language. `kind`: answered, closed, reopened."""

    at: datetime
    kind: str
    who: str
    words: str
    language: str


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened, in words for the reporter."""

    at: datetime
    says: str


def understood(speech: Speech, house: House, spill: Spill, zone: ZoneInfo) -> list[tuple[str, str]]:
    """What was understood, as pairs of label and words."""
    facts = spill.facts
    unknown = speech.say("Not known yet")
    began, material = facts.get("discharged_at"), facts.get("material", "unknown")
    return [
        (speech.say("What"), speech.say(words.MATERIALS[material]) if material != "unknown" else unknown),
        (speech.say("How much"), amount(speech, facts.get("volume")) or unknown),
        (speech.say("Where"), where_of(spill) or unknown),
        (speech.say("City"), city_name(house, spill.city) if spill.city else unknown),
        (speech.say("It reached"), "; ".join(speech.say(words.REACHED[place]) for place in facts.get("reached") or []) or unknown),
        (speech.say("Seen"), speech.stamp(read_moment(began, zone), zone) if began else unknown),
    ]


def amount(speech: Speech, volume: dict[str, Any] | None) -> str:
    """A volume in words, or nothing where it is unknown."""
    if not volume:
        return ""
    unit = speech.say(words.UNITS.get(volume.get("unit", ""), ""))
    if "quantity" in volume:
        return f"{speech.number(volume['quantity'])} {unit}"
    return speech.say("%(low)s to %(high)s %(unit)s", low=speech.number(volume["low"]), high=speech.number(volume["high"]), unit=unit)


def plain_flags(speech: Speech, flags: Sequence[str]) -> list[str]:
    """The flags of a report in plain words, each once."""
    told = [flag for flag in flags if not flag.startswith(NO_MESSAGE)]  # the page says so by itself, and how to mend it
    said = [next(text for pattern, text in _FLAG_WORDS if re.search(pattern, flag)) for flag in told]
    return [speech.say(text) for text in dict.fromkeys(said)]


def news(speech: Speech, house: House, spill: Spill, history: History) -> list[News]:
    """What happened since, newest first. Nobody's name and nobody's address is in it."""
    found = [News(spill.received_at, speech.say("We received your report."))]
    for says, matches in _firsts(speech, house):
        row = next((row for row, event in history if matches(event)), None)
        if row is not None:
            found.append(News(row.recorded_at, says(next(event for _, event in history if matches(event)))))
    for row, event in history:
        if isinstance(event, ActRecorded) and event.act.get("type") in ACT_NEWS:
            found.append(News(row.happened_at, speech.say(ACT_NEWS[str(event.act["type"])])))
    for row, event in history:
        if told := next((text for kind, text in _EACH_NEWS if isinstance(event, kind)), ""):
            only_photos = isinstance(event, ReporterAdded) and not event.text
            found.append(News(row.recorded_at, speech.say("You sent photos.") if only_photos else speech.say(told)))
    unique = {(one.at.replace(second=0, microsecond=0), one.says): one for one in found}
    return sorted(reversed(unique.values()), key=lambda one: one.at, reverse=True)


def _firsts(speech: Speech, house: House) -> list[tuple[Callable[[Any], str], Callable[[SpillEvent], bool]]]:
    """News that is told once: the city is known, people were alerted, somebody is on it, who is responsible is known."""

    def to_city(event: Any) -> str:
        return speech.say("The place is in the %(city)s.", city=city_name(house, event.changes["jurisdiction"][1]))

    def always(text: str) -> Callable[[Any], str]:
        return lambda _: speech.say(text)

    return [
        (to_city, lambda event: isinstance(event, FactsRecorded) and bool(event.changes.get("jurisdiction", (None, None))[1])),
        (always(marked("The people on duty were alerted.")), lambda event: isinstance(event, RungReached | TriageAsked)),
        (always(marked("A person on duty has seen it.")), lambda event: isinstance(event, ObligationAcknowledged)),
        (always(marked("It is known who is responsible for the spill.")), lambda event: isinstance(event, DischargerNamed)),
    ]


def words_of_reporter(history: History) -> str:
    """What was reported, in the reporter's own words."""
    raw = getattr(history[0][1], "raw", None) if history else None
    return str(raw.get("description") or "") if isinstance(raw, dict) else ""


def said_by_city(speech: Speech, house: House, spill: Spill, history: History) -> list[Said]:
    """Every answer, closing and re-opening, oldest first, in the reader's language where staff gave words in it."""
    found = []
    for row, event in history:
        if isinstance(event, ReporterAnswered | SpillClosed | SpillReopened):
            language = speech.language if speech.language in event.words else "en"
            kind = {ReporterAnswered: "answered", SpillClosed: "closed", SpillReopened: "reopened"}[type(event)]
            found.append(Said(row.recorded_at, kind, _sentence(speech, house, spill, row, event), event.words[language], language))
    return found


def who_says(speech: Speech, house: House, spill: Spill, row: EventRow, event: SpillClosed) -> str:
    """When and by which office a report was closed, and why."""
    return f"{_sentence(speech, house, spill, row, event)} {event.words.get(speech.language, event.words['en'])}"


def _sentence(speech: Speech, house: House, spill: Spill, row: EventRow, event: ReporterAnswered | SpillClosed | SpillReopened) -> str:
    when = speech.stamp(row.recorded_at, house.rulebook.zones[spill.city or house.first_city])
    city = city_name(house, spill.city or house.first_city)
    office = speech.say(_OFFICES.get(event.office, _OFFICES["administrator"]), city=city)
    if isinstance(event, SpillClosed):
        return speech.say("Closed %(when)s by %(office)s.", when=when, office=office)
    if isinstance(event, SpillReopened):
        return speech.say("Opened again %(when)s by %(office)s.", when=when, office=office)
    return speech.say("Answered %(when)s by %(office)s.", when=when, office=office)
