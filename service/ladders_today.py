"""The ladders of a city with the people of today: whom each rung would tell if it were climbed now, by which ways; which tell nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from deadlines import Rule, Rung
from deadlines.ladder import CHANNELS, ROLES
from service.on_call import Roster, roster_of
from service.quiet_hours import WAITS_WITH_MORE_THAN
from service.reach import ways_to
from service.suppressions import standing
from service.switches import over, switched_off
from service.tables import Contact
from service.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Told:
    """Somebody to whom an alert to their role goes now, with the channels in question that reach them; none where no address does."""

    contact: Contact
    by: Sequence[str]


@dataclass(frozen=True, slots=True)
class RoleToday:
    """A role: whom an alert to it goes to now. `nobody_called`: there is a rota, and nobody is on call, so that everybody is told."""

    role: str
    told: Sequence[Told]
    nobody_called: bool

    @property
    def reached(self) -> Sequence[Told]:
        """Those whom an address reaches."""
        return [one for one in self.told if one.by]


@dataclass(frozen=True, slots=True)
class RungToday:
    """A rung with the people of its roles. One that reaches nobody is an alarm when it is climbed, and the next is climbed at once."""

    rung: Rung
    roles: Sequence[RoleToday]

    @property
    def reaches(self) -> bool:
        """Whether anybody is told, where the spill names no discharger."""
        return any(role.reached for role in self.roles)

    @property
    def may_wait(self) -> bool:
        """Whether it may wait for the end of quiet hours: it can lie more than 24 hours before the due time."""
        return not self.rung.from_due or self.rung.offset < -WAITS_WITH_MORE_THAN


@dataclass(frozen=True, slots=True)
class LadderToday:
    """A ladder of a city, with the rules whose clocks climb it, and where it is written: packs, each with its name for it.

    `off`: duties of it that start no new clocks, because their rule is switched off in the city.
    """

    rungs: Sequence[RungToday]
    rules: Sequence[Rule]
    written: Sequence[tuple[str, str]]
    off: Sequence[str]

    @property
    def reaches(self) -> bool:
        """Whether each of its rungs tells somebody."""
        return all(rung.reaches for rung in self.rungs)


async def roles_today(tx: Transaction, city: str) -> dict[str, RoleToday]:
    """Whom an alert to each role of a city goes to now, with every channel that reaches them."""
    dead = {channel: await standing(tx, channel) for channel in CHANNELS}
    found = {}
    for role in ROLES:
        roster: Roster = await roster_of(tx, city, role)
        told = []
        for contact in roster.told(tx.now):
            ways = ways_to(contact, dead)
            told.append(Told(contact, [channel for channel in CHANNELS if channel in ways]))
        found[role] = RoleToday(role, told, bool(roster.watches) and not roster.called(tx.now))
    return found


async def ladders_today(tx: Transaction, city: str) -> list[LadderToday]:
    """The ladders of a served city, its own pack's first; rules with the same rungs stand together. Raises KeyError without a pack."""
    roles, off = await roles_today(tx, city), await switched_off(tx, city)
    alike: dict[tuple[Rung, ...], dict[str, Rule]] = {}
    for one in tx.house.rulebook.law_of(city).rules:
        if one.rule.ladder:
            alike.setdefault(one.rule.ladder, {}).setdefault(one.rule.duty, one.rule)
    return [
        LadderToday(
            [_rung_today(rung, roles) for rung in sorted(rungs, key=_place)], list(rules.values()),
            list(dict.fromkeys((rule.duty.partition("/")[0], rule.ladder_name) for rule in rules.values())),
            [duty for duty in rules if over(off, duty)],
        )
        for rungs, rules in alike.items()
    ]  # fmt: skip


def _place(rung: Rung) -> tuple[bool, timedelta]:
    """Rungs in the order in which they are climbed: from the start on, then up to the due time and beyond."""
    return rung.from_due, rung.offset


def _rung_today(rung: Rung, roles: dict[str, RoleToday]) -> RungToday:
    return RungToday(rung, [_by_rung(rung, roles[role]) for role in rung.tell])


def _by_rung(rung: Rung, role: RoleToday) -> RoleToday:
    told = [Told(one.contact, [channel for channel in rung.by if channel in one.by]) for one in role.told]
    return RoleToday(role.role, told, role.nobody_called)
