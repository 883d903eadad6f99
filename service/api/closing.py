"""The end of a spill: closing with a reason, opening again, and telling the reporter what action was taken."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from deadlines import as_z
from service import closing, following
from service.access import spill_for
from service.api.callers import house_of, read_body, signed_in
from service.transaction import transaction

router = APIRouter(tags=["closing"])


class PublicWords(BaseModel):
    """Words for whoever reported the spill, in English, and in Spanish where the reporter reads it. They hold no names."""

    model_config = ConfigDict(extra="forbid")
    reason: str = ""
    reason_es: str = ""

    def by_language(self) -> dict[str, str]:
        """The words by language."""
        return {"en": self.reason, "es": self.reason_es}


class ClosingIn(PublicWords):
    """Why a spill is closed. `left_open`: the ids of clocks that stay open with their alerts; naming any takes a manager."""

    left_open: list[int] = Field(default_factory=list)


class Standing(BaseModel):
    """How a spill stands after it. `left_open`: the ids of clocks that stay open."""

    reference: str
    closed: bool
    at: str
    left_open: list[int] = []


@router.post("/spills/{reference}/close")
async def close(request: Request, reference: str) -> Standing:
    """Close a spill. The reporter is told why, and by which office. 409 names every open duty that is not in `left_open`."""
    staff = await signed_in(request)
    given = await read_body(request, ClosingIn)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference)
        staff.require("manager" if given.left_open else "officer", spill.city)
        await closing.close(tx, spill, given.by_language(), staff.office(spill.city), given.left_open)
        standing = closing.closed_in(await tx.history(spill))
    return Standing(reference=reference, closed=True, at=as_z(tx.now) or "", left_open=standing[1].left_open if standing else [])


@router.post("/spills/{reference}/reopen")
async def reopen(request: Request, reference: str) -> Standing:
    """Open a closed spill again. The reporter is told why. 409 where it is open."""
    staff = await signed_in(request)
    given = await read_body(request, PublicWords)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        await closing.reopen(tx, spill, given.by_language(), staff.office(spill.city))
    return Standing(reference=reference, closed=False, at=as_z(tx.now) or "")


@router.post("/spills/{reference}/answers", status_code=201)
async def answer(request: Request, reference: str) -> dict[str, Any]:
    """Tell the reporter what action was taken: on their page, and at the address they left."""
    staff = await signed_in(request)
    given = await read_body(request, PublicWords)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        await following.answer(tx, spill, given.by_language(), staff.office(spill.city))
        told = list(following.reporter_of(tx, spill).addresses)
    return {"reference": reference, "at": as_z(tx.now), "told_by": ["page", *told]}
