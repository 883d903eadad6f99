"""How late duty alerts are while an advisory goes to 100,000 subscribers: `.venv/bin/python -m tests.benchmarks.bench_fanout`.

In one run on PostgreSQL (`--sqlite` for the other): for a while duties fall due one by one with nothing else to do; then an advisory is
issued to `--subscribers`, and they go on falling due until everybody was promised theirs and `--sent` of them were handed over. The channel
takes `--milliseconds` for a message, as a mail server does. Prints how late alerts were handed over, in both parts, and how fast
subscribers were told. A measure to compare by; no test.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any

from pydantic import SecretStr
from sqlalchemy import func, insert, select
from sqlmodel import col

from notifiers import Message, Outcome, Receipt
from service import intake, obligations, wiring
from service.access import Staff
from service.advisories import draft, is_under_way, issue
from service.clock import real_now
from service.settings import Settings
from service.tables import Contact, MessageRow, Obligation, Spill, Subscription
from service.transaction import House, reading, transaction
from service.worker import Worker, working
from tests.e2e.database_server import a_database_server
from tests.e2e.program import CHINO, tell
from tests.e2e.test_rungs_twice import LADDER

EVERY_SECONDS = 0.1
_AT_A_TIME = 10_000


@dataclass
class Slow:
    """A channel that takes so long for each message, and notes when alerts came."""

    name: str
    seconds: float
    alerts: dict[str, datetime] = field(default_factory=dict)
    news: int = 0

    def problem_with(self, address: str) -> str | None:
        """None is wrong."""
        return None

    async def send(self, message: Message) -> Receipt:
        """Take a message."""
        if message.duty:
            self.alerts[message.key] = real_now()
        else:
            self.news += 1
        await asyncio.sleep(self.seconds)
        return Receipt(Outcome.ACCEPTED)

    async def aclose(self) -> None:
        """Nothing is open."""


async def subscribers(house: House, many: int) -> None:
    """So many people who want to hear of Chino, half by mail and half by text."""
    now = house.now()
    for start in range(0, many, _AT_A_TIME):
        rows = [
            {
                "kind": "public", "channel": "sms" if number % 2 else "email", "language": "es" if number % 5 == 0 else "en",
                "address": f"+1909{number:07}" if number % 2 else f"p{number}@example.org", "wants": {"cities": ["chino"]},
                "created_at": now, "confirmed_at": now, "digest": f"digest {number}", "pace": "at_once", "zone": "", "ended_why": "",
            }
            for number in range(start, min(start + _AT_A_TIME, many))
        ]  # fmt: skip
        async with transaction(house, "bench") as tx:
            await tx.session.execute(insert(Subscription), rows)


async def a_spill(house: House) -> tuple[Spill, Obligation]:
    """A spill in Chino whose own clocks rest, and one of them to copy."""
    async with transaction(house, "bench") as tx:
        tx.session.add(Contact(city="chino", role="duty_officer", name="Ann", email="ann@chino.example"))
    volume = {"quantity": 1500, "unit": "gal"}
    body = {"description": "a model", "location": CHINO, "material": "sewage", "volume": volume, "reached": ["street"]}
    reference = (await intake.take_in(house, intake.Arrival(body, by_way_of="staff", sender="o@chino.example", is_staff=True))).reference
    async with transaction(house, "bench") as tx:
        spill = await tx.spill(reference)
        rows = await obligations.of_spill(tx, spill)
        for row in rows:
            row.state, row.next_at = "waived", None
        return spill, rows[0]


async def plan(house: House, spill: Spill, model: Obligation, first: int, many: int, begins: datetime) -> None:
    """So many duties that fall due one by one."""
    async with transaction(house, "bench") as tx:
        for number in range(first, first + many):
            at = begins + timedelta(seconds=EVERY_SECONDS * (number - first))
            copy = Spill(**{**spill.model_dump(exclude={"id"}), "reference": f"SP-2026-{800000 + number}"})
            tx.session.add(copy)
            await tx.session.flush()
            given: dict[str, Any] = {
                "spill_id": copy.id, "ladder": LADDER[:1], "state": "running", "overdue_noted": True, "starts_at": at, "begins_at": at,
                "next_at": at, "due_at": at + timedelta(minutes=5), "climbed_to": None,
            }  # fmt: skip
            tx.session.add(Obligation(**{**model.model_dump(exclude={"id"}), **given}))
        tx.wakes_worker = True


async def keep_planning(house: House, spill: Spill, model: Obligation, first: int, begins: datetime) -> None:
    """Go on planning duties, two seconds at a time and two ahead, until cancelled."""
    many = int(2 / EVERY_SECONDS)
    while True:
        await plan(house, spill, model, first, many, begins)
        first, begins = first + many, begins + timedelta(seconds=2)
        await asyncio.sleep(max(0.0, (begins - house.now()).total_seconds() - 2))


async def lateness(house: House, channel: Slow, since: datetime) -> list[float]:
    """How late the alerts of duties that began since then were handed over, in seconds."""
    query = select(col(MessageRow.id), col(Obligation.begins_at)).join(Obligation, col(Obligation.id) == col(MessageRow.obligation_id))
    async with reading(house) as tx:
        began = {key: at for key, at in await tx.session.execute(query.where(col(Obligation.begins_at) >= since))}
    return [(at - began[key]).total_seconds() for key, at in channel.alerts.items() if key in began]


def said(seconds: Sequence[float]) -> str:
    """The middle, the 99th percentile and the worst."""
    cuts = quantiles(seconds, n=100)
    return f"p50 {cuts[49] * 1000:.0f} ms, p99 {cuts[98] * 1000:.0f} ms, most {max(seconds) * 1000:.0f} ms, of {len(seconds)}"


async def measure(house: House, given: argparse.Namespace) -> None:
    """The whole run."""
    await wiring.migrate(house)
    spill, model = await a_spill(house)
    await subscribers(house, given.subscribers)
    channels = {name: Slow(name, given.milliseconds / 1000) for name in ("email", "sms")}
    async with working(Worker(house, channels, "a worker")):
        begins = house.now() + timedelta(seconds=1)
        many = int(given.seconds / EVERY_SECONDS)
        await plan(house, spill, model, 0, many, begins)
        await asyncio.sleep(given.seconds + 3)
        quiet = await lateness(house, channels["email"], begins)
        begins = house.now() + timedelta(seconds=1)
        planner = asyncio.create_task(keep_planning(house, spill, model, many, begins))
        async with transaction(house, "bench") as tx:
            staff = Staff("officer@chino.example", "officer", "chino")
            held = await tx.spill(spill.reference)
            await issue(tx, staff, held, "advisory", draft(house, held, "advisory", None), None, 0)
        issued = perf_counter()
        promised_after = 0.0
        while not promised_after or sum(one.news for one in channels.values()) < given.sent:
            await asyncio.sleep(0.2)
            if not promised_after:
                async with reading(house) as tx:
                    promised_after = 0.0 if await is_under_way(tx) else perf_counter() - issued
        planner.cancel()
        until = house.now()
        busy = await lateness(house, channels["email"], begins)
        news = sum(one.news for one in channels.values())
        async with reading(house) as tx:
            waits = await tx.session.scalar(
                select(func.count()).select_from(Obligation).where(col(Obligation.next_at) <= until - timedelta(seconds=2))
            )
    kind = "SQLite" if house.settings.is_embedded else "PostgreSQL"
    tell(f"{kind}; alerts with nothing else to do: {said(quiet)}")
    tell(f"alerts while an advisory goes out:      {said(busy)}; {waits} duties wait for over two seconds")
    tell(
        f"{given.subscribers} subscribers promised theirs in {promised_after:.1f} s; {news} handed over in {perf_counter() - issued:.1f} s"
    )


def main() -> None:
    """Run it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--subscribers", type=int, default=100_000)
    arguments.add_argument("--sent", type=int, default=5_000)
    arguments.add_argument("--seconds", type=float, default=10)
    arguments.add_argument("--milliseconds", type=float, default=50)
    arguments.add_argument("--sqlite", action="store_true")
    given = arguments.parse_args()
    logging.getLogger("service").setLevel(logging.ERROR)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spillclock-fanout-")))
        url = "" if given.sqlite else stack.enter_context(a_database_server()).url
        cap: dict[str, Any] = {"daily_cap": 0}
        house = wiring.build_house(Settings(home_dir=folder, database_url=url, secret_key=SecretStr("made up for this run alone"), **cap))

        async def run() -> None:
            try:
                await measure(house, given)
            finally:
                await house.engine.dispose()

        asyncio.run(run())


if __name__ == "__main__":
    main()
