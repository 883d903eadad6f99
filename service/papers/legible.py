"""Makes any text fit for paper: nothing is cut, what no font of ours can draw is spelled out, and no word is wider than the page."""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

FONT_FOLDER = Path(str(files("service") / "papers" / "fonts"))
# A word that is wider than this may be broken anywhere: as much as a line of the page, of a title or value, or of a cell
# holds, in widths of a small letter.
PAGE, TITLE, CELL = 60, 40, 18
_WIDE = frozenset("mwMW@%&\N{EM DASH}")
_BREAK = "\u200b"
# Ligatures of a whole phrase are as wide as one.
_PHRASES = {"\ufdfa": 20, "\ufdfb": 14, "\ufdfd": 40, "\u2e3b": 5}
_LINE_ENDS = re.compile(r"\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_RIGHT_TO_LEFT = ("R", "AL")
# Says how what is around it looks, and has no look of its own: no font need hold it.
_UNSEEN = {"\u200b", "\u200c", "\u200d", "\u2060", *map(chr, range(0xFE00, 0xFE10))}

# PDF/UA has no room for the first three, whatever a font holds; the others make a text read other than it was written.
_SPELLED_OUT = ("\ufeff", "\ufffe", "\uffff", "\u202d", "\u202e")
# More marks than this over one letter would run into the lines around it; the next ones get a carrier of their own.
_MOST_MARKS = 3
_CARRIER = "\N{DOTTED CIRCLE}"


def legible(text: str, longest: int = PAGE) -> list[dict[str, Any]]:
    """A text as paragraphs for the templates: `lines`, and `rtl` where they run from right to left. Blank lines part paragraphs.

    `longest`: how wide a word may be before it may be broken anywhere.
    """
    lines = [_line(line, longest) for line in _LINE_ENDS.split(text)]
    found = []
    for (says, rtl), group in groupby(lines, key=lambda line: (bool(line.strip()), _runs_left(line))):
        if says:
            found.append({"rtl": rtl, "lines": list(group)})
    return found


def plain_line(text: str, longest: int = TITLE) -> str:
    """A text as a single line: for titles, names and labels."""
    return _line(" ".join(_LINE_ENDS.split(text)), longest).strip()


def _line(line: str, longest: int) -> str:
    return "".join(_with_breaks("".join(map(_seen, line.expandtabs(4))), longest))


def _runs_left(line: str) -> bool:
    """Whether the first letter with a direction runs from right to left."""
    strong = (unicodedata.bidirectional(letter) for letter in line)
    return next((one in _RIGHT_TO_LEFT for one in strong if one in ("L", *_RIGHT_TO_LEFT)), False)


def _seen(letter: str) -> str:
    """A character that can be drawn, else its number and name in brackets: [U+E000], [U+1FAE8 shaking face]."""
    if letter in _UNSEEN or (ord(letter) in drawable() and letter not in _SPELLED_OUT and unicodedata.category(letter) != "Cc"):
        return letter
    name = unicodedata.name(letter, "").lower()
    return f"[U+{ord(letter):04X}{f' {name}' if name else ''}]"


def _with_breaks(line: str, longest: int) -> Iterator[str]:
    """The line with places to break inside words that are too long; none between a letter and what belongs to it."""
    width, marks, joined = 0.0, 0, False
    for letter in line:
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if letter.isspace() or letter == _BREAK:
            width = 0
        elif marks > _MOST_MARKS:
            yield _BREAK + _CARRIER
            width, marks = 1, 1
        elif not (marks or joined or letter == "\u200d" or unicodedata.category(letter) == "Mc"):
            wide = _width(letter)
            if width + wide > longest:
                yield _BREAK
                width = 0
            width += wide
        joined = letter == "\u200d"
        yield letter


def _width(letter: str) -> float:
    if letter in _PHRASES:
        return _PHRASES[letter]
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 1.5 if letter in _WIDE or letter.isupper() else 1


@cache
def drawable() -> frozenset[int]:
    """The code points that our fonts hold, read from the fonts themselves."""
    return frozenset(point for path in sorted(FONT_FOLDER.glob("*.[ot]tf")) for point in _points(path.read_bytes()))


def _points(font: bytes) -> Iterator[int]:
    """The code points of a font: the character map of an OpenType file, in the two formats that Unicode fonts use."""
    number = struct.unpack_from(">H", font, 4)[0]
    places = {tag: start for tag, _, start, _ in struct.iter_unpack(">4sIII", font[12 : 12 + 16 * number])}
    start = places[b"cmap"]
    for at in range(struct.unpack_from(">H", font, start + 2)[0]):
        table = start + struct.unpack_from(">I", font, start + 4 + 8 * at + 4)[0]
        shape = struct.unpack_from(">H", font, table)[0]
        if shape == 4:
            half = struct.unpack_from(">H", font, table + 6)[0]
            ends = struct.unpack_from(f">{half // 2}H", font, table + 14)
            starts = struct.unpack_from(f">{half // 2}H", font, table + 16 + half)
            deltas = struct.unpack_from(f">{half // 2}H", font, table + 16 + 2 * half)
            offsets = struct.unpack_from(f">{half // 2}H", font, table + 16 + 3 * half)
            for index, (first, last) in enumerate(zip(starts, ends, strict=True)):
                for point in range(first, last + 1):
                    glyph = point if not offsets[index] else _glyph(font, table + 16 + 3 * half + 2 * index, offsets[index], point - first)
                    if point != 0xFFFF and glyph is not None and (glyph + deltas[index]) % 0x10000:
                        yield point
        elif shape == 12:
            for index in range(struct.unpack_from(">I", font, table + 12)[0]):
                first, last, _ = struct.unpack_from(">III", font, table + 16 + 12 * index)
                yield from range(first, last + 1)


def _glyph(font: bytes, at: int, offset: int, index: int) -> int | None:
    """The glyph that a segment of a character map names by way of its list; None for none."""
    glyph: int = struct.unpack_from(">H", font, at + offset + 2 * index)[0]
    return glyph or None
