"""The cases pin the law: change a number, a unit, a start or a condition of any rule, and a case fails."""

from __future__ import annotations

import pytest

from deadlines import PackError, Rule, Rulebook
from tests.deadlines.case_files import rulebook
from tests.deadlines.mutants import book_of, mutants_of, rule_source, same_for_every_fact, who_notices

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
    for mutant in mutants_of(duty):
        try:
            book = book_of(pack, mutant.rule)
        except PackError:
            continue  # no rule at all: the reader notices before any case does
        if who_notices(duty, book) is None and not same_for_every_fact(only_rule(true, pack), only_rule(book, pack)):
            survivors.append(mutant.what)
    assert not survivors, f"{duty}: no case notices\n" + "\n".join(survivors)
