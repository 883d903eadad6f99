"""Pages served on a port of this machine and looked at in a real Chromium: at 360 and 1,280 pixels, with and without JavaScript.

With SPILLCLOCK_TESTS_SHOTS=folder each journey leaves pictures of its pages there.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.async_api import Browser, BrowserContext, Locator, Page
from sqlalchemy import func, select

from service.app import build_app
from service.parties import link_token
from service.tables import Spill
from service.transaction import reading
from tests.houses import Household, a_household

SHOTS = os.environ.get("SPILLCLOCK_TESTS_SHOTS")
PHONE, DESK = 360, 1280
WIDTHS = pytest.mark.parametrize("width", [PHONE, DESK])
BOTH_ENDS = pytest.mark.parametrize(
    ("width", "scripts"), [(PHONE, True), (DESK, False)], ids=["phone-with-scripts", "desk-without-scripts"]
)
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])
_AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
_RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# What another width and other colours can change about a page that was looked at already.
_LOOKS = {"type": "rule", "values": ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"]}
# Swagger UI on /docs is a program of others for programmers, who have the OpenAPI document as well; what is around it is ours.
_RUN = """only => axe.run({include: [["html"]], exclude: [["#calls"]]}, {runOnly: only, resultTypes: ["violations"]}).then(found =>
  found.violations.map(one => `${one.id}: ${one.help}: ${one.nodes.map(node => node.html.slice(0, 150)).slice(0, 4).join(" | ")}`))"""


@dataclass
class Served:
    """A household whose pages are served on a port of this machine, and a Chromium to look at them."""

    home: Household
    url: str
    chromium: Browser

    @asynccontextmanager
    async def browser(
        self, width: int = PHONE, *, scripts: bool = True, answers: tuple[int, ...] = (), may_fail: str = "$^", **options: Any
    ) -> AsyncIterator[Page]:
        """A page with cookies and storage of its own. It fails the test at the end where a page had an error or asked for anything of
        another site.

        `answers`: statuses of errors that the test is about; `may_fail`: a pattern of other errors that it is about.
        """
        context: BrowserContext = await self.chromium.new_context(
            viewport={"width": width, "height": 800}, java_script_enabled=scripts, base_url=self.url, **{"locale": "en-US", **options}
        )
        context.set_default_timeout(20_000)
        page = await context.new_page()
        trouble: list[str] = []
        page.on("pageerror", lambda error: trouble.append(f"script error: {error}"))
        page.on("console", lambda said: trouble.append(f"console: {said.text}") if said.type == "error" else None)
        page.on("request", lambda request: trouble.append(f"asked for {request.url}") if not request.url.startswith(self.url) else None)
        try:
            yield page
        finally:
            await context.close()
        expected = "|".join((may_fail, *(f"status of {status}" for status in answers)))
        assert [one for one in trouble if not re.search(expected, one)] == []

    async def spills(self) -> list[Spill]:
        """Every stored spill, the oldest first."""
        async with reading(self.home.house) as tx:
            return list((await tx.session.execute(select(Spill).order_by(Spill.id))).scalars())  # type: ignore[arg-type]

    async def count(self) -> int:
        """How many spills are stored."""
        async with reading(self.home.house) as tx:
            return await tx.session.scalar(select(func.count()).select_from(Spill)) or 0

    async def last(self) -> Spill:
        """The spill stored last."""
        return (await self.spills())[-1]

    async def link(self, purpose: str, reference: str) -> str:
        """The path of a private page."""
        return f"/{purpose}/{link_token(self.home.house, purpose, await self.home.spill(reference))}"


@asynccontextmanager
async def serving(folder: Path, chromium: Browser, host: str = "127.0.0.1", **settings: Any) -> AsyncIterator[Served]:
    """Chino with its example people, served until the end of the block. Passkeys need the host to be `localhost`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://{host}:{listening.getsockname()[1]}"
        async with a_household(folder, base_url=url, **settings) as home:
            app = build_app(home.house)
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
            running = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started:  # noqa: ASYNC110 - uvicorn has a flag, not an event
                await asyncio.sleep(0.01)
            yield Served(home, url, chromium)
            app.state.live.close()  # as service/programs.py does it
            server.should_exit = True
            await running


async def axe_finds(page: Page, *, looks: bool = False) -> list[str]:
    """What axe finds wrong with a page as it stands: by every rule of WCAG 2.2 AA, or by those about its looks alone."""
    await page.evaluate(_AXE)
    return list(await page.evaluate(_RUN, _LOOKS if looks else _RULES))


# What reaches over the edge of the screen, and what is too small for a thumb.
_FLAWS = """() => {
  const told = (element, what) => `${element.outerHTML.slice(0, 120)} ${what}`;
  const shown = [...document.querySelectorAll("body *")]
    .filter(element => element.checkVisibility() && !element.closest(".usa-skipnav, .usa-sr-only"))
    .filter(element => !element.closest(".map *"));  // a map is cut off at its own frame
  const wide = shown.filter(element => element.getBoundingClientRect().right > innerWidth + 1).map(element => told(element, "is too wide"));
  const small = shown.filter(element => element.matches("button, .usa-button, main input:not([type=radio], [type=checkbox]), main select"))
    .filter(element => !element.matches(".usa-button--unstyled"))
    .filter(element => element.getBoundingClientRect().height < 44).map(element => told(element, "is too low"));
  return [...wide, ...small];
}"""


async def looks_right(page: Page, name: str) -> None:
    """Nothing is wider than the screen, and every button and box is big enough for a thumb. Takes a picture where asked for."""
    assert await page.evaluate(_FLAWS) == [], name
    if SHOTS:
        width = (page.viewport_size or {"width": 0})["width"]
        await page.screenshot(path=f"{SHOTS}/{name}-{width}.png", full_page=True)


async def holds(page: Page, name: str, scripts: bool = True) -> None:
    """It looks right, and axe finds nothing wrong. Axe needs scripts; without them the page is the same."""
    await looks_right(page, name)
    if scripts:
        assert await axe_finds(page) == [], name


async def go_to(page: Page, section: str) -> None:
    """Follow a link of the staff's menu, which is folded on a phone."""
    menu = page.get_by_role("navigation", name="Main")
    if await (button := menu.get_by_text("Menu", exact=True)).is_visible():
        await button.click()
    await menu.get_by_role("link", name=section).click()


def card(page: Page, title: str) -> Locator:
    """The card of a clock."""
    return page.locator("li.card").filter(has=page.get_by_role("heading", name=title))


async def mailed_link(home: Household) -> str:
    """The sign-in link that is mailed once the answer is out, which may be a moment after the page shows it."""
    async with asyncio.timeout(20):
        while not (mails := [line for line in home.outbox() if line["step"] == "account link"]):
            await asyncio.sleep(0.05)
            await home.work()
    [mail] = mails
    return str(re.findall(r"http\S+", mail["text"])[0])
