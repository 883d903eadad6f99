"""What a PDF holds, read back by a program that did not write it: its words, and the marks that make it accessible."""

from __future__ import annotations

import io
import unicodedata
from collections import Counter
from dataclasses import dataclass

import pikepdf
from pypdf import PdfReader

from service.papers.legible import legible

# Between letters, besides spaces, stand the carriers of marks; and signs that say how what is around them looks, which nobody sees.
_CARRIER, _UNSEEN = "\N{DOTTED CIRCLE}", "Cf"


@dataclass(frozen=True)
class Printed:
    """A PDF as a screen reader or an archive takes it."""

    title: str
    language: str
    claims_ua: bool
    is_tagged: bool
    shows_title: bool
    pages: int
    text: str
    tags: frozenset[str]
    fonts: frozenset[str]


def printed(pdf: bytes) -> Printed:
    """Read a PDF."""
    reader = PdfReader(io.BytesIO(pdf))
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        root = opened.Root
        tags = {str(one.S) for one in opened.objects if isinstance(one, pikepdf.Dictionary) and one.get("/Type") == "/StructElem"}
        fonts = {str(one.FontName) for one in opened.objects if isinstance(one, pikepdf.Dictionary) and "/FontName" in one}
        with opened.open_metadata() as metadata:
            return Printed(
                title=str(metadata.get("dc:title", "")), language=str(root.Lang), claims_ua=metadata.get("pdfuaid:part") == "1",
                is_tagged=bool(root.MarkInfo.Marked) and "/StructTreeRoot" in root,
                shows_title=bool(root.ViewerPreferences.DisplayDocTitle),
                pages=len(reader.pages), text="\n".join(page.extract_text() for page in reader.pages), tags=frozenset(tags),
                fonts=frozenset(fonts),
            )  # fmt: skip


def letters(text: str) -> Counter[str]:
    """How often each letter stands in a text, without what is between letters."""
    return Counter(letter for letter in text if not letter.isspace() and letter != _CARRIER and unicodedata.category(letter) != _UNSEEN)


def lost(text: str, paper: Printed) -> Counter[str]:
    """The letters of a text that a paper does not hold as often. Those that no font draws count as what they are spelled out by."""
    wanted = "".join(line for paragraph in legible(text) for line in paragraph["lines"])
    return letters(wanted) - letters(paper.text)
