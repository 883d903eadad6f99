"""The words people see for what the law asks about: kinds of matter, events and what they say, and the questions of an inquiry."""

from __future__ import annotations

from collections.abc import Mapping

from service.pages import words
from service.pages.counting_words import limit_words as limit_words
from service.pages.speech import Speech, marked

# The words of the closed lists of facts and events, apart from materials and places.
CHOICES: Mapping[str, str] = {
    "spill": marked("A spill or discharge"), "planned_discharge": marked("A planned discharge"),
    "unplanned_discharge": marked("An unplanned discharge"), "irrigation_leak": marked("A leak of an irrigation system"),
    "recycled_water_pond": marked("A pond of recycled water that may overflow"), "dye_test": marked("A dye test"),
    "enforcement": marked("Enforcement: an order, a hearing, a penalty"),
    "confirmed": marked("Confirmed"), "suspected": marked("Suspected"),
    "residential": marked("Homes"), "commercial": marked("Business"), "industrial": marked("Industry"),
    "construction": marked("Construction site"), "municipal": marked("City property"),
    "show_cause": marked("Hearing to show cause"), "appeal": marked("Hearing of an appeal"),
    "complaint": marked("Decision on a complaint"), "other": marked("Another decision"),
    "notice_of_correction": marked("Notice of correction"), "notice_of_violation": marked("Notice of violation"),
    "compliance_order": marked("Compliance order"), "stop_work_order": marked("Stop work order"),
    "cease_and_desist": marked("Order to cease and desist"), "emergency_cease_and_desist": marked("Emergency order to cease and desist"),
    "remediation_order": marked("Order to clean up"), "notice_to_clean": marked("Notice to clean"),
    **{way: words.WAYS[way] for way in ("telephone", "email", "in_person", "mail", "online", "written")},
}  # fmt: skip

EVENTS: Mapping[str, str] = {
    "notice_given": marked("An authority was told"), "report_submitted": marked("A written report was handed in"),
    "cleanup_done": marked("The cleanup was done"), "repaired": marked("The repair was done"),
    "sampling_done": marked("Samples were taken"), "responded": marked("Somebody went there"), "paid": marked("It was paid"),
    "filed": marked("It was filed"), "order_complied": marked("An order was obeyed"), "appeal_filed": marked("An appeal was filed"),
    "petition_filed": marked("A petition was filed"), "hearing_held": marked("A hearing was held"),
    "decision_made": marked("A decision was made"), "hearing_noticed": marked("A hearing was announced"),
    "abatement_notified": marked("The city told the discharger to stop it"),
    "timeframe_revision_determined": marked("It became clear that the time frame must change"),
    "service_terminated": marked("Service was cut off"), "complaint_served": marked("A complaint was served"),
    "invoice_issued": marked("An invoice was issued"), "penalty_received": marked("Notice of a penalty arrived"),
    "record_made": marked("A record was made"), "certification_form_sent": marked("A certification form was sent"),
    "decision_noticed": marked("A decision was announced"), "decision_effective": marked("A decision took effect"),
    "hearing_set": marked("A hearing was set"), "order_served": marked("An order was served"),
}  # fmt: skip

EVENT_FIELDS: Mapping[str, str] = {
    "at": marked("When"), "recipient": marked("Who was told"), "method": marked("How they were told"),
    "complete": marked("The report is complete"), "order": marked("Which order"), "comply_by": marked("Time to comply that it sets"),
    "hearing": marked("Which hearing"), "hearing_at": marked("Time of the hearing"), "decision": marked("Which decision"),
    "uncontrolled_source": marked("The source is not under control"),
}  # fmt: skip

# The questions of `deadlines.inquiry`, word for word, so that they have a translation.
QUESTIONS: Mapping[str, str] = {
    "reached": marked("Where did it go: a street, gutter, drain, creek or groundwater, or was all of it contained?"),
    "threat": marked("Is it a threat to human health or the environment?"),
    "accidental": marked("Was the discharge an accident?"),
    "volume": marked("How much was spilled?"),
    "material": marked("What was spilled?"),
    "premises": marked("What kind of premises did it come from?"),
    "release": marked("Is the release confirmed, or only suspected?"),
    "hazardous": marked("Is what was spilled hazardous?"),
    "high_risk": marked("Does it need cleanup as soon as possible?"),
    "captured": marked("Was all that entered a storm drain captured and returned?"),
    "sheen": marked("Does it leave a film or sheen on the water?"),
    "substances": marked("Which substances were spilled, and how much of each?"),
    "reportable_quantity": marked("Was a federal reportable quantity reached?"),
    "enrollee": marked("Does the sewer system stand under the statewide sewer order?"),
    "npdes_permittee": marked("Does whoever spilled it hold an NPDES permit?"),
    "spcc_facility": marked("Is it a facility with a spill prevention plan under 40 CFR 112?"),
    "discharged_at": marked("When did the discharge begin?"),
    "ended_at": marked("When did the discharge end?"),
}  # fmt: skip

OWED_BY: Mapping[str, str] = {"discharger": marked("the discharger"), "city": marked("the city")}


def effect(speech: Speech, asked: Mapping[str, list[str]]) -> str:
    """What an answer to an open question would do, in words."""
    settles, removes, starts = (len(asked[key]) for key in ("settles", "removes", "starts"))
    told = []
    if settles:
        told.append(speech.count("The answer would settle %(number)s clock.", "The answer would settle %(number)s clocks.", settles))
    if removes:
        told.append(speech.count("It can take away %(number)s clock.", "It can take away up to %(number)s clocks.", removes))
    if starts:
        told.append(speech.count("It can start %(number)s more clock.", "It can start up to %(number)s more clocks.", starts))
    if not told:
        hangs = len(asked["presumed"]) + len(asked["held_back"])
        told.append(speech.count("%(number)s clock hangs on it.", "%(number)s clocks hang on it.", hangs))
    return " ".join(told)


def hanging(asked: Mapping[str, list[str]]) -> list[str]:
    """The duties that hang on an open question, each once: those presumed, those held back, those that an answer would start."""
    return list(dict.fromkeys([*asked["presumed"], *asked["held_back"], *asked["starts"]]))
