"""Accounts in a real Chromium: invited, a password, the second step, a key; on a phone and at a desk, with and without scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

import pyotp
from playwright.async_api import Page, expect

from service import access
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, Served, go_to, holds

GOOD = "heron gravel tuba nine lids"


@dataclass
class Noor:
    """Somebody who was invited, at her browser. `app_key`: what she gave her authenticator app."""

    page: Page
    scripts: bool
    app_key: str = ""

    async def sees(self, name: str) -> None:
        """The page looks right, and axe finds nothing on it where scripts run."""
        await holds(self.page, name, self.scripts)

    async def code(self) -> str:
        """What her app shows at the moment of the page."""
        moment = datetime.fromisoformat(str(await self.page.evaluate("document.documentElement.dataset.now")))
        return pyotp.TOTP(self.app_key).at(moment)

    async def switches_the_second_step_on(self) -> None:
        page = self.page
        step = page.get_by_role("region", name="Second step")
        await step.get_by_text("Switch it on").click()
        await step.get_by_label("Your password now").fill(GOOD)
        await step.get_by_role("button", name="Show me the key for the app").click()
        await self.sees("account-second-step")
        self.app_key = (await page.locator("#key").inner_text()).replace(" ", "")
        await page.get_by_label("Six digits").fill("000000")
        await page.get_by_role("button", name="Switch it on").click()
        await expect(page.get_by_role("alert")).to_contain_text("it does not fit")
        await page.get_by_label("Six digits").fill(await self.code())
        await page.get_by_role("button", name="Switch it on").click()
        await expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
        await self.sees("account-recovery-codes")
        await page.get_by_role("link", name="I have kept them").click()

    async def makes_a_key(self) -> None:
        keys = self.page.get_by_role("region", name="Keys for programs")
        await keys.get_by_text("Make a key", exact=True).click()
        await keys.get_by_label("What is it for?").fill("Flow meter at pump 4")
        await keys.get_by_text("Report spills").click()
        await keys.get_by_label("Your password now").fill(GOOD)
        await self.sees("account")
        await keys.get_by_role("button", name="Make it").click()
        await expect(self.page.locator("#key")).to_contain_text("sc_api_")
        await self.sees("account-key")

    async def signs_in_with_a_code(self) -> None:
        page = self.page
        await page.goto("/staff")
        await page.get_by_label("Your e-mail address").fill("noor@chino.example")
        await page.get_by_label("Password", exact=True).fill("wrong")
        await page.get_by_role("button", name="Sign in", exact=True).first.click()
        await expect(page.get_by_role("alert")).to_contain_text("do not fit together")
        await self.sees("sign-in-refused")
        await page.get_by_label("Password", exact=True).fill(GOOD)
        await page.get_by_role("button", name="Sign in", exact=True).first.click()
        await expect(page.get_by_role("heading", name="Your code")).to_be_visible()
        await self.sees("sign-in-code")
        await page.get_by_label("The six digits").fill(await self.code())
        await page.get_by_role("button", name="Sign in").click()
        await expect(page).to_have_url(re.compile(r"/staff$"))


@BOTH_ENDS
async def test_somebody_is_invited_and_makes_their_account_safe(served: Served, width: int, scripts: bool) -> None:
    async with transaction(served.home.house, "test") as tx:
        account = await access.add_account(tx, "root@city.example", "administrator", None)
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    async with served.browser(width, scripts=scripts, answers=(401, 422)) as page:
        noor = Noor(page, scripts)
        await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
        await page.goto("/staff")
        await go_to(page, "People")
        await page.get_by_label("E-mail address").fill("noor@chino.example")
        await page.get_by_label("Name").fill("Noor Haddad")
        await page.get_by_text("Roles in single cities").click()
        await page.get_by_label("Role in City of Chino, California").select_option(label="Officer")
        await noor.sees("users")
        await page.get_by_role("button", name="Send the invitation").click()
        await expect(page.get_by_role("status")).to_contain_text("The invitation is on its way.")
        await page.get_by_role("link", name="Noor Haddad").click()
        await noor.sees("user")
        await page.context.clear_cookies()
        await served.home.work()
        [link] = re.findall(r"/staff/password/\S+", served.home.outbox()[-1]["text"])
        await page.goto(link)
        await noor.sees("invited")
        await page.get_by_label("New password").fill(GOOD)
        await page.get_by_label("The same again").fill(GOOD)
        await page.get_by_role("button", name="Begin").click()
        await expect(page.get_by_role("heading", name="Your account")).to_be_visible()
        await noor.switches_the_second_step_on()
        await noor.makes_a_key()
        await page.context.clear_cookies()
        served.home.clock.jump(seconds=60)
        await noor.signs_in_with_a_code()
