"""The console, without JavaScript: signing in, the board, one spill and everything people do there, and who may."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from deadlines.facts import EVENT_KEYS
from service import events
from service.access import LINK_LASTS
from service.events import (
    ActRecorded,
    DischargerNamed,
    FactsRecorded,
    ObligationAcknowledged,
    ObligationWaived,
    SpillEvent,
)
from service.pages import story
from service.tables import Contact, Obligation
from service.transaction import transaction
from tests.houses import OFFICER
from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Page, sent_by
from tests.spills import IN_ONTARIO, NOWHERE_NEAR, a_report, gallons

TWO_HOURS = "Tell the regional water board within two hours"
CAL_OES = "Call Cal OES about the sewage now"


async def account(site: Site, role: str = "officer", city: str | None = "chino") -> str:
    """An account without a session; its API token."""
    return await site.home.token(role, city, f"{role}@{city}.example")


async def mails(site: Site) -> list[dict[str, Any]]:
    """The sign-in mails so far, those that wait included."""
    await site.home.work()
    return [line for line in site.home.outbox() if line["spill"] is None]


def form_of(page: Page, card: str, action_end: str) -> Any:
    """The form of a clock's card whose address ends so."""
    [form] = [form for form in page.card(card).all("form") if form["action"].endswith(action_end)]
    return form


# -- signing in


async def test_a_mailed_link_signs_in_and_leads_back_to_the_page_that_was_wanted(site: Site) -> None:
    await account(site)
    reference = await site.home.report(a_report())
    visitor = site.visitor()
    page = await visitor.get(f"/staff/spills/{reference}")
    assert page.response.url.path == "/staff/sign-in"
    page = await visitor.send(page, page.forms("/staff/sign-in")[0], email="OFFICER@chino.example")
    assert "If this address has an account, a link is on its way." in page.text
    [mail] = await mails(site)
    assert mail["to"] == "officer@chino.example"
    [link] = re.findall(r"https://spills\.example\.gov(/staff/enter/\S+)", mail["text"])
    page = await visitor.get(link)
    page = await visitor.send(page, next(page.root.all("main")).all("form").__next__())
    assert page.response.url.path == f"/staff/spills/{reference}"
    assert "officer@chino.example (officer)" in page.text


async def test_looking_at_a_link_uses_nothing_up_and_pressing_twice_does(site: Site) -> None:
    await account(site)
    visitor = site.visitor()
    await visitor.post("/staff/sign-in", {"email": "officer@chino.example"})
    [link] = re.findall(r"(/staff/enter/\S+)", (await mails(site))[0]["text"])
    for _ in range(3):
        assert (await visitor.get(link)).status == 200
    assert (await site.visitor().post(link, {})).response.url.path == "/staff"
    again = await site.visitor().post(link, {})
    assert again.status == 401
    assert "used up or out of date" in again.text


async def test_a_link_is_good_for_half_an_hour(site: Site) -> None:
    await account(site)
    visitor = site.visitor()
    await visitor.post("/staff/sign-in", {"email": "officer@chino.example"})
    [link] = re.findall(r"(/staff/enter/\S+)", (await mails(site))[0]["text"])
    site.home.clock.jump(seconds=LINK_LASTS.total_seconds())
    assert (await visitor.post(link, {})).status == 401


async def test_the_answer_to_an_address_tells_nothing_about_accounts(site: Site) -> None:
    await account(site)
    known = await site.visitor().post("/staff/sign-in", {"email": "officer@chino.example"})
    unknown = await site.visitor().post("/staff/sign-in", {"email": "nobody@chino.example"})
    assert known.response.text == unknown.response.text
    assert len(await mails(site)) == 1


async def test_a_mailbox_is_not_flooded_with_links(site: Site) -> None:
    await account(site)
    for _ in range(8):
        await site.visitor().post("/staff/sign-in", {"email": "officer@chino.example"})
        site.home.clock.jump(minutes=1, seconds=1)
    assert len(await mails(site)) == 5


async def test_an_api_token_opens_a_session(site: Site) -> None:
    token = await account(site)
    visitor = site.visitor()
    answer = await visitor.http.post("/staff/sign-in", data={"token": f" {token} "})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/staff"
    cookie = answer.headers["set-cookie"]
    for part in ("spillclock_session=sc_session_", "HttpOnly", "SameSite=lax", "Secure", "Path=/"):
        assert part in cookie
    assert (await visitor.get("/staff")).response.url.path == "/staff"


@pytest.mark.parametrize("token", ["sc_api_wrong", "sc_link_wrong", "x"])
async def test_a_wrong_token_opens_nothing(site: Site, token: str) -> None:
    page = await site.visitor().post("/staff/sign-in", {"token": token})
    assert page.status == 401
    assert "This token is not valid" in page.text


@pytest.mark.parametrize(
    "wanted", ["https://evil.example", "//evil.example", "/staff/sign-out", "/staff/../report", "/staffx", "/staff/spills/a\r\nb"]
)
async def test_signing_in_never_leads_to_another_site(site: Site, wanted: str) -> None:
    token = await account(site)
    answer = await site.visitor().http.post("/staff/sign-in", data={"token": token, "next": wanted})
    assert answer.headers["location"] == "/staff"


async def test_signing_out_ends_the_session_for_good(site: Site) -> None:
    visitor = await site.staff()
    session = visitor.http.cookies["spillclock_session"]
    page = await visitor.get("/staff")
    assert (await visitor.send(page, "/staff/sign-out")).response.url.path == "/staff/sign-in"
    visitor.http.cookies.set("spillclock_session", session)
    assert (await visitor.get("/staff")).response.url.path == "/staff/sign-in"


async def test_a_session_ends_after_a_shift(site: Site) -> None:
    visitor = await site.staff()
    site.home.clock.jump(hours=12)
    assert (await visitor.get("/staff")).response.url.path == "/staff/sign-in"


# -- the board


def on_board(page: Page) -> list[str]:
    """The references on the board from top to bottom."""
    return [link.text for link in page.root.all("a") if link["href"].startswith("/staff/spills/")]


async def test_the_board_shows_what_needs_a_person_first_and_then_by_next_due_time(site: Site) -> None:
    later = await site.home.report(a_report(known_at="2026-12-01T22:00:00Z"))
    sooner = await site.home.report(a_report(known_at="2026-12-01T21:00:00Z"))
    alarm = await site.home.report(a_report(location=IN_ONTARIO))
    lost = await site.home.report(a_report(location=NOWHERE_NEAR))
    page = await (await site.staff("manager", None)).get("/staff")
    assert on_board(page) == [lost, alarm, sooner, later]
    for words in (
        "Reports without a city",
        "No clock runs: set the city",
        "Alarms",
        "Overdue; known for 1 hour 5 minutes",
        "Sewage or toilet water, 1,500 gallons",
    ):
        assert words in page.text


async def test_an_officer_sees_their_own_city_and_what_has_none(site: Site) -> None:
    mine = await site.home.report(a_report())
    theirs = await site.home.report(a_report(location=IN_ONTARIO))
    lost = await site.home.report(a_report(location=NOWHERE_NEAR))
    visitor = await site.staff("officer", "chino")
    page = await visitor.get("/staff")
    assert on_board(page) == [lost, mine]
    assert (await visitor.get(f"/staff/spills/{theirs}")).status == 404
    assert (await visitor.get(f"/staff/spills/{theirs}/amend")).status == 404
    clock = (await site.home.clocks(theirs))[0]
    assert (await visitor.post(f"/staff/spills/{theirs}/clocks/{clock.id}/acknowledge", {})).status == 404
    assert (await visitor.post(f"/staff/spills/{mine}/clocks/{clock.id}/acknowledge", {})).status == 404


async def test_filters_live_in_the_address(site: Site) -> None:
    chino = await site.home.report(a_report(description="Grease trap at the bakery"))
    ontario = await site.home.report(a_report(location=IN_ONTARIO))
    visitor = await site.staff("manager", None)
    assert on_board(await visitor.get("/staff?city=ontario")) == [ontario]
    assert on_board(await visitor.get("/staff?state=overdue")) == []
    assert on_board(await visitor.get("/staff?q=BAKERY")) == [chino]
    site.home.clock.jump(hours=1)
    page = await visitor.send(await visitor.get("/staff"), "/staff", city="chino", state="overdue")
    assert on_board(page) == [chino]
    assert [option["value"] for option in page.one("state").all("option") if "selected" in option.attributes] == ["overdue"]
    for odd in ("city=nowhere", "state=odd", "page=x", "page=-1", "page=99999", "q=%25", "q=" + "x" * 500):
        assert (await visitor.get(f"/staff?{odd}")).status == 200


async def test_pages_tell_that_messages_go_to_a_file(site: Site) -> None:
    assert "Not sent to anybody: e-mail and SMS go to the file outbox.jsonl" in (await (await site.staff()).get("/staff")).text
    assert "outbox.jsonl" not in (await site.visitor().get("/")).text


# -- one spill


async def opened(site: Site, visitor: Visitor, **facts: Any) -> tuple[str, Page]:
    """A spill and its page."""
    reference = await site.home.report(a_report(**facts))
    return reference, await visitor.get(f"/staff/spills/{reference}")


async def test_a_clock_shows_its_ladder_and_whom_it_will_tell(site: Site) -> None:
    _, page = await opened(site, await site.staff())
    card = page.card(TWO_HOURS).text
    assert "Next alert Tue Dec 1, 2:20 PM PST: supervisor (Sofia Tran), by SMS and e-mail." in card
    assert "duty officer (Omar Reyes); discharger (Dana Cruz (city sewer crew)); supervisor (Sofia Tran)" in card
    assert "left out if somebody has seen the one before" in card


async def test_a_rung_that_nobody_fills_says_so_beforehand(site: Site) -> None:
    await site.home.people(Contact(city="chino", role="duty_officer", name="Omar Reyes", email="duty@chino.example"))
    _, page = await opened(site, await site.staff())
    assert "supervisor (nobody fills this role)" in page.card(TWO_HOURS).text


async def test_a_call_is_logged_in_two_taps_and_stops_the_clock(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    page = await visitor.send(page, form_of(page, TWO_HOURS, "/done"), "Log it, just now")
    assert "Recorded. The clocks below show how they stand now." in page.text
    assert "Done on time" in page.card(TWO_HOURS).text
    [row] = [row for row, event in await site.home.history(reference) if isinstance(event, ActRecorded)]
    assert row.actor == "officer@chino.example"
    await site.home.live(hours=3)
    assert site.home.told("chino/rwqcb-2-hours", "due") == []


async def test_a_call_can_be_logged_with_everything_about_it(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    form = form_of(page, TWO_HOURS, "/done")
    page = await visitor.send(
        page, form, "Log it", way="email", at="2026-12-01T14:01", spoke_to="duty desk", control_number="7", note="sent photos"
    )
    [act] = await site.home.events(reference, ActRecorded)
    assert act.act == {"type": "notice_given", "recipient": "rwqcb-santa-ana", "method": "email", "at": "2026-12-01T22:01:00Z"}
    assert "spoke to duty desk; control number 7; sent photos" in page.text


async def test_a_fault_in_a_form_names_what_would_be_right(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    page = await visitor.send(page, form_of(page, TWO_HOURS, "/done"), "Log it", at="2030-01-01T00:00")
    assert page.status == 422
    assert "lies in the future; right would be: a time that has passed" in page.text
    assert await site.home.events(reference, ActRecorded) == []


async def test_having_seen_it_rests_a_person_and_not_the_duty(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    page = await visitor.send(page, form_of(page, TWO_HOURS, "/acknowledge"))
    assert "It rests you until the next alert; the duty stays open." in page.text
    [event] = await site.home.events(reference, ObligationAcknowledged)
    assert event.person == "officer@chino.example"
    assert "Seen by officer@chino.example, Tue Dec 1, 2:05 PM PST. The duty is still open." in page.card(TWO_HOURS).text
    assert (await site.home.clock_of(reference, "chino/rwqcb-2-hours")).state == "running"


async def test_only_a_manager_waives_and_only_with_a_reason(site: Site) -> None:
    manager, officer = await site.staff("manager"), await site.staff("officer")
    reference, page = await opened(site, manager)
    address = form_of(page, TWO_HOURS, "/waive")["action"]
    assert "/waive" not in (await officer.get(f"/staff/spills/{reference}")).response.text
    refused = await officer.post(address, {"reason": "I say so"})
    assert refused.status == 403
    assert "this needs the role manager" in refused.text.lower()
    empty = await manager.post(address, {"reason": " "})
    assert empty.status == 422
    assert "who decided it and why" in empty.text
    page = await manager.send(page, form_of(page, TWO_HOURS, "/waive"), reason="the board was on the line already")
    assert "the board was on the line already" in page.card(TWO_HOURS).text
    assert len(await site.home.events(reference, ObligationWaived)) == 1
    assert (await manager.post(address, {"reason": "again"})).status == 409


async def test_a_viewer_reads_and_does_nothing(site: Site) -> None:
    viewer = await site.staff("viewer")
    reference, page = await opened(site, viewer)
    assert [form["action"] for form in page.root.all("form")] == ["/staff/sign-out"]
    assert "/respond/" not in page.response.text
    clock = (await site.home.clocks(reference))[0]
    base = f"/staff/spills/{reference}"
    for address in (
        f"{base}/clocks/{clock.id}/done",
        f"{base}/clocks/{clock.id}/acknowledge",
        f"{base}/amend",
        f"{base}/events",
        f"{base}/discharger",
    ):
        page = await viewer.post(address, {"type": "repaired", "name": "x", "reason": "x", "material": "paint", "was.material": ""})
        assert page.status == 403, address
    assert (await viewer.get(f"{base}/amend")).status == 403
    assert (await viewer.get(f"{base}/event?type=repaired")).status == 403


async def test_only_those_who_handle_a_report_see_who_reported(site: Site) -> None:
    contact = {"name": "Ana Ruiz", "email": "ana@example.com", "privacy": "confidential"}
    viewer, officer = await site.staff("viewer"), await site.staff("officer")
    reference, page = await opened(site, viewer, contact=contact)
    assert "Ana Ruiz" not in page.text
    assert "Ana Ruiz" in (await officer.get(f"/staff/spills/{reference}")).text
    _, page = await opened(site, viewer, contact={**contact, "privacy": "named"})
    assert "Ana Ruiz" in page.text


async def test_a_clock_whose_rule_left_the_packs_is_still_shown(site: Site) -> None:
    visitor = await site.staff()
    reference = await site.home.report(a_report())
    async with transaction(site.home.house, "test") as tx:
        row = await tx.session.get_one(Obligation, (await site.home.clock_of(reference, "california/cal-oes-hazmat-release")).id)
        row.duty = "california/gone"
    for address in (f"/staff/spills/{reference}", "/staff", await site.link("respond", reference), await site.link("status", reference)):
        assert (await visitor.get(address)).status == 200
    assert "Call Cal OES about the hazardous material release now" in (await visitor.get(f"/staff/spills/{reference}")).text


async def test_setting_the_city_starts_the_clocks(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor, location={"address": "by the school"})
    assert "No clock runs: which city is it?" in page.text
    [form] = [form for form in page.forms(f"/staff/spills/{reference}/amend") if "jurisdiction" in dict(sent_by(form))]
    page = await visitor.send(page, form, jurisdiction="chino")
    assert "Clocks (10 open)" in page.text
    assert (await site.home.spill(reference)).city == "chino"


async def test_answering_an_open_question_settles_presumed_clocks(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    assert "Is what was spilled hazardous?" in page.text
    [form] = [form for form in page.forms(f"/staff/spills/{reference}/settle") if dict(sent_by(form))["fact"] == "hazardous"]
    page = await visitor.send(page, form, "No")
    assert "Is what was spilled hazardous?" not in page.text
    assert (await site.home.clock_of(reference, "california/cal-oes-hazmat-release")).state == "withdrawn"


async def test_only_what_was_changed_in_the_form_is_amended(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor, known_at="2026-12-01T22:01:07.5Z")
    form_page = await visitor.get(f"/staff/spills/{reference}/amend")
    await site.home.amend(reference, reason="somebody else was here", material="petroleum")
    page = await visitor.send(form_page, f"/staff/spills/{reference}/amend", low="900", reason="crew measured")
    [_, _, mine] = await site.home.events(reference, FactsRecorded)
    assert mine.changes == {"volume": ({"quantity": 1500, "unit": "gal"}, {"quantity": 900, "unit": "gal"})}
    assert mine.reason == "crew measured"
    assert (await site.home.spill(reference)).facts["material"] == "petroleum"
    assert "900 gallons" in page.text
    assert "900 gallons (before: 1,500 gallons). officer@chino.example: crew measured" in page.text


async def test_every_usual_fact_can_be_amended_in_one_form(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    address = f"/staff/spills/{reference}/amend"
    form_page = await visitor.get(address)
    await visitor.send(
        form_page, address, jurisdiction="ontario", material="paint", low="200", high="1,200", unit="L", reached=["land", "gutter"],
        known_at="2026-12-01T13:00", discharged_at="2026-12-01T12:00", ended_at="2026-12-01T12:30", threat="yes",
        accidental="no", hazardous="no",
        premises="commercial", enrollee="yes", reason="visited",
    )  # fmt: skip
    facts = (await site.home.spill(reference)).facts
    assert facts["jurisdiction"] == "ontario"
    assert facts["volume"] == {"low": 200, "high": 1200, "unit": "L"}
    assert sorted(facts["reached"]) == ["gutter", "land"]
    assert (facts["known_at"], facts["discharged_at"], facts["ended_at"]) == (
        "2026-12-01T21:00:00Z",
        "2026-12-01T20:00:00Z",
        "2026-12-01T20:30:00Z",
    )
    assert (facts["threat"], facts["accidental"], facts["hazardous"], facts["enrollee"]) == (True, False, False, True)
    assert facts["premises"] == "commercial"


async def test_a_fact_can_be_made_unknown_again(site: Site) -> None:
    visitor = await site.staff("officer", None)
    reference, _ = await opened(site, visitor, threat=True)
    address = f"/staff/spills/{reference}/amend"
    await visitor.send(await visitor.get(address), address, threat="", low="", reached=[], reason="it was a guess")
    facts = (await site.home.spill(reference)).facts
    assert not {"threat", "volume", "reached"} & set(facts)


async def test_an_amendment_with_a_fault_comes_back_with_everything_typed(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    address = f"/staff/spills/{reference}/amend"
    page = await visitor.send(await visitor.get(address), address, low="a lot", threat="yes", reason="guess")
    assert page.status == 422
    assert "How much: " in page.text
    fields = dict(sent_by(page.forms(address)[0]))
    assert (fields["low"], fields["threat"], fields["was.threat"], fields["reason"]) == ("a lot", "yes", "", "guess")
    page = await visitor.send(page, address, low="800")
    facts = (await site.home.spill(reference)).facts
    assert (facts["threat"], facts["volume"]) == (True, gallons(800))


async def test_an_amendment_needs_a_reason(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    address = f"/staff/spills/{reference}/amend"
    page = await visitor.send(await visitor.get(address), address, low="800")
    assert page.status == 422
    assert "why the facts are amended" in page.text


async def test_sending_the_form_unchanged_records_nothing(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    page = await visitor.send(await visitor.get(f"/staff/spills/{reference}/amend"), f"/staff/spills/{reference}/amend", reason="x")
    assert "Nothing was changed." in page.text
    assert len(await site.home.events(reference, FactsRecorded)) == 1


@pytest.mark.parametrize("kind", EVENT_KEYS)
async def test_every_type_of_event_has_a_form_that_records_it(site: Site, kind: str) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    page = await visitor.send(page, f"/staff/spills/{reference}/event", type=kind)
    form = page.forms(f"/staff/spills/{reference}/events")[0]
    choices = {select["name"]: next(option["value"] for option in select.all("option") if option["value"]) for select in form.all("select")}
    moments = {
        field["name"]: "2026-12-09T10:00" for field in form.all("input") if field["type"] == "datetime-local" and field["name"] != "at"
    }
    page = await visitor.send(page, form, **choices, **moments, at="2026-12-01T14:00", note="seen by me")
    assert page.response.url.path == f"/staff/spills/{reference}"
    [act] = await site.home.events(reference, ActRecorded)
    assert act.act["type"] == kind
    assert act.act["at"] == "2026-12-01T22:00:00Z"
    assert act.note == "seen by me"
    assert set(choices) | set(moments) == set(EVENT_KEYS[kind]) - {"content"}
    assert all(act.act[name] == "2026-12-09T18:00:00Z" for name in moments)


async def test_an_event_with_a_fault_comes_back_with_everything_typed(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    page = await visitor.get(f"/staff/spills/{reference}/event?type=order_served")
    page = await visitor.send(page, f"/staff/spills/{reference}/events", note="served by hand")
    assert page.status == 422
    assert "order: missing" in page.text
    assert page.one("note").text == "served by hand"
    page = await visitor.send(page, f"/staff/spills/{reference}/events", order="compliance_order", comply_by="2026-12-20T17:00")
    assert "Do what the compliance order asks, by its date" in page.text
    assert "Sun Dec 20, 5:00 PM PST" in page.text


async def test_an_unknown_type_of_event_is_refused(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    assert (await visitor.get(f"/staff/spills/{reference}/event?type=party")).response.url.path == f"/staff/spills/{reference}"
    assert (await visitor.post(f"/staff/spills/{reference}/events", {"type": "party"})).status == 422


async def test_the_discharger_is_named_and_their_link_can_be_copied(site: Site) -> None:
    visitor = await site.staff()
    reference, page = await opened(site, visitor)
    page = await visitor.send(
        page, f"/staff/spills/{reference}/discharger", name="Golden Wok LLC", email="owner@goldenwok.example", phone="+19095550155"
    )
    [event] = await site.home.events(reference, DischargerNamed)
    assert event.name == "Golden Wok LLC"
    assert page.one("private-link")["value"] == "https://spills.example.gov" + await site.link("respond", reference)
    assert "discharger (Golden Wok LLC)" in page.card(TWO_HOURS).text
    page = await visitor.send(page, f"/staff/spills/{reference}/discharger", name=" ")
    assert page.status == 422


async def test_the_messages_show_their_whole_history(site: Site) -> None:
    visitor = await site.staff()
    reference, _ = await opened(site, visitor)
    await site.home.work()
    page = await visitor.get(f"/staff/spills/{reference}")
    section = next(part for part in page.root.all("section") if part["aria-labelledby"] == "messages").text
    assert re.search(r"All \d+ messages with their whole history", section)
    assert "Omar Reyes (duty officer), text message to +19095550102: handed over" in section
    assert "chino/rwqcb-2-hours, rung start, to the duty officer" in section


# -- the story


async def test_the_story_tells_a_night_in_sentences(site: Site) -> None:
    visitor = await site.staff("manager")
    reference, _ = await opened(site, visitor)
    await site.home.live(hours=2, minutes=1)
    await site.home.amend(reference, reason="crew measured", volume=gallons(900))
    await site.home.happened(reference, "notice_given", recipient="cal-oes", method="telephone")
    await site.home.waive(reference, "chino/fire-district-immediate", "was on site")
    page = await visitor.get(f"/staff/spills/{reference}")
    for words in (
        "Tuesday, December 1, 2026",
        "A report arrived from staff.",
        "10 legal clocks started.",
        "People were told about 10 duties.",
        f"OVERDUE: {TWO_HOURS}.",
        "Facts were amended: crew measured.",
        "How much: 900 gallons (before: 1,500 gallons)",
        "Cal OES State Warning Center was told by telephone.",
        "Duty waived: Call the Chino Valley fire district now (was on site).",
        "messages were handed over.",
    ):
        assert words in page.text, words
    assert OFFICER in page.text


def test_every_kind_of_event_has_its_sentence() -> None:
    kinds = {kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, SpillEvent) and kind is not SpillEvent}
    assert set(story._TELLERS) == kinds


async def test_the_outbox_is_read_as_json_lines(site: Site) -> None:
    await account(site)
    await site.visitor().post("/staff/sign-in", {"email": "officer@chino.example"})
    await site.home.work()
    lines = site.home.house.settings.outbox_path.read_text().splitlines()
    assert [json.loads(line)["subject"] for line in lines] == ["Your link to sign in"]
