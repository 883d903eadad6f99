"""What every channel promises, held against each of them: e-mail, SMS, voice, webhook, Apprise, and the file that stands in for each."""

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from datetime import timedelta, timezone
from pathlib import Path

import httpx
import pytest
from starlette.responses import Response

from notifiers import (
    AppriseChannel,
    Channel,
    EmailChannel,
    FileChannel,
    Message,
    Outcome,
    SmsChannel,
    SmtpServer,
    TwilioAccount,
    VoiceChannel,
    WebhookChannel,
)
from notifiers.smtp import Encryption
from notifiers.spoken import spoken
from tests.notifiers import fake_twilio
from tests.notifiers.fake_twilio import TOKEN, FakeTwilio
from tests.notifiers.fault_proxy import FaultProxy
from tests.notifiers.local_server import LocalServer
from tests.notifiers.messages import a_message
from tests.notifiers.post_office import KEPT, PostOffice


@dataclass(frozen=True)
class Arrival:
    """What came out at the other end: to whom, under which key, with what text."""

    to: str
    key: str
    text: str


class Desk(ABC):
    """A channel with its provider, as a test sees them."""

    channel: Channel
    good_address: str
    bad_addresses: tuple[str, ...]

    @abstractmethod
    def arrivals(self) -> list[Arrival]: ...

    @abstractmethod
    def bring_about(self, outcome: Outcome) -> None:
        """See to it that the next attempt comes to this."""

    def message(self, to: str | None = None, key: str = "delivery-17") -> Message:
        return a_message(to or self.good_address, key=key, channel=self.channel.name)

    def text_of(self, message: Message) -> str:
        """The text of a message as it arrives."""
        return message.text


BAD_EMAILS = (
    "",
    "nobody",
    "@example.gov",
    "a@",
    "a b@example.gov",
    "a@example.gov, b@example.gov",
    "a@example.gov\r\nBcc: b@example.gov",
    "a\0@example.gov",
)
BAD_NUMBERS = (
    "",
    "911",
    "909-555-0100",
    "+1909555",
    "+19095550100 ext 5",
    "+1 909 555 0100",
    "+19095550100,+19095550101",
    "+19095550100\r\n",
    "nobody@example.gov",
)


class EmailDesk(Desk):
    good_address = "duty@example.gov"
    bad_addresses = BAD_EMAILS

    def __init__(self, office: PostOffice, wire: FaultProxy) -> None:
        self.office, self.wire = office, wire
        self.channel = EmailChannel(
            SmtpServer("127.0.0.1", wire.port, Encryption.NEVER), "Spillclock <notices@example.gov>", timeout_seconds=5
        )

    def arrivals(self) -> list[Arrival]:
        return [
            Arrival(recipient, str(taken.parsed["Message-ID"]).strip("<>").partition("@")[0], taken.text)
            for taken in self.office.taken
            for recipient in taken.recipients
        ]

    def bring_about(self, outcome: Outcome) -> None:
        match outcome:
            case Outcome.TRY_AGAIN:
                self.office.answers["RCPT"] = "451 4.7.1 greylisted, come back later"
            case Outcome.REFUSED:
                self.office.answers["RCPT"] = "550 5.1.1 no such mailbox"
            case _:
                self.wire.cut_before_client = KEPT


class SmsDesk(Desk):
    good_address = "+19095550100"
    bad_addresses = BAD_NUMBERS

    def __init__(self, twilio: FakeTwilio, wire: FaultProxy, account: TwilioAccount, http: httpx.AsyncClient) -> None:
        self.twilio, self.wire = twilio, wire
        self.channel = SmsChannel(account, http, timeout_seconds=5)

    def arrivals(self) -> list[Arrival]:
        return [Arrival(taken.form["To"], taken.headers["idempotency-key"], taken.form["Body"]) for taken in self.twilio.taken]

    def bring_about(self, outcome: Outcome) -> None:
        match outcome:
            case Outcome.TRY_AGAIN:
                self.twilio.answer = fake_twilio.error(429, 20429, "Too Many Requests")
            case Outcome.REFUSED:
                self.twilio.answer = fake_twilio.error(400, 21610, "Attempt to send to unsubscribed recipient")
            case _:
                self.wire.cut_before_client = b"HTTP/1.1 201"


class VoiceDesk(Desk):
    good_address = "+19095550100"
    bad_addresses = BAD_NUMBERS

    def __init__(self, twilio: FakeTwilio, wire: FaultProxy, account: TwilioAccount, http: httpx.AsyncClient) -> None:
        self.twilio, self.wire = twilio, wire
        self.channel = VoiceChannel(account, http, timeout_seconds=5)

    def arrivals(self) -> list[Arrival]:
        return [Arrival(call.form["To"], call.headers["idempotency-key"], call.said[0]) for call in self.twilio.calls]

    def text_of(self, message: Message) -> str:
        return spoken(message.text, "en")

    bring_about = SmsDesk.bring_about  # type: ignore[assignment] # the same Twilio on the same wire


BAD_WEB_ADDRESSES = (
    "",
    "hooks.example.gov",
    "ftp://hooks.example.gov/",
    "https://",
    "https://user:password@hooks.example.gov/",
    "https://hooks.example.gov/a b",
    "https://hooks.example.gov/\r\nHost: other",
    "https://hooks.example.gov:99999/",
    "https://hooks.example.gov/" + "x" * 320,
)


class WebhookDesk(Desk):
    good_address = ""
    bad_addresses = BAD_WEB_ADDRESSES

    def __init__(self, receiver: LocalServer, wire: FaultProxy) -> None:
        self.receiver, self.wire = receiver, wire
        self.good_address = f"http://127.0.0.1:{wire.port}/hook"
        self.channel = WebhookChannel(b"a signing key", timeout_seconds=5, allow_private=True)

    def arrivals(self) -> list[Arrival]:
        return [Arrival(self.good_address, one.headers["webhook-id"], one.read["data"]["text"]) for one in self.receiver.taken]

    def bring_about(self, outcome: Outcome) -> None:
        match outcome:
            case Outcome.TRY_AGAIN:
                self.receiver.answer = Response("busy", 503)
            case Outcome.REFUSED:
                self.receiver.answer = Response("gone", 410)
            case _:
                self.wire.cut_before_client = b"HTTP/1.1 200"


BAD_APPRISE_ADDRESSES = (
    "",
    "slack",
    "json://example.gov/",
    "xmls://example.gov/",
    "syslog://",
    "dbus://",
    "mailto://user:password@example.gov",
    "twilio://sid:token@+19095550100",
    "https://example.gov/",
    "slack://A/B/C, slack://D/E/F",
    "slack://A/B/C?optional=yes",
)


class AppriseDesk(Desk):
    good_address = ""
    bad_addresses = BAD_APPRISE_ADDRESSES

    def __init__(self, receiver: LocalServer, wire: FaultProxy) -> None:
        self.receiver, self.wire = receiver, wire
        self.good_address = f"ntfy://127.0.0.1:{wire.port}/a-topic-that-nobody-may-see"
        self.channel = AppriseChannel(timeout_seconds=5, allow_private=True)

    def message(self, to: str | None = None, key: str = "delivery-17") -> Message:
        # Apprise has no place for a key: here it travels as the subject.
        return replace(super().message(to, key), subject=key)

    def arrivals(self) -> list[Arrival]:
        return [Arrival(self.good_address, one.read["title"], one.read["message"]) for one in self.receiver.taken]

    def bring_about(self, outcome: Outcome) -> None:
        match outcome:
            case Outcome.TRY_AGAIN:
                self.receiver.answer = Response("busy", 503)
            case Outcome.REFUSED:
                self.good_address = "slack://too-few-parts"
            case _:
                self.wire.cut_before_client = b"HTTP/1.1 200"


class FileDesk(Desk):
    good_address = ""

    def __init__(self, folder: Path, stands_in_for: type[Desk], name: str) -> None:
        self.good_address, self.bad_addresses = stands_in_for.good_address, stands_in_for.bad_addresses
        self.good_address = self.good_address or GOOD_WHERE_NOTHING_LISTENS[name]
        self.path = folder / "outbox.jsonl"
        self.channel = FileChannel(self.path, name)

    def arrivals(self) -> list[Arrival]:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.is_file() else []
        return [Arrival(line["to"], line["key"], line["text"]) for line in map(json.loads, lines)]

    def bring_about(self, outcome: Outcome) -> None:
        assert outcome is Outcome.TRY_AGAIN  # a file knows no recipient who refuses
        self.path.mkdir()  # where a folder is, no file can be


GOOD_WHERE_NOTHING_LISTENS = {"webhook": "https://hooks.example.gov/spills", "apprise": "ntfys://ntfy.example.gov/a-topic"}
CHANNELS = ("email", "sms", "voice", "webhook", "apprise")


@pytest.fixture(params=[*CHANNELS, *(f"file for {name}" for name in CHANNELS)])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    match request.param:
        case "email":
            return EmailDesk(request.getfixturevalue("post_office"), request.getfixturevalue("mail_wire"))
        case "sms":
            fixtures = ("twilio", "twilio_wire", "twilio_account", "http")
            return SmsDesk(*map(request.getfixturevalue, fixtures))
        case "voice":
            return VoiceDesk(*map(request.getfixturevalue, ("twilio", "twilio_wire", "twilio_account", "http")))
        case "webhook" | "apprise":
            made = {"webhook": WebhookDesk, "apprise": AppriseDesk}[request.param]
            return made(request.getfixturevalue("receiver"), request.getfixturevalue("receiver_wire"))
        case _:
            name = request.param.removeprefix("file for ")
            kinds = {"email": EmailDesk, "sms": SmsDesk, "voice": VoiceDesk, "webhook": WebhookDesk, "apprise": AppriseDesk}
            return FileDesk(tmp_path, kinds[name], name)


async def test_a_message_arrives_once_at_its_one_address_with_its_key_and_text(desk: Desk) -> None:
    message = desk.message()
    receipt = await desk.channel.send(message)
    await desk.channel.aclose()

    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
    assert receipt.provider_id
    assert desk.arrivals() == [Arrival(message.to, message.key, desk.text_of(message))]


async def test_every_bad_address_is_named_in_words_and_refused_before_anything_is_sent(desk: Desk) -> None:
    for address in desk.bad_addresses:
        problem = desk.channel.problem_with(address)
        assert problem is not None, f"{address!r} passed"
        assert len(problem.split()) >= 6, "says too little"
        receipt = await desk.channel.send(replace(desk.message(), to=address))
        assert (receipt.outcome, receipt.provider_id, receipt.detail) == (Outcome.REFUSED, None, problem)
    await desk.channel.aclose()
    assert desk.arrivals() == []


def test_a_good_address_has_no_problem(desk: Desk) -> None:
    assert desk.channel.problem_with(desk.good_address) is None


async def test_another_attempt_with_the_same_key_carries_the_same_key(desk: Desk) -> None:
    for key in ("delivery-17", "delivery-18", "delivery-17"):
        await desk.channel.send(desk.message(key=key))
    await desk.channel.aclose()
    assert [arrival.key for arrival in desk.arrivals()] == ["delivery-17", "delivery-18", "delivery-17"]


@pytest.mark.parametrize(
    ("desk", "outcome"),
    [
        *((name, outcome) for name in CHANNELS for outcome in (Outcome.TRY_AGAIN, Outcome.REFUSED, Outcome.UNKNOWN)),
        *((f"file for {name}", Outcome.TRY_AGAIN) for name in CHANNELS),
    ],
    indirect=["desk"],
)
async def test_what_went_wrong_is_told_by_the_receipt_and_not_raised(desk: Desk, outcome: Outcome) -> None:
    desk.bring_about(outcome)
    receipt = await desk.channel.send(desk.message())
    await desk.channel.aclose()
    assert receipt.outcome is outcome, receipt.detail
    assert receipt.detail


async def test_the_next_message_goes_out_after_one_was_refused(desk: Desk) -> None:
    assert (await desk.channel.send(desk.message(to="nobody at all"))).outcome is Outcome.REFUSED
    assert (await desk.channel.send(desk.message())).outcome is Outcome.ACCEPTED
    await desk.channel.aclose()


async def test_messages_sent_at_once_all_arrive(desk: Desk) -> None:
    keys = [f"delivery-{number}" for number in range(30)]
    receipts = await asyncio.gather(*(desk.channel.send(desk.message(key=key)) for key in keys))
    await desk.channel.aclose()
    assert {receipt.outcome for receipt in receipts} == {Outcome.ACCEPTED}
    assert sorted(arrival.key for arrival in desk.arrivals()) == sorted(keys)


class Log(logging.Handler):
    """What a program's log gets: pytest's own also listens where a library was told to keep its lines to itself."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


async def test_neither_text_nor_address_is_written_to_a_log(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log = Log()
    logging.getLogger().addHandler(log)
    message = desk.message()
    try:
        await desk.channel.send(message)
        await desk.channel.aclose()
    finally:
        logging.getLogger().removeHandler(log)
    # The servers of the tests run in the same process and log what they get; they are not ours.
    ours = "\n".join(record.getMessage() for record in log.records if record.name.partition(".")[0] not in {"mail", "uvicorn"})
    for secret in (message.text.splitlines()[0], message.subject, desk.good_address, TOKEN):
        assert secret not in ours


async def test_a_time_in_another_zone_names_the_same_moment(desk: Desk) -> None:
    pacific = timezone(timedelta(hours=-8))
    message = desk.message()
    assert (await desk.channel.send(replace(message, at=message.at.astimezone(pacific)))).outcome is Outcome.ACCEPTED
    await desk.channel.aclose()


async def test_no_line_end_or_nul_in_a_message_makes_a_second_message_or_header(desk: Desk) -> None:
    evil = "Subject\r\nBcc: other@example.gov\r\n\r\n\0.\r\nMAIL FROM:<x@example.gov>\u2028\x85\ud800"
    message = replace(desk.message(), subject=evil, text=evil, spill=evil, duty=evil, step=evil)
    receipt = await desk.channel.send(message)
    await desk.channel.aclose()
    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
    assert [arrival.to for arrival in desk.arrivals()] == [message.to]
