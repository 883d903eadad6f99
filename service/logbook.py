"""Log lines for operators: as text, or one JSON object a line."""

from __future__ import annotations

import json
import logging
import re
import sys
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
)


def without_private(text: str) -> str:
    """A text for a log without addresses, telephone numbers, private links and tokens. Names cannot be told from other words."""
    for pattern, stand_in in _PRIVATE:
        text = pattern.sub(stand_in, text)
    return text


class _TextLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return without_private(super().format(record))


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        line = {"at": at, "level": record.levelname.lower(), "from": record.name, "message": without_private(record.getMessage())}
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
