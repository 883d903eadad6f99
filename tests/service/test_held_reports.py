"""Reports that look automatic: kept, one message for many, judged by a person or let go by themselves, and never a clock lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from service import held_reports, intake, judging
from service.errors import Conflict
from service.events import FactsRecorded, ReportHeld, ReportReleased, TriageAsked
from service.held_reports import TRAP, UNPROVEN
from service.tables import Spill
from service.transaction import reading, transaction
from tests.houses import OFFICER, TUESDAY, Household
from tests.spills import a_report


async def held(home: Household, doubts: Sequence[str] = (TRAP,), **said: Any) -> str:
    """A report that looks automatic; its reference."""
    return await home.report(a_report(**said), staff=False, by_way_of="web", doubts=doubts)


async def judge(home: Household, reference: str, *, is_real: bool) -> None:
    async with transaction(home.house, OFFICER) as tx:
        spill = await tx.spill(reference)
        await (judging.call_real(tx, spill) if is_real else judging.set_aside(tx, spill, "officer"))


async def waiting(home: Household) -> list[str]:
    async with reading(home.house) as tx:
        return [spill.reference for spill in await held_reports.waiting(tx, 100)]


async def test_a_held_report_is_kept_whole_and_starts_nothing(home: Household) -> None:
    reference = await held(home, doubts=(TRAP, UNPROVEN))
    spill = await home.spill(reference)
    [received, *_] = [event for _, event in await home.history(reference)]
    assert received.raw["description"] == spill.description == "A manhole overflows beside the school."  # type: ignore[attr-defined]
    assert (spill.lat, spill.lon, spill.city, spill.facts) == (34.01, -117.69, None, {})
    assert spill.flags[:2] == [f"suspicious: {TRAP}", f"suspicious: {UNPROVEN}"]
    assert await home.clocks(reference) == []
    assert await waiting(home) == [reference]


async def test_two_hundred_held_reports_tell_each_person_once_and_once_more(home: Household) -> None:
    for _ in range(200):
        await held(home)
    await home.work()
    to_duty = {"duty@chino.example", "+19095550102"}
    assert sorted(line["to"] for line in home.outbox()) == sorted(to_duty)
    [mail] = [line for line in home.outbox() if line["channel"] == "email"]
    assert "200 reports look automatic" in mail["text"]
    assert "https://spills.example.gov/staff/held" in mail["text"]
    await home.live(minutes=14)
    assert len(home.outbox()) == 2
    await home.live(minutes=1)
    assert len(home.outbox()) == 4
    await home.live(minutes=40)
    assert len(home.outbox()) == 4  # nothing new came: nothing more is said


async def test_one_that_comes_later_is_told_of_at_once_again(home: Household) -> None:
    await held(home)
    await home.live(minutes=20)
    assert len(home.outbox()) == 2
    await held(home)
    await home.work()
    assert len(home.outbox()) == 4


async def test_a_report_called_real_has_its_clocks_from_when_it_came(home: Household) -> None:
    reference = await held(home)
    await home.live(minutes=25)
    await judge(home, reference, is_real=True)
    await home.work()
    spill = await home.spill(reference)
    assert spill.city == "chino"
    assert not any("suspicious" in flag for flag in spill.flags)
    assert spill.facts["known_at"] == "2026-12-01T22:05:00Z"
    assert (await home.clock_of(reference, "chino/rwqcb-2-hours")).starts_at == TUESDAY
    assert home.told("chino/rwqcb-2-hours")
    assert await waiting(home) == []
    assert [event.reason for event in await home.events(reference, ReportReleased)] == ["a person says that it is real"]


async def test_a_report_set_aside_is_closed_and_nothing_goes_to_its_sender(home: Household) -> None:
    reference = await held(home, contact={"email": "victim@example.com", "phone": "+19095550177", "privacy": "named"})
    await judge(home, reference, is_real=False)
    await home.live(hours=3)
    assert {line["to"] for line in home.outbox()} <= {"duty@chino.example", "+19095550102"}
    assert await waiting(home) == []
    assert await home.clocks(reference) == []
    assert [event.words["en"][:18] for _, event in await home.history(reference) if event.kind == "spill:closed"] == [  # type: ignore[attr-defined]
        "This looked like a"
    ]


async def test_a_report_is_judged_once_and_no_other_can_be(home: Household) -> None:
    reference, ordinary = await held(home), await home.report(a_report())
    await judge(home, reference, is_real=False)
    for one in (reference, ordinary):
        for is_real in (True, False):
            with pytest.raises(Conflict):
                await judge(home, one, is_real=is_real)


async def test_what_waits_to_be_said_is_taken_back_once_all_are_judged(home: Household) -> None:
    first, second = await held(home), await held(home)
    await home.work()
    assert len(home.outbox()) == 2
    for reference in (first, second):
        await judge(home, reference, is_real=False)
    await home.live(minutes=30)
    assert len(home.outbox()) == 2


async def test_what_nobody_judges_is_let_go_one_a_quarter_of_an_hour(home: Household) -> None:
    references = [await held(home) for _ in range(3)]
    await home.live(minutes=59)
    assert await waiting(home) == references
    for left in (2, 1, 0):
        await home.live(minutes=1 if left == 2 else 15)
        assert len(await waiting(home)) == left
    for reference in references:
        assert (await home.spill(reference)).facts["known_at"] == "2026-12-01T22:05:00Z"
        assert len(await home.clocks(reference)) > 5
        assert await home.events(reference, ReportHeld)
    assert home.told("chino/rwqcb-2-hours")


async def test_a_held_report_does_not_hold_up_an_honest_one(home: Household) -> None:
    for _ in range(5):
        await held(home)
    honest = await home.report(a_report(), staff=False)
    await home.live(minutes=1)
    told = await home.told_of("chino/rwqcb-2-hours")
    assert {line["spill"] for line in told} == {honest}


async def test_a_held_report_without_a_place_is_told_of_too(home: Household) -> None:
    await held(home, location=None)
    await home.work()
    assert {line["to"] for line in home.outbox()} == {"duty@chino.example", "+19095550102"}


async def test_a_process_that_stops_after_storing_holds_the_report_all_the_same(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(intake, "_put_to_the_law", stop)
        with pytest.raises(KeyboardInterrupt):
            await held(home)
    await home.live(minutes=1)
    async with reading(home.house) as tx:
        [spill] = (await tx.session.execute(select(Spill).order_by(col(Spill.id)))).scalars()
    assert await waiting(home) == [spill.reference]
    assert await home.clocks(spill.reference) == []
    await home.live(hours=1)
    assert await home.clocks(spill.reference)


async def test_the_same_request_sent_twice_is_held_once(home: Household) -> None:
    first, second = await held(home, key="a"), await held(home, key="a")
    assert first != second  # the key is part of what was said here, so these are two
    again = [await home.report(a_report(), staff=False, key="k", doubts=(TRAP,)) for _ in range(2)]
    assert again[0] == again[1]
    assert len(await home.events(again[0], ReportHeld)) == 1


async def test_a_held_report_asks_nobody_by_itself(home: Household) -> None:
    reference = await held(home, location={"lat": 35.6, "lon": -115.4})
    assert await home.events(reference, TriageAsked) == []
    await judge(home, reference, is_real=True)
    assert len(await home.events(reference, TriageAsked)) == 1
    assert len(await home.events(reference, FactsRecorded)) == 1
