"""A time limit and how it was counted, in plain words of a language: built anew from what a clock holds, not from the engine's own steps.

The engine's steps are for whoever checks the arithmetic; they name the instant in UTC and stay in English.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import format_time

from deadlines.limits import Limit
from service.pages.speech import Speech, is_immediate, marked, moment_of
from service.speech import LOCALES

_FIXED: Mapping[str, str] = {"immediately": marked("Immediately"), "before act": marked("Before the act")}
# How days are counted, by shape of the limit and whether it is counted back from an act.
_DAYS: Mapping[tuple[str, bool], str] = {
    ("calendar days", False): marked(
        "The time limit is %(limit)s. The first day is not counted; then every day is, weekends and holidays too."
    ),
    ("calendar days", True): marked("The time limit is %(limit)s. The day of the act is not counted; every other day is."),
    ("open days", False): marked(
        "The time limit is %(limit)s. The first day is not counted, nor is any day on which the offices are closed."
    ),
    ("open days", True): marked(
        "The time limit is %(limit)s. The day of the act is not counted, nor is any day on which the offices are closed."
    ),
}
_CANNOT = "Cannot be computed"


def limit_words(speech: Speech, text: str) -> str:
    """A time limit of a rule in words; as it stands where it is none that we know, as that of a pack from long ago may be."""
    try:
        limit = Limit.parse(text)
    except ValueError:
        return text
    told = _plain_limit(speech, limit)
    return speech.say("%(limit)s, or sooner where an order says so", limit=told) if limit.or_sooner else told


def _plain_limit(speech: Speech, limit: Limit) -> str:
    if limit.shape in _FIXED:
        return speech.say(_FIXED[limit.shape])
    if limit.shape == "comply by":
        if limit.else_immediately:
            return speech.say("By the time that the order sets; immediately where it sets none")
        return speech.say("By the time that the order sets")
    span = _span(speech, limit)
    if limit.shape == "recurring":
        if limit.once_after:
            return speech.say("Every %(span)s until it has ended, and once more after that", span=span)
        return speech.say("Every %(span)s until it has ended", span=span)
    if limit.backward:
        span = speech.say("%(span)s before the act", span=span)
    if limit.by is None:
        return span
    return speech.say("%(span)s, by %(hour)s", span=span, hour=format_time(limit.by, "h:mm a", locale=LOCALES[speech.language]))


def _span(speech: Speech, limit: Limit) -> str:
    match limit.unit:
        case "minutes":
            return speech.count("%(number)s minute", "%(number)s minutes", limit.count)
        case "hours":
            return speech.count("%(number)s hour", "%(number)s hours", limit.count)
        case "working days":
            return speech.count("%(number)s working day", "%(number)s working days", limit.count)
        case "business days":
            return speech.count("%(number)s business day", "%(number)s business days", limit.count)
        case "years":
            return speech.count("%(number)s year", "%(number)s years", limit.count)
    return speech.count("%(number)s calendar day", "%(number)s calendar days", limit.count)


def counting_words(speech: Speech, clock: Mapping[str, Any], zone: ZoneInfo) -> list[str]:
    """How the time of a clock was counted, a sentence a step, with local times to the second."""
    starts_at, due_at = moment_of(clock["starts_at"]), moment_of(clock["due_at"])
    if starts_at is None or due_at is None:
        return [_not_counted(speech, clock)]
    steps = [speech.say("Counted from %(when)s.", when=speech.when(starts_at, zone))]
    if is_immediate(clock):
        return [*steps, speech.say("The law says immediately and gives no number of minutes or hours. Do it at once.")]
    try:
        limit = Limit.parse(str(clock["limit"]))
    except ValueError:
        return [*steps, speech.say("Due %(when)s.", when=speech.when(due_at, zone))]
    steps += _middle(speech, limit, clock)
    if limit.shape == "elapsed":
        steps += _clock_change(speech, starts_at, due_at, zone)
    if limit.shape == "open days" and limit.by is None:
        return [*steps, speech.say("Due %(when)s, when the offices close.", when=speech.when(due_at, zone))]
    return [*steps, speech.say("Due %(when)s.", when=speech.when(due_at, zone))]


def _not_counted(speech: Speech, clock: Mapping[str, Any]) -> str:
    if any(str(step).startswith(_CANNOT) for step in clock["counting"]):
        return speech.say("The last day cannot be counted now. Ask the city until when it must be done.")
    if str(clock["limit"]).startswith("comply_by"):
        return speech.say("It has not begun to count: the order names no time to comply, or it is not on record yet.")
    return speech.say("It has not begun to count: what it counts from has not happened, or is not on record yet.")


def _middle(speech: Speech, limit: Limit, clock: Mapping[str, Any]) -> list[str]:
    told = limit_words(speech, limit.text)
    match limit.shape:
        case "elapsed":
            return [speech.say("The time limit is %(limit)s. Nights, weekends and holidays count.", limit=told)]
        case "calendar days" | "open days":
            return [speech.say(_DAYS[limit.shape, limit.backward], limit=told)]
        case "years":
            return [speech.say("The time limit is %(limit)s, to the end of the same day of the year.", limit=told)]
        case "recurring":
            number = speech.number(clock["occurrence"] or 1)
            return [speech.say("It comes again: %(limit)s. This is number %(number)s.", limit=told, number=number)]
        case "before act":
            return [speech.say("It must be done before the act.")]
    return [speech.say("The order itself sets the time.")]


def _clock_change(speech: Speech, starts_at: datetime, due_at: datetime, zone: ZoneInfo) -> list[str]:
    before, after = (moment.astimezone(zone).utcoffset() or timedelta() for moment in (starts_at, due_at))
    if before == after:
        return []
    if after > before:
        return [speech.say("The clocks go forward by %(span)s in between.", span=speech.span(after - before))]
    return [speech.say("The clocks go back by %(span)s in between.", span=speech.span(before - after))]
