"""A count as a row of calendar days: each with what it is in words, so that colour and sign only repeat what is said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from service.pages.speech import Speech, marked

_KINDS: Mapping[str, str] = {
    "start": marked("Start"), "counted": "", "skipped": marked("Skipped"), "due": marked("Last day"), "extended": marked("Extension"),
    "gap": marked("and so on"),
}  # fmt: skip
# What the engine says in words; names of holidays stay as the calendar has them.
_NOTES = (
    marked("the day it starts: not counted"), marked("the day of the act: not counted"), marked("the order sets this day"),
    marked("before the act"), marked("at once"), marked("Saturday"), marked("Sunday"),
)  # fmt: skip
_DAYS = re.compile(r"(\d+) days")


@dataclass(frozen=True)
class DayCell:
    """One day of the row; a gap has no day. `month_begins`: another month than in the cell before."""

    kind: str
    day: date | None
    weekday: str
    dated: str
    month_begins: bool
    word: str
    label: str
    note: str


def cells_of(speech: Speech, strip: Sequence[Mapping[str, Any]]) -> list[DayCell]:
    """The cells of a stored strip in words. The year stands where it is not that of the day before."""
    cells: list[DayCell] = []
    before: date | None = None
    for cell in strip:
        day = date.fromisoformat(cell["day"]) if cell["day"] else None
        turns = day is not None and (before is None or day.year != before.year)
        weekday, dated = speech.short_day(day, year=turns) if day else ("", "")
        begins = day is not None and before is not None and (day.year, day.month) != (before.year, before.month)
        cells.append(DayCell(cell["kind"], day, weekday, dated, begins, *_said(speech, cell), cell["note"]))
        before = day or before
    return cells


def _said(speech: Speech, cell: Mapping[str, Any]) -> tuple[str, str]:
    """The word of a cell and its label: which day of the count it is, or how much time passes on it."""
    kind, label = cell["kind"], cell["label"]
    if label.isdigit():
        label = speech.say("day %(number)s", number=label)
    elif found := _DAYS.fullmatch(label):
        label = speech.count("%(number)s day", "%(number)s days", int(found[1]))
    elif kind == "due" and label:
        return speech.say("Due"), speech.say(label)
    return speech.say(_KINDS.get(kind, kind)), label
