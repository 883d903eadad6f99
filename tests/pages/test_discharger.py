"""The discharger's page, without JavaScript: clocks, call sheets, calls and acts. Its written reports: test_discharger_reports.py."""

from __future__ import annotations

from typing import Any

import pytest

from service.events import ActRecorded, MessageArrived
from service.transaction import transaction
from tests.pages.conftest import Site
from tests.pages.markup import Page, sent_by
from tests.spills import IN_ONTARIO, a_report

CAL_OES = "Call Cal OES about the sewage now"
TWO_HOURS = "Tell the regional water board within two hours"
FIVE_DAYS = "Send the regional water board the written spill report within five days"


async def opened(site: Site, **facts: Any) -> tuple[str, str, Page]:
    """A spill: its reference, the address of the discharger's page, and that page."""
    reference = await site.home.report(a_report(**facts))
    link = await site.link("respond", reference)
    return reference, link, await site.visitor().get(link)


async def test_each_duty_says_until_when_to_whom_how_and_why(site: Site) -> None:
    _, _, page = await opened(site)
    call = page.card(CAL_OES)
    for words in ("To do", "Immediately", "known just now", "Cal OES State Warning Center", "by telephone", "Water Code 13271(a)(1)"):
        assert words in call.text
    assert [anchor["href"] for anchor in call.all("a") if anchor["href"].startswith("tel:")] == ["tel:+18008527550", "tel:+19168458911"]
    board = page.card(TWO_HOURS)
    for words in (
        "Tue Dec 1, 4:05 PM PST",
        "2 hours left",
        "The time limit is 2 hours. Nights, weekends and holidays count.",
        "by telephone or by e-mail",
    ):
        assert words in board.text
    assert "The law gives no telephone number" in board.text
    assert "Presumed. It counts until this is answered: Is it a threat to human health or the environment?" in page.card(FIVE_DAYS).text
    assert "The law may allow until Mon Dec 7, 11:59:59 PM PST" in page.card(FIVE_DAYS).text
    assert "Not verified." in page.card("Call the county health officer").text
    assert "10 duties are open." in page.text


async def test_a_logged_call_meets_its_clock_in_the_dischargers_name(site: Site) -> None:
    reference, link, page = await opened(site)
    [form] = page.card(CAL_OES).all("form")
    site.home.clock.jump(minutes=9)
    page = await site.visitor().send(
        page, form, at="2026-12-01T14:12", spoke_to="Warning Center", control_number="26-1234", note="asked to call back"
    )
    assert "Recorded. Thank you." in page.text
    assert "Done on time, Tue Dec 1, 2:12 PM PST" in page.card(CAL_OES).text
    [(row, act)] = [(row, event) for row, event in await site.home.history(reference) if isinstance(event, ActRecorded)]
    assert row.actor == f"discharger of {reference}"
    assert act.act == {"type": "notice_given", "recipient": "cal-oes", "method": "telephone", "at": "2026-12-01T22:12:00Z"}
    assert act.note == "spoke to Warning Center; control number 26-1234; asked to call back"
    assert page.response.url.path == link


async def test_an_empty_time_means_just_now(site: Site) -> None:
    reference, _, page = await opened(site)
    site.home.clock.jump(minutes=20)
    [form] = page.card(CAL_OES).all("form")
    page = await site.visitor().send(page, form)
    assert "Done Tue Dec 1, 2:25 PM PST, late by 5 minutes" in page.card(CAL_OES).text
    assert (await site.home.clock_of(reference, "california/cal-oes-sewage")).state == "met_late"


async def test_a_duty_with_two_ways_asks_which_it_was(site: Site) -> None:
    reference, _, page = await opened(site)
    [form] = page.card(TWO_HOURS).all("form")
    assert [option["value"] for option in form.all("option")] == ["telephone", "email"]
    await site.visitor().send(page, form, way="email")
    [act] = await site.home.events(reference, ActRecorded)
    assert act.act["method"] == "email"


@pytest.mark.parametrize(
    ("at", "words"),
    [("2026-12-02T09:00", "lies in the future"), ("9 o'clock", "could not be read"), ("2026-13-45T99:99", "could not be read")]
)  # fmt: skip
async def test_a_time_that_cannot_be_comes_back_with_what_was_typed(site: Site, at: str, words: str) -> None:
    reference, _, page = await opened(site)
    [form] = page.card(CAL_OES).all("form")
    page = await site.visitor().send(page, form, at=at, spoke_to="Maria")
    assert page.status == 422
    assert words in page.text
    [form] = page.card(CAL_OES).all("form")
    assert dict(sent_by(form))["spoke_to"] == "Maria"
    assert await site.home.events(reference, ActRecorded) == []


async def test_an_order_has_one_button_that_meets_its_clock(site: Site) -> None:
    reference, link, _ = await opened(site)
    await site.home.happened(reference, "order_served", order="stop_work_order")
    visitor = site.visitor()
    page = await visitor.get(link)
    card = page.card("Stop work now")
    assert "We have done what the order asks" in card.text
    [form] = card.all("form")
    page = await visitor.send(page, form)
    assert "Done on time" in page.card("Stop work now").text
    acts = [act.act for act in await site.home.events(reference, ActRecorded)]
    assert acts[-1] == {"type": "order_complied", "order": "stop_work_order", "at": "2026-12-01T22:05:00Z"}


async def test_duties_of_the_city_are_not_the_dischargers(site: Site) -> None:
    reference, link, _ = await opened(site)
    await site.home.happened(reference, "appeal_filed")
    [hearing] = [row for row in await site.home.clocks(reference) if row.duty == "chino/appeal-hearing-15-days"]
    visitor = site.visitor()
    page = await visitor.get(link)
    assert hearing.clock["title"] not in page.text
    assert (await visitor.post(f"{link}/duties/{hearing.id}", {"at": ""})).status == 404


async def test_the_duties_of_another_spill_are_out_of_reach(site: Site) -> None:
    _, link, _ = await opened(site)
    other = await site.home.report(a_report())
    row = (await site.home.clocks(other))[0]
    visitor = site.visitor()
    assert (await visitor.post(f"{link}/duties/{row.id}", {"at": ""})).status == 404
    assert (await visitor.get(f"{link}/duties/{row.id}/report")).status == 404
    assert (await visitor.post(f"{link}/duties/999999", {"at": ""})).status == 404
    assert await site.home.events(other, ActRecorded) == []


async def test_a_call_duty_has_no_report_page(site: Site) -> None:
    reference, link, _ = await opened(site)
    row = await site.home.clock_of(reference, "california/cal-oes-sewage")
    assert (await site.visitor().get(f"{link}/duties/{row.id}/report")).status == 404


async def test_waived_and_withdrawn_duties_are_no_longer_asked(site: Site) -> None:
    reference, link, _ = await opened(site)
    await site.home.waive(reference, "chino/fire-district-immediate", "the fire district was on site")
    await site.home.amend(reference, hazardous=False)
    page = await site.visitor().get(link)
    assert "3 duties are no longer owed" in page.text
    assert "the fire district was on site" in page.text
    assert "7 duties are open." in page.text


async def test_a_spill_without_a_city_says_that_duties_will_follow(site: Site) -> None:
    _, _, page = await opened(site, location={"address": "somewhere"})
    assert "A person is finding out which city's law applies." in page.text


async def test_another_citys_duties_show_on_the_same_page(site: Site) -> None:
    _, _, page = await opened(site, location={**IN_ONTARIO, "address": "Euclid Ave"})
    assert "Call the city's engineering department now" in page.text
    assert "City of Ontario, California" in page.text


async def test_the_page_speaks_spanish(site: Site) -> None:
    reference = await site.home.report(a_report())
    link = await site.link("respond", reference)
    visitor = site.visitor(accept_language="es")
    page = await visitor.get(link)
    for words in (
        "Lo que debe hacer por este derrame",
        "10 obligaciones están pendientes.",
        "Vence en 2 horas",
        "mar 1 dic, 4:05 p.m. PST",
        "Hice esta llamada",
    ):
        assert words in page.text
    card = page.card("Llame a Cal OES ahora por las aguas negras")
    [form] = card.all("form")
    page = await visitor.send(page, form, at="2030-01-01T00:00")
    assert "La hora está en el futuro." in page.text
    site.home.clock.jump(hours=3)
    assert "Vencido hace 1 hora" in (await visitor.get(link)).text


# -- call sheets


async def call_sheet(site: Site, link: str, title: str = CAL_OES, **headers: str) -> Page:
    """The call sheet of a duty, by the link on its card."""
    visitor = site.visitor(**headers)
    [address] = {anchor["href"] for anchor in (await visitor.get(link)).card(title).all("a") if anchor["href"].endswith("/call")}
    return await visitor.get(address)


async def test_a_call_sheet_says_whom_to_call_and_what_to_say(site: Site) -> None:
    reference, link, _ = await opened(site, reached=["storm_drain"], discharged_at="2026-12-01T13:30-08:00")
    await site.home.name_discharger(reference, "Golden Wok LLC", phone="+19095550144")
    page = await call_sheet(site, link)
    assert [anchor["href"] for anchor in page.root.all("a") if anchor["href"].startswith("tel:")] == [
        "tel:+18008527550",
        "tel:+19168458911",
    ]
    for words in (
        "I call for Golden Wok LLC. You can call me back at 909-555-0144.",
        "I report a spill: Sewage or toilet water.",
        "About 1,500 gallons.",
        "City of Chino, California",
        "It began Dec 1, 2026, 1:30 PM PST.",
        "It reached: A storm drain.",
        "Which creek, channel or other water?",
        "The Cal OES control number. Ask for it before you hang up",
        "Do not wait until you know everything.",
    ):
        assert words in page.text
    assert "Not on record. Say what you know" in page.text  # what is being done


async def test_a_call_sheet_claims_nothing_that_nobody_has_said(site: Site) -> None:
    reference, link, _ = await opened(site, seen_at="2026-12-01T13:00-08:00")
    page = await call_sheet(site, link)
    assert "It was first seen about Dec 1, 2026, 1:00 PM PST. When it began is not on record." in page.text
    for words in ("It began", "We have known", "We were told"):
        assert words not in page.text
    await site.home.name_discharger(reference, "Golden Wok LLC")
    site.home.clock.jump(minutes=7)
    async with transaction(site.home.house, "worker") as tx:
        arrived = {"message": "m", "obligation": None, "channel": "sms", "step": "start", "status": "delivered"}
        for person in ("Omar Reyes", "Golden Wok LLC"):  # what reaches the city's officer tells the firm nothing
            await tx.record(await tx.spill(reference), MessageArrived(person=person, **arrived))
    await site.home.amend(reference, discharged_at="2026-12-01T11:30-08:00")
    page = await call_sheet(site, link)
    assert "It began Dec 1, 2026, 11:30 AM PST. We were told Dec 1, 2026, 2:12 PM PST." in page.text
    assert "first seen" not in page.text


async def test_a_call_is_recorded_from_its_sheet_and_told_on_the_next(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await call_sheet(site, link)
    [form] = page.root.all("form")
    page = await site.visitor().send(page, form, spoke_to="Warning Center", control_number="26-1234")
    assert "Recorded. Thank you." in page.text
    [act] = await site.home.events(reference, ActRecorded)
    assert (act.act["recipient"], act.note) == ("cal-oes", "spoke to Warning Center; control number 26-1234")
    other = await call_sheet(site, link, "Call the county health officer")
    assert "Cal OES State Warning Center, control number 26-1234" in other.text


async def test_a_fault_on_a_call_sheet_comes_back_to_it(site: Site) -> None:
    _, link, _ = await opened(site)
    page = await call_sheet(site, link)
    [form] = page.root.all("form")
    page = await site.visitor().send(page, form, at="2027-01-01T00:00", spoke_to="Maria")
    assert page.status == 422
    assert "lies in the future" in page.text
    [form] = page.root.all("form")
    assert dict(sent_by(form))["spoke_to"] == "Maria"


async def test_a_spanish_call_sheet_carries_its_english(site: Site) -> None:
    _, link, _ = await opened(site)
    page = await call_sheet(site, link, "Llame a Cal OES ahora por las aguas negras", accept_language="es")
    assert "Reporto un derrame: Aguas negras" in page.text
    assert "I report a spill: Sewage or toilet water." in page.text


async def test_only_a_telephone_duty_has_a_call_sheet(site: Site) -> None:
    reference, link, _ = await opened(site)
    row = await site.home.clock_of(reference, "chino/rwqcb-written-5-days")
    assert (await site.visitor().get(f"{link}/duties/{row.id}/call")).status == 404


async def test_oil_on_water_asks_for_the_federal_report_number(site: Site) -> None:
    _, link, _ = await opened(site, material="petroleum", reached=["surface_water"], sheen=True)
    page = await call_sheet(site, link, "Call the National Response Center about the oil")
    for words in ("The report number of the National Response Center.", "how large is the sheen?", "800-424-8802"):
        assert words in page.text
