"""Maps the rows of the three samples of real reports to report bodies, as an import script of a city would: with no more care than that.

The samples lie beside the project and are not part of it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "shared" / "samples"
MISSING = f"The samples of real reports are not here (looked for {FOLDER.parent.name}/{FOLDER.name} beside the project)."
Row = Mapping[str, str]


@dataclass(frozen=True)
class RealReport:
    """One row as a report; `by_staff` where the row is a record of an agency, else somebody's call."""

    source: str
    number: int
    body: dict[str, Any]
    by_staff: bool


def real_reports() -> list[RealReport]:
    """All rows of all samples, in order; none where the folder is not there."""
    found = []
    for name, (by_staff, body_of) in _MAPS.items():
        path = FOLDER / f"{name}.csv"
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                found += [RealReport(name, number, _filled(body_of(row)), by_staff) for number, row in enumerate(csv.DictReader(file), 2)]
    return found


def _filled(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value not in (None, "", {})}


def _place(lat: str, lon: str, *address: str) -> dict[str, Any]:
    return _filled({"lat": lat, "lon": lon, "address": ", ".join(part.strip() for part in address if part.strip())})


def _time(text: str, form: str) -> str | None:
    """A time as a report may hold it, without a zone, as none is told. What cannot be read goes as it is."""
    try:
        return datetime.strptime(text.strip().title(), form).replace(tzinfo=UTC).isoformat()[:19]
    except ValueError:
        return text.strip() or None


def _private_lateral(row: Row) -> dict[str, Any]:
    words = ("SPILL_LOC_NAME", "SPILL_LOC_DESC", "SPILL_CAUSE", "SPILL_CAUSE_EXPLAIN", "FINAL_SPILL_DEST", "RESPONSE_ACTIVITIES_EXPL")
    return {
        "description": ". ".join(row[key].strip() for key in words if row[key].strip()),
        "location": _place(row["LATTITUDE_DECIMAL_DEGREES"], row["LONGITUDE_DECIMAL_DEGREES"], row["ADDRESS"], row["CITY"]),
        "discharged_at": _time(row["START_DT"], "%d-%b-%y %I.%M.%S.%f %p"),
        "ended_at": _time(row["EST_END_DT"], "%d-%b-%y %I.%M.%S.%f %p"),
        "known_at": _time(row["AGENCY_NOTIFY_DT"], "%m/%d/%Y %H:%M"),
        "material": "sewage",
        "volume": {"quantity": row["SPILL_VOL"], "unit": "gal"},
    }


def _public_notice(row: Row) -> dict[str, Any]:
    text = row["INCIDENT_REPORT"]
    volume = re.search(r"Spill Volume:\s*([\d,.]+)", text)
    return {
        "description": f"{row['INCIDENT_NAME']}\n{text}",
        "location": _place(row["LATITUDE"], row["LONGITUDE"], row["FACILITY_ADDRESS_LINE_1"], row["FACILITY_CITY"], row["FACILITY_STATE"]),
        "reported_at": row["DATE_TIME_OF_REPORT"],
        "discharged_at": row["RELEASE_START_DATE_TIME"],
        "ended_at": row["RELEASE_END_DATE_TIME"],
        "material": "sewage" if re.search(r"sewage|sewer|wastewater|SSO", text) else "other",
        "volume": {"quantity": volume[1], "unit": "gal"} if volume else None,
    }


def _call(row: Row) -> dict[str, Any]:
    lat, _, lon = row["Lat/Long"].partition(" (")[0].partition(", ")
    amount = re.fullmatch(r"([\d.,]+) (.+)", row["Reported Spill Volume"].strip())
    oily = re.search(r"OIL|DIESEL|GASOLINE|PETROLEUM", row["Material"])
    return {
        "description": row["Report Description"],
        "location": _place(lat, lon, row["Location"], row["Nearest City"]),
        "seen_at": row["Incident Time"],
        "material": "petroleum" if oily else row["Material"],
        "volume": {"quantity": amount[1], "unit": amount[2]} if amount else row["Reported Spill Volume"],
        "contact": {"privacy": "anonymous"},
    }


_MAPS: Mapping[str, tuple[bool, Callable[[Row], dict[str, Any]]]] = {
    "ciwqs_private_lateral_spills": (True, _private_lateral),
    "fdep_public_notice_of_pollution": (True, _public_notice),
    "nrc_reports_skytruth": (False, _call),
}
