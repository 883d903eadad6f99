"""What people do about a duty from the message that told them: see it, ask for the next rung, say that it is done."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from deadlines import Rule, as_z
from deadlines.facts import ORDERS
from service import escalation, obligations
from service.errors import BadInput
from service.events import EscalationAsked, ObligationAcknowledged
from service.followups import wants_report
from service.grouping import head_of
from service.outbox import OPEN_STATES
from service.spills import record_act
from service.tables import EventRow, MessageRow, Obligation, Spill
from service.transaction import Transaction

# The event of the contract that ends a duty of each kind; a notice is ended by telling whom it is owed to.
ACT_TYPES: Mapping[str, str] = {
    "cleanup": "cleanup_done", "repair": "repaired", "sampling": "sampling_done", "response": "responded", "payment": "paid",
    "filing": "filed", "order": "order_complied", "appeal": "appeal_filed", "petition": "petition_filed", "hearing": "hearing_held",
    "hearing-notice": "hearing_noticed", "decision": "decision_made",
}  # fmt: skip
# Acts that whoever answers for the spill may record; the others are the city's.
_DISCHARGERS = ("notice", "cleanup", "repair", "sampling", "payment", "filing", "order", "appeal", "petition")
# One press of a button may arrive twice.
_ONE_PRESS = timedelta(minutes=1)


class NotSo(BadInput):
    """A duty cannot be ended by a word. `why`: report, kept, not_yours, way, more."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the duty cannot be ended by a word: {why}")
        self.why = why


async def duties_of(tx: Transaction, message: MessageRow) -> list[Obligation]:
    """The duties that a message tells of: its own, and those of the messages that went out as part of it.

    Of a report that was merged since, those of the spill that it was merged into.
    """
    carried = select(col(MessageRow.obligation_id)).where((col(MessageRow.id) == message.id) | (col(MessageRow.carried_by) == message.id))
    query = select(Obligation).where(col(Obligation.id).in_(carried)).order_by(col(Obligation.due_at), col(Obligation.id))
    return [await _as_they_go_on(tx, row) for row in (await tx.session.execute(query)).scalars()]


async def _as_they_go_on(tx: Transaction, row: Obligation) -> Obligation:
    """The clock that a merged report's clock goes on as; the same one where nothing was merged, or it has no counterpart."""
    spill = await tx.session.get_one(Spill, row.spill_id)
    if spill.merged_into is None or row.state != "withdrawn":
        return row
    there = await obligations.of_spill(tx, await head_of(tx, spill))
    return next((one for one in there if one.duty == row.duty and one.occurrence == row.occurrence and one.state != "withdrawn"), row)


async def _spill_of(tx: Transaction, spill: Spill, row: Obligation) -> Spill:
    """The spill that a duty of a message is one of by now."""
    return spill if row.spill_id == spill.id else await tx.session.get_one(Spill, row.spill_id)


async def open_duties_of(tx: Transaction, message: MessageRow) -> list[Obligation]:
    """Those of them that are still to be done."""
    return [row for row in await duties_of(tx, message) if row.state in OPEN_STATES]


async def see(tx: Transaction, spill: Spill, message: MessageRow) -> list[Obligation]:
    """Record that whoever got a message has seen it. Returns the duties that this is about; none where all are closed."""
    found = await open_duties_of(tx, message)
    for row in found:
        its_spill = await _spill_of(tx, spill, row)
        if not await _just_seen(tx, its_spill, row, message.person):
            await obligations.acknowledge(tx, row, its_spill, message.person)
    return found


async def _just_seen(tx: Transaction, spill: Spill, row: Obligation, person: str) -> bool:
    mine = (col(EventRow.spill_id) == spill.id, col(EventRow.kind) == ObligationAcknowledged.kind)
    lately = await tx.session.execute(select(EventRow).where(*mine, col(EventRow.recorded_at) > tx.now - _ONE_PRESS))
    return any(event.opened["obligation"] == row.id and event.payload["person"] == person for event in lately.scalars())


async def escalate(tx: Transaction, spill: Spill, message: MessageRow) -> list[str]:
    """Tell the next rung at once. Returns the roles that are told; none where nobody stands further up, or all duties are closed."""
    told: list[str] = []
    for row in await open_duties_of(tx, message):
        await tx.record(spill, EscalationAsked(obligation=row.id or 0, duty=row.duty, person=message.person, message=message.id))
        told += await escalation.climb_now(tx, await _spill_of(tx, spill, row), row)
    return list(dict.fromkeys(told))


async def was_escalated(tx: Transaction, spill: Spill, message: MessageRow) -> bool:
    """Whether somebody asked for the next rung from this very message."""
    mine = (col(EventRow.spill_id) == spill.id, col(EventRow.kind) == EscalationAsked.kind)
    rows = (await tx.session.execute(select(EventRow).where(*mine))).scalars()
    return any(row.opened["message"] == message.id for row in rows)


async def finish(tx: Transaction, spill: Spill, row: Obligation, role: str, note: str) -> None:
    """Record that the one act which ends a duty was done just now, by somebody in a role. Raises NotSo where a word does not do it."""
    if role == "discharger" and (row.clock["owed_by"] != "discharger" or row.act not in _DISCHARGERS):
        raise NotSo("not_yours")
    if row.act == "retention":
        raise NotSo("kept")
    if wants_report(row):
        raise NotSo("report")
    spill = await _spill_of(tx, spill, row)
    try:
        await record_act(tx, spill, {"at": as_z(tx.now), **_act_of(tx, spill, row)}, note)
    except NotSo:
        raise
    except BadInput as error:
        raise NotSo("more") from error


def _act_of(tx: Transaction, spill: Spill, row: Obligation) -> dict[str, Any]:
    if row.act == "notice":
        return {"type": "notice_given", "recipient": row.clock["recipient"], "method": _way(row)}
    if row.act not in ACT_TYPES:
        raise NotSo("kept")
    try:
        rule = tx.house.rulebook.rules(row.duty)[1][-1]
    except KeyError:
        rule = None
    return {"type": ACT_TYPES[row.act], **named_by_start(spill, row, rule)}


def _way(row: Obligation) -> str:
    """The way in which a notice was given, where a word leaves no doubt: a call where that counts, else the only way there is."""
    ways = row.clock["methods"]
    if row.clock["recipient"] is None:
        raise NotSo("more")
    if "telephone" in ways or "any" in ways:
        return "telephone"
    if len(ways) == 1 and ways[0] in ("email", "in_person", "online"):
        return str(ways[0])
    raise NotSo("way")


def named_by_start(spill: Spill, row: Obligation, rule: Rule | None) -> dict[str, Any]:
    """Which order or hearing an act is about, as the event says that started the clock."""
    events = spill.facts.get("events", [])
    number = row.clock["event"]
    start = events[number] if number is not None and number < len(events) else row.clock.get("started_by", {}).get("act", {})
    if row.act == "order":
        return {"order": start["order"]} if start.get("order") in ORDERS else {}
    if row.act in ("hearing", "hearing-notice") and rule:
        hearings = [str(hearing) for hearing in (rule.trigger.where.get("hearing", ()) if rule.trigger else ())]
        hearing = start.get("hearing") or (hearings[0] if len(hearings) == 1 else None) or ("appeal" if "appeal" in row.duty else None)
        return {"hearing": hearing} if hearing else {}
    return {}
