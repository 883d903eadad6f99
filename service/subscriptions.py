"""Subscriptions of staff: who hears of which spills, at which stages, by which channel and at which pace. Ended, never deleted."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from sqlalchemy import func, or_, select
from sqlmodel import col

from deadlines.areas import read_area
from deadlines.facts import CHOICES
from notifiers.addresses import e164, problem_with_country, problem_with_email
from service import staff_log
from service.access import ROLES, Staff, account_of, digest_of, staff_by_account
from service.account_tables import AccountRole
from service.errors import BadInput, NotAllowed, NotKnown
from service.parties import LANGUAGES
from service.quiet_hours import instant
from service.tables import Account, Contact, Subscription
from service.transaction import Transaction

STAGES = ("new", "clock_started", "due_soon", "overdue", "met", "amended", "closed")
PACES = ("at_once", "hourly", "daily")
CHANNELS = ("email", "sms")
KEYS = ("channel", "address", "language", "pace", "at", "zone", "cities", "materials", "at_least_gallons", "stages", "area", "paused")
DAILY_AT = "07:00"
_MOST_OF_ONE = 50
_AT = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
_WANTS = ("cities", "materials", "stages", "at_least_gallons", "area", "at", "paused")


def next_digest(pace: str, at: str, zone: ZoneInfo, now: datetime) -> datetime | None:
    """When the next digest goes out after `now`: at the next full hour, or at a local time of the next day that has it; at once: None.

    A local time that a night skips is as long after midnight; of one that a night has twice, the first counts, and only it.
    """
    if pace == "hourly":
        return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    if pace != "daily":
        return None
    today = now.astimezone(zone).date()
    moments = (instant(today + timedelta(days=days), time.fromisoformat(at), zone) for days in (0, 1, 2))
    return next(moment for moment in moments if moment > now)


def next_of(row: Subscription, now: datetime) -> datetime | None:
    """The same for a subscription; None while it is paused."""
    if row.wants.get("paused"):
        return None
    return next_digest(row.pace, row.wants.get("at", DAILY_AT), ZoneInfo(row.zone), now)


async def listed(tx: Transaction, staff: Staff, *, everyones: bool = False) -> list[tuple[Subscription, Account]]:
    """The subscriptions of a member of staff that have not ended; of everybody in their city too where an administrator asks so."""
    query = (
        select(Subscription, Account)
        .join(Account, col(Account.id) == col(Subscription.account_id))
        .where(col(Subscription.kind) == "staff", col(Subscription.ended_at).is_(None))
        .order_by(col(Account.email), col(Subscription.id))
    )
    mine = staff.administers if everyones else frozenset()
    if mine is not None:
        of_mine = select(col(AccountRole.account_id)).where(col(AccountRole.city).in_(mine))
        query = query.where(or_(col(Account.email) == staff.email, col(Account.id).in_(of_mine)))
    return [(row, account) for row, account in await tx.session.execute(query)]


async def one(tx: Transaction, staff: Staff, number: int) -> tuple[Subscription, Account]:
    """A subscription that this person may see and change. Raises NotKnown."""
    for row, account in await listed(tx, staff, everyones=True):
        if row.id == number:
            return row, account
    raise NotKnown(f"there is no subscription {number}")


async def add(tx: Transaction, staff: Staff, given: Mapping[str, Any]) -> Subscription:
    """Subscribe a member of staff. `given` has the keys of KEYS; what is left out is as wide as it can be. Raises BadInput."""
    account = await account_of(tx, staff.email)
    mine = [row for row, _ in await listed(tx, staff)]
    if len(mine) >= _MOST_OF_ONE:
        raise BadInput("there are too many", [f"subscriptions: you have {len(mine)}; right would be: end some first"])
    row = Subscription(
        kind="staff", account_id=account.id, channel="email", address=account.email, wants={}, created_at=tx.now, confirmed_at=tx.now,
        zone=tx.house.rulebook.zones[staff.city or tx.house.first_city].key, digest=digest_of(secrets.token_urlsafe(32)),
    )  # fmt: skip
    _take(tx, row, staff, given)
    await _require_own(tx, staff, row)
    tx.session.add(row)
    await tx.session.flush()
    tx.wakes_worker = True
    await staff_log.note(tx, "subscription:added", account, staff.email, subscription=row.id, channel=row.channel, pace=row.pace)
    return row


async def change(tx: Transaction, staff: Staff, number: int, given: Mapping[str, Any]) -> Subscription:
    """Change what is given, and leave the rest as it is. Raises NotKnown, BadInput."""
    row, account = await one(tx, staff, number)
    before = (row.channel, row.address)
    owner = (await staff_by_account(tx, [account])).get(account.id or 0)
    if owner is None:
        raise NotKnown(f"subscription {number} is that of an account that has ended")
    _take(tx, row, owner, {**given_of(row), **given})
    if (row.channel, row.address) != before:
        await _require_own(tx, staff, row)
    if row.pace == "at_once" and not row.wants.get("paused"):
        row.next_digest_at = tx.now  # what waited for a later digest is told now
    tx.wakes_worker = True
    await staff_log.note(tx, "subscription:changed", account, staff.email, subscription=number, keys=sorted(given))
    return row


async def _require_own(tx: Transaction, staff: Staff, row: Subscription) -> None:
    """Raises NotAllowed where the address is another's and this is no manager: nobody subscribes a stranger."""
    mine = {staff.email.lower()}
    if row.channel == "sms":
        contacts = select(col(Contact.phone)).where(func.lower(col(Contact.email)) == staff.email.lower())
        mine = set((await tx.session.execute(contacts)).scalars())
    if row.address.lower() not in mine and ROLES.index(staff.highest()) < ROLES.index("manager"):
        own = "your own e-mail address" if row.channel == "email" else "the number you are listed with as a contact"
        raise NotAllowed(f"{row.address} is not yours; right would be: {own}, or a manager who subscribes it for you")


async def end(tx: Transaction, staff: Staff, number: int) -> None:
    """End a subscription; what was not sent yet is not sent. Raises NotKnown."""
    row, account = await one(tx, staff, number)
    await staff_log.note(tx, "subscription:ended", account, staff.email, subscription=number)
    row.ended_at, row.ended_why, row.next_digest_at = tx.now, f"ended by {staff.email}", None


def given_of(row: Subscription) -> dict[str, Any]:
    """A subscription as it could be given anew: all keys of KEYS."""
    plain = {key: getattr(row, key) for key in ("channel", "address", "language", "pace", "zone")}
    wants: dict[str, Any] = {
        "cities": [], "materials": [], "stages": [], "at_least_gallons": None, "area": None, "at": DAILY_AT, "paused": False,
    }  # fmt: skip
    return {**plain, **wants, **row.wants}


def _take(tx: Transaction, row: Subscription, owner: Staff, given: Mapping[str, Any]) -> None:
    """Put into a row what is given, checked as a whole. Raises BadInput with one line a fault."""
    faults = [f"{key}: unknown key; right would be: one of {', '.join(KEYS)}" for key in given if key not in KEYS]
    asked = {**given_of(row), **{key: value for key, value in given.items() if value is not None or key in ("area", "at_least_gallons")}}
    faults += _faults_of_words(asked)
    cities = [city for city in tx.house.cities if owner.may_see(city)]
    faults += _faults_of_lists(asked, {"cities": cities, "materials": CHOICES["material"], "stages": STAGES})
    faults += _faults_of_size_and_place(asked)
    address = asked["address"]
    if asked["channel"] == "sms":
        address = e164(str(address)) or ""
        problem = problem_with_country(address, tx.house.settings.countries) if address else "it is no telephone number"
        faults += [f"address: {problem}; right would be: +19095550100"] if problem else []
    elif problem := problem_with_email(str(address)):
        faults.append(f"address: {problem}")
    if faults:
        raise BadInput("the subscription cannot be kept so", faults)
    row.channel, row.address = asked["channel"], address
    row.language, row.pace, row.zone = asked["language"], asked["pace"], asked["zone"]
    row.wants = {key: asked[key] for key in _WANTS if asked[key] not in ([], None, False)}
    row.next_digest_at = next_of(row, tx.now)


def _faults_of_words(asked: Mapping[str, Any]) -> list[str]:
    choices = {"channel": CHANNELS, "language": LANGUAGES, "pace": PACES, "paused": (True, False)}
    faults = [
        f"{key}: {asked[key]!r} is no choice; right would be: one of {', '.join(map(str, words))}"
        for key, words in choices.items()
        if not any(asked[key] is word or (isinstance(word, str) and asked[key] == word) for word in words)
    ]
    if not isinstance(asked["at"], str) or not _AT.fullmatch(asked["at"]):
        faults.append(f"at: {asked['at']!r} is no time of day; right would be: 07:00")
    if not isinstance(asked["zone"], str) or asked["zone"] not in available_timezones():
        faults.append(f"zone: {str(asked['zone'])[:60]!r} is no time zone; right would be: America/Los_Angeles")
    return faults


def _faults_of_lists(asked: Mapping[str, Any], choices: Mapping[str, Sequence[str]]) -> list[str]:
    faults = []
    for key, words in choices.items():
        given = asked[key]
        if not isinstance(given, list):
            faults.append(f"{key}: it is no list; right would be: a list of some of {', '.join(words)}")
            continue
        faults += [
            f"{key}: {str(word)[:60]!r} is no choice; right would be: one of {', '.join(words)}" for word in given if word not in words
        ]
    return faults


def _faults_of_size_and_place(asked: Mapping[str, Any]) -> list[str]:
    faults = []
    size = asked["at_least_gallons"]
    if size is not None and (isinstance(size, bool) or not isinstance(size, int | float) or not 0 <= size <= 1e12):
        faults.append(f"at_least_gallons: {size!r} is no amount; right would be: a number of US gallons, such as 1000")
    if asked["area"] is not None:
        try:
            read_area(asked["area"])
        except ValueError as error:
            faults.append(f"area: {error}")
    return faults
