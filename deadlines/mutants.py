"""Small changes to one rule, each a mistake that somebody could make: every number, unit, start, condition and day of it, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import yaml

from deadlines.facts import CHOICES, EVENT_KEYS, KINDS, PLACES_REACHED
from deadlines.limits import OR_SOONER
from deadlines.rulepack import STARTS

Tree = Any  # a condition as a pack writes it
Source = dict[str, Any]  # a rule as a pack writes it


@dataclass(frozen=True)
class Mutant:
    """A rule with one thing changed."""

    what: str
    rule: Source


def mutants_of(rule: Source) -> Iterator[Mutant]:
    """Every mutant of one version of a rule, as its pack writes it."""
    for key, others in (("limit", _limits), ("starts", _starts), ("kind", _kinds)):
        yield from (Mutant(f"{key}: {_written(value)}", {**rule, key: value}) for value in others(rule))
    if "when" in rule:
        yield Mutant("when: dropped", _without(rule, "when"))
        yield from (Mutant(f"when: {_written(tree)}", {**rule, "when": tree}) for tree in _trees(rule["when"]))
    for need in rule.get("needs", ()):
        yield Mutant(f"needs: {need} dropped", {**rule, "needs": [other for other in rule["needs"] if other != need]})
    yield from _triggers(rule)
    yield from _days_in_force(rule)
    yield from _readings(rule)
    if "starts_on" in rule:
        yield Mutant("starts_on: dropped", _without(rule, "starts_on"))
    if "also_met_by" in rule:
        yield Mutant("also_met_by: dropped", _without(rule, "also_met_by"))


def _written(tree: Tree) -> str:
    """A value as a pack would write it on one line."""
    if isinstance(tree, str):
        return tree
    return yaml.dump(tree, Dumper=yaml.CSafeDumper, default_flow_style=True, width=10_000, sort_keys=False).removesuffix("...\n").strip()


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
            yield Mutant(f"{key}: {_written(said)}", {**rule, key: said} if said else _without(rule, key))
    if "unless" in rule:
        yield Mutant("unless turned into where", _without({**rule, "where": rule["unless"]}, "unless"))
    if "which" in rule:
        yield Mutant("which: first dropped", _without(rule, "which"))


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
    if limit.endswith(OR_SOONER):
        yield from (f"{other}{OR_SOONER}" for other in _limits({"limit": limit.removesuffix(OR_SOONER)}))
        yield limit.removesuffix(OR_SOONER)
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
