"""A message in every form it is sent in, from the values of its kind: by the city's own template where it has one, else by ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.speech import Speech
from service.wording.kinds import KINDS, needed
from service.wording.letter import page
from service.wording.short import Part, Short, fitted
from service.wording.template import Own, Template, TemplateFault, Values, as_one_line, as_short, as_text, filled


@dataclass(frozen=True, slots=True)
class Words:
    """A message: for e-mail as text and HTML, for SMS, and for the ear. `note` says why a city's own text was not used."""

    subject: str
    text: str
    sms: str
    html: str = ""
    spoken: str = ""
    note: str = ""

    def body(self, channel: str) -> str:
        """The text that goes out by a channel."""
        return {"sms": self.sms, "voice": self.spoken or self.text}.get(channel, self.text)


def ours(kind: str, channel: str, speech: Speech) -> Template:
    """Our own template of a kind in a channel and language."""
    found = KINDS[kind]
    if channel == "sms":
        return Template("", speech.say(found.sms))
    return Template(speech.say(found.subject), speech.say(found.email))


def compose(kind: str, values: Values, speech: Speech, own: Own, spoken: str = "", channel: str = "") -> Words:
    """The words of a message. A city's template that would lose the reference, the due time or the link is passed over, with a note.

    With a `channel`, only what goes out by it: one report starts dozens of messages, and most of their time goes into fitting a text
    message nobody gets. Without, in every form.
    """
    notes: list[str] = []
    letter = own.get((kind, "email", speech.language))
    for_mail, for_texts = channel in ("", "email"), channel in ("", "sms")
    if channel == "sms" and letter is None:
        subject, text, html = as_one_line(ours(kind, "email", speech).subject, values), "", ""
    else:
        subject, text, html = _letter(letter or ours(kind, "email", speech), values, speech, for_mail)
    if letter and (why := _lost(kind, "email", values, text)):
        notes.append(_note(kind, "email", speech, letter, why))
        subject, text, html = _letter(ours(kind, "email", speech), values, speech, for_mail)
    if not for_texts:
        return Words(subject, text, "", html, spoken, "; ".join(notes))
    mine = own.get((kind, "sms", speech.language))
    short = None
    if mine:
        short = _short(kind, mine, values)
        if why := _lost_in_short(kind, values, short):
            notes.append(_note(kind, "sms", speech, mine, why))
            short = None
    short = short or as_short(kind, ours(kind, "sms", speech).text, values)
    return Words(subject, text, short.text, html, spoken, "; ".join(notes))


def _letter(template: Template, values: Values, speech: Speech, for_mail: bool) -> tuple[str, str, str]:
    try:
        subject, lines = as_one_line(template.subject, values), filled(template.text, values)
    except (TemplateFault, KeyError):  # kept before its variables changed: it is passed over for having lost everything
        return "", "", ""
    return subject, as_text(lines), page(subject, lines, values, speech) if for_mail else ""


def _short(kind: str, template: Template, values: Values) -> Short | None:
    try:
        return as_short(kind, template.text, values)
    except (TemplateFault, KeyError):
        return None


def _lost(kind: str, channel: str, values: Values, text: str) -> str:
    lost = [name for name in needed(kind, channel) if values.said[name] not in text]
    return f"it lost {_listed(lost)}" if lost else ""


def _lost_in_short(kind: str, values: Values, short: Short | None) -> str:
    if short is None:
        return "it cannot be read"
    if not short.fits:
        return f"it is {short.segments} segments"
    lost = [name for name in needed(kind, "sms") if not _holds(short.text, values.said[name])]
    return f"it lost {_listed(lost)}" if lost else ""


def _holds(text: str, value: str) -> bool:
    return value in text or fitted([Part(value)]).text in text


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"{{{name}}}" for name in names)


def _note(kind: str, channel: str, speech: Speech, template: Template, why: str) -> str:
    return f"the city's own text ({kind}, {channel}, {speech.language}, version {template.version}) was not used: {why}"
