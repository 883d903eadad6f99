"""Due times as calendars: what two other readers of RFC 5545 make of them, on nights of a clock change too, and who reads them how long."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import icalendar
import pytest
import vobject

from service import due_calendars
from service.access import Staff, account_of, put_roles
from service.assigning import assign
from service.errors import BadInput, NotKnown
from service.transaction import transaction
from tests.houses import TUESDAY, Household, a_household
from tests.service.people import ANN, an_account, browser_of
from tests.service.small_law import small_law
from tests.spills import IN_ONTARIO, a_report

STAFF = Staff(ANN, "officer", "chino")


async def made(home: Household, city: str | None = None, role: str = "", *, mine: bool = False, staff: Staff = STAFF) -> str:
    """The address of a calendar."""
    async with transaction(home.house, staff.email) as tx:
        return f"/calendar/{await due_calendars.make(tx, staff, city, role, mine=mine)}.ics"


async def read(home: Household, address: str, query: str = "") -> list[Any]:
    """The entries as the library icalendar reads them; vobject has to find the same, at the same moments."""
    async with home.client() as http:
        answer = await http.get(f"{address}{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    entries = [*icalendar.Calendar.from_ical(answer.content).walk("VEVENT"), *icalendar.Calendar.from_ical(answer.content).walk("VTODO")]
    second = vobject.readOne(answer.text)
    seen = [*second.contents.get("vevent", []), *second.contents.get("vtodo", [])]
    name = "due" if "tasks" in query else "dtstart"
    assert [(one["uid"], one.decoded(name)) for one in entries] == [(one.uid.value, getattr(one, name).value) for one in seen]
    return entries


async def test_each_duty_is_an_event_at_its_due_time_with_a_uid_that_stays(small: Household) -> None:
    await an_account(small)
    reference = await small.report(a_report())
    address = await made(small)
    [event] = await read(small, address)
    assert event.decoded("dtstart") == datetime(2026, 12, 2, 0, 5, tzinfo=UTC)
    assert str(event["summary"]) == f"Call the board within two hours ({reference})"
    assert "Due: Tue Dec 1, 4:05 PM PST" in str(event["description"])
    assert (str(event["status"]), str(event["url"])) == ("CONFIRMED", f"https://spills.example.gov/staff/spills/{reference}")
    small.clock.jump(minutes=10)
    await small.amend(reference, known_at="2026-12-01T13:00:00-08:00")
    [moved] = await read(small, address)
    assert moved.decoded("dtstart") == datetime(2026, 12, 1, 23, 0, tzinfo=UTC)
    assert moved["uid"] == event["uid"]
    assert moved["sequence"] > event["sequence"]
    small.clock.jump(minutes=10)
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    [met] = await read(small, address)
    assert (str(met["status"]), met["uid"]) == ("CANCELLED", event["uid"])
    assert met["sequence"] > moved["sequence"]
    small.clock.jump(days=31)
    assert await read(small, address) == []


async def test_as_tasks_what_is_met_is_completed_and_what_is_not_owed_is_cancelled(small: Household) -> None:
    await an_account(small)
    done, not_owed, _ = [await small.report(a_report()) for _ in range(3)]
    await small.happened(done, "notice_given", recipient="board", method="telephone")
    await small.amend(not_owed, volume={"quantity": 5, "unit": "gal"})
    tasks = {str(one["summary"])[-14:-1]: one for one in await read(small, await made(small), "?kind=tasks")}
    assert [str(one["status"]) for one in tasks.values()] == ["COMPLETED", "CANCELLED", "NEEDS-ACTION"]
    assert tasks[done].decoded("completed") == TUESDAY
    events = {str(one["summary"])[-14:-1]: str(one["status"]) for one in await read(small, await made(small))}
    assert list(events.values()) == ["CANCELLED", "CANCELLED", "CONFIRMED"]


@pytest.mark.parametrize(
    ("known", "due", "told"),
    [
        ("2026-10-31T23:30:00-07:00", datetime(2026, 11, 1, 8, 30, tzinfo=UTC), "1:30 AM PDT"),
        ("2026-11-01T00:30:00-07:00", datetime(2026, 11, 1, 9, 30, tzinfo=UTC), "1:30 AM PST"),
        ("2027-03-14T01:30:00-08:00", datetime(2027, 3, 14, 11, 30, tzinfo=UTC), "4:30 AM PDT"),
    ],
)
async def test_on_a_night_of_a_clock_change_both_readers_find_the_very_moment(tmp_path: Path, known: str, due: datetime, told: str) -> None:
    at = datetime.fromisoformat(known).astimezone(UTC)
    async with a_household(tmp_path, at=at, law=small_law()) as home:
        await an_account(home)
        await home.report(a_report(known_at=known))
        [event] = await read(home, await made(home))
    assert event.decoded("dtstart") == due
    assert told in str(event["description"])


async def test_a_calendar_is_of_a_city_a_role_or_the_spills_of_one_person(home: Household) -> None:
    await an_account(home)
    everywhere = Staff("una@everywhere.example", "officer", None)
    await an_account(home, everywhere.email, city=None)
    here, mine = await home.report(a_report()), await home.report(a_report())
    there = await home.report(a_report(location=IN_ONTARIO))
    async with transaction(home.house, ANN) as tx:
        await assign(tx, await tx.spill(mine), ANN)

    async def spills(**given: Any) -> set[str]:
        return {str(one["url"])[-13:] for one in await read(home, await made(home, **given))}

    assert await spills() == {here, mine}
    assert await spills(mine=True) == {mine}
    assert await spills(staff=everywhere) == {here, mine, there}
    assert await spills(staff=everywhere, city="ontario") == {there}
    everything, officers, directors = [len(await read(home, await made(home, role=role))) for role in ("", "duty_officer", "director")]
    assert (officers, directors) == (everything, 0)  # the director hears of what is overdue
    for given in ({"city": "ontario"}, {"city": "atlantis"}, {"role": "king"}):
        with pytest.raises(BadInput):
            await made(home, **given)


async def test_a_replaced_ended_or_foreign_address_leads_nowhere_and_so_does_that_of_somebody_who_left(small: Household) -> None:
    account = await an_account(small)
    await small.report(a_report())
    first, second, third = [await made(small) for _ in range(3)]
    async with transaction(small.house, ANN) as tx:
        one, two, _ = await due_calendars.of_account(tx, account)
        renewed = f"/calendar/{await due_calendars.replace(tx, STAFF, one.id or 0)}.ics"
        await due_calendars.end(tx, STAFF, two.id or 0)
        with pytest.raises(NotKnown):
            await due_calendars.end(tx, STAFF, two.id or 0)
    async with small.client() as http:
        assert [(await http.get(path)).status_code for path in (first, second, third, renewed)] == [404, 404, 200, 200]
        assert (await http.get("/calendar/made-up.ics")).json() == (await http.get(first)).json()
        mark = (await http.get(third)).headers["etag"]
        assert (await http.get(third, headers={"if-none-match": mark})).status_code == 304
    assert (
        third.removeprefix("/calendar/").removesuffix(".ics").encode() not in (small.house.settings.home_dir / "spillclock.db").read_bytes()
    )
    async with transaction(small.house, "test") as tx:
        await put_roles(tx, await account_of(tx, ANN), {"ontario": "officer"})
    assert await read(small, third) == []
    async with transaction(small.house, "test") as tx:
        (await account_of(tx, ANN)).ended_at = tx.now
    async with small.client() as http:
        assert (await http.get(third)).status_code == 404


async def test_the_page_makes_replaces_and_ends_them_and_shows_an_address_once(small: Household) -> None:
    await an_account(small)
    await small.report(a_report())
    site = await browser_of(small)
    page = await site.post("/staff/account/calendars", data={"city": "chino", "role": "duty_officer"})
    address = page.text.partition('id="address">')[2].partition("<")[0]
    assert address.startswith("https://spills.example.gov/calendar/")
    assert len(await read(small, address)) == 1
    page = await site.get("/staff/account/calendars")
    assert address not in page.text
    assert "Due times, A Chino for tests, duty officer" in page.text
    renewed = (await site.post("/staff/account/calendars/1/replace")).text.partition('id="address">')[2].partition("<")[0]
    async with small.client() as http:
        assert ((await http.get(address)).status_code, (await http.get(renewed)).status_code) == (404, 200)
    assert (await site.post("/staff/account/calendars/2/end")).status_code == 303
    assert (await site.post("/staff/account/calendars", data={"city": "soledad"})).status_code == 422
