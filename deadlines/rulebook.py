"""All packs, calendars and quantities together, and the law that stands over one city."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from zoneinfo import ZoneInfo

from deadlines.calendars import Calendar
from deadlines.quantities import ReportableQuantities
from deadlines.reading import Mistake, PackError
from deadlines.rulepack import read_pack
from deadlines.rules import Pack, Recipient, Rule


@dataclass(frozen=True, slots=True)
class StandingRule:
    """A rule as it stands over one city: its pack, and who its recipient is there."""

    rule: Rule
    pack: Pack
    recipient: str | None


@dataclass(frozen=True)
class CityLaw:
    """Everything that stands over one city: its own pack and the packs that lie over it."""

    city: Pack
    zone: ZoneInfo
    calendar: Calendar
    rules: tuple[StandingRule, ...]
    recipients: Mapping[str, Recipient]

    def rules_for(self, kind: str) -> tuple[StandingRule, ...]:
        """The rules that apply to one kind of matter."""
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[str, tuple[StandingRule, ...]]:
        kinds = {kind for standing in self.rules for kind in standing.rule.kinds}
        return {kind: tuple(standing for standing in self.rules if kind in standing.rule.kinds) for kind in kinds}


class Rulebook:
    """The packs of a folder. `version` changes with any of them."""

    def __init__(self, packs: Mapping[str, Pack], quantities: ReportableQuantities) -> None:
        self.packs = packs
        self.quantities = quantities
        self._laws = {pack.id: self._law_over(pack) for pack in packs.values() if pack.is_city}
        self.version = hashlib.sha256("".join(sorted(f"{pack.id} {pack.version}" for pack in packs.values())).encode()).hexdigest()[:12]

    @property
    def cities(self) -> list[str]:
        """The ids of all cities, sorted."""
        return sorted(self._laws)

    @cached_property
    def zones(self) -> dict[str, ZoneInfo]:
        """The zone of each city."""
        return {city: law.zone for city, law in self._laws.items()}

    @cached_property
    def recipients(self) -> dict[str, Recipient]:
        """Everybody a duty of any pack is owed to, the discharger included."""
        found = {"discharger": Recipient("discharger", "the discharger")}
        for pack in self.packs.values():
            for key, recipient in pack.recipients.items():
                if key not in found or (recipient.telephone and not found[key].telephone):
                    found[key] = recipient
        return found

    def law_of(self, city: str) -> CityLaw:
        """The law over a city. Raises KeyError for a city without a pack."""
        return self._laws[city]

    def rules(self, duty: str) -> tuple[Pack, tuple[Rule, ...]]:
        """The versions of a rule by its duty id, oldest first, with its pack. Raises KeyError."""
        pack = self.packs[duty.partition("/")[0]]
        versions = [rule for rule in pack.rules if rule.duty == duty]
        if not versions:
            raise KeyError(duty)
        return pack, tuple(sorted(versions, key=lambda rule: rule.in_force.first or date.min))

    def with_closures(self, closures: Mapping[str, Mapping[date, str | None]]) -> Rulebook:
        """The same law counted on calendars that differ on some days, by city: {city: {day: reason and source, None where it is open}}."""
        packs = {
            key: replace(pack, calendar=pack.calendar.with_closures(closures[key])) if pack.calendar and key in closures else pack
            for key, pack in self.packs.items()
        }
        return Rulebook(packs, self.quantities)

    def _law_over(self, city: Pack) -> CityLaw:
        over = [city, *(pack for pack in self.packs.values() if not pack.is_city and pack.lies_over(city))]
        rules = tuple(
            StandingRule(rule, pack, city.agencies.get(rule.to_agency) if rule.to_agency else rule.to)
            for pack in over
            for rule in pack.rules
        )
        recipients = {key: recipient for pack in reversed(over) for key, recipient in pack.recipients.items()}
        recipients["discharger"] = Recipient("discharger", "the discharger")
        if city.zone is None or city.calendar is None:
            raise KeyError(f"{city.id} has no zone or calendar")
        return CityLaw(city, city.zone, city.calendar, rules, recipients)


def read_rulebook(texts: Mapping[str, str], calendars: Mapping[str, Calendar], quantities: ReportableQuantities) -> Rulebook:
    """Read packs, given as {path: text}, and check them against each other. Raises PackError with every mistake of every pack."""
    packs: dict[str, Pack] = {}
    paths: dict[str, str] = {}
    mistakes: list[Mistake] = []
    for path, text in sorted(texts.items()):
        try:
            pack = read_pack(path, text, calendars)
        except PackError as error:
            mistakes.extend(error.mistakes)
            continue
        if pack.id in packs:
            mistakes.append(Mistake(path, 1, "pack", f"{pack.id!r} is also the id of {paths[pack.id]}", "an id of its own"))
        packs[pack.id], paths[pack.id] = pack, path
    if not mistakes:
        mistakes = [
            Mistake(paths[pack_id], _line_of(place, texts[paths[pack_id]]), place, wrong, right)
            for pack in packs.values()
            for pack_id, place, wrong, right in _cross_check(pack, packs)
        ]
    PackError.raise_if_any(mistakes)
    return Rulebook(packs, quantities)


def _line_of(place: str, text: str) -> int:
    """The line of a key at the left margin, or of the rule with an id; 1 where it is neither."""
    key = f"- id: {place.partition('/')[2].partition('.')[0]}" if "/" in place else f"{place.partition('.')[0]}:"
    found = (number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(key))
    return next(found, 1)


def _cross_check(pack: Pack, packs: Mapping[str, Pack]) -> list[tuple[str, str, str, str]]:
    """What is wrong between packs, as the id of the pack to be mended, place, wrong, right."""
    found = []
    permits = {other.covers.word for other in packs.values() if other.covers.by == "permit"}
    for permit in pack.permits:
        if permit not in permits:
            wrong = f"no pack is laid over cities by permit {permit!r}"
            found.append((pack.id, "permits", wrong, f"one of: {', '.join(sorted(permits))}"))
    known = {"discharger", *(key for other in packs.values() for key in other.recipients)}
    for rule in pack.rules:
        named = {"also_met_by": rule.also_met_by}
        if rule.trigger is not None:
            named["where.recipient"] = frozenset(map(str, rule.trigger.where.get("recipient", ())))
            named["unless.recipient"] = frozenset(map(str, rule.trigger.unless.get("recipient", ())))
        for key, words in named.items():
            for word in sorted(words - known):
                wrong = f"no recipient {word!r} in any pack"
                found.append((pack.id, f"{rule.duty}.{key}", wrong, f"one of: {', '.join(sorted(known))}"))
    for city in packs.values():
        if city.is_city and pack.lies_over(city):
            for agency in sorted({rule.to_agency for rule in pack.rules if rule.to_agency} - set(city.agencies)):
                duty = next(rule.duty for rule in pack.rules if rule.to_agency == agency)
                found.append(
                    (city.id, f"agencies.{agency}", f"missing, and {duty} is owed to it", f"`{agency}: ` and a recipient of this pack")
                )
    return found
