"""The driver of the embedded database: aiosqlite by SQLAlchemy, without its trips to another thread for what takes microseconds.

SQLite answers most statements in some fifty microseconds; a trip to the connection's thread and back costs several times that, and
aiosqlite makes four of them for each (open a cursor, execute, fetch, close). With over a hundred statements a report, they were most of
what it cost.
So what is short by its nature runs where it is asked for, and what may take long goes to the thread, in one trip:

- a question runs here for as long as `_BUDGET` steps of SQLite's machine, some milliseconds, and is asked anew in the thread if that was
  not enough: a question changes nothing, so asking twice is harmless;
- what inserts rows by their values, or changes or removes rows by their number, runs here;
- everything else goes to the thread: waiting for the one writer (BEGIN IMMEDIATE), the disk (COMMIT), statements over whole tables, and
  streams, which stay aiosqlite's.

The connection is used by one thread at a time: nothing runs here while the thread has anything of that connection to do, which can be only
after a task was cancelled in the middle of a trip.
"""

from __future__ import annotations

import re
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy.connectors.asyncio import AsyncAdapt_dbapi_cursor
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_connection, AsyncAdapt_aiosqlite_dbapi
from sqlalchemy.util.concurrency import await_

# Steps of SQLite's machine that a question may take on the event loop: one to two milliseconds.
_BUDGET = 20_000
# Rows of values that are put in on the event loop; more of them go to the thread.
_FEW = 500
_QUESTION, _BEGINS_TO_READ, _BY_VALUES, _LONG = "question", "begins to read", "by values", "long"
_INSERTS = re.compile(r"INSERT (OR \w+ )?INTO \S+ (\([^()]*\) )?(DEFAULT )?VALUES", re.IGNORECASE)
_ONE_ROW = re.compile(r"(UPDATE|DELETE) .* WHERE \w+\.\w*id = \?$", re.IGNORECASE | re.DOTALL)

_Answer = tuple[Any, Sequence[Any], int, int | None]
_T = TypeVar("_T")
_Trip = Callable[[sqlite3.Connection, str, Any], _Answer]


@lru_cache(maxsize=5_000)
def _nature(statement: str) -> str:
    """How long a statement can take, by its shape."""
    if statement.startswith("SELECT"):
        return _QUESTION
    if statement == "BEGIN DEFERRED":  # which takes no lock
        return _BEGINS_TO_READ
    return _BY_VALUES if _INSERTS.match(statement) or _ONE_ROW.match(statement) else _LONG


def _executed(connection: sqlite3.Connection, statement: str, parameters: Any) -> _Answer:
    return _answer(connection.execute(statement, parameters))


def _executed_many(connection: sqlite3.Connection, statement: str, parameters: Any) -> _Answer:
    return _answer(connection.executemany(statement, parameters))


def _answer(cursor: sqlite3.Cursor) -> _Answer:
    rows = cursor.fetchall() if cursor.description else ()
    answer = cursor.description, rows, cursor.rowcount, cursor.lastrowid
    cursor.close()
    return answer


def _executed_within_budget(connection: sqlite3.Connection, statement: str, parameters: Any) -> _Answer | None:
    """The answer to a question; None where it takes longer."""
    connection.set_progress_handler(_stop, _BUDGET)
    try:
        return _executed(connection, statement, parameters)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return None
    finally:
        connection.set_progress_handler(None, 0)


def _stop() -> int:
    return 1


class _Cursor(AsyncAdapt_dbapi_cursor):
    """A cursor with nothing behind it: what a statement answers is fetched whole as it is executed."""

    __slots__ = ("_columns", "_last_id", "_many")
    _adapt_connection: _Connection
    arraysize = 1  # rows of fetchmany(), where it is not told

    def __init__(self, adapt_connection: _Connection) -> None:
        self._adapt_connection = adapt_connection
        self._rows = deque()
        self._columns: Any = None
        self._many: int = -1
        self._last_id: Any = None

    @property
    def description(self) -> Any:
        return self._columns

    @property
    def rowcount(self) -> int:
        return self._many

    @property
    def lastrowid(self) -> Any:
        return self._last_id

    def execute(self, operation: Any, parameters: Any = None) -> Any:
        self._take(_executed, operation, () if parameters is None else parameters, rows=1)

    def executemany(self, operation: Any, seq_of_parameters: Any) -> Any:
        self._take(_executed_many, operation, seq_of_parameters, rows=len(seq_of_parameters))

    def _take(self, trip: _Trip, statement: str, parameters: Any, rows: int) -> None:
        try:
            answer = await_(self._adapt_connection.answer(trip, statement, parameters, rows))
        except Exception as error:  # house-skip: swallowed - SQLAlchemy raises it as one of its own
            self._adapt_connection._handle_exception(error)
        self._columns, found, self._many, self._last_id = answer
        self._rows = deque(found)

    def close(self) -> None:
        self._rows.clear()

    async def _async_soft_close(self) -> None:
        """Nothing is open."""


class _Connection(AsyncAdapt_aiosqlite_connection):
    __slots__ = ("_only_reads", "_trips")
    _cursor_cls = _Cursor  # type: ignore[assignment]  # as far as SQLAlchemy uses a cursor, this is one
    _connection: Any  # aiosqlite's; what it hands to its thread has no public name

    def __init__(self, dbapi: Any, connection: Any) -> None:
        super().__init__(dbapi, connection)
        self._trips = 0  # of this connection that its thread has not ended
        self._only_reads = False  # since this transaction began

    async def answer(self, trip: _Trip, statement: str, parameters: Any, rows: int) -> _Answer:
        """What the database answers, from here or from the thread."""
        nature = _nature(statement)
        if nature is not _QUESTION:
            self._only_reads = nature is _BEGINS_TO_READ
        if nature is not _LONG and rows <= _FEW and self._is_free():
            bare: sqlite3.Connection = self._connection._conn
            if nature is not _QUESTION:
                return trip(bare, statement, parameters)
            if (answer := _executed_within_budget(bare, statement, parameters)) is not None:
                return answer
        return await self._in_the_thread(lambda: trip(self._connection._conn, statement, parameters))

    def commit(self) -> None:
        self._end(sqlite3.Connection.commit)

    def rollback(self) -> None:
        if not self._connection._connection:  # closed, as SQLAlchemy's own has it
            return
        if self._is_free() and (self._only_reads or not self._connection._conn.in_transaction):
            self._connection._conn.rollback()  # nothing is to be undone on the disk
        else:
            self._end(sqlite3.Connection.rollback)

    def _end(self, how: Callable[[sqlite3.Connection], None]) -> None:
        try:
            await_(self._in_the_thread(lambda: how(self._connection._conn)))
        except Exception as error:  # house-skip: swallowed - as above
            self._handle_exception(error)

    def _is_free(self) -> bool:
        return not self._trips and bool(self._connection._tx.empty())

    async def _in_the_thread(self, trip: Callable[[], _T]) -> _T:
        def made() -> _T:
            try:
                return trip()
            finally:
                self._trips -= 1

        self._trips += 1
        answer: _T = await self._connection._execute(made)
        return answer


class Driver(AsyncAdapt_aiosqlite_dbapi):
    """The `module` of an engine of SQLAlchemy; `connect` has to be told `check_same_thread=False`."""

    def __init__(self) -> None:
        super().__init__(aiosqlite, sqlite3)

    def connect(self, *arg: Any, **kw: Any) -> AsyncAdapt_aiosqlite_connection:
        return _Connection(self, super().connect(*arg, **kw)._connection)
