"""The outbox: claimed before sent, one row a try, tried again with patience, and never twice without saying that it may be twice."""

import asyncio
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from notifiers import FileChannel, Outcome, Receipt
from service.claims import claim
from service.errors import Conflict
from service.events import MessageAccepted, MessageGaveUp
from service.leases import Leases
from service.outbox import PATIENCE, Promise, next_message_at, promise, release_orphans
from service.parties import Person
from service.sending import Answers, deliver, hand_over, send
from service.tables import MessageRow, Obligation
from service.transaction import reading, transaction
from service.wording import Words
from service.worker import Worker, working
from tests.houses import TUESDAY, Household, a_household, an_engine
from tests.service.channels import Gate, Post, both
from tests.service.small_law import CALL, small_law
from tests.spills import a_report

QUIET = small_law(CALL.replace("1000 gal", "1000000 gal"))  # no clock runs, so that a test promises its messages itself
WORDS = Words("A subject", "A text", "An SMS")


async def a_promise(home: Household, number: int = 1, channel: str = "email", climb: str = "test") -> MessageRow:
    """Promise one message, to an address of its own for each number."""
    if not hasattr(home, "reference"):
        home.reference = await home.report(a_report())  # type: ignore[attr-defined]
    person = Person(f"Person {number}", "duty_officer", {"email": f"p{number}@chino.example", "sms": f"+1909555{number:04}"})
    async with transaction(home.house, "test") as tx:
        spill = await tx.spill(home.reference)  # type: ignore[attr-defined]
        return await promise(tx, Promise(spill, None, "step", "a test", climb), person, channel, WORDS)


@pytest.fixture
async def post() -> Post:
    return Post("email")


def a_quiet_household(folder: Path, *channels: Post, **settings: Any) -> Any:
    return a_household(folder, law=QUIET, channels={channel.name: channel for channel in channels}, people=[], **settings)


async def the_row(home: Household) -> MessageRow:
    [row] = await home.messages()
    return row


# -- promising


async def test_the_same_rung_promised_again_to_the_same_address_is_one_message(tmp_path: Path, post: Post) -> None:
    async with a_quiet_household(tmp_path, post) as home:
        first = await a_promise(home)
        again = await a_promise(home)
        other_rung = await a_promise(home, climb="another")
        assert first.id == again.id != other_rung.id
        await home.work()
        assert len(post.got) == 2


async def test_a_message_is_promised_in_the_transaction_or_not_at_all(tmp_path: Path, post: Post) -> None:
    async with a_quiet_household(tmp_path, post) as home:
        reference = await home.report(a_report())

        async def promise_and_fail() -> None:
            async with transaction(home.house, "test") as tx:
                person = Person("P", "duty_officer", {"email": "p@chino.example"})
                await promise(tx, Promise(await tx.spill(reference), None, "step", "a test", "test"), person, "email", WORDS)
                raise Conflict("after the promise")

        with pytest.raises(Conflict):
            await promise_and_fail()
        await home.work()
        assert post.got == []
        assert await home.messages() == []


async def test_an_sms_carries_the_short_words_and_a_letter_the_long_ones(tmp_path: Path) -> None:
    channels = both()
    async with a_quiet_household(tmp_path, *channels.values()) as home:
        await a_promise(home, channel="email")
        await a_promise(home, channel="sms")
        await home.work()
    assert [(message.subject, message.text) for message in channels["email"].got] == [("A subject", "A text")]
    assert [message.text for message in channels["sms"].got] == ["An SMS"]


# -- one try


async def test_a_claim_is_committed_before_the_message_is_handed_over(tmp_path: Path) -> None:
    gate = Gate("email")
    async with a_quiet_household(tmp_path, gate) as home:
        await a_promise(home)
        sending = asyncio.create_task(home.worker.round())
        await gate.reached.wait()
        row = await the_row(home)  # as everybody else sees it, while the provider has not answered
        [attempt] = await home.attempts()
        assert (row.state, row.claimed_by, row.tries) == ("sending", "test worker", 1)
        assert row.lease_until == TUESDAY + timedelta(seconds=home.house.settings.lease_seconds)
        assert (attempt.number, attempt.started_at, attempt.ended_at, attempt.outcome) == (1, TUESDAY, None, None)
        gate.open.set()
        await sending
        assert (await the_row(home)).state == "accepted"


async def test_an_accepted_message_has_one_try_with_the_answer_of_the_provider(tmp_path: Path, post: Post) -> None:
    async with a_quiet_household(tmp_path, post) as home:
        promised = await a_promise(home)
        await home.work()
        [attempt] = await home.attempts()
        assert (attempt.outcome, attempt.provider_id, attempt.detail) == ("accepted", "post-1", "said accepted")
        assert (attempt.worker, attempt.ended_at, attempt.may_be_double) == ("test worker", TUESDAY, False)
        assert [message.key for message in post.got] == [promised.id]
        [accepted] = await home.events(home.reference, MessageAccepted)
        assert (accepted.message, accepted.person, accepted.may_be_double) == (promised.id, "Person 1", False)
        await home.live(days=2)
        assert len(post.got) == 1


async def test_every_try_is_a_row_and_the_waits_grow(tmp_path: Path) -> None:
    post = Post("email", *[Outcome.TRY_AGAIN] * 7)
    async with a_quiet_household(tmp_path, post) as home:
        await a_promise(home)
        await home.live(hours=2)
        attempts = await home.attempts()
        assert [attempt.number for attempt in attempts] == list(range(1, 9))
        assert [attempt.outcome for attempt in attempts] == ["try_again"] * 7 + ["accepted"]
        began = [attempt.started_at for attempt in attempts]
        assert [(later - earlier).total_seconds() for earlier, later in pairwise(began)] == [
            5, 15, 60, 180, 600, 1800, 1800,
        ]  # fmt: skip
        assert not any(attempt.may_be_double for attempt in attempts)
        assert len({message.key for message in post.got}) == 1
        assert (await the_row(home)).state == "accepted"


async def test_a_message_nobody_takes_is_given_up_at_last(tmp_path: Path) -> None:
    post = Post("email", then=Outcome.TRY_AGAIN)
    async with a_quiet_household(tmp_path, post) as home:
        await a_promise(home)
        await home.live(days=3)
        row = await the_row(home)
        assert (row.state, row.next_at, row.lease_until) == ("gave_up", None, None)
        [event] = await home.events(home.reference, MessageGaveUp)
        assert event.reason == f"tried {row.tries} times in {PATIENCE}"
        assert len(post.got) == row.tries == len(await home.attempts()) > 40
        assert max(message.at for message in post.got) <= TUESDAY + PATIENCE


async def test_a_refused_message_is_never_tried_again(tmp_path: Path) -> None:
    post = Post("email", Outcome.REFUSED)
    async with a_quiet_household(tmp_path, post) as home:
        await a_promise(home)
        await home.live(days=2)
        assert len(post.got) == 1
        assert (await the_row(home)).state == "refused"
        [event] = await home.events(home.reference, MessageGaveUp)
        assert event.reason == "said refused"


async def test_a_wrong_address_is_refused_without_a_call(tmp_path: Path) -> None:
    post = Post("email", wrong=["p1@chino.example"])
    async with a_quiet_household(tmp_path, post) as home:
        await a_promise(home)
        await home.work()
        assert post.got == []
        assert (await the_row(home)).state == "refused"
        [attempt] = await home.attempts()
        assert (attempt.outcome, attempt.detail) == ("refused", "p1@chino.example is wrong")


async def test_a_message_promised_in_downtime_is_tried_once_however_old_it_is(tmp_path: Path, post: Post) -> None:
    async with a_quiet_household(tmp_path, post) as home:
        await a_promise(home)
        home.clock.jump(days=5)
        await home.work()
        assert (await the_row(home)).state == "accepted"


# -- perhaps sent


async def test_an_unknown_outcome_is_tried_again_and_marked_as_perhaps_double(tmp_path: Path) -> None:
    post = Post("email", Outcome.UNKNOWN)
    async with a_quiet_household(tmp_path, post) as home:
        await a_promise(home)
        await home.live(minutes=1)
        attempts = await home.attempts()
        assert [(attempt.outcome, attempt.may_be_double) for attempt in attempts] == [("unknown", False), ("accepted", True)]
        [accepted] = await home.events(home.reference, MessageAccepted)
        assert accepted.may_be_double


async def test_a_channel_that_breaks_loses_no_message_and_stops_no_worker(tmp_path: Path) -> None:
    post = Post("email", RuntimeError("a bug in the channel"))
    async with a_quiet_household(tmp_path, post) as home:
        for number in (1, 2, 3):
            await a_promise(home, number)
        await home.work()
        assert Counter(row.state for row in await home.messages()) == {"accepted": 2, "waiting": 1}
        await home.live(minutes=1)
        assert Counter(row.state for row in await home.messages()) == {"accepted": 3}
        [broken, again] = await home.attempts((await home.messages(tries=2))[0])
        assert (broken.outcome, broken.detail) == ("unknown", "RuntimeError: a bug in the channel")
        assert (again.outcome, again.may_be_double) == ("accepted", True)


def at_work(home: Household, worker: str) -> tuple[Answers, Leases]:
    """What a worker keeps while it sends."""
    return Answers(home.house, worker), Leases(home.house, worker)


class Cut(BaseException):
    """The process ends here, as far as the message is concerned."""


async def die_while_sending(home: Household, channel: Post) -> None:
    """A worker claims the message, hands it over, and is gone before it can record the answer."""
    [claimed] = await claim(home.house, "worker that dies", channel.name, 1)
    with pytest.raises(Cut):
        await hand_over(home.house, channel, claimed, Leases(home.house, "worker that dies"))


async def test_a_message_of_a_dead_worker_goes_out_again_after_its_lease_and_says_so(tmp_path: Path) -> None:
    post = Post("email", Cut())
    async with a_quiet_household(tmp_path, post) as home:
        await a_promise(home)
        await die_while_sending(home, post)
        assert (await the_row(home)).state == "sending"
        home.clock.jump(seconds=home.house.settings.lease_seconds - 1)
        following = await home.work()
        assert len(post.got) == 1  # still under lease
        assert following == TUESDAY + timedelta(seconds=home.house.settings.lease_seconds)
        home.clock.jump(seconds=1)
        await home.work()
        assert len(post.got) == 2
        cut_off, again = await home.attempts()
        assert (cut_off.worker, cut_off.outcome, cut_off.ended_at) == ("worker that dies", "unknown", home.clock.at)
        assert cut_off.detail == "the worker stopped before the answer was recorded"
        assert (again.worker, again.outcome, again.may_be_double) == ("test worker", "accepted", True)
        assert {message.key for message in post.got} == {(await the_row(home)).id}


async def test_a_worker_alone_on_its_database_need_not_wait_for_the_lease(tmp_path: Path) -> None:
    post = Post("email", Cut())
    async with a_quiet_household(tmp_path, post) as home:
        await a_promise(home)
        await die_while_sending(home, post)
        await release_orphans(home.house, home.clock.at)
        await home.work()
        assert [attempt.may_be_double for attempt in await home.attempts()] == [False, True]
        assert (await the_row(home)).state == "accepted"


async def test_an_answer_after_the_lease_was_lost_moves_nothing(tmp_path: Path) -> None:
    slow = Gate("email", Outcome.REFUSED)
    async with a_quiet_household(tmp_path, slow) as home:
        await a_promise(home)
        [claimed] = await claim(home.house, "slow worker", "email", 1)
        sending = asyncio.create_task(send(home.house, slow, claimed, *at_work(home, "slow worker")))
        await slow.reached.wait()
        home.clock.jump(seconds=home.house.settings.lease_seconds)
        quick = Post("email", Outcome.TRY_AGAIN)
        assert await deliver(home.house, {"email": quick}, "quick worker") == 1
        before = await the_row(home)
        slow.open.set()
        await sending
        after = await the_row(home)
        assert (after.state, after.claimed_by, after.tries, after.next_at) == ("waiting", "quick worker", 2, before.next_at)
        assert [(attempt.worker, attempt.outcome) for attempt in await home.attempts()] == [
            ("slow worker", "refused"), ("quick worker", "try_again"),
        ]  # fmt: skip
        assert await home.events(home.reference, MessageGaveUp) == []


async def test_a_worker_that_is_stopped_leaves_its_message_to_the_next(tmp_path: Path) -> None:
    gate = Gate("email")
    async with a_quiet_household(tmp_path, gate) as home:
        await a_promise(home)
        sending = asyncio.create_task(home.worker.round())
        await gate.reached.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert [attempt.ended_at for attempt in await home.attempts()] == [None]
        home.clock.jump(seconds=home.house.settings.lease_seconds)
        gate.open.set()
        await home.work()
        assert [(attempt.outcome, attempt.may_be_double) for attempt in await home.attempts()] == [("unknown", False), ("accepted", True)]


async def test_messages_no_longer_wanted_do_not_hide_those_behind_them(tmp_path: Path, post: Post) -> None:
    async with a_household(tmp_path, law=small_law(), channels={"email": post}) as home:
        home.reference = await home.report(a_report())
        async with transaction(home.house, "a hand") as tx:  # as if the duty had been met while all of these were under way
            [row] = (await tx.session.execute(select(Obligation))).scalars()
            row.state = "met"
        home.clock.jump(seconds=1)
        await a_promise(home)
        [claimed] = await claim(home.house, "test worker", "email", 2)
        assert claimed.row.address == "p1@chino.example"
        assert len(await home.messages(channel="email", state="cancelled")) == 2


# -- several workers


class Slow:
    """A provider that takes a moment, counted by key."""

    name = "email"

    def __init__(self) -> None:
        self.keys: Counter[str] = Counter()

    def problem_with(self, address: str) -> str | None:
        """None is wrong."""
        return None

    async def send(self, message: Any) -> Receipt:
        """Take it, after a moment."""
        self.keys[message.key] += 1
        await asyncio.sleep(0.001)
        return Receipt(Outcome.ACCEPTED, message.key)

    async def aclose(self) -> None:
        """Nothing is open."""


async def promise_many(home: Household, number: int) -> None:
    reference = await home.report(a_report())
    async with transaction(home.house, "test") as tx:
        spill = await tx.spill(reference)
        for one in range(number):
            person = Person(f"Person {one}", "duty_officer", {"email": f"p{one}@chino.example"})
            await promise(tx, Promise(spill, None, "step", "a test", "test"), person, "email", WORDS)


async def test_two_workers_on_one_database_send_no_message_twice(tmp_path: Path) -> None:
    provider = Slow()
    async with a_household(tmp_path, law=QUIET, people=[]) as home:
        await promise_many(home, 500)
        second = home.with_house(engine=an_engine(home.house.settings), writing=asyncio.Lock())  # as another process has them
        workers = [Worker(home.house, {"email": provider}, "first"), Worker(second.house, {"email": provider}, "second")]
        try:
            # Side by side, a batch each time: SQLite's lock is not fair, and one alone might else send them all.
            while any(await asyncio.gather(*(deliver(one.house, one.channels, one.name) for one in workers))):
                pass
        finally:
            await second.house.engine.dispose()
        assert len(provider.keys) == 500
        assert set(provider.keys.values()) == {1}
        assert Counter(row.state for row in await home.messages()) == {"accepted": 500}
        assert len(await home.attempts()) == 500
        assert len({attempt.worker for attempt in await home.attempts()}) == 2


async def test_two_file_channels_write_each_message_on_one_whole_line(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=QUIET, people=[]) as home:
        await promise_many(home, 60)
        path = home.house.settings.outbox_path
        await asyncio.gather(*(Worker(home.house, {"email": FileChannel(path, "email")}, name).round() for name in ("one", "two")))
        assert len(home.outbox()) == len({line["key"] for line in home.outbox()}) == 60


# -- the running worker


async def accepted(home: Household, number: int) -> None:
    """Wait, in real time, until so many messages are."""
    for _ in range(1000):
        if len(await home.messages(state="accepted")) >= number:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"not {number} messages are accepted after 20 seconds")


async def test_a_running_worker_sends_what_is_promised_while_it_waits(tmp_path: Path, post: Post) -> None:
    async with a_quiet_household(tmp_path, post) as home, working(home.worker):
        for number in range(1, 6):
            await a_promise(home, number)
            await accepted(home, number)


async def test_a_stalled_channel_does_not_hold_up_the_other(tmp_path: Path) -> None:
    gate, sms = Gate("email"), Post("sms")
    async with a_quiet_household(tmp_path, gate, sms) as home, working(home.worker):
        for number in range(1, 21):
            await a_promise(home, number)
        await gate.reached.wait()
        await a_promise(home, 30, channel="sms")
        await accepted(home, 1)
        assert (len(sms.got), len(gate.got)) == (1, 0)
        gate.open.set()
        await accepted(home, 21)


async def test_a_running_worker_survives_a_channel_that_breaks(tmp_path: Path) -> None:
    post = Post("email", RuntimeError("a bug"), ValueError("another"))
    async with a_quiet_household(tmp_path, post) as home, working(home.worker):
        for number in range(1, 6):
            await a_promise(home, number)
        await accepted(home, 3)
        home.clock.jump(minutes=1)
        home.house.bell.ring()
        await accepted(home, 5)


async def test_when_nothing_is_promised_there_is_nothing_to_wake_for(tmp_path: Path, post: Post) -> None:
    async with a_quiet_household(tmp_path, post) as home:
        async with reading(home.house) as tx:
            assert await next_message_at(tx) is None
        await a_promise(home)
        async with reading(home.house) as tx:
            assert await next_message_at(tx) == TUESDAY
        assert await home.work() is None
