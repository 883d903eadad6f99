"""A sheet of somebody's own: its encoding and delimiter found out, its headings and rows as they are, and which column is likely what."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.errors import BadInput
from service.spills import clean

LARGEST_BYTES = 20_000_000
MOST_ROWS, MOST_COLUMNS = 20_000, 200
_DELIMITERS = (",", ";", "\t", "|")
_LOOKED_AT = 20

# What a column may be, in words for people.
FIELDS: Mapping[str, str] = {
    "id": "Number of the spill in the sheet", "known_at": "When it became known (day, or day and time)", "known_time": "Time of day of it",
    "description": "What happened", "address": "Place in words", "lat": "Latitude", "lon": "Longitude", "material": "Material",
    "volume": "Amount", "unit": "Unit of the amount", "reached": "What it reached", "discharged_at": "When it began",
    "ended_at": "When it ended", "premises": "Kind of premises", "discharger": "Who spilled it",
}  # fmt: skip
# Headings that mean each, as they are compared: small letters and digits alone. The first that fits is taken, whole before in part.
_HEADINGS: Mapping[str, tuple[str, ...]] = {
    "id": (
        "spillid", "incidentid", "incidentno", "incidentnumber", "caseno", "casenumber", "caseid", "eventid", "reportno", "reportnumber",
        "id", "no",
    ),
    "known_time": ("timereported", "reportedtime", "incidenttime", "time"),
    "known_at": (
        "knownat", "datereported", "reporteddate", "datereceived", "reportdate", "notified", "dateknown", "discovered", "incidentdate",
        "spilldate", "datetime", "date", "fecha",
    ),
    "discharged_at": ("startdate", "starttime", "spillstart", "began", "start", "dischargedat"),
    "ended_at": ("enddate", "endtime", "spillend", "stopped", "ended", "end"),
    "description": ("description", "narrative", "whathappened", "details", "comments", "remarks", "notes", "descripcion", "summary"),
    "address": ("address", "location", "street", "site", "place", "direccion", "where"),
    "lat": ("latitude", "lat", "gpslat", "y"),
    "lon": ("longitude", "longitud", "lon", "lng", "long", "gpslong", "x"),
    "unit": ("units", "unit", "uom", "measure"),
    "volume": ("volume", "gallons", "quantity", "amount", "qty", "vol", "gal", "cantidad"),
    "material": ("material", "substance", "product", "pollutant", "spilltype", "type", "sustancia"),
    "reached": ("reached", "receivingwater", "waterbody", "impacted", "medium", "destination"),
    "premises": ("premises", "landuse", "propertytype"),
    "discharger": ("responsibleparty", "discharger", "rp", "violator", "company", "responsible"),
}  # fmt: skip
_SHORTEST_PART = 4


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet as it was read: how it was written, its headings, and its rows, each with as many cells as there are headings."""

    encoding: str
    delimiter: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read_sheet(content: bytes) -> Sheet:
    """Read a CSV, whatever program wrote it. Empty rows are left out. Raises BadInput for what is none, or is too large."""
    if len(content) > LARGEST_BYTES:
        raise BadInput("the sheet is too large", [f"file: over {LARGEST_BYTES // 1_000_000} MB; right would be: several of fewer rows"])
    if content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise BadInput("this is no CSV", ["file: it is a workbook; right would be: saved as CSV (in Excel: Save as, CSV UTF-8)"])
    encoding, text = _decoded(content)
    delimiter = _delimiter(text)
    csv.field_size_limit(1_000_000)
    try:
        rows = [tuple(clean(cell) for cell in row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]
    except csv.Error as error:
        raise BadInput("this is no CSV", [f"file: {error}; right would be: a sheet saved as CSV"]) from None
    rows = [row for row in rows if any(row)]
    if len(rows) < 2:
        raise BadInput(
            "there is nothing in it", ["file: no row below the headings; right would be: a row of headings, and one for each spill"]
        )
    width = len(rows[0])
    if width > MOST_COLUMNS or len(rows) > MOST_ROWS + 1:
        right = f"right would be: at most {MOST_COLUMNS} columns and {MOST_ROWS:,} rows"
        raise BadInput("the sheet is too large", [f"file: {width} columns, {len(rows) - 1:,} rows; {right}"])
    # What stands beyond the last heading is kept with it.
    even = [row[: width - 1] + ((f"{delimiter} ".join(filter(None, row[width - 1 :])),) if len(row) >= width else ()) for row in rows[1:]]
    return Sheet(encoding, delimiter, _distinct(rows[0]), tuple(row + ("",) * (width - len(row)) for row in even))


def _decoded(content: bytes) -> tuple[str, str]:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", content.decode("utf-16", "replace")
    try:
        return "utf-8", content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "windows-1252", content.decode("cp1252", "replace")


def _delimiter(text: str) -> str:
    """The one that parts the first rows into the most columns alike."""

    def fit(delimiter: str) -> tuple[int, int]:
        rows = csv.reader(io.StringIO("\n".join(text.splitlines()[:_LOOKED_AT])), delimiter=delimiter)
        widths = [len(row) for row in rows if row]
        return sum(width == widths[0] for width in widths) * min(widths[0], 2) if widths else 0, widths[0] if widths else 0

    return max(_DELIMITERS, key=lambda one: (fit(one)[1] > 1, *fit(one)))


def _distinct(headings: Sequence[str]) -> tuple[str, ...]:
    """Headings that can be told apart: an empty one by its column, a second of one name by a number."""
    found: list[str] = []
    for number, heading in enumerate(headings, 1):
        name = heading or f"column {number}"
        found.append(name if name not in found else f"{name} ({number})")
    return tuple(found)


def guessed(headings: Sequence[str]) -> dict[str, str]:
    """Which heading is likely which field: field -> heading. A field or a heading that fits nothing is left out."""
    plain = {heading: re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", heading).lower()) for heading in headings}
    found: dict[str, str] = {}
    for whole in (True, False):
        for field, words in _HEADINGS.items():
            if field in found:
                continue
            free = [heading for heading in headings if heading not in found.values()]
            for word in words:
                fits = [
                    heading
                    for heading in free
                    if plain[heading] == word or (not whole and len(word) >= _SHORTEST_PART and word in plain[heading])
                ]
                if fits:
                    found[field] = fits[0]
                    break
    return found


def checked_mapping(sheet: Sheet, mapping: Mapping[str, str]) -> dict[str, str]:
    """A mapping that somebody gave, without its empty ones. Raises BadInput for fields or headings that do not exist."""
    wanted = {field: heading for field, heading in mapping.items() if heading}
    faults = [f"{field}: there is no such field; right would be: some of {', '.join(FIELDS)}" for field in wanted if field not in FIELDS]
    faults += [
        f"{field}: no column is called {heading[:60]!r}; right would be: one of {', '.join(sheet.headings)[:600]}"
        for field, heading in wanted.items()
        if heading not in sheet.headings
    ]
    if faults:
        raise BadInput("the columns cannot be read so", faults)
    return wanted
