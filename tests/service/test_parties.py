"""Who fills a role: contacts that can be reached, the named discharger, and whom to turn to when nobody does."""

import pytest

from service.errors import BadInput, NotKnown
from service.parties import add_contact, contacts, last_resort, people_for_triage, people_of, remove_contact
from service.transaction import reading, transaction
from tests.houses import Household
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
