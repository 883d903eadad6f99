"""Files on the disk of the data folder: each under the SHA-256 of its content, whole or not there at all, never changed.

    files/incoming/SECONDS.RANDOM/  a file that is being taken in since then, with the copies drawn of it
    files/ab/cd/abcd...             the content as it came
    files/ab/cd/abcd....large.jpg   what is shown of it: re-drawn, upright, without anything its camera noted
    files/ab/cd/abcd....small.jpg

A file is on the disk, name and all, before the database is told of it. So a stop at any moment leaves at most a file that nobody refers
to, and those are swept after a day.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from service.image_reading import LARGE_NAME, SMALL_NAME

INCOMING = "incoming"
_CHUNK = 256 * 1024


class TooManyBytes(Exception):
    """The content is larger than it may be."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file that is being taken in: its folder, the content in it, and what was learned while copying."""

    folder: Path
    content: Path
    digest: str
    size: int
    head: bytes


@contextmanager
def incoming(files: Path, now: datetime) -> Iterator[Path]:
    """A folder of one's own for a file that is being taken in; it is gone at the end, whatever happened."""
    folder = files / INCOMING / f"{int(now.timestamp())}.{secrets.token_hex(8)}"
    folder.mkdir(parents=True, mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def take(source: BinaryIO, folder: Path, most: int) -> Incoming:
    """Copy content to the disk. Raises TooManyBytes for more than `most` bytes, OSError where the disk does not take it."""
    content, digest, size, head = folder / "content", hashlib.sha256(), 0, b""
    source.seek(0)
    with content.open("xb") as file:
        while part := source.read(_CHUNK):
            size += len(part)
            if size > most:
                raise TooManyBytes
            head = head or part[:64]
            digest.update(part)
            file.write(part)
        file.flush()
        os.fsync(file.fileno())
    return Incoming(folder, content, digest.hexdigest(), size, head)


def place(files: Path, taken: Incoming, now: datetime, *, with_copies: bool) -> None:
    """Give content, and the copies drawn of it, the names that they keep. What is there already stays, and counts as new."""
    home = path_of(files, taken.digest)
    home.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if with_copies:
        for name in (LARGE_NAME, SMALL_NAME):
            _settle(taken.folder / name, copy_of(files, taken.digest, small=name == SMALL_NAME), now)
    _settle(taken.content, home, now)
    for folder in (home.parent, home.parent.parent, files):
        sync_folder(folder)


def _settle(source: Path, target: Path, now: datetime) -> None:
    # The age that sweeping goes by is told by the clock of the service; a file that is there was perhaps left over, and is wanted now.
    with source.open("rb") as file:
        os.fsync(file.fileno())
    os.utime(source, (now.timestamp(), now.timestamp()))
    os.replace(source, target)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def path_of(files: Path, digest: str) -> Path:
    """Where content is, or would be."""
    return files / digest[:2] / digest[2:4] / digest


def copy_of(files: Path, digest: str, *, small: bool) -> Path:
    """Where the copy that is shown of some content is, or would be."""
    return path_of(files, digest).with_name(f"{digest}.{SMALL_NAME if small else LARGE_NAME}")


def copy_as_content(files: Path, digest: str, now: datetime) -> tuple[str, int] | None:
    """Put the copy that is shown of some content beside it, as content of its own: its digest and size; None where there is no copy.

    What the camera noted in the original is not in it. As with all content, it is on the disk before anybody is told of it.
    """
    large, small = copy_of(files, digest, small=False), copy_of(files, digest, small=True)
    if not large.exists() or not small.exists():
        return None
    with incoming(files, now) as folder, large.open("rb") as source:
        taken = take(source, folder, large.stat().st_size)
        shutil.copyfile(large, folder / LARGE_NAME)
        shutil.copyfile(small, folder / SMALL_NAME)
        place(files, taken, now, with_copies=True)
    return taken.digest, taken.size


def paths_of(files: Path, digest: str) -> list[Path]:
    """Some content and the copies that are shown of it, where they are; the content is named whether it is there or not."""
    copies = [copy_of(files, digest, small=small) for small in (False, True)]
    return [path_of(files, digest), *(path for path in copies if path.exists())]


def older_than(files: Path, moment: datetime) -> Iterator[str]:
    """The digests of all content that was put there before a moment."""
    for path in files.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*"):
        if _is_older(path, moment):
            yield path.name.partition(".")[0]


def remove(files: Path, digest: str, before: datetime) -> bool:
    """Remove content and its copies, unless it was put there anew since `before`. Returns whether it did."""
    content = path_of(files, digest)
    if content.exists() and not _is_older(content, before):
        return False
    for path in (content, copy_of(files, digest, small=False), copy_of(files, digest, small=True)):
        path.unlink(missing_ok=True)
    return True


def remove_incoming(files: Path, before: datetime) -> int:
    """Remove what a stopped process was taking in before a moment. Returns how many files that were."""
    left = [folder for folder in (files / INCOMING).glob("*.*") if _since(folder) < before.timestamp()]
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return len(left)


def _since(folder: Path) -> int:
    seconds = folder.name.partition(".")[0]
    return int(seconds) if seconds.isdecimal() else 0


def _is_older(path: Path, moment: datetime) -> bool:
    try:
        return path.stat().st_mtime < moment.timestamp()
    except FileNotFoundError:
        return False
