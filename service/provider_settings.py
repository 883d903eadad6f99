"""The settings of an identity provider that staff may sign in at (OpenID Connect)."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator

# Whoever signs in without an account may at most be given these: the rest is for people to give.
_ROLES_FOR_ANYBODY = ("viewer", "officer")


def is_web_address(address: str, *, loopback: bool) -> bool:
    """Whether an address is one that a provider may have: https, with `loopback` also http on this machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        odd = " " in address or not address.isprintable() or parts.username or parts.password or parts.fragment or parts.port == 0
        if odd or not host:
            return False
    except ValueError:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and loopback and is_loopback(host))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class ProviderSettings(BaseModel):
    """Where staff may sign in besides here. Nothing of it counts without `oidc_issuer`. A part of service/settings.py."""

    oidc_issuer: str = Field(default="", max_length=500)
    oidc_client_id: str = Field(default="", max_length=500)
    # The secret, or a file that holds it; neither for a client that has none.
    oidc_client_secret: SecretStr = SecretStr("")
    oidc_client_secret_file: Path | None = None
    # What the provider is called on the button.
    oidc_name: str = Field(default="", max_length=60)
    oidc_email_claim: str = Field(default="email", min_length=1, max_length=100)
    # Whether every address that the provider tells belongs to whom it is told of, although it does not say `email_verified`.
    oidc_trust_email: bool = False
    # The values of `amr` or `acr` that stand for both steps, separated by commas; empty: our own second step is asked for where it is on.
    oidc_second_step: str = ""
    # The role that whoever signs in without an account is given, as in viewer or viewer:chino; empty: nobody comes in uninvited.
    oidc_new_accounts: str = ""

    @field_validator("oidc_issuer")
    @classmethod
    def _issuer_is_https(cls, value: str) -> str:
        if value and ("?" in value or not is_web_address(value, loopback=True)):
            right = "right would be: https://login.example.gov, as the provider names itself; http is for this machine alone"
            raise ValueError(f"{value!r} is no address of an identity provider; {right}")
        return value

    @field_validator("oidc_client_secret_file", mode="before")
    @classmethod
    def _secret_can_be_read(cls, value: object) -> object:
        if value in (None, ""):
            return None
        try:
            if not Path(str(value)).read_text(encoding="utf-8").strip():
                raise ValueError(f"{str(value)!r} is empty; right would be: a file with the secret in it, or nothing")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{str(value)!r} cannot be read ({error}); right would be: a file with the secret in it") from None
        return value

    @field_validator("oidc_new_accounts")
    @classmethod
    def _role_is_a_small_one(cls, value: str) -> str:
        if value and value.partition(":")[0] not in _ROLES_FOR_ANYBODY:
            raise ValueError(f"{value!r} cannot be given to anybody; right would be: viewer, officer, viewer:chino, or nothing")
        return value

    @property
    def oidc_faults(self) -> list[str]:
        """What the settings of the provider lack, each with what would be right; empty where they are whole, or there is none."""
        faults = []
        if self.oidc_issuer and not self.oidc_client_id:
            faults.append("SPILLCLOCK_OIDC_CLIENT_ID: missing; right would be: the id under which the provider knows this service")
        if self.oidc_client_secret.get_secret_value() and self.oidc_client_secret_file:
            faults.append("SPILLCLOCK_OIDC_CLIENT_SECRET_FILE: the secret is set, too; right would be: one of the two")
        if self.oidc_client_id and not self.oidc_issuer:
            faults.append("SPILLCLOCK_OIDC_ISSUER: missing; right would be: https://login.example.gov, as the provider names itself")
        return faults

    @property
    def oidc_secret(self) -> str:
        """The secret of this service at the provider, from its file where it has one; empty where it has none."""
        if self.oidc_client_secret_file:
            return self.oidc_client_secret_file.read_text(encoding="utf-8").strip()
        return self.oidc_client_secret.get_secret_value()

    @property
    def oidc_called(self) -> str:
        """What the provider is called."""
        return self.oidc_name or urlsplit(self.oidc_issuer).hostname or ""

    @property
    def oidc_both_steps(self) -> frozenset[str]:
        """The values of `amr` and `acr` that stand for both steps."""
        return frozenset(part.strip() for part in self.oidc_second_step.split(",") if part.strip())
