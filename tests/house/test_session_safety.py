"""The session is closed off: what tests/conftest.py promises, tried."""

import asyncio
import os
import socket
import threading
from pathlib import Path

import httpx
import pytest

from tests.conftest import OutsideThisMachine

OUTSIDE = "192.0.2.1"  # an address for documentation (RFC 5737): nobody is there


def test_a_connection_beyond_this_machine_is_stopped() -> None:
    with socket.socket() as sock, pytest.raises(OutsideThisMachine, match="loopback only"):
        sock.connect((OUTSIDE, 25))


def test_a_datagram_beyond_this_machine_is_stopped() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(OutsideThisMachine):
        sock.sendto(b"hello", (OUTSIDE, 53))


async def test_a_loop_cannot_connect_beyond_this_machine() -> None:
    with pytest.raises(OutsideThisMachine):
        await asyncio.open_connection(OUTSIDE, 25)


async def test_a_web_client_cannot_look_up_a_host() -> None:
    async with httpx.AsyncClient() as client:
        with pytest.raises(OutsideThisMachine, match="looked up"):
            await client.get("http://example.com/")


def test_a_name_under_invalid_does_not_exist() -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("mail.invalid", 25)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_connection_to_this_machine_goes_through(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=lambda: server.accept()[0].close())
        answering.start()
        with socket.create_connection((host, server.getsockname()[1]), timeout=5) as client:
            assert client.recv(1) == b""
        answering.join()


def test_no_setting_of_the_developer_reaches_a_test() -> None:
    assert [name for name in os.environ if name.startswith("SPILLCLOCK_") and not name.startswith("SPILLCLOCK_TESTS_")] == []


def test_the_browser_that_is_found_can_run(chromium: str) -> None:
    assert os.access(Path(chromium), os.X_OK)
