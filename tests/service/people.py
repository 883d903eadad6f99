"""Accounts that tests sign in with, and what they are asked about."""

from __future__ import annotations

import httpx
import pyotp
import pytest

from service import access, second_factor, signing_in, staff_log
from service.access import Device, Staff
from service.errors import NotSignedIn
from service.tables import Account
from service.transaction import reading, transaction
from tests.houses import Household

ANN = "ann@chino.example"
GOOD = "heron gravel tuba nine lids"
HOME, ELSEWHERE = Device("Firefox on Windows", "192.0.2.7"), Device("Another browser", "198.51.100.9")
ROOT = Staff("root@every.example", "administrator", None)


async def an_account(home: Household, email: str = ANN, role: str = "officer", city: str | None = "chino", password: str = "") -> Account:
    """An account, with a password where one is given."""
    async with transaction(home.house, "test") as tx:
        account = await access.add_account(tx, email, role, city)
        account.password = await home.house.passwords.hashed(password) if password else ""
        return account


async def browser_of(home: Household, email: str = ANN) -> httpx.AsyncClient:
    """A browser in which the owner of an account is signed in."""
    async with transaction(home.house, "test") as tx:
        session = await access.issue(tx, await access.account_of(tx, email), "session", access.SESSION_LASTS)
    http = home.client()
    http.cookies.set("spillclock_session", session)
    http.headers["origin"] = "https://spills.example.gov"
    return http


async def the(home: Household, email: str = ANN) -> Account:
    """The account as it is stored."""
    async with reading(home.house) as tx:
        found = await access.find_account(tx, email)
        assert found is not None
        return found


async def whose(home: Household, token: str, purpose: str = "session") -> Staff:
    """Who a token stands for. Raises NotSignedIn."""
    async with reading(home.house) as tx:
        return await access.staff_of(tx, token, purpose)


async def log_of(home: Household, email: str = ANN) -> list[tuple[str, str]]:
    """What was noted about an account, the oldest first, and by whom."""
    account = await the(home, email)
    async with reading(home.house) as tx:
        return [(one.kind, one.actor) for one in reversed(await staff_log.actions_about(tx, account.id or 0))]


async def with_second_step(home: Household, email: str = ANN) -> tuple[Account, list[str]]:
    """An account with a password and the second step on, and its recovery codes; the code of now is used up."""
    account = await an_account(home, email, password=GOOD)
    async with transaction(home.house, email) as tx:
        await second_factor.begin(tx, await access.account_of(tx, email))
    async with transaction(home.house, email) as tx:
        account = await access.account_of(tx, email)
        return account, await second_factor.switch_on(tx, account, code_of(home, account))


def code_of(home: Household, account: Account) -> str:
    """What the app of an account shows now."""
    return pyotp.TOTP(second_factor.app_key(home.house, account)).at(home.clock.at)


async def half(home: Household) -> str:
    """The first step done: the token that waits for the code."""
    entered = await signing_in.by_password(home.house, ANN, GOOD, HOME)
    assert entered.asks_code
    return entered.token


async def fail(home: Household, email: str, device: Device, times: int = 1) -> None:
    """Try a wrong password so often."""
    for _ in range(times):
        with pytest.raises(NotSignedIn):
            await signing_in.by_password(home.house, email, "wrong", device)
