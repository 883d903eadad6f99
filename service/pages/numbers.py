"""The numbers of a city: each as a chart that also reads as a table, and as a file for a spreadsheet. They live in the address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from service import numbers
from service.access import Staff
from service.causes import CAUSES
from service.errors import BadInput, NotKnown
from service.numbers import Kept, Numbers, Stretch
from service.pages.calendars import day_name
from service.pages.entrance import StaffRoute, signed_in
from service.pages.rendering import city_name, house_of, rule_of, staff_page, zone_of
from service.pages.speech import ENGLISH
from service.pages.words import MATERIALS
from service.spreadsheet import MEDIA_TYPE, csv_of
from service.transaction import House, reading

router = APIRouter(prefix="/staff/numbers", include_in_schema=False, route_class=StaffRoute)
_NO_CITY = "No city yet"
# What a page shows of a chart; its file holds all. Five years of repeat places are more than anybody reads, or a telephone loads.
MOST_ROWS, MOST_REFERENCES = 50, 12


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a table with a bar beside it. `part`: how long the bar is, 0 to 1, None for none; `cells` follow the name."""

    name: str
    part: float | None
    cells: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A table with bars. `heads`: of the name and of each cell."""

    key: str
    title: str
    heads: tuple[str, ...]
    bars: Sequence[Bar]
    says: str = ""
    more: int = 0  # rows that its file holds, and the page does not


@router.get("")
async def numbers_page(request: Request) -> Response:
    """Every chart for the days and the city that the address names."""
    staff, house = await signed_in(request), house_of(request)
    asked, today = request.query_params, _today(request)
    try:
        counted = await _counted(request, staff)
        faults: Sequence[str] = ()
    except BadInput as error:
        counted, faults = None, error.faults
    stretch = counted.stretch if counted else numbers.read_stretch("", "", today)
    kept = {key: asked[key] for key in ("from", "to", "city") if asked.get(key)}
    return staff_page(
        request, "numbers.html", 422 if faults else 200, staff=staff, faults=faults, counted=counted, how=numbers.HOW,
        charts=[shortened(chart(house, counted)) for chart in CHARTS.values()] if counted else [],
        first=asked.get("from") or stretch.first.isoformat(), last=asked.get("to") or stretch.last.isoformat(), city=asked.get("city", ""),
        cities={each: city_name(house, each) for each in house.cities if staff.may_see(each)}, days=_days(stretch),
        ready=[(name, f"/staff/numbers?{urlencode({**kept, 'from': days.first, 'to': days.last})}") for name, days in _ready_made(today)],
        query=f"?{urlencode(kept)}" if kept else "", cells_of=cells_of, most_references=MOST_REFERENCES,
    )  # fmt: skip


@router.get("/{table}.csv")
async def numbers_file(request: Request, table: str) -> Response:
    """One of the charts as a file for a spreadsheet. Raises NotKnown for another name, BadInput for days that cannot be read."""
    staff, house = await signed_in(request), house_of(request)
    if table not in CHARTS:
        raise NotKnown(f"there is no table {table[:40]!r}; there are {', '.join(CHARTS)}")
    counted = await _counted(request, staff)
    chart = CHARTS[table](house, counted)
    name = f"{table}-{counted.stretch.first}-{counted.stretch.last}.csv"
    rows = [chart.heads, *((bar.name, *bar.cells, *([bar.note] if bar.note else [])) for bar in chart.bars)]
    return Response(csv_of(rows), media_type=MEDIA_TYPE, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _counted(request: Request, staff: Staff) -> Numbers:
    asked, house = request.query_params, house_of(request)
    city = asked.get("city") or None
    if city is not None and (city not in house.cities or not staff.may_see(city)):
        theirs = ", ".join(each for each in house.cities if staff.may_see(each))
        raise BadInput("the numbers cannot be counted so", [f"city: {city[:40]!r} is none of your cities; right would be: {theirs}"])
    stretch = numbers.read_stretch(asked.get("from", ""), asked.get("to", ""), _today(request))
    async with reading(house) as tx:
        return await numbers.count(tx, staff, stretch, city)


def _today(request: Request) -> date:
    house, city = house_of(request), request.query_params.get("city")
    return house.now().astimezone(zone_of(house, city if city in house.cities else None)).date()


def _ready_made(today: date) -> list[tuple[str, Stretch]]:
    month = today.replace(day=1)
    before = (month - timedelta(days=1)).replace(day=1)
    return [
        ("This month", Stretch(month, today)), ("Last month", Stretch(before, month - timedelta(days=1))),
        ("This year", Stretch(today.replace(month=1, day=1), today)),
        ("Last year", Stretch(date(today.year - 1, 1, 1), date(today.year - 1, 12, 31))),
    ]  # fmt: skip


def _days(stretch: Stretch) -> str:
    return f"{day_name(stretch.first)} to {day_name(stretch.last)}"


# -- the charts


def _city(house: House, city: str | None) -> str:
    return city_name(house, city) if city else _NO_CITY


def _duty(house: House, duty: str) -> str:
    rule = rule_of(house, duty)
    return rule.title if rule else duty


def _percent(part: float | None) -> str:
    return "none due" if part is None else "100 %" if part == 1 else f"{min(part * 100, 99.9):.1f} %"  # never rounded up to all of them


def _kept_cells(kept: Kept) -> tuple[str, ...]:
    return (_percent(kept.rate), *(str(one) for one in (kept.on_time, kept.late, kept.missed, kept.ahead, kept.waived)))


_KEPT_HEADS = ("Part on time", "On time", "Late", "Overdue", "Not due yet", "Waived")


def _duties(house: House, counted: Numbers) -> Chart:
    bars = [
        Bar(_duty(house, duty), kept.rate, _kept_cells(kept), _city(house, city))
        for (city, duty), kept in counted.kept.items()
    ]  # fmt: skip
    total = counted.all_kept
    says = f"{total.on_time} of {total.decided} duties were done on time ({_percent(total.rate)})." if total.decided else "No duty was due."
    return Chart("duties", "Duties done on time", ("Duty", *_KEPT_HEADS, "City"), bars, says)


def _cities(house: House, counted: Numbers) -> Chart:
    cities = sorted({*counted.spills, *(city for city, _ in counted.kept)}, key=lambda city: city or "")
    bars = []
    for city in cities:
        kept = sum((one for (whose, _), one in counted.kept.items() if whose == city), Kept())
        bars.append(Bar(_city(house, city), kept.rate, (str(counted.spills.get(city, 0)), *_kept_cells(kept))))
    return Chart("cities", "By city", ("City", "Spills received", *_KEPT_HEADS), bars)


def _months(house: House, counted: Numbers) -> Chart:
    del house
    most = max((spills for spills, _ in counted.months.values()), default=0)
    bars = [
        Bar(f"{first:%B %Y}", spills / most if most else None, (str(spills), *_kept_cells(kept)))
        for first, (spills, kept) in counted.months.items()
    ]
    return Chart("months", "By month", ("Month", "Spills received", *_KEPT_HEADS), bars)


def _first_notice(house: House, counted: Numbers) -> Chart:
    slowest = max((one.slowest_tenth for one in counted.notice.values() if one.slowest_tenth), default=timedelta())
    bars = [
        Bar(
            _city(house, city), one.median / slowest if one.median is not None and slowest else None,
            (
                "none yet" if one.median is None else ENGLISH.span(one.median),
                "none yet" if one.slowest_tenth is None else ENGLISH.span(one.slowest_tenth), str(one.spills), str(one.none_yet),
            ),
        )
        for city, one in counted.notice.items()
    ]  # fmt: skip
    heads = ("City", "Half within", "Nine in ten within", "Spills with a notice", "None given yet")
    return Chart("first-notice", "Time to the first notice", heads, bars)


def _open(house: House, counted: Numbers) -> Chart:
    most = max((one.open for one in counted.open_now), default=0)
    bars = [
        Bar(
            _duty(house, one.duty), one.open / most,
            (str(one.open), str(one.overdue), ENGLISH.when(one.oldest, zone_of(house, one.city)) if one.oldest else ""),
            _city(house, one.city),
        )
        for one in counted.open_now
    ]  # fmt: skip
    return Chart("open", "Open now", ("Duty", "Open", "Overdue", "Oldest was due", "City"), bars, "As of this moment, whenever it came.")


def _amounts(key: str, title: str, head: str, names: Mapping[str, str]) -> Callable[[House, Numbers], Chart]:
    def chart(house: House, counted: Numbers) -> Chart:
        del house
        groups: Mapping[str, numbers.Amounts] = getattr(counted, key)
        most = max((one.spills for one in groups.values()), default=0)
        bars = [
            Bar(
                "Unknown" if word == "unknown" else names.get(word, word), one.spills / most,
                (str(one.spills), f"{one.gallons:,.0f}", str(one.without_amount)),
            )
            for word, one in groups.items()
        ]  # fmt: skip
        return Chart(key, title, (head, "Spills", "Gallons", "Amount not known"), bars)

    return chart


def _material(word: str) -> str:
    return "Unknown" if word == "unknown" else MATERIALS.get(word, word)


def _repeats(key: str, title: str, head: str) -> Callable[[House, Numbers], Chart]:
    def chart(house: House, counted: Numbers) -> Chart:
        groups: Sequence[numbers.Repeat] = getattr(counted, key)
        most = max((len(one.references) for one in groups), default=0)
        bars = [
            Bar(
                one.name, len(one.references) / most,
                (
                    str(len(one.references)), ", ".join(_material(word) for word in one.materials), ", ".join(one.references),
                ),
                _city(house, one.city),
            )
            for one in groups
        ]  # fmt: skip
        return Chart(key, title, (head, "Spills", "Of what", "Which", "City"), bars)

    return chart


CHARTS: Mapping[str, Callable[[House, Numbers], Chart]] = {
    "duties": _duties, "cities": _cities, "months": _months, "first-notice": _first_notice, "open": _open,
    "materials": _amounts("materials", "By material", "Material", MATERIALS),
    "causes": _amounts("causes", "By cause", "Cause", CAUSES),
    "places": _repeats("places", "Places with more than one spill", "Place"),
    "parties": _repeats("parties", "Parties named more than once", "Party"),
}  # fmt: skip


def shortened(chart: Chart) -> Chart:
    """A chart for the page: at most so many rows. The file holds all of them."""
    return replace(chart, bars=chart.bars[:MOST_ROWS], more=max(len(chart.bars) - MOST_ROWS, 0))


def cells_of(bar: Bar, heads: Sequence[str]) -> list[tuple[str, Any]]:
    """The cells of a row with the heads they stand under, for a table that becomes boxes on a phone."""
    return list(zip(heads[1:], (*bar.cells, *([bar.note] if bar.note else [])), strict=True))
