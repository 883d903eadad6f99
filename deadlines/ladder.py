"""Ladders: who is woken when, before and after a due moment. Pure: given the moments of a clock, it says which rungs stand where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

ROLES = ("discharger", "duty_officer", "supervisor", "director")
CHANNELS = ("sms", "email", "voice", "webhook", "apprise")

_AT = re.compile(r"(start|due)(?:([+-])(\d+)([mhd]))?")
_SPAN = re.compile(r"(\d+)([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
# However gaps grow, a duty that is overdue is told of once a day at least.
LONGEST_GROWN_GAP = timedelta(days=1)


def read_span(text: str) -> timedelta:
    """`15m`, `4h`, `2d` as a span of elapsed time. Raises ValueError."""
    found = _SPAN.fullmatch(text)
    if not found or int(found[1]) == 0:
        raise ValueError(f"{text!r} is not a span of time")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


@dataclass(frozen=True, slots=True)
class Rung:
    """One line of a ladder. `from_due` counts `offset` from the due moment, else from the start.

    Repeats are spaced by `every`, each gap `growing` times the one before, up to a day. `ack_lasts` is for how long an acknowledgement
    keeps a rung with `unless_acknowledged` back; None leaves that to the length of the duty.
    """

    step: str
    from_due: bool
    offset: timedelta
    tell: tuple[str, ...]
    by: tuple[str, ...]
    unless_acknowledged: bool = False
    every: timedelta | None = None
    times: int = 1
    growing: int = 1
    ack_lasts: timedelta | None = None

    def moments(self, first: datetime) -> list[datetime]:
        """When it and its repeats stand, the first at `first`."""
        moments, gap = [first], self.every or timedelta()
        for _ in range(self.times - 1):
            moments.append(moments[-1] + gap)
            gap = max(gap, min(gap * self.growing, LONGEST_GROWN_GAP))
        return moments

    @classmethod
    def parse_at(cls, text: str) -> tuple[bool, timedelta]:
        """Read `start`, `start+15m`, `due-1h`, `due`, `due+30m`. Raises ValueError."""
        found = _AT.fullmatch(text)
        if not found:
            raise ValueError(f"{text!r} is not a moment of a ladder")
        offset = timedelta() if not found[3] else timedelta(**{_UNITS[found[4]]: int(found[3])})
        return found[1] == "due", -offset if found[2] == "-" else offset


@dataclass(frozen=True, slots=True)
class PlannedRung:
    """A rung at its moment (UTC). `step` names it within its ladder, repeats numbered."""

    at: datetime
    step: str
    tell: tuple[str, ...]
    by: tuple[str, ...]
    unless_acknowledged: bool
    ack_lasts: timedelta | None = None


def plan(rungs: tuple[Rung, ...], begins_at: datetime, due_at: datetime) -> list[PlannedRung]:
    """All rungs of one clock in order of time.

    `begins_at` is the clock's start, or the moment we learned of it where the count runs backward. Rungs that count back
    from the due moment to before the beginning never existed for this clock and are left out.
    """
    planned: list[PlannedRung] = []
    for rung in rungs:
        first = (due_at if rung.from_due else begins_at) + rung.offset
        if rung.from_due and rung.offset < timedelta() and first < begins_at:
            continue
        for number, at in enumerate(rung.moments(first), 1):
            step = rung.step if rung.times == 1 else f"{rung.step}#{number}"
            planned.append(PlannedRung(at, step, rung.tell, rung.by, rung.unless_acknowledged, rung.ack_lasts))
    # A reminder of the start that would come at or after the due moment (15 minutes after the start of a 15-minute clock) adds nothing.
    kept = [rung for rung in planned if not (rung.step.startswith("start+") and rung.at >= due_at)]
    return sorted(kept, key=lambda rung: rung.at)


def due_rungs(planned: list[PlannedRung], after: datetime | None, now: datetime) -> list[PlannedRung]:
    """The rungs later than `after` (None: from the first) and not later than `now`."""
    return [rung for rung in planned if rung.at <= now and (after is None or rung.at > after)]


def next_rung(planned: list[PlannedRung], after: datetime) -> PlannedRung | None:
    """The first rung later than `after`, or None at the top of the ladder."""
    return next((rung for rung in planned if rung.at > after), None)
