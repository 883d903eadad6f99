"""A process that adds to the record of two cities until it is ended: `python -m tests.service.appending FOLDER URL SEED`.

Each transaction records in both cities, in an order of its own; after each commit a line goes out.
"""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

from sqlalchemy import select
from sqlmodel import col

from service.events import CopyAsked
from service.tables import Spill
from service.transaction import transaction
from tests.houses import Clock, a_house
from tests.service.small_law import small_law


async def main() -> None:
    """Add until ended."""
    folder, url, seed = sys.argv[1:]
    house, chance = a_house(Path(folder), Clock(), small_law(), database_url=url), random.Random(seed)
    while True:
        async with transaction(house, f"process {seed}") as tx:
            spills = list((await tx.session.execute(select(Spill).order_by(col(Spill.id)))).scalars())
            chance.shuffle(spills)
            for spill in spills:
                await tx.record_all([(spill, CopyAsked(language=seed))] * chance.randint(1, 2))
                await tx.record(spill, CopyAsked(language=seed))
        sys.stdout.write("committed\n")
        sys.stdout.flush()


asyncio.run(main())
