"""The journeys of night duty, of a discharger and of staff in a real Chromium."""

from __future__ import annotations

import re

from playwright.async_api import expect

from service.events import ActRecorded
from tests.pages.browsing import BOTH_ENDS, WIDTHS, Served, card, go_to, looks_right, mailed_link
from tests.spills import NOWHERE_NEAR, a_report


@BOTH_ENDS
async def test_a_duty_officer_signs_in_at_night_and_logs_a_call(served: Served, width: int, scripts: bool) -> None:
    await served.home.token("officer", "chino", "duty@chino.example")
    reference = await served.home.report(a_report())
    await served.home.report(a_report(location=NOWHERE_NEAR), staff=False)
    async with served.browser(width, scripts=scripts) as page:
        await page.goto(f"/staff/spills/{reference}")
        await looks_right(page, "sign-in")
        await page.get_by_label("Your e-mail address").fill("duty@chino.example")
        await page.get_by_role("button", name="Send me a link").click()
        await expect(page.get_by_text("a link is on its way")).to_be_visible()
        await page.goto(await mailed_link(served.home))
        await looks_right(page, "enter")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", name=reference)).to_be_visible()
        await looks_right(page, "spill")
        await go_to(page, "Board")
        await looks_right(page, "board")
        await page.get_by_role("link", name=reference).click()
        duty = card(page, "Tell the regional water board within two hours")
        await expect(duty).to_contain_text("2 hours left" if not scripts else re.compile(r"2 hours left|1 hour 59 minutes left"))
        await duty.get_by_text("Log this call").click()
        await duty.get_by_role("button", name="Log it, just now").click()
        await expect(page.get_by_role("status").filter(has_text="Recorded.")).to_be_visible()
        await expect(card(page, "Tell the regional water board within two hours")).to_contain_text("Done on time")
        await looks_right(page, "spill-call-logged")
    [act] = await served.home.events(reference, ActRecorded)
    assert act.act["recipient"] == "rwqcb-santa-ana"


@BOTH_ENDS
async def test_a_discharger_calls_and_files_a_report(served: Served, width: int, scripts: bool) -> None:
    reference = await served.home.report(a_report())
    await served.home.name_discharger(reference, "Golden Wok LLC", "owner@goldenwok.example")
    async with served.browser(width, scripts=scripts) as page:
        await page.goto(await served.link("respond", reference))
        await looks_right(page, "respond")
        call = card(page, "Call Cal OES about the sewage now")
        await call.get_by_text("I made this call").click()
        await call.get_by_label("Whom did you speak to?").fill("Warning Center")
        await call.get_by_label("Control or case number").fill("26-1234")
        await looks_right(page, "respond-call")
        await call.get_by_role("button", name="Record it").click()
        await expect(card(page, "Call Cal OES about the sewage now")).to_contain_text("Done on time")
        await card(page, "the written spill report within five days").get_by_role("link", name="Write the report").click()
        await looks_right(page, "respond-report")
        await page.get_by_label("cause of the discharge").fill("Roots in the lateral")
        await page.get_by_role("button", name="Save draft").click()
        await expect(page.get_by_text("The draft is kept.")).to_be_visible()
        await page.get_by_label("Your name").fill("Dana Cruz")
        await page.get_by_label("Your title").fill("owner")
        await page.get_by_label("I certify this").check()
        for item in ("type of the material or waste", "volume of the material", "all corrective actions", "measures that will prevent"):
            await page.get_by_label(item).fill("As told by telephone.")
        await page.get_by_role("button", name="Certify and file").click()
        await expect(page.get_by_role("heading", name=re.compile("Filed .*, on time"))).to_be_visible()
        await looks_right(page, "respond-report-filed")
    assert (await served.home.clock_of(reference, "chino/rwqcb-written-5-days")).state == "met"


@WIDTHS
async def test_an_officer_sets_a_city_and_amends_an_amount(served: Served, width: int) -> None:
    reference = await served.home.report(a_report(location={"address": "by the school"}, volume={"quantity": 900, "unit": "gal"}))
    token = await served.home.token("manager", None)
    async with served.browser(width) as page:
        await page.goto("/staff/sign-in")
        await page.get_by_text("I have a token").click()
        await page.get_by_label("Token").fill(token)
        await page.get_by_role("button", name="Sign in with a token").click()
        await page.get_by_role("link", name=reference).first.click()
        await looks_right(page, "spill-without-city")
        await page.locator("#assign-city").select_option(label="City of Chino, California")
        await page.get_by_role("button", name="Set the city and start the clocks").click()
        await expect(page.get_by_text("The facts are amended")).to_be_visible()
        await expect(card(page, "Tell the regional water board within two hours")).to_have_count(0)
        await page.get_by_role("link", name="Amend facts").click()
        await looks_right(page, "amend")
        await page.get_by_label("How much, or at least").fill("1,200")
        await page.get_by_label("Reason").fill("Crew measured the pool")
        await page.get_by_role("button", name="Amend the facts").click()
        await expect(card(page, "Tell the regional water board within two hours")).to_be_visible()
        await page.locator("#type").select_option(label="Order served")
        await page.get_by_role("button", name="Go on").click()
        await looks_right(page, "event")
        await page.get_by_label("Order").select_option(label="Stop work order")
        await page.get_by_role("button", name="Record it").click()
        await expect(card(page, "Stop work now")).to_be_visible()


async def test_a_clock_counts_down_by_the_servers_time(served: Served) -> None:
    reference = await served.home.report(a_report())
    async with served.browser() as page:
        await page.goto(await served.link("respond", reference))
        duty = card(page, "Tell the regional water board within two hours")
        await expect(duty).to_contain_text("1 hour 59 minutes left")
        served.home.clock.jump(hours=3)
        await page.reload()
        await expect(card(page, "Tell the regional water board within two hours").locator(".standing")).to_have_text(
            "Overdue by 1 hour 2 seconds"
        )


async def test_a_spanish_page_on_a_phone_fits_and_reads_well(served: Served) -> None:
    reference = await served.home.report(a_report())
    async with served.browser(locale="es-MX", color_scheme="dark") as page:
        for name, address in (("home-es", "/"), ("report-es", "/report"), ("respond-es", await served.link("respond", reference))):
            await page.goto(address)
            await expect(page.locator("html")).to_have_attribute("lang", "es")
            await looks_right(page, name)
        await page.get_by_role("link", name="English").click()
        await expect(page.locator("html")).to_have_attribute("lang", "en")


async def test_a_first_page_is_light(served: Served) -> None:
    async with served.browser() as page:
        sizes: list[int] = []
        page.on("response", lambda response: sizes.append(int(response.headers.get("content-length", 0))))
        await page.goto("/report")
        await page.wait_for_load_state("networkidle")
        assert 10_000 < sum(sizes) < 100_000
