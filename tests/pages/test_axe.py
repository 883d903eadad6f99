"""No page and no state of the show breaks a rule of WCAG 2.2 AA, as far as axe can see: light and dark, on a phone and at a desk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.pages.browsing import axe_finds
from tests.pages.showcase import DESK, PHONE, SCENES, Scene, Show, a_show

pytestmark = pytest.mark.timeout(900)  # a minute on a machine that does nothing else

_TABS = 2


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def show(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> AsyncIterator[Show]:
    """One house for every test of this file."""
    async with a_show(tmp_path_factory.mktemp("show"), browser) as made:
        yield made


async def walk(show: Show, scenes: Iterable[Scene], *, language: str = "en", in_the_dark: bool = False) -> list[str]:
    """What axe finds in these scenes on a phone, each named; then at a desk in the dark, where asked for."""
    waiting, found = list(scenes), list[str]()

    async def tab(staff: bool) -> None:
        context = await show.context(width=PHONE, language=language, staff=staff)
        while mine := next((scene for scene in waiting if scene.staff == staff), None):
            waiting.remove(mine)
            page = await context.new_page()
            await show.open(page, mine)
            found.extend(f"{mine.name}: {one}" for one in await axe_finds(page))
            if in_the_dark:
                await page.emulate_media(color_scheme="dark")
                await page.set_viewport_size({"width": DESK, "height": 800})
                found.extend(f"{mine.name}, dark: {one}" for one in await axe_finds(page, looks=True))
            await page.close()
        await context.close()

    await asyncio.gather(*(tab(staff) for staff in (False, True) for _ in range(_TABS)))
    return sorted(found)


async def test_no_page_or_state_breaks_a_rule_of_accessibility_in_the_light_or_in_the_dark(show: Show) -> None:
    assert await walk(show, SCENES, in_the_dark=True) == []


async def test_no_public_page_breaks_a_rule_of_accessibility_in_spanish(show: Show) -> None:
    assert await walk(show, [scene for scene in SCENES if scene.spanish and not scene.staff], language="es") == []
