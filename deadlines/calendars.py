"""Which days an office is open. Reviewed data with a first and a last covered day; a day outside them is an error, never open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta

from deadlines.reading import Entry, PackError, Sheet, read_sheet

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
    _raise_all(sheets)
    by_name: dict[str, Sheet] = {}
    for sheet in sheets.values():
        if (name := sheet.root.text("calendar")) in by_name:
            sheet.root.fault("calendar", f"{name!r} is also the name of {by_name[name].path}", "a name of its own")
        by_name[name] = sheet
    made: dict[str, Calendar] = {}
    for name in sorted(by_name, key=lambda name: "extends" in by_name[name].root):
        made[name] = _calendar(name, by_name[name], made)
    _raise_all(sheets)
    return made


def _raise_all(sheets: Mapping[str, Sheet]) -> None:
    PackError.raise_if_any(fault for sheet in sheets.values() for fault in sheet.faults)


def _calendar(name: str, sheet: Sheet, made: Mapping[str, Calendar]) -> Calendar:
    root = sheet.root
    root.only("calendar", "title", "extends", "covers", "closes_at", "weekend", "closed")
    parent = None
    if "extends" in root:
        parent = made.get(root.text("extends"))
        if parent is None:
            root.fault("extends", f"no calendar {root.text('extends')!r}", f"one of: {', '.join(sorted(made))}")
    first, last = _covered(root, parent)
    closures = dict(parent.closures) if parent else {}
    for entry in root.items("closed"):
        entry.only("date", "name", "source")
        before = len(sheet.faults)
        day = entry.day("date")
        if len(sheet.faults) == before and not first <= day <= last:
            entry.fault("date", f"{day} lies outside the days that are covered", f"a day from {first} to {last}")
        closures[day] = f"{entry.text('name')} ({entry.text('source')})"
    weekend = parent.weekend if parent else frozenset() if "extends" in root else _weekend(root)
    if parent and "weekend" in root:
        root.fault("weekend", f"calendar {parent.name} has it already", "leave it out")
    hour = root.text("closes_at")
    try:
        closes_at = time.fromisoformat(hour)
    except ValueError:
        root.fault("closes_at", f"{hour!r} is not a time of day", 'hours and minutes in quotes, "17:00"')
        closes_at = time(17)
    return Calendar(name, first, last, closes_at, weekend, closures)


def _covered(root: Entry, parent: Calendar | None) -> tuple[date, date]:
    before = len(root.sheet.faults)
    covers = root.mapping("covers")
    if len(root.sheet.faults) > before:
        return date.min, date.max
    covers.only("from", "to")
    first, last = covers.day("from"), covers.day("to")
    if len(root.sheet.faults) > before:
        return date.min, date.max  # noted already; no closure is to be blamed for it
    if first > last:
        covers.fault("from", f"{first} is later than {last}", "the first covered day, then the last")
        return date.min, date.max
    if parent and not parent.first_day <= first <= last <= parent.last_day:
        # Beyond its parent a calendar would count days without holidays.
        root.fault("covers", f"it covers days that calendar {parent.name} does not", f"days from {parent.first_day} to {parent.last_day}")
    return first, last


def _weekend(root: Entry) -> frozenset[int]:
    found = [day.capitalize() for day in root.texts("weekend", required=True)]
    for day in found:
        if day not in WEEKDAYS:
            root.fault("weekend", f"{day!r} is not a day of the week", "[saturday, sunday]")
    return frozenset(WEEKDAYS.index(day) for day in found if day in WEEKDAYS)
