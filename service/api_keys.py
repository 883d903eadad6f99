"""Keys for programs: shown once, kept as a digest, for some scopes and perhaps one city, with an end; worth no more than their owner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, or_, select
from sqlmodel import col

from service import staff_log
from service.access import SCOPES, Staff, account_of, issue
from service.errors import BadInput, NotKnown
from service.tables import Account, Credential
from service.transaction import Transaction

# For how many days a key may be made; None is until it is revoked.
LIFETIMES: tuple[int | None, ...] = (30, 90, 365, None)
MOST_OF_ONE = 50


async def make(
    tx: Transaction, staff: Staff, name: str, scopes: Iterable[str], city: str | None, days: int | None
) -> tuple[str, Credential]:
    """Make a key for one's own account: the key, shown this once, and what is kept of it. Raises BadInput with one line a fault."""
    account = await account_of(tx, staff.email)
    wanted = sorted(set(scopes))
    faults = [] if 0 < len(name.strip()) <= 100 else ["Name: right would be: what the key is for, in at most 100 characters"]
    faults += [f"Scope: {scope[:40]!r} is no scope; right would be: some of {', '.join(SCOPES)}" for scope in wanted if scope not in SCOPES]
    if not wanted:
        faults.append(f"Scope: none is chosen; right would be: some of {', '.join(SCOPES)}")
    if city is not None and (city not in tx.house.cities or staff.role_in(city) is None):
        faults.append(f"City: {city[:60]!r} is no city that you work for; right would be: one of yours, or all of them")
    if days not in LIFETIMES:
        faults.append("Expires: right would be: 30, 90 or 365 days, or never")
    if len(await of_account(tx, account)) >= MOST_OF_ONE:
        faults.append(f"Keys: you have {MOST_OF_ONE}; right would be: revoke some first")
    if faults:
        raise BadInput("the key was not made", faults)
    lasts = None if days is None else timedelta(days=days)
    key = await issue(tx, account, "api", lasts, name=name.strip(), scopes=wanted, city=city)
    kept = (await of_account(tx, account))[0]
    await staff_log.note(tx, "key:made", account, key=kept.hint, name=kept.name, scopes=wanted, city=city, days=days)
    return key, kept


async def make_for_everything(tx: Transaction, email: str) -> str:
    """A token for whatever an account may do, as the command line makes it. Raises NotKnown."""
    account = await account_of(tx, email)
    token = await issue(tx, account, "api")
    await staff_log.note(tx, "key:made", account, key=(await of_account(tx, account))[0].hint)
    return token


async def of_account(tx: Transaction, account: Account) -> Sequence[Credential]:
    """The keys of an account that still count, the newest first."""
    query = select(Credential).where(col(Credential.account_id) == account.id, *live(tx)).order_by(col(Credential.id).desc())
    return (await tx.session.execute(query)).scalars().all()


def live(tx: Transaction) -> tuple[ColumnElement[bool], ...]:
    """What is true of a key that still counts."""
    lasts = or_(col(Credential.expires_at).is_(None), col(Credential.expires_at) > tx.now)
    return col(Credential.purpose) == "api", col(Credential.used_at).is_(None), lasts


async def revoke(tx: Transaction, account: Account, number: int) -> Credential:
    """Let a key of an account be worth nothing from now on. Raises NotKnown."""
    for key in await of_account(tx, account):
        if key.id == number:
            key.used_at = tx.now
            await staff_log.note(tx, "key:revoked", account, key=key.hint, name=key.name)
            return key
    raise NotKnown(f"there is no key {number}")
