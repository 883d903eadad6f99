"""Fills the tables of PostgreSQL from a backup: from the copies of its own tables, or from the database of an embedded one.

So a backup of SQLite can be put back into PostgreSQL, which is how a city that outgrows one process moves.
"""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.backups import DATABASE, Backup, table_file, tables_in_order, with_columns

_CHUNK = 1024 * 1024


async def fill(connection: AsyncConnection, backup: Backup) -> None:
    """Fill empty tables of the revision of a backup in the open transaction, and let their numbers go on from there."""
    tables = await connection.run_sync(tables_in_order)
    await connection.execute(text("SET LOCAL TimeZone = 'UTC'"))  # as SQLite keeps moments, without saying so
    raw: Any = (await connection.get_raw_connection()).driver_connection
    if backup.embedded:
        await _from_embedded(raw, backup, tables)
    else:
        for table, columns in backup.tables.items():
            async with raw.cursor() as cursor, cursor.copy(f"COPY {with_columns(table, columns)} FROM STDIN") as copy:
                with gzip.open(backup.folder / table_file(table), "rb") as packed:
                    while part := packed.read(_CHUNK):
                        await copy.write(part)
    for table in tables:
        sequence = None
        if "id" in tables[table]:
            sequence = await connection.scalar(text("SELECT pg_get_serial_sequence(:table, 'id')"), {"table": table})
        if sequence is not None:
            last = await connection.scalar(text(f'SELECT max(id) FROM "{table}"'))  # noqa: S608 - a table of ours
            await connection.execute(
                text("SELECT setval(:sequence, :last, :used)"), {"sequence": sequence, "last": last or 1, "used": bool(last)}
            )
    await connection.execute(text("ANALYZE"))


async def _from_embedded(raw: Any, backup: Backup, tables: dict[str, list[str]]) -> None:
    address = f"file:{backup.folder / DATABASE}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as source:
        for table, columns in tables.items():
            named = ", ".join(f'"{column}"' for column in columns)
            async with raw.cursor() as cursor, cursor.copy(f"COPY {with_columns(table, columns)} FROM STDIN") as copy:
                for row in source.execute(f'SELECT {named} FROM "{table}"'):  # noqa: S608 - tables and columns of ours
                    await copy.write_row(row)
