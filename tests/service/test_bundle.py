"""The evidence bundle: whole or without the reporter, checked by its own script, and every change to it found."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import random
import re
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from pypdf import PdfReader
from sqlalchemy import select
from sqlmodel import col

from service import file_store
from service.account_tables import StaffAction
from service.case_file import bundle as bundles
from service.case_file.bundle import Bundle, Member, bundle_of, read_case
from service.case_file.evidence import _LONGEST_VOLUME, _length, _split
from service.chain import seal_of
from service.merging import merge
from service.papers import Bullets, Heading, Pairs, Part, Table, Words
from service.parties import link_token
from service.transaction import reading, transaction
from tests import databases
from tests.houses import TUESDAY, Household, a_household
from tests.pictures import photo
from tests.service.printed import printed
from tests.service.small_law import small_law
from tests.spills import a_report, gallons

SCRIPT = Path(bundles.__file__).with_name("bundle_check.txt")


async def made(home: Household, reference: str, *, whole: bool) -> Bundle:
    async with reading(home.house) as tx:
        case = await read_case(tx, await tx.spill(reference), whole=whole)
    return await bundle_of(case, "whole" if whole else "withheld")


def unpacked(bundle: Bundle, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(b"".join(bundle.zipped()))) as archive:
        assert archive.testzip() is None
        archive.extractall(folder)
    return folder / bundle.reference


def checked(folder: Path) -> tuple[int, list[str]]:
    """What the script of a bundle says, by a Python that knows nothing of ours."""
    done = subprocess.run([sys.executable, "-I", "-S", str(folder / "check.py")], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


CONTACT = {"name": "Ottoline Quist", "phone": "+19095550199", "email": "o.quist@mailbox.example", "privacy": "confidential"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def small_one(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Made]:
    """A spill of a few events under a law of one duty, with a reporter who asked to stay confidential, in its two bundles."""
    if databases.ON_POSTGRESQL:
        pytest.skip("what is in a bundle does not hang on the database")
    async with a_household(tmp_path_factory.mktemp("small"), law=small_law()) as home:
        words = "Ottoline Quist here, (909) 555-0199: it smells."
        reference = await home.report(a_report(description=words, contact=CONTACT), staff=False)
        await home.amend(reference, "Mrs Quist says so", volume=gallons(1200))
        await home.live(minutes=1)
        client = home.client(await home.token("officer", "chino"))
        sent = [("photos", ("curb.jpg", photo(), "image/jpeg"))]
        assert (await client.post(f"/api/v1/spills/{reference}/photos", files=sent)).status_code == 201
        yield home, reference, {name: await made(home, reference, whole=name == "whole") for name in ("whole", "withheld")}


Made = tuple[Household, str, dict[str, Bundle]]


def text_of(bundle: Bundle) -> str:
    """Everything that a bundle says, in its papers and its raw files."""
    found = []
    for member in bundle.members:
        content = b"".join(member.read())
        found.append(printed(content).text if member.path.endswith(".pdf") else content.decode("utf-8", "replace"))
    return "\n".join(found)


async def test_the_script_is_short_and_needs_nothing_but_python() -> None:
    source = SCRIPT.read_text()
    assert len(source.splitlines()) <= 20
    names = {alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for alias in node.names}
    assert names == {"hashlib", "pathlib", "sys"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(ast.parse(source)))


@pytest.mark.asyncio(loop_scope="module")
async def test_a_bundle_is_checked_by_its_own_script_and_a_changed_byte_of_any_file_is_found(small_one: Made, tmp_path: Path) -> None:
    bundle = small_one[2]["whole"]
    folder = unpacked(bundle, tmp_path)
    names = [member.path for member in bundle.members]
    assert {"README.txt", "check.py", "record.pdf", "events.jsonl", "messages.jsonl", "photos/000001.jpg"} <= set(names)
    assert checked(folder) == (0, [f"All {len(names)} files are as they were made.", f"Manifest: {bundle.checksum}"])
    for name in [one for one in names if one != "check.py"]:
        path = folder / name
        before = path.read_bytes()
        place = random.Random(name).randrange(len(before))
        path.write_bytes(before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :])
        code, said = checked(folder)
        assert (code, said[0]) == (1, f"changed: {name}")
        path.write_bytes(before)
    (folder / "photos" / "extra.jpg").write_bytes(b"x")
    (folder / "events.jsonl").unlink()
    assert checked(folder)[1][:2] == ["missing: events.jsonl", "added: photos/extra.jpg"]


@pytest.mark.asyncio(loop_scope="module")
async def test_whoever_changes_a_file_and_the_manifest_is_found_by_its_checksum(small_one: Made, tmp_path: Path) -> None:
    bundle = small_one[2]["whole"]
    folder = unpacked(bundle, tmp_path)
    (folder / "events.jsonl").write_bytes(b"{}\n")
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}"
        for _, name in (line.split("  ", 1) for line in (folder / "manifest.sha256").read_text().splitlines())
    ]
    (folder / "manifest.sha256").write_text("".join(f"{line}\n" for line in lines))
    code, said = checked(folder)
    assert code == 0
    assert said[1] != f"Manifest: {bundle.checksum}"


@pytest.mark.asyncio(loop_scope="module")
async def test_the_same_record_at_the_same_time_gives_the_same_bytes(small_one: Made) -> None:
    home, reference, found = small_one
    again = await made(home, reference, whole=True)
    assert hashlib.sha256(b"".join(again.zipped())).digest() == hashlib.sha256(b"".join(found["whole"].zipped())).digest()


def first_page(bundle: Bundle) -> str:
    """What the first page of the paper says."""
    [content] = [b"".join(member.read()) for member in bundle.members if member.path == "record.pdf"]
    return " ".join(PdfReader(io.BytesIO(content)).pages[0].extract_text().split())


def bundle_lines(bundle: Bundle, path: str) -> list[str]:
    [content] = [b"".join(member.read()) for member in bundle.members if member.path == path]
    return content.decode().splitlines()


@pytest.mark.asyncio(loop_scope="module")
async def test_the_whole_bundle_holds_who_reported_and_the_other_does_not_and_each_says_so_on_page_one(small_one: Made) -> None:
    whole, without = small_one[2]["whole"], small_one[2]["withheld"]
    told, kept = text_of(whole), text_of(without)
    for text in ("Ottoline Quist", "o.quist@mailbox.example", "Mrs Quist says so"):
        assert text in told
    assert not any(text in kept for text in ("Ottoline", "Quist", "mailbox.example", "555-0199", "9095550199"))
    assert "[withheld] here, [withheld]: it smells." in " ".join(kept.split())
    assert "This bundle is whole: it holds who reported the spill" in first_page(whole)
    assert "This bundle leaves out who reported the spill in confidence." in first_page(without)
    raw = json.loads(bundle_lines(without, "events.jsonl")[0])["payload"]["raw"]
    assert raw["contact"] == {"privacy": "confidential", "withheld": True}


@pytest.mark.asyncio(loop_scope="module")
async def test_the_place_of_each_event_in_the_chain_can_be_checked_by_hand_and_what_is_sealed_is_in_the_whole_one_alone(
    small_one: Made,
) -> None:
    sealed = 0
    for name, bundle in small_one[2].items():
        events = [json.loads(line)["event"] for line in bundle_lines(bundle, "events.jsonl")]
        places = [json.loads(line) for line in bundle_lines(bundle, "chain.jsonl")]
        assert [json.loads(place["record"])["event"] for place in places if "record" in place] == events
        for place in places:
            digest = hashlib.sha256(place["record"].encode()).hexdigest()
            lines = f"{place['chain']}\n{place['number']}\n{place['previous']}\n{digest}"
            assert hashlib.sha256(lines.encode()).hexdigest() == place["hash"]
            if "sealed" in place:
                sealed += 1
                seal = seal_of(json.loads(place["sealed"]), place["salt"])
                assert (name, seal) == ("whole", json.loads(place["record"])["seal"])
    assert sealed > 3
    hashes = {json.loads(line)["hash"] for line in bundle_lines(small_one[2]["whole"], "chain.jsonl")}
    told = "".join(text_of(small_one[2]["whole"]).split())
    assert all(hash_ in told for hash_ in hashes)


async def test_no_file_of_a_bundle_has_a_name_that_somebody_gave_it(small: Household) -> None:
    reference = await small.report(a_report())
    client = small.client(await small.token("officer", "chino"))
    for number, name in enumerate(("../../../etc/cron.d/x.jpg", "=cmd|' /C calc'!A0.jpg", "a\nb.jpg", "C:\\aux.jpg", ".bashrc")):
        sent = [("photos", (name, photo(quality=50 + number), "image/jpeg"))]
        assert (await client.post(f"/api/v1/spills/{reference}/photos", files=sent)).status_code == 201
    bundle = await made(small, reference, whole=True)
    with zipfile.ZipFile(io.BytesIO(b"".join(bundle.zipped()))) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names)) == 5 + 7
    assert all(re.fullmatch(rf"{reference}/(?:(?:photos|papers)/\d{{6}}\.[a-z]{{3,4}}|[A-Za-z0-9-]+\.[a-z0-9]+)", name) for name in names)


async def test_a_file_that_the_disk_lost_is_named_and_one_that_it_changed_is_found(small: Household, tmp_path: Path) -> None:
    reference = await small.report(a_report())
    client = small.client(await small.token("officer", "chino"))
    for quality in (50, 60):
        sent = [("photos", (f"p{quality}.jpg", photo(quality=quality), "image/jpeg"))]
        assert (await client.post(f"/api/v1/spills/{reference}/photos", files=sent)).status_code == 201
    async with reading(small.house) as tx:
        case = await read_case(tx, await tx.spill(reference), whole=True)
    lost, changed = (file_store.path_of(small.house.settings.files_path, file.digest) for file in case.files)
    lost.unlink()
    changed.chmod(0o600)
    changed.write_bytes(changed.read_bytes()[:-1] + b"\x00")
    bundle = await made(small, reference, whole=True)
    assert "no longer in the data folder" in first_page(bundle)
    code, said = checked(unpacked(bundle, tmp_path))
    assert (code, said[0]) == (1, "changed: photos/000002.jpg")


async def test_reports_that_were_merged_are_in_the_bundle_with_their_own_events(small: Household) -> None:
    kept = await small.report(a_report(description="By the school gate."))
    small.clock.jump(minutes=5)
    contact = {"name": "Ottoline Quist", "phone": "+19095550199", "privacy": "confidential"}
    other = await small.report(a_report(description="Ottoline Quist: it smells.", contact=contact), staff=False)
    async with transaction(small.house, "officer@chino.example") as tx:
        await merge(tx, await tx.spill(kept), await tx.spill(other), "the same manhole")
    whole, without = await made(small, kept, whole=True), await made(small, kept, whole=False)
    assert {json.loads(line)["spill"] for line in bundle_lines(whole, "events.jsonl")} == {kept, other}
    assert "Ottoline Quist: it smells." in text_of(whole)
    assert "Quist" not in text_of(without)
    assert "[withheld]: it smells." in text_of(without)


async def test_an_address_that_the_reporter_corrected_is_kept_out_like_the_new_one(small: Household) -> None:
    words = "Call (909) 555-0199 or write to zephyrine@mailbox."
    reference = await small.report(a_report(description=words, contact={**CONTACT, "email": "zephyrine@mailbox"}), staff=False)
    await small.live(minutes=1)
    token = link_token(small.house, "status", await small.spill(reference))
    form = {"email": "new.quist@other.example", "phone": ""}
    assert (await small.client().post(f"/status/{token}/contact", data=form)).status_code == 303
    await small.live(minutes=1)
    assert (await small.spill(reference)).reporter["email"] == "new.quist@other.example"
    kept = text_of(await made(small, reference, whole=False))
    assert not any(text in kept for text in ("zephyrine", "other.example", "555-0199", "9095550199", "Quist"))


async def test_each_role_gets_its_bundle_and_taking_it_is_noted_with_the_checksum(small: Household) -> None:
    contact = {"name": "Ottoline Quist", "phone": "+19095550199", "privacy": "confidential"}
    reference = await small.report(a_report(contact=contact))
    address = f"/api/v1/spills/{reference}/evidence"
    viewer, officer, manager = [small.client(await small.token(role, "chino")) for role in ("viewer", "officer", "manager")]
    assert (await viewer.post(address, json={})).status_code == 403
    refused = await officer.post(address, json={"identity": "whole"})
    assert (refused.status_code, "needs the role manager" in refused.json()["detail"]) == (403, True)
    assert (await officer.post(address, json={"identity": "some"})).status_code == 422
    sent = [
        await officer.post(address, json={}),
        await manager.post(address, json={}),
        await manager.post(address, json={"identity": "withheld"}),
    ]
    assert [one.headers["content-disposition"] for one in sent] == [
        f'attachment; filename="{reference}-evidence-{identity}.zip"' for identity in ("withheld", "whole", "withheld")
    ]
    async with reading(small.house) as tx:
        noted = (await tx.session.execute(select(StaffAction).where(col(StaffAction.kind) == "evidence:taken"))).scalars().all()
    assert [(row.actor.partition("@")[0], row.said["identity"]) for row in noted] == [
        ("officer", "withheld"), ("manager", "whole"), ("manager", "withheld"),
    ]  # fmt: skip
    assert [row.said["manifest"] for row in noted] == [one.headers["x-manifest-sha256"] for one in sent]
    assert sent[0].content == sent[2].content


async def test_sending_many_large_photos_takes_no_more_memory_than_one(tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    path.write_bytes(b"\xff\xd8\xff" + bytes(10_000_000))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    members = tuple(Member(f"photos/{number:06d}.jpg", "", 10_000_003, digest, path) for number in range(30))
    bundle = Bundle("SP-2026-00001", "whole", TUESDAY, members)
    tracemalloc.start()
    try:
        size = sum(len(piece) for piece in bundle.zipped())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 30 * 10_000_003
    assert peak < 3_000_000


def test_a_long_record_goes_on_in_volumes_without_losing_a_word() -> None:
    word = "manhole "
    rows = [(str(number), word * 40) for number in range(3000)]
    parts: list[Part] = [Heading("First"), Words(word * 1000), Heading("Second"), Heading("Sub", 2), Table((("No", 1), ("Words", 3)), rows)]
    parts += [Heading("Third"), *[Pairs([("a", word * 300)]) for _ in range(200)], Bullets([word] * 50)]
    volumes = _split(parts)
    assert len(volumes) > 5
    assert sum(_length(part) for part in parts) == sum(
        _length(part) for volume in volumes for part in volume if not (isinstance(part, Heading) and part.text.endswith("(continued)"))
    )
    for volume in volumes:
        assert isinstance(volume[0], Heading)
        assert volume[0].level == 1
        assert not isinstance(volume[-1], Heading)
        assert sum(map(_length, volume)) < _LONGEST_VOLUME * 1.3
    assert [part.text for volume in volumes for part in volume[:1] if isinstance(part, Heading)][1:3] == ["Second (continued)"] * 2


async def test_a_bundle_is_of_the_moment_at_which_it_was_read(small: Household) -> None:
    reference = await small.report(a_report())
    small.clock.at = TUESDAY + timedelta(days=3, seconds=7)
    bundle = await made(small, reference, whole=True)
    with zipfile.ZipFile(io.BytesIO(b"".join(bundle.zipped()))) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2026, 12, 4, 22, 5, 6)}
