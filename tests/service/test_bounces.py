"""Inbound mail: bounces in the forms of several servers name their message, forged ones change nothing, and what people write is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service import incoming_bodies
from service.bounces import take_mail
from service.errors import BadInput
from service.events import ChannelChanged, MessageFailed, ReplyReceived, RungReachedNobody
from service.links import bounce_address, key_of_bounce
from service.settings import read_settings
from service.tables import Contact, MessageRow
from tests.houses import Household
from tests.service.channels import Post
from tests.service.small_law import TWO_HOURS, small_law
from tests.service.telephones import OFFICER, Telephones, telephones
from tests.spills import a_report

SECRET = "a secret for inbound mail"
SAMPLES = Path(__file__).parent / "bounces"
# Mail first, texts only further up.
MAIL_FIRST = """
    - {at: start, tell: [duty_officer], by: [email]}
    - {at: start+30m, tell: [supervisor], by: [sms, email]}
    - {at: due, tell: [director], by: [email]}
"""
HARD = ["postfix-hard", "exim-hard", "exim-words-hard", "qmail-words-hard", "exchange-hard", "gmail-hard"]


@pytest.fixture
async def phones(tmp_path: Path) -> AsyncIterator[Telephones]:
    settings = {"mail_from": "Spills <spills@chino.example>", "mail_hook_secret": SECRET}
    async with telephones(tmp_path, law=small_law(ladder=MAIL_FIRST), **settings) as found:
        yield found


async def mailed(phones: Telephones) -> tuple[str, MessageRow]:
    """A spill about which the officer was told by mail, and that message."""
    reference = await phones.home.report(a_report())
    await phones.home.work()
    return reference, (await phones.home.messages(channel="email"))[-1]


def sample(name: str, return_path: str) -> bytes:
    """A mail of the samples, to this address."""
    return (SAMPLES / f"{name}.eml").read_bytes().replace(b"RETURN-PATH", return_path.encode())


async def bounce(phones: Telephones, message: MessageRow, name: str) -> str:
    return await take_mail(phones.home.house, sample(name, bounce_address(phones.home.house, message.id)))


# -- the way back


async def test_every_mail_goes_out_with_a_return_path_of_its_own(phones: Telephones) -> None:
    post = Post("email")
    phones.home.channels["email"] = post
    _, message = await mailed(phones)
    [sent] = post.got
    assert sent.return_path == bounce_address(phones.home.house, message.id)
    local, _, domain = sent.return_path.partition("@")
    assert (domain, local.partition("+")[0], len(local) <= 64) == ("chino.example", "bounce", True)
    assert key_of_bounce(phones.home.house, sent.return_path.upper()) == message.id


async def test_without_a_way_for_bounces_mail_comes_back_to_the_sender(small: Household) -> None:
    assert bounce_address(small.house, "0" * 32) == ""


async def test_an_address_of_ones_own_for_bounces_is_used(tmp_path: Path) -> None:
    settings = {"mail_from": "spills@chino.example", "mail_hook_secret": SECRET, "bounce_address": "b@returns.example"}
    async with telephones(tmp_path, **settings) as phones:
        assert bounce_address(phones.home.house, "0" * 32).startswith(f"b+{'0' * 32}.")
        assert bounce_address(phones.home.house, "0" * 32).endswith("@returns.example")


@pytest.mark.parametrize("address", ["bounces", "b+c@x.example", "far-too-long-a-name@x.example", "b@-.example", "@x.example"])
def test_an_address_that_bounces_cannot_come_to_stops_the_start(tmp_path: Path, address: str) -> None:
    with pytest.raises(BadInput) as error:
        read_settings(home_dir=tmp_path, bounce_address=address)
    assert "SPILLCLOCK_BOUNCE_ADDRESS" in error.value.faults[0]


# -- bounces


@pytest.mark.parametrize("name", HARD)
async def test_a_hard_bounce_of_any_server_stops_mail_to_the_address_and_uses_the_next_channel(phones: Telephones, name: str) -> None:
    reference, message = await mailed(phones)
    assert await bounce(phones, message, name) == "bounce"
    assert await phones.suppressed() == [("email", "duty@chino.example", "bounced")]
    [changed] = await phones.home.events(reference, ChannelChanged)
    assert (changed.before, changed.after) == ("email", "sms")
    await phones.home.work()
    assert len(phones.texts_to(OFFICER)) == 1
    [failed] = await phones.home.events(reference, MessageFailed)
    assert "5.1.1" in failed.reason
    [row] = [row for row in await phones.home.messages(channel="email") if row.id == message.id]
    assert row.receipt == "bounced"
    assert await phones.receipts(message) == [("bounced", "dsn")]


async def test_the_same_bounce_twice_changes_nothing(phones: Telephones) -> None:
    reference, message = await mailed(phones)
    assert [await bounce(phones, message, "postfix-hard") for _ in range(2)] == ["bounce", "repeated"]
    assert len(await phones.home.events(reference, MessageFailed)) == 1
    assert len(await phones.receipts(message)) == 1


@pytest.mark.parametrize("name", ["postfix-expired", "postfix-full", "gmail-policy"])
async def test_a_mail_that_failed_for_another_reason_uses_the_next_channel_and_keeps_the_address(phones: Telephones, name: str) -> None:
    reference, message = await mailed(phones)
    await bounce(phones, message, name)
    assert await phones.suppressed() == []
    assert len(await phones.home.events(reference, ChannelChanged)) == 1


async def test_a_delay_is_recorded_and_nothing_else(phones: Telephones) -> None:
    reference, message = await mailed(phones)
    await bounce(phones, message, "postfix-delayed")
    assert await phones.receipts(message) == [("delayed", "dsn")]
    assert not await phones.home.events(reference, MessageFailed)
    [row] = [row for row in await phones.home.messages(channel="email") if row.id == message.id]
    assert row.receipt == ""


@pytest.mark.parametrize("name", HARD)
async def test_a_forged_or_unrelated_bounce_changes_nothing(phones: Telephones, name: str) -> None:
    reference, message = await mailed(phones)
    right = bounce_address(phones.home.house, message.id)
    key, _, mac = right.partition("+")[2].partition("@")[0].partition(".")
    other = bounce_address(phones.home.house, "f" * 32)
    for address in (
        right.replace(mac, "a" * 16), right.replace(key, "0" * 32), other, f"bounce+{key}@chino.example", "spills@chino.example",
        right.replace(mac, mac[:-1]),
    ):  # fmt: skip
        assert await take_mail(phones.home.house, sample(name, address)) == "forged"
    assert await phones.suppressed() == []
    assert await phones.receipts(message) == []
    assert not await phones.home.events(reference, MessageFailed)
    assert await phones.replies() == []


async def test_to_a_bounced_address_no_mail_goes_any_more_until_it_is_lifted(phones: Telephones) -> None:
    _, message = await mailed(phones)
    await bounce(phones, message, "gmail-hard")
    await phones.home.work()
    sent = len(phones.home.outbox())
    phones.home.clock.jump(minutes=1)
    _, second = await mailed(phones)
    assert (second.channel, second.state) == ("email", "refused")
    assert len(phones.home.outbox()) == sent
    assert len(phones.texts_to(OFFICER)) == 2


async def test_when_the_only_address_bounces_the_rung_reached_nobody(phones: Telephones) -> None:
    await phones.home.people(
        Contact(city="chino", role="duty_officer", name="Omar Reyes", email="duty@chino.example"),
        Contact(city="chino", role="supervisor", name="Sofia Tran", email="supervisor@chino.example"),
    )
    reference, message = await mailed(phones)
    await bounce(phones, message, "exchange-hard")
    [alarm] = await phones.home.events(reference, RungReachedNobody)
    assert alarm.steps == ["start"]
    await phones.home.work()
    assert phones.home.told(TWO_HOURS)[-1]["to"] == "supervisor@chino.example"


# -- other mail


async def test_an_out_of_office_answer_is_kept_for_staff_and_is_no_bounce(phones: Telephones) -> None:
    reference, message = await mailed(phones)
    assert [await bounce(phones, message, "out-of-office") for _ in range(2)] == ["reply", "repeated"]
    [reply] = await phones.replies()
    assert (reply.meaning, reply.sender, reply.message_id) == ("unknown", "duty@chino.example", message.id)
    assert reply.text.startswith("Automatic reply: 2 hours left: SP-2026-00001\n\nI am out until December 8.")
    assert "Sofía" in reply.text
    assert len(await phones.home.events(reference, ReplyReceived)) == 1
    assert await phones.suppressed() == []


async def test_what_a_person_writes_belongs_to_the_latest_message_to_them(phones: Telephones) -> None:
    _, message = await mailed(phones)
    assert await take_mail(phones.home.house, sample("person", "")) == "reply"
    [reply] = await phones.replies()
    assert reply.message_id == message.id
    assert "Control number 26-1234." in reply.text
    assert "<b>" not in reply.text


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\x00\xff\xfe", b"Subject: =?utf-8?b?////?=\n\nx", b"From: a\nContent-Type: text/plain; charset=nonsense\n\n\xff\xfe",
        b"Content-Type: multipart/report; report-type=delivery-status; boundary=x\n\n--x\nContent-Type: message/delivery-status\n\n",
        b"Content-Type: multipart/report; report-type=delivery-status\n\nnothing", b"From: mailer-daemon@x.example\n\nsomething odd",
        b"To: " + b"a@b.example, " * 5000 + b"\n\n",
    ],
    ids=range(8),
)  # fmt: skip
async def test_mail_of_any_shape_is_taken_or_left_and_never_fails(phones: Telephones, raw: bytes) -> None:
    assert await take_mail(phones.home.house, raw) in ("reply", "forged")


# -- the hook


async def test_mail_is_taken_with_the_secret_alone(phones: Telephones) -> None:
    _, message = await mailed(phones)
    raw = sample("postfix-hard", bounce_address(phones.home.house, message.id))
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic !"}, {"Authorization": f"Digest {SECRET}"}):
        assert (await phones.web.post("/hooks/mail", content=raw, headers=headers)).status_code == 403
    assert await phones.receipts(message) == []
    response = await phones.web.post("/hooks/mail", content=raw, headers={"Authorization": f"Bearer {SECRET}"})
    assert (response.status_code, response.json()) == (202, {"taken": "bounce"})
    again = await phones.web.post("/hooks/mail", data={"email": raw.decode(), "recipient": "x"}, auth=("provider", SECRET))
    assert again.json() == {"taken": "repeated"}


async def test_a_mail_that_came_by_its_envelope_alone_finds_its_message(phones: Telephones) -> None:
    _, message = await mailed(phones)
    raw = sample("exchange-hard", "undisclosed")
    address = bounce_address(phones.home.house, message.id)
    headers = {"Authorization": f"Bearer {SECRET}"}
    response = await phones.web.post("/hooks/mail", params={"recipient": address}, content=raw, headers=headers)
    assert response.json() == {"taken": "bounce"}


async def test_without_a_secret_no_mail_is_taken(small: Household) -> None:
    for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Basic Og=="}):
        assert (await small.client().post("/hooks/mail", content=b"x", headers=headers)).status_code == 403


async def test_a_reply_with_a_large_photo_is_taken_and_the_photo_is_named(phones: Telephones) -> None:
    await mailed(phones)
    photo = "\r\n".join(["A" * 76] * 60_000).encode()  # 4.7 MB
    head = (
        b"From: duty@chino.example\r\nTo: spills@example.gov\r\nSubject: Re: spill\r\nMessage-ID: <1@x>\r\nMIME-Version: 1.0\r\n"
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nOn my way, see the photo.\r\n"
        b'--b\r\nContent-Type: image/jpeg; name="drain.jpg"\r\nContent-Disposition: attachment; filename="drain.jpg"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\n"
    )
    raw = head + photo + b"\r\n--b--\r\n"
    secret = {"Authorization": f"Bearer {SECRET}"}
    response = await phones.web.post("/hooks/mail", content=raw, headers={**secret, "Content-Type": "message/rfc822"})
    assert (response.status_code, response.json()) == (202, {"taken": "reply"})
    [reply] = await phones.replies()
    assert "On my way, see the photo." in reply.text
    assert "Not kept: drain.jpg" in reply.text
    assert len(reply.text) < 500
    for form in ({"data": {"email": raw.decode()}}, {"files": {"email": ("mail.eml", raw)}}, {"files": {"body-mime": (None, raw)}}):
        again = await phones.web.post("/hooks/mail", headers=secret, **form)
        assert (again.status_code, again.json()) == (202, {"taken": "repeated"})


async def test_a_bounce_that_brings_a_large_mail_back_is_read(phones: Telephones) -> None:
    _, message = await mailed(phones)
    raw = sample("postfix-hard", bounce_address(phones.home.house, message.id))
    end = raw.rstrip().rfind(b"\n--")
    large = raw[:end] + b"\nA" * 2_000_000 + raw[end:]
    response = await phones.web.post("/hooks/mail", content=large, headers={"Authorization": f"Bearer {SECRET}"})
    assert response.json() == {"taken": "bounce"}
    assert (await phones.receipts(message))[-1][0] == "bounced"


async def test_mail_without_the_secret_is_refused_before_it_is_read(phones: Telephones) -> None:
    response = await phones.web.post("/hooks/mail", content=b"A" * 5_000_000)
    assert response.status_code == 403


async def test_mail_of_no_end_is_cut_off(phones: Telephones, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming_bodies, "MAX_MAIL_BYTES", 3_000_000)
    response = await phones.web.post("/hooks/mail", content=b"A" * 3_100_000, headers={"Authorization": f"Bearer {SECRET}"})
    assert response.status_code == 413
