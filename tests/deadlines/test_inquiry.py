"""What to ask next: the question whose answer would take away the most clocks comes first, and what an answer does is found by trying."""

from __future__ import annotations

from typing import Any

import pytest

from deadlines import assess
from deadlines.inquiry import Inquiry, ask, inquire
from tests.deadlines.case_files import NOW, Case, all_cases, read, rulebook

KNOWN = {"jurisdiction": "chino", "known_at": "2026-06-10T09:00:00-07:00"}


def asked(**facts: Any) -> dict[str, Inquiry]:
    return {inquiry.fact: inquiry for inquiry in inquire(read({**KNOWN, **facts}), rulebook(), NOW)}


def test_where_it_went_settles_the_calls_to_the_city() -> None:
    found = asked(material="sewage", volume={"quantity": 100, "unit": "gal"}, threat=False, accidental=False)
    assert set(found["reached"].settles) >= {"chino/public-works-immediate", "chino/fire-district-immediate"}
    assert "chino/public-works-immediate" in found["reached"].removes
    assert next(iter(found)) == "reached"


def test_questions_stand_in_the_order_of_what_an_answer_would_take_away() -> None:
    found = list(asked().values())
    assert [len(one.removes) for one in found] == sorted((len(one.removes) for one in found), reverse=True)
    assert len(found[0].removes) >= 5


def test_a_duty_that_waits_for_an_answer_is_named_as_one_that_it_would_start() -> None:
    enrollee = asked(material="sewage", volume={"quantity": 1500, "unit": "gal"}, reached=["storm_drain"])["enrollee"]
    assert "sewer-order/cal-oes-2-hours" in enrollee.starts
    assert enrollee.removes == ()


def test_an_event_that_leaves_something_unsaid_is_asked_about_it() -> None:
    facts = {"jurisdiction": "chino", "kind": "enforcement", "events": [{"type": "hearing_set", "at": KNOWN["known_at"],
             "hearing_at": "2026-07-10T09:00:00-07:00"}]}  # fmt: skip
    found = inquire(read(facts), rulebook(), NOW)
    assert [one.asks for one in found] == ["What does the event say about hearing?"]
    assert set(found[0].settles) == set(found[0].presumed)


@pytest.mark.parametrize("fact", ["substances[2].density_lb_per_gal", "events[0].comply_by", "reached", "spcc_facility"])
def test_every_question_is_a_sentence_that_ends_with_a_question_mark(fact: str) -> None:
    assert ask(fact).endswith("?")
    assert "_" not in ask(fact)


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_every_case_can_be_asked_about_and_promises_only_what_is_presumed_today(case: Case) -> None:
    facts = read(case.facts)
    assessment = assess(facts, rulebook(), case.now)
    presumed = {clock.duty for clock in assessment.clocks if clock.applies == "presumed"}
    found = inquire(facts, rulebook(), case.now, assessment)
    assert {one.fact for one in found} == {question.fact for question in assessment.questions}
    for one in found:
        assert set(one.settles) | set(one.removes) <= presumed
        assert not set(one.starts) & {clock.duty for clock in assessment.clocks}
