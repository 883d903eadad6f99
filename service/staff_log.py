"""The log of what is done to accounts and with them: added to in the transaction that does it, never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from service.account_tables import StaffAction
from service.tables import Account
from service.transaction import Transaction

# Everything that is noted, in words. What happens to spills stands among the events of each.
KINDS: Mapping[str, str] = {
    "account:added": "Account added",
    "account:invited": "Invited by mail",
    "account:joined": "Invitation used",
    "account:roles": "Roles changed",
    "account:ended": "Account ended",
    "account:restored": "Account restored",
    "sign-in:done": "Signed in",
    "sign-in:failed": "Sign-in failed",
    "sign-in:link": "Sign-in link mailed",
    "session:ended": "Signed out",
    "session:all-ended": "Signed out everywhere",
    "password:set": "Password set",
    "password:recovery": "Link to set a new password mailed",
    "code:on": "Second step switched on",
    "code:off": "Second step switched off",
    "code:recovery-used": "Recovery code used",
    "code:recovery-made": "Recovery codes made",
    "key:made": "API key made",
    "key:revoked": "API key revoked",
}


async def note(tx: Transaction, kind: str, about: Account | None, actor: str = "", **said: Any) -> None:
    """Note what was done, by the actor of the transaction where no other is named. `said` holds no secret. KeyError: unknown kind."""
    KINDS[kind]
    tx.session.add(StaffAction(at=tx.now, actor=actor or tx.actor, kind=kind, account_id=about.id if about else None, said=said))


async def actions_about(tx: Transaction, account_id: int, most: int = 50) -> Sequence[StaffAction]:
    """What was done to an account and with it, the newest first."""
    query = select(StaffAction).where(col(StaffAction.account_id) == account_id).order_by(col(StaffAction.id).desc()).limit(most)
    return (await tx.session.execute(query)).scalars().all()
