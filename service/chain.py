"""The chain that makes the record provable: each record covers an event and, by its hash, every record before it.

How a record is hashed stands in docs/proof.md, so that anybody can check it without us. There is a chain for each city, and one for
spills of no city. An event stands in the chain of the city that its spill belonged to when it was recorded, and never moves.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Table, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from service.tables import Chain, ChainRecord

# The chain of spills of no city. No pack has a name with a blank in it.
NO_CITY = "no city"
# Where a chain ends: the number and hash of its last record.
End = tuple[int, str]
# What stands before the first record of a chain.
NOTHING_BEFORE = "0" * 64
_SALT_BYTES = 16
_CHAIN: Table = Chain.metadata.tables["chain"]
_RECORD: Table = ChainRecord.metadata.tables["chain_record"]
# Made once: to make them costs as much as to run them.
_ADD = insert(_RECORD)
_END = select(_CHAIN.c.number, _CHAIN.c.hash).where(_CHAIN.c.name == bindparam("chain"))
_MOVE = (
    update(_CHAIN)
    .where(_CHAIN.c.name == bindparam("chain"), _CHAIN.c.number == bindparam("from_number"), _CHAIN.c.hash == bindparam("from_hash"))
    .values(number=bindparam("to_number"), hash=bindparam("to_hash"))
)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Entry:
    """An event that was stored and has no place in a chain yet: its chain, its number as an event, and the digest of its record."""

    chain: str
    event_id: int
    digest: str


def chain_of(city: str | None) -> str:
    """The chain of a city; that of no city for None."""
    return city or NO_CITY


def canonical(value: Any) -> str:
    """A JSON value in the one form that is hashed: RFC 8785, but numbers as Python writes them and keys by code point (docs/proof.md).

    Raises ValueError for a number that JSON does not know.
    """
    return _ENCODER.encode(value)


def record_of(number: int, reference: str, event: Mapping[str, Any]) -> str:
    """The canonical text of an event: its number, the spill it is about, and what is open of it by the names of EventRow."""
    return canonical(
        {
            "event": number, "spill": reference, "kind": event["kind"], "payload": event["opened"], "actor": event["shown_actor"],
            "happened_at": _as_text(event["happened_at"]), "recorded_at": _as_text(event["recorded_at"]), "seal": event["seal"],
        }
    )  # fmt: skip


def _as_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def digest_of(text: str) -> str:
    """The SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_of(chain: str, number: int, previous: str, digest: str) -> str:
    """The hash of a record: of its place, the hash of the record before, and the digest of what it says."""
    return digest_of(f"{chain}\n{number}\n{previous}\n{digest}")


def new_salt() -> str:
    """A salt for a sealed part, in hex: without it nobody can try what was sealed."""
    return os.urandom(_SALT_BYTES).hex()


def seal_of(sealed: Mapping[str, Any], salt: str) -> str:
    """The commitment to a sealed part, in hex: the digest of its salt and its canonical text. Without the salt it tells nothing."""
    return digest_of(f"{salt}\n{canonical(sealed)}")


async def append(connection: AsyncConnection, entries: Iterable[Entry], ends: dict[str, End], *, locks: bool) -> None:
    """Give events their places at the ends of their chains, in order.

    It holds the ends until the transaction is over, so it comes last in one, and in the order of their names: two transactions never wait
    for each other. `ends`: where this process saw them last, which spares a question while nobody else writes; a wrong one does no harm.
    `locks`: whether the database has locks for rows; one without has one writer at a time.
    """
    by_chain: dict[str, list[Entry]] = {}
    for entry in entries:
        by_chain.setdefault(entry.chain, []).append(entry)
    rows: list[dict[str, Any]] = []
    for name in sorted(by_chain):
        before = ends.get(name)
        placed = _placed(before, by_chain[name]) if before else []
        if before is None or not await _moved_on(connection, name, before, placed):
            before = await _end_of(connection, name, locks=locks)
            placed = _placed(before, by_chain[name])
            await _moved_on(connection, name, before, placed)
        ends[name] = (placed[-1]["number"], placed[-1]["hash"])
        rows += placed
    await connection.execute(_ADD, rows)


def _placed(end: End, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The records of events that follow the end of their chain."""
    rows, (number, last) = [], end
    for entry in entries:
        number, previous = number + 1, last
        last = hash_of(entry.chain, number, previous, entry.digest)
        rows.append({"event_id": entry.event_id, "chain": entry.chain, "number": number, "previous": previous, "hash": last})
    return rows


async def _moved_on(connection: AsyncConnection, name: str, end: End, placed: Sequence[Mapping[str, Any]]) -> bool:
    """Move the end of a chain on, and hold it; False where it was elsewhere."""
    last = placed[-1]
    where = {"chain": name, "from_number": end[0], "from_hash": end[1], "to_number": last["number"], "to_hash": last["hash"]}
    return (await connection.execute(_MOVE, where)).rowcount == 1


async def _end_of(connection: AsyncConnection, name: str, *, locks: bool) -> End:
    """Where a chain ends, held until the transaction is over."""
    end = _END.with_for_update() if locks else _END
    found = (await connection.execute(end, {"chain": name})).one_or_none()
    if found is None:  # the first record of a chain: whoever makes it first, all go on from the same end
        tongue = postgresql if locks else sqlite
        begun = tongue.insert(_CHAIN).values(name=name, number=0, hash=NOTHING_BEFORE)
        await connection.execute(begun.on_conflict_do_nothing())
        found = (await connection.execute(end, {"chain": name})).one()
    return found[0], found[1]
