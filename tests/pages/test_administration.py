"""Administration: how a city is set up, the settings check, and a test message to oneself."""

from __future__ import annotations

from dataclasses import replace

from service import api_keys, city_texts, parties, settings_check
from service.access import Staff
from service.transaction import transaction
from service.wording import ours
from tests.pages.conftest import Site
from tests.service.test_staff_log import seen_by

ADMINISTRATOR = "administrator@chino.example"
SECRETS = {
    "deadman_url": "https://alive.example/ping/hush-hush-1", "mail_hook_secret": "hush-hush-2-and-long-enough",
    "metrics_token": "hush-hush-3-and-long-enough",
}  # fmt: skip


async def test_one_page_says_how_each_city_of_an_administrator_is_set_up(site: Site) -> None:
    async with transaction(site.home.house, "test") as tx:
        for contact in await parties.contacts(tx):
            if contact.role == "director":
                await parties.remove_contact(tx, contact.id or 0)
    ruth = await site.staff("administrator")
    async with transaction(site.home.house, "test") as tx:
        mine = Staff(ADMINISTRATOR, "administrator", "chino")
        await api_keys.make(tx, mine, "Flow meter", ["report"], "chino", 30)
        await api_keys.make(tx, mine, "Long one", ["report"], "chino", 90)
    page = await ruth.get("/staff/settings")
    assert [head.text for head in page.root.all("h2")][4:] == ["City of Chino, California"]
    assert "Nobody fills director." in page.text
    assert "1 person; told now: Omar Reyes" in page.text
    assert f"2 in use. End within 30 days: Flow meter ({ADMINISTRATOR})" in page.text
    assert "Long one" not in page.text
    assert "None of its own" in page.text
    assert {
        "/staff/calendars/chino",
        "/staff/on-call/chino",
        "/staff/templates/chino",
        "/law/chino",
        "/staff/contacts/chino",
        "/staff/ladders/chino",
        "/staff/subscriptions",
        "/staff/users",
        "/staff/packs",
        "/staff/settings/check",
    } <= {link["href"] for link in page.root.all("a")}


async def test_texts_of_a_city_are_counted(site: Site) -> None:
    slot = city_texts.Slot("triage", "email", "en")
    template = ours("triage", "email", slot.speech)
    async with transaction(site.home.house, "test") as tx:
        await city_texts.save_text(tx, "chino", slot, template.subject, template.text, "test")
    assert "1 of its own" in (await (await site.staff("administrator")).get("/staff/settings")).text


async def test_the_settings_check_on_the_page_is_what_doctor_says(site: Site) -> None:
    async with transaction(site.home.house, "test") as tx:
        for contact in await parties.contacts(tx):
            if contact.role in ("director", "supervisor"):
                await parties.remove_contact(tx, contact.id or 0)
    lines = await settings_check.examine(site.home.house)
    page = await (await site.staff("administrator", None)).get("/staff/settings/check")
    shown = [item.text for listed in page.root.all("ul") if listed.attributes.get("class") == "findings" for item in listed.all("li")]
    words = {"ok": "OK", "note": "Note", "WARN": "Warning", "WRONG": "Wrong"}
    assert shown == [f"{words[line[:7].strip()]} {line[7:]}" for line in lines]
    assert "Wrong chino: nobody fills the role director; its rungs reach nobody" in shown


async def test_an_administrator_of_one_city_reads_nothing_about_another(site: Site) -> None:
    async with transaction(site.home.house, "test") as tx:
        await parties.add_contact(tx, "ontario", "duty_officer", "Kim", "kim@ontario.example", "")
    whole = await (await site.staff("administrator", None)).get("/staff/settings/check")
    own = await (await site.staff("administrator", "chino")).get("/staff/settings/check")
    assert "ontario: nobody fills the role director" in whole.text
    assert "ontario" not in own.text
    assert "chino: its calendar covers" in own.text


async def test_the_settings_check_shows_no_secret(site: Site) -> None:
    home = site.home
    changed = home.house.settings.model_copy(update={name: type(home.house.settings.deadman_url)(value) for name, value in SECRETS.items()})
    lines = await settings_check.examine(home.with_house(settings=changed).house)
    assert any("dead-man signal" in line for line in lines)
    assert "hush-hush" not in "\n".join(lines)


async def test_a_test_message_goes_to_whoever_asks_for_it_and_is_noted(site: Site) -> None:
    ruth = await site.staff("administrator")
    before = len(site.home.outbox())
    done = await ruth.post("/staff/settings/test", {})
    assert "The test message is handed over." in done.text
    assert "accepted" in done.text
    assert done.status == 200
    [message] = site.home.outbox()[before:]
    assert (message["to"], message["subject"]) == (ADMINISTRATOR, "Test message of Spillclock")
    root = Staff("root@chino.example", "administrator", None)
    assert (await seen_by(site.home, root))[-1] == ("test:sent", ADMINISTRATOR, None)


async def test_where_mail_is_set_wrongly_the_page_says_what_is_wrong(site: Site) -> None:
    smtp = type(site.home.house.settings.smtp_url)("smtp://mail.example.gov")
    changed = site.home.house.settings.model_copy(update={"smtp_url": smtp, "mail_from": ""})
    site.app.app.state.house = replace(site.home.house, settings=changed)  # type: ignore[attr-defined]
    done = await (await site.staff("administrator")).post("/staff/settings/test", {})
    assert done.status == 200
    assert "The test message did not go out." in done.text
    assert "refused; SPILLCLOCK_MAIL_FROM: missing; right would be: spills@example.gov" in done.text


async def test_nobody_sends_many_test_messages(site: Site) -> None:
    limited = site.home.house.settings.model_copy(update={"limit_factor": 1})
    site.app.app.state.house = replace(site.home.house, settings=limited)  # type: ignore[attr-defined]
    ruth = await site.staff("administrator")
    answers = [(await ruth.http.post("/staff/settings/test", follow_redirects=False)).status_code for _ in range(6)]
    assert answers == [303] * 5 + [429]


async def test_who_administers_nothing_is_turned_away(site: Site) -> None:
    manager = await site.staff("manager")
    assert (await manager.get("/staff/settings")).status == 403
    before = len(site.home.outbox())
    assert (await manager.post("/staff/settings/test", {})).status == 403
    assert len(site.home.outbox()) == before
