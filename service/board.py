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

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, func, insert, or_, select, update
from sqlmodel import col

from deadlines import as_z
from deadlines.quantities import GALLONS
from service import events, spill_search
from service.access import Staff
from service.board_tables import BoardLine
from service.columns import table
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
_TO_BE_DONE = (*OPEN_STATES, "waiting")

# What is asked and written for every line. Made once: to make a statement costs as much as to run it.
_LINE, _SPILL, _EVENT, _OBLIGATION = (table(one) for one in (BoardLine, Spill, EventRow, Obligation))
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_LINES = select(_LINE).where(_LINE.c.spill_id.in_(_IDS)).order_by(_LINE.c.spill_id).with_for_update()
_ADD_LINE = insert(_LINE)
_CHANGE_LINE = update(_LINE).where(_LINE.c.spill_id == bindparam("number"))
_HEAD = _SPILL.alias("head")
_SPILLS = (
    select(
        *(
            _SPILL.c[name]
            for name in (
                "id", "reference", "city", "received_at", "description", "address", "lat", "lon", "facts", "flags", "held_at", "officer",
                "cause", "discharger", "assess_tries",
            )
        ),
        _HEAD.c.reference.label("merged_into"),
    )
    .outerjoin(_HEAD, _HEAD.c.id == _SPILL.c.merged_into)
    .where(_SPILL.c.id.in_(_IDS))
)  # fmt: skip
_DUTIES = (
    select(
        *(_OBLIGATION.c[name] for name in ("id", "spill_id", "duty", "state", "act", "starts_at", "due_at", "met_at")),
        _OBLIGATION.c.clock["title"].as_string(), _OBLIGATION.c.clock["limit"].as_string(),
    )
    .where(
        _OBLIGATION.c.spill_id.in_(_IDS),
        or_(_OBLIGATION.c.state.in_(_TO_BE_DONE), and_(_OBLIGATION.c.act == "notice", _OBLIGATION.c.state != "withdrawn")),
    )
    .order_by(_OBLIGATION.c.due_at, _OBLIGATION.c.duty, _OBLIGATION.c.id)
)  # fmt: skip
# The events that a line comes to, the last of them the last that changed it.
_LAST = select(func.max(_EVENT.c.id)).where(_EVENT.c.spill_id.in_(_IDS), _EVENT.c.kind.not_in(_LEFT_KINDS)).group_by(_EVENT.c.spill_id)
_SAID = (
    select(_EVENT.c.spill_id, _EVENT.c.kind, _EVENT.c.recorded_at, _EVENT.c.actor, _EVENT.c.payload["obligation"].as_integer())
    .where(_EVENT.c.spill_id.in_(_IDS), or_(_EVENT.c.kind.in_((*_ALARM_KINDS, *_CLOSING_KINDS)), _EVENT.c.id.in_(_LAST)))
    .order_by(_EVENT.c.id)
)


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
        before = {}
        if known := [number for number in some if number not in tx.new_spills]:
            before = {row.spill_id: row for row in await tx.look_up(_LINES, ids=known)}
        for number, drawn in sorted((await drawn_of(tx, some)).items()):
            line = before.get(number)
            if line is None:
                await tx.write(_ADD_LINE, {"spill_id": number, "drawn_at": tx.now, "draws": 1, **drawn})
            elif any(getattr(line, name) != value for name, value in drawn.items()):
                await tx.write(_CHANGE_LINE, {"number": number, "drawn_at": tx.now, "draws": line.draws + 1, **drawn})


async def drawn_of(tx: Transaction, spill_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What the lines of spills hold by everything on record, by the number of the spill: BoardLine but for how it was drawn."""
    duties, notices = await _duties(tx, spill_ids)
    told = await _told(tx, spill_ids)
    return {
        row.id: _line(row, duties.get(row.id, []), told[row.id], notices.get(row.id, (None, None)))
        for row in await tx.look_up(_SPILLS, ids=spill_ids)
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


async def _duties(
    tx: Transaction, spill_ids: Sequence[int]
) -> tuple[dict[int, list[dict[str, Any]]], dict[int, tuple[datetime | None, datetime | None]]]:
    """The duties of each spill that are neither done nor withdrawn, the nearest due first (`is_due`: there is something to be done); and
    from when the law asks for a notice about it, and when the first one was given.
    """
    found: dict[int, list[dict[str, Any]]] = {}
    begun: dict[int, list[datetime]] = {}
    given: dict[int, list[datetime]] = {}
    for number, spill_id, duty, state, act, starts_at, due_at, met_at, title, limit in await tx.look_up(_DUTIES, ids=spill_ids):
        if act == "notice":
            begun.setdefault(spill_id, []).extend([starts_at] if starts_at else [])
            given.setdefault(spill_id, []).extend([met_at] if met_at else [])
        if state not in _TO_BE_DONE:
            continue
        counted = {"starts_at": as_z(starts_at), "due_at": as_z(due_at), "limit": limit}
        found.setdefault(spill_id, []).append({
            "id": number, "duty": duty, "title": title, "due_at": counted["due_at"], "at_once": is_immediate(counted),
            "is_due": state in OPEN_STATES and due_at is not None and act != _OUTLASTS,
        })  # fmt: skip
    return found, {number: (min(begun[number], default=None), min(given[number], default=None)) for number in begun}


async def _told(tx: Transaction, spill_ids: Sequence[int]) -> dict[int, _Told]:
    found = {number: _Told(set()) for number in spill_ids}
    for number, kind, at, actor, about in await tx.look_up(_SAID, ids=spill_ids):
        told = found[number]
        told.changed_at, told.changed_by = at, actor
        if kind in _CLOSING_KINDS:
            told.closed_at = at if kind == events.SpillClosed.kind else None
        elif kind == events.FactsRecorded.kind:
            told.alarms.discard("law")  # put to the law anew; a failure after this one says so again
        elif kind in _ALARM_KINDS:
            told.alarms.add("law" if kind == events.AssessmentFailed.kind else about)
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
