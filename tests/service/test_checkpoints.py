"""Signed checkpoints leave the machine, once each, and a chain that was rewritten as a whole no longer agrees with them."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from service import checkpoints
from service.audit import CHANGED, MISSING, Break
from service.checkpoints import make_due, public_key, read
from service.errors import BadInput
from service.settings import read_settings
from service.tables import Checkpoint, MessageRow
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.service.damage import DAMAGES, Scene, found_in, triggers_off
from tests.service.small_law import small_law
from tests.spills import NOWHERE_NEAR, a_report

AUDITOR = "auditor@county.example"


@pytest.fixture
async def audited(tmp_path: Path) -> AsyncIterator[Household]:
    """A household whose checkpoints go by mail and into a file elsewhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    to = f"{AUDITOR}, {elsewhere / 'checkpoints.jsonl'}"
    async with a_household(tmp_path, law=small_law(), checkpoint_to=to) as household:
        await household.report(a_report(location=NOWHERE_NEAR))
        await household.work()  # that somebody was told is recorded, too
        yield household


def kept(home: Household) -> Path:
    return Path(home.house.settings.checkpoints_go_to[1][1])


async def sent(home: Household) -> list[dict[str, Any]]:
    await home.work()
    return [line for line in home.outbox() if line["to"] == AUDITOR]


async def test_a_checkpoint_goes_out_once_and_the_next_when_the_hours_are_over_and_the_record_has_grown(audited: Household) -> None:
    assert [made and made.number for made in (await make_due(audited.house), await make_due(audited.house))] == [1, None]
    [mail] = await sent(audited)
    assert mail["subject"] == "Checkpoint 1 of the record of https://spills.example.gov"
    audited.clock.jump(hours=25)
    assert await make_due(audited.house) is None, "nothing was recorded since"
    await audited.report(a_report())
    audited.clock.jump(hours=1)
    made = await make_due(audited.house)
    assert made is not None
    assert (made.number, made.at) == (2, audited.clock.at)
    await audited.report(a_report())
    audited.clock.jump(hours=23)
    assert await make_due(audited.house) is None, "its hours are not over"
    assert [line["key"] for line in await sent(audited)] == [line["key"] for line in await sent(audited)]
    assert len(await sent(audited)) == 2
    assert [one.number for one in read(kept(audited).read_text())] == [1, 2]


async def test_a_checkpoint_is_signed_for_anybody_who_has_the_public_key(audited: Household) -> None:
    await make_due(audited.house)
    [in_file], [in_mail] = read(kept(audited).read_text()), read((await sent(audited))[0]["text"])
    assert in_file == in_mail
    assert (in_file.key, in_file.is_genuine, in_file.number, in_file.at) == (public_key(audited.house), True, 1, audited.clock.at)
    line = kept(audited).read_text().strip()
    [forged] = read(line.replace('\\"number\\":1', '\\"number\\":2', 1))
    assert not forged.is_genuine
    letter = EmailMessage()
    letter["Subject"] = "Checkpoint"
    letter.set_content(f"Words.\n\n{line}\n", cte="quoted-printable")
    assert read(letter.as_string()) == [in_file]
    assert read(line[:200]) == []
    assert read("") == []


async def test_a_file_gets_what_it_lacks_and_nothing_twice(audited: Household) -> None:
    await make_due(audited.house)
    path = kept(audited)
    whole = path.read_text()
    path.write_text(whole[:100])  # a crash cut the line off
    await make_due(audited.house)
    await make_due(audited.house)
    assert path.read_text() == f"{whole[:100]}\n{whole}"
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="checkpoints"):
        await make_due(audited.house)
    assert any("cannot be read" in line and line.startswith("WRONG") for line in await checkpoints.findings(audited.house))
    path.rmdir()
    await make_due(audited.house)
    assert path.read_text() == whole


async def test_nothing_is_made_until_the_settings_say_where_it_goes(small: Household) -> None:
    await small.report(a_report())
    assert await make_due(small.house) is None
    [line] = await checkpoints.findings(small.house)
    assert line.startswith("note   no checkpoint of the record leaves this machine")
    async with reading(small.house) as tx:
        assert (await tx.session.execute(select(Checkpoint))).scalars().all() == []


async def test_doctor_says_where_checkpoints_go_and_which_did_not_arrive(audited: Household) -> None:
    assert (await checkpoints.findings(audited.house))[-1].endswith(f"none was made yet; their key is {public_key(audited.house)}")
    await make_due(audited.house)
    await audited.work()
    [line] = await checkpoints.findings(audited.house)
    assert line.startswith(f"ok     checkpoints of the record, every 24 hours while a worker runs, to {AUDITOR}, ")
    assert "the last is number 1 of 2026-12-01 22:05 UTC" in line
    async with transaction(audited.house, "test") as tx:
        for row in (await tx.session.execute(select(MessageRow))).scalars():
            if row.step == "checkpoint":
                row.state = "gave_up"
    kept(audited).unlink()
    wrong = [line for line in await checkpoints.findings(audited.house) if line.startswith("WRONG")]
    assert [line.split(";")[0] for line in wrong] == [
        f"WRONG  the checkpoint of 2026-12-01 22:05 UTC did not get to {AUDITOR}",
        f"WRONG  checkpoint 1 is not in {kept(audited)}",
    ]


async def test_a_chain_rewritten_to_its_end_verifies_but_not_against_a_checkpoint(audited: Household) -> None:
    await audited.report(a_report())
    await make_due(audited.house)
    [checkpoint] = read(kept(audited).read_text())
    wanted = dict(checkpoint.ends)
    chain = "no city"
    async with triggers_off(audited.house) as connection:
        whole = await found_in(audited.house, connection, wanted)
        assert {one.broken for one in whole.values()} == {None}
        last = whole[chain].number
        scene = Scene(connection, random.Random(1), chain, last)
        await DAMAGES["an_event_is_changed_and_hashed_anew"](scene, 2)
        for number in range(3, last + 1):
            await scene.hash_anew(number, previous=(await scene.row(number - 1))["hash"])
        rewritten = (await scene.row(last))["hash"]
        await scene.run("UPDATE chain SET hash = :hash WHERE name = :chain", hash=rewritten, chain=chain)
        assert {one.broken for one in (await found_in(audited.house, connection)).values()} == {None}
        broken = (await found_in(audited.house, connection, wanted))[chain].broken
        assert isinstance(broken, Break)
        assert (broken.number, broken.wrong) == (last, CHANGED)
        # Nor does one that was shortened, end and all.
        for table in ("chain_record WHERE chain = 'no city' AND number > 2", "event WHERE id NOT IN (SELECT event_id FROM chain_record)"):
            await connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - one of the two above
        await scene.run("UPDATE chain SET hash = :hash, number = 2 WHERE name = :chain", hash=(await scene.row(2))["hash"], chain=chain)
        assert {one.broken for one in (await found_in(audited.house, connection)).values()} == {None}
        broken = (await found_in(audited.house, connection, wanted))[chain].broken
        assert isinstance(broken, Break)
        assert (broken.number, broken.wrong) == (3, MISSING)


async def test_an_empty_record_has_no_checkpoint(small: Household) -> None:
    async with transaction(small.house, "test") as tx:
        assert await checkpoints.make(tx) is None
    await small.report(a_report())
    async with transaction(small.house, "test") as tx:
        made = await checkpoints.make(tx)
    assert made is not None
    said = json.loads(json.loads(made.signed)["checkpoint"])
    assert (said["number"], said["previous"], said["spillclock"]) == (1, "0" * 64, "https://spills.example.gov")


@pytest.mark.parametrize("value", ["nowhere", "auditor@county.example, elsewhere.jsonl", "ftp://county.example"])
def test_a_place_that_no_checkpoint_can_go_to_stops_the_start(tmp_path: Path, value: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_settings(home_dir=tmp_path, checkpoint_to=value)
    assert refused.value.faults[0].startswith("SPILLCLOCK_CHECKPOINT_TO: ")
    assert "is no place that a checkpoint can go to" in refused.value.faults[0]
