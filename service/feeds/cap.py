"""An advisory as a message of the Common Alerting Protocol 1.2 (OASIS): Alert, then Update, then Cancel, each naming those before it.

Nobody grades a spill by CAP's scales, and no officer is asked to: why the values below, docs/decisions/0025-doors-to-other-systems.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element
from zoneinfo import ZoneInfo

from deadlines.outlines import outline_of
from service.advisories import link_of
from service.disclosure import public_circle
from service.public_words import ISSUED, MATERIALS
from service.speech import LANGUAGES, LOCALES, Speech, notice_speech
from service.tables import Advisory, PublicSpill, Spill
from service.transaction import House
from service.xml_writing import CAP, child, element

MEDIA_TYPE = "application/cap+xml"
TYPES: Mapping[str, str] = {"advisory": "Alert", "update": "Update", "all_clear": "Cancel"}
LONGEST_HEADLINE = 160
# A line on a map of a city hides twenty metres, as on our own.
_OUTLINE_METRES = 20.0
_IN_FORCE = {"responseType": "Avoid", "urgency": "Immediate", "severity": "Moderate", "certainty": "Likely"}
_OVER = {"responseType": "AllClear", "urgency": "Past", "severity": "Minor", "certainty": "Unlikely"}


def identifier_of(house: House, advisory: Advisory) -> str:
    """What a message is known by everywhere, for ever; without blanks, commas, < and &, as CAP asks."""
    return f"{sender_of(house)}-advisory-{advisory.id}"


def sender_of(house: House) -> str:
    """Who sends: the name of the machine that people reach the pages at."""
    parts = urlsplit(house.settings.public_url)
    return parts.hostname or "spillclock"


def message_of(house: House, chain: Sequence[Advisory], spill: Spill, shown: PublicSpill | None) -> Element:
    """The last of a chain as a CAP message. `chain`: it and what it follows, the oldest first; `shown`: its spill as the public sees it."""
    one, city = chain[-1], spill.city or house.first_city
    zone = house.rulebook.zones[city]
    alert = element("alert", space=CAP)
    child(alert, "identifier", identifier_of(house, one))
    child(alert, "sender", sender_of(house))
    child(alert, "sent", moment(one.issued_at, zone))
    child(alert, "status", "Actual")
    child(alert, "msgType", TYPES[one.kind])
    child(alert, "scope", "Public")
    if len(chain) > 1:
        named = [",".join((sender_of(house), identifier_of(house, each), moment(each.issued_at, zone))) for each in chain[:-1]]
        child(alert, "references", " ".join(named))
    child(alert, "incidents", spill.reference)
    for language in LANGUAGES:
        _tell(house, alert, one, spill, shown, notice_speech(language))
    return alert


def _tell(house: House, alert: Element, one: Advisory, spill: Spill, shown: PublicSpill | None, said: Speech) -> None:
    city = spill.city or house.first_city
    words = {part: one.words[f"{part}.{said.language}"] for part in ("where", "what", "advice")}
    info = child(alert, "info")
    child(info, "language", LOCALES[said.language].replace("_", "-"))
    child(info, "category", "Env")
    child(info, "category", "Health")
    child(info, "event", ": ".join([said.say("Spill"), *([said.say(MATERIALS[shown.material])] if shown else [])]))
    for name, value in (_OVER if one.kind == "all_clear" else _IN_FORCE).items():
        child(info, name, value)
    child(info, "effective", moment(one.issued_at, house.rulebook.zones[city]))
    child(info, "senderName", house.rulebook.law_of(city).city.title)
    child(info, "headline", _cut(f"{said.say(ISSUED[one.kind])}: {words['where']}"))
    child(info, "description", words["what"])
    child(info, "instruction", words["advice"])
    child(info, "web", link_of(house, one))
    _draw(house, info, one, spill, words["where"])


def _draw(house: House, info: Element, one: Advisory, spill: Spill, where: str) -> None:
    area = child(info, "area")
    child(area, "areaDesc", where)
    circle = public_circle(spill, one.area)
    if circle is not None:
        lat, lon, metres = circle
        child(area, "circle", f"{lat:.3f},{lon:.3f} {metres / 1000:.3f}")
        return
    # A hole cannot be said in CAP: what lies in it is warned too.
    for outer, *_ in outline_of(house.places, str(one.area["city"]), _OUTLINE_METRES):
        child(area, "polygon", " ".join(f"{lat:.5f},{lon:.5f}" for lon, lat in outer))


def moment(at: datetime, zone: ZoneInfo) -> str:
    """A moment as CAP has it: local time in whole seconds with a numeric offset. UTC is -00:00; Z is not allowed."""
    local = at.astimezone(zone).replace(microsecond=0)
    written = local.isoformat()
    return f"{written[:-6]}-00:00" if written.endswith("+00:00") else written


def _cut(headline: str) -> str:
    return headline if len(headline) <= LONGEST_HEADLINE else f"{headline[: LONGEST_HEADLINE - 1].rstrip()}…"
