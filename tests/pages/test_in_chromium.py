"""The journeys in a real Chromium, against the real application on a port: at 360 and 1,280 pixels, with and without JavaScript.

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
from playwright.async_api import BrowserContext, Locator, Page, async_playwright, expect
from sqlalchemy import select

from service.app import build_app
from service.events import ActRecorded
from service.parties import link_token
from service.tables import Spill
from service.transaction import reading
from tests.houses import Household, a_household
from tests.spills import NOWHERE_NEAR, a_report

SHOTS = os.environ.get("SPILLCLOCK_TESTS_SHOTS")
PHONE, DESK = 360, 1280
WIDTHS = pytest.mark.parametrize("width", [PHONE, DESK])
BOTH_ENDS = pytest.mark.parametrize(
    ("width", "scripts"), [(PHONE, True), (DESK, False)], ids=["phone-with-scripts", "desk-without-scripts"]
)
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])


@dataclass
class Served:
    """A household whose pages are served on a port of this machine, and a Chromium to look at them."""

    home: Household
    url: str
    chromium: str

    @asynccontextmanager
    async def browser(
        self, width: int = PHONE, *, scripts: bool = True, answers_422: bool = False, answers: tuple[int, ...] = (), **options: Any
    ) -> AsyncIterator[Page]:
        """A page in a browser of its own. It fails the test at the end where a page had an error or asked for anything of another site.

        `answers`: statuses of errors that the test is about, 422 for short by its own name.
        """
        async with async_playwright() as playwright:
            chromium = await playwright.chromium.launch(executable_path=self.chromium)
            context: BrowserContext = await chromium.new_context(
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
                await chromium.close()
            expected = [f"status of {status}" for status in (*answers, *((422,) if answers_422 else ()))]
            assert [one for one in trouble if not any(status in one for status in expected)] == []

    async def spills(self) -> list[Spill]:
        """Every stored spill."""
        async with reading(self.home.house) as tx:
            return list((await tx.session.execute(select(Spill))).scalars())

    async def link(self, purpose: str, reference: str) -> str:
        """The path of a private page."""
        return f"/{purpose}/{link_token(self.home.house, purpose, await self.home.spill(reference))}"


@pytest.fixture
async def served(tmp_path: Path, chromium: str) -> AsyncIterator[Served]:
    """Chino with its example people, served."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with a_household(tmp_path, base_url=url) as home:
            app = build_app(home.house)
            app.state.channels = home.channels
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started:  # noqa: ASYNC110 - uvicorn has a flag, not an event
                await asyncio.sleep(0.01)
            yield Served(home, url, chromium)
            server.should_exit = True
            await serving


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
        while not (mails := [line for line in home.outbox() if line["spill"] is None]):  # noqa: ASYNC110 - the file has no event to wait for
            await asyncio.sleep(0.05)
    [mail] = mails
    return str(re.findall(r"http\S+", mail["text"])[0])


@BOTH_ENDS
async def test_a_duty_officer_signs_in_at_night_and_logs_a_call(served: Served, width: int, scripts: bool) -> None:
    await served.home.token("officer", "chino", "duty@chino.example")
    reference = await served.home.report(a_report())
    await served.home.report(a_report(location=NOWHERE_NEAR), staff=False)
    async with served.browser(width, scripts=scripts) as page:
        await page.goto(f"/staff/spills/{reference}")
        await looks_right(page, "sign-in")
        await page.get_by_label("Your e-mail address").fill("duty@chino.example")
        await page.get_by_role("button", name="Send me a link").click()
        await expect(page.get_by_text("a link is on its way")).to_be_visible()
        await page.goto(await mailed_link(served.home))
        await looks_right(page, "enter")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", name=reference)).to_be_visible()
        await looks_right(page, "spill")
        await go_to(page, "Board")
        await looks_right(page, "board")
        await page.get_by_role("link", name=reference).click()
        duty = card(page, "Tell the regional water board within two hours")
        await expect(duty).to_contain_text("2 hours left" if not scripts else re.compile(r"2 hours left|1 hour 59 minutes left"))
        await duty.get_by_text("Log this call").click()
        await duty.get_by_role("button", name="Log it, just now").click()
        await expect(page.get_by_role("status").filter(has_text="Recorded.")).to_be_visible()
        await expect(card(page, "Tell the regional water board within two hours")).to_contain_text("Done on time")
        await looks_right(page, "spill-call-logged")
    [act] = await served.home.events(reference, ActRecorded)
    assert act.act["recipient"] == "rwqcb-santa-ana"


@BOTH_ENDS
async def test_a_discharger_calls_and_files_a_report(served: Served, width: int, scripts: bool) -> None:
    reference = await served.home.report(a_report())
    await served.home.name_discharger(reference, "Golden Wok LLC", "owner@goldenwok.example")
    async with served.browser(width, scripts=scripts) as page:
        await page.goto(await served.link("respond", reference))
        await looks_right(page, "respond")
        call = card(page, "Call Cal OES about the sewage now")
        await call.get_by_text("I made this call").click()
        await call.get_by_label("Whom did you speak to?").fill("Warning Center")
        await call.get_by_label("Control or case number").fill("26-1234")
        await looks_right(page, "respond-call")
        await call.get_by_role("button", name="Record it").click()
        await expect(card(page, "Call Cal OES about the sewage now")).to_contain_text("Done on time")
        await card(page, "the written spill report within five days").get_by_role("link", name="Write the report").click()
        await looks_right(page, "respond-report")
        await page.get_by_label("cause of the discharge").fill("Roots in the lateral")
        await page.get_by_role("button", name="Save draft").click()
        await expect(page.get_by_text("The draft is kept.")).to_be_visible()
        await page.get_by_label("Your name").fill("Dana Cruz")
        await page.get_by_label("Your title").fill("owner")
        await page.get_by_label("I certify this").check()
        for item in ("type of the material or waste", "volume of the material", "all corrective actions", "measures that will prevent"):
            await page.get_by_label(item).fill("As told by telephone.")
        await page.get_by_role("button", name="Certify and file").click()
        await expect(page.get_by_role("heading", name=re.compile("Filed .*, on time"))).to_be_visible()
        await looks_right(page, "respond-report-filed")
    assert (await served.home.clock_of(reference, "chino/rwqcb-written-5-days")).state == "met"


@WIDTHS
async def test_an_officer_sets_a_city_and_amends_an_amount(served: Served, width: int) -> None:
    reference = await served.home.report(a_report(location={"address": "by the school"}, volume={"quantity": 900, "unit": "gal"}))
    token = await served.home.token("manager", None)
    async with served.browser(width) as page:
        await page.goto("/staff/sign-in")
        await page.get_by_text("I have a token").click()
        await page.get_by_label("Token").fill(token)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await page.get_by_role("link", name=reference).first.click()
        await looks_right(page, "spill-without-city")
        await page.locator("#assign-city").select_option(label="City of Chino, California")
        await page.get_by_role("button", name="Set the city and start the clocks").click()
        await expect(page.get_by_text("The facts are amended")).to_be_visible()
        await expect(card(page, "Tell the regional water board within two hours")).to_have_count(0)
        await page.get_by_role("link", name="Amend facts").click()
        await looks_right(page, "amend")
        await page.get_by_label("How much, or at least").fill("1,200")
        await page.get_by_label("Reason").fill("Crew measured the pool")
        await page.get_by_role("button", name="Amend the facts").click()
        await expect(card(page, "Tell the regional water board within two hours")).to_be_visible()
        await page.locator("#type").select_option(label="Order served")
        await page.get_by_role("button", name="Go on").click()
        await looks_right(page, "event")
        await page.get_by_label("Order").select_option(label="Stop work order")
        await page.get_by_role("button", name="Record it").click()
        await expect(card(page, "Stop work now")).to_be_visible()


async def test_a_clock_counts_down_by_the_servers_time(served: Served) -> None:
    reference = await served.home.report(a_report())
    async with served.browser() as page:
        await page.goto(await served.link("respond", reference))
        duty = card(page, "Tell the regional water board within two hours")
        await expect(duty).to_contain_text("1 hour 59 minutes left")
        served.home.clock.jump(hours=3)
        await page.reload()
        await expect(card(page, "Tell the regional water board within two hours").locator(".standing")).to_have_text(
            "Overdue by 1 hour 2 seconds"
        )


async def test_a_spanish_page_on_a_phone_fits_and_reads_well(served: Served) -> None:
    reference = await served.home.report(a_report())
    async with served.browser(locale="es-MX", color_scheme="dark") as page:
        for name, address in (("home-es", "/"), ("report-es", "/report"), ("respond-es", await served.link("respond", reference))):
            await page.goto(address)
            await expect(page.locator("html")).to_have_attribute("lang", "es")
            await looks_right(page, name)
        await page.get_by_role("link", name="English").click()
        await expect(page.locator("html")).to_have_attribute("lang", "en")


async def test_a_first_page_is_light(served: Served) -> None:
    async with served.browser() as page:
        sizes: list[int] = []
        page.on("response", lambda response: sizes.append(int(response.headers.get("content-length", 0))))
        await page.goto("/report")
        await page.wait_for_load_state("networkidle")
        assert 10_000 < sum(sizes) < 100_000
