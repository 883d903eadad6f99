"""`spillclock audit`: what it prints, how it exits, and that a stranger can check what it exports by a script of half a page."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service import cli, papers
from service.destroying import RETENTION, destroy_sealed
from service.events import FactsRecorded
from service.transaction import transaction
from tests.houses import a_household
from tests.service.small_law import small_law
from tests.spills import NOWHERE_NEAR, a_report

CHECKER = Path(papers.__file__).with_name("check_chain.py")


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command over a record of two chains of which something was destroyed: returns exit code and the lines printed."""

    async def live() -> None:
        async with a_household(tmp_path, law=small_law(), database_url="", secret_key="") as home:
            reference = await home.report(a_report(description="Quillon did it – “quickly”"))
            await home.report(a_report(location=NOWHERE_NEAR), staff=False)
            await home.work()
            await home.amend(reference, "a neighbour said so", threat=True)
            numbers = [row.id or 0 for row, event in await home.history(reference) if isinstance(event, FactsRecorded)]
            async with transaction(home.house, "clerk@chino.example") as tx:
                await destroy_sealed(tx, await tx.spill(reference), numbers[-1:], RETENTION, "its time was over")

    asyncio.run(live())
    monkeypatch.setenv("SPILLCLOCK_HOME_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, list[str]]:
        code = cli.main(["audit", *arguments])
        said = capsys.readouterr()
        return code, (said.out + said.err).splitlines()

    return run


def by_hand(folder: Path, *statements: str) -> None:
    """Change the database with the triggers off."""
    with closing(sqlite3.connect(folder / "spillclock.db", isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        for statement in statements:
            connection.execute(statement)


def checked(path: Path) -> subprocess.CompletedProcess[str]:
    """What the stand-alone script says of an exported record."""
    return subprocess.run([sys.executable, "-I", CHECKER, path], capture_output=True, text=True, check=False, cwd=path.parent)


def test_a_whole_record_is_said_to_be_so_with_what_was_destroyed(audit: Any) -> None:
    code, lines = audit("verify")
    assert code == 0
    assert [line.split(",")[0].rpartition(": ")[0] for line in lines[:-1]] == ["note   chino", "ok     chino", "ok     no city"]
    assert "1 sealed part destroyed on 2026-12-01 by clerk@chino.example (retention), as event " in lines[0]
    assert lines[-1].endswith("records are as they were")


def test_the_first_broken_record_is_named_and_the_command_fails(audit: Any, tmp_path: Path) -> None:
    by_hand(tmp_path, "UPDATE event SET actor = 'nobody' WHERE id = 1", "DELETE FROM event WHERE id = 2")
    code, lines = audit("verify")
    assert code == 1
    assert "WRONG  no city: record 1, event 1: changed: its hash is not that of what it says" in lines
    assert any(line.startswith("ok     chino") for line in lines)


def test_a_sealed_part_that_is_gone_without_an_event_is_a_break(audit: Any, tmp_path: Path) -> None:
    by_hand(tmp_path, "UPDATE event SET sealed = NULL, salt = NULL WHERE id = 1")
    code, lines = audit("verify")
    assert code == 1
    assert "WRONG  no city: record 1, event 1: changed: its sealed part is gone, and no event says that it was destroyed" in lines


def test_a_stranger_checks_an_export_by_a_script_of_twenty_lines(audit: Any, tmp_path: Path) -> None:
    assert len(CHECKER.read_text().splitlines()) <= 20
    for number, options in enumerate(((), ("--sealed",), ("--spill", "SP-2026-00001"), ("--spill", "SP-2026-00002", "--sealed"))):
        code, lines = audit("export", *options)
        assert code == 0
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines))
        answer = checked(path)
        assert (answer.returncode, answer.stderr) == (0, "")
        ends = {line.split(":")[0]: line.rpartition(" ")[2] for line in audit("verify")[1] if line.startswith("ok")}
        said = {f"ok     {line.split(':')[0]}": line.rpartition(" ")[2] for line in answer.stdout.splitlines()}
        assert said == ends
        whole = path.read_text()
        assert ("Quillon" in whole) == (number == 1), "names leave only where they are asked for"
        assert "neighbour" not in whole


def test_the_script_finds_what_was_changed_in_an_export(audit: Any, tmp_path: Path) -> None:
    _, lines = audit("export", "--sealed")
    path = tmp_path / "export.jsonl"
    records = [json.loads(line) for line in lines]
    place = next(number for number, one in enumerate(records) if "sealed" in one)
    changes = {
        "text": records[place] | {"record": records[place]["record"].replace("2026", "2025")},
        "sealed": records[place] | {"sealed": records[place]["sealed"].replace("a", "b")},
        "hash": records[place] | {"hash": "f" * 64},
        "number": records[place] | {"number": 99},
    }
    for change in changes.values():
        path.write_text("".join(f"{json.dumps(one)}\n" for one in [*records[:place], change, *records[place + 1 :]]))
        answer = checked(path)
        assert answer.returncode == 1
        assert answer.stderr.startswith(f"BROKEN: {records[place]['chain']}, record ")
    path.write_text("".join(f"{json.dumps(one)}\n" for one in [*records[:place], *records[place + 1 :]]))
    assert checked(path).returncode == 1


def test_an_unknown_spill_cannot_be_exported(audit: Any) -> None:
    assert audit("export", "--spill", "SP-2026-99999") == (
        2, ["spillclock: --spill: there is no spill SP-2026-99999; right would be: SP-2026-00042"],
    )  # fmt: skip


def test_a_record_is_held_against_a_checkpoint_that_was_kept(audit: Any, tmp_path: Path) -> None:
    code, [line] = audit("checkpoint")
    assert code == 0
    assert audit("checkpoint") == (0, [line]), "nothing was recorded since"
    kept = tmp_path / "kept.txt"
    kept.write_text(f"Subject: Checkpoint\n\nsome words\n{line}\n")
    _, [key] = audit("key")
    code, lines = audit("verify", "--checkpoint", str(kept))
    assert (code, lines[0]) == (0, f"ok     checkpoint 1 of {lines[0][23:39]} UTC: signed by {key}")
    code, lines = audit("verify", "--checkpoint", str(kept), "--key", "00" * 32)
    assert code == 1
    assert f"it is signed by the key {key}, and not by {'00' * 32}" in lines[0]
    kept.write_text(line.replace('\\"number\\":1', '\\"number\\":2', 1))
    code, lines = audit("verify", "--checkpoint", str(kept))
    assert code == 1
    assert lines[0].endswith("its signature is not that of what it says; it was changed, or never ours")
    kept.write_text("nothing")
    code, lines = audit("verify", "--checkpoint", str(kept))
    assert code == 2
    assert "none stands in" in lines[0]
    assert audit("verify", "--checkpoint", str(tmp_path / "not there"))[0] == 1
