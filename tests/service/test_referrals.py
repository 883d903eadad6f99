"""A spill that another agency is asked to deal with, and the member of staff who answers for it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from service.assigning import assign
from service.errors import BadInput
from service.events import OfficerAssigned, SpillReferred
from service.referrals import Referral, refer, referrals_in
from service.transaction import transaction
from tests.houses import OFFICER, Household, a_household
from tests.spills import a_report

WHOLE = Referral("County Flood Control", "B. Ortiz, 909 555 0170", "telephone", "place and photos", "it is their channel")


async def referred(home: Household, reference: str, said: Referral) -> bool:
    async with transaction(home.house, OFFICER) as tx:
        return await refer(tx, await tx.spill(reference), said)


async def test_a_referral_says_which_whom_when_and_what_and_ends_no_clock(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        before = [(row.id, row.state, row.next_at) for row in await home.clocks(reference)]
        home.clock.jump(minutes=30)
        assert await referred(home, reference, Referral(**{**vars_of(WHOLE), "at": "2026-12-01T14:20"}))
        [(row, event)] = referrals_in(await home.history(reference))
        assert (event.agency, event.sent, row.actor) == ("County Flood Control", "place and photos", OFFICER)
        assert row.recorded_at - row.happened_at == timedelta(minutes=15)
        assert [(row.id, row.state, row.next_at) for row in await home.clocks(reference)] == before


def vars_of(said: Referral) -> dict[str, str]:
    return {key: getattr(said, key) for key in ("agency", "contact", "how", "sent", "because", "at")}


async def test_one_press_that_arrives_twice_is_one_referral(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        assert await referred(home, reference, WHOLE)
        assert not await referred(home, reference, WHOLE)
        home.clock.jump(minutes=5)
        assert await referred(home, reference, WHOLE)
        assert len(await home.events(reference, SpillReferred)) == 2


async def test_what_a_referral_lacks_is_named(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        with pytest.raises(BadInput) as refused:
            await referred(home, reference, Referral("x" * 2001, at="2027-01-01T10:00"))
        assert [fault.split(":")[0] for fault in refused.value.faults] == ["because", "sent", "agency", "at"]
        with pytest.raises(BadInput, match="cannot be recorded so"):
            await referred(home, reference, Referral(**{**vars_of(WHOLE), "at": "soon"}))


async def test_an_officer_of_the_city_is_put_in_charge(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        await home.token("officer", "chino", "ann@chino.example")
        await home.token("officer", "ontario", "ian@ontario.example")
        await home.token("viewer", "chino", "vic@chino.example")
        async with transaction(home.house, OFFICER) as tx:
            spill = await tx.spill(reference)
            assert await assign(tx, spill, "Ann@chino.example")
            assert not await assign(tx, spill, "ann@chino.example")
            for stranger in ("ian@ontario.example", "vic@chino.example", "nobody@example.gov"):
                with pytest.raises(BadInput, match="cannot be put in charge"):
                    await assign(tx, spill, stranger)
        assert (await home.spill(reference)).officer == "ann@chino.example"
        assert [(event.before, event.officer) for event in await home.events(reference, OfficerAssigned)] == [("", "ann@chino.example")]
