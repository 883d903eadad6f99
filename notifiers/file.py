"""A file in place of a provider: every message becomes one JSON object on a line of its own (outbox.jsonl).

Stands in for a channel that has no provider yet, and follows that channel's rules of addresses. Several processes may append at once.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from notifiers.addresses import problem_with_email, problem_with_phone
from notifiers.apprise_channel import problem_with_scheme
from notifiers.channel import detail_of
from notifiers.message import Message, Outcome, Receipt
from notifiers.webhook import problem_with_webhook

_ADDRESS_RULES: dict[str, Callable[[str], str | None]] = {
    "email": problem_with_email,
    "sms": problem_with_phone,
    "voice": problem_with_phone,
    "webhook": partial(problem_with_webhook, allow_private=True),
    "apprise": partial(problem_with_scheme, allow_private=True),
}

# JSON allows these three inside a string, but many readers (str.splitlines among them) end a line there.
_LINE_ENDS_IN_JSON = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


# What of a line tells of a person.
_TELLING = ("to", "subject", "text")


class FileChannel:
    """Appends messages to `path` in place of the channel `name` ("email", "sms", "voice", "webhook", "apprise"; another is a ValueError).

    The folder must exist. The file is made at the first message, readable by its owner only, for it holds addresses and texts.
    """

    def __init__(self, path: Path, name: str) -> None:
        if name not in _ADDRESS_RULES:
            raise ValueError(f"FileChannel cannot stand in for {name!r}; it can for {' and '.join(_ADDRESS_RULES)}")
        self.name = name
        self._path = path
        self._rule = _ADDRESS_RULES[name]

    def problem_with(self, address: str) -> str | None:
        """Return what is wrong with an address by the rules of the channel stood in for; None if it is fine."""
        return self._rule(address)

    async def send(self, message: Message) -> Receipt:
        """Append the message and return ACCEPTED with its key as id, once it is on the disk.

        A full disk or a folder that cannot be written is TRY_AGAIN; a line written but perhaps not on the disk is UNKNOWN.
        """
        if problem := self.problem_with(message.to):
            return Receipt(Outcome.REFUSED, detail=detail_of(problem))
        return await asyncio.to_thread(self._append, message.key, _line_of(message))

    async def aclose(self) -> None:
        """Do nothing: the file is open only while a line is written."""

    def _append(self, key: str, line: bytes) -> Receipt:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            return self._not_written(error)
        try:
            # O_APPEND alone keeps whole lines apart; the lock also keeps another process out between the look at the end and the write.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _write_line(descriptor, line)
            return self._kept(key, descriptor)
        except OSError as error:
            return self._not_written(error)
        finally:
            os.close(descriptor)

    def _kept(self, key: str, descriptor: int) -> Receipt:
        try:
            os.fsync(descriptor)
        except OSError as error:
            return Receipt(Outcome.UNKNOWN, key, detail_of(f"written to {self._path}, but perhaps not kept by the disk: {error.strerror}"))
        return Receipt(Outcome.ACCEPTED, key, detail_of(f"appended to {self._path}"))

    def _not_written(self, error: OSError) -> Receipt:
        words = f"could not append to {self._path}: {error.strerror}; make room, or make its folder one that this program can write to"
        return Receipt(Outcome.TRY_AGAIN, detail=detail_of(words))


def blank(path: Path, keys: Collection[str]) -> int:
    """Take from a file of messages what those of these keys said and to whom. Returns how many lines that were; 0 where there is no file.

    A line keeps its length: it is written over where it lies, so that a stop in the middle spoils no other. Raises OSError.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    with os.fdopen(descriptor, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        blanked = 0
        at = 0
        for line in iter(file.readline, b""):
            if (emptied := _emptied(line, keys)) is not None:
                os.pwrite(file.fileno(), emptied, at)
                blanked += 1
            at += len(line)
        os.fsync(file.fileno())
    return blanked


def _emptied(line: bytes, keys: Collection[str]) -> bytes | None:
    """The line of one of these messages without its words and address, as long as before; None for any other."""
    try:
        told = json.loads(line)
    except ValueError:  # half a line of somebody who was stopped
        return None
    if not isinstance(told, dict) or told.get("key") not in keys or not any(told.get(name) for name in _TELLING):
        return None
    emptied = json.dumps({**told, **dict.fromkeys(_TELLING, "")}, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return emptied.ljust(len(line) - 1) + b"\n"  # never longer: texts were taken out, and nothing was put in


def _line_of(message: Message) -> bytes:
    fields = {
        "key": message.key,
        "channel": message.channel,
        "to": message.to,
        "subject": message.subject,
        "text": message.text,
        "spill": message.spill,
        "duty": message.duty,
        "step": message.step,
        "at": _utc_text(message.at),
    }
    line = json.dumps(fields, ensure_ascii=False).translate(_LINE_ENDS_IN_JSON)
    # Half a surrogate has no UTF-8; "backslashreplace" writes it as the escape that JSON has for it.
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _utc_text(at: datetime) -> str:
    return at.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def _write_line(descriptor: int, line: bytes) -> None:
    """Append the whole line or none of it. Raises OSError when nothing was written."""
    end = os.fstat(descriptor).st_size
    if end and os.pread(descriptor, 1, end - 1) != b"\n":
        line = b"\n" + line  # somebody was stopped mid-line: keep that half from spoiling ours
    written = os.write(descriptor, line)
    if written < len(line):
        os.ftruncate(descriptor, end)  # under the lock, so these bytes are our own
        raise OSError(errno.ENOSPC, f"only {written} of {len(line)} bytes fitted, taken back; the disk is full")
