"""What people say of a time is read where it can mean one thing, in English and Spanish, in the city's zone, and never otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.said_numbers import LONGEST, tokens_of
from service.said_times import SaidTime, falls_on_clock_change, read_said_time

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
TUESDAY = datetime(2026, 12, 1, 22, 5, tzinfo=UTC)  # 2:05 PM in Los Angeles
_SHAPE = "%a %d %H:%M"

# Said on Tuesday, December 1, 2026 at 2:05 PM: the day and time, or the ends of a span.
READ = """
just now | Tue 01 14:05
now | Tue 01 14:05
an hour ago | Tue 01 13:05
about an hour ago | Tue 01 13:05
2 hours ago | Tue 01 12:05
half an hour ago | Tue 01 13:35
an hour and a half ago | Tue 01 12:35
1.5 hours ago | Tue 01 12:35
20 min ago | Tue 01 13:45
maybe 2 hours ago | Tue 01 12:05
a couple of hours ago | Tue 01 11:05 - Tue 01 12:05
2 days ago | Sun 29 00:00 - Mon 30 00:00
two weeks ago | Tue 17 00:00 - Wed 18 00:00
today | Tue 01 00:00 - Tue 01 14:05
today at 8 | Tue 01 08:00
this morning | Tue 01 05:00 - Tue 01 12:00
this morning around 8 | Tue 01 08:00
eight this morning | Tue 01 08:00
quarter to nine this morning | Tue 01 08:45
8 in the morning | Tue 01 08:00
this afternoon at 2 | Tue 01 14:00
8:30 am | Tue 01 08:30
8 a.m. | Tue 01 08:00
13:00 | Tue 01 13:00
3 am | Tue 01 03:00
11 pm | Mon 30 23:00
noon | Tue 01 12:00
around noon today | Tue 01 12:00
midnight | Tue 01 00:00
yesterday | Mon 30 00:00 - Tue 01 00:00
sometime yesterday | Mon 30 00:00 - Tue 01 00:00
since yesterday | Mon 30 00:00 - Tue 01 00:00
yesterday evening | Mon 30 17:00 - Mon 30 22:00
yesterday afternoon | Mon 30 12:00 - Mon 30 18:00
yesterday in the morning | Mon 30 05:00 - Mon 30 12:00
yesterday morning at half past 8 | Mon 30 08:30
yesterday at 8 pm | Mon 30 20:00
yesterday at 15:00 | Mon 30 15:00
yesterday noon | Mon 30 12:00
I saw it yesterday at 4pm | Mon 30 16:00
last night | Mon 30 18:00 - Tue 01 06:00
last night at 11 | Mon 30 23:00
last night around 2 | Tue 01 02:00
last night at midnight | Tue 01 00:00
the day before yesterday | Sun 29 00:00 - Mon 30 00:00
Monday | Mon 30 00:00 - Tue 01 00:00
on Monday morning | Mon 30 05:00 - Mon 30 12:00
Sunday at 3pm | Sun 29 15:00
Monday, November 30 | Mon 30 00:00 - Tue 01 00:00
November 30 at 5 pm | Mon 30 17:00
Nov. 30th, 2026 at 5:15 p.m. | Mon 30 17:15
11/30 | Mon 30 00:00 - Tue 01 00:00
11/30/26 5pm | Mon 30 17:00
11/30/2026 17:00 | Mon 30 17:00
2026-11-30 | Mon 30 00:00 - Tue 01 00:00
9-10 am | Tue 01 09:00 - Tue 01 10:00
between 9 and 10 am | Tue 01 09:00 - Tue 01 10:00
from 9 to 10 am this morning | Tue 01 09:00 - Tue 01 10:00
ahora mismo | Tue 01 14:05
ahorita | Tue 01 14:05
hace dos horas | Tue 01 12:05
hace como una hora | Tue 01 13:05
hace media hora | Tue 01 13:35
hace hora y media | Tue 01 12:35
hace aproximadamente 15 minutos | Tue 01 13:50
hace 3 días | Sat 28 00:00 - Sun 29 00:00
hoy | Tue 01 00:00 - Tue 01 14:05
hoy al mediodía | Tue 01 12:00
hoy a las 8 de la mañana | Tue 01 08:00
esta mañana | Tue 01 05:00 - Tue 01 12:00
esta mañana a las 8 | Tue 01 08:00
hoy en la madrugada | Tue 01 00:00 - Tue 01 06:00
a las 3 de la madrugada | Tue 01 03:00
entre las 9 y las 10 de la mañana | Tue 01 09:00 - Tue 01 10:00
ayer | Mon 30 00:00 - Tue 01 00:00
desde ayer | Mon 30 00:00 - Tue 01 00:00
ayer por la tarde | Mon 30 12:00 - Mon 30 20:00
ayer en la mañana | Mon 30 05:00 - Mon 30 12:00
ayer a las 8 y media de la mañana | Mon 30 08:30
ayer a las 3 y cuarto de la tarde | Mon 30 15:15
ayer a las ocho de la noche | Mon 30 20:00
lo vi ayer a las 4 p. m. | Mon 30 16:00
anoche | Mon 30 18:00 - Tue 01 06:00
anoche a las 10 | Mon 30 22:00
anteayer | Sun 29 00:00 - Mon 30 00:00
antier en la noche | Sun 29 19:00 - Mon 30 00:00
el lunes | Mon 30 00:00 - Tue 01 00:00
el domingo a las 3 de la tarde | Sun 29 15:00
el martes pasado | Tue 24 00:00 - Wed 25 00:00
30 de noviembre a las 8 de la mañana | Mon 30 08:00
el 30 de noviembre de 2026 | Mon 30 00:00 - Tue 01 00:00
30/11 | Mon 30 00:00 - Tue 01 00:00
"""
CASES = [tuple(line.split(" | ")) for line in READ.strip().splitlines()]

NOT_READ = """
at 8|8:30|12:30|a las ocho|yesterday at 8|last Monday|Tuesday|yesterday at midnight|last night at 5|in the morning|mañana|mañana a las 8
a while ago|a few minutes ago|hace un rato|hace poco|hace 2|last week|la semana pasada|all day|always|before lunch|recently|an hour|2 hours
tomorrow|tonight|esta noche|3 pm|this evening|in 2 hours|December 24 2026|12/24/2026|3 years ago
Monday and Tuesday|yesterday or today|yesterday morning and evening|25:00|8:75 am|13 pm|February 30|2026-13-01|13/13
whenever|no sé|I do not know|not yesterday|8 gallons yesterday|yesterday 5 buckets|<b>yesterday</b>|0830|1764626700
"""
WORDS = [text for line in NOT_READ.strip().splitlines() for text in line.split("|")]


def told(said: SaidTime) -> str:
    ends = [moment.astimezone(LOS_ANGELES).strftime(_SHAPE) for moment in (said.earliest, said.latest)]
    return " - ".join(ends) if said.is_span else ends[0]


@pytest.mark.parametrize(("text", "meant"), CASES, ids=[text for text, _ in CASES])
def test_a_time_is_read_as_it_is_meant(text: str, meant: str) -> None:
    for language in ("en", "es"):
        said = read_said_time(text, TUESDAY, LOS_ANGELES, language)
        assert said is not None
        assert told(said) == meant
    assert read_said_time(f" {text.upper()}. ", TUESDAY, LOS_ANGELES) == said


@pytest.mark.parametrize("text", WORDS)
def test_what_can_be_two_times_or_lies_ahead_is_not_read(text: str) -> None:
    assert read_said_time(text, TUESDAY, LOS_ANGELES) is None


def test_there_are_cases_enough_in_both_languages() -> None:
    assert len(CASES) + len(WORDS) > 120


def test_a_date_in_figures_is_read_as_the_language_writes_it() -> None:
    assert told(read_said_time("11/12", TUESDAY, LOS_ANGELES, "en")) == "Thu 12 00:00 - Fri 13 00:00"  # type: ignore[arg-type]
    assert read_said_time("11/12", TUESDAY, LOS_ANGELES, "es") is None  # November 12 or December 11
    assert told(read_said_time("11/11", TUESDAY, LOS_ANGELES, "es")) == "Wed 11 00:00 - Thu 12 00:00"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("last night at 11", "Mon 30 23:00"), ("yesterday evening", "Mon 30 17:00 - Mon 30 22:00"),
        ("tonight", "Mon 30 19:00 - Tue 01 00:00"), ("tonight at 11", "Mon 30 23:00"), ("11 pm", "Mon 30 23:00"),
        ("an hour ago", "Mon 30 23:40"), ("today", "Tue 01 00:00 - Tue 01 00:40"),
    ],
)  # fmt: skip
def test_after_midnight_the_evening_is_still_the_one_before(text: str, meant: str) -> None:
    said = read_said_time(text, datetime(2026, 12, 1, 8, 40, tzinfo=UTC), LOS_ANGELES)
    assert said is not None
    assert told(said) == meant


def test_an_hour_that_comes_twice_is_the_earlier_one_and_says_so() -> None:
    morning = datetime(2026, 11, 1, 18, 0, tzinfo=UTC)
    said = read_said_time("today at 1:30 am", morning, LOS_ANGELES)
    assert said == SaidTime(datetime(2026, 11, 1, 8, 30, tzinfo=UTC), datetime(2026, 11, 1, 8, 30, tzinfo=UTC), on_clock_change=True)
    plain = read_said_time("today at 3:30 am", morning, LOS_ANGELES)
    assert plain is not None
    assert not plain.on_clock_change


def test_an_hour_that_does_not_come_is_read_as_the_earlier_instant_and_says_so() -> None:
    assert falls_on_clock_change(datetime(2026, 3, 8, 2, 30), LOS_ANGELES)  # noqa: DTZ001 - local on purpose
    said = read_said_time("today at 2:30 am", datetime(2026, 3, 8, 20, 0, tzinfo=UTC), LOS_ANGELES)
    assert said is not None
    assert said.on_clock_change


_VOCABULARY = sorted({token for text, _ in CASES for token in tokens_of(text)} | {token for text in WORDS for token in tokens_of(text)})
_MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds


@given(st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=8), _MOMENTS, st.sampled_from(["en", "es"]))
def test_nothing_that_is_said_is_read_as_lying_ahead(words: list[str], now: datetime, language: str) -> None:
    said = read_said_time(" ".join(words), now, LOS_ANGELES, language)
    if said is not None:
        assert now - timedelta(days=36_600) < said.earliest <= said.latest <= now + timedelta(minutes=1)


@given(st.text(max_size=LONGEST + 20), _MOMENTS)
def test_any_text_at_all_is_read_or_left_alone(text: str, now: datetime) -> None:
    said = read_said_time(text, now, LOS_ANGELES)
    assert said is None or said.earliest <= said.latest
