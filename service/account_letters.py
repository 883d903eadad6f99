"""The letters about accounts: links that work once, and notices of what was changed. Promised in the transaction they belong to.

They go out as every message does: claimed, tried again, each try on record. The secret of a link is derived for its message when it goes
out (service/links.py) and stands in no table: of a copy of the database no link can be made.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlmodel import col

from service.access import LINK_LASTS, digest_of, issue, staff_by_account
from service.links import TO_BE_CONFIRMED, account_step, account_token, purpose_of_step
from service.speech import local
from service.tables import Account, Credential, MessageRow
from service.transaction import Transaction

INVITATION_LASTS = timedelta(days=7)
# A letter that cannot be handed over is tried for so long, or until its link is worth nothing.
_PATIENCE = timedelta(hours=24)
# Whoever signs in waits for the link: it goes before every alert. Duties in time have rank 0 and a time that is to come.
_RANK = 0
_NOTICE = "notice"
_NOT_YOU = (
    "If this was not you, sign in, choose Account, set a new password and sign out everywhere; or ask the person who manages accounts."
)
_DO_NOTHING = "If you did not ask for it, do nothing."


async def link_to_sign_in(tx: Transaction, account: Account, wanted: str) -> str:
    """Promise a link to sign in, which leads on to a page of the console. Returns its token, which only the letter carries."""
    query = f"?next={wanted}" if wanted not in ("", "/staff") else ""
    says = "To sign in to Spillclock, open this link and press the button:"
    return await _link(tx, account, "link", LINK_LASTS, "Your link to sign in", f"{says}\n\n{_place(tx, 'enter')}{query}", _DO_NOTHING)


async def link_to_recover(tx: Transaction, account: Account) -> str:
    """The same for a new password."""
    says = f"To set a new password for Spillclock, open this link:\n\n{_place(tx, 'password')}"
    return await _link(tx, account, "recover", LINK_LASTS, "Your link to set a new password", says, _DO_NOTHING)


async def invitation(tx: Transaction, account: Account, by: str) -> str:
    """The same for whoever was invited."""
    says = (
        f"{by} has added you to Spillclock, where your city keeps its spill reports and their legal deadlines.\n\n"
        f"To begin, open this link and press the button:\n\n{_place(tx, 'password')}"
    )
    ends = "If you do not know what this is about, do nothing."
    return await _link(tx, account, "invite", INVITATION_LASTS, "You are invited to Spillclock", says, ends)


async def notice(tx: Transaction, account: Account, what: str) -> None:
    """Promise to tell somebody what was changed about their account. `what` is a sentence."""
    _promise(tx, account, _NOTICE, uuid.uuid4().hex, "Your Spillclock account was changed", f"{what}\n\n{_NOT_YOU}\n", tx.now + _PATIENCE)


async def tell(tx: Transaction, account: Account, subject: str, says: str) -> None:
    """Promise to tell somebody what they are to look after, as whoever administers a city."""
    _promise(tx, account, _NOTICE, uuid.uuid4().hex, subject, f"{says}\n", tx.now + _PATIENCE)


async def is_wanted(tx: Transaction, row: MessageRow) -> bool:
    """Whether a letter still makes sense: its link opens something. Whoever left is told that, and nothing else."""
    purpose = purpose_of_step(row.step)
    if purpose == _NOTICE:
        return True
    mine = (col(Credential.digest) == digest_of(account_token(tx.house, purpose, row.id)), col(Credential.used_at).is_(None))
    return bool(await tx.session.scalar(select(func.count()).select_from(Credential).where(*mine, col(Credential.expires_at) > tx.now)))


async def letters_to(tx: Transaction, account: Account, most: int = 10) -> Sequence[MessageRow]:
    """The letters that were promised to an account, the newest first."""
    query = select(MessageRow).where(col(MessageRow.account_id) == account.id)
    return (await tx.session.execute(query.order_by(col(MessageRow.promised_at).desc(), col(MessageRow.id)).limit(most))).scalars().all()


def _place(tx: Transaction, page: str) -> str:
    return f"{tx.house.settings.public_url}/staff/{page}/{TO_BE_CONFIRMED}"


async def _link(tx: Transaction, account: Account, purpose: str, lasts: timedelta, subject: str, says: str, ends: str) -> str:
    key = uuid.uuid4().hex
    token = await issue(tx, account, purpose, lasts, token=account_token(tx.house, purpose, key))
    until = local(tx.now + lasts, tx.house.rulebook.zones[await _city_of(tx, account)])
    text = f"{says}\n\nIt works once, until {until}. {ends}\n"
    _promise(tx, account, purpose, key, subject, text, tx.now + min(lasts, _PATIENCE))
    return token


async def _city_of(tx: Transaction, account: Account) -> str:
    """The city whose time a letter is in."""
    staff = (await staff_by_account(tx, [account])).get(account.id or 0)
    cities = [city for city in (staff.cities if staff else None) or () if city in tx.house.rulebook.zones]
    return cities[0] if cities else tx.house.first_city


def _promise(tx: Transaction, account: Account, purpose: str, key: str, subject: str, text: str, give_up_at: datetime) -> None:
    tx.session.add(
        MessageRow(
            id=key, once=f"account:{key}", account_id=account.id, person=(account.name or account.email)[:200], role="account",
            channel="email", address=account.email, subject=subject, text=text, step=account_step(purpose), reason="about their account",
            rank=_RANK, sort_at=tx.now, promised_at=tx.now, queued=True, next_at=tx.now, give_up_at=give_up_at,
        )
    )  # fmt: skip
    tx.wakes_worker = True
