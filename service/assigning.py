"""Who of the staff answers for a spill. It wakes nobody: whom the ladders tell is settled by the rotas."""

from __future__ import annotations

from sqlalchemy import or_, select
from sqlmodel import col

from service.access import ROLES
from service.errors import BadInput
from service.events import OfficerAssigned
from service.tables import Account, Spill
from service.transaction import Transaction

_LEAST = "officer"


async def who_may_answer(tx: Transaction, city: str | None) -> list[Account]:
    """The members of staff who may be put in charge of a spill of a city, by address."""
    roles = ROLES[ROLES.index(_LEAST) :]
    mine = or_(col(Account.city).is_(None), col(Account.city) == city)
    query = select(Account).where(col(Account.role).in_(roles), mine).order_by(col(Account.email))
    return list((await tx.session.execute(query)).scalars())


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
