"""Signing in at the city's identity provider: for people who have an account here, by the address that the provider vouches for.

At the first sign-in the provider's own word for somebody is kept with the account; from then on the address alone is not enough. Addresses
are handed on when people leave, these words never are.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlmodel import col

from service import identity_provider, round_trips, staff_log
from service.access import Device, add_account, find_account
from service.account_tables import ProviderLink
from service.errors import BadInput, Conflict, NotSignedIn
from service.identity_provider import Known
from service.settings import Settings
from service.signing_in import Entered, admit
from service.tables import Account
from service.transaction import House, Transaction, transaction

_PURPOSE = "provider"
_WAY = "identity provider"


def is_offered(settings: Settings) -> bool:
    """Whether people can sign in at an identity provider."""
    return not identity_provider.why_not(settings)


async def begin(house: House, wanted: str) -> tuple[round_trips.Begun, str]:
    """Begin to sign in; `wanted` is the page to go on to. Returns what the browser holds, and where it goes.

    Raises ProviderDown, Conflict.
    """
    _require(house)
    async with transaction(house, "sign-in") as tx:
        begun = await round_trips.begin(tx, _PURPOSE, kept={"wanted": wanted})
    return begun, await identity_provider.address_to_sign_in(house, begun)


async def end(house: House, secret: str, answer: Mapping[str, str], device: Device, before: str = "") -> tuple[Entered, str]:
    """Take the provider's answer: sign in, and say which page was wanted.

    Raises NotSignedIn with a sentence for whoever tries; ProviderDown, Conflict. `before` as in signing_in.by_password.
    """
    _require(house)
    over = NotSignedIn("this sign-in was not begun in this browser, was ended already, or took too long; begin again")
    if (error := answer.get("error", "")) and not answer.get("state"):  # which some providers leave out with a no
        raise identity_provider.refusal(house.settings, error)
    if not identity_provider.is_answer_to(house, secret, answer.get("state", "")):
        raise over
    async with transaction(house, "sign-in") as tx:
        try:
            begun = await round_trips.end(tx, secret, _PURPOSE)
        except NotSignedIn:
            raise over from None
    known = await identity_provider.known_by(house, begun, answer)
    async with transaction(house, "sign-in") as tx:
        account, problem = await _account_of(tx, known)
        if account is not None and not problem:
            entered = await admit(tx, account, device, _WAY, before, is_both_steps=known.is_both_steps)
            return entered, begun.kept["wanted"]
        said = {"by": _WAY, "because": problem, "network": device.network}
        await staff_log.note(tx, "sign-in:failed", account, "sign-in", **said, address="" if account else known.email[:320])
    raise NotSignedIn(problem)


async def link_of(tx: Transaction, account: Account) -> ProviderLink | None:
    """Since when the provider knows an account, and as whom; None before the first sign-in there."""
    return await tx.session.get(ProviderLink, account.id)


async def _account_of(tx: Transaction, known: Known) -> tuple[Account | None, str]:
    """The account that somebody signs in to, with what keeps them from it, in words for them."""
    settings, called = tx.house.settings, tx.house.settings.oidc_called
    linked = (col(ProviderLink.issuer) == settings.oidc_issuer, col(ProviderLink.subject) == known.subject)
    of_subject = (await tx.session.execute(select(ProviderLink).where(*linked))).scalar_one_or_none()
    account = await find_account(tx, known.email)
    if not known.is_verified:
        return account, f"{called} does not say that your e-mail address is verified"
    if account is None:
        if of_subject is not None or not settings.oidc_new_accounts:
            return None, f"{called} knows you as {known.email}, which has no account here. An administrator of your city invites you"
        account = await _new_account(tx, known)
        if account is None:
            return None, f"{called} knows you as {known.email}, which can be given no account here"
    if account.ended_at is not None:
        return account, "your account has ended"
    link = await link_of(tx, account)
    if link is not None and link.issuer != settings.oidc_issuer:  # whoever runs this service chose another provider
        await tx.session.delete(link)
        await tx.session.flush()
        link = None
    if link is not of_subject:  # in one session a row is one object
        return (
            account,
            f"{called} knows somebody else by your e-mail address, or knew you by another. An administrator can let it begin anew",
        )
    if link is None:
        tx.session.add(ProviderLink(account_id=account.id or 0, issuer=settings.oidc_issuer, subject=known.subject, since=tx.now))
        await tx.session.flush()
        await staff_log.note(tx, "provider:linked", account, provider=settings.oidc_issuer)
    return account, ""


async def _new_account(tx: Transaction, known: Known) -> Account | None:
    role, _, city = tx.house.settings.oidc_new_accounts.partition(":")
    try:
        return await add_account(tx, known.email, role, city or None, known.name)
    except BadInput:  # an address that no account can have
        return None


def _require(house: House) -> None:
    if problem := identity_provider.why_not(house.settings):
        raise Conflict(f"nobody can sign in at an identity provider here: {problem}")
