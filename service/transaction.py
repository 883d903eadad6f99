"""One request, one climb, one command: one transaction. Recording an event runs its reactions in it; only this module commits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVarTuple

from sqlalchemy import Insert, Result, Row, Select, Table, Update, bindparam, insert, select, text
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlmodel import col

from deadlines import Places, Rulebook
from service.chain import End, Entry, append, chain_of, digest_of, new_salt, record_of, seal_of
from service.clock import Now
from service.embedded_driver import Driver
from service.errors import Conflict, NotKnown
from service.events import PersonalDestroyed, RecordDestroyed, SpillEvent, read_event
from service.logbook import concerns
from service.measures import Measures
from service.passwords import Passwords
from service.personal import parted
from service.settings import EXAMPLE_CITY, Settings
from service.tables import EventRow, Obligation, Spill
from service.tracing import span

# What the processes on one PostgreSQL database wake each other by.
CHANNEL_OF_WAKEUPS = "spillclock_work"
_STATEMENT_SECONDS, _LOCK_SECONDS = 60, 15
# Who holds what all others wait for, and says nothing for so long, is taken for cut off: the server undoes it, well before they give up.
_SILENT_WITH_A_LOCK = f"set_config('idle_in_transaction_session_timeout', '{_LOCK_SECONDS // 3}s', true)"
# A server that is gone without a word, or a router that forgot the connection, is noticed within so long, not after the quarter of an hour
# that the system takes by itself.
QUIET_LINE: Mapping[str, Any] = {
    "keepalives": 1, "keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000,
}  # fmt: skip

_EVENT: Table = EventRow.metadata.tables["event"]
# The columns of an event by what EventRow calls them.
_ADD_EVENT = insert(_EVENT).values(
    id=bindparam("id"), spill_id=bindparam("spill_id"), kind=bindparam("kind"), payload=bindparam("opened"), actor=bindparam("shown_actor"),
    happened_at=bindparam("happened_at"), recorded_at=bindparam("recorded_at"), sealed=bindparam("sealed"), salt=bindparam("salt"),
    seal=bindparam("seal"),
)  # fmt: skip
# Made once, as every statement that one report asks: to make one costs as much as to run it.
_SPILL = select(Spill).where(col(Spill.reference) == bindparam("reference"))
_SPILL_HELD = _SPILL.with_for_update()
_HISTORY = select(EventRow).where(col(EventRow.spill_id) == bindparam("spill_id")).order_by(col(EventRow.id))
Held = TypeVarTuple("Held")
Reaction = Callable[["Transaction", "Recorded"], Awaitable[None]]
# What follows all events of a transaction together, once everything else is done: each event with the number of its spill.
LastReaction = Callable[["Transaction", Sequence[tuple[int, SpillEvent]]], Awaitable[None]]


class Bell:
    """Wakes the loops of this process's worker after a commit that gave them something to do."""

    def __init__(self) -> None:
        self._ears: list[asyncio.Event] = []

    def listen(self) -> asyncio.Event:
        """An event of one's own that is set by every ring."""
        ear = asyncio.Event()
        self._ears.append(ear)
        return ear

    def ring(self) -> None:
        """Wake every loop that listens."""
        for ear in self._ears:
            ear.set()


@dataclass
class SentToday:
    """How many texts and calls were tried since `day` (midnight UTC), as service/sending_cap.py counts them for this process."""

    day: datetime | None = None
    tries: int = 0  # those counted, and those claimed since
    counted: int = 0
    last_id: int = 0  # of the attempts, up to which was counted
    counted_at: datetime | None = None
    told: bool = False


@dataclass(frozen=True)
class House:
    """Everything a part of the service needs and is handed: the law, the places, the database, the clock, what follows an event."""

    settings: Settings
    rulebook: Rulebook
    places: Places
    engine: AsyncEngine
    now: Now
    signing_key: bytes
    reactions: Mapping[type[SpillEvent], Sequence[Reaction]]
    bell: Bell = field(default_factory=Bell)
    sent_today: SentToday = field(default_factory=SentToday)
    # Where the chains of the record ended when this process wrote last.
    ends: dict[str, End] = field(default_factory=dict)
    # The counts of service/turnstile.py that are over their limit, each with the end of its stretch, as this process met them.
    turned_away: dict[str, datetime] = field(default_factory=dict)
    # How many tries at sending ended how since this process started, by channel and outcome: for the operator's gauges.
    tries: Counter[tuple[str, str]] = field(default_factory=Counter)
    measures: Measures = field(default_factory=Measures)
    # SQLite has one writer. Waiting in line here is fair and quick; waiting on its file lock is neither.
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    # How many pictures are decoded at once, each in a process of its own: more would only take memory from one another.
    reading_pictures: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    # One long paper is drawn at a time, in a process of its own that takes 200 MB.
    drawing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    passwords: Passwords = field(default_factory=Passwords)
    # Whether `now` is held against the database's time: not where a test or a rehearsal has a time of its own.
    watches_clock: bool = False
    last_reactions: Sequence[LastReaction] = ()

    @property
    def cities(self) -> tuple[str, ...]:
        """The ids of the cities served, as SPILLCLOCK_CITIES lists them; without it every city with a pack, sorted."""
        return self.settings.served or tuple(self.rulebook.cities)

    @property
    def first_city(self) -> str:
        """The city whose zone is used where none is known yet: the first of SPILLCLOCK_CITIES; without it the example city."""
        served = self.settings.served
        return served[0] if served else EXAMPLE_CITY if EXAMPLE_CITY in self.rulebook.cities else self.rulebook.cities[0]


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event that was just recorded, as its reactions see it."""

    event: SpillEvent
    spill: Spill
    actor: str
    happened_at: datetime


class _Session(Session):
    """A session that also writes what was set aside, by the statement that writes it: many rows at once, before whatever is asked next."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._aside: dict[Insert, list[dict[str, Any]]] = {}
        self._numbers: dict[str, int] = {}

    def set_aside(self, statement: Insert, row: dict[str, Any]) -> None:
        """Have a row written with others of its kind; what it refers to may still wait in the session."""
        self._aside.setdefault(statement, []).append(row)

    def flush(self, objects: Sequence[Any] | None = None) -> None:
        """Write everything that waits."""
        super().flush(objects)
        aside, self._aside = self._aside, {}
        for statement, rows in aside.items():
            if statement is _ADD_EVENT:
                for row, number in zip(rows, self.numbers("event", len(rows)), strict=True):
                    row["id"] = number
            self.connection().execute(statement, rows)

    def numbers(self, table: str, count: int) -> Sequence[int]:
        """So many new numbers for rows of a table, which nobody else is given. SQLite has one writer: its next numbers are ours."""
        connection = self.connection()
        if connection.dialect.name != "sqlite":
            drawn = text("SELECT nextval(pg_get_serial_sequence(:table, 'id')) FROM generate_series(1, :count)")
            return list(connection.execute(drawn, {"table": table, "count": count}).scalars())
        if table not in self._numbers:
            self._numbers[table] = connection.execute(text(f"SELECT coalesce(max(id), 0) FROM {table}")).scalar_one()  # noqa: S608
        first = self._numbers[table] + 1
        self._numbers[table] += count
        return range(first, first + count)


class Transaction:
    """A transaction under way. `now` is the same for everything in it; `actor` is who did it, for the record."""

    def __init__(self, house: House, session: AsyncSession, now: datetime, actor: str, *, writes: bool = True) -> None:
        self.house = house
        self.writes = writes
        self.session = session
        self.now = now
        self.actor = actor
        self.wakes_worker = False
        # The city's past is taken in: subscribers hear nothing of it, and no ladder of a clock that was due before is climbed.
        self.quietly = False
        self.rests_before: datetime | None = None
        # What was looked up already in this transaction and cannot change in it.
        self.memo: dict[Hashable, Any] = {}
        # The spills that were opened in it, and the obligations, which may not be written yet.
        self.new_spills: set[int] = set()
        self.opened: dict[int, Obligation] = {}
        self._recorded: list[tuple[int, SpillEvent]] = []
        # What was recorded and has no place in a chain yet: the chain, the reference of the spill, and the row.
        self._unchained: list[tuple[str, str, dict[str, Any]]] = []

    async def record(self, spill: Spill, event: SpillEvent, happened_at: datetime | None = None) -> None:
        """Append an event and run its reactions, in order. A reaction that raises undoes the whole transaction.

        Raises Conflict for a spill whose record was destroyed: nothing happens to it any more.
        """
        moment = happened_at or self.now
        concerns(spill.reference, people_of(spill))
        self._enter(spill, event, moment)
        for reaction in self.house.reactions.get(type(event), ()):
            await reaction(self, Recorded(event, spill, self.actor, moment))

    async def record_all(self, events: Sequence[tuple[Spill, SpillEvent]]) -> None:
        """Append many events at once, in order, which nothing follows. Raises ValueError for one that something does."""
        for spill, event in events:
            if self.house.reactions.get(type(event)):
                raise ValueError(f"{event.kind} has reactions: it is recorded by itself")
            self._enter(spill, event, self.now)

    def _enter(self, spill: Spill, event: SpillEvent, happened_at: datetime) -> None:
        if spill.id is None:
            raise ValueError("a spill is stored before its events")
        if spill.destroyed_at is not None and not isinstance(event, RecordDestroyed):
            raise Conflict(f"the record of {spill.reference} was destroyed on {spill.destroyed_at:%Y-%m-%d}; right would be: a new report")
        opened, shown_actor, sealed = parted(event.kind, event.model_dump(mode="json"), self.actor)
        salt = new_salt() if sealed else None
        row = {
            "spill_id": spill.id, "kind": event.kind, "opened": opened, "shown_actor": shown_actor, "happened_at": happened_at,
            "recorded_at": self.now, "sealed": sealed, "salt": salt, "seal": seal_of(sealed, salt) if sealed and salt else None,
        }  # fmt: skip
        self._recorded.append((spill.id, event))
        self._unchained.append((chain_of(spill.city), spill.reference, row))
        self.set_aside(_ADD_EVENT, row)

    def set_aside(self, statement: Insert, row: dict[str, Any]) -> None:
        """Have a row written with others of its kind in one statement, before the next question is asked and at the latest at the end."""
        self._store.set_aside(statement, row)

    async def numbers(self, table: str, count: int) -> Sequence[int]:
        """So many new numbers for rows of a table."""
        return await self.session.run_sync(lambda _: self._store.numbers(table, count))

    async def ask(self, query: Select[*Held], **values: Any) -> Result[*Held]:
        """Ask about what nothing that still waits to be written can change: nothing is written for it."""
        with self.session.no_autoflush:
            return await self.session.execute(query, values)

    async def look_up(self, query: Select[*Held], **values: Any) -> Sequence[Row[*Held]]:
        """The rows that a question finds, once everything that waits is written; columns, and no objects."""
        await self.session.flush()
        return (await (await self.session.connection()).execute(query, values)).all()

    async def write(self, statement: Insert | Update, values: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        """Write to a table, past its objects, once everything that waits is written."""
        await self.session.flush()
        await (await self.session.connection()).execute(statement, values)

    async def obligation(self, number: int) -> Obligation:
        """An obligation that there is, as this transaction knows it."""
        opened = self.opened.get(number)
        return await self.session.get_one(Obligation, number) if opened is None else opened

    async def _finish(self) -> None:
        """Do what follows all events together, and commit."""
        if self._recorded:
            for reaction in self.house.last_reactions:
                await reaction(self, tuple(self._recorded))
        await self.session.flush()
        if not self.house.settings.is_embedded and (self._unchained or self.wakes_worker):
            # Told to the others with the commit, not before and not without it.
            told = f", pg_notify('{CHANNEL_OF_WAKEUPS}', '')" if self.wakes_worker else ""
            await self.session.execute(text(f"SELECT {_SILENT_WITH_A_LOCK}{told}"))
        await self._chain_up()
        await self.session.commit()

    async def _chain_up(self) -> None:
        """Give everything that was recorded its place in the chain of its city. The last thing before a commit: it holds up all others."""
        if not self._unchained:
            return
        await self.session.flush()
        entries = [Entry(chain, row["id"], digest_of(record_of(row["id"], reference, row))) for chain, reference, row in self._unchained]
        self._unchained = []
        await append(await self.session.connection(), entries, self.house.ends, locks=not self.house.settings.is_embedded)

    async def alone_with(self, what: str) -> None:
        """Wait until no other transaction is alone with the same, and be it until the end. SQLite has one writer at a time anyway."""
        if not self.house.settings.is_embedded:
            alone = text(f"SELECT {_SILENT_WITH_A_LOCK}, pg_advisory_xact_lock(hashtext(:what))")
            await self.session.execute(alone, {"what": f"spillclock {what}"})

    @property
    def _store(self) -> _Session:
        store = self.session.sync_session
        if not isinstance(store, _Session):
            raise TypeError("a transaction is opened by this module")
        return store

    def held(self, query: Select[*Held], *, skip_locked: bool = False) -> Select[*Held]:
        """A question whose rows a writing transaction holds until its end; one that only reads holds nothing."""
        return query.with_for_update(skip_locked=skip_locked) if self.writes else query

    async def spill(self, reference: str) -> Spill:
        """The spill of a reference; a writing transaction holds it until its end. Raises NotKnown."""
        if "\x00" in reference:  # which PostgreSQL cannot even be asked about
            raise NotKnown("there is no such spill")
        query = _SPILL_HELD if self.writes else _SPILL
        found: Spill | None = (await self.session.execute(query, {"reference": reference})).scalar_one_or_none()
        if found is None:
            raise NotKnown(f"there is no spill {reference}")
        concerns(reference, people_of(found))
        return found

    async def history(self, spill: Spill) -> list[tuple[EventRow, SpillEvent]]:
        """All events of a spill in the order they were recorded."""
        rows = (await self.session.execute(_HISTORY, {"spill_id": spill.id})).scalars().all()
        instead: dict[str, dict[str, Any]] = {}
        if any(row.destroyed_by for row in rows):
            for row in rows:
                if row.kind == PersonalDestroyed.kind:
                    instead.update(row.payload["instead"])
        return [(row, read_event(row.kind, {**row.payload, **instead.get(str(row.id), {})} if instead else row.payload)) for row in rows]


def people_of(spill: Spill) -> list[object]:
    """The names of people that are known of a spill: no line of the log says them."""
    return [spill.reporter.get("name"), spill.discharger.get("name")]


def open_engine(settings: Settings, *, foreign_keys: bool = True, durable: bool = True, schema: str = "") -> AsyncEngine:
    """The database engine. SQLite is set up so that many writers and a kill at any moment lose nothing that was committed.

    `schema`: of PostgreSQL, where the tables are, other than where the server looks by itself.
    """
    if not settings.is_embedded:
        # A statement or a lock that takes so long is a fault: better an error that is tried again than a service that hangs.
        limits = (
            f"-c statement_timeout={_STATEMENT_SECONDS}s -c lock_timeout={_LOCK_SECONDS}s"
            f" -c idle_in_transaction_session_timeout={_STATEMENT_SECONDS}s{f' -c search_path={schema}' if schema else ''}"
        )
        return create_async_engine(
            settings.async_database_url, pool_pre_ping=True, pool_size=settings.database_pool, max_overflow=settings.database_pool,
            pool_timeout=_LOCK_SECONDS, hide_parameters=True,
            connect_args={"options": limits, "connect_timeout": 10, "application_name": "spillclock", **QUIET_LINE},
        )  # fmt: skip
    # What is stored tells of people: an error of the database, which is logged, must not repeat it.
    engine = create_async_engine(
        settings.async_database_url, module=Driver(), connect_args={"check_same_thread": False}, hide_parameters=True
    )

    @sqlalchemy_event.listens_for(engine.sync_engine, "connect")
    def _settle(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves: pysqlite's own begins too late to be a lock
        cursor = connection.cursor()
        # FULL: a report answered with 201 outlives a power cut, not only a killed process.
        for pragma in (
            "journal_mode=WAL",
            f"synchronous={'FULL' if durable else 'OFF'}",
            "busy_timeout=15000",
            f"foreign_keys={'ON' if foreign_keys else 'OFF'}",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @sqlalchemy_event.listens_for(engine.sync_engine, "begin")
    def _begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN DEFERRED" if reading else "BEGIN IMMEDIATE")

    return engine


@asynccontextmanager
async def transaction(house: House, actor: str, now: datetime | None = None) -> AsyncIterator[Transaction]:
    """A writing transaction: committed when the block ends, undone when it raises. The worker is woken where there is work for it."""
    with span("transaction"):
        if house.settings.is_embedded:
            async with house.writing, _open(house, actor, now) as tx:
                yield tx
                await tx._finish()
        else:
            async with _open(house, actor, now) as tx:
                yield tx
                await tx._finish()
    if tx.wakes_worker:
        house.bell.ring()


@asynccontextmanager
async def reading(house: House, now: datetime | None = None) -> AsyncIterator[Transaction]:
    """A transaction that only reads, all of it as it was at its first question; it never holds up a writer and is never committed."""
    async with house.engine.connect() as connection:
        if house.settings.is_embedded:
            await connection.execution_options(reading=True)
        else:
            await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        async with AsyncSession(bind=connection, expire_on_commit=False, sync_session_class=_Session) as session:
            yield Transaction(house, session, now or house.now(), "reader", writes=False)


@asynccontextmanager
async def _open(house: House, actor: str, now: datetime | None) -> AsyncIterator[Transaction]:
    async with AsyncSession(house.engine, expire_on_commit=False, sync_session_class=_Session) as session:
        yield Transaction(house, session, now or house.now(), actor)
