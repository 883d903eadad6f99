"""Whose turn it is: where more waits than one batch takes, cities take turns, so that a city with thousands waiting holds up no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Mapped
from sqlmodel import col

from service.tables import MessageRow, Obligation
from service.transaction import Transaction

# Of more cities than these, a part takes its turn at a time, another one each time.
_MOST_AT_ONCE = 50

_Waits = TypeVar("_Waits")


async def cities_waiting(
    tx: Transaction,
    table: type[MessageRow] | type[Obligation],
    *which: ColumnElement[bool] | Mapped[bool],
    due: ColumnElement[bool] | None = None,
) -> list[str]:
    """The cities of the rows `which`, empty for those of none; those that take their turn now, where they are very many.

    Each costs one look into an index that begins with the city, however many rows it has. `due`: only those with such a row.
    """
    city = col(table.city)
    known = select(func.min(city).label("city")).where(*which).cte("cities", recursive=True)
    following = select(func.min(city)).where(*which, city > known.c.city).scalar_subquery()
    known = known.union_all(select(following).where(known.c.city.is_not(None)))
    query: Select[Any] = select(known.c.city).where(known.c.city.is_not(None))
    if due is not None:
        query = query.where(select(col(table.id)).where(*which, due, city == known.c.city).exists())
    found = list((await tx.session.execute(query)).scalars())
    if len(found) <= _MOST_AT_ONCE:
        return found
    begin = int(tx.now.timestamp() * 1000) % len(found)
    return [*found[begin:], *found[:begin]][:_MOST_AT_ONCE]


def in_turn(
    waiting: Iterable[_Waits], most: int, whose: Callable[[_Waits], Hashable], first: Callable[[_Waits], int] = lambda _: 0
) -> Sequence[_Waits]:
    """Up to `most` of those waiting, which come in their own order: one of each, then a second of each, and so on.

    `first`: what a lower number is said of comes before everything of a higher one, whoever's it is.

    >>> in_turn(["a1", "a2", "a3", "b1"], 3, lambda name: name[0])
    ['a1', 'b1', 'a2']
    """
    taken: Counter[Hashable] = Counter()
    places = []
    for place, one in enumerate(waiting):
        key = first(one), whose(one)
        taken[key] += 1
        places.append((first(one), taken[key], place, one))
    places.sort(key=lambda entry: entry[:3])
    return [one for *_, one in places[:most]]
