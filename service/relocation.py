"""The pin of a spill is moved, or a person says which city's law applies; the clocks follow at once.

Moving the pin finds the city anew, by the boundaries. Where that is another one, the facts are amended by it: the clocks of the old city's
law are withdrawn with the reason, those of the new one start at the moment its law names, overdue at once where that is so. What was done
already counts for whomever both laws name. A pin that stays in its city changes the place and no clock.

Two things are never done silently, but asked (`WhichCity`), and done once the answer names the city:
a city that a person set by hand is not overridden by a point, and a point outside every boundary does not end all clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from service.errors import BadInput, Conflict
from service.events import FactsRecorded, PlaceMoved, ReportReceived, SpillEvent, TriageAsked
from service.fact_sources import COMPUTED, STAFF
from service.locating import LONGEST_ADDRESS, Whereabouts, degrees, is_on_earth, read_place, without_doubts
from service.spills import AS_IT_CAME, amend_facts, clean, stated
from service.tables import EventRow, Spill
from service.transaction import Transaction

History = Sequence[tuple[EventRow, SpillEvent]]
_REASON_MISSING = "reason: missing; right would be: how the place is known, in a few words"


@dataclass(frozen=True, slots=True)
class Move:
    """A new place. What is None stays as it is. `answers` says whether `city`, None for no city, answers a `WhichCity`."""

    lat: object = None
    lon: object = None
    address: str | None = None
    reason: str = ""
    city: str | None = None
    answers: bool = False


class WhichCity(Conflict):
    """The place and the record name different cities, and a person has to say which. Nothing is changed before."""

    title = "Which city is it?"

    def __init__(self, standing: str, found: str | None, why: str) -> None:
        lies = f"the new place lies in {found}" if found else "the new place lies outside every city served here"
        choice = f'"city": {_as_json(found)} to follow the place, or "city": {_as_json(standing)} to keep the law that stands'
        super().__init__(f"{lies}, but {why}; nothing was changed", [f"city: {lies}, but {why}; right would be: {choice}"])
        self.standing = standing
        self.found = found


def _as_json(city: str | None) -> str:
    return "null" if city is None else f'"{city}"'


async def move_pin(tx: Transaction, spill: Spill, move: Move) -> bool:
    """Move the pin and let the law follow, as told above. Returns False, and does nothing, where the place is the one on record.

    Raises BadInput with one line a fault, WhichCity where a person has to say which city it is, Conflict for a report not yet read.
    """
    if not spill.facts:
        raise Conflict(f"{spill.reference} has not been put to the law yet; right would be: try again in a minute")
    place = _read(tx, spill, move)
    before: dict[str, JsonValue] = {"lat": spill.lat, "lon": spill.lon, "address": spill.address}
    after: dict[str, JsonValue] = {"lat": place.lat, "lon": place.lon, "address": place.address}
    if before == after and not move.answers:
        return False
    standing = spill.city
    city = await _chosen(tx, spill, place, move)
    reason = stated(move.reason)
    await tx.record(spill, PlaceMoved(before=before, after=after, reason=reason, city=place.city, flags=place.flags))
    spill.flags = [*without_doubts(spill.flags), *place.flags]
    if city != standing:
        await amend_facts(tx, spill, {"jurisdiction": city}, reason, COMPUTED if city == place.city else STAFF)
    if city is None and standing is not None:
        await tx.record(spill, TriageAsked(reason="its place is in no city served here any more"))
    return True


def _read(tx: Transaction, spill: Spill, move: Move) -> Whereabouts:
    """The new place. A slip in the numbers is put right as for a report, and flagged; what is no place at all is a fault."""
    faults = [] if stated(move.reason) else [_REASON_MISSING]
    moved = move.lat is not None or move.lon is not None
    lat, lon = (degrees(move.lat), degrees(move.lon)) if moved else (spill.lat, spill.lon)
    address = spill.address if move.address is None else clean(move.address)[:LONGEST_ADDRESS]
    if moved and (lat is None or lon is None):
        faults.append("lat, lon: not both numbers; right would be: degrees, 34.0122 and -117.6889")
    if not moved and move.address is None:
        faults.append("lat, lon, address: none is given; right would be: a point, an address, or both")
    place = read_place(tx.house, {"lat": lat, "lon": lon, "address": address})
    if moved and lat is not None and lon is not None and place.lat is None:
        right = "degrees, 34.0122 and -117.6889" if is_on_earth(lat, lon) else "latitude -90 to 90, longitude -180 to 180"
        faults.append(f"lat, lon: {lat}, {lon} is nowhere on earth; right would be: {right}")
    if faults:
        raise BadInput("the place cannot be changed so", faults)
    return place


async def _chosen(tx: Transaction, spill: Spill, place: Whereabouts, move: Move) -> str | None:
    """The city whose law applies at the new place. Raises WhichCity where a person has to say, BadInput for an answer that is neither."""
    standing, found = spill.city, place.city
    if move.answers:
        if move.city not in (standing, found):
            raise BadInput(
                "the place cannot be changed so",
                [f"city: {move.city!r} is neither; right would be: {_as_json(found)} or {_as_json(standing)}, or left out"],
            )
        return move.city
    if standing is None or found == standing:
        return found
    if found is None and not (place.settles and standing in tx.house.places.cities):
        return standing  # words are silent, or the city that stands has no boundary to lie outside of
    setting = set_by_hand(await tx.history(spill))
    if setting is not None:
        row, event = setting
        raise WhichCity(standing, found, f"{row.actor} set {standing} by hand ({event.reason})")
    if found is None:
        raise WhichCity(standing, found, f"the clocks of {standing} run")
    return found


def set_by_hand(history: History) -> tuple[EventRow, FactsRecorded] | None:
    """The record by which a person set the city, where the city on record was so set and not found by its place."""
    found: tuple[EventRow, FactsRecorded] | None = None
    before: SpillEvent | None = None
    for row, event in history:
        if isinstance(event, FactsRecorded) and "jurisdiction" in event.changes:
            city = event.changes["jurisdiction"][1]
            found = None if city is None or _follows_place(before, event, history) else (row, event)
        before = event
    return found


def _follows_place(before: SpillEvent | None, event: FactsRecorded, history: History) -> bool:
    city = event.changes["jurisdiction"][1]
    if isinstance(before, PlaceMoved):
        return before.city == city
    received = history[0][1]
    if event.reason != AS_IT_CAME or not isinstance(received, ReportReceived) or not isinstance(received.raw, dict):
        return False
    said = received.raw.get("facts")
    inner = said.get("jurisdiction") if isinstance(said, dict) else None
    by_staff = [received.raw.get("jurisdiction"), inner] if received.by_way_of == "staff" else []
    return bool(city not in by_staff)


async def assign_city(tx: Transaction, spill: Spill, city: str, reason: str) -> None:
    """Record that a person says which city's law applies, also where that confirms the city on record. The doubts about it are answered.

    Raises BadInput without a reason, or for a city that has no pack.
    """
    faults = [] if stated(reason) else [_REASON_MISSING]
    if city not in tx.house.rulebook.cities:
        faults.append(f"city: {city!r} is not a known city; right would be: one of {', '.join(tx.house.cities)}")
    if faults:
        raise BadInput("the city cannot be set so", faults)
    if spill.city == city:
        await tx.record(spill, FactsRecorded(changes={"jurisdiction": (city, city)}, reason=stated(reason)))
    else:
        await amend_facts(tx, spill, {"jurisdiction": city}, reason)
    spill.flags = without_doubts(spill.flags)
