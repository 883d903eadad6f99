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
10 minutes | Tue 01 13:55
10 min | Tue 01 13:55
an hour | Tue 01 13:05
2 hours | Tue 01 12:05
about 3 hours | Tue 01 11:05
half an hour | Tue 01 13:35
media hora | Tue 01 13:35
hace una media hora | Tue 01 13:35
una hora | Tue 01 13:05
unos 20 minutos | Tue 01 13:45
hace como 20 min | Tue 01 13:45
como hace 20 minutos | Tue 01 13:45
a minute ago | Tue 01 14:04
for 2 hours | Tue 01 12:05
for the last 20 minutes | Tue 01 13:45
it has been about an hour | Tue 01 13:05
within the last hour | Tue 01 13:05 - Tue 01 14:05
less than an hour ago | Tue 01 13:05 - Tue 01 14:05
hace menos de media hora | Tue 01 13:35 - Tue 01 14:05
a few minutes ago | Tue 01 13:50 - Tue 01 14:03
just a few minutes ago | Tue 01 13:50 - Tue 01 14:03
several minutes ago | Tue 01 13:50 - Tue 01 14:03
minutes ago | Tue 01 13:50 - Tue 01 14:03
hace unos minutos | Tue 01 13:50 - Tue 01 14:03
hace pocos minutos | Tue 01 13:50 - Tue 01 14:03
a few hours ago | Tue 01 08:05 - Tue 01 12:05
hace unas horas | Tue 01 08:05 - Tue 01 12:05
a few days ago | Wed 25 00:00 - Mon 30 00:00
a moment ago | Tue 01 13:50 - Tue 01 14:05
hace un momento | Tue 01 13:50 - Tue 01 14:05
a little while ago | Tue 01 12:05 - Tue 01 14:05
hace un ratito | Tue 01 12:05 - Tue 01 14:05
an hour or two ago | Tue 01 12:05 - Tue 01 13:05
2 or 3 hours ago | Tue 01 11:05 - Tue 01 12:05
hace una o dos horas | Tue 01 12:05 - Tue 01 13:05
5-10 minutes ago | Tue 01 13:55 - Tue 01 14:00
between 5 and 10 minutes ago | Tue 01 13:55 - Tue 01 14:00
hace entre 5 y 10 minutos | Tue 01 13:55 - Tue 01 14:00
an hour or so ago | Tue 01 13:05
a day or two ago | Sun 29 00:00 - Tue 01 00:00
2 hours and 15 minutes ago | Tue 01 11:50
hace 1 hora y 20 minutos | Tue 01 12:45
3 days | Sat 28 00:00 - Sun 29 00:00
at 8 | Mon 30 20:00 - Tue 01 08:00
8:30 | Mon 30 20:30 - Tue 01 08:30
12:30 | Tue 01 00:30 - Tue 01 12:30
a las ocho | Mon 30 20:00 - Tue 01 08:00
a las 2 horas | Tue 01 02:00 - Tue 01 14:00
yesterday at 5 | Mon 30 05:00 - Mon 30 17:00
yesterday around 5ish | Mon 30 05:00 - Mon 30 17:00
yesterday between 3 and 4 | Mon 30 03:00 - Mon 30 16:00
ayer a las 5 | Mon 30 05:00 - Mon 30 17:00
ayer como a las 5 y media | Mon 30 05:30 - Mon 30 17:30
hoy a las 5 | Tue 01 05:00
yesterday at midnight | Mon 30 00:00 - Tue 01 00:00
today at midnight | Tue 01 00:00
ayer a medianoche | Mon 30 00:00 - Tue 01 00:00
last night at 5 | Mon 30 17:00 - Tue 01 05:00
last night at 6 | Mon 30 18:00
anoche a las 3 de la madrugada | Tue 01 03:00
early this morning | Tue 01 05:00 - Tue 01 12:00
late last night | Mon 30 18:00 - Tue 01 06:00
the night before last | Sun 29 18:00 - Mon 30 06:00
anteanoche | Sun 29 18:00 - Mon 30 06:00
in the morning | Tue 01 05:00 - Tue 01 12:00
en la tarde | Tue 01 12:00 - Tue 01 14:05
en la madrugada | Tue 01 00:00 - Tue 01 06:00
mediodía | Tue 01 12:00
al mediodía | Tue 01 12:00
medianoche | Tue 01 00:00
last Tuesday at noon | Tue 24 12:00
last Friday | Fri 27 00:00 - Sat 28 00:00
last Thursday at 5 | Thu 26 05:00 - Thu 26 17:00
this past Sunday | Sun 29 00:00 - Mon 30 00:00
Tuesday at 3 pm | Tue 24 15:00
el martes en la noche | Tue 24 19:00 - Wed 25 00:00
el lunes a las 3 de la tarde | Mon 30 15:00
el lunes a las 3 | Mon 30 03:00 - Mon 30 15:00
el pasado domingo a mediodía | Sun 29 12:00
"""
CASES = [tuple(line.split(" | ")) for line in READ.strip().splitlines()]

NOT_READ = """
8|15 o algo|3 or 2 hours ago|before lunch|recently|last Monday|last Sunday at 3 pm|Tuesday|Tuesday at 9 am|el martes|mañana|mañana a las 8
a while ago|quite a while ago|hace un rato|hace rato|hace poco|hace 2|last week|la semana pasada|this week|all day|always
tomorrow|tonight|esta noche|3 pm|this evening|in 2 hours|en 2 horas|in the evening|December 24 2026|12/24/2026|3 years ago
over an hour ago|more than 2 hours ago|hace más de 2 horas|hours|a couple|a few|8 hrs|2 horas|hace unas semanas
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


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        # Said on Sunday, November 1, 2026, at 11:30 PM. The clocks went back at 2 AM: the day has 25 hours.
        ("24 hours ago", "Sun 01 00:30"), ("a day ago", "Sat 31 00:00 - Sun 01 00:00"), ("hace un día", "Sat 31 00:00 - Sun 01 00:00"),
        ("yesterday", "Sat 31 00:00 - Sun 01 00:00"), ("last night", "Sat 31 18:00 - Sun 01 06:00"), ("anoche a la 1", "Sun 01 01:00"),
        ("a week ago", "Sun 25 00:00 - Mon 26 00:00"), ("today at 5", "Sun 01 05:00 - Sun 01 17:00"),
        ("de madrugada", "Sun 01 00:00 - Sun 01 06:00"), ("yesterday at midnight", "Sat 31 00:00 - Sun 01 00:00"),
    ],
)  # fmt: skip
def test_days_are_counted_by_the_calendar_where_the_clocks_go_back(text: str, meant: str) -> None:
    said = read_said_time(text, datetime(2026, 11, 2, 7, 30, tzinfo=UTC), LOS_ANGELES)
    assert said is not None
    assert told(said) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        # Said on Sunday, March 8, 2026, at 3:30 AM. There was no hour from 2 to 3 AM.
        ("an hour ago", "Sun 08 01:30"), ("half an hour ago", "Sun 08 03:00"), ("hace 2 horas", "Sun 08 00:30"),
        ("a day ago", "Sat 07 00:00 - Sun 08 00:00"), ("last night", "Sat 07 18:00 - Sun 08 03:30"), ("midnight", "Sun 08 00:00"),
        ("ayer a las 5", "Sat 07 05:00 - Sat 07 17:00"),
    ],
)  # fmt: skip
def test_lengths_are_counted_by_the_clock_where_the_clocks_go_forward(text: str, meant: str) -> None:
    said = read_said_time(text, datetime(2026, 3, 8, 10, 30, tzinfo=UTC), LOS_ANGELES)
    assert said is not None
    assert told(said) == meant


def test_an_open_hour_that_comes_twice_that_night_says_so() -> None:
    said = read_said_time("today at 1:30", datetime(2026, 11, 1, 22, 0, tzinfo=UTC), LOS_ANGELES)
    assert said == SaidTime(datetime(2026, 11, 1, 8, 30, tzinfo=UTC), datetime(2026, 11, 1, 21, 30, tzinfo=UTC), on_clock_change=True)


@pytest.mark.parametrize("days", range(7))
@pytest.mark.parametrize("name", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
def test_last_and_the_name_of_a_day_is_read_where_weeks_agree(name: str, days: int) -> None:
    now = TUESDAY + timedelta(days=days)
    said = read_said_time(f"last {name}", now, LOS_ANGELES)
    # The last day of this name, and that of last week: by weeks that begin on Sunday, and by those that begin on Monday.
    today = now.astimezone(LOS_ANGELES).date()
    before = [today - timedelta(days=back) for back in range(1, 15)]
    readings = {next(day for day in before if day.strftime("%A") == name)}
    for first in (6, 0):
        week = today - timedelta(days=(today.weekday() - first) % 7)
        readings.add(next(day for day in before if day < week and day.strftime("%A") == name))
    if len(readings) == 1:
        assert said is not None
        assert said.earliest.astimezone(LOS_ANGELES).date() == readings.pop()
    else:
        assert said is None


@given(st.integers(1, 12), st.sampled_from(["yesterday", "ayer", "Monday", "el lunes", "11/30/26"]), st.booleans())
def test_an_hour_of_a_day_is_the_same_read_alone_or_with_its_half(hour: int, day: str, is_afternoon: bool) -> None:
    said = read_said_time(f"{day} at {hour}", TUESDAY, LOS_ANGELES)
    whole = read_said_time(f"{day} at {hour} {'pm' if is_afternoon else 'am'}", TUESDAY, LOS_ANGELES)
    assert said is not None
    assert whole is not None
    assert whole.earliest == whole.latest == (said.latest if is_afternoon else said.earliest)
    assert said.latest - said.earliest == timedelta(hours=12)


@given(
    st.integers(1, 600),
    st.sampled_from(["minutes ago", "minutes", "min ago", "mins"]),
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds
)
def test_minutes_back_are_minutes_by_the_clock_on_every_night(minutes: int, words: str, now: datetime) -> None:
    moment = now - timedelta(minutes=minutes)
    assert read_said_time(f"{minutes} {words}", now, LOS_ANGELES) == SaidTime(moment, moment)


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
