"""The reporter's page and the end of a spill in a real Chromium: on a phone and at a desk, in both languages, held to axe's rules."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import expect

from service import access
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, PHONE, Served, holds
from tests.service.printed import printed
from tests.spills import a_report

ANA = {"email": "ana@example.com", "privacy": "confidential"}
WHY = "The sewer was unblocked and the street was washed."


async def signed_in(served: Served, role: str) -> dict[str, str]:
    async with transaction(served.home.house, "test") as tx:
        account = await access.add_account(tx, f"{role}@chino.example", role, "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    return {"name": "spillclock_session", "value": session, "url": served.url}


@BOTH_ENDS
async def test_a_reporter_adds_asks_takes_a_copy_and_reads_how_it_ended(served: Served, width: int, scripts: bool) -> None:
    reference = await served.home.report(a_report(contact=ANA), staff=False)
    async with served.browser(width, scripts=scripts, answers=(422,)) as page:
        await page.goto(await served.link("status", reference))
        await holds(page, "status", scripts)
        await page.get_by_role("button", name="Add this").click()
        await expect(page.get_by_text("Write what is new, or choose a photo.")).to_be_visible()
        await holds(page, "status-with-a-fault", scripts)
        await page.get_by_label("What is new?").fill("It runs faster now.")
        await page.get_by_role("button", name="Add this").click()
        await expect(page.get_by_role("status").filter(has_text="Your words were added")).to_be_visible()
        await page.get_by_role("button", name="Tell me what was done").click()
        await expect(page.get_by_text("The answer will appear on this page.")).to_be_visible()
        await holds(page, "status-asked", scripts)
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Download the record (PDF)").click()
        taken = await download.value
        assert taken.suggested_filename == f"{reference}.pdf"
        assert "It runs faster now." in printed(Path(await taken.path()).read_bytes()).text

        await page.context.add_cookies([await signed_in(served, "manager")])
        await page.goto(f"/staff/spills/{reference}")
        await expect(page.get_by_text("The reporter asks what action was taken.").first).to_be_visible()
        await page.get_by_role("link", name="Close the spill, or tell the reporter").click()
        await holds(page, "close", scripts)
        await page.get_by_label("Why is it closed?").fill(WHY)
        for box in await page.get_by_role("checkbox").all():
            await box.check()
        await page.get_by_role("button", name="Close the spill").click()
        await expect(page.get_by_role("status").filter(has_text="The spill is closed")).to_be_visible()
        await page.get_by_role("link", name="Open again, or tell the reporter").click()
        await holds(page, "close-closed", scripts)
        await page.goto(await served.link("status", reference))
        await expect(page.get_by_role("heading", name=f"Report {reference} is closed")).to_be_visible()
        await expect(page.get_by_text(WHY).first).to_be_visible()
        await holds(page, "status-closed", scripts)


async def test_the_same_page_in_spanish_fits_a_phone(served: Served) -> None:
    reference = await served.home.report(a_report(contact=ANA, language="es"), staff=False)
    async with served.browser(PHONE, locale="es-US") as page:
        await page.goto(await served.link("status", reference))
        await expect(page.get_by_role("heading", name="Cuéntenos más")).to_be_visible()
        await holds(page, "status-es")
