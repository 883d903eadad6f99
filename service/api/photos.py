"""Photos of a spill: sent by whoever reported it, with the token of their private page, or by staff."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from service import turnstile
from service.access import spill_for, staff_now
from service.api.callers import bearer, house_of
from service.closing import closed_in
from service.errors import BadInput, Conflict, NotKnown, NotSignedIn
from service.incoming_bodies import read_form
from service.kept_files import PHOTO, Belonging, kept_files, take_in_files
from service.parties import spill_of_token
from service.tables import KeptFile, Spill
from service.transaction import House, Transaction, reading

router = APIRouter(tags=["spills"])

_FORM_SCHEMA: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["photos"],
                    "properties": {
                        "photos": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "JPEG, PNG, WebP or HEIC, 40 at most.",
                        },
                        "share_location": {
                            "type": "string",
                            "enum": ["yes", "no"],
                            "description": "yes: where a photo was taken may become the place of a spill that has no point yet.",
                        },
                    },
                }
            }
        },
    }
}


class Photo(BaseModel):
    """A photo that is kept. `flags`: damaged, unreadable, no_reader (see the documentation of photos)."""

    id: int
    name: str
    media_type: str
    size: int
    width: int | None
    height: int | None
    is_shown: bool
    flags: list[str]


class PhotosKept(BaseModel):
    """The photos of this request that are kept, in order, and a line for each that is not, or that is odd."""

    photos: list[Photo]
    warnings: list[str]


@router.post("/spills/{reference}/photos", status_code=201, openapi_extra=_FORM_SCHEMA, responses=dict(turnstile.DOCUMENTED))
async def send_photos(request: Request, response: Response, reference: str) -> PhotosKept:
    """Add photos to a spill; `Authorization: Bearer` with a staff token, or the last part of the report's `status_url`.

    The same photo sent again is kept once and answered with the same id, so that a request may be repeated. Good photos are kept where
    others of the same request are refused; where none can be kept the answer is a 4xx.
    """
    house = house_of(request)
    token = bearer(request)
    if token is None or not token.startswith("sc_"):  # not one of staff
        await turnstile.check(request, "photos")
    actor, by = await _sender(house, token, reference)
    texts, files = await read_form(request)
    uploads = files.get("photos", [])
    if not uploads:
        raise BadInput(
            "no photo was sent", ["photos: missing; right would be: one or more files in the field `photos` of a multipart form"]
        )
    known = await _ids(house, reference)
    shares = texts.get("share_location", ["no"])[-1].strip().lower() in ("yes", "true", "1", "on")
    kept, refused = await take_in_files(house, uploads, Belonging(reference, PHOTO, actor, by, share_location=shares))
    if not kept:
        problem = BadInput("none of the photos was kept", [fault for error in refused for fault in error.faults])
        problem.status = max(error.status for error in refused) if len({error.status for error in refused}) == 1 else 422
        raise problem
    if all(row.id in known for row in kept):
        response.headers["Idempotency-Replayed"] = "true"
    warnings = [fault for error in refused for fault in error.faults] + [line for row in kept for line in _odd(row, known)]
    return PhotosKept(photos=[_photo(row) for row in kept], warnings=warnings)


async def _sender(house: House, token: str | None, reference: str) -> tuple[str, str]:
    """Who sends photos: the name for the record, and in words. A reporter stays under no name of theirs."""
    if token is None:
        raise NotSignedIn("this call needs a staff token, or the token of the report's private page: Authorization: Bearer TOKEN")
    staff = await staff_now(house, token, "api") if token.startswith("sc_") else None
    async with reading(house) as tx:
        if staff is not None:
            await spill_for(tx, staff, reference, "officer")
            return staff.email, staff.email
        spill = await _of_reporter(tx, token, reference)
        if closed_in(await tx.history(spill)) is not None:
            raise Conflict(f"{reference} is closed; report it anew")
    return f"reporter of {reference}", "the reporter"


async def _of_reporter(tx: Transaction, token: str, reference: str) -> Spill:
    try:
        spill = await spill_of_token(tx, "status", token)
    except NotKnown:
        raise NotSignedIn("this token is not valid") from None
    if spill.reference != reference:
        raise NotKnown(f"there is no spill {reference}")
    return spill


async def _ids(house: House, reference: str) -> set[int | None]:
    async with reading(house) as tx:
        return {row.id for row in await kept_files(tx, await tx.spill(reference), PHOTO)}


def _photo(row: KeptFile) -> Photo:
    return Photo(
        id=row.id or 0, name=row.name, media_type=row.media_type, size=row.size, width=row.width, height=row.height,
        is_shown=row.is_shown, flags=row.flags,
    )  # fmt: skip


_ODD = {
    "damaged": "it is damaged; what could be read is shown",
    "unreadable": "it could not be decoded; kept for staff, not shown",
    "no_reader": "nothing here reads HEIC; kept for staff, not shown",
}


def _odd(row: KeptFile, known: set[int | None]) -> list[str]:
    lines = [f"{row.name}: {_ODD[flag]}" for flag in row.flags if flag in _ODD]
    return [*lines, f"{row.name}: it is there already, as photo {row.id}"] if row.id in known else lines
