"""What staff decided about whole spills, as sentences of the story: merged, taken apart, split, referred, put in charge, redacted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from service import events as e
from service.causes import CAUSES
from service.destroying import REDACTION
from service.fact_sources import SOURCES
from service.pages import words
from service.pages.particular_words import particular_told
from service.pages.speech import ENGLISH
from service.particulars import PARTICULARS

Told = tuple[str, list[str], str]


def _facts(keys: list[str]) -> str:
    return ", ".join(words.FACTS.get(key, words.plain(key)) for key in keys)


def _merged(_: Any, event: e.SpillMerged) -> Told:
    dropped = len(event.dropped)
    details = [f"{dropped} {'clock' if dropped == 1 else 'clocks'} ended, as not owed by the facts there."] if dropped else []
    return f"It was merged into {event.into}, as the same spill: {event.reason}.", details, "plain"


def _took(_: Any, event: e.DuplicateTaken) -> Told:
    details = [f"Taken over from it: {_facts(list(event.took))}."] if event.took else []
    return f"{event.other} was merged into this spill, as the same: {event.reason}.", details, "plain"


def _gave_back(_: Any, event: e.DuplicateGivenBack) -> Told:
    details = [f"Put back: {_facts(event.returned)}."] if event.returned else []
    details += [f"Amended since, and left: {_facts(event.stays)}."] if event.stays else []
    return f"{event.other} was taken apart again, as another spill: {event.reason}.", details, "plain"


def _split_off(_: Any, event: e.SplitOff) -> Told:
    count = len(event.acts)
    details = [f"{count} of its acts {'was' if count == 1 else 'were'} about this spill, too."] if count else []
    return f"It was told of by the report {event.origin}, and split off: {event.reason}.", details, "plain"


def _referred(_: Any, event: e.SpillReferred) -> Told:
    whom = f" ({event.contact})" if event.contact else ""
    how = f" {words.WAYS.get(event.how, event.how)}" if event.how else ""
    return f"{event.agency}{whom} was asked{how} to deal with it: {event.because}.", [f"They were given: {event.sent}"], "plain"


def _cause(_: Any, event: e.CauseFound) -> Told:
    says = CAUSES.get(event.cause, words.plain(event.cause))
    told = f"Cause: {says[:1].lower()}{says[1:]}." if event.cause else "The cause is not known after all."
    return told, [part for part in (event.note, f"{SOURCES[event.source][0]}.") if part], "plain"


def _assigned(_: Any, event: e.OfficerAssigned) -> Told:
    return (f"{event.officer} is in charge." if event.officer else f"{event.before} is no longer in charge; nobody is."), [], "plain"


def _particulars(scene: Any, event: e.ParticularsRecorded) -> Told:
    details = []
    for key, (before, after) in event.changes.items():
        was, now = (particular_told(ENGLISH, scene.zone, key, value) or "not known" for value in (before, after))
        details.append(f"{PARTICULARS[key].label}: {now}{f' (before: {was})' if before is not None else ''}")
    told = (
        "What papers ask for was amended"
        if any(was is not None for was, _ in event.changes.values())
        else "What papers ask for was recorded"
    )
    return f"{told}{f': {event.reason}' if event.reason else ''}.", details, "plain"


_BASES = {"retention": "its time of keeping was over", "request": "whoever it was about asked for it"}


def _destroyed(_: Any, event: e.PersonalDestroyed) -> Told:
    count = len(event.events)
    if event.basis == REDACTION:
        return f"Words were masked in {count} {'entry' if count == 1 else 'entries'} of the record: {event.reason}.", [], "plain"
    what = f"What told of people in {count} {'entry' if count == 1 else 'entries'} of the record was destroyed"
    return f"{what}, because {_BASES.get(event.basis, event.basis)}: {event.reason}.", [], "plain"


def _record_gone(_: Any, event: e.RecordDestroyed) -> Told:
    with_head = f" with that of {event.head}" if event.head else ""
    return f"The record was destroyed{with_head}: {event.reason}.", [f"It had to be kept until {event.allowed_from}."], "plain"


def _forget_asked(_: Any, event: e.ForgetAsked) -> Told:
    details = [
        f"{one['citation'] or one['why']} keeps who they are{f' until {until}' if (until := one['until']) else ''}."
        for one in event.kept_by
    ]
    return "The reporter wishes to be forgotten.", details, "plain"


TELLERS: Mapping[type[e.SpillEvent], Callable[[Any, Any], Told]] = {
    e.SpillMerged: _merged,
    e.DuplicateTaken: _took,
    e.SpillUnmerged: lambda _, event: (f"It was taken apart from {event.parted_from}, as another spill: {event.reason}.", [], "plain"),
    e.DuplicateGivenBack: _gave_back,
    e.SpillSplit: lambda _, event: (f"The report tells of two spills; the second is {event.part}: {event.reason}.", [], "plain"),
    e.SplitOff: _split_off,
    e.SpillReferred: _referred,
    e.SpillForwarded: lambda _, event: (f"{event.where} took it as number {event.number}, sent by {event.by}.", [event.words], "plain"),
    e.ForwardAnswered: lambda _, event: (
        f"{event.where} says of number {event.number}: {event.status}. {event.notes}".strip(),
        [],
        "plain",
    ),
    e.CauseFound: _cause,
    e.OfficerAssigned: _assigned,
    e.ParticularsRecorded: _particulars,
    e.PersonalDestroyed: _destroyed,
    e.HoldPlaced: lambda _, event: (f"A legal hold was placed on its record: {event.reason}.", [], "plain"),
    e.HoldLifted: lambda _, event: (f"A legal hold on its record was lifted: {event.reason}.", [], "plain"),
    e.RecordDestroyed: _record_gone,
    e.ForgetAsked: _forget_asked,
    e.ReporterForgotten: lambda *_: ("Who reported it was destroyed, as they wished. What happened stays.", [], "plain"),
}
