"""What happens when people are told: rungs, messages, replies, addresses. Part of the closed list in `events`."""

from __future__ import annotations

from service.spill_event import SpillEvent


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
