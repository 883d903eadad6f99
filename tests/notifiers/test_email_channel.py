"""E-mail against a real SMTP server, with STARTTLS and login, refusals, and a wire that is cut."""

import asyncio
import base64
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import aiosmtplib
import pytest

from notifiers import EmailChannel, Encryption, Outcome, Receipt, SmtpServer
from tests.notifiers.fault_proxy import Fault, FaultProxy
from tests.notifiers.messages import LONG_SPANISH_TEXT, a_message
from tests.notifiers.post_office import KEPT, PostOffice

SENDER = "Spillclock <notices@example.gov>"
LOGIN = ("spillclock", "p@ss:wörd/with?signs")
TO = "duty@example.gov"


def plain(port: int) -> SmtpServer:
    return SmtpServer("127.0.0.1", port, Encryption.NEVER)


@contextlib.asynccontextmanager
async def channel_to(server: SmtpServer, pool: int = 4, timeout_seconds: float = 5.0) -> AsyncIterator[EmailChannel]:
    channel = EmailChannel(server, SENDER, pool, timeout_seconds)
    try:
        yield channel
    finally:
        await channel.aclose()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that the other end of a wire is about to do."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - the other end tells nobody
            await asyncio.sleep(0.005)


class Script:
    """An SMTP server that only answers: by verb as told, else 250. An answer of None is silence."""

    def __init__(self, answers: dict[str, str | None]) -> None:
        self.port = 0
        self.verbs: list[str] = []
        self.ended = False  # whether the client has gone
        self._answers: dict[str, str | None] = {"QUIT": "221 bye", **answers}

    async def play(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 script\r\n")
        while line := await reader.readline():
            self.verbs.append(line[:4].decode().upper())
            if answer := self._answers.get(self.verbs[-1], "250 OK"):
                writer.write(answer.encode() + b"\r\n")
        self.ended = True
        writer.close()


@contextlib.asynccontextmanager
async def scripted(answers: dict[str, str | None]) -> AsyncIterator[Script]:
    script = Script(answers)
    server = await asyncio.start_server(script.play, "127.0.0.1", 0)
    script.port = server.sockets[0].getsockname()[1]
    async with server:
        yield script
        await until(lambda: script.ended)


def assert_no_secret(receipt: Receipt) -> None:
    for secret in LOGIN:
        assert secret not in receipt.detail


# -- encryption and login


async def test_a_message_goes_out_encrypted_and_after_login(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with PostOffice(tls=server_tls, login=LOGIN) as office:
        server = SmtpServer("127.0.0.1", office.port, Encryption.REQUIRED, *LOGIN, tls_context=client_tls)
        async with channel_to(server) as channel:
            receipt = await channel.send(a_message(TO))
        assert receipt == Receipt(Outcome.ACCEPTED, "<delivery-17@example.gov>", f"{KEPT.decode()} as 1")
        assert [(taken.encrypted, taken.mail_from, taken.recipients) for taken in office.taken] == [(True, "notices@example.gov", [TO])]
        assert office.logins == 1


async def test_smtps_is_encrypted_from_the_first_byte(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with PostOffice(tls=server_tls, login=LOGIN, implicit_tls=True) as office:
        server = SmtpServer("127.0.0.1", office.port, Encryption.TLS, *LOGIN, tls_context=client_tls)
        async with channel_to(server) as channel:
            assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED
        assert office.taken[0].encrypted


@pytest.mark.parametrize("encryption", [Encryption.REQUIRED, Encryption.OPPORTUNISTIC, Encryption.TLS])
async def test_a_certificate_that_cannot_be_trusted_is_try_again_and_says_whose_turn_it_is(
    server_tls: ssl.SSLContext, encryption: Encryption
) -> None:
    async with PostOffice(tls=server_tls, login=LOGIN, implicit_tls=encryption is Encryption.TLS) as office:
        async with channel_to(SmtpServer("127.0.0.1", office.port, encryption, *LOGIN)) as channel:
            receipt = await channel.send(a_message(TO))
        assert receipt.outcome is Outcome.TRY_AGAIN
        assert "certificate" in receipt.detail
        assert "operator" in receipt.detail
        assert office.logins == 0
        assert office.taken == []


async def test_a_certificate_for_another_host_is_try_again(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with PostOffice(tls=server_tls) as office:
        server = SmtpServer("localhost", office.port, Encryption.REQUIRED, tls_context=client_tls)
        async with channel_to(server) as channel:
            receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert "certificate of localhost" in receipt.detail


async def test_required_encryption_that_is_not_offered_sends_nothing(post_office: PostOffice) -> None:
    async with channel_to(SmtpServer("127.0.0.1", post_office.port, Encryption.REQUIRED)) as channel:
        receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert "STARTTLS" in receipt.detail
    assert post_office.taken == []


async def test_opportunistic_encryption_is_used_where_it_is_offered(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with PostOffice(tls=server_tls) as encrypting, PostOffice() as other:
        for office in (encrypting, other):
            server = SmtpServer("127.0.0.1", office.port, Encryption.OPPORTUNISTIC, tls_context=client_tls)
            async with channel_to(server) as channel:
                assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED
        assert encrypting.taken[0].encrypted
        assert not other.taken[0].encrypted


async def test_opportunistic_encryption_never_gives_the_password_away_in_the_clear() -> None:
    async with PostOffice(login=LOGIN) as office:
        async with channel_to(SmtpServer("127.0.0.1", office.port, Encryption.OPPORTUNISTIC, *LOGIN)) as channel:
            receipt = await channel.send(a_message(TO))
        assert receipt.outcome is Outcome.TRY_AGAIN
        assert "starttls=never" in receipt.detail
        assert office.logins == 0


async def test_a_wrong_password_is_try_again_and_not_told_on(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with PostOffice(tls=server_tls, login=("spillclock", "another")) as office:
        server = SmtpServer("127.0.0.1", office.port, Encryption.REQUIRED, *LOGIN, tls_context=client_tls)
        async with channel_to(server) as channel:
            receipt = await channel.send(a_message(TO))
        assert receipt.outcome is Outcome.TRY_AGAIN
        assert receipt.detail.startswith("could not log in: 535")
        assert "operator" in receipt.detail
        assert_no_secret(receipt)
        assert office.taken == []


async def test_a_server_that_repeats_the_login_does_not_get_it_into_a_detail(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    login = ("token-name", "hunter2")
    repeated = [*login, *(base64.b64encode(text.encode()).decode() for text in (*login, "\0token-name\0hunter2"))]
    async with PostOffice(tls=server_tls, login=login) as office:
        office.answers["RCPT"] = f"550 you said {' '.join(repeated)}"
        async with channel_to(SmtpServer("127.0.0.1", office.port, Encryption.REQUIRED, *login, tls_context=client_tls)) as channel:
            receipt = await channel.send(a_message(TO))
    assert receipt == Receipt(Outcome.REFUSED, detail="550 you said *** *** *** *** ***")


# -- answers


@pytest.mark.parametrize("command", ["MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("450 4.2.1 mailbox busy", Outcome.TRY_AGAIN),
        ("452 4.2.2 mailbox full", Outcome.TRY_AGAIN),
        ("421 4.3.2 shutting down", Outcome.TRY_AGAIN),
        ("550 5.1.1 no such user", Outcome.REFUSED),
        ("554 5.7.1 rejected", Outcome.REFUSED),
        ("530 5.7.0 must issue STARTTLS first", Outcome.TRY_AGAIN),
        ("535 5.7.8 log in again", Outcome.TRY_AGAIN),
    ],
)
async def test_an_answer_of_the_server_decides_at_every_stage(post_office: PostOffice, command: str, answer: str, outcome: Outcome) -> None:
    post_office.answers[command] = answer
    async with channel_to(plain(post_office.port)) as channel:
        receipt = await channel.send(a_message(TO))
        assert (receipt.outcome, receipt.provider_id) == (outcome, None)
        assert answer in receipt.detail
        post_office.answers.clear()
        assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED
    assert len(post_office.taken) == 1


async def test_an_answer_that_cannot_be_read_after_the_content_is_unknown(post_office: PostOffice) -> None:
    post_office.answers["DATA"] = "banana"
    async with channel_to(plain(post_office.port)) as channel:
        receipt = await channel.send(a_message(TO))
    assert (receipt.outcome, receipt.provider_id) == (Outcome.UNKNOWN, "<delivery-17@example.gov>")


async def test_an_answer_with_a_very_long_text_is_cut_in_the_detail(post_office: PostOffice) -> None:
    post_office.answers["RCPT"] = "550-" + "x" * 900 + "\r\n550-" + "y" * 900 + "\r\n550-" + "z" * 900 + "\r\n550 end"
    async with channel_to(plain(post_office.port)) as channel:
        receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.REFUSED
    assert len(receipt.detail) == 2048
    assert "\n" not in receipt.detail


# -- the wire


async def test_a_refused_connection_is_try_again() -> None:
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        async with channel_to(plain(nobody_listens.getsockname()[1])) as channel:
            receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert receipt.detail.startswith("could not connect: ")


async def test_a_host_that_does_not_exist_is_try_again() -> None:
    async with channel_to(SmtpServer("mail.spillclock.invalid", 25, Encryption.NEVER)) as channel:
        receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert "mail.spillclock.invalid" in receipt.detail


async def test_a_server_that_says_nothing_is_try_again_within_the_time_allowed(mail_wire: FaultProxy) -> None:
    mail_wire.fault = Fault.SILENCE
    async with channel_to(plain(mail_wire.port), timeout_seconds=0.3) as channel, asyncio.timeout(3):
        receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN


async def test_a_server_that_greets_with_a_refusal_is_try_again() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"554 5.3.2 no service here\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server, channel_to(plain(server.sockets[0].getsockname()[1])) as channel:
        receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert "554 5.3.2 no service here" in receipt.detail


async def test_a_connection_lost_in_the_middle_of_the_content_is_unknown(post_office: PostOffice, mail_wire: FaultProxy) -> None:
    mail_wire.cut_before_server = b"respond/aB3-"
    async with channel_to(plain(mail_wire.port)) as channel:
        receipt = await channel.send(a_message(TO, text=LONG_SPANISH_TEXT))
        assert (receipt.outcome, receipt.provider_id) == (Outcome.UNKNOWN, "<delivery-17@example.gov>")
        assert "may have been accepted" in receipt.detail
        assert mail_wire.cuts == 1, "not sent again behind the caller's back"
        assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED


async def test_an_answer_lost_after_the_content_was_taken_is_unknown_and_the_next_attempt_has_the_same_id(
    post_office: PostOffice, mail_wire: FaultProxy
) -> None:
    mail_wire.cut_before_client = KEPT
    async with channel_to(plain(mail_wire.port)) as channel:
        first = await channel.send(a_message(TO))
        second = await channel.send(a_message(TO))
    assert (first.outcome, second.outcome) == (Outcome.UNKNOWN, Outcome.ACCEPTED)
    assert first.provider_id == second.provider_id
    assert len({taken.content for taken in post_office.taken}) == 1, "byte for byte the same letter"
    assert len(post_office.taken) == 2


async def test_an_answer_that_does_not_come_is_unknown_after_three_times_the_time_allowed(post_office: PostOffice) -> None:
    async with channel_to(plain(post_office.port), timeout_seconds=0.3) as channel:
        post_office.scan_seconds = 0.6
        assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED, "a server may take its time over the content"
        post_office.scan_seconds = 30
        async with asyncio.timeout(3):
            receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.UNKNOWN
    assert len(post_office.taken) == 2


async def test_one_connection_serves_many_messages(post_office: PostOffice) -> None:
    async with channel_to(plain(post_office.port)) as channel:
        for number in range(20):
            assert (await channel.send(a_message(TO, key=f"delivery-{number}"))).outcome is Outcome.ACCEPTED
    assert len(post_office.taken) == 20
    assert post_office.sessions == 1


async def test_there_are_never_more_connections_than_the_pool_allows(post_office: PostOffice) -> None:
    async with channel_to(plain(post_office.port), pool=3) as channel:
        receipts = await asyncio.gather(*(channel.send(a_message(TO, key=f"delivery-{number}")) for number in range(30)))
    assert {receipt.outcome for receipt in receipts} == {Outcome.ACCEPTED}
    assert post_office.sessions == 3


async def test_a_full_pool_is_try_again_after_the_time_allowed(mail_wire: FaultProxy) -> None:
    mail_wire.fault = Fault.SILENCE
    async with channel_to(plain(mail_wire.port), pool=1, timeout_seconds=0.3) as channel, asyncio.timeout(5):
        receipts = await asyncio.gather(*(channel.send(a_message(TO)) for _ in range(5)))
    assert {receipt.outcome for receipt in receipts} == {Outcome.TRY_AGAIN}
    assert any("came free" in receipt.detail for receipt in receipts)


@pytest.mark.parametrize("how", ["closed by the server", "reset in between", "reset at the first command", "told to go"])
async def test_pooled_connections_that_died_are_replaced_without_a_word(post_office: PostOffice, mail_wire: FaultProxy, how: str) -> None:
    async with channel_to(plain(mail_wire.port)) as channel:
        await asyncio.gather(*(channel.send(a_message(TO)) for _ in range(4)))
        connections = mail_wire.connections
        match how:
            case "closed by the server":
                post_office.hang_up()
            case "reset in between":
                mail_wire.reset_all()
            case "reset at the first command":
                mail_wire.cut_before_server = b"MAIL FROM"
            case _:
                post_office.answers_once["MAIL"] = "421 4.7.0 enough messages on this connection"
        receipt = await channel.send(a_message(TO))
        assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
        assert mail_wire.connections > connections
    assert len(post_office.taken) == 5


async def test_a_pooled_connection_that_fell_silent_is_replaced(post_office: PostOffice, mail_wire: FaultProxy) -> None:
    async with channel_to(plain(mail_wire.port), timeout_seconds=0.5) as channel:
        await channel.send(a_message(TO))
        mail_wire.fault = Fault.SILENCE
        sending = asyncio.ensure_future(channel.send(a_message(TO)))
        await asyncio.sleep(0.2)
        mail_wire.fault = Fault.NONE  # for new connections; the old one stays silent
        receipt = await sending
    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
    assert mail_wire.connections == 2
    assert len(post_office.taken) == 2


async def test_a_server_that_is_gone_is_try_again_until_it_is_back(post_office: PostOffice, mail_wire: FaultProxy) -> None:
    async with channel_to(plain(mail_wire.port)) as channel:
        assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED
        mail_wire.fault = Fault.RESET
        mail_wire.reset_all()
        for _ in range(3):
            assert (await channel.send(a_message(TO))).outcome is Outcome.TRY_AGAIN
        mail_wire.fault = Fault.NONE
        assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED
    assert len(post_office.taken) == 2


async def test_a_send_that_is_cancelled_leaves_the_channel_fit_for_use(post_office: PostOffice, mail_wire: FaultProxy) -> None:
    async with channel_to(plain(mail_wire.port), pool=1) as channel:
        mail_wire.fault = Fault.SILENCE
        sending = asyncio.ensure_future(channel.send(a_message(TO)))
        await asyncio.sleep(0.05)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        mail_wire.fault = Fault.NONE
        assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED


async def test_a_send_that_is_cancelled_leaves_no_connection_behind(post_office: PostOffice) -> None:
    post_office.scan_seconds = 30
    async with channel_to(plain(post_office.port)) as channel:
        sending = asyncio.ensure_future(channel.send(a_message(TO)))
        await until(lambda: bool(post_office.taken))
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await until(lambda: post_office.open_connections == 0)


async def test_a_login_that_is_cancelled_leaves_no_connection_behind() -> None:
    async with scripted({"EHLO": "250-script\r\n250 AUTH PLAIN", "AUTH": None}) as script:
        channel = EmailChannel(replace(plain(script.port), username="spillclock", password="a-password"), SENDER)
        sending = asyncio.ensure_future(channel.send(a_message(TO)))
        await until(lambda: script.verbs[-1:] == ["AUTH"])
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await until(lambda: script.ended)
        await channel.aclose()


async def test_a_refusal_at_the_data_command_itself_is_followed_by_a_reset() -> None:
    async with scripted({"DATA": "554 5.5.1 no valid recipients"}) as script, channel_to(plain(script.port)) as channel:
        receipts = [await channel.send(a_message(TO)) for _ in range(2)]
    assert [receipt.outcome for receipt in receipts] == [Outcome.REFUSED, Outcome.REFUSED]
    assert script.verbs == ["EHLO", *["MAIL", "RCPT", "DATA", "RSET"] * 2, "QUIT"]


async def test_a_connection_closed_between_envelope_and_content_is_try_again(
    post_office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute_command = aiosmtplib.SMTP.execute_command

    async def close_after_rcpt(smtp: aiosmtplib.SMTP, *words: bytes, **options: Any) -> aiosmtplib.SMTPResponse:
        answer = await execute_command(smtp, *words, **options)
        if words[0] == b"RCPT":
            smtp.close()
        return answer

    monkeypatch.setattr(aiosmtplib.SMTP, "execute_command", close_after_rcpt)
    async with channel_to(plain(post_office.port)) as channel:
        assert (await channel.send(a_message(TO))).outcome is Outcome.TRY_AGAIN


async def test_a_connection_that_was_idle_for_long_is_not_trusted_again(post_office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    async with channel_to(plain(post_office.port)) as channel:
        await channel.send(a_message(TO))
        monkeypatch.setattr("notifiers.email._IDLE_SECONDS", 0.0)
        await channel.send(a_message(TO))
    assert post_office.sessions == 2


async def test_closing_the_channel_lets_a_send_finish_and_keeps_no_connection(post_office: PostOffice) -> None:
    post_office.scan_seconds = 0.2
    channel = EmailChannel(plain(post_office.port), SENDER)
    sending = asyncio.ensure_future(channel.send(a_message(TO)))
    await until(lambda: bool(post_office.taken))
    await channel.aclose()
    assert (await sending).outcome is Outcome.ACCEPTED
    await until(lambda: post_office.open_connections == 0)


async def test_a_closed_channel_sends_nothing_and_says_so(post_office: PostOffice) -> None:
    async with channel_to(plain(post_office.port)) as channel:
        await channel.send(a_message(TO))
    receipt = await channel.send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert "closed" in receipt.detail
    assert len(post_office.taken) == 1


# -- making a channel


@pytest.mark.parametrize(
    "mail_from", ["", "Spillclock", "a@b@c.gov", "a@example.gov, b@example.gov", "A <a@example.gov> <b@example.gov>", "ñ@example.gov"]
)
def test_a_wrong_sender_is_an_error_when_the_channel_is_made(mail_from: str) -> None:
    with pytest.raises(ValueError, match="no e-mail address"):
        EmailChannel(plain(25), mail_from)


def test_a_pool_without_connections_is_an_error() -> None:
    with pytest.raises(ValueError, match="pool is 0"):
        EmailChannel(plain(25), SENDER, pool=0)


def test_no_repr_shows_a_secret() -> None:
    server = SmtpServer("127.0.0.1", 25, Encryption.NEVER, *LOGIN)
    for text in (repr(server), str(server), repr(EmailChannel(server, SENDER))):
        assert not any(secret in text for secret in LOGIN)
