"""How a city is set up, in numbers: its people, its calendar, its texts, who hears of it, which keys of programs end soon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from sqlalchemy import or_, select
from sqlmodel import col

from deadlines.ladder import ROLES
from service.access import staff_by_account
from service.account_tables import AccountRole
from service.api_keys import live
from service.city_texts import own_texts
from service.office_days import left_of, rulebook_of
from service.on_call import roster_of
from service.public_alerts import city_of
from service.tables import Account, Contact, Credential, Subscription
from service.transaction import Transaction

SOON = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class RoleStanding:
    """A role of a city: how many people fill it, whom an alert goes to now, and whether that is everybody because nobody is on call."""

    role: str
    people: int
    told: Sequence[Contact]
    nobody_called: bool


@dataclass(frozen=True, slots=True)
class CityStanding:
    """How a city is set up now.

    `calendar_left`: years, months (less than twelve), nothing; `calendar_until`: its last day. `texts`: kinds of message with words of its
    own. `staff_subscriptions`, `public_subscriptions`: those that hear of it. `ending_keys`: keys of people who work for it that end
    within SOON, the first first, with the address of their owner, the number of the owner's account and the moment (UTC); `keys`: how many
    count now.
    """

    city: str
    roles: Sequence[RoleStanding]
    calendar_until: date
    calendar_left: Literal["years", "months", "nothing"]
    texts: int
    staff_subscriptions: int
    public_subscriptions: int
    ending_keys: Sequence[tuple[str, str, int, datetime]]
    keys: int

    @property
    def unfilled(self) -> list[str]:
        """The roles that nobody fills: ladders that tell them reach nobody."""
        return [one.role for one in self.roles if not one.people]


async def standing_of_city(tx: Transaction, city: str) -> CityStanding:
    """How a served city is set up. Raises KeyError for one without a pack."""
    law = (await rulebook_of(tx)).law_of(city)
    (staff, public), keys = await _subscriptions(tx, city), await _keys(tx, city)
    return CityStanding(
        city, [await _role(tx, city, role) for role in ROLES], law.calendar.last_day, left_of(law, tx.now),
        len(await own_texts(tx, city)), staff, public, _ending(keys, tx.now + SOON), len(keys),
    )  # fmt: skip


async def _role(tx: Transaction, city: str, role: str) -> RoleStanding:
    roster = await roster_of(tx, city, role)
    return RoleStanding(role, len(roster.contacts), roster.told(tx.now), bool(roster.watches) and not roster.called(tx.now))


async def _subscriptions(tx: Transaction, city: str) -> tuple[int, int]:
    """How many subscriptions of staff and of the public hear of a city."""
    standing = (col(Subscription.ended_at).is_(None), col(Subscription.confirmed_at).is_not(None))
    rows = (await tx.session.execute(select(Subscription).where(*standing))).scalars().all()
    owners = (await tx.session.execute(select(Account).where(col(Account.id).in_({row.account_id for row in rows})))).scalars().all()
    staff = await staff_by_account(tx, owners)
    told = {"staff": 0, "public": 0}
    for row in rows:
        wanted = row.wants.get("cities")
        if row.kind == "public":
            told["public"] += city in wanted if wanted else city_of(tx, row.wants) == city
        elif (owner := staff.get(row.account_id or 0)) and owner.may_see(city):
            told["staff"] += not wanted or city in wanted
    return told["staff"], told["public"]


async def _keys(tx: Transaction, city: str) -> list[tuple[Credential, Account]]:
    """The keys of programs that count now and are worth something in a city, those that end first first."""
    works_here = select(col(AccountRole.account_id)).where(or_(col(AccountRole.city).is_(None), col(AccountRole.city) == city))
    query = (
        select(Credential, Account)
        .join(Account, col(Account.id) == col(Credential.account_id))
        .where(*live(tx), col(Account.ended_at).is_(None))
        .where(col(Credential.account_id).in_(works_here), or_(col(Credential.city).is_(None), col(Credential.city) == city))
        .order_by(col(Credential.expires_at), col(Credential.id))
    )
    return [(key, owner) for key, owner in await tx.session.execute(query)]


def _ending(keys: Sequence[tuple[Credential, Account]], until: datetime) -> list[tuple[str, str, int, datetime]]:
    found = [(key, owner, key.expires_at) for key, owner in keys]
    return [(key.name or key.hint, owner.email, owner.id or 0, at) for key, owner, at in found if at is not None and at <= until]
