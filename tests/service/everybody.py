"""A city with one of everything in it, and everybody who may come to its service: what the access matrix is asked of.

Everybody shows what they have wherever they go: staff their session and their key, whoever has a private link its token. The database is
put back after each request that changed it, so that no answer depends on the one before.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from service import (
    access,
    accounts,
    api_keys,
    city_texts,
    closing,
    contacts,
    due_calendars,
    event_hooks,
    followups,
    invitations,
    kept_files,
    merging,
    obligations,
    parties,
    passkeys,
    replanning,
    retention,
    rotas,
    saved_views,
    second_factor,
    staff_log,
    subscriptions,
    switches,
)
from service.access import Staff
from service.account_tables import Passkey
from service.events import RecordDestroyed
from service.held_reports import TRAP
from service.incoming_bodies import Upload
from service.kept_files import ATTACHMENT, PHOTO, Belonging
from service.links import act_url, unsubscribe_url
from service.parties import link_token, respond_url
from service.suppressions import suppress
from service.tables import Reply
from service.transaction import transaction
from tests.houses import Household, a_household
from tests.notifiers.fake_twilio import TOKEN
from tests.pictures import photo
from tests.service.authenticator import Authenticator, text_of
from tests.service.channels import Post
from tests.service.people import ANN, GOOD, code_of, half, the, with_second_step
from tests.service.test_advisories import tell
from tests.service.test_passkeys import make as make_passkey
from tests.service.test_passkeys import signed_in
from tests.service.test_public_alerts import questions, request, subscribe, token_in
from tests.spills import IN_ONTARIO, NOWHERE_NEAR, a_report, gallons

SITE = "https://spills.example.gov"
# Who comes; the columns of the table. `link`: whoever holds the link, code, secret or signature that a route is there for.
WHO = ("none", "reporter", "discharger", "another", "viewer", "officer", "elsewhere", "manager", "administrator", "link")
_STAFF = {
    "viewer": ("viewer", "chino"), "officer": ("officer", "chino"), "elsewhere": ("officer", "ontario"), "manager": ("manager", "chino"),
    "administrator": ("administrator", "chino"),
}  # fmt: skip
MAIL_SECRET, NUMBERS_SECRET = "the secret of the mail hook", "the secret of the numbers"
_NOBODYS = "SPL-2026-0001.1.aaaaaaaaaaaaaaaaaaaaaaaaaa"
TEXT = "Look at {reference}: {link} {reason}"
CALL, WRITTEN = "chino/rwqcb-2-hours", "chino/rwqcb-written-5-days"

_OF_THE_CITY = {
    "city": "chino", "pack": "chino", "pack_id": "chino", "rule": "rwqcb-2-hours", "rule_id": "rwqcb-2-hours", "day": "2026-12-04",
    "date": "2026-12-04", "kind": "triage", "channel": "email", "language": "en", "version": "1",
}  # fmt: skip


@dataclass
class Everybody:
    """The household, the names and numbers that requests are filled in with, and what each of WHO shows."""

    home: Household
    names: dict[str, str] = field(default_factory=dict)
    own: dict[str, dict[str, str]] = field(default_factory=dict)
    shows: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    kept: bytes = b""

    async def ask(self, who: str, method: str, address: str, **given: Any) -> httpx.Response:
        """Send a request with what somebody shows; no browser keeps anything from one to the next."""
        token = self.shows.get(who)
        cookies = {"spillclock_session": self.sessions.get(who, token), **given.pop("cookies", {})}
        shown = {"authorization": f"Bearer {token}"} if token else {}
        worn = "; ".join(f"{name}={value}" for name, value in cookies.items() if value)
        headers = {"origin": SITE, **({"cookie": worn} if worn else {}), **shown, **given.pop("headers", {})}
        try:
            return await self.browser.request(method, address, headers=headers, **given)
        finally:
            self.browser.cookies.clear()

    @cached_property
    def browser(self) -> httpx.AsyncClient:
        """The one that all requests go through."""
        return self.home.client()

    def filled(self, who: str, asked: str) -> dict[str, str]:
        """The names and numbers for somebody's request, `asked` by its path: their own where there are such, and the token they have."""
        token = self.shows.get(who, _NOBODYS) if who in ("reporter", "discharger", "another") else _NOBODYS
        if who == "link":
            token = next((link for begins, link in self.links.items() if asked.startswith(begins)), _NOBODYS)
        return {**self.names, **self.own["officer"], **self.own.get(who, {}), "token": token}

    # -- the database, put back

    async def keep(self) -> None:
        """Remember the database as it is."""
        await self.home.house.engine.dispose()  # the last connection to close brings the write-ahead log into the file
        self.kept = self._file.read_bytes()

    async def put_back(self) -> None:
        """Let the database be as it was, where somebody changed it."""
        if not self._log.exists() or not self._log.stat().st_size:
            return
        await self.home.house.engine.dispose()
        self._log.unlink(missing_ok=True)
        self._file.write_bytes(self.kept)

    @property
    def _file(self) -> Path:
        return self.home.house.settings.home_dir / "spillclock.db"

    @property
    def _log(self) -> Path:
        return self._file.with_name("spillclock.db-wal")


@asynccontextmanager
async def everybody(folder: Path) -> AsyncIterator[Everybody]:
    """Everybody, in a city with one of everything."""
    secrets: dict[str, Any] = {"twilio_auth_token": TOKEN, "mail_hook_secret": MAIL_SECRET, "metrics_token": NUMBERS_SECRET}
    secrets["open311_forward"] = "chino=https://311.chino.example/v2?service_code=1"
    async with a_household(folder, **secrets) as home:
        made = Everybody(home)
        home.channels["event_hook"] = Post("event_hook")
        async with transaction(home.house, "test") as tx:
            ruth = Staff("administrator@chino.example", "administrator", "chino")
            hook, _ = await event_hooks.add(tx, ruth, "chino", "Work orders", "https://hooks.chino.example/spills", ["report:received"])
            made.names["webhook"] = str(hook.id)
        await _spills(made)
        await _of_the_city(made)
        await _of_accounts(made)
        await home.work()
        for who in _STAFF:  # that a token was used is noted once in ten minutes; the clock stands still
            for address in ("/staff/account", "/api/v1/subscriptions"):
                assert (await made.ask(who, "GET", address)).status_code == 200
        await made.keep()
        yield made


async def _spills(made: Everybody) -> None:
    """The spill that all is about, one with another discharger, one without a duty, one that is closed, one that is held."""
    home, names = made.home, made.names
    await subscribe(home, "sub@example.org")
    contact = {"name": "Alma Ruiz", "email": "alma@example.org"}
    for name in ("quiet", "closed", "one_open", "gone"):
        names[name] = await home.report(a_report(material="potable_water", volume=gallons(1)))
    names["held"] = await home.report(a_report(), staff=False, by_way_of="web", doubts=(TRAP,))
    names["elsewhere"] = await home.report(a_report(location=IN_ONTARIO))
    names["unassigned"] = await home.report(a_report(location=NOWHERE_NEAR), staff=False)
    for name in ("merged", "twin", "reference"):
        names[name] = await home.report(a_report(reached=["storm_drain"], contact=contact if name == "reference" else None))
    async with transaction(home.house, "officer@chino.example") as tx:
        await merging.merge(tx, await tx.spill(names["reference"]), await tx.spill(names["merged"]), "the same manhole")
    async with transaction(home.house, "manager@chino.example") as tx:
        for name, most in (("quiet", None), ("closed", None), ("gone", None), ("one_open", -1)):
            spill = await tx.spill(names[name])
            for row in (await closing.duties_in_the_way(tx, spill))[:most]:
                await obligations.waive(tx, row, spill, "it was clean water")
        [row] = await closing.duties_in_the_way(tx, spill)
        names["open_duty"] = str(row.id)
        for name in ("closed", "gone"):
            await closing.close(tx, await tx.spill(names[name]), {"en": "It was clean water."}, "officer")
    async with transaction(home.house, "administrator@chino.example") as tx:
        names["hold"] = str((await retention.place_hold(tx, await tx.spill(names["reference"]), "Vann v. City")).id)
        spill = await tx.spill(names["gone"])  # as if its years were over
        spill.destroyed_at = tx.now
        await tx.record(spill, RecordDestroyed(counts={"sealed": 9}, law=[], allowed_from="2026-11-30T08:00:00Z", reason="schedule of May"))
    await home.name_discharger(names["reference"], "Golden Wok LLC", "owner@goldenwok.example")
    await home.name_discharger(names["elsewhere"], "Diner 24", "owner@diner.example")
    for who, purpose, name in (
        ("reporter", "status", "reference"), ("discharger", "respond", "reference"), ("another", "respond", "elsewhere"),
    ):  # fmt: skip
        made.shows[who] = link_token(home.house, purpose, await home.spill(names[name]))
    for name, duty in (("clock_id", CALL), ("call", CALL), ("written", WRITTEN)):
        names[name] = str((await home.clock_of(names["reference"], duty)).id)
    names["duty_id"] = names["clock"] = names["written"]
    names["paper_id"], names["report_id"] = "call-cal-oes", f"report-{names['written']}"
    await home.work()
    await _files(made)
    made.links |= {"/status/": made.shows["reporter"], "/respond/": made.shows["discharger"]}


async def _files(made: Everybody) -> None:
    """A photo, a filed report with a paper, a link of a person, a reply that nobody understood, and what the public was told."""
    home, names = made.home, made.names
    of_version_one: dict[str, Any] = {"obligation_id": int(names["written"]), "version": 1}
    for name, purpose, more in (("photo", PHOTO, {}), ("paper", ATTACHMENT, of_version_one)):
        belonging = Belonging(names["reference"], purpose, "test", "test", **more)
        [row], _ = await kept_files.take_in_files(home.house, [Upload("curb.jpg", io.BytesIO(photo()))], belonging)
        names[name] = str(row.id)
    async with transaction(home.house, "Dana Cruz") as tx:
        spill, owed = await tx.spill(names["reference"]), await home.clock_of(names["reference"], WRITTEN)
        texts = {item: "as it was" for item in followups.items_of(owed)}
        await followups.file_report(tx, spill, owed, texts, followups.Filing("Dana Cruz", "owner", "", incomplete=False))
    async with transaction(home.house, "officer@chino.example") as tx:
        spill = await tx.spill(names["reference"])
        names["person_link"] = str((await invitations.issue(tx, spill, "Dana Cruz", "dana@goldenwok.example", "")).id)
        gone = await invitations.issue(tx, spill, "Sam Lee", "sam@goldenwok.example", "")
        made.links["/respond/{token} [taken back]"] = respond_url(home.house, spill, gone).rpartition("/")[2]
        await invitations.end(tx, spill, gone)
        said: dict[str, Any] = {"channel": "sms", "sender": "+19095550102", "meaning": "unknown", "text": "we are on our way"}
        tx.session.add(Reply(once="1", received_at=tx.now, spill_id=spill.id, **said))
        await suppress(tx, "email", "duty@chino.example", "bounced", "5.1.1: no such user")
    names["suppression"] = names["reply"] = "1"
    names["advisory"] = str((await tell(home, names["reference"])).id)
    await home.work()
    alert = next(row for row in await home.messages(channel="email") if row.obligation_id and not row.carried_by)
    news = next(row for row in await home.messages(step="advisory"))
    names["message"] = alert.id
    made.links["/act/"] = act_url(home.house, alert.id).rpartition("/")[2]
    made.links["/unsubscribe/"] = unsubscribe_url(home.house, news).rpartition("/")[2]
    home.clock.jump(minutes=2)
    await request(home, "new@example.org")
    await home.work()
    made.links["/alerts/yes/"] = token_in(questions(home, "new@example.org")[-1])


async def _of_the_city(made: Everybody) -> None:
    """A rota with a change by hand, a text of the city, a day in its calendar."""
    async with transaction(made.home.house, "manager@chino.example") as tx:
        contact = await parties.add_contact(tx, "chino", "duty_officer", "Kim", "kim@chino.example", "")
        await contacts.change(tx, "chino", contact.id or 0, {"language": "es"})
        [(changed, _)] = await staff_log.actions(tx, cities=["chino"], accounts=(), kind="contact:changed")
        rota = await rotas.add_rota(tx, rotas.NewRota("chino", "duty_officer", "Sewer desk", [contact.id or 0]))
        shift = await rotas.add_shift(tx, rota.id or 0, contact.id or 0, tx.now, tx.now + timedelta(hours=8), "swap")
        over = await rotas.add_rota(tx, rotas.NewRota("chino", "duty_officer", "Old desk", [contact.id or 0]))
        await rotas.end_rota(tx, over.id or 0)
        made.names["ended_rota"] = str(over.id)
        made.names |= {"contact": str(contact.id), "rota": str(rota.id), "shift": str(shift.id), "contact_change": str(changed.id)}
        off = await switches.switch_off(tx, "chino", "chino/written-report-7-days", "by letter of the board")
        made.names |= {"switched_off": str(off.id), **_OF_THE_CITY}
        await replanning.add_day(tx, "chino", date.fromisoformat(_OF_THE_CITY["day"]), "Furlough", "Resolution 2026-14")
        await city_texts.save_text(tx, "chino", city_texts.Slot("triage", "email", "en"), "Report {reference}", TEXT, tx.actor)


async def _of_accounts(made: Everybody) -> None:
    """An account for each member of staff with what is their own, one to be managed, one that is half in, and links that were mailed."""
    home = made.home
    await with_second_step(home, ANN)
    home.clock.jump(minutes=2)  # each code counts once
    for who, (role, city) in _STAFF.items():
        async with transaction(home.house, "test") as tx:
            account = await access.add_account(tx, f"{who}@{city}.example", role, city)
            made.sessions[who] = await access.issue(tx, account, "session", access.SESSION_LASTS)
            made.shows[who] = await access.issue(tx, account, "api")
            staff = await access.staff_of(tx, made.sessions[who], "session")
            row, view = await subscriptions.add(tx, staff, {}), await saved_views.keep(tx, staff, "Mine", "officer=me", None)
            await access.issue(tx, account, "session", access.SESSION_LASTS)
            _, key = await api_keys.make(tx, staff, "Flow meter", ["report"], city, 90)
            other = (await accounts.sessions_of(tx, account))[0]
            await second_factor.begin(tx, account)
            mine = Passkey(account_id=account.id or 0, key_id=text_of(who.encode()), public_key="", handle="", name="phone", made_at=tx.now)
            tx.session.add(mine)
            await tx.session.flush()
            made.own[who] = {"subscription": str(row.id), "session": str(other.id), "key": str(key.id), "account": str(account.id)}
            made.own[who]["passkey"] = str(mine.id)
            made.own[who]["view"] = str(view.id)
            made.links["/calendar/"] = await due_calendars.make(tx, staff, None, "", mine=False)
            made.own[who]["due_times"] = str((await due_calendars.of_account(tx, account))[0].id)
        made.own[who]["code"] = code_of(home, await the(home, account.email))
    made.names["elsewheres"] = made.own["elsewhere"]["account"]
    phone = Authenticator()
    await make_passkey(home, await signed_in(home), phone)
    made.names["lees_passkey"] = str(len(_STAFF) + 2)
    begun, asked = await passkeys.begin_to_sign_in(home.house)
    made.names |= {"begun": begun.secret, "anns_answer": phone.use(asked)}
    made.names |= {"half": await half(home), "anns_code": code_of(home, await the(home, ANN)), "good": GOOD, "ann": ANN}
    async with transaction(home.house, "test") as tx:
        ruth = Staff("administrator@chino.example", "administrator", "chino")
        lee, invitation = await accounts.invite(tx, ruth, "lee@chino.example", "Lee Park", {"chino": "officer"})
        staff = Staff(lee.email, "officer", "chino")
        _, key = await api_keys.make(tx, staff, "Pump 4", ["report"], "chino", 90)
        made.names |= {"lee": str(lee.id), "lees_key": str(key.id), "lees_subscription": str((await subscriptions.add(tx, staff, {})).id)}
        tx.session.add(Passkey(account_id=lee.id or 0, key_id="bGVl", public_key="", handle="", name="phone", made_at=tx.now))
        await due_calendars.make(tx, staff, None, "", mine=True)
        made.names["lees_due_times"] = str((await due_calendars.of_account(tx, lee))[0].id)
        made.names["lees_view"] = str((await saved_views.keep(tx, staff, "Paint", "material=paint", "chino")).id)
        made.links["/staff/password/"] = invitation
        made.links["/staff/enter/"] = await access.issue(tx, lee, "link", access.LINK_LASTS)
