"""Texts for the ear: times in words, references and telephone numbers sign by sign."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from babel.dates import format_date, get_timezone_name

from service.speech import LOCALES, Speech

_ONES = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
    "es": "cero una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve",
}
_PARTS_OF_DAY = ((6, "de la madrugada"), (12, "de la mañana"), (19, "de la tarde"), (24, "de la noche"))
_TENS = {"en": ["twenty", "thirty", "forty", "fifty"], "es": ["veinte", "treinta", "cuarenta", "cincuenta"]}


def _words(number: int, language: str) -> str:
    """A number below sixty in words."""
    ones = _ONES[language].split()
    if number < 20:
        return ones[number]
    tens, rest = _TENS[language][number // 10 - 2], number % 10
    if not rest:
        return tens
    one = "uno" if language == "es" and rest == 1 else ones[rest]
    if language == "es":
        joined = {2: "veintidós", 3: "veintitrés", 6: "veintiséis"}.get(rest, f"veinti{one}")
        return joined if number < 30 else f"{tens} y {one}"
    return f"{tens} {one}"


def _minutes(minute: int) -> str:
    """Minutes in Spanish, where they are counted in the other gender than hours."""
    return {1: "uno", 2: "dos", 15: "cuarto", 30: "media"}.get(minute, _words(minute, "es"))


def time_aloud(moment: datetime, zone: ZoneInfo, speech: Speech) -> str:
    """A local time of day in words: four oh five P M Pacific time. In the hour that a night has twice, which of the two it is.

    Seconds are left out: the minute before is the safe side.
    """
    there = moment.astimezone(zone)
    hour = there.hour % 12 or 12
    name = str(get_timezone_name(zone, zone_variant="generic", locale=LOCALES[speech.language]))
    if speech.language == "es":
        minutes = f" y {_minutes(there.minute)}" if there.minute else " en punto"
        part = next(part for until, part in _PARTS_OF_DAY if there.hour < until)
        clock = f"{'la' if hour == 1 else 'las'} {_words(hour, 'es')}{minutes} {part}, {name}"
    else:
        minutes = f" oh {_words(there.minute, 'en')}" if 0 < there.minute < 10 else f" {_words(there.minute, 'en')}" if there.minute else ""
        clock = f"{_words(hour, 'en')}{minutes} {'A M' if there.hour < 12 else 'P M'} {name.replace(' Time', ' time')}"
    if there.replace(fold=0).utcoffset() != there.replace(fold=1).utcoffset():
        first = speech.say("the first time that the clocks show it, before they go back")
        second = speech.say("the second time that the clocks show it, after they went back")
        clock = f"{clock}, {second if there.fold else first}"
    return clock


def moment_aloud(moment: datetime, zone: ZoneInfo, now: datetime, speech: Speech) -> str:
    """A day and a time in words: today, Tuesday, December 1, at four oh five P M Pacific time."""
    there = moment.astimezone(zone)
    days = (there.date() - now.astimezone(zone).date()).days
    word = {0: speech.say("today"), 1: speech.say("tomorrow")}.get(days, "")
    pattern = "EEEE, MMMM d" if speech.language == "en" else "EEEE d 'de' MMMM"
    day = str(format_date(there.date(), pattern, locale=LOCALES[speech.language]))
    return speech.say("%(day)s, at %(time)s", day=f"{word}, {day}" if word else day, time=time_aloud(moment, zone, speech))


def sign_by_sign(text: str) -> str:
    """A reference or a number as it is read out, its groups with a pause between: S P, 2 0 2 6, 0 0 0 0 1."""
    return ", ".join(" ".join(group) for group in re.findall(r"[A-Za-z]+|\d+", text))


def numbers_aloud(text: str) -> str:
    """A text whose telephone numbers are read digit by digit."""
    return re.sub(r"\+?\d[\d ()-]{5,}\d", lambda found: sign_by_sign(found[0]), text)
