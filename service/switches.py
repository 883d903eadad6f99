"""Rules that an administrator switched off for a city: they start no new clocks there. The law itself, and the engine, know nothing of it.

A clock that is held back stands on record as withdrawn, as it was decided, with who switched its rule off, since when and why. Switched on
again, the rule starts what it would have started: the law stood all the time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import bindparam, or_, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from deadlines import as_z, packs_over
from service import staff_log
from service.administration_tables import SwitchedOff
from service.errors import BadInput, NotKnown
from service.office_days import city_law
from service.spills import stated
from service.tables import Obligation, Spill
from service.transaction import Transaction

_LONGEST_REASON = 1000
_HELD = "not started: its rule is switched off"
Off = Mapping[str, SwitchedOff]
_STANDING = (
    select(SwitchedOff).where(col(SwitchedOff.city) == bindparam("city"), col(SwitchedOff.ended_at).is_(None)).order_by(col(SwitchedOff.id))
)


async def switched_off(tx: Transaction, city: str | None) -> Off:
    """What is switched off in a city now, by duty or pack; looked up once in a transaction. Nothing without a city."""
    found: dict[str, SwitchedOff] | None = tx.memo.get(("switched off", city))
    if found is None:
        rows = (await tx.session.execute(_STANDING, {"city": city})).scalars() if city else ()
        found = tx.memo[("switched off", city)] = {row.duty: row for row in rows}
    return found


def over(off: Off, duty: str) -> SwitchedOff | None:
    """What switches a duty off: an entry for its rule, or for its pack; None where nothing does."""
    return off.get(duty) or off.get(duty.partition("/")[0])


def why_held(entry: SwitchedOff) -> str:
    """Why a clock was not started, for the record."""
    what = f"pack {entry.duty}" if "/" not in entry.duty else "rule"
    return f"{_HELD}; the {what} was switched off in {entry.city} on {as_z(entry.at)} by {entry.by}: {entry.reason}"


def holds_back(row: Obligation, starts_at: datetime | None) -> bool:
    """Whether a clock on record may not begin while its rule is off: one that was withdrawn or waits. One that runs, or ran, goes on."""
    return row.state == "withdrawn" or (row.state == "waiting" and not row.reason and starts_at is not None)


async def entries(tx: Transaction, cities: Collection[str]) -> list[SwitchedOff]:
    """Everything that was ever switched off in some cities, the newest first."""
    query = select(SwitchedOff).where(col(SwitchedOff.city).in_(cities)).order_by(col(SwitchedOff.id).desc())
    return list((await tx.session.execute(query)).scalars())


async def switch_off(tx: Transaction, city: str, duty: str, reason: str) -> SwitchedOff:
    """Switch a rule, or a pack with all its rules, off for a city. Raises NotKnown for an unknown city, and BadInput."""
    law = city_law(tx.house, city)
    reason, duty = stated(reason), duty.strip()
    packs = [pack.id for pack in packs_over(law)]
    faults = []
    if duty not in packs and duty not in {standing.rule.duty for standing in law.rules}:
        faults.append(
            f"rule: {duty[:120]!r} does not stand over {city}; right would be: a rule of {', '.join(packs)}, or one of these packs"
        )
    elif standing_entry := over(await switched_off(tx, city), duty):
        faults.append(f"rule: {duty} is switched off already by {standing_entry.by}; right would be: nothing, or another rule")
    if not reason or len(reason) > _LONGEST_REASON:
        faults.append(f"reason: {'too long' if reason else 'missing'}; right would be: why it must not count here, and who decided it")
    if faults:
        raise BadInput("it is not switched off", faults)
    entry = SwitchedOff(city=city, duty=duty, reason=reason, by=tx.actor[:320], at=tx.now)
    tx.session.add(entry)
    try:
        await tx.session.flush()
    except IntegrityError:  # another process was a moment quicker
        raise BadInput("it is not switched off", [f"rule: {duty} was switched off just now by somebody else"]) from None
    tx.memo.pop(("switched off", city), None)
    await staff_log.note(tx, "rule:off", city=city, rule=duty, reason=reason)
    return entry


async def switch_on(tx: Transaction, city: str, number: int, reason: str = "") -> SwitchedOff:
    """Let an entry count no more, and have the spills put to the law again whose clocks it held back. Raises NotKnown."""
    query = select(SwitchedOff).where(col(SwitchedOff.id) == number, col(SwitchedOff.city) == city, col(SwitchedOff.ended_at).is_(None))
    entry: SwitchedOff | None = (await tx.session.execute(tx.held(query))).scalar_one_or_none()
    if entry is None:
        raise NotKnown(f"nothing with the number {number} is switched off in {city}")
    entry.ended_at, entry.ended_by, entry.ended_reason = tx.now, tx.actor[:320], stated(reason)[:_LONGEST_REASON]
    await tx.session.flush()
    tx.memo.pop(("switched off", city), None)
    duties = or_(col(Obligation.duty) == entry.duty, col(Obligation.duty).startswith(f"{entry.duty}/", autoescape=True))
    held = select(col(Obligation.spill_id)).where(
        duties, col(Obligation.state) == "withdrawn", col(Obligation.reason).startswith(_HELD, autoescape=True)
    )
    for spill in (await tx.session.execute(select(Spill).where(col(Spill.city) == city, col(Spill.id).in_(held)))).scalars():
        spill.assess_at = min(spill.assess_at or tx.now, tx.now)
        tx.wakes_worker = True
    await staff_log.note(tx, "rule:on", city=city, rule=entry.duty, switched_off_by=entry.by, reason=entry.ended_reason)
    return entry
