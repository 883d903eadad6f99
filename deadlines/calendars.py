"""Which days an office is open. Reviewed data with a first and a last covered day; a day outside them is an error, never open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta

from deadlines.reading import PackError, Sheet, read_sheet

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class CalendarGap(Exception):
    """A count ran past the days the calendar covers; whoever keeps the calendar must extend it with a source."""

    def __init__(self, calendar: str, day: date, first: date, last: date) -> None:
        super().__init__(f"calendar {calendar} covers {first} to {last}; {day} lies outside, so the count cannot be made")
        self.calendar = calendar
        self.day = day


@dataclass(frozen=True)
class Calendar:
    """The open and closed days of one city's offices, on the city's local calendar; `closes_at` is local wall time."""

    name: str
    first_day: date
    last_day: date
    closes_at: time
    weekend: frozenset[int]
    closures: Mapping[date, str] = field(default_factory=dict)

    def why_closed(self, day: date) -> str | None:
        """The reason the offices are closed on `day`, or None where they are open. Raises CalendarGap outside the data."""
        if not self.first_day <= day <= self.last_day:
            raise CalendarGap(self.name, day, self.first_day, self.last_day)
        if day in self.closures:
            return self.closures[day]
        return WEEKDAYS[day.weekday()] if day.weekday() in self.weekend else None

    def next_open(self, day: date) -> date:
        """The first open day on or after `day`. Raises CalendarGap."""
        while self.why_closed(day):
            day += timedelta(days=1)
        return day

    @property
    def with_saturdays(self) -> Calendar:
        """The same calendar with Saturday open: how Civil Code 7 and 9 would count a business day."""
        return Calendar(self.name, self.first_day, self.last_day, self.closes_at, self.weekend - {5}, self.closures)


def read_calendars(texts: Mapping[str, str]) -> dict[str, Calendar]:
    """Read calendar files, given as {path: text}. City calendars extend the core by dated closures with a source.

    Raises PackError with every mistake of every file.
    """
    sheets = {path: read_sheet(path, text) for path, text in texts.items()}
    by_name = {sheet.root.text("calendar"): sheet for sheet in sheets.values()}
    made: dict[str, Calendar] = {}
    for name in sorted(by_name, key=lambda name: "extends" in by_name[name].root):
        made[name] = _calendar(name, by_name[name], made)
    PackError.raise_if_any(fault for sheet in sheets.values() for fault in sheet.faults)
    return made


def _calendar(name: str, sheet: Sheet, made: Mapping[str, Calendar]) -> Calendar:
    root = sheet.root
    root.only("calendar", "title", "extends", "covers", "closes_at", "weekend", "closed")
    parent = None
    if "extends" in root:
        parent = made.get(root.text("extends"))
        if parent is None:
            root.fault("extends", f"no calendar {root.text('extends')!r}", f"one of: {', '.join(sorted(made))}")
    covers = root.mapping("covers")
    closures = dict(parent.closures) if parent else {}
    for entry in root.items("closed"):
        entry.only("date", "name", "source")
        closures[entry.day("date")] = f"{entry.text('name')} ({entry.text('source')})"
    weekend = parent.weekend if parent else frozenset(WEEKDAYS.index(day.capitalize()) for day in root.texts("weekend"))
    hour = root.text("closes_at")
    try:
        closes_at = time.fromisoformat(hour)
    except ValueError:
        root.fault("closes_at", f"{hour!r} is not a time of day", 'hours and minutes in quotes, "17:00"')
        closes_at = time(17)
    return Calendar(name, covers.day("from"), covers.day("to"), closes_at, weekend, closures)
