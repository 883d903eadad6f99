"""What would follow from facts that nobody reported: the law of a city asked without storing anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from deadlines import CityLaw, Clock, FactFaults, Facts, assess, read_facts
from deadlines.inquiry import Inquiry, inquire
from deadlines.strip import strip_as_json
from service.errors import BadInput
from service.office_days import rulebook_of
from service.transaction import Transaction

# A matter of real life has a handful. Each may start clocks that every other may end, so that thousands would take minutes.
MOST_EVENTS = 200


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What the law of a city asks for some facts: its clocks, what to ask next, and the arithmetic of the reportable quantity."""

    facts: Facts
    law: CityLaw
    clocks: tuple[Clock, ...]
    inquiries: tuple[Inquiry, ...]
    reportable: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The answer as JSON has it: each clock as in the contract, with its strip."""
        return {
            "clocks": [{**clock.as_json(), "strip": strip_as_json(clock.counted)} for clock in self.clocks],
            "questions": [inquiry.as_json() for inquiry in self.inquiries], "reportable_quantity": list(self.reportable),
        }  # fmt: skip


async def what_if(tx: Transaction, given: Mapping[str, Any], now: datetime) -> WhatIf:
    """The law's answer to a fact object as it stands at `now`, on today's calendars. Raises BadInput with one line a fault."""
    rulebook = await rulebook_of(tx)
    events = given.get("events")
    if isinstance(events, list) and len(events) > MOST_EVENTS:
        raise BadInput("the facts have faults", [f"events: {len(events)} of them; right would be: at most {MOST_EVENTS}"])
    try:
        facts = read_facts(given, rulebook.zones, frozenset(rulebook.recipients))
    except FactFaults as error:
        raise BadInput("the facts have faults", [str(fault) for fault in error.faults]) from None
    assessment = assess(facts, rulebook, now)
    inquiries = tuple(inquire(facts, rulebook, now, assessment))
    return WhatIf(facts, rulebook.law_of(facts.jurisdiction), assessment.clocks, inquiries, assessment.reportable)
