"""What changes on the board, as the real process tells it over real connections: at once, unbuffered, and never in the way of its stop."""

import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.e2e.program import CHINO, Spillclock, until

REPORT = {"description": "Brown water", "location": CHINO, "material": "sewage", "volume": {"quantity": 1500, "unit": "gal"}}
# It looks every two seconds.
SOON = 15.0


@contextmanager
def a_session(spillclock: Spillclock) -> Iterator[httpx.Client]:
    """A browser that is signed in."""
    with spillclock.client() as browser:
        browser.headers["origin"] = spillclock.url
        answer = browser.post("/staff/sign-in", data={"token": spillclock.token()})
        assert answer.status_code == 303
        assert "spillclock_session" in browser.cookies
        yield browser


@contextmanager
def listening(browser: httpx.Client) -> Iterator[tuple[httpx.Response, Iterator[str]]]:
    """A page that listens: the answer, and its lines as they come."""
    with browser.stream("GET", "/staff/events", headers={"accept": "text/event-stream"}, timeout=SOON) as answer:
        assert answer.status_code == 200
        yield answer, answer.iter_lines()


def test_a_report_is_told_to_an_open_page_within_seconds(spillclock: Spillclock) -> None:
    spillclock.serve()
    with a_session(spillclock) as browser, listening(browser) as (answer, lines):
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["cache-control"] == "no-store, no-transform"
        assert "content-encoding" not in answer.headers
        assert next(lines) == "retry: 5000"  # sent at once: a proxy or a server that waited for more would hold it back
        with spillclock.client() as anyone:
            reference = anyone.post("/api/v1/spills", json=REPORT).json()["reference"]
        told = next(json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: "))
        assert [one["reference"] for one in told] == [reference]
        assert told[0]["state"] == "running"


def test_signing_out_ends_the_connection(spillclock: Spillclock) -> None:
    spillclock.serve()
    with a_session(spillclock) as browser, a_session_like(browser, spillclock) as other, listening(browser) as (_, lines):
        assert other.post("/staff/sign-out").status_code == 303
        assert "event: end" in list(lines)  # which ends: the server hung up


@contextmanager
def a_session_like(browser: httpx.Client, spillclock: Spillclock) -> Iterator[httpx.Client]:
    """The same browser by another connection."""
    with spillclock.client() as other:
        other.headers["origin"] = spillclock.url
        other.cookies = browser.cookies
        yield other


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_open_pages_do_not_hold_up_the_stop(spillclock: Spillclock, number: signal.Signals) -> None:
    spillclock.serve()
    with a_session(spillclock) as browser, listening(browser) as (_, lines), listening(browser) as (_, others):
        assert next(lines) == next(others) == "retry: 5000"
        asked_at = time.monotonic()
        assert spillclock.stop(number) == 0
        assert time.monotonic() - asked_at < 5
        assert list(lines) == list(others) == [""]  # an end, and not a break
    assert "Traceback" not in spillclock.log.read_text()
    assert "timeout graceful shutdown exceeded" not in spillclock.log.read_text()


def test_whoever_went_away_without_a_word_is_no_longer_served(spillclock: Spillclock) -> None:
    spillclock.serve()
    with a_session(spillclock) as browser:
        session = browser.cookies["spillclock_session"]
        asked = f"GET /staff/events HTTP/1.1\r\nHost: here\r\nAccept: text/event-stream\r\nCookie: spillclock_session={session}\r\n\r\n"

        def open_and_leave() -> int:
            with socket.create_connection(("127.0.0.1", spillclock.port), timeout=5) as connection:
                connection.sendall(asked.encode())
                return int(connection.recv(64).split()[1])

        # More pages than one session may have open, one after the other: each gives its place back when it goes.
        assert {open_and_leave() for _ in range(15)} == {200}
        until(lambda: [open_and_leave() for _ in range(15)] == [200] * 15, SOON, "the places of pages that went are free")
