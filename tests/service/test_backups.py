"""Backups and putting them back, on both databases: all of it, checked, nothing overwritten unasked, nothing sent twice unmarked."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlmodel import col

from service import backups, file_store
from service.account_tables import StaffAction
from service.backups import Damaged
from service.errors import BadInput, Conflict
from service.restoring import Wanted, restore
from service.tables import Attempt, KeptFile, MessageRow
from service.transaction import House, open_engine, reading, transaction
from tests.houses import Household
from tests.service.both_databases import home as home
from tests.service.both_databases import server as server
from tests.spills import a_report, gallons


async def put_back(home: Household, folder: Path, leave_until: datetime | None = None, *, replaces: bool = True) -> list[str]:
    """Put a backup in the place of what is there, and let the household go on with it."""
    await home.house.engine.dispose()
    lines = [line async for line in restore(home.house, folder, Wanted(replaces, leave_until))]
    return lines


async def everything(house: House) -> dict[str, list[Any]]:
    async with house.engine.connect() as connection:
        tables = await connection.run_sync(backups.tables_in_order)
        rows = {name: await connection.execute(select(text("*")).select_from(text(f'"{name}"'))) for name in tables}
        found = {name: sorted(map(repr, rows[name])) for name in tables}
    return {name: rows for name, rows in found.items() if not name.startswith("spill_words_")}


async def test_what_is_put_back_is_all_that_was_there(home: Household, tmp_path: Path) -> None:
    await home.work()
    home.clock.jump(minutes=1)  # nothing is due
    before = await everything(home.house)
    made = await backups.make(home.house, tmp_path / "backup")
    await home.report(a_report(description="after the backup"))
    lines = await put_back(home, made.folder)
    after = await everything(home.house)
    changed = {name for name in before if before[name] != after[name]}
    # What the operator did stands in the log, beside a mark of where numbers go on.
    assert changed <= {"staff_action", "meta", "heartbeat"}, changed
    assert any(line.startswith("ok ") for line in lines), lines
    assert not [line for line in lines if line.startswith("WRONG")]
    async with reading(home.house) as tx:
        [action] = (await tx.session.execute(select(StaffAction).where(col(StaffAction.kind) == "backup:restored"))).scalars()
    assert action.said["backup_of"] == made.at.isoformat()


async def test_new_spills_get_no_number_that_a_lost_one_had(home: Household, tmp_path: Path) -> None:
    made = await backups.make(home.house, tmp_path / "backup")
    lost = await home.report(a_report(description="after the backup"))
    await put_back(home, made.folder)
    fresh, following = await home.report(a_report()), await home.report(a_report())
    assert (lost, fresh, following) == ("SP-2026-00003", "SP-2026-02000", "SP-2026-02001")


async def test_what_may_have_gone_out_goes_out_once_more_and_is_marked(home: Household, tmp_path: Path) -> None:
    await home.report(a_report(volume=gallons(1500)))
    made = await backups.make(home.house, tmp_path / "backup")  # messages are promised in it, and none was sent
    await home.work()
    first = home.outbox()
    assert first
    home.clock.jump(minutes=3)
    lines = await put_back(home, made.folder)
    [said] = [line for line in lines if "may have gone out" in line]
    assert int(said.partition(" ")[0]) >= len(first)
    await home.work()
    async with reading(home.house) as tx:
        sent = (await tx.session.execute(select(Attempt).where(col(Attempt.outcome) == "accepted"))).scalars().all()
    assert sent
    assert all(one.may_be_double for one in sent)
    # Under the key of the first time: a mailbox shows one where it can.
    keys = {line["key"] for line in first}
    assert {one.message_id for one in sent} & keys


async def test_what_is_left_goes_out_no_more_and_what_was_due_after_the_stop_does(home: Household, tmp_path: Path) -> None:
    await home.report(a_report(volume=gallons(1500)))
    made = await backups.make(home.house, tmp_path / "backup")
    async with reading(home.house) as tx:
        waiting = {row.id for row in (await tx.session.execute(select(MessageRow).where(col(MessageRow.state) == "waiting"))).scalars()}
    await home.work()
    stopped_at = home.clock.at
    seen = len(home.outbox())
    home.clock.jump(hours=3)  # rungs fall due that nobody climbed
    lines = await put_back(home, made.folder, stopped_at)
    assert f"{len(waiting)} are left unsent" in "\n".join(lines)
    await home.work()
    later = home.outbox()[seen:]
    assert later, "what fell due since is told"
    assert not {line["key"] for line in later} & waiting
    async with reading(home.house) as tx:
        rows = (await tx.session.execute(select(MessageRow).where(col(MessageRow.id).in_(waiting)))).scalars().all()
        tries = (await tx.session.execute(select(Attempt).where(col(Attempt.message_id).in_(waiting)))).scalars().all()
    assert {row.state for row in rows} == {"cancelled"}
    assert {one.outcome for one in tries} == {"unknown"}
    assert all("not sent" in one.detail for one in tries)


async def test_what_waited_for_over_a_day_goes_out_all_the_same(home: Household, tmp_path: Path) -> None:
    await home.report(a_report(volume=gallons(1500)))
    made = await backups.make(home.house, tmp_path / "backup")
    home.clock.jump(hours=30)
    await put_back(home, made.folder)
    await home.work()
    assert home.outbox()
    assert not await home.messages(state="gave_up")


async def test_nothing_is_overwritten_unasked_and_what_was_there_is_kept(home: Household, tmp_path: Path) -> None:
    made = await backups.make(home.house, tmp_path / "backup")
    reference = await home.report(a_report(description="after the backup"))
    with pytest.raises(Conflict, match="--replace"):
        await put_back(home, made.folder, replaces=False)
    assert (await home.spill(reference)).reference == reference
    lines = await put_back(home, made.folder)
    [place] = [line for line in lines if "in place" in line]
    kept = place.rpartition(" ")[2]
    if home.house.settings.is_embedded:
        own = home.house.settings.model_copy(update={"database_url": f"sqlite:///{kept}"})
        engine = open_engine(own)
    else:
        engine = open_engine(home.house.settings, schema=kept)
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM spill WHERE reference = :given"), {"given": reference}) == 1
        if not home.house.settings.is_embedded:
            await connection.execute(text(f"DROP SCHEMA {kept} CASCADE"))
            await connection.commit()
    await engine.dispose()


async def test_a_backup_that_was_changed_or_is_newer_is_refused(home: Household, tmp_path: Path) -> None:
    made = await backups.make(home.house, tmp_path / "backup")
    name = max(made.files, key=lambda one: made.files[one][0])
    path, before = made.folder / name, (made.folder / name).read_bytes()
    path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    with pytest.raises(Damaged, match=name.rpartition("/")[2]):
        await put_back(home, made.folder)
    path.unlink()
    with pytest.raises(Damaged, match="missing"):
        await put_back(home, made.folder)
    path.write_bytes(before)
    told = json.loads((made.folder / backups.MANIFEST).read_text())
    (made.folder / backups.MANIFEST).write_text(json.dumps({**told, "schema": "9999"}))
    with pytest.raises(BadInput) as refused:
        await put_back(home, made.folder)
    assert "revision 9999" in refused.value.faults[0]
    (made.folder / backups.MANIFEST).write_text("{}")
    with pytest.raises(BadInput):
        await put_back(home, made.folder)


async def test_the_files_that_people_sent_go_along_and_come_back(home: Household, tmp_path: Path) -> None:
    files = home.house.settings.files_path
    content = b"%PDF-1.4 a paper"
    draft = tmp_path / "paper"
    draft.write_bytes(content)
    digest = backups.digest_of(draft)
    path = file_store.path_of(files, digest)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    async with transaction(home.house, "test") as tx:
        for one in (digest, "0" * 64):
            tx.session.add(
                KeptFile(
                    spill_id=1,
                    purpose="attachment",
                    name="a.pdf",
                    digest=one,
                    media_type="application/pdf",
                    size=9,
                    flags=[],
                    kept_at=tx.now,
                )
            )
    made = await backups.make(home.house, tmp_path / "backup")
    assert made.missing == ["0" * 64]
    path.unlink()
    lines = await put_back(home, made.folder)
    assert path.read_bytes() == content
    assert any("0" * 64 in line for line in lines)


async def test_a_backup_of_the_embedded_database_moves_into_postgresql(small: Household, server: str, tmp_path: Path) -> None:
    await small.report(a_report(description="¿Qué pasó? \\N, a tab\tand a line\nbreak", volume=gallons(800)))
    await small.work()
    await small.amend("SP-2026-00001", "measured", threat=True)
    made = await backups.make(small.house, tmp_path / "backup")
    settings = small.house.settings.model_copy(update={"database_url": server})
    on_server = replace(small.house, settings=settings, engine=open_engine(settings))
    lines = [line async for line in restore(on_server, made.folder, Wanted(replaces=False))]
    assert any(line.startswith("ok     chino: ") for line in lines), lines
    async with reading(on_server) as tx:
        spill = await tx.spill("SP-2026-00001")
        assert spill.description == (await small.spill("SP-2026-00001")).description
        assert spill.received_at == (await small.spill("SP-2026-00001")).received_at
        assert len(await tx.history(spill)) == len(await small.history("SP-2026-00001"))
    async with on_server.engine.begin() as connection:
        await connection.execute(text("DROP SCHEMA public CASCADE"))
        await connection.execute(text("CREATE SCHEMA public"))
    await on_server.engine.dispose()
