"""What a reporter is told of the wish to be forgotten: whether it is done, and what still keeps who they are, with its law and date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.closing import History
from service.events import ReporterForgotten
from service.forgetting import what_keeps
from service.pages.speech import Speech
from service.retention import HOLD, LAW, Keeper
from service.tables import Spill
from service.transaction import Transaction


@dataclass(frozen=True, slots=True)
class ForgetShown:
    """`state`: forgotten; waits, for it was asked; or open. `kept_by`: what keeps who reported, a sentence each."""

    state: str
    kept_by: Sequence[str] = ()


async def forget_shown(tx: Transaction, spill: Spill, history: History, speech: Speech) -> ForgetShown:
    """How it stands with the wish of a reporter to be forgotten."""
    if any(isinstance(event, ReporterForgotten) for _, event in history):
        return ForgetShown("forgotten")
    zone = tx.house.rulebook.zones[spill.city or tx.house.first_city]
    kept_by = [_in_words(one, speech, zone) for one in await what_keeps(tx, spill)]
    return ForgetShown("open" if spill.forget_asked_at is None else "waits", list(dict.fromkeys(kept_by)))


def _in_words(one: Keeper, speech: Speech, zone: Any) -> str:
    if one.why == HOLD:
        return speech.say("A court case, an audit or an inquiry needs the record, for as long as it lasts.")
    if one.why != LAW:
        return speech.say("It is not known yet which city the report belongs to, and so which law counts.")
    if one.until is None:
        return speech.say("%(law)s keeps the record for years, from a day that is not known yet.", law=one.citation)
    return speech.say("%(law)s keeps the record until %(when)s.", law=one.citation, when=speech.stamp(one.until, zone))
