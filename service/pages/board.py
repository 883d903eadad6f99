"""The board: every spill a member of staff may see, the one with the nearest due time first; what needs a person on top."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from deadlines.limits import IMMEDIATELY
from service.held_reports import how_many
from service.obligations import board
from service.office_days import cities_in_use
from service.pages.calendars import ending
from service.pages.entrance import StaffRoute, signed_in
from service.pages.rendering import city_name, house_of, rule_of, staff_page, zone_of
from service.pages.reporter_news import amount
from service.pages.speech import ENGLISH
from service.pages.words import MATERIALS
from service.replies import unsettled
from service.suppressions import unreachable
from service.tables import Spill
from service.transaction import House, reading

router = APIRouter(prefix="/staff", include_in_schema=False, route_class=StaffRoute)
_PAGE = 50
_STATES = {"open": "Open", "overdue": "Overdue", "unassigned": "No city yet"}


@router.get("")
async def board_page(request: Request) -> Response:
    """The list, filtered as the address says."""
    staff = await signed_in(request)
    house = house_of(request)
    asked = request.query_params
    city = asked.get("city") if asked.get("city") in house.cities else None
    state = asked.get("state") if asked.get("state") in _STATES else None
    text = asked.get("q", "").strip()[:200]
    number = int(asked["page"]) if asked.get("page", "").isdecimal() and len(asked["page"]) < 6 else 1
    async with reading(house) as tx:
        found = await board(tx, staff, city=city, state=state, text=text or None, limit=_PAGE + 1, offset=(max(number, 1) - 1) * _PAGE)
        unassigned = await board(tx, staff, state="unassigned", limit=20) if state is None and not text and number <= 1 else []
        now = tx.now
        served = [each for each in await cities_in_use(tx) if staff.may_see(each)]
        barred = [one.says for one in await unreachable(tx, [each for each in house.cities if staff.may_see(each)])]
        waiting, held = len(await unsettled(tx, staff)), await how_many(tx)
    rows = [line(house, row, now) for row in found[:_PAGE]]
    top = {row["spill"].reference for row in unassigned}
    others = [row for row in rows if row["reference"] not in top]
    kept = {key: value for key, value in (("city", city), ("state", state), ("q", text)) if value}
    return staff_page(
        request, "board.html", staff=staff, cities={each: city_name(house, each) for each in house.cities if staff.may_see(each)},
        calendars=ending(house, served, now), unreachable=barred, waiting=waiting, held=held, states=_STATES, city=city, state=state,
        text=text,
        unassigned=[line(house, row, now) for row in unassigned],
        alarms=[row for row in others if _is_alarm(row)], rows=[row for row in others if not _is_alarm(row)],
        earlier=f"/staff?{urlencode({**kept, 'page': number - 1})}" if number > 1 else "",
        later=f"/staff?{urlencode({**kept, 'page': number + 1})}" if len(found) > _PAGE else "",
    )  # fmt: skip


def _is_alarm(row: dict[str, Any]) -> bool:
    """Whether an alarm is still of use: once nothing is open it is history."""
    return bool(row["alarms"] and (row["open"] or not row["city"]))


def line(house: House, row: dict[str, Any], now: datetime) -> dict[str, Any]:
    """One spill as its line on the board."""
    spill: Spill = row["spill"]
    zone = zone_of(house, spill.city)
    next_due: datetime | None = row["next_due"]
    rule = rule_of(house, row["next_duty"]) if row["next_duty"] else None
    title, at_once = (rule.title, rule.limit.shape == "immediately") if rule else (row["next_duty"] or "", False)
    material = MATERIALS.get(spill.facts.get("material", ""), "Unknown material")
    return {
        "reference": spill.reference, "spill": spill, "zone": zone, "title": title, "next_due": next_due, "open": row["open"],
        "overdue": row["overdue"], "alarms": row["alarms"], "city": city_name(house, spill.city) if spill.city else "",
        "what": ", ".join(part for part in (material, amount(ENGLISH, spill.facts.get("volume"))) if part), "at_once": at_once,
        "left": _left(next_due, now, at_once=at_once),
    }  # fmt: skip


def _left(next_due: datetime | None, now: datetime, *, at_once: bool) -> str:
    if next_due is None:
        return ""
    if at_once:
        since = now - next_due + IMMEDIATELY
        known = f"known for {ENGLISH.span(since)}" if since >= timedelta(minutes=1) else "known just now"
        return f"Overdue; {known}" if next_due < now else f"Immediately; {known}"
    words = ENGLISH.span(next_due - now)
    return f"Overdue by {words}" if next_due < now else f"{words} left"
