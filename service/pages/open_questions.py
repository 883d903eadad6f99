"""The open questions of a spill, each with the answers that settle it by one press; and the small forms that are filled in at the kerb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from deadlines import as_z
from deadlines.facts import CHOICES, FLAGS
from service.errors import BadInput
from service.fact_sources import SOURCES, STAFF
from service.pages import law_words, words
from service.pages.amendments import number_typed, told
from service.pages.duties import Duty, question_of
from service.pages.fields import Fields
from service.pages.speech import ENGLISH
from service.recorded_substances import question_about
from service.tables import Spill
from service.transaction import House

_TRUTHS = {"yes": True, "no": False}
# So many answers are a button each; more are a list with one button.
_MOST_BUTTONS = 8


@dataclass(frozen=True)
class OpenQuestion:
    """A fact nobody has settled: the question, what an answer would do, the clocks that hang on it, and the answers as value and words.

    `form`: buttons, list, amount, or nothing where only the whole form of the facts can answer it.
    """

    fact: str
    asks: str
    effect: str
    clocks: Sequence[str]
    answers: Sequence[tuple[str, str]] = ()
    form: str = ""


def open_questions(house: House, spill: Spill, inquired: Sequence[Mapping[str, Any]], duties: Sequence[Duty]) -> list[OpenQuestion]:
    """The open questions in the order given, those first whose answer would take away the most.

    Last stand those whose answer says only when a waiting clock is due.
    """
    titles = {duty.row.duty: str(duty.clock["title"]) for duty in duties}
    found = []
    for one in inquired:
        says = question_about(house.rulebook.quantities, spill.facts, one["fact"]) or one["asks"]
        hanging = [titles.get(duty) or house.rulebook.rules(duty)[1][-1].title for duty in law_words.hanging(one)]
        found.append(_question(one["fact"], says, law_words.effect(ENGLISH, one), hanging))
    facts = {one["fact"] for one in inquired}
    for duty in duties:
        for fact in duty.clock["unsettled"] if duty.is_open or duty.state == "waiting" else ():
            if fact not in facts:
                facts.add(fact)
                found.append(
                    _question(fact, question_of(ENGLISH, fact), "The answer would settle when a clock is due.", [titles[duty.row.duty]])
                )
    return found


def _question(fact: str, asks: str, effect: str, clocks: Sequence[str]) -> OpenQuestion:
    if fact == "volume":
        return OpenQuestion(fact, asks, effect, clocks, form="amount")
    answers = answers_to(fact)
    form = "" if not answers else "buttons" if len(answers) <= _MOST_BUTTONS else "list"
    return OpenQuestion(fact, asks, effect, clocks, answers, form)


def answers_to(fact: str) -> list[tuple[str, str]]:
    """The answers to a question as value and words; none where it takes more than a press."""
    if fact in FLAGS:
        return [("yes", "Yes"), ("no", "No")]
    if fact == "material":
        return [(word, says) for word, says in words.MATERIALS.items() if word != "unknown"]
    if fact == "reached":
        return list(words.REACHED.items())
    if fact in CHOICES:
        return [(word, words.plain(word).capitalize()) for word in CHOICES[fact]]
    return {
        "discharged_at": [("known_at", "When it was first known")], "ended_at": [("now", "It has ended, just now")],
    }.get(fact, [])  # fmt: skip


def settled_by(spill: Spill, fields: Fields, now: datetime) -> tuple[dict[str, Any], str, str]:
    """What the form of a question says: the change, the reason and the source. Raises BadInput where somebody answered it meanwhile."""
    fact, answer = fields.text("fact"), fields.text("answer")
    found = dict(answers_to(fact))
    if answer not in found:
        raise BadInput("this is no answer", [f"answer: right would be: {', '.join(found) or 'the form of all facts'}"])
    value: Any = _TRUTHS[answer] if fact in FLAGS else answer
    if fact == "reached":
        value = [answer]
    elif fact == "discharged_at":
        value = spill.facts.get("known_at")
    elif fact == "ended_at":
        value = as_z(now)
    return {fact: value}, _reason(fields, f"asked and answered: {found[answer]}"), fields.text("source", STAFF)


def amount_from(house: House, spill: Spill, fields: Fields) -> tuple[dict[str, Any], str, str]:
    """What the small form of the amount says: the change, the reason and the source.

    Raises BadInput without an amount, and where somebody amended it since the form was shown.
    """
    if not fields.text("amount"):
        raise BadInput("there is no amount", ["amount: missing; right would be: a number, such as 1,200"])
    stands = told(house, spill, "volume", spill.facts.get("volume"))
    if fields.text("was", stands) != stands:
        raise BadInput("the amount was amended meanwhile", [f"amount: it was amended meanwhile to: {stands}. Look, and enter yours again"])
    volume = {"quantity": number_typed(fields.text("amount")), "unit": fields.text("unit", "gal")}
    return {"volume": volume}, _reason(fields, "the amount as found at the place"), fields.text("source", STAFF)


def _reason(fields: Fields, otherwise: str) -> str:
    says = fields.text("note") or otherwise
    source = SOURCES.get(fields.text("source", STAFF))
    return f"{says} ({source[0][0].lower()}{source[0][1:]})" if source else says
