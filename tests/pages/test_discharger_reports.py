"""The written reports of the discharger's page, without JavaScript: prefilled, drafted, certified, filed, amended, with a receipt."""

from __future__ import annotations

import io
from typing import Any

import pikepdf
import pytest

from service.events import FollowUpFiled, FollowUpSaved, ObligationMet
from service.followups import OUR_CERTIFICATION
from service.spills import clean
from tests.pages.conftest import Site
from tests.pages.markup import Page, sent_by
from tests.pages.test_discharger import FIVE_DAYS, opened

DUTY = "chino/rwqcb-written-5-days"
WHO = {"by": "Dana Cruz", "title": "crew lead", "certify": "yes"}
ITEMS = ("material_type", "volume", "cause", "corrective_actions", "prevention")


async def report_form(site: Site, link: str, title: str = FIVE_DAYS, **headers: str) -> Page:
    """The page of the written report of a duty."""
    visitor = site.visitor(**headers)
    card = (await visitor.get(link)).card(title)
    [address] = {anchor["href"] for anchor in card.all("a") if anchor["href"].endswith("/report")}
    return await visitor.get(address)


def filled_in(**items: str | list[str]) -> dict[str, Any]:
    """Every item of the report, filled in, certified."""
    return {**{f"item__{item}": f"text of {item}" for item in ITEMS}, **WHO, **items}


async def filed(site: Site, page: Page, button: str = "file", **fields: str) -> Page:
    """The answer to a report that is sent."""
    return await site.visitor().send(page, page.response.url.path, button, **fields)


async def test_a_report_asks_exactly_what_the_law_lists(site: Site) -> None:
    _, link, _ = await opened(site)
    page = await report_form(site, link)
    assert [label.text for label in page.root.all("label")] == [
        "type of the material or waste", "volume of the material or waste", "cause of the discharge", "all corrective actions taken",
        "measures that will prevent it from happening again", "Attach files (optional)", "I certify this", "Your name", "Your title",
        "E-mail for the receipt (optional)",
    ]  # fmt: skip


async def test_what_the_record_knows_is_offered_and_marked(site: Site) -> None:
    _, link, _ = await opened(site)
    page = await report_form(site, link)
    assert (page.one("item-volume").text, page.one("item-material_type").text) == ("1,500 gallons", "Sewage or toilet water")
    assert page.one("item-volume-known").text == "Filled in from the record. Check that it is right, and correct it if not."
    assert page.one("item-cause").text == ""
    page = await filed(site, page, "draft", item__volume="1,650 gallons")
    assert [element["id"] for element in page.root.all() if element["id"].endswith("-known")] == ["item-material_type-known"]


async def test_a_written_report_is_offered_nothing_that_nobody_has_said(site: Site) -> None:
    threat = {"threat": True, "npdes_permittee": True}
    written = "Send the permitting authority the written noncompliance report"
    _, link, _ = await opened(site, **threat, seen_at="2026-12-01T13:00-08:00", volume="about two bathtubs")
    page = await report_form(site, link, written)
    assert page.one("item-period").text == "It was first seen about Dec 1, 2026, 1:00 PM PST. When it began is not on record."
    assert page.one("item-cause").text == ""
    volume = (await report_form(site, link)).one("item-volume").text
    assert volume.startswith("about ")
    assert volume.endswith(" gallons, as read from the words of the first report")
    _, link, _ = await opened(site, **threat, discharged_at="2026-12-01T13:00-08:00")
    assert (await report_form(site, link, written)).one("item-period").text == "It began Dec 1, 2026, 1:00 PM PST."
    _, link, _ = await opened(site, **threat)
    assert (await report_form(site, link, written)).one("item-period").text == ""


async def test_a_draft_is_kept_and_says_what_is_still_empty(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await filed(site, await report_form(site, link), "draft", item__cause="roots in the lateral")
    assert "The draft is kept. It is not filed yet. 2 items are still empty:" in page.text
    assert {anchor["href"] for anchor in page.root.all("a")} >= {"#item-corrective_actions", "#item-prevention"}
    assert page.one("item-cause").text == "roots in the lateral"
    assert "Go on with the report" in (await site.visitor().get(link)).card(FIVE_DAYS).text
    assert await site.home.events(reference, FollowUpFiled) == []


async def test_a_complete_report_meets_the_duty_and_is_stamped_on_time(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await report_form(site, link)
    site.home.clock.jump(days=1)
    page = await filed(site, page, **filled_in())
    assert "Filed Dec 2, 2026, 2:05 PM PST, on time" in page.text
    assert "The duty is marked as done here." in page.text
    assert "Version 1, filed by Dana Cruz, crew lead." in page.text
    assert "Certified by Dana Cruz, crew lead, Dec 2, 2026, 2:05 PM PST." in page.text
    assert (await site.home.clock_of(reference, DUTY)).state == "met"
    [stamp] = await site.home.events(reference, FollowUpFiled)
    assert (stamp.missing, stamp.certification) == ([], OUR_CERTIFICATION)
    assert "Done on time" in (await site.visitor().get(link)).card(FIVE_DAYS).text


async def test_missing_items_are_named_with_links_before_anything_is_filed(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await filed(site, await report_form(site, link), **filled_in(item__cause="  "))
    assert page.status == 422
    assert "1 item is missing" in page.text
    assert [anchor.text for anchor in page.root.all("a") if anchor["href"] == "#item-cause"] == ["cause of the discharge"]
    assert page.one("item-cause")["aria-invalid"] == "true"
    assert page.one("item-prevention").text == "text of prevention"
    assert await site.home.events(reference, FollowUpFiled) == []
    page = await filed(site, page, "file-incomplete", certify="yes")
    assert "the duty is still open, because this is missing: cause of the discharge" in page.text
    assert await site.home.events(reference, ObligationMet, DUTY) == []
    page = await filed(site, page, item__cause="roots", **WHO)
    assert "The duty is marked as done here." in page.text
    assert "Version 2:" in page.text
    assert "Version 1:" in page.text


async def test_a_late_report_is_taken_and_stamped_by_how_much(site: Site) -> None:
    _, link, _ = await opened(site)
    site.home.clock.jump(days=6)
    page = await filed(site, await report_form(site, link), **filled_in())
    assert "late by 14 hours 5 minutes" in page.text
    assert "Done late" in (await site.visitor().get(link)).card(FIVE_DAYS).text


@pytest.mark.parametrize(
    ("left_out", "says"),
    [("by", "Write the name of the person"), ("title", "Write their title"), ("certify", "Tick the box that certifies")],
)
async def test_a_report_without_its_certification_comes_back_with_everything_typed(site: Site, left_out: str, says: str) -> None:
    reference, link, _ = await opened(site)
    page = await filed(site, await report_form(site, link), **filled_in(**{left_out: [] if left_out == "certify" else " "}))
    assert page.status == 422
    [anchor] = [anchor for anchor in page.root.all("a") if anchor["href"] == f"#{left_out}"]
    assert says in anchor.text
    assert page.one("item-cause").text == "text of cause"
    assert await site.home.events(reference, FollowUpFiled) == []


async def test_words_of_the_law_are_told_from_ours(site: Site) -> None:
    _, link, _ = await opened(site, threat=True, npdes_permittee=True)
    assert "The law sets no words for this report. These are ours." in (await report_form(site, link)).text
    page = await report_form(site, link, "Send the permitting authority the written noncompliance report")
    assert "I certify under penalty of law that this document and all attachments" in page.text
    assert "These are the words of 40 CFR 122.22(d)(1)." in page.text
    spanish = await report_form(site, link, "informe escrito de incumplimiento", accept_language="es")
    [quote] = [element for element in spanish.root.all("blockquote") if element["lang"] == "en"]
    assert quote.text.startswith("I certify under penalty of law")
    assert "Para ayudarle a leerlas: Certifico, bajo pena de ley" in spanish.text


async def test_an_amendment_after_the_duty_is_met_keeps_both_and_shows_what_changed(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await filed(site, await report_form(site, link), **filled_in(item__cause="roots in the main line"))
    site.home.clock.jump(days=9)
    page = await report_form(site, link)
    assert "Amend the report" in page.text
    page = await filed(site, page, item__cause="grease in the main line", reason="A camera was sent in.", **WHO)
    assert "Filed Dec 10, 2026, 2:05 PM PST, after the duty was done" in page.text
    [old] = [element.text for element in page.root.all("del")]
    [new] = [element.text for element in page.root.all("ins")]
    assert (old, new) == ("taken out: roots", "put in: grease")
    assert "Changed since version 1 cause of the discharge" in page.text
    assert "roots in the main line" in page.text
    assert "Why it was amended A camera was sent in." in page.text
    assert (await site.home.clock_of(reference, DUTY)).state == "met"


# -- several people


async def test_two_editors_who_change_the_same_item_see_both_texts(site: Site) -> None:
    reference, link, _ = await opened(site)
    mine, theirs = await report_form(site, link), await report_form(site, link)
    await filed(site, theirs, "draft", item__cause="grease", item__prevention="inspect it")
    page = await filed(site, mine, "draft", item__cause="roots")
    assert page.status == 409
    assert "Somebody else changed this report while you wrote" in page.text
    assert page.one("item-cause").text == "roots"
    assert "Written by somebody who has the firm's common link: grease" in page.text
    assert page.one("item-prevention").text == "inspect it"  # not touched here: theirs stands
    page = await filed(site, page, "draft", item__cause="roots and grease")
    assert page.status == 200
    assert page.one("item-cause").text == "roots and grease"
    assert page.one("item-prevention").text == "inspect it"
    assert len(await site.home.events(reference, FollowUpSaved)) == 1  # both have the common link


async def test_a_fault_in_between_does_not_hide_that_somebody_else_wrote(site: Site) -> None:
    _, link, _ = await opened(site)
    mine, theirs = await report_form(site, link), await report_form(site, link)
    await filed(site, theirs, "draft", item__cause="grease")
    page = await filed(site, mine, **filled_in(item__cause="roots", by=""))
    assert page.status == 409
    assert "grease" in page.text
    page = await filed(site, page, certify="yes")  # comes back for want of a name
    assert page.status == 422
    page = await filed(site, page, **WHO)
    assert page.status == 200


async def test_typing_is_kept_by_the_script_with_the_revision_it_saw(site: Site) -> None:
    _, link, _ = await opened(site)
    page = await report_form(site, link)
    pairs = {**dict(sent_by(page.forms(page.response.url.path)[0])), "item.cause": "roots"}
    browser = site.visitor()
    first = await browser.http.post(f"{page.response.url.path}/draft", data=pairs)
    assert (first.status_code, first.json()["revision"], first.json()["others"]) == (200, 1, {})
    assert first.json()["says"] == "Draft saved, 2:05 PM PST. 2 items are still empty."
    stale = await browser.http.post(f"{page.response.url.path}/draft", data={**pairs, "item.cause": "grease"})
    assert (stale.status_code, stale.json()["theirs"]) == (409, {"cause": "roots"})


# -- papers


async def test_the_receipt_is_a_pdf_that_says_what_was_filed(site: Site) -> None:
    reference, link, _ = await opened(site)
    site.home.clock.jump(days=6)
    page = await filed(site, await report_form(site, link), **filled_in())
    [address] = {anchor["href"] for anchor in page.root.all("a") if anchor["href"].endswith("/1/receipt.pdf")}
    browser = site.visitor()
    answer = await browser.http.get(address)
    assert answer.headers["content-type"] == "application/pdf"
    with pikepdf.open(io.BytesIO(answer.content)) as paper:
        assert str(paper.docinfo["/Title"]).startswith("Receipt: “Send the regional water board")
    assert (await browser.http.get(address.replace("/1/", "/2/"))).status_code == 404
    spanish = await site.visitor(accept_language="es").http.get(address)
    with pikepdf.open(io.BytesIO(spanish.content)) as paper:
        assert str(paper.Root.Lang).startswith("es")
    assert reference in answer.headers["content-disposition"]


async def test_files_are_kept_with_a_draft_and_a_bad_one_loses_nothing(site: Site) -> None:
    _, link, _ = await opened(site)
    page = await report_form(site, link)
    pairs = {**dict(sent_by(page.forms(page.response.url.path)[0], "draft")), "item.cause": "roots"}
    files = [("files", ("lab.pdf", b"%PDF-1.7 x", "application/pdf")), ("files", ("run.exe", b"MZ", "application/octet-stream"))]
    browser = site.visitor()
    answer = browser._read(await browser.http.post(page.response.url.path, data=pairs, files=files))
    assert answer.status == 422
    assert "Some files were not kept" in answer.text
    assert "run.exe is not a file that we can take" in answer.text
    assert "lab.pdf" in answer.text
    page = await report_form(site, link)
    assert page.one("item-cause").text == "roots"
    page = await filed(site, page, **filled_in())
    assert "Attached files: lab.pdf" in page.text


# -- what people send


HOSTILE = {
    "a script": "<script>alert(1)</script>", "an image": "\"><img src=x onerror=alert(1)>", "a template": "{{ 7*7 }}{% raw %}%(when)s",
    "right to left": "\u202eevil\u202c \u0633\u0644\u0627\u0645",
    "nulls": "a\x00b\x1b[31m", "much": "x" * 50_000, "emoji": "\U0001f4a9" * 500,
    "closing": "</textarea></form><h1>", "words": "word " * 9_000,
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_texts_are_kept_as_text_and_run_nowhere(site: Site, text: str) -> None:
    reference, link, _ = await opened(site)
    page = await filed(site, await report_form(site, link), **filled_in(item__cause=text, by=text[:200], title=text[:200]))
    assert page.status == 200
    [stamp] = await site.home.events(reference, FollowUpFiled)
    assert stamp.content["cause"] == clean(text)  # signs that turn the direction of writing are told as what they are
    assert "<script>alert" not in page.response.text
    assert [element for element in page.root.all("img", "script") if element["src"] in ("x", "")] == []
    page = await filed(site, page, item__cause=f"{text[:49_000]} more", reason=text, **WHO)  # and compared
    assert page.status == 200
    address = f"{page.response.url.path}/2/receipt.pdf"
    assert (await site.visitor().http.get(address)).status_code == 200
    staff = await site.staff("officer")
    assert (await staff.get(f"/staff/spills/{reference}")).status == 200


async def test_a_text_over_the_limit_is_named_and_nothing_is_cut(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await filed(site, await report_form(site, link), "draft", item__cause="x" * 50_001)
    assert page.status == 422
    [anchor] = [anchor for anchor in page.root.all("a") if anchor["href"] == "#item-cause"]
    assert anchor.text == "This text is too long. Attach the long part as a file."
    assert len(page.one("item-cause").text) == 50_001
    assert await site.home.events(reference, FollowUpSaved) == []


async def test_a_waived_duty_offers_no_form(site: Site) -> None:
    reference, link, _ = await opened(site)
    page = await report_form(site, link)
    await site.home.waive(reference, DUTY, "the county took it over")
    assert list((await site.visitor().get(page.response.url.path)).root.all("textarea")) == []
    assert (await filed(site, page, **filled_in())).status == 409
