"""Apprise through its own plug-ins against a real HTTP server: reviewed services only, one outcome a delivery, no secret told."""

import asyncio
import importlib.util
import socket
import time
from collections.abc import Awaitable, Callable

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse

from notifiers import AppriseChannel, Outcome
from notifiers.apprise_channel import SCHEMES, problem_with_apprise, problem_with_parts
from notifiers.message import Message
from tests.notifiers.fault_proxy import Fault, FaultProxy
from tests.notifiers.local_server import LocalServer
from tests.notifiers.messages import a_message

TOPIC = "a-topic-that-nobody-may-see"


@pytest.fixture
def channel() -> AppriseChannel:
    return AppriseChannel(timeout_seconds=5, allow_private=True)


@pytest.fixture
def address(receiver_wire: FaultProxy) -> str:
    return f"ntfy://user:hush-hush@127.0.0.1:{receiver_wire.port}/{TOPIC}"


def a_note(address: str, text: str = "Call the board by 3:05 p.m. PST.") -> Message:
    return a_message(address, channel="apprise", text=text)


def resolves_to(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


# -- which addresses


@pytest.mark.parametrize(
    "address",
    [
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
        "workflows://prod-00.westus.logic.azure.com:443/643e69f83c8944/abc",
        "discord://1234567890/abcdefghij",
        "tgram://123456789:AAabcdefghijklmnopqrstuvwxyz123456/12345",
        "pagerduty://" + "a" * 32 + "@" + "b" * 20,
        "mmosts://chat.example.gov/abcdefgh",
        "rockets://user:pass@chat.example.gov/#spills",
        "matrixs://user:pass@matrix.example.gov/#spills",
        "ntfys://ntfy.example.gov/spills",
        "gotifys://push.example.gov/Atoken123",
        "signals://signal.example.gov/+19095550123/+19095550100",
        "gchat://workspace/key/token",
        "webex://" + "a" * 80,
    ],
)
def test_the_services_that_were_gone_through_are_allowed(address: str) -> None:
    assert problem_with_apprise(address) is None
    assert problem_with_parts(address) is None


OTHERS = (
    "json jsons xml form forms apprise syslog dbus gnome macosx windows mailto mailtos twilio exec file memory mqtt growl kodi xmpp "
    "https http msteams"
)


@pytest.mark.parametrize("scheme", OTHERS.split())
def test_every_other_service_is_refused(scheme: str) -> None:
    assert scheme not in SCHEMES
    problem = problem_with_apprise(f"{scheme}://user:hush@example.gov/token")
    assert problem is not None
    assert "hush" not in problem


@pytest.mark.parametrize("scheme", ["ntfy", "gotify", "mmost", "rocket", "matrix", "signal"])
def test_an_unencrypted_service_is_refused_unless_ones_own_network_is_allowed(scheme: str) -> None:
    address = f"{scheme}://push.example.gov/Atoken123"
    assert f"{scheme}s://" in (problem_with_apprise(address) or "")
    assert problem_with_apprise(address, allow_private=True) is None


@pytest.mark.parametrize("parameter", ["optional=yes", "verify=no", "redirect=yes", "delay=1h", "retry=5", "to=other"])
def test_a_parameter_by_which_a_message_could_get_lost_is_refused(parameter: str) -> None:
    assert parameter.partition("=")[0] in (problem_with_apprise(f"ntfys://ntfy.example.gov/spills?{parameter}") or "")


def test_without_the_extra_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    problem = AppriseChannel().problem_with("ntfys://ntfy.example.gov/spills")
    assert "spillclock[apprise]" in (problem or "")


async def test_an_address_that_apprise_cannot_read_is_refused_without_being_repeated(channel: AppriseChannel) -> None:
    receipt = await channel.send(a_note("slack://hush"))
    await channel.aclose()
    assert receipt.outcome is Outcome.REFUSED
    assert "hush" not in receipt.detail


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["169.254.169.254"]])
async def test_a_host_in_a_private_network_is_refused(addresses: list[str]) -> None:
    channel = AppriseChannel(timeout_seconds=1, resolver=resolves_to(*addresses))
    receipt = await channel.send(a_note("ntfys://push.example.gov/topic"))
    await channel.aclose()
    assert receipt.outcome is Outcome.REFUSED
    assert "private network" in receipt.detail


@pytest.mark.parametrize(
    "address", ["ntfys://127.0.0.1/topic", "gotifys://localhost/Atoken123", "mmosts://[::1]/abcdefgh", "matrixs://u:p@intranet/#room",
                "workflows://10.0.0.1:443/643e69f83c8944/abc", "rockets://u:p@192.168.0.1/#room", "signals://169.254.169.254/+19095550123/+19095550100"]
)  # fmt: skip
async def test_an_address_that_names_a_private_host_is_refused(address: str) -> None:
    channel = AppriseChannel(timeout_seconds=1)
    receipt = await channel.send(a_note(address))
    await channel.aclose()
    assert receipt.outcome is Outcome.REFUSED, receipt.detail


async def test_a_host_that_cannot_be_resolved_is_tried_again() -> None:
    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    channel = AppriseChannel(timeout_seconds=1, resolver=nowhere)
    receipt = await channel.send(a_note("ntfys://push.example.gov/topic"))
    await channel.aclose()
    assert receipt.outcome is Outcome.TRY_AGAIN


# -- what is sent and what comes of it


async def test_subject_and_text_arrive_through_the_plug_in(channel: AppriseChannel, receiver: LocalServer, address: str) -> None:
    receipt = await channel.send(a_note(address))
    await channel.aclose()
    assert (receipt.outcome, receipt.provider_id, receipt.detail) == (Outcome.ACCEPTED, "delivery-17", "ntfy took it")
    [posted] = receiver.taken
    assert posted.read == {"topic": TOPIC, "title": "Two hours to call the board", "message": "Call the board by 3:05 p.m. PST."}


async def test_another_self_hosted_service_is_reached_too(receiver: LocalServer) -> None:
    channel = AppriseChannel(timeout_seconds=5, allow_private=True)
    receipt = await channel.send(a_note(f"gotify://127.0.0.1:{receiver.port}/Atoken123456789"))
    await channel.aclose()
    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
    assert receiver.taken[0].read["message"] == "Call the board by 3:05 p.m. PST."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (PlainTextResponse("busy", 503), "ntfy did not take it: answer 503"),
        (JSONResponse({"code": 40301, "error": f"forbidden for {TOPIC}"}, 403), "ntfy did not take it: answer 40301"),
        (PlainTextResponse("not found", 404), "ntfy did not take it: answer 404"),
        (RedirectResponse("http://127.0.0.1:1/"), "ntfy did not take it: answer 307"),
    ],
)
async def test_a_service_that_says_no_is_tried_again(
    channel: AppriseChannel, receiver: LocalServer, address: str, answer: PlainTextResponse, words: str
) -> None:
    receiver.answer = answer
    receipt = await channel.send(a_note(address))
    await channel.aclose()
    assert (receipt.outcome, receipt.detail) == (Outcome.TRY_AGAIN, words)
    assert receiver.asked == 1, "neither a redirect was followed nor the same sent again"


async def test_no_part_of_the_address_is_told_whatever_happens(
    channel: AppriseChannel, receiver: LocalServer, receiver_wire: FaultProxy, address: str
) -> None:
    receiver.answer = PlainTextResponse(f"no such topic {TOPIC} of user hush-hush", 500)
    details = [(await channel.send(a_note(address))).detail]
    receiver_wire.fault = Fault.RESET
    details.append((await channel.send(a_note(address))).detail)
    await channel.aclose()
    for secret in (TOPIC, "hush-hush", str(receiver_wire.port)):
        assert not any(secret in detail for detail in details)


async def test_a_text_too_long_for_the_service_arrives_in_parts(receiver: LocalServer) -> None:
    text = " ".join(f"word{number}" for number in range(2000))
    channel = AppriseChannel(timeout_seconds=5, allow_private=True)
    receipt = await channel.send(a_note(f"ntfy://127.0.0.1:{receiver.port}/topic", text))
    await channel.aclose()
    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
    assert len(receiver.taken) > 1
    said = " ".join(posted.read["message"] for posted in receiver.taken)
    assert "word0 " in said
    assert "word1999" in said


async def test_nothing_listening_is_tried_again(channel: AppriseChannel) -> None:
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        receipt = await channel.send(a_note(f"ntfy://127.0.0.1:{nobody_listens.getsockname()[1]}/topic"))
    await channel.aclose()
    assert receipt.outcome is Outcome.TRY_AGAIN


async def test_an_answer_lost_on_the_wire_is_unknown(
    channel: AppriseChannel, receiver: LocalServer, receiver_wire: FaultProxy, address: str
) -> None:
    receiver_wire.cut_before_client = b"HTTP/1.1 200"
    receipt = await channel.send(a_note(address))
    await channel.aclose()
    assert (receipt.outcome, len(receiver.taken)) == (Outcome.UNKNOWN, 1)


async def test_an_answer_that_does_not_come_is_unknown_and_holds_up_nothing_else(receiver: LocalServer, address: str) -> None:
    receiver.wait_seconds = 1.0
    channel = AppriseChannel(timeout_seconds=0.5, allow_private=True)
    await asyncio.to_thread(problem_with_parts, address)  # Apprise is loaded
    longest, before = 0.0, time.monotonic()
    sending = asyncio.ensure_future(channel.send(a_note(address)))
    while not sending.done():
        await asyncio.sleep(0.01)
        longest, before = max(longest, time.monotonic() - before), time.monotonic()
    await channel.aclose()
    assert (await sending).outcome is Outcome.UNKNOWN
    assert longest < 0.3, "the loop went on meanwhile"
    await asyncio.sleep(0.7)


async def test_after_the_end_it_is_tried_again_by_whoever_works_next(channel: AppriseChannel, address: str) -> None:
    await channel.aclose()
    assert (await channel.send(a_note(address))).outcome is Outcome.TRY_AGAIN
