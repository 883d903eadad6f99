"""Files that people send: photos of a spill, papers of whoever answers for it. Looked at before anything is stored, then kept for good.

First `examine`, outside of any transaction: is it a kind of file that is taken, is it what it says, what does it show. Its content is on
the disk when that returns. Then `keep`, in the transaction of whatever it belongs to.

The original is for staff alone: it may hold where a reporter lives. Others are shown a copy that was drawn anew, without anything the
camera noted. What cannot be drawn is kept all the same, marked, and shown to nobody but as a download.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select, text
from sqlmodel import col

from service import file_store, image_reading
from service.errors import BadInput, Conflict, NotKnown
from service.events import FileKept
from service.incoming_bodies import CannotKeep as CannotKeep  # raised here, and caught by whoever keeps files
from service.incoming_bodies import Upload as Upload
from service.spills import clean
from service.tables import KeptFile, Spill
from service.transaction import House, Transaction, transaction

PHOTO, ATTACHMENT = "photo", "attachment"
# Photos of one spill: enough to walk once around a plant. Papers of one spill, over all its reports.
MOST_OF_A_SPILL = {PHOTO: 40, ATTACHMENT: 200}
PICTURES = ("image/jpeg", "image/png", "image/webp", "image/heic")
PDF = "application/pdf"
SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/heic": ".heic", PDF: ".pdf"}
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1", b"heif")
_LONGEST_NAME = 120
_WAIT_SECONDS = 30.0
_SWEPT_AFTER = timedelta(days=1)
_SWEPT_AT_ONCE = 200
_LONGEST_ANSWER = 4_000


@dataclass(frozen=True, slots=True)
class Examined:
    """A file that may be kept; its content is on the disk.

    `is_shown`: a copy without camera notes was drawn of it. `flags`: "damaged" (something in it is broken or missing; the copy shows the
    rest), "unreadable" (it could not be decoded), "no_reader" (HEIC, and this installation has nothing that reads it).
    `width` and `height` are upright. `lat`, `lon` (degrees) and `camera_time` are what the camera noted: for staff, and where the
    reporter allows it for the place.
    """

    name: str
    digest: str
    media_type: str
    size: int
    is_shown: bool = False
    flags: tuple[str, ...] = ()
    width: int | None = None
    height: int | None = None
    lat: float | None = None
    lon: float | None = None
    camera_time: str = ""

    @property
    def place(self) -> dict[str, float] | None:
        """Where the camera was, by its own notes; None where it noted nothing."""
        return None if self.lat is None or self.lon is None else {"lat": self.lat, "lon": self.lon}


class FileRefused(BadInput):
    """A file that is not taken. `why`: empty, too_large, kind, too_many_pixels, too_many; `name`: what it was called, cleaned."""

    title = "The file is not taken"

    def __init__(self, why: str, name: str, problem: str, right: str) -> None:
        super().__init__(f"{name}: {problem}", [f"{name}: {problem}; right would be: {right}"])
        self.why = why
        self.name = name
        self.status = 413 if why == "too_large" else 422


def label(name: str) -> str:
    """The name of a file as it is shown: its last part, without control characters or signs that turn the direction of writing."""
    last = clean(name.replace("\\", "/").rpartition("/")[2])
    shown = "".join(letter for letter in last if letter.isprintable() and letter != "\N{REPLACEMENT CHARACTER}").strip(" .")
    if len(shown) > _LONGEST_NAME:
        stem, dot, suffix = shown.rpartition(".")
        shown = f"{stem[: _LONGEST_NAME - 6]}{dot}{suffix}" if dot and len(suffix) <= 5 else shown[:_LONGEST_NAME]
    return shown or "file"


# -- before the transaction


async def examine(house: House, upload: Upload, *, documents: bool = False) -> Examined:
    """Look at a file and put its content on the disk. With `documents` a PDF is taken, too.

    Raises FileRefused for one that is empty, too large, of another kind, or a picture of more than 50 million pixels; CannotKeep where
    the disk takes nothing. A picture that cannot be decoded is not refused.
    """
    name, most = label(upload.name), house.settings.largest_file_bytes
    try:
        with file_store.incoming(house.settings.files_path, house.now()) as folder:
            try:
                taken = await asyncio.to_thread(file_store.take, upload.file, folder, most)
            except file_store.TooManyBytes:
                mb = most // 1_000_000
                raise FileRefused("too_large", name, f"it is over {mb} MB", f"a file of at most {mb} MB") from None
            media_type = _accepted_kind(name, taken, documents)
            told = {"state": "document"} if media_type == PDF else await _read_picture(house, taken, media_type)
            if told["state"] == "too_many_pixels":
                size = f"{told['width']:,} by {told['height']:,} pixels"
                right = f"a picture of at most {image_reading.MOST_PIXELS // 1_000_000} million pixels, as phones take them"
                raise FileRefused("too_many_pixels", name, f"it has {size}", right)
            is_shown = told["state"] in ("shown", "damaged")
            await asyncio.to_thread(file_store.place, house.settings.files_path, taken, house.now(), with_copies=is_shown)
    except OSError as error:
        raise CannotKeep(error) from error
    flags = () if told["state"] in ("shown", "document") else (str(told["state"]),)
    noted: dict[str, Any] = {key: told.get(key) for key in ("width", "height", "lat", "lon")}
    return Examined(
        name, taken.digest, media_type, taken.size, is_shown=is_shown, flags=flags, camera_time=str(told.get("camera_time", "")), **noted
    )  # fmt: skip


async def examine_all(house: House, uploads: Sequence[Upload], *, documents: bool = False) -> tuple[list[Examined], list[FileRefused]]:
    """Look at files one by one: those that may be kept, in their order, and why each of the others may not. One spoils no other."""
    most = MOST_OF_A_SPILL[PHOTO]
    good: list[Examined] = []
    refused: list[FileRefused] = []
    for upload in uploads[:most]:
        try:
            good.append(await examine(house, upload, documents=documents))
        except FileRefused as error:
            refused.append(error)
    for upload in uploads[most:]:
        refused.append(FileRefused("too_many", label(upload.name), f"more than {most} files came at once", "the rest sent after these"))
    return good, refused


def _accepted_kind(name: str, taken: file_store.Incoming, documents: bool) -> str:
    """The media type that the first bytes tell. The name of a file and what its sender says of it count for nothing."""
    if not taken.size:
        raise FileRefused("empty", name, "it is empty", "a file with something in it")
    found = _kind(taken.head)
    if found is None or (found == PDF and not documents):
        what = "it is a PDF" if found == PDF else "it is no kind of file that is taken here"
        right = "a photo (JPEG, PNG, WebP or HEIC) or a PDF" if documents else "a photo (JPEG, PNG, WebP or HEIC)"
        raise FileRefused("kind", name, what, right)
    return found


def _kind(head: bytes) -> str | None:
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp" and head[8:12] in _HEIC_BRANDS:
        return "image/heic"
    return PDF if head.startswith(b"%PDF-") else None


async def _read_picture(house: House, taken: file_store.Incoming, media_type: str) -> dict[str, Any]:
    """What service/image_reading.py finds, in a process of its own that is bounded in memory and time. One that dies found nothing."""
    async with house.reading_pictures:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", image_reading.__file__, str(taken.content.absolute()), media_type, str(taken.folder.absolute()),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            cwd=taken.folder, env={"LANG": "C.UTF-8", "PATH": os.defpath},
        )  # fmt: skip
        try:
            said, _ = await asyncio.wait_for(process.communicate(), _WAIT_SECONDS)
        except TimeoutError:
            said = b""
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    try:
        told: dict[str, Any] = json.loads(said[:_LONGEST_ANSWER])
    except ValueError:
        return {"state": "unreadable"}
    return told


# -- in the transaction


async def keep(
    tx: Transaction, spill: Spill, examined: Examined, *, purpose: str, by: str, share_location: bool = False,
    obligation_id: int | None = None, version: int | None = None,
) -> KeptFile:  # fmt: skip
    """Keep a file with a spill, on record. The same content again, for the same purpose, is the file that is kept already.

    `by` says who sent it, for staff. With `share_location` the place that the camera noted becomes that of a spill without a point (see
    service/photo_places.py); without it, it stays in the original.
    Raises FileRefused where the spill has as many as it can have, Conflict where the content was swept meanwhile: send it again.
    """
    there = await kept_files(tx, spill, purpose)
    belongs = (examined.digest, obligation_id, version)
    if same := next((row for row in there if (row.digest, row.obligation_id, row.version) == belongs), None):
        return same
    most = MOST_OF_A_SPILL[purpose]
    if len(there) >= most:
        what = "photos" if purpose == PHOTO else "files"
        raise FileRefused("too_many", examined.name, f"{spill.reference} has {most} {what} already", f"at most {most}; call the city")
    row = KeptFile(
        spill_id=spill.id or 0, obligation_id=obligation_id, version=version, purpose=purpose, name=examined.name, digest=examined.digest,
        media_type=examined.media_type, size=examined.size, width=examined.width, height=examined.height, is_shown=examined.is_shown,
        flags=list(examined.flags), lat=examined.lat, lon=examined.lon, camera_time=examined.camera_time,
        shares_location=share_location and examined.place is not None, sent_by=clean(by)[:200], kept_at=tx.now,
    )  # fmt: skip
    tx.session.add(row)
    await tx.session.flush()
    if not file_store.path_of(tx.house.settings.files_path, row.digest).exists():
        raise Conflict(f"{examined.name}: it was sent too long ago and is no longer here; send it again")
    await tx.record(
        spill,
        FileKept(
            file=row.id or 0, purpose=purpose, name=row.name, media_type=row.media_type, size=row.size, digest=row.digest, by=row.sent_by,
            flags=row.flags, obligation=obligation_id, version=version,
            place=examined.place if share_location else None,
        ),
    )  # fmt: skip
    return row


@dataclass(frozen=True, slots=True)
class Belonging:
    """Whom files belong to and who sends them. `actor` is for the record, as of any transaction; `by` says it to staff."""

    reference: str
    purpose: str
    actor: str
    by: str
    share_location: bool = False
    obligation_id: int | None = None
    version: int | None = None


async def take_in_files(house: House, uploads: Sequence[Upload], belonging: Belonging) -> tuple[list[KeptFile], list[FileRefused]]:
    """Look at files and keep those that can be kept, in a transaction of its own: those, and why each of the others is not there.

    Raises CannotKeep, NotKnown.
    """
    good, refused = await examine_all(house, uploads, documents=belonging.purpose == ATTACHMENT)
    kept: list[KeptFile] = []
    if good:
        async with transaction(house, belonging.actor) as tx:
            spill = await tx.spill(belonging.reference)
            for examined in good:
                try:
                    row = await keep(
                        tx, spill, examined, purpose=belonging.purpose, by=belonging.by, share_location=belonging.share_location,
                        obligation_id=belonging.obligation_id, version=belonging.version,
                    )  # fmt: skip
                except FileRefused as error:
                    refused.append(error)
                else:
                    kept.append(row)
    return kept, refused


async def kept_files(tx: Transaction, spill: Spill, purpose: str | None = None) -> list[KeptFile]:
    """The files of a spill in the order they came, of one purpose where it is named."""
    query = select(KeptFile).where(col(KeptFile.spill_id) == spill.id).order_by(col(KeptFile.id))
    if purpose is not None:
        query = query.where(col(KeptFile.purpose) == purpose)
    return list((await tx.session.execute(query)).scalars())


async def kept_file(tx: Transaction, spill: Spill, number: int, purpose: str | None = None) -> KeptFile:
    """One file of a spill. Raises NotKnown for a number that is none of its own, or of another purpose."""
    found = await tx.session.get(KeptFile, number) if 0 < number < 2**31 else None
    if found is None or found.spill_id != spill.id or purpose not in (None, found.purpose):
        raise NotKnown("there is no such file here")
    return found


def open_public(house: House, row: KeptFile, *, small: bool = False) -> Path:
    """The JPEG that may be shown of a file: 2,048 pixels at most, or 480. Raises NotKnown where none could be drawn."""
    path = file_store.copy_of(house.settings.files_path, row.digest, small=small)
    if not row.is_shown or not path.exists():
        raise NotKnown("this file has no picture that can be shown")
    return path


def open_original(house: House, row: KeptFile) -> Path:
    """The content as it came, for staff, and for whoever sent a paper. Raises NotKnown where the data folder has lost it."""
    path = file_store.path_of(house.settings.files_path, row.digest)
    if not path.exists():
        raise NotKnown("this file is not in the data folder; restore `files/` from the backup")
    return path


# -- what a stop left over


async def sweep(house: House) -> int:
    """Remove content that no record names and that was put on the disk over a day ago. Returns how many files that were.

    Nobody can keep such a file meanwhile: what is looked up and removed here is so in one transaction that shuts out every other writer.
    """
    files, before = house.settings.files_path, house.now() - _SWEPT_AFTER
    swept = await asyncio.to_thread(file_store.remove_incoming, files, before)
    old = set(await asyncio.to_thread(lambda: list(file_store.older_than(files, before))))
    return swept + await _remove_unnamed(house, old, before)


async def remove_unnamed(house: House, digests: Collection[str]) -> int:
    """Remove content that no record names any more, as after the record that did was destroyed. Returns how many files that were.

    What another record names stays. Whoever is sending the very same content at this moment is told to send it again (`keep`). Where this
    is cut off, `sweep` does the rest.
    """
    return await _remove_unnamed(house, digests, house.now() + timedelta(seconds=1))


async def _remove_unnamed(house: House, digests: Collection[str], before: datetime) -> int:
    """Remove what no record names of this content, unless it was put there since `before`: then somebody is about to keep it."""
    files, ordered = house.settings.files_path, sorted(digests)
    removed = 0
    for start in range(0, len(ordered), _SWEPT_AT_ONCE):
        some = ordered[start : start + _SWEPT_AT_ONCE]
        async with transaction(house, "spillclock") as tx:
            if not house.settings.is_embedded:
                await tx.session.execute(text("LOCK TABLE kept_file IN SHARE ROW EXCLUSIVE MODE"))
            known = set((await tx.session.execute(select(col(KeptFile.digest)).where(col(KeptFile.digest).in_(some)))).scalars())
            gone = [digest for digest in some if digest not in known]
            removed += sum([await asyncio.to_thread(file_store.remove, files, digest, before) for digest in gone])
    return removed
