"""Whoever has no mouse reaches everything on the public pages, in the order in which it is read, and sees where they are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.pages.showcase import DESK, PHONE, SCENES, Scene, Show, a_show

# Everything that the Tab key should stop at, marked in reading order; of radio buttons with one name, one.
_STOPS = """() => {
  const names = new Set();
  const stops = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter(one => {
    if (one.disabled || one.type === "hidden" || one.tabIndex < 0 || !one.checkVisibility({visibilityProperty: true})) return false;
    if (one.type !== "radio") return true;
    const group = [...document.getElementsByName(one.name)];
    if (one !== (group.find(other => other.checked) ?? group[0]) || names.has(one.name)) return false;
    names.add(one.name);
    return true;
  });
  stops.forEach((one, number) => { one.dataset.stop = number; });
  return stops.map(one => one.outerHTML.slice(0, 100));
}"""
# Where the focus is, and whether a ring shows it: on the thing itself, or on the words of a box or dot that lies unseen on them.
_WHERE = """() => {
  const one = document.activeElement;
  const ringed = look => look && look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2;
  const drawn = one.nextElementSibling && getComputedStyle(one.nextElementSibling, "::before");
  return [one.dataset.stop ?? "", Boolean(ringed(getComputedStyle(one)) || ringed(drawn))];
}"""

# A field for a date and time is stopped at once for each of its parts.
_PARTS = 8


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def show(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> AsyncIterator[Show]:
    """One house for every test of this file."""
    async with a_show(tmp_path_factory.mktemp("show"), browser) as made:
        yield made


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", ["report", "status", "respond", "alerts", "board", "board-map"])
async def test_the_tab_key_reaches_everything_in_order_and_is_seen(show: Show, name: str, width: int) -> None:
    [scene] = [scene for scene in SCENES if scene.name == name]
    context = await show.context(width=width, staff=scene.staff)
    page = await context.new_page()
    await show.open(page, scene)
    stops = await page.evaluate(_STOPS)
    reached, unseen = [], []
    for _ in range(len(stops) * _PARTS):
        await page.keyboard.press("Tab")
        stop, is_seen = await page.evaluate(_WHERE)
        if stop and int(stop) not in reached:
            reached.append(int(stop))
            unseen += [] if is_seen else [stops[int(stop)]]
        if len(reached) == len(stops):
            break
    await context.close()
    assert unseen == []
    assert reached == list(range(len(stops))), stops


async def test_no_page_asks_another_site_for_anything(show: Show) -> None:
    asked: list[str] = []
    for staff in (False, True):
        context = await show.context(width=PHONE, staff=staff)
        context.on("request", lambda request: None if request.url.startswith((show.url, "data:", "blob:")) else asked.append(request.url))
        page = await context.new_page()
        for scene in SCENES:
            if scene.staff == staff:
                await show.open(page, Scene(scene.name, scene.address))
        await context.close()
    assert [url for url in asked if not url.startswith((show.url, "data:", "blob:"))] == []
