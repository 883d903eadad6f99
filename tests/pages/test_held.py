"""The list of reports that look automatic: many are judged at once, by whoever may."""

from __future__ import annotations

from typing import Any

from service.held_reports import TRAP, UNPROVEN
from tests.pages.conftest import Site
from tests.spills import a_report


async def held(site: Site, **said: Any) -> str:
    return await site.home.report(a_report(**said), staff=False, by_way_of="web", doubts=(TRAP, UNPROVEN))


async def test_the_board_names_what_waits_apart_from_real_reports(site: Site) -> None:
    staff = await site.staff()
    assert "looks automatic" not in (await staff.get("/staff")).text
    reference = await held(site)
    page = await staff.get("/staff")
    assert "1 report looks automatic and waits for a person to say whether it is real." in page.text
    assert reference not in page.text
    assert reference in (await staff.get(f"/staff?q={reference}")).text


async def test_staff_see_why_and_what_and_judge_many_at_once(site: Site) -> None:
    real, *spam = [await held(site, description=text) for text in ("Brown water in the creek", "Buy <b>now</b>", "Buy more", "")]
    staff = await site.staff()
    page = await staff.get("/staff/held")
    for words in ("4 reports wait", "Brown water in the creek", "Buy <b>now</b>", "(no description)", TRAP, "13220 Central Ave"):
        assert words in page.text
    page = await staff.send(page, "/staff/held", "Real: start the clocks", report=[real])
    assert "Their clocks run" in page.text
    page = await staff.send(page, "/staff/held", "Not a spill: close", report=spam)
    assert "They are closed." in page.text
    assert "No report waits to be judged." in page.text
    assert (await site.home.spill(real)).city == "chino"
    assert await site.home.clocks(real)
    for reference in spam:
        assert await site.home.clocks(reference) == []
        closed = await site.visitor().get(await site.link("status", reference))
        assert "This looked like an automatic message" in closed.text


async def test_the_story_of_a_held_report_says_why_and_what_came_of_it(site: Site) -> None:
    reference = await held(site)
    staff = await site.staff()
    page = await staff.get(f"/staff/spills/{reference}")
    assert "It looks automatic: nobody was alerted" in page.text
    await staff.send(await staff.get("/staff/held"), "/staff/held", "Real: start the clocks", report=[reference])
    assert "It was put to the law after all: a person says that it is real." in (await staff.get(f"/staff/spills/{reference}")).text


async def test_what_somebody_judged_meanwhile_stays_as_they_said(site: Site) -> None:
    first, second = await held(site), await held(site)
    staff = await site.staff()
    page = await staff.get("/staff/held")
    await staff.send(page, "/staff/held", "Not a spill: close", report=[first])
    await staff.send(page, "/staff/held", "Real: start the clocks", report=[first, second])
    assert await site.home.clocks(first) == []
    assert await site.home.clocks(second)


async def test_a_viewer_sees_the_list_and_judges_nothing(site: Site) -> None:
    reference = await held(site)
    viewer = await site.staff("viewer")
    page = await viewer.get("/staff/held")
    assert reference in page.text
    assert [button.text for form in page.forms("/staff/held") for button in form.all("button")] == []
    assert (await viewer.http.post("/staff/held", data={"do": "none", "report": reference})).status_code == 403


async def test_nobody_else_sees_the_list_and_odd_input_does_nothing(site: Site) -> None:
    reference = await held(site)
    assert (await site.visitor().http.get("/staff/held")).status_code in (303, 401)
    staff = await site.staff()
    for fields in ({"do": "real"}, {"report": reference}, {"do": "x", "report": reference}, {"do": "real", "report": "SP-1999-99999\x00"}):
        assert (await staff.http.post("/staff/held", data=fields)).status_code == 303
    assert await site.home.clocks(reference) == []
