"""A thousand kills of four workers over a stream of 100,000 alerts on PostgreSQL: `.venv/bin/python -m tests.benchmarks.bench_kills`.

`--alerts 10000 --kills 100` is a tenth of it. Started by hand, and over after `--minutes` (20) however far it came. Each worker is a
process of its own, killed with SIGKILL at a random moment and started again at once. At the end nothing is lost, nothing recorded
twice, and what went out twice is of tries that are marked so; else it says what is not so and exits with 1.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr

from service import intake, obligations, wiring
from service.settings import Settings
from service.tables import Contact, Obligation, Spill
from service.transaction import House, reading, transaction
from tests.e2e.database_server import a_database_server
from tests.e2e.program import CHINO, tell, whole_lines
from tests.e2e.test_rungs_twice import LADDER, Database, WorkerProcess

_SECRET = "made up for this run alone"
DUTIES, PEOPLE = 10, 10
_LEASE_SECONDS = 5
# So many alerts wait at most: the stream goes as fast as they go out.
_MOST_WAITING = 3_000
_SPILLS_AT_A_TIME = 5
_SAID = re.compile(r"\(([a-z0-9-]+/[a-z0-9-]+)\)")


@dataclass
class Stream:
    """Spills whose duties fall due in the next seconds, added for as long as there is room: copies of one that was reported."""

    house: House
    model: Spill
    clocks: list[Obligation]
    made: int = 0

    @classmethod
    async def begin(cls, house: House) -> Stream:
        """Report the model, and let its own clocks rest."""
        async with transaction(house, "test") as tx:
            names = [f"p{number}@chino.example" for number in range(PEOPLE)]
            tx.session.add_all(Contact(city="chino", role="duty_officer", name=name, email=name) for name in names)
        volume = {"quantity": 1500, "unit": "gal"}
        body = {"description": "a model", "location": CHINO, "material": "sewage", "volume": volume, "reached": ["street"]}
        arrival = intake.Arrival(body, by_way_of="staff", sender="officer@chino.example", is_staff=True)
        reference = (await intake.take_in(house, arrival)).reference
        async with transaction(house, "test") as tx:
            spill = await tx.spill(reference)
            rows = await obligations.of_spill(tx, spill)
            for row in rows:
                row.state, row.next_at = "waived", None
        async with reading(house) as tx:
            return cls(house, await tx.spill(reference), (await obligations.of_spill(tx, spill))[:DUTIES])

    async def add(self, spills: int) -> None:
        """Add so many spills, each with ten duties that begin one by one in the next second."""
        async with transaction(self.house, "test") as tx:
            for _ in range(spills):
                kept = self.model.model_dump(exclude={"id"})
                copy = Spill(**{**kept, "reference": f"SP-2026-{900000 + self.made}"})
                tx.session.add(copy)
                await tx.session.flush()
                for place, clock in enumerate(self.clocks):
                    at = tx.now + timedelta(seconds=place / len(self.clocks))
                    moments = {"starts_at": at, "begins_at": at, "next_at": at, "due_at": at + timedelta(minutes=5), "climbed_to": None}
                    given = {"spill_id": copy.id, "ladder": LADDER[:1], "state": "running", "overdue_noted": True, **moments}
                    tx.session.add(Obligation(**{**clock.model_dump(exclude={"id"}), **given}))
                self.made += 1


@dataclass
class Killing:
    """The run: how many kills and alerts it is to have, and how far it came."""

    database: Database
    workers: list[WorkerProcess]
    kills: int
    alerts: int
    chance: random.Random
    deadline: float
    killed: int = 0

    def accepted(self) -> int:
        """How many alerts are recorded as handed over."""
        return int(self.database.rows("select count(*) from message where state = 'accepted'")[0][0])

    def waiting(self) -> int:
        """How many alerts are promised and not handed over, or about to be promised."""
        promised = self.database.rows("select count(*) from message where state in ('waiting', 'sending')")[0][0]
        return int(promised) + PEOPLE * int(
            self.database.rows("select count(*) from obligation where next_at <= now() + interval '2 s'")[0][0]
        )

    def kill_some(self, accepted: int) -> None:
        """Kill as many as are due by now, so that the kills are spread over all alerts, each worker at a random moment."""
        while self.killed < self.kills and accepted * self.kills >= (self.killed + self.chance.random()) * self.alerts:
            victim = self.chance.choice(self.workers)
            time.sleep(self.chance.uniform(0, 0.05))
            victim.kill()
            victim.start()
            self.killed += 1

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.deadline


async def run(killing: Killing, stream: Stream) -> None:
    """Let the stream flow, the workers work and the killer kill, until every alert is out and every kill done, or the time is up."""
    told_at = time.monotonic()
    while not killing.is_late:
        accepted, waiting = killing.accepted(), killing.waiting()
        if stream.made * DUTIES * PEOPLE < killing.alerts:
            if waiting < _MOST_WAITING:
                await stream.add(_SPILLS_AT_A_TIME)
        elif waiting == 0:
            return
        await asyncio.to_thread(killing.kill_some, accepted)
        if time.monotonic() - told_at > 20:
            told_at = time.monotonic()
            tell(f"  {accepted} alerts out, {waiting} wait, {killing.killed} kills")
        await asyncio.sleep(0.02)


def check(database: Database, outbox: Path, spills: int) -> tuple[list[str], dict[str, int]]:
    """What is not as it has to be, and the counts."""
    wrong: list[str] = []
    expected = spills * DUTIES * PEOPLE
    rows = database.rows(
        "select m.id, m.obligation_id, m.address, m.carried_by, m.state from message m join spill s on s.id = m.spill_id"
        " where s.reference like 'SP-2026-9%%'"
    )
    wrong += [f"{expected - len(rows)} alerts were never promised"] if len(rows) != expected else []
    wrong += [f"{count} alerts are {state}" for state, count in Counter(row[4] for row in rows).items() if state != "accepted"]
    wrong += [f"{n} promised twice" for n in [sum(n - 1 for n in Counter((row[1], row[2]) for row in rows).values())] if n]
    reached = dict(database.rows("select (payload->>'obligation')::int, count(*) from event where kind = 'rung:reached' group by 1"))
    climbed = Counter(reached.get(obligation, 0) for obligation in {row[1] for row in rows})
    wrong += [f"{count} rungs were climbed {times} times" for times, count in climbed.items() if times != 1]
    said = database.rows("select payload->>'message', count(*) from event where kind = 'message:accepted' group by 1")
    recorded = dict(said)
    twice = [key for key, times in recorded.items() if times > 1]
    wrong += [f"{len(twice)} messages are recorded as accepted twice, as {twice[0]}"] if twice else []
    unsaid = [row[0] for row in rows if row[4] == "accepted" and row[0] not in recorded]
    wrong += [f"{len(unsaid)} accepted messages have no event"] if unsaid else []
    lines = list(whole_lines(outbox))
    sent = Counter(line["key"] for line in lines)
    carriers = {row[3] or row[0] for row in rows}
    lost = carriers - set(sent)
    wrong += [f"{len(lost)} messages are recorded as sent and never were"] if lost else []
    marked = dict(database.rows("select message_id, count(*) from attempt where may_be_double group by 1"))
    unmarked = [key for key, times in sent.items() if times - 1 > marked.get(key, 0)]
    wrong += [f"{len(unmarked)} messages went out twice without a mark, as {unmarked[0]}"] if unmarked else []
    first = {line["key"]: line for line in reversed(lines)}
    differing = [
        line["key"]
        for line in lines
        if line["key"] in first and (line["subject"], line["to"]) != (first[line["key"]]["subject"], first[line["key"]]["to"])
    ]
    told: Counter[tuple[str, str, str]] = Counter()
    for line in first.values():
        if line["spill"] and line["spill"].startswith("SP-2026-9"):
            told.update((line["spill"], line["to"], duty) for duty in set(_SAID.findall(line["text"])))
    wrong += (
        [f"{sum(n > 1 for n in told.values())} people were told twice of a duty by different messages"]
        if any(n > 1 for n in told.values())
        else []
    )
    wrong += [f"{expected - len(told)} tellings of a duty are in no letter"] if len(told) != expected else []
    counts = {
        "alerts": len(rows), "messages on the wire": len(carriers), "tries marked as possibly double": sum(marked.values()),
        "really double": sum(n - 1 for n in sent.values()), "same key, other words": len(differing),
    }  # fmt: skip
    return wrong, counts


def _workers(stack: ExitStack, folder: Path, url: str, many: int) -> list[WorkerProcess]:
    settings = {"HOME_DIR": str(folder), "DATABASE_URL": url, "SECRET_KEY": _SECRET, "LEASE_SECONDS": str(_LEASE_SECONDS)}
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TZ": "UTC"}
    environment |= {f"SPILLCLOCK_{name}": value for name, value in settings.items()}
    made = [WorkerProcess(folder, environment) for _ in range(many)]
    for one in made:
        stack.callback(one.close)
    return made


async def measure(given: argparse.Namespace) -> list[str]:
    """The whole run. Returns what is not as it has to be."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spillclock-kills-")))
        url = stack.enter_context(a_database_server("max_connections=100")).url
        house = wiring.build_house(Settings(home_dir=folder, database_url=url, secret_key=SecretStr(_SECRET)))
        try:
            await wiring.migrate(house)
            stream = await Stream.begin(house)
            workers = _workers(stack, folder, url, given.workers)
            database = stack.enter_context(closing(Database(url)))
            began = time.monotonic()
            killing = Killing(
                database, workers, given.kills, given.alerts, random.Random(given.seed), began + given.minutes * 60
            )  # fmt: skip
            for one in workers:
                one.start()
            await run(killing, stream)
            seconds = time.monotonic() - began
        finally:
            await house.engine.dispose()
        wrong, counts = check(database, folder / "outbox.jsonl", stream.made)
        wrong += [f"the time was up after {killing.killed} of {given.kills} kills"] if killing.is_late else []
        tell(f"{killing.killed} kills of {given.workers} workers in {seconds:.0f} s, {counts['alerts'] / seconds:.0f} alerts/s; {counts}")
        return wrong


def main() -> int:
    """Run it; 1 where something was lost or recorded twice, or the time was up."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--alerts", type=int, default=100_000)
    arguments.add_argument("--kills", type=int, default=1_000)
    arguments.add_argument("--workers", type=int, default=4)
    arguments.add_argument("--minutes", type=float, default=20)
    arguments.add_argument("--seed", type=int, default=random.getrandbits(32))
    given = arguments.parse_args()
    logging.getLogger("service").setLevel(logging.ERROR)
    tell(f"seed {given.seed}")
    wrong = asyncio.run(measure(given))
    for line in wrong:
        tell(f"WRONG  {line}")
    if not wrong:
        tell("ok     nothing lost, nothing recorded twice, every double marked")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
