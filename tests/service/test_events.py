"""Events are the truth: they are only added, facts are what they come to, and everything that follows one is in its transaction."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from deadlines.facts import FACT_KEYS
from service.errors import BadInput
from service.events import (
    EVENT_TYPES,
    ActRecorded,
    DischargerNamed,
    FactsRecorded,
    ObligationOpened,
    ReportReceived,
    SpillEvent,
    read_event,
)
from service.reactions import REACTIONS
from service.spills import facts_from
from service.transaction import Recorded, Transaction, reading, transaction
from tests.houses import OFFICER, Household
from tests.service.small_law import TWO_HOURS
from tests.spills import a_report, gallons


@pytest.mark.parametrize("statement", ["UPDATE event SET actor = 'nobody'", "UPDATE event SET payload = '{}'", "DELETE FROM event"])
async def test_the_database_refuses_to_change_an_event(small: Household, statement: str) -> None:
    reference = await small.report(a_report())
    before = [(row.kind, row.payload, row.actor) for row, _ in await small.history(reference)]
    with pytest.raises(DatabaseError, match="events are only added"):
        async with transaction(small.house, "a hand") as tx:
            await tx.session.execute(text(statement))
    assert [(row.kind, row.payload, row.actor) for row, _ in await small.history(reference)] == before


async def test_an_event_says_who_when_and_when_it_was_told(small: Household) -> None:
    reference = await small.report(a_report())
    called_at = small.clock.at
    small.clock.jump(minutes=20)
    await small.happened(reference, "notice_given", called_at, recipient="board", method="telephone")
    [row] = [row for row, event in await small.history(reference) if isinstance(event, ActRecorded)]
    assert (row.actor, row.happened_at, row.recorded_at) == (OFFICER, called_at, small.clock.at)


def test_every_kind_of_event_has_a_name_of_its_own() -> None:
    kinds = [event.kind for event in SpillEvent.__subclasses__()]
    assert len(kinds) == len(set(kinds)) == len(EVENT_TYPES)
    assert all(":" in kind and len(kind) <= 40 for kind in kinds)


def test_a_kind_outside_the_list_is_an_error() -> None:
    with pytest.raises(KeyError, match="spill:forgotten"):
        read_event("spill:forgotten", {})


@pytest.mark.parametrize("kind", sorted(EVENT_TYPES))
def test_an_event_of_any_kind_refuses_keys_it_does_not_know(kind: str) -> None:
    assert EVENT_TYPES[kind].model_config["extra"] == "forbid"
    assert EVENT_TYPES[kind].model_config["frozen"]


# -- facts are a fold over the events

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "material": st.sampled_from(["sewage", "petroleum", "paint", None]),
    "threat": st.sampled_from([True, False, None]),
    "volume": st.sampled_from([gallons(800), gallons(1500), {"low": 1, "high": 9, "unit": "L"}, None]),
    "jurisdiction": st.sampled_from(["chino", None]),
    "reached": st.sampled_from([["storm_drain"], ["land", "street"], None]),
}
CHANGES = st.fixed_dictionaries({}, optional=VALUES)
ACTS = st.sampled_from([{"type": "repaired", "at": "2026-12-01T22:00:00Z"}, {"type": "paid", "at": "2026-12-01T22:30:00Z"}])


@given(st.lists(st.one_of(CHANGES, st.tuples(ACTS))))
def test_facts_are_the_last_value_told_of_each_key(told: list[Any]) -> None:
    known: dict[str, Any] = {}
    acts: list[Any] = []
    events: list[SpillEvent] = [ReportReceived(raw={}, by_way_of="api")]
    for part in told:
        if isinstance(part, tuple):
            acts.append(part[0])
            events.append(ActRecorded(act=part[0]))
        else:
            events.append(FactsRecorded(changes={key: (known.get(key), value) for key, value in part.items()}))
            known.update(part)
    expected = {key: value for key, value in known.items() if value is not None} | ({"events": acts} if acts else {})
    assert facts_from(events) == expected


@pytest.mark.parametrize("seed", range(6))
async def test_the_stored_facts_are_what_the_events_come_to(home: Household, seed: int) -> None:
    dice = random.Random(seed)
    reference = await home.report(a_report())
    choices: dict[str, list[Any]] = {
        "material": ["sewage", "petroleum", "paint", "unknown", None],
        "volume": [gallons(800), gallons(1500), {"low": 200, "high": 1200, "unit": "gal"}, {"quantity": 2, "unit": "m3"}, None],
        "reached": [["storm_drain"], ["contained"], ["street", "gutter"], None],
        "threat": [True, False, None],
        "accidental": [True, False, None],
        "discharged_at": ["2026-12-01T13:00", "2026-11-30T23:59:59-08:00", None],
        "jurisdiction": ["chino", "soledad", "ontario", None],
        "premises": ["construction", None],
    }
    for _ in range(8):
        home.clock.jump(minutes=dice.randrange(1, 400))
        match dice.randrange(4):
            case 0:
                await home.happened(reference, dice.choice(["cleanup_done", "repaired", "sampling_done", "record_made"]))
            case 1:
                await home.name_discharger(reference, f"Firm {dice.randrange(9)}", email="firm@example.gov")
            case _:
                keys = dice.sample(sorted(choices), dice.randrange(1, 4))
                await home.amend(reference, **{key: dice.choice(choices[key]) for key in keys})
    history = [event for _, event in await home.history(reference)]
    spill = await home.spill(reference)
    assert facts_from(history) == spill.facts
    assert spill.city == spill.facts.get("jurisdiction")
    assert None not in spill.facts.values()
    assert set(spill.facts) <= set(FACT_KEYS)
    named = [event for event in history if isinstance(event, DischargerNamed)]
    assert spill.discharger == ({"name": named[-1].name, "email": named[-1].email, "phone": named[-1].phone} if named else {})


async def test_an_amended_fact_keeps_both_values_and_the_reason(small: Household) -> None:
    reference = await small.report(a_report(volume=gallons(800)))
    small.clock.jump(hours=1)
    await small.amend(reference, "the pump log says so", volume=gallons(1500), threat=True)
    recorded = (await small.events(reference, FactsRecorded))[-1]
    assert recorded.changes == {"volume": (gallons(800), gallons(1500)), "threat": (None, True)}
    assert recorded.reason == "the pump log says so"
    await small.amend(reference, "no, it was the first figure", volume=gallons(800), threat=None)
    recorded = (await small.events(reference, FactsRecorded))[-1]
    assert recorded.changes == {"volume": (gallons(1500), gallons(800)), "threat": (True, None)}
    assert "threat" not in (await small.spill(reference)).facts


async def test_an_amendment_that_changes_nothing_leaves_no_event(small: Household) -> None:
    reference = await small.report(a_report())
    before = len(await small.history(reference))
    await small.amend(reference, volume=gallons(1500), threat=None)
    assert len(await small.history(reference)) == before


async def test_faults_of_an_amendment_are_named_together_and_nothing_is_recorded(small: Household) -> None:
    reference = await small.report(a_report())
    before = len(await small.history(reference))
    with pytest.raises(BadInput) as refused:
        await small.amend(reference, "  ", colour="brown", events=[], volume=gallons(800))
    assert [fault.partition(":")[0] for fault in refused.value.faults] == ["events", "colour", "reason"]
    with pytest.raises(BadInput) as refused:
        await small.amend(reference, volume={"quantity": -5, "unit": "pints"}, threat="maybe", jurisdiction="gotham")
    assert {fault.partition(":")[0] for fault in refused.value.faults} == {"jurisdiction", "threat", "volume.quantity", "volume.unit"}
    assert all("right would be" in fault for fault in refused.value.faults)
    assert len(await small.history(reference)) == before
    assert (await small.spill(reference)).facts["volume"] == gallons(1500)


async def test_what_happened_cannot_lie_in_the_future(small: Household) -> None:
    reference = await small.report(a_report())
    soon = small.clock.at.replace(hour=23)
    with pytest.raises(BadInput) as refused:
        await small.happened(reference, "cleanup_done", soon)
    assert "lies in the future" in refused.value.faults[0]


# -- one transaction


@contextmanager
def statements(home: Household) -> Iterator[list[str]]:
    """Every BEGIN, COMMIT and ROLLBACK that the database is sent."""
    seen: list[str] = []
    engine = home.house.engine.sync_engine

    def begun(_: Any) -> None:
        seen.append("begin")

    def committed(_: Any) -> None:
        seen.append("commit")

    def undone(_: Any) -> None:
        seen.append("rollback")

    listeners = [("begin", begun), ("commit", committed), ("rollback", undone)]
    for name, listener in listeners:
        sqlalchemy_event.listen(engine, name, listener)
    try:
        yield seen
    finally:
        for name, listener in listeners:
            sqlalchemy_event.remove(engine, name, listener)


async def test_an_amendment_and_all_that_follows_is_one_transaction(small: Household) -> None:
    reference = await small.report(a_report(volume=gallons(800)))
    small.clock.jump(hours=3)
    with statements(small) as seen:
        await small.amend(reference, volume=gallons(1500))
    assert seen == ["begin", "commit"]
    assert (await small.clock_of(reference, TWO_HOURS)).state == "overdue"
    assert await small.messages(TWO_HOURS)


class Stumble(Exception):
    """What a reaction raises here."""


async def stumble(_: Transaction, __: Recorded) -> None:
    raise Stumble


@pytest.mark.parametrize("kind", [FactsRecorded, ObligationOpened])
async def test_a_reaction_that_raises_undoes_everything(small: Household, kind: type[SpillEvent]) -> None:
    reference = await small.report(a_report(volume=gallons(800)))
    before = await small.history(reference)
    clumsy = small.with_house(reactions={**REACTIONS, kind: [*REACTIONS[kind], stumble]})
    with pytest.raises(Stumble), statements(small) as seen:
        await clumsy.amend(reference, volume=gallons(1500))
    assert seen == ["begin", "rollback"]
    assert await small.clocks(reference) == []
    assert await small.messages() == []
    assert (await small.spill(reference)).facts["volume"] == gallons(800)
    assert len(await small.history(reference)) == len(before)


async def test_the_worker_is_woken_by_a_commit_and_not_by_a_rollback(small: Household) -> None:
    reference = await small.report(a_report(volume=gallons(800)))
    ear = small.house.bell.listen()
    clumsy = small.with_house(reactions={**REACTIONS, ObligationOpened: [*REACTIONS[ObligationOpened], stumble]})
    with pytest.raises(Stumble):
        await clumsy.amend(reference, volume=gallons(1500))
    assert not ear.is_set()
    await small.amend(reference, volume=gallons(1500))
    assert ear.is_set()


async def test_a_reader_holds_up_no_writer(small: Household) -> None:
    reference = await small.report(a_report(volume=gallons(800)))
    async with reading(small.house) as tx:
        assert (await tx.spill(reference)).facts["volume"] == gallons(800)
        await small.amend(reference, volume=gallons(900))
        assert (await tx.session.execute(text("SELECT count(*) FROM event"))).scalar_one() == 2
    assert (await small.spill(reference)).facts["volume"] == gallons(900)
