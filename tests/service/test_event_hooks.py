"""Webhooks of a city: every event once, signed so that an independent library believes it, none lost over pauses, nothing of any person."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
from sqlalchemy import func, select
from sqlmodel import col
from starlette.responses import PlainTextResponse

from notifiers import EventHookChannel, Message, Outcome
from service import event_hooks, watch
from service.access import Staff
from service.clock import real_now
from service.door_tables import EventHook
from service.errors import BadInput, Conflict, NotAllowed, NotKnown
from service.outbox import PATIENCE
from service.tables import ChainRecord, EventRow, Spill
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.notifiers.local_server import LocalServer
from tests.service.channels import Post
from tests.service.people import an_account, browser_of
from tests.spills import IN_ONTARIO, a_report

RUTH = Staff("ruth@chino.example", "administrator", "chino")
ADDRESS = "https://hooks.chino.example/spills"


class Receiver(Post):
    """The channel of events; `gone` answers as a receiver that wants no more."""

    def __init__(self, *answers: Outcome) -> None:
        super().__init__("event_hook", *answers)

    def bodies(self) -> list[dict[str, Any]]:
        """What came, the first first."""
        return [json.loads(one.text) for one in self.got]


@pytest.fixture
def receiver(home: Household) -> Receiver:
    """A receiver behind the worker of the household."""
    home.channels["event_hook"] = receiver = Receiver()
    return receiver


async def added(home: Household, *kinds: str, address: str = ADDRESS, city: str = "chino") -> tuple[EventHook, str]:
    async with transaction(home.house, RUTH.email) as tx:
        return await event_hooks.add(tx, RUTH, city, "Work orders", address, kinds)


async def the(home: Household, hook: EventHook) -> EventHook:
    async with reading(home.house) as tx:
        return await event_hooks.one_of(tx, RUTH, hook.id or 0)


async def records(home: Household, since: int = 0) -> list[str]:
    """The ids of all records of spills of Chino after an event, as they are sent."""
    query = (
        select(ChainRecord)
        .join(EventRow, col(EventRow.id) == col(ChainRecord.event_id))
        .join(Spill, col(Spill.id) == col(EventRow.spill_id))
        .where(col(Spill.city) == "chino", col(ChainRecord.event_id) > since)
        .order_by(col(ChainRecord.event_id))
    )
    async with reading(home.house) as tx:
        rows = (await tx.session.execute(query)).scalars().all()
    return [f"evt_chino_{'' if row.chain == 'chino' else 'new_'}{row.number}" for row in rows]


async def newest(home: Household) -> int:
    async with reading(home.house) as tx:
        return await tx.session.scalar(select(func.max(col(EventRow.id)))) or 0


# -- what is sent


async def test_every_event_of_the_city_is_sent_once_in_its_order_and_none_from_before_or_of_another_city(
    home: Household, receiver: Receiver
) -> None:
    await home.report(a_report())
    before = await newest(home)
    await added(home)
    reference = await home.report(a_report())
    await home.report(a_report(location=IN_ONTARIO))
    await home.happened(reference, "cleanup_done")
    await home.work()
    assert [one.subject for one in receiver.got] == await records(home, before)
    assert {body["data"]["spill"] for body in receiver.bodies()} >= {reference}
    first = receiver.bodies()[0]
    assert (first["type"], first["timestamp"], first["data"]["city"]) == ("report:received", "2026-12-01T22:05:00Z", "chino")
    assert first["data"]["spill_url"] == f"https://spills.example.gov/api/v1/spills/{reference}"
    facts = next(body for body in receiver.bodies() if body["type"] == "facts:recorded")
    assert facts["data"]["payload"]["changes"]["material"] == [None, "sewage"]
    many = len(receiver.got)
    await home.work()
    assert len(receiver.got) == many


async def test_only_the_kinds_that_were_chosen_are_sent(home: Household, receiver: Receiver) -> None:
    await added(home, "report:received", "act:recorded")
    await home.happened(await home.report(a_report()), "cleanup_done")
    await home.work()
    assert [body["type"] for body in receiver.bodies()] == ["report:received", "act:recorded"]


async def test_an_independent_library_believes_the_signature_and_for_a_day_that_of_the_secret_before_too(tmp_path: Path) -> None:
    async with LocalServer() as server, a_household(tmp_path, webhook_private=True) as home:
        home.channels["event_hook"] = EventHookChannel(home.house.signing_key, timeout_seconds=5, allow_private=True)
        home.clock.at = real_now()
        hook, old = await added(home, address=f"http://127.0.0.1:{server.port}/spills")
        await home.report(a_report())
        await home.work()
        first = server.taken[0]
        assert standardwebhooks.Webhook(old).verify(first.body, first.headers)["type"] == "report:received"
        assert first.headers["webhook-id"] == "evt_chino_new_1"
        async with transaction(home.house, RUTH.email) as tx:
            new = await event_hooks.renew(tx, await event_hooks.one_of(tx, RUTH, hook.id or 0))
            await event_hooks.send_test(tx, await event_hooks.one_of(tx, RUTH, hook.id or 0))
        await home.work()
        test = server.taken[-1]
        for secret in (old, new):
            assert standardwebhooks.Webhook(secret).verify(test.body, test.headers)["type"] == "test"
        with pytest.raises(standardwebhooks.WebhookVerificationError):
            standardwebhooks.Webhook(new).verify(first.body, first.headers)
        server.answer = PlainTextResponse("no more", 410)
        async with transaction(home.house, RUTH.email) as tx:
            await event_hooks.send_test(tx, await event_hooks.one_of(tx, RUTH, hook.id or 0))
        await home.work()
        paused = await the(home, hook)
        assert paused.paused_why.startswith("HTTP 410")
        assert new not in paused.paused_why


async def test_a_private_address_is_refused_when_it_is_entered_and_when_a_name_leads_there(home: Household) -> None:
    for address in (
        "https://127.0.0.1/x",
        "https://10.0.0.8/x",
        "https://printer.local/x",
        "http://hooks.example.gov/x",
        "https://169.254.169.254/",
    ):
        with pytest.raises(BadInput):
            await added(home, address=address)

    async def inside(host: str, port: int) -> list[str]:
        return ["192.168.1.10"]

    home.channels["event_hook"] = EventHookChannel(home.house.signing_key, resolver=inside)
    hook, _ = await added(home)
    await home.report(a_report())
    await home.work()
    assert "private network" in (await the(home, hook)).paused_why


# -- when it fails


async def test_a_receiver_that_fails_is_tried_again_and_loses_nothing(home: Household, receiver: Receiver) -> None:
    receiver.answers = [Outcome.TRY_AGAIN, Outcome.UNKNOWN]
    await added(home, "report:received")
    await home.report(a_report())
    await home.live(minutes=2)
    assert [one.subject for one in receiver.got] == ["evt_chino_new_1"] * 3
    assert len({one.key for one in receiver.got}) == 1


async def test_after_a_day_of_failures_it_is_paused_administrators_are_told_and_resumed_it_gets_all_it_missed(
    home: Household, receiver: Receiver
) -> None:
    await an_account(home, RUTH.email, "administrator")
    hook, _ = await added(home, "report:received")
    receiver.then = Outcome.TRY_AGAIN
    await home.report(a_report())
    await home.live(hours=12)
    await home.report(a_report())
    await home.live(hours=PATIENCE.total_seconds() / 3600 - 11)
    paused = await the(home, hook)
    assert paused.paused_at is not None
    [letter] = [line for line in home.outbox() if line["to"] == RUTH.email and "paused" in line["subject"]]
    assert "https://spills.example.gov/staff/settings/webhooks/1" in letter["text"]
    tried = len(receiver.got)
    await home.report(a_report())
    await home.live(hours=2)
    assert len(receiver.got) == tried
    receiver.then = Outcome.ACCEPTED
    async with transaction(home.house, RUTH.email) as tx:
        await event_hooks.resume(tx, await event_hooks.one_of(tx, RUTH, hook.id or 0))
    await home.work()
    assert [body["data"]["spill"] for body in receiver.bodies()[tried:]] == ["SP-2026-00001", "SP-2026-00002", "SP-2026-00003"]


async def test_a_failing_receiver_sounds_no_alarm_of_ours(home: Household, receiver: Receiver) -> None:
    receiver.then = Outcome.TRY_AGAIN
    await added(home)
    await home.report(a_report())
    await home.live(minutes=30)
    assert watch.is_well(await watch.provider_checks(home.house))
    async with home.client() as http:
        assert (await http.get("/readyz")).json()["checks"] == {
            **(await http.get("/readyz")).json()["checks"], "alerts": "ok",
        }  # fmt: skip


# -- again, and the log


async def test_a_stretch_is_sent_again_under_the_same_ids_and_once(home: Household, receiver: Receiver) -> None:
    hook, _ = await added(home, "report:received")
    await home.report(a_report())
    home.clock.jump(hours=1)
    second, since = await home.report(a_report()), home.clock.at
    home.clock.jump(hours=1)
    await home.report(a_report())
    await home.work()
    ids = [one.subject for one in receiver.got]
    async with transaction(home.house, RUTH.email) as tx:
        mine = await event_hooks.one_of(tx, RUTH, hook.id or 0)
        assert await event_hooks.send_again(tx, mine, since, since + timedelta(minutes=1)) > 1
        with pytest.raises(Conflict):
            await event_hooks.send_again(tx, mine, since, since)
    await home.work()
    assert [(one.subject, json.loads(one.text)["data"]["spill"]) for one in receiver.got[len(ids) :]] == [(ids[1], second)]
    async with transaction(home.house, RUTH.email) as tx:
        with pytest.raises(BadInput):
            await event_hooks.send_again(
                tx, await event_hooks.one_of(tx, RUTH, hook.id or 0), since - timedelta(days=9), since - timedelta(days=8)
            )
    async with reading(home.house) as tx:
        log = await event_hooks.deliveries(tx, await event_hooks.one_of(tx, RUTH, hook.id or 0))
    assert [one.message.state for one in log] == ["accepted"] * 4
    assert all(one.tried and one.tried.detail == "said accepted" for one in log)


async def test_a_long_record_is_handed_on_in_batches_without_a_gap(
    home: Household, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_hooks, "_BATCH", 7)
    monkeypatch.setattr(event_hooks, "_MOST_WAITING", 20)
    await added(home)
    for _ in range(4):
        await home.report(a_report())
    for _ in range(10):
        await home.work()
    assert [one.subject for one in receiver.got] == await records(home)


# -- who may


async def test_only_administrators_of_the_city_keep_them_and_the_secret_is_told_once(home: Household, receiver: Receiver) -> None:
    token = await home.token("administrator", "chino")
    body = {"city": "chino", "name": "Work orders", "address": ADDRESS, "kinds": ["report:received"]}
    async with home.client(token) as http:
        made = (await http.post("/api/v1/webhooks", json=body)).json()
        assert made["secret"].startswith("whsec_")
        assert "secret" not in (await http.get(f"/api/v1/webhooks/{made['id']}")).json()
        assert made["secret"].removeprefix("whsec_").encode() not in (home.house.settings.home_dir / "spillclock.db").read_bytes()
        assert (await http.post("/api/v1/webhooks", json={**body, "city": "ontario"})).status_code == 403
        wrong = await http.post("/api/v1/webhooks", json={**body, "kinds": ["report:eaten"], "name": ""})
        assert [fault.partition(":")[0] for fault in wrong.json()["errors"]] == ["name", "kinds"]
        changed = await http.patch(f"/api/v1/webhooks/{made['id']}", json={"paused": True, "kinds": []})
        assert (changed.json()["kinds"], changed.json()["paused_why"]) == ([], "by administrator@chino.example")
        assert (await http.post(f"/api/v1/webhooks/{made['id']}/test")).status_code == 409
        assert (await http.patch(f"/api/v1/webhooks/{made['id']}", json={"paused": False})).json()["paused_at"] is None
        assert (await http.post(f"/api/v1/webhooks/{made['id']}/test")).status_code == 202
        assert (await http.post(f"/api/v1/webhooks/{made['id']}/again", json={"since": "x", "until": "y"})).status_code == 422
        await home.work()
        [delivery] = (await http.get(f"/api/v1/webhooks/{made['id']}/deliveries")).json()
        assert (delivery["state"], delivery["answer"], delivery["tries"]) == ("accepted", "said accepted", 1)
    for role, city in (("manager", "chino"), ("administrator", "ontario")):
        async with home.client(await home.token(role, city)) as http:
            assert (await http.get(f"/api/v1/webhooks/{made['id']}")).status_code == 404
            assert (await http.get("/api/v1/webhooks?city=chino")).status_code == 403
    async with home.client(token) as http:
        assert (await http.delete(f"/api/v1/webhooks/{made['id']}")).status_code == 204
        assert (await http.get("/api/v1/webhooks")).json() == []


async def test_the_page_adds_one_shows_its_deliveries_and_does_what_its_buttons_say(home: Household, receiver: Receiver) -> None:
    await an_account(home, RUTH.email, "administrator")
    site = await browser_of(home, RUTH.email)
    page = await site.post("/staff/settings/webhooks", data={"city": "chino", "name": "Work orders", "address": ADDRESS})
    secret = page.text.partition('id="secret">')[2].partition("<")[0]
    assert secret.startswith("whsec_")
    assert secret not in (await site.get("/staff/settings/webhooks/1")).text
    await home.report(a_report())
    await home.work()
    assert "said accepted" in (await site.get("/staff/settings/webhooks/1")).text
    again = {"do": "again", "since": "2026-12-01T14:00", "until": "2026-12-01T15:00"}
    for form, status in (
        ({"do": "pause"}, 303), ({"do": "test"}, 409), ({"do": "resume"}, 303), ({"do": "test"}, 303), (again, 303),
        ({"do": "renew"}, 200),
        ({"do": "again", "since": "", "until": ""}, 422), ({"do": "change", "name": "", "address": "ftp://x"}, 422),
        ({"do": "change", "name": "Other", "address": ADDRESS, "kinds": "report:received"}, 303),
        ({"do": "end"}, 303), ({"do": "end"}, 404),
    ):  # fmt: skip
        assert (await site.post("/staff/settings/webhooks/1", data=form)).status_code == status, form
    faulty = await site.post("/staff/settings/webhooks", data={"city": "chino", "name": "x", "address": "https://10.0.0.1/"})
    assert (faulty.status_code, "private network" in faulty.text) == (422, True)


async def test_nobody_else_reaches_one(home: Household) -> None:
    hook, _ = await added(home)
    async with reading(home.house) as tx:
        for staff in (Staff("m@chino.example", "manager", "chino"), Staff("a@ontario.example", "administrator", "ontario")):
            with pytest.raises(NotKnown):
                await event_hooks.one_of(tx, staff, hook.id or 0)
            with pytest.raises(NotAllowed):
                await event_hooks.of_city(tx, staff, "chino")


async def test_a_message_that_names_no_secret_is_not_sent() -> None:
    channel = EventHookChannel(b"key")
    with pytest.raises(ValueError, match="invalid literal"):
        await channel.send(Message("k", "event_hook", ADDRESS, "evt_1", "{}", None, None, "x.y", real_now()))
