"""The papers of a spill on the pages of staff: what each asks, what is missing and where it is put right, and their PDFs."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from service.account_tables import StaffAction
from service.causes import find_cause
from service.events import FollowUpSaved, ParticularsRecorded
from service.particulars import amend_particulars
from service.transaction import reading, transaction
from tests.pages.conftest import Site
from tests.pages.markup import Page
from tests.service.printed import printed
from tests.spills import a_report, gallons

SEWAGE = {"reached": ["storm_drain"], "accidental": True, "threat": True}


def answers(page: Page) -> dict[str, str]:
    """What a paper says, by label."""
    found = {}
    for row in page.root.all("div"):
        labels, values = list(row.all("dt")), list(row.all("dd"))
        if len(labels) == len(values) == 1:
            found[labels[0].text] = values[0].text
    return found


async def tell(site: Site, reference: str, **told: Any) -> None:
    async with transaction(site.home.house, "officer@chino.example") as tx:
        await amend_particulars(tx, await tx.spill(reference), told)


async def caused(site: Site, reference: str, cause: str, note: str) -> None:
    async with transaction(site.home.house, "officer@chino.example") as tx:
        await find_cause(tx, await tx.spill(reference), cause, note)


async def taken(site: Site) -> list[StaffAction]:
    async with reading(site.home.house) as tx:
        return list((await tx.session.execute(select(StaffAction).where(StaffAction.kind == "paper:taken"))).scalars())  # type: ignore[arg-type]


async def test_the_list_says_what_each_paper_is_for_its_law_and_what_is_missing(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report(**SEWAGE))
    page = await visitor.get(f"/staff/spills/{reference}/papers")
    card = page.card("Call sheet: Cal OES State Warning Center")
    assert "Water Code 13271(a)(1)" in card.text
    assert "800-852-7550" not in card.text
    assert "answers are not known" in card.text
    links = {link.text: link["href"] for link in card.all("a")}
    assert links["Name of the water it reached or may reach"] == f"/staff/spills/{reference}/papers/particulars#water_name"
    assert links["When it began"] == f"/staff/spills/{reference}/amend#discharged_at"
    assert links["Who is responsible"] == f"/staff/spills/{reference}#people"
    assert "measures that will prevent it from happening again" in page.card("Send public works the written report").text
    assert page.card("Call sheet: National Response Center").text.count("No clock of this spill asks for this call now") == 1


async def test_every_link_of_a_missing_answer_leads_to_a_field_that_is_there(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report(**SEWAGE, volume=None, material=None))
    page = await visitor.get(f"/staff/spills/{reference}/papers")
    places = {link["href"] for link in page.root.all("a") if "#" in link["href"] and link["href"].startswith("/staff/spills/")}
    assert len(places) > 25
    for place in sorted(places):
        address, _, name = place.partition("#")
        there = await visitor.get(address)
        assert [element for element in there.root.all() if element["id"] == name], place


async def test_a_call_sheet_asks_as_the_operator_does_and_says_not_known_where_nothing_is(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report(**SEWAGE, known_at="2026-12-01T13:40"))
    await tell(site, reference, injured=0, water_name="Cypress Channel")
    await caused(site, reference, "grease", "A plug below the diner.")
    page = await visitor.get(f"/staff/spills/{reference}/papers/call-cal-oes")
    headings = [element.text for element in page.root.all("h2")]
    order = ["1. Who you are", "2. What it is", "3. Where it is", "4. What happened", "5. Who is responsible", "6. Who else knows"]
    assert [one for one in headings if one[:1].isdigit()] == order
    said = answers(page)
    assert said["How much"].startswith("1,500 gallons Staff saw or measured it (seen)")
    assert said["Source and cause"].startswith("Pipe blocked by grease: A plug below the diner. Staff saw or measured it (seen)")
    assert said["People hurt or sick"].startswith("0")
    assert said["People killed"].startswith("Not known")
    assert said["Drinking water is affected or at risk"].startswith("Not known")
    assert said["When it was first known"].startswith("Dec 1, 2026, 1:40 PM PST")
    assert said["Is water involved?"].startswith("Not seen there so far")
    assert said["Your name"] == "To fill in"
    assert [link["href"] for link in page.root.all("a") if link["class"] == "call"] == ["tel:+18008527550", "tel:+19168458911"]


async def test_the_call_is_logged_from_its_sheet_and_its_number_stands_on_the_next(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report(**SEWAGE))
    page = await visitor.get(f"/staff/spills/{reference}/papers/call-cal-oes")
    [form] = [form for form in page.root.all("form") if form["action"].endswith("/done")]
    await visitor.send(page, form, control_number="26-7712", spoke_to="the duty officer")
    page = await visitor.get(f"/staff/spills/{reference}/papers/call-national-response-center")
    assert "Cal OES State Warning Center, control number 26-7712 (Dec 1, 2026, 2:05 PM PST)" in answers(page)["Who was told already"]
    page = await visitor.get(f"/staff/spills/{reference}/papers/call-cal-oes")
    assert not [form for form in page.root.all("form") if form["action"].endswith("/done")]


async def test_the_federal_sheet_holds_what_the_national_response_center_asks(site: Site) -> None:
    visitor = await site.staff()
    substances = [{"name": "sulfuric acid", "quantity": 2000, "unit": "lb", "fraction": 0.93}]
    reference = await site.home.report(
        a_report(material="hazardous_material", volume=None, substances=substances, reached=["surface_water"], sheen=False)
    )
    await site.home.name_discharger(reference, "Golden Plating", "", "(909) 555-0144")
    await tell(site, reference, weather="dry, 61 F", responsible_address="4 Vat Lane, Chino", evacuation=True)
    said = answers(await visitor.get(f"/staff/spills/{reference}/papers/call-national-response-center"))
    assert said["Who is responsible"].startswith("Golden Plating, 909-555-0144")
    assert said["Substances, each with its amount"].startswith("sulfuric acid: 2,000 lb, 93% of it by weight")
    assert said["Is there a sheen on the water?"].startswith("No Staff saw")
    assert said["A threat to people or the environment"].startswith("Not known")
    assert said["People had to leave"].startswith("Yes")
    assert said["Weather at the place"].startswith("dry, 61 F")


async def test_who_asked_to_stay_confidential_is_on_no_sheet(site: Site) -> None:
    visitor = await site.staff()
    contact = {"name": "Ana Maria Ruiz", "phone": "(909) 555-0155", "email": "ana@example.org", "privacy": "confidential"}
    words = "This is Ana Maria Ruiz, call me: 909.555.0155 or Ana@Example.org. Mrs. Ruiz next door saw it, too."
    reference = await site.home.report(a_report(**SEWAGE, contact=contact, description=words))
    for paper in ("call-cal-oes", "call-national-response-center", "call-rwqcb-santa-ana"):
        page = await visitor.get(f"/staff/spills/{reference}/papers/{paper}")
        assert not {"Ruiz", "0155", "example.org"} & set(page.text.replace(".", " ").split())
        sent = await visitor.http.post(f"/staff/spills/{reference}/papers/{paper}/file", data={"language": "en"})
        text = printed(sent.content).text.lower()
        assert "ruiz" not in text
        assert "0155" not in text
        assert "ana@example" not in text


async def test_a_report_is_prefilled_drafted_by_staff_and_found_by_the_discharger(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report(**SEWAGE))
    await tell(site, reference, prevention="New liner by March 1.")
    await caused(site, reference, "roots", "In the main.")
    row = await site.home.clock_of(reference, "chino/written-report-7-days")
    address = f"/staff/spills/{reference}/papers/report-{row.id}"
    page = await visitor.get(address)
    [form] = [form for form in page.root.all("form") if form["action"].endswith("/draft")]
    shown = {area["name"]: area.text for area in form.all("textarea")}
    assert shown["item.cause"] == "Pipe blocked by roots: In the main."
    assert shown["item.prevention"] == "New liner by March 1."
    assert shown["item.corrective_actions"] == ""
    assert "all corrective actions taken" in page.text
    page = await visitor.send(page, form, item__corrective_actions="Jetted and cleaned the main.")
    assert "The draft is kept. It is not filed." in page.text
    assert "A draft, saved Dec 1, 2026, 2:05 PM PST. It is not filed." in page.text
    assert len(await site.home.events(reference, FollowUpSaved)) == 1
    theirs = await site.visitor().get(f"{await site.link('respond', reference)}/duties/{row.id}/report")
    assert "Jetted and cleaned the main." in theirs.text


async def test_a_draft_that_somebody_changed_meanwhile_is_not_written_over(site: Site) -> None:
    visitor, other = await site.staff(), await site.staff("manager")
    reference = await site.home.report(a_report(**SEWAGE))
    row = await site.home.clock_of(reference, "chino/written-report-7-days")
    address = f"/staff/spills/{reference}/papers/report-{row.id}"
    mine, theirs = await visitor.get(address), await other.get(address)
    await other.send(theirs, f"{address}/draft", item__cause="A pump failed.")
    page = await visitor.send(mine, f"{address}/draft", item__cause="Roots.")
    assert page.status == 409
    assert "Now in the draft: A pump failed." in page.text
    [form] = page.forms(f"{address}/draft")
    assert next(area.text for area in form.all("textarea") if area["name"] == "item.cause") == "Roots."
    page = await visitor.send(page, form)
    assert (page.status, "Roots." in page.text) == (200, True)


async def test_a_pdf_is_taken_in_either_language_and_that_is_logged(site: Site) -> None:
    visitor = await site.staff("viewer")
    reference = await site.home.report(a_report(**SEWAGE))
    address = f"/staff/spills/{reference}/papers/call-cal-oes/file"
    sent = {language: await visitor.http.post(address, data={"language": language}) for language in ("en", "es")}
    for language, title in (
        ("en", "Call sheet: Cal OES State Warning Center"),
        ("es", "Hoja de llamada: Centro Estatal de Alertas de Cal OES"),
    ):
        found = printed(sent[language].content)
        assert (found.title, found.language, found.claims_ua, found.is_tagged) == (title, language, True, True)
        assert f'{reference}-call-cal-oes-{language}.pdf"' in sent[language].headers["content-disposition"]
    assert "Not known" in printed(sent["en"].content).text
    assert [(row.actor, row.said) for row in await taken(site)] == [
        ("viewer@chino.example", {"spill": reference, "paper": "call-cal-oes", "as": "pdf", "language": language})
        for language in ("en", "es")
    ]
    assert (await visitor.http.post(address, data={"language": "en"})).content == sent["en"].content
    assert (await visitor.http.post(address, data={"language": "de"})).status_code == 422
    assert (await visitor.http.post(address.replace("oes", "none"), data={"language": "en"})).status_code == 404


async def test_particulars_are_recorded_by_their_form_and_faults_are_named(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report())
    address = f"/staff/spills/{reference}/papers/particulars"
    page = await visitor.send(await visitor.get(address), address, structure="manhole", fire="no", rate="1,200", source="laboratory")
    assert "Recorded. Every paper below holds it now." in page.text
    [event] = await site.home.events(reference, ParticularsRecorded)
    assert (event.changes, event.source) == ({"structure": (None, "manhole"), "rate": (None, 1200), "fire": (None, False)}, "laboratory")
    page = await visitor.send(await visitor.get(address), address, structure="main")
    assert (page.status, "Reason: missing" in page.text) == (422, True)
    page = await visitor.send(await visitor.get(address), address, rate="fast")
    assert "How fast it runs or ran: 'fast' does not do" in page.text
    page = await visitor.send(await visitor.get(address), address)
    assert "Nothing was changed." in page.text
    story = (await visitor.get(f"/staff/spills/{reference}")).text
    assert "What papers ask for was recorded." in story
    assert "Part of the sewer it came out of: Manhole" in story


async def test_a_report_without_a_city_has_papers_too(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report(location=None, volume=gallons(5)), staff=False)
    page = await visitor.get(f"/staff/spills/{reference}/papers/call-national-response-center")
    assert answers(page)["City"].startswith("Not known")
    assert answers(page)["Place"].startswith("Not known")
