"""E-mail over SMTP through a few long-lived connections, one recipient a message.

Bytes are written here, not by aiosmtplib: it folds headers by its own policy, and the standard library's folding loses the space between
two encoded words (Python 3.11). The body is plain text, or text and HTML as alternatives where a message has both.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hashlib
import re
import ssl
from dataclasses import dataclass
from datetime import UTC
from email.header import Header
from email.utils import format_datetime, quote

import aiosmtplib

from notifiers.addresses import ascii_email, problem_with_email
from notifiers.channel import detail_of
from notifiers.message import Message, Outcome, Receipt, key_token, many_lines, one_line
from notifiers.smtp import Encryption, SmtpServer

# A server may scan a message before it answers (RFC 5321, 4.5.3.2.6, allows 10 minutes): giving up early makes a notice arrive twice.
_ANSWER_TIMEOUTS = 3
# Firewalls forget quiet connections without telling; the first command would then wait for its whole timeout.
_IDLE_SECONDS = 60.0
_NAMED_ADDRESS = re.compile(r"\s*([^<>]*?)\s*<([^<>]*)>\s*")
_LONGEST_HEADER_CHARACTERS = 900  # RFC 5322 allows lines of 998
_WELCOME = (250, 251)  # 251: will be forwarded
_CLOSING = 421  # the server is closing this connection, whatever the command was
# The server wants another login or encryption: our operator's mistake, not the recipient's.
_OPERATOR_CODES = frozenset({530, 534, 535, 538})
_FAULTS = (OSError, TimeoutError, aiosmtplib.SMTPException)


class _NothingSent(Exception):
    """The connection could not be made, or broke before the message was handed over."""


@dataclass(frozen=True, slots=True)
class _Sender:
    name: str
    address: str  # pure ASCII

    @property
    def domain(self) -> str:
        return self.address.partition("@")[2]


@dataclass(frozen=True, slots=True)
class _Letter:
    recipient: str  # pure ASCII
    return_path: str  # pure ASCII
    message_id: str  # with its angle brackets
    content: bytes


class EmailChannel:
    """Hands messages to one mail server. `mail_from` is an address, or a name with one: "Spillclock <notices@example.gov>".

    At most `pool` connections. `timeout_seconds` bounds each stage (a free connection, connecting with login, the envelope), three times of
    it the server's answer to the content; so `send` returns within eight times `timeout_seconds` at the very worst.
    Raises ValueError for a wrong `mail_from` or a pool below 1.
    """

    name = "email"

    def __init__(self, server: SmtpServer, mail_from: str, pool: int = 4, timeout_seconds: float = 20.0) -> None:
        if pool < 1:
            raise ValueError(f"pool is {pool}; at least one connection is needed")
        self._server = server
        self._sender = _read_sender(mail_from)
        self._timeout_seconds = timeout_seconds
        self._free_places = asyncio.Semaphore(pool)
        self._idle: list[tuple[aiosmtplib.SMTP, float]] = []  # with the loop's time at which it was put back
        self._secrets = _secrets_of(server)
        self._closed = False

    def problem_with(self, address: str) -> str | None:
        """Return what is wrong with an e-mail address and what would be right; None if it is fine."""
        return problem_with_email(address)

    async def send(self, message: Message) -> Receipt:
        """Make one attempt. The id in the receipt is the Message-ID, the same for every attempt with the same key and sender.

        UNKNOWN: the connection was lost after the content had been offered. A pooled connection that breaks before that is replaced once.
        """
        if problem := self.problem_with(message.to):
            return Receipt(Outcome.REFUSED, detail=detail_of(problem))
        if self._closed:
            return Receipt(Outcome.TRY_AGAIN, detail="the e-mail channel is closed; the program is stopping")
        letter = _write_letter(message, self._sender)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._free_places.acquire()
        except TimeoutError:
            return Receipt(Outcome.TRY_AGAIN, detail=f"no connection to the mail server came free within {self._timeout_seconds:g} seconds")
        try:
            return await self._hand_over(letter)
        finally:
            self._free_places.release()

    async def problem_now(self) -> str | None:
        """Connect and log in, and send nothing. Return what hinders it now, in words; None where mail could be handed over."""
        try:
            self._put_back(await self._connect())
        except _NothingSent as fault:
            return self._detail(str(fault))
        return None

    async def aclose(self) -> None:
        """Say goodbye on idle connections; those still sending close when they are done. A later send is TRY_AGAIN."""
        self._closed = True
        idle, self._idle = self._idle, []
        await asyncio.gather(*(self._say_goodbye(smtp) for smtp, _ in idle))

    async def _hand_over(self, letter: _Letter) -> Receipt:
        if pooled := self._take_idle():
            # A pooled connection may have died unnoticed: that says nothing about the server, so a new one is tried at once.
            with contextlib.suppress(_NothingSent):
                return await self._transfer(pooled, letter)
        try:
            return await self._transfer(await self._connect(), letter)
        except _NothingSent as fault:
            return Receipt(Outcome.TRY_AGAIN, detail=self._detail(str(fault)))

    def _take_idle(self) -> aiosmtplib.SMTP | None:
        now = asyncio.get_running_loop().time()  # monotonic: not the wall clock
        while self._idle:
            smtp, idle_since = self._idle.pop()
            if smtp.is_connected and now - idle_since < _IDLE_SECONDS:
                return smtp
            smtp.close()
        return None

    def _put_back(self, smtp: aiosmtplib.SMTP) -> None:
        if self._closed or not smtp.is_connected:
            smtp.close()
        else:
            self._idle.append((smtp, asyncio.get_running_loop().time()))

    async def _say_goodbye(self, smtp: aiosmtplib.SMTP) -> None:
        # Every message on it was answered: a goodbye that fails loses nothing.
        with contextlib.suppress(*_FAULTS):
            async with asyncio.timeout(self._timeout_seconds):
                await smtp.quit()
        smtp.close()

    async def _connect(self) -> aiosmtplib.SMTP:
        """Return a connection, encrypted and logged in. Raises _NothingSent."""
        encryption = self._server.encryption
        smtp = aiosmtplib.SMTP(
            hostname=self._server.host,
            port=self._server.port,
            local_hostname=self._sender.domain,  # relays want a name of the sender's; the default asks DNS for the machine's
            timeout=self._timeout_seconds,
            use_tls=encryption is Encryption.TLS,
            start_tls={Encryption.REQUIRED: True, Encryption.OPPORTUNISTIC: None}.get(encryption, False),
            tls_context=self._server.tls_context,
        )
        stage = "could not connect"
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await smtp.connect()
                stage = "could not log in"
                await self._log_in(smtp)
        except (*_FAULTS, ValueError) as fault:  # ValueError: a login method that this machine's crypto policy forbids
            smtp.close()
            raise _NothingSent(f"{stage}: {self._words(fault)}") from fault
        except BaseException:
            smtp.close()
            raise
        return smtp

    async def _log_in(self, smtp: aiosmtplib.SMTP) -> None:
        if self._server.username is None:
            return
        if self._server.encryption is Encryption.OPPORTUNISTIC and smtp.get_transport_info("sslcontext") is None:
            raise aiosmtplib.SMTPException("the server offers no STARTTLS; the password is sent in the clear only with starttls=never")
        await smtp.login(self._server.username, self._server.password or "")

    async def _transfer(self, smtp: aiosmtplib.SMTP, letter: _Letter) -> Receipt:
        """Make the SMTP transaction and put the connection back. Raises _NothingSent when it broke before the content was offered."""
        try:
            receipt = await self._envelope(smtp, letter) or await self._content(smtp, letter)
        except BaseException:
            smtp.close()
            raise
        self._put_back(smtp)
        return receipt

    async def _envelope(self, smtp: aiosmtplib.SMTP, letter: _Letter) -> Receipt | None:
        """Name sender and recipient. Return None when both are welcome, else the receipt."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                if smtp.is_ehlo_or_helo_needed:
                    await smtp.mail(letter.return_path)  # with the greeting before it
                else:
                    await _name(smtp, b"MAIL", b"FROM:<%s>" % letter.return_path.encode())
                await _name(smtp, b"RCPT", b"TO:<%s>" % letter.recipient.encode())
        except aiosmtplib.SMTPResponseException as answer:
            if answer.code == _CLOSING or not 400 <= answer.code < 600:
                raise _NothingSent(self._words(answer)) from answer
            await self._reset(smtp)
            return self._refusal(answer)
        except _FAULTS as fault:
            raise _NothingSent(f"the connection broke before the message was handed over: {self._words(fault)}") from fault
        if not smtp.is_connected:  # closed by the server right after its last answer
            raise _NothingSent("the connection broke before the message was handed over")
        return None

    async def _content(self, smtp: aiosmtplib.SMTP, letter: _Letter) -> Receipt:
        timeout_seconds = _ANSWER_TIMEOUTS * self._timeout_seconds
        try:
            async with asyncio.timeout(timeout_seconds):
                answer = await smtp.data(letter.content, timeout=timeout_seconds)
        except aiosmtplib.SMTPResponseException as refusal:
            if not 400 <= refusal.code < 600:  # an answer that cannot be read, perhaps to a message that was taken
                smtp.close()
                return self._lost(letter, refusal)
            await self._reset(smtp)
            return self._refusal(refusal)
        except _FAULTS as fault:
            smtp.close()
            return self._lost(letter, fault)
        return Receipt(Outcome.ACCEPTED, letter.message_id, self._detail(str(answer)))

    async def _reset(self, smtp: aiosmtplib.SMTP) -> None:
        """Make the connection fit for the next message, or close it."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await smtp.rset()
        except _FAULTS:  # the answer that counts has been received; the connection is given up
            smtp.close()

    def _refusal(self, answer: aiosmtplib.SMTPResponseException) -> Receipt:
        if answer.code < 500 or answer.code in _OPERATOR_CODES:
            return Receipt(Outcome.TRY_AGAIN, detail=self._detail(self._words(answer)))
        return Receipt(Outcome.REFUSED, detail=self._detail(self._words(answer)))

    def _lost(self, letter: _Letter, fault: BaseException) -> Receipt:
        words = f"the message was offered, but its answer was lost: {self._words(fault)}; it may have been accepted"
        return Receipt(Outcome.UNKNOWN, letter.message_id, self._detail(words))

    def _words(self, fault: BaseException) -> str:
        cause = fault if isinstance(fault, ssl.SSLCertVerificationError) else fault.__cause__
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"the certificate of {self._server.host}:{self._server.port} cannot be trusted ({cause.verify_message}); nothing was sent. "
                "The operator must correct the server's certificate or the host in the URL of the mail server"
            )
        if isinstance(fault, aiosmtplib.SMTPResponseException):
            hint = "; the operator must correct the login of the mail server" if fault.code in _OPERATOR_CODES else ""
            return f"{fault.code} {fault.message}{hint}"
        return str(fault) or f"no answer within the time allowed ({type(fault).__name__})"

    def _detail(self, answer: str) -> str:
        return detail_of(answer, self._secrets)


async def _name(smtp: aiosmtplib.SMTP, verb: bytes, address: bytes) -> None:
    """Name sender or recipient. Not by smtp.mail and smtp.rcpt, which take each address apart again: ours are checked, and ASCII."""
    answer = await smtp.execute_command(verb, address)
    if answer.code not in _WELCOME:
        raise aiosmtplib.SMTPResponseException(answer.code, answer.message)


def _secrets_of(server: SmtpServer) -> tuple[str, ...]:
    """Return what must not be told on, also in the forms in which a server may repeat a login in its answer."""
    if server.username is None:
        return ()
    username, password = server.username, server.password or ""
    encoded = (base64.b64encode(text.encode()).decode() for text in (password, username, f"\0{username}\0{password}"))
    return (password, username, *encoded)


def _read_sender(mail_from: str) -> _Sender:
    # Not by parseaddr, which takes the first of several addresses and drops the others.
    named = _NAMED_ADDRESS.fullmatch(mail_from)
    name, address = named.groups() if named else ("", mail_from.strip())
    try:
        return _Sender(one_line(name).strip('"'), ascii_email(address))
    except ValueError as error:
        raise ValueError(f"The sender {mail_from!r} is no e-mail address, nor a name with one in angle brackets. {error}") from error


def _write_letter(message: Message, sender: _Sender) -> _Letter:
    recipient = ascii_email(message.to)
    message_id = f"<{key_token(message.key)}@{sender.domain}>"
    headers = {
        "From": _mailbox(sender),
        "To": recipient,
        "Subject": _header_text("Subject", message.subject),
        "Date": format_datetime(message.at.astimezone(UTC)),
        "Message-ID": message_id,
        "Auto-Submitted": "auto-generated",  # RFC 3834: no holiday answers, please
        "X-Auto-Response-Suppress": "All",  # the same for Exchange
    }
    for name, value in (("Spill", message.spill), ("Duty", message.duty), ("Step", message.step)):
        if value is not None:
            headers[f"X-Spillclock-{name}"] = _header_text(f"X-Spillclock-{name}", value)
    if message.unsubscribe:
        # Unfolded, however long: a folded address in angle brackets is read by few.
        headers["List-Unsubscribe"] = f"<{_header_text('List-Unsubscribe', message.unsubscribe)}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return_path = ascii_email(message.return_path) if message.return_path else sender.address
    return _Letter(recipient, return_path, message_id, head.encode("ascii") + _body(message))


def _body(message: Message) -> bytes:
    """Return the MIME headers, the empty line and the text: pure ASCII, lines of at most 78 characters.

    The boundary between text and HTML is the message's own, so that every attempt hands over the same bytes.
    """
    plain = _part("plain", message.text)
    if not message.html:
        return b"MIME-Version: 1.0\r\n" + plain
    # "=_" stands in no quoted-printable line, so no text can end a part (RFC 2045, 6.7).
    boundary = f"=_{hashlib.sha256(message.key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}".encode()
    head = b'MIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n boundary="' + boundary + b'"\r\n'
    return b"\r\n--".join((head, boundary + b"\r\n" + plain, boundary + b"\r\n" + _part("html", message.html), boundary + b"--\r\n"))


def _part(subtype: str, text: str) -> bytes:
    """Return the headers and the text of one part. In C, not by email.message: a burst builds ten thousand of them."""
    head = f'Content-Type: text/{subtype}; charset="utf-8"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n'
    # The last line ends too: from the first line end, b2a_qp learns how to end those it breaks.
    lines = many_lines(text)
    lines = lines if lines.endswith("\n") else f"{lines}\n"
    return head.encode() + binascii.b2a_qp(lines.replace("\n", "\r\n").encode(), istext=True)


def _mailbox(sender: _Sender) -> str:
    if not sender.name:
        return sender.address
    if sender.name.isascii() and "=?" not in sender.name:
        return f'"{quote(sender.name)}" <{sender.address}>'
    return f"{_encoded_words('From', sender.name)} <{sender.address}>"


def _header_text(header: str, text: str) -> str:
    """Return a text as the value of a header: pure ASCII, no line end but those of folding."""
    line = one_line(text)
    if line.isascii() and len(line) <= _LONGEST_HEADER_CHARACTERS and "=?" not in line:
        return line
    return _encoded_words(header, line)


def _encoded_words(header: str, line: str) -> str:
    # RFC 2047 ends lines with encoded words at 76 characters; Header would at 78.
    return Header(line, "utf-8", maxlinelen=76, header_name=header).encode(linesep="\r\n")
