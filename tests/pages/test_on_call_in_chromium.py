"""Who is on call, in a real Chromium: a rota entered, a day swapped, the rota ended; on a phone and at a desk, with and without scripts."""

from __future__ import annotations

from playwright.async_api import expect

from service import access
from service.tables import Contact
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, Served, go_to, looks_right


@BOTH_ENDS
async def test_a_manager_enters_a_rota_swaps_a_day_and_ends_it(served: Served, width: int, scripts: bool) -> None:
    async with transaction(served.home.house, "test") as tx:
        tx.session.add(Contact(city="chino", role="duty_officer", name="Ines Park", email="ines@chino.example"))
        account = await access.add_account(tx, "manager@chino.example", "manager", "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    async with served.browser(width, scripts=scripts, answers=(422,)) as page:
        await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
        await page.goto("/staff")
        await go_to(page, "On call")
        await expect(page.get_by_role("heading", name="On call: ")).to_be_visible()
        await looks_right(page, "on-call")
        officers = page.get_by_role("region", name="Duty officer")
        await officers.get_by_text("Enter a rota").click()
        await officers.get_by_label("What is it called?").fill("Duty desk")
        await officers.get_by_label("Omar Reyes").fill("1")
        await officers.get_by_label("Ines Park").fill("2")
        await officers.get_by_label("First turn begins on").fill("2026-11-30")
        await officers.get_by_label("Or by a calendar").fill("https://10.0.0.7/x.ics")
        await officers.get_by_role("button", name="Enter the rota").click()
        await expect(page.get_by_role("alert")).to_contain_text("a name or address of a private network")
        await looks_right(page, "on-call-with-a-fault")
        await officers.get_by_label("Or by a calendar").fill("")
        await officers.get_by_role("button", name="Enter the rota").click()
        await expect(officers.get_by_text("Omar Reyes, then Ines Park: 7 days each")).to_be_visible()
        await officers.get_by_text("Next four weeks").click()
        await looks_right(page, "on-call-rota")
        await officers.get_by_text("Swap or holiday").click()
        await officers.get_by_label("Who").select_option(label="Ines Park")
        await officers.get_by_label("From", exact=True).fill("2026-12-01T14:00")
        await officers.get_by_label("Until").fill("2026-12-02T08:00")
        await officers.get_by_label("Why").fill("Omar is ill")
        await officers.get_by_role("button", name="Enter it").click()
        await expect(officers.locator("dl").get_by_text("Ines Park", exact=True)).to_be_visible()
        await looks_right(page, "on-call-swapped")
        await officers.get_by_role("button", name="Take it out").click()
        await officers.get_by_text("End this rota").click()
        await officers.get_by_role("button", name="End it").click()
        await expect(page.get_by_role("status").filter(has_text="The rota has ended")).to_be_visible()
