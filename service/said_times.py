"""Times as people say them: "yesterday evening", "this morning around 8", "2 hours ago", "ayer por la tarde", "el lunes a las 3".

A time is read only where it can mean one thing, in the zone of the city; a span of time ("yesterday evening") is read with both ends.
What can be two times ("at 8", "last Monday") is not read. Reads no clock: the present is an argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

from deadlines.facts import local_instant
from service import time_words
from service.said_numbers import number_at, tokens_of

# How far back "12/1" without a year may lie, and what "just now" may be off by.
_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)
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
    """A time of day as it was said. `is_open`: it can be before noon or after it."""

    hour: int
    minute: int
    is_open: bool


class _Reader:
    """Reads one text from left to right into a day, a part of the day and a time of day; then puts them together."""

    def __init__(self, tokens: Sequence[str], now: datetime, zone: ZoneInfo, language: str) -> None:
        self.tokens = list(tokens)
        self.at = 0
        self.now, self.zone, self.language = now, zone, language
        self.today = now.astimezone(zone).date()
        self.day: date | None = None
        self.part: time_words.PartOfDay | None = None
        self.clocks: list[_Clock] = []
        self.is_last_night = self.is_midnight = self.is_perhaps_tomorrow = False

    def read(self) -> SaidTime | None:
        if (ago := self._ago()) is not None:
            return ago
        while self.at < len(self.tokens):
            if not (self._named() or self._dated() or self._clock() or self._take(time_words.FILLERS)):
                return None
        return self._together()

    # -- small steps

    def _take(self, phrases: Sequence[tuple[str, ...]]) -> bool:
        """Go past the longest of these phrases that stands here."""
        for phrase in phrases:
            if tuple(self.tokens[self.at : self.at + len(phrase)]) == phrase:
                self.at += len(phrase)
                return True
        return False

    def _word(self, *words: str) -> bool:
        return self._take([(word,) for word in words])

    def _peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def _instant(self, moment: datetime) -> datetime:
        return local_instant(moment, self.zone)

    # -- two hours ago

    def _ago(self) -> SaidTime | None:
        """Just now; 2 hours ago; hace media hora. None, and nothing taken, where the text is something else."""
        start = self.at
        while self._take(time_words.FILLERS[:-1]) and not self._is_count():
            pass
        is_now = self._take(time_words.NOW)
        found = SaidTime(self.now, self.now) if is_now else self._so_long_ago()
        while self._take(time_words.FILLERS):
            pass
        if found is not None and self.at == len(self.tokens):
            return found
        self.at = start
        return None

    def _is_count(self) -> bool:
        return number_at(self.tokens, self.at) is not None or self._peek() in ("an", "hace")

    def _so_long_ago(self) -> SaidTime | None:
        is_spanish = self._word("hace")
        while self._take(
            time_words.phrases(
                "about", "around", "like", "maybe", "approximately", "como", "unos", "unas", "aproximadamente", "mas o menos", "casi"
            )
        ):
            pass
        count = number_at(self.tokens, self.at)
        low, high = (count.low, count.high) if count else (Fraction(1), Fraction(1))
        if count is not None:
            self.at += count.length
        elif not self._word("an", "a") and not is_spanish:
            return None
        self._word("of", "an", "a", "de")
        if self._peek() not in time_words.SPANS:
            return None
        length = time_words.SPANS[self._peek()]
        self.at += 1
        if self._take([("and", "a", "half"), ("y", "media"), ("y", "medio")]):
            low, high = low + Fraction(1, 2), high + Fraction(1, 2)
        if not is_spanish and not self._word("ago", "back", "earlier"):
            return None
        nearest, farthest = self._back(length, low), self._back(length, high)
        if self.now - farthest > _LONGEST_AGO:
            return None
        return SaidTime(self._days_begin(farthest, length), self._days_end(nearest, length))

    def _back(self, length: timedelta, times: Fraction) -> datetime:
        return self.now - timedelta(seconds=float(times * int(length.total_seconds())))

    def _days_begin(self, moment: datetime, length: timedelta) -> datetime:
        """Two days ago is a day and no moment."""
        if length < _DAY:
            return moment
        return self._instant(datetime.combine(moment.astimezone(self.zone).date(), time()))

    def _days_end(self, moment: datetime, length: timedelta) -> datetime:
        return moment if length < _DAY else self._days_begin(moment + _DAY, length)

    # -- days and parts of days

    def _set_day(self, day: date) -> bool:
        if self.day is not None and self.day != day:
            raise ValueError("two days are named")
        self.day = day
        return True

    def _named(self) -> bool:
        if self._take(time_words.LAST_NIGHT):
            self.is_last_night = True
            return self._set_day(self.today - _DAY)
        if self._take(time_words.TONIGHT):
            self.part = time_words.NIGHT
            return self._set_day(self._this_evening())
        if self._take(time_words.DAY_BEFORE):
            return self._set_day(self.today - 2 * _DAY)
        if self._take(time_words.YESTERDAY):
            return self._set_day(self.today - _DAY)
        start = self.at
        if self._take(time_words.THIS) and self._part():
            return self._set_day(
                self.today if self.part in (time_words.MORNING, time_words.SMALL_HOURS, time_words.AFTERNOON) else self._this_evening()
            )
        self.at = start
        if self._take(time_words.TODAY):
            return self._set_day(self.today)
        return self._weekday() or self._part()

    def _this_evening(self) -> date:
        """After midnight, "tonight" is still the evening before."""
        return self.today - _DAY if self.now.astimezone(self.zone).time() < _BEFORE_DAWN else self.today

    def _part(self) -> bool:
        for phrases, span in time_words.PARTS:
            if self._take(phrases):
                if self.part is not None and self.part != span:
                    raise ValueError("two parts of a day are named")
                self.part = span
                return True
        for phrases, hour in ((time_words.NOON, 12), (time_words.MIDNIGHT, 0)):
            if self._take(phrases):
                self.clocks.append(_Clock(hour, 0, is_open=False))
                self.is_midnight = self.is_midnight or hour == 0
                return True
        return self._word_for_tomorrow()

    def _word_for_tomorrow(self) -> bool:
        """Mañana is the morning beside the name of a day, and tomorrow alone."""
        if not self._word("manana"):
            return False
        self.is_perhaps_tomorrow = True
        self.part = self.part or time_words.MORNING
        return True

    def _weekday(self) -> bool:
        """Monday is the last one before today. Last Monday may be that one or the one before; today's own name may be a week ago."""
        if self._peek() == "last" and self._peek(1) in time_words.WEEKDAYS:
            raise ValueError("last Monday can be two days")
        day = time_words.WEEKDAYS.get(self._peek())
        if day is None:
            return False
        self.at += 1
        back = (self.today.weekday() - day) % 7
        if self._word("pasado"):
            back = back or 7
        elif back == 0:
            raise ValueError("today or a week ago")
        self._word(",", ".")
        if self._is_date():
            return True  # the date that follows says the same, and says it better
        return self._set_day(self.today - timedelta(days=back))

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
            text = "".join(self.tokens[self.at : self.at + length])
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
        text = " ".join(self.tokens[self.at : self.at + 7])
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
        if self.clocks and not self._word("-", "to", "and", "y", "a", "until", "hasta"):
            return False
        while self._word("a", "las", "la", "at", "about", "around"):
            pass
        found = self._half_past() or self._hour()
        if found is None:
            self.at = start
            return False
        self.clocks.append(found)
        return True

    def _half_past(self) -> _Clock | None:
        start = self.at
        for phrases, minutes in (
            (time_words.phrases("half past"), 30),
            (time_words.phrases("quarter past", "a quarter past"), 15),
            (time_words.phrases("quarter to", "a quarter to"), -15),
        ):
            if self._take(phrases) and (clock := self._hour()) is not None and clock.minute == 0:
                total = clock.hour * 60 + minutes
                return _Clock(total // 60 or 12, total % 60, clock.is_open)
            self.at = start
        return None

    def _hour(self) -> _Clock | None:
        start = self.at
        text = "".join(self.tokens[self.at : self.at + 3])
        if found := re.match(r"([01]?\d|2[0-3]):([0-5]\d)(?!\d)", text):
            self.at += 3
            hour, minute = int(found[1]), int(found[2])
            is_open = 1 <= hour <= 12 and not found[1].startswith("0")
        else:
            number = number_at(self.tokens, self.at)
            # "8 y media" is read as eight and a half, and is half past eight.
            if number is None or number.low != number.high or not 1 <= number.low < 24 or number.low * 4 % 1 or "." in self._peek():
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
            if self._take(phrases):
                return minutes
        return 0

    def _before_or_after_noon(self, hour: int, minute: int, is_open: bool) -> _Clock | None:
        word = self._peek()
        if word in ("am", "a", "pm", "p") and (word in ("am", "pm") or self._peek(1) == "m"):
            self.at += 1 if word in ("am", "pm") else 2
            self._word(".")
            if not 1 <= hour <= 12:
                return None
            return _Clock(hour % 12 + (12 if word[0] == "p" else 0), minute, is_open=False)
        return _Clock(hour, minute, is_open)

    # -- put together

    def _together(self) -> SaidTime | None:
        if self.is_midnight and self.day is not None and not self.is_last_night:
            return None  # the one before that day, or after it
        if self.day is None and self.is_perhaps_tomorrow:
            return None
        if self.clocks:
            return self._moments()
        if self.day is None:
            return None
        if self.is_last_night and self.part in (None, time_words.NIGHT):
            return self._span(self.day, 18, 30)
        if self.part is not None:
            return self._span(self.day, self.part[0], self.part[1])
        return self._span(self.day, 0, 24)

    def _span(self, day: date, begins: int, ends: int) -> SaidTime | None:
        midnight = datetime.combine(day, time())
        earliest, latest = (self._instant(midnight + timedelta(hours=hour)) for hour in (begins, ends))
        return None if earliest > self.now else SaidTime(earliest, min(latest, self.now))

    def _moments(self) -> SaidTime | None:
        if len(self.clocks) == 2 and self.clocks[0].is_open and not self.clocks[1].is_open:
            first, second = self.clocks  # 3 to 4 pm
            after_noon = 12 if second.hour >= 12 else 0
            self.clocks[0] = _Clock(first.hour % 12 + after_noon, first.minute, is_open=False)
        found = [self._moment(clock) for clock in self.clocks]
        if None in found:
            return None
        moments = [moment for moment in found if moment is not None]
        instants = [self._instant(moment) for moment in moments]
        if instants != sorted(instants) or instants[-1] - instants[0] > _DAY:
            return None
        return SaidTime(instants[0], instants[-1], any(falls_on_clock_change(moment, self.zone) for moment in moments))

    def _moment(self, clock: _Clock) -> datetime | None:
        """The one local moment that a time of day can be; None where there are none or two."""
        if self.is_last_night:
            hours = self._of_last_night(clock)
        elif self.part is not None:
            hours = [self.part[2][clock.hour]] if clock.is_open and clock.hour in self.part[2] else [] if clock.is_open else [clock.hour]
        else:
            hours = [clock.hour % 12, clock.hour % 12 + 12] if clock.is_open else [clock.hour]
        if self.day is None and len(hours) > 1:
            return None
        days = [self.day] if self.day else [self.today, self.today - _DAY]
        moments = [datetime.combine(day, time()) + timedelta(hours=hour, minutes=clock.minute) for day in days for hour in hours]
        past = [moment for moment in moments if self._instant(moment) <= self.now + _MINUTE]
        if self.day is None:
            # 11 pm, said in the morning, was yesterday. 9 am, said a little before nine, may be a clock that goes wrong.
            soon = self.now + timedelta(hours=2)
            past = past[:1] if not any(self.now + _MINUTE < self._instant(moment) <= soon for moment in moments) else []
        return past[0] if len(past) == 1 else None

    def _of_last_night(self, clock: _Clock) -> list[int]:
        if clock.is_open:
            return [time_words.LAST_NIGHT_HOURS[clock.hour]] if clock.hour in time_words.LAST_NIGHT_HOURS else []
        return [clock.hour if clock.hour >= 17 else clock.hour + 24] if clock.hour >= 17 or clock.hour <= 5 else []
