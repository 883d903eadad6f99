"""What follows a report: the reporter adds words, takes a copy, asks what was done; staff answer. Each side hears of the other.

The reporter is told by e-mail or text message where they left an address and did not ask to stay anonymous. Their name and address
stand in no event.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import func, select
from sqlmodel import col

from service import outbox
from service.city_texts import own_texts
from service.closing import History, checked_words, closed_in
from service.codes import new_code
from service.errors import BadInput, Conflict
from service.events import (
    ActionAsked,
    ContactCorrected,
    CopyAsked,
    FactsRecorded,
    ReporterAdded,
    ReporterAnswered,
    ReportReceived,
    SpillClosed,
    SpillReopened,
)
from service.outbox import Promise
from service.parties import NO_MESSAGE, Person, people_for_triage, reachable, staff_url, status_url, unreachable
from service.spills import AS_IT_CAME, clean, stated
from service.tables import MessageRow, Spill
from service.transaction import Recorded, Transaction
from service.wording import for_reporter, from_reporter

LONGEST_ADDITION = 10_000
# Enough for anybody with something to say; whoever has the link and wants to fill the database gets no further.
MOST_ADDITIONS = 100
_LONGEST_CONTACT = 320
# Staff are woken once in so long by one reporter, however often words are added; all of them are on the page.
_TOLD_AGAIN_AFTER = timedelta(minutes=30)
_COPY_NOTED_AGAIN_AFTER = timedelta(hours=1)
_CONFIRMED = "received"
_MOST_CONFIRMED_AN_HOUR = 3


class TooManyAdditions(BadInput):
    """More was added to one report than is taken."""

    status = 429
    title = "Call the city"


# -- the reporter


async def add_words(tx: Transaction, spill: Spill, text: str, photos: int = 0) -> None:
    """Keep what the reporter tells now, with so many photos that were kept already.

    Raises BadInput for nothing or too much at once, Conflict for a closed spill, TooManyAdditions.
    """
    history = await tx.history(spill)
    if closed_in(history) is not None:
        raise Conflict(f"{spill.reference} is closed; report it anew")
    said = stated(text)
    if not said and not photos:
        raise BadInput("nothing was added", ["text: missing; right would be: what is new, in a few words, or a photo"])
    if len(said) > LONGEST_ADDITION:
        raise BadInput("this is too long to be added", [f"text: {len(said):,} characters; right would be: {LONGEST_ADDITION:,} or fewer"])
    if sum(isinstance(event, ReporterAdded) for _, event in history) >= MOST_ADDITIONS:
        raise TooManyAdditions("nothing more is taken for this report", ["text: call the city, or send another report"])
    await tx.record(spill, ReporterAdded(text=said, photos=photos))


async def note_copy(tx: Transaction, spill: Spill, language: str) -> None:
    """Record that the reporter takes a copy of the record; taken again within an hour it is noted once."""
    taken = [row.recorded_at for row, event in await tx.history(spill) if isinstance(event, CopyAsked)]
    if not taken or tx.now - taken[-1] >= _COPY_NOTED_AGAIN_AFTER:
        await tx.record(spill, CopyAsked(language=language))


async def ask_for_action(tx: Transaction, spill: Spill) -> None:
    """Record that the reporter wants to know what action was taken. Asking again before an answer changes nothing."""
    if not waits_for_answer(await tx.history(spill)):
        await tx.record(spill, ActionAsked())


def waits_for_answer(history: History) -> bool:
    """Whether the reporter asked what was done, and neither an answer nor a closing came since."""
    asked = (event for _, event in reversed(history) if isinstance(event, ActionAsked | ReporterAnswered | SpillClosed))
    return isinstance(next(asked, None), ActionAsked)


async def correct_contact(tx: Transaction, spill: Spill, typed: Mapping[str, str]) -> None:
    """Put `email` or `phone` right where the reporter left something that no message can reach. The event tells the ways, and no address.

    Raises BadInput, one line a way, where nothing was typed, or where what was typed cannot be reached either.
    """
    open_ways = unreachable(tx.house, spill.reporter)
    told = {way: clean(typed.get(way, ""))[:_LONGEST_CONTACT] for way in open_ways if clean(typed.get(way, ""))}
    if not told:
        raise BadInput("nothing was corrected", [f"{way}: missing" for way in open_ways])
    corrected = {**spill.reporter, **told}
    if faulty := [way for way in unreachable(tx.house, corrected) if way in told]:
        raise BadInput("no message can reach this", [f"{way}: no message can reach it" for way in faulty])
    spill.reporter = corrected
    spill.flags = [flag for flag in spill.flags if flag not in [NO_MESSAGE + way for way in told]]
    await tx.record(spill, ContactCorrected(ways=sorted(told)))


# -- staff


async def answer(tx: Transaction, spill: Spill, words: Mapping[str, str], office: str) -> None:
    """Tell the reporter what action was taken, by language, English always. Raises BadInput without words in English."""
    await tx.record(
        spill, ReporterAnswered(words=checked_words(words, "what was done, in words for the person who reported it"), office=office)
    )


# -- who is told


async def tell_staff(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to what a reporter adds or asks: whoever looks at reports is told, once in half an hour, and nobody of a closed spill."""
    event, spill = recorded.event, recorded.spill
    if not isinstance(event, ReporterAdded | ActionAsked) or closed_in(await tx.history(spill)) is not None:
        return
    number = int(tx.now.timestamp() // _TOLD_AGAIN_AFTER.total_seconds())
    step = "added" if isinstance(event, ReporterAdded) else "asked"
    about = Promise(spill, None, step, f"the reporter {step}", f"{step}:{spill.id}:{number}")
    text = event.text if isinstance(event, ReporterAdded) else ""
    for person in await people_for_triage(tx, spill):
        for channel in person.addresses:
            code = await new_code(tx, channel, person.addresses[channel])
            words = from_reporter(spill, step, text, staff_url(tx.house, spill), person.language, code, await own_texts(tx, spill.city))
            await outbox.promise(tx, about, person, channel, words, code)


async def confirm(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a report that was read: whoever sent it and left an e-mail address gets the link to their page.

    Not by text message, which costs whoever runs the service; and not more than a few an hour to one address, as anybody can write
    the address of somebody else.
    """
    event, spill = recorded.event, recorded.spill
    if not isinstance(event, FactsRecorded) or event.reason != AS_IT_CAME:
        return
    reporter = reporter_of(tx, spill)
    if "email" not in reporter.addresses:
        return
    received = (await tx.history(spill))[0][1]
    if not isinstance(received, ReportReceived) or received.by_way_of == "staff":
        return
    mine = (col(MessageRow.step) == _CONFIRMED, func.lower(col(MessageRow.address)) == reporter.addresses["email"].lower())
    lately = select(func.count()).select_from(MessageRow).where(*mine, col(MessageRow.promised_at) > tx.now - timedelta(hours=1))
    if (await tx.session.scalar(lately) or 0) >= _MOST_CONFIRMED_AN_HOUR:
        return
    law = tx.house.rulebook.law_of(spill.city or tx.house.first_city)
    city = law.city.title if spill.city else "Spillclock"
    own = await own_texts(tx, spill.city)
    words = for_reporter(spill, _CONFIRMED, "", status_url(tx.house, spill), city, "email", own)
    about = Promise(spill, None, _CONFIRMED, "the report was received", f"{_CONFIRMED}:{spill.id}")
    await outbox.promise(tx, about, reporter, "email", words)


async def tell_reporter(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to an answer, a closing or a re-opening: the reporter hears of it at the address they left, where they left one."""
    event, spill = recorded.event, recorded.spill
    if not isinstance(event, ReporterAnswered | SpillClosed | SpillReopened):
        return
    if spill.held_at is not None:  # it looks automatic: the address in it may be that of somebody who never wrote to us
        return
    reporter = reporter_of(tx, spill)
    step = {ReporterAnswered: "answered", SpillClosed: "closed", SpillReopened: "reopened"}[type(event)]
    about = Promise(spill, None, step, f"the report was {step}", f"{step}:{spill.id}:{tx.now.isoformat()}")
    law = tx.house.rulebook.law_of(spill.city or tx.house.first_city)
    said = event.words.get(reporter.language, event.words["en"])
    for channel in reporter.addresses:
        words = for_reporter(spill, step, said, status_url(tx.house, spill), law.city.title, channel, await own_texts(tx, spill.city))
        await outbox.promise(tx, about, reporter, channel, words)


def reporter_of(tx: Transaction, spill: Spill) -> Person:
    """The reporter as somebody who can be told, under no name; without addresses where they are anonymous or left none that can be used."""
    usable = reachable(tx.house, spill.reporter)
    # One message is enough: a text to whoever left no e-mail address.
    return Person("the reporter", "reporter", dict(list(usable.items())[:1]), spill.language)
