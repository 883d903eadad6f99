"""How long a record is kept, what keeps it, and that nothing that tells of a person is left of one that was destroyed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service import retention
from service.destruction import StillKept, destroy, destroy_record
from service.errors import BadInput, Conflict
from service.events import HoldLifted, HoldPlaced, RecordDestroyed
from service.merging import merge
from service.retention import kept_until, lift_hold, place_hold
from service.settings import Settings
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.spills import a_report

ADMINISTRATOR = "administrator@chino.example"


async def closed(home: Household, **report: Any) -> str:
    """A report whose duties were waived, and which is closed. Returns its reference."""
    reference = await home.report(a_report(**report))
    await finish(home, reference)
    return reference


async def finish(home: Household, reference: str) -> None:
    manager = home.client(await home.token("manager", "chino", f"manager-of-{reference}@chino.example"))
    for row in await home.clocks(reference):
        if row.state in ("running", "overdue", "waiting") and row.act != "retention":
            (await manager.post(f"/api/v1/clocks/{row.id}/waive", json={"reason": "by the board"})).raise_for_status()
    (await manager.post(f"/api/v1/spills/{reference}/close", json={"reason": "It was cleaned up."})).raise_for_status()


async def why(home: Household, reference: str) -> set[str]:
    """Why a record is kept now, each with the report that keeps it."""
    async with reading(home.house) as tx:
        return {f"{one.of} {one.why}" for one in (await kept_until(tx, await tx.spill(reference))).still(tx.now)}


async def destroyed_now(home: Household, reference: str, reason: str = "schedule of May") -> Any:
    return await destroy_record(home.house, ADMINISTRATOR, reference, reason, lambda _: None)


async def test_a_record_is_kept_by_the_law_by_the_city_and_by_what_is_open(home: Household) -> None:
    reference = await home.report(a_report(enrollee=True))
    assert await why(home, reference) >= {f"{reference} open", f"{reference} duty", f"{reference} law"}
    await finish(home, reference)
    home.clock.jump(days=5)
    assert await why(home, reference) == {f"{reference} policy", f"{reference} law"}
    async with reading(home.house) as tx:
        kept = await kept_until(tx, await tx.spill(reference))
    [law] = [one for one in kept.keepers if one.why == retention.LAW]
    assert (law.duty, law.owed_by) == ("sewer-order/records-5-years", "discharger")
    assert law.citation == "Order WQ 2022-0103-DWQ, Attachment E1, 4.1"
    [policy] = [one for one in kept.keepers if one.why == retention.POLICY]
    assert policy.citation == "California Government Code 34090(d)"
    # Closed on a Tuesday afternoon in December; kept to the end of that day five years later, in the time of the city.
    assert kept.until == policy.until == datetime(2031, 12, 2, 7, 59, 59, tzinfo=UTC)
    home.clock.at = kept.until
    assert await why(home, reference) == {f"{reference} policy", f"{reference} law"}
    home.clock.jump(seconds=1)
    assert await why(home, reference) == set()


async def test_years_end_no_day_early_on_the_29th_of_february(small: Household) -> None:
    leap = datetime(2028, 2, 29, 20, 0, tzinfo=UTC)
    zone = small.house.rulebook.zones["chino"]
    assert retention.years_after(leap, 5, zone) == datetime(2033, 3, 2, 7, 59, 59, tzinfo=UTC)
    assert retention.years_after(leap, 4, zone) == datetime(2032, 3, 1, 7, 59, 59, tzinfo=UTC)


def test_less_than_two_years_is_refused_by_the_law_that_says_so() -> None:
    assert Settings(keep_years=2).keep_years == 2
    with pytest.raises(ValueError, match=r"34090\(d\).*right would be: 2 or more"):
        Settings(keep_years=1)


async def test_what_keeps_a_merged_report_keeps_the_spill_and_a_hold_wins_over_every_date(small: Household) -> None:
    first, second = await small.report(a_report()), await small.report(a_report())
    async with transaction(small.house, ADMINISTRATOR) as tx:
        await merge(tx, await tx.spill(first), await tx.spill(second), "the same pipe")
        hold = await place_hold(tx, await tx.spill(second), "Vann v. City, by counsel")
    await finish(small, first)
    small.clock.jump(days=365 * 40)
    for one in (first, second):
        assert await why(small, one) == {f"{second} hold"}
    with pytest.raises(StillKept) as kept:
        await destroyed_now(small, first)
    assert kept.value.faults == [f"{second}: legal hold by {ADMINISTRATOR} since 2026-12-01: Vann v. City, by counsel; until that is over"]
    async with reading(small.house) as tx:
        assert [one.is_held for one in await retention.listed(tx, ["chino"])] == [True]
        assert await retention.listed(tx, ["ontario"]) == []
    async with transaction(small.house, ADMINISTRATOR) as tx:
        await lift_hold(tx, await tx.spill(second), hold.id or 0, "settled")
    assert await why(small, first) == set()
    with pytest.raises(Conflict, match="goes with the record"):
        await destroyed_now(small, second)
    done = await destroyed_now(small, first)
    assert [one.spill.reference for one in done.going] == [first, second]
    for one, head in ((first, ""), (second, first)):
        [certificate] = await small.events(one, RecordDestroyed)
        assert (certificate.head, certificate.allowed_from) == (head, "2031-12-02T07:59:59Z")
    assert len(await small.events(second, HoldPlaced)) == len(await small.events(second, HoldLifted)) == 1


async def test_nothing_is_destroyed_early_without_a_reason_or_twice(small: Household) -> None:
    reference = await closed(small)
    with pytest.raises(StillKept, match="is kept"):
        await destroyed_now(small, reference)
    small.clock.jump(days=365 * 6)
    with pytest.raises(BadInput, match="a reason is needed"):
        await destroyed_now(small, reference, " \n")
    await destroyed_now(small, reference)
    with pytest.raises(Conflict, match="was destroyed"):
        await destroyed_now(small, reference)
    manager = small.client(await small.token("manager", "chino"))
    for path, body in (("reopen", {"reason": "again"}), ("events", {"type": "responded", "at": small.clock.at.isoformat()})):
        answer = await manager.post(f"/api/v1/spills/{reference}/{path}", json=body)
        assert (answer.status_code, answer.json()["title"]) == (409, "Conflict"), path
    assert (await small.events(reference, RecordDestroyed))[0].reason == "schedule of May"


async def test_what_is_listed_is_past_its_time_or_soon_will_be(small: Household) -> None:
    reference = await closed(small)
    await small.report(a_report())

    async def named() -> list[str]:
        async with reading(small.house) as tx:
            return [one.spill.reference for one in await retention.listed(tx, None)]

    until = datetime(2031, 12, 2, 7, 59, 59, tzinfo=UTC)
    small.clock.at = until - timedelta(days=91)
    assert await named() == []
    small.clock.at = until - timedelta(days=89)
    assert await named() == [reference]


async def test_a_destruction_that_is_cut_off_before_its_files_are_removed_is_finished_by_the_sweep(tmp_path: Path) -> None:
    from service import kept_files
    from tests.pictures import encoded, halves, photo

    async with a_household(tmp_path) as home:
        first, second = await home.report(a_report()), await home.report(a_report())
        both, one = photo(), encoded(halves(width=90))
        officer = home.client(await home.token("officer", "chino"))
        for reference, content in ((first, both), (second, both), (first, one)):
            (await officer.post(f"/api/v1/spills/{reference}/photos", files=[("photos", ("a.jpg", content))])).raise_for_status()
        await finish(home, first)
        home.clock.jump(days=365 * 6)

        def content() -> int:
            return sum(path.is_file() and "." not in path.name for path in home.house.settings.files_path.rglob("*"))

        assert content() == 2
        async with transaction(home.house, ADMINISTRATOR) as tx:
            gone = await destroy(tx, await tx.spill(first), "schedule of May")
        assert (len(gone.digests), content()) == (1, 2)  # the other spill keeps the same photo
        assert await kept_files.sweep(home.house) == 1
        assert content() == 1
