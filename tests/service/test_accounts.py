"""Accounts: passwords, the second step, waits, keys with scopes, roles in several cities, invitations, and the log of all that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta

import pyotp
import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from service import access, accounts, api_keys, lockout, second_factor, signing_in, staff_log
from service.access import SESSION_LASTS, Device, Staff
from service.account_tables import StaffAction
from service.errors import BadInput, Conflict, NotAllowed, NotKnown, NotSignedIn
from service.passwords import LONGEST, Passwords, faults_of
from service.tables import Account, Credential
from service.transaction import reading, transaction
from tests.houses import Household
from tests.spills import IN_ONTARIO, a_report

ANN = "ann@chino.example"
GOOD = "heron gravel tuba nine lids"
HOME, ELSEWHERE = Device("Firefox on Windows", "192.0.2.7"), Device("Another browser", "198.51.100.9")
ROOT = Staff("root@every.example", "administrator", None)


async def an_account(home: Household, email: str = ANN, role: str = "officer", city: str | None = "chino", password: str = "") -> Account:
    async with transaction(home.house, "test") as tx:
        account = await access.add_account(tx, email, role, city)
        account.password = await home.house.passwords.hashed(password) if password else ""
        return account


async def the(home: Household, email: str = ANN) -> Account:
    async with reading(home.house) as tx:
        found = await access.find_account(tx, email)
        assert found is not None
        return found


async def whose(home: Household, token: str, purpose: str = "session") -> Staff:
    async with reading(home.house) as tx:
        return await access.staff_of(tx, token, purpose)


async def log_of(home: Household, email: str = ANN) -> list[tuple[str, str]]:
    """What was noted about an account, the oldest first, and by whom."""
    account = await the(home, email)
    async with reading(home.house) as tx:
        return [(one.kind, one.actor) for one in reversed(await staff_log.actions_about(tx, account.id or 0))]


async def with_second_step(home: Household) -> tuple[Account, list[str]]:
    """An account with a password and the second step on, and its recovery codes; the code of now is used up."""
    account = await an_account(home, password=GOOD)
    async with transaction(home.house, ANN) as tx:
        await second_factor.begin(tx, await access.account_of(tx, ANN))
    async with transaction(home.house, ANN) as tx:
        account = await access.account_of(tx, ANN)
        return account, await second_factor.switch_on(tx, account, code_of(home, account))


def code_of(home: Household, account: Account) -> str:
    """What the app of an account shows now."""
    return pyotp.TOTP(second_factor.app_key(home.house, account)).at(home.clock.at)


async def half(home: Household) -> str:
    entered = await signing_in.by_password(home.house, ANN, GOOD, HOME)
    assert entered.asks_code
    return entered.token


# -- passwords


@pytest.mark.parametrize(
    "password",
    ["", "short", "x" * 14, "x" * (LONGEST + 1), "aaaaaaaaaaaaaaaa", "123456789012345", "qwertyuiopasdfghjkl", "passwordpassword",
     "spillclockspillclock", "ann@chino.exampleannann", "AnnAnnAnnAnnAnnAnn1", "zyxwvutsrqponmlkj"],
)  # fmt: skip
def test_a_password_that_is_easily_guessed_is_refused_with_what_would_be_right(password: str) -> None:
    [fault] = faults_of(password, ANN)
    assert "right would be" in fault
    assert not password or password not in fault


@pytest.mark.parametrize(
    "password", [GOOD, "ñandú ñandú río agua 7", "correct horse of another stable", "\ud800 lone surrogate, odd but long"]
)
async def test_a_good_password_is_known_again_and_no_other_is(password: str) -> None:
    assert faults_of(password, ANN) == []
    cheap = Passwords(rounds=1, memory_kib=8, lanes=1)
    kept = await cheap.hashed(password)
    assert kept.startswith("$argon2id$")
    assert (await cheap.match(password, kept)).is_right
    for wrong in ("", password + " ", password.swapcase() + "x", "\0" * 20, "x" * 100_000):
        assert not (await cheap.match(wrong, kept)).is_right


async def test_a_composed_letter_is_the_same_however_it_was_typed() -> None:
    cheap = Passwords(rounds=1, memory_kib=8, lanes=1)
    assert (await cheap.match("arroyo pe\u00f1a salado", await cheap.hashed("arroyo pen\u0303a salado"))).is_right


@pytest.mark.parametrize("kept", ["", "not a hash", "$argon2id$broken", "$2b$12$abcdefghijklmnopqrstuv"])
async def test_without_a_usable_hash_no_password_is_right(kept: str) -> None:
    cheap = Passwords(rounds=1, memory_kib=8, lanes=1)
    for password in ("", GOOD, "nobody has this password"):
        assert not (await cheap.match(password, kept)).is_right


async def test_a_weaker_hash_is_made_anew_when_its_owner_signs_in(small: Household) -> None:
    await an_account(small)
    weak = await Passwords(rounds=1, memory_kib=16, lanes=1).hashed(GOOD)
    async with transaction(small.house, "test") as tx:
        (await access.account_of(tx, ANN)).password = weak
    await signing_in.by_password(small.house, ANN, GOOD, HOME)
    assert (await the(small)).password != weak
    assert await whose(small, (await signing_in.by_password(small.house, ANN, GOOD, HOME)).token)


async def test_at_most_two_hashes_are_made_at_once_and_the_loop_goes_on() -> None:
    costly, most, running = Passwords(rounds=1, memory_kib=8192, lanes=1), 0, 0
    inner = costly._hash.hash

    def counted(password: str) -> str:
        nonlocal most, running
        running += 1
        most = max(most, running)
        time.sleep(0.02)
        try:
            return inner(password)
        finally:
            running -= 1

    costly._hash.hash = counted  # type: ignore[method-assign, assignment]
    beats = 0
    work = asyncio.gather(*(costly.hashed(GOOD) for _ in range(8)))
    while not work.done():
        beats += 1
        await asyncio.sleep(0.005)
    assert most == 2
    assert beats > 5


# -- signing in


async def test_a_password_opens_a_session_that_says_where_it_is(small: Household) -> None:
    await an_account(small, password=GOOD)
    entered = await signing_in.by_password(small.house, " ANN@chino.example ", GOOD, HOME)
    assert await whose(small, entered.token) == Staff(ANN, "officer", "chino")
    async with reading(small.house) as tx:
        [session] = await accounts.sessions_of(tx, await access.account_of(tx, ANN))
    assert (session.name, session.network) == (HOME.name, HOME.network)
    assert (await log_of(small))[-1] == ("sign-in:done", ANN)


async def test_whatever_is_wrong_gets_one_answer(small: Household) -> None:
    await an_account(small, password=GOOD)
    await an_account(small, "no-password@chino.example")
    await an_account(small, "gone@chino.example", password=GOOD)
    async with transaction(small.house, "test") as tx:
        (await access.account_of(tx, "gone@chino.example")).ended_at = tx.now
    said = set()
    tried = (ANN, "no-password@chino.example", "gone@chino.example", "nobody@chino.example", "", "'; --", "\0", "\ud800", "x" * 5000)
    for email in tried:
        with pytest.raises(NotSignedIn) as error:
            await signing_in.by_password(small.house, email, GOOD if email != ANN else "wrong", HOME)
        said.add(str(error.value))
    assert len(said) == 1


async def test_an_unknown_address_takes_as_long_as_a_known_one(small: Household) -> None:
    house = small.with_house(passwords=Passwords(rounds=2, memory_kib=32_768, lanes=1)).house
    await an_account(small)
    async with transaction(house, "test") as tx:
        (await access.account_of(tx, ANN)).password = await house.passwords.hashed(GOOD)

    async def shortest(email: str) -> float:
        took = []
        for turn in range(4):
            began = time.perf_counter()
            with pytest.raises(NotSignedIn):
                await signing_in.by_password(house, email, "not the password at all", Device("", f"192.0.2.{turn}"))
            took.append(time.perf_counter() - began)
        return min(took)

    await shortest("warm@up.example")
    known, unknown = await shortest(ANN), await shortest("nobody@chino.example")
    assert 0.5 < known / unknown < 2  # coarse: a shared machine; without the work for nobody it would be tenfold


async def test_signing_in_ends_the_session_that_the_browser_held(small: Household) -> None:
    await an_account(small, password=GOOD)
    await an_account(small, "eve@chino.example")
    async with transaction(small.house, "test") as tx:
        planted = await access.issue(tx, await access.account_of(tx, "eve@chino.example"), "session", SESSION_LASTS)
    entered = await signing_in.by_password(small.house, ANN, GOOD, HOME, before=planted)
    assert entered.token != planted
    assert (await whose(small, entered.token)).email == ANN
    with pytest.raises(NotSignedIn):
        await whose(small, planted)


async def test_a_token_of_a_program_opens_no_session_and_that_of_the_server_does(small: Household) -> None:
    await an_account(small)
    async with transaction(small.house, ANN) as tx:
        staff = Staff(ANN, "officer", "chino")
        scoped, _ = await api_keys.make(tx, staff, "sensor", ["act"], None, 30)
        whole = await api_keys.make_for_everything(tx, ANN)
    with pytest.raises(NotSignedIn):
        await signing_in.by_token(small.house, scoped, HOME)
    assert (await whose(small, (await signing_in.by_token(small.house, whole, HOME)).token)).email == ANN


# -- waits


async def fail(home: Household, email: str, device: Device, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(NotSignedIn):
            await signing_in.by_password(home.house, email, "wrong", device)


@pytest.mark.parametrize("email", [ANN, "nobody@chino.example"])
async def test_waits_grow_with_failures_whether_or_not_there_is_an_account(small: Household, email: str) -> None:
    await an_account(small, password=GOOD)
    await fail(small, email, ELSEWHERE, lockout.FREE_FROM_ONE_NETWORK)
    waits = []
    for _ in range(8):
        with pytest.raises(lockout.Locked) as error:
            await signing_in.by_password(small.house, email, GOOD, ELSEWHERE)
        waits.append(error.value.retry_after)
        small.clock.jump(seconds=error.value.retry_after or 0)
        await fail(small, email, ELSEWHERE)
    assert waits == [31, 61, 121, 241, 481, 901, 901, 901]


async def test_the_right_password_is_of_no_use_during_a_wait_and_ends_it_afterwards(small: Household) -> None:
    await an_account(small, password=GOOD)
    await fail(small, ANN, HOME, lockout.FREE_FROM_ONE_NETWORK)
    with pytest.raises(lockout.Locked):
        await signing_in.by_password(small.house, ANN, GOOD, HOME)
    small.clock.jump(seconds=31)
    await signing_in.by_password(small.house, ANN, GOOD, HOME)
    await fail(small, ANN, HOME, lockout.FREE_FROM_ONE_NETWORK)  # counted from nothing again


async def test_guesses_from_many_networks_are_slowed_but_never_hold_up_the_owner(small: Household) -> None:
    await an_account(small, role="administrator", city=None, password=GOOD)
    await signing_in.by_password(small.house, ANN, GOOD, HOME)
    for number in range(lockout.FREE_FROM_EVERYWHERE):
        await fail(small, ANN, Device("", f"203.0.113.{number}"))
    with pytest.raises(lockout.Locked):
        await signing_in.by_password(small.house, ANN, GOOD, ELSEWHERE)
    assert (await signing_in.by_password(small.house, ANN, GOOD, HOME)).token


async def test_a_mailed_link_lets_the_only_administrator_in_during_every_wait(small: Household) -> None:
    await an_account(small, role="administrator", city=None, password=GOOD)
    await fail(small, ANN, HOME, lockout.FREE_FROM_ONE_NETWORK)
    with pytest.raises(lockout.Locked):
        await signing_in.by_password(small.house, ANN, GOOD, HOME)
    async with transaction(small.house, "sign-in") as tx:
        made = await accounts.mailed_link(tx, ANN, "link")
    assert made is not None
    assert (await signing_in.by_link(small.house, made[1], HOME)).token


async def test_many_tries_at_one_moment_do_not_slip_through_together(small: Household) -> None:
    await an_account(small, password=GOOD)
    tries = [signing_in.by_password(small.house, ANN, "wrong", ELSEWHERE) for _ in range(30)]
    ended = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(one, NotSignedIn) for one in ended) == lockout.FREE_FROM_ONE_NETWORK
    assert sum(isinstance(one, lockout.Locked) for one in ended) == 30 - lockout.FREE_FROM_ONE_NETWORK


async def test_failures_of_yesterday_are_forgotten(small: Household) -> None:
    await an_account(small, password=GOOD)
    await fail(small, ANN, HOME, lockout.FREE_FROM_ONE_NETWORK - 1)
    small.clock.jump(hours=25)
    await fail(small, ANN, HOME, lockout.FREE_FROM_ONE_NETWORK)


# -- the second step


async def test_a_code_of_the_app_opens_the_session_and_works_once(small: Household) -> None:
    account, _ = await with_second_step(small)
    with pytest.raises(BadInput):  # the code that switched it on is used up
        await signing_in.by_code(small.house, await half(small), code_of(small, account), HOME)
    small.clock.jump(seconds=30)
    code, first, second = code_of(small, account), await half(small), await half(small)
    entered = await signing_in.by_code(small.house, first, f"{code[:3]} {code[3:]}", HOME)
    assert (await whose(small, entered.token)).email == ANN
    with pytest.raises(BadInput):
        await signing_in.by_code(small.house, second, code, HOME)
    with pytest.raises(NotSignedIn):  # the first step, too, works once
        await signing_in.by_code(small.house, first, code, HOME)


async def test_two_who_type_the_same_code_at_once_do_not_both_get_in(small: Household) -> None:
    account, _ = await with_second_step(small)
    small.clock.jump(seconds=30)
    halves, code = [await half(small) for _ in range(4)], code_of(small, account)
    ended = await asyncio.gather(*(signing_in.by_code(small.house, one, code, HOME) for one in halves), return_exceptions=True)
    assert sum(isinstance(one, signing_in.Entered) for one in ended) == 1


async def test_an_older_code_is_refused_after_a_newer_one(small: Household) -> None:
    account, _ = await with_second_step(small)
    small.clock.jump(minutes=5)
    older = code_of(small, account)
    small.clock.jump(seconds=30)
    await signing_in.by_code(small.house, await half(small), code_of(small, account), HOME)
    with pytest.raises(BadInput):
        await signing_in.by_code(small.house, await half(small), older, HOME)


@pytest.mark.parametrize(
    "code", ["", "000000", "12345", "1234567", "١٢٣٤٥٦", "\0", "\ud800", "a" * 10_000, "aaaa-aaaa-aaaa-aaaa", "' OR 1=1"]
)
async def test_a_made_up_code_opens_nothing(small: Household, code: str) -> None:
    await with_second_step(small)
    with pytest.raises(BadInput):
        await signing_in.by_code(small.house, await half(small), code, HOME)


async def test_a_recovery_code_works_once_and_however_it_is_typed(small: Household) -> None:
    _, codes = await with_second_step(small)
    assert len(set(codes)) == second_factor.RECOVERY_CODES
    await signing_in.by_code(small.house, await half(small), codes[0].upper().replace("-", " "), HOME)
    with pytest.raises(BadInput):
        await signing_in.by_code(small.house, await half(small), codes[0], HOME)
    async with reading(small.house) as tx:
        account = await access.account_of(tx, ANN)
        assert await second_factor.codes_left(tx, account) == second_factor.RECOVERY_CODES - 1
        stored = str((await tx.session.execute(text("SELECT * FROM recovery_code"))).all())
    assert not any(code in stored or code.replace("-", "") in stored for code in codes)


async def test_codes_cannot_be_guessed_at_will(small: Household) -> None:
    account, _ = await with_second_step(small)
    small.clock.jump(seconds=30)
    token = await half(small)
    for _ in range(lockout.FREE_FROM_ONE_NETWORK):
        with pytest.raises(BadInput):
            await signing_in.by_code(small.house, token, "000000", HOME)
    with pytest.raises(lockout.Locked):
        await signing_in.by_code(small.house, token, code_of(small, account), HOME)


async def test_the_first_step_alone_is_no_session_and_runs_out(small: Household) -> None:
    account, _ = await with_second_step(small)
    token = await half(small)
    for purpose in ("session", "api", "link"):
        with pytest.raises(NotSignedIn):
            await whose(small, token, purpose)
    small.clock.jump(seconds=signing_in.HALF_LASTS.total_seconds())
    with pytest.raises(NotSignedIn):
        await signing_in.by_code(small.house, token, code_of(small, account), HOME)


async def test_a_mailed_link_does_not_go_around_the_second_step(small: Household) -> None:
    await with_second_step(small)
    async with transaction(small.house, "sign-in") as tx:
        made = await accounts.mailed_link(tx, ANN, "link")
    assert made is not None
    assert (await signing_in.by_link(small.house, made[1], HOME)).asks_code


async def test_the_key_of_the_app_is_in_no_table(small: Household) -> None:
    account, _ = await with_second_step(small)
    async with reading(small.house) as tx:
        stored = str((await tx.session.execute(text("SELECT * FROM account"))).all())
    assert second_factor.app_key(small.house, account) not in stored
    assert second_factor.app_key(small.with_house(signing_key=b"another").house, account) != second_factor.app_key(small.house, account)
    assert second_factor.app_address(small.house, account).startswith("otpauth://totp/Spillclock:ann%40chino.example?secret=")


async def test_it_is_switched_on_only_by_an_app_that_has_the_key(small: Household) -> None:
    await an_account(small)
    async with transaction(small.house, ANN) as tx:
        with pytest.raises(Conflict):
            await second_factor.switch_on(tx, await access.account_of(tx, ANN), "000000")
        await second_factor.begin(tx, await access.account_of(tx, ANN))
        with pytest.raises(BadInput, match="does not fit"):
            await second_factor.switch_on(tx, await access.account_of(tx, ANN), "000000")
        assert not second_factor.is_on(await access.account_of(tx, ANN))


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
    [("", ["read"], None, 30, "Name"), ("x", [], None, 30, "Scope"), ("x", ["root"], None, 30, "Scope"), ("x", ["read"], "gotham", 30, "City"),
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
    async with transaction(small.house, "sign-in") as tx:
        links = [await accounts.mailed_link(tx, ANN, "recover") for _ in range(2)]
        assert await accounts.mailed_link(tx, "nobody@chino.example", "recover") is None
    tokens = [link[1] for link in links if link]
    await accounts.set_by_link(small.house, tokens[0], "another one, quite as long")
    for token in tokens:
        with pytest.raises(NotSignedIn):
            await accounts.set_by_link(small.house, token, "a third one, longer still")
    with pytest.raises(NotSignedIn):
        await whose(small, session)
    with pytest.raises(BadInput):  # to recover is to set one
        async with transaction(small.house, "sign-in") as tx:
            made = await accounts.mailed_link(tx, ANN, "recover")
        assert made
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
        for roles in ({None: "viewer"}, {"ontario": "viewer"}, {"chino": "emperor"}, {}):
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
