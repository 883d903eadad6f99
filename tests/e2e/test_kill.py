"""kill -9 at any moment: what was acknowledged is kept, what was due is sent, and what may have gone out twice says so."""

import fcntl
import os
import random
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.e2e.program import CHINO, Spillclock, moment, tell, until, whole_lines
from tests.e2e.stable import Stable

# Fifty where there is time for them; each is a start of the whole service.
KILLS = 50 if os.environ.get("SPILLCLOCK_TESTS_LONG") else 15
COLD_EVERY = 10  # each tenth start is that of the command itself, importing and all
RENO = {"lat": 39.53, "lon": -119.81}
DUE_TOLD = [
    ("email", "duty@chino.example"), ("email", "sewer.crew@chino.example"), ("email", "supervisor@chino.example"),
    ("sms", "+19095550101"), ("sms", "+19095550102"), ("sms", "+19095550103"),
]  # fmt: skip


@dataclass
class Report:
    """One report of the stream. `due`: the duty that falls due during the run, and when. `reference`: there once it was answered 201."""

    key: str
    body: dict[str, Any]
    token: str | None = None
    due: tuple[str, datetime] | None = None
    reference: str | None = None
    tries: int = 0


@dataclass
class Stream:
    """Clients that report at the same time and ask again, with the same Idempotency-Key, until each report is answered."""

    spillclock: Spillclock
    token: str
    seed: int
    reports: list[Report] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def begin(self) -> None:
        makers = [self._neighbour, self._neighbour, self._discharge, self._sewage]
        for number, (maker, pause_seconds) in enumerate(zip(makers, (0.1, 0.1, 0.35, 8.0), strict=True)):
            chance = random.Random(f"{self.seed}-{number}")
            self._threads.append(threading.Thread(target=self._send, args=(number, maker, pause_seconds, chance), daemon=True))
            self._threads[-1].start()

    def end(self) -> None:
        """Let every client finish what it has begun."""
        self._ended.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client gets no answer"

    def answered(self) -> int:
        """How many reports were answered so far."""
        return sum(report.reference is not None for report in self.reports)

    def _send(self, number: int, maker: Any, pause_seconds: float, chance: random.Random) -> None:
        try:
            with self.spillclock.client() as client:
                while not self._ended.wait(chance.uniform(0, 2 * pause_seconds)):
                    report = maker(f"client-{number}-report-{len(self.reports)}-{chance.getrandbits(32):08x}", chance)
                    self.reports.append(report)
                    self._until_answered(client, report)
        except Exception as error:  # told to the test, which ends with it
            self.faults.append(repr(error))

    def _until_answered(self, client: httpx.Client, report: Report) -> None:
        headers = {"Idempotency-Key": report.key, **({"Authorization": f"Bearer {report.token}"} if report.token else {})}
        while True:
            report.tries += 1
            try:
                answer = client.post("/api/v1/spills", json=report.body, headers=headers)
            except httpx.TransportError:
                time.sleep(0.03)
                continue
            if answer.status_code == 201:
                report.reference = answer.json()["reference"]
            else:
                self.faults.append(f"{report.key}: {answer.status_code} {answer.text[:300]}")
            return

    def _neighbour(self, key: str, chance: random.Random) -> Report:
        """A public report: clean water in Chino, for which no clock runs, or one from outside every city, which a person has to look at."""
        volume = {"quantity": chance.randrange(1, 50), "unit": "gal"}
        place = CHINO if chance.random() < 0.8 else RENO
        return Report(key, {"description": key, "location": place, "material": "potable_water", "volume": volume, "reached": ["land"]})

    def _discharge(self, key: str, chance: random.Random) -> Report:
        """A construction discharge that somebody is about to make: its one notice is due at the very moment, in a second or two."""
        planned_at = datetime.now(UTC) + timedelta(seconds=chance.uniform(0.5, 2.5))
        facts = {"kind": "unplanned_discharge", "planned_at": planned_at.isoformat(), "material": "potable_water"}
        body = {"description": key, "location": CHINO, "volume": {"quantity": 10, "unit": "gal"}, **facts}
        return Report(key, body, self.token, ("chino/unplanned-discharge-notice", planned_at))

    def _sewage(self, key: str, chance: random.Random) -> Report:
        """A sewage spill whose two hours are nearly over."""
        due_at = datetime.now(UTC) + timedelta(seconds=chance.uniform(1, 4))
        facts = {"known_at": (due_at - timedelta(hours=2)).isoformat(), "threat": False, "reached": ["land"]}
        body = {"description": key, "location": CHINO, "material": "sewage", "volume": {"quantity": 1500, "unit": "gal"}, **facts}
        return Report(key, body, self.token, ("chino/rwqcb-2-hours", due_at))


def at_rest(spillclock: Spillclock) -> bool:
    """Whether everything that is due by now has been done."""
    now = datetime.now(UTC).replace(tzinfo=None).isoformat(" ")
    queries = (
        "select 1 from spill where assess_at <= ? or facts = '{}'",
        "select 1 from obligation where next_at <= ?",
        "select 1 from message where next_at <= ? or state in ('waiting', 'sending')",
    )
    return not any(spillclock.rows(f"{query} limit 1", now) for query in queries)


@pytest.mark.timeout(400)
def test_many_kills_under_a_stream_of_reports_lose_nothing_and_send_nothing_twice_unmarked(spillclock: Spillclock) -> None:
    seed = int(os.environ.get("SPILLCLOCK_TESTS_SEED") or random.getrandbits(32))
    tell(f"seed {seed}; again with SPILLCLOCK_TESTS_SEED={seed}")
    chance = random.Random(seed)
    stream = Stream(spillclock, spillclock.token(), seed)
    stream.begin()
    began = time.monotonic()
    with Stable(spillclock) as stable:
        for number in range(KILLS):
            if number % COLD_EVERY == 0:
                spillclock.serve()
                live_until_a_random_moment(spillclock, stream, chance)
                spillclock.kill()
            else:
                stable.start()
                if chance.random() < 0.2:  # killed while it starts, perhaps
                    time.sleep(chance.uniform(0, 0.4))
                else:
                    stable.wait_until_ready()
                    live_until_a_random_moment(spillclock, stream, chance)
                stable.kill()
            assert stream.faults == []
        killing_seconds = time.monotonic() - began
        stable.start()
        stable.wait_until_ready()
        stream.end()
        last_due_at = max(report.due[1] for report in stream.reports if report.due)
        until(lambda: datetime.now(UTC) > last_due_at + timedelta(seconds=2) and at_rest(spillclock), 90, "everything due is done")
        stable.kill()
    rest_seconds = time.monotonic() - began - killing_seconds

    assert stream.faults == []
    assert len(stream.reports) > KILLS // 2, "hardly a stream"
    told = check_reports(spillclock, stream.reports) | check_messages(spillclock) | check_due_alerts(spillclock, stream.reports)
    tell(f"{KILLS} kills in {killing_seconds:.0f} s, then at rest after {rest_seconds:.0f} s; {told}")


def live_until_a_random_moment(spillclock: Spillclock, stream: Stream, chance: random.Random) -> None:
    """Wait until some more reports were answered, messages sent or their answers recorded, then a moment longer; three seconds at most.

    Counted in what was done, not in time: so a slow machine does not end each life before it has done anything.
    """

    def recorded() -> int:
        return int(spillclock.rows("select count(*) from message where state = 'accepted'")[0][0])

    counted, most = chance.choice([(stream.answered, 4), (stream.answered, 4), (spillclock.lines_sent, 20), (recorded, 20)])
    enough = counted() + chance.randint(1, most)
    deadline = time.monotonic() + 3
    while counted() < enough and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(chance.uniform(0, 0.1))


def check_reports(spillclock: Spillclock, reports: list[Report]) -> dict[str, int]:
    """Every report answered with 201 is stored once, under the reference that was answered; no other is stored."""
    stored = {row["description"]: row["reference"] for row in spillclock.rows("select description, reference from spill")}
    assert stored == {report.key: report.reference for report in reports}
    assert spillclock.rows("select count(*) from spill")[0][0] == len(reports)
    received = spillclock.rows("select spill_id, count(*) from event where kind = 'report:received' group by spill_id")
    assert [row[1] for row in received] == [1] * len(reports)
    assert [row[0] for row in spillclock.rows("pragma integrity_check")] == ["ok"]
    assert spillclock.rows("pragma foreign_key_check") == []
    return {"reports": len(reports), "reports asked again": sum(report.tries > 1 for report in reports)}


def check_messages(spillclock: Spillclock) -> dict[str, int]:
    """Every message is at its end and in the file, by itself or as part of another; none was accepted twice; each repeat in the file is of
    an attempt marked as such."""
    stored = spillclock.rows("select id, state, carried_by from message")
    messages = {row["id"]: row["state"] for row in stored}
    carriers = {row["carried_by"] or row["id"] for row in stored if row["state"] == "accepted"}
    assert set(messages.values()) <= {"accepted", "cancelled"}
    once = spillclock.rows("select once from message group by once having count(*) > 1")
    assert once == []
    lines = Counter(line["key"] for line in whole_lines(spillclock.home / "outbox.jsonl"))
    assert set(lines) <= set(messages)
    assert carriers <= set(lines)
    assert {messages[key] for key in carriers} == {"accepted"}
    attempts = "select message_id, sum(outcome = 'accepted') as accepted, sum(may_be_double) as marked from attempt group by message_id"
    told = {row["message_id"]: row for row in spillclock.rows(attempts)}
    assert [key for key, row in told.items() if row["accepted"] > 1] == []
    assert [key for key in carriers if told[key]["accepted"] != 1] == []
    unmarked = [key for key, times in lines.items() if times - 1 > told[key]["marked"]]
    assert unmarked == []
    accepted = spillclock.rows("select json_extract(payload, '$.message'), count(*) from event where kind = 'message:accepted' group by 1")
    assert {row[0]: row[1] for row in accepted} == {key: 1 for key, state in messages.items() if state == "accepted"}
    return {
        "messages": len(messages),
        "on the wire": len(carriers),
        "attempts marked as possibly double": sum(row["marked"] for row in told.values()),
        "really double": sum(times - 1 for times in lines.values()),
    }


def check_due_alerts(spillclock: Spillclock, reports: list[Report]) -> dict[str, int]:
    """Each duty that fell due was told to everybody whom its ladder names at due, once, and not before."""
    query = (
        "select coalesce(m.carried_by, m.id) as id, m.climb, m.channel, m.address from message m"
        " join obligation o on o.id = m.obligation_id join spill s on s.id = m.spill_id where s.reference = ? and o.duty = ?"
    )
    sent_at = {line["key"]: moment(line["at"]) for line in whole_lines(spillclock.home / "outbox.jsonl")}
    fell_due = [report for report in reports if report.due]
    for report in fell_due:
        assert report.due is not None
        duty, due_at = report.due
        # After downtime one message stands for several rungs; its climb names them all.
        mine = [row for row in spillclock.rows(query, report.reference, duty) if "due" in row["climb"].split(":")[2].split(",")]
        assert sorted((row["channel"], row["address"]) for row in mine) == DUE_TOLD, report
        assert min(sent_at[row["id"]] for row in mine) >= due_at
    return {"duties that fell due": len(fell_due)}


def test_a_kill_between_sending_and_recording_marks_the_repeat_as_possibly_double(spillclock: Spillclock) -> None:
    spillclock.serve()
    outbox = spillclock.home / "outbox.jsonl"
    with outbox.open("a") as file, spillclock.client() as anyone:
        fcntl.flock(file, fcntl.LOCK_EX)  # claimed messages wait here, unwritten
        report = {"description": "from outside every city", "location": RENO}
        assert anyone.post("/api/v1/spills", json=report).status_code == 201
        until(lambda: len(spillclock.rows("select 1 from message where state = 'sending'")) == 2, 10, "both messages claimed")
        with closing(sqlite3.connect(spillclock.home / "spillclock.db", timeout=10, isolation_level=None)) as writer:
            writer.execute("begin immediate")  # their answers wait here, unrecorded
            fcntl.flock(file, fcntl.LOCK_UN)
            until(lambda: len(spillclock.outbox()) == 2, 10, "both messages sent")
            spillclock.kill()
            writer.execute("rollback")

    spillclock.serve()
    until(lambda: len(spillclock.rows("select 1 from message where state = 'accepted'")) == 2, 10, "both messages accepted")
    assert sorted(Counter(line["key"] for line in spillclock.outbox()).values()) == [2, 2]
    attempts = spillclock.rows("select number, outcome, may_be_double, detail from attempt order by number, message_id")
    assert [tuple(row)[:3] for row in attempts] == [(1, "unknown", 0), (1, "unknown", 0), (2, "accepted", 1), (2, "accepted", 1)]
    assert "stopped before the answer was recorded" in attempts[0]["detail"]
    told = spillclock.rows("select json_extract(payload, '$.may_be_double') from event where kind = 'message:accepted'")
    assert [row[0] for row in told] == [1, 1]


def test_a_kill_before_sending_sends_once_after_the_restart(spillclock: Spillclock) -> None:
    spillclock.serve()
    with (spillclock.home / "outbox.jsonl").open("a") as file, spillclock.client() as anyone:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert anyone.post("/api/v1/spills", json={"description": "elsewhere", "location": RENO}).status_code == 201
        until(lambda: len(spillclock.rows("select 1 from message where state = 'sending'")) == 2, 10, "both messages claimed")
        spillclock.kill()

    spillclock.serve()
    until(lambda: len(spillclock.rows("select 1 from message where state = 'accepted'")) == 2, 10, "both messages accepted")
    assert sorted(Counter(line["key"] for line in spillclock.outbox()).values()) == [1, 1]
    # Whoever died did not say whether it had sent: the second attempt is marked all the same.
    assert [row[0] for row in spillclock.rows("select may_be_double from attempt where outcome = 'accepted'")] == [1, 1]
