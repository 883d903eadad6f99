"""A backup made while reports come in, put back after the machine is lost: every report that was answered before it is there."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.database_server import a_server
from tests.e2e.program import CHINO, Spillclock, until


@pytest.fixture(params=["sqlite", "postgresql"])
def running(request: pytest.FixtureRequest, install: Callable[..., Spillclock]) -> Iterator[Spillclock]:
    if request.param == "sqlite":
        yield install()
        return
    with a_server() as url:
        yield install(database_url=url)


class Reporters:
    """Two callers that report until they are told to stop; `answered` holds each reference with when (by this machine) it was given."""

    def __init__(self, spillclock: Spillclock) -> None:
        self.answered: list[tuple[float, str]] = []
        self.faults: list[str] = []
        self._spillclock, self._stop = spillclock, threading.Event()
        self._threads = [threading.Thread(target=self._report, args=(number,), daemon=True) for number in range(2)]
        for thread in self._threads:
            thread.start()

    def _report(self, number: int) -> None:
        with self._spillclock.client() as client:
            while not self._stop.is_set():
                body = {"description": f"by {number}", "location": CHINO, "material": "sewage", "volume": {"quantity": 1500, "unit": "gal"}}
                try:
                    answer = client.post("/api/v1/spills", json=body)
                except httpx.TransportError as error:
                    if not self._stop.is_set():
                        self.faults.append(repr(error))
                    return
                if answer.status_code != 201:
                    self.faults.append(answer.text)
                    return
                self.answered.append((time.monotonic(), answer.json()["reference"]))

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)


def told(line: dict[str, Any]) -> tuple[Any, ...]:
    """Who was told of what by a line of the outbox."""
    return line["to"], line["spill"], line["duty"], line["step"]


def marked_as_double(running: Spillclock) -> set[str]:
    """The keys of messages of which a try says that it may be a double."""
    asked = "SELECT message_id FROM attempt WHERE may_be_double"
    if url := running.settings.get("database_url"):
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(url) as connection:
            return {key for (key,) in connection.execute(asked)}
    return {row["message_id"] for row in running.rows(asked)}


@pytest.mark.timeout(300)
def test_every_report_answered_before_a_backup_is_there_after_it_was_put_back(running: Spillclock, tmp_path: Path) -> None:
    token = running.token()
    running.serve()
    reporters, folder = Reporters(running), tmp_path / "backup"
    until(lambda: len(reporters.answered) >= 10, 60, "ten reports are answered")
    began_at = time.monotonic()
    made = running.run("backup", str(folder))
    assert made.returncode == 0, made.stderr
    many = len(reporters.answered)
    until(lambda: len(reporters.answered) > many, 60, "reports go on")
    reporters.stop()
    running.kill()
    assert not reporters.faults
    before = [reference for at, reference in reporters.answered if at < began_at]
    assert before
    assert len(reporters.answered) > len(before), "nothing was reported while the backup was made"

    refused = running.run("restore", str(folder), "--messages", "again")
    assert refused.returncode == 1
    assert "--replace" in refused.stderr
    undecided = running.run("restore", str(folder), "--replace")
    assert undecided.returncode == 2
    assert "--messages" in undecided.stderr
    restored = running.run("restore", str(folder), "--replace", "--messages", "again")
    assert restored.returncode == 0, restored.stderr
    assert running.run("audit", "verify").returncode == 0

    sent_before = set(map(told, running.outbox()))
    already = running.lines_sent()
    running.serve()
    with running.client(token) as client:
        for reference in before:
            assert client.get(f"/api/v1/spills/{reference}").status_code == 200, reference
        fresh = client.post("/api/v1/spills", json={"description": "after it", "location": CHINO}).json()["reference"]
        assert fresh not in {reference for _, reference in reporters.answered}
        time.sleep(2)
        repeated = [line["key"] for line in running.outbox()[already:] if told(line) in sent_before]
    marked = marked_as_double(running)
    assert set(repeated) <= marked, "something went out twice and does not say so"
    running.stop()
