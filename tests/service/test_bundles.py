"""Several alerts to one person within a minute are one message: claimed, sent and settled together, and nothing twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from notifiers import Outcome
from service.claims import Claim, claim
from service.events import MessageAccepted, MessageGaveUp, RungReachedNobody
from service.outbox import release_orphans
from service.tables import Contact
from tests.houses import TUESDAY, Household, a_household
from tests.service.channels import Gate, Post
from tests.service.small_law import CALL, TWO_HOURS, small_law
from tests.spills import a_report, gallons

OFFICER = "duty@chino.example"
# Three duties of one spill, due after two, three and thirty hours, by a ladder with one rung.
THREE_HOURS, DAYS = "chino/three-hours", "chino/thirty-hours"


def _like(duty: str, to: str, how: str, limit: str) -> str:
    changed = CALL.replace("id: two-hours", f"id: {duty}").replace("to: board", f"to: {to}").replace("[telephone]", f"[{how}]")
    return changed.replace("limit: LIMIT", f"limit: {limit}")


THREE = CALL + _like("three-hours", "works", "telephone", "3 hours") + _like("thirty-hours", "works", "written", "30 hours")
AT_START = """
    - {at: start, tell: [duty_officer], by: [email]}
    - {at: due, tell: [duty_officer], by: [email]}
"""


def officers(*names: str) -> list[Contact]:
    return [Contact(city="chino", role="duty_officer", name=name.title(), email=f"{name}@chino.example") for name in names]


def a_bundling_household(folder: Path, *channels: Post, people: Iterable[Contact] | None = None) -> AbstractAsyncContextManager[Household]:
    found = {channel.name: channel for channel in channels}
    return a_household(folder, law=small_law(THREE, AT_START), channels=found, people=people or officers("duty"))


async def carried(home: Household) -> dict[str, list[str]]:
    """The keys of the messages that carry others, each with those that it carries."""
    found: dict[str, list[str]] = {}
    for row in await home.messages():
        if row.carried_by:
            found.setdefault(row.carried_by, []).append(row.id)
    return found


# -- one network message


async def test_a_sewage_report_in_chino_is_one_message_a_person_and_channel(home: Household) -> None:
    await home.report(a_report(volume=gallons(1500), reached=["storm_drain"]))
    await home.work()
    wire = home.outbox()
    assert sorted((line["channel"], line["to"]) for line in wire) == [
        ("email", OFFICER), ("email", "sewer.crew@chino.example"), ("sms", "+19095550101"), ("sms", "+19095550102"),
    ]  # fmt: skip
    rows = await home.messages()
    assert len(rows) > 30  # that many went out before they were bundled
    assert {row.state for row in rows} == {"accepted"}
    assert {line["key"] for line in wire} == {row.id for row in rows if row.carried_by is None}
    [letter] = [line for line in wire if line["to"] == OFFICER]
    due = [row.sort_at for row in rows if row.address == OFFICER]
    [carrier] = [row for row in rows if row.id == letter["key"]]
    assert carrier.sort_at == min(due)  # the line of the file bears the duty that is due first
    assert "10 duties" in letter["subject"]


async def test_a_bundle_names_every_duty_the_soonest_due_first_with_reference_and_link(tmp_path: Path) -> None:
    post = Post("email")
    async with a_bundling_household(tmp_path, post) as home:
        reference = await home.report(a_report())
        await home.work()
        [message] = post.got
        assert (message.duty, message.step, message.spill) == (TWO_HOURS, "start", reference)
        positions = [message.text.index(f"({duty})") for duty in (TWO_HOURS, THREE_HOURS, DAYS)]
        assert positions == sorted(positions)
        assert "4:05 PM PST" in message.text
        assert f"https://spills.example.gov/staff/spills/{reference}" in message.text


async def test_a_bundle_is_one_try_and_every_row_is_on_record_as_accepted(tmp_path: Path) -> None:
    async with a_bundling_household(tmp_path, Post("email")) as home:
        reference = await home.report(a_report())
        await home.work()
        [attempt] = await home.attempts()
        rows = await home.messages()
        assert Counter(row.state for row in rows) == {"accepted": 3}
        assert {row.carried_by for row in rows} == {None, attempt.message_id}
        events = await home.events(reference, MessageAccepted)
        assert {event.message for event in events} == {row.id for row in rows}
        assert sorted(event.carried_by for event in events) == ["", attempt.message_id, attempt.message_id]


async def test_spills_addresses_and_channels_are_never_mixed(tmp_path: Path) -> None:
    email, sms = Post("email"), Post("sms")
    people = [Contact(city="chino", role="duty_officer", name=name, email=f"{name}@chino.example", phone=f"+1909555010{number}")
              for number, name in enumerate(("ann", "bob"))]  # fmt: skip
    ladder = AT_START.replace("[email]", "[email, sms]")
    async with a_household(tmp_path, law=small_law(THREE, ladder), channels={"email": email, "sms": sms}, people=people) as home:
        references = [await home.report(a_report()) for _ in range(2)]
        await home.work()
        for post, addresses in ((email, {"ann@chino.example", "bob@chino.example"}), (sms, {"+19095550100", "+19095550101"})):
            assert Counter((message.to, message.spill) for message in post.got) == {
                (to, reference): 1 for to in addresses for reference in references
            }


# -- outcomes are shared


async def test_a_refused_bundle_is_refused_in_each_of_its_rows_and_raises_each_alarm(tmp_path: Path) -> None:
    async with a_bundling_household(tmp_path, Post("email", Outcome.REFUSED)) as home:
        reference = await home.report(a_report())
        await home.work()
        first = [row for row in await home.messages() if row.step == "start"]
        assert {row.state for row in first} == {"refused"}
        assert len(await home.events(reference, MessageGaveUp)) == 3
        assert {alarm.duty for alarm in await home.events(reference, RungReachedNobody)} == {TWO_HOURS, THREE_HOURS, DAYS}
        [again] = [row for row in await home.messages(state="accepted") if row.carried_by is None]
        assert again.step == "due at once"  # and these went out together, too


async def test_a_bundle_that_did_not_go_out_is_made_anew_with_what_waits_by_then(tmp_path: Path) -> None:
    post = Post("email", Outcome.TRY_AGAIN)
    async with a_bundling_household(tmp_path, post) as home:
        reference = await home.report(a_report())
        await home.work()
        assert await carried(home) == {}  # free to go otherwise next time
        await home.happened(reference, "notice_given", recipient="board", method="telephone")
        await home.live(seconds=10)
        assert [message.duty for message in post.got] == [TWO_HOURS, THREE_HOURS]
        assert TWO_HOURS not in post.got[1].text
        assert Counter(row.state for row in await home.messages()) == {"accepted": 2, "cancelled": 1}


async def test_a_bundle_that_may_have_gone_out_goes_again_the_same_to_the_letter_and_marked(tmp_path: Path) -> None:
    post = Post("email", Outcome.UNKNOWN)
    async with a_bundling_household(tmp_path, post) as home:
        await home.report(a_report())
        await home.live(seconds=10)
        first, again = post.got
        assert (first.key, first.subject, first.text) == (again.key, again.subject, again.text)
        assert [attempt.may_be_double for attempt in await home.attempts()] == [False, True]
        assert Counter(row.state for row in await home.messages()) == {"accepted": 3}


async def test_a_duty_that_is_done_meanwhile_falls_out_of_a_bundle_that_may_have_gone_out(tmp_path: Path) -> None:
    post = Post("email", Outcome.UNKNOWN)
    async with a_bundling_household(tmp_path, post) as home:
        reference = await home.report(a_report())
        await home.work()
        await home.happened(reference, "notice_given", recipient="works", method="telephone")
        await home.live(seconds=10)
        assert post.got[0].key == post.got[1].key
        assert THREE_HOURS in post.got[0].text
        assert THREE_HOURS not in post.got[1].text
        assert Counter(row.state for row in await home.messages()) == {"accepted": 2, "cancelled": 1}


async def test_where_the_duty_that_carries_is_done_another_carries_and_is_marked_as_perhaps_double(tmp_path: Path) -> None:
    post = Post("email", Outcome.UNKNOWN)
    async with a_bundling_household(tmp_path, post) as home:
        reference = await home.report(a_report())
        await home.work()
        await home.happened(reference, "notice_given", recipient="board", method="telephone")
        await home.live(seconds=10)
        assert [message.duty for message in post.got] == [TWO_HOURS, THREE_HOURS]
        assert DAYS in post.got[1].text
        attempts = await home.attempts()
        assert [(attempt.outcome, attempt.may_be_double) for attempt in attempts] == [("unknown", False), ("accepted", True)]
        assert Counter(row.state for row in await home.messages()) == {"accepted": 2, "cancelled": 1}


async def test_a_duty_done_at_the_moment_of_the_claim_is_left_out(tmp_path: Path) -> None:
    gate = Gate("email", Outcome.TRY_AGAIN)
    async with a_bundling_household(tmp_path, gate) as home:
        reference = await home.report(a_report())
        round_ = asyncio.create_task(home.worker.round())
        await gate.reached.wait()
        await home.happened(reference, "notice_given", recipient="works", method="telephone")  # while it is on its way
        gate.open.set()
        await round_
        await home.live(seconds=10)
        assert [THREE_HOURS in message.text for message in gate.got] == [True, False]
        assert [row.state for row in await home.messages(THREE_HOURS)] == ["cancelled"]


async def test_an_acknowledgement_takes_back_that_duty_alone(tmp_path: Path) -> None:
    post = Post("email", Outcome.TRY_AGAIN)
    async with a_bundling_household(tmp_path, post) as home:
        reference = await home.report(a_report())
        await home.work()
        await home.acknowledge(reference, TWO_HOURS, "Duty")
        await home.live(seconds=10)
        assert TWO_HOURS not in post.got[1].text
        assert {DAYS, THREE_HOURS} == {duty for duty in (DAYS, THREE_HOURS) if duty in post.got[1].text}


# -- crashes


async def test_a_worker_that_dies_leaves_no_half_bundle(tmp_path: Path) -> None:
    post = Post("email")
    async with a_bundling_household(tmp_path, post) as home:
        await home.report(a_report())
        [claimed] = await claim(home.house, "worker that dies", "email", 8)
        assert len(claimed.carried) == 2
        rows = await home.messages()
        assert {(row.state, row.claimed_by) for row in rows} == {("sending", "worker that dies")}
        assert len({row.lease_until for row in rows}) == 1
        assert await claim(home.house, "another", "email", 8) == []  # none of them is free before the lease ends
        home.clock.jump(seconds=home.house.settings.lease_seconds)
        await home.work()
        [message] = post.got
        assert message.key == claimed.row.id
        assert [attempt.may_be_double for attempt in await home.attempts()] == [False, True]
        assert Counter(row.state for row in await home.messages()) == {"accepted": 3}


async def test_orphans_of_a_bundle_are_freed_together(tmp_path: Path) -> None:
    post = Post("email")
    async with a_bundling_household(tmp_path, post) as home:
        await home.report(a_report())
        await claim(home.house, "worker that dies", "email", 8)
        await release_orphans(home.house, home.clock.at)
        await home.work()
        assert len(post.got) == 1
        assert Counter(row.state for row in await home.messages()) == {"accepted": 3}


async def test_what_is_new_joins_no_bundle_that_may_have_gone_out(tmp_path: Path) -> None:
    post = Post("email", Outcome.UNKNOWN)
    async with a_household(tmp_path, law=small_law(THREE, AT_START), channels={"email": post}, people=officers("duty")) as home:
        await home.report(a_report())
        await home.work()
        doubtful = {row.id for row in await home.messages()}
        home.clock.jump(hours=2)  # nobody works until the first is due
        await home.work()
        by_key = {message.key: message for message in post.got}
        assert len(post.got) == 3
        assert post.got[1].key == post.got[0].key or post.got[2].key == post.got[0].key
        [new] = [message for key, message in by_key.items() if key not in doubtful]
        assert new.step == "due"


# -- waiting for company


def when(post: Post) -> list[timedelta]:
    return [message.at - TUESDAY for message in post.got]


async def test_an_alert_promised_within_a_minute_of_another_waits_until_the_minute_is_over(tmp_path: Path) -> None:
    post = Post("email")
    async with a_bundling_household(tmp_path, post) as home:
        reference = await home.report(a_report())
        await home.work()
        home.clock.jump(seconds=20)
        await home.amend(reference, known_at=(TUESDAY - timedelta(minutes=5)).isoformat())  # each due time moves
        await home.work()
        assert when(post) == [timedelta()]
        await home.live(minutes=5)
        assert when(post) == [timedelta(), timedelta(seconds=60)]


async def test_what_is_due_within_ten_minutes_never_waits_for_company(tmp_path: Path) -> None:
    post = Post("email")
    async with a_bundling_household(tmp_path, post) as home:
        reference = await home.report(a_report())
        await home.work()
        home.clock.jump(seconds=20)
        await home.amend(reference, known_at=(TUESDAY - timedelta(hours=1, minutes=55)).isoformat())
        await home.work()
        assert when(post) == [timedelta(), timedelta(seconds=20)]
        assert TWO_HOURS in post.got[1].text
        assert DAYS in post.got[1].text  # what could have waited comes along


async def test_two_minutes_later_nothing_waits_for_company(tmp_path: Path) -> None:
    post = Post("email")
    async with a_bundling_household(tmp_path, post) as home:
        reference = await home.report(a_report())
        await home.live(minutes=2)
        await home.amend(reference, known_at=(TUESDAY - timedelta(minutes=5)).isoformat())
        await home.work()
        assert when(post) == [timedelta(), timedelta(minutes=2)]


async def test_a_bundle_after_downtime_tells_the_time_that_is_left_now(tmp_path: Path) -> None:
    post = Post("email")
    async with a_bundling_household(tmp_path, post) as home:
        await home.report(a_report())
        home.clock.jump(minutes=30)  # promised, and nobody there to send it
        [claimed] = await claim(home.house, "test worker", "email", 8)
        assert isinstance(claimed, Claim)
        assert "1 hour 30 minutes left" in claimed.row.text


async def test_rows_that_cannot_be_worded_together_go_out_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    post = Post("email")
    async with a_bundling_household(tmp_path, post) as home:
        await home.report(a_report())

        async def broken(*_: object) -> None:
            raise RuntimeError("a template of the city that nobody foresaw")

        monkeypatch.setattr("service.bundles.words_of", broken)
        await home.work()
        assert sorted(message.duty or "" for message in post.got) == sorted([TWO_HOURS, THREE_HOURS, DAYS])
