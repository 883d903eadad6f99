"""Waits that grow while somebody fails to prove who they are, so that nothing can be guessed and nobody is shut out for good.

Failures are counted for an account from one network, and for an account from everywhere. Each try is counted before it is judged: of
many at one moment none slips through. An address without an account is counted alike, so that a wait tells nothing. The wait for an
account from everywhere is not asked of networks that its owner signed in from lately: a stranger's guesses do not hold up the owner. No
wait is longer than a quarter of an hour, and a mailed link needs none, because nobody can guess it.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col

from service.account_tables import SignInTry
from service.errors import SpillclockError
from service.tables import Account, Credential
from service.transaction import House, Transaction, transaction

# So many failures are free; then the wait doubles with each from the shortest to the longest.
FREE_FROM_ONE_NETWORK, FREE_FROM_EVERYWHERE = 5, 20
SHORTEST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(minutes=15)
# Failures are forgotten after this time without another.
_FORGOTTEN_AFTER = timedelta(hours=24)
_KNOWN_FOR = timedelta(days=90)


class Locked(SpillclockError):
    """Too many tries failed. `retry_after`: in how many seconds one more is taken."""

    status = 429
    title = "Too many tries"

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"too many tries failed; right would be: try again in {retry_after} seconds")
        self.retry_after = retry_after


async def attempt(house: House, email: str, network: str, what: str = "password") -> None:
    """Count a try at proving `what` as failed, before it is judged; `forgive` takes that back. Raises Locked during a wait."""
    async with transaction(house, "sign-in") as tx:
        pair, everywhere = _keys(house, email, network, what)
        await tx.alone_with(f"sign-in {everywhere}")
        waits = [(pair, FREE_FROM_ONE_NETWORK)]
        if not await _is_known(tx, email, network):
            waits.append((everywhere, FREE_FROM_EVERYWHERE))
        query = select(SignInTry).where(col(SignInTry.key).in_((pair, everywhere)))
        tries = {row.key: row for row in (await tx.session.execute(query)).scalars()}
        until = max((row.until for key, _ in waits if (row := tries.get(key)) and row.until), default=None)
        if until is None or until <= tx.now:
            await _count(tx, [(pair, FREE_FROM_ONE_NETWORK), (everywhere, FREE_FROM_EVERYWHERE)], tries)
            return
    raise Locked(int((until - house.now()).total_seconds()) + 1)


async def forgive(tx: Transaction, email: str, network: str, what: str = "password") -> None:
    """The try succeeded: forget the failures from this network, and those from everywhere."""
    await tx.session.execute(delete(SignInTry).where(col(SignInTry.key).in_(_keys(tx.house, email, network, what))))


def wait_after(failures: int, free: int) -> timedelta | None:
    """How long to wait after so many failures; None where they are free."""
    if failures < free:
        return None
    return min(SHORTEST_WAIT * (1 << min(failures - free, 20)), LONGEST_WAIT)


async def _count(tx: Transaction, counts: list[tuple[str, int]], tries: dict[str, SignInTry]) -> None:
    await tx.session.execute(delete(SignInTry).where(col(SignInTry.last_at) < tx.now - _FORGOTTEN_AFTER))
    tongue: Any = sqlite if tx.house.settings.is_embedded else postgresql
    for key, free in counts:
        row = tries.get(key)
        failures = (row.failures if row and row.last_at >= tx.now - _FORGOTTEN_AFTER else 0) + 1
        wait = wait_after(failures, free)
        new: dict[str, Any] = {"failures": failures, "last_at": tx.now, "until": tx.now + wait if wait else None}
        put = tongue.insert(SignInTry).values(key=key, **new).on_conflict_do_update(index_elements=["key"], set_=new)
        await tx.session.execute(put, execution_options={"synchronize_session": False})


async def _is_known(tx: Transaction, email: str, network: str) -> bool:
    """Whether the owner of an account signed in from this network lately."""
    since: datetime = tx.now - _KNOWN_FOR
    query = (
        select(func.count())
        .select_from(Credential)
        .join(Account, col(Account.id) == col(Credential.account_id))
        .where(col(Account.email) == _plain(email), col(Credential.purpose) == "session")
        .where(col(Credential.network) == network, col(Credential.created_at) > since)
    )
    return bool(await tx.session.scalar(query))


def _plain(email: str) -> str:
    return email.strip().lower().encode("utf-8", "replace").decode().replace("\0", "")


def _keys(house: House, email: str, network: str, what: str) -> tuple[str, str]:
    """The keys of the two counts. Nobody can tell from one whom it is about without the secret key."""

    def keyed(text: str) -> str:
        return hmac.new(house.signing_key, f"lockout|{what}|{text}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    return keyed(f"{_plain(email)}|{network}"), keyed(_plain(email))
