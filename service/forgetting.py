"""A reporter who wishes to be forgotten: who they are is destroyed at once, or as soon as no law keeps it. What happened stays.

What keeps it is narrower than what keeps the record: a clock of keeping that the city itself owes, the law of the state on records of
cities, a legal hold. The city's own policy keeps the record, and not who reported.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import String, case, cast, delete, func, literal, or_, select, text, update
from sqlmodel import col

from deadlines import as_z
from notifiers import blank
from service import file_store, kept_files, spill_search
from service.destroying import REQUEST, empty_log
from service.events import (
    AddressRestored,
    AddressSuppressed,
    DischargerNamed,
    FileKept,
    FilesLeftOut,
    FollowUpCertified,
    FollowUpFiled,
    ForgetAsked,
    LinkIssued,
    ReplyReceived,
    ReporterForgotten,
    ReportReceived,
)
from service.masking import masking, of_person, of_words
from service.personal import REMOVED
from service.redaction import mask_events, mask_rows
from service.retention import HOLD, LAW, UNREAD, Keeper, city_records_law, kept_until, years_after, zone_of
from service.tables import Attempt, DeliveryReceipt, EventRow, IdempotencyKey, KeptFile, MessageRow, Reply, Spill
from service.transaction import House, Transaction, reading, transaction

log = logging.getLogger(__name__)

REPORTER = "reporter"
# Who sent a file, as its record says it of a reporter.
_SENT_BY_REPORTER = "the reporter"
_WHY = "the reporter wished to be forgotten"
# Where nothing tells when it may be done, it is tried again after so long.
_TRY_AGAIN = timedelta(days=1)
_AT_ONCE = 20
# What somebody said as the party that spilled, and not as the reporter: it is kept, even where they are the same person.
_OF_OTHERS = (DischargerNamed.kind, LinkIssued.kind, FollowUpFiled.kind, FollowUpCertified.kind)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was destroyed: how many of each kind, and the digests of photos that were replaced by copies without camera notes."""

    counts: Mapping[str, int]
    digests: Sequence[str]


async def what_keeps(tx: Transaction, spill: Spill) -> list[Keeper]:
    """What keeps who reported a spill, the longest first; nothing where they can be forgotten at once."""
    kept = await kept_until(tx, spill)
    found = [one for one in kept.keepers if one.why in (HOLD, UNREAD) or (one.why == LAW and one.owed_by == "city")]
    if spill.city is None and not any(one.why == UNREAD for one in found):
        found.append(Keeper(spill.reference, UNREAD, "it is not known yet which city's law applies"))
    if law := city_records_law(tx, spill.city):
        citation, years = law
        until = years_after(spill.received_at, years, zone_of(tx, spill))
        found.append(Keeper(spill.reference, LAW, "No city destroys a record earlier", until, citation, owed_by="city"))
    return sorted((one for one in found if one.keeps(tx.now)), key=lambda one: (one.until is not None, -_moment(one)))


def _moment(one: Keeper) -> float:
    return one.until.timestamp() if one.until else 0.0


def is_known(spill: Spill) -> bool:
    """Whether anything is kept of who reported it."""
    return any(spill.reporter.get(key) for key in ("name", "email", "phone"))


async def ask(tx: Transaction, spill: Spill) -> Forgotten | None:
    """Put the reporter's wish on record, and do it at once where nothing keeps who they are. None: it has to wait, or was asked before.

    The caller finishes what is returned once it is committed (`finish`).
    """
    if spill.forget_asked_at is not None:
        return None
    keepers = await what_keeps(tx, spill)
    spill.forget_asked_at = tx.now
    kept_by = [{"why": one.why, "citation": one.citation, "until": as_z(one.until) or ""} for one in keepers]
    await tx.record(spill, ForgetAsked(kept_by=kept_by))
    if keepers:
        spill.forget_at = _tried_next(keepers, tx.now)
        return None
    return await forget(tx, spill)


def _tried_next(keepers: Sequence[Keeper], now: datetime) -> datetime:
    moments = [one.until for one in keepers if one.until is not None]
    return max(moments) + timedelta(seconds=1) if len(moments) == len(keepers) else now + _TRY_AGAIN


# -- doing it


async def forget(tx: Transaction, spill: Spill) -> Forgotten:
    """Destroy who reported a spill. That nothing keeps it is for the caller to know."""
    if tx.house.settings.is_embedded:  # else the freed pages of the file would still hold it
        await tx.session.execute(text("PRAGMA secure_delete = ON"))
    history = await tx.history(spill)
    people = [spill.reporter, *(_contact_of(event.raw) for _, event in history if isinstance(event, ReportReceived))]
    files = [row for row in await kept_files.kept_files(tx, spill) if row.sent_by == _SENT_BY_REPORTER]
    names = [row.name for row in files if row.name != _name_of(row)]
    addresses = {str(one.get(key)) for one in people for key in ("email", "phone") if one.get(key)}
    # What replies came from stands as the provider says it, in the messages that they answer.
    mine = col(MessageRow.spill_id) == spill.id, col(MessageRow.role) == REPORTER
    addresses |= set((await tx.session.execute(select(col(MessageRow.address)).where(*mine))).scalars()) - {""}
    patterns = [*of_words(names), *(one for person in people for one in of_person(person, parts=False)), *of_words(addresses)]
    mask = masking(patterns, REMOVED)
    messages = set((await tx.session.execute(select(col(MessageRow.id)).where(*mine))).scalars())
    counts = {"messages": await _take_messages(tx, spill, messages), "replies": await _take_replies(tx, messages, addresses)}
    counts["events"] = await mask_events(tx, spill, lambda row, fields: _without(row, fields, mask, messages, addresses), REQUEST, _WHY)
    digests = [digest for row in files if (digest := await _redrawn(tx, row))]
    counts["photos"] = len(files)
    spill.reporter, spill.forget_at = {}, None
    await mask_rows(tx, spill, mask)
    keys = delete(IdempotencyKey).where(col(IdempotencyKey.spill_id) == spill.id)
    await tx.session.execute(keys, execution_options={"synchronize_session": False})
    await tx.record(spill, ReporterForgotten(counts=counts))
    await spill_search.feed(tx, [spill.id or 0])
    await spill_search.settle(tx)
    return Forgotten(counts, digests)


def _contact_of(raw: Any) -> Mapping[str, Any]:
    contact = raw.get("contact") if isinstance(raw, Mapping) else None
    return contact if isinstance(contact, Mapping) else {}


def _without(row: EventRow, fields: Mapping[str, Any], mask: Any, messages: set[str], addresses: set[str]) -> dict[str, Any]:
    """The sealed fields of an event without who reported."""
    if row.kind in _OF_OTHERS:
        return dict(fields)
    left = dict(fields)
    if row.kind == ReportReceived.kind and isinstance(left.get("raw"), Mapping):
        left["raw"] = {key: value for key, value in left["raw"].items() if key != "contact"}
    elif row.kind == ReplyReceived.kind and (left.get("sender") in addresses or row.opened.get("message") in messages):
        left |= {"sender": "", "text": REMOVED}
    elif row.kind == FileKept.kind and left.get("by") == _SENT_BY_REPORTER:
        left |= {"name": f"{row.opened['purpose']}-{row.opened['file']}"}
        left.pop("place", None)
    elif row.kind == FilesLeftOut.kind and "files" in left:
        left["files"] = [["photo", why] for _, why in left["files"]]
    elif row.kind in (AddressSuppressed.kind, AddressRestored.kind) and left.get("address") in addresses:
        left |= {"address": "", "detail": ""} if row.kind == AddressSuppressed.kind else {"address": ""}
    return {name: mask(value) for name, value in left.items()}


async def _take_messages(tx: Transaction, spill: Spill, messages: set[str]) -> int:
    """Take texts and addresses of the messages to the reporter, and what was said of them on the way."""
    if not messages:
        return 0
    unsent = col(MessageRow.state).in_(("waiting", "sending"))
    emptied: dict[str, Any] = {
        "once": col(MessageRow.id), "address": "", "subject": "", "text": "", "html": "", "code": "", "queued": False, "next_at": None,
        "silent_until": None, "state": case((unsent, "cancelled"), else_=col(MessageRow.state)),
    }  # fmt: skip
    for statement in (
        update(MessageRow).where(col(MessageRow.id).in_(messages)).values(**emptied),
        update(Attempt).where(col(Attempt.message_id).in_(messages)).values(detail="", provider_id=None),
        update(DeliveryReceipt).where(col(DeliveryReceipt.message_id).in_(messages)).values(detail=""),
    ):
        await tx.session.execute(statement, execution_options={"synchronize_session": False})
    await asyncio.to_thread(blank, tx.house.settings.outbox_path, messages)
    return len(messages)


async def _take_replies(tx: Transaction, messages: set[str], addresses: set[str]) -> int:
    theirs = or_(col(Reply.message_id).in_(messages), func.lower(col(Reply.sender)).in_({one.lower() for one in addresses}))
    emptied = {"sender": "", "text": REMOVED, "answer": "", "once": literal("gone:") + cast(col(Reply.id), String)}
    done = await tx.session.execute(update(Reply).where(theirs).values(**emptied), execution_options={"synchronize_session": False})
    return int(done.rowcount)  # type: ignore[attr-defined]


def _name_of(row: KeptFile) -> str:
    return f"{row.purpose}-{row.id}"


async def _redrawn(tx: Transaction, row: KeptFile) -> str | None:
    """Let a photo of the reporter be the copy that was drawn of it, without camera notes; where none was, it goes. Returns what it was."""
    was, house = row.digest, tx.house
    copy = await asyncio.to_thread(file_store.copy_as_content, house.settings.files_path, was, house.now()) if row.is_shown else None
    if copy is None:
        await tx.session.delete(row)
        return was
    row.digest, row.size = copy
    row.name, row.media_type, row.sent_by = f"{_name_of(row)}.jpg", "image/jpeg", _SENT_BY_REPORTER
    row.lat = row.lon = None
    row.camera_time, row.shares_location = "", False
    return was if was != row.digest else None


async def finish(house: House, forgotten: Forgotten) -> None:
    """Once it is committed: remove photos with their camera notes from the disk. Cut off, it is done by the sweep of files."""
    await kept_files.remove_unnamed(house, forgotten.digests)
    await empty_log(house)


async def sweep(house: House) -> int:
    """Do what reporters wished as soon as nothing keeps who they are. Returns how many were forgotten."""
    async with reading(house) as tx:
        due = select(col(Spill.reference)).where(col(Spill.forget_at) <= tx.now).order_by(col(Spill.forget_at)).limit(_AT_ONCE)
        references = list((await tx.session.execute(due)).scalars())
    done = 0
    for reference in references:
        async with transaction(house, "spillclock") as tx:
            spill = await tx.spill(reference)
            if spill.forget_at is None or spill.forget_at > tx.now:
                continue
            if keepers := await what_keeps(tx, spill):
                spill.forget_at = _tried_next(keepers, tx.now)
                continue
            forgotten = await forget(tx, spill)
        await finish(house, forgotten)
        done += 1
    return done
