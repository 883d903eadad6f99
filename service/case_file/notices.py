"""The notices that a city's ordinance has it send: orders, notices of a hearing, decisions, bills; filled in as far as the record goes.

Which of them a city knows, and what each starts for whoever gets it, is read from its pack: an act of the city that starts a clock there is
a notice here. What must be done and why is for the officer to write; nothing of it is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deadlines import read_moment
from deadlines.rules import Rule
from service.case_file.answers import Answers, Entry
from service.case_file.paper import NOTICE, CasePaper, Part
from service.case_file.record import CaseRecord
from service.events import ActRecorded
from service.pages.counting_words import limit_words
from service.pages.speech import Speech, marked

_APPEALS = ("appeal", "petition")
_TO_BE_APPEALED = ("decision_noticed", "decision_effective")
_PURPOSE_OF_ORDERS = marked("To order what must be done about the violation, and until when.")
_PURPOSE_OF_HEARINGS = marked("To tell when and where the hearing is, and what it is about.")

ORDERS: Mapping[str, str] = {
    "notice_of_correction": marked("Notice of correction"), "notice_of_violation": marked("Notice of violation"),
    "compliance_order": marked("Compliance order"), "stop_work_order": marked("Stop work order"),
    "cease_and_desist": marked("Cease and desist order"), "emergency_cease_and_desist": marked("Emergency cease and desist order"),
    "remediation_order": marked("Remediation order"), "notice_to_clean": marked("Notice to clean"),
}  # fmt: skip
_HEARINGS: Mapping[str, str] = {
    "show_cause": marked("Notice of the show cause hearing"), "appeal": marked("Notice of the appeal hearing"),
}  # fmt: skip
_OTHERS: Mapping[str, tuple[str, str]] = {
    "abatement_notified": (
        marked("Notice to clean up"), marked("To tell whoever is responsible to clean up, which starts the time for it."),
    ),
    "complaint_served": (marked("Administrative complaint"), marked("To serve the complaint, which starts the time for its hearing.")),
    "decision_noticed": (marked("Notice of the decision"), marked("To tell what was decided, which starts the time to appeal.")),
    "decision_effective": (marked("Notice of the decision"), marked("To tell what was decided, and from when it holds.")),
    "invoice_issued": (marked("Invoice"), marked("To bill the costs or the penalty, which starts the time to pay.")),
    "penalty_received": (marked("Notice of the penalty"), marked("To tell of the penalty, which starts the time to appeal.")),
    "service_terminated": (
        marked("Notice that storm drain service ends"), marked("To tell that service ends, which starts the time for a statement."),
    ),
    "certification_form_sent": (marked("Self-certification form"), marked("To send the form, which starts the time to return it.")),
    "petition_filed": (marked("Answer to the petition"), marked("To grant or deny the petition, or to set a hearing on it.")),
}  # fmt: skip
_WRITTEN: Mapping[str, Sequence[str]] = {
    "order_served": (
        marked("What the violation is, and the section it breaks"), marked("What must be done"),
        marked("What happens if it is not done: penalties, costs"),
    ),
    "hearing_set": (
        marked("Date, time and place of the hearing"), marked("The violations, and the reasons"), marked("What the city proposes to do"),
    ),
    "abatement_notified": (marked("What must be cleaned up, and how"),),
    "invoice_issued": (marked("Amount, and what it is for"),), "penalty_received": (marked("Amount, and what it is for"),),
}  # fmt: skip
_ANY_WRITTEN = (marked("What was decided, and the reasons"),)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A notice: the act of the city that it is, with the word that tells it from others of its kind (`key` and `value`, or empty)."""

    event: str
    title: str
    purpose: str
    key: str = ""
    value: str = ""

    @property
    def id(self) -> str:
        """Its address."""
        return f"notice-{self.value or self.event}"

    def starts(self, rule: Rule) -> bool:
        """Whether this act starts the clock of a rule."""
        if rule.trigger is None or rule.trigger.event != self.event:
            return False
        named = rule.trigger.where.get(self.key)
        return not self.key or named is None or self.value in named


def notices(record: CaseRecord, speech: Speech) -> list[CasePaper]:
    """The notices that the ordinance of the spill's city knows; none where the city is not known."""
    if record.spill.city is None:
        return []
    day = record.now.astimezone(record.zone).date()
    rules = [rule for rule in record.house.rulebook.law_of(record.spill.city).city.rules if rule.in_force.holds(day)]
    ask = Answers(record, speech)
    return [_paper(ask, kind, rules) for kind in _kinds(rules)]


def _kinds(rules: Sequence[Rule]) -> Iterator[_Kind]:
    events = {rule.trigger.event for rule in rules if rule.trigger is not None}
    orders = {
        order
        for rule in rules
        if rule.trigger is not None and rule.trigger.event == "order_served"
        for order in rule.trigger.where["order"]
    }
    for order, title in ORDERS.items():
        if order in orders:
            yield _Kind("order_served", title, _PURPOSE_OF_ORDERS, "order", order)
    for hearing, title in _HEARINGS.items():
        kind = _Kind("hearing_set", title, _PURPOSE_OF_HEARINGS, "hearing", hearing)
        if any(kind.starts(rule) for rule in rules):
            yield kind
    for event, (title, purpose) in _OTHERS.items():
        if event in events:
            yield _Kind(event, title, purpose)


def _paper(ask: Answers, kind: _Kind, rules: Sequence[Rule]) -> CasePaper:
    speech = ask.speech
    started = [rule for rule in rules if kind.starts(rule)]
    follows = [rule for rule in started if rule.owed_by == "discharger" and rule.act not in _APPEALS]
    appeals = [rule for rule in started if rule.act in _APPEALS]
    if kind.event == "order_served" and not appeals:
        appeals = [rule for rule in rules if rule.act in _APPEALS and rule.trigger is not None and rule.trigger.event in _TO_BE_APPEALED]
    of_the_city = {rule.duty for rule in started if rule.owed_by == "city"}
    duties = [duty for duty in ask.record.duties if duty.row.duty in of_the_city and duty.state not in ("withdrawn", "waived")]
    about = [ask.material(), ask.volume(), ask.place(), ask.city(), ask.began(), ask.known_at(), ask.reached(), ask.cause()]
    signed = [marked("Name and title"), marked("Signature"), marked("Date"), marked("How it was served: in person, by mail")]
    parts = [
        Part(speech.say("To"), [ask.responsible(), ask.particular("responsible_address")]),
        Part(speech.say("About"), about),
        Part(speech.say("What the notice says"), [*map(ask.by_hand, _WRITTEN.get(kind.event, _ANY_WRITTEN)), *_dates(ask, kind)]),
        Part(speech.say("What the law asks then"), [_rule(ask, rule) for rule in follows]),
        Part(speech.say("How it can be appealed"), [_rule(ask, rule) for rule in appeals]),
        Part(speech.say("For the city"), [*map(ask.by_hand, signed)]),
    ]  # fmt: skip
    return CasePaper(
        id=kind.id, kind=NOTICE, title=speech.say(kind.title), purpose=speech.say(kind.purpose),
        law=list(dict.fromkeys(rule.citation for rule in started)), parts=[part for part in parts if part.entries], duties=duties,
        standing=_standing(ask, kind), act=kind.event,
    )  # fmt: skip


def _rule(ask: Answers, rule: Rule) -> Entry:
    """What a rule asks of whoever gets the notice: its time, to whom, and where it stands."""
    office = ask.record.recipients.get(rule.to or "")
    limit = limit_words(ask.speech, rule.limit.text)
    return ask.entry(rule.title, "\n".join(filter(None, (limit, ask.speech.say(office.name) if office else "", rule.citation))))


def _served(ask: Answers, kind: _Kind) -> Mapping[str, object] | None:
    """The last act on record that this notice is; None where it was not sent yet."""
    acts = [event.act for _, event in ask.record.history if isinstance(event, ActRecorded) and event.act.get("type") == kind.event]
    return next((act for act in reversed(acts) if not kind.key or act.get(kind.key) in (kind.value, None)), None)


def _dates(ask: Answers, kind: _Kind) -> list[Entry]:
    """The time that an order or a hearing has on record, else a line to write it on."""
    asked = {
        "order_served": ("comply_by", marked("Until when it must be done")),
        "hearing_set": ("hearing_at", marked("When the hearing is")),
    }
    if kind.event not in asked:
        return []
    key, label = asked[kind.event]
    told = (_served(ask, kind) or {}).get(key)
    return [ask.by_hand(label, ask.speech.stamp(read_moment(str(told), ask.record.zone), ask.record.zone) if told else "")]


def _standing(ask: Answers, kind: _Kind) -> str:
    act = _served(ask, kind)
    if act is None:
        return ask.speech.say("It is not on record that this was sent. Record it once it is.")
    when = ask.speech.stamp(read_moment(str(act["at"]), ask.record.zone), ask.record.zone)
    return ask.speech.say("On record as sent %(when)s.", when=when)
