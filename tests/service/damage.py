"""What somebody with the keys to the database might do to one record of a chain, and which record is to be named for it.

Each is done with the triggers off, inside a transaction that is undone afterwards.
"""

# ruff: noqa: S608 - the statements are put together from what stands here

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from service.audit import CHANGED, INSERTED, MISSING, OUT_OF_ORDER, Walked, walk
from service.chain import canonical, digest_of, hash_of
from service.transaction import House, Transaction, open_engine, reading
from tests.houses import Household


@dataclass
class Scene:
    """One chain of a database whose triggers are off, and the chance that picks in it."""

    connection: AsyncConnection
    chance: random.Random
    chain: str
    last: int

    async def run(self, statement: str, **values: Any) -> None:
        await self.connection.execute(text(statement), values)

    async def row(self, number: int) -> Mapping[str, Any]:
        """A record with its event; JSON as text."""
        query = """SELECT r.number, r.previous, r.hash, e.id, e.spill_id, e.kind, CAST(e.payload AS TEXT) AS payload, e.actor,
            CAST(e.sealed AS TEXT) AS sealed, e.salt, e.seal, s.reference, CAST(e.happened_at AS TEXT) AS happened_at,
            CAST(e.recorded_at AS TEXT) AS recorded_at
            FROM chain_record r JOIN event e ON e.id = r.event_id JOIN spill s ON s.id = e.spill_id
            WHERE r.chain = :chain AND r.number = :number"""
        found = (await self.connection.execute(text(query), {"chain": self.chain, "number": number})).mappings().one()
        return dict(found)

    async def shift(self, since: int, by: int) -> None:
        """Number the records from `since` on anew."""
        await self.run(
            "UPDATE chain_record SET number = -(number + :by) WHERE chain = :chain AND number >= :since",
            by=by,
            chain=self.chain,
            since=since,
        )
        await self.run("UPDATE chain_record SET number = -number WHERE chain = :chain AND number < 0", chain=self.chain)

    async def give_number(self, event: int, number: int) -> None:
        await self.run("UPDATE chain_record SET number = :number WHERE event_id = :event", number=number, event=event)

    async def free_event(self) -> int:
        return int((await self.connection.execute(text("SELECT max(id) + 1 FROM event"))).scalar_one())

    async def digest(self, number: int) -> str:
        """The digest of a record as it lies there, by way of its export."""
        row = await self.row(number)
        moments = {name: _as_z(row[name]) for name in ("happened_at", "recorded_at")}
        said = {"event": row["id"], "spill": row["reference"], "payload": json.loads(row["payload"]), **moments}
        return digest_of(canonical({**said, **{name: row[name] for name in ("kind", "actor", "seal")}}))

    async def hash_anew(self, number: int, previous: str | None = None) -> None:
        row = await self.row(number)
        before = row["previous"] if previous is None else previous
        anew = hash_of(self.chain, number, before, await self.digest(number))
        await self.run(
            "UPDATE chain_record SET hash = :hash, previous = :previous WHERE event_id = :id", hash=anew, previous=before, id=row["id"]
        )

    async def forge(self) -> int:
        """Store an event that never happened, without a place. Returns its number."""
        number = await self.free_event()
        await self.run(
            "INSERT INTO event (id, spill_id, kind, payload, actor, happened_at, recorded_at)"
            " SELECT :number, spill_id, kind, payload, 'forger', happened_at, recorded_at FROM event WHERE id = :number - 1",
            number=number,
        )
        return number


def _as_z(lies: str) -> str:
    """A moment as the databases write it, as the record does."""
    day, _, time = lies.removesuffix("+00").partition(" ")
    clock, _, fraction = time.partition(".")
    return f"{day}T{clock}.{fraction:0<6}Z"


Damage = Callable[[Scene, int], Awaitable[tuple[str, int]]]
DAMAGES: dict[str, Damage] = {}


def damage(done: Damage) -> Damage:
    DAMAGES[done.__name__] = done
    return done


def _other(chance: random.Random, digits: str) -> str:
    place = chance.randrange(len(digits))
    return digits[:place] + chance.choice([one for one in "0123456789abcdef" if one != digits[place]]) + digits[place + 1 :]


@damage
async def one_column_is_changed(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    said = {**json.loads(row["payload"]), scene.chance.choice(["duty", "by_way_of", "x"]): scene.chance.random()}
    choices = {
        "payload": json.dumps(said), "kind": f"{row['kind']}x", "actor": f"{row['actor']}x", "happened_at": "2020-02-02 02:02:02.000000",
        "recorded_at": "2020-02-02 02:02:02.000000",
    }  # fmt: skip
    column = scene.chance.choice(list(choices))
    kinds = {"payload": "JSON", "happened_at": "TIMESTAMPTZ", "recorded_at": "TIMESTAMPTZ"}
    as_kind = kinds.get(column, "VARCHAR") if scene.connection.dialect.name == "postgresql" else "TEXT"
    await scene.run(f"UPDATE event SET {column} = CAST(:value AS {as_kind}) WHERE id = :id", value=choices[column], id=row["id"])
    return CHANGED, number


@damage
async def the_event_is_given_to_another_spill(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    await scene.run("UPDATE event SET spill_id = (SELECT max(id) FROM spill WHERE id <> spill_id) WHERE id = :id", id=row["id"])
    return CHANGED, number


@damage
async def what_was_sealed_is_changed(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    other = json.dumps({"reason": "something else"})
    as_kind = "JSON" if scene.connection.dialect.name == "postgresql" else "TEXT"
    ways = [
        (f"sealed = CAST(:value AS {as_kind})", other),
        ("salt = :value", "0" * 32),
        ("seal = :value", "f" * 64),
        ("salt = :value", None),
    ]
    way, value = scene.chance.choice(ways)
    if value is None and row["salt"] is None:  # there is no salt to be taken away
        way, value = ways[1]
    await scene.run(f"UPDATE event SET {way} WHERE id = :id", value=value, id=row["id"])
    return CHANGED, number


@damage
async def what_was_sealed_is_gone_and_nothing_says_so(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    if row["seal"] is None:
        await scene.run("UPDATE event SET destroyed_by = 1 WHERE id = :id", id=row["id"])
    else:
        says = scene.chance.choice(["NULL", "id", "1"])
        await scene.run(f"UPDATE event SET sealed = NULL, salt = NULL, destroyed_by = {says} WHERE id = :id", id=row["id"])
    return CHANGED, number


@damage
async def a_hash_is_changed(scene: Scene, number: int) -> tuple[str, int]:
    row, column = await scene.row(number), scene.chance.choice(["hash", "previous"])
    await scene.run(
        f"UPDATE chain_record SET {column} = :value WHERE event_id = :id", value=_other(scene.chance, row[column]), id=row["id"]
    )
    return CHANGED, number


@damage
async def an_event_is_changed_and_hashed_anew(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    await scene.run("UPDATE event SET actor = 'nobody' WHERE id = :id", id=row["id"])
    await scene.hash_anew(number)
    return CHANGED, number


@damage
async def a_record_is_hashed_anew_after_nothing(scene: Scene, number: int) -> tuple[str, int]:
    await scene.hash_anew(number, previous="e" * 64)
    return CHANGED, number


@damage
async def an_event_is_deleted(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    await scene.run("DELETE FROM event WHERE id = :id", id=row["id"])
    return MISSING, number


@damage
async def a_place_is_deleted(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    await scene.run("DELETE FROM chain_record WHERE event_id = :id", id=row["id"])
    return MISSING, number


@damage
async def an_event_is_deleted_with_its_place(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    await scene.run("DELETE FROM chain_record WHERE event_id = :id", id=row["id"])
    await scene.run("DELETE FROM event WHERE id = :id", id=row["id"])
    return MISSING, number


@damage
async def an_event_is_deleted_and_the_rest_numbered_anew(scene: Scene, number: int) -> tuple[str, int]:
    await an_event_is_deleted_with_its_place(scene, number)
    await scene.shift(number + 1, -1)
    return MISSING, number


@damage
async def two_places_are_swapped(scene: Scene, number: int) -> tuple[str, int]:
    other = scene.chance.choice([one for one in (number + 1, number - 1, scene.chance.randint(1, scene.last)) if 0 < one <= scene.last])
    if other == number:
        other = number - 1 or number + 1
    mine, theirs = await scene.row(number), await scene.row(other)
    await scene.give_number(mine["id"], -1)
    await scene.give_number(theirs["id"], number)
    await scene.give_number(mine["id"], other)
    return OUT_OF_ORDER, min(number, other)


@damage
async def two_events_are_swapped(scene: Scene, number: int) -> tuple[str, int]:
    other = number - 1 or number + 1
    mine, theirs = await scene.row(number), await scene.row(other)
    await scene.run("UPDATE chain_record SET event_id = -1 WHERE event_id = :id", id=mine["id"])
    await scene.run("UPDATE chain_record SET event_id = :mine WHERE event_id = :theirs", mine=mine["id"], theirs=theirs["id"])
    await scene.run("UPDATE chain_record SET event_id = :theirs WHERE event_id = -1", theirs=theirs["id"])
    return OUT_OF_ORDER, min(number, other)


@damage
async def the_numbers_of_two_events_are_swapped(scene: Scene, number: int) -> tuple[str, int]:
    other = number - 1 or number + 1
    mine, theirs = await scene.row(number), await scene.row(other)
    for before, after in ((mine["id"], -1), (theirs["id"], mine["id"]), (-1, theirs["id"])):
        await scene.run("UPDATE event SET id = :after WHERE id = :before", before=before, after=after)
    return CHANGED, min(number, other)


@damage
async def a_record_is_moved_to_the_end(scene: Scene, number: int) -> tuple[str, int]:
    number = min(number, scene.last - 1)
    row = await scene.row(number)
    await scene.give_number(row["id"], scene.last + 1)
    if scene.chance.random() < 0.5:
        await scene.shift(number + 1, -1)
    return OUT_OF_ORDER, number


@damage
async def an_event_is_inserted_after_the_end(scene: Scene, number: int) -> tuple[str, int]:
    event, last = await scene.forge(), await scene.row(scene.last)
    await _place(scene, event, scene.last + 1, last["hash"])
    return INSERTED, scene.last + 1


@damage
async def an_event_is_inserted_between_two(scene: Scene, number: int) -> tuple[str, int]:
    row = await scene.row(number)
    await scene.shift(number, 1)
    await _place(scene, await scene.forge(), number, row["previous"])
    if scene.chance.random() < 0.5:
        await scene.run(
            "UPDATE chain_record SET hash = :hash WHERE chain = :chain AND number = :number",
            hash="a" * 64,
            chain=scene.chain,
            number=number,
        )
    return INSERTED, number


async def _place(scene: Scene, event: int, number: int, previous: str) -> None:
    await scene.run(
        "INSERT INTO chain_record (event_id, chain, number, previous, hash) VALUES (:event, :chain, :number, :previous, '')",
        event=event, chain=scene.chain, number=number, previous=previous,
    )  # fmt: skip
    await scene.hash_anew(number)


@damage
async def an_event_is_inserted_without_a_place(scene: Scene, number: int) -> tuple[str, int]:
    return INSERTED, -await scene.forge()  # named by its event, for it has no number


@asynccontextmanager
async def triggers_off(house: House) -> Any:
    """A connection in which nothing is refused. What is done in it is undone at its end."""
    engine = open_engine(house.settings, foreign_keys=False)
    try:
        async with engine.connect() as connection:
            if house.settings.is_embedded:
                names = (await connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'"))).scalars().all()
                for name in names:
                    await connection.execute(text(f'DROP TRIGGER "{name}"'))
            else:
                await connection.execute(text("SET LOCAL session_replication_role = replica"))
            yield connection
            await connection.rollback()
    finally:
        await engine.dispose()


async def found_in(house: House, connection: AsyncConnection, wanted: Mapping[tuple[str, int], str] | None = None) -> dict[str, Walked]:
    """What a walk finds as this connection sees the database."""
    async with AsyncSession(bind=connection, expire_on_commit=False, join_transaction_mode="create_savepoint") as session:
        tx = Transaction(house, session, house.now(), "auditor", writes=False)
        return {one.chain: one async for one in walk(tx, wanted)}


async def walked(home: Household) -> dict[str, Walked]:
    """What a walk along every chain finds, by chain."""
    async with reading(home.house) as tx:
        return {one.chain: one async for one in walk(tx)}
