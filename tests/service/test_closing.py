"""Closing a spill, opening it again, and what the reporter hears of it: by the API and in the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.closing import closed_in
from service.events import ReporterAnswered, SpillClosed, SpillReopened
from service.following import MOST_ADDITIONS, TooManyAdditions, add_words, ask_for_action, waits_for_answer
from service.transaction import transaction
from tests.houses import Household, a_household
from tests.spills import a_report

ANA = {"name": "Ana Ruiz", "email": "ana@example.com", "phone": "909 555 0155", "privacy": "confidential"}
WHY = "The sewer was unblocked and the street was washed."


async def all_done(home: Household, reference: str) -> None:
    for row in await home.clocks(reference):
        if row.state in ("running", "overdue", "waiting"):
            await home.waive(reference, row.duty, "a drill")


async def closed(home: Household, reference: str, **body: Any) -> Any:
    caller = home.client(await home.token(body.pop("role", "officer"), "chino", f"{len(home.clients)}@chino.example"))
    return await caller.post(f"/api/v1/spills/{reference}/close", json={"reason": WHY, **body})


def heard(home: Household, step: str) -> list[dict[str, Any]]:
    return [line for line in home.outbox() if line["step"] == step]


async def test_a_spill_with_open_duties_is_not_closed_and_each_is_named(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        refused = await closed(home, reference)
        assert refused.status_code == 409
        assert len(refused.json()["errors"]) == len(
            [row for row in await home.clocks(reference) if row.state == "running" and row.act != "retention"]
        )
        assert "waive it, or confirm that it stays open" in refused.json()["errors"][0]
        assert await home.events(reference, SpillClosed) == []


async def test_a_spill_whose_duties_are_done_is_closed_by_an_officer(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        await all_done(home, reference)
        answer = await closed(home, reference)
        assert (answer.status_code, answer.json()["closed"]) == (200, True)
        [event] = await home.events(reference, SpillClosed)
        assert (event.words, event.office, event.left_open) == ({"en": WHY}, "officer", [])
        assert (await closed(home, reference)).status_code == 409


async def test_only_a_manager_leaves_a_duty_open_and_its_alerts_go_on(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        left = [row.id for row in await home.clocks(reference) if row.state == "running"]
        assert (await closed(home, reference, left_open=left)).status_code == 403
        assert (await closed(home, reference, left_open=left, role="manager")).status_code == 200
        await home.work()
        before = len(home.told("chino/rwqcb-2-hours"))
        await home.live(hours=3)
        assert len(home.told("chino/rwqcb-2-hours")) > before


@pytest.mark.parametrize("reason", ["", "  \n ", "\x00"])
async def test_nothing_is_closed_or_opened_without_a_reason(tmp_path: Path, reason: str) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        await all_done(home, reference)
        answer = await closed(home, reference, reason=reason)
        assert answer.status_code == 422
        assert "why it is closed" in answer.json()["errors"][0]
        assert (await closed(home, reference, reason="x" * 5001)).status_code == 422


async def test_a_closed_spill_is_opened_again_once_with_a_reason(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report(contact=ANA))
        staff = home.client(await home.token("officer", "chino"))
        assert (await staff.post(f"/api/v1/spills/{reference}/reopen", json={"reason": "x"})).status_code == 409
        await all_done(home, reference)
        await closed(home, reference)
        opened = await staff.post(f"/api/v1/spills/{reference}/reopen", json={"reason": "It runs again."})
        assert (opened.status_code, opened.json()["closed"]) == (200, False)
        assert len(await home.events(reference, SpillReopened)) == 1
        assert closed_in(await home.history(reference)) is None


@pytest.mark.parametrize("path", ["close", "reopen", "answers"])
async def test_strangers_and_other_cities_close_nothing(tmp_path: Path, path: str) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        for token, status in ((None, 401), (await home.token("viewer", "chino"), 403), (await home.token("manager", "ontario"), 404)):
            answer = await home.client(token).post(f"/api/v1/spills/{reference}/{path}", json={"reason": WHY})
            assert answer.status_code == status


@pytest.mark.parametrize(
    ("contact", "told"),
    [
        (ANA, [("email", "ana@example.com")]), ({**ANA, "privacy": "named"}, [("email", "ana@example.com")]),
        ({**ANA, "email": ""}, [("sms", "+19095550155")]), ({**ANA, "email": "not one", "phone": "12"}, []),
        ({**ANA, "privacy": "anonymous"}, []), ({}, []), ({"phone": "+44 20 7946 0958"}, []),
    ],
)  # fmt: skip
async def test_the_reporter_hears_of_an_answer_only_where_they_left_an_address(tmp_path: Path, contact: Any, told: Any) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report(contact=contact))
        staff = home.client(await home.token("officer", "chino"))
        answer = await staff.post(f"/api/v1/spills/{reference}/answers", json={"reason": WHY})
        assert (answer.status_code, answer.json()["told_by"]) == (201, ["page", *(channel for channel, _ in told)])
        await home.work()
        lines = heard(home, "answered")
        assert [(line["channel"], line["to"]) for line in lines] == told
        for line in lines:
            assert WHY in line["text"]
            assert f"/status/{reference}." in line["text"]
        [event] = await home.events(reference, ReporterAnswered)
        assert event.office == "officer"


async def test_the_reporter_reads_it_in_their_language(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report(contact=ANA, language="es"))
        await all_done(home, reference)
        await closed(home, reference, reason_es="Se lavó la calle.")
        await home.work()
        [line] = heard(home, "closed")
        assert "Su reporte se cerró." in line["text"]
        assert "Se lavó la calle." in line["text"]
        assert WHY not in line["text"]


async def test_no_event_and_no_message_to_staff_names_the_reporter(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report(contact=ANA))
        async with transaction(home.house, f"reporter of {reference}") as tx:
            spill = await tx.spill(reference)
            await add_words(tx, spill, "It is worse now.")
            await ask_for_action(tx, spill)
        await all_done(home, reference)
        await closed(home, reference)
        await home.work()
        for row, event in (await home.history(reference))[1:]:
            for secret in ("ana@example.com", "Ana Ruiz", "5550155", "555 0155"):
                assert secret not in f"{row.actor} {event.model_dump_json()}"
        assert {line["to"] for line in home.outbox() if "Ana" in line["text"] or line["to"] == "ana@example.com"} == {"ana@example.com"}


async def test_words_that_are_added_wake_the_duty_officer_once_in_a_while(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        for number in range(3):
            async with transaction(home.house, "reporter") as tx:
                await add_words(tx, await tx.spill(reference), f"It runs faster, {number}.")
        await home.work()
        assert {line["to"] for line in heard(home, "added")} == {"duty@chino.example", "+19095550102"}
        assert len(heard(home, "added")) == 2
        assert any("It runs faster, 0." in line["text"] for line in heard(home, "added"))
        home.clock.jump(minutes=31)
        async with transaction(home.house, "reporter") as tx:
            await add_words(tx, await tx.spill(reference), "It stopped.")
        await home.work()
        assert len(heard(home, "added")) == 4


async def test_a_closed_spill_takes_no_words_and_wakes_nobody(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        await all_done(home, reference)
        await closed(home, reference)
        async with transaction(home.house, "reporter") as tx:
            spill = await tx.spill(reference)
            with pytest.raises(Exception, match="closed; report it anew"):
                await add_words(tx, spill, "It runs again.")
            await ask_for_action(tx, spill)
        await home.work()
        assert heard(home, "asked") == []
        assert waits_for_answer(await home.history(reference))


async def test_an_answer_or_a_closing_answers_the_question(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        staff = home.client(await home.token("officer", "chino"))
        for _ in range(2):
            async with transaction(home.house, "reporter") as tx:
                await ask_for_action(tx, await tx.spill(reference))
        await home.work()
        assert len({line["to"] for line in heard(home, "asked")}) == len(heard(home, "asked")) == 2
        assert waits_for_answer(await home.history(reference))
        await staff.post(f"/api/v1/spills/{reference}/answers", json={"reason": WHY})
        assert not waits_for_answer(await home.history(reference))


async def test_a_report_takes_so_many_additions_and_no_more(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        async with transaction(home.house, "reporter") as tx:
            spill = await tx.spill(reference)
            for number in range(MOST_ADDITIONS):
                await add_words(tx, spill, f"more {number}")
            with pytest.raises(TooManyAdditions):
                await add_words(tx, spill, "and more")
