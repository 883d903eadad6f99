"""Addresses that nothing is sent to: how they come on the list, what follows, who is warned, and how they come off it."""

from __future__ import annotations

from pathlib import Path

import pytest

from notifiers import Message, Outcome, Receipt
from service import programs
from service.access import Staff
from service.errors import BadInput, NotAllowed, NotKnown
from service.events import AddressSuppressed, MessageGaveUp, RungReachedNobody
from service.links import act_url, letter_of
from service.suppressions import lift, listed, restore, suppress, unreachable, why_not
from service.tables import Contact
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.service.channels import Post
from tests.service.small_law import TWO_HOURS, small_law
from tests.spills import a_report

MANAGER = Staff("manager@chino.example", "manager", "chino")


class Refusing(Post):
    """A channel that refuses every message with these words."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(name)
        self.words = words

    async def send(self, message: Message) -> Receipt:
        self.got.append(message)
        return Receipt(Outcome.REFUSED, None, self.words)


async def barred(home: Household) -> list[tuple[str, str]]:
    async with reading(home.house) as tx:
        return [(row.channel, row.address) for row, _ in await listed(tx, Staff("a@b.example", "viewer", None))]


@pytest.mark.parametrize(
    ("words", "is_dead"),
    [
        ("550 5.1.1 <duty@chino.example>: no such user", True), ("550 5.1.10 RecipientNotFound", True), ("550 5.2.1 disabled", True),
        ("552 5.2.2 over quota", False), ("554 5.7.1 policy", False), ("550 no words", False), ("an address that cannot be 5.1.1", False),
    ],
)  # fmt: skip
async def test_a_mail_server_that_refuses_at_once_says_whether_the_address_is_dead(tmp_path: Path, words: str, is_dead: bool) -> None:
    channels = {"email": Refusing("email", words), "sms": Post("sms")}
    async with a_household(tmp_path, law=small_law(), channels=channels) as home:
        reference = await home.report(a_report())
        await home.work()
        assert ("email", "duty@chino.example") in await barred(home) if is_dead else await barred(home) == []
        assert bool(await home.events(reference, AddressSuppressed)) == is_dead


async def test_what_waits_for_a_suppressed_address_is_refused_with_the_reason_and_the_rung_reaches_nobody(tmp_path: Path) -> None:
    people = [
        Contact(city="chino", role="duty_officer", name="Omar Reyes", email="Duty@Chino.example"),
        Contact(city="chino", role="supervisor", name="Sofia Tran", email="supervisor@chino.example"),
    ]
    async with a_household(tmp_path, law=small_law(), people=people) as home:
        async with transaction(home.house, "test") as tx:
            assert await suppress(tx, "email", "duty@chino.example", "bounced", "5.1.1")
            assert not await suppress(tx, "email", "DUTY@chino.example", "bounced", "5.1.1")
            assert await why_not(tx, "email", "duty@CHINO.example")
        reference = await home.report(a_report())
        await home.work()
        [given_up] = await home.events(reference, MessageGaveUp)
        assert given_up.reason == "nothing is sent to Duty@Chino.example: does not exist or takes no mail (since 2026-12-01)"
        assert len(await home.events(reference, RungReachedNobody)) == 1
        assert {line["to"] for line in home.told(TWO_HOURS)} == {"supervisor@chino.example"}


async def test_a_suppression_is_lifted_by_a_manager_with_a_reason_and_stays_on_record(small: Household) -> None:
    async with transaction(small.house, "test") as tx:
        await suppress(tx, "email", "duty@chino.example", "bounced", "5.1.1")
        [(row, names)] = await listed(tx, MANAGER)
        assert names == ["Omar Reyes (duty officer of chino)"]
        number = row.id or 0
        with pytest.raises(NotAllowed):
            await lift(tx, Staff("o@chino.example", "officer", "chino"), number, "x")
        with pytest.raises(BadInput):
            await lift(tx, MANAGER, number, " \x00 ")
        with pytest.raises(NotKnown):
            await lift(tx, Staff("m@ontario.example", "manager", "ontario"), number, "x")
        with pytest.raises(NotKnown):
            await lift(tx, MANAGER, number + 1, "x")
    async with transaction(small.house, "test") as tx:
        await lift(tx, MANAGER, number, "the mailbox was made anew")
        assert not await why_not(tx, "email", "duty@chino.example")
        assert await restore(tx, "email", "duty@chino.example", "again", "x") == 0
    async with transaction(small.house, "test") as tx:
        assert await suppress(tx, "email", "duty@chino.example", "bounced", "5.1.1 again")
        rows = await listed(tx, MANAGER, lifted=True)
        assert [row.lifted_by for row, _ in rows] == [None, MANAGER.email]


async def test_a_stop_stands_beside_a_bounce_and_outlives_it(small: Household) -> None:
    async with transaction(small.house, "test") as tx:
        assert await suppress(tx, "sms", "+19095550103", "bounced", "Twilio error 30005")
        assert await suppress(tx, "sms", "+19095550103", "opted_out", "replied STOP")
        assert not await suppress(tx, "sms", "+19095550103", "opted_out", "replied STOP again")
        assert not await suppress(tx, "sms", "+19095550103", "bounced", "Twilio error 30006")
    async with transaction(small.house, "test") as tx:
        bounced = next(row for row, _ in await listed(tx, MANAGER) if row.reason == "bounced")
        await lift(tx, MANAGER, bounced.id or 0, "a new phone")
    async with transaction(small.house, "test") as tx:
        assert "its owner asked for no more" in await why_not(tx, "sms", "+19095550103")
        assert await restore(tx, "sms", "+19095550103", "replied START", "them") == 1
        assert await why_not(tx, "sms", "+19095550103") == ""


async def test_who_cannot_be_told_is_said_with_what_is_left_to_them(small: Household) -> None:
    async with transaction(small.house, "test") as tx:
        await suppress(tx, "sms", "+19095550102", "opted_out", "replied STOP")
        [one] = await unreachable(tx, ["chino"])
        assert one.says == (
            "Omar Reyes (duty officer) gets no text messages: +19095550102 its owner asked for no more; their other channels are used"
        )
        await suppress(tx, "email", "duty@chino.example", "bounced", "5.1.1")
        assert [one.alone for one in await unreachable(tx)] == [True, True]
        assert await unreachable(tx, ["ontario"]) == []


async def test_doctor_names_who_cannot_be_told(small: Household) -> None:
    async with transaction(small.house, "test") as tx:
        await suppress(tx, "sms", "+19095550102", "opted_out", "replied STOP")
    await small.house.engine.dispose()
    findings = await programs.examine(small.house.settings, small.clock)
    [found] = [finding for finding in findings if "Omar Reyes" in finding]
    assert found.startswith("WARN   chino: Omar Reyes (duty officer) gets no text messages")


async def test_the_link_to_act_stands_in_the_text_and_on_the_page_of_a_mail(small: Household) -> None:
    await small.report(a_report())
    [message, *_] = await small.messages(channel="email")
    text, html = letter_of(small.house, message)
    assert text.count(act_url(small.house, message.id)) == html.count(act_url(small.house, message.id)) == 1
    assert html.endswith("</html>\n")
    [sms, *_] = await small.messages(channel="sms")
    assert letter_of(small.house, sms) == (sms.text, "")
