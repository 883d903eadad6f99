"""Time limits, starts and ladders as the pages of the law tell them, in both languages, for every rule that comes with the service."""

from __future__ import annotations

import pytest

from deadlines.rules import Rule
from service.pages.counting_words import limit_words
from service.pages.law_told import rung_told, starts_told
from service.pages.speech import ENGLISH, speech
from tests.houses import shipped_law

RULES = [rule for pack in shipped_law().packs.values() for rule in pack.rules]
SPANISH = speech("es")


@pytest.mark.parametrize("limit", sorted({rule.limit.text for rule in RULES}))
def test_every_time_limit_is_told_in_words_and_in_spanish(limit: str) -> None:
    english, spanish = limit_words(ENGLISH, limit), limit_words(SPANISH, limit)
    assert "_" not in english + spanish
    assert english != spanish


def test_a_limit_that_has_no_words_stays_as_it_stands() -> None:
    assert limit_words(SPANISH, "within one tide") == "within one tide"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.duty)
def test_every_start_and_every_rung_of_a_ladder_is_told_in_words_and_in_spanish(rule: Rule) -> None:
    assert "_" not in starts_told(ENGLISH, rule) + starts_told(SPANISH, rule)
    assert starts_told(ENGLISH, rule) != starts_told(SPANISH, rule)
    for rung in rule.ladder:
        english, spanish = rung_told(ENGLISH, rung), rung_told(SPANISH, rung)
        assert "_" not in english + spanish
        assert english != spanish


def test_a_ladder_says_whom_it_wakes_how_and_when() -> None:
    [rule] = [rule for rule in RULES if rule.duty == "chino/rwqcb-2-hours"]
    told = [rung_told(ENGLISH, rung) for rung in rule.ladder]
    assert (
        told[1] == "15 minutes after the start: the supervisor, by text message and e-mail, unless somebody has said that they have seen it"
    )
    assert told[2] == "1 hour before it is due: the duty officer and the discharger, by text message and e-mail"
    assert told[-1].endswith("unless somebody has said that they have seen it, then again after 1 hour, 8 times in all")
