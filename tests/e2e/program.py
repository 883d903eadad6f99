"""The real command in processes of its own: one data folder, one port, an environment that holds nothing of the developer's."""

import json
import os
import random
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import httpx
import pytest

COMMAND = Path(sys.executable).with_name("spillclock")
CHINO = {"lat": 34.0122, "lon": -117.6889, "address": "13220 Central Ave"}
START_SECONDS = 60.0  # the first start of a fresh checkout compiles every module
_STOP_SECONDS = 10.0


def free_port() -> int:
    """A free port below the range that clients' own ends are taken from: a client that knocks on it finds nobody, not itself."""
    for port in random.SystemRandom().sample(range(10_240, 32_000), 200):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port on this machine")


def tell(line: str) -> None:
    """A line for whoever reads what a failed test said."""
    sys.stdout.write(f"{line}\n")


def without_powers() -> list[str]:
    """The beginning of a command line whose program has to heed file permissions, also where the tests run as root."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("Running as root without setpriv: nothing is read-only for root.")
    return [setpriv, "--bounding-set=-all", "--inh-caps=-all"]


def go_ahead(pid: int) -> None:
    """Give a process and those it will start the processors before others, where the machine allows it."""
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, -15)
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-15")  # Linux may weigh sessions first, and only then the processes in them


def until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Wait for a condition to give something true, and return that. Fails the test after `seconds`, saying what did not come."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds:g} s: {what}")
        time.sleep(0.02)
    return found


class Spillclock:
    """One installation. `settings` are names without their prefix: Spillclock(folder, smtp_url="smtp://...")."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.port = free_port()
        self.settings = {"home_dir": str(self.home), "bind": f"127.0.0.1:{self.port}", "limit_factor": "1000", **settings}
        self.process: subprocess.Popen[bytes] | None = None
        self.log = folder / "serve.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What the program is given: the search path, a language, and its settings."""
        given = {f"SPILLCLOCK_{name.upper()}": value for name, value in self.settings.items()}
        return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TZ": "UTC", **given}

    def run(self, *arguments: str, given: str = "", before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run one command to its end. `given` is its standard input, `before` stands before it on the command line."""
        line = [*before, str(COMMAND), *arguments]
        return subprocess.run(
            line, input=given, capture_output=True, text=True, env=self.environment, cwd=self.folder, timeout=60, check=False
        )

    def token(self, role: str = "officer") -> str:
        """Add a member of staff and return a bearer token of theirs."""
        added = self.run("user", "add", f"{role}@city.example", "--role", role)
        assert added.returncode == 0, added.stderr
        printed = self.run("user", "token", f"{role}@city.example")
        assert printed.returncode == 0, printed.stderr
        return printed.stdout.strip()

    def serve(self, *, before: Sequence[str] = (), ahead_of_others: bool = False) -> None:
        """Start `spillclock serve` and wait until it is ready.

        `ahead_of_others` where a test measures its punctuality: other tests that share the machine then do not count, as far as it allows.
        """
        with self.log.open("ab") as log:
            line = [*before, str(COMMAND), "serve"]
            self.process = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment, cwd=self.folder, start_new_session=True
            )
        if ahead_of_others:
            go_ahead(self.process.pid)
        until(self._is_ready, START_SECONDS, f"ready at {self.url}")

    def _is_ready(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            pytest.fail(f"serve ended with {self.process.returncode}: {self.log.read_text()}")
        return self.answers("/readyz")

    def answers(self, path: str) -> bool:
        """Whether a page is there, 200. Asked often while it starts, so without the weight of a whole client."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=2)) as connection:
            try:
                connection.request("GET", path)
                return connection.getresponse().status == 200
            except (OSError, HTTPException):
                return False

    def kill(self) -> None:
        """End it at once, wherever it is."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop and return its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        code = self.process.wait(_STOP_SECONDS)
        self.process = None
        return code

    def kept_waiting_seconds(self) -> float:
        """How long its threads were ready to run so far while others had the processors; 0 where the system does not tell."""
        assert self.process is not None
        waited_ns = 0
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # the thread ended meanwhile
                waited_ns += int(path.read_text().split()[1])
        return waited_ns / 1e9

    def limit_file_size(self, most: int | None) -> None:
        """Let the running process make no file larger than `most` bytes, as on a full disk; None takes the limit away."""
        assert self.process is not None
        unlimited = resource.RLIM_INFINITY
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (unlimited if most is None else most, unlimited))

    def client(self, token: str | None = None) -> httpx.Client:
        """A client of the API. Without the machine's proxies."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=10, trust_env=False)

    def outbox(self) -> list[dict[str, Any]]:
        """The messages that went to the file so far."""
        path = self.home / "outbox.jsonl"
        return list(whole_lines(path)) if path.exists() else []

    def lines_sent(self) -> int:
        """How many lines the outbox file has."""
        path = self.home / "outbox.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """What the database holds, read beside the running process. Moments are texts of UTC without a zone."""
        with closing(sqlite3.connect(f"file:{self.home / 'spillclock.db'}?mode=ro", uri=True, timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(query, values).fetchall()


def whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines. A line cut off by a kill is passed over: the next writer ends it."""
    for line in path.read_bytes().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def moment(text: str) -> datetime:
    """A time of the API or of outbox.jsonl."""
    return datetime.fromisoformat(text)


def tally(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Channel and address of each message, sorted."""
    return sorted((message["channel"], message["to"]) for message in messages)
