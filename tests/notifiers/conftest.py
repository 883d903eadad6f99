"""Certificates, servers and clients for the tests of the channels. Everything listens on 127.0.0.1, on a port of its own."""

import ssl
from collections.abc import AsyncIterator

import httpx
import pytest
import trustme

from notifiers import TwilioAccount
from tests.notifiers.fake_twilio import ACCOUNT_SID, TOKEN, FakeTwilio
from tests.notifiers.fault_proxy import FaultProxy
from tests.notifiers.local_server import LocalServer
from tests.notifiers.post_office import PostOffice


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """An authority that no machine trusts by itself."""
    return trustme.CA()


@pytest.fixture(scope="session")
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    """The server's side, with a certificate for 127.0.0.1."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture(scope="session")
def client_tls(authority: trustme.CA) -> ssl.SSLContext:
    """The client's side, trusting the authority."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture
async def post_office() -> AsyncIterator[PostOffice]:
    """A mail server without encryption or login."""
    async with PostOffice() as office:
        yield office


@pytest.fixture
async def mail_wire(post_office: PostOffice) -> AsyncIterator[FaultProxy]:
    """A wire to the post office that can be cut."""
    async with FaultProxy(("127.0.0.1", post_office.port)) as wire:
        yield wire


@pytest.fixture
async def twilio() -> AsyncIterator[FakeTwilio]:
    """A Twilio that must have nothing to complain about."""
    async with FakeTwilio() as fake:
        yield fake
        assert fake.complaints == []


@pytest.fixture
async def twilio_wire(twilio: FakeTwilio) -> AsyncIterator[FaultProxy]:
    """A wire to Twilio that can be cut."""
    async with FaultProxy(("127.0.0.1", twilio.port)) as wire:
        yield wire


@pytest.fixture
def twilio_account(twilio_wire: FaultProxy) -> TwilioAccount:
    """The account that the fake knows, reached over the wire."""
    return TwilioAccount(ACCOUNT_SID, TOKEN, "+19095550123", f"http://127.0.0.1:{twilio_wire.port}")


@pytest.fixture
async def receiver() -> AsyncIterator[LocalServer]:
    """A web server that receives webhooks, or plays an ntfy."""
    async with LocalServer() as server:
        yield server


@pytest.fixture
async def receiver_wire(receiver: LocalServer) -> AsyncIterator[FaultProxy]:
    """A wire to that server that can be cut."""
    async with FaultProxy(("127.0.0.1", receiver.port)) as wire:
        yield wire


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """The HTTP client that a program would share among its channels. Without the machine's proxies."""
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client
