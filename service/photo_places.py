"""A photo may say where a spill is: where its sender let that be used, and nothing else gives a point yet."""

from __future__ import annotations

from service.events import FileKept
from service.relocation import Move, move_pin
from service.transaction import Recorded, Transaction

_REASON = "where a photo of it was taken, as its sender allowed"


async def take_place(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a photo that shares its place: the pin of a spill without one goes there.

    The law that runs is not changed by a photo. Where the photo was taken in another city than the one on record, a person is asked.
    """
    event, spill = recorded.event, recorded.spill
    if not isinstance(event, FileKept) or event.place is None or spill.lat is not None or not spill.facts:
        return
    lat, lon = event.place["lat"], event.place["lon"]
    found = tx.house.places.locate(lat, lon).city
    if spill.city is None or found == spill.city:
        await move_pin(tx, spill, Move(lat=lat, lon=lon, reason=_REASON))
        return
    flag = f"location: a photo was taken at {lat}, {lon}, in {found or 'no city served here'}, not in {spill.city}; a person should say"
    if flag not in spill.flags:
        spill.flags = [*spill.flags, flag]
