"""What the record answers to what papers ask: each answer with who says so, and where it is put right. Nothing is guessed.

An empty answer is "not known", never no and never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deadlines import read_moment
from service.case_file.record import CaseRecord, source_told
from service.causes import CAUSES, causes_in
from service.events import ActRecorded
from service.pages.known_answers import Known
from service.pages.particular_words import particular_told
from service.pages.rendering import city_name
from service.pages.reporter_news import words_of_reporter
from service.pages.speech import Speech, marked
from service.particulars import PARTICULARS
from service.withholding import withheld_of

# Where each fact is amended, on the form of all facts.
FIELD_OF_FACT: Mapping[str, str] = {"volume": "low", "reached": "reached-storm_drain", "substances": "substance-0-name"}
_IN_WATER = ("surface_water", "channel")
_IN_DRAINS = ("storm_drain", "street", "gutter", "channel")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a paper asks for. `says`: the answer, empty where it is not known; `note`: who says so, and how surely.

    `where`: the page on which it is put right, from the page of the spill on; empty where it is on none. `by_hand`: whoever uses the paper
    writes it there, so that it is not missing from the record.
    """

    label: str
    says: str
    where: str = ""
    note: str = ""
    by_hand: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether the record should hold it and does not."""
        return not self.says and not self.by_hand


@dataclass(frozen=True)
class Answers:
    """The answers of a record, in one language."""

    record: CaseRecord
    speech: Speech

    @cached_property
    def _known(self) -> Known:
        return self.record.known(self.speech)

    def entry(self, label: str, says: str, where: str = "", note: str = "") -> Entry:
        """An entry with a label of ours."""
        return Entry(self.speech.say(label), says.strip(), where, note if says.strip() else "")

    def by_hand(self, label: str, says: str = "") -> Entry:
        """A line that whoever uses the paper writes on."""
        return Entry(self.speech.say(label), says, by_hand=True)

    def fact(self, label: str, key: str, says: str) -> Entry:
        """An entry that a fact of the law answers."""
        source = self.record.sources.get(key)
        note = source_told(self.speech, source.source) if source and self.record.facts.get(key) is not None else ""
        return self.entry(label, says, f"/amend#{FIELD_OF_FACT.get(key, key)}", note)

    def particular(self, key: str, label: str = "") -> Entry:
        """An entry that a particular answers."""
        told = self.record.particulars.get(key)
        says = particular_told(self.speech, self.record.zone, key, told.value) if told else ""
        note = source_told(self.speech, told.source) if told else ""
        return self.entry(label or PARTICULARS[key].label, says, f"/papers/particulars#{key}", note)

    def truth(self, label: str, key: str) -> Entry:
        """An entry that a yes-or-no fact answers."""
        value = self.record.facts.get(key)
        return self.fact(label, key, "" if value is None else self.speech.say(marked("Yes") if value else marked("No")))

    def moment(self, label: str, key: str) -> Entry:
        """An entry that a moment among the facts answers, in local time."""
        told = self.record.facts.get(key)
        zone = self.record.zone
        return self.fact(label, key, self.speech.stamp(read_moment(told, zone), zone) if told else "")

    # -- what it is

    def material(self) -> Entry:
        """What was spilled, with the substances by name and number."""
        return self.fact(marked("What was spilled"), "material", self._known.material())

    def substances(self) -> Entry:
        """Each substance with its amount."""
        told = [_substance(self.speech, one) for one in self.record.facts.get("substances") or []]
        return self.fact(marked("Substances, each with its amount"), "substances", "\n".join(told))

    def volume(self) -> Entry:
        """How much."""
        return self.fact(marked("How much"), "volume", self._known.volume())

    def description(self) -> Entry:
        """What the caller said, without who they are unless they agreed to be named."""
        kept_out = withheld_of(self.record.spill, self.record.members, [self.record.history])
        return self.entry(marked("What was reported, in the caller's words"), kept_out.text(words_of_reporter(self.record.history)))

    def cause(self) -> Entry:
        """Why it came to the spill, by its kind and in words."""
        found = next((event for _, event in causes_in(self.record.history)), None)
        if found is None or not found.cause:
            return self.entry(marked("Source and cause"), "", "#cause")
        says = ": ".join(filter(None, (self.speech.say(CAUSES.get(found.cause, found.cause)), found.note)))
        return self.entry(marked("Source and cause"), says, "#cause", source_told(self.speech, found.source))

    def running(self) -> Entry:
        """Whether it has stopped; that nobody recorded an end says nothing."""
        return self.fact(marked("Has it stopped?"), "ended_at", self._known.ended())

    # -- where

    def place(self) -> Entry:
        """Where, with the point in degrees."""
        spill = self.record.spill
        degrees = f"{spill.lat:.5f}, {spill.lon:.5f}" if spill.lat is not None and spill.lon is not None else ""
        says = "\n".join(dict.fromkeys(filter(None, (spill.address.strip(), degrees))))
        return self.entry(marked("Place"), says, "#place")

    def city(self) -> Entry:
        """The city."""
        city = self.record.spill.city
        return self.fact(marked("City"), "jurisdiction", city_name(self.record.house, city) if city else "")

    def premises(self) -> Entry:
        """The kind of place."""
        told = self.record.facts.get("premises")
        return self.fact(marked("Kind of place"), "premises", self.speech.say(PREMISES[told]) if told else "")

    def reached(self) -> Entry:
        """What it reached."""
        return self.fact(marked("What it reached"), "reached", self._known.reached())

    def in_water(self) -> Entry:
        """Whether it is in surface water. That nobody saw it there is no "no" while it may still run there from a drain."""
        says = self._held(_IN_WATER)
        if says and not self._is_in(_IN_WATER) and self._is_in(_IN_DRAINS):
            says = self.speech.say("Not seen there so far, but it is where rain runs off, which may lead to water.")
        return self.fact(marked("Is water involved?"), "reached", says)

    def in_drains(self) -> Entry:
        """Whether it is in the storm drains, a street or a gutter."""
        return self.fact(marked("Did it reach a storm drain, street, gutter or channel?"), "reached", self._held(_IN_DRAINS))

    def _held(self, places: Sequence[str]) -> str:
        if not self.record.facts.get("reached"):
            return ""
        return self.speech.say(marked("Yes") if self._is_in(places) else marked("No"))

    def _is_in(self, places: Sequence[str]) -> bool:
        return bool(set(places) & set(self.record.facts.get("reached") or ()))

    # -- when

    def began(self) -> Entry:
        """When it began, as far as anybody stated that."""
        return self.fact(marked("When it began"), "discharged_at", self._known.began())

    def known_at(self) -> Entry:
        """When it was first known."""
        return self.moment(marked("When it was first known"), "known_at")

    # -- who

    def agency(self) -> Entry:
        """For whom the call is made."""
        city = self.record.spill.city
        return self.by_hand(marked("Your agency or firm"), city_name(self.record.house, city) if city else "")

    def reporter(self) -> Entry:
        """Who reported it: a name only where its owner agreed."""
        said = self.record.spill.reporter
        privacy = str(said.get("privacy") or "")
        if privacy == "named":
            says = ", ".join(filter(None, (str(said.get(key) or "") for key in ("name", "phone", "email"))))
        elif privacy == "confidential":
            says = self.speech.say(marked("Asked to stay confidential: do not tell."))
        else:
            says = self.speech.say(marked("Stayed anonymous.")) if privacy == "anonymous" else ""
        return self.entry(marked("Who reported it, if somebody else"), says, "#people")

    def responsible(self) -> Entry:
        """Who is held responsible, with how to reach them."""
        said = self.record.spill.discharger
        telephone = self._known.telephone()
        says = ", ".join(filter(None, (str(said.get("name") or ""), telephone, str(said.get("email") or ""))))
        return self.entry(marked("Who is responsible"), says, "#people")

    def told_already(self, recipient: str) -> Entry:
        """Who was told before, each with the number they gave."""
        names: dict[str, str] = {}
        for _, event in self.record.history:
            other = str(event.act.get("recipient")) if isinstance(event, ActRecorded) and event.act.get("type") == "notice_given" else ""
            if other and other != recipient and (found := self.record.recipients.get(other)):
                when, number = self._known.notice(other)
                says = self.speech.say("%(name)s, control number %(number)s", name=found.name, number=number) if number else found.name
                names[other] = f"{says} ({when})"
        return self.entry(marked("Who was told already"), "\n".join(names.values()), "#record")

    def measures(self) -> Entry:
        """What was done against it, with times."""
        return self.entry(marked("What was done so far"), self._known.measures(), "#record")

    def oes_call(self) -> Entry:
        """When Cal OES was called, with the number they gave."""
        when, number = self._known.notice("cal-oes")
        says = self.speech.say("%(when)s, control number %(number)s", when=when, number=number) if number else when
        return self.entry(marked("Cal OES was told, with its control number"), says, "#clocks")


def _substance(speech: Speech, one: Mapping[str, Any]) -> str:
    name = ", ".join(filter(None, (str(one.get("name") or ""), f"CAS {one['cas']}" if one.get("cas") else "")))
    quantity, share = one.get("quantity"), one.get("fraction")
    amount = f"{speech.number(quantity)} {one.get('unit') or ''}".strip() if isinstance(quantity, int | float) else ""
    part = speech.say("%(percent)s%% of it by weight", percent=speech.number(share * 100)) if isinstance(share, int | float) else ""
    told = ", ".join(filter(None, (amount, part)))
    return f"{name}: {told or speech.say(marked('amount not known'))}"


PREMISES: Mapping[str, str] = {
    "residential": marked("A home"), "commercial": marked("A business"), "industrial": marked("An industrial site"),
    "construction": marked("A construction site"), "municipal": marked("A city facility"),
}  # fmt: skip
Ask = Callable[[Answers], Entry]
