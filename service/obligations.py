"""From facts to obligations: the engine says which clocks run, and each is opened, moved, met or withdrawn, with the decision frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import bindparam, select
from sqlmodel import col

from deadlines import CalendarGap, CityLaw, Clock, Facts, as_z, assess, read_moment
from deadlines.inquiry import inquire
from deadlines.strip import strip_as_json
from service.administration_tables import SwitchedOff
from service.errors import BadInput, Conflict, NotKnown
from service.events import (
    AssessmentFailed,
    FactsRecorded,
    ObligationAcknowledged,
    ObligationMet,
    ObligationMoved,
    ObligationOpened,
    ObligationWaived,
    ObligationWithdrawn,
)
from service.grouping import Counted, counted, head_of
from service.ladders import frozen_ladder
from service.office_days import recounted, rulebook_of
from service.outbox import OPEN_STATES
from service.spills import checked_facts, stated
from service.switches import holds_back, over, switched_off, why_held
from service.tables import Obligation, Spill
from service.transaction import Recorded, Transaction

_DECIDED = ("applies", "unsettled", "starts_at", "due_at", "extended_due_at", "recipient")
_CLOSED = ("met", "met_late", "waived")
_OF_SPILL = select(Obligation).where(col(Obligation.spill_id) == bindparam("spill_id"))
Key = tuple[str, int, int]
# When each clock was met by the acts on record, None where by none.
Standing = Mapping[Key, datetime | None]


@dataclass(frozen=True, slots=True)
class _Decided:
    """What the law says of one clock now: as the engine's clock, and as it is to be stored. `calendar`, `stood`: see `apply_law`."""

    key: Key
    clock: Clock
    json: Mapping[str, Any]
    problem: str
    calendar: str
    stood: Standing | None = None

    @property
    def starts_at(self) -> datetime | None:
        return _moment(self.json["starts_at"])

    @property
    def due_at(self) -> datetime | None:
        return _moment(self.json["due_at"])

    @property
    def strip(self) -> list[dict[str, Any]]:
        """The days of this very count; nothing where the clock keeps a count that an earlier version of its pack made."""
        clock = self.clock
        mine = (clock.standing.rule.limit.text, as_z(clock.starts_at), as_z(clock.due_at), as_z(clock.extended_due_at))
        same = mine == tuple(self.json[key] for key in ("limit", "starts_at", "due_at", "extended_due_at"))
        return strip_as_json(clock.counted) if same else []


def _moment(text: str | None) -> datetime | None:
    return None if text is None else read_moment(text, ZoneInfo("UTC"))


async def reassess(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to new facts or acts: put them to the law and record what that changes. Those of a merged report count where it went."""
    why = recorded.event.reason if isinstance(recorded.event, FactsRecorded) else "an event was recorded"
    await apply_law(tx, await head_of(tx, recorded.spill), why or "facts recorded")


async def apply_law(tx: Transaction, spill: Spill, why: str, *, calendar: str = "", stood: Standing | None = None) -> None:
    """Bring the obligations of a spill into line with its facts at `tx.now`. `why` stands with every withdrawal.

    Where not the facts but the days of its city changed, `calendar` says how: it stands with every clock that moves, and nobody is told
    again what they were told already. Where reports were merged or taken apart, `stood` is what `standing_of` said before, so that what
    was done about a report counts, or no longer counts; nobody is told the same again then, either.
    A rule that is switched off in its city (service/switches.py) starts nothing here: the decision stands on record as withdrawn.
    Without a city no law stands over it, so no clock runs; nor does one of a report that was merged into another. What stands on record of
    one whose record was destroyed stays as it is.
    """
    if spill.destroyed_at is not None:
        return
    decided: list[_Decided] = []
    rows = {_key_of(row): row for row in await of_spill(tx, spill)}
    off = await switched_off(tx, spill.city)
    if spill.city is not None and spill.merged_into is None:
        rulebook = await rulebook_of(tx)
        counts = await counted(tx, spill)
        facts = checked_facts(rulebook, counts.facts)
        law = rulebook.law_of(spill.city)
        for clock in assess(facts, rulebook, tx.now).clocks:
            decided.append(_decide(rows.get(_key(clock, counts)), clock, counts, facts, law, calendar, stood))
    unheard = [one for one in decided if one.key not in rows]
    # Their events and messages need their numbers. They are written with these, all at once.
    numbers = await tx.numbers("obligation", len(unheard)) if unheard else ()
    new = [(_new_row(tx, spill, number, one), one) for number, one in zip(numbers, unheard, strict=True)]
    tx.session.add_all(row for row, _ in new)
    for row, one in new:
        await _begin(tx, spill, row, one.clock, over(off, row.duty))
    for one in decided:
        if (kept := rows.pop(one.key, None)) is not None:
            entry = over(off, kept.duty)
            if entry is not None and holds_back(kept, one.starts_at):
                await _withdraw(tx, spill, kept, why_held(entry))
            else:
                await _adjust(tx, spill, kept, one)
    for row in rows.values():
        if row.state not in (*_CLOSED, "withdrawn"):
            await _withdraw(tx, spill, row, why)
    # A recurring duty opens its next occurrence by itself once one is past; at the due moment itself there is no next one yet.
    due = [one.clock.due_at for one in decided if one.clock.occurrence]
    recurring = [moment for moment in due if moment and moment >= tx.now]
    spill.assess_at = min(recurring) + timedelta(seconds=1) if recurring else None


async def _begin(tx: Transaction, spill: Spill, row: Obligation, clock: Clock, off: SwitchedOff | None) -> None:
    if off is not None:
        await _withdraw(tx, spill, row, why_held(off))
    else:
        await _open(tx, spill, row, clock)


async def _withdraw(tx: Transaction, spill: Spill, row: Obligation, why: str) -> None:
    """Let a clock count no more, or not begin; said once for each reason."""
    if (row.state, row.reason) != ("withdrawn", why):
        row.state, row.reason = "withdrawn", why
        await tx.record(spill, ObligationWithdrawn(obligation=row.id or 0, duty=row.duty, reason=why))


async def standing_of(tx: Transaction, spill: Spill) -> Standing:
    """When each clock that the law gives a spill now was met by the acts on record; empty for one without a city, or merged."""
    if spill.city is None or spill.merged_into is not None:
        return {}
    rulebook = await rulebook_of(tx)
    counts = await counted(tx, spill)
    clocks = assess(checked_facts(rulebook, counts.facts), rulebook, tx.now).clocks
    return {_key(clock, counts): clock.met_at for clock in clocks}


def _decide(
    row: Obligation | None, clock: Clock, counts: Counted, facts: Facts, law: CityLaw, calendar: str, stood: Standing | None
) -> _Decided:
    """What a clock is to be. One of an earlier version of its pack keeps that version while its facts stand, also on another calendar."""
    now, key = counts.clock_json(clock), _key(clock, counts)
    if row is None or not calendar or row.clock.get("pack_version") == now["pack_version"] or _facts_differ(row, now):
        return _Decided(key, clock, now, clock.uncomputable or "", calendar, stood)
    comply_by = None if clock.event is None else facts.events[clock.event].said.get("comply_by")
    try:
        return _Decided(key, clock, recounted(row, law, comply_by if isinstance(comply_by, datetime) else None), "", calendar)
    except CalendarGap as gap:
        nothing: dict[str, Any] = {"starts_at": None, "due_at": None, "extended_due_at": None, "other_readings": [], "state": "waiting"}
        return _Decided(key, clock, {**row.clock, **nothing, "counting": [f"Cannot be computed: {gap}."]}, str(gap), calendar)


def _key(clock: Clock, counts: Counted) -> Key:
    return clock.duty, counts.number_of(clock.event), clock.occurrence or 0


def _key_of(row: Obligation) -> Key:
    return row.duty, row.event_no, row.occurrence


def _take(row: Obligation, decided: _Decided, now: datetime) -> None:
    """Copy a decision into its row. Where the count runs backward, the ladder begins when we learn of it.

    A decision that leaves start and due time where they were leaves the ladder and a missed due time as they are.
    """
    rule = decided.clock.standing.rule
    if row.clock.get("pack_version") != decided.json["pack_version"]:
        row.act, row.content = rule.act, {item.item: item.says for item in rule.content}
        row.certification = {"says": rule.certification.says, "source": rule.certification.source} if rule.certification else {}
    row.clock, row.strip = dict(decided.json), decided.strip
    if (row.starts_at, row.due_at) != (decided.starts_at, decided.due_at):
        if rule.limit.backward and row.starts_at != decided.starts_at:
            row.begins_at = now
        elif not rule.limit.backward:
            row.begins_at = decided.starts_at
        row.starts_at, row.due_at = decided.starts_at, decided.due_at
        row.overdue_noted = False
    # Overdue is not decided here: the climb notes it, with its own event, for new clocks as for old ones.
    row.state = "waiting" if row.due_at is None else "overdue" if row.overdue_noted else "running"
    row.reason = decided.problem


def _new_row(tx: Transaction, spill: Spill, number: int, decided: _Decided) -> Obligation:
    clock = decided.clock
    duty, event_no, occurrence = decided.key
    row = Obligation(
        id=number, spill_id=spill.id or 0, duty=duty, event_no=event_no, occurrence=occurrence, state="waiting", clock={}, act="",
        content={}, certification={}, strip=[], ladder=frozen_ladder(clock.ladder), city=spill.city or "",
    )  # fmt: skip
    _take(row, decided, tx.now)
    tx.opened[number] = row
    return row


async def _open(tx: Transaction, spill: Spill, row: Obligation, clock: Clock) -> None:
    if clock.met_at is not None:
        await _meet(tx, spill, row, clock, opened=True)
    else:
        await tx.record(spill, ObligationOpened(obligation=row.id or 0, clock=row.clock))
    await _note_gap(tx, spill, row)


async def _note_gap(tx: Transaction, spill: Spill, row: Obligation) -> None:
    """A clock that cannot be computed is an alarm of its own."""
    if row.state == "waiting" and row.reason:
        await tx.record(spill, AssessmentFailed(problem=f"{row.duty}: {row.reason}"))


async def _adjust(tx: Transaction, spill: Spill, row: Obligation, decided: _Decided) -> None:
    if row.state == "waived":
        return
    if row.state in ("met", "met_late") and not _owed_anew(row, decided) and not _met_otherwise(decided):
        await _adjust_met(tx, spill, row, decided)
        return
    met_at = decided.clock.met_at
    if row.state == "withdrawn" or _differs(row, decided) or _met_otherwise(decided):
        before = _before(row)
        replanned = (
            row.state in ("withdrawn", "met", "met_late")
            or row.starts_at != decided.starts_at
            or row.due_at != decided.due_at
            or _to_another(row, decided)
        )
        _take(row, decided, tx.now)
        row.met_at = None
        await tx.record(spill, _moved(row, before, decided, replanned=replanned and met_at is None))
        await _note_gap(tx, spill, row)
    if met_at is not None:
        await _meet(tx, spill, row, decided.clock, opened=False)


def _moved(row: Obligation, before: dict[str, Any], decided: _Decided, *, replanned: bool) -> ObligationMoved:
    return ObligationMoved(
        obligation=row.id or 0, before=before, clock=row.clock, replanned=replanned, calendar=decided.calendar,
        regrouped=decided.stood is not None,
    )  # fmt: skip


def _met_otherwise(decided: _Decided) -> bool:
    """Whether reports that were merged, or taken apart, changed by which act a duty was met, or that it was."""
    stood = decided.stood or {}
    return decided.key in stood and stood[decided.key] != decided.clock.met_at


def _to_another(row: Obligation, decided: _Decided) -> bool:
    return bool(row.clock.get("recipient") != decided.json["recipient"])


def _owed_anew(row: Obligation, decided: _Decided) -> bool:
    """Whether a duty that was met is owed to somebody else since the spill was found to lie elsewhere, who has not been told."""
    return _to_another(row, decided) and decided.clock.met_at is None and _differs(row, decided)


def _before(row: Obligation) -> dict[str, Any]:
    return {key: row.clock.get(key) for key in (*_DECIDED, "pack_version")} | {"state": row.state}


def _differs(row: Obligation, decided: _Decided) -> bool:
    """Whether facts or calendar changed the decision. A new version of the pack alone does not: a running clock keeps its version."""
    same_version = row.clock.get("pack_version") == decided.json["pack_version"]
    return _facts_differ(row, decided.json) or (same_version and any(row.clock.get(key) != decided.json[key] for key in _DECIDED))


def _facts_differ(row: Obligation, now: Mapping[str, Any]) -> bool:
    return any(row.clock.get(key) != now[key] for key in ("applies", "unsettled", "starts_at"))


async def _adjust_met(tx: Transaction, spill: Spill, row: Obligation, decided: _Decided) -> None:
    """A met clock stays met; a due moment that now lies before the time it was met makes it late (counting.md, facts that change)."""
    due_at = decided.due_at
    if row.met_at is None or due_at is None or row.due_at is None or not _differs(row, decided):
        return
    if due_at >= row.due_at and decided.key not in (decided.stood or {}):  # taken apart again, reports give back what they brought
        return
    before = _before(row)
    _take(row, decided, tx.now)
    _mark_met(row, row.met_at, due_at)
    await tx.record(spill, _moved(row, before, decided, replanned=False))


def _late_by(met_at: datetime, due_at: datetime) -> int | None:
    return int((met_at - due_at).total_seconds()) if met_at > due_at else None


async def _meet(tx: Transaction, spill: Spill, row: Obligation, clock: Clock, *, opened: bool) -> None:
    """Judged by the due moment on record, which a new version of the pack alone does not move."""
    if clock.met_at is None or row.due_at is None:
        return
    if opened:
        _mark_met(row, clock.met_at, row.due_at)
        await tx.record(spill, ObligationOpened(obligation=row.id or 0, clock=row.clock))
    await record_met(tx, spill, row, clock.met_at)


async def record_met(tx: Transaction, spill: Spill, row: Obligation, met_at: datetime) -> None:
    """Record that a duty with a due time was done, on time or late by the due moment on record."""
    if row.due_at is None:
        return
    _mark_met(row, met_at, row.due_at)
    met = ObligationMet(obligation=row.id or 0, duty=row.duty, met_at=as_z(met_at) or "", late_by_s=_late_by(met_at, row.due_at))
    await tx.record(spill, met, met_at)


def _mark_met(row: Obligation, met_at: datetime, due_at: datetime) -> None:
    late = _late_by(met_at, due_at)
    row.met_at, row.state = met_at, "met" if late is None else "met_late"
    row.clock = {**row.clock, "state": row.state, "met_at": as_z(met_at), "late_by_s": late}


async def waive(tx: Transaction, obligation: Obligation, spill: Spill, reason: str) -> None:
    """Record that a duty need not be done, and why. Raises BadInput without a reason, Conflict where it is already closed."""
    reason = stated(reason)
    if not reason:
        raise BadInput("a waiver needs a reason", ["reason: missing; right would be: who decided it and why"])
    if obligation.state in (*_CLOSED, "withdrawn"):
        raise Conflict(f"{obligation.duty} is {obligation.state.replace('_', ' ')} already")
    obligation.state, obligation.reason = "waived", reason
    await tx.record(spill, ObligationWaived(obligation=obligation.id or 0, duty=obligation.duty, reason=reason))


async def acknowledge(tx: Transaction, obligation: Obligation, spill: Spill, person: str) -> None:
    """Record that a person has seen the alert; the duty and its ladder go on. Raises Conflict where it is no longer open."""
    if obligation.state not in OPEN_STATES:
        raise Conflict(f"{obligation.duty} is {obligation.state.replace('_', ' ')}; there is nothing to acknowledge")
    await tx.record(spill, ObligationAcknowledged(obligation=obligation.id or 0, duty=obligation.duty, person=person))


async def of_spill(tx: Transaction, spill: Spill) -> list[Obligation]:
    """The obligations of a spill, by due time, waiting ones last."""
    rows = (await tx.session.execute(_OF_SPILL, {"spill_id": spill.id})).scalars()
    return sorted(rows, key=lambda row: (row.due_at is None, row.due_at or tx.now, row.duty, row.event_no, row.occurrence))


async def obligation_and_spill(tx: Transaction, obligation_id: int) -> tuple[Obligation, Spill]:
    """An obligation with its spill. Raises NotKnown."""
    row = await tx.session.get(Obligation, obligation_id)
    if row is None:
        raise NotKnown(f"there is no clock {obligation_id}")
    return row, await tx.session.get_one(Spill, row.spill_id)


def clock_json(row: Obligation, now: datetime) -> dict[str, Any]:
    """An obligation as the clock object of the contract, with its `id`, as it stands at `now`."""
    clock: Mapping[str, Any] = row.clock
    state, late = row.state, clock.get("late_by_s")
    if state in OPEN_STATES and row.due_at is not None:
        overdue = now > row.due_at and row.act != "retention"
        state, late = ("overdue", int((now - row.due_at).total_seconds())) if overdue else ("running", None)
    elif state in ("withdrawn", "waived"):
        late = None
    return {"id": row.id, **clock, "state": state, "late_by_s": late, "reason": row.reason or None}


async def open_questions(tx: Transaction, spill: Spill) -> list[dict[str, Any]]:
    """The facts nobody has settled, those first whose answer would take away the most, each with what an answer would do."""
    if spill.city is None or not spill.facts or spill.merged_into is not None:
        return []
    rulebook = await rulebook_of(tx)
    facts = checked_facts(rulebook, (await counted(tx, spill)).facts)
    return [asked.as_json() for asked in inquire(facts, rulebook, tx.now)]


async def due_assessments(tx: Transaction, limit: int = 20) -> list[Spill]:
    """Spills whose facts wait to be put to the law."""
    chosen = select(Spill).where(col(Spill.assess_at) <= tx.now).order_by(col(Spill.assess_at)).limit(limit)
    return list((await tx.session.execute(tx.held(chosen, skip_locked=True))).scalars())
