"""From facts to clocks that are kept: opened, moved, met, withdrawn and waived, with every decision frozen as it was made."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from deadlines import Rulebook
from service.errors import BadInput, Conflict
from service.events import (
    AssessmentFailed,
    ObligationMet,
    ObligationMoved,
    ObligationOpened,
    ObligationOverdue,
    ObligationWaived,
    ObligationWithdrawn,
    RungReached,
)
from service.obligations import clock_json, open_questions
from service.office_days import count_gaps_anew
from service.transaction import reading, transaction
from tests.houses import TUESDAY, Household, a_household, shipped_law
from tests.service.small_law import AHEAD, CALL, COUNTED, NOTICE, SAMPLE, TWO_HOURS, WEEKLY, WORKING_DAYS, small_law
from tests.spills import a_report, gallons

RWQCB_2 = "chino/rwqcb-2-hours"
RWQCB_24 = "chino/rwqcb-24-hours"
HOUR = timedelta(hours=1)


async def states(home: Household, reference: str) -> dict[str, str]:
    return {row.duty: row.state for row in await home.clocks(reference)}


# -- opening


async def test_an_opened_clock_is_frozen_as_it_was_decided(home: Household) -> None:
    reference = await home.report(a_report())
    [opened] = [event for event in await home.events(reference, ObligationOpened) if event.clock["duty"] == RWQCB_2]
    row = await home.clock_of(reference, RWQCB_2)
    assert opened.obligation == row.id
    assert opened.clock == row.clock
    assert row.clock["pack_version"] == shipped_law().packs["chino"].version
    assert row.clock["citation"].startswith("Chino Municipal Code")
    assert (row.clock["starts_at"], row.clock["due_at"]) == ("2026-12-01T22:05:00Z", "2026-12-02T00:05:00Z")
    assert row.clock["counting"][-1] == "Due Tue 2026-12-01 16:05:00 PST (2026-12-02T00:05:00Z)."
    assert [rung["at"] for rung in row.ladder][:2] == ["start", "start+15m"]
    assert (row.state, row.due_at) == ("running", TUESDAY + 2 * HOUR)


async def test_every_clock_that_the_law_gives_is_stored_once(home: Household) -> None:
    reference = await home.report(a_report(reached=["storm_drain"], threat=True))
    rows = await home.clocks(reference)
    assert len({(row.duty, row.event_no, row.occurrence) for row in rows}) == len(rows) >= 8
    assert {row.duty for row in rows} >= {RWQCB_2, RWQCB_24, "chino/public-works-immediate", "california/cal-oes-sewage"}


async def test_a_report_without_a_city_has_no_clocks_until_staff_name_one(home: Household) -> None:
    reference = await home.report(a_report(location=None))
    assert await home.clocks(reference) == []
    await home.amend(reference, jurisdiction="chino")
    assert RWQCB_2 in await states(home, reference)


async def test_a_volume_corrected_three_hours_later_opens_the_two_hour_clock_overdue(home: Household) -> None:
    reference = await home.report(a_report(volume=gallons(800), reached=["storm_drain"]))
    assert RWQCB_2 not in await states(home, reference)
    await home.work()
    home.clock.jump(hours=3)
    await home.work()
    before = len(home.outbox())
    await home.amend(reference, "the pump log", volume=gallons(1500))
    row = await home.clock_of(reference, RWQCB_2)
    assert (row.starts_at, row.due_at, row.state) == (TUESDAY, TUESDAY + 2 * HOUR, "overdue")
    async with reading(home.house) as tx:
        assert clock_json(row, tx.now)["late_by_s"] == 3600
    await home.work()
    sent = await home.told_of(RWQCB_2)
    told = [(line["duty"], line["to"]) for line in home.outbox()[before:]]
    assert len(set(told)) == len(told)
    assert sorted((line["channel"], line["to"]) for line in sent) == [
        ("email", "director@chino.example"), ("email", "duty@chino.example"), ("email", "sewer.crew@chino.example"),
        ("email", "supervisor@chino.example"), ("sms", "+19095550101"), ("sms", "+19095550102"), ("sms", "+19095550103"),
        ("sms", "+19095550104"),
    ]  # fmt: skip
    for line in sent:  # a text message has no room for the second of two duties
        assert "OVERDUE by 1 hour" in line["text"] or (line["channel"] == "sms" and "2 duties" in line["text"])
        assert line["at"] == "2026-12-02T01:05:00Z"
    [letter] = [line for line in sent if line["to"] == "duty@chino.example"]
    assert re.search(r"stands for \d\d alerts due since Tue Dec 1, 2:05 PM PST that could not go out then\.", letter["text"])
    [message] = [row for row in await home.messages(RWQCB_2) if row.address == letter["to"]]
    assert message.climb.endswith(":start,start+15m,due-1h,due-10m,due,due+30m,due+1h#1")  # on record, for whom the steps mean something
    [overdue] = await home.events(reference, ObligationOverdue, RWQCB_2)
    assert overdue.due_at == "2026-12-02T00:05:00+00:00"


async def test_a_call_made_before_the_rule_applied_opens_its_clock_met(small: Household) -> None:
    reference = await small.report(a_report(volume=gallons(800)))
    small.clock.jump(hours=1)
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    small.clock.jump(hours=2)
    await small.amend(reference, volume=gallons(1500))
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.met_at) == ("met", TUESDAY + HOUR)
    await small.live(hours=6)
    assert small.told(TWO_HOURS) == []
    assert len(await small.events(reference, ObligationOpened)) == len(await small.events(reference, ObligationMet)) == 1


# -- meeting


async def test_one_call_meets_every_clock_of_that_recipient_and_no_other(home: Household) -> None:
    reference = await home.report(a_report(threat=True, reached=["storm_drain"]))
    home.clock.jump(minutes=30)
    await home.happened(reference, "notice_given", recipient="rwqcb-santa-ana", method="telephone")
    found = await states(home, reference)
    assert (found[RWQCB_2], found[RWQCB_24]) == ("met", "met")
    assert found["chino/rwqcb-written-5-days"] == "running"
    assert found["chino/fire-district-immediate"] in ("running", "overdue")


async def test_a_duty_done_late_says_by_how_much(small: Household) -> None:
    reference = await small.report(a_report())
    small.clock.jump(hours=2, minutes=10)
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.clock["late_by_s"], row.clock["met_at"]) == ("met_late", 600, "2026-12-02T00:15:00Z")
    [met] = await small.events(reference, ObligationMet)
    assert met.late_by_s == 600


async def test_a_call_recorded_later_counts_from_when_it_was_made(small: Household) -> None:
    reference = await small.report(a_report())
    small.clock.jump(hours=5)
    await small.happened(reference, "notice_given", TUESDAY + HOUR, recipient="board", method="telephone")
    assert (await small.clock_of(reference, TWO_HOURS)).state == "met"


async def test_a_met_clock_stays_met_when_its_due_moment_moves_later(small: Household) -> None:
    reference = await small.report(a_report())
    small.clock.jump(hours=1)
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    await small.amend(reference, known_at=(TUESDAY + timedelta(minutes=30)).isoformat())
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.due_at) == ("met", TUESDAY + 2 * HOUR)


async def test_a_met_clock_stays_met_when_the_rule_no_longer_applies(small: Household) -> None:
    reference = await small.report(a_report())
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    await small.amend(reference, volume=gallons(10))
    assert (await small.clock_of(reference, TWO_HOURS)).state == "met"
    assert await small.events(reference, ObligationWithdrawn) == []


@pytest.mark.parametrize(("earlier", "state", "late"), [(30, "met", None), (61, "met_late", 60), (180, "met_late", 7200)])
async def test_a_met_clock_becomes_late_only_when_its_due_moment_moves_before_the_act(
    small: Household, earlier: int, state: str, late: int | None
) -> None:
    reference = await small.report(a_report())
    small.clock.jump(hours=1)
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    known_at = TUESDAY - timedelta(minutes=earlier)
    await small.amend(reference, known_at=known_at.isoformat())
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.due_at, row.met_at) == (state, known_at + 2 * HOUR, TUESDAY + HOUR)
    assert (row.clock["state"], row.clock["late_by_s"]) == (state, late)
    moved = (await small.events(reference, ObligationMoved))[-1]
    assert (moved.before["due_at"], moved.clock["due_at"]) == ("2026-12-02T00:05:00Z", row.clock["due_at"])
    await small.live(hours=5)
    assert small.told(TWO_HOURS) == []


# -- withdrawing and opening again


async def test_a_fact_that_settles_false_withdraws_the_clock_with_who_when_and_why(small: Household) -> None:
    reference = await small.report(a_report(volume=None))
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.clock["applies"], row.clock["unsettled"]) == ("presumed", ["volume"])
    small.clock.jump(minutes=40)
    await small.amend(reference, "measured at the pump: it was a bucket", actor="ann@chino.example", volume=gallons(5))
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.reason, row.next_at) == ("withdrawn", "measured at the pump: it was a bucket", None)
    [(stored, event)] = [
        (stored, event)
        for stored, event in await small.history(reference)
        if isinstance(event, ObligationWithdrawn) and event.duty == TWO_HOURS
    ]
    assert (stored.actor, stored.recorded_at) == ("ann@chino.example", small.clock.at)
    assert event.reason == "measured at the pump: it was a bucket"
    sent = len(small.told(TWO_HOURS))
    await small.live(hours=8)
    assert len(small.told(TWO_HOURS)) == sent


async def test_a_withdrawn_clock_opens_again_when_the_fact_turns(small: Household) -> None:
    reference = await small.report(a_report())
    await small.work()
    await small.amend(reference, volume=gallons(10))
    assert (await small.clock_of(reference, TWO_HOURS)).state == "withdrawn"
    await small.live(minutes=30)
    await small.amend(reference, "it was not a bucket after all", volume=gallons(2000))
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.due_at, row.reason) == ("running", TUESDAY + 2 * HOUR, "")
    moved = (await small.events(reference, ObligationMoved))[-1]
    assert (moved.before["state"], moved.replanned) == ("withdrawn", True)
    await small.work()
    again = [line for line in small.told(TWO_HOURS) if line["at"] == "2026-12-01T22:35:00Z"]
    assert len(again) == 6
    assert all("CHANGED: " in line["subject"] + line["text"] for line in again)


async def test_a_spill_that_turns_out_to_lie_elsewhere_changes_its_law(home: Household) -> None:
    reference = await home.report(a_report(threat=True, reached=["storm_drain"]))
    await home.amend(reference, "the other side of the line", jurisdiction="ontario")
    found = await states(home, reference)
    assert found[RWQCB_2] == "withdrawn"
    assert found["ontario/rwqcb-24-hours"] == "running"
    assert found["california/cal-oes-sewage"] in ("running", "overdue")


async def test_a_spill_that_turns_out_to_be_in_no_city_has_no_clock_left(home: Household) -> None:
    reference = await home.report(a_report(threat=True))
    await home.name_discharger(reference, "Hillside Dairy", email="office@dairy.example")
    await home.amend(reference, "the county's", jurisdiction=None)
    assert set((await states(home, reference)).values()) == {"withdrawn"}
    await home.work()
    sent = len(home.outbox())
    await home.live(hours=30)
    assert len(home.outbox()) == sent


# -- presumed clocks


async def test_a_presumed_clock_that_is_settled_goes_on_without_a_new_alert(small: Household) -> None:
    reference = await small.report(a_report(volume=None))
    await small.live(minutes=30)
    sent = len(small.told(TWO_HOURS))
    await small.amend(reference, volume=gallons(1500))
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.clock["applies"], row.clock["unsettled"], row.state) == ("yes", [], "running")
    [moved] = await small.events(reference, ObligationMoved)
    assert (moved.before["applies"], moved.replanned) == ("presumed", False)
    await small.work()
    assert len(small.told(TWO_HOURS)) == sent


async def test_an_overdue_clock_that_is_settled_stays_overdue_and_is_noted_once(small: Household) -> None:
    reference = await small.report(a_report(volume=None))
    await small.live(hours=2, minutes=10)
    assert (await small.clock_of(reference, TWO_HOURS)).state == "overdue"
    await small.amend(reference, volume=gallons(1500))
    assert (await small.clock_of(reference, TWO_HOURS)).state == "overdue"
    await small.live(hours=5)
    assert len(await small.events(reference, ObligationOverdue)) == 1


async def test_a_backward_clock_that_is_settled_does_not_begin_its_ladder_anew(tmp_path: Path) -> None:
    law = small_law(NOTICE.replace("    starts:", "    when: {fact: premises, is: construction}\n    starts:"))
    async with a_household(tmp_path, law=law) as home:
        reference = await home.report(a_report(kind="planned_discharge", planned_at="2026-12-20T09:00"))
        await home.live(hours=5)
        sent = len(home.told(AHEAD))
        await home.amend(reference, premises="construction")
        assert (await home.clock_of(reference, AHEAD)).clock["applies"] == "yes"
        await home.live(days=15)
        starts = [line for line in home.told(AHEAD)[sent:] if "start" in line["step"] or "start" in line["text"].split("Law:")[0]]
        assert starts == []


async def test_open_questions_name_the_facts_that_nobody_settled(home: Household) -> None:
    reference = await home.report(a_report(volume=None))
    async with reading(home.house) as tx:
        asked = await open_questions(tx, await tx.spill(reference))
    by_fact = {question["fact"]: question for question in asked}
    assert RWQCB_2 in by_fact["volume"]["presumed"]
    assert any(duty.startswith("sewer-order/") for duty in by_fact["enrollee"]["held_back"])


# -- a new version of a pack


async def test_a_new_pack_alone_does_not_move_a_running_clock(small: Household) -> None:
    reference = await small.report(a_report())
    before = await small.clock_of(reference, TWO_HOURS)
    stricter = small.with_house(rulebook=small_law(CALL, limit="1 hours", version="2026-06-01"))
    small.clock.jump(minutes=5)
    await stricter.happened(reference, "repaired")
    await stricter.amend(reference, accidental=True)
    after = await stricter.clock_of(reference, TWO_HOURS)
    assert (after.due_at, after.clock) == (before.due_at, before.clock)
    assert await small.events(reference, ObligationMoved) == []


async def test_a_running_clock_is_met_by_the_time_it_was_given(small: Household) -> None:
    reference = await small.report(a_report())
    before = await small.clock_of(reference, TWO_HOURS)
    stricter = small.with_house(rulebook=small_law(CALL, limit="1 hours", version="2026-06-01"))
    small.clock.jump(minutes=90)
    await stricter.happened(reference, "notice_given", recipient="board", method="telephone")
    after = await stricter.clock_of(reference, TWO_HOURS)
    assert (after.state, after.due_at, after.clock["late_by_s"]) == ("met", before.due_at, None)
    assert (after.clock["pack_version"], after.clock["due_at"]) == (before.clock["pack_version"], before.clock["due_at"])


async def test_a_new_pack_alone_makes_no_met_clock_late(small: Household) -> None:
    reference = await small.report(a_report())
    small.clock.jump(minutes=90)
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    stricter = small.with_house(rulebook=small_law(CALL, limit="1 hours", version="2026-06-01"))
    await stricter.amend(reference, accidental=True)
    assert (await stricter.clock_of(reference, TWO_HOURS)).state == "met"
    await stricter.amend(reference, known_at=(TUESDAY - HOUR).isoformat())
    assert (await stricter.clock_of(reference, TWO_HOURS)).state == "met_late"


async def test_facts_that_move_a_clock_put_it_under_the_new_pack(small: Household) -> None:
    reference = await small.report(a_report())
    stricter = small.with_house(rulebook=small_law(CALL, limit="1 hours", version="2026-06-01"))
    await stricter.amend(reference, known_at=(TUESDAY - HOUR / 2).isoformat())
    row = await stricter.clock_of(reference, TWO_HOURS)
    assert (row.due_at, row.clock["pack_version"]) == (TUESDAY + HOUR / 2, stricter.house.rulebook.packs["chino"].version)
    [moved] = await stricter.events(reference, ObligationMoved)
    assert moved.before["pack_version"] == small.house.rulebook.packs["chino"].version


# -- waiving


async def test_a_waiver_needs_a_reason_and_stays(small: Household) -> None:
    reference = await small.report(a_report())
    await small.work()
    with pytest.raises(BadInput, match="reason"):
        await small.waive(reference, TWO_HOURS, "  ")
    await small.waive(reference, TWO_HOURS, "the county took it over, D. Ortiz")
    sent = len(small.outbox())
    await small.amend(reference, volume=gallons(9000), known_at=(TUESDAY - HOUR).isoformat())
    await small.live(hours=9)
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.reason) == ("waived", "the county took it over, D. Ortiz")
    assert len(small.outbox()) == sent
    [waived] = await small.events(reference, ObligationWaived)
    assert waived.reason == "the county took it over, D. Ortiz"
    with pytest.raises(Conflict, match="waived already"):
        await small.waive(reference, TWO_HOURS, "again")


async def test_a_closed_duty_can_be_neither_waived_nor_acknowledged(small: Household) -> None:
    reference = await small.report(a_report())
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    with pytest.raises(Conflict, match="met already"):
        await small.waive(reference, TWO_HOURS, "why not")
    with pytest.raises(Conflict, match="nothing to acknowledge"):
        await small.acknowledge(reference, TWO_HOURS)


# -- events that start clocks


async def test_each_order_runs_a_clock_of_its_own_and_waits_where_it_names_no_time(home: Household) -> None:
    reference = await home.report(a_report(kind="enforcement"))
    await home.happened(reference, "order_served", order="notice_of_correction", comply_by="2026-12-20T17:00:00-08:00")
    await home.happened(reference, "order_served", order="notice_of_correction")
    first, second = [row for row in await home.clocks(reference) if row.duty == "chino/correction"]
    assert (first.event_no, first.state, first.due_at) == (0, "running", datetime(2026, 12, 21, 1, tzinfo=UTC))
    assert (second.event_no, second.state, second.due_at) == (1, "waiting", None)
    await home.live(days=30)
    assert len(await home.events(reference, RungReached, "chino/correction")) > 1
    assert await home.messages("chino/correction", obligation_id=second.id) == []


# -- duties that recur


async def construction_site(home: Household) -> str:
    begun = "2026-12-01T09:00"
    return await home.report(a_report(kind="planned_discharge", premises="construction", planned_at=begun, discharged_at=begun))


async def test_a_recurring_duty_opens_its_next_occurrence_as_time_passes(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(SAMPLE)) as home:
        reference = await construction_site(home)
        assert [row.occurrence for row in await home.clocks(reference)] == [1]
        await home.live(days=7)
        assert [row.occurrence for row in await home.clocks(reference)] == [1]
        await home.live(days=1)
        assert [row.occurrence for row in await home.clocks(reference)] == [1, 2]
        await home.live(days=14)
        rows = await home.clocks(reference)
        assert [row.occurrence for row in rows] == [1, 2, 3, 4]
        assert [row.due_at for row in rows] == [datetime(2026, 12, 9 + 7 * week, 7, 59, 59, tzinfo=UTC) for week in range(4)]


async def test_the_worker_gets_past_the_very_moment_at_which_an_occurrence_is_due(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(SAMPLE)) as home:
        reference = await construction_site(home)
        home.clock.at = (await home.clocks(reference))[0].due_at or home.clock.at
        following = await home.work()
        assert following is not None
        assert following > home.clock.at


async def test_after_downtime_every_missed_occurrence_is_there(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(SAMPLE)) as home:
        reference = await construction_site(home)
        home.clock.jump(days=22)
        await home.work()
        assert [(row.occurrence, row.state) for row in await home.clocks(reference)] == [
            (1, "overdue"), (2, "overdue"), (3, "overdue"), (4, "running"),
        ]  # fmt: skip


async def test_an_occurrence_is_met_by_an_act_within_its_week(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(SAMPLE)) as home:
        reference = await construction_site(home)
        await home.live(days=5)
        await home.happened(reference, "sampling_done")
        await home.live(days=5)
        assert [(row.occurrence, row.state) for row in await home.clocks(reference)] == [(1, "met"), (2, "running")]


async def test_a_discharge_that_has_ended_owes_no_further_occurrence(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(SAMPLE)) as home:
        reference = await construction_site(home)
        await home.live(days=3)
        await home.amend(reference, "pumped out", ended_at="2026-12-04T09:00")
        row = await home.clock_of(reference, WEEKLY, occurrence=1)
        assert (row.state, row.reason) == ("withdrawn", "pumped out")
        sent = len(home.outbox())
        await home.live(days=14)
        assert len(home.outbox()) == sent


# -- a count that leaves its calendar

NEW_YEARS_EVE = datetime(2031, 12, 30, 20, tzinfo=UTC)


async def test_a_clock_that_cannot_be_counted_is_stored_shown_and_an_alarm(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(COUNTED), at=NEW_YEARS_EVE) as home:
        reference = await home.report(a_report(threat=True))
        row = await home.clock_of(reference, WORKING_DAYS)
        assert (row.state, row.due_at) == ("waiting", None)
        assert "calendar chino covers 2024-01-01 to 2031-12-31" in row.reason
        assert row.clock["counting"][0].startswith("Cannot be computed: ")
        [failed] = await home.events(reference, AssessmentFailed)
        assert failed.problem.startswith(f"{WORKING_DAYS}: calendar chino covers")
        async with home.client(await home.token("viewer", "chino")) as client:
            [shown] = (await client.get("/api/v1/spills")).json()["spills"]
            [clock] = (await client.get(f"/api/v1/spills/{reference}/clocks")).json()
        assert shown["alarms"] == 1
        assert clock["counting"][0].startswith("Cannot be computed: ")
        assert clock["reason"] == row.reason


async def test_a_clock_that_is_moved_out_of_its_calendar_is_an_alarm_too(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(COUNTED), at=NEW_YEARS_EVE) as home:
        reference = await home.report(a_report(threat=True, discharged_at="2031-12-20T09:00"))
        assert await home.events(reference, AssessmentFailed) == []
        await home.amend(reference, discharged_at="2031-12-30T09:00")
        assert (await home.clock_of(reference, WORKING_DAYS)).state == "waiting"
        assert len(await home.events(reference, AssessmentFailed)) == 1
        await home.live(days=9)
        assert home.told(WORKING_DAYS) == []  # what was promised about the old due time is taken back


async def test_a_clock_runs_once_its_calendar_is_longer(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(COUNTED), at=NEW_YEARS_EVE) as home:
        reference = await home.report(a_report(threat=True))
        home = home.with_house(rulebook=with_longer_calendar(small_law(COUNTED)))
        await home.amend(reference, accidental=True)
        row = await home.clock_of(reference, WORKING_DAYS)
        assert (row.state, row.due_at, row.reason) == ("running", datetime(2032, 1, 3, 1, tzinfo=UTC), "")


def with_longer_calendar(law: Rulebook) -> Rulebook:
    """The same law in a release whose calendar covers two more years."""
    packs = {key: replace(pack, calendar=replace(pack.calendar, last_day=date(2033, 12, 31))) for key, pack in law.packs.items()}
    return Rulebook(packs, law.quantities)


async def test_such_a_clock_runs_by_itself_once_a_longer_release_is_started(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(COUNTED), at=NEW_YEARS_EVE) as home:
        reference = await home.report(a_report(threat=True))
        await home.work()
        async with transaction(home.house, "spillclock") as tx:  # what `serve` does when it starts: the same release changes nothing
            assert await count_gaps_anew(tx) == 1
        await home.work()
        assert len(await home.events(reference, AssessmentFailed)) == 1
        home = home.with_house(rulebook=with_longer_calendar(small_law(COUNTED)))
        async with transaction(home.house, "spillclock") as tx:
            assert await count_gaps_anew(tx) == 1
        await home.work()
        row = await home.clock_of(reference, WORKING_DAYS)
        assert (row.state, row.due_at, row.reason) == ("running", datetime(2032, 1, 3, 1, tzinfo=UTC), "")
        assert home.told(WORKING_DAYS, "start")
        async with transaction(home.house, "spillclock") as tx:
            assert await count_gaps_anew(tx) == 0


async def test_an_unread_clock_says_that_it_is_overdue_before_the_worker_does(small: Household) -> None:
    reference = await small.report(a_report())
    row = await small.clock_of(reference, TWO_HOURS)
    assert clock_json(row, TUESDAY + 2 * HOUR)["state"] == "running"
    told = clock_json(row, TUESDAY + 2 * HOUR + timedelta(seconds=1))
    assert (told["state"], told["late_by_s"]) == ("overdue", 1)
    assert row.state == "running"  # on record until the worker climbs
