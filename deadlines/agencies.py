"""Who is who in a city: the agencies that its pack names, and the warning centers of the state and federal packs over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deadlines.rulebook import CityLaw
from deadlines.rules import Pack

# The words of packs for agencies of a place (`agencies` of a city's pack), in the order people are shown them.
LOCAL: Mapping[str, str] = {
    "npdes-authority": "Water board or permitting authority", "cupa": "Hazardous materials agency of the county (CUPA)",
    "health-officer": "Health officer of the county", "lepc": "Local Emergency Planning Committee", "epa-region": "EPA region",
}  # fmt: skip
# Recipients of packs that lie over the city.
BEYOND: Mapping[str, str] = {"cal-oes": "Warning center of the state", "national-response-center": "Warning center of the United States"}


@dataclass(frozen=True, slots=True)
class Agency:
    """Somebody who is told of spills in a city: in which role, who, and by which public numbers; none where the packs give none."""

    role: str
    says: str
    id: str
    name: str
    telephone: tuple[str, ...]


def agencies_of(law: CityLaw) -> tuple[Agency, ...]:
    """The agencies of a city, the warning centers first."""
    held = {role: role for role in BEYOND if role in law.recipients} | {
        role: law.city.agencies[role] for role in (*LOCAL, *sorted(set(law.city.agencies) - set(LOCAL))) if role in law.city.agencies
    }
    words = {**BEYOND, **LOCAL}
    found = []
    for role, key in held.items():
        recipient = law.recipients[key]
        found.append(Agency(role, words.get(role, role.replace("-", " ")), key, recipient.name, recipient.telephone))
    return tuple(found)


def packs_over(law: CityLaw) -> tuple[Pack, ...]:
    """The packs that stand over a city, its own first."""
    return tuple({standing.pack.id: standing.pack for standing in law.rules}.values())
