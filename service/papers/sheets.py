"""From the data of a paper to its sheet: titles, labels and texts in the reader's language, in the order they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from service.papers import kinds
from service.papers.kinds import Answer, Form, FormPart, Letterhead, Paper, Receipt, RecordCopy, Volume
from service.papers.legible import CELL, TITLE, legible, plain_line
from service.speech import Speech

Block = dict[str, Any]
# Of the page within its margins, of both insets of a cell, and of a small letter: so wide a word fits a cell without a break.
_PAGE_POINTS, _INSET_POINTS, _LETTER_POINTS = 468, 8.4, 6.2


def sheet_of(paper: Paper, speech: Speech) -> dict[str, Any]:
    """What the template lays out: language, letterhead, title and blocks, all of it text that can be drawn."""
    match paper:
        case Receipt():
            return _receipt(paper, speech)
        case RecordCopy():
            return _record(paper, speech)
        case Form():
            return _form(paper, speech)
        case Volume():
            return _volume(paper, speech)


def _sheet(paper: Paper, speech: Speech, title: str, stamp: str, blocks: Iterable[Block | None]) -> dict[str, Any]:
    head = paper.letterhead
    return {
        "language": speech.language, "city": plain_line(head.city) or "Spillclock", "title": plain_line(title),
        "seal": list(head.seal or b""),
        "seal_says": speech.say("Seal of the %(city)s", city=plain_line(head.city)),
        "reference": plain_line(paper.reference), "page_of": speech.say("Page {page} of {pages}"),
        "stamp": plain_line(stamp), "blocks": [block for block in blocks if block],
    }  # fmt: skip


# -- blocks


def _heading(text: str, level: int = 1) -> Block:
    return {"is": "heading", "level": level, "text": plain_line(text)}


def _words(text: str, *, quoted: bool = False, strong: bool = False) -> Block:
    return {"is": "words", "paragraphs": legible(text), "quoted": quoted, "strong": strong}


def _pairs(pairs: Iterable[tuple[str, str]]) -> Block:
    return {"is": "pairs", "pairs": [{"label": plain_line(label, CELL), "value": legible(value, TITLE)} for label, value in pairs if value]}


def _list(items: Iterable[str]) -> Block:
    return {"is": "list", "items": [legible(item) for item in items]}


def _table(columns: Sequence[tuple[str, int]], rows: Iterable[Sequence[str]]) -> Block:
    """A table: the name of each column with its share of the width, and its rows."""
    shares = [share for _, share in columns]
    longest = [int((_PAGE_POINTS * share / sum(shares) - _INSET_POINTS) / _LETTER_POINTS) for share in shares]
    return {
        "is": "table", "columns": [plain_line(name, width) for (name, _), width in zip(columns, longest, strict=True)], "shares": shares,
        "rows": [[legible(cell, width) for cell, width in zip(row, longest, strict=True)] for row in rows],
    }  # fmt: skip


# -- the receipt of a filed report


def _receipt(paper: Receipt, speech: Speech) -> dict[str, Any]:
    when = _stamps(paper.letterhead, speech)
    stamp = _stamp(paper, when(paper.filed_at), speech)
    person = ", ".join(part for part in (paper.name, paper.title, paper.firm) if part)
    blocks = [
        _words(stamp, strong=True),
        _words(_whole(paper, speech)),
        _list(paper.missing) if paper.missing else None,
        _words(paper.handed_in, strong=not paper.reached) if paper.handed_in else None,
        _pairs([
            (speech.say("Duty"), paper.duty),
            (speech.say("Law"), paper.citation),
            (speech.say("Owed to"), paper.recipient),
            (speech.say("About spill"), paper.reference),
            (speech.say("Version"), _version(paper, speech)),
            (speech.say("Why it was amended"), paper.reason),
            (speech.say("Due"), when(paper.due_at) if paper.due_at else speech.say("The law sets no time")),
            (speech.say("Filed by"), person),
        ]),
        _heading(speech.say("What was filed")),
        *(block for says, text in paper.content for block in (_heading(says, 2), _answer(text, speech))),
        *_attached(paper, speech),
        *([_heading(speech.say("Certification")), _words(paper.certification, quoted=True)] if paper.certification else ()),
        _words(speech.say("Certified by %(person)s, %(when)s.", person=person, when=when(paper.filed_at))) if paper.certification else None,
        _words(speech.say("This receipt shows what was filed here and when. It does not say that the report is right or enough.")),
    ]  # fmt: skip
    title = speech.say("Receipt: “%(duty)s”", duty=paper.duty)
    return _sheet(paper, speech, title, stamp, blocks)


def _stamp(paper: Receipt, filed: str, speech: Speech) -> str:
    if paper.after_met:
        return speech.say("Filed %(when)s, after the duty was done", when=filed)
    if paper.late_by_s is not None:
        return speech.say("Filed %(when)s, late by %(span)s", when=filed, span=speech.span(timedelta(seconds=paper.late_by_s)))
    return speech.say("Filed %(when)s, on time", when=filed) if paper.due_at else speech.say("Filed %(when)s", when=filed)


def _whole(paper: Receipt, speech: Speech) -> str:
    if not paper.missing:
        return speech.say("It holds everything that the law lists.")
    return speech.say("It is not complete, so it does not meet the duty yet. These are missing:")


def _version(paper: Receipt, speech: Speech) -> str:
    if paper.amends is None:
        return str(paper.version)
    return speech.say("%(version)s; it amends version %(earlier)s, which is kept", version=paper.version, earlier=paper.amends)


def _answer(text: str, speech: Speech) -> Block:
    return _words(text, quoted=True) if text.strip() else _words(speech.say("Nothing was filed for this."))


def _attached(paper: Receipt, speech: Speech) -> list[Block]:
    if not paper.attachments:
        return []
    columns = ((speech.say("File"), 3), (speech.say("Size"), 2), (speech.say("SHA-256 checksum"), 3))
    rows = [(one.name, speech.say("%(number)s bytes", number=speech.number(one.size)), one.sha256) for one in paper.attachments]
    return [_heading(speech.say("Attached files")), _table(columns, rows)]


# -- the reporter's copy of the record


def _record(paper: RecordCopy, speech: Speech) -> dict[str, Any]:
    when = _stamps(paper.letterhead, speech)
    blocks = [
        _words(speech.say("This is the record of your report as it stands on %(when)s. It is free of charge.", when=when(paper.made_at))),
        _words(speech.say("The law that gives you this copy: %(law)s", law=paper.right)) if paper.right else None,
        _pairs([
            (speech.say("Report"), paper.reference),
            (speech.say("Received"), when(paper.received_at)),
            (speech.say("How it came"), paper.how),
            (speech.say("Photos"), speech.number(paper.photos)),
            (speech.say("Closed"), paper.closed or speech.say("No, it is still open")),
        ]),
        _heading(speech.say("What you reported")),
        _words(paper.words, quoted=True) if paper.words.strip() else _words(speech.say("You wrote no description.")),
        *(block for at, text in paper.added for block in _added(when(at), text, speech)),
        _heading(speech.say("What we understood")),
        _pairs(paper.facts),
        *([_words(speech.say("A person will check:")), _list(paper.flags)] if paper.flags else ()),
        _heading(speech.say("What action was taken")),
        *(block for at, text in paper.actions for block in (_heading(when(at), 2), _words(text))),
        None if paper.actions else _words(speech.say("Nothing is recorded yet.")),
        *_duties(paper, speech),
        _heading(speech.say("What happened, in order")),
        _table([(speech.say("When"), 2), (speech.say("What happened"), 5)], [(when(at), says) for at, says in paper.updates]),
        _words(speech.say("Names, addresses and telephone numbers of other people are left out of this copy.")),
    ]  # fmt: skip
    title = speech.say("Record of report %(reference)s", reference=paper.reference)
    return _sheet(paper, speech, title, speech.say("Made %(when)s", when=when(paper.made_at)), blocks)


def _added(when: str, text: str, speech: Speech) -> tuple[Block, Block]:
    return _heading(speech.say("Added %(when)s", when=when), 2), _words(text, quoted=True)


def _duties(paper: RecordCopy, speech: Speech) -> list[Block]:
    if not paper.duties:
        return []
    columns = ((speech.say("Legal duty"), 3), (speech.say("Owed by"), 2), (speech.say("How it stands"), 2))
    blocks = [_table(columns, [(f"{one.title}\n{one.citation}", one.owed_by, one.stands) for one in paper.duties])]
    return [_heading(speech.say("What the law asks, and how it stands")), *blocks]


# -- a form that is filled in from the record


def _form(paper: Form, speech: Speech) -> dict[str, Any]:
    when = _stamps(paper.letterhead, speech)
    blocks = [
        _words(paper.purpose),
        _words(paper.standing, strong=True) if paper.standing else None,
        _pairs([
            (speech.say("About spill"), paper.reference), (speech.say("Goes to"), paper.to),
            (speech.say("Law"), "\n".join(paper.law)),
        ]),
        _table([(speech.say("Duty"), 3), (speech.say("Due"), 3)], paper.due) if paper.due else None,
        *_missing(paper, speech),
        *(block for part in paper.parts for block in _part(part, speech)),
        *([_heading(speech.say("They may also ask")), _list(paper.asked)] if paper.asked else ()),
        *([_heading(speech.say("Write down")), _lines(paper.blanks)] if paper.blanks else ()),
    ]  # fmt: skip
    return _sheet(paper, speech, paper.title, speech.say("Made %(when)s", when=when(paper.made_at)), blocks)


def _part(part: FormPart, speech: Speech) -> list[Block | None]:
    known = [(one.label, _known(one, speech)) for one in part.answers if not _is_line(one)]
    lines = _lines(one.label for one in part.answers if _is_line(one))
    return [_heading(part.heading), *map(_words, part.words), _pairs(known) if known else None, lines]


def _is_line(answer: Answer) -> bool:
    return answer.by_hand and not answer.says.strip()


def _known(answer: Answer, speech: Speech) -> str:
    if not answer.says.strip():
        return speech.say("Not known")
    return f"{answer.says}\n[{answer.note}]" if answer.note else answer.says


def _missing(paper: Form, speech: Speech) -> list[Block]:
    if not paper.missing:
        return [_words(speech.say("Nothing is missing."))]
    says = speech.count("%(number)s answer is not known yet:", "%(number)s answers are not known yet:", len(paper.missing))
    return [_words(f"{says} {'; '.join(paper.missing)}.")]


def _lines(labels: Iterable[str]) -> Block | None:
    """Lines to write on, each with its label."""
    found = [plain_line(label, CELL) for label in labels]
    return {"is": "lines", "labels": found} if found else None


# -- a paper of parts


def _volume(paper: Volume, speech: Speech) -> dict[str, Any]:
    title = paper.title
    if paper.of > 1:
        title = speech.say("%(title)s, volume %(number)s of %(of)s", title=title, number=paper.number, of=paper.of)
    made = speech.say("Made %(when)s", when=speech.stamp(paper.made_at, paper.letterhead.zone))
    return _sheet(paper, speech, title, made, [_of_part(part, speech) for part in paper.parts])


def _of_part(part: kinds.Part, speech: Speech) -> Block:
    match part:
        case kinds.Heading():
            return _heading(part.text, part.level)
        case kinds.Words():
            return _words(part.text, quoted=part.quoted, strong=part.strong)
        case kinds.Pairs():
            return _pairs((label, value if value.strip() else speech.say("Not known")) for label, value in part.pairs)
        case kinds.Bullets():
            return _list(part.items)
        case kinds.Table():
            return _table(part.columns, part.rows)


def _stamps(head: Letterhead, speech: Speech) -> Callable[[datetime], str]:
    return lambda moment: speech.stamp(moment, head.zone)
