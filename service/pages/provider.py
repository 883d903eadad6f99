"""Signing in at the city's identity provider: the way there by a button, and the way back.

Coming back changes nothing by itself: the page that the provider leads to carries its answer on by a form, which scripts send at once.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from service import provider_sign_in, turnstile
from service.errors import Conflict, NotSignedIn
from service.identity_provider import ProviderDown
from service.pages import sign_in
from service.pages.entrance import device_of, next_page
from service.pages.fields import read_fields
from service.pages.rendering import house_of, is_secure, staff_page
from service.round_trips import LASTS

router = APIRouter(prefix="/staff/sign-in/provider", include_in_schema=False)
_COOKIE = "spillclock_provider"
# What a provider answers with (OpenID Connect Core, 3.1.2.5 and 3.1.2.6; RFC 9207). Codes and states are far shorter than this.
_ANSWERS, _LONGEST = ("state", "code", "iss", "error"), 4_000


@router.post("", dependencies=[Depends(turnstile.at("sign-in"))])
async def go_there(request: Request) -> Response:
    """Lead the browser to the provider. By a page of ours: a form may only be sent to this site."""
    house, wanted = house_of(request), next_page((await read_fields(request)).text("next"))
    try:
        begun, address = await provider_sign_in.begin(house, wanted)
    except (ProviderDown, Conflict) as error:
        return _cannot(request, error, wanted)
    response = staff_page(request, "sign_in_provider.html", called=house.settings.oidc_called, address=address, answer=None)
    response.set_cookie(
        _COOKIE, begun.secret, max_age=int(LASTS.total_seconds()), path=router.prefix, httponly=True, samesite="lax",
        secure=is_secure(house),
    )  # fmt: skip
    return response


def _cannot(request: Request, error: ProviderDown | Conflict | NotSignedIn, wanted: str) -> Response:
    """The sign-in page with what is wrong, and every other way on it."""
    called, words = house_of(request).settings.oidc_called, str(error)
    if isinstance(error, ProviderDown):
        words = f"{called} cannot be reached, or does not answer as it should: {words}. Sign in another way, or try again later"
    return sign_in.form(request, wanted, f"{words[:1].upper()}{words[1:]}.", error.status)


@router.get("/answer")
async def answer_page(request: Request) -> Response:
    """Carry the provider's answer on; nothing is used up by looking."""
    answer = {name: request.query_params.get(name, "")[:_LONGEST] for name in _ANSWERS}
    return staff_page(request, "sign_in_provider.html", called=house_of(request).settings.oidc_called, address="", answer=answer)


@router.post("/answer", dependencies=[Depends(turnstile.at("link"))])
async def take_answer(request: Request) -> Response:
    """Take the provider's answer and open a session, or go on to the second step."""
    fields, secret = await read_fields(request), request.cookies.get(_COOKIE, "")
    answer = {name: fields.text(name)[:_LONGEST] for name in _ANSWERS}
    try:
        entered, wanted = await provider_sign_in.end(house_of(request), secret, answer, device_of(request), sign_in.session_of(request))
    except (NotSignedIn, ProviderDown, Conflict) as error:
        return _cannot(request, error, "/staff")
    response = sign_in.go_on(request, entered, next_page(wanted))
    response.delete_cookie(_COOKIE, path=router.prefix)
    return response
