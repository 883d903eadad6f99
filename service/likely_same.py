"""Which open reports may tell of the same spill as one, for staff who are about to merge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import or_, select
from sqlmodel import col

from deadlines.areas import metres_between
from service.access import Staff
from service.events import SaidToBeSame
from service.tables import EventRow, Spill
from service.transaction import Transaction

WITHIN_METRES = 1000.0
LATELY = timedelta(days=3)
MOST = 6
_LOOKED_THROUGH = 200


@dataclass(frozen=True, slots=True)
class Likely:
    """A report that may tell of the same spill: how far away, None where that is not known, and whether a reporter says so."""

    spill: Spill
    metres: float | None
    said: bool


async def likely_same(tx: Transaction, staff: Staff, spill: Spill) -> list[Likely]:
    """The reports of three days around a spill within a kilometre, and those that a reporter named: these first, then the nearest."""
    said = await _said_same(tx, spill)
    query = (
        select(Spill)
        .where(col(Spill.merged_into).is_(None), col(Spill.held_at).is_(None), col(Spill.id) != spill.id)
        .where(or_(col(Spill.city) == spill.city, col(Spill.city).is_(None)))
        .where(
            or_(
                col(Spill.received_at).between(spill.received_at - LATELY, spill.received_at + LATELY), col(Spill.reference).in_(said)
            )
        )
        .order_by(col(Spill.received_at).desc())
        .limit(_LOOKED_THROUGH)
    )  # fmt: skip
    found = []
    for other in (await tx.session.execute(query)).scalars():
        metres = _metres(spill, other)
        if staff.may_see(other.city) and (other.reference in said or (metres is not None and metres <= WITHIN_METRES)):
            found.append(Likely(other, metres, other.reference in said))
    return sorted(found, key=lambda one: (not one.said, one.metres is None, one.metres or 0.0, one.spill.reference))[:MOST]


async def _said_same(tx: Transaction, spill: Spill) -> set[str]:
    """The reports that their reporter, or that of this one, said to be the same."""
    query = (
        select(EventRow, col(Spill.reference))
        .join(Spill, col(Spill.id) == col(EventRow.spill_id))
        .where(col(EventRow.kind) == SaidToBeSame.kind, col(EventRow.recorded_at) > spill.received_at - LATELY)
    )
    named = {(reference, str(row.opened["other"])) for row, reference in (await tx.session.execute(query)).all()}
    mine = {other for reference, other in named if reference == spill.reference}
    return (mine | {reference for reference, other in named if other == spill.reference}) - {""}


def _metres(one: Spill, other: Spill) -> float | None:
    if one.lat is None or one.lon is None or other.lat is None or other.lon is None:
        return None
    return metres_between(one.lat, one.lon, other.lat, other.lon)
