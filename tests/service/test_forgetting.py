"""A reporter who wishes to be forgotten is, at once or when no law keeps who they are; what happened stays. Words are masked for good."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from service import following, forgetting, kept_files
from service.errors import BadInput
from service.events import ForgetAsked, PersonalDestroyed, ReporterAdded, ReporterForgotten, ReportReceived
from service.parties import link_token
from service.redaction import UnderHold, checked_words, preview, redact_record, redactions_in
from service.retention import place_hold
from service.transaction import reading, transaction
from tests import pictures
from tests.houses import Household
from tests.service.damage import walked
from tests.service.planted import only_digits, squeezed
from tests.service.test_spill_search import found
from tests.spills import NOWHERE_NEAR, a_report

CONTACT = {"name": "Quillon Farthingale", "email": "q.farthingale@mailbox.example", "phone": "+19095550143", "privacy": "confidential"}
PLANTED = ("Quillon Farthingale", "q.farthingale@mailbox.example", "+19095550143", "wisteria-porch", "34.010406", "Handset of")
WORDS = "Brown water by the mill. I am Quillon  Farthingale, call (909) 555-0143 or q.farthingale@mailbox.example."


async def reported(home: Household, city: str) -> str:
    """A report by somebody who says in it who they are, added to, with a photo, answered and read by the worker."""
    reference = await home.report(a_report(location=NOWHERE_NEAR, description=WORDS, contact=CONTACT), staff=False)
    await home.amend(reference, "by the address", jurisdiction=city)
    await home.work()
    exif = pictures.notes(gps={1: "N", 2: (34.0, 0.0, 37.46), 3: "W", 4: (117.0, 41.0, 24.19)})
    exif[0x010F] = "Handset of Quillon"
    file = pictures.encoded(pictures.halves(), exif=exif)
    reporter = home.client(link_token(home.house, "status", await home.spill(reference)))
    sent = await reporter.post(f"/api/v1/spills/{reference}/photos", files=[("photos", ("wisteria-porch.jpg", file))])
    assert sent.status_code == 201, sent.text
    async with transaction(home.house, f"reporter of {reference}") as tx:
        await following.add_words(tx, await tx.spill(reference), "It still runs, says Quillon Farthingale.")
    async with transaction(home.house, "officer@chino.example") as tx:
        await following.answer(tx, await tx.spill(reference), {"en": "Thank you, we flushed the main."}, "officer")
    await home.work()
    return reference


async def asked(home: Household, reference: str) -> bool:
    """Say the reporter's wish; whether it was done at once."""
    async with transaction(home.house, f"reporter of {reference}") as tx:
        done = await forgetting.ask(tx, await tx.spill(reference))
    if done:
        await forgetting.finish(home.house, done)
    return done is not None


async def left(home: Household) -> dict[str, list[str]]:
    """Where in tables and files anything is left of who reported."""
    says: dict[str, str] = {}
    async with home.house.engine.connect() as connection:
        for (name,) in (await connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))).all():
            rows = (await connection.execute(text(f'SELECT * FROM "{name}"'))).mappings().all()  # noqa: S608 - a name of ours
            says[name] = "\n".join(json.dumps(dict(row), default=str, ensure_ascii=False) for row in rows)
    for path in home.house.settings.home_dir.rglob("*"):
        if path.is_file():
            says[path.name] = path.read_bytes().decode("utf-8", "replace")
    hits = {
        where: [one for one in PLANTED if squeezed(one) in squeezed(said) or (one[0] == "+" and only_digits(one) in only_digits(said))]
        for where, said in says.items()
    }
    return {where: what for where, what in hits.items() if what}


async def test_where_no_law_keeps_it_who_reported_is_gone_at_once_and_what_happened_stays(home: Household) -> None:
    reference = await reported(home, "brownsburg")
    clocks = [(row.duty, row.state, row.due_at) for row in await home.clocks(reference)]
    assert await left(home) != {}
    assert await asked(home, reference)
    assert await left(home) == {}
    assert [(row.duty, row.state, row.due_at) for row in await home.clocks(reference)] == clocks
    [report] = await home.events(reference, ReportReceived)
    assert report.raw["description"] == "Brown water by the mill. I am (removed), call (removed) or (removed)."
    assert "contact" not in report.raw
    assert [event.text for event in await home.events(reference, ReporterAdded)] == ["It still runs, says (removed)."]
    spill = await home.spill(reference)
    assert (spill.reporter, spill.description) == ({}, report.raw["description"])
    [forgotten] = await home.events(reference, ReporterForgotten)
    assert forgotten.counts["photos"] == 1
    assert forgotten.counts["messages"] >= 2
    assert await found(home, text="mill") == [reference]
    assert await found(home, text="Farthingale") == []
    assert {one.broken for one in (await walked(home)).values()} == {None}
    async with reading(home.house) as tx:
        [photo] = await kept_files.kept_files(tx, spill)
    assert kept_files.open_original(home.house, photo).read_bytes() == kept_files.open_public(home.house, photo).read_bytes()
    assert not await asked(home, reference)  # once is enough
    await home.live(hours=30)
    assert await left(home) == {}


async def test_where_a_law_keeps_it_the_wish_waits_and_the_worker_does_it_when_its_time_is_over(home: Household) -> None:
    reference = await reported(home, "ontario")
    assert not await asked(home, reference)
    [wish] = await home.events(reference, ForgetAsked)
    assert wish.kept_by == [{"why": "law", "citation": "California Government Code 34090(d)", "until": "2028-12-02T07:59:59Z"}]
    home.clock.jump(days=700)
    assert await forgetting.sweep(home.house) == 0
    home.clock.jump(days=40)
    async with transaction(home.house, "manager@chino.example") as tx:
        hold = await place_hold(tx, await tx.spill(reference), "Vann v. City")
    assert await forgetting.sweep(home.house) == 0
    async with transaction(home.house, "test") as tx:
        (await tx.session.merge(hold)).lifted_at = tx.now
    home.clock.jump(days=1)
    assert await forgetting.sweep(home.house) == 1
    assert await left(home) == {}
    assert len(await home.events(reference, ReporterForgotten)) == 1
    assert await forgetting.sweep(home.house) == 0


# -- words that staff mask


async def masked(home: Household, reference: str, words: str, reason: str = "a neighbor's name") -> int:
    return await redact_record(home.house, "manager@chino.example", reference, checked_words(words), reason, lambda _: None)


async def test_masked_words_are_shown_nowhere_and_who_masked_them_is(small: Household) -> None:
    reference = await small.report(a_report(description="Oil from Bob Vane's truck, plate 7ABC123, (909) 555-0177.", address="12 Vane Ct"))
    await small.amend(reference, "Bob  Vane said so", threat=True)
    await small.work()
    async with reading(small.house) as tx:
        places = await preview(tx, await tx.spill(reference), ["Bob Vane", "909-555-0177"])
    assert [(one.event.kind, one.after) for one in places] == [
        ("report:received", "Oil from [redacted]'s truck, plate 7ABC123, [redacted]."), ("facts:recorded", "[redacted] said so"),
    ]  # fmt: skip
    assert await masked(small, reference, "Bob Vane\n909-555-0177") == 2
    assert (await small.spill(reference)).description == "Oil from [redacted]'s truck, plate 7ABC123, [redacted]."
    assert await found(small, text="truck") == [reference]
    assert await found(small, text="bob") == []
    assert await masked(small, reference, "7ABC123", "a plate") == 1
    [report] = await small.events(reference, ReportReceived)
    assert report.raw["description"] == "Oil from [redacted]'s truck, plate [redacted], [redacted]."
    history = await small.history(reference)
    assert [(row.actor, event.reason) for row, event in redactions_in(history)] == [
        ("manager@chino.example", "a neighbor's name"), ("manager@chino.example", "a plate"),
    ]  # fmt: skip
    async with small.house.engine.connect() as connection:
        kept = [str(list(row)) for name in ("event", "spill", "message", "board_line", "spill_words")
                for row in (await connection.execute(text(f"SELECT * FROM {name}"))).all()]  # fmt: skip  # noqa: S608
    for gone in ("Bob Vane", "Bob  Vane", "555-0177", "7ABC123"):
        assert [one for one in kept if gone in one] == [], gone
    assert {one.broken for one in (await walked(small)).values()} == {None}
    assert len(await small.events(reference, PersonalDestroyed)) == 2


@pytest.mark.parametrize(
    ("words", "reason", "says"),
    [
        ("", "x", "words: missing"), ("ab", "x", "too short"), ("\n".join(f"word{n}" for n in range(21)), "x", "at most 20"),
        ("manhole", " ", "reason: missing"), ("manhole", "the manhole is private", "holds words that are to be masked"),
        ("unheard of", "x", "stand nowhere"),
    ],
)  # fmt: skip
async def test_words_that_cannot_be_masked_are_refused_with_what_would_be_right(
    small: Household, words: str, reason: str, says: str
) -> None:
    reference = await small.report(a_report())
    with pytest.raises(BadInput) as refused:
        await masked(small, reference, words, reason)
    assert says in " ".join(refused.value.faults)


async def test_nothing_is_masked_under_a_legal_hold(small: Household) -> None:
    reference = await small.report(a_report(description="Bob Vane did it"))
    async with transaction(small.house, "manager@chino.example") as tx:
        await place_hold(tx, await tx.spill(reference), "Vann v. City")
    with pytest.raises(UnderHold):
        await masked(small, reference, "Bob Vane")
    assert (await small.spill(reference)).description == "Bob Vane did it"
