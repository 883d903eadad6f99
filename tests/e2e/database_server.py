"""A PostgreSQL server of one's own, for as long as a block runs. Without a server program the test is skipped; CI requires one."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.program import free_port

REQUIRE_POSTGRESQL = "SPILLCLOCK_TESTS_REQUIRE_POSTGRESQL"


def _program(name: str) -> str:
    found = shutil.which(name) or next(
        (str(path) for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), None
    )
    if found is None:
        missing = f"There is no PostgreSQL server program ({name}) on this machine; on Debian: apt-get install postgresql."
        if os.environ.get(REQUIRE_POSTGRESQL):
            pytest.fail(f"{missing} {REQUIRE_POSTGRESQL} is set, so this is a failure.")
        pytest.skip(missing)
    return found


def _as_somebody_else(folder: Path) -> list[str]:
    """The beginning of a command line: the server refuses to run as root."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    users = [name for name in ("postgres", "nobody") if name in {entry.pw_name for entry in pwd.getpwall()}]
    if setpriv is None or not users:
        pytest.skip("Running as root without setpriv or another user: a PostgreSQL server does not run as root.")
    user = pwd.getpwnam(users[0])
    os.chown(folder, user.pw_uid, user.pw_gid)
    return [setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


class DatabaseServer:
    """A server in a folder of its own, which can be stopped and started again with what it holds."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port = free_port()
        self._options = [argument for option in ("listen_addresses=127.0.0.1", "fsync=off", *options) for argument in ("-c", option)]
        self._folder, self._data = folder, folder / "data"
        self._before = _as_somebody_else(folder)
        self._postgres = _program("postgres")
        self._server: subprocess.Popen[bytes] | None = None
        make = [*self._before, _program("initdb"), "-D", self._data, "-U", "spillclock", "--auth=trust", "-N"]
        subprocess.run(make, check=True, capture_output=True, cwd="/")

    @property
    def url(self) -> str:
        """Its first database, as SPILLCLOCK_DATABASE_URL takes it."""
        return f"postgresql://spillclock@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        """The process that the others are children of."""
        assert self._server is not None
        return self._server.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder / "log").open("ab") as log:
            line = [*self._before, self._postgres, "-D", self._data, "-p", str(self.port), "-k", self._data, *self._options]
            self._server = subprocess.Popen(line, stdout=log, stderr=log, cwd="/")
        _until_it_answers(self.port, self._server, self._folder / "log")

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it and wait until it is gone: SIGINT ends every connection first, SIGQUIT drops everything, as a crash does."""
        if self._server is not None:
            self._server.send_signal(number)
            try:
                self._server.wait(10)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            self._server = None


@contextmanager
def a_database_server(*options: str) -> Iterator[DatabaseServer]:
    """A running server with an empty database, and such options beside, as in `max_connections=40`."""
    pytest.importorskip("psycopg", reason="The extra spillclock[postgres] is not installed.")
    # Not below the folder of the test, which nobody else may enter.
    with tempfile.TemporaryDirectory(prefix="spillclock-postgres-", ignore_cleanup_errors=True) as name:
        server = DatabaseServer(Path(name), *options)
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def a_server(*, durable: bool = False) -> Iterator[str]:
    """A server with an empty database; yields its address as SPILLCLOCK_DATABASE_URL takes it. `durable`: it waits for the disk."""
    with a_database_server(*(["fsync=on"] if durable else [])) as server:
        yield server.url


def _until_it_answers(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    deadline = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(f"postgresql://spillclock@127.0.0.1:{port}/postgres", connect_timeout=2).close()
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the database server did not start: {log.read_text()}")
            time.sleep(0.05)
        else:
            return
