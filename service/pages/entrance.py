"""Who is signed in on a page: the session cookie, and the way to sign in and back for everybody else."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute

from service import turnstile
from service.access import SESSION_LASTS, Device, Staff, spill_for, staff_now, staff_of
from service.errors import NotSignedIn
from service.pages.rendering import house_of, is_secure
from service.tables import Spill
from service.transaction import Transaction, reading, transaction
from service.watch import providers_down

SESSION_COOKIE = "spillclock_session"
_OWN_PAGE = re.compile(
    r"/staff(/settings(/check|/import|/webhooks(/[0-9]{1,9})?)?|/packs|/retention|/ladders(/[a-z0-9-]{1,60})?|/contacts(/[a-z0-9-]{1,60})?|/map|/wall|/numbers|/spills/[A-Za-z0-9-]{1,24}(/advisory|/retention|/certificate|/redact|/papers(/[a-z0-9_-]{1,80})?)?|/quantities|/replies|/suppressions|/subscriptions|/account(/calendars)?|/users(/[0-9]{1,9}|/log)?|/calendars(/[a-z0-9-]{1,60})?|/templates(/[a-z0-9-]{1,60}(/[a-z_]{1,20}){0,3})?)?"
)


class StaffRoute(APIRoute):
    """A route of the console: whoever is not signed in is led to do so, and from there back to the page they wanted."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the way to the sign-in page."""
        handle = super().get_route_handler()

        async def led(request: Request) -> Response:
            try:
                if request.method == "GET" and request.cookies.get(SESSION_COOKIE):
                    async with reading(house_of(request)) as tx:
                        request.state.down = await providers_down(tx)
                return await handle(request)
            except NotSignedIn:
                wanted = _OWN_PAGE.match(request.url.path)
                return RedirectResponse(f"/staff/sign-in?next={wanted[0] if wanted else '/staff'}", 303)

        return led


@asynccontextmanager
async def working_on(request: Request, staff: Staff, reference: str, role: str) -> AsyncIterator[tuple[Transaction, Spill]]:
    """A transaction in a person's own name on a spill they may work on. Raises NotKnown, and NotAllowed below `role`."""
    async with transaction(house_of(request), staff.email) as tx:
        yield tx, await spill_for(tx, staff, reference, role)


async def signed_in(request: Request) -> Staff:
    """The member of staff whose session the browser holds. Raises NotSignedIn."""
    token = request.cookies.get(SESSION_COOKIE)
    if not token:
        raise NotSignedIn("no session")
    return await staff_now(house_of(request), token, "session")


async def watching(request: Request) -> Staff:
    """The same for a page that asks by itself, again and again: nobody has used the session by that. Raises NotSignedIn."""
    token = request.cookies.get(SESSION_COOKIE)
    if not token:
        raise NotSignedIn("no session")
    async with reading(house_of(request)) as tx:
        return await staff_of(tx, token, "session")


# As browsers name themselves; those that name several are told by the first that fits.
_BROWSERS = {
    "Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "FxiOS": "Firefox", "CriOS": "Chrome", "Chrome": "Chrome", "Safari": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Windows": "Windows", "Mac OS X": "Mac", "CrOS": "Chromebook",
    "Linux": "Linux",
}  # fmt: skip


def device_of(request: Request) -> Device:
    """What a request comes from, in words that its owner knows again: Firefox on Windows, and the network it is in."""
    said = request.headers.get("user-agent", "")[:400]
    browser = next((name for mark, name in _BROWSERS.items() if f"{mark}/" in said), "Another browser")
    system = next((name for mark, name in _SYSTEMS.items() if mark in said), "")
    return Device(f"{browser} on {system}" if system else browser, turnstile.sender_of(request))


def next_page(wanted: str) -> str:
    """The page to go on to after signing in: one of the console, never another site's."""
    return wanted if _OWN_PAGE.fullmatch(wanted) else "/staff"


def admitted(request: Request, session: str, wanted: str) -> Response:
    """The answer that sets a session and goes on to the page that was wanted."""
    response = RedirectResponse(next_page(wanted), 303)
    response.set_cookie(
        SESSION_COOKIE, session, max_age=int(SESSION_LASTS.total_seconds()), path="/", httponly=True, samesite="lax",
        secure=is_secure(house_of(request)),
    )  # fmt: skip
    return response
