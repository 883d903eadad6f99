"""Two workers on one database, 500 rungs, one of the workers killed and started again throughout: nobody is told of one rung twice."""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from service import intake, obligations, wiring
from service.settings import Settings
from service.tables import Contact, Obligation, Spill
from service.transaction import House, reading, transaction
from tests.e2e.database_server import a_server
from tests.e2e.program import CHINO, tell, until, whole_lines
from tests.e2e.stable import WARM_START

SPILLS, DUTIES = 50, 10
TOLD = ("ann@chino.example", "bob@chino.example")
LADDER = [
    {
        "at": at,
        "tell": ["duty_officer"],
        "by": ["email"],
        "unless_acknowledged": False,
        "every_seconds": None,
        "times": 1,
    }
    for at in ("start", "due")
]


class WorkerProcess:
    """A `spillclock worker` that can be killed and started again without the seconds that importing takes; or another `command`."""

    def __init__(self, folder: Path, environment: dict[str, str], command: str = "worker") -> None:
        self._order = json.dumps(
            {"environment": environment, "folder": str(folder), "log": str(folder / f"{command}.log"), "command": [command]}
        )
        self._groom = subprocess.Popen(
            [sys.executable, str(WARM_START)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self.pid: int | None = None
        self.lives = 0

    def start(self) -> None:
        assert self._groom.stdin is not None
        assert self._groom.stdout is not None
        self._groom.stdin.write(f"{self._order}\n")
        self._groom.stdin.flush()
        self.pid = int(self._groom.stdout.readline())
        self.lives += 1

    def kill(self) -> None:
        """End it at once, wherever it is."""
        if self.pid is not None:
            assert self._groom.stdout is not None
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self._groom.stdout.readline()
            self.pid = None

    def stop(self) -> int:
        """Ask it to stop, and return its exit code once it has."""
        assert self.pid is not None
        assert self._groom.stdout is not None
        os.kill(self.pid, signal.SIGTERM)
        code = int(self._groom.stdout.readline())
        self.pid = None
        return code

    def close(self) -> None:
        self.kill()
        self._groom.kill()
        self._groom.communicate()


@contextmanager
def workers(folder: Path, url: str) -> Iterator[tuple[WorkerProcess, WorkerProcess]]:
    settings = {"HOME_DIR": str(folder), "DATABASE_URL": url, "SECRET_KEY": "made up for this test alone", "LEASE_SECONDS": "5"}
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TZ": "UTC"}
    environment |= {f"SPILLCLOCK_{name}": value for name, value in settings.items()}
    pair = WorkerProcess(folder, environment), WorkerProcess(folder, environment)
    try:
        yield pair
    finally:
        for one in pair:
            one.close()


async def migrate(house: House) -> None:
    """Make the tables."""
    await wiring.migrate(house)
    await house.engine.dispose()


async def prepare(house: House) -> list[int]:
    """Fifty spills of ten duties each, whose first rungs fall due in the next seconds: half of a spill's at one moment, half one by one."""
    async with transaction(house, "test") as tx:
        tx.session.add_all(Contact(city="chino", role="duty_officer", name=to, email=to) for to in TOLD)
    body = {
        "description": "a model",
        "location": CHINO,
        "material": "sewage",
        "volume": {"quantity": 1500, "unit": "gal"},
        "reached": ["street"],
    }
    model = await intake.take_in(house, intake.Arrival(body, by_way_of="staff", sender="officer@chino.example", is_staff=True))
    async with reading(house) as tx:
        spill = await tx.spill(model.reference)
        rows = await obligations.of_spill(tx, spill)
    assert len(rows) >= DUTIES
    begins = house.now() + timedelta(seconds=0.5)
    async with transaction(house, "test") as tx:
        for row in await obligations.of_spill(tx, await tx.spill(model.reference)):
            row.state, row.next_at = "waived", None
        made = []
        for number in range(SPILLS):
            copy = Spill(**{**spill.model_dump(exclude={"id"}), "reference": f"SP-2026-8{number:04}"})
            tx.session.add(copy)
            await tx.session.flush()
            for place, row in enumerate(rows[:DUTIES]):
                at = begins + timedelta(seconds=3 * (number if place % 2 else (number * DUTIES + place) / DUTIES) / SPILLS)
                # Due in five minutes: nothing waits for company.
                moments = {"starts_at": at, "begins_at": at, "next_at": at, "due_at": at + timedelta(minutes=5), "climbed_to": None}
                made.append(
                    Obligation(**{**row.model_dump(exclude={"id"}), "spill_id": copy.id, "ladder": LADDER, "state": "running", **moments})
                )
        tx.session.add_all(made)
        await tx.session.flush()
        ids = [row.id or 0 for row in made]
    await house.engine.dispose()
    return ids


class Database:
    """Questions to the database, from beside."""

    def __init__(self, url: str) -> None:
        import psycopg

        self._connection = psycopg.connect(url, autocommit=True)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, values).fetchall()  # type: ignore[call-overload, no-any-return]

    def close(self) -> None:
        self._connection.close()


def live_until_a_random_moment(database: Database, victim: WorkerProcess, chance: random.Random) -> None:
    """Wait until it has sent a few messages, then a moment longer; four seconds at most."""
    enough = chance.randint(0, 6)
    deadline = time.monotonic() + 4
    while time.monotonic() < deadline:
        mine = database.rows("select count(*) from attempt where worker like %s", f"%:{victim.pid}")[0][0]
        if mine > enough:
            break
        time.sleep(0.01)
    time.sleep(chance.uniform(0, 0.15))


def at_rest(database: Database, ids: list[int]) -> bool:
    """Whether every rung was climbed and every message of it is at its end."""
    climbed = database.rows("select count(distinct obligation_id) from message where obligation_id = any(%s)", ids)[0][0]
    return climbed == len(ids) and not database.rows("select 1 from message where state in ('waiting', 'sending') limit 1")


@pytest.mark.timeout(240)
def test_two_workers_of_which_one_is_killed_throughout_tell_nobody_twice_of_a_rung(tmp_path: Path) -> None:
    seed = int(os.environ.get("SPILLCLOCK_TESTS_SEED") or random.getrandbits(32))
    tell(f"seed {seed}; again with SPILLCLOCK_TESTS_SEED={seed}")
    chance = random.Random(seed)
    with a_server() as url, workers(tmp_path, url) as (steady, victim):
        house = wiring.build_house(Settings(home_dir=tmp_path, database_url=url, secret_key=SecretStr("made up for this test alone")))
        asyncio.run(migrate(house))
        with closing(Database(url)) as database:
            steady.start()
            victim.start()
            until(lambda: len(database.rows("select 1 from heartbeat")) == 2, 30, "both workers work")
            ids = asyncio.run(prepare(house))
            began = time.monotonic()
            live_until_a_random_moment(database, victim, chance)
            victim.kill()
            while not at_rest(database, ids) and time.monotonic() < began + 90:
                victim.start()
                live_until_a_random_moment(database, victim, chance)
                victim.kill()
            until(lambda: at_rest(database, ids), 20, "every rung is told")
            seconds = time.monotonic() - began
            told = check(database, list(whole_lines(tmp_path / "outbox.jsonl")), ids)
    assert victim.lives > 2, "hardly killed"
    tell(f"{len(ids)} rungs in {seconds:.1f} s, one worker killed {victim.lives} times; {told}")


def check(database: Database, lines: list[dict[str, Any]], ids: list[int]) -> dict[str, int]:
    """Each rung was climbed once, promised once to each address, and reached it once; each repeat is of an attempt marked as such."""
    reached = database.rows("select (payload->>'obligation')::int, count(*) from event where kind = 'rung:reached' group by 1")
    assert {row: times for row, times in reached if row in set(ids)} == dict.fromkeys(ids, 1)
    rows = database.rows("select id, obligation_id, address, carried_by, state, step from message where obligation_id = any(%s)", ids)
    assert Counter((obligation, address) for _, obligation, address, *_ in rows) == {(one, to): 1 for one in ids for to in TOLD}
    assert {(row[4], row[5]) for row in rows} == {("accepted", "start")}
    sent = Counter(line["key"] for line in lines)
    carriers = {carried_by or key for key, _, _, carried_by, _, _ in rows}
    assert carriers <= set(sent)
    marked = dict(database.rows("select message_id, count(*) from attempt where may_be_double group by 1"))
    assert [key for key, times in sent.items() if times - 1 > marked.get(key, 0)] == []
    # What the letters say: no duty twice to one person, but in the repeats that are marked.
    said: Counter[tuple[str, str, str]] = Counter()
    for key in sent:
        letter = next(line for line in lines if line["key"] == key)
        if letter["channel"] == "email" and letter["spill"].startswith("SP-2026-8"):
            said.update((letter["spill"], letter["to"], duty) for duty in set(re.findall(r"\(([a-z0-9-]+/[a-z0-9-]+)\)", letter["text"])))
    assert set(said.values()) == {1}
    assert len(said) == len(ids) * len(TOLD)
    workers = database.rows("select count(distinct worker) from attempt")[0][0]
    assert workers > 1
    return {
        "rows": len(rows),
        "messages on the wire": len(sent),
        "workers that sent": workers,
        "marked as possibly double": sum(marked.values()),
        "really double": sum(times - 1 for times in sent.values()),
    }
