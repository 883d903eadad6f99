"""Lengths of time back from now, as people say them: "2 hours ago", "hace media hora", "10 minutes", "hace un ratito".

What has no end ("over an hour ago") or none that all would name ("a while ago") is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from service import time_words
from service.said_numbers import number_at

_DAY = timedelta(days=1)
# Before a bare count these make it an hour of the day, or a time to come: at 2, a las 15 horas, in 2 hours.
_OF_CLOCKS = {"at", "on", "a", "las", "la", "el", "los", "al", "en", "in", "del", "de", "hacia", "sobre"}
# Written after figures, these are hours of the day as well: 8 h, 15 hrs, 15 horas.
_ON_CLOCKS = {"h", "hr", "hrs", "horas"}


@dataclass(frozen=True, slots=True)
class Ago:
    """So long ago, at least and at most. `in_days`: told in days or weeks, so that whole days are meant and no moments."""

    nearest: timedelta
    farthest: timedelta
    in_days: bool


class Tokens:
    """The words, numbers and signs of a text, read from left to right; `at` is where the reading stands."""

    def __init__(self, tokens: Sequence[str], at: int = 0) -> None:
        self.all = list(tokens)
        self.at = at

    @property
    def is_over(self) -> bool:
        """Whether all were read."""
        return self.at >= len(self.all)

    def take(self, phrases: Sequence[tuple[str, ...]]) -> bool:
        """Go past the first of these phrases that stands here; the longest where they are in order."""
        for phrase in phrases:
            if tuple(self.all[self.at : self.at + len(phrase)]) == phrase:
                self.at += len(phrase)
                return True
        return False

    def word(self, *words: str) -> bool:
        """Go past one of these words."""
        if self.peek() in words and not self.is_over:
            self.at += 1
            return True
        return False

    def peek(self, ahead: int = 0) -> str:
        """The token that stands here, or so many further on; empty past the end."""
        return self.all[self.at + ahead] if 0 <= self.at + ahead < len(self.all) else ""


def read_ago(tokens: Sequence[str]) -> Ago | None:
    """The length of time that the whole of a text tells, or None where it tells something else, or nothing certain."""
    for start in range(len(tokens)):
        lead = Tokens(tokens[:start])
        while lead.take(time_words.FILLERS):
            pass
        if not lead.is_over:
            return None
        if (found := _Reading(Tokens(tokens, start), lead.all).read()) is not None:
            return found
    return None


class _Reading:
    """One reading of a text as a length of time, behind the words `lead` that tell no time."""

    def __init__(self, tokens: Tokens, lead: Sequence[str]) -> None:
        self.tokens, self.lead = tokens, lead
        self.is_told = False  # it says "ago", hace, for: it can be no hour of the day
        self.is_plain = False  # it says none of them, and can mean nothing else
        self.is_within = False
        self.is_rough = False
        self.is_between = not {"between", "entre"}.isdisjoint(lead)

    def read(self) -> Ago | None:
        tokens = self.tokens
        self.is_told = tokens.word("hace")
        self._prefixes()
        found = self._while() or self._length()
        if found is None:
            return None
        is_taken = True
        while is_taken:
            if tokens.take(time_words.AGO):
                self.is_told = True
            else:
                is_taken = tokens.take(time_words.OR_SO) or tokens.take(time_words.FILLERS)
        if not tokens.is_over or not (self.is_told or self.is_plain):
            return None
        return Ago(timedelta(), found.farthest, found.in_days) if self.is_within else found

    def _prefixes(self) -> None:
        tokens = self.tokens
        is_taken = True
        while is_taken:
            if tokens.take(time_words.WITHIN):
                self.is_told = self.is_within = True
            elif tokens.take(time_words.FOR):
                self.is_told = True
            elif tokens.word("between", "entre"):
                self.is_between = True
            else:
                is_taken = tokens.take(time_words.ROUGHLY)
                self.is_rough = self.is_rough or is_taken

    def _while(self) -> Ago | None:
        for phrases, longest in time_words.WHILES:
            if self.tokens.take(phrases):
                return Ago(timedelta(), longest, in_days=False)
        return None

    def _length(self) -> Ago | None:
        """A count and what is counted, with a smaller one behind it: 2 hours and 15 minutes."""
        tokens, begins = self.tokens, self.tokens.peek()
        counted = self._counted()
        if counted is None:
            return None
        low, high, unit, word = counted
        if tokens.take([("and", "a", "half"), ("y", "media"), ("y", "medio")]):
            low, high = low + Fraction(1, 2), high + Fraction(1, 2)
        nearest, farthest = _times(unit, low), _times(unit, high)
        start = tokens.at
        tokens.word("and", "y", "con", ",")
        smaller = self._counted() if low == high else None
        if smaller is not None and smaller[2] < unit <= timedelta(hours=1):
            nearest, farthest = nearest + _times(smaller[2], smaller[0]), farthest + _times(smaller[2], smaller[1])
        else:
            tokens.at = start
        is_clock = word in _ON_CLOCKS and begins[:1].isdigit() and not self.is_rough
        is_counted = begins != word or self.is_rough
        self.is_plain = is_counted and not is_clock and not _OF_CLOCKS & set(self.lead)
        return Ago(nearest, farthest, in_days=unit >= _DAY)

    def _counted(self) -> tuple[Fraction, Fraction, timedelta, str] | None:
        """At least and at most so many of a span of time, and the word for it."""
        tokens, start = self.tokens, self.tokens.at
        is_few = tokens.take(time_words.FEW)
        if tokens.peek() == "una" and tokens.peek(1) == "media":  # hace una media hora: about half an hour
            tokens.at += 1
        count = None if is_few else number_at(tokens.all, tokens.at)
        low, high = (count.low, count.high) if count else (Fraction(1), Fraction(1))
        if count is not None:
            tokens.at += count.length
            high = self._other(time_words.OR + (time_words.BETWEEN if self.is_between else ()), high)
        elif not is_few:
            tokens.word("an", "a", "one")
        tokens.word("of", "an", "a", "de")
        word = tokens.peek()
        unit = time_words.SPANS.get(word)
        if unit is None:
            return None
        is_bare = tokens.at == start and word.endswith("s")
        tokens.at += 1
        if is_few or is_bare:  # minutes ago, hace unos minutos
            if unit not in time_words.FEW_OF:
                return None
            low, high = (Fraction(most) for most in time_words.FEW_OF[unit])
        else:
            high = self._other(("or", "o", "u"), high)
        return None if high < low else (low, high, unit, word)

    def _other(self, words: Sequence[str], high: Fraction) -> Fraction:
        """The larger of two counts between which it lies, where another follows one of these words."""
        tokens, start = self.tokens, self.tokens.at
        if tokens.word(*words) and (other := number_at(tokens.all, tokens.at)) is not None and other.low > high:
            tokens.at += other.length
            return other.high
        tokens.at = start
        return high


def _times(unit: timedelta, count: Fraction) -> timedelta:
    return timedelta(seconds=float(count * int(unit.total_seconds())))
