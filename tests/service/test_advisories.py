"""Advisories: issued in both languages from safe facts, sent once to everybody they concern, linked to their all-clear, duties first."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import col

from service import advisories, public_alerts
from service.access import Staff
from service.advisories import chain_of, count_reached, draft, issue, public_ones, standing_in
from service.errors import BadInput, Conflict, NotAllowed
from service.events import AdvisoryIssued, AdvisorySent
from service.suppressions import suppress
from service.tables import Advisory, MessageRow, Meta, Subscription
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.service.channels import both
from tests.service.test_public_alerts import subscribe
from tests.spills import IN_CHINO, IN_ONTARIO, a_report

OLA = Staff("ola@chino.example", "officer", "chino")


async def tell(
    home: Household, reference: str, kind: str = "advisory", metres: float | None = None, staff: Staff = OLA, **words: str
) -> Advisory:
    """Issue one with its draft's words."""
    async with transaction(home.house, staff.email) as tx:
        spill = await tx.spill(reference)
        chain = await chain_of(tx, spill)
        said = {**draft(home.house, spill, kind, standing_in(chain)), **{key.replace("_", "."): text for key, text in words.items()}}
        return await issue(tx, staff, spill, kind, said, metres, (chain[-1].id or 0) if chain else 0)


async def many(home: Household, number: int, **given: Any) -> None:
    """So many subscribers who said yes."""
    async with transaction(home.house, "test") as tx:
        for one in range(number):
            made = {
                "kind": "public", "channel": "email", "address": f"p{one}@example.org", "wants": {"cities": ["chino"]}, "zone": "UTC",
                "created_at": tx.now, "confirmed_at": tx.now, "digest": f"digest {one}", **given,
            }  # fmt: skip
            tx.session.add(Subscription(**made))


def got(home: Household, kind: str = "advisory") -> list[str]:
    return sorted(line["to"] for line in home.outbox() if line["step"] == kind)


async def marks(home: Household) -> int:
    async with reading(home.house) as tx:
        return await tx.session.scalar(select(func.count()).select_from(Meta).where(col(Meta.key).startswith("advisory:"))) or 0


# -- the words


async def test_a_draft_says_what_and_where_and_nothing_of_anybody(home: Household) -> None:
    contact = {"name": "Walter Fields", "email": "walter@example.org", "privacy": "named"}
    report = a_report(description="Walter Fields poured it out", contact=contact, reached=["storm_drain"])
    spill = await home.spill(await home.report(report))
    said = draft(home.house, spill, "advisory", None)
    assert said["where.en"] == "near Central Ave, City of Chino, California"
    assert said["what.en"] == "A spill of sewage. It reached: storm drain."
    assert said["what.es"] == "Un derrame de aguas residuales. Llegó a: desagüe pluvial."
    assert said["advice.es"].startswith("No entre al agua")
    assert "13220" not in str(said)
    assert "Walter" not in str(said)


@pytest.mark.parametrize("address", ["behind Walter Fields' house", "Walter Fields, 12 Elm", "", "the Fields ranch, Edison Avenue 12"])
async def test_words_of_an_address_that_could_name_somebody_are_left_out(home: Household, address: str) -> None:
    spill = await home.spill(await home.report(a_report(location={**IN_CHINO, "address": address})))
    assert draft(home.house, spill, "advisory", None)["where.en"] == "City of Chino, California"


# -- who gets it


@pytest.mark.parametrize(
    ("wants", "metres", "reached"),
    [
        ({"cities": ["chino"]}, None, True), ({"cities": ["ontario"]}, None, False), ({"cities": ["ontario", "chino"]}, None, True),
        ({"cities": ["chino"]}, 100, True), ({"cities": ["ontario"]}, 100, False), ({"cities": ["ontario"]}, 16_000, True),
        ({"area": {**IN_CHINO, "metres": 100}}, None, True), ({"area": {**IN_ONTARIO, "metres": 100}}, None, False),
        ({"area": {**IN_ONTARIO, "metres": 9000}}, None, True), ({"area": {**IN_ONTARIO, "metres": 100}}, 1000, False),
        ({"area": {**IN_CHINO, "metres": 100}}, 50, True), ({"area": {"lat": 34.02, "lon": -117.69, "metres": 1000}}, 200, True),
        ({"area": {"lat": 34.02, "lon": -117.69, "metres": 1000}}, 100, False),
    ],
)  # fmt: skip
async def test_an_advisory_reaches_whose_area_it_touches(home: Household, wants: Any, metres: float | None, reached: bool) -> None:
    await many(home, 1, wants=wants)
    reference = await home.report(a_report())
    async with reading(home.house) as tx:
        assert await count_reached(tx, advisories.area_of(await tx.spill(reference), metres), None) == int(reached)
    await tell(home, reference, metres=metres)
    await home.work()
    assert got(home) == (["p0@example.org"] if reached else [])


async def test_a_city_without_a_boundary_reaches_circles_near_the_spill(home: Household) -> None:
    await many(home, 1, wants={"area": {**IN_CHINO, "metres": 500}})
    house = home.house.places.only(["ontario"])
    bare = home.with_house(places=house)
    reference = await bare.report(a_report(jurisdiction="chino"))
    async with reading(bare.house) as tx:
        spill = await tx.spill(reference)
        assert await count_reached(tx, {"city": "chino", "lat": spill.lat, "lon": spill.lon}, None) == 1
        assert await count_reached(tx, {"city": "chino", "lat": 34.3, "lon": -117.0}, None) == 0


async def test_nobody_gets_it_who_did_not_say_yes_ended_or_bounced(home: Household) -> None:
    await many(home, 5)
    reference = await home.report(a_report())
    async with transaction(home.house, "test") as tx:
        (await tx.session.get_one(Subscription, 1)).confirmed_at = None
        await public_alerts.end(tx, await tx.session.get_one(Subscription, 2), "pressed")
        await suppress(tx, "email", "p2@example.org", "bounced", "550")
    home.clock.jump(seconds=1)
    await tell(home, reference)
    home.clock.jump(seconds=1)
    async with transaction(home.house, "test") as tx:
        (await tx.session.get_one(Subscription, 1)).confirmed_at = tx.now  # said yes after it was issued: the page tells them
    await home.work()
    assert got(home) == ["p3@example.org", "p4@example.org"]


async def test_everybody_reads_it_in_their_language_with_a_way_out(home: Household) -> None:
    await many(home, 1)
    await many(home, 1, address="+19095550188", channel="sms", language="es", digest="other")
    reference = await home.report(a_report())
    await tell(home, reference)
    await home.work()
    mail, text = sorted((line for line in home.outbox() if line["step"] == "advisory"), key=lambda line: str(line["channel"]))
    assert mail["subject"] == f"Advisory {reference}, City of Chino, California: near Central Ave, City of Chino, California"
    assert "End these messages: https://spills.example.gov/unsubscribe/" in mail["text"]
    assert "https://spills.example.gov/advisories/1" in mail["text"]
    assert "STOP" not in mail["text"]
    assert text["text"].startswith("City of Chino, California")
    assert "aviso" in text["text"].lower()
    assert "STOP" in text["text"]


async def test_one_address_gets_one_message_though_it_subscribed_twice(home: Household) -> None:
    await many(home, 1)
    await many(home, 1, digest="again")
    await tell(home, await home.report(a_report()))
    await home.work()
    assert got(home) == ["p0@example.org"]


# -- update and all-clear


async def test_the_all_clear_goes_to_whoever_had_the_advisory_though_they_moved_away(home: Household) -> None:
    await subscribe(home, "moved@example.org")
    await subscribe(home, "left@example.org")
    await subscribe(home, "far@example.org", cities=["ontario"])
    reference = await home.report(a_report())
    root = await tell(home, reference)
    await home.work()
    home.clock.jump(hours=2)
    await subscribe(home, "moved@example.org", cities=["ontario"])
    async with transaction(home.house, "test") as tx:
        await public_alerts.end(tx, await tx.session.get_one(Subscription, 2), "pressed")
    home.clock.jump(hours=1)
    update = await tell(home, reference, "update", where_en="Central Ave only")
    await home.work()
    home.clock.jump(hours=1)
    end = await tell(home, reference, "all_clear")
    await home.work()
    assert got(home) == ["left@example.org", "moved@example.org"]
    assert got(home, "update") == got(home, "all_clear") == ["moved@example.org"]
    assert (root.follows, update.follows, end.follows) == (None, root.id, root.id)
    [clear] = [line for line in home.outbox() if line["step"] == "all_clear"]
    assert clear["subject"].startswith("All clear")
    assert f"/advisories/{root.id}" in clear["text"]
    async with reading(home.house) as tx:
        assert standing_in(await chain_of(tx, await tx.spill(reference))) is None


async def test_only_what_can_follow_is_issued_and_by_one_person_at_a_time(home: Household) -> None:
    reference = await home.report(a_report())
    for kind in ("update", "all_clear", "gossip"):
        with pytest.raises(BadInput):
            await tell(home, reference, kind, **{f"{part}_{language}": "x" for part in advisories.PARTS for language in ("en", "es")})
    await tell(home, reference)
    with pytest.raises(BadInput):
        await tell(home, reference)
    async with transaction(home.house, "test") as tx:
        spill = await tx.spill(reference)
        said = draft(home.house, spill, "all_clear", None)
        with pytest.raises(Conflict):
            await issue(tx, OLA, spill, "all_clear", said, None, 0)
        for staff in (Staff("v@chino.example", "viewer", "chino"), Staff("o@ontario.example", "officer", "ontario")):
            with pytest.raises(NotAllowed):
                await issue(tx, staff, spill, "all_clear", said, None, 1)
        with pytest.raises(BadInput) as found:
            await issue(tx, OLA, spill, "all_clear", {**said, "what.es": " ", "advice.en": "x" * 501}, None, 1)
        assert [fault.split(":")[0] for fault in found.value.faults] == ["what.es", "advice.en"]


async def test_a_spill_without_a_point_has_its_city_and_no_circle(home: Household) -> None:
    reference = await home.report(a_report(location={"address": "12 Main St, Chino"}, jurisdiction="chino"))
    with pytest.raises(BadInput):
        await tell(home, reference, metres=500)
    await tell(home, reference)
    nowhere = await home.report(a_report(location={"address": "somewhere"}))
    with pytest.raises(BadInput):
        await tell(home, nowhere)


async def test_the_story_tells_of_it_and_names_no_subscriber(home: Household) -> None:
    await many(home, 3)
    reference = await home.report(a_report())
    await tell(home, reference)
    await home.work()
    [issued] = await home.events(reference, AdvisoryIssued)
    [sent] = await home.events(reference, AdvisorySent)
    assert (issued.advisory_kind, issued.follows, sent.people) == ("advisory", None, 3)
    assert "example.org" not in str([event for _, event in await home.history(reference)])


async def test_the_public_sees_what_stands_and_for_a_while_what_ended(home: Household) -> None:
    reference = await home.report(a_report())
    await tell(home, reference)
    other = await tell(home, await home.report(a_report()))
    home.clock.jump(hours=1)
    await tell(home, reference, "all_clear")
    async with reading(home.house) as tx:
        shown = await public_ones(tx, timedelta(days=30))
    assert [[one.kind for one in chain] for chain in shown] == [["advisory"], ["advisory", "all_clear"]]
    assert shown[0][0].id == other.id
    home.clock.jump(days=31)
    async with reading(home.house) as tx:
        assert len(await public_ones(tx, timedelta(days=30))) == 1


# -- sending


async def test_it_is_sent_in_batches_that_go_on_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advisories, "BATCH", 10)
    async with a_household(tmp_path, channels=both()) as home:
        await many(home, 35)
        await tell(home, await home.report(a_report()))
        for expected in (10, 20, 30):
            async with transaction(home.house, "test") as tx:
                await advisories.send_batch(tx)
            assert len(await home.messages(step="advisory")) == expected
        assert await marks(home) == 1
        await home.with_house().work()
        promised = await home.messages(step="advisory")
        assert len({message.address for message in promised}) == len(promised) == 35
        assert await marks(home) == 0
        assert {message.state for message in promised} == {"accepted"}
        assert len({message.id for message in promised}) == 35


async def test_a_failing_batch_disturbs_no_alert_and_is_tried_again(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    await many(home, 2)
    reference = await home.report(a_report())
    await tell(home, reference)

    async def fail(*_: Any) -> int:
        raise RuntimeError("no words")

    with monkeypatch.context() as broken:
        broken.setattr(advisories, "_promise", fail)
        await home.live(seconds=30)
        assert {message.state for message in await home.messages("chino/rwqcb-2-hours")} >= {"accepted"}
    assert got(home) == []
    await home.live(minutes=2)
    assert len(got(home)) == 2


async def test_alerts_of_a_duty_go_out_before_every_waiting_advisory(tmp_path: Path) -> None:
    channels = both()
    async with a_household(tmp_path, channels=channels) as home:
        await many(home, 60)
        await tell(home, await home.report(a_report()))
        async with transaction(home.house, "test") as tx:
            await advisories.send_batch(tx)
        home.clock.jump(minutes=1)
        await home.report(a_report())
        await home.work()
        steps = [message.step for message in channels["email"].got]
        first = steps.index("advisory")
        assert set(steps[first:]) == {"advisory"}
        assert len(steps[first:]) == 60


async def test_who_ends_it_while_it_waits_does_not_get_it(home: Household) -> None:
    await many(home, 2)
    await tell(home, await home.report(a_report()))
    async with transaction(home.house, "test") as tx:
        await advisories.send_batch(tx)
        await public_alerts.end(tx, await tx.session.get_one(Subscription, 1), "pressed")
    await home.work()
    assert got(home) == ["p1@example.org"]
    async with reading(home.house) as tx:
        states = select(col(MessageRow.state)).where(col(MessageRow.step) == "advisory").order_by(col(MessageRow.address))
        assert list((await tx.session.execute(states)).scalars()) == ["cancelled", "accepted"]
