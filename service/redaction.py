"""Words that are masked in the record of a spill: wherever they stand, the masked text is shown from then on, the original is destroyed.

What stood there is sealed apart in events; it goes the one way of service/destroying.py, and the event says who did it, when and why. Rows
that were drawn from it, such as messages, follow. The open parts of events hold no words of anybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, text
from sqlmodel import SQLModel, col

from notifiers import blank
from service import board, spill_search
from service.destroying import REDACTION, destroy_sealed, empty_log
from service.errors import BadInput, Conflict
from service.events import PersonalDestroyed
from service.masking import masking, of_words
from service.personal import ACTOR, PERSONAL
from service.retention import HOLD, LONGEST_REASON, kept_until
from service.spills import stated
from service.tables import Advisory, EventRow, FollowUp, KeptFile, LegalHold, MessageRow, Obligation, Reply, Spill, SubscriptionItem
from service.transaction import House, Transaction, transaction

MOST_WORDS, SHORTEST_WORD, LONGEST_WORD = 20, 3, 200
Mask = Callable[[Any], Any]
# What becomes of the sealed fields of an event.
Change = Callable[[EventRow, Mapping[str, Any]], dict[str, Any]]


class UnderHold(Conflict):
    """A legal hold is on the record: nothing in it is changed."""

    title = "A legal hold keeps it"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the record at which words would be masked: the event, a field of it, and the text before and after."""

    event: EventRow
    field: str
    before: str
    after: str


def checked_words(typed: str) -> list[str]:
    """Words to be masked, one to a line. Raises BadInput for none, too many, or one so short that it would be found in others."""
    words = list(dict.fromkeys(word for line in typed.splitlines() if (word := stated(line))))
    faults = [] if words else ["words: missing; right would be: a name or a number, one to a line"]
    faults += [
        f"words: {word!r} is too short; right would be: at least {SHORTEST_WORD} letters" for word in words if len(word) < SHORTEST_WORD
    ]
    faults += [f"words: over {LONGEST_WORD} characters; right would be: fewer" for word in words if len(word) > LONGEST_WORD]
    if len(words) > MOST_WORDS:
        faults.append(f"words: {len(words)}; right would be: at most {MOST_WORDS} at once")
    if faults:
        raise BadInput("these words cannot be masked", faults)
    return words


async def preview(tx: Transaction, spill: Spill, words: Sequence[str]) -> list[Place]:
    """Where in the record these words would be masked, as it is shown now; nothing is changed."""
    mask = masking(of_words(words))
    found = []
    for row, event in await tx.history(spill):
        told = event.model_dump(mode="json")
        for field in _sealed_fields(row) if row.kind != PersonalDestroyed.kind else ():
            for before in _texts(told.get(field)):
                if (after := mask(before)) != before:
                    found.append(Place(row, field, before, after))
    return found


def _sealed_fields(row: EventRow) -> list[str]:
    return list(PERSONAL.get(row.kind, {})) if row.seal is not None else []


def _texts(said: Any) -> Iterable[str]:
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping):
        for value in said.values():
            yield from _texts(value)
    elif isinstance(said, list | tuple):
        for value in said:
            yield from _texts(value)


async def redact(tx: Transaction, spill: Spill, words: Sequence[str], reason: str) -> int:
    """Mask words wherever they stand in the record of a report. Returns in how many events. Who may is for the caller to check.

    Raises BadInput without a reason, or where the words stand nowhere; UnderHold where a legal hold keeps the record as it is.
    """
    said = stated(reason)
    if not said or len(said) > LONGEST_REASON:
        right = "why it is nobody's to read, and who decided it"
        raise BadInput("a reason is needed", [f"reason: {'too long' if said else 'missing'}; right would be: {right}"])
    await check_no_hold(tx, spill)
    mask = masking(of_words(words))
    if mask(said) != said:
        raise BadInput("the reason says them again", ["reason: it holds words that are to be masked; right would be: why, without them"])
    done = await mask_events(tx, spill, lambda _, fields: mask(fields), REDACTION, said)
    rows = await mask_rows(tx, spill, mask)
    if not done and not rows:
        raise BadInput("nothing was masked", ["words: they stand nowhere in the record; right would be: as they are written there"])
    await spill_search.settle(tx)
    return done


async def check_no_hold(tx: Transaction, spill: Spill) -> None:
    """Raise UnderHold where a legal hold is on the record of a report."""
    if holds := [one for one in (await kept_until(tx, spill)).keepers if one.why == HOLD]:
        raise UnderHold(f"a legal hold is on the record of {spill.reference}", [f"{one.of}: {one.says}" for one in holds])


async def mask_events(tx: Transaction, spill: Spill, change: Change, basis: str, reason: str) -> int:
    """Let events show what `change` makes of their sealed parts, and destroy these where it makes anything else. Returns of how many."""
    if tx.house.settings.is_embedded:  # else the freed pages of the file would still hold it
        await tx.session.execute(text("PRAGMA secure_delete = ON"))
    await tx.session.flush()
    query = select(EventRow).where(col(EventRow.spill_id) == spill.id).order_by(col(EventRow.id))
    rows = {row.id or 0: row for row in (await tx.session.execute(query)).scalars()}
    instead: dict[int, dict[str, Any]] = {}
    for number, row in rows.items():
        if row.sealed is None:
            continue
        fields = {name: value for name, value in row.sealed.items() if name != ACTOR}
        after = _changed(rows, row, fields, change)
        who = row.sealed.get(ACTOR)
        if after != fields or (who is not None and change(row, {ACTOR: who}) != {ACTOR: who}):
            instead[number] = after
    if not instead:
        return 0
    return await destroy_sealed(tx, spill, list(instead), basis, reason, instead)


def _changed(rows: Mapping[int, EventRow], row: EventRow, fields: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """What becomes of the sealed fields of an event; of one that shows texts in place of others, what becomes of those."""
    if row.kind != PersonalDestroyed.kind:
        return change(row, fields)
    shown = {number: change(rows[int(number)], told) for number, told in fields.get("instead", {}).items()}
    return {**change(row, {name: value for name, value in fields.items() if name != "instead"}), **({"instead": shown} if shown else {})}


# What of the rows about a report holds words of people, beside its events.
_WORDED: Sequence[tuple[type[SQLModel], tuple[str, ...]]] = (
    (MessageRow, ("subject", "text", "html", "reason")),
    (Reply, ("text", "answer")),
    (Obligation, ("reason",)),
    (Advisory, ("words",)),
    (KeptFile, ("name",)),
    (SubscriptionItem, ("said",)),
    (LegalHold, ("reason", "lifted_why")),
)
_OF_SPILL = ("description", "address", "flags")
_OF_REPORTS = ("content", "reason")


async def mask_rows(tx: Transaction, spill: Spill, mask: Mask) -> int:
    """Mask what was drawn from events: the spill, its messages and their stand-in file, reports, advisories. Returns how many rows."""
    changed = int(_mask(spill, _OF_SPILL, mask))
    told: set[str] = set()
    for table, names in _WORDED:
        rows = (await tx.session.execute(select(table).where(table.spill_id == spill.id))).scalars()  # type: ignore[attr-defined]
        for row in rows:
            if _mask(row, names, mask):
                changed += 1
                told |= {row.id} if isinstance(row, MessageRow) else set()
    mine = select(col(Obligation.id)).where(col(Obligation.spill_id) == spill.id)
    for report in (await tx.session.execute(select(FollowUp).where(col(FollowUp.obligation_id).in_(mine)))).scalars():
        changed += _mask(report, _OF_REPORTS, mask)
    await tx.session.flush()
    if told:
        await asyncio.to_thread(blank, tx.house.settings.outbox_path, told)
    await board.draw(tx, [spill.id or 0])
    return changed


def _mask(row: Any, names: Sequence[str], mask: Mask) -> bool:
    before = {name: getattr(row, name) for name in names}
    after = {name: mask(value) for name, value in before.items()}
    for name in names:
        if after[name] != before[name]:
            setattr(row, name, after[name])
    return before != after


async def redact_record(house: House, actor: str, reference: str, words: Sequence[str], reason: str, check: Callable[[Spill], None]) -> int:
    """Mask words in a transaction of its own, and leave nothing of them in the database's log. `check` raises where the actor may not."""
    async with transaction(house, actor) as tx:
        spill = await tx.spill(reference)
        check(spill)
        done = await redact(tx, spill, words, reason)
    await empty_log(house)
    return done


def redactions_in(history: Sequence[tuple[EventRow, Any]]) -> list[tuple[EventRow, PersonalDestroyed]]:
    """The events by which words were masked, the oldest first."""
    return [(row, event) for row, event in history if isinstance(event, PersonalDestroyed) and event.basis == REDACTION]
