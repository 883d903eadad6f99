"""A spill played through the real escalation on a simulated clock: nothing waits, nothing leaves the machine."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import SecretStr
from sqlalchemy import select
from sqlmodel import col

from deadlines import Rulebook, as_z, read_facts, read_moment
from deadlines.ladder import CHANNELS
from notifiers import Channel, FileChannel, Message, Receipt
from service import obligations
from service.errors import BadInput
from service.events import FactsRecorded, ReportReceived
from service.ladders import OPEN_STATES
from service.parties import add_contact, example_contacts
from service.rotas import NewRota, add_rota
from service.settings import Settings
from service.spills import open_spill, record_act
from service.tables import MessageRow, Spill
from service.transaction import House, Transaction, reading, transaction
from service.wiring import build_house, migrate
from service.wording import METHOD_WORDS
from service.worker import Worker

# Rehearsed to so long after the last ladder has been climbed to its top, at most.
_LONGEST = timedelta(days=400)
_CODE = "4F7K"


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


@dataclass(frozen=True, slots=True)
class Cast:
    """Who fills the roles (as `spillclock contact add` takes them), their rotas with members by name, and who sees an alert when."""

    people: Sequence[Mapping[str, Any]] = ()
    rotas: Sequence[Mapping[str, Any]] = ()
    acknowledged: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A spill to rehearse by name, with what it shows."""

    name: str
    about: str
    facts: dict[str, Any]
    until: datetime
    cast: Cast


def examples() -> dict[str, Example]:
    """The spills that can be rehearsed by name, in the order of their file."""
    read = yaml.safe_load(files("service").joinpath("rehearsal_examples.yaml").read_text(encoding="utf-8"))
    found = [
        Example(
            one["name"], one["about"], _as_json(one["facts"]), one["until"].astimezone(UTC),
            Cast(one.get("people", ()), one.get("rotas", ()), _as_json(one.get("acknowledged", []))),
        )
        for one in read
    ]  # fmt: skip
    return {one.name: one for one in found}


def example(name: str) -> Example:
    """An example by its name, in any case. Raises BadInput that lists them all."""
    found = examples()
    by_name = {one.casefold(): example for one, example in found.items()}
    wanted = " ".join(name.split()).casefold()
    if wanted not in by_name:
        raise BadInput("no such example", [f"--example: {name!r} is none; right would be: one of {'; '.join(found)}"])
    return by_name[wanted]


def _as_json(value: Any) -> Any:
    """A value of YAML as JSON has it: moments as text."""
    return json.loads(json.dumps(value, default=lambda moment: moment.isoformat()))


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


async def rehearse(facts: Mapping[str, Any], until: datetime | None = None, cast: Cast | None = None) -> list[Rehearsed]:
    """Play a fact object from its first moment to `until` (default: until every ladder is at its top). Returns every message in order.

    Events of the facts happen at their own times. Without a `cast`, every role of the city is filled by example people, and nobody
    acknowledges anything. Raises FactFaults for bad facts.
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
            return await _play(house, stage, facts, until or begins_at + _LONGEST, cast or Cast())
        finally:
            await house.engine.dispose()


async def _play(house: House, stage: _Stage, facts: Mapping[str, Any], until: datetime, cast: Cast) -> list[Rehearsed]:
    path = house.settings.outbox_path
    channels: dict[str, Channel] = {name: _Noting(FileChannel(path, name), stage) for name in CHANNELS}
    worker = Worker(house, channels, "rehearsal")
    acts = sorted([*(facts.get("events") or []), *cast.acknowledged], key=lambda act: _moment(house, facts, act["at"]))
    reference = await _open(house, {key: value for key, value in facts.items() if key != "events" and value is not None}, cast)
    following: datetime | None = stage.present
    while following is not None and following <= until:
        stage.present = max(stage.present, following)
        following = await worker.round()
        coming = _moment(house, facts, acts[0]["at"]) if acts else None
        if coming is not None and coming <= until and (following is None or coming <= following):
            stage.present = max(stage.present, coming)
            async with transaction(house, "rehearsal") as tx:
                await _act(tx, await tx.spill(reference), acts.pop(0))
            following = stage.present
    return await _told(house, stage)


def _moment(house: House, facts: Mapping[str, Any], at: str) -> datetime:
    return read_moment(at, house.rulebook.zones[facts["jurisdiction"]])


async def _act(tx: Transaction, spill: Spill, act: Mapping[str, Any]) -> None:
    """Record an event of the facts, or that somebody sees the alert about a duty that is open then."""
    if "duty" not in act:
        await record_act(tx, spill, act)
        return
    for row in await obligations.of_spill(tx, spill):
        if row.duty == act["duty"] and row.state in OPEN_STATES:
            await obligations.acknowledge(tx, row, spill, str(act["person"]))


async def _open(house: House, facts: dict[str, Any], cast: Cast) -> str:
    async with transaction(house, "rehearsal") as tx:
        await _fill(tx, facts["jurisdiction"], cast)
        spill = await open_spill(tx, description="Rehearsal")
        await tx.record(spill, ReportReceived(raw=facts, by_way_of="rehearsal"))
        await tx.record(spill, FactsRecorded(changes={key: (None, value) for key, value in facts.items()}, reason="rehearsal"))
        return spill.reference


async def _fill(tx: Transaction, city: str, cast: Cast) -> None:
    """Fill the roles of a city, and enter its rotas."""
    if not cast.people:
        tx.session.add_all(example_contacts(city))
        return
    people = {one["name"]: await add_contact(tx, city, **{"email": "", "phone": "", **one}) for one in cast.people}
    for rota in cast.rotas:
        members = [people[name].id or 0 for name in rota["members"]]
        await add_rota(tx, NewRota(city, **{**rota, "members": members}))


async def _told(house: House, stage: _Stage) -> list[Rehearsed]:
    async with reading(house) as tx:
        in_order = select(MessageRow).order_by(col(MessageRow.obligation_id), col(MessageRow.once))
        stored = (await tx.session.execute(in_order)).scalars().all()
        rows = {row.id: row for row in stored}
        carried: dict[str, list[str]] = {}
        for row in stored:
            if row.carried_by:
                carried.setdefault(row.carried_by, []).append(row.reason)
        told = []
        # Messages of one moment are sent side by side; they are told in the order of their promises.
        for message in sorted(stage.sent, key=lambda one: (one.at, rows[one.key].obligation_id or 0, rows[one.key].once)):
            row = rows[message.key]
            # What a text is answered by is made up anew each time.
            text = row.text.replace(row.code, _CODE) if row.code else row.text
            reason = "; also ".join([row.reason, *carried.get(row.id, ())])
            told.append(
                Rehearsed(message.at, row.person, row.role, row.channel, row.address, row.subject, text, row.step, reason, message.duty)
            )
        return told


async def unanswered(one: Example, told: Sequence[Rehearsed]) -> list[Rehearsed]:
    """What would go out beside the messages `told` in an example if nobody did or acknowledged anything, up to every ladder's top."""
    facts = {key: value for key, value in one.facts.items() if key != "events"}
    alone = await rehearse(facts, None, replace(one.cast, acknowledged=()))
    known = {_same(message) for message in told}
    return [message for message in alone if _same(message) not in known]


def _same(message: Rehearsed) -> tuple[datetime, str, str]:
    return message.at, message.channel, message.to


def done_in(facts: Mapping[str, Any], until: datetime | None, cast: Cast, rulebook: Rulebook) -> list[tuple[datetime, str]]:
    """What people do in a rehearsal up to its end, in order: the moment (UTC), and a sentence."""
    zone = rulebook.zones[facts["jurisdiction"]]
    acts = [(read_moment(act["at"], zone).astimezone(UTC), act) for act in [*(facts.get("events") or []), *cast.acknowledged]]
    return [(at, _in_words(act, rulebook)) for at, act in sorted(acts, key=lambda one: one[0]) if until is None or at <= until]


def _in_words(act: Mapping[str, Any], rulebook: Rulebook) -> str:
    if "duty" in act:
        return f"{act['person']} has seen the alert: {rulebook.rules(act['duty'])[1][-1].title}."
    recipient = rulebook.recipients.get(str(act.get("recipient")))
    whom = recipient.name if recipient else act.get("recipient")
    match act["type"]:
        case "notice_given":
            return f"{whom} is told {METHOD_WORDS[act['method']]}."
        case "report_submitted":
            return f"A written report is handed in to {whom}{'' if act.get('complete') else ', not complete'}."
    return f"{str(act['type']).replace('_', ' ').capitalize()}."


def as_line(message: Rehearsed) -> dict[str, Any]:
    """A rehearsed message as one JSON object."""
    return {
        "at": as_z(message.at), "to": message.to, "recipient": message.person, "role": message.role, "channel": message.channel,
        "duty": message.duty, "step": message.step, "reason": message.reason, "subject": message.subject, "text": message.text,
    }  # fmt: skip
