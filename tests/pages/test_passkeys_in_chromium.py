"""Passkeys in a real Chromium with a virtual security key: made, signed in with, removed; on a phone and at a desk."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, CDPSession, Page, expect

from service import access
from service.transaction import transaction
from tests.pages.browsing import DESK, WIDTHS, Served, holds, serving

GOOD, NOOR = "heron gravel tuba nine lids", "noor@chino.example"
_KEY = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True,
    "automaticPresenceSimulation": True,
}  # fmt: skip


@pytest_asyncio.fixture(loop_scope="session")
async def site(tmp_path: Path, browser: Browser) -> AsyncIterator[Served]:
    """Chino on a host that has a name, as passkeys need one; Noor has an account there."""
    async with serving(tmp_path, browser, "localhost") as made:
        async with transaction(made.home.house, "test") as tx:
            account = await access.add_account(tx, NOOR, "officer", "chino")
            account.password = await made.home.house.passwords.hashed(GOOD)
        yield made


async def a_security_key(page: Page, **other: Any) -> tuple[CDPSession, str]:
    """A security key in the browser, over the DevTools protocol, with its id."""
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("WebAuthn.enable")
    made = await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": {**_KEY, **other}})
    return cdp, str(made["authenticatorId"])


async def sign_in(page: Page) -> None:
    await page.goto("/staff/account")
    await page.get_by_label("Your e-mail address").fill(NOOR)
    await page.get_by_label("Password", exact=True).fill(GOOD)
    await page.get_by_role("button", name="Sign in", exact=True).first.click()
    await expect(page.get_by_role("heading", name="Your account")).to_be_visible()


async def add(page: Page, password: str = GOOD) -> None:
    part = page.get_by_role("region", name="Passkeys")
    if await part.get_by_label("What is it on?").is_hidden():
        await part.get_by_text("Add a passkey").click()
    await part.get_by_label("Your password now").last.fill(password)
    await part.get_by_role("button", name="Add it").click()


@WIDTHS
async def test_a_passkey_is_made_signs_in_and_is_removed(site: Served, width: int) -> None:
    async with site.browser(width, answers=(401, 403)) as page:
        cdp, key = await a_security_key(page)
        await sign_in(page)
        part = page.get_by_role("region", name="Passkeys")
        await add(page, "wrong")
        await expect(part.get_by_role("status")).to_contain_text("not your password")
        await holds(page, "passkey-password")
        await add(page)
        await expect(page.get_by_role("status").first).to_contain_text("The passkey is kept.")
        assert len((await cdp.send("WebAuthn.getCredentials", {"authenticatorId": key}))["credentials"]) == 1
        await add(page)
        await expect(part.get_by_role("status")).to_contain_text("has a passkey for this account already")
        await holds(page, "passkey-known")
        await page.context.clear_cookies()
        await page.goto("/staff/account")
        await holds(page, "passkey-sign-in")
        for _ in range(2):  # the counter goes on
            await page.get_by_role("button", name="Sign in with a passkey").click()
            await expect(page.get_by_role("heading", name="Your account")).to_be_visible()
            await expect(part.get_by_text("last used")).to_be_visible()
            await page.context.clear_cookies()
            await page.goto("/staff/account")
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await part.get_by_text("Remove", exact=False).first.click()
        await part.get_by_label("Your password now").first.fill(GOOD)
        await part.get_by_role("button", name="Remove it").click()
        await expect(page.get_by_role("status").first).to_contain_text("The passkey opens nothing any more.")
        await page.context.clear_cookies()
        await page.goto("/staff/account")
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect(page.get_by_role("alert")).to_contain_text("The passkey was not taken.")
        await holds(page, "passkey-refused")


async def test_a_device_that_does_not_know_its_owner_makes_no_passkey(site: Served) -> None:
    async with site.browser(DESK) as page:
        await a_security_key(page, isUserVerified=False)
        await sign_in(page)
        await add(page)
        await expect(page.get_by_role("region", name="Passkeys").get_by_role("status")).to_contain_text("made no passkey")


@pytest.mark.parametrize("scripts", [True, False])
async def test_without_scripts_or_without_passkeys_in_the_browser_none_is_offered(site: Served, scripts: bool) -> None:
    async with site.browser(DESK, scripts=scripts) as page:
        if scripts:
            await page.add_init_script("delete window.PublicKeyCredential")
        await page.goto("/staff/sign-in")
        await expect(page.get_by_role("button", name=re.compile("passkey"))).to_have_count(0)
        await sign_in(page)
        part = page.get_by_role("region", name="Passkeys")
        await expect(part.get_by_text("To add one, open this page in a browser that runs scripts")).to_be_visible()
        await expect(part.get_by_text("Add a passkey")).to_be_hidden()
