"""The days that a city adds to its calendar: what may be entered, how clocks are counted by it, and what moves when it changes."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlmodel import col

from service import programs
from service.cli import main
from service.errors import BadInput, NotKnown
from service.events import AssessmentFailed, ObligationMoved, ObligationOpened
from service.office_days import cities_in_use, entries_of, left_of, rulebook_of
from service.replanning import Change, add_day, moved_by, remove_day
from service.tables import Closure
from service.transaction import reading, transaction
from tests.houses import TUESDAY, Household, a_household
from tests.service.small_law import AHEAD, COUNTED, NOTICE, WORKING_DAYS, small_law
from tests.spills import IN_ONTARIO, a_report

# Three working days after Tuesday, December 1: Friday the 4th at five. With Friday closed, Monday the 7th.
FRIDAY, MONDAY = date(2026, 12, 4), date(2026, 12, 7)
DUE_FRIDAY, DUE_MONDAY, DUE_THURSDAY = (datetime(2026, 12, day, 1, tzinfo=UTC) for day in (5, 8, 4))
MANAGER = "manager@chino.example"
LADDER = """
    - {at: start, tell: [duty_officer], by: [sms, email]}
    - {at: due-1d, tell: [supervisor], by: [email]}
    - {at: due, tell: [duty_officer, director], by: [sms]}
    - {at: due+1h, every: 1h, times: 2, tell: [duty_officer], by: [sms]}
"""
LAW = small_law(COUNTED, LADDER)


async def close(home: Household, day: date = FRIDAY, *, city: str = "chino", is_open: bool = False, **said: str) -> Change:
    async with transaction(home.house, MANAGER) as tx:
        return await add_day(tx, city, day, said.get("name", "Furlough"), said.get("source", "Resolution 2026-14"), is_open=is_open)


async def take_out(home: Household, day: date = FRIDAY, reason: str = "the council took it back") -> Change:
    async with transaction(home.house, MANAGER) as tx:
        return await remove_day(tx, "chino", day, reason)


@pytest.fixture
async def counted(tmp_path: Path) -> Any:
    async with a_household(tmp_path, law=LAW) as home:
        yield home


async def a_spill(home: Household, **facts: Any) -> str:
    return await home.report(a_report(threat=True, **facts))


async def due(home: Household, reference: str, duty: str = WORKING_DAYS) -> datetime | None:
    return (await home.clock_of(reference, duty)).due_at


# -- what may be entered


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"day": date(2023, 12, 29)}, "date: 2023-12-29 lies outside the days that calendar chino covers; right would be: a day from 2024"),
        ({"day": date(2032, 1, 2)}, "right would be: a day from 2024-01-01 to 2031-12-31"),
        ({"day": date(2026, 12, 5)}, "date: 2026-12-05 is a Saturday, and counts as closed already"),
        ({"day": date(2026, 12, 25)}, r"date: 2026-12-25 is closed already, Christmas Day \(5 USC"),
        ({"is_open": True}, "date: 2026-12-04 is open already"),
        ({"name": " "}, "name: missing; right would be: what the day is called"),
        ({"name": "x" * 201}, "name: too long"),
        ({"source": "\x00"}, "source: missing; right would be: what says so"),
    ],
)
async def test_a_day_that_cannot_be_entered_is_refused_with_what_would_be_right(
    counted: Household, said: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(BadInput) as refused:
        await close(counted, **said)
    [fault] = refused.value.faults
    assert re.search(wrong, fault), fault
    async with reading(counted.house) as tx:
        assert await entries_of(tx, "chino") == []


async def test_a_city_that_is_not_known_has_no_calendar(counted: Household) -> None:
    with pytest.raises(NotKnown, match="'atlantis' is not a known city; right would be: one of chino"):
        await close(counted, city="atlantis")


async def test_a_day_is_entered_once_and_again_only_after_it_was_removed(counted: Household) -> None:
    await close(counted)
    with pytest.raises(BadInput) as refused:
        await close(counted, name="Another name")
    assert refused.value.faults == [
        "date: 2026-12-04 is entered already, closed, Furlough (Resolution 2026-14); right would be: remove that entry first"
    ]
    with pytest.raises(BadInput) as refused:
        await take_out(counted, reason=" ")
    assert refused.value.faults[0].startswith("reason: missing")
    await take_out(counted)
    with pytest.raises(NotKnown, match="chino has no entry for 2026-12-04: nothing was entered for that day"):
        await take_out(counted)
    await close(counted, name="Another name")
    async with reading(counted.house) as tx:
        first, second = await entries_of(tx, "chino")
    assert (first.name, first.added_by, first.removed_by, first.reason) == ("Furlough", MANAGER, MANAGER, "the council took it back")
    assert (first.added_at, first.removed_at) == (TUESDAY, TUESDAY)
    assert (second.name, second.removed_at) == ("Another name", None)


async def test_a_closure_that_ships_is_not_removed_but_opened(counted: Household) -> None:
    with pytest.raises(NotKnown, match=r"it ships as closed, Christmas Day .*; to say otherwise, enter it as open"):
        await take_out(counted, date(2026, 12, 25))


@pytest.mark.parametrize(
    "change", [delete(Closure), update(Closure).values(source="another"), update(Closure).values(removed_at=None, reason="never mind")]
)
async def test_the_database_itself_keeps_every_entry_as_it_was(counted: Household, change: Any) -> None:
    await close(counted)
    await take_out(counted)
    with pytest.raises(DBAPIError, match="entries of a calendar are"):
        async with transaction(counted.house, "hand") as tx:
            await tx.session.execute(change)


async def test_the_database_itself_keeps_one_entry_in_effect_a_day(counted: Household) -> None:
    await close(counted)
    with pytest.raises(DBAPIError, match="UNIQUE"):
        async with transaction(counted.house, "hand") as tx:
            await tx.session.execute(
                text(
                    "INSERT INTO closures (city, day, kind, name, source, added_by, added_at, reason)"
                    " VALUES ('chino', '2026-12-04', 'open', 'x', 'y', 'z', '2026-12-01 00:00:00', '')"
                )
            )


# -- counting


async def test_a_new_clock_is_counted_past_a_day_the_city_has_closed(counted: Household) -> None:
    await close(counted)
    reference = await a_spill(counted)
    row = await counted.clock_of(reference, WORKING_DAYS)
    assert row.due_at == DUE_MONDAY
    assert "Fri 2026-12-04: not counted, Furlough (Resolution 2026-14)." in row.clock["counting"]


async def test_a_new_clock_counts_a_day_that_the_city_keeps_open(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=LAW, at=datetime(2026, 12, 23, 20, tzinfo=UTC)) as home:
        reference = await a_spill(home)
        assert await due(home, reference) == datetime(2026, 12, 30, 1, tzinfo=UTC)  # Thursday, Monday, Tuesday: Friday is Christmas Day
        change = await close(home, date(2026, 12, 25), is_open=True, name="Works on Christmas", source="Order 7")
        assert [one.due_after for one in change.moved] == [datetime(2026, 12, 29, 1, tzinfo=UTC)]
        await close(home, date(2026, 12, 26), is_open=True, name="Works on Saturday", source="Order 8")
        assert await due(home, reference) == datetime(2026, 12, 27, 1, tzinfo=UTC)


async def test_the_law_is_built_anew_only_when_an_entry_changes(counted: Household) -> None:
    async def law(house: Any = None) -> Any:
        async with reading(house or counted.house) as tx:
            return await rulebook_of(tx)

    assert await law() is counted.house.rulebook
    await close(counted)
    changed = await law()
    assert changed is not counted.house.rulebook
    assert changed is await law()
    assert changed.version == counted.house.rulebook.version
    assert counted.house.rulebook.law_of("chino").calendar.why_closed(FRIDAY) is None
    await take_out(counted)
    assert await law() is counted.house.rulebook


async def test_another_process_counts_by_a_change_at_its_next_transaction(counted: Household) -> None:
    other = counted.with_house()
    await close(counted)
    assert await due(other, await a_spill(other)) == DUE_MONDAY


async def test_an_entry_of_one_city_leaves_the_others_alone(home: Household) -> None:
    await close(home, city="ontario")
    in_chino, in_ontario = await home.report(a_report()), await home.report(a_report(location=IN_ONTARIO))
    async with reading(home.house) as tx:
        law = await rulebook_of(tx)
        assert await cities_in_use(tx) == ["chino", "ontario"]
    assert law.law_of("chino").calendar.why_closed(FRIDAY) is None
    assert law.law_of("ontario").calendar.why_closed(FRIDAY) == "Furlough (Resolution 2026-14)"
    assert in_chino != in_ontario


# -- what moves


async def test_adding_a_day_moves_the_running_clock_and_says_why(counted: Household) -> None:
    reference = await a_spill(counted)
    change = await close(counted)
    [one] = change.moved
    assert (one.reference, one.duty, one.due_before, one.due_after, one.state) == (
        reference, WORKING_DAYS, DUE_FRIDAY, DUE_MONDAY, "running",
    )  # fmt: skip
    [event] = await counted.events(reference, ObligationMoved)
    assert event.calendar == "calendar of chino: Friday 2026-12-04 is closed, Furlough (Resolution 2026-14)"
    assert (event.before["due_at"], event.clock["due_at"], event.replanned) == ("2026-12-05T01:00:00Z", "2026-12-08T01:00:00Z", True)
    assert [row.actor for row, what in await counted.history(reference) if what == event] == [MANAGER]
    row = await counted.clock_of(reference, WORKING_DAYS)
    assert (row.due_at, row.clock["due_at"], row.state) == (DUE_MONDAY, "2026-12-08T01:00:00Z", "running")


async def test_removing_a_day_moves_the_clock_back_and_says_why(counted: Household) -> None:
    reference = await a_spill(counted)
    await close(counted)
    counted.clock.jump(minutes=1)
    change = await take_out(counted)
    assert [(one.due_before, one.due_after) for one in change.moved] == [(DUE_MONDAY, DUE_FRIDAY)]
    _, event = await counted.events(reference, ObligationMoved)
    assert event.calendar == (
        "calendar of chino: Friday 2026-12-04 is no longer closed, Furlough (Resolution 2026-14): the council took it back"
    )
    async with reading(counted.house) as tx:
        [entry] = await entries_of(tx, "chino")
        assert await moved_by(tx, entry) == change.moved


async def test_a_day_that_no_running_clock_passes_moves_nothing(counted: Household) -> None:
    reference = await a_spill(counted)
    assert (await close(counted, MONDAY)).moved == []
    assert await counted.events(reference, ObligationMoved) == []


async def test_a_closed_last_day_of_calendar_days_extends_and_warns_no_later(tmp_path: Path) -> None:
    week = COUNTED.replace("3 working days", "3 calendar days")
    async with a_household(tmp_path, law=small_law(week, LADDER)) as home:
        reference = await a_spill(home)
        await home.work()
        sent = len(home.outbox())
        [one] = (await close(home)).moved
        assert one.due_before == one.due_after == datetime(2026, 12, 5, 7, 59, 59, tzinfo=UTC)
        assert (one.extended_before, one.extended_after) == (None, datetime(2026, 12, 8, 7, 59, 59, tzinfo=UTC))
        await home.work()
        assert len(home.outbox()) == sent
        assert (await home.clock_of(reference, WORKING_DAYS)).plan_no == 1


async def test_a_met_clock_stays_met_and_is_late_where_its_day_is_opened_after_all(tmp_path: Path) -> None:
    other = COUNTED.replace("working-days", "also").replace("to: works", "to: board")
    async with a_household(tmp_path, law=small_law(COUNTED + other, LADDER)) as home:
        reference = await a_spill(home)
        await close(home)
        home.clock.at = datetime(2026, 12, 7, 20, tzinfo=UTC)  # Monday noon
        content = ["cause", "cure"]
        await home.happened(reference, "report_submitted", recipient="works", method="written", content=content, complete=True)
        assert (await home.clock_of(reference, WORKING_DAYS)).state == "met"
        change = await take_out(home)
        row = await home.clock_of(reference, WORKING_DAYS)
        assert (row.state, row.due_at, row.clock["late_by_s"]) == ("met_late", DUE_FRIDAY, 67 * 3600)
        assert {one.duty: one.state for one in change.moved} == {WORKING_DAYS: "met_late", "chino/also": "overdue"}
        await close(home)
        assert (await home.clock_of(reference, WORKING_DAYS)).state == "met_late"


async def test_a_spill_without_an_open_day_count_is_not_touched(counted: Household) -> None:
    reference = await a_spill(counted)
    content = ["cause", "cure"]
    await counted.happened(reference, "report_submitted", recipient="works", method="written", content=content, complete=True)
    length = len(await counted.history(reference))
    assert (await close(counted)).moved == []
    assert len(await counted.history(reference)) == length


async def test_a_clock_of_an_earlier_pack_version_moves_and_keeps_its_version(counted: Household) -> None:
    reference = await a_spill(counted)
    before = await counted.clock_of(reference, WORKING_DAYS)
    stricter = counted.with_house(rulebook=small_law(COUNTED.replace("3 working", "1 working"), LADDER, version="2026-06-01"))
    [one] = (await close(stricter)).moved
    row = await stricter.clock_of(reference, WORKING_DAYS)
    assert (one.due_before, one.due_after, row.due_at) == (DUE_FRIDAY, DUE_MONDAY, DUE_MONDAY)
    assert row.clock["pack_version"] == before.clock["pack_version"]
    assert row.clock["limit"] == "3 working days"
    assert "Fri 2026-12-04: not counted, Furlough (Resolution 2026-14)." in row.clock["counting"]
    assert [one.due_after for one in (await take_out(stricter)).moved] == [DUE_FRIDAY]


async def test_a_clock_of_an_earlier_pack_version_can_leave_its_calendar_too(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=LAW, at=datetime(2031, 12, 26, 20, tzinfo=UTC)) as home:
        reference = await a_spill(home)
        longer = home.with_house(rulebook=small_law(COUNTED.replace("3 working", "2 working"), LADDER, version="2031-06-01"))
        assert await due(home, reference) == datetime(2032, 1, 1, 1, tzinfo=UTC)
        [one] = (await close(longer, date(2031, 12, 30))).moved
        row = await home.clock_of(reference, WORKING_DAYS)
        assert (one.due_after, one.state, row.state, row.next_at) == (None, "waiting", "waiting", None)
        assert "calendar chino covers" in row.reason
        assert len(await home.events(reference, AssessmentFailed)) == 1


async def test_days_counted_back_from_an_act_move_forward_by_a_closed_day(tmp_path: Path) -> None:
    ahead = NOTICE.replace("7 calendar days before", "3 working days before")
    async with a_household(tmp_path, law=small_law(ahead, LADDER)) as home:
        reference = await home.report(a_report(kind="planned_discharge", planned_at="2026-12-11T09:00"))
        assert await due(home, reference, AHEAD) == datetime(2026, 12, 9, 1, tzinfo=UTC)  # Tuesday the 8th
        await home.work()
        sent = [line["step"] for line in home.told(AHEAD)]
        home.clock.jump(hours=1)
        [one] = (await close(home, date(2026, 12, 9))).moved
        assert one.due_after == datetime(2026, 12, 8, 1, tzinfo=UTC)
        await home.work()
        assert [line["step"] for line in home.told(AHEAD)] == sent  # they learned of it then, not now


# -- whom it wakes


async def test_a_rung_already_sent_is_not_sent_again_when_the_due_time_moves_by_a_day(counted: Household) -> None:
    reference = await a_spill(counted)
    await counted.work()
    assert [line["step"] for line in counted.told(WORKING_DAYS)] == ["start", "start"]
    counted.clock.jump(hours=1)
    await close(counted)
    await counted.work()
    assert len(counted.told(WORKING_DAYS)) == 2
    await counted.live(days=10)
    told = [(line["step"], line["at"]) for line in counted.told(WORKING_DAYS)]
    assert told[2:] == [
        ("due-1d", "2026-12-07T01:00:00Z"), ("due", "2026-12-08T01:00:00Z"), ("due", "2026-12-08T01:00:00Z"),
        ("due+1h#1", "2026-12-08T02:00:00Z"), ("due+1h#2", "2026-12-08T03:00:00Z"),
    ]  # fmt: skip
    assert all("Mon Dec 7" in line["text"] for line in counted.told(WORKING_DAYS)[2:])
    assert reference


async def test_a_rung_that_the_move_makes_due_is_sent_at_once_and_says_that_it_changed(counted: Household) -> None:
    await close(counted)
    await a_spill(counted)
    await counted.work()
    counted.clock.at = DUE_FRIDAY - timedelta(hours=3)
    await take_out(counted)
    await counted.work()
    [late] = counted.told(WORKING_DAYS)[2:]
    assert (late["step"], late["to"]) == ("due-1d", "supervisor@chino.example")
    assert late["subject"].startswith("CHANGED: ")
    assert "Fri Dec 4, 5:00 PM" in late["text"]


async def test_a_change_that_is_taken_back_tells_nobody_twice(counted: Household) -> None:
    reference = await a_spill(counted)
    await counted.live(days=4)  # overdue since Friday at five: every rung was climbed
    told = [(line["step"], line["to"]) for line in counted.told(WORKING_DAYS)]
    assert [step for step, _ in told] == ["start", "start", "due-1d", "due", "due", "due+1h#1", "due+1h#2"]
    await close(counted)
    assert (await counted.clock_of(reference, WORKING_DAYS)).state == "running"
    await counted.live(hours=1)
    await take_out(counted)
    await counted.live(days=9)
    assert [(line["step"], line["to"]) for line in counted.told(WORKING_DAYS)] == told
    assert (await counted.clock_of(reference, WORKING_DAYS)).state == "overdue"


async def test_a_duty_that_is_due_later_after_all_alerts_again_at_its_new_time(counted: Household) -> None:
    await a_spill(counted)
    await counted.live(days=4)
    before = len(counted.told(WORKING_DAYS))
    await close(counted)
    await counted.live(days=4)
    assert [line["step"] for line in counted.told(WORKING_DAYS)[before:]] == ["due-1d", "due", "due", "due+1h#1", "due+1h#2"]


async def test_what_still_waits_is_promised_anew_with_the_new_due_time_and_only_to_who_has_it_not(counted: Household) -> None:
    reference = await a_spill(counted)
    only_sms = counted.with_house()
    del only_sms.worker.channels["email"]  # mail is down: the e-mail of the first rung waits
    await only_sms.worker.round()
    assert [line["channel"] for line in counted.told(WORKING_DAYS)] == ["sms"]
    await close(counted)
    counted = counted.with_house()
    counted.worker.channels.update(email=type(counted.channels["sms"])(counted.house.settings.outbox_path, "email"))
    await counted.work()
    sms, mail = counted.told(WORKING_DAYS)
    assert (mail["channel"], mail["step"]) == ("email", "start")
    assert "CHANGED" in mail["subject"]
    assert "Mon Dec 7, 5:00 PM" in mail["text"]
    assert (sms["to"], reference[:3]) == ("+19095550102", "SP-")


# -- how long it takes, and how far it reaches


async def test_a_change_that_moves_many_spills_takes_one_transaction(counted: Household) -> None:
    references = [await a_spill(counted) for _ in range(12)]
    change = await close(counted)
    assert sorted(one.reference for one in change.moved) == references
    assert len({(await counted.events(reference, ObligationMoved))[0].calendar for reference in references}) == 1


async def test_a_change_that_fails_half_way_changes_nothing(counted: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = await a_spill(counted), await a_spill(counted)

    async def apply_law(tx: Any, spill: Any, why: str, **given: Any) -> None:
        if spill.reference == second:
            raise RuntimeError("out of luck")
        await real(tx, spill, why, **given)

    from service import replanning

    real = replanning.apply_law
    monkeypatch.setattr(replanning, "apply_law", apply_law)
    with pytest.raises(RuntimeError):
        await close(counted)
    assert await due(counted, first) == DUE_FRIDAY
    async with reading(counted.house) as tx:
        assert await entries_of(tx, "chino") == []
        assert (await rulebook_of(tx)) is counted.house.rulebook


@pytest.mark.parametrize(
    ("now", "left"),
    [("2030-12-31", "years"), ("2031-01-01", "months"), ("2031-12-31", "months"), ("2032-01-01", "nothing"), ("2028-02-29", "years")],
)
def test_a_calendar_says_a_year_ahead_that_it_ends(now: str, left: str) -> None:
    assert left_of(LAW.law_of("chino"), datetime.fromisoformat(f"{now}T12:00:00-08:00")) == left


@pytest.mark.parametrize(
    ("now", "line"),
    [
        ("2026-12-01", "ok     chino: its calendar covers the days up to 2031-12-31"),
        ("2031-03-01", "WARN   chino: its calendar ends on 2031-12-31, in less than 12 months; install a release"),
        ("2032-01-01", "WRONG  chino: its calendar ended on 2031-12-31; days can no longer be counted; install a release"),
    ],
)
async def test_doctor_says_how_far_the_calendar_of_each_served_city_reaches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], now: str, line: str
) -> None:
    moment = datetime.fromisoformat(f"{now}T12:00:00-08:00")
    async with a_household(tmp_path, at=moment) as home:
        settings = home.house.settings
    found = await programs.examine(settings, lambda: moment)
    assert [told for told in found if "its calendar" in told and told.startswith(line)], found
    assert not [told for told in found if "ontario" in told and "calendar" in told]  # nobody works or reports there

    async def only_this(_: Any) -> list[str]:
        return [line]

    monkeypatch.setenv("SPILLCLOCK_HOME_DIR", str(tmp_path))
    monkeypatch.setattr(programs, "examine", only_this)
    code = await asyncio.to_thread(main, ["doctor"])
    assert (code, capsys.readouterr().out) == (1 if line.startswith("WRONG") else 0, f"{line}\n")


async def test_every_entry_is_kept_with_what_it_moved(counted: Household) -> None:
    reference = await a_spill(counted)
    await close(counted)
    async with reading(counted.house) as tx:
        [entry] = (await tx.session.execute(select(Closure).where(col(Closure.city) == "chino"))).scalars()
        assert [one.reference for one in await moved_by(tx, entry)] == [reference]
    assert len(await counted.events(reference, ObligationOpened)) == 1
