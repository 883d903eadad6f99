"""What follows when a message gets nowhere: the person's next channel, then the alarm and the next rung; and no more to a dead address."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import col

from service import escalation, outbox
from service.dead_addresses import suppress_bounced as suppress_bounced
from service.dead_addresses import suppress_by_code as suppress_by_code
from service.dead_addresses import suppress_for
from service.events import ChannelChanged, MessageFailed, MessageGaveUp
from service.outbox import OPEN_STATES
from service.parties import Person, last_resort, people_of
from service.suppressions import why_not
from service.tables import MessageRow, Obligation, Spill
from service.transaction import Recorded, Transaction


async def suppress_refused(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a message given up: where the refusal says that the address is dead or its owner wants no more, it gets no more."""
    if isinstance(recorded.event, MessageGaveUp):
        await suppress_for(tx, await tx.session.get_one(MessageRow, recorded.event.message), recorded.event.reason)


async def go_on(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a message that got nowhere, or of which nothing is heard: the same person is told by their next channel.

    Where there is none, and the message is known to have failed as the last of its rung, that rung reached nobody.
    """
    event, spill = recorded.event, recorded.spill
    if not isinstance(event, MessageGaveUp | MessageFailed) or event.obligation is None:
        return
    message = await tx.session.get_one(MessageRow, event.message)
    obligation = await tx.obligation(event.obligation)
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
    people = await (last_resort(tx, spill) if message.role == "administrator" else people_of(tx, spill, message.role, message.promised_at))
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
