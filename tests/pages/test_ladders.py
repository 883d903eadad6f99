"""The ladders of a city with the people of today, for its managers: who is told when and how, and what reaches nobody."""

from __future__ import annotations

from datetime import timedelta

from service import parties, rotas, switches
from service.suppressions import suppress
from service.transaction import transaction
from tests.pages.conftest import Site
from tests.pages.markup import Element, Page

HERE = "/staff/ladders/chino"
CALL = "Call the city's public works director now"


def ladder(page: Page, title: str) -> list[tuple[str, str]]:
    """The rungs of the ladder under a heading: when, and whom."""
    [section] = [part for part in page.root.all("section") if any(head.text.startswith(title) for head in part.all("h2"))]
    rows = [(list(row.all("th")), list(row.all("td"))) for row in section.all("tr")]
    return [(heads[0].text, cells[0].text) for heads, cells in rows if cells]


def warnings(page: Page, of: str = "gaps") -> list[str]:
    found: list[Element] = [part for part in page.root.all("section") if part.attributes.get("aria-labelledby") == of]
    return [line.text for part in found for line in part.all("li")]


async def test_each_rung_says_when_it_is_climbed_whom_it_tells_now_and_how(site: Site) -> None:
    page = await (await site.staff("manager")).get(HERE)
    rungs = ladder(page, CALL)
    assert [when for when, _ in rungs] == [
        "At the start", "5 minutes after the start", "When it is due", "15 minutes overdue",
        "45 minutes overdue, then again after 30 minutes, 8 times in all",
    ]  # fmt: skip
    assert rungs[0][1] == "Duty officer: Omar Reyes (SMS, e-mail) Discharger: Dana Cruz (city sewer crew) (SMS, e-mail)"
    assert rungs[1][1] == "Supervisor: Sofia Tran (SMS, e-mail) Left out where somebody has seen the one before."
    assert warnings(page) == []
    assert "Every rung reaches somebody" in page.text
    assert "In the packs chino as now , california as now , federal as now" in page.text


async def test_a_rung_that_reaches_nobody_is_said_at_the_top_at_its_ladder_and_at_itself(site: Site) -> None:
    async with transaction(site.home.house, "test") as tx:
        for contact in await parties.contacts(tx):
            if contact.role == "supervisor":
                await parties.remove_contact(tx, contact.id or 0)
    page = await (await site.staff("manager")).get(HERE)
    assert "Nobody fills the role supervisor; its rungs reach nobody." in warnings(page)
    rungs = ladder(page, CALL)
    assert rungs[1][1].startswith("Reaches nobody It tells by SMS, e-mail. Supervisor: Nobody")
    assert rungs[3][1] == "Supervisor: Nobody Director: Grace Lindqvist (SMS, e-mail)"
    assert next(head.text for head in page.root.all("h2") if CALL in head.text).endswith("A rung reaches nobody")
    assert "Every rung reaches somebody" not in page.text


async def test_an_address_that_takes_nothing_reaches_nobody(site: Site) -> None:
    async with transaction(site.home.house, "test") as tx:
        await suppress(tx, "sms", "+19095550102", "bounced", "30005: unknown number")
        await suppress(tx, "sms", "+19095550101", "bounced", "30005: unknown number")
    page = await (await site.staff("manager")).get(HERE)
    rungs = ladder(page, CALL)
    assert "Duty officer: Omar Reyes (e-mail)" in rungs[0][1]
    assert rungs[4][1].startswith("Reaches nobody It tells by SMS. Duty officer: Omar Reyes Has no such address")
    assert any("Omar Reyes (duty officer) gets no text messages" in line for line in warnings(page, "dead"))


async def test_whose_turn_it_is_is_told_and_quiet_hours_stand_where_an_alert_may_wait(site: Site) -> None:
    async with transaction(site.home.house, "test") as tx:
        kim = await parties.add_contact(
            tx, "chino", "duty_officer", "Kim", "kim@chino.example", "+19095550142", voice=True, quiet="22:00-06:00"
        )
        [omar] = [one for one in await parties.contacts(tx) if one.name == "Omar Reyes"]
        today = tx.now.date() - timedelta(days=1)
        await rotas.add_rota(tx, rotas.NewRota("chino", "duty_officer", "Desk", [kim.id or 0, omar.id or 0], today))
    page = await (await site.staff("manager")).get(HERE)
    assert "Duty officer Kim (SMS, e-mail, call) (quiet 22:00 to 06:00)" in page.text
    rungs = dict(ladder(page, "Send the regional water board the written spill report"))
    assert rungs["2 days before it is due"].startswith("Duty officer: Kim (e-mail) (quiet 22:00 to 06:00)")
    assert rungs["14 hours before it is due"].startswith("Duty officer: Kim (SMS, e-mail) Discharger:")
    assert "Omar" not in " ".join(rungs.values())


async def test_a_duty_that_is_switched_off_says_so_at_its_ladder(site: Site) -> None:
    assert "Switched off" not in (await (await site.staff("manager")).get(HERE)).text
    async with transaction(site.home.house, "test") as tx:
        await switches.switch_off(tx, "chino", "chino/rwqcb-2-hours", "by letter of the board")
    page = await (await site.staff("administrator")).get(HERE)
    assert "Tell the regional water board within two hours (2 hours) Switched off" in page.text


async def test_it_is_for_managers_of_the_city_and_administrators_find_it(site: Site) -> None:
    assert (await (await site.staff("officer")).get(HERE)).status == 403
    assert (await (await site.staff("manager", "ontario")).get(HERE)).status == 404
    links = (await (await site.staff("administrator")).get("/staff/settings")).root.all("a")
    assert HERE in {link["href"] for link in links}
    everywhere = await (await site.staff("manager", None)).get("/staff/ladders")
    assert {"/staff/ladders/chino", "/staff/ladders/ontario"} <= {link["href"] for link in everywhere.root.all("a")}
