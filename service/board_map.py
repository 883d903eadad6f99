"""Where the spills of the board lie: put together in the squares of a grid by the database, so that a map of any number is a few signs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Float, Integer, and_, case, cast, func, select
from sqlmodel import col

from deadlines.places import METRES_PER_DEGREE
from service.board import NEVER
from service.board_tables import BoardLine
from service.transaction import Transaction

# West, south, east, north, in degrees.
Box = tuple[float, float, float, float]
# A street or so: nearer than this a map without streets tells nothing more.
_SMALLEST_METRES = 150.0
AROUND_METRES = 1_000.0
_WHOLE_EARTH: Box = (-180.0, -90.0, 180.0, 90.0)


@dataclass(frozen=True, slots=True)
class Square:
    """The spills in one square of the grid: how many, how many of them overdue, to do and without a city, and where in the middle of them.

    `line` is the spill where it is one alone.
    """

    column: int
    row: int
    many: int
    overdue: int
    to_do: int
    unassigned: int
    lat: float
    lon: float
    line: BoardLine | None = None


def read_box(said: str) -> Box | None:
    """A box as it stands in an address, W,S,E,N; None for what is none."""
    try:
        west, south, east, north = (float(part) for part in said.split(","))
    except ValueError:
        return None
    inside = -180 <= west < east <= 180 and -90 <= south < north <= 90
    return (west, south, east, north) if inside else None


def box_said(box: Box) -> str:
    """A box for an address, to a metre or so."""
    return ",".join(f"{side:.5f}" for side in box)


def inside(box: Box) -> list[ColumnElement[bool]]:
    """The conditions on a line that its spill lies in a box."""
    west, south, east, north = box
    return [col(BoardLine.lon) >= west, col(BoardLine.lon) < east, col(BoardLine.lat) >= south, col(BoardLine.lat) < north]


async def extent(tx: Transaction, asked: Sequence[ColumnElement[bool]]) -> Box | None:
    """The box around all spills asked for that have a point; None where none has."""
    lat, lon = col(BoardLine.lat), col(BoardLine.lon)
    query = select(func.min(lon), func.min(lat), func.max(lon), func.max(lat)).where(*asked, lat.is_not(None), lon.is_not(None))
    west, south, east, north = (await tx.session.execute(query)).one()
    if west is None or south is None or east is None or north is None:
        return None
    return west, south, east, north


async def cities_of(tx: Transaction, asked: Sequence[ColumnElement[bool]]) -> list[str]:
    """The cities that the spills asked for lie in."""
    query = select(col(BoardLine.city)).where(*asked, col(BoardLine.city).is_not(None)).distinct()
    return [city for city in (await tx.session.execute(query)).scalars() if city]


def shaped(box: Box, width: int, height: int, around: float = AROUND_METRES) -> Box:
    """The box of a picture of these proportions that holds another one, with so many metres around it."""
    west, south, east, north = box
    lat, lon = (south + north) / 2, (west + east) / 2
    per_lon = METRES_PER_DEGREE * max(0.05, math.cos(math.radians(lat)))
    high = (north - south) * METRES_PER_DEGREE + 2 * around
    across = max((east - west) * per_lon + 2 * around, high * width / height, _SMALLEST_METRES)
    half_lon, half_lat = across / 2 / per_lon, across * height / width / 2 / METRES_PER_DEGREE
    lon, lat = min(max(lon, -179.9), 179.9), min(max(lat, -85.0), 85.0)
    made = (lon - half_lon, lat - half_lat, lon + half_lon, lat + half_lat)
    return (
        max(made[0], _WHOLE_EARTH[0]), max(made[1], _WHOLE_EARTH[1]), min(made[2], _WHOLE_EARTH[2]), min(made[3], _WHOLE_EARTH[3])
    )  # fmt: skip


def is_smallest(box: Box) -> bool:
    """Whether a map shows so little that coming nearer tells nothing more."""
    west, south, east, north = box
    return (east - west) * METRES_PER_DEGREE * math.cos(math.radians((south + north) / 2)) <= _SMALLEST_METRES * 1.01


async def squares(tx: Transaction, asked: Sequence[ColumnElement[bool]], box: Box, columns: int, rows: int) -> list[Square]:
    """The spills asked for in a box, by the squares of a grid of so many columns and rows, from the northwest."""
    west, south, east, north = box
    lat, lon = col(BoardLine.lat), col(BoardLine.lon)
    at_column = _whole(tx, (lon - west) * (columns / (east - west)))
    at_row = _whole(tx, (north - lat) * (rows / (north - south)))
    due, is_open = col(BoardLine.sort_at), col(BoardLine.stands) == "open"

    def number(condition: ColumnElement[bool]) -> Any:
        return func.sum(case((condition, 1), else_=0))

    query = select(
        at_column.label("at_column"), at_row.label("at_row"), func.count(), number(and_(is_open, due < tx.now)),
        number(and_(is_open, due >= tx.now, due < NEVER)), number(and_(is_open, col(BoardLine.city).is_(None))), func.avg(lat),
        func.avg(lon), func.min(col(BoardLine.spill_id)),
    ).where(*asked, *inside(box)).group_by(at_column, at_row)  # fmt: skip
    found = (await tx.session.execute(query)).all()
    alone = [one[8] for one in found if one[2] == 1]
    lines = (await tx.session.execute(select(BoardLine).where(col(BoardLine.spill_id).in_(alone)))).scalars()
    by_number = {line.spill_id: line for line in lines}
    made = [
        Square(column, row, many, overdue, to_do, unassigned, at_lat or 0.0, at_lon or 0.0, by_number[first] if many == 1 else None)
        for column, row, many, overdue, to_do, unassigned, at_lat, at_lon, first in found
    ]
    return sorted(made, key=lambda one: (one.row, one.column))


def _whole(tx: Transaction, value: ColumnElement[Any]) -> ColumnElement[int]:
    """A number of the grid, never below zero, without its fraction. A cast cuts on SQLite and rounds on PostgreSQL."""
    return cast(value if tx.house.settings.is_embedded else func.floor(cast(value, Float)), Integer)
