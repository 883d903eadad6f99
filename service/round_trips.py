"""Sign-ins that are handed on, to a device or to another site, and whose answer comes back: each begun once, answered once, soon.

The browser that began one holds its secret in a cookie; the database holds a digest of it. What goes to the other side (a challenge, a
state, a nonce) is derived from that secret: an answer to somebody else's, or to one that was answered already, fits nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import delete
from sqlmodel import col

from service.access import digest_of
from service.account_tables import RoundTrip
from service.errors import NotSignedIn
from service.transaction import House, Transaction

# How long a device or another site may take.
LASTS = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Begun:
    """One that is under way: its secret, whose account it is for where that is known already, and what was kept for its end."""

    secret: str
    account_id: int | None = None
    kept: dict[str, Any] = field(default_factory=dict)

    def derived(self, house: House, what: str) -> bytes:
        """32 bytes that go with this one alone, for one use."""
        return hmac.new(house.signing_key, f"round trip|{what}|{self.secret}".encode("utf-8", "replace"), hashlib.sha256).digest()


async def begin(tx: Transaction, purpose: str, account_id: int | None = None, kept: dict[str, Any] | None = None) -> Begun:
    """Begin one. What was never answered and is too old is forgotten on the way."""
    await tx.session.execute(delete(RoundTrip).where(col(RoundTrip.ends_at) <= tx.now))
    begun = Begun(secrets.token_urlsafe(32), account_id, kept or {})
    tx.session.add(
        RoundTrip(digest=digest_of(begun.secret), purpose=purpose, account_id=account_id, ends_at=tx.now + LASTS, kept=begun.kept)
    )
    await tx.session.flush()
    return begun


async def end(tx: Transaction, secret: str, purpose: str) -> Begun:
    """End one by its answer; of two answers at once, one does. Raises NotSignedIn for one that is unknown, answered or too old."""
    mine = (col(RoundTrip.digest) == digest_of(secret), col(RoundTrip.purpose) == purpose)
    ended = delete(RoundTrip).where(*mine).returning(col(RoundTrip.account_id), col(RoundTrip.kept), col(RoundTrip.ends_at))
    row = (await tx.session.execute(ended)).first()
    if row is None or row[2] <= tx.now:
        raise NotSignedIn("this was not begun here, was answered already, or took too long")
    return Begun(secret, row[0], row[1])
