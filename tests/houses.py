"""A household: a real house over a SQLite database of its own, a clock that the test moves, a worker that it drives, and an outbox to read.

async with a_household(tmp_path) as home:
    spill = await home.report(a_report(volume={"quantity": 1500, "unit": "gal"}))
    await home.live(hours=2)               # time passes, and the worker does what falls due on the way
    home.clock.jump(hours=3)               # time passes, and no worker runs
    await home.work()                      # the worker does everything that is due now
    assert home.told("chino/rwqcb-2-hours")
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col

from deadlines import Places, Rulebook
from notifiers import Channel, FileChannel
from service import access, intake, obligations, spills, wiring
from service.app import build_app
from service.events import SpillEvent
from service.library import open_places, open_rulebook
from service.parties import example_contacts
from service.passwords import Passwords
from service.reactions import LAST_REACTIONS, REACTIONS
from service.settings import Settings
from service.tables import Attempt, Contact, EventRow, MessageRow, Obligation, Spill
from service.transaction import House, open_engine, reading, transaction
from service.worker import Worker
from tests import databases

# A Tuesday, five past two in the afternoon in California.
TUESDAY = datetime(2026, 12, 1, 22, 5, tzinfo=UTC)
OFFICER = "officer@chino.example"
_MANY_ROUNDS = 200


class Clock:
    """A clock that stands still until the test moves it."""

    def __init__(self, at: datetime = TUESDAY) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def jump(self, **span: float) -> datetime:
        """Move on by the arguments of a timedelta: jump(minutes=15). Returns the new time."""
        self.at += timedelta(**span)
        return self.at


@cache
def shipped_law() -> Rulebook:
    """The rule packs that ship with Spillclock, read once."""
    return open_rulebook()


@cache
def shipped_places() -> Places:
    """The city boundaries that ship with Spillclock, read once."""
    return open_places()


def a_house(folder: Path, clock: Clock, law: Rulebook | None = None, places: Places | None = None, **settings: Any) -> House:
    """A house over the database in `folder`, as wiring.build_house makes it, but with the law and the places read once a process."""
    chosen = Settings(
        home_dir=folder,
        **{
            "secret_key": "made up for tests, long enough",
            "limit_factor": 1000,  # tests of other things may do more in a moment than one sender is given
            "base_url": "https://spills.example.gov",
            "database_url": databases.url_of(folder),
            **settings,
        },
    )
    house = House(
        chosen, law or shipped_law(), places or shipped_places(), an_engine(chosen), clock, chosen.signing_key(), REACTIONS,
        passwords=Passwords(rounds=1, memory_kib=8, lanes=1),  # what is costly by design is cheap here
        last_reactions=LAST_REACTIONS,
    )  # fmt: skip
    return replace(house, places=house.places.only(house.cities))


def an_engine(settings: Settings) -> AsyncEngine:
    """The engine of the service. It does not wait for the disk: that a power cut loses nothing, tests/e2e shows with real processes."""
    engine = open_engine(settings)
    if not settings.is_embedded:
        return engine

    @sqlalchemy_event.listens_for(engine.sync_engine, "connect")
    def _hurry(connection: Any, _: object) -> None:
        connection.execute("PRAGMA synchronous=OFF").close()

    return engine


_migrated: dict[str, bytes] = {}


async def migrate(house: House) -> None:
    """Make the tables. The migrations run once a process; later databases begin as a copy of that first one."""
    if not house.settings.is_embedded:
        await _migrate_on_postgresql(house)
        return
    path = house.settings.home_dir / "spillclock.db"
    if path.exists():
        return
    if not _migrated:
        await wiring.migrate(house)
        await house.engine.dispose()  # the last connection to close brings the write-ahead log into the file
        _migrated["database"] = path.read_bytes()
    path.write_bytes(_migrated["database"])


async def _migrate_on_postgresql(house: House) -> None:
    if not _migrated:
        settings = house.settings.model_copy(update={"database_url": databases.template_url()})
        template = replace(house, settings=settings, engine=open_engine(settings))
        await wiring.migrate(template)
        await template.engine.dispose()
        _migrated["database"] = b"made"
    databases.make(house.settings.database_url)


@dataclass
class Household:
    """A house, its clock, its channels and its worker, with the few moves that tests make."""

    house: House
    clock: Clock
    channels: dict[str, Channel]
    worker: Worker
    clients: list[httpx.AsyncClient] = field(default_factory=list)

    @cached_property
    def app(self) -> FastAPI:
        """The web application over this house."""
        return build_app(self.house)

    # -- time and work

    async def work(self) -> datetime | None:
        """Let the worker do everything that is due now. Returns when something is due next."""
        for _ in range(_MANY_ROUNDS):
            following = await self.worker.round()
            if following is None or following > self.clock.at:
                return following
        raise AssertionError(f"after {_MANY_ROUNDS} rounds the worker still finds work for {self.clock.at}")

    async def live(self, **span: float) -> None:
        """Let time pass with the worker at work: the clock stops at each moment at which something is due."""
        until = self.clock.at + timedelta(**span)
        while (following := await self.work()) is not None and following <= until:
            self.clock.at = following
        self.clock.at = until
        await self.work()

    # -- what is done

    async def report(self, body: Mapping[str, Any], *, staff: bool = True, **arrival: Any) -> str:
        """Take a report in, by default as staff, who may state any fact. Returns its reference."""
        sender = {"by_way_of": "staff", "sender": OFFICER, "is_staff": True} if staff else {"by_way_of": "api"}
        return (await intake.take_in(self.house, intake.Arrival(body, **{**sender, **arrival}))).reference

    async def amend(self, reference: str, reason: str = "measured", actor: str = OFFICER, **facts: Any) -> None:
        """Amend facts."""
        async with transaction(self.house, actor) as tx:
            await spills.amend_facts(tx, await tx.spill(reference), facts, reason)

    async def happened(self, reference: str, act: str, at: datetime | None = None, actor: str = OFFICER, **said: Any) -> None:
        """Record an event of the contract, by default now."""
        given = {"type": act, "at": (at or self.clock.at).isoformat(), **said}
        async with transaction(self.house, actor) as tx:
            await spills.record_act(tx, await tx.spill(reference), given)

    async def acknowledge(self, reference: str, duty: str, person: str = OFFICER) -> None:
        """Say that a person has seen the alert."""
        async with transaction(self.house, person) as tx:
            row, spill = await obligations.obligation_and_spill(tx, (await self.clock_of(reference, duty)).id or 0)
            await obligations.acknowledge(tx, row, spill, person)

    async def waive(self, reference: str, duty: str, reason: str, actor: str = "manager@chino.example") -> None:
        """Waive a duty."""
        async with transaction(self.house, actor) as tx:
            row, spill = await obligations.obligation_and_spill(tx, (await self.clock_of(reference, duty)).id or 0)
            await obligations.waive(tx, row, spill, reason)

    async def name_discharger(self, reference: str, name: str, email: str = "", phone: str = "") -> None:
        """Name who is responsible."""
        async with transaction(self.house, OFFICER) as tx:
            await spills.name_discharger(tx, await tx.spill(reference), name, email, phone)

    async def people(self, *contacts: Contact) -> None:
        """Let these people, and nobody else, fill the roles."""
        async with transaction(self.house, "test") as tx:
            for contact in (await tx.session.execute(select(Contact))).scalars():
                await tx.session.delete(contact)
            tx.session.add_all(contacts)

    async def token(self, role: str = "officer", city: str | None = None, email: str | None = None) -> str:
        """A staff account and its API token."""
        async with transaction(self.house, "test") as tx:
            account = await access.add_account(tx, email or f"{role}@{city or 'every-city'}.example", role, city)
            return await access.issue(tx, account, "api")

    def client(self, token: str | None = None) -> httpx.AsyncClient:
        """A caller of the web application, with a bearer token or without. An error inside the application is raised in the test."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        transport = httpx.ASGITransport(app=self.app)
        self.clients.append(httpx.AsyncClient(transport=transport, base_url="https://spills.example.gov", headers=headers))
        return self.clients[-1]

    def with_house(self, **changes: Any) -> Household:
        """The same database, clock and channels under a house that differs in some parts, such as its law."""
        house = replace(self.house, **changes)
        return Household(house, self.clock, self.channels, Worker(house, self.channels, "another worker"))

    # -- what came of it

    def outbox(self) -> list[dict[str, Any]]:
        """Every line of outbox.jsonl."""
        path = self.house.settings.outbox_path
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def told(self, duty: str | None, step: str | None = None) -> list[dict[str, Any]]:
        """The lines of the outbox about a duty, of one rung where it is named."""
        return [line for line in self.outbox() if line["duty"] == duty and step in (None, line["step"])]

    async def told_of(self, duty: str, step: str | None = None) -> list[dict[str, Any]]:
        """The lines of the outbox that told of a duty, also as part of a message that another duty gave its name to."""
        rows = await self.messages(duty, state="accepted")
        keys = {row.carried_by or row.id for row in rows if step in (None, row.step)}
        return [line for line in self.outbox() if line["key"] in keys]

    async def spill(self, reference: str) -> Spill:
        """The spill as it is stored."""
        async with reading(self.house) as tx:
            return await tx.spill(reference)

    async def clocks(self, reference: str) -> list[Obligation]:
        """Its obligations, next due first."""
        async with reading(self.house) as tx:
            return await obligations.of_spill(tx, await tx.spill(reference))

    async def clock_of(self, reference: str, duty: str, occurrence: int = 0) -> Obligation:
        """The one obligation of a duty."""
        [row] = [row for row in await self.clocks(reference) if row.duty == duty and row.occurrence == occurrence]
        return row

    async def history(self, reference: str) -> list[tuple[EventRow, SpillEvent]]:
        """Everything that happened to it."""
        async with reading(self.house) as tx:
            return await tx.history(await tx.spill(reference))

    async def events(self, reference: str, kind: type[SpillEvent], duty: str | None = None) -> list[Any]:
        """The events of one kind, about one duty where it is named."""
        found = [event for _, event in await self.history(reference) if isinstance(event, kind)]
        return [event for event in found if duty is None or getattr(event, "duty", None) == duty]

    async def messages(self, duty: str | None = None, **wanted: Any) -> list[MessageRow]:
        """The promised messages in the order of their promise, about one duty where it is named."""
        query = select(MessageRow, Obligation).outerjoin(Obligation, col(Obligation.id) == col(MessageRow.obligation_id))
        async with reading(self.house) as tx:
            rows = (await tx.session.execute(query.order_by(col(MessageRow.promised_at), col(MessageRow.id)))).all()
        found = [message for message, row in rows if duty is None or (row is not None and row.duty == duty)]
        return [message for message in found if all(getattr(message, key) == value for key, value in wanted.items())]

    async def attempts(self, message: MessageRow | None = None) -> list[Attempt]:
        """Every try at sending, of one message where it is named."""
        async with reading(self.house) as tx:
            rows = (await tx.session.execute(select(Attempt).order_by(col(Attempt.id)))).scalars().all()
        return [row for row in rows if message is None or row.message_id == message.id]

    async def close(self) -> None:
        """Close what is open."""
        for client in self.clients:
            await client.aclose()
        await self.house.engine.dispose()


@asynccontextmanager
async def a_household(
    folder: Path,
    *,
    at: datetime = TUESDAY,
    law: Rulebook | None = None,
    channels: Mapping[str, Channel] | None = None,
    people: Iterable[Contact] | None = None,
    **settings: Any,
) -> AsyncIterator[Household]:
    """A household in `folder`. Without `channels` every message goes to the outbox file; without `people` Chino has its example people."""
    clock = Clock(at)
    house = a_house(folder, clock, law, **settings)
    files = {name: FileChannel(house.settings.outbox_path, name) for name in ("email", "sms")}
    chosen: dict[str, Channel] = dict(channels if channels is not None else files)
    home = Household(house, clock, chosen, Worker(house, chosen, "test worker"))
    try:  # also around the making: a connection left open would keep the test session from ending
        await migrate(house)
        await home.people(*(example_contacts("chino") if people is None else people))
        yield home
    finally:
        await home.close()
