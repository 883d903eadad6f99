"""One legal clock as people see it, and the act that a form on it records. Shared by the discharger's page and the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import CityLaw, Clock, Recipient, Rule, as_z
from deadlines.facts import METHODS
from deadlines.strip import strip_as_json
from service.acting import ACT_TYPES, named_by_start
from service.errors import BadInput
from service.followups import items_of, reaches_city, versions, wants_report
from service.obligations import clock_json, of_spill
from service.pages import law_words, words
from service.pages.counting_words import counting_words, limit_words
from service.pages.day_strip import DayCell, cells_of
from service.pages.fields import Fields
from service.pages.rendering import rule_of, zone_of
from service.pages.speech import Speech, is_immediate, moment_of
from service.spills import record_act
from service.tables import FollowUp, Obligation, Spill
from service.transaction import House, Transaction

OPEN = ("running", "overdue")


@dataclass(frozen=True)
class Duty:
    """A clock with everything its card shows, as it stands at `now`."""

    row: Obligation
    clock: Mapping[str, Any]
    rule: Rule | None  # None: the packs of today no longer hold it; the clock goes on as it was decided
    recipient: Recipient | None
    zone: ZoneInfo
    now: datetime
    items: Mapping[str, str]
    reports: Sequence[FollowUp]

    @property
    def id(self) -> int:
        """The number of the clock."""
        return self.row.id or 0

    @property
    def act(self) -> str:
        """What kind of act the rule asks for."""
        return self.row.act

    @property
    def state(self) -> str:
        """The state of the contract's clock object at `now`."""
        return str(self.clock["state"])

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done and its time runs."""
        return self.state in OPEN

    @property
    def is_immediate(self) -> bool:
        """Whether it is owed at once."""
        return is_immediate(self.clock)

    @property
    def due_at(self) -> datetime | None:
        """The last moment on time."""
        return moment_of(self.clock["due_at"])

    @property
    def extended_due_at(self) -> datetime | None:
        """The later day the law may allow."""
        return moment_of(self.clock["extended_due_at"])

    @property
    def other_readings(self) -> list[tuple[str, datetime | None]]:
        """Other counts that the text allows."""
        return [(other["reading"], moment_of(other["due_at"])) for other in self.clock["other_readings"]]

    @property
    def says(self) -> str:
        """What the law says, in a paraphrase; nothing where the packs of today hold another version of the rule."""
        stands = self.rule is not None and (self.rule.citation, self.rule.limit.text) == (self.clock["citation"], self.clock["limit"])
        return self.rule.says if self.rule and stands else ""

    @cached_property
    def wants_report(self) -> bool:
        """Whether it is done by a written report with a list of what it must hold."""
        return wants_report(self.row)

    @cached_property
    def ways(self) -> list[str]:
        """The ways in which telling the recipient counts; empty where the duty is another act, or a report."""
        if self.act != "notice" or self.recipient is None or self.wants_report:
            return []
        counting = self.clock["methods"]
        return list(METHODS) if "any" in counting else [way for way in METHODS if way in counting]

    @property
    def is_call(self) -> bool:
        """Whether a telephone call does it."""
        return "telephone" in self.ways

    @property
    def button(self) -> str | None:
        """The words on the button of an act that is no notice."""
        return words.ACTS[self.act][1] if self.act in words.ACTS else None

    @property
    def filed(self) -> list[FollowUp]:
        """The filed versions of its report."""
        return [report for report in self.reports if report.state == "filed"]

    @property
    def draft(self) -> FollowUp | None:
        """The report as last kept, filed or not, to go on from."""
        return self.reports[-1] if self.reports else None

    def standing(self, speech: Speech) -> str:
        """How it stands, in words."""
        return speech.standing(self.clock, self.zone, self.now)

    def due(self, speech: Speech) -> str:
        """When it is due, in words."""
        return speech.due(self.clock, self.zone)

    def strip(self, speech: Speech) -> list[DayCell]:
        """Its count as a row of days; empty where it has not started, or was decided before days were kept."""
        return cells_of(speech, self.row.strip)

    def how(self, speech: Speech) -> str:
        """The ways that count, in words."""
        return speech.say(" or ").join(speech.say(words.WAYS.get(way, way)) for way in self.clock["methods"])

    def limit(self, speech: Speech) -> str:
        """Its time limit, in words."""
        return limit_words(speech, str(self.clock["limit"]))

    def counting(self, speech: Speech) -> list[str]:
        """How its time was counted, in words, a sentence a step."""
        return counting_words(speech, self.clock, self.zone)

    @property
    def reached(self) -> bool:
        """Whether filing its report here hands it in to whom it is owed."""
        return reaches_city(self.row, self.recipient)

    def handed_in(self, speech: Speech) -> str:
        """Where a report that was filed here has got to, and to whom a copy must still go; nothing where nobody is named."""
        if self.recipient is None:
            return ""
        return speech.handed_in(speech.say(self.recipient.name), self.how(speech), to_city=self.reached)

    def settles(self, speech: Speech) -> list[str]:
        """The questions whose answers would settle whether a presumed clock runs."""
        return [question_of(speech, fact) for fact in self.clock["unsettled"]]


def question_of(speech: Speech, fact: str) -> str:
    """An unsettled fact as a question; one of an event is told by the name of what is missing there."""
    if fact.startswith("events["):
        return speech.say("%(what)s of an event?", what=words.plain(fact.partition("].")[2]))
    if fact.startswith("substances["):
        return speech.say("%(what)s of a substance?", what=words.plain(fact.partition("].")[2]))
    if fact in law_words.QUESTIONS:
        return speech.say(law_words.QUESTIONS[fact])
    return (speech.say(words.FACTS[fact]) if fact in words.FACTS else words.plain(fact)) + "?"


async def duties_of(tx: Transaction, spill: Spill, owed_by: str | None = None) -> list[Duty]:
    """The clocks of a spill as cards, by due time; of one side only, where named."""
    rows = await of_spill(tx, spill)
    return [await duty_of(tx, spill, row) for row in rows if owed_by is None or row.clock["owed_by"] == owed_by]


async def duty_of(tx: Transaction, spill: Spill, row: Obligation) -> Duty:
    """One clock of a spill as a card."""
    house: House = tx.house
    rule = rule_of(house, row.duty)
    items = items_of(row)
    recipients = house.rulebook.law_of(spill.city).recipients if spill.city else house.rulebook.recipients
    recipient = recipients.get(row.clock["recipient"] or "")
    return Duty(row, clock_json(row, tx.now), rule, recipient, zone_of(house, spill.city), tx.now, items, await versions(tx, row))


def duty_asked(law: CityLaw, clock: Clock, now: datetime) -> Duty:
    """A clock that nobody stored as a card."""
    rule, items = clock.standing.rule, {item.item: item.says for item in clock.content}
    told = {**clock.as_json(), "reason": clock.uncomputable}
    row = Obligation(
        spill_id=0, duty=rule.duty, state=clock.state, clock=told, act=rule.act, content=items, ladder=[],
        strip=strip_as_json(clock.counted), starts_at=clock.starts_at, due_at=clock.due_at,
    )  # fmt: skip
    return Duty(row, told, rule, law.recipients.get(clock.standing.recipient or ""), law.zone, now, items, ())


@dataclass(frozen=True)
class Done:
    """What a form on a clock says: the act to record, and what a person noted about it."""

    act: dict[str, Any]
    note: str


def done_by(spill: Spill, duty: Duty, fields: Fields, now: datetime) -> Done:
    """The act that ends this clock, from its form. Raises BadInput where the clock is ended by nothing a person can record."""
    act: dict[str, Any] = {"at": as_z(now) if fields.text("now") else fields.text("at") or as_z(now)}
    if duty.act == "notice":
        if duty.recipient is None:
            raise BadInput("nobody is named to be told", ["recipient: this duty names nobody"])
        way = fields.text("way") or next(iter(duty.ways), "telephone")
        act |= {"type": "notice_given", "recipient": duty.recipient.id, "method": way}
    elif duty.act in ACT_TYPES:
        act |= {"type": ACT_TYPES[duty.act], **named_by_start(spill, duty.row, duty.rule)}
    else:
        raise BadInput("nothing ends this duty but time", [f"{duty.row.duty}: it is kept, not done"])
    return Done(act, _note(fields))


def _note(fields: Fields) -> str:
    parts = [
        f"spoke to {fields.text('spoke_to')}" if fields.text("spoke_to") else "",
        f"control number {fields.text('control_number')}" if fields.text("control_number") else "",
        fields.text("note"),
    ]
    return "; ".join(part for part in parts if part)[:2000]


async def record_done(tx: Transaction, spill: Spill, duty: Duty, fields: Fields) -> None:
    """Record what a form on a clock says. Raises BadInput with one line a fault."""
    done = done_by(spill, duty, fields, tx.now)
    await record_act(tx, spill, done.act, done.note)
