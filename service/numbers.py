"""What a city's spills come to over a stretch of days: duties done in time, time to the first notice, what is open, what comes again.

How each is counted stands in HOW, and on the page, so that anybody can count after it by hand from the spills themselves.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlmodel import col

from service.access import Staff
from service.board_tables import BoardLine
from service.errors import BadInput
from service.ladders import OPEN_STATES
from service.tables import Obligation
from service.transaction import Transaction

HOW = (
    "A duty counts in the stretch of days in which it was due. On time: done by then. Late: done later, or still open past its time.",
    "What the law no longer asks and records that are only to be kept are not counted. What was waived is told apart, and not in the rate.",
    "A report that was merged counts with the spill it belongs to; one that looks automatic counts once a person has said that it is real.",
    "Time to the first notice: from when the spill was known to the first notice that the law asked for, to whomever.",
    "Amounts are the larger end where a range was told, in gallons; spills without an amount are counted, and not guessed.",
    "One place: within 75 meters of the first spill there, or the same address where no point is known. One party: the same name.",
)
_NEAR_METERS = 75.0
_METERS_A_DEGREE = 111_320.0
# More than a 75-meter grid has cells from west to east, so that one number tells row and place; and the steps to a cell and around it.
_CELLS_A_ROW = 10_000_000
_AROUND = tuple(up * _CELLS_A_ROW + over for up in (-1, 0, 1) for over in (-1, 0, 1))
# A record that must be kept for years is nothing that is done in time.
_KEEPING = "retention"
_DECIDED = ("met", "met_late", "waived")
LONGEST = timedelta(days=5 * 366)
# What is left out, and not what is counted: by the latter databases would look up every line there is.
_NOT_COUNTED = ("merged", "held", "coming")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Days of a city, the first and the last included."""

    first: date
    last: date

    def bounds(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """The moment it begins and the moment it is over, in UTC."""
        begins = datetime.combine(self.first, time(), zone)
        return begins.astimezone(UTC), datetime.combine(self.last + timedelta(days=1), time(), zone).astimezone(UTC)

    def months(self) -> list[Stretch]:
        """The months it reaches into, each cut to it."""
        found, first = [], self.first
        while first <= self.last:
            after = date(first.year + first.month // 12, first.month % 12 + 1, 1)
            found.append(Stretch(first, min(after - timedelta(days=1), self.last)))
            first = after
        return found


@dataclass(frozen=True, slots=True)
class Kept:
    """How duties were kept. `late` were done late, `missed` are past their time and still open, `ahead` are open and not due yet."""

    on_time: int = 0
    late: int = 0
    missed: int = 0
    ahead: int = 0
    waived: int = 0

    @property
    def decided(self) -> int:
        """How many the rate is of."""
        return self.on_time + self.late + self.missed

    @property
    def rate(self) -> float | None:
        """The part that was done on time, 0 to 1; None where nothing was due."""
        return self.on_time / self.decided if self.decided else None

    def __add__(self, other: Kept) -> Kept:
        return Kept(*(getattr(self, name) + getattr(other, name) for name in ("on_time", "late", "missed", "ahead", "waived")))


@dataclass(frozen=True, slots=True)
class Notice:
    """How long it took until the first notice, over the spills of a city. `none_yet`: spills that owe one and have given none."""

    spills: int
    median: timedelta | None
    slowest_tenth: timedelta | None
    none_yet: int


@dataclass(frozen=True, slots=True)
class Amounts:
    """Spills of one kind: how many, how many gallons are known of, and of how many no amount is known."""

    spills: int
    gallons: float
    without_amount: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """A place or a party that was met more than once: the references, the newest first."""

    name: str
    city: str | None
    references: tuple[str, ...]
    materials: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenNow:
    """Duties of one kind that are open as of now, and since when the oldest is overdue."""

    city: str | None
    duty: str
    open: int
    overdue: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Numbers:
    """All of it. Keys: (city, duty) of `kept`, months by their first day, words of the contract for materials, of causes.py for causes."""

    stretch: Stretch
    spills: Mapping[str | None, int]
    kept: Mapping[tuple[str | None, str], Kept]
    months: Mapping[date, tuple[int, Kept]]
    notice: Mapping[str | None, Notice]
    open_now: Sequence[OpenNow]
    materials: Mapping[str, Amounts]
    causes: Mapping[str, Amounts]
    places: Sequence[Repeat]
    parties: Sequence[Repeat]

    @property
    def all_kept(self) -> Kept:
        """All duties together."""
        return sum(self.kept.values(), Kept())


def read_stretch(first: str, last: str, today: date) -> Stretch:
    """Days as they stand in an address, 2026-12-01. Left out: from the first of the month before last, to today. Raises BadInput."""
    faults: list[str] = []
    ends = _day("to", last, faults) or today
    begins = _day("from", first, faults) or _months_before(ends, 2)
    if not faults and begins > ends:
        faults.append(f"from: {begins} lies after {ends}; right would be: a day before the last one")
    if not faults and ends - begins > LONGEST:
        faults.append("from: more than five years before the last day; right would be: fewer")
    if faults:
        raise BadInput("the numbers cannot be counted so", faults)
    return Stretch(begins, ends)


def _day(key: str, typed: str, faults: list[str]) -> date | None:
    if not typed.strip():
        return None
    try:
        read = date.fromisoformat(typed.strip())
    except ValueError:
        read = None
    if read is None or not 1990 <= read.year <= 2200:
        faults.append(f"{key}: {typed.strip()[:40]!r} is no day; right would be: 2026-12-01")
        return None
    return read


def _months_before(day: date, count: int) -> date:
    month = day.year * 12 + day.month - 1 - count
    return date(month // 12, month % 12 + 1, 1)


async def count(tx: Transaction, staff: Staff, stretch: Stretch, city: str | None = None) -> Numbers:
    """Count for the cities a member of staff works for, or for one of them. Days are those of that city, or of the first one served."""
    zone = tx.house.rulebook.zones[city or tx.house.first_city]
    begins, over = stretch.bounds(zone)
    mine = _of(staff, city)
    months = stretch.months()
    kept, by_month = await _kept(tx, mine, months, [month.bounds(zone)[0] for month in months], over)
    lines = await _lines(tx, mine, begins, over)
    ends = [month.bounds(zone)[1] for month in months]
    received = Counter(months[bisect_right(ends, line.received_at)].first for line in lines)
    return Numbers(
        stretch, Counter(line.city for line in lines), kept,
        {month.first: (received[month.first], by_month.get(number, Kept())) for number, month in enumerate(months)},
        _notice(lines), await _open_now(tx, mine), _amounts(lines, "material"), _amounts(lines, "cause"), _places(lines), _parties(lines),
    )  # fmt: skip


def _of(staff: Staff, city: str | None) -> list[ColumnElement[bool]]:
    asked: list[ColumnElement[bool]] = [col(BoardLine.stands).not_in(_NOT_COUNTED)]
    if staff.cities is not None:
        asked.append(or_(col(BoardLine.city).in_(staff.cities), col(BoardLine.city).is_(None)))
    if city is not None:
        asked.append(col(BoardLine.city) == city)
    return asked


# -- duties


async def _kept(
    tx: Transaction, mine: Sequence[ColumnElement[bool]], months: Sequence[Stretch], begins: Sequence[datetime], over: datetime
) -> tuple[dict[tuple[str | None, str], Kept], dict[int, Kept]]:
    """How duties were kept, by city and duty, and by the number of the month."""
    due = col(Obligation.due_at)
    month = case(*((due < after, number) for number, after in enumerate([*begins[1:], over])), else_=len(months) - 1)
    is_late = and_(col(Obligation.state).in_(OPEN_STATES), due < tx.now)
    query = (
        select(col(BoardLine.city), col(Obligation.duty), col(Obligation.state), is_late, month, func.count())
        .join(BoardLine, col(BoardLine.spill_id) == col(Obligation.spill_id))
        .where(*mine, col(Obligation.state).in_((*_DECIDED, *OPEN_STATES)), due >= begins[0], due < over)
        .where(col(Obligation.act) != _KEEPING)
        .group_by(col(BoardLine.city), col(Obligation.duty), col(Obligation.state), is_late, month)
    )
    duties: dict[tuple[str | None, str], Kept] = {}
    by_month: dict[int, Kept] = {}
    for city, duty, state, late, number, how_many in await tx.session.execute(query):
        name = {"met": "on_time", "met_late": "late", "waived": "waived"}.get(state, "missed" if late else "ahead")
        one = Kept(**{name: how_many})
        duties[city, duty] = duties.get((city, duty), Kept()) + one
        by_month[number] = by_month.get(number, Kept()) + one
    return dict(sorted(duties.items(), key=lambda pair: (pair[0][0] or "", pair[0][1]))), by_month


async def _open_now(tx: Transaction, mine: Sequence[ColumnElement[bool]]) -> list[OpenNow]:
    due = col(Obligation.due_at)
    late = case((due < tx.now, due))
    query = (
        select(col(BoardLine.city), col(Obligation.duty), func.count(), func.count(late), func.min(late))
        .join(BoardLine, col(BoardLine.spill_id) == col(Obligation.spill_id))
        .where(*mine, col(Obligation.state).in_(OPEN_STATES), col(Obligation.act) != _KEEPING)
        .group_by(col(BoardLine.city), col(Obligation.duty))
    )
    found = [OpenNow(*row) for row in await tx.session.execute(query)]
    return sorted(found, key=lambda one: (-one.overdue, -one.open, one.city or "", one.duty))


# -- spills


async def _lines(tx: Transaction, mine: Sequence[ColumnElement[bool]], begins: datetime, over: datetime) -> Sequence[Any]:
    """The spills that were received then, the oldest first, as rows and not as objects: there may be many."""
    columns = (
        col(BoardLine.reference), col(BoardLine.city), col(BoardLine.received_at), col(BoardLine.material), col(BoardLine.cause),
        col(BoardLine.gallons), col(BoardLine.place), col(BoardLine.lat), col(BoardLine.lon), col(BoardLine.party),
        col(BoardLine.notice_from), col(BoardLine.noticed_at),
    )  # fmt: skip
    received = col(BoardLine.received_at)
    query = select(*columns).where(*mine, received >= begins, received < over).order_by(received, col(BoardLine.spill_id))
    return (await tx.session.execute(query)).all()


def _notice(lines: Iterable[Any]) -> dict[str | None, Notice]:
    took: dict[str | None, list[timedelta]] = {}
    none_yet: Counter[str | None] = Counter()
    for line in lines:
        if line.notice_from is None:
            continue  # the law asks for none
        if line.noticed_at is None:
            none_yet[line.city] += 1
        else:
            # One before the moment from which it is owed was given at once, and not in less than no time.
            took.setdefault(line.city, []).append(max(line.noticed_at - line.notice_from, timedelta()))
    return {
        city: _notice_of(took.get(city, []), none_yet[city])
        for city in sorted({*took, *none_yet}, key=lambda city: city or "")
    }  # fmt: skip


def _notice_of(took: Sequence[timedelta], none_yet: int) -> Notice:
    if not took:
        return Notice(0, None, None, none_yet)
    seconds = sorted(span.total_seconds() for span in took)
    tenth = seconds[math.ceil(0.9 * len(seconds)) - 1]  # nearest rank: a span that was there, and not one between two
    return Notice(len(seconds), timedelta(seconds=median(seconds)), timedelta(seconds=tenth), none_yet)


def _amounts(lines: Iterable[Any], key: str) -> dict[str, Amounts]:
    groups: dict[str, list[float | None]] = {}
    for line in lines:
        groups.setdefault(getattr(line, key) or "unknown", []).append(line.gallons)
    found = {
        word: Amounts(len(told), sum(amount for amount in told if amount is not None), sum(amount is None for amount in told))
        for word, told in groups.items()
    }
    return dict(sorted(found.items(), key=lambda pair: (-pair[1].spills, pair[0])))


def _parties(lines: Iterable[Any]) -> list[Repeat]:
    groups: dict[tuple[str | None, str], list[Any]] = {}
    for line in lines:
        if line.party:
            groups.setdefault((line.city, " ".join(line.party.casefold().split())), []).append(line)
    return _repeats((group[-1].party, group) for group in groups.values())


def _places(lines: Iterable[Any]) -> list[Repeat]:
    """Spills within 75 meters of the first one there. A grid of that width tells which ones to compare with."""
    groups: list[list[Any]] = []
    cells: dict[int, list[tuple[tuple[float, float], list[Any]]]] = {}
    addresses: dict[tuple[str | None, str], list[Any]] = {}
    for line in lines:
        if line.lat is None or line.lon is None:
            if line.place:
                addresses.setdefault((line.city, " ".join(line.place.casefold().split())), []).append(line)
            continue
        here = _meters(line)
        cell = math.floor(here[1] / _NEAR_METERS) * _CELLS_A_ROW + math.floor(here[0] / _NEAR_METERS)
        around = (one for step in _AROUND for one in cells.get(cell + step, ()))
        near = next((group for first, group in around if math.dist(first, here) <= _NEAR_METERS), None)
        if near is None:
            near = []
            groups.append(near)
            cells.setdefault(cell, []).append((here, near))
        near.append(line)
    return _repeats((next((one.place for one in reversed(group) if one.place), ""), group) for group in (*groups, *addresses.values()))


def _meters(line: Any) -> tuple[float, float]:
    """East and north of the zero meridian and the equator; good enough for what lies next to each other."""
    return line.lon * _METERS_A_DEGREE * math.cos(math.radians(round(line.lat, 1))), line.lat * _METERS_A_DEGREE


def _repeats(groups: Iterable[tuple[str, Sequence[Any]]]) -> list[Repeat]:
    found = [
        Repeat(
            name, group[-1].city, tuple(line.reference for line in reversed(group)),
            tuple(word for word, _ in Counter(line.material or "unknown" for line in group).most_common()),
        )
        for name, group in groups
        if len(group) > 1
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-len(one.references), one.name))
