"""Whether the record is whole: every chain is walked from its first record to its end, and the first that is not as it was is named.

Records are looked at as they lie in the tables, without the classes of events, so that old ones verify under any release, and one that
somebody made unreadable is named like any other. They come by the thousand: memory stays flat.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, String, Text, and_, cast, false, func, or_, select, text, type_coerce, union
from sqlmodel import col

from service.chain import NOTHING_BEFORE, canonical, digest_of, hash_of, record_of, seal_of
from service.events import PersonalDestroyed
from service.tables import Chain, ChainRecord, EventRow, Spill
from service.transaction import Transaction

_AT_A_TIME = 1000
_MOST_KEPT = 256
CHANGED, MISSING, INSERTED, OUT_OF_ORDER = "changed", "missing", "inserted", "out of order"
_UNPLACED = "(in no chain)"


@dataclass(frozen=True, slots=True)
class Break:
    """The first place at which a chain is not as it was: the number of the record, its event, and what is wrong with it.

    `event` is None where nothing tells which it was. `wrong`: changed, missing, inserted, out of order; `why`: by what it shows.
    """

    chain: str
    number: int | None
    event: int | None
    wrong: str
    why: str

    def __str__(self) -> str:
        named = [f"record {self.number}"] if self.number is not None else []
        named += [f"event {self.event}"] if self.event is not None else []
        return f"{self.chain}: {', '.join(named)}: {self.wrong}: {self.why}"


@dataclass(frozen=True, slots=True)
class Destroyed:
    """Sealed parts that were destroyed as the record says: by which event, when (UTC), by whom, on which basis, of how many events.

    `still_there`: of how many of them it is there all the same, as after an old backup was put back.
    """

    event: int
    at: datetime
    actor: str
    basis: str
    how_many: int
    still_there: int


@dataclass(slots=True)
class Walked:
    """What a walk along one chain found. `number` and `hash` are those of the last record that is as it was; `broken` None: it is whole."""

    chain: str
    number: int = 0
    hash: str = NOTHING_BEFORE
    broken: Break | None = None
    destroyed: list[Destroyed] = field(default_factory=list)


async def walk(tx: Transaction, wanted: Mapping[tuple[str, int], str] | None = None) -> AsyncIterator[Walked]:
    """Walk along every chain, in the order of their names; what is wrong with events outside of all chains comes last.

    `wanted`: the hashes that records had, by chain and number, as a checkpoint tells them.
    """
    known = wanted or {}
    names = union(select(col(Chain.name)), select(col(ChainRecord.chain)))
    found = {str(name) for name in (await tx.session.execute(names)).scalars()} | {name for name, _ in known}
    for name in sorted(found):
        yield await _Walk(tx, name, {number: hash_ for (chain, number), hash_ in known.items() if chain == name}).along()
    unplaced = (
        select(func.min(col(EventRow.id)), func.count())
        .outerjoin(ChainRecord, col(ChainRecord.event_id) == col(EventRow.id))
        .where(col(ChainRecord.event_id).is_(None))
    )
    first, many = (await tx.session.execute(unplaced)).one()
    if many:
        others = f", nor have {many - 1} others" if many > 1 else ""
        yield Walked(_UNPLACED, broken=Break(_UNPLACED, None, first, INSERTED, f"it has no place in any chain{others}"))


async def records(
    tx: Transaction, *, of_spill: str | None = None, with_sealed: bool = False, within: Mapping[str, tuple[int, int]] | None = None
) -> AsyncIterator[dict[str, Any]]:
    """Every record in the order of its chain, for others to check: docs/proof.md says how.

    `of_spill`: only what is said of this spill (its reference); of the others the digest alone, so that the chain can still be followed.
    `within`: only from a number to another of each of these chains, both included. `with_sealed`: with the sealed parts that are there, and
    their salts. A record that cannot be read has neither text nor digest.
    """
    query = _RECORDS.order_by(None).order_by(col(ChainRecord.chain), col(ChainRecord.number)).add_columns(col(ChainRecord.chain))
    if within is not None:
        parts = [and_(col(ChainRecord.chain) == name, col(ChainRecord.number).between(*part)) for name, part in within.items()]
        query = query.where(or_(false(), *parts))
    rows = await tx.session.stream(query, execution_options={"yield_per": _AT_A_TIME})
    async for row in rows:
        record: dict[str, Any] = {"chain": row.chain, "number": row.number, "previous": row.previous, "hash": row.hash}
        text, _ = _text_of(row)
        if of_spill is not None and row.reference != of_spill:
            record["digest"] = digest_of(text)
        else:
            record["record"] = text
            if with_sealed and row.sealed is not None:
                record["sealed"], record["salt"] = _canonical_or_as_it_is(row.sealed), row.salt
        yield record


_COLUMNS: Mapping[str, Any] = {
    "number": ChainRecord.number, "previous": ChainRecord.previous, "hash": ChainRecord.hash, "event_id": ChainRecord.event_id,
    "id": EventRow.id, "reference": Spill.reference, "spill_id": EventRow.spill_id, "kind": EventRow.kind,
    "opened": cast(col(EventRow.opened), Text), "shown_actor": EventRow.shown_actor,
    # As they lie there: a moment or a text that cannot be read is to be named, not stumbled over.
    "happened_at": type_coerce(col(EventRow.happened_at), String), "recorded_at": type_coerce(col(EventRow.recorded_at), String),
    "sealed": cast(col(EventRow.sealed), Text), "salt": EventRow.salt, "seal": EventRow.seal, "destroyed_by": EventRow.destroyed_by,
}  # fmt: skip
_RECORDS = (
    select(*(column.label(name) for name, column in _COLUMNS.items()))
    .select_from(ChainRecord)
    .outerjoin(EventRow, col(EventRow.id) == col(ChainRecord.event_id))
    .outerjoin(Spill, col(Spill.id) == col(EventRow.spill_id))
    .order_by(col(ChainRecord.number))
)


class _Walk:
    """A walk along one chain."""

    def __init__(self, tx: Transaction, name: str, known: Mapping[int, str]) -> None:
        self._tx = tx
        self._name = name
        self._known = known
        self._walked = Walked(name)
        # The hash before the last record, and the event of the last: what was inserted shows only at the record after it.
        self._before_last = ""
        self._last_event: int | None = None
        # What the events of destruction say that were looked up last: whose sealed parts they destroyed. The first record of which none
        # says so is broken only if the chain is whole: else it is that event which is not as it was, and is named.
        self._said: dict[int, frozenset[int]] = {}
        self._unsaid: Break | None = None

    async def along(self) -> Walked:
        """From the first record to the end."""
        rows = await self._tx.session.stream(
            _RECORDS.where(col(ChainRecord.chain) == self._name), execution_options={"yield_per": _AT_A_TIME}
        )
        try:
            async for row in rows:
                self._walked.broken = await self._look_at(row)
                if self._walked.broken is not None:
                    return self._walked
        finally:
            await rows.close()
        self._walked.broken = await self._look_at_end() or self._unsaid
        return self._walked

    async def _look_at(self, row: Row[Any]) -> Break | None:
        place = self._walked.number + 1
        if row.number != place:
            return await self._out_of_count(row, place)
        if row.id is None:
            return self._break(place, MISSING, "its event is gone", row.event_id)
        text, fault = _text_of(row)
        digest = digest_of(text)
        if row.previous != self._walked.hash or row.hash != hash_of(self._name, place, self._walked.hash, digest):
            return await self._misplaced(row, digest, fault)
        if fault := fault or await self._sealed_fault(row):
            return self._break(place, CHANGED, fault, row.id)
        if self._known.get(place, row.hash) != row.hash:
            return self._break(place, CHANGED, "a checkpoint gives another hash for it: the chain was rewritten here or before", row.id)
        self._before_last, self._last_event = self._walked.hash, row.id
        self._walked.number, self._walked.hash = place, row.hash
        if row.kind == PersonalDestroyed.kind:
            self._walked.destroyed.append(await self._destroyed(row))
        return None

    def _break(self, number: int, wrong: str, why: str, event: int | None = None) -> Break:
        return Break(self._name, number, event, wrong, why)

    # -- a record that is not where, or what, it should be

    async def _out_of_count(self, row: Row[Any], place: int) -> Break:
        if not isinstance(row.number, int) or row.number < place:
            return self._break(place, INSERTED, f"a second record says that it is number {row.number}", row.event_id)
        strayed = await self._one_after(self._walked.hash)
        if strayed is not None:
            return self._break(place, OUT_OF_ORDER, f"it stands at number {strayed[0]}", strayed[1])
        return self._break(place, MISSING, f"the record before it is followed by number {row.number}")

    async def _misplaced(self, row: Row[Any], digest: str, fault: str) -> Break:
        """What happened where a record does not follow from the one before, by the number it was once hashed with."""
        place = self._walked.number + 1
        once = await self._number_of(digest, row.previous, row.hash)
        if once == place:  # whole in itself, but made after another record than the one that is there
            if place > 1 and await self._goes_on_from(row):
                return self._break(place - 1, CHANGED, "it was hashed anew; the record after it was made after another", self._last_event)
            return self._break(place, CHANGED, "it was hashed anew, not after the record that stands before it", row.id)
        if once == place - 1 and row.previous == self._before_last:
            return self._break(place - 1, INSERTED, "the record after it was made without it", self._last_event)
        if once is not None and once == place + 1 and await self._with_hash(row.previous) is None:
            return self._break(place, MISSING, "the records after it were numbered anew")
        if once is not None:
            return self._break(place, OUT_OF_ORDER, f"it was number {once}", row.id)
        if row.previous == self._walked.hash:
            other = await self._place_of(digest)
            if other is not None:
                return self._break(place, OUT_OF_ORDER, f"its event was that of number {other}", row.id)
            after = await self._one_after(self._walked.hash, but=place)
            if after is not None:
                return self._break(place, INSERTED, f"number {after[0]} was made after the record before it", row.id)
        return self._break(place, CHANGED, fault or "its hash is not that of what it says", row.id)

    async def _goes_on_from(self, row: Row[Any]) -> bool:
        """Whether the record after this one, or the end of the chain, knows this one by its hash."""
        if await self._one_after(row.hash) is not None:
            return True
        end = await self._tx.session.get(Chain, self._name)
        return end is not None and end.hash == row.hash

    async def _one_after(self, hash_: str, but: int | None = None) -> tuple[int, int] | None:
        """Number and event of the record that was made after the one with this hash."""
        query = select(col(ChainRecord.number), col(ChainRecord.event_id)).where(
            col(ChainRecord.chain) == self._name, col(ChainRecord.previous) == hash_, col(ChainRecord.number) != (but or 0)
        )
        found = (await self._tx.session.execute(query.limit(1))).one_or_none()
        return (found[0], found[1]) if found else None

    async def _with_hash(self, hash_: str) -> int | None:
        query = select(col(ChainRecord.number)).where(col(ChainRecord.chain) == self._name, col(ChainRecord.hash) == hash_)
        number: int | None = await self._tx.session.scalar(query.limit(1))
        return number

    async def _number_of(self, digest: str, previous: str, hash_: str) -> int | None:
        """The number that a record was hashed with; None where no number of the chain gives its hash, so that it was changed."""
        last = await self._tx.session.scalar(select(func.max(col(ChainRecord.number))).where(col(ChainRecord.chain) == self._name))
        numbers = range(1, int(last or 0) + 2)
        return next((number for number in numbers if hash_of(self._name, number, previous, digest) == hash_), None)

    async def _place_of(self, digest: str) -> int | None:
        """The number of the record whose hash is of this digest, where another event stands in its place."""
        query = select(col(ChainRecord.number), col(ChainRecord.previous), col(ChainRecord.hash)).where(
            col(ChainRecord.chain) == self._name
        )
        rows = await self._tx.session.stream(query, execution_options={"yield_per": _AT_A_TIME})
        try:
            async for number, previous, hash_ in rows:
                if hash_of(self._name, number, previous, digest) == hash_:
                    return int(number)
        finally:
            await rows.close()
        return None

    async def _look_at_end(self) -> Break | None:
        walked, end = self._walked, await self._tx.session.get(Chain, self._name)
        if end is None or end.number < walked.number:
            number = 1 if end is None else end.number + 1
            event = await self._event_at(number)
            return self._break(number, INSERTED, "it lies beyond the end of the chain", event)
        if end.number > walked.number:
            return self._break(walked.number + 1, MISSING, f"the chain ended at number {end.number}")
        if end.hash != walked.hash:
            return self._break(walked.number, CHANGED, "it was hashed anew; the chain ended with another hash", self._last_event)
        beyond = [number for number in self._known if number > walked.number]
        if beyond:
            return self._break(walked.number + 1, MISSING, f"by a checkpoint the chain had come to number {max(beyond)}")
        return None

    async def _event_at(self, number: int) -> int | None:
        query = select(col(ChainRecord.event_id)).where(col(ChainRecord.chain) == self._name, col(ChainRecord.number) == number)
        event: int | None = await self._tx.session.scalar(query)
        return event

    # -- what is sealed

    async def _sealed_fault(self, row: Row[Any]) -> str:
        """What is wrong with the sealed part of a record; nothing where it is as it was, or was destroyed and an event says so."""
        if row.seal is None:
            there = row.sealed is not None or row.salt is not None or row.destroyed_by is not None
            return "it has a sealed part, and was made without one" if there else ""
        if row.sealed is None:
            if row.destroyed_by is None or row.salt is not None:
                return "its sealed part is gone, and no event says that it was destroyed"
            if self._unsaid is None and row.id not in await self._says(row.destroyed_by, row.spill_id):
                why = f"its sealed part is gone, and event {row.destroyed_by} does not say that it was destroyed"
                self._unsaid = self._break(row.number, CHANGED, why, row.id)
            return ""
        try:
            whole = row.destroyed_by is None and seal_of(json.loads(row.sealed), row.salt) == row.seal
        except (ValueError, TypeError, AttributeError):
            whole = False
        return "" if whole else "its sealed part was changed"

    async def _says(self, event: int, spill_id: int) -> frozenset[int]:
        """The events whose sealed parts were destroyed, as an event of the same spill says."""
        if event not in self._said:
            says = select(cast(col(EventRow.opened), Text)).where(
                col(EventRow.id) == event, col(EventRow.kind) == PersonalDestroyed.kind, col(EventRow.spill_id) == spill_id
            )
            if len(self._said) >= _MOST_KEPT:
                self._said.pop(next(iter(self._said)))
            self._said[event] = frozenset(_listed(await self._tx.session.scalar(says)))
        return self._said[event]

    async def _destroyed(self, row: Row[Any]) -> Destroyed:
        listed, said = _listed(row.opened), json.loads(row.opened)
        kept = select(func.count()).select_from(EventRow).where(col(EventRow.id).in_(listed), col(EventRow.sealed).is_not(None))
        still_there = await self._tx.session.scalar(kept)
        return Destroyed(row.id, _moment(row.recorded_at), row.shown_actor, str(said.get("basis")), len(listed), still_there or 0)


def _listed(opened: str | None) -> list[int]:
    try:
        return [int(number) for number in json.loads(opened or "{}").get("events", [])]
    except (ValueError, TypeError, AttributeError):  # such an event is named at its own place
        return []


def _text_of(row: Row[Any]) -> tuple[str, str]:
    """The canonical text of a record, by what lies there; or none, and what cannot be read."""
    try:
        event = {
            "kind": row.kind, "opened": json.loads(row.opened), "shown_actor": row.shown_actor, "happened_at": _moment(row.happened_at),
            "recorded_at": _moment(row.recorded_at), "seal": row.seal,
        }  # fmt: skip
        return record_of(row.id, row.reference, event), ""
    except (ValueError, TypeError, RecursionError) as error:
        return "", f"it cannot be read: {error}"


def _canonical_or_as_it_is(text: str) -> str:
    try:
        return canonical(json.loads(text))
    except ValueError:
        return text


def _moment(value: Any) -> datetime:
    """A moment as it lies there: SQLite keeps a text of UTC without a zone."""
    return value if isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)


# -- what keeps it so

_TRIGGERS_OF_SQLITE = (
    "chain_record_refuses_delete", "chain_record_refuses_replace", "chain_record_refuses_update", "chain_refuses_delete",
    "chain_refuses_replace", "chain_refuses_update", "event_refuses_delete", "event_refuses_replace", "event_refuses_update",
)  # fmt: skip
_TRIGGERS_OF_POSTGRESQL = ("chain_record_refuses", "chain_refuses", "chain_refuses_update", "event_refuses", "event_refuses_change")


async def missing_triggers(tx: Transaction) -> list[str]:
    """The triggers that refuse changes of the record and are not there, or are switched off: somebody took them away, or a table was made
    anew without them."""
    embedded = tx.house.settings.is_embedded
    there = "SELECT name FROM sqlite_master WHERE type = 'trigger'" if embedded else "SELECT tgname FROM pg_trigger WHERE tgenabled <> 'D'"
    found = set((await tx.session.execute(text(there))).scalars())
    return [name for name in (_TRIGGERS_OF_SQLITE if embedded else _TRIGGERS_OF_POSTGRESQL) if name not in found]
