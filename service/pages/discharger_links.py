"""For staff: the private links of the discharger's people, issued to a person by name, sent, replaced and taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service import invitations
from service.access import spill_for
from service.errors import BadInput, NotKnown
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import house_of, staff_page
from service.parties import respond_url
from service.tables import DischargerLink, Spill
from service.transaction import Transaction, transaction

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)


@dataclass(frozen=True)
class ShownLink:
    """A link as staff see it. `number` None is the one that is nobody's in particular; `address` is where it leads, nothing once ended."""

    number: int | None
    name: str
    reach: Sequence[str]
    address: str
    issued_by: str
    issued_at: datetime | None
    sent_at: datetime | None
    ended_at: datetime | None


async def links_shown(tx: Transaction, spill: Spill) -> list[ShownLink]:
    """The links of a spill: the common one, then those of people, those that were taken back last."""
    common = ShownLink(None, "Common link", (), respond_url(tx.house, spill), "", None, None, None)
    people = [_shown(tx, spill, link) for link in await invitations.links_of(tx, spill)]
    return [common, *sorted(people, key=lambda link: link.ended_at is not None)]


def _shown(tx: Transaction, spill: Spill, link: DischargerLink) -> ShownLink:
    address = "" if link.ended_at else respond_url(tx.house, spill, link)
    reach = [part for part in (link.email, link.phone) if part]
    return ShownLink(link.id, link.name, reach, address, link.issued_by, link.issued_at, link.sent_at, link.ended_at)


@router.post("/{reference}/links")
async def issue_link(request: Request, reference: str) -> Response:
    """Issue a link to a person, and send it where that is ticked."""
    fields = await read_fields(request)
    sends = fields.text("send") == "yes"

    async def issued(tx: Transaction, spill: Spill) -> None:
        name, email, phone = (fields.text(key) for key in ("name", "email", "phone"))
        link = await invitations.issue(tx, spill, name, email, phone, fields.text("language", "en"))
        if sends:
            await invitations.send(tx, spill, link)

    return await _changed(request, reference, issued, "link-sent" if sends else "link-issued", fields)


@router.post("/{reference}/links/{number}/{what}")
async def change_link(request: Request, reference: str, number: str, what: str) -> Response:
    """Send a link again, replace it by a new one, or take it back. `number` is that of the link, or `common`."""

    async def change(tx: Transaction, spill: Spill) -> None:
        link = None if number == "common" else await invitations.link_of(tx, spill, int(number) if number.isdecimal() else 0)
        if what == "send":
            await invitations.send(tx, spill, link)
        elif what == "replace":
            await invitations.replace(tx, spill, link)
        elif what == "end" and link is not None:
            await invitations.end(tx, spill, link)
        else:
            raise NotKnown("there is no such thing to do with a link")

    done = {"send": "link-sent", "replace": "link-replaced", "end": "link-ended"}.get(what, "")
    return await _changed(request, reference, change, done)


async def _changed(
    request: Request, reference: str, change: Callable[[Transaction, Spill], Awaitable[None]], done: str, typed: Fields | None = None
) -> Response:
    """Do a change in the name of an officer and go back to the spill; what cannot be done comes back with what was typed."""
    staff = await signed_in(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            spill = await spill_for(tx, staff, reference, "officer")
            await change(tx, spill)
    except BadInput as error:
        return staff_page(
            request, "respond_links.html", 422, staff=staff, spill=spill, faults=error.faults or [str(error)], typed=typed or Fields()
        )
    return RedirectResponse(f"/staff/spills/{reference}?done={done}#links", 303)
