"""What `spillclock export` does: a paper of a spill, or its evidence bundle, into a file. It is noted in the log as any taking is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from service.access import Staff
from service.case_file.bundle import WHOLE, WITHHELD, take_bundle
from service.case_file.papers_of import papers_of
from service.case_file.record import read_record
from service.case_file.taking import take
from service.errors import BadInput, NotKnown
from service.pages.speech import ENGLISH
from service.transaction import House, reading

EVIDENCE = "evidence"
# Whoever has a shell on the machine has the database, too.
_OPERATOR = Staff("command line", "administrator", None)


async def export(house: House, given: argparse.Namespace) -> list[str]:
    """Write what was asked for and say so in lines; without a paper, list those there are. Raises BadInput."""
    try:
        if given.paper is None:
            return await _listed(house, given.reference)
        if given.paper == EVIDENCE:
            bundle = await take_bundle(house, _OPERATOR, given.reference, WITHHELD if given.without_reporter else WHOLE)
            path = _written(given.out or bundle.name, bundle.zipped())
            return [f"{path}: {len(bundle.members) + 1} files", f"SHA-256 of its manifest: {bundle.checksum}"] if path else []
        taken = await take(house, _OPERATOR, given.reference, given.paper, given.form, given.language)
        path = _written(given.out or taken.name, [taken.content])
        return [f"{path}: {len(taken.content)} bytes"] if path else []
    except NotKnown as error:
        raise BadInput("nothing can be exported", [f"{error}; right would be: one that `spillclock export REFERENCE` lists"]) from None


async def _listed(house: House, reference: str) -> list[str]:
    async with reading(house) as tx:
        record = await read_record(tx, await tx.spill(reference))
    found = [f"{paper.id}\t{paper.title}\t{len(paper.missing)} not known" for paper in papers_of(record, ENGLISH)]
    return [*found, f"{EVIDENCE}\tEvidence bundle\tzip"]


def _written(name: str, pieces: Iterable[bytes]) -> Path | None:
    """Write to a new file that nobody else may read, or for `-` to standard output; the file. Raises OSError where there is one already."""
    if name == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return None
    path = Path(name)
    path.touch(mode=0o600, exist_ok=False)
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
    return path
