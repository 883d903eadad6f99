"""Finding spills by words: what people said, places, parties, references, and the words of everything that staff recorded.

Whatever is typed is searched for as words: each has to be there, or to begin one that is. There are no operators, so there is no query
that can be wrong. Capitals and accents make no difference. SQLite finds by an FTS5 table that triggers keep in step with `spill_words`,
PostgreSQL by an index over the same column; words are taken apart here, so that both find the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    SelectBase,
    and_,
    bindparam,
    column,
    false,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)
from sqlmodel import col

from service import events
from service.board_tables import BoardLine, SpillWords
from service.columns import table
from service.events import SpillEvent
from service.personal import rejoined
from service.tables import EventRow, Spill
from service.transaction import Transaction

# Migration 0010 makes the index under this name; the tables of FTS5 that go with it begin with it.
INDEX = "spill_words_index"
# What is typed beyond this is not searched for, and nobody types it. A word is compared by its beginning.
MOST_WORDS, LONGEST_WORD = 100, 40
# What is kept of one spill: the whole of any report that a person wrote, and an end to what a program can fill in.
_MOST_KEPT = 20_000
_REFERENCE = re.compile(r"sp-\d{4}-\d{5,9}", re.IGNORECASE)

Said = Callable[[Any], Iterable[Any]]


def _of(*names: str) -> Said:
    """The texts in these fields of an event."""
    return lambda event: [getattr(event, name) for name in names]


def _nothing(_: Any) -> Iterable[Any]:
    return ()


def _report(event: Any) -> Iterable[Any]:
    """A report without who sent it: what a reporter told in confidence is found by nobody."""
    raw = event.raw
    return [value for key, value in raw.items() if key != "contact"] if isinstance(raw, Mapping) else [raw]


def _masked(event: Any) -> Iterable[Any]:
    """Why something was destroyed, and the texts that are shown in its place; of a report without who sent it."""
    shown = [value for fields in event.instead.values() for value in fields.values()]
    said = [[part for key, part in value.items() if key != "contact"] if isinstance(value, Mapping) else value for value in shown]
    return [event.reason, *said]


def _amended(event: Any) -> Iterable[Any]:
    return [event.reason, *(value for before, after in event.changes.values() for value in (before, after))]


# Which words of which event a spill is found by. Who was told by which message is not among them: that is the staff, again and again.
SEARCHED: Mapping[type[SpillEvent], Said] = {
    events.ReportReceived: _report,
    events.ReportHeld: _nothing,
    events.ReportReleased: _of("reason"),
    events.FactsRecorded: _amended,
    events.PlaceMoved: _of("before", "after", "reason"),
    events.ActRecorded: _of("act", "note"),
    events.AssessmentFailed: _nothing,
    events.TriageAsked: _nothing,
    events.DischargerNamed: _of("name", "email", "phone"),
    events.ObligationOpened: _nothing,  # what the law says of one sewage spill it says of all
    events.ObligationMoved: _nothing,
    events.ObligationWithdrawn: _nothing,
    events.ObligationMet: _nothing,
    events.ObligationOverdue: _nothing,
    events.ObligationWaived: _of("reason"),
    events.ObligationAcknowledged: _nothing,
    events.FollowUpSaved: _nothing,  # a draft is its writer's own
    events.FollowUpFiled: _of("content", "by", "title", "reason", "attachments"),
    events.FollowUpCertified: _of("by", "title"),
    events.LinkIssued: _of("name", "email", "phone"),
    events.LinkSent: _nothing,
    events.LinkReplaced: _nothing,
    events.LinkEnded: _nothing,
    events.AdvisoryIssued: _of("words"),
    events.AdvisorySent: _nothing,
    events.ReporterAdded: _of("text"),
    events.ContactCorrected: _nothing,
    events.SaidToBeSame: _of("other"),
    events.CopyAsked: _nothing,
    events.ActionAsked: _nothing,
    events.ReporterAnswered: _of("words"),
    events.FileKept: _of("name", "by"),
    events.FilesLeftOut: _nothing,
    events.SpillClosed: _of("words"),
    events.SpillReopened: _of("words"),
    events.SpillMerged: _of("into", "reason"),
    events.DuplicateTaken: _of("other", "reason"),
    events.SpillUnmerged: _of("reason"),
    events.DuplicateGivenBack: _of("reason"),
    events.SpillSplit: _of("part", "reason"),
    events.SplitOff: _of("origin", "reason"),
    events.SpillForwarded: _of("where", "number", "words"),
    events.ForwardAnswered: _of("number", "notes"),
    events.SpillReferred: _of("agency", "contact", "sent", "because"),
    events.OfficerAssigned: _of("officer"),
    events.CauseFound: _of("cause", "note"),
    events.ParticularsRecorded: _amended,
    events.PersonalDestroyed: _masked,  # what was destroyed is then no longer found either, and what stands in its place is
    events.HoldPlaced: _of("reason"),
    events.HoldLifted: _of("reason"),
    events.RecordDestroyed: _of("reason"),
    events.ForgetAsked: _nothing,
    events.ReporterForgotten: _nothing,
    events.RungHeld: _nothing,
    events.AcknowledgementExpired: _nothing,
    events.RungReached: _nothing,
    events.RungRested: _nothing,
    events.RungReachedNobody: _nothing,
    events.MessageAccepted: _nothing,
    events.MessageGaveUp: _nothing,
    events.MessageArrived: _nothing,
    events.MessageFailed: _nothing,
    events.ChannelChanged: _nothing,
    events.ReplyReceived: _of("text"),
    events.EscalationAsked: _nothing,
    events.AddressSuppressed: _nothing,
    events.AddressRestored: _nothing,
}
_SEARCHED_KINDS = tuple(event.kind for event, said in SEARCHED.items() if said is not _nothing)

# Made once: to make a statement costs as much as to run it.
_WORDS, _EVENT, _SPILL = (table(one) for one in (SpillWords, EventRow, Spill))
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_FED = select(_WORDS).where(_WORDS.c.spill_id.in_(_IDS)).order_by(_WORDS.c.spill_id).with_for_update()
_ADD_WORDS = insert(_WORDS)
_CHANGE_WORDS = update(_WORDS).where(_WORDS.c.spill_id == bindparam("number"))
_ON_RECORD = (
    select(_SPILL.c.id, _SPILL.c.reference, _EVENT.c.id, _EVENT.c.kind, _EVENT.c.payload, _EVENT.c.sealed)
    .outerjoin(_EVENT, and_(_EVENT.c.spill_id == _SPILL.c.id, _EVENT.c.kind.in_(_SEARCHED_KINDS)))
    .where(_SPILL.c.id.in_(_IDS))
    .order_by(_EVENT.c.id)
)


def is_of_the_index(name: str | None) -> bool:
    """Whether a table or index of the database is one that words are found by, which the tables of the program do not name."""
    return (name or "").startswith(INDEX)


def is_searched(event: SpillEvent) -> bool:
    """Whether a spill is found by words of this event."""
    return event.kind in _SEARCHED_KINDS


def words_in(said: str) -> list[str]:
    """The words of a text as they are compared: letters and digits, without accents and capitals.

    >>> words_in("Año 2026: 100% of the café's \\"drain\\"")
    ['ano', '2026', '100', 'of', 'the', 'cafe', 's', 'drain']
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", said).casefold())
    kept = (" " if not letter.isalnum() else letter for letter in plain if not unicodedata.combining(letter))
    return [word[:LONGEST_WORD] for word in "".join(kept).split()]


def _texts(said: Any) -> Iterator[str]:
    """Every text in a value; numbers and what JSON calls things are no words of anybody."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping):
        for value in said.values():
            yield from _texts(value)
    elif isinstance(said, Iterable):
        for value in said:
            yield from _texts(value)


def words_of(event: SpillEvent) -> set[str]:
    """The words of an event that its spill is found by."""
    return {word for said in _texts(SEARCHED[type(event)](event)) for word in words_in(said)}


def words_of_reference(reference: str) -> set[str]:
    """The words of SP-2026-00042: as it stands, and its bare number, as it is said on the telephone."""
    words = words_in(reference)
    return {*words, words[-1].lstrip("0") or "0"}


async def feed(tx: Transaction, spill_ids: Sequence[int]) -> None:
    """Let these spills be found by the words of every event on record. Those of a row that another transaction feeds are waited for."""
    rows = {}
    if known := [number for number in spill_ids if number not in tx.new_spills]:
        rows = {row.spill_id: row for row in await tx.look_up(_FED, ids=known)}
    found = await words_on_record(tx, spill_ids, {number: row.forgotten_to for number, row in rows.items()})
    for number, words in sorted(found.items()):
        if number not in rows:
            await tx.write(_ADD_WORDS, {"spill_id": number, "words": words, "forgotten_to": 0})
        elif rows[number].words != words:
            await tx.write(_CHANGE_WORDS, {"number": number, "words": words})


async def words_on_record(tx: Transaction, spill_ids: Sequence[int], forgotten_to: Mapping[int, int]) -> dict[int, str]:
    """The words of spills by their record: each once, in order. Events up to the one named in `forgotten_to` are left out."""
    found: dict[int, set[str]] = {}
    for number, reference, event_id, kind, opened, sealed in await tx.look_up(_ON_RECORD, ids=spill_ids):
        if number not in found:
            found[number] = words_of_reference(reference)
        if event_id is not None and event_id > forgotten_to.get(number, 0):
            found[number] |= words_of(events.read_event(kind, rejoined(kind, opened, sealed, destroyed=True)))
    return {number: " ".join(sorted(words)[:_MOST_KEPT]) for number, words in found.items()}


async def forget(tx: Transaction, spill_id: int) -> None:
    """Let a spill be found by its reference alone, and by what is recorded after this moment; also where all is drawn anew."""
    await tx.session.flush()
    last = select(func.max(col(EventRow.id))).where(col(EventRow.spill_id) == spill_id).scalar_subquery()
    taken = "UPDATE spill_words SET words = '', forgotten_to = :last WHERE spill_id = :spill"
    await tx.session.execute(text(taken), {"last": await tx.session.scalar(select(last)) or 0, "spill": spill_id})
    await feed(tx, [spill_id])
    await settle(tx)


async def settle(tx: Transaction) -> None:
    """Leave nothing of words that were taken away in the index."""
    if tx.house.settings.is_embedded:  # else the words stay in its file until its parts are merged some day
        await tx.session.execute(text(f"INSERT INTO {INDEX}({INDEX}) VALUES ('optimize')"))  # noqa: S608 - no input in it


def matching(tx: Transaction, typed: str) -> ColumnElement[bool]:
    """The condition on `board_line` that a spill has every word typed; a whole reference finds that spill alone.

    What holds no word at all finds nothing.
    """
    if _REFERENCE.fullmatch(typed.strip()):
        return col(BoardLine.reference) == typed.strip().upper()
    words = list(dict.fromkeys(words_in(typed)))[:MOST_WORDS]
    if not words:
        return false()
    if not tx.house.settings.is_embedded:
        return col(BoardLine.spill_id).in_(_found(words, embedded=False))
    # The plus keeps SQLite from looking up each spill that has a word which nearly all have: it goes along the order of the board instead,
    # which is quick for rare words, too.
    return literal_column("+board_line.spill_id", Integer).in_(_found(words, embedded=True))


def _found(words: Sequence[str], *, embedded: bool) -> SelectBase:
    """The numbers of the spills that have words which begin so. The words hold letters and digits alone."""
    if embedded:
        asked = " ".join(f'"{word}"*' for word in words)
        found = text(f"SELECT rowid FROM {INDEX} WHERE {INDEX} MATCH :asked").bindparams(asked=asked)  # noqa: S608 - no input in it
        return found.columns(column("rowid", Integer))
    asked = " & ".join(f"'{word}':*" for word in words)
    indexed = text("array_to_tsvector(string_to_array(words, ' ')) @@ CAST(:asked AS tsquery)").bindparams(bindparam("asked", asked))
    return select(col(SpillWords.spill_id)).where(indexed)
