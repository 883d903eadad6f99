"""Two journeys of an officer in a real Chromium: the amount is corrected, and two reports turn out to be one."""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import FilePayload, Page, expect

from service import access
from service.events import FactsRecorded, SpillMerged, SpillUnmerged
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, PHONE, Served, card, holds, looks_right
from tests.pictures import photo
from tests.spills import a_report, gallons

TWO_HOURS = "Tell the regional water board within two hours"
WATER_BOARD = "chino/rwqcb-2-hours"
# Every button, field and telephone link that is pressed at the kerb has 48 pixels of height.
_PRESSED = ".card .usa-button, .card .call, .kerb .usa-button, .kerb input, .kerb select, .answers button, .reach .call"
_LOW = """pressed => [...document.querySelectorAll(pressed)]
  .filter(one => one.checkVisibility() && one.getBoundingClientRect().height < 48 && one.type !== "hidden")
  .map(one => one.outerHTML.slice(0, 120))"""


async def sign_in(served: Served, page: Page, role: str = "officer") -> None:
    async with transaction(served.home.house, "test") as tx:
        account = await access.add_account(tx, f"{role}@chino.example", role, "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])


async def said(served: Served, reference: str) -> Any:
    return (await served.home.events(reference, FactsRecorded))[-1]


@BOTH_ENDS
async def test_a_corrected_amount_adds_the_clock_that_is_overdue_already(served: Served, width: int, scripts: bool) -> None:
    reference = await served.home.report(a_report(volume=gallons(900)))
    await served.home.live(hours=3)
    async with served.browser(width, scripts=scripts) as page:
        await sign_in(served, page)
        await page.goto(f"/staff/spills/{reference}")
        await expect(card(page, TWO_HOURS)).to_have_count(0)
        await page.get_by_label("How much?").fill("1,200")
        await page.get_by_role("button", name="Record the amount").click()
        await expect(page.get_by_role("status").filter(has_text="counted again")).to_be_visible()
        await expect(card(page, TWO_HOURS)).to_contain_text("Overdue by 1 hour")
        await holds(page, "correction", scripts)
        duty = card(page, TWO_HOURS)
        await duty.get_by_text("Log this call").click()
        await duty.get_by_role("button", name="Log it, just now").click()
        await expect(card(page, TWO_HOURS)).to_contain_text("Done")
        await expect(card(page, TWO_HOURS)).to_contain_text("late by 1 hour")
    assert (await served.home.clock_of(reference, WATER_BOARD)).state == "met_late"
    await served.home.work()
    assert served.home.outbox()


@BOTH_ENDS
async def test_two_reports_of_one_spill_are_merged_and_taken_apart(served: Served, width: int, scripts: bool) -> None:
    first = await served.home.report(a_report(volume=None, description="A manhole runs over."), staff=False)
    await served.home.live(minutes=30)
    second = await served.home.report(a_report(description="Sewage by the school."))
    due = (await served.home.clock_of(first, WATER_BOARD)).due_at
    async with served.browser(width, scripts=scripts) as page:
        await sign_in(served, page)
        await page.goto(f"/staff/spills/{second}")
        await page.get_by_role("link", name="Merge another report into this").click()
        await expect(page.get_by_role("heading", name="Reports nearby")).to_be_visible()
        await looks_right(page, "merge-choose")
        await page.get_by_role("link", name=f"Compare with {first}").click()
        await expect(page.get_by_text("The earlier counts")).to_be_visible()
        await holds(page, "merge-compare", scripts)
        await page.get_by_label("How is it known that it is the same spill?").fill("The same manhole, seen by the crew")
        await page.get_by_role("button", name=f"Merge {first} into {second}").click()
        await expect(page.get_by_role("status").filter(has_text="The reports are merged")).to_be_visible()
        await expect(page.get_by_role("heading", name="Merged reports")).to_be_visible()
        await expect(page.get_by_text("a merged report knew it then")).to_be_visible()
        await holds(page, "merged", scripts)
        assert (await served.home.clock_of(second, WATER_BOARD)).due_at == due
        await page.get_by_role("link", name=first, exact=True).first.click()
        await expect(page.get_by_role("heading", name=f"Merged into {second}")).to_be_visible()
        await holds(page, "merged-into", scripts)
        await page.get_by_text(re.compile("^Take apart again")).click()
        await page.get_by_label("Reason", exact=True).first.fill("It is the next manhole")
        await page.get_by_role("button", name="Take it apart", exact=True).click()
        await expect(page.get_by_role("status").filter(has_text="a spill of its own again")).to_be_visible()
    assert [len(await served.home.events(first, kind)) for kind in (SpillMerged, SpillUnmerged)] == [1, 1]
    assert (await served.home.clock_of(first, WATER_BOARD)).state == "running"


async def test_an_officer_in_gloves_logs_a_call_takes_a_photo_and_amends_the_amount(served: Served) -> None:
    reference = await served.home.report(a_report(volume=gallons(900)))
    await served.home.live(hours=3)
    async with served.browser(PHONE, has_touch=True, is_mobile=True) as page:
        await sign_in(served, page)
        await page.goto("/staff")
        await page.get_by_role("link", name=reference).tap()
        first = page.locator("li.card").first
        title = await first.get_by_role("heading").first.inner_text()
        await first.get_by_text("Log this call").tap()  # two taps, and the first opens what the second presses right below it
        await first.get_by_role("button", name="Log it, just now").tap()
        said = page.get_by_role("status").filter(has_text="Recorded.")
        await expect(said).to_be_in_viewport()
        await expect(said.get_by_role("link")).to_contain_text(title.partition("\n")[0].removesuffix(" Overdue"))
        async with page.expect_file_chooser() as asked:
            await page.get_by_label("Take a photo").tap()
        await (await asked.value).set_files(FilePayload(name="curb.jpg", mimeType="image/jpeg", buffer=photo()))
        await page.get_by_role("button", name="Keep the photos").tap()
        await expect(page.get_by_role("status").filter(has_text="The photos are kept")).to_be_in_viewport()
        await page.get_by_label("How much?").tap()
        await page.keyboard.type("1,200")
        await page.get_by_role("button", name="Record the amount").tap()
        await expect(page.get_by_role("status").filter(has_text="counted again")).to_be_in_viewport()
        await expect(card(page, TWO_HOURS)).to_contain_text("Overdue by 1 hour")
        await looks_right(page, "gloves")
    assert (await served.home.spill(reference)).facts["volume"] == gallons(1200)


async def test_everything_at_the_kerb_is_big_enough_for_a_glove(served: Served) -> None:
    contact = {"name": "Ana Ruiz", "phone": "909 555 0155", "privacy": "confidential"}
    reference = await served.home.report(a_report(contact=contact))
    async with served.browser(PHONE) as page:
        await sign_in(served, page)
        await page.goto(f"/staff/spills/{reference}")
        assert await page.evaluate(_LOW, _PRESSED) == []
        camera = page.get_by_label("Take a photo")
        assert await camera.get_attribute("capture") == "environment"
        await camera.set_input_files(FilePayload(name="curb.jpg", mimeType="image/jpeg", buffer=photo()))
        await page.get_by_role("button", name="Keep the photos").click()
        await expect(page.get_by_role("status").filter(has_text="The photos are kept")).to_be_visible()
        await expect(page.get_by_role("img", name="Photo 1 of 1")).to_be_visible()
        await page.get_by_role("heading", name="Is what was spilled hazardous?").scroll_into_view_if_needed()
        question = page.get_by_role("group", name="Is what was spilled hazardous?")
        await question.get_by_role("button", name="No").click()  # one press
        await expect(page.get_by_role("group", name="Is what was spilled hazardous?")).to_have_count(0)
        await holds(page, "kerb")
    assert (await served.home.spill(reference)).facts["hazardous"] is False
    assert (await said(served, reference)).sources == {"hazardous": "staff"}
