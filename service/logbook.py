"""Log lines for operators: as text, or one JSON object a line."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        line = {"at": at, "level": record.levelname.lower(), "from": record.name, "message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def keep_log(form: str) -> None:
    """Send log lines to standard error as `text` or `json`. Requests are not logged: their paths hold private links."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLine() if form == "json" else logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("apscheduler", "httpx", "alembic", "aiosqlite"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
