"""Starts of `spillclock serve`, or of another command that runs on, without the second that importing takes.

This program has imported it, and forks one for each line it reads: a JSON object with environment, folder, log, and command where it is not
serve. Answers are lines too: the process id, and once that process has ended, how.
"""

import json
import os
import sys
from typing import Any

from service import cli, commands


def serve(order: dict[str, Any]) -> int:
    """Become `spillclock serve` in a process that differs from a fresh one only in what it has imported."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    assert commands  # what `serve` needs beyond the other commands is imported with it
    return cli.main(order.get("command", ["serve"]))


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(serve(order))
        say(child)
        say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
