"""A line of the board in words, for whoever shows it: the board, the map, the wall and what is sent to open pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from deadlines.limits import IMMEDIATELY
from service.board import late
from service.board_tables import BoardLine
from service.pages.rendering import city_name, zone_of
from service.pages.reporter_news import amount
from service.pages.speech import ENGLISH
from service.pages.words import MATERIALS
from service.transaction import House

_MOST_NAMED = 3
# How a spill stands, by the class that colours it: the word says the same as the colour.
WORDS = {
    "overdue": "Overdue", "running": "To do", "met": "Nothing due", "waiting": "No city yet", "closed": "Closed", "merged": "Merged",
    "held": "Looks automatic", "coming": "Being read",
}  # fmt: skip


def state_of(line: BoardLine, now: datetime) -> str:
    """How a spill stands at a moment: a key of WORDS."""
    if line.stands != "open":
        return line.stands
    if line.city is None:
        return "waiting"
    if line.due_at is None:
        return "met"
    return "overdue" if line.due_at < now else "running"


def row_of(house: House, line: BoardLine, now: datetime) -> dict[str, Any]:
    """A line as templates show it. `late`: what is overdue after the first, in words; `at_once`: it has no due time to tell."""
    state, overdue = state_of(line, now), late(line, now)
    first = line.duties[0] if line.duties else None
    material = MATERIALS.get(line.material, "Unknown material")
    return {
        "line": line, "state": state, "word": WORDS[state], "zone": zone_of(house, line.city),
        "city": city_name(house, line.city) if line.city else "",
        "what": ", ".join(part for part in (material, amount(ENGLISH, line.volume)) if part),
        "title": first["title"] if first else "", "at_once": bool(first and first["at_once"]), "left": left(line, now),
        "sort": sort_of(line), "late": _also_late([duty["title"] for duty in overdue[1:]]), "overdue": len(overdue),
        "to_do": len(line.duties) - len(overdue),
    }  # fmt: skip


def _also_late(titles: Sequence[str]) -> str:
    if not titles:
        return ""
    more = f"; and {len(titles) - _MOST_NAMED} more" if len(titles) > _MOST_NAMED else ""
    return f"Overdue, too: {'; '.join(titles[:_MOST_NAMED])}{more}"


def sort_of(line: BoardLine) -> str:
    """Where a line stands in the order of the board, as a text that sorts so."""
    return line.sort_at.strftime("%Y%m%d%H%M%S%f")


def left(line: BoardLine, now: datetime) -> str:
    """How long there is for the nearest duty, or since when it is late; nothing where none is due."""
    if line.due_at is None:
        return ""
    if line.duties[0]["at_once"]:
        since = now - line.due_at + IMMEDIATELY
        known = f"known for {ENGLISH.span(since)}" if since >= timedelta(minutes=1) else "known just now"
        return f"Overdue; {known}" if line.due_at < now else f"Immediately; {known}"
    words = ENGLISH.span(line.due_at - now)
    return f"Overdue by {words}" if line.due_at < now else f"{words} left"
