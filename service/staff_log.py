"""The log of what staff do beside spills, whose events are their own log: added to in the transaction that does it, never changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import or_, select
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
    "passkey:made": "Passkey made",
    "passkey:removed": "Passkey removed",
    "passkey:all-removed": "Passkeys removed",
    "provider:linked": "First sign-in at the identity provider",
    "provider:unlinked": "Identity provider forgotten",
    "key:made": "API key made",
    "key:revoked": "API key revoked",
    "due-times:made": "Calendar of due times made",
    "due-times:replaced": "Address of a calendar of due times replaced",
    "due-times:ended": "Calendar of due times ended",
    "sheet:imported": "Sheet of earlier spills imported",
    "hook:added": "Webhook added",
    "hook:changed": "Webhook changed",
    "hook:renewed": "New secret of a webhook made",
    "hook:paused": "Webhook paused",
    "hook:resumed": "Webhook resumed",
    "hook:again": "Events sent again to a webhook",
    "hook:ended": "Webhook ended",
    "calendar:added": "Day entered in the calendar",
    "calendar:removed": "Day taken out of the calendar",
    "contact:added": "Contact added",
    "contact:changed": "Contact changed",
    "contact:restored": "Contact back again",
    "contact:removed": "Contact removed",
    "contact:quiet": "Quiet hours set",
    "rota:added": "Rota added",
    "rota:ended": "Rota ended",
    "rota:resumed": "Rota counts again",
    "shift:added": "On call changed by hand",
    "shift:removed": "Change of on call taken out",
    "text:saved": "Text of the city saved",
    "text:withdrawn": "Text of the city withdrawn",
    "address:lifted": "Messages go to an address again",
    "paper:taken": "Paper of a spill taken",
    "evidence:taken": "Evidence bundle of a spill taken",
    "hold:placed": "Legal hold placed",
    "hold:lifted": "Legal hold lifted",
    "record:destroyed": "Record of a spill destroyed",
    "reply:settled": "Reply settled",
    "rule:off": "Rule switched off",
    "rule:on": "Rule switched on again",
    "test:sent": "Test message sent",
    "backup:restored": "Backup put back",
    "subscription:added": "Subscription added",
    "subscription:changed": "Subscription changed",
    "subscription:ended": "Subscription ended",
    "view:shared": "View of the board shared",
    "view:removed": "Shared view of the board removed",
}


async def note(
    tx: Transaction, kind: str, about: Account | None = None, actor: str = "", *, city: str | None = None, **said: Any
) -> StaffAction:
    """Note what was done, by the actor of the transaction where no other is named. `said` holds no secret. KeyError: unknown kind.

    Returns the entry, which has its number once it is flushed.
    """
    KINDS[kind]
    account = about.id if about else None
    entry = StaffAction(at=tx.now, actor=(actor or tx.actor)[:320], kind=kind, account_id=account, city=city, said=said)
    tx.session.add(entry)
    return entry


async def actions(
    tx: Transaction,
    *,
    cities: Collection[str] | None,
    accounts: Collection[int],
    who: str = "",
    kind: str = "",
    before: int = 0,
    most: int = 100,
) -> Sequence[tuple[StaffAction, Account | None]]:  # fmt: skip
    """What was done in some cities or about some accounts, the newest first, with the account it is about; `cities` None is everything.

    `who`: only what this actor did; `kind`: only this; `before`: only what is older than the action of this number.
    """
    query = select(StaffAction, Account).outerjoin(Account, col(Account.id) == col(StaffAction.account_id))
    if cities is not None:
        query = query.where(or_(col(StaffAction.city).in_(cities), col(StaffAction.account_id).in_(accounts)))
    if who:
        query = query.where(col(StaffAction.actor) == who)
    if kind:
        query = query.where(col(StaffAction.kind) == kind)
    if before:
        query = query.where(col(StaffAction.id) < before)
    rows = await tx.session.execute(query.order_by(col(StaffAction.id).desc()).limit(most))
    return [(action, account) for action, account in rows]


async def actions_about(tx: Transaction, account_id: int, most: int = 50) -> Sequence[StaffAction]:
    """What was done to an account and with it, the newest first."""
    query = select(StaffAction).where(col(StaffAction.account_id) == account_id).order_by(col(StaffAction.id).desc()).limit(most)
    return (await tx.session.execute(query)).scalars().all()
