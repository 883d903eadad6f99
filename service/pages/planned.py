"""What is planned next about a spill, and to whom: the rungs of every ladder still to come, and the messages that wait for their moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select
from sqlmodel import col

from deadlines import PlannedRung
from service.ladders import ladder_of
from service.pages import words
from service.pages.duties import Duty
from service.parties import ROLE_NAMES, Person, people_of
from service.tables import MessageRow, Spill
from service.transaction import Transaction

_NOBODY = "nobody"
_CHANNELS = {"sms": "SMS", "email": "e-mail"}


@dataclass
class Telling:
    """Somebody who will be told at a moment: who, in which role, by which ways, about which clocks.

    `waits`: the message is promised already and waits, for quiet hours to end or for its turn; `if_unseen`: only if nobody has seen the
    alert before; `reaches`: whether anybody fills the role with an address for it.
    """

    at: datetime
    who: str
    role: str
    by: str
    waits: bool = False
    if_unseen: bool = False
    reaches: bool = True
    about: list[str] = field(default_factory=list)


async def ladders_of(tx: Transaction, spill: Spill, duties: Sequence[Duty]) -> dict[int, list[tuple[PlannedRung, str]]]:
    """The rungs still to come of each clock, each with whom it will tell and how."""
    rungs = {duty.id: ladder_of(duty.row, tx.now) for duty in duties}
    return {clock: [(rung, await _told_by(tx, spill, rung)) for rung in ladder] for clock, ladder in rungs.items()}


async def _told_by(tx: Transaction, spill: Spill, rung: PlannedRung) -> str:
    """Whom a rung tells, by the rotas as they are known now, and how."""
    parts = []
    for role in rung.tell:
        people = await people_of(tx, spill, role, rung.at)
        names = ", ".join(person.name for person in people if _ways(rung, person))
        nobody = "nobody has an address for this" if people else "nobody fills this role"
        parts.append(f"{_role(role)} ({names or nobody})")
    return f"{'; '.join(parts)}, by {' and '.join(_CHANNELS.get(channel, channel) for channel in rung.by)}"


async def planned_tellings(tx: Transaction, spill: Spill, duties: Sequence[Duty]) -> list[Telling]:
    """Everything planned, the soonest first. Who fills a role then is told by the rotas as they are known now."""
    found: dict[tuple[object, ...], Telling] = {}
    for message, title in await _waiting(tx, spill, duties):
        telling = Telling(message.next_at or tx.now, message.person, _role(message.role), _way(message.channel), waits=True)
        _add(found, telling, title)
    for duty in duties:
        for rung in ladder_of(duty.row, tx.now):
            for telling in await _of_rung(tx, spill, rung):
                _add(found, telling, str(duty.clock["title"]))
    return sorted(found.values(), key=lambda one: (one.at, one.role, one.who))


def _add(found: dict[tuple[object, ...], Telling], telling: Telling, title: str) -> None:
    key = (telling.at, telling.who, telling.role, telling.by, telling.waits, telling.if_unseen)
    about = found.setdefault(key, telling).about
    if title not in about:
        about.append(title)


async def _of_rung(tx: Transaction, spill: Spill, rung: PlannedRung) -> list[Telling]:
    tellings = []
    for role in rung.tell:
        reached = [(person, ways) for person in await people_of(tx, spill, role, rung.at) if (ways := _ways(rung, person))]
        tellings += [
            Telling(rung.at, person.name, _role(role), " and ".join(ways), if_unseen=rung.unless_acknowledged) for person, ways in reached
        ]
        if not reached:
            by = " or ".join(_way(channel) for channel in rung.by)
            tellings.append(Telling(rung.at, _NOBODY, _role(role), by, if_unseen=rung.unless_acknowledged, reaches=False))
    return tellings


def _ways(rung: PlannedRung, person: Person) -> list[str]:
    return [_way(channel) for channel in rung.by if channel in person.addresses]


def _way(channel: str) -> str:
    return words.CHANNELS.get(channel, channel)


def _role(role: str) -> str:
    return ROLE_NAMES.get(role, words.plain(role))


async def _waiting(tx: Transaction, spill: Spill, duties: Sequence[Duty]) -> list[tuple[MessageRow, str]]:
    """Messages that are promised and not yet sent, each with what it is about."""
    titles: Mapping[int | None, str] = {duty.id: str(duty.clock["title"]) for duty in duties}
    mine = (col(MessageRow.spill_id) == spill.id, col(MessageRow.state) == "waiting", col(MessageRow.subscription_id).is_(None))
    rows = (await tx.session.execute(select(MessageRow).where(*mine).order_by(col(MessageRow.next_at), col(MessageRow.id)))).scalars()
    return [(row, titles.get(row.obligation_id, row.reason.partition(";")[0])) for row in rows]
