"""What a link in a mail leads to, without signing in: see or escalate an alert, end a subscription. Opening one changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from service import acting, public_alerts, turnstile
from service.errors import NotKnown
from service.links import key_of_token
from service.pages.fields import read_fields
from service.pages.rendering import house_of, page
from service.parties import respond_url, staff_url
from service.receipts import Heard, message_of, note
from service.tables import MessageRow, Spill, Subscription
from service.transaction import Transaction, reading, transaction

router = APIRouter(include_in_schema=False)
_NOT_VALID = "this link is not valid; ask for a new one"
_ANSWERS = ("seen", "told", "nobody", "closed")


@dataclass(frozen=True)
class _Alert:
    """A message about a duty, with its spill, and whether anything in it is still to be done."""

    message: MessageRow
    spill: Spill
    is_open: bool
    is_escalated: bool
    link: str


async def _alert(tx: Transaction, token: str) -> _Alert:
    """The alert that a link leads to. Raises NotKnown for any token that is not exactly right."""
    key = key_of_token(tx.house, "act", token)
    message = await message_of(tx, key) if key else None
    if message is None or message.obligation_id is None or message.spill_id is None:
        raise NotKnown(_NOT_VALID)
    spill = await tx.session.get_one(Spill, message.spill_id)
    link = respond_url(tx.house, spill) if message.role == "discharger" else staff_url(tx.house, spill)
    is_open = bool(await acting.open_duties_of(tx, message))
    return _Alert(message, spill, is_open, await acting.was_escalated(tx, spill, message), link)


@router.api_route("/act/{token}", methods=["GET", "HEAD"])
async def act_page(request: Request, token: str) -> Response:
    """The alert, with a button for each thing that can be done about it here. Programs that open links do nothing by it."""
    async with reading(house_of(request)) as tx:
        alert = await _alert(tx, token)
    done = request.query_params.get("done", "")
    return page(
        request, "act.html", language=alert.message.language, alert=alert, token=token, done=done if done in _ANSWERS else "",
    )  # fmt: skip


@router.post("/act/{token}", dependencies=[Depends(turnstile.at("link"))])
async def act(request: Request, token: str) -> Response:
    """Do what a button says. Pressed twice it is done once."""
    house, fields = house_of(request), await read_fields(request)
    async with reading(house) as tx:
        person = (await _alert(tx, token)).message.person
    async with transaction(house, f"{person} (link in a mail)") as tx:
        alert = await _alert(tx, token)
        done = await _do(tx, alert, fields.text("do"))
    return RedirectResponse(f"/act/{token}?done={done}" if done else f"/act/{token}", 303)


async def _do(tx: Transaction, alert: _Alert, wanted: str) -> str:
    if not alert.is_open:
        return "closed"
    if wanted not in ("seen", "escalate"):
        return ""
    await note(tx, alert.message, Heard("read", "page", f"pressed: {wanted}"))
    if wanted == "seen":
        await acting.see(tx, alert.spill, alert.message)
        return "seen"
    if alert.is_escalated:
        return "told"
    return "told" if await acting.escalate(tx, alert.spill, alert.message) else "nobody"


async def _subscription(tx: Transaction, token: str) -> Subscription:
    key = key_of_token(tx.house, "unsubscribe", token)
    message = await message_of(tx, key) if key else None
    if message is None or message.subscription_id is None:
        raise NotKnown(_NOT_VALID)
    return await tx.session.get_one(Subscription, message.subscription_id)


@router.api_route("/unsubscribe/{token}", methods=["GET", "HEAD"])
async def unsubscribe_page(request: Request, token: str) -> Response:
    """One button that ends the subscription; opening the page does not."""
    async with reading(house_of(request)) as tx:
        subscription = await _subscription(tx, token)
        ended = await public_alerts.is_ended(tx, subscription)
    return page(request, "unsubscribe.html", language=subscription.language, token=token, ended=ended, address=subscription.address)


@router.post("/unsubscribe/{token}")
async def unsubscribe(request: Request, token: str) -> Response:
    """End a subscription, by the button or by a mail program's one click (RFC 8058). Doing it again changes nothing."""
    async with transaction(house_of(request), "subscriber") as tx:
        subscription = await _subscription(tx, token)
        await public_alerts.end(tx, subscription, "unsubscribed by a link in a mail")
    ended = page(request, "unsubscribe.html", language=subscription.language, token=token, ended=True, address=subscription.address)
    return ended
