"""Whatever is merged, taken apart, amended and done, in whatever order: no clock is lost, nobody is told the same twice in a row, and each
report taken apart again stands as it would have stood alone."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deadlines import as_z, assess, read_moment
from service import merging
from service.errors import Conflict
from service.events import ObligationMoved, ObligationOpened
from service.ladders import steps_of
from service.spills import checked_facts
from service.tables import Obligation
from service.transaction import transaction
from tests.houses import OFFICER, Household, a_household
from tests.service.small_law import CALL, COUNTED, small_law
from tests.spills import a_report, gallons

pytestmark = pytest.mark.timeout(900)  # a hundred examples
REPORTS = 3
EXAMPLES = 100 if os.environ.get("SPILLCLOCK_TESTS_LONG") else 6
ORDER = """
  - id: stop
    title: Stop work now
    provisions: [T-5]
    citation: Test Code 5
    says: Whoever is served a stop work order stops.
    on: order_served
    where: {order: stop_work_order}
    limit: 6 hours
    to: works
    how: [any]
    act: order
    owed_by: discharger
    ladder: main
    reading: Read for tests.
"""
# A clock that hangs on the amount, one that is presumed until the threat is settled, one that an event starts: few, so that many
# examples take little time.
LAW = CALL + COUNTED + ORDER
_WHICH = st.integers(0, REPORTS - 1)
STEPS = st.one_of(
    st.tuples(st.just("merge"), _WHICH, _WHICH),
    st.tuples(st.just("unmerge"), _WHICH),
    st.tuples(st.just("amount"), _WHICH, st.sampled_from([200, 900, 1500])),
    st.tuples(st.just("settle"), _WHICH, st.just("threat"), st.sampled_from([True, False, None])),
    st.tuples(st.just("call"), _WHICH, st.sampled_from(["board", "works"])),
    st.tuples(st.just("order"), _WHICH),
    st.tuples(st.just("live"), st.integers(1, 90)),
)


async def take(home: Household, reports: Sequence[str], step: tuple[Any, ...]) -> None:
    """Take a step; one that is refused changes nothing, and is no fault."""
    kind, *said = step
    if kind == "live":
        await home.live(minutes=said[0])
    elif kind == "amount":
        await home.amend(reports[said[0]], volume=gallons(said[1]))
    elif kind == "settle":
        await home.amend(reports[said[0]], **{said[1]: said[2]})
    elif kind == "call":
        await home.happened(reports[said[0]], "notice_given", recipient=said[1], method="telephone")
    elif kind == "order":
        await home.happened(reports[said[0]], "order_served", order="stop_work_order")
    else:
        try:
            await merge_or_part(home, kind, *(reports[number] for number in said))
        except Conflict:
            return


async def merge_or_part(home: Household, kind: str, first: str, *second: str) -> None:
    async with transaction(home.house, OFFICER) as tx:
        if kind == "unmerge":
            await merging.unmerge(tx, await tx.spill(first), "another one")
        else:
            kept, other = await tx.spill(first), await tx.spill(second[0])
            drop = [row.id or 0 for row in await home.clocks(other.reference)]
            await merging.merge(tx, kept, other, "the same", drop=drop)


def one_fact(home: Household, facts: dict[str, Any], key: str) -> datetime | None:
    return read_moment(facts[key], home.house.rulebook.zones["chino"]) if facts.get(key) else None


async def expected(home: Household, reference: str, reports: Sequence[str]) -> set[tuple[str, str | None, str | None]]:
    """The clocks that the law gives a spill with all that were merged into it, put together without the help of the program."""
    spills = {one: await home.spill(one) for one in reports}
    ids = {spill.id: one for one, spill in spills.items()}
    group = [reference]
    for one in group:
        group += [other for other, spill in spills.items() if ids.get(spill.merged_into) == one]
    facts = dict(spills[reference].facts)
    known = [moment for one in group if (moment := one_fact(home, spills[one].facts, "known_at"))]
    facts["known_at"] = as_z(min(known))
    facts["events"] = [event for one in group for event in spills[one].facts.get("events", [])]
    clocks = assess(checked_facts(home.house.rulebook, facts), home.house.rulebook, home.clock.at).clocks
    return {(clock.duty, as_z(clock.starts_at), as_z(clock.due_at)) for clock in clocks}


def stands(rows: Sequence[Obligation]) -> set[tuple[str, str | None, str | None]]:
    return {(row.duty, as_z(row.starts_at), as_z(row.due_at)) for row in rows if row.state != "withdrawn"}


async def check_clocks(home: Household, reports: Sequence[str]) -> None:
    for one in reports:
        rows = await home.clocks(one)
        if (await home.spill(one)).merged_into is not None:
            assert all(row.state in ("withdrawn", "met", "met_late", "waived") and row.next_at is None for row in rows)
            continue
        running = {clock for clock in stands(rows) if clock[0] in {row.duty for row in rows if row.state not in ("met", "met_late")}}
        wanted = await expected(home, one, reports)
        assert {duty for duty, *_ in wanted} <= {duty for duty, *_ in stands(rows)}, "a clock was lost"
        assert running <= wanted, "a clock stands that the law does not give"


async def check_messages(home: Household) -> None:
    """Nobody was told of one rung of one clock with the same due time twice in a row."""
    last: dict[tuple[Any, ...], Any] = {}
    plans = await plans_of(home)
    for row in await home.messages(state="accepted"):
        if row.obligation_id is None or not row.climb:
            continue
        moment = plans[row.obligation_id][int(row.climb.split(":")[1]) - 1]
        for step in steps_of(row.climb):
            key = (row.obligation_id, row.channel, row.address, step)
            assert last.get(key) != moment, f"{row.person} was told twice of clock {row.obligation_id}, {step}"
            last[key] = moment


async def plans_of(home: Household) -> dict[int, list[tuple[Any, ...]]]:
    """Start and due time of each clock under each of its plans, by the record.

    An amendment tells people anew by design, whatever the due time, so it counts as another moment; merging must not repeat itself.
    """
    plans: dict[int, list[tuple[Any, ...]]] = {}
    for number in range(1, REPORTS + 1):
        for _, event in await home.history(f"SP-2026-{number:05d}"):
            if isinstance(event, ObligationOpened) or (isinstance(event, ObligationMoved) and event.replanned):
                mine = plans.setdefault(event.obligation, [])
                again = 0 if isinstance(event, ObligationMoved) and event.regrouped else len(mine) + 1
                before = [kept for kept in mine if kept[:2] == (event.clock["starts_at"], event.clock["due_at"])]
                mine.append(before[-1] if before and not again else (event.clock["starts_at"], event.clock["due_at"], again))
    return plans


async def walk(steps: Sequence[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with a_household(Path(folder), law=small_law(LAW)) as home:
            reports = []
            for _ in range(REPORTS):
                reports.append(await home.report(a_report()))
                await home.live(minutes=10)
            for step in steps:
                await take(home, reports, step)
                await check_clocks(home, reports)
            await home.work()
            await check_messages(home)
            for one in reports:
                await merge_or_part(home, "unmerge", one)
            await check_clocks(home, reports)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(st.lists(STEPS, min_size=2, max_size=6))
def test_no_order_of_steps_loses_a_clock_or_tells_anybody_twice(steps: list[tuple[Any, ...]]) -> None:
    asyncio.run(walk(steps))


async def every_decision(home: Household, reports: Sequence[str]) -> list[list[tuple[Any, ...]]]:
    return [
        sorted((row.duty, row.event_no, row.occurrence, row.state, row.starts_at, row.due_at, row.met_at) for row in await home.clocks(one))
        for one in reports
    ]


async def there_and_back(before: Sequence[tuple[Any, ...]], first: int, second: int, between: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with a_household(Path(folder), law=small_law(LAW)) as home:
            reports = []
            for _ in range(REPORTS):
                reports.append(await home.report(a_report()))
                await home.live(minutes=10)
            for step in before:
                await take(home, reports, step)
            await home.work()
            stood = await every_decision(home, reports)
            told = len(home.outbox())
            is_apart = (await home.spill(reports[second])).merged_into is None
            try:
                await merge_or_part(home, "merge", reports[first], reports[second])
            except Conflict:
                return
            if not is_apart:
                return
            if between:
                await home.work()
            await merge_or_part(home, "unmerge", reports[second])
            assert without_new(await every_decision(home, reports), stood) == stood
            if not between:
                await home.work()
                assert len(home.outbox()) == told  # nothing was told meanwhile, and nothing has changed


def without_new(after: list[list[tuple[Any, ...]]], before: list[list[tuple[Any, ...]]]) -> list[list[tuple[Any, ...]]]:
    """The decisions without clocks that the merger started and its end withdrew, which stay on record."""
    keys = [{row[:3] for row in rows} for rows in before]
    fresh = [row for rows, known in zip(after, keys, strict=True) for row in rows if row[:3] not in known]
    assert all(row[3] == "withdrawn" for row in fresh)
    return [[row for row in rows if row[:3] in known] for rows, known in zip(after, keys, strict=True)]


_QUIET_STEPS = st.lists(STEPS.filter(lambda step: step[0] in ("amount", "settle", "call", "order", "live")), max_size=5)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(_QUIET_STEPS, _WHICH, _WHICH, st.integers(0, 1))
def test_taken_apart_at_once_every_clock_is_decided_as_before(before: list[tuple[Any, ...]], first: int, second: int, between: int) -> None:
    if first != second:
        asyncio.run(there_and_back(before, first, second, between))
