"""What a request shows, and to whom: strangers what the public record shows, whoever sent it or works on it the whole.

A spill that the city has not confirmed shows strangers that it was received, its kind and the hour, so that a client that posted it can
read it back; no words, place or amount of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select
from sqlmodel import col

from deadlines import as_z
from service import public_record
from service.disclosure import hour_of
from service.events import SpillClosed, SpillReopened
from service.open311.catalogue import name_of
from service.public_words import MATERIALS
from service.speech import Speech
from service.tables import EventRow, Obligation, PublicSpill, Spill
from service.transaction import House, Transaction

LONGEST_DESCRIPTION = 4000


async def deadlines_of(tx: Transaction, spills: Sequence[int]) -> Mapping[int, datetime]:
    """The first legal deadline of each spill that has one: of a duty that is owed or was met, not of keeping papers."""
    owed = (col(Obligation.state).not_in(("withdrawn", "waived")), col(Obligation.due_at).is_not(None), col(Obligation.act) != "retention")
    query = select(col(Obligation.spill_id), func.min(col(Obligation.due_at))).where(col(Obligation.spill_id).in_(spills), *owed)
    rows = (await tx.session.execute(query.group_by(col(Obligation.spill_id)))).all()
    return {spill: due_at for spill, due_at in rows if due_at is not None}


def publicly(house: House, row: PublicSpill, due_at: datetime | None, said: Speech, hours: public_record.Hours) -> dict[str, Any]:
    """A request as anybody sees it: the public record in the fields of the standard. Times are those of the full hour."""
    words = public_record.in_words(house, row, said, hours)
    told = [words["title"], words["amount"], said.say("Reached %(reached)s", reached=words["reached"]) if words["reached"] else ""]
    advisory = f"{words['advisory']}: {house.settings.public_url}/advisories/{row.advisory_id}" if row.advisory_id else None
    return {
        "service_request_id": row.reference, "status": "closed" if row.state == "closed" else "open", "status_notes": words["state"],
        "service_name": name_of(row.material, said), "service_code": row.material, "description": ". ".join(filter(None, told)),
        "agency_responsible": house.rulebook.law_of(row.city).city.title, "service_notice": advisory,
        "requested_datetime": _moment(row.received_at), "updated_datetime": _moment(row.changed_at),
        "expected_datetime": _moment(hour_of(due_at)) if due_at else None, "address": words["place"], "address_id": None, "zipcode": None,
        "lat": row.lat, "long": row.lon, "media_url": None,
    }  # fmt: skip


def received(spill: Spill, due_at: datetime | None, said: Speech) -> dict[str, Any]:
    """A request that the city has not confirmed, as a stranger sees it."""
    code = _code(spill)
    return {
        "service_request_id": spill.reference, "status": "open", "status_notes": said.say("Received. The city has not confirmed it yet."),
        "service_name": name_of(code, said), "service_code": code, "description": None, "agency_responsible": None, "service_notice": None,
        "requested_datetime": _moment(hour_of(spill.received_at)), "updated_datetime": _moment(hour_of(spill.received_at)),
        "expected_datetime": _moment(hour_of(due_at)) if due_at else None, "address": None, "address_id": None, "zipcode": None,
        "lat": None, "long": None, "media_url": None,
    }  # fmt: skip


async def wholly(tx: Transaction, spill: Spill, due_at: datetime | None, said: Speech) -> dict[str, Any]:
    """A request as whoever sent it, or works on it, sees it: their words, the place and the times to the second. No name."""
    house, code = tx.house, _code(spill)
    query = select(EventRow).where(col(EventRow.spill_id) == spill.id).order_by(col(EventRow.id).desc())
    events = (await tx.session.execute(query)).scalars().all()
    ends = [one for one in events if one.kind in (SpillClosed.kind, SpillReopened.kind)]
    closed = ends[0] if ends and ends[0].kind == SpillClosed.kind else None
    words = closed.payload["words"].get(said.language) if closed else None
    return {
        "service_request_id": spill.reference, "status": "closed" if closed else "open",
        "status_notes": words or said.say("The city has it, and works on it."),
        "service_name": name_of(code, said), "service_code": code, "description": spill.description[:LONGEST_DESCRIPTION],
        "agency_responsible": house.rulebook.law_of(spill.city).city.title if spill.city else None, "service_notice": None,
        "requested_datetime": _moment(spill.received_at), "updated_datetime": _moment((closed or events[0]).recorded_at),
        "expected_datetime": _moment(due_at) if due_at else None, "address": spill.address or None, "address_id": None, "zipcode": None,
        "lat": spill.lat, "long": spill.lon, "media_url": None,
    }  # fmt: skip


def _code(spill: Spill) -> str:
    material = str(spill.facts.get("material") or "unknown")
    return material if material in MATERIALS else "unknown"


def _moment(at: datetime) -> str:
    return str(as_z(at.astimezone(UTC).replace(microsecond=0)))
