"""The closed list of things that can happen to a spill, in the past tense. Events are the only truth about it; all else is derived."""

from __future__ import annotations

from pydantic import Field, JsonValue

from service.case_events import CauseFound as CauseFound
from service.case_events import DuplicateGivenBack as DuplicateGivenBack
from service.case_events import DuplicateTaken as DuplicateTaken
from service.case_events import ForgetAsked as ForgetAsked
from service.case_events import ForwardAnswered as ForwardAnswered
from service.case_events import HoldLifted as HoldLifted
from service.case_events import HoldPlaced as HoldPlaced
from service.case_events import OfficerAssigned as OfficerAssigned
from service.case_events import ParticularsRecorded as ParticularsRecorded
from service.case_events import PersonalDestroyed as PersonalDestroyed
from service.case_events import RecordDestroyed as RecordDestroyed
from service.case_events import ReporterForgotten as ReporterForgotten
from service.case_events import SpillForwarded as SpillForwarded
from service.case_events import SpillMerged as SpillMerged
from service.case_events import SpillReferred as SpillReferred
from service.case_events import SpillSplit as SpillSplit
from service.case_events import SpillUnmerged as SpillUnmerged
from service.case_events import SplitOff as SplitOff
from service.spill_event import SpillEvent as SpillEvent
from service.telling_events import AcknowledgementExpired as AcknowledgementExpired
from service.telling_events import AddressRestored as AddressRestored
from service.telling_events import AddressSuppressed as AddressSuppressed
from service.telling_events import ChannelChanged as ChannelChanged
from service.telling_events import EscalationAsked as EscalationAsked
from service.telling_events import MessageAccepted as MessageAccepted
from service.telling_events import MessageArrived as MessageArrived
from service.telling_events import MessageFailed as MessageFailed
from service.telling_events import MessageGaveUp as MessageGaveUp
from service.telling_events import ReplyReceived as ReplyReceived
from service.telling_events import RungHeld as RungHeld
from service.telling_events import RungReached as RungReached
from service.telling_events import RungReachedNobody as RungReachedNobody
from service.telling_events import RungRested as RungRested


class ReportReceived(SpillEvent):
    """A report reached us, kept exactly as it came; `flags` says what is odd about it."""

    kind = "report:received"
    raw: JsonValue
    by_way_of: str
    flags: list[str] = Field(default_factory=list)


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
    """Facts became known or were amended. `changes` keeps both values of each: [before, after]. `reason` says why, for an amendment.

    `sources`: by whom each is known, a word of service/fact_sources.py; how one without it is read stands there, too.
    """

    kind = "facts:recorded"
    changes: dict[str, tuple[JsonValue, JsonValue]]
    reason: str = ""
    sources: dict[str, str] = Field(default_factory=dict)


class PlaceMoved(SpillEvent):
    """The pin was moved: {lat, lon, address} before and after, and why. `city` is what the new place comes to, None where that is open.

    The change of law, where there is one, is a FactsRecorded of its own that follows. `flags` is what is odd about the new place.
    """

    kind = "place:moved"
    before: dict[str, JsonValue]
    after: dict[str, JsonValue]
    reason: str
    city: str | None
    flags: list[str] = Field(default_factory=list)


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
    """The facts now give the clock another start, due time or standing; both decisions are kept. `calendar` says what moved it instead.

    `regrouped`: reports were merged, or taken apart again; whoever was told the very same before is not told again.
    """

    kind = "obligation:moved"
    obligation: int
    before: dict[str, JsonValue]
    clock: dict[str, JsonValue]
    replanned: bool
    calendar: str = ""
    regrouped: bool = False


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


class FollowUpSaved(SpillEvent):
    """A draft of a written report was kept."""

    kind = "follow-up:saved"
    obligation: int
    duty: str
    version: int


class FollowUpFiled(SpillEvent):
    """A written report was filed. `missing` is empty where it holds everything the duty asks; only then does it meet the duty.

    `certification`: the words that `by` certified it under, empty where nobody has; `amends`: the version it amends; `after_met`: the
    duty had been met before, so that the stamp judges nothing; `attachments`: {name, size, sha256} of what was filed with it; `reason`: why
    it amends that version, empty where nobody says.
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
    reason: str = ""
    attachments: list[dict[str, JsonValue]] = Field(default_factory=list)


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


class ContactCorrected(SpillEvent):
    """The reporter put right how they can be reached, by these ways: email, phone. The addresses stand in no event."""

    kind = "reporter:contact-corrected"
    ways: list[str]


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
    flags: list[str] = Field(default_factory=list)
    obligation: int | None = None
    version: int | None = None
    place: dict[str, float] | None = None


class FilesLeftOut(SpillEvent):
    """Files that came with a report and were not kept: the name of each, and why: as service.kept_files.FileRefused says, or `disk`."""

    kind = "file:left-out"
    files: list[tuple[str, str]]


class SpillClosed(SpillEvent):
    """Staff closed the spill. `words` say why, by language; `left_open`: duties that stay open with their alerts, as was acknowledged."""

    kind = "spill:closed"
    words: dict[str, str]
    office: str
    left_open: list[int] = Field(default_factory=list)


class SpillReopened(SpillEvent):
    """Staff opened a closed spill again. `words` say why, by language."""

    kind = "spill:reopened"
    words: dict[str, str]
    office: str


EVENT_TYPES: dict[str, type[SpillEvent]] = {event.kind: event for event in SpillEvent.__subclasses__()}


def read_event(kind: str, payload: object) -> SpillEvent:
    """An event as it was recorded. Raises KeyError for a kind outside the list."""
    return EVENT_TYPES[kind].model_validate(payload)
