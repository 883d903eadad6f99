"""Opens the data that the law engine is made of: packs, cases, calendars, quantities, city boundaries.

They come from two shelves: what ships with Spillclock, and a folder of one's own (SPILLCLOCK_PACKS), with packs at its top and, where there
are any, the folders cases, calendars and places in it. A pack of one's own takes the place of the shipped one with its id.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from deadlines import (
    Case,
    Mistake,
    PackError,
    Places,
    ReportableQuantities,
    Rulebook,
    State,
    failing,
    read_calendars,
    read_cases,
    read_places,
    read_rulebook,
    read_states,
)
from deadlines.mutation import Trial

_PACK = re.compile(r"^pack:\s*([\w-]+)", re.MULTILINE)


@dataclass(frozen=True)
class Shelf:
    """The texts of one shelf, by path; places by city."""

    packs: Mapping[str, str]
    cases: Mapping[str, str]
    calendars: Mapping[str, str]
    places: Mapping[str, str]

    def and_own(self, own: Shelf) -> Shelf:
        """Both shelves as one: a pack, calendar or place of one's own takes the place of the shipped one of that name."""
        replaced = {_pack_id(text) for text in own.packs.values()}
        packs = {path: text for path, text in self.packs.items() if _pack_id(text) not in replaced}
        cases = {path: text for path, text in self.cases.items() if _stem(path) not in replaced}
        calendars = {
            path: text for path, text in self.calendars.items() if _stem(path) not in {_stem(own_path) for own_path in own.calendars}
        }
        return Shelf({**packs, **own.packs}, {**cases, **own.cases}, {**calendars, **own.calendars}, {**self.places, **own.places})


def _pack_id(text: str) -> str:
    found = _PACK.search(text)
    return found[1] if found else ""


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _texts(folder: Traversable | Path, ending: str, shown: str) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    found: dict[str, str] = {}
    for entry in sorted((entry for entry in folder.iterdir() if entry.name.endswith(ending)), key=lambda entry: entry.name):
        try:
            found[f"{shown}/{entry.name}"] = entry.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PackError(
                [Mistake(f"{shown}/{entry.name}", 1, "the file", f"it cannot be read ({error})", "a UTF-8 text file")]
            ) from None
    return found


def _shelf(root: Traversable | Path, packs: Traversable | Path, shown: str) -> Shelf:
    def of(kind: str, ending: str) -> dict[str, str]:
        return _texts(root / kind, ending, f"{shown}{kind}")

    places = {_stem(path): text for path, text in of("places", ".geojson").items()}
    return Shelf(
        _texts(packs, ".yaml", f"{shown}packs" if packs is not root else shown.rstrip("/")),
        of("cases", ".yaml"),
        of("calendars", ".yaml"),
        places,
    )


def shipped_shelf() -> Shelf:
    """What ships with Spillclock."""
    data = files("deadlines")
    return _shelf(data, data / "packs", "")


def own_shelf(folder: Path | None) -> Shelf:
    """The packs of a folder of one's own; an empty shelf without one. Raises PackError for a folder or file that cannot be read."""
    if folder is None:
        return Shelf({}, {}, {}, {})
    if not folder.is_dir():
        raise PackError([Mistake(str(folder), 1, "SPILLCLOCK_PACKS", "there is no such folder", "a folder with packs in it, or nothing")])
    return _shelf(folder, folder, f"{folder}/")


def open_shelf(shelf: Shelf) -> Rulebook:
    """The rulebook of a shelf. Raises PackError with every mistake."""
    tables = files("deadlines") / "quantities"
    quantities = ReportableQuantities.from_csv(
        (tables / "rq.csv").read_text(encoding="utf-8"), (tables / "density.csv").read_text(encoding="utf-8")
    )
    return read_rulebook(shelf.packs, read_calendars(shelf.calendars), quantities)


def open_rulebook(folder: Path | None = None) -> Rulebook:
    """The rulebook of the packs that ship with Spillclock and those of a folder of one's own. Raises PackError with every mistake."""
    return open_shelf(shipped_shelf().and_own(own_shelf(folder)))


def open_cases(shelf: Shelf) -> list[Case]:
    """The cases of a shelf. Raises PackError with every mistake."""
    found: list[Case] = []
    mistakes: list[Mistake] = []
    for path, text in shelf.cases.items():
        try:
            found += read_cases(path, text)
        except PackError as error:
            mistakes += error.mistakes
    PackError.raise_if_any(mistakes)
    return found


def open_places(folder: Path | None = None) -> Places:
    """The city boundaries that ship with Spillclock and those of a folder of one's own. Raises PackError for what is no boundary."""
    own = own_shelf(folder)
    for city, text in own.places.items():
        try:
            read_places({city: text})
        except (KeyError, ValueError, TypeError, IndexError) as error:
            mistake = Mistake(
                f"{folder}/places/{city}.geojson", 1, "the file", f"it is no boundary ({error})", "a GeoJSON Polygon or MultiPolygon"
            )
            raise PackError([mistake]) from None
    return read_places(shipped_shelf().and_own(own).places)


@cache
def shipped_states() -> tuple[State, ...]:
    """The states of the union, by which addresses tell namesakes apart."""
    text = (files("deadlines") / "places" / "states.csv").read_text(encoding="utf-8")
    return read_states(csv.DictReader(io.StringIO(text)))


def examine_packs(folder: Path | None, only: str | None = None) -> list[Mistake]:
    """Everything `spillclock rules check` finds: cases that fail, packs without cases, rules not reached, changes nobody notices.

    What ships is held to its own cases under its own law; packs of one's own to their cases, under both. `only` names one pack.
    Raises PackError where a file cannot be read as it should.
    """
    shipped, own = shipped_shelf(), own_shelf(folder)
    own_ids = {_pack_id(text) for text in own.packs.values()}
    found: list[Mistake] = []
    if only is None or only not in own_ids:
        found += _examine(shipped, shipped, only)
    if own.packs and (only is None or only in own_ids):
        found += _examine(shipped.and_own(own), own, only)
    return found


def _examine(law: Shelf, held: Shelf, only: str | None) -> list[Mistake]:
    rulebook, cases = open_shelf(law), open_cases(held)
    strays = [path for path in held.cases if _stem(path) not in rulebook.packs]
    found = [Mistake(path, 1, "the file", "no pack has this name", "cases/ and the id of a pack") for path in strays]
    found += failing((case for case in cases if only in (None, case.pack)), rulebook)
    if found:
        return found  # what cases prove is not worth asking while they are wrong themselves
    tried = frozenset(_pack_id(text) for text in held.packs.values() if only in (None, _pack_id(text)))
    return Trial(rulebook, held.packs, cases, tried).unproven()
