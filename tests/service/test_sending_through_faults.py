"""Every channel over a wire that is reset, silent, cut mid-answer or slow: nothing is lost or recorded sent twice, doubt is marked."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from notifiers import (
    AppriseChannel,
    Channel,
    EmailChannel,
    Message,
    Outcome,
    Receipt,
    SmsChannel,
    SmtpServer,
    TwilioAccount,
    VoiceChannel,
    WebhookChannel,
)
from notifiers.smtp import Encryption
from service.outbox import Promise, promise
from service.parties import Person
from service.transaction import transaction
from service.wording import Words
from tests.houses import Household, a_household
from tests.notifiers.fake_twilio import ACCOUNT_SID, TOKEN, FakeTwilio
from tests.notifiers.fault_proxy import Fault, FaultProxy
from tests.notifiers.local_server import LocalServer
from tests.notifiers.post_office import KEPT, PostOffice
from tests.service.channels import Post
from tests.service.small_law import CALL, small_law
from tests.spills import a_report

MESSAGES = 4
TIMEOUT_SECONDS = 1.0
# Enough waits for a message that was tried three times.
LATER = {"minutes": 10}
CHANNELS = ("email", "sms", "voice", "webhook", "apprise")


@dataclass
class Provider:
    """A channel, the wire to its provider, and what arrived there: the texts that tell the messages apart."""

    channel: Channel
    wire: FaultProxy
    answer: bytes  # what the answer to a message that was taken begins with
    address: Callable[[int], str]
    arrived: Callable[[], list[str]]


@asynccontextmanager
async def a_provider(name: str) -> AsyncIterator[Provider]:
    async with AsyncExitStack() as stack:
        server: Any = await stack.enter_async_context(
            {"email": PostOffice, "sms": FakeTwilio, "voice": FakeTwilio}.get(name, LocalServer)()
        )
        wire = await stack.enter_async_context(FaultProxy(("127.0.0.1", server.port)))
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False))
        account = TwilioAccount(ACCOUNT_SID, TOKEN, "+19095550123", f"http://127.0.0.1:{wire.port}", "https://spills.example.gov")
        number = "+1909555{:04}".format
        match name:
            case "email":
                smtp = SmtpServer("127.0.0.1", wire.port, Encryption.NEVER)
                channel: Channel = EmailChannel(smtp, "spills@example.gov", timeout_seconds=TIMEOUT_SECONDS)
                provider = Provider(channel, wire, KEPT, "p{}@example.gov".format, lambda: [one.text for one in server.taken])
            case "sms":
                channel = SmsChannel(account, http, TIMEOUT_SECONDS)
                provider = Provider(channel, wire, b"HTTP/1.1 201", number, lambda: [one.form["Body"] for one in server.taken])
            case "voice":
                channel = VoiceChannel(account, http, TIMEOUT_SECONDS)
                provider = Provider(channel, wire, b"HTTP/1.1 201", number, lambda: [one.said[0] for one in server.calls])
            case "webhook":
                channel = WebhookChannel(b"a signing key", TIMEOUT_SECONDS, allow_private=True)
                address = f"http://127.0.0.1:{wire.port}/{{}}".format
                provider = Provider(channel, wire, b"HTTP/1.1 200", address, lambda: [one.read["data"]["text"] for one in server.taken])
            case _:
                channel = AppriseChannel(TIMEOUT_SECONDS, allow_private=True)
                address = f"ntfy://127.0.0.1:{wire.port}/topic{{}}".format
                provider = Provider(channel, wire, b"HTTP/1.1 200", address, lambda: [one.read["message"] for one in server.taken])
        try:
            yield provider
        finally:
            await channel.aclose()
        assert getattr(server, "complaints", []) == []


class Busy(Post):
    """A channel whose provider asks for time, once."""

    async def send(self, message: Message) -> Receipt:
        receipt = await super().send(message)
        return receipt if self.got[1:] else Receipt(Outcome.TRY_AGAIN, detail="slow down", retry_after_seconds=self.seconds)

    seconds = 90.0


@pytest.mark.parametrize(("asked", "waits"), [(90.0, 90), (1.0, 5), (1e9, 1800)])
async def test_a_provider_that_asks_for_time_is_given_it_within_reason(tmp_path: Path, asked: float, waits: int) -> None:
    busy = Busy("webhook")
    busy.seconds = asked
    async with a_household(tmp_path, law=small_law(CALL), channels={"webhook": busy}, people=[]) as home:
        reference = await home.report(a_report(volume={"quantity": 1, "unit": "gal"}))
        async with transaction(home.house, "test") as tx:
            person = Person("P", "duty_officer", {"webhook": "https://hooks.example.gov/"})
            await promise(tx, Promise(await tx.spill(reference), None, "step", "a test", "test"), person, "webhook", Words("a", "b", "c"))
        await home.work()
        [row] = await home.messages()
        assert row.next_at == home.clock.at + timedelta(seconds=waits)
        home.clock.jump(seconds=waits)
        await home.work()
        assert len(busy.got) == 2


async def promise_all(home: Household, provider: Provider) -> None:
    reference = await home.report(a_report(volume={"quantity": 1, "unit": "gal"}))
    name = provider.channel.name
    async with transaction(home.house, "test") as tx:
        spill = await tx.spill(reference)
        for number in range(MESSAGES):
            person = Person(f"P{number}", "duty_officer", {name: provider.address(number)})
            text = f"message {'abcd'[number]}"
            await promise(tx, Promise(spill, None, "step", "a test", f"test {number}"), person, name, Words(text, text, text))


def do(wire: FaultProxy, fault: str, answer: bytes) -> None:
    match fault:
        case "reset":
            wire.fault = Fault.RESET
        case "black hole":
            wire.fault = Fault.SILENCE
        case "slow":
            wire.fault = Fault.SLOW
        case "cut mid-answer":
            wire.cut_before_client = answer


@pytest.mark.parametrize("fault", ["reset", "black hole", "cut mid-answer", "slow"])
@pytest.mark.parametrize("name", CHANNELS)
async def test_nothing_is_lost_and_what_may_have_come_twice_says_so(tmp_path: Path, name: str, fault: str) -> None:
    async with a_provider(name) as provider:
        channels = {name: provider.channel}
        async with a_household(tmp_path, law=small_law(CALL), channels=channels, people=[]) as home:
            await promise_all(home, provider)
            for _ in range(2):
                do(provider.wire, fault, provider.answer)
                await home.work()
                home.clock.jump(**LATER)
            provider.wire.fault, provider.wire.cut_before_client = Fault.NONE, None
            await home.work()

            arrived = Counter(provider.arrived())
            messages = await home.messages()
            assert {message.state for message in messages} == {"accepted"}
            assert sorted(arrived) == [f"message {letter}" for letter in "abcd"], "no message is lost"
            doubtful = 0
            for message in messages:
                attempts = await home.attempts(message)
                outcomes = [attempt.outcome for attempt in attempts]
                assert outcomes.count(Outcome.ACCEPTED) == 1, "none is recorded sent twice"
                unknown = outcomes.count(Outcome.UNKNOWN)
                assert attempts[-1].may_be_double is bool(unknown), "what may have come twice says so"
                assert arrived[message.text] <= 1 + unknown, "and nothing else came twice"
                doubtful += unknown
            match fault:
                case "slow":
                    assert doubtful == 0, "slow is not lost"
                case "cut mid-answer":
                    assert provider.wire.cuts >= doubtful == sum(arrived.values()) - MESSAGES > 0
