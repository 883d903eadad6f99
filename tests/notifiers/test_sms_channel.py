"""SMS against a local Twilio that is checked against Twilio's published description, over a wire that is cut."""

import asyncio
import base64
import socket
import ssl
from dataclasses import replace

import httpx
import pytest
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from notifiers import Outcome, SmsChannel, TwilioAccount
from tests.notifiers import fake_twilio
from tests.notifiers.fake_twilio import ACCOUNT_SID, TOKEN, FakeTwilio
from tests.notifiers.fault_proxy import Fault, FaultProxy
from tests.notifiers.messages import LONG_SPANISH_TEXT, a_message
from tests.notifiers.post_office import PostOffice

TO = "+19095550100"
CREATED = "HTTP/1.1 201"


@pytest.fixture
def channel(twilio_account: TwilioAccount, http: httpx.AsyncClient) -> SmsChannel:
    return SmsChannel(twilio_account, http, timeout_seconds=5)


# -- what is asked of Twilio


async def test_a_message_goes_out_from_the_number_with_its_text_and_comes_back_with_a_sid(channel: SmsChannel, twilio: FakeTwilio) -> None:
    receipt = await channel.send(a_message(TO))
    [taken] = twilio.taken
    assert (receipt.outcome, receipt.provider_id, receipt.detail) == (Outcome.ACCEPTED, taken.sid, "HTTP 201, queued")
    assert taken.form == {"To": TO, "From": "+19095550123", "Body": a_message(TO).text}
    assert taken.headers["idempotency-key"] == "delivery-17"


async def test_a_messaging_service_takes_the_place_of_the_number(
    twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient
) -> None:
    service = "MG0123456789abcdef0123456789abcdef"
    assert (await SmsChannel(replace(twilio_account, sender=service), http).send(a_message(TO))).outcome is Outcome.ACCEPTED
    [taken] = twilio.taken
    assert taken.form["MessagingServiceSid"] == service
    assert "From" not in taken.form


async def test_a_callback_is_asked_for_where_twilio_can_reach_us(
    twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient
) -> None:
    await SmsChannel(replace(twilio_account, base_url="https://spills.example.gov"), http).send(a_message(TO))
    assert twilio.taken[0].form["StatusCallback"] == "https://spills.example.gov/hooks/twilio/status/delivery-17"


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "http://spills.example.gov",
        "http://127.0.0.1:8000",
        "https://127.0.0.1",
        "https://[::1]",
        "https://10.1.2.3",
        "https://localhost",
        "https://spills.local",
        "https://spills",
        "https://[::1",
    ],
)
async def test_no_callback_is_asked_for_at_an_address_that_twilio_cannot_reach(
    twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient, base_url: str
) -> None:
    await SmsChannel(replace(twilio_account, base_url=base_url), http).send(a_message(TO))
    assert "StatusCallback" not in twilio.taken[0].form


async def test_an_api_base_may_end_in_a_slash(twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient) -> None:
    account = replace(twilio_account, api_base=twilio_account.api_base + "/")
    assert (await SmsChannel(account, http).send(a_message(TO))).outcome is Outcome.ACCEPTED


def test_the_api_is_twilios_own_unless_another_is_named() -> None:
    assert TwilioAccount(ACCOUNT_SID, TOKEN, TO).api_base == "https://api.twilio.com"


async def test_typography_is_written_in_the_alphabet_of_short_messages(channel: SmsChannel, twilio: FakeTwilio) -> None:
    await channel.send(a_message(TO, text="The board\u2019s \u201c2 hours\u201d \u2013 call\u00a0now\u2026\r\nñ é á"))
    assert twilio.taken[0].form["Body"] == 'The board\'s "2 hours" - call now...\nñ é á'


async def test_a_text_too_long_for_twilio_is_cut_with_a_mark_and_keeps_its_last_line(channel: SmsChannel, twilio: FakeTwilio) -> None:
    receipt = await channel.send(a_message(TO, text=LONG_SPANISH_TEXT))
    assert receipt.outcome is Outcome.ACCEPTED
    assert "was cut" in receipt.detail
    body = twilio.taken[0].form["Body"]
    assert len(body) <= 1600
    assert body.startswith("Aviso obligatorio: ")
    assert body.endswith(" [...]\n" + LONG_SPANISH_TEXT.splitlines()[-1])


# -- answers


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (fake_twilio.error(400, 21211, "Invalid 'To' Phone Number"), Outcome.REFUSED, "Twilio error 21211: Invalid 'To' Phone Number"),
        (fake_twilio.error(400, 21610, "Attempt to send to unsubscribed recipient"), Outcome.REFUSED, "Twilio error 21610"),
        (fake_twilio.error(403, 20403, "Forbidden"), Outcome.REFUSED, "Twilio error 20403"),
        (PlainTextResponse("no JSON here", 422), Outcome.REFUSED, "HTTP 422: no JSON here"),
        (JSONResponse(["a list"], 400), Outcome.REFUSED, 'HTTP 400: ["a list"]'),
        (fake_twilio.error(408, 20408, "Timeout"), Outcome.TRY_AGAIN, "HTTP 408"),
        (PlainTextResponse("too early", 425), Outcome.TRY_AGAIN, "HTTP 425"),
        (fake_twilio.error(429, 20429, "Too Many Requests"), Outcome.TRY_AGAIN, "Twilio error 20429"),
        (fake_twilio.error(500, 20500, "Internal Server Error"), Outcome.TRY_AGAIN, "HTTP 500"),
        (PlainTextResponse("<html>Bad gateway</html>", 502), Outcome.TRY_AGAIN, "<html>Bad gateway</html>"),
        (PlainTextResponse("", 503), Outcome.TRY_AGAIN, "HTTP 503"),
        (fake_twilio.error(404, 20404, "The requested resource was not found"), Outcome.TRY_AGAIN, "operator"),
        (RedirectResponse("https://elsewhere.invalid/"), Outcome.TRY_AGAIN, "HTTP 307"),
        (PlainTextResponse("<html>Log in to the guest network</html>", 200), Outcome.UNKNOWN, "no message sid"),
        (PlainTextResponse("{", 201, media_type="application/json"), Outcome.UNKNOWN, "no message sid"),
        (JSONResponse({"sid": None}, 201), Outcome.UNKNOWN, "no message sid"),
        (PlainTextResponse("x" * 1_000_000, 500), Outcome.TRY_AGAIN, "xxx"),
    ],
)
async def test_the_answer_decides_the_outcome(
    channel: SmsChannel, twilio: FakeTwilio, answer: Response, outcome: Outcome, words: str
) -> None:
    twilio.answer = answer
    receipt = await channel.send(a_message(TO))
    assert (receipt.outcome, receipt.provider_id) == (outcome, None)
    assert words in receipt.detail
    assert len(receipt.detail) <= 2048
    twilio.answer = None
    assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED


async def test_a_message_created_as_failed_is_refused_with_its_sid_and_reason(channel: SmsChannel, twilio: FakeTwilio) -> None:
    sid = "SM" + "f" * 32
    failed = fake_twilio.message(sid, {"To": TO, "Body": "x"}, status="failed") | {"error_code": 30008, "error_message": "Unknown error"}
    twilio.answer = JSONResponse(failed, 201)
    receipt = await channel.send(a_message(TO))
    assert (receipt.outcome, receipt.provider_id) == (Outcome.REFUSED, sid)
    assert "Twilio error 30008: Unknown error" in receipt.detail


async def test_a_wrong_token_is_try_again_and_not_told_on(
    twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient
) -> None:
    receipt = await SmsChannel(replace(twilio_account, token="another-token"), http).send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert "Twilio error 20003: Authenticate; the operator must correct" in receipt.detail
    assert "another-token" not in receipt.detail
    assert twilio.taken == []


async def test_an_answer_that_repeats_the_login_does_not_get_it_into_the_detail(channel: SmsChannel, twilio: FakeTwilio) -> None:
    login = base64.b64encode(f"{ACCOUNT_SID}:{TOKEN}".encode()).decode()
    twilio.answer = PlainTextResponse(f"you said Basic {login}, that is {TOKEN}", 500)
    assert (await channel.send(a_message(TO))).detail == "HTTP 500: you said Basic ***, that is ***"


def test_no_repr_shows_the_token() -> None:
    account = TwilioAccount(ACCOUNT_SID, TOKEN, TO)
    assert TOKEN not in f"{account!r} {account} {SmsChannel(account, httpx.AsyncClient(trust_env=False))!r}"


# -- the wire


async def test_a_refused_connection_is_try_again(twilio_account: TwilioAccount, http: httpx.AsyncClient) -> None:
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        account = replace(twilio_account, api_base=f"http://127.0.0.1:{nobody_listens.getsockname()[1]}")
        receipt = await SmsChannel(account, http).send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert receipt.detail.startswith("nothing was sent: ")


async def test_a_host_that_does_not_exist_is_try_again(twilio_account: TwilioAccount, http: httpx.AsyncClient) -> None:
    account = replace(twilio_account, api_base="http://api.spillclock.invalid")
    receipt = await SmsChannel(account, http).send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN, receipt.detail
    assert receipt.detail.startswith("nothing was sent: ")


@pytest.mark.parametrize(
    "api_base",
    [
        "",
        "api.twilio.com",
        "ftp://127.0.0.1",
        "http://",
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://h:0",
        "https://" + "a" * 64 + ".com",
        "https://a b",
    ],
)
def test_an_api_address_that_cannot_be_one_is_an_error_when_the_account_is_made(api_base: str) -> None:
    with pytest.raises(ValueError, match="a right one is https://api"):
        TwilioAccount(ACCOUNT_SID, TOKEN, TO, api_base)


@pytest.mark.parametrize(
    "api_base", ["https://api.twilio.com", "http://127.0.0.1:8080/", "http://[::1]:8080", "https://proxy.example.gov/twilio"]
)
def test_an_api_address_may_be_that_of_a_stand_in(api_base: str) -> None:
    assert TwilioAccount(ACCOUNT_SID, TOKEN, TO, api_base).api_base == api_base


async def test_a_certificate_that_cannot_be_trusted_is_try_again_and_says_whose_turn_it_is(
    twilio_account: TwilioAccount, http: httpx.AsyncClient, server_tls: ssl.SSLContext
) -> None:
    async with PostOffice(tls=server_tls, implicit_tls=True) as anything_with_tls:
        account = replace(twilio_account, api_base=f"https://127.0.0.1:{anything_with_tls.port}")
        receipt = await SmsChannel(account, http).send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert "certificate" in receipt.detail
    assert "operator" in receipt.detail


async def test_a_connection_that_takes_too_long_is_try_again(twilio_account: TwilioAccount, http: httpx.AsyncClient) -> None:
    # A listener whose queue is full lets further connections wait for ever.
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf, socket.create_connection(deaf.getsockname()):
        account = replace(twilio_account, api_base=f"http://127.0.0.1:{deaf.getsockname()[1]}")
        async with asyncio.timeout(5):
            receipt = await SmsChannel(account, http, timeout_seconds=0.3).send(a_message(TO))
    assert receipt.outcome is Outcome.TRY_AGAIN
    assert "nothing was sent: " in receipt.detail


async def test_no_free_connection_in_the_client_is_try_again(twilio_account: TwilioAccount, twilio: FakeTwilio) -> None:
    twilio.wait_seconds = 1.0
    async with httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_connections=1)) as narrow:
        patient, hasty = SmsChannel(twilio_account, narrow, timeout_seconds=5), SmsChannel(twilio_account, narrow, timeout_seconds=0.2)
        first = asyncio.ensure_future(patient.send(a_message(TO)))
        await twilio.asked.wait()
        assert (await hasty.send(a_message(TO))).outcome is Outcome.TRY_AGAIN
        assert (await first).outcome is Outcome.ACCEPTED
    assert len(twilio.taken) == 1


async def test_an_answer_that_does_not_come_is_unknown_within_the_time_allowed(
    twilio_account: TwilioAccount, twilio: FakeTwilio, http: httpx.AsyncClient
) -> None:
    twilio.wait_seconds = 1.0
    async with asyncio.timeout(5):
        receipt = await SmsChannel(twilio_account, http, timeout_seconds=0.2).send(a_message(TO))
    assert (receipt.outcome, receipt.provider_id) == (Outcome.UNKNOWN, None)
    assert "may have been sent" in receipt.detail


async def test_an_answer_that_trickles_in_for_ever_is_unknown_within_the_time_allowed(
    twilio_account: TwilioAccount, http: httpx.AsyncClient
) -> None:
    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            writer.close()

    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    account = replace(twilio_account, api_base=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    async with server, asyncio.timeout(5):
        receipt = await SmsChannel(account, http, timeout_seconds=0.2).send(a_message(TO))
        assert receipt.outcome is Outcome.UNKNOWN
        server.close()
        await asyncio.sleep(0.1)  # the trickle notices that nobody listens


async def test_an_answer_lost_on_the_wire_is_unknown(channel: SmsChannel, twilio: FakeTwilio, twilio_wire: FaultProxy) -> None:
    twilio_wire.cut_before_client = CREATED.encode()
    receipt = await channel.send(a_message(TO))
    assert (receipt.outcome, receipt.provider_id) == (Outcome.UNKNOWN, None)
    assert len(twilio.taken) == 1, "it had been taken"
    assert twilio_wire.connections == 1, "and was not sent again behind the caller's back"


async def test_a_request_lost_on_the_wire_is_unknown(channel: SmsChannel, twilio: FakeTwilio, twilio_wire: FaultProxy) -> None:
    twilio_wire.cut_before_server = b"Body="
    assert (await channel.send(a_message(TO))).outcome is Outcome.UNKNOWN
    assert twilio.taken == []
    assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED


async def test_a_connection_reset_before_anything_could_be_answered_is_not_accepted(channel: SmsChannel, twilio_wire: FaultProxy) -> None:
    twilio_wire.fault = Fault.RESET
    assert (await channel.send(a_message(TO))).outcome in {Outcome.UNKNOWN, Outcome.TRY_AGAIN}
    twilio_wire.fault = Fault.NONE
    assert (await channel.send(a_message(TO))).outcome is Outcome.ACCEPTED
