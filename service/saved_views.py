"""Views of the board that people keep under a name: filters and nothing else. What a view shows is asked for each time it is opened."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlmodel import col

from service import staff_log
from service.access import Staff, account_of
from service.board_tables import SavedView
from service.errors import BadInput, NotKnown
from service.tables import Account
from service.transaction import Transaction

LONGEST_NAME, MOST_VIEWS = 60, 40


async def keep(tx: Transaction, staff: Staff, name: str, query: str, city: str | None) -> SavedView:
    """Keep a view under a name: one's own, or shared with everybody who works for a city. A view of one's own of that name is replaced.

    `query` is the filters as the query of an address. Raises BadInput without a name or filters, NotAllowed below officer of the city.
    """
    said = " ".join(name.split())
    faults = [] if said.isprintable() and said else ["name: missing; right would be: a few words, as in Sewage in the north"]
    if len(said) > LONGEST_NAME:
        faults.append(f"name: over {LONGEST_NAME} characters; right would be: fewer")
    if not query:
        faults.append("filter: nothing is filtered; right would be: choose what the view is to show, and press Filter first")
    if city is not None and city not in tx.house.cities:
        faults.append(f"city: {city[:40]!r} is no city served here; right would be: one of {', '.join(tx.house.cities)}")
    account = await account_of(tx, staff.email)
    mine = (await tx.session.execute(select(SavedView).where(col(SavedView.account_id) == account.id))).scalars().all()
    kept = next((view for view in mine if view.name == said), None)
    if kept is None and len(mine) >= MOST_VIEWS:
        faults.append(f"name: you keep {len(mine)} views; right would be: remove one that you no longer use")
    if faults:
        raise BadInput("the view cannot be kept so", faults)
    if city is not None:
        staff.require("officer", city)
    if kept is None:
        kept = SavedView(account_id=account.id or 0, name=said, made_at=tx.now)
        tx.session.add(kept)
    kept.query, kept.city = query, city
    if city is not None:
        await staff_log.note(tx, "view:shared", account, city=city, name=said, query=query)
    await tx.session.flush()
    return kept


async def views_of(tx: Transaction, staff: Staff) -> Sequence[tuple[SavedView, bool]]:
    """The views that a member of staff keeps, or that are shared in a city of theirs, by name; each with whether they may remove it."""
    shared = col(SavedView.city).is_not(None) if staff.cities is None else col(SavedView.city).in_(staff.cities)
    query = select(SavedView, Account).join(Account, col(Account.id) == col(SavedView.account_id))
    query = query.where(or_(col(Account.email) == staff.email, shared))
    rows = (await tx.session.execute(query.order_by(func.lower(col(SavedView.name)), col(SavedView.id)))).all()
    return [(view, account.email == staff.email or staff.may("manager", view.city)) for view, account in rows]


async def remove(tx: Transaction, staff: Staff, number: int) -> None:
    """Remove a view: one's own, or one shared in a city that one manages. Raises NotKnown for every other."""
    found = next((view for view, may_remove in await views_of(tx, staff) if view.id == number and may_remove), None)
    if found is None:
        raise NotKnown(f"there is no view {number} that you may remove")
    if found.city is not None:
        await staff_log.note(tx, "view:removed", await account_of(tx, staff.email), city=found.city, name=found.name)
    await tx.session.delete(found)
