"""A paper made from the record: what it is for, the law it is for, its entries in the order they are asked, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service import papers
from service.case_file.answers import Entry
from service.case_file.record import CaseRecord
from service.pages.duties import Duty
from service.pages.record_copy import letterhead_of
from service.pages.speech import Speech

CALL, REPORT, NOTICE, EXPORT = "call", "report", "notice", "export"
# What each kind is called in a list.
KINDS = {CALL: "Call sheets", REPORT: "Written reports", NOTICE: "Notices of the city", EXPORT: "Exports"}


@dataclass(frozen=True)
class Part:
    """Entries that belong together, under a heading. `words`: sentences that stand before them."""

    heading: str
    entries: Sequence[Entry]
    words: Sequence[str] = ()


@dataclass(frozen=True)
class CasePaper:
    """A paper as its page and its PDF show it. `id` is its address: call-cal-oes, report-12, notice-order-stop_work_order.

    `law`: the sections it is for; `duties`: the clocks it serves; `asked`: what else they may ask; `blanks`: lines to write on;
    `standing`: how far it is, such as a draft that is not filed; `act`: of a notice, the type of the event that records it as sent.
    """

    id: str
    kind: str
    title: str
    purpose: str
    law: Sequence[str]
    parts: Sequence[Part]
    duties: Sequence[Duty] = ()
    to: str = ""
    telephone: Sequence[str] = ()
    standing: str = ""
    asked: Sequence[str] = ()
    blanks: Sequence[str] = ()
    act: str = ""

    @property
    def entries(self) -> list[Entry]:
        """All entries, in order."""
        return [entry for part in self.parts for entry in part.entries]

    @property
    def missing(self) -> list[Entry]:
        """What the record should hold for it and does not."""
        return [entry for entry in self.entries if entry.is_missing]

    @property
    def is_due(self) -> bool:
        """Whether a clock that it serves is still to be met."""
        return any(duty.is_open for duty in self.duties)


def form_of(record: CaseRecord, paper: CasePaper, speech: Speech) -> papers.Form:
    """A paper as it is printed."""
    return papers.Form(
        letterhead=letterhead_of(record.house, record.spill), reference=record.spill.reference, made_at=record.now, title=paper.title,
        purpose=paper.purpose, law=paper.law, to=", ".join(filter(None, (paper.to, *paper.telephone))), standing=paper.standing,
        due=[(speech.say(duty.clock["title"]), f"{duty.due(speech)} ({duty.standing(speech)})") for duty in paper.duties],
        parts=[papers.FormPart(part.heading, [*map(_answer, part.entries)], part.words) for part in paper.parts],
        missing=[entry.label for entry in paper.missing], asked=paper.asked, blanks=paper.blanks,
    )  # fmt: skip


def _answer(entry: Entry) -> papers.Answer:
    return papers.Answer(entry.label, entry.says, entry.note, entry.by_hand)
