"""Every narrative of the samples of real reports, on the reporter's page, the page of staff and the PDF: whole, and within the screen.

The samples lie beside the project and are no part of it; the dirty reports of the project are shown in the same way.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service import access, intake
from service.pages.record_copy import record_copy
from service.papers.drawing import draw
from service.parties import link_token
from service.speech import ENGLISH
from service.transaction import reading, transaction
from tests.houses import Household
from tests.pages.conftest import Site
from tests.pages.test_in_chromium import PHONE, Served, served  # noqa: F401 - the fixture
from tests.service.printed import lost, printed
from tests.service.real_reports import FOLDER, MISSING, real_reports

SAMPLES = pytest.mark.skipif(not FOLDER.is_dir(), reason=MISSING)
DIRTY = json.loads((Path(__file__).parents[1] / "service" / "dirty_reports.json").read_text(encoding="utf-8"))
PARTS = 6


async def kept(home: Household, bodies: list[dict[str, Any]]) -> dict[str, str]:
    """Take reports in. Returns each reference with its narrative."""
    arrivals = [intake.Arrival(body, by_way_of="api", sender="public") for body in bodies]
    return {(await intake.take_in(home.house, one)).reference: str(one.body.get("description") or "") for one in arrivals}


def squeezed(text: str) -> str:
    return "".join(text.split()).replace("\x00", "\ufffd")


async def shown_whole(site: Site, bodies: list[dict[str, Any]]) -> None:
    visitor, staff = site.visitor(), await site.staff("officer", None)
    for reference, narrative in (await kept(site.home, bodies)).items():
        for one, path in ((visitor, await site.link("status", reference)), (staff, f"/staff/spills/{reference}")):
            assert squeezed(narrative) in squeezed((await one.get(path)).text), path
        async with reading(site.home.house) as tx:
            paper = await record_copy(tx, await tx.spill(reference), ENGLISH)
        assert lost(narrative.replace("\x00", "\ufffd"), printed(draw(paper, "en"))) == {}, reference


@SAMPLES
@pytest.mark.parametrize("part", range(PARTS))
async def test_every_sample_narrative_is_whole_on_each_page_and_on_paper(site: Site, part: int) -> None:
    await shown_whole(site, [report.body for report in real_reports()[part::PARTS]])


async def test_every_dirty_report_is_whole_on_each_page_and_on_paper(site: Site) -> None:
    await shown_whole(site, [case["report"] for case in DIRTY])


# Puts the main part of each page into this one, where its styles apply, and says which of them is wider than the screen.
_WIDER = """async addresses => {
  const wider = [];
  for (const address of addresses) {
    const text = await (await fetch(address)).text();
    const page = new DOMParser().parseFromString(text, "text/html");
    document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
    const root = document.documentElement;
    const shown = [...document.querySelectorAll("main *")].filter(element => element.checkVisibility());
    const out = shown.filter(element => element.getBoundingClientRect().right > innerWidth + 1);
    if (root.scrollWidth > root.clientWidth || out.length) wider.push(`${address} ${(out[0] || root).outerHTML.slice(0, 160)}`);
  }
  return wider;
}"""


async def fits_a_phone(served: Served, bodies: list[dict[str, Any]]) -> None:  # noqa: F811
    references = await kept(served.home, bodies)
    async with transaction(served.home.house, "test") as tx:
        session = await access.issue(tx, await access.add_account(tx, "o@example.org", "officer", None), "session", access.SESSION_LASTS)
        tokens = [link_token(served.home.house, "status", await tx.spill(reference)) for reference in references]
    async with served.browser(PHONE) as page:
        await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
        for addresses in ([f"/status/{token}" for token in tokens], [f"/staff/spills/{reference}" for reference in references]):
            await page.goto(addresses[0])
            assert await page.evaluate(_WIDER, addresses) == []


@SAMPLES
@pytest.mark.parametrize("part", range(PARTS))
async def test_no_sample_narrative_reaches_over_the_edge_of_a_phone(served: Served, part: int) -> None:  # noqa: F811
    await fits_a_phone(served, [report.body for report in real_reports()[part::PARTS]])


async def test_no_word_however_long_reaches_over_the_edge_of_a_phone(served: Served) -> None:  # noqa: F811
    words = [
        "W" * 3000,
        "https://example.org/" + "a" * 500,
        "\U0001f600" * 300,
        "\u0634" * 500,
        "Z" + "\u0301" * 300,
        "\u00a0".join(["no break"] * 80),
    ]
    await fits_a_phone(
        served, [*[case["report"] for case in DIRTY], *[{"description": word, "location": {"address": word}} for word in words]]
    )
