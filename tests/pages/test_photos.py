"""Photos on the pages: who is handed what, under which headers; the field to choose them with; what the console shows. No JavaScript."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image

from service.incoming_bodies import Upload
from service.kept_files import ATTACHMENT, PHOTO, Belonging, FileRefused, take_in_files
from service.pages.photos import refusals, shown_files
from service.pages.rendering import environment
from service.pages.speech import speech
from service.tables import KeptFile
from tests import pictures
from tests.houses import Household
from tests.pages.conftest import Site
from tests.spills import a_report

PDF = b"%PDF-1.7\nwhat the laboratory found\n%%EOF"


async def sent(home: Household, reference: str, *files: tuple[str, bytes], purpose: str = PHOTO, **more: Any) -> list[KeptFile]:
    uploads = [Upload(name, io.BytesIO(content)) for name, content in files]
    kept, refused = await take_in_files(home.house, uploads, Belonging(reference, purpose, "reporter", "the reporter", **more))
    assert refused == []
    return kept


async def test_a_reporter_sees_the_photos_of_the_report_without_their_notes(site: Site) -> None:
    reference = await site.home.report(a_report())
    [row] = await sent(site.home, reference, ("a.jpg", pictures.photo(6)))
    visitor = site.visitor()
    for size, edge in (("", 400), ("?size=small", 400)):
        answer = await visitor.http.get(f"{await site.link('status', reference)}/photos/{row.id}{size}")
        assert answer.status_code == 200
        assert b"Exif" not in answer.content
        with Image.open(io.BytesIO(answer.content)) as picture:
            assert picture.size == (200, edge)
        assert answer.headers["content-type"] == "image/jpeg"
        assert answer.headers["content-disposition"] == f'inline; filename="{reference}-{row.id}.jpg"'
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert answer.headers["cache-control"] == "private, max-age=86400, immutable"


async def test_nobody_is_handed_what_is_not_theirs(site: Site) -> None:
    reference, other = await site.home.report(a_report()), await site.home.report(a_report())
    [photo] = await sent(site.home, reference, ("a.jpg", pictures.photo()))
    [paper] = await sent(site.home, reference, ("lab.pdf", PDF), purpose=ATTACHMENT)
    [broken] = await sent(site.home, reference, ("b.jpg", b"\xff\xd8\xff<html>"))
    status, respond, others = [await site.link(*pair) for pair in (("status", reference), ("respond", reference), ("status", other))]
    visitor = site.visitor()
    for path in (
        f"{others}/photos/{photo.id}", f"{status}/photos/{paper.id}", f"{status}/photos/{broken.id}", f"{respond}/files/{photo.id}",
        f"{respond}/files/{paper.id}?size=small", f"{status[:-1]}x/photos/{photo.id}", f"{status}/photos/0", f"{status}/photos/{2**70}",
        f"{status}/photos/{photo.id}/original",
    ):  # fmt: skip
        assert (await visitor.http.get(path)).status_code == 404, path
    chico = await site.staff("officer", "chico")
    for path in (f"/staff/spills/{reference}/files/{photo.id}", f"/staff/spills/{reference}/files/{photo.id}/original"):
        assert (await chico.http.get(path)).status_code == 404
        assert (await visitor.http.get(path)).status_code == 303  # to sign in


async def test_an_original_is_a_download_for_an_officer(site: Site) -> None:
    reference = await site.home.report(a_report())
    content = pictures.photo() + b"<html><script>alert(1)</script></html>"
    [row] = await sent(site.home, reference, ('foto "del" año.html', content))
    path = f"/staff/spills/{reference}/files/{row.id}/original"
    answer = await (await site.staff("officer")).http.get(path)
    assert answer.content == content
    assert answer.headers["content-type"] == "image/jpeg"
    said = answer.headers["content-disposition"]
    assert said == "attachment; filename=\"foto _del_ a_o.html.jpg\"; filename*=UTF-8''foto%20%22del%22%20a%C3%B1o.html.jpg"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert answer.headers["cache-control"] == "private, no-store"
    assert (await (await site.staff("viewer")).http.get(path)).status_code == 403


async def test_a_discharger_gets_their_own_paper_back(site: Site) -> None:
    reference = await site.home.report(a_report())
    [row] = await sent(site.home, reference, ("lab.pdf", PDF), purpose=ATTACHMENT)
    answer = await site.visitor().http.get(f"{await site.link('respond', reference)}/files/{row.id}")
    assert (answer.content, answer.headers["content-type"]) == (PDF, "application/pdf")
    assert answer.headers["content-disposition"].startswith('attachment; filename="lab.pdf"')


async def test_the_console_shows_photos_papers_and_what_is_odd_about_them(site: Site) -> None:
    reference = await site.home.report(a_report())
    shown, broken = await sent(site.home, reference, ("a.jpg", pictures.photo()), ("b.jpg", b"\xff\xd8\xff<html>"))
    [paper] = await sent(site.home, reference, ("<i>lab.pdf", PDF), purpose=ATTACHMENT)
    page = await (await site.staff("officer")).get(f"/staff/spills/{reference}")
    images = [image["src"] for image in page.root.all("img")]
    assert images == [f"/staff/spills/{reference}/files/{shown.id}?size=small"]
    links = {link["href"] for link in page.root.all("a") if "/files/" in link["href"]}
    assert links == {
        f"/staff/spills/{reference}/files/{shown.id}",
        *(f"/staff/spills/{reference}/files/{row.id}/original" for row in (shown, broken, paper)),
    }
    assert "Camera position: 34.01000, -117.69000" in page.text
    assert "It could not be decoded." in page.text
    assert "<i>lab.pdf" in page.text
    assert "3 files were sent." in page.text
    viewers = await (await site.staff("viewer")).get(f"/staff/spills/{reference}")
    assert "Camera position" not in viewers.text
    assert not [link for link in viewers.root.all("a") if link["href"].endswith("/original")]


async def test_a_console_page_without_files_has_no_part_for_them(site: Site) -> None:
    page = await (await site.staff()).get(f"/staff/spills/{await site.home.report(a_report())}")
    assert "Photos and files" not in page.text


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_field_asks_about_the_place_and_leaves_the_choice_open(site: Site, language: str) -> None:
    template = environment(language).from_string('{% import "photo_parts.html" as p with context %}{{ p.photo_field(errors=["<no>"]) }}')
    text = template.render(house=site.home.house)
    assert 'accept="image/*"' in text
    assert "capture" not in text
    assert "&lt;no&gt;" in text
    assert "checked" not in text
    assert ("Use the place stored in my photos" in text) == (language == "en")
    assert "%(count)s" in text
    assert "15 MB" in text


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_refusal_is_told_in_plain_words(site: Site, language: str) -> None:
    house, spoken = site.home.house, speech(language)
    for purpose in (PHOTO, ATTACHMENT):
        refused = [FileRefused(why, "a.jpg", "x", "y") for why in ("empty", "too_large", "kind", "too_many_pixels", "too_many")]
        sentences = refusals(spoken, house, refused, purpose)
        assert len(set(sentences)) == 5
        assert all(sentence.startswith("a.jpg ") and sentence.endswith(".") and "%" not in sentence for sentence in sentences)


async def test_every_mark_of_a_file_has_words(site: Site) -> None:
    rows = [KeptFile(id=1, name="a", media_type="image/heic", size=15_300_000, flags=[flag], kept_at=site.home.clock.at) for flag in
            ("damaged", "unreadable", "no_reader")]  # fmt: skip
    shown = shown_files(speech("en"), rows)
    assert [len(one.remarks) for one in shown] == [1, 1, 1]
    assert {one.size for one in shown} == {"15.3 MB"}


async def test_a_photo_of_a_confidential_reporter_tells_its_place_to_nobody_but_staff(site: Site) -> None:
    body = a_report(location={"address": "Central Ave, Chino"}, contact={"name": "Ana", "privacy": "confidential"})
    reference = await site.home.report(body, staff=False)
    await sent(site.home, reference, ("a.jpg", pictures.photo()))
    await site.home.work()
    visitor = site.visitor()
    paths = ["/", "/report", "/map", "/alerts", "/advisories", "/api/v1/public/spills", "/open311/v2/requests.json", "/feeds/cap"]
    paths += [await site.link("respond", reference), await site.link("status", reference)]
    for path in paths:
        text = (await visitor.http.get(path)).text
        assert "34.01" not in text, path
        assert "117.69" not in text, path
    assert not [line for line in site.home.outbox() if "34.01" in str(line) or "117.69" in str(line)]
    spill = await site.home.spill(reference)
    assert (spill.lat, spill.lon) == (None, None)
