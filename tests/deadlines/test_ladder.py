"""Ladders: where rungs stand in time, which are due, which comes next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadlines import PlannedRung, Rung, assess, due_rungs, next_rung, plan
from deadlines.ladder import CHANNELS, ROLES, read_span
from tests.deadlines.case_files import all_cases, read, rulebook

START = datetime(2026, 12, 1, 22, 5, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def rung(step: str, *, every: str | None = None, times: int = 1, growing: int = 1, unless_acknowledged: bool = False) -> Rung:
    from_due, offset = Rung.parse_at(step)
    span = read_span(every) if every else None
    return Rung(step, from_due, offset, ("duty_officer",), ("sms",), unless_acknowledged, span, times, growing)


def planned(rungs: tuple[Rung, ...], hours: float) -> list[tuple[str, float]]:
    """Steps with the minutes from the start at which they stand."""
    return [(one.step, (one.at - START) / MINUTE) for one in plan(rungs, START, START + hours * HOUR)]


@pytest.mark.parametrize(
    ("text", "from_due", "offset"),
    [
        ("start", False, timedelta()), ("due", True, timedelta()), ("start+15m", False, 15 * MINUTE), ("due-1h", True, -HOUR),
        ("due+30m", True, 30 * MINUTE), ("due-2d", True, timedelta(days=-2)), ("due+0m", True, timedelta()),
    ],
)  # fmt: skip
def test_a_moment_of_a_ladder_is_read_as_it_is_written(text: str, from_due: bool, offset: timedelta) -> None:
    assert Rung.parse_at(text) == (from_due, offset)


@pytest.mark.parametrize("text", ["", "now", "due -1h", "due+1", "due+1w", "start+15 m", "due--1h", "Due", "due+1h30m"])
def test_a_moment_that_nobody_could_mean_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a moment of a ladder"):
        Rung.parse_at(text)


@pytest.mark.parametrize("text", ["0m", "1w", "m", "-1h", "1.5h", ""])
def test_a_span_that_nobody_could_mean_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a span of time"):
        read_span(text)


def test_rungs_stand_in_the_order_of_time_whatever_their_order_in_the_file() -> None:
    rungs = tuple(map(rung, ("due", "due-10m", "start", "due+30m", "start+15m")))
    assert planned(rungs, 2) == [("start", 0), ("start+15m", 15), ("due-10m", 110), ("due", 120), ("due+30m", 150)]


def test_a_reminder_from_before_the_start_is_left_out() -> None:
    rungs = tuple(map(rung, ("start", "due-1h", "due-10m", "due")))
    assert planned(rungs, 0.5) == [("start", 0), ("due-10m", 20), ("due", 30)]
    assert planned(rungs, 1) == [("start", 0), ("due-1h", 0), ("due-10m", 50), ("due", 60)]


def test_a_reminder_of_the_start_at_or_after_the_due_moment_is_left_out() -> None:
    rungs = tuple(map(rung, ("start", "start+5m", "start+15m", "due")))
    assert planned(rungs, 0.25) == [("start", 0), ("start+5m", 5), ("due", 15)]


def test_a_clock_that_is_due_before_it_begins_keeps_its_start_and_its_due_rung() -> None:
    rungs = tuple(map(rung, ("start", "due-1h", "due", "due+30m")))
    assert planned(rungs, -2) == [("due", -120), ("due+30m", -90), ("start", 0)]


def test_a_repeated_rung_is_numbered_and_spaced_evenly() -> None:
    assert planned((rung("start"), rung("due"), rung("due+1h", every="4h", times=3)), 1) == [
        ("start", 0), ("due", 60), ("due+1h#1", 120), ("due+1h#2", 360), ("due+1h#3", 600),
    ]  # fmt: skip


def gaps(every: str, times: int, growing: int) -> list[float]:
    """The hours between the repeats of a rung."""
    moments = rung("due", every=every, times=times, growing=growing).moments(START)
    return [(later - earlier) / HOUR for earlier, later in pairwise(moments)]


def test_gaps_that_grow_double_up_to_a_day() -> None:
    assert gaps("1h", 8, 2) == [1, 2, 4, 8, 16, 24, 24]
    assert gaps("30m", 5, 3) == [0.5, 1.5, 4.5, 13.5]
    assert planned((rung("start"), rung("due"), rung("due+1h", every="1h", times=4, growing=2)), 1)[2:] == [
        ("due+1h#1", 120), ("due+1h#2", 180), ("due+1h#3", 300), ("due+1h#4", 540),
    ]  # fmt: skip


def test_a_gap_longer_than_a_day_stays_as_it_is_written() -> None:
    assert gaps("7d", 3, 2) == [168, 168]
    assert gaps("4h", 4, 1) == [4, 4, 4]


@given(st.integers(1, 40 * 24 * 60), st.integers(1, 12), st.integers(1, 5))
def test_gaps_never_shrink_and_never_grow_past_a_day(minutes: int, times: int, growing: int) -> None:
    found = gaps(f"{minutes}m", times, growing)
    assert found == sorted(found)
    assert all(gap <= max(24, minutes / 60) + 1e-9 for gap in found)


def test_a_planned_rung_keeps_whom_to_tell_and_how() -> None:
    (one,) = plan((rung("start", unless_acknowledged=True),), START, START + HOUR)
    assert one == PlannedRung(START, "start", ("duty_officer",), ("sms",), True)


def test_due_rungs_are_those_after_the_last_and_up_to_now() -> None:
    rungs = plan(tuple(map(rung, ("start", "due-1h", "due"))), START, START + 2 * HOUR)

    def due(after: datetime | None, now: datetime) -> list[str]:
        return [one.step for one in due_rungs(rungs, after, now)]

    assert due(None, START - MINUTE) == []
    assert due(None, START) == ["start"]
    assert due(None, START + 3 * HOUR) == ["start", "due-1h", "due"]
    assert due(START, START + HOUR) == ["due-1h"]
    assert due(START + HOUR, START + 2 * HOUR - MINUTE) == []
    assert due(START + 2 * HOUR, START + 9 * HOUR) == []


def test_the_next_rung_is_the_first_later_one_or_none_at_the_top() -> None:
    rungs = plan(tuple(map(rung, ("start", "due"))), START, START + HOUR)
    assert next_rung(rungs, START - MINUTE) == rungs[0]
    assert next_rung(rungs, START) == rungs[1]
    assert next_rung(rungs, START + HOUR) is None
    assert next_rung([], START) is None


steps = st.one_of(
    st.sampled_from(["start", "due"]),
    st.builds("{}{}{}".format, st.sampled_from(["start+", "due-", "due+"]), st.integers(1, 90), st.sampled_from("mhd")),
)


@given(st.lists(steps, max_size=8), st.integers(0, 60 * 24 * 40), st.lists(st.integers(-10, 60 * 24 * 80), max_size=6))
def test_climbing_in_any_strides_passes_every_rung_exactly_once(names: list[str], minutes: int, stops: list[int]) -> None:
    rungs = plan(tuple(map(rung, names)), START, START + minutes * MINUTE)
    assert [one.at for one in rungs] == sorted(one.at for one in rungs)
    assert all(one.at >= START or one.step.startswith("due") for one in rungs)
    climbed: list[PlannedRung] = []
    after: datetime | None = None
    for now in [START + stop * MINUTE for stop in sorted(stops)] + [START + timedelta(days=400)]:
        climbed += due_rungs(rungs, after, now)
        following = next_rung(rungs, now)
        assert following is None or following.at > now
        after = now
    assert climbed == rungs


def test_every_ladder_that_ships_tells_somebody_at_the_start_and_when_due() -> None:
    for pack in rulebook().packs.values():
        for rule in pack.rules:
            assert bool(rule.ladder) is (rule.act != "retention"), rule.duty
            steps_of = {one.step for one in rule.ladder}
            assert not rule.ladder or {"start", "due"} <= steps_of, rule.duty
            assert all(one.tell and one.by and set(one.tell) <= set(ROLES) and set(one.by) <= set(CHANNELS) for one in rule.ladder)


def test_a_duty_of_the_city_never_wakes_the_discharger_first() -> None:
    for pack in rulebook().packs.values():
        for rule in pack.rules:
            first = next((one for one in rule.ladder if one.step == "start"), None)
            assert first is None or rule.owed_by == "discharger" or "discharger" not in first.tell, rule.duty
            assert first is None or rule.owed_by == "city" or "discharger" in first.tell, rule.duty


def test_the_ladder_of_every_case_reaches_its_due_moment() -> None:
    for case in all_cases():
        for clock in assess(read(case.facts), rulebook(), case.now).clocks:
            if clock.due_at is None or clock.starts_at is None or not clock.ladder:
                continue
            begins = min(clock.starts_at, clock.due_at)
            at_due = [one for one in plan(clock.ladder, begins, clock.due_at) if one.step == "due"]
            assert [one.at for one in at_due] == [clock.due_at], f"{case}: {clock.duty}"
