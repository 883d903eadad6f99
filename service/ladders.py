"""The ladder of an obligation as it is stored with it: its rungs at their moments, and the steps that a climb takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from deadlines import PlannedRung, Rung, plan
from service.tables import Obligation

OPEN_STATES = ("running", "overdue")
# A rung that goes out later than this after its moment missed it, and its message says so.
PUNCTUAL = timedelta(seconds=60)
_AT_ONCE = "at once"
# An acknowledgement counts for so long where the ladder does not say: for a duty of hours, and for one of days.
_ACK_OF_HOURS, _ACK_OF_DAYS = timedelta(minutes=30), timedelta(hours=12)
_A_DAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Step:
    """What a climb does: the rungs it stands for, and whether they were brought forward because the rung before reached nobody.

    `seen` is the person whose acknowledgement kept these rungs back until it expired, and when they gave it.
    """

    rungs: Sequence[PlannedRung]
    at_once: bool = False
    seen: tuple[str, datetime] | None = None

    @property
    def steps(self) -> list[str]:
        """The names of the rungs."""
        return [rung.step for rung in self.rungs]

    @property
    def name(self) -> str:
        """What the step is called: by the last of its rungs."""
        return self.rungs[-1].step + (f" {_AT_ONCE}" if self.at_once else "")

    def climb_of(self, obligation: Obligation) -> str:
        """What all messages of this climb have alike."""
        return f"{climbing(obligation)}{','.join(self.steps)}{f':{_AT_ONCE}' if self.at_once else ''}"

    def late_since(self, now: datetime, received_at: datetime) -> datetime | None:
        """Since when its first rung has been late; None where it goes out in time, or could never go out at its moment: it was brought
        forward, kept back by somebody, or lay before the spill was reported."""
        first = self.rungs[0].at
        is_late = now - first > PUNCTUAL and first >= received_at
        return first if is_late and not self.at_once and self.seen is None else None


def climbing(obligation: Obligation) -> str:
    """What the climbs of an obligation begin with as it is planned now; a message of an earlier plan names a due time that has moved."""
    return f"{obligation.id}:{obligation.plan_no}:"


def steps_of(climb: str) -> list[str]:
    """The steps that the messages of a climb stand for."""
    return climb.split(":")[2].split(",")


def frozen_ladder(rungs: Sequence[Rung]) -> list[dict[str, Any]]:
    """A ladder as it is stored with an obligation, so that a later edit of the pack does not change a climb under way."""
    return [
        {
            "at": rung.step, "tell": list(rung.tell), "by": list(rung.by), "unless_acknowledged": rung.unless_acknowledged,
            "every_seconds": rung.every.total_seconds() if rung.every else None, "times": rung.times, "growing": rung.growing,
            "ack_seconds": rung.ack_lasts.total_seconds() if rung.ack_lasts else None,
        }
        for rung in rungs
    ]  # fmt: skip


def planned(obligation: Obligation) -> list[PlannedRung]:
    """The rungs of an obligation at their moments; none where it waits for its start."""
    if obligation.begins_at is None or obligation.due_at is None:
        return []
    rungs = []
    for stored in obligation.ladder:  # what a release before this one stored lacks the newer keys
        from_due, offset = Rung.parse_at(stored["at"])
        every, lasts = (timedelta(seconds=stored[key]) if stored.get(key) else None for key in ("every_seconds", "ack_seconds"))
        tell, by = tuple(stored["tell"]), tuple(stored["by"])
        unless = stored["unless_acknowledged"]
        rungs.append(Rung(stored["at"], from_due, offset, tell, by, unless, every, stored["times"], stored.get("growing", 1), lasts))
    return plan(tuple(rungs), obligation.begins_at, obligation.due_at)


def ladder_of(obligation: Obligation, now: datetime) -> list[PlannedRung]:
    """The rungs still to come, for people to see; empty once the duty is closed."""
    return [rung for rung in planned(obligation) if rung.at > now] if obligation.state in OPEN_STATES else []


def acknowledgement_lasts(obligation: Obligation, rung: PlannedRung) -> timedelta:
    """For how long an acknowledgement keeps this rung back: as its ladder says, else 30 minutes, or 12 hours for a duty of 24 or more."""
    if rung.ack_lasts is not None:
        return rung.ack_lasts
    if obligation.begins_at is None or obligation.due_at is None:
        return _ACK_OF_HOURS
    return _ACK_OF_HOURS if obligation.due_at - obligation.begins_at < _A_DAY else _ACK_OF_DAYS
