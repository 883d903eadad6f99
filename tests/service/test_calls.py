"""Calls to one telephone: never two at a time."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from service.tables import Contact
from tests.service.small_law import CALL, LADDER, small_law
from tests.service.telephones import OFFICER, Telephones, telephones
from tests.spills import a_report

BY_CALL = LADDER.replace("by: [sms, email]", "by: [voice]")
TWO_DUTIES = CALL + CALL.replace("two-hours", "other").replace("Call the board within two hours", "Call works too").replace("T-1", "T-9")


async def called(phones: Telephones) -> list[timedelta]:
    """How long between one call to the officer and the next."""
    attempts = {row.message_id: row.started_at for row in await phones.home.attempts()}
    calls = sorted(attempts[row.id] for row in await phones.home.messages(channel="voice", address=OFFICER) if row.id in attempts)
    return [after - before for before, after in pairwise(calls)]


async def desk(phones: Telephones) -> None:
    await phones.home.people(Contact(city="chino", role="duty_officer", name="Ann", phone=OFFICER, voice=True))


async def test_a_report_that_needs_a_person_and_a_duty_are_two_calls_a_minute_apart(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(ladder=BY_CALL), voice=True) as phones:
        await desk(phones)
        await phones.home.report(a_report(location=None), staff=False)
        await phones.home.report(a_report())
        await phones.home.live(minutes=2)
        assert await called(phones) == [timedelta(minutes=1)]


async def test_duties_of_one_spill_are_one_call_at_once(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(TWO_DUTIES, ladder=BY_CALL), voice=True) as phones:
        await desk(phones)
        await phones.home.report(a_report())
        await phones.home.work()
        assert len(phones.twilio.calls) == 1
        await phones.home.live(minutes=2)
        assert len(phones.twilio.calls) == 1


async def test_many_spills_at_once_are_called_about_one_after_another_and_texts_wait_for_none(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(ladder=LADDER.replace("by: [sms, email]", "by: [voice, sms]")), voice=True) as phones:
        await desk(phones)
        for _ in range(4):
            await phones.home.report(a_report())
        await phones.home.work()
        assert len(phones.texts_to(OFFICER)) == 4
        assert len(phones.twilio.calls) == 1
        await phones.home.live(minutes=5)
        assert await called(phones) == [timedelta(minutes=1)] * 3
        assert not any("quiet hours" in row.reason for row in await phones.home.messages())
