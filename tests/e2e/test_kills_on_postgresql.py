"""kill -9 on PostgreSQL, of a worker in every state of a message and of the pages while they take reports; and a stop in order."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from service import wiring
from service.parties import example_contacts
from service.settings import Settings
from service.transaction import transaction
from tests.e2e.database_server import a_server
from tests.e2e.program import free_port, tell, until, whole_lines
from tests.e2e.test_rungs_twice import Database, WorkerProcess

ELSEWHERE = {"lat": 39.53, "lon": -119.81}
SECRET = "made up for this test alone"
LEASE_SECONDS = 5
KILLS_OF_WEB = 12


@dataclass
class Installation:
    """A database, pages and workers, each a process of its own."""

    folder: Path
    url: str
    port: int
    database: Database
    processes: list[WorkerProcess] = field(default_factory=list)

    def start(self, command: str) -> WorkerProcess:
        """Start one more process."""
        settings = {
            "HOME_DIR": str(self.folder), "DATABASE_URL": self.url, "SECRET_KEY": SECRET, "LEASE_SECONDS": str(LEASE_SECONDS),
            "BIND": f"127.0.0.1:{self.port}", "LIMIT_FACTOR": "1000",
        }  # fmt: skip
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TZ": "UTC"}
        made = WorkerProcess(self.folder, environment | {f"SPILLCLOCK_{name}": value for name, value in settings.items()}, command)
        self.processes.append(made)
        made.start()
        return made

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=10, trust_env=False)

    def answers(self) -> bool:
        with self.client() as client:
            try:
                return client.get("/healthz").status_code == 200
            except httpx.TransportError:
                return False

    def outbox(self) -> Counter[str]:
        path = self.folder / "outbox.jsonl"
        return Counter(line["key"] for line in whole_lines(path)) if path.exists() else Counter()

    def states(self) -> Counter[str]:
        return Counter(row[0] for row in self.database.rows("select state from message"))

    def report(self, key: str = "a report") -> None:
        with self.client() as anyone:
            body = {"description": key, "location": ELSEWHERE}
            assert anyone.post("/api/v1/spills", json=body, headers={"Idempotency-Key": key}).status_code == 201


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with a_server() as url:
        house = wiring.build_house(Settings(home_dir=tmp_path, database_url=url, secret_key=SecretStr(SECRET)))

        async def prepare() -> None:
            await wiring.migrate(house)
            async with transaction(house, "test") as tx:
                tx.session.add_all(example_contacts("chino"))
            await house.engine.dispose()

        asyncio.run(prepare())
        with closing(Database(url)) as database:
            made = Installation(tmp_path, url, free_port(), database)
            yield made
            for process in made.processes:
                process.close()
            for log in tmp_path.glob("*.log"):
                tell(f"{log.name}:\n{log.read_text()[-4000:]}")


@contextmanager
def no_message_is_written(installation: Installation) -> Iterator[None]:
    """Claimed messages wait, not handed over."""
    with (installation.folder / "outbox.jsonl").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def no_answer_is_recorded(url: str) -> Iterator[None]:
    """Messages that were handed over wait to be recorded so."""
    with psycopg.connect(url) as hand:
        hand.execute("select 1 from message for update")
        hand.execute("select 1 from attempt for update")
        yield
        hand.rollback()


def killed_before_it_claims(installation: Installation, victim: WorkerProcess) -> None:
    victim.kill()
    installation.report()


def killed_between_claim_and_send(installation: Installation, victim: WorkerProcess) -> None:
    with no_message_is_written(installation):
        installation.report()
        until(lambda: installation.states()["sending"] == 2, 20, "both messages claimed")
        victim.kill()


def killed_between_send_and_record(installation: Installation, victim: WorkerProcess) -> None:
    with no_message_is_written(installation):
        installation.report()
        until(lambda: installation.states()["sending"] == 2, 20, "both messages claimed")
        hold = no_answer_is_recorded(installation.url)
        hold.__enter__()
    until(lambda: len(installation.outbox()) == 2, 20, "both messages sent")
    victim.kill()
    hold.__exit__(None, None, None)


def killed_after_the_record(installation: Installation, victim: WorkerProcess) -> None:
    installation.report()
    until(lambda: installation.states()["accepted"] == 2, 20, "both messages recorded")
    victim.kill()


@pytest.mark.parametrize(
    ("kill", "on_the_wire", "marked"),
    [
        (killed_before_it_claims, 1, 0), (killed_between_claim_and_send, 1, 2), (killed_between_send_and_record, 2, 2),
        (killed_after_the_record, 1, 0),
    ],
)  # fmt: skip
def test_what_a_killed_worker_had_another_sends_once_its_lease_is_over(
    installation: Installation, kill: Callable[[Installation, WorkerProcess], None], on_the_wire: int, marked: int
) -> None:
    installation.start("web")
    victim = installation.start("worker")
    until(installation.answers, 60, "pages")
    until(lambda: installation.database.rows("select 1 from heartbeat"), 60, "a worker at work")
    kill(installation, victim)
    killed_at = time.monotonic()
    installation.start("worker")
    until(lambda: installation.states() == {"accepted": 2}, 60, "both messages accepted")
    tell(f"accepted {time.monotonic() - killed_at:.1f} s after the kill")
    assert sorted(installation.outbox().values()) == [on_the_wire] * 2
    assert installation.database.rows("select count(*) from attempt where may_be_double")[0][0] == marked
    said = installation.database.rows("select count(*) from event where kind = 'message:accepted'")
    assert said[0][0] == 2
    if marked:  # as the page of the spill and its evidence say
        told = installation.database.rows("select distinct payload->>'may_be_double' from event where kind = 'message:accepted'")
        assert told == [("true",)]


def test_a_worker_that_is_asked_to_stop_hands_over_at_once_what_it_has_not_finished(installation: Installation) -> None:
    installation.start("web")
    leaving = installation.start("worker")
    until(installation.answers, 60, "pages")
    until(lambda: installation.database.rows("select 1 from heartbeat"), 60, "a worker at work")
    with no_message_is_written(installation):
        installation.report()
        until(lambda: installation.states()["sending"] == 2, 20, "both messages claimed")
        asked_at = time.monotonic()
        assert leaving.stop() == 0
        assert time.monotonic() - asked_at < 10
        free = installation.database.rows("select count(*) from message where state = 'sending' and lease_until <= now()")
        assert free[0][0] == 2
    installation.start("worker")
    until(lambda: installation.states() == {"accepted": 2}, 60, "both messages accepted")
    assert sorted(installation.outbox().values()) == [1, 1]


def test_pages_killed_while_they_take_reports_keep_every_report_they_acknowledged_once(installation: Installation) -> None:
    seed = int(os.environ.get("SPILLCLOCK_TESTS_SEED") or random.getrandbits(32))
    tell(f"seed {seed}; again with SPILLCLOCK_TESTS_SEED={seed}")
    chance = random.Random(seed)
    web = installation.start("web")
    installation.start("worker")
    until(installation.answers, 60, "pages")
    references: dict[str, str] = {}
    tries: Counter[str] = Counter()
    ended = threading.Event()
    faults: list[str] = []

    def report(number: int) -> None:
        count = 0
        with installation.client() as client:
            while not ended.is_set():
                key = f"client {number} report {count}"
                tries[key] += 1
                body: dict[str, Any] = {"description": key, "location": ELSEWHERE}
                try:
                    answer = client.post("/api/v1/spills", json=body, headers={"Idempotency-Key": key})
                except httpx.TransportError:
                    time.sleep(0.02)
                    continue
                if answer.status_code == 201:
                    references[key] = answer.json()["reference"]
                    count += 1
                elif answer.status_code != 503:
                    faults.append(answer.text)
                    return

    threads = [threading.Thread(target=report, args=(number,), daemon=True) for number in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(KILLS_OF_WEB):
        enough = len(references) + chance.randint(1, 6)
        until(lambda: len(references) >= enough or faults, 60, "reports are taken")  # noqa: B023
        time.sleep(chance.uniform(0, 0.1))
        web.kill()
        web.start()
    until(installation.answers, 60, "pages")
    ended.set()
    for thread in threads:
        thread.join(30)
    assert faults == []
    stored = dict(installation.database.rows("select description, reference from spill"))
    under_way = {key for key in tries if key not in references}  # never acknowledged; perhaps stored
    assert {key: reference for key, reference in stored.items() if key not in under_way} == references
    assert len(installation.database.rows("select 1 from spill")) == len(stored)
    until(lambda: set(installation.states()) == {"accepted"}, 60, "every message out")
    tell(f"{len(references)} reports, {sum(n > 1 for n in tries.values())} asked again, {KILLS_OF_WEB} kills")
    assert [n for n in installation.outbox().values() if n > 1] == []
