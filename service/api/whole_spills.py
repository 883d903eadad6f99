"""What is decided about a spill as a whole: merged and taken apart, split, referred to another agency, put in somebody's charge."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from deadlines import as_z
from service import assigning, causes, merging, referrals, splitting
from service.access import spill_for
from service.api.callers import house_of, read_body, signed_in
from service.closing import History
from service.events import SpillSplit, SplitOff
from service.fact_sources import STAFF, sources_of
from service.grouping import EARLIEST, counted, head_of, merged_here
from service.tables import Spill
from service.transaction import Transaction, transaction

router = APIRouter(tags=["whole spills"])


class MergerIn(BaseModel):
    """Into which spill a report is merged, and why. `take`: facts of that spill to be amended to what the report says; `drop`: ids of
    clocks of the report that may end, as not owed by the facts of that spill."""

    model_config = ConfigDict(extra="forbid")
    into: str
    reason: str = ""
    take: list[str] = Field(default_factory=list)
    drop: list[int] = Field(default_factory=list)


class ReasonIn(BaseModel):
    """Why something is done."""

    model_config = ConfigDict(extra="forbid")
    reason: str = ""


class SplitIn(BaseModel):
    """The second spill of a report. `facts`: what is otherwise for it, null for unknown; `keep`: what is to be amended of the first;
    `acts`: places of those events of the first that were about the second, too; `location`: where it is, else the same place."""

    model_config = ConfigDict(extra="forbid")
    reason: str = ""
    description: str = ""
    facts: dict[str, JsonValue] = Field(default_factory=dict)
    keep: dict[str, JsonValue] = Field(default_factory=dict)
    acts: list[int] = Field(default_factory=list)
    location: dict[str, JsonValue] = Field(default_factory=dict)
    source: str = STAFF


class ReferralIn(BaseModel):
    """Which agency was asked to deal with it, whom there, how, when (empty is now), what they were given, and why it is theirs."""

    model_config = ConfigDict(extra="forbid")
    agency: str = ""
    contact: str = ""
    how: str = ""
    sent: str = ""
    because: str = ""
    at: str = ""


class OfficerIn(BaseModel):
    """Who is in charge, by e-mail address; empty is nobody."""

    model_config = ConfigDict(extra="forbid")
    officer: str


class CauseIn(BaseModel):
    """The cause of a spill: a word of the list, or nothing for not known; `source` says by whom it is known."""

    model_config = ConfigDict(extra="forbid")
    cause: str
    note: str = ""
    source: str = STAFF


@router.post("/spills/{reference}/merge")
async def merge(request: Request, reference: str) -> dict[str, Any]:
    """Merge a report into the spill that it tells of, too. Said again, it changes nothing.

    409 names each clock of the report that would stop without a counterpart: take over the fact it hangs on, or name it in `drop`.
    """
    staff = await signed_in(request)
    given = await read_body(request, MergerIn)
    async with transaction(house_of(request), staff.email) as tx:
        other = await spill_for(tx, staff, reference, "officer")
        kept = await spill_for(tx, staff, given.into, "officer")
        await merging.merge(tx, kept, other, given.reason, take=given.take, drop=given.drop)
        return await _standing(tx, other)


@router.post("/spills/{reference}/unmerge")
async def unmerge(request: Request, reference: str) -> dict[str, Any]:
    """Take a merged report apart again. Its clocks run on from where they began. Said again, it changes nothing."""
    staff = await signed_in(request)
    given = await read_body(request, ReasonIn)
    async with transaction(house_of(request), staff.email) as tx:
        other = await spill_for(tx, staff, reference, "officer")
        await merging.unmerge(tx, other, given.reason)
        return await _standing(tx, other)


@router.post("/spills/{reference}/split", status_code=201)
async def split(request: Request, response: Response, reference: str) -> dict[str, Any]:
    """Make the second spill that a report tells of one of its own. `Idempotency-Key` is honoured."""
    staff = await signed_in(request)
    given = await read_body(request, SplitIn)
    async with transaction(house_of(request), staff.email) as tx:
        origin = await spill_for(tx, staff, reference, "officer")
        part = splitting.Part(**given.model_dump(), once=request.headers.get("idempotency-key", ""))
        second = await splitting.split(tx, origin, part)
        response.headers["Location"] = f"/api/v1/spills/{second.reference}"
        return await _standing(tx, second)


@router.post("/spills/{reference}/referrals", status_code=201)
async def refer(request: Request, reference: str) -> dict[str, Any]:
    """Record that another agency was asked to deal with it. No clock ends by it: what the law asks of the city stays with the city."""
    staff = await signed_in(request)
    given = await read_body(request, ReferralIn)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        await referrals.refer(tx, spill, referrals.Referral(**given.model_dump()))
        return await _standing(tx, spill)


@router.put("/spills/{reference}/officer")
async def put_in_charge(request: Request, reference: str) -> dict[str, Any]:
    """Put a member of staff in charge, or nobody. Whom the alerts go to is settled by the rotas, not by this."""
    staff = await signed_in(request)
    given = await read_body(request, OfficerIn)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        await assigning.assign(tx, spill, given.officer)
        return await _standing(tx, spill)


@router.put("/spills/{reference}/cause")
async def find_cause(request: Request, reference: str) -> dict[str, Any]:
    """Record why it came to the spill, or that this is not known after all."""
    staff = await signed_in(request)
    given = await read_body(request, CauseIn)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        await causes.find_cause(tx, spill, given.cause, given.note, given.source)
        return await _standing(tx, spill)


async def _standing(tx: Transaction, spill: Spill) -> dict[str, Any]:
    return {"reference": spill.reference, **await whole_json(tx, spill, await tx.history(spill))}


async def whole_json(tx: Transaction, spill: Spill, history: History) -> dict[str, Any]:
    """How a spill stands as a whole. `counts`: the moments that count for the law, the earliest that any merged report knows."""
    facts = (await counted(tx, spill)).facts
    return {
        "merged_into": (await head_of(tx, spill)).reference if spill.merged_into is not None else None,
        "merged": [report.reference for report in await merged_here(tx, spill)],
        "counts": {key: facts[key] for key in EARLIEST if key in facts},
        "split_from": next((event.origin for _, event in history if isinstance(event, SplitOff)), None),
        "split_into": [event.part for _, event in history if isinstance(event, SpillSplit)],
        "referrals": [
            {**event.model_dump(), "at": as_z(row.happened_at), "by": row.actor} for row, event in referrals.referrals_in(list(history))
        ],
        "officer": spill.officer,
        "cause": spill.cause or None,
    }


def sources_json(history: History) -> dict[str, dict[str, str | None]]:
    """By whom each fact is known, how sure that is, who recorded it and when."""
    return {
        key: {"source": one.source, "certainty": one.certainty, "by": one.actor, "at": as_z(one.at)}
        for key, one in sources_of(history).items()
    }
