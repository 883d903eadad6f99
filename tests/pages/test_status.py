"""The reporter's page after the report: more words, a copy of the record, what was done, the end; and the same for staff. No JavaScript."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image

from service.events import ActionAsked, CopyAsked, ReporterAdded, SpillClosed
from service.following import LONGEST_ADDITION
from service.relocation import assign_city
from service.spills import clean
from service.transaction import transaction
from tests.pages.conftest import Site
from tests.service.printed import lost, printed
from tests.spills import a_report

ANA = {"name": "Ana Ruiz", "email": "ana@example.com", "phone": "909 555 0155", "privacy": "confidential"}
WHY = "The sewer was unblocked and the street was washed."
SECRETS = ("Ana Ruiz", "ana@example.com", "555 0155", "5550155", "officer@chino", "manager@chino", "Golden Wok", "owner@")


async def reported(site: Site, **facts: Any) -> tuple[str, str]:
    """A report by the public: its reference, and the path of its page."""
    reference = await site.home.report(a_report(contact=ANA, **facts), staff=False)
    return reference, await site.link("status", reference)


async def closed(site: Site, reference: str, **fields: str) -> None:
    for row in await site.home.clocks(reference):
        if row.state in ("running", "overdue", "waiting"):
            await site.home.waive(reference, row.duty, "a drill")
    staff = await site.staff()
    page = await staff.get(f"/staff/spills/{reference}/close")
    assert (await staff.send(page, f"/staff/spills/{reference}/close", reason=WHY, **fields)).status == 200


async def test_more_words_are_kept_shown_and_told_to_staff(site: Site) -> None:
    reference, path = await reported(site)
    visitor = site.visitor()
    page = await visitor.send(await visitor.get(path), f"{path}/more", text="It runs faster now. <b>Help</b>")
    assert page.status == 200
    assert "Your words were added, and staff were told." in page.text
    assert "It runs faster now. <b>Help</b>" in page.text
    assert "You told us more." in page.text
    assert (await site.home.events(reference, ReporterAdded))[0].text == "It runs faster now. <b>Help</b>"
    shown = await (await site.staff()).get(f"/staff/spills/{reference}")
    assert shown.text.count("It runs faster now. <b>Help</b>") >= 2
    await site.home.work()
    assert [line["to"] for line in site.home.outbox() if line["step"] == "added"]


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "Write what is new"), ("\x00 ", "Write what is new"), ("x" * (LONGEST_ADDITION + 1), "This is too long")],
)
async def test_words_that_cannot_be_kept_come_back_with_the_reason(site: Site, text: str, says: str) -> None:
    reference, path = await reported(site)
    page = await site.visitor().post(f"{path}/more", {"text": text})
    assert page.status == 422
    assert says in page.one("text-error").text
    assert page.one("text").text == clean(text.strip())
    assert await site.home.events(reference, ReporterAdded) == []


async def test_the_record_is_handed_out_as_a_tagged_pdf_and_noted(site: Site) -> None:
    reference, path = await reported(site)
    await site.home.name_discharger(reference, "Golden Wok LLC", "owner@goldenwok.example")
    await site.home.happened(reference, "responded")
    visitor = site.visitor()
    for _ in range(2):
        answer = await visitor.http.post(f"{path}/copy", follow_redirects=True)
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == f'attachment; filename="{reference}.pdf"'
    assert answer.headers["cache-control"] == "no-store"
    assert len(await site.home.events(reference, CopyAsked)) == 1
    record = printed(answer.content)
    assert record.claims_ua
    assert record.title == f"Record of report {reference}"
    for words in ("A manhole overflows beside the school.", "13220 Central Ave", "Staff went to the place.", "By another program"):
        assert words in " ".join(record.text.split())
    for secret in SECRETS:
        assert secret not in record.text


async def test_the_record_is_read_again_without_a_trace_and_in_spanish(site: Site) -> None:
    reference, path = await reported(site)
    answer = await site.visitor().http.get(f"{path}/record.pdf?lang=es", headers={"accept-language": "es"})
    record = printed(answer.content)
    assert (record.language, record.title) == ("es", f"Expediente del reporte {reference}")
    assert await site.home.events(reference, CopyAsked) == []


async def test_who_asks_what_was_done_reads_the_answer_of_the_office(site: Site) -> None:
    reference, path = await reported(site)
    visitor, staff = site.visitor(), await site.staff()
    page = await visitor.send(await visitor.get(path), f"{path}/action")
    assert "Staff were asked to tell you what action was taken." in page.text
    assert "You will also get a message at the address you left." in page.text
    assert page.forms(f"{path}/action") == []
    assert len(await site.home.events(reference, ActionAsked)) == 1
    shown = await staff.get(f"/staff/spills/{reference}")
    assert "The reporter asks what action was taken." in shown.text
    form = await staff.get(f"/staff/spills/{reference}/close")
    assert "They asked for it." in form.text
    assert "told on their page and by e-mail" in form.text
    done = await staff.send(form, f"/staff/spills/{reference}/answer", reason=WHY)
    assert "The reporter was told." in done.text
    page = await visitor.get(path)
    assert "Answered Dec 1, 2026, 2:05 PM PST by an officer of the City of Chino, California." in page.text
    assert WHY in page.text
    for secret in SECRETS:
        assert secret not in page.response.text
    await site.home.work()
    assert [line["to"] for line in site.home.outbox() if line["step"] == "answered"] == ["ana@example.com"]


async def test_a_closed_report_says_why_and_by_which_office(site: Site) -> None:
    reference, path = await reported(site)
    await closed(site, reference)
    visitor = site.visitor()
    page = await visitor.get(path)
    assert f"Report {reference} is closed" in page.text
    assert "Closed Dec 1, 2026, 2:05 PM PST by an officer of the City of Chino, California." in page.text
    assert WHY in page.text
    assert page.forms(f"{path}/more") == []
    for secret in SECRETS:
        assert secret not in page.response.text
    refused = await visitor.post(f"{path}/more", {"text": "It runs again."})
    assert refused.status == 409
    record = printed((await visitor.http.get(f"{path}/record.pdf")).content)
    assert WHY in " ".join(record.text.split())


async def test_a_spanish_reporter_reads_spanish_and_what_has_none_is_marked(site: Site) -> None:
    reference, path = await reported(site, language="es")
    await closed(site, reference, reason_es="Se lavó la calle.")
    page = await site.visitor(accept_language="es").get(path)
    assert "Se lavó la calle." in page.text
    assert "Cerrado el 1 dic 2026, 2:05 p.m. PST por el personal de guardia de City of Chino, California." in page.text
    assert WHY not in page.text
    staff = await site.staff("manager")
    await staff.post(f"/staff/spills/{reference}/reopen", {"reason": "It runs again."})
    await staff.post(f"/staff/spills/{reference}/answer", {"reason": "A crew is there."})
    page = await site.visitor(accept_language="es").get(path)
    [english] = [element for element in page.root.all("blockquote") if element["lang"] == "en"]
    assert english.text == "A crew is there."
    assert "El reporte se abrió de nuevo." in page.text


async def test_staff_close_only_what_they_have_looked_at(site: Site) -> None:
    reference, _ = await reported(site)
    officer, manager = await site.staff(), await site.staff("manager")
    action = f"/staff/spills/{reference}/close"
    page = await officer.send(await officer.get(action), action, reason=WHY)
    assert page.status == 409
    assert "confirm that it stays open" in page.text
    assert WHY in page.text
    form = (await manager.get(action)).forms(action)[0]
    boxes = [box["value"] for box in form.all("input") if box["name"] == "left_open"]
    done = await manager.send(await manager.get(action), form, reason=WHY, left_open=boxes)
    assert "The spill is closed, and the reporter was told." in done.text
    [event] = await site.home.events(reference, SpillClosed)
    assert [str(number) for number in event.left_open] == boxes
    page = await officer.post(action, {"reason": WHY})
    assert page.status == 409


async def test_a_viewer_reads_how_it_ended_and_closes_nothing(site: Site) -> None:
    reference, _ = await reported(site)
    viewer = await site.staff("viewer")
    assert "Close the spill" not in (await viewer.get(f"/staff/spills/{reference}")).text
    for path in ("close", "reopen", "answer"):
        assert (await viewer.post(f"/staff/spills/{reference}/{path}", {"reason": WHY})).status == 403


async def test_the_law_of_soledad_is_named_where_it_gives_the_right(site: Site) -> None:
    reference, path = await reported(site)
    assert "The law gives you this right" not in (await site.visitor().get(path)).text
    async with transaction(site.home.house, "test") as tx:
        await assign_city(tx, await tx.spill(reference), "soledad", "a drill")
    page = await site.visitor().get(path)
    assert "The law gives you this right: Soledad Municipal Code, action upon report, (B)" in page.text
    record = printed((await site.visitor().http.get(f"{path}/record.pdf")).content)
    assert "Soledad Municipal Code, action upon report, (B)" in " ".join(record.text.split())


@pytest.mark.parametrize("path", ["", "/record.pdf"])
async def test_nobody_reads_a_report_without_its_link(site: Site, path: str) -> None:
    reference, _ = await reported(site)
    for token in (f"{reference}.1.{'A' * 24}", reference, "x", "%00"):
        assert (await site.visitor().http.get(f"/status/{token}{path}")).status_code == 404


@pytest.mark.parametrize("path", ["/more", "/copy", "/action"])
async def test_nobody_adds_to_a_report_without_its_link(site: Site, path: str) -> None:
    reference, _ = await reported(site)
    assert (await site.visitor().http.post(f"/status/{reference}.1.{'A' * 24}{path}", data={"text": "x"})).status_code == 404
    assert not [event for _, event in await site.home.history(reference) if isinstance(event, ReporterAdded | CopyAsked | ActionAsked)]


async def test_hostile_words_are_shown_as_words_everywhere(site: Site) -> None:
    text = '<script>alert(1)</script>\x00\u202e{{ 7*7 }} #panic() "\U0001f600 \u05e9\u05dc\u05d5\u05dd'
    reference, path = await reported(site, description=text)
    page = await site.visitor().post(f"{path}/more", {"text": text})
    assert "<script>alert(1)" not in page.response.text
    assert "<script>alert(1)</script>\ufffd\u202e{{ 7*7 }} #panic()" in page.text
    shown = await (await site.staff()).get(f"/staff/spills/{reference}")
    assert "<script>alert(1)" not in shown.response.text
    record = printed((await site.visitor().http.get(f"{path}/record.pdf")).content)
    assert lost(text.replace("\x00", "\ufffd"), record) == {}


def a_photo(colour: str = "brown") -> bytes:
    kept = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(kept, "JPEG")
    return kept.getvalue()


async def test_photos_are_added_later_and_what_is_no_photo_is_said(site: Site) -> None:
    reference, path = await reported(site)
    visitor = site.visitor()
    sent = [("photos", ("drain.jpg", a_photo(), "image/jpeg")), ("photos", ("notes.exe", b"MZ no photo", "image/jpeg"))]
    page = await visitor.http.post(f"{path}/more", data={"text": "It is brown."}, files=sent)
    assert page.status_code == 422
    assert "notes.exe is not a photo that we can take" in page.text
    assert "It is brown." in page.text
    [event] = await site.home.events(reference, ReporterAdded)
    assert (event.text, event.photos) == ("It is brown.", 1)
    shown = await visitor.get(path)
    [picture] = [image for image in shown.root.all("img") if "/photos/" in image["src"]]
    assert (await visitor.http.get(picture["src"])).headers["content-type"] == "image/jpeg"
    await visitor.http.post(f"{path}/more", files=[("photos", ("drain.jpg", a_photo("blue"), "image/jpeg"))])
    shown = await visitor.get(path)
    assert "You sent photos." in shown.text
    record = printed((await visitor.http.get(f"{path}/record.pdf")).content)
    assert "Photos 2" in " ".join(record.text.split())


async def test_a_closed_report_keeps_no_photo(site: Site) -> None:
    reference, path = await reported(site)
    await closed(site, reference)
    page = await site.visitor().http.post(f"{path}/more", files=[("photos", ("drain.jpg", a_photo(), "image/jpeg"))])
    assert page.status_code == 409
    assert "/photos/" not in page.text
