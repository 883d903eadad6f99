"""Numbers as people say and write them, in English and Spanish: "1,500", "1,5", "two hundred", "una docena", "uno y medio".

A number that can be read in two ways is no number here: "1.500" is one and a half to some and one and a half thousand to others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

LONGEST = 200  # letters; what is longer is a story, not an amount or a time
_LARGEST = 10**12

_FRACTION_SIGNS = {"½": " 1/2 ", "¼": " 1/4 ", "¾": " 3/4 ", "⅓": " 1/3 ", "⅔": " 2/3 "}
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
_TOKEN = re.compile(
    r"(?:m|ft|yd)3(?![a-z\d])"
    r"|(?<![a-z\d])\.\d+"  # .5 is a half, and apprx.500 is not
    r"|\d+(?:[.,]\d+)*(?:/\d+)?k?(?![a-z\d])|\d+(?:[.,]\d+)*"
    r"|[a-z]+(?:'[a-z]+)*|\S"
)

_ONES: Mapping[str, int] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19,
    "cero": 0, "uno": 1, "un": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9,
    "diez": 10, "once": 11, "doce": 12, "trece": 13, "catorce": 14, "quince": 15, "dieciseis": 16, "diecisiete": 17, "dieciocho": 18,
    "diecinueve": 19, "veintiuno": 21, "veintiun": 21, "veintiuna": 21, "veintidos": 22, "veintitres": 23, "veinticuatro": 24,
    "veinticinco": 25, "veintiseis": 26, "veintisiete": 27, "veintiocho": 28, "veintinueve": 29,
}  # fmt: skip
_TENS: Mapping[str, int] = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "veinte": 20, "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90,
}  # fmt: skip
_HUNDREDS: Mapping[str, int] = {
    "cien": 100, "ciento": 100, "doscientos": 200, "doscientas": 200, "trescientos": 300, "trescientas": 300, "cuatrocientos": 400,
    "cuatrocientas": 400, "quinientos": 500, "quinientas": 500, "seiscientos": 600, "seiscientas": 600, "setecientos": 700,
    "setecientas": 700, "ochocientos": 800, "ochocientas": 800, "novecientos": 900, "novecientas": 900,
}  # fmt: skip
_THOUSANDS = ("thousand", "mil")
_HALVES = ("half", "medio", "media")
_QUARTERS = ("quarter", "cuarto")
# A couple is two to some people and two or three to others.
_COUPLE = (Fraction(2), Fraction(3))


@dataclass(frozen=True, slots=True)
class Number:
    """A number that was read: its ends, equal unless it is a range such as "a couple", and how many tokens it took."""

    low: Fraction
    high: Fraction
    length: int


def tokens_of(text: str) -> list[str]:
    """A text as the words, numbers and signs that it is read by: small letters without accents, one kind of dash; none of one too long."""
    if len(text) > LONGEST:
        return []
    for sign, written in _FRACTION_SIGNS.items():
        text = text.replace(sign, written)
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_DASHES).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return _TOKEN.findall("".join(letter for letter in plain if not unicodedata.combining(letter)))


def plain_number(text: str) -> Fraction | None:
    """The value of digits, or None where they are no number or can be two: 1,500 and 1,500.5 and 1.500,5 and 1,5 and 1/2 and 2k."""
    if text.endswith("k"):
        thousands = plain_number(text[:-1])
        return None if thousands is None else thousands * 1000
    if found := re.fullmatch(r"(\d{1,3})/(\d{1,3})", text):
        return Fraction(int(found[1]), int(found[2])) if int(found[2]) else None
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
        digits = text.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}", text):
        digits = text.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", text):
        return None  # a thousand to some, a small part to others
    elif re.fullmatch(r"\d+([.,]\d+)?|\.\d+", text):
        digits = text.replace(",", ".")
    else:
        return None
    value = Fraction(digits) if len(digits) <= 24 else Fraction(_LARGEST)
    return value if value < _LARGEST else None


def number_at(tokens: Sequence[str], start: int) -> Number | None:
    """The number that begins at a token: digits, words, a fraction, or both ("2 1/2", "uno y medio"). None where none begins there."""
    rest = tokens[start:]
    for read in (_couple, _digits, _part, _words):
        found = read(rest)
        if found is not None:
            return _and_a_half(rest, found)
    return None


def _one(value: Fraction | int, length: int) -> Number:
    return Number(Fraction(value), Fraction(value), length)


def _couple(rest: Sequence[str]) -> Number | None:
    """A couple (of), un par (de), a dozen, una docena, with a hundred or a thousand behind it."""
    skip = 1 if rest[:1] and rest[0] in ("a", "un", "una", "the") else 0
    word = rest[skip] if len(rest) > skip else ""
    if word in ("couple", "par", "pair"):
        low, high = _COUPLE if word != "pair" else (Fraction(2), Fraction(2))
    elif word in ("dozen", "docena"):
        low = high = Fraction(12)
    else:
        return None
    length = skip + 1
    if rest[length : length + 1] and rest[length] in ("of", "de"):
        length += 1
    scale = {"hundred": 100, "thousand": 1000}.get(rest[length], 1) if len(rest) > length else 1
    return Number(low * scale, high * scale, length + (scale > 1))


def _digits(rest: Sequence[str]) -> Number | None:
    if not rest or not re.match(r"\.?\d", rest[0], re.ASCII):
        return None
    value = plain_number(rest[0])
    if value is None:
        return None
    if len(rest) > 1 and "/" in rest[1] and "/" not in rest[0] and value.denominator == 1 and (part := plain_number(rest[1])):
        return _one(value + part, 2)
    if len(rest) > 1 and rest[1] in ("hundred", "thousand", "mil"):
        return _one(value * (100 if rest[1] == "hundred" else 1000), 2)
    if len(rest) > 1 and rest[1] in ("dozen", "docena", "docenas"):
        return _one(value * 12, 3 if rest[2:3] == ["de"] else 2)
    return _one(value, 1)


def _part(rest: Sequence[str]) -> Number | None:
    """Half a, a half, half of a, a quarter of a, three quarters of a; medio, media, un cuarto de, tres cuartos de."""
    text = " ".join(rest[:5])
    for pattern, value in (
        (r"half a dozen\b|media docena(?: de)?\b", Fraction(6)),
        (r"(?:(?:a|one) )?half(?: of)?(?: an?)?\b", Fraction(1, 2)),
        (r"(?:la mitad de|medi[oa])(?: una?)?\b", Fraction(1, 2)),
        (r"(?:a|one) quarter(?: of)?(?: an?)?\b|un cuarto de(?: una?)?\b", Fraction(1, 4)),
        (r"three quarters(?: of)?(?: an?)?\b|tres cuartos? de(?: una?)?\b", Fraction(3, 4)),
        (r"(?:a|one) third(?: of)?(?: an?)?\b|un tercio de(?: una?)?\b", Fraction(1, 3)),
    ):
        if found := re.match(pattern, text):
            length = len(found[0].split())
            return _one(value, length)
    return None


def _words(rest: Sequence[str]) -> Number | None:
    """Two hundred and fifty, twenty-five, a hundred; ciento cincuenta, treinta y cinco, dos mil quinientos."""
    total, current, length, last = 0, None, 0, 0  # `last` is the size of the part before: what follows is smaller
    tokens = list(rest[:12])
    at = 1 if tokens[:1] and tokens[0] == "a" and tokens[1:2] and tokens[1] in ("hundred", "thousand") else 0
    while at < len(tokens):
        word = tokens[at]
        if word in ("and", "y", "-") and length and at + 1 < len(tokens) and _joins(word, last, tokens[at + 1]):
            at += 1
            continue
        if word in _ONES and (last == 0 or last >= 100 or (last == 10 and 0 < _ONES[word] < 10)):
            current, last = (current or 0) + _ONES[word], 1
        elif word in _TENS and (last == 0 or last >= 100):
            current, last = (current or 0) + _TENS[word], 10
        elif word in _HUNDREDS and last in (0, 1000):
            current, last = (current or 0) + _HUNDREDS[word], 100
        elif word == "hundred" and (current or 1) < 100 and last in (0, 1, 10):
            current, last = (current or 1) * 100, 100
        elif word in _THOUSANDS and not total and (current or 1) < 1000:
            total, current, last = (current or 1) * 1000, 0, 1000
        else:
            break
        at += 1
        length = at
    if not length or (length == 1 and rest[0] in ("hundred", "thousand")):
        return None
    return _one(total + (current or 0), length)


def _joins(word: str, last: int, following: str) -> bool:
    if word == "-":
        return last == 10 and 0 < _ONES.get(following, 0) < 10
    if word == "y":
        return last == 10 and 0 < _ONES.get(following, 0) < 10
    return last >= 100 and (following in _ONES or following in _TENS)


def _and_a_half(rest: Sequence[str], found: Number) -> Number:
    """Two and a half, dos y medio: behind a whole number."""
    if found.low.denominator != 1 or found.low != found.high:
        return found
    behind = " ".join(rest[found.length : found.length + 3])
    for pattern, part in ((r"and a half\b|y medi[oa]\b", Fraction(1, 2)), (r"and a quarter\b", Fraction(1, 4))):
        if matched := re.match(pattern, behind):
            return _one(found.low + part, found.length + len(matched[0].split()))
    return found
