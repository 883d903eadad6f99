"""The access matrix: read from tests/service/access_matrix.txt, which people review, and written as docs/access.md for people to read.

    python -m tests.service.access_table       (make access)

In the file: `# Title` begins a part, `> words` say something about it, `= ` names the columns; every other line is a route, what is asked
of it in brackets where that matters, and the answer to each of WHO: a status, `sign-in` where a browser is led to the sign-in page, `-`
where there is no link to come by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.service.everybody import WHO

TABLE = Path(__file__).with_name("access_matrix.txt")
DOCUMENT = Path(__file__).parents[2] / "docs" / "access.md"
_LINE = re.compile(r"(?P<route>[A-Z]+ /\S*)(?P<variant>(?: \[[^\]]+\])?)\s+(?P<answers>\S.*)")
_TITLES = {
    "none": "nobody", "reporter": "reporter", "discharger": "discharger", "another": "of another spill", "viewer": "viewer",
    "officer": "officer", "elsewhere": "officer elsewhere", "manager": "manager", "administrator": "administrator", "link": "link",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line: the route with its method, what is asked of it (`[...]`) or nothing, and the answer to each of WHO."""

    route: str
    variant: str
    answers: dict[str, str]

    @property
    def name(self) -> str:
        """The route with what is asked of it."""
        return f"{self.route} {self.variant}".strip()


@dataclass
class Part:
    """A part of the table."""

    title: str
    words: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


def parts(text: str) -> list[Part]:
    """The parts of the table. Raises ValueError with the number of a line that is none."""
    found: list[Part] = []
    for number, row in enumerate(text.splitlines(), 1):
        if row.startswith("# "):
            found.append(Part(row[2:]))
        elif row.startswith("> ") and found:
            found[-1].words.append(row[2:])
        elif row.startswith("= "):
            if tuple(row.split()[2:]) != WHO:
                raise ValueError(f"line {number}: right would be the names of the columns: {' '.join(WHO)}")
        elif row.strip():
            line = _LINE.fullmatch(row)
            answers = line["answers"].split() if line else []
            if not line or len(answers) != len(WHO) or not found:
                raise ValueError(f"line {number}: right would be a route and {len(WHO)} answers, or a title: {row}")
            found[-1].lines.append(Line(line["route"], line["variant"].strip(), dict(zip(WHO, answers, strict=True))))
    return found


def lines() -> list[Line]:
    """Every line of the table."""
    return [line for part in parts(TABLE.read_text(encoding="utf-8")) for line in part.lines]


def document(found: Sequence[Part]) -> str:
    """docs/access.md."""
    said = [_HEAD]
    head = " | ".join(_TITLES[who] for who in WHO)
    for part in found:
        said += [f"## {part.title}", "\n".join(part.words), f"| route | {head} |\n| --- |{' --- |' * len(WHO)}"]
        said[-1] += "".join(f"\n| {_route(line)} | {' | '.join(line.answers[who] for who in WHO)} |" for line in part.lines)
    return "\n\n".join(piece for piece in said if piece) + "\n"


def _route(line: Line) -> str:
    return f"`{line.route}`" + (f" {line.variant[1:-1]}" if line.variant else "")


_HEAD = """# Who gets what

Made by `make access` from [access_matrix.txt](../tests/service/access_matrix.txt); do not edit it here. A test
(`tests/service/test_access_matrix.py`) asks every route as everybody with a request that is right, and holds each answer to this table. A
route without a line fails it.

| column | who comes, and what they show |
| --- | --- |
| nobody | no session, no key, no link |
| reporter | the private link of the report that the spill began with |
| discharger | the private link of whoever answers for the spill |
| of another spill | the same of another spill |
| viewer, officer, manager, administrator | staff of the spill's city, by session on pages and by key in the API |
| officer elsewhere | an officer of another city |
| link | whoever holds the link, code, secret or signature that the route is there for |

A number is the HTTP status: 2xx and 303 mean that it is shown or done, `sign-in` that the browser is led to the sign-in page and back, 401
that a key or session is missing, 403 that a role is, 404 that there is no such thing as far as the caller may know, 409 that it contradicts
what is on record, 410 that a link was taken back, 422 that the input has faults."""


if __name__ == "__main__":
    DOCUMENT.write_text(document(parts(TABLE.read_text(encoding="utf-8"))), encoding="utf-8")
