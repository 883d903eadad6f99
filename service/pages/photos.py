"""Photos and papers on the pages: taken from a form, shown in a row, and handed out by private link or to staff."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse

from service.access import spill_for
from service.events import FilesLeftOut
from service.image_reading import MOST_PIXELS, SMALL_EDGE
from service.incoming_bodies import Upload
from service.kept_files import (
    ATTACHMENT,
    MOST_OF_A_SPILL,
    PHOTO,
    PICTURES,
    SUFFIXES,
    Belonging,
    CannotKeep,
    FileRefused,
    kept_file,
    kept_files,
    label,
    open_original,
    open_public,
    take_in_files,
)
from service.pages.entrance import StaffRoute, signed_in
from service.pages.rendering import house_of, spoken
from service.pages.speech import ENGLISH, Speech, marked
from service.parties import respondent_of_token, spill_of_token
from service.tables import KeptFile, Spill
from service.transaction import House, Transaction, reading, transaction

log = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)
staff_router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)

_REFUSALS: Mapping[str, str] = {
    "empty": marked("%(name)s is empty, so it was not kept."),
    "too_large": marked("%(name)s is too large, so it was not kept. A file can have %(most)s MB at most."),
    "kind": marked("%(name)s is not a photo that we can take, so it was not kept. Send JPEG, PNG, WebP or HEIC."),
    "too_many_pixels": marked(
        "%(name)s has too many pixels, so it was not kept: %(pixels)s million at most. Send a smaller photo, or a screenshot of it."
    ),
    "too_many": marked("%(name)s was not kept: a report can hold %(count)s photos."),
    "disk": marked("%(name)s could not be stored just now. Send it again in a few minutes."),
}
_PAPER_REFUSALS: Mapping[str, str] = {
    **_REFUSALS,
    "kind": marked("%(name)s is not a file that we can take, so it was not kept. Send a PDF, or a photo (JPEG, PNG, WebP or HEIC)."),
    "too_many_pixels": marked(
        "%(name)s has too many pixels, so it was not kept: %(pixels)s million at most. Send the picture at a smaller size."
    ),
    "too_many": marked("%(name)s was not kept: there are %(count)s files already."),
}
_REMARKS: Mapping[str, str] = {
    "damaged": marked("This photo is damaged and may not show everything. Send it again if you can."),
    "unreadable": marked("This photo cannot be shown. The city has the file as you sent it."),
    "no_reader": marked("This photo cannot be shown here. The city has the file as you sent it."),
}

_FOR_STAFF = {
    "damaged": "It is damaged, and may not show everything.",
    "unreadable": "It could not be decoded. Be careful with the original.",
    "no_reader": "Nothing here reads HEIC. The original opens on most phones and Macs.",
}


@dataclass(frozen=True)
class ShownFile:
    """A file as a page shows it. `width`, `height`: of its thumbnail; `size` is in words, `remarks` say what is odd about it."""

    id: int
    name: str
    is_shown: bool
    is_picture: bool
    width: int
    height: int
    size: str
    sent_at: datetime
    sent_by: str
    remarks: Sequence[str]
    camera_time: str
    place: str


def shown_files(speech: Speech, rows: Sequence[KeptFile], remarks: Mapping[str, str] = _REMARKS) -> list[ShownFile]:
    """Files for the macro `gallery` of photo_parts.html."""
    return [
        ShownFile(
            row.id or 0, row.name, row.is_shown, row.media_type in PICTURES, *_thumbnail(row), _size(speech, row.size), row.kept_at,
            row.sent_by,
            [speech.say(remarks[flag]) for flag in row.flags if flag in remarks], row.camera_time,
            f"{row.lat:.5f}, {row.lon:.5f}" if row.lat is not None and row.lon is not None else "",
        )
        for row in rows
    ]  # fmt: skip


def _thumbnail(row: KeptFile) -> tuple[int, int]:
    """Its size in pixels, which keeps its place on the page until it is there."""
    width, height = row.width or 1, row.height or 1
    scale = min(1.0, SMALL_EDGE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _size(speech: Speech, size: int) -> str:
    return f"{speech.number(max(1, round(size / 1000)))} kB" if size < 1_000_000 else f"{speech.number(round(size / 1_000_000, 1))} MB"


async def photos_of(tx: Transaction, spill: Spill, speech: Speech) -> list[ShownFile]:
    """The photos of a spill, for its reporter."""
    return shown_files(speech, await kept_files(tx, spill, PHOTO))


async def files_of(tx: Transaction, spill: Spill) -> tuple[list[ShownFile], list[ShownFile]]:
    """The photos of a spill and the papers sent by whoever answers for it, for staff."""
    rows = await kept_files(tx, spill)
    photos, papers = ([row for row in rows if row.purpose == purpose] for purpose in (PHOTO, ATTACHMENT))
    return shown_files(ENGLISH, photos, _FOR_STAFF), shown_files(ENGLISH, papers, _FOR_STAFF)


async def keep_photos(request: Request, belonging: Belonging, uploads: Sequence[Upload]) -> tuple[list[KeptFile], list[str]]:
    """Keep the files that came with a form. Returns those kept, and a plain sentence for each that was not; nothing else is lost by it.

    Raises CannotKeep where the disk takes nothing.
    """
    house = house_of(request)
    kept, refused = await take_in_files(house, uploads, belonging)
    return kept, refusals(spoken(request), house, refused, belonging.purpose)


async def keep_photos_of_report(house: House, belonging: Belonging, uploads: Sequence[Upload]) -> int:
    """Keep the photos that came with a report. Returns how many were not kept; which and why is on record, for the reporter's page."""
    try:
        _, refused = await take_in_files(house, uploads, belonging)
        left_out = [(error.name, error.why) for error in refused]
    except CannotKeep:
        log.exception("the photos of %s could not be kept", belonging.reference)
        left_out = [(label(upload.name), "disk") for upload in uploads]
    if left_out:
        async with transaction(house, belonging.actor) as tx:
            await tx.record(await tx.spill(belonging.reference), FilesLeftOut(files=left_out))
    return len(left_out)


def refusals(speech: Speech, house: House, refused: Sequence[FileRefused], purpose: str = PHOTO) -> list[str]:
    """Why files were not kept, a plain sentence each."""
    return why_left_out(speech, house, [(error.name, error.why) for error in refused], purpose)


def why_left_out(speech: Speech, house: House, files: Sequence[tuple[str, str]], purpose: str = PHOTO) -> list[str]:
    """A plain sentence for each file that was not kept, given its name and why (`service.events.FilesLeftOut`)."""
    words = _REFUSALS if purpose == PHOTO else _PAPER_REFUSALS
    values = {
        "most": speech.number(house.settings.largest_file_mb), "count": speech.number(MOST_OF_A_SPILL[purpose]),
        "pixels": speech.number(MOST_PIXELS // 1_000_000),
    }  # fmt: skip
    return [speech.say(words[why], name=name, **values) for name, why in files]


# -- handing out


@router.get("/status/{token}/photos/{number}")
async def photo_of_report(request: Request, token: str, number: int) -> FileResponse:
    """A photo of a report for whoever holds its private link: the copy that was drawn anew, `?size=small` as a thumbnail."""
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_of_token(tx, "status", token)
        row = await kept_file(tx, spill, number, PHOTO)
    return _copy(request, spill, row)


@router.get("/respond/{token}/files/{number}")
async def paper_of_discharger(request: Request, token: str, number: int) -> FileResponse:
    """A paper of whoever answers for the spill, as they sent it; `?size=small` as a thumbnail. Photos of the reporter are not theirs."""
    house = house_of(request)
    async with reading(house) as tx:
        spill = (await respondent_of_token(tx, token)).spill
        row = await kept_file(tx, spill, number, ATTACHMENT)
    return _copy(request, spill, row) if request.query_params.get("size") == "small" else _original(house, row)


@staff_router.get("/{reference}/files/{number}")
async def file_for_staff(request: Request, reference: str, number: int) -> FileResponse:
    """The copy of a file that was drawn anew."""
    spill, row = await _for_staff(request, reference, number)
    return _copy(request, spill, row)


@staff_router.get("/{reference}/files/{number}/original")
async def original_for_staff(request: Request, reference: str, number: int) -> FileResponse:
    """A file as it came, as a download. It may hold what its camera noted: for an officer, who also sees who reported."""
    staff = await signed_in(request)
    spill, row = await _for_staff(request, reference, number)
    staff.require("officer", spill.city)
    return _original(house_of(request), row)


async def _for_staff(request: Request, reference: str, number: int) -> tuple[Spill, KeptFile]:
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        spill = await spill_for(tx, staff, reference)
        return spill, await kept_file(tx, spill, number)


def _copy(request: Request, spill: Spill, row: KeptFile) -> FileResponse:
    """What was drawn anew never changes, and is kept by the browser that asked for it and by nobody on the way."""
    small = request.query_params.get("size") == "small"
    path = open_public(house_of(request), row, small=small)
    name = f'inline; filename="{spill.reference}-{row.id}.jpg"'
    return _handed(path, "image/jpeg", name, "private, max-age=86400, immutable")


def _original(house: House, row: KeptFile) -> FileResponse:
    """Always a download, under our own media type: whatever else hides in a file is not run."""
    suffix = SUFFIXES[row.media_type]
    name = row.name if row.name.lower().endswith((suffix, ".jpeg", ".heif")) else f"{row.name}{suffix}"
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._- ") else "_" for letter in name)
    said = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return _handed(open_original(house, row), row.media_type, said, "private, no-store")


def _handed(path: Path, media_type: str, disposition: str, cache: str) -> FileResponse:
    headers = {
        "Content-Disposition": disposition, "Cache-Control": cache, "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin",
    }  # fmt: skip
    return FileResponse(path, headers=headers, media_type=media_type)
