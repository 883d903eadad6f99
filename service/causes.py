"""Why it came to a spill, as staff find out. The law asks for it in reports and a city counts by it; no clock hangs on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.errors import BadInput
from service.events import CauseFound, SpillEvent
from service.fact_sources import SOURCES, STAFF
from service.speech import marked
from service.spills import clean
from service.tables import EventRow, Spill
from service.transaction import Transaction

# The first six are those of the State's sewer spill reports; the rest are what cities find behind spills into storm drains.
CAUSES: Mapping[str, str] = {
    "grease": marked("Pipe blocked by grease"),
    "roots": marked("Pipe blocked by roots"),
    "debris": marked("Pipe blocked by debris or rags"),
    "pipe_failure": marked("Pipe broken or collapsed"),
    "pump_failure": marked("Pump or power failed"),
    "rain": marked("More rain or flow than the system takes"),
    "vandalism": marked("Vandalism"),
    "damage_by_works": marked("Damaged by digging or building"),
    "collision": marked("Vehicle or train accident"),
    "container_failure": marked("Tank, drum or hose failed"),
    "overfilled": marked("Overfilled, or spilled in handling"),
    "washed_off": marked("Washed or hosed into the gutter"),
    "dumped": marked("Dumped on purpose"),
    "storage": marked("Stored where rain reaches it"),
    "fire": marked("Fire, or water used against it"),
    "natural": marked("Earthquake, slide or flood"),
    "other": marked("Something else"),
}
LONGEST = 2000


async def find_cause(tx: Transaction, spill: Spill, cause: str, note: str = "", source: str = STAFF) -> bool:
    """Record the cause, or with an empty one that it is not known after all. Returns False where that is on record already.

    Raises BadInput for a word that is no cause, and for `other` without a note that says which.
    """
    note, faults = clean(note), []
    if cause and cause not in CAUSES:
        faults.append(f"cause: {clean(cause)[:60]!r} is none of the causes; right would be: {', '.join(CAUSES)}, or nothing for not known")
    if cause == "other" and not note:
        faults.append("note: missing; right would be: what it was, in a few words")
    if len(note) > LONGEST:
        faults.append(f"note: over {LONGEST:,} characters; right would be: fewer")
    if source not in SOURCES:
        faults.append(f"source: {clean(source)[:40]!r} is not a source; right would be: one of {', '.join(SOURCES)}")
    if faults:
        raise BadInput("the cause cannot be recorded so", faults)
    found = CauseFound(cause=cause, note=note, source=source, before=spill.cause)
    last = next(iter(causes_in(await tx.history(spill))), None)
    if (last is None and not cause) or (last is not None and (last[1].cause, last[1].note, last[1].source) == (cause, note, source)):
        return False
    await tx.record(spill, found)
    spill.cause = cause
    return True


def causes_in(history: Sequence[tuple[EventRow, SpillEvent]]) -> list[tuple[EventRow, CauseFound]]:
    """What was recorded of the cause, the newest first."""
    return [(row, event) for row, event in reversed(history) if isinstance(event, CauseFound)]
