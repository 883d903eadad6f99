"""The cases pin the law: change a number, a unit, a start, a day or a condition of any rule, and a case fails."""

from __future__ import annotations

from functools import cache

import pytest

from deadlines.mutation import Trial
from service.library import shipped_shelf
from tests.deadlines.case_files import all_cases, rulebook

DUTIES = list(dict.fromkeys(rule.duty for pack in rulebook().packs.values() for rule in pack.rules))


@cache
def trial() -> Trial:
    return Trial(rulebook(), shipped_shelf().packs, all_cases())


@pytest.mark.parametrize("duty", DUTIES)
def test_every_change_to_a_rule_is_noticed_by_a_case(duty: str) -> None:
    assert len(trial().mutants(duty)) >= 3
    assert trial().survivors(duty) == []


@pytest.mark.parametrize("pack", [pack.id for pack in rulebook().packs.values() if not pack.is_city])
def test_a_pack_laid_over_other_cities_is_noticed_by_a_case(pack: str) -> None:
    others = trial().other_covers(rulebook().packs[pack])
    assert [covers for covers in others if trial().notices_covers(rulebook().packs[pack], covers) is None] == []
