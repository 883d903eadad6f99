"""Ladders: each rung at its time, to its roles, by its channels, once; what was missed in one message; nothing after the duty is done."""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from notifiers import Outcome
from service.events import (
    MessageGaveUp,
    ObligationAcknowledged,
    ObligationOverdue,
    RungReached,
    RungReachedNobody,
    RungRested,
)
from service.ladders import ladder_of, planned
from service.tables import Contact, Obligation
from service.transaction import transaction
from tests.houses import TUESDAY, Household, a_household
from tests.service.channels import Gate, Post, both
from tests.service.small_law import AHEAD, CALL, NOTICE, TWO_HOURS, cities_alone, small_law
from tests.spills import a_report, gallons

OFFICER, CREW, SUPERVISOR, DIRECTOR = (
    ("duty@chino.example", "+19095550102"), ("sewer.crew@chino.example", "+19095550101"),
    ("supervisor@chino.example", "+19095550103"), ("director@chino.example", "+19095550104"),
)  # fmt: skip
CALLED = {"act": "notice_given", "recipient": "board", "method": "telephone"}


def at(**span: float) -> str:
    """A moment so long after the report, as the outbox writes it."""
    return (TUESDAY + timedelta(**span)).isoformat().replace("+00:00", "Z")


def to_whom(lines: Iterable[dict[str, Any]]) -> set[str]:
    return {line["to"] for line in lines}


def rungs(lines: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """The moments and steps of these lines, each once, in order."""
    return list(dict.fromkeys((line["at"], line["step"]) for line in sorted(lines, key=lambda line: line["at"])))


def officers(*emails: str, **others: str) -> list[Contact]:
    """Contacts who have e-mail alone: duty officers, and other roles by name."""
    people = [("duty_officer", email) for email in emails] + list(others.items())
    return [Contact(city="chino", role=role, name=email.partition("@")[0].title(), email=email) for role, email in people]


WHOLE_LADDER = [
    (at(), "start"), (at(minutes=15), "start+15m"), (at(minutes=110), "due-10m"), (at(hours=2), "due"), (at(minutes=150), "due+30m"),
    (at(hours=3), "due+1h#1"), (at(hours=4), "due+1h#2"), (at(hours=5), "due+1h#3"),
]  # fmt: skip


# -- each rung


async def test_each_rung_goes_at_its_time_to_its_roles_and_channels_once(small: Household) -> None:
    await small.report(a_report())
    await small.live(hours=12)
    sent = small.told(TWO_HOURS)
    assert rungs(sent) == WHOLE_LADDER
    assert len({(line["to"], line["step"]) for line in sent}) == len(sent)
    for step, people in {
        "start": (OFFICER, CREW), "start+15m": (SUPERVISOR,), "due-10m": (OFFICER, CREW), "due": (OFFICER, CREW, SUPERVISOR),
        "due+30m": (SUPERVISOR, DIRECTOR),
    }.items():  # fmt: skip
        assert to_whom(small.told(TWO_HOURS, step)) == {address for person in people for address in person}
    for number in (1, 2, 3):
        assert to_whom(small.told(TWO_HOURS, f"due+1h#{number}")) == {OFFICER[1]}


async def test_at_the_end_of_its_ladder_a_missed_duty_stays_overdue_in_silence(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(hours=6)
    sent = len(small.outbox())
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.next_at) == ("overdue", None)
    assert await small.work() is None
    await small.live(days=30)
    assert len(small.outbox()) == sent
    assert ladder_of(row, small.clock.at) == []


async def test_the_record_says_who_was_told_of_each_rung(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(hours=12)
    reached = await small.events(reference, RungReached)
    assert [event.steps for event in reached] == [[step] for _, step in WHOLE_LADDER]
    assert reached[1].told == ["Sofia Tran (sms)", "Sofia Tran (email)"]
    assert not any(event.at_once for event in reached)


async def test_the_due_moment_itself_is_on_time_and_the_second_after_is_not(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(hours=2)
    assert {"due now" in line["subject"] + line["text"] for line in small.told(TWO_HOURS, "due")} == {True}
    assert await small.events(reference, ObligationOverdue) == []
    await small.live(seconds=1)
    assert len(await small.events(reference, ObligationOverdue)) == 1
    assert (await small.clock_of(reference, TWO_HOURS)).state == "overdue"


async def test_the_people_of_another_city_hear_nothing(small: Household) -> None:
    await small.people(*officers("duty@chino.example"), Contact(city="ontario", role="duty_officer", name="O", email="o@ontario.example"))
    await small.report(a_report())
    await small.live(hours=6)
    assert to_whom(small.told(TWO_HOURS)) == {"duty@chino.example"}


async def test_a_named_discharger_is_told_in_place_of_the_city_crew(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(minutes=5)
    await small.name_discharger(reference, "Hillside Dairy", email="office@dairy.example", phone="+19095550155")
    await small.live(hours=2)
    due = small.told(TWO_HOURS, "due")
    assert {"office@dairy.example", "+19095550155"} <= to_whom(due)
    assert not to_whom(due) & set(CREW)
    [letter] = [line for line in due if line["to"] == "office@dairy.example"]
    assert f"https://spills.example.gov/respond/{reference}" in letter["text"]
    [officer] = [line for line in due if line["to"] == OFFICER[0]]
    assert f"https://spills.example.gov/staff/spills/{reference}" in officer["text"]
    assert "/respond/" not in officer["text"]


async def test_one_person_in_two_roles_gets_one_message(small: Household) -> None:
    await small.people(
        *(Contact(city="chino", role=role, name="Omar Reyes", email="duty@chino.example") for role in ("duty_officer", "supervisor")),
        Contact(city="chino", role="discharger", name="Omar Reyes", email="DUTY@chino.example"),
    )
    await small.report(a_report())
    await small.live(hours=2)
    assert [line["step"] for line in small.told(TWO_HOURS)] == ["start", "start+15m", "due-10m", "due"]


async def test_a_message_says_what_is_owed_to_whom_by_when_and_what_to_do(small: Household) -> None:
    reference = await small.report(a_report(reached=["storm_drain"]))
    await small.work()
    [letter] = [line for line in small.told(TWO_HOURS, "start") if line["to"] == OFFICER[0]]
    assert letter["subject"] == f"2 hours left: {reference}: Call the board within two hours"
    for said in (
        "Due: Tue Dec 1, 4:05 PM PST (2 hours left)", "To: The Board, +19515550100", "How: by telephone", "Owed by: the discharger",
        f"Spill {reference}: sewage, 1,500 gal, at 13220 Central Ave; reached: storm drain.", "make the call, then record it here",
        f"https://spills.example.gov/staff/spills/{reference}", "Law: Test Code 1 (chino/two-hours)",
    ):  # fmt: skip
        assert said in letter["text"]
    [short] = [line for line in small.told(TWO_HOURS, "start") if line["to"] == OFFICER[1]]
    assert len(short["text"]) <= 300
    assert short["text"].startswith(f"{reference} due Tue Dec 1, 4:05 PM PST (2 hours left)")
    assert short["text"].endswith(f"https://spills.example.gov/staff/spills/{reference}")
    assert (letter["spill"], letter["duty"], letter["channel"]) == (reference, TWO_HOURS, "email")


# -- what was missed


async def test_rungs_missed_in_downtime_are_one_message_a_person_and_channel(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(minutes=1)
    before = len(small.outbox())
    small.clock.jump(hours=2, minutes=40)  # nobody works
    await small.work()
    missed = small.outbox()[before:]
    assert sorted(line["to"] for line in missed) == sorted([*OFFICER, *CREW, *SUPERVISOR, *DIRECTOR])
    assert {line["step"] for line in missed} == {"due+30m"}
    [letter] = [line for line in missed if line["to"] == OFFICER[0]]
    assert "stands for 4 alerts due since Tue Dec 1, 2:20 PM PST" in letter["text"]
    assert "start+15m" not in letter["text"]
    [message] = [row for row in await small.messages(address=OFFICER[0]) if row.step == "due+30m"]
    assert message.climb.endswith(":start+15m,due-10m,due,due+30m")
    assert "OVERDUE by 41 minutes" in letter["subject"]
    [reached] = (await small.events(reference, RungReached))[1:]
    assert reached.steps == ["start+15m", "due-10m", "due", "due+30m"]
    after = len(small.outbox())
    await small.live(hours=9)
    assert rungs(small.outbox()[after:]) == WHOLE_LADDER[5:]


async def test_a_rung_a_few_seconds_late_is_not_called_missed(small: Household) -> None:
    await small.report(a_report())
    await small.live(minutes=1)
    small.clock.at = TUESDAY + timedelta(minutes=15, seconds=50)
    await small.work()
    assert all("stands for" not in line["text"] for line in small.told(TWO_HOURS, "start+15m"))
    assert len(small.told(TWO_HOURS, "start+15m")) == 2


async def test_a_report_that_comes_late_merges_the_rungs_already_past(small: Household) -> None:
    known_at = TUESDAY - timedelta(hours=1, minutes=59, seconds=50)
    reference = await small.report(a_report(known_at=known_at.isoformat()))
    await small.work()
    [reached] = await small.events(reference, RungReached)
    assert reached.steps == ["start", "start+15m", "due-10m"]
    assert to_whom(small.told(TWO_HOURS)) == {*OFFICER, *CREW, *SUPERVISOR}
    assert {"10 seconds left" in line["subject"] + line["text"] for line in small.told(TWO_HOURS)} == {True}
    await small.live(seconds=10)
    assert to_whom(small.told(TWO_HOURS, "due")) == {*OFFICER, *CREW, *SUPERVISOR}
    assert len(small.outbox()) == 12


async def test_ladders_of_many_spills_are_climbed_in_one_round(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(), people=officers("duty@chino.example"), channels=both()) as home:
        for _ in range(30):
            await home.report(a_report())
        await home.work()
        home.clock.jump(hours=2)
        await home.work()
        assert len(await home.messages(TWO_HOURS, step="due", state="accepted")) == 30


# -- acknowledging


async def test_an_acknowledgement_keeps_one_rung_back_until_it_expires(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(minutes=5)
    await small.acknowledge(reference, TWO_HOURS)
    await small.live(hours=5)
    later = [(at(minutes=35), "start+15m") if step == "start+15m" else (moment, step) for moment, step in WHOLE_LADDER]
    assert rungs(small.told(TWO_HOURS)) == later
    [rested] = await small.events(reference, RungRested)
    assert (rested.steps, rested.person) == (["start+15m"], "officer@chino.example")


async def test_each_repeat_needs_an_acknowledgement_of_its_own(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(hours=3, minutes=45)
    await small.acknowledge(reference, TWO_HOURS)
    await small.live(hours=3)
    assert rungs(small.told(TWO_HOURS))[-3:] == [
        (at(hours=3), "due+1h#1"), (at(hours=4, minutes=15), "due+1h#2"), (at(hours=5), "due+1h#3"),
    ]  # fmt: skip


async def test_an_acknowledgement_long_before_a_rung_keeps_nothing_back(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(hours=3, minutes=1)
    await small.acknowledge(reference, TWO_HOURS)  # half an hour is over by four
    await small.live(hours=3)
    assert rungs(small.told(TWO_HOURS)) == WHOLE_LADDER


async def test_a_rung_that_no_acknowledgement_skips_is_climbed_all_the_same(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(minutes=20)
    await small.acknowledge(reference, TWO_HOURS)
    await small.live(hours=2)
    assert len(small.told(TWO_HOURS, "due-10m")) == len(small.told(TWO_HOURS, "start")) == 4
    assert await small.events(reference, RungRested) == []


async def test_who_acknowledges_is_not_told_again_of_this_rung_by_another_channel(tmp_path: Path) -> None:
    channels = {"email": Post("email"), "sms": Post("sms", then=Outcome.TRY_AGAIN)}
    async with a_household(tmp_path, law=small_law(), channels=channels) as home:
        reference = await home.report(a_report())
        await home.work()
        assert len(await home.messages(state="waiting")) == 2
        await home.acknowledge(reference, TWO_HOURS, "Duty@Chino.example")
        assert [row.address for row in await home.messages(state="cancelled")] == [OFFICER[1]]
        assert [row.address for row in await home.messages(state="waiting")] == [CREW[1]]
        await home.live(minutes=111)
        assert OFFICER[1] in {message.to for message in channels["sms"].got if message.step == "due-10m"}


async def test_an_acknowledgement_does_not_end_the_duty(small: Household) -> None:
    reference = await small.report(a_report())
    await small.acknowledge(reference, TWO_HOURS)
    await small.live(hours=3)
    row = await small.clock_of(reference, TWO_HOURS)
    assert row.state == "overdue"
    [event] = await small.events(reference, ObligationAcknowledged)
    assert event.duty == TWO_HOURS


# -- the duty is done


async def test_nothing_more_is_sent_once_the_duty_is_done(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(minutes=20)
    await small.happened(reference, **CALLED)
    row = await small.clock_of(reference, TWO_HOURS)
    assert (row.state, row.next_at, ladder_of(row, small.clock.at)) == ("met", None, [])
    sent = len(small.outbox())
    await small.live(days=2)
    assert len(small.outbox()) == sent


@pytest.mark.parametrize("end", ["meet", "waive", "withdraw"])
async def test_what_is_promised_and_waits_is_taken_back_when_the_duty_ends(tmp_path: Path, end: str) -> None:
    channels = both(then=Outcome.TRY_AGAIN)
    async with a_household(tmp_path, law=small_law(), channels=channels) as home:
        reference = await home.report(a_report())
        await home.work()
        tries = sum(len(post.got) for post in channels.values())
        assert {row.state for row in await home.messages()} == {"waiting"}
        match end:
            case "meet":
                await home.happened(reference, **CALLED)
            case "waive":
                await home.waive(reference, TWO_HOURS, "the county took it over")
            case _:
                await home.amend(reference, volume=gallons(3))
        assert {row.state for row in await home.messages()} == {"cancelled"}
        await home.live(days=2)
        assert sum(len(post.got) for post in channels.values()) == tries


async def test_the_duty_is_looked_at_once_more_at_the_moment_of_sending(tmp_path: Path) -> None:
    gate = Gate("email", then=Outcome.TRY_AGAIN)
    async with a_household(tmp_path, law=small_law(), channels={"email": gate}, people=officers("duty@chino.example")) as home:
        reference = await home.report(a_report())
        round_ = asyncio.create_task(home.worker.round())
        await gate.reached.wait()
        await home.happened(reference, **CALLED)  # while the message is on its way
        gate.open.set()
        await round_
        await home.live(hours=3)
        assert len(gate.got) == 1
        [row] = await home.messages()
        assert row.state == "cancelled"


async def test_a_message_of_an_earlier_plan_is_not_tried_again(tmp_path: Path) -> None:
    gate = Gate("email", Outcome.TRY_AGAIN)
    async with a_household(tmp_path, law=small_law(), channels={"email": gate}, people=officers("duty@chino.example")) as home:
        reference = await home.report(a_report())
        round_ = asyncio.create_task(home.worker.round())
        await gate.reached.wait()
        await home.amend(reference, known_at=(TUESDAY - timedelta(minutes=30)).isoformat())  # while the old due time is on its way
        gate.open.set()
        await round_
        await home.live(minutes=10)
        assert ["4:05 PM" in message.text for message in gate.got] == [True, False]
        assert "3:35 PM" in gate.got[1].text


# -- a rung that reaches nobody


async def test_a_rung_with_nobody_is_an_alarm_and_the_next_rung_goes_at_once(tmp_path: Path) -> None:
    people = officers(supervisor="supervisor@chino.example")
    async with a_household(tmp_path, law=small_law(), people=people) as home:
        reference = await home.report(a_report())
        await home.work()
        [alarm] = await home.events(reference, RungReachedNobody)
        assert (alarm.steps, alarm.reason) == (["start"], "nobody with an address fills the role: discharger, duty_officer")
        [line] = home.told(TWO_HOURS)
        assert (line["to"], line["step"], line["at"]) == ("supervisor@chino.example", "start+15m at once", at())
        [reached] = await home.events(reference, RungReached)
        assert (reached.steps, reached.at_once) == (["start+15m"], True)
        async with home.client(await home.token("viewer")) as client:
            [shown] = (await client.get("/api/v1/spills")).json()["spills"]
        assert shown["alarms"] == 1


async def test_rungs_with_nobody_lead_to_the_top_of_the_ladder(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(), people=officers(director="director@chino.example")) as home:
        reference = await home.report(a_report())
        await home.work()
        alarms = await home.events(reference, RungReachedNobody)
        assert [alarm.steps for alarm in alarms] == [["start"], ["start+15m"], ["due-10m"], ["due"]]
        assert [line["step"] for line in home.told(TWO_HOURS)] == ["due+30m at once"]


async def test_where_no_role_is_filled_the_administrators_are_told(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(), people=[]) as home:
        await home.token("administrator", email="root@chino.example")
        reference = await home.report(a_report())
        await home.work()
        assert to_whom(home.told(TWO_HOURS)) == {"root@chino.example"}
        assert len(await home.events(reference, RungReachedNobody)) == 8


async def test_a_ladder_that_reaches_nobody_at_all_is_on_record_and_ends(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(), people=[]) as home:
        reference = await home.report(a_report())
        await home.live(hours=6)
        assert home.outbox() == []
        assert len(await home.events(reference, RungReachedNobody)) >= 8
        assert (await home.clock_of(reference, TWO_HOURS)).state == "overdue"


async def test_an_address_that_cannot_be_used_is_as_good_as_none(tmp_path: Path) -> None:
    people = [
        Contact(city="chino", role="duty_officer", name="Omar Reyes", email="duty at chino", phone="555-0102"),
        *officers(supervisor="supervisor@chino.example"),
    ]
    async with a_household(tmp_path, law=small_law(), people=people) as home:
        reference = await home.report(a_report())
        await home.work()
        given_up = await home.events(reference, MessageGaveUp)
        assert len(given_up) == 2
        [alarm] = await home.events(reference, RungReachedNobody)
        assert alarm.reason.startswith("none of its messages could be handed over, the last: ")
        assert [line["step"] for line in home.told(TWO_HOURS)] == ["start+15m at once"]


async def test_all_messages_refused_is_an_alarm_and_the_next_rung_goes_at_once(tmp_path: Path) -> None:
    channels = both(Outcome.REFUSED, Outcome.REFUSED)
    async with a_household(tmp_path, law=small_law(), channels=channels) as home:
        reference = await home.report(a_report())
        await home.work()
        [alarm] = await home.events(reference, RungReachedNobody)
        assert alarm.steps == ["start"]
        assert "said refused" in alarm.reason
        assert [message.step for post in channels.values() for message in post.got[2:]] == ["start+15m at once"] * 2
        await home.live(hours=6)
        for post in channels.values():
            assert [message.step for message in post.got if message.step == "start+15m"] == ["start+15m"]


async def test_one_message_taken_is_enough_for_a_rung(tmp_path: Path) -> None:
    channels = {"email": Post("email", then=Outcome.REFUSED), "sms": Post("sms", Outcome.REFUSED)}
    async with a_household(tmp_path, law=small_law(), channels=channels) as home:
        reference = await home.report(a_report())
        await home.work()
        assert len(await home.events(reference, MessageGaveUp)) == 3
        assert await home.events(reference, RungReachedNobody) == []


async def test_refusals_up_the_whole_ladder_end_at_its_top(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(), channels=both(then=Outcome.REFUSED)) as home:
        reference = await home.report(a_report())
        await home.work()
        alarms = await home.events(reference, RungReachedNobody)
        assert [alarm.steps for alarm in alarms] == [[step] for _, step in WHOLE_LADDER]


# -- moved due times


async def test_a_due_time_that_moves_earlier_plans_the_ladder_anew(small: Household) -> None:
    reference = await small.report(a_report())
    await small.live(minutes=20)
    before = len(small.outbox())
    await small.amend(reference, known_at=(TUESDAY - timedelta(minutes=90)).isoformat())
    await small.work()
    again = small.outbox()[before:]
    assert to_whom(again) == {*OFFICER, *CREW, *SUPERVISOR}
    assert {line["step"] for line in again} == {"due-10m"}
    assert all("CHANGED: " in line["subject"] + line["text"] for line in again)
    assert all("2:35 PM PST (10 minutes left)" in line["text"] for line in again)
    after = len(small.outbox())
    await small.live(hours=6)
    assert rungs(small.outbox()[after:]) == [
        (at(minutes=30), "due"), (at(minutes=60), "due+30m"), (at(minutes=90), "due+1h#1"), (at(minutes=150), "due+1h#2"),
        (at(minutes=210), "due+1h#3"),
    ]  # fmt: skip


async def test_a_due_time_that_moves_later_is_told_and_waited_for(small: Household) -> None:
    known_at = TUESDAY - timedelta(hours=2)
    reference = await small.report(a_report(known_at=known_at.isoformat()))
    await small.live(minutes=1)
    assert (await small.clock_of(reference, TWO_HOURS)).state == "overdue"
    before = len(small.outbox())
    await small.amend(reference, "the clock on the wall was wrong", known_at=TUESDAY.isoformat())
    assert (await small.clock_of(reference, TWO_HOURS)).state == "running"
    await small.live(hours=6)
    assert rungs(small.outbox()[before:]) == [(at(minutes=1), "start"), *WHOLE_LADDER[1:]]
    assert len(await small.events(reference, ObligationOverdue)) == 2


# -- counted back from an act


async def planned_discharge(home: Household, planned_at: datetime) -> str:
    return await home.report(a_report(kind="planned_discharge", planned_at=planned_at.isoformat()))


async def test_a_backward_clock_alerts_from_when_we_learn_of_it(tmp_path: Path) -> None:
    async with a_household(
        tmp_path, law=small_law(NOTICE), people=officers("duty@chino.example", supervisor="supervisor@chino.example")
    ) as home:
        reference = await planned_discharge(home, TUESDAY + timedelta(days=20))
        await home.live(days=14)
        row = await home.clock_of(reference, AHEAD)
        due = "2026-12-15T07:59:59Z"
        assert row.clock["due_at"] == due
        assert rungs(home.told(AHEAD)) == [
            (at(), "start"), (at(minutes=15), "start+15m"), ("2026-12-15T07:49:59Z", "due-10m"), (due, "due"),
            ("2026-12-15T08:29:59Z", "due+30m"),  # the repeats go by SMS alone
        ]  # fmt: skip


async def test_a_plan_learned_of_too_late_is_overdue_at_once(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(NOTICE)) as home:
        reference = await planned_discharge(home, TUESDAY + timedelta(days=3))
        await home.work()
        assert (await home.clock_of(reference, AHEAD)).state == "overdue"
        assert all("OVERDUE" in line["subject"] + line["text"] for line in home.told(AHEAD))
        assert len(home.told(AHEAD)) == len(to_whom(home.told(AHEAD))) == 8


async def test_a_plan_that_moves_begins_its_ladder_when_we_learn_of_that(tmp_path: Path) -> None:
    async with a_household(
        tmp_path, law=small_law(NOTICE), people=officers("duty@chino.example", supervisor="supervisor@chino.example")
    ) as home:
        reference = await planned_discharge(home, TUESDAY + timedelta(days=20))
        await home.live(days=2)
        await home.amend(reference, planned_at=(TUESDAY + timedelta(days=30)).isoformat())
        await home.live(days=1)
        assert rungs(home.told(AHEAD)) == [
            (at(), "start"), (at(minutes=15), "start+15m"), (at(days=2), "start"), (at(days=2, minutes=15), "start+15m"),
        ]  # fmt: skip
        assert [line["subject"].startswith("CHANGED: ") for line in home.told(AHEAD, "start")] == [False, True]


# -- a ladder that cannot be climbed


async def test_a_ladder_that_cannot_be_climbed_holds_up_no_other(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(), people=officers("duty@chino.example")) as home:
        broken, sound = await home.report(a_report()), await home.report(a_report())
        await home.live(minutes=1)
        async with transaction(home.house, "a hand") as tx:
            row = await tx.session.get_one(Obligation, (await home.clock_of(broken, TWO_HOURS)).id)
            row.ladder = [{**row.ladder[0], "at": "one fine day"}, *row.ladder[1:]]
        home.clock.jump(hours=2)
        await home.work()
        assert {line["spill"] for line in home.told(TWO_HOURS, "due")} == {sound}


async def test_a_frozen_ladder_is_climbed_as_it_was_when_the_clock_opened(small: Household) -> None:
    reference = await small.report(a_report())
    shorter = small.with_house(
        rulebook=small_law(
            CALL,
            ladder="""
    - {at: start, tell: [director], by: [email]}
    - {at: due, tell: [director], by: [email]}
""",
            version="2026-06-01",
        )
    )
    assert [rung.step for rung in planned(await small.clock_of(reference, TWO_HOURS))] == [step for _, step in WHOLE_LADDER]
    await shorter.live(hours=6)
    assert rungs(small.told(TWO_HOURS)) == WHOLE_LADDER


# -- reports that need a person


async def test_a_report_in_no_city_is_shown_to_the_duty_officers_of_the_nearest(tmp_path: Path) -> None:
    people = [
        *officers("duty@chino.example", supervisor="supervisor@chino.example"),
        Contact(city="ontario", role="duty_officer", name="Olga", email="olga@ontario.example"),
    ]
    async with a_household(tmp_path, law=cities_alone("chino", "ontario"), people=people) as home:
        await home.report(a_report(location={"lat": 34.30, "lon": -117.55}))
        await home.work()
        assert [(line["to"], line["step"], line["duty"]) for line in home.outbox()] == [("olga@ontario.example", "triage", None)]
        await home.report(a_report(location=None))
        await home.work()
        assert to_whom(home.outbox()[1:]) == {"duty@chino.example", "olga@ontario.example"}


async def test_an_odd_report_is_shown_to_the_duty_officers_of_its_own_city(small: Household) -> None:
    await small.people(
        *officers("duty@chino.example"), Contact(city="ontario", role="duty_officer", name="Olga", email="olga@ontario.example")
    )
    await small.report(a_report(location=None, jurisdiction="chino", material="goo"))
    await small.work()
    assert to_whom(line for line in small.outbox() if line["step"] == "triage") == {"duty@chino.example"}
