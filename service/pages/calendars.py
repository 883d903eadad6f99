"""The calendar of a city, a year at a time: which days count as closed and who says so, a form to enter a day, and what a change moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode

from babel.dates import format_date
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deadlines import Calendar, CityLaw
from deadlines.calendars import WEEKDAYS
from service.access import Staff
from service.errors import BadInput, NotKnown
from service.office_days import city_law, entries_of, left_of
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page
from service.replanning import Moved, add_day, moved_by, remove_day
from service.tables import Closure
from service.transaction import House, Transaction, reading, transaction

router = APIRouter(prefix="/staff/calendars", include_in_schema=False, route_class=StaffRoute)


@dataclass(frozen=True)
class Day:
    """A day of the list: what ships, and what the city entered over it."""

    day: date
    shipped: str | None
    entry: Closure | None

    @property
    def name(self) -> str:
        """Fri, Nov 27."""
        return str(format_date(self.day, "EEE, MMM d", locale="en_US"))

    @property
    def is_open(self) -> bool:
        """Whether it is a working day by the word of the city."""
        return self.entry is not None and self.entry.kind == "open"


@dataclass(frozen=True)
class Reach:
    """How far the calendar of a city reaches."""

    city: str
    name: str
    last_day: date
    left: str

    @property
    def until(self) -> str:
        """December 31, 2031."""
        return day_name(self.last_day)


def day_name(day: date) -> str:
    """A day with its year, in words."""
    return str(format_date(day, "MMMM d, y", locale="en_US"))


def reach_of(house: House, city: str, now: datetime) -> Reach:
    """How far the calendar of a city reaches at `now`."""
    law = city_law(house, city)
    return Reach(city, city_name(house, city), law.calendar.last_day, left_of(law, now))


def ending(house: House, cities: Sequence[str], now: datetime) -> list[Reach]:
    """Those of the cities whose calendar ends within twelve months, or has ended."""
    return [reach for reach in (reach_of(house, city, now) for city in cities) if reach.left != "years"]


@router.get("")
async def calendars_page(request: Request) -> Response:
    """The calendars of every city a person works for; of the one city at once."""
    staff = await signed_in(request)
    house = house_of(request)
    cities = [city for city in house.cities if staff.may_see(city)]
    if staff.city is not None and len(cities) == 1:
        return RedirectResponse(f"/staff/calendars/{staff.city}", 303)
    found = [reach_of(house, city, house.now()) for city in cities]
    return staff_page(request, "calendars.html", staff=staff, found=found)


@router.get("/{city}")
async def calendar_page(request: Request, city: str) -> Response:
    """The calendar of one city."""
    return await _calendar_page(request, await signed_in(request), city)


async def _calendar_page(request: Request, staff: Staff, city: str, faults: Sequence[str] = (), typed: Fields | None = None) -> Response:
    house = house_of(request)
    law = _law(house, staff, city)
    asked = request.query_params
    async with reading(house) as tx:
        entries = await entries_of(tx, city)
        changed = await _changed(tx, entries, asked.get("entry", ""))
        today = tx.now.astimezone(law.zone).date()
        reach = reach_of(house, city, tx.now)
    calendar = law.calendar
    years = range(calendar.first_day.year, calendar.last_day.year + 1)
    wanted = int(asked["year"]) if asked.get("year", "").isdecimal() and len(asked["year"]) == 4 else today.year
    year = min(max(wanted, years[0]), years[-1])
    return staff_page(
        request, "calendar.html", 422 if faults else 200, staff=staff, city=city, title=city_name(house, city), zone=law.zone,
        calendar=calendar, reach=reach, weekend=[WEEKDAYS[number] for number in sorted(calendar.weekend)], years=years, year=year,
        days=days_of(calendar, entries, year), out=[entry for entry in entries if entry.removed_at and entry.day.year == year],
        may_change=staff.may("manager", city), faults=faults, typed=typed or Fields(), changed=changed,
        closes_at=calendar.closes_at.strftime("%I:%M %p").lstrip("0"), day_name=day_name,
    )  # fmt: skip


def _law(house: House, staff: Staff, city: str) -> CityLaw:
    """The law of a city this person works for. Raises NotKnown for every other."""
    if not staff.may_see(city):
        raise NotKnown(f"there is no calendar of {city[:60]}")
    return city_law(house, city)


def days_of(calendar: Calendar, entries: Sequence[Closure], year: int) -> list[Day]:
    """The days of a year that are closed, or open by the city's word, besides weekends."""
    standing = {entry.day: entry for entry in entries if entry.removed_at is None and entry.day.year == year}
    shipped: Mapping[date, str] = {day: why for day, why in calendar.closures.items() if why and day.year == year}
    return [Day(day, shipped.get(day), standing.get(day)) for day in sorted({*standing, *shipped})]


async def _changed(tx: Transaction, entries: Sequence[Closure], number: str) -> tuple[Closure, list[Moved]] | None:
    """The entry that the address names, with the clocks that it moved; None where it names none of this city."""
    entry = next((one for one in entries if str(one.id) == number), None)
    return (entry, await moved_by(tx, entry)) if entry else None


@router.post("/{city}/days")
async def enter(request: Request, city: str) -> Response:
    """Enter a day, and show what moved."""
    staff = await _manager(request, city)
    fields = await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            day = _day(fields.text("date"))
            change = await add_day(tx, city, day, fields.text("name"), fields.text("source"), is_open=fields.text("kind") == "open")
    except BadInput as error:
        return await _calendar_page(request, staff, city, error.faults or [str(error)], fields)
    return _shown(change.entry)


@router.post("/{city}/days/{day}/remove")
async def take_out(request: Request, city: str, day: str) -> Response:
    """Mark the entry of a day as removed, and show what moved."""
    staff = await _manager(request, city)
    fields = await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            change = await remove_day(tx, city, _day(day), fields.text("reason"))
    except BadInput as error:
        return await _calendar_page(request, staff, city, error.faults or [str(error)])
    return _shown(change.entry)


async def _manager(request: Request, city: str) -> Staff:
    """The person who is signed in, where they may change the calendar of this city. Raises NotKnown, NotAllowed."""
    staff = await signed_in(request)
    _law(house_of(request), staff, city)
    staff.require("manager", city)
    return staff


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput("no such day", [f"date: {text[:40]!r} is not a day; right would be: 2026-11-27"]) from None


def _shown(entry: Closure) -> Response:
    """On to the calendar as it is now, with what the change moved."""
    return RedirectResponse(f"/staff/calendars/{entry.city}?{urlencode({'year': entry.day.year, 'entry': entry.id})}", 303)
