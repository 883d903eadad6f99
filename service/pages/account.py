"""One's own account: password, second step, sessions, keys for programs, and what was done with it."""

from __future__ import annotations

import io
from collections.abc import Sequence

import segno
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from service import account_letters, accounts, api_keys, passkeys, provider_sign_in, second_factor, signing_in, staff_log, turnstile
from service.access import SCOPES, Staff, account_of
from service.errors import BadInput, Conflict, NotAllowed
from service.lockout import Locked
from service.pages.entrance import SESSION_COOKIE, StaffRoute, device_of, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.passwords import SHORTEST
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff/account", include_in_schema=False, route_class=StaffRoute)
_HERE = "/staff/account"
SCOPE_WORDS = {
    "read": "Read spills, clocks and calendars",
    "report": "Report spills",
    "act": "Do what an officer does, and read",
    "manage": "Do what a manager does, act and read",
}
CANNOT = (BadInput, NotAllowed, Conflict, Locked)
Cannot = BadInput | NotAllowed | Conflict | Locked


@router.get("")
async def account_page(request: Request) -> Response:
    """The account of whoever is signed in."""
    return await page(request, await signed_in(request))


async def page(request: Request, staff: Staff, error: Cannot | None = None, typed: Fields | None = None, key: str = "") -> Response:
    """The account of somebody, with what is wrong, or with a key that was just made."""
    house = house_of(request)
    async with reading(house) as tx:
        account = await account_of(tx, staff.email)
        link = await provider_sign_in.link_of(tx, account)
        own_passkeys = await passkeys.of_account(tx, account)
        sessions, keys = await accounts.sessions_of(tx, account), await api_keys.of_account(tx, account)
        left, actions = await second_factor.codes_left(tx, account), await staff_log.actions_about(tx, account.id or 0, 30)
    faults: Sequence[str] = (error.faults or [str(error)]) if error else ()
    return staff_page(
        request, "account.html", error.status if error else 200, staff=staff, zone=zone_of(house, staff.city), account=account,
        roles=role_words(request, staff.roles), is_on=second_factor.is_on(account), codes_left=left, sessions=sessions, keys=keys,
        scopes={scope: SCOPE_WORDS[scope] for scope in SCOPES}, lifetimes=api_keys.LIFETIMES, shortest=SHORTEST, faults=faults,
        cities={city: city_name(house, city) for city in house.cities if staff.may_see(city)}, key=key, typed=typed or Fields(),
        passkeys=own_passkeys, provider_link=link, makes_passkeys=passkeys.are_offered(house.settings), device=device_of(request).name,
        first_administrator=accounts.FIRST_ADMINISTRATOR, actions=actions, kinds=staff_log.KINDS, done=request.query_params.get("done", ""),
    )  # fmt: skip


def role_words(request: Request, roles: accounts.Roles) -> list[tuple[str, str]]:
    """Roles in words: the city, or every city, and the role there."""
    house = house_of(request)
    known = house.rulebook.cities
    return [("Every city" if city is None else city_name(house, city) if city in known else city, role) for city, role in roles.items()]


async def confirmed(request: Request, staff: Staff, fields: Fields) -> None:
    """Whoever sits here is who signed in. Raises NotAllowed, Locked."""
    await signing_in.confirm(house_of(request), staff, fields.values.get("current", [""])[-1], device_of(request))


def back(done: str) -> Response:
    """Back to the page, which says what was done."""
    return RedirectResponse(f"{_HERE}?done={done}", 303)


@router.post("/password", dependencies=[Depends(turnstile.at("link"))])
async def set_password(request: Request) -> Response:
    """Set the password; every other session ends."""
    staff, fields = await signed_in(request), await read_fields(request)
    password, again = (fields.values.get(name, [""])[-1] for name in ("password", "again"))
    try:
        if password != again:
            raise BadInput("not the same", ["The two passwords are not the same; right would be: the same one twice"])
        await confirmed(request, staff, fields)
        await accounts.set_password(house_of(request), staff, password)
    except CANNOT as error:
        return await page(request, staff, error)
    return back("password")


@router.post("/second-step/begin", dependencies=[Depends(turnstile.at("link"))])
async def begin_second_step(request: Request) -> Response:
    """Make a key for the authenticator app."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        await confirmed(request, staff, fields)
        async with transaction(house_of(request), staff.email) as tx:
            await second_factor.begin(tx, await account_of(tx, staff.email))
    except CANNOT as error:
        return await page(request, staff, error)
    return RedirectResponse(f"{_HERE}/second-step", 303)


@router.get("/second-step")
async def second_step_page(request: Request) -> Response:
    """The key for the app, until the app has shown that it has it."""
    return await _second_step_page(request, await signed_in(request))


async def _second_step_page(request: Request, staff: Staff, error: BadInput | None = None) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        account = await account_of(tx, staff.email)
    if second_factor.is_on(account) or not account.totp_seed:
        return RedirectResponse(_HERE, 303)
    key, address = second_factor.app_key(house, account), second_factor.app_address(house, account)
    return staff_page(
        request, "account_second_step.html", error.status if error else 200, staff=staff, faults=error.faults if error else (),
        key=" ".join(key[at : at + 4] for at in range(0, len(key), 4)), address=address, picture=_picture(address),
    )  # fmt: skip


def _picture(address: str) -> Markup:
    """A QR code as SVG, drawn here: the key is shown to no other site."""
    drawn = io.BytesIO()
    segno.make(address, error="m", micro=False).save(
        drawn, kind="svg", scale=5, border=4, xmldecl=False, svgns=True, light="#fff", svgclass=None, lineclass=None, nl=False
    )
    return Markup(drawn.getvalue().decode())  # noqa: S704 - drawn by segno, nothing in it is as it was typed


@router.post("/second-step/on", dependencies=[Depends(turnstile.at("link"))])
async def second_step_on(request: Request) -> Response:
    """Switch the second step on with a first code; the recovery codes are shown this once."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            account = await account_of(tx, staff.email)
            codes = await second_factor.switch_on(tx, account, fields.text("code"))
            await account_letters.notice(tx, account, "From now on a code of your authenticator app is asked for when you sign in.")
    except BadInput as error:
        return await _second_step_page(request, staff, error)
    return staff_page(request, "account_codes.html", staff=staff, codes=codes)


@router.post("/second-step/off", dependencies=[Depends(turnstile.at("link"))])
async def second_step_off(request: Request) -> Response:
    """Ask for no code any more."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        await confirmed(request, staff, fields)
        async with transaction(house_of(request), staff.email) as tx:
            account = await account_of(tx, staff.email)
            await second_factor.switch_off(tx, account)
            await account_letters.notice(tx, account, "No code is asked for any more when you sign in.")
    except CANNOT as error:
        return await page(request, staff, error)
    return back("second-step-off")


@router.post("/recovery-codes", dependencies=[Depends(turnstile.at("link"))])
async def new_recovery_codes(request: Request) -> Response:
    """New recovery codes in place of the old ones, shown this once."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        await confirmed(request, staff, fields)
        async with transaction(house_of(request), staff.email) as tx:
            account = await account_of(tx, staff.email)
            if not second_factor.is_on(account):
                raise Conflict("the second step is off")
            codes = await second_factor.new_recovery_codes(tx, account)
    except CANNOT as error:
        return await page(request, staff, error)
    return staff_page(request, "account_codes.html", staff=staff, codes=codes)


@router.post("/sessions/{number}/end")
async def end_session(request: Request, number: int) -> Response:
    """Sign one device out."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await accounts.end_session(tx, await account_of(tx, staff.email), number)
    return back("session-ended")


@router.post("/sign-out-everywhere")
async def sign_out_everywhere(request: Request) -> Response:
    """Sign every device out, this one too."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await accounts.sign_out_everywhere(tx, await account_of(tx, staff.email))
    response = RedirectResponse("/staff/sign-in", 303)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response


@router.post("/keys", dependencies=[Depends(turnstile.at("link"))])
async def make_key(request: Request) -> Response:
    """Make a key for a program; it is shown this once."""
    staff, fields = await signed_in(request), await read_fields(request)
    days = fields.text("days")
    try:
        await confirmed(request, staff, fields)
        async with transaction(house_of(request), staff.email) as tx:
            lasts = int(days) if days.isascii() and days.isdecimal() and len(days) < 5 else None if days == "never" else 0
            key, _ = await api_keys.make(tx, staff, fields.text("name"), fields.all("scope"), fields.text("city") or None, lasts)
    except CANNOT as error:
        return await page(request, staff, error, fields)
    return await page(request, staff, key=key)


@router.post("/keys/{number}/revoke")
async def revoke_key(request: Request, number: int) -> Response:
    """Let a key be worth nothing from now on."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        await api_keys.revoke(tx, await account_of(tx, staff.email), number)
    return back("key-revoked")
