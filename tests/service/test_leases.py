"""Leases: made longer while a send lasts, lost to nobody, and handed back by a worker that stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from service import worker as worker_module
from service.claims import claim
from service.leases import Leases, hand_back
from service.sending import Answers, hand_over
from service.worker import Worker, working
from tests.houses import Household
from tests.service.channels import Gate, Post
from tests.service.test_outbox import a_promise, a_quiet_household, the_row


@asynccontextmanager
async def a_slow_send(folder: Path) -> AsyncIterator[tuple[Household, Gate, Leases, asyncio.Task[None]]]:
    """One message that a worker has handed to a channel that does not answer yet."""
    gate = Gate("email")
    async with a_quiet_household(folder, gate) as home:
        await a_promise(home)
        [claimed] = await claim(home.house, "slow worker", "email", 1)
        leases, answers = Leases(home.house, "slow worker"), Answers(home.house, "slow worker")

        async def send() -> None:
            await answers.record(claimed, await hand_over(home.house, gate, claimed, leases))

        sending = asyncio.create_task(send())
        await gate.reached.wait()
        yield home, gate, leases, sending
        gate.open.set()
        await sending


async def test_a_send_that_lasts_longer_than_its_lease_stays_with_its_worker(tmp_path: Path) -> None:
    async with a_slow_send(tmp_path) as (home, gate, leases, sending):
        for _ in range(5):
            home.clock.jump(seconds=home.house.settings.lease_seconds * 0.5)
            await leases.renew()
            assert await claim(home.house, "another worker", "email", 8) == []
        assert (await the_row(home)).lease_until == home.clock.at + timedelta(seconds=home.house.settings.lease_seconds)
        gate.open.set()
        await sending
        assert (await the_row(home)).state == "accepted"
        assert [(one.worker, one.outcome) for one in await home.attempts()] == [("slow worker", "accepted")]


async def test_a_send_whose_message_another_worker_has_by_now_is_cut_off(tmp_path: Path) -> None:
    async with a_slow_send(tmp_path) as (home, gate, leases, sending):
        home.clock.jump(seconds=home.house.settings.lease_seconds)
        [other] = await claim(home.house, "another worker", "email", 8)
        assert other.may_be_double
        await leases.renew()
        await sending  # without the gate being opened
        assert gate.got == []
        row = await the_row(home)
        assert (row.state, row.claimed_by, row.tries) == ("sending", "another worker", 2)
        assert [(one.worker, one.outcome) for one in await home.attempts()] == [("slow worker", "unknown"), ("another worker", None)]


async def test_a_lease_that_cannot_be_renewed_ends_the_send_before_another_worker_may_begin(tmp_path: Path) -> None:
    gate = Gate("email")
    async with a_quiet_household(tmp_path, gate, lease_seconds=5) as home:
        await a_promise(home)
        [claimed] = await claim(home.house, "a worker", "email", 1)
        began = asyncio.get_running_loop().time()
        receipt = await hand_over(home.house, gate, claimed, Leases(home.house, "a worker"))  # nobody renews
        assert 3.4 < asyncio.get_running_loop().time() - began < 4.5
        assert receipt.outcome.value == "unknown"


async def test_a_worker_that_stops_lets_another_have_at_once_what_it_cannot_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate("email")
    async with a_quiet_household(tmp_path, gate) as home:
        await a_promise(home)
        monkeypatch.setattr(worker_module, "_LAST_SENDS_SECONDS", 0.05)
        async with working(Worker(home.house, {"email": gate}, "the first")):
            await gate.reached.wait()
        row = await the_row(home)
        assert (row.state, row.lease_until) == ("sending", home.clock.at)
        post = Post("email")
        async with working(Worker(home.house, {"email": post}, "the second")):
            while (await the_row(home)).state != "accepted":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert gate.got == []
        assert [(one.worker, one.outcome, one.may_be_double) for one in await home.attempts()] == [
            ("the first", "unknown", False), ("the second", "accepted", True),
        ]  # fmt: skip


async def test_a_worker_hands_back_only_what_is_its_own(tmp_path: Path) -> None:
    async with a_quiet_household(tmp_path, Post("email")) as home:
        for number in range(3):
            await a_promise(home, number)
        assert len(await claim(home.house, "a worker", "email", 2)) == 2
        assert len(await claim(home.house, "another worker", "email", 8)) == 1
        assert await hand_back(home.house, "a worker") == 2
        assert await hand_back(home.house, "a stranger") == 0
        assert sorted(row.lease_until == home.clock.at for row in await home.messages()) == [False, True, True]
