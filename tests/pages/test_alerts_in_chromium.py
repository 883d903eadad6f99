"""Subscriptions and advisories in a real Chromium: asked for, issued, read and left; on a phone and at a desk, with and without scripts."""

from __future__ import annotations

import re

from playwright.async_api import expect

from service import access
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, Served, looks_right
from tests.service.test_public_alerts import token_in
from tests.spills import a_report


@BOTH_ENDS
async def test_somebody_subscribes_an_officer_tells_them_and_they_leave(served: Served, width: int, scripts: bool) -> None:
    home = served.home
    reference = await home.report(a_report())
    async with transaction(home.house, "test") as tx:
        account = await access.add_account(tx, "officer@chino.example", "officer", "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    async with served.browser(width, scripts=scripts, answers=(422,)) as page:
        await page.goto("/")
        await page.get_by_role("link", name="Get advisories").click()
        await page.get_by_label("E-mail address or telephone number").fill("ann@example.org")
        await page.get_by_role("button", name="Send me the link").click()
        await expect(page.get_by_role("alert")).to_contain_text("Choose at least one city")
        await looks_right(page, "alerts-with-a-fault")
        await page.get_by_label("City of Chino, California").check()
        await page.get_by_role("button", name="Send me the link").click()
        await expect(page.get_by_role("status").filter(has_text="Look at your messages")).to_be_visible()
        await looks_right(page, "alerts-asked")
        await home.work()
        await page.goto(f"/alerts/yes/{token_in(home.outbox()[-1])}")
        await looks_right(page, "alerts-confirm")
        await page.get_by_role("button", name="Yes, send them").click()
        await expect(page.get_by_text("ann@example.org is subscribed.")).to_be_visible()

        home.clock.jump(minutes=1)
        await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
        await page.goto(f"/staff/spills/{reference}")
        await page.get_by_role("link", name="Tell the public").click()
        await looks_right(page, "advisory-written")
        await page.get_by_role("button", name="Look at it before it goes out").click()
        await expect(page.get_by_text("This goes to 1 subscriber")).to_be_visible()
        await looks_right(page, "advisory-preview")
        await page.get_by_role("button", name="Issue it").click()
        await expect(page.get_by_text("It is issued.")).to_be_visible()
        await home.work()
        await page.goto("/staff/subscriptions")
        await page.get_by_label("A duty is overdue").check()
        await page.get_by_label("Once a day").check()
        await page.get_by_role("button", name="Subscribe").click()
        await expect(page.get_by_text("You are subscribed.")).to_be_visible()
        await looks_right(page, "subscriptions")

        await page.goto("/advisories")
        await looks_right(page, "advisories")
        await page.get_by_role("link", name=re.compile("^Advisory: near Central Ave")).click()
        await looks_right(page, "advisory")
        link = re.search(r"(/unsubscribe/\S+)", home.outbox()[-1]["text"])
        assert link
        await page.goto(link[1])
        await page.get_by_role("button", name="End the subscription").click()
        await expect(page.get_by_text("ann@example.org gets no more of these messages.")).to_be_visible()
