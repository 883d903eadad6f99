"""Rotas by API, page and command: entered, overridden, ended, and what they warn of."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from notifiers.webhook import webhook_secret
from service import cli, rotas
from service.access import SESSION_LASTS, add_account, issue
from service.parties import add_contact, contacts
from service.tables import Contact
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.service.small_law import small_law
from tests.spills import a_report


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    """Two officers of whom one has no telephone, a supervisor and a director."""
    people = [
        Contact(city="chino", role="duty_officer", name="Ann", email="ann@chino.example", phone="+19095550102"),
        Contact(city="chino", role="duty_officer", name="Bob", email="bob@chino.example"),
        Contact(city="chino", role="discharger", name="Crew", email="crew@chino.example", phone="+19095550101"),
        Contact(city="chino", role="supervisor", name="Sue", email="sue@chino.example", phone="+19095550103"),
        Contact(city="chino", role="director", name="Dee", email="dee@chino.example", phone="+19095550104"),
    ]
    async with a_household(tmp_path, law=small_law(), people=people) as household:
        yield household


async def numbers(home: Household) -> dict[str, int]:
    async with reading(home.house) as tx:
        return {contact.name: contact.id or 0 for contact in await contacts(tx)}


async def manager(home: Household, role: str = "manager", city: str | None = "chino") -> httpx.AsyncClient:
    return home.client(await home.token(role, city))


def rota(who: dict[str, int], **more: Any) -> dict[str, Any]:
    return {"city": "chino", "role": "duty_officer", "name": "Desk", "members": [who["Ann"], who["Bob"]], "starts_on": "2026-11-30", **more}


UNREACHED = "the rungs due+1h (duty_officer, by sms) of chino/two-hours reach nobody from Mon Dec 7, 8:00 AM PST"


# -- the API


async def test_a_manager_enters_a_rota_and_is_warned_of_rungs_that_reach_nobody(home: Household) -> None:
    who, web = await numbers(home), await manager(home)
    answer = await web.post("/api/v1/rotas", json=rota(who))
    assert answer.status_code == 201
    body = answer.json()
    assert [one["name"] for one in body["rota"]["members"]] == ["Ann", "Bob"]
    spans = [(span["starts_at"], [one["name"] for one in span["people"]]) for span in body["rota"]["on_call"]]
    assert spans[:2] == [("2026-12-01T22:05:00Z", ["Ann"]), ("2026-12-07T16:00:00Z", ["Bob"])]
    assert body["warnings"] == [UNREACHED]
    listed = (await web.get("/api/v1/rotas?city=chino")).json()
    assert [one["name"] for one in listed["rotas"]] == ["Desk"]
    assert listed["warnings"] == [f"chino: {UNREACHED}"]


async def test_an_override_a_holiday_and_an_end_are_entered_and_taken_out(home: Household) -> None:
    who, web = await numbers(home), await manager(home)
    number = (await web.post("/api/v1/rotas", json=rota(who))).json()["rota"]["number"]
    shift = {"contact": who["Bob"], "starts_at": "2026-12-02T00:00:00-08:00", "ends_at": "2026-12-03T00:00:00-08:00", "reason": "swap"}
    entered = (await web.post(f"/api/v1/rotas/{number}/shifts", json=shift)).json()
    assert [(one["contact"]["name"], one["kind"], one["reason"]) for one in entered["rota"]["shifts"]] == [("Bob", "override", "swap")]
    assert entered["warnings"] == [UNREACHED.replace("Mon Dec 7, 8:00 AM", "Wed Dec 2, 12:00 AM")]
    shifts = f"/api/v1/rotas/{number}/shifts"
    assert (await web.delete(f"{shifts}/{entered['rota']['shifts'][0]['number']}")).json()["rota"]["shifts"] == []
    away = await web.post(shifts, json={**shift, "kind": "holiday"})
    assert away.status_code == 201
    ended = (await web.delete(f"/api/v1/rotas/{number}")).json()
    assert ended == {"rota": None, "warnings": []}
    assert (await web.get("/api/v1/rotas")).json()["rotas"] == []


async def test_rotas_are_for_managers_of_the_city(home: Household) -> None:
    who = await numbers(home)
    for role, city, status in (("officer", "chino", 403), ("manager", None, 201)):
        web = await manager(home, role, city)
        assert (await web.post("/api/v1/rotas", json=rota(who))).status_code == status, (role, city)
    assert (await home.client().get("/api/v1/rotas")).status_code == 401
    assert (await (await manager(home, "administrator", None)).get("/api/v1/rotas?city=atlantis")).status_code == 404


async def test_a_rota_with_faults_is_answered_with_each_of_them(home: Household) -> None:
    who, web = await numbers(home), await manager(home)
    answer = await web.post("/api/v1/rotas", json=rota(who, members=[], turn_days=0, ics="http://169.254.169.254/x"))
    assert answer.status_code == 422
    assert {line.partition(":")[0] for line in answer.json()["errors"]} == {"turn_days", "ics"}
    shift = {"contact": who["Bob"], "starts_at": "2026-12-02T00:00:00", "ends_at": "2026-12-03T00:00:00"}
    number = (await web.post("/api/v1/rotas", json=rota(who))).json()["rota"]["number"]
    assert (await web.post(f"/api/v1/rotas/{number}/shifts", json=shift)).status_code == 422
    assert (await web.delete("/api/v1/rotas/99")).status_code == 404


# -- the page


async def signed_in(home: Household, role: str = "manager") -> httpx.AsyncClient:
    async with transaction(home.house, "test") as tx:
        session = await issue(tx, await add_account(tx, f"{role}@page.example", role, "chino"), "session", SESSION_LASTS)
    web = home.client()
    web.headers.update({"origin": "https://spills.example.gov", "accept": "text/html"})
    web.cookies.set("spillclock_session", session)
    return web


async def test_the_page_takes_a_rota_an_override_and_its_end_without_a_script(home: Household) -> None:
    who, web = await numbers(home), await signed_in(home)
    form = {"role": "duty_officer", "name": "Desk", "starts_on": "2026-11-30", "turn_days": "7", "handover": "08:00", "ics": "",
            f"turn.{who['Bob']}": "2", f"turn.{who['Ann']}": "1"}  # fmt: skip
    assert (await web.post("/staff/on-call/chino/rotas", data=form)).status_code == 303
    page = (await web.get("/staff/on-call/chino?done=rota")).text
    assert "Ann, then Bob: 7 days each, handed over at 08:00" in page
    assert UNREACHED[1:] in page
    assert re.search(r"<dt>Now</dt><dd><strong>Ann</strong>", page)
    override = {"contact": str(who["Bob"]), "kind": "override", "since": "2026-12-01T14:00", "until": "2026-12-02T08:00", "reason": "swap"}
    assert (await web.post("/staff/on-call/chino/rotas/1/shifts", data=override)).status_code == 303
    page = (await web.get("/staff/on-call/chino")).text
    assert re.search(r"<dt>Now</dt><dd><strong>Bob</strong>", page)
    assert (await web.post("/staff/on-call/chino/rotas/1/shifts/1/remove")).status_code == 303
    assert (await web.post("/staff/on-call/chino/rotas/1/end")).status_code == 303
    page = (await web.get("/staff/on-call/chino")).text
    assert re.search(r"<dt>Now</dt><dd><strong>Ann, Bob</strong>", page)
    assert "Rotas that were ended" in page
    assert (await web.post("/staff/on-call/chino/rotas/1/resume")).status_code == 303
    page = (await web.get("/staff/on-call/chino?done=resumed")).text
    assert re.search(r"<dt>Now</dt><dd><strong>Ann</strong>", page)
    assert "Rotas that were ended" not in page
    for number in ("1", "2", str(2**70)):  # one that counts, and some that never were
        assert (await web.post(f"/staff/on-call/chino/rotas/{number}/resume")).status_code == 404


async def test_a_form_with_a_fault_comes_back_as_it_was_typed(home: Household) -> None:
    who, web = await numbers(home), await signed_in(home)
    answer = await web.post("/staff/on-call/chino/rotas", data={"role": "duty_officer", "name": "Desk <b>", f"turn.{who['Ann']}": "1",
                                                                "turn_days": "0", "handover": "8"})  # fmt: skip
    assert answer.status_code == 422
    assert "turn_days: 0 is no number of days" in answer.text
    assert 'value="Desk &lt;b&gt;"' in answer.text


async def test_an_officer_sees_who_is_on_call_and_changes_nothing(home: Household) -> None:
    web = await signed_in(home, "officer")
    page = await web.get("/staff/on-call/chino")
    assert page.status_code == 200
    assert "<form" not in page.text.partition("<main")[2]
    assert (await web.post("/staff/on-call/chino/rotas", data={"role": "duty_officer"})).status_code == 403
    assert (await web.get("/staff/on-call/ontario")).status_code == 404
    assert (await web.get("/staff/on-call")).headers["location"] == "/staff/on-call/chino"


async def test_a_spill_shows_whom_each_rung_will_tell_by_the_rota_of_its_moment(home: Household) -> None:
    who, web = await numbers(home), await signed_in(home)
    async with transaction(home.house, "test") as tx:
        number = (await rotas.add_rota(tx, rotas.NewRota("chino", "duty_officer", "Desk", [who["Ann"], who["Bob"]]))).id or 0
    async with transaction(home.house, "test") as tx:
        starts_at = home.clock.at.replace(hour=23, minute=59)
        await rotas.add_shift(tx, number, who["Bob"], starts_at, starts_at.replace(day=2))
    reference = await home.report(a_report())
    page = (await web.get(f"/staff/spills/{reference}")).text
    rungs = re.findall(r"duty officer \((\w+)\)", page)
    assert rungs[:2] == ["Ann", "Bob"]  # due-10m at 3:55, due at 4:05; Bob begins at 3:59


async def test_a_spill_names_nobody_whom_a_rung_cannot_reach(home: Household) -> None:
    web = await signed_in(home)
    hook = {"city": "chino", "role": "duty_officer", "name": "Hook", "webhook": "https://hooks.chino.example/spills"}
    async with transaction(home.house, "test") as tx:
        tx.session.add(Contact(**hook))
    reference = await home.report(a_report())
    page = (await web.get(f"/staff/spills/{reference}")).text
    assert "duty officer (Ann, Bob)" in page
    assert "Bob, Hook" not in page
    await home.people(Contact(**hook))
    page = (await web.get(f"/staff/spills/{reference}")).text
    assert "duty officer (nobody has an address for this)" in page
    assert "supervisor (nobody fills this role)" in page


async def test_managers_see_what_webhooks_sign_with_and_officers_do_not(home: Household) -> None:
    async with transaction(home.house, "test") as tx:
        await add_contact(tx, "chino", "director", "Hook", "", "", webhook="https://hooks.chino.example/spills")
    secret = webhook_secret(home.house.signing_key, "https://hooks.chino.example/spills")
    for role, sees in (("manager", True), ("officer", False)):
        page = await (await signed_in(home, role)).get("/staff/on-call/chino")
        assert (secret in page.text) is sees
        assert page.headers["cache-control"] == "no-store"


# -- the command


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("SPILLCLOCK_HOME_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, list[str]]:
        code = cli.main(list(arguments))
        said = capsys.readouterr()
        return code, (said.out + said.err).splitlines()

    return run


def test_rotas_are_kept_by_command_with_warnings_and_removing_people_warns(commands: Any) -> None:
    for name, contact in (("Ann", ["--email", "ann@chino.example", "--phone", "9095550102"]), ("Bob", ["--email", "bob@chino.example"])):
        assert commands("contact", "add", "chino", "duty_officer", name, *contact)[0] == 0
    code, lines = commands("rota", "add", "chino", "duty_officer", "Desk", "--members", "2,1", "--turn-days", "1")
    assert (code, lines[0]) == (0, "rota 1 added: Desk for duty_officer of chino")
    assert all(line.startswith("WARNING: ") for line in lines[1:])
    code, lines = commands("rota", "override", "1", "2", "2099-12-24T08:00", "2099-12-26T08:00", "--reason", "swap")
    assert (code, lines[0]) == (0, "override 1: Bob is on call from Dec 24, 2099, 8:00 AM PST to Dec 26, 2099, 8:00 AM PST")
    code, lines = commands("rota", "list")
    assert lines[0].startswith("1\tchino\tduty_officer\tDesk\tBob, Ann\t1 days from ")
    assert "override 1\tBob on call" in lines[1]
    assert commands("contact", "quiet", "1", "22:00-06:00")[1][0] == "quiet hours of Ann: 22:00-06:00"
    assert commands("contact", "quiet", "1", "10pm")[0] == 2
    code, lines = commands("contact", "remove", "1")
    assert lines[0] == "contact 1 removed"
    assert any("duty_officer or discharger, by sms" in line and "reach nobody" in line for line in lines[1:])
    assert commands("contact", "remove", "2")[1][1] == "WARNING: nobody fills the role duty_officer; its rungs reach nobody"
    assert commands("rota", "remove", "1")[1][0] == "rota 1 ended"
    assert commands("rota", "remove", "1")[0] == 1
