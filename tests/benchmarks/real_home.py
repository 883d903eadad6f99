"""A household as it is in service, to measure: the real clock, a database that waits for the disk, channels that do nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from notifiers import Message, Outcome, Receipt
from service.clock import real_now
from service.transaction import open_engine
from service.worker import Worker
from tests.houses import Household, a_house


class Nowhere:
    """A channel that takes everything and does nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def problem_with(self, address: str) -> str | None:
        """No address is wrong."""
        return None

    async def send(self, message: Message) -> Receipt:
        """Accepted at once."""
        return Receipt(Outcome.ACCEPTED, message.key)

    async def problem_now(self) -> str | None:
        """Nothing hinders it."""
        return None


def a_home(folder: Path, url: str = "") -> Household:
    """A household in `folder`, on the database at `url` where one is given; its tables are not made yet."""
    house = a_house(folder, real_now, database_url=url)  # type: ignore[arg-type]
    house = replace(house, engine=open_engine(house.settings))  # the engine of the tests does not wait for the disk
    channels: dict[str, Any] = {name: Nowhere(name) for name in ("email", "sms")}
    worker = Worker(house, channels, f"worker {os.getpid()}")
    return Household(house, real_now, channels, worker)  # type: ignore[arg-type]
