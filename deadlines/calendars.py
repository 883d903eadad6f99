"""Which days an office is open. Reviewed data with a first and a last covered day; a day outside them is an error, never open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
    """The open and closed days of one city's offices, on the city's local calendar; `closes_at` is local wall time.

    `extended_by` names the law that lets an act be done on the next open day where the last day is closed, and `saturday_by` the law
    under which a Saturday counts as a business day; None where no such law is known. Both decide what is shown beside a due time.
    `closures` gives the reason of each closed day, or None for a day on which the offices are open, whatever the weekend says.
    """

    name: str
    first_day: date
    last_day: date
    closes_at: time
    weekend: frozenset[int]
    closures: Mapping[date, str | None] = field(default_factory=dict)
    extended_by: str | None = None
    saturday_by: str | None = None

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
        """The same calendar with Saturday open: how a law that counts Saturdays would count a business day."""
        return replace(self, weekend=self.weekend - {5})

    def with_closures(self, closures: Mapping[date, str | None]) -> Calendar:
        """The same calendar with more days closed, each with its reason and source, or with None opened."""
        return replace(self, closures={**self.closures, **closures})


def read_calendars(texts: Mapping[str, str]) -> dict[str, Calendar]:
    """Read calendar files, given as {path: text}. A calendar may extend another by dated closures with a source.

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
    waiting = dict(by_name)
    while waiting:
        # Those whose parent is made; where none is left, those that extend what does not exist, or each other, which is noted.
        ready = [name for name, sheet in waiting.items() if not _parent(sheet.root) or _parent(sheet.root) in made] or list(waiting)
        for name in ready:
            made[name] = calendar_of(waiting.pop(name).root, name, dict(made))
    _raise_all(sheets)
    return made


_KEYS = ("extends", "covers", "closes_at", "weekend", "closed", "extended_by", "saturday_by")


def _parent(root: Entry) -> str | None:
    value = root.raw("extends")
    return value if isinstance(value, str) else None


def _raise_all(sheets: Mapping[str, Sheet]) -> None:
    PackError.raise_if_any(fault for sheet in sheets.values() for fault in sheet.faults)


def calendar_of(root: Entry, name: str, made: Mapping[str, Calendar]) -> Calendar:
    """The calendar that a file, or the `calendar` of a city's pack, states. What it leaves out it has from the one it extends.

    Mistakes are noted in the sheet of `root`.
    """
    root.only("calendar", "title", *_KEYS)
    parent = None
    if "extends" in root:
        parent = made.get(root.text("extends"))
        if parent is None:
            root.fault("extends", f"no calendar {root.text('extends')!r}", f"one of: {', '.join(sorted(made))}")
            parent = Calendar(name, date.min, date.max, time(17), frozenset())
    first, last = _covered(root, parent)
    weekend = parent.weekend if parent and "weekend" not in root else _weekend(root)
    laws = {key: root.text(key) if key in root else getattr(parent, key, None) for key in ("extended_by", "saturday_by")}
    return Calendar(name, first, last, _closes_at(root, parent), weekend, _closures(root, parent, first, last), **laws)


def _closures(root: Entry, parent: Calendar | None, first: date, last: date) -> dict[date, str | None]:
    closures = dict(parent.closures) if parent else {}
    for entry in root.items("closed"):
        entry.only("date", "name", "source")
        before = len(root.sheet.faults)
        day = entry.day("date")
        sound = len(root.sheet.faults) == before
        if sound and not first <= day <= last:
            entry.fault("date", f"{day} lies outside the days that are covered", f"a day from {first} to {last}")
        elif sound and day in closures:
            entry.fault("date", f"{day} is closed already, {closures[day]}", "each day once")
        closures[day] = f"{entry.text('name')} ({entry.text('source')})"
    return closures


def _closes_at(root: Entry, parent: Calendar | None) -> time:
    if parent and "closes_at" not in root:
        return parent.closes_at
    hour = root.text("closes_at")
    try:
        return time.fromisoformat(hour)
    except ValueError:
        root.fault("closes_at", f"{hour!r} is not a time of day", 'hours and minutes in quotes, "17:00"')
        return time(17)


def _covered(root: Entry, parent: Calendar | None) -> tuple[date, date]:
    if parent and "covers" not in root:
        return parent.first_day, parent.last_day
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
