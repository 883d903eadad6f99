"""How `spillclock serve` ends, and when it refuses to begin."""

import signal
import socket
import time
from collections.abc import Callable

import pytest

from tests.e2e.program import Spillclock

INSTALL = Callable[..., Spillclock]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_stops_it_in_order_and_the_port_is_free_again(spillclock: Spillclock, number: signal.Signals) -> None:
    spillclock.serve()
    with spillclock.client() as anyone:
        assert anyone.get("/healthz").json() == {"status": "alive"}  # leaves its connection open
        asked_at = time.monotonic()
        assert spillclock.stop(number) == 0
    assert time.monotonic() - asked_at < 5
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", spillclock.port), timeout=2).close()
    assert "Traceback" not in spillclock.log.read_text()
    with socket.socket() as next_one:
        next_one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        next_one.bind(("127.0.0.1", spillclock.port))
        next_one.listen()


def test_a_client_that_never_finishes_its_request_does_not_hold_up_the_stop(spillclock: Spillclock) -> None:
    spillclock.serve()
    with socket.create_connection(("127.0.0.1", spillclock.port), timeout=2) as client:
        client.sendall(b"POST /api/v1/spills HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n{")
        assert spillclock.answers("/healthz")  # by now the other request is under way as well
        asked_at = time.monotonic()
        assert spillclock.stop() == 0
    assert time.monotonic() - asked_at < 5
    assert spillclock.rows("select count(*) from spill")[0][0] == 0


def test_its_first_lines_say_where_to_report_where_to_sign_in_and_where_messages_go(spillclock: Spillclock) -> None:
    spillclock.serve()
    said = spillclock.log.read_text().splitlines()
    assert f"Report a spill:   {spillclock.url}/report" in said
    assert f"Staff sign in:    {spillclock.url}/staff" in said
    assert f"Messages go to:   {spillclock.home / 'outbox.jsonl'}  (no provider is set for email and sms)" in said
    [link] = [line for line in said if line.startswith("First sign-in:")]
    assert f"{spillclock.url}/staff/enter/sc_link_" in link
    with spillclock.client() as anyone:
        assert anyone.get("/report").status_code == 200


def test_a_second_one_on_the_same_folder_is_refused_in_one_sentence(spillclock: Spillclock, install: INSTALL) -> None:
    spillclock.serve()
    second = install(home_dir=str(spillclock.home)).run("serve")
    assert (second.returncode, second.stdout) == (1, "")
    assert second.stderr == (
        f"spillclock: another spillclock works on {spillclock.home}; stop it, or set SPILLCLOCK_HOME_DIR to another folder,"
        " or use PostgreSQL\n"
    )
    assert spillclock.answers("/readyz")  # the first one is none the worse


def test_a_port_in_use_is_told_in_one_line(spillclock: Spillclock, install: INSTALL) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", spillclock.port))
        taken.listen()
        refused = spillclock.run("serve")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"spillclock: SPILLCLOCK_BIND: 127.0.0.1:{spillclock.port}: Address already in use; right would be: a free address and port\n"
    )


TWILIO = {"twilio_account_sid": "AC0123456789abcdef0123456789abcdef", "twilio_auth_token": "secret-token", "twilio_from": "+19095550123"}
WRONG_SETTINGS = {
    "a port without a host": ({"bind": "8000"}, ["SPILLCLOCK_BIND: '8000' is not HOST:PORT"]),
    "an address without https": ({"base_url": "spills.gov"}, ["SPILLCLOCK_BASE_URL: 'spills.gov' is not a web address"]),
    "three at once": (
        {"bind": "here", "base_url": "there", "log_format": "xml"},
        ["SPILLCLOCK_BASE_URL: ", "SPILLCLOCK_LOG_FORMAT: Input should be 'text' or 'json'", "SPILLCLOCK_BIND: "],
    ),
    "a folder that cannot be": ({"home_dir": "/proc/spillclock"}, ["SPILLCLOCK_HOME_DIR: "]),
    "another database": (
        {"database_url": "mysql://city:secret-token@db/spills"},
        ["SPILLCLOCK_DATABASE_URL: it names no database used here"],
    ),
    "mail without a sender": ({"smtp_url": "smtp://mail.example.gov"}, ["SPILLCLOCK_MAIL_FROM: missing"]),
    "a mail server without a scheme": (
        {"smtp_url": "city:secret-token@mail.example.gov", "mail_from": "spills@example.gov"},
        ["SPILLCLOCK_SMTP_URL: The URL of the mail server does not begin with smtp://"],
    ),
    "a sender that is no address": (
        {"smtp_url": "smtp://mail.example.gov", "mail_from": "nobody"},
        ["SPILLCLOCK_MAIL_FROM: The sender 'nobody' is no e-mail address"],
    ),
    "half of Twilio": (
        {"twilio_account_sid": "AC0123456789abcdef0123456789abcdef"},
        ["SPILLCLOCK_TWILIO_AUTH_TOKEN: missing", "SPILLCLOCK_TWILIO_FROM: missing"],
    ),
    "a Twilio address that is none": ({**TWILIO, "twilio_api_base": "ftp://twilio"}, ["SPILLCLOCK_TWILIO_API_BASE: "]),
}


@pytest.mark.parametrize(("settings", "faults"), WRONG_SETTINGS.values(), ids=WRONG_SETTINGS)
def test_wrong_settings_are_told_in_one_line_each_without_secrets(settings: dict[str, str], faults: list[str], install: INSTALL) -> None:
    refused = install(**settings).run("serve")
    assert (refused.returncode, refused.stdout) == (2, "")
    lines = refused.stderr.splitlines()
    assert len(lines) == len(faults), refused.stderr
    for line, fault in zip(lines, faults, strict=True):
        assert line.startswith(f"spillclock: {fault}")
    assert "secret-token" not in refused.stderr
