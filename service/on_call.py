"""Who of the people in a role is on call at a moment: by turns handed over at a local time, overrides, holidays, a calendar from elsewhere.

A role without a rota is a group: everybody in it is told. Beside a rota, a contact that it never names is told too, as a desk would be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from sqlalchemy import bindparam, select
from sqlmodel import col

from service.quiet_hours import instant
from service.tables import Contact, Rota, Shift
from service.transaction import Transaction

_CONTACTS = select(Contact).where(col(Contact.city) == bindparam("city")).order_by(col(Contact.id))
_ROTAS = select(Rota).where(col(Rota.city) == bindparam("city"), col(Rota.ended_at).is_(None)).order_by(col(Rota.id))
_SHIFTS = (
    select(Shift)
    .where(col(Shift.rota_id).in_(bindparam("rotas", expanding=True)), col(Shift.removed_at).is_(None))
    .order_by(col(Shift.starts_at))
)
OVERRIDE, HOLIDAY, IMPORTED = "override", "holiday", "ics"


@dataclass(frozen=True, slots=True)
class Watch:
    """A rota with its shifts that still count, in the zone of its city."""

    rota: Rota
    shifts: Sequence[Shift]
    zone: ZoneInfo

    def names(self, contacts: Sequence[Contact]) -> set[int]:
        """The contacts whom this rota calls at some time; with a calendar from elsewhere and no members that is the whole role."""
        named = {*self.rota.members, *(shift.contact_id for shift in self.shifts if shift.contact_id is not None)}
        return {contact.id or 0 for contact in contacts if contact.id in named or (self.rota.ics_url and not self.rota.members)}

    def on_call(self, at: datetime, known: set[int]) -> set[int]:
        """Who is on call at a moment, of the contacts that there still are: an override before the calendar, that before the turns.

        Of an override and a holiday for the same person, the one entered later counts.
        """
        covering = [shift for shift in self.shifts if shift.starts_at <= at < shift.ends_at and shift.contact_id in known]
        away: set[int | None] = set()
        for shift in sorted(covering, key=lambda one: (one.added_at, one.id or 0), reverse=True):
            if shift.kind == OVERRIDE and shift.contact_id not in away:
                return {shift.contact_id or 0}
            if shift.kind == HOLIDAY:
                away.add(shift.contact_id)  # said later than the overrides that follow here
        imported = {shift.contact_id or 0 for shift in covering if shift.kind == IMPORTED} - away
        if imported:
            return imported
        # Who is away, or no longer there, is stood in for by whoever comes next.
        member = next((one for one in self._from_turn(at) if one in known and one not in away), None)
        return set() if member is None else {member}

    def _from_turn(self, at: datetime) -> list[int]:
        """The members from the one whose turn it is; nobody before the first turn."""
        number = self._turn(at)
        if number < 0 or not self.rota.members:
            return []
        first = number % len(self.rota.members)
        return [*self.rota.members[first:], *self.rota.members[:first]]

    def _turn(self, at: datetime) -> int:
        day = at.astimezone(self.zone).date()
        if at < self.handover_on(day):
            day -= timedelta(days=1)
        return (day - self.rota.starts_on).days // self.rota.turn_days

    def handover_on(self, day: date) -> datetime:
        """The moment (UTC) of a day's handover; on a day that has that time twice, the first."""
        return instant(day, time.fromisoformat(self.rota.handover), self.zone)

    def changes(self, since: datetime, until: datetime) -> list[datetime]:
        """The moments in a span at which somebody else may be on call."""
        found = {moment for shift in self.shifts for moment in (shift.starts_at, shift.ends_at)}
        day = since.astimezone(self.zone).date()
        while day <= until.astimezone(self.zone).date():
            if (day - self.rota.starts_on).days % self.rota.turn_days == 0:
                found.add(self.handover_on(day))
            day += timedelta(days=1)
        return sorted(moment for moment in found if since < moment < until)


@dataclass(frozen=True, slots=True)
class Roster:
    """The people of a role and the rotas over them."""

    contacts: Sequence[Contact]
    watches: Sequence[Watch]

    def told(self, at: datetime) -> list[Contact]:
        """Whom an alert to this role goes to at a moment; everybody where nobody is on call."""
        if not self.watches:
            return list(self.contacts)
        called = self.called(at)
        if not called:
            return list(self.contacts)
        named = set().union(*(watch.names(self.contacts) for watch in self.watches))
        return [contact for contact in self.contacts if contact.id in called or contact.id not in named]

    def called(self, at: datetime) -> set[int]:
        """The contacts on call at a moment."""
        known = {contact.id or 0 for contact in self.contacts}
        return set().union(*(watch.on_call(at, known) for watch in self.watches))

    def spans(self, since: datetime, until: datetime) -> list[tuple[datetime, datetime, list[Contact], bool]]:
        """From when to when whom: people on call, or everybody with True where nobody is."""
        moments = sorted({since, *(moment for watch in self.watches for moment in watch.changes(since, until)), until})
        found: list[tuple[datetime, datetime, list[Contact], bool]] = []
        for begins, ends in pairwise(moments):
            called = self.called(begins)
            people = [contact for contact in self.contacts if contact.id in called] if called else list(self.contacts)
            if found and found[-1][1] == begins and (found[-1][2], found[-1][3]) == (people, not called):
                found[-1] = (found[-1][0], ends, people, not called)
            else:
                found.append((begins, ends, people, not called))
        return found


async def roster_of(tx: Transaction, city: str | None, role: str) -> Roster:
    """The people and rotas of a role of a city; those of the city are looked up once in a transaction."""
    rosters: Mapping[str, Roster] | None = tx.memo.get(("rosters", city))
    if rosters is None:
        rosters = tx.memo[("rosters", city)] = await _rosters(tx, city)
    return rosters.get(role) or Roster([], [])


def forget_rosters(tx: Transaction) -> None:
    """Have rosters looked up again: people or rotas changed in this transaction."""
    for key in [key for key in tx.memo if isinstance(key, tuple) and key[0] in ("rosters", "people")]:
        del tx.memo[key]


async def _rosters(tx: Transaction, city: str | None) -> Mapping[str, Roster]:
    """The people and rotas of a city by role; of rotas those that have not ended."""
    if city is None:
        return {}
    contacts: dict[str, list[Contact]] = {}
    for contact in (await tx.ask(_CONTACTS, city=city)).scalars():
        contacts.setdefault(contact.role, []).append(contact)
    watches: dict[str, list[Watch]] = {}
    zone = tx.house.rulebook.zones.get(city)
    if not contacts or zone is None:
        return {role: Roster(people, []) for role, people in contacts.items()}
    rotas = (await tx.ask(_ROTAS, city=city)).scalars().all()
    shifts = (await tx.ask(_SHIFTS, rotas=[rota.id for rota in rotas])).scalars().all() if rotas else ()
    for rota in rotas:
        watches.setdefault(rota.role, []).append(Watch(rota, [shift for shift in shifts if shift.rota_id == rota.id], zone))
    return {role: Roster(people, watches.get(role, [])) for role, people in contacts.items()}


async def take_off(tx: Transaction, contact: Contact) -> None:
    """Take somebody who is about to be removed off every rota; their number may be given to somebody else later."""
    shifts = (await tx.session.execute(select(Shift).where(col(Shift.contact_id) == contact.id))).scalars().all()
    for shift in shifts:
        shift.reason = f"{shift.reason} ({contact.name}, removed since)".strip()
        shift.contact_id, shift.removed_at = None, shift.removed_at or tx.now
    for rota in (await tx.session.execute(select(Rota).where(col(Rota.city) == contact.city))).scalars():
        if contact.id in rota.members:
            rota.members = [member for member in rota.members if member != contact.id]
    await tx.session.flush()
    forget_rosters(tx)
