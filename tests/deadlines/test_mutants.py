"""The cases pin the law: change a number, a unit, a start or a condition of any rule, and a case fails."""

from __future__ import annotations

import pytest

from deadlines import PackError, Rule, Rulebook
from tests.deadlines.case_files import rulebook
from tests.deadlines.mutants import book_of, covers_of, mutants_of, rule_source, same_for_every_fact, who_notices, who_notices_cover

DUTIES = [rule.duty for pack in rulebook().packs.values() for rule in pack.rules]


def only_rule(book: Rulebook, pack: str) -> Rule:
    (rule,) = book.packs[pack].rules
    return rule


@pytest.mark.parametrize("duty", DUTIES)
def test_every_change_to_a_rule_is_noticed_by_a_case(duty: str) -> None:
    pack = duty.partition("/")[0]
    true = book_of(pack, rule_source(duty))
    assert who_notices(duty, true) is None, "the rule standing alone must give what the cases say"
    survivors = []
    mutants = list(mutants_of(duty))
    assert len(mutants) >= 3
    for mutant in mutants:
        try:
            book = book_of(pack, mutant.rule)
        except PackError:
            continue  # no rule at all: the reader notices before any case does
        if who_notices(duty, book) is None and not same_for_every_fact(only_rule(true, pack), only_rule(book, pack)):
            survivors.append(mutant.what)
    assert not survivors, f"{duty}: no case notices\n" + "\n".join(survivors)


@pytest.mark.parametrize("pack", [pack.id for pack in rulebook().packs.values() if not pack.is_city])
def test_a_pack_laid_over_other_cities_is_noticed_by_a_case(pack: str) -> None:
    assert [covers for covers in covers_of(pack) if who_notices_cover(pack, covers) is None] == []
