"""A journey in a real Chromium: on the first of the month a manager counts the month before, and takes the figures along."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path

from playwright.async_api import expect

from tests.houses import TUESDAY
from tests.pages.browsing import BOTH_ENDS, Served, go_to, holds
from tests.pages.test_one_spill_in_chromium import sign_in
from tests.spills import a_report


@BOTH_ENDS
async def test_a_manager_counts_the_month_before(served: Served, width: int, scripts: bool) -> None:
    home = served.home
    kept, late = await home.report(a_report()), await home.report(a_report())
    home.clock.jump(minutes=10)
    await home.happened(kept, "notice_given", recipient="cal-oes", method="telephone")
    home.clock.jump(hours=1)
    await home.happened(late, "notice_given", recipient="cal-oes", method="telephone")
    home.clock.at = TUESDAY + timedelta(days=31)  # January 1
    async with served.browser(width, scripts=scripts) as page:
        await sign_in(served, page, "manager")
        await page.goto("/staff")
        await go_to(page, "Numbers")
        await page.get_by_role("link", name="Last month").click()
        await expect(page.locator(".usa-intro")).to_contain_text("December 1, 2026 to December 31, 2026: 2 spills received.")
        duty = page.get_by_role("table", name="Duties done on time").get_by_role("row").filter(has_text="Call Cal OES about the sewage now")
        await expect(duty).to_contain_text("50.0 %")
        await holds(page, "numbers", scripts)
        async with page.expect_download() as waited:
            await page.locator("a[href*='duties.csv']").click()
        text = Path(await (await waited.value).path()).read_text("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    assert ["Call Cal OES about the sewage now", "50.0 %", "1", "1", "0", "0", "0", "City of Chino, California"] in rows
