"""Personal strings that are planted into a spill, and a search that finds them in any output, also encoded, split up, in other letters.

A string belongs to some audiences: those that may read it. Whatever anybody else is shown must not hold it.
"""

from __future__ import annotations

import base64
import binascii
import html
import quopri
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus

STAFF, REPORTER, DISCHARGER, PUBLIC, LOG = "staff", "reporter", "discharger", "public", "log"
# Fewer digits than this in a row are in any page by chance.
_FEWEST_DIGITS = 7
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True)
class Planted:
    """A personal string, and who may read it."""

    what: str
    text: str
    readers: frozenset[str]

    def is_in(self, said: Searched) -> bool:
        """Whether an output holds it, in whatever disguise."""
        wanted, digits = squeezed(self.text), only_digits(self.text)
        is_number = len(digits) >= _FEWEST_DIGITS and not re.search("[A-Za-z]", self.text)
        if any(wanted in words or wanted[::-1] in words for words in said.words):
            return True
        return is_number and any(digits in row for row in said.digits)


class Searched:
    """An output, read in every way once: what it says without what can split words up, and its digits in a row."""

    def __init__(self, output: str) -> None:
        said = set(readings(output))
        self.words = {squeezed(one) for one in said}
        self.digits = {only_digits(one) for one in said}


def squeezed(text: str) -> str:
    """Letters and digits alone, small, without accents: what is left of a text that was split up or written in another way."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return re.sub(r"[\W_]+", "", plain)


def only_digits(text: str) -> str:
    """The digits of a text, as a telephone number is dialled."""
    return re.sub(r"\D+", "", unicodedata.normalize("NFKC", text))


def readings(output: str) -> Iterator[str]:
    """An output as it stands, and as a program reads it that undoes the encodings of the web and of mail."""
    yield output
    yield _ESCAPED.sub(lambda found: chr(int(found[1], 16)), output)
    yield html.unescape(html.unescape(output))
    yield re.sub(r"<[^>]*>", "", html.unescape(output))
    yield unquote_plus(unquote_plus(output))
    mail = output.replace("\\n", "\n")
    yield quopri.decodestring(mail.encode("utf-8", "replace")).decode("utf-8", "replace")
    for found in _BASE64.findall(output):
        yield from _decoded(found)
    for found in _HEX.findall(output):
        yield bytes.fromhex(found).decode("utf-8", "replace")


def _decoded(text: str) -> Iterator[str]:
    padded = text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)
    for altered in (None, b"-_"):
        try:
            yield base64.b64decode(padded, altered).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue


@dataclass(frozen=True)
class Output:
    """Something that was shown: to whom, where, and what it said."""

    audience: str
    where: str
    says: str


def leaks(planted: Iterable[Planted], outputs: Iterable[Output]) -> list[str]:
    """Every planted string in an output whose audience may not read it, each as a line that says what was found where."""
    strings, found = list(planted), []
    for output in outputs:
        said = Searched(output.says)
        hidden = (one for one in strings if output.audience not in one.readers and one.is_in(said))
        found += [f"{one.what} ({one.text!r}) is shown to {output.audience}: {output.where}" for one in hidden]
    return found


def of(what: Mapping[str, str], *readers: str) -> list[Planted]:
    """Planted strings that these audiences may read."""
    return [Planted(name, text, frozenset(readers)) for name, text in what.items()]
