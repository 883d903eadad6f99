"""A day is entered, seen and taken out by the API and by the command line, and both say which clocks moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.cli import main
from tests.houses import Household
from tests.spills import a_report

FRIDAY: dict[str, Any] = {"date": "2026-12-04", "name": "Tree planting day", "source": "Resolution 2026-31"}
CLOCK = "chico/rwqcb-timeframe-5-business-days"


async def a_running_clock(home: Household) -> str:
    reference = await home.report(a_report(location={"lat": 39.7285, "lon": -121.8375}, jurisdiction="chico"))
    await home.happened(reference, "timeframe_revision_determined")
    return reference


async def test_the_api_enters_a_day_says_what_moved_shows_it_and_takes_it_out(home: Household) -> None:
    reference = await a_running_clock(home)
    async with home.client(await home.token("manager", city="chico", email="m@chico.example")) as client:
        entered = await client.post("/api/v1/calendars/chico/days", json=FRIDAY)
        assert entered.status_code == 201, entered.text
        (moved,) = [one for one in entered.json()["moved"] if one["duty"] == CLOCK]
        assert (moved["reference"], moved["due_before"], moved["due_after"]) == (reference, "2026-12-09T01:00:00Z", "2026-12-10T01:00:00Z")
        shown = (await client.get("/api/v1/calendars/chico")).json()
        assert "Tree planting day" in str(shown)
        assert "m@chico.example" in str(shown)
        taken_out = await client.delete("/api/v1/calendars/chico/days/2026-12-04", params={"reason": "put off"})
        assert taken_out.status_code == 200, taken_out.text
        assert [one["due_after"] for one in taken_out.json()["moved"] if one["duty"] == CLOCK] == ["2026-12-09T01:00:00Z"]


@pytest.mark.parametrize(
    ("change", "status", "fault"),
    [
        ({"date": "2032-01-05"}, 422, "lies outside the days"),
        ({"date": "2026-12-05"}, 422, "is a Saturday, and counts as closed already"),
        ({"date": "2026-12-25"}, 422, "is closed already, Christmas Day"),
        ({"source": " "}, 422, "source: missing"),
        ({"date": "tomorrow"}, 422, "date"),
    ],
)
async def test_a_day_that_cannot_be_is_a_problem_that_names_the_cure(
    home: Household, change: dict[str, str], status: int, fault: str
) -> None:
    async with home.client(await home.token("manager", city="chico", email="m@chico.example")) as client:
        answer = await client.post("/api/v1/calendars/chico/days", json={**FRIDAY, **change})
    assert (answer.status_code, fault in answer.text) == (status, True), answer.text


async def test_an_officer_or_a_manager_of_another_city_enters_nothing(home: Household) -> None:
    for role, city, status in (("officer", "chico", 403), ("manager", "chino", 403)):
        async with home.client(await home.token(role, city=city, email=f"{role}@{city}.example")) as client:
            assert (await client.post("/api/v1/calendars/chico/days", json=FRIDAY)).status_code == status


def test_the_command_line_enters_lists_and_takes_out_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPILLCLOCK_HOME_DIR", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert main(["calendar", "add", "chico", "2028-12-01", "Tree planting day", "--source", "Resolution 2026-31"]) == 0
    assert "2028-12-01 is closed in chico: Tree planting day" in capsys.readouterr().out
    assert main(["calendar", "list", "chico"]) == 0
    assert "Tree planting day" in capsys.readouterr().out
    assert main(["calendar", "add", "chico", "2028-12-01", "Again", "--source", "x"]) == 2
    assert "is entered already" in capsys.readouterr().err
    assert main(["calendar", "remove", "chico", "2028-12-01", "--reason", "put off"]) == 0
    assert main(["calendar", "list", "chico"]) == 0
    assert "Tree planting day (Resolution 2026-31)\tcommand line, removed by command line: put off" in capsys.readouterr().out
