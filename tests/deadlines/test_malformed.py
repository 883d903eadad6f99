"""A mistake in a pack or a calendar is answered with the file, the line, the place and the cure; the service starts with no such file.

Each file in malformed/ holds one mistake; its first line is the answer, where … stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from deadlines import Calendar, PackError, read_calendars, read_rulebook
from tests.deadlines.case_files import rulebook

HERE = Path(__file__).parent
PACKS, CALENDARS = (sorted((HERE / "malformed" / kind).glob("*.yaml")) for kind in ("packs", "calendars"))


@cache
def shipped(folder: str) -> Mapping[str, str]:
    found = (files("deadlines") / folder).iterdir()
    return {f"{folder}/{entry.name}": entry.read_text(encoding="utf-8") for entry in found if entry.name.endswith(".yaml")}


@cache
def calendars() -> Mapping[str, Calendar]:
    return read_calendars(shipped("calendars"))


def path_of(file: Path) -> str:
    return str(file.relative_to(HERE))


def check(error: PackError, file: Path) -> None:
    expected = file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert len(error.mistakes) == 1, str(error)
    assert re.fullmatch(".*".join(map(re.escape, expected.split("…"))), str(error)), str(error)
    (mistake,) = error.mistakes
    assert mistake.line >= 1
    assert mistake.place
    assert mistake.wrong
    assert mistake.right


@pytest.mark.parametrize("file", PACKS, ids=lambda file: file.stem)
def test_a_mistake_in_a_pack_is_answered_with_its_place_and_cure(file: Path) -> None:
    book = rulebook()
    with pytest.raises(PackError) as raised:
        read_rulebook({**shipped("packs"), path_of(file): file.read_text(encoding="utf-8")}, calendars(), book.quantities)
    check(raised.value, file)


@pytest.mark.parametrize("file", CALENDARS, ids=lambda file: file.stem)
def test_a_mistake_in_a_calendar_is_answered_with_its_place_and_cure(file: Path) -> None:
    with pytest.raises(PackError) as raised:
        read_calendars({**shipped("calendars"), path_of(file): file.read_text(encoding="utf-8")})
    check(raised.value, file)


def test_the_malformed_files_cover_many_kinds_of_mistake() -> None:
    assert len(PACKS) >= 60
    assert len(CALENDARS) >= 12


def test_all_mistakes_of_all_packs_are_told_in_one_run() -> None:
    book = rulebook()
    chosen = [HERE / "malformed" / "packs" / f"{name}.yaml" for name in ("no-title", "limit-in-words", "way-that-does-not-exist")]
    with pytest.raises(PackError) as raised:
        read_rulebook({path_of(file): file.read_text(encoding="utf-8") for file in chosen}, calendars(), book.quantities)
    assert [mistake.path for mistake in raised.value.mistakes] == sorted(map(path_of, chosen))


def test_several_mistakes_of_one_pack_are_told_in_their_order() -> None:
    text = shipped("packs")["packs/chico.yaml"]
    text = text.replace("limit: 24 hours", "limit: one day", 1).replace("to: chico-finance", "to: chico-treasure", 1)
    book = rulebook()
    with pytest.raises(PackError) as raised:
        read_rulebook({**shipped("packs"), "packs/chico.yaml": text}, calendars(), book.quantities)
    told = [(text.splitlines()[mistake.line - 1].strip(), mistake.wrong) for mistake in raised.value.mistakes]
    assert told == [
        ("limit: one day", "'one day' is not a limit"), ("to: chico-treasure", "no recipient 'chico-treasure'"),
    ]  # fmt: skip


def test_what_ships_is_without_mistake_and_every_city_has_its_law() -> None:
    book = read_rulebook(shipped("packs"), calendars(), rulebook().quantities)
    assert book.version == rulebook().version
    assert {"chico", "chino", "diamond-bar", "ontario", "soledad"} <= set(book.cities)
    assert {rule.rule.to_agency for city in book.cities for rule in book.law_of(city).rules if not rule.recipient} <= {None}


def test_the_version_of_the_rulebook_changes_with_any_pack() -> None:
    text = shipped("packs")["packs/ms4-small.yaml"]
    changed = read_rulebook(
        {**shipped("packs"), "packs/ms4-small.yaml": text.replace("limit: 72 hours", "limit: 71 hours")},
        calendars(),
        rulebook().quantities,
    )
    assert changed.version != rulebook().version
    assert changed.packs["chino"].version == rulebook().packs["chino"].version
    assert changed.packs["ms4-small"].version != rulebook().packs["ms4-small"].version


def test_every_reading_is_a_reason_and_the_ones_that_lean_on_the_count_say_so() -> None:
    readings = [rule.reading for pack in rulebook().packs.values() for rule in pack.rules]
    assert all(reading.endswith(".") for reading in readings)
    assert any("counting.md" in reading for reading in readings)
    assert (HERE.parents[1] / "docs" / "counting.md").exists()
