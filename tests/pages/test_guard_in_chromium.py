"""The proof of work, the hint of reports nearby and the question on the reporter's page, in a real Chromium."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.async_api import expect

from service import access, turnstile
from service.events import SaidToBeSame
from service.held_reports import TRAP, UNPROVEN
from service.tables import Spill
from service.transaction import transaction
from service.turnstile import GATES, REPORT, Limit
from tests.pages.browsing import BOTH_ENDS, DESK, PHONE, Served, holds
from tests.spills import IN_CHINO, a_report


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many reports came from here that each further one needs a proof."""
    monkeypatch.setattr(turnstile, "GATES", {**GATES, REPORT: (Limit(timedelta(hours=1), 200, free=0),)})


async def one(home: Served) -> Spill:
    [spill] = await home.spills()
    return spill


@pytest.mark.usefixtures("busy")
async def test_a_browser_proves_itself_beside_the_typing_and_nothing_is_held(served: Served) -> None:
    async with served.browser(DESK) as page:
        sent: list[str] = []
        page.on("request", lambda asked: sent.append(asked.post_data or "") if asked.method == "POST" else None)
        await page.goto("/report")
        await page.get_by_label("Describe what you see").fill("Gray water comes out of a manhole.")
        await page.get_by_role("button", name="Send report").click()  # at once: the proof is waited for
        await expect(page.get_by_role("heading", name="Thank you. Your report is kept.")).to_be_visible(timeout=30_000)
    spill = await one(served)
    assert spill.held_at is None
    assert "suspicious" not in " ".join(spill.flags)
    assert any("proof" in body for body in sent)


@pytest.mark.usefixtures("busy")
async def test_without_javascript_the_report_is_kept_and_waits_for_a_person(served: Served) -> None:
    async with served.browser(PHONE, scripts=False) as page:
        await page.goto("/report")
        await expect(page.get_by_label("Leave this field empty")).not_to_be_in_viewport()
        await page.get_by_label("Describe what you see").fill("Gray water comes out of a manhole.")
        await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_role("heading", name="Thank you. Your report is kept.")).to_be_visible()
        await holds(page, "status-held", scripts=False)
    spill = await one(served)
    assert spill.held_at is not None
    assert spill.flags[0] == f"suspicious: {UNPROVEN}"


async def test_below_the_rate_no_browser_works_for_it(served: Served) -> None:
    async with served.browser(DESK) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url.removeprefix(served.url)))
        await page.goto("/report")
        await page.get_by_label("Describe what you see").fill("Gray water.")
        await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_role("heading", name="Thank you. Your report is kept.")).to_be_visible()
    assert asked.count("/report/challenge") == 1
    assert not any("proof_worker" in url for url in asked)


@pytest.mark.parametrize("width", [PHONE, DESK])
async def test_the_form_hints_at_reports_near_the_place(served: Served, width: int) -> None:
    await served.home.report(a_report(), staff=False)
    place = {"latitude": IN_CHINO["lat"] + 0.0004, "longitude": IN_CHINO["lon"]}
    async with served.browser(width, geolocation=place, permissions=["geolocation"]) as page:
        await page.goto("/report")
        if width == PHONE:
            await page.get_by_role("button", name="Next").click()
        await expect(page.get_by_role("heading", name="Is it one of these?")).not_to_be_visible()
        await page.get_by_role("button", name="Use where I am now").click()
        await expect(page.get_by_role("heading", name="Is it one of these?")).to_be_visible()
        await expect(page.get_by_text("Sewage, within a block, about 1 hour ago")).to_be_visible()
        await holds(page, "report-nearby")
        await page.get_by_label("Latitude").fill("34.05")
        await page.get_by_label("Longitude").fill("-117.60")
        await page.get_by_label("Longitude").blur()
        await expect(page.get_by_role("heading", name="Is it one of these?")).not_to_be_visible()


@BOTH_ENDS
async def test_the_reporter_answers_with_one_button_also_by_keyboard(served: Served, width: int, scripts: bool) -> None:
    earlier = await served.home.report(a_report(), staff=False)
    later = await served.home.report(a_report(), staff=False)
    async with served.browser(width, scripts=scripts) as page:
        await page.goto(await served.link("status", later))
        await expect(page.get_by_role("heading", name="Is it the same spill as one of these?")).to_be_visible()
        await holds(page, "status-nearby", scripts=scripts)
        await page.get_by_role("button", name="Yes: Sewage, within a block").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status").filter(has_text="Thank you. Staff see your answer.")).to_be_visible()
        await holds(page, "status-same", scripts=scripts)
    assert [event.other for event in await served.home.events(later, SaidToBeSame)] == [earlier]


@BOTH_ENDS
async def test_an_officer_judges_what_looks_automatic(served: Served, width: int, scripts: bool) -> None:
    for text in ("Brown water runs into the creek.", "Cheap watches! " * 60):
        await served.home.report(a_report(description=text), staff=False, by_way_of="web", doubts=(TRAP, UNPROVEN))
    async with transaction(served.home.house, "test") as tx:
        account = await access.add_account(tx, "officer@chino.example", "officer", "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
    async with served.browser(width, scripts=scripts) as page:
        await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
        await page.goto("/staff")
        await page.get_by_role("link", name="2 reports look automatic").click()
        await holds(page, "held", scripts=scripts)
        first, second = [spill.reference for spill in await served.spills()]
        await page.get_by_text(first, exact=True).click()
        await page.get_by_role("button", name="Real: start the clocks").click()
        await expect(page.get_by_role("status").filter(has_text="Their clocks run")).to_be_visible()
        await page.get_by_text(second, exact=True).click()
        await page.get_by_role("button", name="Not a spill: close").click()
        await expect(page.get_by_text("No report waits to be judged.")).to_be_visible()
        await holds(page, "held-none", scripts=scripts)
    assert (await served.home.spill(first)).city == "chino"
    assert (await served.home.spill(second)).city is None
