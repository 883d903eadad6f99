"""`spillclock rq`: an answer, a search, exit codes, and JSON."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from service.cli import main

REACHED, NOT_REACHED, UNSAID = "A reportable quantity is reached.", "No reportable quantity is reached.", "It cannot be said; see above."


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[str]:
    assert main(["rq", *arguments]) == code
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        (("bleach 12.5%", "80", "gal"), REACHED), (("bleach 12.5%", "79", "gallons"), NOT_REACHED), (("bleach", "80", "gal"), UNSAID),
        (("sulphuric acid", "1,000", "pounds"), REACHED), (("sulfric acid", "1,000", "lb"), UNSAID), (("7664939", "1000", "lb"), REACHED),
        (("bleach 12.5%", "60-90", "gal"), REACHED), (("bleach 12.5%", "60 to 79", "gal"), NOT_REACHED),
        (("bleach", "80", "gal", "--fraction", "0.125"), REACHED), (("bleach", "80", "gal", "--fraction", "12.5%"), REACHED),
        (("hydrochloric acid 37 %", "1400", "gal"), UNSAID), (("hydrochloric acid 37 %", "1400", "gal", "--density", "9.83"), REACHED),
        (("chlorine", "4", "lb", "--and", "7782-50-5", "3", "kg"), REACHED),
        (("chlorine", "4", "lb", "--and", "benzene", "9", "lb"), NOT_REACHED),
        (("waste", "10", "lb", "--holds", "nitric acid", "--holds", "cupric sulfate=0.05"), REACHED),
        (("waste", "100", "lb", "--holds", "nitric acid=10%", "--holds", "cupric sulfate=0.05"), NOT_REACHED),
    ],
)  # fmt: skip
def test_the_last_line_is_the_answer(arguments: tuple[str, ...], last: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, *arguments)
    assert lines[-1] == last
    assert any("40 CFR 302.4" in line for line in lines)


def test_the_answer_can_be_checked_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\n".join(told(capsys, "bleach 12.5%", "80", "gal"))
    for words in (
        "80 gal x 10 lb/gal x 0.125 by weight = 100 lb of Sodium hypochlorite", "reached from 80 gal on", "9.6 to 10.2 lb/gal",
        "12.5 trade percent", "is read as bleach 12.5% NaOCl (industrial)",
    ):  # fmt: skip
        assert words in lines


def test_a_name_alone_is_looked_up(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, "sulfric acid")
    assert lines[0].startswith("Sulfuric acid (7664-93-9)\t1,000 lb\tsimilar")
    assert told(capsys, "lye")[0].startswith("Sodium hydroxide (1310-73-2)\t1,000 lb\tsynonym")
    assert "check digit" in told(capsys, "7664-93-8")[-1]
    assert "not in the table" in told(capsys, "zzzzqqqq", code=1)[-1]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("chlorine", "10"), "UNIT: missing"), (("chlorine", "ten", "lb"), "QUANTITY: 'ten'"),
        (("chlorine", "1,5", "lb"), "QUANTITY: '1,5'"),
        (("chlorine", "10", "furlong"), "UNIT: 'furlong'"), (("chlorine", "30-20", "lb"), "QUANTITY: low 30 is over high 20"),
        (("7664-93-8", "10", "lb"), "check digit"), (("chlorine", "10", "lb", "--fraction", "12.5"), "--fraction"),
        (("chlorine", "10", "gal", "--density", "0"), "--density"),
        (("chlorine", "10", "lb", "--and", "benzene", "x", "lb"), "--and: QUANTITY"),
        (("w", "10", "lb", "--holds", "nitric acid=0.6", "--holds", "lye=0.6"), "over the whole"), ((" ", "10", "lb"), "NAME-OR-CAS"),
        (("chlorine", "1e40", "lb"), "QUANTITY"), (("chlorine", "nan", "lb"), "QUANTITY"),
    ],
)  # fmt: skip
def test_bad_input_is_named_and_ends_with_two(arguments: tuple[str, ...], fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rq", *arguments]) == 2
    said = capsys.readouterr()
    assert fault in said.err
    assert "right would be" in said.err
    assert said.out == ""


def test_json_holds_the_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    given = json.loads("\n".join(told(capsys, "bleach 12.5%", "80", "gal", "--json")))
    assert given["reached"] is True
    assert given["substances"][0]["facts"] == [{"name": "bleach 12.5% NaOCl (industrial)", "quantity": 80, "unit": "gal"}]
    assert {"answer", "arithmetic", "reached_from", "other_readings", "open", "remarks", "sources"} <= set(given)
    found = json.loads("\n".join(told(capsys, "sulfric acid", "--json")))
    assert found["matches"][0] == {
        "name": "Sulfuric acid", "cas": "7664-93-9", "rq_lb": 1000, "kind": "listed", "why": "similar",
        "told": "similar to what was typed: sulfric acid",
    }  # fmt: skip


def test_other_commands_do_not_load_the_finder() -> None:
    code = "import sys, service.cli as c; c.main(['rules', 'list']); print([m for m in sys.modules if 'quantity_' in m], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_example_of_the_page_for_inspectors_is_what_the_program_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reportable-quantities.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```\n\$ spillclock rq (.*?)\n(.*?)\n\.\.\.\n(.*?)\n```", page, re.DOTALL)
    lines = told(capsys, *shlex.split(block[0]))
    shown = block[1].splitlines()
    assert lines[: len(shown)] == shown
    assert lines[-1] == block[2]
