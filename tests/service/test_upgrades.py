"""Tables newer than the release: it goes on where they were only added to, and says what is wrong where they were not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from sqlalchemy import text

from service import wiring
from service.wiring import FITS_CODE_FROM, TablesTooNew, known_revisions
from tests.houses import Household

VERSIONS = Path(wiring.__file__).parent / "migrations" / "versions"
TAKES_AWAY = ("drop_table", "drop_column", "alter_column", "rename_table", "drop_constraint")


async def move(home: Household, revision: str, fits_from: str | None) -> None:
    async with home.house.engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
        await connection.execute(text("DELETE FROM meta WHERE key = 'the tables fit releases from'"))
        if fits_from is not None:
            await connection.execute(text("INSERT INTO meta VALUES ('the tables fit releases from', :given)"), {"given": fits_from})


async def test_a_release_goes_on_with_newer_tables_that_were_only_added_to(small: Household, caplog: pytest.LogCaptureFixture) -> None:
    await move(small, "9999", known_revisions()[-1])
    await wiring.migrate(small.house)
    assert "9999" in caplog.text


@pytest.mark.parametrize("fits_from", ["9998", None])
async def test_a_release_refuses_tables_of_which_something_was_taken_away(small: Household, fits_from: str | None) -> None:
    await move(small, "9999", fits_from)
    with pytest.raises(TablesTooNew, match="right would be"):
        await wiring.migrate(small.house)


def test_migrations_since_the_oldest_release_that_fits_only_add() -> None:
    assert FITS_CODE_FROM in known_revisions()
    for path in sorted(VERSIONS.glob("[0-9]*.py")):
        if path.stem.partition("_")[0] > FITS_CODE_FROM:
            [upgrade] = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef) and node.name == "upgrade"]
            called = {node.attr for node in ast.walk(upgrade) if isinstance(node, ast.Attribute)}
            assert not called & set(TAKES_AWAY), (
                f"{path.name} takes something away: raise FITS_CODE_FROM, and read docs/operate.md, Upgrading"
            )
