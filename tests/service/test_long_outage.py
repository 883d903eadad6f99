"""Mail and SMS down for six hours, over nights on which clocks change: every rung is climbed in time, and all that waited goes out."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from notifiers import Outcome
from service import settings_check, watch
from service.events import MessageAccepted, RungReached
from service.ladders import planned
from service.transaction import reading
from tests.houses import Household, a_household
from tests.service.channels import both
from tests.service.small_law import small_law
from tests.spills import a_report, gallons

DUTY = "chino/two-hours"
# Half past ten in the evening in California, three and a half hours before the clocks change; and an ordinary evening.
NIGHTS = {
    "back": datetime(2026, 11, 1, 5, 30, tzinfo=UTC),
    "forward": datetime(2027, 3, 14, 6, 30, tzinfo=UTC),
    "neither": datetime(2026, 12, 2, 6, 30, tzinfo=UTC),
}


@pytest.mark.parametrize("night", NIGHTS)
async def test_six_hours_without_mail_and_sms_skip_nothing_and_tell_everybody_once(tmp_path: Path, night: str) -> None:
    began = NIGHTS[night]
    down = both(then=Outcome.TRY_AGAIN)
    async with a_household(tmp_path, at=began, law=small_law(), channels=down) as home:  # type: ignore[arg-type]
        references = []
        for _ in range(6):  # a report an hour
            references.append(await home.report(a_report(volume=gallons(1500), known_at=home.clock.at.isoformat())))
            await home.live(hours=1)
        assert home.clock.at == began + timedelta(hours=6)
        assert {one.channel for one in await _down(home)} == {"email", "sms"}
        assert [line for line in await settings_check.examine(home.house) if line.startswith("WRONG  email: nothing goes out since")]
        assert {row.state for row in await home.messages()} <= {"waiting", "cancelled"}
        sent_in_vain = {name: len(channel.got) for name, channel in down.items()}

        for channel in down.values():
            channel.then = Outcome.ACCEPTED
        await home.live(minutes=40)  # longer than the longest wait between two tries
        assert {row.state for row in await home.messages()} <= {"accepted", "cancelled"}
        assert await _down(home) == []
        for reference in references:
            row = await home.clock_of(reference, DUTY)
            due = [rung for rung in planned(row) if rung.at <= home.clock.at]
            reached = [(entry.recorded_at, event.steps) for entry, event in await home.history(reference) if isinstance(event, RungReached)]
            assert sorted(step for _, steps in reached for step in steps) == sorted(rung.step for rung in due)
            at = {rung.step: rung.at for rung in due}
            assert [moment for moment, steps in reached] == [max(at[steps[0]], row.starts_at or at[steps[0]]) for _, steps in reached]
            assert row.due_at == (row.starts_at or began) + timedelta(hours=2)  # elapsed hours, whatever the clock on the wall does
            said = Counter(event.message for event in await home.events(reference, MessageAccepted))
            assert set(said.values()) == {1}
        got = {name: [message.key for message in channel.got[sent_in_vain[name] :]] for name, channel in down.items()}
        assert all(len(keys) == len(set(keys)) and keys for keys in got.values())
        assert not any(attempt.may_be_double for attempt in await home.attempts())


async def _down(home: Household) -> list[watch.Down]:
    async with reading(home.house) as tx:
        return await watch.providers_down(tx)
