"""Open reports near a place, as far as outsiders may know of them: what kind of material, roughly how far, roughly when.

Both ends are rounded to a city block before they are compared, as `disclosure` rounds what the public sees: however often somebody asks,
and from wherever, they learn no more than the block. What was reported at a home is not told at all.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlmodel import col

from deadlines.areas import metres_between
from service.disclosure import PUBLIC, Known, view
from service.events import SaidToBeSame, SpillClosed, SpillReopened
from service.public_record import KINDS
from service.tables import EventRow, Spill
from service.transaction import Transaction

METRES = 300.0
LATELY = timedelta(hours=48)
MOST = 3
# A block, the least that anybody is told apart by.
BLOCK_METRES = 150.0
_DECIMALS = 3
_METRES_A_DEGREE = 111_200.0
_LOOKED_THROUGH = 200


@dataclass(frozen=True, slots=True)
class Near:
    """An open report near a place, in public terms: `metres` between blocks, `received_at` to the hour. `spill_id` is for us alone."""

    spill_id: int
    material: str
    metres: float
    received_at: datetime


async def near_place(tx: Transaction, lat: float, lon: float, *, until: datetime, but: int | None = None) -> list[Near]:
    """The open reports of the last two days before `until` within 300 m, in the city of the place; the nearest first, three at most.

    None where the place is in no city served. `but` is a report that is not looked for, and none later than it is.
    """
    lat, lon = round(lat, _DECIMALS), round(lon, _DECIMALS)
    city = tx.house.places.locate(lat, lon).city
    if city is None:
        return []
    found = [_seen_by_public(spill, lat, lon) for spill in await _open_ones(tx, city, lat, lon, until, but)]
    near = [one for one in found if one is not None and one.metres <= METRES]
    # Within one block all are the same distance away: the latest first.
    return sorted(near, key=lambda one: (one.metres > BLOCK_METRES, -one.received_at.timestamp(), -one.spill_id))[:MOST]


async def _open_ones(tx: Transaction, city: str, lat: float, lon: float, until: datetime, but: int | None) -> list[Spill]:
    high = (METRES + BLOCK_METRES) / _METRES_A_DEGREE
    wide = high / max(0.01, math.cos(math.radians(lat)))
    query = (
        select(Spill)
        .where(col(Spill.city) == city, col(Spill.received_at) > until - LATELY, col(Spill.received_at) <= until)
        .where(col(Spill.lat).between(lat - high, lat + high), col(Spill.lon).between(lon - wide, lon + wide))
        .where(col(Spill.held_at).is_(None), col(Spill.merged_into).is_(None))
        .order_by(col(Spill.id).desc())
        .limit(_LOOKED_THROUGH)
    )
    if but is not None:
        query = query.where(col(Spill.id) < but)
    found = [spill for spill in (await tx.session.execute(query)).scalars() if spill.facts.get("kind", "spill") in KINDS]
    closed = await _closed(tx, [spill.id or 0 for spill in found])
    return [spill for spill in found if spill.id not in closed]


async def _closed(tx: Transaction, ids: Iterable[int]) -> set[int]:
    kinds = (SpillClosed.kind, SpillReopened.kind)
    query = select(col(EventRow.spill_id), col(EventRow.kind)).where(col(EventRow.spill_id).in_(list(ids)), col(EventRow.kind).in_(kinds))
    last = {spill_id: kind for spill_id, kind in await tx.session.execute(query.order_by(col(EventRow.id)))}
    return {spill_id for spill_id, kind in last.items() if kind == SpillClosed.kind}


def _seen_by_public(spill: Spill, lat: float, lon: float) -> Near | None:
    shown = view(Known(spill), PUBLIC)
    if shown["lat"] is None or shown["lon"] is None:
        return None
    metres = metres_between(lat, lon, shown["lat"], shown["lon"])
    return Near(spill.id or 0, shown["material"], metres, shown["received_at"])


# -- said to be the same


async def like_report(tx: Transaction, spill: Spill) -> list[Near]:
    """The earlier reports that a new one may be the same as."""
    if spill.lat is None or spill.lon is None or spill.city is None or spill.held_at is not None:
        return []
    return await near_place(tx, spill.lat, spill.lon, until=spill.received_at, but=spill.id)


def pick_of(tx: Transaction, spill: Spill, near: Near) -> str:
    """What stands for an earlier report on the page of a later one. It opens nothing and tells nothing."""
    text = f"same as|{spill.id}|{near.spill_id}"
    return hmac.new(tx.house.signing_key, text.encode(), hashlib.sha256).hexdigest()[:16]


async def say_same(tx: Transaction, spill: Spill, pick: str) -> bool:
    """Record that a reporter says which earlier report theirs is the same as, or that it is none of them (an empty pick).

    Nothing is merged by it: a person decides. Returns False, and records nothing, for a pick that was not offered, and for a second answer.
    """
    if any(isinstance(event, SaidToBeSame) for _, event in await tx.history(spill)):
        return False
    offered = {pick_of(tx, spill, near): near.spill_id for near in await like_report(tx, spill)}
    if not offered or (pick and pick not in offered):
        return False
    other = (await tx.session.get_one(Spill, offered[pick])).reference if pick else ""
    await tx.record(spill, SaidToBeSame(other=other))
    return True
