"""The words of alerts: one duty, several duties of one spill, a report that needs a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import Recipient
from service.speech import Speech, is_immediate, moment_of, notice_speech
from service.tables import Spill
from service.wording.aloud import moment_aloud, numbers_aloud, sign_by_sign
from service.wording.composing import Words, compose
from service.wording.telling import asked_why, due_told, due_words, happened, how, unsettled, when, where
from service.wording.template import Own, Values

_LONGEST_DESCRIPTION = 2000
_MOST_READ_ALOUD = 3
# By which a message is heard; none: it is worded in every form.
_ALOUD = ("", "voice")
_JUST_DUE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Alert:
    """Everything an alert about a duty is worded from. `steps` are the rungs it stands for, the last being the one now due.

    `code` is what a reply names the message by, `own` the texts of the city, `city` its name; `seen` who acknowledged the duty and when,
    without doing it since.
    """

    spill: Spill
    clock: Mapping[str, Any]
    recipient: Recipient | None
    zone: ZoneInfo
    now: datetime
    steps: Sequence[str]
    late_since: datetime | None
    changed: bool
    link: str
    language: str = "en"
    code: str = ""
    own: Own = field(default_factory=dict)
    city: str = ""
    seen: tuple[str, datetime] | None = None


def alert(about: Alert, channel: str = "", values: Values | None = None) -> Words:
    """The words of an alert about one duty, in the language it asks for, in every form or in that of one channel.

    `values`: those of the same alert to somebody else, who is told by another link and code: most of the work is to find them.
    """
    speech = notice_speech(about.language)
    if values is None:
        values = alert_values(about, speech)
    else:
        values = replace(values, said={**values.said, "link": about.link, "reply": _reply(about.code, speech)})
    spoken = _aloud([about], speech) if channel in _ALOUD else ""
    return compose("changed" if about.changed else "alert", values, speech, about.own, spoken, channel)


def alert_values(about: Alert, speech: Speech) -> Values:
    """What fills a template of an alert or a changed one."""
    english = {name for name in ("title", "content") if speech.say(_source(about.clock, name)) == _source(about.clock, name)}
    return Values({**_shared(about, speech), **_of_duty(about, speech)}, english=frozenset({*english, "law"}))


def alerts(about: Sequence[Alert], channel: str = "") -> Words:
    """The words of one message about several duties of one spill for one person, the soonest due first. Of one duty: those of an alert.

    However little room there is, it says when the first is due and how many there are. Raises ValueError for none.
    """
    if not about:
        raise ValueError("a message is about one duty at least")
    ordered = sorted(about, key=_urgency)
    if len(ordered) == 1:
        return alert(ordered[0], channel)
    speech = notice_speech(ordered[0].language)
    spoken = _aloud(ordered, speech) if channel in _ALOUD else ""
    return compose("bundle", bundle_values(ordered, speech), speech, ordered[0].own, spoken, channel)


def bundle_values(ordered: Sequence[Alert], speech: Speech) -> Values:
    """What fills a template of several duties, the soonest due first."""
    first = ordered[0]
    forms = _others(ordered[1:], speech)
    said = {
        **_shared(first, speech),
        "changed": speech.say("CHANGED: ") if any(one.changed for one in ordered) else "",
        "count": speech.count("%(number)s duty", "%(number)s duties", len(ordered)),
        "title": _title(first, speech),
        "recipient": _recipient(first, speech),
        "duties": "\n".join(f"- {_in_full(one, speech)}" for one in ordered),
        "others": forms[0],
        "advice": speech.say("do these in this order, and record each one on the spill's page."),
        "merged": _merged(ordered, speech),
    }
    english = {"title"} if speech.say(first.clock["title"]) == first.clock["title"] else set()
    return Values(said, {"others": forms[1:]}, frozenset(english))


def triage(spill: Spill, reason: str, link: str, language: str = "en", code: str = "", own: Own | None = None) -> Words:
    """The words that ask a person to look at a report for which no clock can run yet."""
    speech = notice_speech(language)
    return _for_a_person(spill, triage_values(spill, reason, link, speech, code), speech, own or {})


def held(spill: Spill, number: int, link: str, language: str = "en", code: str = "", own: Own | None = None) -> Words:
    """The words that tell of so many reports that look automatic, this one among them."""
    speech = notice_speech(language)
    reason = (
        speech.say("it looks automatic, so no clock runs until a person says that it is real")
        if number == 1
        else speech.say("%(number)s reports look automatic, so no clock runs for them until a person says which are real", number=number)
    )
    values = triage_values(spill, reason, link, speech, code)
    return _for_a_person(spill, replace(values, english=frozenset()), speech, own or {})


def _for_a_person(spill: Spill, values: Values, speech: Speech, own: Own) -> Words:
    spoken = speech.say(
        "Spill %(reference)s needs a person: %(reason)s. %(happened)s. Open it, and set the city and what is known.",
        reference=sign_by_sign(spill.reference), reason=values.said["reason"], happened=values.said["happened"],
    )  # fmt: skip
    return compose("triage", values, speech, own, spoken)


def triage_values(spill: Spill, reason: str, link: str, speech: Speech, code: str = "") -> Values:
    """What fills a template that asks for a person."""
    said = {
        "reference": spill.reference, "link": link, "reason": asked_why(reason, speech), "happened": happened(spill, speech),
        "description": spill.description[:_LONGEST_DESCRIPTION].strip() or speech.say("(nothing)"), "reply": _reply(code, speech),
    }  # fmt: skip
    return Values(said, english=frozenset({"reason"} if said["reason"] == asked_why(reason) else ()))


def _urgency(about: Alert) -> tuple[bool, datetime]:
    """What can still be done in time stands before what is overdue, as in the outbox; then by due time."""
    due_at = moment_of(about.clock["due_at"])
    return due_at is not None and due_at < about.now - _JUST_DUE, due_at or datetime.max.replace(tzinfo=about.now.tzinfo)


def _title(about: Alert, speech: Speech) -> str:
    """What is to be done; first that it is not, where somebody had acknowledged it and that has expired."""
    title = speech.say(about.clock["title"])
    return title if about.seen is None else speech.say("Seen, not done yet: %(title)s", title=title)


def _source(clock: Mapping[str, Any], name: str) -> str:
    return str(clock["title"]) if name == "title" else "; ".join(clock["content"])


def _reply(code: str, speech: Speech) -> str:
    return speech.say("Reply OK %(code)s.", code=code) if code else ""


def _recipient(about: Alert, speech: Speech) -> str:
    if about.recipient is None:
        return speech.say("nobody is named; do it and record it")
    numbers = speech.say(" or ").join(about.recipient.telephone)
    return f"{about.recipient.name}, {numbers}" if numbers else about.recipient.name


def _shared(about: Alert, speech: Speech) -> dict[str, str]:
    """What alerts about one duty and about several have alike; the due time is that of this duty."""
    due, standing = due_told(about.clock, about.zone, about.now, speech)
    due_at = moment_of(about.clock["due_at"])
    at_once = due_at is not None and due_at >= about.now and is_immediate(about.clock)
    return {
        "reference": about.spill.reference, "link": about.link, "due": due, "standing": standing,
        "lead": speech.say("NOW") if at_once else standing if speech.language == "en" else standing[:1].upper() + standing[1:],
        "happened": happened(about.spill, speech), "reply": _reply(about.code, speech), "city": about.city,
    }  # fmt: skip


def _of_duty(about: Alert, speech: Speech) -> dict[str, str]:
    clock = about.clock
    extended = moment_of(clock["extended_due_at"])
    later = when(extended, about.zone, speech) if extended else ""
    unknown = unsettled(clock, speech) if clock["applies"] == "presumed" else ""
    content = "; ".join(speech.say(item) for item in clock["content"])
    return {
        "changed": speech.say("CHANGED: ") if about.changed else "",
        "title": _title(about, speech),
        "recipient": _recipient(about, speech),
        "how": how(clock, speech),
        "owed_by": speech.say("the city") if clock["owed_by"] == "city" else speech.say("the discharger"),
        "presumed": speech.say("Presumed to apply until this is known: %(facts)s.", facts=unknown) if unknown else "",
        "extended": speech.say("The law may allow until %(when)s; work to the stricter time above.", when=later) if later else "",
        "content": speech.say("The report must hold: %(items)s.", items=content) if content else "",
        "merged": _merged([about], speech),
        "advice": _advice(clock, speech),
        "law": f"{clock['citation']} ({clock['duty']})",
        "unverified": ""
        if clock["verified"]
        else speech.say("Not yet checked against its source; treat it as binding until a person decides."),
    }  # fmt: skip


def _in_full(about: Alert, speech: Speech) -> str:
    """One duty of several in one line, with all that an alert about it alone would say."""
    due, standing = due_told(about.clock, about.zone, about.now, speech)
    said = _of_duty(about, speech)
    line = speech.say(
        "%(title)s. Due: %(due)s (%(standing)s). To: %(recipient)s. How: %(how)s. Owed by: %(owed_by)s. Law: %(law)s.",
        due=due, standing=standing, **{name: said[name] for name in ("title", "recipient", "how", "owed_by", "law")},
    )  # fmt: skip
    more = [said[name] for name in ("presumed", "extended", "content", "unverified") if said[name]]
    return " ".join([said["changed"] + line, *more]).replace("\n", " ")


def _others(rest: Sequence[Alert], speech: Speech) -> tuple[str, ...]:
    """The other duties with their due times, then ever fewer of them and how many more there are."""
    told = [f"{speech.say(one.clock['title'])}, {due_told(one.clock, one.zone, one.now, speech)[0]}" for one in rest]
    forms = [speech.say("Also: %(list)s.", list="; ".join(told))]
    for number in range(len(told) - 1, 0, -1):
        more = speech.count("and %(number)s more", "and %(number)s more", len(told) - number)
        forms.append(speech.say("Also: %(list)s %(more)s.", list="; ".join(told[:number]), more=more))
    return (*forms, speech.count("And %(number)s more.", "And %(number)s more.", len(told)))


def _merged(about: Sequence[Alert], speech: Speech) -> str:
    """Who acknowledged these duties without doing them, and how many alerts about the others the message stands for."""
    lines = []
    for one in about:
        if one.seen is not None:
            at = when(one.seen[1], one.zone, speech)
            lines.append(speech.say("%(person)s acknowledged it %(when)s; it is not done yet.", person=one.seen[0], when=at))
    late = [(one.late_since, len(one.steps)) for one in about if one.late_since is not None and one.seen is None]
    if late:
        lines.append(speech.count(
            "This one message stands for %(number)s alert due since %(when)s that could not go out then.",
            "This one message stands for %(number)s alerts due since %(when)s that could not go out then.",
            sum(number for _, number in late), when=when(min(since for since, _ in late), about[0].zone, speech),
        ))  # fmt: skip
    return "\n".join(dict.fromkeys(lines))


def _advice(clock: Mapping[str, Any], speech: Speech) -> str:
    if "telephone" in clock["methods"]:
        return speech.say("make the call, then record it here with the time and whom you spoke to:")
    if "written" in clock["methods"] or clock["content"]:
        return speech.say("write and file the report here:")
    return speech.say("do it, then record it here:")


def _due_aloud(about: Alert, speech: Speech) -> str:
    due, standing = due_words(about.clock, about.zone, about.now, speech)
    moment = moment_of(about.clock["due_at"])
    if moment is None or due == speech.say("immediately"):
        return f"{due}, {standing}"
    return f"{moment_aloud(moment, about.zone, about.now, speech)}, {standing}"


def _aloud(about: Sequence[Alert], speech: Speech) -> str:
    """A message about one duty or more for the ear: no address of a page, and nothing that can only be seen."""
    first = about[0]
    sentences = [speech.say("Spill %(reference)s.", reference=sign_by_sign(first.spill.reference))]
    if any(one.changed for one in about):
        sentences.append(speech.say("The due time has changed."))
    if len(about) > 1:
        sentences.append(speech.count("%(number)s duty.", "%(number)s duties, the first due first.", len(about)))
    for one in about[:_MOST_READ_ALOUD]:
        sentences.append(speech.say("%(title)s. Due %(due)s.", title=_title(one, speech), due=_due_aloud(one, speech)))
        if one.recipient is not None:
            sentences.append(speech.say("Tell %(recipient)s.", recipient=numbers_aloud(_recipient(one, speech))))
    if (more := len(about) - _MOST_READ_ALOUD) > 0:
        sentences.append(speech.count("And %(number)s more.", "And %(number)s more.", more))
    sentences.append(speech.say("At %(where)s.", where=where(first.spill, speech)))
    if first.code:
        sentences.append(speech.say("The code of this message is %(code)s.", code=sign_by_sign(first.code)))
    return " ".join(sentences)
