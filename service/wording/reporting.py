"""The words between whoever reported a spill and the staff who work on it."""

from __future__ import annotations

from collections.abc import Mapping

from service.speech import marked, notice_speech
from service.tables import Spill
from service.wording.composing import Words, compose
from service.wording.news import stop_words
from service.wording.telling import happened
from service.wording.template import Own, Values

_FROM_REPORTER: Mapping[str, str] = {
    "added": marked("The person who reported it told more."),
    "asked": marked("The person who reported it asks what action was taken."),
}
_TO_REPORTER: Mapping[str, str] = {
    "received": marked("Your report arrived. Keep this link: it is your private page about it, and only you have it."),
    "answered": marked("Here is what was done about your report."),
    "closed": marked("Your report was closed."),
    "reopened": marked("Your report was opened again."),
}


def from_reporter(spill: Spill, step: str, text: str, link: str, language: str, code: str, own: Own) -> Words:
    """What staff are told of a reporter. `step`: added, with the text; asked, without."""
    speech = notice_speech(language)
    said = {
        "reference": spill.reference, "link": link, "news": speech.say(_FROM_REPORTER[step]), "happened": happened(spill, speech),
        "words": text, "reply": speech.say("Reply OK %(code)s.", code=code) if code else "",
    }  # fmt: skip
    return compose("from_reporter", Values(said), speech, own)


def for_reporter(spill: Spill, step: str, text: str, link: str, city: str, channel: str, own: Own) -> Words:
    """What the reporter is told, in their language. `step`: received, answered, closed, reopened; `text`: the words of staff, in theirs."""
    speech = notice_speech(spill.language)
    said = {
        "reference": spill.reference, "link": link, "city": city, "news": speech.say(_TO_REPORTER[step]), "words": text,
        "stop": stop_words(channel, speech),
    }  # fmt: skip
    return compose("to_reporter", Values(said), speech, own)
