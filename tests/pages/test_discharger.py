"""The discharger's page, without JavaScript: clocks, calls, acts, and written reports."""

from __future__ import annotations

from typing import Any

import pytest

from service.events import ActRecorded, FollowUpFiled, ObligationMet
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


async def report_form(site: Site, link: str, title: str = FIVE_DAYS) -> Page:
    """The page of the written report of a duty."""
    visitor = site.visitor()
    card = (await visitor.get(link)).card(title)
    [address] = {anchor["href"] for anchor in card.all("a") if anchor["href"].endswith("/report")}
    return await visitor.get(address)


def filled_in(page: Page, **items: str) -> dict[str, Any]:
    """Every item of a report form, filled in."""
    names = [area["name"] for area in page.root.all("textarea") if area["name"].startswith("item.")]
    return {**{name.replace(".", "__"): f"text of {name}" for name in names}, "by": "Dana Cruz, crew lead", **items}


async def test_each_duty_says_until_when_to_whom_how_and_why(site: Site) -> None:
    _, _, page = await opened(site)
    call = page.card(CAL_OES)
    for words in ("To do", "Immediately", "known just now", "Cal OES State Warning Center", "by telephone", "Water Code 13271(a)(1)"):
        assert words in call.text
    assert [anchor["href"] for anchor in call.all("a") if anchor["href"].startswith("tel:")] == ["tel:+18008527550", "tel:+19168458911"]
    board = page.card(TWO_HOURS)
    for words in ("Tue Dec 1, 4:05 PM PST", "2 hours left", "Plus 2 hours of elapsed time", "by telephone or by e-mail"):
        assert words in board.text
    assert "The law gives no telephone number" in board.text
    assert "Presumed. It counts until this is settled: Threat to people or the environment: yes or no?" in page.card(FIVE_DAYS).text
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


async def test_a_report_asks_exactly_what_the_law_lists(site: Site) -> None:
    _, link, _ = await opened(site)
    page = await report_form(site, link)
    assert [label.text for label in page.root.all("label")] == [
        "type of the material or waste", "volume of the material or waste", "cause of the discharge", "all corrective actions taken",
        "measures that will prevent it from happening again", "Your name and title",
    ]  # fmt: skip


async def test_a_draft_is_kept_and_files_nothing(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await report_form(site, link)
    action = page.response.url.path
    page = await site.visitor().send(page, action, "draft", item__cause="roots in the lateral")
    assert "The draft is kept. It is not filed yet." in page.text
    assert page.one("item-cause").text == "roots in the lateral"
    assert "Go on with the report" in (await site.visitor().get(link)).card(FIVE_DAYS).text
    assert await site.home.events(reference, FollowUpFiled) == []


async def test_a_complete_report_meets_the_duty_and_is_stamped_on_time(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await report_form(site, link)
    site.home.clock.jump(days=1)
    page = await site.visitor().send(page, page.response.url.path, "file", **filled_in(page))
    assert "Filed Dec 2, 2026, 2:05 PM PST, on time" in page.text
    assert "The duty is done." in page.text
    assert "Version 1, filed by Dana Cruz, crew lead." in page.text
    row = await site.home.clock_of(reference, "chino/rwqcb-written-5-days")
    assert row.state == "met"
    [stamp] = await site.home.events(reference, FollowUpFiled)
    assert stamp.missing == []
    assert "Done on time" in (await site.visitor().get(link)).card(FIVE_DAYS).text


async def test_a_report_with_a_gap_is_filed_but_names_what_is_missing(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await report_form(site, link)
    action = page.response.url.path
    page = await site.visitor().send(page, action, "file", **filled_in(page, item__cause="  "))
    assert "the duty is still open, because this is missing: cause of the discharge" in page.text
    assert await site.home.events(reference, ObligationMet, "chino/rwqcb-written-5-days") == []
    page = await site.visitor().send(page, action, "file", item__cause="roots")
    assert "The duty is done." in page.text
    assert "Version 2:" in page.text
    assert "Version 1:" in page.text


async def test_a_late_report_is_taken_and_stamped_by_how_much(site: Site) -> None:
    _, link, _ = await opened(site)
    site.home.clock.jump(days=6)
    page = await report_form(site, link)
    page = await site.visitor().send(page, page.response.url.path, "file", **filled_in(page))
    assert "late by 14 hours 5 minutes" in page.text
    assert "Done late" in (await site.visitor().get(link)).card(FIVE_DAYS).text


async def test_filing_without_a_name_comes_back_with_everything_typed(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await report_form(site, link)
    page = await site.visitor().send(page, page.response.url.path, "file", **filled_in(page, by=" "))
    assert page.status == 422
    assert "Write the name and title" in page.text
    assert page.one("item-cause").text == "text of item.cause"
    assert await site.home.events(reference, FollowUpFiled) == []


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
        "Quedan 2 horas",
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
    form_page = await visitor.get(f"{link}/duties/{(await site.home.clock_of(reference, 'chino/rwqcb-written-5-days')).id}/report")
    assert "causa de la descarga" in form_page.text
