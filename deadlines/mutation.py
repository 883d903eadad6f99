"""What a pack's cases are worth: small changes to each rule, each a mistake that somebody could make. A case has to notice every one.

`unproven` is what `spillclock rules check` says about a library that reads without a mistake: packs without cases, rules that no case
reaches, and changes that no case notices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import yaml

from deadlines.cases import Case, answers_of, asked_of
from deadlines.clocks import assess
from deadlines.conditions import All, AnyOf, Condition, Flag, Is, Not, Reached, UnlessKnown, View, VolumeIs
from deadlines.facts import MATERIALS, PLACES_REACHED, PREMISES, Facts
from deadlines.mutants import Mutant, Source, Tree, mutants_of
from deadlines.quantities import ReportableQuantities, Volume
from deadlines.reading import Mistake, PackError, read_sheet
from deadlines.rulebook import Rulebook
from deadlines.rulepack import read_pack
from deadlines.rules import EVERY_CITY, Alternative, Covers, Pack, Rule

# One ladder stands for all: who is woken is no matter of the counts that are tried here.
_LADDER = [{"at": "start", "tell": ["director"], "by": ["email"]}, {"at": "due", "tell": ["director"], "by": ["email"]}]


class Trial:
    """The packs and their cases, put to the test. `texts` are the packs as {path: text}; only those in `tried` are changed."""

    def __init__(self, rulebook: Rulebook, texts: Mapping[str, str], cases: Sequence[Case], tried: frozenset[str] | None = None) -> None:
        self.rulebook = rulebook
        self.cases = cases
        self.sources: dict[str, tuple[str, Source, dict[tuple[str, int], int]]] = {}
        for path, text in texts.items():
            sheet = read_sheet(path, text)
            source: Source = sheet.root.plain()
            lines: dict[tuple[str, int], int] = {}
            for entry in sheet.root.items("rules"):
                duty = f"{source['pack']}/{entry.text('id')}"
                lines[duty, sum(known == duty for known, _ in lines)] = entry.line
            if tried is None or source["pack"] in tried:
                self.sources[source["pack"]] = path, source, lines
        self._facts = [(case, case.read(rulebook)) for case in cases]
        self._ordered: dict[str, Sequence[tuple[Case, Facts]]] = {}

    def unproven(self) -> list[Mistake]:
        """What no case proves, as mistakes of the packs: without cases, not reached, or not noticed when changed."""
        found: list[Mistake] = []
        for pack_id, (path, _, lines) in self.sources.items():
            pack = self.rulebook.packs[pack_id]
            if not any(case.pack == pack_id for case in self.cases):
                found.append(Mistake(path, 1, pack_id, "the pack has no cases", f"a file of cases, cases/{pack_id}.yaml"))
                continue
            reached = {answer["duty"] for case in self.cases for answer in case.clocks if "due_at" in answer}
            for duty in dict.fromkeys(rule.duty for rule in pack.rules):
                line = lines[duty, 0]
                if duty not in reached:
                    found.append(Mistake(path, line, duty, "no case reaches it", "a case in which its clock has a due time"))
                else:
                    found += [
                        Mistake(path, line, duty, f"no case notices {what}", "a case that tells the two apart")
                        for what in self.survivors(duty)
                    ]
            if not pack.is_city:
                found += [
                    Mistake(
                        path,
                        1,
                        "covers",
                        f"no case notices that the pack is laid over {covers}",
                        "a case of a city in one and not in the other",
                    )
                    for covers in self.other_covers(pack)
                    if not self.notices_covers(pack, covers)
                ]
        return found

    def mutants(self, duty: str) -> list[tuple[int, Mutant]]:
        """Every mutant of every version of a rule, with the number of its version."""
        return [(number, mutant) for number, source in enumerate(self._versions(duty)) for mutant in mutants_of(source)]

    def survivors(self, duty: str) -> list[str]:
        """What can be changed in a rule without any case noticing; changes that mean the same law are not counted."""
        sources = self._versions(duty)
        true = self._book(duty, sources)
        if self._notices(duty, true):
            return ["nothing at all: standing alone the rule gives other clocks than the cases say"]
        found = []
        for number, mutant in self.mutants(duty):
            try:
                book = self._book(duty, [*sources[:number], mutant.rule, *sources[number + 1 :]])
            except PackError:
                continue  # no rule at all: the reader notices before any case does
            if not self._notices(duty, book) and not self._same_law(true, book, duty.partition("/")[0], number):
                found.append(mutant.what)
        return found

    def _same_law(self, true: Rulebook, mutant: Rulebook, pack_id: str, number: int) -> bool:
        """Whether a mutant says the same in other words: another condition with the same answers, or business days where they are
        counted like working days, because no calendar of the pack's cities knows a law that counts Saturdays."""
        one, other = true.packs[pack_id].rules[number], mutant.packs[pack_id].rules[number]
        laws = [true.law_of(city) for city in true.cities if true.packs[pack_id].lies_over(true.packs[city])]
        if not any(law.calendar.saturday_by for law in laws) and replace(one.limit, text="", unit="") == replace(
            other.limit, text="", unit=""
        ):
            one = replace(one, limit=other.limit)
        # Beside another reading no law that counts Saturdays is shown, so there the two are counted alike in every state.
        one, other = (replace(rule, alternatives=tuple(map(_unit_aside, rule.alternatives))) for rule in (one, other))
        return one == other or same_for_every_fact(one, other, true.quantities)

    def _versions(self, duty: str) -> list[Source]:
        """A rule's versions as its pack writes them, named conditions spelled out: a name that rules share is tried in each of them."""
        pack_id, _, rule_id = duty.partition("/")
        _, pack, _ = self.sources[pack_id]
        names = pack.get("conditions", {})
        return [
            {
                **rule,
                **({"when": _spelled(rule["when"], names)} if "when" in rule else {}),
                **({"ladder": "any"} if "ladder" in rule else {}),
            }
            for rule in pack["rules"]
            if rule["id"] == rule_id
        ]

    def _book(self, duty: str, rules: Sequence[Source]) -> Rulebook:
        """A rulebook in which one rule stands alone over its cities. Raises PackError where a mutant is no rule."""
        pack_id = duty.partition("/")[0]
        _, source, _ = self.sources[pack_id]
        kept = self.rulebook.packs[pack_id]
        alone = {**source, "ladders": {"any": _LADDER}, "rules": list(rules)}
        for key in ("conditions", "calendar"):
            alone.pop(key, None)
        if kept.calendar is not None:
            alone["calendar"] = kept.calendar.name
        text = yaml.dump(alone, Dumper=yaml.CSafeDumper, sort_keys=False)
        read_alone = read_pack("mutant", text, {kept.calendar.name: kept.calendar} if kept.calendar else {})
        cities = {key: replace(city, rules=()) for key, city in self.rulebook.packs.items() if city.is_city}
        return Rulebook({**cities, pack_id: read_alone}, self.rulebook.quantities)

    def _notices(self, duty: str, book: Rulebook) -> Case | None:
        """The first case whose clocks of this duty are not those that it states; those in which it runs come first."""
        for case, facts in self._cases_with(duty):
            if answers_of(assess(facts, book, case.now)) != [answer for answer in case.clocks if answer["duty"] == duty]:
                return case
            if not any(duty in held for held in case.asked.values()) and _asks(book, facts):
                return case
        return None

    def _cases_with(self, duty: str) -> Sequence[tuple[Case, Facts]]:
        if duty not in self._ordered:
            pack = self.rulebook.packs[duty.partition("/")[0]]
            under = {city.id for city in self.rulebook.packs.values() if city.is_city and pack.lies_over(city)}
            mine = [one for one in self._facts if one[1].jurisdiction in under]
            self._ordered[duty] = sorted(mine, key=lambda one: all(answer["duty"] != duty for answer in one[0].clocks))
        return self._ordered[duty]

    def other_covers(self, pack: Pack) -> list[Covers]:
        """What a pack could be laid over by mistake: every city, another state, the holders of another permit; never the same cities."""
        cities = [city for city in self.rulebook.packs.values() if city.is_city]
        states = sorted({city.state or "" for city in cities})
        permits = sorted({permit for city in cities for permit in city.permits})
        others = [EVERY_CITY, *(Covers("state", state) for state in states), *(Covers("permit", permit) for permit in permits)]

        def over(covers: Covers) -> set[str]:
            return {city.id for city in cities if replace(pack, covers=covers).lies_over(city)}

        return [covers for covers in others if over(covers) != over(pack.covers)]

    def notices_covers(self, pack: Pack, covers: Covers) -> Case | None:
        cities = {key: replace(city, rules=()) for key, city in self.rulebook.packs.items() if city.is_city}
        book = Rulebook({**cities, pack.id: replace(pack, covers=covers)}, self.rulebook.quantities)
        for case, facts in self._facts:
            mine = f"{pack.id}/"
            assessed = assess(facts, book, case.now)
            asked = {fact: held for fact, duties in case.asked.items() if (held := [duty for duty in duties if duty.startswith(mine)])}
            if answers_of(assessed) != [answer for answer in case.clocks if answer["duty"].startswith(mine)] or asked_of(assessed) != asked:
                return case
        return None


def _asks(book: Rulebook, facts: Facts) -> bool:
    for standing in book.law_of(facts.jurisdiction).rules:
        rule = standing.rule
        if rule.needs and facts.kind in rule.kinds:
            view = View(facts, book.quantities)
            if rule.when.judge(view) is not False and any(view.flag(name) is None for name in rule.needs):
                return True
    return False


def _unit_aside(reading: Alternative) -> Alternative:
    if reading.limit is None or reading.limit.shape != "open days":
        return reading
    return replace(reading, limit=replace(reading.limit, text="", unit=""))


def _spelled(tree: Tree, names: Mapping[str, Tree]) -> Tree:
    if isinstance(tree, str):
        return _spelled(names[tree], names) if tree in names else tree
    if "fact" in tree:
        return tree
    return {
        word: [_spelled(part, names) for part in part_or_parts] if isinstance(part_or_parts, list) else _spelled(part_or_parts, names)
        for word, part_or_parts in tree.items()
    }


def same_for_every_fact(one: Rule, other: Rule, quantities: ReportableQuantities) -> bool:
    """Whether two rules that differ in `when` alone answer alike whatever the facts: then a mutant is no mistake, but the same law."""
    if replace(one, when=other.when) != other:
        return False
    both = (*_parts(one.when), *_parts(other.when))
    words = frozenset(word for part in both if isinstance(part, Is) and part.fact == "material" for word in part.words)
    bounds = frozenset(part.gallons for part in both if isinstance(part, VolumeIs))
    views = _views(quantities, frozenset(name for part in both for name in _fact_asked(part)), words, bounds)
    return all(one.when.judge(view) is other.when.judge(view) for view in views)


@cache
def _views(
    quantities: ReportableQuantities, names: frozenset[str], materials: frozenset[str], bounds: frozenset[Fraction]
) -> tuple[View, ...]:
    """Every combination of answers to the facts that are asked, each seen once."""
    grid: dict[str, Sequence[object]] = {
        "material": (None, "other", *(word for word in MATERIALS if word in materials)), "premises": (None, *PREMISES),
        "volume": (None, *_around(bounds)), "reached": (None, *_places()),
    }  # fmt: skip
    ordered = sorted(names)
    found = []
    for values in product(*(grid.get(name, (None, True, False)) for name in ordered)):
        facts = dict(zip(ordered, values, strict=True))
        if "rq_reached" in facts:
            facts["reportable_quantity"] = facts.pop("rq_reached")
        found.append(View(Facts("anywhere", **facts), quantities))  # type: ignore[arg-type]
    return tuple(found)


def _places() -> Iterator[frozenset[str]]:
    return (frozenset(some) for size in (1, 2, 3) for some in combinations(PLACES_REACHED, size))


def _around(bounds: frozenset[Fraction]) -> list[Volume]:
    return [Volume(Decimal(0), Decimal(int(bound)) + Decimal(step), "gal") for bound in bounds for step in ("-0.5", "0", "0.5")]


def _parts(tree: Condition) -> Iterator[Condition]:
    yield tree
    inner = tree.parts if isinstance(tree, All | AnyOf) else (tree.part,) if isinstance(tree, Not | UnlessKnown) else ()
    for part in inner:
        yield from _parts(part)


def _fact_asked(part: Condition) -> tuple[str, ...]:
    match part:
        case Flag(name) | Is(name, _):
            return (name,)
        case VolumeIs():
            return ("volume",)
        case Reached():
            return ("reached",)
    return ()
