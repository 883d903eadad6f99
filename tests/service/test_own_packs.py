"""Packs outside the package: a folder of files adds a city, without touching code, and is held to the same checks as what ships."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from deadlines import PackError
from service.cli import main
from service.library import open_places
from service.settings import read_settings
from service.wiring import build_house

PACK = """pack: mudville
title: City of Mudville, California
version: 2026-11-30
covers: this city
state: CA
zone: America/Los_Angeles
calendar:
  extends: california
  closed:
    - {date: 2026-11-27, name: "Day after Thanksgiving", source: "Resolution 2026-14"}
checked: {on: 2026-11-30, by: The city attorney}
agencies: {npdes-authority: board, epa-region: board, cupa: board, health-officer: board, lepc: board}
recipients:
  works: {name: "City of Mudville, Public Works"}
  board: {name: "The Board"}
ladders:
  main:
    - {at: start, tell: [duty_officer], by: [sms]}
    - {at: due, tell: [supervisor], by: [email]}
rules:
  - id: report
    title: Report it
    provisions: [MUD-01]
    citation: Mudville Municipal Code 1.2.3
    says: What is washed into the street is reported.
    when: {fact: material, is: wash_water}
    starts: known_at
    limit: 2 working days
    to: works
    how: [telephone]
    owed_by: discharger
    ladder: main
    reading: As written.
"""
QUIET = "jurisdiction: mudville, threat: false, hazardous: false, npdes_permittee: false"
CASES = f"""cases:
- name: "Wash water on the eve of Thanksgiving"
  facts: {{{QUIET}, known_at: 2026-11-25T09:00:00-08:00, reported_at: 2026-11-30T09:00:00-08:00, discharged_at: 2026-11-23T09:00:00-08:00,
           material: wash_water}}
  clocks:
    - {{duty: mudville/report, applies: yes, starts_at: 2026-11-25T17:00:00Z, due_at: 2026-12-02T01:00:00Z}}
- name: "Paint is another matter"
  facts: {{{QUIET}, known_at: 2026-11-25T09:00:00-08:00, material: paint}}
  clocks: []
- name: "So is sediment"
  facts: {{{QUIET}, known_at: 2026-11-25T09:00:00-08:00, material: sediment}}
  clocks: []
- name: "So is sewage"
  facts: {{{QUIET}, known_at: 2026-11-25T09:00:00-08:00, material: sewage, enrollee: false, reached: [contained]}}
  clocks: []
"""
KINDS = ("planned_discharge", "unplanned_discharge", "irrigation_leak", "recycled_water_pond", "dye_test", "enforcement")
OTHER_KINDS = "".join(
    f'- name: "{kind}"\n  facts: {{{QUIET}, kind: {kind}, known_at: 2026-11-25T09:00:00-08:00, material: wash_water}}\n  clocks: []\n'
    for kind in KINDS
)

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packs with one sound city in it."""
    packs = tmp_path / "packs"
    (packs / "cases").mkdir(parents=True)
    (packs / "mudville.yaml").write_text(PACK, encoding="utf-8")
    (packs / "cases" / "mudville.yaml").write_text(CASES + OTHER_KINDS, encoding="utf-8")
    monkeypatch.setenv("SPILLCLOCK_PACKS", str(packs))
    monkeypatch.chdir(tmp_path)
    return packs


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments)
        told = capsys.readouterr()
        return code, told.out + told.err

    return run


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_sound_city_of_ones_own_passes_the_check_and_runs_its_clocks(folder: Path, run: Run) -> None:
    code, told = run("rules", "check", "mudville")
    assert (code, told.splitlines()[0][:25]) == (0, "1 pack, 1 rules, no mista"), told
    facts = folder / "facts.json"
    facts.write_text(json.dumps({"jurisdiction": "mudville", "known_at": "2026-11-25T09:00:00", "material": "wash_water", "threat": False,
                                 "hazardous": False, "npdes_permittee": False}))  # fmt: skip
    code, told = run("clocks", str(facts), "--now", "2026-11-25T12:00:00-08:00")
    (clock,) = json.loads(told)
    assert (code, clock["duty"], clock["due_at"]) == (0, "mudville/report", "2026-12-02T01:00:00Z")
    assert "Fri 2026-11-27: not counted, Day after Thanksgiving (Resolution 2026-14)." in clock["counting"]


def test_a_pack_without_cases_fails_the_check(folder: Path, run: Run) -> None:
    (folder / "cases" / "mudville.yaml").unlink()
    code, told = run("rules", "check", "mudville")
    assert code == 1
    assert (
        told
        == f"spillclock: {folder}/mudville.yaml:1: mudville: the pack has no cases; right would be: a file of cases, cases/mudville.yaml\n"
    )


def test_a_rule_that_no_case_reaches_fails_the_check(folder: Path, run: Run) -> None:
    rule = PACK[PACK.index("  - id: report") :].replace("id: report", "id: second").replace("wash_water", "pool_water")
    (folder / "mudville.yaml").write_text(PACK + rule, encoding="utf-8")
    code, told = run("rules", "check", "mudville")
    line = PACK.count("\n") + 1
    assert (code, told.count("\n")) == (1, 1)
    assert f"mudville.yaml:{line}: mudville/second: no case reaches it; right would be: a case in which its clock has a due time" in told


def test_a_number_that_no_case_notices_fails_the_check(folder: Path, run: Run) -> None:
    rule = PACK[PACK.index("  - id: report") :].replace("id: report", "id: second").replace("wash_water", "pool_water")
    (folder / "mudville.yaml").write_text(PACK + rule.replace("2 working days", "364 calendar days"), encoding="utf-8")
    case = f"""- name: "Pool water"
  facts: {{{QUIET}, known_at: 2026-11-25T09:00:00-08:00, material: pool_water}}
  clocks:
    - {{duty: mudville/second, applies: yes, starts_at: 2026-11-25T17:00:00Z, due_at: 2027-11-25T07:59:59Z}}
"""
    change(folder / "cases" / "mudville.yaml", "cases:\n", f"cases:\n{case}")
    code, told = run("rules", "check", "mudville")
    assert code == 1
    # The case pins the number; what it does not pin is where the count starts from.
    assert "no case notices starts: reported_at" in told
    assert "no case notices limit" not in told


def test_a_case_that_fails_is_named_with_its_line_and_both_answers(folder: Path, run: Run) -> None:
    change(folder / "mudville.yaml", "limit: 2 working days", "limit: 3 working days")
    code, told = run("rules", "check", "mudville")
    assert code == 1
    assert f"{folder}/cases/mudville.yaml:2: 'Wash water on the eve of Thanksgiving': mudville/report: the packs give " in told
    assert "due_at 2026-12-03T01:00:00Z (Wed Dec 02 17:00:00 PST), the case applies yes, " in told


@pytest.mark.parametrize(
    ("file", "old", "new", "wrong"),
    [
        ("mudville.yaml", "limit: 2 working days", "limit: two days", "mudville.yaml:28: rules[report].limit: 'two days' is not a limit"),
        ("mudville.yaml", "pack: mudville", "pack: mudville\npack: oakville", "mudville.yaml:2: pack: the key is given twice"),
        ("cases/mudville.yaml", "  clocks: []", "  clocks: []\n  watches: []", "watches: unknown key; right would be: one of: name, why,"),
        ("cases/mudville.yaml", "applies: yes", "apply: yes", "apply: unknown key; right would be: one of: duty,"),
        ("cases/mudville.yaml", "So is sewage", "So is sediment", "another case of this file has this name"),
        ("cases/mudville.yaml", "material: paint", "material: pain", "facts.material: 'pain' is not a word of this list"),
        ("cases/mudville.yaml", "  clocks: []", "  now: tomorrow\n  clocks: []", "'tomorrow' is not a moment"),
    ],
)
def test_a_mistake_in_a_file_of_ones_own_is_named_with_its_cure(folder: Path, run: Run, file: str, old: str, new: str, wrong: str) -> None:
    change(folder / file, old, new)
    code, told = run("rules", "check", "mudville")
    assert code == 1
    assert wrong in told
    assert "right would be" in told


def test_cases_of_no_pack_are_named(folder: Path, run: Run) -> None:
    (folder / "cases" / "oakville.yaml").write_text("cases: []\n", encoding="utf-8")
    code, told = run("rules", "check", "mudville")
    assert (code, "oakville.yaml:1: the file: no pack has this name" in told) == (1, True)


def test_a_pack_with_the_id_of_a_shipped_one_takes_its_place(folder: Path, run: Run) -> None:
    (folder / "mudville.yaml").rename(folder / "soledad.yaml")
    change(folder / "soledad.yaml", "pack: mudville", "pack: soledad")
    (folder / "cases" / "mudville.yaml").unlink()
    code, told = run("rules", "list")
    assert code == 0
    assert [line.split("\t")[0] for line in told.splitlines() if line.startswith("soledad/")] == ["soledad/report"]
    code, told = run("rules", "check", "soledad")
    assert (code, "the pack has no cases" in told) == (1, True)


def test_a_folder_that_is_none_is_named_with_its_setting(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setenv("SPILLCLOCK_PACKS", "/nowhere/at/all")
    code, told = run("rules", "list")
    assert code == 2
    assert (
        told == "spillclock: SPILLCLOCK_PACKS: '/nowhere/at/all' is no folder; right would be: a folder with rule packs in it, or nothing\n"
    )


async def test_a_house_is_built_over_the_packs_and_boundaries_of_the_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "places").mkdir()
    square = {"type": "Polygon", "coordinates": [[[-120.0, 38.0], [-119.9, 38.0], [-119.9, 38.1], [-120.0, 38.1], [-120.0, 38.0]]]}
    (folder / "places" / "mudville.geojson").write_text(json.dumps(square), encoding="utf-8")
    house = build_house(read_settings(home_dir=tmp_path / "home"))
    try:
        assert "mudville" in house.rulebook.cities
        assert house.places.locate(38.05, -119.95).city == "mudville"
    finally:
        await house.engine.dispose()


def test_a_boundary_that_is_none_is_named_with_its_file(folder: Path, tmp_path: Path) -> None:
    (folder / "places").mkdir()
    (folder / "places" / "mudville.geojson").write_text('{"type": "Point", "coordinates": [1, 2]}', encoding="utf-8")
    with pytest.raises(PackError, match=r"mudville\.geojson:1: the file: it is no boundary"):
        open_places(folder)
