"""Takes a picture of every page and state: python -m tests.pages.screenshots FOLDER [NAME ...]; `make screenshots` does it.

English and Spanish, on a phone and at a desk, in the light; the pages of DARK also in the dark. Two of them are the pictures of README.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.async_api import async_playwright

from tests.conftest import BROWSERS
from tests.pages.showcase import DESK, PHONE, SCENES, Scene, Show, a_show

ROOT = Path(__file__).parents[2]
DARK = {"home", "report", "status", "respond", "alerts-fault", "what-if-answer", "board", "spill-unfolded", "advisory", "sign-in", "amend"}
README = {"report": "report.png", "spill": "staff-spill.png"}
# The pictures of README show the head of a page; a whole one would be a ribbon.
README_SIZE = {"width": 1100, "height": 900}


async def _walk(show: Show, folder: Path, scenes: list[Scene], width: int, language: str, *, dark: bool = False) -> None:
    for staff in (False, True):
        context = await show.context(width=width, language=language, dark=dark, staff=staff)
        page = await context.new_page()
        for scene in scenes:
            if scene.staff == staff and (language == "en" or (scene.spanish and not scene.staff)):
                await show.open(page, scene)
                if await page.locator(".map").count():
                    await page.wait_for_load_state("networkidle")
                name = f"{scene.name}-{width}-{language}{'-dark' if dark else ''}.png"
                await page.screenshot(path=folder / name, full_page=True, timeout=90_000)
        await context.close()


async def _for_readme(show: Show) -> None:
    for scene in SCENES:
        if scene.name in README:
            context = await show.context(width=README_SIZE["width"], staff=scene.staff)
            page = await context.new_page()
            await page.set_viewport_size({"width": README_SIZE["width"], "height": README_SIZE["height"]})
            await show.open(page, scene)
            await page.screenshot(path=ROOT / "docs" / "images" / README[scene.name])
            await context.close()


async def take(folder: Path, names: list[str]) -> int:
    """Take the pictures of these scenes, of all without names, into a folder. Returns how many lie there."""
    chromium = next(path for path in map(shutil.which, BROWSERS) if path)
    scenes = [scene for scene in SCENES if not names or scene.name in names]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        async with async_playwright() as playwright, a_show(Path(home), await playwright.chromium.launch(executable_path=chromium)) as show:
            for width in (PHONE, DESK):
                for language in ("en", "es"):
                    await _walk(show, folder, scenes, width, language)
                await _walk(show, folder, [scene for scene in scenes if scene.name in DARK], width, "en", dark=True)
            if not names:
                await _for_readme(show)
    return len(list(folder.glob("*.png")))


if __name__ == "__main__":
    where = Path(sys.argv[1])
    sys.stdout.write(f"{asyncio.run(take(where, sys.argv[2:]))} pictures in {where}\n")
