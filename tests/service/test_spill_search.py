"""Finding spills by words: which words, whatever is typed, and how words are taken away. The same on both databases."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text
from sqlmodel import col

from service import events, spill_search
from service.board_tables import SpillWords
from service.events import EVENT_TYPES, SpillEvent
from service.relocation import Move, move_pin
from service.spill_search import SEARCHED, words_in, words_of
from service.transaction import reading, transaction
from tests.houses import OFFICER, Household
from tests.service.test_board import found
from tests.spills import IN_CHINO, a_report, gallons

ANA = {"name": "Ana Oleander", "email": "ana@oleander.example", "privacy": "confidential"}
# One event of each kind that a spill is found by, and words of it that find it.
EXAMPLES: dict[type[SpillEvent], tuple[SpillEvent, str]] = {
    type(event): (event, words)
    for event, words in (
        (
            events.ReportReceived(raw={"description": "Foam", "location": {"address": "9 Elm"}, "contact": ANA}, by_way_of="web"),
            "foam 9 elm",
        ),
        (events.ReportReleased(reason="a neighbor called"), "a neighbor called"),
        (events.FactsRecorded(changes={"premises": (None, "commercial")}, reason="The deed says so"), "commercial the deed says so"),
        (
            events.PlaceMoved(before={"address": "the mill"}, after={"address": "the weir"}, reason="seen", city="chino"),
            "the mill weir seen",
        ),
        (events.ActRecorded(act={"type": "repaired", "at": "2026"}, note="gasket replaced"), "repaired 2026 gasket replaced"),
        (events.DischargerNamed(name="Acme Vats", email="ops@acme.example", phone="+1909"), "acme vats ops example 1909"),
        (events.ObligationWaived(obligation=1, duty="chino/x", reason="counsel agreed"), "counsel agreed"),
        (
            events.FollowUpFiled(
                obligation=1, duty="x", version=1, by="Lee Vann", content={"cause": "a burst"}, missing=[], on_time=True, late_by_s=None,
                title="Chemist", reason="", attachments=[{"name": "plan.pdf"}],
            ),
            "lee vann a burst chemist plan pdf",
        ),
        (events.FollowUpCertified(obligation=1, duty="x", version=1, by="Lee", title="Chief", certification="I certify"), "lee chief"),
        (events.LinkIssued(link=1, name="Kim", email="kim@x.example", phone=""), "kim x example"),
        (
            events.AdvisoryIssued(advisory=1, advisory_kind="advisory", follows=None, words={"what.en": "Stay out"}, area={}),
            "stay out",
        ),
        (events.ReporterAdded(text="It smells of eggs"), "it smells of eggs"),
        (events.SaidToBeSame(other="SP-2026-00009"), "sp 2026 00009"),
        (events.ReporterAnswered(words={"en": "We fixed it", "es": "Ya está"}, office="officer"), "we fixed it ya esta"),
        (events.FileKept(file=1, purpose="photo", name="weir.jpg", media_type="x/y", size=1, digest="d", by="Jo"), "weir jpg jo"),
        (events.SpillClosed(words={"en": "All washed"}, office="officer"), "all washed"),
        (events.SpillReopened(words={"en": "It leaks"}, office="officer"), "it leaks"),
        (events.SpillMerged(into="SP-2026-00001", reason="same pipe"), "sp 2026 00001 same pipe"),
        (events.DuplicateTaken(other="SP-2026-00002", reason="same pipe"), "sp 2026 00002 same pipe"),
        (events.SpillUnmerged(parted_from="SP-2026-00001", reason="two pipes"), "two pipes"),
        (events.DuplicateGivenBack(other="SP-2026-00002", reason="two pipes"), "two pipes"),
        (events.SpillSplit(part="SP-2026-00003", reason="two places"), "sp 2026 00003 two places"),
        (events.SplitOff(origin="SP-2026-00001", reason="two places"), "sp 2026 00001 two places"),
        (
            events.SpillReferred(agency="County Fire", contact="Desk", how="telephone", sent="photos", because="outside"),
            "county fire desk photos outside",
        ),
        (
            events.SpillForwarded(where="311.chino.gov", number="638344", words="sewage in the street", by="lee@chino.example"),
            "311 chino gov 638344 sewage in the street",
        ),
        (
            events.ForwardAnswered(where="311.chino.gov", number="638344", status="closed", notes="crew went"), "638344 crew went",
        ),
        (events.OfficerAssigned(officer="lee@chino.example", before=""), "lee chino example"),
        (events.CauseFound(cause="roots", note="of an old fig", source="staff", before=""), "roots of an old fig"),
        (events.ParticularsRecorded(changes={"water_name": (None, "Mill Creek")}, source="staff", reason="the map"), "mill creek the map"),
        (
            events.PersonalDestroyed(
                events=[1], basis="request", reason="she asked",
                instead={"1": {"raw": {"description": "oil by [removed]", "contact": {"name": "Ann"}}}},
            ),
            "she asked oil by removed",
        ),
        (events.HoldPlaced(hold=1, reason="the suit of Vann"), "the suit of vann"),
        (events.HoldLifted(hold=1, reason="it was settled"), "it was settled"),
        (
            events.RecordDestroyed(counts={}, law=[], allowed_from="2031-12-02T08:00:00Z", reason="the list of May"),
            "the list of may",
        ),
        (
            events.ReplyReceived(person="Omar", sender="+1", channel="sms", text="On my way", meaning="unknown"),
            "on my way",
        ),
    )
}  # fmt: skip


def test_each_kind_of_event_is_either_searched_or_said_not_to_be() -> None:
    assert set(SEARCHED) == set(EVENT_TYPES.values())
    assert set(EXAMPLES) == {event for event, said in SEARCHED.items() if said is not spill_search._nothing}


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.kind)
def test_a_spill_is_found_by_the_words_of_an_event(kind: type[SpillEvent]) -> None:
    event, words = EXAMPLES[kind]
    assert words_of(event) == set(words.split())


@given(st.text(max_size=60))
def test_any_text_is_words_that_no_index_takes_apart_further(said: str) -> None:
    for word in words_in(said):
        assert word.isalnum()
        assert not word.isascii() or word == word.lower()
        assert words_in(word) == [word]


async def test_people_are_found_by_accents_capitals_and_beginnings(small: Household) -> None:
    reference = await small.report(a_report(description="Aguas negras en el Cañón Peñasquitos, «detrás» del café"))
    await small.report(a_report())
    for typed in ("cañon", "CANON", "peñas negras", "detras", 'café "aguas"', reference, reference.lower(), "1 canon"):
        assert await found(small, text=typed) == [reference], typed
    for typed in ("anon", "negra manhole", "SP-2026-99999"):
        assert await found(small, text=typed) == [], typed


async def test_what_is_recorded_later_is_found_with_the_change_itself(small: Household) -> None:
    reference = await small.report(a_report(), staff=False)
    assert await found(small, text="gladioli") == []
    await small.name_discharger(reference, "Gladioli Plating", "ops@gladioli.example")
    assert await found(small, text="gladioli plat") == [reference]
    await small.amend(reference, reason="weighed by the laboratory", volume=gallons(1400))
    assert await found(small, text="laboratory") == [reference]
    async with transaction(small.house, OFFICER) as tx:
        await move_pin(tx, await tx.spill(reference), Move(*IN_CHINO.values(), "Old Mill Road", reason="walked there"))
    assert await found(small, text="mill road walked") == [reference]
    assert await found(small, text="13220 central") == [reference]  # where it was said to be before


async def test_whoever_reported_in_confidence_is_not_found_by_name(small: Household) -> None:
    await small.report(a_report(contact=ANA), staff=False)
    for typed in ("oleander", "ana"):
        assert await found(small, text=typed) == []


ODD: Sequence[str] = (
    '"', "'", '""', "a\"b", "'; DROP TABLE spill_words; --", "AND", "OR NOT", "NEAR(a b)", "manhole AND school", "manhole*", "*", "^man",
    "words:manhole", "-manhole", "(manhole", "manhole & !school", "school:*", "a | b", "\\", "%", "_", "{}", "<->", "\x00", "a\x00b",
    "\ud800", "\u202e", "½ ²", "日本語", "🙂", "ﬃ", "e\u0301", "\N{TAMIL VOWEL SIGN AA}", " ", "\t\n", "x" * 10_000, "x " * 5_000, "1e5",
    "1.5.2", "a@b.example", "https://x.example/?q=1", "SP-", "sp-2026", "SP-2026-0000000000001", ":1", ":asked", "?", "rowid",
)  # fmt: skip


async def test_whatever_is_typed_is_searched_for_as_words(small: Household) -> None:
    reference = await small.report(a_report(description="A manhole overflows and the school is near, or not: a b"))
    here = {word for row in await _words(small) for word in row.split()}
    for typed in ODD:
        words = words_in(typed)[: spill_search.MOST_WORDS]
        fits = bool(words) and all(any(one.startswith(word) for one in here) for word in words)
        assert await found(small, text=typed) == ([reference] if fits else []), ascii(typed)[:60]


async def _words(home: Household) -> list[str]:
    async with reading(home.house) as tx:
        return list((await tx.session.execute(select(col(SpillWords.words)))).scalars())


async def test_words_that_were_taken_away_find_nothing_and_do_not_come_back(small: Household) -> None:
    reference = await small.report(a_report(description="Marguerite Stowell of Fuchsia Lane poured it out"))
    other = await small.report(a_report(description="Paint on Fuchsia Lane"))
    async with transaction(small.house, OFFICER) as tx:
        await spill_search.forget(tx, (await tx.spill(reference)).id or 0)
    assert await found(small, text="marguerite") == []
    assert await found(small, text="fuchsia") == [other]
    assert await found(small, text=reference) == [reference]
    await small.amend(reference, reason="the dyer says so", volume=gallons(1400))
    assert await found(small, text="dyer") == [reference]
    async with transaction(small.house, "test") as tx:
        await spill_search.feed(tx, [(await tx.spill(reference)).id or 0])
    assert await found(small, text="marguerite") == []
    if small.house.settings.is_embedded:
        async with reading(small.house) as tx:  # not in the files of the index either
            blocks = (await tx.session.execute(text("SELECT block FROM spill_words_index_data"))).scalars()
            assert not any(b"marguerite" in block for block in blocks)


async def test_a_report_as_long_as_it_may_be_is_found_by_its_last_word(small: Household) -> None:
    long = " ".join(f"word{number}" for number in range(2_000))
    reference = await small.report(a_report(description=f"{long} zuletzt"))
    assert await found(small, text="zuletzt word1999") == [reference]
