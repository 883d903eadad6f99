"""Webhooks: signed so that an independent library believes them, sent to public addresses alone, and to the address that was checked."""

import asyncio
import base64
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import standardwebhooks
import trustme
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from notifiers import Outcome, WebhookChannel, webhook_secret
from notifiers.message import Message
from notifiers.webhook import LONGEST_ANSWER_BYTES, problem_with_webhook
from tests.notifiers.fault_proxy import Fault, FaultProxy
from tests.notifiers.local_server import LocalServer
from tests.notifiers.messages import a_message

KEY = b"the signing key of this deployment"


def resolves_to(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    """A resolver that gives these addresses, whatever the name."""

    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


@pytest.fixture
def channel() -> WebhookChannel:
    return WebhookChannel(KEY, timeout_seconds=5, allow_private=True)


@pytest.fixture
def address(receiver_wire: FaultProxy) -> str:
    return f"http://127.0.0.1:{receiver_wire.port}/hooks/spills?from=us"


def a_hook(address: str, **changes: object) -> Message:
    return replace(a_message(address, channel="webhook", at=datetime.now(UTC)), **changes)  # type: ignore[arg-type]


# -- what is sent


async def test_an_independent_library_believes_the_signature_and_reads_the_body(
    channel: WebhookChannel, receiver: LocalServer, address: str
) -> None:
    message = a_hook(address)
    receipt = await channel.send(message)
    [posted] = receiver.taken
    read = standardwebhooks.Webhook(webhook_secret(KEY, address)).verify(posted.body, posted.headers)
    assert read == {
        "type": "duty.alert",
        "timestamp": message.at.isoformat().replace("+00:00", "Z"),
        "data": {
            "key": message.key, "spill": message.spill, "duty": message.duty, "step": message.step, "subject": message.subject,
            "text": message.text, "language": "en",
        },
    }  # fmt: skip
    assert (receipt.outcome, receipt.provider_id) == (Outcome.ACCEPTED, "delivery-17")
    assert posted.headers["webhook-id"] == "delivery-17"
    assert posted.headers["content-type"] == "application/json"
    assert posted.path == "/hooks/spills"


async def test_a_changed_body_or_another_secret_is_not_believed(channel: WebhookChannel, receiver: LocalServer, address: str) -> None:
    await channel.send(a_hook(address))
    [posted] = receiver.taken
    for secret, body in ((webhook_secret(KEY, address), posted.body + b" "), (webhook_secret(KEY, address + "x"), posted.body)):
        with pytest.raises(standardwebhooks.WebhookVerificationError):
            standardwebhooks.Webhook(secret).verify(body, posted.headers)


async def test_every_attempt_is_signed_for_its_own_moment_under_the_same_id(
    channel: WebhookChannel, receiver: LocalServer, address: str
) -> None:
    for second in (1, 2):
        await channel.send(a_hook(address, at=datetime(2026, 12, 1, 23, 5, second, tzinfo=UTC)))
    first, again = receiver.taken
    assert first.headers["webhook-id"] == again.headers["webhook-id"]
    assert int(again.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 1
    assert first.headers["webhook-signature"] != again.headers["webhook-signature"]


@pytest.mark.parametrize(("duty", "spill", "kind"), [(None, "SP-2026-00042", "spill.message"), (None, None, "message")])
async def test_the_type_says_what_it_is_about(
    channel: WebhookChannel, receiver: LocalServer, address: str, duty: str | None, spill: str | None, kind: str
) -> None:
    await channel.send(a_hook(address, duty=duty, spill=spill))
    assert receiver.taken[0].read["type"] == kind


def test_a_secret_is_of_one_address_and_one_deployment() -> None:
    one = webhook_secret(KEY, "https://a.example/")
    assert one.startswith("whsec_")
    assert len(base64.b64decode(one.removeprefix("whsec_"))) == 32
    assert len({one, webhook_secret(KEY, "https://b.example/"), webhook_secret(b"another", "https://a.example/")}) == 3
    assert webhook_secret(KEY, "https://a.example/") == one


# -- answers


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (PlainTextResponse("thanks", 202), Outcome.ACCEPTED, "HTTP 202: thanks"),
        (Response(status_code=204), Outcome.ACCEPTED, "HTTP 204"),
        (PlainTextResponse("gone", 410), Outcome.REFUSED, "HTTP 410: gone"),
        (PlainTextResponse("bad", 400), Outcome.TRY_AGAIN, "HTTP 400: bad"),
        (PlainTextResponse("who are you", 401), Outcome.TRY_AGAIN, "HTTP 401"),
        (PlainTextResponse("not deployed yet", 404), Outcome.TRY_AGAIN, "HTTP 404"),
        (PlainTextResponse("busy", 503), Outcome.TRY_AGAIN, "HTTP 503: busy"),
        (RedirectResponse("http://127.0.0.1:1/"), Outcome.TRY_AGAIN, "HTTP 307"),
    ],
)
async def test_the_status_decides_the_outcome(
    channel: WebhookChannel, receiver: LocalServer, address: str, answer: Response, outcome: Outcome, words: str
) -> None:
    receiver.answer = answer
    receipt = await channel.send(a_hook(address))
    assert receipt.outcome is outcome
    assert receipt.detail.startswith(words)
    assert receiver.asked == 1, "no redirect is followed"


async def test_a_receiver_that_asks_for_time_is_given_it(channel: WebhookChannel, receiver: LocalServer, address: str) -> None:
    receiver.answer = PlainTextResponse("later", 429, headers={"Retry-After": "90"})
    assert (await channel.send(a_hook(address))).retry_after_seconds == 90.0


async def test_an_answer_that_repeats_secret_and_address_does_not_get_them_into_the_detail(
    channel: WebhookChannel, receiver: LocalServer, address: str
) -> None:
    secret = webhook_secret(KEY, address)
    receiver.answer = PlainTextResponse(f"{secret} {secret.removeprefix('whsec_')} {address}", 500)
    assert (await channel.send(a_hook(address))).detail == "HTTP 500: *** *** ***"


async def test_no_more_of_an_answer_is_read_than_fits(channel: WebhookChannel) -> None:
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
                sent += 65536
        except ConnectionError:
            writer.close()

    async with await asyncio.start_server(pour, "127.0.0.1", 0) as server, asyncio.timeout(5):
        receipt = await channel.send(a_hook(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))
        assert receipt.outcome is Outcome.ACCEPTED
        await asyncio.sleep(0.05)
    assert len(receipt.detail) <= 2048
    assert sent < 200 * LONGEST_ANSWER_BYTES, "the connection was closed; what was under way lay in the buffers of the machine"


async def test_a_status_counts_though_the_rest_of_the_answer_never_comes(address: str) -> None:
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(stall, "127.0.0.1", 0) as server, asyncio.timeout(5):
        hasty = WebhookChannel(KEY, timeout_seconds=0.2, allow_private=True)
        receipt = await hasty.send(a_hook(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))
        await hasty.aclose()
    assert receipt.outcome is Outcome.ACCEPTED
    assert receipt.detail.startswith("HTTP 200: begun (the rest of the answer did not come")


# -- where nothing is sent


@pytest.mark.parametrize(
    "address",
    [
        "http://hooks.example.gov/",
        "https://127.0.0.1/",
        "https://127.0.0.1:8443/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://169.254.169.254/latest/meta-data/",
        "https://10.0.0.1/",
        "https://localhost/",
        "https://intranet/",
        "https://printer.local/",
        "https://metadata.google.internal/",
        "https://hooks.example.gov:0/",
        "https://hooks.example.gov/#part",
        "https://" + "a" * 64 + ".gov/",
    ],
)
def test_an_address_of_ones_own_network_is_named_before_it_is_stored(address: str) -> None:
    assert problem_with_webhook(address)


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("hooks.example.gov", ["127.0.0.1"]),
        ("hooks.example.gov", ["8.8.8.8", "10.0.0.7"]),
        ("hooks.example.gov", ["169.254.169.254"]),
        ("hooks.example.gov", ["::ffff:192.168.0.1"]),
        ("hooks.example.gov", ["100.64.0.1"]),
        ("2130706433.example.gov", ["224.0.0.1"]),
    ],
)
async def test_a_name_that_leads_into_a_private_network_is_refused_with_all_its_addresses_looked_at(
    name: str, addresses: list[str]
) -> None:
    channel = WebhookChannel(KEY, timeout_seconds=1, resolver=resolves_to(*addresses))
    receipt = await channel.send(a_hook(f"https://{name}/"))
    await channel.aclose()
    assert receipt.outcome is Outcome.REFUSED
    assert "of a private network" in receipt.detail


@pytest.mark.parametrize("guise", ["2130706433", "0x7f.0.0.1", "0x7f.1", "127.1", "017700000001"])
async def test_a_number_in_another_guise_is_refused(guise: str) -> None:
    async def as_the_machine_reads_it(host: str, port: int) -> list[str]:
        return [socket.inet_ntoa(socket.inet_aton(host))]

    channel = WebhookChannel(KEY, timeout_seconds=1, resolver=as_the_machine_reads_it)
    receipt = await channel.send(a_hook(f"https://{guise}/"))
    await channel.aclose()
    assert receipt.outcome is Outcome.REFUSED
    assert "private network" in receipt.detail


async def test_a_name_without_any_address_is_tried_again() -> None:
    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    for resolver in (nowhere, resolves_to()):
        channel = WebhookChannel(KEY, timeout_seconds=1, resolver=resolver)
        receipt = await channel.send(a_hook("https://hooks.example.gov/"))
        await channel.aclose()
        assert receipt.outcome is Outcome.TRY_AGAIN
        assert receipt.detail.startswith("nothing was sent: hooks.example.gov ")


# -- the address that was checked is the one that is connected to


async def test_a_name_is_resolved_once_and_its_certificate_is_the_one_of_the_name(tmp_path: Path) -> None:
    authority = trustme.CA()
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    asked: list[str] = []

    async def first_here_then_elsewhere(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.9"]

    async with LocalServer(authority.issue_cert("hooks.example.gov"), tmp_path) as receiver:
        channel = WebhookChannel(KEY, 5, allow_private=True, tls_context=trust, resolver=first_here_then_elsewhere)
        receipt = await channel.send(a_hook(f"https://hooks.example.gov:{receiver.port}/hook"))
        await channel.aclose()
        assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
        assert receiver.taken[0].headers["host"] == f"hooks.example.gov:{receiver.port}"
    assert asked == ["hooks.example.gov"]


async def test_a_certificate_of_another_name_is_not_sent_anything(tmp_path: Path) -> None:
    authority = trustme.CA()
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    async with LocalServer(authority.issue_cert("127.0.0.1"), tmp_path) as receiver:
        channel = WebhookChannel(KEY, 5, allow_private=True, tls_context=trust, resolver=resolves_to("127.0.0.1"))
        receipt = await channel.send(a_hook(f"https://hooks.example.gov:{receiver.port}/"))
        await channel.aclose()
        assert (receipt.outcome, receiver.asked) == (Outcome.TRY_AGAIN, 0)
        assert "nothing was sent" in receipt.detail
        assert "certificate" in receipt.detail


async def test_the_next_address_of_a_name_is_tried_where_the_first_takes_no_connection(receiver: LocalServer) -> None:
    assert ipaddress.ip_address("127.0.0.9").is_loopback  # nothing listens there
    channel = WebhookChannel(KEY, 5, allow_private=True, resolver=resolves_to("127.0.0.9", "127.0.0.1"))
    receipt = await channel.send(a_hook(f"http://hooks.example.gov:{receiver.port}/"))
    await channel.aclose()
    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail


async def test_the_machines_proxies_are_not_asked(receiver: LocalServer, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    channel = WebhookChannel(KEY, 5, allow_private=True)
    assert (await channel.send(a_hook(address))).outcome is Outcome.ACCEPTED
    await channel.aclose()


async def test_a_connection_is_not_kept_for_another_name(channel: WebhookChannel, receiver_wire: FaultProxy, address: str) -> None:
    for _ in range(3):
        await channel.send(a_hook(address))
    assert receiver_wire.connections == 3


# -- the wire


async def test_an_answer_lost_on_the_wire_is_unknown(
    channel: WebhookChannel, receiver: LocalServer, receiver_wire: FaultProxy, address: str
) -> None:
    receiver_wire.cut_before_client = b"HTTP/1.1 200"
    receipt = await channel.send(a_hook(address))
    assert (receipt.outcome, receipt.provider_id, len(receiver.taken)) == (Outcome.UNKNOWN, None, 1)
    assert "may have been taken" in receipt.detail


async def test_a_black_hole_is_unknown_within_the_time_allowed(receiver_wire: FaultProxy, address: str) -> None:
    receiver_wire.fault = Fault.SILENCE
    hasty = WebhookChannel(KEY, timeout_seconds=0.2, allow_private=True)
    async with asyncio.timeout(5):
        assert (await hasty.send(a_hook(address))).outcome is Outcome.UNKNOWN
    await hasty.aclose()


async def test_a_channel_that_is_closed_raises_nothing(channel: WebhookChannel, address: str) -> None:
    await channel.aclose()
    assert (await channel.send(a_hook(address))).outcome in {Outcome.ACCEPTED, Outcome.TRY_AGAIN, Outcome.UNKNOWN}
    await channel.aclose()
