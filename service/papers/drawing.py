"""One door: a paper in, the bytes of its PDF out, drawn off the event loop."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import typst

from service.papers import drawing_apart
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


async def render_apart(paper: Paper, language: str) -> bytes:
    """The same bytes, drawn in a process of its own: typst keeps what it has worked out, and a long paper would leave 80 MB behind.

    Raises TypstFailed with what that process said.
    """
    said = speech(language if language in LANGUAGES else "en")
    sheet = await asyncio.to_thread(sheet_of, paper, said)
    try:
        return await _drawn_apart(sheet, paper.made_at)
    except TypstFailed:
        if not sheet["seal"]:
            raise
        log.exception("the seal of %s cannot be drawn; a paper was made without it", sheet["city"])
        return await _drawn_apart({**sheet, "seal": []}, paper.made_at)


async def _drawn_apart(sheet: dict[str, Any], made_at: datetime) -> bytes:
    asked = {
        "sheet": json.dumps(sheet), "template": str(_TEMPLATES / "paper.typ"), "root": str(_TEMPLATES), "fonts": str(FONT_FOLDER),
        "made_at": made_at.replace(microsecond=0).isoformat(),
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", drawing_apart.__file__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, env={"LANG": "C.UTF-8", "PATH": os.defpath},
    )  # fmt: skip
    try:
        drawn, problem = await process.communicate(json.dumps(asked).encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0 or not drawn.startswith(b"%PDF-"):
        raise TypstFailed(f"{sheet['title']!r} cannot be drawn: {problem.decode('utf-8', 'replace').strip()[-2000:]}")
    return drawn


class TypstFailed(Exception):
    """A paper could not be drawn in a process of its own."""


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
