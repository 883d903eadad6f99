"""Systems that are sent the events of a city: who is, and every record of its spills handed on to them, in order, none left out.

A report has no city before its place was looked up, so its first records stand in the chain of no city: both chains are read.
What is sent is the open part of an event (service/personal.py) and nothing that may tell of a person. The chain is the queue: how far each
came is kept, and messages are promised from there a batch at a time, so that to record an event costs nothing here, and any stretch of the
record can be sent again. The outbox sends them, tries again, and keeps what came of each try.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, or_, select, update
from sqlmodel import col

from deadlines import as_z
from notifiers.event_hook import event_hook_secret
from notifiers.webhook import problem_with_webhook
from service import account_letters, staff_log
from service.access import Staff, administrators_of
from service.chain import NO_CITY
from service.door_tables import EventHook
from service.errors import BadInput, Conflict, NotKnown
from service.events import EVENT_TYPES, AdvisoryIssued, FactsRecorded
from service.outbox import EVENT_HOOK, PATIENCE
from service.tables import Attempt, Chain, ChainRecord, EventRow, MessageRow, Spill
from service.transaction import House, Transaction

MOST_OF_A_CITY = 20
LONGEST_NAME = 100
# Both secrets are good for so long after a new one was made.
OVERLAP = timedelta(hours=24)
# What was taken is kept so long for the log of deliveries.
LOG_KEPT = timedelta(days=30)
TEST_KIND = "test"
_BATCH = 200
# No more than so many wait for one system: the record itself is the queue.
_MOST_WAITING = 400
_RANK = 4
_LOST = ("gave_up", "refused")


# -- who is sent what


async def of_city(tx: Transaction, staff: Staff, city: str | None = None) -> list[EventHook]:
    """The systems of the cities that somebody administers, or of one of them, that have not ended. Raises NotAllowed."""
    cities = [one for one in tx.house.cities if staff.may("administrator", one) and city in (None, one)]
    if not cities:
        staff.require("administrator", city or tx.house.first_city)
    query = select(EventHook).where(col(EventHook.city).in_(cities), col(EventHook.ended_at).is_(None)).order_by(col(EventHook.id))
    return list((await tx.session.execute(query)).scalars())


async def one_of(tx: Transaction, staff: Staff, number: int) -> EventHook:
    """One of them, by its number; a writing transaction holds it. Raises NotKnown, also for one of another city."""
    query = select(EventHook).where(col(EventHook.id) == number, col(EventHook.ended_at).is_(None))
    hook: EventHook | None = (await tx.session.execute(tx.held(query))).scalar_one_or_none() if 0 < number < 2**31 else None
    if hook is None or not staff.may("administrator", hook.city):
        raise NotKnown(f"there is no webhook {number}")
    return hook


async def add(tx: Transaction, staff: Staff, city: str, name: str, address: str, kinds: Sequence[str]) -> tuple[EventHook, str]:
    """Send a system the events of a city from now on. Returns it with its secret. Raises NotAllowed, BadInput with one line a fault."""
    if city not in tx.house.cities:
        raise BadInput("there is no such city", [f"city: {city[:60]!r} is none; right would be: one of {', '.join(tx.house.cities)}"])
    staff.require("administrator", city)
    said, address, wanted = _checked(tx.house, name, address, kinds)
    if len(await of_city(tx, staff, city)) >= MOST_OF_A_CITY:
        raise BadInput("there are too many", [f"webhooks: {city} has {MOST_OF_A_CITY}; right would be: end one first"])
    hook = EventHook(
        city=city, name=said, address=address, kinds=wanted, made_by=staff.email, made_at=tx.now, counts_since=tx.now, paused_why="",
        number=await _end_of(tx, city), unplaced=await _end_of(tx, NO_CITY),
    )  # fmt: skip
    tx.session.add(hook)
    await tx.session.flush()
    await _note(tx, hook, "hook:added", kinds=wanted)
    return hook, secret_of(tx.house, hook)


def _checked(house: House, name: str, address: str, kinds: Sequence[str]) -> tuple[str, str, list[str]]:
    said, address, wanted = " ".join(name.split()), address.strip(), sorted(set(kinds))
    faults = [] if said and said.isprintable() else ["name: missing; right would be: which system it is, as in Work orders"]
    if len(said) > LONGEST_NAME:
        faults.append(f"name: over {LONGEST_NAME} characters; right would be: fewer")
    if problem := problem_with_webhook(address, allow_private=house.settings.webhook_private):
        faults.append(f"address: {problem}")
    faults += [
        f"kinds: {kind[:40]!r} is none; right would be: some of {', '.join(EVENT_TYPES)}" for kind in wanted if kind not in EVENT_TYPES
    ]
    if faults:
        raise BadInput("the webhook cannot be kept so", faults)
    return said, address, wanted


async def change(tx: Transaction, hook: EventHook, name: str, address: str, kinds: Sequence[str]) -> None:
    """Change what a system is called, where it is and which kinds it is sent from now on; also what waits goes there. Raises BadInput."""
    hook.name, hook.address, hook.kinds = _checked(tx.house, name, address, kinds)
    await _waiting(tx, hook, address=hook.address)
    await _note(tx, hook, "hook:changed", kinds=hook.kinds)


def secret_of(house: House, hook: EventHook) -> str:
    """The secret that the receiver checks signatures by. Show it once."""
    return event_hook_secret(house.signing_key, hook.id or 0, hook.generation)


async def renew(tx: Transaction, hook: EventHook) -> str:
    """Give a system a new secret; for a day messages are signed by both. Returns it."""
    hook.generation, hook.renewed_at = hook.generation + 1, tx.now
    await _waiting(tx, hook, step=_secrets_named(hook, tx.now))
    await _note(tx, hook, "hook:renewed")
    return secret_of(tx.house, hook)


async def pause(tx: Transaction, hook: EventHook, why: str) -> None:
    """Send nothing any more until it is resumed. What waits or got nowhere is promised again then, and nothing is left out."""
    if hook.paused_at is not None:
        return
    hook.paused_at, hook.paused_why = tx.now, why[:1000]
    unsent = select(col(MessageRow.subject)).where(_about(hook), col(MessageRow.state).in_(("waiting", *_LOST)), _counted(hook))
    places = [_place_of(hook, identity) for identity in (await tx.session.execute(unsent)).scalars()]
    hook.number = min([hook.number, *(number - 1 for chain, number in places if chain == hook.city)])
    hook.unplaced = min([hook.unplaced, *(number - 1 for chain, number in places if chain == NO_CITY)])
    await _waiting(tx, hook, state="cancelled", queued=False, next_at=None)
    await _note(tx, hook, "hook:paused", why=hook.paused_why)


async def resume(tx: Transaction, hook: EventHook) -> None:
    """Send again, from where it stopped. Raises Conflict where it is not paused."""
    if hook.paused_at is None:
        raise Conflict("it is not paused")
    hook.paused_at, hook.paused_why, hook.counts_since, hook.run = None, "", tx.now, hook.run + 1
    tx.wakes_worker = True
    await _note(tx, hook, "hook:resumed")


async def end(tx: Transaction, hook: EventHook) -> None:
    """Send nothing any more, for good."""
    hook.ended_at = tx.now
    await _waiting(tx, hook, state="cancelled", queued=False, next_at=None)
    await _note(tx, hook, "hook:ended")


async def send_again(tx: Transaction, hook: EventHook, since: datetime, until: datetime) -> int:
    """Send what was recorded in a stretch of time once more, under the same ids. Returns how many records that is.

    Raises BadInput where nothing was, Conflict while another stretch is under way or it is paused.
    """
    if hook.again_from is not None or hook.paused_at is not None:
        raise Conflict("it is paused; resume it first" if hook.paused_at else "another stretch is still being sent; wait for its end")
    found = _records(hook).with_only_columns(func.min(col(EventRow.id)), func.max(col(EventRow.id)), func.count())
    sent = or_(
        and_(col(ChainRecord.chain) == hook.city, col(ChainRecord.number) <= hook.number),
        and_(col(ChainRecord.chain) == NO_CITY, col(ChainRecord.number) <= hook.unplaced),
    )
    first, last, many = (await tx.session.execute(found.where(sent, col(EventRow.recorded_at).between(since, until)))).one()
    if first is None:
        raise BadInput("there is nothing to send", ["since: nothing that was sent is of that time; right would be: an earlier time"])
    hook.again_from, hook.again_to, hook.run = first, last, hook.run + 1
    tx.wakes_worker = True
    await _note(tx, hook, "hook:again", since=as_z(since), until=as_z(until))
    return int(many)


async def send_test(tx: Transaction, hook: EventHook) -> None:
    """Send a message that tells of nothing. Raises Conflict while it is paused."""
    if hook.paused_at is not None:
        raise Conflict("it is paused; resume it first")
    body = {"type": TEST_KIND, "timestamp": as_z(tx.now), "data": {"city": hook.city, "says": "A test of this webhook. Nothing happened."}}
    _promise(tx, hook, f"evt_{hook.city}_test_{uuid.uuid4().hex[:8]}", body)


async def _note(tx: Transaction, hook: EventHook, kind: str, **said: Any) -> None:
    await staff_log.note(tx, kind, city=hook.city, name=hook.name, **said)


# -- handing on


async def are_behind(tx: Transaction) -> bool:
    """Whether something is to be promised to a system, or one is to be paused."""
    return any([await _lacks(tx, hook) or await _lost(tx, hook) for hook in await _sent_to(tx)])


async def _sent_to(tx: Transaction) -> Sequence[EventHook]:
    live = (col(EventHook.ended_at).is_(None), col(EventHook.paused_at).is_(None))
    return (await tx.session.execute(select(EventHook).where(*live).order_by(col(EventHook.id)))).scalars().all()


async def _lacks(tx: Transaction, hook: EventHook) -> bool:
    if hook.again_from is None and await _end_of(tx, hook.city) <= hook.number and await _end_of(tx, NO_CITY) <= hook.unplaced:
        return False
    waiting = select(func.count()).select_from(MessageRow).where(_about(hook), col(MessageRow.state).in_(("waiting", "sending")))
    return (await tx.session.scalar(waiting) or 0) < _MOST_WAITING


async def _lost(tx: Transaction, hook: EventHook) -> str | None:
    """Why the last message to a system got nowhere, since its failures count; None where none has."""
    query = select(col(MessageRow.id)).where(_about(hook), col(MessageRow.state).in_(_LOST), _counted(hook)).limit(1)
    key = await tx.session.scalar(query)
    if key is None:
        return None
    tried = select(col(Attempt.detail)).where(col(Attempt.message_id) == key).order_by(col(Attempt.number).desc()).limit(1)
    return await tx.session.scalar(tried) or "it was refused before it was sent"


def _about(hook: EventHook) -> ColumnElement[bool]:
    return col(MessageRow.climb) == climb_of(hook)


def _counted(hook: EventHook) -> ColumnElement[bool]:
    return col(MessageRow.promised_at) >= hook.counts_since


def climb_of(hook: EventHook) -> str:
    """What all messages to a system have alike."""
    return f"hook:{hook.id}"


async def hand_on(tx: Transaction) -> int:
    """Promise each system its next batch, and pause those to which messages got nowhere. Returns how much was done."""
    done = 0
    for hook in (await tx.session.execute(select(EventHook).where(col(EventHook.ended_at).is_(None)).with_for_update())).scalars().all():
        if hook.paused_at is not None:
            continue
        if (why := await _lost(tx, hook)) is not None:
            await pause(tx, hook, why)
            await _tell(tx, hook)
            done += 1
        elif await _lacks(tx, hook):
            done += await _hand_on(tx, hook)
    return done


async def _tell(tx: Transaction, hook: EventHook) -> None:
    title = tx.house.rulebook.law_of(hook.city).city.title
    says = (
        f"{hook.name} ({title}) took nothing for {int(PATIENCE.total_seconds() // 3600)} hours, or said that it wants no more. It is sent"
        f" no events until you resume it; then it gets all that it missed.\n\nIts last answer: {hook.paused_why}\n\n"
        f"{tx.house.settings.public_url}/staff/settings/webhooks/{hook.id}"
    )
    for account in await administrators_of(tx, hook.city):
        await account_letters.tell(tx, account, f"Webhook paused: {hook.name}", says)


async def _hand_on(tx: Transaction, hook: EventHook) -> int:
    await _forget_old(tx, hook)
    if hook.again_from is not None and hook.again_to is not None:
        again = _records(hook).where(col(EventRow.id).between(hook.again_from, hook.again_to)).order_by(col(EventRow.id)).limit(_BATCH)
        rows: list[Any] = list((await tx.session.execute(again)).all())
        hook.again_from = rows[-1][1].id + 1 if len(rows) == _BATCH else None
        hook.again_to = hook.again_to if hook.again_from is not None else None
    else:
        rows = await _next(tx, hook)
    for record, event, reference in sorted(rows, key=lambda row: row[1].id or 0):
        if not hook.kinds or event.kind in hook.kinds:
            identity = _identity(hook, record)
            _promise(tx, hook, identity, body_of(tx.house, identity, event, reference, hook.city), event.id or 0)
    return len(rows) or 1


async def _next(tx: Transaction, hook: EventHook) -> list[Any]:
    """The next records of both chains, by their places there: events may be committed in another order than that of their numbers."""
    found: list[Any] = []
    for chain, after in ((NO_CITY, hook.unplaced), (hook.city, hook.number)):
        mine = (col(ChainRecord.chain) == chain, col(ChainRecord.number) > after)
        query = _records(hook).where(*mine).order_by(col(ChainRecord.number)).limit(_BATCH)
        rows = (await tx.session.execute(query)).all()
        found += rows
        # Of the chain of no city there are records of other cities, too: without any of ours left, all of it is behind us.
        last = rows[-1][0].number if len(rows) == _BATCH else await _end_of(tx, chain)
        if chain == NO_CITY:
            hook.unplaced = last
        else:
            hook.number = last
    return found


def _records(hook: EventHook) -> Select[*tuple[Any, ...]]:
    """The records of the spills of a city, in its chain and in that of no city."""
    return (
        select(ChainRecord, EventRow, col(Spill.reference))
        .join(EventRow, col(EventRow.id) == col(ChainRecord.event_id))
        .join(Spill, col(Spill.id) == col(EventRow.spill_id))
        .where(or_(col(ChainRecord.chain) == hook.city, and_(col(ChainRecord.chain) == NO_CITY, col(Spill.city) == hook.city)))
    )


def _shown(event: EventRow) -> dict[str, Any]:
    """The open part of an event, less what service/disclosure.py shows no outsider: a firm's mixture, and the very point of a spill."""
    shown = dict(event.opened)
    if event.kind == FactsRecorded.kind:
        shown["changes"] = {fact: change for fact, change in shown["changes"].items() if fact != "substances"}
    if event.kind == AdvisoryIssued.kind:
        shown["area"] = {key: value for key, value in shown["area"].items() if key not in ("lat", "lon")}
    return shown


async def _end_of(tx: Transaction, chain: str) -> int:
    return await tx.session.scalar(select(col(Chain.number)).where(col(Chain.name) == chain)) or 0


def _identity(hook: EventHook, record: ChainRecord) -> str:
    """What a record is known by to receivers, for ever: evt_chino_12, or evt_chino_new_3 for one of the chain of no city."""
    return f"evt_{hook.city}_{'' if record.chain == hook.city else 'new_'}{record.number}"


def _place_of(hook: EventHook, identity: str) -> tuple[str, int]:
    """The chain and number of a record, by what it is known by; no chain for a test."""
    kind, _, number = identity.removeprefix(f"evt_{hook.city}_").rpartition("_")
    return {"": hook.city, "new": NO_CITY}.get(kind, ""), int(number) if number.isdecimal() else 0


def body_of(house: House, identity: str, event: EventRow, reference: str, city: str) -> dict[str, Any]:
    """An event as it is sent: what is open of it, as the chain covers it."""
    return {
        "type": event.kind, "timestamp": as_z(event.happened_at.astimezone(UTC)),
        "data": {
            "id": identity, "event": event.id, "city": city, "spill": reference,
            "spill_url": f"{house.settings.public_url}/api/v1/spills/{reference}", "recorded_at": as_z(event.recorded_at.astimezone(UTC)),
            "payload": _shown(event),
        },
    }  # fmt: skip


def _promise(tx: Transaction, hook: EventHook, identity: str, body: Mapping[str, Any], place: int = 0) -> None:
    """`place`: what orders it among others of one moment; messages go out in the order of `once`, as text."""
    once = f"{climb_of(hook)}:{hook.run:06d}:{place:012d}:{identity}"
    tx.session.add(MessageRow(
        id=uuid.uuid4().hex, once=once, climb=climb_of(hook), person=hook.name, role=EVENT_HOOK, channel=EVENT_HOOK, address=hook.address,
        subject=identity, text=json.dumps(body, separators=(",", ":")), step=_secrets_named(hook, tx.now), reason="an event of its city",
        rank=_RANK, sort_at=tx.now, promised_at=tx.now, queued=True, next_at=tx.now, give_up_at=tx.now + PATIENCE,
    ))  # fmt: skip
    tx.wakes_worker = True


def _secrets_named(hook: EventHook, now: datetime) -> str:
    """The secrets that a message is signed by, as notifiers/event_hook.py reads them."""
    both = hook.renewed_at is not None and now - hook.renewed_at < OVERLAP
    return ",".join(f"{hook.id}.{number}" for number in ([hook.generation, hook.generation - 1] if both else [hook.generation]))


async def _waiting(tx: Transaction, hook: EventHook, **values: Any) -> None:
    """Change what waits for a system."""
    waiting = update(MessageRow).where(_about(hook), col(MessageRow.state) == "waiting").values(**values)
    await tx.session.execute(waiting, execution_options={"synchronize_session": False})


async def _forget_old(tx: Transaction, hook: EventHook) -> None:
    """Take what was sent long ago out of the log: the record itself keeps it all."""
    old = select(col(MessageRow.id)).where(
        _about(hook), col(MessageRow.state).in_(("accepted", "cancelled", *_LOST)), col(MessageRow.promised_at) < tx.now - LOG_KEPT
    )
    keys = (await tx.session.execute(old.limit(_BATCH))).scalars().all()
    if keys:
        await tx.session.execute(delete(Attempt).where(col(Attempt.message_id).in_(keys)))
        await tx.session.execute(delete(MessageRow).where(col(MessageRow.id).in_(keys)))


# -- the log


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message to a system, and its last try."""

    message: MessageRow
    tried: Attempt | None


async def deliveries(tx: Transaction, hook: EventHook, most: int = 50) -> list[Delivery]:
    """What was promised to a system, the newest first, each with its last try."""
    query = select(MessageRow).where(_about(hook)).order_by(col(MessageRow.promised_at).desc(), col(MessageRow.subject).desc())
    rows = (await tx.session.execute(query.limit(most))).scalars().all()
    tries = (await tx.session.execute(
        select(Attempt).where(col(Attempt.message_id).in_([row.id for row in rows])).order_by(col(Attempt.number))
    )).scalars()  # fmt: skip
    last = {one.message_id: one for one in tries}
    return [Delivery(row, last.get(row.id)) for row in rows]


async def waits(tx: Transaction, hook: EventHook) -> int:
    """How many records a system has yet to be sent, as far as they are promised or not."""
    ahead = max(0, await _end_of(tx, hook.city) - hook.number)
    waiting = select(func.count()).select_from(MessageRow).where(_about(hook), col(MessageRow.state).in_(("waiting", "sending")))
    return ahead + (await tx.session.scalar(waiting) or 0)
