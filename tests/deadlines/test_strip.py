"""The strip of days agrees with the count it shows, for every clock of every case, and says why a day is not counted."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from deadlines import assess
from deadlines.limits import Limit, count
from deadlines.strip import Cell, strip_as_json, strip_of
from tests.deadlines.case_files import Case, all_cases, read, rulebook

LOS_ANGELES = ZoneInfo("America/Los_Angeles")


def strip(limit: str, start: str, city: str = "ontario", comply_by: str | None = None) -> list[Cell]:
    by = datetime.fromisoformat(comply_by) if comply_by else None
    counted = count(Limit.parse(limit), datetime.fromisoformat(start), LOS_ANGELES, rulebook().law_of(city).calendar, by)
    assert counted is not None
    return strip_of(counted)


def brief(cells: list[Cell]) -> list[str]:
    return [f"{cell.day:%m-%d} {cell.kind} {cell.label}".strip() if cell.day else f"{cell.kind} {cell.label}" for cell in cells]


def test_working_days_skip_the_weekend_and_thanksgiving_with_their_reasons() -> None:
    cells = strip("5 working days", "2026-11-25T10:00:00-08:00")
    assert brief(cells) == [
        "11-25 start", "11-26 skipped", "11-27 counted 1", "11-28 skipped", "11-29 skipped", "11-30 counted 2", "12-01 counted 3",
        "12-02 counted 4", "12-03 due 5",
    ]  # fmt: skip
    assert [cell.note for cell in cells if cell.kind == "skipped"] == [
        "Thanksgiving Day (5 USC 6103(a); Gov. Code 6700(a))", "Saturday", "Sunday",
    ]  # fmt: skip


def test_a_last_day_that_is_closed_shows_the_way_to_the_extended_day() -> None:
    cells = strip("7 calendar days", "2026-12-18T10:00:00-08:00")
    assert brief(cells)[-4:] == ["12-25 due 7", "12-26 skipped", "12-27 skipped", "12-28 extended"]
    assert "Code Civ. Proc. 12a" in cells[-1].note


def test_a_count_backward_is_shown_in_the_order_of_the_calendar() -> None:
    cells = strip("3 working days before", "2026-12-01T10:00:00-08:00")
    assert brief(cells) == [
        "11-25 due 3",
        "11-26 skipped",
        "11-27 counted 2",
        "11-28 skipped",
        "11-29 skipped",
        "11-30 counted 1",
        "12-01 start",
    ]


@pytest.mark.parametrize(
    ("start", "cells", "note"),
    [
        ("2026-10-31T18:00:00-07:00", ["10-31 start 6 h", "11-01 due 18 h"], "clocks go back: this day has 25 h"),
        ("2026-03-07T14:05:00-08:00", ["03-07 start 9 h 55 min", "03-08 due 14 h 5 min"], "clocks go forward: this day has 23 h"),
        ("2026-06-07T14:05:00-07:00", ["06-07 start 9 h 55 min", "06-08 due 14 h 5 min"], ""),
    ],
)
def test_hours_are_shown_by_the_day_on_which_they_pass(start: str, cells: list[str], note: str) -> None:
    shown = strip("24 hours", start)
    assert brief(shown) == cells
    assert shown[-1].note == note


def test_immediately_is_never_told_in_minutes() -> None:
    assert brief(strip("immediately", "2026-06-07T14:05:00-07:00")) == ["06-07 due at once"]


def test_what_is_not_counted_by_days_shows_both_ends() -> None:
    assert brief(strip("3 years", "2024-02-29T12:00:00-08:00")) == ["02-29 start", "gap 1094 days", "02-28 due"]
    assert brief(strip("comply_by", "2026-06-07T14:05:00-07:00", comply_by="2026-06-08T17:00:00-07:00")) == ["06-07 start", "06-08 due"]
    assert brief(strip("before the act", "2026-06-07T14:05:00-07:00")) == ["06-07 due"]


def test_a_long_strip_leaves_out_plain_days_and_never_a_skipped_one() -> None:
    sixty = strip("60 calendar days", "2026-06-07T14:05:00-07:00")
    assert len(sixty) < 20
    assert [cell.label for cell in sixty if cell.kind == "gap"] == ["51 days"]
    working = strip("45 working days", "2026-06-07T14:05:00-07:00")
    assert sum(cell.kind == "skipped" for cell in working) == 16
    assert working[-1].label == "45"


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_every_strip_ends_on_the_day_its_clock_is_due_and_counts_without_a_gap(case: Case) -> None:
    for clock in assess(read(case.facts), rulebook(), case.now).clocks:
        if clock.counted is None or clock.due_at is None:
            assert strip_as_json(clock.counted) == []
            continue
        cells, zone = strip_of(clock.counted), clock.counted.zone
        (due,) = [cell for cell in cells if cell.kind == "due"]
        assert due.day == clock.due_at.astimezone(zone).date()
        days = [cell.day for cell in cells if cell.day]
        assert days == sorted(days)
        assert [cell.day for cell in cells if cell.kind == "extended"] == (
            [clock.extended_due_at.astimezone(zone).date()] if clock.extended_due_at else []
        )
        assert not [cell for cell in cells if cell.kind == "skipped" and not cell.note]
        if clock.counted.limit.shape in ("calendar days", "open days") and not any(cell.kind == "gap" for cell in cells):
            unbroken(days, jumps=bool(clock.counted.limit.every))


def unbroken(days: list[date], *, jumps: bool) -> None:
    steps = {later - earlier for earlier, later in pairwise(days)}
    assert jumps or steps <= {timedelta(days=1)}
