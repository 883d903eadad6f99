"""The public list and its map in a real Chromium, and the map that a pin is put on: by mouse, finger and keyboard, and without scripts."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from service import access
from service.transaction import transaction
from tests.pages.browsing import BOTH_ENDS, DESK, PHONE, WIDTHS, Served, axe_finds, looks_right
from tests.service.test_advisories import tell
from tests.service.test_public_record import confirmed
from tests.spills import a_report


async def four_spills(served: Served) -> list[str]:
    """Two spills on one block, one with an advisory across the city, one at a home."""
    home = served.home
    made = [await confirmed(home, reached=["storm_drain"]), await confirmed(home, material="paint")]
    made.append(await confirmed(home, material="petroleum", location={"lat": 33.98, "lon": -117.66}))
    await tell(home, made[-1])
    return [*made, await confirmed(home, premises="residential")]


@pytest.mark.parametrize("language", ["en", "es"])
@WIDTHS
async def test_a_neighbour_looks_at_the_map_with_the_keyboard_alone(served: Served, width: int, language: str) -> None:
    references = await four_spills(served)
    english = language == "en"
    async with served.browser(width, locale=f"{language}-US") as page:
        await page.goto("/map")
        await page.wait_for_selector("[data-canvas][data-ready]")
        await looks_right(page, f"map-{language}")
        assert await axe_finds(page) == []
        await expect(page.get_by_text("in the list alone: 1" if english else "solo en la lista: 1")).to_be_visible()

        oil = page.get_by_role("button", name="Oil or fuel, City" if english else "Aceite o combustible, City")
        await expect(oil).to_have_accessible_name(name_of_the_warned(english))
        await oil.focus()
        await page.keyboard.press("Enter")
        told = page.locator(".leaflet-popup-content")
        await expect(told).to_contain_text("1,000 to 10,000 gallons" if english else "de 1,000 a 10,000 galones")
        await expect(told.locator("> div")).to_be_focused()
        await expect(page.get_by_role("button", name="Close" if english else "Cerrar")).to_be_visible()
        assert await axe_finds(page) == []
        await page.keyboard.press("Escape")
        await expect(told).to_have_count(0)
        await expect(oil).to_be_focused()

        both = page.get_by_role("button", name="2 spills near here" if english else "2 derrames cerca de aquí")
        await both.focus()
        await page.keyboard.press("Space")
        await expect(told).to_contain_text(references[0])
        await expect(told).to_contain_text(references[1])
        await told.get_by_role("link", name=references[1]).press("Enter")
        assert page.url.endswith(f"#{references[1]}")


def name_of_the_warned(english: bool) -> str:
    """What the sign of the spill with an advisory is called."""
    if english:
        return "Oil or fuel, City of Chino, California, in the middle, Being looked at, Advisory in force"
    return "Aceite o combustible, City of Chino, California, en el centro, En revisión, Aviso vigente"


async def test_the_list_leads_to_the_map_and_back(served: Served) -> None:
    references = await four_spills(served)
    async with served.browser(DESK, reduced_motion="reduce") as page:
        await page.goto("/map")
        await page.wait_for_selector("[data-canvas][data-ready]")
        await expect(page.get_by_role("button", name=f"Show on the map {references[3]}")).to_have_count(0)
        button = page.get_by_role("button", name=f"Show on the map {references[2]}")
        await button.click()
        told = page.locator(".leaflet-popup-content")
        await expect(told).to_contain_text("Oil or fuel")
        await page.keyboard.press("Escape")
        await expect(button).to_be_focused()
        await button.click()
        await told.get_by_role("link", name="Advisory in force").click()
        await page.wait_for_url("**/advisories/1")


@WIDTHS
async def test_without_scripts_the_list_is_whole_and_no_map_is_promised(served: Served, width: int) -> None:
    references = await four_spills(served)
    async with served.browser(width, scripts=False) as page:
        await page.goto("/map")
        for reference in references:
            await expect(page.locator(f"#{reference}")).to_be_visible()
        await expect(page.locator("[data-spill-map]")).to_be_hidden()
        await looks_right(page, "map-list-alone")
        await page.get_by_text("Filter the list").click()
        await page.get_by_label("Material").select_option(label="Paint")
        await page.get_by_role("button", name="Show these spills").click()
        await expect(page.get_by_role("heading", name="1 spill")).to_be_visible()
        await expect(page.locator(f"#{references[1]}")).to_be_visible()
        await looks_right(page, "map-filtered")


@WIDTHS
async def test_a_filter_that_cannot_be_is_told_and_breaks_no_rule(served: Served, width: int) -> None:
    async with served.browser(width, answers=(422,)) as page:
        await page.goto("/map?since=yesterday")
        await page.wait_for_selector("[data-canvas][data-ready]")
        await expect(page.get_by_role("alert")).to_contain_text("Write the day as year, month and day")
        await looks_right(page, "map-with-a-fault")
        assert await axe_finds(page) == []


async def test_a_map_that_cannot_be_had_says_so_and_leaves_the_list(served: Served) -> None:
    references = await four_spills(served)
    async with served.browser(PHONE) as page:
        await page.route("**/leaflet.js*", lambda route: route.fulfill(body="", content_type="text/javascript"))
        await page.goto("/map")
        await expect(page.get_by_text("The map cannot be shown. The list says the same.")).to_be_visible()
        await expect(page.locator(f"#{references[0]}")).to_be_visible()


# -- the pin


async def staff_place(served: Served, page: Page) -> str:
    """The page of a spill's place, for an officer."""
    reference = await served.home.report(a_report())
    async with transaction(served.home.house, "test") as tx:
        account = await access.add_account(tx, "officer@chino.example", "officer", "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
    await page.goto(f"/staff/spills/{reference}/location")
    await page.locator("summary").filter(has_text="Move the pin").click()
    return reference


@BOTH_ENDS
async def test_a_pin_is_put_by_tap_and_moved_by_keys(served: Served, width: int, scripts: bool) -> None:
    async with served.browser(width, scripts=scripts) as page:
        await staff_place(served, page)
        opener = page.get_by_role("button", name="Choose on a map")
        if not scripts:
            await expect(opener).to_be_hidden()
            return
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url))
        await opener.click()
        pin = page.get_by_role("button", name="Pin at the spill")
        await expect(pin).to_be_visible()
        assert sum("leaflet" in url for url in fetched) == 2
        lat, lon = page.get_by_label("Latitude"), page.get_by_label("Longitude")
        await expect(lat).to_have_value("34.01")
        await looks_right(page, "pin-map")
        assert await axe_finds(page) == []

        await page.locator("[data-pin-map] [data-canvas]").click(position={"x": 60, "y": 60})
        await expect(lat).not_to_have_value("34.01")
        north, west = float(await lat.input_value()), float(await lon.input_value())
        assert north > 34.01
        assert west < -117.69
        await pin.focus()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("ArrowRight")
        assert float(await lat.input_value()) < north
        assert float(await lon.input_value()) > west
        await expect(page.get_by_text("The pin is at 34.0")).to_be_visible()
        await page.get_by_role("button", name="Put the pin in the middle").click()
        await expect(pin).to_be_focused()
        await lat.fill("34.02")
        await lon.fill("-117.70")
        await lon.press("Tab")
        await page.keyboard.press("Tab")
        await expect(lat).to_have_value("34.02")
