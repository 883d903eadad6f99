"""What to ask next: for each open fact, what its answers would do to the clocks, found out by trying them. Weightiest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from deadlines.clocks import Assessment, Question, assess
from deadlines.facts import CHOICES, EVENT_KEYS, FLAGS, MATERIALS, PLACES_REACHED, Event, Facts
from deadlines.quantities import Volume
from deadlines.rulebook import Rulebook

_ASKS = {
    "reached": "Where did it go: a street, gutter, drain, creek or groundwater, or was all of it contained?",
    "threat": "Is it a threat to human health or the environment?",
    "accidental": "Was the discharge an accident?",
    "volume": "How much was spilled?",
    "material": "What was spilled?",
    "premises": "What kind of premises did it come from?",
    "release": "Is the release confirmed, or only suspected?",
    "hazardous": "Is what was spilled hazardous?",
    "high_risk": "Does it need cleanup as soon as possible?",
    "captured": "Was all that entered a storm drain captured and returned?",
    "sheen": "Does it leave a film or sheen on the water?",
    "substances": "Which substances were spilled, and how much of each?",
    "reportable_quantity": "Was a federal reportable quantity reached?",
    "enrollee": "Does the sewer system stand under the statewide sewer order?",
    "npdes_permittee": "Does whoever spilled it hold an NPDES permit?",
    "spcc_facility": "Is it a facility with a spill prevention plan under 40 CFR 112?",
    "discharged_at": "When did the discharge begin?",
    "ended_at": "When did the discharge end?",
}
_DROP, _FLOOD = (Volume(Decimal(amount), Decimal(amount), "gal") for amount in ("0.1", "10000000"))


@dataclass(frozen=True, slots=True)
class Inquiry:
    """An open fact, the question in words, and what an answer would do.

    `settles`: duties presumed today that every answer we try settles, as owed or not owed. `removes`: the most that one answer would
    take away. `starts`: duties held back that an answer would let run.
    """

    fact: str
    asks: str
    presumed: tuple[str, ...]
    held_back: tuple[str, ...]
    settles: tuple[str, ...]
    removes: tuple[str, ...]
    starts: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The inquiry as JSON has it."""
        return {
            "fact": self.fact, "asks": self.asks, "presumed": list(self.presumed), "held_back": list(self.held_back),
            "settles": list(self.settles), "removes": list(self.removes), "starts": list(self.starts),
        }  # fmt: skip


def inquire(facts: Facts, rulebook: Rulebook, now: datetime, assessment: Assessment | None = None) -> list[Inquiry]:
    """The open questions of a matter, those first whose answer would remove the most clocks, then those that settle the most.

    A fact that has no list of answers to try (which substances) is answered by what it leads to: whether a reportable quantity is
    reached. Raises KeyError for a city without a pack.
    """
    stands = assessment or assess(facts, rulebook, now)
    found = [_tried(question, facts, rulebook, now, stands) for question in stands.questions]
    return sorted(found, key=lambda one: (-len(one.removes), -len(one.settles), -len(one.presumed) - len(one.held_back), one.fact))


def _tried(question: Question, facts: Facts, rulebook: Rulebook, now: datetime, stands: Assessment) -> Inquiry:
    presumed = {clock.duty for clock in stands.clocks if clock.applies == "presumed"}
    owed = {clock.duty for clock in stands.clocks}
    settled: set[str] | None = None
    removed: set[str] = set()
    started: set[str] = set()
    for answered in _answers(question.fact, facts):
        after = assess(answered, rulebook, now)
        still = {clock.duty for clock in after.clocks if clock.applies == "presumed"}
        runs = {clock.duty for clock in after.clocks}
        settled = presumed - still if settled is None else settled - still
        removed = max(removed, presumed - runs, key=len)
        started |= runs - owed
    return Inquiry(
        question.fact, ask(question.fact), question.presumed, question.held_back, tuple(sorted(settled or ())), tuple(sorted(removed)),
        tuple(sorted(started)),
    )  # fmt: skip


def ask(fact: str) -> str:
    """The question for an open fact in plain words; of an event, what is missing there."""
    if fact.startswith("events["):
        return f"What does the event say about {fact.partition('].')[2].replace('_', ' ')}?"
    if fact.startswith("substances["):
        return f"What is the {fact.partition('].')[2].replace('_', ' ')} of the substance?"
    return _ASKS.get(fact, f"What is {fact.replace('_', ' ')}?")


def _answers(fact: str, facts: Facts) -> Iterator[Facts]:
    """The matter with the fact answered, in each way that could make a difference."""
    if fact in FLAGS:
        yield from (_with(facts, fact, answer) for answer in (True, False))
    elif fact == "reached":
        yield from (replace(facts, reached=frozenset({place})) for place in PLACES_REACHED)
    elif fact == "material":
        yield from (replace(facts, material=word) for word in MATERIALS if word != "unknown")
    elif fact in CHOICES:
        yield from (_with(facts, fact, word) for word in CHOICES[fact])
    elif fact == "volume":
        yield from (replace(facts, volume=amount) for amount in (_DROP, _FLOOD))
    elif fact in ("discharged_at", "ended_at") and facts.known_at is not None:
        yield _with(facts, fact, facts.known_at)
    elif fact.startswith("substances"):
        yield from (replace(facts, reportable_quantity=answer) for answer in (True, False))
    elif fact.startswith("events["):
        yield from _event_answers(fact, facts)


def _with(facts: Facts, fact: str, answer: Any) -> Facts:
    return replace(facts, **{fact: answer})


def _event_answers(fact: str, facts: Facts) -> Iterator[Facts]:
    number, _, key = fact.removeprefix("events[").partition("].")
    index = int(number)
    event = facts.events[index]
    form = EVENT_KEYS[event.type].get(key)
    for answer in form if isinstance(form, tuple) else (True, False) if form is bool else ():
        answered = Event(event.type, event.at, {**event.said, key: answer})
        yield replace(facts, events=(*facts.events[:index], answered, *facts.events[index + 1 :]))
