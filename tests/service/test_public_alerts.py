"""Public subscriptions: only an address that said yes counts, nothing tells which addresses are known, and one press ends them."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from service import public_alerts
from service.access import digest_of
from service.errors import BadInput, NotKnown
from service.public_alerts import MOST_AN_HOUR, Request, TooMany, ask, confirm, end, is_ended, of_token
from service.tables import Attempt, MessageRow, Subscription
from service.transaction import reading, transaction
from tests.houses import Household
from tests.spills import IN_CHINO

ANN = "ann@example.org"


async def request(home: Household, address: str = ANN, channel: str = "email", **given: Any) -> None:
    wanted = {"language": "en", "cities": ["chino"], **given}
    async with transaction(home.house, "public") as tx:
        await ask(tx, Request(channel, address, **wanted))


def token_in(line: dict[str, Any]) -> str:
    found = re.search(r"/alerts/yes/([a-z2-7]+)", line["text"])
    assert found
    return found[1]


def questions(home: Household, to: str = ANN) -> list[dict[str, Any]]:
    return [line for line in home.outbox() if line["step"] == "confirm" and line["to"] == to]


async def subscribe(home: Household, address: str = ANN, **given: Any) -> Subscription:
    """Ask, and say yes by the link that comes."""
    await request(home, address, **given)
    await home.work()
    async with transaction(home.house, "public") as tx:
        return await confirm(tx, token_in(questions(home, address)[-1]))


async def rows(home: Household) -> list[Subscription]:
    async with reading(home.house) as tx:
        return list((await tx.session.execute(select(Subscription).order_by(col(Subscription.id)))).scalars())


async def test_an_address_counts_once_it_said_yes_by_the_link_in_its_question(home: Household) -> None:
    await request(home)
    await home.work()
    [row] = await rows(home)
    assert row.confirmed_at is None
    [line] = questions(home)
    assert line["subject"] == "Please confirm: messages from City of Chino, California"
    assert "advisories for City of Chino, California" in line["text"]
    home.clock.jump(hours=3)
    async with transaction(home.house, "public") as tx:
        assert (await confirm(tx, token_in(line))).confirmed_at == home.clock.at
    home.clock.jump(hours=100)
    async with transaction(home.house, "public") as tx:
        assert (await confirm(tx, token_in(line))).confirmed_at == home.clock.at - timedelta(hours=100)


async def test_the_secret_of_a_link_is_nowhere_in_the_database(home: Household) -> None:
    await request(home)
    await home.work()
    token = token_in(questions(home)[0])
    async with reading(home.house) as tx:
        [message] = (await tx.session.execute(select(MessageRow).where(col(MessageRow.step) == "confirm"))).scalars()
        [row] = (await tx.session.execute(select(Subscription))).scalars()
    assert token not in message.text + message.html + message.subject
    assert row.digest == digest_of(token)


async def test_a_text_message_has_a_link_too(home: Household) -> None:
    await request(home, "(909) 555-0177", "sms", language="es")
    await home.work()
    [line] = questions(home, "+19095550177")
    assert len(line["text"]) <= 306
    async with transaction(home.house, "public") as tx:
        assert (await confirm(tx, token_in(line))).language == "es"


async def test_an_address_is_asked_once_an_hour_whatever_is_typed(home: Household) -> None:
    for address in (ANN, "ANN@example.org", ANN):
        await request(home, address)
        home.clock.jump(minutes=20)
    await home.work()
    assert len(questions(home)) == 1
    await request(home)
    await home.work()
    assert len(questions(home)) == 2


async def test_so_many_questions_an_hour_are_sent_and_no_more(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_AN_HOUR >= 100
    monkeypatch.setattr(public_alerts, "MOST_AN_HOUR", 3)
    for number in range(3):
        await request(home, f"p{number}@example.org")
    for address in ("p1@example.org", "p9@example.org"):  # known or not, the answer is the same
        with pytest.raises(TooMany):
            await request(home, address)
    home.clock.jump(hours=1, seconds=1)
    await request(home, "p9@example.org")


async def test_who_does_not_say_yes_is_forgotten_after_two_days(home: Household) -> None:
    await subscribe(home, "yes@example.org")
    home.clock.jump(hours=2)
    await request(home)
    await home.work()
    token = token_in(questions(home)[0])
    await home.live(hours=47)
    assert [row.address for row in await rows(home)] == ["yes@example.org", ANN]
    await home.live(hours=2)
    kept = await rows(home)
    assert [row.address for row in kept] == ["yes@example.org", ""]
    assert kept[1].wants == {}
    async with reading(home.house) as tx:
        for table in (MessageRow, Attempt, Subscription):
            assert not any(ANN in str(row) for row in (await tx.session.execute(select(table))).scalars())
        with pytest.raises(NotKnown):
            await of_token(tx, token)


@pytest.mark.parametrize("token", ["", "a", "the-secret-part-of-the-link", "x" * 5000, "\ud800"])
async def test_a_wrong_link_leads_nowhere(home: Household, token: str) -> None:
    await request(home)
    async with transaction(home.house, "public") as tx:
        with pytest.raises(NotKnown):
            await confirm(tx, token)


async def test_a_newer_subscription_takes_the_place_of_the_earlier_one_once_it_is_confirmed(home: Household) -> None:
    first = await subscribe(home)
    home.clock.jump(hours=2)
    await request(home, cities=[], circle={**IN_CHINO, "metres": 1609})
    await home.work()
    assert (await rows(home))[0].ended_at is None  # anybody could have asked
    async with transaction(home.house, "public") as tx:
        await confirm(tx, token_in(questions(home)[-1]))
    earlier, later = await rows(home)
    assert earlier.ended_at is not None
    assert later.ended_at is None
    assert "advisories within 1 mile of 34.0100, -117.6900" in questions(home)[-1]["text"]
    async with transaction(home.house, "public") as tx:
        old = await tx.session.get_one(Subscription, first.id)
        assert not await is_ended(tx, old)  # its link in an old mail still ends what stands for the address
        await end(tx, old, "pressed")
        assert await is_ended(tx, old)
    assert all(row.ended_at for row in await rows(home))


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"address": "nobody"}, "address: "), ({"address": "12", "channel": "sms"}, "address: "), ({"cities": []}, "area: missing"),
        ({"cities": ["atlantis"]}, "cities: "), ({"language": "xx"}, "language: "), ({"channel": "fax"}, "channel: "),
        ({"circle": {"lat": 1, "lon": 2, "metres": 3}}, "area: "), ({"address": "+442079460000", "channel": "sms"}, "address: "),
    ],
)  # fmt: skip
async def test_what_cannot_be_taken_is_told(home: Household, given: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadInput) as found:
        await request(home, **given)
    assert any(line.startswith(fault) for line in found.value.faults)
