"""One door: a paper in, the bytes of its PDF out, drawn off the event loop."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import typst

from service.papers.kinds import Paper
from service.papers.legible import FONT_FOLDER
from service.papers.sheets import sheet_of
from service.speech import LANGUAGES, speech

log = logging.getLogger(__name__)
_TEMPLATES = Path(str(files("service") / "papers"))
# Drawing takes 30 ms for a usual paper, and 5 s and 250 MB for one of 600,000 characters; other threads run meanwhile. One paper at a time
# keeps that memory within bounds.
_hands = ThreadPoolExecutor(1, thread_name_prefix="papers")


async def render(paper: Paper, language: str) -> bytes:
    """The PDF of a paper in a language (en, es), English where we have no other. Any text can be shown; none is cut.

    The same paper gives the same bytes. It is tagged and holds to PDF/UA-1: what does not is not drawn but raises typst.TypstError.
    """
    return await asyncio.get_running_loop().run_in_executor(_hands, draw, paper, language)


def draw(paper: Paper, language: str) -> bytes:
    """The same for a caller without an event loop, such as a command."""
    said = speech(language if language in LANGUAGES else "en")
    sheet = sheet_of(paper, said)
    try:
        return _compiled(sheet, paper.made_at)
    except typst.TypstError:
        if not sheet["seal"]:
            raise
        log.exception("the seal of %s cannot be drawn; a paper was made without it", sheet["city"])
        return _compiled({**sheet, "seal": []}, paper.made_at)


def _compiled(sheet: dict[str, Any], made_at: datetime) -> bytes:
    drawn = compiler().compile(
        format="pdf", pdf_standards=["ua-1"], timestamp=made_at.replace(microsecond=0), sys_inputs={"sheet": json.dumps(sheet)}
    )
    if not isinstance(drawn, bytes):
        raise TypeError("typst gave no PDF")
    return drawn


def compiler() -> typst.Compiler:
    """A compiler of our template that sees our fonts alone, so that a paper looks the same on every machine, and no file but ours."""
    return typst.Compiler(input=str(_TEMPLATES / "paper.typ"), root=str(_TEMPLATES), font_paths=_fonts())


@cache
def _fonts() -> typst.Fonts:
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(FONT_FOLDER)])
