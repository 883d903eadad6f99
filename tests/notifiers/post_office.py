"""A real SMTP server (aiosmtpd) on 127.0.0.1, in the test's own loop, that keeps what it takes and answers what a test tells it to."""

import asyncio
import email
import email.policy
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from types import TracebackType
from typing import Any, Self

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

KEPT = b"250 2.0.0 kept"  # the answer to content that was taken


@dataclass(frozen=True)
class Taken:
    """One message that was taken over: the envelope, the bytes as they came, and whether they came encrypted."""

    mail_from: str
    recipients: list[str]
    content: bytes
    encrypted: bool
    client_name: str | None  # what the client called itself

    @property
    def parsed(self) -> EmailMessage:
        message = email.message_from_bytes(self.content, policy=email.policy.default)
        assert isinstance(message, EmailMessage)
        return message

    @property
    def text(self) -> str:
        """The text as it was given to be sent, without its HTML twin: mail has CRLF line ends and one at its end."""
        plain = self.parsed.get_body(("plain",))
        assert plain is not None
        return str(plain.get_content()).replace("\r\n", "\n").removesuffix("\n")


class PostOffice:
    """`answers` maps MAIL, RCPT or DATA to an answer given in place of the ordinary one; `answers_once` does so for the next time only."""

    def __init__(self, tls: ssl.SSLContext | None = None, login: tuple[str, str] | None = None, implicit_tls: bool = False) -> None:
        self.taken: list[Taken] = []
        self.answers: dict[str, str] = {}
        self.answers_once: dict[str, str] = {}
        self.scan_seconds = 0.0  # how long content is looked at, once it is taken, before the answer
        self.sessions = 0  # connections accepted so far
        self.logins = 0
        self._tls = tls
        self._login = login
        self._implicit_tls = implicit_tls
        self._server: asyncio.Server | None = None
        self._open: list[SMTP] = []

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def open_connections(self) -> int:
        """How many clients are connected now."""
        return sum(session.transport is not None and not session.transport.is_closing() for session in self._open)

    async def __aenter__(self) -> Self:
        tls = self._tls if self._implicit_tls else None
        self._server = await asyncio.get_running_loop().create_server(self._new_session, "127.0.0.1", 0, ssl=tls)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        self.hang_up()
        await self._server.wait_closed()
        await asyncio.sleep(0)  # lets the transports report their end

    def hang_up(self) -> None:
        """Close every open connection, as a server does that is restarted."""
        for session in self._open:
            if session.transport is not None:
                session.transport.close()
        self._open.clear()

    async def handle_MAIL(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        if answer := self._answer("MAIL"):
            return answer
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        if answer := self._answer("RCPT"):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if answer := self._answer("DATA"):
            return answer
        assert isinstance(envelope.content, bytes)
        assert envelope.mail_from is not None
        encrypted = session.ssl is not None or self._implicit_tls
        self.taken.append(Taken(envelope.mail_from, list(envelope.rcpt_tos), envelope.content, encrypted, session.host_name))
        await asyncio.sleep(self.scan_seconds)
        return f"{KEPT.decode()} as {len(self.taken)}"

    def _answer(self, command: str) -> str | None:
        return self.answers_once.pop(command, None) or self.answers.get(command)

    def _new_session(self) -> SMTP:
        self.sessions += 1
        session = SMTP(
            self,
            hostname="post-office.test",
            tls_context=None if self._implicit_tls else self._tls,
            require_starttls=self._tls is not None and not self._implicit_tls,
            auth_required=self._login is not None and self._tls is not None and not self._implicit_tls,
            auth_require_tls=not self._implicit_tls,
            authenticator=self._authenticate if self._login else None,
            loop=asyncio.get_running_loop(),
        )
        self._open.append(session)
        return session

    def _authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, login: Any) -> AuthResult:
        assert isinstance(login, LoginPassword)
        assert self._login is not None
        if (login.login.decode(), login.password.decode()) == self._login:
            self.logins += 1
            return AuthResult(success=True)
        # handled=False, or the client would wait for an answer that nobody sends
        return AuthResult(success=False, handled=False)
