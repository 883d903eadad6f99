"""How long records are kept, on pages, by API and by command: what is listed, holds, destruction after a look, and the certificate."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from service import cli
from service.closing import close
from service.events import RecordDestroyed
from service.staff_log import actions
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.pages.conftest import Site
from tests.spills import NOWHERE_NEAR, a_report

OLD = {"location": NOWHERE_NEAR, "description": "a teal wheelbarrow", "contact": {"name": "Quillon Vane", "email": "q@vane.example"}}


async def an_old_one(home: Household, years: float = 6) -> str:
    """A report of no city that was closed years ago, so that no law was ever over it."""
    home.clock.jump(days=-365 * years)
    reference = await home.report(a_report(**OLD))
    async with transaction(home.house, "manager@chino.example") as tx:
        await close(tx, await tx.spill(reference), {"en": "It had dried up."}, "manager")
    home.clock.jump(days=365 * years)
    return reference


async def test_an_administrator_looks_at_what_would_go_says_why_and_gets_a_certificate(site: Site) -> None:
    reference = await an_old_one(site.home)
    ruth = await site.staff("administrator")
    assert "Past their time (1)" in (await ruth.get("/staff/retention")).text
    page = await ruth.get(f"/staff/spills/{reference}/retention")
    assert "Nothing keeps it any more" in page.text
    assert "Sealed parts of events: names, addresses, free words" in page.text
    for form in ({"reason": "schedule of May"}, {"seen": "yes"}):
        answer = await ruth.http.post(f"/staff/spills/{reference}/destroy", data=form)
        assert answer.status_code == 422, form
    assert await site.home.events(reference, RecordDestroyed) == []
    answer = await ruth.http.post(f"/staff/spills/{reference}/destroy", data={"reason": "schedule of May", "seen": "yes"})
    assert answer.headers["location"] == f"/staff/spills/{reference}/certificate"
    certificate = (await ruth.get(answer.headers["location"])).text
    for part in (reference, "administrator@chino.example", "schedule of May", "event ", "Texts and addresses of messages"):
        assert part in certificate, part
    assert "The record was destroyed" in (await ruth.get(f"/staff/spills/{reference}")).text
    async with reading(site.home.house) as tx:
        [(noted, _)] = await actions(tx, cities=None, accounts=(), kind="record:destroyed")
    assert (noted.actor, noted.said["spill"]) == ("administrator@chino.example", reference)


async def test_a_hold_keeps_a_record_until_an_administrator_lifts_it(site: Site) -> None:
    reference = await an_old_one(site.home)
    manager, ruth = await site.staff("manager"), await site.staff("administrator")
    mine = f"/staff/spills/{reference}"
    assert (await manager.http.post(f"{mine}/holds", data={"reason": " "})).status_code == 422
    assert (await manager.http.post(f"{mine}/holds", data={"reason": "Vann v. City"})).status_code == 303
    page = await manager.get(f"{mine}/retention")
    assert "Vann v. City" in page.text
    assert "Lift this hold" not in page.text
    assert "Under a legal hold (1)" in (await ruth.get("/staff/retention")).text
    answer = await ruth.http.post(f"{mine}/destroy", data={"reason": "schedule of May", "seen": "yes"})
    assert answer.status_code == 409
    assert "legal hold by manager@chino.example" in answer.text
    assert (await manager.http.post(f"{mine}/holds/1/lift", data={"reason": "settled"})).status_code == 403
    assert (await ruth.http.post(f"{mine}/holds/1/lift", data={"reason": "settled"})).status_code == 303
    assert "Past their time (1)" in (await ruth.get("/staff/retention")).text


async def test_a_program_is_told_what_would_go_before_it_says_that_it_shall(site: Site) -> None:
    home = site.home
    reference = await an_old_one(home)
    program = home.client(await home.token("administrator", "chino", "program@chino.example"))
    [listed] = (await program.get("/api/v1/retention")).json()["items"]
    assert (listed["reference"], listed["legal_hold"], listed["keepers"][0]["why"]) == (reference, False, "policy")
    place = f"/api/v1/spills/{reference}"
    dry = (await program.post(f"{place}/destruction", json={"reason": "schedule of May"})).json()
    assert (dry["destroyed"], dry["kept_by"]) == (False, [])
    assert await home.events(reference, RecordDestroyed) == []
    done = (await program.post(f"{place}/destruction", json={"reason": "schedule of May", "confirm": True})).json()
    assert (done["destroyed"], done["reports"]) == (True, dry["reports"])
    told = (await program.get(f"{place}/retention")).json()
    assert told["destroyed_at"] == "2026-12-01T22:05:00Z"
    assert (await program.post(f"{place}/holds", json={"reason": "too late"})).status_code == 409


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command over a house with an old record and a new one: returns exit code and lines."""

    async def live() -> None:
        async with a_household(tmp_path, database_url="", secret_key="") as home:
            await an_old_one(home, years=9)
            await home.report(a_report())

    asyncio.run(live())
    monkeypatch.setenv("SPILLCLOCK_HOME_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, list[str]]:
        code = cli.main(list(arguments))
        said = capsys.readouterr()
        return code, (said.out + said.err).splitlines()

    return run


def test_the_command_lists_holds_releases_and_destroys_only_when_told_twice(command: Any) -> None:
    code, [line] = command("retention", "list")
    reference = line.partition("\t")[0]
    assert (code, "\tpast its time until " in line) == (0, True)
    assert command("retention", "hold", reference, "Vann v. City")[0] == 0
    assert command("retention", "destroy", reference, "--reason", "schedule of May", "--yes")[0] != 0
    assert command("retention", "release", reference, "1", "settled")[0] == 0
    code, lines = command("retention", "destroy", reference, "--reason", "schedule of May")
    assert (code, lines[-1].startswith("nothing was changed")) == (0, True)
    code, again = command("retention", "destroy", reference, "--reason", "schedule of May", "--yes")
    assert (code, again[:-1]) == (0, lines[:-1])
    assert command("retention", "list")[1] == ["no record is past its time within 90 days, and no hold is on any"]
    code, lines = command("audit", "verify")
    assert code == 0, lines
    code, lines = command("retention", "destroy", "SP-2026-00002", "--reason", "too soon")
    assert (code, lines[-1]) == (0, "it cannot be destroyed yet")
    assert command("retention", "hold", "SP-2026-09999", "why")[0] != 0
