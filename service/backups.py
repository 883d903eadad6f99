"""Backups: a folder with all that the database holds at one moment, the files that people sent, and a manifest to check it by.

    manifest.json         what made it and when, and the size and SHA-256 of every other file
    database.db           of an embedded database: a compact copy of it
    tables/spill.copy.gz  of PostgreSQL: each table as COPY writes it, all from one snapshot
    files/                photos and papers, as in the data folder; seals/ of the cities

It is made while the service goes on, and bears another name until it is whole. The secret key is not in it: it is kept apart.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import IO, Any

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from service import checkpoints, file_store
from service.errors import BadInput, SpillclockError
from service.transaction import House, reading

MANIFEST, DATABASE, TABLES, FILES, SEALS = "manifest.json", "database.db", "tables", "files", "seals"
_FORM = 1
REVISIONS = "alembic_version"
_NAMES_FILES, _DIGESTS = "kept_file", "SELECT DISTINCT digest FROM kept_file ORDER BY digest"
_CHUNK = 1024 * 1024
_PARTIAL = ".partial"
_FIELDS = ("form", "at", "spillclock", "schema", "database", "key", "tables", "missing", "files")


class Damaged(SpillclockError):
    """A backup is not as it was made; `faults` names each file."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup as its manifest tells of it. `at` is the moment (UTC) whose database it holds; `schema` the revision of its tables.

    `tables`: of PostgreSQL, the columns of each table, every table after those that it points to. `missing`: files that the database
    names and the disk had no more. `files`: size and SHA-256 by path. `key`: the public key of the deployment that made it, in hex.
    """

    folder: Path
    at: datetime
    version: str
    schema: str
    embedded: bool
    key: str
    tables: Mapping[str, list[str]]
    files: Mapping[str, tuple[int, str]]
    missing: list[str]

    @property
    def size(self) -> int:
        """How large all of it is, in bytes."""
        return sum(size for size, _ in self.files.values())


# -- making


@dataclass(slots=True)
class _Copied:
    """What was copied of a database: the revision of its tables, their columns, and the digests of the files that it names."""

    schema: str
    tables: dict[str, list[str]] = field(default_factory=dict)
    digests: list[str] = field(default_factory=list)


class _Written:
    """The files of a backup that is being made, each with its size and SHA-256."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, tuple[int, str]] = {}

    def path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def copy(self, source: Path, name: str) -> None:
        copy_file(source, self.path(name))
        self.add(name)

    def add(self, name: str) -> None:
        path = self.folder / name
        self.files[name] = path.stat().st_size, digest_of(path)


async def make(house: House, target: Path) -> Backup:
    """Make a backup in a new folder, of the database as it is: its tables need not be the newest.

    Raises BadInput where `target` is there already or there is no database, OSError where the disk does not take it.
    """
    folder = _begun(target)
    at, written = house.now(), _Written(folder)
    copied = _copy_embedded(house, written) if house.settings.is_embedded else await _copy_tables(house, written)
    missing = _copy_files(house, written, copied.digests)
    for path in sorted((house.settings.home_dir / SEALS).glob("*.*")):
        written.copy(path, f"{SEALS}/{path.name}")
    made = Backup(
        target, at, version("spillclock"), copied.schema, house.settings.is_embedded, checkpoints.public_key(house), copied.tables,
        written.files, missing,
    )  # fmt: skip
    with _new_file(folder / MANIFEST) as file:
        file.write(json.dumps(_told(made), indent=1).encode() + b"\n")
    file_store.sync_folder(folder)
    folder.rename(target)
    file_store.sync_folder(target.parent)
    return made


def _begun(target: Path) -> Path:
    """The folder that becomes the target once the backup is whole, empty."""
    if target.exists():
        right = "a folder that is not there yet, as in backups/2026-12-01"
        raise BadInput("no backup can be made there", [f"TARGET: {target} is there already; right would be: {right}"])
    folder = target.with_name(target.name + _PARTIAL)
    if folder.exists():
        shutil.rmtree(folder)  # left by one that was cut off
    folder.mkdir(parents=True)
    return folder


def _told(backup: Backup) -> dict[str, Any]:
    return {
        "form": _FORM, "at": backup.at.isoformat(), "spillclock": backup.version, "schema": backup.schema,
        "database": "sqlite" if backup.embedded else "postgresql", "key": backup.key, "tables": backup.tables, "missing": backup.missing,
        "files": {name: {"bytes": size, "sha256": digest} for name, (size, digest) in backup.files.items()},
    }  # fmt: skip


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    with path.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def copy_file(source: Path, target: Path) -> None:
    """Copy a file to a name that is not there yet, and wait until it is on the disk."""
    with source.open("rb") as file, _new_file(target) as copy:
        shutil.copyfileobj(file, copy, _CHUNK)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def path_of_embedded(house: House) -> Path:
    """Where the file of an embedded database lies."""
    return Path(house.engine.url.database or "")


def _copy_embedded(house: House, written: _Written) -> _Copied:
    """Copy an embedded database while others write. Freed pages are left out: what was destroyed does not travel in them."""
    source, path = path_of_embedded(house), written.path(DATABASE)
    if not source.exists():
        raise BadInput("there is nothing to back up", [f"there is no database {source}; right would be: the SPILLCLOCK_HOME_DIR of one"])
    with closing(sqlite3.connect(source, timeout=60, isolation_level=None)) as connection:
        connection.execute("VACUUM INTO ?", (str(path),))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # SQLite does not for a file that it made so
    finally:
        os.close(descriptor)
    with closing(sqlite3.connect(path)) as connection:  # the copy: the files that go with it are those that it names
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        copied = _Copied(*connection.execute(f"SELECT version_num FROM {REVISIONS}").fetchone())  # noqa: S608 - a name of our own
        if _NAMES_FILES in names:
            copied.digests = [digest for (digest,) in connection.execute(_DIGESTS)]
    written.add(DATABASE)
    return copied


async def _copy_tables(house: House, written: _Written) -> _Copied:
    """Copy every table of PostgreSQL, all as of one moment."""
    async with reading(house) as tx:
        for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):  # a large table takes its time
            await tx.session.execute(text(f"SET LOCAL {limit} = 0"))
        try:
            copied = _Copied(str(await tx.session.scalar(text(f"SELECT version_num FROM {REVISIONS}"))))  # noqa: S608 - as above
        except DBAPIError as error:
            raise BadInput(
                "there is nothing to back up", ["the database holds no tables of ours; right would be: that of a service"]
            ) from error
        connection = await tx.session.connection()
        copied.tables = await connection.run_sync(tables_in_order)
        if _NAMES_FILES in copied.tables:
            copied.digests = list((await tx.session.execute(text(_DIGESTS))).scalars())
        raw: Any = (await connection.get_raw_connection()).driver_connection
        for table, columns in copied.tables.items():
            name = table_file(table)
            with _new_file(written.path(name)) as file, gzip.GzipFile("", "wb", 3, file, mtime=0) as packed:
                async with raw.cursor() as cursor, cursor.copy(f"COPY {with_columns(table, columns)} TO STDOUT") as copy:
                    async for part in copy:
                        packed.write(part)
            written.add(name)
    return copied


def tables_in_order(connection: Connection) -> dict[str, list[str]]:
    """The columns of every table of ours that is there, each table after those that it points to."""
    inspector = inspect(connection)
    names = [name for name, _ in inspector.get_sorted_table_and_fkc_names() if name and name != REVISIONS]
    return {name: [column["name"] for column in inspector.get_columns(name)] for name in names}


def table_file(table: str) -> str:
    """The file of a backup that holds a table."""
    return f"{TABLES}/{table}.copy.gz"


def with_columns(table: str, columns: Iterable[str]) -> str:
    """A table with its columns, as SQL names them."""
    named = ", ".join(f'"{column}"' for column in columns)
    return f'"{table}" ({named})'


def _copy_files(house: House, written: _Written, digests: Iterable[str]) -> list[str]:
    """Copy the files that people sent, with the copies shown of them. Returns the digests of those that are not there, or no more whole.

    A file is on the disk before a record names it, and never changes: what is copied after the database holds everything that it names.
    """
    home, missing = house.settings.home_dir, []
    for digest in digests:
        try:
            for path in file_store.paths_of(house.settings.files_path, digest):
                written.copy(path, str(PurePosixPath(path.relative_to(home))))
        except FileNotFoundError:
            missing.append(digest)
            continue
        if written.files[str(PurePosixPath(file_store.path_of(house.settings.files_path, digest).relative_to(home)))][1] != digest:
            missing.append(digest)
    return missing


# -- reading


def read(folder: Path) -> Backup:
    """A backup by its manifest. Raises BadInput where there is none or it is of a form that this version does not know."""
    right = "a folder that `spillclock backup` made"
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput("there is no backup", [f"SOURCE: {folder / MANIFEST} cannot be read: {error}; right would be: {right}"]) from None
    if not isinstance(told, dict) or told.get("form") != _FORM or not all(name in told for name in _FIELDS):
        raise BadInput(
            "there is no backup", [f"SOURCE: {folder / MANIFEST} is of a form that this version does not know; right would be: {right}"]
        )
    files = {name: (one["bytes"], one["sha256"]) for name, one in told["files"].items()}
    return Backup(
        folder, datetime.fromisoformat(told["at"]), told["spillclock"], told["schema"], told["database"] == "sqlite", told["key"],
        told["tables"], files, told["missing"],
    )  # fmt: skip


def check(backup: Backup) -> None:
    """Hold every file of a backup to its manifest. Raises Damaged with each that is not as it was made."""
    faults = []
    for name, (size, digest) in backup.files.items():
        path = backup.folder / name
        if ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
            faults.append(f"{name}: it lies outside the backup")
        elif not path.is_file():
            faults.append(f"{name}: it is missing")
        elif path.stat().st_size != size or digest_of(path) != digest:
            faults.append(f"{name}: it is not what was written: its SHA-256 is another")
    wanted = [DATABASE] if backup.embedded else [table_file(table) for table in backup.tables]
    faults += [f"{name}: the manifest does not name it" for name in wanted if name not in backup.files]
    if faults:
        raise Damaged(f"the backup {backup.folder} is damaged, and nothing was changed: {'; '.join(faults[:20])}", faults)
