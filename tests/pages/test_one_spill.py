"""The page of one spill: what comes next, the kerb, sources of facts, questions by one press, people, and decisions about whole spills."""

from __future__ import annotations

from service.events import FactsRecorded, FileKept, OfficerAssigned, SpillMerged, SpillReferred, SpillSplit, SpillUnmerged
from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Page, sent_by
from tests.pictures import photo
from tests.spills import a_report, gallons

TWO_HOURS = "Tell the regional water board within two hours"
WATER_BOARD = "chino/rwqcb-2-hours"


async def opened(site: Site, visitor: Visitor, **report: object) -> tuple[str, Page]:
    reference = await site.home.report(a_report(**report))
    return reference, await visitor.get(f"/staff/spills/{reference}")


async def test_the_page_begins_with_what_to_do_next(site: Site) -> None:
    _, page = await opened(site, await site.staff())
    headings = [element.text for element in page.root.all("h2")]
    assert headings[:3] == ["Do this next", "At the place", "Then"]
    assert headings.index("Planned next") < headings.index("Facts") < headings.index("Story")


async def test_what_was_logged_is_said_above_what_comes_next_and_its_card_is_one_press_away(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    call = await site.home.clock_of(reference, WATER_BOARD)
    page = await visitor.send(page, f"/staff/spills/{reference}/clocks/{call.id}/done", "yes")
    said = next(part for part in page.root.all("div") if part.attributes.get("role") == "status")
    assert said.text.startswith("Recorded.")
    [link] = said.all("a")
    assert (link["href"], link.text) == (f"#clock-{call.id}", f"{TWO_HOURS}: Done on time")
    assert page.text.index("Recorded.") < page.text.index("Do this next")
    assert TWO_HOURS not in (await visitor.get(f"/staff/spills/{reference}?done=act&clock=999")).text.split("Do this next")[0]


async def test_an_amount_is_amended_at_the_kerb_and_starts_its_clock(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor, volume=gallons(900))
    assert all(row.duty != WATER_BOARD for row in await site.home.clocks(reference))
    await site.home.live(hours=3)
    page = await visitor.get(f"/staff/spills/{reference}")
    page = await visitor.send(page, f"/staff/spills/{reference}/amount", amount="1,200", source="laboratory")
    assert (await site.home.spill(reference)).facts["volume"] == gallons(1200)
    assert "Overdue by" in page.card(TWO_HOURS).text
    last = (await site.home.events(reference, FactsRecorded))[-1]
    assert (last.sources, "laboratory" in last.reason) == ({"volume": "laboratory"}, True)
    assert "1,200 gallons A laboratory found it (measured)" in page.text


async def test_an_amount_that_somebody_amended_meanwhile_is_not_written_over(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    await site.home.amend(reference, volume=gallons(300))
    page = await visitor.send(page, f"/staff/spills/{reference}/amount", amount="2000")
    assert (page.status, "amended meanwhile to: 300 gallons" in page.text) == (422, True)
    for typed in ("", "much", "-5"):
        page = await visitor.send(await visitor.get(f"/staff/spills/{reference}"), f"/staff/spills/{reference}/amount", amount=typed)
        assert page.status == 422
    assert (await site.home.spill(reference)).facts["volume"] == gallons(300)


async def test_an_officer_adds_photos_in_their_own_name(site: Site) -> None:
    officer = await site.staff()
    reference, _ = await opened(site, officer)
    sent = await officer.http.post(f"/staff/spills/{reference}/photos", files={"photos": ("curb.jpg", photo(), "image/jpeg")})
    assert sent.status_code == 303
    [event] = await site.home.events(reference, FileKept)
    assert (event.purpose, event.by) == ("photo", "officer@chino.example")
    refused = await officer.http.post(f"/staff/spills/{reference}/photos", files={"photos": ("notes.txt", b"words", "text/plain")})
    assert (refused.status_code, "not a photo that we can take" in refused.text) == (422, True)
    viewer = await site.staff("viewer")
    denied = await viewer.http.post(f"/staff/spills/{reference}/photos", files={"photos": ("curb.jpg", photo(), "image/jpeg")})
    assert denied.status_code == 403


async def test_a_fact_says_who_knows_it_and_every_value_it_had(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report(), staff=False)
    await site.home.amend(reference, "crew measured the pool", volume=gallons(1600))
    page = await visitor.get(f"/staff/spills/{reference}")
    assert "Sewage or toilet water The caller said so (not checked)" in page.text
    assert "City of Chino, California Worked out from other facts (worked out)" in page.text
    assert "1,600 gallons Staff saw or measured it (seen)" in page.text
    assert "1,600 gallons (before: 1,500 gallons). officer@chino.example: crew measured the pool. Staff saw or measured it." in page.text
    form = await visitor.get(f"/staff/spills/{reference}/amend")
    await visitor.send(form, f"/staff/spills/{reference}/amend", low="1700", source="discharger", reason="the plant's meter")
    assert (await site.home.events(reference, FactsRecorded))[-1].sources == {"volume": "discharger"}


async def test_a_question_is_settled_by_one_press(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    forms = {dict(sent_by(form))["fact"]: form for form in page.forms(f"/staff/spills/{reference}/settle")}
    assert {"hazardous", "threat", "accidental"} <= set(forms)
    page = await visitor.send(page, forms["hazardous"], "No")
    facts = (await site.home.spill(reference)).facts
    assert facts["hazardous"] is False
    assert (await site.home.events(reference, FactsRecorded))[-1].sources == {"hazardous": "staff"}
    again = await visitor.post(f"/staff/spills/{reference}/settle", {"fact": "hazardous", "answer": "yes", "source": "staff"})
    assert (again.status, "somebody answered meanwhile: No" in again.text) == (422, True)
    nonsense = await visitor.post(f"/staff/spills/{reference}/settle", {"fact": "events", "answer": "yes"})
    assert nonsense.status == 422


async def test_what_is_planned_next_names_person_way_and_time(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    await site.home.work()
    page = await visitor.get(f"/staff/spills/{reference}")
    planned = next(element for element in page.root.all("section") if element["aria-labelledby"] == "planned").text
    assert "Tue Dec 1, 2:20 PM PST: Sofia Tran (supervisor), by text message and e-mail" in planned


async def test_people_are_reached_by_one_press(site: Site) -> None:
    officer, viewer = await site.staff(), await site.staff("viewer")
    contact = {"name": "Ana Ruiz", "phone": "(909) 555-0155", "privacy": "confidential"}
    reference, page = await opened(site, officer, contact=contact)
    links = {link["href"] for link in page.root.all("a") if link["href"].startswith("tel:")}
    assert {"tel:+19095550155", "tel:+19095550102", "tel:+18008527550"} <= links
    assert "Ana Ruiz" not in (await viewer.get(f"/staff/spills/{reference}")).text
    page = await officer.send(page, f"/staff/spills/{reference}/officer", "I take charge")
    [event] = await site.home.events(reference, OfficerAssigned)
    assert event.officer == "officer@chino.example"
    assert "In charge: officer@chino.example" in page.text
    refused = await officer.post(f"/staff/spills/{reference}/officer", {"officer": "viewer@chino.example"})
    assert refused.status == 422


async def test_two_reports_are_compared_merged_and_taken_apart(site: Site) -> None:
    visitor = await site.staff()
    kept = await site.home.report(a_report(volume=None))
    await site.home.live(minutes=10)
    other = await site.home.report(a_report(description="It smells by the school."), staff=False)
    page = await visitor.get(f"/staff/spills/{kept}/merge")
    assert other in page.text
    page = await visitor.get(f"/staff/spills/{kept}/merge?with={other.lower()}")
    page = await visitor.send(page, f"/staff/spills/{kept}/merge", reason="the same manhole")
    assert "The reports are merged" in page.text
    assert "It smells by the school." in page.text
    assert (await site.home.spill(kept)).facts["volume"] == gallons(1500)
    assert f"Merged into {kept}" in (await visitor.get(f"/staff/spills/{other}")).text
    assert other not in (await visitor.get("/staff")).text
    [merged] = await site.home.events(other, SpillMerged)
    assert (merged.into, merged.reason) == (kept, "the same manhole")
    page = await visitor.send(page, f"/staff/spills/{other}/unmerge", reason="it is the next manhole")
    assert "It is a spill of its own again" in page.text
    assert await site.home.events(other, SpillUnmerged)
    assert (await site.home.clock_of(other, WATER_BOARD)).state == "running"


async def test_the_reporter_and_the_discharger_of_a_merged_report_are_told_so(site: Site) -> None:
    visitor = await site.staff()
    kept, other = await site.home.report(a_report()), await site.home.report(a_report(), staff=False)
    page = await visitor.get(f"/staff/spills/{kept}/merge?with={other}")
    await visitor.send(page, f"/staff/spills/{kept}/merge", reason="the same manhole")
    await site.home.happened(kept, "responded")
    seen = (await site.visitor().get(await site.link("status", other))).text
    assert "Another report tells of the same spill." in seen
    assert "Staff went to the place." in seen
    assert "The duties go on there" in (await site.visitor().get(await site.link("respond", other))).text
    spanish = site.visitor(accept_language="es")
    assert "Otro reporte trata del mismo derrame." in (await spanish.get(await site.link("status", other))).text


async def test_a_merger_that_would_stop_a_clock_asks_first(site: Site) -> None:
    visitor = await site.staff()
    kept, other = await site.home.report(a_report(volume=gallons(500))), await site.home.report(a_report())
    page = await visitor.get(f"/staff/spills/{kept}/merge?with={other}")
    page = await visitor.send(page, f"/staff/spills/{kept}/merge", reason="the same")
    assert (page.status, f"{TWO_HOURS} is not owed by the facts of {kept}" in page.text) == (409, True)
    dropped = [box["value"] for box in page.root.all("input") if box["name"] == "drop"]
    page = await visitor.send(page, f"/staff/spills/{kept}/merge", drop=dropped)
    assert page.status == 200
    assert len((await site.home.events(other, SpillMerged))[0].dropped) == len(dropped)


async def test_a_report_is_split_in_two_by_its_form(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    await site.home.happened(reference, "notice_given", recipient="cal-oes", method="telephone")
    page = await visitor.get(f"/staff/spills/{reference}/split")
    fields = {"description": "Paint behind the shop", "b__material": "paint", "b__low": "20", "a__low": "1200", "act": "0"}
    page = await visitor.send(page, f"/staff/spills/{reference}/split", reason="two streams", **fields)
    assert "This is the second spill of the report" in page.text
    [split] = await site.home.events(reference, SpillSplit)
    second = await site.home.spill(split.part)
    assert (second.facts["material"], second.facts["volume"], len(second.facts["events"])) == ("paint", gallons(20), 1)
    assert (await site.home.spill(reference)).facts["volume"] == gallons(1200)
    faulty = await visitor.get(f"/staff/spills/{reference}/split")
    assert (await visitor.send(faulty, f"/staff/spills/{reference}/split", description="x", b__low="much")).status == 422


async def test_a_referral_is_recorded_and_ends_no_clock(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    running = [row.id for row in await site.home.clocks(reference) if row.state == "running"]
    page = await visitor.get(f"/staff/spills/{reference}/refer")
    said = {
        "agency": "Santa Ana Regional Water Board",
        "contact": "A. Lee",
        "how": "email",
        "sent": "the report",
        "because": "theirs",
    }
    page = await visitor.send(page, f"/staff/spills/{reference}/refer", **said)
    assert "Santa Ana Regional Water Board (A. Lee), by e-mail" in page.text
    assert [row.id for row in await site.home.clocks(reference) if row.state == "running"] == running
    [event] = await site.home.events(reference, SpillReferred)
    assert event.sent == "the report"
    page = await visitor.get(f"/staff/spills/{reference}/refer")
    assert (await visitor.send(page, f"/staff/spills/{reference}/refer", agency="X")).status == 422


async def test_only_the_citys_own_officers_decide_about_whole_spills(site: Site) -> None:
    reference, other = await site.home.report(a_report()), await site.home.report(a_report())
    viewer, stranger = await site.staff("viewer"), await site.staff("officer", "ontario")
    for path, fields in (
        ("merge", {"other": other, "reason": "same"}), ("unmerge", {"reason": "no"}), ("split", {"reason": "two"}),
        ("refer", {"agency": "x"}), ("officer", {"officer": ""}), ("amount", {"amount": "5"}),
        ("settle", {"fact": "threat", "answer": "no"}),
    ):  # fmt: skip
        assert (await viewer.post(f"/staff/spills/{reference}/{path}", dict(fields))).status == 403, path
        assert (await stranger.post(f"/staff/spills/{reference}/{path}", dict(fields))).status == 404, path
    for path in ("merge", "split", "refer"):
        assert (await viewer.get(f"/staff/spills/{reference}/{path}")).status == 403
        assert (await stranger.get(f"/staff/spills/{reference}/{path}")).status == 404
    assert await site.home.events(reference, SpillMerged) == []
