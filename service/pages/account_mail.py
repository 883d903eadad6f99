"""The letters about accounts: links that work once, and notices of what was changed. Sent at once, after the page was."""

from __future__ import annotations

import logging
import uuid

from fastapi import Request

from notifiers import Channel, Message, Outcome
from service.accounts import mailed_link
from service.pages.rendering import house_of, now_of
from service.transaction import transaction

log = logging.getLogger(__name__)

_NOT_YOU = (
    "If this was not you, sign in, choose Account, set a new password and sign out everywhere; or ask the person who manages accounts."
)


async def mail(request: Request, to: str, subject: str, text: str) -> None:
    """Send one letter. What fails is logged, without the text, which may hold a link."""
    channel: Channel | None = getattr(request.app.state, "channels", {}).get("email")
    if channel is None:
        log.error("no e-mail channel: '%s' cannot be sent", subject)
        return
    message = Message(
        key=uuid.uuid4().hex, channel="email", to=to, subject=subject, text=text, spill=None, duty=None, step=None, at=now_of(request)
    )
    receipt = await channel.send(message)
    if receipt.outcome is not Outcome.ACCEPTED:
        log.error("'%s' was not accepted: %s", subject, receipt.detail)


async def mail_link_to_sign_in(request: Request, email: str, wanted: str) -> None:
    """Make a link and mail it where the address has an account; else do nothing that anybody could see."""
    says = "To sign in to Spillclock, open this link and press the button:"
    await _mail_link(request, email, "link", "Your link to sign in", says, wanted)


async def mail_link_to_recover(request: Request, email: str) -> None:
    """The same for a new password."""
    says = "To set a new password for Spillclock, open this link:"
    await _mail_link(request, email, "recover", "Your link to set a new password", says, "")


async def _mail_link(request: Request, email: str, purpose: str, subject: str, says: str, wanted: str) -> None:
    house = house_of(request)
    async with transaction(house, "sign-in") as tx:
        made = await mailed_link(tx, email, purpose)
    if made is None:
        log.info("a link was asked for an address without an account, or with too many links under way")
        return
    account, token = made
    link = f"{house.settings.public_url}/staff/{'enter' if purpose == 'link' else 'password'}/{token}"
    link += f"?next={wanted}" if wanted not in ("", "/staff") else ""
    await mail(
        request, account.email, subject, f"{says}\n\n{link}\n\nIt works once, for 30 minutes. If you did not ask for it, do nothing.\n"
    )


async def mail_invitation(request: Request, to: str, token: str, by: str) -> None:
    """Invite somebody who has got an account."""
    link = f"{house_of(request).settings.public_url}/staff/password/{token}"
    text = (
        f"{by} has added you to Spillclock, where your city keeps its spill reports and their legal deadlines.\n\n"
        f"To begin, open this link and press the button:\n\n{link}\n\n"
        "It works once, for 7 days. If you do not know what this is about, do nothing.\n"
    )
    await mail(request, to, "You are invited to Spillclock", text)


async def mail_notice(request: Request, to: str, what: str) -> None:
    """Tell somebody what was changed about their account. `what` is a sentence."""
    await mail(request, to, "Your Spillclock account was changed", f"{what}\n\n{_NOT_YOU}\n")
