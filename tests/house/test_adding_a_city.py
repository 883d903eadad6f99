"""docs/adding-a-city.md is followed by people who cannot tell whether the page or they are wrong: what it shows is what happens."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from deadlines.calendars import Calendar, read_calendars
from deadlines.facts import DECISIONS, EVENT_KEYS, HEARINGS, KINDS, MATERIALS, ORDERS, PLACES_REACHED, PREMISES, RELEASES
from deadlines.limits import Limit
from deadlines.rulepack import read_pack
from service.cli import _parser, main
from service.library import open_rulebook, shipped_shelf

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-city.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "deadlines" / "README.md").read_text(encoding="utf-8")


def boxes(language: str) -> list[str]:
    """The boxes of the page in one language, in order."""
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", PAGE, re.DOTALL | re.MULTILINE)


PACK, CASES = boxes("yaml")
COUNTING, NO_MISTAKE, MISTAKE, FAILING, UNNOTICED, LONG_UNNOTICED, EXPLAINED = boxes("text")
(FACTS,) = boxes("json")
COMMANDS = [line.strip() for box in boxes("sh") for line in box.splitlines() if not line.startswith("echo")]
ROWS = [line.strip("| ").split(" | ") for line in PAGE.split("| your text says | you write |")[1].split("\n\n")[0].splitlines()[2:]]
FORMS = [(said, written) for said, written in ROWS if not written.startswith("no clock")]

SECOND_CALL = "      - {type: notice_given, recipient: riverbend-works, method: telephone, at: 2026-11-30T08:00}\n"
USUAL = {
    **dict.fromkeys(("title", "citation", "says", "reading"), "x"),
    **{"provisions": "[x]", "ladder": "call", "limit": "2 hours", "how": "[telephone]", "owed_by": "discharger"},
}
WORDS = sorted(
    {*KINDS, *MATERIALS, *PLACES_REACHED, *PREMISES, *RELEASES, *ORDERS, *HEARINGS, *DECISIONS, *EVENT_KEYS}.union(*EVENT_KEYS.values())
)
FIFTY_GALLONS = next(case + "\n\n" for case in CASES.split("\n\n") if '"50 gallons of' in case)

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder as the page has it, named by the .env file that the page has its reader write."""
    packs = tmp_path / "my-packs"
    (packs / "cases").mkdir(parents=True)
    (packs / "riverbend.yaml").write_text(PACK, encoding="utf-8")
    (packs / "cases" / "riverbend.yaml").write_text(CASES, encoding="utf-8")
    (tmp_path / ".env").write_text("SPILLCLOCK_PACKS=my-packs\n", encoding="utf-8")
    (tmp_path / "facts.json").write_text(FACTS, encoding="utf-8")
    monkeypatch.delenv("SPILLCLOCK_PACKS", raising=False)
    monkeypatch.chdir(tmp_path)
    return packs


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments)
        told = capsys.readouterr()
        return code, told.out + told.err

    return run


@pytest.fixture(scope="module")
def california() -> Calendar:
    return read_calendars(shipped_shelf().calendars)["california"]


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_example_passes_the_check_as_the_page_prints_it(run: Run) -> None:
    code, told = run("rules", "check", "riverbend")
    assert told.startswith(NO_MISTAKE), told
    assert code == 0


@pytest.mark.parametrize(
    ("box", "file", "right", "wrong"),
    [
        pytest.param(MISTAKE, "riverbend.yaml", "limit: 3 business days", "limit: three business days", id="a mistake in the file"),
        pytest.param(
            FAILING,
            "cases/riverbend.yaml",
            "due_at: 2026-12-01T00:30:00Z",
            "due_at: 2026-11-28T00:30:00Z",
            id="a case that fails",
        ),
    ],
)
def test_a_message_is_printed_word_for_word_as_the_page_has_it(run: Run, folder: Path, box: str, file: str, right: str, wrong: str) -> None:
    assert f"`{wrong}` for `{right}`" in " ".join(PAGE.split())
    change(folder / file, right, wrong)
    assert run("rules", "check", "riverbend") == (1, box)


def test_a_change_that_no_case_notices_is_told_as_the_page_has_it(run: Run, folder: Path) -> None:
    change(folder / "cases" / "riverbend.yaml", SECOND_CALL, "")
    change(folder / "cases" / "riverbend.yaml", "event: 3", "event: 2")
    assert run("rules", "check", "riverbend") == (1, UNNOTICED)


def test_a_changed_condition_is_told_in_full_as_the_page_has_it(run: Run, folder: Path) -> None:
    change(folder / "cases" / "riverbend.yaml", FIFTY_GALLONS, "")
    code, told = run("rules", "check", "riverbend")
    assert (code, LONG_UNNOTICED in told) == (1, True), told


def test_the_explanation_and_the_count_are_printed_as_the_page_has_them(run: Run) -> None:
    code, told = run("rules", "explain", "riverbend/call-fire")
    assert told.startswith(EXPLAINED), told
    (clock,) = json.loads(run("clocks", "facts.json")[1])
    assert (code, clock["duty"], clock["counting"]) == (0, "riverbend/call-works", COUNTING.splitlines())


def test_a_section_is_amended_as_the_page_tells(folder: Path) -> None:
    rule = PACK[PACK.index("  - id: confirm-in-writing") : PACK.index("  - id: keep-confirmation")].rstrip() + "\n"
    old, new = (days for days in re.findall(r"`(in_force: \{[^}]+\})`", PAGE))
    change(folder / "riverbend.yaml", rule, f"{rule}    {old}\n\n{rule}    {new}\n")
    _, versions = open_rulebook(folder).rules("riverbend/confirm-in-writing")
    assert [str(version.in_force) for version in versions] == ["until 2027-06-30", "from 2027-07-01"]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_page_is_one_that_the_program_knows(line: str) -> None:
    program, *arguments = shlex.split(line)
    assert program == ".venv/bin/spillclock"
    assert _parser().parse_args(arguments).run


@pytest.mark.parametrize(("said", "written"), FORMS, ids=[said for said, _ in FORMS])
def test_a_form_of_the_table_is_a_rule_that_can_be_read(said: str, written: str, california: Calendar) -> None:
    forms: list[dict[str, str]] = [{}]
    for key, value in re.findall(r"`(\w+): ([^`]+)`", written):
        if key in forms[-1]:
            forms.append(dict(forms[-1]))  # "this or that": two rules
        forms[-1][key] = value
    recipients = PACK.index("conditions:")
    ladders = PACK[PACK.index("ladders:") : PACK.index("rules:")]
    head = f"{PACK[:recipients].rstrip()}\n  office: {{name: An office}}\n{ladders}rules:\n"
    for form in forms:
        rule = {**USUAL, **({} if "on" in form else {"starts": "known_at"}), **form}
        body = "".join(f"    {key}: {value}\n" for key, value in rule.items())
        pack = read_pack("table.yaml", f"{head}  - id: form\n{body}", {"california": california})
        assert pack.rules[0].limit == Limit.parse(rule["limit"])


@pytest.mark.parametrize("word", WORDS)
def test_the_reference_that_the_page_points_to_names_every_word(word: str) -> None:
    assert "#words" in PAGE
    assert f"`{word}`" in REFERENCE.split("\n## Words\n")[1].split("\n## ")[0]
