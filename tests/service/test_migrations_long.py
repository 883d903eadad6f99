"""A database with a whole life in it, taken down to each earlier revision and brought up from there, on both databases."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic import command

from notifiers import Channel, FileChannel
from service import board, wiring
from service.audit import walk
from service.settings import Settings
from service.transaction import House, open_engine, reading
from service.worker import Worker
from tests.e2e.database_server import a_server
from tests.houses import Clock, Household, a_house
from tests.service.lived import live
from tests.service.test_migrations import ask, migrate

REVISIONS = sorted(path.name[:4] for path in (Path(wiring.__file__).parent / "migrations" / "versions").glob("[0-9]*.py"))
# What every revision has, and none may lose. Letters about accounts and news for subscribers go with the revisions that brought them.
KEPT = {
    "spill": "SELECT reference, city, description, received_at FROM spill ORDER BY id",
    "event": "SELECT id, spill_id, kind, happened_at, recorded_at FROM event ORDER BY id",
    "obligation": "SELECT duty, occurrence, state, due_at, next_at FROM obligation ORDER BY id",
    "message": "SELECT id, once, channel, address, text, state, tries FROM message"
    " WHERE role NOT IN ('account', 'public', 'subscriber', 'reporter') ORDER BY id",
    "attempt": "SELECT message_id, number, outcome, may_be_double FROM attempt JOIN message ON message.id = message_id"
    " WHERE role NOT IN ('account', 'public', 'subscriber', 'reporter') ORDER BY attempt.id",
    "contact": "SELECT city, role, name, email FROM contact ORDER BY id",
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_server() as url:
        yield url


class Shelf:
    """Where a database stands, and copies of it."""

    def __init__(self, folder: Path, server: str | None) -> None:
        self.folder = folder
        self.server = server

    def url(self, name: str) -> str:
        """The address of a database as the setting takes it; nothing for the file in the data folder."""
        return f"{self.server.rpartition('/')[0]}/{name}" if self.server else ""

    def home(self, name: str) -> Path:
        """The data folder of a database."""
        (self.folder / name).mkdir(exist_ok=True)
        return self.folder / name

    def settings(self, name: str) -> Settings:
        """The settings of a database."""
        return Settings(home_dir=self.home(name), database_url=self.url(name), secret_key="made up for tests, long enough")  # type: ignore[arg-type]

    def make(self, name: str, of: str | None = None) -> None:
        """Make a database, empty or as a copy of another that nobody has open."""
        if self.server is None:
            if of is not None:
                shutil.copy(self.home(of) / "spillclock.db", self.home(name) / "spillclock.db")
            return
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} {f'TEMPLATE {of}' if of else ''}".encode())


@pytest.fixture(params=["sqlite", "postgresql"])
async def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    """A shelf with a database on it in which a spill lived its whole life."""
    made = Shelf(tmp_path, request.getfixturevalue("server") if request.param == "postgresql" else None)
    made.make("life")
    clock = Clock()
    house = a_house(made.home("life"), clock, database_url=made.url("life"))
    channels: dict[str, Channel] = {name: FileChannel(house.settings.outbox_path, name) for name in ("email", "sms")}
    home = Household(house, clock, channels, Worker(house, channels, "test worker"))
    try:
        await wiring.migrate(house)
        await live(home)
        await home.work()
    finally:
        await home.close()
    return made


async def kept(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    """What is in the tables that no revision may lose."""
    engine = open_engine(settings, foreign_keys=False)
    try:
        return {table: await ask(engine, query) for table, query in KEPT.items()}
    finally:
        await engine.dispose()


async def moved(settings: Settings, to: str) -> None:
    """Take a database down to a revision."""
    engine = open_engine(settings, foreign_keys=False)
    try:
        await migrate(engine, command.downgrade, to)
    finally:
        await engine.dispose()


async def comes_up(shelf: Shelf, name: str) -> House:
    """Bring a database to the newest tables, as every start does."""
    house = a_house(shelf.home(name), Clock(), database_url=shelf.url(name))
    await wiring.migrate(house)
    return house


@pytest.mark.timeout(600)
async def test_a_life_survives_the_way_down_to_every_revision_and_up_again(shelf: Shelf) -> None:
    before = await kept(shelf.settings("life"))
    assert all(before.values()), "hardly a life"
    for revision in reversed(REVISIONS[:-1]):
        await moved(shelf.settings("life"), revision)
        name = f"from_{revision}"
        shelf.make(name, "life")
        house = await comes_up(shelf, name)
        try:
            async with reading(house) as tx:
                broken = [str(one.broken) for one in [one async for one in walk(tx)] if one.broken]
                assert broken == [], revision
            await board.bring_up_to_date(house)
        finally:
            await house.engine.dispose()
        after = await kept(shelf.settings(name))
        for table, rows in before.items():
            assert after[table] == rows, f"{table}, up from {revision}"
