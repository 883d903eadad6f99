"""The words for subscribers: what is new about spills, advisories and their end, and the question whether an address wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from service.speech import Speech, marked, moment_of
from service.tables import Spill
from service.wording.composing import Words, compose
from service.wording.telling import due_words, happened, when
from service.wording.template import Own, Values

# A digest tells no more than so many things one by one.
MOST_LINES = 50
_NEWS: Mapping[str, str] = {
    "new": marked("%(reference)s: new report: %(happened)s."),
    "clock_started": marked("%(reference)s: clock started: %(title)s, due %(due)s."),
    "due_soon": marked("%(reference)s: due soon: %(title)s, due %(due)s."),
    "overdue": marked("%(reference)s: OVERDUE: %(title)s, was due %(due)s."),
    "met": marked("%(reference)s: done: %(title)s."),
    "amended": marked("%(reference)s: facts amended: %(reason)s."),
    "closed": marked("%(reference)s: nothing is open any more."),
}
_ADVICE = {
    "sewage": marked("Keep out of the water and away from the area, and keep children and pets away. Wash your hands if you touched it."),
    "danger": marked("Keep away and stay upwind. Do not touch it. Call 911 if anybody feels sick."),
    "other": marked("Keep away from the area, and keep children and pets away."),
}
_DANGEROUS = ("petroleum", "hazardous_material", "hazardous_waste")


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened to a spill, as its item keeps it."""

    stage: str
    spill: Spill
    said: Mapping[str, Any]
    zone: ZoneInfo


def line_of(news: News, now: datetime, speech: Speech) -> str:
    """One thing that is new, in a line."""
    values = {"reference": news.spill.reference, "reason": news.said.get("reason", ""), "title": news.said.get("title", "")}
    if "due_at" in news.said:
        values["due"] = due_words(news.said, news.zone, now, speech)[0]
    if news.stage == "new":
        values["happened"] = happened(news.spill, speech)
    line = speech.say(_NEWS[news.stage], **values)
    late = news.said.get("late_by_s")
    if news.stage == "met" and late is not None:
        line += " " + speech.say("It was late by %(span)s.", span=speech.span(timedelta(seconds=late)))
    return line


def digest(news: Sequence[News], link: str, since: datetime | None, now: datetime, zone: ZoneInfo, speech: Speech, stop: str) -> Words:
    """What is new for a subscriber; `since` None: it has just happened. Nothing new is said, too."""
    lines = [line_of(one, now, speech) for one in news[:MOST_LINES]]
    if len(news) > MOST_LINES:
        more = len(news) - MOST_LINES
        lines.append(speech.count("And %(number)s more thing.", "And %(number)s more things.", more))
    count = speech.count("%(number)s thing is new", "%(number)s things are new", len(news)) if news else speech.say("Nothing is new")
    if len(news) == 1:
        count = lines[0].rstrip(".")
    period = when(now, zone, speech)
    if since is not None:
        period = speech.say("from %(since)s to %(until)s", since=when(since, zone, speech), until=period)
    said = {
        "link": link, "count": count, "period": period, "stop": stop,
        "items": "\n".join(f"- {line}" for line in lines) if len(news) > 1 else "", "others": " ".join(lines) if len(news) > 1 else "",
    }  # fmt: skip
    return compose("digest", Values(said), speech, {})


def stop_words(channel: str, speech: Speech) -> str:
    """How to get no more of these by text message; a mail has its link at the end."""
    return speech.say("Reply STOP to end these.") if channel == "sms" else ""


def advisory(kind: str, said: Mapping[str, str], issued: datetime, zone: ZoneInfo, speech: Speech, own: Own, channel: str) -> Words:
    """An advisory, an update of one or the all-clear, for a channel. `said`: reference, link, city, where, what and advice."""
    values = {**said, "issued": when(issued, zone, speech), "stop": stop_words(channel, speech)}
    return compose("all_clear" if kind == "all_clear" else "advisory", Values(values), speech, own)


def confirmation(link: str, city: str, wanted: str, expires: datetime, zone: ZoneInfo, speech: Speech, own: Own) -> Words:
    """The question whether an address wants what was ordered for it."""
    said = {"link": link, "city": city, "wanted": wanted, "expires": when(expires, zone, speech)}
    return compose("confirm", Values(said), speech, own)


def wanted_words(cities: Sequence[str], circle: Mapping[str, Any] | None, speech: Speech) -> str:
    """What a public subscription is for, in words."""
    if circle is not None:
        miles = round(circle["metres"] / 1609.344, 1)
        point = f"{circle['lat']:.4f}, {circle['lon']:.4f}"
        if miles == 1:
            return speech.say("advisories within 1 mile of %(point)s", point=point)
        return speech.say("advisories within %(miles)s miles of %(point)s", miles=speech.number(miles), point=point)
    return speech.say("advisories for %(cities)s", cities="; ".join(cities))


def first_words(kind: str, spill: Spill, where: str, speech: Speech) -> dict[str, str]:
    """What an advisory could say, from facts that tell nothing of anybody: what kind, where roughly, what to do. An officer rewrites it."""
    material = str(spill.facts.get("material") or "unknown material")
    what = speech.say("A spill of %(what)s.", what=speech.say(material.replace("_", " ")))
    if reached := [speech.say(str(place).replace("_", " ")) for place in spill.facts.get("reached") or []]:
        what += " " + speech.say("It reached: %(reached)s.", reached=", ".join(reached))
    if kind == "all_clear":
        return {"where": where, "what": what, "advice": speech.say("The area can be used again.")}
    key = "sewage" if material == "sewage" else "danger" if material in _DANGEROUS else "other"
    return {"where": where, "what": what, "advice": speech.say(_ADVICE[key])}


def near(street: str, city: str, speech: Speech) -> str:
    """Roughly where: a street without its number, or the city alone."""
    return speech.say("near %(street)s, %(city)s", street=street, city=city) if street else city


def due_facts(clock: Mapping[str, Any]) -> dict[str, Any]:
    """What an item keeps of a clock, so that its due time can be told later."""
    kept = {key: clock.get(key) for key in ("title", "starts_at", "due_at", "limit")}
    return {**kept, "limit": str(kept["limit"])}


def has_begun(clock: Mapping[str, Any]) -> bool:
    """Whether a clock runs: it is owed, it has begun, and it has a due time."""
    return moment_of(clock.get("starts_at")) is not None and moment_of(clock.get("due_at")) is not None
