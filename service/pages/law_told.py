"""A rule in the words of a page: what starts its time, and whom it wakes. As JSON, deadlines.explaining tells the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from deadlines.ladder import Rung
from deadlines.rules import Rule
from service.pages.law_words import CHOICES, EVENTS, OWED_BY
from service.pages.speech import Speech, marked

_STARTS: Mapping[str, str] = {
    "known_at": marked("when the spill was first known"), "reported_at": marked("when the city was told"),
    "planned_at": marked("when the act is planned for"),
    "discharged_at": marked("when the spill began; where that is not known, when it was first known"),
    "discharged_at only": marked("when the spill began, once that is known"),
    "ended_at only": marked("when the spill ended, once that is known"), "hearing_at": marked("when the hearing is held"),
}  # fmt: skip
_ROLES: Mapping[str, str] = {
    "discharger": OWED_BY["discharger"], "duty_officer": marked("the duty officer"), "supervisor": marked("the supervisor"),
    "director": marked("the director"),
}  # fmt: skip
_CHANNELS: Mapping[str, str] = {
    "sms": marked("text message"), "email": marked("e-mail"), "voice": marked("call"), "webhook": marked("webhook"),
    "apprise": marked("chat message"),
}  # fmt: skip


def starts_told(speech: Speech, rule: Rule) -> str:
    """What a clock is counted from, in the language of a page."""
    if rule.trigger is None:
        return speech.say(_STARTS[rule.starts])
    named = [speech.say(CHOICES[str(word)]) for words in rule.trigger.where.values() for word in words if str(word) in CHOICES]
    event = speech.say(EVENTS[rule.trigger.event]) + (f" ({'; '.join(named)})" if named else "")
    if rule.starts != "event":
        return speech.say("%(moment)s; owed after: %(event)s", moment=speech.say(_STARTS[rule.starts]), event=event)
    return speech.say("The first time: %(event)s", event=event) if rule.trigger.first_only else event


def rung_told(speech: Speech, rung: Rung) -> str:
    """One rung of a ladder, in the language of a page: whom it wakes, how, and when."""
    who = speech.listed(speech.say(_ROLES[role]) for role in rung.tell)
    how = speech.listed(speech.say(_CHANNELS[channel]) for channel in rung.by)
    told = speech.say("%(when)s: %(who)s, by %(how)s", when=moment_told(speech, rung), who=who, how=how)
    if rung.unless_acknowledged:
        told += speech.say(", unless somebody has said that they have seen it")
    return told + repeats_told(speech, rung)


def repeats_told(speech: Speech, rung: Rung) -> str:
    """How a rung is climbed again, as the end of a sentence in the language of a page; nothing for one that is climbed once."""
    if rung.every is None:
        return ""
    span, times = speech.span(rung.every), speech.number(rung.times)
    again = speech.say(", then again after %(span)s, %(times)s times in all", span=span, times=times)
    return again + (speech.say(", each gap longer than the one before") if rung.growing > 1 else "")


def moment_told(speech: Speech, rung: Rung) -> str:
    """When a rung is climbed first, in the language of a page."""
    span = speech.span(rung.offset)
    if not rung.offset:
        return speech.say("When it is due") if rung.from_due else speech.say("At the start")
    if not rung.from_due:
        return speech.say("%(span)s after the start", span=span)
    return speech.say("%(span)s before it is due", span=span) if rung.offset < timedelta() else speech.say("%(span)s overdue", span=span)
