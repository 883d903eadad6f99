"""Entering and ending rotas, overrides and holidays. Nothing is deleted: who was on call in a night can be told years later."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from deadlines import as_z
from deadlines.ladder import ROLES
from service import staff_log
from service.errors import BadInput, NotKnown
from service.on_call import HOLIDAY, IMPORTED, OVERRIDE, forget_rosters, roster_of
from service.rota_calendars import problem_with_calendar
from service.spills import stated
from service.tables import Contact, Rota, Shift
from service.transaction import Transaction

_TIME = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
_LONGEST_NAME, _LONGEST_REASON = 200, 500
_LONGEST_TURN_DAYS = 366
_LARGEST = 2**31 - 1
_LONGEST_SHIFT = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class NewRota:
    """What a rota is entered from: members by contact number in the order of their turns, the day the first turn begins."""

    city: str
    role: str
    name: str
    members: Sequence[int] = ()
    starts_on: date | None = None
    turn_days: int = 7
    handover: str = "08:00"
    ics_url: str = ""


async def rotas_of(tx: Transaction, city: str | None = None, *, ended: bool = False) -> list[Rota]:
    """The rotas of a city, or of all; those that have ended only where asked for."""
    mine = [*([col(Rota.city) == city] if city else []), *([] if ended else [col(Rota.ended_at).is_(None)])]
    return list((await tx.session.execute(select(Rota).where(*mine).order_by(col(Rota.city), col(Rota.id)))).scalars())


async def rota_of(tx: Transaction, number: int, is_theirs: Callable[[str], bool] = lambda city: True, *, ended: bool = False) -> Rota:
    """A rota that has not ended, or with `ended` one that has. Raises NotKnown, also for one of a city that is not theirs who ask."""
    rota = await tx.session.get(Rota, number) if number <= _LARGEST else None
    if rota is None or (rota.ended_at is not None) != ended or not is_theirs(rota.city):
        raise NotKnown(f"there is no rota {number}; see them with: spillclock rota list")
    return rota


async def shifts_of(tx: Transaction, rota: Rota, *, imported: bool = False) -> list[Shift]:
    """The overrides and holidays of a rota that are not over, and where asked for the entries of its calendar."""
    mine = [col(Shift.rota_id) == rota.id, col(Shift.removed_at).is_(None), col(Shift.ends_at) > tx.now]
    if not imported:
        mine.append(col(Shift.kind) != IMPORTED)
    return list((await tx.session.execute(select(Shift).where(*mine).order_by(col(Shift.starts_at), col(Shift.id)))).scalars())


async def add_rota(tx: Transaction, new: NewRota) -> Rota:
    """Enter a rota; it counts from now on. Raises BadInput, naming every fault."""
    faults = []
    if new.city not in tx.house.cities:
        faults.append(f"city: {new.city[:60]!r} is not a known city; right would be: one of {', '.join(tx.house.cities)}")
    if new.role not in ROLES:
        faults.append(f"role: {new.role[:60]!r} is not a role; right would be: one of {', '.join(ROLES)}")
    name, url = stated(new.name), new.ics_url.strip()
    if not name or len(name) > _LONGEST_NAME:
        faults.append(f"name: {'too long' if name else 'missing'}; right would be: what people call it, such as Sewer desk")
    faults += await _faults_of_turns(tx, new, url)
    if url and (problem := problem_with_calendar(url, allow_private=tx.house.settings.webhook_private)):
        faults.append(f"ics: {problem}")
    if faults:
        raise BadInput("the rota cannot be entered", faults)
    today = tx.now.astimezone(tx.house.rulebook.zones[new.city]).date()
    rota = Rota(
        city=new.city, role=new.role, name=name, members=list(new.members), starts_on=new.starts_on or today, turn_days=new.turn_days,
        handover=new.handover, ics_url=url, added_by=tx.actor[:200], added_at=tx.now,
    )  # fmt: skip
    tx.session.add(rota)
    await tx.session.flush()
    forget_rosters(tx)
    await staff_log.note(tx, "rota:added", city=rota.city, rota=rota.id, name=rota.name, role=rota.role)
    return rota


async def _faults_of_turns(tx: Transaction, new: NewRota, url: str) -> list[str]:
    faults = []
    people = {contact.id for contact in (await roster_of(tx, new.city, new.role)).contacts}
    if not new.members and not url:
        faults.append("members: missing, and no ics; right would be: the numbers of contacts in the order of their turns")
    wrong = [number for number in new.members if number not in people]
    if wrong:
        faults.append(f"members: {wrong[0]} is no {new.role} of {new.city}; right would be: numbers of `spillclock contact list`")
    if len(set(new.members)) != len(new.members):
        faults.append("members: somebody stands in it twice; right would be: each once")
    if not 0 < new.turn_days <= _LONGEST_TURN_DAYS:
        faults.append(f"turn_days: {new.turn_days} is no number of days; right would be: 7")
    if not _TIME.fullmatch(new.handover):
        faults.append(f"handover: {new.handover[:20]!r} is no time; right would be: 08:00")
    return faults


async def end_rota(tx: Transaction, number: int) -> Rota:
    """End a rota: from now on everybody in the role is told again, or whom another rota calls. Raises NotKnown."""
    rota = await rota_of(tx, number)
    rota.ended_at = tx.now
    await tx.session.flush()
    forget_rosters(tx)
    await staff_log.note(tx, "rota:ended", city=rota.city, rota=rota.id, name=rota.name)
    return rota


async def resume_rota(tx: Transaction, number: int) -> Rota:
    """Let a rota that was ended count again, as it was; who was taken out of the role since stands in it no more. Raises NotKnown."""
    rota = await rota_of(tx, number, ended=True)
    rota.ended_at = None
    await tx.session.flush()
    forget_rosters(tx)
    await staff_log.note(tx, "rota:resumed", city=rota.city, rota=rota.id, name=rota.name)
    return rota


async def add_shift(
    tx: Transaction, number: int, contact: int, starts_at: datetime, ends_at: datetime, reason: str = "", *, holiday: bool = False
) -> Shift:
    """Have somebody be on call from one moment to another whatever the turns say; with `holiday`, not be. Raises NotKnown, BadInput."""
    rota = await rota_of(tx, number)
    person = await tx.session.get(Contact, contact)
    faults = []
    if person is None or (person.city, person.role) != (rota.city, rota.role):
        faults.append(f"contact: {contact} is no {rota.role} of {rota.city}; right would be: a number of `spillclock contact list`")
    if not tx.now < ends_at or not starts_at < ends_at <= starts_at + _LONGEST_SHIFT:
        faults.append("until: it is over, before its beginning, or more than 400 days after; right would be: a later moment")
    reason = stated(reason)
    if len(reason) > _LONGEST_REASON:
        faults.append("reason: too long; right would be: a few words")
    if faults:
        raise BadInput("this cannot be entered", faults)
    shift = Shift(
        rota_id=number, contact_id=contact, starts_at=starts_at, ends_at=ends_at, kind=HOLIDAY if holiday else OVERRIDE, reason=reason,
        added_by=tx.actor[:200], added_at=tx.now,
    )  # fmt: skip
    tx.session.add(shift)
    await tx.session.flush()
    forget_rosters(tx)
    told: dict[str, Any] = {"since": as_z(starts_at), "until": as_z(ends_at), "reason": reason}
    await staff_log.note(tx, "shift:added", city=rota.city, rota=rota.id, change=shift.kind, contact=contact, **told)
    return shift


async def remove_shift(tx: Transaction, number: int, shift_number: int) -> Rota:
    """Take an override or a holiday out; it stays on record. Raises NotKnown."""
    rota = await rota_of(tx, number)
    shift = await tx.session.get(Shift, shift_number) if shift_number <= _LARGEST else None
    if shift is None or shift.rota_id != number or shift.removed_at is not None or shift.kind == IMPORTED:
        raise NotKnown(f"rota {number} has no override {shift_number}; see them with: spillclock rota list")
    shift.removed_at = tx.now
    await tx.session.flush()
    forget_rosters(tx)
    await staff_log.note(tx, "shift:removed", city=rota.city, rota=rota.id, shift=shift.id)
    return rota
