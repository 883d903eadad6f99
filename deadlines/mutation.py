"""What a pack's cases are worth: small changes to each rule, each a mistake that somebody could make. A case has to notice every one.

`unproven` is what `spillclock rules check` says about a library that reads without a mistake: packs without cases, rules that no case
reaches, and changes that no case notices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import yaml

from deadlines.cases import Case, answers_of, asked_of
from deadlines.clocks import assess
from deadlines.conditions import All, AnyOf, Condition, Flag, Is, Not, Reached, UnlessKnown, View, VolumeIs
from deadlines.facts import CHOICES, EVENT_KEYS, KINDS, MATERIALS, PLACES_REACHED, PREMISES, Facts
from deadlines.quantities import ReportableQuantities, Volume
from deadlines.reading import Mistake, PackError, read_sheet
from deadlines.rulebook import Rulebook
from deadlines.rulepack import STARTS, read_pack
from deadlines.rules import EVERY_CITY, Covers, Pack, Rule

Tree = Any  # a condition as a pack writes it
Source = dict[str, Any]  # a rule as a pack writes it

# One ladder stands for all: who is woken is no matter of the counts that are tried here.
_OR_SOONER = ", or comply_by if sooner"
_LADDER = [{"at": "start", "tell": ["director"], "by": ["email"]}, {"at": "due", "tell": ["director"], "by": ["email"]}]


@dataclass(frozen=True)
class Mutant:
    """A rule with one thing changed."""

    what: str
    rule: Source


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


def _spelled(tree: Tree, names: Mapping[str, Tree]) -> Tree:
    if isinstance(tree, str):
        return _spelled(names[tree], names) if tree in names else tree
    if "fact" in tree:
        return tree
    return {
        word: [_spelled(part, names) for part in part_or_parts] if isinstance(part_or_parts, list) else _spelled(part_or_parts, names)
        for word, part_or_parts in tree.items()
    }


def mutants_of(rule: Source) -> Iterator[Mutant]:
    """Every mutant of one version of a rule, as its pack writes it."""
    for key, others in (("limit", _limits), ("starts", _starts), ("kind", _kinds)):
        yield from (Mutant(f"{key}: {value}", {**rule, key: value}) for value in others(rule))
    if "when" in rule:
        yield Mutant("when: dropped", _without(rule, "when"))
        yield from (Mutant(f"when: {tree}", {**rule, "when": tree}) for tree in _trees(rule["when"]))
    for need in rule.get("needs", ()):
        yield Mutant(f"needs: {need} dropped", {**rule, "needs": [other for other in rule["needs"] if other != need]})
    yield from _triggers(rule)
    yield from _days_in_force(rule)
    yield from _readings(rule)
    if "starts_on" in rule:
        yield Mutant("starts_on: dropped", _without(rule, "starts_on"))
    if "also_met_by" in rule:
        yield Mutant("also_met_by: dropped", _without(rule, "also_met_by"))


def _days_in_force(rule: Source) -> Iterator[Mutant]:
    days = rule.get("in_force", {})
    for key, day in days.items():
        for moved in (day - timedelta(days=1), day + timedelta(days=1)):
            yield Mutant(f"in_force: {key} {moved}", {**rule, "in_force": {**days, key: moved}})
        left = _without(days, key)
        yield Mutant(f"in_force: {key} dropped", {**rule, "in_force": left} if left else _without(rule, "in_force"))


def _readings(rule: Source) -> Iterator[Mutant]:
    readings = rule.get("other_readings", [])
    for number, other in enumerate(readings):
        rest = [*readings[:number], *readings[number + 1 :]]
        yield Mutant(
            f"other_readings: {other['reading']!r} dropped", {**rule, "other_readings": rest} if rest else _without(rule, "other_readings")
        )
        for key, others in (("limit", _limits), ("starts", _starts)):
            for value in others(other) if key in other else ():
                changed = [*readings[:number], {**other, key: value}, *readings[number + 1 :]]
                yield Mutant(f"other_readings: {key}: {value}", {**rule, "other_readings": changed})


def _triggers(rule: Source) -> Iterator[Mutant]:
    for key in ("where", "unless"):
        for said in _sayings(rule.get(key, {}), rule.get("on", "")):
            yield Mutant(f"{key}: {said}", {**rule, key: said} if said else _without(rule, key))
    if "unless" in rule:
        yield Mutant("unless turned into where", _without({**rule, "where": rule["unless"]}, "unless"))
    if "which" in rule:
        yield Mutant("which: dropped", _without(rule, "which"))


def _without(rule: Source, key: str) -> Source:
    return {name: value for name, value in rule.items() if name != key}


def _limits(rule: Source) -> Iterator[str]:
    limit = rule["limit"]
    fixed = {
        "immediately": ("14 minutes", "16 minutes", "1 hour", "before the act"),
        "comply_by": ("immediately", "1 calendar days", "comply_by, else immediately"),
        "comply_by, else immediately": ("immediately", "comply_by"),
        "before the act": ("immediately", "1 calendar days before", "1 hours"),
    }
    if limit in fixed:
        yield from fixed[limit]
        return
    if limit.endswith(_OR_SOONER):
        yield from (f"{other}{_OR_SOONER}" for other in _limits({"limit": limit.removesuffix(_OR_SOONER)}))
        yield limit.removesuffix(_OR_SOONER)
        return
    if " by " in limit:
        days, _, hour = limit.partition(" by ")
        yield from (f"{other} by {hour}" for other in _limits({"limit": days}) if "hours" not in other)
        yield from (days, f"{days} by {(datetime.combine(date.min, time.fromisoformat(hour)) + timedelta(minutes=1)).time():%H:%M}")
        return
    words = limit.split()
    place = next(index for index, word in enumerate(words) if word.isdigit())
    number = int(words[place])

    def other(count: int, *units: str) -> str:
        return " ".join([*words[:place], str(count), *(units or words[place + 1 :])])

    yield from (other(number + 1), *([other(number - 1)] if number > 1 else []))
    unit, rest = words[place + 1], words[place + 2 :]
    if words[0] == "every":
        yield limit.removesuffix(" and once after") if limit.endswith("after") else f"{limit} and once after"
        yield f"{number} calendar days"
    elif unit in ("hours", "minutes"):
        yield from (other(number, "minutes" if unit == "hours" else "hours"), other(max(1, number // 24), "calendar", "days"))
    elif unit == "years":
        yield from (other(number * 365, "calendar", "days"), other(number, "calendar", "days"))
    else:
        yield from (other(number, kind, *rest) for kind in ("calendar", "working", "business") if kind != unit)
        yield other(number * 24, "hours")
        yield other(number, unit, "days") if "before" in rest else other(number, unit, "days", "before")


def _starts(rule: Source) -> Iterator[str]:
    if "on" not in rule:
        yield from (starts for starts in STARTS if starts != rule["starts"])
    elif "starts" in rule:
        yield "event"


def _kinds(rule: Source) -> Iterator[list[str]]:
    given = rule.get("kind", list(KINDS) if "on" in rule else ["spill"])
    kinds = [given] if isinstance(given, str) else given
    if "on" in rule and "kind" not in rule:
        # Events are recorded of a spill or of an enforcement matter; that they count in every kind is one decision, not seven.
        yield from (["spill"], ["enforcement"])
        return
    yield from ([*kinds, kind] for kind in KINDS if kind not in kinds)
    yield from ([one for one in kinds if one != kind] for kind in kinds if len(kinds) > 1)


def _sayings(said: Mapping[str, Any], event: str) -> Iterator[dict[str, Any]]:
    for key, value in said.items():
        words = value if isinstance(value, list) else [value]
        others = {name: words for name, words in said.items() if name != key}
        yield others
        form = EVENT_KEYS[event][key]
        known = [word for word in (form if isinstance(form, tuple) else (True, False) if form is bool else ()) if word not in words]
        yield from ({**others, key: [*words, word]} for word in known)
        yield from ({**others, key: [one for one in words if one != word]} for word in words if len(words) > 1)


def _trees(tree: Tree) -> Iterator[Tree]:
    """A condition with one thing in it changed, at any depth."""
    if isinstance(tree, str):
        yield {"not": tree}
        return
    if "fact" in tree:
        yield from _about(tree)
        return
    (word, inner), *_ = tree.items()
    if isinstance(inner, list):
        yield {"any" if word == "all" else "all": inner}
        for place, part in enumerate(inner):
            if len(inner) > 1:
                yield {word: [*inner[:place], *inner[place + 1 :]]}
            yield from ({word: [*inner[:place], changed, *inner[place + 1 :]]} for changed in _trees(part))
    else:
        yield inner
        if word == "unless_known":
            yield {"not": inner}
        yield from ({word: changed} for changed in _trees(inner))


def _about(tree: Source) -> Iterator[Source]:
    (word, value), *_ = ((word, value) for word, value in tree.items() if word != "fact")
    fact = tree["fact"]
    if fact == "volume":
        number, unit = value.split()
        yield from ({"fact": fact, word: f"{int(number) + step} {unit}"} for step in (1, -1))
        yield from ({"fact": fact, other: value} for other in ("over", "at_least", "under", "at_most") if other != word)
        return
    words = value if isinstance(value, list) else [value]
    known = [one for one in (PLACES_REACHED if fact == "reached" else CHOICES[fact]) if one not in (*words, "unknown")]
    yield from ({"fact": fact, word: [one for one in words if one != gone]} for gone in words if len(words) > 1)
    if fact == "reached":
        yield from ({"fact": fact, word: [*words, more]} for more in known)
        yield {"fact": fact, "may_hold" if word == "holds" else "holds": words}
    else:
        yield from ({"fact": fact, word: [more]} for more in known[:2])


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
