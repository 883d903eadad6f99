"""The form in a real Chromium: in steps on a phone, whole at a desk and without JavaScript, in both languages, with and without signal."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, FilePayload, Page, expect
from sqlalchemy import func, select

from service.tables import KeptFile
from service.transaction import reading
from tests.pages.browsing import DESK, PHONE, Served, holds, serving
from tests.pictures import photo
from tests.spills import IN_CHINO

KEPT = {"en": "Thank you. Your report is kept.", "es": "Gracias. Su reporte está guardado."}
ONE_PHOTO: list[FilePayload] = [{"name": "one.jpg", "mimeType": "image/jpeg", "buffer": photo()}]
EVERYWHERE = pytest.mark.parametrize(
    ("width", "scripts", "language"),
    [(width, scripts, language) for width in (PHONE, DESK) for scripts in (True, False) for language in ("en", "es")],
)


@dataclass
class Desk(Served):
    """A house whose pages are served without limits: every test of this file comes from one address."""

    @asynccontextmanager
    async def page(self, width: int = PHONE, *, language: str = "en", **more: Any) -> AsyncIterator[Page]:
        """The empty form in a browser of its own."""
        async with self.browser(width, locale=f"{language}-US", **more) as page:
            await page.goto("/report")
            yield page


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def desk(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> AsyncIterator[Desk]:
    """One house for all tests of this file."""
    async with serving(tmp_path_factory.mktemp("form"), browser, limit_factor=0) as served:
        yield Desk(served.home, served.url, served.chromium)


async def onward(page: Page) -> None:
    """The next step of a phone with scripts. The form is whole elsewhere, and there is nothing to press."""
    following = page.locator("[data-next]")
    if await following.is_visible():
        await following.click()


async def is_kept(page: Page, language: str = "en") -> None:
    await expect(page.get_by_role("heading", name=KEPT[language])).to_be_visible()


async def answer(page: Page, step: str, language: str) -> None:
    """Answer the questions of a step as a neighbour may."""
    match step:
        case "what":
            await page.locator("#description").fill("Gray water comes out of a manhole")
            await page.locator("#material").select_option("sewage")
        case "where":
            await page.locator("#address").fill("13220 Central Ave, Chino, CA")
        case "when":
            await page.locator("label[for=seen-at]").click()
            await page.locator("#seen_words").fill("yesterday evening" if language == "en" else "ayer por la tarde")
        case "how-much":
            await page.locator("label[for=amount_like-bathtub]").click()
            await page.locator("label[for=reached-storm_drain]").click()
        case "photos":
            await page.locator("#photos").set_input_files(ONE_PHOTO)
        case "you":
            await page.locator("label[for=privacy-named]").click()
            await page.locator("#name").fill("Ana Ruiz")


@EVERYWHERE
async def test_a_neighbour_reports_a_spill(desk: Desk, width: int, scripts: bool, language: str) -> None:
    steps = ("what", "where", "when", "how-much", "photos", "you")
    in_steps = scripts and width == PHONE
    async with desk.page(width, scripts=scripts, language=language) as page:
        for number, step in enumerate(steps, 1):
            await answer(page, step, language)
            if in_steps:
                said = f"Step {number} of 6" if language == "en" else f"Paso {number} de 6"
                await expect(page.locator(".step:not([hidden])")).to_contain_text(said)
                await holds(page, f"report-{number}-{step}-{language}")
            if number < len(steps):
                await onward(page)
        if not in_steps:
            await expect(page.locator("[data-step-indicator]")).to_be_hidden()
            await holds(page, f"report-whole-{language}-{'scripts' if scripts else 'plain'}", scripts)
        await page.get_by_role("button", name="Send report" if language == "en" else "Enviar reporte").click()
        await is_kept(page, language)
        assert await page.locator("img[src*='/photos/']").count() == 1
    spill = await desk.last()
    assert (spill.city, spill.language) == ("chino", language)
    assert spill.facts["volume"] == {"low": 36, "high": 70, "unit": "gal"}
    assert spill.facts["discharged_at"] == ("2026-12-01T01:00:00Z" if language == "en" else "2026-11-30T20:00:00Z")
    assert spill.reporter == {"privacy": "named", "name": "Ana Ruiz"}


async def test_a_first_report_takes_twelve_taps_and_ninety_seconds(desk: Desk) -> None:
    place = {"latitude": IN_CHINO["lat"], "longitude": IN_CHINO["lon"]}
    async with desk.page(geolocation=place, permissions=["geolocation"], has_touch=True, is_mobile=True) as page:
        await page.evaluate("addEventListener('pointerdown', () => sessionStorage.taps = 1 + Number(sessionStorage.taps || 0), true)")
        typed = "Gray water comes out of a manhole and runs along the curb."
        began = time.perf_counter()
        await page.locator("#description").tap()
        await page.keyboard.type(typed)
        await page.locator("[data-next]").tap()
        await page.get_by_role("button", name="Use where I am now").tap()
        await expect(page.get_by_text("Position added.")).to_be_visible()
        await page.locator("[data-next]").tap()
        await page.get_by_text("Just now").tap()
        await page.locator("[data-next]").tap()
        await page.get_by_text("A bathtub").tap()
        await page.get_by_text("A storm drain").tap()
        await page.locator("[data-next]").tap()
        await page.locator("[data-next]").tap()
        await page.get_by_text("Anonymous").tap()
        taps = 1 + int(await page.evaluate("sessionStorage.taps"))  # and the one that sends it
        await page.get_by_role("button", name="Send report").tap()
        await is_kept(page)
        waited = time.perf_counter() - began
    assert taps <= 12
    # A person reads 200 words a minute, types 35 on a phone, and takes a second and a half for a tap.
    words = 130
    assert waited + words / 200 * 60 + len(typed) / 5 / 35 * 60 + taps * 1.5 < 90
    spill = await desk.last()
    assert (spill.city, spill.reporter) == ("chino", {"privacy": "anonymous"})
    assert spill.facts["volume"] == {"low": 36, "high": 70, "unit": "gal"}


async def test_the_way_back_and_the_keyboard_lead_through_the_steps(desk: Desk) -> None:
    async with desk.page() as page:
        heading = page.locator(".step:not([hidden]) h2").first
        await page.locator("[data-next]").click()
        await expect(heading).to_be_focused()
        await expect(heading).to_have_text(re.compile(r"Step 2 of 6\s+Where is it"))
        await expect(page).to_have_title(re.compile("Step 2 of 6 Where is it"))
        await page.locator("#address").fill("by the school")
        await page.keyboard.press("Enter")
        await expect(heading).to_contain_text("When did you see it?")
        await page.go_back()
        await expect(heading).to_contain_text("Where is it?")
        await expect(page.locator("#address")).to_have_value("by the school")
        await page.get_by_role("button", name="Back").click()
        await expect(heading).to_contain_text("What is it?")
        await expect(page.get_by_role("heading", name="Danger? Call 911 first.")).to_be_visible()
        await page.go_forward()
        await expect(heading).to_contain_text("Where is it?")
        await page.get_by_role("button", name="Send what I have now").click()
        await is_kept(page)
    assert (await desk.last()).address == "by the school"


async def test_a_turned_phone_shows_the_whole_form(desk: Desk) -> None:
    async with desk.page() as page:
        await expect(page.locator("#address")).to_be_hidden()
        await page.set_viewport_size({"width": 740, "height": 360})
        await expect(page.locator("#address")).to_be_visible()
        await expect(page.get_by_role("button", name="Next")).to_be_hidden()
        await page.set_viewport_size({"width": 360, "height": 740})
        await expect(page.locator("#address")).to_be_hidden()


@pytest.mark.parametrize(
    ("width", "scripts", "language"), [(PHONE, True, "en"), (PHONE, False, "es"), (DESK, True, "es"), (DESK, False, "en")]
)
async def test_an_empty_form_comes_back_and_leads_to_what_is_missing(desk: Desk, width: int, scripts: bool, language: str) -> None:
    async with desk.page(width, scripts=scripts, language=language, answers=(422,)) as page:
        for _ in range(5):
            await onward(page)
        if scripts and width == PHONE:
            await expect(page.locator("[data-no-place]")).to_be_visible()
            await holds(page, "report-no-place")
        await page.get_by_role("button", name="Send report" if language == "en" else "Enviar reporte").click()
        problem = page.get_by_role("alert").first
        await expect(problem).to_contain_text("The form is still empty" if language == "en" else "El formulario todavía está vacío")
        await holds(page, f"report-empty-{language}", scripts)
        await problem.get_by_role("link").last.click()
        if scripts and width == PHONE:
            await expect(page.locator("#address")).to_be_focused()
        else:
            await expect(page).to_have_url(re.compile("#address$"))


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])
async def test_the_date_appears_only_for_another_time(desk: Desk, scripts: bool) -> None:
    async with desk.page(DESK, scripts=scripts) as page:
        await expect(page.get_by_label("Date and time")).to_be_hidden()
        await page.get_by_label("At another time").check()
        await page.get_by_label("Date and time").fill("2026-12-01T09:30")
        await page.get_by_role("button", name="Send report").click()
        await is_kept(page)
    assert (await desk.last()).facts["discharged_at"] == "2026-12-01T17:30:00Z"


async def test_an_impatient_double_tap_sends_one_report(desk: Desk) -> None:
    before = await desk.count()
    async with desk.page(DESK) as page:
        await page.get_by_label("Describe what you see").fill("Oil")
        await page.get_by_role("button", name="Send report").dblclick()
        await is_kept(page)
        await page.reload()
        await is_kept(page)
    assert await desk.count() == before + 1


async def test_without_signal_the_report_is_kept_and_sent_once_later(desk: Desk) -> None:
    before = await desk.count()
    async with desk.page(DESK, may_fail="ERR_INTERNET_DISCONNECTED|Failed to fetch") as page:
        await page.get_by_label("Describe what you see").fill("Oil in the creek")
        await page.get_by_text("Just now").click()
        await page.locator("#photos").set_input_files(ONE_PHOTO)
        await page.context.set_offline(True)
        await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_role("heading", name="There is no signal")).to_be_visible()
        await holds(page, "report-offline")
        desk.home.clock.jump(hours=3)
        await page.get_by_role("button", name="Send it by itself when there is signal").click()
        await expect(page.get_by_text("Waiting for signal.")).to_be_visible()
        await page.context.set_offline(False)
        await is_kept(page)
        assert await page.locator("img[src*='/photos/']").count() == 1
        assert await page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert await desk.count() == before + 1
    began = (await desk.last()).facts["discharged_at"]
    assert began < "2026-12-01T22:10:00Z"  # when "just now" was chosen, and not when the signal came back
    desk.home.clock.jump(hours=-3)


async def test_an_answer_that_was_lost_on_the_way_makes_no_second_report(desk: Desk) -> None:
    before = await desk.count()
    async with desk.page(DESK, may_fail="ERR_|Failed to fetch") as page:
        await page.get_by_label("Describe what you see").fill("Paint in the gutter")

        async def lose(route: Any) -> None:
            await route.fetch()  # it arrives
            await route.abort()  # and nobody hears of it

        await page.route("**/report", lose, times=1)
        await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_role("heading", name="There is no signal")).to_be_visible()
        await page.goto("/report")  # the phone was put away, and the page is opened anew
        await expect(page.get_by_text("What you typed before is still here.")).to_be_visible()
        await page.get_by_role("button", name="Send report").click()
        await is_kept(page)
    assert await desk.count() == before + 1


async def test_what_was_typed_is_there_again_and_can_be_cleared(desk: Desk) -> None:
    async with desk.page() as page:
        await page.locator("#description").fill("Foam")
        await page.locator("[data-next]").click()
        await page.locator("#address").fill("behind the market")
        for _ in range(4):
            await onward(page)
        await page.locator("#email").fill("ana@example.com")
        await page.locator("#photos").set_input_files(ONE_PHOTO)
        await page.wait_for_timeout(400)
        assert "ana@example.com" not in await page.evaluate("JSON.stringify(localStorage)")
        await page.goto("/report?lang=es")  # the other language, or another day
        await expect(page.get_by_text("Lo que escribió antes sigue aquí.")).to_be_visible()
        await expect(page.get_by_text("Hay que elegir las fotos otra vez.")).to_be_visible()
        await expect(page.locator(".step:not([hidden]) h2").first).to_contain_text("Sobre usted")
        await expect(page.locator("#email")).to_have_value("ana@example.com")
        await holds(page, "report-draft-es")
        await page.get_by_role("button", name="Borrarlo").click()
        await expect(page.get_by_text("Lo que escribió antes")).to_be_hidden()
        await expect(page.locator("#description")).to_have_value("")
        assert await page.evaluate("localStorage.length + sessionStorage.length") == 0


async def test_an_untouched_form_leaves_nothing_on_the_device(desk: Desk) -> None:
    async with desk.page() as page:
        for _ in range(3):
            await onward(page)
        await page.wait_for_timeout(400)
        assert await page.evaluate("localStorage.length + sessionStorage.length") == 0


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without-scripts"])
async def test_the_other_language_keeps_what_is_typed(desk: Desk, scripts: bool) -> None:
    async with desk.page(DESK, scripts=scripts) as page:
        await page.get_by_label("Describe what you see").fill("Foam")
        await page.get_by_label("Telephone (optional)").fill("909 555 0155")
        await page.get_by_role("button", name="Seguir en español").click()
        await expect(page.locator("html")).to_have_attribute("lang", "es")
        await expect(page.get_by_label("Describa lo que ve")).to_have_value("Foam")
        await expect(page.get_by_label("Teléfono (opcional)")).to_have_value("909 555 0155")


async def test_the_keyboard_alone_sends_a_report_from_a_phone(desk: Desk) -> None:
    async with desk.page() as page:
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")

        async def reach(text: str) -> None:
            for _ in range(40):
                await page.keyboard.press("Tab")
                if await page.evaluate("(document.activeElement.textContent || '').trim() || document.activeElement.id") == text:
                    return
            raise AssertionError(f"{text} cannot be reached")

        for _ in range(3):
            await page.keyboard.press("Tab")
            if await page.evaluate("document.activeElement.id") == "description":
                break
        await page.keyboard.type("Paint in the creek")
        for _ in range(5):
            await reach("Next")
            await page.keyboard.press("Enter")
        await reach("Send report")
        await page.keyboard.press("Enter")
        await is_kept(page)
    assert (await desk.last()).description == "Paint in the creek"


async def test_photos_that_cannot_be_kept_are_told_of_after_the_report(desk: Desk) -> None:
    async with desk.page(DESK) as page:
        await page.get_by_label("Describe what you see").fill("Oil")
        files: list[FilePayload] = [ONE_PHOTO[0], {"name": "b.jpg", "mimeType": "image/jpeg", "buffer": b"no"}]
        await page.locator("#photos").set_input_files(files)
        await page.get_by_role("button", name="Send report").click()
        await is_kept(page)
        await expect(page.get_by_text("1 photo could not be kept. Your report is safe")).to_be_visible()
        await holds(page, "status-photo-left-over")
    async with reading(desk.home.house) as tx:
        number = (await desk.last()).id
        assert await tx.session.scalar(select(func.count()).select_from(KeptFile).where(KeptFile.spill_id == number)) == 1  # type: ignore[arg-type]
