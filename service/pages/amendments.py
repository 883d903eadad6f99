"""The facts of a spill as people see them, with what each was before, and the form that amends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import as_z, read_moment
from deadlines.facts import CHOICES, FLAGS, MOMENTS
from deadlines.quantities import GALLONS
from service.events import FactsRecorded, SpillEvent
from service.fact_sources import SOURCES, Source, source_of, sources_of
from service.grouping import EARLIEST
from service.pages import words
from service.pages.fields import Fields
from service.pages.quantity_rows import as_text, rows_of, substances_from, substances_told, typed_rows
from service.pages.rendering import city_name, zone_of
from service.pages.reporter_news import amount
from service.pages.speech import ENGLISH, local_input
from service.tables import EventRow, Spill
from service.transaction import House

SHOWN = (
    "jurisdiction", "kind", "material", "volume", "reached", "known_at", "reported_at", "discharged_at", "ended_at", "planned_at",
    "premises", "release", *FLAGS, "substances",
)  # fmt: skip
# Shown even while nothing is known of them.
_ALWAYS = (
    "jurisdiction", "material", "volume", "reached", "known_at", "discharged_at", "ended_at", "premises", "threat",
    "accidental", "hazardous",
)  # fmt: skip
_TRUTHS = {"yes": True, "no": False, "": None}


@dataclass(frozen=True)
class Change:
    """One value a fact had: since when, by whom, and why."""

    at: datetime
    actor: str
    before: str
    after: str
    reason: str
    source: str = ""


@dataclass(frozen=True)
class FactLine:
    """A fact with its value now, by whom it is known and how surely, and everything it was before.

    `counts`: what counts for the law instead, where a merged report knew it earlier, and which one that was.
    """

    key: str
    label: str
    value: str
    changes: Sequence[Change]
    source: str = ""
    certainty: str = ""
    counts: str = ""

    @property
    def field(self) -> str:
        """The field of the form of all facts that amends it."""
        return {"volume": "low", "reached": "reached-storm_drain", "substances": "substance-0-name"}.get(self.key, self.key)


def fact_lines(
    house: House, spill: Spill, history: Sequence[tuple[EventRow, SpillEvent]], counts: Mapping[str, Any] | None = None
) -> list[FactLine]:
    """The facts that are known or usually asked for, in a fixed order. `counts`: what the law counts, with merged reports."""
    changes: dict[str, list[Change]] = {}
    for number, (row, event) in enumerate(history):
        if isinstance(event, FactsRecorded):
            for key, (before, after) in event.changes.items():
                source = SOURCES[source_of(history, number, key)][0]
                then, now = told(house, spill, key, before), told(house, spill, key, after)
                changes.setdefault(key, []).append(Change(row.recorded_at, row.actor, then, now, event.reason, source))
    known = sources_of(history)
    return [
        _line(house, spill, key, changes.get(key, []), known.get(key), counts or {}) for key in SHOWN if key in _ALWAYS or key in changes
    ]


def _line(house: House, spill: Spill, key: str, changes: Sequence[Change], known: Source | None, counts: Mapping[str, Any]) -> FactLine:
    value = told(house, spill, key, spill.facts.get(key))
    counted = told(house, spill, key, counts[key]) if key in EARLIEST and counts.get(key) else value
    source, certainty = SOURCES[known.source] if known and spill.facts.get(key) is not None else ("", "")
    return FactLine(key, words.FACTS[key], value, changes, source, certainty, counted if counted != value else "")


def told(house: House, spill: Spill, key: str, value: Any) -> str:
    """A fact's value in words."""
    if value is None:
        return "Unknown"
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if key == "jurisdiction" and value in house.rulebook.cities:
        return city_name(house, value)
    if key in MOMENTS:
        zone = zone_of(house, spill.city)
        return ENGLISH.stamp(read_moment(value, zone), zone)
    if key == "volume" and isinstance(value, Mapping):
        return amount(ENGLISH, dict(value)) or "Unknown"
    if key == "material":
        return words.MATERIALS.get(value, words.plain(value))
    if key == "reached" and isinstance(value, list):
        return "; ".join(words.REACHED.get(place, words.plain(place)) for place in value)
    if key == "substances" and isinstance(value, list):
        return substances_told(value)
    return words.plain(value).capitalize()


def typed_facts(spill: Spill, zone: ZoneInfo) -> dict[str, str]:
    """The facts as the form shows them, each as the text of its field; ticked places are joined by spaces, substances are rows."""
    facts = spill.facts
    volume = facts.get("volume") or {}
    typed = {key: str(facts.get(key) or "") for key in ("jurisdiction", *CHOICES)}
    typed |= {key: local_input(read_moment(facts[key], zone), zone) if facts.get(key) else "" for key in MOMENTS}
    typed |= {key: {True: "yes", False: "no"}.get(facts.get(key), "") for key in FLAGS}  # type: ignore[arg-type]
    typed["reached"] = " ".join(facts.get("reached") or [])
    typed["substances"] = as_text(rows_of(facts.get("substances")))
    typed["low"] = _plain_number(volume.get("quantity", volume.get("low", "")))
    typed["high"] = _plain_number(volume.get("high", ""))
    typed["unit"] = volume.get("unit", "gal") if volume.get("unit", "gal") in GALLONS else "gal"
    return typed


def _plain_number(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def changes_from(house: House, spill: Spill, fields: Fields, zone: ZoneInfo) -> dict[str, Any]:
    """What the form changes: only fields whose text differs from what the form showed, so that two people never undo each other.

    Times are local to `zone`. Texts that are no numbers or times stay texts; recording them names the fault. Raises BadInput for
    a row of a substance that cannot be read.
    """
    changes: dict[str, Any] = {}
    for key in ("jurisdiction", *CHOICES):
        if _differs(fields, key):
            changes[key] = fields.text(key) or None
    for key in MOMENTS:
        if _differs(fields, key):
            changes[key] = instant_of(fields.text(key), zone) if fields.text(key) else None
    for key in FLAGS:
        if _differs(fields, key):
            changes[key] = _TRUTHS.get(fields.text(key))
    if "was.reached" in fields and set(fields.all("reached")) != set(fields.text("was.reached").split()):
        changes["reached"] = fields.all("reached") or None
    if any(_differs(fields, key) for key in ("low", "high", "unit")):
        changes["volume"] = _volume(fields)
    rows = typed_rows(fields)
    if "was.substances" in fields and as_text(rows) != fields.text("was.substances"):
        changes["substances"] = substances_from(rows, spill.facts.get("substances"), house.rulebook.quantities)
    return changes


def instant_of(typed: str, zone: ZoneInfo) -> str:
    """A typed local time as an instant in UTC; a text that is no time stays as it is."""
    try:
        return as_z(read_moment(typed, zone)) or typed
    except ValueError:
        return typed


def _differs(fields: Fields, key: str) -> bool:
    return key in fields and fields.text(key) != fields.text(f"was.{key}")


def _volume(fields: Fields) -> dict[str, Any] | None:
    low, high, unit = fields.text("low"), fields.text("high"), fields.text("unit", "gal")
    if not low and not high:
        return None
    if not low or not high or low == high:
        return {"quantity": number_typed(low or high), "unit": unit}
    return {"low": number_typed(low), "high": number_typed(high), "unit": unit}


def number_typed(text: str) -> float | int | str:
    """A typed number, with commas or without; a text that is none stays as it is, and recording it names the fault."""
    plain = text.replace(",", "").strip()
    try:
        number = float(plain)
    except ValueError:
        return text
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
