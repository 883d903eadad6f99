"""Templates of messages: text with {names}, checked before they are kept, and filled in without any logic of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import Formatter

from service.wording.kinds import KINDS, needed
from service.wording.short import Part, Short, fitted

LONGEST_SUBJECT, LONGEST_EMAIL, LONGEST_SMS = 300, 10_000, 800
_NAME = re.compile(r"[a-z_]+")


class TemplateFault(ValueError):
    """A template that cannot be read; the message says where and what would be right."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text as it stands, or with a name the value to put there."""

    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Values:
    """What fills a template: a text for each name, shorter forms of some, and which of them are English in any language."""

    said: Mapping[str, str]
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    english: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Template:
    """The text of a city for a kind of message in a channel and a language. `version` counts up with each change."""

    subject: str
    text: str
    version: int = 0


# By kind, channel and language.
Own = Mapping[tuple[str, str, str], Template]


@lru_cache(maxsize=256)
def read(text: str) -> tuple[tuple[Piece, ...], ...]:
    """A template line by line. Raises TemplateFault."""
    return tuple(tuple(_line(number, line)) for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1))


def _line(number: int, line: str) -> list[Piece]:
    pieces: list[Piece] = []
    try:
        for literal, name, shape, conversion in Formatter().parse(line):
            if literal:
                pieces.append(Piece(literal))
            if name is None:
                continue
            if shape or conversion or not _NAME.fullmatch(name):
                written = f"{{{name}{'!' + conversion if conversion else ''}{':' + shape if shape else ''}}}"
                raise TemplateFault(f"line {number}: {written} is not a name; right would be a name alone in braces, such as {{reference}}")
            pieces.append(Piece("", name))
    except TemplateFault:
        raise
    except ValueError:
        raise TemplateFault(
            f"line {number}: a brace without its other one; right would be {{reference}} for a name, and {{{{ or }}}} for a brace"
        ) from None
    return pieces


def names_of(text: str) -> list[str]:
    """Every name that a template uses, once. Raises TemplateFault."""
    return list(dict.fromkeys(piece.name for line in read(text) for piece in line if piece.name))


def filled(text: str, values: Values) -> list[list[Piece]]:
    """The lines of a template with their values, without those that say nothing; never two empty lines in a row."""
    lines: list[list[Piece]] = []
    for line in read(text):
        names = [piece.name for piece in line if piece.name]
        if names and not any(values.said[name].strip() for name in names):
            continue
        said = [Piece(values.said[piece.name], piece.name) if piece.name else piece for piece in line]
        if "".join(piece.text for piece in said).strip() or (lines and lines[-1]):
            lines.append(said if "".join(piece.text for piece in said).strip() else [])
    while lines and not lines[-1]:
        lines.pop()
    return lines


def as_text(lines: Sequence[Sequence[Piece]]) -> str:
    """Filled lines as plain text."""
    return "".join("".join(piece.text for piece in line).rstrip() + "\n" for line in lines)


def as_one_line(text: str, values: Values) -> str:
    """A template filled in as a single line: a subject."""
    return " ".join(as_text(filled(text, values)).split())


def as_short(kind: str, text: str, values: Values) -> Short:
    """A template as a text message of at most two segments. The reply hint is put at its end where the template leaves it out."""
    variables = KINDS[kind].variables
    parts: list[Part] = []
    names = names_of(text)
    for line in filled(text, values):
        for piece in line:
            rank = variables[piece.name].rank if piece.name else 0
            parts.append(Part(piece.text, rank, values.forms.get(piece.name, ())))
        parts.append(Part(" "))
    if values.said.get("reply") and "reply" not in names:
        parts.append(Part(values.said["reply"]))
    return fitted(parts)


def faults_of(kind: str, channel: str, subject: str, text: str, longest: Sequence[Values]) -> list[str]:
    """What is wrong with a city's own template, a line each with its field and what would be right; nothing where it may be kept.

    `longest` are examples with long values, by which the length of a text message is judged.
    """
    most = LONGEST_SMS if channel == "sms" else LONGEST_EMAIL
    faults = _field_faults(kind, "text", text, needed(kind, channel), most)
    if channel == "email":
        faults += _field_faults(kind, "subject", subject, (), LONGEST_SUBJECT)
        if len(subject.split("\n")) > 1:
            faults.append("subject: it has several lines; right would be one line")
    elif subject.strip():
        faults.append("subject: a text message has none; right would be: nothing")
    if channel == "sms" and not faults:
        for values in longest:
            short = as_short(kind, text, values)
            if not short.fits:
                faults.append(
                    f"text: with a long example it is {short.segments} segments, though all that may be shortened was left out; "
                    "right would be at most 2: use fewer words of your own"
                )
                break
    return faults


def _field_faults(kind: str, name: str, text: str, musts: Sequence[str], most: int) -> list[str]:
    if not text.strip():
        return [f"{name}: it is empty; right would be a text"]
    if len(text) > most:
        return [f"{name}: it has {len(text):,} characters; right would be at most {most:,}"]
    try:
        used = names_of(text)
    except TemplateFault as fault:
        return [f"{name}: {fault}"]
    known = KINDS[kind].variables
    faults = [f"{name}: {{{one}}} is unknown; right would be one of: {', '.join(known)}" for one in used if one not in known]
    faults += [
        f"{name}: {{{must}}} is missing; a message of this kind always says {known[must].about}" for must in musts if must not in used
    ]
    return faults
