"""procrastinate, for bench_firing: DATABASE-URL JOBS. Run by a Python that has it. Prints jobs a second."""

from __future__ import annotations

import asyncio
import sys
from time import perf_counter

import procrastinate  # type: ignore[import-not-found]


async def main() -> None:
    """Defer so many jobs that do nothing, and let one worker do them, eight at once."""
    url, many = sys.argv[1], int(sys.argv[2])
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))

    @app.task(name="nothing")  # type: ignore[untyped-decorator]
    async def nothing(number: int) -> None:
        pass

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await nothing.batch_defer_async(*({"number": number} for number in range(many)))
        start = perf_counter()
        await app.run_worker_async(wait=False, concurrency=8, install_signal_handlers=False, listen_notify=False)
        sys.stdout.write(f"{many / (perf_counter() - start)}\n")


if __name__ == "__main__":
    asyncio.run(main())
