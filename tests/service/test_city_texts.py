"""A city's own texts of messages: checked before they are kept, used for what is promised from then on, withdrawn without being lost."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from notifiers import segments
from service.city_texts import Slot, own_texts, save_text
from service.errors import BadInput, NotKnown
from service.tables import Contact, MessageTemplate
from service.transaction import reading, transaction
from tests.houses import Household
from tests.service.small_law import TWO_HOURS
from tests.spills import NOWHERE_NEAR, a_report

SMS = "/api/v1/cities/chino/templates/alert/sms/en"
OURS = "{changed}{reference} due {due} ({standing}): {title}. To: {recipient}. {happened}. {reply} {link}"
MINE = "CHINO {reference}: {title} by {due}. {link}"


async def keep(home: Household, text: str = MINE, kind: str = "alert", channel: str = "sms", subject: str = "") -> MessageTemplate:
    async with transaction(home.house, "manager@chino.example") as tx:
        return await save_text(tx, "chino", Slot(kind, channel, "en"), subject, text, "manager@chino.example")


async def test_what_is_promised_from_now_on_uses_the_citys_own_text(small: Household) -> None:
    reference = await small.report(a_report())
    await small.work()
    await keep(small)
    await small.live(minutes=15)
    [short] = [line for line in small.told(TWO_HOURS, "start+15m") if line["channel"] == "sms"]
    link = f"https://spills.example.gov/staff/spills/{reference}"
    assert short["text"].startswith(f"CHINO {reference}: Call the board within two hours by Tue Dec 1, 4:05 PM PST. {link}")
    assert all("CHINO" not in line["text"] for line in small.told(TWO_HOURS, "start"))


async def test_a_text_that_lost_its_link_since_is_passed_over_and_the_message_says_so(small: Household) -> None:
    async with transaction(small.house, "an older release") as tx:
        given = {"city": "chino", "kind": "alert", "channel": "sms", "language": "en", "version": 1, "saved_by": "x", "saved_at": tx.now}
        tx.session.add(MessageTemplate(**given, text="{reference} {due}"))
    await small.report(a_report())
    await small.work()
    [row] = [row for row in await small.messages(TWO_HOURS, channel="sms") if row.role == "duty_officer"]
    assert row.text.startswith("SP-2026-00001 due Tue Dec 1, 4:05 PM PST")
    assert row.reason.endswith("the city's own text (alert, sms, en, version 1) was not used: it lost {link}")


async def test_people_are_told_in_their_language_and_mail_has_its_page(small: Household) -> None:
    await small.people(
        Contact(city="chino", role="duty_officer", name="Olga", email="olga@chino.example", phone="+19095550102", language="es"),
        Contact(city="chino", role="duty_officer", name="Omar", email="omar@chino.example"),
    )
    reference = await small.report(a_report(language="es"))
    await small.name_discharger(reference, "Lechería", email="office@dairy.example")
    await small.live(hours=1, minutes=50)
    rows = await small.messages(TWO_HOURS)
    by_address = {(row.address, row.language): row for row in rows}
    assert {("olga@chino.example", "es"), ("omar@chino.example", "en"), ("office@dairy.example", "es")} <= set(by_address)
    spanish = by_address["olga@chino.example", "es"]
    assert spanish.text.startswith("Deber: Call the board within two hours.")
    assert '<html lang="es">' in spanish.html
    short = by_address["+19095550102", "es"]
    assert "vence mar 1 dic" in short.text
    assert short.html == ""
    assert segments(short.text)[0] == "GSM-7"


async def test_a_report_without_a_city_is_told_in_the_language_of_each_officer(small: Household) -> None:
    await small.people(Contact(city="chino", role="duty_officer", name="Olga", email="olga@chino.example", language="es"))
    await small.report(a_report(location=NOWHERE_NEAR))
    await small.work()
    [letter] = small.told(None)
    assert "necesita a una persona: su lugar no está en ninguna ciudad atendida aquí" in letter["subject"]


async def test_each_change_is_a_version_and_the_newest_counts(small: Household) -> None:
    assert (await keep(small)).version == 1
    assert (await keep(small, MINE + " Thanks")).version == 2
    async with reading(small.house) as tx:
        assert (await own_texts(tx, "chino"))["alert", "sms", "en"].text == MINE + " Thanks"
        assert await own_texts(tx, "ontario") == {}
        assert len((await tx.session.execute(select(MessageTemplate))).all()) == 2


async def test_a_wrong_text_is_not_kept(small: Household) -> None:
    with pytest.raises(BadInput) as caught:
        await keep(small, "{title} {nonsense}", "alert", "email", "{")
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["text", "text", "text", "text", "subject"]
    async with reading(small.house) as tx:
        assert await own_texts(tx, "chino") == {}


@pytest.mark.parametrize("slot", [("gossip", "sms", "en"), ("alert", "pigeon", "en"), ("alert", "sms", "fr")])
def test_there_are_no_other_kinds_channels_or_languages(slot: tuple[str, str, str]) -> None:
    with pytest.raises(NotKnown, match="right would be"):
        Slot(*slot)


async def test_programs_read_keep_and_withdraw_a_text(small: Household) -> None:
    manager = small.client(await small.token("manager", "chino"))
    before = (await manager.get(SMS)).json()
    assert (before["version"], before["text"]) == (None, OURS)
    assert {one["name"] for one in before["variables"] if one["must"]} == {"reference", "due", "link"}
    assert [(one["encoding"], one["segments"]) for one in before["previews"]] == [("GSM-7", 2)] * 2
    kept = await manager.put(SMS, json={"text": MINE})
    assert kept.status_code == 200
    assert (kept.json()["version"], kept.json()["text"], kept.json()["versions"][0]["saved_by"]) == (1, MINE, "manager@chino.example")
    gone = (await manager.delete(SMS)).json()
    assert (gone["version"], gone["text"], gone["versions"][0]["version"]) == (None, OURS, 1)
    assert gone["versions"][0]["withdrawn_at"] is not None
    assert (await manager.delete(SMS)).status_code == 404
    assert (await manager.put(SMS, json={"text": MINE})).json()["version"] == 2


async def test_programs_are_told_each_fault_at_its_field(small: Household) -> None:
    manager = small.client(await small.token("manager", "chino"))
    answer = await manager.put(SMS, json={"text": "{title} {x}", "subject": "no"})
    assert answer.status_code == 422
    faults = answer.json()["errors"]
    assert any(fault.startswith("text: {x} is unknown") for fault in faults)
    assert any(fault.startswith("text: {link} is missing") for fault in faults)
    assert any(fault.startswith("subject: ") for fault in faults)


@pytest.mark.parametrize(
    ("role", "city", "method", "status"),
    [
        ("officer", "chino", "GET", 200), ("officer", "chino", "PUT", 403), ("officer", "chino", "DELETE", 403),
        ("manager", "ontario", "PUT", 403), ("viewer", "ontario", "GET", 403), (None, None, "GET", 401), ("manager", None, "PUT", 200),
    ],
)  # fmt: skip
async def test_only_managers_of_the_city_change_its_texts(home: Household, role: str, city: str, method: str, status: int) -> None:
    caller = home.client(await home.token(role, city) if role else None)
    answer = await caller.request(method, SMS, json={"text": MINE} if method == "PUT" else None)
    assert answer.status_code == status


@pytest.mark.parametrize("path", ["chino/templates/gossip/sms/en", "nowhere/templates/alert/sms/en", "chino/templates/alert/sms/fr"])
async def test_what_there_is_not_is_not_found(small: Household, path: str) -> None:
    manager = small.client(await small.token("manager"))
    assert (await manager.get(f"/api/v1/cities/{path}")).status_code == 404
    assert (await manager.put(f"/api/v1/cities/{path}", json={"text": MINE})).status_code == 404
