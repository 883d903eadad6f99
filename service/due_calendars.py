"""Due times as a calendar (RFC 5545) that calendar programs read at a private address: of a city, a role, or the spills of one person.

Its copies lie wherever those programs keep them. So it holds duties, due times and references, and nothing of any person.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from icalendar import Calendar, Event, Todo
from sqlalchemy import and_, func, or_, select
from sqlmodel import col

from deadlines.ladder import ROLES
from service import staff_log
from service.access import Staff, account_of, digest_of, staff_by_account
from service.door_tables import CalendarLink
from service.errors import BadInput, NotKnown
from service.ladders import OPEN_STATES, planned
from service.parties import ROLE_NAMES
from service.speech import is_immediate, speech
from service.tables import Account, EventRow, Obligation, Spill
from service.transaction import House, Transaction

MEDIA_TYPE = "text/calendar; charset=utf-8"
MOST_OF_ONE = 20
MOST_ENTRIES = 2000
# What is closed stays so long, as cancelled, that every calendar program has read it; what is gone before is left standing in some of them.
CLOSED_SHOWN = timedelta(days=30)
_STATES = {
    "running": "Open", "overdue": "Overdue", "met": "Done in time", "met_late": "Done late", "waived": "Waived", "withdrawn": "Not owed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Due:
    """A duty with a due time, its spill, how often anything was recorded about that spill, and when last."""

    duty: Obligation
    spill: Spill
    revision: int
    changed_at: datetime


async def make(tx: Transaction, staff: Staff, city: str | None, role: str, *, mine: bool) -> str:
    """Make an address for one's own account. Returns its secret, which is kept nowhere. Raises BadInput with one line a fault."""
    account = await account_of(tx, staff.email)
    faults = []
    if city is not None and (city not in tx.house.cities or staff.role_in(city) is None):
        faults.append(f"city: {city[:60]!r} is no city that you work for; right would be: one of yours, or all of them")
    if role and role not in ROLES:
        faults.append(f"role: {role[:40]!r} is none; right would be: one of {', '.join(ROLES)}, or every role")
    if len(await of_account(tx, account)) >= MOST_OF_ONE:
        faults.append(f"calendars: you have {MOST_OF_ONE}; right would be: end some first")
    if faults:
        raise BadInput("the calendar was not made", faults)
    secret, row = _new(tx, account, city, role, mine=mine)
    tx.session.add(row)
    await staff_log.note(tx, "due-times:made", account, city=city, role=role, mine=mine)
    return secret


def _new(tx: Transaction, account: Account, city: str | None, role: str, *, mine: bool) -> tuple[str, CalendarLink]:
    secret = secrets.token_urlsafe(32)
    row = CalendarLink(digest=digest_of(secret), account_id=account.id or 0, city=city, role=role, mine=mine, made_at=tx.now)
    return secret, row


async def of_account(tx: Transaction, account: Account) -> Sequence[CalendarLink]:
    """The addresses of an account that still work, the oldest first."""
    mine = (col(CalendarLink.account_id) == account.id, col(CalendarLink.ended_at).is_(None))
    return (await tx.session.execute(select(CalendarLink).where(*mine).order_by(col(CalendarLink.id)))).scalars().all()


async def replace(tx: Transaction, staff: Staff, number: int) -> str:
    """Let the same calendar have another address, and the one before lead nowhere. Returns the new secret. Raises NotKnown."""
    account, old = await _own(tx, staff, number)
    old.ended_at = tx.now
    secret, row = _new(tx, account, old.city, old.role, mine=old.mine)
    tx.session.add(row)
    await staff_log.note(tx, "due-times:replaced", account, city=old.city, role=old.role, mine=old.mine)
    return secret


async def end(tx: Transaction, staff: Staff, number: int) -> None:
    """Let an address lead nowhere. Raises NotKnown."""
    account, old = await _own(tx, staff, number)
    old.ended_at = tx.now
    await staff_log.note(tx, "due-times:ended", account, city=old.city, role=old.role, mine=old.mine)


async def _own(tx: Transaction, staff: Staff, number: int) -> tuple[Account, CalendarLink]:
    account = await account_of(tx, staff.email)
    row = next((one for one in await of_account(tx, account) if one.id == number), None)
    if row is None:
        raise NotKnown(f"there is no calendar {number}")
    return account, row


# -- reading


async def of_secret(tx: Transaction, secret: str) -> tuple[CalendarLink, Staff]:
    """The calendar of a secret, and what its owner may see by now. Raises NotKnown, also where its owner has left or lost the city."""
    row = (await tx.session.execute(select(CalendarLink).where(col(CalendarLink.digest) == digest_of(secret)))).scalar_one_or_none()
    account = None if row is None else await tx.session.get(Account, row.account_id)
    staff = None if account is None else (await staff_by_account(tx, [account])).get(account.id or 0)
    gone = row is None or row.ended_at is not None or staff is None or (row.city is not None and staff.role_in(row.city) is None)
    if gone or row is None or staff is None:
        raise NotKnown("there is no such calendar")
    return row, staff


async def due_of(tx: Transaction, link: CalendarLink, staff: Staff) -> list[Due]:
    """What a calendar shows: all that is open, and what was closed or fell due lately, the next due first."""
    cities = [city for city in tx.house.cities if staff.may_see(city) and link.city in (None, city)]
    since = tx.now - CLOSED_SHOWN
    lately = or_(col(Obligation.due_at) > since, col(Obligation.met_at) > since)
    shown = [col(Spill.city).in_(cities), col(Obligation.due_at).is_not(None), col(Obligation.act) != "retention"]
    shown.append(or_(col(Obligation.state).in_(OPEN_STATES), and_(col(Obligation.state) != "waiting", lately)))
    if link.mine:
        shown.append(col(Spill.officer) == staff.email)
    query = select(Obligation, Spill).join(Spill, col(Spill.id) == col(Obligation.spill_id)).where(*shown)
    # The newest are the ones to keep where there are more than any calendar program takes.
    rows = (await tx.session.execute(query.order_by(col(Obligation.due_at).desc(), col(Obligation.id).desc()).limit(MOST_ENTRIES))).all()
    found = [(duty, spill) for duty, spill in reversed(rows) if not link.role or _is_told_in_time(duty, link.role)]
    changes = await _changes(tx, {spill.id or 0 for _, spill in found})
    return [Due(duty, spill, *changes[spill.id or 0]) for duty, spill in found]


def _is_told_in_time(duty: Obligation, role: str) -> bool:
    """Whether a role hears of a duty while it can still be done in time. Of what is overdue, everybody hears in the end."""
    return any(role in rung.tell and duty.due_at is not None and rung.at <= duty.due_at for rung in planned(duty))


async def _changes(tx: Transaction, spills: set[int]) -> Mapping[int, tuple[int, datetime]]:
    """How much was recorded about each spill and when last: both only grow, and whatever changes a duty is recorded."""
    query = select(col(EventRow.spill_id), func.count(), func.max(col(EventRow.recorded_at))).where(col(EventRow.spill_id).in_(spills))
    return {row[0]: (row[1], row[2]) for row in (await tx.session.execute(query.group_by(col(EventRow.spill_id)))).all()}


# -- writing


def title_of(house: House, link: CalendarLink) -> str:
    """What a calendar is called: Due times, City of Chino, California, duty officer."""
    named = [] if link.city is None else [house.rulebook.law_of(link.city).city.title]
    named += [ROLE_NAMES[link.role]] if link.role else []
    return ", ".join(["Due times", *named, *(["my spills"] if link.mine else [])])


def written(house: House, link: CalendarLink, found: Sequence[Due], *, as_tasks: bool) -> bytes:
    """The calendar as a file: an event for each duty at its due time, or a task. Times are UTC, so that no night of a clock change is open.

    What is met, waived or not owed is cancelled; a task that was met is completed.
    """
    calendar = Calendar()
    calendar.add("prodid", "-//Spillclock//Due times//EN")
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    calendar.add("x-wr-calname", title_of(house, link))
    calendar.add("x-wr-timezone", house.rulebook.zones[link.city or house.first_city].key)
    calendar.add("x-published-ttl", "PT15M")
    for due in found:
        calendar.add_component(_entry(house, due, as_tasks=as_tasks))
    content: bytes = calendar.to_ical()
    return content


def _entry(house: House, due: Due, *, as_tasks: bool) -> Event | Todo:
    duty, spill = due.duty, due.spill
    clock: Mapping[str, Any] = duty.clock
    law = house.rulebook.law_of(spill.city or house.first_city)
    at = duty.starts_at if is_immediate(clock) and duty.starts_at else duty.due_at
    entry: Event | Todo = Todo() if as_tasks else Event()
    entry.add("uid", f"duty-{duty.id}@{urlsplit(house.settings.public_url).hostname}")
    entry.add("sequence", due.revision)
    entry.add("dtstamp", due.changed_at.replace(microsecond=0))
    entry.add("last-modified", due.changed_at.replace(microsecond=0))
    when = speech("en").due(clock, law.zone)
    entry.add("summary", f"{clock['title']} ({spill.reference})")
    told = [f"{_STATES[duty.state]}. Due: {when}.", law.city.title, str(clock["citation"])]
    entry.add("description", "\n".join(told))
    entry.add("location", law.city.title)
    entry.add("url", f"{house.settings.public_url}/staff/spills/{spill.reference}")
    entry.add("due" if as_tasks else "dtstart", at)
    entry.add("status", _status(duty.state, as_tasks=as_tasks))
    if as_tasks and duty.met_at is not None:
        entry.add("completed", duty.met_at.replace(microsecond=0))
    elif not as_tasks:
        entry.add("transp", "TRANSPARENT")  # nobody is busy because a duty is due
    return entry


def _status(state: str, *, as_tasks: bool) -> str:
    if state in OPEN_STATES:
        return "NEEDS-ACTION" if as_tasks else "CONFIRMED"
    return "COMPLETED" if as_tasks and state in ("met", "met_late") else "CANCELLED"
