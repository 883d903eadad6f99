"""A PostgreSQL server of one's own, for as long as a block runs. Without a server program the test is skipped, and says so."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.program import free_port


def _program(name: str) -> str:
    found = shutil.which(name) or next(
        (str(path) for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), None
    )
    if found is None:
        pytest.skip(f"There is no PostgreSQL server program ({name}) on this machine.")
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


@contextmanager
def a_server(*, durable: bool = False) -> Iterator[str]:
    """A server with an empty database; yields its address as SPILLCLOCK_DATABASE_URL takes it. `durable`: it waits for the disk."""
    pytest.importorskip("psycopg", reason="The extra spillclock[postgres] is not installed.")
    initdb, postgres = _program("initdb"), _program("postgres")
    # Not below the folder of the test, which nobody else may enter.
    with tempfile.TemporaryDirectory(prefix="spillclock-postgres-", ignore_cleanup_errors=True) as name:
        folder, port = Path(name), free_port()
        before, data = _as_somebody_else(folder), folder / "data"
        subprocess.run([*before, initdb, "-D", data, "-U", "spillclock", "--auth=trust", "-N"], check=True, capture_output=True, cwd="/")
        with (folder / "log").open("wb") as log:
            line = [*before, postgres, "-D", data, "-p", str(port), "-k", data, "-c", "listen_addresses=127.0.0.1"]
            line += [] if durable else ["-c", "fsync=off"]
            server = subprocess.Popen(line, stdout=log, stderr=log, cwd="/")
        try:
            _until_it_answers(port, server, folder / "log")
            yield f"postgresql://spillclock@127.0.0.1:{port}/postgres"
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


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
