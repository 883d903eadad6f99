"""Everything that papers are made from: one spill as it is on record at one moment, read in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from deadlines.rules import Recipient
from service.fact_sources import SOURCES, Source, sources_of
from service.grouping import counted, members_of
from service.kept_files import kept_files
from service.pages.duties import Duty, duties_of
from service.pages.known_answers import History, Known
from service.pages.rendering import zone_of
from service.pages.speech import Speech
from service.particulars import Told, particulars_of
from service.tables import KeptFile, Spill
from service.transaction import House, Transaction


@dataclass(frozen=True)
class CaseRecord:
    """A spill with its events, clocks, particulars and files, as of `now`. `facts` are those that count, with merged reports."""

    house: House
    spill: Spill
    members: Sequence[Spill]
    history: History
    duties: Sequence[Duty]
    facts: Mapping[str, Any]
    files: Sequence[KeptFile]
    now: datetime

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which its times are told."""
        return zone_of(self.house, self.spill.city)

    @property
    def recipients(self) -> Mapping[str, Recipient]:
        """Whoever may be told of it, by id."""
        return self.house.rulebook.law_of(self.spill.city).recipients if self.spill.city else self.house.rulebook.recipients

    @cached_property
    def particulars(self) -> Mapping[str, Told]:
        """What papers ask for beyond the facts of the law, as far as it is known."""
        return particulars_of(self.history)

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """By whom each fact is known."""
        return sources_of(self.history)

    def known(self, speech: Speech) -> Known:
        """What the record says, in the words of a language."""
        return Known(speech, self.house, self.spill, self.history)

    def duty(self, number: int) -> Duty | None:
        """The clock of a number, None where it is none of this spill."""
        return next((duty for duty in self.duties if duty.id == number), None)


async def read_record(tx: Transaction, spill: Spill) -> CaseRecord:
    """The record of a spill as this transaction sees it."""
    return CaseRecord(
        house=tx.house, spill=spill, members=await members_of(tx, spill), history=await tx.history(spill),
        duties=await duties_of(tx, spill), facts=(await counted(tx, spill)).facts, files=await kept_files(tx, spill), now=tx.now,
    )  # fmt: skip


def source_told(speech: Speech, source: str) -> str:
    """By whom something is known and how surely, in words: Staff saw or measured it (seen)."""
    says, certainty = SOURCES[source]
    return f"{speech.say(says)} ({speech.say(certainty)})"
