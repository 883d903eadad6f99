"""Who is on call: turns over nights on which the clocks change, overrides, holidays, groups, and what happens where nobody is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import rotas
from service.errors import BadInput, NotKnown
from service.on_call import Roster, Watch
from service.parties import contacts, people_for_triage, people_of, remove_contact
from service.reach import uncalled, unreached
from service.rotas import NewRota
from service.tables import Contact, Rota, Shift
from service.transaction import reading, transaction
from tests.houses import TUESDAY, Household, a_household
from tests.service.small_law import small_law
from tests.spills import a_report

PACIFIC = ZoneInfo("America/Los_Angeles")
ANN, BOB, CY = 1, 2, 3
PEOPLE = [Contact(id=number, city="chino", role="duty_officer", name=name, email=f"{name}@chino.example".lower())
          for number, name in ((ANN, "Ann"), (BOB, "Bob"), (CY, "Cy"))]  # fmt: skip


def there(text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=PACIFIC, fold=fold).astimezone(UTC)


def shift(contact: int | None, since: str, until: str, kind: str = "override", number: int = 1) -> Shift:
    return Shift(
        id=number, rota_id=1, contact_id=contact, starts_at=there(since), ends_at=there(until), kind=kind, added_by="x",
        added_at=TUESDAY + timedelta(minutes=number),
    )  # fmt: skip


def watch(*shifts: Shift, members: Sequence[int] = (ANN, BOB, CY), **more: Any) -> Watch:
    given = {"starts_on": date(2026, 10, 5), "turn_days": 7, "handover": "08:00", **more}
    return Watch(Rota(id=1, city="chino", role="duty_officer", name="Desk", members=list(members), added_by="x", added_at=TUESDAY, **given),
                 shifts, PACIFIC)  # fmt: skip


def called(one: Watch, at: datetime, people: Sequence[Contact] = PEOPLE) -> set[int]:
    return Roster(people, [one]).called(at)


# -- the later entry counts


def test_of_an_override_and_a_holiday_for_one_person_the_later_entry_counts() -> None:
    span = ("2026-10-05T08:00", "2026-10-12T08:00")
    noon = there("2026-10-07T12:00")
    override, holiday = shift(BOB, *span), shift(BOB, *span, kind="holiday", number=2)
    assert called(watch(override), noon) == {BOB}
    assert called(watch(override, holiday), noon) == {ANN}
    assert called(watch(shift(BOB, *span, kind="holiday"), shift(BOB, *span, number=2)), noon) == {BOB}
    # The holiday of one does not undo the override for another.
    assert called(watch(override, shift(CY, *span, number=2), shift(CY, *span, kind="holiday", number=3)), noon) == {BOB}


# -- turns


@pytest.mark.parametrize(
    ("at", "who"),
    [
        ("2026-10-05T07:59", set()), ("2026-10-05T08:00", {ANN}), ("2026-10-12T07:59:59", {ANN}), ("2026-10-12T08:00", {BOB}),
        ("2026-10-19T08:00", {CY}), ("2026-10-26T08:00", {ANN}), ("2026-12-28T08:00", {ANN}), ("2027-01-04T08:00", {BOB}),
    ],
)  # fmt: skip
def test_members_take_turns_from_handover_to_handover(at: str, who: set[int]) -> None:
    assert called(watch(), there(at)) == who


def test_a_handover_stays_at_its_local_time_when_the_clocks_change() -> None:
    one = watch(turn_days=1)  # 8 o'clock is 15:00 UTC before 1 November, 16:00 after
    for day in (date(2026, 10, 31), date(2026, 11, 1), date(2026, 11, 2), date(2027, 3, 13), date(2027, 3, 14), date(2027, 3, 15)):
        handover = datetime.combine(day, datetime.min.time().replace(hour=8), PACIFIC).astimezone(UTC)
        assert called(one, handover - timedelta(seconds=1)) != called(one, handover)
        assert one.handover_on(day) == handover


def test_a_handover_in_the_hour_that_a_night_has_twice_happens_once_at_the_first() -> None:
    one = watch(turn_days=1, handover="01:30")
    before, first, second = (called(one, there(text, fold)) for text, fold in (("2026-11-01T01:29", 0), ("2026-11-01T01:30", 0),
                                                                                ("2026-11-01T01:30", 1)))  # fmt: skip
    assert before != first == second


def test_a_handover_in_the_hour_that_a_night_skips_still_happens() -> None:
    one = watch(turn_days=1, handover="02:30", starts_on=date(2027, 3, 1))
    assert called(one, there("2027-03-14T01:59")) != called(one, there("2027-03-14T04:00"))


@given(
    st.integers(0, 500 * 86400),
    st.integers(1, 15),
    st.sampled_from(["00:00", "01:30", "02:30", "08:00", "23:59"]),
)
def test_at_every_moment_exactly_one_member_is_on_call_and_turns_are_whole(seconds: int, days: int, handover: str) -> None:
    one = watch(turn_days=days, handover=handover)
    moment = there("2026-10-07T00:00") + timedelta(seconds=seconds)
    assert len(called(one, moment)) == 1
    changes = one.changes(moment, moment + timedelta(days=40))
    assert all(abs(later - earlier - timedelta(days=days)) <= timedelta(hours=1) for earlier, later in pairwise(changes))
    assert all(called(one, change - timedelta(seconds=1)) != called(one, change) for change in changes)


# -- overrides and holidays


def test_an_override_counts_at_its_time_and_the_later_one_before_the_earlier() -> None:
    one = watch(shift(CY, "2026-10-06T00:00", "2026-10-08T00:00"), shift(BOB, "2026-10-07T00:00", "2026-10-07T12:00", number=2))
    assert [called(one, there(text)) for text in ("2026-10-05T23:59", "2026-10-06T00:00", "2026-10-07T01:00", "2026-10-07T12:00",
                                                  "2026-10-08T00:00")] == [{ANN}, {CY}, {BOB}, {CY}, {ANN}]  # fmt: skip


def test_who_is_on_holiday_is_stood_in_for_by_the_next_who_is_not() -> None:
    away = [shift(ANN, "2026-10-05T00:00", "2026-10-20T00:00", "holiday"), shift(BOB, "2026-10-06T00:00", "2026-10-07T00:00", "holiday", 2)]
    one = watch(*away)
    assert [called(one, there(text)) for text in ("2026-10-05T09:00", "2026-10-06T09:00", "2026-10-12T09:00")] == [{BOB}, {CY}, {BOB}]


def test_where_all_are_on_holiday_nobody_is_on_call_and_everybody_is_told() -> None:
    one = watch(*(shift(who, "2026-10-05T00:00", "2026-10-20T00:00", "holiday", who) for who in (ANN, BOB, CY)))
    roster = Roster(PEOPLE, [one])
    assert roster.called(there("2026-10-06T00:00")) == set()
    assert roster.told(there("2026-10-06T00:00")) == PEOPLE


def test_entries_of_a_calendar_count_before_turns_and_several_at_once() -> None:
    imported = [shift(BOB, "2026-10-06T00:00", "2026-10-08T00:00", "ics"), shift(CY, "2026-10-07T00:00", "2026-10-08T00:00", "ics", 2)]
    one = watch(*imported, shift(ANN, "2026-10-07T12:00", "2026-10-07T13:00", number=3))
    assert [called(one, there(text)) for text in ("2026-10-05T09:00", "2026-10-06T09:00", "2026-10-07T09:00", "2026-10-07T12:30")] == [
        {ANN}, {BOB}, {BOB, CY}, {ANN},
    ]  # fmt: skip


def test_a_member_who_is_no_longer_there_is_passed_over() -> None:
    assert called(watch(), there("2026-10-05T09:00"), PEOPLE[1:]) == {BOB}


def test_a_role_without_a_rota_is_a_group_and_a_desk_beside_a_rota_is_always_told() -> None:
    assert Roster(PEOPLE, []).told(TUESDAY) == PEOPLE
    roster = Roster(PEOPLE, [watch(members=[ANN, BOB])])
    assert [contact.name for contact in roster.told(there("2026-10-12T09:00"))] == ["Bob", "Cy"]


def test_the_next_weeks_are_told_in_spans_without_a_gap() -> None:
    roster = Roster(PEOPLE, [watch(shift(CY, "2026-10-07T00:00", "2026-10-07T12:00"))])
    spans = roster.spans(there("2026-10-06T00:00"), there("2026-10-20T00:00"))
    assert [(begins.astimezone(PACIFIC).day, [one.name for one in people]) for begins, _, people, _ in spans] == [
        (6, ["Ann"]), (7, ["Cy"]), (7, ["Ann"]), (12, ["Bob"]), (19, ["Cy"]),
    ]  # fmt: skip
    assert all(earlier[1] == later[0] for earlier, later in pairwise(spans))


# -- in the service


@pytest.fixture
async def home(tmp_path: Path) -> Any:
    people = [Contact(city="chino", role="duty_officer", name=name, email=f"{name}@chino.example".lower()) for name in ("Ann", "Bob")]
    people.append(Contact(city="chino", role="supervisor", name="Sue", phone="+19095550103"))
    async with a_household(tmp_path, law=small_law(), people=people) as household:
        yield household


async def numbers(home: Household) -> dict[str, int]:
    async with reading(home.house) as tx:
        return {contact.name: contact.id or 0 for contact in await contacts(tx)}


async def a_rota(home: Household, **more: Any) -> int:
    who = await numbers(home)
    given = {"members": [who["Ann"], who["Bob"]], "starts_on": date(2026, 11, 30), **more}
    async with transaction(home.house, "manager@chino.example") as tx:
        return (await rotas.add_rota(tx, NewRota("chino", "duty_officer", "Desk", **given))).id or 0


def told(home: Household, step: str) -> set[str]:
    return {line["to"] for line in home.outbox() if line["step"] == step}


async def test_an_alert_goes_to_who_is_on_call_at_its_moment(home: Household) -> None:
    await a_rota(home, handover="15:00", turn_days=1, starts_on=date(2026, 12, 1))  # Ann from three in the afternoon, before that nobody
    await home.report(a_report())
    await home.live(hours=2)
    assert told(home, "start") == {"ann@chino.example", "bob@chino.example"}  # nobody was on call at five past two
    assert told(home, "due-10m") == {"ann@chino.example"}


async def test_an_override_is_heeded_by_the_next_climb(home: Household) -> None:
    rota = await a_rota(home)
    who = await numbers(home)
    await home.report(a_report())
    await home.live(minutes=5)
    async with transaction(home.house, "manager@chino.example") as tx:
        await rotas.add_shift(tx, rota, who["Bob"], home.clock.at, home.clock.at + timedelta(days=1), "Ann is ill")
    await home.live(hours=2)
    assert (told(home, "start"), told(home, "due-10m")) == ({"ann@chino.example"}, {"bob@chino.example"})


async def test_a_report_that_needs_a_person_wakes_who_is_on_call(home: Household) -> None:
    await a_rota(home)
    reference = await home.report(a_report(material="goo"))
    async with reading(home.house) as tx:
        spill = await tx.spill(reference)
        assert [person.name for person in await people_for_triage(tx, spill)] == ["Ann"]
        assert [person.name for person in await people_of(tx, spill, "duty_officer", TUESDAY + timedelta(days=7))] == ["Bob"]


async def test_an_ended_rota_leaves_the_group(home: Household) -> None:
    rota = await a_rota(home)
    async with transaction(home.house, "manager@chino.example") as tx:
        await rotas.end_rota(tx, rota)
        with pytest.raises(NotKnown):
            await rotas.end_rota(tx, rota)
    await home.report(a_report())
    await home.work()
    assert told(home, "start") == {"ann@chino.example", "bob@chino.example"}


async def test_a_removed_contact_leaves_the_rota_and_its_number_to_nobody(home: Household) -> None:
    rota = await a_rota(home)
    who = await numbers(home)
    async with transaction(home.house, "manager@chino.example") as tx:
        await rotas.add_shift(tx, rota, who["Ann"], TUESDAY, TUESDAY + timedelta(days=1))
    async with transaction(home.house, "manager@chino.example") as tx:
        await remove_contact(tx, who["Ann"])
        row = await rotas.rota_of(tx, rota)
        assert row.members == [who["Bob"]]
        assert await rotas.shifts_of(tx, row) == []
    await home.report(a_report())
    await home.work()
    assert told(home, "start") == {"bob@chino.example"}


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"members": []}, "members: missing"),
        ({"members": [99]}, "members: 99 is no duty_officer of chino"),
        ({"turn_days": 0}, "turn_days: 0"),
        ({"handover": "8"}, "handover: '8'"),
        ({"ics_url": "http://10.0.0.1/x"}, "ics: it does not begin"),
        ({"ics_url": "https://10.0.0.1/x"}, "ics: 10.0.0.1 is a name or address of a private network"),
    ],
)  # fmt: skip
async def test_a_rota_that_nobody_could_mean_is_refused(home: Household, wrong: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadInput) as refused:
        await a_rota(home, **wrong)
    assert any(line.startswith(fault) for line in refused.value.faults), refused.value.faults


async def test_an_override_for_a_stranger_or_the_past_is_refused(home: Household) -> None:
    rota, who = await a_rota(home), await numbers(home)
    for contact, since, until in ((who["Sue"], 0, 1), (who["Ann"], -3, -2), (who["Ann"], 2, 1), (who["Ann"], 0, 500)):
        async with transaction(home.house, "manager@chino.example") as tx:
            with pytest.raises(BadInput):
                await rotas.add_shift(tx, rota, contact, TUESDAY + timedelta(days=since), TUESDAY + timedelta(days=until))


# -- ladders that reach nobody


async def test_rungs_that_reach_nobody_are_named(home: Household) -> None:
    async with reading(home.house) as tx:
        lines = await unreached(tx, "chino")
    assert "nobody fills the role director; its rungs reach nobody" in lines
    assert "the rungs due+1h (duty_officer, by sms) of chino/two-hours reach nobody" in lines  # they have e-mail alone
    assert not any("start+15m" in line for line in lines)


async def test_a_turn_of_somebody_without_the_channel_is_named_with_its_day(home: Household) -> None:
    async with transaction(home.house, "test") as tx:
        ann = await tx.session.get_one(Contact, (await numbers(home))["Ann"])
        ann.phone = "+19095550102"
    async with reading(home.house) as tx:
        assert not any("due+1h" in line for line in await unreached(tx, "chino", "duty_officer"))
    await a_rota(home)
    async with reading(home.house) as tx:
        lines = await unreached(tx, "chino", "duty_officer")
    assert lines == ["the rungs due+1h (duty_officer, by sms) of chino/two-hours reach nobody from Mon Dec 7, 8:00 AM PST"]


async def test_a_time_at_which_nobody_is_on_call_is_said(home: Household) -> None:
    await a_rota(home, starts_on=date(2026, 12, 4))
    async with reading(home.house) as tx:
        [line] = await uncalled(tx, "chino")
    assert line.startswith("nobody is on call as duty_officer from Tue Dec 1, 2:05 PM PST to Fri Dec 4, 8:00 AM PST")
