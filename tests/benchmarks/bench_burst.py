"""How fast a burst of e-mail drains: `.venv/bin/python -m tests.benchmarks.bench_burst [MESSAGES]` (default 10,000).

In one run, against one real SMTP server in a process of its own: the worker with the e-mail channel, each message claimed, sent
and recorded; an aiosmtplib pool of eight that builds each message; the same pool sending ready bytes. Meanwhile the first page is asked
for again and again. Prints messages a second, the two ratios, and how long pages took. A measure to compare by; no test.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from email.message import EmailMessage
from multiprocessing import Process, Queue
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import aiosmtplib
from sqlalchemy import func, select
from sqlmodel import col

from notifiers import EmailChannel, parse_smtp_url
from service.tables import MessageRow
from service.transaction import reading, transaction
from service.worker import Worker, working
from tests.houses import Household, a_household
from tests.spills import a_report

POOL = 8


def _serve(ports: Queue[int]) -> None:
    from aiosmtpd.controller import Controller

    class Sink:
        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
            return "250 OK"

    logging.getLogger("mail.log").setLevel(logging.ERROR)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(Sink(), hostname="127.0.0.1", port=port)
    controller.start()
    ports.put(port)
    signal.pause()


@asynccontextmanager
async def _server() -> AsyncIterator[int]:
    ports: Queue[int] = Queue()
    process = Process(target=_serve, args=(ports,), daemon=True)
    process.start()
    try:
        yield await asyncio.to_thread(ports.get)
    finally:
        process.terminate()


async def _promise(home: Household, many: int) -> None:
    reference = await home.report(a_report())
    async with transaction(home.house, "benchmark") as tx:
        spill = await tx.spill(reference)
        tx.session.add_all(
            MessageRow(
                rank=1, sort_at=tx.now, id=uuid.uuid4().hex, once=f"burst {number}", spill_id=spill.id, climb=f"burst:{number}",
                person="somebody", role="duty_officer", channel="email", address=f"person{number}@city.example",
                subject=f"Alert {number}", text="A spill was reported, and something is due.\n" * 20, step="start", reason="a burst",
                promised_at=tx.now, next_at=tx.now, give_up_at=tx.now + timedelta(hours=24),
            )
            for number in range(many)
        )  # fmt: skip


async def _through_the_outbox(home: Household, port: int, many: int, answered: list[float]) -> float:
    server = parse_smtp_url(f"smtp://127.0.0.1:{port}?starttls=never")
    channels = {"email": EmailChannel(server, "spills@city.example", POOL, 10.0)}
    done = asyncio.Event()

    async def visit() -> None:
        client = home.client()
        while not done.is_set():
            start = perf_counter()
            await client.get("/")
            answered.append(perf_counter() - start)
            await asyncio.sleep(0.05)

    visiting = asyncio.create_task(visit())
    start = perf_counter()
    async with working(Worker(home.house, channels, "benchmark")):
        while await _accepted(home) < many:  # noqa: ASYNC110 - the outbox tells nobody that it is empty
            await asyncio.sleep(0.25)
        spent = perf_counter() - start
    done.set()
    await visiting
    await channels["email"].aclose()
    return many / spent


async def _accepted(home: Household) -> int:
    mine = (col(MessageRow.state) == "accepted", col(MessageRow.climb).startswith("burst"))
    async with reading(home.house) as tx:
        return int(await tx.session.scalar(select(func.count()).select_from(MessageRow).where(*mine)) or 0)


async def _through_a_pool(port: int, many: int, build: Callable[[int], EmailMessage | bytes]) -> float:
    numbers = iter(range(many))

    async def send() -> None:
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False)
        await client.connect()
        for number in numbers:
            made = build(number)
            if isinstance(made, bytes):
                await client.sendmail("spills@city.example", [f"person{number}@city.example"], made)
            else:
                await client.send_message(made)
        await client.quit()

    start = perf_counter()
    await asyncio.gather(*(send() for _ in range(POOL)))
    return many / (perf_counter() - start)


def _letter(number: int) -> EmailMessage:
    letter = EmailMessage()
    letter["From"], letter["To"] = "spills@city.example", f"person{number}@city.example"
    letter["Subject"], letter["Message-ID"] = f"Alert {number}", f"<{number}@city.example>"
    letter.set_content("A spill was reported, and something is due.\n" * 20)
    return letter


async def main() -> None:
    """Measure and print."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    ready = bytes(_letter(0))
    answered: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with _server() as port, a_household(Path(folder)) as home:
            await _promise(home, many)
            ours = await _through_the_outbox(home, port, many, answered)
            building = await _through_a_pool(port, many, _letter)
            bytes_alone = await _through_a_pool(port, many, lambda _: ready)
    lines = [
        f"{many:,} messages: outbox {ours:,.0f}/s, pool that builds each {building:,.0f}/s, pool with ready bytes {bytes_alone:,.0f}/s",
        f"outbox against the pool that builds: {ours / building:.2f}; against ready bytes: {ours / bytes_alone:.2f}",
        f"pages meanwhile: median {median(answered) * 1000:.0f} ms, p99 {quantiles(answered, n=100)[98] * 1000:.0f} ms",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
