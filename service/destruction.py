"""Destroying the record of a spill whose time of keeping is over: what would go, doing it, and the certificate that says it was done.

It is never done by the program by itself: a person asks for it, with a reason, after they were told what would go. What tells of people
goes, wherever it is: in events, messages, reports, files, and what is drawn from them. What stays is what the law counts by: clocks, acts,
amounts, dates, digests, and the chain of the record, which covers what went (service/destroying.py). It is one transaction for a spill
with the reports merged into it; their files are removed from the disk after it, and by the sweep of files where that was cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Delete,
    Select,
    String,
    Text,
    Update,
    and_,
    case,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlmodel import SQLModel, col

from deadlines import as_z
from notifiers import blank
from service import board, kept_files, public_record, spill_search, staff_log
from service.destroying import RETENTION, destroy_sealed, empty_log
from service.door_tables import ForwardedSpill
from service.errors import BadInput, Conflict
from service.events import RecordDestroyed
from service.personal import REMOVED
from service.retention import LONGEST_REASON, Keeper, Kept, kept_until
from service.spills import stated
from service.tables import (
    Account,
    Advisory,
    Attempt,
    Contact,
    DeliveryReceipt,
    DischargerLink,
    EventRow,
    FollowUp,
    IdempotencyKey,
    KeptFile,
    LegalHold,
    MessageRow,
    Obligation,
    Reply,
    Spill,
    Subscription,
    SubscriptionItem,
    Suppression,
)
from service.transaction import House, Transaction, transaction

# Everything that goes, in the order in which it is told: what it is called in a certificate, and in words.
KINDS: Mapping[str, str] = {
    "sealed": "sealed parts of events: names, addresses, free words",
    "fields": "what the spill itself holds: description, place, reporter, discharger, oddities, who was in charge",
    "messages": "texts and addresses of messages",
    "attempts": "what providers said of tries at sending, and of what arrived",
    "replies": "replies, with their senders",
    "reports": "contents of reports filed, and who filed them",
    "drafts": "drafts of reports",
    "links": "names and addresses on private links",
    "advisories": "words of advisories, and the middle of their circles",
    "reasons": "reasons of waivers, and of legal holds that were lifted",
    "suppressions": "addresses that messages of it bounced from",
    "news": "what subscribers were to be told",
    "files": "photos and papers, with their names, senders and camera notes",
    "contents": "files on the disk that no other record keeps",
    "words": "words that it is found by",
}


class StillKept(Conflict):
    """Something keeps the record: nothing was destroyed."""

    title = "The record is kept"

    def __init__(self, spill: Spill, keepers: Sequence[Keeper]) -> None:
        super().__init__(f"the record of {spill.reference} is kept", [in_words(one) for one in keepers])


def in_words(one: Keeper) -> str:
    """What keeps a record, in a line: of which report, what, by which law, and until when (UTC)."""
    law = f" ({one.citation})" if one.citation else ""
    owed = f", owed by the {one.owed_by}" if one.owed_by else ""
    return f"{one.of}: {one.says}{law}{owed}; " + (f"until {as_z(one.until)}" if one.until else "until that is over")


@dataclass(frozen=True, slots=True)
class Going:
    """What would go of one report: how many of each of KINDS."""

    spill: Spill
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Destroyed:
    """What went: of each report its counts, and the digests of files that no record names any more."""

    going: Sequence[Going]
    digests: Collection[str]


# -- what goes, table by table


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows that go, or of which something goes: the one of KINDS, which rows, and what becomes of them (None: they are removed)."""

    kind: str
    table: type[SQLModel]
    which: ColumnElement[bool]
    becomes: Mapping[str, Any] | None = None

    def counted(self) -> Select[int]:
        return select(func.count()).select_from(self.table).where(self.which)

    def done(self) -> Update | Delete:
        if self.becomes is None:
            return delete(self.table).where(self.which)
        return update(self.table).where(self.which).values(**self.becomes)


def _holds_anything(*columns: Any) -> ColumnElement[bool]:
    """Whether any of these columns holds a text or an object; JSON is compared as text, as both databases write an empty one."""
    return or_(*(cast(column, Text).not_in(("", "{}", "[]", "null", REMOVED)) for column in columns))


def _parts(spill_id: int, now: datetime) -> list[_Part]:
    """Everything of a report that lies in tables of its own, in an order in which nothing that is asked for is gone already."""
    return [
        *_of_messages(spill_id, now),
        *_of_papers(spill_id, now),
        _Part("news", SubscriptionItem, col(SubscriptionItem.spill_id) == spill_id),
    ]


def _is_about(spill_id: int) -> ColumnElement[bool]:
    """Messages that tell of a report. A digest for subscribers tells of it among other spills: its words go as a whole."""
    digests = select(col(SubscriptionItem.message_id)).where(
        col(SubscriptionItem.spill_id) == spill_id, col(SubscriptionItem.message_id).is_not(None)
    )
    return or_(col(MessageRow.spill_id) == spill_id, col(MessageRow.id).in_(digests))


def _of_messages(spill_id: int, now: datetime) -> list[_Part]:
    mine = _is_about(spill_id)
    messages = select(col(MessageRow.id)).where(mine)
    told = (MessageRow.address, MessageRow.subject, MessageRow.text, MessageRow.html, MessageRow.reason)
    answered = or_(col(Reply.spill_id) == spill_id, col(Reply.message_id).in_(messages))
    # Who wants no messages is still sent none. What bounced is forgotten, unless it is an address that we still have a use for.
    known = (select(col(Contact.email)), select(col(Contact.phone)), select(col(Account.email)), select(col(Subscription.address)))
    of_mine = col(Suppression.message_id).in_(messages)
    unknown = (col(Suppression.address).not_in(addresses) for addresses in known)
    bounced = and_(of_mine, col(Suppression.reason) == "bounced", col(Suppression.address) != "", *unknown)
    lifted = {
        "lifted_at": func.coalesce(col(Suppression.lifted_at), now),
        "lifted_by": func.coalesce(col(Suppression.lifted_by), "spillclock"),
    }
    tries, receipts = col(Attempt.message_id).in_(messages), col(DeliveryReceipt.message_id).in_(messages)
    return [
        _Part("attempts", Attempt, tries & _holds_anything(Attempt.detail), {"detail": "", "provider_id": None}),
        _Part("attempts", DeliveryReceipt, receipts & _holds_anything(DeliveryReceipt.detail), {"detail": ""}),
        _Part(
            "replies", Reply, answered & _holds_anything(Reply.sender, Reply.text, Reply.answer),
            {"sender": "", "text": REMOVED, "answer": "", "once": literal("gone:") + cast(col(Reply.id), String)},
        ),
        _Part("suppressions", Suppression, bounced, {"address": "", "detail": "", **lifted}),
        _Part("suppressions", Suppression, of_mine & ~bounced & _holds_anything(Suppression.detail), {"detail": ""}),
        _Part(
            "messages", MessageRow, mine & (_holds_anything(*told) | (col(MessageRow.person) != REMOVED)),
            {
                "once": col(MessageRow.id), "person": REMOVED, "address": "", "subject": "", "text": "", "html": "", "reason": "",
                "code": "", "queued": False, "next_at": None, "silent_until": None, "subscription_id": None, "state": _unsent(),
            },
        ),
    ]  # fmt: skip


def _of_papers(spill_id: int, now: datetime) -> list[_Part]:
    obligations = select(col(Obligation.id)).where(col(Obligation.spill_id) == spill_id)
    reports = col(FollowUp.obligation_id).in_(obligations)
    written = (FollowUp.content, FollowUp.by, FollowUp.title, FollowUp.reason, FollowUp.signers)
    hold = (col(LegalHold.spill_id) == spill_id) & _holds_anything(LegalHold.reason, LegalHold.lifted_why)
    return [
        _Part("drafts", FollowUp, reports & (col(FollowUp.state) == "draft")),
        _Part(
            "reports", FollowUp, reports & (col(FollowUp.state) != "draft") & _holds_anything(*written),
            {"content": {}, "by": "", "title": "", "saved_by": "", "reason": "", "writers": {}, "signers": {}},
        ),
        _Part(
            "links", DischargerLink, (col(DischargerLink.spill_id) == spill_id) & (col(DischargerLink.name) != REMOVED),
            {"name": REMOVED, "email": "", "phone": "", "ended_at": func.coalesce(col(DischargerLink.ended_at), now)},
        ),
        _Part("reasons", Obligation, (col(Obligation.spill_id) == spill_id) & _holds_anything(Obligation.reason), {"reason": REMOVED}),
        _Part("reasons", LegalHold, hold, {"reason": REMOVED, "lifted_why": REMOVED}),
        _Part(
            "messages", ForwardedSpill, (col(ForwardedSpill.spill_id) == spill_id) & _holds_anything(ForwardedSpill.words),
            {"words": REMOVED, "made_by": REMOVED, "notes": "", "problem": "", "next_at": None},
        ),
        _Part("files", KeptFile, col(KeptFile.spill_id) == spill_id),
    ]  # fmt: skip


def _unsent() -> Any:
    """What still waited to be sent is sent to nobody."""
    return case((col(MessageRow.state).in_(("waiting", "sending")), "cancelled"), else_=col(MessageRow.state))


_FIELDS = ("description", "address", "lat", "reporter", "discharger", "flags", "officer")
_EMPTY: Mapping[str, Any] = {
    "description": REMOVED, "address": "", "lat": None, "lon": None, "reporter": {}, "discharger": {}, "flags": [], "officer": "",
    "assess_at": None, "forget_at": None,
}  # fmt: skip


def _fields_of(spill: Spill) -> int:
    return sum(getattr(spill, name) not in ("", REMOVED, None, {}, []) for name in _FIELDS)


async def would_go(tx: Transaction, kept: Kept) -> list[Going]:
    """What would be destroyed of a record, report by report: how many of each of KINDS. Nothing is changed."""
    return [Going(one, await _counts(tx, one)) for one in (kept.spill, *kept.members)]


async def _counts(tx: Transaction, spill: Spill) -> dict[str, int]:
    number = spill.id or 0
    counts = dict.fromkeys(KINDS, 0)
    sealed = select(func.count()).select_from(EventRow).where(col(EventRow.spill_id) == number, col(EventRow.sealed).is_not(None))
    counts["sealed"] = await tx.session.scalar(sealed) or 0
    counts["fields"] = _fields_of(spill)
    for part in _parts(number, tx.now):
        counts[part.kind] += await tx.session.scalar(part.counted()) or 0
    counts["advisories"] = len(await _advisories(tx, number))
    counts["contents"] = len(await _contents(tx, number))
    counts["words"] = await _words(tx, number)
    return counts


async def _advisories(tx: Transaction, spill_id: int) -> list[Advisory]:
    rows = (await tx.session.execute(select(Advisory).where(col(Advisory.spill_id) == spill_id))).scalars()
    return [row for row in rows if set(row.words.values()) != {REMOVED}]


async def _contents(tx: Transaction, spill_id: int) -> set[str]:
    """The digests of files that only this report keeps."""
    others = select(col(KeptFile.digest)).where(col(KeptFile.spill_id) != spill_id)
    mine = select(col(KeptFile.digest)).where(col(KeptFile.spill_id) == spill_id, col(KeptFile.digest).not_in(others))
    return set((await tx.session.execute(mine)).scalars())


async def _words(tx: Transaction, spill_id: int) -> int:
    found: str | None = await tx.session.scalar(text("SELECT words FROM spill_words WHERE spill_id = :spill"), {"spill": spill_id})
    return len((found or "").split())


# -- doing it


async def destroy(tx: Transaction, spill: Spill, reason: str) -> Destroyed:
    """Destroy the record of a spill, and of the reports merged into it, with a certificate for each. Who may is for the caller to check.

    The caller removes the files named in the answer once it is committed (`finish`). Raises BadInput without a reason; Conflict for a
    report that was merged into another, and for a record that was destroyed; StillKept where anything keeps it.
    """
    said = stated(reason)
    if not said or len(said) > LONGEST_REASON:
        right = "who decided it, and by which schedule or resolution"
        raise BadInput("a reason is needed", [f"reason: {'too long' if said else 'missing'}; right would be: {right}"])
    await tx.alone_with("merging")
    if spill.merged_into is not None:
        raise Conflict(f"{spill.reference} was merged into another spill, and goes with the record of that one")
    if spill.destroyed_at is not None:
        raise Conflict(f"the record of {spill.reference} was destroyed on {spill.destroyed_at:%Y-%m-%d}")
    kept = await kept_until(tx, spill)
    if still := kept.still(tx.now):
        raise StillKept(spill, still)
    if tx.house.settings.is_embedded:  # else the freed pages of the file would still hold it
        await tx.session.execute(text("PRAGMA secure_delete = ON"))
    digests: set[str] = set()
    going = []
    for one in (spill, *[await tx.spill(member.reference) for member in kept.members]):
        digests |= await _contents(tx, one.id or 0)
        counts = await _take(tx, one)
        going.append(Going(one, counts))
        head = spill.reference if one is not spill else ""
        await tx.record(one, RecordDestroyed(counts=counts, law=_law(kept), allowed_from=_allowed(kept), reason=said, head=head))
        await staff_log.note(tx, "record:destroyed", city=one.city, spill=one.reference, head=head, allowed_from=_allowed(kept))
    return Destroyed(going, digests)


async def _take(tx: Transaction, spill: Spill) -> dict[str, int]:
    """Take everything of a report, and return how many of each kind it was."""
    number = spill.id or 0
    counts = dict.fromkeys(KINDS, 0)
    counts["fields"], counts["words"], counts["contents"] = _fields_of(spill), await _words(tx, number), len(await _contents(tx, number))
    events = (await tx.session.execute(select(col(EventRow.id)).where(col(EventRow.spill_id) == number))).scalars().all()
    counts["sealed"] = await destroy_sealed(tx, spill, [one or 0 for one in events], RETENTION, "its time of keeping is over")
    await _blank_outbox(tx, number)
    for part in _parts(number, tx.now):
        done = await tx.session.execute(part.done(), execution_options={"synchronize_session": False})
        counts[part.kind] += done.rowcount  # type: ignore[attr-defined]
    for row in await _advisories(tx, number):
        row.words, row.area = dict.fromkeys(row.words, REMOVED), {"city": row.area.get("city", spill.city)}
        counts["advisories"] += 1
    keys = delete(IdempotencyKey).where(col(IdempotencyKey.spill_id) == number)
    await tx.session.execute(keys, execution_options={"synchronize_session": False})
    for name, value in _EMPTY.items():
        setattr(spill, name, value)
    spill.destroyed_at, spill.respond_version = tx.now, spill.respond_version + 1  # the link that is nobody's in particular ends, too
    await tx.session.flush()
    await spill_search.forget(tx, number)
    await public_record.draw(tx, spill)
    await board.draw(tx, [number])
    return counts


async def _blank_outbox(tx: Transaction, spill_id: int) -> None:
    """Take the messages of a report out of the file that stands in for a provider."""
    keys = set((await tx.session.execute(select(col(MessageRow.id)).where(_is_about(spill_id)))).scalars())
    await asyncio.to_thread(blank, tx.house.settings.outbox_path, keys)


def _law(kept: Kept) -> list[dict[str, str]]:
    """What had kept a record until its time was over."""
    return [
        {"why": one.why, "duty": one.duty, "citation": one.citation, "until": as_z(one.until) or ""} for one in kept.keepers
    ]  # fmt: skip


def _allowed(kept: Kept) -> str:
    return as_z(kept.until) or ""


async def finish(house: House, destroyed: Destroyed) -> int:
    """Once it is committed: remove from the disk what no record names any more. Returns how many files that were.

    Cut off, it is done by the sweep of files.
    """
    removed = await kept_files.remove_unnamed(house, destroyed.digests)
    await empty_log(house)
    return removed


async def destroy_record(house: House, actor: str, reference: str, reason: str, check: Callable[[Spill], None]) -> Destroyed:
    """Destroy a record in a transaction of its own, and remove its files. `check` raises where the actor may not. Raises as `destroy`."""
    async with transaction(house, actor) as tx:
        spill = await tx.spill(reference)
        check(spill)
        done = await destroy(tx, spill, reason)
    await finish(house, done)
    return done


@dataclass(frozen=True, slots=True)
class Certificate:
    """That a record was destroyed: when and by whom, as which event, and what the event says."""

    spill: Spill
    event: EventRow
    says: RecordDestroyed


async def certificate_of(tx: Transaction, spill: Spill) -> Certificate | None:
    """The certificate of a record; None where it was not destroyed."""
    found = [(row, event) for row, event in await tx.history(spill) if isinstance(event, RecordDestroyed)]
    return Certificate(spill, *found[-1]) if found else None
