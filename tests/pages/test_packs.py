"""The packs for administrators: versions, what changed, who compared them; rules switched off, and where that is said."""

from __future__ import annotations

from dataclasses import replace

from deadlines import Rulebook
from service import packs_seen
from service.transaction import transaction
from tests.pages.conftest import Site
from tests.spills import a_report

DUTY = "chino/rwqcb-2-hours"
WHY = "The board released the city by letter of 2026-11-30."
SEWAGE = a_report(volume={"quantity": 1500, "unit": "gal"}, reached=["storm_drain"])


async def test_a_rule_is_switched_off_with_a_reason_and_on_again(site: Site) -> None:
    running = await site.home.report(SEWAGE)
    ruth, reader = await site.staff("administrator"), site.visitor()
    page = await ruth.post("/staff/packs/chino/off", {"rule": DUTY, "reason": WHY})
    assert "It is switched off and starts no new clocks." in page.text
    assert f"by administrator@chino.example: {WHY}" in page.text
    held = await site.home.report(SEWAGE)
    law, rule = await reader.get("/law/chino"), await reader.get(f"/law/{DUTY}")
    assert f"Switched off here since Dec 1, 2026 by an administrator of the city: {WHY}" in law.text
    assert f"Switched off in City of Chino, California since Dec 1, 2026 by an administrator of the city: {WHY}" in rule.text
    assert "administrator@chino.example" not in law.text + rule.text  # the public reads no address of staff
    officer = await site.staff("officer")
    told = (await officer.get(f"/staff/spills/{running}")).text
    assert "Its rule is switched off" in told
    assert "This clock ran before, and goes on." in told
    told = (await officer.get(f"/staff/spills/{held}")).text
    assert f"by administrator@chino.example: {WHY}" in told
    assert "This clock ran before, and goes on." not in told
    page = await ruth.send(page, next(form for form in page.root.all("form") if "/on/" in form["action"]), reason="withdrawn")
    assert "Nothing is switched off." in page.text
    assert "Switched off" not in (await reader.get("/law/chino")).text


async def test_without_a_reason_nothing_is_switched_off(site: Site) -> None:
    ruth = await site.staff("administrator")
    page = await ruth.post("/staff/packs/chino/off", {"rule": DUTY, "reason": ""})
    assert page.status == 422
    assert "Reason: missing" in page.text
    assert "Nothing is switched off." in page.text


async def test_a_manager_and_another_city_are_kept_out(site: Site) -> None:
    manager, elsewhere = await site.staff("manager"), await site.staff("administrator", "ontario")
    given = {"rule": DUTY, "reason": WHY}
    assert (await manager.get("/staff/packs")).status == 403
    assert (await manager.post("/staff/packs/chino/off", given)).status == 403
    assert (await elsewhere.post("/staff/packs/chino/off", given)).status == 404
    assert "Switched off" not in (await site.visitor().get("/law/chino")).text


async def test_the_page_says_which_version_counts_since_when_what_changed_and_what_runs_by_it(site: Site) -> None:
    home = site.home
    await home.report(SEWAGE)
    book = home.house.rulebook
    first, second, *rest = book.packs["chino"].rules
    former = replace(book.packs["chino"], version="2026-11-01+old", rules=(second, *rest))
    for law in (Rulebook({**book.packs, "chino": former}, book.quantities), book):
        async with transaction(home.with_house(rulebook=law).house, "spillclock") as tx:
            await packs_seen.take_note(tx)
    page = await (await site.staff("administrator")).get("/staff/packs")
    version = book.packs["chino"].version
    assert f"{version}, here since" in page.text
    assert "2026-11-01+old since" in page.text
    assert f"What changed from 2026-11-01+old to {version} Added: {first.title} ({first.duty})" in page.text
    assert f"by {version}" in page.text
    assert "Compared with its source on" in page.text
