"""Signing in at a real identity provider, oidc-provider-mock, which runs as a process of its own. Odd ones: test_provider_sign_in."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from service import access
from service.app import build_app
from service.transaction import transaction
from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Page
from tests.service.odd_provider import settings_of

ANN, ZOE, IDA = "ann@chino.example", "zoe@chino.example", "ida@chino.example"
USERS = [
    {"sub": "u-ann", "email": ANN, "email_verified": True, "amr": ["pwd", "mfa"]},
    {"sub": "u-zoe", "email": ZOE, "email_verified": True},
    {"sub": "u-ida", "email": IDA},
]


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """The address of the provider."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    users = [part for user in USERS for part in ("--user-claims", json.dumps(user))]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true", *users]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert running.poll() is None, "the provider ended"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()


@pytest.fixture
async def there(site: Site, issuer: str) -> Site:
    """The site, in the present, whose staff may sign in at the provider. Ann and Ida have accounts."""
    site.home.clock.at = datetime.now(UTC)
    async with transaction(site.home.house, "test") as tx:
        for email in (ANN, IDA):
            await access.add_account(tx, email, "officer", "chino")
    given = {"oidc_issuer": issuer, "oidc_client_id": "spillclock", "oidc_client_secret": "made up", "oidc_name": "City login"}
    home = site.home.with_house(settings=settings_of(site.home.house.settings, **given))
    return Site(home, httpx.ASGITransport(app=build_app(home.house)), site.visitors)


async def signs_in(visitor: Visitor, issuer: str, subject: str) -> Page:
    """Go to the provider, say who one is there, and come back."""
    page = await visitor.send(await visitor.get("/staff/account"), "/staff/sign-in/provider")
    [link] = [link["href"] for link in page.root.all("a") if link["href"].startswith(issuer)]
    async with httpx.AsyncClient(trust_env=False) as browser:
        form = {"action": "deny"} if not subject else {"sub": subject}
        back = (await browser.post(link, data=form)).headers["location"]
    assert back.startswith("https://spills.example.gov/staff/sign-in/provider/answer?")
    page = await visitor.get(back)
    return await visitor.send(page, "/staff/sign-in/provider/answer")


async def test_people_with_an_account_come_in_by_the_real_provider_and_others_are_told_why_not(there: Site, issuer: str) -> None:
    visitor = there.visitor()
    page = await signs_in(visitor, issuer, "u-ann")
    assert page.response.url.path == "/staff/account"
    assert f"{issuer}, since" in page.text
    assert (await visitor.get("/staff")).status == 200
    for subject, status, told in (
        ("u-zoe", 401, "City login knows you as zoe@chino.example, which has no account here."),
        ("u-ida", 401, "City login does not say that your e-mail address is verified."),
        ("somebody new", 401, "City login tells no e-mail address of you"),
        ("", 401, "City login did not let you in."),
    ):
        page = await signs_in(there.visitor(), issuer, subject)
        assert (page.status, told in page.text) == (status, True), page.text
