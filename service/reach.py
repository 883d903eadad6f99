"""Ladders that reach nobody, and times at which nobody is on call: looked for when people or rotas change, and by `doctor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlmodel import col

from deadlines.ladder import ROLES
from service.ladders import OPEN_STATES
from service.on_call import Roster, roster_of
from service.suppressions import standing
from service.tables import Contact, Obligation, Spill
from service.transaction import Transaction
from service.wording import local

# Who is on call is looked at so far ahead.
AHEAD = timedelta(days=28)
_MOST_NAMED = 3
_UNTIL_READ = "a running worker reads it within a minute, and until then its turns count, or everybody in the role is told"
_Way = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(slots=True)
class _Rungs:
    """Rungs that tell the same roles by the same channels: their steps, and the duties that have them."""

    steps: dict[str, None] = field(default_factory=dict)
    duties: dict[str, None] = field(default_factory=dict)


async def warnings_of(tx: Transaction, city: str, role: str | None = None) -> list[str]:
    """What is wrong with whom the ladders of a city reach and with who is on call; with a role, only what has to do with that one."""
    return await unreached(tx, city, role) + await untold(tx, city, role) + await uncalled(tx, city, role)


async def unreached(tx: Transaction, city: str, role: str | None = None) -> list[str]:
    """The roles that nobody fills, and the rungs that reach nobody now or at a time in the next four weeks: a sentence each."""
    ways = await _ways(tx, city)
    roles = sorted({one for tell, _ in ways for one in tell})
    rosters = {one: await roster_of(tx, city, one) for one in roles}
    dead = {channel: await standing(tx, channel) for channel in sorted({channel for _, by in ways for channel in by})}
    found = [
        f"nobody fills the role {one}; its rungs reach nobody"
        for one, roster in rosters.items()
        if not any(ways_to(contact, dead) for contact in roster.contacts)
    ]
    zone = tx.house.rulebook.zones[city]
    for (tell, by), rungs in ways.items():
        if role is not None and role not in tell:
            continue
        if not any(rosters[one].contacts for one in tell):
            continue  # said above
        for at in _moments(tx.now, [rosters[one] for one in tell]):
            if not any(set(by) & ways_to(contact, dead) for one in tell for contact in rosters[one].told(at)):
                since = "" if at == tx.now else f" from {local(at, zone)}"
                found.append(f"{_named(tell, by, rungs)} reach nobody{since}")
                break
    return [line for line in found if role is None or role in line]


async def untold(tx: Transaction, city: str, role: str | None = None) -> list[str]:
    """The people in roles whom no rung can tell, for no ladder uses a channel that reaches them: a sentence each."""
    ways = await _ways(tx, city)
    found = []
    for one in [role] if role else ROLES:
        used = sorted({channel for tell, by in ways if one in tell for channel in by})
        for contact in (await roster_of(tx, city, one)).contacts:
            mine = ways_to(contact, {})
            if mine.isdisjoint(used):
                told = f"tell {one} by {' or '.join(used)}, and {contact.name} has {' and '.join(sorted(mine))} alone"
                found.append(f"no rung tells {contact.name}: the ladders of {city} {told if used else f'never tell {one}'}")
    return found


async def uncalled(tx: Transaction, city: str, role: str | None = None) -> list[str]:
    """When in the next four weeks nobody is on call for a role that has a rota, and what is wrong with calendars of rotas."""
    zone = tx.house.rulebook.zones[city]
    found = []
    for one in [role] if role else ROLES:
        roster = await roster_of(tx, city, one)
        gaps = [(begins, ends) for begins, ends, _, nobody in roster.spans(tx.now, tx.now + AHEAD) if nobody] if roster.watches else []
        unread = [rota for rota in (watch.rota for watch in roster.watches) if rota.ics_url and not (rota.ics_read_at or rota.ics_problem)]
        found += [f"the calendar of rota {rota.name} ({one}) is not read yet; {_UNTIL_READ}" for rota in unread]
        if gaps and not unread:
            begins, ends = gaps[0]
            more = f", and {len(gaps) - 1} more times in four weeks" if len(gaps) > 1 else ""
            when = f"from {local(begins, zone)} to {local(ends, zone)}"
            found.append(f"nobody is on call as {one} {when}{more}; alerts then go to everybody in the role")
        for rota in (watch.rota for watch in roster.watches if watch.rota.ics_problem):
            read = f"last read {local(rota.ics_read_at, zone)}" if rota.ics_read_at else "never read yet"
            found.append(f"the calendar of rota {rota.name} ({one}), {read}: {rota.ics_problem}")
    return found


def _named(tell: Sequence[str], by: Sequence[str], rungs: _Rungs) -> str:
    duties = list(rungs.duties)
    more = f" and {len(duties) - _MOST_NAMED} more" if len(duties) > _MOST_NAMED else ""
    of = f"{', '.join(duties[:_MOST_NAMED])}{more}"
    return f"the rungs {', '.join(rungs.steps)} ({' or '.join(tell)}, by {' or '.join(by)}) of {of}"


async def _ways(tx: Transaction, city: str) -> dict[_Way, _Rungs]:
    """How the ladders of a city tell people: those of its packs, and of its open duties where the discharger is not named."""
    ways: dict[_Way, _Rungs] = {}
    for rule_standing in tx.house.rulebook.law_of(city).rules:
        for rung in rule_standing.rule.ladder:
            _add(ways, rung.tell, rung.by, rung.step, rule_standing.rule.duty)
    query = select(Obligation, Spill).join(Spill, col(Spill.id) == col(Obligation.spill_id))
    for row, spill in await tx.session.execute(query.where(col(Spill.city) == city, col(Obligation.state).in_(OPEN_STATES))):
        for stored in row.ladder:
            if "discharger" not in stored["tell"] or not spill.discharger.get("name"):
                _add(ways, tuple(stored["tell"]), tuple(stored["by"]), stored["at"], row.duty)
    return ways


def _add(ways: dict[_Way, _Rungs], tell: tuple[str, ...], by: tuple[str, ...], step: str, duty: str) -> None:
    rungs = ways.setdefault((tell, by), _Rungs())
    rungs.steps[step] = rungs.duties[duty] = None


def _moments(now: datetime, rosters: Sequence[Roster]) -> list[datetime]:
    """Now, and each moment in the next weeks at which somebody else is on call."""
    changes = {moment for roster in rosters for watch in roster.watches for moment in watch.changes(now, now + AHEAD)}
    return [now, *sorted(changes)]


def ways_to(contact: Contact, dead: Mapping[str, Mapping[str, object]]) -> set[str]:
    """The channels that reach a contact; `dead`: by channel, the addresses that nothing is sent to."""
    given = {
        "email": contact.email, "sms": contact.phone, "voice": contact.phone if contact.voice else "", "webhook": contact.webhook,
        "apprise": contact.apprise,
    }  # fmt: skip
    plain = {"email": contact.email.strip().lower()}
    return {channel for channel, address in given.items() if address and plain.get(channel, address) not in dead.get(channel, {})}
