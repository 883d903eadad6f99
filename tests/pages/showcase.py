"""Every page and state that the application shows, one line each, over a house with a rehearsed spill. The pictures of `make screenshots`
and the accessibility tests go through the same table: a new page is one new line in SCENES.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, FilePayload, Page
from playwright.async_api import Error as PlaywrightError

from service import access, accounts, api_keys, packs_seen
from service.account_tables import Passkey
from service.assigning import assign
from service.closing import close
from service.destruction import destroy
from service.invitations import end, issue
from service.links import act_url, unsubscribe_url
from service.merging import merge
from service.pages.speech import speech
from service.parties import link_token, respond_url
from service.referrals import Referral, refer
from service.retention import place_hold
from service.suppressions import suppress
from service.switches import switch_off
from service.tables import Reply
from service.transaction import transaction
from tests.houses import Household
from tests.pages.browsing import serving
from tests.pictures import photo
from tests.service.odd_provider import SETTINGS as PROVIDER
from tests.service.people import GOOD, with_second_step
from tests.service.test_public_alerts import subscribe, token_in
from tests.spills import NOWHERE_NEAR, a_report

PHONE, DESK = 360, 1280

# What is done on a page once it is open. Every form is sent as a browser without checks of its own would send it.
Doing = Callable[[Page], Awaitable[None]]


def press(button: str, **filled: str) -> Doing:
    """Fill fields (by their names; `__` stands for a dot) and press the button with these English words, or what the page makes of them."""

    async def do(page: Page) -> None:
        await unfold(page)
        for name, value in filled.items():
            await page.locator(f"main [name='{name.replace('__', '.')}']").first.fill(value)
        await page.evaluate("document.querySelectorAll('form').forEach(form => form.noValidate = true)")
        said = speech(await page.evaluate("document.documentElement.lang")).say(button)
        await page.get_by_role("button", name=re.compile(f"^{said}")).first.click()
        await page.wait_for_load_state()

    return do


def send(action: str, **filled: str) -> Doing:
    """Fill fields and send the form that goes to this address, or one that ends like it, past every script that would keep it back."""

    async def do(page: Page) -> None:
        form = page.locator(f"form[method=post][action$='{action}']").first
        for name, value in filled.items():
            await form.locator(f"[name='{name}']").first.evaluate("(field, value) => { field.value = value; }", value)
        async with page.expect_navigation():
            await form.evaluate("form => form.submit()")

    return do


def both(first: Doing, then: Doing) -> Doing:
    """One after the other."""

    async def do(page: Page) -> None:
        await first(page)
        await then(page)

    return do


def after_steps(number: int) -> Doing:
    """Go on by so many steps, where the form is asked in steps."""

    async def do(page: Page) -> None:
        for _ in range(number):
            if await page.locator("[data-next]").is_visible():
                await page.locator("[data-next]").click()

    return do


async def told_so(page: Page) -> None:
    """Wait for the page that a form leads to which goes by itself."""
    await page.get_by_role("alert").wait_for()


async def unfold(page: Page) -> None:
    """Open everything that folds."""
    await page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")


async def keys(page: Page) -> None:
    """Ask for the list of keyboard shortcuts."""
    await page.keyboard.press("?")


@dataclass(frozen=True)
class Scene:
    """One page in one state: its name, its address with {names} of Show.tokens in it, and what is done there."""

    name: str
    address: str
    do: Doing | None = None
    staff: bool = False
    spanish: bool = True  # whether the page speaks Spanish too


# Fonts, and pictures that would wait until somebody scrolls to them.
_ALL_LOADED = """() => Promise.all([document.fonts.ready, ...[...document.images].map(image => {
  image.loading = "eager";
  return image.decode().catch(() => null);
})]).then(() => true)"""
_FACTS = "city=chino&material=sewage&low=1500&unit=gal&reached=storm_drain&known_at=2026-12-01T14%3A05"
_HOOK = send("/staff/settings/webhooks", city="chino", name="Work orders", address="https://hooks.example.gov/spills")
_BEGIN = send("/second-step/begin", current=GOOD)
_ACID = "substance-0-name=sulfuric+acid&substance-0-amount=50&substance-0-unit=gal&substance-0-percent=93"

# fmt: off
SCENES: tuple[Scene, ...] = (
    Scene("home", "/"),
    Scene("report", "/report"),
    Scene("report-unfolded", "/report", unfold),
    Scene("report-empty", "/report", send("/report")),
    Scene("report-where", "/report", after_steps(1)),
    Scene("report-when", "/report", after_steps(2)),
    Scene("report-how-much", "/report", after_steps(3)),
    Scene("report-photos", "/report", after_steps(4)),
    Scene("report-you", "/report", after_steps(5)),
    Scene("status", "{status}"),
    Scene("status-unfolded", "{status}", unfold),
    Scene("status-triage", "{triage_status}"),
    Scene("status-empty-addition", "{status}", send("/more")),
    Scene("respond", "{respond}"),
    Scene("respond-unfolded", "{respond}", unfold),
    Scene("respond-call", "{respond_call}", unfold),
    Scene("respond-report", "{respond_report}"),
    Scene("respond-report-missing", "{respond_report}", press("Certify and file")),
    Scene("respond-ended", "{respond_ended}"),
    Scene("map", "/map"),
    Scene("map-fault", "/map?since=yesterday&lat=north"),
    Scene("alerts", "/alerts"),
    Scene("alerts-fault", "/alerts", send("/alerts")),
    Scene("alert-confirm", "{alert_yes}"),
    Scene("advisories", "/advisories"),
    Scene("advisory", "{advisory}"),
    Scene("act", "{act}", spanish=False),
    Scene("unsubscribe", "{unsubscribe}", spanish=False),
    Scene("law", "/law"),
    Scene("api", "/docs"),
    Scene("law-pack", "/law/chino"),
    Scene("law-rule", "/law/chino/rwqcb-2-hours"),
    Scene("what-if", "/what-if"),
    Scene("what-if-answer", f"/what-if?{_FACTS}", unfold),
    Scene("what-if-fault", "/what-if?city=chino&low=much&unit=gal"),
    Scene("nothing-here", "/nothing/here"),
    Scene("link-cut-off", "/status/cut-off"),
    Scene("sign-in", "/staff/sign-in", spanish=False),
    Scene("sign-in-sent", "/staff/sign-in", press("Send me a link", email="nobody@example.gov"), spanish=False),
    Scene("sign-in-refused", "/staff/sign-in", send("/staff/sign-in", email="ann@example.org", password="wrong"), spanish=False),
    Scene("sign-in-code", "/staff/sign-in", send("/staff/sign-in", email="careful@chino.example", password=GOOD), spanish=False),
    Scene("recover", "/staff/recover", spanish=False),
    Scene("recover-sent", "/staff/recover", press("Send me a link", email="nobody@example.gov"), spanish=False),
    Scene("invited", "{invited}", spanish=False),
    Scene("invited-fault", "{invited}", press("Begin", password="short", again="short"), spanish=False),
    Scene("board", "/staff", staff=True),
    Scene("board-filtered", "/staff?state=overdue&material=sewage&q=manhole", unfold, staff=True),
    Scene("board-nothing-fits", "/staff?q=%22nothing%22", staff=True),
    Scene("board-view-fault", "/staff?state=overdue", send("/staff/views", name=" "), staff=True),
    Scene("board-keys", "/staff", keys, staff=True),
    Scene("board-map", "/staff/map", staff=True),
    Scene("board-map-near", "/staff/map?box=-117.72,34.00,-117.66,34.03&show=all", staff=True),
    Scene("wall", "/staff/wall", staff=True),
    Scene("spill", "/staff/spills/{spill}", staff=True),
    Scene("spill-unfolded", "/staff/spills/{spill}", unfold, staff=True),
    Scene("spill-without-city", "/staff/spills/{triage}", staff=True),
    Scene("spill-merged-into", "/staff/spills/{duplicate}", unfold, staff=True),
    Scene("spill-with-merged", "/staff/spills/{kept}", unfold, staff=True),
    Scene("merge-choose", "/staff/spills/{kept}/merge", staff=True),
    Scene("merge-compare", "/staff/spills/{kept}/merge?with={spill}", staff=True),
    Scene("merge-clocks-would-stop", "/staff/spills/{kept}/merge?with={spill}", press("Merge", reason="the same manhole"), staff=True),
    Scene("split", "/staff/spills/{spill}/split", staff=True),
    Scene("split-fault", "/staff/spills/{spill}/split", press("Split"), staff=True),
    Scene("papers", "/staff/spills/{spill}/papers", unfold, staff=True),
    Scene("paper-call", "/staff/spills/{spill}/papers/call-cal-oes", staff=True),
    Scene("paper-report", "{paper_report}", staff=True),
    Scene("paper-notice", "/staff/spills/{spill}/papers/notice-compliance_order", staff=True),
    Scene("paper-export", "/staff/spills/{spill}/papers/export-ciwqs", staff=True),
    Scene("particulars", "/staff/spills/{spill}/papers/particulars", staff=True),
    Scene("particulars-fault", "/staff/spills/{spill}/papers/particulars", press("Record it", rate="fast"), staff=True),
    Scene("refer", "/staff/spills/{spill}/refer", staff=True),
    Scene("refer-fault", "/staff/spills/{spill}/refer", press("Record"), staff=True),
    Scene("amount-fault", "/staff/spills/{spill}", press("Record the amount", amount="much"), staff=True),
    Scene("amend", "/staff/spills/{spill}/amend", staff=True),
    Scene("amend-fault", "/staff/spills/{spill}/amend", press("Amend the facts", low="much", reason="measured"), staff=True),
    Scene("event", "/staff/spills/{spill}/event?type=notice_given", staff=True),
    Scene("place", "/staff/spills/{spill}/location", staff=True),
    Scene("place-fault", "/staff/spills/{spill}/location", press("Move the pin"), staff=True),
    Scene("close", "/staff/spills/{spill}/close", staff=True),
    Scene("tell-the-public", "/staff/spills/{spill}/advisory", staff=True),
    Scene("tell-the-public-preview", "/staff/spills/{spill}/advisory", press("Look"), staff=True),
    Scene("quantities", "/staff/quantities", staff=True),
    Scene("quantities-answer", f"/staff/quantities?{_ACID}", staff=True),
    Scene("replies", "/staff/replies", staff=True),
    Scene("held", "/staff/held", staff=True),
    Scene("suppressions", "/staff/suppressions", unfold, staff=True),
    Scene("subscriptions", "/staff/subscriptions", staff=True),
    Scene("subscriptions-fault", "/staff/subscriptions", press("Subscribe", lat="north"), staff=True),
    Scene("on-call", "/staff/on-call/chino", unfold, staff=True),
    Scene("numbers", "/staff/numbers", staff=True),
    Scene("numbers-fault", "/staff/numbers?from=yesterday", staff=True),
    Scene("calendars", "/staff/calendars", staff=True),
    Scene("calendar", "/staff/calendars/chino", unfold, staff=True),
    Scene("texts", "/staff/templates/chino", staff=True),
    Scene("text", "/staff/templates/chino/alert/sms/en", staff=True),
    Scene("account", "/staff/account", unfold, staff=True),
    Scene("forward", "/staff/spills/{spill}/forward", staff=True),
    Scene("import", "/staff/settings/import", staff=True),
    Scene("import-fault", "/staff/settings/import", send("/staff/settings/import"), staff=True),
    Scene("webhooks", "/staff/settings/webhooks", unfold, staff=True),
    Scene("webhooks-fault", "/staff/settings/webhooks", send("/staff/settings/webhooks", name="", address="https://10.0.0.1/"), staff=True),
    Scene("webhook-made", "/staff/settings/webhooks", _HOOK, staff=True),
    Scene("webhook-paused", "/staff/settings/webhooks", both(_HOOK, both(unfold, press("Send nothing for now"))), staff=True),
    Scene("due-times", "/staff/account/calendars", staff=True),
    Scene("due-times-made", "/staff/account/calendars", send("/staff/account/calendars", city="chino", role="duty_officer"), staff=True),
    Scene("due-times-fault", "/staff/account/calendars", send("/staff/account/calendars", role="king"), staff=True),
    Scene("account-fault", "/staff/account", send("/keys", current=GOOD), staff=True),
    Scene("provider-refused", "/staff/sign-in/provider/answer?error=access_denied", told_so, spanish=False),
    Scene("passkey-fault", "/staff/account", send("/passkeys"), staff=True),
    Scene("second-step", "/staff/account", _BEGIN, staff=True),
    Scene("second-step-fault", "/staff/account", both(_BEGIN, press("Switch it on", code="000000")), staff=True),
    Scene("people", "/staff/users", unfold, staff=True),
    Scene("people-fault", "/staff/users", press("Send the invitation", email="noor@chino.example"), staff=True),
    Scene("person", "/staff/users/2", unfold, staff=True),
    Scene("staff-log", "/staff/users/log", staff=True),
    Scene("settings", "/staff/settings", staff=True),
    Scene("retention", "/staff/retention", staff=True),
    Scene("record-kept", "/staff/spills/{kept}/retention", unfold, staff=True),
    Scene("record-past-its-time-fault", "/staff/spills/{old}/retention", send("/destroy"), staff=True),
    Scene("certificate", "/staff/spills/{gone}/certificate", staff=True),
    Scene("packs", "/staff/packs", unfold, staff=True),
    Scene("packs-fault", "/staff/packs", send("/off"), staff=True),
    Scene("contacts", "/staff/contacts/chino", unfold, staff=True),
    Scene("contacts-fault", "/staff/contacts/chino", press("Add them", email="kim"), staff=True),
    Scene("contacts-last-one", "/staff/contacts/chino", press("Remove Grace"), staff=True),
    Scene("ladders", "/staff/ladders/chino", unfold, staff=True),
    Scene("settings-check", "/staff/settings/check", staff=True),
    Scene("settings-test-message", "/staff/settings/check", press("Send me a test message"), staff=True),
    Scene("not-found-for-staff", "/staff/spills/SPL-2026-9999", staff=True),
)
# fmt: on


@dataclass
class Show:
    """A house with a story in it, served on a port of this machine, and a browser to look at it."""

    home: Household
    url: str
    browser: Browser
    session: str
    tokens: dict[str, str] = field(default_factory=dict)

    async def context(self, *, width: int, language: str = "en", dark: bool = False, staff: bool = False) -> BrowserContext:
        """A browser of its own: its width, what its reader speaks, light or dark, signed in or not."""
        made = await self.browser.new_context(
            viewport={"width": width, "height": 800}, locale=f"{language}-US", base_url=self.url, color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )  # fmt: skip
        made.set_default_timeout(8_000)
        if staff:
            await made.add_cookies([{"name": "spillclock_session", "value": self.session, "url": self.url}])
        return made

    async def open(self, page: Page, scene: Scene) -> None:
        """Bring a page to its state."""
        await page.goto(scene.address.format(**self.tokens), wait_until="load")
        try:
            if scene.do:
                await scene.do(page)
        except PlaywrightError as error:
            error.add_note(f"in the scene {scene.name}")
            raise
        await page.evaluate(_ALL_LOADED)


@asynccontextmanager
async def a_show(folder: Path, browser: Browser) -> AsyncIterator[Show]:
    """The show, ready to be walked through."""
    async with serving(folder, browser, "localhost", **PROVIDER) as served:
        await with_second_step(served.home, "careful@chino.example")
        show = Show(served.home, served.url, browser, await _signed_in(served.home))
        await _rehearse(show)
        yield show


async def _signed_in(home: Household) -> str:
    async with transaction(home.house, "test") as tx:
        account = await access.add_account(tx, "ruth@chino.example", "administrator", "chino", "Ruth Okafor")
        account.password, account.password_at = await home.house.passwords.hashed(GOOD), tx.now
        there = access.Device("Chrome on Android", "192.0.2.7")
        await access.issue(tx, account, "session", access.SESSION_LASTS, device=there)
        ruth = await access.staff_of(tx, await access.issue(tx, account, "session", access.SESSION_LASTS), "session")
        phone = {"key_id": "cGhvbmU", "public_key": "", "handle": "cnV0aA", "name": "Chrome on Android"}
        tx.session.add(Passkey(account_id=account.id or 0, made_at=tx.now, used_at=tx.now, **phone))
        await api_keys.make(tx, ruth, "Flow meter at pump 4", ["report"], "chino", 365)
        return await access.issue(tx, account, "session", access.SESSION_LASTS, device=access.Device("Firefox on Windows", "192.0.2.8"))


async def _rehearse(show: Show) -> None:
    """A sewage spill by a school: told, partly done, partly overdue, answered by a text that nobody understood, the public warned."""
    home = show.home
    await subscribe(home, "ann@example.org")
    alert_yes = token_in(home.outbox()[-1])
    home.clock.jump(minutes=1)
    words = "Gray water comes out of a manhole and runs along the curb, past the school gate."
    contact = {"name": "Alma Ruiz", "phone": "+19095550177", "email": "alma@example.org"}
    reference = await home.report(a_report(description=words, reached=["storm_drain"], contact=contact))
    triage = await home.report(a_report(location=NOWHERE_NEAR, material=None, volume=None), staff=False)
    await home.report(a_report(description="Oil sheen on the gutter.", material="petroleum", volume={"quantity": 5, "unit": "gal"}))
    await home.name_discharger(reference, "Golden Wok LLC", "owner@goldenwok.example", "+19095550144")
    await _add_a_photo(show, reference)
    await home.live(minutes=20)
    call = {"recipient": "cal-oes", "method": "telephone"}
    await home.happened(reference, "notice_given", **call)
    await home.live(hours=2, minutes=10)
    async with transaction(home.house, "test") as tx:
        about = {"channel": "sms", "sender": "+19095550102", "meaning": "unknown", "spill_id": (await tx.spill(reference)).id}
        tx.session.add(Reply(once="1", text="we are on our way", received_at=tx.now, **about))
        await suppress(tx, "email", "duty@chino.example", "bounced", "5.1.1: no such user")
    await _tell_the_public(show, reference)
    await home.work()
    mails = [row for row in await home.messages(channel="email") if not row.carried_by and row.obligation_id]
    news = next(row for row in await home.messages(step="advisory"))
    show.tokens = {
        "spill": reference, "triage": triage, "alert_yes": f"/alerts/yes/{alert_yes}", "advisory": "/advisories/1",
        "act": act_url(home.house, mails[0].id).removeprefix(show.url),
        "unsubscribe": unsubscribe_url(home.house, news).removeprefix(show.url),
    }  # fmt: skip
    for name, which in (("status", reference), ("triage_status", triage)):
        show.tokens[name] = f"/status/{link_token(home.house, 'status', await home.spill(which))}"
    async with transaction(home.house, "ruth@chino.example") as tx:
        ruth = access.Staff("ruth@chino.example", "administrator", "chino")
        _, invitation = await accounts.invite(tx, ruth, "lee@chino.example", "Lee Park", {"chino": "officer"})
        show.tokens["invited"] = f"/staff/password/{invitation}"
    show.tokens |= await _merged(home)
    show.tokens |= await _past_their_time(home)
    show.tokens |= await _links_of_the_discharger(home, reference)
    async with transaction(home.house, "ruth@chino.example") as tx:
        await packs_seen.take_note(tx)
        await switch_off(tx, "chino", "chino/written-report-7-days", "The city council asked for it by resolution 2026-21.")


async def _merged(home: Household) -> dict[str, str]:
    """Two reports of one spill of paint, the later one merged into the earlier, which was referred to the water board."""
    facts = {"material": "paint", "location": {"lat": 34.012, "lon": -117.688, "address": "4400 Chino Ave"}}
    kept = await home.report(a_report(description="White water in the gutter.", volume=None, **facts))
    home.clock.jump(minutes=9)
    words = "Painters wash their rollers into the drain behind the shop."
    duplicate = await home.report(a_report(description=words, volume={"quantity": 15, "unit": "gal"}, **facts), staff=False)
    async with transaction(home.house, "manager@chino.example") as tx:
        spill = await tx.spill(kept)
        await merge(tx, spill, await tx.spill(duplicate), "the same shop", take=["volume"])
        board = "Santa Ana Regional Water Quality Control Board"
        await refer(tx, spill, Referral(board, "duty desk", "email", "both reports and two photos", "it runs to their channel"))
        await assign(tx, spill, "ruth@chino.example")
        await place_hold(tx, spill, "Vann v. City of Chino; by letter of counsel")
    return {"kept": kept, "duplicate": duplicate}


async def _past_their_time(home: Household) -> dict[str, str]:
    """Two reports that were closed six years ago, of which one record was destroyed; and a legal hold on the record of another."""
    today, names = home.clock.at, {}
    home.clock.jump(days=-6 * 365)
    for name in ("old", "gone"):
        reference = names[name] = await home.report(a_report(location=NOWHERE_NEAR, description="A bucket of paint, gone by now."))
        async with transaction(home.house, "manager@chino.example") as tx:
            await close(tx, await tx.spill(reference), {"en": "It had dried up."}, "manager")
    home.clock.at = today
    async with transaction(home.house, "ruth@chino.example") as tx:
        await destroy(tx, await tx.spill(names["gone"]), "Schedule of May 2026, item 4")
    return names


async def _links_of_the_discharger(home: Household, reference: str) -> dict[str, str]:
    """The pages behind the link of nobody in particular, and one that was taken back."""
    async with transaction(home.house, "ruth@chino.example") as tx:
        spill = await tx.spill(reference)
        gone = await issue(tx, spill, "Sam Lee", "sam@goldenwok.example", "")
        await issue(tx, spill, "Dana Cruz", "dana@goldenwok.example", "", "es")
        ended = respond_url(home.house, spill, gone)
        await end(tx, spill, gone)
    open_page = f"/respond/{link_token(home.house, 'respond', await home.spill(reference))}"
    call, written = [(await home.clock_of(reference, f"chino/{duty}")).id for duty in ("rwqcb-2-hours", "rwqcb-written-5-days")]
    return {
        "paper_report": f"/staff/spills/{reference}/papers/report-{written}",
        "respond": open_page, "respond_call": f"{open_page}/duties/{call}/call", "respond_report": f"{open_page}/duties/{written}/report",
        "respond_ended": ended[ended.index("/respond/") :],
    }  # fmt: skip


async def _add_a_photo(show: Show, reference: str) -> None:
    """The reporter's own way, later on: a picture of the place, and a word about it."""
    context = await show.context(width=PHONE)
    page = await context.new_page()
    await page.goto(f"/status/{link_token(show.home.house, 'status', await show.home.spill(reference))}")
    picture = FilePayload(name="curb.jpg", mimeType="image/jpeg", buffer=photo())
    await page.locator("form[action$='/more'] input[type=file]").set_input_files(picture)
    await send("/more", text="It still runs. The school gate is wet.")(page)
    await context.close()


async def _tell_the_public(show: Show, reference: str) -> None:
    """The officer's own way: the words are looked at, and issued."""
    context = await show.context(width=DESK, staff=True)
    page = await context.new_page()
    await page.goto(f"/staff/spills/{reference}/advisory")
    await page.get_by_role("button", name=re.compile("^Look")).click()
    await page.get_by_role("button", name="Issue it").click()
    await page.get_by_text("It is issued.").wait_for()
    await context.close()
