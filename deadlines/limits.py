"""From a start and a limit to the last moment on time, counted in steps a person can check by hand (docs: how time is counted).

Sources: Gov. Code 6800, Civ. Code 10 and Code Civ. Proc. 12 (first day excluded, last included). Which law extends a last day that is
closed, and which counts Saturdays as business days, stands with the calendar; both are shown and never warned against.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from deadlines.calendars import WEEKDAYS, Calendar, CalendarGap
from deadlines.facts import local_instant

# The outer bound that EPA's enforcement policy for CERCLA 103 / EPCRA 304 gives "immediate".
IMMEDIATELY = timedelta(minutes=15)
END_OF_DAY = time(23, 59, 59)
# What an open-ended count may run to before it is surely a slip of the pen.
_LONGEST = {"hours": 24 * 366, "minutes": 60 * 24 * 7, "calendar days": 3660, "working days": 2500, "business days": 2500, "years": 100}

Shape = Literal["immediately", "elapsed", "calendar days", "open days", "years", "before act", "comply by", "recurring"]

_COUNTED = re.compile(r"(\d+) (minutes?|hours?|(?:calendar |working |business )?days?|years?)( before)?(?: by (\d\d:\d\d))?")
OR_SOONER = ", or comply_by if sooner"
_RECURRING = re.compile(r"every (\d+) calendar days until ended_at( and once after)?")


@dataclass(frozen=True, slots=True)
class OtherReading:
    """Another reading the text allows, beside the one people are warned against; no due time where it cannot be counted yet."""

    reading: str
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class CountedDay:
    """One day of a count: its number, or None and the reason it does not count."""

    day: date
    number: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit as a pack states it. `text` is shown to people; `count` is in the unit; `backward` counts back from the act.

    `every` is the period in days where this is one occurrence of a recurring limit; `by` is the local hour at which counted days end
    where the text names one; `or_sooner` lets the time that an order sets end the count earlier.
    """

    text: str
    shape: Shape
    count: int = 0
    unit: str = ""
    backward: bool = False
    else_immediately: bool = False
    once_after: bool = False
    every: int = 0
    by: time | None = None
    or_sooner: bool = False

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Read a limit. Raises ValueError with what would be right."""
        fixed: dict[str, Limit] = {
            "immediately": cls(text, "immediately"),
            "before the act": cls(text, "before act", backward=True),
            "comply_by": cls(text, "comply by"),
            "comply_by, else immediately": cls(text, "comply by", else_immediately=True),
        }
        if text in fixed:
            return fixed[text]
        if text.endswith(OR_SOONER):
            return replace(cls.parse(text.removesuffix(OR_SOONER)), text=text, or_sooner=True)
        if found := _RECURRING.fullmatch(text):
            _believe(int(found[1]), "calendar days")
            return cls(text, "recurring", int(found[1]), "calendar days", once_after=bool(found[2]))
        found = _COUNTED.fullmatch(text)
        if not found:
            raise ValueError(f"{text!r} is not a limit")
        count, unit = int(found[1]), found[2].removesuffix("s") + "s"
        unit = "calendar days" if unit == "days" else unit
        _believe(count, unit)
        if found[3] and not unit.endswith("days"):
            raise ValueError("only days are counted back")
        if found[4] and not unit.endswith("days"):
            raise ValueError("only days end by an hour")
        shapes: dict[str, Shape] = {"hours": "elapsed", "minutes": "elapsed", "calendar days": "calendar days", "years": "years"}
        return cls(text, shapes.get(unit, "open days"), count, unit, backward=bool(found[3]), by=_hour(found[4]))

    def nth(self, occurrence: int) -> Limit:
        """The calendar-day limit of one occurrence of a recurring duty, counted from the same start."""
        return replace(self, shape="calendar days", count=self.count * occurrence, every=self.count)


def _hour(text: str | None) -> time | None:
    if text is None:
        return None
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no time of day") from None


def _believe(count: int, unit: str) -> None:
    if not 1 <= count <= _LONGEST[unit]:
        raise ValueError(f"{count} {unit} is no believable limit")


@dataclass(frozen=True, slots=True)
class Count:
    """A finished count. All instants are UTC; `due_at` itself is still on time."""

    limit: Limit
    starts_at: datetime
    due_at: datetime
    zone: ZoneInfo
    calendar: Calendar
    extended_due_at: datetime | None = None
    other_readings: tuple[OtherReading, ...] = ()

    def days(self) -> Iterator[CountedDay]:
        """Each day of a day count in order, counted or skipped with its reason; nothing for elapsed time.

        A later occurrence of a recurring duty goes on from the last day of the one before, so that a year of weeks stays readable.
        """
        if self.limit.shape not in ("calendar days", "open days"):
            return
        step = timedelta(days=-1 if self.limit.backward else 1)
        day = self.starts_at.astimezone(self.zone).date()
        yield CountedDay(day, None, "the day of the act, not counted" if self.limit.backward else "the day of the start, not counted")
        number = self.limit.count - self.limit.every if self.limit.every else 0
        if number:
            day += step * number
            yield CountedDay(day, number)
        while number < self.limit.count:
            day += step
            closed = self.calendar.why_closed(day) if self.limit.shape == "open days" else None
            number += 0 if closed else 1
            yield CountedDay(day, None, closed) if closed else CountedDay(day, number)

    def steps(self) -> list[str]:
        """The arithmetic in sentences, the last of which names the due moment. Local times carry their zone abbreviation."""
        return [*self._opening(), *self._middle(), *self._closing()]

    def _opening(self) -> list[str]:
        return [f"Counted from {told(self.starts_at, self.zone)}."]

    def _middle(self) -> list[str]:
        limit = self.limit
        if limit.shape == "immediately":
            return ["Immediately: the text gives no number. A quarter of an hour is added, the outer bound of EPA's policy for CERCLA 103."]
        if limit.shape == "elapsed":
            words = f"Plus {limit.text} of elapsed time; nights, weekends and holidays count."
            return [words, *self._clock_change()]
        if limit.shape == "comply by":
            return ["The order itself sets the time to comply."]
        if limit.shape == "before act":
            return ["To be done before the act: the moment of the act is the last on time."]
        if limit.shape == "years":
            return [f"{limit.text} later on the same month and day, to the end of that day."]
        words = "Working day" if limit.unit == "working days" else "Business day" if limit.unit == "business days" else "Day"
        return [
            f"{_day(part.day)}: {words.lower() if limit.backward else words} {part.number}{' before' if limit.backward else ''}."
            if part.number
            else f"{_day(part.day)}: not counted, {part.reason.removesuffix(', not counted')}."
            for part in self.days()
        ]

    def _clock_change(self) -> list[str]:
        start, due = self.starts_at.astimezone(self.zone), self.due_at.astimezone(self.zone)
        shift = (due.utcoffset() or timedelta()) - (start.utcoffset() or timedelta())
        if not shift:
            return []
        word = "forward" if shift > timedelta() else "back"
        minutes = int(abs(shift).total_seconds()) // 60
        by = "an hour" if minutes == 60 else f"{minutes} minutes"
        return [f"Clocks go {word} by {by} in between, so {start.strftime('%H:%M')} becomes {due.strftime('%H:%M')} on the wall."]

    def _closing(self) -> list[str]:
        told_due = f"Due {told(self.due_at, self.zone)}"
        closing = ", at closing time" if self.limit.shape == "open days" and not self.limit.by else ""
        lines = []
        if self.extended_due_at:
            last = self.due_at.astimezone(self.zone).date()
            why = _holiday(self.calendar, last)
            lines.append(
                f"{_day(last)} is {why}: {self.calendar.extended_by} may let the act be done until "
                f"{told(self.extended_due_at, self.zone)}; the stricter day is kept."
            )
        elif self.limit.shape == "calendar days" and not self.limit.backward and self.calendar.extended_by and not self._covered():
            lines.append(
                f"Whether the last day is a holiday cannot be told: calendar {self.calendar.name} ends on {self.calendar.last_day}."
            )
        return [*lines, f"{told_due}{closing}."]

    def _covered(self) -> bool:
        return self.calendar.first_day <= self.due_at.astimezone(self.zone).date() <= self.calendar.last_day


def told(moment: datetime, zone: ZoneInfo) -> str:
    """A moment for people: local day, wall time with zone abbreviation, and the UTC instant."""
    local = moment.astimezone(zone)
    return f"{_day(local.date())} {local.strftime('%H:%M:%S %Z')} ({moment.astimezone(UTC).isoformat().replace('+00:00', 'Z')})"


def _day(day: date) -> str:
    return f"{WEEKDAYS[day.weekday()][:3]} {day.isoformat()}"


def _holiday(calendar: Calendar, day: date) -> str:
    reason = calendar.why_closed(day) or ""
    return f"a {reason}" if reason in WEEKDAYS else reason


def count(limit: Limit, starts_at: datetime, zone: ZoneInfo, calendar: Calendar, comply_by: datetime | None = None) -> Count | None:
    """Count a limit from an instant. None where an order set no time to comply and the law gives none.

    Raises CalendarGap where working days run past what the calendar covers.
    """
    if limit.or_sooner and comply_by is not None:
        fixed = count(replace(limit, or_sooner=False), starts_at, zone, calendar)
        ordered = Count(Limit.parse("comply_by"), starts_at, comply_by, zone, calendar)
        return fixed if fixed and fixed.due_at <= comply_by else ordered
    match limit.shape:
        case "immediately":
            due = starts_at + IMMEDIATELY
        case "elapsed":
            due = starts_at + timedelta(**{limit.unit: limit.count})
        case "before act":
            due = starts_at
        case "comply by":
            if comply_by is None and not limit.else_immediately:
                return None
            if comply_by is None:
                return count(Limit.parse("immediately"), starts_at, zone, calendar)
            due = comply_by
        case "years":
            due = _end_of(_years_later(starts_at.astimezone(zone).date(), limit.count), zone)
        case "open days":
            return _open_days(limit, starts_at, zone, calendar)
        case _:
            return _calendar_days(limit, starts_at, zone, calendar)
    return Count(limit, starts_at, due, zone, calendar)


def _calendar_days(limit: Limit, starts_at: datetime, zone: ZoneInfo, calendar: Calendar) -> Count:
    days = timedelta(days=-limit.count if limit.backward else limit.count)
    last = starts_at.astimezone(zone).date() + days
    extended = None
    if not limit.backward and calendar.extended_by:
        try:
            if calendar.why_closed(last):
                extended = _end_of(calendar.next_open(last), zone)
        except CalendarGap:
            # The due day needs no calendar; only the milder, extended day does. The steps say that it cannot be told.
            extended = None
    due = _end_of(last, zone) if limit.by is None else local_instant(datetime.combine(last, limit.by), zone)
    return Count(limit, starts_at, due, zone, calendar, extended)


def _open_days(limit: Limit, starts_at: datetime, zone: ZoneInfo, calendar: Calendar) -> Count:
    first = starts_at.astimezone(zone).date()
    hour = limit.by or calendar.closes_at
    due = local_instant(datetime.combine(_nth_open(limit, first, calendar), hour), zone)
    others: tuple[OtherReading, ...] = ()
    if limit.unit == "business days" and calendar.saturday_by:
        saturdays = local_instant(datetime.combine(_nth_open(limit, first, calendar.with_saturdays), hour), zone)
        if saturdays != due:
            others = (OtherReading(f"{calendar.saturday_by}: Saturday counts as a business day", saturdays),)
    return Count(limit, starts_at, due, zone, calendar, None, others)


def _nth_open(limit: Limit, day: date, calendar: Calendar) -> date:
    step = timedelta(days=-1 if limit.backward else 1)
    left = limit.count
    while left:
        day += step
        if not calendar.why_closed(day):
            left -= 1
    return day


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    return local_instant(datetime.combine(day, END_OF_DAY), zone)


def _years_later(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February has no anniversary: 28 February (counting.md, limits)
        return date(day.year + years, 2, 28)
