"""Imports only fall: the contracts of pyproject.toml hold, and each of them breaks when it should."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LINT_IMPORTS, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
PACKAGES, PURE, SERVICE = (contract["name"] for contract in CONTRACTS)


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """An empty module for every name in the contracts, under the contracts of this project."""
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for package in ("service", "deadlines", "notifiers"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for layer in CONTRACTS[2]["layers"]:
        for name in layer.split("|"):
            (tmp_path / "service" / f"{name.strip(' ()')}.py").touch()
    return tmp_path


def test_the_import_contracts_of_this_project_hold() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_an_empty_skeleton_keeps_every_contract(skeleton: Path) -> None:
    assert lint_imports(skeleton).returncode == 0


@pytest.mark.parametrize(
    ("importer", "line", "broken"),
    [
        ("deadlines/__init__.py", "import notifiers", PACKAGES),
        ("notifiers/__init__.py", "import deadlines", PACKAGES),
        ("notifiers/__init__.py", "from service import outbox", PACKAGES),
        ("deadlines/__init__.py", "import socket", PURE),
        ("deadlines/__init__.py", "from pathlib import Path", PURE),
        ("service/outbox.py", "from service import worker", SERVICE),
        ("service/pages.py", "from service.api import router", SERVICE),
        ("service/clock.py", "import service.settings", SERVICE),
        ("service/unplaced.py", "", SERVICE),
    ],
)
def test_an_import_that_climbs_or_a_file_without_a_place_breaks_its_contract(skeleton: Path, importer: str, line: str, broken: str) -> None:
    (skeleton / importer).write_text(line + "\n")
    result = lint_imports(skeleton)
    assert result.returncode == 1
    assert f"{broken} BROKEN" in " ".join(result.stdout.split())
