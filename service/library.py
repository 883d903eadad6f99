"""Opens the data that the law engine is made of: packs, calendars, quantities, city boundaries."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

from deadlines import Places, ReportableQuantities, Rulebook, read_calendars, read_places, read_rulebook


def _texts(folder: Traversable, ending: str) -> dict[str, str]:
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(ending)), key=lambda entry: entry.name)
    return {f"{folder.name}/{entry.name}": entry.read_text(encoding="utf-8") for entry in found}


def open_rulebook() -> Rulebook:
    """The rulebook of the packs that ship with Spillclock. Raises PackError with every mistake."""
    data = files("deadlines")
    quantities = ReportableQuantities.from_csv(
        (data / "quantities" / "rq.csv").read_text(encoding="utf-8"), (data / "quantities" / "density.csv").read_text(encoding="utf-8")
    )
    return read_rulebook(_texts(data / "packs", ".yaml"), read_calendars(_texts(data / "calendars", ".yaml")), quantities)


def open_places() -> Places:
    """The city boundaries that ship with Spillclock."""
    texts = _texts(files("deadlines") / "places", ".geojson")
    return read_places({path.partition("/")[2].removesuffix(".geojson"): text for path, text in texts.items()})
