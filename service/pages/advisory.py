"""The staff page on which an advisory, its update or the all-clear is written, looked at with the number of people, and issued."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import advisories
from service.access import Staff, spill_for
from service.advisories import KINDS, PARTS
from service.errors import BadInput, Conflict
from service.pages.alerts import DISTANCES
from service.pages.alerts import KINDS as KIND_NAMES
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.personal_words import personal_in
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.speech import LANGUAGES
from service.tables import Spill
from service.transaction import Transaction, reading, transaction

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)
_DEFAULT_METRES = "1609"
LABELS = {"where": "Where, roughly", "what": "What happened", "advice": "What people should do"}


@router.get("/{reference}/advisory")
async def write_page(request: Request, reference: str) -> Response:
    """The form, filled with what can be said safely, or with the words that stand."""
    return await _page(request, await signed_in(request), reference)


async def _page(
    request: Request, staff: Staff, reference: str, typed: Fields | None = None, faults: Sequence[str] = (), status: int = 200
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        staff.require("officer", spill.city)
        chain = await advisories.chain_of(tx, spill)
        root = advisories.standing_in(chain)
        asked = typed.text("kind") if typed else request.query_params.get("kind", "")
        kinds = ("advisory",) if root is None else ("update", "all_clear")
        kind = asked if asked in kinds else kinds[0]
        preview = None
        if typed is not None and not faults:
            try:
                preview = await _preview(tx, spill, typed, root.id if root else None)
            except BadInput as error:
                faults, status = error.faults, 422
        last = chain[-1] if chain else None
        standing_words = last if root is not None else None
        values: Mapping[str, str] = advisories.draft(house, spill, kind, standing_words)
    if typed is not None:
        values = {key: typed.text(key) for key in values}
    area = typed.text("area") if typed else _area_of(last.area) if root and last else "city" if spill.lat is None else _DEFAULT_METRES
    return staff_page(
        request, "advisory_issue.html", status, staff=staff, spill=spill, zone=zone_of(house, spill.city), chain=chain, kind=kind,
        kinds={each: KIND_NAMES[each] for each in kinds}, names=KIND_NAMES, values=values, area=area, last=last.id if last else 0,
        preview=preview, faults=faults, parts_of=PARTS, labels=LABELS, distances=DISTANCES,
        city=city_name(house, spill.city) if spill.city else "",
        done=request.query_params.get("done", ""), longest=advisories.LONGEST_PART,
    )  # fmt: skip


def _area_of(area: Mapping[str, Any]) -> str:
    return str(round(area["metres"])) if "metres" in area else "city"


async def _preview(tx: Transaction, spill: Spill, typed: Fields, follows: int | None) -> dict[str, Any]:
    """The words as they would go out, and to how many. Raises BadInput."""
    words = advisories.checked_words(_words(typed))
    area = advisories.area_of(spill, _metres(typed))
    personal = await personal_in(tx, spill, words.values())
    return {"words": words, "people": await advisories.count_reached(tx, area, follows), "personal": personal}


def _words(typed: Fields) -> dict[str, str]:
    return {f"{part}.{language}": typed.text(f"{part}.{language}") for part in PARTS for language in LANGUAGES}


def _metres(typed: Fields) -> float | None:
    """The radius that was chosen; None for the whole city. Raises BadInput."""
    chosen = typed.text("area")
    if chosen == "city":
        return None
    try:
        return float(chosen)
    except ValueError:
        raise BadInput("there is no area", ["area: missing; right would be: a distance, or the whole city"]) from None


@router.post("/{reference}/advisory")
async def write(request: Request, reference: str) -> Response:
    """Show what would go out, or issue it."""
    staff = await signed_in(request)
    typed = await read_fields(request)
    if typed.text("do") != "issue":
        return await _page(request, staff, reference, typed)
    last, kind = typed.text("last"), typed.text("kind")
    try:
        async with transaction(house_of(request), staff.email) as tx:
            spill = await spill_for(tx, staff, reference)
            number = int(last) if last.isdecimal() and len(last) < 10 else 0
            await advisories.issue(tx, staff, spill, kind if kind in KINDS else "", _words(typed), _metres(typed), number)
    except BadInput as error:
        return await _page(request, staff, reference, typed, error.faults, 422)
    except Conflict as error:
        return await _page(request, staff, reference, None, [str(error)], 409)
    return RedirectResponse(f"/staff/spills/{reference}/advisory?done=issued", 303)
