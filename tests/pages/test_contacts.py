"""Who fills the roles of a city, on the web: added, changed, removed and brought back, by its managers."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import select

from service import former_contacts, parties, staff_log
from service.access import Staff
from service.administration_tables import FormerContact
from service.tables import Contact
from service.transaction import House, reading, transaction
from service.worker import Worker, working
from tests.pages.conftest import Site
from tests.service.test_staff_log import seen_by

HERE = "/staff/contacts/chino"
KIM = {"name": "Kim Vu", "role": "duty_officer", "email": "kim@chino.example", "phone": "(909) 555-0142", "voice": "yes", "language": "es"}


async def people(site: Site, city: str = "chino") -> dict[str, Contact]:
    async with reading(site.home.house) as tx:
        return {one.name: one for one in await parties.contacts(tx) if one.city == city}


async def test_a_contact_is_added_changed_and_removed_and_each_is_in_the_log(site: Site) -> None:
    max_ = await site.staff("manager")
    assert "They are entered" in (await max_.post(HERE, {**KIM, "quiet": "22:00-06:00"})).text
    kim = (await people(site))["Kim Vu"]
    assert (kim.phone, kim.voice, kim.language, kim.quiet_from) == ("+19095550142", True, "es", "22:00")
    changed = await max_.post(f"{HERE}/{kim.id}", {**KIM, "email": "desk@chino.example", "quiet": ""})
    assert "before email kim@chino.example" in changed.text
    assert "after email desk@chino.example" in changed.text
    kim = (await people(site))["Kim Vu"]
    assert (kim.email, kim.quiet_from) == ("desk@chino.example", "")
    assert "They are taken out" in (await max_.post(f"{HERE}/{kim.id}/remove", {})).text
    assert "Kim Vu" not in await people(site)
    root = Staff("root@chino.example", "administrator", None)
    kinds = [kind for kind, actor, city in await seen_by(site.home, root) if (actor, city) == ("manager@chino.example", "chino")]
    assert kinds == ["contact:added", "contact:changed", "contact:removed"]


async def test_faults_are_those_of_the_command_and_what_was_typed_stays(site: Site) -> None:
    max_ = await site.staff("manager")
    page = await max_.post(HERE, {**KIM, "email": "kim", "phone": "12", "webhook": "http://10.0.0.1/x", "quiet": "late"})
    assert page.status == 422
    for fault in ("email:", "phone: '12' is not a telephone number", "webhook:", "quiet: 'late' is no span of a day"):
        assert fault in page.text
    assert "--" not in page.text
    assert "Kim Vu" in [field["value"] for field in page.root.all("input")]
    assert "Kim Vu" not in await people(site)


async def test_nobody_is_left_out_of_reach_unless_it_is_confirmed(site: Site) -> None:
    max_ = await site.staff("manager")
    grace = (await people(site))["Grace Lindqvist"]
    page = await max_.post(f"{HERE}/{grace.id}/remove", {})
    assert page.status == 409
    assert "Nobody fills the role director; its rungs reach nobody." in page.text
    assert "Grace Lindqvist" in await people(site)
    await max_.send(page, f"{HERE}/{grace.id}/remove", confirmed="yes")
    assert "Grace Lindqvist" not in await people(site)


async def test_a_change_that_takes_the_last_way_to_a_role_is_asked_about_and_keeps_what_was_typed(site: Site) -> None:
    max_ = await site.staff("manager")
    grace = (await people(site))["Grace Lindqvist"]
    moved = {"name": "Grace L.", "role": "supervisor", "email": grace.email, "phone": grace.phone, "language": "en"}
    page = await max_.post(f"{HERE}/{grace.id}", moved)
    assert page.status == 409
    assert (await people(site))["Grace Lindqvist"].role == "director"
    await max_.send(page, page.forms(f"{HERE}/{grace.id}")[0])
    assert (await people(site))["Grace L."].role == "supervisor"


async def undo_of(site: Site, kind: str) -> str:
    async with reading(site.home.house) as tx:
        [(action, _)] = await staff_log.actions(tx, cities=["chino"], accounts=(), kind=kind, most=1)
        return f"{HERE}/undo/{action.id}"


async def test_a_removed_contact_comes_back_and_a_changed_one_gets_its_former_values(site: Site) -> None:
    max_ = await site.staff("manager")
    async with transaction(site.home.house, "test") as tx:
        await parties.add_contact(
            tx, "chino", "duty_officer", "Kim Vu", "kim@chino.example", "", webhook="https://hooks.chino.example/t0ken"
        )
    kim = (await people(site))["Kim Vu"]
    await max_.post(f"{HERE}/{kim.id}/remove", {})
    page = await max_.get(HERE)
    assert "https://hooks.chino.example/..." in page.text
    assert "t0ken" not in page.text
    assert "It is undone." in (await max_.post(await undo_of(site, "contact:removed"), {})).text
    kim = (await people(site))["Kim Vu"]
    assert (kim.email, kim.webhook) == ("kim@chino.example", "https://hooks.chino.example/t0ken")
    await max_.post(f"{HERE}/{kim.id}", {"name": "Kim Wu", "role": kim.role, "email": kim.email, "webhook": kim.webhook})
    change = await undo_of(site, "contact:changed")
    assert "It is undone." in (await max_.post(change, {})).text
    assert "Kim Wu" not in await people(site)
    assert (await max_.post(change, {})).status == 404  # once
    again = await undo_of(site, "contact:changed")  # an undoing is a change, and can be undone
    assert again != change
    await max_.post(again, {})
    assert "Kim Wu" in await people(site)


async def test_what_changed_again_since_is_not_undone(site: Site) -> None:
    max_ = await site.staff("manager")
    await max_.post(HERE, KIM)
    kim = (await people(site))["Kim Vu"]
    await max_.post(f"{HERE}/{kim.id}", {**KIM, "name": "Kim Wu"})
    first = await undo_of(site, "contact:changed")
    await max_.post(f"{HERE}/{kim.id}", {**KIM, "name": "Kim Du"})
    page = await max_.post(first, {})
    assert page.status == 409
    assert "name of Kim Du changed again since; right would be: undo the later change first" in page.text
    assert "Kim Du" in await people(site)


async def test_after_ninety_days_what_somebody_was_is_kept_no_longer(site: Site) -> None:
    max_ = await site.staff("manager")
    await max_.post(HERE, KIM)
    await max_.post(f"{HERE}/{(await people(site))['Kim Vu'].id}/remove", {})
    removed = await undo_of(site, "contact:removed")
    site.home.clock.jump(days=89)
    max_ = await site.staff("manager", None)
    await max_.post(HERE, {**KIM, "name": "Lou"})
    await max_.post(f"{HERE}/{(await people(site))['Lou'].id}/remove", {})
    site.home.clock.jump(days=2)
    assert (await (await site.staff("administrator")).post(removed, {})).status == 404
    assert await former_contacts.sweep(site.home.house) == 1
    async with reading(site.home.house) as tx:
        kept = (await tx.session.execute(select(FormerContact))).scalars().all()
    assert [row.before["name"] for row in kept] == ["Lou"]


async def test_a_running_worker_forgets_by_itself_what_can_be_undone_no_more(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    swept, sweep = asyncio.Queue[int](), former_contacts.sweep

    async def told(house: House) -> int:
        swept.put_nowait(await sweep(house))
        return 0

    monkeypatch.setattr(former_contacts, "sweep", told)
    max_ = await site.staff("manager")
    await max_.post(HERE, KIM)
    await max_.post(f"{HERE}/{(await people(site))['Kim Vu'].id}/remove", {})
    site.home.clock.jump(days=91)
    async with working(Worker(site.home.house, site.home.channels)):
        assert await asyncio.wait_for(swept.get(), 10) == 1


async def test_another_city_and_an_officer_are_kept_out(site: Site) -> None:
    grace = (await people(site))["Grace Lindqvist"]
    elsewhere = await site.staff("manager", "ontario")
    assert (await elsewhere.get(HERE)).status == 404
    assert (await elsewhere.post(f"/staff/contacts/ontario/{grace.id}/remove", {"confirmed": "yes"})).status == 404
    officer = await site.staff("officer")
    assert (await officer.get(HERE)).status == 403
    assert (await officer.post(HERE, KIM)).status == 403
    assert "Kim Vu" not in await people(site)
