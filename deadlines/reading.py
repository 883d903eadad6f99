"""Reading YAML so that every mistake names its file, line, place and cure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in a file: where it stands, what is wrong, what would be right."""

    path: str
    line: int
    place: str
    wrong: str
    right: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.place}: {self.wrong}; right would be: {self.right}"


class PackError(Exception):
    """A rule pack, calendar or ladder file has mistakes; `mistakes` lists all of them."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__("\n".join(str(mistake) for mistake in mistakes))
        self.mistakes = mistakes

    @classmethod
    def raise_if_any(cls, mistakes: Iterable[Mistake]) -> None:
        """Raise PackError where there is at least one mistake."""
        found = list(mistakes)
        if found:
            raise cls(found)


class Sheet:
    """One YAML file being read: its root mapping and the mistakes found so far."""

    def __init__(self, path: str, node: yaml.Node | None) -> None:
        self.path = path
        self.faults: list[Mistake] = []
        if isinstance(node, yaml.MappingNode):
            self.root = Entry(self, node, "")
        else:
            self.root = Entry(self, yaml.MappingNode("tag:yaml.org,2002:map", []), "")
            self.faults.append(
                Mistake(path, 1, "the file", "it is not a mapping of keys to values", "keys at the left margin, `pack: chino`")
            )


def read_sheet(path: str, text: str) -> Sheet:
    """Read one file. Raises PackError where it is not YAML at all."""
    try:
        return Sheet(path, yaml.compose(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error)
        raise PackError([Mistake(path, line, "the file", f"it cannot be read as YAML ({problem})", "well-formed YAML")]) from error


class Entry:
    """A mapping node. Its readers note a mistake and return a harmless value, so that one run finds all mistakes."""

    def __init__(self, sheet: Sheet, node: yaml.MappingNode, place: str) -> None:
        self.sheet = sheet
        self.node = node
        self.place = place
        self._values: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._note(key, place.removesuffix("."), "a key must be a text", "`key: value`")
                continue
            if key.value in self._values:
                self._note(key, f"{place}{key.value}", "the key is given twice", "each key once")
            self._values[key.value] = value

    @property
    def line(self) -> int:
        """The line of the file that this mapping begins on."""
        return self.node.start_mark.line + 1 if self.node.start_mark else 1

    def plain(self) -> dict[str, Any]:
        """The whole mapping as plain values; `yes` and `on` are words, days are dates."""
        return {key: _json_value(value, days=True) for key, value in self._values.items()}

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def _note(self, node: yaml.Node, place: str, wrong: str, right: str) -> None:
        self.sheet.faults.append(
            Mistake(self.sheet.path, node.start_mark.line + 1 if node.start_mark else 1, place or "the file", wrong, right)
        )

    def fault(self, key: str, wrong: str, right: str) -> None:
        """Note a mistake about `key` of this entry."""
        self._note(self._values.get(key, self.node), f"{self.place}{key}", wrong, right)

    def only(self, *keys: str) -> None:
        """Note every key that is not one of `keys`."""
        for key in self._values:
            if key not in keys:
                self.fault(key, "unknown key", f"one of: {', '.join(keys)}")

    def raw(self, key: str) -> object:
        """The plain value of `key` (str, int, bool, date, list, dict or None); None where it is missing."""
        node = self._values.get(key)
        return None if node is None else _plain_value(node)

    def text(self, key: str, default: str | None = None) -> str:
        """The text of `key`. Notes a mistake where it is missing without a default, or no text."""
        node = self._values.get(key)
        if node is None:
            if default is None:
                self.fault(key, "missing", f"`{key}: ...`")
            return default or ""
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.fault(key, "it must be a text", f"`{key}: some words`")
            return default or ""
        return str(node.value).strip()

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false. Notes a mistake for anything else."""
        value = self.raw(key) if key in self else default
        if not isinstance(value, bool):
            self.fault(key, f"{value!r} is neither true nor false", "true or false")
            return default
        return value

    def number(self, key: str, default: int) -> int:
        """A whole number above zero."""
        value = self.raw(key) if key in self else default
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.fault(key, f"{value!r} is not a whole number above zero", "1, 2, 3 ...")
            return default
        return value

    def day(self, key: str) -> date:
        """A calendar day, written 2026-11-30."""
        value = self.raw(key)
        if isinstance(value, date) and not isinstance(value, datetime):
            return value
        node = self._values.get(key)
        wrong = "missing" if node is None else f"{node.value!r} is not a day" if isinstance(node, yaml.ScalarNode) else "it is not a day"
        self.fault(key, wrong, "a day as 2026-11-30")
        return date(2000, 1, 1)

    def texts(self, key: str, *, required: bool = False) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list of one."""
        node = self._values.get(key)
        if node is None:
            if required:
                self.fault(key, "missing", f"`{key}: [..., ...]`")
            return ()
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not all(isinstance(part, yaml.ScalarNode) for part in nodes):
            self.fault(key, "it must be a list of texts", f"`{key}: [..., ...]`")
            return ()
        return tuple(str(part.value) for part in nodes)

    def words(self, key: str, words: Iterable[str], known: Sequence[str]) -> None:
        """Note each of `words`, read from `key`, that is not one of `known`."""
        for word in words:
            if word not in known:
                self.fault(key, f"{word!r} is not a word of this list", f"one of: {', '.join(known)}")

    def as_json(self, key: str) -> Any:
        """The value of `key` as JSON has it: times are text, and only true and false are truth values (`yes` and `on` are words)."""
        node = self._values.get(key)
        return None if node is None else _json_value(node)

    def mapping(self, key: str) -> Entry:
        """The mapping under `key`; an empty one, noted, where there is none."""
        node = self._values.get(key)
        if not isinstance(node, yaml.MappingNode):
            if node is not None or key not in self._values:
                self.fault(key, "it must be a mapping", f"`{key}:` with keys below it")
            return Entry(self.sheet, yaml.MappingNode("tag:yaml.org,2002:map", []), f"{self.place}{key}.")
        return Entry(self.sheet, node, f"{self.place}{key}.")

    def items(self, key: str) -> list[Entry]:
        """The list of mappings under `key`, each with its place for error messages; empty where the key is missing."""
        node = self._values.get(key)
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            self.fault(key, "it must be a list", f"`{key}:` with `- ...` below it")
            return []
        found = []
        for number, part in enumerate(node.value):
            if isinstance(part, yaml.MappingNode):
                found.append(Entry(self.sheet, part, f"{self.place}{key}[{_called(part) or number}]."))
            else:
                self._note(part, f"{self.place}{key}[{number}]", "it must be a mapping", "`- {key: value}`")
        return found

    def node_of(self, key: str) -> yaml.Node | None:
        """The YAML node under `key`, for readers of nested grammars such as conditions."""
        return self._values.get(key)


def _called(node: yaml.MappingNode) -> str:
    """The `id` of a mapping in a list, by which its place is told; empty where it has none."""
    return next((str(value.value) for key, value in node.value if key.value == "id" and isinstance(value, yaml.ScalarNode)), "")


def _plain_value(node: yaml.Node) -> object:
    loader = yaml.CSafeLoader("")
    try:
        return loader.construct_document(node)
    except ValueError:  # it looks like a day or a number and is none, 2026-13-45
        return str(node.value)
    finally:
        loader.dispose()


def _json_value(node: yaml.Node, *, days: bool = False) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _json_value(value, days=days) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_json_value(part, days=days) for part in node.value]
    kind = node.tag.rpartition(":")[2]
    if (kind == "timestamp" and not days) or (kind == "bool" and node.value not in ("true", "false")):
        return str(node.value)
    return _plain_value(node)
