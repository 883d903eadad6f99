"""Log lines for operators: as text, or one JSON object a line. Each says which spills it concerns; what tells of people is masked."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime

# What must not stand in a log: addresses, telephone numbers, the secret part of a link, tokens. Errors of providers repeat them.
_PRIVATE = (
    (re.compile(r"[^\s<>\"(),;:=\[\]]+@[^\s<>\"'(),;:\[\]]+\.[^\W\d_]{2,}"), "(an e-mail address)"),
    (
        re.compile(r"(?<![\w.-])(?:\+\d{8,15}|(?:\+?1[ .-]?)?(?:\(\d{3}\)|\d{3})[ .-]?\d{3}[ .-]?\d{4})(?![\w-])"),
        "(a telephone number)",
    ),
    (re.compile(r"(/(?:status|respond|act|unsubscribe|enter|yes|calendar)/)[\w.~-]+"), r"\1(private)"),
    (re.compile(r"\bsc_[a-z]+_[\w-]+"), "(a token)"),
    # A database quotes the row that it refuses, a check the value.
    (re.compile(r"DETAIL:.*?(?=\n\[SQL|\nCONTEXT:|\nHINT:|\n\n|\Z)", re.DOTALL), "DETAIL: (what was stored)"),
    (re.compile(r"input_value=.*?(?=, input_type=|\]?$)", re.MULTILINE), "input_value=(what was given)"),
)
# A line names so many spills at most: a batch of the worker concerns hundreds.
_MOST_NAMED = 5
# Shorter names are words like any other: to mask them would make the line unreadable.
_SHORTEST_NAME = 3
_A_PERSON = "(a person)"


@dataclass(slots=True)
class _Subject:
    """What the work under way concerns: references of spills, and names of people that must not stand in its lines."""

    references: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


_subject: ContextVar[_Subject | None] = ContextVar("what the work under way concerns", default=None)


@contextmanager
def about(*references: str | None) -> Iterator[None]:
    """A piece of work: its lines say which spills it concerns, those named here and those met on the way, and no others."""
    token = _subject.set(_Subject(list(dict.fromkeys(reference for reference in references if reference))))
    try:
        yield
    finally:
        _subject.reset(token)


def concerns(reference: str, names: Iterable[object] = ()) -> None:
    """Say that the work under way concerns a spill, and which names of people are known of it: they are masked in its lines."""
    subject = _subject.get()
    if subject is None:
        return
    if reference not in subject.references:
        subject.references.append(reference)
    hide(*names)


def hide(*names: object) -> None:
    """Keep the names of people out of the lines of the work under way."""
    if (subject := _subject.get()) is not None:
        subject.names.update(name for name in names if isinstance(name, str) and len(name.strip()) >= _SHORTEST_NAME)


def without_private(text: str) -> str:
    """A text for a log without addresses, telephone numbers, private links and tokens, nor the names known to the work under way."""
    subject = _subject.get()
    for name in sorted(subject.names, key=len, reverse=True) if subject else ():
        text = re.sub(re.escape(name.strip()), _A_PERSON, text, flags=re.IGNORECASE)
    for pattern, stand_in in _PRIVATE:
        text = pattern.sub(stand_in, text)
    return text


def _named() -> list[str]:
    subject = _subject.get()
    return subject.references if subject else []


class _TextLine(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name that logging calls
        line = super().formatMessage(record)
        unsaid = [reference for reference in _named()[:_MOST_NAMED] if reference not in line]
        return f"{line} [{', '.join(unsaid)}]" if unsaid else line

    def format(self, record: logging.LogRecord) -> str:
        return without_private(super().format(record))


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        line: dict[str, object] = {"at": at, "level": record.levelname.lower(), "from": record.name}
        line["message"] = without_private(record.getMessage())
        if named := _named():
            line["spill"] = named[0]
        if len(named) > 1:
            line["spills"] = named[:_MOST_NAMED]
        if record.exc_info:
            line["exception"] = without_private(self.formatException(record.exc_info))
        return json.dumps(line)


def line_format(form: str) -> logging.Formatter:
    """How a line is written: as `text` or `json`."""
    return _JsonLine() if form == "json" else _TextLine("%(asctime)s %(levelname)s %(name)s: %(message)s")


def keep_log(form: str) -> None:
    """Send log lines to standard error as `text` or `json`. Requests are not logged: their paths hold private links."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(line_format(form))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("apscheduler", "httpx", "alembic", "aiosqlite"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
