"""Substances in a real Chromium: rows, the check and the page of quantities, on a phone and at a desk, with and without scripts."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from service import access
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, Served, go_to, looks_right
from tests.spills import a_report


async def signed_in(served: Served, page: Page) -> None:
    async with transaction(served.home.house, "test") as tx:
        account = await access.add_account(tx, "officer@chino.example", "officer", "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])


@BOTH_ENDS
async def test_an_inspector_checks_and_records_a_substance(served: Served, width: int, scripts: bool) -> None:
    reference = await served.home.report(a_report(material="hazardous_material"))
    async with served.browser(width, scripts=scripts) as page:
        await signed_in(served, page)
        await page.goto(f"/staff/spills/{reference}/amend")
        await page.get_by_label("Name or CAS number").first.fill("bleach 12.5%")
        await page.get_by_label("Amount", exact=True).first.fill("80")
        await page.get_by_role("button", name="Check the substances").click()
        await expect(page.get_by_role("heading", name="A reportable quantity is reached.")).to_be_visible()
        await expect(page.get_by_role("heading", name="A reportable quantity is reached.")).to_be_in_viewport()
        await looks_right(page, "amend-checked")
        assert "substances" not in (await served.home.spill(reference)).facts
        await page.get_by_label("Reason").fill("label read")
        await page.get_by_label("Reason").press("Enter")  # saves: the first button of the form is not the check
        await expect(page.get_by_text("The facts are amended")).to_be_visible()
        await page.get_by_text("Reportable quantity: reached").click()
        await expect(page.get_by_text("80 gal x 10 lb/gal x 0.125 by weight")).to_be_visible()
        await looks_right(page, "spill-with-substance")
    assert (await served.home.spill(reference)).facts["substances"] == [
        {"name": "bleach 12.5% NaOCl (industrial)", "quantity": 80, "unit": "gal"}
    ]  # fmt: skip


@BOTH_ENDS
async def test_an_inspector_works_out_an_amount(served: Served, width: int, scripts: bool) -> None:
    async with served.browser(width, scripts=scripts) as page:
        await signed_in(served, page)
        await page.goto("/staff")
        await go_to(page, "Quantities")
        await looks_right(page, "quantities")
        await page.get_by_label("Name or CAS number").first.fill("bleach")
        await page.get_by_label("Amount", exact=True).first.fill("60-90")
        await page.get_by_role("button", name="Work it out").click()
        await expect(page.get_by_role("heading", name="It cannot be said yet.")).to_be_visible()
        await looks_right(page, "quantities-open")
        await page.get_by_role("link", name="bleach 12.5% NaOCl (industrial)").click()
        await expect(page.get_by_role("heading", name="A reportable quantity is reached.")).to_be_visible()
        await looks_right(page, "quantities-reached")
        await page.get_by_label("Name, trade name or CAS number").fill("sulfric acid")
        await page.get_by_role("button", name="Look up").click()
        await expect(page.get_by_text("Sulfuric acid (7664-93-9): 1,000 lb")).to_be_visible()
        await looks_right(page, "quantities-found")


pytestmark = pytest.mark.timeout(120)
