"""Photos over the API: who may send them, what is answered, and that a request may be repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from service.closing import close
from service.events import FileKept
from service.parties import link_token
from service.transaction import transaction
from tests import pictures
from tests.houses import Household, a_household
from tests.spills import a_report


async def reporters(home: Household, reference: str) -> httpx.AsyncClient:
    """A program that holds the last part of the report's status link."""
    return home.client(link_token(home.house, "status", await home.spill(reference)))


async def send(client: httpx.AsyncClient, reference: str, *files: tuple[str, bytes], **fields: str) -> httpx.Response:
    return await client.post(f"/api/v1/spills/{reference}/photos", files=[("photos", file) for file in files], data=fields)


async def test_a_reporter_adds_photos_and_is_told_what_was_kept(home: Household) -> None:
    reference = await home.report(a_report(), staff=False)
    answer = await send(await reporters(home, reference), reference, ("a.jpg", pictures.photo()), ("b.svg", b"<svg/>"))
    assert answer.status_code == 201
    body = answer.json()
    assert [photo["name"] for photo in body["photos"]] == ["a.jpg"]
    assert set(body["photos"][0]) == {"id", "name", "media_type", "size", "width", "height", "is_shown", "flags"}
    assert body["warnings"] == [
        "b.svg: it is no kind of file that is taken here; right would be: a photo (JPEG, PNG, WebP or HEIC)",
    ]  # fmt: skip
    [event] = await home.events(reference, FileKept)
    assert event.by == "the reporter"


async def test_the_same_request_again_gives_the_same_photos(home: Household) -> None:
    reference = await home.report(a_report(), staff=False)
    client = await reporters(home, reference)
    first, again = [await send(client, reference, ("a.jpg", pictures.photo())) for _ in range(2)]
    assert first.json()["photos"] == again.json()["photos"]
    assert (first.headers.get("idempotency-replayed"), again.headers.get("idempotency-replayed")) == (None, "true")
    assert again.json()["warnings"] == [f"a.jpg: it is there already, as photo {first.json()['photos'][0]['id']}"]
    assert len(await home.events(reference, FileKept)) == 1


async def test_an_officer_adds_photos_under_their_own_name(home: Household) -> None:
    reference = await home.report(a_report())
    answer = await send(home.client(await home.token("officer", "chino")), reference, ("a.png", pictures.encoded(pictures.halves(), "PNG")))
    assert answer.status_code == 201
    [event] = await home.events(reference, FileKept)
    assert event.by == "officer@chino.example"


async def test_only_the_reporter_and_staff_of_the_city_send_photos(home: Household) -> None:
    reference, other = await home.report(a_report()), await home.report(a_report())
    spill = await home.spill(reference)
    callers = {
        401: [home.client(), home.client("made-up"), home.client(link_token(home.house, "respond", spill))],
        403: [home.client(await home.token("viewer", "chino"))],
        404: [home.client(await home.token("officer", "chico")), await reporters(home, other)],
    }
    for status, clients in callers.items():
        for client in clients:
            answer = await send(client, reference, ("a.jpg", pictures.photo()))
            assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert await home.events(reference, FileKept) == []


async def test_a_closed_report_takes_no_more_photos_of_its_reporter(home: Household) -> None:
    reference = await home.report(a_report(), staff=False)
    for row in await home.clocks(reference):
        if row.state in ("running", "overdue", "waiting"):
            await home.waive(reference, row.duty, "a drill")
    async with transaction(home.house, "manager@chino.example") as tx:
        await close(tx, await tx.spill(reference), {"en": "The street was washed."}, "manager")
    answer = await send(await reporters(home, reference), reference, ("a.jpg", pictures.photo()))
    assert answer.status_code == 409


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        ({"data": {"share_location": "yes"}}, "photos: missing"),
        ({"json": {"photos": []}}, "photos: missing"),
        ({"files": [("photos", ("a.svg", b"<svg/>"))]}, "a.svg: it is no kind of file"),
        ({"files": [("photos", ("a.jpg", b""))]}, "a.jpg: it is empty"),
        ({"files": [("x", (f"{n}.jpg", b"x")) for n in range(201)]}, "form: Too many files"),
        ({"files": [("x", (None, b"x")) for _ in range(201)]}, "form: Too many fields"),
        ({"files": [("x", (None, b"x" * 300_000))]}, "form: Part exceeded maximum size"),
        ({"content": b"--x", "headers": {"content-type": "multipart/form-data"}}, "form: Missing boundary"),
        ({"content": b"no form", "headers": {"content-type": "multipart/form-data; boundary=x"}}, "form: "),
        ({"content": b"--x\r\n\r\n\r\n--x--", "headers": {"content-type": "multipart/form-data; boundary=x"}}, "form: "),
    ],
    ids=["no photo", "json", "no picture", "empty", "many files", "many fields", "a long field", "no boundary", "no parts", "no name"],
)
async def test_what_is_no_form_with_photos_is_a_fault_that_says_so(home: Household, request_: dict[str, Any], fault: str) -> None:
    reference = await home.report(a_report())
    answer = await (await reporters(home, reference)).post(f"/api/v1/spills/{reference}/photos", **request_)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"][0].startswith(fault)


async def test_more_than_a_form_may_hold_is_stopped_while_it_is_read(tmp_path: Path) -> None:
    async with a_household(tmp_path, largest_form_mb=1) as home:
        reference = await home.report(a_report())
        answer = await send(await reporters(home, reference), reference, ("a.jpg", b"\xff\xd8\xff" + bytes(1_200_000)))
        assert answer.status_code == 413
        assert answer.json()["detail"] == "the body is over 1,000,000 bytes; right would be: fewer files at once, or smaller ones"


async def test_a_single_photo_over_the_limit_is_told_as_too_large(tmp_path: Path) -> None:
    async with a_household(tmp_path, largest_file_mb=1) as home:
        reference = await home.report(a_report())
        answer = await send(await reporters(home, reference), reference, ("a.jpg", b"\xff\xd8\xff" + bytes(1_200_000)))
        assert answer.status_code == 413
        assert answer.json()["errors"] == ["a.jpg: it is over 1 MB; right would be: a file of at most 1 MB"]


async def test_a_call_that_claims_a_form_reads_no_more_json_than_any_other(home: Household) -> None:
    headers = {"content-type": "multipart/form-data; boundary=x"}
    answer = await home.client().post("/api/v1/spills", content=b" " * 1_100_000, headers=headers)
    assert answer.status_code == 413


async def test_more_than_forty_photos_at_once_are_kept_up_to_forty(home: Household) -> None:
    reference = await home.report(a_report())
    files = [(f"{n}.png", pictures.png(1, 1 + n, pictures.black(1, 1 + n))) for n in range(41)]
    answer = await send(await reporters(home, reference), reference, *files)
    assert answer.status_code == 201
    assert len(answer.json()["photos"]) == 40
    assert answer.json()["warnings"] == ["40.png: more than 40 files came at once; right would be: the rest sent after these"]
