"""The URL of the mail server: what it may say, and errors that tell everything but the password."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifiers import Encryption, SmtpServer, parse_smtp_url


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://user:pass@host.example:587?starttls=required", SmtpServer("host.example", 587, Encryption.REQUIRED, "user", "pass")),
        ("smtp://host.example:587", SmtpServer("host.example", 587, Encryption.REQUIRED)),
        ("smtp://host.example", SmtpServer("host.example", 25, Encryption.OPPORTUNISTIC)),
        ("smtp://host.example/", SmtpServer("host.example", 25, Encryption.OPPORTUNISTIC)),
        ("smtp://host.example:2525?starttls=never", SmtpServer("host.example", 2525, Encryption.NEVER)),
        ("smtp://host.example:587?starttls=opportunistic", SmtpServer("host.example", 587, Encryption.OPPORTUNISTIC)),
        ("smtps://user:pass@host.example", SmtpServer("host.example", 465, Encryption.TLS, "user", "pass")),
        ("SMTPS://Host.Example:4650", SmtpServer("host.example", 4650, Encryption.TLS)),
        ("smtp://[::1]:25", SmtpServer("::1", 25, Encryption.OPPORTUNISTIC)),
        ("smtp://127.0.0.1", SmtpServer("127.0.0.1", 25, Encryption.OPPORTUNISTIC)),
        ("smtp://localhost", SmtpServer("localhost", 25, Encryption.OPPORTUNISTIC)),
        ("smtp://bücher.example", SmtpServer("xn--bcher-kva.example", 25, Encryption.OPPORTUNISTIC)),
        (
            "smtp://u%40example.gov:p%2F%3F%23%40%3A%25%C3%B6@h.example",
            SmtpServer("h.example", 25, Encryption.OPPORTUNISTIC, "u@example.gov", "p/?#@:%ö"),
        ),
        ("smtp://u:a:b@h.example", SmtpServer("h.example", 25, Encryption.OPPORTUNISTIC, "u", "a:b")),
    ],
)
def test_a_right_url_names_its_server(url: str, server: SmtpServer) -> None:
    assert parse_smtp_url(url) == server


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "does not begin with smtp://"),
        ("host.example:587", "does not begin with smtp://"),
        ("user:hunter2@host.example:587", "does not begin with smtp://"),
        ("http://user:hunter2@host.example", "does not begin with smtp://"),
        ("smtp://", "names no host"),
        ("smtp://user:hunter2@", "names no host"),
        ("smtp://user:hunter2@host.example:0", "port"),
        ("smtp://user:hunter2@host.example:99999", "port"),
        ("smtp://user:hunter2@host.example:port", "port"),
        ("smtp://user:hun/ter2@host.example", "port"),
        ("smtp://user:hunter2?@host.example", "port"),
        ("smtp://user:12#hunter2@host.example", "after the host"),
        ("smtp://user:12/hunter2@host.example", "after the host"),
        ("smtp://user:hunter2@host.example/mail", "after the host"),
        ("smtp://user:hunter2@[::1", "host"),
        ("smtp://user:hunter2@ho_st.example", "host that is neither"),
        ("smtp://user:hunter2@host.example?starttls=yes", "none of required, opportunistic, never"),
        ("smtp://user:hunter2@host.example?starttls=tls", "none of required, opportunistic, never"),
        ("smtp://user:hunter2@host.example?starttls=", "none of required, opportunistic, never"),
        ("smtp://user:hunter2@host.example?tls=required", "other than one starttls"),
        ("smtp://user:hunter2@host.example?starttls=never&starttls=required", "other than one starttls"),
        ("smtps://user:hunter2@host.example?starttls=required", "encrypted from the first byte"),
        ("smtp://hunter2@host.example", "not both a user name and a password"),
        ("smtp://:hunter2@host.example", "not both a user name and a password"),
        ("smtp://user:@host.example", "not both a user name and a password"),
        ("smtp://user:hunter2 x@host.example", "%20"),
        ("smtp://user:hunter2@host.example\n", "%20"),
        ("smtp://user:hun\0ter2@host.example", "%20"),
    ],
)
def test_a_wrong_url_is_an_error_that_says_what_would_be_right_and_tells_no_secret(url: str, words: str) -> None:
    with pytest.raises(ValueError, match="A right one: smtp://user:password@mail") as caught:
        parse_smtp_url(url)
    assert words in str(caught.value)
    assert_tells_nothing(caught.value, "hunter2", "hun", "ter2")


@given(st.text(min_size=8, max_size=40).map(lambda text: "Zq" + text.replace("%", "")))
def test_no_password_however_written_is_told_by_an_error(password: str) -> None:
    try:
        server = parse_smtp_url(f"smtp://user:{password}@host.example:587")
    except ValueError as error:
        assert_tells_nothing(error, password, "Zq")
    else:
        assert "Zq" not in repr(server)


def assert_tells_nothing(error: BaseException | None, *secrets: str) -> None:
    while error is not None:
        assert not any(secret in str(error) for secret in secrets)
        error = error.__cause__ or error.__context__
