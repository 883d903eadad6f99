"""What `spillclock retention` does: say what is past its time, place and lift legal holds, destroy a record or say what would go."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from service import destruction, retention
from service.destruction import KINDS, Going
from service.errors import BadInput, NotKnown
from service.tables import Spill
from service.transaction import House, Transaction, reading
from service.wording import local


async def listed(tx: Transaction, given: argparse.Namespace) -> list[str]:
    """A line for each record past its time, soon past it or under a hold: its reference, how it stands, and what keeps it."""
    if given.city and given.city not in tx.house.cities:
        right = f"right would be: one of {', '.join(tx.house.cities)}"
        raise BadInput("there is no such city", [f"CITY: {given.city!r} is not a known city; {right}"])
    lines = []
    for one in await retention.listed(tx, [given.city] if given.city else None):
        still = one.still(tx.now)
        state = "held" if one.is_held else "kept" if still else "past its time"
        until = f" until {local(one.until, retention.zone_of(tx, one.spill))}" if one.until else ""
        lines.append(f"{one.spill.reference}\t{state}{until}\t" + "; ".join(keeper.says for keeper in still or one.keepers))
    return lines or ["no record is past its time within 90 days, and no hold is on any"]


async def hold(tx: Transaction, given: argparse.Namespace) -> list[str]:
    """Place a legal hold."""
    row = await retention.place_hold(tx, await _spill(tx, given.reference), given.reason)
    return [f"hold {row.id} is on {given.reference}: nothing of its record is destroyed until it is lifted"]


async def release(tx: Transaction, given: argparse.Namespace) -> list[str]:
    """Lift a legal hold."""
    await retention.lift_hold(tx, await _spill(tx, given.reference), given.number, given.reason)
    return [f"hold {given.number} of {given.reference} is lifted"]


async def destroy(house: House, given: argparse.Namespace) -> list[str]:
    """Say what would be destroyed, and with --yes destroy it. Raises StillKept where something keeps it."""
    if given.yes:
        async with reading(house) as tx:
            await _spill(tx, given.reference)
        done = await destruction.destroy_record(house, "command line", given.reference, given.reason, lambda _: None)
        return [*_told(done.going), f"destroyed; the certificate is event record:destroyed of {given.reference}"]
    async with reading(house) as tx:
        kept = await retention.kept_until(tx, await _spill(tx, given.reference))
        still = [f"kept: {destruction.in_words(one)}" for one in kept.still(tx.now)]
        going = await destruction.would_go(tx, kept)
    last = "it cannot be destroyed yet" if still else "nothing was changed; with --yes it is destroyed, and cannot be brought back"
    return [*_told(going), *still, last]


def _told(going: Sequence[Going]) -> list[str]:
    return [f"{one.spill.reference}\t{one.counts[kind]}\t{says}" for one in going for kind, says in KINDS.items() if one.counts[kind]]


async def _spill(tx: Transaction, reference: str) -> Spill:
    try:
        return await tx.spill(reference)
    except NotKnown:
        raise BadInput("there is no such spill", [f"REFERENCE: there is no spill {reference}; right would be: SP-2026-00042"]) from None
