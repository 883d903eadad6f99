"""Filing on the discharger's page: all that is missing at once, who answers for it, whom it reaches, what an amendment is."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfReader

from service.events import FollowUpFiled
from service.invitations import issue
from service.parties import link_token
from service.transaction import transaction
from tests.pages.conftest import Site
from tests.pages.markup import Page, sent_by
from tests.pages.test_discharger import FIVE_DAYS, opened
from tests.pages.test_discharger_reports import ITEMS, WHO, filed, filled_in, report_form

SEVEN_DAYS = "Send public works the written report of the accident within seven days"
TO_CITY = ("material", "volume", "cause", "actions", "prevention")


async def link_of(site: Site, reference: str, name: str, email: str = "") -> str:
    """The page of a person whom a link is issued to."""
    async with transaction(site.home.house, "officer@chino.example") as tx:
        spill = await tx.spill(reference)
        return f"/respond/{link_token(site.home.house, 'respond', spill, await issue(tx, spill, name, email, ''))}"


def certifier(page: Page) -> tuple[str, str, str, bool]:
    """Who the form says certifies: name, title, e-mail, and whether it is ticked."""
    return page.one("by")["value"], page.one("title")["value"], page.one("email")["value"], "checked" in page.one("certify").attributes


async def receipt_text(site: Site, page: Page, **headers: str) -> str:
    """The words of the receipt of the first version."""
    answer = await site.visitor(**headers).http.get(f"{page.response.url.path.partition('?')[0]}/1/receipt.pdf")
    return " ".join(" ".join(one.extract_text() for one in PdfReader(io.BytesIO(answer.content)).pages).split())


# -- who answers for it


async def test_nobody_finds_the_name_of_another_person_as_the_one_who_certifies(site: Site) -> None:
    reference, common, _ = await opened(site)
    ana, bob = [await link_of(site, reference, name, f"{name.lower()}@wok.example") for name in ("Ana", "Bob")]
    assert certifier(await report_form(site, ana)) == ("Ana", "", "ana@wok.example", False)
    page = await report_form(site, bob)
    pairs = {**dict(sent_by(page.forms(page.response.url.path)[0])), "item.cause": "roots", "by": "Bob Müller", "title": "Owner"}
    await site.visitor().http.post(f"{page.response.url.path}/draft", data=pairs)
    assert certifier(await report_form(site, ana)) == ("Ana", "", "ana@wok.example", False)
    assert certifier(await report_form(site, common)) == ("", "", "", False)
    assert certifier(await report_form(site, bob)) == ("Bob Müller", "Owner", "bob@wok.example", False)
    await filed(site, await report_form(site, bob), **filled_in(by="Bob Müller", title="Owner", email="b@wok.example"))
    assert certifier(await report_form(site, ana)) == ("Ana", "", "ana@wok.example", False)
    assert certifier(await report_form(site, common)) == ("", "", "", False)
    assert certifier(await report_form(site, bob)) == ("Bob Müller", "Owner", "b@wok.example", False)


async def test_a_report_is_stamped_with_no_title_of_another_person(site: Site) -> None:
    reference, common, _ = await opened(site)
    bob = await link_of(site, reference, "Bob")
    await filed(site, await report_form(site, bob), "draft", by="Bob", title="Owner")
    async with site.home.client(common.rpartition("/")[2]) as api:
        content = {item: f"text of {item}" for item in ITEMS}
        body = {"state": "submit", "duty": "chino/rwqcb-written-5-days", "by": "Ana", "content": content, "revision": 1}
        assert (await api.post(f"/api/v1/spills/{reference}/reports", json=body)).status_code == 201
    [stamp] = await site.home.events(reference, FollowUpFiled)
    assert (stamp.by, stamp.title) == ("Ana", "")


async def test_a_tick_is_gone_where_the_words_of_somebody_else_came_in(site: Site) -> None:
    _, link, _ = await opened(site)
    mine, theirs = await report_form(site, link), await report_form(site, link)
    await filed(site, theirs, "draft", item__cause="grease")
    page = await filed(site, mine, **filled_in(item__cause="roots"))
    assert page.status == 409
    assert certifier(page) == ("Dana Cruz", "crew lead", "", False)


# -- who wrote it


async def test_a_text_that_was_taken_over_is_still_its_writers(site: Site) -> None:
    reference, _, _ = await opened(site)
    ana, bob = await link_of(site, reference, "Ana"), await link_of(site, reference, "Bob Müller")
    late = await report_form(site, await link_of(site, reference, "Carla"))
    mine = await report_form(site, bob)
    await filed(site, await report_form(site, ana), "draft", item__cause="grease")
    await filed(site, mine, "draft", item__prevention="inspect it")  # Ana's words are taken over on Bob's page
    pairs = {**dict(sent_by(late.forms(late.response.url.path)[0])), "item.cause": "roots", "item.prevention": "none"}
    told = (await site.visitor().http.post(f"{late.response.url.path}/draft", data=pairs)).json()
    assert told["theirs"] == {"cause": "grease", "prevention": "inspect it"}
    assert told["who"] == {"cause": "Ana", "prevention": "Bob Müller"}
    page = await filed(site, late, "draft", item__cause="roots", item__prevention="none")
    assert "Written by Ana: grease" in page.text
    assert "Written by Bob Müller: inspect it" in page.text
    assert "with that of Ana, Bob Müller, put" in page.text


# -- what is missing


@pytest.mark.parametrize("button", ["file", "file-incomplete"])
async def test_everything_that_is_missing_is_named_at_once(site: Site, button: str) -> None:
    reference, link, _ = await opened(site)
    page = await report_form(site, link)
    assert page.forms(page.response.url.path)[0].attributes.get("novalidate") == ""  # or the browser names one field and stops
    page = await filed(site, page, **filled_in(item__cause=""))
    page = await filed(site, page, button, item__cause="", item__prevention="", by="", title=" ", certify=[])
    assert page.status == 422
    [box] = [section for section in page.root.all("section") if section["aria-labelledby"] == "faults"]
    listed = [anchor["href"] for anchor in box.all("a")]
    assert listed == ["#item-cause", "#item-prevention", "#certify", "#by", "#title"]
    assert "The report was not filed yet" in page.text
    assert page.one("item-cause")["aria-invalid"] == page.one("by")["aria-invalid"] == "true"
    assert await site.home.events(reference, FollowUpFiled) == []


# -- whom it reaches


async def test_a_report_for_another_authority_says_that_a_copy_must_still_go(site: Site) -> None:
    _, link, _ = await opened(site)
    board = "Santa Ana Regional Water Quality Control Board, Executive Officer (in writing)"
    page = await report_form(site, link)
    assert f"It is not sent on from here: you must also send a copy to {board}." in page.text
    page = await filed(site, page, **filled_in(email="dana@wok.example"))
    told = f"It is not sent on from here. You must still send a copy to: {board}."
    assert told in page.one("handed-in").text
    assert "The duty is done." not in page.text
    assert "The duty is marked as done here." in page.text
    await site.home.work()
    [mail] = [line for line in site.home.outbox() if line["step"] == "filed"]
    assert told in " ".join(mail["text"].split())
    assert "“Send the regional water board the written spill report within five days”" in mail["subject"]
    paper = await receipt_text(site, page)
    assert told in paper
    assert "Owed to Santa Ana Regional" in paper
    assert "Sent to" not in paper
    spanish = await receipt_text(site, page, accept_language="es")
    assert "Usted todavía debe enviar una copia a:" in spanish
    assert "Enviado a" not in spanish


async def test_a_report_for_the_city_is_handed_in_by_filing_it(site: Site) -> None:
    _, link, _ = await opened(site, accidental=True)
    page = await report_form(site, link, SEVEN_DAYS)
    assert "hands it in to the city: City of Chino, Director of Public Works." in page.text
    items = [element["id"].removeprefix("item-") for element in page.root.all("textarea") if element["id"].startswith("item-")]
    page = await filed(site, page, **{f"item__{item}": f"text of {item}" for item in items}, **WHO, email="dana@wok.example")
    assert "The duty is done." in page.text
    told = "an office of the city: City of Chino, Director of Public Works. Filing it here hands it in."
    await site.home.work()
    [mail] = [line for line in site.home.outbox() if line["step"] == "filed"]
    for text in (page.text, " ".join(mail["text"].split()), await receipt_text(site, page)):
        assert told in text
        assert "send a copy" not in text


# -- amendments


async def test_a_report_without_any_change_is_not_filed_again(site: Site) -> None:
    reference, link, _ = await opened(site)
    await filed(site, await report_form(site, link), **filled_in())
    page = await filed(site, await report_form(site, link), reason="just so", **WHO)
    assert page.status == 422
    assert "Nothing was changed since the version on file, so there is nothing to file." in page.text
    assert page.one("reason").text == "just so"
    assert len(await site.home.events(reference, FollowUpFiled)) == 1
    files = [("files", ("lab.pdf", b"%PDF-1.7 x", "application/pdf"))]
    pairs = {**dict(sent_by(page.forms(page.response.url.path)[0], "file")), **WHO}
    await site.visitor().http.post(page.response.url.path, data=pairs, files=files)
    stamps = await site.home.events(reference, FollowUpFiled)
    assert [(stamp.version, stamp.reason) for stamp in stamps] == [(1, ""), (2, "just so")]
    assert "Why it was amended just so" in (await report_form(site, link)).text
    staff = await site.staff("officer")
    assert "Why it was amended: “just so”" in (await staff.get(f"/staff/spills/{reference}")).text


async def test_another_person_may_certify_what_stays_as_it_is(site: Site) -> None:
    reference, link, _ = await opened(site)
    await filed(site, await report_form(site, link), **filled_in())
    await filed(site, await report_form(site, link), **{**WHO, "by": "Ana Ruiz", "title": "Owner"})
    stamps = await site.home.events(reference, FollowUpFiled)
    assert [(stamp.by, stamp.content == stamps[0].content) for stamp in stamps] == [("Dana Cruz", True), ("Ana Ruiz", True)]


async def test_a_first_report_asks_for_no_reason_of_an_amendment(site: Site) -> None:
    _, link, _ = await opened(site)
    page = await report_form(site, link)
    assert not any(element["id"] == "reason" for element in page.root.all("textarea"))
    page = await filed(site, page, **filled_in())
    assert "Why is it amended? (optional)" in page.text
    page = await filed(site, page, "draft", item__cause="other", reason="the camera")
    assert page.one("reason").text == "the camera"
    assert FIVE_DAYS in page.text
