"""Rotas kept elsewhere: what a calendar says, whom it names, how it is fetched, and that a bad reading loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from service import rotas
from service.errors import BadInput
from service.parties import people_of
from service.reach import uncalled
from service.rota_calendars import Calendars, entries_of, fetch, matched, problem_with_calendar
from service.rotas import NewRota
from service.tables import Contact, Rota
from service.transaction import reading, transaction
from tests.houses import TUESDAY, Household, a_household
from tests.service.small_law import small_law
from tests.spills import a_report

PACIFIC = ZoneInfo("America/Los_Angeles")
NOW = TUESDAY


def calendar(*events: str) -> bytes:
    body = "".join(f"BEGIN:VEVENT\nDTSTAMP:20261101T000000Z\n{event.strip()}\nEND:VEVENT\n" for event in events)
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n{body}END:VCALENDAR\n".replace("\n", "\r\n").encode()


def spans(content: bytes, now: datetime = NOW) -> list[tuple[str, str, str]]:
    """From when to when, in local time, and the title."""
    found = entries_of(content, PACIFIC, time(8), now)
    return sorted(
        (one.starts_at.astimezone(PACIFIC).isoformat()[:16], one.ends_at.astimezone(PACIFIC).isoformat()[:16], one.summary) for one in found
    )


# -- what a calendar says


def test_times_are_read_in_their_own_zone_in_utc_and_in_the_city_where_they_name_none() -> None:
    content = calendar(
        "UID:a\nSUMMARY:zoned\nDTSTART;TZID=America/New_York:20261203T110000\nDTEND;TZID=America/New_York:20261203T200000",
        "UID:b\nSUMMARY:utc\nDTSTART:20261203T160000Z\nDURATION:PT8H",
        "UID:c\nSUMMARY:floating\nDTSTART:20261204T080000\nDTEND:20261205T080000",
        "UID:d\nSUMMARY:days\nDTSTART;VALUE=DATE:20261207\nDTEND;VALUE=DATE:20261214",
    )
    assert spans(content) == [
        ("2026-12-03T08:00", "2026-12-03T16:00", "utc"), ("2026-12-03T08:00", "2026-12-03T17:00", "zoned"),
        ("2026-12-04T08:00", "2026-12-05T08:00", "floating"), ("2026-12-07T08:00", "2026-12-14T08:00", "days"),
    ]  # fmt: skip


def test_a_weekly_turn_stays_at_its_local_time_when_the_clocks_change() -> None:
    content = calendar("UID:a\nSUMMARY:Ann\nDTSTART;TZID=America/Los_Angeles:20260105T080000\nDURATION:P7D\nRRULE:FREQ=WEEKLY;INTERVAL=2")
    found = spans(content, datetime(2026, 10, 20, tzinfo=UTC))
    assert [begins for begins, _, _ in found] == ["2026-10-12T08:00", "2026-10-26T08:00", "2026-11-09T08:00", "2026-11-23T08:00",
                                                   "2026-12-07T08:00", "2026-12-21T08:00"]  # fmt: skip
    assert found[1][1] == "2026-11-02T08:00"  # over the night of 1 November


def test_until_count_left_out_and_added_days_are_heeded() -> None:
    rule = "DTSTART;TZID=America/Los_Angeles:20261201T080000\nDURATION:P1D\nRRULE:FREQ=DAILY"
    until = calendar(f"UID:a\nSUMMARY:x\n{rule};UNTIL=20261203T160000Z\nEXDATE;TZID=America/Los_Angeles:20261202T080000"
                     "\nRDATE;TZID=America/Los_Angeles:20261210T080000")  # fmt: skip
    assert [begins[8:10] for begins, _, _ in spans(until)] == ["01", "03", "10"]
    assert len(spans(calendar(f"UID:a\nSUMMARY:x\n{rule};COUNT=5"))) == 5


def test_a_changed_occurrence_takes_the_place_of_its_own_and_a_cancelled_one_leaves_a_gap() -> None:
    content = calendar(
        "UID:a\nSUMMARY:Ann\nDTSTART:20261201T160000Z\nDURATION:P1D\nRRULE:FREQ=DAILY;COUNT=3",
        "UID:a\nSUMMARY:Bob instead\nRECURRENCE-ID:20261202T160000Z\nDTSTART:20261202T180000Z\nDURATION:P1D",
        "UID:a\nSUMMARY:Ann\nSTATUS:CANCELLED\nRECURRENCE-ID:20261203T160000Z\nDTSTART:20261203T160000Z\nDURATION:P1D",
    )
    assert [(begins[8:13], title) for begins, _, title in spans(content)] == [("01T08", "Ann"), ("02T10", "Bob instead")]


def test_only_the_next_weeks_are_worked_out() -> None:
    found = spans(calendar("UID:a\nSUMMARY:x\nDTSTART:20200101T160000Z\nDURATION:P1D\nRRULE:FREQ=DAILY"))
    assert 70 <= len(found) <= 75


@pytest.mark.parametrize(
    "rule", ["FREQ=SECONDLY", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31", "FREQ=HOURLY", "FREQ=YEARLY;BYEASTER=1", "FREQ=DAILY;BYSETPOS=400"]
)
def test_a_rule_that_takes_a_machine_for_ever_is_refused(rule: str) -> None:
    with pytest.raises(BadInput):
        entries_of(calendar(f"UID:a\nSUMMARY:x\nDTSTART:20261201T160000Z\nDURATION:P1D\nRRULE:{rule}"), PACIFIC, time(8), NOW)


@pytest.mark.parametrize("content", [b"", b"<html>sign in</html>", b"BEGIN:VCALENDAR", b"\xff\xfe\x00", b"BEGIN:VEVENT\r\nEND:VEVENT\r\n"])
def test_what_is_no_calendar_is_refused(content: bytes) -> None:
    with pytest.raises((BadInput, ValueError)):
        entries_of(content, PACIFIC, time(8), NOW)


def test_a_calendar_without_an_end_is_refused() -> None:
    many = calendar(*(f"UID:{number}\nSUMMARY:x\nDTSTART:20261201T160000Z\nDURATION:P1D" for number in range(3100)))
    with pytest.raises(BadInput, match="more than 3000 entries"):
        entries_of(many, PACIFIC, time(8), NOW)


def test_people_are_found_by_who_attends_by_who_organizes_and_by_name_in_the_title() -> None:
    known = (("Ann Lee", "ann@chino.example"), ("Bob Roe", "bob@chino.example"), ("Ann", ""))
    people = [Contact(id=number, city="chino", role="duty_officer", name=name, email=to) for number, (name, to) in enumerate(known, 1)]
    content = calendar(
        "UID:a\nSUMMARY:duty\nDTSTART:20261201T160000Z\nATTENDEE;CN=Ann:mailto:ANN@chino.example\nORGANIZER:mailto:bob@chino.example",
        "UID:b\nSUMMARY:duty\nDTSTART:20261202T160000Z\nORGANIZER:MAILTO:bob@chino.example",
        "UID:c\nSUMMARY:On call: bob  roe (backup)\nDTSTART:20261203T160000Z",
        "UID:d\nSUMMARY:Annual leave\nDTSTART:20261204T160000Z",
        "UID:e\nSUMMARY:Ann Lee\nDTSTART:20261205T160000Z\nATTENDEE:mailto:stranger@example.org",
    )
    found = {entry.uid: [one.name for one in matched(entry, people)] for entry in entries_of(content, PACIFIC, time(8), NOW)}
    assert found == {"a": ["Ann Lee"], "b": ["Bob Roe"], "c": ["Bob Roe"], "d": [], "e": ["Ann Lee", "Ann"]}


# -- how it is fetched


@pytest.mark.parametrize(
    "url",
    [
        "http://calendar.example.gov/x.ics", "ftp://x.example.gov/", "https://localhost/x", "https://127.0.0.1/x", "https://[::1]/x",
        "https://169.254.169.254/latest", "https://10.1.2.3/x", "https://router/x", "https://x.internal/y", "https://a b.example/", "x",
        "https://x.example.gov:0/", f"https://x.example.gov/{'a' * 2000}",
    ],
)  # fmt: skip
def test_addresses_of_a_private_network_and_without_a_lock_are_refused(url: str) -> None:
    assert problem_with_calendar(url)


@pytest.mark.parametrize("url", ["https://calendar.example.gov/on-call.ics?key=x", "webcal://calendar.example.gov/x", "https://8.8.8.8/x"])
def test_public_addresses_with_a_lock_can_be_tried(url: str) -> None:
    assert problem_with_calendar(url) is None


async def test_a_name_that_leads_to_a_private_address_is_not_asked() -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "10.0.0.7"]

    with pytest.raises(BadInput, match=r"leads to 10\.0\.0\.7, of a private network"):
        await fetch("https://calendar.example.gov/x.ics", resolver=resolver)


@asynccontextmanager
async def a_server(answer: Callable[[], bytes] | bytes, *, status: str = "200 OK", headers: str = "") -> AsyncIterator[str]:
    """A server of one page; yields its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = answer() if callable(answer) else answer
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}Connection: close\r\n\r\n".encode() + body)
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/on-call.ics"


async def refusal(read: Awaitable[Any]) -> str:
    with pytest.raises(BadInput) as refused:
        await read
    return str(refused.value)


async def test_a_page_that_is_too_large_has_moved_or_is_not_there_is_refused_in_words() -> None:
    async with a_server(b"x" * 1_100_000) as url:
        assert "larger than 1000 kB" in await refusal(fetch(url, allow_private=True))
    async with a_server(b"", status="302 Found", headers="Location: https://elsewhere.example/\r\n") as url:
        assert "it has moved to https://elsewhere.example/" in await refusal(fetch(url, allow_private=True))
    async with a_server(b"", status="404 Not Found") as url:
        assert "answered 404" in await refusal(fetch(url, allow_private=True))
    assert "could not be fetched" in await refusal(fetch("http://127.0.0.1:1/x", allow_private=True))


# -- in the service


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    people = [Contact(city="chino", role="duty_officer", name=name, email=f"{name}@chino.example".lower()) for name in ("Ann", "Bob")]
    async with a_household(tmp_path, law=small_law(), people=people, webhook_private=True) as household:
        yield household


async def a_rota(home: Household, url: str) -> int:
    async with transaction(home.house, "manager@chino.example") as tx:
        return (await rotas.add_rota(tx, NewRota("chino", "duty_officer", "Desk", ics_url=url))).id or 0


async def names(home: Household, reference: str, **later: float) -> list[str]:
    async with reading(home.house) as tx:
        return [one.name for one in await people_of(tx, await tx.spill(reference), "duty_officer", home.clock.at + timedelta(**later))]


async def stored(home: Household, number: int) -> Rota:
    async with reading(home.house) as tx:
        return await rotas.rota_of(tx, number)


ANN = "UID:a\nSUMMARY:Ann\nDTSTART:20261201T160000Z\nDURATION:P1D"
BOB = "UID:b\nSUMMARY:Bob\nDTSTART:20261202T160000Z\nDURATION:P1D"


async def test_who_is_on_call_comes_from_the_calendar_and_follows_it(home: Household) -> None:
    said = [calendar(ANN, BOB)]
    async with a_server(lambda: said[0]) as url:
        number = await a_rota(home, url)
        reference = await home.report(a_report())
        assert await names(home, reference) == ["Ann", "Bob"]  # not read yet
        calendars = Calendars(home.house)
        assert await calendars.read_due() == 1
        assert [await names(home, reference, days=day) for day in (0, 1, 2)] == [["Ann"], ["Bob"], ["Ann", "Bob"]]
        said[0] = calendar(ANN.replace("Ann", "Bob"))
        assert await calendars.read_due() == 0  # every 15 minutes
        home.clock.jump(minutes=15)
        assert await calendars.read_due() == 1
        assert await names(home, reference) == ["Bob"]
        assert (await stored(home, number)).ics_read_at == home.clock.at


async def test_a_failed_reading_keeps_what_was_read_before_and_says_so(home: Household) -> None:
    said = [calendar(ANN)]
    async with a_server(lambda: said[0]) as url:
        number = await a_rota(home, url)
        reference = await home.report(a_report())
        calendars = Calendars(home.house)
        await calendars.read_due()
        said[0] = b"<html>please sign in</html>"
        home.clock.jump(minutes=15)
        await calendars.read_due()
    assert await names(home, reference) == ["Ann"]
    row = await stored(home, number)
    assert row.ics_problem
    assert row.ics_read_at == TUESDAY
    async with reading(home.house) as tx:
        assert any(
            "the calendar of rota Desk (duty_officer), last read Tue Dec 1, 2:05 PM PST" in line for line in await uncalled(tx, "chino")
        )
    home.clock.jump(minutes=15)
    await calendars.read_due()  # the server is gone
    assert "could not be fetched" in (await stored(home, number)).ics_problem
    assert await names(home, reference) == ["Ann"]


async def test_reading_the_same_again_adds_nothing(home: Household) -> None:
    async with a_server(calendar(ANN, BOB)) as url:
        number = await a_rota(home, url)
        calendars = Calendars(home.house)
        seen = []
        for _ in range(3):
            await calendars.read_due()
            async with reading(home.house) as tx:
                seen.append([(one.id, one.uid) for one in await rotas.shifts_of(tx, await rotas.rota_of(tx, number), imported=True)])
            home.clock.jump(minutes=15)
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0]) == 2


async def test_entries_that_name_nobody_are_told(home: Household) -> None:
    async with a_server(calendar(ANN, BOB.replace("Bob", "Zoe"))) as url:
        number = await a_rota(home, url)
        await Calendars(home.house).read_due()
    assert (await stored(home, number)).ics_problem == "1 of its titles name nobody in the role: Zoe"
