"""Where the day's cap of texts and calls is reached, a duty still speaks and the rest waits; the operator hears of it once."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as sqlalchemy_event

from service.outbox import Promise, promise, waits_since
from service.parties import Person
from service.sending_cap import tries_today
from service.tables import Contact, MessageRow
from service.transaction import reading, transaction
from service.wording import Words
from tests.houses import Household, a_household
from tests.service.channels import Post
from tests.service.small_law import CALL, small_law
from tests.spills import a_report

WORDS = Words("A subject", "A text", "An SMS")
CHANNELS = ("email", "sms", "voice")


def capped(folder: Path, cap: int, **more: Any) -> Any:
    posts = {name: Post(name) for name in CHANNELS}
    return a_household(folder, law=small_law(CALL), channels=posts, people=[], daily_cap=cap, **more)


async def promised(home: Household, reference: str, channel: str, number: int, *, duty: bool) -> MessageRow:
    person = Person("P", "duty_officer", {channel: f"p{number}@chino.example" if channel == "email" else f"+1909555{number:04}"})
    row = (await home.clocks(reference))[0] if duty else None
    async with transaction(home.house, "test") as tx:
        climb = f"{row.id}:{row.plan_no}:{number}" if row else f"triage {number}"
        return await promise(tx, Promise(await tx.spill(reference), row, "step", "a test", climb), person, channel, WORDS)


def got(home: Household, channel: str) -> list[str]:
    return [message.to for message in home.channels[channel].got]  # type: ignore[attr-defined]


@pytest.mark.parametrize("channel", ["sms", "voice"])
async def test_beyond_the_cap_only_messages_about_a_duty_go_out(tmp_path: Path, channel: str) -> None:
    async with capped(tmp_path, 3) as home:
        reference = await home.report(a_report(volume={"quantity": 1500, "unit": "gal"}))
        for number in range(3):
            await promised(home, reference, channel, number, duty=False)
        await home.work()
        assert len(got(home, channel)) == 3
        await promised(home, reference, channel, 3, duty=False)
        await promised(home, reference, channel, 4, duty=True)
        await promised(home, reference, "email", 5, duty=False)
        await home.work()
        assert got(home, channel)[3:] == ["+19095550004"]
        assert got(home, "email") == ["p5@chino.example"], "e-mail has no cap"


async def test_a_report_that_a_person_must_look_at_is_not_held_by_the_cap(tmp_path: Path) -> None:
    async with capped(tmp_path, 1) as home:
        await home.people(Contact(city="chino", role="duty_officer", name="Omar", phone="+19095550142"))
        for _ in range(3):
            await home.report({"description": "something in the gutter"}, staff=False)
        await home.work()
        assert got(home, "sms") == ["+19095550142"] * 3


async def test_what_waits_goes_out_after_midnight_and_meanwhile_nobody_is_late(tmp_path: Path) -> None:
    async with capped(tmp_path, 1) as home:
        reference = await home.report(a_report())
        for number in range(3):
            await promised(home, reference, "sms", number, duty=False)
            await home.work()
        async with reading(home.house) as tx:
            assert await waits_since(tx) is None, "readyz stays green: it waits because it was told to"
        [held, _] = [row for row in await home.messages() if row.state == "waiting"]
        assert held.next_at == home.clock.at + timedelta(minutes=15)
        home.clock.at = datetime(2026, 12, 1, 23, 50, tzinfo=UTC)
        await home.work()
        assert len(got(home, "sms")) == 1
        home.clock.at = datetime(2026, 12, 2, 0, 0, tzinfo=UTC)
        await home.work()
        assert len(got(home, "sms")) == 3, "a new day, a new cap; what is due at once is claimed at once"


async def test_a_cap_of_none_holds_nothing_back(tmp_path: Path) -> None:
    async with capped(tmp_path, 0) as home:
        reference = await home.report(a_report())
        for number in range(20):
            await promised(home, reference, "sms", number, duty=False)
        await home.work()
        assert len(got(home, "sms")) == 20


async def test_the_operator_hears_once_a_day_that_the_cap_is_reached(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "service.sending_cap")
    async with capped(tmp_path, 1) as home:
        reference = await home.report(a_report())
        for day in (1, 2):
            for number in range(3):
                await promised(home, reference, "sms", 10 * day + number, duty=False)
                await home.work()
            assert len(caplog.records) == day
            home.clock.jump(days=1)
    assert "the cap of 1 texts and calls a day is reached" in caplog.text
    assert "SPILLCLOCK_DAILY_CAP" in caplog.text


async def test_tries_are_counted_once_a_minute_and_not_once_a_message(tmp_path: Path) -> None:
    async with capped(tmp_path, 1000) as home:
        reference = await home.report(a_report())
        counts: list[str] = []

        @sqlalchemy_event.listens_for(home.house.engine.sync_engine, "before_cursor_execute")
        def _note(connection: Any, cursor: Any, statement: str, *more: Any) -> None:
            if "count(" in statement and "attempt" in statement:
                counts.append(statement)

        for number in range(20):
            await promised(home, reference, "sms", number, duty=False)
            await home.work()
            home.clock.jump(seconds=2)
        assert len(counts) == 1
        home.clock.jump(minutes=1)
        await home.work()
        assert len(counts) == 2


async def test_a_program_that_starts_anew_counts_what_was_tried_before(tmp_path: Path) -> None:
    async with capped(tmp_path, 2) as home:
        reference = await home.report(a_report())
        for number in range(2):
            await promised(home, reference, "sms", number, duty=False)
        await home.work()
    async with capped(tmp_path, 2) as again:
        async with reading(again.house) as tx:
            assert await tries_today(tx) == 2
        await promised(again, reference, "voice", 7, duty=False)
        await again.work()
        assert got(again, "voice") == []
