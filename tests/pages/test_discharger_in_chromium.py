"""The discharger's journey in a real Chromium: call sheet, report, conflict, certification, amendment; in both languages, with and
without scripts, on a phone and at a desk. Every state is held to axe.
"""

from __future__ import annotations

import re

from playwright.async_api import expect

from service.followups import save_draft
from service.invitations import issue, replace
from service.parties import link_token
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, Served, card, holds
from tests.spills import a_report

CALL = "Call Cal OES about the sewage now"
REPORT = "Send the regional water board the written spill report within five days"
ITEMS = ("cause", "corrective_actions", "prevention")


async def a_link(served: Served, reference: str) -> str:
    """The link of Maria to the discharger's page."""
    async with transaction(served.home.house, "officer@chino.example") as tx:
        spill = await tx.spill(reference)
        link = await issue(tx, spill, "Maria Lopez", "maria@example.org", "", "en")
        return f"/respond/{link_token(served.home.house, 'respond', spill, link)}"


async def a_spill(served: Served) -> str:
    return await served.home.report(a_report(reached=["storm_drain"], discharged_at="2026-12-01T13:30-08:00"))


@BOTH_ENDS
async def test_a_plant_manager_calls_writes_certifies_and_amends(served: Served, width: int, scripts: bool) -> None:
    reference = await a_spill(served)
    link = await a_link(served, reference)
    async with served.browser(width, scripts=scripts, answers=(422,)) as page:
        await page.goto(link)
        await holds(page, "respond", scripts)
        await card(page, CALL).get_by_role("link", name="Call sheet").click()
        await holds(page, "respond-call", scripts)
        await page.get_by_label("I spoke to").fill("Warning Center")
        await page.get_by_label("Control number").fill("26-1234")
        await page.get_by_role("button", name="I made this call").click()
        await expect(card(page, CALL)).to_contain_text("Done on time")
        await holds(page, "respond-called", scripts)

        await card(page, REPORT).get_by_role("link", name="Write the report").click()
        await holds(page, "respond-report-empty", scripts)
        await expect(page.get_by_label("volume of the material")).to_have_value("1,500 gallons")
        await page.get_by_label("cause of the discharge").fill("Roots in the main line")
        if scripts:
            await expect(page.locator("#draft-status")).to_contain_text("Draft saved")
            await page.reload()
            await expect(page.get_by_label("cause of the discharge")).to_have_value("Roots in the main line")
        else:
            await page.get_by_role("button", name="Save draft").click()
            await expect(page.get_by_text("The draft is kept.")).to_be_visible()
        await holds(page, "respond-report-draft", scripts)

        await page.get_by_label("I certify this").check()
        await page.get_by_label("Your title").fill("plant manager")
        await page.get_by_role("button", name="Certify and file").click()
        await expect(page.get_by_role("alert")).to_contain_text("2 items are missing")
        await holds(page, "respond-report-missing", scripts)
        await page.get_by_role("alert").get_by_role("link", name="all corrective actions taken").click()
        await expect(page.locator("#item-corrective_actions")).to_be_focused()
        for item in ITEMS[1:]:
            await page.locator(f"#item-{item}").fill(f"text of {item}")
        served.home.clock.jump(days=6)
        await page.get_by_role("button", name="Certify and file", exact=True).click()
        await expect(page.get_by_role("heading", name=re.compile("late by"))).to_be_visible()
        await holds(page, "respond-report-late", scripts)

        await page.get_by_text("Amend the report", exact=True).click()
        await page.get_by_label("cause of the discharge").fill("Grease in the main line")
        await page.get_by_label("I certify this").check()
        await page.get_by_role("button", name="Certify and file the new version").click()
        await expect(page.locator("ins")).to_contain_text("Grease")
        await holds(page, "respond-report-amended", scripts)


@BOTH_ENDS
async def test_the_journey_is_in_spanish_for_who_reads_spanish(served: Served, width: int, scripts: bool) -> None:
    reference = await a_spill(served)
    link = await a_link(served, reference)
    async with served.browser(width, scripts=scripts, answers=(422,), locale="es-US") as page:
        await page.goto(link)
        await expect(page.locator("html")).to_have_attribute("lang", "es")
        await holds(page, "respond-es", scripts)
        await card(page, "Llame a Cal OES ahora por las aguas negras").get_by_role("link", name="Hoja de llamada").click()
        await page.get_by_text("Lo mismo en inglés").click()
        await holds(page, "respond-call-es", scripts)
        row = await served.home.clock_of(reference, "chino/rwqcb-written-5-days")
        await page.goto(f"{link}/duties/{row.id}/report")
        await holds(page, "respond-report-es", scripts)
        for item in ITEMS:
            await page.locator(f"#item-{item}").fill(f"texto de {item}")
        await page.locator("#certify").check()
        await page.get_by_label("Su cargo").fill("gerente de planta")
        await page.get_by_role("button", name="Certificar y presentar").click()
        await expect(page.get_by_text("La obligación queda marcada aquí como cumplida.")).to_be_visible()
        await holds(page, "respond-report-filed-es", scripts)


async def test_two_who_type_at_once_see_both_texts_and_choose(served: Served) -> None:
    reference = await a_spill(served)
    link = await a_link(served, reference)
    row = await served.home.clock_of(reference, "chino/rwqcb-written-5-days")
    async with served.browser(360, scripts=True, answers=(409,)) as page:
        await page.goto(f"{link}/duties/{row.id}/report")
        async with transaction(served.home.house, f"Ben Ito, discharger of {reference}") as tx:
            await save_draft(tx, await tx.spill(reference), row, {"cause": "grease", "prevention": "inspect it"}, "Ben Ito")
        await page.get_by_label("cause of the discharge").fill("roots")
        await expect(page.locator(".theirs")).to_contain_text("Written by Ben Ito:")
        await expect(page.locator(".theirs blockquote")).to_have_text("grease")
        await expect(page.locator("#item-prevention")).to_have_value("inspect it")
        await expect(page.locator("#item-volume")).to_have_value("1,500 gallons")
        await holds(page, "respond-report-conflict")
        await page.get_by_role("button", name="Use the other text").click()
        await expect(page.locator("#draft-status")).to_contain_text("Draft saved")
        await expect(page.get_by_label("cause of the discharge")).to_have_value("grease")


async def test_a_link_that_was_replaced_and_a_sheet_on_paper_are_sound(served: Served) -> None:
    reference = await a_spill(served)
    link, common = await a_link(served, reference), await served.link("respond", reference)
    row = await served.home.clock_of(reference, "california/cal-oes-sewage")
    async with transaction(served.home.house, "officer@chino.example") as tx:
        await replace(tx, await tx.spill(reference), None)
    async with served.browser(360, scripts=True, answers=(410,)) as page:
        await page.goto(common)
        await expect(page.get_by_role("heading", name="This link was replaced")).to_be_visible()
        await holds(page, "respond-ended")
        await page.goto(f"{link}/duties/{row.id}/call")
        await page.emulate_media(media="print")
        await expect(page.get_by_role("button", name="I made this call")).to_be_hidden()
        await expect(page.locator(".on-paper")).to_be_visible()
        await expect(page.get_by_text("800-852-7550")).to_be_visible()
