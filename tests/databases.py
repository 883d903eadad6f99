"""Which database the households of a test session stand on.

SQLite, each in a file of its own; with SPILLCLOCK_TESTS_DATABASE=postgresql a PostgreSQL server of the session's own, each in a database
that begins as a copy of one with its tables made.
"""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from tests.e2e.database_server import a_server

ON_POSTGRESQL = os.environ.get("SPILLCLOCK_TESTS_DATABASE") == "postgresql"
_TEMPLATE = "spillclock_template"
_names: dict[Path, str] = {}


@cache
def _server() -> str:
    """The address of the session's server, started for the first that asks and stopped with the process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(a_server())


def url_of(folder: Path) -> str:
    """The database of a household in `folder`, as the setting takes it; nothing for the file that it has by itself."""
    if not ON_POSTGRESQL:
        return ""
    name = _names.setdefault(folder, f"home_{len(_names) + 1}")
    return f"{_server().rpartition('/')[0]}/{name}"


def template_url() -> str:
    """The database that the others are copies of, made empty."""
    _run(f'CREATE DATABASE "{_TEMPLATE}"')
    return f"{_server().rpartition('/')[0]}/{_TEMPLATE}"


def make(url: str) -> None:
    """Make the database of a household with its tables, where it is not there already."""
    name = url.rpartition("/")[2]
    if not _run("SELECT 1 FROM pg_database WHERE datname = %s", name):
        _run(f'CREATE DATABASE "{name}" TEMPLATE "{_TEMPLATE}"')


def _run(statement: str, *values: Any) -> list[Any]:
    import psycopg

    with psycopg.connect(_server(), autocommit=True) as connection:
        answer = connection.execute(statement, values or None)
        return answer.fetchall() if answer.description else []
