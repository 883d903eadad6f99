"""Old and new at once over one step of the tables: the release before the newest migration goes on, as the migrated tables come under it.

The old release is the commit before the one that brought the newest migration, taken from git; it runs by the packages of this one.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from service.wiring import known_revisions
from tests.e2e.database_server import a_server
from tests.e2e.program import CHINO, Spillclock, until

ROOT = Path(__file__).parents[2]
MIGRATIONS = "service/migrations/versions"
_RUNS = "import sys; sys.path.insert(0, sys.argv.pop(1)); import service.cli; sys.exit(service.cli.main())"
REPORT = {"location": CHINO, "material": "sewage", "volume": {"quantity": 1500, "unit": "gal"}}


def git(*arguments: str) -> str:
    told = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    if told.returncode:
        pytest.skip(f"no history of the project here: {told.stderr.strip()}")
    return told.stdout.strip()


def newest_of(commit: str) -> str:
    """The newest revision of the tables that a commit knows."""
    names = git("ls-tree", "--name-only", commit, f"{MIGRATIONS}/").splitlines()
    return max((Path(name).name.partition("_")[0] for name in names if Path(name).name[:1].isdigit()), default="")


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The release before the newest migration, as a folder."""
    wanted = known_revisions()[-2]
    commits = git("log", "--format=%H", "--max-count=80").splitlines()
    commit = next((one for one in commits if newest_of(one) == wanted), None)
    if commit is None:
        pytest.skip(f"no commit of late has {wanted} as its newest migration")
    folder = tmp_path / "before"
    packed = ["git", "-C", str(ROOT), "archive", commit, "service", "deadlines", "notifiers"]
    archive = subprocess.run(packed, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"no history of the project here: {archive.stderr.decode().strip()}")
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


class Release:
    """Processes of one release over one database."""

    def __init__(self, spillclock: Spillclock, code: Path) -> None:
        self.spillclock, self.code = spillclock, code
        self.processes: list[subprocess.Popen[bytes]] = []

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-c", _RUNS, str(self.code), *words]
        given = {"env": self.spillclock.environment, "cwd": self.spillclock.folder}
        return subprocess.run(line, capture_output=True, text=True, timeout=180, check=False, **given)

    def start(self, program: str) -> None:
        line = [sys.executable, "-c", _RUNS, str(self.code), program]
        with self.spillclock.log.open("ab") as log:
            given = {"env": self.spillclock.environment, "cwd": self.spillclock.folder}
            self.processes.append(subprocess.Popen(line, stdout=log, stderr=log, **given))

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            assert process.wait(20) == 0
        self.processes.clear()


def report(spillclock: Spillclock, words: str) -> str:
    with spillclock.client() as client:
        answer = client.post("/api/v1/spills", json={"description": words, **REPORT}, timeout=60)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["reference"])


@pytest.mark.timeout(600)
def test_the_release_before_goes_on_while_the_newest_tables_come_under_it(before: Path, install: Callable[..., Spillclock]) -> None:
    with a_server() as url:
        old = Release(install(database_url=url), before)
        new = Release(install(database_url=url, home_dir=str(old.spillclock.home)), ROOT)
        try:
            assert old.run("migrate").returncode == 0
            for half in ("web", "worker"):
                old.start(half)
            until(lambda: old.spillclock.answers("/readyz"), 120, "the old release is ready")
            references = [report(old.spillclock, "before the tables change")]
            moved = new.run("migrate")  # the first step of an upgrade: the tables, while all old processes run
            assert moved.returncode == 0, moved.stderr
            references.append(report(old.spillclock, "by the old web half over the new tables"))
            for half in ("web", "worker"):
                new.start(half)
            until(lambda: new.spillclock.answers("/readyz"), 120, "the new release is ready")
            references += [report(new.spillclock, "by the new"), report(old.spillclock, "by the old, beside the new")]
            until(lambda: all(sent(old.spillclock, one) for one in references), 60, "every report is told of")
            old.stop()
            references.append(report(new.spillclock, "by the new alone"))
            until(lambda: sent(old.spillclock, references[-1]), 60, "the last report is told of")
            time.sleep(1)
            assert not new.run("audit", "verify").returncode
            lines = [(line["to"], line["spill"], line["duty"], line["step"]) for line in old.spillclock.outbox()]
            assert len(lines) == len(set(lines)), "something was told twice"
            assert "Traceback" not in old.spillclock.log.read_text() + new.spillclock.log.read_text()
        finally:
            for process in (*old.processes, *new.processes):
                process.kill()
                process.wait()


def sent(spillclock: Spillclock, reference: str) -> bool:
    """Whether somebody was told of a spill."""
    return any(line["spill"] == reference for line in spillclock.outbox())
