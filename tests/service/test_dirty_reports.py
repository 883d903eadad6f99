"""Thirty invented reports, as dirty as real ones: each is kept, read as far as it can be read, and flagged for what is odd about it."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.events import ReportReceived, TriageAsked
from tests.houses import Household, a_household
from tests.service.small_law import cities_alone

REPORTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "dirty_reports.json").read_text(encoding="utf-8"))


def test_there_are_thirty_invented_reports() -> None:
    assert len({report["about"] for report in REPORTS}) == 30


@pytest.mark.parametrize("case", REPORTS, ids=lambda case: case["about"])
async def test_a_dirty_report_is_kept_and_its_oddities_are_flagged(tmp_path: Path, case: dict[str, Any]) -> None:
    async with a_household(tmp_path, law=cities_alone("chino", "ontario"), people=[]) as home:
        await check(home, case)


async def check(home: Household, case: dict[str, Any]) -> None:
    async with home.client() as client:
        answer = await client.post("/api/v1/spills", content=json.dumps(case["report"]))
    assert answer.status_code == 201
    body = answer.json()
    assert body["jurisdiction"] == case["city"]
    assert [flag[: len(expected)] for flag, expected in zip(body["warnings"], case["flags"], strict=True)] == case["flags"]
    spill = await home.spill(body["reference"])
    assert (spill.city, spill.flags) == (case["city"], body["warnings"])
    assert case.get("facts", {}).items() <= spill.facts.items()
    [received] = await home.events(body["reference"], ReportReceived)
    assert isinstance(received.raw, dict)
    assert len(received.raw) == len(case["report"])
    assert bool(await home.clocks(body["reference"])) == (case["city"] is not None)
    odd = [flag for flag in case["flags"] if not flag.startswith(("no volume", "no description", "volume: in words"))]
    assert bool(await home.events(body["reference"], TriageAsked)) == bool(odd or case["city"] is None)
    async with home.client(await home.token("viewer")) as client:
        shown = await client.get(f"/api/v1/spills/{body['reference']}")
    assert shown.status_code == 200
