"""A household on each of the two databases, in one test session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from notifiers import Channel, FileChannel
from service import wiring
from service.parties import example_contacts
from service.worker import Worker
from tests.e2e.database_server import a_server
from tests.houses import Clock, Household, a_house
from tests.service.small_law import small_law
from tests.spills import NOWHERE_NEAR, a_report, gallons


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with a_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
async def home(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Household]:
    """A household on either database, with a spill in Chino and one in no city."""
    given = {"database_url": request.getfixturevalue("server") if request.param == "postgresql" else ""}
    clock = Clock()
    house = a_house(tmp_path, clock, small_law(), **given)
    channels: dict[str, Channel] = {name: FileChannel(house.settings.outbox_path, name) for name in ("email", "sms")}
    household = Household(house, clock, channels, Worker(house, channels, "test worker"))
    try:
        await wiring.migrate(house)
        await household.people(*example_contacts("chino"))
        await household.report(a_report(volume=gallons(800)))
        await household.report(a_report(location=NOWHERE_NEAR, description="by the road"), staff=False)
        yield household
        if not house.settings.is_embedded:
            async with house.engine.begin() as connection:
                await connection.execute(text("DROP SCHEMA public CASCADE"))
                await connection.execute(text("CREATE SCHEMA public"))
    finally:
        await household.close()
