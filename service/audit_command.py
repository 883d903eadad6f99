"""What `spillclock audit` does: verify the record, export it for others to check."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator
from typing import TextIO

from service.audit import Destroyed, Walked, records, walk
from service.errors import BadInput, NotKnown
from service.transaction import House, Transaction, reading


async def verify(house: House, _: argparse.Namespace) -> AsyncIterator[str]:
    """Walk along every chain: a line each, that begins with ok or WRONG, and a note for sealed parts that were destroyed."""
    async with reading(house) as tx:
        many = 0
        async for walked in walk(tx):
            many += walked.number
            for line in _lines(walked):
                yield line
        yield f"       {many} records are as they were"


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
