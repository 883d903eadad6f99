"""Small changes to one rule of a pack, each of them a mistake that somebody could make: the cases have to notice every one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import combinations, product
from typing import Any

import yaml

from deadlines import Facts, Rule, Rulebook
from deadlines.conditions import All, AnyOf, Condition, Flag, Is, Not, Reached, UnlessKnown, View, VolumeIs
from deadlines.facts import CHOICES, EVENT_KEYS, KINDS, MATERIALS, PLACES_REACHED, PREMISES
from deadlines.quantities import Volume
from deadlines.rulebook import StandingRule
from deadlines.rulepack import EVERY_CITY, STARTS, read_pack
from tests.deadlines.case_files import Case, PlainYaml, all_cases, answers_of, read, rulebook

Tree = Any  # a condition as a pack writes it
Source = dict[str, Any]  # a rule as a pack writes it

# One ladder stands for all: who is woken is no matter of the counts that are tried here.
_LADDER = [{"at": "start", "tell": ["director"], "by": ["email"]}, {"at": "due", "tell": ["director"], "by": ["email"]}]


@dataclass(frozen=True)
class Mutant:
    """A rule with one thing changed."""

    what: str
    rule: Source


@cache
def pack_source(pack_id: str) -> dict[str, Any]:
    """A pack file as plain values."""
    text = (files("deadlines") / "packs" / f"{pack_id}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.load(text, PlainYaml)  # noqa: S506 (a safe loader)
    return found


def rule_source(duty: str) -> Source:
    """A rule as its pack writes it, with named conditions spelled out: a name that several rules share is tried in each of them."""
    pack = pack_source(duty.partition("/")[0])
    rule = next(rule for rule in pack["rules"] if f"{pack['pack']}/{rule['id']}" == duty)
    spelled = {**rule, "when": _spelled(rule["when"], pack.get("conditions", {}))} if "when" in rule else dict(rule)
    return spelled | ({"ladder": "any"} if "ladder" in rule else {})


def _spelled(tree: Tree, names: Mapping[str, Tree]) -> Tree:
    if isinstance(tree, str):
        return _spelled(names[tree], names) if tree in names else tree
    if "fact" in tree:
        return tree
    return {
        word: [_spelled(part, names) for part in part_or_parts] if isinstance(part_or_parts, list) else _spelled(part_or_parts, names)
        for word, part_or_parts in tree.items()
    }


def mutants_of(duty: str) -> Iterator[Mutant]:
    """Every mutant of one rule."""
    rule = rule_source(duty)
    for key, others in (("limit", _limits), ("starts", _starts), ("kind", _kinds)):
        yield from (Mutant(f"{key}: {value}", {**rule, key: value}) for value in others(rule))
    if "when" in rule:
        yield Mutant("when: dropped", _without(rule, "when"))
        yield from (Mutant(f"when: {tree}", {**rule, "when": tree}) for tree in _trees(rule["when"]))
    for need in rule.get("needs", ()):
        yield Mutant(f"needs: {need} dropped", {**rule, "needs": [other for other in rule["needs"] if other != need]})
    yield from _triggers(rule)


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
    elif rule["on"] == "hearing_set":
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


def book_of(pack_id: str, rule: Source) -> Rulebook:
    """A rulebook in which one rule stands alone over its cities. Raises PackError where the mutant is no rule."""
    pack = {**pack_source(pack_id), "ladders": {"any": _LADDER}, "rules": [rule]}
    pack.pop("conditions", None)
    read_alone = read_pack("mutant", yaml.dump(pack, Dumper=yaml.CSafeDumper, sort_keys=False))
    cities = {key: replace(city, rules=()) for key, city in rulebook().packs.items() if city.is_city}
    return Rulebook({**cities, pack_id: read_alone}, rulebook().calendars, rulebook().quantities)


@cache
def _cases_with(duty: str) -> tuple[tuple[Case, Facts], ...]:
    """All cases, those in which the duty runs first: they are the likeliest to notice."""
    return tuple(sorted(_facts_of_cases(), key=lambda one: all(answer["duty"] != duty for answer in one[0].answers)))


@cache
def _facts_of_cases() -> tuple[tuple[Case, Facts], ...]:
    return tuple((case, read(case.facts)) for case in all_cases())


def who_notices(duty: str, book: Rulebook) -> Case | None:
    """The first case whose clocks of this duty are not those that it states."""
    for case, facts in _cases_with(duty):
        if answers_of(facts, book, case.now) != [answer for answer in case.answers if answer["duty"] == duty]:
            return case
        questions = [held for _, held in case.asked.items() if duty in held]
        if not questions and _asks(book, facts):
            return case
    return None


def _asks(book: Rulebook, facts: Facts) -> bool:
    rule = _only_rule(book, facts.jurisdiction)
    if rule is None or not rule.rule.needs or facts.kind not in rule.rule.kinds:
        return False
    view = View(facts, book.quantities)
    return rule.rule.when.judge(view) is not False and any(view.flag(name) is None for name in rule.rule.needs)


def _only_rule(book: Rulebook, city: str) -> StandingRule | None:
    return next(iter(book.law_of(city).rules), None)


def same_for_every_fact(one: Rule, other: Rule) -> bool:
    """Whether two rules that differ in `when` alone answer alike whatever the facts: then a mutant is no mistake, but the same law."""
    if replace(one, when=other.when) != other:
        return False
    both = (*_parts(one.when), *_parts(other.when))
    words = frozenset(word for part in both if isinstance(part, Is) and part.fact == "material" for word in part.words)
    bounds = frozenset(part.gallons for part in both if isinstance(part, VolumeIs))
    views = _views(frozenset(name for part in both for name in _fact_asked(part)), words, bounds)
    return all(one.when.judge(view) is other.when.judge(view) for view in views)


@cache
def _views(names: frozenset[str], materials: frozenset[str], bounds: frozenset[Fraction]) -> tuple[View, ...]:
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
        found.append(View(Facts("chino", **facts), rulebook().quantities))  # type: ignore[arg-type]
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


def covers_of(pack_id: str) -> Iterator[tuple[str, ...]]:
    """Other sets of cities that a pack could be laid over by mistake."""
    cities = [key for key, pack in rulebook().packs.items() if pack.is_city]
    covers = rulebook().packs[pack_id].covers
    over = cities if EVERY_CITY in covers else list(covers)
    yield from (tuple(city for city in over if city != gone) for gone in over)
    yield from ((*over, more) for more in cities if more not in over)


def who_notices_cover(pack_id: str, covers: tuple[str, ...]) -> Case | None:
    """The first case that differs when a pack lies over other cities than it should."""
    packs = {key: replace(pack, rules=()) for key, pack in rulebook().packs.items() if pack.is_city}
    book = Rulebook({**packs, pack_id: replace(rulebook().packs[pack_id], covers=covers)}, rulebook().calendars, rulebook().quantities)
    for case, facts in _facts_of_cases():
        mine = [answer for answer in case.answers if answer["duty"].startswith(f"{pack_id}/")]
        if answers_of(facts, book, case.now) != mine:
            return case
    return None
