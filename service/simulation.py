"""A believable history of years for a database that is to be measured: some dozens of spills lived through the real engine, and copied.

Each is reported, alerted about, done in time or late, closed or left open, on a simulated clock, in a database of its own. All its rows are
then copied with numbers, references, places, dates and words of their own, and every event gets its place in the chain of its city: a copy
is what the service itself would have stored. Nothing that waits to be sent is among them. Letters are copied without their HTML.
"""

from __future__ import annotations

import math
import random
import re
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import SecretStr
from sqlalchemy import func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import SQLModel, col

from notifiers import Channel, FileChannel
from service import closing, intake, obligations
from service.backups import with_columns
from service.chain import NOTHING_BEFORE, canonical, chain_of, digest_of, hash_of, record_of
from service.errors import BadInput
from service.parties import example_contacts
from service.settings import EXAMPLE_CITY
from service.spills import last_number, record_act
from service.tables import Chain, Contact, EventRow
from service.transaction import Bell, House, open_engine, reading, transaction
from service.wiring import migrate
from service.worker import Worker

# Tables whose rows belong to one spill, each after those that it points to.
_TABLES = (
    "spill", "event", "obligation", "message", "attempt", "delivery_receipt", "followup", "public_spill", "board_line", "spill_words",
)  # fmt: skip
_SPILL_IS_KEY = ("spill", "public_spill", "board_line", "spill_words")
_VIA_OBLIGATION, _VIA_MESSAGE = ("followup",), ("attempt", "delivery_receipt")
_STREET, _WORD = "Xstreetx", "Xwordx"
_CLOSED, _OPEN = 24, 6
_RARE_WORDS, _AT_A_TIME, _CACHE_KB = 4_000, 500, 200_000
_OPEN_OF_ALL = 0.01
_DAY = re.compile(r"\b20\d\d-[01]\d-[0-3]\d(?=[T ])")
_OBLIGATION = re.compile(r'("obligation": ?)(\d+)')
_EVENT, _SEAL = -987654321, "seal of this copy"
_OFFICER = "officer@city.example"


@dataclass(frozen=True, slots=True)
class History:
    """What is drawn from: the data file, as it stands there."""

    told: Mapping[str, Any]

    @property
    def mean_a_year(self) -> float:
        """How many reports a city gets in a year, on average."""
        return float(self.told["reports_a_year"]["mean"])

    def reports(self, cities: int, years: float, dice: random.Random) -> int:
        """How many reports so many cities get in so many years: each draws its own rate."""
        spread = float(self.told["reports_a_year"]["spread"])
        middle = math.log(self.mean_a_year) - spread**2 / 2
        return max(_CLOSED + _OPEN, round(sum(dice.lognormvariate(middle, spread) for _ in range(cities)) * years))


def read_history() -> History:
    """The shipped distributions."""
    return History(yaml.safe_load(files("service").joinpath("simulated_history.yaml").read_text(encoding="utf-8")))


# -- living


@dataclass(slots=True)
class _Stage:
    """The simulated clock, and a house over a database that nobody keeps."""

    at: datetime
    house: House = field(init=False)
    worker: Worker = field(init=False)

    def now(self) -> datetime:
        """The time of the stage."""
        return self.at

    async def passes(self, minutes: float) -> None:
        """Let time pass with the worker at work at its beginning and end only: what was due between is told at once."""
        await self.worker.round()
        self.at += timedelta(minutes=minutes)
        await self.worker.round()


async def _live(stage: _Stage, history: History, number: int, city: str, *, ends: bool) -> str:
    """One spill, from its report on; where it `ends`, to its closing."""
    kind = _nth_kind(history, number)
    hour = _nth(history.told["hours"], (number * 7 + 3) % 24)
    stage.at = stage.at.replace(hour=(hour + 8) % 24, minute=(number * 13) % 60)  # the coast is some eight hours behind UTC
    said = history.told["words"][number % len(history.told["words"])].replace("STREET", _STREET).replace("WORD", _WORD)
    place: dict[str, Any] = {"address": f"1{number:02d}20 {_STREET} Ave"}
    if city == EXAMPLE_CITY:  # of the others no point is known here
        place |= {"lat": 34.0122, "lon": -117.6889}
    body = {
        "description": said, "location": place, "material": kind["material"], "jurisdiction": city,
        "volume": {"quantity": kind["gallons"][number % 10], "unit": "gal"}, "reached": kind["reached"][number % len(kind["reached"])],
    }  # fmt: skip
    taken = await intake.take_in(stage.house, intake.Arrival(body, by_way_of="staff", sender=_OFFICER, is_staff=True))
    await stage.passes(history.told["minutes_to_notice"][(number * 3) % 10])
    await _call(stage, taken.reference, 99 if ends and number % 3 else number % 3)
    if ends:
        await stage.passes(60 * (6 + 12 * (number % 6)))
        await _close(stage, taken.reference)
    return taken.reference


def _nth(weights: Sequence[float], nth: int) -> int:
    """The place at which the nth of 24 even steps through the weights lies."""
    aim, reached = (nth + 0.5) / 24 * sum(weights), 0.0
    for place, weight in enumerate(weights):
        reached += weight
        if reached >= aim:
            return place
    return len(weights) - 1


def _nth_kind(history: History, number: int) -> Mapping[str, Any]:
    kinds: Sequence[Mapping[str, Any]] = history.told["kinds"]
    return kinds[_nth([kind["share"] for kind in kinds], number % 24)]


async def _call(stage: _Stage, reference: str, most: int) -> None:
    """Make the first calls of a spill."""
    async with transaction(stage.house, _OFFICER) as tx:
        spill = await tx.spill(reference)
        owed = [row for row in await obligations.of_spill(tx, spill) if row.state in ("running", "overdue") and row.act == "notice"]
        for row in owed[:most]:
            way = "telephone" if "any" in row.clock["methods"] else row.clock["methods"][0]
            act = {"type": "notice_given", "at": tx.now.isoformat(), "recipient": row.clock["recipient"], "method": way}
            await record_act(tx, spill, act)


async def _close(stage: _Stage, reference: str) -> None:
    async with transaction(stage.house, _OFFICER) as tx:
        spill = await tx.spill(reference)
        for row in await obligations.of_spill(tx, spill):
            if row.state in ("running", "overdue", "waiting"):
                await obligations.waive(tx, row, spill, "done on site, as the officer saw")
        await closing.close(tx, spill, {"en": f"{_STREET} was cleaned."}, "officer")
    await stage.worker.round()


# -- copying


@dataclass(slots=True)
class _Event:
    """What the chain needs of an event of a copy: templates of its record and of its sealed part."""

    record: str
    chain: str
    sealed: str | None


class _Pattern:
    """The rows of one lived spill as templates for `%`: what each copy has of its own is a name in them."""

    def __init__(self, reference: str, rows: Mapping[str, list[dict[str, Any]]], events: Sequence[EventRow], city: str | None) -> None:
        self._reference = reference
        self._obligations = {str(row["id"]): f"o{place}" for place, row in enumerate(rows["obligation"])}
        self._messages = {str(row["id"]): f"m{place}" for place, row in enumerate(rows["message"])}
        self.obligations, self.messages = len(rows["obligation"]), len(rows["message"])
        self.days: dict[str, str] = {}
        self.rows = [(table, [self._field(table, *one) for one in row.items()]) for table in _TABLES for row in rows[table]]
        self.events = [self._event(row, city) for row in events]

    def _event(self, row: EventRow, city: str | None) -> _Event:
        seal = _SEAL if row.seal else None
        record = record_of(
            _EVENT, self._reference,
            {"kind": row.kind, "opened": row.opened, "shown_actor": row.shown_actor, "happened_at": row.happened_at,
             "recorded_at": row.recorded_at, "seal": seal},
        )  # fmt: skip
        said = self._said(record, of_event=True).replace(str(_EVENT), "%(event)s").replace(_SEAL, "%(seal)s")
        sealed = self._said(f"{row.salt}\n{canonical(row.sealed)}", of_event=True) if row.sealed is not None else None
        return _Event(said, chain_of(city), sealed)

    def _said(self, value: str, *, of_event: bool = False) -> str:
        said = value.replace("%", "%%").replace(self._reference, "%(r)s").replace(_STREET, "%(street)s").replace(_WORD, "%(word)s")
        said = said.replace(_STREET.lower(), "%(street_l)s").replace(_WORD.lower(), "%(word)s")
        if of_event:
            said = _OBLIGATION.sub(lambda found: f"{found[1]}%({self._obligations.get(found[2], 's')})s", said)
            for message, name in self._messages.items():
                said = said.replace(message, f"%({name})s")
        return _DAY.sub(lambda found: f"%({self.days.setdefault(found[0], f'd{len(self.days)}')})s", said)

    def _field(self, table: str, column: str, value: Any) -> Any:
        if value is None or column in ("lat", "lon"):
            return None if value is None else f"%({column})s"
        value = str(value)
        if column == "html":
            return ""
        if column == "spill_id" or (column == "id" and table == "spill"):
            return "%(s)s"
        if column == "back":
            return "-%(s)s"
        if column == "id" and table not in ("message", "obligation"):
            return f"%({table})s"
        if column in ("id", "message_id", "carried_by") and value in self._messages:
            return f"%({self._messages[value]})s"
        if column in ("id", "obligation_id") and value in self._obligations:
            return f"%({self._obligations[value]})s"
        if table == "event" and column == "seal":
            return "%(seal)s"
        said = self._said(value, of_event=table == "event")
        return f"%(s)s:{said}" if column == "once" else said


@dataclass(slots=True)
class _Copier:
    """Makes copies, counting the numbers of their rows, and the chains of their cities, on."""

    following: dict[str, int]
    ends: dict[str, tuple[int, str]]
    dice: random.Random
    streets: Sequence[str]

    def copy(self, pattern: _Pattern, weeks: int, made: dict[str, list[tuple[Any, ...]]]) -> None:
        """Add the rows of one copy, of so many weeks before, to what is made so far."""
        number, first, street = self.following["spill"], self.following["obligation"], self.dice.choice(self.streets)
        self.following["spill"] += 1
        self.following["obligation"] += pattern.obligations
        days = {name: (date.fromisoformat(day) - timedelta(weeks=weeks)).isoformat() for day, name in pattern.days.items()}
        own: dict[str, Any] = {
            "s": number, "r": f"SP-{min(days.values())[:4]}-{number:05d}", "street": street, "street_l": street.lower(), **days,
            "word": f"w{int(self.dice.paretovariate(0.7)) % _RARE_WORDS}", "lat": f"{34.01 + self.dice.uniform(-0.03, 0.03):.6f}",
            "lon": f"{-117.69 + self.dice.uniform(-0.03, 0.03):.6f}",
            **{f"o{place}": first + place for place in range(pattern.obligations)},
            **{f"m{place}": f"{number:024x}{place:08x}" for place in range(pattern.messages)},
        }  # fmt: skip
        events = iter(pattern.events)
        for table, fields in pattern.rows:
            if table in self.following and table not in _SPILL_IS_KEY and table != "obligation":
                own[table] = self.following[table]
                self.following[table] += 1
            if table == "event":
                self._chain(next(events), own, made)
            made[table].append(tuple(None if one is None else one % own for one in fields))

    def _chain(self, event: _Event, own: dict[str, Any], made: dict[str, list[tuple[Any, ...]]]) -> None:
        if event.sealed is not None:
            own["seal"] = digest_of(event.sealed % own)  # as service/chain.py has it: of the salt and the canonical text
        number, before = self.ends.get(event.chain, (0, NOTHING_BEFORE))
        last = hash_of(event.chain, number + 1, before, digest_of(event.record % own))
        self.ends[event.chain] = (number + 1, last)
        made["chain_record"].append((own["event"], event.chain, number + 1, before, last))


# -- filling


async def fill(house: House, cities: int, years: float, seed: int = 1) -> AsyncIterator[int]:
    """Fill the empty database of a house with the history of so many cities and years; yields how many spills stand there so far.

    The reports of all these cities go to the cities that are served. Raises BadInput where a spill is there already.
    """
    history, dice = read_history(), random.Random(seed)  # noqa: S311 - a history that can be made again, and guards nothing
    async with transaction(house, "simulation") as tx:
        if await last_number(tx):
            right = "right would be: an empty database, by another SPILLCLOCK_HOME_DIR or SPILLCLOCK_DATABASE_URL"
            raise BadInput("nothing is made up beside what happened", [f"there are spills in this database; {right}"])
        for city in house.cities:
            if not await tx.session.scalar(select(func.count()).select_from(Contact).where(col(Contact.city) == city)):
                tx.session.add_all(example_contacts(city))
    closed, opened = await _patterns(house, history)
    many = history.reports(cities, years, dice)
    still_open = max(len(opened), round(many * _OPEN_OF_ALL))
    copier = _Copier({table: 1 for table in _TABLES if table not in ("message", *_SPILL_IS_KEY[1:])}, {}, dice, history.told["streets"])
    weeks = sorted((dice.randrange(1, max(2, round(years * 52))) for _ in range(many - still_open)), reverse=True)
    plan = [(closed[number % len(closed)], back) for number, back in enumerate(weeks)]
    plan += [(opened[number % len(opened)], 0) for number in range(still_open)]
    columns = {table: _columns(table) for table in (*_TABLES, "chain_record")}
    engine = open_engine(house.settings, durable=False)  # what is made up can be made up again
    for start in range(0, len(plan), _AT_A_TIME):
        made: dict[str, list[tuple[Any, ...]]] = {table: [] for table in columns}
        for pattern, back in plan[start : start + _AT_A_TIME]:
            copier.copy(pattern, back, made)
        async with engine.begin() as connection:
            if house.settings.is_embedded:
                await connection.execute(text(f"PRAGMA cache_size = -{_CACHE_KB}"))
            else:
                for setting in ("statement_timeout = 0", "synchronous_commit = off", "TimeZone = 'UTC'"):
                    await connection.execute(text(f"SET LOCAL {setting}"))
            for table, rows in made.items():
                await _write(connection, table, columns[table], rows)
        yield min(len(plan), start + _AT_A_TIME)
    await engine.dispose()
    await _settle(house, copier)


async def _patterns(house: House, history: History) -> tuple[list[_Pattern], list[_Pattern]]:
    """Spills that were closed, and such as are still open, each lived in a database that nobody keeps."""
    with tempfile.TemporaryDirectory(prefix="spillclock-simulation-") as folder:
        own = {"home_dir": Path(folder), "database_url": "", "secret_key": SecretStr("made up for a simulation")}
        settings = house.settings.model_copy(update=own)
        now = house.now()
        stage = _Stage(now)
        stage.house = replace(
            house, settings=settings, engine=open_engine(settings, durable=False), now=stage.now, ends={}, bell=Bell(), watches_clock=False
        )
        channels: dict[str, Channel] = {name: FileChannel(settings.outbox_path, name) for name in ("email", "sms", "voice")}
        stage.worker = Worker(stage.house, channels, "simulation")
        try:
            await migrate(stage.house)
            async with transaction(stage.house, "simulation") as tx:
                tx.session.add_all(contact for city in house.cities for contact in example_contacts(city))
            lived: list[tuple[str, bool]] = []
            for number in range(_CLOSED + _OPEN):
                ends = number < _CLOSED
                stage.at = now - timedelta(days=14 if ends else 2)
                lived.append((await _live(stage, history, number, house.cities[number % len(house.cities)], ends=ends), ends))
            patterns = [(await _pattern(stage.house, reference), ends) for reference, ends in lived]
        finally:
            await stage.house.engine.dispose()
    return [one for one, ends in patterns if ends], [one for one, ends in patterns if not ends]


async def _pattern(house: House, reference: str) -> _Pattern:
    rows: dict[str, list[dict[str, Any]]] = {}
    mine = f"(SELECT id FROM spill WHERE reference = '{reference}')"  # noqa: S608 - a reference of our own making
    async with reading(house) as tx:
        for table in _TABLES:
            where = f"{'id' if table == 'spill' else 'spill_id'} IN {mine}"
            if table in (*_VIA_OBLIGATION, *_VIA_MESSAGE):
                via = "message" if table in _VIA_MESSAGE else "obligation"
                where = f"{via}_id IN (SELECT id FROM {via} WHERE spill_id IN {mine})"  # noqa: S608 - as above
            columns = _columns(table)
            fields = ", ".join(f"CAST({column} AS TEXT)" for column in columns)
            found = await tx.session.execute(text(f"SELECT {fields} FROM {table} WHERE {where} ORDER BY rowid"))  # noqa: S608 - as above
            rows[table] = [dict(zip(columns, row, strict=True)) for row in found]
        spill = await tx.spill(reference)
        told = select(EventRow).where(col(EventRow.spill_id) == spill.id).order_by(col(EventRow.id))
        events = (await tx.session.execute(told)).scalars().all()
    return _Pattern(reference, rows, events, spill.city)


def _columns(table: str) -> list[str]:
    return [column.name for column in SQLModel.metadata.tables[table].columns]


async def _write(connection: AsyncConnection, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    raw: Any = (await connection.get_raw_connection()).driver_connection
    if connection.dialect.name == "postgresql":
        async with raw.cursor() as cursor, cursor.copy(f"COPY {with_columns(table, columns)} FROM STDIN") as copy:
            for row in rows:
                await copy.write_row(row)
        return
    holes = ", ".join("?" for _ in columns)
    await raw.executemany(f"INSERT INTO {with_columns(table, columns)} VALUES ({holes})", rows)  # noqa: S608 - tables and columns of ours


async def _settle(house: House, copier: _Copier) -> None:
    """Note where the chains end, let the database count on from there, and know what it holds."""
    async with house.engine.begin() as connection:
        ends = [{"name": name, "number": number, "hash": last} for name, (number, last) in copier.ends.items()]
        await connection.execute(insert(Chain), ends)
        if not house.settings.is_embedded:
            for table, number in copier.following.items():
                await connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {number})"))
        await connection.execute(text("ANALYZE"))
