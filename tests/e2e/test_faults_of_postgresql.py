"""PostgreSQL over a wire that is cut, delayed or silent, and a server that restarts or takes no writes.

Nothing acknowledged is lost, nothing due is skipped, nothing is recorded twice, and what may have gone out twice says so.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from notifiers import Channel, FileChannel
from service import programs, watch, wiring
from service.access import add_account, issue
from service.app import build_app
from service.claims import claim
from service.parties import example_contacts
from service.settings import Settings
from service.transaction import House, transaction
from service.worker import Worker
from tests.e2e.database_server import DatabaseServer, a_database_server
from tests.e2e.program import CHINO, tell, whole_lines
from tests.notifiers.fault_proxy import Fault, FaultProxy
from tests.service.channels import Gate, Post

ELSEWHERE = {"lat": 39.53, "lon": -119.81}
TEMPLATE = "spillclock_template"
LEASE_SECONDS = 5


@pytest.fixture(scope="module")
def server() -> Iterator[DatabaseServer]:
    with a_database_server("max_connections=60") as running:
        asyncio.run(_make_template(running))
        yield running


async def _make_template(server: DatabaseServer) -> None:
    _run(server, f"CREATE DATABASE {TEMPLATE}")
    async with programs.open_house(_settings(Path("/"), f"{_base(server)}/{TEMPLATE}")) as house, transaction(house, "test") as tx:
        tx.session.add_all(example_contacts("chino"))


def _base(server: DatabaseServer, port: int | None = None) -> str:
    return f"postgresql://spillclock@127.0.0.1:{port or server.port}"


def _settings(folder: Path, url: str) -> Settings:
    given: dict[str, Any] = {"secret_key": "made up for this test alone", "limit_factor": 1000, "lease_seconds": LEASE_SECONDS}
    return Settings(home_dir=folder, database_url=url, **given)


def _run(server: DatabaseServer, statement: str, *, database: str = "postgres") -> list[Any]:
    with psycopg.connect(f"{_base(server)}/{database}", autocommit=True) as connection:
        answer = connection.execute(statement)  # type: ignore[call-overload]
        return answer.fetchall() if answer.description else []


@dataclass
class Machine:
    """One machine at work: a house whose database is behind a wire, its pages and its worker; and the database, asked from beside."""

    house: House
    wire: FaultProxy
    server: DatabaseServer
    name: str
    channels: dict[str, Channel]
    client: httpx.AsyncClient
    outbox: Path
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def start(self, worker: str = "a worker") -> Worker:
        """Let a worker work until the end of the test."""
        made = Worker(self.house, self.channels, worker)
        self.tasks.append(asyncio.create_task(made.run()))
        return made

    def rows(self, query: str) -> list[Any]:
        return _run(self.server, query, database=self.name)

    def one(self, query: str) -> Any:
        return self.rows(query)[0][0]

    def tries(self, key: str) -> list[Any]:
        """The tries at sending a message: by whom, what came of it, whether it may have been a second time."""
        found = self.rows("select message_id, worker, outcome, may_be_double from attempt order by number")
        return [tuple(row[1:]) for row in found if row[0] == key]

    def accepted(self) -> Counter[str]:
        """How often each message is recorded as handed over."""
        return Counter(row[0] for row in self.rows("select payload->>'message' from event where kind = 'message:accepted'"))

    async def report(self, key: str, body: dict[str, Any], **headers: str) -> httpx.Response:
        return await self.client.post("/api/v1/spills", json={"description": key, **body}, headers={"Idempotency-Key": key, **headers})

    async def reported(self, key: str, body: dict[str, Any], **headers: str) -> str:
        """Report until that is acknowledged, as a client does; whatever else is answered has to be 503 with nothing stored."""
        while True:
            answer = await self.report(key, body, **headers)
            if answer.status_code == 201:
                return str(answer.json()["reference"])
            assert answer.status_code == 503, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
            await asyncio.sleep(0.1)


@asynccontextmanager
async def a_machine(server: DatabaseServer, folder: Path, name: str | None = None, **channels: Channel) -> AsyncIterator[Machine]:
    """A machine on a database of its own; on that of another where `name` says which."""
    async with AsyncExitStack() as stack:
        if name is None:
            name = f"test_{random.getrandbits(48):012x}"
            _run(server, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        folder.mkdir(exist_ok=True)
        wire = await stack.enter_async_context(FaultProxy(("127.0.0.1", server.port)))
        house = wiring.build_house(_settings(folder, f"{_base(server, wire.port)}/{name}"))
        stack.push_async_callback(house.engine.dispose)
        files = {one: FileChannel(house.settings.outbox_path, one) for one in ("email", "sms")}
        transport = httpx.ASGITransport(app=build_app(house), raise_app_exceptions=False)
        client = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://here"))
        machine = Machine(house, wire, server, name, {**files, **channels}, client, house.settings.outbox_path)
        try:
            yield machine
        finally:
            wire.fault = Fault.NONE
            wire.cut_before_client = wire.cut_before_server = None
            wire.reset_all()  # whatever hangs on a silent wire hangs no more
            for task in machine.tasks:
                task.cancel()
            await asyncio.gather(*machine.tasks, return_exceptions=True)


async def until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    async with asyncio.timeout(seconds):
        while not (found := condition()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found


def at_rest(machine: Machine) -> bool:
    waits = ("select 1 from message where state in ('waiting', 'sending') limit 1", "select 1 from spill where assess_at <= now() limit 1")
    return not any(machine.rows(query) for query in waits)


def check(machine: Machine, references: dict[str, str]) -> dict[str, int]:
    """Every acknowledged report is there once; every message is at its end, recorded once as accepted; each repeat of it is marked."""
    stored = dict(machine.rows("select description, reference from spill"))
    assert stored == references
    assert machine.one("select count(*) from spill") == len(references)
    received = machine.rows("select count(*) from event where kind = 'report:received' group by spill_id")
    assert [row[0] for row in received] == [1] * len(references)
    messages = {key: (state, carried_by) for key, state, carried_by in machine.rows("select id, state, carried_by from message")}
    assert {state for state, _ in messages.values()} <= {"accepted", "cancelled"}
    lines = Counter(line["key"] for line in whole_lines(machine.outbox)) if machine.outbox.exists() else Counter()
    carriers = {carried_by or key for key, (state, carried_by) in messages.items() if state == "accepted"}
    assert carriers == set(lines)
    marked = dict(machine.rows("select message_id, count(*) from attempt where may_be_double group by 1"))
    assert [key for key, times in lines.items() if times - 1 > marked.get(key, 0)] == []
    assert machine.accepted() == {key: 1 for key, (state, _) in messages.items() if state == "accepted"}
    assert machine.rows("select once from message group by once having count(*) > 1") == []
    return {"reports": len(references), "messages": len(messages), "marked": len(marked), "double": sum(n - 1 for n in lines.values())}


# -- the connection is cut in mid-transaction


@pytest.mark.parametrize("side", ["cut_before_server", "cut_before_client"])
async def test_a_report_whose_commit_or_its_answer_is_lost_is_taken_once_when_it_is_sent_again(
    server: DatabaseServer, tmp_path: Path, side: str
) -> None:
    async with a_machine(server, tmp_path / "one") as machine:
        await machine.reported("first", {"location": ELSEWHERE})  # so that the pool has a connection
        for passes in range(3):
            cuts = machine.wire.cuts
            machine.wire.passes = passes
            setattr(machine.wire, side, b"COMMIT")
            answer = await machine.report(f"cut {passes}", {"location": ELSEWHERE})
            if machine.wire.cuts > cuts and answer.status_code != 201:
                assert answer.status_code == 503
                assert "nothing was stored" in answer.json()["detail"] or "again" in answer.json()["detail"]
            setattr(machine.wire, side, None)
            machine.wire.passes = 0
            reference = await machine.reported(f"cut {passes}", {"location": ELSEWHERE})
            assert reference == await machine.reported(f"cut {passes}", {"location": ELSEWHERE})
        assert machine.wire.cuts >= 1
        assert sorted(row[0] for row in machine.rows("select description from spill")) == ["cut 0", "cut 1", "cut 2", "first"]
        machine.start()
        await until(lambda: at_rest(machine), 30, "everything sent")
        assert machine.one("select count(*) from event where kind = 'report:received'") == 4


async def test_an_answer_whose_record_is_lost_is_sent_again_with_its_first_key_and_marked(server: DatabaseServer, tmp_path: Path) -> None:
    post = Post("email")
    async with a_machine(server, tmp_path / "one", email=post, sms=Post("sms")) as machine:
        await machine.reported("a report", {"location": ELSEWHERE})

        async def cut_when_it_is_recorded(message: Any) -> Any:
            if not machine.wire.cuts:
                machine.wire.cut_before_server = b"UPDATE attempt SET ended_at"
            return await plain(message)

        plain, post.send = post.send, cut_when_it_is_recorded  # type: ignore[method-assign]
        machine.start()
        await until(lambda: at_rest(machine), 40, "everything sent")
        assert machine.wire.cuts == 1
        [first, *again] = [message.key for message in post.got]
        assert again == [first]
        assert machine.tries(first) == [("a worker", "unknown", False), ("a worker", "accepted", True)]
        assert machine.accepted()[first] == 1


# -- anything, at any moment


async def _fail_at_random(wire: FaultProxy, chance: random.Random) -> None:
    """Let a wire fail every other moment, each time otherwise. So often and no more: a slow machine has to come to an end, too."""
    for _ in range(20):
        await asyncio.sleep(chance.uniform(0.05, 0.6))
        match chance.choice(["commit", "answer", "reset", "slow", "silent"]):
            case "commit":
                wire.cut_before_server = b"COMMIT"
            case "answer":
                wire.cut_before_client = b"COMMIT"
            case "reset":
                wire.reset_all()
            case "slow":
                wire.fault = Fault.SLOW
                await asyncio.sleep(chance.uniform(0.1, 0.5))
            case "silent":
                wire.fault = Fault.SILENCE
                await asyncio.sleep(chance.uniform(0.1, 0.8))
                wire.reset_all()
        wire.fault = Fault.NONE


@pytest.mark.timeout(240)
async def test_two_workers_and_a_stream_of_reports_over_wires_that_fail_at_random(server: DatabaseServer, tmp_path: Path) -> None:
    seed = int(os.environ.get("SPILLCLOCK_TESTS_SEED") or random.getrandbits(32))
    tell(f"seed {seed}; again with SPILLCLOCK_TESTS_SEED={seed}")
    chance = random.Random(seed)
    async with a_machine(server, tmp_path / "shared") as first, a_machine(server, tmp_path / "shared", first.name) as second:
        first.start("the first")
        second.start("the second")
        references: dict[str, str] = {}

        async def report(machine: Machine, number: int) -> None:
            for count in range(8):
                key = f"client {number} report {count}"
                place = ELSEWHERE if count % 2 else CHINO
                references[key] = await machine.reported(key, {"location": place, "material": "potable_water"})

        failing = [asyncio.create_task(_fail_at_random(machine.wire, chance)) for machine in (first, second)]
        async with asyncio.timeout(150):
            await asyncio.gather(*(report(machine, number) for number, machine in enumerate((first, first, second, second))))
        for task in failing:
            task.cancel()
        await asyncio.gather(*failing, return_exceptions=True)
        for machine in (first, second):
            machine.wire.cut_before_client = machine.wire.cut_before_server = None
            machine.wire.fault = Fault.NONE
            machine.wire.reset_all()
        await until(lambda: at_rest(first), 60, "everything sent")
        told = check(first, references)
        assert first.wire.cuts + second.wire.cuts > 3, "hardly a fault"
        tell(f"{first.wire.cuts + second.wire.cuts} cuts; {told}")


async def test_a_wire_that_falls_silent_holds_up_neither_readiness_nor_the_work_after_it(
    server: DatabaseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.worker._LONGEST_STEP_SECONDS", 2.0)
    async with a_machine(server, tmp_path / "one") as machine:
        machine.start()
        await until(lambda: machine.rows("select 1 from heartbeat"), 20, "a round")
        machine.wire.fault = Fault.SILENCE  # for connections that are open; nobody ends them
        began = asyncio.get_running_loop().time()
        found = await watch.checks(machine.house)
        assert found["database"].startswith("unreachable")
        assert asyncio.get_running_loop().time() - began < 20
        machine.house.bell.ring()
        await asyncio.sleep(3)
        machine.wire.fault = Fault.NONE  # new connections pass; the old ones hang for ever
        reference = await machine.reported("after", {"location": ELSEWHERE})
        await until(lambda: at_rest(machine), 40, "everything sent")
        check(machine, {"after": reference})


# -- two workers split from each other


async def test_of_two_workers_split_from_each_other_only_one_is_sending_a_message_at_a_time(server: DatabaseServer, tmp_path: Path) -> None:
    gate, post = Gate("email"), Post("email")
    async with (
        a_machine(server, tmp_path / "shared", email=gate, sms=Post("sms")) as alone,
        a_machine(server, tmp_path / "shared", alone.name, email=post, sms=Post("sms")) as other,
    ):
        await other.reported("a report", {"location": ELSEWHERE})
        alone.start("split off")
        await asyncio.wait_for(gate.reached.wait(), 20)
        alone.wire.fault = Fault.SILENCE
        other.start("the other")
        await until(lambda: post.got, 30, "the other takes it over once the lease is over")
        gate.open.set()  # too late: the send was cut off before its lease ended
        await until(lambda: at_rest(other), 20, "everything sent")
        alone.wire.reset_all()
        alone.wire.fault = Fault.NONE
        await asyncio.sleep(2)
        assert gate.got == []
        [key] = {message.key for message in post.got}
        assert other.tries(key) == [("split off", "unknown", False), ("the other", "accepted", True)]
        assert set(other.accepted().values()) == {1}


# -- the server itself


async def _token(house: House) -> str:
    async with transaction(house, "test") as tx:
        return await issue(tx, await add_account(tx, "officer@chino.example", "officer", None), "api")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "crash"])
async def test_everything_goes_on_by_itself_after_the_server_was_restarted(tmp_path: Path, number: signal.Signals) -> None:
    with a_database_server() as server:
        await _make_template(server)
        async with a_machine(server, tmp_path / "one") as machine:
            headers = {"Authorization": f"Bearer {await _token(machine.house)}"}
            machine.start()
            due_at = datetime.now(UTC) + timedelta(seconds=6)
            discharge = {"kind": "unplanned_discharge", "planned_at": due_at.isoformat(), "volume": {"quantity": 9, "unit": "gal"}}
            body = {"location": CHINO, "material": "potable_water", **discharge}
            references = {"kept": await machine.reported("kept", body, **headers)}
            await until(lambda: at_rest(machine), 20, "told at the start")
            told_before = len(list(whole_lines(machine.outbox)))
            await asyncio.to_thread(server.stop, number)
            answer = await machine.report("refused", {"location": CHINO})
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) > 0
            assert (await watch.checks(machine.house))["database"].startswith("unreachable")
            await asyncio.sleep(max(0.0, (due_at - datetime.now(UTC)).total_seconds()) + 0.5)  # falls due while nobody can know
            await asyncio.to_thread(server.start)
            references["after"] = await machine.reported("after", {"location": ELSEWHERE})
            await until(lambda: at_rest(machine) and len(list(whole_lines(machine.outbox))) > told_before + 2, 40, "the due alert, late")
            check(machine, references)
            due = [line for line in whole_lines(machine.outbox) if line["step"] == "due"]
            assert len({(line["channel"], line["to"]) for line in due}) == len(due) == 6
            assert watch.is_well(await watch.checks(machine.house))


async def test_while_the_server_takes_no_writes_nothing_is_acknowledged_and_afterwards_everything_goes_on(
    server: DatabaseServer, tmp_path: Path
) -> None:
    async with a_machine(server, tmp_path / "one") as machine:
        machine.start()
        references = {"before": await machine.reported("before", {"location": ELSEWHERE})}
        await until(lambda: at_rest(machine), 20, "told")
        # As on a read-only file system, or a standby that was not promoted.
        _run(server, f"ALTER DATABASE {machine.name} SET default_transaction_read_only = on")
        machine.wire.reset_all()
        answer = await machine.report("refused", {"location": ELSEWHERE})
        assert answer.status_code == 503
        assert "nothing was stored" in answer.json()["detail"]
        assert (await machine.client.get("/map")).status_code == 200  # what is there can be read
        assert (await machine.client.get("/healthz")).status_code == 200
        _run(server, f"ALTER DATABASE {machine.name} RESET default_transaction_read_only")
        machine.wire.reset_all()
        references["after"] = await machine.reported("after", {"location": ELSEWHERE})
        await until(lambda: at_rest(machine), 40, "told")
        check(machine, references)


async def test_claims_of_two_workers_at_once_never_hold_the_same_message(server: DatabaseServer, tmp_path: Path) -> None:
    async with a_machine(server, tmp_path / "shared") as first, a_machine(server, tmp_path / "shared", first.name) as second:
        for number in range(30):
            await first.reported(f"report {number}", {"location": ELSEWHERE})

        async def claims(machine: Machine, worker: str) -> list[str]:
            found: list[str] = []
            while taken := await claim(machine.house, worker, "email", 3):
                found += [one.row.id for one in taken]
            return found

        several: list[Awaitable[list[str]]] = [claims(machine, f"worker {n}") for n in range(3) for machine in (first, second)]
        taken = [key for found in await asyncio.gather(*several) for key in found]
        assert len(taken) == len(set(taken)) == 30
