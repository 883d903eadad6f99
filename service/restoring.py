"""Putting a backup back: beside what is there, made ready and checked, and then in its place in one step.

A backup knows nothing of what was sent since. What is due in it may have gone out, so it is dealt with as what a worker claimed and did
not answer for: it goes out marked as possibly double, or, where the operator says so, not at all. docs/decisions/0025 has the reasons.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import inspect, text, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import SQLModel, col

from service import backups, checkpoints, file_store, possibly_sent, programs, spills, staff_log, table_copies, wiring
from service.audit import walk
from service.backups import Backup
from service.errors import BadInput, Conflict
from service.settings import Settings
from service.tables import Credential
from service.transaction import House, open_engine, reading, transaction

_BESIDE = "spillclock_restoring"
# New spills are numbered from the next full thousand but one: the numbers between may stand in letters and links that are out.
_GAP = 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the operator said: whether it takes the place of what is there, and what becomes of messages that may have gone out.

    `leave_until` (UTC): those in the backup that were due by then are not sent; None: all are sent again.
    """

    replaces: bool
    leave_until: datetime | None = None


_Into = Callable[[], Awaitable[str]]


async def restore(house: House, source: Path, wanted: Wanted) -> AsyncIterator[str]:
    """Put a backup in the place of the database of a house. A line for each thing worth knowing; WRONG begins one about a broken record.

    Raises BadInput where there is no backup or its tables are newer than this version, Damaged, Conflict where something is there
    already or at work. Until its last step nothing is changed but files that were missing.
    """
    backup = backups.read(source)
    _check_schema(backup)
    backups.check(backup)
    yield f"backup of {backup.at:%Y-%m-%d %H:%M:%S} UTC, made by {backup.version}: {len(backup.files)} files as they were written"
    with ExitStack() as stack:
        if house.settings.is_embedded:
            stack.enter_context(programs.alone(house.settings))
        place = _embedded if house.settings.is_embedded else _in_server
        async with place(house, backup, wanted.replaces) as (made, into):
            await wiring.migrate(made)
            found = await possibly_sent.settle(made, wanted.leave_until)
            first = await _note(made, backup, wanted, found)
            for line in _warnings(house, backup):
                yield line
            async with reading(made) as tx:
                async for walked in walk(tx):
                    whole = f"ok     {walked.chain}: {walked.number} records, the last with the hash {walked.hash}"
                    yield whole if walked.broken is None else f"WRONG  {walked.broken}"
            _put_files(house.settings, backup)
            yield await into()
    yield f"new spills are numbered from {first:05d} on; everybody has to sign in anew"
    yield f"{found.again} messages may have gone out since the backup: they go out again, each marked; {found.left} are left unsent"


def _check_schema(backup: Backup) -> None:
    known = wiring.known_revisions()
    if backup.schema not in known:
        cure = f"right would be: Spillclock {backup.version} or newer; this one knows tables up to {known[-1]}"
        raise BadInput("the backup is newer than this version", [f"SOURCE: its tables are those of revision {backup.schema}; {cure}"])


async def _note(house: House, backup: Backup, wanted: Wanted, found: possibly_sent.Found) -> int:
    """Note in the log of staff what was done, end every session, and leave numbers out. Returns the number of the next new spill."""
    async with transaction(house, "command line") as tx:
        first = (await spills.last_number(tx) // _GAP + 2) * _GAP
        await spills.go_on_from(tx, first)
        open_ones = (col(Credential.purpose).in_(("session", "half")), col(Credential.used_at).is_(None))
        await tx.session.execute(update(Credential).where(*open_ones).values(used_at=tx.now))  # some were signed out since
        said: dict[str, Any] = {
            "backup_of": backup.at.isoformat(),
            "made_by": backup.version,
            "sent_again": found.again,
            "left_unsent": found.left,
        }
        if wanted.leave_until is not None:
            said["left_until"] = wanted.leave_until.isoformat()
        await staff_log.note(tx, "backup:restored", numbered_from=first, **said)
    return first


def _warnings(house: House, backup: Backup) -> list[str]:
    lines = [f"WARN   the file {digest} was not whole when the backup was made" for digest in backup.missing]
    if checkpoints.public_key(house) != backup.key:
        cure = "put its secret.key (or SPILLCLOCK_SECRET_KEY) back before anything goes out"
        lines.append(f"WARN   the secret key is not that of the backup: private links that are out will not open; {cure}")
    return lines


# -- where it is made ready


def _taken(what: str) -> Conflict:
    return Conflict(f"{what}; nothing was changed; right would be: another one, or --replace, which keeps what is there beside the new")


@asynccontextmanager
async def _embedded(house: House, backup: Backup, replaces: bool) -> AsyncIterator[tuple[House, _Into]]:
    if not backup.embedded:
        right = "right would be: SPILLCLOCK_DATABASE_URL=postgresql://..., or a backup of SQLite"
        raise BadInput("the backup is one of PostgreSQL", [f"SPILLCLOCK_DATABASE_URL: it is that of SQLite; {right}"])
    path = backups.path_of_embedded(house)
    if path.exists() and not replaces:
        raise _taken(f"there is a database {path} already")
    beside = path.with_name(f"{path.name}.restoring")
    for name in _with_companions(beside):
        name.unlink(missing_ok=True)  # left by a restore that was cut off
    backups.copy_file(backup.folder / backups.DATABASE, beside)
    own = house.settings.model_copy(update={"database_url": f"sqlite:///{beside}"})
    made = replace(house, settings=own, engine=open_engine(own))

    async def into() -> str:
        await made.engine.dispose()  # the last connection to close brings its log into the file
        kept = path.with_name(f"{path.name}.before-{house.now():%Y%m%dT%H%M%S}")
        moved = [(old, new) for old, new in zip(_with_companions(path), _with_companions(kept), strict=True) if old.exists()]
        for old, new in moved:
            old.rename(new)
        beside.rename(path)
        file_store.sync_folder(path.parent)
        return f"{path} is in place" + (f"; what was there is {kept}" if moved else "")

    try:
        yield made, into
    finally:
        await made.engine.dispose()
        for name in _with_companions(beside):
            name.unlink(missing_ok=True)


def _with_companions(path: Path) -> list[Path]:
    return [path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")]


@asynccontextmanager
async def _in_server(house: House, backup: Backup, replaces: bool) -> AsyncIterator[tuple[House, _Into]]:
    ours = {*SQLModel.metadata.tables, *backup.tables, backups.REVISIONS}
    async with house.engine.begin() as connection:
        await _check_server(connection, ours, replaces)
        await connection.execute(text(f"DROP SCHEMA IF EXISTS {_BESIDE} CASCADE"))  # left by a restore that was cut off
        await connection.execute(text(f"CREATE SCHEMA {_BESIDE}"))
    made = replace(house, engine=open_engine(house.settings, schema=_BESIDE))

    async def into() -> str:
        await made.engine.dispose()
        kept = f"before_{house.now():%Y%m%dt%H%M%S}"
        async with house.engine.begin() as connection:
            await _check_server(connection, ours, replaces)
            schema = str(await connection.scalar(text("SELECT current_schema()")))
            there = [name for name in await _tables(connection) if name in ours]
            if there:
                await connection.execute(text(f"CREATE SCHEMA {kept}"))
                await _move(connection, there, schema, kept)
            await _move(connection, await _tables(connection, _BESIDE), _BESIDE, schema)
            await connection.execute(text(f"DROP SCHEMA {_BESIDE}"))
        return f"the tables are in place in the schema {schema}" + (f"; what was there is in the schema {kept}" if there else "")

    try:
        async with made.engine.begin() as connection:
            await connection.execute(text("SET LOCAL statement_timeout = 0"))
            await connection.run_sync(wiring.upgrade, backup.schema)
            await table_copies.fill(connection, backup)
            await connection.run_sync(wiring.upgrade)
        yield made, into
    finally:
        await made.engine.dispose()
        async with house.engine.begin() as connection:
            await connection.execute(text(f"DROP SCHEMA IF EXISTS {_BESIDE} CASCADE"))


async def _check_server(connection: AsyncConnection, ours: Iterable[str], replaces: bool) -> None:
    """Raises Conflict where a process of ours works on the database, or its tables are there and not to be replaced."""
    at_work = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'spillclock'"
        " AND pid <> pg_backend_pid()"
    )
    if others := await connection.scalar(at_work):
        raise Conflict(f"{others} connections of web or worker processes are open to this database; stop them first; nothing was changed")
    if not replaces and set(await _tables(connection)) & set(ours):
        raise _taken("the database holds tables of ours already")


async def _tables(connection: AsyncConnection, schema: str | None = None) -> list[str]:
    return await connection.run_sync(lambda plain: inspect(plain).get_table_names(schema))


async def _move(connection: AsyncConnection, tables: Iterable[str], source: str, target: str) -> None:
    """Move tables with their indexes, sequences and the functions of their triggers to another schema."""
    functions = text(
        "SELECT DISTINCT tgfoid::regprocedure::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
        " WHERE NOT tgisinternal AND relnamespace = CAST(:source AS regnamespace) AND relname = ANY(:tables)"
    )
    names = list(tables)
    for function in (await connection.execute(functions, {"source": source, "tables": names})).scalars().all():
        await connection.execute(text(f"ALTER FUNCTION {function} SET SCHEMA {target}"))
    for name in names:
        await connection.execute(text(f'ALTER TABLE "{source}"."{name}" SET SCHEMA "{target}"'))


def _put_files(settings: Settings, backup: Backup) -> None:
    """Put back the files that are not there. One that is there under its SHA-256 is the same."""
    for name in backup.files:
        if name.partition("/")[0] in (backups.FILES, backups.SEALS) and not (target := settings.home_dir / name).exists():
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft = target.with_name(f"{target.name}.restoring")
            draft.unlink(missing_ok=True)
            backups.copy_file(backup.folder / name, draft)
            draft.rename(target)
