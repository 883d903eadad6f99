"""Who has an account: invited, given roles, ended and restored by administrators; passwords and sessions by their owners.

An administrator of some cities manages what accounts may do there, and whole accounts only where they belong to these cities alone.
Nothing that is done here may leave a city, or the whole service, without the administrator that it has.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func, or_, select, update
from sqlmodel import col

from service import account_letters, second_factor, staff_log
from service.access import (
    LINK_LASTS,
    ROLES,
    Staff,
    add_account,
    end_tokens,
    find_account,
    issue,
    put_roles,
    staff_by_account,
    use_up,
    valid,
)
from service.account_tables import AccountRole, Passkey, ProviderLink, StaffAction
from service.errors import BadInput, Conflict, NotAllowed, NotKnown
from service.passwords import faults_of
from service.tables import Account, Credential, Subscription
from service.transaction import House, Transaction, reading, transaction

log = logging.getLogger(__name__)

FIRST_ADMINISTRATOR = "administrator@spillclock.example"
# So many links of one purpose may be under way to one address; more would only fill a mailbox.
MOST_LINKS = 5
# Whoever presses twice gets one letter.
_AGAIN_AFTER = timedelta(minutes=1)
Roles = Mapping[str | None, str]


@dataclass(frozen=True, slots=True)
class Listed:
    """An account as an administrator sees it: its roles, whether it is theirs as a whole, and the token that was used last."""

    account: Account
    roles: Roles
    is_whole: bool
    seen: Credential | None


# -- administrators


def require_administrator(staff: Staff) -> None:
    """Raise NotAllowed unless this is an administrator of some city or of all, and the token is for managing."""
    if "administrator" not in staff.roles.values():
        raise NotAllowed(f"this needs the role administrator; you are {staff.highest()}")
    staff.require_scope("manage")


async def listed(tx: Transaction, staff: Staff) -> list[Listed]:
    """The accounts that an administrator may see: those with a role in a city of theirs, by address. Raises NotAllowed."""
    require_administrator(staff)
    mine = staff.administers
    accounts = (await tx.session.execute(select(Account).order_by(col(Account.ended_at).is_not(None), col(Account.email)))).scalars().all()
    roles = await _roles(tx)
    last = select(func.max(col(Credential.id))).where(col(Credential.purpose).in_(("session", "api")), col(Credential.seen_at).is_not(None))
    seen = (await tx.session.execute(select(Credential).where(col(Credential.id).in_(last.group_by(col(Credential.account_id)))))).scalars()
    used = {credential.account_id: credential for credential in seen}
    found = []
    for account in accounts:
        held = roles.get(account.id or 0, {})
        if mine is None or any(city is None or city in mine for city in held):
            found.append(Listed(account, held, _is_whole(mine, held), used.get(account.id or 0)))
    return found


async def one(tx: Transaction, staff: Staff, number: int) -> Listed:
    """One of them. Raises NotKnown, NotAllowed."""
    for found in await listed(tx, staff):
        if found.account.id == number:
            return found
    raise NotKnown(f"there is no account {number}")


async def whole(tx: Transaction, staff: Staff, number: int) -> Account:
    """An account that an administrator manages as a whole, not only its roles. Raises NotKnown, NotAllowed."""
    found = await one(tx, staff, number)
    if not found.is_whole:
        raise NotAllowed("this account works for other cities, too; right would be: change its roles in yours, or ask who administers all")
    return found.account


async def done(
    tx: Transaction, staff: Staff, who: str = "", before: int = 0, most: int = 100
) -> Sequence[tuple[StaffAction, Account | None]]:
    """What staff did, as an administrator may read it: everything, or what concerns their cities and the accounts that are theirs as a
    whole. The newest first; `who` and `before` as in service/staff_log.py. Raises NotAllowed."""
    mine = {found.account.id or 0 for found in await listed(tx, staff) if found.is_whole}
    return await staff_log.actions(tx, cities=staff.administers, accounts=mine, who=who, before=before, most=most)


async def invite(tx: Transaction, staff: Staff, email: str, name: str, roles: Roles) -> tuple[Account, str]:
    """Add an account with roles, and promise its invitation. Returns its token, too, which works once. Raises BadInput, NotAllowed."""
    require_administrator(staff)
    faults = _faults_of_roles(tx.house, staff, roles)
    if faults:
        raise BadInput("nobody was invited", faults)
    (city, role), *_ = roles.items()
    try:
        account = await add_account(tx, email.strip(), role, city, name.strip())
    except BadInput as error:
        raise BadInput("nobody was invited", [fault.replace("EMAIL: ", "E-mail address: ") for fault in error.faults]) from None
    await put_roles(tx, account, roles)
    return account, await invite_again(tx, staff, account)


async def invite_again(tx: Transaction, staff: Staff, account: Account) -> str:
    """A new invitation in place of the one before. Raises Conflict where the person has signed in already, NotAllowed."""
    account = await whole(tx, staff, account.id or 0)
    signed_in = (col(Credential.account_id) == account.id, col(Credential.purpose) == "session")
    if account.ended_at is not None or await tx.session.scalar(select(func.count()).select_from(Credential).where(*signed_in)):
        raise Conflict("this person has signed in already, or the account has ended")
    await end_tokens(tx, account, ["invite"])
    await staff_log.note(tx, "account:invited", account, roles=_plain(await _roles_of(tx, account)))
    return await account_letters.invitation(tx, account, staff.email)


async def change_roles(tx: Transaction, staff: Staff, number: int, roles: Roles) -> Account:
    """Let these be the roles of an account in the cities that the administrator administers; those elsewhere stay. Without any left it
    can do nothing. Raises BadInput, NotAllowed, NotKnown, Conflict where a city would lose its only administrator."""
    await _alone(tx)
    found = await one(tx, staff, number)
    mine = staff.administers
    faults = _faults_of_roles(tx.house, staff, roles) if roles else []
    if faults:
        raise BadInput("the roles were not changed", faults)
    others = {} if mine is None else {city: role for city, role in found.roles.items() if city not in mine}
    before = await _administrators(tx)
    after = {**others, **roles}
    await put_roles(tx, found.account, after)
    await _keep_administrators(tx, before)
    if not after:
        await _sign_off(tx, found.account)
    await staff_log.note(tx, "account:roles", found.account, before=_plain(found.roles), after=_plain(after))
    return found.account


async def end(tx: Transaction, staff: Staff, number: int) -> Account:
    """End an account: sessions, keys, links and subscriptions end with it, the record keeps naming it. Raises as `change_roles`."""
    await _alone(tx)
    account = await whole(tx, staff, number)
    if account.ended_at is None:
        before = await _administrators(tx)
        account.ended_at = tx.now
        await tx.session.flush()
        await _keep_administrators(tx, before)
        await _sign_off(tx, account)
        await staff_log.note(tx, "account:ended", account)
    return account


async def restore(tx: Transaction, staff: Staff, number: int) -> Account:
    """Let somebody back in who had left, with the roles they had, but not with the password or passkeys. Raises NotKnown, NotAllowed."""
    account = await whole(tx, staff, number)
    if account.ended_at is not None:
        await _remove_passkeys(tx, account)
        account.ended_at, account.password, account.password_at = None, "", None
        await staff_log.note(tx, "account:restored", account)
    return account


async def take_off_second_step(tx: Transaction, staff: Staff, number: int) -> Account:
    """For somebody who lost the app and the recovery codes; their sessions end. Raises NotKnown, NotAllowed."""
    account = await whole(tx, staff, number)
    if second_factor.is_on(account):
        await second_factor.switch_off(tx, account)
        await end_tokens(tx, account, ["session", "half"])
    return account


async def remove_passkeys(tx: Transaction, staff: Staff, number: int) -> Account:
    """For somebody whose device was lost or stolen: none of their passkeys opens anything any more, and their sessions end.

    Raises NotKnown, NotAllowed.
    """
    account = await whole(tx, staff, number)
    if removed := await _remove_passkeys(tx, account):
        await end_tokens(tx, account, ["session", "half"])
        await staff_log.note(tx, "passkey:all-removed", account, passkeys=removed)
    return account


async def forget_provider(tx: Transaction, staff: Staff, number: int) -> Account:
    """Let the next sign-in at the identity provider be the first: the address was given to somebody else there. Sessions end.

    Raises NotKnown, NotAllowed.
    """
    account = await whole(tx, staff, number)
    if (link := await tx.session.get(ProviderLink, account.id)) is not None:
        await tx.session.delete(link)
        await end_tokens(tx, account, ["session", "half"])
        await staff_log.note(tx, "provider:unlinked", account, provider=link.issuer)
    return account


async def sign_out_of(tx: Transaction, staff: Staff, number: int) -> Account:
    """End every session of somebody. Raises NotKnown, NotAllowed."""
    account = await whole(tx, staff, number)
    await sign_out_everywhere(tx, account)
    return account


async def first_administrator(tx: Transaction) -> str | None:
    """Until somebody has signed in or holds a token: the token of a link that lets the first administrator in, once. Then None."""
    await tx.alone_with("first administrator")
    in_use = col(Credential.purpose).in_(("session", "api"))
    if await tx.session.scalar(select(func.count()).select_from(Credential).where(in_use)):
        return None
    account = await find_account(tx, FIRST_ADMINISTRATOR) or await add_account(tx, FIRST_ADMINISTRATOR, "administrator", None)
    return await issue(tx, account, "link", LINK_LASTS)


# -- links by mail


async def mail_link(house: House, email: str, purpose: str, wanted: str = "") -> None:
    """Mail a link where an address has an account; else do nothing that anybody could see. Run once the answer is out."""
    async with transaction(house, "sign-in") as tx:
        if await mailed_link(tx, email, purpose, wanted) is None:
            log.info("a link was asked for an address without an account, twice at once, or with too many links under way")


async def mailed_link(tx: Transaction, email: str, purpose: str, wanted: str = "") -> tuple[Account, str] | None:
    """Promise a link to sign in (`link`) or to set a new password (`recover`). Returns whose it is and its token, which the letter carries.

    None without an account, where one was promised in the last minute, or with too many under way.
    """
    account = await find_account(tx, email)
    if account is None or account.ended_at is not None:
        return None
    mine = select(func.count()).select_from(Credential).where(col(Credential.account_id) == account.id, col(Credential.purpose) == purpose)
    just_now = mine.where(col(Credential.created_at) > tx.now - _AGAIN_AFTER, col(Credential.used_at).is_(None))
    under_way = mine.where(col(Credential.created_at) > tx.now - LINK_LASTS)
    if await tx.session.scalar(just_now) or (await tx.session.scalar(under_way) or 0) >= MOST_LINKS:
        return None
    if purpose == "link":
        await staff_log.note(tx, "sign-in:link", account, "sign-in")
        return account, await account_letters.link_to_sign_in(tx, account, wanted)
    await staff_log.note(tx, "password:recovery", account, "sign-in")
    return account, await account_letters.link_to_recover(tx, account)


async def owner_of(tx: Transaction, token: str) -> tuple[Account, str]:
    """Whom a link to set a password is for, and whether it is an `invite` or a `recover`. Nothing is used up. Raises NotSignedIn."""
    purpose = "invite" if token.startswith("sc_invite_") else "recover"
    return (await valid(tx, token, purpose))[0], purpose


async def set_by_link(house: House, token: str, password: str) -> Account:
    """Set a password by a mailed link, once; every session ends. An invitation may do without a password, and is then only used.

    Raises NotSignedIn for a link that is not valid, BadInput for a password that is not good enough: the link then stays good.
    """
    async with reading(house) as tx:
        account, purpose = await owner_of(tx, token)
    hashed = "" if purpose == "invite" and not password else await _good(house, password, account.email)
    async with transaction(house, account.email) as tx:
        account, _ = await use_up(tx, token, purpose)
        if hashed:
            await _put_password(tx, account, hashed, keep=0)
            await account_letters.notice(tx, account, "Your password was set by a mailed link.")
        if purpose == "invite":
            await staff_log.note(tx, "account:joined", account)
        return account


# -- one's own account


async def set_password(house: House, staff: Staff, password: str) -> None:
    """Set one's own password; every other session ends. Raises BadInput where it is not good enough."""
    hashed = await _good(house, password, staff.email)
    async with transaction(house, staff.email) as tx:
        account = await find_account(tx, staff.email)
        if account is None:
            raise NotKnown("this account is gone")
        await _put_password(tx, account, hashed, keep=staff.credential)
        await account_letters.notice(tx, account, "Your password was set, and every other device was signed out.")


async def sessions_of(tx: Transaction, account: Account) -> Sequence[Credential]:
    """The sessions that are open, the one used last first."""
    live = (col(Credential.used_at).is_(None), or_(col(Credential.expires_at).is_(None), col(Credential.expires_at) > tx.now))
    query = select(Credential).where(col(Credential.account_id) == account.id, col(Credential.purpose) == "session", *live)
    latest = func.coalesce(col(Credential.seen_at), col(Credential.created_at)).desc()
    return (await tx.session.execute(query.order_by(latest, col(Credential.id).desc()))).scalars().all()


async def end_session(tx: Transaction, account: Account, number: int) -> None:
    """End one session of one's own. Raises NotKnown."""
    for session in await sessions_of(tx, account):
        if session.id == number:
            session.used_at = tx.now
            await staff_log.note(tx, "session:ended", account, device=session.name)
            return
    raise NotKnown(f"there is no session {number}")


async def sign_out_everywhere(tx: Transaction, account: Account) -> int:
    """End every session of an account, and what would become one. Returns how many sessions there were; keys of programs stay."""
    count = await end_tokens(tx, account, ["session"])
    await end_tokens(tx, account, ["half", "link", "recover"])
    await staff_log.note(tx, "session:all-ended", account, sessions=count)
    return count


# -- inside


async def _good(house: House, password: str, email: str) -> str:
    faults = faults_of(password, email)
    if faults:
        raise BadInput("the password was not set", faults)
    return await house.passwords.hashed(password)


async def _put_password(tx: Transaction, account: Account, hashed: str, keep: int) -> None:
    account.password, account.password_at = hashed, tx.now
    await end_tokens(tx, account, ["session", "half", "link", "recover"], keep)
    await staff_log.note(tx, "password:set", account)


async def _sign_off(tx: Transaction, account: Account) -> None:
    """Nothing lets this account in any more, and it is told nothing more."""
    await end_tokens(tx, account, ["session", "half", "link", "recover", "invite", "api"])
    mine = update(Subscription).where(col(Subscription.account_id) == account.id, col(Subscription.ended_at).is_(None))
    await tx.session.execute(mine.values(ended_at=tx.now, ended_why="the account has ended", next_digest_at=None))


async def _remove_passkeys(tx: Transaction, account: Account) -> int:
    removed = delete(Passkey).where(col(Passkey.account_id) == account.id).returning(col(Passkey.id))
    return len((await tx.session.execute(removed)).all())


def _faults_of_roles(house: House, staff: Staff, roles: Roles) -> list[str]:
    """What is wrong with roles that an administrator wants to give."""
    mine = staff.administers
    given = house.cities if mine is None else [city for city in house.cities if city in mine]
    unknown = [str(role)[:40] for role in roles.values() if role not in ROLES]
    faults = [f"Role: {role!r} is no role; right would be: one of {', '.join(ROLES)}" for role in unknown]
    for city in roles:
        if city is None and mine is not None:
            faults.append(f"Cities: you do not administer every city; right would be: some of {', '.join(given)}")
        elif city is not None and city not in given:
            faults.append(f"Cities: {city[:60]!r} is no city that you administer; right would be: some of {', '.join(given)}")
    return faults or ([] if roles else ["Role: none is chosen; right would be: a role in every city, or in one or more cities"])


def _is_whole(mine: frozenset[str] | None, roles: Roles) -> bool:
    """Whether an account belongs to the cities that somebody administers, and to no others."""
    return mine is None or (bool(roles) and all(city in mine for city in roles))


async def _alone(tx: Transaction) -> None:
    """Two administrators who take each other's role away at once must not both succeed."""
    await tx.alone_with("administrators")


async def _roles(tx: Transaction) -> dict[int, dict[str | None, str]]:
    found: dict[int, dict[str | None, str]] = {}
    for row in (await tx.session.execute(select(AccountRole).order_by(col(AccountRole.city)))).scalars():
        found.setdefault(row.account_id, {})[row.city] = row.role
    return found


async def _roles_of(tx: Transaction, account: Account) -> dict[str | None, str]:
    staff = (await staff_by_account(tx, [account])).get(account.id or 0)
    return staff.roles if staff else {}


async def _administrators(tx: Transaction) -> set[str | None]:
    """The cities that have an administrator of their own; None among them where somebody administers all."""
    query = select(col(AccountRole.city)).join(Account, col(Account.id) == col(AccountRole.account_id))
    live = query.where(col(AccountRole.role) == "administrator", col(Account.ended_at).is_(None))
    return set((await tx.session.execute(live)).scalars())


async def _keep_administrators(tx: Transaction, before: set[str | None]) -> None:
    after = await _administrators(tx)
    if None not in after and before - after:
        lost = " and ".join("the whole service" if city is None else city for city in sorted(before - after, key=str))
        raise Conflict(f"{lost} would have no administrator any more; right would be: make somebody else one first")


def _plain(roles: Roles) -> dict[str, str]:
    return {city or "every city": role for city, role in roles.items()}
