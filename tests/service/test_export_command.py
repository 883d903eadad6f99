"""Papers and bundles by command: listed, written to a new file, noted in the log."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col

from service import cli
from service.account_tables import StaffAction
from service.transaction import reading
from tests import databases
from tests.houses import a_household
from tests.service.printed import printed
from tests.service.small_law import small_law
from tests.spills import a_report

Run = Callable[..., tuple[int, bytes, str]]
CONTACT = {"name": "Ottoline Quist", "phone": "+19095550199", "privacy": "confidential"}


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """A command line over a folder with one spill: exit code, what it wrote, what it complained of."""
    if databases.ON_POSTGRESQL:
        pytest.skip("the command is the same there")

    async def report() -> None:
        async with a_household(tmp_path, law=small_law()) as home:
            await home.report(a_report(contact=CONTACT))

    asyncio.run(report())
    monkeypatch.setenv("SPILLCLOCK_HOME_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, bytes, str]:
        code = cli.main(list(arguments))
        said = capfdbinary.readouterr()
        return code, said.out, said.err.decode()

    return run


def test_papers_are_listed_and_written_to_new_files(commands: Run, tmp_path: Path) -> None:
    code, listed, _ = commands("export", "SP-2026-00001")
    assert code == 0
    assert {"export-ciwqs", "export-epa", "evidence"} <= {line.split("\t")[0] for line in listed.decode().splitlines()}
    code, said, _ = commands("export", "SP-2026-00001", "export-epa", "--as", "csv")
    assert (code, said.decode().split(":")[0]) == (0, "SP-2026-00001-export-epa-en.csv")
    assert (tmp_path / "SP-2026-00001-export-epa-en.csv").stat().st_mode & 0o777 == 0o600
    code, _, complaint = commands("export", "SP-2026-00001", "export-epa", "--as", "csv")
    assert (code, "File exists" in complaint) == (1, True)
    code, pdf, _ = commands("export", "SP-2026-00001", "export-ciwqs", "--language", "es", "--out", "-")
    assert (code, printed(pdf).language) == (0, "es")


def test_a_bundle_is_written_whole_or_without_the_reporter_and_noted(commands: Run, tmp_path: Path) -> None:
    for options, identity in (((), "whole"), (("--without-reporter",), "withheld")):
        code, said, _ = commands("export", "SP-2026-00001", "evidence", *options)
        name = f"SP-2026-00001-evidence-{identity}.zip"
        assert (code, said.decode().splitlines()[0].startswith(name)) == (0, True)
        with zipfile.ZipFile(io.BytesIO((tmp_path / name).read_bytes())) as archive:
            events = archive.read("SP-2026-00001/events.jsonl").decode()
        assert ("Ottoline Quist" in events) == (identity == "whole")

    async def noted() -> list[tuple[str, str]]:
        async with a_household(tmp_path, law=small_law()) as home, reading(home.house) as tx:
            rows = (await tx.session.execute(select(StaffAction).where(col(StaffAction.kind) == "evidence:taken"))).scalars()
            return [(row.actor, row.said["identity"]) for row in rows]

    assert asyncio.run(noted()) == [("command line", "whole"), ("command line", "withheld")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("SP-2026-00009", "evidence"), "there is no spill SP-2026-00009"), (("SP-2026-00001", "nonsense"), "this spill has no such paper"),
        (("SP-2026-00001", "export-epa", "--as", "xls"), "as: 'xls' is no form of a paper"), (("SP-2026-00009",), "there is no spill"),
    ],
)  # fmt: skip
def test_what_cannot_be_exported_is_named(commands: Run, arguments: tuple[str, ...], says: str) -> None:
    code, _, complaint = commands("export", *arguments)
    assert code == 2
    assert says in complaint
