"""How the program speaks to people: in English or Spanish, with times in the city's zone and lengths of time in words."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_datetime, get_timezone_name
from babel.lists import format_list
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from babel.support import NullTranslations, Translations
from markupsafe import Markup, escape

from deadlines import read_moment
from deadlines.limits import IMMEDIATELY

LANGUAGES: Mapping[str, str] = {"en": "English", "es": "Español"}
LOCALES: Mapping[str, str] = {"en": "en_US", "es": "es_US"}
_A_MINUTE = timedelta(minutes=1)


def marked(text: str) -> str:
    """The same text, marked for the catalogue of translations; said later by a `Speech`."""
    return text


@lru_cache(maxsize=10_000)
def _written(moment: datetime, pattern: str, zone: ZoneInfo, locale: str) -> str:
    """A moment in the local time of a zone. Kept, because a page says the same moments again and again, and each takes its time."""
    return str(format_datetime(moment, pattern, tzinfo=zone, locale=locale))


@lru_cache(maxsize=10_000, typed=True)
def _decimal(number: float, locale: str) -> str:
    """A number as it is written in a locale. Kept, because every length of time says two of them."""
    return str(format_decimal(number, locale=locale))


@lru_cache(maxsize=10_000)
def moment_of(text: str | None) -> datetime | None:
    """An instant of a clock object."""
    return None if text is None else read_moment(text, ZoneInfo("UTC"))


def local(moment: datetime, zone: ZoneInfo) -> str:
    """Mon Nov 30, 4:05:09 PM PST; the seconds only where there are some."""
    there = moment.astimezone(zone)
    clock = there.strftime("%I:%M:%S %p" if there.second else "%I:%M %p").lstrip("0")
    return f"{there.strftime('%a %b')} {there.day}, {clock} {there.strftime('%Z')}"


@dataclass(frozen=True)
class Speech:
    """One language of pages and messages."""

    language: str
    translations: NullTranslations

    def say(self, text: str, **values: Any) -> str:
        """The text in this language, with its named values filled in."""
        said: str = self.translations.gettext(text) if text else ""
        return said % values if values else said

    def count(self, one: str, many: str, number: int, **values: Any) -> str:
        """The text for a number of things; `%(number)s` is the number."""
        said: str = self.translations.ngettext(one, many, number)
        return said % {"number": self.number(number), **values}

    def law(self, text: str) -> Markup:
        """Words of a rule pack; where this language has none of its own, in English and marked as such for screen readers."""
        said = self.say(text)
        if self.language == "en" or said != text:
            return escape(said)
        return Markup('<span lang="en">{}</span>').format(text)

    def listed(self, things: Iterable[str]) -> str:
        """Things one after the other: a, b and c."""
        return str(format_list(list(things), style="standard", locale=LOCALES[self.language])).replace(", and ", " and ")

    def number(self, number: float) -> str:
        """A number as people of this language write it."""
        return _decimal(number, LOCALES[self.language])

    def when(self, moment: datetime, zone: ZoneInfo) -> str:
        """Local time with the zone's abbreviation: Mon Nov 30, 4:05 PM PST."""
        if self.language == "en":
            return local(moment.replace(microsecond=0), zone)
        clock = "h:mm:ss a" if moment.second else "h:mm a"
        return _written(moment, f"EEE d MMM, {clock} zzz", zone, LOCALES[self.language])

    def stamp(self, moment: datetime, zone: ZoneInfo) -> str:
        """Local time with its year: Nov 30, 2026, 4:05 PM PST."""
        pattern = "MMM d, y, h:mm a zzz" if self.language == "en" else "d MMM y, h:mm a zzz"
        return _written(moment, pattern, zone, LOCALES[self.language])

    def day(self, moment: datetime, zone: ZoneInfo) -> str:
        """The local day: Monday, November 30, 2026."""
        pattern = "EEEE, MMMM d, y" if self.language == "en" else "EEEE, d 'de' MMMM 'de' y"
        return _written(moment, pattern, zone, LOCALES[self.language])

    def short_day(self, day: date, *, year: bool = False) -> tuple[str, str]:
        """A calendar day in short, as the name of its weekday and its date: Mon, Dec 7, with the year where wanted."""
        pattern = "MMM d" if self.language == "en" else "d MMM"
        dated = f"{pattern}, y" if self.language == "en" else f"{pattern} y"
        locale = LOCALES[self.language]
        return str(format_date(day, "EEE", locale=locale)), str(format_date(day, dated if year else pattern, locale=locale))

    def dated(self, day: date) -> str:
        """A calendar day with its year: Dec 7, 2026."""
        return self.short_day(day, year=True)[1]

    def hour(self, moment: datetime, zone: ZoneInfo) -> str:
        """The local time of day: 4:05 PM PST."""
        return _written(moment, "h:mm a zzz", zone, LOCALES[self.language])

    def zone_name(self, zone: ZoneInfo) -> str:
        """The zone by a name that holds all year, for fields that take a local time of any day: Pacific Time."""
        return str(get_timezone_name(zone, zone_variant="generic", locale=LOCALES[self.language]))

    def span(self, length: timedelta) -> str:
        """A length of time in its two largest parts: 2 days 3 hours, 10 seconds."""
        seconds = int(abs(length).total_seconds())
        days, hours, minutes, rest = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60, seconds % 60
        told = [
            self.count("%(number)s day", "%(number)s days", days) if days else "",
            self.count("%(number)s hour", "%(number)s hours", hours) if hours else "",
            self.count("%(number)s minute", "%(number)s minutes", minutes) if minutes else "",
            self.count("%(number)s second", "%(number)s seconds", rest) if rest else "",
        ]
        return " ".join([part for part in told if part][:2]) or self.count("%(number)s second", "%(number)s seconds", 0)

    def due(self, clock: Mapping[str, Any], zone: ZoneInfo) -> str:
        """When an open clock is due. Duties that are owed immediately are never told as a time."""
        due_at = moment_of(clock["due_at"])
        if due_at is None:
            return self.say("No due time yet")
        return self.say("Immediately") if is_immediate(clock) else self.when(due_at, zone)

    def handed_in(self, who: str, how: str, *, to_city: bool) -> str:
        """Where a report that was filed here has got to, and to whom a copy must still go. `how`: the ways that count, in words."""
        if to_city:
            return self.say("The law asks for this report to an office of the city: %(who)s. Filing it here hands it in.", who=who)
        return self.say(
            "It is filed with the city, in Spillclock. It is not sent on from here. You must still send a copy to: %(who)s (%(how)s).",
            who=who, how=how,
        )  # fmt: skip

    def standing(self, clock: Mapping[str, Any], zone: ZoneInfo, now: datetime) -> str:
        """How a clock stands at `now`, in words: 10 seconds left, overdue by 2 hours, done in time."""
        due_at, starts_at, met_at = moment_of(clock["due_at"]), moment_of(clock["starts_at"]), moment_of(clock["met_at"])
        match clock["state"]:
            case "met" if met_at:
                return self.say("Done on time, %(when)s", when=self.when(met_at, zone))
            case "met_late" if met_at:
                late = self.span(timedelta(seconds=clock["late_by_s"] or 0))
                return self.say("Done %(when)s, late by %(span)s", when=self.when(met_at, zone), span=late)
            case "waived":
                return self.say("Waived by the city")
            case "withdrawn":
                return self.say("Not owed")
        if due_at is None or starts_at is None:
            return self.say("Waiting to start")
        left = due_at - now
        if is_immediate(clock):
            since = now - starts_at
            known = self.say("known for %(span)s", span=self.span(since)) if since >= _A_MINUTE else self.say("known just now")
            return self.say("Overdue; %(known)s", known=known) if left < timedelta() else known
        if abs(left) < timedelta(seconds=1):
            return self.say("Due now")
        if left < timedelta():
            return self.say("Overdue by %(span)s", span=self.span(left))
        return self.say("%(span)s left", span=self.span(left))


def is_immediate(clock: Mapping[str, Any]) -> bool:
    """Whether the law says "immediately": its outer bound is counted, and not told as a due time."""
    starts_at, due_at = moment_of(clock["starts_at"]), moment_of(clock["due_at"])
    return bool(starts_at and due_at and due_at - starts_at == IMMEDIATELY and str(clock["limit"]).endswith("immediately"))


@cache
def catalogue(language: str, domain: str = "messages") -> Catalog:
    """The catalogue of a language as its translators wrote it: `messages` for pages, `notices` for what is sent."""
    text = (files("service") / "locale" / language / "LC_MESSAGES" / f"{domain}.po").read_text(encoding="utf-8")
    return read_po(io.StringIO(text), locale=language)


def _translations(language: str, domain: str) -> Translations:
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(language, domain))
    compiled.seek(0)
    return Translations(compiled)


@cache
def speech(language: str) -> Speech:
    """The speech of pages in a language. English is the language of the source and needs no catalogue."""
    return Speech(language, NullTranslations() if language == "en" else _translations(language, "messages"))


@cache
def notice_speech(language: str) -> Speech:
    """The speech of messages in a language, English where we have no other; words of the pages are known to it too."""
    if language not in LANGUAGES or language == "en":
        return ENGLISH
    notices = _translations(language, "notices")
    notices.add_fallback(_translations(language, "messages"))
    return Speech(language, notices)


ENGLISH = speech("en")
