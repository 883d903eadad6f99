"""What is kept back, and for how long: by an acknowledgement until it expires, by quiet hours until the morning."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from service.events import AcknowledgementExpired, RungHeld, RungReached, RungRested
from service.pages.story import story
from service.tables import Contact
from service.transaction import transaction
from tests.houses import OFFICER, TUESDAY, Household, a_household
from tests.service.small_law import CALL, TWO_HOURS, small_law
from tests.spills import a_report

PACIFIC = ZoneInfo("America/Los_Angeles")
CALLED = {"act": "notice_given", "recipient": "board", "method": "telephone"}
# Nine in the evening of that Tuesday in California, and six the morning after.
EVENING, MORNING = TUESDAY + timedelta(hours=6, minutes=55), TUESDAY + timedelta(hours=15, minutes=55)
OF_DAYS = """
    - {at: start, tell: [duty_officer], by: [sms]}
    - {at: start+30m, tell: [supervisor], by: [sms], unless_acknowledged: true}
    - {at: due-1h, tell: [duty_officer], by: [sms]}
    - {at: due, tell: [duty_officer, supervisor], by: [sms]}
"""


def rungs(home: Household) -> list[tuple[timedelta, str, str]]:
    """When, which rung and to whom, by the outbox."""
    lines = [(datetime.fromisoformat(line["at"]), line["step"], line["to"]) for line in home.outbox()]
    return sorted((at - home_begins(home), step, to) for at, step, to in lines)


def home_begins(home: Household) -> datetime:
    return home.begins  # type: ignore[attr-defined, no-any-return]


def people(*, quiet: tuple[str, str] = ("", ""), supervisor_quiet: tuple[str, str] = ("", "")) -> list[Contact]:
    def contact(role: str, phone: str, hours: tuple[str, str]) -> Contact:
        return Contact(city="chino", role=role, name=role.title(), phone=phone, quiet_from=hours[0], quiet_to=hours[1])

    return [contact("duty_officer", "+19095550102", quiet), contact("supervisor", "+19095550103", supervisor_quiet)]


def household(
    folder: Path, *, limit: str = "2 hours", ladder: str | None = OF_DAYS, at: datetime = TUESDAY, contacts: Iterable[Contact] | None = None
) -> AbstractAsyncContextManager[Household]:
    law = small_law(CALL, limit=limit) if ladder is None else small_law(CALL, ladder, limit=limit)
    return a_household(folder, law=law, at=at, people=people() if contacts is None else contacts)


async def begin(home: Household) -> str:
    home.begins = home.clock.at  # type: ignore[attr-defined]
    return await home.report(a_report(known_at=home.clock.at.isoformat()))


OFFICER_NUMBER, SUPERVISOR_NUMBER = "+19095550102", "+19095550103"


# -- acknowledgements expire


async def test_an_expired_acknowledgement_is_on_record_and_its_message_says_who_gave_it(tmp_path: Path) -> None:
    async with household(tmp_path) as home:
        reference = await begin(home)
        await home.live(minutes=10)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(minutes=29)
        assert [step for _, step, _ in rungs(home)] == ["start"]
        await home.live(minutes=1, seconds=30)
        assert rungs(home)[1:] == [(timedelta(minutes=40), "start+30m", SUPERVISOR_NUMBER)]
        [expired] = await home.events(reference, AcknowledgementExpired)
        assert (expired.person, expired.steps) == (OFFICER, ["start+30m"])
        assert "not done yet" in home.outbox()[1]["text"]
        [row] = await home.messages(step="start+30m")
        assert f"acknowledged by {OFFICER}, not done yet" in row.reason


async def test_nothing_expires_once_the_duty_is_done(tmp_path: Path) -> None:
    async with household(tmp_path) as home:
        reference = await begin(home)
        await home.live(minutes=25)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(minutes=10)
        await home.happened(reference, **CALLED)
        await home.live(hours=5)
        assert [step for _, step, _ in rungs(home)] == ["start"]
        assert await home.events(reference, AcknowledgementExpired) == []


async def test_who_acknowledges_again_has_as_long_again(tmp_path: Path) -> None:
    async with household(tmp_path) as home:
        reference = await begin(home)
        for minutes in (10, 20):  # at 10 and at 30 minutes
            await home.live(minutes=minutes)
            await home.acknowledge(reference, TWO_HOURS)
        await home.live(hours=1)
        assert (timedelta(hours=1), "start+30m", SUPERVISOR_NUMBER) in rungs(home)
        assert [one[:2] for one in rungs(home)][:2] == [(timedelta(), "start"), (timedelta(hours=1), "due-1h")]


async def test_an_acknowledgement_holds_no_longer_than_until_the_next_rung(tmp_path: Path) -> None:
    ladder = OF_DAYS.replace("due-1h", "start+40m")
    async with household(tmp_path, ladder=ladder) as home:
        reference = await begin(home)
        await home.live(minutes=29)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(minutes=20)
        assert [one for one in rungs(home) if one[0]] == [
            (timedelta(minutes=40), "start+30m", SUPERVISOR_NUMBER), (timedelta(minutes=40), "start+40m", OFFICER_NUMBER),
        ]  # fmt: skip


async def test_a_ladder_may_say_how_long_an_acknowledgement_lasts(tmp_path: Path) -> None:
    ladder = OF_DAYS.replace("unless_acknowledged: true", "unless_acknowledged: true, ack_lasts: 45m")
    async with household(tmp_path, ladder=ladder) as home:
        reference = await begin(home)
        await home.live(minutes=10)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(hours=1)
        assert (timedelta(minutes=55), "start+30m", SUPERVISOR_NUMBER) in rungs(home)


async def test_an_acknowledgement_of_a_duty_of_days_lasts_twelve_hours(tmp_path: Path) -> None:
    async with household(tmp_path, limit="48 hours") as home:
        reference = await begin(home)
        await home.live(minutes=10)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(hours=20)
        assert rungs(home)[1:] == [(timedelta(hours=12, minutes=10), "start+30m", SUPERVISOR_NUMBER)]


async def test_a_rung_that_another_like_it_follows_shortly_is_not_made_up_for(tmp_path: Path) -> None:
    ladder = OF_DAYS.replace("due-1h, tell: [duty_officer]", "start+50m, tell: [duty_officer, supervisor]")
    async with household(tmp_path, ladder=ladder) as home:
        reference = await begin(home)
        await home.live(minutes=10)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(hours=1)
        assert "start+30m" not in {step for _, step, _ in rungs(home)}
        [rested] = await home.events(reference, RungRested)
        assert rested.until == ""


async def test_what_expires_while_nobody_works_is_made_up_for_in_one_message(tmp_path: Path) -> None:
    async with household(tmp_path) as home:
        reference = await begin(home)
        await home.live(minutes=25)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(minutes=10)
        home.clock.jump(hours=3)
        await home.work()
        late = [line for line in home.outbox() if line["to"] == SUPERVISOR_NUMBER]
        assert len(late) == 1
        assert len(await home.messages(address=SUPERVISOR_NUMBER, state="accepted")) == 2


async def test_what_is_kept_back_when_the_due_time_moves_goes_out_once(tmp_path: Path) -> None:
    async with household(tmp_path) as home:
        reference = await begin(home)
        await home.live(minutes=25)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(minutes=10)
        await home.amend(reference, known_at=(TUESDAY + timedelta(minutes=5)).isoformat())
        await home.live(hours=1)
        assert [one for one in rungs(home) if one[1] == "start+30m"] == [(timedelta(minutes=55), "start+30m", SUPERVISOR_NUMBER)]
        assert len(await home.events(reference, AcknowledgementExpired)) == 1


# -- quiet hours


@pytest.fixture
def at_night() -> dict[str, Any]:
    return {"limit": "48 hours", "at": EVENING + timedelta(hours=2)}  # eleven at night


async def test_an_alert_with_days_left_waits_for_the_end_of_quiet_hours(tmp_path: Path, at_night: dict[str, Any]) -> None:
    async with household(tmp_path, **at_night, contacts=people(quiet=("22:00", "06:00"))) as home:
        reference = await begin(home)
        await home.work()
        assert home.outbox() == []
        [row] = await home.messages()
        assert (row.state, row.next_at) == ("waiting", MORNING)
        assert "waits for the end of their quiet hours, 22:00-06:00" in row.reason
        [reached] = await home.events(reference, RungReached)
        assert reached.told == ["Duty_Officer (sms, after their quiet hours, Wed Dec 2, 6:00 AM PST)"]
        await home.live(hours=7, minutes=1)
        assert [(home.clock.at - timedelta(minutes=1), line["to"]) for line in home.outbox()] == [(MORNING, OFFICER_NUMBER)]
        assert "1 day 17 hours left" in home.outbox()[0]["text"]  # as it is in the morning


async def test_no_deadline_under_24_hours_ever_waits(tmp_path: Path, at_night: dict[str, Any]) -> None:
    for limit in ("2 hours", "24 hours"):
        (tmp_path / limit).mkdir()
        async with household(tmp_path / limit, limit=limit, at=at_night["at"], contacts=people(quiet=("22:00", "06:00"))) as home:
            await begin(home)
            await home.work()
            assert [line["step"] for line in home.outbox()] == ["start"]


async def test_what_is_overdue_never_waits(tmp_path: Path) -> None:
    async with household(tmp_path, at=EVENING, contacts=people(quiet=("22:00", "06:00"), supervisor_quiet=("22:00", "06:00"))) as home:
        await begin(home)
        await home.live(hours=3)
        assert [(at, step) for at, step, to in rungs(home) if to == SUPERVISOR_NUMBER][-1] == (timedelta(hours=2), "due")


async def test_by_day_nothing_waits_and_neither_does_who_has_no_quiet_hours(tmp_path: Path) -> None:
    async with household(tmp_path, limit="48 hours", contacts=people(quiet=("22:00", "06:00"))) as home:
        await begin(home)
        await home.work()
        assert len(home.outbox()) == 1


async def test_a_rung_for_when_nobody_acknowledges_waits_until_somebody_could(tmp_path: Path, at_night: dict[str, Any]) -> None:
    async with household(tmp_path, **at_night, contacts=people(quiet=("22:00", "06:00"))) as home:
        reference = await begin(home)
        await home.live(hours=9)
        [held] = await home.events(reference, RungHeld)
        assert held.steps == ["start+30m"]
        assert rungs(home) == [
            (timedelta(hours=7), "start", OFFICER_NUMBER), (timedelta(hours=7, minutes=30), "start+30m", SUPERVISOR_NUMBER),
        ]  # fmt: skip


async def test_who_wakes_and_acknowledges_spares_the_next(tmp_path: Path, at_night: dict[str, Any]) -> None:
    async with household(tmp_path, **at_night, contacts=people(quiet=("22:00", "06:00"))) as home:
        reference = await begin(home)
        await home.live(hours=7, minutes=10)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(hours=2)
        assert [step for _, step, _ in rungs(home)] == ["start"]


async def test_an_alert_that_waits_goes_out_once_its_duty_is_pressing(tmp_path: Path) -> None:
    """A moved due time plans the ladder anew: what waited is taken back, and the new alert does not wait."""
    async with household(tmp_path, limit="48 hours", at=EVENING + timedelta(hours=2), contacts=people(quiet=("22:00", "06:00"))) as home:
        reference = await begin(home)
        await home.work()
        await home.amend(reference, known_at=(home.clock.at - timedelta(hours=30)).isoformat())
        await home.live(minutes=2)
        assert {to for _, _, to in rungs(home)} == {OFFICER_NUMBER, SUPERVISOR_NUMBER}


async def test_a_rung_brought_forward_never_waits(tmp_path: Path, at_night: dict[str, Any]) -> None:
    contacts = [one for one in people(supervisor_quiet=("22:00", "06:00")) if one.role == "supervisor"]
    async with household(tmp_path, **at_night, contacts=contacts) as home:
        await begin(home)
        await home.work()
        assert [line["step"] for line in home.outbox()] == ["start+30m at once"]


# -- told


async def test_the_story_says_why_an_alert_was_late_or_left_out(tmp_path: Path, at_night: dict[str, Any]) -> None:
    async with household(tmp_path, **at_night, contacts=people(quiet=("22:00", "06:00"))) as home:
        reference = await begin(home)
        await home.live(hours=7, minutes=10)
        await home.acknowledge(reference, TWO_HOURS)
        await home.live(hours=13)
        async with transaction(home.house, "test") as tx:
            spill = await tx.spill(reference)
            lines = [line for day in story(home.house, spill, PACIFIC, await tx.history(spill)) for line in day.lines]
        told = " ".join(" ".join([line.says, *line.details]) for line in lines)
        assert "after their quiet hours, Wed Dec 2, 6:00 AM PST" in told
        assert "An alert waits until Wed Dec 2, 6:30 AM PST" in told
        assert "It goes out Wed Dec 2, 6:10 PM PST if the duty is not done by then." in told
        assert "but it is not done" in told
