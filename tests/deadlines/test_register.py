"""To whom each duty is owed, in which ways, by whom, and what its report must hold: held against a list of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from deadlines import Rule
from tests.deadlines.case_files import PlainYaml, rulebook

TEXT = (Path(__file__).parent / "register.yaml").read_text(encoding="utf-8")
REGISTER: dict[str, dict[str, Any]] = yaml.load(TEXT, PlainYaml)  # noqa: S506 (a safe loader)
RULES = {rule.duty: rule for pack in rulebook().packs.values() for rule in pack.rules}


def entry_of(rule: Rule) -> dict[str, Any]:
    to = {"agency": rule.to_agency} if rule.to_agency else rule.to
    entry = {"to": to, "how": list(rule.how), "owed_by": rule.owed_by, "content": [item.item for item in rule.content]}
    return {key: value for key, value in entry.items() if value} | ({} if rule.verified else {"verified": False})


def test_the_register_lists_every_duty_and_no_other() -> None:
    assert sorted(REGISTER) == sorted(RULES)


@pytest.mark.parametrize("duty", REGISTER)
def test_a_duty_is_owed_as_the_register_says(duty: str) -> None:
    assert entry_of(RULES[duty]) == REGISTER[duty]


@pytest.mark.parametrize(
    ("city", "board", "hazardous_materials", "health"),
    [
        ("chino", "rwqcb-santa-ana", "san-bernardino-county-fire", "san-bernardino-county-health-officer"),
        ("ontario", "rwqcb-santa-ana", "san-bernardino-county-fire", "san-bernardino-county-health-officer"),
        ("chico", "rwqcb-central-valley", "butte-county-environmental-health", "butte-county-health-officer"),
        ("diamond-bar", "rwqcb-los-angeles", "los-angeles-county-fire", "los-angeles-county-health-officer"),
        ("soledad", "rwqcb-central-coast", "monterey-county-environmental-health", "monterey-county-health-officer"),
    ],
)
def test_an_office_that_the_state_names_is_the_one_of_the_city(city: str, board: str, hazardous_materials: str, health: str) -> None:
    over = {standing.rule.duty: standing.recipient for standing in rulebook().law_of(city).rules}
    assert over["federal/npdes-24-hours"] == over["federal/npdes-written-5-days"] == board
    assert over["california/cupa-hazmat-release"] == hazardous_materials
    assert over["california/health-officer-sewage"] == health


def test_every_recipient_of_every_city_has_a_name() -> None:
    for city in rulebook().cities:
        law = rulebook().law_of(city)
        for standing in law.rules:
            assert standing.recipient is None or law.recipients[standing.recipient].name, standing.rule.duty


def test_what_no_one_has_read_is_marked_in_a_pack_that_says_so() -> None:
    for pack in rulebook().packs.values():
        unread = [rule.duty for rule in pack.rules if not rule.verified]
        assert not unread or pack.checked is None or pack.id in ("california", "federal"), unread
        assert not pack.is_city or not unread
