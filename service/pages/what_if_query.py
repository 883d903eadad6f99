"""The query of the page `/what-if`: from its parameters to a fact object, what is wrong with it and at which field, and its shortest form.

Times are local to the city. What is no number or no time stays a text, for `read_facts` to find fault with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from deadlines import FactFaults, Rulebook, read_facts, read_moment
from deadlines.facts import CHOICES, EVENT_KEYS, FLAGS, MOMENTS
from deadlines.substances import cas_like, cas_number
from service.pages.event_fields import inputs_of
from service.pages.fields import Fields
from service.pages.speech import local_input, marked
from service.quantity_questions import number_of, share_of

# Enough for one matter, and little enough for a page that anybody may ask for.
MOST_EVENTS = 20
FARTHEST = timedelta(days=5 * 366)
_LONGEST_TEXT = 200
_CONTROLS = ("add", "drop", "set")
_SUBSTANCE = {
    "substance": "name", "substance_quantity": "quantity", "substance_unit": "unit", "substance_percent": "fraction",
    "substance_density": "density_lb_per_gal",
}  # fmt: skip
_SINGLE = ("city", *CHOICES, "low", "high", "unit", *MOMENTS, *FLAGS, *_SUBSTANCE)
_TRUTHS = {"yes": True, "no": False}
_FIELDS = {
    "jurisdiction": "city", "volume": "low", "volume.quantity": "low", "volume.low": "low", "volume.high": "high", "volume.unit": "unit",
}  # fmt: skip
_OF_EVENT = re.compile(r"events\[(\d+)\]\.(\w+)")

_TIME = marked("This time could not be read. Give a date and a time of day.")
_FAULT_WORDS: Sequence[tuple[str, str]] = (
    (r"^jurisdiction:", marked("Choose a city from the list.")),
    (r"^known_at: missing", marked("Say when it was first known. Most clocks count from then.")),
    (r"^[\w.\[\]]+\.at: missing", marked("Say when it happened.")),
    (r"^[\w.\[\]]*(_at|\.at|comply_by):", _TIME),
    (r"^volume: low", marked("The first amount is larger than the second.")),
    (r"fraction:", marked("Give a share from 0 to 100 percent.")),
    (r"^(volume\.(quantity|low|high)|substances\S*(quantity|density_lb_per_gal)):", marked("Give a number, zero or more.")),
    (r"^substances\[0\](\.name|\.cas)?:", marked("Name the substance, or give its CAS number without a slip.")),
    (r"", marked("Choose one from the list.")),
)
_FAR = marked("Give a time within five years of today.")
_MANY = marked("That is more events than this page can take. Take some away.")


def pairs_of(fields: Fields) -> list[tuple[str, str]]:
    """What the query says, without what it leaves empty, in a fixed order; parameters of no field are left out."""
    found = [(name, fields.text(name)[:_LONGEST_TEXT]) for name in _SINGLE if fields.text(name)]
    if not fields.text("low") and not fields.text("high"):
        found = [pair for pair in found if pair[0] != "unit"]
    if not fields.text("substance_quantity"):
        found = [pair for pair in found if pair[0] != "substance_unit"]
    found += [("reached", place) for place in dict.fromkeys(_all(fields, "reached"))]
    for number, kind in enumerate(_all(fields, "event")):
        found.append(("event", kind))
        names = (f"event{number}.{key}" for key in ("at", *EVENT_KEYS.get(kind, ())))
        found += [(name, fields.text(name)[:_LONGEST_TEXT]) for name in names if fields.text(name)]
    return found


def tidied(fields: Fields, now: datetime, zone: ZoneInfo) -> str | None:
    """The query with its buttons carried out and nothing empty in it; None where it is so already, so that no page leads to itself."""
    if not any(name in fields for name in _CONTROLS) and all(value.strip() for values in fields.values.values() for value in values):
        return None
    values = {name: list(found) for name, found in fields.values.items()}
    if fields.text("add") in EVENT_KEYS:
        number = len(_all(fields, "event"))
        values["event"] = [*_all(fields, "event"), fields.text("add")]
        values[f"event{number}.at"] = [local_input(now, zone)]
    if "known_at" in fields and not fields.text("known_at") and fields.text("city"):
        values["known_at"] = [local_input(now, zone)]  # the form leaves it open until it is known in whose time it is
    _answer(values, fields.text("set"))
    pairs = pairs_of(Fields(values))
    if fields.text("drop").isdecimal():
        pairs = _without_event(pairs, int(fields.text("drop")[:4]))
    return urlencode([*pairs, *(("lang", text) for text in _all(fields, "lang")[:1])])


def _answer(values: dict[str, list[str]], answered: str) -> None:
    """Put the answer of a button, `fact:value`, into the query."""
    fact, _, value = answered.rpartition(":")
    event = _OF_EVENT.fullmatch(fact)
    if event:
        values[f"event{event[1]}.{event[2]}"] = [value]
    elif fact in (*CHOICES, *FLAGS, "reached"):
        values[fact] = [value]


def _without_event(pairs: Sequence[tuple[str, str]], dropped: int) -> list[tuple[str, str]]:
    kept, number = [], -1
    for name, value in pairs:
        number += name == "event"
        if name != "event" and not name.startswith(f"event{number}."):
            kept.append((name, value))
        elif number != dropped:
            kept.append((re.sub(r"^event\d+", f"event{number - (number > dropped)}", name) if name != "event" else name, value))
    return kept


def facts_of(fields: Fields) -> dict[str, Any]:
    """The fact object of the query, for `read_facts`."""
    given: dict[str, Any] = {"jurisdiction": fields.text("city") or None}
    given |= {key: fields.text(key) for key in (*CHOICES, *MOMENTS) if fields.text(key)}
    given |= {key: _TRUTHS.get(fields.text(key), fields.text(key)) for key in FLAGS if fields.text(key)}
    if reached := _all(fields, "reached"):
        given["reached"] = reached
    low, high = fields.text("low"), fields.text("high")
    if low or high:
        unit = fields.text("unit", "gal")
        ends = {"low": _number(low), "high": _number(high)} if low and high and low != high else {"quantity": _number(low or high)}
        given["volume"] = {**ends, "unit": unit}
    if substance := _substance(fields):
        given["substances"] = [substance]
    if events := _all(fields, "event"):
        given["events"] = [_event(fields, number, kind) for number, kind in enumerate(events)]
    return given


def _all(fields: Fields, name: str) -> list[str]:
    return [value.strip()[:_LONGEST_TEXT] for value in fields.all(name) if value.strip()]


def _number(text: str, read: Callable[[object], Decimal] = number_of) -> Decimal | str:
    try:
        return read(text)
    except ValueError:
        return text


def _substance(fields: Fields) -> dict[str, Any]:
    typed = {key: fields.text(name) for name, key in _SUBSTANCE.items() if fields.text(name)}
    if set(typed) <= {"unit"}:
        return {}
    substance: dict[str, Any] = {**typed}
    if digits := cas_like(typed.get("name", "")):
        del substance["name"]
        substance["cas"] = cas_number(digits)
    substance |= {key: _number(typed[key]) for key in ("quantity", "density_lb_per_gal") if key in typed}
    if "fraction" in typed:
        substance["fraction"] = _number(typed["fraction"].removesuffix("%") + "%", share_of)
    if "quantity" in typed:
        substance.setdefault("unit", "lb")
    return substance


def _event(fields: Fields, number: int, kind: str) -> dict[str, Any]:
    event: dict[str, Any] = {"type": kind}
    if fields.text(f"event{number}.at"):
        event["at"] = fields.text(f"event{number}.at")
    for key, form, _ in inputs_of(kind):
        if text := fields.text(f"event{number}.{key}"):
            event[key] = _TRUTHS.get(text, text) if form == "truth" else text
    return event


def faults_of(given: Mapping[str, Any], rulebook: Rulebook, now: datetime) -> dict[str, str]:
    """What is wrong with a fact object, each in plain words under the name of its field; empty where it can be put to the law."""
    if len(given.get("events", ())) > MOST_EVENTS:
        return {"add": _MANY}
    found: dict[str, str] = {}
    try:
        read_facts(given, rulebook.zones, frozenset(rulebook.recipients))
    except FactFaults as error:
        for fault in error.faults:
            line = f"{fault.key}: {fault.wrong}"
            found.setdefault(field_of(fault.key), next(text for pattern, text in _FAULT_WORDS if re.search(pattern, line)))
    moments = {key: given.get(key) for key in MOMENTS}
    for number, event in enumerate(given.get("events", ())):
        moments |= {f"event{number}.{key}": event.get(key) for key in ("at", "comply_by", "hearing_at")}
    for field, text in moments.items():
        if text and field not in found and _is_far(text, now):
            found[field] = _FAR
    return found


def _is_far(text: str, now: datetime) -> bool:
    try:
        return abs(read_moment(text, ZoneInfo("UTC")) - now) > FARTHEST
    except ValueError:  # no time at all: its event has another fault
        return False


def field_of(fact: str) -> str:
    """The field of the form that holds a fact, as faults and open questions name it."""
    if event := _OF_EVENT.match(fact):
        return f"event{event[1]}.{event[2]}"
    if fact.startswith("substances"):
        key = fact.partition("].")[2]
        return next((name for name, of in _SUBSTANCE.items() if of == key), "substance")
    return _FIELDS.get(fact, fact)
