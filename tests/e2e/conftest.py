"""The real process for every test here: started on demand, never left running."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.program import Spillclock, tell


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[..., Spillclock]]:
    """Make installations, each with a data folder and a port of its own; what still runs at the end is killed."""
    made: list[Spillclock] = []

    def make(**settings: str) -> Spillclock:
        folder = tmp_path / f"spillclock-{len(made) + 1}"
        folder.mkdir()
        made.append(Spillclock(folder, **settings))
        return made[-1]

    yield make
    for one in made:
        one.kill()
        if one.log.exists():
            tell(f"What {one.url} said:\n{one.log.read_text()[-8000:]}")  # shown where the test failed


@pytest.fixture
def spillclock(install: Callable[..., Spillclock]) -> Spillclock:
    """One installation, not started."""
    return install()
