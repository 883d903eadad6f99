"""What a hard day brought to light: slips that would silence a clock, input of odd kinds, and alerts that queue."""

import json
from datetime import timedelta
from typing import Any

import pytest

from service import claims
from service.events import ReportReceived
from tests.houses import TUESDAY, Household
from tests.service.small_law import TWO_HOURS
from tests.spills import a_report

HUGE = 2**63


@pytest.mark.parametrize("key", ["known_at", "reported_at", "discharged_at", "ended_at"])
async def test_an_amendment_cannot_move_a_clock_into_the_future(small: Household, key: str) -> None:
    reference = await small.report(a_report())
    due_at = (await small.clock_of(reference, TWO_HOURS)).due_at
    async with small.client(await small.token("officer")) as client:
        answer = await client.patch(f"/api/v1/spills/{reference}/facts", json={"reason": "a slip", key: "2199-01-01T00:00:00Z"})
    assert answer.status_code == 422
    assert [line for line in answer.json()["errors"] if line.startswith(f"{key}: ") and "future" in line]
    assert (await small.clock_of(reference, TWO_HOURS)).due_at == due_at


async def test_a_mistyped_year_does_not_meet_a_duty(small: Household) -> None:
    reference = await small.report(a_report())
    call = {"type": "notice_given", "recipient": "board", "method": "telephone"}
    async with small.client(await small.token("officer")) as client:
        wrong = await client.post(f"/api/v1/spills/{reference}/events", json={**call, "at": "1999-12-01T22:00:00Z"})
        assert wrong.status_code == 422
        assert "amend known_at first" in wrong.json()["errors"][0]
        assert (await small.clock_of(reference, TWO_HOURS)).state == "running"
        an_hour_before = (TUESDAY - timedelta(hours=1)).isoformat()
        assert (await client.post(f"/api/v1/spills/{reference}/events", json={**call, "at": an_hour_before})).status_code == 201
    assert (await small.clock_of(reference, TWO_HOURS)).state == "met"


async def test_an_order_cannot_be_due_before_it_was_served(small: Household) -> None:
    reference = await small.report(a_report())
    order = {"type": "order_served", "order": "compliance_order", "at": TUESDAY.isoformat(), "comply_by": "2026-12-01T01:00:00Z"}
    async with small.client(await small.token("officer")) as client:
        answer = await client.post(f"/api/v1/spills/{reference}/events", json=order)
    assert answer.status_code == 422
    assert answer.json()["errors"][0].startswith("comply_by: ")


async def test_numbers_beyond_any_database_are_refused_not_stumbled_over(small: Household) -> None:
    async with small.client(await small.token("manager")) as client:
        answers = [
            await client.post(f"/api/v1/clocks/{HUGE}/waive", json={"reason": "r"}),
            await client.post(f"/api/v1/clocks/{10**30}/acknowledge"),
            await client.get("/api/v1/spills", params={"offset": HUGE}),
        ]
    assert [answer.status_code for answer in answers] == [422, 422, 422]


async def test_a_reason_of_control_characters_is_no_reason(small: Household) -> None:
    reference = await small.report(a_report())
    row = await small.clock_of(reference, TWO_HOURS)
    async with small.client(await small.token("manager")) as client:
        waived = await client.post(f"/api/v1/clocks/{row.id}/waive", json={"reason": "\0"})
        amended = await client.patch(f"/api/v1/spills/{reference}/facts", json={"reason": "\0\0", "material": "paint"})
    assert (waived.status_code, amended.status_code) == (422, 422)


async def test_a_number_of_five_thousand_digits_is_kept_and_flagged(small: Household) -> None:
    body = json.dumps(a_report(volume={"quantity": 0, "unit": "gal"})).replace('"quantity": 0', '"quantity": ' + "9" * 5000)
    async with small.client() as client:
        answer = await client.post("/api/v1/spills", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 201
    assert any(flag.startswith("volume") for flag in answer.json()["warnings"])


async def test_what_a_report_says_twice_is_kept_twice(small: Household) -> None:
    body = '{"description": "first", "description": "second", "location": {"address": "Chino"}}'
    async with small.client() as client:
        answer = await client.post("/api/v1/spills", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 201
    assert any("description (given again)" in flag for flag in answer.json()["warnings"])
    [received] = await small.events(answer.json()["reference"], ReportReceived)
    assert received.raw["description"] == "first"
    assert received.raw["description (given again)"] == "second"


async def test_what_an_amendment_says_twice_is_a_fault(small: Household) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token("officer")) as client:
        body = '{"reason": "r", "material": "paint", "material": "sewage"}'
        answer = await client.patch(f"/api/v1/spills/{reference}/facts", content=body)
    assert answer.status_code == 400
    assert "'material' is given twice" in answer.json()["errors"][0]


async def test_two_long_keys_with_one_beginning_are_two_keys(small: Household) -> None:
    async with small.client() as client:
        keys = ["k" * 600 + end for end in "ab"]
        answers = [
            await client.post("/api/v1/spills", json=a_report(description=key[-1]), headers={"Idempotency-Key": key}) for key in keys
        ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert len({answer.json()["reference"] for answer in answers}) == 2


async def test_a_discharger_does_not_record_the_acts_of_the_city(small: Household) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token("officer")) as client:
        url = (await client.get(f"/api/v1/spills/{reference}")).json()["respond_url"]
    order: dict[str, Any] = {"type": "order_served", "order": "cease_and_desist", "at": TUESDAY.isoformat()}
    async with small.client(url.rpartition("/")[2]) as discharger:
        answer = await discharger.post(f"/api/v1/spills/{reference}/events", json=order)
        allowed = await discharger.post(f"/api/v1/spills/{reference}/events", json={"type": "cleanup_done", "at": TUESDAY.isoformat()})
    assert (answer.status_code, allowed.status_code) == (403, 201)


async def test_an_alert_that_waits_over_a_minute_makes_it_not_ready(small: Household) -> None:
    await small.work()
    await small.report(a_report())
    small.clock.jump(seconds=61)
    async with small.client() as client:
        answer = await client.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["checks"]["alerts"].startswith("late, the oldest waits since ")
        await small.work()
        assert (await client.get("/readyz")).status_code == 200


async def test_what_can_still_be_done_in_time_is_sent_before_what_is_overdue(small: Household) -> None:
    await small.report(a_report(known_at=(TUESDAY - timedelta(hours=5)).isoformat(), description="overdue"))
    for minutes in (10, 110):
        await small.report(a_report(known_at=(TUESDAY - timedelta(minutes=minutes)).isoformat()))
    claimed = await claims.claim(small.house, "test", "email", 1000)
    assert list(dict.fromkeys(one.reference for one in claimed)) == ["SP-2026-00003", "SP-2026-00002", "SP-2026-00001"]
