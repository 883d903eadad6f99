"""Call sheets: what to say, in the order in which the operator asks, filled from the record, with the numbers and lines to write on.

Cal OES: the numbered lines of the State Warning Center's spill report. National Response Center: the list that EPA publishes of what it
asks. Every other office that is owed a call: the order of the discharger's own call sheet.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.case_file.answers import Answers, Entry
from service.case_file.paper import CALL, CasePaper, Part
from service.case_file.record import CaseRecord
from service.pages.duties import Duty
from service.pages.speech import Speech, marked

CAL_OES, NRC = "cal-oes", "national-response-center"
_ALWAYS = (CAL_OES, NRC)
_YES_NO_LATER = marked("Say “not known yet” where nothing stands here. Do not guess, and do not wait: call again when you know more.")
_TITLES = {
    CAL_OES: marked("Call sheet: Cal OES State Warning Center"), NRC: marked("Call sheet: National Response Center"),
}  # fmt: skip
_PURPOSES = {
    CAL_OES: marked(
        "To tell the state of a spill by telephone. The Warning Center gives a control number and passes the notice on to the agencies "
        "of the state and the county."
    ),
    NRC: marked(
        "To tell the federal government of oil or of a hazardous substance by telephone. It passes the notice on to EPA or the Coast Guard."
    ),
}
_ANY_PURPOSE = marked("To give the notice by telephone that the law asks for.")
_NOBODY_ASKS = marked("No clock of this spill asks for this call now. The sheet is here in case you decide to call.")
_BLANKS = {
    CAL_OES: (marked("Cal OES control number"), marked("Spoke to"), marked("Date and time of the call")),
    NRC: (marked("Report number of the National Response Center"), marked("Spoke to"), marked("Date and time of the call")),
}
_ANY_BLANKS = (marked("Control or case number, if they give one"), marked("Spoke to"), marked("Date and time of the call"))
_ALSO_ASKED = {
    CAL_OES: (
        marked("Does a pipeline or a vessel of 300 tons or more have to do with it?"),
        marked("Which other agencies should be told?"),
    ),
    NRC: (
        marked("The name of a carrier or vessel, a railcar or truck number."),
        marked("How long and wide is a sheen, and of what color?"),
    ),
}


def call_sheets(record: CaseRecord, speech: Speech) -> list[CasePaper]:
    """A sheet for each office that a clock wants called, those with the nearest due first, and always for the two warning centers."""
    wanted: dict[str, list[Duty]] = {}
    for duty in record.duties:
        if duty.is_call and duty.recipient is not None and duty.state not in ("withdrawn", "waived"):
            wanted.setdefault(duty.recipient.id, []).append(duty)
    for recipient in _ALWAYS:
        if recipient in record.recipients:
            wanted.setdefault(recipient, [])
    sheets = [_sheet(Answers(record, speech), recipient, duties) for recipient, duties in wanted.items()]
    return sorted(sheets, key=lambda sheet: (not sheet.is_due, not sheet.duties))


def _sheet(answers: Answers, recipient: str, duties: Sequence[Duty]) -> CasePaper:
    speech, office = answers.speech, answers.record.recipients[recipient]
    parts = {CAL_OES: _cal_oes, NRC: _national}.get(recipient, _anybody)(answers, recipient)
    name = speech.say(office.name)
    title = speech.say(_TITLES[recipient]) if recipient in _TITLES else speech.say("Call sheet: %(name)s", name=name)
    return CasePaper(
        id=f"call-{recipient}", kind=CALL, title=title,
        purpose=" ".join(filter(None, (
            speech.say(_PURPOSES.get(recipient, _ANY_PURPOSE)), "" if duties else speech.say(_NOBODY_ASKS), speech.say(_YES_NO_LATER),
        ))),
        law=list(dict.fromkeys(str(duty.clock["citation"]) for duty in duties)), parts=parts, duties=duties, to=name,
        telephone=office.telephone, asked=[speech.say(one) for one in _ALSO_ASKED.get(recipient, ())],
        blanks=[speech.say(one) for one in _BLANKS.get(recipient, _ANY_BLANKS)],
    )  # fmt: skip


def _part(answers: Answers, heading: str, *entries: Entry) -> Part:
    return Part(answers.speech.say(heading), entries)


def _caller(ask: Answers) -> list[Entry]:
    return [ask.by_hand(marked("Your name")), ask.agency(), ask.by_hand(marked("Your telephone, and a second one"))]


def _cal_oes(ask: Answers, recipient: str) -> list[Part]:
    """The lines of the state's form, 1 to 6."""
    known = ask.particular
    return [
        _part(ask, marked("1. Who you are"), *_caller(ask), ask.reporter()),
        _part(ask, marked("2. What it is"), ask.material(), ask.volume(), ask.substances(), known("rate"), ask.description(),
              ask.running(), known("containment"), ask.in_water(), known("water_name"), known("water_gallons"), known("drinking_water"),
              ask.reached(), known("impact")),
        _part(ask, marked("3. Where it is"), ask.place(), known("cross_streets"), ask.city(), known("county"), known("zip")),
        _part(ask, marked("4. What happened"), ask.began(), ask.known_at(), ask.premises(), ask.cause(), known("injured"), known("dead"),
              known("evacuation"), known("cleanup_by"), ask.measures(), known("recovered_gallons")),
        _part(ask, marked("5. Who is responsible"), ask.responsible(), known("responsible_address")),
        _part(ask, marked("6. Who else knows"), known("on_scene"), ask.told_already(recipient)),
    ]  # fmt: skip


def _national(ask: Answers, recipient: str) -> list[Part]:
    """What the National Response Center asks, in the order in which EPA lists it."""
    known = ask.particular
    return [
        _part(ask, marked("1. Who you are"), *_caller(ask), ask.by_hand(marked("Where you are now"))),
        _part(ask, marked("2. Who is responsible"), ask.responsible(), known("responsible_address")),
        _part(ask, marked("3. When and where"), ask.began(), ask.known_at(), ask.place(), ask.city(), known("county"), known("zip"),
              known("cross_streets")),
        _part(ask, marked("4. Source and cause"), ask.cause(), ask.premises(), ask.running()),
        _part(ask, marked("5. What and how much"), ask.material(), ask.substances(), ask.volume(), known("rate")),
        _part(ask, marked("6. What it got into"), ask.reached(), known("water_name"), known("water_gallons"),
              ask.truth(marked("Is there a sheen on the water?"), "sheen")),
        _part(ask, marked("7. Danger"), ask.truth(marked("A threat to people or the environment"), "threat"), known("impact"),
              known("fire"), known("injured"), known("dead"), known("weather"), known("evacuation"), known("road_closed")),
        _part(ask, marked("8. What is done, and who knows"), known("containment"), ask.measures(), known("cleanup_by"),
              ask.told_already(recipient), ask.description()),
    ]  # fmt: skip


def _anybody(ask: Answers, recipient: str) -> list[Part]:
    known = ask.particular
    return [
        _part(ask, marked("Who you are"), *_caller(ask)),
        _part(ask, marked("What and how much"), ask.material(), ask.substances(), ask.volume(), known("rate"), ask.running(), ask.cause()),
        _part(ask, marked("Where and when"), ask.place(), known("cross_streets"), ask.city(), ask.began(), ask.known_at()),
        _part(ask, marked("What it reached"), ask.reached(), known("water_name"), known("impact"), known("injured")),
        _part(ask, marked("What is done, and who knows"), known("containment"), ask.measures(), known("on_scene"), ask.responsible(),
              ask.told_already(recipient)),
    ]  # fmt: skip
