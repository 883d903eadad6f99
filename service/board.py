"""The board: one line a spill, drawn in the transaction that changes the spill, and found by what somebody asks the board for.

A line holds moments and not what they come to, so that none has to be drawn only because time passes. It is drawn from the tables as they
stand when everything else in the transaction is done; a transaction that draws the same line waits, and so draws what both did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from deadlines import as_z
from deadlines.quantities import GALLONS
from service import events, spill_search
from service.access import Staff
from service.board_tables import BoardLine
from service.events import SpillEvent
from service.ladders import OPEN_STATES
from service.speech import is_immediate
from service.tables import EventRow, Meta, Obligation, Spill
from service.transaction import House, Transaction, reading, transaction

# Raised with every change of what a line holds or a spill is found by, so that a new release draws all of them anew.
_RULES = "3"
_MARK = "board"
_AT_A_TIME = 500
# Where a spill stands that has nothing due: behind everything that has.
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_LONGEST_BRIEF, _LONGEST_PLACE = 160, 120
# A record that must be kept for years is owed long after the spill is over; it rings for nobody, and is nothing to do on a board.
_OUTLASTS = "retention"
_PLACE_IN_LIST = re.compile(r"(\d{1,18})\.(\d{1,12})")

# What leaves the line of a spill as it is: who was told of what by which way, and what reporters ask for. All else draws it anew.
LEFT_ALONE: frozenset[type[SpillEvent]] = frozenset({
    events.RungHeld, events.RungReached, events.RungRested, events.AcknowledgementExpired, events.MessageAccepted, events.MessageGaveUp,
    events.MessageArrived, events.MessageFailed, events.ChannelChanged, events.AddressSuppressed, events.AddressRestored,
    events.AdvisorySent, events.ContactCorrected, events.CopyAsked,
})  # fmt: skip
_LEFT_KINDS = tuple(sorted(event.kind for event in LEFT_ALONE))
# What an alarm is about: a rung that reached nobody while its duty is open, and a law that was not applied to the latest facts.
_ALARM_KINDS = (events.RungReachedNobody.kind, events.AssessmentFailed.kind, events.FactsRecorded.kind)
_CLOSING_KINDS = (events.SpillClosed.kind, events.SpillReopened.kind)


# -- drawing


async def keep_up(tx: Transaction, recorded: Sequence[tuple[int, SpillEvent]]) -> None:
    """What follows all events of a transaction at its end: the lines and words of their spills become what is on record."""
    await tx.session.flush()
    await draw(tx, {number for number, event in recorded if type(event) not in LEFT_ALONE})
    if said := {number for number, event in recorded if spill_search.is_searched(event)}:
        await spill_search.feed(tx, sorted(said))


async def draw(tx: Transaction, spill_ids: Iterable[int]) -> None:
    """Draw the lines of these spills. One that comes out as it was stays as it is."""
    numbers = sorted(spill_ids)
    for start in range(0, len(numbers), _AT_A_TIME):
        some = numbers[start : start + _AT_A_TIME]
        query = select(BoardLine).where(col(BoardLine.spill_id).in_(some)).order_by(col(BoardLine.spill_id))
        rows = (await tx.session.execute(tx.held(query).execution_options(populate_existing=True))).scalars()
        lines = {row.spill_id: row for row in rows}
        for number, drawn in sorted((await drawn_of(tx, some)).items()):
            line = lines.get(number)
            if line is None:
                tx.session.add(BoardLine(spill_id=number, drawn_at=tx.now, **drawn))
            elif any(getattr(line, name) != value for name, value in drawn.items()):
                for name, value in drawn.items():
                    setattr(line, name, value)
                line.drawn_at, line.draws = tx.now, line.draws + 1
    await tx.session.flush()


async def drawn_of(tx: Transaction, spill_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What the lines of spills hold by everything on record, by the number of the spill: BoardLine but for how it was drawn."""
    duties = await _duties(tx, spill_ids)
    told = await _told(tx, spill_ids)
    head = aliased(Spill)
    # Columns, and not objects: what this transaction read at its beginning may have changed since.
    query = (
        select(
            col(Spill.id), col(Spill.reference), col(Spill.city), col(Spill.received_at), col(Spill.description), col(Spill.address),
            col(Spill.lat), col(Spill.lon), col(Spill.facts), col(Spill.flags), col(Spill.held_at), col(Spill.officer), col(Spill.cause),
            col(Spill.discharger), col(Spill.assess_tries), col(head.reference).label("merged_into"),
        )
        .outerjoin(head, col(head.id) == col(Spill.merged_into))
        .where(col(Spill.id).in_(spill_ids))
    )  # fmt: skip
    notices = await _notices(tx, spill_ids)
    return {
        row.id: _line(row, duties.get(row.id, []), told[row.id], notices.get(row.id, (None, None)))
        for row in await tx.session.execute(query)
    }  # fmt: skip


@dataclass(slots=True)
class _Told:
    """What the events of a spill come to on the board: its alarms, since when it is closed, when and by whom it was last changed."""

    alarms: set[Any]
    closed_at: datetime | None = None
    changed_at: datetime | None = None
    changed_by: str = ""


def _line(spill: Any, duties: list[dict[str, Any]], told: _Told, notice: tuple[datetime | None, datetime | None]) -> dict[str, Any]:
    facts: Mapping[str, Any] = spill.facts
    opened = [{key: one[key] for key in ("duty", "title", "due_at", "at_once")} for one in duties if one["is_due"]]
    due_at = datetime.fromisoformat(opened[0]["due_at"]) if opened else None
    standing = {one["id"] for one in duties} | {"law"}
    at = f"{spill.lat:.5f}, {spill.lon:.5f}" if spill.lat is not None and spill.lon is not None else ""
    return {
        "reference": spill.reference, "city": spill.city, "stands": _stands(spill, told, opened), "merged_into": spill.merged_into,
        "closed_at": told.closed_at, "received_at": spill.received_at, "material": str(facts.get("material") or ""),
        "volume": dict(facts.get("volume") or {}),
        "place": _brief(spill.address, _LONGEST_PLACE) or at, "brief": _brief(spill.description, _LONGEST_BRIEF), "lat": spill.lat,
        "lon": spill.lon, "officer": spill.officer, "flags": len(spill.flags), "alarms": len(told.alarms & standing), "duties": opened,
        "due_at": due_at, "sort_at": due_at or NEVER, "back": -spill.id, "changed_at": told.changed_at or spill.received_at,
        "changed_by": told.changed_by, "cause": spill.cause, "gallons": _gallons(facts.get("volume")),
        "party": _brief(str(spill.discharger.get("name") or ""), _LONGEST_PLACE), "notice_from": notice[0], "noticed_at": notice[1],
    }  # fmt: skip


def _stands(spill: Any, told: _Told, opened: Sequence[Any]) -> str:
    """Where a spill stands: one of STANDS. One that was stored and not yet read has no city for a moment, and is nobody's to set."""
    if spill.held_at is not None:
        return "held"
    if spill.merged_into is not None:
        return "merged"
    if not spill.facts and not spill.assess_tries:
        return "coming"
    return "closed" if told.closed_at is not None and not opened else "open"


def _gallons(volume: Any) -> float | None:
    """The larger end of an amount; None where none is known."""
    if not isinstance(volume, Mapping) or volume.get("unit") not in GALLONS:
        return None
    most = volume.get("high", volume.get("quantity"))
    return float(most) * float(GALLONS[volume["unit"]]) if isinstance(most, int | float) else None


def _brief(said: str, longest: int) -> str:
    one_line = " ".join(said.split())
    return one_line if len(one_line) <= longest else one_line[: longest - 1].rstrip() + "…"


async def _duties(tx: Transaction, spill_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """The duties of each spill that are neither done nor withdrawn, the nearest due first; `is_due`: there is something to be done."""
    clock = col(Obligation.clock)
    columns = (col(Obligation.id), col(Obligation.spill_id), col(Obligation.duty), col(Obligation.state), col(Obligation.act))
    query = (
        select(*columns, col(Obligation.starts_at), col(Obligation.due_at), clock["title"].as_string(), clock["limit"].as_string())
        .where(col(Obligation.spill_id).in_(spill_ids), col(Obligation.state).in_((*OPEN_STATES, "waiting")))
        .order_by(col(Obligation.due_at), col(Obligation.duty), col(Obligation.id))
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for number, spill_id, duty, state, act, starts_at, due_at, title, limit in await tx.session.execute(query):
        counted = {"starts_at": as_z(starts_at), "due_at": as_z(due_at), "limit": limit}
        found.setdefault(spill_id, []).append({
            "id": number, "duty": duty, "title": title, "due_at": counted["due_at"], "at_once": is_immediate(counted),
            "is_due": state in OPEN_STATES and due_at is not None and act != _OUTLASTS,
        })  # fmt: skip
    return found


async def _notices(tx: Transaction, spill_ids: Sequence[int]) -> dict[int, tuple[datetime | None, datetime | None]]:
    """From when the law asks for a notice about each spill, and when the first one was given."""
    query = (
        select(col(Obligation.spill_id), func.min(col(Obligation.starts_at)), func.min(col(Obligation.met_at)))
        .where(col(Obligation.spill_id).in_(spill_ids), col(Obligation.act) == "notice", col(Obligation.state) != "withdrawn")
        .group_by(col(Obligation.spill_id))
    )
    return {number: (begins, given) for number, begins, given in await tx.session.execute(query)}


async def _told(tx: Transaction, spill_ids: Sequence[int]) -> dict[int, _Told]:
    found = {number: _Told(set()) for number in spill_ids}
    obligation = col(EventRow.opened)["obligation"].as_integer()
    query = (
        select(col(EventRow.spill_id), col(EventRow.kind), col(EventRow.recorded_at), obligation)
        .where(col(EventRow.spill_id).in_(spill_ids), col(EventRow.kind).in_((*_ALARM_KINDS, *_CLOSING_KINDS)))
        .order_by(col(EventRow.id))
    )
    for number, kind, at, about in await tx.session.execute(query):
        told = found[number]
        if kind in _CLOSING_KINDS:
            told.closed_at = at if kind == events.SpillClosed.kind else None
        elif kind == events.FactsRecorded.kind:
            told.alarms.discard("law")  # put to the law anew; a failure after this one says so again
        else:
            told.alarms.add("law" if kind == events.AssessmentFailed.kind else about)
    mine = (col(EventRow.spill_id).in_(spill_ids), col(EventRow.kind).not_in(_LEFT_KINDS))
    last = select(func.max(col(EventRow.id))).where(*mine).group_by(col(EventRow.spill_id))
    changed = select(col(EventRow.spill_id), col(EventRow.recorded_at), col(EventRow.shown_actor)).where(col(EventRow.id).in_(last))
    for number, at, actor in await tx.session.execute(changed):
        found[number].changed_at, found[number].changed_by = at, actor
    return found


async def bring_up_to_date(house: House) -> int:
    """Draw every line, and gather every word, where a new release or a new database asks for it. Returns how many spills that were."""
    async with reading(house) as tx:
        if await _is_up_to_date(tx):
            return 0
    drawn, last = 0, 0
    while True:
        async with transaction(house, "spillclock") as tx:
            await tx.alone_with("board")
            if await _is_up_to_date(tx):
                return drawn
            query = select(col(Spill.id)).where(col(Spill.id) > last).order_by(col(Spill.id)).limit(_AT_A_TIME)
            numbers = [number or 0 for number in (await tx.session.execute(query)).scalars()]
            await draw(tx, numbers)
            await spill_search.feed(tx, numbers)
            if len(numbers) < _AT_A_TIME:
                await tx.session.merge(Meta(key=_MARK, value=_RULES))
            drawn, last = drawn + len(numbers), numbers[-1] if numbers else last


async def _is_up_to_date(tx: Transaction) -> bool:
    mark = await tx.session.get(Meta, _MARK)
    return mark is not None and mark.value == _RULES


# -- looking up

STANDS = ("open", "closed", "merged", "held", "coming")
# overdue, open: something is due; alarm; unassigned: no city yet; quiet: nothing is due.
STATES = ("overdue", "open", "quiet", "alarm", "unassigned")
NOBODY, UNKNOWN = "nobody", "unknown"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody asks the board for; what is left out is not asked.

    `stands`: some of STANDS; `state`: one of STATES; `within`: due by then at the latest, what is overdue included; `material`: a word of
    the contract, UNKNOWN also for one that is not stated; `officer`: the address of whoever is in charge, or NOBODY.
    """

    stands: tuple[str, ...] = ("open", "closed")
    city: str | None = None
    state: str | None = None
    within: timedelta | None = None
    material: str | None = None
    officer: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the list: `lines` in order, and the places in the list to go on from; empty where the list ends."""

    lines: Sequence[BoardLine]
    earlier: str = ""
    later: str = ""


def conditions(tx: Transaction, staff: Staff, wanted: Wanted) -> list[ColumnElement[bool]]:
    """What a line has to be for a member of staff to be shown it."""
    asked: list[ColumnElement[bool]] = [] if set(wanted.stands) == set(STANDS) else [col(BoardLine.stands).in_(wanted.stands)]
    if staff.cities is not None:
        asked.append(or_(col(BoardLine.city).in_(staff.cities), col(BoardLine.city).is_(None)))
    if wanted.city is not None:
        asked.append(col(BoardLine.city) == wanted.city)
    if wanted.state is not None:
        asked.append(_in_state(wanted.state, tx.now))
    if wanted.within is not None:
        asked.append(col(BoardLine.sort_at) <= tx.now + wanted.within)
    if wanted.material is not None:
        asked.append(col(BoardLine.material).in_(("", UNKNOWN) if wanted.material == UNKNOWN else (wanted.material,)))
    if wanted.officer is not None:
        asked.append(col(BoardLine.officer) == ("" if wanted.officer == NOBODY else wanted.officer))
    if wanted.text:
        asked.append(spill_search.matching(tx, wanted.text))
    return asked


def _in_state(state: str, now: datetime) -> ColumnElement[bool]:
    due = col(BoardLine.sort_at)
    match state:
        case "overdue":
            return due < now
        case "open":
            return due < NEVER
        case "quiet":
            return and_(due == NEVER, col(BoardLine.city).is_not(None))
        case "alarm":
            return is_alarm()
        case "unassigned":
            return col(BoardLine.city).is_(None)
    raise ValueError(f"{state!r} is none of {STATES}")


def is_alarm() -> ColumnElement[bool]:
    """Whether an alarm is still of use: once nothing is due it is history."""
    return and_(col(BoardLine.alarms) > 0, or_(col(BoardLine.sort_at) < NEVER, col(BoardLine.city).is_(None)))


async def found(
    tx: Transaction, asked: Sequence[ColumnElement[bool]], limit: int, *, after: str = "", before: str = "", offset: int = 0
) -> Stretch:
    """The lines on which all of this is so, the nearest due first, then the newest: those that follow the place `after`, or come
    before the place `before`. A place that cannot be read is the beginning."""
    order = (col(BoardLine.sort_at), col(BoardLine.back))
    backward, place = bool(before), _place(before or after)
    # Numbers first: what an index tells alone is quick also of all spills there ever were.
    query = select(col(BoardLine.spill_id)).where(*asked)
    if place is not None:
        at, back = place
        beyond = (order[0] < at, order[1] < back) if backward else (order[0] > at, order[1] > back)
        query = query.where(or_(beyond[0], and_(order[0] == at, beyond[1])))
    along = [one.desc() if backward and place is not None else one for one in order]
    numbers = list((await tx.session.execute(query.order_by(*along).limit(limit + 1).offset(offset))).scalars())
    whole = select(BoardLine).where(col(BoardLine.spill_id).in_(numbers)).order_by(*along)
    lines = list((await tx.session.execute(whole)).scalars())
    more, lines = len(lines) > limit, lines[:limit]
    if backward and place is not None:
        lines.reverse()
        return Stretch(lines, _place_of(lines[0]) if more else "", _place_of(lines[-1]) if lines else "")
    return Stretch(lines, _place_of(lines[0]) if lines and place is not None else "", _place_of(lines[-1]) if more else "")


async def with_spills(tx: Transaction, lines: Sequence[BoardLine]) -> list[tuple[BoardLine, Spill]]:
    """Lines with the spills they are of."""
    query = select(Spill).where(col(Spill.id).in_([line.spill_id for line in lines]))
    spills = {spill.id: spill for spill in (await tx.session.execute(query)).scalars()}
    return [(line, spills[line.spill_id]) for line in lines]


async def in_charge(tx: Transaction, staff: Staff) -> list[str]:
    """The addresses of those who answer for an open spill that a member of staff may see, in order."""
    asked = conditions(tx, staff, Wanted(("open",)))
    query = select(col(BoardLine.officer)).where(*asked, col(BoardLine.officer) != "").distinct().order_by(col(BoardLine.officer))
    return list((await tx.session.execute(query)).scalars())


async def count(tx: Transaction, asked: Sequence[ColumnElement[bool]]) -> int:
    """On how many lines all of this is so."""
    return await tx.session.scalar(select(func.count()).select_from(BoardLine).where(*asked)) or 0


def _place_of(line: BoardLine) -> str:
    """A place in the list as it stands in an address: the moment in millionths of a second, and the number of the spill."""
    return f"{(line.sort_at - _EPOCH) // _MICROSECOND}.{-line.back}"


def _place(given: str) -> tuple[datetime, int] | None:
    read = _PLACE_IN_LIST.fullmatch(given)
    if read is None:
        return None
    try:
        return _EPOCH + int(read[1]) * _MICROSECOND, -int(read[2])
    except OverflowError:
        return None


_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def late(line: BoardLine, now: datetime) -> list[dict[str, Any]]:
    """The duties on a line that are overdue at a moment."""
    return [duty for duty in line.duties if datetime.fromisoformat(duty["due_at"]) < now]
