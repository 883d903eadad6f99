"""Photos and papers: looked at, kept, found again, handed out without what the camera noted, and swept where nobody kept them."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from service import file_store, image_reading, kept_files
from service.errors import Conflict, NotKnown
from service.events import FileKept, PlaceMoved
from service.incoming_bodies import CannotKeep, Upload
from service.kept_files import ATTACHMENT, PHOTO, Belonging, Examined, FileRefused, examine, keep, label, sweep, take_in_files
from service.tables import KeptFile
from service.transaction import House, reading, transaction
from tests import pictures
from tests.houses import Household, a_household
from tests.spills import IN_ONTARIO, a_report


def upload(content: bytes, name: str = "IMG_0001.jpg") -> Upload:
    return Upload(name, io.BytesIO(content))


async def send(home: Household, reference: str, *contents: bytes, purpose: str = PHOTO, **more: Any) -> list[KeptFile]:
    """Keep files; a refusal is an error of the test."""
    kept, refused = await take_in_files(
        home.house, [upload(content, f"IMG_{n}.jpg") for n, content in enumerate(contents)],
        Belonging(reference, purpose, "reporter", "the reporter", **more),
    )  # fmt: skip
    assert refused == []
    return kept


def on_disk(home: Household) -> list[str]:
    folder = home.house.settings.files_path
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def is_near(colour: Any, wanted: tuple[int, int, int]) -> bool:
    return all(abs(one - other) < 40 for one, other in zip(colour, wanted, strict=True))


# -- what is shown


@pytest.mark.parametrize(
    ("way", "red_corner"),
    [(1, "left"), (2, "right"), (3, "right"), (4, "left"), (5, "top"), (6, "top"), (7, "bottom"), (8, "bottom")],
)
async def test_a_photo_is_shown_upright_however_the_phone_was_held(home: Household, way: int, red_corner: str) -> None:
    [row] = await send(home, await home.report(a_report()), pictures.photo(way))
    with Image.open(kept_files.open_public(home.house, row)) as shown:
        assert shown.size == (row.width, row.height) == ((200, 400) if way > 4 else (400, 200))
        middle = (shown.width // 2, shown.height // 2)
        spot = {"left": (20, middle[1]), "right": (shown.width - 20, middle[1]), "top": (middle[0], 20), "bottom": (middle[0], 380)}
        assert is_near(shown.getpixel(spot[red_corner]), pictures.RED)


async def test_what_the_camera_noted_is_in_the_original_and_in_nothing_that_is_shown(home: Household) -> None:
    content = pictures.with_segment(pictures.photo(), 0xFE, b"made by Ana Ruiz")
    [row] = await send(home, await home.report(a_report()), content)
    assert (row.lat, row.lon, row.camera_time) == (*pictures.CHINO, "2026-12-01 14:01:02")
    assert kept_files.open_original(home.house, row).read_bytes() == content
    for small in (False, True):
        shown = kept_files.open_public(home.house, row, small=small).read_bytes()
        assert b"Ana Ruiz" not in shown
        assert b"Exif" not in shown
        with Image.open(io.BytesIO(shown)) as picture:
            assert set(picture.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density", "progressive", "progression"}


async def test_a_large_photo_is_shown_in_two_sizes(home: Household) -> None:
    [row] = await send(home, await home.report(a_report()), pictures.encoded(pictures.halves(4032, 3024), exif=pictures.notes(6)))
    assert (row.width, row.height) == (3024, 4032)
    for small, edge in ((False, 2048), (True, 480)):
        with Image.open(kept_files.open_public(home.house, row, small=small)) as picture:
            assert max(picture.size) == edge


async def test_a_transparent_picture_is_shown_on_white(home: Household) -> None:
    clear = pictures.encoded(Image.new("RGBA", (300, 200), (0, 0, 0, 0)), "PNG")
    [row] = await send(home, await home.report(a_report()), clear)
    with Image.open(kept_files.open_public(home.house, row)) as picture:
        assert is_near(picture.getpixel((100, 100)), pictures.WHITE)


async def test_sixteen_bits_of_grey_keep_their_brightness(home: Household) -> None:
    [row] = await send(home, await home.report(a_report()), pictures.encoded(Image.new("I;16", (300, 200), 128 * 256), "PNG"))
    with Image.open(kept_files.open_public(home.house, row)) as picture:
        assert is_near(picture.getpixel((100, 100)), (128, 128, 128))


def test_without_its_reader_a_heic_is_told_to_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = tmp_path / "content"
    content.write_bytes(pictures.heic())
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    assert image_reading.read_picture(content, "image/heic", tmp_path) == {"state": "no_reader"}


# -- keeping


async def test_a_photo_is_kept_with_its_spill_and_on_record(home: Household) -> None:
    reference = await home.report(a_report())
    [row] = await send(home, reference, pictures.photo())
    [event] = await home.events(reference, FileKept)
    assert event.model_dump() == {
        "file": row.id, "purpose": "photo", "name": "IMG_0.jpg", "media_type": "image/jpeg", "size": row.size, "digest": row.digest,
        "by": "the reporter", "flags": [], "obligation": None, "version": None, "place": None,
    }  # fmt: skip
    async with reading(home.house) as tx:
        spill = await tx.spill(reference)
        assert [found.id for found in await kept_files.kept_files(tx, spill)] == [row.id]
        assert await kept_files.kept_files(tx, spill, ATTACHMENT) == []


async def test_the_same_content_is_stored_once_and_kept_once_a_spill_and_purpose(home: Household) -> None:
    first, second = await home.report(a_report()), await home.report(a_report())
    photo = pictures.photo()
    [row], [again], [elsewhere] = await send(home, first, photo), await send(home, first, photo), await send(home, second, photo)
    [paper] = await send(home, first, photo, purpose=ATTACHMENT)
    assert row.id == again.id
    assert len({row.id, elsewhere.id, paper.id}) == 3
    assert len(on_disk(home)) == 3  # the original and its two copies
    assert len(await home.events(first, FileKept)) == 2


async def test_a_paper_may_stand_in_the_reports_of_two_duties(home: Household) -> None:
    reference = await home.report(a_report())
    one, other, *_ = await home.clocks(reference)
    pdf = b"%PDF-1.7\nwhat the laboratory found\n%%EOF"
    rows = [(await send(home, reference, pdf, purpose=ATTACHMENT, obligation_id=duty.id, version=1))[0] for duty in (one, other, one)]
    assert rows[0].id == rows[2].id != rows[1].id
    assert (rows[0].media_type, rows[0].is_shown, rows[0].flags) == ("application/pdf", False, [])
    with pytest.raises(NotKnown, match="no picture"):
        kept_files.open_public(home.house, rows[0])


async def test_forty_photos_of_a_spill_are_kept_and_no_more(home: Household) -> None:
    reference = await home.report(a_report())
    sent = [upload(pictures.encoded(Image.new("RGB", (9, 9 + number))), f"{number}.jpg") for number in range(41)]
    kept, refused = await take_in_files(home.house, sent, Belonging(reference, PHOTO, "reporter", "the reporter"))
    assert len(kept) == 40
    assert [(error.why, error.name) for error in refused] == [("too_many", "40.jpg")]
    [more], [error] = await take_in_files(home.house, [sent[0], sent[40]], Belonging(reference, PHOTO, "reporter", "the reporter"))
    assert more.id == kept[0].id
    assert error.faults == [f"40.jpg: {reference} has 40 photos already; right would be: at most 40; call the city"]


async def test_one_bad_file_spoils_no_other(home: Household) -> None:
    reference = await home.report(a_report())
    files = [upload(b"<svg/>", "a.svg"), upload(pictures.photo(), "b.jpg"), upload(b"", "c.jpg")]
    kept, refused = await take_in_files(home.house, files, Belonging(reference, PHOTO, "reporter", "the reporter"))
    assert [row.name for row in kept] == ["b.jpg"]
    assert [(error.why, error.status) for error in refused] == [("kind", 422), ("empty", 422)]


async def test_a_file_over_the_limit_is_refused_with_the_limit(tmp_path: Path) -> None:
    async with a_household(tmp_path, largest_file_mb=1) as home:
        with pytest.raises(FileRefused) as refused:
            await examine(home.house, upload(b"\xff\xd8\xff" + bytes(1_000_000), "big.jpg"))
        assert (refused.value.status, refused.value.faults) == (413, ["big.jpg: it is over 1 MB; right would be: a file of at most 1 MB"])
        assert on_disk(home) == []


async def test_a_file_of_another_spill_or_purpose_is_not_found(home: Household) -> None:
    reference, other = await home.report(a_report()), await home.report(a_report())
    [row] = await send(home, reference, pictures.photo())
    async with reading(home.house) as tx:
        assert (await kept_files.kept_file(tx, await tx.spill(reference), row.id or 0, PHOTO)).id == row.id
        for about, number, purpose in (
            (other, row.id or 0, None),
            (reference, row.id or 0, ATTACHMENT),
            (reference, 2**40, None),
            (reference, -1, None),
        ):
            with pytest.raises(NotKnown):
                await kept_files.kept_file(tx, await tx.spill(about), number, purpose)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("IMG_0001.HEIC", "IMG_0001.HEIC"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ana\\photo.jpg", "photo.jpg"),
        ("/", "file"),
        ("", "file"),
        ("..", "file"),
        ("a\x00b.jpg", "ab.jpg"),
        ("a\r\nSet-Cookie: x.jpg", "aSet-Cookie: x.jpg"),
        ("photo\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe", "photogpj.exe"),
        ("\ud800.jpg", "?.jpg"),
        ("<script>alert(1)<script>.jpg", "<script>alert(1)<script>.jpg"),
        ("foto del año 📷.jpg", "foto del año 📷.jpg"),
        ("x" * 5000 + ".jpeg", "x" * 114 + ".jpeg"),
        ("x" * 5000, "x" * 120),
    ],
)  # fmt: skip
def test_the_name_of_a_file_is_a_label_and_never_a_path(name: str, shown: str) -> None:
    assert label(name) == shown


# -- the place


async def test_a_shared_place_becomes_that_of_a_spill_without_one(home: Household) -> None:
    reference = await home.report(a_report(location=None))
    await send(home, reference, pictures.photo(), share_location=True)
    spill = await home.spill(reference)
    assert (spill.lat, spill.lon, spill.city) == (*pictures.CHINO, "chino")
    [moved] = await home.events(reference, PlaceMoved)
    assert moved.reason == "where a photo of it was taken, as its sender allowed"
    assert await home.clocks(reference)


async def test_a_place_that_was_not_shared_stays_with_staff(home: Household) -> None:
    reference = await home.report(a_report(location=None))
    [row] = await send(home, reference, pictures.photo())
    spill = await home.spill(reference)
    assert (spill.lat, spill.lon, spill.city) == (None, None, None)
    assert (row.lat, row.lon, row.shares_location) == (*pictures.CHINO, False)
    assert all("place" not in event.model_dump() or event.place is None for event in await home.events(reference, FileKept))


async def test_a_shared_place_moves_no_pin_that_is_there(home: Household) -> None:
    reference = await home.report(a_report())
    before = await home.spill(reference)
    await send(home, reference, pictures.photo(), share_location=True)
    assert (await home.spill(reference)).lat == before.lat
    assert await home.events(reference, PlaceMoved) == []


async def test_a_photo_from_another_city_changes_no_law_but_asks_a_person(home: Household) -> None:
    reference = await home.report(a_report(location={"address": "Central Ave, Chino"}))
    assert (await home.spill(reference)).city == "chino"
    ontario = {1: "N", 2: (IN_ONTARIO["lat"], 0.0, 0.0), 3: "W", 4: (-IN_ONTARIO["lon"], 0.0, 0.0)}
    await send(home, reference, pictures.encoded(pictures.halves(), exif=pictures.notes(gps=ontario)), share_location=True)
    spill = await home.spill(reference)
    assert (spill.city, spill.lat) == ("chino", None)
    assert [flag for flag in spill.flags if flag.startswith("location: a photo was taken at 34.05, -117.6, in ontario, not in chino")]


# -- what a stop leaves


async def examined(house: House, content: bytes) -> Examined:
    return await examine(house, upload(content))


async def test_what_nobody_kept_is_swept_after_a_day_and_nothing_else_is(home: Household) -> None:
    await send(home, await home.report(a_report()), pictures.photo())
    kept = on_disk(home)
    left = await examined(home.house, pictures.encoded(Image.new("RGB", (50, 50))))
    half_taken = home.house.settings.files_path / file_store.INCOMING / f"{int(home.clock.at.timestamp())}.0123456789abcdef"
    half_taken.mkdir()
    assert len(on_disk(home)) == len(kept) + 3
    home.clock.jump(hours=23)
    assert await sweep(home.house) == 0
    home.clock.jump(hours=2)
    assert await sweep(home.house) == 2
    assert on_disk(home) == kept
    assert not half_taken.exists()
    with pytest.raises(NotKnown):
        kept_files.open_public(home.house, KeptFile(digest=left.digest, is_shown=True))


async def test_content_that_was_left_over_and_is_sent_again_is_not_swept(home: Household) -> None:
    content = pictures.photo()
    await examined(home.house, content)
    home.clock.jump(hours=30)
    again = await examined(home.house, content)
    assert await sweep(home.house) == 0
    reference = await home.report(a_report())
    async with transaction(home.house, "reporter") as tx:
        row = await keep(tx, await tx.spill(reference), again, purpose=PHOTO, by="the reporter")
    home.clock.jump(hours=30)
    assert await sweep(home.house) == 0
    assert kept_files.open_original(home.house, row).read_bytes() == content


async def test_a_record_without_its_content_cannot_be_made(home: Household) -> None:
    reference = await home.report(a_report())
    late = await examined(home.house, pictures.photo())
    home.clock.jump(hours=30)
    assert await sweep(home.house) == 1
    with pytest.raises(Conflict, match="send it again"):
        async with transaction(home.house, "reporter") as tx:
            await keep(tx, await tx.spill(reference), late, purpose=PHOTO, by="the reporter")
    async with reading(home.house) as tx:
        assert await kept_files.kept_files(tx, await tx.spill(reference)) == []


async def test_sweeping_and_keeping_at_once_lose_nothing(home: Household) -> None:
    reference = await home.report(a_report())
    for number in range(6):
        content = pictures.encoded(Image.new("RGB", (20, 20 + number)))
        await examined(home.house, content)
        home.clock.jump(hours=30)
        _, [row] = await asyncio.gather(sweep(home.house), send(home, reference, content))
        assert kept_files.open_original(home.house, row).read_bytes() == content
        assert kept_files.open_public(home.house, row).exists()


async def test_a_disk_that_takes_nothing_is_told_and_leaves_nothing(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file_store.os, "replace", full)
    with pytest.raises(CannotKeep, match="No space left on device"):
        await examined(home.house, pictures.photo())
    assert on_disk(home) == []


async def test_a_decoder_that_hangs_is_ended_and_the_file_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "_WAIT_SECONDS", 0.001)
    async with a_household(tmp_path) as home:
        found = await examined(home.house, pictures.photo())
        assert (found.is_shown, found.flags) == (False, ("unreadable",))
        assert len(on_disk(home)) == 1


async def test_pictures_are_read_two_at_a_time_and_all_are_read(home: Household) -> None:
    contents = [pictures.encoded(Image.new("RGB", (30, 30 + number))) for number in range(8)]
    found = await asyncio.gather(*(examined(home.house, content) for content in contents))
    assert [one.height for one in found] == [30 + number for number in range(8)]
    assert all(one.is_shown for one in found)
