"""A spill is referred to another agency: which, whom there, when, by whom, and what they were given. The city's own duties stay its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from deadlines import as_z, read_moment
from service.errors import BadInput
from service.events import SpillEvent, SpillReferred
from service.spills import FUTURE_SLACK, clean, stated
from service.tables import EventRow, Spill
from service.transaction import Transaction

LONGEST = 2000
# One press of a button may arrive twice.
_ONE_PRESS = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Referral:
    """What is recorded of a referral. `at`: when they were asked, local to the city or with an offset; empty is now."""

    agency: str
    contact: str = ""
    how: str = ""
    sent: str = ""
    because: str = ""
    at: str = ""


async def refer(tx: Transaction, spill: Spill, said: Referral) -> bool:
    """Record a referral. Returns False, and records nothing, where the very same was recorded a moment ago.

    Raises BadInput without an agency, a reason or what was sent, and for a time that lies ahead or cannot be read.
    """
    faults = [
        f"{key}: missing; right would be: {right}"
        for key, right in (
            ("agency", "who is to deal with it"), ("because", "why it is theirs"), ("sent", "what they were given or told"),
        )
        if not stated(getattr(said, key))
    ]  # fmt: skip
    texts = {key: clean(getattr(said, key)) for key in ("agency", "contact", "how", "sent", "because")}
    faults += [f"{key}: over {LONGEST:,} characters; right would be: fewer" for key, text in texts.items() if len(text) > LONGEST]
    at = _moment(tx, spill, said.at, faults)
    if faults:
        raise BadInput("the referral cannot be recorded so", faults)
    event = SpillReferred(**texts)
    if any(before == event and row.recorded_at > tx.now - _ONE_PRESS for row, before in await tx.history(spill)):
        return False
    await tx.record(spill, event, at)
    return True


def _moment(tx: Transaction, spill: Spill, typed: str, faults: list[str]) -> datetime:
    if not typed.strip():
        return tx.now
    try:
        at = read_moment(typed, tx.house.rulebook.zones[spill.city or tx.house.first_city])
    except ValueError as error:
        faults.append(f"at: {clean(str(error))[:200]}; right would be: the time they were asked, or nothing for now")
        return tx.now
    if at > tx.now + FUTURE_SLACK:
        faults.append(f"at: {as_z(at)} lies in the future; right would be: a time that has passed")
    return at


def referrals_in(history: list[tuple[EventRow, SpillEvent]]) -> list[tuple[EventRow, SpillReferred]]:
    """The referrals on record, the newest first."""
    return [(row, event) for row, event in reversed(history) if isinstance(event, SpillReferred)]
