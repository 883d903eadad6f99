"""A spill that was lived from its report to its end, and whose record was destroyed: nothing that was planted in it is left anywhere."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from notifiers import Channel, FileChannel
from service import access, wiring
from service.destruction import KINDS, certificate_of, destroy_record, would_go
from service.events import RecordDestroyed
from service.parties import example_contacts
from service.retention import kept_until
from service.transaction import House, reading, transaction
from service.worker import Worker
from tests.e2e.database_server import a_server
from tests.houses import Clock, Household, a_house
from tests.service.damage import walked
from tests.service.lived import PLANTED, Lived, live
from tests.service.planted import Output, Planted, only_digits, squeezed
from tests.service.test_spill_search import found

ADMINISTRATOR = "administrator@chino.example"
# Staff act in office, by the address of their account; contacts and subscribers are none of the record of a spill; a substance is a fact of
# the law (docs/decisions/0018 and 0023).
STAYS = {
    "author of the advisory", "who acknowledged", "duty officer", "duty officer's e-mail", "duty officer's phone", "substance",
    "subscriber's e-mail", "subscriber's phone",
}  # fmt: skip
HIDDEN = [one for one in PLANTED if one.what not in STAYS]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
async def home(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Household]:
    """A household on either database, under the law that ships."""
    given = {"database_url": request.getfixturevalue("server") if request.param == "postgresql" else ""}
    clock = Clock()
    house = a_house(tmp_path, clock, **given)
    channels: dict[str, Channel] = {name: FileChannel(house.settings.outbox_path, name) for name in ("email", "sms")}
    household = Household(house, clock, channels, Worker(house, channels, "test worker"))
    try:
        await wiring.migrate(house)
        await household.people(*example_contacts("chino"))
        yield household
    finally:
        await household.close()


async def everything_kept(house: House) -> dict[str, str]:
    """All that lies in tables and in files of the data folder, by where it lies."""
    found = {}
    async with house.engine.connect() as connection:
        tables = (
            "SELECT name FROM sqlite_master WHERE type = 'table'" if house.settings.is_embedded
            else "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        )  # fmt: skip
        for (name,) in (await connection.execute(text(tables))).all():
            rows = (await connection.execute(text(f'SELECT * FROM "{name}"'))).mappings().all()  # noqa: S608 - a name of ours
            found[f"table {name}"] = "\n".join(json.dumps(dict(row), default=str, ensure_ascii=False) for row in rows)
    for path in house.settings.home_dir.rglob("*"):
        if path.is_file():
            found[f"file {path.name}"] = path.read_bytes().decode("utf-8", "replace")
    return found


def holds(says: str, planted: list[Planted]) -> list[str]:
    """Which of these a text holds, also split up; numbers by their digits."""
    words, digits = squeezed(says), only_digits(says)
    return [one.what for one in planted if squeezed(one.text) in words or (one.text.startswith("+") and only_digits(one.text) in digits)]


async def test_nothing_that_was_planted_is_left_of_a_whole_life_in_any_table_file_or_page(home: Household) -> None:
    lived = await live(home)
    manager = home.client(await home.token("manager", "chino", "second@chino.example"))
    for row in await home.clocks(lived.reference):
        if row.state in ("running", "overdue") and row.act != "retention":
            (await manager.post(f"/api/v1/clocks/{row.id}/waive", json={"reason": "Odalys at dispatch"})).raise_for_status()
    home.clock.jump(days=365 * 5 + 10)
    async with reading(home.house) as tx:
        kept = await kept_until(tx, await tx.spill(lived.reference))
        assert kept.still(tx.now) == []
        [going] = await would_go(tx, kept)
    assert {kind for kind in KINDS if not going.counts[kind]} <= {"drafts", "replies", "links", "suppressions", "news"}
    done = await destroy_record(home.house, ADMINISTRATOR, lived.reference, "schedule of May", lambda _: None)
    assert dict(done.going[0].counts) == dict(going.counts)
    [certificate] = await home.events(lived.reference, RecordDestroyed)
    assert certificate.counts == going.counts
    leaks = {where: holds(says, HIDDEN) for where, says in (await everything_kept(home.house)).items()}
    assert {where: what for where, what in leaks.items() if what} == {}
    assert {one.broken for one in (await walked(home)).values()} == {None}
    for page in await pages_of(home, lived):
        assert holds(page.says, HIDDEN) == [], page.where
    for word in ("begonias", "Thessaly", "ferret", "Bertha"):
        assert await found(home, text=word) == [], word
    async with reading(home.house) as tx:
        assert await certificate_of(tx, await tx.spill(lived.reference)) is not None
    assert len(await home.clocks(lived.reference)) > 10


async def pages_of(home: Household, lived: Lived) -> list[Output]:
    """Every page, paper and answer that shows the spill to anybody."""
    async with transaction(home.house, "test") as tx:
        account = await access.add_account(tx, ADMINISTRATOR, "administrator", "chino")
        session = await access.issue(tx, account, "session", access.SESSION_LASTS)
        key = await access.issue(tx, account, "api")
    browser, program = home.client(), home.client(key)
    browser.cookies.set("spillclock_session", session)
    shown = []
    mine = f"/staff/spills/{lived.reference}"
    for path in (mine, f"{mine}/papers", f"{mine}/close", "/staff", "/map", "/advisories", f"/status/{lived.status}"):
        answer = await browser.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 200, f"{path}: {answer.text[:300]}"
        shown.append(Output("staff", path, answer.text))
    for path in ("", "/clocks", "/reports", "/papers"):
        answer = await program.get(f"/api/v1/spills/{lived.reference}{path}")
        assert answer.status_code == 200, f"{path}: {answer.text[:300]}"
        shown.append(Output("staff", path, answer.text))
    return shown
