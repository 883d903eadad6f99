"""The numbers of a city for other programs: the same as on the page of the console, as plain figures."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Query, Request

from deadlines import as_z
from service import numbers
from service.api.callers import house_of, signed_in
from service.errors import BadInput
from service.numbers import Amounts, Kept, Numbers
from service.transaction import reading

router = APIRouter()


@router.get("/numbers")
async def numbers_of(
    request: Request,
    city: str = "",
    first: str = Query("", alias="from", description="The first day, 2026-12-01; left out, the first of the month before last."),
    last: str = Query("", alias="to", description="The last day, included; left out, today."),
) -> dict[str, Any]:
    """Duties done on time, time to the first notice, what is open now, materials, causes, and places and parties met again.

    Days are those of the city, or of the first city served. `rate`: 0 to 1, null where nothing was due. Spans are in seconds.
    """
    staff, house = await signed_in(request), house_of(request)
    if city and (city not in house.cities or not staff.may_see(city)):
        theirs = ", ".join(each for each in house.cities if staff.may_see(each))
        raise BadInput("the numbers cannot be counted so", [f"city: {city[:40]!r} is none of your cities; right would be: {theirs}"])
    zone = house.rulebook.zones[city or house.first_city]
    stretch = numbers.read_stretch(first, last, house.now().astimezone(zone).date())
    async with reading(house) as tx:
        return _as_json(await numbers.count(tx, staff, stretch, city or None))


def _as_json(counted: Numbers) -> dict[str, Any]:
    return {
        "from": counted.stretch.first.isoformat(), "to": counted.stretch.last.isoformat(), "counted": list(numbers.HOW),
        "all": _kept(counted.all_kept), "spills": [{"city": city, "spills": many} for city, many in counted.spills.items()],
        "duties": [{"city": city, "duty": duty, **_kept(kept)} for (city, duty), kept in counted.kept.items()],
        "months": [{"month": f"{first:%Y-%m}", "spills": many, **_kept(kept)} for first, (many, kept) in counted.months.items()],
        "first_notice": [
            {
                "city": city, "spills": one.spills, "median_seconds": _seconds(one.median),
                "slowest_tenth_seconds": _seconds(one.slowest_tenth), "none_yet": one.none_yet,
            }
            for city, one in counted.notice.items()
        ],
        "open_now": [
            {"city": one.city, "duty": one.duty, "open": one.open, "overdue": one.overdue, "oldest": as_z(one.oldest)}
            for one in counted.open_now
        ],
        "materials": [_amounts("material", word, one) for word, one in counted.materials.items()],
        "causes": [_amounts("cause", word, one) for word, one in counted.causes.items()],
        "places": [asdict(one) for one in counted.places],
        "parties": [asdict(one) for one in counted.parties],
    }  # fmt: skip


def _kept(kept: Kept) -> dict[str, Any]:
    return {"rate": kept.rate, **asdict(kept)}


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()


def _amounts(head: str, word: str, one: Amounts) -> dict[str, Any]:
    return {head: None if word == "unknown" else word, **asdict(one)}
