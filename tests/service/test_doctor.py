"""`doctor`: each channel is tried as far as its provider lets it without sending; a test message goes through the real channel."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from notifiers import Outcome
from service import identity_provider, passkeys, programs, settings_check, wiring
from service.errors import BadInput
from service.settings import Settings
from tests.notifiers.fake_twilio import ACCOUNT_SID, TOKEN, FakeTwilio
from tests.notifiers.local_server import LocalServer
from tests.notifiers.post_office import PostOffice
from tests.service.odd_provider import ISSUER, OddProvider
from tests.service.odd_provider import SETTINGS as ODD_PROVIDER


@pytest.fixture
async def twilio() -> AsyncIterator[FakeTwilio]:
    async with FakeTwilio() as fake:
        yield fake
        assert fake.complaints == []


@pytest.fixture
async def post_office() -> AsyncIterator[PostOffice]:
    async with PostOffice() as office:
        yield office


@pytest.fixture
def given(tmp_path: Path, twilio: FakeTwilio, post_office: PostOffice) -> dict[str, Any]:
    return {
        "home_dir": tmp_path, "cities": "chino", "base_url": "https://spills.example.gov",
        "smtp_url": f"smtp://127.0.0.1:{post_office.port}?starttls=never", "mail_from": "spills@example.gov",
        "twilio_account_sid": ACCOUNT_SID, "twilio_auth_token": TOKEN, "twilio_from": "+19095550123",
        "twilio_api_base": f"http://127.0.0.1:{twilio.port}",
    }  # fmt: skip


async def found(given: dict[str, Any]) -> list[str]:
    settings = Settings(**given)
    async with programs.open_house(settings):
        pass  # makes the database
    return await programs.examine(settings)


def lines(findings: list[str], about: str) -> list[str]:
    return [line for line in findings if about in line]


async def test_every_channel_is_tried_and_nothing_is_sent(given: dict[str, Any], twilio: FakeTwilio, post_office: PostOffice) -> None:
    findings = await found(given)
    assert "ok     email: the mail server takes our connection" in findings
    for name in ("sms", "voice"):
        assert f"ok     {name}: Twilio knows the account and its token, and it is active" in findings
    assert "ok     webhook: needs no provider; https and public addresses only" in findings
    assert lines(findings, "ok     apprise: installed, for ")
    assert "ok     0 texts and calls tried since midnight UTC, of 5000 a day; numbers of US" in findings
    assert not lines(findings, "Twilio cannot reach")
    assert (twilio.taken, twilio.calls, post_office.taken) == ([], [], [])


async def test_a_wrong_token_and_an_account_that_is_closed_are_wrong(given: dict[str, Any], twilio: FakeTwilio) -> None:
    for name in ("sms", "voice"):
        [line] = lines(await found(given | {"twilio_auth_token": "another"}), f" {name}: ")
        assert line.startswith("WRONG")
        assert "another" not in line
    twilio.account_status = "suspended"
    assert "suspended" in lines(await found(given), "WRONG  sms: ")[0]


async def test_what_stands_in_is_noted_where_nothing_is_set(tmp_path: Path) -> None:
    findings = await found({"home_dir": tmp_path, "cities": "chino"})
    for name in ("email", "sms", "voice", "webhook", "apprise"):
        assert f"note   {name} has no provider; its messages go to {tmp_path / 'outbox.jsonl'}" in findings


async def test_a_sender_that_cannot_call_is_noted_with_its_cure(given: dict[str, Any]) -> None:
    [line] = lines(await found(given | {"twilio_from": "MG" + "0" * 32}), "voice")
    assert line.startswith("note   voice: ")
    assert "SPILLCLOCK_TWILIO_VOICE_FROM" in line


async def test_a_base_url_that_twilio_cannot_reach_is_a_warning(given: dict[str, Any]) -> None:
    [line] = lines(await found(given | {"base_url": "http://127.0.0.1:8000"}), "Twilio cannot reach")
    assert line.startswith("WARN")
    assert "SPILLCLOCK_BASE_URL" in line


async def test_whether_passkeys_are_offered_is_said_with_what_is_missing(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines(await found(given), "ok     passkeys are offered, for https://")
    [line] = lines(await found(given | {"base_url": "http://127.0.0.1:8000"}), "passkeys are not")
    assert line.startswith("note   passkeys are not offered: ")
    assert "SPILLCLOCK_BASE_URL" in line
    monkeypatch.setattr(passkeys, "_is_installed", lambda: False)
    assert "pip install 'spillclock[passkeys]'" in lines(await found(given), "passkeys are not")[0]


async def test_whether_the_identity_provider_answers_is_said(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines(await found(given), "note   identity provider: none is set")
    odd = OddProvider(0)
    monkeypatch.setattr(identity_provider, "_connection", lambda: httpx.AsyncClient(transport=httpx.MockTransport(odd)))
    back = "it has to send browsers back to https://spills.example.gov/staff/sign-in/provider/answer"
    assert f"ok     identity provider {ISSUER} answers; {back}" in await found(given | ODD_PROVIDER)
    odd.breaks["/keys"] = httpx.ConnectTimeout("slow")
    assert "WRONG  identity provider: /keys does not answer (ConnectTimeout)" in await found(given | ODD_PROVIDER)
    monkeypatch.setattr(identity_provider, "_is_installed", lambda: False)
    assert lines(await found(given | ODD_PROVIDER), "WRONG  identity provider: the extra is not installed; pip install")


# -- one test message


@pytest.mark.parametrize(
    ("address", "channel"),
    [
        ("ann@example.gov", "email"), ("+19095550100", "sms"), ("(909) 555-0100", "sms"), ("https://hooks.example.gov/x", "webhook"),
        ("slack://A/B/C", "apprise"), ("ntfys://user:pw@ntfy.example.gov/x", "apprise"),
    ],
)  # fmt: skip
def test_an_address_tells_its_channel_by_its_form(address: str, channel: str) -> None:
    assert settings_check.channel_for(address) == channel


async def test_a_test_message_goes_out_by_the_channel_that_is_named(
    given: dict[str, Any], twilio: FakeTwilio, post_office: PostOffice
) -> None:
    settings = Settings(**given)
    for by, name in ((None, "sms"), ("voice", "voice")):
        sent, receipt = await settings_check.send_test(settings, "(909) 555-0100", by)
        assert (sent, receipt.outcome) == (name, Outcome.ACCEPTED)
    assert [one.form["To"] for one in (*twilio.taken, *twilio.calls)] == ["+19095550100"] * 2
    assert twilio.taken[0].form["Body"].startswith("This is a test message of Spillclock at https://spills.example.gov.")
    _, receipt = await settings_check.send_test(settings, "ann@example.gov", None)
    assert receipt.provider_id in post_office.taken[0].parsed["Message-ID"]
    assert post_office.taken[0].parsed["Subject"] == "Test message of Spillclock"


@pytest.mark.parametrize(("by", "scheme"), [("webhook", "http"), ("apprise", "ntfy")])
async def test_a_test_message_reaches_a_webhook_and_a_chat_room(given: dict[str, Any], by: str, scheme: str) -> None:
    async with LocalServer() as receiver:
        settings = Settings(**given, webhook_private=True)
        _, receipt = await settings_check.send_test(settings, f"{scheme}://127.0.0.1:{receiver.port}/topic", by)
    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail
    assert len(receiver.taken) == 1


async def test_a_test_message_by_mail_goes_out_where_twilio_is_set_in_part(tmp_path: Path) -> None:
    _, receipt = await settings_check.send_test(Settings(home_dir=tmp_path, twilio_auth_token=SecretStr("half")), "ann@example.gov", None)
    assert receipt.outcome is Outcome.ACCEPTED, receipt.detail


async def test_without_a_provider_a_test_message_goes_to_the_file(tmp_path: Path) -> None:
    _, receipt = await settings_check.send_test(Settings(home_dir=tmp_path), "ann@example.gov", None)
    assert "outbox.jsonl" in receipt.detail
    assert json.loads((tmp_path / "outbox.jsonl").read_text())["step"] == "test"


@pytest.mark.parametrize(
    ("address", "by"), [("+525555350000", "sms"), ("ann", "email"), ("http://10.0.0.1/", "webhook"), ("json://x", None)]
)
async def test_a_bad_address_gets_no_test_message(given: dict[str, Any], address: str, by: str | None) -> None:
    with pytest.raises(BadInput) as error:
        await settings_check.send_test(Settings(**given), address, by)
    assert error.value.faults[0].startswith("ADDRESS: ")


async def test_the_command_prints_what_came_of_it_and_fails_where_it_was_not_taken(
    given: dict[str, Any], twilio: FakeTwilio, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import asyncio

    from service.cli import main

    monkeypatch.chdir(given["home_dir"])
    for name, value in given.items():
        monkeypatch.setenv(f"SPILLCLOCK_{name.upper()}", str(value))
    assert await asyncio.to_thread(main, ["doctor", "--send-test", "+19095550100"]) == 0
    assert capsys.readouterr().out == f"sms: accepted; HTTP 201, queued; id {twilio.taken[0].sid}\n"
    monkeypatch.setenv("SPILLCLOCK_TWILIO_AUTH_TOKEN", "another")
    assert await asyncio.to_thread(main, ["doctor", "--send-test", "+19095550100", "--by", "voice"]) == 1
    assert capsys.readouterr().out.startswith("voice: try_again; HTTP 401, Twilio error 20003")
    assert wiring.has_provider(Settings(**given))
