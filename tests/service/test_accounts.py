"""Accounts: roles in several cities, keys with scopes, invitations, what administrators may do, and the log of all that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from service import access, accounts, api_keys, second_factor, signing_in
from service.access import SESSION_LASTS, Staff
from service.account_tables import StaffAction
from service.errors import BadInput, Conflict, NotAllowed, NotKnown, NotSignedIn
from service.tables import Credential
from service.transaction import reading, transaction
from tests.houses import Household
from tests.service.people import ANN, ELSEWHERE, GOOD, HOME, ROOT, an_account, fail, log_of, whose, with_second_step
from tests.spills import IN_ONTARIO, a_report

# -- roles in several cities


BOTH = Staff("lee@both.example", "manager", "chino", (("ontario", "viewer"),))


def test_a_role_counts_in_its_city_and_in_no_other() -> None:
    BOTH.require("manager", "chino")
    BOTH.require("viewer", "ontario")
    for role, city in (("officer", "ontario"), ("viewer", "upland"), ("administrator", "chino")):
        with pytest.raises(NotAllowed):
            BOTH.require(role, city)
        assert not BOTH.may(role, city)
    assert [BOTH.may_see(city) for city in ("chino", "ontario", "upland", None)] == [True, True, False, True]
    assert (BOTH.cities, BOTH.highest(), BOTH.office("ontario")) == (("chino", "ontario"), "manager", "viewer")


def test_a_role_in_every_city_is_raised_in_one() -> None:
    staff = Staff("x@every.example", "viewer", None, (("chino", "officer"),))
    assert (staff.role_in("chino"), staff.role_in("ontario"), staff.role_in(None)) == ("officer", "viewer", "officer")
    assert staff.cities is None
    assert staff.administers == frozenset()


async def test_an_account_of_two_cities_sees_both_and_acts_in_one(home: Household) -> None:
    await an_account(home, "lee@both.example", "officer", "chino")
    async with transaction(home.house, "test") as tx:
        account = await access.account_of(tx, "lee@both.example")
        await access.put_roles(tx, account, {"chino": "officer", "ontario": "viewer"})
        token = await access.issue(tx, account, "api")
    here, there = await home.report(a_report()), await home.report(a_report(location=IN_ONTARIO))
    client = home.client(token)
    listed = (await client.get("/api/v1/spills")).json()["spills"]
    assert {one["reference"] for one in listed} == {here, there}
    for reference, status in ((here, 200), (there, 403)):
        clock = (await home.clocks(reference))[0]
        assert (await client.post(f"/api/v1/clocks/{clock.id}/acknowledge", json={})).status_code == status


# -- keys with scopes


async def a_key(home: Household, *scopes: str, city: str | None = None, days: int | None = 30, role: str = "manager") -> str:
    await an_account(home, role=role, city=None)
    async with transaction(home.house, ANN) as tx:
        return (await api_keys.make(tx, Staff(ANN, role, None), "a program", scopes, city, days))[0]


@pytest.mark.parametrize(
    ("scope", "answers"),
    [("read", (200, 403, 403, 403)), ("report", (403, 201, 403, 403)), ("act", (200, 403, 200, 403)), ("manage", (200, 403, 200, 200))],
)  # fmt: skip
async def test_a_key_does_what_it_was_made_for_and_nothing_else(small: Household, scope: str, answers: tuple[int, ...]) -> None:
    reference = await small.report(a_report())
    clock = (await small.clocks(reference))[0]
    client = small.client(await a_key(small, scope))
    assert (
        (await client.get("/api/v1/spills")).status_code,
        (await client.post("/api/v1/spills", json=a_report())).status_code,
        (await client.post(f"/api/v1/clocks/{clock.id}/acknowledge", json={})).status_code,
        (await client.post(f"/api/v1/clocks/{clock.id}/waive", json={"reason": "not ours"})).status_code,
    ) == answers


async def test_a_key_that_only_reports_learns_nothing_of_a_spill(small: Household) -> None:
    reference = await small.report(a_report())
    client = small.client(await a_key(small, "report"))
    for address in (f"/api/v1/spills/{reference}", f"/api/v1/spills/{reference}/clocks", "/api/v1/replies", "/api/v1/subscriptions"):
        assert (await client.get(address)).status_code in (403, 404), address


async def test_a_key_of_one_city_knows_no_other(home: Household) -> None:
    here, there = await home.report(a_report()), await home.report(a_report(location=IN_ONTARIO))
    client = home.client(await a_key(home, "manage", city="ontario"))
    assert (await client.get(f"/api/v1/spills/{there}")).status_code == 200
    assert (await client.get(f"/api/v1/spills/{here}")).status_code == 404


async def test_a_key_is_worth_no_more_than_its_owner_is_now(small: Household) -> None:
    client = small.client(await a_key(small, "manage"))
    assert (await client.get("/api/v1/rotas")).status_code == 200
    async with transaction(small.house, "test") as tx:
        await access.put_roles(tx, await access.account_of(tx, ANN), {"chino": "viewer"})
    assert (await client.get("/api/v1/rotas")).status_code == 403
    async with transaction(small.house, "test") as tx:
        await access.put_roles(tx, await access.account_of(tx, ANN), {})
    assert (await client.get("/api/v1/spills")).status_code == 401


async def test_a_revoked_key_and_one_out_of_date_let_nobody_in(small: Household) -> None:
    key = await a_key(small, "read")
    assert (await small.client(key).get("/api/v1/spills")).status_code == 200
    async with transaction(small.house, ANN) as tx:
        account = await access.account_of(tx, ANN)
        [kept] = await api_keys.of_account(tx, account)
        assert kept.seen_at == small.clock.at
        assert key.startswith(kept.hint)
        assert kept.digest not in key
        await api_keys.revoke(tx, account, kept.id or 0)
        with pytest.raises(NotKnown):
            await api_keys.revoke(tx, account, kept.id or 0)
        another, _ = await api_keys.make(tx, Staff(ANN, "manager", None), "next", ["read"], None, 30)
    assert (await small.client(key).get("/api/v1/spills")).status_code == 401
    small.clock.jump(days=30)
    assert (await small.client(another).get("/api/v1/spills")).status_code == 401
    assert [kind for kind, _ in await log_of(small)] == ["account:added", "key:made", "key:revoked", "key:made"]


@pytest.mark.parametrize(
    ("name", "scopes", "city", "days", "fault"),
    [("", ["read"], None, 30, "Name"), ("x", [], None, 30, "Scope"), ("x", ["root"], None, 30, "Scope"),
     ("x", ["read"], "gotham", 30, "City"),
     ("x", ["read"], "ontario", 30, "City"), ("x", ["read"], None, 10**6, "Expires"), ("x" * 101, ["read"], None, 30, "Name")],
)  # fmt: skip
async def test_a_key_with_faults_is_not_made(
    home: Household, name: str, scopes: list[str], city: str | None, days: int, fault: str
) -> None:
    await an_account(home)
    with pytest.raises(BadInput) as error:
        async with transaction(home.house, ANN) as tx:
            await api_keys.make(tx, Staff(ANN, "officer", "chino"), name, scopes, city, days)
    assert [line.partition(":")[0] for line in error.value.faults] == [fault]


# -- administrators


async def test_an_invitation_lets_its_owner_choose_a_password_once(small: Household) -> None:
    async with transaction(small.house, ROOT.email) as tx:
        account, token = await accounts.invite(tx, ROOT, " Ann@chino.example ", "Ann", {"chino": "officer"})
        assert account.email == ANN
    with pytest.raises(BadInput):
        await accounts.set_by_link(small.house, token, "short")
    await accounts.set_by_link(small.house, token, GOOD)
    assert (await signing_in.by_password(small.house, ANN, GOOD, HOME)).token
    with pytest.raises(NotSignedIn):
        await accounts.set_by_link(small.house, token, GOOD)
    kinds = await log_of(small)
    assert kinds[:2] == [("account:added", ROOT.email), ("account:invited", ROOT.email)]
    assert ("account:joined", ANN) in kinds


async def test_an_invitation_runs_out_and_a_new_one_replaces_it(small: Household) -> None:
    async with transaction(small.house, ROOT.email) as tx:
        account, first = await accounts.invite(tx, ROOT, ANN, "", {"chino": "officer"})
        second = await accounts.invite_again(tx, ROOT, account)
    with pytest.raises(NotSignedIn):
        await accounts.set_by_link(small.house, first, GOOD)
    small.clock.jump(days=7)
    with pytest.raises(NotSignedIn):
        await accounts.set_by_link(small.house, second, GOOD)


async def test_a_new_password_by_mail_ends_every_session_and_every_other_link(small: Household) -> None:
    await an_account(small, password=GOOD)
    session = (await signing_in.by_password(small.house, ANN, GOOD, HOME)).token
    links = []
    for _ in range(2):
        async with transaction(small.house, "sign-in") as tx:
            links.append(await accounts.mailed_link(tx, ANN, "recover"))
            assert await accounts.mailed_link(tx, "nobody@chino.example", "recover") is None
        small.clock.jump(minutes=2)
    tokens = [link[1] for link in links if link]
    await accounts.set_by_link(small.house, tokens[0], "another one, quite as long")
    for token in tokens:
        with pytest.raises(NotSignedIn):
            await accounts.set_by_link(small.house, token, "a third one, longer still")
    with pytest.raises(NotSignedIn):
        await whose(small, session)
    async with transaction(small.house, "sign-in") as tx:
        made = await accounts.mailed_link(tx, ANN, "recover")
    assert made
    with pytest.raises(BadInput):  # to recover is to set one
        await accounts.set_by_link(small.house, made[1], "")


@pytest.mark.parametrize(
    "change",
    [
        lambda tx, number: accounts.end(tx, ROOT, number),
        lambda tx, number: accounts.change_roles(tx, ROOT, number, {None: "manager"}),
        lambda tx, number: accounts.change_roles(tx, ROOT, number, {"chino": "administrator"}),
        lambda tx, number: accounts.change_roles(tx, ROOT, number, {}),
    ],
    ids=["end", "lower", "narrow", "take away"],
)
async def test_the_only_administrator_cannot_be_taken_away(small: Household, change: Callable[..., object]) -> None:
    account = await an_account(small, ROOT.email, "administrator", None)
    with pytest.raises(Conflict, match="no administrator any more"):
        async with transaction(small.house, ROOT.email) as tx:
            await change(tx, account.id)  # type: ignore[misc]
    await an_account(small, "second@every.example", "administrator", None)
    async with transaction(small.house, ROOT.email) as tx:
        await change(tx, account.id)  # type: ignore[misc]


async def test_an_account_that_ended_lets_nobody_in_until_it_is_restored(small: Household) -> None:
    account = await an_account(small, password=GOOD)
    session = (await signing_in.by_password(small.house, ANN, GOOD, HOME)).token
    async with transaction(small.house, ANN) as tx:
        key = await api_keys.make_for_everything(tx, ANN)
    async with transaction(small.house, ROOT.email) as tx:
        await accounts.end(tx, ROOT, account.id or 0)
    for token, purpose in ((session, "session"), (key, "api")):
        with pytest.raises(NotSignedIn):
            await whose(small, token, purpose)
    async with transaction(small.house, ROOT.email) as tx:
        assert await accounts.mailed_link(tx, ANN, "link") is None
        await accounts.restore(tx, ROOT, account.id or 0)
        assert await accounts.mailed_link(tx, ANN, "link") is not None
    with pytest.raises(NotSignedIn):  # neither the old session nor the old password
        await whose(small, session)
    await fail(small, ANN, ELSEWHERE)


async def test_an_administrator_of_a_city_manages_it_and_nothing_beyond(home: Household) -> None:
    chief = Staff("chief@chino.example", "administrator", "chino")
    await an_account(home, chief.email, "administrator", "chino")
    both = await an_account(home, "lee@both.example", "viewer", "ontario")
    theirs = await an_account(home, "o@ontario.example", "officer", "ontario")
    async with transaction(home.house, "test") as tx:
        await access.put_roles(tx, both, {"ontario": "viewer", "chino": "viewer"})
    async with transaction(home.house, chief.email) as tx:
        assert [one.account.email for one in await accounts.listed(tx, chief)] == [chief.email, both.email]
        refused: tuple[accounts.Roles, ...] = ({None: "viewer"}, {"ontario": "viewer"}, {"chino": "emperor"}, {})
        for roles in refused:
            with pytest.raises(BadInput):
                await accounts.invite(tx, chief, "new@chino.example", "", roles)
        with pytest.raises(NotKnown):
            await accounts.change_roles(tx, chief, theirs.id or 0, {"chino": "officer"})
        with pytest.raises(NotAllowed):
            await accounts.end(tx, chief, both.id or 0)
        await accounts.change_roles(tx, chief, both.id or 0, {"chino": "officer"})
    async with reading(home.house) as tx:
        [staff] = (await access.staff_by_account(tx, [both])).values()
    assert staff.roles == {"chino": "officer", "ontario": "viewer"}
    for nobody in (Staff("m@chino.example", "manager", None), Staff("k@chino.example", "administrator", None, (), frozenset({"act"}))):
        async with reading(home.house) as tx:
            with pytest.raises(NotAllowed):
                await accounts.listed(tx, nobody)


async def test_the_first_administrator_gets_a_link_until_somebody_is_in(small: Household) -> None:
    links = []
    for _ in range(2):  # a second start makes a second link for the same account
        async with transaction(small.house, "spillclock") as tx:
            links.append(await accounts.first_administrator(tx))
    session = (await signing_in.by_link(small.house, links[1] or "", HOME)).token
    assert (await whose(small, session)).administers is None
    async with transaction(small.house, "spillclock") as tx:
        assert await accounts.first_administrator(tx) is None


# -- the log


async def test_what_was_noted_can_be_neither_changed_nor_removed(small: Household) -> None:
    await an_account(small)
    for change in ("UPDATE staff_action SET actor = 'x'", "DELETE FROM staff_action"):
        with pytest.raises(DBAPIError, match="actions are only added"):
            async with transaction(small.house, "test") as tx:
                await tx.session.execute(text(change))


async def test_no_secret_is_in_the_log(small: Household) -> None:
    account, codes = await with_second_step(small)
    key = second_factor.app_key(small.house, account)
    async with transaction(small.house, ANN) as tx:
        api, _ = await api_keys.make(tx, Staff(ANN, "officer", "chino"), "sensor", ["read"], None, None)
        link = await accounts.mailed_link(tx, ANN, "recover")
    await fail(small, "nobody@chino.example", ELSEWHERE)
    async with reading(small.house) as tx:
        said = str([(one.kind, one.said) for one in (await tx.session.execute(select(StaffAction))).scalars()])
        kept = str((await tx.session.execute(text("SELECT * FROM credential"))).all())
    for secret in (key, api, link[1] if link else "", GOOD, *codes, "nobody@chino.example"):
        assert secret
        assert secret not in said + kept


async def test_when_a_token_was_last_used_is_kept_to_ten_minutes(small: Household) -> None:
    await an_account(small)
    async with transaction(small.house, "test") as tx:
        session = await access.issue(tx, await access.account_of(tx, ANN), "session", SESSION_LASTS)
    seen = []
    for _ in range(3):
        await access.staff_now(small.house, session, "session")
        async with reading(small.house) as tx:
            [row] = (await tx.session.execute(select(Credential))).scalars()
        seen.append(row.seen_at)
        small.clock.jump(minutes=6)
    assert seen[0] == seen[1] == small.clock.at - timedelta(minutes=18)
    assert seen[2] == small.clock.at - timedelta(minutes=6)
