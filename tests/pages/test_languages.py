"""The catalogue of translations is whole, and both languages tell times, amounts and numbers of things as their people do."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from babel.messages.extract import extract_from_dir

from deadlines import Clock, assess
from service.followups import OUR_CERTIFICATION
from service.pages.speech import ENGLISH, Speech, catalogue, speech
from service.spills import checked_facts
from service.wording import due_words, local, span
from tests.houses import TUESDAY, shipped_law

SERVICE = Path(__file__).parents[2] / "service"
KEYWORDS: dict[str, Any] = {"say": None, "marked": None, "count": (1, 2), "gettext": None, "ngettext": (1, 2), "_": None}
LOS_ANGELES = ZoneInfo("America/Los_Angeles")
SPANISH = speech("es")
_NAMED = re.compile(r"%\((\w+)\)s")


@cache
def messages_in_code() -> set[Any]:
    """Every message of the templates and the modules of the pages; a tuple is one with a plural."""
    pages = ["speech.py", "public_words.py", "pages/**.py", "papers/**.py", "case_file/**.py"]
    pages += ["particulars.py", "causes.py", "fact_sources.py", "open311/**.py", "feeds/**.py", "mailed_reports.py"]
    methods = [*((path, "python") for path in pages), ("templates/**.html", "jinja2")]
    found = extract_from_dir(str(SERVICE), methods, {"jinja2": {"trimmed": "true", "silent": "false"}}, KEYWORDS)
    return {message for _, _, message, _, _ in found}


def words_of_packs() -> set[str]:
    """The titles of what a discharger owes, what reports must hold, and under which words they are certified."""
    rules = [rule for pack in shipped_law().packs.values() for rule in pack.rules]
    certified = {rule.certification.says for rule in rules if rule.certification} | {OUR_CERTIFICATION}
    return (
        {rule.title for rule in rules if rule.owed_by == "discharger"} | {item.says for rule in rules for item in rule.content} | certified
    )


def test_every_message_of_the_pages_is_in_the_catalogue() -> None:
    known = {message.id if isinstance(message.id, str) else tuple(message.id) for message in catalogue("es")}
    assert len(messages_in_code()) > 250
    assert messages_in_code() - known == set()


def test_every_duty_and_every_item_of_a_report_has_spanish_words() -> None:
    assert {text for text in words_of_packs() if SPANISH.say(text) == text} == set()


def test_the_catalogue_holds_nothing_that_no_page_says() -> None:
    used = {message[0] if isinstance(message, tuple) else message for message in messages_in_code()}
    known = {message.id if isinstance(message.id, str) else message.id[0] for message in catalogue("es") if message.id}
    assert known - used - words_of_packs() - {"what happened, and what was done about it"} == set()


def test_no_translation_is_empty_or_fuzzy() -> None:
    for message in catalogue("es"):
        if message.id:
            texts = message.string if isinstance(message.string, tuple | list) else (message.string,)
            assert all(text and text.strip() for text in texts), message.id
            assert not message.fuzzy, message.id
            assert len(texts) == (3 if isinstance(message.id, tuple) else 1), message.id


def test_every_translation_names_the_same_values() -> None:
    for message in catalogue("es"):
        source = message.id if isinstance(message.id, str) else message.id[1]
        for text in message.string if isinstance(message.string, tuple | list) else (message.string,):
            assert sorted(_NAMED.findall(source)) == sorted(_NAMED.findall(text or "")), message.id


@pytest.mark.parametrize(
    ("number", "english", "spanish"),
    [
        (0, "0 hours", "0 horas"), (1, "1 hour", "1 hora"), (2, "2 hours", "2 horas"), (1500, "1,500 hours", "1,500 horas"),
        (1_000_000, "1,000,000 hours", "1,000,000 de horas"),
    ],
)  # fmt: skip
def test_numbers_of_things_are_right_in_both_languages(number: int, english: str, spanish: str) -> None:
    assert ENGLISH.count("%(number)s hour", "%(number)s hours", number) == english
    assert SPANISH.count("%(number)s hour", "%(number)s hours", number) == spanish


PLURALS = [
    (domain, tuple(message.string))
    for domain in ("messages", "notices")
    for message in catalogue("es", domain)
    if isinstance(message.id, tuple)
]
# What may follow a number without being the name of what is counted; a name takes "de" after a whole million.
_NO_NAME = {"está", "están", "más"}


@pytest.mark.parametrize(("domain", "forms"), PLURALS, ids=[forms[2] for _, forms in PLURALS])
def test_of_a_spanish_plural_only_the_form_for_millions_says_de(domain: str, forms: tuple[str, str, str]) -> None:
    one, millions, many = forms
    assert not any("%(number)s de " in form for form in (one, many))
    followed = re.search(r"%\(number\)s (\w+)", many)
    counts = followed is not None and followed[1] not in _NO_NAME
    assert millions == (many.replace("%(number)s ", "%(number)s de ", 1) if counts else many)


@pytest.mark.parametrize(
    ("length", "says"),
    [
        (timedelta(minutes=1), "Vence en 1 minuto"),
        (timedelta(hours=1, minutes=48), "Vence en 1 hora 48 minutos"),
        (timedelta(hours=2), "Vence en 2 horas"),
    ],
)
def test_the_time_left_reads_well_for_one_and_for_many(length: timedelta, says: str) -> None:
    assert SPANISH.say("%(span)s left", span=SPANISH.span(length)) == says


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, 61, 3600, 3661, 86_400, 90_061, 200_000])
def test_english_pages_tell_spans_as_messages_do(seconds: int) -> None:
    assert ENGLISH.span(timedelta(seconds=seconds)) == span(timedelta(seconds=seconds))


def test_times_carry_their_zone_in_both_languages() -> None:
    winter, summer = datetime(2026, 12, 1, 0, 5, tzinfo=UTC), datetime(2026, 7, 1, 0, 5, 9, tzinfo=UTC)
    assert ENGLISH.when(winter, LOS_ANGELES) == local(winter, LOS_ANGELES) == "Mon Nov 30, 4:05 PM PST"
    assert SPANISH.when(winter, LOS_ANGELES) == "lun 30 nov, 4:05 p.m. PST"
    assert SPANISH.when(summer, LOS_ANGELES) == "mar 30 jun, 5:05:09 p.m. PDT"
    assert ENGLISH.stamp(winter, LOS_ANGELES) == "Nov 30, 2026, 4:05 PM PST"


def clocks(**facts: Any) -> list[Clock]:
    given = {"jurisdiction": "chino", "known_at": "2026-12-01T22:05:00Z", "material": "sewage", "reached": ["storm_drain"], **facts}
    return list(assess(checked_facts(shipped_law(), given), shipped_law(), TUESDAY).clocks)


@pytest.mark.parametrize("later", [timedelta(), timedelta(minutes=14), timedelta(minutes=16), timedelta(hours=3), timedelta(days=9)])
def test_english_pages_say_due_times_as_messages_do(later: timedelta) -> None:
    for clock in clocks(volume={"quantity": 1500, "unit": "gal"}):
        told = clock.as_json()
        when, standing = due_words(told, LOS_ANGELES, TUESDAY + later)
        assert ENGLISH.due(told, LOS_ANGELES).lower() == when.lower()
        mine = ENGLISH.standing(told, LOS_ANGELES, TUESDAY + later).lower()
        assert sorted(re.findall(r"\d+ \w+", mine)) == sorted(re.findall(r"\d+ \w+", standing.lower()))
        assert ("overdue" in mine) == ("OVERDUE" in standing)


def test_words_without_a_translation_are_marked_as_english() -> None:
    assert str(SPANISH.law("Some <new> duty")) == '<span lang="en">Some &lt;new&gt; duty</span>'
    assert str(ENGLISH.law("Some <new> duty")) == "Some &lt;new&gt; duty"
    assert "lang" not in str(SPANISH.law("Stop work now"))


def test_each_language_is_read_once() -> None:
    assert isinstance(speech("es"), Speech)
    assert speech("es") is SPANISH
