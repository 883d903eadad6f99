"""The chain that makes the record provable: each record covers an event and, by its hash, every record before it.

How a record is hashed stands in docs/proof.md, so that anybody can check it without us. There is a chain for each city, and one for
spills of no city. An event stands in the chain of the city that its spill belonged to when it was recorded, and never moves.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from service.tables import Chain, ChainRecord

# The chain of spills of no city. No pack has a name with a blank in it.
NO_CITY = "no city"
# What stands before the first record of a chain.
NOTHING_BEFORE = "0" * 64
_SALT_BYTES = 16


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
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


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
    """The commitment to a sealed part, in hex: an HMAC-SHA-256 of its canonical text under its salt."""
    return hmac.digest(bytes.fromhex(salt), canonical(sealed).encode("utf-8", "surrogatepass"), "sha256").hex()


async def append(connection: AsyncConnection, entries: Iterable[Entry], *, locks: bool) -> None:
    """Give events their places at the ends of their chains, in order.

    It locks the ends until the transaction is over, so it comes last in one, and in the order of their names: two transactions never wait
    for each other. `locks`: whether the database has locks for rows; one without has one writer at a time.
    """
    by_chain: dict[str, list[Entry]] = {}
    for entry in entries:
        by_chain.setdefault(entry.chain, []).append(entry)
    for name in sorted(by_chain):
        number, last = await _end_of(connection, name, locks=locks)
        rows = []
        for entry in by_chain[name]:
            number, previous = number + 1, last
            last = hash_of(name, number, previous, entry.digest)
            rows.append({"event_id": entry.event_id, "chain": name, "number": number, "previous": previous, "hash": last})
        await connection.execute(insert(ChainRecord), rows)
        await connection.execute(update(Chain).where(col(Chain.name) == name).values(number=number, hash=last))


async def _end_of(connection: AsyncConnection, name: str, *, locks: bool) -> Sequence[Any]:
    end = select(col(Chain.number), col(Chain.hash)).where(col(Chain.name) == name)
    if locks:
        end = end.with_for_update()
    found = (await connection.execute(end)).one_or_none()
    if found is None:  # the first record of a chain: whoever makes it first, all go on from the same end
        tongue = postgresql if locks else sqlite
        begun = tongue.insert(Chain).values(name=name, number=0, hash=NOTHING_BEFORE)
        await connection.execute(begun.on_conflict_do_nothing())
        found = (await connection.execute(end)).one()
    return found
