"""From the fields of the report form to a report as `POST /api/v1/spills` takes it: as typed where it is odd, nothing refused."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from deadlines import as_z
from service.pages.fields import Fields
from service.pages.speech import marked
from service.pages.words import PRIVACIES
from service.said_amounts import read_amount

# What an amount may be compared with by one tap: the label, and the words it stands for, as service/everyday_measures.py has them.
LIKENESSES: Mapping[str, tuple[str, str]] = {
    "bucket": (marked("A bucket (2 to 5 gallons)"), "a bucket"),
    "bathtub": (marked("A bathtub (36 to 70 gallons)"), "a bathtub"),
    "pickup": (marked("The bed of a pickup (about 500 gallons)"), "a pickup bed"),
    "pool": (marked("A swimming pool (5,000 gallons or more)"), "a swimming pool"),
    "more": (marked("More than a swimming pool"), "more than a swimming pool"),
    "unknown": (marked("I cannot tell"), ""),
}
# The form in the other language, with what was typed. Said in the language that it leads to.
TURNS: Mapping[str, str] = {"en": "Continue in English and keep what I typed", "es": "Seguir en español sin perder lo que escribí"}

# A form older than this was left open: "just now" is then the time it is sent, not the time it was opened.
_FRESH = timedelta(hours=2)
# Where scripts run, the form knows when "just now" was chosen. A report may wait so long on a phone without signal.
_WAITS = timedelta(days=7)
_SLACK = timedelta(minutes=2)
_ONCE = re.compile(r"(\d{10})\.([A-Za-z0-9_-]{16,64})")
# What a script puts into the form anew each time that it is sent.
_NOT_TYPED = ("proof",)
_TYPED = ("description", "address", "lat", "lon", "amount", "name", "email", "phone", "seen_on", "seen_words")


def new_once(now: datetime) -> str:
    """A token for one showing of the form. It holds when the form was opened, so that sending it twice says the same twice."""
    return f"{int(now.timestamp()):010d}.{secrets.token_urlsafe(16)}"


def is_empty(fields: Fields) -> bool:
    """Whether nothing at all was said: no text, no place, no amount, no box ticked, no material chosen, no photo."""
    answered = any(fields.text(name) for name in (*_TYPED, "material")) or bool(_like(fields))
    return not answered and not fields.all("reached") and not fields.uploads("photos")


def turned(fields: Fields) -> Fields:
    """The same form for the other language: what was typed stays, and the language of letters follows the page again."""
    return Fields({name: values for name, values in fields.values.items() if name not in ("turn", "language")})


def key_of(fields: Fields) -> str:
    """The idempotency key: the same form sent again with the same content is the same report; changed content is a new one."""
    if not _ONCE.fullmatch(fields.text("once")):
        return ""
    typed = sorted((name, list(values)) for name, values in fields.values.items() if name not in _NOT_TYPED)
    return "form-" + hashlib.sha256(json.dumps(typed).encode()).hexdigest()


def body_of(fields: Fields, now: datetime) -> dict[str, Any]:
    """The report. Coordinates, amounts and times stay texts where they are not plain; intake reads or flags them."""
    body: dict[str, Any] = {"description": fields.text("description"), "language": fields.text("language")}
    location: dict[str, Any] = {"address": fields.text("address")} if fields.text("address") else {}
    location |= {name: fields.text(name) for name in ("lat", "lon") if fields.text(name)}
    if location:
        body["location"] = location
    said: dict[str, str] = {}  # what else was answered where one answer is used
    seen_at = _seen_at(fields, now, said)
    if seen_at:
        body["seen_at"] = seen_at
    if fields.text("material"):
        body["material"] = fields.text("material")
    volume = _volume(fields, said)
    if volume:
        body["volume"] = volume
    if fields.all("reached"):
        body["reached"] = fields.all("reached")
    if said:
        body["said"] = said
    body["contact"] = _contact(fields)
    return body


def _seen_at(fields: Fields, now: datetime, said: dict[str, str]) -> str | None:
    """When it was seen; a date and time, or words, stay as typed and are read in the city's zone."""
    exact, words = fields.text("seen_on"), fields.text("seen_words")
    if fields.text("seen") in ("at", ""):
        if exact and words:
            said["seen"] = words
        return exact or words or None
    base = _chosen_at(fields.text("seen_chosen_at"), now) or _opened_at(fields.text("once"), now)
    return {"now": as_z(base), "hour": as_z(base - timedelta(hours=1))}.get(fields.text("seen"))


def _chosen_at(text: str, now: datetime) -> datetime | None:
    """When "just now" was chosen, by a script of the form; None where it does not say so or cannot be."""
    try:
        chosen_at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if chosen_at.tzinfo is None or not now - _WAITS <= chosen_at <= now + _SLACK:
        return None
    return min(chosen_at, now).astimezone(UTC).replace(microsecond=0)


def _opened_at(once: str, now: datetime) -> datetime:
    found = _ONCE.fullmatch(once)
    if found:
        opened_at = datetime.fromtimestamp(int(found[1]), UTC)
        if timedelta() <= now - opened_at <= _FRESH:
            return opened_at
    return now.replace(second=0, microsecond=0)


def _like(fields: Fields) -> str:
    """The words that a tap stands for, empty without one."""
    return LIKENESSES.get(fields.text("amount_like"), ("", ""))[1]


def _volume(fields: Fields, said: dict[str, str]) -> dict[str, str] | None:
    """What was typed, else what it was compared with. Where what was typed is no amount, the comparison is one."""
    typed, like, unit = fields.text("amount"), _like(fields), fields.text("unit", "gal")
    if typed and like:
        if read_amount(typed, unit) is None:
            said["amount"] = typed
            typed = like
        else:
            said["amount"] = like
    return {"quantity": typed or like, "unit": unit} if typed or like else None


def _contact(fields: Fields) -> dict[str, str]:
    """Who reports. Anonymous means that nothing is kept, even where something was typed."""
    privacy = fields.text("privacy")
    privacy = privacy if privacy in PRIVACIES else "confidential"
    if privacy == "anonymous":
        return {"privacy": privacy}
    given = {name: fields.text(name) for name in ("name", "email", "phone") if fields.text(name)}
    return {**given, "privacy": privacy}
