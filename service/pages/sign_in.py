"""Signing in and out. A mailed link works once, and only by a button: programs that follow links in mails use nothing up."""

from __future__ import annotations

import logging
import uuid

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import func, select
from sqlmodel import col
from starlette.background import BackgroundTask

from notifiers import Channel, Message, Outcome
from service import turnstile
from service.access import LINK_LASTS, SESSION_LASTS, account_of, close_session, issue, open_session, staff_of
from service.errors import NotKnown, NotSignedIn
from service.pages.entrance import SESSION_COOKIE, admitted, next_page
from service.pages.fields import read_fields
from service.pages.rendering import house_of, staff_page
from service.tables import Account, Credential
from service.transaction import Transaction, transaction

log = logging.getLogger(__name__)
router = APIRouter(prefix="/staff", include_in_schema=False)
# So many links may be under way to one address; more would only fill a mailbox.
_MOST_LINKS = 5


@router.get("/sign-in")
async def sign_in_form(request: Request) -> Response:
    """Ask for an e-mail address, or for a token that was given by hand."""
    return staff_page(request, "sign_in.html", wanted=next_page(request.query_params.get("next", "")), sent=False, problem="")


@router.post("/sign-in", dependencies=[Depends(turnstile.at("sign-in"))])
async def sign_in(request: Request) -> Response:
    """Mail a link, or take a token. The answer to an address is the same whether or not it has an account."""
    fields = await read_fields(request)
    wanted = next_page(fields.text("next"))
    if fields.text("token"):
        return await _by_token(request, fields.text("token"), wanted)
    email = fields.text("email")
    if not email:
        return staff_page(request, "sign_in.html", 422, wanted=wanted, sent=False, problem="Enter your e-mail address, or a token.")
    mailing = BackgroundTask(_mail_link, request, email, wanted)
    return staff_page(request, "sign_in.html", wanted=wanted, sent=True, problem="", after=mailing)


async def _by_token(request: Request, token: str, wanted: str) -> Response:
    house = house_of(request)
    try:
        async with transaction(house, "sign-in") as tx:
            if token.startswith("sc_link_"):
                session = await open_session(tx, token)
            else:
                staff = await staff_of(tx, token, "api")
                session = await issue(tx, await account_of(tx, staff.email), "session", SESSION_LASTS)
    except NotSignedIn:
        problem = "This token is not valid, used up or out of date. Ask for a new link, or for a new token."
        return staff_page(request, "sign_in.html", 401, wanted=wanted, sent=False, problem=problem)
    return admitted(request, session, wanted)


async def _mail_link(request: Request, email: str, wanted: str) -> None:
    """Make a link and mail it, after the page was sent, so that the time it takes tells nothing."""
    house = house_of(request)
    try:
        async with transaction(house, "sign-in") as tx:
            account = await account_of(tx, email)
            if await _links_under_way(tx, account) >= _MOST_LINKS:
                log.warning("no further sign-in link for account %s: %d were made in the last half hour", account.id, _MOST_LINKS)
                return
            token = await issue(tx, account, "link", LINK_LASTS)
            address, at = account.email, tx.now
    except NotKnown:
        log.info("a sign-in link was asked for an address without an account")
        return
    channel: Channel | None = getattr(request.app.state, "channels", {}).get("email")
    if channel is None:
        log.error("no e-mail channel: the sign-in link cannot be sent")
        return
    link = f"{house.settings.public_url}/staff/enter/{token}" + (f"?next={wanted}" if wanted != "/staff" else "")
    text = (
        f"To sign in to Spillclock, open this link and press the button:\n\n{link}\n\n"
        "It works once, for 30 minutes. If you did not ask for it, do nothing.\n"
    )
    message = Message(
        key=uuid.uuid4().hex,
        channel="email",
        to=address,
        subject="Your link to sign in",
        text=text,
        spill=None,
        duty=None,
        step=None,
        at=at,
    )
    receipt = await channel.send(message)
    if receipt.outcome is not Outcome.ACCEPTED:
        log.error("a sign-in link was not accepted: %s", receipt.detail)


async def _links_under_way(tx: Transaction, account: Account) -> int:
    mine = (col(Credential.account_id) == account.id, col(Credential.purpose) == "link", col(Credential.created_at) > tx.now - LINK_LASTS)
    return await tx.session.scalar(select(func.count()).select_from(Credential).where(*mine)) or 0


@router.get("/enter/{token}")
async def enter_page(request: Request, token: str) -> Response:
    """One button; nothing is used up by looking."""
    return staff_page(request, "enter.html", token=token, wanted=next_page(request.query_params.get("next", "")))


@router.post("/enter/{token}", dependencies=[Depends(turnstile.at("link"))])
async def enter(request: Request, token: str) -> Response:
    """Use the link and open a session."""
    fields = await read_fields(request)
    return await _by_token(request, token, next_page(fields.text("next")))


@router.post("/sign-out")
async def sign_out(request: Request) -> Response:
    """End the session."""
    token = request.cookies.get(SESSION_COOKIE)
    if token:
        async with transaction(house_of(request), "sign-out") as tx:
            await close_session(tx, token)
    response = RedirectResponse("/staff/sign-in", 303)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response
