"""Draws one paper. Run as a program of its own (`python -I drawing_apart.py`), from a sheet on standard input to a PDF on standard output.

Its memory goes with it. So nothing of the service is imported here.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import Any

import typst


def drawn(asked: dict[str, Any]) -> bytes:
    """The PDF of a sheet. Raises typst.TypstError for what does not hold to PDF/UA-1."""
    fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[asked["fonts"]])
    compiler = typst.Compiler(input=asked["template"], root=asked["root"], font_paths=fonts)
    pdf = compiler.compile(
        format="pdf", pdf_standards=["ua-1"], timestamp=datetime.fromisoformat(asked["made_at"]), sys_inputs={"sheet": asked["sheet"]}
    )
    if not isinstance(pdf, bytes):
        raise TypeError("typst gave no PDF")
    return pdf


if __name__ == "__main__":
    sys.stdout.buffer.write(drawn(json.load(sys.stdin)))
