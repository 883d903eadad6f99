"""Replies that nobody could make sense of, and addresses that nothing is sent to: seen, settled and lifted by staff."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from deadlines import as_z
from service import replies, suppressions
from service.api.callers import house_of, read_body, signed_in
from service.tables import Reply, Suppression
from service.transaction import reading, transaction

router = APIRouter(tags=["messages"])


class Lifting(BaseModel):
    """Why messages will be taken at an address again."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"reason": "the mailbox was made anew"}})
    reason: str


@router.get("/replies")
async def waiting_replies(request: Request) -> list[dict[str, Any]]:
    """The replies that wait for a person, the oldest first."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        return [{**_reply(reply), "spill": spill.reference if spill else None} for reply, spill in await replies.unsettled(tx, staff)]


@router.post("/replies/{number}/settle")
async def settle_reply(request: Request, number: int) -> dict[str, Any]:
    """Say that a reply was read and what it needs is done."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        return _reply(await replies.settle(tx, staff, number))


@router.get("/suppressions")
async def suppressed_addresses(request: Request, lifted: bool = False) -> list[dict[str, Any]]:
    """The addresses that nothing is sent to, newest first; with `lifted` those too that are sent to again."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        return [{**_suppression(row), "people": names} for row, names in await suppressions.listed(tx, staff, lifted=lifted)]


@router.post("/suppressions/{number}/lift")
async def lift_suppression(request: Request, number: int) -> dict[str, Any]:
    """Send to an address again, with a reason."""
    staff = await signed_in(request)
    given = await read_body(request, Lifting)
    async with transaction(house_of(request), staff.email) as tx:
        return _suppression(await suppressions.lift(tx, staff, number, given.reason))


def _reply(row: Reply) -> dict[str, Any]:
    return {
        "id": row.id, "channel": row.channel, "from": row.sender, "text": row.text, "meaning": row.meaning, "answer": row.answer,
        "received_at": as_z(row.received_at), "settled_at": as_z(row.settled_at), "settled_by": row.settled_by,
    }  # fmt: skip


def _suppression(row: Suppression) -> dict[str, Any]:
    return {
        "id": row.id, "channel": row.channel, "address": row.address, "reason": row.reason, "detail": row.detail, "since": as_z(row.since),
        "lifted_at": as_z(row.lifted_at), "lifted_by": row.lifted_by,
    }  # fmt: skip
