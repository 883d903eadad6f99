"""A rehearsal: the same spill through the same escalation, on a clock that nobody waits for."""

import asyncio
import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from deadlines import FactFaults
from service.errors import BadInput
from service.rehearsal import Cast, Rehearsed, as_line, done_in, example, examples, rehearse, unanswered
from tests.houses import TUESDAY, a_household, shipped_law
from tests.spills import a_report, gallons

RWQCB = "chino/rwqcb-2-hours"
SPILL: dict[str, Any] = {
    "jurisdiction": "chino", "material": "sewage", "volume": gallons(1500), "known_at": "2026-12-01T14:05:00-08:00",
    "reached": ["contained"], "threat": False, "accidental": False,
}  # fmt: skip


def call(minute: int) -> dict[str, Any]:
    at = (TUESDAY + timedelta(minutes=minute)).isoformat()
    return {"type": "notice_given", "at": at, "recipient": "rwqcb-santa-ana", "method": "telephone"}


def about(told: list[Rehearsed], duty: str) -> list[tuple[datetime, str, str]]:
    """The rungs of a duty that messages told, alone or together with others."""
    found = [(message, part) for message in told for part in message.reason.split("; also ") if part.startswith(f"{duty}, rung ")]
    return [(message.at, re.split(r", to the | \(", part.partition(", rung ")[2])[0], message.to) for message, part in found]


UNTIL = TUESDAY + timedelta(hours=3)


@cache
def the_rehearsal() -> list[Rehearsed]:
    """Three hours of the spill, rehearsed once for all tests that only look at it."""
    return asyncio.run(rehearse(SPILL, UNTIL))


def test_a_rehearsal_tells_every_message_in_order_with_its_reason() -> None:
    told = the_rehearsal()
    assert [message.at for message in told] == sorted(message.at for message in told)
    first = told[0]
    assert (first.at, first.step) == (TUESDAY, "start")
    assert first.reason.startswith(f"{first.duty}, rung start, to the ")
    assert f"; also {RWQCB}, rung start, to the " in first.reason  # one message for all of them
    steps = list(dict.fromkeys(step for _, step, _ in about(told, RWQCB)))
    assert steps == ["start", "start+15m", "due-1h", "due-10m", "due", "due+30m", "due+1h#1"]
    assert {message.role for message in told} == {"discharger", "duty_officer", "supervisor", "director"}
    assert as_line(first).keys() == {"at", "to", "recipient", "role", "channel", "duty", "step", "reason", "subject", "text"}
    assert as_line(first)["at"] == "2026-12-01T22:05:00Z"


def test_a_rehearsal_ends_where_it_is_told_to() -> None:
    assert max(message.at for message in the_rehearsal()) == UNTIL


def test_two_rehearsals_of_one_spill_are_alike_to_the_letter() -> None:
    again = asyncio.run(rehearse(SPILL, UNTIL))
    assert [as_line(message) for message in again] == [as_line(message) for message in the_rehearsal()]


def test_a_rehearsal_sends_what_the_running_service_would_send(tmp_path: Path) -> None:
    async def live() -> list[dict[str, Any]]:
        async with a_household(tmp_path) as home:
            await home.report(a_report(**{key: value for key, value in SPILL.items() if key != "jurisdiction"}))
            await home.live(hours=3)
            return home.outbox()

    sent = [(line["at"], line["duty"], line["step"], line["to"]) for line in asyncio.run(live())]
    rehearsed = [(as_line(message)["at"], message.duty, message.step, message.to) for message in the_rehearsal()]
    assert sorted(sent) == sorted(rehearsed)


async def test_an_act_stops_the_messages_of_its_duty() -> None:
    told = await rehearse({**SPILL, "threat": True, "events": [call(70)]}, TUESDAY + timedelta(days=5))
    mine = about(told, RWQCB)
    assert max(at for at, _, _ in mine) == TUESDAY + timedelta(hours=1)
    assert max(at for at, _, _ in about(told, "chino/rwqcb-written-5-days")) > TUESDAY + timedelta(days=2)


async def test_an_act_at_the_moment_of_a_rung_is_in_time() -> None:
    told = await rehearse({**SPILL, "events": [call(120), call(15)]}, TUESDAY + timedelta(hours=3))
    assert {step for _, step, _ in about(told, RWQCB)} == {"start"}


async def test_four_hundred_days_pass_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()

    def no_timer(*_: Any, **__: Any) -> None:
        raise AssertionError("a rehearsal waited for real time")

    order = {"type": "order_served", "at": "2026-12-01T14:05:00-08:00", "order": "notice_of_correction"}
    facts = {"jurisdiction": "chino", "kind": "enforcement", "events": [{**order, "comply_by": "2027-10-01T17:00:00-07:00"}]}
    sleep = asyncio.sleep

    async def only_a_breath(delay: float, *rest: Any) -> Any:
        return no_timer() if delay else await sleep(0, *rest)

    monkeypatch.setattr(asyncio, "sleep", only_a_breath)
    began = loop.time()
    told = await rehearse(facts)
    assert loop.time() - began < 60
    assert told[-1].at > datetime(2027, 10, 1, tzinfo=UTC)


async def test_a_duty_that_recurs_is_rehearsed_week_by_week() -> None:
    begun = "2026-12-01T09:00:00-08:00"
    facts = {
        "jurisdiction": "ontario", "kind": "planned_discharge", "premises": "construction", "planned_at": begun, "discharged_at": begun,
        "known_at": begun,
    }  # fmt: skip
    told = await rehearse(facts, TUESDAY + timedelta(days=9))
    starts = [at for at, step, to in about(told, "ontario/weekly-sample") if step == "start" and "duty@" in to]
    assert len(starts) == 2
    assert about(told, "ontario/weekly-monitoring-report")


async def test_who_is_on_call_and_who_sees_an_alert_is_rehearsed_too() -> None:
    people = [{"role": "duty_officer", "name": name, "email": f"{name}@chino.example".lower()} for name in ("Ann", "Bob")]
    people.append({"role": "supervisor", "name": "Sue", "email": "sue@chino.example"})
    turns = {"members": ["Ann", "Bob"], "starts_on": date(2026, 12, 1), "turn_days": 1, "handover": "15:00"}
    rota = {"role": "duty_officer", "name": "Desk", **turns}
    seen = {"at": (TUESDAY + timedelta(minutes=10)).isoformat(), "duty": RWQCB, "person": "Ann"}
    told = await rehearse(SPILL, UNTIL, Cast(people, [rota], [seen]))
    mine = [(at - TUESDAY, step, to) for at, step, to in about(told, RWQCB)]
    assert (timedelta(minutes=40), "start+15m", "sue@chino.example") in mine  # half an hour after it was seen
    assert {to for _, step, to in mine if step == "start"} == {"ann@chino.example", "bob@chino.example"}  # nobody's turn before three
    assert {to for _, step, to in mine if step == "due-1h"} == {"ann@chino.example"}


@pytest.mark.parametrize("name", examples())
async def test_every_example_can_be_rehearsed_and_tells_somebody(name: str) -> None:
    chosen = example(name)
    told = await rehearse(chosen.facts, chosen.until, chosen.cast)
    assert told
    assert max(message.at for message in told) <= chosen.until


async def test_the_fourth_of_july_shows_every_call_and_both_written_reports() -> None:
    chosen = example("Sewage on the fourth  of JULY")  # in any case
    told = await rehearse(chosen.facts, chosen.until, chosen.cast)
    done = [says for _, says in done_in(chosen.facts, chosen.until, chosen.cast, shipped_law())]
    assert len([says for says in done if says.endswith(" is told by telephone.")]) == 5
    assert len([says for says in done if says.startswith("A written report is handed in to ")]) == 2
    for duty, last in (("chino/rwqcb-written-5-days", date(2026, 7, 9)), ("chino/written-report-7-days", date(2026, 7, 11))):
        assert max(at for at, _, _ in about(told, duty)).date() == last
    assert not any(message.subject.startswith("OVERDUE") for message in told)  # every duty is done in time
    beside = await unanswered(chosen, told)
    assert any(message.subject.startswith("OVERDUE") for message in beside)
    assert "director" in {message.role for message in beside}


async def test_where_nobody_answers_anyhow_only_what_comes_later_is_beside_it() -> None:
    chosen = example("nobody answers")
    told = await rehearse(chosen.facts, None, chosen.cast)
    assert await unanswered(chosen, told) == []


async def test_an_example_that_is_none_is_answered_with_their_names() -> None:
    with pytest.raises(BadInput) as refused:
        example("nothing")
    assert "sewage on the Fourth of July; nobody answers" in refused.value.faults[0]


async def test_nothing_happens_where_no_clock_runs() -> None:
    assert await rehearse({"jurisdiction": "chino", "kind": "enforcement"}) == []
    assert await rehearse({**SPILL, "volume": gallons(1), "threat": False, "material": "potable_water"}) == []


async def test_bad_facts_are_refused_with_their_faults() -> None:
    with pytest.raises(FactFaults) as faults:
        await rehearse({**SPILL, "volume": "much", "colour": "brown"})
    assert {fault.key for fault in faults.value.faults} == {"volume", "colour"}
