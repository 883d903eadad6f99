"""Files that nobody should send: each ends as a file that is kept and marked, or in a clear refusal, never in a fault of ours."""

from __future__ import annotations

import io
from pathlib import Path

import httpx
import pytest
from PIL import Image

from service import kept_files
from service.incoming_bodies import Upload
from service.kept_files import FileRefused, examine
from service.parties import link_token
from tests import pictures
from tests.houses import Household
from tests.spills import a_report

_NAMES = ("IMG_0001.jpg", "../../../etc/passwd", "a\x00.jpg", "photo\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe", "x" * 3000, "page.html", "📷.heic")


def upload(content: bytes, name: str) -> Upload:
    return Upload(name, io.BytesIO(content))


def is_in_one_of_its_own(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


@pytest.mark.parametrize("what", pictures.KEPT)
async def test_an_odd_picture_is_kept_as_it_came_and_marked(home: Household, what: str) -> None:
    make, flags, is_shown = pictures.KEPT[what]
    content = make()
    found = await examine(home.house, upload(content, _NAMES[len(what) % len(_NAMES)]))
    assert (found.flags, found.is_shown) == (flags, is_shown)
    row = kept_files.KeptFile(digest=found.digest, is_shown=found.is_shown, media_type=found.media_type)
    assert kept_files.open_original(home.house, row).read_bytes() == content
    for small in (False, True) if is_shown else ():
        shown = kept_files.open_public(home.house, row, small=small)
        assert is_in_one_of_its_own(shown, home.house.settings.files_path)
        written = shown.read_bytes()
        assert not any(part in written for part in (b"<script", b"<html", b"<?php", b"PK\x03\x04", b"Ana Ruiz", b"Exif"))
        with Image.open(io.BytesIO(written)) as picture:
            picture.load()
            assert picture.format == "JPEG"
            assert max(picture.size) <= (480 if small else 2048)


@pytest.mark.parametrize("what", pictures.REFUSED)
async def test_what_is_no_photo_is_refused_with_what_would_be_right(home: Household, what: str) -> None:
    make, why = pictures.REFUSED[what]
    with pytest.raises(FileRefused) as refused:
        await examine(home.house, upload(make(), "IMG_0001.jpg"))
    assert (refused.value.why, refused.value.status) == (why, 422)
    [fault] = refused.value.faults
    assert fault.startswith("IMG_0001.jpg: ")
    assert "; right would be: " in fault
    files = home.house.settings.files_path
    assert [path for path in files.rglob("*") if path.is_file()] == []


async def test_a_heic_named_jpg_is_taken_for_what_it_is(home: Household) -> None:
    found = await examine(home.house, upload(pictures.heic(exif=pictures.notes()), "IMG_0001.jpg"))
    assert (found.media_type, found.is_shown, found.lat) == ("image/heic", True, pictures.CHINO[0])


async def test_an_upright_heic_is_not_turned_twice(home: Household) -> None:
    found = await examine(home.house, upload(pictures.heic(exif=pictures.notes(6)), "IMG_0001.heic"))
    row = kept_files.KeptFile(digest=found.digest, is_shown=True)
    with Image.open(kept_files.open_public(home.house, row)) as picture:
        assert picture.size == (found.width, found.height) == (200, 400)
        assert picture.getpixel((100, 20))[0] > 150  # red is up


async def test_a_pdf_is_taken_where_papers_are_and_stays_a_download(home: Household) -> None:
    found = await examine(home.house, upload(b"%PDF-1.7\n/JavaScript (app.alert(1))\n%%EOF", "plan.pdf"), documents=True)
    assert (found.media_type, found.is_shown, found.flags) == ("application/pdf", False, ())


async def everything_at_once(home: Household, client: httpx.AsyncClient, reference: str) -> list[httpx.Response]:
    contents = [make() for make, *_ in (*pictures.KEPT.values(), *pictures.REFUSED.values())]
    names = [_NAMES[number % len(_NAMES)] for number in range(len(contents))]
    answers = []
    for start in range(0, len(contents), 30):
        files = [("photos", (name, content)) for name, content in zip(names[start : start + 30], contents[start : start + 30], strict=True)]
        answers.append(await client.post(f"/api/v1/spills/{reference}/photos", files=files, data={"share_location": "yes"}))
    return answers


@pytest.mark.timeout(300)
async def test_all_of_them_sent_by_a_stranger_end_in_answers_and_a_page_that_opens(home: Household) -> None:
    assert len(pictures.KEPT) + len(pictures.REFUSED) >= 60
    reference = await home.report(a_report(location=None), staff=False)
    token = link_token(home.house, "status", await home.spill(reference))
    answers = await everything_at_once(home, home.client(token), reference)
    assert {answer.status_code for answer in answers} <= {201, 422}
    told = [line for answer in answers for line in answer.json().get("warnings", answer.json().get("errors"))]
    assert len(told) >= len(pictures.REFUSED)
    assert not any("\x00" in line or "\N{RIGHT-TO-LEFT OVERRIDE}" in line or "../" in line for line in told)
    shown = await home.client(await home.token("officer", "chino")).get(f"/api/v1/spills/{reference}")
    assert shown.status_code == 200
    assert (await home.spill(reference)).lat == pictures.CHINO[0]
