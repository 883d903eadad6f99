"""From provision to rule: docs/provisions.md maps every row of every text, and agrees with the packs in both directions."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from tests.deadlines.case_files import rulebook

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "law"
RULES = [rule for pack in rulebook().packs.values() for rule in pack.rules]
_DUTY = re.compile(r"`([\w-]+/[\w-]+)`")


@cache
def rows() -> dict[str, str]:
    """Each provision of the page with what stands in its last column."""
    found: dict[str, str] = {}
    for line in (ROOT / "docs" / "provisions.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) >= 3 and cells[0] != "provision" and not cells[0].startswith("---"):
            assert cells[0] not in found, f"{cells[0]} stands twice"
            found[cells[0]] = cells[-1]
    return found


def test_every_provision_has_a_rule_or_a_reason() -> None:
    assert len(rows()) >= 250
    assert [provision for provision, answer in rows().items() if len(answer) < 5] == []


@pytest.mark.parametrize("provision", sorted(rows()))
def test_a_provision_names_rules_that_exist_and_that_carry_it_out(provision: str) -> None:
    duties = {rule.duty for rule in RULES}
    carried = {rule.duty for rule in RULES if provision in rule.provisions}
    named = set(_DUTY.findall(rows()[provision]))
    assert named <= duties
    assert carried <= named, "a rule carries it out that the page does not name"


def test_every_provision_that_a_rule_carries_out_is_on_the_page() -> None:
    assert sorted({provision for rule in RULES for provision in rule.provisions} - set(rows())) == []


def test_every_provision_of_the_customers_list_is_on_the_page() -> None:
    path = SHARED / "provisions.csv"
    if not path.exists():
        pytest.skip("The customer's provisions (../shared/law/provisions.csv) do not lie beside this project.")
    with path.open(encoding="utf-8", newline="") as file:
        listed = {row["id"] for row in csv.DictReader(file)}
    assert len(listed) > 150
    assert sorted(listed - set(rows())) == []


def test_every_duty_of_the_customers_list_is_a_rule_with_its_limit() -> None:
    path = SHARED / "duties.md"
    if not path.exists():
        pytest.skip("The customer's duties (../shared/law/duties.md) do not lie beside this project.")
    listed = re.findall(r"^\| ([\w-]+/[\w-]+) \|", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) >= 100
    assert sorted(set(listed) - {rule.duty for rule in RULES}) == []
