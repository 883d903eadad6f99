"""requirements.lock is what everybody installs: it must answer pyproject.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


def locked_versions() -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))


def required() -> list[Requirement]:
    settings: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    texts = [*project["dependencies"], *settings["dependency-groups"]["dev"]]
    for extra in project.get("optional-dependencies", {}).values():
        texts += extra
    return [Requirement(text) for text in texts if isinstance(text, str) and not text.startswith(project["name"])]


def test_the_lock_answers_every_requirement_of_the_project() -> None:
    locked = locked_versions()
    wrong = [
        f"{requirement}: the lock has {locked.get(canonicalize_name(requirement.name), 'none')}; run make lock"
        for requirement in required()
        if not requirement.specifier.contains(locked.get(canonicalize_name(requirement.name), "0.dev0"), prereleases=True)
        or canonicalize_name(requirement.name) not in locked
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_every_package_of_the_lock_has_a_hash() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    entries = re.findall(r"^[a-z0-9-]+==(?:.*\\\n)*.*", lock, re.MULTILINE)
    assert len(entries) == len(locked_versions())
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
