"""An identity provider that answers as a test wants it to, rightly or wrong. It is asked without a network."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from service.settings import Settings

ISSUER, CLIENT, SECRET = "https://login.city.example", "spill clock", "s: %cret"
SETTINGS: dict[str, Any] = {"oidc_issuer": ISSUER, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET, "oidc_name": "City login"}


def settings_of(before: Settings, **given: Any) -> Settings:
    """Settings with those of a provider."""
    names = {name for name in Settings.model_fields if name.startswith("oidc_")}
    return before.model_copy(update=Settings(**given).model_dump(include=names))


def _text(given: bytes) -> str:
    return base64.urlsafe_b64encode(given).decode().rstrip("=")


@dataclass
class OddProvider:
    """What it says of itself (`metadata`) and of somebody (`claims`, `userinfo`), its key, what goes wrong (`breaks`, by path)."""

    now: int
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    key: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256", auto_kid=True))
    signs_with: Any = None
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "ES256"})
    breaks: dict[str, httpx.Response | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    # The sign-in that a browser was sent here with, by its code.
    begun: dict[str, dict[str, str]] = field(default_factory=dict)

    def sees(self, address: str) -> dict[str, str]:
        """Somebody comes with a browser and signs in. Returns what the browser is sent back with."""
        assert address.startswith(f"{ISSUER}/authorize?"), address
        asked = dict(parse_qsl(urlsplit(address).query))
        assert (asked["response_type"], asked["client_id"], asked["code_challenge_method"]) == ("code", CLIENT, "S256")
        code = f"code-{len(self.begun)}"
        self.begun[code] = asked
        return {"code": code, "state": asked["state"]}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of the service."""
        path = request.url.path
        self.asked.append(path)
        if wrong := self.breaks.get(path):
            if isinstance(wrong, Exception):
                raise wrong
            return wrong
        match path:
            case "/.well-known/openid-configuration":
                return httpx.Response(200, json=self._metadata())
            case "/keys":
                return httpx.Response(200, json=KeySet([self.key]).as_dict())
            case "/userinfo":
                assert request.headers["authorization"] == "Bearer an access token"
                return httpx.Response(200, json={"sub": "u-1", **self.userinfo})
            case "/token":
                return self._tokens(request)
        return httpx.Response(404)

    def _metadata(self) -> dict[str, Any]:
        said = {
            "issuer": ISSUER, "authorization_endpoint": f"{ISSUER}/authorize", "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys", "userinfo_endpoint": f"{ISSUER}/userinfo", **self.metadata,
        }  # fmt: skip
        return {name: value for name, value in said.items() if value is not None}

    def _tokens(self, request: httpx.Request) -> httpx.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        begun = self.begun.pop(form["code"], None)
        challenge = _text(hashlib.sha256(form["code_verifier"].encode()).digest())
        if begun is None or challenge != begun["code_challenge"] or form["redirect_uri"] != begun["redirect_uri"]:
            return httpx.Response(400, json={"error": "invalid_grant"})
        if not self._knows(request, form):
            return httpx.Response(401, json={"error": "invalid_client"})
        claims = {
            "iss": ISSUER, "sub": "u-1", "aud": CLIENT, "iat": self.now, "exp": self.now + 300, "nonce": begun["nonce"], **self.claims,
        }  # fmt: skip
        token = self._signed({name: value for name, value in claims.items() if value is not None})
        return httpx.Response(200, json={"access_token": "an access token", "token_type": "Bearer", "id_token": token})

    def _knows(self, request: httpx.Request, form: Mapping[str, str]) -> bool:
        basic = f"Basic {base64.b64encode(b'spill+clock:s%3A+%25cret').decode()}"
        if "client_secret_post" in self.metadata.get("token_endpoint_auth_methods_supported", ()):
            return form.get("client_secret") == SECRET and "authorization" not in request.headers
        return request.headers.get("authorization") == basic

    def _signed(self, claims: Mapping[str, Any]) -> str:
        if self.header["alg"] in ("none", "HS256"):  # which the library would not sign with
            head = f"{_text(json.dumps(self.header).encode())}.{_text(json.dumps(claims).encode())}"
            by_public_key = hmac.new(self.key.as_pem(private=False), head.encode(), hashlib.sha256).digest()
            return f"{head}.{'' if self.header['alg'] == 'none' else _text(by_public_key)}"
        header = {"kid": self.key.kid, **self.header}
        key = self.signs_with or self.key
        return jwt.encode({name: value for name, value in header.items() if value}, dict(claims), key, algorithms=[self.header["alg"]])
