"""The fields of a form as they were typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import Request


@dataclass(frozen=True)
class Fields:
    """A form: every field with all its values, as typed."""

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """The value of a field without the space around it."""
        found = self.values.get(name)
        return found[-1].strip() if found else default

    def all(self, name: str) -> list[str]:
        """Every value of a field, such as the ticked boxes of a group."""
        return [value for value in self.values.get(name, ()) if value]

    def __contains__(self, name: str) -> bool:
        return name in self.values


async def read_fields(request: Request) -> Fields:
    """The form of a request. Raises HTTPException where it is no form that can be read."""
    form = await request.form(max_files=0)
    values: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            values.setdefault(name, []).append(value)
    return Fields(values)
