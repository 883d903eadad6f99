"""What the record already knows of an item of a written report: offered in its field, for whoever files it to confirm or correct."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadlines import read_moment
from service.events import ActRecorded, FactsRecorded, LinkIssued, MessageArrived, ReportReceived, SpillEvent
from service.pages import words
from service.pages.duties import Duty
from service.pages.rendering import city_name, where_of, zone_of
from service.pages.reporter_news import ACT_NEWS, amount
from service.pages.speech import Speech
from service.parties import Respondent
from service.said_facts import IN_WORDS
from service.spills import AS_IT_CAME
from service.tables import EventRow, Spill
from service.transaction import House

_OF_THIS_COUNTRY = re.compile(r"\+1(\d{3})(\d{3})(\d{4})")
_CONTROL_NUMBER = re.compile(r"control number ([^;\n]{1,60})")
# Acts that are measures against the spill, as reports ask for them.
_MEASURES = ("cleanup_done", "repaired", "sampling_done", "responded")
_CURES = ("cleanup_done", "repaired")
_TO_COME = re.compile(r"\bwill\b")
History = list[tuple[EventRow, SpillEvent]]


@dataclass(frozen=True)
class Known:
    """What a spill's record says, in the words of a language. Each answer is empty where the record is silent: nothing is guessed."""

    speech: Speech
    house: House
    spill: Spill
    history: History
    respondent: Respondent | None = None

    def answer(self, item: str) -> str:
        """What is known of an item, in the words of this language; nothing where nothing is."""
        find = _ANSWERS.get(item)
        return find(self) if find else ""

    def material(self) -> str:
        """What was spilled, with the substances that are named."""
        material = self.spill.facts.get("material", "unknown")
        named = [str(one.get("name") or one.get("cas") or "") for one in self.spill.facts.get("substances") or []]
        known = self.speech.say(words.MATERIALS[material]) if material != "unknown" else ""
        return ": ".join(filter(None, (known, ", ".join(filter(None, named)))))

    def volume(self) -> str:
        """How much, as it was stated."""
        return amount(self.speech, self.spill.facts.get("volume"))

    def place(self) -> str:
        """Where, with the city."""
        return ", ".join(filter(None, (where_of(self.spill), city_name(self.house, self.spill.city) if self.spill.city else "")))

    def reached(self) -> str:
        """What it reached."""
        return "; ".join(self.speech.say(words.REACHED[place]) for place in self.spill.facts.get("reached") or [])

    def moment(self, fact: str) -> str:
        """A moment of the facts, in local time with its year."""
        told = self.spill.facts.get(fact)
        zone = zone_of(self.house, self.spill.city)
        return self.speech.stamp(read_moment(told, zone), zone) if told else ""

    def began(self) -> str:
        """When it began, in a sentence, where a person stated that; else when it was seen, which is all that whoever saw it said."""
        when = self.moment("discharged_at")
        if not when:
            return ""
        if self.is_start_stated:
            return self.speech.say("It began %(when)s.", when=when)
        return self.speech.say("It was first seen about %(when)s. When it began is not on record.", when=when)

    @property
    def is_start_stated(self) -> bool:
        """Whether a person said when it began; else its time is when it was seen."""
        return _is_start_stated(self.history)

    def ended(self) -> str:
        """When it ended, in a sentence."""
        when = self.moment("ended_at")
        return self.speech.say("It ended %(when)s.", when=when) if when else ""

    def period(self) -> str:
        """From when to when it ran, as far as that is known."""
        return " ".join(filter(None, (self.began(), self.ended())))

    def told(self) -> str:
        """When word of it is known to have reached whoever is responsible, in a sentence. That the city knew of it says nothing of them."""
        names = {event.name for _, event in self.history if isinstance(event, LinkIssued)} | {self.firm()}
        found = next(
            (row for row, event in self.history if isinstance(event, MessageArrived) and event.person and event.person in names), None
        )
        if found is None:
            return ""
        when = self.speech.stamp(found.happened_at, zone_of(self.house, self.spill.city))
        return self.speech.say("We were told %(when)s.", when=when)

    def notice(self, recipient: str) -> tuple[str, str]:
        """When somebody was first told, in words, and the control number they gave; empty where that is not on record."""
        zone, when, number = zone_of(self.house, self.spill.city), "", ""
        for row, event in self.history:
            if isinstance(event, ActRecorded) and event.act.get("type") == "notice_given" and event.act.get("recipient") == recipient:
                when = when or self.speech.stamp(row.happened_at, zone)
                found = _CONTROL_NUMBER.search(event.note)
                number = number or (found[1].strip() if found else "")
        return when, number

    def incident(self) -> str:
        """The date of the incident, and when the state was telephoned."""
        called = self.notice("cal-oes")[0]
        told = [self.began(), self.speech.say("Cal OES was called %(when)s.", when=called) if called else ""]
        return " ".join(filter(None, told))

    def reported_volume(self) -> str:
        """How much, for a report that somebody certifies: what was made of the reporter's words says so."""
        told = self.volume()
        if told and any(flag.startswith(IN_WORDS[0]) for flag in self.spill.flags):
            return self.speech.say("about %(amount)s, as read from the words of the first report", amount=told)
        return told

    def measures(self, acts: Sequence[str] = _MEASURES) -> str:
        """What was done against it so far, each act with its time."""
        zone = zone_of(self.house, self.spill.city)
        done = [
            f"{self.speech.stamp(row.happened_at, zone)}: {self.speech.say(ACT_NEWS[str(event.act['type'])])}"
            for row, event in self.history
            if isinstance(event, ActRecorded) and event.act.get("type") in acts
        ]
        return "\n".join(done)

    def firm(self) -> str:
        """Who is responsible, as staff named them."""
        return str(self.spill.discharger.get("name") or "")

    def caller(self) -> str:
        """The person whom the link was issued to."""
        return self.respondent.link.name if self.respondent and self.respondent.link else ""

    def telephone(self) -> str:
        """The telephone of that person, else of whoever is responsible; one of this country as it is read out: 909-555-0144."""
        mine = self.respondent.link.phone if self.respondent and self.respondent.link else ""
        return _OF_THIS_COUNTRY.sub(r"\1-\2-\3", mine or str(self.spill.discharger.get("phone") or ""))

    def business(self) -> str:
        """The firm, with a person and a telephone."""
        return ", ".join(filter(None, (self.firm(), self.caller(), self.telephone()))) if self.firm() else ""


def suggestions(known: Known, duty: Duty) -> Mapping[str, str]:
    """What is known of each item of a report, by item; items of which nothing is certain are left out."""
    # What will be done is nowhere on record, whatever was done already.
    found = {item: known.answer(item) for item, says in duty.items.items() if not _TO_COME.search(says)}
    return {item: text for item, text in found.items() if text}


def _is_start_stated(history: History) -> bool:
    """Whether a person said when it began. The time of a report is when it was seen, and only tells that it had begun by then."""
    stated = False
    for _, event in history:
        if isinstance(event, FactsRecorded) and "discharged_at" in event.changes:
            stated = event.reason != AS_IT_CAME or _says_start(history)
    return stated


def _says_start(history: History) -> bool:
    raw = next((event.raw for _, event in history if isinstance(event, ReportReceived)), None)
    if not isinstance(raw, dict):
        return False
    facts = raw.get("facts")
    return "discharged_at" in raw or (isinstance(facts, dict) and "discharged_at" in facts)


# By the ids of the items that packs use. Who owns a place or holds a permit is left open: whoever is responsible may be neither.
_ANSWERS: Mapping[str, Callable[[Any], str]] = {
    "material_type": Known.material, "product": Known.material, "pollutant": Known.material, "chemical": Known.material,
    "volume": Known.reported_volume, "quantity": Known.reported_volume,
    "location": Known.place, "media": Known.reached, "period": Known.period,
    "time": Known.period, "incident_date": Known.incident, "control_number": lambda known: known.notice("cal-oes")[1],
    "business": Known.business, "contact_name": Known.caller, "contact_telephone": Known.telephone,
    "actions": Known.measures, "actions_taken": Known.measures,
    **dict.fromkeys(("corrective_actions", "mitigation", "cleanup"), lambda known: known.measures(_CURES)),
}  # fmt: skip
