"""What is taken out of what is shown: who reported a spill in confidence, wherever their name and addresses stand; secrets of links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from service.disclosure import sees
from service.events import ReplyReceived, ReportReceived, SpillEvent, read_event
from service.masking import of_email, of_name, of_phone
from service.tables import EventRow, Spill

History = Sequence[tuple[EventRow, SpillEvent]]
MARK = "[withheld]"

# What opens a private page to whoever has it: the last part of its address, as messages hold it.
_SECRET = re.compile(r"(/(?:respond|status|act|unsubscribe|alerts/yes|staff/enter|staff/password|calendar)/)[\w.~%-]+")


def without_secrets(text: str) -> str:
    """A text with the secret of every private link taken out."""
    return _SECRET.sub(rf"\1{MARK}", text)


@dataclass(frozen=True)
class Withheld:
    """What is not told of the people who reported: all but those who agreed to be named. `reporters` are as spills keep them.

    `words`: what else tells of them, such as the names that they gave their photos.
    """

    reporters: Sequence[Mapping[str, Any]] = ()
    words: Sequence[str] = ()

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        # Addresses before names: what a name leaves of an address would still tell it.
        found: list[re.Pattern[str]] = []
        for find, key in ((of_email, "email"), (of_phone, "phone")):
            found += [pattern for one in self.reporters for pattern in find(str(one.get(key) or ""))]
        words = sorted({word for word in self.words if word.strip()}, key=lambda word: (-len(word), word))
        found += [re.compile(re.escape(word)) for word in words]
        return found + [pattern for one in self.reporters for pattern in of_name(str(one.get("name") or ""), parts=True)]

    @property
    def withholds(self) -> bool:
        """Whether there is anybody to keep out. What is secret is kept out anyway."""
        return bool(self._patterns)

    def text(self, text: str) -> str:
        """A text without them, and without the secret of any link."""
        text = without_secrets(text)
        for pattern in self._patterns:
            text = pattern.sub(MARK, text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value without them, in its keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(part) for key, part in value.items()}
        return [self.value(part) for part in value] if isinstance(value, list | tuple) else value


def withheld_of(spill: Spill, members: Sequence[Spill] = (), histories: Sequence[History] = ()) -> Withheld:
    """What is withheld of the reporters of a spill, and of the reports merged into it: everybody who did not ask to be named.

    `histories`: their events, which hold how a report came, with the addresses that its reporter corrected since.
    """
    told: list[Mapping[str, Any]] = [one.reporter for one in (spill, *members)]
    for _, event in (pair for history in histories for pair in history):
        contact = event.raw.get("contact") if isinstance(event, ReportReceived) and isinstance(event.raw, dict) else None
        if isinstance(contact, dict):
            told.append(contact)
    return Withheld([one for one in told if one and one.get("privacy") not in ("named", "anonymous")])


def withheld_from(audience: str, spill: Spill, members: Sequence[Spill] = (), histories: Sequence[History] = ()) -> Withheld | None:
    """What an audience of the table of disclosure is not told of the people who reported; None where it may see who they are."""
    return None if sees(audience, "reporter") else withheld_of(spill, members, histories)


def events_without(kept_out: Withheld, history: History) -> list[tuple[EventRow, SpillEvent]]:
    """A history without the people who reported: their contact is left out, what they answered by message too, and every text is masked.

    The rows are copies, so that nobody writes them back.
    """
    return [_event_without(kept_out, row, event) for row, event in history]


def _event_without(kept_out: Withheld, row: EventRow, event: SpillEvent) -> tuple[EventRow, SpillEvent]:
    told = event.model_dump(mode="json")
    if isinstance(event, ReportReceived) and isinstance(event.raw, dict):
        told["raw"] = {key: value for key, value in event.raw.items() if key != "contact"}
    if isinstance(event, ReplyReceived) and kept_out.text(event.sender) != event.sender:
        told |= {"sender": "", "text": MARK}
    values = {**row.model_dump(), "shown_actor": kept_out.text(row.actor), "sealed": None}
    return EventRow(**values), read_event(row.kind, kept_out.value(told))


def spill_without(kept_out: Withheld, spill: Spill) -> Spill:
    """A copy of a spill without the people who reported it, but for their privacy and language; nobody writes it back."""
    values = spill.model_dump()
    named = {key: value for key, value in spill.reporter.items() if key == "privacy"}
    masked = {name: kept_out.value(values[name]) for name in ("description", "address", "flags")}
    return Spill(**{**values, **masked, "reporter": spill.reporter if spill.reporter.get("privacy") == "named" else named})
