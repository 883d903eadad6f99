"""The evidence bundle of a spill that was lived to its end, with a personal string in every field that takes one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from service.case_file.bundle import Bundle
from service.transaction import reading
from tests import databases
from tests.houses import Household, a_household
from tests.pictures import photo
from tests.service.lived import TEXT, Lived, live
from tests.service.printed import printed
from tests.service.test_bundle import bundle_lines, first_page, made, text_of
from tests.spills import a_report, gallons


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lived(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Household, Lived, dict[str, Bundle]]]:
    """A spill lived to its end, with its two bundles, made once for all."""
    if databases.ON_POSTGRESQL:
        pytest.skip("what is in a bundle does not hang on the database")
    async with a_household(tmp_path_factory.mktemp("lived")) as home:
        spill = await live(home)
        yield home, spill, {name: await made(home, spill.reference, whole=name == "whole") for name in ("whole", "withheld")}


Made = tuple[Household, Lived, dict[str, Bundle]]


@pytest.mark.asyncio(loop_scope="module")
async def test_the_whole_bundle_holds_who_reported_and_says_so_on_page_one(lived: Made) -> None:
    bundle = lived[2]["whole"]
    text = text_of(bundle)
    for what in ("reporter's name", "reporter's e-mail", "photo name", "filed words", "note of an act", "closing words"):
        assert TEXT[what] in text, what
    assert "This bundle is whole: it holds who reported the spill" in first_page(bundle)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_other_bundle_holds_nothing_of_who_reported_and_says_so_on_page_one(lived: Made) -> None:
    bundle = lived[2]["withheld"]
    text = text_of(bundle)
    plain = re.sub(r"[^\w@.]", "", text).lower()
    for what in ("reporter's name", "reporter's e-mail", "reporter's phone", "photo latitude", "photo longitude", "camera", "photo name"):
        assert re.sub(r"[^\w@.]", "", TEXT[what]).lower() not in plain, what
    for word in (*TEXT["reporter's name"].split(), "9095550143"):
        assert word.lower() not in plain
    for what in ("filed words", "note of an act", "closing words", "discharger's name"):
        assert TEXT[what] in " ".join(text.split()), what
    first = first_page(bundle)
    assert "This bundle leaves out who reported the spill in confidence." in first
    assert "[withheld] (confidential)" in " ".join(text.split())
    raw = json.loads(bundle_lines(bundle, "events.jsonl")[0])["payload"]["raw"]
    assert raw["contact"] == {"privacy": "confidential", "withheld": True}


@pytest.mark.asyncio(loop_scope="module")
async def test_the_secret_of_no_private_link_is_in_any_bundle(lived: Made) -> None:
    _, spill, found = lived
    for bundle in found.values():
        text = "".join(text_of(bundle).split())
        assert spill.respond not in text
        assert spill.status not in text
        assert "/respond/[withheld]" in text


@pytest.mark.asyncio(loop_scope="module")
async def test_the_raw_events_are_all_of_them_in_their_order(lived: Made) -> None:
    home, spill, found = lived
    async with reading(home.house) as tx:
        history = await tx.history(await tx.spill(spill.reference))
    lines = [json.loads(line) for line in bundle_lines(found["whole"], "events.jsonl")]
    assert [(line["event"], line["kind"], line["actor"]) for line in lines] == [(row.id, row.kind, row.actor) for row, _ in history]
    assert all(line["recorded_at"].endswith("Z") for line in lines)


async def test_the_paper_tells_facts_clocks_messages_filings_files_and_the_log(home: Household) -> None:
    reference = await home.report(a_report(reached=["storm_drain"], accidental=True, volume=gallons(900)))
    await home.amend(reference, "the meter says so", volume=gallons(1200))
    await home.live(minutes=20)
    await home.happened(reference, "notice_given", recipient="cal-oes", method="telephone")
    client = home.client(await home.token("officer", "chino"))
    clock = (await home.clock_of(reference, "chino/written-report-7-days")).id
    await client.post(f"/api/v1/spills/{reference}/reports/{clock}/attachments", files={"files": ("../../plan.jpg", photo(), "image/jpeg")})
    filed = {"state": "submit", "clock": clock, "content": {"cause": "Roots in the main."}, "by": "Dana Cruz", "incomplete": True}
    assert (await client.post(f"/api/v1/spills/{reference}/reports", json=filed)).status_code == 201
    bundle = await made(home, reference, whole=False)
    assert {member.path for member in bundle.members} >= {"papers/000001.jpg"}
    papers = [printed(b"".join(member.read())) for member in bundle.members if member.path.endswith(".pdf")]
    assert all((one.is_tagged, one.claims_ua, one.shows_title, one.language) == (True, True, True, "en") for one in papers)
    text = " ".join(" ".join(one.text for one in papers).split())
    for words in (
        "Nobody who reported this spill asked to stay confidential", "1,200 gallons", "900 gallons", "the meter says so",
        "Staff saw or measured it", "Tell the regional water board within two hours", "chino/rwqcb-2-hours",
        "Counted from", "Wed, Dec 2 day 1", "Tue, Dec 8 Last day day 7",
        "Due Tue 2026-12-08", "Messages, with what became of each", "handed over", "Roots in the main.",
        "by Dana Cruz", "Lacks", "plan.jpg", "Cal OES State Warning Center", "The log: every event",
    ):  # fmt: skip
        assert words in text, words
    digest = next(member.sha256 for member in bundle.members if member.path == "papers/000001.jpg")
    assert digest in "".join(text.split())
