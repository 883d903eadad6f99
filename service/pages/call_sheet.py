"""The call sheet of a telephone duty: whom to call, what to say, filled from the facts, what they will ask, and what to write down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.events import ActRecorded
from service.pages.duties import Duty
from service.pages.known_answers import Known
from service.pages.speech import Speech, marked

STATE, FEDERAL, EMERGENCY = "cal-oes", "national-response-center", "emergency-dispatch"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing to say. `says` is empty where it is not on record: whoever calls fills it in, or says that it is not known yet."""

    label: str
    says: str


@dataclass(frozen=True, slots=True)
class CallSheet:
    """What a call sheet holds, in one language."""

    lines: Sequence[Line]
    asked: Sequence[str]
    write_down: Sequence[str]


# What is asked beside what every office asks. Of Cal OES and the National Response Center after their own report forms.
_ASKED: Mapping[str, Sequence[str]] = {
    STATE: (
        marked("Is it still running, and how fast? What stops it?"),
        marked("Which creek, channel or other water? Is drinking water at risk?"),
        marked("What caused it?"),
        marked("Is anybody hurt? Did people have to leave?"),
        marked("Who cleans up, and who is there now?"),
    ),
    FEDERAL: (
        marked("Which company is responsible, with its address?"),
        marked("Which water, how much got in, and how large is the sheen? What color?"),
        marked("Is the release stopped? What caused it?"),
        marked("Is anybody hurt? Is there a fire? Did people have to leave, or was a road closed?"),
        marked("Who else was told?"),
    ),
}
_ASKED_ANYWHERE = (
    marked("Is it still running? What stops it?"),
    marked("Is anybody hurt? Is there fire, smoke or a strong smell?"),
    marked("Who is there now, and how can they be reached?"),
)
_ANY_NUMBER = marked("A case or control number, if they give one.")
_WRITE_DOWN: Mapping[str, str] = {
    STATE: marked("The Cal OES control number. Ask for it before you hang up: your written report needs it."),
    FEDERAL: marked("The report number of the National Response Center. Ask for it before you hang up."),
}


def call_sheet(known: Known, duty: Duty) -> CallSheet:
    """The call sheet of a duty."""
    speech, recipient = known.speech, duty.recipient.id if duty.recipient else ""
    write_down = [
        speech.say(_WRITE_DOWN.get(recipient, _ANY_NUMBER)),
        speech.say("The time of the call, and the name of the person you spoke to."),
    ]
    return CallSheet(_lines(known, recipient), [speech.say(one) for one in _ASKED.get(recipient, _ASKED_ANYWHERE)], write_down)


def _lines(known: Known, recipient: str) -> list[Line]:
    speech = known.speech
    when = [known.began(), known.told(), known.ended()]
    person = [
        speech.say("My name is %(name)s.", name=known.caller()) if known.caller() else "",
        speech.say("I call for %(firm)s.", firm=known.firm()) if known.firm() else "",
        speech.say("You can call me back at %(phone)s.", phone=known.telephone()) if known.telephone() else "",
    ]

    def told(label: str, text: str, value: str) -> Line:
        return Line(speech.say(label), speech.say(text, value=value) if value else "")

    lines = [
        Line(speech.say("Who you are"), " ".join(filter(None, person))),
        told(marked("What"), marked("I report a spill: %(value)s."), known.material()),
        told(marked("How much"), marked("About %(value)s."), known.volume()),
        told(marked("Where"), marked("At %(value)s."), known.place()),
        Line(speech.say("When"), " ".join(filter(None, when))),
        told(marked("What it reached"), marked("It reached: %(value)s."), known.reached()),
        Line(speech.say("What is being done"), known.measures()),
        Line(speech.say("Who was told already"), _told_already(known, recipient)),
    ]
    return lines


def _told_already(known: Known, recipient: str) -> str:
    names: dict[str, str] = {}
    for _, event in known.history:
        other = str(event.act.get("recipient")) if isinstance(event, ActRecorded) and event.act.get("type") == "notice_given" else ""
        if other and other != recipient and (found := known.house.rulebook.recipients.get(other)):
            number = known.notice(other)[1]
            names[other] = known.speech.say("%(name)s, control number %(number)s", name=found.name, number=number) if number else found.name
    return "; ".join(names.values())


def in_english(speech: Speech) -> bool:
    """Whether a sheet in this language should carry its English, too: the offices that are called speak it first."""
    return speech.language != "en"
