"""The second step of signing in: six digits of an authenticator app (TOTP, RFC 6238), or a recovery code where the app is lost.

The key of the app is derived from the secret key of the service and a seed in the database: who steals the database alone has none of them.
Each time step counts once (RFC 6238, 5.2), so that digits read over a shoulder are worth nothing once they were used.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets

import pyotp
from sqlalchemy import delete, func, select, update
from sqlmodel import col

from service import staff_log
from service.account_tables import RecoveryCode
from service.errors import BadInput, Conflict
from service.tables import Account
from service.transaction import House, Transaction

RECOVERY_CODES = 10
_ISSUER = "Spillclock"
_STEP_SECONDS = 30
# A clock that is half a minute off is met; more steps would be more to guess among.
_STEPS_AROUND = 1
_CODE_BYTES = 10


def is_on(account: Account) -> bool:
    """Whether the second step is asked of this account."""
    return account.totp_at is not None


def app_key(house: House, account: Account) -> str:
    """The key for the authenticator app, base32 without padding."""
    made = hmac.new(house.signing_key, f"totp|{account.id}|{account.totp_seed}".encode(), hashlib.sha256).digest()
    return base64.b32encode(made[:20]).decode()


def app_address(house: House, account: Account) -> str:
    """The otpauth address that carries the key into an app, also as a QR code."""
    return pyotp.TOTP(app_key(house, account)).provisioning_uri(name=account.email, issuer_name=_ISSUER)


async def begin(tx: Transaction, account: Account) -> None:
    """Make a new key, which counts once the app has shown that it has it. Raises Conflict where the step is on already."""
    if is_on(account):
        raise Conflict("the second step is on already; switch it off first")
    account.totp_seed = secrets.token_urlsafe(32)


async def switch_on(tx: Transaction, account: Account, code: str) -> list[str]:
    """Switch the step on with a first code of the app, and return the recovery codes, shown this once. Raises BadInput, Conflict."""
    if is_on(account) or not account.totp_seed:
        raise Conflict("the second step is on already, or was not begun")
    if not await _use_step(tx, account, code):
        right = "the six digits that the app shows now; if they are right, set the clock of the phone by the network"
        raise BadInput("the code does not fit", [f"Code: it does not fit; right would be: {right}"])
    account.totp_at = tx.now
    await staff_log.note(tx, "code:on", account)
    return await new_recovery_codes(tx, account)


async def switch_off(tx: Transaction, account: Account) -> None:
    """Ask for no second step any more; the key and the recovery codes are worth nothing from now on."""
    account.totp_seed, account.totp_at = "", None
    await tx.session.execute(delete(RecoveryCode).where(col(RecoveryCode.account_id) == account.id))
    await staff_log.note(tx, "code:off", account)


async def check(tx: Transaction, account: Account, code: str) -> bool:
    """Whether a code of the app, or a recovery code, is right; it is used up by that."""
    if not is_on(account):
        return False
    if re.fullmatch(r"\d{6}", re.sub(r"\s", "", code), re.ASCII):
        return await _use_step(tx, account, code)
    used = (
        update(RecoveryCode)
        .where(col(RecoveryCode.account_id) == account.id, col(RecoveryCode.digest) == _digest(tx.house, account, code))
        .where(col(RecoveryCode.used_at).is_(None))
        .values(used_at=tx.now)
        .returning(col(RecoveryCode.id))
    )
    if (await tx.session.execute(used)).first() is None:
        return False
    await staff_log.note(tx, "code:recovery-used", account, account.email, left=await codes_left(tx, account))
    return True


async def new_recovery_codes(tx: Transaction, account: Account) -> list[str]:
    """Make recovery codes in place of those there were, and return them; only keyed hashes are kept."""
    await tx.session.execute(delete(RecoveryCode).where(col(RecoveryCode.account_id) == account.id))
    codes = [_readable(secrets.token_bytes(_CODE_BYTES)) for _ in range(RECOVERY_CODES)]
    tx.session.add_all(RecoveryCode(account_id=account.id or 0, digest=_digest(tx.house, account, code), made_at=tx.now) for code in codes)
    await staff_log.note(tx, "code:recovery-made", account)
    return codes


async def codes_left(tx: Transaction, account: Account) -> int:
    """How many recovery codes are unused."""
    mine = (col(RecoveryCode.account_id) == account.id, col(RecoveryCode.used_at).is_(None))
    return await tx.session.scalar(select(func.count()).select_from(RecoveryCode).where(*mine)) or 0


async def _use_step(tx: Transaction, account: Account, code: str) -> bool:
    """Whether the digits are those of a time step near now that is newer than the last used one; it is then the last."""
    given = re.sub(r"\s", "", code)
    app = pyotp.TOTP(app_key(tx.house, account), interval=_STEP_SECONDS)
    now = app.timecode(tx.now)
    fits = [step for step in range(now - _STEPS_AROUND, now + _STEPS_AROUND + 1) if _same(app.generate_otp(step), given)]
    if not fits:
        return False
    used = (
        update(Account)
        .where(col(Account.id) == account.id, col(Account.totp_step) < fits[-1])
        .values(totp_step=fits[-1])
        .returning(col(Account.id))
    )
    return (await tx.session.execute(used)).first() is not None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))


def _readable(made: bytes) -> str:
    """Sixteen letters and digits in groups of four."""
    text = base64.b32encode(made).decode().lower()
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def _digest(house: House, account: Account, code: str) -> str:
    plain = re.sub(r"[\s-]", "", code).lower()
    return hmac.new(house.signing_key, f"recovery|{account.id}|{plain}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()
