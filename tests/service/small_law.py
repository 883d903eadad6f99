"""A law of a page, for tests of what the service does with any law: one city, Chino, with duties and ladders that this file chooses.

The rules of the real Chino are tested in tests/deadlines; here a change of a shipped pack must not change what a test says.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from deadlines import Calendar, Rulebook, read_calendars, read_rulebook
from service.library import shipped_shelf
from tests.houses import shipped_law

# 1,000 gallons of sewage are called in within two hours, by a ladder with one rung of every sort.
TWO_HOURS = "chino/two-hours"
LADDER = """
    - {at: start, tell: [duty_officer, discharger], by: [sms, email]}
    - {at: start+15m, tell: [supervisor], by: [sms, email], unless_acknowledged: true}
    - {at: due-10m, tell: [duty_officer, discharger], by: [sms, email]}
    - {at: due, tell: [duty_officer, discharger, supervisor], by: [sms, email]}
    - {at: due+30m, tell: [supervisor, director], by: [sms, email]}
    - {at: due+1h, every: 1h, times: 3, tell: [duty_officer], by: [sms], unless_acknowledged: true}
"""
CALL = """
  - id: two-hours
    title: Call the board within two hours
    provisions: [T-1]
    citation: Test Code 1
    says: More than 1,000 gallons of sewage are called in.
    when: {all: [{fact: material, is: sewage}, {fact: volume, over: 1000 gal}]}
    starts: known_at
    limit: LIMIT
    to: board
    how: [telephone]
    owed_by: discharger
    ladder: main
    reading: Read for tests.
"""
# Counted back from an act that is still to come.
AHEAD = "chino/ahead"
NOTICE = """
  - id: ahead
    title: Tell public works seven days ahead
    provisions: [T-2]
    citation: Test Code 2
    says: A planned discharge is announced.
    kind: planned_discharge
    starts: planned_at
    limit: 7 calendar days before
    to: works
    how: [any]
    owed_by: discharger
    ladder: main
    reading: Read for tests.
"""
WORKING_DAYS = "chino/working-days"
COUNTED = """
  - id: working-days
    title: Write to public works within three working days
    provisions: [T-3]
    citation: Test Code 3
    says: A spill is reported in writing.
    when: threat
    starts: discharged_at
    limit: 3 working days
    to: works
    how: [written]
    owed_by: discharger
    content:
      - {item: cause, says: "cause of the spill"}
      - {item: cure, says: "what will prevent the next one"}
    ladder: main
    reading: Read for tests.
"""
WEEKLY = "chino/weekly"
SAMPLE = """
  - id: weekly
    title: Sample the discharge every week
    provisions: [T-4]
    citation: Test Code 4
    says: A discharge that goes on is sampled.
    kind: planned_discharge
    when: {fact: premises, is: construction}
    starts: discharged_at only
    limit: every 7 calendar days until ended_at
    how: [sampling]
    owed_by: discharger
    ladder: main
    reading: Read for tests.
"""


def pack(rules: str, ladder: str = LADDER, version: str = "2026-01-01", limit: str = "2 hours") -> str:
    """The text of the pack `chino` with these rules."""
    return f"""
pack: chino
title: A Chino for tests
version: {version}
covers: this city
state: ZZ
zone: America/Los_Angeles
calendar: chino
checked: {{on: 2026-01-01, by: nobody}}
agencies: {{npdes-authority: board, epa-region: board}}
recipients:
  board: {{name: The Board, telephone: "+19515550100"}}
  works: {{name: Public Works}}
ladders:
  main:{ladder}
rules:{rules.replace("LIMIT", limit)}
"""


@cache
def calendars() -> dict[str, Calendar]:
    """The calendars that ship."""
    return read_calendars(shipped_shelf().calendars)


@cache
def cities_alone(*cities: str) -> Rulebook:
    """The shipped packs of these cities without the state and federal packs over them, for tests to which those add nothing but time."""
    shipped = shipped_law()
    folder = files("deadlines") / "packs"
    texts = {f"packs/{city}.yaml": (folder / f"{city}.yaml").read_text(encoding="utf-8") for city in cities}
    alone = {path: re.sub(r"(?m)^permits:.*\n", "", text) for path, text in texts.items()}
    return read_rulebook(alone, calendars(), shipped.quantities)


@cache
def small_law(rules: str = CALL, ladder: str = LADDER, version: str = "2026-01-01", limit: str = "2 hours") -> Rulebook:
    """A rulebook of these rules alone, with the shipped calendars and quantities."""
    shipped = shipped_law()
    return read_rulebook({"packs/chino.yaml": pack(rules, ladder, version, limit)}, calendars(), shipped.quantities)
