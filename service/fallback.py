"""What follows when a message gets nowhere: the person's next channel, then the alarm and the next rung; and no more to a dead address."""

from __future__ import annotations

import re

from sqlalchemy import select
from sqlmodel import col

from service import escalation, outbox
from service.events import ChannelChanged, MessageFailed, MessageGaveUp
from service.outbox import OPEN_STATES
from service.parties import Person, last_resort, people_of
from service.suppressions import suppress, why_not
from service.tables import MessageRow, Obligation, Spill
from service.transaction import Recorded, Transaction

# Twilio's error codes that say something of the number itself: its owner wrote STOP; it is no mobile, does not exist, or takes no texts.
_OPTED_OUT = "21610"
_NO_SUCH_NUMBER = ("30005", "30006", "21211", "21614")
_TWILIO_ERROR = re.compile(r"Twilio error (\d{5})\b")
# Enhanced status codes (RFC 3463) that say for good that the address takes no mail. A full mailbox, a message that is too large, its
# content and a server's policy say nothing of the address: another message may pass.
_DEAD_MAILBOX = re.compile(r"\b5\.(?:0\.0|1\.\d{1,3}|2\.[01]|4\.\d{1,3})\b")


async def suppress_refused(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a message given up: where the refusal says that the address is dead or its owner wants no more, it gets no more."""
    event = recorded.event
    if not isinstance(event, MessageGaveUp):
        return
    message = await tx.session.get_one(MessageRow, event.message)
    if message.channel == "email":
        if re.match(r"55\d\b", event.reason):
            await suppress_bounced(tx, message, event.reason)
    elif found := _TWILIO_ERROR.search(event.reason):
        await suppress_by_code(tx, message, found[1])


async def suppress_by_code(tx: Transaction, message: MessageRow, code: str) -> None:
    """Send no more texts to a number where an error code of Twilio says that there is no sense in it."""
    if message.channel == "sms" and code in (_OPTED_OUT, *_NO_SUCH_NUMBER):
        reason = "opted_out" if code == _OPTED_OUT else "bounced"
        await suppress(tx, "sms", message.address, reason, f"Twilio error {code}", message)


async def suppress_bounced(tx: Transaction, message: MessageRow, answer: str) -> bool:
    """Send no more mail to an address where the answer says that it takes none for good. Returns whether it says so."""
    if _DEAD_MAILBOX.search(answer) is None:
        return False
    await suppress(tx, "email", message.address, "bounced", answer, message)
    return True


async def go_on(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a message that got nowhere, or of which nothing is heard: the same person is told by their next channel.

    Where there is none, and the message is known to have failed as the last of its rung, that rung reached nobody.
    """
    event, spill = recorded.event, recorded.spill
    if not isinstance(event, MessageGaveUp | MessageFailed) or event.obligation is None:
        return
    message = await tx.session.get_one(MessageRow, event.message)
    obligation = await tx.session.get_one(Obligation, event.obligation)
    if obligation.state not in OPEN_STATES or await escalation.has_seen(tx, spill, obligation, message):
        return
    planned_now = message.climb.startswith(outbox.climbing(obligation))
    following = await _next_channel(tx, spill, obligation, message) if planned_now else None
    if following is not None:
        person, channel = following
        changed = ChannelChanged(
            message=message.id, obligation=obligation.id or 0, person=person.name, before=message.channel, after=channel, step=message.step
        )
        await tx.record(spill, changed)
        await escalation.tell_otherwise(tx, spill, obligation, message, person, channel)
    elif isinstance(event, MessageGaveUp) or not event.silent:
        await escalation.wake_somebody_else(tx, spill, obligation, message, event.reason)


async def _next_channel(tx: Transaction, spill: Spill, obligation: Obligation, message: MessageRow) -> tuple[Person, str] | None:
    """The person of a message, and the first of their channels that the ladder allows and that was not tried for the same rungs."""
    people = await (last_resort(tx, spill) if message.role == "administrator" else people_of(tx, spill, message.role))
    mine = [one for one in people if one.addresses.get(message.channel, "").lower() == message.address.lower()]
    mine = mine or [one for one in people if one.name == message.person]
    if not mine:
        return None
    person = mine[0]
    same = (col(MessageRow.climb) == message.climb, col(MessageRow.person) == message.person)
    tried = set((await tx.session.execute(select(col(MessageRow.channel)).where(*same))).scalars())
    for channel in escalation.channels_for(obligation, message):
        if channel not in tried and channel in person.addresses and not await why_not(tx, channel, person.addresses[channel]):
            return person, channel
    return None
