"""Who may: staff accounts, their tokens and sessions. Tokens are kept as SHA-256 and shown once."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlmodel import col

from service.errors import BadInput, NotAllowed, NotKnown, NotSignedIn
from service.tables import Account, Credential, Spill
from service.transaction import Transaction

ROLES = ("viewer", "officer", "manager", "administrator")
SESSION_LASTS = timedelta(hours=12)
LINK_LASTS = timedelta(minutes=30)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


@dataclass(frozen=True, slots=True)
class Staff:
    """A signed-in member of staff. `city` None is every city."""

    email: str
    role: str
    city: str | None

    def may_see(self, city: str | None) -> bool:
        """Whether spills of a city are this person's; a report without a city is everybody's until it has one."""
        return self.city is None or city is None or city == self.city

    def require(self, role: str, city: str | None) -> None:
        """Raise NotAllowed unless this person has at least `role` and the city is theirs."""
        if ROLES.index(self.role) < ROLES.index(role):
            raise NotAllowed(f"this needs the role {role}; you are {self.role}")
        if not self.may_see(city):
            raise NotAllowed(f"you work for {self.city}, not for {city}")


async def spill_for(tx: Transaction, staff: Staff, reference: str, role: str | None = None) -> Spill:
    """The spill of a reference, for a member of staff; a writing transaction holds it until its end.

    Raises NotKnown for one of a city that is not theirs, as for one that does not exist, and NotAllowed below `role`.
    """
    spill = await tx.spill(reference)
    if not staff.may_see(spill.city):
        raise NotKnown(f"there is no spill {reference}")
    if role is not None:
        staff.require(role, spill.city)
    return spill


def digest_of(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


async def add_account(tx: Transaction, email: str, role: str, city: str | None) -> Account:
    """Add a member of staff. Raises BadInput for a wrong address, role or city, or an account that exists."""
    faults = []
    if not _EMAIL.fullmatch(email) or len(email) > 320:
        faults.append(f"EMAIL: {email!r} is not an e-mail address; right would be: name@city.gov")
    if role not in ROLES:
        faults.append(f"--role: {role!r} is not a role; right would be: one of {', '.join(ROLES)}")
    if city is not None and city not in tx.house.cities:
        faults.append(f"--city: {city!r} is not a known city; right would be: one of {', '.join(tx.house.cities)}")
    if not faults and await _account(tx, email) is not None:
        faults.append(f"EMAIL: {email} has an account already; right would be: another address")
    if faults:
        raise BadInput("the account cannot be added", faults)
    account = Account(email=email.lower(), role=role, city=city, created_at=tx.now)
    tx.session.add(account)
    await tx.session.flush()
    return account


async def _account(tx: Transaction, email: str) -> Account | None:
    found: Account | None = (await tx.session.execute(select(Account).where(col(Account.email) == email.lower()))).scalar_one_or_none()
    return found


async def account_of(tx: Transaction, email: str) -> Account:
    """The account of an address. Raises NotKnown."""
    account = await _account(tx, email)
    if account is None:
        raise NotKnown(f"there is no account {email}; add it with: spillclock user add {email} --role officer")
    return account


async def issue(tx: Transaction, account: Account, purpose: str, lasts: timedelta | None = None) -> str:
    """Make a token for `api`, `session` or `link` and return it; only its digest is kept."""
    token = f"sc_{purpose}_{secrets.token_urlsafe(32)}"
    expires_at = tx.now + lasts if lasts else None
    tx.session.add(
        Credential(account_id=account.id or 0, digest=digest_of(token), purpose=purpose, created_at=tx.now, expires_at=expires_at)
    )
    await tx.session.flush()
    return token


async def staff_of(tx: Transaction, token: str, purpose: str) -> Staff:
    """Whose token it is. Raises NotSignedIn for one that is unknown, of another purpose, used up or out of date."""
    account, _ = await _valid(tx, token, purpose)
    return Staff(account.email, account.role, account.city)


async def open_session(tx: Transaction, link_token: str) -> str:
    """Use a sign-in link, once, and return a session token. Raises NotSignedIn."""
    account, credential = await _valid(tx, link_token, "link")
    credential.used_at = tx.now
    return await issue(tx, account, "session", SESSION_LASTS)


async def close_session(tx: Transaction, token: str) -> None:
    """End a session; one that is not valid is ended already."""
    found = (await tx.session.execute(select(Credential).where(col(Credential.digest) == digest_of(token)))).scalar_one_or_none()
    if found is not None:
        found.used_at = tx.now


async def _valid(tx: Transaction, token: str, purpose: str) -> tuple[Account, Credential]:
    query = (
        select(Credential, Account)
        .join(Account, col(Account.id) == col(Credential.account_id))
        .where(col(Credential.digest) == digest_of(token))
    )
    row = (await tx.session.execute(query)).first()
    if row is None:
        raise NotSignedIn("this token is not valid")
    credential, account = row
    if credential.purpose != purpose or credential.used_at is not None or (credential.expires_at and credential.expires_at <= tx.now):
        raise NotSignedIn("this token is not valid, used up or out of date")
    return account, credential
