"""The words of messages: what happened where, what is owed to whom, by when in local time with its zone, what to do, and a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import Recipient, read_moment
from deadlines.limits import IMMEDIATELY
from service.tables import Spill

METHOD_WORDS = {
    "telephone": "by telephone", "email": "by e-mail", "in_person": "in person", "mail": "by mail", "online": "online",
    "written": "in writing",
    "any": "in any way that can be proved", "cleanup": "by cleaning up", "repair": "by repairing", "sampling": "by sampling",
    "response": "by responding on site", "payment": "by paying", "filing": "by filing", "hearing": "by holding the hearing",
    "retention": "by keeping it",
}  # fmt: skip
# One SMS of this many characters is at most two segments in GSM-7.
SMS_BUDGET = 300


@dataclass(frozen=True, slots=True)
class Words:
    """A message in its two lengths."""

    subject: str
    text: str
    sms: str


@dataclass(frozen=True, slots=True)
class Alert:
    """Everything an alert about a duty is worded from. `steps` are the rungs it stands for, the last being the one now due."""

    spill: Spill
    clock: Mapping[str, Any]
    recipient: Recipient | None
    zone: ZoneInfo
    now: datetime
    steps: Sequence[str]
    late_since: datetime | None
    changed: bool
    link: str


def local(moment: datetime, zone: ZoneInfo) -> str:
    """Mon Nov 30, 4:05:09 PM PST; the seconds only where there are some."""
    there = moment.astimezone(zone)
    clock = there.strftime("%I:%M:%S %p" if there.second else "%I:%M %p").lstrip("0")
    return f"{there.strftime('%a %b')} {there.day}, {clock} {there.strftime('%Z')}"


def span(length: timedelta) -> str:
    """A length of time in its two largest parts: 2 days 3 hours, 10 seconds."""
    seconds = int(abs(length).total_seconds())
    parts = [(seconds // 86400, "day"), (seconds // 3600 % 24, "hour"), (seconds // 60 % 60, "minute"), (seconds % 60, "second")]
    told = [f"{number} {unit}{'' if number == 1 else 's'}" for number, unit in parts if number]
    return " ".join(told[:2]) or "0 seconds"


def happened(spill: Spill) -> str:
    """What happened where, in one line: `sewage, 1,500 gal, at 13220 Central Ave; reached storm drain`."""
    facts = spill.facts
    volume = facts.get("volume") or {}
    unit = volume.get("unit", "")
    amount = ""
    if "quantity" in volume:
        amount = f"{volume['quantity']:,} {unit}"
    elif "high" in volume:
        amount = f"{volume['low']:,} to {volume['high']:,} {unit}"
    what = [str(facts.get("material") or "unknown material").replace("_", " "), *([amount] if amount else ["amount unknown"])]
    where = spill.address or (f"{spill.lat:.5f}, {spill.lon:.5f}" if spill.lat is not None and spill.lon is not None else "place not given")
    reached = ", ".join(str(place).replace("_", " ") for place in facts.get("reached") or []) or "not known"
    return f"{', '.join(what)}, at {where}; reached: {reached}"


def due_words(clock: Mapping[str, Any], zone: ZoneInfo, now: datetime) -> tuple[str, str]:
    """When it is due and how that stands: ("Mon Nov 30, 4:05 PM PST", "10 seconds left"). Immediate duties are never told as a time."""
    starts_at, due_at = _moment(clock["starts_at"]), _moment(clock["due_at"])
    if due_at is None:
        return "no due time yet", "waiting"
    left = due_at - now
    if starts_at is not None and due_at - starts_at == IMMEDIATELY and clock["limit"].endswith("immediately"):
        since = f"known {span(now - starts_at)} ago" if now - starts_at >= timedelta(minutes=1) else "known just now"
        return "immediately", f"OVERDUE, {since}" if left < timedelta() else since
    if abs(left) < timedelta(seconds=1):
        return local(due_at, zone), "due now"
    return local(due_at, zone), f"OVERDUE by {span(left)}" if left < timedelta() else f"{span(left)} left"


def alert(about: Alert) -> Words:
    """The words of an alert about one duty."""
    clock, spill = about.clock, about.spill
    when, standing = due_words(clock, about.zone, about.now)
    to = about.recipient.name if about.recipient else "nobody is named; do it and record it"
    numbers = f", {' or '.join(about.recipient.telephone)}" if about.recipient and about.recipient.telephone else ""
    how = " or ".join(METHOD_WORDS[method] for method in clock["methods"])
    head = f"{spill.reference}: {clock['title']}"
    changed = "CHANGED: " if about.changed else ""
    deadline = f"{when} ({standing})"
    lines = [
        f"{changed}{clock['title']}.",
        "",
        f"Due: {deadline}",
        f"To: {to}{numbers}",
        f"How: {how}",
        f"Owed by: {'the city' if clock['owed_by'] == 'city' else 'the discharger'}",
        "",
        f"Spill {spill.reference}: {happened(spill)}.",
    ]
    if clock["applies"] == "presumed":
        lines.append(f"Presumed to apply until this is known: {', '.join(clock['unsettled'])}.")
    if clock["extended_due_at"]:
        lines.append(f"The law may allow until {local(_sure(clock['extended_due_at']), about.zone)}; work to the stricter time above.")
    if clock["content"]:
        lines += ["", "The report must hold: " + "; ".join(clock["content"]) + "."]
    lines += ["", *_merged(about), "What to do: " + _advice(clock), about.link, "", f"Law: {clock['citation']} ({clock['duty']})"]
    if not clock["verified"]:
        lines.append("Not yet checked against its source; treat it as binding until a person decides.")
    short = f"{changed}{spill.reference} due {deadline}: {clock['title']}. To: {to}{numbers}."
    lead = "NOW" if when == "immediately" and "OVERDUE" not in standing else standing
    return Words(f"{changed}{lead}: {head}", "\n".join(lines) + "\n", _cut(short, about.link))


def triage(spill: Spill, reason: str, link: str) -> Words:
    """The words that ask a person to look at a report for which no clock can run yet."""
    text = (
        f"A report needs a person: {reason}.\n\nSpill {spill.reference}: {happened(spill)}.\n\n"
        f"What was said:\n{spill.description[:2000] or '(nothing)'}\n\n"
        f"What to do: open it, set the city and what is known; the legal clocks start then.\n{link}\n"
    )
    return Words(f"{spill.reference} needs a person: {reason}", text, _cut(f"{spill.reference} needs a person: {reason}.", link))


def _merged(about: Alert) -> list[str]:
    if about.late_since is None:
        return []
    return [
        f"This one message stands for {len(about.steps)} alert{'' if len(about.steps) == 1 else 's'} due since "
        f"{local(about.late_since, about.zone)} that could not go out then: {', '.join(about.steps)}.",
        "",
    ]


def _advice(clock: Mapping[str, Any]) -> str:
    if "telephone" in clock["methods"]:
        return "make the call, then record it here with the time and whom you spoke to:"
    if "written" in clock["methods"] or clock["content"]:
        return "write and file the report here:"
    return "do it, then record it here:"


def _cut(text: str, link: str) -> str:
    room = SMS_BUDGET - len(link) - 1
    return f"{text if len(text) <= room else text[: room - 3] + '...'} {link}"


def _moment(text: str | None) -> datetime | None:
    return None if text is None else _sure(text)


def _sure(text: str) -> datetime:
    return read_moment(text, ZoneInfo("UTC"))
