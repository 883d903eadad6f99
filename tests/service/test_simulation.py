"""A made-up history is one that the service itself could have stored: chains verify, pages answer, nothing waits to be sent."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlmodel import col

from service import simulate_command, simulation
from service.audit import walk
from service.errors import BadInput
from service.settings import Settings
from service.simulation import read_history
from service.tables import MessageRow
from service.transaction import reading
from tests.houses import a_household


def test_the_shipped_history_is_one_of_shares_and_tenths() -> None:
    told = read_history().told
    assert sum(kind["share"] for kind in told["kinds"]) == 100
    assert len(told["hours"]) == 24
    assert {len(kind["gallons"]) for kind in told["kinds"]} == {10} == {len(told["minutes_to_notice"])}
    assert all(kind["gallons"] == sorted(kind["gallons"]) for kind in told["kinds"])


def test_a_state_of_482_cities_gets_some_fifteen_thousand_reports_a_year_and_most_cities_few() -> None:
    history = read_history()
    reports = [history.reports(482, 5, random.Random(seed)) for seed in range(30)]
    assert 60_000 < sum(reports) / len(reports) < 90_000
    alone = sorted(history.reports(1, 100, random.Random(seed)) for seed in range(200))
    assert alone[100] < 0.75 * 3100, "half of the cities get less than three quarters of the mean"


@pytest.mark.timeout(300)
async def test_a_history_verifies_answers_and_leaves_nothing_to_send(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    async with a_household(tmp_path / "home", cities="chino,chico", people=()) as home:
        counted = [many async for many in simulation.fill(home.house, 4, 1)]
        many = counted[-1]
        assert many >= 30
        async with reading(home.house) as tx:
            walked = [one async for one in walk(tx)]
            references = (await tx.session.execute(text("SELECT reference FROM spill ORDER BY id"))).scalars().all()
            due = (col(MessageRow.state).in_(("waiting", "sending")), col(MessageRow.next_at) <= tx.now)
            waiting = await tx.session.scalar(select(func.count()).select_from(MessageRow).where(*due))
        assert not [one.broken for one in walked if one.broken]
        assert sum(one.number for one in walked) > many * 10
        assert len(references) == len(set(references)) == many
        assert not waiting
        client = home.client(await home.token("administrator"))
        for reference in (references[0], references[-1]):
            assert (await client.get(f"/api/v1/spills/{reference}")).status_code == 200
            assert (await client.get(f"/api/v1/spills/{reference}/clocks")).status_code == 200
        fresh = await home.report({"description": "after it", "material": "sewage"})
        assert fresh not in references
        lines = await simulate_command.cost(home.house)
        assert f"{many + 1} rows" in "\n".join(lines)
        with pytest.raises(BadInput, match="nothing is made up"):
            await anext(simulation.fill(home.house, 4, 1))


async def test_a_history_is_not_made_up_where_messages_would_leave_the_machine(tmp_path: Path) -> None:
    settings = Settings(home_dir=tmp_path, smtp_url="smtp://127.0.0.1:9", mail_from="a@city.example")
    with pytest.raises(BadInput, match="leave this machine"):
        await anext(simulate_command.simulate(settings, argparse.Namespace(cities=4, years=1, seed=1)))
