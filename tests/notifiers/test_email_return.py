"""The way back of a mail: a return path of its own, and the headers by which a subscription ends with one click (RFC 8058)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from notifiers import EmailChannel, Encryption, Outcome, SmtpServer
from tests.notifiers.messages import a_message
from tests.notifiers.post_office import PostOffice

TO = "duty@example.gov"
RETURN = f"bounce+{'a' * 32}.{'b' * 16}@example.gov"
LINK = f"https://spills.example.gov/unsubscribe/{'c' * 200}"


@pytest.fixture
async def channel(post_office: PostOffice) -> AsyncIterator[EmailChannel]:
    made = EmailChannel(SmtpServer("127.0.0.1", post_office.port, Encryption.NEVER), "Spillclock <notices@example.gov>")
    yield made
    await made.aclose()


async def test_a_mail_names_its_own_return_path_and_still_comes_from_the_sender(channel: EmailChannel, post_office: PostOffice) -> None:
    receipt = await channel.send(replace(a_message(TO), return_path=RETURN))
    assert receipt.outcome is Outcome.ACCEPTED
    [taken] = post_office.taken
    assert (taken.mail_from, taken.parsed["From"]) == (RETURN, "Spillclock <notices@example.gov>")


async def test_without_one_it_comes_back_to_the_sender(channel: EmailChannel, post_office: PostOffice) -> None:
    await channel.send(a_message(TO))
    assert post_office.taken[0].mail_from == "notices@example.gov"


async def test_a_subscription_ends_by_one_click_and_the_link_arrives_whole(channel: EmailChannel, post_office: PostOffice) -> None:
    await channel.send(replace(a_message(TO), unsubscribe=LINK))
    [taken] = post_office.taken
    head = taken.content.partition(b"\r\n\r\n")[0].decode()
    assert f"\r\nList-Unsubscribe: <{LINK}>\r\n" in head
    assert "\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" in head


async def test_mail_about_a_duty_offers_no_way_out(channel: EmailChannel, post_office: PostOffice) -> None:
    await channel.send(a_message(TO))
    assert b"List-Unsubscribe" not in post_office.taken[0].content


async def test_nothing_can_be_slipped_in_by_a_link(channel: EmailChannel, post_office: PostOffice) -> None:
    await channel.send(replace(a_message(TO), unsubscribe="https://x.example/\r\nBcc: everybody@x.example"))
    assert post_office.taken[0].parsed["Bcc"] is None
