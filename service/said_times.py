"""Times as people say them: "yesterday evening", "this morning around 8", "2 hours ago", "ayer por la tarde", "el lunes a las 3".

A time is read only where it can mean one thing, in the zone of the city; a span of time ("yesterday evening") is read with both ends.
An hour that can be before noon or after it ("yesterday at 5") is read as the span from the one to the other. What can be two days ("last
Monday") is not read, nor what has no end ("last week"): whoever reads the report asks. Reads no clock: the present is an argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from deadlines.facts import local_instant
from service import time_words
from service.said_ago import Tokens, read_ago
from service.said_numbers import number_at, tokens_of

_MINUTE, _DAY, _WEEK = timedelta(minutes=1), timedelta(days=1), timedelta(days=7)
_LONGEST_AGO = timedelta(days=400)
_BEFORE_DAWN = time(5)


@dataclass(frozen=True, slots=True)
class SaidTime:
    """A time that was read, in UTC: the earliest and the latest that it can be, the same where it is a moment."""

    earliest: datetime
    latest: datetime
    on_clock_change: bool = False

    @property
    def is_span(self) -> bool:
        """Whether it is a stretch of time and no moment."""
        return self.earliest != self.latest


def read_said_time(text: str, now: datetime, zone: ZoneInfo, language: str = "en") -> SaidTime | None:
    """What a text says of a time that is past at `now`, or None where that would be a guess. `language` tells 1/12 from 12/1."""
    tokens = tokens_of(re.sub(r"\b([ap])\. ?m\b\.?", r"\1m", text, flags=re.IGNORECASE))
    if not tokens:
        return None
    try:
        return _Reader(tokens, now.astimezone(UTC), zone, language).read()
    except (ValueError, OverflowError):
        return None


def falls_on_clock_change(moment: datetime, zone: ZoneInfo) -> bool:
    """Whether a local time without a zone comes twice or not at all, because the clocks are changed that night."""
    return moment.replace(tzinfo=zone, fold=0).utcoffset() != moment.replace(tzinfo=zone, fold=1).utcoffset()


@dataclass(slots=True)
class _Clock:
    """A time of day as it was said. `is_open`: it can be before noon or after it; `is_cued`: something says that it is an hour."""

    hour: int
    minute: int
    is_open: bool
    is_cued: bool = True


class _Reader(Tokens):
    """Reads one text from left to right into a day, a part of the day and a time of day; then puts them together."""

    def __init__(self, tokens: Sequence[str], now: datetime, zone: ZoneInfo, language: str) -> None:
        super().__init__(tokens)
        self.now, self.zone, self.language = now, zone, language
        self.today = now.astimezone(zone).date()
        self.day: date | None = None
        self.part: time_words.PartOfDay | None = None
        self.clocks: list[_Clock] = []
        self.is_last_night = self.is_midnight = self.is_perhaps_tomorrow = self.is_perhaps_today = False

    def read(self) -> SaidTime | None:
        if self.take(time_words.NOW):
            while self.take(time_words.FILLERS):
                pass
            if self.is_over:
                return SaidTime(self.now, self.now)
            self.at = 0
        if (ago := self._ago()) is not None:
            return ago
        while not self.is_over:
            if not (self._named() or self._dated() or self._clock() or self.take(time_words.FILLERS)):
                return None
        return self._together()

    def _instant(self, moment: datetime) -> datetime:
        return local_instant(moment, self.zone)

    def _ago(self) -> SaidTime | None:
        """Two hours ago, by the clock; two days ago, as the whole of that day."""
        ago = read_ago(self.all)
        if ago is None or ago.farthest > _LONGEST_AGO:
            return None
        if not ago.in_days:
            return SaidTime(self.now - ago.farthest, self.now - ago.nearest)
        # By the calendar: a day on which the clocks are changed is a day, too.
        first, last = self.today - timedelta(days=-(-ago.farthest // _DAY)), self.today - timedelta(days=ago.nearest // _DAY)
        begins, ends = (self._instant(datetime.combine(day, time())) for day in (first, last + _DAY))
        return SaidTime(begins, min(ends, self.now))

    # -- days and parts of days

    def _set_day(self, day: date) -> bool:
        if self.day is not None and self.day != day:
            raise ValueError("two days are named")
        self.day = day
        return True

    def _named(self) -> bool:
        for phrases, nights in ((time_words.NIGHT_BEFORE, 2), (time_words.LAST_NIGHT, 1)):
            if self.take(phrases):
                self.is_last_night = True
                return self._set_day(self.today - nights * _DAY)
        if self.take(time_words.TONIGHT):
            self.part = time_words.NIGHT
            return self._set_day(self._this_evening())
        if self.take(time_words.DAY_BEFORE):
            return self._set_day(self.today - 2 * _DAY)
        if self.take(time_words.YESTERDAY):
            return self._set_day(self.today - _DAY)
        start = self.at
        if self.take(time_words.THIS) and self._part():
            return self._set_day(
                self.today if self.part in (time_words.MORNING, time_words.SMALL_HOURS, time_words.AFTERNOON) else self._this_evening()
            )
        self.at = start
        if self.take(time_words.TODAY):
            return self._set_day(self.today)
        return self._weekday() or self._part()

    def _this_evening(self) -> date:
        """After midnight, "tonight" is still the evening before."""
        return self.today - _DAY if self.now.astimezone(self.zone).time() < _BEFORE_DAWN else self.today

    def _part(self) -> bool:
        for phrases, span in time_words.PARTS:
            if self.take(phrases):
                if self.part is not None and self.part != span:
                    raise ValueError("two parts of a day are named")
                self.part = span
                return True
        for phrases, hour in ((time_words.NOON, 12), (time_words.MIDNIGHT, 0)):
            if self.take(phrases):
                self.clocks.append(_Clock(hour, 0, is_open=False))
                self.is_midnight = self.is_midnight or hour == 0
                return True
        return self._word_for_tomorrow()

    def _word_for_tomorrow(self) -> bool:
        """Mañana is the morning beside the name of a day, and tomorrow alone."""
        if not self.word("manana"):
            return False
        self.is_perhaps_tomorrow = True
        self.part = self.part or time_words.MORNING
        return True

    def _weekday(self) -> bool:
        """Monday is the last one before today; today's own name is today, or a week ago. Last Monday may be that one or the one before."""
        start = self.at
        is_past, is_last = self.take(time_words.PAST_DAY), self.word("last")
        day = time_words.WEEKDAYS.get(self.peek())
        if day is None:
            self.at = start
            return False
        self.at += 1
        back = (self.today.weekday() - day) % 7
        if self.word("pasado") or is_past or is_last:
            back = back or 7
        if is_last and back <= self._days_of_this_week():
            raise ValueError("last Monday can be two days")
        self.word(",", ".")
        if self._is_date():
            return True  # the date that follows says the same, and says it better
        self.is_perhaps_today = back == 0
        return self._set_day(self.today - timedelta(days=back))

    def _days_of_this_week(self) -> int:
        """How many days back may be called this week: it begins on Sunday to some and on Monday to others."""
        return max(self.today.weekday(), (self.today.weekday() + 1) % 7)

    # -- dates

    def _is_date(self) -> bool:
        start, day = self.at, self.day
        found = self._dated()
        self.at, self.day = start, day
        return found

    def _dated(self) -> bool:
        return self._in_figures() or self._with_month()

    def _in_figures(self) -> bool:
        """12/1, 12/1/26, 2026-12-01."""
        for length in range(5, 0, -1):
            text = "".join(self.all[self.at : self.at + length])
            if found := re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", text):
                self.at += length
                return self._set_day(date(int(found[1]), int(found[2]), int(found[3])))
            if found := re.fullmatch(r"(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?", text):
                self.at += length
                return self._set_day(self._of_two(int(found[1]), int(found[2]), found[3]))
        return False

    def _of_two(self, first: int, second: int, year: str | None) -> date:
        """12/1 is December 1 to readers of English. To readers of Spanish it can be January 12, too: then it is not read."""
        if first > 12 or (self.language == "es" and second <= 12 and first == second):
            first, second = second, first
        elif self.language == "es" and second <= 12:
            raise ValueError("day and month, or month and day")
        return self._of_year(first, second, year)

    def _of_year(self, month: int, day: int, year: str | None) -> date:
        if year:
            return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
        found = date(self.today.year, month, day)
        return found if found <= self.today else date(self.today.year - 1, month, day)

    def _with_month(self) -> bool:
        """December 1, Dec 1st, 2026, 1 de diciembre de 2026."""
        start = self.at
        text = " ".join(self.all[self.at : self.at + 7])
        for pattern in (
            r"(?P<month>[a-z]+) (?:\. )?(?P<day>\d{1,2})(?: (?:st|nd|rd|th))?\b(?:(?: ,)? (?P<year>20\d\d)\b)?",
            r"(?P<day>\d{1,2})(?: (?:st|nd|rd|th))? (?:de |of )?(?P<month>[a-z]+)\b(?:(?: ,| del?)? (?P<year>20\d\d)\b)?",
        ):
            found = re.match(pattern, text)
            if found and found["month"] in time_words.MONTHS:
                self.at = start + len(found[0].split())
                return self._set_day(self._of_year(time_words.MONTHS[found["month"]], int(found["day"]), found["year"]))
        return False

    # -- the time of day

    def _clock(self) -> bool:
        """8, 8:30, 8am, 20:30, 8 y media, half past 8; two of them are a span."""
        if len(self.clocks) > 1:
            return False
        start = self.at
        if self.clocks and not self.word("-", "to", "and", "y", "a", "until", "hasta"):
            return False
        before = self.at
        while self.word("a", "las", "la", "at", "about", "around"):
            pass
        is_cued = self.at > before
        begins = self.at
        found = self._half_past() or self._hour()
        if found is None:
            self.at = start
            return False
        read = self.all[begins : self.at]
        found.is_cued = is_cued or ":" in read or len(read) > 1 or self.peek() in ("o'clock", "en", "sharp")
        self.clocks.append(found)
        return True

    def _half_past(self) -> _Clock | None:
        start = self.at
        for phrases, minutes in (
            (time_words.phrases("half past"), 30),
            (time_words.phrases("quarter past", "a quarter past"), 15),
            (time_words.phrases("quarter to", "a quarter to"), -15),
        ):
            if self.take(phrases) and (clock := self._hour()) is not None and clock.minute == 0:
                total = clock.hour * 60 + minutes
                return _Clock(total // 60 or 12, total % 60, clock.is_open)
            self.at = start
        return None

    def _hour(self) -> _Clock | None:
        start = self.at
        text = "".join(self.all[self.at : self.at + 3])
        if found := re.match(r"([01]?\d|2[0-3]):([0-5]\d)(?!\d)", text):
            self.at += 3
            hour, minute = int(found[1]), int(found[2])
            is_open = 1 <= hour <= 12 and not found[1].startswith("0")
        else:
            number = number_at(self.all, self.at)
            # "8 y media" is read as eight and a half, and is half past eight.
            if number is None or number.low != number.high or not 1 <= number.low < 24 or number.low * 4 % 1 or "." in self.peek():
                return None
            self.at += number.length
            hour, minute = int(number.low), int(number.low % 1 * 60)
            minute = minute or self._minutes_behind()
            hour, minute = (hour - 1 or 12, 45) if minute == -15 else (hour, minute)
            is_open = hour <= 12
        clock = self._before_or_after_noon(hour, minute, is_open)
        if clock is None:
            self.at = start
        return clock

    def _minutes_behind(self) -> int:
        for phrases, minutes in (
            (time_words.phrases("y media"), 30),
            (time_words.phrases("y cuarto"), 15),
            (time_words.phrases("menos cuarto"), -15),
        ):
            if self.take(phrases):
                return minutes
        return 0

    def _before_or_after_noon(self, hour: int, minute: int, is_open: bool) -> _Clock | None:
        word = self.peek()
        if word in ("am", "a", "pm", "p") and (word in ("am", "pm") or self.peek(1) == "m"):
            self.at += 1 if word in ("am", "pm") else 2
            self.word(".")
            if not 1 <= hour <= 12:
                return None
            return _Clock(hour % 12 + (12 if word[0] == "p" else 0), minute, is_open=False)
        return _Clock(hour, minute, is_open)

    # -- put together

    def _together(self) -> SaidTime | None:
        if not self.is_perhaps_today:
            return self._of_day()
        # Today's own name: the day a week ago where it cannot be today, and neither where it can be both.
        if self._of_day() is None and self.day is not None:
            self.day -= _WEEK
            return self._of_day()
        return None

    def _of_day(self) -> SaidTime | None:
        if self.day is None and self.is_perhaps_tomorrow:
            return None
        if self.clocks:
            return self._moments()
        if self.day is None and self.part is None:
            return None
        day = self.day or self.today  # "in the afternoon" alone is today's, where it has begun
        if self.is_last_night and self.part in (None, time_words.NIGHT):
            return self._span(day, 18, 30)
        if self.is_last_night and self.part == time_words.SMALL_HOURS:
            day += _DAY
        if self.part is not None:
            return self._span(day, self.part[0], self.part[1])
        return self._span(day, 0, 24)

    def _span(self, day: date, begins: int, ends: int) -> SaidTime | None:
        midnight = datetime.combine(day, time())
        earliest, latest = (self._instant(midnight + timedelta(hours=hour)) for hour in (begins, ends))
        return None if earliest > self.now else SaidTime(earliest, min(latest, self.now))

    def _moments(self) -> SaidTime | None:
        """The moment of one time of day, or the span between two; from the first to the last that it can be."""
        if len(self.clocks) == 2 and self.clocks[0].is_open and not self.clocks[1].is_open:
            first, second = self.clocks  # 3 to 4 pm
            after_noon = 12 if second.hour >= 12 else 0
            self.clocks[0] = _Clock(first.hour % 12 + after_noon, first.minute, is_open=False)
        found = [self._can_be(clock) for clock in self.clocks]
        if not all(found):
            return None
        begins, ends = found[0][0], found[-1][-1]
        earliest, latest = self._instant(begins), self._instant(ends)
        in_order = all(self._instant(one) < self._instant(other) for one, other in zip(*found, strict=False)) if len(found) > 1 else True
        if not in_order or not timedelta() <= latest - earliest <= _DAY + timedelta(hours=1):
            return None
        return SaidTime(earliest, latest, any(falls_on_clock_change(moment, self.zone) for moment in (begins, ends)))

    def _can_be(self, clock: _Clock) -> list[datetime]:
        """The local moments that a time of day can be, in their order: none that lies ahead, and one or two that are past."""
        if self.is_last_night:
            hours = self._of_last_night(clock)
        elif self.is_midnight and self.day is not None and clock.hour == 0 and not clock.is_open:
            hours = [24] if self.part == time_words.NIGHT else [0, 24]  # midnight of a day is where it begins, or where it ends
        elif self.part is not None:
            hours = [self.part[2][clock.hour]] if clock.is_open and clock.hour in self.part[2] else [] if clock.is_open else [clock.hour]
        else:
            hours = [clock.hour % 12, clock.hour % 12 + 12] if clock.is_open else [clock.hour]
        days = [self.day] if self.day else [self.today - _DAY, self.today]
        moments = [datetime.combine(day, time()) + timedelta(hours=hour, minutes=clock.minute) for day in days for hour in hours]
        past = [moment for moment in moments if self._instant(moment) <= self.now + _MINUTE]
        if self.day is not None:
            return past
        if len(hours) > 1 and not clock.is_cued:
            return []  # "8" may be anything
        # 11 pm, said in the morning, was yesterday. 9 am, said a little before nine, may be a clock that goes wrong.
        soon = self.now + timedelta(hours=2)
        if any(self.now + _MINUTE < self._instant(moment) <= soon for moment in moments):
            return []
        return past[-len(hours) :] if hours else []

    def _of_last_night(self, clock: _Clock) -> list[int]:
        """The hours that a time of day can be in a night, counted from the midnight before it."""
        if not clock.is_open:
            return [clock.hour if clock.hour >= 17 else clock.hour + 24] if clock.hour >= 17 or clock.hour <= 5 else []
        if self.part == time_words.SMALL_HOURS:
            return [self.part[2][clock.hour] + 24] if clock.hour in self.part[2] else []
        if clock.hour == 5:
            return [17, 29]
        return [time_words.LAST_NIGHT_HOURS[clock.hour]] if clock.hour in time_words.LAST_NIGHT_HOURS else []
