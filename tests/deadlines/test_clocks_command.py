"""`spillclock clocks`, as other programs meet it: the JSON of the contract, arrays, standard input, local times, exit codes."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from service.cli import main
from tests.deadlines.case_files import all_cases

PROGRAM = Path(sys.executable).with_name("spillclock")
NOW = "2026-12-01T15:00:00-08:00"
SEWAGE: dict[str, Any] = {
    "jurisdiction": "chino", "known_at": "2026-12-01T14:05:00-08:00", "material": "sewage", "volume": {"quantity": 1500, "unit": "gal"},
    "threat": True, "accidental": True, "reached": ["gutter"],
}  # fmt: skip
PAINT = {"jurisdiction": "chino", "known_at": "2026-12-01T14:05:00-08:00", "material": "paint", "hazardous": False, "threat": False,
         "accidental": False, "reached": ["contained"]}  # fmt: skip
BEYOND = {"jurisdiction": "ontario", "known_at": "2031-12-30T09:00:00-08:00", "accidental": True, "reached": ["gutter"]}

# The contract, section 2, in its order.
KEYS = [
    "duty", "title", "citation", "pack", "pack_version", "applies", "unsettled", "recipient", "methods", "owed_by", "limit", "starts_from",
    "event", "occurrence", "starts_at", "due_at", "extended_due_at", "state", "met_at", "late_by_s", "content", "counting", "reading",
    "other_readings", "verified",
]  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, facts: object, *options: str) -> tuple[int, Any, str]:
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(facts))
    code = main(["clocks", str(file), *(options or ("--now", NOW))])
    shown = capsys.readouterr()
    return code, json.loads(shown.out), shown.err


def of_duty(clocks: list[dict[str, Any]], duty: str) -> dict[str, Any]:
    (found,) = (clock for clock in clocks if clock["duty"] == duty)
    return found


def test_a_clock_has_exactly_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, clocks, err = run(capsys, tmp_path, SEWAGE)
    assert (code, err) == (0, "")
    assert all(list(clock) == KEYS for clock in clocks)
    clock = of_duty(clocks, "chino/rwqcb-2-hours")
    told = {key: clock[key] for key in KEYS if key not in ("title", "citation", "pack_version", "reading", "counting")}
    assert told == {
        "duty": "chino/rwqcb-2-hours", "pack": "chino", "applies": "yes", "unsettled": [], "recipient": "rwqcb-santa-ana",
        "methods": ["telephone", "email"], "owed_by": "discharger", "limit": "2 hours", "starts_from": "known_at", "event": None,
        "occurrence": None, "starts_at": "2026-12-01T22:05:00Z", "due_at": "2026-12-02T00:05:00Z", "extended_due_at": None,
        "state": "running", "met_at": None, "late_by_s": None, "content": [],
        "other_readings": [{"reading": clock["other_readings"][0]["reading"], "due_at": "2026-12-02T00:05:00Z"}], "verified": True,
    }  # fmt: skip
    assert clock["counting"] == [
        "Counted from Tue 2026-12-01 14:05:00 PST (2026-12-01T22:05:00Z).",
        "Plus 2 hours of elapsed time; nights, weekends and holidays count.",
        "Due Tue 2026-12-01 16:05:00 PST (2026-12-02T00:05:00Z).",
    ]
    assert all(isinstance(clock[key], str) and clock[key] for key in ("title", "citation", "pack_version", "reading"))


def test_clocks_stand_by_due_time_and_those_that_wait_stand_last(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    facts = {**SEWAGE, "enrollee": True, "events": [{"type": "order_served", "order": "notice_of_correction", "at": NOW}]}
    _, clocks, _ = run(capsys, tmp_path, facts)
    due = [clock["due_at"] for clock in clocks]
    assert due[-2:] == [None, None]
    assert due[:-2] == sorted(due[:-2])
    assert {clock["state"] for clock in clocks[-2:]} == {"waiting"}


def test_every_time_of_every_case_ends_in_z(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, lists, _ = run(capsys, tmp_path, [case.facts for case in all_cases()])
    assert code == 1  # one case cannot be computed, and says so
    times = [clock[key] for clocks in lists for clock in clocks for key in ("starts_at", "due_at", "extended_due_at", "met_at")]
    given = [time for time in times if time is not None]
    assert len(given) > 1000
    assert all(time.endswith("Z") and datetime.fromisoformat(time) for time in given)


def test_an_array_of_matters_gives_an_array_of_lists_in_order(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, alone, _ = run(capsys, tmp_path, SEWAGE)
    code, lists, _ = run(capsys, tmp_path, [PAINT, SEWAGE, PAINT])
    assert (code, lists) == (0, [[], alone, []])


def test_an_empty_array_gives_an_empty_array_of_lists(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, tmp_path, []) == (0, [], "")


def test_a_dash_reads_the_facts_from_standard_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, from_file, _ = run(capsys, tmp_path, SEWAGE)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SEWAGE).encode())))
    assert main(["clocks", "-", "--now", NOW]) == 0
    assert json.loads(capsys.readouterr().out) == from_file


def test_a_fault_from_standard_input_is_told_in_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    assert main(["clocks", "-", "--now", NOW]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("spillclock: -: not JSON (")
    assert shown.err.count("\n") == 1


def test_without_a_moment_the_present_one_judges(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, clocks, _ = run(capsys, tmp_path, {**SEWAGE, "known_at": "2020-01-01T00:00:00Z"}, "--now", NOW)
    file = tmp_path / "facts.json"
    assert main(["clocks", str(file)]) == 0
    now = json.loads(capsys.readouterr().out)
    assert [clock["due_at"] for clock in now] == [clock["due_at"] for clock in clocks]
    assert {clock["state"] for clock in now if clock["limit"] == "immediately"} == {"overdue"}


@pytest.mark.parametrize(
    ("local", "instant"),
    [
        ("2026-12-01T14:05:00", "2026-12-01T22:05:00Z"), ("2026-12-01 14:05", "2026-12-01T22:05:00Z"),
        ("2026-07-01T14:05:00", "2026-07-01T21:05:00Z"), ("2026-03-08T02:30:00", "2026-03-08T09:30:00Z"),
        ("2026-11-01T01:30:00", "2026-11-01T08:30:00Z"), ("2026-12-01T22:05:00Z", "2026-12-01T22:05:00Z"),
        ("2026-12-02T07:05:00.250+09:00", "2026-12-01T22:05:00.250000Z"),
    ],
)  # fmt: skip
def test_a_time_without_offset_is_local_and_the_earlier_one_where_it_is_open(
    local: str, instant: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, clocks, _ = run(capsys, tmp_path, {**SEWAGE, "known_at": local})
    assert of_duty(clocks, "chino/rwqcb-2-hours")["starts_at"] == instant


def test_a_count_beyond_the_calendar_fails_and_still_prints_every_clock(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, clocks, err = run(capsys, tmp_path, BEYOND)
    assert code == 1
    assert err.splitlines() == [
        "spillclock: ontario/written-report-5-working-days: cannot be computed: calendar ontario covers 2024-01-01 to 2031-12-31; "
        "2032-01-01 lies outside, so the count cannot be made"
    ]
    assert of_duty(clocks, "ontario/engineering-immediate")["due_at"] == "2031-12-30T17:15:00Z"
    clock = of_duty(clocks, "ontario/written-report-5-working-days")
    assert (clock["due_at"], clock["state"]) == (None, "waiting")
    assert clock["counting"] == [
        "Cannot be computed: calendar ontario covers 2024-01-01 to 2031-12-31; 2032-01-01 lies outside, so the count cannot be made."
    ]


def test_a_clock_that_cannot_be_computed_stays_presumed_where_a_fact_is_open(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, clocks, _ = run(capsys, tmp_path, BEYOND)
    clock = of_duty(clocks, "ontario/written-report-5-working-days")
    assert (clock["applies"], clock["unsettled"]) == ("presumed", ["discharged_at"])


def started(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    nothing_set = {name: value for name, value in os.environ.items() if not name.startswith("SPILLCLOCK_")}
    return subprocess.run([PROGRAM, *arguments], input=given, capture_output=True, text=True, check=False, env=nothing_set)


def test_the_program_itself_prints_clocks_and_nothing_else(tmp_path: Path) -> None:
    done = started("clocks", "-", "--now", NOW, given=json.dumps(SEWAGE))
    assert (done.returncode, done.stderr) == (0, "")
    assert of_duty(json.loads(done.stdout), "chino/rwqcb-2-hours")["due_at"] == "2026-12-02T00:05:00Z"


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ('{"jurisdiction": "chino"}', ["spillclock: known_at: missing; right would be: the time of first knowledge, "]),
        ("[7, 8]", ["spillclock: [0] facts: the number 7 is not an object; ", "spillclock: [1] facts: the number 8 is not an object; "]),
        ("", ["spillclock: -: not JSON ("]),
    ],
)
def test_the_program_itself_refuses_bad_facts_with_a_line_each(given: str, lines: list[str]) -> None:
    done = started("clocks", "-", "--now", NOW, given=given)
    assert (done.returncode, done.stdout) == (2, "")
    found = done.stderr.splitlines()
    assert len(found) == len(lines)
    assert all(line.startswith(expected) for line, expected in zip(found, lines, strict=True))


def test_the_program_itself_refuses_an_unknown_option_as_bad_usage() -> None:
    done = started("clocks")
    assert (done.returncode, done.stdout) == (2, "")
    assert "FACTS.json" in done.stderr


def test_rules_check_finds_no_mistake_in_a_pack_that_ships(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "check", "glendale-az"]) == 0
    first, note, last = capsys.readouterr().out.splitlines()
    assert first == "1 pack, 6 rules, no mistake; every rule is reached by a case, and every change to one is noticed"
    assert note == "note: no pack for the state AZ, so its duties are not shown over glendale-az"
    assert re.fullmatch(r"version [0-9a-f]{12}", last)
    assert main(["rules", "check", "atlantis"]) == 2
    assert "'atlantis' is not a pack; right would be: one of baltimore, " in capsys.readouterr().err


def test_rules_explain_tells_how_a_duty_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "explain", "soledad/city-next-working-day"]) == 0
    told = capsys.readouterr().out
    assert "limit     1 working day, from first knowledge of the discharge (known_at)" in told
    assert "counting.md" in told
    assert main(["rules", "explain", "soledad/no-such-duty"]) == 2


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        (("chlorine", "10", "lb"), "A reportable quantity is reached."), (("chlorine", "9.99", "lb"), "No reportable quantity is reached."),
        (("7782-50-5", "10", "lb"), "A reportable quantity is reached."), (("chlorine", "159", "oz"), "No reportable quantity is reached."),
        (("bleach 12.5% NaOCl (industrial)", "80", "gal"), "A reportable quantity is reached."),
        (("gasoline", "5,000", "gal"), "No reportable quantity is reached."), (("chlorine", "10", "gal"), "It cannot be said; see above."),
        (("moonshine", "10", "gal"), "It cannot be said; see above."),
    ],
)  # fmt: skip
def test_rq_shows_its_arithmetic_and_its_answer(arguments: tuple[str, ...], last: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rq", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == last
    assert len(lines) >= 2
