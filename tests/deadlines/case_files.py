"""The project's own cases: fact objects and every clock that each must give. README.md tells how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from deadlines import Clock, Facts, Rulebook, assess, read_facts
from service.library import open_rulebook

FOLDER = Path(__file__).parent / "cases"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)

Answer = Mapping[str, Any]


class PlainYaml(yaml.CSafeLoader):
    """YAML in which only true and false are truth values: `on` is a key of rules, `yes` an answer of cases."""


class PlainText(PlainYaml):
    """The same, with times as text, as they are in JSON."""


def _forget(loader: type[yaml.CSafeLoader], ending: str) -> None:
    loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(ending)]
        for first, resolvers in loader.yaml_implicit_resolvers.items()
    }


_forget(PlainYaml, ":bool")
PlainYaml.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|false)\Z"), list("tf"))
PlainText.yaml_implicit_resolvers = PlainYaml.yaml_implicit_resolvers
_forget(PlainText, ":timestamp")


@dataclass(frozen=True)
class Case:
    """One fact object, the moment it is judged at, and all its clocks in order."""

    file: str
    name: str
    facts: Mapping[str, Any]
    answers: tuple[Answer, ...]
    now: datetime = NOW
    asked: Mapping[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"


@cache
def rulebook() -> Rulebook:
    """The rulebook that ships, read once for each test process."""
    return open_rulebook()


def read(given: Mapping[str, Any]) -> Facts:
    """Facts as the command line reads them."""
    book = rulebook()
    return read_facts(given, book.zones, frozenset(book.recipients))


def answer_of(clock: Clock) -> Answer:
    """What a case says about a clock: whether it runs, from when, until when; what is not there is left out."""
    shown = clock.as_json()
    answer = {key: shown[key] for key in ("duty", "event", "occurrence", "applies", "starts_at", "due_at", "extended_due_at")}
    answer["other_due_at"] = [other["due_at"] for other in shown["other_readings"]]
    return _without_gaps(answer)


def answers_of(facts: Facts, book: Rulebook, now: datetime) -> list[Answer]:
    """All clocks of a matter, as a case states them."""
    return [answer_of(clock) for clock in assess(facts, book, now).clocks]


def _without_gaps(answer: Mapping[str, Any]) -> Answer:
    return {key: value for key, value in answer.items() if value not in (None, [])}


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case of every file."""
    return tuple(case for path in sorted(FOLDER.glob("*.yaml")) for case in _cases_of(path))


def _cases_of(path: Path) -> Iterable[Case]:
    for entry in yaml.load(path.read_text(encoding="utf-8"), PlainText):  # noqa: S506 (a safe loader)
        unknown = set(entry) - {"name", "why", "now", "facts", "asked", "clocks"}
        assert not unknown, f"{path.name}: {entry['name']}: unknown keys {unknown}"
        now = datetime.fromisoformat(entry["now"]) if "now" in entry else NOW
        answers = tuple(map(_without_gaps, entry["clocks"]))
        yield Case(path.stem, entry["name"], entry["facts"], answers, now, entry.get("asked", {}))
