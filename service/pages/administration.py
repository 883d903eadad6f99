"""Administration: how each city is set up, with the way to change it; what the settings check finds; a test message to oneself."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from notifiers import Outcome, Receipt
from service import staff_log, turnstile
from service.access import Staff
from service.accounts import require_administrator
from service.administration import standing_of_city
from service.errors import BadInput
from service.pages.entrance import StaffRoute, signed_in
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.parties import ROLE_NAMES
from service.settings_check import examine, read_findings, send_test
from service.transaction import House, reading, transaction

router = APIRouter(prefix="/staff/settings", include_in_schema=False, route_class=StaffRoute)
_TEST = "test:sent"
# What each level of the settings check is called and coloured as.
LEVELS = {"ok": ("OK", "met"), "note": ("Note", "plain"), "WARN": ("Warning", "met_late"), "WRONG": ("Wrong", "alarm")}


@router.get("")
async def settings_page(request: Request) -> Response:
    """How every city of an administrator is set up."""
    staff = await _administrator(request)
    house = house_of(request)
    async with reading(house) as tx:
        found = [(city_name(house, city), await standing_of_city(tx, city)) for city in _cities(house, staff)]
    return staff_page(
        request, "settings.html", staff=staff, zone=zone_of(house, staff.city), found=found, roles=ROLE_NAMES,
        version=house.rulebook.version,
    )  # fmt: skip


@router.get("/check")
async def check_page(request: Request) -> Response:
    """What `spillclock doctor` finds: for whoever administers every city all of it, else what is about the service and their own cities."""
    staff = await _administrator(request)
    house = house_of(request)
    await _count(house, "settings check", staff)
    mine = _cities(house, staff)
    findings = [one for one in read_findings(await examine(house), house.rulebook.cities) if one.city is None or one.city in mine]
    async with reading(house) as tx:
        tests = await staff_log.actions(tx, cities=None, accounts=(), who=staff.email, kind=_TEST, most=1)
    counts = {level: sum(one.level == level for one in findings) for level in LEVELS}
    return staff_page(
        request, "settings_check.html", staff=staff, zone=zone_of(house, staff.city), findings=findings, levels=LEVELS, counts=counts,
        last=tests[0][0] if tests else None, done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/test")
async def send_a_test(request: Request) -> Response:
    """Send one test message to whoever asks, through the real channel of mail, and note what came of it."""
    staff = await _administrator(request)
    house = house_of(request)
    await _count(house, "test message", staff)
    try:
        _, receipt = await send_test(house.settings, staff.email, "email", house.now)
    except BadInput as error:  # the settings of mail are faulty: nothing can be sent until somebody mends them
        receipt = Receipt(Outcome.REFUSED, detail="; ".join(error.faults))
    went = receipt.outcome is Outcome.ACCEPTED
    async with transaction(house, staff.email) as tx:
        await staff_log.note(tx, _TEST, channel="email", outcome=receipt.outcome.value, detail=receipt.detail[:500])
    return RedirectResponse(f"/staff/settings/check?done={'test' if went else 'not-sent'}#test", 303)


async def _administrator(request: Request) -> Staff:
    staff = await signed_in(request)
    require_administrator(staff)
    return staff


def _cities(house: House, staff: Staff) -> list[str]:
    return [city for city in house.cities if staff.administers is None or city in staff.administers]


async def _count(house: House, gate: str, staff: Staff) -> None:
    """Count one more by this person. Raises TooOften."""
    if wait := (await turnstile.pass_through(house, gate, staff.email)).retry_after:
        raise turnstile.TooOften(gate, wait)
