"""A bad fact file: exit 2, nothing on standard output, and one clear line a fault that names the key, what is wrong, what is right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from deadlines.facts import FACT_KEYS
from service.cli import main
from tests.deadlines.case_files import PlainText

FAULTS: list[dict[str, Any]] = yaml.load((Path(__file__).parent / "fact_faults.yaml").read_text(encoding="utf-8"), PlainText)  # noqa: S506 (a safe loader)
GOOD = {"jurisdiction": "chino", "known_at": "2026-06-10T09:00:00-07:00"}
A_FILE = "a fact object, or an array of them"


def told(capsys: pytest.CaptureFixture[str], file: Path) -> tuple[int, str, list[str]]:
    code = main(["clocks", str(file), "--now", "2026-06-10T12:00:00-07:00"])
    shown = capsys.readouterr()
    return code, shown.out, shown.err.splitlines()


def check(capsys: pytest.CaptureFixture[str], file: Path, *lines: str) -> None:
    """One line a fault, in order; … in an expected line stands for anything."""
    code, out, err = told(capsys, file)
    assert (code, out) == (2, "")
    assert len(err) == len(lines), err
    for line, expected in zip(err, lines, strict=True):
        assert re.fullmatch(".*".join(map(re.escape, f"spillclock: {expected}".split("…"))), line), line


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"])
def test_a_fault_is_one_line_with_its_key_and_its_cure(fault: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(fault["facts"]))
    check(capsys, file, *fault["lines"])


def test_the_kinds_of_fault_are_many_and_each_has_a_name() -> None:
    assert len({fault["name"] for fault in FAULTS}) == len(FAULTS) >= 40


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        pytest.param(b"", "not JSON (Expecting value: line 1 column 1 (char 0))", id="an empty file"),
        pytest.param(b"A truck lost its load.", "not JSON (Expecting value: line 1 column 1 (char 0))", id="a sentence"),
        pytest.param(b'{"jurisdiction": "chino",}', "not JSON (", id="a comma too many"),
        pytest.param(b'{"threat": true, "threat": false}', "not JSON (the key 'threat' is given twice)", id="a key twice"),
        pytest.param(b'{"volume": {"unit": "gal", "unit": "L"}}', "not JSON (the key 'unit' is given twice)", id="a deep key twice"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00", "not JSON (", id="a picture"),
        pytest.param(b"[" * 50_000, "not JSON (maximum recursion depth exceeded", id="brackets without end"),
        pytest.param(b'{"volume": ' + b"9" * 5000 + b"}", "not JSON (Exceeds the limit (4300 digits)", id="a number without end"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_json_says_so_in_one_line(text: bytes, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "facts.json"
    file.write_bytes(text)
    code, out, err = told(capsys, file)
    assert (code, out, len(err)) == (2, "", 1)
    assert err[0].startswith(f"spillclock: {file}: {wrong}")
    assert err[0].endswith(f"; right would be: {A_FILE}")


@pytest.mark.parametrize(("text", "what"), [("7", "the number 7"), ("null", "null"), ('"spill"', "a text"), ("true", "true or false")])
def test_a_value_that_is_no_object_is_no_matter(text: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "facts.json"
    file.write_text(text)
    check(capsys, file, f"facts: {what} is not an object; right would be: an object: {{…")


@pytest.mark.parametrize(("name", "what"), [("nowhere.json", "No such file or directory"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_is_named(name: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / name
    check(capsys, file, f"{file}: {what}; right would be: a JSON file, or - for standard input")


def test_one_bad_element_of_an_array_is_named_by_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "facts.json"
    file.write_text(json.dumps([GOOD, {**GOOD, "jurisdiction": "fresno", "threat": "maybe"}, 5]))
    check(
        capsys,
        file,
        "[1] jurisdiction: 'fresno' is not a known city; right would be: one of: …",
        "[1] threat: 'maybe' is neither true, false nor null; right would be: true, false, …",
        "[2] facts: the number 5 is not an object; right would be: an object: …",
    )


@pytest.mark.parametrize(
    ("now", "wrong"),
    [
        ("2026-06-10T12:00:00", "'2026-06-10T12:00:00' has no offset"), ("noon", "Invalid isoformat string: 'noon'"),
        ("2026-06-10T99:00:00Z", "hour must be in 0..23"),
        ("1800-01-01T00:00:00Z", "'1800-01-01T00:00:00Z' lies outside the years 1970 to 2199"),
    ],
)  # fmt: skip
def test_a_moment_to_judge_by_needs_its_offset(now: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(GOOD))
    assert main(["clocks", str(file), "--now", now]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"spillclock: --now: {wrong}; right would be: 2026-12-01T15:00:00-08:00\n"


def test_every_fact_may_be_null_or_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare, nulls = (tmp_path / name for name in ("bare.json", "nulls.json"))
    bare.write_text(json.dumps(GOOD))
    nulls.write_text(json.dumps({**dict.fromkeys(FACT_KEYS), **GOOD}))
    assert told(capsys, bare) == told(capsys, nulls)
