"""What an officer does at the kerb, with gloves on: the amount as it is found, a photo, an answer by one press."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.access import spill_for
from service.errors import BadInput
from service.incoming_bodies import CannotKeep
from service.kept_files import PHOTO, Belonging
from service.pages.amendments import told
from service.pages.entrance import StaffRoute, signed_in, working_on
from service.pages.fields import read_fields
from service.pages.open_questions import amount_from, settled_by
from service.pages.photos import keep_photos
from service.pages.rendering import house_of
from service.pages.spill import refused
from service.spills import amend_facts
from service.transaction import reading

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)


@router.post("/{reference}/amount")
async def amount(request: Request, reference: str) -> Response:
    """Amend the amount; the clocks that it starts are overdue at once where they are."""
    fields = await read_fields(request)
    try:
        async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
            await amend_facts(tx, spill, *amount_from(tx.house, spill, fields))
    except BadInput as error:
        return await refused(request, reference, error)
    return RedirectResponse(f"/staff/spills/{reference}?done=amended", 303)


@router.post("/{reference}/settle")
async def settle(request: Request, reference: str) -> Response:
    """Answer an open question. One that somebody answered meanwhile stays as they said, and that is shown."""
    fields = await read_fields(request)
    fact = fields.text("fact")
    try:
        async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
            changes, reason, source = settled_by(spill, fields, tx.now)
            if spill.facts.get(fact) not in (None, changes[fact]) and spill.facts.get(fact) != "unknown":
                stands = told(tx.house, spill, fact, spill.facts[fact])
                raise BadInput(
                    "somebody answered meanwhile", [f"{fact}: somebody answered meanwhile: {stands}. Amend the facts to change it"]
                )
            await amend_facts(tx, spill, changes, reason, source)
    except BadInput as error:
        return await refused(request, reference, error)
    return RedirectResponse(f"/staff/spills/{reference}?done=amended#questions", 303)


@router.post("/{reference}/photos")
async def photos(request: Request, reference: str) -> Response:
    """Keep photos of the spill, in the officer's name. Those that cannot be kept are named; the others are."""
    staff, fields = await signed_in(request), await read_fields(request)
    async with reading(house_of(request)) as tx:
        spill = await spill_for(tx, staff, reference)
    staff.require("officer", spill.city)
    try:
        if not (uploads := fields.uploads("photos")):
            raise BadInput("no photo was chosen", ["photos: none was chosen; right would be: take one, or choose one from the phone"])
        _, faults = await keep_photos(request, Belonging(reference, PHOTO, staff.email, staff.email), uploads)
        if faults:
            raise BadInput("not every photo was kept", faults)
    except BadInput as error:
        return await refused(request, reference, error)
    except CannotKeep as error:
        return await refused(request, reference, BadInput(f"photos cannot be stored just now: {error}"))
    return RedirectResponse(f"/staff/spills/{reference}?done=photos", 303)
