"""Events of spills for other systems, as Standard Webhooks has them: the whole JSON body as it was promised, signed anew for each attempt.

A subscription has a secret of its own, derived of its number and generation, so that no table holds one. While a new secret takes the
place of an old one a message carries both signatures.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC

from notifiers.message import Message, key_token
from notifiers.webhook import WebhookChannel, signature

NAME = "event_hook"


def event_hook_secret(signing_key: bytes, subscription: int, generation: int) -> str:
    """Return the secret of a subscription in the form receivers enter it: whsec_ and 32 bytes in base64."""
    derived = hmac.new(signing_key, f"event hook|{subscription}|{generation}".encode(), hashlib.sha256).digest()
    return f"whsec_{base64.b64encode(derived).decode()}"


class EventHookChannel(WebhookChannel):
    """Posts events. `text` of a message is its body, `subject` its webhook-id; `step` names its secrets, as in 7.2,7.1."""

    name = NAME

    def _secrets(self, message: Message) -> list[str]:
        """Raises ValueError where `step` names no secret."""
        named = [part.split(".") for part in (message.step or "").split(",")]
        return [event_hook_secret(self._signing_key, int(subscription), int(generation)) for subscription, generation in named]

    def _signed(self, message: Message, secrets: list[str]) -> tuple[dict[str, str], bytes]:
        identity, moment, body = key_token(message.subject), str(int(message.at.astimezone(UTC).timestamp())), message.text.encode()
        signatures = [signature(secret, identity, moment, body) for secret in secrets]
        return {
            "Content-Type": "application/json", "User-Agent": "Spillclock", "Accept-Encoding": "identity",
            "webhook-id": identity, "webhook-timestamp": moment, "webhook-signature": " ".join(signatures),
        }, body  # fmt: skip
