"""The papers: tagged, whole whatever was written, the same each time, drawn while the program goes on."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from service import papers
from service.papers.drawing import compiler, draw
from service.papers.legible import CELL, legible, plain_line
from service.papers.sheets import sheet_of
from service.speech import speech
from tests.service.printed import lost, printed

AT = datetime(2026, 12, 1, 22, 5, tzinfo=UTC)
HEAD = papers.Letterhead("City of Chino, California", ZoneInfo("America/Los_Angeles"))
RECEIPT = papers.Receipt(
    letterhead=HEAD, reference="SP-2026-00001", duty="Send the written report to the water board", citation="CMC 13.25.220",
    recipient="Santa Ana Regional Water Board", version=2, content=[("when it began", "At two."), ("cause of the spill", "")],
    certification="I certify under penalty of law that this is true.", name="Ana Ruiz", title="Plant manager", firm="Golden Wok LLC",
    filed_at=AT, due_at=AT, late_by_s=7260, missing=["cause of the spill"], amends=1,
    attachments=[papers.Attachment("drain.jpg", 12_345, "ab" * 32)], reason="The camera showed it.",
    handed_in="You must still send a copy to the board.",
)  # fmt: skip
RECORD = papers.RecordCopy(
    letterhead=HEAD, reference="SP-2026-00001", received_at=AT, made_at=AT, how="By the form on this website", words="Gray water.",
    facts=[("What", "Sewage"), ("Where", "13220 Central Ave")], updates=[(AT, "We received your report.")],
    actions=[(AT, "Staff went to the place.")], duties=[papers.ReportedDuty("Call the water board", "CMC 13", "The city", "Done on time")],
    added=[(AT, "It stopped.")], photos=2, right="Soledad Municipal Code", flags=["The amount is not known."],
)  # fmt: skip
BOTH = pytest.mark.parametrize("language", ["en", "es"])
HARD = {
    "emoji": "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1fa\U0001f1f8"
    "\U0001f44d\U0001f3fd",
    "right to left": "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd (test) 123\n\u05e9\u05dc\u05d5\u05dd",
    "other scripts": "\u6f22\u5b57 \ud55c\uad6d\uc5b4 \u0e44\u0e17\u0e22 \u0939\u093f\u0928\u094d\u0926\u0940 \ufdfd",
    "controls": "a\x00b\x07c\x1b[31m\x7f \ufeff\ufffe \u202etxt\u202c",
    "nobody's letters": "\ue000 \U000f0000 \U0010ffff",
    "marks": "Z" + "\u0301" * 500,
    "markup": '#panic() #import "@preview/x:1.0.0" $x^2$ *a* _b_ @c <d> // e `f` \\ = g [h] #read("../../tables.py")',
    "one word": "W" * 50_000,
    "many words": ("manhole overflows " * 3000)[:50_000],
    "many lines": "\n".join(f"line {number}." for number in range(1000)),
    "white space": " \t\n\n\n x \x0b\x0c\x85 y\u2028z  ",
}


@BOTH
@pytest.mark.parametrize("paper", [RECEIPT, RECORD], ids=["receipt", "record"])
def test_a_paper_is_tagged_and_says_its_title_and_language(paper: papers.Paper, language: str) -> None:
    found = printed(draw(paper, language))
    assert found.is_tagged
    assert found.claims_ua
    assert found.shows_title
    assert found.language == language
    assert found.title == sheet_of(paper, speech(language))["title"]
    assert {"/H1", "/P", "/Table", "/TH", "/TD"} <= found.tags
    assert {font.partition("+")[2].partition("-")[0] for font in found.fonts} == {"NotoSans"}


def test_a_receipt_says_what_was_filed_when_and_how_late() -> None:
    text = " ".join(printed(draw(RECEIPT, "en")).text.split())
    for words in (
        "City of Chino, California", "Receipt: “Send the written report to the water board”", "CMC 13.25.220",
        "Santa Ana Regional Water Board", "Filed Dec 1, 2026, 2:05 PM PST, late by 2 hours 1 minute", "12,345 bytes", "Page 1 of",
        "2; it amends version 1, which is kept", "when it began At two.",
        "It is not complete, so it does not meet the duty yet. These are missing: • cause of the spill",
        "Certified by Ana Ruiz, Plant manager, Golden Wok LLC, Dec 1, 2026, 2:05 PM PST.",
        "Owed to Santa Ana", "Why it was amended The camera showed it.", "You must still send a copy to the board.",
    ):  # fmt: skip
        assert words in text
    assert "ab" * 32 in text.replace(" ", "")


def test_a_receipt_in_time_says_so_in_spanish() -> None:
    text = " ".join(printed(draw(replace(RECEIPT, late_by_s=None, missing=(), amends=None), "es")).text.split())
    assert "Presentado el 1 dic 2026, 2:05 p.m. PST, a tiempo" in text
    assert "Contiene todo lo que la ley enumera." in text


@BOTH
def test_a_record_holds_everything_that_it_is_given(language: str) -> None:
    found = printed(draw(RECORD, language))
    for words in ("Gray water.", "It stopped.", "13220 Central Ave", "Staff went to the place.", "Done on time", "Soledad Municipal Code"):
        assert words in " ".join(found.text.split())


@pytest.mark.parametrize("language", ["de", "", "../en"])
def test_a_language_that_we_do_not_speak_gives_english(language: str) -> None:
    assert printed(draw(RECEIPT, language)).language == "en"


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_a_paper_shows_any_text_whole_and_within_its_margins(text: str) -> None:
    receipt, record = replace(RECEIPT, content=[("when it began", text)]), replace(RECORD, words=text, added=[(AT, text)])
    for paper in (receipt, record):
        assert lost(text, printed(draw(paper, "es"))) == {}
    assert over_the_margins(receipt) == []


def test_a_thousand_lines_stay_lines_in_their_order() -> None:
    lines = [line.strip() for line in printed(draw(replace(RECORD, words=HARD["many lines"]), "en")).text.splitlines()]
    assert [line for line in lines if line.startswith("line ")] == [f"line {number}." for number in range(1000)]


@pytest.mark.parametrize("hard", ["emoji", "right to left", "controls", "markup", "marks"])
def test_every_other_field_takes_any_text_too(hard: str) -> None:
    text = HARD[hard] + "W" * 300
    attached = [papers.Attachment(text, 1, "ab" * 32)]
    receipt = replace(
        RECEIPT, letterhead=replace(HEAD, city=text), reference=text, duty=text, citation=text, recipient=text, certification=text,
        name=text, title=text, firm=text, missing=[text], content=[(text, "")], attachments=attached,
    )  # fmt: skip
    record = replace(
        RECORD, how=text, facts=[(text, text)], updates=[(AT, text)], actions=[(AT, text)], closed=text, right=text, flags=[text],
        duties=[papers.ReportedDuty(text, text, text, text)],
    )  # fmt: skip
    for paper in (receipt, record):
        assert lost(text, printed(draw(paper, "en"))) == {}
        assert over_the_margins(paper) == []


def over_the_margins(paper: papers.Paper) -> Sequence[int]:
    """The pages on which anything is drawn in the outer half of a side margin."""
    drawn: Any = compiler().compile(format="png", ppi=30, sys_inputs={"sheet": json.dumps(sheet_of(paper, speech("en")))})
    over = []
    for number, png in enumerate(drawn if isinstance(drawn, list) else [drawn], 1):
        page = Image.open(io.BytesIO(png)).convert("L")
        sides = [page.crop((0, 0, 15, page.height)), page.crop((page.width - 15, 0, page.width, page.height))]
        if any(side.getextrema()[0] < 200 for side in sides):
            over.append(number)
    return over


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_no_text_at_all_keeps_a_paper_from_being_drawn_whole(text: str) -> None:
    assert lost(text, printed(draw(replace(RECORD, words=text), "en"))) == {}


@pytest.mark.parametrize("first", range(0, 0x30000, 0x4000))
def test_every_character_of_the_common_planes_can_be_drawn(first: int) -> None:
    characters = [chr(point) for point in range(first, first + 0x4000) if not 0xD800 <= point < 0xE000]
    text = "\n".join(" ".join(characters[at : at + 64]) for at in range(0, len(characters), 64))
    assert draw(replace(RECORD, words=text), "en").startswith(b"%PDF-1.7")


def test_what_no_font_draws_is_spelled_out_by_number_and_name() -> None:
    assert plain_line("a\ue000b\x00") == "a[U+E000]b[U+0000]"
    assert plain_line("gpj\u202eexe.") == "gpj[U+202E right-to-left override]exe."


def test_long_words_may_be_broken_but_no_letter_leaves_its_marks() -> None:
    [paragraph] = legible("e\u0301" * 2 * CELL + "e\u0301", CELL)
    assert paragraph["lines"] == ["\u200b".join(["e\u0301" * CELL, "e\u0301" * CELL, "e\u0301"])]


def test_a_line_runs_in_the_direction_of_its_first_letter() -> None:
    assert [part["rtl"] for part in legible("12 \u05e9\u05dc\u05d5\u05dd abc\nabc \u05e9")] == [True, False]


def test_the_same_paper_is_the_same_bytes_also_in_another_process() -> None:
    code = (
        "import hashlib, sys; from tests.service.test_papers import RECEIPT, draw;"
        "sys.stdout.write(hashlib.sha256(draw(RECEIPT, 'es')).hexdigest())"
    )
    first, second = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert len(first) == 64
    assert first == second


def test_the_seal_of_a_city_is_described_for_those_who_do_not_see_it() -> None:
    png = io.BytesIO()
    Image.new("RGB", (40, 40), "navy").save(png, "PNG")
    pdf = draw(replace(RECEIPT, letterhead=replace(HEAD, seal=png.getvalue())), "en")
    assert "/Figure" in printed(pdf).tags


@pytest.mark.parametrize("seal", [b"", b"no picture", b"<svg><unclosed", b"\x89PNG\r\n\x1a\n"])
def test_a_seal_that_cannot_be_drawn_keeps_no_paper_from_its_reader(seal: bytes) -> None:
    assert "City of Chino" in printed(draw(replace(RECEIPT, letterhead=replace(HEAD, seal=seal)), "en")).text


async def test_the_event_loop_goes_on_while_a_long_paper_is_drawn() -> None:
    text = HARD["many words"] * 4
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            ticks.append(time.perf_counter())
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    await papers.render(replace(RECEIPT, content=[("when it began", text)]), "en")
    ticking.cancel()
    assert len(ticks) > 10
    assert max(after - before for before, after in pairwise(ticks)) < 0.5
