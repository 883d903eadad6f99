"""The log of what staff do beside spills: whatever changes how the service works is in it, with its actor, and who may read it where."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from service import access, accounts, api_keys, city_texts, parties, replanning, rotas, staff_log, subscriptions, suppressions
from service.access import Staff
from service.errors import NotAllowed
from service.tables import Reply
from service.transaction import Transaction, reading, transaction
from tests.houses import Household
from tests.service.people import ANN, ROOT, an_account
from tests.spills import a_report

MAX = Staff("max@chino.example", "manager", "chino")


async def seen_by(home: Household, staff: Staff, **asked: Any) -> list[tuple[str, str, str | None]]:
    """What somebody reads in the log, the oldest first: what was done, by whom, in which city."""
    async with reading(home.house) as tx:
        return [(one.kind, one.actor, one.city) for one, _ in reversed(await accounts.done(tx, staff, **asked))]


async def _everything_but_accounts(tx: Transaction) -> None:
    """Change the calendar, the people, the rotas and the texts of Chino once each way."""
    day = date(2026, 12, 4)
    await replanning.add_day(tx, "chino", day, "Furlough", "Resolution 2026-14")
    await replanning.remove_day(tx, "chino", day, "it was taken back")
    kim = await parties.add_contact(tx, "chino", "duty_officer", "Kim", "kim@chino.example", "")
    await parties.set_quiet(tx, kim.id or 0, "22:00-06:00")
    rota = await rotas.add_rota(tx, rotas.NewRota("chino", "duty_officer", "Sewer desk", [kim.id or 0]))
    shift = await rotas.add_shift(tx, rota.id or 0, kim.id or 0, tx.now, tx.now + timedelta(hours=8), "swap")
    await rotas.remove_shift(tx, rota.id or 0, shift.id or 0)
    await rotas.end_rota(tx, rota.id or 0)
    slot = city_texts.Slot("triage", "email", "en")
    await city_texts.save_text(tx, "chino", slot, "Report {reference}", "Look at {reference}: {link} {reason}", MAX.email)
    await city_texts.withdraw_text(tx, "chino", slot)
    await parties.remove_contact(tx, kim.id or 0)


async def test_whatever_changes_how_the_service_works_is_noted_with_its_actor(home: Household) -> None:
    async with transaction(home.house, MAX.email) as tx:
        await _everything_but_accounts(tx)
    assert await seen_by(home, ROOT, who=MAX.email) == [
        (kind, MAX.email, "chino")
        for kind in (
            "calendar:added", "calendar:removed", "contact:added", "contact:quiet", "rota:added", "shift:added", "shift:removed",
            "rota:ended", "text:saved", "text:withdrawn", "contact:removed",
        )
    ]  # fmt: skip


async def test_a_lifted_address_and_a_settled_reply_are_noted_without_the_address(small: Household) -> None:
    reference = await small.report(a_report())
    async with transaction(small.house, MAX.email) as tx:
        await suppressions.suppress(tx, "email", "duty@chino.example", "bounced", "5.1.1: no such user")
        about = {"channel": "sms", "sender": "+19095550102", "meaning": "unknown", "spill_id": (await tx.spill(reference)).id}
        tx.session.add(Reply(once="1", text="we are on our way", received_at=tx.now, **about))
    officer = small.client(await small.token("officer"))
    assert (await officer.post("/api/v1/replies/1/settle")).status_code == 200
    async with transaction(small.house, MAX.email) as tx:
        await suppressions.lift(tx, MAX, 1, "they have a new mailbox")
    told = await seen_by(small, ROOT)
    assert ("address:lifted", MAX.email, "chino") in told
    assert [(kind, city) for kind, _, city in told if kind == "reply:settled"] == [("reply:settled", "chino")]
    async with reading(small.house) as tx:
        assert not [one for one, _ in await accounts.done(tx, ROOT) if "duty@" in str(one.said) or "+1909" in str(one.said)]


async def test_subscriptions_are_noted_about_their_account(small: Household) -> None:
    await an_account(small)
    async with transaction(small.house, ANN) as tx:
        row = await subscriptions.add(tx, Staff(ANN, "officer", "chino"), {"stages": ["overdue"]})
        await subscriptions.change(tx, Staff(ANN, "officer", "chino"), row.id or 0, {"paused": True})
        await subscriptions.end(tx, Staff(ANN, "officer", "chino"), row.id or 0)
    kinds = [kind for kind, actor, _ in await seen_by(small, ROOT, who=ANN) if actor == ANN]
    assert kinds == ["subscription:added", "subscription:changed", "subscription:ended"]


async def test_an_administrator_of_a_city_reads_of_it_and_of_the_people_who_are_theirs(home: Household) -> None:
    await an_account(home, "ann@chino.example", "officer", "chino")
    await an_account(home, "oli@ontario.example", "officer", "ontario")
    async with transaction(home.house, "bo@ontario.example") as tx:
        await replanning.add_day(tx, "ontario", date(2026, 12, 4), "Furlough", "Resolution 9")
    async with transaction(home.house, "oli@ontario.example") as tx:
        await api_keys.make(tx, Staff("oli@ontario.example", "officer", "ontario"), "sensor", ["read"], None, None)
    chief = Staff("chief@chino.example", "administrator", "chino")
    async with reading(home.house) as tx:
        theirs = [(one.kind, about.email if about else "") for one, about in await accounts.done(tx, chief)]
    assert ("account:added", "ann@chino.example") in theirs
    assert {email for _, email in theirs} <= {"ann@chino.example", ""}
    assert {city for _, _, city in await seen_by(home, chief)} <= {"chino", None}
    assert ("calendar:added", "bo@ontario.example", "ontario") in await seen_by(home, ROOT)


@pytest.mark.parametrize("role", ["viewer", "officer", "manager"])
async def test_nobody_below_an_administrator_reads_the_log(small: Household, role: str) -> None:
    with pytest.raises(NotAllowed, match="administrator"):
        await seen_by(small, Staff("x@chino.example", role, None))


async def test_the_log_is_read_a_page_at_a_time(small: Household) -> None:
    async with transaction(small.house, "test") as tx:
        for number in range(7):
            await access.add_account(tx, f"p{number}@chino.example", "viewer", "chino")
    async with reading(small.house) as tx:
        first = await accounts.done(tx, ROOT, "test", most=4)
        rest = await accounts.done(tx, ROOT, "test", first[-1][0].id or 0, most=4)
    assert [about.email for _, about in [*first, *rest] if about] == [f"p{number}@chino.example" for number in range(6, -1, -1)]


async def test_a_kind_that_has_no_words_cannot_be_noted(small: Household) -> None:
    with pytest.raises(KeyError):
        async with transaction(small.house, "test") as tx:
            await staff_log.note(tx, "something:else")
