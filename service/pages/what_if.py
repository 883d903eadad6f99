"""What the law would ask: a page for anybody to try facts on. They come from the address and go nowhere; nothing is stored or sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deadlines import read_moment
from deadlines.facts import CHOICES, EVENT_KEYS, FLAGS, MOMENTS, PLACES_REACHED
from deadlines.inquiry import Inquiry
from deadlines.quantities import GALLONS
from service.errors import BadInput
from service.pages import law_words, words
from service.pages.duties import OPEN, Duty, duty_asked
from service.pages.event_fields import inputs_of
from service.pages.fields import Fields
from service.pages.rendering import city_name, house_of, now_of, page, spoken, sure_zone, zone_of
from service.pages.reporter_news import amount
from service.pages.speech import Speech, local_input, marked
from service.pages.what_if_query import facts_of, faults_of, field_of, pairs_of, tidied
from service.quantity_questions import UNITS
from service.transaction import House, reading
from service.what_if import WhatIf, what_if

router = APIRouter(include_in_schema=False)
# A duty that recurs shows so many of its times; what lies further back says nothing new.
_OCCURRENCES = 3


@dataclass(frozen=True)
class Asked:
    """An open question as the page shows it: what an answer does, what hangs on it, and buttons that answer it, as value and word.

    Without buttons it is answered at `field` of the form.
    """

    fact: str
    asks: str
    effect: str
    titles: Sequence[str]
    answers: Sequence[tuple[str, str]]
    field: str


@dataclass(frozen=True)
class EventRow:
    """An event of the form: its number, its type, and its fields besides the time."""

    number: int
    kind: str
    says: str
    inputs: Sequence[tuple[str, str, Sequence[str]]]


@router.get("/what-if")
async def what_if_page(request: Request) -> Response:
    """The form, and what the law says to what was filled in."""
    house, speech = house_of(request), spoken(request)
    fields = Fields({name: request.query_params.getlist(name) for name in request.query_params})
    city = fields.text("city")
    zone = zone_of(house, city if city in house.rulebook.zones else None)
    now = now_of(request)
    sure = sure_zone(house, city if city in house.rulebook.zones else None, now)
    tidy = tidied(fields, now, zone)
    if tidy is not None:
        return RedirectResponse(f"/what-if?{tidy}" if tidy else "/what-if", 303)
    pairs = pairs_of(fields)
    given = facts_of(fields)
    faults = faults_of(given, house.rulebook, now) if pairs else {}
    answer = None
    if pairs and not faults:
        try:
            async with reading(house) as tx:
                answer = await what_if(tx, given, now)
        except BadInput as error:
            faults = {"city": str(error)}
    kept = f"{urlencode(pairs)}&" if pairs else ""
    return page(
        request, "what_if.html", 422 if faults else 200, zone=sure, kept=kept, fields=fields, faults=faults, answer=answer, city=city,
        now_local=local_input(now, sure) if sure else "", **_form(speech, house, fields, zone),
        **_answered(speech, house, fields, answer, now),
    )  # fmt: skip


def _form(speech: Speech, house: House, fields: Fields, zone: ZoneInfo) -> dict[str, Any]:
    """What the form is made of."""
    city = fields.text("city")
    cities = dict.fromkeys((*house.cities, *([city] if city in house.rulebook.zones else [])))

    def pairs_in(told: Mapping[str, str], options: Sequence[str]) -> list[tuple[str, str]]:
        return [(word, speech.say(told.get(word, word))) for word in options]

    return {
        "cities": [(one, city_name(house, one)) for one in cities], "recipients": _recipients(house, city),
        "events": _events(speech, fields), "typed_time": lambda name: _typed_time(fields, name, zone), "pairs_in": pairs_in,
        "says": law_words, "choices": CHOICES, "flags": FLAGS, "moments": MOMENTS, "units": list(GALLONS), "all_units": UNITS,
        "event_types": list(EVENT_KEYS),
    }  # fmt: skip


def _typed_time(fields: Fields, name: str, zone: ZoneInfo) -> str:
    """A time of the query as its field holds it; nothing where it is no time."""
    try:
        return local_input(read_moment(fields.text(name), zone), zone)
    except ValueError:
        return ""


def _events(speech: Speech, fields: Fields) -> list[EventRow]:
    return [
        EventRow(number, kind, speech.say(law_words.EVENTS.get(kind, "")) or kind, inputs_of(kind))
        for number, kind in enumerate(fields.all("event"))
    ]


def _recipients(house: House, city: str) -> list[tuple[str, str]]:
    known = house.rulebook.law_of(city).recipients if city in house.rulebook.zones else house.rulebook.recipients
    return sorted(((key, recipient.name) for key, recipient in known.items()), key=lambda pair: pair[1])


def _answered(speech: Speech, house: House, fields: Fields, answer: WhatIf | None, now: datetime) -> dict[str, Any]:
    """What the page shows of the law's answer; empty lists where there is none."""
    if answer is None:
        return {"recap": [], "groups": {}, "presumed": 0, "earlier": {}, "questions": [], "arithmetic": ()}
    duties, earlier = _cards(answer, now)
    groups = {
        "open": [duty for duty in duties if duty.state in OPEN],
        "waiting": [duty for duty in duties if duty.state == "waiting"],
        "done": [duty for duty in duties if duty.state in ("met", "met_late")],
    }
    return {
        "recap": _recap(speech, house, fields, answer), "groups": groups, "earlier": earlier,
        "presumed": sum(clock.applies == "presumed" for clock in answer.clocks),
        "questions": [_asked(speech, inquiry, house) for inquiry in answer.inquiries], "arithmetic": answer.reportable,
    }  # fmt: skip


def _cards(answer: WhatIf, now: datetime) -> tuple[list[Duty], dict[str, int]]:
    """The clocks as cards, and of how many earlier times of a recurring duty there are none, by its title."""
    times = Counter(clock.duty for clock in answer.clocks if clock.occurrence)
    shown = [clock for clock in answer.clocks if not clock.occurrence or clock.occurrence > times[clock.duty] - _OCCURRENCES]
    titles = {clock.duty: clock.standing.rule.title for clock in answer.clocks}
    earlier = {titles[duty]: number - _OCCURRENCES for duty, number in times.items() if number > _OCCURRENCES}
    return [duty_asked(answer.law, clock, now) for clock in shown], earlier


def _recap(speech: Speech, house: House, fields: Fields, answer: WhatIf) -> list[tuple[str, str]]:
    """The facts that were given, in words."""
    facts, zone = answer.facts, answer.law.zone
    volume = facts_of(fields).get("volume")
    found = [
        (speech.say(words.FACTS["jurisdiction"]), city_name(house, facts.jurisdiction)),
        (speech.say(words.FACTS["kind"]), speech.say(law_words.CHOICES[facts.kind])),
        (speech.say(words.FACTS["material"]), speech.say(words.MATERIALS.get(facts.material or "", ""))),
        (speech.say(words.FACTS["volume"]), amount(speech, volume)),
        (speech.say(words.FACTS["substances"]), " ".join(map(fields.text, ("substance_quantity", "substance_unit", "substance")))),
        (speech.say(words.FACTS["reached"]), "; ".join(speech.say(words.REACHED[place]) for place in fields.all("reached"))),
    ]  # fmt: skip
    found += [(speech.say(words.FACTS[key]), speech.stamp(at, zone)) for key in MOMENTS if (at := getattr(facts, key))]
    chosen = [(key, getattr(facts, key)) for key in ("premises", "release")]
    found += [(speech.say(words.FACTS[key]), speech.say(law_words.CHOICES[word])) for key, word in chosen if word]
    said = {True: speech.say("Yes"), False: speech.say("No")}
    found += [(speech.say(words.FACTS[key]), said[value]) for key in FLAGS if (value := getattr(facts, key)) is not None]
    found += [(speech.say(law_words.EVENTS[event.type]), speech.stamp(event.at, zone)) for event in facts.events]
    return [(label, value.strip()) for label, value in found if value.strip()]


def _asked(speech: Speech, inquiry: Inquiry, house: House) -> Asked:
    told = inquiry.as_json()
    titles = [house.rulebook.rules(duty)[1][-1].title for duty in law_words.hanging(told)]
    answers = [(f"{inquiry.fact}:{value}", speech.say(word)) for value, word in _answers(inquiry.fact)]
    return Asked(inquiry.fact, inquiry.asks, law_words.effect(speech, told), titles, answers, field_of(inquiry.fact))


def _answers(fact: str) -> Sequence[tuple[str, str]]:
    """The answers that a button can give to a question."""
    yes_or_no = (("yes", marked("Yes")), ("no", marked("No")))
    if fact in FLAGS:
        return yes_or_no
    if fact == "reached":
        return [(place, words.REACHED[place]) for place in PLACES_REACHED]
    if fact in ("premises", "release"):
        return [(word, law_words.CHOICES[word]) for word in CHOICES[fact]]
    return yes_or_no if fact.endswith(".uncontrolled_source") else ()
