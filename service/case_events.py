"""What is decided about whole spills: that two reports tell of one, or one of two, whose they are, how long and what is kept of them."""

from __future__ import annotations

from pydantic import Field, JsonValue

from service.spill_event import SpillEvent


class SpillMerged(SpillEvent):
    """This report tells of the same spill as `into`, which is worked on from now on. Everything that is on record here stays here.

    `dropped`: clocks of this report that are not owed by the facts of the other, as was acknowledged by name.
    """

    kind = "spill:merged"
    into: str
    reason: str
    dropped: list[int] = Field(default_factory=list)


class DuplicateTaken(SpillEvent):
    """Another report tells of this spill. What it knew first, and what was done about it, counts here.

    `took`: facts of this spill that were amended to what the other says: {key: [before, after]}.
    """

    kind = "spill:took-duplicate"
    other: str
    reason: str
    took: dict[str, tuple[JsonValue, JsonValue]] = Field(default_factory=dict)


class SpillUnmerged(SpillEvent):
    """It was no duplicate: this report tells of a spill of its own, apart from `parted_from`."""

    kind = "spill:unmerged"
    parted_from: str
    reason: str


class DuplicateGivenBack(SpillEvent):
    """The other report was no duplicate of this spill. `returned`: facts taken from it that were put back; `stays`: those amended since."""

    kind = "spill:gave-back-duplicate"
    other: str
    reason: str
    returned: list[str] = Field(default_factory=list)
    stays: list[str] = Field(default_factory=list)


class SpillSplit(SpillEvent):
    """This report tells of two spills; the second is `part`."""

    kind = "spill:split"
    part: str
    reason: str


class SplitOff(SpillEvent):
    """This spill was told of by the report of another one, `origin`. `acts`: those of its acts that were about this one, too."""

    kind = "spill:split-off"
    origin: str
    reason: str
    acts: list[int] = Field(default_factory=list)


class SpillReferred(SpillEvent):
    """Another agency was asked to deal with it. What the law asks of the city stays with the city.

    `contact`: whom there; `how`: by which way; `sent`: what they were given; `because`: why it is theirs.
    """

    kind = "spill:referred"
    agency: str
    contact: str
    how: str
    sent: str
    because: str


class SpillForwarded(SpillEvent):
    """The Open311 system of the city took it. `where`: its machine; `number`: what it is known by there; `by`: who had it sent."""

    kind = "spill:forwarded"
    where: str
    number: str
    words: str
    by: str


class ForwardAnswered(SpillEvent):
    """The Open311 system of the city has news of it: `status` there (open, closed), and `notes` in its words."""

    kind = "forward:answered"
    where: str
    number: str
    status: str
    notes: str


class CauseFound(SpillEvent):
    """Why it came to the spill: a word of service/causes.py, empty where that is not known after all. `source`: by whom it is known."""

    kind = "cause:found"
    cause: str
    note: str
    source: str
    before: str


class OfficerAssigned(SpillEvent):
    """Who of the staff answers for the spill, by e-mail address; empty is nobody."""

    kind = "officer:assigned"
    officer: str
    before: str


class ParticularsRecorded(SpillEvent):
    """What papers ask for beyond the facts of the law became known or was amended: the water's name, who was hurt.

    `changes` keeps both values of each: [before, after], null for unknown; the keys are those of service/particulars.py. `source` says by
    whom they are known, a word of service/fact_sources.py.
    """

    kind = "particulars:recorded"
    changes: dict[str, tuple[JsonValue, JsonValue]]
    source: str
    reason: str = ""


class PersonalDestroyed(SpillEvent):
    """What was sealed of these events of the spill, by number, was destroyed. What is open of them stays, and the chain with it.

    `basis`: retention, request, redaction; `instead`: what is shown in its place from now on, by number of the event and field, such as a
    text in which a name was masked.
    """

    kind = "personal:destroyed"
    events: list[int]
    basis: str
    reason: str
    instead: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)


class HoldPlaced(SpillEvent):
    """A legal hold: the record is kept, whatever its time of keeping says, until the hold of this number is lifted."""

    kind = "hold:placed"
    hold: int
    reason: str


class HoldLifted(SpillEvent):
    """A legal hold counts no more."""

    kind = "hold:lifted"
    hold: int
    reason: str


class RecordDestroyed(SpillEvent):
    """The certificate: nothing is left of the record but what the law counts by. Who did it is the actor, when the moment of the event.

    `counts`: how many of each kind, by the words of service/destruction.py; `law`: what had kept it, each {why, duty, citation, until};
    `allowed_from`: the date from which it might be destroyed (UTC); `head`: the spill that it was merged into, empty where none.
    """

    kind = "record:destroyed"
    counts: dict[str, int]
    law: list[dict[str, str]]
    allowed_from: str
    reason: str
    head: str = ""


class ForgetAsked(SpillEvent):
    """The reporter wishes to be forgotten. `kept_by`: what keeps who they are, each {why, citation, until}; empty: it is done at once."""

    kind = "reporter:forget-asked"
    kept_by: list[dict[str, str]] = Field(default_factory=list)


class ReporterForgotten(SpillEvent):
    """Who reported it was destroyed, as they wished; what happened stays. `counts`: how many of each kind."""

    kind = "reporter:forgotten"
    counts: dict[str, int]
