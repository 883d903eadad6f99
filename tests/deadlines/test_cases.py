"""Every case gives exactly its clocks, every rule is reached by a case, and the customer's own cases are all here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deadlines import answers_of, asked_of, assess, failing
from tests.deadlines.case_files import NOW, Case, all_cases, read, rulebook

SHARED = Path(__file__).parents[3] / "shared" / "cases" / "clocks.json"
SHARED_KEYS = ("duty", "event", "applies", "starts_at", "due_at", "extended_due_at")


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_a_case_gives_exactly_its_clocks_and_questions(case: Case) -> None:
    assessment = assess(read(case.facts), rulebook(), case.now)
    assert answers_of(assessment) == list(case.clocks)
    assert asked_of(assessment) == case.asked


def test_the_check_of_the_packs_finds_the_cases_right() -> None:
    assert failing(all_cases(), rulebook()) == []


def test_every_rule_of_every_pack_is_reached_by_a_case() -> None:
    reached = {answer["duty"] for case in all_cases() for answer in case.clocks if "due_at" in answer}
    rules = {rule.duty for pack in rulebook().packs.values() for rule in pack.rules}
    assert len(rules) >= 104
    assert sorted(rules - reached) == []
    assert sorted(reached - rules) == []


def test_every_pack_has_a_file_of_cases() -> None:
    assert {case.pack for case in all_cases()} == set(rulebook().packs)


def shared_cases() -> list[dict[str, Any]]:
    if not SHARED.exists():
        pytest.skip("The customer's cases (../shared/cases/clocks.json) do not lie beside this project; its own cases hold them all.")
    found: list[dict[str, Any]] = json.loads(SHARED.read_text(encoding="utf-8"))
    return found


def test_the_cases_of_the_customer_give_exactly_their_clocks() -> None:
    for case in shared_cases():
        clocks = [clock.as_json() for clock in assess(read(case["facts"]), rulebook(), NOW).clocks]
        assert [{key: clock[key] for key in SHARED_KEYS} for clock in clocks] == case["clocks"], case["name"]


def test_every_case_of_the_customer_is_one_of_our_own() -> None:
    own = [case.facts for case in all_cases()]
    assert [case["name"] for case in shared_cases() if case["facts"] not in own] == []
