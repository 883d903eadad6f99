"""Words that tell of a person, found in a text however they are written, and taken out: names, telephone numbers, e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

MASK = "[redacted]"
_SHORTEST_PART = 4  # of a name: shorter ones are words of the language
_DIGITS_OF_A_NUMBER = 10
_FEWEST_DIGITS = 7
_EMAIL = re.compile(r"[\w.+%'-]+@[\w-]+(?:\.[\w-]+)+")
# As numbers of North America are written, and any with a plus.
_PHONE = re.compile(r"(?<![\w.])(?:\+\d[\d\s().-]{7,17}\d|(?:1[\s.-]?)?\(?\d{3}\)?[\s.-]{0,2}\d{3}[\s.-]\d{4}|\d{10})(?!\w)")


def of_name(name: str, *, parts: bool) -> list[re.Pattern[str]]:
    """A name, whole; with `parts` also each of its longer words, which may be words of the language as well."""
    words = name.split()
    if not words:
        return []
    whole = r"\s+".join(map(re.escape, words))
    longer = [re.escape(word) for word in words if len(word) >= _SHORTEST_PART] if parts else []
    return [re.compile(rf"(?<!\w){said}(?!\w)", re.IGNORECASE) for said in (whole, *longer)]


def of_email(email: str) -> list[re.Pattern[str]]:
    """An e-mail address."""
    return [re.compile(re.escape(email), re.IGNORECASE)] if email.strip() else []


def of_phone(phone: str) -> list[re.Pattern[str]]:
    """The number however it is written: +19095550143, (909) 555-0143, 909.555.0143."""
    digits = re.sub(r"\D", "", phone)
    if not digits:
        return [re.compile(re.escape(phone), re.IGNORECASE)] if phone.strip() else []
    said = r"\D{0,3}".join(digits[-_DIGITS_OF_A_NUMBER:])
    return [re.compile(rf"(?:\+?1\D{{0,3}})?(?<!\d)\(?{said}(?!\d)")]


def of_words(words: Iterable[str]) -> list[re.Pattern[str]]:
    """Words that a person typed: a number by its digits, all else as it stands, whatever its capitals and blanks; the longest first."""
    found: list[re.Pattern[str]] = []
    for said in sorted({word.strip() for word in words if word.strip()}, key=lambda word: (-len(word), word)):
        is_number = len(re.sub(r"\D", "", said)) >= _FEWEST_DIGITS and not re.search(r"[^\W\d_]", said)
        found += of_phone(said) if is_number else of_name(said, parts=False)
    return found


def of_person(person: Mapping[str, Any], *, parts: bool) -> list[re.Pattern[str]]:
    """How somebody on record, {name, email, phone}, may be written in a text. Addresses first: what a name leaves of one would tell it."""
    found = [*of_email(str(person.get("email") or "")), *of_phone(str(person.get("phone") or ""))]
    return [*found, *of_name(str(person.get("name") or ""), parts=parts)]


def masking(patterns: Sequence[re.Pattern[str]], mark: str = MASK) -> Callable[[Any], Any]:
    """What takes all of this out of a JSON value, in its keys too."""

    def masked(value: Any) -> Any:
        if isinstance(value, str):
            for pattern in patterns:
                value = pattern.sub(mark, value)
            return value
        if isinstance(value, Mapping):
            return {masked(str(key)): masked(part) for key, part in value.items()}
        return [masked(part) for part in value] if isinstance(value, list | tuple) else value

    return masked


def suggested(texts: Iterable[str], people: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]] = ()) -> list[str]:
    """What in these texts looks as if it told of a person: telephone numbers, e-mail addresses, names of people on record; each once.

    `people` are found by a part of their name, too; `others`, who may be called Sewer crew, by the whole of it.
    """
    patterns = [_EMAIL, _PHONE, *(pattern for person in people for pattern in of_person(person, parts=True))]
    patterns += [pattern for person in others for pattern in of_person(person, parts=False)]
    found = [found[0].strip() for said in texts for pattern in patterns for found in pattern.finditer(said)]
    return list(dict.fromkeys(found))
