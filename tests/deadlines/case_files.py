"""The rulebook that ships and its cases, read once for each test process. deadlines/README.md tells how cases are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import yaml

from deadlines import Case, Facts, Rulebook, read_facts
from deadlines.cases import JUDGED_AT as NOW
from service.library import open_cases, open_rulebook, shipped_shelf

__all__ = ["NOW", "Case", "PlainText", "PlainYaml", "all_cases", "read", "rulebook"]


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


@cache
def rulebook() -> Rulebook:
    """The rulebook that ships."""
    return open_rulebook()


def read(given: Mapping[str, Any]) -> Facts:
    """Facts as the command line reads them."""
    book = rulebook()
    return read_facts(given, book.zones, frozenset(book.recipients))


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case of every pack that ships."""
    return tuple(open_cases(shipped_shelf()))
