"""A bad fact file: exit 2, nothing on standard output, and one clear line a fault that names the key, what is wrong, what is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.cli import main

GOOD: dict[str, Any] = {"jurisdiction": "chino", "known_at": "2026-06-10T09:00:00-07:00"}
CALL = {"type": "notice_given", "at": "2026-06-10T10:00:00-07:00", "recipient": "cal-oes", "method": "telephone"}
CHLORINE = {"name": "chlorine", "quantity": 12, "unit": "lb"}
GONE = object()

A_TIME = "an RFC 3339 time, 2026-12-01T14:05:00-08:00"
A_VOLUME = '{"quantity": 1500, "unit": "gal"} or {"low": 200, "high": 1200, "unit": "gal"}'
A_FILE = "a fact object, or an array of them"

Lines = list[tuple[str, str, str]]  # the key, what is wrong, how that begins which would be right


def with_(**changed: Any) -> dict[str, Any]:
    return {key: value for key, value in {**GOOD, **changed}.items() if value is not GONE}


def call(**changed: Any) -> dict[str, Any]:
    return with_(events=[{key: value for key, value in {**CALL, **changed}.items() if value is not GONE}])


def told(capsys: pytest.CaptureFixture[str], file: Path) -> tuple[int, str, list[str]]:
    code = main(["clocks", str(file), "--now", "2026-06-10T12:00:00-07:00"])
    shown = capsys.readouterr()
    return code, shown.out, shown.err.splitlines()


def check(capsys: pytest.CaptureFixture[str], file: Path, lines: Lines) -> None:
    code, out, err = told(capsys, file)
    assert (code, out) == (2, "")
    assert len(err) == len(lines), err
    for line, (key, wrong, right) in zip(err, lines, strict=True):
        assert line.startswith(f"spillclock: {key}: {wrong}; right would be: {right}"), line


FAULTS: dict[str, tuple[dict[str, Any], Lines]] = {
    "a key that does not exist": (with_(volme=1500), [("volme", "unknown key", "one of: jurisdiction, kind, ")]),
    "a key of two lines": (with_(**{"a\nb": 1}), [("'a\\nb'", "unknown key", "one of: ")]),
    "a key without letters": (with_(**{"": 1}), [("''", "unknown key", "one of: ")]),
    "no city": (with_(jurisdiction=GONE), [("jurisdiction", "missing", "one of: chico, chino, diamond-bar, ontario, soledad")]),
    "an unknown city": (with_(jurisdiction="fresno"), [("jurisdiction", "'fresno' is not a known city", "one of: chico, ")]),
    "a number for a city": (with_(jurisdiction=5), [("jurisdiction", "5 is not a known city", "one of: chico, ")]),
    "no time of knowledge": (with_(known_at=GONE), [("known_at", "missing", "the time of first knowledge, 2026-12-01T14:05:00-08:00")]),
    "no time of knowledge for a pond": (with_(kind="recycled_water_pond", known_at=None), [("known_at", "missing", "the time of first")]),
    "words for a time": (with_(known_at="yesterday at noon"), [("known_at", "'yesterday at noon' is not a date with a time of day", A_TIME)]),
    "a day without a time": (with_(discharged_at="2026-06-10"), [("discharged_at", "'2026-06-10' is not a date with a time of day", A_TIME)]),
    "an impossible date": (with_(known_at="2026-02-30T09:00:00-08:00"),
                           [("known_at", "'2026-02-30T09:00:00-08:00' is not a real moment (day is out of range for month)", A_TIME)]),
    "an impossible hour without an offset": (with_(ended_at="2026-06-10T25:61"), [("ended_at", "'2026-06-10T25:61' is not a real moment (", A_TIME)]),
    "a year of long ago": (with_(reported_at="0026-06-10T09:00:00Z"),
                           [("reported_at", "'0026-06-10T09:00:00Z' lies outside the years 1970 to 2199", A_TIME)]),
    "seconds since 1970 for a time": (with_(known_at=1765000000), [("known_at", "the number 1765000000 is not a time", A_TIME)]),
    "a unit that does not exist": (with_(volume={"quantity": 5, "unit": "gallons"}),
                                   [("volume.unit", "'gallons' is not a unit of volume", "one of: gal, L, m3, ft3, bbl")]),
    "a mass for a volume": (with_(volume={"quantity": 5, "unit": "lb"}), [("volume.unit", "'lb' is not a unit of volume", "one of: gal")]),
    "a volume without a unit": (with_(volume={"quantity": 5}), [("volume.unit", "missing", "one of: gal, L, m3, ft3, bbl")]),
    "a bare number for a volume": (with_(volume=1500), [("volume", "the number 1500 is not an object", A_VOLUME)]),
    "a negative volume": (with_(volume={"quantity": -5, "unit": "gal"}), [("volume.quantity", "-5 is negative", "zero or more")]),
    "a range upside down": (with_(volume={"low": 9, "high": 5, "unit": "gal"}), [("volume", "low 9 is over high 5", "low at most high")]),
    "half a range": (with_(volume={"low": 9, "unit": "gal"}), [("volume", "it has the keys low, unit", A_VOLUME)]),
    "a range and a quantity": (with_(volume={"low": 1, "high": 5, "quantity": 3, "unit": "gal"}),
                               [("volume", "it has the keys high, low, quantity, unit", A_VOLUME)]),
    "no number at all": (with_(volume={"quantity": float("nan"), "unit": "gal"}),
                         [("volume.quantity", "nan is not an amount", "a number, zero or more")]),
    "an endless volume": (with_(volume={"quantity": float("inf"), "unit": "gal"}),
                          [("volume.quantity", "inf is not an amount", "a number, zero or more")]),
    "true for a number": (with_(volume={"quantity": True, "unit": "gal"}), [("volume.quantity", "true is not a number", "a number, zero or")]),
    "a number in quotes": (with_(volume={"quantity": "1500", "unit": "gal"}), [("volume.quantity", "'1500' is not a number", "a number, zero")]),
    "a word for a flag": (with_(threat="yes"), [("threat", "'yes' is neither true, false nor null", "true, false, or null where")]),
    "a number for a flag": (with_(sheen=1), [("sheen", "1 is neither true, false nor null", "true, false, or null")]),
    "an unknown material": (with_(material="sewer water"), [("material", "'sewer water' is not a word of this list", "one of: sewage, ")]),
    "a list of materials": (with_(material=["sewage"]), [("material", "['sewage'] is not a word of this list", "one of: sewage, ")]),
    "an unknown kind": (with_(kind="leak"), [("kind", "'leak' is not a word of this list", "one of: spill, ")]),
    "unknown premises": (with_(premises="farm"), [("premises", "'farm' is not a word of this list", "one of: residential, ")]),
    "a word for a list of places": (with_(reached="street"), [("reached", "a text is not a list", "a list of: storm_drain, street, ")]),
    "an unknown place": (with_(reached=["street", "road"]), [("reached", "'road' is not a place of this list", "a list of: storm_drain")]),
    "a CAS number with a wrong check digit": (with_(substances=[{"cas": "7664-93-8", "quantity": 5, "unit": "lb"}]),
        [("substances[0].cas", "'7664-93-8' is not a CAS number (its last digit is a check on the others)", "a CAS number, 7664-93-9")]),
    "a fraction over one": (with_(substances=[{**CHLORINE, "fraction": 1.5}]), [("substances[0].fraction", "1.5 is over 1", "a part of the whole")]),
    "a substance without a name": (with_(substances=[CHLORINE, {"quantity": 5, "unit": "lb"}]),
                                   [("substances[1]", "neither name nor cas is given", '"name": "chlorine" or "cas": "7782-50-5"')]),
    "a substance with an empty name": (with_(substances=[{**CHLORINE, "name": " "}]), [("substances[0].name", "' ' is not a name", "the name of")]),
    "a quantity without a unit": (with_(substances=[{"name": "chlorine", "quantity": 5}]), [("substances[0].unit", "missing", "one of: lb, oz, ")]),
    "a negative mass": (with_(substances=[{**CHLORINE, "quantity": -1}]), [("substances[0].quantity", "-1 is negative", "zero or more")]),
    "an unknown key of a substance": (with_(substances=[{**CHLORINE, "amount": 5}]), [("substances[0].amount", "unknown key", "one of: name, cas")]),
    "a bare name for a substance": (with_(substances=["chlorine"]), [("substances[0]", "a text is not an object", '{"name": "chlorine"')]),
    "one event, not a list": (with_(events=CALL), [("events", "an object is not a list", '"events": [{...}]')]),
    "a word for an event": (with_(events=["phoned"]), [("events[0]", "a text is not an object", '{"type": "notice_given", "at": ...}')]),
    "an event without a type": (call(type=GONE), [("events[0].type", "missing", "one of: notice_given, report_submitted, ")]),
    "an event of an unknown type": (call(type="phoned"), [("events[0].type", "'phoned' is not a type of event", "one of: notice_given, ")]),
    "an event without a time": (call(at=GONE), [("events[0].at", "missing", "the time it happened, 2026-12-01T14:05:00-08:00")]),
    "an event at an impossible time": (call(at="2026-06-31T10:00"), [("events[0].at", "'2026-06-31T10:00' is not a real moment (", A_TIME)]),
    "a notice to nobody": (call(recipient=GONE), [("events[0].recipient", "missing", "who was told")]),
    "a notice to somebody unknown": (call(recipient="the-mayor"), [("events[0].recipient", "'the-mayor' is nobody a duty is owed to", "one of: butte-")]),
    "a notice without a method": (call(method=None), [("events[0].method", "missing", "one of: telephone, email, ")]),
    "a notice by pigeon": (call(method="pigeon"), [("events[0].method", "'pigeon' is not a word of this list", "one of: telephone, ")]),
    "an unknown key of an event": (call(by="Ann"), [("events[0].by", "unknown key", "one of: type, at, recipient, method")]),
    "an order of no kind": (with_(events=[{"type": "order_served", "at": CALL["at"]}]), [("events[0].order", "missing", "one of: notice_of_corr")]),
    "a hearing on no day": (with_(events=[{"type": "hearing_set", "at": CALL["at"], "hearing_at": "soon"}]),
                            [("events[0].hearing_at", "'soon' is not a date with a time of day", A_TIME)]),
    "several faults at once": (with_(jurisdiction="fresno", threat=0, known_at="x", volume={"low": -1, "high": "many", "unit": "gal"}), [
        ("jurisdiction", "'fresno' is not a known city", "one of"), ("known_at", "'x' is not a date with", A_TIME),
        ("threat", "0 is neither true, false nor null", "true, false"),
        ("volume.high", "'many' is not a number", "a number"), ("volume.low", "-1 is negative", "zero or more"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_with_its_key_and_its_cure(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, lines = FAULTS[fault]
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(given))
    check(capsys, file, lines)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        pytest.param(b"", "not JSON (Expecting value: line 1 column 1 (char 0))", id="an empty file"),
        pytest.param(b"A truck lost its load.", "not JSON (Expecting value: line 1 column 1 (char 0))", id="a sentence"),
        pytest.param(b'{"jurisdiction": "chino",}', "not JSON (", id="a comma too many"),
        pytest.param(b'{"jurisdiction": "chino", "jurisdiction": "chico"}', "not JSON (the key 'jurisdiction' is given twice)", id="a key twice"),
        pytest.param(b'{"volume": {"quantity": 1, "unit": "gal", "unit": "L"}}', "not JSON (the key 'unit' is given twice)", id="a deep key twice"),
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
    check(capsys, file, [("facts", f"{what} is not an object", "an object: {")])


@pytest.mark.parametrize(("name", "what"), [("nowhere.json", "No such file or directory"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_is_named(name: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / name
    check(capsys, file, [(str(file), what, "a JSON file, or - for standard input")])


def test_one_bad_element_of_an_array_is_named_by_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "facts.json"
    file.write_text(json.dumps([GOOD, with_(jurisdiction="fresno", threat="maybe"), 5]))
    check(
        capsys, file,
        [
            ("[1] jurisdiction", "'fresno' is not a known city", "one of: "), ("[1] threat", "'maybe' is neither true, false", "true, false"),
            ("[2] facts", "the number 5 is not an object", "an object: {"),
        ],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("now", "wrong"),
    [
        ("2026-06-10T12:00:00", "'2026-06-10T12:00:00' has no offset"), ("noon", "Invalid isoformat string: 'noon'"),
        ("2026-06-10T99:00:00Z", "hour must be in 0..23"), ("1800-01-01T00:00:00Z", "'1800-01-01T00:00:00Z' lies outside the years 1970 to 2199"),
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
    from deadlines.facts import FACT_KEYS

    bare, nulls = (tmp_path / name for name in ("bare.json", "nulls.json"))
    bare.write_text(json.dumps(GOOD))
    nulls.write_text(json.dumps({**dict.fromkeys(FACT_KEYS), **GOOD}))
    assert told(capsys, bare) == told(capsys, nulls)
