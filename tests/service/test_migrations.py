"""The migrations, up and down with data in the tables, on both databases; at the end the tables are those that the program knows."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import JSON, Connection, bindparam, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlmodel import SQLModel

from service import wiring
from service.audit import walk
from service.settings import Settings
from service.spill_search import is_of_the_index
from service.transaction import House, Transaction, open_engine
from tests.e2e.database_server import a_server

SPILL = """INSERT INTO spill (id, reference, city, received_at, description, address, facts, flags, reporter, discharger, language,
    assess_tries, link_version) VALUES (1, 'SP-2026-00001', 'chino', '2026-12-01 00:00:00', 'x', 'y', '{}', '[]', '{}', '{}', 'en', 0, 1)"""
CLOCK = """INSERT INTO obligation (id, spill_id, duty, event_no, occurrence, state, clock, act, content, ladder, reason, overdue_noted,
    plan_no) VALUES (1, 1, 'chino/x', -1, 0, 'running', '{}', 'notice', '{}', '[]', '', false, 1)"""
MERGED = "UPDATE spill SET merged_into = 1, officer = 'ann@chino.example'"
OF_MERGED = """INSERT INTO obligation (id, spill_id, duty, event_no, occurrence, state, clock, act, content, ladder, reason, overdue_noted,
    plan_no) VALUES (2, 1, 'chino/x', -7, 0, 'running', '{}', 'order', '{}', '[]', '', false, 1)"""
EVENT = """INSERT INTO event (id, spill_id, kind, payload, actor, happened_at, recorded_at)
    VALUES (1, 1, 'report:received', '{}', 'public', '2026-12-01 00:00:00', '2026-12-01 00:00:00')"""
ENTRY = """INSERT INTO closures (city, day, kind, name, source, added_by, added_at, reason)
    VALUES ('chino', '2026-12-04', 'closed', 'Furlough', 'Resolution 2026-14', 'm', '2026-12-01 00:00:00', '')"""
TAKEN_OUT = "UPDATE closures SET removed_by = 'm', removed_at = '2026-12-02 00:00:00', reason = 'put off' WHERE removed_at IS NULL"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    given = {"database_url": request.getfixturevalue("server")} if request.param == "postgresql" else {}
    engine = open_engine(Settings(home_dir=tmp_path, **given), foreign_keys=False)
    try:
        yield engine
        if given:
            async with engine.begin() as connection:
                await connection.execute(text("DROP SCHEMA public CASCADE"))
                await connection.execute(text("CREATE SCHEMA public"))
    finally:
        await engine.dispose()


async def migrate(database: AsyncEngine, move: Callable[[Config, str], None], revision: str) -> None:
    def run(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(Path(wiring.__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        move(config, revision)

    async with database.begin() as connection:
        await connection.run_sync(run)


async def ask(database: AsyncEngine, *statements: str) -> list[tuple[Any, ...]]:
    async with database.begin() as connection:
        for statement in statements:
            answer = await connection.execute(text(statement))
        return [tuple(row) for row in answer] if answer.returns_rows else []


async def test_the_tables_change_and_change_back_with_everything_in_them(database: AsyncEngine) -> None:
    await migrate(database, command.upgrade, "0001")
    await ask(database, SPILL, CLOCK, EVENT)
    await migrate(database, command.upgrade, "0002")
    assert str(await ask(database, "SELECT strip FROM obligation")) in ("[('[]',)]", "[([],)]")
    await ask(database, ENTRY, TAKEN_OUT, ENTRY)
    await migrate(database, command.downgrade, "0001")
    assert await ask(database, "SELECT duty, state FROM obligation") == [("chino/x", "running")]
    await migrate(database, command.upgrade, "head")
    await ask(database, MERGED, OF_MERGED)
    await migrate(database, command.downgrade, "0006")
    assert await ask(database, "SELECT state FROM obligation ORDER BY id") == [("running",), ("withdrawn",)]
    await migrate(database, command.upgrade, "head")
    assert await ask(database, "SELECT merged_into, officer FROM spill") == [(None, "")]
    await ask(database, ENTRY)
    assert await ask(database, "SELECT reference FROM spill") == [("SP-2026-00001",)]
    with pytest.raises(DBAPIError, match="events are only added"):
        await ask(database, "DELETE FROM event")


LETTER = """INSERT INTO message (id, once, account_id, climb, person, role, channel, address, subject, text, step, reason, rank, sort_at,
    state, promised_at, give_up_at, tries) VALUES ('m', 'm', 1, '', 'a', 'account', 'email', 'a@b.example', '', '', 'account link', '', 0,
    '2026-12-01 00:00:00', 'accepted', '2026-12-01 00:00:00', '2026-12-02 00:00:00', 1)"""
OF_LETTER = (
    "INSERT INTO account (id, email, created_at) VALUES (1, 'a@b.example', '2026-12-01 00:00:00')", LETTER,
    """INSERT INTO attempt (message_id, number, worker, started_at, detail, may_be_double)
    VALUES ('m', 1, 'w', '2026-12-01 00:00:00', '', false)""",
    """INSERT INTO suppression (channel, address, reason, detail, since, message_id)
    VALUES ('email', 'a@b.example', 'bounced', '', '2026-12-01 00:00:00', 'm')""",
    """INSERT INTO passkey (account_id, key_id, public_key, handle, name, made_at)
    VALUES (1, 'k', 'p', 'h', 'phone', '2026-12-01 00:00:00')""",
)  # fmt: skip


async def test_letters_about_accounts_go_with_the_way_in_that_sends_them(database: AsyncEngine) -> None:
    await migrate(database, command.upgrade, "head")
    await ask(database, *OF_LETTER)
    [entrance] = (Path(wiring.__file__).parent / "migrations" / "versions").glob("*_entrance.py")
    await migrate(database, command.downgrade, f"{int(entrance.name[:4]) - 1:04}")
    assert await ask(database, "SELECT count(*) FROM message") == await ask(database, "SELECT count(*) FROM attempt") == [(0,)]
    assert await ask(database, "SELECT address, message_id FROM suppression") == [("a@b.example", None)]
    await migrate(database, command.upgrade, "head")
    assert await ask(database, "SELECT count(*) FROM passkey") == [(0,)]


async def test_the_newest_tables_are_those_that_the_program_knows(database: AsyncEngine) -> None:
    await migrate(database, command.upgrade, "head")

    def differences(connection: Connection) -> list[Any]:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_name": lambda name, *_: not is_of_the_index(name)}
        )
        return list(compare_metadata(context, SQLModel.metadata))

    async with database.connect() as connection:
        assert await connection.run_sync(differences) == []


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM closures",
        "UPDATE closures SET source = 'another'",
        "UPDATE closures SET day = '2026-12-05'",
        "UPDATE closures SET removed_at = NULL, removed_by = NULL",
        "UPDATE closures SET reason = 'another' WHERE removed_at IS NOT NULL",
    ],
)
async def test_no_entry_of_a_calendar_is_deleted_or_rewritten(database: AsyncEngine, change: str) -> None:
    await migrate(database, command.upgrade, "head")
    await ask(database, ENTRY, TAKEN_OUT, ENTRY)
    with pytest.raises(DBAPIError, match="entries of a calendar are"):
        await ask(database, change)


async def test_a_day_has_one_entry_in_effect(database: AsyncEngine) -> None:
    await migrate(database, command.upgrade, "head")
    await ask(database, ENTRY, TAKEN_OUT, ENTRY)
    with pytest.raises(DBAPIError, match=r"UNIQUE|uq_closures_in_effect"):
        await ask(database, ENTRY)


async def test_the_one_role_of_an_account_becomes_the_first_of_several_and_back(database: AsyncEngine) -> None:
    await migrate(database, command.upgrade, "0006")
    added = "INSERT INTO account (id, email, role, city, created_at) VALUES"
    await ask(
        database, f"{added} (1, 'a@x.example', 'administrator', NULL, '2026-12-01'), (2, 'b@x.example', 'officer', 'chino', '2026-12-01')"
    )
    await migrate(database, command.upgrade, "head")
    roles = "SELECT account_id, city, role FROM account_role ORDER BY account_id, city"
    assert await ask(database, roles) == [(1, None, "administrator"), (2, "chino", "officer")]
    given = "INSERT INTO account_role (account_id, city, role) VALUES"
    for again in ("(1, NULL, 'viewer')", "(2, 'chino', 'viewer')"):
        with pytest.raises(DBAPIError, match=r"UNIQUE|uq_account_role"):
            await ask(database, f"{given} {again}")
    await ask(database, f"{given} (2, 'ontario', 'viewer')")
    await migrate(database, command.downgrade, "0006")
    assert await ask(database, "SELECT role, city FROM account ORDER BY id") == [("administrator", None), ("viewer", "ontario")]


ELSEWHERE = SPILL.replace("VALUES (1, 'SP-2026-00001', 'chino'", "VALUES (2, 'SP-2026-00002', 'ontario'")
# Number, spill, kind, what it says, who did it.
HAPPENED: list[tuple[int, int, str, dict[str, Any], str]] = [
    (1, 1, "report:received", {"raw": {"description": "Quillon did it – ñ"}, "by_way_of": "api", "flags": []}, "public"),
    (2, 1, "facts:recorded", {"changes": {"jurisdiction": [None, "chino"]}, "reason": "the report as it came", "sources": {}}, "public"),
    (4, 1, "act:recorded", {"act": {"type": "repaired", "at": "2026-12-01T00:00:00Z"}, "note": ""}, "Quillon, discharger of SP-2026-00001"),
    (5, 2, "report:received", {"raw": None, "by_way_of": "api", "flags": []}, "public"),
    (
        7,
        1,
        "facts:recorded",
        {"changes": {"jurisdiction": ["chino", "ontario"], "volume": [None, 1.5e21]}, "reason": "", "sources": {}},
        "a@b.example",
    ),
    (8, 1, "obligation:overdue", {"obligation": 1, "duty": "x", "due_at": "2026-12-01T00:00:00Z"}, "spillclock"),
]


async def test_events_that_were_there_are_sealed_and_chained_and_put_back(database: AsyncEngine) -> None:
    await migrate(database, command.upgrade, "0012")
    await ask(database, SPILL, ELSEWHERE)
    put = text(
        "INSERT INTO event (id, spill_id, kind, payload, actor, happened_at, recorded_at)"
        " VALUES (:id, :spill, :kind, :payload, :actor, '2026-12-01 00:00:00', '2026-12-01 00:00:00.000001')"
    ).bindparams(bindparam("payload", type_=JSON))
    async with database.begin() as connection:
        for number, spill, kind, payload, actor in HAPPENED:
            await connection.execute(put, {"id": number, "spill": spill, "kind": kind, "payload": payload, "actor": actor})
    await migrate(database, command.upgrade, "head")
    assert await ask(database, "SELECT event_id, chain, number FROM chain_record ORDER BY event_id") == [
        (1, "no city", 1), (2, "no city", 2), (4, "chino", 1), (5, "no city", 3), (7, "chino", 2), (8, "ontario", 1),
    ]  # fmt: skip
    assert "Quillon" not in str(await ask(database, "SELECT CAST(payload AS TEXT), actor FROM event"))
    async with AsyncSession(database) as session:
        tx = Transaction(cast(House, None), session, datetime(2026, 12, 1, tzinfo=UTC), "auditor", writes=False)
        found = [one async for one in walk(tx)]
    assert [(one.chain, one.number, one.broken) for one in found] == [("chino", 2, None), ("no city", 3, None), ("ontario", 1, None)]
    await migrate(database, command.downgrade, "0012")
    rows = await ask(database, "SELECT id, spill_id, kind, CAST(payload AS TEXT), actor FROM event ORDER BY id")
    assert [(number, spill, kind, json.loads(payload), actor) for number, spill, kind, payload, actor in rows] == HAPPENED
    with pytest.raises(DBAPIError, match="events are only added"):
        await ask(database, "UPDATE event SET actor = 'nobody'")
