"""Yes, no and unknown: what is settled stays settled, and an unknown answer names the facts that would settle it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadlines import Facts
from deadlines.conditions import All, Always, AnyOf, Condition, Is, Not, Reached, UnlessKnown, Verdict, View, VolumeIs
from deadlines.facts import PLACES_REACHED
from tests.deadlines.case_files import read, rulebook

VERDICTS: tuple[Verdict, ...] = (True, False, None)
NAMES = "abcdef"


@dataclass(frozen=True)
class Leaf:
    """A fact with a name; the view is a plain table of answers."""

    name: str

    def judge(self, view: Any) -> Verdict:
        answer: Verdict = view[self.name]
        return answer

    def open_facts(self, view: Any) -> Iterable[str]:
        return (self.name,)


def trees(*, with_burden: bool = False) -> st.SearchStrategy[Condition]:
    def joined(part: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
        parts = st.lists(part, max_size=4).map(tuple)
        kinds: list[st.SearchStrategy[Condition]] = [parts.map(All), parts.map(AnyOf), part.map(Not)]
        return st.one_of(*kinds, *([part.map(UnlessKnown)] if with_burden else []))

    leaves: st.SearchStrategy[Condition] = st.sampled_from([Leaf(name) for name in NAMES])
    return st.recursive(leaves, joined, max_leaves=12)


answers = st.fixed_dictionaries({name: st.sampled_from(VERDICTS) for name in NAMES})


def judge(tree: Condition, view: Mapping[str, Verdict]) -> Verdict:
    return tree.judge(view)  # type: ignore[arg-type]


@given(trees(), answers, st.fixed_dictionaries({name: st.booleans() for name in NAMES}), st.sets(st.sampled_from(NAMES)))
def test_settling_unknown_leaves_never_turns_a_settled_answer(
    tree: Condition, view: dict[str, Verdict], truth: dict[str, bool], settled: set[str]
) -> None:
    before = judge(tree, view)
    after = judge(tree, {name: truth[name] if answer is None and name in settled else answer for name, answer in view.items()})
    assert before is None or after is before


@given(trees(), answers, st.fixed_dictionaries({name: st.booleans() for name in NAMES}))
def test_an_unknown_answer_names_the_leaves_that_settle_it(tree: Condition, view: dict[str, Verdict], truth: dict[str, bool]) -> None:
    if judge(tree, view) is not None:
        return
    named = set(tree.open_facts(view))  # type: ignore[arg-type]
    assert named
    assert all(view[name] is None for name in named)
    assert judge(tree, {name: truth[name] if name in named else answer for name, answer in view.items()}) is not None


@given(trees(with_burden=True), st.fixed_dictionaries({name: st.booleans() for name in NAMES}))
def test_with_every_leaf_known_the_answer_is_plain_logic(tree: Condition, view: dict[str, Verdict]) -> None:
    def plain(part: Condition) -> bool:
        match part:
            case All(parts):
                return all(map(plain, parts))
            case AnyOf(parts):
                return any(map(plain, parts))
            case Not(inner) | UnlessKnown(inner):
                return not plain(inner)
        return bool(view[part.name])  # type: ignore[attr-defined]

    assert judge(tree, view) is plain(tree)


@pytest.mark.parametrize(("one", "other"), list(product(VERDICTS, VERDICTS)))
def test_both_and_either_follow_the_table_of_kleene(one: Verdict, other: Verdict) -> None:
    view = {"a": one, "b": other}
    both, either = All((Leaf("a"), Leaf("b"))), AnyOf((Leaf("a"), Leaf("b")))
    assert judge(both, view) is (False if False in (one, other) else None if None in (one, other) else True)
    assert judge(either, view) is (True if True in (one, other) else None if None in (one, other) else False)


def test_a_burden_of_proof_counts_unknown_as_not_shown() -> None:
    assert [judge(UnlessKnown(Leaf("a")), {"a": answer}) for answer in VERDICTS] == [False, True, True]


def view_of(**facts: Any) -> View:
    return View(Facts("chino", **facts), rulebook().quantities)


def test_a_rule_without_conditions_applies_always() -> None:
    assert Always().judge(view_of()) is True
    assert list(Always().open_facts(view_of())) == []


@pytest.mark.parametrize(("material", "answer"), [("sewage", True), ("paint", False), ("unknown", None), (None, None)])
def test_the_word_unknown_is_an_unknown_fact(material: str | None, answer: Verdict) -> None:
    assert Is("material", frozenset(["sewage"])).judge(view_of(material=material)) is answer


@pytest.mark.parametrize(
    ("reached", "holds", "may_hold"),
    [
        (None, None, None), ({"storm_drain"}, True, True), ({"storm_drain", "contained"}, True, True), ({"land"}, False, None),
        ({"contained"}, False, False), ({"contained", "land"}, False, None), ({"groundwater"}, False, None),
    ],
)  # fmt: skip
def test_only_a_wholly_contained_spill_surely_reaches_nothing(reached: set[str] | None, holds: Verdict, may_hold: Verdict) -> None:
    view = view_of(reached=None if reached is None else frozenset(reached))
    drains = frozenset(["storm_drain", "street"])
    assert (Reached(drains, False).judge(view), Reached(drains, True).judge(view)) == (holds, may_hold)


def test_an_empty_list_of_places_says_nothing_at_all() -> None:
    facts = read({"jurisdiction": "chino", "known_at": "2026-06-10T09:00:00-07:00", "reached": []})
    assert facts.reached is None


@given(st.sets(st.sampled_from(PLACES_REACHED), min_size=1), st.sets(st.sampled_from(PLACES_REACHED)))
def test_places_that_are_added_never_take_an_answer_of_yes_back(reached: set[str], more: set[str]) -> None:
    asked = Reached(frozenset(["storm_drain", "street"]), False)
    assert not asked.judge(view_of(reached=frozenset(reached))) or asked.judge(view_of(reached=frozenset(reached | more)))


@pytest.mark.parametrize(
    ("quantity", "over", "at_least", "under", "at_most"),
    [(999.99, False, False, True, True), (1000, False, True, False, True), (1000.01, True, True, False, False)],
)
def test_a_volume_is_held_against_its_threshold_exactly(
    quantity: float, over: bool, at_least: bool, under: bool, at_most: bool
) -> None:  # fmt: skip
    facts = read({"jurisdiction": "chino", "known_at": "2026-06-10T09:00:00-07:00", "volume": {"low": 0, "high": quantity, "unit": "gal"}})
    view = View(facts, rulebook().quantities)
    words = ("over", "at_least", "under", "at_most")
    assert [VolumeIs(word, Fraction(1000)).judge(view) for word in words] == [over, at_least, under, at_most]


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        ({"material": "hazardous_material"}, True), ({"material": "hazardous_waste"}, True), ({"material": "petroleum"}, True),
        ({"material": "potable_water"}, False), ({"material": "yard_waste"}, False), ({"material": "sewage"}, None), ({}, None),
        ({"material": "unknown"}, None), ({"material": "petroleum", "hazardous": False}, False),
        ({"material": "potable_water", "hazardous": True}, True),
    ],
)  # fmt: skip
def test_what_is_hazardous_is_said_by_a_person_or_by_the_material(facts: dict[str, Any], answer: Verdict) -> None:
    assert view_of(**facts).hazardous is answer
