"""A spill played through the real escalation on a simulated clock: nothing waits, nothing leaves the machine."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from deadlines import as_z, read_facts, read_moment
from deadlines.ladder import CHANNELS
from notifiers import Channel, FileChannel, Message, Receipt
from service.events import FactsRecorded, ReportReceived
from service.parties import example_contacts
from service.settings import Settings
from service.spills import open_spill, record_act
from service.tables import MessageRow
from service.transaction import House, reading, transaction
from service.wiring import build_house, migrate
from service.worker import Worker

# Rehearsed to so long after the last ladder has been climbed to its top, at most.
_LONGEST = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """One message of a rehearsal: when it went out (UTC), to whom, by which channel, and why."""

    at: datetime
    person: str
    role: str
    channel: str
    to: str
    subject: str
    text: str
    step: str
    reason: str
    duty: str | None


class _Stage:
    """The simulated clock, and the file sender that notes what is handed to it."""

    def __init__(self, begins_at: datetime) -> None:
        self.present = begins_at
        self.sent: list[Message] = []

    def now(self) -> datetime:
        return self.present


class _Noting:
    """The file channel, with a note of each message it took."""

    def __init__(self, inner: FileChannel, stage: _Stage) -> None:
        self.name = inner.name
        self._inner = inner
        self._stage = stage

    def problem_with(self, address: str) -> str | None:
        return self._inner.problem_with(address)

    async def send(self, message: Message) -> Receipt:
        receipt = await self._inner.send(message)
        self._stage.sent.append(message)
        return receipt

    async def aclose(self) -> None:
        await self._inner.aclose()


async def rehearse(facts: Mapping[str, Any], until: datetime | None = None) -> list[Rehearsed]:
    """Play a fact object from its first moment to `until` (default: until every ladder is at its top). Returns every message in order.

    Events of the facts happen at their own times. Every role of the city is filled by example people. Raises FactFaults for bad facts.
    """
    with tempfile.TemporaryDirectory(prefix="spillclock-rehearsal-") as folder:
        stage = _Stage(datetime(1970, 1, 1, tzinfo=UTC))
        # The key is the same each time, so that two rehearsals of one spill are alike to the letter.
        settings = Settings(
            home_dir=Path(folder),
            database_url="",
            base_url="https://rehearsal.invalid",
            secret_key=SecretStr("the same links at every rehearsal"),
        )
        house = build_house(settings, stage.now, durable=False)
        read = read_facts(dict(facts), house.rulebook.zones, frozenset(house.rulebook.recipients))
        begins_at = read.known_at or min((event.at for event in read.events), default=read.planned_at or read.discharged_at)
        if begins_at is None:
            return []
        stage.present = begins_at
        try:
            await migrate(house)
            return await _play(house, stage, facts, until or begins_at + _LONGEST, Path(folder))
        finally:
            await house.engine.dispose()


async def _play(house: House, stage: _Stage, facts: Mapping[str, Any], until: datetime, folder: Path) -> list[Rehearsed]:
    channels: dict[str, Channel] = {name: _Noting(FileChannel(folder / "outbox.jsonl", name), stage) for name in CHANNELS}
    worker = Worker(house, channels, "rehearsal")
    acts = sorted(facts.get("events") or [], key=lambda act: _moment(house, facts, act["at"]))
    reference = await _open(house, {key: value for key, value in facts.items() if key != "events" and value is not None})
    following: datetime | None = stage.present
    while following is not None and following <= until:
        stage.present = max(stage.present, following)
        following = await worker.round()
        coming = _moment(house, facts, acts[0]["at"]) if acts else None
        if coming is not None and coming <= until and (following is None or coming <= following):
            stage.present = max(stage.present, coming)
            async with transaction(house, "rehearsal") as tx:
                await record_act(tx, await tx.spill(reference), acts.pop(0))
            following = stage.present
    return await _told(house, stage)


def _moment(house: House, facts: Mapping[str, Any], at: str) -> datetime:
    return read_moment(at, house.rulebook.zones[facts["jurisdiction"]])


async def _open(house: House, facts: dict[str, Any]) -> str:
    async with transaction(house, "rehearsal") as tx:
        tx.session.add_all(example_contacts(facts["jurisdiction"]))
        spill = await open_spill(tx, description="Rehearsal")
        await tx.record(spill, ReportReceived(raw=facts, by_way_of="rehearsal"))
        await tx.record(spill, FactsRecorded(changes={key: (None, value) for key, value in facts.items()}, reason="rehearsal"))
        return spill.reference


async def _told(house: House, stage: _Stage) -> list[Rehearsed]:
    async with reading(house) as tx:
        rows = {message.key: await tx.session.get_one(MessageRow, message.key) for message in stage.sent}
        told = []
        # Messages of one moment are sent side by side; they are told in the order of their promises.
        for message in sorted(stage.sent, key=lambda one: (one.at, rows[one.key].obligation_id or 0, rows[one.key].once)):
            row = rows[message.key]
            told.append(
                Rehearsed(
                    message.at, row.person, row.role, row.channel, row.address, row.subject, row.text, row.step, row.reason, message.duty
                )
            )
        return told


def as_line(message: Rehearsed) -> dict[str, Any]:
    """A rehearsed message as one JSON object."""
    return {
        "at": as_z(message.at), "to": message.to, "recipient": message.person, "role": message.role, "channel": message.channel,
        "duty": message.duty, "step": message.step, "reason": message.reason, "subject": message.subject, "text": message.text,
    }  # fmt: skip
