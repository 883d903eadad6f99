"""Which mail server to hand messages to, read from one URL. No error here repeats any part of the URL, for it holds a password."""

from __future__ import annotations

import contextlib
import ssl
import unicodedata
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from notifiers.addresses import ascii_domain

_RIGHT_URL = "A right one: smtp://user:password@mail.example.gov:587?starttls=required"
_SUBMISSION_PORT = 587
_DEFAULT_PORTS = {"smtp": 25, "smtps": 465}


class Encryption(StrEnum):
    """How the connection to the server is encrypted."""

    TLS = "tls"  # from the first byte (smtps)
    REQUIRED = "required"  # STARTTLS, or nothing is sent
    OPPORTUNISTIC = "opportunistic"  # STARTTLS where the server offers it; a password is sent only then
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """A mail server and how to log in there. `username` None: without login. Neither name nor password shows in its repr.

    `tls_context` None means the authorities that the machine trusts. Certificates are verified whenever there is TLS.
    """

    host: str
    port: int
    encryption: Encryption = Encryption.REQUIRED
    username: str | None = field(default=None, repr=False)  # some providers use a token as the name
    password: str | None = field(default=None, repr=False)
    tls_context: ssl.SSLContext | None = field(default=None, repr=False, compare=False)


def parse_smtp_url(url: str) -> SmtpServer:
    """Return the server that a URL names: smtp://user:pass@host:587?starttls=required or smtps://user:pass@host.

    Ports default to 25 for smtp and 465 for smtps. `starttls` is required, opportunistic or never; by default required on port 587, else
    opportunistic. Signs of the URL itself (: / ? # @ %) in a name or password are written as %3A %2F %3F %23 %40 %25.
    Raises ValueError saying what is wrong and what would be right, without repeating the URL.
    """
    if any(unicodedata.category(character) in {"Cc", "Zs", "Zl", "Zp", "Cs"} for character in url):
        _wrong("has a space, a line end or another control character in it; write a space in a password as %20")
    if not url.lower().startswith(("smtp://", "smtps://")):
        _wrong("does not begin with smtp:// or smtps://")
    parts, port = _split(url)
    if parts.path not in {"", "/"} or parts.fragment:
        _wrong("goes on after the host; write / and # in a password as %2F and %23, and nothing but ?starttls=... after the host")
    username, password = _login(parts)
    return SmtpServer(_host(parts), port, _encryption(parts, port), username, password)


def _wrong(problem: str) -> NoReturn:
    raise ValueError(f"The URL of the mail server {problem}. {_RIGHT_URL}")


def _split(url: str) -> tuple[SplitResult, int]:
    # Raised after the `except`, not in it: urllib's own message, which repeats a piece of the password, would hang on ours as its context.
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        port = _DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
        if port:
            return parts, port
    _wrong("has a broken host, or a port that is no number from 1 to 65535; write / ? # @ in a password as %2F %3F %23 %40")


def _host(parts: SplitResult) -> str:
    host = parts.hostname
    if not host:
        _wrong("names no host")
    if ":" in host:
        return host  # an IPv6 address in brackets
    with contextlib.suppress(ValueError):  # raised below, for the same reason
        return ascii_domain(host)
    _wrong("has a host that is neither a name nor an address; write @ in a password as %40")


def _login(parts: SplitResult) -> tuple[str | None, str | None]:
    if "@" not in parts.netloc:
        return None, None
    if not parts.username or not parts.password:
        _wrong("has an @ but not both a user name and a password before it; without login leave the @ out")
    return unquote(parts.username), unquote(parts.password)


def _encryption(parts: SplitResult, port: int) -> Encryption:
    query = parse_qsl(parts.query, keep_blank_values=True)
    if any(name != "starttls" for name, _ in query) or len(query) > 1:
        _wrong("has something other than one starttls=... after its question mark")
    asked = query[0][1] if query else None
    if parts.scheme == "smtps":
        if asked is not None:
            _wrong("asks for starttls with smtps://, which is encrypted from the first byte; leave starttls out, or begin with smtp://")
        return Encryption.TLS
    if asked is None:
        return Encryption.REQUIRED if port == _SUBMISSION_PORT else Encryption.OPPORTUNISTIC
    if asked not in {Encryption.REQUIRED, Encryption.OPPORTUNISTIC, Encryption.NEVER}:
        _wrong("has a starttls that is none of required, opportunistic, never")
    return Encryption(asked)
