"""Examples of every kind of message, an ordinary one and a long one: for the preview of a template, and for the check before it is kept."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from deadlines import Recipient, as_z
from service.speech import Speech
from service.tables import Spill
from service.wording.alerts import Alert, alert_values, bundle_values, triage_values
from service.wording.telling import happened, when
from service.wording.template import Values

_LONG = "between the pump house, the schoolyard and the long fence along the flood control channel, "
_TITLES = (
    "Call the regional water board within two hours", "Call Cal OES about the sewage now", "Send public works the written report",
    "Take samples of the creek",
)  # fmt: skip


def examples(kind: str, speech: Speech, zone: ZoneInfo, city: str, now: datetime) -> tuple[Values, Values]:
    """An ordinary and a long example of a kind, as it would be told at `now`."""
    return _example(kind, speech, zone, city, now, is_long=False), _example(kind, speech, zone, city, now, is_long=True)


def _example(kind: str, speech: Speech, zone: ZoneInfo, city: str, now: datetime, *, is_long: bool) -> Values:
    if kind in ("alert", "changed"):
        return alert_values(_alert(0, speech, zone, city, now, changed=kind == "changed", is_long=is_long), speech)
    if kind == "bundle":
        return bundle_values([_alert(number, speech, zone, city, now, is_long=is_long) for number in range(4)], speech)
    if kind == "triage":
        return triage_values(_spill(is_long=is_long), "the place is in no city that is served", _link(is_long=is_long), speech, "4F7K")
    where = _LONG * 3 if is_long else "Chino Creek, from Central Avenue to Schaefer Avenue"
    said = {
        "reference": "SP-2026-00042", "link": _link(is_long=is_long), "city": city, "where": where,
        "what": "Sewage reached the creek. " * (8 if is_long else 1),
        "advice": "Stay out of the water and keep pets away. " * (4 if is_long else 1),
        "issued": when(now, zone, speech), "stop": speech.say("Reply STOP to end these."),
        "count": speech.count("%(number)s thing is new", "%(number)s things are new", 3), "period": when(now, zone, speech),
        "items": "\n".join(f"- {title}" for title in _TITLES), "others": "; ".join(_TITLES), "wanted": where,
        "expires": when(now + timedelta(days=1), zone, speech), "news": speech.say("Your report was closed."),
        "words": "The sewer was unblocked and the street was washed. " * (8 if is_long else 1),
        "happened": happened(_spill(is_long=is_long), speech), "reply": "", "name": "Dana Cruz, plant manager", "version": "2",
        "title": _TITLES[2] * (4 if is_long else 1), "standing": speech.say("Filed %(when)s, on time", when=when(now, zone, speech)),
        "missing": speech.say("It holds everything that the law lists."),
        "copy": speech.handed_in(_LONG * 2 if is_long else "Example Water Board", speech.say("in writing"), to_city=False),
    }  # fmt: skip
    return Values({name: text.strip() for name, text in said.items()})


def _link(*, is_long: bool) -> str:
    return f"https://spills.{'department-of-public-works.' if is_long else ''}example.gov/respond/SP-2026-00042.1.bK5VvM9KwBUT-BxQqpJiIXA9"


def _spill(*, is_long: bool) -> Spill:
    facts = {"material": "sewage", "volume": {"quantity": 1500, "unit": "gal"}, "reached": ["storm_drain", "surface_water"]}
    address = _LONG * 5 if is_long else "13220 Central Ave"
    description = "A manhole overflows beside the school. " * (20 if is_long else 1)
    return Spill(
        reference="SP-2026-00042", received_at=datetime.fromisoformat("2026-12-01T22:05:00+00:00"), facts=facts, flags=[], reporter={},
        discharger={}, address=address, description=description,
    )  # fmt: skip


def _alert(number: int, speech: Speech, zone: ZoneInfo, city: str, now: datetime, *, changed: bool = False, is_long: bool = False) -> Alert:
    starts_at = now.replace(microsecond=0)
    clock = {
        "duty": f"example/duty-{number + 1}", "title": _TITLES[number] + (", with all that the order asks for" * 6 if is_long else ""),
        "citation": "Municipal Code 13.25.220", "applies": "presumed", "unsettled": ["threat"], "methods": ["telephone"],
        "owed_by": "discharger", "limit": f"{number + 2} hours", "starts_at": as_z(starts_at),
        "due_at": as_z(starts_at + timedelta(hours=2 + 20 * number)), "extended_due_at": as_z(starts_at + timedelta(days=9)),
        "content": ["cause of the spill"], "verified": False,
    }  # fmt: skip
    name = "The Regional Water Quality Control Board, Santa Ana Region" * (3 if is_long else 1)
    recipient = Recipient(id="board", name=name, telephone=("951-782-4130",))
    late_since = now - timedelta(hours=1) if is_long else None
    return Alert(
        _spill(is_long=is_long), clock, recipient, zone, now, ("start", "start+15m"), late_since, changed, _link(is_long=is_long),
        speech.language, "4F7K", city=city,
    )  # fmt: skip
