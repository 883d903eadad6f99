"""A spill with a confidential reporter, lived from its report to its end, with a personal string in every field that takes one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from service.access import Staff
from service.advisories import chain_of, draft, issue, standing_in
from service.parties import link_token
from service.tables import Contact
from service.transaction import transaction
from tests import pictures
from tests.houses import Household
from tests.service.planted import DISCHARGER, REPORTER, STAFF, Planted, of
from tests.service.test_public_alerts import subscribe

# 34.010406, -117.690053: where the photo was taken, as its camera noted it.
_TAKEN = {1: "N", 2: (34.0, 0.0, 37.46), 3: "W", 4: (117.0, 41.0, 24.19)}
AUTHOR = Staff("oleander.finch@chino.example", "officer", "chino")

PLANTED: list[Planted] = [
    *of(
        {
            "reporter's name": "Quillon Farthingale", "reporter's e-mail": "q.farthingale@mailbox.example",
            "reporter's phone": "+19095550143", "photo latitude": "34.010406", "photo longitude": "-117.690053",
            "camera": "Handset of Quillon", "photo name": "grandmas-wisteria-porch",
            "words added later": "the ferret saw it from the pergola",
            "answer to the reporter": "we sent the vacuum lorry Bertha", "closing words": "Bertha emptied the basin twice",
        },
        STAFF, REPORTER,
    ),
    *of(
        {
            "point latitude": "34.0123457", "point longitude": "-117.6887654", "house number": "48817 Peregrine Loop",
            "description": "a teal wheelbarrow beside my begonias",
        },
        STAFF, REPORTER, DISCHARGER,
    ),
    *of(
        {
            "discharger's name": "Thessaly Degreasing Works", "discharger's e-mail": "ops@thessaly.example",
            "discharger's phone": "+19095550177", "certifier": "Brunhilde Oxbow", "certifier's title": "Deputy Vat Supervisor",
            "filed words": "a gasket from Ludlow had perished", "draft words": "blame the apprentice Wilfred",
            "substance": "vermilion solvex seventy", "reason of a waiver": "counsel Featherstone agreed",
        },
        STAFF, DISCHARGER,
    ),
    *of(
        {
            "reason of an amendment": "per Odalys at dispatch", "reason of a move": "Odalys drove by the gazebo",
            "note of an act": "gate code kept by Ramsey",
            "author of the advisory": AUTHOR.email, "who acknowledged": "Lieutenant Pomfrey", "duty officer": "Marguerite Stowell",
            "duty officer's e-mail": "m.stowell@chino.example", "duty officer's phone": "+19095550166",
        },
        STAFF,
    ),
    *of({"subscriber's e-mail": "subscriber.peony@mailbox.example", "subscriber's phone": "+19095550188"}),
]  # fmt: skip
TEXT = {one.what: one.text for one in PLANTED}


@dataclass
class Lived:
    """The spill: its reference, and the last parts of its private links."""

    reference: str
    status: str
    respond: str


def _good(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


async def live(home: Household) -> Lived:
    """Play it, with the worker at work. Every planted string is on record afterwards."""
    address = {"email": TEXT["duty officer's e-mail"], "phone": TEXT["duty officer's phone"]}
    stowell = Contact(city="chino", role="duty_officer", name=TEXT["duty officer"], **address)
    await home.people(stowell)
    await subscribe(home, TEXT["subscriber's e-mail"])
    await subscribe(home, TEXT["subscriber's phone"], channel="sms", language="es")
    manager = home.client(await home.token("manager", "chino"))
    reference = await _report(home)
    await home.work()
    await _staff(home, manager, reference)
    await _tell(home, reference, "advisory", 1609.0)
    await home.live(minutes=20)
    await _discharger(home, manager, reference)
    await _tell(home, reference, "update", None)
    await home.live(hours=3)
    await _tell(home, reference, "all_clear", None)
    await _end(home, manager, reference)
    await home.live(hours=1)
    spill = await home.spill(reference)
    return Lived(reference, link_token(home.house, "status", spill), link_token(home.house, "respond", spill))


async def _report(home: Household) -> str:
    anybody = home.client()
    contact = {
        "name": TEXT["reporter's name"], "email": TEXT["reporter's e-mail"], "phone": TEXT["reporter's phone"], "privacy": "confidential",
    }  # fmt: skip
    place = {"lat": float(TEXT["point latitude"]), "lon": float(TEXT["point longitude"]), "address": TEXT["house number"]}
    body = {
        "description": TEXT["description"], "location": place, "material": "sewage", "volume": {"quantity": 1500, "unit": "gal"},
        "reached": ["storm_drain"], "contact": contact,
    }  # fmt: skip
    told = _good(await anybody.post("/api/v1/spills", json=body))
    exif = pictures.notes(gps=_TAKEN)
    exif[0x010F] = TEXT["camera"]
    file = pictures.encoded(pictures.halves(), exif=exif)
    reporter = home.client(told["status_url"].rpartition("/")[2])
    sent = [("photos", (f"{TEXT['photo name']}.jpg", file))]
    _good(await reporter.post(f"/api/v1/spills/{told['reference']}/photos", files=sent, data={"share_location": "no"}))
    return str(told["reference"])


async def _staff(home: Household, manager: httpx.AsyncClient, reference: str) -> None:
    substances = [{"name": TEXT["substance"], "quantity": 3, "unit": "gal"}]
    facts = {
        "facts": {"release": "confirmed", "premises": "commercial", "substances": substances},
        "reason": TEXT["reason of an amendment"],
    }
    _good(await manager.patch(f"/api/v1/spills/{reference}/facts", json=facts))
    moved = {
        "lat": float(TEXT["point latitude"]), "lon": float(TEXT["point longitude"]), "address": f"{TEXT['house number']} rear",
        "reason": TEXT["reason of a move"],
    }  # fmt: skip
    _good(await manager.patch(f"/api/v1/spills/{reference}/location", json=moved))
    await home.name_discharger(reference, TEXT["discharger's name"], TEXT["discharger's e-mail"], TEXT["discharger's phone"])
    act = {"type": "responded", "at": home.clock.at.isoformat(), "note": TEXT["note of an act"]}
    _good(await manager.post(f"/api/v1/spills/{reference}/events", json=act))
    await home.acknowledge(reference, "chino/rwqcb-2-hours", TEXT["who acknowledged"])


async def _discharger(home: Household, manager: httpx.AsyncClient, reference: str) -> None:
    firm = home.client(link_token(home.house, "respond", await home.spill(reference)))
    found = _good(await manager.get(f"/api/v1/spills/{reference}/reports"))
    clock = found["reports"][0]
    items = {item: TEXT["draft words"] for item in clock["items"]}
    _good(await firm.post(f"/api/v1/spills/{reference}/reports", json={"clock": clock["clock"], "content": items}))
    filed = {
        "state": "certify", "clock": clock["clock"], "content": {item: TEXT["filed words"] for item in items}, "by": TEXT["certifier"],
        "title": TEXT["certifier's title"], "email": TEXT["discharger's e-mail"],
    }  # fmt: skip
    _good(await firm.post(f"/api/v1/spills/{reference}/reports", json=filed))


async def _tell(home: Household, reference: str, kind: str, metres: float | None) -> None:
    async with transaction(home.house, AUTHOR.email) as tx:
        spill = await tx.spill(reference)
        chain = await chain_of(tx, spill)
        words = draft(home.house, spill, kind, chain[-1] if standing_in(chain) else None)
        await issue(tx, AUTHOR, spill, kind, words, metres, (chain[-1].id or 0) if chain else 0)


async def _end(home: Household, manager: httpx.AsyncClient, reference: str) -> None:
    token = link_token(home.house, "status", await home.spill(reference))
    reporter = home.client()
    for path, form in (("more", {"text": TEXT["words added later"]}), ("action", {})):
        answer = await reporter.post(f"/status/{token}/{path}", data=form)
        assert answer.status_code == 303, answer.text
    _good(await manager.post(f"/api/v1/spills/{reference}/answers", json={"reason": TEXT["answer to the reporter"]}))
    clocks = [row for row in await home.clocks(reference) if row.state in ("running", "overdue", "waiting")]
    _good(await manager.post(f"/api/v1/clocks/{clocks[0].id}/waive", json={"reason": TEXT["reason of a waiver"]}))
    left = [row.id for row in clocks[1:] if row.act != "retention"]
    _good(await manager.post(f"/api/v1/spills/{reference}/close", json={"reason": TEXT["closing words"], "left_open": left}))
