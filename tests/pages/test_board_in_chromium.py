"""The board in a real browser: what changes is shown at once, keys move about and can be switched off, the map and the wall by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from service import access
from service.pages import live
from service.transaction import transaction
from tests.houses import OFFICER
from tests.pages.browsing import DESK, PHONE, WIDTHS, Served, holds, serving
from tests.spills import IN_ONTARIO, a_report, gallons


async def sign_in(served: Served, page: Page, role: str = "officer", city: str | None = "chino") -> str:
    """Give a browser a session; returns its token."""
    async with transaction(served.home.house, "test") as tx:
        account = await access.find_account(tx, OFFICER) or await access.add_account(tx, OFFICER, role, city)
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
    return session


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes are looked for without the wait."""
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.1)


@pytest.mark.usefixtures("quick")
async def test_what_changes_is_shown_at_once_and_ends_with_the_session(tmp_path: Path, browser: Browser) -> None:
    async with serving(tmp_path, browser) as served, served.browser(DESK) as page:
        session = await sign_in(served, page)
        reference = await served.home.report(a_report())
        await page.goto("/staff")
        await expect(page.get_by_text("Live: what changes is shown at once.")).to_be_visible()
        line = page.locator(f"[data-spill={reference}]")
        await expect(line.locator("[data-part=word]")).to_have_text("To do")
        served.home.clock.jump(hours=3)
        await served.home.amend(reference, volume=gallons(1400))
        await expect(line.locator("[data-part=word]")).to_have_text("Overdue")
        await expect(line).to_have_class(re.compile("overdue"))
        await expect(page.get_by_role("button", name="Show what changed")).to_be_hidden()  # it stands where it stood
        served.home.clock.jump(seconds=1)
        await served.home.report(a_report(location=IN_ONTARIO))  # not this officer's
        other = await served.home.report(a_report())
        await expect(page.get_by_text("1 spill is new, gone or has moved in the list.")).to_be_visible()
        assert await page.locator("[data-spill]").count() == 1  # nothing moves under anybody's hand
        await holds(page, "board-live")
        await page.keyboard.press("r")
        await expect(page.locator(f"[data-spill={other}]")).to_be_visible()
        async with transaction(served.home.house, "test") as tx:
            await access.close_session(tx, session)
        await expect(page.get_by_text("You are signed out. Sign in again to see what changes.")).to_be_visible()


async def test_keys_move_about_the_board_and_can_be_switched_off(tmp_path: Path, browser: Browser) -> None:
    async with serving(tmp_path, browser) as served, served.browser(DESK) as page:
        await sign_in(served, page)
        references = [await served.home.report(a_report(known_at=f"2026-12-01T2{number}:00:00Z")) for number in range(2)]
        await page.goto("/staff")

        async def focused() -> str:
            return str(await page.evaluate("document.activeElement.textContent"))

        for key, expected in (("j", references[0]), ("j", references[1]), ("j", references[1]), ("k", references[0])):
            await page.keyboard.press(key)
            assert await focused() == expected
        await page.keyboard.press("/")
        await page.keyboard.type("jk?mw")
        await expect(page.get_by_label("Search", exact=True)).to_have_value("jk?mw")  # in a field keys are letters
        await page.get_by_role("heading", name="Board").click()
        await page.keyboard.press("Control+m")
        await page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
        await expect(dialog).to_be_visible()
        await holds(page, "board-keys")
        await page.keyboard.press("m")
        await dialog.get_by_label("Use these keys on this device").press("Space")
        await page.keyboard.press("Escape")
        await expect(dialog).to_be_hidden()
        await page.keyboard.press("m")
        await page.keyboard.press("?")
        await expect(dialog).to_be_hidden()
        assert page.url.endswith("/staff")
        await page.reload()
        await page.keyboard.press("m")
        await page.get_by_role("button", name="Keyboard shortcuts").click()  # the list is there also without its key
        await dialog.get_by_label("Use these keys on this device").press("Space")
        await dialog.get_by_role("button", name="Close").click()
        await page.keyboard.press("m")
        await page.wait_for_url("**/staff/map")
        await page.keyboard.press("b")
        await page.wait_for_url("**/staff")


@WIDTHS
async def test_a_view_is_filtered_kept_and_opened_again(tmp_path: Path, browser: Browser, width: int) -> None:
    async with serving(tmp_path, browser) as served, served.browser(width, scripts=width == PHONE) as page:
        await sign_in(served, page)
        await served.home.report(a_report())
        await served.home.report(a_report(material="paint", volume=gallons(2)))
        await page.goto("/staff")
        await page.get_by_text("More filters").click()
        await page.get_by_label("Material").select_option("sewage")
        await page.get_by_role("button", name="Filter").click()
        assert await page.locator("[data-spill]").count() == 1
        await page.get_by_text("Keep or remove views").click()
        await page.get_by_label("Name of this view").fill("Only sewage")
        await page.get_by_label("Who sees it").select_option("chino")
        await holds(page, "board-keep-view", scripts=width == PHONE)
        await page.get_by_role("button", name="Keep this view").click()
        await expect(page.get_by_text("The view is kept.")).to_be_visible()
        await page.goto("/staff")
        assert await page.locator("[data-spill]").count() == 2
        await page.get_by_role("link", name="Only sewage").click()
        assert await page.locator("[data-spill]").count() == 1
        await holds(page, "board-view", scripts=width == PHONE)


@WIDTHS
async def test_the_map_needs_neither_a_script_nor_a_mouse(tmp_path: Path, browser: Browser, width: int) -> None:
    async with serving(tmp_path, browser) as served, served.browser(width, scripts=width == PHONE) as page:
        await sign_in(served, page, "manager", None)
        for number in range(4):
            await served.home.report(a_report(location={"lat": 34.0 + number / 100, "lon": -117.69, "address": f"{number} Elm"}))
            await served.home.report(a_report())
        await page.goto("/staff/map")
        await holds(page, "board-map", scripts=width == PHONE)
        many = page.get_by_role("link", name=re.compile("spills here")).first
        await many.focus()
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/staff/map?box=*")
        await page.get_by_role("link", name="Farther").click()
        await page.get_by_role("link", name="All", exact=True).click()
        await page.wait_for_url("**/staff/map")


@pytest.mark.usefixtures("quick")
async def test_the_wall_keeps_itself_up_to_date_and_says_when_it_cannot(tmp_path: Path, browser: Browser) -> None:
    async with serving(tmp_path, browser) as served, served.browser(DESK, may_fail="ERR_|Failed to load") as page:
        session = await sign_in(served, page)
        await served.home.report(a_report())
        await page.goto("/staff/wall")
        await holds(page, "wall")
        served.home.clock.jump(seconds=1)
        other = await served.home.report(a_report(description="Foam"))
        await expect(page.get_by_role("link", name=other)).to_be_visible(timeout=15_000)
        await page.set_viewport_size({"width": PHONE, "height": 800})
        await holds(page, "wall-narrow")
        async with transaction(served.home.house, "test") as tx:
            await access.close_session(tx, session)
        await expect(page.get_by_text("Signed out. What is shown may be old.")).to_be_visible()
