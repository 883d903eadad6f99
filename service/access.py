"""Who may: staff accounts, their roles in cities, their tokens and sessions. Tokens are kept as SHA-256 and shown once."""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col

from service import staff_log
from service.account_tables import AccountRole
from service.errors import BadInput, NotAllowed, NotKnown, NotSignedIn
from service.tables import Account, Credential, Spill
from service.transaction import House, Transaction, reading, transaction

log = logging.getLogger(__name__)

ROLES = ("viewer", "officer", "manager", "administrator")
# What an API key may be made for. To act is also to read what is acted on, to manage also to act; to report is nothing but that.
SCOPES = ("read", "report", "act", "manage")
_INCLUDED = {"read": {"read"}, "report": {"report"}, "act": {"act", "read"}, "manage": {"manage", "act", "read"}}
_SCOPE_OF_ROLE = {"viewer": "read", "officer": "act", "manager": "manage", "administrator": "manage"}
SESSION_LASTS = timedelta(hours=12)
LINK_LASTS = timedelta(minutes=30)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
# When a token was last used is kept this exactly: a write for every call would hold up the calls.
_SEEN_EVERY = timedelta(minutes=10)
_HINT_CHARACTERS = 15


@dataclass(frozen=True, slots=True)
class Staff:
    """A signed-in member of staff: a role in a city, or in every city (`city` None), and other roles in further cities (`also`).

    `scopes` None: whatever the roles allow; else what the key was made for. `credential` is the token that was used, `opened_at` and
    `seen_at` when it was made and last used.
    """

    email: str
    role: str
    city: str | None
    also: tuple[tuple[str, str], ...] = ()
    scopes: frozenset[str] | None = None
    credential: int = field(default=0, compare=False)
    opened_at: datetime | None = field(default=None, compare=False)
    seen_at: datetime | None = field(default=None, compare=False)

    @property
    def roles(self) -> dict[str | None, str]:
        """Every role by its city; None is every city."""
        return {self.city: self.role, **dict(self.also)}

    @property
    def cities(self) -> tuple[str, ...] | None:
        """The cities this person works for; None is every city."""
        return None if self.city is None else tuple(city for city in self.roles if city is not None)

    @property
    def administers(self) -> frozenset[str] | None:
        """The cities that this person administers; None is every city."""
        if self.city is None and self.role == "administrator":
            return None
        return frozenset(city for city, role in self.roles.items() if city is not None and role == "administrator")

    def role_in(self, city: str | None) -> str | None:
        """The role in a city, None where it is not theirs. Where no city is known yet, the highest role of all."""
        held = [role for where, role in self.roles.items() if city is None or where in (None, city)]
        return max(held, key=ROLES.index) if held else None

    def has_scope(self, scope: str) -> bool:
        """Whether the token that was used is for this, too."""
        return self.scopes is None or any(scope in _INCLUDED[one] for one in self.scopes)

    def require_scope(self, scope: str) -> None:
        """Raise NotAllowed unless the token is for this, too."""
        if not self.has_scope(scope):
            raise NotAllowed(f"this key is not for that; right would be: a key with the scope {scope}")

    def may_see(self, city: str | None) -> bool:
        """Whether spills of a city are this person's; a report without a city is everybody's until it has one."""
        return self.has_scope("read") and self.role_in(city) is not None

    def may(self, role: str, city: str | None) -> bool:
        """Whether this person has at least `role` in a city, and the token is for it."""
        held = self.role_in(city)
        return held is not None and ROLES.index(held) >= ROLES.index(role) and self.has_scope(_SCOPE_OF_ROLE[role])

    def require(self, role: str, city: str | None) -> None:
        """Raise NotAllowed unless this person has at least `role` and the city is theirs."""
        held = self.role_in(city)
        if held is None:
            raise NotAllowed(f"you work for {' and '.join(self.cities or ())}, not for {city}")
        if ROLES.index(held) < ROLES.index(role):
            raise NotAllowed(f"this needs the role {role}; you are {held}")
        self.require_scope(_SCOPE_OF_ROLE[role])

    def office(self, city: str | None) -> str:
        """The role that this person does something in a city under, for the record."""
        return self.role_in(city) or self.highest()

    def highest(self) -> str:
        """The highest role this person has anywhere."""
        return max(self.roles.values(), key=ROLES.index)


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


# -- accounts and roles


async def add_account(tx: Transaction, email: str, role: str, city: str | None, name: str = "") -> Account:
    """Add a member of staff. Raises BadInput for a wrong address, role or city, or an account that exists."""
    faults = []
    if not _EMAIL.fullmatch(email) or len(email) > 320:
        faults.append(f"EMAIL: {email[:330]!r} is not an e-mail address; right would be: name@city.gov")
    if role not in ROLES:
        faults.append(f"--role: {role!r} is not a role; right would be: one of {', '.join(ROLES)}")
    if city is not None and city not in tx.house.cities:
        faults.append(f"--city: {city!r} is not a known city; right would be: one of {', '.join(tx.house.cities)}")
    if not faults and await find_account(tx, email) is not None:
        faults.append(f"EMAIL: {email} has an account already; right would be: another address")
    if faults:
        raise BadInput("the account cannot be added", faults)
    account = Account(email=email.lower(), name=name[:200], created_at=tx.now)
    tx.session.add(account)
    await tx.session.flush()
    await put_roles(tx, account, {city: role})
    await staff_log.note(tx, "account:added", account, roles={city or "every city": role})
    return account


async def put_roles(tx: Transaction, account: Account, roles: Mapping[str | None, str]) -> None:
    """Let these be the roles of an account, by city, and no others. Who may do so is service/accounts.py's to say."""
    await tx.session.execute(delete(AccountRole).where(col(AccountRole.account_id) == account.id))
    tx.session.add_all(AccountRole(account_id=account.id or 0, city=city, role=role) for city, role in roles.items())
    await tx.session.flush()


async def find_account(tx: Transaction, email: str) -> Account | None:
    """The account of an address, ended or not, or None."""
    given = email.strip().lower().encode("utf-8", "replace").decode().replace("\0", "")
    found: Account | None = (await tx.session.execute(select(Account).where(col(Account.email) == given))).scalar_one_or_none()
    return found


async def account_of(tx: Transaction, email: str) -> Account:
    """The account of an address, where it has not ended. Raises NotKnown."""
    account = await find_account(tx, email)
    if account is None or account.ended_at is not None:
        raise NotKnown(f"there is no account {email}; add it with: spillclock user add {email} --role officer")
    return account


async def staff_by_account(tx: Transaction, accounts: Iterable[Account]) -> dict[int, Staff]:
    """The members of staff that these accounts stand for, by account id; without those that have ended or hold no role."""
    live = {account.id or 0: account for account in accounts if account.ended_at is None}
    roles: dict[int, list[AccountRole]] = {}
    query = select(AccountRole).where(col(AccountRole.account_id).in_(live))
    for row in (await tx.session.execute(query)).scalars() if live else ():
        roles.setdefault(row.account_id, []).append(row)
    return {number: _staff(live[number].email, {row.city: row.role for row in rows}) for number, rows in roles.items()}


def _staff(email: str, roles: Mapping[str | None, str], credential: Credential | None = None) -> Staff:
    """A role in every city comes first, then cities by name."""
    (city, role), *further = sorted(roles.items(), key=lambda one: (one[0] is not None, one[0] or ""))
    also = tuple((where, what) for where, what in further if where is not None)
    if credential is None:
        return Staff(email, role, city, also)
    scopes = None if credential.scopes is None else frozenset(credential.scopes)
    return Staff(email, role, city, also, scopes, credential.id or 0, credential.created_at, credential.seen_at)


async def administrators_of(tx: Transaction, city: str | None) -> Sequence[Account]:
    """The accounts that administer a city, or every city, the oldest first."""
    query = (
        select(Account)
        .join(AccountRole, col(AccountRole.account_id) == col(Account.id))
        .where(col(AccountRole.role) == "administrator", or_(col(AccountRole.city).is_(None), col(AccountRole.city) == city))
        .where(col(Account.ended_at).is_(None))
        .order_by(col(Account.id))
        .distinct()
    )
    return (await tx.session.execute(query)).scalars().all()


# -- tokens


@dataclass(frozen=True, slots=True)
class Device:
    """What somebody signs in on: the browser in words, and the network it is in."""

    name: str = ""
    network: str = ""


async def issue(
    tx: Transaction, account: Account, purpose: str, lasts: timedelta | None = None, *, device: Device | None = None,
    name: str = "", scopes: Iterable[str] | None = None, city: str | None = None, token: str = "",
) -> str:  # fmt: skip
    """Make a token for one of the purposes of Credential and return it; only its digest is kept, of a key also how it begins.

    `token`: one that is derived for a letter, in place of a random one.
    """
    token = token or f"sc_{purpose}_{secrets.token_urlsafe(32)}"
    made = Credential(
        account_id=account.id or 0, digest=digest_of(token), purpose=purpose, created_at=tx.now,
        expires_at=tx.now + lasts if lasts else None, hint=token[:_HINT_CHARACTERS] if purpose == "api" else "",
        name=(device.name if device else name)[:200], network=device.network if device else "",
        scopes=None if scopes is None else sorted(scopes), city=city,
    )  # fmt: skip
    tx.session.add(made)
    await tx.session.flush()
    return token


async def staff_of(tx: Transaction, token: str, purpose: str) -> Staff:
    """Whose token it is. Raises NotSignedIn for one that is unknown, of another purpose, used up or out of date."""
    account, credential = await valid(tx, token, purpose)
    staff = (await staff_by_account(tx, [account])).get(account.id or 0)
    roles = staff.roles if staff else {}
    if credential.city is not None and staff is not None:  # a key of one city is worth what its account is worth there
        held = staff.role_in(credential.city)
        roles = {credential.city: held} if held else {}
    if not roles:
        raise NotSignedIn("this account has no role any more")
    return _staff(account.email, roles, credential)


async def still_signed_in(tx: Transaction, credentials: Collection[int]) -> dict[int, Staff]:
    """Of these sessions, by their numbers, those that are still good, each with whose it is and what they may do by now."""
    query = (
        select(Credential, Account)
        .join(Account, col(Account.id) == col(Credential.account_id))
        .where(col(Credential.id).in_(credentials), col(Credential.purpose) == "session", col(Credential.used_at).is_(None))
        .where(or_(col(Credential.expires_at).is_(None), col(Credential.expires_at) > tx.now))
    )
    rows = (await tx.session.execute(query)).all()
    staff = await staff_by_account(tx, [account for _, account in rows])
    return {
        credential.id or 0: _staff(account.email, staff[account.id or 0].roles, credential)
        for credential, account in rows
        if account.id in staff
    }


async def staff_now(house: House, token: str, purpose: str) -> Staff:
    """The same in a transaction of its own; that the token was used is kept. Raises NotSignedIn."""
    async with reading(house) as tx:
        staff = await staff_of(tx, token, purpose)
    if staff.seen_at is None or house.now() - staff.seen_at >= _SEEN_EVERY:
        try:
            async with transaction(house, staff.email) as tx:
                await tx.session.execute(update(Credential).where(col(Credential.id) == staff.credential).values(seen_at=tx.now))
        except SQLAlchemyError:  # a note for its owner, no reason to turn them away
            log.exception("the use of credential %s could not be noted", staff.credential)
    return staff


async def use_up(tx: Transaction, token: str, purpose: str) -> tuple[Account, Credential]:
    """Use a token that works once; of two that come at once, one does. Raises NotSignedIn."""
    account, credential = await valid(tx, token, purpose)
    first = update(Credential).where(col(Credential.id) == credential.id, col(Credential.used_at).is_(None)).values(used_at=tx.now)
    if (await tx.session.execute(first.returning(col(Credential.id)))).first() is None:
        raise NotSignedIn("this token is used up")
    return account, credential


async def close_session(tx: Transaction, token: str) -> None:
    """End a session; one that is not valid is ended already."""
    found = (await tx.session.execute(select(Credential).where(col(Credential.digest) == digest_of(token)))).scalar_one_or_none()
    if found is not None and found.purpose in ("session", "half") and found.used_at is None:
        found.used_at = tx.now
        if found.purpose == "session":
            account = await tx.session.get(Account, found.account_id)
            await staff_log.note(tx, "session:ended", account, account.email if account else "", device=found.name)


async def end_tokens(tx: Transaction, account: Account, purposes: Iterable[str], keep: int = 0) -> int:
    """End every token of an account of these purposes, but for one. Returns how many there were."""
    mine = (col(Credential.account_id) == account.id, col(Credential.purpose).in_(list(purposes)), col(Credential.id) != keep)
    ended = update(Credential).where(*mine, col(Credential.used_at).is_(None)).values(used_at=tx.now).returning(col(Credential.id))
    return len((await tx.session.execute(ended)).all())


async def valid(tx: Transaction, token: str, purpose: str) -> tuple[Account, Credential]:
    """The account of a token and what is kept of it. Raises NotSignedIn as `staff_of`."""
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
    if account.ended_at is not None:
        raise NotSignedIn("this account has ended")
    return account, credential
