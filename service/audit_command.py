"""What `spillclock audit` does: verify the record, export it for others to check."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TextIO

from service import checkpoints
from service.audit import Destroyed, Walked, missing_triggers, records, walk
from service.errors import BadInput, NotKnown
from service.transaction import House, Transaction, reading, transaction


async def verify(house: House, given: argparse.Namespace) -> AsyncIterator[str]:
    """Walk along every chain: a line each, that begins with ok or WRONG, and a note for sealed parts that were destroyed.

    With `given.checkpoint` each chain is also held against the checkpoints in that file. Raises BadInput where there are none in it.
    """
    wanted: dict[tuple[str, int], str] = {}
    for kept in _kept(given.checkpoint) if given.checkpoint else []:
        yield (line := _of_checkpoint(kept, given.key or checkpoints.public_key(house), wanted))
        if not line.startswith("WRONG"):
            wanted.update(kept.ends)
    async with reading(house) as tx:
        for name in await missing_triggers(tx):
            yield f"WARN   the trigger {name} is gone, by which the database refuses changes: whoever may send it SQL can make them"
        many = 0
        async for walked in walk(tx, wanted):
            many += walked.number
            for line in _lines(walked):
                yield line
        yield f"       {many} records are as they were"


def _kept(path: str) -> list[checkpoints.Signed]:
    try:
        found = checkpoints.read(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        found = []
    if not found:
        right = 'a file with lines that begin with {"checkpoint", or a mail with one as it was saved'
        raise BadInput("there is no checkpoint", [f"--checkpoint: none stands in {path}; right would be: {right}"])
    return found


def _of_checkpoint(kept: checkpoints.Signed, key: str, before: Mapping[tuple[str, int], str]) -> str:
    name = f"checkpoint {kept.number} of {kept.at:%Y-%m-%d %H:%M} UTC"
    if not kept.is_genuine:
        return f"WRONG  {name}: its signature is not that of what it says; it was changed, or never ours"
    if kept.key.lower() != key.lower():
        return f"WRONG  {name}: it is signed by the key {kept.key}, and not by {key}; where the secret key was changed since, give --key"
    if any(before.get(place, hash_) != hash_ for place, hash_ in kept.ends.items()):
        return f"WRONG  {name}: it contradicts a checkpoint before it"
    return f"ok     {name}: signed by {key}"


async def checkpoint(house: House) -> str:
    """Make a checkpoint at once, and return its line; the last one where no chain has grown since. Raises BadInput for an empty record."""
    async with transaction(house, "command line") as tx:
        made = await checkpoints.make(tx)
        last = made or await checkpoints.latest(tx)
    if last is None:
        raise BadInput("there is nothing to make a checkpoint of", ["the record is empty; right would be: a report first"])
    await checkpoints.write_files(house)
    return last.signed


def _lines(walked: Walked) -> list[str]:
    lines = [_told(walked.chain, one) for one in walked.destroyed]
    if walked.broken is None:
        return [*lines, f"ok     {walked.chain}: {walked.number} records, the last with the hash {walked.hash}"]
    before = f"; up to number {walked.number} the chain is as it was" if walked.number else ""
    return [*lines, f"WRONG  {walked.broken}{before}"]


def _told(chain: str, one: Destroyed) -> str:
    parts = f"{one.how_many} sealed part{'' if one.how_many == 1 else 's'}"
    line = f"note   {chain}: {parts} destroyed on {one.at:%Y-%m-%d} by {one.actor} ({one.basis}), as event {one.event} says"
    return f"WARN   {line[7:]}; {one.still_there} of them are there all the same: destroy them again" if one.still_there else line


async def export(house: House, given: argparse.Namespace, into: TextIO) -> None:
    """Write every record as one JSON object a line, as docs/proof.md has it. Raises BadInput for a spill that is not there."""
    async with reading(house) as tx:
        if given.spill is not None:
            await _check(tx, given.spill)
        async for one in records(tx, of_spill=given.spill, with_sealed=given.sealed):
            into.write(json.dumps(one, ensure_ascii=False) + "\n")


async def _check(tx: Transaction, reference: str) -> None:
    try:
        await tx.spill(reference)
    except NotKnown:
        raise BadInput("nothing can be exported", [f"--spill: there is no spill {reference}; right would be: SP-2026-00042"]) from None
