"""Handing a spill on to the Open311 system of its city."""

from __future__ import annotations

import datetime as dt
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from service import forwarding
from service.access import spill_for
from service.api.callers import house_of, read_body, signed_in
from service.door_tables import ForwardedSpill
from service.transaction import reading, transaction

router = APIRouter(tags=["spills"])


class ForwardIn(BaseModel):
    """What the 311 is told, in plain words that name nobody; left out, what facts say that tell of nobody. The place goes along."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"description": "Sewage from a manhole, into the storm drain."}}
    )
    description: str = ""


class ForwardOut(BaseModel):
    """One handing on: `state`: waiting, sent, closed; refused, unclear (it may have arrived), given_up; `status` is theirs."""

    state: str
    made_at: dt.datetime
    made_by: str
    description: str
    service_request_id: str = Field(description="What it is known by there; empty until it is.")
    status: str
    status_notes: str
    problem: str


_RESPONSES: dict[int | str, dict[str, Any]] = {
    403: {"description": "not an officer of the city"}, 404: {"description": "no such spill"},
    409: {"description": "it is on its way already, or there"}, 422: {"description": "no Open311 system is set, or no words or place"},
}  # fmt: skip
_BODY: dict[str, Any] = {"requestBody": {"content": {"application/json": {"schema": ForwardIn.model_json_schema()}}}}


@router.post("/spills/{reference}/forward", status_code=202, openapi_extra=_BODY, responses=_RESPONSES)
async def forward_spill(request: Request, reference: str) -> ForwardOut:
    """Hand a spill on to the city's 311 (`SPILLCLOCK_OPEN311_FORWARD`). It goes out within a minute; its news is asked for every 15."""
    staff = await signed_in(request)
    given = await read_body(request, ForwardIn)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        return _out(await forwarding.forward(tx, spill, given.description or forwarding.first_words(spill)))


@router.get("/spills/{reference}/forward", responses={404: _RESPONSES[404]})
async def forwarded(request: Request, reference: str) -> list[ForwardOut]:
    """How often it was handed on, the newest first, and what became of it."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        return [_out(row) for row in await forwarding.of_spill(tx, await spill_for(tx, staff, reference))]


def _out(row: ForwardedSpill) -> ForwardOut:
    return ForwardOut(
        state=row.state, made_at=row.made_at, made_by=row.made_by, description=row.words, service_request_id=row.number, status=row.status,
        status_notes=row.notes, problem=row.problem,
    )  # fmt: skip
