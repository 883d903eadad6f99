"""What changes on the board, told to open pages: each change once, to whom it may concern, by one look for all; and how it ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import event, update
from sqlmodel import col

from service import access, accounts
from service.access import Staff
from service.pages import live as live_module
from service.pages.live import MOST_OF_A_SESSION, Listener, Live, TooManyPages
from service.tables import Credential
from service.transaction import reading, transaction
from tests.houses import TUESDAY, Household
from tests.spills import IN_ONTARIO, a_report


@pytest.fixture
async def live(home: Household) -> AsyncIterator[Live]:
    """Open pages of a house, told only when the test looks."""
    made = Live(home.house)
    yield made
    made.close()


async def a_page(home: Household, live: Live, role: str = "officer", city: str | None = "chino") -> Listener:
    """A page that a member of staff has open on the board."""
    async with transaction(home.house, "test") as tx:
        account = await access.add_account(tx, f"{role}@{city}.example", role, city)
        staff = await access.staff_of(tx, await access.issue(tx, account, "session", access.SESSION_LASTS), "session")
    return another_page(home, live, staff)


def another_page(home: Household, live: Live, staff: Staff) -> Listener:
    listener = live.join(staff, home.clock.at)
    assert live._looking is not None
    live._looking.cancel()  # the test says when to look
    return listener


def heard(listener: Listener) -> list[Any]:
    """What a page was sent since it was last asked: the references of changed spills, the names of other events, None at the end."""
    found: list[Any] = []
    while not listener.waiting.empty():
        message = listener.waiting.get_nowait()
        if message is None:
            found.append(None)
            continue
        said = dict(line.split(": ", 1) for line in message.strip().splitlines())
        found += [one["reference"] for one in json.loads(said["data"])] if said["event"] == "spills" else [said["event"]]
    return found


async def test_each_change_is_told_once_to_each_page_that_may_see_it(home: Household, live: Live) -> None:
    pages = [await a_page(home, live, "officer", city) for city in ("chino", "ontario", None)]
    home.clock.jump(seconds=1)
    mine, theirs = await home.report(a_report()), await home.report(a_report(location=IN_ONTARIO))
    lost = await home.report(a_report(location=None))
    home.clock.jump(seconds=1)
    await live.look()
    assert [heard(page) for page in pages] == [[mine, lost], [theirs, lost], [mine, theirs, lost]]
    await live.look()
    assert [heard(page) for page in pages] == [[], [], []]
    await home.amend(mine, volume={"quantity": 900, "unit": "gal"})
    for _ in range(5):
        home.clock.jump(seconds=10)
        await live.look()
    assert [heard(page) for page in pages] == [[mine], [], [mine]]


async def test_a_page_is_told_how_a_spill_stands_now(home: Household, live: Live) -> None:
    page = await a_page(home, live)
    home.clock.jump(seconds=1)
    reference = await home.report(a_report())
    await live.look()
    message = page.waiting.get_nowait() or ""
    [told] = json.loads(message.split("data: ")[1])
    assert told["reference"] == reference
    assert (told["state"], told["word"], told["due"], told["on"]) == ("running", "To do", "2026-12-01T22:20:01Z", True)
    assert message.startswith(f"id: {TUESDAY:%Y-%m-%d}T22:05:01Z\nevent: spills\n")
    assert "manhole" not in message  # the words of people are not sent about


async def test_a_transaction_that_ends_late_is_told_all_the_same(home: Household, live: Live) -> None:
    page = await a_page(home, live)
    slow = home.with_house(now=lambda at=home.clock.at: at)  # began now, is over later
    home.clock.jump(seconds=20)
    await live.look()
    reference = await slow.report(a_report())
    await live.look()
    assert heard(page) == [reference]


async def test_one_look_costs_the_same_for_one_page_and_for_many(home: Household, live: Live) -> None:
    asked: list[str] = []

    @event.listens_for(home.house.engine.sync_engine, "before_cursor_execute")
    def _note(_: Any, __: Any, statement: str, *___: Any) -> None:
        asked.append(statement)

    first = await a_page(home, live)
    await home.report(a_report())
    asked.clear()
    await live.look()
    alone = len(asked)
    for _ in range(MOST_OF_A_SESSION - 1):
        another_page(home, live, first.staff)
    await a_page(home, live, "viewer")
    asked.clear()
    await live.look()
    assert len(asked) == alone <= 4


@pytest.mark.parametrize("how", ["signed out", "over", "account ended"])
async def test_a_connection_ends_with_its_session_and_does_not_keep_it_alive(home: Household, live: Live, how: str) -> None:
    page = await a_page(home, live)
    other = await a_page(home, live, "viewer")
    for _ in range(3):
        home.clock.jump(hours=1)
        await live.look()
    async with reading(home.house) as tx:
        credential = await tx.session.get_one(Credential, page.staff.credential)
        assert credential.seen_at is None
    async with transaction(home.house, "test") as tx:
        if how == "signed out":
            await tx.session.execute(update(Credential).where(col(Credential.id) == page.staff.credential).values(used_at=tx.now))
        elif how == "account ended":
            account = await access.account_of(tx, page.staff.email)
            await accounts.end(tx, Staff("root@x.example", "administrator", None), account.id or 0)
    if how == "over":
        home.clock.jump(hours=9)
    await live.look()
    assert heard(page) == ["end", None]
    assert heard(other) == (["end", None] if how == "over" else [])
    assert live.pages == (0 if how == "over" else 1)


async def test_a_role_that_is_taken_away_is_gone_from_an_open_page(home: Household, live: Live) -> None:
    page = await a_page(home, live)
    async with transaction(home.house, "test") as tx:
        await access.put_roles(tx, await access.account_of(tx, page.staff.email), {"ontario": "viewer"})
    home.clock.jump(seconds=1)
    await home.report(a_report())
    theirs = await home.report(a_report(location=IN_ONTARIO))
    await live.look()
    assert heard(page) == [theirs]


async def test_a_page_that_missed_too_much_is_told_to_load_anew_and_once(
    home: Household, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "_MOST_LINES", 2)
    page = await a_page(home, live)
    home.clock.jump(seconds=1)
    for _ in range(3):
        await home.report(a_report())
    await live.look()
    await live.look()
    assert heard(page) == ["reload"]
    home.clock.jump(minutes=2)
    reference = await home.report(a_report())
    await live.look()  # what changed before may still be among what is looked at
    await live.look()
    assert heard(page) == [reference]


async def test_whoever_does_not_listen_is_let_go(home: Household, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "_MOST_WAITING", 2)
    await a_page(home, live)
    for _ in range(3):
        home.clock.jump(seconds=1)
        await home.report(a_report())
        await live.look()
    assert live.pages == 0


async def test_a_session_has_so_many_pages_and_no_more(home: Household, live: Live) -> None:
    page = await a_page(home, live)
    for _ in range(MOST_OF_A_SESSION - 1):
        last = another_page(home, live, page.staff)
    with pytest.raises(TooManyPages):
        another_page(home, live, page.staff)
    live.leave(last)
    another_page(home, live, page.staff)


async def test_closing_ends_every_page_and_takes_no_more(home: Household, live: Live) -> None:
    page = await a_page(home, live)
    live.close()
    assert heard(page) == [None]
    with pytest.raises(TooManyPages):
        live.join(page.staff, home.clock.at)


async def test_a_database_that_fails_for_a_moment_ends_nothing(home: Household, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "LOOK_SECONDS", 0.01)
    page = await a_page(home, live)
    tries: list[int] = []

    async def fail() -> None:
        tries.append(1)
        if len(tries) > 2:
            live.leave(page)
        raise OSError("the disk is away")

    monkeypatch.setattr(live, "look", fail)
    await live._look_again_and_again()
    assert len(tries) == 3
