"""How alike two names are: pairs of letters choose whom to look at, the number of slips decides.

A slip is a letter too many, too few or wrong, or two that changed places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

_MOST_LOOKED_AT = 40
_MOST_WORDS = 6
_LONGEST = 60
_FARTHEST_BEHIND = 0.12  # what is so much less alike than the likest is not meant


def slips(one: str, other: str, most: int) -> int:
    """The number of slips between two texts; `most` + 1 where there are more than `most`."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, its in enumerate(other, 1):
            best = before[j - 1] if letter == its else 1 + min(before[j - 1], before[j], row[j - 1])
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                best = min(best, earlier[j - 2] + 1)
            row.append(best)
        if min(row) > most and (not before or min(before) > most):
            return most + 1
    return min(row[-1], most + 1)


def _allowed(length: int) -> int:
    """How many slips a word of so many letters may hold and still be taken for another."""
    return 0 if length < 4 else 1 if length < 6 else 2 if length < 11 else 3


def _pairs(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[at : at + 2] for at in range(len(padded) - 1)}


class _Letters:
    """Texts by the pairs of letters in them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [text for text in dict.fromkeys(texts) if text]
        self._sizes = [len(_pairs(text)) for text in self._texts]
        self._by_pair: dict[str, list[int]] = {}
        for number, text in enumerate(self._texts):
            for pair in _pairs(text):
                self._by_pair.setdefault(pair, []).append(number)

    def near(self, typed: str) -> list[tuple[float, str]]:
        """Texts within the slips allowed, each with its likeness, 0 to 1; the likest first."""
        pairs, most = _pairs(typed), _allowed(len(typed))
        if not most:
            return []
        shared = Counter(number for pair in pairs for number in self._by_pair.get(pair, ()))
        ranked = sorted(shared.items(), key=lambda one: -2 * one[1] / (len(pairs) + self._sizes[one[0]]))
        found = []
        for number, _ in ranked[:_MOST_LOOKED_AT]:
            text = self._texts[number]
            count = slips(typed, text, most)
            if count <= most:
                found.append((1 - count / max(len(typed), len(text)), text))
        return sorted(found, key=lambda one: (-one[0], one[1]))


class Likeness:
    """Names, compared as a whole and by their words."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(dict.fromkeys(names))
        self._whole = _Letters(name.replace(" ", "") for name in self._names)
        self._spaced: dict[str, list[str]] = {}
        self._with_word: dict[str, list[str]] = {}
        for name in self._names:
            self._spaced.setdefault(name.replace(" ", ""), []).append(name)
            for word in dict.fromkeys(name.split()):
                self._with_word.setdefault(word, []).append(name)
        self._words = _Letters(word for word in self._with_word if len(word) > 3)

    def of(self, typed: str, *, parts: bool, similar: bool) -> Iterator[tuple[str, str]]:
        """Names with why they are close: `part`, they hold the words typed; `similar`, but for slips. The closest first."""
        typed = typed[:_LONGEST].strip()
        words = typed.split()[:_MOST_WORDS]
        if not words:
            return
        seen: set[str] = set()
        if parts:
            held = self._holding([{one for one in self._with_word if one.startswith(word)} for word in words])
            for name in sorted(held, key=lambda name: (len(name), name)):
                seen.add(name)
                yield name, "part"
        if similar and not seen:
            yield from ((name, "similar") for name in self._similar(typed, words))

    def _holding(self, choices: list[set[str]]) -> set[str]:
        """Names that hold one word of each choice."""
        found: set[str] | None = None
        for words in choices:
            names = {name for word in words for name in self._with_word[word]}
            found = names if found is None else found & names
        return found or set()

    def _similar(self, typed: str, words: list[str]) -> list[str]:
        scores: dict[str, float] = {}
        for likeness, text in self._whole.near(typed.replace(" ", "")):
            for name in self._spaced[text]:
                scores[name] = likeness
        choices = []
        for word in words:
            near = {text: likeness for likeness, text in self._words.near(word)}
            choices.append({**near, **({word: 1.0} if word in self._with_word else {})})
        for name in self._holding([set(choice) for choice in choices]):
            its = name.split()
            likeness = sum(max(choice.get(word, 0.0) for word in its) for choice in choices) / max(len(its), len(choices))
            scores[name] = max(scores.get(name, 0.0), 0.95 * likeness)
        close = max(scores.values(), default=0.0) - _FARTHEST_BEHIND
        return sorted((name for name in scores if scores[name] >= close), key=lambda name: (-scores[name], len(name), name))
