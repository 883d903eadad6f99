"""Conditions over facts, answered yes (True), no (False) or unknown (None): Kleene's logic, so unknown is never taken for no."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import yaml

from deadlines.facts import CHOICES, FLAGS, PLACES_REACHED, Facts
from deadlines.quantities import GALLONS, Finding, ReportableQuantities
from deadlines.reading import Entry

Verdict = bool | None

_HAZARDOUS_BY_MATERIAL = {
    "hazardous_material": True, "hazardous_waste": True, "petroleum": True, "potable_water": False, "yard_waste": False,
}  # fmt: skip


class View:
    """One fact object seen through the eyes of the rules, with the derived facts worked out once."""

    def __init__(self, facts: Facts, quantities: ReportableQuantities) -> None:
        self.facts = facts
        self._quantities = quantities

    @cached_property
    def hazardous(self) -> Verdict:
        """A person's determination, else what the material alone tells (contract, section 1)."""
        if self.facts.hazardous is not None:
            return self.facts.hazardous
        return _HAZARDOUS_BY_MATERIAL.get(self.facts.material or "")

    @cached_property
    def upper_gallons(self) -> Fraction | None:
        """The upper end of the volume in US gallons."""
        return self.facts.volume.upper_gallons if self.facts.volume else None

    @cached_property
    def reportable(self) -> Finding:
        """Whether a reportable quantity is reached, with the arithmetic (duties.md, derived facts)."""
        facts = self.facts
        if facts.reportable_quantity is not None:
            word = "reached" if facts.reportable_quantity else "not reached"
            return Finding(facts.reportable_quantity, (f"a person determined that a reportable quantity is {word}",))
        if facts.substances:
            return self._quantities.judge(facts.substances)
        if facts.material == "petroleum":
            return Finding(False, ("petroleum is excluded from the list of hazardous substances (42 USC 9601(14))",))
        if facts.material == "sewage":
            return Finding(False, ("sewage has no reportable quantity of its own",))
        if self.hazardous is False:
            return Finding(False, ("nothing hazardous was spilled",))
        open_facts = ("substances", "reportable_quantity", *self._open_hazard)
        return Finding(None, ("what was spilled, and how much of it, is not known",), open_facts)

    @property
    def _open_hazard(self) -> tuple[str, ...]:
        return ("hazardous", *(("material",) if self.facts.material in (None, "unknown") else ())) if self.hazardous is None else ()

    def flag(self, name: str) -> Verdict:
        """A fact that is true or false; `hazardous` and `rq_reached` are derived."""
        if name == "hazardous":
            return self.hazardous
        if name == "rq_reached":
            return self.reportable.reached
        value: Verdict = getattr(self.facts, name)
        return value

    def open_facts_of(self, name: str) -> tuple[str, ...]:
        """The facts that would settle an unknown flag."""
        if name == "hazardous":
            return self._open_hazard
        return self.reportable.unsettled if name == "rq_reached" else (name,)


class Condition(Protocol):
    """What every condition can do."""

    def judge(self, view: View) -> Verdict:
        """Yes, no or unknown (None)."""

    def open_facts(self, view: View) -> Iterable[str]:
        """The facts that would settle it; asked only while `judge` answers unknown."""


@dataclass(frozen=True, slots=True)
class Always:
    """A rule without `when`."""

    def judge(self, view: View) -> Verdict:
        return True

    def open_facts(self, view: View) -> Iterable[str]:
        return ()


@dataclass(frozen=True, slots=True)
class Flag:
    """A fact that is true or false."""

    name: str

    def judge(self, view: View) -> Verdict:
        return view.flag(self.name)

    def open_facts(self, view: View) -> Iterable[str]:
        return view.open_facts_of(self.name)


@dataclass(frozen=True, slots=True)
class Not:
    """No where the part is yes, yes where it is no."""

    part: Condition

    def judge(self, view: View) -> Verdict:
        answer = self.part.judge(view)
        return None if answer is None else not answer

    def open_facts(self, view: View) -> Iterable[str]:
        return self.part.open_facts(view)


@dataclass(frozen=True, slots=True)
class UnlessKnown:
    """Yes unless the part is known to be yes: for texts that put the burden of proof on one side (unknown capture = not captured)."""

    part: Condition

    def judge(self, view: View) -> Verdict:
        return self.part.judge(view) is not True

    def open_facts(self, view: View) -> Iterable[str]:
        return ()


@dataclass(frozen=True, slots=True)
class All:
    """Yes where every part is; no as soon as one part is no."""

    parts: tuple[Condition, ...]

    def judge(self, view: View) -> Verdict:
        answer: Verdict = True
        for part in self.parts:
            verdict = part.judge(view)
            if verdict is False:
                return False
            if verdict is None:
                answer = None
        return answer

    def open_facts(self, view: View) -> Iterable[str]:
        return _open_parts(self.parts, view)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Yes as soon as one part is; no where every part is no."""

    parts: tuple[Condition, ...]

    def judge(self, view: View) -> Verdict:
        answer: Verdict = False
        for part in self.parts:
            verdict = part.judge(view)
            if verdict:
                return True
            if verdict is None:
                answer = None
        return answer

    def open_facts(self, view: View) -> Iterable[str]:
        return _open_parts(self.parts, view)


def _open_parts(parts: Sequence[Condition], view: View) -> Iterable[str]:
    return tuple(fact for part in parts if part.judge(view) is None for fact in part.open_facts(view))


@dataclass(frozen=True, slots=True)
class Is:
    """A fact of a closed list is one of some words; the word `unknown` is unknown."""

    fact: str
    words: frozenset[str]

    def judge(self, view: View) -> Verdict:
        value = getattr(view.facts, self.fact)
        return None if value is None or value == "unknown" else value in self.words

    def open_facts(self, view: View) -> Iterable[str]:
        return (self.fact,)


@dataclass(frozen=True, slots=True)
class VolumeIs:
    """The upper end of the volume against a threshold in US gallons; `over` 1,000 is strictly more (counting.md, thresholds)."""

    comparison: str
    gallons: Fraction

    def judge(self, view: View) -> Verdict:
        upper = view.upper_gallons
        if upper is None:
            return None
        match self.comparison:
            case "over":
                return upper > self.gallons
            case "at_least":
                return upper >= self.gallons
            case "under":
                return upper < self.gallons
            case _:
                return upper <= self.gallons

    def open_facts(self, view: View) -> Iterable[str]:
        return ("volume",)


@dataclass(frozen=True, slots=True)
class Reached:
    """What the discharge reached. `holds`: no where it is given and holds none; `may_hold`: no only where it is exactly `contained`."""

    places: frozenset[str]
    maybe: bool

    def judge(self, view: View) -> Verdict:
        reached = view.facts.reached
        if not reached:
            return None
        if reached & self.places:
            return True
        if not self.maybe or reached == {"contained"}:
            return False
        return None

    def open_facts(self, view: View) -> Iterable[str]:
        return ("reached",)


FLAG_NAMES = frozenset(FLAGS) - {"reportable_quantity"} | {"rq_reached"}
COMPARISONS = ("over", "at_least", "under", "at_most")
WORD_FACTS: Mapping[str, Sequence[str]] = CHOICES

_VOLUME = re.compile(r"([\d,]+(?:\.\d+)?) (\w+)")


def read_condition(entry: Entry, key: str, node: yaml.Node, names: Mapping[str, Condition]) -> Condition:
    """Read a condition as a pack writes it; `names` are those named before. A mistake is noted and read as always."""
    if isinstance(node, yaml.ScalarNode):
        return _named(entry, key, str(node.value), names)
    if isinstance(node, yaml.MappingNode):
        inner = Entry(entry.sheet, node, f"{entry.place}{key}.")
        words = set(inner)
        if "fact" in words and len(words) == 2:
            return _about_fact(inner, inner.text("fact"), (words - {"fact"}).pop())
        if len(words) == 1:
            word = words.pop()
            part = inner.node_of(word)
            joins: dict[str, Callable[[tuple[Condition, ...]], Condition]] = {"all": All, "any": AnyOf}
            if word in joins and isinstance(part, yaml.SequenceNode):
                return joins[word](tuple(read_condition(inner, f"{word}[{n}]", piece, names) for n, piece in enumerate(part.value)))
            singles: dict[str, Callable[[Condition], Condition]] = {"not": Not, "unless_known": UnlessKnown}
            if word in singles and part is not None:
                return singles[word](read_condition(inner, word, part, names))
    entry.fault(key, "it is not a condition", "a name, {all: [...]}, {any: [...]}, {not: ...}, {unless_known: ...} or {fact: ..., is: ...}")
    return Always()


def _named(entry: Entry, key: str, name: str, names: Mapping[str, Condition]) -> Condition:
    if name in names:
        return names[name]
    if name in FLAG_NAMES:
        return Flag(name)
    known = ", ".join([*names, *sorted(FLAG_NAMES)])
    entry.fault(key, f"no condition or fact {name!r} (a condition is named before it is used)", f"one of: {known}")
    return Always()


def _about_fact(entry: Entry, fact: str, word: str) -> Condition:
    if fact in WORD_FACTS and word == "is":
        words = entry.texts("is")
        entry.words("is", words, WORD_FACTS[fact])
        return Is(fact, frozenset(words))
    if fact == "volume" and word in COMPARISONS:
        found = _VOLUME.fullmatch(entry.text(word))
        if found and found[2] in GALLONS:
            return VolumeIs(word, Fraction(Decimal(found[1].replace(",", ""))) * GALLONS[found[2]])
        entry.fault(word, f"{entry.raw(word)!r} is not a volume", f"a number and one of {', '.join(GALLONS)}, `1000 gal`")
    elif fact == "reached" and word in ("holds", "may_hold"):
        places = entry.texts(word)
        entry.words(word, places, PLACES_REACHED)
        return Reached(frozenset(places), word == "may_hold")
    else:
        right = "{fact: material, is: ...}, {fact: volume, over: ...}, {fact: reached, holds: [...]}"
        entry.fault(word, f"{fact!r} cannot be asked {word!r}", right)
    return Always()
