"""The words for the people of a discharger: the private link that is issued to them, and the receipt of a report they filed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from deadlines.rules import Recipient
from service.events import FollowUpFiled
from service.speech import Speech, marked, notice_speech
from service.tables import Spill
from service.wording.composing import Words, compose
from service.wording.news import stop_words
from service.wording.telling import happened, how, span, when
from service.wording.template import Own, Values

# The law's words for what a report lacks are many; a message names so many of them.
_MISSING_NAMED = 5
_WHOLE = marked("It holds everything that the law lists.")


def for_respondent(spill: Spill, name: str, link: str, city: str, channel: str, language: str, own: Own) -> Words:
    """What somebody is told whom the discharger's private link is issued to."""
    speech = notice_speech(language)
    said = {
        "reference": spill.reference, "link": link, "city": city, "name": name, "happened": happened(spill, speech),
        "stop": stop_words(channel, speech),
    }  # fmt: skip
    return compose("respond_link", Values(said), speech, own)


@dataclass(frozen=True, slots=True)
class Owed:
    """The duty that a report is for: its clock, whom it is owed to, and whether filing here hands the report in to them."""

    clock: Mapping[str, Any]
    recipient: Recipient | None
    reached: bool


def for_filer(
    spill: Spill, stamp: FollowUpFiled, owed: Owed, at: datetime, zone: ZoneInfo, link: str, city: str, language: str, own: Own
) -> Words:
    """What whoever filed a report is told: its stamp, what it lacks, to whom a copy must go, and where the receipt is. `at`: of filing."""
    speech = notice_speech(language)
    said = {
        "reference": spill.reference, "link": link, "city": city, "title": speech.say(str(owed.clock["title"])),
        "version": str(stamp.version), "name": ", ".join(part for part in (stamp.by, stamp.title) if part),
        "standing": stamped(stamp, at, zone, speech), "missing": _missing(stamp, speech),
        "copy": _copy(owed, speech), "stop": stop_words("email", speech),
    }  # fmt: skip
    return compose("filed", Values(said), speech, own)


def stamped(stamp: FollowUpFiled, at: datetime, zone: ZoneInfo, speech: Speech) -> str:
    """When a report was filed, and whether that was on time."""
    moment = when(at, zone, speech)
    if stamp.after_met:
        return speech.say("Filed %(when)s, after the duty was done", when=moment)
    if stamp.due_at is None:
        return speech.say("Filed %(when)s", when=moment)
    if stamp.on_time:
        return speech.say("Filed %(when)s, on time", when=moment)
    return speech.say("Filed %(when)s, late by %(span)s", when=moment, span=span(timedelta(seconds=stamp.late_by_s or 0), speech))


def _copy(owed: Owed, speech: Speech) -> str:
    if owed.recipient is None:
        return ""
    return speech.handed_in(speech.say(owed.recipient.name), how(owed.clock, speech), to_city=owed.reached)


def _missing(stamp: FollowUpFiled, speech: Speech) -> str:
    if not stamp.missing:
        return speech.say(_WHOLE)
    named = [speech.say(item) for item in stamp.missing]
    rest = [speech.say("and more")] if len(named) > _MISSING_NAMED else []
    return speech.say("It does not meet the duty yet. Missing: %(items)s.", items="; ".join(named[:_MISSING_NAMED] + rest))
