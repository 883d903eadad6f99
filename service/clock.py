"""The one module that reads the clock. Everything else is handed `now`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

# What tells the time: the real clock, or a test's or rehearsal's own. Always aware, always UTC.
Now = Callable[[], datetime]


def real_now() -> datetime:
    """The present instant, aware, in UTC."""
    return datetime.now(UTC)
