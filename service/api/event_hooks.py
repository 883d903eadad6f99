"""Webhooks: which systems are sent the events of a city. For administrators; the secret is in an answer once."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from deadlines import read_moment
from service import event_hooks
from service.api.callers import house_of, read_body, signed_in
from service.door_tables import EventHook
from service.errors import BadInput
from service.event_hooks import Delivery
from service.transaction import Transaction, reading, transaction

router = APIRouter(prefix="/webhooks", tags=["webhooks"])
_MOST_DELIVERIES = 200


class WebhookIn(BaseModel):
    """A system, its https address, and which kinds of events it is sent; without any it is sent all."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {
        "city": "chino", "name": "Work orders", "address": "https://hooks.example.gov/spills", "kinds": ["report:received"],
    }})  # fmt: skip
    city: str
    name: str
    address: str
    kinds: list[str] = []


class WebhookChange(BaseModel):
    """What is to change; what is left out stays. `paused`: false sends again, from where it stopped."""

    model_config = ConfigDict(extra="forbid")
    name: str | None = None
    address: str | None = None
    kinds: list[str] | None = None
    paused: bool | None = None


class WebhookOut(WebhookIn):
    """A webhook as it stands. `waiting` counts the events it has yet to be sent; `paused_why` is empty unless it is paused."""

    model_config = ConfigDict(json_schema_extra={})
    id: int
    made_by: str
    made_at: dt.datetime
    paused_at: dt.datetime | None
    paused_why: str
    waiting: int


class WebhookWithSecret(WebhookOut):
    """The same with the secret that signatures are checked by. It is told this once."""

    secret: str = Field(description="whsec_ and 32 bytes in base64, as Standard Webhooks has it.")


class Stretch(BaseModel):
    """A stretch of time, both ends included, as times with their offset."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {
        "since": "2026-12-01T00:00:00-08:00", "until": "2026-12-02T00:00:00-08:00",
    }})  # fmt: skip
    since: str
    until: str


class SentAgain(BaseModel):
    """How many records of the city lie in the stretch; those of the kinds that the webhook is sent are sent again."""

    records: int


class DeliveryOut(BaseModel):
    """One message: its webhook-id, the kind of its event, how far it came, and what was answered to its last try."""

    webhook_id: str
    state: str = Field(description="waiting, sending, accepted, refused, gave_up, cancelled")
    promised_at: dt.datetime
    tries: int
    next_at: dt.datetime | None
    tried_at: dt.datetime | None
    answer: str


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no staff token"}, 403: {"description": "not an administrator of the city, or a key without the scope manage"},
    404: {"description": "no such webhook in a city of yours"}, 409: {"description": "it is paused, or a stretch is being sent already"},
    422: {"description": "it cannot be kept so; `errors` says what would be right"},
}  # fmt: skip


def _body(shape: type[BaseModel]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": shape.model_json_schema()}}}}


def _problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: _PROBLEMS[code] for code in codes}


@router.get("", responses=_problems(401, 403))
async def list_webhooks(request: Request, city: str = "") -> list[WebhookOut]:
    """The webhooks of the cities that you administer, or of one."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        return [await _out(tx, hook) for hook in await event_hooks.of_city(tx, staff, city or None)]


@router.post("", status_code=201, openapi_extra=_body(WebhookIn), responses=_problems(401, 403, 422))
async def add_webhook(request: Request) -> WebhookWithSecret:
    """Send a system the events of a city from now on, each signed. `docs/open-doors.md` says how to check the signature."""
    staff = await signed_in(request)
    given = await read_body(request, WebhookIn)
    async with transaction(house_of(request), staff.email) as tx:
        hook, secret = await event_hooks.add(tx, staff, given.city, given.name, given.address, given.kinds)
        return await _with_secret(tx, hook, secret)


@router.get("/{number}", responses=_problems(401, 404))
async def one_webhook(request: Request, number: int) -> WebhookOut:
    """One webhook."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        return await _out(tx, await event_hooks.one_of(tx, staff, number))


@router.patch("/{number}", openapi_extra=_body(WebhookChange), responses=_problems(401, 404, 422))
async def change_webhook(request: Request, number: int) -> WebhookOut:
    """Change its name, address or kinds; pause it, or send again from where it stopped."""
    staff = await signed_in(request)
    given = await read_body(request, WebhookChange)
    async with transaction(house_of(request), staff.email) as tx:
        hook = await event_hooks.one_of(tx, staff, number)
        if (given.name, given.address, given.kinds) != (None, None, None):
            kinds = hook.kinds if given.kinds is None else given.kinds
            await event_hooks.change(tx, hook, given.name or hook.name, given.address or hook.address, kinds)
        if given.paused:
            await event_hooks.pause(tx, hook, f"by {staff.email}")
        elif given.paused is False and hook.paused_at is not None:
            await event_hooks.resume(tx, hook)
        return await _out(tx, hook)


@router.delete("/{number}", status_code=204, responses=_problems(401, 404))
async def end_webhook(request: Request, number: int) -> Response:
    """Send it nothing any more, for good."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await event_hooks.end(tx, await event_hooks.one_of(tx, staff, number))
    return Response(status_code=204)


@router.post("/{number}/secret", responses=_problems(401, 404))
async def renew_secret(request: Request, number: int) -> WebhookWithSecret:
    """Give it a new secret. For 24 hours messages carry the signatures of both."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        hook = await event_hooks.one_of(tx, staff, number)
        return await _with_secret(tx, hook, await event_hooks.renew(tx, hook))


@router.post("/{number}/test", status_code=202, responses=_problems(401, 404, 409))
async def test_webhook(request: Request, number: int) -> Response:
    """Send a message of the type `test`, which tells of nothing."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await event_hooks.send_test(tx, await event_hooks.one_of(tx, staff, number))
    return Response(status_code=202)


@router.post("/{number}/again", status_code=202, openapi_extra=_body(Stretch), responses=_problems(401, 404, 409, 422))
async def send_again(request: Request, number: int) -> SentAgain:
    """Send once more what was recorded in a stretch of time, under the same webhook-ids."""
    staff = await signed_in(request)
    given = await read_body(request, Stretch)
    since, until = _moment("since", given.since), _moment("until", given.until)
    async with transaction(house_of(request), staff.email) as tx:
        return SentAgain(records=await event_hooks.send_again(tx, await event_hooks.one_of(tx, staff, number), since, until))


@router.get("/{number}/deliveries", responses=_problems(401, 404))
async def deliveries(request: Request, number: int) -> list[DeliveryOut]:
    """The last 200 messages, the newest first, each with its last try. What was taken is kept for 30 days."""
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        hook = await event_hooks.one_of(tx, staff, number)
        return [_delivery(one) for one in await event_hooks.deliveries(tx, hook, _MOST_DELIVERIES)]


def _moment(key: str, text: str) -> dt.datetime:
    try:
        return read_moment(text, ZoneInfo("UTC"))
    except (ValueError, OverflowError):
        raise BadInput("the stretch has faults", [f"{key}: {text[:60]!r} is no time; right would be: 2026-12-01T08:00:00-08:00"]) from None


async def _out(tx: Transaction, hook: EventHook) -> WebhookOut:
    return WebhookOut(
        id=hook.id or 0, city=hook.city, name=hook.name, address=hook.address, kinds=hook.kinds, made_by=hook.made_by, made_at=hook.made_at,
        paused_at=hook.paused_at, paused_why=hook.paused_why, waiting=await event_hooks.waits(tx, hook),
    )  # fmt: skip


async def _with_secret(tx: Transaction, hook: EventHook, secret: str) -> WebhookWithSecret:
    return WebhookWithSecret(**(await _out(tx, hook)).model_dump(), secret=secret)


def _delivery(one: Delivery) -> DeliveryOut:
    row, tried = one.message, one.tried
    return DeliveryOut(
        webhook_id=row.subject, state=row.state, promised_at=row.promised_at, tries=row.tries, next_at=row.next_at,
        tried_at=tried.started_at if tried else None, answer=tried.detail if tried else "",
    )  # fmt: skip
