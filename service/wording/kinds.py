"""The kinds of messages: the variables of each, what must be in it, and our own text for it, in English and marked for translation.

Written as templates: {name} stands for a value, {{ and }} for braces, nothing else is of meaning. A line all of whose values are empty is
left out. In a text message values of a rank are shortened where two segments do not hold them, the highest rank first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.speech import marked

CHANNELS: Mapping[str, str] = {"email": "E-mail", "sms": "Text message"}


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that a template may use. `must`: the template has to. `rank`: see above; 0 is always whole."""

    about: str
    must: bool = False
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of message with our own texts."""

    title: str
    about: str
    variables: Mapping[str, Variable]
    subject: str
    email: str
    sms: str

    @property
    def musts(self) -> tuple[str, ...]:
        """What a text of this kind always holds."""
        return tuple(name for name, variable in self.variables.items() if variable.must)


_REFERENCE = Variable("the spill's reference, as in SP-2026-00001", must=True)
_LINK = Variable("the link to the page where it is done", must=True)
_DUE = Variable("when it is due, with day and zone; of several duties the soonest", must=True)
_HAPPENED = Variable("what happened where, and what it reached", rank=4)
_ALERT: Mapping[str, Variable] = {
    "reference": _REFERENCE,
    "due": _DUE,
    "link": _LINK,
    "title": Variable("what is to be done", rank=1),
    "standing": Variable("how much time is left, or by how much it is overdue"),
    "lead": Variable("the same in a word or two, for subjects: NOW, 2 hours left"),
    "changed": Variable("CHANGED: where the due time is not the one told before, else nothing"),
    "recipient": Variable("who is to be told, with telephone numbers", rank=2),
    "how": Variable("by telephone, in writing, ..."),
    "owed_by": Variable("the city, or the discharger"),
    "happened": _HAPPENED,
    "presumed": Variable("what is not known yet, where the duty is only presumed, else nothing", rank=5),
    "extended": Variable("the later time that the law may allow, else nothing", rank=5),
    "content": Variable("what a written report must hold, else nothing", rank=5),
    "merged": Variable(
        "which alerts this one stands for, where some could not go out, or who acknowledged it without doing it, else nothing", rank=5
    ),
    "advice": Variable("what to do on the page", rank=5),
    "law": Variable("the citation and the rule", rank=5),
    "unverified": Variable("a sentence where the rule was not checked against its source yet, else nothing", rank=5),
    "reply": Variable("how to answer by text message, else nothing; put at the end of a text message that leaves it out"),
    "city": Variable("the city's name"),
}
_BUNDLE: Mapping[str, Variable] = {
    "reference": _REFERENCE,
    "due": _DUE,
    "link": _LINK,
    "count": Variable("how many duties, as in: 3 duties"),
    "title": Variable("the duty that is due first", rank=1),
    "standing": _ALERT["standing"],
    "lead": _ALERT["lead"],
    "changed": _ALERT["changed"],
    "recipient": Variable("who is to be told first, with telephone numbers", rank=2),
    "duties": Variable("every duty with all that is to be known of it, a line each", rank=5),
    "others": Variable("the other duties with their due times in short, as many as there is room for", rank=3),
    "happened": _HAPPENED,
    "merged": _ALERT["merged"],
    "advice": _ALERT["advice"],
    "reply": _ALERT["reply"],
    "city": _ALERT["city"],
}
_TRIAGE: Mapping[str, Variable] = {
    "reference": _REFERENCE,
    "link": _LINK,
    "reason": Variable("why no clock can run yet", rank=1),
    "happened": _HAPPENED,
    "description": Variable("what the report said", rank=5),
    "reply": _ALERT["reply"],
}
_PUBLIC: Mapping[str, Variable] = {
    "reference": _REFERENCE,
    "link": Variable("the link to the public page about it", must=True),
    "city": _ALERT["city"],
    "where": Variable("the area", rank=2),
    "what": Variable("what happened, in the words of the city", rank=3),
    "advice": Variable("what people should do, or may do again", rank=1),
    "issued": Variable("when it was issued, with day and zone"),
    "stop": Variable("how to get no more of these"),
}
_ALERT_SUBJECT = marked("{changed}{lead}: {reference}: {title}")
_ALERT_EMAIL = marked(
    "{changed}{title}.\n\nDue: {due} ({standing})\nTo: {recipient}\nHow: {how}\nOwed by: {owed_by}\n\n"
    "Spill {reference}: {happened}.\n{presumed}\n{extended}\n\n{content}\n\n{merged}\n\n"
    "What to do: {advice}\nOpen spill {reference}: {link}\n\nLaw: {law}\n{unverified}"
)
_ALERT_SMS = marked("{changed}{reference} due {due} ({standing}): {title}. To: {recipient}. {happened}. {reply} {link}")

KINDS: Mapping[str, Kind] = {
    "alert": Kind(
        "Alert", "one duty of one spill: that it begins, comes near, is due or is overdue", _ALERT, _ALERT_SUBJECT, _ALERT_EMAIL, _ALERT_SMS
    ),
    "changed": Kind("Changed", "an alert whose due time is not the one told before", _ALERT, _ALERT_SUBJECT, _ALERT_EMAIL, _ALERT_SMS),
    "bundle": Kind(
        "Several duties",
        "several duties of one spill in one message, the soonest due first",
        _BUNDLE,
        marked("{changed}{lead}: {reference}: {count}, first: {title}"),
        marked(
            "{changed}{count}. First: {title}.\n\nDue: {due} ({standing})\nTo: {recipient}\n\n{duties}\n\n"
            "Spill {reference}: {happened}.\n\n{merged}\n\nWhat to do: {advice}\nOpen spill {reference}: {link}"
        ),
        marked(
            "{changed}{reference}: {count}, first due {due} ({standing}): {title}. {others} To: {recipient}. {happened}. {reply} {link}"
        ),
    ),
    "triage": Kind(
        "A report needs a person",
        "a report for which no clock can run yet",
        _TRIAGE,
        marked("{reference} needs a person: {reason}"),
        marked(
            "A report needs a person: {reason}.\n\nSpill {reference}: {happened}.\n\nWhat was said:\n{description}\n\n"
            "What to do: open it now, and set the city and what is known; legal clocks may be running already.\n"
            "Open spill {reference}: {link}"
        ),
        marked("{reference} needs a person: {reason}. {happened}. {reply} {link}"),
    ),
    "advisory": Kind(
        "Public advisory",
        "what the public is told about a spill",
        _PUBLIC,
        marked("Advisory {reference}, {city}: {where}"),
        marked(
            "{advice}\n\nWhere: {where}\nWhat happened: {what}\nIssued: {issued}, by {city} ({reference})\n\n"
            "Read more: {link}\n\n{stop}"
        ),
        marked("{city}, advisory {reference}: {advice}. Where: {where}. {what}. {stop} {link}"),
    ),
    "all_clear": Kind(
        "All clear",
        "that an advisory has ended",
        _PUBLIC,
        marked("All clear {reference}, {city}: {where}"),
        marked(
            "The advisory has ended: {advice}\n\nWhere: {where}\nWhat happened: {what}\nIssued: {issued}, by {city} ({reference})\n\n"
            "Read more: {link}\n\n{stop}"
        ),
        marked("{city}, all clear {reference}: {advice}. Where: {where}. {what}. {stop} {link}"),
    ),
    "digest": Kind(
        "Digest",
        "what was new in an hour or a day, for a subscriber",
        {
            "link": Variable("the link to the list", must=True),
            "count": Variable("how many things are new, as in: 3 things are new"),
            "period": Variable("from when to when, with zone"),
            "items": Variable("what is new, a line each", rank=5),
            "others": Variable("the same in short, as much as there is room for", rank=2),
            "stop": _PUBLIC["stop"],
        },
        marked("Spillclock: {count}"),
        marked("{count}, {period}.\n\n{items}\n\nSee all of it: {link}\n\n{stop}"),
        marked("Spillclock: {count}. {others} {stop} {link}"),
    ),
    "confirm": Kind(
        "Confirm a subscription",
        "the question whether an address wants what was ordered for it",
        {
            "link": Variable("the link that says yes", must=True),
            "city": _ALERT["city"],
            "wanted": Variable("what was ordered", rank=1),
            "expires": Variable("until when the link works, with zone"),
        },
        marked("Please confirm: messages from {city}"),
        marked(
            "Somebody asked us to send this address: {wanted}.\n\nWas it you? Then say yes by {expires}.\nYes, send them: {link}\n\n"
            "If it was not you, do nothing: you will hear no more from us."
        ),
        marked(
            "{city}: to get {wanted}, reply YES or open the link by {expires}. Not you? Ignore this. Reply HELP for help, STOP to end. "
            "Msg and data rates may apply. {link}"
        ),
    ),
    "from_reporter": Kind(
        "The reporter adds or asks",
        "that whoever reported a spill told more about it, or asks what was done",
        {
            "reference": _REFERENCE,
            "link": _LINK,
            "news": Variable("that words were added, or that an answer is wanted"),
            "happened": _HAPPENED,
            "words": Variable("what was added, else nothing", rank=3),
            "reply": _ALERT["reply"],
        },
        marked("{reference}: {news}"),
        marked("{news}\n\nSpill {reference}: {happened}.\n\n{words}\n\nOpen spill {reference}: {link}"),
        marked("{reference}: {news} {words} {happened}. {reply} {link}"),
    ),
    "to_reporter": Kind(
        "To the reporter",
        "that a report arrived, what was done about it, or that it was closed or opened again, for whoever sent it",
        {
            "reference": _REFERENCE,
            "link": Variable("the link to the reporter's private page", must=True),
            "city": _ALERT["city"],
            "news": Variable("that the report arrived, that there is an answer, or that it was closed or opened again"),
            "words": Variable("the words of the city", rank=3),
            "stop": _PUBLIC["stop"],
        },
        marked("Your report {reference}, {city}: {news}"),
        marked("{news}\n\n{words}\n\nThe whole record of your report: {link}\n\n{city}, report {reference}\n{stop}"),
        marked("{city}, your report {reference}: {news} {words} {stop} {link}"),
    ),
    "respond_link": Kind(
        "The discharger's link",
        "the private link to the discharger's page, for a person it was issued to",
        {
            "reference": _REFERENCE,
            "link": Variable("the person's private link", must=True),
            "city": _ALERT["city"],
            "name": Variable("the person's name"),
            "happened": _HAPPENED,
            "stop": _PUBLIC["stop"],
        },
        marked("{city}: what the law asks about spill {reference}"),
        marked(
            "For {name}\n\nSpill {reference}: {happened}.\n\n"
            "Your private page lists what the law asks and by when. Record your calls there, and file your reports.\n"
            "Open your page: {link}\n\n"
            "Keep this link to yourself: what is done with it stands on record under your name. If it is not meant for you, tell the city."
            "\n\n{city}\n{stop}"
        ),
        marked("{city}, spill {reference}: your page with what the law asks and by when. {happened}. {stop} {link}"),
    ),
    "filed": Kind(
        "A report was filed",
        "the receipt of a written report, for whoever filed it and left an address",
        {
            "reference": _REFERENCE,
            "link": Variable("the link to the report and its receipt", must=True),
            "city": _ALERT["city"],
            "title": Variable("the duty that the report is for", rank=2),
            "version": Variable("the number of the version"),
            "name": Variable("who filed it, with title"),
            "standing": Variable("when it was filed, and whether that was on time"),
            "missing": Variable("what it lacks, or that it lacks nothing", rank=3),
            "copy": Variable("to whom a copy must still go, as it is not sent on, or that filing it here hands it in", rank=4),
            "stop": _PUBLIC["stop"],
        },
        marked("Receipt: report filed, {reference}, “{title}”"),
        marked(
            "{standing}.\n\nDuty: {title}\nSpill {reference}, version {version}, filed by {name}\n\n{missing}\n\n{copy}\n\n"
            "The report and its receipt as PDF: {link}\n\n{city}\n{stop}"
        ),
        marked("{reference}: {standing}. “{title}”. {missing} {copy} {stop} {link}"),
    ),
}  # fmt: skip


def needed(kind: str, channel: str) -> tuple[str, ...]:
    """What a city's own text of a kind has to name in a channel."""
    return KINDS[kind].musts if channel in CHANNELS else ()
