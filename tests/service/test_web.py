"""The application around the API: its description, its health, its headers, and what it says when the database is gone."""

import json
import re

import httpx
import pytest
from jsonschema import Draft202012Validator

from service.access import SCOPES
from tests.houses import Household
from tests.spills import a_report

PATHS = {
    "/api/v1/spills": {"get", "post"}, "/api/v1/spills/{reference}": {"get"}, "/api/v1/spills/{reference}/facts": {"patch"},
    "/api/v1/spills/{reference}/clocks": {"get"}, "/api/v1/spills/{reference}/events": {"post"},
    "/api/v1/spills/{reference}/reports": {"get", "post"}, "/api/v1/spills/{reference}/discharger": {"put"},
    "/api/v1/clocks/{clock_id}/acknowledge": {"post"}, "/api/v1/clocks/{clock_id}/waive": {"post"},
}  # fmt: skip


async def test_the_openapi_document_is_valid_json_and_lists_the_paths(small: Household) -> None:
    async with small.client() as client:
        answer = await client.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    document = json.loads(answer.text)
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"] == "Spillclock"
    for path, methods in PATHS.items():
        assert set(document["paths"][path]) == methods
        assert all(document["paths"][path][method]["summary"] for method in methods)
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    [body] = document["paths"]["/api/v1/spills"]["post"]["requestBody"]["content"].values()
    assert {"description", "location", "seen_at", "material", "volume", "reached", "contact", "language"} <= set(
        body["schema"]["properties"]
    )


async def test_the_openapi_document_says_which_calls_need_a_key_and_what_scopes_there_are(small: Household) -> None:
    async with small.client() as client:
        document = (await client.get("/openapi.json")).json()
    key = document["components"]["securitySchemes"]["key"]
    assert (key["type"], key["scheme"]) == ("http", "bearer")
    assert all(f"`{scope}`" in key["description"] for scope in SCOPES)
    paths = document["paths"]
    assert paths["/api/v1/spills"]["get"]["security"] == [{"key": []}]
    assert {} in paths["/api/v1/spills"]["post"]["security"]  # anybody may report
    for path, method in (("/api/v1/rules", "get"), ("/api/v1/clocks", "post"), ("/api/v1/public/spills", "get"), ("/api/v1/cities", "get")):
        assert "security" not in paths[path][method]


async def test_the_documentation_page_is_there(small: Household) -> None:
    async with small.client() as client:
        answer = await client.get("/docs")
    assert answer.status_code == 200
    assert "openapi.json" in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", answer.text)  # nothing of any other site


async def test_a_living_process_says_that_it_is_alive(small: Household) -> None:
    async with small.client() as client:
        answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


async def readiness(home: Household) -> tuple[int, dict[str, str]]:
    async with home.client() as client:
        answer = await client.get("/readyz")
    return answer.status_code, answer.json()["checks"]


async def test_it_is_ready_while_a_worker_finishes_its_rounds(small: Household) -> None:
    assert await readiness(small) == (503, {"database": "ok", "worker": "never seen", "alerts": "ok"})
    await small.work()
    assert await readiness(small) == (200, {"database": "ok", "worker": "ok", "alerts": "ok"})
    small.clock.jump(seconds=90)
    assert (await readiness(small))[0] == 200
    small.clock.jump(seconds=1)
    status, checks = await readiness(small)
    assert (status, checks["worker"]) == (503, "late, last round 2026-12-01T22:05:00+00:00")
    await small.work()
    assert (await readiness(small))[0] == 200


async def test_it_is_not_ready_without_its_database(small: Household) -> None:
    await small.work()
    async with small.house.engine.begin() as connection:
        await connection.exec_driver_sql("ALTER TABLE heartbeat RENAME TO lost")
    status, checks = await readiness(small)
    missing = "unreachable: OperationalError" if small.house.settings.is_embedded else "unreachable: ProgrammingError"
    assert (status, checks["database"]) == (503, missing)


async def test_a_failing_database_is_told_as_try_again_and_not_as_a_fault_of_the_report(small: Household) -> None:
    async with small.house.engine.begin() as connection:
        await connection.exec_driver_sql("ALTER TABLE idempotencykey RENAME TO lost")
    async with small.client() as client:
        answer = await client.post("/api/v1/spills", json=a_report(), headers={"Idempotency-Key": "k"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "nothing was stored" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/spills", "/report", "/api/v1/nothing"])
async def test_every_answer_keeps_itself_to_its_own_site(small: Household, path: str) -> None:
    async with small.client() as client:
        headers = (await client.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert "default-src 'self'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, False), ({"Sec-Fetch-Site": "same-site"}, False), ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "https://evil.example"}, False), ({"Origin": "https://spills.example.gov"}, True), ({"Origin": "null"}, False),
        ({}, True), ({"Cookie": "session=x"}, False),
    ],
)  # fmt: skip
async def test_a_form_that_another_site_sends_is_refused(small: Household, headers: dict[str, str], allowed: bool) -> None:
    async with small.client() as client:
        answer: httpx.Response = await client.post("/report", headers=headers)
    assert (answer.status_code != 403) == allowed
    assert allowed or answer.headers["content-type"] == "application/problem+json"


async def test_a_program_of_another_site_may_call_the_api(small: Household) -> None:
    async with small.client() as client:
        answer = await client.post(
            "/api/v1/spills", json=a_report(), headers={"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
        )
    assert answer.status_code == 201
