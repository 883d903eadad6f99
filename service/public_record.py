"""The public record: which spills the public sees at all, and the rows from which its list, map and API are made.

A row is drawn anew by each event that can change it, in that event's transaction, by the rules of `disclosure`. Whatever shows spills to
the public reads these rows: what is not in them cannot leak there. Why a spill is public: docs/decisions/0010-what-the-public-sees.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlmodel import col

from deadlines.outlines import part_of
from service import public_words
from service.advisories import chain_of
from service.disclosure import PUBLIC, Known, view
from service.errors import BadInput
from service.events import ActRecorded, SpillClosed, SpillReopened
from service.parties import people_of
from service.public_filters import Wanted
from service.speech import Speech
from service.tables import Advisory, EventRow, Meta, PublicSpill, Spill
from service.transaction import House, Recorded, Transaction, transaction

# Matters that lie in the open. A planned discharge or a dye test is no spill, and an enforcement case is no news of one.
KINDS = ("spill", "unplanned_discharge", "irrigation_leak", "recycled_water_pond")
# Raised with every change of the rules that rows are drawn by, so that a new release draws all of them anew.
_RULES = "1"
_MARK = "public-record"
_GONE = "public-record-gone"
_AT_A_TIME = 200


# -- drawing


async def note(tx: Transaction, recorded: Recorded) -> None:
    """Reaction: what the public sees of the spill becomes what the events say."""
    await draw(tx, recorded.spill)


async def draw(tx: Transaction, spill: Spill) -> None:
    """Draw the row of a spill, or take it away where the public is not to see it."""
    row = await tx.session.get(PublicSpill, spill.id)
    chain = await chain_of(tx, spill)
    if not _appears(spill, chain):
        if row is not None:
            await tx.session.delete(row)
            await tx.session.merge(Meta(key=_GONE, value=tx.now.isoformat()))
        return
    shown = view(await _known(tx, spill, chain), PUBLIC)
    if row is None:
        tx.session.add(PublicSpill(spill_id=spill.id or 0, changed_at=tx.now, **shown))
    elif any(getattr(row, name) != value for name, value in shown.items()):
        for name, value in shown.items():
            setattr(row, name, value)
        row.changed_at = tx.now


def _appears(spill: Spill, chain: Sequence[Advisory]) -> bool:
    """Whether the public sees a spill: staff confirmed it or told the public of it, in a city, and it was not held as looking automatic.

    A report that was merged is seen as the spill it tells of; by itself only while what the public was told there is in force.
    """
    if spill.city is None or spill.facts.get("kind", "spill") not in KINDS or spill.held_at is not None:
        return False
    if spill.merged_into is not None:
        latest = _latest(chain)
        return bool(latest) and latest[-1].kind != "all_clear"
    return bool(chain) or spill.facts.get("release") == "confirmed"


async def _known(tx: Transaction, spill: Spill, chain: Sequence[Advisory]) -> Known:
    kinds = (ActRecorded.kind, SpillClosed.kind, SpillReopened.kind)
    query = select(EventRow).where(col(EventRow.spill_id) == spill.id, col(EventRow.kind).in_(kinds)).order_by(col(EventRow.id))
    theirs = {person.name for person in await people_of(tx, spill, "discharger")}
    acts, is_closed = [], False
    for row in (await tx.session.execute(query)).scalars():
        if row.kind != ActRecorded.kind:
            is_closed = row.kind == SpillClosed.kind
        elif "discharger of SP-" not in row.actor and row.actor.rpartition(" (")[0] not in theirs:
            acts.append(str(row.opened["act"].get("type")))
    return Known(spill, acts, is_closed, _latest(chain))


def _latest(chain: Sequence[Advisory]) -> list[Advisory]:
    """The last advisory with what followed it."""
    roots = [one.id for one in chain if one.follows is None]
    return [one for one in chain if roots and roots[-1] in (one.id, one.follows)]


async def bring_up_to_date(house: House) -> int:
    """Draw every row anew after a release that changed the rules. Returns how many spills were looked at; 0 where nothing had changed."""
    looked_at, last = 0, 0
    while True:
        async with transaction(house, "spillclock") as tx:
            mark = await tx.session.get(Meta, _MARK)
            if mark is not None and mark.value == _RULES:
                return looked_at
            query = select(Spill).where(col(Spill.id) > last).order_by(col(Spill.id)).limit(_AT_A_TIME).with_for_update()
            spills = list((await tx.session.execute(query)).scalars())
            for spill in spills:
                await draw(tx, spill)
            if len(spills) < _AT_A_TIME:
                await tx.session.merge(Meta(key=_MARK, value=_RULES))
            looked_at, last = looked_at + len(spills), spills[-1].id or 0 if spills else last


# -- looking up


def _conditions(house: House, wanted: Wanted) -> list[ColumnElement[bool]]:
    asked: list[ColumnElement[bool]] = [
        col(PublicSpill.city).in_(house.cities) if wanted.city is None else col(PublicSpill.city) == wanted.city
    ]
    if wanted.since is not None:
        # Rows hold the full hour before: of a spill in the hour asked for, the public cannot tell on which side it lies.
        asked.append(col(PublicSpill.received_at) > wanted.since - timedelta(hours=1))
    if wanted.material is not None:
        asked.append(col(PublicSpill.material) == wanted.material)
    if wanted.state is not None:
        asked.append(col(PublicSpill.state) == wanted.state)
    if wanted.advisory_only:
        asked.append(col(PublicSpill.advisory) == "in_force")
    if wanted.box is not None:
        west, south, east, north = wanted.box
        lon = col(PublicSpill.lon)
        across = or_(lon >= west, lon <= east) if west > east else and_(lon >= west, lon <= east)
        asked += [col(PublicSpill.lat) >= south, col(PublicSpill.lat) <= north, across]
    return asked


async def changed_at(tx: Transaction) -> datetime | None:
    """When anything on the public record last changed or left it; None where nothing ever was on it."""
    newest: datetime | None = await tx.session.scalar(select(func.max(col(PublicSpill.changed_at))))
    gone = await tx.session.get(Meta, _GONE)
    return max((one for one in (newest, datetime.fromisoformat(gone.value) if gone else None) if one is not None), default=None)


async def count(tx: Transaction, wanted: Wanted) -> int:
    """How many spills are found."""
    query = select(func.count()).select_from(PublicSpill).where(*_conditions(tx.house, wanted))
    return await tx.session.scalar(query) or 0


async def found(tx: Transaction, wanted: Wanted, limit: int, *, offset: int = 0, after: str | None = None) -> list[PublicSpill]:
    """The spills found, the newest first, from the one that follows the reference `after`. Raises BadInput where that one is not public."""
    query = select(PublicSpill).where(*_conditions(tx.house, wanted))
    order = col(PublicSpill.received_at), col(PublicSpill.spill_id)
    if after is not None:
        last = (await tx.session.execute(select(PublicSpill).where(col(PublicSpill.reference) == after))).scalar_one_or_none()
        if last is None:
            raise BadInput(
                "the list cannot go on from there", ["after: it is not on the list (any more); right would be: begin without it"]
            )
        query = query.where(or_(order[0] < last.received_at, and_(order[0] == last.received_at, order[1] < last.spill_id)))
    query = query.order_by(order[0].desc(), order[1].desc()).limit(limit).offset(offset)
    return list((await tx.session.execute(query)).scalars())


@dataclass(frozen=True, slots=True)
class Notice:
    """An advisory on the public record: its number, where it is about by language, its spill's city, since when, and whether it ended."""

    number: int
    where: dict[str, str]
    city: str
    issued_at: datetime
    ended: bool


async def notices(tx: Transaction, city: str | None, cleared_since: datetime, limit: int) -> list[Notice]:
    """The advisories in force, in one city where named, and those whose all-clear came since a moment; the newest first."""
    newest = select(func.max(col(Advisory.id))).where(
        or_(col(Advisory.id) == col(PublicSpill.advisory_id), col(Advisory.follows) == col(PublicSpill.advisory_id))
    )
    query = select(PublicSpill, Advisory).join(Advisory, col(Advisory.id) == newest.correlate(PublicSpill).scalar_subquery())
    standing = or_(
        col(PublicSpill.advisory) == "in_force", and_(col(PublicSpill.advisory) == "ended", col(Advisory.issued_at) > cleared_since)
    )
    query = query.where(*_conditions(tx.house, Wanted(city=city)), col(PublicSpill.advisory) != "none", standing)
    query = query.order_by(col(PublicSpill.advisory).desc(), col(Advisory.issued_at).desc()).limit(limit)
    rows: Sequence[Any] = (await tx.session.execute(query)).all()
    return [
        Notice(
            row.advisory_id or 0, {key.partition(".")[2]: words for key, words in said.words.items() if key.startswith("where.")}, row.city,
            said.issued_at, row.advisory == "ended",
        )
        for row, said in rows
    ]  # fmt: skip


# -- telling

# How an hour is said in the time of a city: a thousand spills share few hours, and to say one takes its time.
Hours = dict[tuple[str, datetime], str]


def in_words(house: House, row: PublicSpill, said: Speech, hours: Hours) -> dict[str, str]:
    """A spill of the public record in words: title, place, received, amount, reached, state, advisory. `hours` is kept between calls."""
    law = house.rulebook.law_of(row.city)
    key = (row.city, row.received_at)
    if key not in hours:
        hours[key] = said.stamp(row.received_at, law.zone)
    part = None if row.lat is None or row.lon is None else part_of(house.places, row.city, row.lat, row.lon)
    return {
        "title": said.say(public_words.MATERIALS[row.material]), "place": public_words.place_words(part, law.city.title, said),
        "received": hours[key], "amount": said.say(public_words.AMOUNTS[row.amount]),
        "reached": public_words.reached_words(row.reached, said), "state": said.say(public_words.STATES[row.state]),
        "advisory": said.say(public_words.ADVISORIES[row.advisory]),
    }  # fmt: skip
