"""All 420 rows of the samples of real reports: stored, their oddities flagged, and put to the law once staff name a city.

The samples lie beside the project and are no part of it; the dirty reports of test_dirty_reports.py are the project's own.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.events import ReportReceived
from service.tables import Contact
from tests.houses import Household, a_household
from tests.service.real_reports import FOLDER, MISSING, RealReport, real_reports
from tests.service.small_law import cities_alone

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=MISSING)
PARTS = 12


def test_the_samples_hold_four_hundred_and_twenty_reports() -> None:
    assert len(real_reports()) == 420


def _moment(report: RealReport, key: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(report.body[key])
    except (KeyError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _lacks(report: RealReport, flags: Sequence[str]) -> list[str]:
    """The oddities of a report, seen without the help of intake, that no flag names."""
    begun, ended, known = (_moment(report, key) for key in ("discharged_at", "ended_at", "known_at"))
    location = report.body.get("location", {})
    odd = {
        "ended_at: ends before it begins": bool(begun and ended and ended < begun),
        "known_at: known before it began": bool(begun and known and known < begun),
        "location: outside every city": "lat" in location,
        "no volume": "volume" not in report.body,
        "seen_at: over 30 days ago": "seen_at" in report.body,
    }
    return [flag for flag, is_so in odd.items() if is_so and not any(told.startswith(flag) for told in flags)]


@pytest.mark.parametrize("part", range(PARTS))
async def test_real_reports_are_kept_flagged_and_put_to_the_law(tmp_path: Path, part: int) -> None:
    officer = Contact(city="chino", role="duty_officer", name="Omar Reyes", email="duty@chino.example")
    async with a_household(tmp_path, people=[officer], law=cities_alone("chino")) as home:
        staff, anybody = home.client(await home.token("officer")), home.client()
        kept: list[tuple[RealReport, str]] = []
        for report in real_reports()[part::PARTS]:
            where = f"{report.source}, row {report.number}"
            answer = await (staff if report.by_staff else anybody).post("/api/v1/spills", content=json.dumps(report.body))
            assert answer.status_code == 201, where
            body = answer.json()
            assert body["jurisdiction"] is None, where  # none of these places lies in Chino
            assert _lacks(report, body["warnings"]) == [], where
            kept.append((report, body["reference"]))
        assert len({reference for _, reference in kept}) == len(kept) == 420 // PARTS
        for report, reference in kept:
            answer = await staff.patch(f"/api/v1/spills/{reference}/facts", json={"jurisdiction": "chino", "reason": "a drill"})
            assert answer.status_code == 200, reference
            clocks = answer.json()["clocks"]
            assert clocks, reference
            assert {clock["state"] for clock in clocks} <= {"running", "overdue"}, reference
            assert all(clock["due_at"] and clock["counting"] for clock in clocks), reference
            if report.body["material"] == "sewage":
                volume = answer.json()["facts"].get("volume")
                assert any(clock["duty"] == "chino/rwqcb-2-hours" for clock in clocks) == (not volume or volume["quantity"] > 1000), (
                    reference
                )
        await _stored_whole(home, kept)


async def _stored_whole(home: Household, kept: list[tuple[RealReport, str]]) -> None:
    for report, reference in kept:
        [received] = await home.events(reference, ReportReceived)
        assert received.raw == report.body
