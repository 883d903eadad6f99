"""Rows as a spreadsheet opens them: CSV (RFC 4180) in UTF-8 with its mark, in which no text is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

MEDIA_TYPE = "text/csv; charset=utf-8"
Cell = str | int | float | None
# What a spreadsheet would take for a formula (OWASP, CSV injection).
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_of(rows: Iterable[Sequence[Cell]]) -> bytes:
    """The rows, headings first. A text that a spreadsheet would run gets an apostrophe before it; numbers stay numbers, None is empty."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([safe(cell) for cell in row] for row in rows)
    return out.getvalue().encode("utf-8-sig")


def safe(cell: Cell) -> str | int | float:
    """A cell as it is written: a text that a spreadsheet would run with an apostrophe before it, None as nothing, numbers as they are."""
    if isinstance(cell, str):
        text = cell.replace("\x00", "")
        return f"'{text}" if text.startswith(_FORMULAS) else text
    return "" if cell is None else cell
