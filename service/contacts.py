"""The people of a city's roles, added, changed and removed by its managers: nobody is left out of reach unasked, and each change is undone.

What a contact may be is said in service/parties.py, for the command line, too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from service import former_contacts, parties
from service.account_tables import StaffAction
from service.errors import BadInput, Conflict, NotKnown
from service.on_call import forget_rosters, take_off
from service.reach import unreached
from service.tables import Contact
from service.transaction import Transaction

# What is said of a contact, as forms and JSON name it. `quiet` is 22:00-06:00, or empty.
KEYS = ("role", "name", "email", "phone", "voice", "webhook", "apprise", "language", "quiet")
_LARGEST = 2**31 - 1


class LeavesNobody(Conflict):
    """A change would leave rungs of ladders that reach nobody; `faults` says which. It is made where it is confirmed."""

    title = "Alerts would reach nobody"


async def of_city(tx: Transaction, city: str) -> list[Contact]:
    """Everybody who fills a role of a city, in the order of their numbers."""
    query = select(Contact).where(col(Contact.city) == city).order_by(col(Contact.id))
    return list((await tx.session.execute(query)).scalars())


async def contact_of(tx: Transaction, city: str, number: int) -> Contact:
    """A contact of a city by number. Raises NotKnown."""
    found = await tx.session.get(Contact, number) if number <= _LARGEST else None
    if found is None or found.city != city:
        raise NotKnown(f"{city} has no contact {number}")
    return found


def as_given(contact: Contact) -> dict[str, Any]:
    """A contact as it could be given anew: all of KEYS."""
    quiet = f"{contact.quiet_from}-{contact.quiet_to}" if contact.quiet_from else ""
    return {**{key: getattr(contact, key) for key in KEYS if key != "quiet"}, "quiet": quiet}


async def add(tx: Transaction, city: str, given: Mapping[str, Any]) -> Contact:
    """Have a person fill a role of a city. Raises BadInput as parties.read_contact, each fault by its key."""
    contact = _read(tx, city, given)
    await parties.enter_contact(tx, contact)
    return contact


async def add_once(tx: Transaction, city: str, given: Mapping[str, Any], key: str) -> tuple[Contact, bool]:
    """Have a person fill a role of a city, once for the requests of a caller with one key. Returns whether they were entered before.

    Raises BadInput as `add`, and where the key came before with somebody else; Conflict where they were taken out since.
    """
    await tx.alone_with(f"contact {city} {key}")
    asked = f"{key} ({hashlib.sha256(json.dumps(dict(given), sort_keys=True).encode()).hexdigest()[:12]})"
    request = col(StaffAction.said)["request"].as_string()
    query = select(StaffAction).where(
        col(StaffAction.kind) == "contact:added", col(StaffAction.actor) == tx.actor, col(StaffAction.city) == city,
        request.startswith(f"{key} (", autoescape=True),
    )  # fmt: skip
    before = (await tx.session.execute(query)).scalars().first()
    if before is None:
        contact = _read(tx, city, given)
        await parties.enter_contact(tx, contact, request=asked)
        return contact, False
    if before.said["request"] != asked:
        fault = "Idempotency-Key: used; right would be: a new key for another contact"
        raise BadInput("this Idempotency-Key came before with another body", [fault])
    known = await tx.session.get(Contact, before.said["contact"])
    if known is None or known.city != city:
        raise Conflict(f"{before.said['name']} was entered by this request and taken out since; right would be: a new Idempotency-Key")
    return known, True


def _read(tx: Transaction, city: str, given: Mapping[str, Any]) -> Contact:
    asked = {**dict.fromkeys(KEYS, ""), "voice": False, "language": "en", **given}
    try:
        return parties.read_contact(tx.house, city, **asked)
    except BadInput as error:
        raise _in_keys(error) from None


async def change(tx: Transaction, city: str, number: int, given: Mapping[str, Any], *, confirmed: bool = False) -> Contact:
    """Change what is given of KEYS and leave the rest. Raises NotKnown, BadInput, and LeavesNobody unless it is confirmed.

    Who changes roles is taken off the rotas of the one before.
    """
    contact = await contact_of(tx, city, number)
    before, gaps = former_contacts.values_of(contact), await unreached(tx, city)
    try:
        checked = parties.read_contact(tx.house, city, **{**as_given(contact), **given})
    except BadInput as error:
        raise _in_keys(error) from None
    after = former_contacts.values_of(checked)
    if after == before:
        return contact
    await _put(tx, contact, after)
    await _require_reach(tx, city, gaps, confirmed=confirmed)
    await former_contacts.note(tx, "contact:changed", contact, before, after)
    return contact


async def remove(tx: Transaction, city: str, number: int, *, confirmed: bool = False) -> Contact:
    """Take a contact out, and off every rota. Raises NotKnown, and LeavesNobody unless it is confirmed."""
    await contact_of(tx, city, number)
    gaps = await unreached(tx, city)
    gone = await parties.remove_contact(tx, number)
    await _require_reach(tx, city, gaps, confirmed=confirmed)
    return gone


async def undo(tx: Transaction, city: str, action: int) -> Contact:
    """Undo the change or removal that an entry of the log of staff tells of; a change of its own, which is noted.

    Somebody removed comes back with a new number and on no rota. Raises NotKnown, and Conflict where they were changed again since.
    """
    kept = await former_contacts.former(tx, city, action)
    kept.undone_at = tx.now
    if kept.after is None:
        back = Contact(city=city, **kept.before)
        tx.session.add(back)
        await tx.session.flush()
        forget_rosters(tx)
        await parties.note_contact(tx, "contact:restored", back, undoes=action)
        return back
    contact = await contact_of(tx, city, kept.contact_id)
    now = former_contacts.values_of(contact)
    changed = [field for field in former_contacts.FIELDS if kept.before[field] != kept.after[field]]
    if later := [field for field in changed if now[field] != kept.after[field]]:
        raise Conflict(f"{', '.join(later)} of {contact.name} changed again since; right would be: undo the later change first")
    after = {**now, **{field: kept.before[field] for field in changed}}
    await _put(tx, contact, after)
    await former_contacts.note(tx, "contact:changed", contact, now, after, undoes=action)
    return contact


async def _put(tx: Transaction, contact: Contact, values: Mapping[str, Any]) -> None:
    if values["role"] != contact.role:
        await take_off(tx, contact)
    for field, value in values.items():
        setattr(contact, field, value)
    await tx.session.flush()
    forget_rosters(tx)


async def _require_reach(tx: Transaction, city: str, before: Sequence[str], *, confirmed: bool) -> None:
    if confirmed:
        return
    if new := [line for line in await unreached(tx, city) if line not in before]:
        raise LeavesNobody("alerts would reach nobody; right would be: somebody else first, or to confirm it", new)


def _in_keys(error: BadInput) -> BadInput:
    """A fault as it is said to whoever types no command: by the key, not by the option."""
    faults = [re.sub(r"^[A-Z]+(?=:)", lambda found: found[0].lower(), fault.replace("--", "")) for fault in error.faults]
    return BadInput(str(error).replace("added", "kept"), faults)
