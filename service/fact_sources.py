"""By whom a fact is known, and how sure that is. Who amends says so; a record from before that was asked is read as it can honestly be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from service.events import FactsRecorded, PlaceMoved, ReportReceived, SpillEvent
from service.speech import marked
from service.tables import EventRow

CALLER, STAFF, LABORATORY, DISCHARGER, COMPUTED = "caller", "staff", "laboratory", "discharger", "computed"
# In the order in which people are offered them.
SOURCES: Mapping[str, tuple[str, str]] = {
    STAFF: (marked("Staff saw or measured it"), marked("seen")),
    LABORATORY: (marked("A laboratory found it"), marked("measured")),
    DISCHARGER: (marked("The discharger said so"), marked("not checked")),
    CALLER: (marked("The caller said so"), marked("not checked")),
    COMPUTED: (marked("Worked out from other facts"), marked("worked out")),
}
_AS_IT_CAME = "the report as it came"
# What intake works out where nobody says it: the city from the place, the first knowledge from the moment the report came.
_WORKED_OUT = ("jurisdiction", "known_at")

History = Sequence[tuple[EventRow, SpillEvent]]


@dataclass(frozen=True, slots=True)
class Source:
    """By whom a fact is known (`source`, a key of SOURCES), and who recorded it when."""

    source: str
    actor: str
    at: datetime

    @property
    def certainty(self) -> str:
        """How sure that is: seen, measured, worked out, not checked."""
        return SOURCES[self.source][1]


def sources_of(history: History) -> dict[str, Source]:
    """By whom each fact is known as it stands; facts that became unknown again keep who said so."""
    found: dict[str, Source] = {}
    for number, (row, event) in enumerate(history):
        if isinstance(event, FactsRecorded):
            for key in event.changes:
                found[key] = Source(source_of(history, number, key), row.actor, row.recorded_at)
    return found


def source_of(history: History, number: int, key: str) -> str:
    """By whom the fact `key` of the record at place `number` of a history is known."""
    event = history[number][1]
    if isinstance(event, FactsRecorded) and event.sources.get(key) in SOURCES:
        return event.sources[key]
    if isinstance(event, FactsRecorded) and event.reason == _AS_IT_CAME:
        return _of_report(history, key)
    before = history[number - 1][1] if number else None
    return COMPUTED if key == "jurisdiction" and isinstance(before, PlaceMoved) else STAFF


def _of_report(history: History, key: str) -> str:
    received = next((event for _, event in history if isinstance(event, ReportReceived)), None)
    raw: Any = received.raw if received is not None and isinstance(received.raw, dict) else {}
    inner = raw.get("facts")
    said = {*raw, *(inner if isinstance(inner, dict) else ())}
    if key in _WORKED_OUT and key not in said:
        return COMPUTED
    return STAFF if received is not None and received.by_way_of == "staff" else CALLER
