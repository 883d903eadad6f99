"""How time is counted, in every zone and season, and whether the steps told to people lead to the very due time."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from deadlines import CalendarGap, Rulebook, assess
from deadlines.facts import local_instant
from deadlines.limits import Count, Limit, count, told
from tests.deadlines.case_files import NOW, all_cases, read, rulebook

PACIFIC = ZoneInfo("America/Los_Angeles")
CALENDAR = rulebook().law_of("ontario").calendar
ZONES = sorted(available_timezones())
AN_HOUR = timedelta(hours=1)
STEP = re.compile(
    r"[A-Z][a-z]{2} (?P<day>\d{4}-\d{2}-\d{2}): "
    r"(?:(?:[Ww]orking |[Bb]usiness )?[Dd]ay (?P<number>\d+)(?: before)?|not counted, (?P<why>.+))\."
)
LAST = re.compile(r"Due .+ \((?P<due>[0-9T:.-]+Z)\)(?:, at closing time)?\.")


def moments(first_year: int, last_year: int) -> st.SearchStrategy[datetime]:
    first, last = (int(datetime(year, 1, 31, tzinfo=UTC).timestamp()) for year in (first_year, last_year))
    return st.integers(first, last).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


instants, any_instant = moments(2024, 2031), moments(1972, 2190)
zones = st.sampled_from(ZONES).map(ZoneInfo)


@cache
def chino_moved_to(zone: str) -> Rulebook:
    """The rulebook as it would be if Chino lay elsewhere."""
    book = rulebook()
    return Rulebook({**book.packs, "chino": replace(book.packs["chino"], zone=ZoneInfo(zone))}, book.quantities)


@given(any_instant, zones, st.integers(1, 2000))
def test_hours_are_elapsed_hours_in_every_zone_and_season(start: datetime, zone: ZoneInfo, hours: int) -> None:
    counted = count(Limit.parse(f"{hours} hours"), start, zone, CALENDAR)
    assert counted is not None
    assert counted.due_at - start == timedelta(seconds=hours * 3600)


@settings(max_examples=60)
@given(instants, st.sampled_from(ZONES))
def test_a_day_of_24_hours_is_86400_seconds_wherever_the_city_lies(start: datetime, zone: str) -> None:
    facts = replace(read({"jurisdiction": "chino", "known_at": "2026-01-01T00:00:00Z", "threat": True}), known_at=start)
    due = {clock.duty: clock.due_at for clock in assess(facts, chino_moved_to(zone), NOW).clocks}
    assert due["chino/rwqcb-24-hours"] == start + timedelta(seconds=86_400)
    assert due["chino/rwqcb-2-hours"] == start + timedelta(seconds=7_200)
    assert due["chino/public-works-immediate"] == start + timedelta(seconds=900)


@given(any_instant, zones, st.integers(1, 200))
def test_a_change_of_the_clocks_is_told_where_the_wall_shows_it(start: datetime, zone: ZoneInfo, hours: int) -> None:
    counted = count(Limit.parse(f"{hours} hours"), start, zone, CALENDAR)
    assert counted is not None
    shift = (counted.due_at.astimezone(zone).utcoffset() or timedelta()) - (start.astimezone(zone).utcoffset() or timedelta())
    told_shifts = [line for line in counted.steps() if line.startswith("Clocks go")]
    assert len(told_shifts) == (1 if shift else 0)
    assert all((" forward " if shift > timedelta() else " back ") in line for line in told_shifts)


@pytest.mark.parametrize("limit", ["immediately", "30 minutes", "2 hours", "24 hours", "72 hours"])
@pytest.mark.parametrize("start", ["2026-03-08T01:50:00-08:00", "2026-11-01T00:50:00-07:00", "2026-11-01T01:50:00-07:00"])
def test_an_elapsed_limit_runs_through_the_night_of_the_change(limit: str, start: str) -> None:
    counted = count(Limit.parse(limit), datetime.fromisoformat(start).astimezone(UTC), PACIFIC, CALENDAR)
    assert counted is not None
    spans = {"immediately": 0.25, "30 minutes": 0.5, "2 hours": 2, "24 hours": 24, "72 hours": 72}
    assert counted.due_at - counted.starts_at == spans[limit] * AN_HOUR


def of_days(limit: str, start: datetime, zone: ZoneInfo = PACIFIC) -> Count:
    """A count that has to succeed; an example out of the calendar's reach is passed over."""
    try:
        counted = count(Limit.parse(limit), start, zone, CALENDAR)
    except CalendarGap:
        reject()
    assert counted is not None
    return counted


@given(instants, st.integers(1, 90), st.booleans())
def test_calendar_days_end_one_second_before_midnight_of_the_last_day(start: datetime, days: int, backward: bool) -> None:
    due = of_days(f"{days} calendar days{' before' if backward else ''}", start).due_at.astimezone(PACIFIC)
    step = timedelta(days=-days if backward else days)
    assert due.date() == start.astimezone(PACIFIC).date() + step
    assert due.time() == time(23, 59, 59)


@given(instants, st.integers(1, 60), st.sampled_from(["working", "business"]), st.booleans())
def test_working_days_end_at_closing_time_of_an_open_day(start: datetime, days: int, word: str, backward: bool) -> None:
    counted = of_days(f"{days} {word} days{' before' if backward else ''}", start)
    due, begun = counted.due_at.astimezone(PACIFIC), start.astimezone(PACIFIC).date()
    assert CALENDAR.why_closed(due.date()) is None
    assert due.time() == time(17)
    assert (due.date() < begun) is backward
    between = [min(begun, due.date()) + timedelta(days=n) for n in range(abs((due.date() - begun).days) + 1)]
    assert sum(CALENDAR.why_closed(day) is None for day in between if day != begun) == days


@given(instants, st.integers(1, 60))
def test_a_business_day_on_saturday_is_another_reading_and_never_later(start: datetime, days: int) -> None:
    counted = of_days(f"{days} business days", start)
    begun = start.astimezone(PACIFIC).date()
    for other in counted.other_readings:
        assert other.due_at < counted.due_at
        last = other.due_at.astimezone(PACIFIC).date()
        passed = [begun + timedelta(days=n) for n in range(1, (last - begun).days + 1)]
        assert sum(day.weekday() != 6 and day not in CALENDAR.closures for day in passed) == days
    assert counted.extended_due_at is None


@given(instants, st.integers(1, 90))
def test_the_extension_is_shown_where_the_last_day_is_closed_and_only_there(start: datetime, days: int) -> None:
    counted = of_days(f"{days} calendar days", start)
    last = counted.due_at.astimezone(PACIFIC).date()
    assert (counted.extended_due_at is not None) is (CALENDAR.why_closed(last) is not None)
    if counted.extended_due_at is not None:
        extended = counted.extended_due_at.astimezone(PACIFIC)
        assert extended.time() == time(23, 59, 59)
        assert all(CALENDAR.why_closed(last + timedelta(days=n)) for n in range((extended.date() - last).days))
        assert CALENDAR.why_closed(extended.date()) is None


@given(instants, st.integers(1, 90))
def test_days_counted_back_have_no_extension_whatever_the_day(start: datetime, days: int) -> None:
    assert of_days(f"{days} calendar days before", start).extended_due_at is None
    assert of_days(f"{days} working days before", start).extended_due_at is None


@given(instants, st.integers(1, 100))
def test_years_end_on_the_same_day_or_on_28_february(start: datetime, years: int) -> None:
    due, begun = of_days(f"{years} years", start).due_at.astimezone(PACIFIC), start.astimezone(PACIFIC).date()
    assert due.year == begun.year + years
    assert (due.month, due.day) == (begun.month, begun.day) or ((begun.month, begun.day) == (2, 29) and (due.month, due.day) == (2, 28))
    assert due.time() == time(23, 59, 59)


limits = st.one_of(
    st.sampled_from(["immediately", "before the act"]),
    st.builds("{} {}".format, st.integers(1, 100), st.sampled_from(["minutes", "hours", "years"])),
    st.builds(
        "{} {} days{}".format, st.integers(1, 60), st.sampled_from(["calendar", "working", "business"]), st.sampled_from(["", " before"])
    ),
)


@given(limits, any_instant, zones)
def test_the_last_step_told_is_the_very_due_time(limit: str, start: datetime, zone: ZoneInfo) -> None:
    counted = of_days(limit, start, zone)
    found = LAST.fullmatch(counted.steps()[-1])
    assert found
    assert datetime.fromisoformat(found["due"]) == counted.due_at


@settings(max_examples=300)
@given(limits, instants)
def test_every_step_can_be_checked_by_hand_with_a_calendar(limit: str, start: datetime) -> None:
    counted = of_days(limit, start)
    steps = [found for found in map(STEP.fullmatch, counted.steps()) if found]
    if " days" not in limit:
        assert not steps
        return
    days = [date.fromisoformat(step["day"]) for step in steps]
    way = -1 if limit.endswith("before") else 1
    assert days == [days[0] + timedelta(days=n * way) for n in range(len(days))], "no day is passed over in silence"
    assert days[0] == start.astimezone(PACIFIC).date()
    assert steps[0]["why"] == ("the day of the act" if way < 0 else "the day of the start")
    numbers = [int(step["number"]) for step in steps if step["number"]]
    assert numbers == list(range(1, int(limit.split()[0]) + 1))
    assert steps[-1]["number"]
    assert days[-1] == counted.due_at.astimezone(PACIFIC).date()
    for step, day in zip(steps[1:], days[1:], strict=True):
        closed = CALENDAR.why_closed(day) if "calendar" not in limit else None
        assert step["why"] == closed


def test_the_steps_of_every_case_lead_to_its_due_time() -> None:
    for case in all_cases():
        for clock in assess(read(case.facts), rulebook(), case.now).clocks:
            last = clock.counting()[-1]
            found = LAST.fullmatch(last)
            assert bool(found) is (clock.due_at is not None), f"{case}: {last}"
            assert found is None or datetime.fromisoformat(found["due"]) == clock.due_at, f"{case}: {last}"


def test_an_extension_is_told_with_its_reason_and_its_day() -> None:
    steps = of_days("7 calendar days", datetime(2026, 12, 18, 18, tzinfo=UTC)).steps()
    assert steps[-2] == (
        "Fri 2026-12-25 is Christmas Day (5 USC 6103(a); Gov. Code 6700(a)): Code Civ. Proc. 12a and Civ. Code 11 may let the act be done "
        "until Mon 2026-12-28 23:59:59 PST (2026-12-29T07:59:59Z); the stricter day is kept."
    )


def test_a_later_week_of_a_recurring_duty_goes_on_from_the_week_before() -> None:
    limit = Limit.parse("every 7 calendar days until ended_at").nth(3)
    counted = count(limit, datetime(2026, 6, 1, 15, 10, tzinfo=UTC), PACIFIC, CALENDAR)
    assert counted is not None
    days = [line for line in counted.steps() if STEP.fullmatch(line)]
    assert days[0] == "Mon 2026-06-01: not counted, the day of the start."
    assert days[1:3] == ["Mon 2026-06-15: Day 14.", "Tue 2026-06-16: Day 15."]
    assert days[-1] == "Mon 2026-06-22: Day 21."
    assert len(days) == 1 + 1 + 7


def test_a_date_that_an_order_sets_is_not_called_immediately() -> None:
    start = datetime(2026, 6, 1, 15, tzinfo=UTC)
    limit = Limit.parse("comply_by, else immediately")
    own, none = (count(limit, start, PACIFIC, CALENDAR, at) for at in (start + timedelta(minutes=15), None))
    assert own is not None
    assert none is not None
    assert own.due_at == none.due_at
    assert own.steps()[1] == "The order itself sets the time to comply."
    assert none.steps()[1].startswith("Immediately:")


def test_an_order_that_sets_no_date_has_no_count() -> None:
    assert count(Limit.parse("comply_by"), datetime(2026, 6, 1, tzinfo=UTC), PACIFIC, CALENDAR) is None


def test_a_fraction_of_a_second_is_told_as_it_is_kept() -> None:
    moment = datetime(2026, 6, 1, 15, 0, 0, 500_000, tzinfo=UTC)
    assert told(moment, PACIFIC) == "Mon 2026-06-01 08:00:00 PDT (2026-06-01T15:00:00.500000Z)"


def test_a_last_day_beyond_the_calendar_is_due_and_says_that_the_holiday_is_unknown() -> None:
    counted = of_days("30 calendar days", datetime(2031, 12, 20, 20, tzinfo=UTC))
    assert counted.due_at == datetime(2032, 1, 20, 7, 59, 59, tzinfo=UTC)
    assert counted.extended_due_at is None
    assert counted.steps()[-2] == "Whether the last day is a holiday cannot be told: calendar ontario ends on 2031-12-31."


@pytest.mark.parametrize(
    ("limit", "start"), [("5 working days", "2031-12-26"), ("1 business days", "2031-12-31"), ("1 working day", "2023-12-29")]
)
def test_a_count_that_runs_past_the_calendar_is_an_error_that_says_so(limit: str, start: str) -> None:
    with pytest.raises(CalendarGap, match=r"calendar ontario covers 2024-01-01 to 2031-12-31; \d{4}-\d{2}-\d{2} lies outside"):
        count(Limit.parse(limit), datetime.fromisoformat(start).replace(hour=20, tzinfo=UTC), PACIFIC, CALENDAR)


@pytest.mark.parametrize(
    ("limit", "closes"),
    [("2 hours", False), ("1 working day", True), ("3 business days", True), ("5 days", False), ("1 year", False), ("90 minutes", False)],
)
def test_a_limit_is_read_as_a_person_would_write_it(limit: str, closes: bool) -> None:
    parsed = Limit.parse(limit)
    assert parsed.text == limit
    assert (parsed.shape == "open days") is closes


def test_plain_days_are_read_as_calendar_days() -> None:
    assert replace(Limit.parse("5 days"), text="") == replace(Limit.parse("5 calendar days"), text="")


@pytest.mark.parametrize(
    "limit",
    ["", "soon", "two hours", "0 hours", "2 fortnights", "5 hours before", "3 years before", "-1 hours", "1.5 hours", "999999 hours",
     "every 0 calendar days until ended_at", "every 7 working days until ended_at", "every 7 calendar days", "24 Hours", "100000 days"],
)  # fmt: skip
def test_a_limit_that_nobody_could_mean_is_refused(limit: str) -> None:
    with pytest.raises(ValueError, match=r"is not a limit|no believable limit|only days are counted back"):
        Limit.parse(limit)


@pytest.mark.parametrize(
    ("local", "instant"),
    [
        ("2026-03-08T02:30:00", "2026-03-08T09:30:00+00:00"), ("2026-11-01T01:30:00", "2026-11-01T08:30:00+00:00"),
        ("2026-03-08T01:59:59", "2026-03-08T09:59:59+00:00"), ("2026-03-08T03:00:00", "2026-03-08T10:00:00+00:00"),
        ("2026-11-01T02:00:00", "2026-11-01T10:00:00+00:00"),
    ],
)  # fmt: skip
def test_a_local_time_in_the_gap_or_the_fold_is_the_earlier_instant(local: str, instant: str) -> None:
    assert local_instant(datetime.fromisoformat(local), PACIFIC) == datetime.fromisoformat(instant)
