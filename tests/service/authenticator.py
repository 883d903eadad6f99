"""A security key made of software: it makes passkeys and answers with them as a device does, rightly or as a test wants it wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

SITE = "https://spills.example.gov"
_PRESENT, _VERIFIED, _NEW = 0x01, 0x04, 0x40


def text_of(given: bytes) -> str:
    """Bytes as JSON carries them."""
    return base64.urlsafe_b64encode(given).decode().rstrip("=")


def bytes_of(given: str) -> bytes:
    """And back."""
    return base64.urlsafe_b64decode(given + "=" * (-len(given) % 4))


@dataclass
class Authenticator:
    """One key pair for one site (Web Authentication, 6). `counts`: whether it counts its uses, as synced passkeys do not."""

    counts: bool = True
    count: int = 0
    key_id: bytes = field(default_factory=lambda: secrets.token_bytes(20))
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    handle: str = ""

    def make(self, asked: Mapping[str, Any], **wrong: Any) -> str:
        """Its answer to being asked for a new passkey."""
        self.handle = asked["user"]["id"]
        numbers = self.private.public_key().public_numbers()
        public = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        attested = bytes(16) + struct.pack(">H", len(self.key_id)) + self.key_id + cbor2.dumps(public)
        data = self._data(wrong.get("domain", asked["rp"]["id"]), _NEW, wrong) + attested
        response = {
            "clientDataJSON": text_of(_client_data("webauthn.create", asked["challenge"], wrong)),
            "attestationObject": text_of(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})),
        }
        return self._said(response)

    def use(self, asked: Mapping[str, Any], **wrong: Any) -> str:
        """Its answer to being asked to sign in. `wrong`: origin, domain, type, challenge, count, verified, handle, private."""
        self.count += self.counts
        client, data = _client_data("webauthn.get", asked["challenge"], wrong), self._data(wrong.get("domain", asked["rpId"]), 0, wrong)
        signed = wrong.get("private", self.private).sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        handle = wrong.get("handle", self.handle)
        response = {"clientDataJSON": text_of(client), "authenticatorData": text_of(data), "signature": text_of(signed)}
        return self._said(response | ({"userHandle": handle} if handle is not None else {}))

    def _data(self, domain: str, flags: int, wrong: Mapping[str, Any]) -> bytes:
        flags |= _PRESENT | (_VERIFIED if wrong.get("verified", True) else 0)
        return hashlib.sha256(domain.encode()).digest() + struct.pack(">BI", flags, wrong.get("count", self.count))

    def _said(self, response: Mapping[str, Any]) -> str:
        named = text_of(self.key_id)
        return json.dumps({"id": named, "rawId": named, "type": "public-key", "response": response})


def _client_data(kind: str, challenge: str, wrong: Mapping[str, Any]) -> bytes:
    said = {"type": wrong.get("type", kind), "challenge": wrong.get("challenge", challenge), "origin": wrong.get("origin", SITE)}
    return json.dumps(said).encode()
