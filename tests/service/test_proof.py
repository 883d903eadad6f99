"""The record is a chain for each city: every event has its place, whatever wrote it, and a record that is not as it was is named."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import col

from service import merging
from service.audit import missing_triggers
from service.chain import NO_CITY, canonical, hash_of, record_of, seal_of
from service.destroying import REDACTION, RETENTION, destroy_sealed
from service.errors import BadInput
from service.events import EVENT_TYPES, ActRecorded, FactsRecorded, MessageAccepted, PersonalDestroyed, ReportReceived
from service.personal import ACTOR, OPEN, PERSONAL, REMOVED, parted, rejoined
from service.tables import Chain, ChainRecord, EventRow
from service.transaction import reading, transaction
from tests.houses import Household
from tests.service.damage import walked
from tests.spills import IN_ONTARIO, NOWHERE_NEAR, a_report


async def places(home: Household, reference: str) -> list[tuple[str, str]]:
    """The kind of each event of a spill, with the chain it stands in, in the order of the record."""
    query = (
        select(col(EventRow.kind), col(ChainRecord.chain))
        .join(ChainRecord, col(ChainRecord.event_id) == col(EventRow.id))
        .where(col(EventRow.spill_id) == (await home.spill(reference)).id)
        .order_by(col(EventRow.id))
    )
    async with reading(home.house) as tx:
        return [(kind, chain) for kind, chain in await tx.session.execute(query)]


async def test_every_event_of_a_busy_night_has_its_place_and_the_chains_are_whole(home: Household) -> None:
    await home.report(a_report())
    await home.report(a_report(location=IN_ONTARIO), staff=False)
    await home.report(a_report(location=NOWHERE_NEAR), staff=False)
    await home.live(hours=5)
    found = await walked(home)
    assert [one.broken for one in found.values()] == [None] * 3
    assert sorted(found) == ["chino", NO_CITY, "ontario"]
    async with reading(home.house) as tx:
        events = (await tx.session.execute(select(col(EventRow.id)))).scalars().all()
        accepted = (await tx.session.execute(select(EventRow).where(col(EventRow.kind) == MessageAccepted.kind))).scalars().all()
    assert sum(one.number for one in found.values()) == len(events)
    assert accepted
    assert all(row.payload["person"] and "person" not in row.opened for row in accepted)


async def test_an_event_stands_in_the_chain_of_the_city_that_its_spill_had_until_then(home: Household) -> None:
    reference = await home.report(a_report())
    await home.amend(reference, jurisdiction="ontario")
    stands = await places(home, reference)
    assert stands[:2] == [("report:received", NO_CITY), ("facts:recorded", NO_CITY)]
    moved = [chain for kind, chain in stands if kind == "facts:recorded"]
    assert moved == [NO_CITY, "chino"], "the chain of the city it leaves says that it left"
    assert stands[2][1] == "chino"
    assert stands[-1][1] == "ontario"
    assert {one.broken for one in (await walked(home)).values()} == {None}


async def test_merged_reports_keep_their_places(home: Household) -> None:
    kept, other = await home.report(a_report()), await home.report(a_report())
    before = await places(home, other)
    async with transaction(home.house, "officer@chino.example") as tx:
        await merging.merge(tx, await tx.spill(kept), await tx.spill(other), "the same manhole", drop=range(1000))
    assert (await places(home, other))[: len(before)] == before
    assert {one.broken for one in (await walked(home)).values()} == {None}


async def test_a_transaction_that_is_undone_leaves_no_place_behind(home: Household) -> None:
    reference = await home.report(a_report())
    before = await walked(home)

    async def stop_halfway() -> None:
        async with transaction(home.house, "officer@chino.example") as tx:
            await tx.record(await tx.spill(reference), ActRecorded(act={"type": "repaired", "at": "2026-12-01T22:00:00Z"}))
            await tx.session.flush()
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        await stop_halfway()
    assert await walked(home) == before


async def test_a_hash_is_made_as_the_document_says(home: Household) -> None:
    reference = await home.report(a_report(description="Häßlich “odd” \n 1.0", volume={"quantity": 1e21, "unit": "gal"}))
    async with reading(home.house) as tx:
        rows = (await tx.session.execute(select(EventRow))).scalars().all()
    for row in rows:
        happened, recorded = (f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}" for moment in (row.happened_at, row.recorded_at))
        said = {
            "event": row.id, "spill": reference, "kind": row.kind, "payload": row.opened, "actor": row.shown_actor,
            "happened_at": happened, "recorded_at": recorded, "seal": row.seal,
        }  # fmt: skip
        assert record_of(row.id, reference, row.model_dump()) == canonical(said)
        assert (row.seal is None) == (row.sealed is None) == (row.salt is None)
        if row.sealed is not None:
            assert seal_of(row.sealed, row.salt) == row.seal
    assert canonical({"b": 1.0, "a": ["é", 1e21, None, True, "\n"]}) == '{"a":["é",1e+21,null,true,"\\n"],"b":1.0}'
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(float("nan"))


# -- refused by the database


CHANGES = [
    "UPDATE event SET actor = 'nobody'",
    "UPDATE event SET payload = '{}'",
    "UPDATE event SET sealed = NULL, salt = NULL",
    "UPDATE event SET sealed = NULL, salt = NULL, destroyed_by = 1",
    "UPDATE event SET salt = NULL",
    "UPDATE event SET recorded_at = '2020-01-01 00:00:00'",
    "DELETE FROM event",
    "UPDATE chain_record SET hash = previous",
    "UPDATE chain_record SET number = number + 1000",
    "DELETE FROM chain_record",
    "UPDATE chain SET number = 0",
    "UPDATE chain SET name = 'other'",
    "DELETE FROM chain",
]
REPLACED = [
    "INSERT OR REPLACE INTO event SELECT * FROM event WHERE id = 1",
    "REPLACE INTO event (id, spill_id, kind, payload, actor, happened_at, recorded_at) VALUES (1, 1, 'x', '{}', 'x', '2026', '2026')",
    "UPDATE OR REPLACE event SET id = 2 WHERE id = 1",
    "INSERT OR REPLACE INTO chain_record VALUES (1, 'no city', 1, '', '')",
    "INSERT OR REPLACE INTO chain_record VALUES (999, 'no city', 1, '', '')",
    "INSERT OR REPLACE INTO chain VALUES ('no city', 0, '')",
    "INSERT INTO event SELECT * FROM event WHERE id = 1 ON CONFLICT DO UPDATE SET actor = 'x'",
]
EMPTIED = ["TRUNCATE event CASCADE", "TRUNCATE chain_record", "TRUNCATE chain"]


@pytest.mark.parametrize("statement", CHANGES + REPLACED + EMPTIED)
async def test_the_database_refuses_to_change_the_record(small: Household, statement: str) -> None:
    if (statement in REPLACED and not small.house.settings.is_embedded) or (statement in EMPTIED and small.house.settings.is_embedded):
        pytest.skip("a statement of the other database")
    await small.report(a_report())
    before = await walked(small)
    with pytest.raises(DBAPIError, match=r"only added"):
        async with transaction(small.house, "a hand") as tx:
            await tx.session.execute(text(statement))
    assert await walked(small) == before


async def test_a_trigger_that_is_gone_is_missed(small: Household) -> None:
    async with reading(small.house) as tx:
        assert await missing_triggers(tx) == []
    async with small.house.engine.begin() as connection:
        if small.house.settings.is_embedded:
            await connection.execute(text("DROP TRIGGER event_refuses_update"))
            await connection.execute(text("DROP TRIGGER chain_refuses_delete"))
        else:
            await connection.execute(text("DROP TRIGGER chain_refuses ON chain"))
            await connection.execute(text("ALTER TABLE event DISABLE TRIGGER event_refuses_change"))
    async with reading(small.house) as tx:
        missing = await missing_triggers(tx)
    embedded = small.house.settings.is_embedded
    assert missing == (["chain_refuses_delete", "event_refuses_update"] if embedded else ["chain_refuses", "event_refuses_change"])


# -- what is personal


def test_every_field_of_every_event_is_said_to_be_personal_or_open() -> None:
    for kind, event in EVENT_TYPES.items():
        personal, opened = set(PERSONAL.get(kind, {})), set(OPEN.get(kind, ()))
        assert personal | opened == set(event.model_fields), kind
        assert not personal & opened, kind
        assert ACTOR not in event.model_fields
    assert set(PERSONAL) | set(OPEN) == set(EVENT_TYPES)


@pytest.mark.parametrize("kind", sorted(PERSONAL))
def test_an_event_can_be_read_once_its_sealed_part_is_destroyed(kind: str) -> None:
    event = EVENT_TYPES[kind]
    samples = {name: PERSONAL[kind].get(name, _sample(field.annotation)) for name, field in event.model_fields.items()}
    told = rejoined(kind, {name: value for name, value in samples.items() if name not in PERSONAL[kind]}, None, destroyed=True)
    assert set(event.model_validate(told).model_dump()) == set(event.model_fields)


def _sample(annotation: Any) -> Any:
    name = str(annotation)
    for begins, value in (("<class 'str'", "x"), ("<class 'int'", 1), ("<class 'bool'", True), ("list", []), ("dict", {})):
        if name.startswith(begins):
            return value
    return None


@pytest.mark.parametrize(
    ("actor", "shown"),
    [
        ("officer@chino.example", "officer@chino.example"), ("public", "public"), ("reporter of SP-1", "reporter of SP-1"),
        ("Dana Cruz, discharger of SP-1", "discharger of SP-1"), ("discharger of SP-1", "discharger of SP-1"),
        ("Dana Cruz (text message)", "somebody (text message)"), ("+19095550101 (text message)", "somebody (text message)"),
        ("Omar (link in a mail)", "somebody (link in a mail)"), ("Omar (telephone)", "somebody (telephone)"), ("a:4711", "a:4711"),
    ],
)  # fmt: skip
def test_who_has_no_account_is_named_in_the_sealed_part_alone(actor: str, shown: str) -> None:
    opened, named, sealed = parted("act:recorded", {"act": {}, "note": ""}, actor)
    assert (opened, named) == ({"act": {}, "note": ""}, shown)
    assert sealed == (None if shown == actor else {ACTOR: actor})


async def test_what_is_sealed_reads_as_if_it_were_not(small: Household) -> None:
    reference = await small.report(a_report(description="my neighbour Quillon did it"), staff=False)
    (row, received), *_ = await small.history(reference)
    assert isinstance(received, ReportReceived)
    assert "raw" not in row.opened
    assert isinstance(received.raw, dict)
    assert received.raw["description"] == "my neighbour Quillon did it"


# -- destroyed


async def destroy(home: Household, reference: str, kind: type, basis: str = RETENTION, **instead: Any) -> list[int]:
    numbers = [row.id or 0 for row, event in await home.history(reference) if isinstance(event, kind)]
    async with transaction(home.house, "clerk@chino.example") as tx:
        spill = await tx.spill(reference)
        shown = {numbers[0]: instead} if instead else None
        assert await destroy_sealed(tx, spill, numbers, basis, "five years are over", shown) == len(numbers)
    return numbers


async def test_a_sealed_part_is_destroyed_and_the_chain_stays_whole(small: Household) -> None:
    reference = await small.report(a_report(description="my neighbour Quillon did it"), staff=False)
    small.clock.jump(hours=1)
    [number] = await destroy(small, reference, ReportReceived)
    history = await small.history(reference)
    [(row, received)] = [(row, event) for row, event in history if isinstance(event, ReportReceived)]
    assert (row.sealed, row.salt, received.raw, received.by_way_of) == (None, None, None, "api")
    assert [event for _, event in history if isinstance(event, PersonalDestroyed)] == [
        PersonalDestroyed(events=[number], basis=RETENTION, reason="five years are over")
    ]
    found = await walked(small)
    assert {one.broken for one in found.values()} == {None}
    [told] = found["chino"].destroyed
    assert (told.at, told.actor, told.basis, told.how_many, told.still_there) == (small.clock.at, "clerk@chino.example", RETENTION, 1, 0)
    async with transaction(small.house, "clerk@chino.example") as tx:
        assert await destroy_sealed(tx, await tx.spill(reference), [number], RETENTION, "again") == 0
    assert len(await small.events(reference, PersonalDestroyed)) == 1


async def test_what_was_destroyed_is_nowhere_in_the_database_file(small: Household) -> None:
    if not small.house.settings.is_embedded:
        pytest.skip("a file of SQLite")
    reference = await small.report(a_report())
    await small.happened(reference, "repaired")
    async with transaction(small.house, "officer@chino.example") as tx:
        await tx.record(
            await tx.spill(reference),
            ActRecorded(act={"type": "paid", "at": "2026-12-01T22:00:00Z"}, note="gate code kept by Ramsey Featherstone " * 40),
        )
    numbers = [row.id or 0 for row, event in await small.history(reference) if isinstance(event, ActRecorded) and event.note]
    async with transaction(small.house, "clerk@chino.example") as tx:
        await destroy_sealed(tx, await tx.spill(reference), numbers, REDACTION, "a gate code")
    await small.house.engine.dispose()
    left = b"".join(path.read_bytes() for path in small.house.settings.home_dir.glob("spillclock.db*"))
    assert b"Featherstone" not in left


async def test_a_redacted_text_is_shown_instead(small: Household) -> None:
    reference = await small.report(a_report())
    await small.amend(reference, "Quillon at 48 Peregrine Loop said so", threat=True)
    numbers = [row.id or 0 for row, event in await small.history(reference) if isinstance(event, FactsRecorded)]
    async with transaction(small.house, "clerk@chino.example") as tx:
        shown = {numbers[-1]: {"reason": "a neighbour said so"}}
        await destroy_sealed(tx, await tx.spill(reference), numbers[-1:], REDACTION, "a name", shown)
    assert [event.reason for event in await small.events(reference, FactsRecorded)][-1] == "a neighbour said so"
    await destroy(small, reference, PersonalDestroyed)
    assert [event.reason for event in await small.events(reference, FactsRecorded)][-1] == REMOVED
    assert {one.broken for one in (await walked(small)).values()} == {None}


async def test_what_cannot_be_destroyed_is_said_line_by_line(small: Household) -> None:
    reference = await small.report(a_report())
    async with transaction(small.house, "clerk@chino.example") as tx:
        with pytest.raises(BadInput) as refused:
            await destroy_sealed(tx, await tx.spill(reference), [1, 999], "whim", " ", {1: {"by_way_of": "x", "raw": 5}, 7: {}})
    assert [line.partition(";")[0] for line in refused.value.faults] == [
        "reason: missing", "basis: 'whim' is none", "events: 999 is no event of SP-2026-00001",
        "instead: by_way_of of event 1 is not personal, and stays as it is", "instead: 7 is not among the events",
    ]  # fmt: skip


# -- many at once


async def test_many_at_once_in_two_cities_make_two_chains_without_a_fork(home: Household) -> None:
    reports = [a_report(location=IN_ONTARIO) if number % 2 else a_report() for number in range(8)]
    references = await asyncio.gather(*(home.report(one) for one in reports))
    await asyncio.gather(*(home.amend(reference, threat=True) for reference in references), home.live(hours=1))
    found = await walked(home)
    assert {one.broken for one in found.values()} == {None}
    async with reading(home.house) as tx:
        ends = {end.name: (end.number, end.hash) for end in (await tx.session.execute(select(Chain))).scalars()}
    assert ends == {one.chain: (one.number, one.hash) for one in found.values()}


def test_a_hash_covers_place_and_predecessor() -> None:
    one = hash_of("chino", 1, "0" * 64, "d" * 64)
    assert re.fullmatch("[0-9a-f]{64}", one)
    assert (
        len({one, hash_of("ontario", 1, "0" * 64, "d" * 64), hash_of("chino", 2, "0" * 64, "d" * 64), hash_of("chino", 1, one, "d" * 64)})
        == 4
    )
