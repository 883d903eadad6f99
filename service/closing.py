"""Closing a spill, and opening it again. Nothing is closed over an open duty unless its name was put to whoever closes.

A closed spill is at rest for people, not for the law: duties left open keep their clocks and alerts, and a new fact may open new ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from service.errors import BadInput, Conflict
from service.events import SpillClosed, SpillEvent, SpillReopened
from service.obligations import of_spill
from service.outbox import OPEN_STATES
from service.spills import stated
from service.tables import EventRow, Obligation, Spill
from service.transaction import Transaction

LONGEST_WORDS = 5000
History = Sequence[tuple[EventRow, SpillEvent]]
# A record that must be kept for years is owed long after the spill is over; it rings for nobody.
_OUTLASTS = "retention"


def closed_in(history: History) -> tuple[EventRow, SpillClosed] | None:
    """The closing that stands at the end of a history; None where the spill is open."""
    for row, event in reversed(history):
        if isinstance(event, SpillReopened):
            return None
        if isinstance(event, SpillClosed):
            return row, event
    return None


async def duties_in_the_way(tx: Transaction, spill: Spill) -> list[Obligation]:
    """The duties that are still to be done, next due first: each is done, waived or acknowledged by name before a spill is closed."""
    return [row for row in await of_spill(tx, spill) if row.state in OPEN_STATES and row.act != _OUTLASTS]


async def close(tx: Transaction, spill: Spill, words: Mapping[str, str], office: str, left_open: Collection[int] = ()) -> None:
    """Close a spill. `words` say why, by language (`en`, and `es` where it is given), and are shown to the reporter; `office`: a role.

    `left_open` are the numbers of the open duties that whoever closes has seen. Raises BadInput without a reason in English; Conflict for
    a spill that is closed, and with the titles of open duties that were not acknowledged.
    """
    said = checked_words(words, "why it is closed, in words for the person who reported it")
    if spill.merged_into is not None:
        raise Conflict(f"{spill.reference} was merged into another spill; it is closed with that one")
    if closed_in(await tx.history(spill)) is not None:
        raise Conflict(f"{spill.reference} is closed already")
    opened = await duties_in_the_way(tx, spill)
    missed = [row for row in opened if row.id not in left_open]
    if missed:
        cure = "right would be: do it, waive it, or confirm that it stays open with its alerts"
        raise Conflict(f"{spill.reference} has open duties", [f"{row.clock['title']} (duty {row.id}): {cure}" for row in missed])
    await tx.record(spill, SpillClosed(words=said, office=office, left_open=[row.id or 0 for row in opened]))


async def reopen(tx: Transaction, spill: Spill, words: Mapping[str, str], office: str) -> None:
    """Open a closed spill again. Raises BadInput without a reason in English, Conflict where it is open."""
    said = checked_words(words, "why it is opened again")
    if spill.merged_into is not None:
        raise Conflict(f"{spill.reference} was merged into another spill; it is opened again with that one")
    if closed_in(await tx.history(spill)) is None:
        raise Conflict(f"{spill.reference} is open")
    await tx.record(spill, SpillReopened(words=said, office=office))


def checked_words(words: Mapping[str, str], wanted: str) -> dict[str, str]:
    """Words for the public by language, without those that say nothing. Raises BadInput where there are none in English, or too many."""
    said = {language: text for language, given in words.items() if (text := stated(given))}
    faults = [] if "en" in said else [f"reason: missing; right would be: {wanted}"]
    faults += [
        f"{'reason' if language == 'en' else f'reason_{language}'}: over {LONGEST_WORDS:,} characters; right would be: fewer"
        for language, text in said.items()
        if len(text) > LONGEST_WORDS
    ]
    if faults:
        raise BadInput("these words cannot be kept", faults)
    return said
