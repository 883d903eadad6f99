"""Passkeys: made and removed on one's own account, and signed in with. The script asks the device, whose answer comes as a form."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from service import passkeys, turnstile
from service.access import account_of
from service.errors import Conflict, NotSignedIn
from service.pages import account, sign_in
from service.pages.entrance import StaffRoute, device_of, next_page, signed_in
from service.pages.fields import read_fields
from service.pages.rendering import house_of, is_secure
from service.round_trips import LASTS, Begun
from service.transaction import transaction

router = APIRouter(prefix="/staff/account/passkeys", include_in_schema=False, route_class=StaffRoute)
entrance_router = APIRouter(prefix="/staff/sign-in/passkey", include_in_schema=False)
# Holds the secret of what was begun until the device has answered.
_COOKIE = "spillclock_passkey"
_NOT_TAKEN = "The passkey was not taken. Try again, or sign in another way."


def _asking(request: Request, begun: Begun, asked: dict[str, Any], path: str) -> Response:
    """What the script hands to the device."""
    response = JSONResponse(asked, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        _COOKIE, begun.secret, max_age=int(LASTS.total_seconds()), path=path, httponly=True, samesite="strict",
        secure=is_secure(house_of(request)),
    )  # fmt: skip
    return response


def _secret(request: Request) -> str:
    return request.cookies.get(_COOKIE, "")


# -- one's own


@router.post("/begin", dependencies=[Depends(turnstile.at("link"))])
async def begin_to_make(request: Request) -> Response:
    """What a new passkey is asked of the device with, as JSON for the script."""
    staff, fields = await signed_in(request), await read_fields(request)
    await account.confirmed(request, staff, fields)
    async with transaction(house_of(request), staff.email) as tx:
        begun, asked = await passkeys.begin_to_make(tx, staff, fields.text("name"))
    return _asking(request, begun, asked, router.prefix)


@router.post("", dependencies=[Depends(turnstile.at("link"))])
async def make(request: Request) -> Response:
    """Keep the passkey that the device made."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        await passkeys.make(house_of(request), staff, _secret(request), fields.text("answer"))
    except account.CANNOT as error:
        return await account.page(request, staff, error)
    response = account.back("passkey")
    response.delete_cookie(_COOKIE, path=router.prefix)
    return response


@router.post("/{number}/remove", dependencies=[Depends(turnstile.at("link"))])
async def remove(request: Request, number: int) -> Response:
    """Let a passkey open nothing any more."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        await account.confirmed(request, staff, fields)
        async with transaction(house_of(request), staff.email) as tx:
            await passkeys.remove(tx, await account_of(tx, staff.email), number)
    except account.CANNOT as error:
        return await account.page(request, staff, error)
    return account.back("passkey-removed")


# -- signing in


@entrance_router.post("/begin", dependencies=[Depends(turnstile.at("link"))])
async def begin_to_sign_in(request: Request) -> Response:
    """What any passkey for this site is asked of the device with, as JSON for the script. It tells nothing of any account."""
    begun, asked = await passkeys.begin_to_sign_in(house_of(request))
    return _asking(request, begun, asked, entrance_router.prefix)


@entrance_router.post("", dependencies=[Depends(turnstile.at("link"))])
async def sign_in_with(request: Request) -> Response:
    """Take the device's answer and open a session: a passkey is both steps."""
    fields = await read_fields(request)
    wanted = next_page(fields.text("next"))
    try:
        entered = await passkeys.sign_in(
            house_of(request), _secret(request), fields.text("answer"), device_of(request), sign_in.session_of(request)
        )
    except (NotSignedIn, Conflict) as error:
        return sign_in.form(request, wanted, _NOT_TAKEN, error.status)
    response = sign_in.go_on(request, entered, wanted)
    response.delete_cookie(_COOKIE, path=entrance_router.prefix)
    return response
