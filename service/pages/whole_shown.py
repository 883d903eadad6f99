"""How the page of a spill shows what was decided about it as a whole: what was merged, split off, referred, and what may be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from service.closing import History
from service.events import SaidToBeSame, SpillMerged, SpillReferred, SpillSplit, SplitOff
from service.grouping import head_of, merged_here
from service.kept_files import PHOTO, kept_files
from service.pages.photos import ShownFile, shown_files
from service.pages.rendering import where_of
from service.pages.reporter_news import words_of_reporter
from service.pages.speech import ENGLISH
from service.referrals import referrals_in
from service.tables import EventRow, Spill
from service.transaction import Transaction


@dataclass(frozen=True)
class MergedReport:
    """A report that was merged into the spill: its words, its place, its photos, by whom it was merged when and why."""

    reference: str
    received_at: datetime
    words: str
    where: str
    photos: Sequence[ShownFile]
    actor: str
    at: datetime | None
    reason: str


@dataclass(frozen=True)
class WholeShown:
    """`into`: the spill it was merged into and the one that is worked on, empty where it stands by itself; `why` it was.

    `said_same`: the report that the reporter says is the same, while nobody has decided; `origin` and `parts`: of a split.
    """

    into: str
    head: str
    why: str
    merged: Sequence[MergedReport]
    said_same: str
    origin: str
    parts: Sequence[str]
    referrals: Sequence[tuple[EventRow, SpillReferred]]


async def whole_shown(tx: Transaction, spill: Spill, history: History) -> WholeShown:
    """What was decided about a spill as a whole."""
    mergers = [event for _, event in history if isinstance(event, SpillMerged)] if spill.merged_into is not None else []
    head = await head_of(tx, spill) if spill.merged_into is not None else None
    said = next((event.other for _, event in reversed(history) if isinstance(event, SaidToBeSame)), "")
    decided = spill.merged_into is not None or any(isinstance(event, SpillMerged) for _, event in history)
    return WholeShown(
        mergers[-1].into if mergers else "", head.reference if head else "", mergers[-1].reason if mergers else "",
        [await _merged(tx, report) for report in await merged_here(tx, spill)], "" if decided else said,
        next((event.origin for _, event in history if isinstance(event, SplitOff)), ""),
        [event.part for _, event in history if isinstance(event, SpillSplit)], referrals_in(list(history)),
    )  # fmt: skip


async def _merged(tx: Transaction, report: Spill) -> MergedReport:
    history = await tx.history(report)
    row, event = next(((row, event) for row, event in reversed(history) if isinstance(event, SpillMerged)), (None, None))
    return MergedReport(
        report.reference, report.received_at, words_of_reporter(history) or report.description, where_of(report),
        shown_files(ENGLISH, await kept_files(tx, report, PHOTO)), row.actor if row else "", row.recorded_at if row else None,
        event.reason if event else "",
    )  # fmt: skip
