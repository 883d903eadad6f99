"""Who fills a role: contacts that can be reached, the named discharger, and whom to turn to when nobody does."""

from pathlib import Path
from typing import Any

import pytest

from service.errors import BadInput, NotKnown
from service.parties import add_contact, contacts, how_else, last_resort, people_for_triage, people_of, remove_contact
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.spills import IN_ONTARIO, a_report


async def add(home: Household, *said: str) -> int:
    async with transaction(home.house, "test") as tx:
        return (await add_contact(tx, *said)).id or 0


async def addresses(home: Household, reference: str, role: str) -> list[dict[str, str]]:
    async with reading(home.house) as tx:
        return [person.addresses for person in await people_of(tx, await tx.spill(reference), role)]


async def test_a_contact_fills_a_role_until_it_is_taken_out(small: Household) -> None:
    await small.people()
    reference = await small.report(a_report())
    number = await add(small, "chino", "duty_officer", " Omar Reyes ", "duty@chino.example", "(909) 555-0102")
    assert await addresses(small, reference, "duty_officer") == [{"email": "duty@chino.example", "sms": "+19095550102"}]
    assert await addresses(small, reference, "director") == []
    async with transaction(small.house, "test") as tx:
        assert [contact.name for contact in await contacts(tx)] == ["Omar Reyes"]
        await remove_contact(tx, number)
    assert await addresses(small, reference, "duty_officer") == []
    async with transaction(small.house, "test") as tx:
        with pytest.raises(NotKnown, match=f"there is no contact {number}"):
            await remove_contact(tx, number)


@pytest.mark.parametrize(
    ("said", "faulty"),
    [
        (("gotham", "boss", " ", "", ""), ["CITY", "ROLE", "NAME", "--email, --phone"]),
        (("chino", "director", "Grace", "grace at chino", "12"), ["--email", "--phone"]),
        (("chino", "director", "Grace", "", ""), ["--email, --phone"]),
    ],
)
async def test_a_contact_nothing_can_be_sent_to_is_refused_with_every_fault(
    small: Household, said: tuple[str, ...], faulty: list[str]
) -> None:
    with pytest.raises(BadInput) as error:
        await add(small, *said)
    assert [fault.partition(":")[0] for fault in error.value.faults] == faulty
    assert all("right would be" in fault or "looks like" in fault for fault in error.value.faults)


REACH = {"voice": True, "webhook": "https://hooks.chino.example/spills", "apprise": "ntfys://ntfy.chino.example/spills"}


async def test_a_contact_may_be_called_and_have_a_webhook_and_a_chat_room(small: Household) -> None:
    await small.people()
    reference = await small.report(a_report())
    async with transaction(small.house, "test") as tx:
        contact = await add_contact(tx, "chino", "duty_officer", "Omar", "", "(909) 555-0102", **REACH, language="es", quiet="22:00-06:00")
    assert (contact.language, contact.quiet_from, contact.quiet_to) == ("es", "22:00", "06:00")
    number, told = "+19095550102", {key: REACH[key] for key in ("webhook", "apprise")}
    assert await addresses(small, reference, "duty_officer") == [{"sms": number, "voice": number, **told}]
    assert how_else(contact) == ["calls", REACH["webhook"], "ntfys://...", "es", "quiet 22:00-06:00"]


async def test_a_phone_is_not_called_unless_its_owner_agreed(small: Household) -> None:
    await small.people()
    reference = await small.report(a_report())
    await add(small, "chino", "duty_officer", "Omar", "", "(909) 555-0102")
    assert await addresses(small, reference, "duty_officer") == [{"sms": "+19095550102"}]


@pytest.mark.parametrize(
    ("phone", "more", "faulty"),
    [
        ("", {"voice": True}, ["--voice", "--email, --phone"]),
        ("+525555350000", {}, ["--phone"]),  # Mexico
        ("+19005550100", {}, ["--phone"]),  # charges whoever calls it
        ("", {"webhook": "http://hooks.chino.example/"}, ["--webhook"]),
        ("", {"webhook": "https://192.168.1.7/"}, ["--webhook"]),
        ("", {"apprise": "json://chino.example/"}, ["--apprise"]),
        ("", {"apprise": "slack://too-few-parts"}, ["--apprise"]),
        ("+19095550102", {"language": "tlh"}, ["--language"]),
        ("+19095550102", {"quiet": "22-6"}, ["--quiet"]),
        ("+19095550102", {"quiet": "22:00-22:00"}, ["--quiet"]),
        ("+19095550102", {"quiet": "25:00-06:00"}, ["--quiet"]),
    ],
)
async def test_each_way_to_reach_a_contact_is_looked_at(small: Household, phone: str, more: dict[str, Any], faulty: list[str]) -> None:
    with pytest.raises(BadInput) as error:
        async with transaction(small.house, "test") as tx:
            await add_contact(tx, "chino", "director", "Grace", "", phone, **more)
    assert [fault.partition(": ")[0] for fault in error.value.faults] == faulty


async def test_numbers_of_other_countries_are_taken_where_the_operator_allows_them(tmp_path: Path) -> None:
    async with a_household(tmp_path, sms_countries="US,MX") as home:
        assert await add(home, "chino", "director", "Grace", "", "+525555350000")


async def test_what_a_report_says_of_its_discharger_chooses_no_web_address(small: Household) -> None:
    reference = await small.report(a_report())
    async with transaction(small.house, "test") as tx:
        spill = await tx.spill(reference)
        spill.discharger = {"name": "Mallory", "email": "m@dairy.example", "phone": "+19095550102", **REACH}
    assert await addresses(small, reference, "discharger") == [{"email": "m@dairy.example", "sms": "+19095550102"}]


async def test_the_named_discharger_stands_before_the_contacts_of_the_role(small: Household) -> None:
    reference = await small.report(a_report())
    assert [person["email"] for person in await addresses(small, reference, "discharger")] == ["sewer.crew@chino.example"]
    await small.name_discharger(reference, "Hillside Dairy", email="office@dairy.example")
    assert await addresses(small, reference, "discharger") == [{"email": "office@dairy.example"}]
    await small.name_discharger(reference, "Nobody Knows")
    assert await addresses(small, reference, "discharger") == [{}]


async def test_administrators_of_the_city_and_of_all_are_the_last_resort(home: Household) -> None:
    await home.people()
    await home.token("administrator", "chino", "root@chino.example")
    await home.token("administrator", "ontario", "root@ontario.example")
    await home.token("administrator", None, "root@every.example")
    await home.token("manager", "chino", "manager@chino.example")
    here, nowhere = await home.report(a_report()), await home.report(a_report(location=IN_ONTARIO))
    async with reading(home.house) as tx:
        for reference, expected in ((here, "root@chino.example"), (nowhere, "root@ontario.example")):
            spill = await tx.spill(reference)
            for people in (await last_resort(tx, spill), await people_for_triage(tx, spill)):
                assert {person.addresses["email"] for person in people} == {expected, "root@every.example"}
