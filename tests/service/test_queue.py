"""The queue: its head costs the same however long it is, and what is claimed ahead goes out in time or goes back."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from notifiers import FileChannel, Message, Outcome, Receipt
from service import outbox
from service.claims import claim
from service.lanes import Lane
from service.sending import HANDED_BACK, send
from service.tables import MessageRow
from service.transaction import transaction
from service.worker import Worker, working
from tests.houses import Household
from tests.service.channels import Gate, Post
from tests.service.test_outbox import a_promise, a_quiet_household, at_work, the_row

HEAD = "rank, sort_at, promised_at, obligation_id, once"


async def test_the_head_of_the_queue_is_found_by_its_index_without_sorting_what_waits(tmp_path: Path) -> None:
    async with a_quiet_household(tmp_path, Post("email")) as home:
        is_embedded = home.house.settings.is_embedded
        explain, queued = ("EXPLAIN QUERY PLAN", "queued = 1") if is_embedded else ("EXPLAIN", "queued")
        query = f"{explain} SELECT id FROM message WHERE {queued} AND channel = :channel AND city = 'chino' ORDER BY {HEAD} LIMIT 16"  # noqa: S608
        async with home.house.engine.connect() as connection:
            if not is_embedded:  # in an empty table sorting would be cheaper
                await connection.execute(text("SET LOCAL enable_seqscan = off"))
            plan = " ".join(str(row[-1]) for row in await connection.execute(text(query), {"channel": "email"}))
        assert "ix_message_queue" in plan
        assert "TEMP B-TREE" not in plan
        assert "Sort" not in plan


async def test_only_what_waits_can_stand_in_the_queue(tmp_path: Path) -> None:
    async with a_quiet_household(tmp_path, Post("email")) as home:
        row = await a_promise(home)
        with pytest.raises(IntegrityError):
            async with transaction(home.house, "a mistake") as tx:
                await tx.session.execute(update(MessageRow).where(col(MessageRow.id) == row.id).values(state="accepted"))


async def test_a_message_that_waits_for_its_moment_is_queued_by_the_first_claim_after_it(tmp_path: Path) -> None:
    async with a_quiet_household(tmp_path, Post("email", Outcome.TRY_AGAIN)) as home:
        await a_promise(home)
        assert (await the_row(home)).queued
        await home.work()
        row = await the_row(home)
        assert (row.state, row.queued) == ("waiting", False)
        assert await claim(home.house, "test worker", "email", 8) == []
        assert row.next_at is not None
        home.clock.at = row.next_at
        [claimed] = await claim(home.house, "test worker", "email", 8)
        assert claimed.number == 2


async def test_an_answer_after_the_lease_counts_while_nobody_else_took_the_message(tmp_path: Path) -> None:
    slow = Gate("email")
    async with a_quiet_household(tmp_path, slow) as home:
        await a_promise(home, 2)
        [claimed] = await claim(home.house, "slow worker", "email", 1)
        sending = asyncio.create_task(send(home.house, slow, claimed, *at_work(home, "slow worker")))
        await slow.reached.wait()
        await a_promise(home, 1)
        home.clock.jump(seconds=home.house.settings.lease_seconds)
        [other] = await claim(home.house, "quick worker", "email", 1)  # which frees the late one, and takes the one before it
        assert other.row.id != claimed.row.id
        [freed] = await home.messages(id=claimed.row.id)
        assert (freed.state, freed.queued) == ("waiting", True)
        slow.open.set()
        await sending
        [mine] = await home.messages(id=claimed.row.id)
        assert (mine.state, mine.claimed_by, mine.queued) == ("accepted", "slow worker", False)


async def test_what_is_taken_back_leaves_the_queue(tmp_path: Path) -> None:
    async with a_quiet_household(tmp_path, Post("email")) as home:
        row = await a_promise(home)
        async with transaction(home.house, "test") as tx:
            taken_back = update(MessageRow).where(col(MessageRow.id) == row.id).values(state="cancelled", queued=False, next_at=None)
            await tx.session.execute(taken_back)
            assert await outbox.next_message_at(tx) is None
        assert await claim(home.house, "test worker", "email", 8) == []


class Counting:
    """A channel that counts how many messages it is handed at once; each takes `seconds`."""

    name = "email"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.now = self.most = self.taken = 0

    def problem_with(self, address: str) -> str | None:
        """None is wrong."""
        return None

    async def send(self, message: Message) -> Receipt:
        """Take a message after a while."""
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.seconds)
        self.now -= 1
        self.taken += 1
        return Receipt(Outcome.ACCEPTED)

    async def aclose(self) -> None:
        """Nothing is open."""


async def drained(home: Household, channel: Counting, many: int) -> int:
    """Send so many messages with a worker; returns how many were claimed at once at most."""
    for number in range(many):
        await a_promise(home, number)
    most = 0
    async with working(Worker(home.house, {"email": channel}, "a worker")):
        while channel.taken < many:
            most = max(most, len([row for row in await home.messages() if row.state == "sending"]))
            await asyncio.sleep(0.01)
    return most


async def test_a_quick_provider_is_handed_eight_at_once_however_many_are_claimed_ahead(tmp_path: Path) -> None:
    async with a_quiet_household(tmp_path, Post("email")) as home:
        channel = Counting(0.005)
        assert await drained(home, channel, 120) > 8
        assert channel.most == 8


async def test_nothing_is_claimed_ahead_for_a_provider_that_is_slow(tmp_path: Path) -> None:
    async with a_quiet_household(tmp_path, Post("email")) as home:
        channel = Counting(0.6)
        assert await drained(home, channel, 20) == 8


async def test_what_waited_too_long_for_its_turn_goes_back_and_surely_did_not_go_out(tmp_path: Path) -> None:
    gate = Gate("email")
    async with a_quiet_household(tmp_path, gate, lease_seconds=5) as home:
        for number in range(9):
            await a_promise(home, number)
        lane = Lane(home.house, gate, *at_work(home, "a worker"), asyncio.Event())
        sending = [asyncio.create_task(lane.send(one)) for one in await claim(home.house, "a worker", "email", 9)]
        await asyncio.sleep(1.1)  # more than a fifth of the lease
        gate.open.set()
        await asyncio.gather(*sending)
        assert len(gate.got) == 8
        [row] = await home.messages(state="waiting")
        [attempt] = await home.attempts(row)
        assert (attempt.outcome, attempt.may_be_double, attempt.detail) == ("try_again", False, HANDED_BACK.detail)
        assert lane.most == 8


async def test_a_stopped_worker_hands_back_what_it_had_not_begun(tmp_path: Path) -> None:
    async with a_quiet_household(tmp_path, Post("email")) as home:
        channel = Counting(0.0)
        for number in range(40):
            await a_promise(home, number)
        async with working(Worker(home.house, {"email": channel}, "a worker")):
            while channel.taken < 30:  # noqa: ASYNC110
                await asyncio.sleep(0)
            channel.seconds = 0.3
        assert not [row for row in await home.messages() if row.state == "sending"]
        unknown = [attempt for attempt in await home.attempts() if attempt.outcome not in ("accepted", "try_again")]
        assert unknown == []
        home.clock.jump(seconds=timedelta(minutes=1).total_seconds())
        async with working(Worker(home.house, {"email": FileChannel(tmp_path / "rest.jsonl", "email")}, "the next")):
            while [row for row in await home.messages() if row.state != "accepted"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert not any(attempt.may_be_double for attempt in await home.attempts())
