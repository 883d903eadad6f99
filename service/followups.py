"""Written follow-up reports. A filed report meets its duty only when it holds every item the law lists, and is stamped on time or late."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from deadlines import as_z
from service.errors import BadInput, Conflict
from service.events import ActRecorded, FollowUpFiled, FollowUpSaved
from service.obligations import record_met
from service.outbox import OPEN_STATES
from service.spills import clean
from service.tables import FollowUp, Obligation, Spill
from service.transaction import Transaction

# A duty that a call or a visit may do is done by that; its page offers no report.
_REPORTABLE = frozenset(("written", "email", "mail", "online"))


def wants_report(row: Obligation) -> bool:
    """Whether a written report is how this duty is done."""
    return (
        row.act == "notice" and row.clock["recipient"] is not None and (bool(row.content) or _REPORTABLE.issuperset(row.clock["methods"]))
    )


def items_of(row: Obligation) -> dict[str, str]:
    """What the report must hold, as it was decided: item id to the words of the law; one free text where the law lists nothing."""
    return dict(row.content) or {"report": "what happened, and what was done about it"}


async def versions(tx: Transaction, row: Obligation) -> list[FollowUp]:
    """All versions of the report for a duty, oldest first."""
    found = await tx.session.execute(select(FollowUp).where(col(FollowUp.obligation_id) == row.id).order_by(col(FollowUp.version)))
    return list(found.scalars())


async def save_draft(tx: Transaction, spill: Spill, row: Obligation, content: Mapping[str, Any], by: str) -> FollowUp:
    """Keep a draft; the last draft is written over, filed versions never are. Raises BadInput for items the duty does not know."""
    texts = _texts(items_of(row), content)
    earlier = await versions(tx, row)
    if earlier and earlier[-1].state == "draft":
        draft = earlier[-1]
        draft.content, draft.by, draft.saved_at = texts, by, tx.now
    else:
        draft = FollowUp(obligation_id=row.id or 0, version=len(earlier) + 1, state="draft", content=texts, by=by, saved_at=tx.now)
        tx.session.add(draft)
        await tx.session.flush()
        await tx.record(spill, FollowUpSaved(obligation=row.id or 0, duty=row.duty, version=draft.version))
    return draft


async def file_report(tx: Transaction, spill: Spill, row: Obligation, content: Mapping[str, Any], by: str) -> FollowUpFiled:
    """File a report: stamped, kept for good, and recorded as the act that meets the duty where nothing is missing.

    Returns the stamp: what is missing, and on time or late by how many seconds. Raises BadInput without the name of who files it,
    Conflict where the duty is withdrawn or waived.
    """
    if not clean(by):
        raise BadInput(
            "who files the report is missing", ["by: missing; right would be: the name and title of the person who answers for it"]
        )
    if row.state in ("withdrawn", "waived"):
        raise Conflict(f"{row.duty} is {row.state}; no report is owed")
    wanted = items_of(row)
    draft = await save_draft(tx, spill, row, content, clean(by))
    draft.state, draft.filed_at = "filed", tx.now
    missing = [says for item, says in wanted.items() if not draft.content.get(item)]
    late = _late_by(row, tx.now)
    stamp = FollowUpFiled(
        obligation=row.id or 0, duty=row.duty, version=draft.version, by=draft.by, content=draft.content, missing=missing,
        on_time=late is None, late_by_s=late,
    )  # fmt: skip
    await tx.record(spill, stamp)
    if not missing and row.clock["recipient"] is not None:
        held = sorted(draft.content)
        method = next((way for way in ("written", "online", "email", "mail") if way in row.clock["methods"]), "written")
        act: dict[str, Any] = {
            "type": "report_submitted", "at": as_z(tx.now), "recipient": row.clock["recipient"], "method": method, "complete": True,
            "content": held,
        }  # fmt: skip
        await tx.record(spill, ActRecorded(act=act, note=f"follow-up report, version {draft.version}, filed by {draft.by}"))
        if row.state in OPEN_STATES:  # the pack of today asks more than the one this clock was opened under
            await record_met(tx, spill, row, tx.now)
    return stamp


def _late_by(row: Obligation, now: datetime) -> int | None:
    if row.due_at is None or now <= row.due_at:
        return None
    return int((now - row.due_at).total_seconds())


def _texts(wanted: Mapping[str, str], content: Mapping[str, Any]) -> dict[str, str]:
    """The given texts by item id; a caller may use the id or the words of the law."""
    by_words = {says: item for item, says in wanted.items()}
    faults = [
        f"content.{key}: not an item of this report; right would be: one of {', '.join(wanted)}"
        for key in content
        if by_words.get(key, key) not in wanted
    ]
    if faults:
        raise BadInput("the report holds unknown items", faults)
    return {by_words.get(key, key): text for key, value in content.items() if (text := clean(value)[:50_000])}
