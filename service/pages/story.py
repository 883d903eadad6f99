"""What happened to a spill, as sentences by day. Events that came of one act, such as ten clocks that start at once, are told as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from service import events as e
from service.pages import words
from service.pages.amendments import told
from service.pages.rendering import city_name, rule_of
from service.pages.speech import ENGLISH, moment_of
from service.pages.story_of_cases import TELLERS
from service.suppressions import CHANNEL_NAMES
from service.tables import EventRow, Spill
from service.transaction import House

_WORTH_SAYING = timedelta(minutes=1)


@dataclass(frozen=True)
class Line:
    """One sentence of the story, with what it stands for."""

    at: datetime
    says: str
    actor: str
    details: Sequence[str] = ()
    tone: str = "plain"
    recorded_at: datetime | None = None


@dataclass(frozen=True)
class Day:
    """A day of the story."""

    name: str
    lines: list[Line] = field(default_factory=list)


@dataclass(frozen=True)
class _Scene:
    house: House
    spill: Spill
    zone: ZoneInfo

    def title(self, duty: str) -> str:
        """The title of a duty; its id where the packs no longer hold it."""
        rule = rule_of(self.house, duty)
        return rule.title if rule else duty

    def recipient(self, key: Any) -> str:
        """The name of somebody a duty is owed to."""
        found = self.house.rulebook.recipients.get(str(key))
        return found.name if found else str(key)


def story(house: House, spill: Spill, zone: ZoneInfo, history: Sequence[tuple[EventRow, e.SpillEvent]]) -> list[Day]:
    """The days of a spill, newest first, and within a day the newest first."""
    scene = _Scene(house, spill, zone)
    lines: list[Line] = []
    sent = [pair for pair in history if not (isinstance(pair[1], e.MessageAccepted) and pair[1].carried_by)]  # part of another message
    for _, group in groupby(_in_step(sent), key=lambda pair: _step_of(pair[0])):
        lines.extend(_told(scene, list(group)))
    days: list[Day] = []
    for _, line in sorted(enumerate(lines), key=lambda pair: (pair[1].at, pair[0]), reverse=True):
        name = ENGLISH.day(line.at, zone)
        if not days or days[-1].name != name:
            days.append(Day(name))
        days[-1].lines.append(line)
    return days


def _in_step(history: Sequence[tuple[EventRow, e.SpillEvent]]) -> list[tuple[EventRow, e.SpillEvent]]:
    """Events of one transaction with those of a kind beside one another; the order of what is left stays."""
    first: dict[tuple[str, datetime], int] = {}
    for number, (row, _) in enumerate(history):
        first.setdefault(_step_of(row), number)
    return sorted(history, key=lambda pair: first[_step_of(pair[0])])


def _step_of(row: EventRow) -> tuple[str, datetime]:
    """What belongs together: events of a kind from one transaction; messages, which have one each, from one minute."""
    alone = row.kind in (e.MessageAccepted.kind, e.MessageArrived.kind)
    return row.kind, row.recorded_at.replace(second=0, microsecond=0) if alone else row.recorded_at


def _told(scene: _Scene, group: list[tuple[EventRow, e.SpillEvent]]) -> list[Line]:
    row, event = group[0]
    together = _TOGETHER.get(type(event))
    people = {getattr(one, "person", "") for _, one in group}
    if together is not None and len(group) > 1 and ("{person}" not in together[0] or len(people) == 1):
        told_as, tone = together
        details = [" ".join([says, *more]) for says, more, _ in (_parts(scene, one) for _, one in group)]
        says = told_as.format(number=len(group), person=next(iter(people)))
        return [Line(row.recorded_at, says, _who(row.actor), details, tone)]
    # One message may be about several duties: what is said of it is said once.
    lines = [_line(scene, row, event) for row, event in group]
    return list({(line.at, line.says, *line.details): line for line in lines}.values())


def _line(scene: _Scene, row: EventRow, event: e.SpillEvent) -> Line:
    says, details, tone = _parts(scene, event)
    late = row.recorded_at if row.recorded_at - row.happened_at > _WORTH_SAYING else None
    return Line(row.happened_at, says, _who(row.actor), details, tone, late)


def _who(actor: str) -> str:
    """Who did it; a worker, which is known by its machine and process, is just the worker."""
    return "worker" if re.fullmatch(r"[\w.-]+:\d+", actor) else actor


_TOGETHER: Mapping[type[e.SpillEvent], tuple[str, str]] = {
    e.ObligationOpened: ("{number} legal clocks started.", "plain"),
    e.ObligationMoved: ("{number} legal clocks changed.", "plain"),
    e.ObligationWithdrawn: ("{number} legal clocks were withdrawn.", "plain"),
    e.ObligationMet: ("{number} duties were met.", "good"),
    e.RungReached: ("People were told about {number} duties.", "plain"),
    e.RungReachedNobody: ("ALARM: for {number} duties an alert reached nobody.", "bad"),
    e.MessageAccepted: ("{number} messages were handed over.", "quiet"),
    e.FileKept: ("{number} files were sent.", "plain"),
    e.MessageArrived: ("{number} messages arrived.", "quiet"),
    e.ObligationAcknowledged: ("{person} has seen the alerts about {number} duties.", "plain"),
    e.EscalationAsked: ("{person} asked for the next rung of {number} duties.", "plain"),
    e.ObligationWaived: ("{number} duties were waived.", "plain"),
    e.RungRested: ("Alerts about {number} duties were left out, because {person} had seen those before.", "quiet"),
    e.RungHeld: ("Alerts about {number} duties wait: those told before hear of them after their quiet hours.", "quiet"),
    e.AcknowledgementExpired: ("{person} had seen the alerts about {number} duties, but they are not done.", "bad"),
}


def sentence_of(house: House, spill: Spill, zone: ZoneInfo, event: e.SpillEvent) -> tuple[str, Sequence[str]]:
    """One event by itself as a sentence, and its details."""
    says, details, _ = _parts(_Scene(house, spill, zone), event)
    return says, details


def _parts(scene: _Scene, event: Any) -> tuple[str, list[str], str]:
    tell = _TELLERS[type(event)]
    says, details, tone = tell(scene, event)
    return says, details, tone


Told = tuple[str, list[str], str]


def _received(_: _Scene, event: e.ReportReceived) -> Told:
    how = {
        "web": "by the web form",
        "api": "by the API",
        "staff": "from staff",
        "open311": "by Open311",
        "mail": "by e-mail",
        "import": "from a spreadsheet",
    }.get(event.by_way_of, f"by way of {event.by_way_of}")
    return f"A report arrived {how}.", list(event.flags), "plain"


def _facts(scene: _Scene, event: e.FactsRecorded) -> Told:
    details = []
    for key, (before, after) in event.changes.items():
        label = words.FACTS.get(key, words.plain(key))
        then, now = told(scene.house, scene.spill, key, before), told(scene.house, scene.spill, key, after)
        details.append(f"{label}: {now}" if before is None else f"{label}: {now} (before: {then})")
    amended = any(before is not None for before, _ in event.changes.values())
    return f"Facts were {'amended' if amended else 'recorded'}: {event.reason or 'no reason given'}.", details, "plain"


def _moved_place(scene: _Scene, event: e.PlaceMoved) -> Told:
    city = city_name(scene.house, event.city) if event.city in scene.house.rulebook.cities else "no city served here"
    details = [f"Before: {_place(event.before)}.", f"Now: {_place(event.after)}.", f"The new place lies in {city}.", *event.flags]
    return f"The pin was moved: {event.reason}.", details, "plain"


def _place(place: Mapping[str, Any]) -> str:
    point = "" if place.get("lat") is None else f"{place['lat']:.5f}, {place['lon']:.5f}"
    return "; ".join(part for part in (str(place.get("address") or ""), point) if part) or "not known"


def _act(scene: _Scene, event: e.ActRecorded) -> Told:
    act = event.act
    details = [event.note] if event.note else []
    if act.get("type") == "notice_given":
        how = words.WAYS.get(str(act.get("method")), str(act.get("method")))
        return f"{scene.recipient(act.get('recipient'))} was told {how}.", details, "good"
    if act.get("type") == "report_submitted":
        whole = "complete" if act.get("complete") else "incomplete"
        return f"A written report was handed in to {scene.recipient(act.get('recipient'))} ({whole}).", details, "good"
    extra = ", ".join(f"{words.plain(key)} {words.plain(value)}" for key, value in act.items() if key not in ("type", "at"))
    return f"{words.plain(act.get('type', '')).capitalize()}{f' ({extra})' if extra else ''}.", details, "plain"


def _opened(scene: _Scene, event: e.ObligationOpened) -> Told:
    clock: Mapping[str, Any] = event.clock
    presumed = ", presumed" if clock.get("applies") == "presumed" else ""
    return f"Clock started: {clock['title']}, {_due_of(scene, clock)}{presumed}.", [], "plain"


def _due_of(scene: _Scene, clock: Mapping[str, Any]) -> str:
    due_at = moment_of(clock.get("due_at"))
    if due_at is None:
        return "waiting"
    return "due immediately" if str(clock["limit"]).endswith("immediately") else f"due {ENGLISH.when(due_at, scene.zone)}"


def _moved(scene: _Scene, event: e.ObligationMoved) -> Told:
    before: Mapping[str, Any] = event.before
    was = moment_of(before.get("due_at"))
    details = [f"It was due {ENGLISH.when(was, scene.zone)}."] if was and before.get("due_at") != event.clock.get("due_at") else []
    if event.calendar:
        details.append(f"{event.calendar[0].upper()}{event.calendar[1:]}.")
    if before.get("applies") == "presumed" and event.clock.get("applies") == "yes":
        details.append("It was presumed; now it is certain.")
    return f"Clock changed: {event.clock['title']}, now {_due_of(scene, event.clock)}.", details, "plain"


def _met(scene: _Scene, event: e.ObligationMet) -> Told:
    late = f", late by {ENGLISH.span(timedelta(seconds=event.late_by_s))}" if event.late_by_s is not None else ", on time"
    return f"Duty met{late}: {scene.title(event.duty)}.", [], "good" if event.late_by_s is None else "bad"


def _rung(scene: _Scene, event: e.RungReached) -> Told:
    which = f"{', '.join(event.steps)}{', brought forward' if event.at_once else ''}"
    return f"Told about “{scene.title(event.duty)}” ({which}): {', '.join(event.told)}.", [], "plain"


def _filed(scene: _Scene, event: e.FollowUpFiled) -> Told:
    stamp = "on time" if event.on_time else f"late by {ENGLISH.span(timedelta(seconds=event.late_by_s or 0))}"
    if event.after_met:
        stamp = "after the duty was done"
    details = [f"Missing: {item}" for item in event.missing]
    whole = "incomplete" if details else "complete"
    bad = bool(details)
    if event.reason:
        details.append(f"Why it was amended: “{event.reason}”")
    what = "Report certified and filed" if event.certification else "Report filed"
    version = f"version {event.version}" + (f", amends version {event.amends}" if event.amends else "")
    says = f"{what} by {event.by}, {stamp}, {whole}: {scene.title(event.duty)} ({version})."
    return says, details, "bad" if bad else "good"


def _rested(scene: _Scene, event: e.RungRested) -> Told:
    which = f"{scene.title(event.duty)} ({', '.join(event.steps)})"
    until = moment_of(event.until)
    again = [f"It goes out {ENGLISH.when(until, scene.zone)} if the duty is not done by then."] if until else []
    return f"An alert was left out, because {event.person} had seen the one before: {which}.", again, "quiet"


def _held(scene: _Scene, event: e.RungHeld) -> Told:
    until = moment_of(event.until)
    when = f" until {ENGLISH.when(until, scene.zone)}" if until else ""
    which = f"{scene.title(event.duty)} ({', '.join(event.steps)})"
    return f"An alert waits{when}: those told before hear of it after their quiet hours, and may still see to it: {which}.", [], "quiet"


def _expired(scene: _Scene, event: e.AcknowledgementExpired) -> Told:
    at = moment_of(event.acknowledged_at)
    when = f" ({ENGLISH.when(at, scene.zone)})" if at else ""
    says = f"{event.person} had seen the alert{when}, but it is not done: {scene.title(event.duty)}."
    return says, [f"What was left out goes out now: {', '.join(event.steps)}."], "bad"


def _nobody(scene: _Scene, event: e.RungReachedNobody) -> Told:
    return f"ALARM: an alert reached nobody: {scene.title(event.duty)} ({', '.join(event.steps)}). {event.reason}.", [], "bad"


def _accepted(_: _Scene, event: e.MessageAccepted) -> Told:
    double = "; it may have arrived twice" if event.may_be_double else ""
    return f"A message to {event.person} was handed over ({event.channel}, {event.step}){double}.", [], "quiet"


def _gave_up(_: _Scene, event: e.MessageGaveUp) -> Told:
    how = f"({event.channel}, {event.step})"
    return f"ALARM: a message to {event.person} could not be handed over {how}: {event.reason}.", [], "bad"


def _arrived(_: _Scene, event: e.MessageArrived) -> Told:
    how = {"read": "was read", "delivered": "arrived"}.get(event.status, event.status)
    return f"The {words.CHANNELS.get(event.channel, event.channel)} to {event.person} {how} ({event.step}).", [], "quiet"


def _not_arrived(_: _Scene, event: e.MessageFailed) -> Told:
    what = f"the {words.CHANNELS.get(event.channel, event.channel)} to {event.person} ({event.step})"
    if event.silent:
        return f"No sign came that {what} arrived.", [], "bad"
    return f"{what[0].upper()}{what[1:]} did not arrive: {event.reason}.", [], "bad"


def _next_channel(_: _Scene, event: e.ChannelChanged) -> Told:
    before, after = (words.CHANNELS.get(channel, channel) for channel in (event.before, event.after))
    return f"{event.person} is told by {after} instead of {before} ({event.step}).", [], "plain"


def _reply(_: _Scene, event: e.ReplyReceived) -> Told:
    how = words.CHANNELS.get(event.channel, event.channel)
    if event.channel == "voice":
        return f"{event.person} pressed {event.text} in the call ({event.meaning}).", [], "plain"
    if event.meaning == "unknown":
        return f"{event.person} answered by {how}, for a person to read: “{event.text}”.", [], "bad"
    return f"{event.person} answered by {how}: “{event.text}” ({event.meaning}).", [], "plain"


def _suppressed(_: _Scene, event: e.AddressSuppressed) -> Told:
    why = {"bounced": "it takes none", "opted_out": "its owner wants no more", "complained": "its owner complained"}
    how = CHANNEL_NAMES.get(event.channel, event.channel)
    says = f"ALARM: no more {how} to {event.person} at {event.address}: {why.get(event.reason, event.reason)}."
    return says, [event.detail] if event.detail else [], "bad"


def _restored(_: _Scene, event: e.AddressRestored) -> Told:
    how = CHANNEL_NAMES.get(event.channel, event.channel)
    return f"{event.person} gets {how} again at {event.address}: {event.reason}.", [], "good"


def _named(_: _Scene, event: e.DischargerNamed) -> Told:
    return f"Discharger named: {event.name}.", [part for part in (event.email, event.phone) if part], "plain"


def _advisory(_: _Scene, event: e.AdvisoryIssued) -> Told:
    says = {"update": "An update of the public advisory was issued.", "all_clear": "The all-clear was given to the public."}
    area = event.area
    miles = f"{float(str(area.get('metres', 0))) / 1609.344:.1f}"
    where = "the whole city" if "metres" not in area else f"within {'1 mile' if miles == '1.0' else f'{miles} miles'} of the spill"
    words_of_it = [event.words.get(f"{part}.en", "") for part in ("where", "what", "advice")]
    return says.get(event.advisory_kind, "An advisory to the public was issued."), [*words_of_it, f"Area: {where}."], "plain"


def _advised(_: _Scene, event: e.AdvisorySent) -> Told:
    what = {"update": "The update", "all_clear": "The all-clear"}.get(event.advisory_kind, "The advisory")
    return f"{what} went to {event.people} {'subscriber' if event.people == 1 else 'subscribers'}.", [], "plain"


def _from_reporter(_: _Scene, event: e.ReporterAdded) -> Told:
    sent = f"{event.photos} {'photo' if event.photos == 1 else 'photos'}" if event.photos else ""
    if not event.text:
        return f"The reporter sent {sent}.", [], "plain"
    return f"The reporter told more{f', with {sent}' if sent else ''}:", [event.text], "plain"


def _to_public(says: str) -> Callable[[_Scene, Any], Told]:
    """What staff told the reporter, in every language they gave."""
    return lambda _, event: (says, [text for _, text in sorted(event.words.items())], "good")


def _closed(scene: _Scene, event: e.SpillClosed) -> Told:
    says, details, tone = _to_public("The spill was closed.")(scene, event)
    left = len(event.left_open)
    return says, [*details, f"Left open, with alerts: {left} {'duty' if left == 1 else 'duties'}."] if left else details, tone


def _file_kept(_: _Scene, event: e.FileKept) -> Told:
    odd = {"damaged": "it is damaged and may lack a part", "unreadable": "it could not be decoded", "no_reader": "nothing here reads HEIC"}
    details = [event.name, *(odd[flag] for flag in event.flags if flag in odd)]
    return f"A {event.purpose} was sent by {event.by or 'somebody'}.", details, "plain"


def _left_out(_: _Scene, event: e.FilesLeftOut) -> Told:
    count = len(event.files)
    details = [f"{name}: {why.replace('_', ' ')}" for name, why in event.files]
    return f"{count} {'file was' if count == 1 else 'files were'} sent that could not be kept.", details, "plain"


_TELLERS: Mapping[type[e.SpillEvent], Callable[[_Scene, Any], Told]] = {
    e.ReportReceived: _received,
    e.FactsRecorded: _facts,
    e.PlaceMoved: _moved_place,
    e.ActRecorded: _act,
    e.AssessmentFailed: lambda _, event: (f"ALARM: the law could not be applied: {event.problem}", [], "bad"),
    e.ReportHeld: lambda _, event: (
        "It looks automatic: nobody was alerted, and no clock runs until a person judges it.",
        [f"{doubt[:1].upper()}{doubt[1:]}." for doubt in event.doubts],
        "bad",
    ),
    e.ReportReleased: lambda _, event: (f"It was put to the law after all: {event.reason}.", [], "good"),
    e.SaidToBeSame: lambda _, event: (
        f"The reporter says that it is the same spill as {event.other}."
        if event.other
        else "The reporter says that it is none of the spills reported near it.",
        [],
        "plain",
    ),
    e.TriageAsked: lambda _, event: (f"A person was asked to look: {event.reason}.", [], "plain"),
    e.DischargerNamed: _named,
    e.ObligationOpened: _opened,
    e.ObligationMoved: _moved,
    e.ObligationWithdrawn: lambda scene, event: (f"Clock withdrawn: {scene.title(event.duty)} ({event.reason}).", [], "plain"),
    e.ObligationMet: _met,
    e.ObligationOverdue: lambda scene, event: (f"OVERDUE: {scene.title(event.duty)}.", [], "bad"),
    e.ObligationWaived: lambda scene, event: (f"Duty waived: {scene.title(event.duty)} ({event.reason}).", [], "plain"),
    e.ObligationAcknowledged: lambda scene, event: (f"{event.person} has seen the alert: {scene.title(event.duty)}.", [], "plain"),
    e.RungReached: _rung,
    e.RungRested: _rested,
    e.RungHeld: _held,
    e.AcknowledgementExpired: _expired,
    e.RungReachedNobody: _nobody,
    e.MessageAccepted: _accepted,
    e.MessageGaveUp: _gave_up,
    e.MessageArrived: _arrived,
    e.MessageFailed: _not_arrived,
    e.ChannelChanged: _next_channel,
    e.ReplyReceived: _reply,
    e.EscalationAsked: lambda scene, event: (f"{event.person} asked for the next rung: {scene.title(event.duty)}.", [], "plain"),
    e.AddressSuppressed: _suppressed,
    e.AddressRestored: _restored,
    e.FollowUpSaved: lambda scene, event: (f"Report draft kept: {scene.title(event.duty)} (version {event.version}).", [], "quiet"),
    e.FollowUpFiled: _filed,
    e.FollowUpCertified: lambda scene, event: (
        f"Report certified by {event.by}, {event.title}: {scene.title(event.duty)} (version {event.version}).",
        [],
        "good",
    ),
    e.LinkIssued: lambda _, event: (
        f"A private link for the discharger was issued to {event.name}.",
        [part for part in (event.email, event.phone) if part],
        "plain",
    ),
    e.LinkSent: lambda _, event: (f"The private link of {event.name} was sent by {' and '.join(event.by)}.", [], "plain"),
    e.LinkReplaced: lambda _, event: (f"The private link of {event.name} was replaced; the old one no longer works.", [], "plain"),
    e.LinkEnded: lambda _, event: (f"The private link of {event.name} was taken back.", [], "plain"),
    e.AdvisoryIssued: _advisory,
    e.AdvisorySent: _advised,
    e.ReporterAdded: _from_reporter,
    e.FileKept: _file_kept,
    e.FilesLeftOut: _left_out,
    e.ContactCorrected: lambda _, event: (f"The reporter corrected the address given for {' and '.join(event.ways)}.", [], "plain"),
    e.CopyAsked: lambda _, event: ("The reporter took a copy of the record.", [], "quiet"),
    e.ActionAsked: lambda _, event: ("The reporter asks what action was taken.", [], "plain"),
    e.ReporterAnswered: _to_public("The reporter was told what was done."),
    e.SpillClosed: _closed,
    e.SpillReopened: _to_public("The spill was opened again."),
    **TELLERS,
}
