"""Quiet hours in local time, over midnight and over the nights on which the clocks change."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from service.quiet_hours import quiet_until, read_quiet, waits_until
from service.tables import Obligation

PACIFIC = ZoneInfo("America/Los_Angeles")
NIGHT = ("22:00", "06:00")


def there(text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=PACIFIC, fold=fold).astimezone(UTC)


@pytest.mark.parametrize(
    ("now", "quiet", "end"),
    [
        ("2026-12-01T23:00", NIGHT, "2026-12-02T06:00"), ("2026-12-01T05:59", NIGHT, "2026-12-01T06:00"),
        ("2026-12-01T22:00", NIGHT, "2026-12-02T06:00"), ("2026-12-01T06:00", NIGHT, None), ("2026-12-01T21:59", NIGHT, None),
        ("2026-12-01T13:00", ("12:00", "14:00"), "2026-12-01T14:00"), ("2026-12-01T11:00", ("12:00", "14:00"), None),
        ("2026-12-01T03:00", None, None),
        # The night of 8 March 2026 has no half past two; the one of 1 November has half past one twice.
        ("2026-03-07T23:00", NIGHT, "2026-03-08T06:00"), ("2026-10-31T23:00", NIGHT, "2026-11-01T06:00"),
        ("2026-03-08T01:00", ("22:00", "02:30"), "2026-03-08T03:30"), ("2026-11-01T01:00", ("22:00", "01:30"), "2026-11-01T01:30"),
    ],
)  # fmt: skip
def test_a_quiet_time_ends_at_its_local_time(now: str, quiet: tuple[str, str] | None, end: str | None) -> None:
    assert quiet_until(there(now), quiet, PACIFIC) == (there(end) if end else None)


def test_a_night_in_which_the_clocks_go_back_is_an_hour_longer() -> None:
    begins = there("2026-10-31T22:00")
    end = quiet_until(begins, NIGHT, PACIFIC)
    assert end is not None
    assert end - begins == timedelta(hours=9)


def test_the_second_half_past_one_is_no_longer_quiet_where_that_ends_at_the_first() -> None:
    assert quiet_until(there("2026-11-01T01:30", fold=1), ("22:00", "01:30"), PACIFIC) is None


@pytest.mark.parametrize(("hours_left", "waits"), [(48, True), (24.01, True), (24, False), (23, False), (0, False), (-5, False)])
def test_only_what_has_more_than_24_hours_left_waits(hours_left: float, waits: bool) -> None:
    now = there("2026-12-01T23:00")
    due_at = now + timedelta(hours=hours_left)
    row = Obligation(spill_id=1, duty="x", state="running", clock={}, act="", content={}, ladder=[], due_at=due_at)
    assert (waits_until(now, NIGHT, PACIFIC, row) is not None) is waits
    row.state = "overdue"
    assert waits_until(now, NIGHT, PACIFIC, row) is None


@pytest.mark.parametrize("text", ["", "22:00", "22-06", "22:00-22:00", "24:00-06:00", "22:00 - 06:00"])
def test_hours_that_are_no_span_of_a_day_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no span of a day"):
        read_quiet(text)
