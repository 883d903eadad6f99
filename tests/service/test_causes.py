"""Why it came to a spill: a word of a closed list, by whom it is known, and what was thought before."""

from __future__ import annotations

import pytest

from service.causes import CAUSES, causes_in, find_cause
from service.errors import BadInput
from service.transaction import transaction
from tests.houses import OFFICER, Household
from tests.spills import a_report


async def found(home: Household, reference: str, *said: str) -> bool:
    async with transaction(home.house, OFFICER) as tx:
        return await find_cause(tx, await tx.spill(reference), *said)


async def test_a_cause_is_recorded_with_what_was_thought_before(small: Household) -> None:
    reference = await small.report(a_report())
    before = [(row.id, row.state, row.due_at) for row in await small.clocks(reference)]
    assert await found(small, reference, "grease")
    assert await found(small, reference, "roots", "the camera shows them", "laboratory")
    assert not await found(small, reference, "roots", " the camera shows them ", "laboratory")
    assert (await small.spill(reference)).cause == "roots"
    told = [(event.before, event.cause, event.note, event.source) for _, event in causes_in(await small.history(reference))]
    assert told == [("grease", "roots", "the camera shows them", "laboratory"), ("", "grease", "", "staff")]
    assert [(row.id, row.state, row.due_at) for row in await small.clocks(reference)] == before


async def test_a_cause_can_become_unknown_again(small: Household) -> None:
    reference = await small.report(a_report())
    assert not await found(small, reference, "")
    assert await found(small, reference, "dumped")
    assert await found(small, reference, "")
    assert (await small.spill(reference)).cause == ""


@pytest.mark.parametrize(
    ("said", "fault"),
    [(("aliens",), "cause: 'aliens' is none"), (("other",), "note: missing"), (("roots", "x" * 2001), "note: over"),
     (("roots", "", "me"), "source:")],
)  # fmt: skip
async def test_what_is_no_cause_is_refused_with_what_would_be(small: Household, said: tuple[str, ...], fault: str) -> None:
    reference = await small.report(a_report())
    with pytest.raises(BadInput) as refused:
        await found(small, reference, *said)
    assert [one.startswith(fault) for one in refused.value.faults] == [True]


async def test_the_api_and_the_page_record_it_and_show_it(small: Household) -> None:
    reference = await small.report(a_report())
    async with small.client(await small.token()) as client:
        answer = await client.put(f"/api/v1/spills/{reference}/cause", json={"cause": "pump_failure", "note": "a fuse"})
        assert (answer.status_code, answer.json()["cause"]) == (200, "pump_failure")
        assert (await client.put(f"/api/v1/spills/{reference}/cause", json={"cause": "it broke"})).status_code == 422
        assert (await client.get(f"/api/v1/spills/{reference}")).json()["cause"] == "pump_failure"


def test_every_cause_is_said_in_words_and_fits_its_column() -> None:
    assert all(len(word) <= 24 and says[0].isupper() for word, says in CAUSES.items())
