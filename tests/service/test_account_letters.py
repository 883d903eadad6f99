"""Letters about accounts go out as every message does; of a link's secret nothing is kept, and what makes no sense any more is not sent."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlmodel import SQLModel

from notifiers import Outcome
from service import access, account_letters, accounts, receipts, second_factor, signing_in
from service.access import LINK_LASTS
from service.errors import Conflict
from service.receipts import Heard
from service.sending import deliver
from service.suppressions import suppress
from service.tables import Attempt, Credential, MessageRow
from service.transaction import reading, transaction
from tests.houses import Household
from tests.service.channels import Post
from tests.service.people import ANN, GOOD, HOME, ROOT, an_account, log_of
from tests.spills import a_report

SUBJECTS = {"link": "Your link to sign in", "recover": "Your link to set a new password"}


async def ask(home: Household, purpose: str = "link", email: str = ANN, wanted: str = "") -> None:
    await accounts.mail_link(home.house, email, purpose, wanted)


async def letters(home: Household, email: str = ANN) -> list[MessageRow]:
    """The letters to an account, the oldest first."""
    async with reading(home.house) as tx:
        return list(reversed(await account_letters.letters_to(tx, await access.account_of(tx, email))))


def token_in(said: str) -> str:
    [token] = re.findall(r"/staff/(?:enter|password)/(sc_[a-z]+_[\w-]{43})", said)
    return str(token)


async def send(home: Household, post: Post) -> None:
    """Let a worker hand over what is due."""
    await deliver(home.house, {"email": post}, "worker")


async def test_a_link_goes_out_by_the_queue_and_signs_in(small: Household) -> None:
    await an_account(small)
    await ask(small, wanted="/staff/account")
    [letter] = await letters(small)
    assert (letter.state, letter.subject, letter.address) == ("waiting", "Your link to sign in", ANN)
    post = Post("email")
    await send(small, post)
    [said] = post.got
    assert "?next=/staff/account" in said.text
    assert "It works once, until Tue Dec 1, 2:35 PM PST." in said.text
    assert (await letters(small))[0].state == "accepted"
    async with reading(small.house) as tx:
        [attempt] = (await tx.session.execute(select(Attempt))).scalars()
    assert (attempt.message_id, attempt.outcome) == (letter.id, Outcome.ACCEPTED.value)
    assert (await signing_in.by_link(small.house, token_in(said.text), HOME)).token


async def test_nothing_that_is_stored_opens_anything(small: Household) -> None:
    await an_account(small)
    await ask(small)
    await ask(small, "recover")
    async with transaction(small.house, ROOT.email) as tx:
        await accounts.invite(tx, ROOT, "lee@chino.example", "Lee", {"chino": "officer"})
    post = Post("email")
    await send(small, post)
    tokens = [token_in(said.text) for said in post.got]
    assert sorted(token.split("_")[1] for token in tokens) == ["invite", "link", "recover"]
    async with reading(small.house) as tx:
        stored = [str((await tx.session.execute(table.select())).all()) for table in SQLModel.metadata.sorted_tables]
    assert not [token for token in tokens if any(token in rows or token.split("_", 2)[2] in rows for rows in stored)]
    other = small.with_house(signing_key=b"the key of another deployment, long")
    await ask(small, email="lee@chino.example")
    posted = Post("email")
    await send(other, posted)  # whoever has the database without the key
    assert posted.got == []


async def test_a_mail_server_that_is_down_is_tried_again_until_the_link_is_worth_nothing(small: Household) -> None:
    await an_account(small)
    await ask(small)
    post = Post("email", Outcome.TRY_AGAIN, Outcome.UNKNOWN)
    await send(small, post)
    small.clock.jump(seconds=5)
    await send(small, post)
    small.clock.jump(seconds=15)
    await send(small, post)
    assert [said.key for said in post.got] == [post.got[0].key] * 3
    assert len({said.text for said in post.got}) == 1  # the same link each time
    assert (await signing_in.by_link(small.house, token_in(post.got[0].text), HOME)).token
    await ask(small)
    down = Post("email", then=Outcome.TRY_AGAIN)
    await send(small, down)
    small.clock.at += LINK_LASTS
    await send(small, down)
    assert len(down.got) == 1
    assert [letter.state for letter in await letters(small)] == ["accepted", "cancelled"]


async def test_whoever_presses_twice_gets_one_letter_and_later_another(small: Household) -> None:
    await an_account(small)
    for _ in range(3):
        await ask(small)
    assert len(await letters(small)) == 1
    small.clock.jump(minutes=1)
    await ask(small)
    assert len(await letters(small)) == 2


async def test_a_new_invitation_stands_in_for_one_that_did_not_go_out_yet(small: Household) -> None:
    async with transaction(small.house, ROOT.email) as tx:
        account, _ = await accounts.invite(tx, ROOT, ANN, "", {"chino": "officer"})
        await accounts.invite_again(tx, ROOT, account)
    post = Post("email")
    await send(small, post)
    assert [said.subject for said in post.got] == ["You are invited to Spillclock"]
    assert sorted(letter.state for letter in await letters(small)) == ["accepted", "cancelled"]
    assert (await accounts.set_by_link(small.house, token_in(post.got[0].text), GOOD)).email == ANN


async def test_an_address_without_an_account_gets_nothing_and_leaves_nothing(small: Household) -> None:
    await an_account(small, "gone@chino.example")
    async with transaction(small.house, "test") as tx:
        (await access.account_of(tx, "gone@chino.example")).ended_at = tx.now
    for email in ("nobody@chino.example", "gone@chino.example", "", "\0", "\ud800"):
        for purpose in SUBJECTS:
            await ask(small, purpose, email)
    async with reading(small.house) as tx:
        for table in (MessageRow, Credential):
            assert (await tx.session.execute(select(table))).all() == []


async def test_whoever_left_is_told_so_and_gets_no_link_any_more(small: Household) -> None:
    account = await an_account(small)
    await ask(small)
    async with transaction(small.house, ROOT.email) as tx:
        ended = await accounts.end(tx, ROOT, account.id or 0)
        await account_letters.notice(tx, ended, "Your account was ended.")
    post = Post("email")
    await send(small, post)
    assert [said.subject for said in post.got] == ["Your Spillclock account was changed"]
    assert post.got[0].text.startswith("Your account was ended.\n\nIf this was not you,")


async def tell_and_fail(home: Household) -> None:
    """A change that is undone after it was told."""
    async with transaction(home.house, ANN) as tx:
        mine = await access.account_of(tx, ANN)
        await account_letters.notice(tx, mine, "From now on a code is asked for.")
        await second_factor.switch_on(tx, mine, "000000")


async def test_what_was_changed_is_told_with_the_change_or_not_at_all(small: Household) -> None:
    await an_account(small, password=GOOD)
    entered = await signing_in.by_password(small.house, ANN, GOOD, HOME)
    async with reading(small.house) as tx:
        staff = await access.staff_of(tx, entered.token, "session")
    await accounts.set_password(small.house, staff, "a new one, long enough")
    assert [letter.text.partition("\n")[0] for letter in await letters(small)] == [
        "Your password was set, and every other device was signed out."
    ]
    with pytest.raises(Conflict):
        await tell_and_fail(small)
    assert len(await letters(small)) == 1


async def test_a_link_goes_before_every_alert_and_whatever_became_of_other_mail(small: Household) -> None:
    await an_account(small)
    await small.report(a_report())
    async with transaction(small.house, "test") as tx:
        await suppress(tx, "email", ANN, "bounced", "5.2.2: mailbox full")
    await ask(small)
    post = Post("email")
    await send(small, post)
    assert post.got[0].subject == "Your link to sign in"
    assert len(post.got) > 1


async def test_a_letter_that_came_back_is_shown_to_whoever_manages_accounts(small: Household) -> None:
    await an_account(small)
    await ask(small)
    await send(small, Post("email"))
    async with transaction(small.house, "test") as tx:
        message = await receipts.message_of(tx, (await letters(small))[0].id)
        assert message is not None
        await receipts.note(tx, message, Heard("bounced", "dsn", "5.1.1: no such user"))
    assert [(letter.state, letter.receipt) for letter in await letters(small)] == [("accepted", "bounced")]
    await small.work()  # nothing else comes of it: it is part of no story


async def test_a_refused_letter_ends_and_a_notice_is_given_up_after_a_day(small: Household) -> None:
    await an_account(small)
    await ask(small)
    await send(small, Post("email", Outcome.REFUSED))
    async with transaction(small.house, ANN) as tx:
        await account_letters.notice(tx, await access.account_of(tx, ANN), "Something was changed.")
    down = Post("email", then=Outcome.TRY_AGAIN)
    for _ in range(3):
        await send(small, down)
        small.clock.at += timedelta(hours=12)
    await send(small, down)
    assert sorted(letter.state for letter in await letters(small)) == ["gave_up", "refused"]


async def test_a_letter_is_in_the_time_of_the_accounts_city(small: Household) -> None:
    await an_account(small, "every@city.example", "viewer", None)
    await ask(small, email="every@city.example")
    [letter] = await letters(small, "every@city.example")
    assert "PST" in letter.text
    assert letter.give_up_at == small.clock.at + LINK_LASTS


async def test_asking_for_a_link_stands_in_the_log(small: Household) -> None:
    await an_account(small)
    for purpose in SUBJECTS:
        await ask(small, purpose)
    assert [kind for kind, _ in await log_of(small)][-2:] == ["sign-in:link", "password:recovery"]
    assert {letter.subject for letter in await letters(small)} == set(SUBJECTS.values())
