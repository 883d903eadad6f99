"""The texts of a city and the mails themselves in a real Chromium: on a phone and at a desk, light and dark."""

from __future__ import annotations

from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Browser, expect

from service import access
from service.speech import notice_speech
from service.transaction import transaction
from service.wording import compose
from service.wording.example import examples
from tests.houses import TUESDAY
from tests.pages.browsing import BOTH_ENDS, DESK, PHONE, SHOTS, Served, go_to, looks_right

CONTRAST = """() => {
  const light = colour => { const [r, g, b] = colour.match(/[\\d.]+/g).map(part => { const c = part / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = element => { const own = getComputedStyle(element).backgroundColor;
    return own === "rgba(0, 0, 0, 0)" && element.parentElement ? ground(element.parentElement) : own; };
  return [...document.querySelectorAll("body *")].filter(element => [...element.childNodes].some(node => node.data?.trim()))
    .map(element => {
    const [one, other] = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => b - a);
    return [(one + 0.05) / (other + 0.05), element.outerHTML.slice(0, 90)]; }).filter(([contrast]) => contrast < 4.5);
}"""


@BOTH_ENDS
async def test_a_manager_writes_a_text_and_sees_how_it_goes_out(served: Served, width: int, scripts: bool) -> None:
    async with transaction(served.home.house, "test") as tx:
        account = await access.add_account(tx, "manager@chino.example", "manager", "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    async with served.browser(width, scripts=scripts, answers=(422,)) as page:
        await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
        await page.goto("/staff")
        await go_to(page, "Texts")
        await looks_right(page, "texts")
        await page.locator("a[href='/staff/templates/chino/alert/sms/en']").click()
        await expect(page.get_by_text("2 segments").first).to_be_visible()
        await looks_right(page, "text")
        await page.get_by_role("textbox", name="Text").fill("CHINO {reference} {due} {nonsense} {link}")
        await page.get_by_role("button", name="Keep it").click()
        await expect(page.locator("#text-faults")).to_contain_text("{nonsense} is unknown")
        await looks_right(page, "text-with-a-fault")
        await page.get_by_role("textbox", name="Text").fill("CHINO {reference} {due} {link}")
        await page.get_by_role("button", name="Preview").click()
        await expect(page.get_by_text("1 segment,").first).to_be_visible()
        await page.get_by_role("button", name="Keep it").click()
        await expect(page.get_by_text("Your own text counts")).to_be_visible()
        await looks_right(page, "text-of-ones-own")


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_mail_can_be_read_in_light_and_dark(browser: Browser, scheme: Literal["light", "dark"], width: int) -> None:
    asked: list[str] = []
    page = await browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.on("request", lambda request: asked.append(request.url))
    for kind in ("alert", "bundle", "triage", "confirm"):
        for number, values in enumerate(examples(kind, notice_speech("es"), ZoneInfo("America/Los_Angeles"), "Chino", TUESDAY)):
            await page.set_content(compose(kind, values, notice_speech("es"), {}).html)
            assert await page.evaluate(CONTRAST) == []
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
            assert await page.evaluate("document.querySelector('.card').getBoundingClientRect().width") <= 600
            if SHOTS:
                await page.screenshot(path=f"{SHOTS}/mail-{kind}-{number}-{scheme}-{width}.png", full_page=True)
    await page.close()
    assert asked == []
