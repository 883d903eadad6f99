"""The law and how the time was counted, as the public and dischargers read it: in their language, in local time, without staff's notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from deadlines import Clock, assess
from service.pages.counting_words import counting_words, limit_words
from service.pages.day_strip import cells_of
from service.pages.speech import ENGLISH, moment_of, speech
from service.spills import checked_facts
from tests.houses import TUESDAY, shipped_law
from tests.pages.conftest import Site
from tests.pages.markup import Element
from tests.pages.test_discharger import opened

SPANISH = speech("es")
LOS_ANGELES = ZoneInfo("America/Los_Angeles")
LIMITS = sorted({rule.limit.text for pack in shipped_law().packs.values() for rule in pack.rules})
_ENGLISH = re.compile(
    r"\b(hours?|days?|working|business|calendar|immediately|before|until|sooner|years?|minutes?|counted|due|by|the)\b", re.I
)


@pytest.mark.parametrize(
    ("limit", "english", "spanish"),
    [
        ("2 hours", "2 hours", "2 horas"),
        ("1 working day by 12:00", "1 working day, by 12:00 PM", "1 día laborable, a más tardar a las 12:00 p.m."),
        ("10 business days", "10 business days", "10 días hábiles"),
        ("5 calendar days before", "5 calendar days before the act", "5 días naturales antes del acto"),
        ("immediately", "Immediately", "De inmediato"),
        ("3 years", "3 years", "3 años"),
        (
            "30 calendar days, or comply_by if sooner", "30 calendar days, or sooner where an order says so",
            "30 días naturales, o antes si una orden lo dice",
        ),
        ("nobody knows", "nobody knows", "nobody knows"),
    ],
)  # fmt: skip
def test_a_time_limit_is_told_in_the_language_of_the_reader(limit: str, english: str, spanish: str) -> None:
    told = [limit_words(speech, limit).replace("\u202f", " ").replace("\N{NO-BREAK SPACE}", " ") for speech in (ENGLISH, SPANISH)]
    assert told == [english, spanish]


@pytest.mark.parametrize("limit", LIMITS)
def test_no_limit_of_any_pack_is_told_in_english_to_who_reads_spanish(limit: str) -> None:
    assert _ENGLISH.search(limit_words(SPANISH, limit)) is None
    assert "comply_by" not in limit_words(ENGLISH, limit)
    assert "ended_at" not in limit_words(ENGLISH, limit)


def clocks(**facts: Any) -> list[Clock]:
    given = {"known_at": "2026-12-01T05:47:53.028711Z", "material": "sewage", "reached": ["storm_drain"], **facts}
    return list(assess(checked_facts(shipped_law(), given), shipped_law(), TUESDAY).clocks)


CASES = [
    {"jurisdiction": city, "volume": {"quantity": 60_000, "unit": "gal"}, "threat": True, "enrollee": True, "npdes_permittee": True,
     "accidental": True, "known_at": known_at, "events": [
         {"type": "timeframe_revision_determined", "at": known_at},
         {"type": "order_served", "order": "notice_of_violation", "at": known_at},
     ]}
    for city in ("chino", "ontario", "soledad", "loveland-oh")
    for known_at in ("2026-12-01T05:47:53.028711Z", "2026-11-01T06:30:00.5Z")
]  # fmt: skip


@pytest.mark.parametrize("facts", CASES, ids=[f"{facts['jurisdiction']} {facts['known_at'][:10]}" for facts in CASES])
def test_a_counting_is_told_in_both_languages_with_local_times_to_the_second(facts: dict[str, Any]) -> None:
    for clock in clocks(**facts):
        told = clock.as_json()
        for speaks in (ENGLISH, SPANISH):
            text = " ".join(counting_words(speaks, told, LOS_ANGELES))
            assert text
            assert not re.search(r"\d{4}-\d\d-\d\d|\.\d{3}|\dZ|known_at|ended_at|counting\.md", text)
        assert _ENGLISH.search(text) is None, text
        due_at = moment_of(told["due_at"])
        if due_at and "immediately" not in told["limit"]:
            assert ENGLISH.when(due_at, LOS_ANGELES) in " ".join(counting_words(ENGLISH, told, LOS_ANGELES))


def test_hours_over_a_change_of_the_clocks_say_so() -> None:
    found = [
        " ".join(counting_words(ENGLISH, clock.as_json(), LOS_ANGELES))
        for clock in clocks(jurisdiction="chico", known_at="2026-11-01T03:00:00Z")
        if clock.as_json()["limit"] == "24 hours"
    ]
    assert any("The clocks go back by 1 hour in between." in text for text in found)


def test_every_holiday_of_a_shipped_calendar_has_spanish_words() -> None:
    reasons = set()
    for pack in shipped_law().packs.values():
        day = pack.calendar.first_day if pack.calendar else date.max
        while pack.calendar and day <= pack.calendar.last_day:
            reasons.add(pack.calendar.why_closed(day))
            day += timedelta(days=1)
    cells = cells_of(SPANISH, [{"day": None, "kind": "skipped", "label": "", "note": reason} for reason in sorted(filter(None, reasons))])
    assert [str(cell.note) for cell in cells if 'lang="en"' in cell.note] == []
    assert any("Día de Acción de Gracias (5 USC 6103(a)" in cell.note for cell in cells)


def _spoken(element: Element) -> Iterator[str]:
    """What is said in the language of the page itself."""
    for part in element.inside:
        if isinstance(part, str):
            yield part
        elif part["lang"] != "en":
            yield from _spoken(part)


async def test_the_discharger_reads_the_law_without_english_and_without_notes_for_staff(site: Site) -> None:
    site.home.clock.jump(seconds=7.028711)
    _, link, english = await opened(site, threat=True, npdes_permittee=True, reached=["storm_drain"], accidental=True)
    spanish = await site.visitor(accept_language="es").get(link)
    for page in (english, spanish):
        blocks = [details for details in page.root.all("details") if details["class"] == "why"]
        assert len(blocks) >= 8
        for block in blocks:
            assert not re.search(r"known_at|counting\.md|Reading|Lectura|\d\dZ|\.\d{5}", block.text)
    for block in [details for details in spanish.root.all("details") if details["class"] == "why"]:
        assert _ENGLISH.search(" ".join(_spoken(block))) is None
    assert "Plazo 5 días naturales" in spanish.text
    assert "Se cuenta desde el mar 1 dic, 2:05:07 p.m. PST." in spanish.text.replace("\N{NO-BREAK SPACE}", " ").replace("\u202f", " ")


async def test_whoever_checks_the_law_still_reads_our_reading_of_it(site: Site) -> None:
    reference, _, _ = await opened(site)
    staff = await (await site.staff()).get(f"/staff/spills/{reference}")
    assert "Reading" in staff.card("Send the regional water board the written spill report within five days").text
    spanish = await site.visitor(accept_language="es").get("/law/chino/rwqcb-written-5-days")
    assert "5 días naturales" in spanish.text
