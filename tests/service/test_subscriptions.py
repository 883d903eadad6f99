"""Subscriptions of staff: what they ask for, and nothing else, is told at their pace; never twice, never about another city."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy import select
from sqlmodel import col

from notifiers import Outcome, Receipt
from service import access, subscriptions
from service.access import Staff
from service.errors import BadInput, Conflict, NotAllowed, NotKnown
from service.news import soon_at
from service.spills import amend_facts
from service.subscriptions import STAGES, next_digest
from service.tables import Account, Contact, Subscription, SubscriptionItem
from service.transaction import reading, transaction
from tests.houses import TUESDAY, Household, a_household
from tests.service.channels import Post
from tests.spills import IN_CHINO, IN_ONTARIO, NOWHERE_NEAR, a_report, gallons

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
LEE = "lee@chino.example"


async def subscribe(home: Household, email: str = LEE, city: str | None = "chino", role: str = "viewer", **given: Any) -> Subscription:
    async with transaction(home.house, "test") as tx:
        found = (await tx.session.execute(select(Account).where(col(Account.email) == email))).scalar_one_or_none()
        account = found or await access.add_account(tx, email, role, city)
        return await subscriptions.add(tx, (await access.staff_by_account(tx, [account]))[account.id or 0], given)


async def items(home: Household) -> list[SubscriptionItem]:
    async with reading(home.house) as tx:
        return list((await tx.session.execute(select(SubscriptionItem).order_by(col(SubscriptionItem.id)))).scalars())


async def stages(home: Household) -> list[str]:
    return [item.stage for item in await items(home)]


async def the(home: Household, number: int | None) -> Subscription:
    async with reading(home.house) as tx:
        return await tx.session.get_one(Subscription, number)


def digests(home: Household, to: str = LEE) -> list[dict[str, Any]]:
    return [line for line in home.outbox() if line["to"] == to and line["step"] == "digest"]


# -- what is told


async def test_everything_that_happens_to_a_spill_is_an_item_of_who_asks_for_all(small: Household) -> None:
    await subscribe(small)
    reference = await small.report(a_report())
    assert await stages(small) == ["new", "clock_started"]
    await small.live(hours=1)
    assert await stages(small) == ["new", "clock_started", "due_soon"]
    await small.amend(reference, volume=gallons(1600))
    await small.live(hours=1, seconds=1)
    assert await stages(small) == ["new", "clock_started", "due_soon", "amended", "overdue"]
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    assert await stages(small) == ["new", "clock_started", "due_soon", "amended", "overdue", "met", "closed"]


@pytest.mark.parametrize("stage", STAGES)
async def test_who_asks_for_one_stage_is_told_that_alone(small: Household, stage: str) -> None:
    await subscribe(small, stages=[stage])
    reference = await small.report(a_report())
    await small.amend(reference, volume=gallons(1600))
    await small.live(hours=3)
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    await small.work()
    assert await stages(small) == [stage]
    [line] = digests(small)
    assert reference in line["subject"]


async def test_a_withdrawn_duty_closes_a_spill_too(small: Household) -> None:
    await subscribe(small, stages=["closed"])
    reference = await small.report(a_report())
    await small.amend(reference, volume=gallons(1))
    assert await stages(small) == ["closed"]


@pytest.mark.parametrize(
    ("wants", "told"),
    [
        ({}, True), ({"cities": ["chino"]}, True), ({"materials": ["sewage", "paint"]}, True), ({"materials": ["paint"]}, False),
        ({"at_least_gallons": 1500}, True), ({"at_least_gallons": 1501}, False), ({"area": {**IN_CHINO, "metres": 500}}, True),
        ({"area": {**IN_ONTARIO, "metres": 500}}, False), ({"stages": ["met"]}, False), ({"paused": True}, False),
        ({"area": {"type": "Polygon", "coordinates": [[[-117.7, 34.0], [-117.6, 34.0], [-117.6, 34.1], [-117.7, 34.0]]]}}, True),
    ],
)  # fmt: skip
async def test_what_was_left_out_is_not_asked_for(small: Household, wants: Mapping[str, Any], told: bool) -> None:
    await subscribe(small, **wants)
    await small.report(a_report())
    assert bool(await items(small)) == told


@pytest.mark.parametrize("volume", [None, {"low": 1, "high": 9000, "unit": "gal"}, {"quantity": 30, "unit": "bbl"}])
async def test_an_amount_that_may_be_large_enough_is_told(small: Household, volume: Any) -> None:
    await subscribe(small, stages=["new"], at_least_gallons=1200)
    await small.report(a_report(volume=volume))
    assert len(await items(small)) == 1


async def test_a_spill_without_a_point_is_in_no_area_and_one_without_a_city_is_everybodys(home: Household) -> None:
    await subscribe(home, stages=["new"], area={**IN_CHINO, "metres": 5000})
    await subscribe(home, "all@chino.example", stages=["new"])
    await home.report(a_report(location={"address": "somewhere"}))
    await home.report(a_report(location=NOWHERE_NEAR))
    assert len(await items(home)) == 2


async def test_nobody_is_told_of_the_spills_of_another_city(home: Household) -> None:
    await subscribe(home)
    await subscribe(home, "all@every-city.example", city=None)
    await home.report(a_report(location=IN_ONTARIO))
    await home.work()
    assert digests(home) == []
    assert len(digests(home, "all@every-city.example")) == 1


async def test_nobody_subscribed_costs_one_question_to_the_database(home: Household) -> None:
    asked: list[str] = []
    sqlalchemy_event.listen(home.house.engine.sync_engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    await home.report(a_report())
    assert len([statement for statement in asked if "FROM subscription" in statement]) == 1


async def test_an_item_is_in_the_transaction_of_what_it_tells(small: Household) -> None:
    await subscribe(small)
    reference = await small.report(a_report())
    before = len(await items(small))

    async def amend_and_fail() -> None:
        async with transaction(small.house, "test") as tx:
            await amend_facts(tx, await tx.spill(reference), {"volume": gallons(1700)}, "measured")
            raise Conflict("after the items")

    with pytest.raises(Conflict):
        await amend_and_fail()
    assert len(await items(small)) == before


# -- at once


async def test_what_happens_together_is_told_together_and_after_every_alert(home: Household) -> None:
    await subscribe(home)
    reference = await home.report(a_report())
    await home.work()
    [line] = digests(home)
    clocks = [row for row in await home.clocks(reference) if row.state != "waiting"]
    assert line["subject"] == f"Spillclock: {len(clocks) + 1} things are new"
    assert "new report: sewage, 1,500 gal" in line["text"]
    assert f"https://spills.example.gov/staff/spills/{reference}" in line["text"]
    [message] = await home.messages(step="digest")
    assert all(alert.rank < message.rank for alert in await home.messages() if alert.subscription_id is None)


async def test_one_thing_is_told_in_the_subject_once(small: Household) -> None:
    await subscribe(small, stages=["overdue"], language="es")
    reference = await small.report(a_report())
    await small.live(hours=4)
    [line] = digests(small)
    assert line["subject"].startswith(f"Spillclock: {reference}: VENCIDO: ")
    assert line["text"].count("VENCIDO") == 1


async def test_nobody_but_a_manager_subscribes_the_address_of_somebody_else(small: Household) -> None:
    for given in ({"channel": "sms", "address": "+19095558888"}, {"address": "neighbour@x.example"}):
        with pytest.raises(NotAllowed, match="is not yours"):
            await subscribe(small, role="officer", stages=["new"], **given)
    await small.people(Contact(city="chino", role="duty_officer", name="Lee", email=LEE, phone="+19095550142"))
    row = await subscribe(small, role="officer", stages=["new"], channel="sms", address="+19095550142")
    async with transaction(small.house, "test") as tx:
        lee = Staff(LEE, "officer", "chino")
        await subscriptions.change(tx, lee, row.id or 0, {"paused": True})
        with pytest.raises(NotAllowed):
            await subscriptions.change(tx, lee, row.id or 0, {"address": "+19095558888"})


async def test_a_text_message_says_how_to_end_it_and_a_mail_has_a_link(small: Household) -> None:
    await subscribe(small, role="manager", stages=["new"], channel="sms", address="(909) 555-0142")
    await subscribe(small, stages=["new"])
    await small.report(a_report())
    await small.work()
    [text] = digests(small, "+19095550142")
    assert "Reply STOP to end these." in text["text"]
    [mail] = digests(small)
    assert "End these messages: https://spills.example.gov/unsubscribe/" in mail["text"]
    assert "STOP" not in mail["text"]


async def test_what_is_for_a_subscriber_is_no_part_of_the_story_and_makes_no_page_red(small: Household) -> None:
    await subscribe(small)
    reference = await small.report(a_report())
    await small.work()
    told = [event for _, event in await small.history(reference) if getattr(event, "person", "") == LEE]
    assert told == []
    [message] = await small.messages(step="digest")
    assert (message.spill_id, message.obligation_id, message.state) == (None, None, "accepted")


async def test_an_ended_subscription_is_told_nothing_more_not_even_what_waits(small: Household) -> None:
    row = await subscribe(small)
    await small.report(a_report())
    async with transaction(small.house, "test") as tx:
        await subscriptions.end(tx, Staff(LEE, "viewer", "chino"), row.id or 0)
    await small.work()
    assert digests(small) == []


# -- due soon


@pytest.mark.parametrize(
    ("limit", "before"),
    [
        (timedelta(minutes=15), timedelta(minutes=7.5)), (timedelta(hours=2), timedelta(hours=1)), (timedelta(hours=8), timedelta(hours=1)),
        (timedelta(hours=24), timedelta(hours=2.4)), (timedelta(days=5), timedelta(hours=12)), (timedelta(days=30), timedelta(days=3)),
    ],
)  # fmt: skip
def test_soon_is_an_hour_or_a_tenth_but_never_before_half_of_the_time(limit: timedelta, before: timedelta) -> None:
    assert soon_at(TUESDAY, TUESDAY + limit) == TUESDAY + limit - before


async def test_what_is_due_soon_is_told_once_and_again_only_when_it_moved(small: Household) -> None:
    await subscribe(small, stages=["due_soon"])
    reference = await small.report(a_report())
    await small.live(minutes=59)
    assert await stages(small) == []
    await small.live(minutes=30)
    assert await stages(small) == ["due_soon"]
    await small.amend(reference, known_at=(TUESDAY + timedelta(minutes=10)).isoformat())
    await small.live(minutes=5)
    assert await stages(small) == ["due_soon", "due_soon"]


async def test_what_is_done_or_overdue_is_not_due_soon(small: Household) -> None:
    await subscribe(small, stages=["due_soon"])
    done = await small.report(a_report())
    await small.happened(done, "notice_given", recipient="board", method="telephone")
    await small.report(a_report())
    small.clock.jump(hours=5)  # nobody worked, and then it is too late
    await small.work()
    assert await stages(small) == []


# -- digests


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=LOS_ANGELES).astimezone(UTC)


@pytest.mark.parametrize(
    ("now", "time", "expected"),
    [
        ("2026-12-01T06:59:59", "07:00", "2026-12-01T15:00:00Z"), ("2026-12-01T07:00:00", "07:00", "2026-12-02T15:00:00Z"),
        # the night in which 2:30 does not exist: as long after midnight, which the clocks show as 3:30
        ("2027-03-13T12:00:00", "02:30", "2027-03-14T10:30:00Z"), ("2027-03-14T12:00:00", "02:30", "2027-03-15T09:30:00Z"),
        # the night that has 1:30 twice: the first, and only it
        ("2026-10-31T12:00:00", "01:30", "2026-11-01T08:30:00Z"), ("2026-11-01T01:30:00", "01:30", "2026-11-02T09:30:00Z"),
    ],
)  # fmt: skip
def test_a_daily_digest_has_its_local_time_in_every_night(now: str, time: str, expected: str) -> None:
    assert next_digest("daily", time, LOS_ANGELES, at(now)) == datetime.fromisoformat(expected)


@pytest.mark.parametrize("start", ["2026-10-30T12:00:00", "2027-03-12T12:00:00"])
@pytest.mark.parametrize("time", ["00:00", "01:30", "02:30", "03:00"])
async def test_every_day_has_one_digest_also_when_the_clocks_change(tmp_path: Path, start: str, time: str) -> None:
    async with a_household(tmp_path, at=at(start), people=[]) as home:
        row = await subscribe(home, pace="daily", at=time)
        await home.live(days=4)
        promised = [message.promised_at.astimezone(LOS_ANGELES) for message in await home.messages(subscription_id=row.id)]
        assert len({moment.date() for moment in promised}) == len(promised) == 4


async def test_a_daily_digest_says_when_there_was_nothing_and_an_hourly_one_is_silent(small: Household) -> None:
    await subscribe(small, pace="daily", at="07:00")
    await subscribe(small, "hourly@chino.example", pace="hourly")
    await small.live(days=1)
    [line] = digests(small)
    assert line["subject"] == "Spillclock: Nothing is new"
    assert "from Tue Dec 1, 2:05 PM PST to Wed Dec 2, 7:00 AM PST" in line["text"]
    assert digests(small, "hourly@chino.example") == []


async def test_an_hourly_digest_tells_all_of_its_hour(small: Household) -> None:
    await subscribe(small, pace="hourly", stages=["new"])
    first = await small.report(a_report())
    small.clock.jump(minutes=20)
    second = await small.report(a_report())
    await small.work()
    assert digests(small) == []
    await small.live(minutes=35)
    [line] = digests(small)
    assert first in line["text"]
    assert second in line["text"]
    await small.live(hours=3)
    assert len(digests(small)) == 1


async def test_after_days_without_a_worker_there_is_one_digest_of_all_of_them(small: Household) -> None:
    await subscribe(small, pace="daily", stages=["new"])
    reference = await small.report(a_report())
    small.clock.jump(days=3, hours=2)
    await small.work()
    [line] = digests(small)
    assert reference in line["text"]
    await small.live(days=1)
    assert [told["subject"] for told in digests(small)][1:] == ["Spillclock: Nothing is new"]


async def test_a_digest_that_cannot_be_worded_holds_up_no_other(small: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = await subscribe(small, pace="hourly", stages=["new"])
    await subscribe(small, "other@chino.example", pace="hourly", stages=["new"])
    await small.report(a_report())
    async with transaction(small.house, "test") as tx:
        (await tx.session.get_one(Subscription, bad.id)).zone = "Nowhere/Land"
    await small.live(hours=1)
    assert len(digests(small, "other@chino.example")) == 1
    assert digests(small) == []
    assert (await the(small, bad.id)).next_digest_at is not None


# -- whose it is


async def test_a_changed_city_narrows_a_subscription_to_it(home: Household) -> None:
    await subscribe(home, pace="daily", stages=["new"])
    await home.report(a_report())
    async with transaction(home.house, "test") as tx:
        await access.put_roles(tx, await access.account_of(tx, LEE), {"ontario": "officer"})
    told = await home.report(a_report(location=IN_ONTARIO))
    await home.live(days=1)
    [line] = digests(home)
    assert line["subject"].startswith(f"Spillclock: {told}")
    assert [item.spill_id for item in await items(home)] == [2]


async def test_an_account_that_is_gone_ends_its_subscriptions(small: Household) -> None:
    row = await subscribe(small, pace="daily")
    async with transaction(small.house, "test") as tx:
        (await tx.session.get_one(Subscription, row.id)).account_id = None
    await small.report(a_report())
    await small.live(days=2)
    assert await items(small) == []
    assert digests(small) == []
    assert (await the(small, row.id)).ended_why == "its account is gone"


async def test_only_its_owner_and_an_administrator_of_the_city_reach_a_subscription(home: Household) -> None:
    row = await subscribe(home)
    number = row.id or 0
    async with transaction(home.house, "test") as tx:
        for staff in (Staff("max@chino.example", "manager", "chino"), Staff("ada@ontario.example", "administrator", "ontario")):
            with pytest.raises(NotKnown):
                await subscriptions.end(tx, staff, number)
        assert await subscriptions.listed(tx, Staff("ada@chino.example", "administrator", "chino")) == []
        assert len(await subscriptions.listed(tx, Staff("ada@chino.example", "administrator", "chino"), everyones=True)) == 1
        await subscriptions.end(tx, Staff("ada@chino.example", "administrator", "chino"), number)
    assert (await the(home, row.id)).ended_why == "ended by ada@chino.example"


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"channel": "pigeon"}, "channel: 'pigeon' is no choice; right would be: one of email, sms"),
        ({"pace": "weekly"}, "pace: "), ({"at": "25:00"}, "at: "), ({"zone": "Mars/Olympus"}, "zone: "),
        ({"cities": ["ontario"]}, "cities: "),
        ({"cities": "chino"}, "cities: it is no list"), ({"materials": ["gold"]}, "materials: "), ({"stages": ["later"]}, "stages: "),
        ({"at_least_gallons": -1}, "at_least_gallons: "), ({"at_least_gallons": True}, "at_least_gallons: "),
        ({"area": {"lat": 1}}, "area: "),
        ({"address": "nobody"}, "address: "), ({"channel": "sms", "address": "12"}, "address: "),
        ({"colour": "red"}, "colour: unknown key"),
        ({"channel": "sms", "address": "+442079460000"}, "address: "), ({"paused": "yes"}, "paused: "), ({"language": "fr"}, "language: "),
    ],
)  # fmt: skip
async def test_a_fault_is_told_with_what_would_be_right(home: Household, given: Mapping[str, Any], fault: str) -> None:
    with pytest.raises(BadInput) as found:
        await subscribe(home, **given)
    assert any(line.startswith(fault) for line in found.value.faults), found.value.faults


async def test_a_pause_and_its_end_keep_the_rest_as_it_was(small: Household) -> None:
    row = await subscribe(small, pace="daily", at="09:30", stages=["new"])
    staff = Staff(LEE, "viewer", "chino")
    async with transaction(small.house, "test") as tx:
        assert (await subscriptions.change(tx, staff, row.id or 0, {"paused": True})).next_digest_at is None
    await small.report(a_report())
    await small.live(days=1)
    assert digests(small) == []
    async with transaction(small.house, "test") as tx:
        again = await subscriptions.change(tx, staff, row.id or 0, {"paused": False})
        assert again.next_digest_at == at("2026-12-03T09:30:00")
        assert again.wants == {"stages": ["new"], "at": "09:30"}


async def test_a_message_to_a_dead_address_is_the_last_to_it(tmp_path: Path) -> None:
    class Bouncing(Post):
        async def send(self, message: Any) -> Receipt:
            return Receipt(Outcome.REFUSED, None, "550 5.1.1 no such user")

    async with a_household(tmp_path, channels={"email": Bouncing("email")}, people=[]) as home:
        await subscribe(home, stages=["new"])
        for _ in range(2):
            await home.report(a_report())
            await home.work()
            home.clock.jump(minutes=1)
        first, second = await home.messages(step="digest")
        assert (first.state, second.state) == ("refused", "refused")
        assert (len(await home.attempts(first)), len(await home.attempts(second))) == (1, 0)
