"""The calendar of a city in a real Chromium: a day is entered and taken out, on a phone and at a desk, with and without scripts."""

from __future__ import annotations

from playwright.async_api import expect

from service import access
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, Served, go_to, looks_right
from tests.spills import a_report


@BOTH_ENDS
async def test_a_manager_closes_a_day_sees_what_moved_and_takes_it_back(served: Served, width: int, scripts: bool) -> None:
    reference = await served.home.report(a_report(jurisdiction="chico", location={"lat": 39.7285, "lon": -121.8375}))
    await served.home.happened(reference, "timeframe_revision_determined")
    async with transaction(served.home.house, "test") as tx:
        account = await access.add_account(tx, "manager@chico.example", "manager", "chico")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    async with served.browser(width, scripts=scripts, answers=(422,)) as page:
        await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
        await page.goto("/staff")
        await go_to(page, "Calendar")
        await expect(page.get_by_role("heading", name="Closed days in 2026")).to_be_visible()
        await looks_right(page, "calendar")
        await page.get_by_label("Day", exact=True).fill("2026-12-05")
        await page.get_by_label("What is the day called?").fill("Tree planting day")
        await page.get_by_label("Source").fill("Resolution 2026-31")
        await page.get_by_role("button", name="Enter the day").click()
        await expect(page.get_by_role("alert")).to_contain_text("2026-12-05 is a Saturday, and counts as closed already")
        await looks_right(page, "calendar-with-a-fault")
        await page.get_by_label("Day", exact=True).fill("2026-12-04")
        await page.get_by_role("button", name="Enter the day").click()
        await expect(page.get_by_role("status").filter(has_text="is entered as closed")).to_contain_text(reference)
        await looks_right(page, "calendar-moved")
        await page.get_by_text("Take it out").first.click()
        await page.get_by_label("Reason").fill("put off to January")
        await looks_right(page, "calendar-take-out")
        await page.get_by_role("button", name="Take it out").click()
        await expect(page.get_by_role("status").filter(has_text="is no longer entered as closed")).to_be_visible()
        await page.get_by_text("Taken out (1)").click()
        await looks_right(page, "calendar-taken-out")
