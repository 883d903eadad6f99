"""Cities take turns, in the queue of messages and on the ladders: one with thousands waiting holds up no other."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

from sqlalchemy import func, insert, select, update
from sqlmodel import col

from service import escalation
from service.claims import claim
from service.lanes import Lane
from service.tables import MessageRow, Obligation, Spill
from service.transaction import reading, transaction
from service.turns import cities_waiting, in_turn
from tests.houses import Household
from tests.service.both_databases import home as home
from tests.service.both_databases import server as server
from tests.service.channels import Gate
from tests.service.test_outbox import at_work
from tests.spills import a_report, gallons


async def waiting(home: Household, *, city: str, many: int, rank: int = 0, minutes: float = 10) -> None:
    """So many messages of a city, queued, of duties that are due in so many minutes; where `rank` is 2 or more, for subscribers."""
    now = home.clock.at
    row: dict[str, Any] = {
        "climb": "", "person": "p", "role": "r", "channel": "email", "address": "p@x.example", "subject": "", "text": "", "step": "step",
        "reason": "", "rank": rank, "sort_at": now + timedelta(minutes=minutes), "state": "waiting", "queued": True, "promised_at": now,
        "next_at": now, "give_up_at": now + timedelta(days=1), "tries": 0, "city": city,
    }  # fmt: skip
    keys = (f"{city}-{rank}-{number}" for number in range(many))
    async with transaction(home.house, "test") as tx:
        await tx.session.execute(insert(MessageRow), [{"id": key[:32], "once": key, **row} for key in keys])


async def empty(home: Household) -> None:
    """Nothing waits, whatever the household began with."""
    async with transaction(home.house, "test") as tx:
        gone = update(MessageRow).values(state="cancelled", queued=False, next_at=None)
        await tx.session.execute(gone)


async def claimed(home: Household, most: int, most_news: int | None = None) -> list[str]:
    return [one.row.city for one in await claim(home.house, "a worker", "email", most, most_news)]


async def test_a_city_whose_duties_are_due_sooner_leaves_every_second_turn_to_the_other(home: Household) -> None:
    await empty(home)
    await waiting(home, city="chino", many=40, minutes=10)
    await waiting(home, city="ontario", many=3, minutes=30)
    assert await claimed(home, 8) == ["chino", "ontario", "chino", "ontario", "chino", "ontario", "chino", "chino"]
    assert set(await claimed(home, 8)) == {"chino"}


async def test_no_alert_waits_for_what_is_for_subscribers_whichever_city_tells_them(home: Household) -> None:
    await empty(home)
    await waiting(home, city="ontario", many=40, rank=3)
    await waiting(home, city="chino", many=3, rank=1)
    await waiting(home, city="", many=2, rank=2)
    assert await claimed(home, 8, 4) == ["chino"] * 3 + ["", ""] + ["ontario"] * 2
    await waiting(home, city="chino", many=1, rank=0)
    assert await claimed(home, 8, 0) == ["chino"]


async def test_of_very_many_cities_each_gets_its_turn(home: Household) -> None:
    await empty(home)
    for number in range(130):
        await waiting(home, city=f"city-{number:03}", many=2)
    seen: Counter[str] = Counter()
    for _ in range(40):
        seen.update(await claimed(home, 20))
        home.clock.jump(milliseconds=17)
    assert seen == {f"city-{number:03}": 2 for number in range(130)}


async def test_what_waits_in_a_city_is_found_without_a_look_at_the_rest(home: Household) -> None:
    await empty(home)
    await waiting(home, city="chino", many=30)
    await waiting(home, city="ontario", many=1, rank=1)
    async with reading(home.house) as tx:
        queued = (col(MessageRow.queued), col(MessageRow.channel) == "email")
        assert await cities_waiting(tx, MessageRow, *queued) == ["chino", "ontario"]
        assert await cities_waiting(tx, MessageRow, *queued, due=col(MessageRow.rank) == 1) == ["ontario"]
        assert await cities_waiting(tx, MessageRow, col(MessageRow.queued), col(MessageRow.channel) == "sms") == []


async def many_clocks(home: Household, reference: str, city: str, many: int, *, late_seconds: float) -> None:
    """So many duties of a spill whose next rung was due so long ago."""
    async with transaction(home.house, "test") as tx:
        spill = await tx.spill(reference)
        model = (await tx.session.execute(select(Obligation).limit(1))).scalar_one()
        kept = model.model_dump(exclude={"id", "occurrence", "duty"})
        at = tx.now - timedelta(seconds=late_seconds)
        rows = [{**kept, "spill_id": spill.id, "duty": city, "occurrence": n, "city": city, "next_at": at} for n in range(many)]
        await tx.session.execute(insert(Obligation), rows)


async def test_the_ladders_of_a_city_with_many_late_ones_hold_up_no_other(home: Household) -> None:
    reference = await home.report(a_report(volume=gallons(1500)))
    await many_clocks(home, reference, "chino", 100, late_seconds=60)
    await many_clocks(home, reference, "ontario", 2, late_seconds=1)
    async with transaction(home.house, "test") as tx:
        batch = Counter(row.city for row in await escalation.due_obligations(tx))
    assert batch == {"chino": escalation.BATCH, "ontario": 2}


async def test_a_message_stands_in_the_turn_of_its_spills_city_and_so_does_a_clock(home: Household) -> None:
    await home.report(a_report(volume=gallons(1500)))
    async with reading(home.house) as tx:
        rows = await tx.session.execute(
            select(col(Spill.city), col(MessageRow.city), func.count())
            .join(MessageRow, col(MessageRow.spill_id) == col(Spill.id))
            .group_by(col(Spill.city), col(MessageRow.city))
        )
        assert {(of_spill or "", city) for of_spill, city, _ in rows} == {("chino", "chino"), ("", "")}
        cities = (await tx.session.execute(select(col(Obligation.city)).distinct())).scalars().all()
        assert cities == ["chino"]


def test_in_turn_keeps_the_order_of_each() -> None:
    assert in_turn(["a1", "a2", "a3", "b1", "c1", "c2"], 5, lambda name: name[0]) == ["a1", "b1", "c1", "a2", "c2"]
    assert in_turn(["a9", "b1", "a1"], 9, lambda name: name[0], lambda name: int(name[1:])) == ["b1", "a1", "a9"]


async def test_an_alert_finds_a_free_slot_while_subscribers_are_told(home: Household) -> None:
    await empty(home)
    await waiting(home, city="chino", many=20, rank=3)
    gate = Gate("email")
    lane = Lane(home.house, gate, *at_work(home, "a worker"), home.house.bell.listen())
    assert lane.room() == (8, 8)
    lane.take(await claim(home.house, "a worker", "email", 8, 8))
    await gate.reached.wait()
    assert lane.room() == (8, 0)
    await waiting(home, city="chino", many=1, rank=0)
    [alert] = await claim(home.house, "a worker", "email", *(lane.room() or (0, 0)))
    handed: list[str] = []
    plain = gate.send

    async def send(message: Any) -> Any:
        handed.append(message.key)
        return await plain(message)

    gate.send = send  # type: ignore[method-assign]
    lane.take([alert])
    while not handed:  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert handed == [alert.row.id]
    gate.open.set()
    await lane.close()
