"""Signing in at an identity provider that may say anything: who comes in, who does not, and what is told. Canaille is in test_canaille."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from joserfc.jwk import ECKey
from sqlalchemy import select

from service import access, accounts, identity_provider, provider_sign_in, round_trips, second_factor, wiring
from service.access import Staff
from service.account_tables import RoundTrip
from service.errors import BadInput, Conflict, NotSignedIn
from service.identity_provider import ProviderDown
from service.provider_settings import is_web_address
from service.settings import Settings, read_settings, unknown_names
from service.signing_in import Entered
from service.transaction import reading, transaction
from tests.houses import Household
from tests.service.odd_provider import CLIENT, ISSUER, SECRET, SETTINGS, OddProvider, settings_of
from tests.service.people import ANN, HOME, ROOT, an_account, log_of, the, whose, with_second_step

ANNS: dict[str, Any] = {"email": ANN, "email_verified": True, "name": "Ann Lee"}


@pytest.fixture
def provider(small: Household, monkeypatch: pytest.MonkeyPatch) -> OddProvider:
    """The provider of the city, which knows Ann."""
    odd = OddProvider(int(small.clock.at.timestamp()), claims=dict(ANNS))
    monkeypatch.setattr(identity_provider, "_connection", lambda: httpx.AsyncClient(transport=httpx.MockTransport(odd)))
    return odd


@pytest.fixture
async def home(small: Household) -> Household:
    """A house whose staff may sign in there; Ann has an account."""
    await an_account(small)
    return with_settings(small)


def with_settings(home: Household, **more: Any) -> Household:
    return home.with_house(settings=settings_of(home.house.settings, **{**SETTINGS, **more}))


async def enter(home: Household, provider: OddProvider, **answer: str) -> Entered:
    """Sign in there."""
    begun, address = await provider_sign_in.begin(home.house, "/staff/account")
    entered, wanted = await provider_sign_in.end(home.house, begun.secret, provider.sees(address) | answer, HOME)
    assert wanted == "/staff/account"
    return entered


async def refused(home: Household, provider: OddProvider, **answer: str) -> str:
    """What is said where nobody gets in."""
    with pytest.raises(NotSignedIn) as error:
        await enter(home, provider, **answer)
    return str(error.value)


# -- in


async def test_whoever_has_an_account_signs_in_and_the_providers_word_for_them_is_kept(home: Household, provider: OddProvider) -> None:
    entered = await enter(home, provider)
    assert await whose(home, entered.token) == Staff(ANN, "officer", "chino")
    assert [kind for kind, _ in await log_of(home)][-2:] == ["provider:linked", "sign-in:done"]
    home.clock.jump(minutes=1)
    assert (await enter(home, provider)).token
    assert [kind for kind, _ in await log_of(home)].count("provider:linked") == 1


async def test_the_browser_is_sent_with_all_that_ties_the_answer_to_it(home: Household, provider: OddProvider) -> None:
    begun, address = await provider_sign_in.begin(home.house, "/staff")
    provider.sees(address)
    [asked] = provider.begun.values()
    assert asked["redirect_uri"] == "https://spills.example.gov/staff/sign-in/provider/answer"
    assert asked["scope"].split()[0] == "openid"
    assert len({asked["state"], asked["nonce"], asked["code_challenge"], begun.secret}) == 4
    async with reading(home.house) as tx:
        [row] = (await tx.session.execute(select(RoundTrip))).scalars()
    assert not [value for value in (*asked.values(), begun.secret) if len(value) > 20 and value in row.model_dump_json()]


async def test_an_address_that_only_userinfo_tells_counts_where_it_is_about_the_same_one(home: Household, provider: OddProvider) -> None:
    provider.claims, provider.userinfo = {}, dict(ANNS)
    assert (await enter(home, provider)).token
    provider.userinfo["sub"] = "u-2"
    assert "does not hold" in await refused(home, provider)


async def test_the_secret_goes_as_the_provider_takes_it(home: Household, provider: OddProvider) -> None:
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert (await enter(home, provider)).token


async def test_our_second_step_is_asked_for_unless_a_setting_trusts_theirs(small: Household, provider: OddProvider) -> None:
    await with_second_step(small)
    provider.claims |= {"amr": ["pwd", "otp"], "acr": "urn:two"}
    assert (await enter(with_settings(small), provider)).asks_code
    assert (await enter(with_settings(small, oidc_second_step="mfa"), provider)).asks_code
    assert not (await enter(with_settings(small, oidc_second_step="mfa, otp"), provider)).asks_code
    assert not (await enter(with_settings(small, oidc_second_step="urn:two"), provider)).asks_code
    provider.claims |= {"amr": "otp", "acr": None}
    assert "does not hold" in await refused(with_settings(small, oidc_second_step="otp"), provider)
    assert second_factor.is_on(await the(small))


async def test_another_claim_can_be_the_address(home: Household, provider: OddProvider) -> None:
    provider.claims |= {"email": "a.lee@id.example", "upn": ANN.upper()}
    assert "no account here" in await refused(home, provider)
    assert (await enter(with_settings(home, oidc_email_claim="upn"), provider)).token


# -- not in


async def test_nobody_comes_in_uninvited(home: Household, provider: OddProvider) -> None:
    provider.claims["email"] = "zoe@chino.example"
    assert await refused(home, provider) == (
        "City login knows you as zoe@chino.example, which has no account here. An administrator of your city invites you"
    )
    async with reading(home.house) as tx:
        assert await access.find_account(tx, "zoe@chino.example") is None
        done = await accounts.done(tx, ROOT)
    assert done[0][0].said["address"] == "zoe@chino.example"


async def test_unless_told_and_then_with_a_small_role(small: Household, provider: OddProvider) -> None:
    provider.claims["email"] = "Zoe@chino.example"
    entered = await enter(with_settings(small, oidc_new_accounts="viewer:chino"), provider)
    assert await whose(small, entered.token) == Staff("zoe@chino.example", "viewer", "chino")
    assert (await the(small, "zoe@chino.example")).name == "Ann Lee"


async def test_an_address_that_is_not_verified_is_nobodys(home: Household, provider: OddProvider) -> None:
    for verified in (False, None, "false", 1, "yes", []):
        provider.claims["email_verified"] = verified
        assert await refused(home, provider) == "City login does not say that your e-mail address is verified"
    assert (await enter(with_settings(home, oidc_trust_email=True), provider)).token


async def test_an_address_that_was_given_to_somebody_else_does_not_open_the_account(home: Household, provider: OddProvider) -> None:
    await enter(home, provider)
    provider.claims["sub"] = "u-2"
    assert "knows somebody else by your e-mail address" in await refused(home, provider)
    await an_account(home, "bea@chino.example")
    provider.claims |= {"sub": "u-1", "email": "bea@chino.example"}
    assert "knows somebody else" in await refused(home, provider)
    provider.claims["email"] = "new@chino.example"  # Ann, under an address that has no account
    assert "no account here" in await refused(with_settings(home, oidc_new_accounts="viewer"), provider)
    async with transaction(home.house, ROOT.email) as tx:
        await accounts.forget_provider(tx, ROOT, (await the(home)).id or 0)
    provider.claims |= {"sub": "u-2", "email": ANN}
    assert (await enter(home, provider)).token
    assert ("provider:unlinked", ROOT.email) in await log_of(home)


async def test_another_provider_begins_anew(home: Household, provider: OddProvider) -> None:
    await enter(home, provider)
    async with transaction(home.house, "test") as tx:
        link = await provider_sign_in.link_of(tx, await access.account_of(tx, ANN))
        assert link is not None
        link.issuer, link.subject = "https://old.city.example", "someone"
    assert (await enter(home, provider)).token


async def test_whoever_left_or_has_no_role_is_told_so(home: Household, provider: OddProvider) -> None:
    async with transaction(home.house, "test") as tx:
        await access.put_roles(tx, await access.account_of(tx, ANN), {})
    assert "no role any more" in await refused(home, provider)
    async with transaction(home.house, "test") as tx:
        (await access.account_of(tx, ANN)).ended_at = tx.now
    assert await refused(home, provider) == "your account has ended"


async def test_only_the_browser_that_began_ends_it_and_once(home: Household, provider: OddProvider) -> None:
    begun, address = await provider_sign_in.begin(home.house, "/staff")
    answer = provider.sees(address)
    other, _ = await provider_sign_in.begin(home.house, "/staff")
    for secret, wrong in ((other.secret, {}), ("", {}), (begun.secret, {"state": ""}), (begun.secret, {"state": "\ud800"})):
        with pytest.raises(NotSignedIn, match="not begun in this browser"):
            await provider_sign_in.end(home.house, secret, answer | wrong, HOME)
    assert (await provider_sign_in.end(home.house, begun.secret, answer, HOME))[0].token
    with pytest.raises(NotSignedIn, match="ended already"):
        await provider_sign_in.end(home.house, begun.secret, answer, HOME)
    late, address = await provider_sign_in.begin(home.house, "/staff")
    home.clock.at += round_trips.LASTS
    with pytest.raises(NotSignedIn, match="took too long"):
        await provider_sign_in.end(home.house, late.secret, provider.sees(address), HOME)


async def test_no_word_counts_that_is_not_signed_for_us_and_for_now(home: Household, provider: OddProvider) -> None:
    now, stranger = provider.now, ECKey.generate_key("P-256", auto_kid=True)
    wrong: list[dict[str, Any]] = [
        {"iss": "https://evil.example"}, {"iss": f"{ISSUER}/"}, {"iss": None}, {"aud": "another"}, {"aud": None}, {"aud": []},
        {"aud": [CLIENT, "another"]}, {"aud": [CLIENT, "another"], "azp": "another"}, {"azp": "another"}, {"nonce": "guessed"},
        {"nonce": None}, {"exp": now - 120}, {"exp": None}, {"exp": "soon"}, {"iat": now + 3600}, {"iat": None}, {"nbf": now + 3600},
        {"sub": None}, {"sub": ""}, {"sub": 7}, {"sub": "x" * 256}, {"sub": "a\0b"}, {"at_hash": "AAAA"},
    ]  # fmt: skip
    for claims in wrong:
        provider.claims = {**ANNS, **claims}
        assert "does not hold" in await refused(home, provider), claims
    provider.claims = dict(ANNS)
    for signs_with, header in (
        (None, {"alg": "none"}), (None, {"alg": "none", "kid": None}), (stranger, {"alg": "ES256"}),
        (stranger, {"alg": "ES256", "kid": stranger.kid}),
        (None, {"alg": "HS256", "kid": provider.key.kid}),
    ):  # fmt: skip
        provider.signs_with, provider.header = signs_with, header
        assert "does not hold" in await refused(home, provider), header
    provider.signs_with, provider.header = None, {"alg": "ES256"}
    assert (await enter(home, provider)).token
    provider.header = {"alg": "ES256", "kid": None}  # where a provider has one key, it need not name it
    assert (await enter(home, provider)).token


async def test_odd_tokens_and_odd_keys_let_nobody_in_and_are_no_fault_of_ours(home: Household, provider: OddProvider) -> None:
    for token in ("", "a.b.c", "." * 5, "é.é.é", "x" * 10_000):
        provider.breaks["/token"] = httpx.Response(200, json={"id_token": token})
        assert "does not hold" in await refused(home, provider), token
    del provider.breaks["/token"]
    for keys in (
        {"keys": []},
        {"keys": [1, None, {}, {"kty": "oct", "k": "AAAA"}, {"kty": "RSA", "n": 1}]},
        {"keys": {"kty": "EC"}},
        {"keys": 7},
    ):
        provider.breaks["/keys"] = httpx.Response(200, json=keys)
        assert "does not hold" in await refused(home, provider), keys


async def test_an_answer_of_another_issuer_was_mixed_up(home: Household, provider: OddProvider) -> None:
    assert "does not hold" in await refused(home, provider, iss="https://evil.example")
    assert (await enter(home, provider, iss=ISSUER)).token
    provider.metadata["authorization_response_iss_parameter_supported"] = True
    assert "does not hold" in await refused(home, provider)


async def test_a_no_of_the_provider_is_told_without_its_words(home: Household, provider: OddProvider) -> None:
    assert await refused(home, provider, error="access_denied") == "City login did not let you in"
    assert await refused(home, provider, error="<script>call 555-0100</script>") == "City login could not sign you in just now"
    assert "does not know this sign-in any more" in await refused(home, provider, code="used before")


async def test_without_an_address_somebody_is_told_who_can_change_that(home: Household, provider: OddProvider) -> None:
    for email in (None, "", "ann", 7, [ANN]):
        provider.claims["email"] = email
        assert "tells no e-mail address of you" in await refused(home, provider)


# -- the provider is down, or odd


_HERE = "/.well-known/openid-configuration"
BROKEN: list[tuple[str, httpx.Response | Exception]] = [
    (_HERE, httpx.ConnectTimeout("slow")), (_HERE, httpx.Response(500)), (_HERE, httpx.Response(200, text="<html>")),
    (_HERE, httpx.Response(302, headers={"location": "http://169.254.169.254/"})), (_HERE, httpx.Response(200, content=b"[" * 1_100_000)),
    ("/token", httpx.ReadTimeout("slow")), ("/token", httpx.Response(503)), ("/token", httpx.Response(200, json=[])),
    ("/token", httpx.Response(401, json={"error": "invalid_client"})), ("/keys", httpx.Response(200, text="")),
]  # fmt: skip


async def test_a_provider_that_does_not_answer_is_told(home: Household, provider: OddProvider) -> None:
    for path, wrong in BROKEN:
        provider.breaks = {path: wrong}
        with pytest.raises(ProviderDown):
            await enter(home, provider)


async def test_no_address_is_asked_that_is_not_https_whatever_the_provider_says(home: Household, provider: OddProvider) -> None:
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        for address in ("http://login.city.example/x", "http://127.0.0.1/x", "file:///etc/passwd", "https://a@b.example/", 7, None):
            provider.metadata = {name: address}
            with pytest.raises(ProviderDown, match=f"its {name} is no https address"):
                await enter(home, provider)
    assert set(provider.asked) == {"/.well-known/openid-configuration"}
    provider.metadata = {"issuer": "https://evil.example"}
    with pytest.raises(ProviderDown, match="names itself"):
        await enter(home, provider)


# -- settings


@pytest.mark.parametrize(
    ("address", "good"),
    [("https://login.example.gov", True), ("https://login.example.gov/realms/city", True), ("http://localhost:5000", True),
     ("http://127.0.0.1:5000", True), ("http://login.example.gov", False), ("http://10.0.0.5", False), ("login.example.gov", False),
     ("https://", False), ("https://a:b@login.example.gov", False), ("https://login.example.gov/#x", False), ("https://x:99999", False),
     ("https://login.example.gov/ x", False), ("ftp://login.example.gov", False), ("https://login.example.gov/\n", False)],
)  # fmt: skip
def test_a_provider_has_an_https_address_or_is_on_this_machine(address: str, good: bool) -> None:
    assert is_web_address(address, loopback=True) is good
    if good:
        assert Settings(oidc_issuer=address).oidc_issuer == address
    else:
        with pytest.raises(BadInput, match="faults") as error:
            read_settings(oidc_issuer=address)
        assert "SPILLCLOCK_OIDC_ISSUER" in error.value.faults[0]
        assert "right would be" in error.value.faults[0]


def test_the_secret_comes_from_a_variable_or_a_file(tmp_path: Any) -> None:
    file = tmp_path / "oidc-secret"
    file.write_text(f"{SECRET}\n")
    assert Settings(oidc_client_secret_file=file).oidc_secret == SECRET == Settings(oidc_client_secret=SECRET).oidc_secret
    assert SECRET not in repr(Settings(oidc_client_secret=SECRET))
    file.write_text("")
    for name in (file, tmp_path / "none", tmp_path):
        with pytest.raises(BadInput) as error:
            read_settings(oidc_client_secret_file=name)
        assert "SPILLCLOCK_OIDC_CLIENT_SECRET_FILE" in error.value.faults[0]


def test_the_settings_come_from_the_environment_like_all_others(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(f"SPILLCLOCK_{name.upper()}", value)
    monkeypatch.setenv("SPILLCLOCK_BASE_URL", "https://spills.example.gov")
    settings = read_settings(home_dir=tmp_path)
    assert (settings.oidc_issuer, settings.oidc_secret, settings.base_url) == (ISSUER, SECRET, "https://spills.example.gov")
    assert unknown_names() == []


@pytest.mark.parametrize(
    "given",
    [{"oidc_issuer": ISSUER}, {"oidc_client_id": CLIENT}, {**SETTINGS, "oidc_new_accounts": "viewer:atlantis"},
     {**SETTINGS, "oidc_new_accounts": "administrator"}],
)  # fmt: skip
def test_settings_in_part_or_too_generous_stop_the_start(tmp_path: Any, given: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as error:
        wiring.build_house(read_settings(home_dir=tmp_path, **given))
    assert "SPILLCLOCK_OIDC_" in error.value.faults[0]
    assert "right would be" in error.value.faults[0]


async def test_without_a_provider_or_the_extra_it_is_not_offered(small: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Conflict, match="none is set"):
        await provider_sign_in.begin(small.house, "/staff")
    assert provider_sign_in.is_offered(Settings(**SETTINGS))
    monkeypatch.setattr(identity_provider, "_is_installed", lambda: False)
    assert "pip install" in identity_provider.why_not(Settings(**SETTINGS))
