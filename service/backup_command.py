"""What `spillclock backup` and `spillclock restore` do, line by line."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from pathlib import Path

from service import backups, wiring
from service.errors import BadInput
from service.reading_input import moment
from service.restoring import Wanted, restore
from service.settings import Settings

_MB = 1_000_000


async def backup(settings: Settings, given: argparse.Namespace) -> AsyncIterator[str]:
    """Make a backup while the service goes on; WRONG begins a line that tells of a file which is not whole on the disk."""
    house = wiring.build_house(settings)
    try:
        made = await backups.make(house, Path(given.target))
    finally:
        await house.engine.dispose()
    for digest in made.missing:
        yield f"WRONG  the database names the file {digest}, and the disk does not hold it as it was"
    yield f"{made.folder}: {made.size / _MB:.1f} MB in {len(made.files)} files, as of {made.at:%Y-%m-%d %H:%M:%S} UTC"
    yield "the secret key is not in it: keep a copy of it elsewhere"


def put_back(settings: Settings, given: argparse.Namespace) -> AsyncIterator[str]:
    """Put a backup back. Raises BadInput without a word on what is to become of messages that may have gone out since."""
    source = Path(given.source)
    stopped_at = moment("--stopped-at", given.stopped_at)
    at = backups.read(source).at
    if given.messages is None:
        raise BadInput(
            "nothing was changed",
            [
                f"--messages: what was sent since the backup of {at:%Y-%m-%d %H:%M} UTC is not in it: what waits there may have gone out.",
                "--messages again: it is sent again, each message marked as possibly double. Right where alerts of duties matter more.",
                "--messages leave --stopped-at TIME: what stood in the backup and was due by then, when the service stopped, is not sent."
                " Right where an advisory was going out to many.",
            ],
        )  # fmt: skip
    if given.messages == "leave" and (stopped_at is None or stopped_at < at):
        right = "right would be: --stopped-at with when the service stopped, after the backup, as in 2026-12-01T14:30:00-08:00"
        raise BadInput("nothing was changed", [f"--messages leave: what was due later has not gone out; {right}"])
    return _restored(settings, source, Wanted(given.replace, stopped_at if given.messages == "leave" else None))


async def _restored(settings: Settings, source: Path, wanted: Wanted) -> AsyncIterator[str]:
    house = wiring.build_house(settings)
    try:
        async for line in restore(house, source, wanted):
            yield line
    finally:
        await house.engine.dispose()
