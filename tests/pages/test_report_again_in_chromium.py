"""In a browser: sent again after going back, errors shown without a second upload, drafts without names, maps that begin with a place."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import Browser, FilePayload, Page, expect

from service.pages import public
from tests.pages.browsing import DESK, PHONE, SCRIPTS, WIDTHS, Served, holds, serving
from tests.pages.test_report_in_chromium import ONE_PHOTO, Desk, is_kept, onward
from tests.service.test_public_record import confirmed


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def desk(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> AsyncIterator[Desk]:
    """One house for all tests of this file."""
    async with serving(tmp_path_factory.mktemp("again"), browser, limit_factor=0) as served:
        yield Desk(served.home, served.url, served.chromium)


@SCRIPTS
async def test_going_back_and_sending_again_is_told_of_and_can_be_meant(desk: Desk, scripts: bool) -> None:
    before, words = await desk.count(), f"Foam in the creek, {'with' if scripts else 'without'}"
    async with desk.page(DESK, scripts=scripts, answers=(409,)) as page:
        await page.get_by_label("Describe what you see").fill(words)
        await page.get_by_role("button", name="Send report").click()
        await is_kept(page)
        first = page.url
        await page.go_back()
        await page.get_by_label("Describe what you see").fill(words)
        await page.get_by_role("button", name="Send report").click()
        if await page.get_by_role("heading", name="Thank you. Your report is kept.").is_visible():
            # The very page came back from the browser's memory: it is the same report.
            await expect(page.get_by_text("It is kept once, as")).to_be_visible()
            await page.goto("/report")
            await page.get_by_label("Describe what you see").fill(words)
            await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_role("alert")).to_contain_text("You sent this already")
        assert await desk.count() == before + 1
        await holds(page, f"report-sent-before-{'scripts' if scripts else 'plain'}", scripts)
        assert f"{desk.url}{await page.get_by_role('link', name='Open its page').get_attribute('href')}" == first
        await page.get_by_role("button", name="It is another spill: send it").click()
        await is_kept(page)
        assert page.url != first
    assert await desk.count() == before + 2


async def test_whoever_looks_at_the_first_report_leaves_no_draft_behind(desk: Desk) -> None:
    async with desk.page(PHONE, answers=(409,)) as page:
        for _ in range(2):
            await page.goto("/report")
            await page.get_by_label("Describe what you see").fill("Paint on a phone")
            for _ in range(5):
                await onward(page)
            await page.get_by_role("button", name="Send report").click()
            await expect(page.get_by_role("heading", name="Thank you.").or_(page.get_by_role("alert"))).to_be_visible(timeout=20_000)
        await holds(page, "report-sent-before-phone")
        await page.get_by_role("link", name="Open its page").click()
        await is_kept(page)
        await page.goto("/report")
        await expect(page.get_by_text("What you typed before is still here.")).to_be_hidden()


async def test_a_form_that_comes_back_was_sent_once_and_can_be_sent_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise OSError("the disk is full")

    sent: list[str] = []
    async with desk.page(DESK, answers=(503,)) as page:
        page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
        await page.get_by_label("Describe what you see").fill("Oil on the road")
        await page.locator("#photos").set_input_files(ONE_PHOTO)
        with monkeypatch.context() as patched:
            patched.setattr(public, "take_in", broken)
            await page.get_by_role("button", name="Send report").click()
            await expect(page.get_by_role("alert")).to_contain_text("Your report could not be kept yet")
        assert len(sent) == 1
        await expect(page.get_by_role("heading", name="Your report could not be kept yet")).to_be_focused()
        await expect(page.get_by_label("Describe what you see")).to_have_value("Oil on the road")
        await holds(page, "report-not-kept")
        await page.get_by_role("button", name="Send report").click()
        await is_kept(page)
        assert len(sent) == 2
        assert await page.evaluate("localStorage.length + sessionStorage.length") == 0


async def test_an_answer_that_is_no_page_leaves_the_form_as_it_is(desk: Desk) -> None:
    async with desk.page(DESK, answers=(502,)) as page:
        await page.get_by_label("Describe what you see").fill("Oil")
        await page.route("**/report", lambda route: route.fulfill(status=502, content_type="text/plain", body="no"), times=1)
        await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_text("It could not be sent. Everything you typed is still here.")).to_be_visible()
        await page.get_by_role("button", name="Send report").click()
        await is_kept(page)


async def test_a_draft_says_that_it_has_no_name_in_it(desk: Desk) -> None:
    said = "Your name, telephone and e-mail are not kept on a device."
    async with desk.page(DESK) as page:
        await page.get_by_label("Describe what you see").fill("Foam")
        await page.get_by_label("Name (optional)").fill("Ana")
        await page.wait_for_timeout(400)
        await page.reload()
        await expect(page.get_by_text("What you typed before is still here.")).to_be_visible()
        await expect(page.get_by_text(said)).to_be_hidden()
        await page.evaluate("sessionStorage.clear()")  # the browser was closed
        await page.evaluate("window.addEventListener('pagehide', event => event.stopImmediatePropagation(), true)")
        other = await page.context.new_page()
        await other.goto("/report")
        await expect(other.get_by_text(said)).to_be_visible()
        await expect(other.get_by_label("Name (optional)")).to_have_value("")
        await holds(other, "report-draft-without-name")


async def test_a_photo_of_too_many_pixels_is_named_when_it_is_chosen(desk: Desk) -> None:
    content = io.BytesIO()
    Image.new("1", (8000, 6500)).save(content, "PNG")
    async with desk.page(DESK) as page:
        plan: list[FilePayload] = [{"name": "plan.png", "mimeType": "image/png", "buffer": content.getvalue()}]
        await page.locator("#photos").set_input_files(plan)
        await expect(page.get_by_text("plan.png has too many pixels and will not be kept: 50 million at most.")).to_be_visible()


@WIDTHS
async def test_a_wrong_address_is_put_right_on_the_page_of_the_report(desk: Desk, width: int) -> None:
    async with desk.page(width, scripts=False, language="es", answers=(422,)) as page:
        await page.locator("#description").fill(f"Aceite {width}")
        await page.locator("#email").fill("no es correo")
        await page.locator("#phone").fill("12")
        await page.get_by_role("button", name="Enviar reporte").click()
        await expect(page.get_by_role("heading", name="Todavía no podemos enviarle mensajes")).to_be_visible()
        await holds(page, f"status-unreachable-{width}", scripts=False)
        await page.get_by_role("button", name="Usar esta dirección").click()
        await expect(page.get_by_role("alert").first).to_contain_text("Ningún mensaje puede llegar aquí.")
        address = page.url.removesuffix("/contact")
    async with desk.browser(width, answers=(422,)) as page:
        await page.goto(address)
        await page.get_by_label("E-mail", exact=True).fill("ana@")
        await page.get_by_role("button", name="Use this address").click()
        await expect(page.get_by_label("E-mail", exact=True)).to_have_value("ana@")
        await holds(page, f"status-unreachable-fault-{width}")
        await page.get_by_label("E-mail", exact=True).fill("ana@example.com")
        await page.get_by_role("button", name="Use this address").click()
        await expect(page.get_by_text("Messages go to this address from now on.")).to_be_visible()
    assert (await desk.last()).reporter["email"] == "ana@example.com"


# -- maps

_WHOLE = """() => {
  const box = element => element.getBoundingClientRect();
  const map = box(document.querySelector("[data-canvas]")), zoom = box(document.querySelector(".leaflet-control-zoom"));
  const names = [...document.querySelectorAll(".map-name")]
    .filter(name => name.checkVisibility({visibilityProperty: true})).map(name => [name.textContent, box(name)]);
  const meets = one => one.right > zoom.left && one.bottom > zoom.top && one.left < zoom.right && one.top < zoom.bottom;
  const cut = one => one.left < map.left || one.right > map.right || one.top < map.top || one.bottom > map.bottom;
  return {
    names: names.map(([name]) => name), bad: names.filter(([, at]) => meets(at) || cut(at)).map(([name]) => name),
    outline: [...document.querySelectorAll("path.map-city")].some(path => { const at = box(path); return at.width > 40 && !cut(at); }),
  };
}"""


@WIDTHS
async def test_one_spill_is_shown_with_the_city_around_it_and_its_name(served: Served, width: int) -> None:
    await confirmed(served.home)
    async with served.browser(width) as page:
        await page.goto("/map")
        await page.wait_for_selector("[data-canvas][data-ready]")
        await page.wait_for_timeout(200)
        shown = await page.evaluate(_WHOLE)
        assert shown["outline"]
        assert shown["bad"] == []
        assert any("Chino" in name for name in shown["names"])
        await holds(page, "map-one-spill")


async def test_the_middle_of_far_away_is_no_place_for_a_pin(served: Served) -> None:
    async with served.browser(DESK) as page:
        await page.goto("/report")
        await opened_map(page)
        middle = page.get_by_role("button", name="Put the pin in the middle")
        await expect(middle).to_be_disabled()
        await holds(page, "report-pin-far")
        await page.get_by_label("Show on the map").select_option(label="City of Chino, California")
        await expect(middle).to_be_enabled()
        await middle.click()
        lat, lon = [float(await page.get_by_label(name).input_value()) for name in ("Latitude", "Longitude")]
        assert abs(lat - 34.0) < 0.1
        assert abs(lon + 117.68) < 0.1


async def opened_map(page: Page) -> None:
    await page.get_by_text("Add a map position").click()
    await page.get_by_role("button", name="Choose on a map").click()
    await expect(page.get_by_label("Show on the map")).to_be_visible()


@WIDTHS
async def test_advisories_around_a_point_can_be_asked_for_by_a_pin(served: Served, width: int) -> None:
    async with served.browser(width) as page:
        await page.goto("/alerts")
        await opened_map(page)
        await page.get_by_label("Show on the map").select_option(label="City of Chino, California")
        await page.get_by_role("button", name="Put the pin in the middle").click()
        await expect(page.get_by_label("Latitude")).not_to_have_value("")
        await holds(page, "alerts-with-a-map")
