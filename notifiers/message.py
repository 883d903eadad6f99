"""What is sent and what came of it. A message goes to one address; a receipt tells one attempt.

Nothing here knows spills: `spill`, `duty` and `step` are carried along for the reader of headers and of outbox.jsonl.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

_PLAIN_KEY = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
_LONGEST_KEY_CHARACTERS = 100
_LINE_END = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ENDS_AND_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_HALF_SURROGATE = re.compile(r"[\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Outcome(StrEnum):
    """What an attempt came to: whose turn it is now."""

    ACCEPTED = "accepted"  # the provider took it over
    TRY_AGAIN = "try_again"  # it has not gone out; a later attempt may succeed
    REFUSED = "refused"  # it has not gone out, and the same message to the same address never will
    UNKNOWN = "unknown"  # it may or may not have gone out; another attempt may arrive twice


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one address. `at` is aware (kept as given, written as UTC); a naive one or an empty key is a ValueError."""

    key: str  # idempotency key: the delivery's id, the same on every attempt
    channel: str  # "email", "sms", "voice", "webhook" or "apprise"
    to: str
    subject: str  # e-mail only: an SMS carries `text` alone
    text: str
    spill: str | None
    duty: str | None
    step: str | None
    at: datetime  # the moment it is written: the Date header, a webhook's timestamp
    language: str = "en"  # "en" or "es": what a voice reads the text in
    html: str = ""  # e-mail only: the same words as a page; where there is none, the mail is plain text
    unsubscribe: str = ""  # e-mail only: the address at which one press ends the subscription (RFC 8058); never on a message of a duty
    return_path: str = ""  # e-mail only: where it bounces to; where there is none, to the sender

    def __post_init__(self) -> None:
        if self.at.tzinfo is None or self.at.utcoffset() is None:
            raise ValueError(f"Message.at is {self.at.isoformat()}, without a zone; give an aware time, such as one in UTC")
        if not self.key:
            raise ValueError("Message.key is empty; give the id of the delivery, the same on every attempt")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one attempt came to. `detail` is the provider's answer, at most 2,048 characters, without secrets."""

    outcome: Outcome
    provider_id: str | None = None
    detail: str = ""
    retry_after_seconds: float | None = None  # with TRY_AGAIN: how long the provider asks to be left alone


def key_token(key: str) -> str:
    """Return the key as a token safe in any header, always the same one: itself where it is plain, else its SHA-256 in hex."""
    if len(key) <= _LONGEST_KEY_CHARACTERS and _PLAIN_KEY.fullmatch(key):
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def one_line(text: str) -> str:
    """Return the text as one line: each run of line ends, NUL and other control characters becomes one space, half a surrogate U+FFFD."""
    return _HALF_SURROGATE.sub(_REPLACEMENT, _ENDS_AND_CONTROLS.sub(" ", text)).strip()


def many_lines(text: str) -> str:
    """Return the text with LF line ends, without control characters other than LF and tab; half a surrogate becomes U+FFFD."""
    unix_lines = _LINE_END.sub("\n", text)
    return _HALF_SURROGATE.sub(_REPLACEMENT, _CONTROLS.sub("", unix_lines))
