"""The law as read from packs: rules, the packs they stand in, the days they are in force, and the cities a pack lies over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from deadlines.calendars import Calendar
from deadlines.conditions import Condition
from deadlines.ladder import Rung
from deadlines.limits import Limit


@dataclass(frozen=True, slots=True)
class Recipient:
    """Somebody a duty is owed to, as the law names them; `telephone` holds public numbers.

    `city_office`: an office of the city itself, so that what is handed in to the city has reached it.
    """

    id: str
    name: str
    telephone: tuple[str, ...] = ()
    city_office: bool = False


@dataclass(frozen=True, slots=True)
class ContentItem:
    """One thing a written report must hold."""

    item: str
    says: str


@dataclass(frozen=True, slots=True)
class Certification:
    """The words under which the law has a report certified, exactly as it has them, and where they stand."""

    says: str
    source: str


@dataclass(frozen=True, slots=True)
class Trigger:
    """The event that starts a rule's clock, and what it must say (`where`) or must not say (`unless`)."""

    event: str
    where: Mapping[str, frozenset[object]]
    unless: Mapping[str, frozenset[object]]
    first_only: bool


@dataclass(frozen=True, slots=True)
class InForce:
    """The days on which a version of a rule is the law, both included; None is open-ended. Local days of the city."""

    first: date | None = None
    last: date | None = None

    def holds(self, day: date) -> bool:
        """Whether this version is the law on `day`."""
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)

    def meets(self, other: InForce) -> bool:
        """Whether some day lies in both."""
        return (self.first or date.min) <= (other.last or date.max) and (other.first or date.min) <= (self.last or date.max)

    def __str__(self) -> str:
        first = f"from {self.first}" if self.first else ""
        last = f"until {self.last}" if self.last else ""
        return " ".join(part for part in (first, last) if part) or "without an end"


ALWAYS = InForce()


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another reading that the text allows. Without `limit` and `starts` it changes something else, and the due time stays."""

    reading: str
    limit: Limit | None
    starts: str | None


@dataclass(frozen=True, slots=True)
class Rule:
    """One version of one rule of a pack: one row of the law. `duty` is its id for ever; versions share it, each with its own days.

    `starts_on` holds a version to starts on an open day or a closed day of the city's calendar. Notice to a recipient of `also_met_by`
    counts as notice to the rule's own. `certification` is None where the law prescribes no wording for its report. `ladder_name` is how
    its pack calls its ladder; empty where it has none.
    """

    duty: str
    title: str
    provisions: tuple[str, ...]
    citation: str
    says: str
    kinds: frozenset[str]
    when: Condition
    needs: tuple[str, ...]
    trigger: Trigger | None
    starts: str
    limit: Limit
    to: str | None
    to_agency: str | None
    how: tuple[str, ...]
    act: str
    owed_by: str
    content: tuple[ContentItem, ...]
    ladder: tuple[Rung, ...]
    reading: str
    verified: bool
    in_force: InForce = ALWAYS
    starts_on: str | None = None
    also_met_by: frozenset[str] = frozenset()
    alternatives: tuple[Alternative, ...] = ()
    certification: Certification | None = None
    ladder_name: str = ""

    @property
    def starts_from(self) -> str:
        """What the clock counts from: the type of an event that names or is the moment, or a fact."""
        return self.trigger.event if self.trigger and self.starts in ("event", "hearing_at") else self.starts

    def stands_beside(self, other: Rule) -> bool:
        """Whether this and another version of the rule are never the law for one and the same start."""
        return not self.in_force.meets(other.in_force) or (
            None not in (self.starts_on, other.starts_on) and self.starts_on != other.starts_on
        )


@dataclass(frozen=True, slots=True)
class Covers:
    """What a pack lies over: one city (its own pack), every city, the cities of a `state`, or those that hold a `permit`."""

    by: str
    word: str = ""

    def __str__(self) -> str:
        return f"{self.by} {self.word}".strip()


THIS_CITY, EVERY_CITY = Covers("this city"), Covers("every city")


@dataclass(frozen=True, slots=True)
class Checked:
    """Who last compared a pack with the text it states, and when."""

    on: date
    by: str


@dataclass(frozen=True, slots=True)
class Pack:
    """One jurisdiction's or permit's duties. `version` is the day of the text and the first digits of its SHA-256."""

    id: str
    title: str
    version: str
    covers: Covers
    zone: ZoneInfo | None
    calendar: Calendar | None
    checked: Checked | None
    agencies: Mapping[str, str]
    recipients: Mapping[str, Recipient]
    rules: tuple[Rule, ...]
    state: str | None = None
    permits: tuple[str, ...] = ()

    @property
    def is_city(self) -> bool:
        """Whether this is a city's own pack, not one that lies over cities."""
        return self.covers == THIS_CITY

    def lies_over(self, city: Pack) -> bool:
        """Whether this pack's rules stand over `city`, a city's own pack."""
        match self.covers.by:
            case "every city":
                return True
            case "state":
                return city.state == self.covers.word
            case "permit":
                return self.covers.word in city.permits
        return self.id == city.id
