"""Every rule of every pack can be told in words and as JSON, and nothing of it is left out."""

from __future__ import annotations

import json

import pytest

from deadlines import Rule
from deadlines.explaining import condition_told, explained, rule_as_json, starts_told
from tests.deadlines.case_files import rulebook

RULES = [rule for pack in rulebook().packs.values() for rule in pack.rules]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.duty} {rule.in_force} {rule.starts_on}")
def test_a_rule_is_told_in_full(rule: Rule) -> None:
    pack, versions = rulebook().rules(rule.duty)
    assert rule in versions
    lines = "\n".join(explained(pack, rule, rulebook()))
    for part in (rule.citation, rule.says, rule.reading, rule.limit.text, pack.version):
        assert part in lines
    assert lines.count("\nladder ") == len(rule.ladder)
    assert ("not yet against its source" in lines) is not rule.verified
    told = json.loads(json.dumps(rule_as_json(pack, rule, rulebook())))
    assert told["duty"] == rule.duty
    assert [item["item"] for item in told["content"]] == [item.item for item in rule.content]
    assert len(told["other_readings"]) == len(rule.alternatives)
    assert (told["to"] is None) is (rule.to is None and rule.to_agency is None)


def test_conditions_are_told_with_their_brackets_where_they_matter() -> None:
    _, (two_hours,) = rulebook().rules("chino/rwqcb-2-hours")
    assert condition_told(two_hours.when) == (
        "(the material is sewage and the volume is over 1,000 gallons) or a reportable quantity is reached"
    )
    _, (draft,) = rulebook().rules("sewer-order/draft-3-business-days")
    assert "it is not known that all that entered a storm drain was captured and returned" in condition_told(draft.when)


def test_what_a_clock_is_counted_from_is_told_with_what_the_event_must_say() -> None:
    _, (hearing,) = rulebook().rules("chino/hearing-notice-10-days")
    assert starts_told(hearing) == "the hearing (hearing_at), owed upon each event hearing_set (hearing show cause)"


def test_an_office_that_each_city_has_of_its_own_is_named_for_each() -> None:
    pack, (rule,) = rulebook().rules("california/cupa-hazmat-release")
    to = rule_as_json(pack, rule, rulebook())["to"]
    assert to["agency"] == "cupa"
    assert to["in"]["chico"] == "butte-county-environmental-health"
    assert "baltimore" not in to["in"]
