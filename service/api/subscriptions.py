"""Subscriptions of staff: who hears what, when and how. One's own; administrators see and change those of their city."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict

from service import subscriptions
from service.api.callers import house_of, json_object, signed_in
from service.subscriptions import given_of
from service.tables import Account, Subscription
from service.transaction import reading, transaction

router = APIRouter(prefix="/subscriptions", tags=["subscriptions"])


class SubscriptionIn(BaseModel):
    """What somebody wants to hear. What is left out is as wide as it can be; an empty list asks for all."""

    model_config = ConfigDict(json_schema_extra={"example": {
        "channel": "email", "pace": "daily", "at": "07:00", "stages": ["overdue", "closed"], "materials": ["sewage"],
        "at_least_gallons": 1000, "area": {"lat": 34.01, "lon": -117.69, "metres": 2000},
    }})  # fmt: skip
    channel: Literal["email", "sms"] = "email"
    address: str | None = None
    language: Literal["en", "es"] = "en"
    pace: Literal["at_once", "hourly", "daily"] = "at_once"
    at: str = "07:00"
    zone: str | None = None
    cities: list[str] = []
    materials: list[str] = []
    at_least_gallons: float | None = None
    stages: list[Literal["new", "clock_started", "due_soon", "overdue", "met", "amended", "closed"]] = []
    area: dict[str, Any] | None = None
    paused: bool = False


class SubscriptionOut(SubscriptionIn):
    """A subscription as it stands. `account` is whose it is; `next_digest_at` is null where nothing is planned."""

    model_config = ConfigDict(json_schema_extra={})
    id: int
    account: str
    created_at: dt.datetime
    next_digest_at: dt.datetime | None


_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": SubscriptionIn.model_json_schema()}}},
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no staff token"},
    404: {"description": "no such subscription of yours, or of your city"},
    422: {"description": "it cannot be kept so; `errors` says for each key what would be right"},
}


@router.get("", responses={401: _PROBLEMS[401]})
async def list_subscriptions(
    request: Request, everyones: Annotated[bool, Query(description="for administrators: those of everybody in their city")] = False
) -> list[SubscriptionOut]:
    """Your subscriptions that have not ended."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        return [_out(row, account) for row, account in await subscriptions.listed(tx, staff, everyones=everyones)]


@router.get("/{number}", responses={code: _PROBLEMS[code] for code in (401, 404)})
async def one_subscription(request: Request, number: int) -> SubscriptionOut:
    """One subscription."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        return _out(*await subscriptions.one(tx, staff, number))


@router.post("", status_code=201, openapi_extra=_BODY, responses={code: _PROBLEMS[code] for code in (401, 422)})
async def subscribe(request: Request) -> SubscriptionOut:
    """Subscribe yourself. Without an address messages go to that of your account."""
    staff = await signed_in(request)
    given = await json_object(request)
    async with transaction(house_of(request), staff.email) as tx:
        row = await subscriptions.add(tx, staff, given)
        return _out(*await subscriptions.one(tx, staff, row.id or 0))


@router.patch("/{number}", openapi_extra=_BODY, responses=_PROBLEMS)
async def change_subscription(request: Request, number: int) -> SubscriptionOut:
    """Change the keys that are given; `paused` holds it until you say otherwise."""
    staff = await signed_in(request)
    given = await json_object(request)
    async with transaction(house_of(request), staff.email) as tx:
        await subscriptions.change(tx, staff, number, given)
        return _out(*await subscriptions.one(tx, staff, number))


@router.delete("/{number}", status_code=204, responses={code: _PROBLEMS[code] for code in (401, 404)})
async def end_subscription(request: Request, number: int) -> Response:
    """End a subscription."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await subscriptions.end(tx, staff, number)
    return Response(status_code=204)


def _out(row: Subscription, account: Account) -> SubscriptionOut:
    return SubscriptionOut(
        id=row.id or 0, account=account.email, created_at=row.created_at, next_digest_at=row.next_digest_at, **given_of(row)
    )
