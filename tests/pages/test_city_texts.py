"""The texts of a city's messages in the console: a form for each, with a preview, faults at their fields, and the way back to ours."""

from __future__ import annotations

import pytest

from tests.pages.conftest import Site

PAGE = "/staff/templates/chino/alert/sms/en"
MINE = "CHINO {reference}: {title} by {due}. {link}"


async def test_a_manager_writes_a_text_sees_it_keeps_it_and_goes_back(site: Site) -> None:
    manager = await site.staff("manager")
    page = await manager.get("/staff/templates")
    assert page.one("kind-alert").text == "Alert"
    page = await manager.get(PAGE)
    assert "Our text counts" in page.text
    assert "2 segments, GSM-7" in page.text
    tried = await manager.send(page, PAGE, "preview", text=MINE)
    assert tried.status == 200
    assert "Preview, not kept yet" in tried.text
    assert "CHINO SP-2026-00042: Call the regional water board within two hours by" in tried.text
    assert "Our text counts" in (await manager.get(PAGE)).text
    kept = await manager.send(tried, PAGE, "save", text=MINE)
    assert "Kept." in kept.text
    assert "Your own text counts, version 1" in kept.text
    assert "your own" in (await manager.get("/staff/templates/chino")).text
    gone = await manager.send(kept, f"{PAGE}/withdraw")
    assert "Our text counts" in gone.text
    assert "Version 1, by manager@chino.example; withdrawn" in gone.text


async def test_a_former_version_is_used_again_by_one_press(site: Site) -> None:
    manager = await site.staff("manager")
    page = await manager.get(PAGE)
    for text in (MINE, f"NEW {MINE}"):
        page = await manager.send(page, PAGE, "save", text=text)
    assert "version 2" in page.text
    [again] = [form for form in page.root.all("form") if "Use version 1 again" in form.text]
    kept = await manager.send(page, again, "save")
    assert "Your own text counts, version 3" in kept.text
    assert kept.one("text").text.strip() == MINE


@pytest.mark.parametrize("act", ["preview", "save"])
async def test_a_fault_is_shown_at_its_field_and_nothing_typed_is_lost(site: Site, act: str) -> None:
    manager = await site.staff("manager")
    address = "/staff/templates/chino/alert/email/es"
    page = await manager.send(await manager.get(address), address, act, subject="{title", text="<b>{nonsense}</b> {due}")
    assert page.status == 422
    assert "a brace without its other one" in page.one("subject-faults").text
    assert "{nonsense} is unknown" in page.one("text-faults").text
    assert "{link} is missing" in page.one("text-faults").text
    assert page.one("text").text.strip() == "<b>{nonsense}</b> {due}"
    assert page.one("subject")["value"] == "{title"


@pytest.mark.parametrize("kind", ["alert", "changed", "bundle", "triage", "advisory", "all_clear", "digest", "confirm"])
@pytest.mark.parametrize("channel", ["email", "sms"])
async def test_every_text_has_its_page(site: Site, kind: str, channel: str) -> None:
    manager = await site.staff("manager")
    for language in ("en", "es"):
        page = await manager.get(f"/staff/templates/chino/{kind}/{channel}/{language}")
        assert page.status == 200
        assert "(needed)" in page.text


async def test_others_may_read_their_citys_texts_and_no_other(site: Site) -> None:
    officer = await site.staff("officer")
    page = await officer.get(PAGE)
    assert "A manager of the city changes texts." in page.text
    assert page.forms(PAGE) == []
    assert (await officer.post(PAGE, {"text": MINE, "act": "save"})).status == 403
    assert (await officer.get("/staff/templates/ontario")).status == 404
    assert (await officer.get("/staff/templates/chino/gossip/sms/en")).status == 404
    everybody = await site.staff("viewer", None)
    assert "City of Ontario" in (await everybody.get("/staff/templates")).text


async def test_whoever_is_not_signed_in_is_led_there_and_back(site: Site) -> None:
    page = await site.visitor().get(PAGE)
    assert page.response.url.params["next"] == PAGE
