"""What each kind of paper holds, as plain data: texts as people wrote them, moments with their zone, durations in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Letterhead:
    """Who hands out a paper, and in which zone its times are told. `seal`: the city's seal as SVG, PNG or JPEG,
    None for none."""

    city: str  # the full name: City of Chino, California; empty where no city is known yet
    zone: ZoneInfo
    seal: bytes | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that was filed with a report: its name as its owner gave it, bytes, SHA-256 in hex."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of one filed version of a written report. All texts are in the reader's language already, or as they were typed."""

    letterhead: Letterhead
    reference: str  # of the spill: SP-2026-00001
    duty: str  # title of the duty, in words
    citation: str
    recipient: str  # the name of whom the report is owed to
    version: int
    content: Sequence[tuple[str, str]]  # the words of the law for each item, and the text that was filed for it; "" where none was
    certification: str  # the wording that was certified; "" where the law has none
    name: str  # who certified
    title: str  # their title; "" where none was given
    filed_at: datetime
    due_at: datetime | None  # None: the law sets no time
    late_by_s: int | None  # None: on time
    missing: Sequence[str] = ()  # items that the law lists and the report does not hold; none: it is complete
    attachments: Sequence[Attachment] = ()
    handed_in: str = ""  # where filing it here has brought it, and to whom a copy must still go
    reached: bool = False  # filing it here handed it in to whom it is owed
    firm: str = ""  # on whose behalf
    amends: int | None = None  # the version that this one amends
    reason: str = ""  # why it amends that version, as it was typed; "" where nobody says
    after_met: bool = False  # the duty had been met before, so that this filing is neither on time nor late

    @property
    def made_at(self) -> datetime:
        """A receipt stands for the moment of filing, whenever it is drawn."""
        return self.filed_at


@dataclass(frozen=True, slots=True)
class ReportedDuty:
    """A duty of the law about a reported spill, in plain words."""

    title: str
    citation: str
    owed_by: str  # words: the city, whoever is responsible
    stands: str  # done on time, done late by 2 hours, still open, not owed any more


@dataclass(frozen=True, slots=True)
class RecordCopy:
    """The reporter's copy of the record of their report. It holds nobody's name but that of an office."""

    letterhead: Letterhead
    reference: str
    received_at: datetime
    made_at: datetime
    how: str  # by which way it came, in words
    words: str  # what was reported, as it was written
    facts: Sequence[tuple[str, str]]  # label and words
    updates: Sequence[tuple[datetime, str]]  # oldest first
    actions: Sequence[tuple[datetime, str]] = ()  # what the city says was done
    duties: Sequence[ReportedDuty] = ()
    added: Sequence[tuple[datetime, str]] = ()  # what the reporter added later
    photos: int = 0
    closed: str = ""  # why it was closed and by which office; "" while it is open
    right: str = ""  # the law that gives the right to this copy, "" where none does
    flags: Sequence[str] = field(default=())  # what a person will check, in words


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that a form asks for. `says`: what is known of it, "" where nothing is; `note`: by whom it is known.

    `by_hand`: a line to write on stands where nothing is known; else the words "Not known" do.
    """

    label: str
    says: str
    note: str = ""
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class FormPart:
    """Answers that belong together, under a heading. `words`: sentences that stand before them."""

    heading: str
    answers: Sequence[Answer]
    words: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A call sheet, a report or a notice that is filled in from the record, with what is still missing."""

    letterhead: Letterhead
    reference: str
    made_at: datetime
    title: str
    purpose: str
    law: Sequence[str]  # the sections it is for
    parts: Sequence[FormPart]
    to: str = ""  # whom it goes to, with telephone numbers
    standing: str = ""  # how far it is: a draft, not filed
    due: Sequence[tuple[str, str]] = ()  # each duty that it serves, and when that is due
    missing: Sequence[str] = ()  # labels of what the record should hold for it and does not
    asked: Sequence[str] = ()  # what else the office may ask
    blanks: Sequence[str] = ()  # labels of lines to write on


# -- a paper that is made of parts, for records of any length


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 begins a part of the paper."""

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Words:
    """Text as it is; `quoted`: as somebody wrote it."""

    text: str
    quoted: bool = False
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labels, each with what is said of it; "" is told as not known."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the name of each column with its share of the width, and its rows."""

    columns: Sequence[tuple[str, int]]
    rows: Sequence[Sequence[str]]


Part = Heading | Words | Pairs | Bullets | Table


@dataclass(frozen=True, slots=True)
class Volume:
    """A paper of parts, or one volume of a long one: each is whole by itself, with the title of all."""

    letterhead: Letterhead
    reference: str
    made_at: datetime
    title: str
    parts: Sequence[Part]
    number: int = 1
    of: int = 1


Paper = Receipt | RecordCopy | Form | Volume
