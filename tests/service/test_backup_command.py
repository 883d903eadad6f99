"""`spillclock backup` and `restore` on the embedded database, in short; test_backups.py has both databases and every refusal."""

from __future__ import annotations

import argparse
from datetime import timedelta
from pathlib import Path

import pytest

from service import backup_command, backups
from service.errors import BadInput
from service.restoring import Wanted, restore
from tests.houses import Household
from tests.spills import a_report, gallons


async def test_a_backup_comes_back_and_what_may_have_gone_out_is_marked(small: Household, tmp_path: Path) -> None:
    await small.report(a_report(volume=gallons(1500)))
    made = await backups.make(small.house, tmp_path / "backup")  # messages are promised in it, and none was sent
    await small.work()
    first = {line["key"] for line in small.outbox()}
    lost = await small.report(a_report(volume=gallons(1200)))
    await small.house.engine.dispose()
    lines = [line async for line in restore(small.house, made.folder, Wanted(replaces=True))]
    assert not [line for line in lines if line.startswith("WRONG")], lines
    assert [line for line in lines if line.startswith("ok ")]
    await small.work()
    again = [attempt for attempt in await small.attempts() if attempt.outcome == "accepted"]
    assert {attempt.message_id for attempt in again} == first  # under the same keys, so that a mailbox shows one
    assert all(attempt.may_be_double for attempt in again)
    assert await small.report(a_report()) not in (lost, "SP-2026-00002")


async def test_the_operator_is_asked_what_becomes_of_what_may_have_gone_out(small: Household, tmp_path: Path) -> None:
    made = await backups.make(small.house, tmp_path / "backup")
    given = argparse.Namespace(source=str(made.folder), replace=True, messages=None, stopped_at=None)
    with pytest.raises(BadInput) as asked:
        backup_command.put_back(small.house.settings, given)
    assert [fault.partition(" ")[0] for fault in asked.value.faults] == ["--messages:", "--messages", "--messages"]
    given.messages = "leave"
    with pytest.raises(BadInput, match="nothing was changed"):
        backup_command.put_back(small.house.settings, given)
    given.stopped_at = (made.at - timedelta(hours=1)).isoformat()
    with pytest.raises(BadInput, match="nothing was changed"):
        backup_command.put_back(small.house.settings, given)
