"""How long records are kept, legal holds, and destroying a record whose time is over, for programs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from deadlines import as_z
from service.access import spill_for
from service.accounts import require_administrator
from service.api.callers import house_of, read_body, signed_in
from service.destruction import Going, destroy_record, would_go
from service.errors import NotKnown
from service.retention import Keeper, Kept, holds_of, kept_until, lift_hold, listed, place_hold
from service.tables import LegalHold, Spill
from service.transaction import reading, transaction

router = APIRouter(tags=["retention"])


class ReasonIn(BaseModel):
    """Why it is done, and who decided it."""

    model_config = ConfigDict(extra="forbid")
    reason: str = ""


class DestructionIn(ReasonIn):
    """Why a record is destroyed. Without `confirm` it is a dry run: nothing is changed, and the answer says what would go."""

    confirm: bool = False


def _keeper(one: Keeper) -> dict[str, Any]:
    return {
        "spill": one.of, "why": one.why, "says": one.says, "until": as_z(one.until), "citation": one.citation or None,
        "duty": one.duty or None, "owed_by": one.owed_by or None,
    }  # fmt: skip


def _kept(kept: Kept) -> dict[str, Any]:
    return {
        "reference": kept.spill.reference, "city": kept.spill.city, "merged": [one.reference for one in kept.members],
        "until": as_z(kept.until), "legal_hold": kept.is_held, "destroyed_at": as_z(kept.spill.destroyed_at),
        "keepers": [_keeper(one) for one in kept.keepers],
    }  # fmt: skip


def _hold(one: LegalHold, names: dict[int | None, str]) -> dict[str, Any]:
    return {
        "id": one.id, "spill": names[one.spill_id], "reason": one.reason, "placed_by": one.placed_by, "placed_at": as_z(one.placed_at),
        "lifted_by": one.lifted_by, "lifted_at": as_z(one.lifted_at), "lifted_why": one.lifted_why or None,
    }  # fmt: skip


@router.get("/retention")
async def all_kept(request: Request) -> dict[str, Any]:
    """The records of an administrator's cities that are past their time or will be within 90 days, and those under a legal hold."""
    staff = await signed_in(request)
    require_administrator(staff)
    async with reading(house_of(request)) as tx:
        return {"items": [_kept(one) for one in await listed(tx, staff.administers)]}


@router.get("/spills/{reference}/retention")
async def one_kept(request: Request, reference: str) -> dict[str, Any]:
    """What keeps the record of a spill and the reports merged with it, until when, and every legal hold. `until` null: no date."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        kept = await kept_until(tx, await spill_for(tx, staff, reference))
        names = {one.id: one.reference for one in (kept.spill, *kept.members)}
        holds = await holds_of(tx, [number or 0 for number in names])
    return {**_kept(kept), "holds": [_hold(one, names) for one in holds]}


@router.post("/spills/{reference}/holds", status_code=201)
async def place(request: Request, reference: str) -> dict[str, Any]:
    """Place a legal hold: nothing of the record, or of reports merged with it, is destroyed until it is lifted. For managers."""
    staff = await signed_in(request)
    given = await read_body(request, ReasonIn)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "manager")
        return _hold(await place_hold(tx, spill, given.reason), {spill.id: spill.reference})


@router.post("/spills/{reference}/holds/{number}/lift")
async def lift(request: Request, reference: str, number: int) -> dict[str, Any]:
    """Lift a legal hold. For administrators."""
    staff = await signed_in(request)
    given = await read_body(request, ReasonIn)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "administrator")
        return _hold(await lift_hold(tx, spill, min(number, 2**31 - 1), given.reason), {spill.id: spill.reference})


@router.post("/spills/{reference}/destruction")
async def destruction(request: Request, reference: str) -> dict[str, Any]:
    """Say what would be destroyed of a record, and with `confirm` destroy it. 409 names everything that keeps it. For administrators."""
    staff, house = await signed_in(request), house_of(request)
    given = await read_body(request, DestructionIn)

    def check(spill: Spill) -> None:
        if not staff.may_see(spill.city):
            raise NotKnown(f"there is no spill {reference}")
        staff.require("administrator", spill.city)

    if given.confirm:
        done = await destroy_record(house, staff.email, reference, given.reason, check)
        return {"reference": reference, "destroyed": True, "reports": [_going(one) for one in done.going], "kept_by": []}
    async with reading(house) as tx:
        spill = await tx.spill(reference)
        check(spill)
        kept = await kept_until(tx, spill)
        going = await would_go(tx, kept)
    return {
        "reference": reference, "destroyed": False, "reports": [_going(one) for one in going],
        "kept_by": [_keeper(one) for one in kept.still(tx.now)],
    }  # fmt: skip


def _going(one: Going) -> dict[str, Any]:
    return {"reference": one.spill.reference, "counts": dict(one.counts)}
