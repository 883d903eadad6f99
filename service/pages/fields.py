"""The fields of a form as they were typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import Request

from service.incoming_bodies import Upload, read_form


@dataclass(frozen=True)
class Fields:
    """A form: every field with all its values, as typed, and the files that were chosen."""

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[str, Sequence[Upload]] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """The value of a field without the space around it."""
        found = self.values.get(name)
        return found[-1].strip() if found else default

    def all(self, name: str) -> list[str]:
        """Every value of a field, such as the ticked boxes of a group."""
        return [value for value in self.values.get(name, ()) if value]

    def uploads(self, name: str) -> list[Upload]:
        """The files of a field in the order they were chosen; their content is on the disk where it is large."""
        return list(self.files.get(name, ()))

    def __contains__(self, name: str) -> bool:
        return name in self.values


async def read_fields(request: Request) -> Fields:
    """The form of a request, with its files where it has any (multipart). Raises as service.incoming_bodies.read_form."""
    return Fields(*await read_form(request))
