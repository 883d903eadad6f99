"""Contacts by command: what their webhooks sign with, and what is warned of when somebody is entered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from service import cli
from service.settings import Settings
from tests.notifiers.local_server import LocalServer

HOOK = "https://hooks.chino.example/spills"


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """A command line over an empty folder: returns exit code and the lines printed."""
    monkeypatch.setenv("SPILLCLOCK_HOME_DIR", str(tmp_path))
    monkeypatch.setenv("SPILLCLOCK_CITIES", "chino")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, list[str]]:
        code = cli.main(list(arguments))
        said = capsys.readouterr()
        return code, (said.out + said.err).splitlines()

    return run


# -- what webhooks sign with


def secret_in(lines: list[str]) -> str:
    [line] = [line for line in lines if "whsec_" in line]
    return f"whsec_{line.partition('whsec_')[2].split()[0]}"


def test_whoever_enters_a_webhook_is_told_what_its_messages_are_signed_with(commands: Any) -> None:
    code, lines = commands("contact", "add", "chino", "director", "Hook", "--webhook", HOOK, "--email", "dee@chino.example")
    assert code == 0
    assert lines[1].startswith("its webhook verifies our messages with the secret whsec_")


def test_the_secrets_of_webhooks_are_listed_where_they_are_asked_for_and_nowhere_else(commands: Any) -> None:
    _, added = commands("contact", "add", "chino", "director", "Hook", "--webhook", HOOK)
    commands("contact", "add", "chino", "director", "Dee", "--email", "dee@chino.example")
    assert not any("whsec_" in line for line in commands("contact", "list")[1])
    _, lines = commands("contact", "list", "--secrets")
    assert len(lines) == 2
    assert secret_in(lines) == secret_in(added)


async def test_a_test_message_verifies_with_the_secret_that_is_printed_with_it(commands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setenv("SPILLCLOCK_WEBHOOK_PRIVATE", "true")
    monkeypatch.setenv("SPILLCLOCK_SMTP_URL", "smtp://127.0.0.1:1?starttls=never")  # with no provider at all, the file stands in for all
    monkeypatch.setenv("SPILLCLOCK_MAIL_FROM", "spills@example.gov")
    async with LocalServer() as receiver:
        address = f"http://127.0.0.1:{receiver.port}/spills"
        code, lines = await asyncio.to_thread(commands, "doctor", "--send-test", address)
        [taken] = receiver.taken
    assert code == 0
    headers = {name.lower(): value for name, value in taken.headers.items()}
    assert Webhook(secret_in(lines)).verify(taken.body, headers)["type"] == "message"


def test_a_test_message_by_another_channel_prints_no_secret(commands: Any) -> None:
    _, lines = commands("doctor", "--send-test", "ann@example.gov")
    assert len(lines) == 1


# -- what is warned of


def warnings(lines: list[str]) -> list[str]:
    return [line.removeprefix("WARNING: ") for line in lines if line.startswith("WARNING: ")]


def test_entering_somebody_whom_no_rung_can_reach_is_warned_of(commands: Any) -> None:
    code, lines = commands("contact", "add", "chino", "duty_officer", "Hook", "--webhook", HOOK)
    assert code == 0
    assert "no rung tells Hook: the ladders of chino tell duty_officer by email or sms, and Hook has webhook alone" in warnings(lines)


def test_entering_somebody_who_leaves_rungs_reaching_nobody_is_warned_of(commands: Any) -> None:
    _, lines = commands("contact", "add", "chino", "duty_officer", "Bob", "--email", "bob@chino.example")
    assert any("duty_officer or discharger, by sms" in line and "reach nobody" in line for line in warnings(lines))
    _, lines = commands("contact", "add", "chino", "duty_officer", "Ann", "--phone", "9095550102")
    assert not any("duty_officer or discharger, by sms" in line for line in warnings(lines))


def test_a_contact_whom_every_rung_of_the_role_reaches_is_entered_without_a_word(commands: Any) -> None:
    _, lines = commands("contact", "add", "chino", "director", "Dee", "--email", "dee@chino.example", "--phone", "9095550104")
    assert lines == ["contact 1 added: Dee is director of chino"]


def test_a_calendar_that_was_just_entered_is_said_to_be_not_read_yet(commands: Any) -> None:
    commands("contact", "add", "chino", "duty_officer", "Ann", "--email", "ann@chino.example", "--phone", "9095550102")
    _, lines = commands("rota", "add", "chino", "duty_officer", "Desk", "--ics", "https://calendars.example/desk.ics")
    assert "the calendar of rota Desk (duty_officer) is not read yet; a running worker reads it within a minute" in " ".join(lines)
    assert not any("nobody is on call" in line for line in lines)


def test_the_key_in_the_data_folder_is_the_one_that_secrets_come_of(commands: Any, tmp_path: Path) -> None:
    from notifiers.webhook import webhook_secret

    _, lines = commands("contact", "add", "chino", "director", "Hook", "--webhook", HOOK)
    assert secret_in(lines) == webhook_secret(Settings(home_dir=tmp_path).signing_key(), HOOK)
