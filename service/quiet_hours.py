"""Quiet hours: the local times between which a person is not woken by what can wait. A legal clock under 24 hours never waits."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from service.tables import Obligation

# With more left than this, an alert waits for the morning. A duty of 24 hours is never held back, not even by its first alert.
WAITS_WITH_MORE_THAN = timedelta(hours=24)
_SPAN = re.compile(r"((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)")


def read_quiet(text: str) -> tuple[str, str]:
    """Read `22:00-06:00`. Raises ValueError."""
    found = _SPAN.fullmatch(text.strip())
    if not found or found[1] == found[2]:
        raise ValueError(f"{text!r} is no span of a day")
    return found[1], found[2]


def instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    """A local time of a day as a moment (UTC). One that a night skips is as long after midnight; of one it has twice, the first counts."""
    return datetime.combine(day, at, zone).astimezone(UTC)


def quiet_until(now: datetime, quiet: tuple[str, str] | None, zone: ZoneInfo) -> datetime | None:
    """When the quiet time that it is now ends (UTC); None where it is none."""
    if quiet is None:
        return None
    begins, ends = (time.fromisoformat(text) for text in quiet)
    today = now.astimezone(zone).date()
    for day in (today - timedelta(days=1), today):
        end = instant(day + timedelta(days=1) if ends <= begins else day, ends, zone)
        if instant(day, begins, zone) <= now < end:
            return end
    return None


def waits_until(now: datetime, quiet: tuple[str, str] | None, zone: ZoneInfo, obligation: Obligation) -> datetime | None:
    """Until when an alert about an obligation waits for this person; None where it goes at once.

    Nothing waits that is overdue, has no due time, or is due within 24 hours or before the quiet time is over.
    """
    due_at = obligation.due_at
    if due_at is None or obligation.state != "running" or due_at - now <= WAITS_WITH_MORE_THAN:
        return None
    end = quiet_until(now, quiet, zone)
    return end if end is not None and end < due_at else None
