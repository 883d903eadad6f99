"""Passkeys (Web Authentication): key pairs on a device or in a password manager, which its owner unlocks by finger, face or PIN.

One press is both steps of signing in: something its owner has, and something they are or know. Only public halves are kept. A passkey works
on the site it was made for and on no other, so that nobody can be led to give it away. Needs the extra `passkeys`.
"""

from __future__ import annotations

import base64
import importlib.util
import ipaddress
import json
import logging
import re
import secrets
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import func, select, update
from sqlmodel import col

from service import account_letters, round_trips, staff_log
from service.access import Device, Staff, account_of
from service.account_tables import Passkey
from service.errors import BadInput, Conflict, NotKnown, NotSignedIn
from service.settings import Settings
from service.signing_in import Entered, admit
from service.tables import Account
from service.transaction import House, Transaction, transaction

log = logging.getLogger(__name__)

MOST = 20
# What a browser sends of the largest key there is stays far below this.
LONGEST_ANSWER = 20_000
_EXTRA = "pip install 'spillclock[passkeys]'"
_NEW, _IN = "new passkey", "passkey"
_SHOWN_AS = "Spillclock"
_HANDLE_BYTES = 32
_KEY_ID = re.compile(r"[\w-]{1,1400}", re.ASCII)
_COPIED = "its counter went back: it may be a copy"
_CANNOT = "the passkey was not taken"
_RIGHT = "right would be: try again, with a passkey that was made for this site and is still listed under Account"


def why_not(settings: Settings) -> str:
    """Why passkeys are not offered, and what would be right; empty where they are."""
    if not _is_installed():
        return f"the extra is not installed; {_EXTRA}"
    site = urlsplit(settings.public_url)
    try:
        ipaddress.ip_address(site.hostname or "")
    except ValueError:
        if site.scheme == "https" or site.hostname == "localhost":
            return ""
        return "browsers take them over https only; right would be: SPILLCLOCK_BASE_URL=https://spills.example.gov"
    # Web Authentication, 5.1.3 step 8: the site is named by a domain.
    return "a site without a name has none; right would be: SPILLCLOCK_BASE_URL=https://spills.example.gov, or http://localhost:8000"


@cache
def _is_installed() -> bool:
    return importlib.util.find_spec("webauthn") is not None


def are_offered(settings: Settings) -> bool:
    """Whether people can sign in with passkeys here."""
    return not why_not(settings)


def site_of(settings: Settings) -> tuple[str, str]:
    """The domain that passkeys are made for, and the origin that browsers name with each answer."""
    site = urlsplit(settings.public_url)
    default = {"https": 443, "http": 80}[site.scheme]
    port = f":{site.port}" if site.port not in (None, default) else ""
    return site.hostname or "", f"{site.scheme}://{site.hostname}{port}"


# -- one's own


async def of_account(tx: Transaction, account: Account) -> Sequence[Passkey]:
    """The passkeys of an account, the oldest first."""
    query = select(Passkey).where(col(Passkey.account_id) == account.id).order_by(col(Passkey.id))
    return (await tx.session.execute(query)).scalars().all()


async def begin_to_make(tx: Transaction, staff: Staff, name: str) -> tuple[round_trips.Begun, dict[str, Any]]:
    """Begin to make a passkey under a name, for a session of somebody who was just asked who they are.

    Returns what the browser holds until the device has answered, and what it asks the device for. Raises BadInput, Conflict.
    """
    _require(tx.house)
    name = " ".join(name.split())
    if not name or len(name) > 100:
        raise BadInput("no passkey was made", ["Name: right would be: what it is on, as in: my phone; at most 100 characters"])
    account = await account_of(tx, staff.email)
    mine = await of_account(tx, account)
    if len(mine) >= MOST:
        raise Conflict(f"there are {MOST} passkeys already; right would be: remove one that you do not use")
    handle = mine[0].handle if mine else _text(secrets.token_bytes(_HANDLE_BYTES))
    kept = {"name": name, "handle": handle, "session": staff.credential}
    begun = await round_trips.begin(tx, _NEW, account.id, kept)
    return begun, _options_to_make(tx.house, begun, account, [one.key_id for one in mine])


async def make(house: House, staff: Staff, secret: str, answer: str) -> Passkey:
    """Keep the passkey that a device made. Raises BadInput where the answer does not fit, or somebody has this key already."""
    begun = await _end_to_make(house, staff, secret)
    made = _verified_new(house, begun, answer)
    async with transaction(house, staff.email) as tx:
        if await tx.session.scalar(select(func.count()).select_from(Passkey).where(col(Passkey.key_id) == made.key_id)):
            raise BadInput(_CANNOT, ["Passkey: it is in use already; right would be: another device"])
        account = await account_of(tx, staff.email)
        made.account_id, made.made_at = account.id or 0, tx.now
        tx.session.add(made)
        await tx.session.flush()
        await staff_log.note(tx, "passkey:made", account, name=made.name)
        await account_letters.notice(tx, account, f"A passkey was added to it: {made.name}.")
        return made


async def _end_to_make(house: House, staff: Staff, secret: str) -> round_trips.Begun:
    """What was begun to be made by this session; it is over with that, whatever becomes of the answer. Raises BadInput."""
    async with transaction(house, staff.email) as tx:
        account = await account_of(tx, staff.email)
        try:
            begun = await round_trips.end(tx, secret, _NEW)
        except NotSignedIn as error:
            raise BadInput(_CANNOT, [f"Passkey: {error}; right would be: begin again"]) from None
    if begun.account_id != account.id or begun.kept["session"] != staff.credential:
        raise BadInput(_CANNOT, ["Passkey: it was begun by somebody else; right would be: begin again"])
    return begun


async def remove(tx: Transaction, account: Account, number: int) -> Passkey:
    """Let a passkey of an account open nothing any more. Raises NotKnown."""
    for one in await of_account(tx, account):
        if one.id == number:
            await tx.session.delete(one)
            await staff_log.note(tx, "passkey:removed", account, name=one.name)
            await account_letters.notice(tx, account, f"A passkey was removed from it: {one.name}.")
            return one
    raise NotKnown(f"there is no passkey {number}")


# -- signing in


async def begin_to_sign_in(house: House) -> tuple[round_trips.Begun, dict[str, Any]]:
    """Begin to sign in with whichever passkey the device has for this site. Returns as `begin_to_make`. Raises Conflict."""
    _require(house)
    async with transaction(house, "sign-in") as tx:
        begun = await round_trips.begin(tx, _IN)
    return begun, _options_to_sign_in(house, begun)


async def sign_in(house: House, secret: str, answer: str, device: Device, before: str = "") -> Entered:
    """Sign in by a device's answer. Raises NotSignedIn, the same for whatever does not fit; `before` as in signing_in.by_password."""
    _require(house)
    async with transaction(house, "sign-in") as tx:
        try:
            begun = await round_trips.end(tx, secret, _IN)
        except NotSignedIn:
            raise NotSignedIn(f"{_CANNOT}; {_RIGHT}") from None
        account, problem = await _whose(tx, begun, answer)
        if not problem and account is not None:
            return await admit(tx, account, device, "passkey", before, is_both_steps=True)
        await staff_log.note(tx, "sign-in:failed", account, "sign-in", by="passkey", because=problem, network=device.network)
        if problem == _COPIED and account is not None:
            await account_letters.notice(
                tx, account, "A passkey of yours was refused, because its counter went back: it may have been copied."
            )
    raise NotSignedIn(f"{_CANNOT}; {_RIGHT}")


async def _whose(tx: Transaction, begun: round_trips.Begun, answer: str) -> tuple[Account | None, str]:
    """The account whose passkey answered, with what is wrong about the answer; the key's use is noted where nothing is."""
    given = _read(answer)
    named, response = str(given.get("id")), given.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None
    query = select(Passkey, Account).join(Account, col(Account.id) == col(Passkey.account_id)).where(col(Passkey.key_id) == named)
    row = (await tx.session.execute(query)).first() if _KEY_ID.fullmatch(named) else None
    if row is None:
        return None, "no such passkey"
    key, account = row
    if not isinstance(handle, str) or handle.rstrip("=") != key.handle:
        return account, "it belongs to another account"
    if account.ended_at is not None:
        return account, "the account has ended"
    count = _count_of(tx.house, begun, given, key)
    if count is None:
        return account, "the answer does not fit"
    if (count or key.sign_count) and count <= key.sign_count:  # Web Authentication, 6.1.1
        return account, _COPIED
    # Of two answers that say the same count, one is a copy's; what does not count (0) is met by the challenge, which works once.
    mine = (col(Passkey.id) == key.id, col(Passkey.sign_count) == key.sign_count)
    used = update(Passkey).where(*mine).values(sign_count=count, used_at=tx.now).returning(col(Passkey.id))
    return account, "" if (await tx.session.execute(used)).first() else "it was used twice at once"


# -- what the library does


def _require(house: House) -> None:
    if problem := why_not(house.settings):
        raise Conflict(f"passkeys are not offered here: {problem}")


def _options_to_make(house: House, begun: round_trips.Begun, account: Account, others: Sequence[str]) -> dict[str, Any]:
    from webauthn import generate_registration_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers import structs as given

    options = generate_registration_options(
        rp_id=site_of(house.settings)[0], rp_name=_SHOWN_AS, user_id=_bytes(begun.kept["handle"]), user_name=account.email,
        user_display_name=account.name or account.email, challenge=begun.derived(house, _NEW),
        timeout=int(round_trips.LASTS.total_seconds() * 1000), attestation=given.AttestationConveyancePreference.NONE,
        authenticator_selection=given.AuthenticatorSelectionCriteria(
            resident_key=given.ResidentKeyRequirement.REQUIRED, user_verification=given.UserVerificationRequirement.REQUIRED
        ),
        exclude_credentials=[given.PublicKeyCredentialDescriptor(id=_bytes(one)) for one in others],
    )  # fmt: skip
    return options_to_json_dict(options)


def _options_to_sign_in(house: House, begun: round_trips.Begun) -> dict[str, Any]:
    from webauthn import generate_authentication_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import UserVerificationRequirement

    options = generate_authentication_options(
        rp_id=site_of(house.settings)[0], challenge=begun.derived(house, _IN), timeout=int(round_trips.LASTS.total_seconds() * 1000),
        user_verification=UserVerificationRequirement.REQUIRED,
    )  # fmt: skip
    return options_to_json_dict(options)


def _verified_new(house: House, begun: round_trips.Begun, answer: str) -> Passkey:
    """What a device made, without its account and time. Raises BadInput."""
    from webauthn import verify_registration_response

    domain, origin = site_of(house.settings)
    try:
        made = verify_registration_response(
            credential=_read(answer), expected_challenge=begun.derived(house, _NEW), expected_rp_id=domain, expected_origin=origin,
            require_user_verification=True,
        )  # fmt: skip
    except Exception as error:  # whatever the library makes of odd bytes: nothing is kept
        log.info("a new passkey does not fit: %s", type(error).__name__)
        raise BadInput(_CANNOT, ["Passkey: what the device answered does not fit; right would be: begin again on this page"]) from None
    return Passkey(
        account_id=0, key_id=_text(made.credential_id), public_key=_text(made.credential_public_key), sign_count=made.sign_count,
        handle=begun.kept["handle"], name=begun.kept["name"], made_at=house.now(),
    )  # fmt: skip


def _count_of(house: House, begun: round_trips.Begun, given: dict[str, Any], key: Passkey) -> int | None:
    """How often the device says that a key was used, once its signature was found right; None where the answer does not fit."""
    from webauthn import verify_authentication_response

    domain, origin = site_of(house.settings)
    try:
        found = verify_authentication_response(
            credential=given, expected_challenge=begun.derived(house, _IN), expected_rp_id=domain, expected_origin=origin,
            credential_public_key=_bytes(key.public_key), credential_current_sign_count=0, require_user_verification=True,
        )  # fmt: skip
    except Exception as error:  # whatever the library makes of odd bytes: nobody is let in
        log.info("a passkey does not fit: %s", type(error).__name__)
        return None
    return found.new_sign_count


def _read(answer: str) -> dict[str, Any]:
    """The answer of a browser; an empty one where it is no JSON object."""
    if len(answer) > LONGEST_ANSWER:
        return {}
    try:
        given = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _text(given: bytes) -> str:
    return base64.urlsafe_b64encode(given).decode().rstrip("=")


def _bytes(given: str) -> bytes:
    return base64.urlsafe_b64decode(given + "=" * (-len(given) % 4))
