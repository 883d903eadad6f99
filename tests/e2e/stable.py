"""Where the processes stand that a test starts and kills by the dozen: see warm_start.py, which does it."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.e2e.program import Spillclock, go_ahead, until

WARM_START = Path(__file__).with_name("warm_start.py")


class Stable:
    """Starts one `spillclock serve` after the other on one installation; `kill` ends the one that runs, at once."""

    def __init__(self, spillclock: Spillclock) -> None:
        self._spillclock = spillclock
        self._pid: int | None = None
        self._groom = subprocess.Popen(
            [sys.executable, str(WARM_START)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        go_ahead(self._groom.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._groom.pid, signal.SIGKILL)  # the groom and whatever it started
        self._groom.communicate()

    def start(self) -> None:
        """Start one, without waiting for anything."""
        assert self._pid is None
        assert self._groom.stdin is not None
        assert self._groom.stdout is not None
        order = {
            "environment": self._spillclock.environment,
            "folder": str(self._spillclock.folder),
            "log": str(self._spillclock.log),
        }
        self._groom.stdin.write(json.dumps(order) + "\n")
        self._groom.stdin.flush()
        self._pid = int(self._groom.stdout.readline())

    def wait_until_ready(self, seconds: float = 60.0) -> None:
        """Wait until the one that runs answers. Not until it is ready: after many kills alerts may be late, and that is said there."""
        until(lambda: self._spillclock.answers("/healthz"), seconds, "an answer after a kill")

    def kill(self) -> None:
        """End the one that runs with SIGKILL, and wait until it is gone."""
        assert self._pid is not None
        assert self._groom.stdout is not None
        os.kill(self._pid, signal.SIGKILL)
        code = int(self._groom.stdout.readline())
        self._pid = None
        if code != -signal.SIGKILL:
            pytest.fail(f"serve had ended by itself with {code}: {self._spillclock.log.read_text()[-4000:]}")
