"""The closed list of things that can happen to a spill, in the past tense. Events are the only truth about it; all else is derived."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue


class SpillEvent(BaseModel):
    """What all events share: a fixed shape and a name that never changes once a record holds it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ClassVar[str]


class ReportReceived(SpillEvent):
    """A report reached us, kept exactly as it came; `flags` says what is odd about it."""

    kind = "report:received"
    raw: JsonValue
    by_way_of: str
    flags: list[str] = []


class ReportHeld(SpillEvent):
    """The report looks automatic, for these reasons: nobody is alerted by it until it was judged, or until then by itself."""

    kind = "report:held"
    doubts: list[str]
    until: str


class ReportReleased(SpillEvent):
    """A report that was held is put to the law after all, as of when it came."""

    kind = "report:released"
    reason: str


class FactsRecorded(SpillEvent):
    """Facts became known or were amended. `changes` keeps both values of each: [before, after]. `reason` says why, for an amendment."""

    kind = "facts:recorded"
    changes: dict[str, tuple[JsonValue, JsonValue]]
    reason: str = ""


class PlaceMoved(SpillEvent):
    """The pin was moved: {lat, lon, address} before and after, and why. `city` is what the new place comes to, None where that is open.

    The change of law, where there is one, is a FactsRecorded of its own that follows. `flags` is what is odd about the new place.
    """

    kind = "place:moved"
    before: dict[str, JsonValue]
    after: dict[str, JsonValue]
    reason: str
    city: str | None
    flags: list[str] = []


class ActRecorded(SpillEvent):
    """Something of the contract's list of events happened: a call was made, an order served, cleanup done."""

    kind = "act:recorded"
    act: dict[str, JsonValue]
    note: str = ""


class AssessmentFailed(SpillEvent):
    """The law could not be applied to the report; it is kept, and a person must look."""

    kind = "assessment:failed"
    problem: str


class TriageAsked(SpillEvent):
    """A report needs a person before any clock can run."""

    kind = "triage:asked"
    reason: str


class DischargerNamed(SpillEvent):
    """Who is responsible for this spill became known; empty strings are unknown."""

    kind = "discharger:named"
    name: str
    email: str = ""
    phone: str = ""


class ObligationOpened(SpillEvent):
    """A clock runs. `clock` is frozen as decided: rule, pack version, counting."""

    kind = "obligation:opened"
    obligation: int
    clock: dict[str, JsonValue]


class ObligationMoved(SpillEvent):
    """The facts now give the clock another start, due time or standing; both decisions are kept. `calendar` says what moved it instead."""

    kind = "obligation:moved"
    obligation: int
    before: dict[str, JsonValue]
    clock: dict[str, JsonValue]
    replanned: bool
    calendar: str = ""


class ObligationWithdrawn(SpillEvent):
    """A fact settled that the duty does not apply."""

    kind = "obligation:withdrawn"
    obligation: int
    duty: str
    reason: str


class ObligationMet(SpillEvent):
    """The duty is done; `late_by_s` is None where it was done in time."""

    kind = "obligation:met"
    obligation: int
    duty: str
    met_at: str
    late_by_s: int | None


class ObligationOverdue(SpillEvent):
    """The due moment passed with the duty undone."""

    kind = "obligation:overdue"
    obligation: int
    duty: str
    due_at: str


class ObligationWaived(SpillEvent):
    """A person with the authority decided that the duty need not be done."""

    kind = "obligation:waived"
    obligation: int
    duty: str
    reason: str


class ObligationAcknowledged(SpillEvent):
    """A person has seen the alert. It rests that person until the next rung, never the duty."""

    kind = "obligation:acknowledged"
    obligation: int
    duty: str
    person: str


class RungHeld(SpillEvent):
    """A rung for the case that nobody acknowledges waits, because all who were told before hear of it after their quiet hours only."""

    kind = "rung:held"
    obligation: int
    duty: str
    steps: list[str]
    until: str
    plan: int


class AcknowledgementExpired(SpillEvent):
    """An acknowledgement ran out with the duty undone: the rungs that it kept back are climbed after all."""

    kind = "acknowledgement:expired"
    obligation: int
    duty: str
    person: str
    acknowledged_at: str
    steps: list[str]


class RungReached(SpillEvent):
    """Rungs of a ladder came due; `told` names the people promised a message. Several steps mean they were merged."""

    kind = "rung:reached"
    obligation: int
    duty: str
    steps: list[str]
    told: list[str]
    at_once: bool = False


class RungRested(SpillEvent):
    """A rung was left out because somebody had acknowledged; `until` is when that expires, `plan` the plan of the ladder it belongs to."""

    kind = "rung:rested"
    obligation: int
    duty: str
    steps: list[str]
    person: str
    acknowledged_at: str = ""
    until: str = ""
    plan: int = 0


class RungReachedNobody(SpillEvent):
    """A rung found nobody to tell, or none of its messages arrived: an alarm of its own."""

    kind = "rung:reached-nobody"
    obligation: int
    duty: str
    steps: list[str]
    reason: str


class MessageAccepted(SpillEvent):
    """A provider took a message. `carried_by` is the message that it went out as a part of, where it was not sent by itself."""

    kind = "message:accepted"
    message: str
    obligation: int | None
    person: str
    channel: str
    step: str
    may_be_double: bool
    carried_by: str = ""


class MessageGaveUp(SpillEvent):
    """A message could not be handed over: refused, or tried until there was no sense in it. `carried_by` as for one that was."""

    kind = "message:gave-up"
    message: str
    obligation: int | None
    person: str
    channel: str
    step: str
    reason: str
    carried_by: str = ""


class MessageArrived(SpillEvent):
    """Whoever carries a message said that it arrived, or its recipient showed that it was read. `status`: delivered, read."""

    kind = "message:arrived"
    message: str
    obligation: int | None
    person: str
    channel: str
    step: str
    status: str


class MessageFailed(SpillEvent):
    """A message that was handed over did not arrive; `silent` where nothing was heard of it for too long, so that it may still have."""

    kind = "message:failed"
    message: str
    obligation: int | None
    person: str
    channel: str
    step: str
    reason: str
    silent: bool = False


class ChannelChanged(SpillEvent):
    """A message did not get through, so that the same person is told by another channel."""

    kind = "message:next-channel"
    message: str
    obligation: int
    person: str
    before: str
    after: str
    step: str


class ReplyReceived(SpillEvent):
    """Somebody answered a message: what they said, and what it was taken to mean."""

    kind = "reply:received"
    person: str
    sender: str
    channel: str
    text: str
    meaning: str
    message: str | None = None


class EscalationAsked(SpillEvent):
    """A person who was told asked for the next rung at once. `message` is the one they answered."""

    kind = "escalation:asked"
    obligation: int
    duty: str
    person: str
    message: str


class AddressSuppressed(SpillEvent):
    """Nothing more is sent to an address of somebody who is told about this spill. `reason`: bounced, opted_out, complained."""

    kind = "address:suppressed"
    person: str
    channel: str
    address: str
    reason: str
    detail: str = ""


class AddressRestored(SpillEvent):
    """Messages go to an address again."""

    kind = "address:restored"
    person: str
    channel: str
    address: str
    reason: str


class FollowUpSaved(SpillEvent):
    """A draft of a written report was kept."""

    kind = "follow-up:saved"
    obligation: int
    duty: str
    version: int


class FollowUpFiled(SpillEvent):
    """A written report was filed. `missing` is empty where it holds everything the duty asks; only then does it meet the duty.

    `certification`: the words that `by` certified it under, empty where nobody has; `amends`: the version it amends; `after_met`: the
    duty had been met before, so that the stamp judges nothing; `attachments`: {name, size, sha256} of what was filed with it.
    """

    kind = "follow-up:filed"
    obligation: int
    duty: str
    version: int
    by: str
    content: dict[str, str]
    missing: list[str]
    on_time: bool
    late_by_s: int | None
    title: str = ""
    certification: str = ""
    amends: int | None = None
    due_at: str | None = None
    after_met: bool = False
    attachments: list[dict[str, JsonValue]] = []


class FollowUpCertified(SpillEvent):
    """A report that had been filed was certified afterwards, under these words."""

    kind = "follow-up:certified"
    obligation: int
    duty: str
    version: int
    by: str
    title: str
    certification: str


class LinkIssued(SpillEvent):
    """A private link to the discharger's page was issued to a named person."""

    kind = "link:issued"
    link: int
    name: str
    email: str = ""
    phone: str = ""


class LinkSent(SpillEvent):
    """A private link was sent to its person; `link` None is the one that is nobody's in particular."""

    kind = "link:sent"
    link: int | None
    name: str
    by: list[str]


class LinkReplaced(SpillEvent):
    """A private link was replaced by a new one; the old one stopped working."""

    kind = "link:replaced"
    link: int | None
    name: str


class LinkEnded(SpillEvent):
    """A private link was taken back for good."""

    kind = "link:ended"
    link: int
    name: str


class AdvisoryIssued(SpillEvent):
    """The public is told. `advisory_kind`: advisory, update, all_clear; `follows`: what it belongs to, None for the first."""

    kind = "advisory:issued"
    advisory: int
    advisory_kind: str
    follows: int | None
    words: dict[str, str]
    area: dict[str, JsonValue]


class AdvisorySent(SpillEvent):
    """A message was promised to everybody whom an advisory concerns."""

    kind = "advisory:sent"
    advisory: int
    advisory_kind: str
    people: int


class ReporterAdded(SpillEvent):
    """The reporter told more on their page, kept as it was written, or sent so many photos with it."""

    kind = "reporter:added"
    text: str
    photos: int = 0


class SaidToBeSame(SpillEvent):
    """The reporter said that it is the spill of an earlier report, `other`; empty: it is none of those that were offered."""

    kind = "reporter:same-as"
    other: str


class CopyAsked(SpillEvent):
    """The reporter took a copy of the record, in a language."""

    kind = "reporter:copy-asked"
    language: str


class ActionAsked(SpillEvent):
    """The reporter asked to be told what action was taken. An answer or the closing of the spill answers it."""

    kind = "reporter:action-asked"


class ReporterAnswered(SpillEvent):
    """Staff told the reporter what action was taken. `words` by language, English always; `office`: the role of who answered."""

    kind = "reporter:answered"
    words: dict[str, str]
    office: str


class FileKept(SpillEvent):
    """Somebody sent a file. `purpose`: photo, attachment; `place`: where the photo was taken, only where its sender let it be used."""

    kind = "file:kept"
    file: int
    purpose: str
    name: str
    media_type: str
    size: int
    digest: str
    by: str = ""
    flags: list[str] = []
    obligation: int | None = None
    version: int | None = None
    place: dict[str, float] | None = None


class SpillClosed(SpillEvent):
    """Staff closed the spill. `words` say why, by language; `left_open`: duties that stay open with their alerts, as was acknowledged."""

    kind = "spill:closed"
    words: dict[str, str]
    office: str
    left_open: list[int] = []


class SpillReopened(SpillEvent):
    """Staff opened a closed spill again. `words` say why, by language."""

    kind = "spill:reopened"
    words: dict[str, str]
    office: str


EVENT_TYPES: dict[str, type[SpillEvent]] = {event.kind: event for event in SpillEvent.__subclasses__()}


def read_event(kind: str, payload: object) -> SpillEvent:
    """An event as it was recorded. Raises KeyError for a kind outside the list."""
    return EVENT_TYPES[kind].model_validate(payload)
