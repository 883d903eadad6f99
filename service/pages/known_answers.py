"""What the record already knows of an item of a written report: offered in its field, for whoever files it to confirm or correct."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deadlines import read_moment
from service.events import ActRecorded, SpillEvent
from service.pages import words
from service.pages.duties import Duty
from service.pages.rendering import city_name, where_of, zone_of
from service.pages.reporter_news import ACT_NEWS, amount
from service.pages.speech import Speech
from service.parties import Respondent
from service.tables import EventRow, Spill
from service.transaction import House

_OF_THIS_COUNTRY = re.compile(r"\+1(\d{3})(\d{3})(\d{4})")
_CONTROL_NUMBER = re.compile(r"control number ([^;\n]{1,60})")
# Acts that are measures against the spill, as reports ask for them.
_MEASURES = ("cleanup_done", "repaired", "sampling_done", "responded")
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

    def period(self) -> str:
        """From when to when it ran, as far as that is known."""
        began, ended = self.moment("discharged_at"), self.moment("ended_at")
        told = [
            self.speech.say("It began %(when)s.", when=began) if began else "",
            self.speech.say("It ended %(when)s.", when=ended) if ended else "",
        ]
        return " ".join(filter(None, told))

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
        began, called = self.moment("discharged_at") or self.moment("known_at"), self.notice("cal-oes")[0]
        told = [began, self.speech.say("Cal OES was called %(when)s.", when=called) if called else ""]
        return ". ".join(filter(None, told))

    def measures(self) -> str:
        """What was done against it so far, each act with its time."""
        zone = zone_of(self.house, self.spill.city)
        done = [
            f"{self.speech.stamp(row.happened_at, zone)}: {self.speech.say(ACT_NEWS[str(event.act['type'])])}"
            for row, event in self.history
            if isinstance(event, ActRecorded) and event.act.get("type") in _MEASURES
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
    found = {item: known.answer(item) for item in duty.items}
    return {item: text for item, text in found.items() if text}


# By the ids of the items that packs use.
_ANSWERS: Mapping[str, Callable[[Any], str]] = {
    "material_type": Known.material, "product": Known.material, "pollutant": Known.material, "chemical": Known.material,
    "volume": Known.volume, "quantity": Known.volume, "location": Known.place, "media": Known.reached, "period": Known.period,
    "time": Known.period, "incident_date": Known.incident, "control_number": lambda known: known.notice("cal-oes")[1],
    "business": Known.business, "owner": Known.firm, "permittee_name": Known.firm, "contact_name": Known.caller,
    "contact_telephone": Known.telephone, "corrective_actions": Known.measures, "actions": Known.measures,
    "actions_taken": Known.measures, "mitigation": Known.measures, "cleanup": Known.measures,
}  # fmt: skip
