"""Who of the staff answers for a spill. It wakes nobody: whom the ladders tell is settled by the rotas."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import col

from service.access import staff_by_account
from service.errors import BadInput
from service.events import OfficerAssigned
from service.tables import Account, Spill
from service.transaction import Transaction

_LEAST = "officer"


async def who_may_answer(tx: Transaction, city: str | None) -> list[Account]:
    """The members of staff who may be put in charge of a spill of a city, by address."""
    accounts = (
        (await tx.session.execute(select(Account).where(col(Account.ended_at).is_(None)).order_by(col(Account.email)))).scalars().all()
    )
    staff = await staff_by_account(tx, accounts)
    return [account for account in accounts if account.id in staff and staff[account.id].may(_LEAST, city)]


async def assign(tx: Transaction, spill: Spill, email: str) -> bool:
    """Put a member of staff in charge, or nobody (empty). Returns False where it is so already.

    Raises BadInput for somebody who may not work on the spill.
    """
    chosen = email.strip().lower()
    if chosen == spill.officer:
        return False
    if chosen and chosen not in {account.email for account in await who_may_answer(tx, spill.city)}:
        right = "the e-mail address of an officer or manager"
        raise BadInput(
            "this person cannot be put in charge",
            [f"officer: {chosen[:80]!r} may not work on it, or is unknown; right would be: {right}"],
        )
    await tx.record(spill, OfficerAssigned(officer=chosen, before=spill.officer))
    spill.officer = chosen
    return True
