"""From the fields of the report form to a report as `POST /api/v1/spills` takes it: as typed where it is odd, nothing refused."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from deadlines import as_z
from service.pages.fields import Fields
from service.pages.words import PRIVACIES

# A form older than this was left open: "just now" is then the time it is sent, not the time it was opened.
_FRESH = timedelta(hours=2)
_ONCE = re.compile(r"(\d{10})\.([A-Za-z0-9_-]{16,64})")
_TYPED = ("description", "address", "lat", "lon", "amount", "name", "email", "phone", "seen_on")


def new_once(now: datetime) -> str:
    """A token for one showing of the form. It holds when the form was opened, so that sending it twice says the same twice."""
    return f"{int(now.timestamp()):010d}.{secrets.token_urlsafe(16)}"


def is_empty(fields: Fields) -> bool:
    """Whether nothing at all was said: no text, no place, no amount, no box ticked, no material chosen."""
    return not any(fields.text(name) for name in (*_TYPED, "material")) and not fields.all("reached")


def key_of(fields: Fields) -> str:
    """The idempotency key: the same form sent again with the same content is the same report; changed content is a new one."""
    if not _ONCE.fullmatch(fields.text("once")):
        return ""
    typed = sorted((name, list(values)) for name, values in fields.values.items())
    return "form-" + hashlib.sha256(json.dumps(typed).encode()).hexdigest()


def body_of(fields: Fields, now: datetime) -> dict[str, Any]:
    """The report. Coordinates and amounts stay texts where they are not plain numbers; intake reads or flags them."""
    body: dict[str, Any] = {"description": fields.text("description"), "language": fields.text("language")}
    location: dict[str, Any] = {"address": fields.text("address")} if fields.text("address") else {}
    location |= {name: fields.text(name) for name in ("lat", "lon") if fields.text(name)}
    if location:
        body["location"] = location
    seen_at = _seen_at(fields, now)
    if seen_at:
        body["seen_at"] = seen_at
    if fields.text("material"):
        body["material"] = fields.text("material")
    if fields.text("amount"):
        body["volume"] = {"quantity": fields.text("amount"), "unit": fields.text("unit", "gal")}
    if fields.all("reached"):
        body["reached"] = fields.all("reached")
    body["contact"] = _contact(fields)
    return body


def _seen_at(fields: Fields, now: datetime) -> str | None:
    """When it was seen; a date and time stays as typed and is read in the city's zone."""
    if fields.text("seen") == "at" or (fields.text("seen_on") and fields.text("seen") == ""):
        return fields.text("seen_on") or None
    base = _opened_at(fields.text("once"), now)
    return {"now": as_z(base), "hour": as_z(base - timedelta(hours=1))}.get(fields.text("seen"))


def _opened_at(once: str, now: datetime) -> datetime:
    found = _ONCE.fullmatch(once)
    if found:
        opened_at = datetime.fromtimestamp(int(found[1]), UTC)
        if timedelta() <= now - opened_at <= _FRESH:
            return opened_at
    return now.replace(second=0, microsecond=0)


def _contact(fields: Fields) -> dict[str, str]:
    """Who reports. Anonymous means that nothing is kept, even where something was typed."""
    privacy = fields.text("privacy")
    privacy = privacy if privacy in PRIVACIES else "confidential"
    if privacy == "anonymous":
        return {"privacy": privacy}
    given = {name: fields.text(name) for name in ("name", "email", "phone") if fields.text(name)}
    return {**given, "privacy": privacy}
