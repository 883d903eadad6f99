"""Amounts as people say them: "about a bathtub", "two 5-gallon buckets", "200-300 gallons", "unas 20 cubetas", "5 gal/min for an hour".

The one place that reads the words of an amount. Nothing is made up: a text is read only where every word of it is understood, and what
nobody can put a number to ("a lot", "a few buckets", "a puddle") is not read. Everyday things are ranges (service/everyday_measures.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deadlines.quantities import GALLONS, figure
from service.everyday_measures import MEASURES, UNITS, Measure
from service.said_numbers import Number, number_at, tokens_of

_LARGEST = 10**12


@dataclass(frozen=True, slots=True)
class SaidAmount:
    """An amount that was read. `high` is None where people said how much at least, and not how much at most: then it is no volume.

    `unit` is one of the contract's. `rests_on` says what was assumed, empty where it is just what was said.
    """

    low: Fraction
    high: Fraction | None
    unit: str
    rests_on: str = ""

    @property
    def volume(self) -> dict[str, Any] | None:
        """The volume as facts hold it: {"quantity", "unit"} or {"low", "high", "unit"}. None without an upper end."""
        if self.high is None:
            return None
        ends = {"quantity": _as_number(self.low)} if self.low == self.high else {"low": _as_number(self.low), "high": _as_number(self.high)}
        return {**ends, "unit": self.unit}

    @property
    def told(self) -> str:
        """The amount for staff: 4 to 10 gal."""
        if self.high is None:
            return f"at least {figure(self.low)} {self.unit}"
        return f"{figure(self.low)} {self.unit}" if self.low == self.high else f"{figure(self.low)} to {figure(self.high)} {self.unit}"


def read_amount(text: str, unit: str = "") -> SaidAmount | None:
    """What a text says of an amount, or None where that would be a guess. `unit`, one of the contract's, is for a bare number."""
    tokens = tokens_of(text)
    found = _Reader(tokens, unit).read() if tokens else None
    if found is None or max(found.low, found.high or 0) * GALLONS[found.unit] >= _LARGEST:
        return None
    return found


def _as_number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else round(float(value), 6)


# -- the words around an amount

_SPLIT = [tuple(phrase.split()) for phrase in (
    "mas o menos", "more or less", "give or take", "or so", "or thereabouts", "i would say", "i'd say", "it looks like", "looks like",
    "i think", "i guess", "the size of", "size of", "as big as", "the amount of", "amount of", "the equivalent of", "equivalent to",
    "equivalent of", "there is", "there was", "there are", "probably", "around", "about", "approximately", "approx", "apprx", "aprox",
    "aproximadamente", "roughly", "maybe", "perhaps", "estimated", "estimate", "est", "some", "nearly", "almost", "like", "circa", "ca",
    "total", "in total", "of it", "spilled", "leaked", "released", "spill", "cerca de", "alrededor de", "como", "casi", "unos", "unas",
    "quizas", "quiza", "tal vez", "creo que", "creo", "yo diria", "parece", "del tamano de", "lo de", "lo equivalente a", "en total",
    "se derramaron", "se derramo", "hay", "calculo", "por ahi de", "it was", "it is", "was", "were", "is", "es", "son", "fue", "fueron",
    "size", "worth", "full", "fulls", "llena", "lleno", "llenas", "llenos", ".", ",", "!", "~", "(", ")", "\"", "'", "≈", ":", ";",
)]  # fmt: skip
_AT_MOST = [tuple(phrase.split()) for phrase in (
    "less than", "fewer than", "under", "up to", "at most", "no more than", "not more than", "as much as", "<", "max", "maximum", "below",
    "menos de", "hasta", "no mas de", "a lo mas", "a lo mucho", "cuando mucho", "maximo", "como maximo", "maximo de", "menor de",
)]  # fmt: skip
_AT_LEAST = [tuple(phrase.split()) for phrase in (
    "more than", "over", "at least", "no less than", "not less than", "above", ">", "min", "minimum", "upwards of", "bigger than",
    "mas de", "al menos", "por lo menos", "no menos de", "minimo", "como minimo", "mas grande que", "mayor de", "mas que",
)]  # fmt: skip
_OR_LESS = [tuple(phrase.split()) for phrase in ("or less", "or fewer", "or under", "tops", "max", "at most", "o menos", "maximo")]
_OR_MORE = [tuple(phrase.split()) for phrase in ("or more", "or over", "plus", "+", "and up", "at least", "o mas", "y mas", "minimo")]
_SUBSTANCES = {
    "sewage", "water", "wastewater", "oil", "diesel", "gasoline", "fuel", "paint", "grease", "mud", "concrete", "raw", "dirty", "used",
    "waste", "motor", "cooking", "soapy", "effluent", "chemicals", "bleach", "antifreeze", "cement", "sludge", "hydraulic",
}  # fmt: skip
_TIMES = {
    **dict.fromkeys(("second", "seconds", "sec", "secs", "s", "segundo", "segundos", "seg"), Fraction(1)),
    **dict.fromkeys(("minute", "minutes", "min", "mins", "minuto", "minutos", "m"), Fraction(60)),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h", "hora", "horas"), Fraction(3600)),
    **dict.fromkeys(("day", "days", "dia", "dias"), Fraction(86400)),
}
_RATES = {
    "gpm": ("gal", Fraction(60)), "gph": ("gal", Fraction(3600)), "gpd": ("gal", Fraction(86400)), "lpm": ("L", Fraction(60)),
    "lps": ("L", Fraction(1)), "cfs": ("ft3", Fraction(1)), "mgd": ("gal", Fraction(86400, 10**6)),
}  # fmt: skip
# Words that change an amount wherever they stand behind it: with one of them, it is not read.
_CHANGING = {
    *_TIMES, "every", "each", "per", "cada", "por", "not", "no", "never", "nunca", "half", "medio", "media", "than", "mitad", "lb", "lbs",
    "pounds", "kg", "tons", "ton", "libras", "kilos", "twice", "times", "veces", "doble", "double", "daily", "diario", "diarios", "acre",
    "acres",
}  # fmt: skip

_THINGS: dict[tuple[str, ...], tuple[Measure, bool]] = {
    **{tuple(name.split()): (row, False) for row in MEASURES for name in row.one},
    **{tuple(name.split()): (row, True) for row in MEASURES for name in row.several},
}
_UNITS = {tuple(name.split()): meant for name, meant in UNITS.items()}
_ARTICLES = {"a", "an", "un", "una"}
_ADJECTIVES = {"full", "whole", "standard", "regular", "normal", "entire", "entera", "entero", "llena", "lleno", "completa", "completo"}


@dataclass(frozen=True, slots=True)
class _Part:
    """Numbers of a unit, with what they rest on; `bare` where only numbers were said and no unit."""

    low: Fraction
    high: Fraction
    unit: str
    rests_on: str = ""
    bare: bool = False


class _Reader:
    """Reads one text from left to right. A text that holds a word which it does not know is not read."""

    def __init__(self, tokens: Sequence[str], unit: str) -> None:
        self.tokens = list(tokens)
        while self.tokens and self.tokens[-1] in ".,!;:":
            self.tokens.pop()
        self.unit = unit
        self.at = 0
        self.bound = ""  # one that stands between a number and its unit: 200 or fewer gallons, 50+ gallons

    def read(self) -> SaidAmount | None:
        bound = self._before()
        part = self._between() or self._part()
        if part is None or (part.bare and not self.unit):
            return None
        part = self._over_time(part)
        if part is None:
            return None
        bound = self._behind() or self.bound or bound
        if self._left():
            return None
        unit = part.unit or self.unit
        if bound == "most":
            return SaidAmount(Fraction(0), part.high, unit, part.rests_on or "told as an upper end")
        if bound == "least":
            return SaidAmount(part.low, None, unit, part.rests_on or "told as a lower end")
        return SaidAmount(part.low, part.high, unit, part.rests_on)

    # -- small steps

    def _left(self) -> list[str]:
        return self.tokens[self.at :]

    def _take(self, phrases: Sequence[tuple[str, ...]]) -> bool:
        """Go past the longest of these phrases that stands here."""
        found = max((len(phrase) for phrase in phrases if tuple(self.tokens[self.at : self.at + len(phrase)]) == phrase), default=0)
        self.at += found
        return found > 0

    def _number(self) -> Number | None:
        found = number_at(self.tokens, self.at)
        if found is not None:
            self.at += found.length
        return found

    def _word(self, *words: str) -> bool:
        return self._take([(word,) for word in words])

    # -- the parts of a text

    def _before(self) -> str:
        bound = ""
        while True:
            if self._take(_AT_LEAST):
                bound = "least"
            elif self._take(_AT_MOST):
                bound = "most"
            elif number_at(self.tokens, self.at) is not None or not self._take(_SPLIT):
                return bound

    def _between(self) -> _Part | None:
        """Between 200 and 300 gallons; entre 20 y 30 galones; from 2 to 3 buckets."""
        start = self.at
        if self._word("between", "entre", "from", "de"):
            low = self._part(joined=("and", "y", "to", "a", "-"))
            if low is not None and low.low < low.high:
                return low
        self.at = start
        return None

    def _part(self, joined: tuple[str, ...] = ("-", "to", "or", "a", "o")) -> _Part | None:
        """A number or two with a unit: 20 gallons, 20 to 30 gallons, 20 gal to 30 gal, a bucket or two."""
        said_at = self.at
        count = self._count()
        if count is None:
            return None
        if self._unit_at(self.at) is None:
            self.bound = "most" if self._take(_OR_LESS) else "least" if self._take(_OR_MORE) else ""
        first = self._of_unit(count)
        start = self.at
        if self._word(*joined) and (other := self._number()) is not None:
            return self._range(count, first, other)
        self.at = start
        if first is not None:
            return first
        if self.tokens[said_at] in _ARTICLES or (count.low.denominator > 1 and not self.tokens[said_at][-1].isdigit()):
            return None  # "a" and "half" alone are no number of anything
        bare = "told as a couple" if count.low != count.high else ""
        return _Part(count.low, count.high, "", bare, bare=True) if not self._has_words() else None

    def _range(self, count: Number, first: _Part | None, other: Number) -> _Part | None:
        if count.low != count.high or other.low != other.high:
            return None
        ends = sorted((count.low, other.low))
        both = Number(ends[0], ends[1], 0)
        second = self._of_unit(both)
        if second is not None and (first is None or first.unit == second.unit) and self._same_thing(first, second):
            return second
        if second is None and first is not None:  # a bucket or two
            scale = first.low / count.low if count.low else Fraction(0), first.high / count.high if count.high else Fraction(0)
            return _Part(scale[0] * ends[0], scale[1] * ends[1], first.unit, first.rests_on)
        return _Part(ends[0], ends[1], "", bare=True) if second is None and not self._has_words() else None

    @staticmethod
    def _same_thing(first: _Part | None, second: _Part) -> bool:
        return first is None or first.rests_on.partition(":")[0] == second.rests_on.partition(":")[0]

    def _has_words(self) -> bool:
        """Whether a word stands here that is a unit or a thing which a bare number was not told with."""
        behind = self._left()
        return bool(behind) and (behind[0] in ("of", "de") or behind[0] in _CHANGING)

    def _count(self) -> Number | None:
        if (found := self._number()) is not None:
            return found
        if self.at < len(self.tokens) and self.tokens[self.at] in _ARTICLES:
            self.at += 1
            self._word(*_ADJECTIVES)
            return Number(Fraction(1), Fraction(1), 1)
        # "bathtub" alone, "bathtub full": one of it.
        return Number(Fraction(1), Fraction(1), 0) if self._thing(self.at, several=False) else None

    def _thing(self, at: int, several: bool) -> tuple[Measure, int] | None:
        found = None
        for length in range(1, 6):
            row = _THINGS.get(tuple(self.tokens[at : at + length]))
            if row is not None and row[1] == several:
                found = row[0], length
        return found

    def _unit_at(self, at: int) -> tuple[str, Fraction, int] | None:
        found = None
        for length in range(1, 4):
            meant = _UNITS.get(tuple(self.tokens[at : at + length]))
            if meant is not None:
                found = meant[0], meant[1], length
        return found

    def _of_unit(self, count: Number) -> _Part | None:
        """The unit or the thing that a count was told of. `count` stays where none stands here."""
        self._word(*_ADJECTIVES)
        start = self.at
        if self._word("-") and self._unit_at(self.at) is None:
            self.at = start
        if (sized := self._sized(count)) is not None:
            return sized
        thing = self._thing(self.at, several=True) or self._thing(self.at, several=False)
        couple = "told as a couple" if count.low == 2 and count.high == 3 else ""
        unit = self._unit_at(self.at)
        if unit is not None and (thing is None or thing[1] < unit[2]):  # a gallon jug is a jug
            self.at += unit[2]
            half = self._half_behind(count)
            return _Part((count.low + half) * unit[1], (count.high + half) * unit[1], unit[0], couple)
        if thing is None:
            self.at = start
            return None
        self.at += thing[1]
        half = self._half_behind(count)
        return self._filled(count, half, thing[0])

    def _half_behind(self, count: Number) -> Fraction:
        """A gallon and a half, galón y medio."""
        is_half = (
            count.low == count.high and count.low.denominator == 1 and self._take([("and", "a", "half"), ("y", "medio"), ("y", "media")])
        )
        return Fraction(1, 2) if is_half else Fraction(0)

    def _filled(self, count: Number, half: Fraction, row: Measure) -> _Part:
        """So many of a thing, by the table, or by the size that stands behind it: 3 cubetas de 5 galones."""
        start = self.at
        if self._word("de", "of") and (size := self._number()) is not None and size.low == size.high and (unit := self._unit_at(self.at)):
            self.at += unit[2]
            each = size.low * unit[1]
            return _Part((count.low + half) * each, (count.high + half) * each, unit[0])
        self.at = start
        low, high = Fraction(row.low), Fraction(row.high)
        size_told = f"{figure(low)} gal" if low == high else f"{figure(low)} to {figure(high)} gal"
        return _Part((count.low + half) * low, (count.high + half) * high, "gal", f"{row.name}: {size_told} each")

    def _sized(self, count: Number) -> _Part | None:
        """Two 5-gallon buckets, a 55 gallon drum, 5 gallon bucket: things that are told with their size."""
        start = self.at
        size = self._number()
        each = Fraction(1) if size is None else size.low
        if size is None or size.low == size.high:
            self._word("-")
            unit = self._unit_at(self.at)
            if unit is not None:
                self.at += unit[2]
                self._word("-")
                thing = self._thing(self.at, several=size is not None and count.high > 1) or self._thing(self.at, several=False)
                if thing is not None and (size is not None or count.low == count.high):
                    self.at += thing[1]
                    number = count if size is not None else Number(Fraction(1), Fraction(1), 0)
                    volume = (each if size is not None else count.low) * unit[1]
                    return _Part(number.low * volume, number.high * volume, unit[0])
        self.at = start
        return None

    def _over_time(self, part: _Part) -> _Part | None:
        """An amount in a time: 5 gal/min for an hour, 10 gpm for 2 hours. A rate without its time is no amount."""
        start, seconds = self.at, None
        if part.bare and self.at < len(self.tokens) and self.tokens[self.at] in _RATES:
            unit, seconds = _RATES[self.tokens[self.at]]
            self.at += 1
            part = _Part(part.low, part.high, unit)
        elif self._take([("per",), ("a",), ("/",), ("por",), ("al",), ("a", "la"), ("each",), ("an",), ("cada",), ("every",)]):
            seconds = _TIMES.get(self.tokens[self.at]) if self.at < len(self.tokens) else None
            if seconds is None:
                self.at = start
                return part
            self.at += 1
        if seconds is None:
            return part
        self._word(",")
        if not self._word("for", "durante", "por", "over", "during", "x"):
            return None
        self._take(_SPLIT)
        lasted = self._duration()
        if lasted is None:
            return None
        low, high = part.low * lasted[0] / seconds, part.high * lasted[1] / seconds
        return _Part(low, high, part.unit, part.rests_on or "a rate over a time")

    def _duration(self) -> tuple[Fraction, Fraction] | None:
        count = self._number()
        if count is None and self._word("a", "an"):
            count = Number(Fraction(1), Fraction(1), 1)
        if count is None or self.at >= len(self.tokens) or self.tokens[self.at] not in _TIMES:
            return None
        seconds = _TIMES[self.tokens[self.at]]
        self.at += 1
        half = self._half_behind(count)
        return (count.low + half) * seconds, (count.high + half) * seconds

    def _behind(self) -> str:
        """The words behind an amount: or less, or so, of sewage. Returns the bound that they set."""
        bound = ""
        while self.at < len(self.tokens):
            if self._take(_SPLIT):
                continue
            if self._take(_OR_LESS):
                bound = "most"
            elif self._take(_OR_MORE):
                bound = "least"
            elif not self._substance():
                break
        return bound

    def _substance(self) -> bool:
        """Of what: a few plain words that change nothing of how much."""
        words = self._left()
        if words[0] in ("of", "de") and 2 <= len(words) <= 8 and all(self._is_plain(self.at + n) for n in range(1, len(words))):
            self.at = len(self.tokens)
            return True
        return self._word(*_SUBSTANCES)

    def _is_plain(self, at: int) -> bool:
        word = self.tokens[at]
        if not word.isalpha() or word in _CHANGING:
            return False
        is_number = word not in ("a", "an", "un", "una") and number_at(self.tokens, at) is not None
        return not is_number and self._unit_at(at) is None
