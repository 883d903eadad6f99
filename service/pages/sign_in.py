"""Signing in and out: by password or by a mailed link, then by a code where one is asked for; and setting a password by a mailed link.

A link works once, and only by a button: programs that follow links in mails use nothing up. No answer tells who has an account.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.background import BackgroundTask

from service import accounts, passkeys, provider_sign_in, signing_in, turnstile
from service.access import close_session, valid
from service.errors import BadInput, NotSignedIn
from service.lockout import Locked
from service.pages.entrance import SESSION_COOKIE, admitted, device_of, next_page
from service.pages.fields import read_fields
from service.pages.rendering import house_of, is_secure, staff_page
from service.passwords import SHORTEST
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff", include_in_schema=False)
# Holds the first step until the code is there; sent to the pages of signing in alone.
_HALF_COOKIE, _HALF_PATH = "spillclock_half", "/staff/sign-in"
_NOT_A_PAIR = "The address and the password do not fit together. Try again, or have a link mailed to you."
_NO_TOKEN = "This token is not valid, used up or out of date. Ask for a new link, or for a new token."  # noqa: S105 - words, no token


@router.get("/sign-in")
async def sign_in_form(request: Request) -> Response:
    """Ask for an e-mail address and a password, or for a token that was given by hand."""
    return form(request, next_page(request.query_params.get("next", "")))


def form(
    request: Request, wanted: str, problem: str = "", status: int = 200, email: str = "", mailing: BackgroundTask | None = None
) -> Response:
    """The page to sign in on, with what is wrong. `mailing` runs once it is sent."""
    settings = house_of(request).settings
    return staff_page(
        request, "sign_in.html", status, wanted=wanted, sent=mailing is not None, problem=problem, email=email, after=mailing,
        passkeys=passkeys.are_offered(settings), provider=settings.oidc_called if provider_sign_in.is_offered(settings) else "",
    )  # fmt: skip


@router.post("/sign-in", dependencies=[Depends(turnstile.at("sign-in"))])
async def sign_in(request: Request) -> Response:
    """Take a password, a token, or mail a link. The answer to an address is the same whether or not it has an account."""
    fields = await read_fields(request)
    wanted, email = next_page(fields.text("next")), fields.text("email")
    if fields.text("token"):
        return await _by_token(request, fields.text("token"), wanted)
    if not email:
        return form(request, wanted, "Enter your e-mail address, or a token.", 422)
    password = fields.values.get("password", [""])[-1]  # with the space around it, if there is any
    by = fields.text("by") or ("password" if password else "link")
    if by != "password":
        mailing = BackgroundTask(accounts.mail_link, house_of(request), email, "link", wanted)
        return form(request, wanted, mailing=mailing)
    if not password:
        return form(request, wanted, "Enter your password, or have a link mailed to you.", 422, email)
    try:
        entered = await signing_in.by_password(house_of(request), email, password, device_of(request), session_of(request))
    except NotSignedIn:
        return form(request, wanted, _NOT_A_PAIR, 401, email)
    except Locked as error:
        response = form(request, wanted, _wait(error), 429, email)
        response.headers["Retry-After"] = str(error.retry_after)
        return response
    return go_on(request, entered, wanted)


def _wait(error: Locked) -> str:
    minutes = -(-(error.retry_after or 1) // 60)
    return f"Too many tries failed. Try again in {minutes} {'minute' if minutes == 1 else 'minutes'}, or have a link mailed to you."


def session_of(request: Request) -> str:
    """The session that the browser holds, whoever's it is, or nothing."""
    return request.cookies.get(SESSION_COOKIE, "")


def go_on(request: Request, entered: signing_in.Entered, wanted: str) -> Response:
    """In, or on to the code."""
    if not entered.asks_code:
        response = admitted(request, entered.token, wanted)
        response.delete_cookie(_HALF_COOKIE, path=_HALF_PATH)
        return response
    response = RedirectResponse("/staff/sign-in/code" + (f"?next={wanted}" if wanted != "/staff" else ""), 303)
    response.set_cookie(
        _HALF_COOKIE, entered.token, max_age=int(signing_in.HALF_LASTS.total_seconds()), path=_HALF_PATH, httponly=True, samesite="lax",
        secure=is_secure(house_of(request)),
    )  # fmt: skip
    return response


async def _by_token(request: Request, token: str, wanted: str) -> Response:
    by = signing_in.by_link if token.startswith("sc_link_") else signing_in.by_token
    try:
        entered = await by(house_of(request), token, device_of(request), session_of(request))
    except NotSignedIn:
        return form(request, wanted, _NO_TOKEN, 401)
    return go_on(request, entered, wanted)


@router.get("/sign-in/code")
async def code_page(request: Request) -> Response:
    """Ask for the code of the app; without the first step, begin with that."""
    wanted = next_page(request.query_params.get("next", ""))
    try:
        async with reading(house_of(request)) as tx:
            await valid(tx, request.cookies.get(_HALF_COOKIE, ""), "half")
    except NotSignedIn:
        return RedirectResponse("/staff/sign-in", 303)
    return staff_page(request, "sign_in_code.html", wanted=wanted, problem="")


@router.post("/sign-in/code", dependencies=[Depends(turnstile.at("link"))])
async def take_code(request: Request) -> Response:
    """Take the code and open the session."""
    fields = await read_fields(request)
    wanted, half = next_page(fields.text("next")), request.cookies.get(_HALF_COOKIE, "")
    try:
        entered = await signing_in.by_code(house_of(request), half, fields.text("code"), device_of(request), session_of(request))
    except NotSignedIn:
        return form(request, wanted, "That took too long. Begin again.", 401)
    except BadInput as error:
        return staff_page(request, "sign_in_code.html", 422, wanted=wanted, problem=error.faults[0])
    except Locked as error:
        response = staff_page(request, "sign_in_code.html", 429, wanted=wanted, problem=_wait(error).partition(", or")[0] + ".")
        response.headers["Retry-After"] = str(error.retry_after)
        return response
    return go_on(request, entered, wanted)


@router.get("/enter/{token}")
async def enter_page(request: Request, token: str) -> Response:
    """One button; nothing is used up by looking."""
    return staff_page(request, "enter.html", token=token, wanted=next_page(request.query_params.get("next", "")))


@router.post("/enter/{token}", dependencies=[Depends(turnstile.at("link"))])
async def enter(request: Request, token: str) -> Response:
    """Use the link and open a session."""
    fields = await read_fields(request)
    return await _by_token(request, token if token.startswith("sc_link_") else "", next_page(fields.text("next")))


@router.get("/recover")
async def recover_form(request: Request) -> Response:
    """Ask for the address of somebody who has forgotten the password."""
    return staff_page(request, "recover.html", sent=False, problem="")


@router.post("/recover", dependencies=[Depends(turnstile.at("sign-in"))])
async def recover(request: Request) -> Response:
    """Mail a link to set a new password. The answer is the same whether or not the address has an account."""
    email = (await read_fields(request)).text("email")
    if not email:
        return staff_page(request, "recover.html", 422, sent=False, problem="Enter your e-mail address.")
    mailing = BackgroundTask(accounts.mail_link, house_of(request), email, "recover")
    return staff_page(request, "recover.html", sent=True, problem="", after=mailing)


@router.get("/password/{token}")
async def password_page(request: Request, token: str) -> Response:
    """The form of an invitation, or of somebody who has forgotten the password; nothing is used up by looking."""
    return await _password_page(request, token)


async def _password_page(request: Request, token: str, problem: str = "", status: int = 200) -> Response:
    try:
        async with reading(house_of(request)) as tx:
            account, purpose = await accounts.owner_of(tx, token)
    except NotSignedIn:
        return form(request, "/staff", "This link is not valid, used up or out of date. Ask for a new one.", 401)
    return staff_page(
        request, "set_password.html", status, token=token, email=account.email, purpose=purpose, problem=problem, shortest=SHORTEST
    )


@router.post("/password/{token}", dependencies=[Depends(turnstile.at("link"))])
async def set_password(request: Request, token: str) -> Response:
    """Use the link: set the password, and sign in. An invitation may do without a password."""
    fields = await read_fields(request)
    password, again = (fields.values.get(name, [""])[-1] for name in ("password", "again"))
    if password != again:
        return await _password_page(request, token, "The two passwords are not the same. Type the same one twice.", 422)
    house = house_of(request)
    try:
        account = await accounts.set_by_link(house, token, password)
        async with transaction(house, account.email) as tx:
            entered = await signing_in.admit(tx, account, device_of(request), "mailed link", session_of(request))
    except BadInput as error:
        return await _password_page(request, token, error.faults[0], 422)
    except NotSignedIn:
        return form(request, "/staff", "This link is not valid, used up or out of date. Ask for a new one.", 401)
    return go_on(request, entered, "/staff/account")


@router.post("/sign-out")
async def sign_out(request: Request) -> Response:
    """End the session."""
    if session_of(request):
        async with transaction(house_of(request), "sign-out") as tx:
            await close_session(tx, session_of(request))
    response = RedirectResponse("/staff/sign-in", 303)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response
