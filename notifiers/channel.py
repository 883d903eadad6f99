"""What every channel offers, and how the answers of providers are read. Nothing here writes a log: the receipt tells all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Protocol

import httpx

from notifiers.message import Message, Outcome, Receipt, one_line

LONGEST_DETAIL_CHARACTERS = 2048
_SHORTEST_PIECE_CHARACTERS = 4
_TRY_LATER_STATUSES = frozenset({408, 425, 429})

# Faults that come before the first byte of a request has gone out: of a connection, or of the request itself.
BEFORE_SENDING = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
    httpx.InvalidURL,
)


class Channel(Protocol):
    """A way to one person. Implementations: EmailChannel, SmsChannel, VoiceChannel, WebhookChannel, AppriseChannel, and FileChannel,
    which stands in for any of them."""

    name: str  # "email", "sms", "voice", "webhook", "apprise": the word used in ladders and subscriptions

    def problem_with(self, address: str) -> str | None:
        """Return what is wrong with an address and what would be right, in words; None if it is fine."""
        ...

    async def send(self, message: Message) -> Receipt:
        """Make one attempt and return what came of it. Never raises for an answer of the provider or of the network."""
        ...

    async def aclose(self) -> None:
        """Give connections back. A send after this is answered with TRY_AGAIN or goes the way of the HTTP client that was passed in."""
        ...


def outcome_of_status(status: int) -> Outcome:
    """Return what an HTTP status means for the message.

    2xx is ACCEPTED; 408, 425, 429 and 5xx are TRY_AGAIN; other 4xx are REFUSED. What is no answer to the request (1xx, 3xx) is TRY_AGAIN:
    it comes from a wrong address of the provider, and an operator's mistake must not throw a notice away.
    """
    if 200 <= status < 300:
        return Outcome.ACCEPTED
    if 400 <= status < 500 and status not in _TRY_LATER_STATUSES:
        return Outcome.REFUSED
    return Outcome.TRY_AGAIN


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds a provider asks to be left alone (Retry-After, RFC 9110); None where it does not say so in a form we read.

    A date is measured from the answer's own Date, so that neither clock has to be right.
    """
    asked = headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    try:
        return max(0.0, (parsedate_to_datetime(asked) - parsedate_to_datetime(headers.get("date", ""))).total_seconds())
    except (TypeError, ValueError):  # no date, none to measure from, or one with a zone and one without
        return None


def detail_of(answer: str, secrets: Iterable[str | None] = ()) -> str:
    """Return an answer fit to be stored: one line, secrets masked, the first 2,048 characters.

    A secret of less than four characters is masked where it stands alone: it is also a piece of ordinary words.
    """
    for secret in sorted(filter(None, secrets), key=len, reverse=True):  # before cutting, so that no half of one is left at the end
        if len(secret) < _SHORTEST_PIECE_CHARACTERS:
            answer = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", answer)
        else:
            answer = answer.replace(secret, "***")
    return one_line(answer[: 2 * LONGEST_DETAIL_CHARACTERS])[:LONGEST_DETAIL_CHARACTERS]
