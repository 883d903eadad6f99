"""Receipts: signed callbacks that only move a message forward, and what follows where one failed or stayed silent."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from service.events import AddressSuppressed, ChannelChanged, MessageArrived, MessageFailed, MessageGaveUp, RungReachedNobody
from service.hooks import signature as ours
from service.pages.deliveries import deliveries_of
from service.receipts import heard_from_twilio
from service.transaction import reading
from tests.houses import Household
from tests.notifiers.fake_twilio import TOKEN, error, signature
from tests.service.small_law import TWO_HOURS, small_law
from tests.service.telephones import OFFICER, SITE, SUPERVISOR, Telephones, telephones
from tests.spills import a_report

# Texts alone at first; mail only further up, so that there is a next channel.
TEXTS_FIRST = """
    - {at: start, tell: [duty_officer], by: [sms]}
    - {at: start+30m, tell: [supervisor], by: [sms, email]}
    - {at: due, tell: [director], by: [email]}
"""
ONLY_TEXTS = """
    - {at: start, tell: [duty_officer], by: [sms]}
    - {at: start+30m, tell: [supervisor], by: [sms]}
    - {at: due, tell: [director], by: [sms]}
"""


@pytest.fixture
async def phones(tmp_path: Path) -> AsyncIterator[Telephones]:
    async with telephones(tmp_path, law=small_law(ladder=TEXTS_FIRST)) as found:
        yield found


async def told_by_text(phones: Telephones) -> str:
    reference = await phones.home.report(a_report())
    await phones.home.work()
    return reference


def mails(home: Household) -> list[str]:
    return [line["to"] for line in home.outbox() if line["channel"] == "email"]


# -- signed, and only for what exists


async def test_a_callback_without_the_right_signature_is_refused(phones: Telephones) -> None:
    await told_by_text(phones)
    [taken] = phones.twilio.taken
    url = taken.form["StatusCallback"]
    form = {"MessageSid": taken.sid, "MessageStatus": "delivered"}
    for headers in (
        {}, {"X-Twilio-Signature": ""}, {"X-Twilio-Signature": "AAAA"}, {"X-Twilio-Signature": b"\xfc not ASCII"},
        {"X-Twilio-Signature": signature(url, form, "another token")}, {"X-Twilio-Signature": signature(url + "x", form)},
        {"X-Twilio-Signature": signature(url.replace("https", "http"), form)},
        {"X-Twilio-Signature": signature(url, {**form, "MessageStatus": "failed"})},
    ):  # fmt: skip
        assert (await phones.web.post(url, data=form, headers=headers)).status_code == 403
    [message] = await phones.home.messages(channel="sms")
    assert (message.receipt, await phones.receipts(message)) == ("", [])


async def test_without_an_account_nothing_is_taken_for_signed(small: Household) -> None:
    url = f"{SITE}/hooks/twilio/sms"
    form = {"From": "+19095550100", "Body": "STOP", "MessageSid": "SM1"}
    response = await small.client().post(url, data=form, headers={"X-Twilio-Signature": signature(url, form, "")})
    assert response.status_code == 403


async def test_behind_a_proxy_that_changes_host_and_scheme_the_public_address_counts(phones: Telephones) -> None:
    await told_by_text(phones)
    [taken] = phones.twilio.taken
    url = taken.form["StatusCallback"]
    form = {"MessageSid": taken.sid, "MessageStatus": "delivered"}
    inside = httpx.AsyncClient(transport=httpx.ASGITransport(app=phones.home.app), base_url="http://10.0.0.7:8000")
    phones.home.clients.append(inside)
    for signed_for in (url, url.replace("example.gov/", "example.gov:443/")):
        response = await inside.post(url.removeprefix(SITE), data=form, headers={"X-Twilio-Signature": signature(signed_for, form)})
        assert response.status_code == 204


async def test_a_query_and_repeated_fields_are_part_of_what_is_signed(phones: Telephones) -> None:
    url = f"{SITE}/hooks/twilio/sms?from=flow"
    form = {"MessageSid": "SM1", "From": "+19095550177", "Body": "hello", "Empty": ""}
    assert (await phones.web.post(url, data=form, headers={"X-Twilio-Signature": signature(url, form)})).status_code == 200
    assert (await phones.web.post(url, data=form, headers={"X-Twilio-Signature": signature(url[:-5], form)})).status_code == 403


async def test_a_message_that_does_not_exist_is_not_found_and_nothing_is_told_to_the_unsigned(phones: Telephones) -> None:
    await told_by_text(phones)
    [message] = await phones.home.messages(channel="sms")
    form = {"MessageSid": "SM1", "MessageStatus": "delivered"}
    for key in ("0" * 32, "nothing", message.id[:-1]):
        url = f"{SITE}/hooks/twilio/status/{key}"
        assert (await phones.web.post(url, data=form)).status_code == 403
        answer = await phones.twilio.call_back(phones.web, url, form)
        assert answer.status_code == 404
        assert message.id not in answer.text


# -- only forward


async def test_each_callback_is_kept_once_and_the_message_moves_with_it(phones: Telephones) -> None:
    reference = await told_by_text(phones)
    [taken] = phones.twilio.taken
    for status, stands in (
        ("queued", "queued"),
        ("sent", "sent"),
        ("sent", "sent"),
        ("delivered", "delivered"),
        ("delivered", "delivered"),
    ):
        phones.home.clock.jump(seconds=3)
        assert (await phones.status(taken, status)).status_code == 204
        [message] = await phones.home.messages(channel="sms")
        assert message.receipt == stands
    assert await phones.receipts(message) == [("queued", "twilio"), ("sent", "twilio"), ("delivered", "twilio")]
    assert len(await phones.home.events(reference, MessageArrived)) == 1


_FINAL = {"sent": 2, "undelivered": 3, "delivered": 4, "read": 5}


async def test_a_status_of_a_text_that_is_not_ours_moves_nothing_and_stops_no_number(phones: Telephones) -> None:
    await told_by_text(phones)
    [taken] = phones.twilio.taken
    form = {"MessageSid": "SM" + "f" * 32, "MessageStatus": "undelivered", "ErrorCode": "30006"}
    url = taken.form["StatusCallback"]
    assert (await phones.web.post(url, data=form, headers={"X-Twilio-Signature": signature(url, form)})).is_success
    [message] = await phones.home.messages(channel="sms")
    assert (message.receipt, await phones.receipts(message), await phones.suppressed()) == ("", [], [])


@pytest.mark.parametrize("order", list(itertools.permutations(("sent", "undelivered", "delivered"))))
async def test_however_callbacks_arrive_the_furthest_counts(phones: Telephones, order: tuple[str, ...]) -> None:
    await told_by_text(phones)
    [taken] = phones.twilio.taken
    for number, status in enumerate(order):
        await phones.status(taken, status)
        [message] = [row for row in await phones.home.messages(channel="sms") if row.id in taken.form["StatusCallback"]]
        assert message.receipt == max(order[: number + 1], key=lambda word: _FINAL[word])
    assert len(await phones.receipts(message)) == 3


async def test_a_receipt_that_came_before_a_lost_answer_keeps_a_text_from_going_out_twice(phones: Telephones) -> None:
    phones.twilio.wait_seconds = 0
    reference = await phones.home.report(a_report())
    phones.twilio.answer = PlainTextResponse("a proxy says hello", 200)  # taken, but the answer says nothing
    await phones.home.work()
    [message] = await phones.home.messages(channel="sms")
    assert message.state == "waiting"
    url = f"{SITE}/hooks/twilio/status/{message.id}"
    await phones.twilio.call_back(phones.web, url, {"MessageSid": "SM9", "MessageStatus": "delivered"})
    phones.twilio.answer = None
    await phones.home.live(minutes=1)
    [message] = await phones.home.messages(channel="sms")
    assert (message.state, message.tries) == ("accepted", 1)
    assert not await phones.home.events(reference, MessageGaveUp)


# -- what follows a failure


async def test_a_failed_text_is_followed_by_the_same_persons_next_channel_at_once(phones: Telephones) -> None:
    reference = await told_by_text(phones)
    [taken] = phones.twilio.taken
    await phones.status(taken, "undelivered", ErrorCode="30003")
    await phones.home.work()
    assert mails(phones.home) == ["duty@chino.example"]
    [changed] = await phones.home.events(reference, ChannelChanged)
    assert (changed.person, changed.before, changed.after) == ("Omar Reyes", "sms", "email")
    [mail] = [line for line in phones.home.outbox() if line["channel"] == "email"]
    assert "stands for" not in mail["text"]
    assert not await phones.home.events(reference, RungReachedNobody)
    assert await phones.suppressed() == []  # a telephone that is off is not a dead number
    await phones.status(taken, "failed", ErrorCode="30003")
    await phones.home.work()
    assert len(mails(phones.home)) == 1


async def test_when_every_message_of_a_rung_failed_it_reached_nobody_and_the_next_rung_is_told(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(ladder=ONLY_TEXTS)) as phones:
        reference = await told_by_text(phones)
        [taken] = phones.twilio.taken
        await phones.status(taken, "undelivered", ErrorCode="30003")
        [alarm] = await phones.home.events(reference, RungReachedNobody)
        assert alarm.reason == f"none of its messages arrived, the last: undelivered, Twilio error 30003 ({taken.sid})"
        await phones.home.work()
        assert [sms.form["To"] for sms in phones.twilio.taken] == [OFFICER, SUPERVISOR]
        assert (await phones.home.messages(address=SUPERVISOR))[0].step == "start+30m at once"


async def test_what_fails_after_the_duty_is_done_or_acknowledged_wakes_nobody(phones: Telephones) -> None:
    reference = await told_by_text(phones)
    [taken] = phones.twilio.taken
    phones.home.clock.jump(minutes=1)
    await phones.home.acknowledge(reference, TWO_HOURS, "Omar Reyes")
    await phones.status(taken, "undelivered", ErrorCode="30003")
    assert not await phones.home.events(reference, ChannelChanged)
    assert not await phones.home.events(reference, RungReachedNobody)


@pytest.mark.parametrize(
    ("code", "reason"), [("21610", "opted_out"), ("30005", "bounced"), ("30006", "bounced"), ("30003", ""), ("30007", ""), ("x", "")]
)
async def test_an_error_that_speaks_of_the_number_stops_all_texts_to_it(phones: Telephones, code: str, reason: str) -> None:
    reference = await told_by_text(phones)
    await phones.status(phones.twilio.taken[0], "failed", ErrorCode=code)
    assert await phones.suppressed() == ([("sms", OFFICER, reason)] if reason else [])
    assert len(await phones.home.events(reference, AddressSuppressed)) == bool(reason)
    # The next alert goes by another channel, without a try at the number.
    await phones.home.report(a_report())
    await phones.home.work()
    assert len(phones.texts_to(OFFICER)) == (1 if reason else 2)
    assert len(mails(phones.home)) == (2 if reason else 1)


async def test_a_number_that_twilio_refuses_at_once_because_of_stop_is_suppressed_too(phones: Telephones) -> None:
    phones.twilio.answer = error(400, 21610, "Attempt to send to unsubscribed recipient")
    reference = await told_by_text(phones)
    phones.twilio.answer = None
    assert await phones.suppressed() == [("sms", OFFICER, "opted_out")]
    assert mails(phones.home) == ["duty@chino.example"]
    [told] = await phones.home.events(reference, AddressSuppressed)
    assert (told.person, told.detail) == ("Omar Reyes", "Twilio error 21610")


# -- silence


async def test_a_text_of_which_nothing_is_heard_is_followed_by_the_next_channel(phones: Telephones) -> None:
    reference = await told_by_text(phones)
    await phones.status(phones.twilio.taken[0], "sent")
    await phones.home.live(minutes=4, seconds=59)
    assert mails(phones.home) == []
    await phones.home.live(seconds=1)
    assert mails(phones.home) == ["duty@chino.example"]
    [silent] = await phones.home.events(reference, MessageFailed)
    assert silent.silent
    story = await phones.story_of(reference)
    assert "No sign came that the text message to Omar Reyes (start) arrived." in story
    assert "Omar Reyes is told by e-mail instead of text message (start)." in story
    await phones.home.live(minutes=20)
    assert mails(phones.home) == ["duty@chino.example"]
    assert len(await phones.home.events(reference, MessageFailed)) == 1


async def test_a_text_that_arrived_or_was_acknowledged_is_not_silent(phones: Telephones) -> None:
    first = await told_by_text(phones)
    await phones.status(phones.twilio.taken[0], "delivered")
    second = await told_by_text(phones)
    await phones.home.acknowledge(second, TWO_HOURS, "duty@chino.example")
    await phones.home.acknowledge(second, TWO_HOURS, "Omar Reyes")
    await phones.home.live(minutes=20)
    assert mails(phones.home) == []
    assert not await phones.home.events(first, MessageFailed) + await phones.home.events(second, MessageFailed)


async def test_with_little_time_left_the_silence_is_half_of_it_and_the_setting_rules_the_rest(tmp_path: Path) -> None:
    async with telephones(tmp_path / "short", law=small_law(ladder=TEXTS_FIRST, limit="4 minutes")) as phones:
        await told_by_text(phones)
        await phones.home.live(minutes=2)
        assert mails(phones.home) == ["duty@chino.example"]
    async with telephones(tmp_path / "set", law=small_law(ladder=TEXTS_FIRST), silent_minutes=1) as phones:
        await told_by_text(phones)
        await phones.home.live(minutes=1)
        assert mails(phones.home) == ["duty@chino.example"]


async def test_where_no_receipt_can_come_nothing_is_taken_for_silent(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(ladder=TEXTS_FIRST), base_url="http://127.0.0.1:8000") as phones:
        await told_by_text(phones)
        await phones.home.live(minutes=20)
        assert mails(phones.home) == []


# -- shown


async def test_a_delivery_shows_its_whole_history(phones: Telephones) -> None:
    reference = await told_by_text(phones)
    [taken] = phones.twilio.taken
    await phones.status(taken, "sent")
    phones.home.clock.jump(seconds=20)
    await phones.status(taken, "undelivered", ErrorCode="30003")
    await phones.home.work()
    async with reading(phones.home.house) as tx:
        spill = await tx.spill(reference)
        found = await deliveries_of(tx, spill, await tx.history(spill))
    [text] = [one for one in found if one.row.channel == "sms"]
    assert text.failed
    assert text.state == "not delivered"
    assert [passage.says for passage in text.history] == [
        "promised: chino/two-hours, rung start, to the duty officer",
        "try 1: handed over (HTTP 201, queued)",
        f"sent on, says Twilio (sent ({taken.sid}))",
        f"not delivered, says Twilio (undelivered, Twilio error 30003 ({taken.sid}))",
        "Omar Reyes is told by e-mail instead",
    ]


async def test_a_call_that_a_machine_took_is_nobody_and_one_that_a_person_took_has_arrived(tmp_path: Path) -> None:
    heard = {
        words: (found.status if (found := heard_from_twilio({"CallSid": "CA1", "CallStatus": status, "AnsweredBy": by})) else None)
        for words in [("completed", "human"), ("completed", "machine_start"), ("", "human"), ("", "machine_end_beep"), ("", "unknown"),
                      ("completed", ""), ("busy", ""), ("no-answer", ""), ("failed", ""), ("ringing", ""), ("in-progress", ""), ("odd", "")]
        for status, by in [words]
    }  # fmt: skip
    assert heard == {
        ("completed", "human"): "delivered", ("completed", "machine_start"): "undelivered", ("", "human"): "delivered",
        ("", "machine_end_beep"): "undelivered", ("", "unknown"): "sent", ("completed", ""): "sent", ("busy", ""): "undelivered",
        ("no-answer", ""): "undelivered", ("failed", ""): "undelivered", ("ringing", ""): "queued", ("in-progress", ""): "sent",
        ("odd", ""): None,
    }  # fmt: skip


def test_our_own_signature_is_that_of_twilio_s_published_example() -> None:
    form = {"CallSid": "CA1234567890ABCDE", "Caller": "+14158675309", "Digits": "1234", "From": "+14158675309", "To": "+18005551212"}
    url = "https://mycompany.com/myapp.php?foo=1&bar=2"
    assert ours(url, list(form.items()), "12345") == "RSOYDt4T1cUTdK1PDd93/VVr8B8="
    assert ours(url, list(form.items()), TOKEN) == signature(url, form)
