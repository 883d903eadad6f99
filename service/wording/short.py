"""Fitting a text message into two segments: what must be whole stays whole, and only free text is cut, at a word and with a sign."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from notifiers import segments
from notifiers.sms import gsm7_where_possible

MOST_SEGMENTS = 2
CUT = "..."
_GSM7 = "GSM-7"
# Two segments hold 306 signs at most: more of a part is never looked at.
_LONGEST_PART = 400


@dataclass(frozen=True)
class Part:
    """A piece of a message. `rank` 0 stays whole; of the others the highest is shortened first: to one of its `forms`, else at a word."""

    text: str
    rank: int = 0
    forms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Short:
    """A message as it will go out. `fits` is whether it is in the budget; `cut` whether any of its parts was shortened."""

    text: str
    encoding: str
    segments: int
    fits: bool
    cut: bool


class _Piece:
    """A part while it is fitted, in one alphabet: `size` is how much of it is shown, -1 nothing at all."""

    def __init__(self, part: Part, write: Callable[[str], tuple[str, bool]]) -> None:
        self.rank = part.rank
        source = part.text if part.rank == 0 else _begins_with_a_letter(part.text)[:_LONGEST_PART]
        self._text, written = write(source)
        self._forms = [form for form, whole in map(write, reversed(part.forms)) if whole]
        self._is_written = written and (part.rank == 0 or len(part.text) <= _LONGEST_PART)
        self._most = len(self._forms) if part.forms else len(self._text)
        self.size = self._most
        self.has_forms = bool(part.forms)
        self._shown: dict[int, str] = {}

    def is_like(self, other: _Piece) -> bool:
        """Whether another piece holds the very same text and forms."""
        return (self._text, self._forms, self._is_written) == (other._text, other._forms, other._is_written)

    @property
    def is_shortened(self) -> bool:
        """Whether a reader does not see all of it."""
        return self.size < self._most or not self._is_written

    @property
    def kept(self) -> int:
        """How many signs of it a reader sees."""
        return len(self.shown()) if self.has_forms else max(self.size, 0)

    def shown(self) -> str:
        """The piece at its present size."""
        if self.size not in self._shown:
            self._shown[self.size] = self._at_size()
        return self._shown[self.size]

    def _at_size(self) -> str:
        if self.size < 0:
            return ""
        if self.has_forms:
            return [*self._forms, self._text if self._is_written else ""][self.size]
        return _cut(self._text, self.size) if self.is_shortened else self._text

    def grow(self, fits: Callable[[], bool]) -> None:
        """Show as much as fits, no less than now."""
        size = self.size
        self.size = self._most
        self.shrink(fits)
        if self.size < size or not fits():
            self.size = size

    def shrink(self, fits: Callable[[], bool]) -> None:
        """Show as much as fits; the least where nothing does."""
        lowest, highest = 0, self.size
        while lowest < highest:
            self.size = (lowest + highest + 1) // 2
            if fits():
                lowest = self.size
            else:
                highest = self.size - 1
        self.size = lowest


def fitted(parts: Sequence[Part]) -> Short:
    """The parts as one line in at most two segments, in the alphabet that keeps more of them; GSM-7 where both keep as much.

    Letters that GSM-7 lacks become plain ones there (á is a). Where what must be whole is too long by itself, it is whole all the same.
    """
    plain, as_it_is = ([_Piece(part, write) for part in parts] for write in (_plainly, _as_it_is))
    tried = [_try(plain)]
    if not all(one.is_like(other) for one, other in zip(plain, as_it_is, strict=True)):  # else nothing more can come of it
        tried.append(_try(as_it_is))
    return max((one for one in tried if one), key=lambda one: (one[0].fits, one[1]))[0]


def _try(pieces: Sequence[_Piece]) -> tuple[Short, int] | None:
    if any(piece.rank == 0 and piece.is_shortened for piece in pieces):
        return None  # what must be whole cannot be written in this alphabet

    def fits() -> bool:
        return segments(_joined(pieces))[1] <= MOST_SEGMENTS

    free = sorted((piece for piece in pieces if piece.rank), key=lambda piece: -piece.rank)
    for piece in free:
        if not fits():
            piece.shrink(fits)
    for piece in free:
        if not fits() and not piece.has_forms:
            piece.size = -1
    for piece in reversed(free):  # what the last cut left over is given back
        if piece.is_shortened and fits():
            piece.grow(fits)
    text = _joined(pieces)
    encoding, number = segments(text)
    short = Short(text, encoding, number, number <= MOST_SEGMENTS, any(piece.is_shortened for piece in free))
    return short, sum(piece.kept for piece in free)


def _joined(pieces: Sequence[_Piece]) -> str:
    text = "".join(piece.shown() for piece in pieces)
    if f"{CUT}." in text:  # a sentence that was cut has its dots already
        text = ""
        for piece in pieces:
            shown = piece.shown()
            text += shown[1:] if text.endswith(CUT) and shown.startswith(".") else shown
    return " ".join(text.split())


def _cut(text: str, length: int) -> str:
    """At most `length` characters of a text, ending at a word where it has any, never between a letter and its accent, and the sign."""
    while length and (unicodedata.combining(text[length : length + 1] or "a") or text[length - 1] == "\u200d"):
        length -= 1
    kept = text[:length]
    if length < len(text) and not text[length].isspace() and " " in kept.strip():
        kept = kept[: kept.rstrip().rfind(" ")] if not kept.endswith(" ") else kept
    return kept.rstrip(" ,;:.-(") + CUT


def _begins_with_a_letter(text: str) -> str:
    """The text without accents that would fall on the letter before it."""
    return text[next((at for at, sign in enumerate(text) if not unicodedata.combining(sign)), len(text)) :]


def _as_it_is(text: str) -> tuple[str, bool]:
    return gsm7_where_possible(text), True


def _plainly(text: str) -> tuple[str, bool]:
    """The text in GSM-7, up to the first sign that has no plain form, and whether that is all of it."""
    written = ""
    for sign in gsm7_where_possible(text):
        plain = _plain_sign(sign)
        if plain is None:
            return written, False
        written += plain
    return written, True


@cache
def _plain_sign(sign: str) -> str | None:
    if segments(sign)[0] == _GSM7:
        return sign
    parts = "".join(part for part in unicodedata.normalize("NFKD", sign) if not unicodedata.combining(part)).replace("\u2044", "/")
    if not parts:
        return "" if unicodedata.combining(sign) else None
    return parts if segments(parts)[0] == _GSM7 and gsm7_where_possible(parts) == parts else None
