"""assess(): which clocks run for a matter, from when, until when, whether they are met, and why. Everything is given; nothing is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from deadlines.calendars import CalendarGap
from deadlines.conditions import Verdict, View
from deadlines.facts import HEARINGS, Event, Facts
from deadlines.ladder import Rung
from deadlines.limits import Count, OtherReading, count
from deadlines.rulebook import CityLaw, Rulebook, StandingRule
from deadlines.rules import ALWAYS, ContentItem, Trigger

# Acts that have an event of their own are ended by that event alone: a telephone call does not answer an order or file an appeal.
_EVENT_OF_ACT: Mapping[str, str] = {
    "cleanup": "cleanup_done", "repair": "repaired", "sampling": "sampling_done", "response": "responded", "payment": "paid",
    "filing": "filed",
    "order": "order_complied", "appeal": "appeal_filed", "petition": "petition_filed", "hearing": "hearing_held",
    "decision": "decision_made",
    "hearing-notice": "hearing_noticed",
}  # fmt: skip
_TELLING = ("notice_given", "report_submitted")


@dataclass(frozen=True, slots=True)
class Clock:
    """One legal clock of one matter. Instants are UTC; the fields are those of the contract, section 2."""

    standing: StandingRule
    applies: str
    unsettled: tuple[str, ...]
    event: int | None
    occurrence: int | None
    starts_at: datetime | None
    due_at: datetime | None
    state: str
    met_at: datetime | None
    late_by_s: int | None
    counted: Count | None
    waiting_for: str | None = None
    uncomputable: str | None = None

    @property
    def duty(self) -> str:
        """The duty id, pack/rule."""
        return self.standing.rule.duty

    @property
    def extended_due_at(self) -> datetime | None:
        """The later day on which the act may still be done, where the last day is a weekend day or a holiday."""
        return self.counted.extended_due_at if self.counted else None

    @property
    def other_readings(self) -> tuple[OtherReading, ...]:
        """Other counts that the text allows."""
        return self.counted.other_readings if self.counted else ()

    @property
    def content(self) -> tuple[ContentItem, ...]:
        """What a written report must hold before it meets the duty."""
        return self.standing.rule.content

    @property
    def ladder(self) -> tuple[Rung, ...]:
        """Whom we wake about it, and when."""
        return self.standing.rule.ladder

    def counting(self) -> list[str]:
        """The arithmetic, step by step."""
        if self.uncomputable:
            return [f"Cannot be computed: {self.uncomputable}."]
        if self.counted is None:
            return [self.waiting_for or "Waiting."]
        return self.counted.steps()

    def as_json(self) -> dict[str, Any]:
        """The clock object of the contract, section 2."""
        rule, pack = self.standing.rule, self.standing.pack
        return {
            "duty": rule.duty, "title": rule.title, "citation": rule.citation, "pack": pack.id, "pack_version": pack.version,
            "applies": self.applies, "unsettled": list(self.unsettled), "recipient": self.standing.recipient, "methods": list(rule.how),
            "owed_by": rule.owed_by, "limit": rule.limit.text, "starts_from": rule.starts_from,
            "event": self.event, "occurrence": self.occurrence, "starts_at": as_z(self.starts_at), "due_at": as_z(self.due_at),
            "extended_due_at": as_z(self.extended_due_at), "state": self.state, "met_at": as_z(self.met_at), "late_by_s": self.late_by_s,
            "content": [item.says for item in rule.content], "counting": self.counting(), "reading": rule.reading,
            "other_readings": [{"reading": other.reading, "due_at": as_z(other.due_at)} for other in self.other_readings],
            "verified": rule.verified,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """A fact that nobody has settled, and the duties that hang on it: presumed clocks, and clocks that only run once it is known."""

    fact: str
    presumed: tuple[str, ...]
    held_back: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the law asks in one matter at one moment: clocks by due time (waiting ones last), and open questions, weightiest first."""

    clocks: tuple[Clock, ...]
    questions: tuple[Question, ...]
    reportable: tuple[str, ...]


def as_z(moment: datetime | None) -> str | None:
    """An instant as RFC 3339 in UTC with Z, to the second unless it has a fraction."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def assess(facts: Facts, rulebook: Rulebook, now: datetime) -> Assessment:
    """Every clock that runs for `facts` under the law of their city, as it stands at `now` (aware).

    Raises KeyError for a city without a pack. A clock whose count leaves its calendar is returned with `uncomputable` set.
    """
    law = rulebook.law_of(facts.jurisdiction)
    view = View(facts, rulebook.quantities)
    clocks: list[Clock] = []
    held_back: dict[str, list[str]] = {}
    happened = {event.type for event in facts.events}
    for standing in law.rules_for(facts.kind):
        rule = standing.rule
        if rule.trigger is not None and rule.trigger.event not in happened:
            continue
        verdict = rule.when.judge(view)
        if verdict is False:
            continue
        needs = [(name, view.flag(name)) for name in rule.needs]
        if any(answer is False for _, answer in needs):
            continue
        running = _Judged(law, standing, view, now, verdict).clocks()
        asked = [name for name, answer in needs if answer is None]
        if not asked:
            clocks.extend(running)
        elif running:
            for name in asked:
                held_back.setdefault(name, []).append(rule.duty)
    clocks.sort(key=_order)
    reportable = view.reportable.arithmetic if facts.kind == "spill" else ()
    return Assessment(tuple(clocks), _questions(clocks, held_back), reportable)


def _order(clock: Clock) -> tuple[bool, datetime, str, int, int]:
    far = datetime.max.replace(tzinfo=UTC)
    return clock.due_at is None, clock.due_at or far, clock.duty, clock.event or 0, clock.occurrence or 0


def _questions(clocks: Sequence[Clock], held_back: Mapping[str, list[str]]) -> tuple[Question, ...]:
    presumed: dict[str, list[str]] = {}
    for clock in clocks:
        for fact in clock.unsettled if clock.applies == "presumed" else ():
            presumed.setdefault(fact, []).append(clock.duty)
    found = [Question(fact, tuple(presumed.get(fact, ())), tuple(held_back.get(fact, ()))) for fact in {**presumed, **held_back}]
    return tuple(sorted(found, key=lambda question: (-len(question.presumed) - len(question.held_back), question.fact)))


class _Judged:
    """One rule that is not ruled out, turned into its clocks."""

    def __init__(self, law: CityLaw, standing: StandingRule, view: View, now: datetime, verdict: Verdict) -> None:
        self.law = law
        self.standing = standing
        self.rule = standing.rule
        self.view = view
        self.facts = view.facts
        self.now = now
        self.open = () if verdict else tuple(dict.fromkeys(standing.rule.when.open_facts(view)))

    def clocks(self) -> Sequence[Clock]:
        if self.rule.trigger is None:
            return self._from_fact()
        return self._from_events(self.rule.trigger)

    def _is_law(self, start: datetime | None) -> bool:
        """Whether this version of the rule is the law on the local day its clock starts; a clock that waits goes by today's law."""
        rule = self.rule
        if rule.in_force is ALWAYS and rule.starts_on is None:
            return True
        day = (start or self.now).astimezone(self.law.zone).date()
        return rule.in_force.holds(day) and (rule.starts_on is None or rule.starts_on == self._kind_of(day))

    def _kind_of(self, day: date) -> str:
        try:
            return "closed day" if self.law.calendar.why_closed(day) else "open day"
        except CalendarGap:
            # Outside the calendar only one version may stand. A weekend is one there too; whether another day is a holiday nobody knows.
            return "closed day" if day.weekday() in self.law.calendar.weekend else "open day"

    def _from_fact(self) -> Sequence[Clock]:
        start, presumed_for, waiting_for = self._start(self.rule.starts)
        if not self._is_law(start):
            return []
        unsettled = (*self.open, *presumed_for)
        if start is None:
            return [self._waiting(unsettled, None, waiting_for)]
        if self.rule.limit.shape == "recurring":
            return self._recurring(start, unsettled)
        return [self._running(start, unsettled, None, None)]

    def _start(self, starts: str) -> tuple[datetime | None, tuple[str, ...], str]:
        """The start, the facts that would settle it where it is presumed, and what a waiting clock waits for (docs/counting.md)."""
        facts = self.facts
        if starts == "discharged_at":
            if facts.discharged_at is None:
                return facts.known_at, ("discharged_at",), "Waiting: neither the begin of the discharge nor when it was known is known."
            # Known before it began, says a dirty report: the earlier of the two counts.
            return min(facts.discharged_at, facts.known_at or facts.discharged_at), (), ""
        if starts == "reported_at":
            return facts.reported_at or facts.known_at, (), "Waiting: when the report arrived is not known."
        name = starts.removesuffix(" only")
        moment: datetime | None = getattr(facts, name)
        return moment, (), f"Waiting: counted from {name}, which is not known yet."

    def _from_events(self, trigger: Trigger) -> Sequence[Clock]:
        found = []
        for index, event in enumerate(self.facts.events):
            if event.type != trigger.event:
                continue
            answers = [(name, _said(event, name, words)) for name, words in trigger.where.items()]
            if any(answer is False for _, answer in answers):
                continue
            if any(_said(event, name, words) for name, words in trigger.unless.items()):
                continue
            unsettled = (*self.open, *(f"events[{index}].{name}" for name, answer in answers if answer is None))
            found.append((index, event, unsettled))
        if trigger.first_only and found:
            found = [min(found, key=lambda one: (one[1].at, one[0]))]
        return [self._from_event(*one) for one in found if self._is_law(self._start_of(one[1]))]

    def _start_of(self, event: Event) -> datetime | None:
        if self.rule.starts in ("event", "hearing_at"):
            start = event.at if self.rule.starts == "event" else event.said.get(self.rule.starts)
            return start if isinstance(start, datetime) else None
        return self._start(self.rule.starts)[0]

    def _from_event(self, index: int, event: Event, unsettled: tuple[str, ...]) -> Clock:
        start = self._start_of(event)
        if self.rule.starts not in ("event", "hearing_at"):
            _, presumed_for, waiting_for = self._start(self.rule.starts)
            unsettled = (*unsettled, *presumed_for)
            if start is None:
                return self._waiting(unsettled, index, waiting_for)
        elif start is None:
            return self._waiting(unsettled, index, f"Waiting: {self.rule.starts} is not set.", self.rule.starts)
        return self._running(start, unsettled, index, event)

    def _waiting(self, unsettled: tuple[str, ...], index: int | None, why: str, awaited: str | None = None) -> Clock:
        """A clock without a due time. `awaited` is what its event still has to say: that settles when, not whether."""
        applies = "presumed" if unsettled else "yes"
        named = (*unsettled, f"events[{index}].{awaited}") if awaited else unsettled
        return Clock(self.standing, applies, named, index, None, None, None, "waiting", None, None, None, waiting_for=why)

    def _running(self, start: datetime, unsettled: tuple[str, ...], index: int | None, event: Event | None) -> Clock:
        comply_by = event.said.get("comply_by") if event else None
        try:
            counted = count(
                self.rule.limit, start, self.law.zone, self.law.calendar, comply_by if isinstance(comply_by, datetime) else None
            )
        except CalendarGap as gap:
            return replace(self._waiting(unsettled, index, ""), uncomputable=str(gap))
        if counted is None:
            return self._waiting(unsettled, index, "Waiting: the order names no time to comply; enter its comply_by.", "comply_by")
        if self.rule.alternatives:
            counted = replace(counted, other_readings=(*counted.other_readings, *self._other_readings(start, counted.due_at)))
        return self._clock(counted, unsettled, index, None, next(iter(self._acts(index, event)), None))

    def _other_readings(self, start: datetime, due_at: datetime) -> Iterable[OtherReading]:
        """The other readings that the rule's text allows, each with its due time, or none where its start is not known.

        Another count that ends at the same moment is no other reading in this matter.
        """
        for other in self.rule.alternatives:
            began = self._start(other.starts)[0] if other.starts else start
            if other.limit is None and other.starts is None:
                yield OtherReading(other.reading, due_at)
            elif began is None:
                yield OtherReading(other.reading, None)
            else:
                try:
                    counted = count(other.limit or self.rule.limit, began, self.law.zone, self.law.calendar)
                except CalendarGap as gap:
                    yield OtherReading(f"{other.reading} Cannot be computed: {gap}.", None)
                    continue
                if counted and counted.due_at != due_at:
                    yield OtherReading(other.reading, counted.due_at)

    def _clock(self, counted: Count, unsettled: tuple[str, ...], index: int | None, occurrence: int | None, act: Event | None) -> Clock:
        """The clock of a finished count with its state at `now`, given the act that ended it, if one did."""
        due, state, met_at, late = counted.due_at, "running", None, None
        if act is not None:
            met_at = act.at
            state, late = ("met", None) if act.at <= due else ("met_late", int((act.at - due).total_seconds()))
        elif self.now > due and self.rule.act == "retention":
            state, met_at = "met", due  # kept for as long as the law asks: no alarm, the duty is over
        elif self.now > due:
            state, late = "overdue", int((self.now - due).total_seconds())
        applies = "presumed" if unsettled else "yes"
        return Clock(self.standing, applies, unsettled, index, occurrence, counted.starts_at, due, state, met_at, late, counted)

    def _acts(self, index: int | None, event: Event | None) -> list[Event]:
        """The events that end this clock, earliest first; none from before what it counts from, an event or a start it had to wait for."""
        since = None
        if event is not None and self.rule.starts in ("event", "hearing_at"):
            since = event.at
        elif event is not None or self.rule.starts.endswith(" only"):
            since = self._start(self.rule.starts)[0]
        acts = [act for act in self.facts.events if act is not event and self._ends(act) and (since is None or act.at >= since)]
        if index is not None:
            acts = [act for act in acts if act.type != "order_complied" or self._oldest_open_order(act) == index]
        return sorted(acts, key=lambda act: act.at)

    def _oldest_open_order(self, act: Event) -> int | None:
        """Which of several like orders one act of compliance ends: the oldest that an earlier act has not ended."""
        taken: set[int] = set()
        served = [
            (one.at, n)
            for n, one in enumerate(self.facts.events)
            if one.type == "order_served" and one.said.get("order") == act.said["order"]
        ]
        for done in sorted(
            (one for one in self.facts.events if one.type == "order_complied" and one.said == act.said), key=lambda one: one.at
        ):
            ended = next((n for at, n in sorted(served) if n not in taken and at <= done.at), None)
            if done is act:
                return ended
            if ended is not None:
                taken.add(ended)
        return None

    def _ends(self, act: Event) -> bool:
        rule = self.rule
        wanted = rule.trigger.where if rule.trigger else {}
        if rule.act == "retention":
            return False
        if act.type == "order_complied":
            return rule.act not in ("appeal", "petition") and act.said["order"] in wanted.get("order", ())
        own = _EVENT_OF_ACT.get(rule.act)
        if own is not None:
            return act.type == own and _said(act, "hearing", self._hearings(wanted)) is not False
        told = act.said.get("recipient")
        if act.type not in _TELLING or told is None or (told != self.standing.recipient and told not in rule.also_met_by):
            return False
        if act.type == "report_submitted" and not self._holds_enough(act):
            return False
        return "any" in rule.how or act.said.get("method") in rule.how

    def _hearings(self, wanted: Mapping[str, frozenset[object]]) -> frozenset[object]:
        """Which hearings are this rule's: those its trigger names; after an appeal, the hearing of the appeal."""
        if self.rule.trigger and self.rule.trigger.event == "appeal_filed":
            return frozenset({"appeal"})
        return wanted.get("hearing", frozenset(HEARINGS))

    def _holds_enough(self, report: Event) -> bool:
        """A report counts when it is complete, and where it says what it holds, when that is all this duty asks."""
        holds = report.said.get("content")
        complete = report.said.get("complete") is True
        return complete and (not isinstance(holds, tuple) or all(item.item in holds for item in self.rule.content))

    def _recurring(self, start: datetime, unsettled: tuple[str, ...]) -> list[Clock]:
        """Each past occurrence and the next. The one after the end is owed only where a first full period was reached."""
        zone, limit = self.law.zone, self.rule.limit
        first_day = start.astimezone(zone).date()
        ended = self.facts.ended_at.astimezone(zone).date() if self.facts.ended_at else None
        clocks: list[Clock] = []
        used: set[int] = set()
        number = 0
        while not clocks or (clocks[-1].due_at or self.now) < self.now:
            number += 1
            day = first_day + timedelta(days=limit.count * number)
            previous = first_day + timedelta(days=limit.count * (number - 1))
            over = ended is not None and day > ended
            if over and not (limit.once_after and clocks and ended is not None and previous <= ended):
                break
            counted = count(limit.nth(number), start, zone, self.law.calendar)
            if counted is None:
                break
            clocks.append(self._clock(counted, unsettled, None, number, self._act_after(previous, used)))
            if over:
                break
        return clocks

    def _act_after(self, day: date, used: set[int]) -> Event | None:
        """The earliest act later than `day` that has not ended an earlier occurrence."""
        for act in self._acts(None, None):
            if id(act) not in used and act.at.astimezone(self.law.zone).date() > day:
                used.add(id(act))
                return act
        return None


def _said(event: Event, name: str, words: frozenset[object]) -> Verdict:
    value = event.said.get(name)
    return None if value is None else value in words
