"""Reports that look automatic: kept like every other, but nobody is alerted by each of them, and no clock runs until it is judged.

A person judges: one message in a quarter of an hour tells the duty officers that reports wait, however many there are. What nobody has
judged within an hour is let go by itself and alerts as usual, one report a quarter of an hour: a flood wakes nobody more often than that,
and a real report among it is never lost. How it is let go stands in `intake.release`, how a person judges in `judging`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select, update
from sqlmodel import col

from service import outbox
from service.city_texts import own_texts
from service.codes import new_code
from service.events import ReportHeld, ReportReceived, ReportReleased, SpillEvent
from service.outbox import PATIENCE, Promise
from service.parties import Person, people_for_triage
from service.tables import EventRow, MessageRow, Spill
from service.transaction import Recorded, Transaction
from service.wording import Words, held

# Why a report is held.
TRAP = "a field that people do not see was filled in"
UNPROVEN = "more reports from one sender than is usual, without a proof that a browser sent this one"
# How a flag begins that keeps a report from the public.
SUSPICIOUS = "suspicious: "
PLACE = "/staff/held"
_STEP = "held"
_RELEASED_AFTER = timedelta(hours=1)
_APART = timedelta(minutes=15)


def doubts_of(history: Sequence[tuple[EventRow, SpillEvent]]) -> list[str]:
    """Why a report is to be held, by what is on record of it; nothing for one that was let go, or gave no reason."""
    received = history[0][1] if history else None
    if not isinstance(received, ReportReceived) or any(isinstance(event, ReportReleased) for _, event in history):
        return []
    return list(received.flags)


async def hold(tx: Transaction, spill: Spill, doubts: Sequence[str]) -> None:
    """Hold a report until it is judged, or its turn has come to be let go by itself."""
    until = await _let_go_at(tx)
    spill.held_at, spill.assess_at = tx.now, until
    await tx.record(spill, ReportHeld(doubts=list(doubts), until=until.isoformat()))


async def _let_go_at(tx: Transaction) -> datetime:
    last: datetime | None = await tx.session.scalar(select(func.max(col(Spill.assess_at))).where(col(Spill.held_at).is_not(None)))
    soonest = tx.now + _RELEASED_AFTER
    return soonest if last is None else max(soonest, last + _APART)


async def tell_a_person(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a report that is held: whoever looks at reports is told that some wait, at once or when it is time again."""
    event, spill = recorded.event, recorded.spill
    if not isinstance(event, ReportHeld):
        return
    for person in await people_for_triage(tx, spill):
        for channel in person.addresses:
            at = await _told_next_at(tx, person, channel)
            if at is not None:
                await _promise(tx, spill, person, channel, at)
            else:
                await _count_anew(tx, person, channel)


async def _told_next_at(tx: Transaction, person: Person, channel: str) -> datetime | None:
    """When to tell an address: now, a quarter of an hour after the last time, or not at all where that is promised already."""
    mine = (col(MessageRow.step) == _STEP, col(MessageRow.channel) == channel, col(MessageRow.address) == person.addresses[channel])
    # When it was to go out: what is cancelled told nobody.
    told = select(func.max(col(MessageRow.give_up_at))).where(*mine, col(MessageRow.state) != "cancelled")
    last: datetime | None = await tx.session.scalar(told)
    if last is None:
        return tx.now
    following = last - PATIENCE + _APART
    return None if following - _APART > tx.now else max(following, tx.now)


async def _promise(tx: Transaction, spill: Spill, person: Person, channel: str, at: datetime) -> None:
    code = await new_code(tx, channel, person.addresses[channel])
    words = await _words(tx, spill, person.language, code)
    about = Promise(spill, None, _STEP, "reports that look automatic wait for a person", f"{_STEP}:{spill.id}")
    await outbox.promise(tx, about, person, channel, words, code, at)


async def _count_anew(tx: Transaction, person: Person, channel: str) -> None:
    """Let the message that still waits for its turn say how many reports wait by now."""
    mine = (col(MessageRow.step) == _STEP, col(MessageRow.channel) == channel, col(MessageRow.address) == person.addresses[channel])
    query = select(MessageRow, Spill).join(Spill, col(Spill.id) == col(MessageRow.spill_id))
    for row, spill in await tx.session.execute(query.where(*mine, col(MessageRow.state) == "waiting").with_for_update(of=MessageRow)):
        words = await _words(tx, spill, row.language, row.code)
        row.subject, row.text, row.html = words.subject, words.body(channel), words.html if channel == "email" else ""


async def _words(tx: Transaction, spill: Spill, language: str, code: str) -> Words:
    link = f"{tx.house.settings.public_url}{PLACE}"
    return held(spill, await how_many(tx), link, language, code, await own_texts(tx, spill.city))


async def end_holding(tx: Transaction, spill: Spill, *, is_real: bool) -> None:
    """Note that a report was judged, and take back what would still tell that reports wait where none does."""
    spill.held_at, spill.assess_at = (None, spill.assess_at) if is_real else (spill.held_at, None)
    await tx.session.flush()
    if not await how_many(tx):
        said = update(MessageRow).where(col(MessageRow.step) == _STEP, col(MessageRow.state) == "waiting")
        await tx.session.execute(
            said.values(state="cancelled", queued=False, next_at=None), execution_options={"synchronize_session": False}
        )


def is_held(spill: Spill) -> bool:
    """Whether a report waits to be judged."""
    return spill.held_at is not None and spill.assess_at is not None


async def waiting(tx: Transaction, limit: int, offset: int = 0) -> list[Spill]:
    """The reports that wait to be judged, the oldest first."""
    chosen = select(Spill).where(col(Spill.held_at).is_not(None), col(Spill.assess_at).is_not(None))
    return list((await tx.session.execute(chosen.order_by(col(Spill.held_at), col(Spill.id)).limit(limit).offset(offset))).scalars())


async def how_many(tx: Transaction) -> int:
    """How many reports wait to be judged."""
    # Compared, and not "is not null": only that is looked up in the index of the column by both databases.
    chosen = select(func.count()).select_from(Spill).where(col(Spill.held_at) <= tx.now, col(Spill.assess_at).is_not(None))
    return await tx.session.scalar(chosen) or 0
