"""Passkeys, with a security key made of software: made, used as both steps, removed; and everything that lets nobody in."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sqlalchemy import select

from service import access, accounts, passkeys, round_trips
from service.access import Staff
from service.account_tables import Passkey, RoundTrip
from service.errors import BadInput, Conflict, NotKnown, NotSignedIn
from service.settings import Settings
from service.signing_in import Entered
from service.transaction import reading, transaction
from tests.houses import Household
from tests.service.authenticator import Authenticator, bytes_of, text_of
from tests.service.people import ANN, ELSEWHERE, HOME, ROOT, an_account, log_of, the, whose, with_second_step

EVE = "eve@chino.example"


async def signed_in(home: Household, email: str = ANN) -> Staff:
    """Somebody at an open session."""
    async with transaction(home.house, email) as tx:
        token = await access.issue(tx, await access.account_of(tx, email), "session", access.SESSION_LASTS, device=HOME)
        return await access.staff_of(tx, token, "session")


async def asked_for_a_new_one(home: Household, staff: Staff, name: str = "my phone") -> tuple[str, dict[str, Any]]:
    async with transaction(home.house, staff.email) as tx:
        begun, asked = await passkeys.begin_to_make(tx, staff, name)
    return begun.secret, asked


async def make(home: Household, staff: Staff, device: Authenticator, name: str = "my phone", **wrong: Any) -> Passkey:
    """Make a passkey on a device."""
    secret, asked = await asked_for_a_new_one(home, staff, name)
    return await passkeys.make(home.house, staff, secret, device.make(asked, **wrong))


async def enter(home: Household, device: Authenticator, **wrong: Any) -> Entered:
    """Sign in with a device."""
    begun, asked = await passkeys.begin_to_sign_in(home.house)
    return await passkeys.sign_in(home.house, begun.secret, device.use(asked, **wrong), HOME)


async def refused(home: Household, secret: str, answer: str) -> str:
    """What is said to an answer that lets nobody in."""
    with pytest.raises(NotSignedIn) as error:
        await passkeys.sign_in(home.house, secret, answer, HOME)
    return str(error.value)


async def kept(home: Household, email: str = ANN) -> list[Passkey]:
    async with reading(home.house) as tx:
        return list(await passkeys.of_account(tx, await access.account_of(tx, email)))


@pytest.fixture
async def ann(small: Household) -> tuple[Staff, Authenticator]:
    """Ann, and her phone with a passkey."""
    await an_account(small)
    staff, phone = await signed_in(small), Authenticator()
    await make(small, staff, phone)
    return staff, phone


# -- made


async def test_a_passkey_is_made_and_stands_in_the_log_with_its_name(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    [key] = await kept(small)
    assert (key.name, key.sign_count, key.used_at, bytes_of(key.key_id)) == ("my phone", 0, None, ann[1].key_id)
    assert ("passkey:made", ANN) in await log_of(small)


async def test_the_device_is_asked_for_one_that_it_finds_by_itself_and_that_its_owner_unlocks(small: Household) -> None:
    await an_account(small)
    _, asked = await asked_for_a_new_one(small, await signed_in(small))
    chosen = asked["authenticatorSelection"]
    assert (chosen["residentKey"], chosen["userVerification"], asked["attestation"]) == ("required", "required", "none")
    assert (asked["rp"]["id"], asked["user"]["name"]) == ("spills.example.gov", ANN)
    assert ANN not in bytes_of(asked["user"]["id"]).decode("latin-1")
    _, to_enter = await passkeys.begin_to_sign_in(small.house)
    assert (to_enter["userVerification"], to_enter["allowCredentials"]) == ("required", [])


async def test_a_second_one_is_for_the_same_owner_and_not_on_the_same_device(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    staff, phone = ann
    _, asked = await asked_for_a_new_one(small, staff)
    assert [one["id"] for one in asked["excludeCredentials"]] == [text_of(phone.key_id)]
    assert asked["user"]["id"] == phone.handle
    await make(small, staff, Authenticator(), "my  key\tring")
    assert [key.name for key in await kept(small)] == ["my phone", "my key ring"]
    with pytest.raises(BadInput, match="not taken") as error:
        await make(small, staff, phone)
    assert "in use already" in error.value.faults[0]


async def test_what_was_not_made_for_this_site_by_its_owner_is_not_kept(small: Household) -> None:
    await an_account(small)
    staff = await signed_in(small)
    wrong: list[dict[str, Any]] = [
        {"origin": "https://spills.example.gov.evil.example"}, {"origin": "http://spills.example.gov"}, {"domain": "evil.example"},
        {"verified": False}, {"type": "webauthn.get"}, {"challenge": text_of(b"x" * 32)},
    ]  # fmt: skip
    for one in wrong:
        with pytest.raises(BadInput) as error:
            await make(small, staff, Authenticator(), **one)
        assert "right would be" in error.value.faults[0]
    assert await kept(small) == []


async def test_one_is_made_once_soon_and_by_the_session_that_began(small: Household) -> None:
    await an_account(small)
    await an_account(small, EVE)
    staff, phone = await signed_in(small), Authenticator()
    secret, asked = await asked_for_a_new_one(small, staff)
    for somebody in (await signed_in(small, EVE), await signed_in(small)):  # another account, another session
        with pytest.raises(BadInput):
            await passkeys.make(small.house, somebody, secret, phone.make(asked))
        secret, asked = await asked_for_a_new_one(small, staff)
    await passkeys.make(small.house, staff, secret, phone.make(asked))
    with pytest.raises(BadInput, match="not taken"):
        await passkeys.make(small.house, staff, secret, Authenticator().make(asked))
    secret, asked = await asked_for_a_new_one(small, staff)
    small.clock.at += round_trips.LASTS
    with pytest.raises(BadInput, match="not taken"):
        await passkeys.make(small.house, staff, secret, Authenticator().make(asked))
    assert len(await kept(small)) == 1


async def test_a_passkey_needs_a_name_by_which_its_owner_knows_it(small: Household) -> None:
    await an_account(small)
    staff = await signed_in(small)
    for name in ("", " \t ", "x" * 101):
        with pytest.raises(BadInput) as error:
            await asked_for_a_new_one(small, staff, name)
        assert "right would be" in error.value.faults[0]


async def test_nobody_has_more_than_twenty(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    account = await the(small)
    async with transaction(small.house, "test") as tx:
        more = [Passkey(account_id=account.id or 0, key_id=f"k{n}", public_key="", handle="h", name="n", made_at=tx.now) for n in range(19)]
        tx.session.add_all(more)
    with pytest.raises(Conflict, match="20 passkeys already"):
        await asked_for_a_new_one(small, ann[0])


# -- signing in


async def test_a_passkey_signs_in_and_notes_its_use(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    small.clock.jump(hours=1)
    entered = await enter(small, ann[1])
    assert (await whose(small, entered.token)).email == ANN
    [key] = await kept(small)
    assert (key.sign_count, key.used_at) == (1, small.clock.at)
    assert (await log_of(small))[-1] == ("sign-in:done", ANN)


async def test_a_passkey_is_both_steps(small: Household) -> None:
    await with_second_step(small)
    phone = Authenticator()
    await make(small, await signed_in(small), phone)
    entered = await enter(small, phone)
    assert not entered.asks_code
    assert (await whose(small, entered.token)).email == ANN


async def test_one_that_does_not_count_its_uses_signs_in_every_time(small: Household) -> None:
    await an_account(small)
    synced = Authenticator(counts=False)
    await make(small, await signed_in(small), synced)
    for _ in range(3):
        assert (await enter(small, synced)).token
    assert [key.sign_count for key in await kept(small)] == [0]


async def test_signing_in_ends_the_session_that_the_browser_held(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    before = (await enter(small, ann[1])).token
    begun, asked = await passkeys.begin_to_sign_in(small.house)
    after = await passkeys.sign_in(small.house, begun.secret, ann[1].use(asked), ELSEWHERE, before)
    assert (await whose(small, after.token)).email == ANN
    with pytest.raises(NotSignedIn):
        await whose(small, before)


async def test_whatever_is_wrong_gets_one_answer_and_no_session(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    staff, phone = ann
    await an_account(small, EVE)
    eves = Authenticator()
    await make(small, await signed_in(small, EVE), eves)
    house, said = small.house, set[str]()

    async def tried(device: Authenticator, **wrong: Any) -> None:
        begun, asked = await passkeys.begin_to_sign_in(house)
        said.add(await refused(small, begun.secret, device.use(asked, **wrong)))

    # a replay: the same answer again, and to another challenge
    begun, asked = await passkeys.begin_to_sign_in(house)
    answer = phone.use(asked)
    await passkeys.sign_in(house, begun.secret, answer, HOME)
    said.add(await refused(small, begun.secret, answer))
    begun, _ = await passkeys.begin_to_sign_in(house)
    said.add(await refused(small, begun.secret, answer))
    # what somebody else's browser began
    begun, asked = await passkeys.begin_to_sign_in(house)
    said.add(await refused(small, "", phone.use(asked)))
    # too late
    small.clock.at += round_trips.LASTS
    said.add(await refused(small, begun.secret, phone.use(asked)))
    # another site, not unlocked, another kind of answer
    for wrong in ({"origin": "https://evil.example"}, {"domain": "evil.example"}, {"verified": False}, {"type": "webauthn.create"}):
        await tried(phone, **wrong)
    # another account's, nobody's, another key
    await tried(phone, handle=eves.handle)
    await tried(phone, handle=None)
    await tried(Authenticator(key_id=phone.key_id, handle=phone.handle, count=50))
    await tried(Authenticator(handle=phone.handle))
    # a copy, whose counter is behind
    await tried(phone, count=1)
    await tried(phone, count=0)
    # removed, ended, without a role
    async with transaction(house, ANN) as tx:
        await passkeys.remove(tx, await access.account_of(tx, ANN), (await kept(small))[0].id or 0)
    await tried(phone)
    async with transaction(house, "test") as tx:
        (await access.account_of(tx, EVE)).ended_at = tx.now
    await tried(eves)
    assert len(said) == 1
    failures = [kind for kind, _ in await log_of(small) if kind == "sign-in:failed"]
    assert len(failures) == 10
    assert staff.email == ANN


async def test_a_counter_that_went_back_is_told_to_whoever_reads_the_log(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    for _ in range(3):
        await enter(small, ann[1])
    begun, asked = await passkeys.begin_to_sign_in(small.house)
    await refused(small, begun.secret, ann[1].use(asked, count=2))
    async with reading(small.house) as tx:
        root = await accounts.done(tx, ROOT)
    [failed] = [action for action, _ in root if action.kind == "sign-in:failed"]
    assert failed.said == {"by": "passkey", "because": "its counter went back: it may be a copy", "network": HOME.network}


async def test_of_two_answers_at_once_that_say_the_same_count_one_signs_in(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    begun = [await passkeys.begin_to_sign_in(small.house) for _ in range(2)]
    answers = [(one.secret, ann[1].use(asked, count=7)) for one, asked in begun]
    done = await asyncio.gather(
        *(passkeys.sign_in(small.house, secret, answer, HOME) for secret, answer in answers), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in done) == ["Entered", "NotSignedIn"]


ODD = (
    "", "null", "[]", "{", "{}", "\0", "[" * 100_000, '{"id": "\\u0000"}', '{"id": "\\ud800", "response": {"userHandle": "\\ud800"}}',
    '{"id": 1e999}', '{"id": ' + "9" * 5000 + "}", json.dumps({"id": "x" * 19_000}), json.dumps({"id": "é" * 100, "response": []}),
)  # fmt: skip


async def test_an_odd_answer_gets_that_answer_too(small: Household) -> None:
    await an_account(small)
    staff = await signed_in(small)
    for answer in ODD:
        begun, _ = await passkeys.begin_to_sign_in(small.house)
        assert "not taken" in await refused(small, begun.secret, answer)
        secret, _ = await asked_for_a_new_one(small, staff)
        with pytest.raises(BadInput):
            await passkeys.make(small.house, staff, secret, answer)


async def test_no_change_of_a_byte_signs_in_and_none_is_a_fault_of_ours(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    begun, asked = await passkeys.begin_to_sign_in(small.house)
    right = json.loads(ann[1].use(asked))
    [key] = await kept(small)
    for part in right["response"]:
        whole = bytes_of(right["response"][part])
        for at in range(0, len(whole), 3):
            for changed in (whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :], whole[:at]):
                given = {**right, "response": {**right["response"], part: text_of(changed)}}
                handle = given["response"].get("userHandle")
                assert handle != key.handle or passkeys._count_of(small.house, begun, given, key) is None, (part, at)
    assert passkeys._count_of(small.house, begun, right, key) == 1


# -- removed, and taken away


async def test_only_ones_own_can_be_removed(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    await an_account(small, EVE)
    async with transaction(small.house, EVE) as tx:
        with pytest.raises(NotKnown):
            await passkeys.remove(tx, await access.account_of(tx, EVE), (await kept(small))[0].id or 0)
    assert (await enter(small, ann[1])).token


async def test_an_administrator_removes_all_of_somebody_and_signs_them_out(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    session = (await enter(small, ann[1])).token
    async with transaction(small.house, ROOT.email) as tx:
        await accounts.remove_passkeys(tx, ROOT, (await the(small)).id or 0)
    assert await kept(small) == []
    with pytest.raises(NotSignedIn):
        await whose(small, session)
    assert ("passkey:all-removed", ROOT.email) in await log_of(small)


async def test_whoever_left_and_is_back_has_no_passkey(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    number = (await the(small)).id or 0
    async with transaction(small.house, ROOT.email) as tx:
        await accounts.end(tx, ROOT, number)
    async with transaction(small.house, ROOT.email) as tx:
        await accounts.restore(tx, ROOT, number)
    with pytest.raises(NotSignedIn):
        await enter(small, ann[1])


# -- what is kept, and where they are offered


async def test_what_is_stored_lets_nobody_in(small: Household, ann: tuple[Staff, Authenticator]) -> None:
    begun, asked = await passkeys.begin_to_sign_in(small.house)
    async with reading(small.house) as tx:
        stored = [row.model_dump_json() for row in (await tx.session.execute(select(RoundTrip))).scalars()]
    assert stored
    assert not [row for row in stored if begun.secret in row or asked["challenge"] in row]


async def test_what_was_never_answered_is_forgotten(small: Household) -> None:
    await passkeys.begin_to_sign_in(small.house)
    small.clock.at += round_trips.LASTS
    await passkeys.begin_to_sign_in(small.house)
    async with reading(small.house) as tx:
        assert len((await tx.session.execute(select(RoundTrip))).all()) == 1


@pytest.mark.parametrize(
    ("address", "origin"),
    [("https://spills.example.gov", "https://spills.example.gov"), ("https://Spills.example.gov:443/here", "https://spills.example.gov"),
     ("https://spills.example.gov:8443", "https://spills.example.gov:8443"), ("http://localhost:8000", "http://localhost:8000")],
)  # fmt: skip
def test_they_are_for_one_site(address: str, origin: str) -> None:
    settings = Settings(base_url=address)
    assert passkeys.why_not(settings) == ""
    assert passkeys.site_of(settings)[1] == origin


@pytest.mark.parametrize("address", ["http://spills.example.gov", "http://127.0.0.1:8000", "https://192.0.2.7", "https://[2001:db8::1]"])
def test_where_no_browser_would_take_them_they_are_not_offered_and_it_is_said_why(address: str) -> None:
    assert "right would be" in passkeys.why_not(Settings(base_url=address))


async def test_without_the_extra_they_are_not_offered(small: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passkeys, "_is_installed", lambda: False)
    assert "pip install" in passkeys.why_not(small.house.settings)
    with pytest.raises(Conflict, match="not offered here"):
        await passkeys.begin_to_sign_in(small.house)
    with pytest.raises(Conflict, match="not offered here"):
        await passkeys.sign_in(small.house, "x", "{}", HOME)
