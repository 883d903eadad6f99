"""Choosing and sending photos in a real Chromium, on a phone and at a desk: shown before they are sent, upright after."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from service.parties import link_token
from tests import pictures
from tests.pages.browsing import BOTH_ENDS, Served
from tests.spills import a_report


@BOTH_ENDS
@pytest.mark.timeout(180)
async def test_a_reporter_chooses_photos_sends_them_and_sees_them(served: Served, width: int, scripts: bool) -> None:
    home = served.home
    reference = await home.report(a_report(), staff=False)
    path = f"/status/{link_token(home.house, 'status', await home.spill(reference))}"
    chosen = [
        {"name": "a.jpg", "mimeType": "image/jpeg", "buffer": pictures.photo(6)},
        {"name": "note.txt", "mimeType": "text/plain", "buffer": b"hello"},
    ]
    async with served.browser(width, scripts=scripts, answers=(422,)) as page:
        await page.goto(path)
        await page.get_by_label("Photos (optional)").set_input_files(chosen)  # type: ignore[arg-type]
        shown = page.locator("#photos-chosen")
        if scripts:
            await expect(shown.get_by_role("status")).to_have_text("Photos chosen: 2. note.txt is not a photo and will not be kept.")
            drawn = await shown.locator("canvas").bounding_box()
            assert drawn is not None
            assert drawn["height"] > drawn["width"]
        else:
            await expect(shown).to_be_hidden()
        await page.get_by_role("button", name="Add this").click()
        await expect(page.get_by_text("note.txt is not a photo that we can take")).to_be_visible()
        kept = page.get_by_role("img", name="Photo 1 of 1")
        await kept.scroll_into_view_if_needed()
        await expect(kept).to_have_js_property("naturalHeight", 400)
        await expect(kept).to_have_attribute("src", re.compile(r"/photos/\d+\?size=small$"))
