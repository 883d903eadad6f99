"""A site: a household with its web pages, visited like a browser without JavaScript does. And the same served, for a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from service import access
from service.app import build_app
from service.parties import link_token
from service.transaction import transaction
from tests.houses import Household, a_household
from tests.pages.browsing import Served, serving
from tests.pages.markup import Element, Page, body, broken_rules, read, sent_by

SITE = "https://spills.example.gov"


@dataclass
class Visitor:
    """Somebody with a browser. Every page they see is held to the rules of all pages."""

    http: httpx.AsyncClient
    seen: list[str] = field(default_factory=list)

    async def get(self, address: str, **headers: str) -> Page:
        """Open a page, and go where it leads."""
        return self._read(await self.http.get(address, headers=headers, follow_redirects=True))

    async def post(self, address: str, fields: dict[str, str | list[str]], follow: bool = True) -> Page:
        """Send fields to an address."""
        return self._read(await self.http.post(address, data=fields, follow_redirects=follow))

    async def send(self, page: Page, form: Element | str, button: str | None = None, **filled: str | list[str]) -> Page:
        """Fill in a form of a page and send it; `__` in a name stands for a dot."""
        chosen = page.forms(form)[0] if isinstance(form, str) else form
        pairs = body(sent_by(chosen, button, **filled))
        if chosen["method"] == "get":
            return self._read(await self.http.get(chosen["action"], params=pairs, follow_redirects=True))
        return self._read(await self.http.post(chosen["action"], data=pairs, follow_redirects=True))

    def _read(self, response: httpx.Response) -> Page:
        self.seen.append(response.request.url.path)
        page = read(response)
        if response.text:
            assert broken_rules(page) == [], f"{response.request.url.path} breaks the rules of all pages"
        return page


@dataclass
class Site:
    """A household with its pages."""

    home: Household
    app: httpx.ASGITransport
    visitors: list[Visitor] = field(default_factory=list)

    def visitor(self, **headers: str) -> Visitor:
        """A new browser."""
        given = {"origin": SITE, "accept": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
        self.visitors.append(Visitor(httpx.AsyncClient(transport=self.app, base_url=SITE, headers=given)))
        return self.visitors[-1]

    async def staff(self, role: str = "officer", city: str | None = "chino") -> Visitor:
        """A browser that is signed in."""
        async with transaction(self.home.house, "test") as tx:
            account = await access.add_account(tx, f"{role}@{city or 'every-city'}.example", role, city)
            session = await access.issue(tx, account, "session", access.SESSION_LASTS)
        visitor = self.visitor()
        visitor.http.cookies.set("spillclock_session", session)
        return visitor

    async def link(self, purpose: str, reference: str) -> str:
        """The path of a private page: `status` or `respond`."""
        return f"/{purpose}/{link_token(self.home.house, purpose, await self.home.spill(reference))}"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """Chino with its example people, and its pages."""
    async with a_household(tmp_path) as home:
        app = build_app(home.house)
        made = Site(home, httpx.ASGITransport(app=app))
        yield made
        for visitor in made.visitors:
            await visitor.http.aclose()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """One Chromium for all tests of a worker, as to start it costs more than most journeys do. Each test has cookies of its own."""
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=chromium)
        yield started
        await started.close()


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path, browser: Browser) -> AsyncIterator[Served]:
    """Chino with its example people, served."""
    async with serving(tmp_path, browser) as made:
        yield made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What looks at pages in the browser runs in the browser's event loop."""
    for item in items:
        if isinstance(item, pytest.Function) and "browser" in item.fixturenames:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
