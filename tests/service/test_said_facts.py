"""A report whose amount and time are words, as it goes into the facts: read with a flag, or left out with one; never an alarm for words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from service.said_facts import IN_WORDS, seen_at_of, volume_of

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
TUESDAY = datetime(2026, 12, 1, 22, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("told", "volume", "flag"),
    [
        ("200 gallons", {"quantity": 200, "unit": "gal"}, None),
        ({"quantity": "200", "unit": "liters"}, {"quantity": 200, "unit": "L"}, None),
        ({"quantity": "20 gallons", "unit": "L"}, {"quantity": 20, "unit": "gal"}, "though the unit beside it is L"),
        ({"quantity": "20 liters", "unit": "gal"}, {"quantity": 20, "unit": "L"}, None),
        ({"quantity": 3, "unit": "buckets"}, {"low": 6, "high": 15, "unit": "gal"}, "'3 buckets' was read as 6 to 15 gal"),
        ("two buckets", {"low": 4, "high": 10, "unit": "gal"}, "'two buckets' was read as 4 to 10 gal (bucket: 2 to 5 gal each)"),
        ("more than 50 gallons", None, "'more than 50 gallons' says at least 50 gal, and not how much at most (left out)"),
        ("a lot", None, "'a lot' says no amount that can be read (left out)"),
    ],
)
def test_words_of_an_amount_are_read_and_flagged(told: Any, volume: dict[str, Any] | None, flag: str | None) -> None:
    flags: list[str] = []
    assert volume_of(told, flags) == volume
    assert all(one.startswith(IN_WORDS) for one in flags)
    assert [one for one in flags if flag is not None and flag in one] == flags
    assert bool(flags) == (flag is not None)


@pytest.mark.parametrize("told", ["-5", "1e99", "$$", {"quantity": "1.500", "unit": "gal"}, 5, [1500], True])
def test_what_is_neither_words_nor_a_number_asks_for_a_person(told: Any) -> None:
    flags: list[str] = []
    assert volume_of(told, flags) is None
    [flag] = flags
    assert flag.startswith("volume: ")
    assert not flag.startswith(IN_WORDS)


@pytest.mark.parametrize(
    ("told", "language", "seen_at"),
    [
        ("2026-12-01T13:30", "en", datetime(2026, 12, 1, 21, 30, tzinfo=UTC)),
        ("2 hours ago", "en", datetime(2026, 12, 1, 20, 5, tzinfo=UTC)),
        ("hace dos horas", "es", datetime(2026, 12, 1, 20, 5, tzinfo=UTC)),
        ("yesterday evening", "en", datetime(2026, 12, 1, 1, 0, tzinfo=UTC)),
        ("11/12", "es", None), ("whenever", "en", None), (7, "en", None), (True, "en", None),
    ],
)  # fmt: skip
def test_a_time_is_read_from_words_or_left_out_with_a_flag(told: Any, language: str, seen_at: datetime | None) -> None:
    flags: list[str] = []
    assert seen_at_of({"seen_at": told, "language": language}, TUESDAY, LOS_ANGELES, flags) == seen_at
    assert bool(flags) == (seen_at is None or not str(told).startswith("2026"))
    assert all(flag.startswith(IN_WORDS) for flag in flags) == (seen_at is not None)


def test_a_report_without_a_time_says_nothing_about_it() -> None:
    flags: list[str] = []
    assert seen_at_of({}, TUESDAY, LOS_ANGELES, flags) is None
    assert flags == []
