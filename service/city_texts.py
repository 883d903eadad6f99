"""The texts of messages that a city wrote itself: kept in versions, checked before they count, and withdrawn without being lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import bindparam, select
from sqlmodel import col

from notifiers import segments
from service import staff_log
from service.errors import BadInput, NotKnown
from service.speech import LANGUAGES, Speech, notice_speech
from service.tables import MessageTemplate
from service.transaction import House, Transaction
from service.wording import Own, Template, ours
from service.wording.example import examples
from service.wording.kinds import CHANNELS, KINDS
from service.wording.template import Values, as_one_line, as_short, as_text, faults_of, filled

_OF_CITY = select(MessageTemplate).where(col(MessageTemplate.city) == bindparam("city")).order_by(col(MessageTemplate.id).desc())


@dataclass(frozen=True, slots=True)
class Slot:
    """What a text is for: a kind of message in a channel and a language. Raises NotKnown for what there is not."""

    kind: str
    channel: str
    language: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.channel not in CHANNELS or self.language not in LANGUAGES:
            right = f"one of {', '.join(KINDS)}; one of {', '.join(CHANNELS)}; one of {', '.join(LANGUAGES)}"
            raise NotKnown(f"there is no text {self.kind[:30]}, {self.channel[:30]}, {self.language[:30]}; right would be: {right}")

    @property
    def speech(self) -> Speech:
        """Its language."""
        return notice_speech(self.language)

    @property
    def ours(self) -> Template:
        """The text that Spillclock brings."""
        return ours(self.kind, self.channel, self.speech)


@dataclass(frozen=True, slots=True)
class Preview:
    """A template filled with an example. `encoding` and `segments` are of a text message; `cut` whether free text was shortened there."""

    subject: str
    text: str
    encoding: str = ""
    segments: int = 0
    cut: bool = False


def zone_and_name(house: House, city: str) -> tuple[ZoneInfo, str]:
    """The zone of a city and its name. Raises NotKnown for one that is not served."""
    if city not in house.cities:
        raise NotKnown(f"there is no city {city[:60]}")
    return house.rulebook.zones[city], house.rulebook.law_of(city).city.title


async def texts_of(tx: Transaction, city: str) -> list[MessageTemplate]:
    """Every version that a city ever kept, the newest first."""
    return list((await tx.ask(_OF_CITY, city=city)).scalars())


async def own_texts(tx: Transaction, city: str | None) -> Own:
    """The texts of a city that count now; looked up once in a transaction."""
    found: dict[tuple[str, str, str], Template] | None = tx.memo.get(("texts", city))
    if found is None:
        found = {}
        for row in await texts_of(tx, city) if city else ():
            if row.withdrawn_at is None:
                found.setdefault((row.kind, row.channel, row.language), Template(row.subject, row.text, row.version))
        tx.memo[("texts", city)] = found
    return found


async def save_text(tx: Transaction, city: str, slot: Slot, subject: str, text: str, by: str) -> MessageTemplate:
    """Keep a new version, which counts from now on. Raises BadInput, and keeps nothing, where it could lose what a message must say."""
    subject, text = subject.strip(), text.replace("\r\n", "\n").strip()
    if faults := faults_in(tx.house, city, slot, subject, text, tx.now):
        raise BadInput("the text cannot be kept", faults)
    versions = [row.version for row in await texts_of(tx, city) if _slot(row) == slot]
    row = MessageTemplate(
        city=city, kind=slot.kind, channel=slot.channel, language=slot.language, version=max(versions, default=0) + 1, subject=subject,
        text=text, saved_by=by, saved_at=tx.now,
    )  # fmt: skip
    tx.session.add(row)
    await tx.session.flush()
    tx.memo.pop(("texts", city), None)
    await staff_log.note(tx, "text:saved", city=city, actor=by, **_named(slot), version=row.version)
    return row


async def withdraw_text(tx: Transaction, city: str, slot: Slot) -> None:
    """Go back to our own text; every version stays on record. Raises NotKnown where the city has none that counts."""
    standing = [row for row in await texts_of(tx, city) if _slot(row) == slot and row.withdrawn_at is None]
    if not standing:
        raise NotKnown(f"{city} has no text of its own for {slot.kind}, {slot.channel}, {slot.language}")
    for row in standing:
        row.withdrawn_at = tx.now
    tx.memo.pop(("texts", city), None)
    await staff_log.note(tx, "text:withdrawn", city=city, **_named(slot))


def _named(slot: Slot) -> dict[str, Any]:
    return {"text": slot.kind, "channel": slot.channel, "language": slot.language}


def faults_in(house: House, city: str, slot: Slot, subject: str, text: str, now: datetime) -> list[str]:
    """What keeps a text from being kept, a line each; nothing where it may be."""
    zone, name = zone_and_name(house, city)
    return faults_of(slot.kind, slot.channel, subject, text, examples(slot.kind, slot.speech, zone, name, now))


def previews(house: House, city: str, slot: Slot, subject: str, text: str, now: datetime) -> tuple[Preview, Preview]:
    """A text without faults, filled with an ordinary and with a long example."""
    zone, name = zone_and_name(house, city)
    first, second = (_preview(slot, subject, text, values) for values in examples(slot.kind, slot.speech, zone, name, now))
    return first, second


def _preview(slot: Slot, subject: str, text: str, values: Values) -> Preview:
    if slot.channel == "sms":
        short = as_short(slot.kind, text, values)
        return Preview("", short.text, *segments(short.text), short.cut)
    return Preview(as_one_line(subject, values), as_text(filled(text, values)))


def _slot(row: MessageTemplate) -> Slot:
    return Slot(row.kind, row.channel, row.language)
