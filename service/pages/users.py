"""Who has an account in the cities of an administrator: the list, the invitation, and one account with its roles and what was done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from service import account_letters, accounts, api_keys, passkeys, provider_sign_in, second_factor, staff_log, turnstile
from service.access import ROLES, Staff
from service.errors import BadInput, Conflict, NotAllowed, NotKnown
from service.pages.account import role_words
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields, read_fields
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.transaction import reading, transaction

router = APIRouter(prefix="/staff/users", include_in_schema=False, route_class=StaffRoute)
_EVERYWHERE = "role.everywhere"
_ON_ONE_PAGE, _LARGEST = 100, 2**31 - 1


@router.get("")
async def users_page(request: Request) -> Response:
    """The accounts, those that have ended last."""
    return await _list_page(request, await signed_in(request))


async def _list_page(request: Request, staff: Staff, error: BadInput | NotAllowed | None = None, typed: Fields | None = None) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        found = await accounts.listed(tx, staff)
    return staff_page(
        request, "users.html", error.status if error else 200, staff=staff, zone=zone_of(house, staff.city), typed=typed or Fields(),
        faults=(error.faults or [str(error)]) if error else (), roles=ROLES, **_places(request, staff), everywhere=_EVERYWHERE,
        chosen=_roles(typed or Fields()),
        found=[{"one": one, "roles": role_words(request, one.roles), "second_step": second_factor.is_on(one.account)} for one in found],
        done=request.query_params.get("done", ""),
    )  # fmt: skip


def _places(request: Request, staff: Staff) -> dict[str, Any]:
    """Where an administrator may give roles."""
    house, mine = house_of(request), staff.administers
    cities = [city for city in house.cities if mine is None or city in mine]
    return {"all_cities": mine is None, "cities": {city: city_name(house, city) for city in cities}}


def _roles(fields: Fields) -> dict[str | None, str]:
    """The roles that were chosen, by city."""
    given = {name: fields.text(name) for name in fields.values if name.startswith("role.") and fields.text(name)}
    return {None if name == _EVERYWHERE else name.removeprefix("role."): role for name, role in given.items()}


@router.post("", dependencies=[Depends(turnstile.at("link"))])
async def invite(request: Request) -> Response:
    """Add an account and mail its owner an invitation."""
    staff, fields = await signed_in(request), await read_fields(request)
    accounts.require_administrator(staff)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await accounts.invite(tx, staff, fields.text("email"), fields.text("name"), _roles(fields))
    except BadInput as error:
        return await _list_page(request, staff, error, fields)
    return RedirectResponse("/staff/users?done=invited", 303)


@router.get("/log")
async def log_page(request: Request) -> Response:
    """What staff did, a page at a time: `who` is the address of one person, `before` the number of an action."""
    staff, asked = await signed_in(request), request.query_params
    before = int(asked["before"]) if asked.get("before", "").isascii() and asked.get("before", "").isdecimal() else 0
    house, who = house_of(request), asked.get("who", "").strip().lower()[:320].replace("\0", "")
    async with reading(house) as tx:
        found = await accounts.done(tx, staff, who, min(before, _LARGEST), _ON_ONE_PAGE + 1)
    return staff_page(
        request, "staff_log.html", staff=staff, zone=zone_of(house, staff.city), found=found[:_ON_ONE_PAGE], who=who, kinds=staff_log.KINDS,
        older=found[_ON_ONE_PAGE - 1][0].id if len(found) > _ON_ONE_PAGE else None, before=before,
    )  # fmt: skip


@router.get("/{number}")
async def user_page(request: Request, number: int) -> Response:
    """One account."""
    return await _page(request, await signed_in(request), number)


async def _page(request: Request, staff: Staff, number: int, error: BadInput | NotAllowed | Conflict | None = None) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        found = await accounts.one(tx, staff, number)
        account = found.account
        keys = await api_keys.of_account(tx, account) if found.is_whole else []
        sessions = await accounts.sessions_of(tx, account) if found.is_whole else []
        actions = await staff_log.actions_about(tx, number) if found.is_whole else []
        theirs = await passkeys.of_account(tx, account) if found.is_whole else []
        link = await provider_sign_in.link_of(tx, account) if found.is_whole else None
        letters = await account_letters.letters_to(tx, account) if found.is_whole else []
    faults: Sequence[str] = (error.faults or [str(error)]) if error else ()
    return staff_page(
        request, "user.html", error.status if error else 200, staff=staff, zone=zone_of(house, staff.city), one=found, account=account,
        held=found.roles, roles=ROLES, role_words=role_words(request, found.roles), is_on=second_factor.is_on(account), faults=faults,
        sessions=sessions, keys=keys, passkeys=theirs, provider_link=link, letters=letters, actions=actions,
        kinds=staff_log.KINDS, everywhere=_EVERYWHERE, **_places(request, staff), done=request.query_params.get("done", ""),
    )  # fmt: skip


@router.post("/{number}/roles")
async def change_roles(request: Request, number: int) -> Response:
    """Change what somebody may do where."""
    staff, fields = await signed_in(request), await read_fields(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            await accounts.change_roles(tx, staff, number, _roles(fields))
            gone = staff.administers is not None and not _roles(fields)
    except (BadInput, Conflict) as error:
        return await _page(request, staff, number, error)
    return RedirectResponse("/staff/users?done=roles" if gone else f"/staff/users/{number}?done=roles", 303)


@router.post("/{number}/invite")
async def invite_again(request: Request, number: int) -> Response:
    """Mail a new invitation to somebody who has not come in yet; the one before is worth nothing."""
    staff = await signed_in(request)
    try:
        async with transaction(house_of(request), staff.email) as tx:
            account = (await accounts.one(tx, staff, number)).account
            await accounts.invite_again(tx, staff, account)
    except Conflict as error:
        return await _page(request, staff, number, error)
    return RedirectResponse(f"/staff/users/{number}?done=invited", 303)


@router.post("/{number}/keys/{key}/revoke")
async def revoke_key(request: Request, number: int, key: int) -> Response:
    """Let a key of somebody be worth nothing from now on."""
    staff = await signed_in(request)
    async with transaction(house_of(request), staff.email) as tx:
        account = await accounts.whole(tx, staff, number)
        await api_keys.revoke(tx, account, key)
    return RedirectResponse(f"/staff/users/{number}?done=key-revoked", 303)


_CHANGES = {
    "end": (accounts.end, "Your account was ended."),
    "restore": (accounts.restore, "Your account was restored. Have a link mailed to you to sign in."),
    "second-step-off": (accounts.take_off_second_step, "No code is asked for any more when you sign in, and every device was signed out."),
    "passkeys-off": (accounts.remove_passkeys, "Your passkeys open nothing any more, and every device was signed out."),
    "provider-off": (accounts.forget_provider, "The identity provider may name you anew, and every device was signed out."),
    "sign-out": (accounts.sign_out_of, "Every device was signed out."),
}


@router.post("/{number}/{change}")
async def change(request: Request, number: int, change: str) -> Response:
    """End or restore an account, take off what signs it in beside the password, or sign it out everywhere; its owner is told by mail."""
    staff = await signed_in(request)
    if change not in _CHANGES:
        raise NotKnown(f"nothing is called {change[:40]}")
    make, told = _CHANGES[change]
    try:
        async with transaction(house_of(request), staff.email) as tx:
            account = await make(tx, staff, number)
            await account_letters.notice(tx, account, f"{told} This was done by {staff.email}.")
    except Conflict as error:
        return await _page(request, staff, number, error)
    return RedirectResponse(f"/staff/users/{number}?done={change}", 303)
