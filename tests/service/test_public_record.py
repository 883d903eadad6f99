"""What the public sees: which spills, and of each only what one table allows, drawn anew with every event that changes it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import delete, select
from sqlmodel import col

from deadlines.facts import FACT_KEYS
from service import closing, disclosure, public_record
from service.disclosure import FIELDS, PUBLIC, Known, view
from service.relocation import Move, move_pin
from service.tables import Meta, PublicSpill, Spill
from service.transaction import reading, transaction
from tests.houses import OFFICER, Household
from tests.service.privacy_table import DOCUMENT, document
from tests.service.test_advisories import tell
from tests.spills import IN_CHINO, IN_ONTARIO, a_report, gallons


async def shown(home: Household) -> list[PublicSpill]:
    """Every row of the public record, the oldest spill first."""
    async with reading(home.house) as tx:
        return list((await tx.session.execute(select(PublicSpill).order_by(col(PublicSpill.spill_id)))).scalars())


async def confirmed(home: Household, **report: Any) -> str:
    """A spill that staff confirmed."""
    return await home.report(a_report(release="confirmed", **report))


async def set_held(home: Household, reference: str, *, held: bool) -> None:
    """As a report is marked that looks automatic, and stays marked where a person says that it is none."""
    async with transaction(home.house, OFFICER) as tx:
        spill = await tx.spill(reference)
        spill.held_at = tx.now if held else None
        await public_record.draw(tx, spill)


# -- the table


def test_every_column_and_every_fact_has_its_place_in_the_table() -> None:
    drawn = {source for one in FIELDS.values() for source in one.drawn_from}
    assert {f"spill.{name}" for name in Spill.model_fields} <= drawn
    # What happened since is told by its events alone.
    assert {f"facts.{key}" for key in FACT_KEYS} <= drawn
    assert all(one.says for one in FIELDS.values())


def test_the_page_of_who_sees_what_is_made_of_the_table() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "run `make privacy`"


def test_a_row_holds_exactly_what_the_table_shows_the_public() -> None:
    seen = {name for name, one in FIELDS.items() if PUBLIC in one.seen_by}
    assert set(PublicSpill.model_fields) == seen | {"spill_id", "changed_at"}
    assert not seen & {"description", "address", "reporter", "discharger", "photos", "doubts", "substances", "law", "times"}


def test_an_audience_that_the_table_does_not_know_is_shown_nothing() -> None:
    spill = Spill(reference="SP-2026-00001", received_at=datetime(2026, 12, 1, tzinfo=UTC), facts={}, flags=[], reporter={}, discharger={})
    with pytest.raises(KeyError):
        view(Known(spill), "press")
    assert {name for one in FIELDS.values() for name in one.seen_by} == set(disclosure.AUDIENCES)


# -- which spills


async def test_a_report_is_public_once_staff_confirm_it_and_not_before(home: Household) -> None:
    reference = await home.report(a_report(), staff=False)
    assert await shown(home) == []
    await home.amend(reference, release="confirmed")
    [row] = await shown(home)
    assert (row.reference, row.city, row.material) == (reference, "chino", "sewage")
    await home.amend(reference, release="suspected")
    assert await shown(home) == []


async def test_what_a_caller_claims_confirms_nothing(home: Household) -> None:
    await home.report(a_report(release="confirmed"), staff=False)
    assert await shown(home) == []


async def test_an_advisory_makes_its_spill_public_and_keeps_it_so(home: Household) -> None:
    reference = await home.report(a_report())
    await tell(home, reference)
    assert [(row.advisory, row.advisory_id) for row in await shown(home)] == [("in_force", 1)]
    await tell(home, reference, "update")
    await tell(home, reference, "all_clear")
    assert [(row.advisory, row.advisory_id) for row in await shown(home)] == [("ended", 1)]
    await tell(home, reference)
    assert [(row.advisory, row.advisory_id) for row in await shown(home)] == [("in_force", 4)]


async def test_a_suspicious_report_is_never_public_whatever_else_is_said_of_it(home: Household) -> None:
    reference = await confirmed(home)
    await tell(home, reference)
    await set_held(home, reference, held=True)
    assert await shown(home) == []
    await home.amend(reference, material="paint")
    assert await shown(home) == []
    await set_held(home, reference, held=False)
    assert [row.reference for row in await shown(home)] == [reference]


@pytest.mark.parametrize("kind", ["planned_discharge", "dye_test", "enforcement"])
async def test_matters_that_are_no_spill_in_the_open_stay_off_the_list(home: Household, kind: str) -> None:
    await confirmed(home, kind=kind, planned_at="2026-12-05T08:00:00-08:00")
    assert await shown(home) == []


async def test_a_spill_without_a_city_is_not_public(home: Household) -> None:
    await confirmed(home, location={"lat": 35.6, "lon": -115.4})
    assert await shown(home) == []


# -- what of them


@pytest.mark.parametrize(
    ("volume", "amount"),
    [
        (None, "unknown"), (gallons(0), "under_50_gal"), (gallons(49.9), "under_50_gal"), (gallons(50), "50_to_1000_gal"),
        (gallons(999), "50_to_1000_gal"), (gallons(1000), "1000_to_10000_gal"), (gallons(10_000), "10000_gal_or_more"),
        ({"low": 20, "high": 1200, "unit": "gal"}, "1000_to_10000_gal"), ({"quantity": 200, "unit": "L"}, "50_to_1000_gal"),
        ({"quantity": 180, "unit": "L"}, "under_50_gal"), ({"quantity": 4, "unit": "m3"}, "1000_to_10000_gal"),
    ],
)  # fmt: skip
async def test_amounts_are_shown_in_rough_steps(home: Household, volume: Any, amount: str) -> None:
    await confirmed(home, volume=volume)
    assert [row.amount for row in await shown(home)] == [amount]


async def test_the_time_is_the_full_hour_and_the_place_a_block(home: Household) -> None:
    home.clock.jump(minutes=34, seconds=7)
    await confirmed(home, location={"lat": 34.012345, "lon": -117.688765, "address": "13220 Central Ave"})
    [row] = await shown(home)
    assert row.received_at == datetime(2026, 12, 1, 22, tzinfo=UTC)
    assert (row.lat, row.lon) == (34.012, -117.689)


async def test_two_places_of_one_block_are_shown_as_the_same_point(home: Household) -> None:
    await confirmed(home, location={"lat": 34.01204, "lon": -117.68861})
    await confirmed(home, location={"lat": 34.01163, "lon": -117.68938})
    assert len({(row.lat, row.lon) for row in await shown(home)}) == 1


async def test_a_spill_at_a_home_has_no_point(home: Household) -> None:
    reference = await confirmed(home, premises="residential")
    assert [(row.lat, row.lon, row.city) for row in await shown(home)] == [(None, None, "chino")]
    await home.amend(reference, premises="commercial")
    assert [(row.lat, row.lon) for row in await shown(home)] == [(34.01, -117.69)]


async def test_a_point_that_is_moved_moves_on_the_list(home: Household) -> None:
    reference = await confirmed(home, location=IN_CHINO)
    async with transaction(home.house, OFFICER) as tx:
        await move_pin(tx, await tx.spill(reference), Move(lat=IN_ONTARIO["lat"], lon=IN_ONTARIO["lon"], reason="found there"))
    assert [(row.city, row.lat, row.lon) for row in await shown(home)] == [("ontario", 34.05, -117.6)]


async def test_the_state_follows_what_the_city_recorded(home: Household) -> None:
    reference = await confirmed(home)

    async def state() -> str:
        return (await shown(home))[0].state

    assert await state() == "looked_at"
    await home.happened(reference, "responded")
    assert await state() == "cleaning"
    await home.happened(reference, "cleanup_done")
    assert await state() == "cleaned_up"
    async with transaction(home.house, OFFICER) as tx:
        spill = await tx.spill(reference)
        left = [row.id or 0 for row in await closing.duties_in_the_way(tx, spill)]
        await closing.close(tx, spill, {"en": "done"}, "duty officer", left)
    assert await state() == "closed"
    async with transaction(home.house, OFFICER) as tx:
        await closing.reopen(tx, await tx.spill(reference), {"en": "again"}, "duty officer")
    assert await state() == "cleaned_up"


@pytest.mark.parametrize(
    "how", ["discharger of {}", "Hans Dairy, discharger of {}", "Dana Example (text message)", "Dana Example (link in a mail)"]
)
async def test_what_the_discharger_says_was_cleaned_up_is_not_for_the_public_yet(home: Household, how: str) -> None:
    reference = await confirmed(home)
    await home.name_discharger(reference, "Dana Example", "dana@firm.example")
    await home.happened(reference, "cleanup_done", actor=how.format(reference))
    assert [row.state for row in await shown(home)] == ["looked_at"]
    await home.happened(reference, "cleanup_done")
    assert [row.state for row in await shown(home)] == ["cleaned_up"]


async def test_a_change_that_the_public_does_not_see_leaves_the_row_as_it_was(home: Household) -> None:
    reference = await confirmed(home)
    [before] = await shown(home)
    home.clock.jump(hours=2)
    await home.amend(reference, threat=True, known_at="2026-12-01T21:00:00Z")
    await home.name_discharger(reference, "Dana Example")
    [after] = await shown(home)
    assert after.changed_at == before.changed_at
    await home.amend(reference, material="paint")
    [after] = await shown(home)
    assert after.changed_at == home.clock.at


# -- a release that changes the rules


async def test_every_row_is_drawn_anew_once_after_the_rules_changed(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_record, "_AT_A_TIME", 2)
    references = [await confirmed(home) for _ in range(4)] + [await home.report(a_report())]
    async with transaction(home.house, "test") as tx:
        await tx.session.execute(delete(PublicSpill))
        await tx.session.execute(delete(Meta).where(col(Meta.key) == "public-record"))
    assert await public_record.bring_up_to_date(home.house) == 5
    assert [row.reference for row in await shown(home)] == references[:4]
    assert await public_record.bring_up_to_date(home.house) == 0
    monkeypatch.setattr(public_record, "_RULES", "another")
    assert await public_record.bring_up_to_date(home.house) == 5
