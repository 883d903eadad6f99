"""Addresses that nothing is sent to: they bounced for good, or their owner wants no more. Lifted with a reason, never deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlmodel import col

from service import staff_log
from service.access import Staff
from service.errors import BadInput, NotAllowed, NotKnown
from service.events import AddressRestored, AddressSuppressed
from service.spills import stated
from service.tables import Contact, MessageRow, Obligation, Spill, Suppression
from service.transaction import Transaction

OPTED_OUT = "opted_out"
REASONS = {"bounced": "does not exist or takes no mail", "opted_out": "its owner asked for no more", "complained": "its owner complained"}
_NUMBER_REFUSED = "is out of service or takes no texts"
# What messages to a reporter call them (service/following.py).
_REPORTER = "the reporter"
CHANNEL_NAMES = {"sms": "text messages", "email": "e-mail", "voice": "calls"}
_OPEN_STATES = ("running", "overdue", "waiting")


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A person in a role who cannot be told by a channel, because their address is suppressed. `alone`: they have no other address."""

    contact: Contact
    found: Suppression
    alone: bool

    @property
    def says(self) -> str:
        """That in a sentence."""
        role, how = self.contact.role.replace("_", " "), CHANNEL_NAMES.get(self.found.channel, self.found.channel)
        end = "and has no other address" if self.alone else "their other channels are used"
        return (
            f"{self.contact.name} ({role}) gets no {how}: {self.found.address} {reason_words(self.found.channel, self.found.reason)}; {end}"
        )


def reason_words(channel: str, reason: str) -> str:
    """Why nothing is sent to an address of a channel, as the end of a sentence about it."""
    return _NUMBER_REFUSED if reason == "bounced" and channel != "email" else REASONS.get(reason, reason)


def _plain(channel: str, address: str) -> str:
    return address.strip().lower() if channel == "email" else address.strip()


async def standing(tx: Transaction, channel: str) -> Mapping[str, Suppression]:
    """The addresses of a channel that nothing is sent to, in small letters where case does not count; looked up once a transaction."""
    found: dict[str, Suppression] | None = tx.memo.get(("suppressed", channel))
    if found is None:
        query = select(Suppression).where(col(Suppression.channel) == channel, col(Suppression.lifted_at).is_(None))
        # Where several stand for one address, its owner's word is the last of them.
        order = (col(Suppression.reason) == OPTED_OUT, col(Suppression.id))
        rows = (await tx.session.execute(query.order_by(*order))).scalars()
        found = tx.memo[("suppressed", channel)] = {row.address: row for row in rows}
    return found


async def why_not(tx: Transaction, channel: str, address: str) -> str:
    """Why nothing is sent to an address, in words; nothing where it may be."""
    found = (await standing(tx, channel)).get(_plain(channel, address))
    return f"nothing is sent to {address}: {reason_words(channel, found.reason)} (since {found.since:%Y-%m-%d})" if found else ""


async def suppress(tx: Transaction, channel: str, address: str, reason: str, detail: str, message: MessageRow | None = None) -> bool:
    """Send nothing more to an address until that is lifted. Returns False where that was so already.

    What its owner says stands beside what was there before: a number that takes texts again does not undo a STOP.
    """
    plain = _plain(channel, address)
    before = (await standing(tx, channel)).get(plain)
    if before is not None and (reason != OPTED_OUT or before.reason == OPTED_OUT):
        return False
    row = Suppression(
        channel=channel, address=plain, reason=reason, detail=detail[:1000], since=tx.now, message_id=message.id if message else None
    )
    tx.session.add(row)
    await tx.session.flush()
    tx.memo.pop(("suppressed", channel), None)
    for spill, person in await _spills_of(tx, channel, plain, message):
        await tx.record(spill, AddressSuppressed(person=person, channel=channel, address=plain, reason=reason, detail=detail[:300]))
    return True


async def restore(tx: Transaction, channel: str, address: str, reason: str, by: str, number: int | None = None) -> int:
    """Send to an address again; with `number`, lift that one suppression and leave what else stands. Returns how many were lifted."""
    plain = _plain(channel, address)
    query = select(Suppression).where(
        col(Suppression.channel) == channel, col(Suppression.address) == plain, col(Suppression.lifted_at).is_(None)
    )
    standing_now = (await tx.session.execute(query)).scalars().all()
    rows = [row for row in standing_now if number in (None, row.id)]
    for row in rows:
        row.lifted_at, row.lifted_by, row.detail = tx.now, by[:200], f"{row.detail}; lifted: {reason}"[:2000]
    await tx.session.flush()
    tx.memo.pop(("suppressed", channel), None)
    for spill, person in await _spills_of(tx, channel, plain) if rows and len(rows) == len(standing_now) else ():
        await tx.record(spill, AddressRestored(person=person, channel=channel, address=plain, reason=reason))
    return len(rows)


async def _spills_of(tx: Transaction, channel: str, address: str, message: MessageRow | None = None) -> list[tuple[Spill, str]]:
    """The spills with open duties about which somebody at an address was told, and that of the message, each with the person's name."""
    query = (
        select(Spill, col(MessageRow.person))
        .join(MessageRow, col(MessageRow.spill_id) == col(Spill.id))
        .outerjoin(Obligation, col(Obligation.spill_id) == col(Spill.id))
        .where(col(MessageRow.channel) == channel, func.lower(col(MessageRow.address)) == address.lower())
        .where(or_(col(Obligation.state).in_(_OPEN_STATES), col(MessageRow.id) == (message.id if message else "")))
        .order_by(col(Spill.id), col(MessageRow.promised_at).desc())
    )
    found: dict[int, tuple[Spill, str]] = {}
    for spill, person in await tx.session.execute(query):
        found.setdefault(spill.id or 0, (spill, person))
    return list(found.values())


async def listed(tx: Transaction, staff: Staff, *, lifted: bool = False) -> list[tuple[Suppression, list[str]]]:
    """The suppressed addresses that a member of staff may see, newest first, each with whose it is."""
    query = select(Suppression).order_by(col(Suppression.since).desc(), col(Suppression.id).desc())
    if not lifted:
        query = query.where(col(Suppression.lifted_at).is_(None))
    rows = (await tx.session.execute(query.limit(500))).scalars().all()
    owners = await _owners(tx, rows)
    found = []
    for row in rows:
        cities, names = owners.get((row.channel, row.address), (set(), []))
        # That of somebody who reported a spill is for those who may know who that was.
        hidden = _REPORTER in names and not any(staff.may("officer", city) for city in cities)
        if not hidden and (not cities or any(staff.may_see(city) for city in cities)):
            found.append((row, names))
    return found


async def _owners(tx: Transaction, rows: Sequence[Suppression]) -> dict[tuple[str, str], tuple[set[str], list[str]]]:
    """Whose each address is: the cities where it counts, and names with roles."""
    found: dict[tuple[str, str], tuple[set[str], list[str]]] = {(row.channel, row.address): (set(), []) for row in rows}
    for contact in (await tx.session.execute(select(Contact).order_by(col(Contact.id)))).scalars():
        for channel, address in _addresses(contact):
            if (channel, address) in found:
                cities, names = found[channel, address]
                cities.add(contact.city)
                names.append(f"{contact.name} ({contact.role.replace('_', ' ')} of {contact.city})")
    told = (
        select(col(MessageRow.channel), func.lower(col(MessageRow.address)), col(MessageRow.person), col(Spill.city))
        .join(Spill, col(Spill.id) == col(MessageRow.spill_id))
        .where(func.lower(col(MessageRow.address)).in_([row.address.lower() for row in rows]))
        .distinct()
    )
    for channel, address, person, city in await tx.session.execute(told):
        if (channel, address) in found and city:
            cities, names = found[channel, address]
            cities.add(city)
            if not any(name.startswith(f"{person} (") or name == person for name in names):
                names.append(person)
    return found


def _addresses(contact: Contact) -> Iterable[tuple[str, str]]:
    if contact.email:
        yield "email", contact.email.lower()
    if contact.phone:
        yield "sms", contact.phone


async def lift(tx: Transaction, staff: Staff, number: int, reason: str) -> Suppression:
    """Lift a suppression, with a reason. Raises NotAllowed below manager, NotKnown, BadInput without a reason."""
    staff.require("manager", None)
    reason = stated(reason)
    if not reason:
        raise BadInput("lifting needs a reason", ["reason: missing; right would be: why messages will be taken again"])
    mine = [row for row, _ in await listed(tx, staff) if row.id == number]
    if not mine:
        raise NotKnown(f"there is no suppressed address {number}")
    cities = (await _owners(tx, mine))[mine[0].channel, mine[0].address][0]
    if cities and not any(staff.may("manager", city) for city in cities):
        raise NotAllowed(f"this needs the role manager in {' or '.join(sorted(cities))}")
    await restore(tx, mine[0].channel, mine[0].address, reason, staff.email, number)
    city = min(cities) if len(cities) == 1 else None
    await staff_log.note(tx, "address:lifted", None, staff.email, city=city, number=number, channel=mine[0].channel, reason=reason)
    return mine[0]


async def unreachable(tx: Transaction, cities: Iterable[str] | None = None) -> list[Unreachable]:
    """The people in roles, of these cities or all, who cannot be told by one of their channels."""
    suppressed = {(row.channel, row.address): row for channel in ("email", "sms") for row in (await standing(tx, channel)).values()}
    wanted = None if cities is None else set(cities)
    found = []
    for contact in (await tx.session.execute(select(Contact).order_by(col(Contact.city), col(Contact.role), col(Contact.id)))).scalars():
        mine = list(_addresses(contact))
        barred = [suppressed[one] for one in mine if one in suppressed]
        if wanted is None or contact.city in wanted:
            found += [Unreachable(contact, row, len(barred) == len(mine)) for row in barred]
    return found
