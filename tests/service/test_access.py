"""Accounts, tokens, sessions and private links: what lets somebody in, for how long, and what never does."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from service import access, signing_in
from service.access import LINK_LASTS, SESSION_LASTS, Device, Staff
from service.errors import BadInput, NotAllowed, NotKnown, NotSignedIn
from service.parties import link_token, spill_of_token
from service.tables import Credential
from service.transaction import reading, transaction
from service.wiring import fill_example_city
from tests.houses import Household
from tests.spills import a_report


async def an_account(home: Household, purpose: str, lasts: timedelta | None = None) -> str:
    async with transaction(home.house, "test") as tx:
        return await access.issue(tx, await access.add_account(tx, "Ann@chino.example", "officer", "chino"), purpose, lasts)


async def whose(home: Household, token: str, purpose: str) -> Staff:
    async with reading(home.house) as tx:
        return await access.staff_of(tx, token, purpose)


async def test_a_token_is_kept_as_its_digest_alone(small: Household) -> None:
    token = await an_account(small, "api")
    assert await whose(small, token, "api") == Staff("ann@chino.example", "officer", "chino")
    async with reading(small.house) as tx:
        [credential] = (await tx.session.execute(select(Credential))).scalars()
    assert credential.digest == access.digest_of(token) != token
    assert token.startswith("sc_api_")
    assert len(token) > 40


@pytest.mark.parametrize("token", ["", "x", "sc_api_", "\ud800", "sc_api_" + "x" * 5000])
async def test_a_made_up_token_lets_nobody_in(small: Household, token: str) -> None:
    await an_account(small, "api")
    with pytest.raises(NotSignedIn):
        await whose(small, token, "api")


async def test_a_sign_in_link_works_once_and_for_half_an_hour(small: Household) -> None:
    link = await an_account(small, "link", LINK_LASTS)
    session = (await signing_in.by_link(small.house, link, Device())).token
    assert (await whose(small, session, "session")).email == "ann@chino.example"
    with pytest.raises(NotSignedIn):
        await signing_in.by_link(small.house, link, Device())
    async with transaction(small.house, "test") as tx:
        late = await access.issue(tx, await access.account_of(tx, "ANN@chino.example"), "link", LINK_LASTS)
    small.clock.jump(minutes=30)
    with pytest.raises(NotSignedIn):
        await signing_in.by_link(small.house, late, Device())


async def test_a_session_ends_by_itself_and_when_it_is_closed(small: Household) -> None:
    session = await an_account(small, "session", SESSION_LASTS)
    small.clock.jump(hours=11, minutes=59)
    assert await whose(small, session, "session")
    small.clock.jump(minutes=1)
    with pytest.raises(NotSignedIn):
        await whose(small, session, "session")
    async with transaction(small.house, "test") as tx:
        other = await access.issue(tx, await access.account_of(tx, "ann@chino.example"), "session", SESSION_LASTS)
    async with transaction(small.house, "test") as tx:
        await access.close_session(tx, other)
        await access.close_session(tx, "never was one")
    with pytest.raises(NotSignedIn):
        await whose(small, other, "session")


@pytest.mark.parametrize(("kept", "asked"), [("api", "session"), ("session", "api"), ("link", "api"), ("link", "session")])
async def test_a_token_of_one_purpose_serves_no_other(small: Household, kept: str, asked: str) -> None:
    token = await an_account(small, kept)
    with pytest.raises(NotSignedIn):
        await whose(small, token, asked)


async def test_an_account_with_faults_is_refused_with_every_one(home: Household) -> None:
    with pytest.raises(BadInput) as error:
        async with transaction(home.house, "test") as tx:
            await access.add_account(tx, "ann at chino", "boss", "gotham")
    assert [fault.partition(":")[0] for fault in error.value.faults] == ["EMAIL", "--role", "--city"]
    await home.token("officer", email="ann@chino.example")
    with pytest.raises(BadInput, match="cannot be added") as error:
        await home.token("officer", email="ANN@chino.example")
    assert "has an account already" in error.value.faults[0]


async def test_an_unknown_account_is_told_how_to_add_it(small: Household) -> None:
    async with reading(small.house) as tx:
        with pytest.raises(NotKnown, match="spillclock user add bo@chino"):
            await access.account_of(tx, "bo@chino.example")


def test_roles_rise_and_a_city_binds_them() -> None:
    manager = Staff("m@chino.example", "manager", "chino")
    for role in ("viewer", "officer", "manager"):
        manager.require(role, "chino")
    for role, city in (("administrator", "chino"), ("viewer", "ontario")):
        with pytest.raises(NotAllowed):
            manager.require(role, city)
    assert manager.may_see(None)
    assert Staff("a@every.example", "viewer", None).may_see("ontario")


# -- private links


async def test_a_private_link_opens_its_own_spill_and_purpose_only(small: Household) -> None:
    mine, other = await small.report(a_report()), await small.report(a_report())
    token = link_token(small.house, "respond", await small.spill(mine))
    async with reading(small.house) as tx:
        assert (await spill_of_token(tx, "respond", token)).reference == mine
        wrong = [
            "", ".", "..", mine, token[:-1], token + "x", token.replace(mine, other), token.replace(".1.", ".2."), token.swapcase(),
            link_token(small.house, "status", await small.spill(mine)), f"SP-2026-99999.1.{token.rpartition('.')[2]}", "x" * 10_000,
        ]  # fmt: skip
        for made_up in wrong:
            with pytest.raises(NotKnown, match="not valid"):
                await spill_of_token(tx, "respond", made_up)


async def test_a_link_of_another_key_opens_nothing(small: Household) -> None:
    reference = await small.report(a_report())
    stranger = small.with_house(signing_key=b"another")
    token = link_token(stranger.house, "respond", await small.spill(reference))
    async with reading(small.house) as tx:
        with pytest.raises(NotKnown):
            await spill_of_token(tx, "respond", token)


# -- the example city


async def test_the_example_city_is_filled_once_and_never_again(small: Household) -> None:
    await small.people()
    assert await fill_example_city(small.house)
    await small.people()
    assert not await fill_example_city(small.house)
    reference = await small.report(a_report())
    await small.work()
    assert small.outbox() == []
    assert reference


async def test_a_city_that_has_people_of_its_own_gets_no_example(small: Household) -> None:
    assert not await fill_example_city(small.house)
