"""A count as a strip of calendar days: the day left out, each day counted or skipped with its reason, the last day, the extension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from deadlines.facts import local_instant
from deadlines.limits import Count

Kind = Literal["start", "counted", "skipped", "due", "extended", "gap"]

# Days without anything to say for themselves are left out of the middle of longer strips.
_LONGEST, _KEPT = 40, 8


@dataclass(frozen=True, slots=True)
class Cell:
    """One local day of a strip; a gap has no day. `label` is short (`3`, `6 h`), `note` says why, and is often empty."""

    day: date | None
    kind: Kind
    label: str
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The cell as JSON has it."""
        return {"day": self.day.isoformat() if self.day else None, "kind": self.kind, "label": self.label, "note": self.note}


def strip_of(counted: Count) -> list[Cell]:
    """The strip of a finished count, earliest day first, also where it is counted backward."""
    match counted.limit.shape:
        case "calendar days" | "open days":
            cells = [*_counted_days(counted), *_extension(counted)]
        case "elapsed":
            cells = list(_elapsed(counted))
        case "immediately":  # people are told "immediately", never its outer bound
            cells = list(_two_ends(counted))
        case _:
            cells = list(_two_ends(counted))
    return _shortened(cells)


def _counted_days(counted: Count) -> list[Cell]:
    days = list(counted.days())
    last = counted.due_at.astimezone(counted.zone).date()
    cells = [
        Cell(days[0].day, "start", "", "the day of the act: not counted" if counted.limit.backward else "the day it starts: not counted")
    ]
    for part in days[1:]:
        if part.number is None:
            cells.append(Cell(part.day, "skipped", "", part.reason))
        else:
            cells.append(Cell(part.day, "due" if part.day == last else "counted", str(part.number)))
    return cells[::-1] if counted.limit.backward else cells


def _extension(counted: Count) -> Iterator[Cell]:
    """The closed days after a last day that is closed itself, and the day on which the law may still let the act be done."""
    if counted.extended_due_at is None:
        return
    last = counted.extended_due_at.astimezone(counted.zone).date()
    day = counted.due_at.astimezone(counted.zone).date() + timedelta(days=1)
    while day < last:
        yield Cell(day, "skipped", "", counted.calendar.why_closed(day) or "")
        day += timedelta(days=1)
    yield Cell(last, "extended", "", f"{counted.calendar.extended_by} may let it be done until this day")


def _elapsed(counted: Count) -> Iterator[Cell]:
    """The hours that pass on each local day; a day on which clocks change says how long it is."""
    zone, start, due = counted.zone, counted.starts_at, counted.due_at
    day, last = start.astimezone(zone).date(), due.astimezone(zone).date()
    while day <= last:
        begin, end = _midnight(day, zone), _midnight(day + timedelta(days=1), zone)
        passed = min(due, end) - max(start, begin)
        kind: Kind = "due" if day == last else "start" if begin <= start else "counted"
        yield Cell(day, kind, _span(passed), _change(end - begin))
        day += timedelta(days=1)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return local_instant(datetime.combine(day, time()), zone).astimezone(UTC)


def _change(length: timedelta) -> str:
    if length == timedelta(days=1):
        return ""
    return f"clocks go {'forward' if length < timedelta(days=1) else 'back'}: this day has {_span(length)}"


def _span(span: timedelta) -> str:
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{number} {unit}" for number, unit in ((hours, "h"), (minutes, "min"), (seconds, "s")) if number]
    return " ".join(parts) or "0 min"


def _two_ends(counted: Count) -> Iterator[Cell]:
    """What is not counted day by day: years, an officer's date, the moment of the act itself."""
    first, last = sorted((counted.starts_at.astimezone(counted.zone).date(), counted.due_at.astimezone(counted.zone).date()))
    if first != last:
        yield Cell(first, "start", "")
        if (last - first).days > 1:
            yield Cell(None, "gap", f"{(last - first).days - 1} days")
    label = "at once" if counted.limit.shape == "immediately" else ""
    notes = {"comply by": "the order sets this day", "years": f"{counted.limit.text} later", "before act": "before the act"}
    yield Cell(last, "due", label, notes.get(counted.limit.shape, ""))


def _shortened(cells: Sequence[Cell]) -> list[Cell]:
    """The strip with long runs of plain counted days left out of its middle; a skipped day is never left out."""
    if len(cells) <= _LONGEST:
        return list(cells)
    kept: list[Cell] = []
    run: list[Cell] = []
    for cell in [*cells, Cell(None, "gap", "")]:
        if cell.kind == "counted":
            run.append(cell)
            continue
        if len(run) > 2 * _KEPT:
            run = [*run[: _KEPT // 2], Cell(None, "gap", f"{len(run) - _KEPT} days"), *run[-_KEPT // 2 :]]
        kept += [*run, cell]
        run = []
    return kept[:-1]


def strip_as_json(counted: Count | None) -> list[dict[str, Any]]:
    """The strip as JSON; empty for a clock that has not started."""
    return [] if counted is None else [cell.as_json() for cell in strip_of(counted)]
