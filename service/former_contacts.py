"""What contacts were before they were changed or removed: in the log of staff without secrets, and whole for ninety days, to be undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import delete, select
from sqlmodel import col

from service import staff_log
from service.administration_tables import FormerContact
from service.errors import NotKnown
from service.tables import Contact
from service.transaction import House, Transaction, transaction

# For so long a change can be undone; what somebody's address was is kept no longer.
LASTS = timedelta(days=90)
FIELDS = ("role", "name", "email", "phone", "voice", "webhook", "apprise", "language", "quiet_from", "quiet_to")


def values_of(contact: Contact) -> dict[str, Any]:
    """All there is to a contact but their city and number."""
    return {field: getattr(contact, field) for field in FIELDS}


def shown(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they may be read by everybody who reads the log: addresses of programs, which hold secrets, without their paths."""
    hidden = dict(values)
    if values.get("webhook"):
        hidden["webhook"] = f"{urlsplit(values['webhook']).scheme}://{urlsplit(values['webhook']).hostname}/..."
    if values.get("apprise"):
        hidden["apprise"] = f"{values['apprise'].partition('://')[0]}://..."
    return {field: "nothing" if value == "" else value for field, value in hidden.items()}


async def note(
    tx: Transaction, kind: str, contact: Contact, before: Mapping[str, Any], after: Mapping[str, Any] | None, **said: Any
) -> None:
    """Note a change with what differs, and keep what the contact was. `after` None: removed."""
    changed = [field for field in FIELDS if after is not None and before[field] != after[field]]
    then = {field: before[field] for field in changed} if after is not None else {key: value for key, value in before.items() if value}
    told: dict[str, Any] = {"before": shown(then)}
    if after is not None:
        told["after"] = shown({field: after[field] for field in changed})
    about = {"contact": contact.id, "name": before["name"], "role": before["role"]}
    action = await staff_log.note(tx, kind, city=contact.city, **about, **told, **said)
    await tx.session.flush()
    kept = FormerContact(
        action_id=action.id or 0, city=contact.city, contact_id=contact.id or 0, before=dict(before),
        after=None if after is None else dict(after), at=tx.now,
    )  # fmt: skip
    tx.session.add(kept)


async def sweep(house: House) -> int:
    """Forget what contacts were longer ago than it can be undone. Returns how many changes can be undone no more."""
    async with transaction(house, "spillclock") as tx:
        gone = await tx.session.execute(
            delete(FormerContact).where(col(FormerContact.at) < tx.now - LASTS).returning(col(FormerContact.id))
        )
        return len(gone.all())


async def former(tx: Transaction, city: str, action: int) -> FormerContact:
    """What an entry of the log can bring back. Raises NotKnown where it is none of the city's, is undone, or too long ago."""
    query = select(FormerContact).where(
        col(FormerContact.action_id) == action, col(FormerContact.city) == city, col(FormerContact.at) >= tx.now - LASTS
    )
    found: FormerContact | None = (await tx.session.execute(tx.held(query))).scalar_one_or_none()
    if found is None or found.undone_at is not None:
        raise NotKnown(
            f"entry {action} of {city} cannot be undone: it is no change of a contact, is undone, or was over {LASTS.days} days ago"
        )
    return found


async def undoable(tx: Transaction, actions: Iterable[int]) -> set[int]:
    """Those of some entries of the log that can be undone."""
    query = select(col(FormerContact.action_id)).where(
        col(FormerContact.action_id).in_(list(actions)), col(FormerContact.undone_at).is_(None), col(FormerContact.at) >= tx.now - LASTS
    )
    return set((await tx.session.execute(query)).scalars())
