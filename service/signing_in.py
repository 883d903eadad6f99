"""Signing in: by password, by a mailed link, or with a token from the server; then by a code where the account asks for a second step.

Another way to prove who somebody is (an identity provider, a passkey) ends where these do, in `admit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from service import lockout, second_factor, staff_log
from service.access import SESSION_LASTS, Device, Staff, close_session, find_account, issue, staff_by_account, use_up, valid
from service.errors import BadInput, NotAllowed, NotSignedIn
from service.tables import Account
from service.transaction import House, Transaction, reading, transaction

# How long the code may take after the password or the link.
HALF_LASTS = timedelta(minutes=10)
# How old a session may be for what an attacker at an open screen would do, where there is no password to ask for.
_FRESH = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Entered:
    """What somebody who proved who they are gets: a session, or with `asks_code` a token that becomes one with a code."""

    token: str
    asks_code: bool = False


async def by_password(house: House, email: str, password: str, device: Device, before: str = "") -> Entered:
    """Sign in with a password. Raises NotSignedIn, the same for whatever was wrong and after as long; Locked after many failures.

    `before` is a session the browser held until now; it ends.
    """
    await lockout.attempt(house, email, device.network)
    async with reading(house) as tx:
        account = await find_account(tx, email)
        kept = account.password if account and account.ended_at is None else ""
    match = await house.passwords.match(password, kept)
    async with transaction(house, "sign-in") as tx:
        account = await find_account(tx, email)
        is_right = match.is_right and account is not None and account.ended_at is None and account.password == kept
        if is_right and account is not None:
            await lockout.forgive(tx, email, device.network)
            account.password = match.better or account.password
            return await admit(tx, account, device, "password", before)
        await staff_log.note(tx, "sign-in:failed", account, "sign-in", by="password", network=device.network)
    raise NotSignedIn("the address and the password do not fit together")


async def by_link(house: House, token: str, device: Device, before: str = "") -> Entered:
    """Sign in with a mailed link, once. Raises NotSignedIn."""
    async with transaction(house, "sign-in") as tx:
        account, _ = await use_up(tx, token, "link")
        return await admit(tx, account, device, "mailed link", before)


async def by_token(house: House, token: str, device: Device, before: str = "") -> Entered:
    """Sign in with a token that was made on the server for everything its account may. Raises NotSignedIn, also for keys of programs.

    It asks for no code: whoever runs the server lets back in who lost the app and every recovery code.
    """
    async with transaction(house, "sign-in") as tx:
        account, credential = await valid(tx, token, "api")
        if credential.scopes is not None or credential.city is not None:
            raise NotSignedIn("this key is for programs and opens no session")
        return Entered(await _open(tx, account, device, "token", before))


async def by_code(house: House, half: str, code: str, device: Device, before: str = "") -> Entered:
    """The second step. Raises NotSignedIn where the first is too long ago, BadInput for a wrong code, Locked after many of them."""
    async with reading(house) as tx:
        account, _ = await valid(tx, half, "half")
    await lockout.attempt(house, account.email, device.network, "code")
    async with transaction(house, "sign-in") as tx:
        account, credential = await valid(tx, half, "half")
        if await second_factor.check(tx, account, code):
            await use_up(tx, half, "half")
            await lockout.forgive(tx, account.email, device.network, "code")
            return Entered(await _open(tx, account, device, f"{credential.name} and code", before))
        await staff_log.note(tx, "sign-in:failed", account, "sign-in", by="code", network=device.network)
    raise BadInput("the code does not fit", ["Code: it does not fit, or was used already; right would be: the next one the app shows"])


async def admit(tx: Transaction, account: Account, device: Device, way: str, before: str = "", *, is_both_steps: bool = False) -> Entered:
    """Open a session for whoever proved to own an account, or ask for the second step, unless the way they came is both steps already.

    Raises NotSignedIn for an account without any role.
    """
    if account.id not in await staff_by_account(tx, [account]):
        raise NotSignedIn("this account has no role any more")
    if is_both_steps or not second_factor.is_on(account):
        return Entered(await _open(tx, account, device, way, before))
    return Entered(await issue(tx, account, "half", HALF_LASTS, name=way), asks_code=True)


async def _open(tx: Transaction, account: Account, device: Device, way: str, before: str) -> str:
    """A new session; the one that the browser held ends, whoever's it was: nobody keeps one that was planted."""
    if before:
        await close_session(tx, before)
    await staff_log.note(tx, "sign-in:done", account, account.email, by=way, device=device.name, network=device.network)
    return await issue(tx, account, "session", SESSION_LASTS, device=device)


async def confirm(house: House, staff: Staff, password: str, device: Device) -> None:
    """Ask whoever is signed in once more who they are, before what somebody at their open screen would do.

    Raises NotAllowed for a wrong password, or without one for a session that was opened too long ago; Locked after many failures.
    """
    async with reading(house) as tx:
        account = await find_account(tx, staff.email)
        kept = account.password if account else ""
    if not kept:
        if staff.opened_at is None or house.now() - staff.opened_at > _FRESH:
            raise NotAllowed("you signed in more than 15 minutes ago; right would be: sign out, sign in again, and do it then")
        return
    await lockout.attempt(house, staff.email, device.network)
    if not (await house.passwords.match(password, kept)).is_right:
        async with transaction(house, staff.email) as tx:
            await staff_log.note(tx, "sign-in:failed", account, by="password, while signed in", network=device.network)
        raise NotAllowed("this is not your password")
    async with transaction(house, staff.email) as tx:
        await lockout.forgive(tx, staff.email, device.network)
