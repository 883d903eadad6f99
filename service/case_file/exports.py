"""Exports for other people's databases: rows of named columns, as CSV that no spreadsheet runs, and as JSON.

What is not known is "not known" in a CSV and null in JSON: never no, never 0, and never an empty cell that could be read as either.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from deadlines import as_z, read_moment
from deadlines.quantities import GALLONS
from service.case_file.paper import CasePaper
from service.case_file.record import CaseRecord
from service.causes import causes_in
from service.pages.speech import ENGLISH
from service.particulars import PARTICULARS
from service.spreadsheet import csv_of, safe

NOT_KNOWN = "not known"
Value = str | int | float | None
Row = Mapping[str, Value]
Columns = Mapping[str, str | Callable[[CaseRecord], Value]]


@dataclass(frozen=True)
class Export:
    """The rows of a paper that is an export. `standing`: what it is and is not, for whoever takes it in."""

    paper: CasePaper
    columns: Sequence[str]
    rows: Sequence[Row]
    standing: str
    made_at: datetime


def as_csv(export: Export) -> bytes:
    """The rows for a spreadsheet, headings first; what is not known is said."""
    return csv_of([export.columns, *([cell(row.get(column)) for column in export.columns] for row in export.rows)])


def cell(value: Value) -> str | int | float:
    """A value as a cell of a CSV; NOT_KNOWN where there is none, or nothing but blanks."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return NOT_KNOWN
    return safe(value.replace("\r\n", "\n") if isinstance(value, str) else value)


def as_json(export: Export) -> bytes:
    """The rows with null for what is not known, and what is missing by its label."""
    told: dict[str, Any] = {
        "paper": export.paper.id, "standing": export.standing, "made_at": as_z(export.made_at), "columns": list(export.columns),
        "rows": [{column: row.get(column) if row.get(column) != "" else None for column in export.columns} for row in export.rows],
        "missing": [entry.label for entry in export.paper.missing],
    }  # fmt: skip
    return (json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode()


# -- values as exports hold them


def gallons_of(record: CaseRecord) -> float | int | None:
    """The amount in gallons, to a tenth; of a range its upper end, as the law judges it. None where it is not known."""
    volume = record.facts.get("volume") or {}
    told = volume.get("quantity", volume.get("high"))
    if told is None or volume.get("unit") not in GALLONS:
        return None
    number = round(float(Fraction(str(told)) * GALLONS[volume["unit"]]), 1)
    return int(number) if number.is_integer() else number


def local_moment(record: CaseRecord, told: Any) -> str | None:
    """A moment in the city's time with its offset, to the minute: 2026-12-01T14:05-08:00. None where it is not known."""
    return read_moment(told, record.zone).astimezone(record.zone).isoformat(timespec="minutes") if told else None


def particular(record: CaseRecord, key: str) -> Any:
    """The value of a particular, None where it is not known."""
    told = record.particulars.get(key)
    return told.value if told else None


def row_of(record: CaseRecord, columns: Columns) -> Row:
    """A row: each column by what finds its value, or by the key of the particular that is its value."""
    return {name: _told(record, find) if isinstance(find, str) else find(record) for name, find in columns.items()}


def _told(record: CaseRecord, key: str) -> Value:
    value = particular(record, key)
    match PARTICULARS[key].form:
        case "truth":
            return yes_no(value)
        case "moment":
            return local_moment(record, value)
        case _:
            return value if isinstance(value, str | int | float) else None


def city_title(record: CaseRecord) -> str | None:
    """The name of the city."""
    return record.house.rulebook.law_of(record.spill.city).city.title if record.spill.city else None


def cause_of(record: CaseRecord) -> tuple[str, str]:
    """The cause as a word of service/causes.py, and what was noted of it; empty where it is not known."""
    found = next((event for _, event in causes_in(record.history)), None)
    return (found.cause, found.note) if found and found.cause else ("", "")


def stated_start(record: CaseRecord) -> Any:
    """When it began, where a person stated that; None where all that is known is when it was seen."""
    return record.facts.get("discharged_at") if record.known(ENGLISH).is_start_stated else None


def yes_no(value: bool | None, yes: str = "Yes", no: str = "No") -> str | None:
    """A truth as a word; None stays None."""
    return None if value is None else yes if value else no


def in_places(record: CaseRecord, places: Sequence[str]) -> bool | None:
    """Whether it reached one of these places: None where nobody said what it reached."""
    reached = record.facts.get("reached")
    return bool(set(places) & set(reached)) if reached else None


def in_surface_water(record: CaseRecord) -> bool | None:
    """Whether it is in surface water. Where it got into drains and was not all captured there, nobody's having seen it is no "no"."""
    found = in_places(record, ("surface_water", "channel"))
    if found is False and in_places(record, ("storm_drain", "street", "gutter")) and record.facts.get("captured") is not True:
        return None
    return found
