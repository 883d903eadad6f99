"""The board: its lines say at every moment what the record says, and are found by what somebody asks for."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select
from sqlmodel import col

from service import board, judging, merging, obligations, spill_search, spills, splitting
from service.access import Staff
from service.assigning import assign
from service.board import Stretch, Wanted
from service.board_tables import BoardLine, SpillWords
from service.closing import close, duties_in_the_way, reopen
from service.errors import BadInput, Conflict
from service.events import EVENT_TYPES, AssessmentFailed, RungReachedNobody
from service.held_reports import TRAP
from service.relocation import Move, move_pin
from service.tables import Meta, Spill
from service.transaction import Transaction, reading, transaction
from tests.houses import OFFICER, TUESDAY, Household, a_household
from tests.service.small_law import CALL, COUNTED, SAMPLE, TWO_HOURS, small_law
from tests.spills import IN_CHINO, IN_ONTARIO, a_report, gallons

EVERYWHERE = Staff("officer@every-city.example", "officer", None)
EXAMPLES = 80 if os.environ.get("SPILLCLOCK_TESTS_LONG") else 3


async def found(home: Household, staff: Staff = EVERYWHERE, limit: int = 100, **wanted: Any) -> list[str]:
    return [line.reference for line in (await stretch(home, staff, limit, **wanted)).lines]


async def stretch(
    home: Household, staff: Staff = EVERYWHERE, limit: int = 100, after: str = "", before: str = "", **wanted: Any
) -> Stretch:
    async with reading(home.house) as tx:
        return await board.found(tx, board.conditions(tx, staff, Wanted(**wanted)), limit, after=after, before=before)


async def line_of(home: Household, reference: str) -> BoardLine:
    async with reading(home.house) as tx:
        return (await tx.session.execute(select(BoardLine).where(col(BoardLine.reference) == reference))).scalar_one()


# -- lines are never stale


async def check_lines(home: Household) -> None:
    """Every line and every word is as it comes out when it is drawn from nothing."""
    async with reading(home.house) as tx:
        numbers = list((await tx.session.execute(select(col(Spill.id)))).scalars())
        kept = {line.spill_id: line.model_dump() for line in (await tx.session.execute(select(BoardLine))).scalars()}
        words = {row.spill_id: row.words for row in (await tx.session.execute(select(SpillWords))).scalars()}
        afresh = await board.drawn_of(tx, numbers)
        assert words == await spill_search.words_on_record(tx, numbers, {})
    assert set(kept) == set(numbers)
    for number, line in kept.items():
        del line["drawn_at"], line["draws"], line["spill_id"]
        assert line == afresh[number]


HELD = 3
_WHICH = st.integers(0, 3)
STEPS = st.one_of(
    st.tuples(st.just("merge"), _WHICH, _WHICH),
    st.tuples(st.just("unmerge"), _WHICH),
    st.tuples(st.just("amend"), _WHICH, st.sampled_from([{"volume": 200}, {"volume": 1500}, {"threat": True}, {"threat": None}])),
    st.tuples(st.just("city"), _WHICH, st.sampled_from([None, "chino"])),
    st.tuples(st.just("move"), _WHICH, st.sampled_from(["the north side", "behind the mill"])),
    st.tuples(st.just("call"), _WHICH),
    st.tuples(st.just("waive"), _WHICH),
    st.tuples(st.just("close"), _WHICH),
    st.tuples(st.just("reopen"), _WHICH),
    st.tuples(st.just("assign"), _WHICH, st.sampled_from(["officer@chino.example", ""])),
    st.tuples(st.just("split"), _WHICH),
    st.tuples(st.sampled_from(["real", "automatic"]), st.just(HELD)),
    st.tuples(st.just("fail"), _WHICH),
    st.tuples(st.just("live"), st.integers(1, 300)),
)


async def _merge(tx: Transaction, spill: Spill, other: str) -> None:
    second = await tx.spill(other)
    await merging.merge(tx, spill, second, "the same", drop=[row.id or 0 for row in await obligations.of_spill(tx, second)])


async def _close(tx: Transaction, spill: Spill) -> None:
    await close(tx, spill, {"en": "All is well"}, "manager", [row.id or 0 for row in await duties_in_the_way(tx, spill)])


async def _waive(tx: Transaction, spill: Spill) -> None:
    for row in await obligations.of_spill(tx, spill):
        await obligations.waive(tx, row, spill, "counsel agreed")


async def _amend(tx: Transaction, spill: Spill, facts: dict[str, Any]) -> None:
    await spills.amend_facts(tx, spill, {key: gallons(value) if key == "volume" else value for key, value in facts.items()}, "measured")


# What is done to a spill; a further argument is what the step says.
DOES: dict[str, Callable[..., Awaitable[Any]]] = {
    "merge": _merge,
    "unmerge": lambda tx, spill: merging.unmerge(tx, spill, "another one"),
    "amend": _amend,
    "city": lambda tx, spill, city: _amend(tx, spill, {"jurisdiction": city}),
    "move": lambda tx, spill, where: move_pin(tx, spill, Move(*IN_CHINO.values(), where, reason="I stood there")),
    "call": lambda tx, spill: spills.record_act(
        tx, spill, {"type": "notice_given", "at": tx.now.isoformat(), "recipient": "board", "method": "telephone"}
    ),
    "waive": _waive,
    "close": _close,
    "reopen": lambda tx, spill: reopen(tx, spill, {"en": "It runs again"}, "manager"),
    "assign": assign,
    "split": lambda tx, spill: splitting.split(
        tx, spill, splitting.Part("two manholes", "The second manhole", {"volume": gallons(1200)})
    ),
    "fail": lambda tx, spill: tx.record(spill, AssessmentFailed(problem="made up")),
    "real": judging.call_real,
    "automatic": lambda tx, spill: judging.set_aside(tx, spill, "officer"),
}  # fmt: skip


async def take(home: Household, reports: Sequence[str], step: tuple[Any, ...]) -> None:
    """Take a step. One that is refused changes nothing, and is no fault."""
    kind, *said = step
    if kind == "live":
        await home.live(minutes=said[0])
        return
    which, *more = said
    more = [reports[more[0]]] if kind == "merge" else more
    try:
        async with transaction(home.house, OFFICER) as tx:
            await DOES[kind](tx, await tx.spill(reports[which]), *more)
    except (BadInput, Conflict):
        return


async def walk(steps: Sequence[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with a_household(Path(folder), law=small_law(CALL + COUNTED + SAMPLE)) as home:
            await home.token("officer", "chino")
            reports = [await home.report(a_report()), await home.report(a_report(location=None)), await home.report(a_report(threat=True))]
            reports.append(await home.report(a_report(), staff=False, by_way_of="web", doubts=(TRAP,)))
            await check_lines(home)
            for step in steps:
                await take(home, reports, step)
                await check_lines(home)


@pytest.mark.timeout(600)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(st.lists(STEPS, min_size=3, max_size=8))
def test_after_any_steps_the_lines_are_as_if_drawn_afresh(steps: list[tuple[Any, ...]]) -> None:
    asyncio.run(walk(steps))


async def test_each_kind_of_step_changes_a_line_and_leaves_none_stale(small: Household) -> None:
    await small.token("officer", "chino")
    reports = [await small.report(a_report()) for _ in range(3)]
    reports.append(await small.report(a_report(), staff=False, by_way_of="web", doubts=(TRAP,)))
    steps: list[tuple[Any, ...]] = [
        ("amend", 0, {"volume": 1400}), ("move", 0, "the north side"), ("assign", 0, "officer@chino.example"), ("merge", 0, 1),
        ("call", 0), ("unmerge", 1), ("waive", 1), ("close", 1), ("reopen", 1), ("split", 2), ("close", 2), ("city", 2, None), ("fail", 0),
        ("real", HELD), ("live", 300),
    ]  # fmt: skip
    for step in steps:
        small.clock.jump(seconds=1)
        before = [(await line_of(small, one)).model_dump() for one in reports]
        await take(small, reports, step)
        assert [(await line_of(small, one)).model_dump() for one in reports] != before, step
        await check_lines(small)


def test_every_kind_of_event_either_draws_the_line_or_is_named_as_leaving_it_alone() -> None:
    assert set(EVENT_TYPES.values()) >= board.LEFT_ALONE
    assert {kind for kind in EVENT_TYPES if "message" in kind or kind.startswith("address")} <= {one.kind for one in board.LEFT_ALONE}
    for what_lines_show in (
        "facts:recorded",
        "obligation:opened",
        "obligation:met",
        "rung:reached-nobody",
        "spill:closed",
        "officer:assigned",
    ):
        assert EVENT_TYPES[what_lines_show] not in board.LEFT_ALONE


async def test_spills_of_an_older_release_get_their_lines_at_its_first_start(small: Household) -> None:
    references = {await small.report(a_report(description="Paint in the gutter")) for _ in range(3)}
    async with transaction(small.house, "test") as tx:
        await tx.session.execute(delete(BoardLine))
        await tx.session.execute(delete(SpillWords))
        await tx.session.execute(delete(Meta).where(col(Meta.key) == "board"))
    assert await board.bring_up_to_date(small.house) == 3
    assert set(await found(small, text="paint")) == references
    await check_lines(small)
    assert await board.bring_up_to_date(small.house) == 0


async def test_a_transaction_that_is_undone_leaves_the_line_as_it_was(small: Household) -> None:
    reference = await small.report(a_report())
    before = (await line_of(small, reference)).model_dump()

    async def fail() -> None:
        async with transaction(small.house, OFFICER) as tx:
            await tx.record(await tx.spill(reference), AssessmentFailed(problem="made up"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert (await line_of(small, reference)).model_dump() == before


# -- what a line says


async def test_a_line_names_the_nearest_duty_and_what_else_is_to_be_done(home: Household) -> None:
    reference = await home.report(a_report(reached=["storm_drain"]))
    line = await line_of(home, reference)
    assert (line.due_at, line.sort_at) == (TUESDAY + timedelta(minutes=15), TUESDAY + timedelta(minutes=15))
    assert (line.material, line.volume, line.place) == ("sewage", gallons(1500), "13220 Central Ave")
    assert line.brief == "A manhole overflows beside the school."
    assert line.duties[0]["at_once"]
    assert [duty["due_at"] for duty in line.duties] == sorted(duty["due_at"] for duty in line.duties)
    assert 0 < len(board.late(line, TUESDAY + timedelta(minutes=20))) < len(line.duties)
    assert board.late(line, TUESDAY + timedelta(minutes=15)) == []


async def test_a_record_to_be_kept_for_years_is_nothing_to_do(home: Household) -> None:
    reference = await home.report(a_report(reached=["storm_drain"]))
    kept = [row for row in await home.clocks(reference) if row.act == "retention"]
    line = await line_of(home, reference)
    assert {row.duty for row in kept} & {duty["duty"] for duty in line.duties} == set()
    assert {duty["duty"] for duty in line.duties} == {
        row.duty for row in await home.clocks(reference) if row.state == "running" and row.act != "retention"
    }


async def test_an_alarm_stands_while_its_duty_is_open(small: Household) -> None:
    reference = await small.report(a_report())
    row = await small.clock_of(reference, TWO_HOURS)
    async with transaction(small.house, "spillclock") as tx:
        await tx.record(await tx.spill(reference), RungReachedNobody(obligation=row.id or 0, duty=row.duty, steps=["start"], reason="none"))
    assert (await line_of(small, reference)).alarms == 1
    assert await found(small, state="alarm") == [reference]
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    assert (await line_of(small, reference)).alarms == 0
    assert await found(small, state="alarm") == []


async def test_a_spill_closed_over_open_duties_stays_on_the_board_until_they_are_done(small: Household) -> None:
    reference = await small.report(a_report())
    async with transaction(small.house, OFFICER) as tx:
        spill = await tx.spill(reference)
        await close(tx, spill, {"en": "Done"}, "manager", [row.id or 0 for row in await duties_in_the_way(tx, spill)])
    assert (await line_of(small, reference)).closed_at == TUESDAY
    assert await found(small, stands=("open",)) == [reference]
    await small.happened(reference, "notice_given", recipient="board", method="telephone")
    assert await found(small, stands=("open",)) == []
    assert await found(small, stands=("closed",)) == [reference]


async def test_a_merged_report_leaves_the_board_and_is_found_by_its_words(small: Household) -> None:
    kept, other = await small.report(a_report()), await small.report(a_report(description="Brown water at the Fuchsia Mall"))
    async with transaction(small.house, OFFICER) as tx:
        await merging.merge(tx, await tx.spill(kept), await tx.spill(other), "the same")
    assert await found(small) == [kept]
    assert await found(small, stands=board.STANDS, text="fuchsia") == [other]
    assert (await line_of(small, other)).merged_into == kept


# -- what is asked for


async def test_the_nearest_due_comes_first_and_what_has_no_clock_last(home: Household) -> None:
    later = await home.report(a_report(volume=gallons(10), reached=["contained"], threat=True))
    sooner = await home.report(a_report(reached=["storm_drain"]))
    unassigned = await home.report(a_report(location=None))
    elsewhere = await home.report(a_report(location=IN_ONTARIO, reached=["storm_drain"]))
    order = await found(home)
    assert order[-1] == unassigned
    assert order.index(sooner) < order.index(later)
    assert await found(home, city="ontario") == [elsewhere]
    assert set(await found(home, Staff("ann@chino.example", "viewer", "chino"))) == {sooner, later, unassigned}


async def test_filters_narrow_by_due_time_material_and_who_is_in_charge(small: Household) -> None:
    await small.token("officer", "chino")
    soon = await small.report(a_report())
    small.clock.jump(minutes=-90)
    sooner = await small.report(a_report(material="sewage"))
    small.clock.jump(minutes=90)
    none_due = await small.report(a_report(volume=gallons(3), material="paint"))
    unknown = await small.report(a_report(volume=gallons(3), material=None))
    async with transaction(small.house, OFFICER) as tx:
        await assign(tx, await tx.spill(soon), "officer@chino.example")
    assert await found(small, within=timedelta(hours=1)) == [sooner]
    assert await found(small, within=timedelta(hours=2)) == [sooner, soon]
    assert await found(small, state="quiet") == [unknown, none_due]
    assert await found(small, material="paint") == [none_due]
    assert await found(small, material="unknown") == [unknown]
    assert await found(small, officer="officer@chino.example") == [soon]
    assert set(await found(small, officer="nobody")) == {sooner, none_due, unknown}
    small.clock.jump(minutes=31)
    assert await found(small, state="overdue") == [sooner]  # no worker has run: it is late because time has passed
    with pytest.raises(ValueError, match="none of"):
        await found(small, state="odd")


async def test_the_list_goes_on_and_back_without_gap_or_repeat(small: Household) -> None:
    for number in range(4):
        await small.report(a_report(known_at=(TUESDAY - timedelta(minutes=number % 2)).isoformat()))  # two and two are due alike
    for _ in range(3):
        await small.report(a_report(volume=gallons(2)))
    whole = await found(small)
    forward, after = [], ""
    while True:
        part = await stretch(small, limit=3, after=after)
        forward.append([line.reference for line in part.lines])
        if not part.later:
            break
        after = part.later
    assert [reference for part_ in forward for reference in part_] == whole
    assert [len(part_) for part_ in forward] == [3, 3, 1]
    back = await stretch(small, limit=3, before=part.earlier)
    assert [line.reference for line in back.lines] == forward[1]
    assert (await stretch(small, limit=3, after=back.later)).lines[0].reference == forward[2][0]
    first = await stretch(small, limit=3, before=back.earlier)
    assert ([line.reference for line in first.lines], first.earlier) == (forward[0], "")
    for odd in ("x", "1", "1.2.3", "-1.4", "7.", "9" * 18 + ".1"):
        assert [line.reference for line in (await stretch(small, limit=3, after=odd)).lines] == forward[0]
