"""The law over HTTP: rules in words for anybody, and the clocks that facts would start, with nothing stored."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sqlalchemy import func, select

from service.tables import Spill
from service.transaction import reading
from service.what_if import MOST_EVENTS
from tests.houses import Household

SEWAGE: dict[str, Any] = {
    "jurisdiction": "chino", "known_at": "2026-12-01T14:05:00-08:00", "material": "sewage",
    "volume": {"quantity": 1500, "unit": "gal"}, "reached": ["storm_drain"],
}  # fmt: skip


@pytest.fixture
def web(home: Household) -> httpx.AsyncClient:
    """Anybody's browser."""
    return home.client()


async def test_anybody_may_read_every_rule_of_every_pack(web: httpx.AsyncClient, home: Household) -> None:
    answer = (await web.get("/api/v1/rules")).json()
    assert answer["version"] == home.house.rulebook.version
    assert len(answer["rules"]) == sum(len(pack.rules) for pack in home.house.rulebook.packs.values())
    two_hours = next(rule for rule in answer["rules"] if rule["duty"] == "chino/rwqcb-2-hours")
    assert two_hours["applies_when"].endswith("or a reportable quantity is reached")
    assert two_hours["limit"] == "2 hours"
    assert two_hours["checked"] == {"on": "2026-11-30", "by": "Spillclock engineering"}


@pytest.mark.parametrize(
    ("query", "packs"),
    [
        ("city=chico", {"chico", "california", "federal", "sewer-order", "ms4-small"}),
        ("city=glendale-az", {"glendale-az", "federal"}),
        ("pack=federal", {"federal"}),
        ("pack=chino&city=chico", set()),
    ],
)
async def test_the_rules_over_one_city_or_of_one_pack_are_given(web: httpx.AsyncClient, query: str, packs: set[str]) -> None:
    assert {rule["pack"] for rule in (await web.get(f"/api/v1/rules?{query}")).json()["rules"]} == packs


async def test_one_rule_is_given_with_every_version(web: httpx.AsyncClient) -> None:
    answer = (await web.get("/api/v1/rules/glendale-az/city-24-hours")).json()
    assert [(version["limit"], version["starts_on"]) for version in answer["versions"]] == [
        ("24 hours", "open day"), ("1 working day by 12:00", "closed day"),
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["/api/v1/rules/chino/no-such", "/api/v1/rules?city=atlantis", "/api/v1/rules?pack=atlantis"])
async def test_what_does_not_exist_is_a_problem_that_says_so(web: httpx.AsyncClient, path: str) -> None:
    answer = await web.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "there is no" in answer.json()["detail"]


async def test_facts_are_answered_with_their_clocks_and_nothing_is_stored(web: httpx.AsyncClient, home: Household) -> None:
    answer = (await web.post("/api/v1/clocks", json=SEWAGE, params={"now": "2026-12-01T15:00:00-08:00"})).json()
    clock = next(clock for clock in answer["clocks"] if clock["duty"] == "chino/rwqcb-2-hours")
    assert (clock["due_at"], clock["state"]) == ("2026-12-02T00:05:00Z", "running")
    assert [cell["label"] for cell in clock["strip"]] == ["2 h"]
    assert answer["questions"][0]["asks"].endswith("?")
    assert {"fact", "settles", "removes", "starts", "presumed", "held_back", "asks"} == set(answer["questions"][0])
    assert answer["reportable_quantity"] == ["sewage has no reportable quantity of its own"]
    async with reading(home.house) as tx:
        assert await tx.session.scalar(select(func.count()).select_from(Spill)) == 0


async def test_the_moment_to_judge_by_is_now_where_none_is_given(web: httpx.AsyncClient) -> None:
    answer = (await web.post("/api/v1/clocks", json=SEWAGE)).json()
    assert {clock["state"] for clock in answer["clocks"]} <= {"running", "waiting", "met"}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({}, "jurisdiction: missing; right would be: one of: baltimore, "),
        ({**SEWAGE, "colour": "blue"}, "colour: unknown key"),
        ({**SEWAGE, "volume": {"quantity": -1, "unit": "gal"}}, "volume.quantity: "),
        ({**SEWAGE, "events": [{"type": "paid", "at": "2026-12-01T15:00:00Z"}] * (MOST_EVENTS + 1)}, f"at most {MOST_EVENTS}"),
    ],
)
async def test_facts_with_faults_are_answered_with_each_of_them(web: httpx.AsyncClient, body: dict[str, Any], fault: str) -> None:
    answer = await web.post("/api/v1/clocks", json=body)
    assert answer.status_code == 422
    assert fault in str(answer.json())


async def test_a_moment_that_is_none_is_a_fault(web: httpx.AsyncClient) -> None:
    answer = await web.post("/api/v1/clocks", json=SEWAGE, params={"now": "tomorrow"})
    assert answer.status_code == 422
    assert "right would be" in str(answer.json())
