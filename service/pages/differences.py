"""What changed between two texts, word by word, as pieces that a page marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Beyond so many words on a side the comparison could take seconds, for texts made to be slow: then both are shown whole.
_MOST_WORDS = 600
_WORD = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text. `kind`: same, taken_out, put_in."""

    kind: str
    text: str


def differences(before: str, after: str) -> Sequence[Piece]:
    """The pieces that lead from one text to the other, in order. Texts that are equal are one piece that is the same."""
    if before == after:
        return [Piece("same", after)] if after else []
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > _MOST_WORDS:
        return [Piece(kind, text) for kind, text in (("taken_out", before), ("put_in", after)) if text]
    found = []
    for what, i, j, k, m in SequenceMatcher(None, old, new).get_opcodes():
        if what == "equal":
            found.append(Piece("same", "".join(new[k:m])))
            continue
        found += [Piece("taken_out", "".join(old[i:j]))] if j > i else []
        found += [Piece("put_in", "".join(new[k:m]))] if m > k else []
    return found
