"""The pages of accounts, without JavaScript: signing in by password and code, one's own account, and the people of an administrator."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import httpx
import pyotp
import pytest

from service import access, accounts, identity_provider, lockout, passkeys, second_factor
from service.app import build_app
from service.transaction import transaction
from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Page
from tests.service.authenticator import Authenticator
from tests.service.odd_provider import ISSUER, OddProvider, settings_of
from tests.service.odd_provider import SETTINGS as ODD_PROVIDER

OFFICER, GOOD = "officer@chino.example", "heron gravel tuba nine lids"
ROOT = "administrator@every-city.example"


async def an_officer(site: Site, password: str = GOOD) -> None:
    async with transaction(site.home.house, "test") as tx:
        account = await access.add_account(tx, OFFICER, "officer", "chino")
        account.password = await site.home.house.passwords.hashed(password) if password else ""


async def letters(site: Site, subject: str) -> list[dict[str, Any]]:
    """The letters with a subject so far, those that wait included."""
    await site.home.work()
    return [line for line in site.home.outbox() if line["subject"] == subject]


def path_in(letter: dict[str, Any]) -> str:
    """Where the link of a letter leads."""
    [path] = re.findall(r"https://spills\.example\.gov(/staff/\S+)", letter["text"])
    return str(path)


async def sign_in(visitor: Visitor, password: str = GOOD, email: str = OFFICER) -> Page:
    return await visitor.send(await visitor.get("/staff/sign-in"), "/staff/sign-in", "password", email=email, password=password)


async def app_code(site: Site) -> str:
    """What the officer's app shows now."""
    async with transaction(site.home.house, "test") as tx:
        account = await access.account_of(tx, OFFICER)
        return pyotp.TOTP(second_factor.app_key(site.home.house, account)).at(site.home.clock.at)


# -- signing in


async def test_a_password_signs_in_and_leads_to_the_page_that_was_wanted(site: Site) -> None:
    await an_officer(site)
    visitor = site.visitor()
    page = await visitor.get("/staff/account")
    assert page.response.url.path == "/staff/sign-in"
    page = await visitor.send(page, "/staff/sign-in", "password", email=OFFICER, password=GOOD)
    assert page.response.url.path == "/staff/account"
    assert "Signed in" in page.text


async def test_a_wrong_password_and_an_unknown_address_get_the_same_page(site: Site) -> None:
    await an_officer(site)
    pages = [await sign_in(site.visitor(), "wrong", email) for email in (OFFICER, "nobody@city.example")]
    assert [page.status for page in pages] == [401, 401]
    known, unknown = (page.response.text.replace(email, "") for page, email in zip(pages, (OFFICER, "nobody@city.example"), strict=True))
    assert known == unknown
    asked = [await site.visitor().post("/staff/recover", {"email": email}) for email in (OFFICER, "nobody@city.example")]
    assert asked[0].response.text == asked[1].response.text
    assert len(await letters(site, "Your link to set a new password")) == 1


async def test_too_many_failures_ask_for_patience_and_offer_a_link(site: Site) -> None:
    await an_officer(site)
    for _ in range(lockout.FREE_FROM_ONE_NETWORK):
        assert (await sign_in(site.visitor(), "wrong")).status == 401
    page = await sign_in(site.visitor())
    assert page.status == 429
    assert page.response.headers["retry-after"] == "31"
    assert "Try again in 1 minute, or have a link mailed to you." in page.text


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"email": OFFICER, "by": "password"}, 422), ({"by": "password", "password": GOOD}, 422), ({"email": "\0", "password": "\0"}, 401),
     ({"email": OFFICER, "password": "x" * 100_000}, 401), ({"email": OFFICER, "by": "magic"}, 200), ({"token": "sc_half_x"}, 401)],
)  # fmt: skip
async def test_an_odd_form_gets_an_answer_and_no_session(site: Site, fields: dict[str, str | list[str]], status: int) -> None:
    await an_officer(site)
    page = await site.visitor().post("/staff/sign-in", fields)
    assert page.status == status
    assert "spillclock_session" not in page.response.headers.get("set-cookie", "")


async def test_a_session_that_was_planted_in_the_browser_is_worth_nothing_afterwards(site: Site) -> None:
    await an_officer(site)
    eve = await site.staff("viewer", "chino")
    planted = eve.http.cookies["spillclock_session"]
    victim = site.visitor()
    victim.http.cookies.set("spillclock_session", planted)
    answer = await victim.http.post("/staff/sign-in", data={"email": OFFICER, "password": GOOD})
    assert "spillclock_session=sc_session_" in answer.headers["set-cookie"]
    assert planted not in answer.headers["set-cookie"]
    assert (await eve.get("/staff")).response.url.path == "/staff/sign-in"


async def test_a_mailed_link_sets_a_new_password_by_a_button_and_once(site: Site) -> None:
    await an_officer(site)
    old = site.visitor()
    await sign_in(old)
    visitor = site.visitor()
    await visitor.send(await visitor.get("/staff/recover"), "/staff/recover", email=OFFICER)
    path = path_in((await letters(site, "Your link to set a new password"))[0])
    for _ in range(2):  # looking uses nothing up
        page = await visitor.get(path)
    assert OFFICER in page.text
    refused = await visitor.send(page, path, password="one two three four", again="one two three five")
    assert (refused.status, "not the same" in refused.text) == (422, True)
    assert (await visitor.send(page, path, password="short", again="short")).status == 422
    page = await visitor.send(page, path, password="a new one, long enough", again="a new one, long enough")
    assert page.response.url.path == "/staff/account"
    assert (await old.get("/staff")).response.url.path == "/staff/sign-in"
    assert (await site.visitor().get(path)).status == 401
    assert await letters(site, "Your Spillclock account was changed")


async def test_a_passkey_is_made_signs_in_and_is_removed_by_forms(site: Site) -> None:
    await an_officer(site)
    visitor, phone = site.visitor(), Authenticator()
    await sign_in(visitor)
    begin = {"name": "my phone", "current": "wrong"}
    refused = await visitor.http.post("/staff/account/passkeys/begin", data=begin, headers={"accept": "application/json"})
    assert (refused.status_code, refused.json()["detail"]) == (403, "this is not your password")
    asked = (await visitor.http.post("/staff/account/passkeys/begin", data=begin | {"current": GOOD})).json()
    page = await visitor.post("/staff/account/passkeys", {"answer": phone.make(asked)})
    assert "The passkey is kept." in page.text
    assert "A passkey was added to it: my phone." in (await letters(site, "Your Spillclock account was changed"))[-1]["text"]
    other = site.visitor()
    asked = (await other.http.post("/staff/sign-in/passkey/begin")).json()
    page = await other.post("/staff/sign-in/passkey", {"answer": phone.use(asked), "next": "/staff/account"})
    assert page.response.url.path == "/staff/account"
    assert "last used" in page.text
    gone = "/staff/account/passkeys/1/remove"
    assert (await other.send(page, gone, current="wrong")).status == 403
    page = await other.send(page, gone, current=GOOD)
    assert "The passkey opens nothing any more." in page.text
    third = site.visitor()
    asked = (await third.http.post("/staff/sign-in/passkey/begin")).json()
    page = await third.post("/staff/sign-in/passkey", {"answer": phone.use(asked)})
    assert (page.status, "The passkey was not taken." in page.text) == (401, True)


async def test_without_the_extra_no_passkey_is_offered_and_the_pages_work(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await an_officer(site)
    assert "passkeys.js" in (await site.visitor().get("/staff/sign-in")).response.text
    monkeypatch.setattr(passkeys, "_is_installed", lambda: False)
    visitor = site.visitor()
    assert "passkey" not in (await visitor.get("/staff/sign-in")).response.text
    await sign_in(visitor)
    assert "asskey" not in (await visitor.get("/staff/account")).response.text
    assert (await visitor.post("/staff/sign-in/passkey", {"answer": "{}"})).status == 409
    assert (await visitor.http.post("/staff/sign-in/passkey/begin", headers={"accept": "application/json"})).status_code == 409


async def test_the_identity_provider_is_gone_to_and_come_back_from_by_buttons(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await an_officer(site)
    assert "City login" not in (await site.visitor().get("/staff/sign-in")).text
    there = with_provider(site)
    claims = {"email": OFFICER, "email_verified": True}
    provider = OddProvider(int(site.home.clock.at.timestamp()), claims=claims)
    monkeypatch.setattr(identity_provider, "_connection", lambda: httpx.AsyncClient(transport=httpx.MockTransport(provider)))
    visitor = there.visitor()
    page = await visitor.get("/staff/account")
    page = await visitor.send(page, "/staff/sign-in/provider")
    [link] = [link["href"] for link in page.root.all("a") if link["href"].startswith(ISSUER)]
    assert f'content="0; url={link}"'.replace("&", "&amp;") in page.response.text
    answer = provider.sees(link)
    for _ in range(2):  # looking uses nothing up
        page = await visitor.get(f"/staff/sign-in/provider/answer?{urlencode(answer)}")
    stranger = there.visitor()
    refused = await stranger.send(page, "/staff/sign-in/provider/answer")
    assert (refused.status, "not begun in this browser" in refused.text) == (401, True)
    page = await visitor.send(page, "/staff/sign-in/provider/answer")
    assert page.response.url.path == "/staff/account"
    assert ISSUER in page.text
    provider.breaks["/.well-known/openid-configuration"] = httpx.ConnectError("refused")
    down = await there.visitor().post("/staff/sign-in/provider", {"next": "/staff/account"})
    assert down.status == 503
    assert "City login cannot be reached" in down.text
    assert [field["value"] for field in down.root.all("input") if field["name"] == "next"] == ["/staff/account"] * 4
    assert "<script>" not in (await visitor.get("/staff/sign-in/provider/answer?code=%22%3E%3Cscript%3E&error=%00")).response.text


def with_provider(site: Site) -> Site:
    """The same site where staff may sign in at the city's provider."""
    home = site.home.with_house(settings=settings_of(site.home.house.settings, **ODD_PROVIDER))
    app = build_app(home.house)
    return Site(home, httpx.ASGITransport(app=app), site.visitors)


# -- one's own account


async def test_the_second_step_is_switched_on_used_and_switched_off(site: Site) -> None:
    await an_officer(site)
    visitor = site.visitor()
    await sign_in(visitor)
    page = await visitor.get("/staff/account")
    page = await visitor.send(page, "/staff/account/second-step/begin", current=GOOD)
    assert page.response.url.path == "/staff/account/second-step"
    assert page.one("key").text
    assert "<svg" in page.response.text
    page = await visitor.send(page, "/staff/account/second-step/on", code="000000")
    assert page.status == 422
    page = await visitor.send(page, "/staff/account/second-step/on", code=await app_code(site))
    codes = [code.text for code in page.one("codes").all("code")]
    assert len(codes) == second_factor.RECOVERY_CODES
    other = site.visitor()
    page = await sign_in(other)
    assert page.response.url.path == "/staff/sign-in/code"
    assert (await other.get("/staff")).response.url.path == "/staff/sign-in"  # half in is not in
    page = await other.send(await other.get("/staff/sign-in/code"), "/staff/sign-in/code", code="123 456")
    assert page.status == 422
    site.home.clock.jump(seconds=30)
    page = await other.send(page, "/staff/sign-in/code", code=await app_code(site))
    assert page.response.url.path == "/staff"
    again = site.visitor()
    page = await again.send(await sign_in(again), "/staff/sign-in/code", code=codes[0])
    assert page.response.url.path == "/staff"
    page = await visitor.send(await visitor.get("/staff/account"), "/staff/account/second-step/off", current="wrong")
    assert page.status == 403
    page = await visitor.send(page, "/staff/account/second-step/off", current=GOOD)
    assert "No code is asked for any more." in page.text
    assert (await sign_in(site.visitor())).response.url.path == "/staff"


async def test_without_the_first_step_the_page_of_the_code_leads_back(site: Site) -> None:
    visitor = site.visitor()
    assert (await visitor.get("/staff/sign-in/code")).response.url.path == "/staff/sign-in"
    assert (await visitor.post("/staff/sign-in/code", {"code": "123456"})).status == 401


async def test_a_changed_password_signs_every_other_device_out(site: Site) -> None:
    await an_officer(site)
    here, there = site.visitor(), site.visitor()
    await sign_in(here)
    await sign_in(there)
    page = await here.get("/staff/account")
    new = "quite another, as long"
    assert (await here.send(page, "/staff/account/password", current="wrong", password=new, again=new)).status == 403
    assert (await here.send(page, "/staff/account/password", current=GOOD, password="short", again="short")).status == 422
    page = await here.send(page, "/staff/account/password", current=GOOD, password=new, again=new)
    assert "Your password is set." in page.text
    assert (await there.get("/staff")).response.url.path == "/staff/sign-in"
    assert (await sign_in(site.visitor(), new)).response.url.path == "/staff"


async def test_without_a_password_a_fresh_session_is_asked_for(site: Site) -> None:
    visitor = await site.staff()
    page = await visitor.get("/staff/account")
    site.home.clock.jump(minutes=16)
    page = await visitor.send(page, "/staff/account/second-step/begin")
    assert page.status == 403
    assert "more than 15 minutes ago" in page.text


async def test_sessions_are_listed_and_ended_one_by_one_or_all(site: Site) -> None:
    await an_officer(site)
    phone = site.visitor(user_agent="Mozilla/5.0 (Linux; Android 14) Chrome/130.0 Mobile Safari/537.36")
    desk = site.visitor(user_agent="Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/131.0")
    for visitor in (phone, desk):
        await sign_in(visitor)
    page = await desk.get("/staff/account")
    assert "Chrome on Android" in page.text
    assert "Firefox on Windows" in page.text
    [form] = [form for form in page.root.all("form") if "Chrome on Android" in form.text]
    page = await desk.send(page, form)
    assert "That device is signed out." in page.text
    assert (await phone.get("/staff")).response.url.path == "/staff/sign-in"
    await sign_in(phone)
    assert (await desk.send(page, "/staff/account/sign-out-everywhere")).response.url.path == "/staff/sign-in"
    for visitor in (phone, desk):
        assert (await visitor.get("/staff")).response.url.path == "/staff/sign-in"


async def test_a_key_is_shown_once_and_revoked(site: Site) -> None:
    await an_officer(site)
    visitor = site.visitor()
    await sign_in(visitor)
    page = await visitor.get("/staff/account")
    refused = await visitor.send(page, "/staff/account/keys", name="Flow meter", current=GOOD, days="90")
    assert (refused.status, "none is chosen" in refused.text) == (422, True)
    page = await visitor.send(refused, "/staff/account/keys", scope=["read", "report"], current=GOOD)
    key = page.one("key").text
    assert key.startswith("sc_api_")
    client = site.home.client(key)
    assert (await client.get("/api/v1/spills")).status_code == 200
    page = await visitor.get("/staff/account")
    assert key not in page.response.text
    assert "Read, report" in page.text
    [form] = [form for form in page.root.all("form") if form["action"].endswith("/revoke")]
    await visitor.send(page, form)
    assert (await client.get("/api/v1/spills")).status_code == 401
    opened = await site.visitor().post("/staff/sign-in", {"token": key})
    assert opened.status == 401


async def test_nobody_reaches_the_keys_or_sessions_of_another(site: Site) -> None:
    await an_officer(site)
    owner, stranger = site.visitor(), await site.staff("manager", "chino")
    await sign_in(owner)
    for address in ("/staff/account/sessions/1/end", "/staff/account/sessions/2/end", "/staff/account/keys/1/revoke"):
        page = await stranger.post(address, {})
        assert page.status in (404, 200)
    assert (await owner.get("/staff")).response.url.path == "/staff"


# -- people


async def test_an_administrator_invites_somebody_who_begins_by_a_button(site: Site) -> None:
    root = await site.staff("administrator", None)
    page = await root.get("/staff/users")
    refused = await root.send(page, "/staff/users", email="new@chino.example", name="Noor Haddad")
    assert (refused.status, "none is chosen" in refused.text) == (422, True)
    page = await root.send(refused, "/staff/users", role__chino="officer", role__ontario="viewer")
    assert "The invitation is on its way." in page.text
    assert "Noor Haddad" in page.text
    path = path_in((await letters(site, "You are invited to Spillclock"))[0])
    noor = site.visitor()
    page = await noor.get(path)
    page = await noor.send(page, path, password=GOOD, again=GOOD)
    assert page.response.url.path == "/staff/account"
    assert "City of Ontario, California" in page.text
    assert (await sign_in(site.visitor(), email="new@chino.example")).response.url.path == "/staff"


async def test_an_invitation_may_do_without_a_password(site: Site) -> None:
    root = await site.staff("administrator", None)
    await root.send(await root.get("/staff/users"), "/staff/users", email="new@chino.example", role__everywhere="viewer")
    path = path_in((await letters(site, "You are invited to Spillclock"))[0])
    visitor = site.visitor()
    assert (await visitor.send(await visitor.get(path), path)).response.url.path == "/staff/account"
    assert (await visitor.post(path, {})).status == 401


async def test_an_administrator_changes_roles_and_ends_and_restores_an_account(site: Site) -> None:
    await an_officer(site)
    root, officer = await site.staff("administrator", None), site.visitor()
    await sign_in(officer)
    page = await root.get("/staff/users")
    [link] = [link["href"] for link in page.root.all("a") if link.text == OFFICER]
    page = await root.send(await root.get(link), f"{link}/roles", role__chino="manager")
    assert "The roles are changed." in page.text
    assert "officer@chino.example (manager)" in (await officer.get("/staff")).text
    page = await root.send(page, f"{link}/end")
    assert "The account has ended." in page.text
    assert (await officer.get("/staff")).response.url.path == "/staff/sign-in"
    page = await root.send(page, f"{link}/restore")
    assert "The account is restored." in page.text
    assert "Roles changed: before chino officer; after chino manager (administrator@every-city.example)" in page.text
    assert [letter["to"] for letter in await letters(site, "Your Spillclock account was changed")] == [OFFICER, OFFICER]


async def test_the_only_administrator_is_told_that_they_cannot_leave(site: Site) -> None:
    root = await site.staff("administrator", None)
    page = await root.send(await root.get("/staff/users/1"), "/staff/users/1/end")
    assert page.status == 409
    assert "no administrator any more" in page.text
    page = await root.send(page, "/staff/users/1/roles", role__everywhere="")
    assert page.status == 409


async def test_an_administrator_reads_what_staff_did_and_of_one_person_alone(site: Site) -> None:
    await an_officer(site)
    root, officer = await site.staff("administrator", None), site.visitor()
    await sign_in(officer)
    await sign_in(site.visitor(), "wrong", "<b>@city.example")
    page = await root.send(await root.get("/staff/users"), "/staff/users", email="new@chino.example", role__chino="officer")
    page = await root.get("/staff/users/log")
    assert "Invited by mail (new@chino.example): roles chino officer (administrator@every-city.example)" in page.text
    assert "Signed in (officer@chino.example): by password" in page.text
    assert "Sign-in failed: by password" in page.text
    page = await root.send(page, "/staff/users/log", who="Officer@Chino.example ")
    assert "Signed in" in page.text
    assert "Invited by mail" not in page.text
    for odd in ("before=0", "before=-1", "before=x", f"before={'9' * 400}", "who=%00", "who=nobody"):
        assert (await root.get(f"/staff/users/log?{odd}")).status == 200
    assert (await officer.get("/staff/users/log")).status == 403


async def test_the_first_administrator_is_told_to_invite_themselves(site: Site) -> None:
    async with transaction(site.home.house, "spillclock") as tx:
        token = await accounts.first_administrator(tx)
    visitor = site.visitor()
    await visitor.send(await visitor.get(f"/staff/enter/{token}"), f"/staff/enter/{token}")
    assert "This account has no mailbox" in (await visitor.get("/staff/account")).text
    root = await site.staff("administrator", None)
    assert "This account has no mailbox" not in (await root.get("/staff/account")).text


@pytest.mark.parametrize("role", ["viewer", "officer", "manager"])
async def test_people_are_for_administrators_alone(site: Site, role: str) -> None:
    visitor = await site.staff(role, "chino")
    assert "People" not in (await visitor.get("/staff")).text
    assert (await visitor.get("/staff/users")).status == 403
    assert (await visitor.get("/staff/users/1")).status == 403
    for address in ("/staff/users", "/staff/users/1/roles", "/staff/users/1/end", "/staff/users/1/invite", "/staff/users/1/sign-out"):
        page = await visitor.post(address, {"email": "x@chino.example", "role.everywhere": "administrator"})
        assert page.status == 403, address


async def test_an_administrator_of_a_city_is_offered_that_city_alone(site: Site) -> None:
    chief = await site.staff("administrator", "chino")
    page = await chief.get("/staff/users")
    assert [select["name"] for select in page.root.all("select")] == ["role.chino"]
    for wanted in ({"role.ontario": "viewer"}, {"role.everywhere": "administrator"}):
        refused = await chief.post("/staff/users", {"email": "x@chino.example", **wanted})
        assert (refused.status, "administer" in refused.text) == (422, True)
    assert (await chief.post("/staff/users/1/explode", {})).status == 404
    assert (await chief.get("/staff/users/999")).status == 404


async def test_a_form_of_another_site_changes_nothing(site: Site) -> None:
    root = await site.staff("administrator", None)
    answer = await root.http.post("/staff/users/1/sign-out", headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    for address in ("/staff/account/sign-out-everywhere", "/staff/users/1/end", "/staff/account/second-step/on"):
        assert (await root.http.get(address)).status_code in (404, 405)  # GET never acts
