"""Talks with the city's identity provider (OpenID Connect, code flow with PKCE): where to send a browser, and whom its answer is about.

Nothing is remembered between sign-ins: what the provider says of itself and its keys are asked for each time, so that a change there counts
at once. Every address it names has to be https, as its own; no redirect is followed. Needs the extra `oidc`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib.util
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx

from service.errors import NotSignedIn, SpillclockError
from service.provider_settings import is_loopback, is_web_address
from service.round_trips import Begun
from service.settings import Settings
from service.transaction import House

log = logging.getLogger(__name__)

ANSWER_PATH = "/staff/sign-in/provider/answer"
_EXTRA = "pip install 'spillclock[oidc]'"
_PURPOSE = "provider"
_TIMEOUT = httpx.Timeout(10.0, connect=5.0)
_LONGEST_ANSWER = 1_000_000
# What a provider signs with; neither `none` nor a secret that both know (RFC 8725, 3.1 and 3.2).
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
_SAYS_NO = ("access_denied", "login_required", "interaction_required", "consent_required")
_LEEWAY_SECONDS = 60
_LONGEST_SUBJECT = 255


class ProviderDown(SpillclockError):
    """The identity provider does not answer as it should. Other ways of signing in go on."""

    status = 503
    title = "The identity provider cannot be reached"


@dataclass(frozen=True, slots=True)
class Known:
    """Whom the provider says somebody is: its own word for them, their address and whether that is verified, how they proved it."""

    subject: str
    email: str
    is_verified: bool
    name: str
    is_both_steps: bool


def why_not(settings: Settings) -> str:
    """Why nobody can sign in at a provider, and what would be right; empty where people can."""
    if not settings.oidc_issuer:
        return "none is set; right would be: SPILLCLOCK_OIDC_ISSUER and SPILLCLOCK_OIDC_CLIENT_ID"
    return "" if _is_installed() else f"the extra is not installed; {_EXTRA}"


@cache
def _is_installed() -> bool:
    return importlib.util.find_spec("authlib") is not None


def redirect_uri(settings: Settings) -> str:
    """Where the provider sends browsers back to; it has to know this address beforehand."""
    return f"{settings.public_url}{ANSWER_PATH}"


async def address_to_sign_in(house: House, begun: Begun) -> str:
    """Where a browser is sent to sign in. Raises ProviderDown."""
    settings = house.settings
    async with _connection() as http:
        metadata = await _metadata(http, settings)
    asked = {
        "response_type": "code", "client_id": settings.oidc_client_id, "redirect_uri": redirect_uri(settings),
        "scope": "openid email profile", "state": _text(begun.derived(house, "state")), "nonce": _text(begun.derived(house, "nonce")),
        "code_challenge": _text(hashlib.sha256(_verifier(house, begun).encode()).digest()), "code_challenge_method": "S256",
    }  # fmt: skip
    address = metadata["authorization_endpoint"]
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(asked)}"


def is_answer_to(house: House, begun_secret: str, state: str) -> bool:
    """Whether an answer was asked for by the browser that holds this secret. Nothing is used up."""
    return hmac.compare_digest(_text(Begun(begun_secret).derived(house, "state")).encode(), state.encode("utf-8", "replace"))


def refusal(settings: Settings, error: str) -> NotSignedIn:
    """What is said where the provider answers with an error. None of its words: whoever made the link may have chosen them."""
    log.info("the identity provider answered %r", error[:40])
    said_no = "did not let you in" if error in _SAYS_NO else "could not sign you in just now"
    return NotSignedIn(f"{settings.oidc_called} {said_no}")


async def known_by(house: House, begun: Begun, answer: Mapping[str, str]) -> Known:
    """Whom the provider's answer is about: its code is exchanged, and what it signed is checked.

    Raises NotSignedIn with a sentence for whoever signs in, where the provider refused or its word does not hold; ProviderDown.
    """
    settings = house.settings
    if error := answer.get("error", ""):
        raise refusal(settings, error)
    async with _connection() as http:
        metadata = await _metadata(http, settings)
        _check_issuer_of_answer(metadata, settings, answer)
        token = await _exchange(http, metadata, house, begun, answer.get("code", ""))
        keys = await _object(http, "GET", _endpoint(metadata, settings, "jwks_uri"))
        claims = _checked(house, begun, token, keys)
        if settings.oidc_email_claim not in claims and "userinfo_endpoint" in metadata:
            claims = {**await _userinfo(http, metadata, settings, token, claims["sub"]), **claims}
    return _known(settings, claims)


async def examine(settings: Settings) -> str:
    """What the provider says of itself, for `doctor`: its issuer, in words. Raises ProviderDown."""
    async with _connection() as http:
        metadata = await _metadata(http, settings)
        await _object(http, "GET", _endpoint(metadata, settings, "jwks_uri"))
    return str(metadata["issuer"])


# -- asking


def _connection() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False, trust_env=False)


async def _metadata(http: httpx.AsyncClient, settings: Settings) -> dict[str, Any]:
    """What the provider says of itself (OpenID Connect Discovery, 4). It has to name itself as we do."""
    found = await _object(http, "GET", f"{settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration")
    if found.get("issuer") != settings.oidc_issuer:
        raise ProviderDown(f"it names itself {str(found.get('issuer'))[:200]!r}, and SPILLCLOCK_OIDC_ISSUER is {settings.oidc_issuer!r}")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        _endpoint(found, settings, name)
    return found


def _endpoint(metadata: Mapping[str, Any], settings: Settings, name: str) -> str:
    address = metadata.get(name)
    on_this_machine = is_loopback(urlsplit(settings.oidc_issuer).hostname or "")
    if not isinstance(address, str) or not is_web_address(address, loopback=on_this_machine):
        raise ProviderDown(f"its {name} is no https address")
    return address


async def _object(http: httpx.AsyncClient, method: str, address: str, **given: Any) -> dict[str, Any]:
    """The JSON object that an address answers with."""
    status, found = await _ask(http, method, address, **given)
    if status != 200 or not isinstance(found, dict):
        raise ProviderDown(f"{urlsplit(address).path} answered {status}, and no JSON object")
    return found


async def _ask(http: httpx.AsyncClient, method: str, address: str, **given: Any) -> tuple[int, Any]:
    """The status and the JSON that an address answers with; None for anything that is no JSON."""
    try:
        async with http.stream(method, address, headers={"Accept": "application/json", **given.pop("headers", {})}, **given) as response:
            taken = bytearray()
            async for part in response.aiter_bytes():
                taken += part
                if len(taken) > _LONGEST_ANSWER:
                    raise ProviderDown(f"{urlsplit(address).path} answered with more than a megabyte")
    except httpx.HTTPError as error:
        raise ProviderDown(f"{urlsplit(address).path} does not answer ({type(error).__name__})") from error
    try:
        return response.status_code, json.loads(taken)
    except (ValueError, RecursionError):
        return response.status_code, None


async def _exchange(http: httpx.AsyncClient, metadata: Mapping[str, Any], house: House, begun: Begun, code: str) -> dict[str, Any]:
    """The tokens for a code (RFC 6749, 4.1.3; RFC 7636, 4.5)."""
    settings = house.settings
    form = {
        "grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri(settings),
        "code_verifier": _verifier(house, begun), "client_id": settings.oidc_client_id,
    }  # fmt: skip
    headers = {}
    methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    if settings.oidc_secret and isinstance(methods, list) and "client_secret_basic" in methods:
        # RFC 6749, 2.3.1: both are encoded as in a form first.
        pair = f"{quote_plus(settings.oidc_client_id)}:{quote_plus(settings.oidc_secret)}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif settings.oidc_secret:
        form["client_secret"] = settings.oidc_secret
    status, found = await _ask(http, "POST", _endpoint(metadata, settings, "token_endpoint"), data=form, headers=headers)
    if status == 200 and isinstance(found, dict) and isinstance(found.get("id_token"), str):
        return found
    why = str(found.get("error", ""))[:40] if isinstance(found, dict) else ""
    log.warning("the identity provider gave no tokens: %s %r", status, why)
    if status < 500 and why == "invalid_grant":  # the code was used before, or is too old
        raise NotSignedIn(f"{settings.oidc_called} does not know this sign-in any more; begin again")
    raise ProviderDown(f"it gave no tokens for the code ({status}{f', {why!r}' if why else ''})")


async def _userinfo(
    http: httpx.AsyncClient, metadata: Mapping[str, Any], settings: Settings, token: Mapping[str, Any], subject: str
) -> dict[str, Any]:
    """What else the provider tells of somebody, where it is about the same one (OpenID Connect Core, 5.3.2)."""
    headers = {"Authorization": f"Bearer {token.get('access_token', '')}"}
    found = await _object(http, "GET", _endpoint(metadata, settings, "userinfo_endpoint"), headers=headers)
    if found.get("sub") != subject:
        raise _untrue(settings, "its userinfo is about somebody else")
    return found


# -- checking


def _check_issuer_of_answer(metadata: Mapping[str, Any], settings: Settings, answer: Mapping[str, str]) -> None:
    """RFC 9207, 2.4: an answer that names another issuer, or none where one was promised, was mixed up by somebody."""
    named = answer.get("iss", "")
    if (named or metadata.get("authorization_response_iss_parameter_supported") is True) and named != settings.oidc_issuer:
        raise _untrue(settings, "the answer came from another issuer")


def _checked(house: House, begun: Begun, token: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """The claims of an ID token: signed by the provider, for us, in answer to this sign-in, not too old (OpenID Connect Core, 3.1.3.7)."""
    from authlib.oidc.core import CodeIDToken
    from joserfc import jwt

    settings = house.settings
    try:
        read = jwt.decode(token["id_token"], _keys_of(keys), algorithms=_ALGORITHMS)
        expected = {
            "iss": {"essential": True, "value": settings.oidc_issuer}, "aud": {"essential": True, "value": settings.oidc_client_id},
        }  # fmt: skip
        params = {
            "nonce": _text(begun.derived(house, "nonce")), "client_id": settings.oidc_client_id, "access_token": token.get("access_token"),
        }  # fmt: skip
        claims = CodeIDToken(read.claims, read.header, expected, params)
        claims.validate(now=_seconds(house.now()), leeway=_LEEWAY_SECONDS)
    except Exception as error:  # whatever the library makes of odd tokens: nobody is let in
        raise _untrue(settings, f"{type(error).__name__}: {error}") from None
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT or "\0" in subject:
        raise _untrue(settings, "its word for somebody is no text of up to 255 characters")
    return dict(claims)


def _keys_of(keys: Mapping[str, Any]) -> Any:
    """The keys of a provider, less those of a kind that is not known here."""
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry, KeySet

    found = []
    for key in keys.get("keys", ()):
        try:
            found.append(JWKRegistry.import_key(key))
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            log.info("the identity provider has a key of a kind that is not known here")
    return KeySet([key for key in found if key.key_type != "oct"])


def _known(settings: Settings, claims: Mapping[str, Any]) -> Known:
    email, verified = claims.get(settings.oidc_email_claim), claims.get("email_verified")
    if not isinstance(email, str) or "@" not in email:
        raise NotSignedIn(f"{settings.oidc_called} tells no e-mail address of you; whoever runs this service can change that")
    methods = claims.get("amr")
    said = {str(one) for one in methods} if isinstance(methods, list) else set()
    name = claims.get("name")
    return Known(
        subject=claims["sub"], email=email, is_verified=settings.oidc_trust_email or verified is True or verified in ("true", "True"),
        name=name if isinstance(name, str) else "", is_both_steps=bool(settings.oidc_both_steps & (said | {str(claims.get("acr"))})),
    )  # fmt: skip


def _untrue(settings: Settings, why: str) -> NotSignedIn:
    log.warning("the word of the identity provider does not hold: %s", why[:300])
    return NotSignedIn(
        f"what {settings.oidc_called} answered does not hold; begin again, and tell whoever runs this service if it stays so"
    )


def _verifier(house: House, begun: Begun) -> str:
    return _text(begun.derived(house, "verifier"))


def _text(given: bytes) -> str:
    return base64.urlsafe_b64encode(given).decode().rstrip("=")


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())
