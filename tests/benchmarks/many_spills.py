"""A database with a hundred thousand spills, for measuring: `await fill(home)` in about a minute, on SQLite or PostgreSQL.

A few dozen spills are lived through the real service: reported, alerted about, done in time or late, closed or still open. All their rows
are then copied with numbers, references, places and words of their own, and the closed ones moved back by whole weeks, so that a copy is
what the service itself would have stored. Nothing that waits to be sent is among them. To spare gigabytes, messages are copied without
their HTML, and closed spills without their messages at all.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import SQLModel

from service import closing, obligations
from service.parties import example_contacts
from service.transaction import transaction
from tests.houses import OFFICER, Household
from tests.spills import IN_CHINO, IN_ONTARIO, a_report, gallons

# Tables whose rows belong to one spill, each after those that it points to.
_TABLES = (
    "spill", "event", "obligation", "message", "attempt", "delivery_receipt", "followup", "public_spill", "board_line", "spill_words",
)  # fmt: skip
_SPILL_IS_KEY = ("spill", "public_spill", "board_line", "spill_words")
_VIA_OBLIGATION, _VIA_MESSAGE = ("followup",), ("attempt", "delivery_receipt")
_STREET, _WORD = "Xstreetx", "Xwordx"  # stand in the lived spills where each copy says something of its own
STREETS = ("Central", "Schaefer", "Euclid", "Riverside", "Walnut", "Mountain", "Magnolia", "Benson", "Cypress", "Pipeline", "Ramona")
RARE_WORDS, OFFICERS, WEEKS = 4_000, 25, 150
_OPEN_PATTERNS, _CLOSED_PATTERNS, _SHIFTS = 16, 8, 40
_AT_A_TIME = 2_000
_DAY = re.compile(r"\b20\d\d-[01]\d-[0-3]\d(?=[T ])")
_MESSAGES_AND_WHAT_THEY_DID = ("message", "attempt", "delivery_receipt")
_TOLD = ("message:", "rung:", "reply:")
_OBLIGATION = re.compile(r'("obligation": )(\d+)')


async def fill(home: Household, many: int = 100_000, still_open: int = 5_000, seed: int = 1) -> None:
    """Fill the database of a household, `still_open` of them open and around the time that its clock shows at the end."""
    dice = random.Random(seed)
    await home.people(*example_contacts("chino"), *example_contacts("ontario"))
    closed_patterns = [await _live_and_close(home, number) for number in range(_CLOSED_PATTERNS)]
    open_patterns = [await _live(home, number) for number in range(_OPEN_PATTERNS)]
    lived = [*closed_patterns, *open_patterns]
    async with home.house.engine.connect() as connection:
        rows = {reference: await _rows_of(connection, reference) for reference in lived}
        following = {table: await _next_number(connection, table) for table in _TABLES if table != "message"}
    for reference in closed_patterns:
        for table in _MESSAGES_AND_WHAT_THEY_DID:
            rows[reference][table] = []
        rows[reference]["event"] = [row for row in rows[reference]["event"] if not str(row["kind"]).startswith(_TOLD)]
    patterns = {reference: _Pattern(reference, rows[reference]) for reference in lived}
    copier = _Copier(following, dice)
    numbers = [*_spread(closed_patterns, many - still_open), *_spread(open_patterns, still_open)]
    for start in range(0, len(numbers), _AT_A_TIME):
        made: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _TABLES}
        for reference in numbers[start : start + _AT_A_TIME]:
            weeks = dice.randrange(1, WEEKS) // (WEEKS // _SHIFTS) * (WEEKS // _SHIFTS) + 1 if reference in closed_patterns else 0
            copier.copy(patterns[reference], weeks, made)
        async with home.house.engine.begin() as connection:
            await _make_ready(connection)
            for table in _TABLES:
                await _write(connection, table, patterns[lived[0]].columns(table, rows), made[table])
    async with home.house.engine.begin() as connection:
        await _make_ready(connection)
        await _settle(connection, copier.following)


def _spread(references: Sequence[str], many: int) -> Iterator[str]:
    return (references[number % len(references)] for number in range(many))


# -- living


async def _live(home: Household, number: int) -> str:
    """An open spill: reported by anybody, worked on a little, older or newer."""
    materials = ("sewage", "sewage", "petroleum", "wash_water", "paint", "hazardous_material")
    place = {**(IN_ONTARIO if number % 4 == 3 else IN_CHINO), "address": f"1{number:02d}20 {_STREET} Ave"}
    reference = await home.report(
        a_report(
            description=f"Something runs from a manhole beside the school on {_STREET}; it smells of {_WORD}.", location=place,
            material=materials[number % len(materials)], volume=gallons((15, 120, 900, 1500)[number % 4]),
        ),
        staff=number % 3 == 0,
    )  # fmt: skip
    await _pass(home, 40)
    if number % 2:
        await _do(home, reference, len(await home.clocks(reference)) // 2)
    return reference


async def _live_and_close(home: Household, number: int) -> str:
    """A small spill from its report to its end; the duties are done in time, late, or waived."""
    place = {**(IN_ONTARIO if number % 4 == 3 else IN_CHINO), "address": f"2{number:02d}40 {_STREET} St"}
    said = f"Wash water with {_WORD} runs along the gutter of {_STREET}."
    facts = {"material": ("wash_water", "pool_water", "sediment")[number % 3], "reached": ["gutter"], "threat": False, "hazardous": False}
    reference = await home.report(a_report(description=said, location=place, volume=gallons(5 + number), **facts))
    await _pass(home, 30 if number % 2 else 2000)
    await _do(home, reference, 3)
    async with transaction(home.house, OFFICER) as tx:
        spill = await tx.spill(reference)
        for row in await obligations.of_spill(tx, spill):
            if row.state in ("running", "overdue", "waiting"):
                await obligations.waive(tx, row, spill, "counsel agreed")
        await closing.close(tx, spill, {"en": f"The gutter of {_STREET} was washed."}, "officer")
    await home.work()
    return reference


async def _pass(home: Household, minutes: int) -> None:
    """Let time pass with the worker at work at its beginning and end only: what was due between is told at once."""
    await home.work()
    home.clock.jump(minutes=minutes)
    await home.work()


async def _do(home: Household, reference: str, most: int) -> None:
    """Do the first duties of a spill, as far as a call does them."""
    done = 0
    for row in await home.clocks(reference):
        if row.state in ("running", "overdue") and row.act == "notice" and done < most:
            way = "telephone" if "any" in row.clock["methods"] else row.clock["methods"][0]
            await home.happened(reference, "notice_given", recipient=row.clock["recipient"], method=way)
            done += 1


# -- copying


@dataclass(slots=True)
class _Row:
    """A row whose fields are templates for `%`: what each copy has of its own is a name in them."""

    table: str
    fields: list[str | None]


class _Pattern:
    """The rows of one lived spill as templates, once for each number of weeks that copies are moved back."""

    def __init__(self, reference: str, rows: dict[str, list[dict[str, str | None]]]) -> None:
        self._obligations = {row["id"]: f"o{place}" for place, row in enumerate(rows["obligation"])}
        self._messages = {row["id"]: f"m{place}" for place, row in enumerate(rows["message"])}
        self._reference = reference
        self.number = str(rows["spill"][0]["id"])
        self.obligations, self.messages = len(rows["obligation"]), len(rows["message"])
        self._plain = [_Row(table, [self._template(table, *one) for one in row.items()]) for table in _TABLES for row in rows[table]]
        self._moved: dict[int, list[_Row]] = {}

    @staticmethod
    def columns(table: str, rows: dict[str, dict[str, list[dict[str, str | None]]]]) -> list[str]:
        """The columns of a table in the order of the fields."""
        return next((list(one[table][0]) for one in rows.values() if one[table]), [])

    def moved(self, weeks: int) -> list[_Row]:
        """The rows as they would be had all of it happened some weeks before."""
        if weeks not in self._moved:

            def earlier(found: re.Match[str]) -> str:
                return (date.fromisoformat(found[0]) - timedelta(weeks=weeks)).isoformat()

            self._moved[weeks] = [
                _Row(row.table, [None if one is None else _DAY.sub(earlier, one) for one in row.fields]) for row in self._plain
            ]
        return self._moved[weeks]

    def _template(self, table: str, column: str, value: str | None) -> str | None:  # noqa: C901 - one line a sort of column
        if column == "officer":
            return "%(officer)s"
        if column == "html":
            return ""
        if value is None or column in ("lat", "lon"):
            return None if value is None else f"%({column})s"
        if column == "spill_id" or (column == "id" and table == "spill"):
            return "%(s)s"
        if column == "back":
            return "-%(s)s"
        if column == "id" and table not in ("message", "obligation"):
            return f"%({table})s"
        if column in ("id", "obligation_id") and table != "message":
            return f"%({self._obligations[value]})s"
        if column in ("id", "message_id", "carried_by"):
            return f"%({self._messages[value]})s"
        if column == "obligation_id":
            return f"%({self._obligations[value]})s"
        said = value.replace("%", "%%").replace(self._reference, "%(r)s")
        if column == "once":
            return f"%(s)s:{said}"
        if column == "payload":
            said = _OBLIGATION.sub(lambda found: f"{found[1]}%({self._obligations.get(found[2], 's')})s", said)
            for message, name in self._messages.items():
                said = said.replace(str(message), f"%({name})s") if '"message"' in said else said
        if table == "spill_words":
            return said.replace(_STREET.lower(), "%(street_l)s").replace(_WORD.lower(), "%(word)s")
        return said.replace(_STREET, "%(street)s").replace(_WORD, "%(word)s")


class _Copier:
    """Makes copies, counting the numbers of their rows on."""

    def __init__(self, following: dict[str, int], dice: random.Random) -> None:
        self.following = following
        self._dice = dice

    def copy(self, pattern: _Pattern, weeks: int, made: dict[str, list[tuple[Any, ...]]]) -> None:
        """Add the rows of one copy to what is made so far."""
        number, first = self.following["spill"], self.following["obligation"]
        self.following["spill"] += 1
        self.following["obligation"] += pattern.obligations
        street = self._dice.choice(STREETS)
        own: dict[str, Any] = {
            "s": number, "r": f"SP-2026-{number:05d}", "street": street, "street_l": street.lower(),
            "word": f"w{int(self._dice.paretovariate(0.7)) % RARE_WORDS}", "lat": f"{34.01 + self._dice.uniform(-0.03, 0.03):.6f}",
            "lon": f"{-117.69 + self._dice.uniform(-0.03, 0.03):.6f}",
            "officer": f"officer{self._dice.randrange(OFFICERS)}@chino.example" if self._dice.random() < 0.7 else "",
            **{f"o{place}": first + place for place in range(pattern.obligations)},
            **{f"m{place}": f"{number:024x}{place:08x}" for place in range(pattern.messages)},
        }  # fmt: skip
        for row in pattern.moved(weeks):
            if row.table in self.following and row.table not in _SPILL_IS_KEY and row.table != "obligation":
                own[row.table] = self.following[row.table]
                self.following[row.table] += 1
            made[row.table].append(tuple(None if one is None else one % own for one in row.fields))


# -- reading and writing, as text


def _columns(table: str) -> list[str]:
    return [column.name for column in SQLModel.metadata.tables[table].columns]


async def _rows_of(connection: AsyncConnection, reference: str) -> dict[str, list[dict[str, str | None]]]:
    """All rows of a spill, each field as text as the database itself writes it."""
    found: dict[str, list[dict[str, str | None]]] = {}
    mine = f"(SELECT id FROM spill WHERE reference = '{reference}')"  # noqa: S608 - a reference of our own making
    for table in _TABLES:
        key = "id" if table == "spill" else "spill_id"
        where = f"{key} IN {mine}"
        if table in (*_VIA_OBLIGATION, *_VIA_MESSAGE):
            via = "message" if table in _VIA_MESSAGE else "obligation"
            where = f"{via}_id IN (SELECT id FROM {via} WHERE spill_id IN {mine})"  # noqa: S608 - as above
        fields = ", ".join(f"CAST({column} AS TEXT)" for column in _columns(table))
        order = "message_id, id" if table in _VIA_MESSAGE else "promised_at, id" if table == "message" else "1"
        answer = await connection.execute(text(f"SELECT {fields} FROM {table} WHERE {where} ORDER BY {order}"))  # noqa: S608 - as above
        found[table] = [dict(zip(_columns(table), row, strict=True)) for row in answer]
    return found


async def _next_number(connection: AsyncConnection, table: str) -> int:
    key = "spill_id" if table in _SPILL_IS_KEY and table != "spill" else "id"
    return 1 + int((await connection.execute(text(f"SELECT coalesce(max({key}), 0) FROM {table}"))).scalar_one())  # noqa: S608 - as above


async def _make_ready(connection: AsyncConnection) -> None:
    if connection.dialect.name == "postgresql":
        await connection.execute(text("SET LOCAL statement_timeout = 0"))
        await connection.execute(text("SET LOCAL synchronous_commit = off"))


async def _write(connection: AsyncConnection, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    raw: Any = (await connection.get_raw_connection()).driver_connection
    names = ", ".join(columns)
    if connection.dialect.name == "postgresql":
        async with raw.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in rows:
                await copy.write_row(row)
        return
    holes = ", ".join("?" for _ in columns)
    await raw.executemany(f"INSERT INTO {table} ({names}) VALUES ({holes})", rows)  # noqa: S608 - as above


async def _settle(connection: AsyncConnection, following: dict[str, int]) -> None:
    """Let the database count on from there, and know what it holds, as PostgreSQL finds out by itself."""
    if connection.dialect.name == "postgresql":
        for table, number in following.items():
            if table not in _SPILL_IS_KEY or table == "spill":
                await connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {number})"))
        await connection.execute(text("ANALYZE"))
