"""The fields that a form needs for one type of event."""

from __future__ import annotations

from collections.abc import Sequence

from deadlines.facts import EVENT_KEYS


def inputs_of(kind: str) -> list[tuple[str, str, Sequence[str]]]:
    """The fields a type of event has besides its time: name, what kind of field it is, and the words of a closed list."""
    found: list[tuple[str, str, Sequence[str]]] = []
    for key, form in EVENT_KEYS.get(kind, {}).items():
        if isinstance(form, tuple):
            found.append((key, "choice", form))
        elif form is not list:
            found.append((key, {"bool": "truth", "datetime": "moment"}.get(getattr(form, "__name__", ""), "recipient"), ()))
    return found
