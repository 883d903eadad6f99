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


class RungReached(SpillEvent):
    """Rungs of a ladder came due; `told` names the people promised a message. Several steps mean they were merged."""

    kind = "rung:reached"
    obligation: int
    duty: str
    steps: list[str]
    told: list[str]
    at_once: bool = False


class RungRested(SpillEvent):
    """A rung was left out because somebody had acknowledged."""

    kind = "rung:rested"
    obligation: int
    duty: str
    steps: list[str]
    person: str


class RungReachedNobody(SpillEvent):
    """A rung found nobody to tell, or none of its messages arrived: an alarm of its own."""

    kind = "rung:reached-nobody"
    obligation: int
    duty: str
    steps: list[str]
    reason: str


class MessageAccepted(SpillEvent):
    """A provider took a message."""

    kind = "message:accepted"
    message: str
    obligation: int | None
    person: str
    channel: str
    step: str
    may_be_double: bool


class MessageGaveUp(SpillEvent):
    """A message could not be handed over: refused, or tried until there was no sense in it."""

    kind = "message:gave-up"
    message: str
    obligation: int | None
    person: str
    channel: str
    step: str
    reason: str


class FollowUpSaved(SpillEvent):
    """A draft of a written report was kept."""

    kind = "follow-up:saved"
    obligation: int
    duty: str
    version: int


class FollowUpFiled(SpillEvent):
    """A written report was filed. `missing` is empty where it holds everything the duty asks; only then does it meet the duty."""

    kind = "follow-up:filed"
    obligation: int
    duty: str
    version: int
    by: str
    content: dict[str, str]
    missing: list[str]
    on_time: bool
    late_by_s: int | None


EVENT_TYPES: dict[str, type[SpillEvent]] = {event.kind: event for event in SpillEvent.__subclasses__()}


def read_event(kind: str, payload: object) -> SpillEvent:
    """An event as it was recorded. Raises KeyError for a kind outside the list."""
    return EVENT_TYPES[kind].model_validate(payload)
