"""A rule in words: what the law says, when it applies, how it is counted, how we read it, and whom it wakes. For people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from deadlines.conditions import All, Always, AnyOf, Condition, Flag, Is, Not, Reached, UnlessKnown, VolumeIs
from deadlines.ladder import Rung
from deadlines.rulebook import Rulebook
from deadlines.rules import ALWAYS, Pack, Rule, Trigger

_FLAGS = {
    "threat": "it is a threat to human health or the environment",
    "accidental": "the discharge was an accident",
    "hazardous": "what was spilled is hazardous",
    "high_risk": "it needs cleanup as soon as possible",
    "captured": "all that entered a storm drain was captured and returned",
    "sheen": "it leaves a film or sheen on the water",
    "rq_reached": "a reportable quantity is reached",
    "enrollee": "the sewer system is enrolled under the statewide sewer order",
    "npdes_permittee": "the discharger holds an NPDES permit",
    "spcc_facility": "it is a facility with a spill prevention plan under 40 CFR 112",
}
_COMPARED = {"over": "over", "at_least": "at least", "under": "under", "at_most": "at most"}
_STARTS = {
    "known_at": "first knowledge of the discharge (known_at)",
    "reported_at": "the report reaching the city (reported_at)",
    "planned_at": "the planned act (planned_at)",
    "discharged_at": "the begin of the discharge (discharged_at); where that is not known, first knowledge, presumed",
    "discharged_at only": "the begin of the discharge (discharged_at); it waits until that is known",
    "ended_at only": "the end of the discharge (ended_at); it waits until that is known",
    "hearing_at": "the hearing (hearing_at)",
}


def condition_told(condition: Condition) -> str:
    """A condition in words, without a capital or a full stop; `always` where a rule has none."""
    return _told(condition, inside=False)


def _told(condition: Condition, *, inside: bool) -> str:
    match condition:
        case Always():
            return "always"
        case Flag(name):
            return _FLAGS[name]
        case Not(part):
            return f"it is not so that {_told(part, inside=True)}"
        case UnlessKnown(part):
            return f"it is not known that {_told(part, inside=True)}"
        case Is(fact, words):
            return f"the {fact} is {_one_of(words)}"
        case VolumeIs(comparison, gallons):
            return f"the volume is {_COMPARED[comparison]} {float(gallons):,.10g} gallons"
        case Reached(places, maybe):
            return f"it {'may have' if maybe else 'has'} reached {_one_of(places, 'a ')}"
        case All(parts):
            joined = " and ".join(_told(part, inside=True) for part in parts)
        case AnyOf(parts):
            joined = " or ".join(_told(part, inside=True) for part in parts)
        case _:
            raise TypeError(f"{condition!r} has no words yet")
    return f"({joined})" if inside and len(parts) > 1 else joined


def _one_of(words: Iterable[str], article: str = "") -> str:
    plain = [f"{article}{word.replace('_', ' ')}" for word in sorted(words)]
    return plain[0] if len(plain) == 1 else f"{', '.join(plain[:-1])} or {plain[-1]}"


def _trigger_told(trigger: Trigger) -> str:
    said = [f"{name.replace('_', ' ')} {_one_of(map(str, words))}" for name, words in trigger.where.items()]
    said += [f"unless {name.replace('_', ' ')} is {_one_of(map(str, words))}" for name, words in trigger.unless.items()]
    which = "the first" if trigger.first_only else "each"
    told = f"{which} event {trigger.event}"
    return f"{told} ({', '.join(said)})" if said else told


def starts_told(rule: Rule) -> str:
    """What the clock is counted from, in words."""
    if rule.trigger is None:
        return _STARTS[rule.starts]
    event = _trigger_told(rule.trigger)
    return event if rule.starts == "event" else f"{_STARTS[rule.starts]}, owed upon {event}"


def rung_told(rung: Rung) -> str:
    """One rung of a ladder in words: "start+15m: supervisor by sms, email, unless acknowledged"."""
    told = f"{rung.step}: {', '.join(role.replace('_', ' ') for role in rung.tell)} by {', '.join(rung.by)}"
    if rung.unless_acknowledged:
        told += ", unless acknowledged" + (f" in the last {_span(rung.ack_lasts)}" if rung.ack_lasts else "")
    if rung.every is not None:
        gaps = f" and each time after {rung.growing} times as long" if rung.growing > 1 else ""
        told += f", then every {_span(rung.every)}{gaps}, {rung.times} times in all"
    return told


def _span(span: timedelta) -> str:
    minutes = int(span.total_seconds()) // 60
    return f"{minutes // 1440} d" if minutes % 1440 == 0 else f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"


def rule_as_json(pack: Pack, rule: Rule, rulebook: Rulebook) -> dict[str, Any]:
    """Everything there is to say about one version of a rule."""
    return {
        "duty": rule.duty, "title": rule.title, "citation": rule.citation, "says": rule.says, "provisions": list(rule.provisions),
        "pack": pack.id, "pack_version": pack.version, "covers": str(pack.covers), "kinds": sorted(rule.kinds),
        "applies_when": condition_told(rule.when), "needs": [{"fact": need, "says": _FLAGS[need]} for need in rule.needs],
        "starts_from": starts_told(rule), "starts_on": rule.starts_on, "limit": rule.limit.text, "to": _to(rule, rulebook),
        "also_met_by": sorted(rule.also_met_by), "methods": list(rule.how), "act": rule.act, "owed_by": rule.owed_by,
        "content": [{"item": item.item, "says": item.says} for item in rule.content],
        "certification": {"says": rule.certification.says, "source": rule.certification.source} if rule.certification else None,
        "reading": rule.reading,
        "other_readings": [
            {"reading": other.reading, "limit": other.limit.text if other.limit else None, "starts_from": other.starts}
            for other in rule.alternatives
        ],
        "ladder": [rung_told(rung) for rung in rule.ladder], "verified": rule.verified,
        "checked": {"on": pack.checked.on.isoformat(), "by": pack.checked.by} if pack.checked else None,
        "in_force": {
            "from": rule.in_force.first.isoformat() if rule.in_force.first else None,
            "until": rule.in_force.last.isoformat() if rule.in_force.last else None,
        },
    }  # fmt: skip


def _to(rule: Rule, rulebook: Rulebook) -> dict[str, Any] | None:
    """The recipient: its id and name; for an office that each city has of its own, which one it is in each city."""
    if rule.to_agency:
        cities = {city: rulebook.packs[city].agencies.get(rule.to_agency) for city in rulebook.cities}
        return {"agency": rule.to_agency, "in": {city: office for city, office in cities.items() if office}}
    if rule.to is None:
        return None
    return {"id": rule.to, "name": rulebook.recipients[rule.to].name}


def explained(pack: Pack, rule: Rule, rulebook: Rulebook) -> list[str]:
    """A version of a rule as lines of text for a terminal: a label, then what it says."""
    told = rule_as_json(pack, rule, rulebook)
    applies = told["applies_when"]
    lines = [
        ("law", rule.citation), ("says", rule.says), ("applies", applies if applies == "always" else f"when {applies}"),
        *(("needs", f"to be known: {need['says']}") for need in told["needs"]),
        ("kinds", ", ".join(kind.replace("_", " ") for kind in told["kinds"])),
        ("limit", f"{rule.limit.text}, from {starts_told(rule)}"), ("to", _recipient_told(rule, told["to"])),
        ("how", f"{' or '.join(rule.how)}; owed by the {rule.owed_by}"),
        *(("also met", f"by notice to {office}") for office in told["also_met_by"]),
        *(("content", item.says) for item in rule.content),
        *((("certified", f"under the words of {rule.certification.source}"),) if rule.certification else ()), ("reading", rule.reading),
        *(("or read", other.reading) for other in rule.alternatives),
        *(("ladder", rung) for rung in told["ladder"]),
        ("in force", str(rule.in_force) if rule.in_force is not ALWAYS else "as long as this pack has stood"),
        *((("only", f"for starts on a {'working' if rule.starts_on == 'open day' else 'closed'} day"),) if rule.starts_on else ()),
        ("pack", f"{pack.id} {pack.version}, over {pack.covers}"), ("checked", _checked_told(pack, rule)),
    ]  # fmt: skip
    return [f"{label:<9} {text}" for label, text in lines]


def _recipient_told(rule: Rule, to: Mapping[str, Any] | None) -> str:
    if to is None:
        return "nobody named"
    return str(to.get("name", f"the city's {rule.to_agency}"))


def _checked_told(pack: Pack, rule: Rule) -> str:
    if not rule.verified:
        return "not yet against its source: a default for an administrator to confirm"
    return f"against its source on {pack.checked.on} by {pack.checked.by}" if pack.checked else "nobody has compared it with its source yet"
