"""Acknowledging and waiving one clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict

from service import obligations
from service.api.callers import house_of, read_body, signed_in
from service.errors import NotKnown
from service.tables import Obligation, Spill
from service.transaction import Transaction, transaction

router = APIRouter(tags=["clocks"])

# No database numbers its rows beyond this.
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]


class Waiver(BaseModel):
    """Why a duty need not be done."""

    model_config = ConfigDict(extra="forbid")
    reason: str = ""


class Acknowledgement(BaseModel):
    """Whose acknowledgement it is, where it is not the caller's own: a name or address that was told."""

    model_config = ConfigDict(extra="forbid")
    person: str = ""


@router.post("/clocks/{clock_id}/acknowledge")
async def acknowledge(request: Request, clock_id: Number) -> dict[str, Any]:
    """Say that you have seen it. It rests you until the next rung, never the duty."""
    given = Acknowledgement() if not await request.body() else await read_body(request, Acknowledgement)

    async def change(tx: Transaction, row: Obligation, spill: Spill) -> None:
        await obligations.acknowledge(tx, row, spill, given.person.strip() or tx.actor)

    return await _changed(request, clock_id, "officer", change)


@router.post("/clocks/{clock_id}/waive")
async def waive(request: Request, clock_id: Number) -> dict[str, Any]:
    """Decide that the duty need not be done. Needs a reason, which stays on record."""
    given = Waiver() if not await request.body() else await read_body(request, Waiver)

    async def change(tx: Transaction, row: Obligation, spill: Spill) -> None:
        await obligations.waive(tx, row, spill, given.reason)

    return await _changed(request, clock_id, "manager", change)


async def _changed(
    request: Request, clock_id: int, role: str, change: Callable[[Transaction, Obligation, Spill], Awaitable[None]]
) -> dict[str, Any]:
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        row, spill = await obligations.obligation_and_spill(tx, clock_id)
        if not staff.may_see(spill.city):
            raise NotKnown(f"there is no clock {clock_id}")
        staff.require(role, spill.city)
        await change(tx, row, spill)
        return obligations.clock_json(row, tx.now)
