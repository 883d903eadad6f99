"""The evidence bundle: a zip with the paper, the raw files beside it, a manifest of SHA-256 and a script that checks it without us.

    SP-2026-00001/
        record.pdf          the paper (service/case_file/evidence.py); a long one goes on in record-2.pdf ...
        events.jsonl        every event, one JSON object a line, in the order it was recorded
        chain.jsonl         the chain of the record, from the first of its records on, as `spillclock audit export` has it
        messages.jsonl      every message with its tries and what was heard of it
        photos/, papers/    files as they came, under names of ours; in a bundle without the reporter their photos are the shown copies
        README.txt, check.py, check_chain.py, manifest.sha256

It is sent while it is read: of the files no more than a piece is ever in memory. The same record at the same time gives the same bytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, cast

from sqlalchemy import select
from sqlmodel import col
from starlette.responses import StreamingResponse

from deadlines import as_z
from service import audit, file_store, papers
from service.access import Staff, spill_for
from service.case_file.evidence import Case, Enclosed, identity_told, volumes_of
from service.case_file.record import read_record
from service.chain import digest_of
from service.errors import BadInput, NotAllowed
from service.events import FileKept
from service.kept_files import PHOTO, SUFFIXES, kept_files
from service.pages.deliveries import Delivery, deliveries_of
from service.staff_log import note
from service.tables import Chain, ChainRecord, EventRow, KeptFile, Spill
from service.transaction import House, Transaction, reading, transaction
from service.withholding import MARK, Withheld, withheld_of, without_secrets

WHOLE, WITHHELD = "whole", "withheld"
_PIECE = 256 * 1024
# Records of a chain in a bundle, with those of other spills in between: 15 MB.
LONGEST_CHAIN = 50_000
_OF_REPORTERS = "reporter of "
_REPORTER = "reporter"


@dataclass(frozen=True)
class Member:
    """A file of the bundle: its path in it, what it is, its size and SHA-256, and its content in memory or on the disk."""

    path: str
    says: str
    size: int
    sha256: str
    content: bytes | Path

    def read(self) -> Iterator[bytes]:
        """Its content, a piece at a time. Raises OSError where the disk does not give it."""
        if isinstance(self.content, bytes):
            yield self.content
            return
        with self.content.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


@dataclass(frozen=True)
class Bundle:
    """Everything that is in a bundle but the manifest. `made_at` is the moment of the record."""

    reference: str
    identity: str
    made_at: datetime
    members: tuple[Member, ...]

    @property
    def name(self) -> str:
        """The name of the file that it is sent as."""
        return f"{self.reference}-evidence-{self.identity}.zip"

    @cached_property
    def manifest(self) -> bytes:
        """One line a file, as sha256sum reads it."""
        return "".join(f"{member.sha256}  {member.path}\n" for member in self.members).encode()

    @property
    def checksum(self) -> str:
        """The SHA-256 of the manifest, in hex: whoever holds it can tell a bundle that was made anew from this one."""
        return hashlib.sha256(self.manifest).hexdigest()

    def zipped(self) -> Iterator[bytes]:
        """The zip, a piece at a time."""
        out = _Outgoing()
        made = self.made_at.astimezone(UTC).timetuple()[:6]
        manifest = _of_bytes("manifest.sha256", "the checksums of all files", self.manifest)
        with zipfile.ZipFile(cast(IO[bytes], out), "w") as archive:
            for member in (*self.members, manifest):
                info = zipfile.ZipInfo(f"{self.reference}/{member.path}", made)
                info.external_attr = 0o644 << 16
                packed = isinstance(member.content, bytes) and not member.path.endswith(".pdf")
                info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
                with archive.open(info, "w") as file:
                    for piece in member.read():
                        file.write(piece)
                        yield from out.taken()
                yield from out.taken()
        yield from out.taken()


class _Outgoing:
    """What a zip is written into: it keeps nothing but what was not taken yet, and cannot go back."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """There is nothing behind it."""

    def taken(self) -> Iterable[bytes]:
        """What was written since it was last asked."""
        pieces, self._pieces = self._pieces, []
        return pieces


def sent(bundle: Bundle) -> StreamingResponse:
    """The answer that sends a bundle, with the checksum of its manifest."""
    headers = {
        "Content-Disposition": f'attachment; filename="{bundle.name}"', "Cache-Control": "no-store",
        "X-Manifest-SHA256": bundle.checksum,
    }  # fmt: skip
    return StreamingResponse(bundle.zipped(), media_type="application/zip", headers=headers)


# -- making one


async def take_bundle(house: House, staff: Staff, reference: str, identity: str = "") -> Bundle:
    """Make the bundle of a spill for a member of staff, and note in the log that they took it, with the checksum of its manifest.

    `identity`: "whole" with who reported it in confidence, for managers and administrators; "withheld" without; empty: what they may have.
    Raises NotKnown, NotAllowed below officer and for a whole one below manager, BadInput for another word.
    """
    if identity not in (WHOLE, WITHHELD, ""):
        raise BadInput(
            "the bundle cannot be made so", [f"identity: {identity[:20]!r} is no choice; right would be: {WHOLE} or {WITHHELD}, or nothing"]
        )
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        may_whole = staff.may("manager", spill.city)
        if identity == WHOLE and not may_whole:
            raise NotAllowed("the bundle with who reported it in confidence needs the role manager; take it without")
        chosen = identity or (WHOLE if may_whole else WITHHELD)
        case = await read_case(tx, spill, whole=chosen == WHOLE)
    bundle = await bundle_of(case, chosen)
    async with transaction(house, staff.email) as tx:
        said: dict[str, Any] = {"spill": bundle.reference, "identity": chosen, "manifest": bundle.checksum, "files": len(bundle.members)}
        await note(tx, "evidence:taken", city=spill.city, **said)
    return bundle


async def read_case(tx: Transaction, spill: Spill, *, whole: bool) -> Case:
    """Everything of a spill, and of the reports merged into it, that goes into its evidence."""
    record = await read_record(tx, spill)
    chapters = [(spill, record.history), *[(one, await tx.history(one)) for one in record.members]]
    messages = [delivery for one, history in chapters for delivery in reversed(await deliveries_of(tx, one, history))]
    kept = [*record.files, *[file for one in record.members for file in await kept_files(tx, one)]]
    kept_out = Withheld() if whole else withheld_of(spill, record.members, [history for _, history in chapters])
    if kept_out.withholds:
        theirs = _of_reporters(chapters)
        addresses = [delivery.row.address for delivery in messages if delivery.row.role == _REPORTER]
        kept_out = replace(kept_out, words=[*(file.name for file in kept if file.id in theirs), *addresses])
    case = Case(record, chapters, await _places(tx, [one for one, _ in chapters]), messages, kept, kept_out, whole)
    lines, is_followed = await _chain(tx, case)
    return replace(case, chain=lines, is_followed=is_followed)


async def _places(tx: Transaction, spills: Iterable[Spill]) -> dict[int, ChainRecord]:
    """The places of all events of some spills, by the numbers of the events."""
    mine = select(col(EventRow.id)).where(col(EventRow.spill_id).in_([spill.id for spill in spills]))
    found = (await tx.session.execute(select(ChainRecord).where(col(ChainRecord.event_id).in_(mine)))).scalars()
    return {place.event_id: place for place in found}


async def _chain(tx: Transaction, case: Case) -> tuple[Sequence[bytes], bool]:
    """The chains from the first record of this case to their ends, or to its last where that is long: of other spills the digests alone.

    Where the reporter is kept out, sealed parts stay sealed: what is open of a record is enough for its hash. One whose open part tells of
    them has its digest in place of its text. Where even so there is too much in between, the records of the case alone, and
    False: nobody can follow those.
    """
    spans: dict[str, tuple[int, int]] = {}
    for place in case.places.values():
        first, last = spans.get(place.chain, (place.number, place.number))
        spans[place.chain] = (min(first, place.number), max(last, place.number))
    ends = {chain.name: chain.number for chain in (await tx.session.execute(select(Chain).where(col(Chain.name).in_(spans)))).scalars()}
    to_the_end = {name: (first, ends.get(name, last)) for name, (first, last) in spans.items()}
    within = to_the_end if _many(to_the_end) <= LONGEST_CHAIN else spans
    mine = {(place.chain, place.number) for place in case.places.values()}
    is_followed = _many(within) <= LONGEST_CHAIN
    found: list[bytes] = []
    if is_followed:
        async for one in audit.records(tx, within=within, with_sealed=case.is_whole):
            found.append(_line(_chained(case, one, is_mine=(one["chain"], one["number"]) in mine)))
        return found, True
    for chain, number in sorted(mine):
        async for one in audit.records(tx, within={chain: (number, number)}, with_sealed=case.is_whole):
            found.append(_line(_chained(case, one, is_mine=True)))
    return found, False


def _many(spans: Mapping[str, tuple[int, int]]) -> int:
    return sum(last - first + 1 for first, last in spans.values())


def _chained(case: Case, one: Mapping[str, Any], *, is_mine: bool) -> Mapping[str, Any]:
    """A record of a chain as this bundle may show it: of another spill its digest."""
    text = one["record"]
    place = {key: one[key] for key in ("chain", "number", "previous", "hash")}
    if not is_mine or case.kept_out.text(text) != text:
        return {**place, "digest": digest_of(text)}
    sealed = one.get("sealed")
    if sealed is None or without_secrets(sealed) != sealed:
        return {**place, "record": text}
    return {**place, "record": text, "sealed": sealed, "salt": one["salt"]}


def _of_reporters(chapters: Iterable[tuple[Spill, Any]]) -> set[int]:
    """The numbers of the files that reporters sent."""
    return {
        event.file
        for _, history in chapters
        for row, event in history
        if isinstance(event, FileKept) and row.actor.startswith(_OF_REPORTERS)
    }


async def bundle_of(case: Case, identity: str) -> Bundle:
    """The bundle of a case. What takes long is done off the event loop, and long papers are drawn one at a time."""
    case, beside, volumes = await asyncio.to_thread(_prepared, case)
    drawn = []
    for volume in volumes:
        name = "record.pdf" if volume.number == 1 else f"record-{volume.number}.pdf"
        async with case.record.house.drawing:
            pdf = await papers.render_apart(volume, "en")
        drawn.append(_of_bytes(name, f"the paper, volume {volume.number} of {volume.of}", pdf))
    here = files("service")
    aids = [
        _of_bytes("README.txt", "what is here", _readme(case)),
        _of_bytes("check.py", "the script that checks the files", (here / "case_file" / "bundle_check.txt").read_bytes()),
        _of_bytes("check_chain.py", "the script that checks the chain", (here / "papers" / "check_chain.py").read_bytes()),
    ]
    return Bundle(case.record.spill.reference, identity, case.record.now, (*aids, *drawn, *beside))


def _prepared(case: Case) -> tuple[Case, Sequence[Member], Sequence[papers.Volume]]:
    """The case with what stands beside its paper, those files, and the paper as it is to be drawn."""
    raw = [
        _of_bytes("events.jsonl", "every event as it was recorded, one JSON object a line", _lines(_events(case))),
        _of_bytes("chain.jsonl", "the chain of the record, one JSON object a line", b"".join(case.chain)),
        _of_bytes("messages.jsonl", "every message with its tries and receipts, one JSON object a line", _lines(_messages(case))),
    ]
    stored, lost = _stored(case)
    beside = [*raw, *stored]
    case = replace(case, enclosed=[Enclosed(one.path, one.says, one.size, one.sha256) for one in beside], lost=lost)
    return case, beside, volumes_of(case)


def _of_bytes(path: str, says: str, content: bytes) -> Member:
    return Member(path, says, len(content), hashlib.sha256(content).hexdigest(), content)


def _readme(case: Case) -> bytes:
    return (
        f"Evidence of {case.record.spill.reference}, as it stood on {as_z(case.record.now)}\n\n"
        f"{identity_told(case)}\n\n"
        "record.pdf      the record for people to read; a long one goes on in record-2.pdf and so on\n"
        "events.jsonl    every event as it was recorded, one JSON object a line, times in UTC\n"
        "chain.jsonl     the chain of the city's record, from the first record of this spill on; of other spills digests\n"
        "messages.jsonl  every message with its tries and receipts, one JSON object a line\n"
        "photos/         photographs\n"
        "papers/         files that were filed with reports\n"
        "manifest.sha256 the SHA-256 of every file here but itself\n"
        "check.py        says whether anything was changed, left out or added: python3 check.py\n"
        f"check_chain.py  {_CHAIN_CHECKED if case.is_followed else _CHAIN_TOO_LONG}\n\n"
        "sha256sum -c manifest.sha256 checks the same. Whoever changes a file and the manifest, too, is found by the checksum of the\n"
        "manifest, which the city's log holds since the bundle was taken.\n"
    ).encode()


_CHAIN_CHECKED = "follows the chain, and tells the hash it ends with: python3 check_chain.py chain.jsonl part"
_CHAIN_TOO_LONG = "follows whole chains; this one is too long for a bundle: chain.jsonl holds the records of this spill alone"


# -- the raw files


def _lines(found: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(map(_line, found))


def _line(one: Mapping[str, Any]) -> bytes:
    return json.dumps(one, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass") + b"\n"


def _events(case: Case) -> Iterator[Mapping[str, Any]]:
    for spill, history in case.chapters:
        for row, _ in history:
            yield _event(case, spill, row)


def _event(case: Case, spill: Spill, row: EventRow) -> Mapping[str, Any]:
    """An event as it is stored."""
    told = {
        "event": row.id, "spill": spill.reference, "kind": row.kind, "payload": row.payload, "actor": row.actor,
        "happened_at": as_z(row.happened_at), "recorded_at": as_z(row.recorded_at),
    }  # fmt: skip
    found: dict[str, Any] = case.kept_out.value(told)
    if not case.kept_out.withholds:
        return found
    raw = found["payload"].get("raw") if isinstance(found["payload"], dict) else None
    if isinstance(raw, dict) and isinstance(raw.get("contact"), dict):
        raw["contact"] = {"privacy": raw["contact"].get("privacy"), "withheld": True}
    return found


def _messages(case: Case) -> Iterator[Mapping[str, Any]]:
    for delivery in case.messages:
        told = _message(delivery)
        yield case.kept_out.value(told)


def _message(delivery: Delivery) -> Mapping[str, Any]:
    row = delivery.row
    return {
        "message": row.id, "person": row.person, "role": row.role, "channel": row.channel, "address": row.address, "subject": row.subject,
        "text": row.text, "step": row.step, "reason": row.reason, "state": row.state, "receipt": row.receipt or None,
        "promised_at": as_z(row.promised_at),
        "tries": [
            {"number": one.number, "started_at": as_z(one.started_at), "ended_at": as_z(one.ended_at), "outcome": one.outcome,
             "provider_id": one.provider_id, "detail": one.detail, "may_be_double": one.may_be_double}
            for one, _ in delivery.tries
        ],
        "history": [{"at": as_z(one.at), "says": one.says} for one in delivery.history],
    }  # fmt: skip


def _stored(case: Case) -> tuple[list[Member], list[str]]:
    """The kept files as members, and what is on record of those whose content is no longer there."""
    folder = case.record.house.settings.files_path
    theirs = _of_reporters(case.chapters) if case.kept_out.withholds else set()
    found: list[Member] = []
    lost: list[str] = []
    for file in case.files:
        if file.id in theirs:
            copied = _copy(folder, file)
            if copied is None:
                lost.append(f"{file.purpose} {file.id} ({MARK}): no copy without what the camera noted could be made")
            else:
                found.append(copied)
            continue
        path = file_store.path_of(folder, file.digest)
        if path.exists():
            says = f"{file.purpose} {file.id}, {case.text(file.name)}"
            found.append(Member(_path(file, SUFFIXES.get(file.media_type, ".bin")), says, file.size, file.digest, path))
        else:
            lost.append(f"{file.purpose} {file.id}, {case.text(file.name)}, SHA-256 {file.digest}")
    return found, lost


def _path(file: KeptFile, suffix: str) -> str:
    """A name of ours: whatever its owner called the file stands in the paper, and never on anybody's disk."""
    return f"{'photos' if file.purpose == PHOTO else 'papers'}/{file.id:06d}{suffix}"


def _copy(folder: Path, file: KeptFile) -> Member | None:
    """The copy of a photo that may be shown; None where none could be drawn."""
    path = file_store.copy_of(folder, file.digest, small=False)
    if not file.is_shown or not path.exists():
        return None
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as opened:
        while piece := opened.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return Member(_path(file, ".jpg"), f"{file.purpose} {file.id}, a copy without what the camera noted", size, digest.hexdigest(), path)
