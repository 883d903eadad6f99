"""What a report costs: `.venv/bin/python -m tests.benchmarks.bench_intake [REPORTS]` (default 300), on SQLite.

Prints the processor time of taking one report in and putting it to the law, and of the worker's round that follows, in milliseconds: the
median of batches of 20. SPILLCLOCK_TESTS_DATABASE=postgresql measures this process on a server. A measure to compare by; no test.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

from tests.houses import a_household
from tests.spills import a_report

BATCH = 20


async def main() -> None:
    """Measure and print."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    taking_in: list[float] = []
    working: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with a_household(Path(folder)) as home:
            for _ in range(2):  # imports, caches
                await home.report(a_report(), staff=False)
            await home.work()
            for _ in range(many // BATCH):
                start = process_time()
                for _ in range(BATCH):
                    await home.report(a_report(), staff=False)
                told = process_time()
                await home.work()
                taking_in.append((told - start) / BATCH * 1000)
                working.append((process_time() - told) / BATCH * 1000)
                home.clock.jump(minutes=5)
    sys.stdout.write(
        f"{many} reports: intake {median(taking_in):.2f} ms (least {min(taking_in):.2f}),"
        f" worker {median(working):.2f} ms (least {min(working):.2f}) of processor time each\n"
    )


if __name__ == "__main__":
    asyncio.run(main())
