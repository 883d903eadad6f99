"""A journey in a real Chromium: a call is made by its sheet, what was asked is added, and the evidence is taken and checked."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

from playwright.async_api import Page, expect

from tests.pages.browsing import BOTH_ENDS, Served, holds
from tests.pages.test_one_spill_in_chromium import sign_in
from tests.spills import a_report

CONTACT = {"name": "Ottoline Quist", "phone": "+19095550199", "privacy": "confidential"}


@BOTH_ENDS
async def test_a_call_is_made_by_its_sheet_and_the_evidence_is_taken_and_checked(
    served: Served, width: int, scripts: bool, tmp_path: Path
) -> None:
    reference = await served.home.report(a_report(reached=["storm_drain"], contact=CONTACT))
    async with served.browser(width, scripts=scripts) as page:
        await sign_in(served, page, "manager")
        await page.goto(f"/staff/spills/{reference}")
        await page.get_by_label("On this page").get_by_role("link", name="Papers").click()
        await page.get_by_role("link", name="Call sheet: Cal OES State Warning Center").click()
        await expect(page.get_by_role("heading", name="1. Who you are")).to_be_visible()
        await expect(page.locator("main")).to_contain_text("Asked to stay confidential: do not tell.")
        await holds(page, "call sheet", scripts)
        await page.get_by_role("link", name="Name of the water it reached or may reach").first.click()
        await page.get_by_label("Name of the water it reached or may reach").fill("Cypress Channel")
        await holds(page, "particulars", scripts)
        await page.get_by_role("button", name="Record it").click()
        await expect(page.get_by_role("status")).to_contain_text("Every paper below holds it now.")
        await page.get_by_role("link", name="Call sheet: Cal OES State Warning Center").click()
        await expect(page.locator("main")).to_contain_text("Cypress Channel")
        await page.get_by_label("Control or case number").fill("26-7712")
        await page.get_by_role("button", name="Log it", exact=True).click()
        await expect(page.locator("main")).to_contain_text("Recorded. The clocks below show how they stand now.")
        await page.goto(f"/staff/spills/{reference}/papers")
        await holds(page, "papers", scripts)
        await _take(page, tmp_path, reference)
    assert (await served.home.clock_of(reference, "california/cal-oes-sewage")).state == "met"


async def _take(page: Page, folder: Path, reference: str) -> None:
    """Take the whole bundle, and check it by its own script."""
    async with page.expect_download() as waited:
        await page.get_by_role("button", name="Take it whole").click()
    download = await waited.value
    assert download.suggested_filename == f"{reference}-evidence-whole.zip"
    content = Path(await download.path()).read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    script = folder / reference / "check.py"
    good = subprocess.run([sys.executable, "-I", "-S", str(script)], capture_output=True, text=True, check=True)
    assert "files are as they were made." in good.stdout
    assert "26-7712" in (folder / reference / "events.jsonl").read_text(encoding="utf-8")
    with (folder / reference / "events.jsonl").open("ab") as file:
        file.write(b" ")
    bad = subprocess.run([sys.executable, "-I", "-S", str(script)], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout.splitlines()[0]) == (1, "changed: events.jsonl")
