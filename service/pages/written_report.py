"""A written report as its page shows it: each item with its text and what others wrote there, and every version with its stamp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from service import papers
from service.events import FollowUpCertified, FollowUpFiled
from service.followups import certification_of, mark_of
from service.pages.differences import Piece, differences
from service.pages.duties import Duty
from service.pages.fields import Fields
from service.pages.known_answers import History
from service.pages.record_copy import letterhead_of
from service.pages.speech import Speech, moment_of
from service.tables import Spill
from service.transaction import House


@dataclass(frozen=True)
class Item:
    """One item of the form. `mark`: of the text that its reader has seen; `is_known`: the text is what the record says, to be confirmed;
    `theirs`: what somebody else wrote there meanwhile, None where nobody did.
    """

    id: str
    says: str
    text: str
    mark: str
    is_known: bool = False
    is_missing: bool = False
    theirs: str | None = None


@dataclass(frozen=True)
class Change:
    """An item of a version that says something else than in the version it amends."""

    says: str
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Stamp:
    """What filing a version came to. `person` is who answers for it, with title; `certified` the words they certified it under."""

    version: int
    by: str
    person: str
    says: str
    on_time: bool
    missing: Sequence[str]
    content: Mapping[str, str]
    certified: str
    certified_at: datetime | None
    amends: int | None
    reason: str
    changes: Sequence[Change]
    attachments: Sequence[str]


@dataclass(frozen=True)
class Typed:
    """A form that came back: what was typed, which items are missing, and where two people wrote, what the other one wrote."""

    fields: Fields
    missing: Mapping[str, str] = field(default_factory=dict)
    theirs: Mapping[str, str] | None = None  # None: nobody else wrote the same items

    def item(self, item: str, stored: str) -> tuple[str, str]:
        """The text of an item, and the mark of what its reader has seen there once the page is shown."""
        text, mark = self.fields.text(f"item.{item}"), self.fields.text(f"mark.{item}")
        if self.theirs is None:
            return text, mark  # as it was: what others may write meanwhile is held against this
        if item not in self.theirs and mark == mark_of(text):
            return stored, mark_of(stored)  # not touched here, so that the others' words stand
        return text, mark_of(self.theirs.get(item, stored))


def items_shown(duty: Duty, known: Mapping[str, str], typed: Typed | None) -> list[Item]:
    """The items of the form: as they were typed, else as the draft has them, else as the record knows them."""
    kept = duty.draft.content if duty.draft else {}
    found = []
    for item, says in duty.items.items():
        stored = kept.get(item, "") or known.get(item, "")
        text, mark = typed.item(item, stored) if typed else (stored, mark_of(stored))
        theirs = typed.theirs.get(item) if typed and typed.theirs else None
        found.append(Item(item, says, text, mark, bool(text) and text == known.get(item), bool(typed and item in typed.missing), theirs))
    return found


def stamps_of(speech: Speech, duty: Duty, history: History) -> list[Stamp]:
    """What each filed version of a report came to, newest first: when, on time or late by how much, and what it lacks."""
    certified = {
        event.version: (row.recorded_at, event)
        for row, event in history
        if isinstance(event, FollowUpCertified) and event.obligation == duty.id
    }
    filed = {
        event.version: (row.recorded_at, event)
        for row, event in history
        if isinstance(event, FollowUpFiled) and event.obligation == duty.id
    }
    found = []
    for version, (at, event) in filed.items():
        later = certified.get(version)
        by, title = (later[1].by, later[1].title) if later else (event.by, event.title)
        words = later[1].certification if later else event.certification
        before = filed[event.amends][1].content if event.amends in filed else None
        found.append(
            Stamp(
                version, by, ", ".join(filter(None, (by, title))), stamped(speech, duty, event, at), event.on_time or event.after_met,
                event.missing, event.content, words, (later[0] if later else at) if words else None, event.amends,
                event.reason, _changes(duty, before, event.content), [str(file["name"]) for file in event.attachments],
            )
        )  # fmt: skip
    return found[::-1]


def stamped(speech: Speech, duty: Duty, event: FollowUpFiled, at: datetime) -> str:
    """When a version was filed, and whether that was on time; one that amends a report which had met the duty is neither."""
    when = speech.stamp(at, duty.zone)
    if event.after_met:
        return speech.say("Filed %(when)s, after the duty was done", when=when)
    if event.on_time:
        return speech.say("Filed %(when)s, on time", when=when)
    return speech.say("Filed %(when)s, late by %(span)s", when=when, span=speech.span(timedelta(seconds=event.late_by_s or 0)))


def _changes(duty: Duty, before: Mapping[str, str] | None, after: Mapping[str, str]) -> list[Change]:
    if before is None:
        return []
    items = {**{item: item for item in (*before, *after)}, **duty.items}
    texts = [(says, before.get(item, ""), after.get(item, "")) for item, says in items.items()]
    return [Change(says, differences(was, now)) for says, was, now in texts if was != now]


def receipt(house: House, spill: Spill, duty: Duty, history: History, version: int, speech: Speech) -> papers.Receipt | None:
    """The receipt of a filed version; None where no such version was filed. It stands for the moment of filing, whatever came later."""
    found = next(
        (
            (row, event)
            for row, event in history
            if isinstance(event, FollowUpFiled) and event.obligation == duty.id and event.version == version
        ),
        None,
    )
    stamp = next((stamp for stamp in stamps_of(speech, duty, history) if stamp.version == version), None)
    if found is None or stamp is None:
        return None
    row, event = found
    name, _, title = stamp.person.partition(", ")
    return papers.Receipt(
        letterhead=letterhead_of(house, spill), reference=spill.reference, duty=speech.say(duty.clock["title"]),
        citation=duty.clock["citation"], recipient=speech.say(duty.recipient.name) if duty.recipient else "", version=version,
        handed_in=duty.handed_in(speech), reached=duty.reached,
        content=[(speech.say(says), event.content.get(item, "")) for item, says in duty.items.items()], certification=stamp.certified,
        name=name, title=title, filed_at=row.recorded_at, due_at=moment_of(event.due_at),
        late_by_s=event.late_by_s, after_met=event.after_met, missing=[speech.say(item) for item in event.missing],
        attachments=[papers.Attachment(str(one["name"]), int(str(one["size"])), str(one["sha256"])) for one in event.attachments],
        firm=str(spill.discharger.get("name") or ""), amends=event.amends, reason=event.reason,
    )  # fmt: skip


def wording_shown(speech: Speech, duty: Duty) -> tuple[str, str, str]:
    """The words to certify: those that count, in whose language they are, and a translation to read them by where they are in another.

    Words of the law count as the law has them; ours are said in the reader's own language.
    """
    wording = certification_of(duty.row)
    if not wording.source:
        return speech.say(wording.says), speech.language, ""
    read = speech.say(wording.says)
    return wording.says, "en", read if speech.language != "en" and read != wording.says else ""
