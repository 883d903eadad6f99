"""The pages on which people see and check the law: the row of days on a clock, trying facts on, the rules to read, open questions."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.async_api import expect
from sqlalchemy import func, select
from sqlmodel import SQLModel

from deadlines import assess, read_facts
from deadlines.facts import CHOICES, EVENT_KEYS, FLAGS
from deadlines.inquiry import inquire
from deadlines.rulebook import Rulebook
from deadlines.rules import InForce
from service.app import build_app
from service.pages import day_strip, law_words
from service.pages.counting_words import limit_words
from service.pages.fields import Fields
from service.pages.speech import ENGLISH, speech
from service.pages.what_if_query import facts_of, pairs_of, tidied
from service.tables import Obligation
from service.transaction import reading, transaction
from tests.houses import TUESDAY, shipped_law
from tests.pages import browsing
from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Element, Page, sent_by
from tests.spills import a_report

FIVE_DAYS = "Send the regional water board the written spill report within five days"
TWO_HOURS = "Tell the regional water board within two hours"
SEWAGE = "city=chino&material=sewage&known_at=2026-12-01T14%3A05&low=1500&reached=storm_drain"
KNOWN = "city=chino&known_at=2026-12-01T14:05"
SPANISH = speech("es")


def days(card: Element) -> list[Element]:
    """The cells of the row of days in a card."""
    return [cell for row in card.all("ol") if "strip" in row["class"].split() for cell in row.all("li")]


def kinds(card: Element) -> list[str]:
    return [cell["class"].split()[0] for cell in days(card)]


async def asked(visitor: Visitor, query: str) -> Page:
    return await visitor.get(f"/what-if?{query}")


def said_at(page: Page, field: str) -> str:
    """What the page finds wrong at a field; the field must point to it."""
    assert page.one(field)["aria-invalid"] == "true"
    assert f"{field}-fault" in page.one(field)["aria-describedby"].split()
    return page.one(f"{field}-fault").text


# -- the row of days


async def test_a_clock_shows_its_days_on_the_page_of_staff_and_on_that_of_the_discharger(site: Site) -> None:
    reference = await site.home.report(a_report())
    told = []
    plain = "Counted from Tue Dec 1, 2:05 PM PST."
    for page, counting in (
        (await (await site.staff()).get(f"/staff/spills/{reference}"), "Counted from Tue 2026-12-01 14:05:00 PST (2026-12-01T22:05:00Z)."),
        (await site.visitor().get(await site.link("respond", reference)), plain),
        (await asked(site.visitor(), SEWAGE), plain),
    ):
        card = page.card(FIVE_DAYS)
        assert kinds(card) == ["start", "counted", "counted", "counted", "counted", "due", "extended"]
        assert counting in card.text
        told.append([cell.text for cell in days(card)])
    assert told[0] == told[1] == told[2]
    assert told[0][0] == "Tue, Dec 1, 2026 Start the day it starts: not counted"
    assert told[0][1] == "Wed, Dec 2 day 1"
    assert told[0][5] == "Sun, Dec 6 Last day day 5"
    assert told[0][6].startswith("Mon, Dec 7 Extension")


async def test_a_clock_that_was_decided_before_days_were_kept_shows_its_counting_alone(site: Site) -> None:
    reference = await site.home.report(a_report())
    async with transaction(site.home.house, "test") as tx:
        for row in (await tx.session.execute(select(Obligation))).scalars():
            row.strip = []
    card = (await (await site.staff()).get(f"/staff/spills/{reference}")).card(FIVE_DAYS)
    assert days(card) == []
    assert "Counted from Tue 2026-12-01 14:05:00 PST" in card.text


async def test_a_skipped_day_says_why_and_a_new_month_is_marked(site: Site) -> None:
    query = "city=chico&kind=enforcement&event=timeframe_revision_determined&event0.at=2026-11-25T10%3A00"
    page = await asked(site.visitor(), query)
    [card] = [item for item in page.root.all("li") if "card" in item["class"].split() and days(item)]
    cells = {cell.text.split(",")[1][:7].strip(): cell for cell in days(card)}
    assert cells["Nov 26"].text == "Thu, Nov 26 Skipped Thanksgiving Day (5 USC 6103(a); Gov. Code 6700(a))"
    assert cells["Nov 28"].text == "Sat, Nov 28 Skipped Saturday"
    assert [day for day, cell in cells.items() if "month" in cell["class"].split()] == ["Dec 1"]


async def test_a_day_on_which_clocks_change_says_so_in_its_cell(site: Site) -> None:
    page = await asked(site.visitor(), "city=chico&known_at=2026-10-31T20%3A00&material=sewage&reached=storm_drain")
    cells = [cell.text for cell in days(page.root)]
    assert "Sun, Nov 1 25 h clocks go back: this day has 25 h" in cells


def test_spanish_says_each_day_in_spanish_and_keeps_the_year_where_it_turns() -> None:
    strip = [
        {"day": "2026-12-31", "kind": "start", "label": "", "note": "the day it starts: not counted"},
        {"day": None, "kind": "gap", "label": "32 days", "note": ""},
        {"day": "2027-02-02", "kind": "skipped", "label": "", "note": "Groundhog <Day>"},
        {"day": "2027-02-03", "kind": "due", "label": "1", "note": ""},
    ]
    first, gap, skipped, last = day_strip.cells_of(SPANISH, strip)
    assert (first.weekday, first.dated, first.word) == ("jue", "31\N{NO-BREAK SPACE}dic 2026", "Inicio")
    assert first.note == "el día en que empieza: no se cuenta"
    assert (gap.day, gap.label, gap.dated) == (None, "32 días", "")
    assert (skipped.dated, skipped.month_begins) == ("2\N{NO-BREAK SPACE}feb 2027", True)
    assert str(skipped.note) == '<span lang="en">Groundhog &lt;Day&gt;</span>'
    assert (last.word, last.label, last.dated, last.month_begins) == ("Último día", "día 1", "3\N{NO-BREAK SPACE}feb", False)


async def test_an_extension_and_another_reading_stand_beside_the_due_time(site: Site) -> None:
    card = (await asked(site.visitor(), SEWAGE)).card(FIVE_DAYS)
    [due] = [part for part in card.all("strong") if part["class"] == "due"]
    assert due.text == "Sun Dec 6, 11:59:59 PM PST"
    [extended] = [part for part in card.all("span") if "extended" in part["class"].split()]
    assert extended.text == "The law may allow until Mon Dec 7, 11:59:59 PM PST. Work to the earlier time."
    page = await asked(site.visitor(), "city=chico&kind=enforcement&event=timeframe_revision_determined&event0.at=2026-11-25T10%3A00")
    [reading] = [line.text for line in page.root.all("li") if line.text.startswith("Read otherwise:")]
    assert "Saturday counts as a business day" in reading
    assert "Then due" in reading


# -- trying facts on


async def test_the_empty_form_says_what_it_is_and_keeps_out_of_search(site: Site) -> None:
    page = await site.visitor().get("/what-if")
    assert page.status == 200
    assert "it is not legal advice. Nothing is reported or kept here." in page.text
    assert "911" in page.text
    assert "/report" in {link["href"] for link in page.root.all("a")}
    assert [meta["content"] for meta in page.root.all("meta") if meta["name"] == "robots"] == ["noindex"]
    assert page.one("known_at")["value"] == ""  # it is not known in which city's time
    assert {flag for flag in FLAGS if page.one(flag)} == set(FLAGS)


async def test_the_cards_are_the_clocks_of_the_engine_in_its_order(site: Site) -> None:
    page = await asked(site.visitor(), SEWAGE)
    law = shipped_law()
    facts = read_facts(
        {
            "jurisdiction": "chino", "material": "sewage", "known_at": "2026-12-01T14:05", "volume": {"quantity": 1500, "unit": "gal"},
            "reached": ["storm_drain"],
        },
        law.zones,
    )  # fmt: skip
    clocks = assess(facts, law, TUESDAY).clocks
    cards = [item for item in page.root.all("li") if "card" in item["class"].split()]
    assert [next(card.all("h3")).text.startswith(clock.standing.rule.title) for card, clock in zip(cards, clocks, strict=True)]
    assert f"{len(clocks)} clocks would run." in page.text
    card = page.card(TWO_HOURS)
    rule = next(clock.standing.rule for clock in clocks if clock.standing.rule.title == TWO_HOURS)
    for part in ("Tue Dec 1, 4:05 PM PST", rule.citation, rule.says, rule.reading, "Santa Ana Regional Water Quality Control Board"):
        assert part in card.text
    assert f"/law/{rule.duty}" in {link["href"] for link in card.all("a")}
    assert "sewage has no reportable quantity of its own" in page.text
    questions = next(item for item in page.root.all("ol") if item["class"] == "questions")
    assert [head.text for head in questions.all("h3")] == [one.asks for one in inquire(facts, law, TUESDAY)]


async def test_nothing_is_stored_and_nobody_is_told(site: Site) -> None:
    visitor = site.visitor()
    for query in (
        "",
        SEWAGE,
        "city=soledad&kind=enforcement&event=order_served&event0.at=2026-12-01T10%3A00&event0.order=compliance_order",
    ):
        await asked(visitor, query)
    await site.home.work()
    async with reading(site.home.house) as tx:
        for table in SQLModel.metadata.sorted_tables:
            if table.name not in ("contact", "heartbeat", "meta", "account", "credential"):
                assert await tx.session.scalar(select(func.count()).select_from(table)) == 0, table.name
    assert site.home.outbox() == []


async def test_a_question_is_answered_by_its_button_and_the_answer_is_in_the_address(site: Site) -> None:
    visitor = site.visitor()
    page = await asked(visitor, SEWAGE)
    assert "The answer would settle 2 clocks. It can take away up to 2 clocks." in page.text
    buttons = {button["value"]: button for button in page.root.all("button") if button["name"] == "set"}
    assert {"hazardous:yes", "hazardous:no", "threat:yes", "enrollee:no"} <= buttons.keys()
    assert {button["form"] for button in buttons.values()} == {"facts"}
    page = await visitor.send(page, page.one("facts"), **{"threat": ""})
    page = await asked(visitor, f"{SEWAGE}&set=threat%3Ano")
    assert parse_qs(urlsplit(str(page.response.url)).query)["threat"] == ["no"]
    assert "set" not in parse_qs(urlsplit(str(page.response.url)).query)
    assert "threat:yes" not in {button["value"] for button in page.root.all("button")}


async def test_a_sent_form_becomes_a_short_address_that_gives_the_same_page_again(site: Site) -> None:
    visitor = site.visitor()
    page = await visitor.get("/what-if")
    page = await visitor.send(page, "/what-if", city="ontario", material="petroleum", low="1,000", unit="L", reached=["street", "gutter"])
    address = str(page.response.url)
    assert page.status == 200
    assert "=&" not in address
    assert not address.endswith("=")
    again = await site.visitor().get(address)
    assert again.response.history == []
    assert again.text == page.text
    assert "1,000 liters" in page.text


async def test_the_enter_key_shows_the_clocks_and_presses_no_other_button(site: Site) -> None:
    page = await asked(site.visitor(), f"{SEWAGE}&event=repaired&event0.at=2026-12-01T14%3A30")
    first = next(
        button for button in page.root.all("button") if button["form"] == "facts" or button in list(page.one("facts").all("button"))
    )
    assert (first["type"], first["name"]) == ("submit", "")


async def test_events_are_added_filled_in_and_taken_away(site: Site) -> None:
    visitor = site.visitor()
    page = await asked(visitor, "city=soledad&kind=enforcement&event=repaired&event0.at=2026-11-30T09%3A00&add=order_served")
    assert page.status == 422
    assert said_at(page, "event1.order") == "Error: Choose one from the list."
    assert page.one("event1.at")["value"] == "2026-12-01T14:05"
    page = await visitor.send(page, "/what-if", event1__order="compliance_order", event1__comply_by="2026-12-10T17:00")
    assert page.status == 200
    assert "An order was served" in page.text
    assert "Thu Dec 10, 5:00 PM PST" in page.text
    page = await visitor.send(page, page.one("facts"), button="Take it away: 1. The repair was done")
    assert page.one("event0.order")["name"] == "event0.order"
    assert "The repair was done" not in next(page.root.all("dl")).text


async def test_a_clock_that_waits_or_cannot_be_computed_says_so(site: Site) -> None:
    page = await asked(
        site.visitor(), "city=soledad&kind=enforcement&event=order_served&event0.at=2026-12-01T10%3A00&event0.order=compliance_order"
    )
    assert "It has not begun to count: the order names no time to comply, or it is not on record yet." in page.text
    query = "city=chico&kind=enforcement&event=timeframe_revision_determined&event0.at=2031-12-01T10%3A00"
    site.home.clock.at = TUESDAY.replace(year=2031)
    page = await asked(site.visitor(), query.replace("12-01", "12-30"))
    assert "The last day cannot be counted now." in page.text


@pytest.mark.parametrize(
    ("query", "field", "says"),
    [
        ("low=5&known_at=2026-12-01T14:05", "city", "Choose a city from the list."),
        ("city=atlantis&known_at=2026-12-01T14:05", "city", "Choose a city from the list."),
        ("city=chino", "known_at", "Say when it was first known. Most clocks count from then."),
        ("city=chino&known_at=yesterday", "known_at", "This time could not be read. Give a date and a time of day."),
        ("city=chino&known_at=2026-02-30T10:00", "known_at", "This time could not be read. Give a date and a time of day."),
        ("city=chino&known_at=1971-01-01T10:00", "known_at", "Give a time within five years of today."),
        ("city=chino&known_at=2026-12-01T14:05&ended_at=x", "ended_at", "This time could not be read. Give a date and a time of day."),
        ("city=chino&known_at=2026-12-01T14:05&low=lots", "low", "Give a number, zero or more."),
        ("city=chino&known_at=2026-12-01T14:05&low=-3", "low", "Give a number, zero or more."),
        ("city=chino&known_at=2026-12-01T14:05&low=5&high=3", "low", "The first amount is larger than the second."),
        ("city=chino&known_at=2026-12-01T14:05&low=5&high=x", "high", "Give a number, zero or more."),
        ("city=chino&known_at=2026-12-01T14:05&low=5&unit=cups", "unit", "Choose one from the list."),
        ("city=chino&known_at=2026-12-01T14:05&material=lava", "material", "Choose one from the list."),
        ("city=chino&known_at=2026-12-01T14:05&kind=lava", "kind", "Choose one from the list."),
        ("city=chino&known_at=2026-12-01T14:05&threat=perhaps", "threat", "Choose one from the list."),
        ("city=chino&known_at=2026-12-01T14:05&reached=moon", "reached", "Choose one from the list."),
        (f"{KNOWN}&substance_quantity=5", "substance", "Name the substance, or give its CAS number without a slip."),
        (f"{KNOWN}&substance=7664-93-8", "substance", "Name the substance, or give its CAS number without a slip."),
        (f"{KNOWN}&substance=acid&substance_quantity=x", "substance_quantity", "Give a number, zero or more."),
        (f"{KNOWN}&substance=acid&substance_percent=120", "substance_percent", "Give a share from 0 to 100 percent."),
        ("city=chino&kind=enforcement&event=paid", "event0.at", "Say when it happened."),
        ("city=chino&kind=enforcement&event=paid&event0.at=1971-01-01T10:00", "event0.at", "Give a time within five years of today."),
        ("city=chino&kind=enforcement" + "&event=paid" * 21, "add", "That is more events than this page can take. Take some away."),
    ],
)  # fmt: skip
async def test_bad_input_comes_back_with_the_fault_at_its_field(site: Site, query: str, field: str, says: str) -> None:
    page = await asked(site.visitor(), query)
    assert page.status == 422
    assert said_at(page, field) == f"Error: {says}"
    [box] = [part for part in page.root.all("section") if part["role"] == "alert"]
    assert (f"#{field}", says) in {(link["href"], link.text) for link in box.all("a")}
    spanish = await asked(site.visitor(), f"{query}&lang=es")
    assert said_at(spanish, field) == f"Error: {SPANISH.say(says)}"
    assert SPANISH.say(says) != says


async def test_an_unknown_type_of_event_is_told_and_not_a_crash(site: Site) -> None:
    page = await asked(site.visitor(), "city=chino&kind=enforcement&event=<b>&event0.at=2026-12-01T10:00")
    assert page.status == 422
    assert page.one("event0.type-fault").text == "Error: Choose one from the list."


NAMES = st.sampled_from(
    ["city", "kind", "material", "low", "high", "unit", "known_at", "ended_at", "reached", "threat", "substance", "substance_quantity",
     "substance_unit", "substance_percent", "substance_density", "event", "event0.at", "event0.order",
     "event1.recipient", "add", "drop", "set",
     "lang", "change", "x"]
)  # fmt: skip
VALUES = st.sampled_from(
    ["", " ", "chino", "spill", "enforcement", "sewage", "5", "1e400", "NaN", "-1", "1,5", "gal", "2026-12-01T14:05", "9999-12-31T23:59",
     "0001-01-01T00:00", "street", "yes", "order_served", "report_submitted", "compliance_order", "0", "9" * 30, "\N{SUPERSCRIPT TWO}",
     "threat:yes", "events[0].order:x", "events[99999].at:2026", "reached:street", ":", "es", "7664-93-9", "x" * 5000, "\0", "</form>"]
)  # fmt: skip


@given(st.lists(st.tuples(NAMES, VALUES), max_size=12))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_query_breaks_the_page(site: Site, pairs: list[tuple[str, str]]) -> None:
    page = await asked(site.visitors[0] if site.visitors else site.visitor(), urlencode(pairs))
    assert page.status in (200, 422)
    assert len(page.response.history) <= 1


@given(st.lists(st.tuples(NAMES, VALUES), max_size=12))
def test_a_tidied_query_is_tidy_and_says_the_same(pairs: list[tuple[str, str]]) -> None:
    fields = Fields({name: [value for key, value in pairs if key == name] for name, _ in pairs})
    zone = shipped_law().zones["chino"]
    tidy = tidied(fields, TUESDAY, zone)
    if tidy is not None:
        again = Fields(parse_qs(tidy))
        assert tidied(again, TUESDAY, zone) is None
        if not any(name in fields for name in ("add", "drop", "set")):
            assert facts_of(again) == facts_of(Fields(parse_qs(urlencode(pairs_of(fields)))))


async def test_both_languages_keep_the_query_and_the_spanish_page_speaks_spanish(site: Site) -> None:
    page = await asked(site.visitor(), SEWAGE)
    [link] = [link["href"] for link in page.root.all("a") if link["hreflang"] == "es"]
    assert link == f"/what-if?{urlencode(pairs_of(Fields(parse_qs(SEWAGE))))}&lang=es"
    spanish = await site.visitor().get(link)
    for text in ("¿Qué pediría la ley?", "no es asesoría legal", "Último día", "Preguntas abiertas", "¿Fue un accidente la descarga?"):
        assert text in spanish.text
    assert "La respuesta resolvería 2 plazos. Puede quitar hasta 2 plazos." in spanish.text
    for english in ("Start ", "Last day", "Owed by", "Not known", "Read otherwise", "Choose"):
        assert english not in spanish.text


async def test_the_first_load_is_light_and_so_is_a_full_answer(site: Site) -> None:
    visitor = site.visitor()
    page = await visitor.get("/what-if")
    parts = [link["href"] for link in page.root.all("link")] + [script["src"] for script in page.root.all("script")]
    weight = len(page.response.content) + sum([len((await visitor.http.get(part)).content) for part in parts])
    assert weight < 90_000  # without the fonts, which tests/pages/test_frame.py counts too
    full = await asked(visitor, "city=soledad&known_at=2026-10-31T20%3A00")
    assert len(full.response.content) < 120_000


# -- open questions


def test_every_question_of_an_inquiry_has_its_words_here() -> None:
    law = shipped_law()
    seen = {}
    for city in law.cities:
        facts = read_facts({"jurisdiction": city, "known_at": "2026-12-01T14:05"}, law.zones)
        seen |= {one.fact: one.asks for one in inquire(facts, law, TUESDAY)}
    assert {fact: law_words.QUESTIONS[fact] for fact in seen} == seen
    assert set(FLAGS) <= law_words.QUESTIONS.keys()


def test_every_word_of_a_closed_list_has_words_for_people() -> None:
    said = {word for forms in EVENT_KEYS.values() for form in forms.values() if isinstance(form, tuple) for word in form}
    said |= {word for fact, options in CHOICES.items() if fact != "material" for word in options}
    assert said <= law_words.CHOICES.keys()
    assert EVENT_KEYS.keys() == law_words.EVENTS.keys()
    assert {key for forms in EVENT_KEYS.values() for key, form in forms.items() if form is not list} <= law_words.EVENT_FIELDS.keys()


@pytest.mark.parametrize(
    ("settles", "removes", "starts", "says"),
    [
        (2, 8, 0, "The answer would settle 2 clocks. It can take away up to 8 clocks."),
        (1, 1, 0, "The answer would settle 1 clock. It can take away 1 clock."),
        (0, 0, 4, "It can start up to 4 more clocks."),
        (0, 0, 0, "3 clocks hang on it."),
    ],
)
def test_what_an_answer_would_do_is_said_in_a_sentence(settles: int, removes: int, starts: int, says: str) -> None:
    asked: dict[str, Any] = {"settles": ["a"] * settles, "removes": ["a"] * removes, "starts": ["a"] * starts}
    assert law_words.effect(ENGLISH, {**asked, "presumed": ["a", "b"], "held_back": ["c"]}) == says


async def test_staff_see_the_questions_of_the_engine_in_its_order_with_what_an_answer_would_do(site: Site) -> None:
    reference = await site.home.report(a_report(volume=None, reached=None))
    visitor = await site.staff()
    page = await visitor.get(f"/staff/spills/{reference}")
    spill = await site.home.spill(reference)
    inquiries = inquire(read_facts(spill.facts, shipped_law().zones), shipped_law(), TUESDAY)
    [listed] = [item for item in page.root.all("ol") if item["class"] == "questions"]
    assert [head.text for head in listed.all("h3")] == [one.asks for one in inquiries]
    assert any(one.starts for one in inquiries)
    assert "It can start up to" in listed.text
    [form] = [form for form in page.forms(f"/staff/spills/{reference}/settle") if dict(sent_by(form))["fact"] == "enrollee"]
    await visitor.send(page, form, "Yes")
    assert (await site.home.spill(reference)).facts["enrollee"] is True


# -- the law to read


async def test_every_pack_is_listed_with_its_version_its_check_and_what_is_unread(site: Site) -> None:
    page = await site.visitor().get("/law")
    for pack in shipped_law().packs.values():
        [entry] = [item for item in page.root.all("li") if any(link["href"] == f"/law/{pack.id}" for link in item.all("a"))]
        assert pack.version in entry.text
        unread = sum(not rule.verified for rule in pack.rules)
        assert (f"{unread} rule" in entry.text) == bool(unread)
        assert ("Not compared with its source yet." in entry.text) == (pack.checked is None)
        if pack.checked:
            assert f"on {ENGLISH.dated(pack.checked.on)} by {pack.checked.by}." in entry.text


@pytest.mark.parametrize("pack", sorted(shipped_law().packs))
async def test_a_pack_shows_every_rule_that_stands_over_it_and_each_rule_in_full(site: Site, pack: str) -> None:
    visitor, spanish, law = site.visitor(), site.visitor(), shipped_law()
    page = await visitor.get(f"/law/{pack}")
    rules = [standing.rule for standing in law.law_of(pack).rules] if pack in law.cities else list(law.packs[pack].rules)
    rows = [row for row in page.root.all("tr") if any(head["scope"] == "row" for head in row.all("th"))]
    assert len(rows) == len(rules)
    for rule in law.packs[pack].rules:
        [row] = [
            row
            for row in rows
            if any((link["href"], link.text) == (f"/law/{rule.duty}", " ".join(rule.title.split())) for link in row.all("a"))
        ]
        limit = limit_words(ENGLISH, rule.limit.text)
        assert limit in row.text
        assert ("Unread" in row.text) == (not rule.verified)
        full = await visitor.get(f"/law/{rule.duty}")
        for part in (rule.title, rule.citation, rule.says, limit, rule.reading, *(item.says for item in rule.content)):
            assert " ".join(part.split()) in full.text
        assert (await spanish.get(f"/law/{rule.duty}?lang=es")).status == 200
    assert "Cuenta desde" in (await spanish.get(f"/law/{pack}?lang=es")).text


async def test_a_rule_shows_all_its_versions_the_latest_first(site: Site) -> None:
    law = shipped_law()
    pack, [rule, *_] = law.rules("chino/rwqcb-2-hours")
    old = replace(rule, in_force=InForce(last=date(2025, 12, 31)), says="The older text.")
    new = replace(rule, in_force=InForce(first=date(2026, 1, 1)))
    rules = tuple(one for one in pack.rules if one.duty != rule.duty)
    changed = Rulebook({**law.packs, "chino": replace(pack, rules=(*rules, old, new))}, law.quantities)
    home = site.home.with_house(rulebook=changed)
    page = await Site(home, httpx.ASGITransport(app=build_app(home.house))).visitor().get("/law/chino/rwqcb-2-hours")
    heads = [head.text for head in page.root.all("h2")]
    assert heads == ["In force from 2026-01-01", "In force until 2025-12-31"]
    assert "The older text." in page.text


@pytest.mark.parametrize("path", ["/law/atlantis", "/law/chino/nothing", "/law/nowhere/nothing", "/law/%00", "/law/chino/%3Cb%3E"])
async def test_a_rule_that_is_not_there_is_not_found(site: Site, path: str) -> None:
    page = await site.visitor().get(path)
    assert page.status == 404
    assert "Nothing is here" in page.text


async def test_every_page_leads_to_the_law_and_to_trying_facts_on(site: Site) -> None:
    page = await site.visitor().get("/report")
    assert {"/law", "/what-if"} <= {link["href"] for link in page.root.all("a")}


# -- in a browser


# Text on its ground, by the formula of WCAG; grounds are plain colours here.
_FAINT = """() => {
  const channels = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const found = channels(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("main *")].filter(element => element.checkVisibility() && !element.closest(".usa-sr-only")
      && [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())).filter(element => {
    const [one, other] = [light(channels(getComputedStyle(element).color)), light(ground(element))];
    return (Math.max(one, other) + .05) / (Math.min(one, other) + .05) < 4.5;
  }).map(element => element.outerHTML.slice(0, 120));
}"""


@browsing.WIDTHS
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_facts_are_tried_on_without_scripts(served: browsing.Served, width: int, scheme: Any) -> None:
    async with served.browser(width, scripts=False, answers=(422,), color_scheme=scheme) as page:
        await page.goto("/report")
        await page.get_by_role("link", name="What would the law ask?").click()
        await browsing.looks_right(page, f"what-if-{scheme}")
        assert await page.evaluate(_FAINT) == []
        await page.get_by_role("button", name="Show the clocks").last.click()
        await expect(page.get_by_role("alert")).to_contain_text("Choose a city from the list.")
        await browsing.looks_right(page, f"what-if-fault-{scheme}")
        assert await page.evaluate(_FAINT) == []
        await page.get_by_label("City", exact=True).select_option("chino")
        await page.get_by_label("What was spilled").select_option("sewage")
        await page.get_by_label("How much, or at least").fill("1500")
        await page.get_by_label("How much, or at least").press("Enter")
        await expect(page.get_by_role("heading", name="If this is so")).to_be_visible()
        card = browsing.card(page, FIVE_DAYS)
        await card.get_by_text("The law, and how the time was counted").click()
        await expect(card.get_by_role("list", name="The days, one by one").get_by_role("listitem")).to_have_count(7)
        await browsing.looks_right(page, f"what-if-answer-{scheme}")
        assert await page.evaluate(_FAINT) == []
        await page.get_by_role("group", name="Is it a threat").get_by_role("button", name="No").click()
        assert "threat=no" in page.url
        await expect(page.get_by_role("group", name="Is it a threat")).to_have_count(0)


@browsing.WIDTHS
async def test_the_law_is_read_on_a_phone_and_at_a_desk(served: browsing.Served, width: int) -> None:
    async with served.browser(width, locale="es-US" if width == browsing.PHONE else "en-US") as page:
        for path, name in (("/law", "law"), ("/law/chino", "law-city"), ("/law/chino/rwqcb-2-hours", "law-rule")):
            await page.goto(path)
            await browsing.looks_right(page, name)
            assert await page.evaluate(_FAINT) == []


@browsing.WIDTHS
async def test_staff_see_the_days_of_a_clock(served: browsing.Served, width: int) -> None:
    token = await served.home.token("officer", "chino", "duty@chino.example")
    reference = await served.home.report(a_report())
    async with served.browser(width) as page:
        await page.goto(f"/staff/spills/{reference}")
        await page.get_by_text("I have a token").click()
        await page.get_by_label("Token").fill(token)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await page.goto(f"/staff/spills/{reference}")
        await page.evaluate("document.querySelectorAll('details.why').forEach(part => part.open = true)")
        await browsing.looks_right(page, "spill-days")
        assert await page.evaluate(_FAINT) == []
