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
from service.spills import storable
from service.transaction import reading, transaction
from tests.houses import Household
from tests.pages.browsing import PHONE, Served
from tests.service.printed import lost, printed
from tests.service.real_reports import FOLDER, MISSING, real_reports

DIRTY = json.loads((Path(__file__).parents[1] / "service" / "dirty_reports.json").read_text(encoding="utf-8"))
PARTS = 6
# Puts the main part of each page into this one, where its styles apply. Gives what it says, and what of it is wider than the screen.
_SHOWN = """async addresses => {
  const shown = [];
  for (const address of addresses) {
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
    const root = document.documentElement;
    const seen = [...document.querySelectorAll("main *")].filter(element => element.checkVisibility());
    const out = seen.filter(element => element.getBoundingClientRect().right > innerWidth + 1);
    const wider = root.scrollWidth > root.clientWidth || out.length ? (out[0] || root).outerHTML.slice(0, 160) : "";
    shown.push([document.querySelector("main").textContent, wider]);
  }
  return shown;
}"""


async def kept(home: Household, bodies: list[dict[str, Any]]) -> dict[str, str]:
    """Take reports in. Returns each reference with its narrative as it is stored."""
    arrivals = [intake.Arrival(body, by_way_of="api", sender="public") for body in bodies]
    return {(await intake.take_in(home.house, one)).reference: storable(str(one.body.get("description") or "")) for one in arrivals}


def squeezed(text: str) -> str:
    return "".join(text.split())


async def are_whole(served: Served, bodies: list[dict[str, Any]]) -> None:
    """The narratives of these reports are whole on both pages and on paper, and fit a phone."""
    house = served.home.house
    narratives = await kept(served.home, bodies)
    async with transaction(house, "test") as tx:
        session = await access.issue(tx, await access.add_account(tx, "o@example.org", "officer", None), "session", access.SESSION_LASTS)
    async with reading(house) as tx:
        spills = {reference: await tx.spill(reference) for reference in narratives}
        papers = {reference: await record_copy(tx, spill, ENGLISH) for reference, spill in spills.items()}
    async with served.browser(PHONE) as page:
        await page.context.add_cookies([{"name": "spillclock_session", "value": session, "url": served.url}])
        for addresses in (
            [f"/status/{link_token(house, 'status', spill)}" for spill in spills.values()],
            [f"/staff/spills/{reference}" for reference in narratives],
        ):
            await page.goto(addresses[0])
            shown = await page.evaluate(_SHOWN, addresses)
            for address, narrative, (text, wider) in zip(addresses, narratives.values(), shown, strict=True):
                assert wider == "", address
                assert squeezed(narrative) in squeezed(text), address
    for reference, narrative in narratives.items():
        assert lost(narrative, printed(draw(papers[reference], "en"))) == {}, reference


@pytest.mark.skipif(not FOLDER.is_dir(), reason=MISSING)
@pytest.mark.parametrize("part", range(PARTS))
async def test_every_sample_narrative_is_whole_and_within_the_screen(served: Served, part: int) -> None:
    await are_whole(served, [report.body for report in real_reports()[part::PARTS]])


async def test_every_dirty_report_is_whole_and_within_the_screen(served: Served) -> None:
    await are_whole(served, [case["report"] for case in DIRTY])


async def test_no_word_however_long_reaches_over_the_edge_of_a_phone(served: Served) -> None:
    words = [
        "W" * 3000, "https://example.org/" + "a" * 500, "\U0001f600" * 300, "\u0634" * 500, "Z" + "\u0301" * 300,
        "\u00a0".join(["no break"] * 80), "\n".join(f"line {number}" for number in range(1000)),
    ]  # fmt: skip
    await are_whole(served, [{"description": word, "location": {"address": word}} for word in words])
