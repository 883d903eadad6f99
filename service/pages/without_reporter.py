"""The page of a spill for somebody who may not know who reported it: what is shown of it, with them taken out of every text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.access import Staff
from service.events import SpillEvent
from service.grouping import members_of
from service.kept_files import kept_files
from service.pages.deliveries import Delivery, Passage
from service.pages.photos import ShownFile
from service.tables import EventRow, MessageRow, Reply, Spill
from service.transaction import Transaction
from service.withholding import History, Withheld, events_without, spill_without, withheld_from

_SENT_BY_REPORTER = "the reporter"
_REPORTER = "reporter"


@dataclass(frozen=True, slots=True)
class Shown:
    """What somebody is shown of a spill, as the pages take it; `kept_out` None: all of it."""

    spill: Spill
    history: list[tuple[EventRow, SpillEvent]]
    kept_out: Withheld | None

    def messages(self, found: Sequence[Delivery]) -> Sequence[Delivery]:
        """The messages about it; those to whoever reported it are for those who may know them."""
        if self.kept_out is None:
            return found
        return [_message_without(self.kept_out, one) for one in found if one.row.role != _REPORTER]

    def replies(self, found: Sequence[Reply]) -> Sequence[Reply]:
        """What came in about it, without what whoever reported it wrote."""
        kept_out = self.kept_out
        if kept_out is None:
            return found
        return [Reply(**{**one.model_dump(), "text": kept_out.text(one.text)}) for one in found if kept_out.text(one.sender) == one.sender]

    def files(self, found: Sequence[ShownFile]) -> Sequence[ShownFile]:
        """Files of it; of a photo from whoever reported it neither its name nor what the camera noted."""
        if self.kept_out is None:
            return found
        return [
            replace(one, name=f"photo {one.id}", camera_time="", place="") if one.sent_by == _SENT_BY_REPORTER
            else replace(one, camera_time="", place="")
            for one in found
        ]  # fmt: skip


def _message_without(kept_out: Withheld, one: Delivery) -> Delivery:
    row = one.row.model_dump()
    masked = {name: kept_out.text(str(row[name])) for name in ("subject", "text", "html", "reason")}
    history = [Passage(part.at, kept_out.text(part.says), part.is_bad) for part in one.history]
    return replace(one, row=MessageRow(**{**row, **masked}), history=history)


async def shown_to(tx: Transaction, staff: Staff, spill: Spill, history: History) -> Shown:
    """What of a spill a member of staff is shown, by their role in its city and the table of service/disclosure.py."""
    members = await members_of(tx, spill)
    histories = [history, *[await tx.history(one) for one in members]]
    kept_out = withheld_from(staff.office(spill.city), spill, members, histories)
    if kept_out is None:
        return Shown(spill, list(history), None)
    names = [row.name for one in (spill, *members) for row in await kept_files(tx, one) if row.sent_by == _SENT_BY_REPORTER]
    kept_out = replace(kept_out, words=names) if kept_out.withholds else kept_out
    return Shown(spill_without(kept_out, spill), events_without(kept_out, history), kept_out)
