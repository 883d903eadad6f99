"""The one way in which something of the record goes: what was sealed of an event is destroyed, and an event says so.

What is open of it stays, and the chain with it, for the chain covers a commitment to what was sealed and not the thing itself.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from typing import Any

from sqlalchemy import select, text, update
from sqlmodel import col

from service.errors import BadInput
from service.events import PersonalDestroyed, read_event
from service.personal import PERSONAL
from service.spills import stated
from service.tables import EventRow, Spill
from service.transaction import House, Transaction

RETENTION, REQUEST, REDACTION = "retention", "request", "redaction"
BASES = (RETENTION, REQUEST, REDACTION)


async def destroy_sealed(
    tx: Transaction,
    spill: Spill,
    events: Collection[int],
    basis: str,
    reason: str,
    instead: Mapping[int, Mapping[str, Any]] | None = None,
) -> int:
    """Destroy what is sealed of these events of a spill, by number. Returns of how many it was there.

    `basis`: retention, request or redaction; `instead`: what is shown in its place, by number and field, such as a text with a name masked.
    What was destroyed before, and what has nothing sealed, is passed over; where nothing is left, nothing is recorded. What an earlier
    destruction shows in place of something is itself destroyed with the event that says so, which takes `instead` as well: {reason,
    instead}. It is gone from the tables with the commit; backups keep it until they are replaced. Raises BadInput with one line a fault.
    """
    query = select(EventRow).where(col(EventRow.spill_id) == spill.id, col(EventRow.id).in_(events)).order_by(col(EventRow.id))
    rows = {row.id or 0: row for row in (await tx.session.execute(query)).scalars()}
    shown = {number: dict(fields) for number, fields in (instead or {}).items()}
    if faults := _faults(spill, rows, events, basis, reason, shown):
        raise BadInput("nothing can be destroyed so", faults)
    sealed = [number for number, row in rows.items() if row.sealed is not None]
    if not sealed:
        return 0
    in_place: dict[str, dict[str, Any]] = {}
    for one in sealed:
        if rows[one].kind == PersonalDestroyed.kind and one in shown:  # what it showed of others is shown from here on
            in_place |= dict(shown[one].pop("instead", {}))
    in_place |= {str(number): shown[number] for number in sealed if shown.get(number)}
    await tx.record(spill, PersonalDestroyed(events=sealed, basis=basis, reason=stated(reason), instead=in_place))
    await tx.session.flush()
    says = select(col(EventRow.id)).where(col(EventRow.spill_id) == spill.id, col(EventRow.kind) == PersonalDestroyed.kind)
    number = (await tx.session.execute(says.order_by(col(EventRow.id).desc()).limit(1))).scalar_one()
    if tx.house.settings.is_embedded:  # else the freed pages of the file would still hold it
        await tx.session.execute(text("PRAGMA secure_delete = ON"))
    gone = update(EventRow).where(col(EventRow.id).in_(sealed)).values(sealed=None, salt=None, destroyed_by=number)
    await tx.session.execute(gone, execution_options={"synchronize_session": False})
    await tx.session.execute(query, execution_options={"populate_existing": True})
    return len(sealed)


async def empty_log(house: House) -> None:
    """After a commit that destroyed something: empty SQLite's write-ahead log, which holds what its pages held before."""
    if house.settings.is_embedded and house.engine.url.database:
        await asyncio.to_thread(_empty_log, house.engine.url.database)


def _empty_log(path: str) -> None:
    with closing(sqlite3.connect(path, timeout=15)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _faults(
    spill: Spill, rows: Mapping[int, EventRow], events: Collection[int], basis: str, reason: str, instead: Mapping[int, Mapping[str, Any]]
) -> list[str]:
    faults = [] if stated(reason) else ["reason: missing; right would be: why it is no longer kept"]
    if basis not in BASES:
        faults.append(f"basis: {basis!r} is none; right would be: one of {', '.join(BASES)}")
    faults += [f"events: {number} is no event of {spill.reference}" for number in events if number not in rows]
    for number, fields in instead.items():
        row = rows.get(number)
        if row is None:
            faults.append(f"instead: {number} is not among the events")
            continue
        faults += [
            f"instead: {field} of event {number} is not personal, and stays as it is" for field in fields if field not in PERSONAL[row.kind]
        ]
        try:
            read_event(row.kind, {**row.payload, **fields})
        except ValueError as error:
            faults.append(f"instead: event {number} could not be read with it: {str(error).splitlines()[0]}")
    return faults
