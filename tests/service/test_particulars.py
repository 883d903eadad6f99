"""What papers ask for beyond the facts: recorded, amended with a reason, never overwritten; unknown is neither no nor zero."""

from __future__ import annotations

from typing import Any

import pytest

from service.errors import BadInput
from service.events import ParticularsRecorded
from service.pages.particular_words import particular_told, typed_particular
from service.pages.speech import ENGLISH, speech
from service.particulars import MOST_POINTS, PARTICULARS, amend_particulars, particulars_of
from service.transaction import reading, transaction
from tests.houses import Household
from tests.spills import a_report


async def record(home: Household, reference: str, reason: str = "", source: str = "staff", **told: Any) -> list[str]:
    async with transaction(home.house, "officer@chino.example") as tx:
        return await amend_particulars(tx, await tx.spill(reference), told, reason, source)


async def known(home: Household, reference: str) -> dict[str, Any]:
    async with reading(home.house) as tx:
        return {key: told.value for key, told in particulars_of(await tx.history(await tx.spill(reference))).items()}


async def test_what_is_told_is_kept_with_its_source(home: Household) -> None:
    reference = await home.report(a_report())
    assert await known(home, reference) == {}
    await record(home, reference, structure="manhole", injured="0", fire=False, rate="12.5", arrived="2026-12-01T14:00", source="caller")
    assert await known(home, reference) == {
        "structure": "manhole", "injured": 0, "fire": False, "rate": 12.5, "arrived": "2026-12-01T22:00:00Z",
    }  # fmt: skip
    [event] = await home.events(reference, ParticularsRecorded)
    assert (event.source, event.changes["structure"]) == ("caller", (None, "manhole"))


async def test_what_is_known_is_changed_only_with_a_reason_and_both_values_stay(home: Household) -> None:
    reference = await home.report(a_report())
    await record(home, reference, water_name="Cypress Channel")
    with pytest.raises(BadInput, match="cannot be recorded") as refused:
        await record(home, reference, water_name="Chino Creek")
    assert refused.value.faults == ["reason: missing; right would be: why what was known is changed, in a few words"]
    await record(home, reference, "read on the map", water_name="Chino Creek")
    assert (await home.events(reference, ParticularsRecorded))[-1].changes == {"water_name": ("Cypress Channel", "Chino Creek")}
    await record(home, reference, "it was dry", water_name=None)
    assert await known(home, reference) == {}


async def test_the_same_again_records_nothing(home: Household) -> None:
    reference = await home.report(a_report())
    await record(home, reference, zip="91710")
    assert await record(home, reference, zip="91710") == []
    assert len(await home.events(reference, ParticularsRecorded)) == 1


async def test_places_are_read_as_they_are_typed(home: Household) -> None:
    reference = await home.report(a_report())
    await record(home, reference, points="34.0123, -117.6889, manhole 12\n\n34.02; -117.7")
    assert (await known(home, reference))["points"] == [
        {"lat": 34.0123, "lon": -117.6889, "says": "manhole 12"}, {"lat": 34.02, "lon": -117.7, "says": ""},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("colour", "brown", "unknown key"), ("rate", "fast", "'fast' does not do"), ("rate", -1, "does not do"),
        ("rate", True, "does not do"), ("rate", "nan", "does not do"), ("injured", 1.5, "a whole number"),
        ("fire", "maybe", "neither yes nor no"),
        ("structure", "gremlins", "one of manhole"), ("structure", ["manhole"], "one of manhole"),
        ("arrived", "noon", "right would be: a time"),
        ("arrived", "2027-01-01T00:00", "lies in the future"), ("zip", 91710, "it is no text"), ("zip", "9" * 201, "at most 200"),
        ("points", "by the school", "is no place"), ("points", "94, 20", "lies nowhere"),
        ("points", [{"lat": "1", "lon": 2}], "lies nowhere"),
        ("points", [{"lat": 1, "lon": 2}] * (MOST_POINTS + 1), "at most 40"), ("arrived", 5, "right would be: a time"),
    ],
)  # fmt: skip
async def test_what_cannot_be_is_refused_by_name_and_nothing_is_recorded(home: Household, key: str, value: Any, says: str) -> None:
    reference = await home.report(a_report())
    with pytest.raises(BadInput) as refused:
        await record(home, reference, **{key: value, "county": "San Bernardino"})
    [fault] = refused.value.faults
    assert fault.startswith(f"{key}: ")
    assert says in fault
    assert await known(home, reference) == {}


async def test_every_particular_is_typed_told_and_typed_again(home: Household) -> None:
    reference = await home.report(a_report())
    samples: dict[str, Any] = {
        "line": "some words", "text": "two\nlines", "amount": 1250.5, "count": 2, "truth": False, "moment": "2026-12-01T14:00",
        "points": "34.01, -117.6, manhole",
    }  # fmt: skip
    told = {key: next(iter(one.choices)) if one.choices else samples[one.form] for key, one in PARTICULARS.items()}
    await record(home, reference, **told)
    kept, zone = await known(home, reference), home.house.rulebook.zones["chino"]
    typed = {key: typed_particular(PARTICULARS[key], value, zone) for key, value in kept.items()}
    assert set(kept) == set(PARTICULARS)
    again = {key: {"yes": True, "no": False}[text] if PARTICULARS[key].form == "truth" else text for key, text in typed.items()}
    assert await record(home, reference, **again) == []
    for language in ("en", "es"):
        assert all(particular_told(speech(language), zone, key, value) for key, value in kept.items())
    assert particular_told(ENGLISH, zone, "rate", kept["rate"]) == "1,250.5 gallons a minute"
    assert particular_told(ENGLISH, zone, "injured", None) == ""


async def test_a_source_that_is_none_is_refused(home: Household) -> None:
    reference = await home.report(a_report())
    with pytest.raises(BadInput) as refused:
        await record(home, reference, source="a dream", zip="91710")
    assert refused.value.faults[0].startswith("source: 'a dream' is not a source")
