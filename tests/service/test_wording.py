"""What messages say: in English and Spanish, as text, HTML and spoken word, about one duty and about several."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from babel.messages.extract import extract_from_dir
from hypothesis import given, settings
from hypothesis import strategies as st

from deadlines import Recipient, as_z
from deadlines.facts import FACT_KEYS, MATERIALS, PLACES_REACHED
from notifiers import segments
from service.speech import catalogue, notice_speech
from service.tables import Spill
from service.wording import Alert, Template, Values, Words, alert, alerts, compose, due_words, triage
from service.wording.aloud import moment_aloud, sign_by_sign, time_aloud
from service.wording.example import examples
from service.wording.kinds import KINDS
from service.wording.telling import day_word
from service.wording.template import faults_of, names_of
from tests.houses import TUESDAY

WORDING = Path(__file__).parents[2] / "service" / "wording"
PACIFIC = ZoneInfo("America/Los_Angeles")
ENGLISH, SPANISH = notice_speech("en"), notice_speech("es")
LINK = "https://spills.example.gov/staff/spills/SP-2026-00001"
NAMES = re.compile(r"%\(\w+\)s|\{\w+\}")


def a_spill(**changes: Any) -> Spill:
    facts = {"material": "sewage", "volume": {"quantity": 1500, "unit": "gal"}, "reached": ["storm_drain"]}
    return Spill(**{
        "reference": "SP-2026-00001", "received_at": TUESDAY, "facts": facts, "flags": [], "reporter": {}, "discharger": {},
        "address": "13220 Central Ave", **changes,
    })  # fmt: skip


def a_clock(due_at: datetime = TUESDAY + timedelta(hours=2), **changes: Any) -> dict[str, Any]:
    return {
        "duty": "chino/two-hours", "title": "Call the board within two hours", "citation": "Test Code 1", "applies": "yes", "unsettled": [],
        "methods": ["telephone"], "owed_by": "discharger", "limit": "2 hours", "starts_at": as_z(TUESDAY), "due_at": as_z(due_at),
        "extended_due_at": None, "content": [], "verified": True, **changes,
    }  # fmt: skip


def an_alert(clock: dict[str, Any] | None = None, **changes: Any) -> Alert:
    given: dict[str, Any] = {
        "spill": a_spill(), "clock": clock or a_clock(), "recipient": Recipient("board", "The Board", ("951-555-0100",)), "zone": PACIFIC,
        "now": TUESDAY, "steps": ("start",), "late_since": None, "changed": False, "link": LINK, **changes,
    }  # fmt: skip
    return Alert(**given)


def bundle(number: int, **changes: Any) -> list[Alert]:
    clocks = [a_clock(TUESDAY + timedelta(hours=2 + 9 * each), title=f"Do the thing number {each + 1}") for each in range(number)]
    return [an_alert(clock, **changes) for clock in reversed(clocks)]


class Seen(HTMLParser):
    """What a reader of a page sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._said = ""
        self.links: list[str] = []
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("style", "title")
        self.links += [value or "" for key, value in attrs if key == "href"]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "title")

    @property
    def words(self) -> list[str]:
        """The words, in their order."""
        return self._said.split()

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._said += data


def plain_words(text: str) -> list[str]:
    """The words of a text, without the marks of a list and the colon before a link: a page shows those otherwise."""
    return re.sub(r":(?= https://)", "", re.sub(r"(?m)^- ", "", text)).split()


# -- languages


@cache
def messages_in_code() -> set[Any]:
    keywords: dict[str, Any] = {"say": None, "marked": None, "count": (1, 2)}
    return {message for _, _, message, _, _ in extract_from_dir(str(WORDING), [("**.py", "python")], {}, keywords)}


def known_in(domain: str) -> set[Any]:
    return {one.id if isinstance(one.id, str) else tuple(one.id) for one in catalogue("es", domain) if one.id}


def test_every_word_of_a_message_is_in_the_catalogue_and_nothing_else_is() -> None:
    assert len(messages_in_code()) > 100
    assert messages_in_code() - known_in("notices") - known_in("messages") == set()
    assert known_in("notices") - messages_in_code() == set()
    assert known_in("notices") & known_in("messages") == set()


def test_every_translation_is_whole_and_names_the_same_values() -> None:
    for message in catalogue("es", "notices"):
        if message.id:
            source = message.id if isinstance(message.id, str) else message.id[1]
            texts = message.string if isinstance(message.string, tuple | list) else (message.string,)
            assert len(texts) == (3 if isinstance(message.id, tuple) else 1), message.id
            for text in texts:
                assert text
                assert text.strip()
                assert sorted(NAMES.findall(source)) == sorted(NAMES.findall(text)), message.id
            assert not message.fuzzy


@pytest.mark.parametrize("word", [*MATERIALS, *PLACES_REACHED])
def test_every_material_and_place_has_a_spanish_word(word: str) -> None:
    assert SPANISH.say(word.replace("_", " ")) != word.replace("_", " ")


@pytest.mark.parametrize("fact", sorted(set(FACT_KEYS) - {"jurisdiction", "events"}))
def test_what_is_not_known_is_asked_in_words_of_both_languages(fact: str) -> None:
    clock = a_clock(applies="presumed", unsettled=[fact])
    english, spanish = (alert(an_alert(clock, language=language)).text for language in ("en", "es"))
    assert re.search(r"until this is known: (wh|how)", english)
    assert re.search(r"hasta que se sepa: (si|qué|cuánto|cuándo|para|a dónde)", spanish)


def test_a_spanish_alert_reads_well_and_keeps_the_words_of_the_law() -> None:
    words = alert(an_alert(language="es", code="4F7"))
    for said in (
        "Deber: Call the board within two hours.", "Vence: mar 1 dic, 4:05 p.m. PST (", "A quién: The Board, 951-555-0100",
        "Cómo: por teléfono", "Derrame SP-2026-00001: aguas residuales, 1,500 gal, en 13220 Central Ave; llegó a: desagüe pluvial.",
        "Qué hacer: haga la llamada", f"Abrir el derrame SP-2026-00001: {LINK}", "Ley: Test Code 1 (chino/two-hours)",
    ):  # fmt: skip
        assert said in words.text
    assert words.sms.startswith("SP-2026-00001 vence mar 1 dic, 4:05 p.m. PST (")
    assert words.sms.endswith(f"Responda OK 4F7. {LINK}")
    assert segments(words.sms) == ("GSM-7", 2)
    assert '<html lang="es">' in words.html
    assert '<span lang="en">Call the board within two hours</span>' in words.html


def test_a_language_that_is_not_ours_is_answered_in_english() -> None:
    assert alert(an_alert(language="fr")) == alert(an_alert())


@pytest.mark.parametrize(
    ("steps", "english", "spanish"), [(1, "1 alert due", "1 aviso previsto"), (2, "2 alerts due", "2 avisos previstos")]
)
def test_numbers_of_alerts_are_right_in_both_languages(steps: int, english: str, spanish: str) -> None:
    about = an_alert(steps=("start", "due")[:steps], late_since=TUESDAY)
    assert f"stands for {english}" in alert(about).text
    assert f"reemplaza {spanish}" in alert(replace(about, language="es")).text


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_changed_and_an_overdue_alert_say_so(language: str) -> None:
    late = an_alert(now=TUESDAY + timedelta(hours=3), changed=True, language=language)
    words = alert(late)
    changed, overdue = ("CHANGED: ", "OVERDUE by 1 hour") if language == "en" else ("CAMBIO: ", "VENCIDO hace 1 hora")
    assert words.subject.startswith(f"{changed}{overdue}")
    assert words.text.startswith(changed)
    assert words.sms.startswith(changed)
    assert overdue in words.sms
    assert overdue in words.html
    assert overdue in words.spoken


def test_an_alert_after_an_acknowledgement_says_whose_it_was() -> None:
    about = an_alert(seen=("Omar Reyes", TUESDAY - timedelta(hours=1)))
    assert "Omar Reyes acknowledged it Tue Dec 1, 1:05 PM PST; it is not done yet." in alert(about).text
    assert "Omar Reyes confirmó haberlo visto el mar 1 dic, 1:05 p.m. PST; aún no" in alert(replace(about, language="es")).text


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_report_that_needs_a_person_is_worded_in_both_languages(language: str) -> None:
    words = triage(a_spill(description="<b>Brown</b> water\n\nat the school"), "its city is not known", LINK, language, "4F7")
    assert ("needs a person" if language == "en" else "necesita a una persona") in words.subject
    assert "<b>Brown</b> water" in words.text
    assert "&lt;b&gt;Brown&lt;/b&gt; water" in words.html
    assert words.sms.endswith(f"OK 4F7. {LINK}")


# -- times


FIRST, SECOND = datetime(2026, 11, 1, 8, 30, tzinfo=UTC), datetime(2026, 11, 1, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_hour_that_a_night_has_twice_is_told_apart(language: str) -> None:
    told = [alert(an_alert(a_clock(moment), now=FIRST - timedelta(hours=6), language=language)) for moment in (FIRST, SECOND)]
    assert ["1:30" in words.sms and zone in words.sms for words, zone in zip(told, ("PDT", "PST"), strict=True)] == [True, True]
    assert told[0].text != told[1].text
    ordinals = ("the first time", "the second time") if language == "en" else ("la primera vez", "la segunda vez")
    assert [ordinal in words.spoken for words, ordinal in zip(told, ordinals, strict=True)] == [True, True]


@pytest.mark.parametrize(
    ("moment", "english", "spanish"),
    [
        (TUESDAY + timedelta(hours=2), "four oh five P M Pacific time", "las cuatro y cinco de la tarde, hora del Pacífico"),
        (datetime(2026, 12, 1, 20, 0, tzinfo=UTC), "twelve P M Pacific time", "las doce en punto de la tarde, hora del Pacífico"),
        (
            datetime(2026, 12, 1, 9, 31, 40, tzinfo=UTC), "one thirty one A M Pacific time", 
            "la una y treinta y uno de la madrugada, hora del Pacífico",
        ),
        (datetime(2026, 7, 1, 4, 22, tzinfo=UTC), "nine twenty two P M Pacific time",
         "las nueve y veintidós de la noche, hora del Pacífico"),
        (datetime(2026, 11, 1, 10, 30, tzinfo=UTC), "two thirty A M Pacific time", "las dos y media de la madrugada, hora del Pacífico"),
    ],
)  # fmt: skip
def test_times_are_said_in_words(moment: datetime, english: str, spanish: str) -> None:
    assert time_aloud(moment, PACIFIC, ENGLISH) == english
    assert time_aloud(moment, PACIFIC, SPANISH) == spanish


def test_days_are_said_in_words() -> None:
    due = TUESDAY + timedelta(hours=2)
    assert moment_aloud(due, PACIFIC, TUESDAY, ENGLISH) == "today, Tuesday, December 1, at four oh five P M Pacific time"
    assert moment_aloud(due, PACIFIC, TUESDAY, SPANISH).startswith("hoy, martes 1 de diciembre, a las cuatro y cinco de la tarde")
    assert sign_by_sign("SP-2026-00001") == "S P, 2 0 2 6, 0 0 0 0 1"


@pytest.mark.parametrize(
    ("hours", "word"), [(-1, ""), (2, ""), (4, "today"), (9.9, "today"), (10, "tomorrow"), (33.9, "tomorrow"), (34, ""), (200, "")]
)
def test_today_and_tomorrow_are_named_where_they_help(hours: float, word: str) -> None:
    due = TUESDAY + timedelta(hours=hours)
    assert day_word(due, PACIFIC, TUESDAY) == word
    told = alert(an_alert(a_clock(due)))
    assert f"Due: {word}, " in told.text if word else "Due: " + due_words(a_clock(due), PACIFIC, TUESDAY)[0] in told.text


# -- several duties


def test_several_duties_are_one_message_with_the_soonest_first() -> None:
    words = alerts(bundle(5, code="4F7"))
    assert words.subject == "2 hours left: SP-2026-00001: 5 duties, first: Do the thing number 1"
    assert words.sms.startswith("SP-2026-00001: 5 duties, first due Tue Dec 1, 4:05 PM PST (2 hours left): Do the thing number 1. Also:")
    assert re.search(r"and [1-3] more\. ", words.sms)
    assert words.sms.endswith(f"Reply OK 4F7. {LINK}")
    assert segments(words.sms) == ("GSM-7", 2)
    listed = re.findall(r"- Do the thing number (\d)", words.text)
    assert listed == ["1", "2", "3", "4", "5"]
    assert words.html.count("<li ") == 5
    assert words.spoken.index("number 1") < words.spoken.index("number 2")
    assert "And 2 more." in words.spoken


def test_a_bundle_of_one_is_an_alert_and_of_none_is_nothing() -> None:
    assert alerts([an_alert()]) == alert(an_alert())
    with pytest.raises(ValueError, match="one duty"):
        alerts([])


def test_a_duty_without_a_due_time_comes_last() -> None:
    waiting = an_alert(a_clock(title="Wait") | {"due_at": None})
    assert alerts([waiting, an_alert()]).text.startswith("2 duties. First: Call the board")


ANY_TEXT = st.text(min_size=1, max_size=400).filter(str.strip)


@settings(max_examples=60)
@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, st.integers(1, 9), st.sampled_from(["en", "es"]), st.booleans())
def test_no_text_whatever_pushes_out_what_must_be_said(
    title: str, name: str, address: str, number: int, language: str, changed: bool
) -> None:
    about = [
        an_alert(
            a_clock(TUESDAY + timedelta(hours=2 + each), title=title), recipient=Recipient("x", name), spill=a_spill(address=address),
            language=language, code="4F7", changed=changed,
        )
        for each in range(number)
    ]  # fmt: skip
    words = alerts(about)
    due = due_words(about[0].clock, PACIFIC, TUESDAY, notice_speech(language))[0]
    assert segments(words.sms)[1] <= 2
    assert words.sms.endswith(f"OK 4F7. {LINK}")
    for must in ("SP-2026-00001", due):
        assert must in words.sms
        assert must in words.text
        assert must in words.html
    assert number == 1 or re.search(rf"\b{number} (duties|deberes)", words.sms)
    assert LINK not in words.spoken


# -- HTML


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_page_says_what_the_text_says(kind: str, language: str) -> None:
    for values in examples(kind, notice_speech(language), PACIFIC, "City of Chino, California", TUESDAY):
        words = compose(kind, values, notice_speech(language), {})
        seen = Seen(words.html)
        assert seen.words == plain_words(words.text)
        assert set(seen.links) == {values.said["link"]}
        assert segments(words.sms)[1] <= 2


def test_the_page_is_clean_and_loads_nothing() -> None:
    words = alert(an_alert(spill=a_spill(address='<img src="https://evil.example/x.png"> & "Ave"'), changed=True))
    assert "<img" not in words.html
    assert "&lt;img src=&#34;" in words.html
    assert not re.search(r"<(table|img|script|link|iframe|form)\b|url\(|@import", words.html)
    assert "prefers-color-scheme: dark" in words.html
    assert '<meta name="color-scheme" content="light dark">' in words.html
    assert "max-width:600px" in words.html
    assert re.search(r'class="due" style="font-size:28px[^>]*>Tue Dec 1, 4:05 PM PST<', words.html)
    assert words.html.count("<a ") == 1


# -- a city's own texts


def own(kind: str, channel: str, text: str, subject: str = "{title}") -> dict[tuple[str, str, str], Template]:
    return {(kind, channel, "en"): Template(subject if channel == "email" else "", text, 3)}


def test_a_city_says_it_in_its_own_words() -> None:
    about = an_alert(own=own("alert", "sms", "{city}! {title} by {due} {{now}}. {reference} {link}"), city="Chino", code="4F7")
    words = alert(about)
    assert words.sms == f"Chino! Call the board within two hours by Tue Dec 1, 4:05 PM PST {{now}}. SP-2026-00001 {LINK} Reply OK 4F7."
    assert words.text == alert(an_alert()).text
    assert words.note == ""
    letter = alert(an_alert(own=own("alert", "email", "Please <do> {title}\n\nBy {due}\n{reference}: {link}\n{presumed}", "Do {title}")))
    assert letter.subject == "Do Call the board within two hours"
    assert letter.text == f"Please <do> Call the board within two hours\n\nBy Tue Dec 1, 4:05 PM PST\nSP-2026-00001: {LINK}\n"
    assert Seen(letter.html).words == plain_words(letter.text)


@pytest.mark.parametrize("channel", ["email", "sms"])
@pytest.mark.parametrize(
    "text", ["{title} {due} {link}", "{title} {reference} {link}", "{reference} {due}", "{", "{gone} {reference} {due} {link}", "{title.x}"]
)
def test_a_text_that_would_lose_something_is_passed_over_with_a_note(channel: str, text: str) -> None:
    words = alert(an_alert(own=own("alert", channel, text), spill=a_spill(), link="https://x.example/1"))
    plain = alert(an_alert(link="https://x.example/1"))
    assert replace(words, note="") == plain
    assert words.note.startswith(f"the city's own text (alert, {channel}, en, version 3) was not used: it ")


def test_a_text_that_is_too_long_when_filled_is_passed_over() -> None:
    words = alert(an_alert(own=own("alert", "sms", "x" * 260 + " {reference} {due} {link}")))
    assert "3 segments" in words.note
    assert segments(words.sms)[1] <= 2


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{reference} {due} {link} {nonsense}", "{nonsense} is unknown; right would be one of: reference, due, link"),
        ("{reference} {link}", "{due} is missing; a message of this kind always says when it is due"),
        ("{reference} {due} {link} {", "line 1: a brace without its other one"),
        ("{reference}\n{due} {link} }", "line 2: a brace without its other one"),
        ("{reference} {due} {link} {title.upper}", "line 1: {title.upper} is not a name"),
        ("{reference} {due} {link} {title[0]}", "is not a name"),
        ("{reference} {due} {link} {title!r}", "{title!r} is not a name"),
        ("{reference} {due} {link} {title:>99999999}", "is not a name"),
        ("{reference} {due} {link} {}", "{} is not a name"),
        ("{reference:{due}} {link}", "is not a name"),
        ("  ", "it is empty"),
        ("x" * 801, "right would be at most 800"),
        ("x" * 200 + " {reference} {due} {link}", "with a long example it is 3 segments"),
        ("水" * 20 + " {reference} {due} {link}", "with a long example it is"),
    ],
)
def test_a_fault_is_named_before_a_text_is_kept(text: str, fault: str) -> None:
    long = examples("alert", ENGLISH, PACIFIC, "City of Chino", TUESDAY)
    [found] = [one for one in faults_of("alert", "sms", "", text, long) if fault in one]
    assert found.startswith("text: ")


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("channel", ["email", "sms"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_our_own_texts_pass_their_own_check(kind: str, channel: str, language: str) -> None:
    speech = notice_speech(language)
    subject, text = (KINDS[kind].subject, KINDS[kind].email) if channel == "email" else ("", KINDS[kind].sms)
    long = examples(kind, speech, PACIFIC, "City of Chino, California", TUESDAY)
    assert faults_of(kind, channel, speech.say(subject), speech.say(text), long) == []
    assert set(names_of(text)) <= set(KINDS[kind].variables)
    assert set(long[0].said) >= set(KINDS[kind].variables)


@given(st.text(alphabet=st.sampled_from("ab{}!:.[]_0 \n"), max_size=60))
def test_no_template_does_more_than_fill_in_names(text: str) -> None:
    values = Values({name: "value" for name in KINDS["alert"].variables})
    if not faults_of("alert", "email", "x", text + "{reference}{due}{link}", [values]):
        words = compose("alert", values, ENGLISH, own("alert", "email", text + "{reference}{due}{link}"))
        assert isinstance(words, Words)
        assert words.note == ""


def test_the_page_for_operators_lists_every_kind_and_name() -> None:
    page = (WORDING.parents[1] / "docs" / "operate.md").read_text(encoding="utf-8")
    for kind, told in KINDS.items():
        [row] = [line for line in page.splitlines() if line.startswith("| `") and f"`{kind}`" in line.split("|")[1]]
        needed, others = (set(re.findall(r"`(\w+)`", cell)) for cell in row.split("|")[3:5])
        assert needed == set(told.musts)
        assert needed | others == set(told.variables)
