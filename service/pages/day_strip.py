"""A count as a row of calendar days: each with what it is in words, so that colour and sign only repeat what is said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from markupsafe import Markup, escape

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
# The holidays of the calendars that ship; what a city adds stays in its own words.
_HOLIDAYS = (
    marked("New Year's Day"), marked("Dr. Martin Luther King, Jr. Day"), marked("Presidents' Day"), marked("Memorial Day"),
    marked("Independence Day"), marked("Labor Day"), marked("Veterans Day"), marked("Thanksgiving Day"),
    marked("Christmas Day"), marked("Friday before"), marked("Monday after"),
)  # fmt: skip
_HOLIDAY = re.compile(r"(?P<name>[^()]+?)(?: \((?P<moved>Friday before|Monday after)\))? (?P<law>\(.+\))")
_DAYS = re.compile(r"(\d+) days")
_TOLD_NOTES = (
    (re.compile(r"clocks go forward: this day has (?P<span>.+)"), marked("clocks go forward: this day has %(span)s")),
    (re.compile(r"clocks go back: this day has (?P<span>.+)"), marked("clocks go back: this day has %(span)s")),
    (re.compile(r"(?P<law>.+) may let it be done until this day"), marked("%(law)s may let it be done until this day")),
)


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
    note: Markup


def cells_of(speech: Speech, strip: Sequence[Mapping[str, Any]]) -> list[DayCell]:
    """The cells of a stored strip in words. The year stands where it is not that of the day before."""
    cells: list[DayCell] = []
    before: date | None = None
    for cell in strip:
        day = date.fromisoformat(cell["day"]) if cell["day"] else None
        turns = day is not None and (before is None or day.year != before.year)
        weekday, dated = speech.short_day(day, year=turns) if day else ("", "")
        dated = dated.replace(" ", "\N{NO-BREAK SPACE}", 1)
        begins = day is not None and before is not None and (day.year, day.month) != (before.year, before.month)
        cells.append(DayCell(cell["kind"], day, weekday, dated, begins, *_said(speech, cell), _note(speech, cell["note"])))
        before = day or before
    return cells


def _note(speech: Speech, note: str) -> Markup:
    for pattern, text in _TOLD_NOTES:
        if found := pattern.fullmatch(note):
            return escape(speech.say(text, **found.groupdict()))
    if (found := _HOLIDAY.fullmatch(note)) and found["name"] in _HOLIDAYS:
        moved = f" ({speech.say(found['moved'])})" if found["moved"] else ""
        return escape(f"{speech.say(found['name'])}{moved} {found['law']}")
    return speech.law(note) if note else Markup("")


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
