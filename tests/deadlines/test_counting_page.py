"""docs/counting.md tells a reader how time is counted: its worked examples are what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deadlines import assess
from tests.deadlines.case_files import all_cases, read, rulebook

PAGE = (Path(__file__).parents[2] / "docs" / "counting.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"[Dd]uty\s+`(?P<duty>[^`]+)`\s+of\s+the\s+case\s+\"(?P<case>[^\"]+)\"[^`]*:\n\n```text\n(?P<steps>.*?)```", re.DOTALL)
EXAMPLES = [(found["duty"], " ".join(found["case"].split()), found["steps"].splitlines()) for found in EXAMPLE.finditer(PAGE)]


@pytest.mark.parametrize(("duty", "name", "steps"), EXAMPLES, ids=[f"{duty} {name}" for duty, name, _ in EXAMPLES])
def test_an_example_of_the_page_is_what_the_program_prints(duty: str, name: str, steps: list[str]) -> None:
    printed = [
        clock.counting()
        for case in all_cases()
        if case.name == name
        for clock in assess(read(case.facts), rulebook(), case.now).clocks
        if clock.duty == duty
    ]
    assert steps in printed


def test_every_box_of_the_page_is_an_example_that_is_checked() -> None:
    assert len(EXAMPLES) == PAGE.count("```text") >= 12


@pytest.mark.parametrize(
    "name",
    [
        "known_at", "reported_at", "discharged_at", "ended_at", "planned_at",
        "Set by the officer", "Before the act", "N years", "Immediately",
    ],
)  # fmt: skip
def test_a_name_that_readings_lean_on_is_explained(name: str) -> None:
    assert f"**{name}**" in PAGE or f"## {name}" in PAGE


def test_every_reading_that_cites_a_page_cites_this_one() -> None:
    readings = [rule.reading for pack in rulebook().packs.values() for rule in pack.rules]
    cited = {page for reading in readings for page in re.findall(r"[\w-]+\.md", reading)}
    assert cited == {"counting.md"}
